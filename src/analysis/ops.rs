//! Operations: calls that can fail and be made again. How each execution ends is decided here, by the plan.

use std::rc::Rc;

use super::builders::told_at;
use super::calls::{Args, Call};
use super::inputs::SHOWN;
use super::machine::{End, Machine, Out, Res};
use super::memory::last_part;
use super::state::{At, Below, Event, Failed, Failing, Gap, KeyFact, Known3, OpInfo, State};
use super::status::StatusSet;
use super::value::{ANY, Exc, F, Node, Num, Place, SymId, Taint, Type, Value};
use crate::models::{DefaultTimeout, Entry, Kind};
use crate::source::Span;

/// Simulated seconds that an operation takes.
pub const LATENCY: f64 = 0.05;

/// How an execution is to end.
#[derive(Debug)]
pub(super) enum Outcome {
    /// The path ends here.
    Stop(End),
    /// In this way.
    Forced(Failing),
    /// Well.
    Well,
    /// In every way.
    All,
    /// With what is no failure of its own, and well.
    Probed(Rc<[Rc<str>]>),
}

impl<'a> Machine<'a> {
    /// How this execution of an operation ends.
    pub(super) fn outcome_here(&mut self, state: &mut State, info: &Rc<OpInfo>) -> Outcome {
        state.clock += LATENCY;
        // A turn in which nothing failed was followed by another one: success goes on.
        if self.plan.explore && state.failed.is_none() && state.turns >= 1 && !state.left {
            return Outcome::Stop(End::Head);
        }
        if let Some(failed) = &state.failed
            && !state.left
            && failed.op.place == info.place
        {
            if state.turns > failed.turn && !state.resume {
                return Outcome::Stop(End::Again(info.clone()));
            }
            // After a cancellation, any execution is one too many.
            if !state.resume && matches!(&failed.how, Failing::Raises(classes) if classes.is_empty()) {
                return Outcome::Stop(End::Again(info.clone()));
            }
            if !state.resume {
                return Outcome::Forced(failed.how.clone());
            }
        }
        if let Some((place, how)) = &self.plan.force
            && *place == info.place
            && !state.left
        {
            return Outcome::Forced(how.clone());
        }
        if let Some(failed) = &state.failed
            && self.plan.second_try
            && failed.op.place != info.place
            && failed.op.model == info.model
            && self.asks_alike(state, &failed.op, info)
            && (info.model.is_some() || failed.op.text == info.text)
            && info.remote != Known3::No
        {
            return Outcome::Stop(End::SecondTry(info.clone()));
        }
        if state.failed.is_some() || state.left || !self.plan.explore {
            return Outcome::Well;
        }
        match &self.plan.probe {
            None if self.plan.known_only && info.remote == Known3::Unknown => {
                self.spared = true;
                Outcome::Well
            }
            None => {
                self.met |= info.remote == Known3::Yes;
                Outcome::All
            }
            Some(probe) if probe.op.place == info.place && !probe.classes.is_empty() => {
                Outcome::Probed(probe.classes.clone())
            }
            Some(_) => Outcome::Well,
        }
    }

    /// A cancellation that was waited for has come.
    pub(super) fn cancelled(&mut self, state: &mut State, at: At) {
        let Some(probe) = self.plan.probe.clone().filter(|probe| probe.flags) else { return };
        if state.failed.is_some() || state.left {
            return;
        }
        let how = Failing::Raises(Rc::from([]));
        state.push(Event::Fail(probe.op.clone(), how.clone(), at));
        state.failed = Some(Rc::new(Failed { op: probe.op.clone(), how, turn: state.turns }));
        state.gap = Gap::NONE;
    }

    /// Notes a failure.
    pub(super) fn fail(&mut self, state: &mut State, info: &OpInfo, how: Failing, span: Span) {
        let info = Rc::new(info.clone());
        let at = self.at(state, span);
        state.push(Event::Op(info.clone()));
        state.push(Event::Fail(info.clone(), how.clone(), at));
        state.failed = Some(Rc::new(Failed { op: info, how, turn: state.turns }));
        state.gap = Gap::NONE;
    }

    /// Whether the value that the current instruction gives is awaited next.
    pub(super) fn is_awaited(&self, state: &State) -> bool {
        let Some(frame) = state.top() else { return false };
        let block = self.project.function(frame.func).and_then(|function| function.block(frame.block));
        let Some(block) = block else { return false };
        let Some(instr) = block.instrs.get(frame.at) else { return false };
        match instr.op {
            crate::ir::Op::Await(_) => true,
            _ => block
                .instrs
                .iter()
                .skip(frame.at + 1)
                .take(2)
                .any(|next| matches!(next.op, crate::ir::Op::Await(slot) if Some(slot) == instr.dst)),
        }
    }

    /// A call's text on one line, its arguments cut short.
    pub(super) fn call_text(&self, at: At) -> Rc<str> {
        let text = self.project.file(at.file).map_or("", |file| file.slice(at.span));
        let mut line = String::new();
        let mut space = false;
        for c in text.chars().take(400) {
            if c.is_whitespace() {
                space = !line.is_empty();
                continue;
            }
            if space && !matches!(c, '.' | ')' | ']' | ',') && !line.ends_with(['(', '[', '.']) {
                line.push(' ');
            }
            space = false;
            line.push(c);
        }
        if line.chars().count() > 60 {
            line = line.chars().take(57).collect::<String>() + "…";
        }
        line.into()
    }

    /// What is known of a call that a model describes.
    pub(super) fn op_info(&mut self, state: &mut State, call: &Call<'a>, remote: Known3) -> OpInfo {
        let entry = call.entry;
        let place = self.place(state);
        let (at, base) = (self.at(state, call.span), self.base_at(state, call.span));
        let inst = match &call.receiver {
            Some(Value::Inst(inst)) => Some(inst.clone()),
            _ => None,
        };
        let prepared = call
            .args
            .values()
            .find_map(|value| match value {
                Value::Inst(inst) if inst.verb.is_some() => Some(inst.clone()),
                _ => None,
            })
            .or_else(|| inst.clone().filter(|inst| inst.verb.is_some()));
        let method = self.verb(call).or_else(|| prepared.as_ref().and_then(|inst| inst.verb.clone()));
        let url = entry
            .url
            .as_ref()
            .and_then(|param| call.args.get(param))
            .cloned()
            .or_else(|| prepared.as_ref().and_then(|inst| inst.inputs.first().cloned()));
        let target = match &url {
            Some(Value::Str(text)) => Some(text.clone()),
            Some(Value::Sym(id)) => self.built_text(*id),
            _ => None,
        };
        // Some addresses are asked by POST and changed by nothing.
        let asks = target.as_deref().is_some_and(|target| self.is_asked_at(at.file, target));
        let sent: Vec<Value> = entry
            .body
            .iter()
            .filter_map(|param| call.args.get(param))
            .chain(prepared.iter().flat_map(|inst| &*inst.inputs))
            .cloned()
            .collect();
        let asks =
            asks || sent.iter().any(|body| self.is_question(state, body) || self.is_asked_with(at.file, state, body));
        let idempotent = entry.idempotent.or(asks.then_some(true));
        // Inputs: everything but headers and time limits.
        let (mut inputs, mut apart): (Vec<Value>, Vec<Value>) = (Vec::new(), Vec::new());
        if let Some(receiver) = &call.receiver {
            match receiver {
                Value::Inst(inst) => inputs.extend(inst.inputs.iter().chain(inst.parts.iter()).cloned()),
                other => inputs.push(other.clone()),
            }
        }
        for (name, value) in &call.args.list {
            let means =
                |param: &crate::models::ParamRef| call.args.get(param).is_some_and(|given| std::ptr::eq(given, value));
            let aside = entry.headers.as_ref().is_some_and(means)
                || entry.timeout.as_ref().is_some_and(means)
                || entry.key.as_ref().is_some_and(means)
                || name.as_deref().is_some_and(|name| name == "headers" || name == "timeout");
            if aside {
                apart.push(value.clone());
            } else {
                inputs.push(value.clone());
            }
        }
        let inputs: Vec<Value> = inputs.iter().map(|input| self.shown(state, input, SHOWN)).collect();
        let drawn = self.times_drawn(state, &inputs);
        let mut anew = url.as_ref().map_or(0, |url| self.times_named(state, url));
        // Another credential out of many, or asked of somebody, makes another request too.
        let apart: Vec<Value> = apart.iter().map(|value| self.shown(state, value, SHOWN)).collect();
        anew = anew.wrapping_add(self.times_taken(state, &apart));
        if entry.kind == Kind::Request {
            anew = anew.wrapping_add(self.times_given(state, &inputs));
        }
        let mut inputs = self.signature(state, &inputs).to_vec();
        if anew > 0 {
            inputs.push(Value::Num(Num::exact(f64::from(anew))));
        }
        let inputs = inputs.into();
        let given: Vec<Value> = call.receiver.iter().chain(call.args.values()).cloned().collect();
        // The client through which a request goes is no part of what is asked.
        let asked: Vec<Value> = match entry.kind {
            Kind::Request => call.args.values().cloned().collect(),
            _ => given.clone(),
        };
        let sources = self.sources(state, place, &asked);
        let timeout = self.timeout_here(state, call, inst.as_deref(), prepared.as_deref());
        let key = self.key_here(state, call, prepared.as_deref());
        let likely = entry.types.iter().any(|ty| ty.starts_with('?'));
        let model = (!likely).then(|| call.path.clone());
        let elsewhere = target.as_deref().is_some_and(|target| {
            inst.as_deref().is_some_and(|inst| super::builders::is_unmounted(&inst.mounted, target))
        });
        let told = inst.as_deref().and_then(|inst| inst.told);
        let (layers, unmounted) = match elsewhere {
            true => (Rc::from([]), told),
            false => (self.below(call, inst.as_deref(), at), None),
        };
        OpInfo {
            place,
            at,
            base,
            through: self.through(state, call.span),
            text: self.call_text(at),
            model,
            remote,
            method,
            idempotent,
            effect: entry.effect.as_deref().map(Rc::from),
            target,
            timeout,
            key,
            passed_in: false,
            likely,
            bare: false,
            awaited: entry.is_async,
            inputs,
            drawn,
            sources,
            result: None,
            raises: entry.raises.iter().map(|class| Rc::from(class.as_str())).collect(),
            http: entry.kind == Kind::Request,
            body: sent.into(),
            layers,
            unmounted,
        }
    }

    /// The layers below a call: what its client repeats by itself.
    fn below(&self, call: &Call<'a>, inst: Option<&super::value::Inst>, at: At) -> Rc<[Below]> {
        let entry = call.entry;
        let here = entry.retries.as_ref().is_some_and(|param| call.args.get(param).is_some());
        let told = inst.and_then(|inst| inst.told);
        let (retries, told) = match inst {
            _ if here => (self.retries_of(entry, &call.args), told_at(entry, &call.args, at)),
            Some(inst) if inst.made_here => (inst.retries.or(entry.default_retries), told),
            // Made out of sight: its default may have been changed.
            _ => (entry.default_retries.or(inst.and_then(|inst| inst.retries)), told),
        };
        match retries {
            Some(retries) if retries > 0 => {
                let off = entry.retries.as_ref().and_then(|param| param.name.as_deref());
                let off = off.map(|name| Rc::from(format!("{name}=0")));
                // A default goes by the version, what somebody set does not.
                let models = self.models(self.file);
                let says = [Some(entry), inst.and_then(|inst| models.function(&inst.ty))].into_iter().flatten();
                let says = says.filter(|entry| told.is_none() && entry.default_retries == Some(retries));
                let version = says.filter_map(|entry| models.version_note(entry)).next().map(Rc::from);
                let connects = inst.is_some_and(|inst| inst.connects);
                [Below { factor: retries + 1, told, library: Rc::from(&*entry.library), off, version, connects }].into()
            }
            _ => Rc::from([]),
        }
    }

    fn timeout_here(
        &mut self,
        state: &State,
        call: &Call<'a>,
        inst: Option<&super::value::Inst>,
        prepared: Option<&super::value::Inst>,
    ) -> Option<Option<F>> {
        if let Some((_, limit)) = state.limits.last() {
            return Some(Some(limit.unwrap_or(F(f64::NAN))));
        }
        let entry = call.entry;
        let given = entry.timeout.as_ref().is_some_and(|param| call.args.get(param).is_some());
        if given {
            return self.timeout_of(entry, &call.args);
        }
        for inst in prepared.into_iter().chain(inst) {
            if let Some(Some(limit)) = inst.timeout {
                return Some(Some(limit));
            }
        }
        if call.args.open {
            return None;
        }
        match inst {
            // A client out of sight may have been given a limit.
            Some(inst) if !inst.made_here => None,
            // What ends by itself, whatever its client waits for (a connect).
            Some(_)
                if entry.kind == Kind::Effect && matches!(entry.default_timeout, Some(DefaultTimeout::Seconds(_))) =>
            {
                self.timeout_of(entry, &call.args)
            }
            Some(inst) => inst.timeout.or_else(|| self.timeout_of(entry, &call.args)),
            None if call.receiver.is_some() => None,
            None => self.timeout_of(entry, &call.args),
        }
    }

    fn key_here(&mut self, state: &State, call: &Call<'a>, prepared: Option<&super::value::Inst>) -> KeyFact {
        let entry = call.entry;
        if let Some(value) = entry.key.as_ref().and_then(|param| call.args.get(param)) {
            return KeyFact::Value(value.clone());
        }
        let mut opaque = call.args.open;
        if let Some(inst) = prepared {
            if let Some(value) = &inst.key {
                return KeyFact::Value(value.clone());
            }
            opaque |= inst.opaque_headers;
        }
        if let Some(Value::Inst(inst)) = &call.receiver
            && let Some(value) = &inst.key
        {
            return KeyFact::Value(value.clone());
        }
        let headers = entry
            .headers
            .as_ref()
            .and_then(|param| call.args.get(param))
            .or_else(|| call.args.list.iter().find(|(name, _)| name.as_deref() == Some("headers")).map(|(_, v)| v))
            .cloned();
        if let Some(headers) = headers {
            match self.key_in(&headers, Some(state)) {
                KeyFact::None => {}
                KeyFact::Unknown => opaque = true,
                found @ KeyFact::Value(_) => return found,
            }
        }
        // Some interfaces take the key in the body.
        for param in &entry.body {
            if let Some(body) = call.args.get(param)
                && let found @ KeyFact::Value(_) = self.key_in(body, Some(state))
            {
                return found;
            }
        }
        for (name, value) in &call.args.list {
            if name.as_deref().is_some_and(|name| name.contains("idempotency")) {
                return KeyFact::Value(value.clone());
            }
        }
        if opaque { KeyFact::Unknown } else { KeyFact::None }
    }

    /// Executes an operation that a model describes.
    pub(super) fn operation(&mut self, mut state: State, call: Call<'a>, out: &mut Out) {
        let entry = call.entry;
        let http = entry.kind == Kind::Request && entry.gives.is_some();
        let mut info = self.op_info(&mut state, &call, Known3::Yes);
        let place = info.place;
        let mut result = None;
        if !http {
            let id = self.fresh(&mut state, Node::Unknown(place), Taint::CALL);
            info.result = Some(id);
            result = Some(id);
        }
        info.http = http;
        let info = Rc::new(info);
        if let Some(id) = result {
            Rc::make_mut(&mut state.results).insert(id, info.clone());
        }
        let file = info.at.file;
        let models = self.models(file);
        let classes: Rc<[Rc<str>]> = if entry.raises.is_empty() {
            [Rc::from(ANY)].into()
        } else {
            models.leaf_exceptions(&entry.raises).iter().map(|class| Rc::from(class.as_str())).collect()
        };
        let outcome = self.outcome_here(&mut state, &info);
        match outcome {
            Outcome::Stop(end) => out.push((state, Res::End(end))),
            Outcome::Forced(how) => self.ends_badly(state, &call, &info, how, out),
            Outcome::Well => {
                let value = self.ends_well(&mut state, entry, &info, result);
                out.push((state, Res::Value(value)));
            }
            Outcome::Probed(classes) => {
                if !entry.result && self.can_be_caught(&state) {
                    self.ends_badly(state.clone(), &call, &info, Failing::Raises(classes), out);
                }
                let value = self.ends_well(&mut state, entry, &info, result);
                out.push((state, Res::Value(value)));
            }
            Outcome::All => {
                let can_raise = entry.result || self.can_be_caught(&state);
                if can_raise {
                    let how = Failing::Raises(classes);
                    self.ends_badly(state.clone(), &call, &info, how, out);
                }
                if http {
                    let how = Failing::Status(StatusSet::errors());
                    self.ends_badly(state.clone(), &call, &info, how, out);
                }
                let value = self.ends_well(&mut state, entry, &info, result);
                out.push((state, Res::Value(value)));
            }
        }
    }

    fn ends_well(&mut self, state: &mut State, entry: &Entry, info: &Rc<OpInfo>, result: Option<SymId>) -> Value {
        state.push(Event::Op(info.clone()));
        let value = match result {
            Some(id) => {
                // What a library gives is the library's: its methods leave the process too.
                let ty: Rc<str> =
                    entry.gives.as_deref().map_or_else(|| info.model.clone().unwrap_or_default(), Rc::from);
                let ty = if entry.kind == Kind::Remote { Type::Model(ty) } else { Type::Other(ty) };
                self.symbols.set_type(id, ty);
                Value::Sym(id)
            }
            None => {
                let good = if self.plan.redirected { StatusSet::range(300, 399) } else { StatusSet::range(200, 299) };
                Rc::make_mut(&mut state.resps).insert(info.place, good);
                self.respond(state, entry, info.place)
            }
        };
        if entry.result { Value::Variant("Ok".into(), "Ok".into(), [value].into()) } else { value }
    }

    fn respond(&self, state: &mut State, entry: &Entry, place: Place) -> Value {
        let ty = entry.gives.as_deref().unwrap_or_default();
        Rc::make_mut(&mut state.resp_types).insert(place, ty.into());
        Value::Resp(place)
    }

    fn ends_badly(&mut self, mut state: State, call: &Call<'a>, info: &Rc<OpInfo>, how: Failing, out: &mut Out) {
        let entry = call.entry;
        self.fail(&mut state, info, how.clone(), call.span);
        match how {
            Failing::Raises(classes) => {
                let exc =
                    Value::Exc(Rc::new(Exc { classes, resp: None, lost: None, args: Rc::from([]), object: None }));
                out.push((state, failure(exc, entry.result)));
            }
            Failing::Elapsed(class) => {
                let exc = self.raised(&[&class]);
                out.push((state, failure(exc, entry.result)));
            }
            Failing::Status(set) => {
                Rc::make_mut(&mut state.resps).insert(info.place, set);
                let response = self.respond(&mut state, entry, info.place);
                // Some calls raise on a status by themselves.
                let asked = entry.raises_on_status.as_ref().map(|param| call.args.get(param).cloned());
                let by_itself = match (asked, &call.receiver) {
                    (Some(Some(Value::Bool(truth, _))), _) => truth,
                    (Some(None), Some(Value::Inst(inst))) => inst.raises == Some(true),
                    (Some(_), _) => false,
                    (None, _) => entry.status_error.is_some(),
                };
                if by_itself && let Some(error) = &entry.status_error {
                    let exc = Exc {
                        classes: [Rc::from(error.as_str())].into(),
                        resp: (!entry.loses_response).then_some(info.place),
                        lost: entry.loses_response.then_some(info.place),
                        args: Rc::from([]),
                        object: None,
                    };
                    if entry.loses_response {
                        let at = info.at;
                        state.push(Event::Lost(at));
                    }
                    if entry.result || self.can_be_caught(&state) || state.failed.is_some() {
                        out.push((state, failure(Value::Exc(Rc::new(exc)), entry.result)));
                    }
                    return;
                }
                let value =
                    if entry.result { Value::Variant("Ok".into(), "Ok".into(), [response].into()) } else { response };
                out.push((state, Res::Value(value)));
            }
            Failing::Test(sym, truth) => {
                Rc::make_mut(&mut state.decided).insert(sym, truth);
                let value = match info.result {
                    Some(id) => Value::Sym(id),
                    None => Value::None,
                };
                let value = if entry.result { Value::Variant("Ok".into(), "Ok".into(), [value].into()) } else { value };
                out.push((state, Res::Value(value)));
            }
        }
    }

    /// `raise_for_status`, `error_for_status`.
    pub(super) fn raise_for_status(&mut self, state: State, call: &Call<'a>, at: At, out: &mut Out) {
        let entry = call.entry;
        let set = entry.statuses.as_deref().and_then(StatusSet::parse).unwrap_or_else(StatusSet::errors);
        let receiver = call.receiver.clone().unwrap_or(Value::None);
        let Value::Resp(resp) = receiver else {
            return self.call_unknown(
                state,
                Value::Bound(Rc::new((receiver, call.name.clone()))),
                call.args.clone(),
                call.span,
                out,
            );
        };
        let now = state.resps.get(&resp).copied().unwrap_or_else(StatusSet::all);
        let (bad, good) = (now.and(&set), now.minus(&set));
        if !bad.is_empty() {
            let mut state = state.clone();
            self.narrow(&mut state, resp, bad);
            state.push(Event::LookedAtStatus(resp, true));
            if entry.loses_response {
                state.push(Event::Lost(at));
            }
            let class = entry.status_error.as_deref().unwrap_or(ANY);
            let exc = Exc {
                classes: [Rc::from(class)].into(),
                resp: (!entry.loses_response).then_some(resp),
                lost: entry.loses_response.then_some(resp),
                args: Rc::from([]),
                object: None,
            };
            out.push((state, failure(Value::Exc(Rc::new(exc)), entry.result)));
        }
        if !good.is_empty() {
            let mut state = state;
            self.narrow(&mut state, resp, good);
            let value = Value::Resp(resp);
            let value = if entry.result { Value::Variant("Ok".into(), "Ok".into(), [value].into()) } else { value };
            out.push((state, Res::Value(value)));
        }
    }

    /// A call of which nothing is known: an operation, unless what it is called on is plainly local.
    pub(super) fn call_unknown(&mut self, mut state: State, callee: Value, args: Args, span: Span, out: &mut Out) {
        let place = self.place(&state);
        let (at, base) = (self.at(&state, span), self.base_at(&state, span));
        let models = self.models(at.file);
        let (name, receiver): (Rc<str>, Option<Value>) = match &callee {
            Value::Path(path) => (path.clone(), None),
            Value::Bound(pair) => (pair.1.clone(), Some(pair.0.clone())),
            Value::Sym(_) => ("<callable>".into(), Some(callee.clone())),
            _ => ("<function>".into(), None),
        };
        let passed_in = matches!(&callee, Value::Sym(id)
        if self.symbols.info(*id).is_some_and(|info| {
            matches!(info.node, Node::Param(..) | Node::Attr(..) | Node::Unknown(_))
                || matches!(info.ty, Some(Type::Callable))
        }));
        // Methods of plain values, and of what a local call gave, stay in the process.
        let local = match &receiver {
            Some(
                Value::Str(_)
                | Value::Num(_)
                | Value::Tuple(_)
                | Value::Object(_)
                | Value::Exc(_)
                | Value::Body(_)
                | Value::None
                | Value::Bool(..)
                | Value::Variant(..),
            ) => true,
            Some(Value::Sym(id)) if !passed_in => self.symbols.info(*id).is_some_and(|info| match &info.node {
                Node::Call(path, _) => {
                    info.taint.has(Taint::FRESH.or(Taint::RANDOM))
                        || self.project.known(at.file, path).is_some_and(|entry| entry.kind == Kind::Local)
                }
                Node::RetryAfterText(_) | Node::RetryAfter(_) | Node::Math(..) | Node::Binary(..) => true,
                Node::Unknown(_) => info.taint.has(Taint::FRESH.or(Taint::RANDOM)),
                _ => false,
            }),
            _ => false,
        };
        let mut parts: Vec<Value> = receiver.iter().cloned().collect();
        parts.extend(args.values().cloned());
        if parts.len() == 1 && self.asks_whether_to_stop(&state, &callee) {
            let flag = self.flag(&mut state);
            out.push((state, Res::Value(flag)));
            return;
        }
        if local {
            if let Some(Value::Sym(id)) = &receiver
                && self.is_used_up(at.file, *id)
            {
                state.push(Event::Renewed(*id));
            }
            let taint = receiver.as_ref().map_or(Taint::NONE, |receiver| self.symbols.taint(receiver));
            // Text made of known text is known enough for comparison; the rest depends on its parts alone.
            let id = self.symbols.intern(Node::Call(name, parts.into()), taint);
            out.push((state, Res::Value(Value::Sym(id))));
            return;
        }
        if let Some(entry) = self.answered_as(&state) {
            let name = Rc::from(last_part(&name));
            let call = Call { entry, receiver, path: Rc::from(""), name, args, span };
            return self.operation(state, call, out);
        }
        if let Some(length) = self.pause_of(&state, &args) {
            self.wait(&mut state, Some(length), at, false);
            // Of a sleep that others can end it is told whether they did.
            let ended = args.values().any(|value| matches!(value, Value::Future(_)));
            let value = if ended { self.unknown(&mut state, Taint::CALL) } else { Value::None };
            out.push((state, Res::Value(value)));
            return;
        }
        let id = self.fresh(&mut state, Node::Unknown(place), Taint::CALL);
        self.say_again(&mut state, place, id);
        // Another function makes another call, whatever it is given.
        let called = [Value::Str(name.clone())];
        let inputs = self.signature(&state, &parts).iter().chain(&called).cloned().collect();
        let sources = self.sources(&state, place, &parts);
        let remote = match &receiver {
            Some(Value::Inst(inst)) => match models.library_of(&inst.ty) {
                Some(_) if self.project.known(at.file, &inst.ty).is_some_and(|entry| entry.kind == Kind::Remote) => {
                    Known3::Yes
                }
                _ => Known3::Unknown,
            },
            _ => Known3::Unknown,
        };
        let timeout = state.limits.last().map(|(_, limit)| Some(limit.unwrap_or(F(f64::NAN))));
        let info = Rc::new(OpInfo {
            place,
            at,
            base,
            through: self.through(&state, span),
            text: self.call_text(at),
            model: match &callee {
                Value::Path(path) => Some(path.clone()),
                _ => None,
            },
            remote,
            method: None,
            idempotent: None,
            effect: None,
            target: None,
            timeout,
            key: KeyFact::Unknown,
            passed_in,
            likely: false,
            bare: args.list.is_empty() && !args.open && !matches!(callee, Value::Bound(_)),
            awaited: self.is_awaited(&state),
            inputs,
            drawn: 0,
            sources,
            result: Some(id),
            raises: Rc::from([]),
            http: false,
            layers: Rc::from([]),
            unmounted: None,
            body: Rc::from([]),
        });
        Rc::make_mut(&mut state.results).insert(id, info.clone());
        let classes: Rc<[Rc<str>]> = [Rc::from(ANY)].into();
        let raise = |machine: &mut Self, mut state: State, classes: Rc<[Rc<str>]>, out: &mut Out| {
            machine.fail(&mut state, &info, Failing::Raises(classes.clone()), span);
            let exc = Exc { classes, resp: None, lost: None, args: Rc::from([]), object: Some(id) };
            out.push((state, Res::Raise(Value::Exc(Rc::new(exc)))));
        };
        match self.outcome_here(&mut state, &info) {
            Outcome::Stop(end) => out.push((state, Res::End(end))),
            Outcome::Forced(Failing::Raises(classes)) => raise(self, state, classes, out),
            Outcome::Forced(Failing::Elapsed(class)) => raise(self, state, [class].into(), out),
            Outcome::Forced(how @ (Failing::Test(..) | Failing::Status(_))) => {
                self.fail(&mut state, &info, how.clone(), span);
                if let Failing::Test(sym, truth) = how {
                    Rc::make_mut(&mut state.decided).insert(sym, truth);
                }
                out.push((state, Res::Value(Value::Sym(id))));
            }
            Outcome::Well => {
                state.push(Event::Op(info));
                out.push((state, Res::Value(Value::Sym(id))));
            }
            Outcome::Probed(classes) => {
                if self.can_be_caught(&state) {
                    raise(self, state.clone(), classes, out);
                }
                state.push(Event::Op(info));
                out.push((state, Res::Value(Value::Sym(id))));
            }
            Outcome::All => {
                if self.can_be_caught(&state) {
                    raise(self, state.clone(), classes, out);
                }
                state.push(Event::Op(info));
                out.push((state, Res::Value(Value::Sym(id))));
            }
        }
    }
}

fn failure(exc: Value, result: bool) -> Res {
    if result { Res::Value(Value::Variant("Err".into(), "Err".into(), [exc].into())) } else { Res::Raise(exc) }
}
