//! Whether something that outlives the attempts has a say in whether there is another one: what tasks that run at once
//! can have in common.

use super::facts::{Group, since_failure};
use super::machine::{Finished, Machine};
use super::sites::Found;
use super::state::{Event, State};
use super::value::{Node, Place, SymId, Taint, Value};

/// Whether, on a way back, something is asked that is neither the failure nor the site's own count or clock, and the other
/// answer leaves; or a number is kept and compared that was there before the first attempt.
pub(super) fn is_shared(machine: &Machine<'_>, found: &Found<'_>, group: &Group) -> bool {
    let leaves: Vec<(Place, bool)> = found.explored.out.iter().flat_map(|finished| asked(machine, finished)).collect();
    let decides = |(place, taken): &(Place, bool)| leaves.contains(&(*place, !taken));
    group.paths.iter().any(|path| asked(machine, path).iter().any(decides) || keeps_count(found, path))
}

/// What was asked after the failure of something that is not this site's alone, with the answers.
fn asked(machine: &Machine<'_>, finished: &Finished) -> Vec<(Place, bool)> {
    let outside = Taint::CALL.or(Taint::STATE).or(Taint::FLAG);
    let own = Taint::FAILURE.or(Taint::COUNTER).or(Taint::CLOCK);
    let events: Vec<Event> = finished.state.events().into_iter().cloned().collect();
    let test = |event: &Event| match event {
        Event::Decide { sym, taken, place, .. } => {
            let info = machine.symbols.info(*sym)?;
            // What a call made of something that was given (a count that others have too) is no setting.
            let mut is_call = |part: &Value| match part {
                Value::Sym(id) => machine.symbols.info(*id).is_some_and(|info| matches!(info.node, Node::Call(..))),
                _ => false,
            };
            let others = info.taint.has(outside)
                || info.taint.has(Taint::INPUT) && machine.symbols.mentions(&Value::Sym(*sym), &mut is_call);
            (others && !info.taint.has(own)).then_some((*place, *taken))
        }
        _ => None,
    };
    since_failure(&events).iter().filter_map(test).collect()
}

/// Whether a number of something that was there before was changed on the way, and numbers were compared.
fn keeps_count(found: &Found<'_>, path: &Finished) -> bool {
    let state = &path.state;
    let compared = state.events().iter().any(|event| matches!(event, Event::Apart(..) | Event::Counted(_)));
    let was_there = |entry: &State, id: &SymId| entry.versions.contains_key(id) || !state.versions.contains_key(id);
    let is_number = |value: &Value| matches!(value, Value::Num(_));
    compared
        && found.entries.iter().any(|entry| {
            let attributes = state.heap.iter().filter(|(_, value)| is_number(value));
            let mut attributes = attributes.filter(|((id, _), _)| was_there(entry, id));
            let mut globals = state.globals.iter().filter(|(_, value)| is_number(value));
            attributes.any(|(key, value)| entry.heap.get(key) != Some(value))
                || globals.any(|(key, value)| entry.globals.get(key) != Some(value))
        })
}
