//! Calls of which a model says what they do.

use super::arith;
use super::builders::limit_value;
use super::machine::{End, Machine, Out, Res};
use super::memory::{key_is_retry_after, last_part};
use super::scaling;
use super::state::{Event, Known3, Object, State};
use super::status::StatusSet;
use super::taking::takes;
use super::value::{Exc, F, Inst, Node, Num, Taint, Value};
use crate::ir::BinOp;
use crate::models::{DefaultTimeout, Entry, Kind, ParamRef, Unit};
use std::rc::Rc;

use super::calls::{Args, Call};

impl<'a> Machine<'a> {
    pub(super) fn number(&self, args: &Args, param: Option<&ParamRef>) -> Option<Value> {
        let param = param?;
        if let Some(value) = args.get(param) {
            return Some(value.clone());
        }
        match &param.default {
            #[allow(clippy::cast_precision_loss)]
            Some(toml::Value::Integer(number)) => Some(Value::Num(Num::exact(*number as f64))),
            Some(toml::Value::Float(number)) => Some(Value::Num(Num::exact(*number))),
            _ => None,
        }
    }

    /// An amount of time in seconds.
    pub(super) fn seconds(&mut self, value: &Value, unit: Unit) -> Value {
        let factor = unit.seconds();
        if (factor - 1.0).abs() < f64::EPSILON {
            return value.clone();
        }
        arith::binary(&mut self.symbols, BinOp::Mul, value, &Value::Num(Num::exact(factor)))
    }

    /// A time limit that a call or client is given: `None` not known, `Some(None)` none.
    pub(super) fn timeout_of(&mut self, entry: &Entry, args: &Args) -> Option<Option<F>> {
        let default = match entry.default_timeout {
            Some(DefaultTimeout::Seconds(seconds)) => Some(Some(F(seconds))),
            Some(DefaultTimeout::None(_)) if self.project.has_default_limit(self.file) => None,
            Some(DefaultTimeout::None(_)) => Some(None),
            None => None,
        };
        let Some(param) = &entry.timeout else { return default };
        match args.get(param) {
            Some(value) => Some(limit_value(value)),
            None if args.open => None,
            None => default,
        }
    }

    /// Carries out a call that a model describes.
    pub(super) fn apply(&mut self, mut state: State, call: Call<'a>, out: &mut Out) {
        let entry = call.entry;
        let at = self.at(&state, call.span);
        match entry.kind {
            // In async code a call that is not awaited only prepares another one.
            Kind::Remote if !entry.is_async && self.prepares(&state) => {
                let made = self.prepared_by(&state, &call);
                out.push((state, Res::Value(made)));
            }
            Kind::Request | Kind::Effect | Kind::Remote => {
                self.note_attached(&state, &call);
                if entry.is_async {
                    return self.later(state, call, out);
                }
                self.operation(state, call, out);
            }
            Kind::Sleep => {
                if entry.is_async {
                    return self.later(state, call, out);
                }
                self.sleep(&mut state, &call, at);
                out.push((state, Res::Value(Value::None)));
            }
            Kind::WaitFor => {
                if entry.is_async {
                    return self.later(state, call, out);
                }
                self.wait_for(&mut state, &call, at);
                let value = self.unknown(&mut state, Taint::FLAG);
                out.push((state, Res::Value(value)));
            }
            Kind::Type => {
                let made = self.make(&state, &call);
                self.note_attached(&state, &call);
                out.push((state, Res::Value(made)));
            }
            Kind::Prepare => {
                let made = self.prepare(&call);
                out.push((state, Res::Value(made)));
            }
            Kind::Set => {
                let made = self.set(&mut state, &call);
                if entry.in_place {
                    self.change_receiver(&mut state, made);
                    out.push((state, Res::Value(Value::None)));
                } else {
                    out.push((state, Res::Value(made)));
                }
            }
            Kind::Status => {
                let value = match &call.receiver {
                    Some(Value::Resp(resp)) => Value::Status(*resp, arith::identity_status()),
                    Some(Value::Status(..) | Value::Num(_)) => call.receiver.clone().unwrap_or(Value::None),
                    Some(Value::Exc(exc)) => match exc.resp.or(exc.lost) {
                        Some(resp) => Value::Status(resp, arith::identity_status()),
                        None => Value::None,
                    },
                    _ => self.unknown(&mut state, Taint::FAILURE),
                };
                out.push((state, Res::Value(value)));
            }
            Kind::StatusTest => {
                let set = entry.statuses.as_deref().and_then(StatusSet::parse).unwrap_or_default();
                let value = match &call.receiver {
                    Some(Value::Resp(resp) | Value::Status(resp, _)) => Value::StatusIn(*resp, set),
                    Some(Value::Num(num)) if num.single().is_some() => {
                        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
                        let status = num.lo.0.clamp(0.0, 999.0) as u16;
                        Value::Bool(set.contains(status), num.taint)
                    }
                    Some(receiver) => {
                        let node = Node::Is(receiver.clone(), call.name.clone());
                        Value::Sym(self.symbols.intern(node, Taint::FAILURE))
                    }
                    None => self.unknown(&mut state, Taint::FAILURE),
                };
                out.push((state, Res::Value(value)));
            }
            Kind::RaiseForStatus => self.raise_for_status(state, &call, at, out),
            Kind::ErrorTest => {
                // What sort of error it is: decided once for each error.
                let receiver = call.receiver.clone().unwrap_or(Value::None);
                if let (Value::Exc(_), false) = (&receiver, entry.raises.is_empty()) {
                    let classes = entry.raises.iter().map(|class| Value::Path(class.as_str().into())).collect();
                    return self.handler(state, &receiver, &Value::Tuple(classes), out);
                }
                let node = Node::Is(receiver, call.name.clone());
                let value = Value::Sym(self.symbols.intern(node, Taint::FAILURE));
                out.push((state, Res::Value(value)));
            }
            Kind::Headers => {
                let value = match &call.receiver {
                    Some(Value::Resp(resp)) => Value::Headers(*resp),
                    Some(other) => other.clone(),
                    None => Value::None,
                };
                out.push((state, Res::Value(value)));
            }
            Kind::HeaderRead => {
                let key = entry.key.as_ref().and_then(|key| call.args.get(key)).cloned();
                let value = match (&call.receiver, key) {
                    (Some(Value::Resp(resp) | Value::Headers(resp)), Some(key)) if key_is_retry_after(&key) => {
                        let value = self.advice(&mut state, *resp, at);
                        match (value, call.args.nth(1)) {
                            (Value::None, Some(default)) => default.clone(),
                            (value, _) => value,
                        }
                    }
                    (Some(receiver), Some(key)) => {
                        Value::Sym(self.symbols.intern(Node::Index(receiver.clone(), key), Taint::NONE))
                    }
                    _ => self.unknown(&mut state, Taint::CALL),
                };
                out.push((state, Res::Value(value)));
            }
            Kind::ExceptionResponse => {
                let value = match &call.receiver {
                    Some(receiver) => self.attribute_value(&mut state, &receiver.clone(), &call.name, call.span),
                    None => Value::None,
                };
                out.push((state, Res::Value(value)));
            }
            Kind::Body => {
                let value = match &call.receiver {
                    Some(Value::Resp(resp) | Value::Body(resp)) => {
                        state.push(Event::ReadBody(*resp));
                        Value::Body(*resp)
                    }
                    _ => self.unknown(&mut state, Taint::CALL),
                };
                let value = if entry.is_async && !entry.result {
                    // Awaiting it gives the same.
                    value
                } else if entry.result {
                    Value::Variant("Ok".into(), "Ok".into(), [value].into())
                } else {
                    value
                };
                self.may_raise(&state, entry, &call, out);
                out.push((state, Res::Value(value)));
            }
            Kind::Clock => {
                let taint = Taint::CLOCK;
                let now = Num { taint, ..Num::exact(state.clock / entry.unit.seconds()) };
                out.push((state, Res::Value(Value::Num(now))));
            }
            Kind::Elapsed => {
                let now = Value::Num(Num { taint: Taint::CLOCK, ..Num::exact(state.clock) });
                let then = call.receiver.clone().or_else(|| call.args.nth(0).cloned()).unwrap_or(Value::None);
                let value = arith::binary(&mut self.symbols, BinOp::Sub, &now, &then);
                let value = if entry.result { Value::Variant("Ok".into(), "Ok".into(), [value].into()) } else { value };
                out.push((state, Res::Value(value)));
            }
            Kind::Random => {
                let low = self.number(&call.args, entry.low.as_ref());
                let high = self.number(&call.args, entry.high.as_ref());
                let value = self.random(&mut state, low, high, &call);
                let value = match entry.sort.as_deref().and_then(scaling::named_sort) {
                    Some(sort) => scaling::with_sort(value, sort),
                    None => value,
                };
                out.push((state, Res::Value(value)));
            }
            Kind::Duration => {
                let value = self.duration(&mut state, &call);
                let value = self.span_made(&mut state, &call, value);
                out.push((state, Res::Value(value)));
            }
            Kind::Math => self.arithmetic(state, &call, at, out),
            Kind::ParseNumber => self.parse_number(state, &call, at, out),
            Kind::ParseDate => self.parse_date(state, &call, at, out),
            Kind::Exception => {
                let models = self.models(at.file);
                let class: Rc<str> = models.canonical(&call.path).into();
                let mut exc = self.raised(&[&class]);
                let resp = call.args.values().find_map(|arg| match arg {
                    Value::Resp(resp) => Some(*resp),
                    Value::Exc(exc) => exc.resp,
                    _ => None,
                });
                if let Value::Exc(inner) = &exc {
                    exc = Value::Exc(Rc::new(Exc {
                        resp,
                        args: call.args.values().cloned().collect(),
                        ..(**inner).clone()
                    }));
                }
                out.push((state, Res::Value(exc)));
            }
            Kind::Local => {
                self.may_raise(&state, entry, &call, out);
                let value = self.pure_result(&mut state, &call);
                if entry.used_up
                    && let Value::Sym(id) = value
                {
                    state.push(Event::Renewed(id));
                }
                out.push((state, Res::Value(value)));
            }
            Kind::Derive if entry.function.as_deref() == Some("partial") => {
                let value = self.partial(&mut state, &call);
                out.push((state, Res::Value(value)));
            }
            Kind::Transparent | Kind::Derive => {
                let given = match &entry.value {
                    Some(param) => call.args.get(param),
                    None => call.receiver.as_ref().or_else(|| call.args.nth(0)),
                };
                let value = given.cloned().unwrap_or(Value::None);
                let value = if entry.result && !matches!(value, Value::Variant(..)) {
                    Value::Variant("Ok".into(), "Ok".into(), [value].into())
                } else {
                    value
                };
                out.push((state, Res::Value(value)));
            }
            Kind::Setting => {
                let unset = entry.value.as_ref().and_then(|param| call.args.get(param));
                let value = unset.filter(|value| **value != Value::None).cloned().unwrap_or_else(|| {
                    let name: Rc<[Value]> = call.args.values().cloned().collect();
                    Value::Sym(self.symbols.intern(Node::Call(call.path.clone(), name), Taint::SETTING))
                });
                out.push((state, Res::Value(value)));
            }
            Kind::TimeLimit => self.time_limit(state, call, out),
            Kind::Suppress => {
                let made =
                    Inst { ty: call.path.clone(), parts: call.args.values().cloned().collect(), ..Inst::default() };
                out.push((state, Res::Value(Value::Inst(Rc::new(made)))));
            }
            Kind::Runs => self.runs(state, call, out),
            Kind::StopFlag => {
                // A cancellation comes when it is waited for.
                if entry.interrupt && entry.is_async && self.plan.probe.is_some() {
                    return self.later(state, call, out);
                }
                let value = self.flag(&mut state);
                out.push((state, Res::Value(value)));
            }
            Kind::Fresh => {
                let value = self.unknown(&mut state, Taint::FRESH);
                out.push((state, Res::Value(value)));
            }
            Kind::Decorator => {
                let value = self.make_decorator(&state, &call);
                out.push((state, Res::Value(value)));
            }
            Kind::QueryPath | Kind::Crowd => out.push((state, Res::Value(Value::None))),
            Kind::Source => {
                if entry.is_async {
                    return self.later(state, call, out);
                }
                self.may_raise(&state, entry, &call, out);
                let value = match takes(entry, &call.args) {
                    true => self.take_work(&mut state, &call, at),
                    false => self.pure_result(&mut state, &call),
                };
                out.push((state, Res::Value(value)));
            }
            Kind::Put => {
                self.may_raise(&state, entry, &call, out);
                self.put_work(&mut state, &call);
                let value = self.pure_result(&mut state, &call);
                out.push((state, Res::Value(value)));
            }
            Kind::Exit => out.push((state, Res::End(End::Abort))),
            Kind::EndlessIterator => {
                let place = self.place(&state);
                let id = self.symbols.intern(Node::New(place), Taint::NONE);
                let item = call.args.nth(0).cloned().unwrap_or(Value::Num(Num::exact(0.0)));
                let bounded = call.args.nth(1).cloned().or_else(|| {
                    call.args.list.iter().find(|(name, _)| name.as_deref() == Some("times")).map(|(_, v)| v.clone())
                });
                let object = match (bounded, last_part(&call.path)) {
                    (Some(times), "repeat") => Object::Range {
                        next: Value::Num(Num::exact(0.0)),
                        step: Value::Num(Num::exact(1.0)),
                        stop: Some(times),
                        taken: 0,
                        closed: false,
                    },
                    (_, "count") => {
                        let step = call.args.nth(1).cloned().unwrap_or(Value::Num(Num::exact(1.0)));
                        Object::Range { next: item, step, stop: None, taken: 0, closed: false }
                    }
                    _ => Object::Endless(item, 0),
                };
                Rc::make_mut(&mut state.objects).insert(id, object);
                out.push((state, Res::Value(Value::Object(id))));
            }
            Kind::StatusConstant | Kind::TextConstant | Kind::NumberConstant => {
                let value = self.path_value(&state, &call.path);
                out.push((state, Res::Value(value)));
            }
            Kind::Retry => self.piece_call(state, &call, out),
        }
    }

    pub(super) fn pure_result(&mut self, state: &mut State, call: &Call<'_>) -> Value {
        let mut parts: Vec<Value> = call.receiver.iter().cloned().collect();
        parts.extend(call.args.values().cloned());
        // What is used up is known by what made it, of nothing too.
        if parts.is_empty() && !call.entry.used_up {
            return self.unknown(state, Taint::NONE);
        }
        // What is made of a response's content is its content.
        if let [Value::Body(resp)] = parts.as_slice() {
            return Value::Body(*resp);
        }
        Value::Sym(self.symbols.intern(Node::Call(call.path.clone(), parts.into()), Taint::NONE))
    }

    /// The paths on which a local call raises, where that can be caught.
    pub(super) fn may_raise(&mut self, state: &State, entry: &Entry, call: &Call<'a>, out: &mut Out) {
        if entry.raises.is_empty() || entry.result || state.failed.is_some() || state.left || !self.plan.explores() {
            return;
        }
        if !self.can_be_caught(state) {
            return;
        }
        let mut state = state.clone();
        let models = self.models(self.at(&state, call.span).file);
        let classes = models.leaf_exceptions(&entry.raises);
        let classes: Rc<[Rc<str>]> = classes.iter().map(|class| Rc::from(class.as_str())).collect();
        let info = self.op_info(&mut state, call, Known3::No);
        self.fail(&mut state, &info, super::state::Failing::Raises(classes.clone()), call.span);
        let exc = Exc { classes, resp: None, lost: None, args: Rc::from([]), object: None };
        out.push((state, Res::Raise(Value::Exc(Rc::new(exc)))));
    }
}
