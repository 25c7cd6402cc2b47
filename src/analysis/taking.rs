//! Taking work: out of a container, a queue or a channel, or from somebody who is asked. Each piece is another one,
//! unless it was put back.

use std::rc::Rc;

use super::calls::{Args, Call};
use super::machine::{Finished, Machine};
use super::state::{At, Event, Object, State};
use super::value::{Node, SymId, Taint, Value};
use crate::ir::{Callee, GlobalId, Op, Slot, UnOp};
use crate::models::{Entry, Kind};

/// Where a receiver is found.
enum Origin<'a> {
    Variable(Slot),
    Attr(Slot, &'a str),
    Global(GlobalId),
}

/// Whether a call takes an item, and does not look one up by its key.
pub(super) fn takes(entry: &Entry, args: &Args) -> bool {
    let which = entry.key.as_ref().and_then(|param| args.get(param));
    which.is_none_or(|which| matches!(which, Value::Num(_)))
}

impl<'a> Machine<'a> {
    /// The next piece of work: what was put back, at once, or another one, which may be waited for.
    pub(super) fn take_work(&mut self, state: &mut State, call: &Call<'a>, at: At) -> Value {
        let entry = call.entry;
        let store = contained(call).and_then(|container| self.store(state, container));
        let stored = store.and_then(|store| state.objects.get(&store).cloned());
        let value = match (store, stored) {
            (Some(store), Some(Object::Store { taken, back: Some(back) })) => {
                Rc::make_mut(&mut state.objects).insert(store, Object::Store { taken, back: None });
                match (entry.gives.as_deref(), entry.result) {
                    (Some("Option"), _) => Value::Variant("Some".into(), "Some".into(), [back].into()),
                    (_, true) => Value::Variant("Ok".into(), "Ok".into(), [back].into()),
                    _ => back,
                }
            }
            (store, _) => {
                if entry.blocking && entry.amount.is_none() && store.is_none() {
                    state.push(Event::Asked);
                }
                if entry.amount.is_some() || entry.blocking || entry.is_async {
                    self.wait_for(state, call, at);
                }
                let value = self.unknown(state, Taint::ITEM);
                if let (Some(store), Value::Sym(taken)) = (store, &value) {
                    Rc::make_mut(&mut state.objects).insert(store, Object::Store { taken: *taken, back: None });
                }
                value
            }
        };
        let into = entry.into.as_ref().and_then(|param| param.position);
        match into.and_then(|at| self.lent_variable(state, at)) {
            Some(variable) => {
                self.write(state, variable, value);
                self.unknown(state, Taint::NONE)
            }
            None => value,
        }
    }

    /// Work is put into a container: what was taken from it last may come again.
    pub(super) fn put_work(&mut self, state: &mut State, call: &Call<'a>) {
        let Some(value) = call.entry.value.as_ref().and_then(|param| call.args.get(param)) else { return };
        if let Some(container) = contained(call) {
            self.put_back(state, container, value);
        }
    }

    /// Notes that something of what was taken last is put back.
    pub(super) fn put_back(&mut self, state: &mut State, container: &Value, value: &Value) {
        let Some(store) = self.store(state, container) else { return };
        let Some(Object::Store { taken, .. }) = state.objects.get(&store) else { return };
        let taken = *taken;
        let value = self.shown(state, value, 3);
        let mut roots = Vec::new();
        self.symbols.collect_roots(&value, &mut roots);
        if roots.contains(&taken) {
            state.push(Event::PutBack(taken));
            Rc::make_mut(&mut state.objects).insert(store, Object::Store { taken, back: Some(value) });
        }
    }

    /// What stands for the content of a container.
    fn store(&mut self, state: &State, container: &Value) -> Option<SymId> {
        // Two queues of one type are told apart by where the call finds them.
        let name: Rc<str> = match container {
            Value::Inst(_) => self.origin(state)?.into(),
            _ => "[]".into(),
        };
        Some(self.symbols.intern(Node::Attr(container.clone(), name), Taint::NONE))
    }

    /// Where the receiver of the call about to run comes from: a variable, an attribute.
    fn origin(&self, state: &State) -> Option<String> {
        match self.receiver_origin(state)? {
            Origin::Attr(_, name) => Some(format!(".{name}")),
            Origin::Global(global) => Some(format!("#{}", global.0)),
            Origin::Variable(slot) => self.project.function(state.top()?.func)?.slot(slot)?.name.clone(),
        }
    }

    fn receiver_origin(&self, state: &State) -> Option<Origin<'a>> {
        let frame = state.top()?;
        let block = self.project.function(frame.func)?.block(frame.block)?;
        let (earlier, call) = (block.instrs.get(..frame.at)?, block.instrs.get(frame.at)?);
        let Op::Call { callee: Callee::Method { receiver, .. }, .. } = &call.op else { return None };
        let mut slot = *receiver;
        for instr in earlier.iter().rev() {
            match &instr.op {
                _ if instr.dst != Some(slot) => {}
                Op::Copy(from) | Op::Unary(UnOp::Same, from) => slot = *from,
                Op::Attr(object, name) => return Some(Origin::Attr(*object, name)),
                Op::Global(global) => return Some(Origin::Global(*global)),
                _ => break,
            }
        }
        Some(Origin::Variable(slot))
    }

    /// The receiver of the call about to run becomes another value.
    pub(super) fn change_receiver(&mut self, state: &mut State, value: Value) {
        match self.receiver_origin(state) {
            Some(Origin::Variable(slot)) => self.write(state, slot, value),
            Some(Origin::Attr(object, name)) => {
                let object = self.read(state, object);
                self.set_attribute(state, &object, name, value);
            }
            Some(Origin::Global(global)) => {
                let file = state.top().map_or(self.file, |frame| frame.func.file);
                Rc::make_mut(&mut state.globals).insert((file, global.0), value);
            }
            None => {}
        }
    }

    /// The variable that an argument of the call about to run lends (`&mut line`).
    fn lent_variable(&self, state: &State, at: usize) -> Option<Slot> {
        let frame = state.top()?;
        let block = self.project.function(frame.func)?.block(frame.block)?;
        let Op::Call { args, .. } = &block.instrs.get(frame.at)?.op else { return None };
        let given = args.get(at)?.value;
        let made = block.instrs.get(..frame.at)?.iter().rev().find(|instr| instr.dst == Some(given))?;
        match made.op {
            Op::Unary(UnOp::Same, variable) => Some(variable),
            _ => None,
        }
    }

    /// Whether a value is what a plain local method gave (`hosts.iter()`): what is next in it is another item each time.
    pub(super) fn is_iterated(&self, file: u32, value: &Value) -> bool {
        let Value::Sym(id) = value else { return false };
        self.symbols.info(*id).is_some_and(|info| match &info.node {
            Node::Call(name, _) => {
                info.ty.is_none() && self.models(file).method("*", name).is_some_and(|entry| entry.kind == Kind::Local)
            }
            _ => false,
        })
    }
}

/// Whether the turn in which something is done again begins with another piece of work, and looks whether there is one.
pub(super) fn is_handed_work(machine: &Machine<'_>, finished: &Finished) -> bool {
    let events = finished.state.events();
    let Some(turned) = events.iter().rposition(|event| matches!(event, Event::Turn(_))) else { return false };
    let (before, turn) = events.split_at(turned);
    let asks = |event: &&Event| match event {
        Event::Decide { sym, .. } => machine.symbols.taint(&Value::Sym(*sym)).has(Taint::ITEM),
        _ => false,
    };
    let failed = before.iter().any(|event| matches!(event, Event::Fail(..)));
    let back = before.iter().any(|event| matches!(event, Event::PutBack(_)));
    failed && !back && turn.iter().any(asks)
}

/// What is taken from, or put into.
fn contained<'c>(call: &'c Call<'_>) -> Option<&'c Value> {
    match &call.entry.container {
        Some(param) => call.args.get(param),
        None => call.receiver.as_ref(),
    }
}
