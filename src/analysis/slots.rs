//! Variables: what a read of a slot gives, and where a write goes, closures' variables included.

use super::scaling;
use super::state::State;
use super::value::{FuncRef, Node, Taint, Value};
use crate::ir::Slot;
use std::rc::Rc;

use super::machine::{Machine, VALUE_DEPTH};

impl<'a> Machine<'a> {
    pub(super) fn read(&mut self, state: &mut State, slot: Slot) -> Value {
        let Some(frame) = state.top() else { return Value::None };
        let captured = self
            .project
            .function(frame.func)
            .and_then(|function| function.slot(slot))
            .and_then(|info| info.captured.map(|outer| (outer, info)));
        let value = match captured {
            Some((outer_slot, _)) => self.read_outer(state, frame.func, frame.outer, outer_slot),
            None => frame.slots.get(slot.0 as usize).cloned().flatten(),
        };
        let Some(value) = value else {
            let Some(frame) = state.top() else { return Value::None };
            let func = frame.func;
            let info = self.project.function(func).and_then(|function| function.slot(slot));
            let ty = info.and_then(|info| info.ty.clone());
            return self.declared(func.file, ty.as_ref(), Node::Param(func, slot.0), Taint::STATE);
        };
        self.settled(state, value)
    }

    /// A symbol of which enough was decided is replaced by what it then is.
    pub(super) fn settled(&mut self, state: &State, value: Value) -> Value {
        if let Value::Sym(id) = value {
            let none = self.symbols.none_of(id);
            if self.was_decided(state, none) == Some(true) {
                return Value::None;
            }
        }
        value
    }

    pub(super) fn read_outer(&self, state: &State, func: FuncRef, outer: Option<u32>, slot: Slot) -> Option<Value> {
        let mut id = outer?;
        let mut func = FuncRef { func: self.project.function(func)?.parent?, ..func };
        let mut slot = slot;
        for _ in 0..10 {
            let (slots, next) = match state.frames.iter().rev().find(|frame| frame.id == id) {
                Some(frame) => (&frame.slots, frame.outer),
                None => {
                    let (slots, next) = state.kept.get(&id)?;
                    (slots, *next)
                }
            };
            let function = self.project.function(func)?;
            match function.slot(slot)?.captured {
                Some(further) => {
                    slot = further;
                    id = next?;
                    func = FuncRef { func: function.parent?, ..func };
                }
                None => return slots.get(slot.0 as usize)?.clone(),
            }
        }
        None
    }

    pub(super) fn write(&mut self, state: &mut State, slot: Slot, value: Value) {
        let value = if value.is_deeper_than(VALUE_DEPTH) { self.unknown(state, Taint::CALL) } else { value };
        let Some(frame) = state.frames.last_mut() else { return };
        let function = self.project.function(frame.func);
        let declared = function.and_then(|function| function.slot(slot)).and_then(|info| info.ty.as_ref());
        let value = scaling::of_sort(value, declared);
        let captured = function.and_then(|function| function.slot(slot)).and_then(|info| info.captured);
        let Some(mut outer_slot) = captured else {
            if let Some(place) = Rc::make_mut(&mut frame.slots).get_mut(slot.0 as usize) {
                *place = Some(value);
            }
            return;
        };
        let Some(mut id) = frame.outer else { return };
        let mut func = frame.func;
        for _ in 0..10 {
            let Some(parent) = self.project.function(func).and_then(|function| function.parent) else { return };
            func = FuncRef { func: parent, ..func };
            let further = self.project.function(func).and_then(|f| f.slot(outer_slot)).and_then(|info| info.captured);
            if let Some(frame) = state.frames.iter_mut().rev().find(|frame| frame.id == id) {
                match (further, frame.outer) {
                    (Some(slot), Some(next)) => (outer_slot, id) = (slot, next),
                    _ => {
                        if let Some(place) = Rc::make_mut(&mut frame.slots).get_mut(outer_slot.0 as usize) {
                            *place = Some(value);
                        }
                        return;
                    }
                }
            } else if let Some((slots, next)) = Rc::make_mut(&mut state.kept).get_mut(&id) {
                match (further, *next) {
                    (Some(slot), Some(next)) => (outer_slot, id) = (slot, next),
                    _ => {
                        if let Some(place) = Rc::make_mut(slots).get_mut(outer_slot.0 as usize) {
                            *place = Some(value);
                        }
                        return;
                    }
                }
            } else {
                return;
            }
        }
    }
}
