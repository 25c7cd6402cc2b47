//! The sites of a short program, as `inventory` prints them.

use std::sync::Arc;

use serde_json::Value;
use stormlint::check::{Input, check};
use stormlint::report;
use stormlint::source::{Language, SourceFile};

/// The sites of a text.
pub fn sites(text: &str, language: Language) -> Vec<Value> {
    let path = match language {
        Language::Python => "case.py",
        Language::Rust => "case.rs",
    };
    let file = SourceFile::new(path, text, language);
    let (module, root_path) = ("case".to_owned(), path.into());
    let run = check(vec![Input { file, module, root_path, config: Arc::default() }]);
    let mut out = Vec::new();
    report::inventory::json(&run, &mut out).expect("writing to memory");
    serde_json::from_slice::<Value>(&out).expect("JSON")["sites"].as_array().expect("a list").clone()
}

/// Holds the only site of a text against these facts.
pub fn holds(language: Language, text: &str, facts: &Value) {
    let sites = sites(text, language);
    assert_eq!(sites.len(), 1, "{sites:#?}");
    for (key, expected) in facts.as_object().expect("facts") {
        assert_eq!(sites[0][key], *expected, "`{key}` of {:#}", sites[0]);
    }
}

pub fn python(text: &str, facts: &Value) {
    holds(Language::Python, text, facts);
}

pub fn rust(text: &str, facts: &Value) {
    holds(Language::Rust, text, facts);
}
