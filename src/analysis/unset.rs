//! What a program does by itself, where nothing is set from outside and nothing given: its defaults.

use super::machine::{Machine, is_once};
use super::state::State;
use super::value::{Node, Taint, Value};

/// Of the states that differ in whether something was set from outside, those where it was not: what the program does
/// by itself.
pub(super) fn keep(machine: &Machine<'_>, states: &mut Vec<State>) {
    let is_set = |state: &State| {
        state.decided.iter().any(|(sym, truth)| {
            machine.symbols.info(*sym).is_some_and(|info| match info.node {
                Node::IsSuccess(_) | Node::Truth(_) => *truth,
                Node::IsNone(_) => !*truth,
                _ => false,
            } && info.taint.has(Taint::SETTING))
        })
    };
    if states.iter().any(|state| !is_set(state)) {
        states.retain(|state| !is_set(state));
    }
    let defaults: Vec<bool> =
        states.iter().map(|given| states.iter().any(|own| stands_in(machine, own, given))).collect();
    let mut defaults = defaults.into_iter();
    states.retain(|_| !defaults.next().unwrap_or_default());
}

/// Whether a number of the program's own stands on one path where on another is what was given, and was asked whether it
/// is there at all: a default, as that of a parameter is. Nought and one may stand for "not at all".
fn stands_in(machine: &Machine<'_>, own: &State, given: &State) -> bool {
    let (Some(frame), Some(other)) = (own.top(), given.top()) else { return false };
    let asked = |value: &Value| {
        given.decided.iter().any(|(sym, truth)| {
            let there = machine.symbols.info(*sym).and_then(|info| match &info.node {
                Node::IsSuccess(of) | Node::Truth(of) => Some((of, *truth)),
                Node::IsNone(of) => Some((of, !*truth)),
                _ => None,
            });
            let Some((of, true)) = there else { return false };
            own.decided.get(sym).is_some_and(|other| other != truth)
                && !machine.symbols.taint(of).has(Taint::FAILURE.or(Taint::RANDOM).or(Taint::CLOCK))
                && machine.symbols.mentions(value, &mut |part| part == of)
        })
    };
    let default = |number: &Value, value: &Value| match (number, value) {
        (Value::Num(_), Value::Sym(_)) => !is_once(number) && asked(value),
        _ => false,
    };
    // In a variable, or in a field of an object that was made with it.
    let mut slots = frame.slots.iter().zip(other.slots.iter());
    let mut fields = own.heap.iter();
    slots.any(|(own, other)| own.as_ref().zip(other.as_ref()).is_some_and(|(own, other)| default(own, other)))
        || fields.any(|(field, value)| given.heap.get(field).is_some_and(|other| default(value, other)))
}
