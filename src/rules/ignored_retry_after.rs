//! Reports a 429 or 503 that is asked again without a look at the server's `Retry-After`.

use super::{Context, Finding, Group, Rule, scope, wording};
use crate::analysis::policy::{Cause, FailurePath, RetryAfter, Site};
use crate::analysis::status::StatusSet;
use crate::diagnostic::{Confidence, Label, Level};

pub(super) const RULE: Rule = Rule {
    name: "ignored-retry-after",
    group: Group::Server,
    level: Level::Warning,
    page: include_str!("../../rules/ignored-retry-after.md"),
    check: Some(check),
};

fn check(site: &Site, _: Context<'_>) -> Option<Finding> {
    // A loop further in that repeats the operation is nearer to the answer: it reports.
    let inner = site.layers.iter().skip(1).any(|layer| layer.explicit);
    let operation = scope::remote(site).filter(|_| !inner)?;
    let path = scope::surest(site, ignores)?;
    let mut labels = scope::steps(path);
    let lost = if let RetryAfter::Lost(span) = path.retry_after {
        labels.push(Label { file: None, span, text: "the header is lost here".to_owned() });
        ", and the answer that carried it is thrown away"
    } else {
        ""
    };
    // The other paths of which the same can be said are named with it.
    let (sure, lost_here) = (scope::confidence(site, path), matches!(path.retry_after, RetryAfter::Lost(_)));
    let alike = |other: &&FailurePath| {
        let same = matches!(other.retry_after, RetryAfter::Lost(_)) == lost_here && other.picked == path.picked;
        ignores(other) && same && scope::confidence(site, other) == sure
    };
    let statuses = site.failures.iter().filter(alike).fold(StatusSet::EMPTY, |set, path| set.or(&advised(path)));
    let statuses = wording::statuses(&statuses, "and");
    Some(Finding {
        // Whether these statuses are among those that are picked is a guess.
        confidence: if path.picked || scope::is_beside(operation) { Confidence::Low } else { sure },
        message: format!("{} is repeated on {statuses} with `Retry-After` unread{lost}", wording::subject(operation)),
        why:
            "the server says in this header how long it will refuse; what is sent before that time is refused too, and \
              many servers then refuse for longer"
                .to_owned(),
        help:
            "read `Retry-After`, as seconds and as a date, and wait at least that long; where it is too long, give up"
                .to_owned(),
        labels,
    })
}

fn ignores(path: &FailurePath) -> bool {
    let unread = matches!(path.retry_after, RetryAfter::Ignored | RetryAfter::Lost(_));
    unread && !path.new_input && !advised(path).is_empty()
}

/// The statuses of the path that come with advice. An error that carries its response can be either of them.
fn advised(path: &FailurePath) -> StatusSet {
    let advice = StatusSet::advised();
    match &path.cause {
        Cause::Status(set) => set.and(&advice),
        Cause::Exception { .. } => advice,
        Cause::Value | Cause::Interrupt | Cause::Ended => StatusSet::EMPTY,
    }
}
