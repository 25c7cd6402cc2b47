//! Reports an interrupt or a cancellation that is met with another attempt.

use super::{Context, Finding, Group, Rule, scope, wording};
use crate::analysis::policy::{Bound, FailurePath, Form, Known, Role, Site, Step};
use crate::diagnostic::{Confidence, Label, Level};

pub(super) const RULE: Rule = Rule {
    name: "retried-interrupt",
    group: Group::Outcome,
    level: Level::Error,
    page: include_str!("../../rules/retried-interrupt.md"),
    check: Some(check),
};

/// A wait for trouble to be over lasts as long at least, in seconds.
const A_WAIT: f64 = 1.0;

fn check(site: &Site, _: Context<'_>) -> Option<Finding> {
    let operation = scope::paced(site)?;
    let interrupt = site.interrupts.as_ref()?;
    let names = wording::classes(&interrupt.classes);
    let what = if names.is_empty() { "a cancellation".to_owned() } else { names };
    let label = |step: &Step| Label { file: None, span: step.span, text: step.text.clone() };
    let known = operation.remote == Known::Yes || operation.passed_in;
    let until = match site.bound {
        Bound::Count(_) | Bound::Both(..) | Bound::Caller => "until the attempts are used up",
        Bound::Deadline(_) => "until the time is up",
        _ => "until it is killed",
    };
    Some(Finding {
        // What may be local work, or asks for new work each turn, is too little to go by, unless it is waited for; a second
        // try in a handler does not go on for long; and who tells a policy of some interrupts has thought of them.
        confidence: match site.form != Form::StraightLine && !interrupt.spared {
            true if known => Confidence::High,
            true if site.role == Role::Retry && site.failures.iter().any(waits) => Confidence::Medium,
            _ => Confidence::Low,
        },
        message: format!("{} is repeated on {what}", wording::subject(operation)),
        why: format!("who asks the program or the task to end gets another attempt instead, {until}"),
        help: "catch what can fail (`Exception` at most), and let interrupts and cancellations leave the loop at once"
            .to_owned(),
        labels: interrupt.steps.iter().map(label).collect(),
    })
}

/// Whether somebody waits between two attempts for the trouble to be over.
fn waits(path: &FailurePath) -> bool {
    path.waits.iter().any(|wait| !wait.unknown && wait.low >= A_WAIT)
}
