//! Which sites a rule may speak of, and how sure it can be of them: the gates that the rules share.
//!
//! A site's role decides which groups of rules apply; whether its operation leaves the process decides whether there is
//! a server that could be hurt at all. What is not known lowers the confidence and never raises it.

use crate::analysis::policy::{Bound, FailurePath, Form, Known, Operation, Role, Site};
use crate::diagnostic::{Confidence, Label};

/// For rules about the number of attempts: work that leaves the process and is repeated because it failed or is not
/// ready. A daemon and a poll have no such number.
pub(super) fn bounded(site: &Site) -> Option<&Operation> {
    operation(site, &[Role::Retry, Role::Probe])
}

/// For rules about the wait between attempts: whoever asks again must wait.
pub(super) fn paced(site: &Site) -> Option<&Operation> {
    operation(site, &[Role::Retry, Role::Probe, Role::Polling, Role::Daemon])
}

/// For rules about what leaves a retry: the caller waits for the result.
pub(super) fn outcome(site: &Site) -> Option<&Operation> {
    operation(site, &[Role::Retry])
}

/// For rules about servers, replay and time limits: a retry whose operation is known to leave the process.
pub(super) fn remote(site: &Site) -> Option<&Operation> {
    // What a layer further in repeats already is reported there.
    let inner = !site.failures.is_empty() && site.failures.iter().all(|path| path.inner);
    // A second try with another credential is another request, not the same one again.
    let other = site.form == Form::StraightLine && !site.failures.is_empty();
    let other = other && site.failures.iter().all(|path| path.repaired);
    outcome(site).filter(|operation| operation.remote == Known::Yes && !operation.passed_in && !inner && !other)
}

/// For what was meant to be repeated and never is.
pub(super) fn idle(site: &Site) -> Option<&Operation> {
    operation(site, &[Role::Idle, Role::Retry, Role::Probe, Role::Daemon])
}

fn operation<'a>(site: &'a Site, roles: &[Role]) -> Option<&'a Operation> {
    let applies = !site.in_test && roles.contains(&site.role);
    site.operation().filter(|operation| applies && operation.remote != Known::No)
}

/// How sure a finding about this path is.
pub(super) fn confidence(site: &Site, path: &FailurePath) -> Confidence {
    let sure = site_confidence(site);
    if path.uncertain { lower(sure) } else { sure }
}

/// How sure a finding is that rests on no failure path.
pub(super) fn site_confidence(site: &Site) -> Confidence {
    let known = site
        .operation()
        .is_some_and(|operation| operation.remote == Known::Yes && !operation.passed_in && !operation.likely);
    // A service that calls something of which nothing is known may well be working.
    let service = site.role == Role::Daemon && site.operation().is_some_and(|operation| !operation.passed_in);
    let sure = match (known, service) {
        (true, _) => Confidence::High,
        (false, false) => Confidence::Medium,
        (false, true) => Confidence::Low,
    };
    if site.cut { lower(sure) } else { sure }
}

/// Whether what is asked runs on the same machine, as its address says: no server that others share, and it is waited for
/// until it has come up.
pub(super) fn is_beside(operation: &Operation) -> bool {
    let host = operation.target.as_deref().and_then(|target| target.split_once("://")).map(|(_, rest)| rest);
    host.is_some_and(|host| ["localhost", "127.0.0.1", "0.0.0.0", "[::1]"].iter().any(|near| host.starts_with(near)))
}

/// One step less.
pub(super) fn lower(confidence: Confidence) -> Confidence {
    match confidence {
        Confidence::High => Confidence::Medium,
        Confidence::Medium | Confidence::Low => Confidence::Low,
    }
}

/// Why a counter or deadline of the site does not bound it, and on which path.
pub(super) fn broken_bound(site: &Site) -> Option<(&str, Option<&FailurePath>)> {
    let path = site.failures.iter().find(|path| matches!(path.bound, Bound::Broken(_)));
    let bound = path.map_or(&site.bound, |path| &path.bound);
    if let Bound::Broken(why) = bound { Some((why, path)) } else { None }
}

/// Of the paths for which a rule would report, the one that it is surest of; the first among equals.
pub(super) fn surest(site: &Site, mut offends: impl FnMut(&FailurePath) -> bool) -> Option<&FailurePath> {
    let mut best: Option<&FailurePath> = None;
    for path in site.failures.iter().filter(|path| offends(path)) {
        if best.is_none_or(|known| confidence(site, path) > confidence(site, known)) {
            best = Some(path);
        }
    }
    best
}

/// The steps of a failure path, as labels.
pub(super) fn steps(path: &FailurePath) -> Vec<Label> {
    path.steps.iter().map(|step| Label { file: None, span: step.span, text: step.text.clone() }).collect()
}
