//! Reports a constant wait between the attempts of a remote operation.

use super::{Context, Finding, Group, Rule, scope, wording};
use crate::analysis::policy::{FailurePath, Pace, RetryAfter, Site};
use crate::diagnostic::Level;

pub(super) const RULE: Rule = Rule {
    name: "fixed-retry-delay",
    group: Group::Strict,
    level: Level::Note,
    page: include_str!("../../rules/fixed-retry-delay.md"),
    check: Some(check),
};

fn check(site: &Site, context: Context<'_>) -> Option<Finding> {
    let operation = scope::remote(site)?;
    let least = context.limits.min_delay;
    let path = scope::surest(site, |path| is_constant(path, least))?;
    let length = path
        .waits
        .first()
        .filter(|wait| !wait.unknown && wait.high.is_finite())
        .map_or_else(|| "the same time".to_owned(), |wait| wording::seconds(wait.high));
    Some(Finding {
        confidence: scope::confidence(site, path),
        message: format!("{} is repeated after {length} each time", wording::subject(operation)),
        why: "the load on a server that does not recover never goes down, and callers that failed together come back \
              together"
            .to_owned(),
        help: "let the wait grow with each attempt, up to a ceiling, and draw a part of it at random".to_owned(),
        labels: scope::steps(path),
    })
}

/// Whether the path waits as long before each of several further attempts. Where the server is asked how long, that is
/// a default.
fn is_constant(path: &FailurePath, least: f64) -> bool {
    if path.retry_after == RetryAfter::Honoured {
        return false;
    }
    let several = path.attempts.is_none_or(|attempts| attempts > 2) && path.waits.len() >= 2;
    let waits = path.waits.iter().all(|wait| wait.unknown || wait.high >= least);
    several && waits && path.pace == Pace::Fixed && !path.jitter && !path.new_input && !path.good_answer
}
