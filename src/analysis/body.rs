//! Bodies that the first attempt reads to their end: files, streams, forms and generators that are sent again as they
//! are, neither wound back nor made anew.

use super::facts::{Group, since_failure};
use super::machine::Machine;
use super::memory::last_part;
use super::policy::UsedUp;
use super::state::{Event, Object, State};
use super::value::{Node, SymId, Type, Value};

/// The type of what a generator function of the project gives.
pub(super) const GENERATOR: &str = "a generator";

/// The body that the ways back send again used up, if there is one: on some of them there may be none to send.
pub(super) fn used_up(machine: &Machine<'_>, group: &Group) -> Option<UsedUp> {
    let mut found = None;
    for path in &group.paths {
        let sends = path.state.failed.as_ref().map_or(&group.op.body, |failed| &failed.op.body);
        let Some(sent) = sends.iter().find_map(|value| once(machine, &path.state, value, 3)) else { continue };
        let events: Vec<Event> = path.state.events().into_iter().cloned().collect();
        let renewed = |event: &Event| matches!(event, Event::Renewed(id) if *id == sent);
        if since_failure(&events).iter().any(renewed) || events.iter().filter(|event| renewed(event)).count() > 1 {
            return None;
        }
        found = Some(sent);
    }
    let what = made_by(machine, group.op.at.file, found?)?;
    let span = if group.op.at.file == machine.file { group.op.at.span } else { group.op.base.span };
    Some(UsedUp { what, span })
}

/// What can be sent but once among the parts of a body.
fn once(machine: &Machine<'_>, state: &State, value: &Value, depth: u32) -> Option<SymId> {
    let depth = depth.checked_sub(1)?;
    let any = |items: &[Value]| items.iter().find_map(|item| once(machine, state, item, depth));
    match value {
        Value::Sym(id) => made_by(machine, machine.file, *id).map(|_| *id),
        Value::Tuple(items) => any(items),
        Value::Object(id) => match state.objects.get(id) {
            Some(Object::List(items, _)) => any(items),
            Some(Object::Generator(_)) => Some(*id),
            _ => None,
        },
        _ => None,
    }
}

/// What made a value that can be read but once.
fn made_by(machine: &Machine<'_>, file: u32, id: SymId) -> Option<String> {
    let info = machine.symbols.info(id)?;
    if matches!(&info.ty, Some(Type::Other(ty)) if &**ty == GENERATOR) {
        return Some(GENERATOR.to_owned());
    }
    let Node::Call(path, _) = &info.node else { return None };
    let used_up = machine.project.known(file, path).is_some_and(|entry| entry.used_up);
    used_up.then(|| format!("`{}`", last_part(path)))
}

impl Machine<'_> {
    /// Whether a value can be read or sent but once.
    pub(super) fn is_used_up(&self, file: u32, id: SymId) -> bool {
        made_by(self, file, id).is_some()
    }
}
