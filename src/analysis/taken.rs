//! How the code itself takes a failure: for one that passes, or for one of several that it parts; and where it takes the
//! length of its wait from: the server, or the error.

use super::facts::{Group, since_failure};
use super::machine::{Finished, Machine};
use super::policy::{Bound, Cause, Role};
use super::sites::Found;
use super::state::{Event, Failing, Known3};
use super::value::{Place, Taint, Value};

/// Whether the length of a wait is what the server said: its advice, or anything else that the answer holds.
fn is_of_server(machine: &Machine<'_>, length: &Value) -> bool {
    machine.symbols.taint(length).has(Taint::SERVER)
        || machine.symbols.mentions(length, &mut |part| matches!(part, Value::Headers(_) | Value::Body(_)))
}

/// Whether it is waited on a path back for as long as the answer, or the error that came in its place, says.
pub(super) fn waits_as_told(machine: &Machine<'_>, group: &Group, path: &Finished) -> bool {
    let events: Vec<Event> = path.state.events().into_iter().cloned().collect();
    since_failure(&events).iter().any(|event| match event {
        Event::Wait { value, .. } => is_of_server(machine, value) || is_of_error(machine, group, value),
        _ => false,
    })
}

/// Whether it is waited on a path back for as long as the very answer says that is a failure: in a header of its own, or in
/// its body.
pub(super) fn follows_its_answer(machine: &Machine<'_>, group: &Group, path: &Finished) -> bool {
    let events: Vec<Event> = path.state.events().into_iter().cloned().collect();
    let answer = group.op.place;
    let mut of_answer = |part: &Value| matches!(part, Value::Headers(of) | Value::Body(of) if *of == answer);
    since_failure(&events).iter().any(|event| match event {
        Event::Wait { value, .. } => machine.symbols.mentions(value, &mut of_answer),
        _ => false,
    })
}

/// Whether a length was taken out of the error with which the operation failed, and is not made of a count.
pub(super) fn is_of_error(machine: &Machine<'_>, group: &Group, length: &Value) -> bool {
    let proper = match &group.how {
        Failing::Test(sym, _) => machine.is_error_test(*sym),
        Failing::Raises(_) => true,
        Failing::Status(_) | Failing::Elapsed(_) => false,
    };
    let result = group.op.result.map(Value::Sym);
    let mut error = |part: &Value| matches!(part, Value::Exc(_)) || Some(part) == result.as_ref();
    proper && !machine.symbols.taint(length).has(Taint::COUNTER) && machine.symbols.mentions(length, &mut error)
}

/// Whether the code itself takes an error of something that is waited for as one that passes, whichever of its kinds
/// come back: it counts the attempts, waits for as long as the error says, or lets everything come back but what it
/// names.
pub(super) fn counts_as_failure(
    machine: &Machine<'_>,
    found: &Found<'_>,
    group: &Group,
    cause: &Cause,
    bound: &Bound,
) -> bool {
    if !matches!(cause, Cause::Exception { .. }) || !(group.op.awaited || group.op.remote == Known3::Yes) {
        return false;
    }
    let counted = matches!(bound, Bound::Count(_) | Bound::Both(..) | Bound::Caller);
    counted
        || group.paths.iter().any(|path| waits_as_told(machine, group, path))
        || (found.role != Role::Polling && group.paths.iter().all(|path| is_left_over(machine, path)))
}

/// Whether nothing on a path back says what the failure is: only what it is not.
fn is_left_over(machine: &Machine<'_>, path: &Finished) -> bool {
    let events: Vec<Event> = path.state.events().into_iter().cloned().collect();
    let mut asked = since_failure(&events).iter().take_while(|event| !matches!(event, Event::Turn(_)));
    !asked.any(|event| match event {
        Event::Decide { sym, taken, .. } => {
            let of_failure =
                machine.symbols.info(*sym).is_some_and(|info| info.taint.has(Taint::FAILURE.or(Taint::CALL)));
            of_failure && machine.symbols.affirms(*sym, *taken)
        }
        _ => false,
    })
}

/// Whether each path back takes a side of an unknown test of the answer whose other side does not come back.
pub(super) fn is_picked(machine: &Machine<'_>, found: &Found<'_>, group: &Group) -> bool {
    let tests = |finished: &Finished| -> Vec<(Place, bool)> {
        let events: Vec<Event> = finished.state.events().into_iter().cloned().collect();
        let test = |event: &Event| match event {
            Event::Decide { sym, taken, place, .. } => {
                let of_answer = Taint::FAILURE.or(Taint::CALL);
                let of_status = |part: &Value| matches!(part, Value::Status(of, _) if *of == group.op.place);
                let tainted = machine.symbols.info(*sym).is_some_and(|info| info.taint.has(of_answer));
                let asks = tainted || machine.symbols.mentions(&Value::Sym(*sym), &mut { of_status });
                asks.then_some((*place, *taken))
            }
            _ => None,
        };
        // What is asked before the next attempt is made says nothing of the answer to the last.
        since_failure(&events).iter().take_while(|event| !matches!(event, Event::Turn(_))).filter_map(test).collect()
    };
    // What is asked later parts the statuses further.
    let alike = |how: &Failing| match (how, &group.how) {
        (Failing::Status(of), Failing::Status(these)) => !of.and(these).is_empty(),
        (how, these) => how == these,
    };
    let same = |finished: &&Finished| {
        finished.state.failed.as_ref().is_some_and(|failed| failed.op.place == group.op.place && alike(&failed.how))
    };
    let out: Vec<Vec<(Place, bool)>> = found.explored.out.iter().filter(same).map(tests).collect();
    let decides = |(place, taken): &(Place, bool)| out.iter().any(|path| path.contains(&(*place, !taken)));
    group.paths.iter().all(|path| tests(path).iter().any(decides))
}
