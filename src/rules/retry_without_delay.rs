//! Reports a failure path that comes back to a remote operation with no wait.

use super::{Context, Finding, Group, Rule, scope, wording};
use crate::analysis::policy::{Cause, FailurePath, Role, Site, Wait};
use crate::diagnostic::{Confidence, Level};

pub(super) const RULE: Rule = Rule {
    name: "retry-without-delay",
    group: Group::Pace,
    level: Level::Error,
    page: include_str!("../../rules/retry-without-delay.md"),
    check: Some(check),
};

fn check(site: &Site, context: Context<'_>) -> Option<Finding> {
    let operation = scope::paced(site).filter(|operation| !operation.passed_in)?;
    let least = context.limits.min_delay;
    let path = scope::surest(site, |path| asks_for_the_same(site, path) && is_hot(path, least))?;
    let sure = scope::confidence(site, path);
    let why = wording::storm(path).unwrap_or_else(|| {
        let load = "a server that is in trouble gets its whole load again before it can recover";
        let slow = "a server that is too slow to answer in time gets the same work again while it still does the last";
        (if path.elapsed { slow } else { load }).to_owned()
    });
    Some(Finding {
        confidence: match () {
            // A value that counts as failed may hide a wait, or an answer that was good.
            () if path.cause == Cause::Value => sure.min(Confidence::Medium),
            // A time limit that ran out was a wait; where somebody only asks whether it is time, it was meant as one.
            () if path.elapsed && matches!(site.role, Role::Polling | Role::Probe) => Confidence::Low,
            () if path.elapsed => scope::lower(sure),
            () => sure,
        },
        message: format!("{} is repeated at once {}", wording::subject(operation), wording::when(&path.cause)),
        why,
        help: "wait before each further attempt, longer each time and with jitter, on every failure path".to_owned(),
        labels: scope::steps(path),
    })
}

/// Whether the path sends what has failed, unmended, to where it failed. The content of a good answer, asked for again,
/// is no sign of a server in trouble; nor is what a service takes for nothing to do.
fn asks_for_the_same(site: &Site, path: &FailurePath) -> bool {
    let idle = site.role == Role::Daemon && path.cause == Cause::Value;
    !idle && !path.repaired && !path.new_input && !path.good_answer && path.cause != Cause::Interrupt
}

/// Whether attempts follow each other at once. One immediate second attempt is accepted practice: alone, or before
/// waits begin.
fn is_hot(path: &FailurePath, least: f64) -> bool {
    if path.attempts.is_some_and(|attempts| attempts <= 2) {
        return false;
    }
    let immediate = |wait: &Wait| !wait.unknown && wait.high < least;
    match path.waits.as_slice() {
        [] => false,
        [only] => immediate(only),
        [_, later @ ..] => later.iter().any(immediate),
    }
}
