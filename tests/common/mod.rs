//! What several test programs share: folders of their own, golden files, and a run with hand-made findings.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, missing_docs)]

pub mod inventory;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use stormlint::check::{FileError, Input, Run};
use stormlint::config::{ActiveRule, Config};
use stormlint::diagnostic::{Confidence, Diagnostic, Label, Level};
use stormlint::ir::Unparsed;
use stormlint::rules::{Group, Rule};
use stormlint::source::{Language, SourceFile, Span};

/// A folder that is removed when it goes out of scope. It holds `.git`, so that it is a repository's root.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("stormlint-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(path.join(".git")).unwrap();
        Folder(path)
    }

    pub fn write(&self, path: &str, text: impl AsRef<[u8]>) -> &Self {
        let path = self.0.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What became of a run of the program.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Ran {
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// Runs the program in a folder.
pub fn lint(cwd: &Path, args: &[&str]) -> Ran {
    lint_piped(cwd, args, "")
}

/// As [`lint`], with a text on standard input.
pub fn lint_piped(cwd: &Path, args: &[&str], text: &str) -> Ran {
    let output = piped(cwd, args, text);
    Ran { code: output.status.code(), out: out(&output), err: err(&output) }
}

/// Where findings are, one `path:line [rule]` each.
pub fn places(ran: &Ran) -> Vec<String> {
    let document = ran.json();
    let place = |finding: &serde_json::Value| {
        let (path, line) = (finding["path"].as_str().unwrap(), &finding["range"]["start"]["line"]);
        format!("{path}:{line} [{}]", finding["rule"].as_str().unwrap())
    };
    document["findings"].as_array().unwrap().iter().map(place).collect()
}

/// Compares with a file of `testdata/golden`; `STORMLINT_BLESS=1` writes it instead.
pub fn golden(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/golden").join(name);
    if std::env::var_os("STORMLINT_BLESS").is_some() {
        std::fs::write(&path, text).unwrap();
        return;
    }
    let wanted = std::fs::read_to_string(&path).unwrap_or_default();
    if wanted != text {
        let diff = similar::TextDiff::from_lines(wanted.as_str(), text);
        panic!("{name} differs (STORMLINT_BLESS=1 accepts):\n{}", diff.unified_diff());
    }
}

const PAGE: &str = "# unbounded-retry\n\nA retry with no limit on `attempts` and no deadline.\n\n## What it does\n\n\
    Reports loops that repeat a failed operation for ever.\n\n## Examples\n\n```python\nwhile True: # error: [unbounded-retry]\n    pass\n```\n";

pub fn config() -> Config {
    let rule = |name, group, level, page| ActiveRule { rule: Rule { name, group, level, page, check: None }, level };
    Config {
        rules: vec![
            rule("fixed-retry-delay", Group::Strict, Level::Note, ""),
            rule("retry-without-delay", Group::Pace, Level::Error, ""),
            rule("unbounded-retry", Group::Bound, Level::Error, PAGE),
            rule("unparsed-source", Group::Meta, Level::Warning, ""),
        ],
        ..Config::default()
    }
}

const PYTHON: &str = "import time\n\n\ndef send(body):\n    naïve = '𝒳'; attempt = 0\n    while True:\n        try:\n            \
     return client.post('/orders', body)\n        except Exception:\n            attempt += 1\n            continue\n";
const RUST: &str = "async fn load(url: &str) -> Data {\n\tloop {\n\t\tif let Ok(data) = get(url).await {\n\t\t\treturn data;\n\t\t}\n\t}\n}\n";
const BROKEN: &str = "def f(:\n    pass\n";

fn span_of(text: &str, part: &str) -> Span {
    let start = text.find(part).unwrap();
    Span::new(start, start + part.len())
}

fn label(file: Option<usize>, text: &str, part: &str, says: &str) -> Label {
    Label { file, span: span_of(text, part), text: says.to_owned() }
}

/// A run over no files.
pub fn clean_run() -> Run {
    Run::with_findings(Vec::new(), Vec::new())
}

/// Findings in both languages, a file that does not parse, one that cannot be read, and texts that are not ASCII.
pub fn run() -> Run {
    let input = |path: &str, text: &str, language| Input {
        file: SourceFile::new(path, text, language),
        module: String::new(),
        root_path: format!("sub/{path}").into(),
        config: std::sync::Arc::default(),
    };
    let inputs = vec![
        input("broken.py", BROKEN, Language::Python),
        input("net/load.rs", RUST, Language::Rust),
        input("über uns/send.py", PYTHON, Language::Python),
    ];
    let finding = |rule, level, span, message: &str, why: &str, help: &str, labels| Diagnostic {
        rule,
        level,
        confidence: Confidence::High,
        span,
        message: message.to_owned(),
        why: why.to_owned(),
        help: help.to_owned(),
        labels,
        extent: Vec::new(),
        function: "f".to_owned(),
        key: "op".to_owned(),
    };
    let findings = vec![
        (
            2,
            finding(
                "unbounded-retry",
                Level::Error,
                span_of(PYTHON, "while True:"),
                "retries POST /orders without end on any exception",
                "an outage of 3 s at 50 ms a call is 60 requests, and nothing ends them if the service stays down; every \
                 worker that meets the fault adds the same number again",
                "limit the attempts, or set a deadline over all of them",
                vec![
                    label(None, PYTHON, "client.post('/orders', body)", "fails with any exception"),
                    label(None, PYTHON, "except Exception:", "is caught here"),
                    label(None, PYTHON, "continue", "back to the loop"),
                    label(Some(1), RUST, "get(url).await", "the same is done here"),
                ],
            ),
        ),
        (
            2,
            finding(
                "fixed-retry-delay",
                Level::Note,
                span_of(PYTHON, "'𝒳'; attempt"),
                "marks a place behind letters that are not ASCII",
                "",
                "",
                Vec::new(),
            ),
        ),
        (
            1,
            finding(
                "retry-without-delay",
                Level::Error,
                span_of(RUST, "loop"),
                "retries `get(url)` at once",
                "the next request leaves as soon as the last one has failed",
                "wait between attempts, with a growing delay and jitter",
                vec![label(
                    None,
                    RUST,
                    "if let Ok(data) = get(url).await {\n\t\t\treturn data;",
                    "no wait on this path",
                )],
            ),
        ),
        (
            0,
            finding(
                "unparsed-source",
                Level::Warning,
                span_of(BROKEN, ":\n"),
                "this part could not be parsed: expected a parameter",
                "retries in it were not looked at",
                "mend the syntax",
                Vec::new(),
            ),
        ),
    ];
    let mut run = Run::with_findings(inputs, findings);
    run.unparsed[0] = vec![Unparsed { span: span_of(BROKEN, ":\n"), message: "expected a parameter".to_owned() }];
    run.errors = vec![FileError::new("gone.py".to_owned(), "no such file or folder".to_owned())];
    run
}

/// All formats of findings.
pub const FORMATS: [&str; 7] = ["full", "concise", "json", "sarif", "github", "gitlab", "junit"];

/// Runs the program with these arguments and an empty standard input.
pub fn stormlint(cwd: &Path, args: &[&str]) -> Output {
    piped(cwd, args, "")
}

/// As [`stormlint`], with a text on standard input.
pub fn piped(cwd: &Path, args: &[&str], text: &str) -> Output {
    use std::io::Write;
    let mut child = Command::new(env!("CARGO_BIN_EXE_stormlint"))
        .current_dir(cwd)
        .args(args)
        .env_remove("NO_COLOR")
        .env_remove("CLICOLOR_FORCE")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // One that refuses its arguments does not read.
    let _ = child.stdin.take().unwrap().write_all(text.as_bytes());
    child.wait_with_output().unwrap()
}

pub fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

pub fn json(output: &Output) -> serde_json::Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}{}", out(output), err(output)))
}
