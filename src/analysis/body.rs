//! Bodies that the first attempt reads to their end: files, streams, forms and generators that are sent again as they
//! are, neither wound back nor made anew.

use super::facts::{Group, since_failure};
use super::machine::{Finished, Machine};
use super::memory::last_part;
use super::policy::UsedUp;
use super::project::Entity;
use super::sites::Found;
use super::state::{Event, Object, State};
use super::value::{ClassRef, FuncRef, Node, SymId, Type, Value};
use crate::ir::{Callee, Function, Instr, Op, Param, Slot, UnOp};
use crate::models::Entry;

/// A body is followed through so many functions that hand it on.
const HANDED_ON: u32 = 3;
/// A variable is followed to what makes it through so many others.
const MADE_OF: u32 = 4;

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

/// The body that somebody in the same file passes to a function which sends it again as it is given, neither wound back
/// nor made anew, where that can be sent but once.
pub(super) fn passed_once(machine: &Machine<'_>, found: &Found<'_>, group: &Group) -> Option<UsedUp> {
    let function = machine.project.function(found.func)?;
    let names = given_names(machine, found, function, group);
    let made = |name: &String| {
        let handled = group.paths.iter().any(|path| is_handled(machine, found, function, path, name));
        (!handled).then(|| made_by_callers(machine, found.func, name, HANDED_ON)).flatten()
    };
    let what = names.iter().find_map(made)?;
    let span = if group.op.at.file == machine.file { group.op.at.span } else { group.op.base.span };
    Some(UsedUp { what, span })
}

/// The names under which callers give a function the body that it sends.
fn given_names(machine: &Machine<'_>, found: &Found<'_>, function: &Function, group: &Group) -> Vec<String> {
    let given = |value: &Value| match value {
        Value::Sym(id) => match machine.symbols.info(*id).map(|info| &info.node) {
            Some(Node::Param(of, slot)) if *of == found.func => {
                function.params.iter().find(|param| param.slot.0 == *slot).map(|param| param.name.clone())
            }
            _ => None,
        },
        _ => None,
    };
    let mut names: Vec<String> = group.op.body.iter().filter_map(given).collect();
    // Whatever it is given by name it may hand on as a whole.
    let rest = function.params.iter().find(|param| param.is_named_rest).map(|param| param.slot);
    let instrs = function.blocks.iter().flat_map(|block| &block.instrs);
    let here = |instr: &&Instr| group.op.at.file == machine.file && group.op.at.span.contains(instr.span);
    let hands_on = instrs.filter(here).any(|instr| match &instr.op {
        Op::Call { args, .. } => args.iter().any(|arg| arg.spread && Some(arg.value) == rest),
        _ => false,
    });
    if hands_on && let Some(entry) = group.op.model.as_deref().and_then(|path| entry_of(machine, path)) {
        names.extend(entry.body.iter().filter_map(|param| param.name.clone()));
    }
    names
}

fn entry_of<'a>(machine: &Machine<'a>, path: &str) -> Option<&'a Entry> {
    let models = machine.project.models(machine.file)?;
    let method = path.rsplit_once('.').and_then(|(ty, name)| models.method(ty, name));
    method.or_else(|| machine.project.known(machine.file, path))
}

/// Whether anything but the operation itself is done, after the failure, with what was given under a name: it may be
/// wound back.
fn is_handled(machine: &Machine<'_>, found: &Found<'_>, function: &Function, path: &Finished, name: &str) -> bool {
    let of_name = |param: &&Param| param.name == name || param.is_named_rest;
    let slots: Vec<u32> = function.params.iter().filter(of_name).map(|param| param.slot.0).collect();
    let given = |part: &Value| match part {
        Value::Sym(id) => machine.symbols.info(*id).is_some_and(
            |info| matches!(&info.node, Node::Param(of, slot) if *of == found.func && slots.contains(slot)),
        ),
        _ => false,
    };
    let place = path.state.failed.as_ref().map(|failed| failed.op.place);
    let events: Vec<Event> = path.state.events().into_iter().cloned().collect();
    since_failure(&events).iter().any(|event| match event {
        Event::Op(info) => {
            Some(info.place) != place && info.inputs.iter().any(|input| machine.symbols.mentions(input, &mut { given }))
        }
        _ => false,
    })
}

/// What callers make for a parameter that can be sent but once, and who does; they may have been given it themselves.
fn made_by_callers(machine: &Machine<'_>, func: FuncRef, name: &str, depth: u32) -> Option<String> {
    let depth = depth.checked_sub(1)?;
    machine.project.passed_within(func, name).into_iter().find_map(|(caller, slot)| {
        let function = machine.project.function(caller)?;
        if let Some(made) = made_once(machine, caller.file, function, slot, MADE_OF) {
            return Some(format!("{made}, passed by `{}`", function.name));
        }
        let param = function.params.iter().find(|param| param.slot == slot && !param.is_rest && !param.is_self)?;
        let set = function.blocks.iter().flat_map(|block| &block.instrs).any(|instr| instr.dst == Some(slot));
        if set { None } else { made_by_callers(machine, caller, &param.name, depth) }
    })
}

/// What makes a variable that is set in one place only, where that can be read but once.
fn made_once(machine: &Machine<'_>, file: u32, function: &Function, slot: Slot, depth: u32) -> Option<String> {
    let depth = depth.checked_sub(1)?;
    let op = |slot: Slot| {
        let mut set = function.blocks.iter().flat_map(|block| &block.instrs).filter(|instr| instr.dst == Some(slot));
        set.next().filter(|_| set.next().is_none()).map(|instr| &instr.op)
    };
    match op(slot)? {
        Op::Copy(from) | Op::Unary(UnOp::Same, from) | Op::Enter(from, _) => {
            made_once(machine, file, function, *from, depth)
        }
        Op::Call { callee: Callee::Value(callee), .. } => {
            let once = |path: &str| {
                let entry = machine.project.known(file, path).filter(|entry| entry.used_up);
                entry.map(|_| format!("`{}`", last_part(path)))
            };
            let generates = |func| {
                let generator = machine.project.function(func).is_some_and(|function| function.is_generator);
                generator.then(|| GENERATOR.to_owned())
            };
            match op(*callee)? {
                Op::Func(id) => generates(FuncRef { file, func: *id }),
                Op::Path(path) => match machine.project.entity(path) {
                    Some(Entity::Func(func)) => generates(func),
                    Some(_) => None,
                    None => once(path),
                },
                Op::Class(id) => {
                    let class = machine.project.class(ClassRef { file, class: *id })?;
                    class.bases.iter().find_map(|base| once(&base.path)).map(|_| format!("`{}`", class.name))
                }
                _ => None,
            }
        }
        _ => None,
    }
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
