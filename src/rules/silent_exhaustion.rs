//! Reports a retry that, having failed for good, hands the caller something that looks like a result.

use super::{Context, Finding, Group, Rule, scope, wording};
use crate::analysis::policy::{Exhaustion, FailurePath, Site};
use crate::diagnostic::{Label, Level};

pub(super) const RULE: Rule = Rule {
    name: "silent-exhaustion",
    group: Group::Outcome,
    level: Level::Warning,
    page: include_str!("../../rules/silent-exhaustion.md"),
    check: Some(check),
};

fn check(site: &Site, _: Context<'_>) -> Option<Finding> {
    let operation = scope::outcome(site)?;
    let silent = |path: &FailurePath| matches!(path.exhaustion, Exhaustion::FallsOff(_) | Exhaustion::DefaultValue(..));
    let path = scope::surest(site, silent)?;
    let (at, what, why) = match &path.exhaustion {
        Exhaustion::FallsOff(at) => (
            *at,
            "nothing at all".to_owned(),
            "the function ends without a value where a success has one, and the failure shows up far from here"
                .to_owned(),
        ),
        Exhaustion::DefaultValue(at, text) => (
            *at,
            format!("`{text}`"),
            format!("`{text}` looks like data: the caller cannot tell a failure from an empty result"),
        ),
        _ => return None,
    };
    let after = wording::attempts_on(site, path).unwrap_or_else(|| "the last attempt".to_owned());
    let mut labels = scope::steps(path);
    labels.push(Label { file: None, span: at, text: format!("after {after}, this is what the caller gets") });
    Some(Finding {
        confidence: scope::confidence(site, path),
        message: format!("When {} has failed for good, the caller gets {what}", wording::operation(operation)),
        why,
        help: "raise the last error after the last attempt, or return a value that says failure and is declared to"
            .to_owned(),
        labels,
    })
}
