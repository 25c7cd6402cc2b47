//! Nothing breaks it: broken and hostile files, worst cases, faults of its own, orders of files and threads.
//!
//! Everything is generated here, and small enough for each change; `scripts/corpora` does the same with real sources.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::print_stdout, missing_docs)]

#[path = "../common/mod.rs"]
mod common;

mod growth;
mod inputs;
mod isolation;
mod lowering;
mod mutations;
mod order;
mod places;
mod rounds;
mod times;

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use common::Ran;

/// A fault in line 5, which is to be found whatever stands beside it.
const SENTINEL: &str = "import requests


def load(url):
    while True:
        try:
            return requests.get(url, timeout=5)
        except requests.ConnectionError:
            pass
";

/// No run here takes longer, on a machine that has other things to do.
const PATIENCE: Duration = Duration::from_secs(900);

/// A folder of its own, whatever runs beside.
fn folder() -> common::Folder {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    common::Folder::new(&format!("robust-{}", NEXT.fetch_add(1, Ordering::Relaxed)))
}

/// Runs the program; one that does not end is ended, and fails the test.
fn lint(cwd: &Path, args: &[&str]) -> Ran {
    let folder = tempfile::tempdir().unwrap();
    let [out, err] = ["out", "err"].map(|name| folder.path().join(name));
    let file = |path: &Path| Stdio::from(std::fs::File::create(path).unwrap());
    let mut child = Command::new(env!("CARGO_BIN_EXE_stormlint"))
        .current_dir(cwd)
        .args(args)
        .stdin(Stdio::null())
        .stdout(file(&out))
        .stderr(file(&err))
        .spawn()
        .unwrap();
    let begin = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if begin.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("{args:?} did not end");
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let text = |path: &Path| String::from_utf8(std::fs::read(path).unwrap()).unwrap();
    let ran = Ran { code: status.code(), out: text(&out), err: text(&err) };
    assert!(ran.code.is_some(), "ended by a signal: {status} {}", ran.err);
    ran
}

/// What Python prints; `None` where it fails, or is not there.
fn python(args: &[&str], text: &str) -> Option<String> {
    use std::io::Write;
    let mut child = Command::new("python3").args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().ok()?;
    child.stdin.take()?.write_all(text.as_bytes()).ok()?;
    let output = child.wait_with_output().ok()?;
    output.status.success().then(|| String::from_utf8(output.stdout).unwrap())
}
