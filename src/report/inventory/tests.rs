#![allow(clippy::unwrap_used, clippy::indexing_slicing)]
use super::*;
use crate::analysis::policy::{Form, sample};
use crate::analysis::status::StatusSet;
use crate::check::Input;
use crate::source::{Language, Span};

fn wait(low: f64, high: f64) -> Wait {
    Wait { low, high, unknown: false }
}

fn path(pace: Pace, waits: Vec<Wait>) -> FailurePath {
    FailurePath { waits, pace, ..sample::path() }
}

fn site(failures: Vec<FailurePath>) -> Site {
    Site {
        form: Form::StraightLine,
        retried_statuses: StatusSet::range(500, 599).or(&StatusSet::one(429)),
        delay_ceiling: Some(f64::INFINITY),
        failures,
        ..sample::site()
    }
}

fn run(site: Site) -> Run {
    let text = "while True:\n    try:\n        client.post(url)\n";
    let file = SourceFile::new("src/a.py", text, Language::Python);
    let input = Input { file, module: "a".to_owned(), root_path: "src/a.py".into(), config: std::sync::Arc::default() };
    let mut run = Run::with_findings(vec![input], Vec::new());
    run.sites = vec![vec![site]];
    run
}

fn printed(run: &Run, write: fn(&Run, &mut dyn Write) -> io::Result<()>) -> String {
    let mut out = Vec::new();
    write(run, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn the_json_document_has_every_field_of_the_contract() {
    let waits = vec![wait(1.0, 2.0), wait(2.0, f64::INFINITY)];
    let document: serde_json::Value =
        serde_json::from_str(&printed(&run(site(vec![path(Pace::Exponential, waits)])), json)).unwrap();
    assert_eq!(document["version"], 1);
    assert_eq!(
        document["sites"][0],
        serde_json::json!({
            "path": "src/a.py",
            "range": {"start": {"line": 1, "column": 1}, "end": {"line": 3, "column": 10}},
            "kind": "straight-line", "operation": "client.post(url)", "remote": true, "cap": "count",
            "max_attempts": 3, "delay": "exponential", "jitter": false, "delay_ceiling": null,
            "retry_after": "not-applicable", "retried_statuses": "429,500-599",
            "retried_exceptions": ["ConnectionError"], "method": "POST", "idempotency_key": false, "timeout": 5.0,
            "schedule": [[1.0, 2.0], [2.0, null]], "worst_case_wait": null, "layers": [], "amplification": null,
        })
    );
}

#[test]
fn the_path_that_grows_most_and_the_worst_use_of_the_header_are_told() {
    let mut slow = path(Pace::Server, vec![wait(1.0, 4.0), wait(1.0, 4.0)]);
    slow.retry_after = RetryAfter::Shortened { ceiling: Some(30.0), at: Span::default() };
    let mut mended = path(Pace::None, vec![wait(0.0, 0.0), wait(0.0, 0.0)]);
    mended.repaired = true;
    let at_once = path(Pace::None, vec![wait(0.0, 0.0), wait(0.0, 0.0)]);
    let site = site(vec![slow, at_once, path(Pace::Fixed, vec![wait(3.0, 3.0), wait(3.0, 3.0)]), mended]);
    let run = run(site);
    let entry = Entry::of(&run.files, &run.files[0], &run.sites[0][0]);
    assert_eq!(entry.delay, "fixed");
    assert_eq!(entry.retry_after, Some("truncated"));
    assert_eq!(entry.schedule, [[Some(3.0), Some(3.0)], [Some(3.0), Some(3.0)]]);
    assert_eq!(entry.worst_case_wait, Some(8.0));
}

#[test]
fn people_get_cards_and_lines() {
    let mut run = run(site(vec![path(Pace::Fixed, vec![wait(2.0, 2.0), wait(2.0, 2.5)])]));
    run.sites[0][0].role = Role::Probe;
    assert_eq!(printed(&run, concise), "src/a.py:1:1: probe client.post(url): at most 3; fixed wait: 2, 2–2.5 s\n");
    let cards = printed(&run, full);
    assert!(cards.starts_with("src/a.py:1:1  probe in send\n    repeats       client.post(url) (remote)\n"), "{cards}");
    assert!(cards.contains("    comes back on status 429,500-599, ConnectionError\n"), "{cards}");
    assert!(cards.ends_with("1 retry site in 1 file.\n"), "{cards}");
}
