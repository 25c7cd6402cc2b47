//! The pieces of a retry policy as values: stops, waits, conditions, and the policies that are made of them.
//!
//! A piece is an [`Inst`] that keeps the arguments which its model's entry names (`takes`); what it does is the entry's
//! `function`. The prelude asks a policy for its answers (`failed`, `over`, `pause`, …) and gets them here. What a
//! piece leaves to a callable of the project's is found by calling that.

use std::rc::Rc;

use super::arith;
use super::calls::{Args, Call};
use super::machine::{Machine, Out, Res};
use super::memory::fixed;
use super::settings::asks_again;
use super::state::State;
use super::value::{ANY, Exc, Inst, Node, Num, Taint, Type, Value};
use crate::frontend::prelude;
use crate::ir::BinOp;
use crate::models::{Entry, Exhausted, Kind, Unit};
use crate::source::Span;

/// What marks an [`Inst`] as a piece, a state or an attempt.
pub(super) const PIECE: &str = "~";
const STATE: &str = "~state";
const ATTEMPT: &str = "~attempt";
/// How deep pieces nest.
pub(super) const DEPTH: u32 = 6;

/// A piece with what is known of its kind.
#[derive(Debug, Clone)]
pub(super) struct Piece<'a> {
    pub entry: &'a Entry,
    pub inst: Rc<Inst>,
}

impl<'a> Piece<'a> {
    pub fn word(&self) -> &'a str {
        self.entry.function.as_deref().unwrap_or_default()
    }

    /// What was given for a part, or holds where nothing is.
    pub fn part(&self, key: &str) -> Option<&Value> {
        self.inst.parts.get(2..)?.chunks_exact(2).find_map(|pair| match pair {
            [Value::Str(name), value] if &**name == key => Some(value),
            _ => None,
        })
    }

    /// The positional arguments.
    pub fn rest(&self) -> Vec<Value> {
        match self.part("rest") {
            Some(Value::Tuple(items)) => match items.as_ref() {
                [Value::Tuple(inner)] => inner.to_vec(),
                items => items.to_vec(),
            },
            _ => Vec::new(),
        }
    }

    /// Whether it has what it needs to repeat anything.
    pub fn is_told(&self) -> bool {
        let says_no = |value: &Value| match value {
            Value::None | Value::Bool(false, _) => true,
            // Where nought is no limit, it says a great deal.
            Value::Num(num) => num.single() == Some(0.0) && self.entry.endless_below.is_none_or(|least| least <= 0.0),
            Value::Tuple(items) => items.is_empty(),
            _ => false,
        };
        self.entry.needs.iter().all(|key| self.part(key).is_some_and(|part| !says_no(part)))
    }

    /// Arguments that cannot be seen were given.
    pub fn open(&self) -> bool {
        self.inst.opaque_headers
    }

    pub fn value(&self) -> Value {
        Value::Inst(self.inst.clone())
    }
}

/// An option by what is in it: to be told `Some(limit)` is to be told the limit.
fn plain(value: Value) -> Value {
    match &value {
        Value::Variant(name, _, args) => match (&**name, &**args) {
            ("Some", [inner]) => inner.clone(),
            ("None", []) => Value::None,
            _ => value,
        },
        _ => value,
    }
}

pub(super) fn number(value: f64) -> Value {
    Value::Num(Num::exact(value))
}

pub(super) fn marked<'v>(value: &'v Value, mark: &str) -> Option<&'v [Value]> {
    match value {
        Value::Inst(inst) => match inst.parts.split_first() {
            Some((Value::Str(first), rest)) if &**first == mark => Some(rest),
            _ => None,
        },
        _ => None,
    }
}

/// The file of the innermost activation: the one whose models apply.
pub(super) fn here(state: &State) -> u32 {
    state.top().map_or(0, |frame| frame.func.file)
}

pub(super) fn is_callable(value: &Value) -> bool {
    matches!(value, Value::Func(..) | Value::Bound(_) | Value::Partial(_))
}

impl<'a> Machine<'a> {
    // ---- making ----

    /// The piece that a value is: one that was made, or a name that stands for one made without arguments.
    pub(super) fn piece(&mut self, file: u32, value: &Value) -> Option<Piece<'a>> {
        let models = self.models(file);
        match value {
            Value::Inst(inst) => match marked(value, PIECE)? {
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
                [Value::Num(at), ..] => {
                    Some(Piece { entry: models.entries().get(at.lo.0 as usize)?, inst: inst.clone() })
                }
                _ => None,
            },
            Value::Path(path) => {
                let entry = models.function(path).filter(|entry| entry.kind == Kind::Retry)?;
                Some(self.make_piece(file, entry, &Args::default(), None, None))
            }
            _ => None,
        }
    }

    pub(super) fn make_piece(
        &mut self,
        file: u32,
        entry: &'a Entry,
        args: &Args,
        receiver: Option<&Inst>,
        state: Option<&State>,
    ) -> Piece<'a> {
        let models = self.models(file);
        let at = models.entries().iter().position(|other| std::ptr::eq(other, entry)).unwrap_or(usize::MAX);
        #[allow(clippy::cast_precision_loss)]
        let mut parts = vec![Value::Str(PIECE.into()), number(at as f64)];
        let keep = |value: &Value| state.map_or_else(|| value.clone(), |state| fixed(state, value, 4));
        let args = &self.with_more(entry, args, state);
        for (key, param) in &entry.takes {
            let default = match &param.default {
                // What cannot be seen may say otherwise.
                Some(toml::Value::Integer(_) | toml::Value::Float(_) | toml::Value::Boolean(_)) if args.open => None,
                #[allow(clippy::cast_precision_loss)]
                Some(toml::Value::Integer(number)) => Some(Value::Num(Num::exact(*number as f64))),
                Some(toml::Value::Float(number)) => Some(Value::Num(Num::exact(*number))),
                Some(toml::Value::Boolean(truth)) => Some(Value::Bool(*truth, Taint::NONE)),
                Some(toml::Value::String(path)) => Some(Value::Path(path.as_str().into())),
                _ => None,
            };
            let given = args.get(param).map(keep).map(plain);
            let given = match given {
                Some(Value::Path(path)) if entry.passes_on => {
                    // What else was given belongs to this piece.
                    match models.function(&path).filter(|inner| inner.kind == Kind::Retry) {
                        Some(inner) => {
                            let list = args.list.iter().filter(|(name, _)| name.is_some()).cloned().collect();
                            let named = Args { list, open: args.open, ..Args::default() };
                            Some(self.make_piece(file, inner, &named, None, state).value())
                        }
                        None => Some(Value::Path(path)),
                    }
                }
                other => other,
            };
            if let Some(value) = given.or(default) {
                parts.push(Value::Str(key.as_str().into()));
                parts.push(value);
            }
        }
        if let Some(wait) = self.wait_by_its_arguments(file, entry, args, state) {
            parts.extend([Value::Str("wait".into()), wait]);
        }
        let rest: Vec<Value> = args.list.iter().filter(|(name, _)| name.is_none()).map(|(_, v)| keep(v)).collect();
        parts.push(Value::Str("rest".into()));
        parts.push(Value::Tuple(rest.into()));
        if let Some(receiver) = receiver {
            parts.push(Value::Str("receiver".into()));
            parts.push(Value::Inst(Rc::new(receiver.clone())));
        }
        let ty = entry.gives.as_ref().or(entry.functions.first()).or(entry.types.first());
        let inst = Inst {
            ty: ty.map_or("", String::as_str).into(),
            opaque_headers: args.open,
            made_here: true,
            parts: parts.into(),
            ..Inst::default()
        };
        let mut piece = Piece { entry, inst: Rc::new(inst) };
        self.count_retries(file, &mut piece);
        piece
    }

    /// Carries out a call of a `retry` entry.
    pub(super) fn piece_call(&mut self, mut state: State, call: &Call<'a>, out: &mut Out) {
        let file = state.top().map_or(self.file, |frame| frame.func.file);
        let word = call.entry.function.as_deref().unwrap_or_default();
        if word.starts_with("state-") {
            let receiver = call.receiver.clone().unwrap_or(Value::None);
            let value = self.state_part(&mut state, &receiver, call.entry);
            out.push((state, Res::Value(value)));
            return;
        }
        match word {
            "again" => return self.run_again(state, call, out),
            "next-wait" | "begin-again" => return self.ask_for_wait(state, call, out),
            _ => {}
        }
        let receiver = match &call.receiver {
            Some(Value::Inst(inst)) => Some(inst.clone()),
            _ => None,
        };
        if word == "with" {
            let value = self.piece_with(&mut state, call);
            self.begin_draws(&mut state, &value);
            self.note_setting(&state, call.receiver.as_ref(), &value, call.span, false);
            out.push((state, Res::Value(value)));
            return;
        }
        let mut args = call.args.clone();
        for (_, value) in &mut args.list {
            if let Some(made) = self.assumed(&mut state, value) {
                *value = made;
            }
        }
        if word == "run" {
            let piece = self.make_piece(file, call.entry, &args, receiver.as_deref(), Some(&state));
            let run = piece.part("call").cloned();
            let of = receiver.map(Value::Inst).filter(|value| self.is_policy(file, value));
            let (policy, run) = match (of, run) {
                (Some(policy), run) => {
                    let kept = self.piece(file, &policy).and_then(|piece| piece.part("call").cloned());
                    (policy, run.or(kept).or_else(|| call.args.nth(0).cloned()))
                }
                (None, Some(run)) => (piece.value(), Some(run)),
                // A method of what is run, given the policy.
                (None, None) => (piece.value(), call.receiver.clone()),
            };
            let run = run.unwrap_or(Value::None);
            let args = Args { list: vec![(None, run.clone())], open: false, ..Args::default() };
            self.note_driven(&state, &policy, &run, &args, call.span);
            let value = self.unknown(&mut state, Taint::CALL);
            out.push((state, Res::Value(value)));
            return;
        }
        if word == "policy" {
            // A decorator used without a call is given the function at once.
            if let (Some(function), 1, false) = (call.args.nth(0), call.args.list.len(), call.args.open)
                && (is_callable(function) || matches!(function, Value::Path(_)))
                && call.receiver.is_none()
                && !call.entry.takes.values().any(|param| param.position == Some(0))
            {
                let piece = self.make_piece(file, call.entry, &Args::default(), None, Some(&state));
                return self.decorated(state, piece.value(), &call.args, call.span, out);
            }
        }
        let mut piece = self.make_piece(file, call.entry, &args, receiver.as_deref(), Some(&state));
        if piece.entry.repeats.is_some() {
            Rc::make_mut(&mut piece.inst).told = Some(self.at(&state, call.span));
        }
        let mut made = piece.value();
        self.begin_draws(&mut state, &made);
        self.note_setting(&state, None, &made, call.span, false);
        self.note_kept(&state, &piece, call.span);
        // A method of what is run: it is kept, to be run when the policy is told to.
        if word == "policy"
            && let (Some(run), Value::Inst(inst)) = (call.receiver.as_ref().filter(|run| is_callable(run)), &made)
        {
            let mut inst = (**inst).clone();
            inst.parts = inst.parts.iter().cloned().chain([Value::Str("call".into()), run.clone()]).collect();
            made = Value::Inst(Rc::new(inst));
        }
        out.push((state, Res::Value(made)));
    }

    /// Runs a policy that was made of what it runs; false where the value is no such thing.
    pub(super) fn run_kept(&mut self, state: &mut State, value: &Value, span: Span) -> bool {
        if marked(value, PIECE).is_none() {
            return false;
        }
        let Some(piece) = self.piece(here(state), value).filter(|piece| piece.word() == "policy") else { return false };
        let Some(run) = piece.part("call").cloned() else { return false };
        let args = Args { list: vec![(None, run.clone())], open: false, ..Args::default() };
        self.note_driven(state, value, &run, &args, span);
        true
    }

    /// The piece that a value of such a type is, where it was made out of sight: each of its parts is unknown.
    pub(super) fn assumed(&mut self, state: &mut State, value: &Value) -> Option<Value> {
        if marked(value, PIECE).is_some() {
            return None;
        }
        let ty: Rc<str> = match value {
            Value::Inst(inst) => inst.ty.clone(),
            Value::Sym(id) => match self.symbols.info(*id)?.ty.clone()? {
                Type::Model(ty) => ty,
                _ => return None,
            },
            _ => return None,
        };
        let models = self.models(here(state));
        let is_wait = |entry: &&Entry| {
            entry.kind == Kind::Retry
                && models.holds(entry)
                && entry.gives.as_deref() == Some(&*ty)
                && entry.function.as_deref().is_some_and(|word| word.starts_with("wait-"))
        };
        let entry = models.entries().iter().find(is_wait)?;
        let piece = self.make_piece(here(state), entry, &Args::default(), None, Some(state));
        let mut inst = (*piece.inst).clone();
        let mut parts: Vec<Value> = inst.parts.iter().take(2).cloned().collect();
        for (key, param) in &entry.takes {
            let value = match (key.as_str(), &param.default) {
                ("jitter", Some(toml::Value::String(path))) => Value::Path(path.as_str().into()),
                ("base", Some(toml::Value::Integer(base))) =>
                {
                    #[allow(clippy::cast_precision_loss)]
                    number(*base as f64)
                }
                _ => self.unknown(state, Taint::INPUT),
            };
            parts.extend([Value::Str(key.as_str().into()), value]);
        }
        inst.parts = parts.into();
        Some(Value::Inst(Rc::new(inst)))
    }

    /// A piece with some parts set anew (a builder's method, an adaptor of an iterator of waits).
    fn piece_with(&mut self, state: &mut State, call: &Call<'a>) -> Value {
        let Some(receiver) = &call.receiver else { return Value::None };
        let receiver = match marked(receiver, PIECE) {
            Some(_) => receiver.clone(),
            None => self.assumed(state, receiver).unwrap_or_else(|| receiver.clone()),
        };
        let Value::Inst(inst) = &receiver else { return receiver };
        if marked(&receiver, PIECE).is_none() {
            return receiver;
        }
        let mut inst = (**inst).clone();
        let mut parts = inst.parts.to_vec();
        // A span of time says itself how long it is.
        let unit = self.piece(here(state), &receiver).map(|piece| piece.entry.unit.seconds());
        let unit = unit.filter(|unit| call.entry.unit == Unit::Duration && *unit != 1.0);
        for (key, param) in &call.entry.takes {
            let value = match (call.args.get(param), &param.default) {
                (Some(value), _) => plain(fixed(state, value, 4)),
                (None, Some(toml::Value::String(path))) => Value::Path(path.as_str().into()),
                #[allow(clippy::cast_precision_loss)]
                (None, Some(toml::Value::Integer(number))) => Value::Num(Num::exact(*number as f64)),
                _ => Value::None,
            };
            let value = match unit {
                Some(unit) => arith::binary(&mut self.symbols, BinOp::Mul, &value, &number(1.0 / unit)),
                None => value,
            };
            // The first that holds is read: what was set last stands before.
            parts.splice(2..2, [Value::Str(key.as_str().into()), value]);
        }
        inst.parts = parts.into();
        let value = Value::Inst(Rc::new(inst));
        match self.piece(here(state), &value) {
            Some(mut piece) => {
                self.count_retries(here(state), &mut piece);
                piece.value()
            }
            None => value,
        }
    }

    /// Whether a value is a policy, so that calling it with a function runs or decorates that.
    pub(super) fn is_policy(&mut self, file: u32, value: &Value) -> bool {
        self.piece(file, value).is_some_and(|piece| matches!(piece.word(), "policy" | "run") && piece.is_told())
    }

    /// `a | b`, `a & b`, `a + b` of pieces.
    pub(super) fn combined(&mut self, state: &State, op: BinOp, a: &Value, b: &Value) -> Option<Value> {
        let combines = matches!(op, BinOp::BitOr | BinOp::BitAnd | BinOp::Add);
        if !combines || !(marked(a, PIECE).is_some() || marked(b, PIECE).is_some()) {
            return None;
        }
        let file = state.top().map_or(self.file, |frame| frame.func.file);
        let first = self.piece(file, a).or_else(|| self.piece(file, b))?;
        let word = match (op, first.word().split('-').next()?) {
            (BinOp::BitOr, "stop") => "stop-any",
            (BinOp::BitAnd, "stop") => "stop-all",
            (BinOp::Add, "wait") => "wait-sum",
            (BinOp::BitOr, "when") => "when-any",
            (BinOp::BitAnd, "when") => "when-all",
            _ => return None,
        };
        let models = self.models(file);
        let entry = models.entries().iter().find(|entry| {
            entry.kind == Kind::Retry && entry.function.as_deref() == Some(word) && entry.library == first.entry.library
        })?;
        let args = Args { list: vec![(None, a.clone()), (None, b.clone())], open: false, ..Args::default() };
        Some(self.make_piece(file, entry, &args, None, None).value())
    }

    // ---- answers ----

    /// A question of the prelude to a piece.
    pub(super) fn piece_method(
        &mut self,
        mut state: State,
        receiver: &Value,
        name: &str,
        args: &Args,
        span: Span,
        out: &mut Out,
    ) {
        let at = self.at(&state, span);
        let arg = |index: usize| args.nth(index).cloned().unwrap_or(Value::None);
        match name {
            "begun" => {
                let now = Num { taint: Taint::CLOCK, ..Num::exact(state.clock) };
                out.push((state, Res::Value(Value::Num(now))));
            }
            "succeeded" => {
                let value = self.is_success(&arg(0));
                out.push((state, Res::Value(value)));
            }
            "failure" => {
                let value = self.payload(&arg(0), false);
                out.push((state, Res::Value(value)));
            }
            "judge" | "pending" | "next" => self.judged(state, receiver, name, args, span, out),
            "failed" => self.failed(state, receiver, arg(0), arg(1), span, out),
            "unwanted" => self.unwanted(state, receiver, arg(0), arg(1), span, out),
            "over" => {
                let over = match self.piece(here(&state), receiver) {
                    Some(policy) => self.over(&mut state, &policy, &[arg(0), arg(1), arg(2)], span),
                    None => self.unknown(&mut state, Taint::CALL),
                };
                out.push((state, Res::Value(over)));
            }
            "tell" => self.tell(state, receiver, [arg(0), arg(1), arg(2)], span, out),
            "pause" => self.pause(state, receiver, [arg(0), arg(1), arg(2)], span, out),
            "rest" => {
                self.rest(&mut state, receiver, &arg(0), at);
                out.push((state, Res::Value(Value::None)));
            }
            "leave" => self.leave(state, receiver, [arg(0), arg(1), arg(2)], span, out),
            _ => {
                let value = self.unknown(&mut state, Taint::CALL);
                out.push((state, Res::Value(value)));
            }
        }
    }

    pub(super) fn ask_prelude(&mut self, state: State, name: &str, args: Vec<Value>, span: Span, out: &mut Out) {
        let list = Args { list: args.into_iter().map(|value| (None, value)).collect(), open: false, ..Args::default() };
        let here = here(&state);
        let file = match self.project.module(here) {
            Some(module) if !prelude::is(here) => prelude::file_for(module.language),
            _ => here,
        };
        match prelude::function(file, name).map(|func| super::value::FuncRef { file, func }) {
            Some(func) => self.call_function(state, func, None, None, list, span, out),
            None => out.push((state, Res::Value(Value::Bool(true, Taint::CALL)))),
        }
    }

    fn no(state: State, out: &mut Out) {
        out.push((state, Res::Value(Value::Bool(false, Taint::NONE))));
    }

    /// Calls a callable of the project's with the failure, or with the state where that is what the library gives it.
    pub(super) fn ask(&mut self, mut state: State, callable: &Value, given: Value, out: &mut Out, span: Span) {
        if is_callable(callable) {
            let args = Args { list: vec![(None, given)], open: false, ..Args::default() };
            return self.call_value(state, callable.clone(), args, span, out);
        }
        // Whether it would is not known: a property of the failure.
        let node = Node::Call("asked".into(), [callable.clone(), given].into());
        let id = self.symbols.intern(node, Taint::FAILURE);
        state.guessed = true;
        out.push((state, Res::Value(Value::Sym(id))));
    }

    pub(super) fn attempt_state(piece: &Piece<'a>, attempt: Value, error: Value, result: Value) -> Option<Value> {
        let ty = piece.entry.state.as_deref()?;
        let parts = [Value::Str(STATE.into()), attempt, error, result];
        Some(Value::Inst(Rc::new(Inst { ty: ty.into(), parts: parts.into(), ..Inst::default() })))
    }

    /// Whether a failure is one that is tried again.
    fn failed(&mut self, state: State, receiver: &Value, error: Value, attempt: Value, span: Span, out: &mut Out) {
        let Some(piece) = self.piece(here(&state), receiver) else {
            // Classes, or a callable that says so.
            return match receiver {
                value if is_callable(value) => self.ask(state, value, error, out, span),
                Value::Sym(_) => self.ask(state, receiver, error, out, span),
                types => self.handler(state, &error, types, out),
            };
        };
        let given = Self::attempt_state(&piece, attempt.clone(), error.clone(), Value::None);
        match piece.word() {
            "policy" | "run" if asks_again(&piece, &error).is_some() => {
                out.push((state, Res::Value(Value::Bool(true, Taint::NONE))));
            }
            "policy" if !piece.is_told() => Self::no(state, out),
            "policy" | "run" => {
                let when = match piece.part("when").or(piece.part("classes")) {
                    None | Some(Value::None) => None,
                    Some(when) => Some(when.clone()),
                };
                if when.is_none() && piece.part("result").is_some() {
                    return Self::no(state, out);
                }
                if when.is_none() && piece.open() {
                    return self.ask(state, receiver, error, out, span);
                }
                if let Some(unless) = piece.part("unless").filter(|unless| **unless != Value::None).cloned() {
                    let when = when.unwrap_or_else(|| classes(&piece.entry.raises));
                    return self.ask_prelude(state, "failed_unless", vec![when, unless, error, attempt], span, out);
                }
                match when {
                    Some(when) if is_callable(&when) => self.ask(state, &when, given.unwrap_or(error), out, span),
                    // Classes that are not in sight are classes all the same.
                    Some(types @ Value::Sym(_)) if piece.part("when").is_none() => {
                        self.handler(state, &error, &types, out);
                    }
                    Some(when) => self.failed(state, &when, error, attempt, span, out),
                    // A client repeats what its requests fail with, and no interrupt.
                    None if piece.entry.raises.is_empty() && piece.entry.repeats.is_some() => {
                        let repeated = self.repeated_classes(&state, &piece);
                        self.handler(state, &error, &classes(&repeated), out);
                    }
                    None if piece.entry.raises.is_empty() => {
                        out.push((state, Res::Value(Value::Bool(true, Taint::NONE))));
                    }
                    None => self.handler(state, &error, &classes(&piece.entry.raises), out),
                }
            }
            "when-exception" => {
                let named = match piece.rest() {
                    rest if rest.is_empty() || piece.entry.takes.contains_key("classes") => None,
                    rest => Some(Value::Tuple(rest.into())),
                };
                let types = piece.part("classes").cloned().or(named);
                let types = types.unwrap_or_else(|| classes(&piece.entry.raises));
                match types {
                    types if is_callable(&types) => self.ask(state, &types, error, out, span),
                    types => self.handler(state, &error, &types, out),
                }
            }
            "when-not-exception" => {
                let types = piece.part("classes").cloned().unwrap_or_else(|| classes(&piece.entry.raises));
                self.ask_prelude(state, "not_failed", vec![types, error, attempt], span, out);
            }
            "when-call" => {
                let callable = piece.part("value").cloned().unwrap_or(Value::None);
                self.ask(state, &callable, given.unwrap_or(error), out, span);
            }
            "when-result" | "when-not-result" | "when-false" | "when-never" => Self::no(state, out),
            "when-any" => {
                let rest = Value::Tuple(piece.rest().into());
                self.ask_prelude(state, "any_failed", vec![rest, error, attempt], span, out);
            }
            "when-all" => {
                let rest = Value::Tuple(piece.rest().into());
                self.ask_prelude(state, "all_failed", vec![rest, error, attempt], span, out);
            }
            "when-always" => out.push((state, Res::Value(Value::Bool(true, Taint::NONE)))),
            "when-variant" => {
                let named = |path: &str| piece.entry.raises.iter().any(|wanted| wanted == path);
                let is = match &error {
                    Value::Variant(_, path, _) => named(path),
                    Value::Inst(inst) => named(&inst.ty),
                    _ => false,
                };
                out.push((state, Res::Value(Value::Bool(is, Taint::FAILURE))));
            }
            _ => self.ask(state, receiver, error, out, span),
        }
    }

    /// Whether a result is one that is tried again.
    fn unwanted(&mut self, state: State, receiver: &Value, result: Value, attempt: Value, span: Span, out: &mut Out) {
        let Some(piece) = self.piece(here(&state), receiver) else { return Self::no(state, out) };
        match (piece.word(), &result) {
            ("policy" | "run", Value::Resp(resp)) if piece.entry.repeats.is_some() => {
                self.unwanted_answer(state, &piece, *resp, span, out);
            }
            _ => self.unwanted_value(state, &piece, result, attempt, span, out),
        }
    }

    fn unwanted_value(
        &mut self,
        state: State,
        piece: &Piece<'a>,
        result: Value,
        attempt: Value,
        span: Span,
        out: &mut Out,
    ) {
        match piece.word() {
            "policy" | "run" => match piece.part("result").or(piece.part("when")).cloned() {
                Some(asked) if is_callable(&asked) && piece.part("result").is_some() => {
                    self.ask(state, &asked, result, out, span);
                }
                Some(when) => self.unwanted(state, &when, result, attempt, span, out),
                None => Self::no(state, out),
            },
            "when-result" => {
                let callable = piece.part("value").cloned().unwrap_or(Value::None);
                self.ask(state, &callable, result, out, span);
            }
            "when-not-result" => {
                let inner = piece.part("value").cloned().unwrap_or(Value::None);
                self.ask_prelude(state, "not_unwanted", vec![inner, result, attempt], span, out);
            }
            "when-false" => {
                let value = arith::not(&mut self.symbols, &result);
                out.push((state, Res::Value(value)));
            }
            "when-any" => {
                let rest = Value::Tuple(piece.rest().into());
                self.ask_prelude(state, "any_unwanted", vec![rest, result, attempt], span, out);
            }
            "when-all" => {
                let rest = Value::Tuple(piece.rest().into());
                self.ask_prelude(state, "all_unwanted", vec![rest, result, attempt], span, out);
            }
            "when-always" => out.push((state, Res::Value(Value::Bool(true, Taint::NONE)))),
            _ => Self::no(state, out),
        }
    }

    // ---- the end ----

    fn leave(&mut self, mut state: State, receiver: &Value, about: [Value; 3], span: Span, out: &mut Out) {
        let [attempt, error, result] = about;
        let policy = self.piece(here(&state), receiver);
        let raised = |error: &Value| match error {
            Value::Exc(_) => error.clone(),
            _ => Value::Exc(Rc::new(Exc {
                classes: [Rc::from(ANY)].into(),
                resp: None,
                lost: None,
                args: Rc::from([]),
                object: None,
            })),
        };
        let Some(policy) = policy else {
            out.push((state, Res::Raise(raised(&error))));
            return;
        };
        if let Some(callback) = policy.part("callback").filter(|callback| **callback != Value::None).cloned() {
            let given = Self::attempt_state(&policy, attempt, error, result).unwrap_or(Value::None);
            if is_callable(&callback) {
                let args = Args { list: vec![(None, given)], open: false, ..Args::default() };
                return self.call_value(state, callback, args, span, out);
            }
            let value = self.unknown(&mut state, Taint::CALL);
            out.push((state, Res::Value(value)));
            return;
        }
        let silent = matches!(policy.part("raises"), Some(Value::Bool(false, _)));
        let how = policy.entry.exhausted.unwrap_or(Exhausted::Raises);
        match (how, &error) {
            _ if silent && matches!(result, Value::Resp(_)) => out.push((state, Res::Value(result))),
            _ if silent => out.push((state, Res::Value(Value::None))),
            (Exhausted::Nothing, _) => out.push((state, Res::Value(Value::None))),
            (Exhausted::Last, Value::None) => out.push((state, Res::Value(result))),
            _ => {
                let bare = !matches!(policy.part("bare"), None | Some(Value::Bool(false, _)));
                let error = match (raised(&error), policy.entry.wraps.as_deref().filter(|_| !bare)) {
                    (Value::Exc(exc), Some(class)) => Value::Exc(Rc::new(Exc {
                        classes: [Rc::from(class)].into(),
                        resp: None,
                        lost: exc.resp.or(exc.lost),
                        args: [Value::Exc(exc)].into(),
                        object: None,
                    })),
                    (error, _) => error,
                };
                out.push((state, Res::Raise(error)));
            }
        }
    }

    /// What the state that a callable is given says.
    pub(super) fn state_part(&mut self, state: &mut State, receiver: &Value, entry: &Entry) -> Value {
        let Some([attempt, error, result]) = marked(receiver, STATE) else {
            return self.unknown(state, Taint::CALL);
        };
        match entry.function.as_deref().unwrap_or_default() {
            "state-attempt" => attempt.clone(),
            "state-outcome" => receiver.clone(),
            "state-error" => error.clone(),
            "state-result" => result.clone(),
            _ => self.unknown(state, Taint::CLOCK),
        }
    }

    // ---- a policy that is gone through: `for attempt in policy: with attempt: …` ----

    /// The next attempt of a policy that is gone through; `None` where the iterator is no such thing.
    pub(super) fn next_attempt(&mut self, state: &mut State, iterator: &Value) -> Option<Option<Value>> {
        let Value::Object(id) = iterator else { return None };
        let (policy, taken) = match state.objects.get(id)? {
            super::state::Object::Unknown(source, taken) => (source.clone(), *taken),
            _ => return None,
        };
        let file = state.top().map_or(self.file, |frame| frame.func.file);
        if !self.is_policy(file, &policy) {
            return None;
        }
        let ended = state.heap.get(&(*id, "ended".into())).is_some();
        if ended {
            // The turn that finds only that all is done is none.
            state.turns = state.turns.saturating_sub(1);
            return Some(None);
        }
        let begun: Rc<str> = "begun".into();
        if taken == 0 {
            let now = Value::Num(Num { taint: Taint::CLOCK, ..Num::exact(state.clock) });
            Rc::make_mut(&mut state.heap).insert((*id, begun.clone()), now);
        }
        let begun = state.heap.get(&(*id, begun)).cloned().unwrap_or(Value::None);
        Rc::make_mut(&mut state.objects).insert(*id, super::state::Object::Unknown(policy.clone(), taken + 1));
        let parts = [Value::Str(ATTEMPT.into()), policy, number(f64::from(taken + 1)), begun, iterator.clone()];
        Some(Some(Value::Inst(Rc::new(Inst { ty: ATTEMPT.into(), parts: parts.into(), ..Inst::default() }))))
    }

    pub(super) fn is_attempt(&self, value: &Value) -> bool {
        marked(value, ATTEMPT).is_some()
    }

    /// The end of a `with attempt:` block.
    pub(super) fn leave_attempt(&mut self, mut state: State, attempt: &Value, exception: Option<Value>, out: &mut Out) {
        let Some([policy, taken, begun, iterator]) = marked(attempt, ATTEMPT) else { return };
        let Some(error) = exception else {
            if let Value::Object(id) = iterator {
                Rc::make_mut(&mut state.heap).insert((*id, "ended".into()), Value::Bool(true, Taint::NONE));
            }
            out.push((state, Res::Value(Value::None)));
            return;
        };
        let args = vec![policy.clone(), taken.clone(), begun.clone(), error];
        self.ask_prelude(state, "leave_attempt", args, Span::default(), out);
    }
}

fn classes(paths: &[String]) -> Value {
    Value::Tuple(paths.iter().map(|path| Value::Path(path.as_str().into())).collect())
}
