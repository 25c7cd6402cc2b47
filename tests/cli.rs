//! The program as it is run: arguments, exit codes, output, what is found and read.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

mod common;

use std::path::Path;
use std::process::Command;

use common::{FORMATS, Folder, err, json, out, piped, stormlint};
use serde_json::Value;

const CALM: &str = "def f(x):\n    return x\n";
const BROKEN: &str = "def f(:\n    while while\n";

#[test]
fn sound_files_exit_with_0_in_every_format() {
    let folder = Folder::new("sound");
    folder.write("a.py", CALM).write("src/b.rs", "fn main() {}\n");
    for format in FORMATS {
        let output = stormlint(&folder.0, &["check", "--output-format", format]);
        assert_eq!(output.status.code(), Some(0), "{format}: {}", err(&output));
        assert_eq!(err(&output), "");
    }
    assert_eq!(out(&stormlint(&folder.0, &[])), "No findings in 2 files.\n");
    assert_eq!(out(&stormlint(&folder.0, &["--quiet"])), "");
    let document = json(&stormlint(&folder.0, &["--output-format", "json", "."]));
    assert_eq!(document, serde_json::json!({"version": 1, "findings": [], "files": 2, "errors": []}));
}

#[test]
fn findings_exit_with_1_in_every_format() {
    if !stormlint::rules::ALL.iter().any(|rule| rule.name == "unparsed-source") {
        return;
    }
    let folder = Folder::new("faulty");
    folder.write("a.py", BROKEN);
    for format in FORMATS {
        let output = stormlint(&folder.0, &["--output-format", format, "--isolated"]);
        assert_eq!(output.status.code(), Some(1), "{format}: {}", out(&output));
    }
    let output = stormlint(&folder.0, &["--exit-zero", "--output-format", "concise"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(out(&output).starts_with("a.py:1:"), "{}", out(&output));
}

#[test]
fn a_file_of_which_nothing_was_checked_never_passes() {
    let folder = Folder::new("lost");
    let broken = format!("import time\n\n\n{BROKEN}");
    folder
        .write("a.py", broken)
        .write("b.rs", "use std::time::Duration;\n\npub fn f() { let = ; }\n")
        .write("c.py", CALM);
    let listed: &[&str] = &["inventory"];
    for args in [&["--select", "bound"] as &[&str], &["--ignore", "meta"], listed] {
        let output = stormlint(&folder.0, &[args, &["--output-format", "json"]].concat());
        let code = if args == listed { 0 } else { 2 };
        assert_eq!(output.status.code(), Some(code), "{args:?}: {}", out(&output));
        assert!(
            err(&output).contains("b.rs: could not be parsed, and nothing of it was checked (line 3: "),
            "{}",
            err(&output)
        );
        let document = json(&output);
        let paths: Vec<_> = document["errors"].as_array().unwrap().iter().map(|error| &error["path"]).collect();
        assert_eq!(paths, ["a.py", "b.rs"]);
        assert_eq!(document["files"], 3);
    }
    let missing = stormlint(&folder.0, &["inventory", "a.py", "gone.py"]);
    assert_eq!(missing.status.code(), Some(2), "one that cannot be read is a reason to fail");
    let output = stormlint(&folder.0, &["--output-format", "json"]);
    assert_eq!(json(&output)["errors"], serde_json::json!([]), "the findings say so");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn a_file_that_was_checked_in_part_is_known_by_its_finding() {
    let folder = Folder::new("in-part");
    folder.write("a.py", "def f(x):\n    y = (x +\n\n\ndef g(x):\n    return x\n");
    folder.write("b.rs", "pub fn f() { let = ; }\n\npub fn g(x: u8) -> u8 { x }\n");
    assert_eq!(stormlint(&folder.0, &[]).status.code(), Some(1));
    for args in [["--select", "bound"], ["--ignore", "unparsed-source"]] {
        let output = stormlint(&folder.0, &args);
        assert_eq!((output.status.code(), err(&output).as_str()), (Some(0), ""), "{args:?}");
    }
}

#[test]
fn a_root_is_a_folder() {
    let folder = Folder::new("root");
    folder.write("a.py", CALM);
    for root in ["nowhere", "a.py"] {
        let output = stormlint(&folder.0, &["--root", root]);
        assert_eq!(output.status.code(), Some(2));
        assert!(err(&output).contains(&format!("--root takes a folder, and `{root}` is none")), "{}", err(&output));
    }
    assert_eq!(stormlint(&folder.0, &["--root", "."]).status.code(), Some(0));
}

#[cfg(unix)]
#[test]
fn what_is_no_regular_file_is_refused_when_named_and_passed_over_in_a_folder() {
    let folder = Folder::new("pipes");
    folder.write("a.py", CALM);
    assert!(Command::new("mkfifo").arg(folder.0.join("x.py")).status().unwrap().success());
    let _listener = std::os::unix::net::UnixListener::bind(folder.0.join("y.py")).unwrap();
    let output = stormlint(&folder.0, &["--output-format", "json", "x.py", "a.py", "y.py", "/dev/null"]);
    assert_eq!(output.status.code(), Some(2));
    for path in ["x.py", "y.py", "/dev/null"] {
        assert!(err(&output).contains(&format!("{path}: not a regular file")), "{}", err(&output));
    }
    assert_eq!(json(&output)["files"], 1);
    let output = stormlint(&folder.0, &["."]);
    assert_eq!((output.status.code(), err(&output).as_str()), (Some(0), ""));
    let output = piped(&folder.0, &["/dev/stdin"], CALM);
    assert_eq!(output.status.code(), Some(2));
    assert!(err(&output).contains("send it to `stormlint - --stdin-filename NAME`"), "{}", err(&output));
}

#[cfg(unix)]
#[test]
fn a_link_that_leads_nowhere_is_told() {
    let folder = Folder::new("links");
    folder.write("a.py", CALM);
    for (target, link) in [("nowhere.py", "b.py"), ("nowhere", "notes.txt"), ("a.py", "c.py")] {
        std::os::unix::fs::symlink(target, folder.0.join(link)).unwrap();
    }
    let output = stormlint(&folder.0, &["--output-format", "json"]);
    assert_eq!(err(&output), "stormlint: b.py: a link that leads nowhere; there is nothing to check\n");
    assert_eq!((output.status.code(), &json(&output)["files"]), (Some(0), &Value::from(1)));
    let named = stormlint(&folder.0, &["b.py", "c.py"]);
    assert_eq!(named.status.code(), Some(2));
    assert_eq!(out(&named), "No findings in 1 file.\n");
}

#[test]
fn a_missing_path_is_told_and_the_rest_is_checked() {
    let folder = Folder::new("missing");
    folder.write("a.py", CALM).write("notes.txt", "text");
    let output = stormlint(&folder.0, &["gone.py", "a.py", "notes.txt", "--output-format", "json"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(err(&output).contains("gone.py: no such file or folder"), "{}", err(&output));
    let document = json(&output);
    assert_eq!(document["files"], 1);
    assert_eq!(document["errors"][0]["path"], "gone.py");
    assert_eq!(document["errors"][1]["path"], "notes.txt");
}

#[test]
fn wrong_usage_exits_with_2() {
    let folder = Folder::new("usage");
    let output = stormlint(&folder.0, &["--select", "bund"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(err(&output).contains("unknown rule or group `bund`; did you mean `bound`?"), "{}", err(&output));
    assert!(err(&stormlint(&folder.0, &["--select", "bound,"])).contains("the name is empty"));
    for args in [&["explain", "nothing-like-it"] as &[&str], &["--output-format", "xml"], &["-"], &["--nonsense"]] {
        assert_eq!(stormlint(&folder.0, args).status.code(), Some(2), "{args:?}");
    }
    assert_eq!(stormlint(&folder.0, &["inventory", "--output-format", "sarif"]).status.code(), Some(2));
    let output = stormlint(&folder.0, &[]);
    assert_eq!(output.status.code(), Some(0));
    assert!(err(&output).contains("no Python or Rust sources"));
}

fn files(folder: &Folder, args: &[&str]) -> u64 {
    let output = stormlint(&folder.0, &[args, &["--output-format", "json"]].concat());
    json(&output)["files"].as_u64().unwrap()
}

#[test]
fn ignored_files_are_left_out_unless_named() {
    let folder = Folder::new("ignored");
    folder
        .write(".gitignore", "/generated/\n*_pb2.py\n")
        .write("a.py", CALM)
        .write(".hidden/b.py", CALM)
        .write("x_pb2.py", CALM)
        .write("generated/c.py", CALM)
        .write("node_modules/d.py", CALM)
        .write("sub/venv/e.py", CALM)
        .write("build/f.py", CALM)
        .write("readme.md", "text");
    assert_eq!(files(&folder, &[]), 3);
    assert_eq!(files(&folder, &["x_pb2.py"]), 1);
    assert_eq!(files(&folder, &["node_modules"]), 1);
    assert_eq!(files(&folder, &["a.py", "./a.py", "."]), 3);
    std::fs::remove_dir(folder.0.join(".git")).unwrap();
    assert_eq!(files(&folder, &[]), 3);
}

#[test]
fn texts_of_any_encoding_are_read() {
    let folder = Folder::new("encodings");
    folder
        .write("latin.py", b"# coding: latin-1\nx = '\xe9'\n")
        .write("wrong.py", b"x = '\xe9'\n")
        .write("bom.rs", "\u{feff}fn main() {}\n")
        .write("empty.py", "")
        .write("script", "#!/usr/bin/env python3\nx = 1\n");
    let output = stormlint(&folder.0, &[".", "script", "--output-format", "json"]);
    assert_eq!(output.status.code(), Some(0), "{}{}", out(&output), err(&output));
    assert_eq!(json(&output)["files"], 5);
}

#[test]
fn standard_input_is_checked_under_its_name() {
    let folder = Folder::new("stdin");
    let output = piped(&folder.0, &["check", "-", "--stdin-filename", "src/a.py", "--output-format", "json"], CALM);
    assert_eq!(json(&output)["files"], 1);
    assert_eq!(output.status.code(), Some(0));
    for paths in [&[] as &[&str], &["."]] {
        let output = piped(&folder.0, &[&["check", "--stdin-filename", "src/a.py"], paths].concat(), CALM);
        assert_eq!(output.status.code(), Some(2));
        assert!(err(&output).contains("stormlint - --stdin-filename src/a.py"), "{}", err(&output));
    }
}

#[test]
fn sarif_paths_are_the_same_from_every_folder() {
    if !stormlint::rules::ALL.iter().any(|rule| rule.name == "unparsed-source") {
        return;
    }
    let folder = Folder::new("sarif-paths");
    folder.write("pkg/sub/a b.py", BROKEN);
    let args = ["--output-format", "sarif"];
    let from_root = stormlint(&folder.0, &args);
    let from_below = stormlint(&folder.0.join("pkg/sub"), &args);
    assert_eq!(out(&from_root), out(&from_below));
    assert!(out(&from_root).contains("\"uri\": \"pkg/sub/a%20b.py\""));
    assert!(!out(&from_root).contains(folder.0.to_str().unwrap()));
    let rooted = stormlint(&folder.0, &["--output-format", "sarif", "--root", "pkg"]);
    assert!(out(&rooted).contains("\"uri\": \"sub/a%20b.py\""));
}

#[test]
fn output_goes_to_a_file() {
    let folder = Folder::new("output-file");
    folder.write("a.py", CALM);
    let output = stormlint(&folder.0, &["--output-format", "sarif", "-o", "out.sarif"]);
    assert_eq!((output.status.code(), out(&output).as_str()), (Some(0), ""));
    let text = std::fs::read_to_string(folder.0.join("out.sarif")).unwrap();
    assert!(text.contains("\"version\": \"2.1.0\""));
    assert_eq!(stormlint(&folder.0, &["-o", "no/such/folder/x"]).status.code(), Some(2));
}

#[test]
fn rules_are_listed_and_explained() {
    let folder = Folder::new("rules");
    let listed = json(&stormlint(&folder.0, &["rules", "--output-format", "json"]));
    let listed = listed["rules"].as_array().unwrap();
    assert_eq!(listed.len(), stormlint::rules::ALL.len());
    for rule in stormlint::rules::ALL {
        let page = out(&stormlint(&folder.0, &["explain", rule.name]));
        assert_eq!(page.trim_end(), rule.page.trim_end());
    }
}

#[test]
fn the_inventory_has_its_own_formats() {
    let folder = Folder::new("inventory");
    folder.write("a.py", CALM);
    let document = json(&stormlint(&folder.0, &["inventory", "--output-format", "json", "--select", "all", "."]));
    assert_eq!(document, serde_json::json!({"version": 1, "sites": [], "entry_points": [], "files": 1, "errors": []}));
    let output = stormlint(&folder.0, &["inventory", "--output-format", "json", "a.py", "gone.py"]);
    assert_eq!(json(&output)["errors"][0]["path"], "gone.py");
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(out(&stormlint(&folder.0, &["inventory"])), "0 retry sites in 1 file.\n");
    for format in ["sarif", "github", "gitlab", "junit"] {
        let in_file = format!("--output={format}=x");
        for args in [&["inventory", "--output-format", format], &["inventory", "--quiet", in_file.as_str()]] {
            let output = stormlint(&folder.0, args);
            assert_eq!(output.status.code(), Some(2));
            assert!(err(&output).contains(&format!("the inventory has no {format} form")), "{}", err(&output));
        }
    }
}

#[test]
fn counts_of_their_own_add_up() {
    let folder = Folder::new("counts");
    let with = |reset: &str| {
        format!(
            "import time\n\nimport requests\n\n\ndef load(url):\n    slow = gone = 0\n    while True:\n        try:\n\
             \x20           return requests.get(url, timeout=5).content\n\
             \x20       except requests.Timeout:\n            slow += 1\n{reset}            if slow == 3:\n\
             \x20               raise\n        except requests.ConnectionError:\n            gone += 1\n\
             \x20           if gone == 5:\n                raise\n        time.sleep(1)\n"
        )
    };
    folder.write("own.py", with("")).write("by_turns.py", with("            gone = 0\n"));
    let shared = with("").replace("slow", "failures").replace("gone", "failures");
    folder.write("shared.py", shared);
    let most = |path: &str| {
        let document = json(&stormlint(&folder.0, &["inventory", "--output-format", "json", path]));
        document["sites"][0]["max_attempts"].as_u64()
    };
    assert_eq!(most("own.py"), Some(2 + 4 + 1));
    assert_eq!(most("shared.py"), Some(5));
    let shown = out(&stormlint(&folder.0, &["inventory", "own.py"]));
    assert!(shown.contains("at most 7 (5 if it always fails in the same way)"), "{shown}");
    // Four broken connections before each of three time-outs: no sum.
    assert_eq!(most("by_turns.py"), None);
}

#[test]
fn the_readme_lists_the_rules_as_the_program_does() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let readme = std::fs::read_to_string(&path).unwrap();
    let (begin, end) = ("<!-- rules -->\n", "<!-- end of rules -->");
    let (before, rest) = readme.split_once(begin).unwrap();
    let (table, after) = rest.split_once(end).unwrap();
    let printed = out(&stormlint(&std::env::temp_dir(), &["rules"]));
    if std::env::var_os("STORMLINT_BLESS").is_some() {
        std::fs::write(&path, format!("{before}{begin}{printed}{end}{after}")).unwrap();
    } else {
        assert_eq!(table, printed, "the table in README.md; STORMLINT_BLESS=1 writes it");
    }
}

#[test]
fn methods_that_stand_for_one_another_end() {
    let folder = Folder::new("aliases");
    let text = "\
import requests

class Client:
    def __init__(self):
        self.send = self.post
        self.post = self.send

    def ask(self, url):
        while True:
            try:
                return self.send(url)
            except requests.RequestException:
                self.wrap()

    def wrap(self):
        self.inner = self.fetch
        self.fetch = self.inner

    def fetch(self, url):
        return self.inner(url)

    def run(self, url):
        self.wrap()
        self.fetch = self.inner
        self.wrap()
        return self.fetch(url)
";
    folder.write("a.py", text);
    let output = stormlint(&folder.0, &["check", "."]);
    assert!(matches!(output.status.code(), Some(0 | 1)), "{}", err(&output));
}
