//! Reports error statuses that take the way out that success takes, unmarked.

use super::{Context, Finding, Group, Rule, scope, wording};
use crate::analysis::policy::{Exit, ExitKind, Site};
use crate::analysis::status::StatusSet;
use crate::diagnostic::{Label, Level};

pub(super) const RULE: Rule = Rule {
    name: "error-returned-as-success",
    group: Group::Outcome,
    level: Level::Warning,
    page: include_str!("../../rules/error-returned-as-success.md"),
    check: Some(check),
};

fn check(site: &Site, _: Context<'_>) -> Option<Finding> {
    let operation = scope::remote(site)?;
    let mut unmarked = StatusSet::EMPTY;
    let mut labels = Vec::new();
    for exit in &site.exits {
        let errors = passed_off(exit);
        if !errors.is_empty() {
            unmarked = unmarked.or(&errors);
            let text = format!("the way out of a success, and of {}", wording::statuses(&errors, "and"));
            labels.push(Label { file: None, span: exit.span, text });
        }
    }
    if unmarked.is_empty() {
        return None;
    }
    Some(Finding {
        confidence: scope::site_confidence(site),
        message: format!(
            "Error answers to {} leave the retry as if they were successes: {}",
            wording::operation(operation),
            named(&unmarked),
        ),
        why: consequence(&unmarked).to_owned(),
        help: "return only what succeeded: raise on every other error status, and wait and ask again on 429".to_owned(),
        labels,
    })
}

/// The error statuses that leave through this exit and are not told from a success.
fn passed_off(exit: &Exit) -> StatusSet {
    let Some(statuses) = exit.statuses.filter(|_| exit.kind == ExitKind::Value) else { return StatusSet::EMPTY };
    let errors = statuses.and(&StatusSet::errors());
    // "Gone already" and "there already", singled out by the code, are what some callers want.
    let settled = StatusSet::of(|status| matches!(status, 404 | 409 | 410 | 412 | 416));
    if errors == statuses && errors.minus(&settled).is_empty() { StatusSet::EMPTY } else { errors }
}

/// The statuses, with 429 by name: it is the one that a retry is for.
fn named(errors: &StatusSet) -> String {
    let text = wording::statuses(errors, "and");
    if errors.contains(429) && !text.contains("429") { format!("{text}, 429 among them") } else { text }
}

fn consequence(errors: &StatusSet) -> &'static str {
    if errors.contains(429) {
        "a refusal for too many requests counts as done: nothing is sent again later, and nobody is told"
    } else {
        "the caller takes an error page for the result, and nobody is told"
    }
}
