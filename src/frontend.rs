//! One folder a language: source text in, [`crate::ir::Module`] out.
//!
//! Invariant: parsing never fails. A frontend returns what it could lower, and the parts that it could not in
//! [`crate::ir::Module::unparsed`].

pub mod graph;
pub mod lexemes;
pub mod prelude;
pub mod python;
pub mod rust;

use self::lexemes::Lexemes;
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

/// Takes a text apart into words, texts, signs and comments; never fails.
#[must_use]
pub fn lex(text: &str, language: Language) -> Lexemes {
    match language {
        Language::Python => python::lexer::lex(text),
        Language::Rust => rust::lexer::lex(text),
    }
}

/// What a piece of code keeps when it is laid out anew, commented, or its variables get other names.
#[must_use]
pub fn outline(text: &str, language: Language) -> String {
    lexemes::outline(text, &lex(text, language))
}

#[cfg(test)]
mod outline_tests {
    use super::*;

    #[test]
    fn layout_comments_and_names_of_variables_do_not_matter() {
        let python = |text| outline(text, Language::Python);
        let one = python("requests.get(url, timeout=5, headers={'a': f'{key}/x'})");
        assert_eq!(
            one,
            python("requests.get(\n    address,  # where\n    timeout = 5,\n    headers={\"a\": f\"{token}/x\"},\n)")
        );
        assert_eq!(python("for attempt in range(5):"), python("for  i in range( 5 ) :"));
        for other in [
            "requests.post(url, timeout=5, headers={'a': f'{key}/x'})",
            "requests.get(url, timeout=6, headers={'a': f'{key}/x'})",
        ] {
            assert_ne!(one, python(other));
        }
        let rust = |text| outline(text, Language::Rust);
        assert_eq!(
            rust("client.get(url).send().await"),
            rust("http\n    .get(address) // there\n    .send()\n    .await")
        );
        assert_eq!(rust("fetch(format!(\"{base}/a\"),)"), rust("fetch(format!(r\"{root}/a\"))"));
        assert_ne!(rust("for _ in 0..5"), rust("for _ in 0..6"));
    }
}
