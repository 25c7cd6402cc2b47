//! Iterators: what the next item is, and whether there is one.

use super::arith::{self, Truth};
use super::machine::Finished;
use super::machine::Machine;
use super::state::{At, Event, NoMore, Object, State};
use super::value::{Node, Num, Taint, Value};
use crate::ir::{BinOp, BlockId, Slot};
use crate::source::Span;
use std::rc::Rc;

impl<'a> Machine<'a> {
    #[allow(clippy::too_many_arguments)]
    pub(super) fn next(
        &mut self,
        mut state: State,
        iter: Slot,
        item: Slot,
        body: BlockId,
        done: BlockId,
        span: Span,
        ends: &mut Vec<Result<State, Finished>>,
    ) {
        let iterator = self.read(&mut state, iter);
        let at = self.at(&state, span);
        let state = match self.run_on(state, &iterator, NoMore::Raises) {
            (state, Some(true)) => return ends.push(Ok(state)),
            (state, Some(false)) => return self.go(state, done, span, ends),
            (state, None) => state,
        };
        for (mut state, taken) in self.take(state, &iterator, at, Some((body, done))) {
            match taken {
                Some(value) => {
                    self.write(&mut state, item, value);
                    self.go(state, body, span, ends);
                }
                None => self.go(state, done, span, ends),
            }
        }
    }

    /// Takes the next item of an iterator: the paths on which there is one, and on which there is none.
    pub(super) fn take(
        &mut self,
        mut state: State,
        iterator: &Value,
        at: At,
        sides: Option<(BlockId, BlockId)>,
    ) -> Vec<(State, Option<Value>)> {
        let place = self.place(&state);
        if let Some(taken) = self.next_attempt(&mut state, iterator) {
            return vec![(state, taken)];
        }
        if let Some(drawn) = self.draw(&state, iterator, at) {
            return drawn;
        }
        let (id, object) = match iterator {
            Value::Object(id) => (*id, state.objects.get(id).cloned()),
            _ => {
                let id = self.symbols.intern(Node::Attr(iterator.clone(), "[]".into()), Taint::NONE);
                (id, state.objects.get(&id).cloned().or(Some(Object::Unknown(iterator.clone(), 0))))
            }
        };
        match object {
            Some(Object::Range { next, step, stop, taken, closed }) => {
                let counted = |value: Value| match value {
                    Value::Num(num) => Value::Num(Num { taint: num.taint.or(Taint::COUNTER), ..num }),
                    other => other,
                };
                let more = match &stop {
                    None => Truth::Known(true, Taint::NONE),
                    Some(stop) => {
                        let (lo, _) = arith::bounds(&self.symbols, &step);
                        let op = if lo < 0.0 { BinOp::Gt } else { BinOp::Lt };
                        let test = arith::binary(&mut self.symbols, op, &next, stop);
                        arith::truth(&mut self.symbols, &test)
                    }
                };
                let after = arith::binary(&mut self.symbols, BinOp::Add, &next, &step);
                let finite = stop.is_some();
                let outside = stop.as_ref().is_some_and(|stop| !matches!(stop, Value::Num(_)));
                let advanced = Object::Range { next: after, step, stop, taken: taken + 1, closed };
                let goes_on = self.plan.uncounted.is_some() && state.frames.len() == 1;
                match more {
                    Truth::Known(more, _) if more || goes_on => {
                        Rc::make_mut(&mut state.objects).insert(id, advanced);
                        state.push(Event::Took { finite, outside });
                        vec![(state, Some(counted(next)))]
                    }
                    Truth::Known(..) => {
                        state.push(Event::CountTest { at, leads_out: false, taken: false });
                        vec![(state, None)]
                    }
                    Truth::Status(..) => vec![(state, None)],
                    Truth::Unknown(sym) => {
                        let mut out = Vec::new();
                        if self.decided(&state, sym) != Some(false) {
                            let mut state = state.clone();
                            self.record(&mut state, sym, true);
                            Rc::make_mut(&mut state.objects).insert(id, advanced);
                            state.push(Event::Decide { sym, taken: true, at, place });
                            state.push(Event::Took { finite, outside });
                            out.push((state, Some(counted(next))));
                        }
                        if self.decided(&state, sym) != Some(true) {
                            self.record(&mut state, sym, false);
                            state.push(Event::Decide { sym, taken: false, at, place });
                            out.push((state, None));
                        }
                        out
                    }
                }
            }
            Some(Object::Items(items, taken)) => match items.get(taken) {
                Some(item) => {
                    let item = item.clone();
                    Rc::make_mut(&mut state.objects).insert(id, Object::Items(items, taken + 1));
                    state.push(Event::Took { finite: true, outside: false });
                    vec![(state, Some(item))]
                }
                None => vec![(state, None)],
            },
            Some(Object::List(items, true)) => {
                let mut items = items;
                if items.is_empty() {
                    return vec![(state, None)];
                }
                let first = items.remove(0);
                Rc::make_mut(&mut state.objects).insert(id, Object::List(items, true));
                state.push(Event::Took { finite: true, outside: false });
                vec![(state, Some(first))]
            }
            Some(Object::Endless(source, taken)) => {
                Rc::make_mut(&mut state.objects).insert(id, Object::Endless(source.clone(), taken + 1));
                state.push(Event::Took { finite: false, outside: false });
                vec![(state, Some(source))]
            }
            Some(Object::Numbered(of, number)) => {
                let after = arith::binary(&mut self.symbols, BinOp::Add, &number, &Value::Num(Num::exact(1.0)));
                let mut out = self.take(state, &of, at, sides);
                for (state, taken) in &mut out {
                    Rc::make_mut(&mut state.objects).insert(id, Object::Numbered(of.clone(), after.clone()));
                    *taken = taken.take().map(|item| Value::Tuple([number.clone(), item].into()));
                }
                out
            }
            Some(Object::Chain(parts)) => {
                let Some(part) = parts.first().cloned() else { return vec![(state, None)] };
                let mut out = Vec::new();
                for (mut state, taken) in self.take(state, &part, at, sides) {
                    if taken.is_some() {
                        out.push((state, taken));
                        continue;
                    }
                    let rest: Rc<[Value]> = parts.get(1..).unwrap_or_default().into();
                    Rc::make_mut(&mut state.objects).insert(id, Object::Chain(rest));
                    out.extend(self.take(state, iterator, at, sides));
                }
                out
            }
            other => {
                let (source, taken) = match other {
                    Some(Object::Unknown(source, taken)) => (source, taken),
                    _ => (iterator.clone(), 0),
                };
                let more = self.symbols.intern(Node::More(source.clone(), taken), Taint::NONE);
                let outside = self.symbols.taint(&source).has(Taint::INPUT.or(Taint::CALL).or(Taint::STATE));
                let forced = sides.and_then(|(body, done)| self.forced_side(&mut state, body, done));
                let mut out = Vec::new();
                if forced != Some(false) && self.decided(&state, more) != Some(false) {
                    let mut state = state.clone();
                    self.record(&mut state, more, true);
                    // What a library gives to go through may wait before each further turn.
                    if taken > 0 && self.is_of_library(&state, &source) {
                        self.wait(&mut state, None, at, false);
                    }
                    Rc::make_mut(&mut state.objects).insert(id, Object::Unknown(source.clone(), taken + 1));
                    state.push(Event::Decide { sym: more, taken: true, at, place });
                    state.push(Event::Took { finite: true, outside });
                    let item = self.fresh(&mut state, Node::Item(place), Taint::ITEM);
                    // The same number of the same source is the same piece of work, however often it is gone through.
                    let mut roots = Vec::new();
                    self.symbols.collect_roots(&source, &mut roots);
                    let versions = roots.iter().filter_map(|root| state.versions.get(root));
                    let made = versions.fold(0u32, |sum, version| sum.wrapping_add(*version));
                    let position = made.wrapping_mul(1009).wrapping_add(taken + 1);
                    Rc::make_mut(&mut state.versions).insert(item, position);
                    out.push((state, Some(Value::Sym(item))));
                }
                if self.decided(&state, more) != Some(true) || forced == Some(false) {
                    self.record(&mut state, more, false);
                    state.push(Event::Decide { sym: more, taken: false, at, place });
                    out.push((state, None));
                }
                out
            }
        }
    }

    /// Whether a value is what a function of another package gave, of which nothing is known.
    fn is_of_library(&self, state: &State, value: &Value) -> bool {
        matches!(value, Value::Sym(id) if state.results.get(id).is_some_and(|info| info.model.is_some()))
    }

    /// An iterator over a value.
    pub(super) fn iterator(&mut self, state: &mut State, value: Value) -> Value {
        let place = self.place(state);
        let object = match &value {
            Value::Tuple(items) => Object::Items(items.clone(), 0),
            Value::Object(id) => match state.objects.get(id) {
                Some(Object::List(items, true)) => Object::Items(items.clone().into(), 0),
                // An iterator is its own iterator.
                Some(
                    Object::Range { .. }
                    | Object::Items(..)
                    | Object::Endless(..)
                    | Object::Numbered(..)
                    | Object::Chain(..)
                    | Object::Generator(..)
                    | Object::Limited(..)
                    | Object::Unknown(..),
                ) => {
                    return value;
                }
                _ => Object::Unknown(value.clone(), 0),
            },
            _ if self.is_own_iterator(&value) => return value,
            _ => Object::Unknown(value.clone(), 0),
        };
        let id = self.symbols.intern(Node::New(place), Taint::NONE);
        Rc::make_mut(&mut state.objects).insert(id, object);
        Value::Object(id)
    }

    /// An iterator over several values, one after the other.
    pub(super) fn chained(&mut self, state: &mut State, parts: &[Value]) -> Value {
        let mut chain = Vec::with_capacity(parts.len());
        for (at, part) in parts.iter().enumerate() {
            let iterator = self.iterator(state, part.clone());
            // Each is an iterator of its own, though all are made at one place.
            let own = self.symbols.intern(Node::Attr(iterator.clone(), format!("[{at}]").into()), Taint::NONE);
            if let Value::Object(id) = &iterator
                && let Some(object) = state.objects.get(id).cloned()
            {
                Rc::make_mut(&mut state.objects).insert(own, object);
            }
            chain.push(Value::Object(own));
        }
        let first = chain.first().cloned().unwrap_or(Value::None);
        let node = Node::Index(first, Value::Str("chain".into()));
        let id = self.symbols.intern(node, Taint::NONE);
        Rc::make_mut(&mut state.objects).insert(id, Object::Chain(chain.into()));
        Value::Object(id)
    }

    /// A short range as a tuple of its numbers.
    pub(super) fn range_items(&self, state: &State, value: &Value) -> Option<Value> {
        let Value::Object(id) = value else { return None };
        let Some(Object::Range { next, step, stop: Some(stop), .. }) = state.objects.get(id) else { return None };
        let single = |value: &Value| match value {
            Value::Num(num) => num.single(),
            _ => None,
        };
        let (mut next, step, stop) = (single(next)?, single(step)?, single(stop)?);
        let mut items = Vec::new();
        while next < stop && step > 0.0 && items.len() < 600 {
            items.push(Value::Num(Num::exact(next)));
            next += step;
        }
        Some(Value::Tuple(items.into()))
    }
}
