//! Reports an attempt that can hang for ever, so that no number of attempts bounds the time.

use super::{Context, Finding, Group, Rule, scope, wording};
use crate::analysis::policy::{Known, Operation, Site, Timeout};
use crate::diagnostic::{Label, Level};

pub(super) const RULE: Rule = Rule {
    name: "attempt-without-timeout",
    group: Group::Budget,
    level: Level::Warning,
    page: include_str!("../../rules/attempt-without-timeout.md"),
    check: Some(check),
};

fn check(site: &Site, _: Context<'_>) -> Option<Finding> {
    scope::remote(site)?;
    let operation = site.operations.iter().find(|operation| can_hang(operation))?;
    let bound = site.max_attempts.map_or_else(
        || "no further attempt is made".to_owned(),
        |count| format!("the limit of {} is never reached", wording::attempts(count)),
    );
    Some(Finding {
        confidence: scope::site_confidence(site),
        message: format!("{} is repeated, and no attempt has a time limit", wording::subject(operation)),
        why: format!("one connection on which no answer comes holds the caller for ever: {bound}"),
        help: "set a time limit on the call or on its client, well below the time that the caller has in all"
            .to_owned(),
        labels: vec![Label { file: None, span: operation.span, text: "this call can hang for ever".to_owned() }],
    })
}

fn can_hang(operation: &Operation) -> bool {
    operation.timeout == Timeout::None && operation.remote == Known::Yes && !operation.passed_in
}
