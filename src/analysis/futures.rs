//! What happens later, for a while, or elsewhere: futures, waits, time limits, tasks and threads.

use super::arith;
use super::builders::limit_value;
use super::calls::Args;
use super::calls::Call;
use super::machine::{Machine, Out, Res};
use super::memory::last_part;
use super::state::{At, Event, Gives, Known3, State};
use super::value::{ANY, Inst, Num, Pending, Taint, Value};
use crate::ir::BinOp;
use crate::models::Kind;
use crate::source::Span;
use std::rc::Rc;

impl<'a> Machine<'a> {
    /// A call that happens when it is awaited.
    pub(super) fn later(&mut self, state: State, call: Call<'a>, out: &mut Out) {
        let place = self.place(&state);
        let callee = match call.receiver {
            Some(receiver) => Value::Bound(Rc::new((receiver, call.name))),
            None => Value::Path(call.path),
        };
        let mut args = call.args.list;
        if call.args.open {
            args.push((Some("**".into()), Value::None));
        }
        out.push((state, Res::Value(Value::Future(Rc::new(Pending { callee, args: args.into(), place })))));
    }

    /// Runs a future (or gives back what is none).
    pub(super) fn force(&mut self, mut state: State, value: Value, span: Span, out: &mut Out) {
        let Value::Future(pending) = &value else {
            if let Value::Sym(id) = &value {
                // An awaitable of which nothing is known: what it gives is as unknown.
                let results = state.results.get(id).cloned();
                if results.is_none() && self.symbols.taint(&value).has(Taint::INPUT) {
                    return self.call_unknown(state, value, Args::default(), span, out);
                }
            }
            let value = match self.run_kept(&mut state, &value, span) {
                true => self.unknown(&mut state, Taint::CALL),
                false => value,
            };
            out.push((state, Res::Value(value)));
            return;
        };
        let mut args = Args { list: pending.args.to_vec(), open: false, ..Args::default() };
        if args.list.iter().any(|(name, _)| name.as_deref() == Some("**")) {
            args.list.retain(|(name, _)| name.as_deref() != Some("**"));
            args.open = true;
        }
        let file = state.top().map_or(self.file, |frame| frame.func.file);
        match &pending.callee {
            Value::Func(func, outer) => {
                let whole = self.is_taken_whole(&state, *func, None, &args);
                let result = self.follow(&mut state, *func, *outer, None, args, Gives::Returned);
                match result {
                    Ok(()) => out.push((state, Res::Called)),
                    Err(args) if whole => self.take_whole(state, *func, args, span, out),
                    Err(args) => out.push(self.not_followed(state, *func, &args, span)),
                }
            }
            Value::Partial(inner) if matches!(inner.callee, Value::Func(..)) => {
                let Value::Func(func, outer) = inner.callee else { return };
                // A callable that was given to an executor.
                let in_thread = inner.args.is_empty();
                let this = inner.args.iter().find(|(name, _)| name.as_deref() == Some("self"));
                let this = this.map(|(_, value)| value.clone());
                let whole = self.is_taken_whole(&state, func, this.as_ref(), &args);
                let result = self.follow(&mut state, func, outer, this, args, Gives::Returned);
                match result {
                    Ok(()) => {
                        if let Some(frame) = state.frames.last_mut() {
                            frame.in_thread = in_thread;
                        }
                        out.push((state, Res::Called));
                    }
                    Err(args) if whole => self.take_whole(state, func, args, span, out),
                    Err(args) => out.push(self.not_followed(state, func, &args, span)),
                }
            }
            Value::Path(path) => match self.project.known(file, path) {
                Some(entry) => {
                    let name = last_part(path).into();
                    let call = Call { entry, receiver: None, path: path.clone(), name, args, span };
                    self.carry_out(state, call, out);
                }
                None => self.call_unknown(state, pending.callee.clone(), args, span, out),
            },
            Value::Bound(pair) => {
                let (receiver, name) = (&pair.0, &pair.1);
                let ty: Rc<str> = match receiver {
                    Value::Inst(inst) => inst.ty.clone(),
                    Value::Resp(resp) => state.resp_types.get(resp).cloned().unwrap_or_else(|| "".into()),
                    _ => "*".into(),
                };
                match self.models(file).method(&ty, name) {
                    Some(entry) => {
                        let path = format!("{ty}.{name}").into();
                        let receiver = Some(receiver.clone());
                        let call = Call { entry, receiver, path, name: name.clone(), args, span };
                        self.carry_out(state, call, out);
                    }
                    None => self.call_unknown(state, pending.callee.clone(), args, span, out),
                }
            }
            Value::Tuple(futures) => {
                // Several at once: each in turn is near enough; the first that is an operation of the project counts.
                let first = futures.iter().find(|future| matches!(future, Value::Future(_))).cloned();
                match first {
                    Some(future) => self.force(state, future, span, out),
                    None => {
                        let value = self.unknown(&mut state, Taint::CALL);
                        out.push((state, Res::Value(value)));
                    }
                }
            }
            _ => self.call_unknown(state, pending.callee.clone(), args, span, out),
        }
    }

    /// What a model's call does when its time has come.
    pub(super) fn carry_out(&mut self, mut state: State, call: Call<'a>, out: &mut Out) {
        let at = self.at(&state, call.span);
        match call.entry.kind {
            Kind::Request | Kind::Effect | Kind::Remote => self.operation(state, call, out),
            Kind::Sleep => {
                self.sleep(&mut state, &call, at);
                out.push((state, Res::Value(Value::None)));
            }
            Kind::WaitFor => {
                self.wait_for(&mut state, &call, at);
                let value = self.unknown(&mut state, Taint::FLAG);
                out.push((state, Res::Value(value)));
            }
            Kind::Source => {
                self.may_raise(&state, call.entry, &call, out);
                let value = self.take_work(&mut state, &call, at);
                out.push((state, Res::Value(value)));
            }
            Kind::TimeLimit => self.limited(state, call, out),
            Kind::StopFlag if call.entry.interrupt => {
                self.cancelled(&mut state, at);
                let value = self.unknown(&mut state, Taint::CALL);
                let value =
                    if call.entry.result { Value::Variant("Ok".into(), "Ok".into(), [value].into()) } else { value };
                out.push((state, Res::Value(value)));
            }
            _ => {
                let value = self.unknown(&mut state, Taint::CALL);
                out.push((state, Res::Value(value)));
            }
        }
    }

    /// Runs what is given to an executor, a task or a gathering.
    pub(super) fn runs(&mut self, mut state: State, call: Call<'a>, out: &mut Out) {
        let positional: Vec<Value> =
            call.args.list.iter().filter(|(name, _)| name.is_none()).map(|(_, value)| value.clone()).collect();
        let file = self.at(&state, call.span).file;
        if let Some(future) = positional.iter().find(|value| matches!(value, Value::Future(_))) {
            // A task goes on by itself: awaiting it gives the result. What only waits for it runs it here.
            if call.entry.is_async || call.receiver.is_some() && positional.len() == 1 {
                out.push((state, Res::Value(future.clone())));
                return;
            }
            if positional.len() == 1 {
                return self.force(state, future.clone(), call.span, out);
            }
            let place = self.place(&state);
            let callee = Value::Tuple(positional.into());
            let pending = Pending { callee, args: Rc::from([]), place };
            out.push((state, Res::Value(Value::Future(Rc::new(pending)))));
            return;
        }
        let callable = positional.iter().position(|value| {
            matches!(value, Value::Func(..) | Value::Bound(_) | Value::Partial(_))
                || matches!(value, Value::Path(path) if self.project.known(file, path).is_some())
        });
        if let Some(at) = callable {
            let callee = positional.get(at).cloned().unwrap_or(Value::None);
            let rest = positional.into_iter().skip(at + 1).map(|value| (None, value)).collect::<Vec<_>>();
            if call.entry.is_async {
                let place = self.place(&state);
                let callee = Value::Partial(Rc::new(Pending { callee, args: Rc::from([]), place }));
                let pending = Pending { callee, args: rest.into(), place };
                out.push((state, Res::Value(Value::Future(Rc::new(pending)))));
                return;
            }
        }
        let value = self.unknown(&mut state, Taint::CALL);
        out.push((state, Res::Value(value)));
    }

    /// Whether running a future or callable leaves the process, as far as a look at its body tells.
    pub(super) fn leaves_process(&self, state: &State, value: &Value, depth: u32) -> Known3 {
        let Some(depth) = depth.checked_sub(1) else { return Known3::Unknown };
        let file = state.top().map_or(self.file, |frame| frame.func.file);
        match value {
            Value::Future(pending) | Value::Partial(pending) => self.leaves_process(state, &pending.callee, depth),
            Value::Path(path) => match self.project.known(file, path).map(|entry| entry.kind) {
                Some(Kind::Request | Kind::Effect | Kind::Remote) => Known3::Yes,
                Some(Kind::TimeLimit | Kind::Runs) | None => Known3::Unknown,
                Some(_) => Known3::No,
            },
            Value::Bound(pair) => {
                let ty: Rc<str> = match &pair.0 {
                    Value::Inst(inst) => inst.ty.clone(),
                    _ => "*".into(),
                };
                match self.models(file).method(&ty, &pair.1).map(|entry| entry.kind) {
                    Some(Kind::Request | Kind::Effect | Kind::Remote) => Known3::Yes,
                    Some(Kind::TimeLimit | Kind::Runs) | None => Known3::Unknown,
                    Some(_) => Known3::No,
                }
            }
            _ => Known3::Unknown,
        }
    }

    /// Whether a future only waits for a sign that somebody else gives: a flag, a notification, a cancellation.
    fn is_signal(&self, state: &State, value: &Value) -> bool {
        let file = state.top().map_or(self.file, |frame| frame.func.file);
        let pending = match value {
            Value::Future(pending) => pending,
            other => return self.symbols.taint(other).has(Taint::FLAG),
        };
        let entry = match &pending.callee {
            Value::Path(path) => self.project.known(file, path),
            Value::Bound(pair) => match &pair.0 {
                Value::Inst(inst) => self.models(file).method(&inst.ty, &pair.1),
                _ => None,
            },
            _ => None,
        };
        entry.is_some_and(|entry| match entry.kind {
            Kind::WaitFor => entry.amount.is_none(),
            Kind::StopFlag => entry.is_async,
            _ => false,
        })
    }

    pub(super) fn sleep(&mut self, state: &mut State, call: &Call<'_>, at: At) {
        let amount = self.number(&call.args, call.entry.amount.as_ref());
        let value = amount.map(|amount| self.seconds(&amount, call.entry.unit));
        self.wait(state, value, at, call.entry.blocking);
    }

    pub(super) fn wait_for(&mut self, state: &mut State, call: &Call<'_>, at: At) {
        let amount = call.entry.amount.as_ref().and_then(|param| call.args.get(param)).cloned();
        let limit = state.limits.last().and_then(|(_, seconds)| *seconds);
        let value = match (amount, limit) {
            (Some(Value::None) | None, Some(limit)) => Some(Value::Num(Num::exact(limit.0))),
            (Some(amount), _) => Some(self.seconds(&amount, call.entry.unit)),
            (None, None) => None,
        };
        // For how long is up to others where nothing says so: that is no pause between attempts.
        let blocks = call.entry.blocking && value.is_some();
        self.wait(state, value, at, blocks);
    }

    pub(super) fn wait(&mut self, state: &mut State, value: Option<Value>, at: At, blocking: bool) {
        let value = value.unwrap_or_else(|| Value::Str("?".into()));
        // A point in time to wait until.
        let value = if self.symbols.taint(&value).has(Taint::CLOCK) {
            let now = Value::Num(Num { taint: Taint::CLOCK, ..Num::exact(state.clock) });
            let (low, _) = arith::bounds(&self.symbols, &value);
            if low >= state.clock - 1.0 { arith::binary(&mut self.symbols, BinOp::Sub, &value, &now) } else { value }
        } else {
            value
        };
        let (low, high) = arith::bounds(&self.symbols, &value);
        let known = matches!(value, Value::Num(_)) || (low.is_finite() && high.is_finite());
        let low = if low.is_finite() { low.max(0.0) } else { 0.0 };
        let high = if high.is_nan() { f64::INFINITY } else { high.max(0.0) };
        let unknown = !known;
        let own_thread = state.frames.iter().any(|frame| frame.in_thread);
        let in_async = !own_thread
            && state.frames.first().is_some_and(|frame| {
                self.project
                    .function(frame.func)
                    .is_some_and(|f| f.is_async || f.kind == crate::ir::FunctionKind::AsyncBlock)
            });
        state.gap.low += low;
        state.gap.high += high;
        state.gap.unknown |= unknown;
        state.clock += if high.is_finite() && high < 1.0e7 { f64::midpoint(low, high) } else { low + 1.0 };
        state.push(Event::Wait { low, high, unknown, value, at, blocks: blocking && in_async });
    }

    pub(super) fn time_limit(&mut self, state: State, call: Call<'a>, out: &mut Out) {
        let future = call.entry.future.as_ref().and_then(|param| call.args.get(param)).cloned();
        if future.is_some() {
            return self.later(state, call, out);
        }
        // A context manager.
        let amount = self.number(&call.args, call.entry.amount.as_ref()).unwrap_or(Value::None);
        let seconds = self.seconds(&amount, call.entry.unit);
        let class = call.entry.raises.first().map_or_else(|| Rc::from(ANY), |class| Rc::from(class.as_str()));
        let made = Inst {
            ty: call.path.clone(),
            parts: [Value::Path(class), seconds.clone()].into(),
            timeout: Some(limit_value(&seconds)),
            ..Inst::default()
        };
        out.push((state, Res::Value(Value::Inst(Rc::new(made)))));
    }

    /// Awaits a future under a time limit.
    pub(super) fn limited(&mut self, mut state: State, call: Call<'a>, out: &mut Out) {
        let future = call.entry.future.as_ref().and_then(|param| call.args.get(param)).cloned();
        let Some(future) = future else { return };
        let amount = self.number(&call.args, call.entry.amount.as_ref()).unwrap_or(Value::None);
        let seconds = self.seconds(&amount, call.entry.unit);
        let limit = limit_value(&seconds);
        let class: Rc<str> = call.entry.raises.first().map_or_else(|| Rc::from(ANY), |class| Rc::from(class.as_str()));
        let result = call.entry.result;
        let signal = self.is_signal(&state, &future);
        let operates = if signal { Known3::No } else { self.leaves_process(&state, &future, 4) };
        // Cut by the limit: a failure of what is awaited.
        let (at, base) = (self.at(&state, call.span), self.base_at(&state, call.span));
        // What failed inside the limit is asked for inside it again.
        let place = self.place(&state);
        let inside = state
            .failed
            .as_ref()
            .is_some_and(|failed| failed.op.place == place && !matches!(failed.how, super::state::Failing::Elapsed(_)));
        if operates != Known3::No && !inside {
            let mut info = self.op_info(&mut state, &call, operates);
            info.timeout = Some(limit);
            info.inputs = self.signature(&state, std::slice::from_ref(&future));
            (info.at, info.base) = (at, base);
            let info = Rc::new(info);
            let elapsed = super::state::Failing::Elapsed(class.clone());
            match self.outcome_here(&mut state, &info) {
                super::ops::Outcome::Stop(end) => {
                    out.push((state, Res::End(end)));
                    return;
                }
                super::ops::Outcome::Forced(super::state::Failing::Elapsed(_)) => {
                    self.fail(&mut state, &info, elapsed, call.span);
                    let res = self.failure_value(&class, result);
                    out.push((state, res));
                    return;
                }
                super::ops::Outcome::Well => state.push(Event::Op(info.clone())),
                super::ops::Outcome::All if result || self.can_be_caught(&state) => {
                    let mut state = state.clone();
                    state.clock += limit.map_or(1.0, |limit| if limit.0.is_nan() { 1.0 } else { limit.0.min(3600.0) });
                    self.fail(&mut state, &info, elapsed, call.span);
                    let res = self.failure_value(&class, result);
                    out.push((state, res));
                }
                _ => {}
            }
        }
        // What is waited for besides the time seldom comes: the time is over, and nothing has failed.
        let tells = self.plan.explore || self.plan.force.is_some();
        if tells && signal && (result || self.can_be_caught(&state)) {
            let mut state = state.clone();
            self.wait(&mut state, Some(seconds.clone()), at, false);
            let res = self.failure_value(&class, result);
            out.push((state, res));
        }
        state.limits.push((class, limit));
        let before = out.len();
        self.force(state, future, call.span, out);
        for (state, res) in out.iter_mut().skip(before) {
            match res {
                Res::Value(value) if result => {
                    *value = Value::Variant("Ok".into(), "Ok".into(), [value.clone()].into());
                    state.limits.pop();
                }
                Res::Called => {
                    if let Some(frame) = state.frames.last_mut() {
                        frame.limits = frame.limits.saturating_sub(1);
                        if result {
                            frame.gives = Gives::Wrapped("Ok");
                        }
                    }
                }
                _ => {
                    state.limits.pop();
                }
            }
        }
    }

    pub(super) fn failure_value(&self, class: &Rc<str>, result: bool) -> Res {
        let exc = self.raised(&[class]);
        if result { Res::Value(Value::Variant("Err".into(), "Err".into(), [exc].into())) } else { Res::Raise(exc) }
    }
}
