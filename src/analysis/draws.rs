//! Waits of a library's that the code takes one by one: `backoff.next_backoff()`, `for wait in strategy.take(3)`.

use std::rc::Rc;

use super::arith::{self, Truth};
use super::calls::Call;
use super::machine::{Machine, Out, Res};
use super::pieces::{DEPTH, PIECE, here, marked, number};
use super::state::{At, Event, Object, State};
use super::value::{Node, Num, SymId, Taint, Value};

impl<'a> Machine<'a> {
    /// Takes the next wait out of what makes them: the paths on which there is one, and on which there is none. `None`
    /// where the value is no such thing.
    pub(super) fn draw(&mut self, state: &State, waits: &Value, at: At) -> Option<Vec<(State, Option<Value>)>> {
        let id = self.drawer(waits);
        let (source, taken) = match state.objects.get(&id) {
            Some(Object::Unknown(source, taken)) => (source.clone(), *taken),
            None if !matches!(waits, Value::Object(_)) => (waits.clone(), 0),
            _ => return None,
        };
        marked(&source, PIECE)?;
        let piece = self.piece(here(state), &source).filter(|piece| piece.word().starts_with("wait-"))?;
        let mut state = state.clone();
        let begun: (SymId, Rc<str>) = (id, "begun".into());
        if taken == 0 {
            let now = Value::Num(Num { taint: Taint::CLOCK, ..Num::exact(state.clock) });
            Rc::make_mut(&mut state.heap).insert(begun.clone(), now);
        }
        let begun = state.heap.get(&begun).cloned().unwrap_or(Value::None);
        let count = f64::from(taken) + 1.0;
        let attempts = piece.part("attempts").filter(|attempts| **attempts != Value::None).cloned();
        let mut ends = Vec::new();
        if let Some(attempts) = &attempts {
            ends.push(self.counted(piece.entry, attempts, &number(count)));
        }
        if let Some(limit) = piece.part("limit").cloned() {
            ends.push(self.elapsed(&mut state, piece.entry, &limit, &begun, at.span));
        }
        let over = self.fold(&ends, true);
        let finite = attempts.is_some();
        let outside = attempts.is_some_and(|attempts| !matches!(attempts, Value::Num(_)));
        let mut out = Vec::new();
        let (more, none) = match arith::truth(&mut self.symbols, &over) {
            Truth::Known(true, taint) => {
                if taint.has(Taint::COUNTER) {
                    state.push(Event::CountTest { at, leads_out: false, taken: false });
                }
                (None, Some(state))
            }
            Truth::Known(false, _) | Truth::Status(..) => (Some(state), None),
            Truth::Unknown(sym) => {
                let place = self.place(&state);
                let mut side = |over: bool| {
                    if self.decided(&state, sym) == Some(!over) {
                        return None;
                    }
                    let mut state = state.clone();
                    self.record(&mut state, sym, over);
                    state.push(Event::Decide { sym, taken: over, at, place });
                    Some(state)
                };
                (side(false), side(true))
            }
        };
        if let Some(mut state) = more {
            let length = self.wait_length(&mut state, &source, count, DEPTH);
            let jitter = piece.part("jitter").cloned().unwrap_or(Value::None);
            let length = self.jittered(&state, &length, &jitter, piece.part("high").cloned(), piece.entry.unit);
            Rc::make_mut(&mut state.objects).insert(id, Object::Unknown(source, taken + 1));
            state.push(Event::Took { finite, outside });
            out.push((state, Some(length)));
        }
        out.extend(none.map(|state| (state, None)));
        Some(out)
    }

    /// A question to what makes waits: the next one, as an option, or to begin again.
    pub(super) fn ask_for_wait(&mut self, mut state: State, call: &Call<'a>, out: &mut Out) {
        let waits = call.receiver.clone().unwrap_or(Value::None);
        if call.entry.function.as_deref() == Some("begin-again") {
            self.begin_draws(&mut state, &waits);
            return out.push((state, Res::Value(Value::None)));
        }
        let id = self.drawer(&waits);
        if !state.objects.contains_key(&id)
            && let Some(made) = self.assumed(&mut state, &waits)
        {
            Rc::make_mut(&mut state.objects).insert(id, Object::Unknown(made, 0));
        }
        let at = self.at(&state, call.span);
        let Some(drawn) = self.draw(&state, &waits, at) else {
            let value = self.unknown(&mut state, Taint::CALL);
            return out.push((state, Res::Value(value)));
        };
        for (state, wait) in drawn {
            let value = match wait {
                Some(wait) => Value::Variant("Some".into(), "Some".into(), [wait].into()),
                None => Value::Variant("None".into(), "None".into(), Rc::from([])),
            };
            out.push((state, Res::Value(value)));
        }
    }

    /// Forgets what was taken out of such a thing: it begins again.
    pub(super) fn begin_draws(&mut self, state: &mut State, waits: &Value) {
        let id = self.drawer(waits);
        if state.objects.contains_key(&id) && !matches!(waits, Value::Object(_)) {
            Rc::make_mut(&mut state.objects).remove(&id);
        }
    }

    /// What stands for the iterator over a value.
    fn drawer(&mut self, waits: &Value) -> SymId {
        match waits {
            Value::Object(id) => *id,
            other => self.symbols.intern(Node::Attr(other.clone(), "[]".into()), Taint::NONE),
        }
    }
}
