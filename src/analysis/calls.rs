//! Calls: which function, class, model or unknown thing is called, and what that does.

use std::rc::Rc;

use super::arith;
use super::machine::{Machine, Out, Res};
use super::memory::{key_is_retry_after, last_part};
use super::pieces::is_callable;
use super::state::{Event, Object, State};
use super::status::StatusSet;
use super::taking::takes;
use super::value::{ANY, ClassRef, FuncRef, Inst, NUMBER, Node, Num, SymId, Taint, Type, Value};
use crate::ir::{Arg, BinOp, Callee};
use crate::models::{Entry, Kind, ParamRef};
use crate::source::Span;

/// As many pieces of a text are looked at.
const MOST_PIECES: usize = 24;
/// As many attributes are followed from one to the next.
const MOST_ALIASES: u32 = 8;

/// The arguments of a call.
#[derive(Debug, Clone, Default)]
pub(super) struct Args {
    /// With their names.
    pub list: Vec<(Option<Rc<str>>, Value)>,
    /// Some stand for any number of further ones.
    pub open: bool,
    /// What those come out of, where it is the last of those without a name.
    pub spread: Option<Value>,
}

impl Args {
    /// The argument that a model means, if it is given.
    pub fn get(&self, param: &ParamRef) -> Option<&Value> {
        for wanted in param.name.iter().chain(&param.former) {
            if let Some((_, value)) = self.list.iter().find(|(name, _)| name.as_deref() == Some(wanted)) {
                return Some(value);
            }
        }
        let at = param.position?;
        self.list.iter().filter(|(name, _)| name.is_none()).nth(at).map(|(_, value)| value)
    }

    /// A positional argument.
    pub fn nth(&self, at: usize) -> Option<&Value> {
        self.list.iter().filter(|(name, _)| name.is_none()).nth(at).map(|(_, value)| value)
    }

    /// Further arguments by their names, of a mapping in which keys and values stand in turn.
    pub fn push_pairs(&mut self, items: &[Value]) {
        for pair in items.chunks(2) {
            match pair {
                [Value::Str(name), value] => self.list.push((Some(name.clone()), value.clone())),
                _ => self.open = true,
            }
        }
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
                    Some(items) => list.push_pairs(&items),
                    None => {
                        // Of a mapping some may be known.
                        if let (Some(_), Some(Object::List(items, _))) = (&arg.name, self.object(&state, &value)) {
                            list.push_pairs(items);
                        }
                        list.open = true;
                        // What a wrapper hands on is what its callers give.
                        let made = |id| !matches!(self.symbols.info(id).map(|info| &info.node), Some(Node::Param(..)));
                        if arg.name.is_none() && matches!(value, Value::Sym(id) if made(id)) {
                            list.spread = Some(value);
                        }
                    }
                }
                continue;
            }
            // What stands behind it is of no known number.
            if arg.name.is_none() {
                list.spread = None;
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

    fn object<'s>(&self, state: &'s State, value: &Value) -> Option<&'s Object> {
        match value {
            Value::Object(id) => state.objects.get(id),
            _ => None,
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

    pub(super) fn call_super(&mut self, mut state: State, name: &str, args: Args, span: Span, out: &mut Out) {
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
            if let Some((class, ..)) = class.filter(|_| name == "__init__") {
                self.note_inherited(&state, class, args, span);
            }
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
                // The method that the class has: what the attribute was set to since is something else.
                if let Value::Sym(id) = &receiver
                    && let Some(Type::Own(class)) = self.symbols.info(*id).and_then(|info| info.ty.clone())
                    && let Some(func) = self.project.method(class, &name)
                {
                    return self.call_function(state, func, None, Some(receiver), args, span, out);
                }
                // Attributes that stand for one another have no end.
                if self.aliases > MOST_ALIASES {
                    let value = self.unknown(&mut state, Taint::CALL);
                    return out.push((state, Res::Value(value)));
                }
                self.aliases += 1;
                self.call_method(state, receiver, &name, args, span, out);
                self.aliases -= 1;
            }
            Value::Partial(pending) => {
                let mut all = Args { list: pending.args.to_vec(), open: args.open, ..Args::default() };
                all.list.extend(args.list);
                self.call_value(state, pending.callee.clone(), all, span, out);
            }
            Value::Path(path) => {
                let path = path.clone();
                if let Some(entry) = self.project.known(file, &path) {
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
                // What gives any value in another form does so under the name of a type of which nothing is known.
                if let Some((_, name)) = split_path(&path)
                    && let [(None, given)] = args.list.as_slice()
                    && let Some(entry) = self.models(file).method(ANY, name)
                    && matches!(entry.kind, Kind::Transparent | Kind::Derive)
                {
                    let receiver = Some(given.clone());
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
            Value::Sym(id) if self.called_as(*id).is_some() => {
                let Some(func) = self.called_as(*id) else { return };
                self.call_function(state, func, None, Some(callee), args, span, out);
            }
            Value::Exc(_) | Value::Variant(..) | Value::None | Value::Num(_) | Value::Str(_) => {
                let value = self.unknown(&mut state, Taint::CALL);
                out.push((state, Res::Value(value)));
            }
            _ => self.call_unknown(state, callee.clone(), args, span, out),
        }
    }

    /// What a call of an object of the project's own calls.
    fn called_as(&self, object: SymId) -> Option<FuncRef> {
        match self.symbols.info(object)?.ty {
            Some(Type::Own(class)) => self.project.method(class, "__call__"),
            _ => None,
        }
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
            // A number that is known has lost the type that it was wrapped in.
            Value::Num(_) => {
                if let Some(entry) =
                    models.method(NUMBER, name).filter(|entry| entry.types.iter().any(|ty| ty == NUMBER))
                {
                    let path: Rc<str> = format!("{NUMBER}.{name}").into();
                    let call = Call { entry, receiver: Some(receiver.clone()), path, name: name.into(), args, span };
                    return self.apply(state, call, out);
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
                let ty = self.symbols.info(*id).and_then(|info| info.ty.clone());
                let held = state.heap.get(&(*id, Rc::from(name))).cloned();
                // A field may have the name of a method, which is then meant unless it holds something to call.
                let method = |class| self.project.method(class, name).is_some();
                let shadowed = matches!(ty, Some(Type::Own(class)) if method(class));
                if let Some(value) = held.filter(|value| !shadowed || is_callable(value)) {
                    return self.call_value(state, value, args, span, out);
                }
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
                    if self.is_own_iterator(&receiver)
                        && let Some(value) = self.adapted(&mut state, &receiver, name, &args)
                    {
                        return out.push((state, Res::Value(value)));
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
                if let Some(default) = self.option(*id, name, &args) {
                    return out.push((state, Res::Value(default)));
                }
                if name == "update" {
                    for pair in self.pairs_given(&state, &args).0.chunks_exact(2) {
                        let [key, value] = pair else { continue };
                        self.set_index(&mut state, &receiver, key, value.clone());
                    }
                }
                if name == "next" && args.list.is_empty() && self.is_iterated(file, &receiver) {
                    let _ = self.container_method(
                        &mut state,
                        &receiver,
                        *id,
                        &Object::Unknown(receiver.clone(), 0),
                        name,
                        &args,
                        at,
                        out,
                    );
                    return;
                }
                // By what the file imports, where only one of its libraries has such a method.
                if let Some((ty, entry)) = self.by_import(file, name)
                    && !looks_up(entry, name, &args)
                    && (!self.may_look_up(entry, name, &args) || self.is_read_as(&state, entry))
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
        if let Value::Variant(..) = &receiver
            && let Some(func) = self.project.lent_method(name)
        {
            return self.call_function(state, func, None, Some(receiver), args, span, out);
        }
        if self.optional(&state, &receiver, name, &args, span, out) {
            return;
        }
        // What any value has.
        if let Some(entry) = models.method("*", name)
            && (entry.kind != Kind::Retry
                || self.lends_policy(file, entry, &receiver)
                || self.is_task(file, entry, &receiver))
            && (entry.kind != Kind::Source || takes(entry, &args))
            && (!entry.awaited || self.is_awaited(&state))
        {
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
    pub(super) fn inherited_entry(&self, class: ClassRef, name: &str) -> Option<(Inst, &'a Entry)> {
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

    /// Whether a call may as well look something up in a mapping: `x.get(y)`, of which nothing is known.
    fn may_look_up(&self, entry: &Entry, name: &str, args: &Args) -> bool {
        let [(None, key)] = args.list.as_slice() else { return false };
        let bare = match key {
            Value::Sym(id) => {
                self.symbols.info(*id).is_some_and(|info| {
                    matches!(
                        info.node,
                        Node::Param(..) | Node::Unknown(_) | Node::Item(_) | Node::Attr(..) | Node::Global(..)
                    )
                }) || self.is_name(key)
            }
            // Of a declared type, and otherwise as little known.
            Value::Inst(inst) => inst.verb.is_none(),
            _ => false,
        };
        // A queue is given one thing as well; what is no address is none that something is put to.
        let item = entry.kind == Kind::Request && !self.is_address(key);
        (bare && name == "get" || item && name == "put") && entry.verb_is_name && !args.open
    }

    /// Whether something may be an address by what it is made of.
    fn is_address(&self, value: &Value) -> bool {
        let made = |id: &SymId| match self.symbols.info(*id).map(|info| &info.node) {
            Some(Node::Call(name, _)) => &**name == "format",
            Some(Node::Binary(BinOp::Add, ..)) => true,
            _ => false,
        };
        matches!(value, Value::Str(_) | Value::Path(_)) || matches!(value, Value::Sym(id) if made(id))
    }

    /// Whether a text was put together of pieces none of which is of an address (`owner + "_" + number`).
    fn is_name(&self, text: &Value) -> bool {
        let (mut work, mut named) = (vec![text.clone()], false);
        for _ in 0..MOST_PIECES {
            let Some(part) = work.pop() else { return named };
            let node = match &part {
                Value::Str(text) if text.contains(['/', '.', ':', '?', '=', '&', '%', '#']) => return false,
                Value::Str(text) => {
                    named |= !text.trim().is_empty();
                    continue;
                }
                Value::Sym(id) => self.symbols.info(*id).map(|info| &info.node),
                _ => None,
            };
            match node {
                Some(Node::Call(name, parts)) if &**name == "format" => work.extend(parts.iter().cloned()),
                Some(Node::Binary(BinOp::Add, first, second)) => work.extend([first.clone(), second.clone()]),
                _ => {}
            }
        }
        false
    }

    /// The one type with such a method that sends a request, among the libraries that a file imports.
    pub(super) fn by_import(&mut self, file: u32, name: &str) -> Option<(Rc<str>, &'a Entry)> {
        let key = (file, Rc::from(name));
        if let Some(known) = self.import_cache.get(&key) {
            return known.clone();
        }
        let found = self.find_by_import(file, name);
        self.import_cache.insert(key, found.clone());
        found
    }

    pub(super) fn find_by_import(&self, file: u32, name: &str) -> Option<(Rc<str>, &'a Entry)> {
        let models = self.models(file);
        let module = self.project.module(file)?;
        let mut found: Option<(Rc<str>, &'a Entry)> = None;
        let mut library: Option<std::sync::Arc<str>> = None;
        for method in models.types_with_method(name).iter().filter(|method| !method.ty.starts_with('?')) {
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
}

/// Whether a call that could be a request by its name is a look-up in a mapping by its arguments: a key that is no
/// address, a default beside it, or none at all (the next of a queue); nor is it a request if it sends something that
/// the request of that name does not take (a message into a channel).
pub(super) fn looks_up(entry: &Entry, name: &str, args: &Args) -> bool {
    let reads = entry.verb_is_name && name == "get" && entry.kind == Kind::Request;
    let address = entry.url.as_ref().and_then(|param| args.get(param));
    let unnamed = args.list.iter().any(|(name, _)| name.is_none());
    let (needs_address, takes_none) = (entry.verb_is_name, entry.url.is_none() && entry.prepared.is_none());
    if needs_address && address.is_none() && !args.open || !needs_address && takes_none && unnamed {
        return true;
    }
    let key = matches!(address, Some(Value::Str(text)) if !text.contains(['/', '.', ':']));
    reads && (key || args.list.iter().filter(|(name, _)| name.is_none()).count() > 1)
}

pub(super) fn split_path(path: &str) -> Option<(&str, &str)> {
    path.rsplit_once("::").or_else(|| path.rsplit_once('.'))
}
