//! Clients, prepared requests and what is set on them: time limits, headers, keys, retries of their own.

use super::calls::Args;
use super::calls::Call;
use super::machine::Machine;
use super::memory::last_part;
use super::pieces::{PIECE, is_callable, marked};
use super::state::{At, Object, State};
use super::value::{F, FuncRef, Inst, Taint, Value};
use crate::ir::{Callee, FuncId, Function, FunctionKind, GlobalId, Instr, Op, Slot};
use crate::models::{Entry, Sets};
use std::rc::Rc;

/// The number of retries that a value stands for.
pub(super) fn retries_in(value: &Value) -> Option<u32> {
    match value {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        Value::Num(num) => num.single().filter(|number| (0.0..1.0e6).contains(number)).map(|number| number as u32),
        Value::Inst(inst) => inst.retries,
        // Switched off.
        Value::Bool(false, _) => Some(0),
        _ => None,
    }
}

/// Where a thing was told how often to retry.
fn told_in(value: &Value) -> Option<At> {
    if let Value::Inst(inst) = value { inst.told } else { None }
}

/// Where the project's own code says how often something is sent again that is made at `here` with these arguments:
/// there, or where a thing that it is given was told so.
pub(super) fn told_at(entry: &Entry, args: &Args, here: At) -> Option<At> {
    match entry.retries.as_ref().and_then(|param| args.get(param)).filter(|value| **value != Value::None) {
        Some(value) if marked(value, PIECE).is_some() => Some(here),
        Some(value) => told_in(value).or(Some(here)),
        None => args.values().find_map(|arg| match arg {
            Value::Inst(given) if given.retries.is_some() => Some(given.told),
            _ => None,
        })?,
    }
}

/// A client is told how often it sends again what goes to addresses that begin so.
fn mount(inst: &mut Inst, retries: u32, told: At, start: Option<&Value>) {
    let start = match start {
        Some(Value::Str(start)) => Rc::from(start.to_ascii_lowercase()),
        // Whatever they begin with.
        _ => Rc::from(""),
    };
    if retries == 0 && !inst.mounted.is_empty() && !inst.mounted.contains(&start) {
        return;
    }
    inst.mounted = inst.mounted.iter().cloned().chain([start]).collect();
    (inst.retries, inst.told) = (Some(retries), Some(told));
}

/// Whether an address begins otherwise than all of these, as far as it is in sight: dots stand for what is not.
pub(super) fn is_unmounted(mounted: &[Rc<str>], target: &str) -> bool {
    let (known, open) = target.split_once('…').map_or((target, false), |(known, _)| (known, true));
    let known = known.to_ascii_lowercase();
    let covers = |start: &Rc<str>| known.starts_with(&**start) || open && start.starts_with(&known);
    known.contains("://") && !mounted.is_empty() && !mounted.iter().any(covers)
}

/// A time limit's value: `None` is none, a number so many seconds, anything else a limit of unknown length.
pub(super) fn limit_value(value: &Value) -> Option<F> {
    match value {
        Value::None => None,
        Value::Num(num) => Some(num.hi),
        Value::Inst(inst) => match inst.timeout {
            Some(limit) => limit,
            None => Some(F(f64::NAN)),
        },
        _ => Some(F(f64::NAN)),
    }
}

/// A header's name in lower case.
pub(super) fn header_name(value: &Value) -> Option<String> {
    match value {
        Value::Str(text) => Some(text.to_ascii_lowercase()),
        Value::Path(path) => Some(last_part(path).to_ascii_lowercase().replace('_', "-")),
        _ => None,
    }
}

/// Whether a header (in lower case) carries an idempotency key.
pub(super) fn is_key_header(name: &str) -> bool {
    name.contains("idempotency") || name == "paypal-request-id"
}

impl<'a> Machine<'a> {
    pub(super) fn make(&mut self, state: &State, call: &Call<'a>) -> Value {
        let entry = call.entry;
        let mut inst = match &call.receiver {
            Some(Value::Inst(inst)) => (**inst).clone(),
            _ => Inst { made_here: true, ..Inst::default() },
        };
        if let Some(ty) = entry.gives.as_ref().or(entry.functions.first()) {
            inst.ty = ty.as_str().into();
        }
        let given = entry.timeout.as_ref().and_then(|param| call.args.get(param));
        if given.is_some() || inst.timeout.is_none() {
            inst.timeout = self.timeout_of(entry, &call.args);
        }
        if call.args.open {
            inst.timeout = inst.timeout.filter(|_| given.is_some());
            inst.opaque_headers = true;
        }
        // A configuration object that was given carries what was set on it.
        for arg in call.args.values() {
            if let Value::Inst(given) = arg
                && let Some(Some(limit)) = given.timeout
                && matches!(inst.timeout, None | Some(None))
                && entry.timeout.is_none()
            {
                inst.timeout = Some(Some(limit));
            }
        }
        let default = entry.default_retries.filter(|_| !call.args.open);
        let told = self.retries_of(entry, &call.args);
        if told.is_some() {
            inst.told = told_at(entry, &call.args, self.at(state, call.span));
        }
        inst.retries = told.or(inst.retries).or(default);
        inst.connects |= self.connects_only(entry)
            || call.args.values().any(|arg| matches!(arg, Value::Inst(given) if given.connects));
        if let Some(headers) = entry.headers.as_ref().and_then(|param| call.args.get(param)).cloned() {
            self.add_headers_inst(&mut inst, &headers, None);
        }
        if let Some(Value::Bool(raises, _)) = entry.raises_on_status.as_ref().and_then(|param| call.args.get(param)) {
            inst.raises = Some(*raises);
        }
        if call.receiver.is_none() {
            inst.parts = self.drawn_parts(call);
        }
        let value = Value::Inst(Rc::new(inst));
        if entry.result { Value::Variant("Ok".into(), "Ok".into(), [value].into()) } else { value }
    }

    /// Whether what is told to such a thing is repeated only where nothing was sent.
    fn connects_only(&self, entry: &Entry) -> bool {
        let models = self.models(self.file);
        let policy = entry.policy.as_deref().and_then(|path| models.function(path));
        let Some(policy) = policy.filter(|policy| policy.statuses.is_none()) else {
            return false;
        };
        let repeated = policy.repeats.as_deref().and_then(|path| models.function(path));
        let unsent = |class: &String| models.exception(class).is_some_and(|entry| entry.before_send);
        repeated.is_some_and(|entry| !entry.raises.is_empty() && entry.raises.iter().all(unsent))
    }

    /// Of what a client is made of, what may be another thing the next time: the proxy or host whose turn it is.
    fn drawn_parts(&self, call: &Call<'a>) -> Rc<[Value]> {
        let aside = |value: &Value| {
            let params = [&call.entry.headers, &call.entry.timeout, &call.entry.retries];
            params.into_iter().flatten().any(|param| call.args.get(param) == Some(value))
        };
        let drawn = call.args.values().filter(|value| self.symbols.taint(value).has(Taint::ITEM) && !aside(value));
        drawn.cloned().collect()
    }

    /// How often a client or call is told to send a request again: by its arguments, or by a thing that it is given.
    pub(super) fn retries_of(&self, entry: &Entry, args: &Args) -> Option<u32> {
        if let Some(value) = entry.retries.as_ref().and_then(|param| args.get(param))
            && *value != Value::None
        {
            return retries_in(value);
        }

        args.values().find_map(|arg| match arg {
            Value::Inst(given) => given.retries,
            _ => None,
        })
    }

    /// Whether the current call stands in async code and is not awaited.
    pub(super) fn prepares(&self, state: &State) -> bool {
        let in_async = state
            .top()
            .and_then(|frame| self.project.function(frame.func))
            .is_some_and(|function| function.is_async || function.kind == crate::ir::FunctionKind::AsyncBlock);
        in_async && !self.is_awaited(state)
    }

    /// What a call of a library gives that only prepares another call: a thing of that library, named by the call.
    pub(super) fn prepared_by(&self, state: &State, call: &Call<'a>) -> Value {
        let mut inst = match &call.receiver {
            Some(Value::Inst(inst)) => (**inst).clone(),
            _ => Inst { made_here: true, ..Inst::default() },
        };
        inst.ty = call.path.clone();
        // A client is told by what it is made from; what its calls are given says nothing of it.
        let told = if call.receiver.is_none() { self.retries_of(call.entry, &call.args) } else { None };
        if told.is_some() {
            inst.told = told_at(call.entry, &call.args, self.at(state, call.span));
        }
        inst.retries = told.or(inst.retries).or(call.entry.default_retries);
        let mut inputs = inst.inputs.to_vec();
        inputs.extend(call.args.values().filter(|value| !matches!(value, Value::Inst(_))).cloned());
        inst.inputs = inputs.into();
        Value::Inst(Rc::new(inst))
    }

    /// The method of a request.
    pub(super) fn verb(&self, call: &Call<'_>) -> Option<Rc<str>> {
        let entry = call.entry;
        if let Some(verb) = &entry.verb {
            return Some(verb.as_str().into());
        }
        if entry.verb_is_name {
            return Some(call.name.to_ascii_uppercase().into());
        }
        let from_value = |value: &Value| match value {
            Value::Str(text) => Some(Rc::from(text.to_ascii_uppercase())),
            Value::Path(path) => Some(Rc::from(last_part(path).to_ascii_uppercase())),
            _ => None,
        };
        if let Some(param) = &entry.verb_param {
            match call.args.get(param) {
                Some(value) => return from_value(value),
                None => {
                    if let Some(toml::Value::String(verb)) = &param.default {
                        return Some(verb.as_str().into());
                    }
                    entry.verb_with_body.as_ref()?;
                }
            }
        }
        if let Some(with_body) = &entry.verb_with_body {
            let has_body =
                entry.body.iter().any(|param| call.args.get(param).is_some_and(|value| *value != Value::None));
            // A prepared request that is passed in knows better.
            let prepared = call.args.values().find_map(|value| match value {
                Value::Inst(inst) => inst.verb.clone(),
                _ => None,
            });
            if prepared.is_some() {
                return prepared;
            }
            if call.args.open {
                return None;
            }
            return Some(if has_body { with_body.as_str().into() } else { "GET".into() });
        }
        None
    }

    pub(super) fn prepare(&mut self, call: &Call<'a>) -> Value {
        let mut inst = match &call.receiver {
            Some(Value::Inst(inst)) => (**inst).clone(),
            _ => Inst::default(),
        };
        // What a client sends with each request is no key of this one.
        if inst.verb.is_none() {
            inst.opaque_headers = false;
        }
        if let Some(ty) = &call.entry.gives {
            inst.ty = ty.as_str().into();
        }
        if let Some(verb) = self.verb(call) {
            inst.verb = Some(verb);
        }
        let mut inputs: Vec<Value> = inst.inputs.to_vec();
        if let Some(url) = call.entry.url.as_ref().and_then(|param| call.args.get(param)) {
            inputs.push(url.clone());
        }
        for param in &call.entry.body {
            inputs.extend(call.args.get(param).cloned());
        }
        inst.inputs = inputs.into();
        if let Some(headers) = call.entry.headers.as_ref().and_then(|param| call.args.get(param)).cloned() {
            self.add_headers_inst(&mut inst, &headers, None);
        }
        let value = Value::Inst(Rc::new(inst));
        if call.entry.result { Value::Variant("Ok".into(), "Ok".into(), [value].into()) } else { value }
    }

    pub(super) fn set(&mut self, state: &mut State, call: &Call<'a>) -> Value {
        let receiver = call.receiver.clone().unwrap_or(Value::None);
        let Value::Inst(inst) = &receiver else { return receiver };
        let mut inst = (**inst).clone();
        let value = call.entry.value.as_ref().and_then(|param| call.args.get(param)).cloned();
        match call.entry.sets {
            Some(Sets::Timeout) => {
                let amount = call.entry.amount.as_ref().and_then(|param| call.args.get(param)).cloned();
                let amount = amount.map(|amount| self.seconds(&amount, call.entry.unit));
                inst.timeout = Some(match amount {
                    Some(Value::None) => None,
                    Some(Value::Variant(name, _, _)) if &*name == "None" => None,
                    Some(Value::Variant(_, _, args)) => args.first().and_then(limit_value),
                    Some(amount) => limit_value(&amount),
                    None => Some(F(f64::NAN)),
                });
            }
            Some(Sets::Header) => {
                let key = call.entry.key.as_ref().and_then(|param| call.args.get(param)).cloned();
                match key.as_ref().and_then(header_name) {
                    Some(name) if is_key_header(&name) => inst.key = value,
                    Some(_) => {}
                    None => inst.opaque_headers = true,
                }
            }
            Some(Sets::Headers) => {
                if let Some(value) = value {
                    self.add_headers_inst(&mut inst, &value, Some(state));
                }
            }
            Some(Sets::Adapter) => {
                if matches!(value, Some(Value::Sym(_))) {
                    (inst.timeout, inst.made_here) = (None, false);
                }
                if let Some(retries) = value.as_ref().and_then(retries_in) {
                    let here = self.at(state, call.span);
                    let key = call.entry.key.as_ref().and_then(|param| call.args.get(param)).cloned();
                    mount(&mut inst, retries, value.as_ref().and_then(told_in).unwrap_or(here), key.as_ref());
                }
            }
            Some(Sets::Retries) => {
                inst.retries = value.as_ref().and_then(retries_in);
                let here = self.at(state, call.span);
                inst.told = inst.retries.and_then(|_| value.as_ref().and_then(told_in).or(Some(here)));
            }
            Some(Sets::Body) => {
                let mut inputs = inst.inputs.to_vec();
                inputs.extend(value);
                inst.inputs = inputs.into();
            }
            _ => {
                let mut inputs = inst.inputs.to_vec();
                inputs.extend(call.args.values().cloned());
                inst.inputs = inputs.into();
            }
        }
        let value = Value::Inst(Rc::new(inst));
        if call.entry.result { Value::Variant("Ok".into(), "Ok".into(), [value].into()) } else { value }
    }

    /// What becomes of a client one of whose methods is replaced: the new one may limit the time.
    pub(super) fn replace_method(&self, state: &mut State, client: &Value, name: &str, with: &Value) {
        let Value::Inst(inst) = client else { return };
        let own =
            || self.models(state.top().map_or(self.file, |frame| frame.func.file)).method(&inst.ty, name).is_some();
        if !inst.made_here || !is_callable(with) && !own() {
            return;
        }
        let value = Value::Inst(Rc::new(Inst { timeout: None, made_here: false, ..(**inst).clone() }));
        for kept in Rc::make_mut(&mut state.heap).values_mut().filter(|kept| *kept == client) {
            *kept = value.clone();
        }
        if let Some(frame) = state.frames.last_mut() {
            for kept in Rc::make_mut(&mut frame.slots).iter_mut().flatten().filter(|kept| *kept == client) {
                *kept = value.clone();
            }
        }
    }

    /// A module's client as the rest of its file leaves it: what is set on it afterwards may limit the time.
    pub(super) fn as_set(&mut self, file: u32, id: GlobalId, value: Value) -> Value {
        let Value::Inst(inst) = &value else { return value };
        if !inst.made_here {
            return value;
        }
        if let Some(known) = self.set_cache.get(&(file, id.0)) {
            return known.clone();
        }
        // To whoever sets it, it is as it was made.
        self.set_cache.insert((file, id.0), value.clone());
        let functions = self.project.module(file).map(|module| module.functions.as_slice()).unwrap_or_default();
        let left = if functions.iter().any(|function| self.sets_on(file, function, id, &inst.ty) == Some(true)) {
            Value::Inst(Rc::new(Inst { timeout: None, made_here: false, ..(**inst).clone() }))
        } else {
            self.as_left(file, id, &inst.ty).unwrap_or(value)
        };
        self.set_cache.insert((file, id.0), left.clone());
        left
    }

    /// A module's client as the statements of the module leave it, where these set something on it.
    fn as_left(&mut self, file: u32, id: GlobalId, ty: &str) -> Option<Value> {
        let functions = self.project.module(file)?.functions.as_slice();
        let at = functions.iter().position(|function| function.kind == FunctionKind::ModuleBody)?;
        self.sets_on(file, functions.get(at)?, id, ty)?;
        let func = FuncRef { file, func: FuncId(u32::try_from(at).ok()?) };
        let state = self.enter(func);
        // What is told to clients there is looked for by itself.
        let driven = self.driven.take();
        let left = self.run_aside(func, state);
        self.driven = driven;
        let left = left?.0.globals.get(&(file, id.0)).cloned();
        left.filter(|left| matches!(left, Value::Inst(inst) if &*inst.ty == ty))
    }

    /// Whether a function sets something on a module's client, and then whether that may limit the time.
    fn sets_on(&self, file: u32, function: &Function, id: GlobalId, ty: &str) -> Option<bool> {
        let sets = function.blocks.iter().flat_map(|block| {
            let made = |slot: Slot| block.instrs.iter().find(|instr| instr.dst == Some(slot)).map(|instr| &instr.op);
            let of_library = move |slot: Slot| match made(slot) {
                Some(Op::Call { callee: Callee::Value(callee), .. }) => match made(*callee) {
                    Some(Op::Path(path)) => self.project.known(file, path).is_some(),
                    _ => false,
                },
                _ => false,
            };
            let set = move |instr: &Instr| match &instr.op {
                Op::Call { callee: Callee::Method { receiver, name }, args } => {
                    let entry = self.models(file).method(ty, name).filter(|entry| entry.in_place)?;
                    let limits = match entry.sets? {
                        Sets::Timeout => true,
                        Sets::Adapter => !args.iter().any(|arg| of_library(arg.value)),
                        _ => false,
                    };
                    matches!(made(*receiver), Some(Op::Global(other)) if *other == id).then_some(limits)
                }
                _ => None,
            };
            block.instrs.iter().filter_map(set)
        });
        sets.max()
    }

    /// Notes what headers say of a key.
    pub(super) fn add_headers_inst(&mut self, inst: &mut Inst, headers: &Value, state: Option<&State>) {
        match self.key_in(headers, state) {
            super::state::KeyFact::None => {}
            super::state::KeyFact::Value(value) => inst.key = Some(value),
            super::state::KeyFact::Unknown => inst.opaque_headers = true,
        }
    }

    /// The idempotency key among headers.
    pub(super) fn key_in(&self, headers: &Value, state: Option<&State>) -> super::state::KeyFact {
        use super::state::KeyFact;
        let items: Vec<Value> = match headers {
            Value::None => return KeyFact::None,
            Value::Tuple(items) => items.to_vec(),
            Value::Object(id) => match state.and_then(|state| state.objects.get(id)) {
                Some(Object::List(items, whole)) => {
                    if !whole {
                        return KeyFact::Unknown;
                    }
                    items.clone()
                }
                _ => return KeyFact::Unknown,
            },
            _ => return KeyFact::Unknown,
        };
        let mut opaque = items.len() % 2 == 1;
        for pair in items.chunks(2) {
            if let [name, value] = pair {
                match header_name(name) {
                    Some(name) if is_key_header(&name) => return KeyFact::Value(value.clone()),
                    Some(_) => {}
                    None => opaque = true,
                }
            }
        }
        if opaque { KeyFact::Unknown } else { KeyFact::None }
    }
}
