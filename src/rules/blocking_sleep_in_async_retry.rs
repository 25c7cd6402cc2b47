//! Reports a wait between attempts that stops every other task of the thread.

use super::{Context, Finding, Group, Rule, scope, wording};
use crate::analysis::policy::{FailurePath, Site, Wait};
use crate::diagnostic::Level;

pub(super) const RULE: Rule = Rule {
    name: "blocking-sleep-in-async-retry",
    group: Group::Pace,
    level: Level::Warning,
    page: include_str!("../../rules/blocking-sleep-in-async-retry.md"),
    check: Some(check),
};

fn check(site: &Site, _: Context<'_>) -> Option<Finding> {
    let operation = scope::paced(site)?;
    let path = scope::surest(site, blocks)?;
    let longest = path.waits.iter().filter(|wait| !wait.unknown && wait.high.is_finite()).map(|wait| wait.high);
    let longest = longest.fold(0.0, f64::max);
    let length = if longest > 0.0 { format!(", for up to {}", wording::seconds(longest)) } else { String::new() };
    Some(Finding {
        confidence: scope::confidence(site, path),
        message: format!(
            "The wait before {} is repeated blocks the thread of an async function",
            wording::operation(operation)
        ),
        why: format!("all other tasks of that thread stand still{length}, time limits and cancellation among them"),
        help: "await the sleep of the async runtime, or move the whole retry to a thread of its own".to_owned(),
        labels: scope::steps(path),
    })
}

fn blocks(path: &FailurePath) -> bool {
    path.blocks_executor && path.waits.iter().any(|wait: &Wait| wait.unknown || wait.high > 0.0)
}
