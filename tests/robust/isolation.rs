//! A fault of this program in one file: the file is named, the others are checked, the run fails.

use std::path::Path;

use super::common::{FORMATS, places};
use super::{SENTINEL, folder, lint};

#[test]
#[cfg_attr(not(debug_assertions), ignore = "programs for use have no such switch")]
fn a_panic_loses_its_own_file_and_nothing_else() {
    for stage in ["lowering", "the analysis", "the rules"] {
        let folder = folder();
        folder.write("a.py", SENTINEL).write("b.py", format!("# stormlint-test: panic in {stage}\n{SENTINEL}"));
        folder.write("c.rs", format!("// stormlint-test: panic in {stage}\nfn main() {{}}\n")).write("d.py", SENTINEL);
        let ran = lint(&folder.0, &["--output-format", "json"]);
        assert_eq!(ran.code, Some(2), "{stage}: {ran:?}");
        assert_eq!(places(&ran).iter().filter(|place| place.contains("unbounded-retry")).count(), 2, "{stage}");
        let document = ran.json();
        let errors = document["errors"].as_array().unwrap();
        let paths: Vec<_> = errors.iter().map(|error| error["path"].as_str().unwrap()).collect();
        assert_eq!((paths, &document["files"]), (vec!["b.py", "c.rs"], &4.into()));
        for error in errors {
            assert_eq!(error["kind"], "internal-error");
            let message = error["message"].as_str().unwrap();
            assert!(message.contains("please report it") && message.contains("guard.rs:"), "{message}");
        }
        assert_eq!(ran.err.lines().count(), 2, "one line a file: {}", ran.err);
        let raw = ran.err.chars().find(|c| c.is_control() && *c != '\n');
        assert!(raw.is_none(), "{:?}", ran.err);
        for format in FORMATS {
            let ran = lint(&folder.0, &["--output-format", format, "--exit-zero"]);
            assert_eq!(ran.code, Some(2), "{format}: what was not checked does not pass");
        }
        let sarif = lint(&folder.0, &["--output-format", "sarif"]).json();
        let told = &sarif["runs"][0]["invocations"][0]["toolExecutionNotifications"];
        assert_eq!(told[0]["descriptor"]["id"], "internal-error", "{told}");
    }
}

#[test]
fn a_file_says_of_itself_why_it_was_not_checked() {
    let folder = folder();
    folder.write("a.py", "def f(:\n    while while\n");
    let ran = lint(&folder.0, &["--output-format", "json", "--ignore", "meta", ".", "gone.py"]);
    let errors = ran.json()["errors"].clone();
    let kinds: Vec<_> = errors.as_array().unwrap().iter().map(|error| &error["kind"]).collect();
    assert_eq!(kinds, ["unparsed", "unread"]);
    assert!(!Path::new("gone.py").exists());
}
