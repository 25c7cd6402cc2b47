//! Numbers out of calls: arithmetic, ranges, chance, spans of time, and what a text of the server's says.

use super::arith;
use super::calls::Call;
use super::machine::{Advice, Machine, Out, Res};
use super::scaling::{self, Scaling};
use super::state::{At, Event, NoMore, Object, State};
use super::value::{Node, Num, Taint, Value};
use crate::ir::BinOp;
use crate::models::ParamRef;
use std::rc::Rc;

impl<'a> Machine<'a> {
    pub(super) fn arithmetic(&mut self, mut state: State, call: &Call<'a>, at: At, out: &mut Out) {
        let function = call.entry.function.clone().unwrap_or_default();
        let mut args: Vec<Value> = call.receiver.iter().cloned().collect();
        args.extend(call.args.list.iter().filter(|(name, _)| name.is_none()).map(|(_, value)| value.clone()));
        if matches!(function.as_str(), "int" | "float")
            && args.first().is_some_and(|arg| self.advice_text(arg).is_some())
        {
            return self.parse_number(state, call, at, out);
        }
        if matches!(function.as_str(), "min" | "max")
            && args.len() == 1
            && call.receiver.is_none()
            && let Some(items) = args.first().and_then(|arg| self.spread(&state, arg))
        {
            args = items.to_vec();
        }
        if matches!(function.as_str(), "any" | "all")
            && let Some(tests) = args.first().and_then(|arg| self.spread(&state, arg))
            && let Some(value) = self.of_tests(&tests, function == "any")
        {
            out.push((state, Res::Value(value)));
            return;
        }
        let value = match function.as_str() {
            "len" => {
                let value = args.first().cloned().unwrap_or(Value::None);
                self.length(&state, &value)
            }
            "range" => self.range(&mut state, &args),
            "range-inclusive" => {
                let one = Value::Num(Num::exact(1.0));
                let past = args.get(1).map(|last| arith::binary(&mut self.symbols, BinOp::Add, last, &one));
                let first = args.first().cloned().unwrap_or(Value::None);
                self.make_range(&mut state, first, past, one, true)
            }
            "range-from" => {
                let first = args.first().cloned().unwrap_or(Value::None);
                self.make_range(&mut state, first, None, Value::Num(Num::exact(1.0)), false)
            }
            "bool" => match args.first().map(|value| self.as_test(&state, value)) {
                Some(value) => match arith::truth(&mut self.symbols, &value) {
                    arith::Truth::Known(truth, taint) => Value::Bool(truth, taint),
                    arith::Truth::Status(resp, set) => Value::StatusIn(resp, set),
                    arith::Truth::Unknown(id) => Value::Sym(id),
                },
                None => Value::Bool(false, Taint::NONE),
            },
            "next" => {
                let iterator = args.first().cloned().unwrap_or(Value::None);
                let default = args.get(1).cloned();
                let end = default.clone().map_or(NoMore::Raises, NoMore::Gives);
                let Some(state) = self.call_next(state, &iterator, end, out) else { return };
                for (state, item) in self.take(state.clone(), &iterator, at, None) {
                    match (item, default.clone()) {
                        (Some(item), _) => out.push((state, Res::Value(item))),
                        (None, Some(default)) => out.push((state, Res::Value(default))),
                        (None, None) => {
                            let end = self.raised(&["builtins.StopIteration"]);
                            out.push((state, Res::Raise(end)));
                        }
                    }
                }
                return;
            }
            "iter" => {
                let value = args.first().cloned().unwrap_or(Value::None);
                self.iterator(&mut state, value)
            }
            "list" | "tuple" | "set" | "sorted" | "frozenset" => match args.first() {
                Some(value) => match self.spread(&state, value) {
                    Some(items) => Value::Tuple(items),
                    None => value.clone(),
                },
                None => {
                    let place = self.place(&state);
                    let id = self.symbols.intern(Node::New(place), Taint::NONE);
                    Rc::make_mut(&mut state.objects).insert(id, Object::List(Vec::new(), true));
                    Value::Object(id)
                }
            },
            "dict" => {
                let (pairs, whole) = self.pairs_given(&state, &call.args);
                // What is made of one thing that cannot be seen through is that thing.
                if pairs.is_empty() && !whole {
                    arith::math(&mut self.symbols, "dict", &args)
                } else {
                    let place = self.place(&state);
                    let id = self.symbols.intern(Node::New(place), Taint::NONE);
                    Rc::make_mut(&mut state.objects).insert(id, Object::List(pairs, whole));
                    Value::Object(id)
                }
            }
            "chain" => self.chained(&mut state, &args),
            "reversed" => {
                let value = args.first().cloned().unwrap_or(Value::None);
                self.reversed(&mut state, value)
            }
            "enumerate" => {
                let start = args.get(1).cloned().unwrap_or(Value::Num(Num::exact(0.0)));
                self.enumerate(&mut state, args.first().cloned().unwrap_or(Value::None), &start)
            }
            "isinstance" => {
                if let [exc @ Value::Exc(_), types, ..] = args.as_slice() {
                    let (exc, types) = (exc.clone(), types.clone());
                    return self.handler(state, &exc, &types, out);
                }
                let value = args.first().cloned().unwrap_or(Value::None);
                let known = matches!(value, Value::None).then_some(Value::Bool(false, Taint::NONE));
                known.unwrap_or_else(|| {
                    let name = format!("{:?}", args.get(1));
                    Value::Sym(self.symbols.intern(Node::Is(value, name.into()), Taint::NONE))
                })
            }
            checked if checked.starts_with("checked-") => {
                let plain = checked.trim_start_matches("checked-");
                let value = arith::math(&mut self.symbols, plain, &args);
                let (low, high) = arith::bounds(&self.symbols, &value);
                let end = args.first().map_or(f64::INFINITY, scaling::greatest);
                let value = match () {
                    () if high < 0.0 || low > end => Value::Variant("None".into(), "None".into(), Rc::from([])),
                    // Of what is not known, only a difference may well end short of nought.
                    () if low >= 0.0 || plain != "sub" => Value::Variant("Some".into(), "Some".into(), [value].into()),
                    () => value,
                };
                out.push((state, Res::Value(value)));
                return;
            }
            other => {
                let plain = other.trim_start_matches("saturating-").trim_start_matches("wrapping-");
                let value = arith::math(&mut self.symbols, plain, &args);
                match (&value, other.starts_with("saturating-sub")) {
                    (Value::Num(num), true) if num.lo.0 < 0.0 => {
                        Value::Num(Num::range(0.0, num.hi.0.max(0.0), num.taint))
                    }
                    _ => value,
                }
            }
        };
        let value = self.scaled_by(&mut state, call, &args, value);
        let value = if call.entry.result { Value::Variant("Ok".into(), "Ok".into(), [value].into()) } else { value };
        out.push((state, Res::Value(value)));
    }

    /// What a function of arithmetic makes, as a number of its sort.
    fn scaled_by(&mut self, state: &mut State, call: &Call<'_>, args: &[Value], value: Value) -> Value {
        // `u64::from(x)` and `u64::pow(x, y)` say what they give.
        let of = call.path.rsplit("::").nth(1).and_then(Taint::of_type);
        let value = match of {
            Some(sort) => scaling::with_sort(value, sort),
            None => value,
        };
        let (Some(how), [a, b, ..]) = (Scaling::named(call), args) else { return value };
        let a = of.map_or_else(|| a.clone(), |sort| scaling::with_sort(a.clone(), sort));
        self.scaled(state, how, &a, b, value)
    }

    pub(super) fn range(&mut self, state: &mut State, args: &[Value]) -> Value {
        let zero = Value::Num(Num::exact(0.0));
        let one = Value::Num(Num::exact(1.0));
        let (next, stop, step) = match args {
            [stop] => (zero, Some(stop.clone()), one),
            [start, stop] => (start.clone(), Some(stop.clone()), one),
            [start, stop, step, ..] => (start.clone(), Some(stop.clone()), step.clone()),
            [] => (zero, None, one),
        };
        self.make_range(state, next, stop, step, false)
    }

    fn make_range(&mut self, state: &mut State, next: Value, stop: Option<Value>, step: Value, closed: bool) -> Value {
        let place = self.place(state);
        let id = self.symbols.intern(Node::New(place), Taint::NONE);
        Rc::make_mut(&mut state.objects).insert(id, Object::Range { next, step, stop, taken: 0, closed });
        Value::Object(id)
    }

    /// An iterator over a sequence from its end.
    pub(super) fn reversed(&mut self, state: &mut State, source: Value) -> Value {
        if let Some(items) = self.spread(state, &source) {
            let items: Vec<Value> = items.iter().rev().cloned().collect();
            return self.iterator(state, Value::Tuple(items.into()));
        }
        let one = Value::Num(Num::exact(1.0));
        if let Value::Object(id) = &source
            && let Some(Object::Range { next, step, stop: Some(stop), .. }) = state.objects.get(id).cloned()
            && step == one
        {
            let last = arith::binary(&mut self.symbols, BinOp::Sub, &stop, &one);
            let end = arith::binary(&mut self.symbols, BinOp::Sub, &next, &one);
            return self.make_range(state, last, Some(end), Value::Num(Num::exact(-1.0)), false);
        }
        self.iterator(state, source)
    }

    /// The items of an iterator with their numbers.
    pub(super) fn enumerate(&mut self, state: &mut State, source: Value, start: &Value) -> Value {
        let place = self.place(state);
        let items = self.spread(state, &source);
        let object = match items {
            Some(items) => {
                let mut pairs = Vec::new();
                let mut number = start.clone();
                for item in items.iter() {
                    pairs.push(Value::Tuple([number.clone(), item.clone()].into()));
                    number = arith::binary(&mut self.symbols, BinOp::Add, &number, &Value::Num(Num::exact(1.0)));
                }
                Object::Items(pairs.into(), 0)
            }
            None => match self.iterator(state, source.clone()) {
                Value::Object(of) if !matches!(state.objects.get(&of), Some(Object::Unknown(..)) | None) => {
                    Object::Numbered(Value::Object(of), start.clone())
                }
                of @ Value::Sym(_) => Object::Numbered(of, start.clone()),
                _ => Object::Unknown(source, 0),
            },
        };
        // The numbered iterator is another than the one that it numbers, though both are made here.
        let node = match &object {
            Object::Numbered(of, _) => Node::Index(of.clone(), start.clone()),
            _ => Node::New(place),
        };
        let id = self.symbols.intern(node, Taint::NONE);
        Rc::make_mut(&mut state.objects).insert(id, object);
        Value::Object(id)
    }

    pub(super) fn random(
        &mut self,
        state: &mut State,
        low: Option<Value>,
        high: Option<Value>,
        call: &Call<'_>,
    ) -> Value {
        if low.is_none() && high.is_none() {
            let from = call.args.nth(0).map(|from| self.shown(state, from, 2));
            let numbers = |items: &[Value]| items.iter().all(|item| matches!(item, Value::Num(_)));
            match from {
                // One of several numbers.
                Some(Value::Tuple(items)) if items.len() != 2 && !items.is_empty() && numbers(&items) => {
                    let ends = items.iter().map(|item| arith::bounds(&self.symbols, item));
                    let (low, high) =
                        ends.fold((f64::INFINITY, f64::NEG_INFINITY), |all, end| (all.0.min(end.0), all.1.max(end.1)));
                    return Value::Num(Num::range(low, high, Taint::RANDOM));
                }
                // One of some things, or of letters.
                Some(Value::Tuple(items))
                    if !numbers(&items) && !items.iter().any(|item| self.is_range(state, item)) =>
                {
                    return self.unknown(state, Taint::RANDOM.or(Taint::ITEM));
                }
                Some(Value::Sym(id)) => {
                    let built = self.symbols.info(id).is_some_and(|info| matches!(info.node, Node::Binary(..)));
                    let taint = if built { Taint::RANDOM } else { Taint::RANDOM.or(Taint::ITEM) };
                    return self.unknown(state, taint);
                }
                Some(Value::Str(_) | Value::Path(_)) => return self.unknown(state, Taint::RANDOM),
                _ => {}
            }
        }
        // `gen_range(a..b)` has one argument, a range.
        let (low, high) = match (low, high) {
            (Some(low), Some(high)) => (low, high),
            (Some(one), None) | (None, Some(one)) => (Value::Num(Num::exact(0.0)), one),
            (None, None) => match call.args.nth(0) {
                Some(Value::Tuple(items)) if items.len() == 2 => {
                    (items.first().cloned().unwrap_or(Value::None), items.get(1).cloned().unwrap_or(Value::None))
                }
                Some(Value::Object(id)) => match state.objects.get(id) {
                    Some(Object::Range { next, stop: Some(stop), closed, .. }) => {
                        let past = Value::Num(Num::exact(if *closed { 1.0 } else { 0.0 }));
                        (next.clone(), arith::binary(&mut self.symbols, BinOp::Sub, stop, &past))
                    }
                    _ => (Value::Num(Num::exact(0.0)), Value::Num(Num::exact(f64::INFINITY))),
                },
                _ => (Value::Num(Num::exact(0.0)), Value::Num(Num::exact(1.0))),
            },
        };
        let taint = self.symbols.taint(&low).or(self.symbols.taint(&high)).or(Taint::RANDOM);
        let (lo, _) = arith::bounds(&self.symbols, &low);
        let (_, hi) = arith::bounds(&self.symbols, &high);
        if matches!(low, Value::Num(_)) && matches!(high, Value::Num(_)) {
            return Value::Num(Num::range(lo, hi, taint));
        }
        let id = self.symbols.intern(Node::Math("random".into(), [low, high].into()), Taint::RANDOM);
        self.symbols.set_range(id, lo, hi);
        Value::Sym(id)
    }

    fn is_range(&self, state: &State, value: &Value) -> bool {
        let Value::Object(id) = value else { return false };
        matches!(state.objects.get(id), Some(Object::Range { .. }))
    }

    pub(super) fn duration(&mut self, state: &mut State, call: &Call<'_>) -> Value {
        if let Some(receiver) = &call.receiver
            && call.entry.amount.is_none()
            && call.entry.parts.is_empty()
        {
            // Its reading as a number.
            let factor = 1.0 / call.entry.unit.seconds();
            if (factor - 1.0).abs() < f64::EPSILON {
                return receiver.clone();
            }
            return arith::binary(&mut self.symbols, BinOp::Mul, receiver, &Value::Num(Num::exact(factor)));
        }
        if let Some(amount) = self.number(&call.args, call.entry.amount.as_ref()) {
            return self.seconds(&amount, call.entry.unit);
        }
        let mut sum = Value::Num(Num::exact(0.0));
        let mut any = false;
        for part in &call.entry.parts {
            let param = ParamRef { name: part.name.clone(), position: part.position, default: None, former: None };
            if let Some(amount) = call.args.get(&param).cloned() {
                any = true;
                let seconds = self.seconds(&amount, part.unit);
                sum = arith::binary(&mut self.symbols, BinOp::Add, &sum, &seconds);
            }
        }
        if any { sum } else { self.unknown(state, Taint::NONE) }
    }

    pub(super) fn parse_number(&mut self, state: State, call: &Call<'a>, at: At, out: &mut Out) {
        let text = call.receiver.clone().or_else(|| call.args.nth(0).cloned()).unwrap_or(Value::None);
        let wrap = |value: Value| parsed(call, value);
        if let Some(resp) = self.advice_text(&text) {
            if self.plan.advice == Advice::Seconds {
                let id = self.symbols.intern(Node::RetryAfter(resp), Taint::SERVER.or(Taint::FAILURE));
                out.push((state, Res::Value(wrap(Value::Sym(id)))));
                return;
            }
            return self.not_of_this_form(state, &text, call, at, out);
        }
        match &text {
            Value::Str(literal) => {
                if let Ok(number) = literal.trim().parse::<f64>() {
                    out.push((state, Res::Value(wrap(Value::Num(Num::exact(number))))));
                    return;
                }
            }
            Value::Num(_) | Value::Status(..) | Value::Bool(..) => {
                out.push((state, Res::Value(wrap(text))));
                return;
            }
            Value::Sym(id) if self.symbols.info(*id).is_some_and(|info| info.taint.has(Taint::SERVER)) => {
                out.push((state, Res::Value(wrap(text))));
                return;
            }
            _ => {}
        }
        self.may_raise(&state, call.entry, call, out);
        let id = self.symbols.intern(Node::Call("number".into(), [text].into()), Taint::NONE);
        // Whether it can be parsed is not known in a language where that is a value.
        out.push((state, Res::Value(Value::Sym(id))));
    }

    /// The server's advice is parsed as what it is not: a date as a number, a number as a date. Where its form was tested
    /// before, this path is not taken with it.
    fn not_of_this_form(&mut self, mut state: State, text: &Value, call: &Call<'a>, at: At, out: &mut Out) {
        if self.form_was_tested(&state, text) {
            return;
        }
        state.push(Event::ParseFailed(at));
        let error = self.raised(&["builtins.ValueError"]);
        let res = match call.entry.result {
            true => Res::Value(Value::Variant("Err".into(), "Err".into(), [error].into())),
            false => Res::Raise(error),
        };
        out.push((state, res));
    }

    /// Whether a condition on the form of a text was decided on this path.
    pub(super) fn form_was_tested(&self, state: &State, text: &Value) -> bool {
        state.decided.keys().any(|sym| {
            let Some(info) = self.symbols.info(*sym) else { return false };
            let plain = match &info.node {
                Node::Truth(inner) | Node::IsNone(inner) | Node::IsSuccess(inner) => inner == text,
                _ => false,
            };
            !plain && self.symbols.mentions(&Value::Sym(*sym), &mut |value| value == text)
        })
    }

    pub(super) fn parse_date(&mut self, mut state: State, call: &Call<'a>, at: At, out: &mut Out) {
        let mut text = call.receiver.clone().or_else(|| call.args.nth(0).cloned()).unwrap_or(Value::None);
        if self.advice_text(&text).is_none()
            && let Some(found) = call.args.values().find(|arg| self.advice_text(arg).is_some())
        {
            text = found.clone();
        }
        let wrap = |value: Value| parsed(call, value);
        if let Some(resp) = self.advice_text(&text) {
            if self.plan.advice == Advice::Date {
                let id = self.symbols.intern(Node::RetryAfter(resp), Taint::SERVER.or(Taint::FAILURE));
                let now = Value::Num(Num { taint: Taint::CLOCK, ..Num::exact(state.clock) });
                let then = arith::binary(&mut self.symbols, BinOp::Add, &Value::Sym(id), &now);
                state.push(Event::ParsedDate);
                out.push((state, Res::Value(wrap(then))));
                return;
            }
            return self.not_of_this_form(state, &text, call, at, out);
        }
        let value = self.pure_result(&mut state, call);
        out.push((state, Res::Value(value)));
    }
}

/// A parsed value as the call gives it.
fn parsed(call: &Call<'_>, value: Value) -> Value {
    if call.entry.result { Value::Variant("Ok".into(), "Ok".into(), [value].into()) } else { value }
}
