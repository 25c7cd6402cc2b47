//! Suppression comments in whole files: what they keep out, what is said of them, and how they are written.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

mod common;

use std::path::Path;

use common::{Folder, Ran, lint, places};

/// Two faults in line 6: no wait, no end.
const LOOP: &str = "import requests


def load(url):
    # stormlint: NAMES
    while True:
        try:
            return requests.get(url, timeout=5).json()
        except requests.ConnectionError:
            pass
";

fn with(comment: &str) -> String {
    LOOP.replace("# stormlint: NAMES", comment)
}

fn json(folder: &Folder, args: &[&str]) -> Ran {
    lint(&folder.0, &[args, &["--output-format", "json"]].concat())
}

#[test]
fn what_is_suppressed_is_not_reported_and_can_be_listed() {
    let folder = Folder::new("suppressed");
    folder.write("a.py", with("# stormlint: ignore[retry-without-delay, bound] only a \"test\" server"));
    let ran = lint(&folder.0, &[]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "No findings in 1 file (2 suppressed).\n"));
    assert_eq!(places(&json(&folder, &[])), [""; 0]);
    let listed = json(&folder, &["--include-suppressed"]);
    assert_eq!(listed.code, Some(0));
    assert_eq!(places(&listed), ["a.py:6 [retry-without-delay]", "a.py:6 [unbounded-retry]"]);
    let suppression = serde_json::json!({"kind": "comment", "reason": "only a \"test\" server"});
    assert_eq!(listed.json()["findings"][0]["suppression"], suppression);
    let sarif = lint(&folder.0, &["--output-format", "sarif"]).json();
    assert_eq!(sarif["runs"][0]["results"], serde_json::json!([]));
    let sarif = lint(&folder.0, &["--output-format", "sarif", "--include-suppressed"]).json();
    let suppression = serde_json::json!([{"kind": "inSource", "justification": "only a \"test\" server"}]);
    assert_eq!(sarif["runs"][0]["results"][0]["suppressions"], suppression);
}

#[test]
fn a_comment_among_the_arguments_of_a_decorator_is_about_it() {
    let text = "import requests
import tenacity


@tenacity.retry(
    # stormlint: ignore[bound]
    wait=tenacity.wait_exponential(),  # stormlint: ignore[server] why
)
def load(url):
    return requests.get(url, timeout=5).json()


@tenacity.retry(wait=tenacity.wait_exponential())
def other(url):  # stormlint: ignore[bound] not of the decorator
    return requests.get(url, timeout=5).json()
";
    let folder = Folder::new("in-decorator");
    folder.write(
        "a.py",
        text.replace(" stormlint: ignore[server]", "").replace("    # stormlint: ignore[bound]\n", "    # -\n"),
    );
    assert!(places(&json(&folder, &["--select", "unbounded-retry"])).contains(&"a.py:5 [unbounded-retry]".to_owned()));
    folder.write("a.py", text.replace("[server]", "[bound]").replace("    # stormlint: ignore[bound]\n", "    # -\n"));
    let found = places(&json(&folder, &["--select", "unbounded-retry"]));
    assert_eq!(found, ["a.py:13 [unbounded-retry]"]);
    // One that stands alone is about the line below it, as everywhere.
    folder.write("a.py", text);
    assert_eq!(places(&json(&folder, &["--select", "unbounded-retry"])), found);
}

#[test]
fn no_ignores_honours_none_and_says_nothing_of_them() {
    let folder = Folder::new("no-ignores");
    folder.write("a.py", with("# stormlint: ignore[retry-without-delay, no-such] why"));
    assert_eq!(places(&json(&folder, &[])), ["a.py:5 [unused-suppression]", "a.py:6 [unbounded-retry]"]);
    let all = json(&folder, &["--no-ignores"]);
    assert_eq!(places(&all), ["a.py:6 [retry-without-delay]", "a.py:6 [unbounded-retry]"]);
    // What the comment takes out has the same fingerprint as without it.
    let fingerprints = |document: serde_json::Value| document["findings"].as_array().unwrap().to_vec();
    folder.write("a.py", with("# nothing"));
    let plain = json(&folder, &[]);
    assert_eq!(fingerprints(all.json()), fingerprints(plain.json()));
}

#[test]
fn names_that_hit_nothing_are_told() {
    let folder = Folder::new("unused");
    let said = |comment: &str, args: &[&str]| {
        folder.write("a.py", with(comment));
        let document = json(&folder, args).json();
        let findings = document["findings"].as_array().unwrap();
        let unused = findings.iter().filter(|finding| finding["rule"] == "unused-suppression");
        unused
            .map(|finding| format!("{} | {}", finding["message"].as_str().unwrap(), finding["help"].as_str().unwrap()))
            .collect::<Vec<_>>()
    };
    let ignore = |names: &str| format!("# stormlint: ignore[{names}] why");
    assert_eq!(
        said(&ignore("unbounded-retry, uncapped-backoff"), &[]),
        ["There is no finding of `uncapped-backoff` here to suppress. | take `uncapped-backoff` out"]
    );
    assert_eq!(
        said(&ignore("unbouned-retry"), &[]),
        ["There is no rule or group `unbouned-retry` to suppress. | did you mean `unbounded-retry`?"]
    );
    assert_eq!(
        said(&ignore("all"), &[]),
        ["There is no rule or group `all` to suppress. | name the rules or groups that are meant"]
    );
    assert_eq!(
        said(&ignore("paec, uncapped-backoff, server, bound"), &[]),
        [
            "There is nothing of `paec`, `uncapped-backoff` or `server` to suppress. | `paec`: did you mean `pace`?; take \
          `uncapped-backoff` and `server` out"
        ]
    );
    assert_eq!(
        said("# stormlint: ignore", &[]),
        ["This suppression names no rule. | write `# stormlint: ignore[rule-name] reason`"]
    );
    // Only of rules that were asked; of a group only if all of it was.
    assert_eq!(said(&ignore("uncapped-backoff, pace, strict"), &["--select", "unbounded-retry,meta"]), [""; 0]);
    assert_eq!(said(&ignore("uncapped-backoff"), &["--ignore", "unused-suppression"]), [""; 0]);
    assert_eq!(said(&ignore("unbounded-retry"), &["--select", "pace,meta"]), [""; 0]);
    // A finding that is too unsure to be shown is there all the same.
    let file = "# stormlint: file-ignore[pace, unbounded-retry, server] why";
    folder.write("a.py", format!("{file}\n{}", with("#")));
    assert_eq!(places(&json(&folder, &[])), ["a.py:1 [unused-suppression]"]);
}

#[test]
fn a_reason_is_asked_for_by_the_strict_rules() {
    let folder = Folder::new("reason");
    folder.write("a.py", with("# stormlint: ignore[retry-without-delay, unbounded-retry]"));
    assert_eq!(json(&folder, &[]).code, Some(0));
    assert_eq!(places(&json(&folder, &["--select", "default,strict"]))[0], "a.py:5 [suppression-without-reason]");
}

#[test]
fn comments_of_a_broken_file_are_read() {
    let folder = Folder::new("broken");
    let text = with("# stormlint: ignore[retry-without-delay, unbounded-retry] why");
    let broken = "# stormlint: ignore[unparsed-source] a template\ndef f(:\n    return 1\n";
    folder.write("a.py", format!("{text}\n\n{broken}\n\ndef g(x):\n    return x\n"));
    let bracket = "def g(x):\n    # stormlint: ignore[unparsed-source] a template\n    y = (x + ]\n    return x\n";
    folder.write("c.py", format!("{text}\n\n{bracket}"));
    folder.write("b.rs", "// stormlint: file-ignore[unparsed-source, pace] a template\nfn f( { let = '\\\n\"\n");
    let ran = json(&folder, &[]);
    assert_eq!((places(&ran), ran.code), (vec![], Some(0)), "{ran:?}");
}

/// All findings of a run, without lines.
fn kinds(ran: &Ran) -> Vec<String> {
    let document = ran.json();
    let mut kinds: Vec<String> = document["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| format!("{} {} {}", finding["path"], finding["rule"], finding["fingerprint"]))
        .collect();
    kinds.sort();
    kinds
}

#[test]
fn after_comments_were_added_the_run_is_clean_and_the_findings_are_the_same() {
    let folder = Folder::new("add");
    let incidents = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/incidents");
    for path in ["python/batch_sync.py", "python/webhook_endless.py", "rust/batch_sync.rs", "rust/webhook_repaired.rs"]
    {
        folder.write(path, std::fs::read_to_string(incidents.join(path)).unwrap());
    }
    let windows = std::fs::read_to_string(incidents.join("python/webhook_repaired.py")).unwrap();
    folder.write("windows.py", windows.replace('\n', "\r\n"));
    folder.write("b.py", with("# stormlint: ignore[bound]  # noqa"));
    let select = ["--select", "all"];
    let before = json(&folder, &["--select", "all", "--ignore", "suppression-without-reason"]);
    assert!(before.json()["findings"].as_array().unwrap().len() > 20);

    let added = lint(&folder.0, &[&select as &[&str], &["--add-ignore", "known since the audit"]].concat());
    assert_eq!(added.code, Some(1), "the strict rule about reasons speaks of a comment: {}", added.err);
    assert!(added.err.contains("b.py:5: no comment was written for suppression-without-reason"), "{}", added.err);
    let ran = json(&folder, &select);
    assert_eq!((places(&ran), ran.code), (vec![], Some(0)));
    let without = |ran: &Ran| {
        let kinds = kinds(ran).into_iter();
        kinds.filter(|kind| !kind.contains("b.py\" \"unbounded-retry")).collect::<Vec<_>>()
    };
    assert_eq!(without(&before), without(&json(&folder, &["--select", "all", "--no-ignores"])));

    let read = |path: &str| std::fs::read_to_string(folder.0.join(path)).unwrap();
    assert!(!read("windows.py").replace("\r\n", "").contains('\n'));
    let own = "    # stormlint: ignore[bound, retry-without-delay] known since the audit  # noqa\n";
    assert!(read("b.py").contains(own), "{}", read("b.py"));
    let again = lint(&folder.0, &["--select", "all", "--add-ignore", "more"]);
    assert_eq!((again.code, again.err.as_str()), (Some(0), "stormlint: suppressed 0 findings in 0 files\n"));
}

#[test]
fn what_cannot_be_suppressed_by_a_comment_is_told() {
    let folder = Folder::new("refused");
    let text = with("#").replace("    while", "    x = 1 + \\\n        2 if url else 3 \\\n    ; \n    while");
    folder.write("a.py", &text).write("latin.py", b"# coding: latin-1\nx = (\xe9\n");
    let ran = lint(&folder.0, &["--add-ignore", "why"]);
    assert!(
        ran.err.contains("latin.py:2: no comment was written for unparsed-source: the file is not UTF-8"),
        "{ran:?}"
    );
    assert_eq!((ran.code, std::fs::read(folder.0.join("latin.py")).unwrap().len()), (Some(1), 25));
    for (args, said) in [
        (&["--add-ignore", " "] as &[&str], "takes the reason"),
        (&["--add-ignore", "one # two"], "holds no ` # `"),
        (&["--add-ignore", "why", "-", "--stdin-filename", "a.py"], "standard input is none"),
        (&["--add-ignore", "why", "--no-ignores"], "cannot be used with"),
        (&["inventory", "--no-ignores"], "unexpected argument"),
    ] {
        let ran = lint(&folder.0, args);
        assert!(ran.code == Some(2) && ran.err.contains(said), "{args:?}: {ran:?}");
    }
}
