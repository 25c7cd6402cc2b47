//! Reports a side effect that is replayed although the first attempt may have had it, and no key tells the server so.

use super::{Context, Finding, Group, Rule, scope, wording};
use crate::analysis::policy::{Cause, FailurePath, Key, Known, Operation, Site};
use crate::analysis::status::StatusSet;
use crate::diagnostic::{Confidence, Level};

pub(super) const RULE: Rule = Rule {
    name: "retried-non-idempotent-request",
    group: Group::Replay,
    level: Level::Warning,
    page: include_str!("../../rules/retried-non-idempotent-request.md"),
    check: Some(check),
};

fn check(site: &Site, _: Context<'_>) -> Option<Finding> {
    // A batch that is sent again as a whole is another fault, and its cure cures this one.
    if site.batch.is_some() {
        return None;
    }
    scope::remote(site)?;
    // What fails before or after the side effect is another operation.
    let of = |path: &FailurePath| site.operations.get(path.operation).filter(|operation| doubles(operation));
    let path = scope::surest(site, |path| of(path).is_some() && may_have_been_done(path))?;
    let operation = of(path)?;
    let cause = path.cause_once_sent()?;
    let sure = scope::confidence(site, path);
    let effect = operation.effect.as_ref().map_or_else(String::new, |effect| format!(" ({effect})"));
    let count = wording::attempts_on(site, path)
        .map_or_else(|| "each attempt".to_owned(), |attempts| format!("each of {attempts}"));
    Some(Finding {
        confidence: if path.cause == Cause::Value { sure.min(Confidence::Medium) } else { sure },
        message: format!(
            "{}{effect} is repeated {} with no idempotency key",
            wording::subject(operation),
            wording::when(&cause),
        ),
        why: format!(
            "a failure after the request was sent does not say that nothing was done: {count} may have its effect \
             once more"
        ),
        help: "send a key that is made once, before the first attempt, and by which the server knows the repetition; \
               where it takes none, repeat only what was refused"
            .to_owned(),
        labels: scope::steps(path),
    })
}

/// Whether a second execution does something twice.
fn doubles(operation: &Operation) -> bool {
    let method = operation.method.as_deref().is_some_and(|method| matches!(method, "POST" | "PATCH"));
    let repeats_effect = operation.idempotent == Known::No || (method && operation.idempotent == Known::Unknown);
    repeats_effect && operation.key == Key::None && operation.remote == Known::Yes && !operation.passed_in
}

/// Whether what failed may have been done all the same. A refusal was not.
fn may_have_been_done(path: &FailurePath) -> bool {
    if path.new_input {
        return false;
    }
    match path.cause_once_sent() {
        Some(Cause::Status(set)) => {
            let refusals = StatusSet::of(|status| status == 503 || (400..500).contains(&status) && status != 408);
            !set.minus(&refusals).is_empty()
        }
        Some(Cause::Exception { .. } | Cause::Value) => true,
        Some(Cause::Interrupt | Cause::Ended) | None => false,
    }
}
