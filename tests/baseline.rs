//! The baseline in whole runs: what keeps its entry, what does not hide behind one, and how the file is kept.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

mod common;

use common::{Folder, lint, places};

const LOOP: &str = "def load(url):
    for attempt in range(5):
        try:
            return requests.get(url, timeout=5).json()
        except requests.ConnectionError:
            if attempt == 4:
                raise
";

fn file(rest: &str) -> String {
    format!("import requests\n\n\n{rest}")
}

/// A folder with one fault, which the baseline has.
fn known(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("src/a.py", file(LOOP));
    let ran = lint(&folder.0, &["--write-baseline", "base.json"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), ""), "{ran:?}");
    assert_eq!(ran.err, "stormlint: wrote 1 finding to base.json\n");
    folder
}

fn new(folder: &Folder) -> (Vec<String>, String) {
    let ran = lint(&folder.0, &["--baseline", "base.json", "--output-format", "json"]);
    (places(&ran), ran.err)
}

fn nothing() -> (Vec<String>, String) {
    (Vec::new(), String::new())
}

#[test]
fn what_is_known_is_not_reported() {
    let folder = known("known");
    let ran = lint(&folder.0, &["--baseline", "base.json"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "No findings in 1 file (1 in the baseline).\n"));
    let text = std::fs::read_to_string(folder.0.join("base.json")).unwrap();
    assert!(
        text.contains("\n{\"path\":\"src/a.py\",\"rule\":\"retry-without-delay\",\"function\":\"load\","),
        "{text}"
    );
    // The same from another folder, and once more.
    let below = lint(&folder.0.join("src"), &["--baseline", "../base.json"]);
    assert_eq!(below.code, Some(0), "{below:?}");
    lint(&folder.0, &["--write-baseline", "base.json"]);
    assert_eq!(std::fs::read_to_string(folder.0.join("base.json")).unwrap(), text);
    let listed = lint(&folder.0, &["--baseline", "base.json", "--include-suppressed", "--output-format", "sarif"]);
    let suppression = serde_json::json!([{"kind": "external", "justification": "It is in the baseline."}]);
    assert_eq!(listed.json()["runs"][0]["results"][0]["suppressions"], suppression);
}

#[test]
fn moved_indented_and_renamed_around_code_keeps_its_entry() {
    let folder = known("moved");
    let check = |path: &str, text: String| {
        std::fs::remove_dir_all(folder.0.join("src")).unwrap();
        folder.write(path, text);
        assert_eq!(new(&folder), nothing());
    };
    check("src/a.py", file(&format!("RETRIES = 5\n\n\ndef other():\n    return RETRIES\n\n\n{LOOP}")));
    let indented: String = LOOP.lines().map(|line| format!("        {line}\n")).collect();
    check("src/a.py", file(&format!("if True:\n    if requests:\n{indented}")));
    check("src/a.py", file(&LOOP.replace("url", "address").replace("attempt", "i")));
    let laid_out = "requests.get(\n                url,  # where\n                timeout = 5,\n            ).json()";
    check("src/a.py", file(&LOOP.replace("requests.get(url, timeout=5).json()", laid_out)));
    check("src/a.py", file(&LOOP.replace("load", "fetch")));
    check("src/net/b.py", file(LOOP));
}

#[test]
fn a_second_equal_fault_does_not_hide() {
    let folder = known("second");
    folder.write("src/a.py", file(&format!("{LOOP}\n\n{}", LOOP.replace("load", "fetch"))));
    assert_eq!(new(&folder).0, ["src/a.py:14 [retry-without-delay]"]);
    // In one function, where it is not known which of the two was first.
    let body = LOOP.split_once('\n').unwrap().1;
    folder.write("src/a.py", file(&format!("{LOOP}{body}")));
    assert_eq!(new(&folder).0, ["src/a.py:11 [retry-without-delay]"]);
    // A copy in another file.
    folder.write("src/a.py", file(LOOP)).write("src/b.py", file(LOOP));
    assert_eq!(new(&folder).0, ["src/b.py:5 [retry-without-delay]"]);
    // Another kind in the same place.
    std::fs::remove_file(folder.0.join("src/b.py")).unwrap();
    folder.write("src/a.py", file(&LOOP.replace("range(5)", "range(50)").replace("== 4", "== 49")));
    assert!(new(&folder).0.contains(&"src/a.py:5 [excessive-attempts]".to_owned()));
}

#[test]
fn entries_that_no_longer_occur_are_told_and_taken_out() {
    let folder = known("gone");
    folder.write("src/b.py", file(LOOP));
    lint(&folder.0, &["--write-baseline", "base.json"]);
    folder.write("src/a.py", file("def load(url):\n    return requests.get(url, timeout=5).json()\n"));
    let said = "stormlint: 1 entry of base.json no longer occurs: retry-without-delay in src/a.py (load); `stormlint \
                --write-baseline base.json` takes it out\n";
    assert_eq!(new(&folder), (vec![], said.to_owned()));
    // Nothing is said of what was not looked at.
    for args in [&["src/b.py"] as &[&str], &["--select", "server"]] {
        let ran = lint(&folder.0, &[&["--baseline", "base.json"], args].concat());
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{args:?}");
    }
    let part = lint(&folder.0, &["src/b.py", "--write-baseline", "base.json"]);
    assert_eq!(part.err, "stormlint: wrote 1 finding to base.json; kept 1 more of what was not checked now\n");
    let whole = lint(&folder.0, &["--write-baseline", "base.json"]);
    let said = "stormlint: wrote 1 finding to base.json; took out 1, no longer there: retry-without-delay in src/a.py (load)\n";
    assert_eq!((whole.code, whole.err.as_str()), (Some(0), said));
    std::fs::remove_file(folder.0.join("src/b.py")).unwrap();
    assert!(new(&folder).1.contains("retry-without-delay in src/b.py"), "a file that is no more");
}

#[test]
fn a_mark_of_byte_order_does_no_harm() {
    let folder = known("marked");
    let path = folder.0.join("base.json");
    let names: Vec<_> = std::fs::read_dir(&folder.0).unwrap().map(|entry| entry.unwrap().path()).collect();
    let path = names.into_iter().find(|path| path.extension().is_some_and(|it| it == "json")).unwrap_or(path);
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("\u{feff}{}", text.replace('\n', "\r\n"))).unwrap();
    assert_eq!(new(&folder), nothing());
}

#[test]
fn what_is_no_baseline_is_refused() {
    let folder = known("refused");
    folder
        .write("broken.json", "{\n\"version\": 1,\n<<<<<<< HEAD\n")
        .write("new.json", "{\"version\":7,\"findings\":[]}");
    for (args, said) in [
        (
            ["--baseline", "nowhere.json"],
            "there is no baseline nowhere.json; `stormlint --write-baseline nowhere.json`",
        ),
        (["--baseline", "broken.json"], "broken.json is no baseline (line 3: key must be a string); mend it"),
        (["--baseline", "new.json"], "it has version 7, and this program reads version 1"),
        (["--write-baseline", "src/a.py"], "src/a.py is no baseline (line 1: "),
        (["--write-baseline", "no/such/folder.json"], "no/such/folder.json"),
    ] {
        let ran = lint(&folder.0, &args);
        assert!(ran.code == Some(2) && ran.err.contains(said) && ran.out.is_empty(), "{args:?}: {ran:?}");
    }
    assert!(std::fs::read_to_string(folder.0.join("src/a.py")).unwrap().starts_with("import requests"));
}
