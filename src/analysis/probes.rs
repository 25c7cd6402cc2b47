//! What is no failure of the operation and comes back to it all the same: interrupts, cancellations, mistakes in the
//! code. Explored apart from the operation's own failures, so that it changes nothing of what is said of those.

use std::rc::Rc;

use super::facts::{local_span, since_failure};
use super::machine::{Machine, Plan, Probe};
use super::policy::{Step, Swallowed};
use super::sites::{Found, Sieve, explore};
use super::state::{Event, Known3, Object, OpInfo, State};
use super::value::{Taint, Value};
use crate::ir::{Block, Term};
use crate::models::Occurs;

/// The interrupts and cancellations that come back to the operation.
pub(super) fn interrupts(machine: &mut Machine<'_>, found: &Found<'_>, op: &Rc<OpInfo>) -> Option<Swallowed> {
    let mut classes = raised(machine, Occurs::Call);
    if op.awaited {
        classes.extend(raised(machine, Occurs::Await));
    }
    probe(machine, found, Probe { op: op.clone(), classes: classes.into(), flags: true }, "is interrupted")
}

/// The mistakes in the code that come back to the operation.
pub(super) fn defects(machine: &mut Machine<'_>, found: &Found<'_>, op: &Rc<OpInfo>) -> Option<Swallowed> {
    let classes = raised(machine, Occurs::Defect);
    if classes.is_empty() {
        return None;
    }
    probe(machine, found, Probe { op: op.clone(), classes: classes.into(), flags: false }, "raises")
}

/// The classes that are raised so, whatever is called.
pub(super) fn classes<'a>(machine: &Machine<'a>, occurs: Occurs) -> impl Iterator<Item = &'a str> + use<'a> {
    let entries = machine.models(machine.file).entries().iter().filter(move |entry| entry.occurs == Some(occurs));
    entries.filter_map(|entry| Some(entry.functions.first()?.as_str()))
}

fn raised(machine: &Machine<'_>, occurs: Occurs) -> Vec<Rc<str>> {
    classes(machine, occurs).map(Rc::from).collect()
}

fn probe(machine: &mut Machine<'_>, found: &Found<'_>, probe: Probe, what: &str) -> Option<Swallowed> {
    if op_is_local(&probe.op) {
        return None;
    }
    let (place, probed) = (probe.op.place, probe.classes.len());
    let mut plan = Plan { probe: Some(Rc::new(probe)), ..found.plan.clone() };
    let explored = explore(machine, &mut plan, found.entries.clone(), Sieve::ALL);
    let mut swallowed: Option<Swallowed> = None;
    for finished in &explored.back {
        let Some(failed) = finished.state.failed.as_ref().filter(|failed| failed.op.place == place) else { continue };
        let guessed = finished.state.guessed && !found.entries.iter().any(|entry| entry.guessed);
        if decides(machine, &finished.state) || guessed && is_by_policy(machine, found) {
            continue;
        }
        let entry = swallowed.get_or_insert_with(|| Swallowed {
            classes: Vec::new(),
            spared: false,
            steps: steps(machine, found, &finished.state, what),
        });
        if let super::state::Failing::Raises(classes) = &failed.how {
            entry.classes.extend(classes.iter().map(ToString::to_string));
            entry.classes.sort();
            entry.classes.dedup();
        }
    }
    swallowed.map(|found_out| {
        let spared = (1..probed).contains(&found_out.classes.len()) && is_by_policy(machine, found);
        Swallowed { spared, ..found_out }
    })
}

/// Whether the policy of a library decides what comes back: it runs the loop, or the loop goes through its attempts.
fn is_by_policy(machine: &mut Machine<'_>, found: &Found<'_>) -> bool {
    if found.limit.is_some() {
        return true;
    }
    let head = found.plan.head.and_then(|head| machine.project.function(found.looped)?.block(head));
    let (Some(Block { term: Term::Next { iter, .. }, .. }), Some(entry)) = (head, found.entries.first()) else {
        return false;
    };
    let mut entry = entry.clone();
    let Value::Object(id) = machine.read(&mut entry, *iter) else { return false };
    let policy = entry.objects.get(&id).cloned();
    matches!(policy, Some(Object::Unknown(policy, _)) if machine.is_policy(machine.file, &policy))
}

fn op_is_local(op: &OpInfo) -> bool {
    op.remote == Known3::No
}

/// Whether something that cannot be seen through, or that looks at the failure, decides that the path comes back.
fn decides(machine: &Machine<'_>, state: &State) -> bool {
    let events: Vec<Event> = state.events().into_iter().cloned().collect();
    let unsure = Taint::FAILURE.or(Taint::CALL).or(Taint::FLAG);
    since_failure(&events).iter().take_while(|event| !matches!(event, Event::Turn(_))).any(|event| match event {
        Event::Decide { sym, .. } => machine.symbols.info(*sym).is_some_and(|info| info.taint.has(unsure)),
        Event::Flag => true,
        _ => false,
    })
}

fn steps(machine: &Machine<'_>, found: &Found<'_>, state: &State, what: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    for event in state.events() {
        let (at, text) = match event {
            Event::Fail(_, super::state::Failing::Raises(classes), at) if classes.is_empty() => {
                (*at, "is cancelled here".to_owned())
            }
            Event::Fail(info, super::state::Failing::Raises(classes), _) => {
                let class = classes.first().map_or("", |class| super::memory::last_part(class));
                let at = if info.at.file == machine.file { info.at } else { info.base };
                (at, format!("{what}: {class}"))
            }
            Event::Caught(at) => (*at, "is caught here".to_owned()),
            Event::Turn(at) => (*at, "goes back to the operation".to_owned()),
            _ => continue,
        };
        if at.file == machine.file && steps.len() < 6 {
            steps.push(Step { span: local_span(machine, found, at), text });
        }
    }
    steps.dedup();
    steps
}
