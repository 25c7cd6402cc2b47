//! Reports a wait between the last failure and giving up.

use super::{Context, Finding, Group, Rule, scope, wording};
use crate::analysis::policy::{Exhaustion, FailurePath, Site, Wait};
use crate::diagnostic::{Label, Level};
use crate::source::Span;

pub(super) const RULE: Rule = Rule {
    name: "sleep-after-last-attempt",
    group: Group::Pace,
    level: Level::Warning,
    page: include_str!("../../rules/sleep-after-last-attempt.md"),
    check: Some(check),
};

/// A wait of fewer seconds is noticed by nobody.
const NOTICED: f64 = 0.1;

fn check(site: &Site, _: Context<'_>) -> Option<Finding> {
    let operation = scope::outcome(site)?;
    let path = scope::surest(site, |path| useless_wait(path).is_some())?;
    let (wait, at) = useless_wait(path)?;
    let mut labels = scope::steps(path);
    labels.push(Label { file: None, span: at, text: "this also waits when no attempt follows".to_owned() });
    let length = length(wait).map_or_else(String::new, |length| format!(" for {length}"));
    let count = wording::attempts_on(site, path)
        .map_or_else(|| "the last attempt".to_owned(), |attempts| format!("the last of {attempts}"));
    Some(Finding {
        // Which failures are repeated, and what is done about them on the way, takes nothing from the wait after the last.
        confidence: scope::site_confidence(site),
        message: format!("After {count} at {} the code still waits, then gives up", wording::operation(operation)),
        why: if matches!(path.exhaustion, Exhaustion::Raises | Exhaustion::FailureValue) {
            format!("the caller is kept{length} from an error that is already certain")
        } else {
            format!("what follows is held up{length} for nothing: no attempt comes after this wait")
        },
        help: "leave as soon as the last attempt has failed, and wait only where another one follows".to_owned(),
        labels,
    })
}

/// The wait after the last attempt. A first attempt that no other follows is not the last of several: whatever waits
/// after it waits for something else.
fn useless_wait(path: &FailurePath) -> Option<(Wait, Span)> {
    let noticed = |wait: &Wait| wait.unknown && wait.high > 0.0 || wait.high >= NOTICED;
    path.wait_after_last.filter(|(wait, _)| path.attempts != Some(1) && noticed(wait))
}

/// "16 s", "16 to 17 s"; `None` where it is not known.
fn length(wait: Wait) -> Option<String> {
    match wait {
        Wait { unknown: true, .. } => None,
        Wait { low, high, .. } if !high.is_finite() => {
            (low > 0.0).then(|| format!("at least {}", wording::seconds(low)))
        }
        Wait { low, high, .. } if high - low < 0.005 => Some(wording::seconds(high)),
        Wait { high, .. } => Some(format!("up to {}", wording::seconds(high))),
    }
}
