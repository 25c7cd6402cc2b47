//! Reports a long-lived loop whose wait an earlier outage has made longer for good.

use super::{Context, Finding, Group, Rule, scope, wording};
use crate::analysis::policy::Site;
use crate::diagnostic::Level;

pub(super) const RULE: Rule = Rule {
    name: "unreset-backoff",
    group: Group::Strict,
    level: Level::Note,
    page: include_str!("../../rules/unreset-backoff.md"),
    check: Some(check),
};

fn check(site: &Site, _: Context<'_>) -> Option<Finding> {
    let operation = scope::paced(site)?;
    let unreset = site.unreset?;
    Some(Finding {
        confidence: scope::site_confidence(site),
        message: format!(
            "The wait before {} is repeated is not set back after a success",
            wording::operation(operation)
        ),
        why: format!(
            "the first failure after an outage waits {} in place of {}, as long as the process lives",
            wording::seconds(unreset.kept),
            wording::seconds(unreset.first)
        ),
        help: "set the wait back to its first length where the operation has succeeded".to_owned(),
        labels: site.failures.first().map(scope::steps).unwrap_or_default(),
    })
}
