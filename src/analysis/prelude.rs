//! What a retry library does, as code of its own: the functions of `prelude.py`, lowered once.
//!
//! A decorated function has no loop in sight; the loop is the library's. [`drive`](Driver) is that loop, written in
//! terms of the pieces of a policy (see [`super::pieces`]), so that the same machine runs it and the same facts come out.

use std::sync::LazyLock;

use super::value::FuncRef;
use crate::frontend;
use crate::ir::{FuncId, FunctionKind, Module};
use crate::source::{Language, SourceFile};

/// Index of the prelude among the files of a project.
pub const FILE: u32 = u32::MAX;

/// The prelude's text.
pub static SOURCE: LazyLock<SourceFile> =
    LazyLock::new(|| SourceFile::new("prelude.py", include_str!("prelude.py"), Language::Python));

/// Its graphs.
pub static MODULE: LazyLock<Module> = LazyLock::new(|| frontend::lower(&SOURCE, "prelude"));

/// A function of the prelude.
#[must_use]
pub fn function(name: &str) -> Option<FuncRef> {
    let at = MODULE.functions.iter().position(|f| f.kind == FunctionKind::Named && f.name == name)?;
    Some(FuncRef { file: FILE, func: FuncId(u32::try_from(at).ok()?) })
}
