//! Configuration files as the program finds, reads and shows them.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

mod common;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

use common::{Folder, err, out, piped, stormlint};
use serde_json::Value;

/// Three attempts in a row, without an end to them: `unbounded-retry` (error) and `retry-without-delay` (error).
const HOT: &str = "\
import requests


def load(url):
    while True:
        try:
            return requests.get(url, timeout=5)
        except requests.ConnectionError:
            continue
";
const BOTH: [(&str, &str); 2] = [("retry-without-delay", "error"), ("unbounded-retry", "error")];

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}{}", out(output), err(output)))
}

/// What is reported, by file: rules with their levels.
fn found_in(cwd: &Path, args: &[&str]) -> BTreeMap<String, Vec<(String, String)>> {
    let document = json(&stormlint(cwd, &[args, &["--output-format", "json"]].concat()));
    let mut found: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    for finding in document["findings"].as_array().unwrap() {
        found.entry(text(&finding["path"])).or_default().push((text(&finding["rule"]), text(&finding["level"])));
    }
    found.values_mut().for_each(|rules| rules.sort());
    found
}

/// The rules reported in one file.
fn found(cwd: &Path, args: &[&str]) -> Vec<(String, String)> {
    found_in(cwd, args).into_values().flatten().collect()
}

fn owned(rules: &[(&str, &str)]) -> Vec<(String, String)> {
    rules.iter().map(|(rule, level)| ((*rule).to_owned(), (*level).to_owned())).collect()
}

/// The complaint of a run that has to end with 2 and print nothing.
fn refused(cwd: &Path, args: &[&str]) -> String {
    let output = stormlint(cwd, args);
    assert_eq!((output.status.code(), out(&output).as_str()), (Some(2), ""), "{args:?}: {}", err(&output));
    err(&output)
}

fn files(cwd: &Path, args: &[&str]) -> u64 {
    json(&stormlint(cwd, &[args, &["--output-format", "json"]].concat()))["files"].as_u64().unwrap()
}

const OFF: &str = "select = []\n";
const NOTE: &str = "[rules]\nunbounded-retry = \"note\"\nretry-without-delay = \"off\"\n";

#[test]
fn the_nearest_file_holds_for_each_and_nothing_is_merged() {
    let folder = Folder::new("nearest");
    folder
        .write("stormlint.toml", NOTE)
        .write("a.py", HOT)
        .write("x/y/b.py", HOT)
        .write("own/stormlint.toml", "ignore = [\"bound\"]\n")
        .write("own/deep/c.py", HOT)
        .write("empty/.stormlint.toml", "")
        .write("empty/d.py", HOT);
    let found = found_in(&folder.0, &[]);
    assert_eq!(found["a.py"], owned(&[("unbounded-retry", "note")]));
    assert_eq!(found["x/y/b.py"], owned(&[("unbounded-retry", "note")]));
    assert_eq!(found["own/deep/c.py"], owned(&[("retry-without-delay", "error")]), "not merged");
    assert_eq!(found["empty/d.py"], owned(&BOTH), "an empty file is a configuration too");
    // The same from elsewhere, and by other names.
    let below = folder.0.join("x");
    assert_eq!(found_in(&below, &["../own/deep/c.py", "y/../y/b.py"]).len(), 2);
    assert_eq!(found_in(&below, &["y/b.py"])["y/b.py"], owned(&[("unbounded-retry", "note")]));
}

#[test]
fn the_search_ends_at_the_root_of_the_repository() {
    let folder = Folder::new("ends");
    folder
        .write("stormlint.toml", OFF)
        .write("vendored/.git/HEAD", "")
        .write("vendored/pkg/a.py", HOT)
        .write("submodule/.git", "gitdir: ../.git/modules/submodule\n")
        .write("submodule/b.py", HOT)
        .write("submodule/.stormlint.toml", NOTE)
        .write("c.py", HOT);
    let found = found_in(&folder.0, &["."]);
    assert_eq!(found["vendored/pkg/a.py"], owned(&BOTH));
    assert_eq!(found["submodule/b.py"], owned(&[("unbounded-retry", "note")]), "the root itself counts");
    assert!(!found.contains_key("c.py"));
    // A file outside of the working directory's repository is under its own.
    assert_eq!(found_in(&folder.0.join("vendored"), &["../c.py"]).len(), 0);
    assert_eq!(found_in(&folder.0.join("vendored"), &["../submodule/b.py"]).len(), 1);
}

#[test]
fn of_several_files_in_a_folder_the_first_holds() {
    let folder = Folder::new("several");
    folder.write("a.py", HOT);
    let off = |table: &str| format!("[{table}]\nselect = []\n");
    let on = |table: &str| format!("[{table}]\nignore = [\"pace\"]\n");
    folder.write("Cargo.toml", on("package.metadata.stormlint") + &off("workspace.metadata.stormlint"));
    assert_eq!(found(&folder.0, &[]), owned(&[("unbounded-retry", "error")]));
    folder.write("Cargo.toml", off("workspace.metadata.stormlint"));
    assert_eq!(found(&folder.0, &[]), []);
    folder.write("pyproject.toml", "[project]\nname = \"x\"\n\n".to_owned() + &on("tool.stormlint"));
    assert_eq!(found(&folder.0, &[]).len(), 1);
    folder.write(".stormlint.toml", OFF);
    assert_eq!(found(&folder.0, &[]), []);
    folder.write("stormlint.toml", NOTE);
    assert_eq!(found(&folder.0, &[]), owned(&[("unbounded-retry", "note")]));
}

#[test]
fn files_of_other_programs_count_if_they_have_our_table() {
    let folder = Folder::new("others");
    folder
        .write("stormlint.toml", NOTE)
        .write("plain/pyproject.toml", "[project]\nname = \"x\"\ndependencies = [\"stormlint\"]\n")
        .write("plain/a.py", HOT)
        .write("template/pyproject.toml", b"[project]\nname = {{ name }}\n\xff")
        .write("template/Cargo.toml", "{{ name }}")
        .write("template/b.py", HOT);
    assert_eq!(found_in(&folder.0, &[]).len(), 2, "what does not name us need not be sound");
    folder.write("template/pyproject.toml", "[project]\nname = {{ name }}\n[tool.stormlint]\n");
    let text = refused(&folder.0, &[]);
    assert!(text.starts_with("stormlint: template/pyproject.toml:2: no TOML: "), "{text}");
}

#[test]
fn a_packages_table_is_about_that_package_and_the_workspaces_about_all() {
    let folder = Folder::new("workspace");
    let rust = "pub async fn load(url: &str) -> String {\n    loop {\n        if let Ok(answer) = reqwest::get(url).await \
                {\n            return answer.text().await.unwrap_or_default();\n        }\n    }\n}\n";
    folder
        .write(
            "Cargo.toml",
            "[package]\nname = \"root\"\n[package.metadata.stormlint]\nselect = []\n\
             [workspace.metadata.stormlint]\nselect = [\"unbounded-retry\"]\n",
        )
        .write("src/lib.rs", rust)
        .write("crates/one/Cargo.toml", "[package]\nname = \"one\"\n")
        .write("crates/one/src/lib.rs", rust)
        .write(
            "crates/two/Cargo.toml",
            "[package]\nname = \"two\"\n[package.metadata.stormlint]\nignore = [\"bound\"]\n",
        )
        .write("crates/two/src/lib.rs", rust);
    let found = found_in(&folder.0, &[]);
    assert!(!found.contains_key("src/lib.rs"), "{found:?}");
    assert_eq!(found["crates/one/src/lib.rs"], owned(&[("unbounded-retry", "error")]));
    assert!(found["crates/two/src/lib.rs"].iter().all(|(rule, _)| rule != "unbounded-retry"), "{found:?}");
    assert!(!found["crates/two/src/lib.rs"].is_empty());
}

#[test]
fn one_file_for_all_or_none_at_all() {
    let folder = Folder::new("one");
    folder.write("stormlint.toml", OFF).write("ci/strict.toml", NOTE).write("a.py", HOT);
    folder.write("ci/pyproject.toml", "[tool.stormlint.rules]\nunbounded-retry = \"warn\"\n");
    assert_eq!(found(&folder.0, &["--isolated"]), owned(&BOTH));
    assert_eq!(found(&folder.0, &["--config", "ci/strict.toml"]), owned(&[("unbounded-retry", "note")]));
    assert_eq!(found(&folder.0, &["--config", "ci/pyproject.toml"])[1], owned(&[("unbounded-retry", "warning")])[0]);
    let text = refused(&folder.0, &["--config", "nowhere.toml"]);
    assert_eq!(text, "stormlint: nowhere.toml: no such file or folder\n");
    assert_eq!(refused(&folder.0, &["--config", "ci"]), "stormlint: ci: is a folder\n");
    folder.write("Cargo.toml", "[package]\nname = \"x\"\n");
    let text = refused(&folder.0, &["--config", "Cargo.toml"]);
    assert_eq!(
        text,
        "stormlint: Cargo.toml: has no table [package.metadata.stormlint] or [workspace.metadata.stormlint]\n"
    );
    assert!(refused(&folder.0, &["--config", "ci/strict.toml", "--isolated"]).contains("cannot be used with"));
}

#[test]
fn the_command_line_says_more_than_a_file() {
    let folder = Folder::new("command-line");
    folder.write("stormlint.toml", NOTE).write("a.py", HOT);
    assert_eq!(
        found(&folder.0, &["--select", "retry-without-delay,unbounded-retry"]),
        owned(&[("retry-without-delay", "error"), ("unbounded-retry", "note")])
    );
    assert_eq!(found(&folder.0, &["--ignore", "bound"]), []);
    folder.write("stormlint.toml", "min-confidence = \"high\"\n").write("b.py", "x = 1\n");
    let shown = |args: &[&str]| {
        let document = json(&stormlint(&folder.0, &[&["config", "b.py", "--output-format", "json"], args].concat()));
        document["files"][0]["settings"]["min-confidence"].clone()
    };
    assert_eq!(shown(&[]), serde_json::json!({"value": "high", "from": "stormlint.toml:1"}));
    assert_eq!(shown(&["--min-confidence", "low"]), serde_json::json!({"value": "low", "from": "command line"}));
    assert_eq!(shown(&["--isolated"]), serde_json::json!({"value": "medium", "from": "default"}));
}

#[test]
fn limits_and_levels_differ_by_file_in_one_run() {
    let folder = Folder::new("limits");
    let text = "import time\n\nimport requests\n\n\ndef load(url):\n    for attempt in range(8):\n        try:\n            \
                return requests.get(url, timeout=5)\n        except requests.ConnectionError:\n            if attempt == 7:\n\
                \x20               raise\n            time.sleep(0.5)\n";
    folder.write("a.py", text).write("strict/b.py", text).write("loose/c.py", text);
    folder.write(
        "stormlint.toml",
        "max-attempts = 8\n[[overrides]]\nfiles = [\"strict/**\"]\nmax-attempts = 7\nrules = { bound = \"note\" }\n\
         [[overrides]]\nfiles = [\"loose\"]\nmin-delay = \"1 s\"\n",
    );
    let found = found_in(&folder.0, &[]);
    assert_eq!(found.get("a.py"), None, "{found:?}");
    assert_eq!(found["strict/b.py"], owned(&[("excessive-attempts", "note")]));
    assert_eq!(found["loose/c.py"], owned(&[("retry-without-delay", "error")]));
    // All the rules that were on anywhere are described.
    let log = json(&stormlint(&folder.0, &["--output-format", "sarif"]));
    let results = log["runs"][0]["results"].as_array().unwrap();
    let rules = log["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap();
    for result in results {
        let at = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(rules[at]["id"], result["ruleId"]);
    }
    assert_eq!(results.len(), 2);
}

#[test]
fn a_pattern_that_can_fit_nothing_is_refused() {
    let folder = Folder::new("outwards");
    folder.write("a.py", "x = 1\n").write("app/b.py", "x = 1\n");
    folder.write(
        "app/stormlint.toml",
        "exclude = [\n  \"old\",\n  \"../a.py\",\n]\n[[overrides]]\nfiles = [\"../x/**\"]\n",
    );
    let output = stormlint(&folder.0, &["."]);
    assert_eq!(output.status.code(), Some(2));
    let told = err(&output);
    assert!(
        told.contains("app/stormlint.toml:3: in `exclude`: `../a.py`: the pattern leads out of the folder"),
        "{told}"
    );
    assert!(told.contains("app/stormlint.toml:6: in `files`: `../x/**`: the pattern leads out"), "{told}");
    // Named, the same file holds for whatever is checked.
    let output = stormlint(&folder.0, &["--config", "app/stormlint.toml", "--output-format", "json", "."]);
    assert_eq!(json(&output)["files"], 1, "{}", err(&output));
}

#[test]
fn what_is_excluded_is_checked_if_it_is_named() {
    let folder = Folder::new("excluded");
    folder
        .write("stormlint.toml", "exclude = [\"gen\", \"/top.py\", \"*_pb2.py\", \"pkg/old/**\"]\n")
        .write("a.py", HOT)
        .write("top.py", HOT)
        .write("pkg/top.py", HOT)
        .write("pkg/x_pb2.py", HOT)
        .write("pkg/gen/deep/b.py", HOT)
        .write("pkg/old/c.py", HOT)
        .write("pkg/gen/stormlint.toml", "")
        .write("venv/d.py", HOT);
    let paths = |args: &[&str]| found_in(&folder.0, args).into_keys().collect::<Vec<_>>();
    assert_eq!(paths(&[]), ["a.py", "pkg/top.py"]);
    let all = ["top.py", "pkg/x_pb2.py", "pkg/gen/deep/b.py", "pkg/old/c.py", "venv/d.py"];
    assert_eq!(paths(&all).len(), 5);
    assert_eq!(paths(&["pkg/gen"]), ["pkg/gen/deep/b.py"]);
    let forced: Vec<&str> = ["--force-exclude"].into_iter().chain(all).collect();
    let output = stormlint(&folder.0, &forced);
    assert_eq!((output.status.code(), err(&output).as_str()), (Some(0), ""), "no mistake in the paths");
    assert_eq!(out(&output), "No findings in 0 files.\n");
    assert_eq!(paths(&["--force-exclude", "a.py", "pkg/gen", "top.py", "venv"]), ["a.py"]);
    assert_eq!(paths(&["venv"]), ["venv/d.py"]);
    let forced = ["-", "--force-exclude", "--stdin-filename", "pkg/gen/new.py"];
    assert_eq!(out(&piped(&folder.0, &forced, HOT)), "No findings in 0 files.\n");
    // Patterns are relative to the folder of their file, also from elsewhere.
    assert_eq!(files(&folder.0.join("pkg"), &["--config", "../stormlint.toml"]), 1);
    folder.write("ci/other.toml", "exclude = [\"../pkg\", \"ci\"]\n");
    assert_eq!(files(&folder.0, &["--config", "ci/other.toml"]), 2);
}

#[test]
fn standard_input_is_under_the_configuration_of_its_name() {
    let folder = Folder::new("stdin-config");
    folder.write("sub/stormlint.toml", NOTE).write("stormlint.toml", OFF);
    let checked = |name: &str| {
        let output = piped(&folder.0, &["-", "--stdin-filename", name, "--output-format", "json"], HOT);
        json(&output)["findings"].as_array().unwrap().len()
    };
    assert_eq!(checked("sub/new/a.py"), 1, "the folder need not exist");
    assert_eq!(checked("a.py"), 0);
    assert_eq!(checked("sub/../a.py"), 0);
    assert_eq!(checked("../a.py"), 2, "outside of the repository");
}

#[test]
fn texts_of_configurations_may_come_from_anywhere() {
    let folder = Folder::new("texts");
    folder.write("a.py", HOT);
    folder.write("stormlint.toml", "\u{feff}# crlf\r\n[rules]\r\nunbounded-retry = \"note\"\r\nbound = \"nott\"\r\n");
    let text = refused(&folder.0, &[]);
    assert!(text.starts_with("stormlint: stormlint.toml:4: `bound = \"nott\"`: unknown value `nott`"), "{text}");
    folder.write("stormlint.toml", b"# fine\n# \xff\n");
    assert_eq!(refused(&folder.0, &[]), "stormlint: stormlint.toml:2: not UTF-8, as TOML has to be\n");
    folder.write("stormlint.toml", "");
    assert_eq!(found(&folder.0, &[]), owned(&BOTH));
}

#[test]
fn all_that_is_wrong_is_told_at_once() {
    let folder = Folder::new("wrong");
    folder
        .write("stormlint.toml", "selct = []\n\n[rules]\nunbounded-retri = \"warn\"\n")
        .write("a.py", HOT)
        .write("sub/.stormlint.toml", "max-attempts = 0\n")
        .write("sub/b.py", HOT);
    let text = refused(&folder.0, &["--output-format", "json"]);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 3, "{text}");
    assert!(lines[0].starts_with("stormlint: stormlint.toml:1: unknown key `selct`: did you mean `select`?"), "{text}");
    assert!(
        lines[1].starts_with("stormlint: stormlint.toml:4: in `[rules]`: unknown rule or group `unbounded-retri`;")
    );
    assert_eq!(lines[2], "stormlint: sub/.stormlint.toml:1: `max-attempts` is a whole number from 1 to 1000000");
    for verb in ["inventory", "config", "models"] {
        assert!(refused(&folder.0, &[verb]).contains("stormlint.toml:1: unknown key `selct`"), "{verb}");
    }
    assert_eq!(stormlint(&folder.0, &["--isolated"]).status.code(), Some(1));
}

#[test]
fn nothing_that_commands_a_terminal_is_printed() {
    let folder = Folder::new("raw");
    folder.write("stormlint.toml", "exclude = [\"a\\u001b*\"]\n\"x\\u001b[2J\\n\" = 1\n");
    let text = refused(&folder.0, &["config", "a.py"]);
    assert!(!text.contains('\u{1b}') && text.lines().count() == 1, "{text:?}");
    folder.write("stormlint.toml", "models = [\"m.toml\"]\nexclude = [\"\\u001bx\"]\n");
    folder.write("m.toml", "library = \"a\\u001b\"\nlanguage = \"rust\"\n[[entry]]\nkind = \"exit\"\nfunctions = [\"a\"]\nnote = \"\\u001b\"\n");
    for args in [&["config", "\u{1b}x/a.py"] as &[&str], &["models"], &["models", "a"]] {
        for format in ["full", "json"] {
            let output = stormlint(&folder.0, &[args, &["--output-format", format]].concat());
            assert_eq!(output.status.code(), Some(0), "{args:?}: {}", err(&output));
            assert!(!out(&output).contains('\u{1b}') && !out(&output).is_empty(), "{args:?} {:?}", out(&output));
        }
    }
}

#[cfg(unix)]
#[test]
fn links_and_things_that_are_no_files() {
    use std::os::unix::fs::symlink;
    let folder = Folder::new("odd-files");
    folder.write("a.py", HOT).write("shared/ours.toml", NOTE);
    symlink("shared/ours.toml", folder.0.join("stormlint.toml")).unwrap();
    assert_eq!(found(&folder.0, &[]), owned(&[("unbounded-retry", "note")]), "a link to a configuration");
    std::fs::remove_file(folder.0.join("shared/ours.toml")).unwrap();
    assert_eq!(refused(&folder.0, &[]), "stormlint: stormlint.toml: a link that leads nowhere\n");
    std::fs::remove_file(folder.0.join("stormlint.toml")).unwrap();
    std::fs::create_dir(folder.0.join("stormlint.toml")).unwrap();
    assert_eq!(found(&folder.0, &[]), owned(&BOTH), "a folder is no configuration");
    std::fs::remove_dir(folder.0.join("stormlint.toml")).unwrap();
    assert!(Command::new("mkfifo").arg(folder.0.join("stormlint.toml")).status().unwrap().success());
    assert_eq!(refused(&folder.0, &[]), "stormlint: stormlint.toml: not a regular file\n");
    std::fs::remove_file(folder.0.join("stormlint.toml")).unwrap();
    // What a link leads to is under the configuration of where the link stands.
    folder.write("real/b.py", HOT).write("real/stormlint.toml", NOTE).write("linked/stormlint.toml", OFF);
    symlink("../real/b.py", folder.0.join("linked/b.py")).unwrap();
    assert_eq!(found(&folder.0, &["linked/b.py"]), []);
    assert_eq!(found(&folder.0, &["real/b.py"]).len(), 1);
}

#[cfg(unix)]
#[test]
fn a_configuration_that_cannot_be_read_is_an_error() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new("unreadable");
    folder.write("stormlint.toml", NOTE).write("sub/a.py", HOT);
    let path = folder.0.join("stormlint.toml");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
    // Whoever may read everything sees no difference.
    if std::fs::read(&path).is_err() {
        let text = refused(&folder.0.join("sub"), &[]);
        assert!(text.ends_with("stormlint.toml: permission denied\n"), "{text}");
    }
}

#[test]
fn what_holds_is_shown_with_where_it_is_set() {
    let folder = Folder::new("shown");
    folder
        .write(
            "stormlint.toml",
            "select = [\"bound\"]\nexclude = [\"old\"]\nmax-attempts = 5\n\n[[overrides]]\nfiles = [\"tests/**\"]\n\
             min-delay = \"1 ms\"\nrules = { unbounded-retry = \"off\" }\n",
        )
        .write("other/pyproject.toml", "[tool.stormlint]\n")
        .write("tests/a.py", HOT)
        .write("free/.git/HEAD", "");
    let shown = |args: &[&str]| out(&stormlint(&folder.0, &[&["config"], args].concat()));
    let text = shown(&["tests/old/a.py"]);
    let has = |text: &str, words: &str| {
        let wanted: Vec<&str> = words.split(' ').collect();
        assert!(text.lines().any(|line| line.split_whitespace().eq(wanted.iter().copied())), "{words}\n{text}");
    };
    assert!(text.starts_with("tests/old/a.py\n"));
    has(&text, "configuration: stormlint.toml");
    has(&text, "override: tests/** (stormlint.toml:6)");
    has(&text, "excluded: old (stormlint.toml:2)");
    has(&text, "max-attempts 5 stormlint.toml:3");
    has(&text, "min-delay 0.001 s stormlint.toml:7");
    has(&text, "max-delay 300 s default");
    has(&text, "excessive-attempts warn stormlint.toml:1");
    has(&text, "unbounded-retry off stormlint.toml:8");
    has(&text, "nested-retry off stormlint.toml:1");
    has(&shown(&["tests"]), "override: tests/** (stormlint.toml:6)");
    has(&shown(&["--select", "nested-retry"]), "nested-retry warn command line");
    has(&shown(&["other/a.py"]), "configuration: other/pyproject.toml [tool.stormlint]");
    has(&shown(&["free/a.py"]), "no configuration file: the defaults hold");
    let two = json(&stormlint(&folder.0, &["config", "a.py", "tests/old/a.py", "--output-format", "json"]));
    assert_eq!(two["files"][0]["excluded"], Value::Null);
    let second = &two["files"][1];
    assert_eq!(second["configuration"], serde_json::json!({"file": "stormlint.toml", "table": null}));
    assert_eq!(second["excluded"], serde_json::json!({"pattern": "old", "from": "stormlint.toml:2"}));
    assert_eq!(second["settings"]["max-attempts"], serde_json::json!({"value": 5, "from": "stormlint.toml:3"}));
    let rules = second["rules"].as_array().unwrap();
    assert_eq!(rules.len(), stormlint::rules::ALL.len());
    let unbounded = rules.iter().find(|rule| rule["name"] == "unbounded-retry").unwrap();
    assert_eq!((&unbounded["level"], &unbounded["from"]), (&"off".into(), &"stormlint.toml:8".into()));
    let schema = json(&stormlint(&folder.0, &["config", "--schema"]));
    assert_eq!(schema["title"], "stormlint");
}
