//! What is waited for: until something is there, until it works. Nobody wants more of it than that.

use super::machine::{End, Finished, Machine};
use super::sites::Explored;
use super::state::{Event, Failing, Known3, OpInfo};
use super::status::StatusSet;
use super::value::Value;

/// Whether nothing but "there is no such thing" comes back, after a wait: what is asked for is not there yet, and every
/// true failure leaves.
pub(super) fn waits_until_there(explored: &Explored) -> bool {
    explored.back.iter().all(|finished| {
        let missing =
            finished.state.refusal().is_some_and(|set| !set.is_empty() && set.minus(&StatusSet::one(404)).is_empty());
        missing && finished.state.events().iter().any(|event| matches!(event, Event::Wait { .. }))
    })
}

/// Whether all that is wanted is that it works: a connection is opened and nothing is done with it, or something is read
/// and nothing of the answer is looked at but its status. Somebody waits until that can be done.
pub(super) fn only_looks(machine: &Machine<'_>, explored: &Explored) -> bool {
    let connects = |finished: &Finished| {
        finished.state.failed.as_ref().is_some_and(|failed| {
            let reads = matches!(failed.op.method.as_deref(), Some("GET" | "HEAD"));
            failed.op.remote == Known3::Yes && if failed.op.http { reads } else { failed.op.idempotent == Some(true) }
        })
    };
    // What is called on the way and not waited for (whether a process still runs) is no second thing that is wanted.
    let wanted = |op: &OpInfo| op.remote == Known3::Yes || op.awaited;
    let failed = || explored.back.iter().filter_map(|finished| finished.state.failed.as_ref());
    let of_it = |value: &Value| match value {
        Value::Sym(sym) => failed().any(|failed| failed.op.result == Some(*sym)),
        Value::Resp(place) | Value::Body(place) | Value::Headers(place) | Value::Status(place, _) => {
            failed().any(|failed| failed.op.place == *place)
        }
        // What was put into a collection is not looked for.
        Value::Object(_) => true,
        _ => false,
    };
    let nothing_else = |finished: &Finished| {
        // An answer, or a connection, that is let go was there to see whether it comes, whatever is given then.
        let given = match &finished.end {
            End::Return(value, ..) => says_only_that(value) || !machine.symbols.mentions(value, &mut { of_it }),
            _ => false,
        };
        let unread = !finished.state.events().iter().any(|event| matches!(event, Event::ReadBody(_)));
        let events = finished.state.events();
        let uses = |info: &OpInfo| failed().any(|failed| info.sources.contains(&failed.op.place));
        let wants = |event: &&&Event| matches!(event, Event::Op(info) if wanted(info) || uses(info));
        given && unread && events.iter().filter(wants).count() <= 1
    };
    let told = |how: &Failing| matches!(how, Failing::Test(sym, _) if !machine.is_error_test(*sym));
    let asked = |finished: &&Finished| {
        finished.state.failed.as_ref().is_some_and(|failed| wanted(&failed.op) || !told(&failed.how))
    };
    let mut asked = explored.back.iter().filter(asked).peekable();
    asked.peek().is_some() && asked.all(connects) && explored.done.iter().all(nothing_else)
}

/// Whether a value says that something worked, and nothing else.
fn says_only_that(value: &Value) -> bool {
    match value {
        Value::None | Value::Bool(..) => true,
        Value::Variant(_, _, args) => args.iter().all(says_only_that),
        Value::Tuple(items) => items.is_empty(),
        _ => false,
    }
}
