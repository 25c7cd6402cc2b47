//! What an earlier run found is taken again where nothing changed, and only there.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, missing_docs)]

mod common;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

use common::{FORMATS, Folder, Ran, err, lint, out, places, stormlint};

const CACHE: &str = ".stormlint_cache";

const CALLER: &str = "from net import send\n\n\ndef sync(order):\n    while True:\n        try:\n            \
                      return send(order)\n        except ConnectionError:\n            continue\n";
const CALLEE: &str = "import requests\n\n\ndef send(order):\n    return requests.post('https://a.example/orders', json=order, \
                      timeout=5)\n";
const LOCAL: &str = "def send(order):\n    return sorted(order)\n";

fn project(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("caller.py", CALLER).write("net.py", CALLEE).write("broken.py", "def f(:\n    pass\n");
    folder
        .write("kept.py", format!("# stormlint: file-ignore[unbounded-retry, retry-without-delay] as it is\n{CALLER}"));
    folder
}

/// The entries with their texts.
fn entries(folder: &Folder) -> BTreeMap<String, Vec<u8>> {
    let Ok(listed) = std::fs::read_dir(folder.0.join(CACHE)) else { return BTreeMap::new() };
    let names = listed.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let names = names.filter(|name| !matches!(name.as_str(), ".gitignore" | "CACHEDIR.TAG"));
    names.map(|name| (name.clone(), std::fs::read(folder.0.join(CACHE).join(&name)).unwrap())).collect()
}

fn printed(ran: &Ran) -> (Option<i32>, &str, &str) {
    (ran.code, &ran.out, &ran.err)
}

#[test]
fn a_second_run_prints_the_same_in_every_format() {
    let folder = project("cache-same");
    for format in FORMATS {
        for more in [&["--include-suppressed"][..], &["--no-ignores"], &["--statistics", "--select", "all"]] {
            let with = [&["--output-format", format], more].concat();
            let without = lint(&folder.0, &[&with[..], &["--no-cache"]].concat());
            let (cold, warm) = (lint(&folder.0, &with), lint(&folder.0, &with));
            assert_eq!(printed(&cold), printed(&without), "{format} {more:?}");
            assert_eq!(printed(&warm), printed(&without), "{format} {more:?}");
            assert!(without.out.contains("caller.py") && without.code == Some(1), "{without:?}");
        }
    }
    // One for the default rules, one for all: how they are printed is no part of it.
    assert_eq!(entries(&folder).len(), 2);
}

#[test]
fn what_lies_there_is_what_is_printed() {
    let folder = project("cache-taken");
    let args = ["--output-format", "concise"];
    let cold = lint(&folder.0, &args);
    let (name, entry) = entries(&folder).pop_first().unwrap();
    let time = || std::fs::metadata(folder.0.join(CACHE).join(&name)).unwrap().modified().unwrap();
    let written = time();
    assert_eq!(lint(&folder.0, &args).out, cold.out);
    assert_eq!((time(), entries(&folder).len()), (written, 1), "it was read, not written anew");
    // What is damaged is not taken, and mended.
    let text = String::from_utf8(entry.clone()).unwrap();
    for damaged in
        [String::new(), text[..text.len() / 2].to_owned(), text.replace("caller", "callee"), "\u{0}é".to_owned()]
    {
        folder.write(&format!("{CACHE}/{name}"), &damaged);
        assert_eq!(printed(&lint(&folder.0, &args)), printed(&cold));
        assert_eq!(entries(&folder)[&name], entry);
    }
}

#[test]
fn what_changes_is_looked_at_again() {
    let folder = project("cache-change");
    let args = ["--output-format", "json"];
    let found = |ran: &Ran| places(ran).into_iter().filter(|place| place.starts_with("caller.py")).count();
    let remote = lint(&folder.0, &args);
    assert!(found(&remote) > 0);
    // The file that was changed is not the one that the finding stands in.
    folder.write("net.py", LOCAL);
    assert_eq!(found(&lint(&folder.0, &args)), 0);
    folder.write("net.py", CALLEE);
    assert_eq!(lint(&folder.0, &args).out, remote.out);
    assert_eq!(entries(&folder).len(), 2);

    folder.write("stormlint.toml", "ignore = [\"all\"]\n");
    assert_eq!(found(&lint(&folder.0, &args)), 0);
    let model = |name: &str| {
        format!(
            "library = \"net\"\nversion = \"1\"\nlanguage = \"python\"\n[[entry]]\nkind = \"request\"\nverb = \"POST\"\nfunctions = [\"{name}\"]\n"
        )
    };
    folder.write("stormlint.toml", "models = [\"net.toml\"]\n").write("net.toml", model("net.other"));
    assert_eq!(found(&lint(&folder.0, &args)), found(&remote));
    std::fs::remove_file(folder.0.join("net.py")).unwrap();
    let unknown = found(&lint(&folder.0, &args));
    folder.write("net.toml", model("net.send"));
    assert_ne!(found(&lint(&folder.0, &args)), unknown);
}

#[test]
fn another_program_finds_its_own() {
    let folder = project("cache-version");
    let run = |program: &Path| Command::new(program).current_dir(&folder.0).stdin(Stdio::null()).output().unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_stormlint"));
    let first = run(program);
    let copy = folder.0.join("copy");
    // A file that this process has open to write, and a child begun meanwhile with it, cannot be run.
    assert!(Command::new("cp").arg(program).arg(&copy).status().unwrap().success());
    assert_eq!(out(&run(&copy)), out(&first));
    assert_eq!(entries(&folder).len(), 2);
}

#[test]
fn runs_side_by_side_do_not_disturb_each_other() {
    let folder = project("cache-both");
    let start = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stormlint"));
        command
            .current_dir(&folder.0)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let alone = lint(&folder.0, &["--no-cache"]);
    for _ in 0..3 {
        let running: Vec<_> = (0..6).map(|_| start()).collect();
        for child in running {
            let output = child.wait_with_output().unwrap();
            assert_eq!((out(&output), err(&output)), (alone.out.clone(), alone.err.clone()));
        }
        assert_eq!(entries(&folder).len(), 1);
        std::fs::remove_dir_all(folder.0.join(CACHE)).unwrap();
    }
}

#[test]
fn where_nothing_can_be_written_all_is_found_with_a_warning() {
    let folder = project("cache-unwritable");
    let alone = lint(&folder.0, &["--no-cache"]);
    assert!(!folder.0.join(CACHE).exists());
    folder.write(CACHE, "somebody's file");
    for _ in 0..2 {
        let ran = lint(&folder.0, &[]);
        assert_eq!((ran.code, &ran.out), (alone.code, &alone.out));
        assert!(ran.err.contains("cannot be written") && ran.err.contains("--no-cache"), "{}", ran.err);
    }
    assert_eq!(std::fs::read(folder.0.join(CACHE)).unwrap(), b"somebody's file");
    assert_eq!(lint(&folder.0, &["clean"]).code, Some(0));
    assert!(folder.0.join(CACHE).is_file(), "what is not ours stays");
}

/// Sources may come from anybody: what they make a link of the cache to is neither written to nor cleared out.
#[cfg(unix)]
#[test]
fn a_link_leads_no_writing_elsewhere() {
    let folder = project("cache-link");
    let alone = lint(&folder.0, &["--no-cache"]);
    folder.write("other/.git/HEAD", "").write("other/theirs", "theirs");
    std::os::unix::fs::symlink("other", folder.0.join(CACHE)).unwrap();
    let ran = lint(&folder.0, &[]);
    assert_eq!((ran.code, &ran.out), (alone.code, &alone.out));
    assert!(ran.err.contains("cannot be written (it is a link)"), "{}", ran.err);
    assert_eq!(std::fs::read_dir(folder.0.join("other")).unwrap().count(), 2);
}

/// A file may hold nothing, as on a disk that is full.
#[cfg(unix)]
#[test]
fn a_full_disk_loses_no_finding() {
    let folder = project("cache-full");
    let alone = lint(&folder.0, &["--no-cache"]);
    let script = format!("trap '' XFSZ; ulimit -f 0; exec {}", env!("CARGO_BIN_EXE_stormlint"));
    let full = Command::new("sh").args(["-c", &script]).current_dir(&folder.0).stdin(Stdio::null()).output().unwrap();
    assert_eq!((full.status.code(), out(&full)), (alone.code, alone.out.clone()));
    assert!(err(&full).contains("cannot be written"), "{}", err(&full));
    assert_eq!(entries(&folder).len(), 0);
    assert_eq!(printed(&lint(&folder.0, &[])), printed(&alone));
    assert_eq!(entries(&folder).len(), 1);
}

#[test]
fn the_cache_is_out_of_the_way_and_can_be_removed() {
    let folder = project("cache-clean");
    let git = |args: &[&str]| {
        let output = Command::new("git").args(args).current_dir(&folder.0).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    std::fs::remove_dir_all(folder.0.join(".git")).unwrap();
    git(&["init", "-q"]);
    let before = git(&["status", "--porcelain"]);
    for args in [&["--no-cache"][..], &["--parse-all"], &["inventory"], &["-", "--stdin-filename", "a.py"]] {
        stormlint(&folder.0, args);
        assert!(!folder.0.join(CACHE).exists(), "{args:?}");
    }
    // From a folder further in, it is the repository's.
    folder.write("sub/a.py", CALLER);
    stormlint(&folder.0.join("sub"), &[]);
    std::fs::remove_dir_all(folder.0.join("sub")).unwrap();
    assert_eq!((entries(&folder).len(), git(&["status", "--porcelain"])), (1, before));
    assert_eq!(lint(&folder.0, &["clean"]).out, "removed .stormlint_cache\n");
    assert!(!folder.0.join(CACHE).exists());
    assert_eq!(lint(&folder.0, &["clean"]).out, "there is no .stormlint_cache\n");
}
