//! Batches that are asked for again as a whole because one of their items failed.
//!
//! An item of a collection is the same piece of work whenever the same collection is gone through from its beginning. What
//! comes back to such an item, after a failure in a turn in which others had succeeded, asks for those again too, unless
//! something is asked of the item before it is sent: whoever does that may know which are done.

use super::facts::Group;
use super::machine::{Finished, Machine};
use super::policy::{Batch, Role};
use super::sites::Found;
use super::state::Event;
use super::value::{Node, Place, SymId, Taint, Value};

/// The items that a group's ways back ask for again, if they do.
pub(super) fn replayed(machine: &Machine<'_>, found: &Found<'_>, group: &Group) -> Option<Batch> {
    // What is only taken for a request, by its answer, may as well be what an answer passes through.
    if found.role != Role::Retry || group.op.likely {
        return None;
    }
    let mut roots = Vec::new();
    group.op.inputs.iter().for_each(|input| machine.symbols.collect_roots(input, &mut roots));
    let item = roots.into_iter().find(|root| is_item(machine, found, *root))?;
    let Node::Item(place) = machine.symbols.info(item)?.node else { return None };
    let goes_on = |finished: &Finished| {
        let events = finished.state.events();
        let mut after = events.iter().skip_while(|event| !is_of(event, group));
        after.next();
        after.any(|event| is_next(machine, event, place))
    };
    // Where the first success ends it, the items are as many ways to one thing.
    if !found.explored.done.iter().any(goes_on) || group.paths.iter().any(|path| is_asked(machine, path, item)) {
        return None;
    }
    let at = machine.loop_at(place)?;
    Some(Batch { span: if at.file == machine.file { at.span } else { found.header } })
}

/// Whether a symbol is an item that was taken inside of what is repeated.
fn is_item(machine: &Machine<'_>, found: &Found<'_>, root: SymId) -> bool {
    let item = machine.symbols.info(root).is_some_and(|info| matches!(info.node, Node::Item(_)));
    item && !found.entries.iter().any(|entry| entry.versions.contains_key(&root))
}

fn is_of(event: &Event, group: &Group) -> bool {
    matches!(event, Event::Op(info) if info.place == group.op.place)
}

/// Whether it was asked whether there is a further item where the last one was taken.
fn is_next(machine: &Machine<'_>, event: &Event, taken_at: Place) -> bool {
    let Event::Decide { sym, place, .. } = event else { return false };
    *place == taken_at && machine.symbols.info(*sym).is_some_and(|info| matches!(info.node, Node::More(..)))
}

/// Whether anything is asked of the item between its being taken and its being sent.
fn is_asked(machine: &Machine<'_>, path: &Finished, item: SymId) -> bool {
    let events = path.state.events();
    let mut before = events.iter().rev().skip_while(|event| !matches!(event, Event::Fail(..)));
    before.next();
    before.take_while(|event| !matches!(event, Event::Took { .. })).any(|event| match event {
        Event::Decide { sym, .. } => {
            let of_item = |part: &Value| matches!(part, Value::Sym(id) if *id == item);
            let failure = machine.symbols.info(*sym).is_some_and(|info| info.taint.has(Taint::FAILURE));
            !failure && machine.symbols.mentions(&Value::Sym(*sym), &mut { of_item })
        }
        _ => false,
    })
}
