//! Whole projects of several files: what is found in each, and how the layers in it multiply.
//!
//! A folder `testdata/project/<language>/<name>` is a project. Its `expected.txt` has a line for each finding of the rules
//! that are on by default, and below a `nested-retry` the product and the layers, the outermost first.
//! `STORMLINT_BLESS=1 cargo test --test project` rewrites it: read the difference.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod common;

use std::fmt::Write;
use std::path::{Path, PathBuf};

use common::lint;
use serde_json::Value;

fn folders() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/project");
    let inside = |folder: &Path| -> Vec<PathBuf> {
        let mut paths: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.retain(|path| path.is_dir());
        paths.sort();
        paths
    };
    inside(&root).iter().flat_map(|language| inside(language)).collect()
}

/// What is printed of a project.
fn told(folder: &Path) -> String {
    let findings = lint(folder, &["check", "--isolated", "--output-format", "json", "."]).json();
    let inventory = lint(folder, &["inventory", "--isolated", "--output-format", "json", "."]).json();
    let mut text = String::new();
    for finding in findings["findings"].as_array().unwrap() {
        let (path, line) = (&finding["path"], &finding["range"]["start"]["line"]);
        let rule = finding["rule"].as_str().unwrap();
        writeln!(text, "{}:{line}: {}: [{rule}]", path.as_str().unwrap(), finding["level"].as_str().unwrap()).unwrap();
        if rule != "nested-retry" {
            continue;
        }
        let here = |site: &&Value| site["path"] == *path && site["range"]["start"]["line"] == *line;
        let site = inventory["sites"].as_array().unwrap().iter().find(here).unwrap();
        let layers = site["layers"].as_array().unwrap();
        let factors: Vec<String> = layers.iter().map(|layer| number(&layer["factor"])).collect();
        writeln!(text, "    {} = {}", factors.join(" × "), number(&site["amplification"])).unwrap();
        for layer in layers {
            let place = match layer["path"].as_str() {
                Some(path) => format!("{path}:{}", layer["line"]),
                None => layer["what"].as_str().unwrap().to_owned(),
            };
            writeln!(text, "    {} {place}", number(&layer["factor"])).unwrap();
        }
    }
    assert_eq!(findings["errors"], Value::Array(Vec::new()), "{}", folder.display());
    text
}

fn number(value: &Value) -> String {
    value.as_u64().map_or("n".to_owned(), |number| number.to_string())
}

#[test]
fn projects_of_several_files() {
    let bless = std::env::var_os("STORMLINT_BLESS").is_some();
    let mut wrong = String::new();
    let folders = folders();
    assert!(folders.len() >= 20, "{} projects", folders.len());
    for folder in folders {
        let text = told(&folder);
        let path = folder.join("expected.txt");
        let expected = std::fs::read_to_string(&path).unwrap_or_default();
        if text == expected {
            continue;
        }
        if bless {
            std::fs::write(path, text).unwrap();
        } else {
            writeln!(wrong, "{}\n--- expected\n{expected}--- found\n{text}", folder.display()).unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Two tries of an item, in four passes over its batch.
#[test]
fn the_batch_job_of_the_incidents() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/incidents");
    let text = told(&folder);
    for (path, inner) in [("python/batch_sync.py:47", 23), ("rust/batch_sync.rs:51", 23)] {
        let (file, _) = path.split_once(':').unwrap();
        let layers = format!("{path}: warning: [nested-retry]\n    4 × 2 = 8\n    4 {path}\n    2 {file}:{inner}\n");
        assert!(text.contains(&layers), "{layers}--- found\n{text}");
        assert!(text.contains(&format!("{path}: warning: [batch-replay]\n")), "{text}");
    }
}
