//! The same bytes whatever the number of threads, the order of files and the folder.

use std::path::Path;
use std::process::Command;

use super::SENTINEL;
use super::common::Folder;

/// Files that know of one another: helpers, layers, a class and its base.
fn files() -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> = (0..24)
        .map(|at| {
            let other = (at * 7 + 1) % 24;
            let text = format!(
                "import requests\nfrom pkg.mod{other} import ask{other}, Client{other}\n\n\nclass Client{at}:\n    def get(self, \
                 url):\n        for attempt in range(3):\n            try:\n                return requests.get(url)\n            \
                 except OSError:\n                pass\n\n\ndef ask{at}(url):\n    while True:\n        try:\n            return \
                 ask{other}(url)\n        except requests.ConnectionError:\n            Client{other}().get(url)\n"
            );
            (format!("pkg/mod{at}.py"), text)
        })
        .collect();
    files.push(("pkg/__init__.py".to_owned(), String::new()));
    files.push(("a.py".to_owned(), SENTINEL.to_owned()));
    files.push((
        "src/lib.rs".to_owned(),
        "pub fn f(url: &str) -> reqwest::Result<String> {\n    loop {\n        if let Ok(a) = reqwest::blocking::get(url) \
         {\n            return a.text();\n        }\n    }\n}\n"
            .to_owned(),
    ));
    files
}

fn run(folder: &Path, threads: &str, args: &[&str]) -> Vec<u8> {
    let output = Command::new(env!("CARGO_BIN_EXE_stormlint"))
        .current_dir(folder)
        .env("RAYON_NUM_THREADS", threads)
        .args(args)
        .output()
        .unwrap();
    assert!(output.status.code().is_some_and(|code| code < 2), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

#[test]
fn threads_orders_and_folders_do_not_matter() {
    let (here, there) = (Folder::new("order-here"), Folder::new("order-there"));
    let files = files();
    files.iter().for_each(|(name, text)| _ = here.write(name, text));
    // Another machine's: made the other way round, in another folder.
    files.iter().rev().for_each(|(name, text)| _ = there.write(name, text));
    let mut named: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    for format in ["json", "sarif", "full", "junit"] {
        let args = ["--output-format", format, "--isolated", "--min-confidence", "low"];
        let first = run(&here.0, "1", &args);
        assert!(first.len() > 1000, "{format}: nothing to compare");
        assert!(first == run(&here.0, "8", &args), "{format}: threads");
        assert!(first == run(&there.0, "3", &args), "{format}: folders");
        for turn in [7, 12, 20] {
            named.rotate_left(turn);
            named.reverse();
            assert!(first == run(&here.0, "8", &[&args as &[&str], &named].concat()), "{format}: orders");
        }
    }
    let args = ["inventory", "--output-format", "json", "--isolated"];
    assert!(run(&here.0, "1", &args) == run(&there.0, "8", &args), "inventory");
}
