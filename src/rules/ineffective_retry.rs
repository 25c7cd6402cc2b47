//! Reports a retry that can never repeat anything, or not on a failure that it names.

use super::{Context, Finding, Group, Rule, scope, wording};
use crate::analysis::policy::{Form, IdleWhy, Site};
use crate::diagnostic::{Label, Level};

pub(super) const RULE: Rule = Rule {
    name: "ineffective-retry",
    group: Group::Outcome,
    level: Level::Warning,
    page: include_str!("../../rules/ineffective-retry.md"),
    check: Some(check),
};

fn check(site: &Site, _: Context<'_>) -> Option<Finding> {
    let operation = wording::operation(scope::idle(site)?);
    let idle = site.idle.as_ref()?;
    let subject = wording::sentence_start(&operation);
    let (message, shown, help) = match &idle.why {
        IdleWhy::Once => (
            format!("{subject} is never repeated: there is one attempt in all"),
            "one attempt",
            "count the attempts, not the retries after the first: two are the least that repeat anything",
        ),
        IdleWhy::Leaves => (
            format!(
                "{subject} is never repeated: success and every failure leave the loop over its attempts in the first \
                 turn"
            ),
            "a failure leaves here",
            "let the failures that are worth another attempt go on to the next turn, and leave after the last",
        ),
        IdleWhy::Never(classes) if classes.is_empty() => (
            format!("{subject} is never repeated: what picks the failures to try again takes none that it can have"),
            "takes none of its failures",
            "make the operation fail with what is picked (ask for the status inside of it), or pick what it fails with",
        ),
        IdleWhy::Never(classes) => (
            format!("{subject} is never repeated: it does not fail with {}", paths(classes)),
            "none of its failures",
            "name the errors of the library that sends the request, and ask for the status inside where one is to be \
             tried again",
        ),
        IdleWhy::Unawaited => (
            format!(
                "{subject} is never repeated: the policy calls an `async` function without awaiting it, and to make a \
                 coroutine never fails"
            ),
            "awaits nothing",
            "take a policy that awaits what it calls, in the place of this one",
        ),
        IdleWhy::Elsewhere(target) => (
            format!(
                "{subject} is never repeated: it goes to `{target}`, and what repeats is mounted for addresses that \
                 begin otherwise"
            ),
            "goes elsewhere",
            "mount the adapter for both `https://` and `http://`, or for the address that is asked",
        ),
        IdleWhy::Method(verb) => (
            format!(
                "{subject} is a {verb}, which is repeated only where no connection was made: the policy leaves that \
                 method out"
            ),
            "sent by a method that is left out",
            "where the server takes an idempotency key, send the same one each time and name the method among those \
             that are repeated; else be ready for the first failure",
        ),
        IdleWhy::Shadowed(class, wide) => (
            format!(
                "{subject} is not repeated on `{}`: the handler for `{}` before it takes that, and does not come back",
                wording::last_segment(class),
                wording::last_segment(wide)
            ),
            "never come to",
            "put the handler of the narrower class first",
        ),
    };
    let what = if site.form == Form::Loop { "the loop" } else { "the policy" };
    Some(Finding {
        confidence: scope::site_confidence(site),
        message,
        why: format!("{what} reads as if a passing fault were survived, and the first one is final"),
        help: help.to_owned(),
        labels: vec![Label { file: None, span: idle.span, text: shown.to_owned() }],
    })
}

/// Classes with where they are from: another one may have the same name.
fn paths(classes: &[String]) -> String {
    let mut paths: Vec<String> = classes.iter().map(|path| format!("`{path}`")).collect();
    paths.dedup();
    wording::list(&paths, "or")
}
