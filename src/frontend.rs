//! One folder a language: source text in, [`crate::ir::Module`] out.
//!
//! Invariant: parsing never fails. A frontend returns what it could lower, and the parts that it could not in
//! [`crate::ir::Module::unparsed`].

pub mod graph;
pub mod prelude;
pub mod python;
pub mod rust;

use crate::ir::Module;
use crate::source::{Language, SourceFile};

/// Whether a folder's name says that it holds tests: `tests`, `test_e2e`, `integration-tests`.
pub(crate) fn holds_tests(folder: &str) -> bool {
    let mut words = folder.split(['_', '-']);
    let of_tests = |word: &str| matches!(word, "test" | "tests" | "testing");
    let of_kind = |word: &str| matches!(word, "e2e" | "unit" | "integration" | "functional" | "system" | "acceptance");
    words.clone().any(of_tests) && words.all(|word| of_tests(word) || of_kind(word))
}

/// Lowers a file. `module` is its dotted path as far as it is known (`pkg.sub.mod`, `crate::net::client`), which
/// relative imports are resolved against; an empty one is a file on its own.
#[must_use]
pub fn lower(file: &SourceFile, module: &str) -> Module {
    match file.language {
        Language::Python => python::lower(file, module),
        Language::Rust => rust::lower(file, module),
    }
}
