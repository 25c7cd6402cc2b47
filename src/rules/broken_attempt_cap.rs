//! Reports a counter or deadline that is there and does not bound.

use super::{Context, Finding, Group, Rule, scope, wording};
use crate::analysis::policy::Site;
use crate::diagnostic::Level;

pub(super) const RULE: Rule = Rule {
    name: "broken-attempt-cap",
    group: Group::Bound,
    level: Level::Error,
    page: include_str!("../../rules/broken-attempt-cap.md"),
    check: Some(check),
};

fn check(site: &Site, _: Context<'_>) -> Option<Finding> {
    let operation = scope::bounded(site)?;
    let (reason, path) = scope::broken_bound(site)?;
    let storm = path.and_then(wording::storm).map_or_else(String::new, |storm| format!("; {storm}"));
    Some(Finding {
        confidence: path.map_or_else(|| scope::site_confidence(site), |path| scope::confidence(site, path)),
        message: format!("The limit on repeating {} does not hold: {reason}", wording::operation(operation)),
        why: format!("the loop reads as if it gave up, and while the failure lasts it does not{storm}"),
        help:
            "let the loop itself count (over a range of attempts), so that no failure path can miss the count, or take \
               the deadline before the loop and test it on every path"
                .to_owned(),
        labels: path.map(scope::steps).unwrap_or_default(),
    })
}
