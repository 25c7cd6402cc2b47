//! The lines of the architecture, held against the sources: who may import whom, and what may stand where.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, missing_docs)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Each module may use those of earlier rows. Modules of one row do not see each other.
const ORDER: [&[&str]; 14] = [
    &["source", "spelling"],
    &["diagnostic"],
    &["fingerprint"],
    &["ir"],
    &["frontend", "models"],
    &["analysis"],
    &["rules"],
    &["config"],
    &["suppress", "baseline"],
    &["check"],
    &["report"],
    &["walk", "vcs"],
    &["cli"],
    &["main", "lib"],
];

/// Modules from here on may touch files, environment and clock.
const OUTER: &str = "walk";

struct Source {
    /// Path below `src`, with `/`.
    path: String,
    /// Its top-level module.
    module: String,
    /// Without comments and unit tests.
    code: String,
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn row(module: &str) -> Option<usize> {
    ORDER.iter().position(|row| row.contains(&module))
}

fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = walkdir::WalkDir::new(folder)
        .into_iter()
        .filter_map(Result::ok)
        .map(walkdir::DirEntry::into_path)
        .filter(|path| path.extension().is_some_and(|e| e == extension))
        .collect();
    found.sort();
    found
}

fn sources() -> Vec<Source> {
    let src = root().join("src");
    files(&src, "rs")
        .into_iter()
        .filter(|path| !path.ends_with("tests.rs") && !path.components().any(|part| part.as_os_str() == "tests"))
        .map(|path| {
            let inner = path.strip_prefix(&src).unwrap().to_string_lossy().replace('\\', "/");
            let module = inner.split('/').next().unwrap().trim_end_matches(".rs").to_owned();
            Source { module, code: code(&std::fs::read_to_string(&path).unwrap()), path: inner }
        })
        .collect()
}

/// The text without comment lines, and without what stands behind the unit tests' mark.
fn code(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let tests = lines.windows(2).position(|pair| pair[0] == "#[cfg(test)]" && pair[1].starts_with("mod "));
    lines[..tests.unwrap_or(lines.len())]
        .iter()
        .map(|line| line.trim_start())
        .filter(|line| !line.starts_with("//"))
        .collect::<Vec<_>>()
        .join("\n")
}

/// The top-level modules named by `crate::…` paths and `use crate::{…}` trees.
fn imports(code: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for prefix in ["crate::", "stormlint::"] {
        for (at, _) in code.match_indices(prefix) {
            if code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '$' || c == '"') {
                continue;
            }
            let rest = &code[at + prefix.len()..];
            match rest.strip_prefix('{') {
                Some(tree) => found.extend(branches(tree)),
                None => found.extend(ident(rest)),
            }
        }
    }
    found
}

fn ident(text: &str) -> Option<String> {
    let name: String = text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    (!name.is_empty()).then_some(name)
}

/// The first names of a use tree's branches, up to its closing brace.
fn branches(tree: &str) -> Vec<String> {
    let mut depth = 0;
    let mut found: Vec<String> = ident(tree).into_iter().collect();
    for (at, c) in tree.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => found.extend(ident(&tree[at + 1..])),
            _ => {}
        }
    }
    found
}

fn none(what: &str, faults: Vec<String>) {
    assert!(faults.is_empty(), "{what}:\n  {}", faults.join("\n  "));
}

#[test]
fn imports_go_one_way() {
    let sources = sources();
    let mut faults = Vec::new();
    for source in &sources {
        let Some(own) = row(&source.module) else {
            faults.push(format!("src/{}: `{}` is not in the table", source.path, source.module));
            continue;
        };
        for used in imports(&source.code) {
            let Some(other) = row(&used) else { continue };
            if used != source.module && other >= own {
                faults.push(format!("src/{} uses `{used}`", source.path));
            }
        }
    }
    none("imports against the order of the layers", faults);
    assert!(sources.len() > 20, "the sources were not found");
}

#[test]
fn import_trees_are_read() {
    let text = "use crate::{config, rules::{self, Rule}};\nuse crate::check::Run;\nlet x = crate::walk::find();";
    assert_eq!(imports(text).into_iter().collect::<Vec<_>>(), ["check", "config", "rules", "walk"]);
    assert!(imports("\"crate::net\" $crate::ir").is_empty());
    assert_eq!(code("use a;\n// crate::cli\n#[cfg(test)]\nmod tests {\n}\n"), "use a;");
}

fn faults_of(words: &[&str], concerned: impl Fn(&Source) -> bool) -> Vec<String> {
    let mut faults = Vec::new();
    for source in sources().iter().filter(|source| concerned(source)) {
        for line in source.code.lines() {
            for word in words {
                let whole = line.match_indices(word).any(|(at, _)| {
                    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '"';
                    !line[..at].ends_with(is_word)
                        && !line[at + word.len()..].starts_with(|c: char| c.is_alphanumeric())
                });
                if whole {
                    faults.push(format!("src/{}: {line}", source.path));
                }
            }
        }
    }
    faults
}

#[test]
fn parsers_stay_in_the_frontends() {
    let faults = faults_of(&["tree_sitter", "syn::", "proc_macro2"], |source| source.module != "frontend");
    none("parser types outside of src/frontend", faults);
}

#[test]
fn inner_layers_touch_nothing_outside() {
    let words =
        ["std::fs", "std::env", "fs::read", "env::var", "SystemTime", "Instant::now", "std::io::stdout", "IsTerminal"];
    let faults = faults_of(&words, |source| row(&source.module) < row(OUTER));
    none("file system, environment, clock or terminal below walk and cli", faults);
}

#[test]
fn analysis_and_rules_know_no_language() {
    let faults = faults_of(&["Language::Python", "Language::Rust"], |source| {
        ["analysis", "rules", "check", "report"].contains(&source.module.as_str())
    });
    none("a test for a language", faults);
}

#[test]
fn every_rule_has_a_page_and_every_page_a_rule() {
    let rules: BTreeSet<String> = stormlint::rules::ALL.iter().map(|rule| rule.name.to_owned()).collect();
    let stem = |path: &PathBuf| path.file_stem().unwrap().to_string_lossy().into_owned();
    let folder = root().join("rules");
    let pages: BTreeSet<String> =
        files(&folder, "md").iter().filter(|path| path.parent() == Some(&folder)).map(stem).collect();
    assert_eq!(rules, pages, "rules in the list, and pages in rules/");

    let mut sorted: Vec<&str> = stormlint::rules::ALL.iter().map(|rule| rule.name).collect();
    sorted.sort_unstable();
    let listed: Vec<&str> = stormlint::rules::ALL.iter().map(|rule| rule.name).collect();
    assert_eq!(listed, sorted, "the list of rules is in the order of their names");

    let source_of = |rule: &str| root().join("src/rules").join(format!("{}.rs", rule.replace('-', "_")));
    let missing: Vec<&String> = rules.iter().filter(|rule| !source_of(rule).exists()).collect();
    assert!(missing.is_empty(), "rules without a file of their own: {missing:?}");
}

#[test]
fn pages_begin_with_the_rules_name_and_a_summary() {
    for rule in stormlint::rules::ALL {
        let mut lines = rule.page.lines();
        assert_eq!(lines.next(), Some(format!("# {}", rule.name).as_str()), "{}", rule.name);
        let summary = lines.find(|line| !line.is_empty()).unwrap_or_default();
        assert!(
            !summary.is_empty() && !summary.starts_with('#') && !summary.starts_with("```"),
            "{} has no summary",
            rule.name
        );
    }
}
