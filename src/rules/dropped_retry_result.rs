//! Reports a recursive retry whose result nobody gets.

use super::{Context, Finding, Group, Rule, scope, wording};
use crate::analysis::policy::Site;
use crate::diagnostic::{Label, Level};

pub(super) const RULE: Rule = Rule {
    name: "dropped-retry-result",
    group: Group::Outcome,
    level: Level::Warning,
    page: include_str!("../../rules/dropped-retry-result.md"),
    check: Some(check),
};

fn check(site: &Site, _: Context<'_>) -> Option<Finding> {
    let operation = scope::bounded(site)?;
    let lost = site.lost_result?;
    let (seen, why, help) = if lost.runs {
        (
            "its result is dropped",
            "where the second attempt succeeds, the caller still gets the outcome of the first",
            "return what the repeated call gives",
        )
    } else {
        (
            "the repeated call is not awaited",
            "nothing is sent a second time, or not where the caller waits for it",
            "await the repeated call, and return what it gives",
        )
    };
    Some(Finding {
        confidence: scope::site_confidence(site),
        message: format!("{} is repeated by calling the function again, and {seen}", wording::subject(operation)),
        why: why.to_owned(),
        help: help.to_owned(),
        labels: vec![Label { file: None, span: lost.span, text: "lost here".to_owned() }],
    })
}
