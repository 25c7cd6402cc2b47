//! Reports a wait that grows without a ceiling, past what anybody waits for.

use super::{Context, Finding, Group, Rule, scope, wording};
use crate::analysis::policy::{Bound, FailurePath, Form, Pace, Site};
use crate::diagnostic::Level;

pub(super) const RULE: Rule = Rule {
    name: "uncapped-backoff",
    group: Group::Pace,
    level: Level::Warning,
    page: include_str!("../../rules/uncapped-backoff.md"),
    check: Some(check),
};

fn check(site: &Site, context: Context<'_>) -> Option<Finding> {
    // Nobody waits for a task that a queue runs again.
    let operation = scope::paced(site).filter(|_| site.form != Form::TaskQueue)?;
    let limit = context.limits.max_delay;
    let path = scope::surest(site, |path| longest(path, limit).is_some())?;
    let (attempt, wait) = longest(path, limit)?;
    let bounded = wording::attempts_on(site, path)
        .map_or_else(|| "and goes on growing".to_owned(), |attempts| format!("within its {attempts}"));
    Some(Finding {
        confidence: scope::confidence(site, path),
        message: format!(
            "The wait before {} is repeated grows past {}: {} before attempt {attempt}, {bounded}",
            wording::operation(operation),
            wording::seconds(limit),
            wording::seconds(wait),
        ),
        why: "long after the server is back the caller still sleeps, and nothing tells that from a hang".to_owned(),
        help: format!(
            "take the smaller of the growing wait and a ceiling, at most {}, or make fewer attempts",
            wording::seconds(limit)
        ),
        labels: scope::steps(path),
    })
}

/// The first attempt before which the wait passes the limit, and that wait, where no ceiling holds it.
fn longest(path: &FailurePath, limit: f64) -> Option<(usize, f64)> {
    if !matches!(path.pace, Pace::Exponential | Pace::Linear) || path.new_input {
        return None;
    }
    let unbounded = matches!(path.bound, Bound::None | Bound::Flag | Bound::Broken(_));
    if path.attempts.is_none() && !unbounded {
        return None;
    }
    let gaps = path.attempts.map_or(path.waits.len(), |attempts| attempts.saturating_sub(1) as usize);
    let waits = path.waits.get(..gaps.min(path.waits.len()))?;
    if waits.iter().any(|wait| wait.unknown || !wait.high.is_finite()) {
        return None;
    }
    // What stays at its last length has come to a ceiling.
    let [.., before, last] = waits else { return None };
    if last.high <= before.high {
        return None;
    }
    let (at, wait) = waits.iter().enumerate().find(|(_, wait)| wait.high > limit)?;
    Some((at + 2, wait.high))
}
