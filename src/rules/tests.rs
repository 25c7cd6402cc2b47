//! The rules on sites that are put together by hand: the incident's handler, its repair, and what must be silent.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

use super::{ALL, Context, Finding, Limits};
use crate::analysis::policy::{
    Bound, Cause, DateForm, Exhaustion, Exit, ExitKind, FailurePath, Form, Key, Known, Layer, Operation, Pace,
    RetryAfter, Role, Site, Step, Timeout, Wait, sample,
};
use crate::analysis::status::StatusSet;
use crate::diagnostic::Confidence;
use crate::source::{Language, SourceFile, Span};

/// The endless handler: a POST, asked again at once on any status from 500.
fn handler() -> Site {
    let header = Span::new(10, 20);
    Site {
        function_name: "deliver".to_owned(),
        form: Form::Loop,
        span: Span::new(10, 90),
        header,
        operations: vec![Operation {
            text: "requests.post(url, json=event)".to_owned(),
            span: Span::new(30, 40),
            model: Some("requests.post".to_owned()),
            timeout: Timeout::None,
            ..sample::operation()
        }],
        failures: vec![FailurePath {
            cause: Cause::Status(StatusSet::range(500, 599)),
            bound: Bound::None,
            attempts: None,
            waits: vec![wait(0.0, 0.0); 8],
            retry_after: RetryAfter::Ignored,
            exhaustion: Exhaustion::Never,
            steps: vec![Step { span: header, text: "back to the loop".to_owned() }],
            ..sample::path()
        }],
        exits: vec![Exit {
            statuses: Some(StatusSet::range(100, 499)),
            kind: ExitKind::Value,
            span: Span::new(50, 60),
        }],
        retried_statuses: StatusSet::range(500, 599),
        bound: Bound::None,
        max_attempts: None,
        ..sample::site()
    }
}

/// Its usual repair.
fn repair() -> Site {
    let mut site = handler();
    let at = Span::new(70, 80);
    let path = &mut site.failures[0];
    path.bound = Bound::Count(Some(5));
    path.attempts = Some(5);
    path.waits = vec![wait(0.0, 30.0); 4];
    path.pace = Pace::Exponential;
    path.wait_after_last = Some((wait(0.0, 30.0), at));
    path.retry_after = RetryAfter::Shortened { ceiling: Some(30.0), at };
    path.retry_after_date = DateForm::Breaks(at);
    path.exhaustion = Exhaustion::Raises;
    site.bound = Bound::Count(Some(5));
    site.max_attempts = Some(5);
    site
}

fn wait(low: f64, high: f64) -> Wait {
    Wait { low, high, unknown: false }
}

#[test]
fn many_attempts_are_told_of_where_all_waits_are_known() {
    let mut site = repair();
    let path = &mut site.failures[0];
    path.attempts = Some(50);
    path.waits = vec![wait(0.5, 0.5); 8];
    assert!(names(&site).contains(&"excessive-attempts"));
    site.failures[0].waits[3].unknown = true;
    assert!(!names(&site).contains(&"excessive-attempts"));
}

fn findings(site: &Site) -> Vec<(&'static str, Finding)> {
    let file = SourceFile::new("example.py", "", Language::Python);
    let limits = Limits::default();
    let context = Context { file: &file, files: std::slice::from_ref(&file), limits: &limits };
    ALL.iter().filter_map(|rule| Some((rule.name, rule.check?(site, context)?))).collect()
}

fn names(site: &Site) -> Vec<&'static str> {
    let by_default = |name: &str| super::ALL.iter().any(|rule| rule.name == name && rule.on_by_default());
    findings(site).into_iter().map(|(name, _)| name).filter(|name| by_default(name)).collect()
}

fn of(site: &Site, rule: &str) -> Finding {
    findings(site).into_iter().find(|(name, _)| *name == rule).expect("a finding").1
}

#[test]
fn the_handler_has_six_faults() {
    let expected = [
        "attempt-without-timeout",
        "error-returned-as-success",
        "ignored-retry-after",
        "retried-non-idempotent-request",
        "retry-without-delay",
        "unbounded-retry",
    ];
    assert_eq!(names(&handler()), expected);
}

#[test]
fn the_repair_has_six_faults() {
    let expected = [
        "attempt-without-timeout",
        "error-returned-as-success",
        "retried-non-idempotent-request",
        "retry-after-date-unhandled",
        "shortened-retry-after",
        "sleep-after-last-attempt",
    ];
    assert_eq!(names(&repair()), expected);
}

#[test]
fn messages_are_sentences_in_the_numbers_of_the_site() {
    let unbounded = of(&handler(), "unbounded-retry");
    assert_eq!(
        unbounded.message,
        "The POST `requests.post(url, json=event)` is repeated without end on any status ≥ 500"
    );
    assert!(unbounded.why.contains("a 3 s outage at 50 ms a call is 60 requests"), "{}", unbounded.why);
    assert!(
        of(&handler(), "error-returned-as-success").message.ends_with("any status from 400 to 499, 429 among them")
    );
    assert!(of(&repair(), "shortened-retry-after").message.contains("30 s"));
    for (name, finding) in findings(&handler()).into_iter().chain(findings(&repair())) {
        for text in [&finding.message, &finding.why, &finding.help] {
            assert!(!text.contains('\n') && !text.contains("  ") && !text.ends_with('.'), "{name}: {text}");
        }
        assert!(!finding.message.is_empty() && !finding.help.is_empty() && !finding.labels.is_empty(), "{name}");
    }
}

#[test]
fn local_work_and_tests_are_silent() {
    let mut local = handler();
    local.operations[0].remote = Known::No;
    assert_eq!(names(&local), [""; 0]);
    let mut test = handler();
    test.in_test = true;
    assert_eq!(names(&test), [""; 0]);
}

#[test]
fn what_is_not_known_lowers_the_confidence() {
    let mut site = handler();
    assert_eq!(of(&site, "unbounded-retry").confidence, Confidence::High);
    site.operations[0].remote = Known::Unknown;
    assert_eq!(names(&site), ["retry-without-delay", "unbounded-retry"]);
    assert_eq!(of(&site, "unbounded-retry").confidence, Confidence::Medium);
    site.failures[0].uncertain = true;
    assert_eq!(of(&site, "unbounded-retry").confidence, Confidence::Low);
}

#[test]
fn a_helper_answers_for_its_own_loop_only() {
    let mut site = repair();
    site.operations[0].passed_in = true;
    site.failures[0].exhaustion = Exhaustion::FallsOff(Span::new(1, 2));
    assert_eq!(names(&site), ["silent-exhaustion", "sleep-after-last-attempt"]);
}

#[test]
fn roles_decide_which_rules_apply() {
    let mut site = handler();
    site.role = Role::Daemon;
    assert_eq!(names(&site), ["retry-without-delay"]);
    site.role = Role::Probe;
    assert_eq!(names(&site), ["retry-without-delay", "unbounded-retry"]);
    let path = &mut site.failures[0];
    (path.bound, path.waits) = (Bound::Deadline(Some(60.0)), vec![wait(1.0, 1.0); 8]);
    assert_eq!(names(&site), [""; 0]);
}

#[test]
fn a_broken_limit_takes_the_place_of_none() {
    let mut site = handler();
    let mut broken = site.failures[0].clone();
    broken.bound = Bound::Broken("the 429 path never counts".to_owned());
    site.failures.push(broken);
    let names = names(&site);
    assert!(names.contains(&"broken-attempt-cap") && !names.contains(&"unbounded-retry"), "{names:?}");
    assert!(of(&site, "broken-attempt-cap").message.ends_with("does not hold: the 429 path never counts"));
}

#[test]
fn one_immediate_attempt_is_accepted() {
    let hot = |waits: &[f64], attempts: Option<u32>| {
        let mut site = handler();
        site.failures[0].waits = waits.iter().map(|high| wait(0.0, *high)).collect();
        site.failures[0].attempts = attempts;
        names(&site).contains(&"retry-without-delay")
    };
    assert!(!hot(&[0.0], Some(2)));
    assert!(!hot(&[0.0, 1.0, 2.0], Some(4)));
    assert!(!hot(&[1.0, 2.0, 4.0], None));
    assert!(hot(&[0.0, 0.0], Some(3)));
    assert!(hot(&[1.0, 0.0], Some(3)));
    assert!(hot(&[0.0], None));
}

#[test]
fn many_attempts_count_where_they_are_not_spread_out() {
    let excessive = |attempts: u32, each: f64| {
        let mut site = repair();
        site.failures[0].attempts = Some(attempts);
        site.failures[0].waits = vec![wait(each, each); attempts.min(64) as usize - 1];
        names(&site).contains(&"excessive-attempts")
    };
    assert!(excessive(11, 1.0) && excessive(500, 0.1));
    assert!(!excessive(10, 1.0) && !excessive(11, 6.0) && !excessive(1000, 0.5));
}

#[test]
fn an_only_attempt_is_not_the_last_of_several() {
    let rule = "sleep-after-last-attempt";
    let mut site = repair();
    assert!(names(&site).contains(&rule));
    site.failures[0].attempts = Some(1);
    site.max_attempts = Some(1);
    assert!(!names(&site).contains(&rule));
}

#[test]
fn client_errors_that_can_change_are_no_fault() {
    let retried = |statuses: &str, change: fn(&mut FailurePath)| {
        let mut site = handler();
        site.failures[0].cause = Cause::Status(StatusSet::parse(statuses).unwrap());
        change(&mut site.failures[0]);
        names(&site).contains(&"retried-client-error")
    };
    assert!(retried("400-599", |_| ()) && retried("404", |_| ()) && retried("409", |_| ()));
    assert!(!retried("408,425,429,500-599", |_| ()));
    assert!(!retried("401", |path| path.repaired = true));
    assert!(!retried("412", |path| path.new_input = true));
    assert!(!retried("409,423", |path| path.waits = vec![wait(1.0, 1.0)]));
}

#[test]
fn refusals_are_no_replay() {
    let replayed = |change: fn(&mut Site)| {
        let mut site = handler();
        change(&mut site);
        names(&site).contains(&"retried-non-idempotent-request")
    };
    assert!(!replayed(|site| site.failures[0].cause = Cause::Status(StatusSet::parse("429,503").unwrap())));
    let fails = |site: &mut Site, classes: &[&str], unsent: &[&str]| {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        site.failures[0].cause = Cause::Exception { classes: owned(classes), everything: false };
        site.failures[0].before_send = owned(unsent);
    };
    let mut site = handler();
    fails(&mut site, &["net.NoRoute"], &["net.NoRoute"]);
    assert!(!names(&site).contains(&"retried-non-idempotent-request"));
    fails(&mut site, &["net.Late", "net.NoRoute"], &["net.NoRoute"]);
    assert!(names(&site).contains(&"retried-non-idempotent-request"));
    assert!(!replayed(|site| site.operations[0].key = Key::Stable));
    assert!(!replayed(|site| site.operations[0].key = Key::Unknown));
    assert!(!replayed(|site| site.operations[0].idempotent = Known::Yes));
    assert!(replayed(|site| site.operations[0].idempotent = Known::Unknown));
    assert!(replayed(|site| site.failures[0].cause = Cause::Exception { classes: vec![], everything: true }));
}

#[test]
fn a_status_that_is_singled_out_is_no_passed_off_error() {
    let passed_off = |statuses: &str, kind: ExitKind| {
        let mut site = repair();
        let exit = Exit { statuses: StatusSet::parse(statuses), kind, span: Span::default() };
        site.exits = vec![exit];
        names(&site).contains(&"error-returned-as-success")
    };
    assert!(passed_off("100-404", ExitKind::Value) && passed_off("429", ExitKind::Value));
    assert!(!passed_off("404", ExitKind::Value) && !passed_off("100-399", ExitKind::Value));
    assert!(!passed_off("100-599", ExitKind::Response) && !passed_off("100-599", ExitKind::Failure));
}

#[test]
fn an_attempt_that_lasts_its_time_limit_is_no_hot_loop() {
    let of = |site: &Site| findings(site).into_iter().find(|(name, _)| *name == "retry-without-delay").map(|it| it.1);
    let mut site = handler();
    assert!(of(&site).unwrap().why.contains("60 requests from each caller"));
    site.failures[0].bound = Bound::Caller;
    assert!(of(&site).unwrap().why.contains("up to 60 requests"), "{}", of(&site).unwrap().why);
    site.failures[0].elapsed = true;
    let slow = of(&site).unwrap();
    assert_eq!(slow.confidence, Confidence::Medium);
    assert!(!slow.why.contains("requests from each caller"), "{}", slow.why);
}

/// Two layers of loops over an operation that leaves the process, of so many turns each; 0 is not known.
fn nested(outer: u32, inner: u32, cut: bool) -> Confidence {
    let layer = |factor: u32| Layer {
        factor,
        text: "attempts here".to_owned(),
        at: None,
        explicit: true,
        follows_advice: false,
        library: None,
        off: None,
        guessed: false,
    };
    let site = Site { layers: vec![layer(outer), layer(inner)], cut, ..repair() };
    let found = findings(&site).into_iter().find(|(name, _)| *name == "nested-retry");
    found.expect("two layers are reported").1.confidence
}

#[test]
fn layers_of_unknown_turns_are_too_little_to_go_by() {
    assert_eq!(nested(3, 4, false), Confidence::High);
    assert_eq!(nested(0, 4, false), Confidence::High);
    assert_eq!(nested(3, 0, true), Confidence::Medium);
    assert_eq!(nested(0, 4, true), Confidence::Low);
    assert_eq!(nested(0, 0, false), Confidence::Low);
}

/// Who looks once a minute whether something is there may be meant to do so for ever; who asks every 10 ms is not.
#[test]
fn a_patient_probe_is_less_sure_to_be_wrong() {
    let confidence = |low: f64| {
        let mut site = handler();
        site.role = Role::Probe;
        site.failures[0].waits = vec![wait(low, 60.0); 4];
        let found = findings(&site).into_iter().find(|(rule, _)| *rule == "unbounded-retry");
        found.map(|(_, finding)| finding.confidence)
    };
    assert_eq!((confidence(20.0), confidence(0.01)), (Some(Confidence::Medium), Some(Confidence::High)));
}
