//! Reports a batch that is asked for again as a whole because one of its items failed.

use super::{Context, Finding, Group, Rule, scope, wording};
use crate::analysis::policy::{Cause, Known, Site};
use crate::diagnostic::{Label, Level};

pub(super) const RULE: Rule = Rule {
    name: "batch-replay",
    group: Group::Layers,
    level: Level::Warning,
    page: include_str!("../../rules/batch-replay.md"),
    check: Some(check),
};

fn check(site: &Site, _: Context<'_>) -> Option<Finding> {
    let operation = scope::outcome(site).filter(|it| it.remote == Known::Yes && !it.passed_in)?;
    let batch = site.batch?;
    let path = scope::surest(site, |path| !path.new_input && !matches!(path.cause, Cause::Interrupt | Cause::Ended))?;
    let passes = site.max_attempts.map_or_else(String::new, |passes| format!(", {passes} times in all"));
    let mut labels = scope::steps(path);
    labels.push(Label { file: None, span: batch.span, text: "from the first item again".to_owned() });
    Some(Finding {
        confidence: scope::confidence(site, path),
        message: format!(
            "{} is repeated for all items because one of them failed{passes}: those that had succeeded are asked for again",
            wording::subject(operation),
        ),
        why: "a pass costs as many requests as the batch has items, however few are missing, and the more items there are \
              the surer one of them fails in every pass"
            .to_owned(),
        help: "remember which items have succeeded and go on with the others alone, or repeat the single item in one \
               place"
            .to_owned(),
        labels,
    })
}
