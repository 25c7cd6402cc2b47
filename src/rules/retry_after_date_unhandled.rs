//! Reports code that takes `Retry-After` for a number and breaks, or falls back to a wait of its own, on a date.

use super::{Context, Finding, Group, Rule, scope, wording};
use crate::analysis::policy::{DateForm, FailurePath, Site};
use crate::diagnostic::{Label, Level};

pub(super) const RULE: Rule = Rule {
    name: "retry-after-date-unhandled",
    group: Group::Server,
    level: Level::Warning,
    page: include_str!("../../rules/retry-after-date-unhandled.md"),
    check: Some(check),
};

fn check(site: &Site, _: Context<'_>) -> Option<Finding> {
    let operation = scope::remote(site)?;
    let breaks = |path: &FailurePath| matches!(path.retry_after_date, DateForm::Breaks(_));
    let drops = |path: &FailurePath| matches!(path.retry_after_date, DateForm::Dropped(_));
    let path = scope::surest(site, breaks).or_else(|| scope::surest(site, drops))?;
    let (at, what, why) = match path.retry_after_date {
        DateForm::Fine => return None,
        DateForm::Breaks(at) => (
            at,
            "breaks the retry of",
            "the parse fails in the middle of the failure path: the caller gets a parse error in place of the server's \
             answer, and no further attempt is made",
        ),
        DateForm::Dropped(at) => (
            at,
            "is dropped before the retry of",
            "the server's wait is replaced by the code's own, and the request is sent while the server still refuses",
        ),
    };
    let mut labels = scope::steps(path);
    labels.push(Label { file: None, span: at, text: "reads the header as a number only".to_owned() });
    Some(Finding {
        confidence: scope::confidence(site, path),
        message: format!("A `Retry-After` that is a date {what} {}", wording::operation(operation)),
        why: why.to_owned(),
        help: "the header is a number of seconds or an HTTP date (RFC 9110, section 10.2.3): parse both".to_owned(),
        labels,
    })
}
