//! Reports a `Retry-After` that is lowered, so that the request is sent while the server still refuses.

use super::{Context, Finding, Group, Rule, scope, wording};
use crate::analysis::policy::{RetryAfter, Site};
use crate::diagnostic::{Label, Level};

pub(super) const RULE: Rule = Rule {
    name: "shortened-retry-after",
    group: Group::Server,
    level: Level::Warning,
    page: include_str!("../../rules/shortened-retry-after.md"),
    check: Some(check),
};

fn check(site: &Site, _: Context<'_>) -> Option<Finding> {
    let operation = scope::remote(site)?;
    let path = scope::surest(site, |path| matches!(path.retry_after, RetryAfter::Shortened { .. }))?;
    let RetryAfter::Shortened { ceiling, at } = path.retry_after else { return None };
    let mut labels = scope::steps(path);
    labels.push(Label { file: None, span: at, text: "the server's wait is lowered here".to_owned() });
    let (cut, example) = match ceiling.filter(|ceiling| ceiling.is_finite()) {
        Some(ceiling) => {
            let asked = wording::seconds((ceiling * 4.0).max(1.0));
            let ceiling = wording::seconds(ceiling);
            (format!(" to {ceiling} at most"), format!("a server that asks for {asked} is asked again after {ceiling}"))
        }
        None => (String::new(), "the request is sent while the server still refuses".to_owned()),
    };
    Some(Finding {
        confidence: scope::confidence(site, path),
        message: format!("The server's `Retry-After` is cut{cut} before {} is repeated", wording::operation(operation)),
        why: format!("{example}: the attempt is wasted, and may make the ban longer"),
        help: "wait for as long as the server says; where that is longer than the caller can wait, give up at once \
               instead, and keep the ceiling for your own backoff"
            .to_owned(),
        labels,
    })
}
