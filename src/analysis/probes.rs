//! What is no failure of the operation and comes back to it all the same: interrupts, cancellations, mistakes in the
//! code. Explored apart from the operation's own failures, so that it changes nothing of what is said of those.

use std::rc::Rc;

use super::facts::{local_span, since_failure};
use super::machine::{Machine, Plan, Probe};
use super::policy::{Step, Swallowed};
use super::sites::{Found, Sieve, explore};
use super::state::{Event, Known3, OpInfo, State};
use super::value::Taint;
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
    let place = probe.op.place;
    let plan = Plan { probe: Some(Rc::new(probe)), ..found.plan.clone() };
    let explored = explore(machine, &plan, found.entries.clone(), Sieve::ALL);
    let mut swallowed: Option<Swallowed> = None;
    for finished in &explored.back {
        let Some(failed) = finished.state.failed.as_ref().filter(|failed| failed.op.place == place) else { continue };
        if decides(machine, &finished.state) {
            continue;
        }
        let entry = swallowed.get_or_insert_with(|| Swallowed {
            classes: Vec::new(),
            steps: steps(machine, found, &finished.state, what),
        });
        if let super::state::Failing::Raises(classes) = &failed.how {
            entry.classes.extend(classes.iter().map(ToString::to_string));
            entry.classes.sort();
            entry.classes.dedup();
        }
    }
    swallowed
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
