//! Calls: which function, class, model or unknown thing is called, and what that does.

use std::rc::Rc;

use super::arith;
use super::machine::{Advice, End, Machine, Out, Res};
use super::memory::{key_is_retry_after, last_part};
use super::project::Entity;
use super::state::{At, Event, Gives, Known3, Object, State};
use super::status::StatusSet;
use super::value::{ANY, ClassRef, Exc, F, FuncRef, Inst, Node, Num, Pending, Taint, Type, Value};
use crate::ir::{Arg, BinOp, Callee};
use crate::models::{DefaultTimeout, Entry, Kind, ParamRef, Sets, Unit};
use crate::source::Span;

/// Functions of so many blocks are followed whatever they do.
const SMALL: usize = 24;
/// Functions of more blocks are not followed.
const LARGE: usize = 400;

/// The arguments of a call.
#[derive(Debug, Clone, Default)]
pub(super) struct Args {
    /// With their names.
    pub list: Vec<(Option<Rc<str>>, Value)>,
    /// Some stand for any number of further ones.
    pub open: bool,
}

impl Args {
    /// The argument that a model means, if it is given.
    pub fn get(&self, param: &ParamRef) -> Option<&Value> {
        if let Some(wanted) = &param.name
            && let Some((_, value)) =
                self.list.iter().find(|(name, _)| name.as_deref().is_some_and(|name| name == wanted))
        {
            return Some(value);
        }
        let at = param.position?;
        self.list.iter().filter(|(name, _)| name.is_none()).nth(at).map(|(_, value)| value)
    }

    /// A positional argument.
    pub fn nth(&self, at: usize) -> Option<&Value> {
        self.list.iter().filter(|(name, _)| name.is_none()).nth(at).map(|(_, value)| value)
    }

    /// All values.
    pub fn values(&self) -> impl Iterator<Item = &Value> {
        self.list.iter().map(|(_, value)| value)
    }
}

/// What is being called, for those who carry the call out.
#[derive(Debug, Clone)]
pub(super) struct Call<'e> {
    /// The model's entry.
    pub entry: &'e Entry,
    /// Its receiver, if a method.
    pub receiver: Option<Value>,
    /// Path or type and name, for messages.
    pub path: Rc<str>,
    /// The callable's own name.
    pub name: Rc<str>,
    /// Arguments.
    pub args: Args,
    /// Where.
    pub span: Span,
}

impl<'a> Machine<'a> {
    pub(super) fn call_instr(&mut self, mut state: State, callee: &Callee, args: &[Arg], span: Span, out: &mut Out) {
        let mut list = Args::default();
        for arg in args {
            let value = self.read(&mut state, arg.value);
            if arg.spread {
                match self.spread(&state, &value) {
                    Some(items) if arg.name.is_none() => {
                        list.list.extend(items.iter().map(|item| (None, item.clone())));
                    }
                    _ => list.open = true,
                }
                continue;
            }
            list.list.push((arg.name.as_deref().map(Rc::from), value));
        }
        let before = (state.frames.len(), out.len());
        match callee {
            Callee::Value(slot) => {
                let value = self.read(&mut state, *slot);
                self.call_value(state, value, list, span, out);
            }
            Callee::Method { receiver, name } => {
                let receiver = self.read(&mut state, *receiver);
                self.call_method(state, receiver, name, list, span, out);
            }
            Callee::Super { name } => self.call_super(state, name, list, span, out),
        }
        for (state, res) in out.iter_mut().skip(before.1) {
            if matches!(res, Res::Called) && state.frames.len() == before.0 + 1 {
                self.lend(state, args);
            }
        }
    }

    /// Notes which parameters of the activation just begun stand for variables of its caller (`&mut count`).
    fn lend(&self, state: &mut State, args: &[Arg]) {
        let [.., caller, callee] = state.frames.as_slice() else { return };
        let Some(block) = self.project.function(caller.func).and_then(|function| function.block(caller.block)) else {
            return;
        };
        let Some(function) = self.project.function(callee.func) else { return };
        let earlier = block.instrs.get(..caller.at).unwrap_or_default();
        let source = |slot: crate::ir::Slot| {
            let instr = earlier.iter().rev().find(|instr| instr.dst == Some(slot))?;
            match instr.op {
                crate::ir::Op::Unary(crate::ir::UnOp::Same, source) => Some(source),
                _ => None,
            }
        };
        let params = function.params.iter().filter(|param| !param.is_self);
        let lent: Vec<_> = params
            .zip(args)
            .filter(|(param, arg)| arg.name.is_none() && !arg.spread && !param.is_rest)
            .filter_map(|(param, arg)| Some((param.slot, source(arg.value)?)))
            .collect();
        if let (false, Some(frame)) = (lent.is_empty(), state.frames.last_mut()) {
            frame.lent = lent.into();
        }
    }

    pub(super) fn spread(&self, state: &State, value: &Value) -> Option<Rc<[Value]>> {
        match value {
            Value::Tuple(items) => Some(items.clone()),
            Value::Object(id) => match state.objects.get(id)? {
                Object::List(items, true) => Some(items.clone().into()),
                _ => None,
            },
            _ => None,
        }
    }

    fn call_super(&mut self, mut state: State, name: &str, args: Args, span: Span, out: &mut Out) {
        let class = state.frames.iter().rev().find_map(|frame| {
            let function = self.project.function(frame.func)?;
            Some((ClassRef { file: frame.func.file, class: function.class? }, frame.func, function))
        });
        if let Some((class, func, function)) = class {
            let this = function.params.iter().find(|param| param.is_self).map(|param| param.slot);
            let this = this.and_then(|slot| {
                let frame = state.frames.iter().rev().find(|frame| frame.func == func)?;
                frame.slots.get(slot.0 as usize).cloned().flatten()
            });
            let found = self.project.bases(class).into_iter().find_map(|base| self.project.method(base, name));
            if let (Some(found), Some(this)) = (found, this.clone()) {
                return self.call_function(state, found, None, Some(this), args, span, out);
            }
            // A base that a model describes.
            let bases = self.project.class(class).map(|class| class.bases.as_slice()).unwrap_or_default();
            for base in bases {
                if let Some(entry) = self.models(class.file).method(&base.path, name)
                    && entry.kind != Kind::Remote
                {
                    let inst = Value::Inst(Rc::new(Inst {
                        ty: base.path.as_str().into(),
                        opaque_headers: true,
                        ..Inst::default()
                    }));
                    return self.call_method(state, inst, name, args, span, out);
                }
            }
        }
        if name.starts_with("__") {
            out.push((state, Res::Value(Value::None)));
            return;
        }
        let value = self.unknown(&mut state, Taint::CALL);
        out.push((state, Res::Value(value)));
    }

    /// Calls a value.
    pub(super) fn call_value(&mut self, mut state: State, callee: Value, args: Args, span: Span, out: &mut Out) {
        let file = state.top().map_or(self.file, |frame| frame.func.file);
        match &callee {
            Value::Func(func, outer) => self.call_function(state, *func, *outer, None, args, span, out),
            Value::Class(class) => self.construct(state, *class, args, out),
            Value::Bound(pair) => {
                let (receiver, name) = (pair.0.clone(), pair.1.clone());
                self.call_method(state, receiver, &name, args, span, out);
            }
            Value::Partial(pending) => {
                let mut all = Args { list: pending.args.to_vec(), open: args.open };
                all.list.extend(args.list);
                self.call_value(state, pending.callee.clone(), all, span, out);
            }
            Value::Path(path) => {
                let path = path.clone();
                if let Some(entry) = self.models(file).function(&path) {
                    let name = Rc::from(last_part(&path));
                    let call = Call { entry, receiver: None, path, name, args, span };
                    return self.apply(state, call, out);
                }
                // `Type.method` called by its path: a method of a type that a model describes.
                if let Some((ty, name)) = split_path(&path)
                    && let Some(entry) = self.models(file).method(ty, name)
                    && self.models(file).knows_type(ty)
                {
                    let mut args = args;
                    let receiver = if args.list.is_empty() { None } else { Some(args.list.remove(0).1) };
                    let call = Call { entry, receiver, path: path.clone(), name: name.into(), args, span };
                    return self.apply(state, call, out);
                }
                self.call_unknown(state, callee.clone(), args, span, out);
            }
            Value::Inst(inst) => {
                if self.is_policy(file, &callee) {
                    return self.decorated(state, callee.clone(), &args, span, out);
                }
                let called = self.models(file).method(&inst.ty, "__call__");
                if let Some(entry) = called {
                    let call = Call {
                        entry,
                        receiver: Some(callee.clone()),
                        path: inst.ty.clone(),
                        name: "__call__".into(),
                        args,
                        span,
                    };
                    return self.apply(state, call, out);
                }
                self.call_unknown(state, callee.clone(), args, span, out);
            }
            Value::Exc(_) | Value::Variant(..) | Value::None | Value::Num(_) | Value::Str(_) => {
                let value = self.unknown(&mut state, Taint::CALL);
                out.push((state, Res::Value(value)));
            }
            _ => self.call_unknown(state, callee.clone(), args, span, out),
        }
    }

    /// Calls a function of the project: follows it, or makes a future of the call.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn call_function(
        &mut self,
        mut state: State,
        func: FuncRef,
        outer: Option<u32>,
        this: Option<Value>,
        args: Args,
        span: Span,
        out: &mut Out,
    ) {
        let Some(function) = self.project.function(func) else {
            return self.call_unknown(state, Value::Func(func, outer), args, span, out);
        };
        if function.is_async && function.kind != crate::ir::FunctionKind::AsyncBlock {
            let callee = match this {
                Some(this) => Value::Partial(Rc::new(Pending {
                    callee: Value::Func(func, outer),
                    args: [(Some("self".into()), this)].into(),
                    place: self.place(&state),
                })),
                None => Value::Func(func, outer),
            };
            let place = self.place(&state);
            let future = Value::Future(Rc::new(Pending { callee, args: args.list.into(), place }));
            out.push((state, Res::Value(future)));
            return;
        }
        match self.follow(&mut state, func, outer, this, args, Gives::Returned) {
            Ok(()) => out.push((state, Res::Called)),
            // Too deep, or a recursion.
            Err(args) => out.push(self.not_followed(state, func, &args, span)),
        }
    }

    fn not_followed(&mut self, mut state: State, func: FuncRef, args: &Args, span: Span) -> (State, Res) {
        if self.plan.recursion
            && state.frames.len() == 1
            && state.top().is_some_and(|frame| frame.func == func)
            && state.failed.is_some()
        {
            // A turn: the function begins again with these arguments.
            state.turns += 1;
            let at = self.at(&state, span);
            state.push(Event::Turn(at));
            if state.turns > self.plan.max_turns {
                return (state, Res::End(End::Head));
            }
            self.leap(&mut state);
            let this = state.top().and_then(|frame| {
                let function = self.project.function(frame.func)?;
                let slot = function.params.iter().find(|param| param.is_self)?.slot;
                frame.slots.get(slot.0 as usize)?.clone()
            });
            let slots = self.bind_params(&mut state, func, this, args);
            if let Some(frame) = state.frames.last_mut() {
                frame.slots = Rc::new(slots);
                frame.block = crate::ir::BlockId(0);
                frame.at = 0;
                frame.visits.clear();
                frame.caught = None;
            }
            return (state, Res::Called);
        }
        state.guessed = true;
        let value = self.unknown(&mut state, Taint::CALL);
        if let Value::Sym(id) = value
            && self.project.function(func).is_some_and(|function| function.is_generator)
        {
            self.symbols.set_type(id, Type::Other(super::body::GENERATOR.into()));
            state.push(Event::Renewed(id));
        }
        (state, Res::Value(value))
    }

    /// Begins to follow a call, if that may be; else gives the arguments back.
    #[allow(clippy::too_many_arguments)]
    fn follow(
        &mut self,
        state: &mut State,
        func: FuncRef,
        outer: Option<u32>,
        this: Option<Value>,
        args: Args,
        gives: Gives,
    ) -> Result<(), Args> {
        let base = state.frames.first().map(|frame| frame.func);
        let recursive = self.plan.recursion && base == Some(func);
        let generator = self.project.function(func).is_none_or(|f| f.is_generator);
        if recursive || generator || !self.may_follow(state, func) || !self.worth_following(func) {
            return Err(args);
        }
        let slots = self.bind_params(state, func, this, &args);
        let dst = self.current_dst(state);
        self.push_frame(state, func, slots, outer, dst, gives);
        Ok(())
    }

    /// Whether following a function can show anything: it is small, or something in it (or in what it calls) sends,
    /// waits or raises.
    fn worth_following(&mut self, func: FuncRef) -> bool {
        if let Some(known) = self.weight_cache.get(&func) {
            return *known;
        }
        let worth = match self.project.function(func) {
            Some(function) if function.blocks.len() <= SMALL => true,
            Some(_) => self.acts(func, 4),
            None => false,
        };
        self.weight_cache.insert(func, worth);
        worth
    }

    /// Whether a function's text has a call that a model knows to send or wait, itself or through the project's own.
    fn acts(&mut self, func: FuncRef, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        let Some(function) = self.project.function(func) else { return false };
        if function.blocks.len() > LARGE {
            return false;
        }
        let models = self.models(func.file);
        let acting = |kind: Kind| {
            matches!(
                kind,
                Kind::Request | Kind::Effect | Kind::Remote | Kind::Sleep | Kind::WaitFor | Kind::RaiseForStatus
            )
        };
        let mut own = Vec::new();
        for instr in function.blocks.iter().flat_map(|block| &block.instrs) {
            match &instr.op {
                crate::ir::Op::Path(path) => match self.project.entity(path) {
                    Some(Entity::Func(callee)) => own.push(callee),
                    Some(_) => {}
                    None => {
                        if models.function(path).is_some_and(|entry| acting(entry.kind)) {
                            return true;
                        }
                    }
                },
                crate::ir::Op::Func(id) => own.push(FuncRef { file: func.file, func: *id }),
                crate::ir::Op::Call { callee: Callee::Method { name, .. }, .. } => {
                    if self.by_import(func.file, name).is_some() {
                        return true;
                    }
                    if let Some(class) = function.class
                        && let Some(callee) = self.project.method(ClassRef { file: func.file, class }, name)
                    {
                        own.push(callee);
                    }
                }
                _ => {}
            }
        }
        own.sort_unstable();
        own.dedup();
        own.retain(|callee| *callee != func);
        own.into_iter().take(24).any(|callee| self.acts(callee, depth))
    }

    /// The variables of a new activation.
    fn bind_params(
        &mut self,
        state: &mut State,
        func: FuncRef,
        this: Option<Value>,
        args: &Args,
    ) -> Vec<Option<Value>> {
        let Some(function) = self.project.function(func) else { return Vec::new() };
        let mut slots = vec![None; function.slots.len()];
        let mut positional: Vec<Value> =
            args.list.iter().filter(|(name, _)| name.is_none()).map(|(_, value)| value.clone()).collect();
        let mut this = this;
        if this.is_none() {
            this = args
                .list
                .iter()
                .find(|(name, _)| name.as_deref() == Some("self"))
                .map(|(_, value)| value.clone())
                .filter(|_| function.params.first().is_some_and(|param| param.is_self));
        }
        positional.reverse();
        for param in &function.params {
            let given = if param.is_self && this.is_some() {
                this.take()
            } else if param.is_rest {
                None
            } else {
                let named = args.list.iter().find(|(name, _)| name.as_deref() == Some(param.name.as_str()));
                match named {
                    Some((_, value)) => Some(value.clone()),
                    None => positional.pop(),
                }
            };
            let value = match given {
                Some(value) => value,
                None => match param.default {
                    Some(default) if !args.open => self.initial(FuncRef { file: func.file, func: default }),
                    _ => self.parameter(state, func, function, param),
                },
            };
            // What a caller leaves open keeps what is declared.
            let value = match (&value, function.slot(param.slot).and_then(|info| info.ty.as_ref())) {
                (Value::Sym(id), Some(ty)) => {
                    if let Some(ty) = self.type_of(func.file, ty)
                        && !matches!(ty, Type::Model(_))
                    {
                        self.symbols.set_type(*id, ty);
                    }
                    match self.type_of(func.file, ty) {
                        Some(Type::Model(path))
                            if self.symbols.info(*id).is_some_and(|info| {
                                info.ty.is_none() && !info.taint.has(Taint::SERVER.or(Taint::FAILURE))
                            }) =>
                        {
                            Value::Inst(Rc::new(Inst { ty: path, opaque_headers: true, ..Inst::default() }))
                        }
                        _ => value,
                    }
                }
                _ => value,
            };
            if let Some(slot) = slots.get_mut(param.slot.0 as usize) {
                *slot = Some(value);
            }
        }
        slots
    }

    /// Makes an object of a class of the project.
    fn construct(&mut self, mut state: State, class: ClassRef, args: Args, out: &mut Out) {
        let place = self.place(&state);
        let id = self.fresh(&mut state, Node::New(place), Taint::NONE);
        self.symbols.set_type(id, Type::Own(class));
        let made = if self.project.is_exception(class) {
            let path: Rc<str> = self.project.class_path(class).into();
            let mut resp = None;
            let mut lost = None;
            for arg in args.values() {
                match arg {
                    Value::Resp(place) => resp = Some(*place),
                    Value::Exc(exc) => resp = resp.or(exc.resp),
                    _ => {}
                }
            }
            if resp.is_none() {
                for arg in args.values() {
                    let mut found = None;
                    let _ = self.symbols.mentions(arg, &mut |value| {
                        match value {
                            Value::Resp(place) | Value::Body(place) | Value::Status(place, _) => found = Some(*place),
                            Value::Exc(exc) => found = exc.resp.or(exc.lost),
                            _ => {}
                        }
                        found.is_some()
                    });
                    lost = lost.or(found);
                }
            }
            let given = args.values().cloned().collect();
            Value::Exc(Rc::new(Exc { classes: [path].into(), resp, lost, args: given, object: Some(id) }))
        } else {
            Value::Sym(id)
        };
        if let Some(init) = self.project.method(class, "__init__") {
            // The object under construction is the symbol itself; what is given is the exception or the symbol.
            let followed =
                self.follow(&mut state, init, None, Some(Value::Sym(id)), args, Gives::Instead(made.clone()));
            match followed {
                Ok(()) => out.push((state, Res::Called)),
                Err(_) => out.push((state, Res::Value(made))),
            }
            return;
        }
        // A plain record: fields in order.
        if let Some(own) = self.project.class(class) {
            let mut positional = args.list.iter().filter(|(name, _)| name.is_none());
            for field in &own.fields {
                let named = args.list.iter().find(|(name, _)| name.as_deref() == Some(field.name.as_str()));
                let value = named.or_else(|| positional.next()).map(|(_, value)| value.clone());
                if let Some(value) = value {
                    Rc::make_mut(&mut state.heap).insert((id, field.name.as_str().into()), value);
                }
            }
        }
        out.push((state, Res::Value(made)));
    }

    /// Calls a method.
    pub(super) fn call_method(
        &mut self,
        mut state: State,
        receiver: Value,
        name: &str,
        args: Args,
        span: Span,
        out: &mut Out,
    ) {
        let file = state.top().map_or(self.file, |frame| frame.func.file);
        let at = self.at(&state, span);
        let models = self.models(file);
        if crate::frontend::prelude::is(file) {
            return self.piece_method(state, &receiver, name, &args, span, out);
        }
        match &receiver {
            Value::Path(_) if models.method("*", name).is_some_and(|entry| entry.kind == Kind::Transparent) => {
                out.push((state, Res::Value(receiver)));
                return;
            }
            Value::Path(path) => {
                let separator = if path.contains("::") { "::" } else { "." };
                let value = self.path_value(&state, &format!("{path}{separator}{name}"));
                return self.call_value(state, value, args, span, out);
            }
            Value::Class(class) => {
                if let Some(func) = self.project.method(*class, name) {
                    let function = self.project.function(func);
                    let takes_class = function.is_some_and(|f| f.params.first().is_some_and(|p| p.is_self));
                    let given = takes_class && args.list.first().is_none_or(|(name, _)| name.is_some());
                    let this = given.then(|| receiver.clone());
                    return self.call_function(state, func, None, this, args, span, out);
                }
            }
            Value::Resp(resp) => {
                let ty = state.resp_types.get(resp).cloned().unwrap_or_else(|| "".into());
                if let Some(entry) = models.method(&ty, name) {
                    let path: Rc<str> = format!("{ty}.{name}").into();
                    let call = Call { entry, receiver: Some(receiver.clone()), path, name: name.into(), args, span };
                    return self.apply(state, call, out);
                }
                let resp = *resp;
                state.push(Event::ReadBody(resp));
                out.push((state, Res::Value(Value::Body(resp))));
                return;
            }
            Value::Headers(resp) => {
                let value = match args.nth(0) {
                    Some(key) if key_is_retry_after(key) => {
                        let value = self.advice(&mut state, *resp, at);
                        match (value, args.nth(1)) {
                            (Value::None, Some(default)) => default.clone(),
                            (value, _) => value,
                        }
                    }
                    Some(_) => {
                        let key = args.nth(0).cloned().unwrap_or(Value::None);
                        Value::Sym(self.symbols.intern(Node::Index(receiver.clone(), key), Taint::FAILURE))
                    }
                    None => receiver.clone(),
                };
                out.push((state, Res::Value(value)));
                return;
            }
            Value::Body(resp) => {
                let value = match args.nth(0) {
                    Some(key) if key_is_retry_after(key) => {
                        let value = self.advice_in_body(&mut state, *resp, at);
                        match (value, args.nth(1)) {
                            (Value::None, Some(default)) => default.clone(),
                            (value, _) => value,
                        }
                    }
                    _ => receiver.clone(),
                };
                out.push((state, Res::Value(value)));
                return;
            }
            Value::Exc(exc) => {
                let entry = exc.classes.iter().find_map(|class| models.method(class, name));
                if let Some(entry) = entry.filter(|entry| entry.kind == Kind::ErrorTest) {
                    let path: Rc<str> = format!("?.{name}").into();
                    let call = Call { entry, receiver: Some(receiver.clone()), path, name: name.into(), args, span };
                    return self.apply(state, call, out);
                }
                if let Some(entry) = entry
                    && matches!(
                        entry.kind,
                        Kind::ExceptionResponse | Kind::Status | Kind::StatusTest | Kind::Headers | Kind::Transparent
                    )
                {
                    let value = match entry.kind {
                        Kind::Transparent => receiver.clone(),
                        Kind::StatusTest => match exc.resp.or(exc.lost) {
                            Some(resp) => {
                                let set = entry.statuses.as_deref().and_then(StatusSet::parse).unwrap_or_default();
                                Value::StatusIn(resp, set)
                            }
                            None => Value::Bool(false, Taint::FAILURE),
                        },
                        // A status that an error may or may not have.
                        Kind::Status if exc.resp.or(exc.lost).is_none() && !exc.classes.iter().any(|c| &**c == ANY) => {
                            Value::None
                        }
                        _ => self.attribute_value(&mut state, &receiver, name, span),
                    };
                    out.push((state, Res::Value(value)));
                    return;
                }
                if let Some(class) = exc.classes.first().and_then(|class| self.project.class_of_path(class))
                    && let Some(func) = self.project.method(class, name)
                {
                    return self.call_function(state, func, None, Some(receiver.clone()), args, span, out);
                }
                let mut parts = vec![receiver.clone()];
                parts.extend(args.values().cloned());
                let path = format!("?.{name}");
                let id = self.symbols.intern(Node::Call(path.into(), parts.into()), Taint::FAILURE);
                out.push((state, Res::Value(Value::Sym(id))));
                return;
            }
            Value::Object(id) => {
                if let Some(object) = state.objects.get(id).cloned()
                    && self.container_method(&mut state, &receiver, *id, &object, name, &args, at, out)
                {
                    return;
                }
            }
            Value::Inst(inst) => {
                if let Some(entry) = models.method(&inst.ty, name) {
                    let path: Rc<str> = format!("{}.{name}", inst.ty).into();
                    let call = Call { entry, receiver: Some(receiver.clone()), path, name: name.into(), args, span };
                    return self.apply(state, call, out);
                }
            }
            Value::Sym(id) => {
                if let Some(value) = state.heap.get(&(*id, Rc::from(name))).cloned() {
                    return self.call_value(state, value, args, span, out);
                }
                let ty = self.symbols.info(*id).and_then(|info| info.ty.clone());
                if let Some(Type::Model(ty)) = &ty
                    && let Some(entry) = models.method(ty, name)
                {
                    let path: Rc<str> = format!("{ty}.{name}").into();
                    let call = Call { entry, receiver: Some(receiver.clone()), path, name: name.into(), args, span };
                    return self.apply(state, call, out);
                }
                if let Some(Type::Own(class)) = ty {
                    if let Some(func) = self.project.method(class, name) {
                        return self.call_function(state, func, None, Some(receiver.clone()), args, span, out);
                    }
                    // An attribute that holds a callable, or a base that a model describes.
                    if let Some(value) = self.initial_attribute(class, name)
                        && matches!(value, Value::Func(..) | Value::Path(_) | Value::Bound(_) | Value::Inst(_))
                    {
                        return self.call_value(state, value, args, span, out);
                    }
                    if let Some((inst, entry)) = self.inherited_entry(class, name) {
                        let path: Rc<str> = format!("{}.{name}", inst.ty).into();
                        let receiver = Some(Value::Inst(Rc::new(inst)));
                        let call = Call { entry, receiver, path, name: name.into(), args, span };
                        return self.apply(state, call, out);
                    }
                }
                // By what the file imports, where only one of its libraries has such a method.
                if let Some((ty, entry)) = self.by_import(file, name)
                    && !looks_up(entry, name, &args)
                {
                    let inst = Inst { ty, opaque_headers: true, ..Inst::default() };
                    let path: Rc<str> = format!("{}.{name}", inst.ty).into();
                    let receiver = Some(Value::Inst(Rc::new(inst)));
                    let call = Call { entry, receiver, path, name: name.into(), args, span };
                    return self.apply(state, call, out);
                }
            }
            Value::Tuple(_) => {
                let iterator = matches!(name, "iter" | "into_iter" | "copied" | "cloned" | "iter_mut" | "by_ref");
                if iterator {
                    let value = self.iterator(&mut state, receiver.clone());
                    out.push((state, Res::Value(value)));
                    return;
                }
                if matches!(name, "len") {
                    let value = self.length(&state, &receiver);
                    out.push((state, Res::Value(value)));
                    return;
                }
                if matches!(name, "contains")
                    && let Some(item) = args.nth(0)
                {
                    let value = arith::binary(&mut self.symbols, BinOp::In, item, &receiver);
                    out.push((state, Res::Value(value)));
                    return;
                }
            }
            _ => {}
        }
        if self.optional(&state, &receiver, name, &args, span, out) {
            return;
        }
        // What any value has.
        if let Some(entry) = models.method("*", name) {
            let path: Rc<str> = name.into();
            let call = Call { entry, receiver: Some(receiver.clone()), path, name: name.into(), args, span };
            return self.apply(state, call, out);
        }
        if let Some(resp) = self.advice_text(&receiver) {
            // Trimming and the like gives the text again; a test of its form is a guard.
            let _ = resp;
            if args.list.is_empty() && !name.starts_with("is") {
                out.push((state, Res::Value(receiver)));
                return;
            }
        }
        let callee = Value::Bound(Rc::new((receiver, name.into())));
        self.call_unknown(state, callee, args, span, out);
    }

    /// A base of a class that a model describes, with what the model says of a method.
    fn inherited_entry(&self, class: ClassRef, name: &str) -> Option<(Inst, &'a Entry)> {
        let mut work = vec![class];
        let mut seen = 0;
        while let Some(class) = work.pop() {
            seen += 1;
            if seen > 8 {
                return None;
            }
            for base in &self.project.class(class)?.bases {
                let models = self.models(class.file);
                if models.knows_type(&base.path)
                    && let Some(entry) = models.method(&base.path, name)
                {
                    let ty = models.canonical(&base.path).into();
                    return Some((Inst { ty, opaque_headers: true, ..Inst::default() }, entry));
                }
            }
            work.extend(self.project.bases(class));
        }
        None
    }

    /// The one type with such a method that sends a request, among the libraries that a file imports.
    fn by_import(&mut self, file: u32, name: &str) -> Option<(Rc<str>, &'a Entry)> {
        let key = (file, Rc::from(name));
        if let Some(known) = self.import_cache.get(&key) {
            return known.clone();
        }
        let found = self.find_by_import(file, name);
        self.import_cache.insert(key, found.clone());
        found
    }

    fn find_by_import(&self, file: u32, name: &str) -> Option<(Rc<str>, &'a Entry)> {
        let models = self.models(file);
        let module = self.project.module(file)?;
        let mut found: Option<(Rc<str>, &'a Entry)> = None;
        let mut library: Option<std::sync::Arc<str>> = None;
        for method in models.types_with_method(name) {
            let Some(entry) = models.entry_of(method) else { continue };
            if !matches!(entry.kind, Kind::Request | Kind::Prepare | Kind::RaiseForStatus) {
                continue;
            }
            let imported = module
                .imports
                .iter()
                .any(|import| models.library_of(import).is_some_and(|known| known.name == method.library));
            if !imported {
                continue;
            }
            match &library {
                Some(other) if *other != method.library => return None,
                Some(_) => {}
                None => {
                    library = Some(method.library.clone());
                    found = Some((Rc::from(&*method.ty), entry));
                }
            }
        }
        found
    }

    pub(super) fn length(&mut self, state: &State, value: &Value) -> Value {
        let known = match value {
            Value::Tuple(items) => Some(items.len()),
            Value::Object(id) => match state.objects.get(id) {
                Some(Object::List(items, true)) => Some(items.len()),
                Some(Object::Items(items, taken)) => Some(items.len().saturating_sub(*taken)),
                _ => None,
            },
            _ => None,
        };
        match known.and_then(|known| u32::try_from(known).ok()) {
            Some(known) => Value::Num(Num::exact(f64::from(known))),
            None => {
                let id = self.symbols.intern(Node::Math("len".into(), [value.clone()].into()), Taint::NONE);
                self.symbols.set_range(id, 0.0, f64::INFINITY);
                Value::Sym(id)
            }
        }
    }

    // ---- what models say ----

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
                let made = self.prepared_by(&call);
                out.push((state, Res::Value(made)));
            }
            Kind::Request | Kind::Effect | Kind::Remote => {
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
                let made = self.make(&call);
                out.push((state, Res::Value(made)));
            }
            Kind::Prepare => {
                let made = self.prepare(&call);
                out.push((state, Res::Value(made)));
            }
            Kind::Set => {
                let made = self.set(&mut state, &call);
                out.push((state, Res::Value(made)));
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
                let value = self.random(&state, low, high, &call);
                out.push((state, Res::Value(value)));
            }
            Kind::Duration => {
                let value = self.duration(&mut state, &call);
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
            Kind::Transparent | Kind::Derive => {
                if entry.function.as_deref() == Some("not-empty") {
                    // fallthrough to the receiver
                }
                let value = call.receiver.clone().or_else(|| call.args.nth(0).cloned()).unwrap_or(Value::None);
                let value = if entry.result && !matches!(value, Value::Variant(..)) {
                    Value::Variant("Ok".into(), "Ok".into(), [value].into())
                } else {
                    value
                };
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
            Kind::QueryPath => out.push((state, Res::Value(Value::None))),
            Kind::Source => {
                self.may_raise(&state, entry, &call, out);
                let value = self.unknown(&mut state, Taint::ITEM);
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
                    },
                    (_, "count") => {
                        let step = call.args.nth(1).cloned().unwrap_or(Value::Num(Num::exact(1.0)));
                        Object::Range { next: item, step, stop: None, taken: 0 }
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

    /// A call that happens when it is awaited.
    fn later(&mut self, state: State, call: Call<'a>, out: &mut Out) {
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
            out.push((state, Res::Value(value)));
            return;
        };
        let mut args = Args { list: pending.args.to_vec(), open: false };
        if args.list.iter().any(|(name, _)| name.as_deref() == Some("**")) {
            args.list.retain(|(name, _)| name.as_deref() != Some("**"));
            args.open = true;
        }
        let file = state.top().map_or(self.file, |frame| frame.func.file);
        match &pending.callee {
            Value::Func(func, outer) => {
                let result = self.follow(&mut state, *func, *outer, None, args, Gives::Returned);
                match result {
                    Ok(()) => out.push((state, Res::Called)),
                    Err(args) => out.push(self.not_followed(state, *func, &args, span)),
                }
            }
            Value::Partial(inner) if matches!(inner.callee, Value::Func(..)) => {
                let Value::Func(func, outer) = inner.callee else { return };
                // A callable that was given to an executor.
                let in_thread = inner.args.is_empty();
                let this = inner.args.iter().find(|(name, _)| name.as_deref() == Some("self"));
                let this = this.map(|(_, value)| value.clone());
                let result = self.follow(&mut state, func, outer, this, args, Gives::Returned);
                match result {
                    Ok(()) => {
                        if let Some(frame) = state.frames.last_mut() {
                            frame.in_thread = in_thread;
                        }
                        out.push((state, Res::Called));
                    }
                    Err(args) => out.push(self.not_followed(state, func, &args, span)),
                }
            }
            Value::Path(path) => match self.models(file).function(path) {
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
    fn carry_out(&mut self, mut state: State, call: Call<'a>, out: &mut Out) {
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

    fn pure_result(&mut self, state: &mut State, call: &Call<'_>) -> Value {
        let mut parts: Vec<Value> = call.receiver.iter().cloned().collect();
        parts.extend(call.args.values().cloned());
        if parts.is_empty() {
            return self.unknown(state, Taint::NONE);
        }
        // What is made of a response's content is its content.
        if let [Value::Body(resp)] = parts.as_slice() {
            return Value::Body(*resp);
        }
        Value::Sym(self.symbols.intern(Node::Call(call.path.clone(), parts.into()), Taint::NONE))
    }

    /// The paths on which a local call raises, where that can be caught.
    fn may_raise(&mut self, state: &State, entry: &Entry, call: &Call<'a>, out: &mut Out) {
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

    // ---- waits ----

    fn sleep(&mut self, state: &mut State, call: &Call<'_>, at: At) {
        let amount = self.number(&call.args, call.entry.amount.as_ref());
        let value = amount.map(|amount| self.seconds(&amount, call.entry.unit));
        self.wait(state, value, at, call.entry.blocking);
    }

    fn wait_for(&mut self, state: &mut State, call: &Call<'_>, at: At) {
        let amount = call.entry.amount.as_ref().and_then(|param| call.args.get(param)).cloned();
        let limit = state.limits.last().and_then(|(_, seconds)| *seconds);
        let value = match (amount, limit) {
            (Some(Value::None) | None, Some(limit)) => Some(Value::Num(Num::exact(limit.0))),
            (Some(amount), _) => Some(self.seconds(&amount, call.entry.unit)),
            (None, None) => None,
        };
        self.wait(state, value, at, call.entry.blocking);
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

    // ---- time limits ----

    fn time_limit(&mut self, state: State, call: Call<'a>, out: &mut Out) {
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
    fn limited(&mut self, mut state: State, call: Call<'a>, out: &mut Out) {
        let future = call.entry.future.as_ref().and_then(|param| call.args.get(param)).cloned();
        let Some(future) = future else { return };
        let amount = self.number(&call.args, call.entry.amount.as_ref()).unwrap_or(Value::None);
        let seconds = self.seconds(&amount, call.entry.unit);
        let limit = limit_value(&seconds);
        let class: Rc<str> = call.entry.raises.first().map_or_else(|| Rc::from(ANY), |class| Rc::from(class.as_str()));
        let result = call.entry.result;
        let operates = self.leaves_process(&state, &future, 4);
        // Cut by the limit: a failure of what is awaited.
        let (at, base) = (self.at(&state, call.span), self.base_at(&state, call.span));
        if operates != Known3::No {
            let mut info = self.op_info(&mut state, &call, operates);
            info.timeout = Some(limit);
            info.inputs = [future.clone()].into();
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

    fn failure_value(&self, class: &Rc<str>, result: bool) -> Res {
        let exc = self.raised(&[class]);
        if result { Res::Value(Value::Variant("Err".into(), "Err".into(), [exc].into())) } else { Res::Raise(exc) }
    }

    // ---- context managers ----

    pub(super) fn enter_context(&mut self, mut state: State, manager: Value, span: Span, out: &mut Out) {
        let file = state.top().map_or(self.file, |frame| frame.func.file);
        if let Value::Inst(inst) = &manager
            && let Some(entry) = self.models(file).function(&inst.ty)
            && entry.kind == Kind::TimeLimit
        {
            let class = match inst.parts.first() {
                Some(Value::Path(class)) => class.clone(),
                _ => Rc::from(ANY),
            };
            state.limits.push((class, inst.timeout.flatten()));
            if let Some(frame) = state.frames.last_mut() {
                // The limit lasts to the end of the block, at most to the end of the function.
                frame.limits = frame.limits.min(state.limits.len() - 1);
            }
        }
        match &manager {
            Value::Future(_) => self.force(state, manager, span, out),
            Value::Sym(id) => {
                let ty = self.symbols.info(*id).and_then(|info| info.ty.clone());
                if let Some(Type::Own(class)) = ty {
                    let method =
                        self.project.method(class, "__enter__").or_else(|| self.project.method(class, "__aenter__"));
                    if let Some(func) = method
                        && let Ok(()) =
                            self.follow(&mut state, func, None, Some(manager.clone()), Args::default(), Gives::Returned)
                    {
                        out.push((state, Res::Called));
                        return;
                    }
                }
                out.push((state, Res::Value(manager)));
            }
            _ => out.push((state, Res::Value(manager))),
        }
    }

    pub(super) fn exit_context(&mut self, mut state: State, manager: &Value, exception: Option<Value>, out: &mut Out) {
        let file = state.top().map_or(self.file, |frame| frame.func.file);
        let kind = match manager {
            Value::Inst(inst) => self.models(file).function(&inst.ty).map(|entry| (entry.kind, inst.clone())),
            _ => None,
        };
        if self.is_attempt(manager) {
            return self.leave_attempt(state, manager, exception, out);
        }
        match (kind, exception) {
            (Some((Kind::TimeLimit, _)), exception) => {
                state.limits.pop();
                let value = if exception.is_some() { Value::Bool(false, Taint::NONE) } else { Value::None };
                out.push((state, Res::Value(value)));
            }
            (Some((Kind::Suppress, inst)), Some(exception)) => {
                let types = Value::Tuple(inst.parts.clone());
                self.handler(state, &exception, &types, out);
            }
            (_, Some(_)) => out.push((state, Res::Value(Value::Bool(false, Taint::NONE)))),
            (_, None) => out.push((state, Res::Value(Value::None))),
        }
    }

    // ---- exceptions ----

    /// Whether a handler takes an exception: the paths on which it does and does not.
    pub(super) fn handler(&mut self, state: State, exception: &Value, types: &Value, out: &mut Out) {
        let file = state.top().map_or(self.file, |frame| frame.func.file);
        let Value::Exc(exc) = exception else {
            let id = self.symbols.intern(Node::Is(exception.clone(), "handled".into()), Taint::FAILURE);
            out.push((state, Res::Value(Value::Sym(id))));
            return;
        };
        let mut wanted = Vec::new();
        let whole = self.class_paths(&state, types, &mut wanted, 4);
        let (mut taken, mut left, mut open) = (Vec::new(), Vec::new(), Vec::new());
        // Errors that the operation's model lists beside a wider one are not meant by the wider one.
        let listed: Rc<[Rc<str>]> =
            state.failed.as_ref().map_or_else(|| Rc::from([]), |failed| failed.op.raises.clone());
        // What was built here is of this class and of none below it.
        let built = exc.object.is_some() && exc.classes.iter().all(|class| &**class != ANY);
        for class in exc.classes.iter() {
            let mut answer = if whole { Some(false) } else { None };
            let mut narrowed = Vec::new();
            for base in &wanted {
                let this = if &**class == ANY {
                    if self.catches_everything(file, base) { Some(true) } else { None }
                } else {
                    self.project.is_subclass(file, class, base)
                };
                // An interrupt is of no class that models do not know.
                let interrupt = || self.models(file).exception(class).is_some_and(|entry| entry.interrupt);
                let this = if this.is_none() && interrupt() { Some(false) } else { this };
                match this {
                    Some(true) => answer = Some(true),
                    Some(false) => {
                        // A handler below a class takes some of what that class stands for.
                        let apart = |other: &Rc<str>| {
                            other != class && self.project.is_subclass(file, other, base) == Some(true)
                        };
                        if !built
                            && self.project.is_subclass(file, base, class) == Some(true)
                            && !listed.iter().any(apart)
                        {
                            narrowed.push(base.clone());
                            if answer == Some(false) {
                                answer = None;
                            }
                        }
                    }
                    None => {
                        if answer == Some(false) {
                            answer = None;
                        }
                        narrowed.push(base.clone());
                    }
                }
                if answer == Some(true) {
                    break;
                }
            }
            match answer {
                Some(true) => taken.push(class.clone()),
                Some(false) => left.push(class.clone()),
                None => {
                    open.extend(narrowed);
                    left.push(class.clone());
                }
            }
        }
        taken.extend(open);
        let narrow = |classes: Vec<Rc<str>>| Value::Exc(Rc::new(Exc { classes: classes.into(), ..(**exc).clone() }));
        for (classes, truth) in [(taken, true), (left, false)] {
            if classes.is_empty() {
                continue;
            }
            let mut state = state.clone();
            if let Some(failed) = &state.failed
                && let super::state::Failing::Raises(all) = &failed.how
                && **all == *exc.classes
            {
                let how = super::state::Failing::Raises(classes.clone().into());
                state.failed = Some(Rc::new(super::state::Failed { how, ..(**failed).clone() }));
            }
            let narrowed = narrow(classes);
            // The exception that is being handled is known to be one of these now.
            for frame in &mut state.frames {
                for value in Rc::make_mut(&mut frame.slots).iter_mut().flatten() {
                    match value {
                        Value::Variant(name, path, args) if args.contains(exception) => {
                            let narrow = |arg: &Value| if arg == exception { narrowed.clone() } else { arg.clone() };
                            *value = Value::Variant(name.clone(), path.clone(), args.iter().map(narrow).collect());
                        }
                        value if value == exception => *value = narrowed.clone(),
                        _ => {}
                    }
                }
                if frame.caught.as_ref() == Some(exception) {
                    frame.caught = Some(narrowed.clone());
                }
            }
            out.push((state, Res::Value(Value::Bool(truth, Taint::FAILURE))));
        }
    }

    fn catches_everything(&self, file: u32, class: &str) -> bool {
        let models = self.models(file);
        models.exception(class).is_some_and(|entry| !entry.interrupt)
            && models.ancestors(class).len() <= 1
            && models.descendants(class).len() > 20
    }

    /// The classes that a handler names; false where some are not known.
    fn class_paths(&mut self, state: &State, types: &Value, paths: &mut Vec<Rc<str>>, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        match types {
            Value::Path(path) => {
                let file = state.top().map_or(self.file, |frame| frame.func.file);
                paths.push(self.models(file).canonical(path).into());
                true
            }
            Value::Class(class) => {
                paths.push(self.project.class_path(*class).into());
                true
            }
            Value::Tuple(items) => {
                let mut whole = true;
                for item in items.iter() {
                    whole &= self.class_paths(state, item, paths, depth);
                }
                whole
            }
            Value::Object(id) => match state.objects.get(id).cloned() {
                Some(Object::List(items, true)) => self.class_paths(state, &Value::Tuple(items.into()), paths, depth),
                _ => false,
            },
            _ => false,
        }
    }

    /// What a raised value is as an exception.
    pub(super) fn exception_of(&mut self, state: &mut State, value: Value) -> Value {
        let file = state.top().map_or(self.file, |frame| frame.func.file);
        match &value {
            Value::Exc(_) => value,
            Value::Class(class) => self.raised(&[&self.project.class_path(*class)]),
            Value::Path(path) => self.raised(&[self.models(file).canonical(path)]),
            Value::Sym(id) => Value::Exc(Rc::new(Exc {
                classes: [Rc::from(ANY)].into(),
                resp: None,
                lost: None,
                args: Rc::from([]),
                object: Some(*id),
            })),
            _ => super::machine::any_exception(),
        }
    }

    // ---- arithmetic and parsing ----

    fn arithmetic(&mut self, mut state: State, call: &Call<'a>, at: At, out: &mut Out) {
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
                self.make_range(&mut state, first, past, one)
            }
            "range-from" => {
                let first = args.first().cloned().unwrap_or(Value::None);
                self.make_range(&mut state, first, None, Value::Num(Num::exact(1.0)))
            }
            "bool" => match args.first() {
                Some(value) => match arith::truth(&mut self.symbols, value) {
                    arith::Truth::Known(truth, taint) => Value::Bool(truth, taint),
                    arith::Truth::Status(resp, set) => Value::StatusIn(resp, set),
                    arith::Truth::Unknown(id) => Value::Sym(id),
                },
                None => Value::Bool(false, Taint::NONE),
            },
            "next" => {
                let iterator = args.first().cloned().unwrap_or(Value::None);
                let default = args.get(1).cloned();
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
            "checked-add" | "checked-mul" | "checked-sub" | "checked-pow" | "checked-shl" => {
                let plain = function.trim_start_matches("checked-");
                let value = arith::math(&mut self.symbols, plain, &args);
                let (low, high) = arith::bounds(&self.symbols, &value);
                if high < 0.0 {
                    Value::Variant("None".into(), "None".into(), Rc::from([]))
                } else if low >= 0.0 {
                    Value::Variant("Some".into(), "Some".into(), [value].into())
                } else {
                    value
                }
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
        let value = if call.entry.result { Value::Variant("Ok".into(), "Ok".into(), [value].into()) } else { value };
        out.push((state, Res::Value(value)));
    }

    fn range(&mut self, state: &mut State, args: &[Value]) -> Value {
        let zero = Value::Num(Num::exact(0.0));
        let one = Value::Num(Num::exact(1.0));
        let (next, stop, step) = match args {
            [stop] => (zero, Some(stop.clone()), one),
            [start, stop] => (start.clone(), Some(stop.clone()), one),
            [start, stop, step, ..] => (start.clone(), Some(stop.clone()), step.clone()),
            [] => (zero, None, one),
        };
        self.make_range(state, next, stop, step)
    }

    fn make_range(&mut self, state: &mut State, next: Value, stop: Option<Value>, step: Value) -> Value {
        let place = self.place(state);
        let id = self.symbols.intern(Node::New(place), Taint::NONE);
        Rc::make_mut(&mut state.objects).insert(id, Object::Range { next, step, stop, taken: 0 });
        Value::Object(id)
    }

    /// An iterator over a sequence from its end.
    fn reversed(&mut self, state: &mut State, source: Value) -> Value {
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
            return self.make_range(state, last, Some(end), Value::Num(Num::exact(-1.0)));
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
            None => Object::Unknown(source, 0),
        };
        let id = self.symbols.intern(Node::New(place), Taint::NONE);
        Rc::make_mut(&mut state.objects).insert(id, object);
        Value::Object(id)
    }

    fn random(&mut self, state: &State, low: Option<Value>, high: Option<Value>, call: &Call<'_>) -> Value {
        // `gen_range(a..b)` has one argument, a range.
        let (low, high) = match (low, high) {
            (Some(low), Some(high)) => (low, high),
            (Some(one), None) | (None, Some(one)) => (Value::Num(Num::exact(0.0)), one),
            (None, None) => match call.args.nth(0) {
                Some(Value::Tuple(items)) if items.len() == 2 => {
                    (items.first().cloned().unwrap_or(Value::None), items.get(1).cloned().unwrap_or(Value::None))
                }
                Some(Value::Object(id)) => match state.objects.get(id) {
                    Some(Object::Range { next, stop: Some(stop), .. }) => (next.clone(), stop.clone()),
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

    fn duration(&mut self, state: &mut State, call: &Call<'_>) -> Value {
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
            let param = ParamRef { name: part.name.clone(), position: part.position, default: None };
            if let Some(amount) = call.args.get(&param).cloned() {
                any = true;
                let seconds = self.seconds(&amount, part.unit);
                sum = arith::binary(&mut self.symbols, BinOp::Add, &sum, &seconds);
            }
        }
        if any { sum } else { self.unknown(state, Taint::NONE) }
    }

    fn parse_number(&mut self, mut state: State, call: &Call<'a>, at: At, out: &mut Out) {
        let text = call.receiver.clone().or_else(|| call.args.nth(0).cloned()).unwrap_or(Value::None);
        let wrap = |value: Value| match call.entry.result {
            true => Value::Variant("Ok".into(), "Ok".into(), [value].into()),
            false => value,
        };
        if let Some(resp) = self.advice_text(&text) {
            if self.plan.advice == Advice::Seconds {
                let id = self.symbols.intern(Node::RetryAfter(resp), Taint::SERVER.or(Taint::FAILURE));
                out.push((state, Res::Value(wrap(Value::Sym(id)))));
                return;
            }
            // A date is no number. Where its form was tested before, this path is not taken with a date.
            if self.form_was_tested(&state, &text) {
                return;
            }
            state.push(Event::ParseFailed(at));
            let error = self.raised(&["builtins.ValueError"]);
            let res = match call.entry.result {
                true => Res::Value(Value::Variant("Err".into(), "Err".into(), [error].into())),
                false => Res::Raise(error),
            };
            out.push((state, res));
            return;
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

    /// Whether a condition on the form of a text was decided on this path.
    fn form_was_tested(&self, state: &State, text: &Value) -> bool {
        state.decided.keys().any(|sym| {
            let Some(info) = self.symbols.info(*sym) else { return false };
            let plain = match &info.node {
                Node::Truth(inner) | Node::IsNone(inner) | Node::IsSuccess(inner) => inner == text,
                _ => false,
            };
            !plain && self.symbols.mentions(&Value::Sym(*sym), &mut |value| value == text)
        })
    }

    fn parse_date(&mut self, mut state: State, call: &Call<'a>, at: At, out: &mut Out) {
        let mut text = call.receiver.clone().or_else(|| call.args.nth(0).cloned()).unwrap_or(Value::None);
        if self.advice_text(&text).is_none()
            && let Some(found) = call.args.values().find(|arg| self.advice_text(arg).is_some())
        {
            text = found.clone();
        }
        let wrap = |value: Value| match call.entry.result {
            true => Value::Variant("Ok".into(), "Ok".into(), [value].into()),
            false => value,
        };
        if let Some(resp) = self.advice_text(&text) {
            if self.plan.advice == Advice::Date {
                let id = self.symbols.intern(Node::RetryAfter(resp), Taint::SERVER.or(Taint::FAILURE));
                let now = Value::Num(Num { taint: Taint::CLOCK, ..Num::exact(state.clock) });
                let then = arith::binary(&mut self.symbols, BinOp::Add, &Value::Sym(id), &now);
                state.push(Event::ParsedDate);
                out.push((state, Res::Value(wrap(then))));
                return;
            }
            if self.form_was_tested(&state, &text) {
                return;
            }
            state.push(Event::ParseFailed(at));
            let error = self.raised(&["builtins.ValueError"]);
            let res = match call.entry.result {
                true => Res::Value(Value::Variant("Err".into(), "Err".into(), [error].into())),
                false => Res::Raise(error),
            };
            out.push((state, res));
            return;
        }
        let value = self.pure_result(&mut state, call);
        out.push((state, Res::Value(value)));
    }

    // ---- builders and clients ----

    fn make(&mut self, call: &Call<'a>) -> Value {
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
        inst.retries = self.retries_of(entry, &call.args).or(inst.retries).or(default);
        if let Some(headers) = entry.headers.as_ref().and_then(|param| call.args.get(param)).cloned() {
            self.add_headers_inst(&mut inst, &headers, None);
        }
        let value = Value::Inst(Rc::new(inst));
        if entry.result { Value::Variant("Ok".into(), "Ok".into(), [value].into()) } else { value }
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
    fn prepares(&self, state: &State) -> bool {
        let in_async = state
            .top()
            .and_then(|frame| self.project.function(frame.func))
            .is_some_and(|function| function.is_async || function.kind == crate::ir::FunctionKind::AsyncBlock);
        in_async && !self.is_awaited(state)
    }

    /// What a call of a library gives that only prepares another call: a thing of that library, named by the call.
    fn prepared_by(&self, call: &Call<'a>) -> Value {
        let mut inst = match &call.receiver {
            Some(Value::Inst(inst)) => (**inst).clone(),
            _ => Inst { made_here: true, ..Inst::default() },
        };
        inst.ty = call.path.clone();
        // A client is told by what it is made from; what its calls are given says nothing of it.
        let told = if call.receiver.is_none() { self.retries_of(call.entry, &call.args) } else { None };
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

    fn prepare(&mut self, call: &Call<'a>) -> Value {
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

    fn set(&mut self, state: &mut State, call: &Call<'a>) -> Value {
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
            Some(Sets::Retries) => inst.retries = value.as_ref().and_then(retries_in),
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

    /// Notes what headers say of a key.
    fn add_headers_inst(&mut self, inst: &mut Inst, headers: &Value, state: Option<&State>) {
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

    /// Runs what is given to an executor, a task or a gathering.
    fn runs(&mut self, mut state: State, call: Call<'a>, out: &mut Out) {
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
                || matches!(value, Value::Path(path) if self.models(file).function(path).is_some())
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
            Value::Path(path) => match self.models(file).function(path).map(|entry| entry.kind) {
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
}

/// The number of retries that a value stands for.
fn retries_in(value: &Value) -> Option<u32> {
    match value {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        Value::Num(num) => num.single().filter(|number| (0.0..1.0e6).contains(number)).map(|number| number as u32),
        Value::Inst(inst) => inst.retries,
        _ => None,
    }
}

/// Whether a call that could be a request by its name is a look-up in a mapping by its arguments: a key that is no
/// address, a default beside it.
fn looks_up(entry: &Entry, name: &str, args: &Args) -> bool {
    let reads = entry.verb_is_name && name == "get" && entry.kind == Kind::Request;
    let address = entry.url.as_ref().and_then(|param| args.get(param));
    let key = matches!(address, Some(Value::Str(text)) if !text.contains(['/', '.', ':']));
    reads && (key || args.list.iter().filter(|(name, _)| name.is_none()).count() > 1)
}

fn split_path(path: &str) -> Option<(&str, &str)> {
    path.rsplit_once("::").or_else(|| path.rsplit_once('.'))
}

/// A time limit's value: `None` is none, a number so many seconds, anything else a limit of unknown length.
fn limit_value(value: &Value) -> Option<F> {
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
fn header_name(value: &Value) -> Option<String> {
    match value {
        Value::Str(text) => Some(text.to_ascii_lowercase()),
        Value::Path(path) => Some(last_part(path).to_ascii_lowercase().replace('_', "-")),
        _ => None,
    }
}

/// Whether a header (in lower case) carries an idempotency key.
fn is_key_header(name: &str) -> bool {
    name.contains("idempotency") || name == "paypal-request-id"
}
