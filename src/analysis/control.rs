//! Where control goes: from an instruction to the next, along branches and handlers, into calls and back.

use super::state::{Event, Frame, Gives, State};
use super::value::{FuncRef, Value};
use crate::ir::{Block, BlockId, Slot, Term};
use crate::source::Span;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

use super::machine::{End, Finished, Machine, Res, any_exception};

impl<'a> Machine<'a> {
    /// Carries an instruction's result to where it belongs.
    pub(super) fn settle(
        &mut self,
        mut state: State,
        res: Res,
        dst: Option<Slot>,
        span: Span,
        block: &Block,
        ends: &mut Vec<Result<State, Finished>>,
    ) {
        match res {
            Res::Value(value) => {
                if let Some(dst) = dst {
                    self.write(&mut state, dst, value);
                }
                if let Some(frame) = state.frames.last_mut() {
                    frame.at += 1;
                }
                state.resume = false;
                ends.push(Ok(state));
            }
            Res::Called => ends.push(Ok(state)),
            Res::Raise(exception) => {
                state.resume = false;
                self.unwind(state, exception, block.unwind, span, ends);
            }
            Res::End(end) => ends.push(Err(Finished { state, end })),
        }
    }

    /// Whether an exception thrown now can be caught by something on the stack.
    pub(super) fn can_be_caught(&self, state: &State) -> bool {
        state.frames.iter().any(|frame| {
            self.project
                .function(frame.func)
                .and_then(|function| function.block(frame.block))
                .is_some_and(|block| block.unwind.is_some())
        })
    }

    pub(super) fn unwind(
        &mut self,
        mut state: State,
        exception: Value,
        target: Option<BlockId>,
        span: Span,
        ends: &mut Vec<Result<State, Finished>>,
    ) {
        if let Some(target) = target {
            if let Some(frame) = state.frames.last_mut() {
                frame.caught = Some(exception);
            }
            return self.go(state, target, span, ends);
        }
        let at = self.at(&state, span);
        if state.frames.len() <= 1 {
            if !state.left {
                state.push(Event::Left(at, state.gap.low, state.gap.high));
            }
            ends.push(Err(Finished { state, end: End::Raise(exception, at) }));
            return;
        }
        let frame = self.pop(&mut state);
        if let Some(Gives::Item(taking)) = frame.map(|frame| frame.gives) {
            if self.says_no_more(&taking, &exception) {
                return self.hand_over(state, &taking, None, span, ends);
            }
            self.end_generator(&mut state, &taking);
        }
        let target = state
            .top()
            .and_then(|frame| self.project.function(frame.func)?.block(frame.block))
            .and_then(|block| block.unwind);
        self.unwind(state, exception, target, span, ends);
    }

    pub(super) fn pop(&mut self, state: &mut State) -> Option<Frame> {
        let frame = state.frames.pop()?;
        if frame.closed_over {
            Rc::make_mut(&mut state.kept).insert(frame.id, (frame.slots.clone(), frame.outer));
        }
        state.limits.truncate(frame.limits);
        Some(frame)
    }

    /// Goes to a block of the innermost activation.
    pub(super) fn go(&mut self, mut state: State, to: BlockId, span: Span, ends: &mut Vec<Result<State, Finished>>) {
        let base = state.frames.len() == 1;
        let at = self.at(&state, span);
        let Some(frame) = state.frames.last_mut() else { return };
        frame.block = to;
        frame.at = 0;
        let func = frame.func;
        if base && self.plan.on_the_way.as_ref().is_some_and(|blocks| blocks.get(to.0 as usize) != Some(&true)) {
            return;
        }
        if base && !state.left {
            if Some(to) == self.plan.head {
                // Inner loops are come to anew in each turn.
                frame.visits.clear();
                state.turns += 1;
                state.push(Event::Turn(at));
                // The loops inside begin anew.
                if let Some(frame) = state.frames.last_mut() {
                    frame.visits.clear();
                }
                if self.plan.stop_at_head {
                    ends.push(Err(Finished { state, end: End::Head }));
                    return;
                }
                if state.turns > self.plan.max_turns {
                    ends.push(Err(Finished { state, end: End::Head }));
                    return;
                }
                self.leap(&mut state);
                ends.push(Ok(state));
                return;
            }
            if let Some(blocks) = &self.plan.blocks
                && blocks.get(to.0 as usize) != Some(&true)
            {
                state.left = true;
                state.push(Event::Left(at, state.gap.low, state.gap.high));
            }
        }
        if base && self.plan.outer_heads.contains(&to) {
            ends.push(Err(Finished { state, end: End::NextWork(at) }));
            return;
        }
        // Inner loops are counted.
        let map = self.loops_of(func);
        if map.heads.contains(&to)
            && let Some(frame) = state.frames.last_mut()
        {
            match frame.visits.iter_mut().find(|(head, _)| *head == to) {
                Some((_, count)) => {
                    *count += 1;
                    if *count > 3000 {
                        ends.push(Err(Finished { state, end: End::Cut }));
                        return;
                    }
                }
                None => {
                    frame.visits.push((to, 1));
                    self.note_brought(&state, to, span);
                }
            }
        }
        ends.push(Ok(state));
    }

    /// Time passes faster the longer an outage lasts, so that a deadline is come to in few turns.
    pub(super) fn leap(&self, state: &mut State) {
        if state.turns > 12 {
            state.clock += f64::from(1u32 << (state.turns - 12).min(24));
        }
    }

    pub(super) fn terminate(&mut self, mut state: State, block: &'a Block, ends: &mut Vec<Result<State, Finished>>) {
        let span = block.term_span;
        match &block.term {
            Term::Goto(to) => self.go(state, *to, span, ends),
            Term::Branch { cond, then, otherwise } => {
                let value = self.read(&mut state, *cond);
                for (state, truth) in self.decide(state, &value, span, *then, *otherwise) {
                    let to = if truth { *then } else { *otherwise };
                    self.go(state, to, span, ends);
                }
            }
            Term::Next { iter, item, body, done } => self.next(state, *iter, *item, *body, *done, span, ends),
            Term::Return(slot) => {
                let value = slot.map_or(Value::None, |slot| self.read(&mut state, slot));
                self.give(state, value, slot.is_some(), span, ends);
            }
            Term::Propagate(slot) => {
                let value = self.read(&mut state, *slot);
                if state.frames.len() > 1 && state.failed.is_none() && matches!(value, Value::Sym(_)) {
                    state.push(Event::Stumbled);
                }
                let value = match &value {
                    Value::Variant(..) | Value::None => value,
                    other => {
                        let payload = self.payload(other, false);
                        Value::Variant("Err".into(), "Err".into(), [payload].into())
                    }
                };
                self.give(state, value, true, span, ends);
            }
            Term::Raise(slot) => {
                let value = match slot {
                    Some(slot) => {
                        let value = self.read(&mut state, *slot);
                        self.exception_of(&mut state, value)
                    }
                    None => state.top().and_then(|frame| frame.caught.clone()).unwrap_or_else(any_exception),
                };
                self.unwind(state, value, block.unwind, span, ends);
            }
            Term::Abort => ends.push(Err(Finished { state, end: End::Abort })),
        }
    }

    /// Returns a value from the innermost activation.
    pub(super) fn give(
        &mut self,
        mut state: State,
        value: Value,
        explicit: bool,
        span: Span,
        ends: &mut Vec<Result<State, Finished>>,
    ) {
        let at = self.at(&state, span);
        if state.frames.len() <= 1 {
            if !state.left {
                state.push(Event::Left(at, state.gap.low, state.gap.high));
            }
            ends.push(Err(Finished { state, end: End::Return(value, explicit, at) }));
            return;
        }
        // A helper that gives a failure of its own, alone or among other things.
        let is_error = |value: &Value| matches!(value, Value::Variant(name, ..) if &**name == "Err");
        let among = |value: &Value| matches!(value, Value::Tuple(parts) if parts.iter().any(is_error));
        let fails = is_error(&value) || among(&value);
        if fails && state.failed.is_none() {
            state.push(Event::Stumbled);
        }
        let Some(frame) = self.pop(&mut state) else { return };
        let value = match frame.gives {
            Gives::Returned => self.as_declared(frame.func, value),
            Gives::Instead(value) => value,
            Gives::Wrapped(name) => Value::Variant(name.into(), name.into(), [value].into()),
            Gives::Item(taking) => {
                self.give_back(&mut state, &frame.slots, &frame.lent);
                return self.after_items(state, frame.func, &taking, value, span, ends);
            }
        };
        self.give_back(&mut state, &frame.slots, &frame.lent);
        // A coroutine returned by an ordinary call stays one; awaiting it is another instruction.
        if let Some(dst) = frame.dst {
            self.write(&mut state, dst, value);
        }
        if let Some(frame) = state.frames.last_mut() {
            frame.at += 1;
            frame.came_back = true;
        }
        ends.push(Ok(state));
    }

    /// Variables that were lent to an activation get what it left in them.
    fn give_back(&mut self, state: &mut State, slots: &[Option<Value>], lent: &[(Slot, Slot)]) {
        for (theirs, ours) in lent {
            if let Some(value) = slots.get(theirs.0 as usize).cloned().flatten() {
                self.write(state, *ours, value);
            }
        }
    }

    /// What tells activations apart that are begun at this place.
    pub(super) fn chain_here(&mut self, state: &State) -> u64 {
        let place = self.place(state);
        let mut hasher = rustc_hash::FxHasher::default();
        (state.top().map_or(0, |frame| frame.chain), place).hash(&mut hasher);
        hasher.finish()
    }

    /// Begins a call of one of the project's own functions.
    pub(super) fn push_frame(
        &mut self,
        state: &mut State,
        func: FuncRef,
        slots: Vec<Option<Value>>,
        outer: Option<u32>,
        dst: Option<Slot>,
        gives: Gives,
    ) {
        let chain = self.chain_here(state);
        let id = state.next_frame;
        state.next_frame += 1;
        let limits = state.limits.len();
        state.frames.push(Frame { dst, gives, chain, limits, ..Frame::at_entry(func, slots, id, outer) });
    }
}
