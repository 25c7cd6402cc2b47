//! Reports an answer that says "your request is wrong" and is met with the same request.

use super::{Context, Finding, Group, Rule, scope, wording};
use crate::analysis::policy::{Bound, Cause, Exhaustion, FailurePath, Operation, Site};
use crate::analysis::status::StatusSet;
use crate::diagnostic::{Confidence, Level};

pub(super) const RULE: Rule = Rule {
    name: "retried-client-error",
    group: Group::Outcome,
    level: Level::Error,
    page: include_str!("../../rules/retried-client-error.md"),
    check: Some(check),
};

fn check(site: &Site, context: Context<'_>) -> Option<Finding> {
    let operation = scope::remote(site)?;
    let offends = |path: &FailurePath| !final_answers(operation, path, context.limits.min_delay).is_empty();
    let path = scope::surest(site, offends)?;
    let answers = final_answers(operation, path, context.limits.min_delay);
    let example = [400, 404, 401, 403, 422].into_iter().find(|status| answers.contains(*status));
    let example = example.or_else(|| answers.iter().next()).unwrap_or(400);
    let count = path.attempts.map_or_else(
        || format!("a {example} is asked for again and again"),
        |count| {
            let told = matches!(path.exhaustion, Exhaustion::Raises | Exhaustion::FailureValue);
            let end = if told { "to reach the caller" } else { "before the code gives up" };
            format!("a {example} takes {} {end}", wording::attempts(count))
        },
    );
    Some(Finding {
        confidence: if scope::is_beside(operation) { Confidence::Low } else { scope::confidence(site, path) },
        message: format!("{} is repeated on {}", wording::subject(operation), wording::statuses(&answers, "and")),
        why: format!("the same request gets the same answer: {count}, and the load is for nothing"),
        help: "let client errors out at once; only 408, 425 and 429 among them can change by waiting".to_owned(),
        labels: scope::steps(path),
    })
}

/// The client errors of a path that a repetition cannot change.
fn final_answers(operation: &Operation, path: &FailurePath, least_wait: f64) -> StatusSet {
    let Cause::Status(set) = &path.cause else { return StatusSet::EMPTY };
    if path.repaired || path.new_input || path.picked {
        return StatusSet::EMPTY;
    }
    let passing = StatusSet::of(|status| matches!(status, 408 | 425 | 429));
    let answers = set.and(&StatusSet::range(400, 499)).minus(&passing);
    // A lock that another one holds is released some time, and some services refuse with a 403 what comes too fast: where
    // the code singles that out, waits and gives up in the end, it knows its service.
    let ends = !matches!(path.bound, Bound::None | Bound::Broken(_));
    let passes = StatusSet::of(|status| matches!(status, 409 | 423) || status == 403 && ends);
    let waits = path.waits.first().is_some_and(|wait| wait.unknown || wait.high >= least_wait);
    // What is read and not there yet, the code singling that answer out, is awaited.
    let awaited = StatusSet::of(|status| status == 404);
    let reads = operation.method.as_deref().is_some_and(|method| matches!(method, "GET" | "HEAD"));
    if waits && (answers.minus(&passes).is_empty() || reads && answers.minus(&awaited).is_empty()) {
        StatusSet::EMPTY
    } else {
        answers
    }
}
