//! Reports an idempotency key that is another one for each attempt.

use super::{Context, Finding, Group, Rule, scope, wording};
use crate::analysis::policy::{Cause, FailurePath, Key, Known, Site};
use crate::diagnostic::{Label, Level};

pub(super) const RULE: Rule = Rule {
    name: "idempotency-key-per-attempt",
    group: Group::Replay,
    level: Level::Error,
    page: include_str!("../../rules/idempotency-key-per-attempt.md"),
    check: Some(check),
};

fn check(site: &Site, _: Context<'_>) -> Option<Finding> {
    scope::remote(site)?;
    let keyed = |operation: &&crate::analysis::policy::Operation| {
        operation.key == Key::PerAttempt && operation.remote == Known::Yes
    };
    let operation = site.operations.iter().find(keyed)?;
    let path = scope::surest(site, may_have_been_done)?;
    let mut labels = scope::steps(path);
    labels.push(Label { file: None, span: operation.span, text: "sent with a key of its own each time".to_owned() });
    Some(Finding {
        confidence: scope::confidence(site, path),
        message: format!("{} is repeated with a new idempotency key each time", wording::subject(operation)),
        why: "the server takes each attempt for a new request: the key protects from nothing, and what it was to \
              prevent happens as if there were none"
            .to_owned(),
        help: "make the key once, before the first attempt, or derive it from what is asked for".to_owned(),
        labels,
    })
}

fn may_have_been_done(path: &FailurePath) -> bool {
    !path.new_input && path.cause_once_sent().is_some() && !matches!(path.cause, Cause::Interrupt | Cause::Ended)
}
