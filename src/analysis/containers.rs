//! What collections, iterators and optional values do: their methods, as far as these tell how often something goes
//! on, how long it waits, or what has become of a text.

use std::rc::Rc;

use super::arith;
use super::calls::Args;
use super::machine::{ITEMS, Machine, Out, Res, is_once};
use super::memory::last_part;
use super::state::{At, Gives, NoMore, Object, State};
use super::value::{Node, Num, Taint, Type, Value};
use crate::ir::BinOp;
use crate::source::Span;

impl Machine<'_> {
    /// Methods that containers and iterators have in every language; true where it was one.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn container_method(
        &mut self,
        state: &mut State,
        receiver: &Value,
        id: super::value::SymId,
        object: &Object,
        name: &str,
        args: &Args,
        at: At,
        out: &mut Out,
    ) -> bool {
        let objects = &mut state.objects;
        let value = match (object, name) {
            (Object::List(..), "update") => {
                let (pairs, known) = self.pairs_given(state, args);
                if let Some(Object::List(items, whole)) = Rc::make_mut(&mut state.objects).get_mut(&id) {
                    *whole &= replace_pairs(items, &pairs) && known;
                }
                if let Some(value) = args.values().last() {
                    self.put_back(state, receiver, value);
                }
                Value::None
            }
            (Object::List(..), "append" | "push" | "push_back" | "add" | "insert" | "extend") => {
                if let Some(Object::List(items, whole)) = Rc::make_mut(objects).get_mut(&id) {
                    match name {
                        "extend" => *whole = false,
                        _ if items.len() >= ITEMS => *whole = false,
                        _ => items.extend(args.values().last().cloned()),
                    }
                }
                if let Some(value) = args.values().last() {
                    self.put_back(state, receiver, value);
                }
                Value::None
            }
            (Object::List(..), "clear") => {
                Rc::make_mut(objects).insert(id, Object::List(Vec::new(), true));
                Value::None
            }
            (Object::List(items, true), "pop" | "pop_front" | "popleft" | "remove" | "pop_back")
                if args.nth(0).is_none_or(|which| matches!(which, Value::Num(_))) =>
            {
                let from_front = matches!(name, "pop_front" | "popleft")
                    || args.nth(0).is_some_and(|at| *at == Value::Num(Num::exact(0.0)));
                let mut items = items.clone();
                let item = if items.is_empty() {
                    None
                } else if from_front {
                    Some(items.remove(0))
                } else {
                    items.pop()
                };
                Rc::make_mut(objects).insert(id, Object::List(items, true));
                match item {
                    Some(item) => item,
                    None => {
                        out.push((
                            state.clone(),
                            Res::Value(Value::Variant("None".into(), "None".into(), Rc::from([]))),
                        ));
                        return true;
                    }
                }
            }
            (Object::List(items, true), "pop") if args.nth(0).is_some() => {
                // A mapping: keys and values in turn.
                let Some(at) = items.chunks(2).rposition(|pair| pair.first() == args.nth(0)) else {
                    let Some(default) = args.nth(1) else { return false };
                    out.push((state.clone(), Res::Value(default.clone())));
                    return true;
                };
                let mut items = items.clone();
                let value = items.drain(2 * at..items.len().min(2 * at + 2)).next_back().unwrap_or(Value::None);
                Rc::make_mut(objects).insert(id, Object::List(items, true));
                value
            }
            (Object::List(items, true), "setdefault") => {
                let Some((key, default)) = args.nth(0).zip(args.nth(1)) else { return false };
                let known = items.chunks(2).rev().find(|pair| pair.first() == Some(key));
                let value = known.and_then(|pair| pair.last()).unwrap_or(default).clone();
                if known.is_none()
                    && let Some(Object::List(items, _)) = Rc::make_mut(objects).get_mut(&id)
                {
                    items.extend([key.clone(), default.clone()]);
                }
                value
            }
            (Object::List(items, true), "get") => {
                // A mapping: keys and values in turn.
                let found = args.nth(0).and_then(|key| {
                    items.chunks(2).rev().find_map(|pair| match pair {
                        [known, value] if known == key => Some(value.clone()),
                        _ => None,
                    })
                });
                match found {
                    Some(value) => value,
                    None => return false,
                }
            }
            (_, "len") => self.length(state, receiver),
            (Object::List(items, true), "is_empty") => Value::Bool(items.is_empty(), Taint::NONE),
            (_, "iter" | "into_iter" | "iter_mut" | "by_ref" | "copied" | "cloned" | "peekable" | "__iter__") => {
                self.iterator(state, receiver.clone())
            }
            (Object::Range { next, step, stop, .. }, "take") => {
                let count = args.nth(0).cloned().unwrap_or(Value::None);
                let length = arith::binary(&mut self.symbols, BinOp::Mul, &count, step);
                let end = arith::binary(&mut self.symbols, BinOp::Add, next, &length);
                let end = match stop {
                    Some(stop) => arith::math(&mut self.symbols, "min", &[stop.clone(), end]),
                    None => end,
                };
                let object =
                    Object::Range { next: next.clone(), step: step.clone(), stop: Some(end), taken: 0, closed: false };
                Rc::make_mut(&mut state.objects).insert(id, object);
                receiver.clone()
            }
            (Object::Endless(item, _), "take") => {
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
                let count = match args.nth(0) {
                    Some(Value::Num(num)) => num.single().map(|count| count.max(0.0) as usize),
                    _ => None,
                };
                let object = match count.filter(|count| *count <= ITEMS) {
                    Some(count) => Object::Items(vec![item.clone(); count].into(), 0),
                    None => Object::Unknown(args.nth(0).cloned().unwrap_or(Value::None), 0),
                };
                Rc::make_mut(&mut state.objects).insert(id, object);
                receiver.clone()
            }
            (Object::Range { next, step, stop: Some(stop), .. }, "rev") => {
                let last = arith::binary(&mut self.symbols, BinOp::Sub, stop, step);
                let before = arith::binary(&mut self.symbols, BinOp::Sub, next, step);
                let step = arith::binary(&mut self.symbols, BinOp::Sub, &Value::Num(Num::exact(0.0)), step);
                let object = Object::Range { next: last, step, stop: Some(before), taken: 0, closed: false };
                Rc::make_mut(&mut state.objects).insert(id, object);
                receiver.clone()
            }
            (_, "chain") => {
                let mut parts = vec![receiver.clone()];
                parts.extend(args.values().cloned());
                self.chained(state, &parts)
            }
            (Object::Range { next, step, stop, .. }, "skip" | "step_by") => {
                let count = args.nth(0).cloned().unwrap_or(Value::None);
                let length = arith::binary(&mut self.symbols, BinOp::Mul, &count, step);
                let (next, step) = match name {
                    "skip" => (arith::binary(&mut self.symbols, BinOp::Add, next, &length), step.clone()),
                    _ => (next.clone(), length),
                };
                Rc::make_mut(&mut state.objects)
                    .insert(id, Object::Range { next, step, stop: stop.clone(), taken: 0, closed: false });
                receiver.clone()
            }
            (Object::Range { next, stop, .. }, "contains") => {
                let item = args.nth(0).cloned().unwrap_or(Value::None);
                let from = arith::binary(&mut self.symbols, BinOp::Ge, &item, next);
                match stop {
                    Some(stop) => {
                        let to = arith::binary(&mut self.symbols, BinOp::Lt, &item, stop);
                        self.both(from, to)
                    }
                    None => from,
                }
            }
            (Object::Generator(_) | Object::Numbered(..) | Object::Limited(..), "take" | "enumerate") => {
                match self.adapted(state, receiver, name, args) {
                    Some(value) => value,
                    None => return false,
                }
            }
            (Object::Range { .. } | Object::Items(..) | Object::List(..), "enumerate" | "zip") => {
                let Some(items) = self.known_items(state, receiver) else { return false };
                let zero = Value::Num(Num::exact(0.0));
                match (name, args.nth(0)) {
                    ("zip", Some(other)) => {
                        let Some(others) = self.known_items(state, other) else { return false };
                        let pairs = items.iter().zip(others.iter());
                        let pairs = pairs.map(|(a, b)| Value::Tuple([a.clone(), b.clone()].into())).collect();
                        self.iterator(state, Value::Tuple(pairs))
                    }
                    ("zip", None) => return false,
                    _ => self.enumerate(state, Value::Tuple(items), &zero),
                }
            }
            (Object::Generator(_) | Object::Numbered(..) | Object::Limited(..), "next" | "__next__" | "send")
                if {
                    let end = if name == "next" { NoMore::Wrapped } else { NoMore::Raises };
                    self.call_next(state.clone(), receiver, end, out).is_none()
                } =>
            {
                return true;
            }
            (_, "next" | "__next__") => {
                for (state, item) in self.take(state.clone(), receiver, at, None) {
                    let value = match item {
                        Some(item) => Value::Variant("Some".into(), "Some".into(), [item].into()),
                        None => Value::Variant("None".into(), "None".into(), Rc::from([])),
                    };
                    out.push((state, Res::Value(value)));
                }
                return true;
            }
            (_, "contains") => {
                let item = args.nth(0).cloned().unwrap_or(Value::None);
                let items = self.spread(state, receiver);
                match items {
                    Some(items) => arith::binary(&mut self.symbols, BinOp::In, &item, &Value::Tuple(items)),
                    None => return false,
                }
            }
            _ => return false,
        };
        out.push((state.clone(), Res::Value(value)));
        true
    }

    /// What an option is, read by its name from a mapping that comes from outside, if it is not set there: its default.
    /// Nought and one may stand for "not at all".
    pub(super) fn option(&self, of: super::value::SymId, name: &str, args: &Args) -> Option<Value> {
        let info = self.symbols.info(of)?;
        let outside = matches!(info.node, Node::Param(..) | Node::Attr(..))
            && info.taint.has(Taint::INPUT.or(Taint::STATE))
            && !info.taint.has(Taint::FAILURE.or(Taint::CALL).or(Taint::ITEM).or(Taint::SERVER));
        let untyped = matches!(info.ty, None | Some(Type::Other(_)));
        match (name, args.nth(0), args.nth(1)) {
            ("get" | "pop", Some(Value::Str(_)), Some(default @ Value::Num(_)))
                if outside && untyped && !is_once(default) =>
            {
                Some(default.clone())
            }
            _ => None,
        }
    }

    /// The keys and values, in turn, that a mapping is made of or updated with, and whether these are all.
    pub(super) fn pairs_given(&self, state: &State, args: &Args) -> (Vec<Value>, bool) {
        let mut pairs = Vec::new();
        let mut known = !args.open;
        for (name, value) in &args.list {
            match (name, self.spread(state, value)) {
                (Some(name), _) => pairs.extend([Value::Str(name.clone()), value.clone()]),
                (None, Some(items)) if items.iter().step_by(2).all(|key| matches!(key, Value::Str(_))) => {
                    known &= items.len() % 2 == 0;
                    pairs.extend(items.iter().take(items.len() / 2 * 2).cloned());
                }
                (None, _) => known = false,
            }
        }
        (pairs, known)
    }

    /// The items of a collection or iterator, where all are known.
    fn known_items(&self, state: &State, value: &Value) -> Option<Rc<[Value]>> {
        match value {
            Value::Tuple(items) => Some(items.clone()),
            Value::Object(id) => match state.objects.get(id)? {
                Object::List(items, true) => Some(items.clone().into()),
                Object::Items(items, 0) => Some(items.clone()),
                Object::Range { .. } => match self.range_items(state, value)? {
                    Value::Tuple(items) => Some(items),
                    _ => None,
                },
                _ => None,
            },
            _ => None,
        }
    }

    /// Methods of optional values and results that take a function, where it is known which of the two a value is;
    /// true where it was one.
    pub(super) fn optional(
        &mut self,
        state: &State,
        receiver: &Value,
        name: &str,
        args: &Args,
        span: Span,
        out: &mut Out,
    ) -> bool {
        let present = match receiver {
            Value::Variant(name, _, args) if matches!(&**name, "Some" | "Ok") => args.first().cloned(),
            Value::Variant(name, ..) if matches!(&**name, "None" | "Err") => None,
            Value::None => None,
            _ if self.advice_text(receiver).is_some() => Some(receiver.clone()),
            _ => return false,
        };
        let wrapper = match receiver {
            Value::Variant(name, ..) if matches!(&**name, "Ok" | "Err") => "Ok",
            _ => "Some",
        };
        let wrap = |name: &str, value: Value| Value::Variant(name.into(), name.into(), [value].into());
        let state = state.clone();
        let value = match (name, present) {
            ("map" | "and_then", Some(payload)) => {
                let Some(function) = args.nth(0).cloned() else { return false };
                let before = out.len();
                self.apply_to(state, function, payload, span, out);
                if name == "map" {
                    for (state, res) in out.iter_mut().skip(before) {
                        match (res, state.frames.last_mut()) {
                            (Res::Value(value), _) => *value = wrap(wrapper, value.clone()),
                            (Res::Called, Some(frame)) => frame.gives = Gives::Wrapped(wrapper),
                            _ => {}
                        }
                    }
                }
                return true;
            }
            ("or_else", None) => {
                let Some(function) = args.nth(0).cloned() else { return false };
                self.call_value(state, function, Args::default(), span, out);
                return true;
            }
            ("or", None) => args.nth(0).cloned().unwrap_or(Value::None),
            ("map" | "and_then" | "filter", None) | ("or" | "or_else", Some(_)) => receiver.clone(),
            ("flatten", Some(inner)) => inner,
            ("flatten", None) => receiver.clone(),
            ("transpose", Some(inner)) => match &inner {
                Value::Variant(name, _, args) if &**name == "Ok" => {
                    wrap("Ok", wrap("Some", args.first().cloned().unwrap_or(Value::None)))
                }
                Value::Variant(name, ..) if &**name == "Err" => inner,
                _ => wrap("Ok", wrap("Some", inner)),
            },
            ("transpose", None) => wrap("Ok", Value::Variant("None".into(), "None".into(), Rc::from([]))),
            _ => return false,
        };
        out.push((state, Res::Value(value)));
        true
    }

    /// Calls a function or, by its path, a method, with one value.
    fn apply_to(&mut self, state: State, function: Value, value: Value, span: Span, out: &mut Out) {
        if let Value::Path(path) = &function {
            let file = state.top().map_or(self.file, |frame| frame.func.file);
            if self.models(file).function(path).is_none() {
                let name = last_part(path).to_owned();
                return self.call_method(state, value, &name, Args::default(), span, out);
            }
        }
        let args = Args { list: vec![(None, value)], open: false, ..Args::default() };
        self.call_value(state, function, args, span, out);
    }
}

/// Puts a mapping's pairs into another, over those with the same keys; false where there is no room for all.
fn replace_pairs(items: &mut Vec<Value>, pairs: &[Value]) -> bool {
    let mut all = true;
    for pair in pairs.chunks_exact(2) {
        let [key, value] = pair else { continue };
        if let Some([_, old]) = items.chunks_exact_mut(2).find(|old| old.first() == Some(key)) {
            *old = value.clone();
        } else if items.len() < ITEMS {
            items.extend([key.clone(), value.clone()]);
        } else {
            all = false;
        }
    }
    all
}
