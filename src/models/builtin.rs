//! The model files that are part of the program: one line a file.

use crate::source::Language;

/// Name and text of the built-in files of a language; a later one may say more of what an earlier one names.
#[must_use]
pub fn files(language: Language) -> &'static [(&'static str, &'static str)] {
    match language {
        Language::Python => PYTHON,
        Language::Rust => RUST,
    }
}

const PYTHON: &[(&str, &str)] = &[];

const RUST: &[(&str, &str)] = &[];
