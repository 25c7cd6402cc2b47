//! Reports more attempts than a server that is in trouble can be asked to bear, in less than a minute.

use super::{Context, Finding, Group, Rule, scope, wording};
use crate::analysis::policy::{FailurePath, Role, Site};
use crate::diagnostic::Level;

pub(super) const RULE: Rule = Rule {
    name: "excessive-attempts",
    group: Group::Bound,
    level: Level::Warning,
    page: include_str!("../../rules/excessive-attempts.md"),
    check: Some(check),
};

/// Waits that add up to this many seconds spread the attempts out enough.
const SPREAD: f64 = 60.0;

fn check(site: &Site, context: Context<'_>) -> Option<Finding> {
    let limit = context.limits.max_attempts;
    let operation = scope::bounded(site).filter(|operation| site.role == Role::Retry && !operation.passed_in)?;
    let path = scope::surest(site, |path| hurried(path, limit).is_some())?;
    let (attempts, waited) = hurried(path, limit)?;
    Some(Finding {
        confidence: scope::confidence(site, path),
        message: format!(
            "{} is executed up to {attempts} times{}, with {} of waiting in all",
            wording::subject(operation),
            wording::alone(site, path),
            wording::seconds(waited),
        ),
        why: format!(
            "a fault that outlasts {limit} attempts in under a minute is an outage, and there every caller multiplies \
             its load on a server in trouble by {attempts}"
        ),
        help: "make fewer attempts and let the waits grow; where the work may take longer, hand it to a queue"
            .to_owned(),
        labels: scope::steps(path),
    })
}

/// Attempts and seconds of waiting of a path that makes too many in too short a time. Where a wait is of unknown length
/// the time is, too.
fn hurried(path: &FailurePath, limit: u32) -> Option<(u32, f64)> {
    let attempts = path.attempts.filter(|attempts| *attempts > limit && !path.new_input)?;
    let gaps = attempts.saturating_sub(1) as usize;
    let waits = path.waits.get(..gaps).unwrap_or(&path.waits);
    if waits.iter().any(|wait| wait.unknown) {
        return None;
    }
    let last = waits.last().map_or(0.0, |wait| wait.high);
    let rest = u32::try_from(gaps - waits.len()).map_or(f64::INFINITY, f64::from);
    let rest = if last > 0.0 { rest * last } else { 0.0 };
    let waited = waits.iter().map(|wait| wait.high).sum::<f64>() + rest;
    (waited < SPREAD).then_some((attempts, waited))
}
