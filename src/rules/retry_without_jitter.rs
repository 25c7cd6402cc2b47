//! Reports waits that grow the same for every caller.

use super::{Context, Finding, Group, Rule, scope, wording};
use crate::analysis::policy::{FailurePath, Pace, Site};
use crate::diagnostic::Level;

pub(super) const RULE: Rule = Rule {
    name: "retry-without-jitter",
    group: Group::Strict,
    level: Level::Note,
    page: include_str!("../../rules/retry-without-jitter.md"),
    check: Some(check),
};

fn check(site: &Site, _: Context<'_>) -> Option<Finding> {
    let operation = scope::remote(site)?;
    let path = scope::surest(site, is_in_step)?;
    let lengths: Vec<String> = path
        .waits
        .iter()
        .take(3)
        .take_while(|wait| !wait.unknown && wait.high.is_finite())
        .map(|wait| wording::seconds(wait.high))
        .collect();
    let lengths = if lengths.len() < 2 { String::new() } else { format!(" ({}, …)", lengths.join(", ")) };
    Some(Finding {
        confidence: scope::confidence(site, path),
        message: format!(
            "{} is repeated after waits that are the same for every caller{lengths}",
            wording::subject(operation)
        ),
        why: "callers that failed in the same moment come back in the same moment, each time".to_owned(),
        help: "draw each wait at random between nought (or its half) and its full length".to_owned(),
        labels: scope::steps(path),
    })
}

/// Whether the waits of a path grow, and nothing in them is left to chance.
fn is_in_step(path: &FailurePath) -> bool {
    let several = path.attempts.is_none_or(|attempts| attempts > 2);
    several && matches!(path.pace, Pace::Exponential | Pace::Linear) && !path.jitter && !path.new_input
}
