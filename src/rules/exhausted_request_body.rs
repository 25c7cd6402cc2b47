//! Reports a body that the first attempt has used up and that is sent again.

use super::{Context, Finding, Group, Rule, scope, wording};
use crate::analysis::policy::{Cause, FailurePath, Site};
use crate::diagnostic::{Label, Level};

pub(super) const RULE: Rule = Rule {
    name: "exhausted-request-body",
    group: Group::Replay,
    level: Level::Error,
    page: include_str!("../../rules/exhausted-request-body.md"),
    check: Some(check),
};

fn check(site: &Site, _: Context<'_>) -> Option<Finding> {
    scope::remote(site)?;
    let body = site.used_up.as_ref()?;
    let operation = site.operations.iter().find(|operation| operation.span == body.span)?;
    let path = scope::surest(site, was_sent)?;
    let mut labels = scope::steps(path);
    labels.push(Label { file: None, span: body.span, text: "read to its end by the first attempt".to_owned() });
    Some(Finding {
        confidence: scope::site_confidence(site),
        message: format!(
            "{} is repeated with a body that the first attempt has used up ({})",
            wording::subject(operation),
            body.what
        ),
        why: "the second attempt sends an empty body, a part of it or none at all, and may be answered as a success"
            .to_owned(),
        help: "make the body inside the loop, read it into memory before, or wind it back before each attempt"
            .to_owned(),
        labels,
    })
}

fn was_sent(path: &FailurePath) -> bool {
    path.cause_once_sent().is_some() && !path.new_input && !matches!(path.cause, Cause::Interrupt | Cause::Ended)
}
