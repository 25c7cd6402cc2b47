//! Reports a retry of everything, mistakes in the code among it.

use super::{Context, Finding, Group, Rule, scope, wording};
use crate::analysis::policy::{Site, Step};
use crate::diagnostic::{Label, Level};

pub(super) const RULE: Rule = Rule {
    name: "catch-all-retry",
    group: Group::Strict,
    level: Level::Note,
    page: include_str!("../../rules/catch-all-retry.md"),
    check: Some(check),
};

fn check(site: &Site, _: Context<'_>) -> Option<Finding> {
    // A service is right to outlive any error.
    let operation = scope::outcome(site)?;
    let defects = site.defects.as_ref()?;
    let label = |step: &Step| Label { file: None, span: step.span, text: step.text.clone() };
    Some(Finding {
        confidence: scope::site_confidence(site),
        message: format!(
            "{} is repeated whatever it raises, {} too",
            wording::subject(operation),
            wording::classes(&defects.classes)
        ),
        why: "a mistake in the code fails the same each time: its traceback comes late or never, and the attempts are \
              for nothing"
            .to_owned(),
        help: "name the errors that can pass with time (connections, time limits, certain statuses), and let the \
               others out at once"
            .to_owned(),
        labels: defects.steps.iter().map(label).collect(),
    })
}
