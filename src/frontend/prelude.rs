//! What a retry library does, as code of its own: the functions of `prelude.py`, lowered once.
//!
//! A decorated function has no loop in sight; the loop is the library's. `drive` is that loop, written in
//! terms of the pieces of a policy, so that the same machine runs it and the same facts come out.

use std::sync::LazyLock;

use crate::ir::{FuncId, FunctionKind, Module};
use crate::source::{Language, SourceFile};

/// Indices of the prelude among the files of a project: one for each language whose models apply to it.
const FILES: [(u32, Language); 2] = [(u32::MAX, Language::Python), (u32::MAX - 1, Language::Rust)];

static SOURCE: LazyLock<SourceFile> =
    LazyLock::new(|| SourceFile::new("prelude.py", include_str!("prelude.py"), Language::Python));

static MODULES: LazyLock<[Module; 2]> = LazyLock::new(|| {
    let module = super::lower(&SOURCE, "prelude");
    FILES.map(|(_, language)| Module { language, ..module.clone() })
});

/// Whether a file is the prelude.
#[must_use]
pub fn is(file: u32) -> bool {
    FILES.iter().any(|(own, _)| *own == file)
}

/// The prelude for the models of a language.
#[must_use]
pub fn file_for(language: Language) -> u32 {
    FILES.iter().find(|(_, own)| *own == language).map_or(u32::MAX, |(file, _)| *file)
}

/// Its text.
#[must_use]
pub fn source(file: u32) -> Option<&'static SourceFile> {
    is(file).then(|| &*SOURCE)
}

/// Its graphs.
#[must_use]
pub fn module(file: u32) -> Option<&'static Module> {
    let at = FILES.iter().position(|(own, _)| *own == file)?;
    MODULES.get(at)
}

/// A function of the prelude.
#[must_use]
pub fn function(file: u32, name: &str) -> Option<FuncId> {
    let functions = &module(file)?.functions;
    let at = functions.iter().position(|f| f.kind == FunctionKind::Named && f.name == name)?;
    Some(FuncId(u32::try_from(at).ok()?))
}
