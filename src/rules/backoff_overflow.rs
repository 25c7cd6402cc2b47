//! Reports a growing wait whose numbers come to an end within the attempts that are made.

use super::{Context, Finding, Group, Rule, scope, wording};
use crate::analysis::policy::{Bound, FailurePath, Overflow, Overrun, Site};
use crate::diagnostic::{Confidence, Label, Level};

pub(super) const RULE: Rule = Rule {
    name: "backoff-overflow",
    group: Group::Pace,
    level: Level::Warning,
    page: include_str!("../../rules/backoff-overflow.md"),
    check: Some(check),
};

/// What takes longer than this to come about is told only to those who ask.
const TEN_YEARS: f64 = 315_576_000.0;
/// What takes longer than this needs an outage that is no brief one.
const A_DAY: f64 = 86_400.0;

fn check(site: &Site, _: Context<'_>) -> Option<Finding> {
    let operation = scope::paced(site)?;
    let path = scope::surest(site, |path| path.overflow.is_some() && !path.new_input)?;
    let overflow = path.overflow.as_ref()?;
    let after = overflow.after.map(|after| format!(", about {} after the first failure", wording::long(after)));
    let mut labels = scope::steps(path);
    labels.push(Label { file: None, span: overflow.span, text: "overflows".to_owned() });
    Some(Finding {
        confidence: confidence(site, path, overflow),
        message: format!(
            "The wait before {} is repeated overflows {} before attempt {}{}, and {}",
            wording::operation(operation),
            number(&overflow.sort),
            overflow.attempt,
            after.unwrap_or_default(),
            consequence(&overflow.outcome),
        ),
        why: why(overflow),
        help: "take the smaller of the exponent and a small number before the power is taken, or double the last wait \
               and take the smaller of that and the ceiling each time"
            .to_owned(),
        labels,
    })
}

fn confidence(site: &Site, path: &FailurePath, overflow: &Overflow) -> Confidence {
    let sure = scope::confidence(site, path);
    let never = overflow.after.map_or(!overflow.held, |after| after > TEN_YEARS);
    match path.bound {
        _ if never => Confidence::Low,
        // How many attempts there are is somebody else's choice.
        Bound::Caller | Bound::Count(None) => scope::lower(sure),
        _ => sure,
    }
}

fn number(sort: &str) -> String {
    match sort.chars().next() {
        Some('i') => format!("an `{sort}`"),
        Some('u') => format!("a `{sort}`"),
        _ => format!("a {sort}"),
    }
}

fn consequence(outcome: &Overrun) -> String {
    let wraps = |to: &Option<f64>| match to {
        Some(to) => format!("wraps around to {to}"),
        None => "wraps around".to_owned(),
    };
    match outcome {
        Overrun::Raises(class) => format!("raises `{}`", wording::last_segment(class)),
        Overrun::Panics => "panics".to_owned(),
        Overrun::Wraps { checked: true, to } => format!("panics in a debug build and {} in a release build", wraps(to)),
        Overrun::Wraps { checked: false, to } => wraps(to),
        Overrun::Turns => {
            "panics in a debug build and shifts by 0 bits in a release build, as at the beginning".to_owned()
        }
    }
}

fn why(overflow: &Overflow) -> String {
    let what = match &overflow.outcome {
        Overrun::Raises(_) | Overrun::Panics if overflow.held => {
            "the ceiling comes too late, since it is taken of a number that cannot be made: what is to outlast an outage \
             ends with an error of its own arithmetic"
        }
        Overrun::Raises(_) | Overrun::Panics => {
            "what is to outlast an outage ends with an error of its own arithmetic, which nobody looks for"
        }
        Overrun::Wraps { to: Some(to), .. } if *to == 0.0 => {
            "the wait is gone in the middle of an outage, and the request is sent again at once"
        }
        Overrun::Wraps { .. } | Overrun::Turns => {
            "the wait is any number from then on, and a short one as likely as not, in the middle of an outage"
        }
    };
    match overflow.after {
        Some(after) if after > A_DAY => format!("{what}; only an outage of {} gets there", wording::long(after)),
        _ => what.to_owned(),
    }
}
