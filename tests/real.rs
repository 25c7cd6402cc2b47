//! What real code looks like: `testdata/real/<language>/` has the shapes in which retries occur, and those that only
//! look like them.
//!
//! A line that ends in `# site: cap=count max_attempts=3` (`//` in Rust) is the header of a site of which `inventory`
//! must say that; a function without such a line must give no finding. What is not understood yet stands in
//! `testdata/real/gaps.txt`, a line each; the test fails when a gap closes, so that the list stays true.
//! `STORMLINT_BLESS=1` rewrites the list.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, missing_docs)]

use std::fs;
use std::path::Path;

use serde_json::Value;
use stormlint::check::{Input, check};
use stormlint::report::inventory;
use stormlint::source::{Language, SourceFile};

/// The facts that are asked for on each line, and the text without them.
fn expected(text: &str, sign: &str) -> (Vec<(usize, String)>, String) {
    let mark = format!("{sign} site:");
    let mut wanted = Vec::new();
    let mut plain = String::new();
    for (at, line) in text.lines().enumerate() {
        let (code, facts) = line.split_once(&mark).unwrap_or((line, ""));
        if line.contains(&mark) {
            wanted.push((at + 1, facts.trim().to_owned()));
        }
        plain.push_str(code.trim_end());
        plain.push('\n');
    }
    (wanted, plain)
}

/// A value of the inventory as a word.
fn word(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Where a file is not understood, a line each.
fn misunderstood(path: &Path, language: Language) -> Vec<String> {
    let name = format!("{}/{}", language.name(), path.file_name().expect("a name").to_string_lossy());
    let text = fs::read_to_string(path).expect("a readable source");
    let (wanted, plain) = expected(&text, if language == Language::Python { "#" } else { "//" });
    let file = SourceFile::new(name.as_str(), plain, language);
    let module = path.file_stem().expect("a name").to_string_lossy().into_owned();
    let run = check(vec![Input { root_path: file.path.clone(), module, file, config: std::sync::Arc::default() }]);
    assert!(run.errors.is_empty() && run.unparsed[0].is_empty(), "{name}: {:?} {:?}", run.errors, run.unparsed);
    let mut out = Vec::new();
    inventory::json(&run, &mut out).expect("writing to memory");
    let document: Value = serde_json::from_slice(&out).expect("JSON");
    let listed: Vec<(usize, &Value)> = run.sites[0]
        .iter()
        .zip(document["sites"].as_array().expect("sites"))
        .map(|(site, entry)| (run.files[0].line_of(site.header.start), entry))
        .collect();
    let mut faults = Vec::new();
    for (line, facts) in &wanted {
        let Some((_, entry)) = listed.iter().find(|(at, _)| at == line) else {
            faults.push(format!("{name}:{line}: no site"));
            continue;
        };
        for fact in facts.split_whitespace() {
            let (key, value) = fact.split_once('=').expect("key=value");
            assert!(entry.get(key).is_some(), "{name}:{line}: no fact is called {key}");
            let real = word(&entry[key]);
            if real != value {
                faults.push(format!("{name}:{line}: {key} is {value}, said is {real}"));
            }
        }
    }
    // Findings where nothing is repeated.
    for found in &run.findings {
        let line = run.files[0].line_of(found.diagnostic.span.start);
        if !wanted.iter().any(|(at, _)| *at == line) {
            faults.push(format!("{name}:{line}: no fault, reported is {}", found.diagnostic.rule));
        }
    }
    faults
}

#[test]
fn real_code_is_understood_but_for_the_known_gaps() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/real");
    let mut faults = Vec::new();
    for language in [Language::Python, Language::Rust] {
        let entries = fs::read_dir(folder.join(language.name())).expect("a folder");
        let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
        paths.sort();
        for path in paths {
            faults.extend(misunderstood(&path, language));
        }
    }
    let mut text = faults.join("\n");
    text.push('\n');
    if std::env::var_os("STORMLINT_BLESS").is_some() {
        fs::write(folder.join("gaps.txt"), &text).expect("a list that can be written");
    }
    let known = fs::read_to_string(folder.join("gaps.txt")).unwrap_or_default();
    let diff = similar::TextDiff::from_lines(&known, &text);
    assert!(known == text, "other gaps than those known\n{}", diff.unified_diff().header("known", "found"));
}
