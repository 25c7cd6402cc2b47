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

/// The steps of the finding's flow in the SARIF log of a project: file, line and text of each.
fn flow(folder: &Path) -> Vec<(String, u64, String)> {
    let log =
        lint(folder, &["check", "--isolated", "--select", "nested-retry", "--output-format", "sarif", "."]).json();
    let schema: Value = serde_json::from_str(include_str!("../testdata/sarif/sarif-2.1.0.json")).unwrap();
    let errors: Vec<String> =
        jsonschema::validator_for(&schema).unwrap().iter_errors(&log).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    let results = log["runs"][0]["results"].as_array().unwrap();
    assert_eq!(results.len(), 1, "{results:?}");
    let step = |step: &Value| {
        let location = &step["location"];
        let place = &location["physicalLocation"];
        let uri = place["artifactLocation"]["uri"].as_str().unwrap();
        let file = uri.rsplit('/').take(2).collect::<Vec<_>>().into_iter().rev().collect::<Vec<_>>().join("/");
        (file, place["region"]["startLine"].as_u64().unwrap(), location["message"]["text"].as_str().unwrap().to_owned())
    };
    results[0]["codeFlows"][0]["threadFlows"][0]["locations"].as_array().unwrap().iter().map(step).collect()
}

#[test]
fn a_flow_shows_every_layer_with_its_place_and_factor() {
    let project = |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/project").join(name);
    for (name, steps) in [
        (
            "python/three-files",
            vec![
                ("shop/report.py", 9, "3 attempts here."),
                ("shop/stock.py", 10, "3 attempts by the loop in `level`."),
                ("shop/net.py", 8, "5 attempts by the loop in `ask`."),
            ],
        ),
        (
            "rust/three-files",
            vec![
                ("src/report.rs", 6, "3 attempts here."),
                ("src/stock.rs", 7, "3 attempts by the loop in `level`."),
                ("src/net.rs", 5, "5 attempts by the loop in `ask`."),
            ],
        ),
        // What a library repeats has no place of its own: its call has.
        (
            "python/sdk-default",
            vec![
                ("catalogue/summaries.py", 11, "4 attempts here."),
                ("catalogue/summaries.py", 13, "3 attempts by the default of openai 3.x."),
            ],
        ),
    ] {
        let folder = project(name);
        let shown: Vec<_> = flow(&folder);
        let shown: Vec<_> = shown.iter().map(|(file, line, text)| (file.as_str(), *line, text.as_str())).collect();
        assert_eq!(shown, steps, "{name}");
        // A person reads the same, numbered.
        let text = lint(&folder, &["check", "--isolated", "--select", "nested-retry", "--output-format", "full", "."]);
        let text = text.out;
        for (number, (file, line, step)) in steps.iter().enumerate() {
            assert!(text.contains(&format!("{}: {}", number + 1, step.trim_end_matches('.'))), "{step}\n{text}");
            assert!(text.contains(&format!("{file}:{line}")) || text.contains(&format!("{line} │")), "{file}\n{text}");
        }
    }
}

/// What each entry point becomes while a fault lasts, the worst first.
#[test]
fn the_inventory_lists_entry_points_the_worst_first() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/project/python");
    let inventory = lint(&root, &["inventory", "--isolated", "--output-format", "json", "."]).json();
    let points = inventory["entry_points"].as_array().unwrap();
    let requests: Vec<Option<u64>> = points.iter().map(|point| point["requests"].as_u64()).collect();
    let known: Vec<u64> = requests.iter().flatten().copied().collect();
    assert!(known.is_sorted_by(|more, less| more >= less), "{known:?}");
    assert_eq!(known.first(), Some(&45), "{known:?}");
    for (point, all) in points.iter().zip(&requests).filter(|(_, all)| all.is_some()) {
        let layers = point["layers"].as_array().unwrap();
        let product: u64 = layers.iter().map(|layer| layer["factor"].as_u64().unwrap()).product();
        assert!(all.unwrap() <= product, "{point}");
        assert!(layers.iter().all(|layer| layer["line"].is_u64() || layer["what"].is_string()), "{point}");
    }
    // None of them is a layer of another one.
    let is_point = |path: &str| points.iter().any(|point| point["path"].as_str().unwrap().ends_with(path));
    assert!(is_point("shop/report.py") && !is_point("shop/stock.py") && !is_point("shop/net.py"));
}

/// What is looked for behind a value stops where the value is made of itself.
#[test]
fn values_that_are_made_of_themselves_have_an_end() {
    let folder = common::Folder::new("made-of-themselves");
    let text = "\
import asyncio
import httpx

class Pool:
    def __init__(self):
        self.pool = self.pool

    async def ask(self, client: httpx.AsyncClient, items):
        made, mapped = self.pool, items
        while items:
            made = made()
            items = iter(items)
            mapped = mapped.map(mapped)
            self.pool = self.pool.map(mapped)
        for item in items:
            made.submit(mapped, self.pool)
            mapped.submit(made)
        for attempt in range(3):
            try:
                return await client.get('https://example.com', timeout=5)
            except httpx.TransportError:
                if attempt == 2:
                    raise
                await asyncio.sleep(1)
";
    folder.write("pool.py", text);
    let ran = lint(&folder.0, &["check", "--isolated", "--select", "unshared-retry-budget", "."]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let rust = "\
use reqwest::blocking::Client;

fn ask(client: &Client, mut items: Vec<u8>) -> reqwest::Result<()> {
    let mut last = None;
    for _ in 0..3 {
        items = items.map(|item| items.par_iter()).buffered(items).collect();
        items = items.map(|item| item).filter(items).map(items).then(items).map(items);
        match client.get(\"https://example.com\").send() {
            Ok(_) => return Ok(()),
            Err(error) => last = Some(error),
        }
        std::thread::sleep(std::time::Duration::from_secs(1));
    }
    last.map_or(Ok(()), Err)
}
";
    folder.write("pool.rs", rust);
    let ran = lint(&folder.0, &["check", "--isolated", "--select", "unshared-retry-budget", "."]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
}
