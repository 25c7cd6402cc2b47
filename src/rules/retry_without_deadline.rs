//! Reports a task whose time is bounded by a number of attempts alone.

use super::{Context, Finding, Group, Rule, scope, wording};
use crate::analysis::policy::{Bound, FailurePath, Site, Timeout};
use crate::diagnostic::Level;

pub(super) const RULE: Rule = Rule {
    name: "retry-without-deadline",
    group: Group::Strict,
    level: Level::Note,
    page: include_str!("../../rules/retry-without-deadline.md"),
    check: Some(check),
};

fn check(site: &Site, _: Context<'_>) -> Option<Finding> {
    let operation = scope::remote(site)?;
    let path = scope::surest(site, |path| counted(path).is_some())?;
    let attempts = counted(path)?;
    let waits: Option<f64> = path
        .waits
        .iter()
        .take(attempts.saturating_sub(1) as usize)
        .map(|wait| (!wait.unknown && wait.high.is_finite()).then_some(wait.high))
        .sum();
    let each = match operation.timeout {
        Timeout::Set(seconds) => seconds,
        Timeout::None | Timeout::Unknown => None,
    };
    let worst = waits.zip(each).map(|(waits, each)| waits + each * f64::from(attempts));
    let worst = worst.map_or_else(
        || "as long as its attempts and waits add up to".to_owned(),
        |worst| format!("up to {}", wording::seconds(worst.ceil())),
    );
    Some(Finding {
        confidence: scope::confidence(site, path),
        message: format!(
            "{} is bounded by {} and by no deadline",
            wording::subject(operation),
            wording::attempts(attempts)
        ),
        why: format!("the caller waits {worst}, whatever time it has"),
        help: "take a deadline before the first attempt, and begin no attempt or wait that would pass it".to_owned(),
        labels: scope::steps(path),
    })
}

/// The attempts of a path that only a count bounds.
fn counted(path: &FailurePath) -> Option<u32> {
    match path.bound {
        Bound::Count(Some(count)) if count > 2 && !path.new_input => Some(count),
        _ => None,
    }
}
