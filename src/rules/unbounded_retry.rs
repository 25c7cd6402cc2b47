//! Reports repetition that nothing ends: no count of attempts and no deadline on some failure path.

use super::{Context, Finding, Group, Rule, scope, wording};
use crate::analysis::policy::{Bound, Cause, FailurePath, Role, Site};
use crate::diagnostic::Level;

pub(super) const RULE: Rule = Rule {
    name: "unbounded-retry",
    group: Group::Bound,
    level: Level::Error,
    page: include_str!("../../rules/unbounded-retry.md"),
    check: Some(check),
};

/// Who waits so long between two looks, in seconds, is in no haste.
const PATIENT: f64 = 1.0;

fn check(site: &Site, _: Context<'_>) -> Option<Finding> {
    let operation = scope::bounded(site)?;
    // A bound that does not hold is the fault to name; `broken-attempt-cap` does.
    if scope::broken_bound(site).is_some() {
        return None;
    }
    let path = scope::surest(site, endless)?;
    let storm = wording::storm(path).map_or_else(String::new, |storm| format!("{storm}, and "));
    // Who only waits until something is there, and takes time for it, may be meant to wait for ever.
    let sure = scope::confidence(site, path);
    let waits = path.waits.iter().all(|wait| wait.unknown || wait.low >= PATIENT);
    Some(Finding {
        confidence: if site.role == Role::Probe && waits { scope::lower(sure) } else { sure },
        message: format!("{} is repeated without end {}", wording::subject(operation), wording::when(&path.cause)),
        why: format!("{storm}whoever waits for the result waits for as long as the failure lasts"),
        help: "give up after a few attempts, or at a deadline that is set before the first one, and let the last \
               error out"
            .to_owned(),
        labels: scope::steps(path),
    })
}

fn endless(path: &FailurePath) -> bool {
    path.bound == Bound::None && !path.new_input && !matches!(path.cause, Cause::Ended | Cause::Interrupt)
}
