//! Changed lines only, in repositories of their own.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

mod common;

use std::path::Path;
use std::process::Command;

use common::{Folder, Ran, lint, lint_piped, places};

const LOOP: &str = "import time

import requests


def load(url):
    for attempt in range(5):
        try:
            return requests.get(url, timeout=5).json()
        except requests.ConnectionError:
            if attempt == 4:
                raise
        time.sleep(2**attempt)


def twice(url):
    return load(url), load(url)
";

fn git(cwd: &Path, args: &[&str]) -> String {
    let output = Command::new("git")
        .current_dir(cwd)
        .args(["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "protocol.file.allow=always"])
        .args(args)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .output()
        .unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn commit(folder: &Folder, message: &str) {
    git(&folder.0, &["add", "-A"]);
    git(&folder.0, &["commit", "-qm", message]);
}

/// A repository with one commit on `main`, and `work` checked out.
fn repository(name: &str, files: &[(&str, &str)]) -> Folder {
    let folder = Folder::new(name);
    git(&folder.0, &["init", "-q", "-b", "main"]);
    for (path, text) in files {
        folder.write(path, text);
    }
    commit(&folder, "first");
    git(&folder.0, &["checkout", "-qb", "work"]);
    folder
}

fn since(folder: &Folder, base: &str) -> Ran {
    lint(&folder.0, &["--diff-base", base, "--output-format", "json"])
}

fn without_sleep() -> String {
    LOOP.replace("        time.sleep(2**attempt)\n", "")
}

/// What changed is asked of git, which runs what a repository's settings name for other purposes.
#[cfg(unix)]
#[test]
fn no_program_of_the_repository_is_run() {
    use std::os::unix::fs::PermissionsExt;
    let folder = repository("monitored", &[("a.py", LOOP)]);
    folder.write("a.py", without_sleep()).write("run.sh", "#!/bin/sh\ntouch ran\n");
    let script = folder.0.join("run.sh");
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    for key in ["core.fsmonitor", "core.pager", "diff.external", "diff.x.textconv", "diff.x.command"] {
        git(&folder.0, &["config", key, script.to_str().unwrap()]);
    }
    folder.write(".gitattributes", "*.py diff=x\n");
    let ran = since(&folder, "main");
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert!(!folder.0.join("ran").exists());
}

#[test]
fn a_line_that_is_gone_from_the_loop_counts() {
    let folder = repository("gone-line", &[("src/a.py", LOOP), ("src/old.py", &without_sleep())]);
    assert_eq!(places(&since(&folder, "main")), [""; 0]);
    folder.write("src/a.py", without_sleep());
    let found = ["src/a.py:7 [retry-without-delay]"];
    assert_eq!(places(&since(&folder, "main")), found, "not staged");
    git(&folder.0, &["add", "-A"]);
    assert_eq!(places(&since(&folder, "main")), found, "staged");
    commit(&folder, "second");
    let ran = since(&folder, "main");
    assert_eq!((places(&ran), ran.code), (found.map(str::to_owned).to_vec(), Some(1)));
    let ran = lint(&folder.0, &["--diff-base", "main", "-q", "--output-format", "concise", "src/old.py"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), ""));
    let ran = lint(&folder.0, &["--diff-base", "work"]);
    assert_eq!(ran.out, "No findings in 2 files (2 outside of the changed lines).\n");
}

#[test]
fn a_source_is_text_whatever_its_attributes_say() {
    for attribute in ["-diff", "binary"] {
        let attributes = format!("*.py {attribute}\n");
        let files = [("a.py", LOOP), (".gitattributes", attributes.as_str())];
        let folder = repository(&format!("attributes-{}", attribute.trim_start_matches('-')), &files);
        folder.write("a.py", without_sleep());
        assert_eq!(places(&since(&folder, "main")), ["a.py:7 [retry-without-delay]"], "{attribute}");
    }
}

#[test]
fn what_is_gone_from_behind_the_loop_does_not_count() {
    let text = without_sleep().replace("\n\ndef twice", "    raise RuntimeError(url)\n\n\ndef twice");
    let folder = repository("behind", &[("a.py", &text)]);
    folder.write("a.py", text.replace("    raise RuntimeError(url)\n", ""));
    assert_eq!(places(&since(&folder, "main")), [""; 0]);
    folder.write("a.py", text.replace("def twice", "def both").replace("import time\n", "import time as clock\n"));
    assert_eq!(places(&since(&folder, "main")), [""; 0]);
    folder.write("a.py", text.replace("timeout=5", "timeout=9"));
    assert_eq!(places(&since(&folder, "main")), ["a.py:7 [retry-without-delay]"]);
}

#[test]
fn the_base_is_where_the_branch_began() {
    let folder = repository("merge-base", &[("a.py", LOOP), ("b.py", LOOP)]);
    folder.write("a.py", without_sleep());
    commit(&folder, "on the branch");
    git(&folder.0, &["checkout", "-q", "main"]);
    folder.write("b.py", format!("{LOOP}\n\nMORE = 1\n"));
    commit(&folder, "on main");
    git(&folder.0, &["checkout", "-q", "work"]);
    folder.write("b.py", without_sleep());
    commit(&folder, "more on the branch");
    assert_eq!(places(&since(&folder, "main")), ["a.py:7 [retry-without-delay]", "b.py:7 [retry-without-delay]"]);
    assert_eq!(places(&since(&folder, "HEAD~1")), ["b.py:7 [retry-without-delay]"]);
}

#[test]
fn new_and_renamed_files_and_names_of_all_kinds() {
    let faulty = without_sleep();
    let folder = repository("names", &[("old name.py", &faulty), ("pkg/ä \"b\".py", LOOP)]);
    git(&folder.0, &["mv", "old name.py", "new name.py"]);
    assert_eq!(places(&since(&folder, "main")), [""; 0], "a file that was only renamed");
    folder.write("new name.py", faulty.replace("range(5)", "range(6)").replace("== 4", "== 5"));
    folder.write("pkg/ä \"b\".py", &faulty).write("pkg/ünt.py", &faulty).write("ignored.py", &faulty);
    folder.write(".gitignore", "ignored.py\n");
    // What users have set does not matter.
    for (key, value) in [
        ("diff.noprefix", "true"),
        ("color.ui", "always"),
        ("diff.external", "false"),
        ("core.pager", "false"),
        ("diff.renames", "false"),
        ("diff.context", "30"),
        ("diff.relative", "true"),
    ] {
        git(&folder.0, &["config", key, value]);
    }
    let found = ["new name.py:7", "pkg/ä \"b\".py:7", "pkg/ünt.py:7"].map(|at| format!("{at} [retry-without-delay]"));
    assert_eq!(places(&since(&folder, "main")), found);
    let below = lint(&folder.0.join("pkg"), &["--diff-base", "main", "--output-format", "json"]);
    assert_eq!(places(&below).len(), 2);
    let named = ["--diff-base", "main", "--output-format", "json", "new name.py", "ignored.py"];
    assert_eq!(places(&lint(&folder.0, &named)), found[..1], "an ignored file is no part of the repository");
    let above = folder.0.join("pkg").to_string_lossy().into_owned();
    let from_elsewhere = ["--diff-base", "main", "--output-format", "json", above.as_str()];
    assert_eq!(places(&lint(&std::env::temp_dir(), &from_elsewhere)).len(), 2);
}

#[test]
fn a_file_that_was_moved_and_not_staged_is_no_new_one() {
    let faulty = without_sleep();
    let folder = repository("moved", &[("old.py", &faulty), ("kept.py", LOOP)]);
    let before = objects(&folder);
    std::fs::rename(folder.0.join("old.py"), folder.0.join("new.py")).unwrap();
    assert_eq!(places(&since(&folder, "main")), [""; 0]);
    folder.write("new.py", faulty.replace("range(5)", "range(6)").replace("== 4", "== 5"));
    folder.write("other.py", format!("import os\n\n\n{}", "os.nice(1)\n".repeat(40)) + &faulty);
    let found = ["new.py:7 [retry-without-delay]", "other.py:50 [retry-without-delay]"];
    assert_eq!(places(&since(&folder, "main")), found);
    // Only looked at: neither the index nor the objects have changed.
    assert_eq!(git(&folder.0, &["status", "--porcelain"]), " D old.py\n?? new.py\n?? other.py\n");
    assert_eq!(objects(&folder), before);
}

fn objects(folder: &Folder) -> String {
    git(&folder.0, &["count-objects", "-v"])
}

const OUTER: &str = "import time

import requests

from net import client


def load(url):
    for attempt in range(4):
        try:
            return client.fetch(url)
        except requests.ConnectionError:
            if attempt == 3:
                raise
            time.sleep(2**attempt)
";
const MIDDLE: &str = "from net import inner


def fetch(url):
    return inner.ask(url)
";
const INNER: &str = "import time

import requests


def ask(url):
    response = requests.get(url, timeout=5)
    response.raise_for_status()
    return response.json()
";

#[test]
fn a_new_layer_in_another_file_counts() {
    let files = [("outer.py", OUTER), ("net/__init__.py", ""), ("net/client.py", MIDDLE), ("net/inner.py", INNER)];
    let folder = repository("layers", &files);
    let nested = "outer.py:9 [nested-retry]".to_owned();
    assert_eq!(places(&lint(&folder.0, &["--output-format", "json"])), [""; 0]);
    // A loop around the request.
    let looped = INNER.replace(
        "    response = requests.get(url, timeout=5)\n    response.raise_for_status()\n    return response.json()\n",
        "    for attempt in range(3):\n        try:\n            response = requests.get(url, timeout=5)\n            \
         response.raise_for_status()\n            return response.json()\n        except requests.ConnectionError:\n            \
         if attempt == 2:\n                raise\n            time.sleep(2**attempt)\n",
    );
    folder.write("net/inner.py", &looped);
    assert!(places(&since(&folder, "main")).contains(&nested), "{:?}", places(&since(&folder, "main")));
    commit(&folder, "a layer");
    // A decorator over what lies between.
    let decorated = "from net import inner\nfrom tenacity import retry, stop_after_attempt, wait_fixed\n\n\n\
                     @retry(stop=stop_after_attempt(2), wait=wait_fixed(1), reraise=True)\ndef fetch(url):\n    return inner.ask(url)\n";
    folder.write("net/client.py", decorated);
    assert!(places(&since(&folder, "work")).contains(&nested), "{:?}", places(&since(&folder, "work")));
    // What else changes in those files has no part in it.
    folder.write("net/client.py", format!("{MIDDLE}\n\ndef other(url):\n    return url\n"));
    folder.write("net/inner.py", format!("{looped}\n\nMORE = 1\n"));
    assert_eq!(places(&since(&folder, "work")), [""; 0]);
}

#[test]
fn a_line_that_is_gone_from_what_a_decorator_runs_again_counts() {
    let text = "import requests\nfrom tenacity import retry, wait_fixed\n\n\n@retry(wait=wait_fixed(1))\ndef load(url):\n    \
                response = requests.get(url, timeout=5)\n    response.raise_for_status()\n    return response.json()\n";
    let folder = repository("decorated", &[("a.py", text)]);
    folder.write("a.py", text.replace("    response.raise_for_status()\n", ""));
    assert_eq!(places(&since(&folder, "main")), ["a.py:5 [unbounded-retry]"]);
    folder.write("a.py", format!("{text}\n\ndef other(url):\n    return load(url)\n"));
    assert_eq!(places(&since(&folder, "main")), [""; 0]);
}

#[test]
fn a_diff_is_read_from_standard_input_and_from_a_file() {
    let folder = repository("stdin", &[("src/a.py", LOOP), ("src/b.py", &without_sleep())]);
    folder.write("src/a.py", without_sleep());
    let found = ["src/a.py:7 [retry-without-delay]"];
    let json = ["--output-format", "json"];
    for args in [&["diff"] as &[&str], &["diff", "--no-prefix"], &["diff", "-U0"], &["diff", "--cached", "HEAD"]] {
        if args.contains(&"--cached") {
            git(&folder.0, &["add", "-A"]);
        }
        let diff = git(&folder.0, args);
        let ran = lint_piped(&folder.0, &[&["--diff", "-"] as &[&str], &json].concat(), &diff);
        assert_eq!((places(&ran), ran.err.as_str()), (found.map(str::to_owned).to_vec(), ""), "{args:?}");
        let ran = lint_piped(&folder.0.join("src"), &[&["--diff", "-"] as &[&str], &json].concat(), &diff);
        assert_eq!(places(&ran), ["a.py:7 [retry-without-delay]"], "{args:?}");
    }
    // `diff -u`, with a time behind the names, and Windows' line ends.
    let plain = "--- a.py.orig\t2026-01-01 00:00:00\n+++ a.py\t2026-01-01 00:00:01\n@@ -11,5 +11,4 @@\n             if attempt \
                 == 4:\n                 raise\n-        time.sleep(2**attempt)\n \n \n";
    folder.write("a.diff", plain.replace('\n', "\r\n"));
    let ran = lint(&folder.0.join("src"), &[&["--diff", "../a.diff"] as &[&str], &json].concat());
    assert_eq!(places(&ran), ["a.py:7 [retry-without-delay]"]);
    let ran = lint_piped(&folder.0, &[&["--diff", "-"] as &[&str], &json].concat(), "");
    assert_eq!((places(&ran), ran.code), (vec![], Some(0)), "nothing was changed");
}

#[test]
fn what_is_no_diff_is_refused() {
    let folder = repository("no-diff", &[("a.py", LOOP)]);
    let elsewhere = "--- a/lib/x.py\n+++ b/lib/x.py\n@@ -1 +1 @@\n-a\n+b\n";
    for (args, text, said) in [
        (&["--diff", "-"] as &[&str], "hello\n", "the diff on standard input: it is no unified diff"),
        (&["--diff", "-"], "diff --cc a.py\n@@@ -1 -1 +1 @@@\n", "of a merge"),
        (&["--diff", "-"], "--- a/a.py\n+++ b/a.py\n@@ -1,3 +1,4 @@\n a\n", "line 3: the diff ends within a hunk"),
        (&["--diff", "-"], elsewhere, "names `b/lib/x.py`, which is neither in"),
        (&["--diff", "gone.diff"], "", "the diff gone.diff"),
        (&["-", "--stdin-filename", "a.py", "--diff", "-"], "", "either the diff or the source"),
        (&["--diff", "-", "--diff-base", "main"], "", "cannot be used with"),
    ] {
        let ran = lint_piped(&folder.0, args, text);
        assert!(ran.code == Some(2) && ran.err.contains(said), "{args:?}: {ran:?}");
    }
}

#[test]
fn what_git_does_not_know_is_told_with_what_to_do() {
    let folder = repository("unknown", &[("a.py", LOOP)]);
    folder.write("a.py", format!("{LOOP}MORE = 1\n"));
    commit(&folder, "second");
    for base in ["nowhere", "--output=x", ""] {
        let ran = since(&folder, base);
        assert_eq!(ran.code, Some(2), "{ran:?}");
    }
    let ran = since(&folder, "origin/nowhere");
    assert!(ran.err.contains("git knows no commit `origin/nowhere` here: fetch the branch first"), "{}", ran.err);
    assert!(!folder.0.join("x").exists());

    let clone = Folder::new("shallow");
    std::fs::remove_dir(clone.0.join(".git")).unwrap();
    let source = format!("file://{}", folder.0.display());
    git(&clone.0, &["clone", "-q", "--depth", "1", "--branch", "work", &source, "."]);
    let ran = since(&clone, "main");
    assert!(ran.code == Some(2) && ran.err.contains("this is a shallow clone, so fetch the branch"), "{ran:?}");
    git(&clone.0, &["fetch", "-q", "--depth", "1", "origin", "main:refs/remotes/origin/main"]);
    let ran = since(&clone, "origin/main");
    let said = "`origin/main` and the checked-out commit have no commit in common: this is a shallow clone";
    assert!(ran.code == Some(2) && ran.err.contains(said), "{ran:?}");
    git(&clone.0, &["fetch", "-q", "--unshallow", "origin"]);
    assert_eq!(since(&clone, "origin/main").code, Some(0));

    let bare = Folder::new("no-repository");
    bare.write("a.py", LOOP);
    let ran = since(&bare, "main");
    assert!(ran.code == Some(2) && ran.err.contains("is not in a git repository"), "{ran:?}");
}
