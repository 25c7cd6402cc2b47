//! Names, attributes, elements and patterns: what a read gives and a write changes.

use std::rc::Rc;

use super::arith;
use super::calls::Args;
use super::facts::credential_statuses;
use super::inputs::PUT;
use super::machine::{End, Machine, Out, Plan, Res};
use super::project::Entity;
use super::state::{At, Event, Object, State};
use super::status::StatusSet;
use super::value::{ClassRef, Exc, FuncRef, Inst, Node, Num, Place, SymId, Taint, Type, Value};
use crate::ir::{Callee, Const, GlobalId, Op, Slot};
use crate::models::{Kind, Occurs};
use crate::source::Span;

/// Steps for what is run apart.
pub(super) const ASIDE_BUDGET: u64 = 6_000;
/// Steps that an initialiser may take, whatever is left to whoever asks for its value.
const INITIAL_BUDGET: u64 = 6_000;

impl Machine<'_> {
    // ---- names ----

    /// What a path from outside the file is.
    pub(super) fn path_value(&mut self, state: &State, path: &str) -> Value {
        match self.project.entity(path) {
            Some(Entity::Func(func)) => return Value::Func(func, None),
            Some(Entity::Class(class)) => return Value::Class(class),
            Some(Entity::Global(file, id)) => return self.global(state, file, id),
            None => {}
        }
        let file = state.top().map_or(self.file, |frame| frame.func.file);
        if let Some((kind, entry)) = self.kind_of_path(file, path) {
            match kind {
                Kind::StatusConstant => {
                    let set = entry.statuses.as_deref().and_then(StatusSet::parse);
                    if let Some(status) = set.and_then(|set| set.iter().next()) {
                        return Value::Num(Num::exact(f64::from(status)));
                    }
                }
                Kind::TextConstant => {
                    if let Some(text) = &entry.value_text {
                        return Value::Str(text.as_str().into());
                    }
                }
                Kind::NumberConstant => {
                    if let Some(number) = entry.number {
                        return Value::Num(Num::exact(number * entry.unit.seconds()));
                    }
                }
                _ => {}
            }
        }
        Value::Path(path.into())
    }

    /// A function as a value: a closure with its activation, an `async` block as a future.
    pub(super) fn function_value(&mut self, state: &mut State, func: FuncRef) -> Value {
        let Some(function) = self.project.function(func) else { return Value::None };
        let outer = match (function.parent, state.frames.last_mut()) {
            (Some(parent), Some(frame)) if frame.func.func == parent => {
                frame.closed_over = true;
                Some(frame.id)
            }
            (Some(_), Some(frame)) => frame.outer,
            _ => None,
        };
        let value = Value::Func(func, outer);
        if function.kind == crate::ir::FunctionKind::AsyncBlock {
            let place = self.place(state);
            return Value::Future(Rc::new(super::value::Pending { callee: value, args: Rc::from([]), place }));
        }
        value
    }

    /// A module variable's value.
    pub(super) fn global(&mut self, state: &State, file: u32, id: GlobalId) -> Value {
        if let Some(value) = state.globals.get(&(file, id.0)) {
            return value.clone();
        }
        let Some(global) = self.project.module(file).and_then(|module| module.global(id)) else {
            return Value::None;
        };
        if let Some(init) = global.value {
            let value = self.initial(FuncRef { file, func: init });
            let kept = !matches!(value, Value::None | Value::Sym(_) | Value::Object(_));
            if kept {
                return self.as_set(file, id, value);
            }
        }
        self.declared(file, global.ty.as_ref(), Node::Global(file, id.0), Taint::STATE)
    }

    /// What an initialiser gives; collections become fixed ones.
    pub(super) fn initial(&mut self, func: FuncRef) -> Value {
        if let Some(value) = self.init_cache.get(&func) {
            return value.clone();
        }
        if self.initialising.contains(&func) || self.initialising.len() > 6 {
            return self.opaque_initial(func);
        }
        let left = self.budget;
        self.budget = INITIAL_BUDGET;
        let state = self.enter(func);
        let value = match self.run_aside(func, state) {
            Some((state, value)) => fixed(&state, &value, 4),
            None => self.opaque_initial(func),
        };
        // Found once for all: the steps of whoever asks first are for what is done with it.
        self.budget = left;
        self.init_cache.insert(func, value.clone());
        value
    }

    fn opaque_initial(&mut self, func: FuncRef) -> Value {
        Value::Sym(self.symbols.intern(Node::Param(func, u32::MAX), Taint::STATE))
    }

    /// Runs a function apart from the run in progress, with every operation succeeding, for what it returns.
    pub(super) fn run_aside(&mut self, func: FuncRef, state: State) -> Option<(State, Value)> {
        self.run_all_aside(func, state).into_iter().next()
    }

    /// The same for all that it may return.
    pub(super) fn run_all_aside(&mut self, func: FuncRef, state: State) -> Vec<(State, Value)> {
        let plan = std::mem::replace(&mut self.plan, Plan::calm());
        let (budget, exhausted, thinned) = (self.budget, self.exhausted, self.thinned);
        self.budget = budget.min(ASIDE_BUDGET);
        let given = self.budget;
        self.initialising.push(func);
        let finished = self.run(vec![state]);
        self.initialising.pop();
        let used = given - self.budget;
        self.budget = budget.saturating_sub(used);
        self.exhausted = exhausted;
        self.thinned |= thinned;
        self.plan = plan;
        let returned = finished.into_iter().filter_map(|finished| match finished.end {
            End::Return(value, _, _) => Some((finished.state, value)),
            _ => None,
        });
        returned.collect()
    }

    // ---- attributes ----

    pub(super) fn attribute(&mut self, mut state: State, object: &Value, name: &str, span: Span, out: &mut Out) {
        if let Some(func) = self.property(&state, object, name) {
            return self.call_function(state, func, None, Some(object.clone()), Args::default(), span, out);
        }
        let value = self.attribute_value(&mut state, object, name, span);
        out.push((state, Res::Value(value)));
    }

    /// The function that reading an attribute calls.
    fn property(&mut self, state: &State, object: &Value, name: &str) -> Option<FuncRef> {
        let Value::Sym(id) = object else { return None };
        let Some(Type::Own(class)) = self.symbols.info(*id)?.ty else { return None };
        let func = self.project.method(class, name)?;
        let function = self.project.function(func).filter(|function| function.is_property && !function.is_generator)?;
        let followed = self.may_follow(state, func) && self.worth_following(func);
        let written = state.heap.contains_key(&(*id, Rc::from(name)));
        (!written && followed && function.decorators.is_empty()).then_some(func)
    }

    pub(super) fn attribute_value(&mut self, state: &mut State, object: &Value, name: &str, span: Span) -> Value {
        let file = state.top().map_or(self.file, |frame| frame.func.file);
        let at = self.at(state, span);
        match object {
            Value::Path(path) => {
                let separator = if path.contains("::") { "::" } else { "." };
                self.path_value(state, &format!("{path}{separator}{name}"))
            }
            Value::Resp(resp) => self.response_attribute(state, *resp, name, at),
            Value::Headers(resp) if is_retry_after(name) => self.advice(state, *resp, at),
            Value::Exc(exc) => self.exception_attribute(state, exc, name, file, at),
            Value::Body(resp) => {
                if is_retry_after(name) {
                    return self.advice_in_body(state, *resp, at);
                }
                Value::Body(*resp)
            }
            Value::Class(class) => self.class_attribute(*class, name),
            Value::Inst(inst) => {
                if let Some(entry) = self.models(file).method(&inst.ty, name) {
                    match entry.kind {
                        Kind::StopFlag => return self.flag(state),
                        Kind::Retry => return self.state_part(state, object, entry),
                        Kind::Transparent | Kind::Duration => return object.clone(),
                        _ => {}
                    }
                    if let Some(gives) = &entry.gives
                        && !matches!(entry.kind, Kind::Request | Kind::Prepare | Kind::Effect)
                    {
                        return Value::Inst(Rc::new(Inst { ty: gives.as_str().into(), ..(**inst).clone() }));
                    }
                    return Value::Bound(Rc::new((object.clone(), name.into())));
                }
                let separator = if inst.ty.contains("::") { "::" } else { "." };
                let ty = format!("{}{separator}{name}", inst.ty);
                Value::Inst(Rc::new(Inst { ty: ty.into(), ..(**inst).clone() }))
            }
            Value::Variant(_, _, args) | Value::Tuple(args) if name.parse::<usize>().is_ok() => {
                let at = name.parse().unwrap_or(0);
                args.get(at).cloned().unwrap_or(Value::None)
            }
            Value::Num(_) | Value::Str(_) => object.clone(),
            Value::Sym(id) => self.symbol_attribute(state, *id, name),
            Value::Bool(..) | Value::None => {
                let node = Node::Attr(object.clone(), name.into());
                Value::Sym(self.symbols.intern(node, Taint::STATE))
            }
            other => {
                let node = Node::Attr(other.clone(), name.into());
                Value::Sym(self.symbols.intern(node, Taint::NONE))
            }
        }
    }

    pub(super) fn flag(&mut self, state: &mut State) -> Value {
        let place = self.place(state);
        Value::Sym(self.fresh(state, Node::Unknown(place), Taint::FLAG))
    }

    pub(super) fn response_attribute(&mut self, state: &mut State, resp: Place, name: &str, at: At) -> Value {
        let ty = state.resp_types.get(&resp).cloned().unwrap_or_else(|| "".into());
        if let Some(entry) = self.models(at.file).method(&ty, name) {
            match entry.kind {
                Kind::Status => return Value::Status(resp, arith::identity_status()),
                Kind::StatusTest => {
                    let set = entry.statuses.as_deref().and_then(StatusSet::parse).unwrap_or_default();
                    return Value::StatusIn(resp, set);
                }
                Kind::Headers => return Value::Headers(resp),
                Kind::Request | Kind::RaiseForStatus | Kind::HeaderRead => {
                    return Value::Bound(Rc::new((Value::Resp(resp), name.into())));
                }
                _ => {}
            }
        }
        state.push(Event::ReadBody(resp));
        Value::Body(resp)
    }

    fn exception_attribute(&mut self, state: &mut State, exc: &Rc<Exc>, name: &str, file: u32, at: At) -> Value {
        if let Some(object) = exc.object
            && let Some(value) = state.heap.get(&(object, name.into()))
        {
            return value.clone();
        }
        let entry = exc.classes.iter().find_map(|class| self.models(file).method(class, name));
        match entry.map(|entry| entry.kind) {
            Some(Kind::ExceptionResponse) => {
                return match exc.resp {
                    Some(resp) => Value::Resp(resp),
                    None if exc.classes.iter().any(|class| &**class == super::value::ANY) => Value::Sym(
                        self.symbols.intern(Node::Attr(Value::Exc(exc.clone()), name.into()), Taint::FAILURE),
                    ),
                    None => Value::None,
                };
            }
            Some(Kind::Status) => {
                return match exc.resp.or(exc.lost) {
                    Some(resp) => Value::Status(resp, arith::identity_status()),
                    None => Value::Sym(
                        self.symbols.intern(Node::Attr(Value::Exc(exc.clone()), name.into()), Taint::FAILURE),
                    ),
                };
            }
            Some(Kind::Headers) => {
                if let Some(resp) = exc.resp {
                    return Value::Headers(resp);
                }
            }
            _ => {}
        }
        if is_retry_after(name)
            && let Some(resp) = exc.resp
        {
            return self.advice(state, resp, at);
        }
        Value::Sym(self.symbols.intern(Node::Attr(Value::Exc(exc.clone()), name.into()), Taint::FAILURE))
    }

    fn class_attribute(&mut self, class: ClassRef, name: &str) -> Value {
        if let Some(func) = self.project.method(class, name) {
            return Value::Func(func, None);
        }
        if let Some(value) = self.initial_attribute(class, name) {
            return value;
        }
        let variant = self.project.class(class).is_some_and(|own| own.variants.iter().any(|variant| variant == name));
        if variant {
            let path = format!("{}::{name}", self.project.class_path(class));
            return Value::Variant(name.into(), path.into(), Rc::from([]));
        }
        let node = Node::Attr(Value::Class(class), name.into());
        Value::Sym(self.symbols.intern(node, Taint::STATE))
    }

    fn symbol_attribute(&mut self, state: &mut State, id: SymId, name: &str) -> Value {
        let key = (id, Rc::from(name));
        if let Some(value) = state.heap.get(&key).cloned() {
            return self.settled(state, value);
        }
        // What a struct does not name itself comes from the one that it is made from (which a loop can make a circle).
        let mut base = state.heap.get(&(id, "..".into())).cloned();
        for _ in 0..6 {
            let Some(Value::Sym(from)) = base else { break };
            if let Some(value) = state.heap.get(&(from, name.into())).cloned() {
                return self.settled(state, value);
            }
            base = state.heap.get(&(from, "..".into())).cloned();
        }
        let info = self.symbols.info(id).cloned();
        let ty = info.as_ref().and_then(|info| info.ty.clone());
        if let Some(Type::Own(class)) = ty {
            let initial = self.initial_attribute(class, name);
            if let Some(value) = initial.clone().filter(|value| self.tells(value)) {
                return self.settled(state, value);
            }
            // A field may have a method beside it that has the same name.
            if self.field(class, name).is_none()
                && let Some(func) = self.project.method(class, name)
            {
                let function = self.project.function(func);
                let Some(property) = function.filter(|function| function.is_property) else {
                    return Value::Bound(Rc::new((Value::Sym(id), name.into())));
                };
                let node = Node::Attr(Value::Sym(id), name.into());
                let value = self.declared(func.file, property.returns.as_ref(), node, Taint::STATE);
                return self.settled(state, value);
            }
            // What it was made of is not known: its declaration may say more.
            let field = self.field(class, name).filter(|(file, ty)| match (&initial, ty) {
                (Some(_), Some(ty)) => matches!(self.type_of(*file, ty), Some(Type::Model(_) | Type::Own(_))),
                _ => true,
            });
            if field.is_none()
                && let Some(value) = initial
            {
                return self.settled(state, value);
            }
            if let Some((file, Some(ty))) = field {
                let node = Node::Attr(Value::Sym(id), name.into());
                let value = self.declared(file, Some(&ty), node, Taint::STATE);
                return self.settled(state, value);
            }
        }
        // What a failure says of itself stays the failure's.
        let own = match &info {
            Some(info) if info.taint.has(Taint::FAILURE) => Taint::FAILURE,
            Some(info) if matches!(info.node, Node::Param(..)) && !info.taint.has(Taint::INPUT) => Taint::STATE,
            Some(_) => Taint::NONE,
            None => Taint::STATE,
        };
        let node = Node::Attr(Value::Sym(id), name.into());
        let value = Value::Sym(self.symbols.intern(node, own));
        self.settled(state, value)
    }

    /// The declared type of a field, own or inherited, with the file that it stands in.
    fn field(&self, class: ClassRef, name: &str) -> Option<(u32, Option<crate::ir::TypeRef>)> {
        let mut work = vec![class];
        let mut seen = 0;
        while let Some(class) = work.pop() {
            seen += 1;
            if seen > 8 {
                return None;
            }
            if let Some(field) = self.project.class(class)?.fields.iter().find(|field| field.name == name) {
                return Some((class.file, field.ty.clone()));
            }
            work.extend(self.project.bases(class));
        }
        None
    }

    pub(super) fn set_attribute(&mut self, state: &mut State, object: &Value, name: &str, value: Value) {
        let id = match object {
            Value::Sym(id) | Value::Object(id) => *id,
            Value::Exc(exc) => match exc.object {
                Some(id) => id,
                None => return,
            },
            Value::Class(class) => self.symbols.intern(Node::Attr(Value::Class(*class), "".into()), Taint::STATE),
            _ => return,
        };
        Rc::make_mut(&mut state.heap).insert((id, name.into()), value);
    }

    /// Notes that something is put where it outlasts the turn, after a failure: after a credential was refused, what was
    /// refused for want of it is another request with it. A count, the time and what the failure itself gave mend nothing.
    pub(super) fn note_stored(&self, state: &mut State, value: &Value) {
        let own = Taint::FAILURE.or(Taint::COUNTER).or(Taint::CLOCK).or(Taint::SERVER);
        let of_answer = |part: &Value| matches!(part, Value::Resp(_) | Value::Body(_) | Value::Status(..));
        let idle = match value {
            // What was drawn out of several is a thing, not a count.
            Value::Num(num) => !num.taint.has(Taint::ITEM.or(Taint::RANDOM)),
            other => matches!(other, Value::Bool(..) | Value::Exc(_) | Value::Object(_)),
        };
        let refused = || {
            let set = state.refusal();
            set.is_some_and(|set| !set.is_empty() && set.minus(&credential_statuses()).is_empty())
        };
        if state.failed.is_some()
            && !state.left
            && !idle
            && !self.symbols.taint(value).has(own)
            && !self.symbols.mentions(value, &mut { of_answer })
        {
            if refused() {
                state.push(Event::Stored);
            }
            state.gap.stored = true;
        }
    }

    // ---- elements ----

    pub(super) fn index(&mut self, mut state: State, object: &Value, index: &Value, span: Span, out: &mut Out) {
        let at = self.at(&state, span);
        // Where nothing was given, it has no elements.
        if *object == Value::None {
            let defects: Vec<&str> = super::probes::classes(self, Occurs::Defect).collect();
            if !defects.is_empty() {
                out.push((state, Res::Raise(self.raised(&defects))));
                return;
            }
        }
        let value = match (object, index) {
            (Value::Headers(resp), key) if key_is_retry_after(key) => {
                let value = self.advice(&mut state, *resp, at);
                // Read without a default where it may be missing: what is asked here is what is done with it.
                if value == Value::None {
                    Value::Sym(self.symbols.intern(Node::Index(object.clone(), index.clone()), Taint::SERVER))
                } else {
                    value
                }
            }
            (Value::Body(resp), key) if key_is_retry_after(key) => self.advice_in_body(&mut state, *resp, at),
            (Value::Body(resp) | Value::Resp(resp), _) => Value::Body(*resp),
            (Value::Tuple(items), Value::Num(num)) => self.element(items, *num, object, index),
            (Value::Tuple(items), Value::Str(key)) => match number_under(items, index) {
                Some(number) if !self.is_written(state.top().map_or(self.file, |frame| frame.func.file), key) => number,
                _ => Value::Sym(self.symbols.intern(Node::Index(object.clone(), index.clone()), Taint::NONE)),
            },
            (Value::Object(id), _) => match (state.objects.get(id).cloned(), index) {
                (Some(Object::List(items, true)), Value::Num(num)) => self.element(&items, *num, object, index),
                (Some(Object::List(items, true)), Value::Str(_)) => number_under(&items, index).unwrap_or_else(|| {
                    Value::Sym(self.symbols.intern(Node::Index(object.clone(), index.clone()), Taint::NONE))
                }),
                _ => Value::Sym(self.symbols.intern(Node::Index(object.clone(), index.clone()), Taint::NONE)),
            },
            (Value::Inst(_) | Value::Path(_), _) => object.clone(),
            _ => Value::Sym(self.symbols.intern(Node::Index(object.clone(), index.clone()), Taint::NONE)),
        };
        out.push((state, Res::Value(value)));
    }

    /// Whether something in a file writes under a key of a mapping, or may, to a mapping of its module.
    fn is_written(&mut self, file: u32, key: &Rc<str>) -> bool {
        if let Some(known) = self.written_cache.get(&(file, key.clone())) {
            return *known;
        }
        let functions = self.project.module(file).map(|module| module.functions.as_slice()).unwrap_or_default();
        let written = functions.iter().any(|function| {
            let instrs = || function.blocks.iter().flat_map(|block| &block.instrs);
            let made = |slot: Slot| instrs().find(|instr| instr.dst == Some(slot)).map(|instr| &instr.op);
            let is_global = |slot: Slot| matches!(made(slot), Some(Op::Global(_)));
            instrs().any(|instr| match &instr.op {
                Op::SetIndex(object, index, _) => match made(*index) {
                    Some(Op::Const(Const::Str(name))) => **name == **key,
                    _ => is_global(*object),
                },
                Op::Call { callee: Callee::Method { receiver, name }, .. } => name != "get" && is_global(*receiver),
                _ => false,
            })
        });
        self.written_cache.insert((file, key.clone()), written);
        written
    }

    fn element(&mut self, items: &[Value], at: Num, object: &Value, index: &Value) -> Value {
        let hull = |symbols: &super::value::Symbols, lo: usize, hi: usize| -> Option<Value> {
            let part = items.get(lo..=hi)?;
            let ends: Vec<(f64, f64)> = part.iter().map(|item| arith::bounds(symbols, item)).collect();
            let low = ends.iter().map(|end| end.0).fold(f64::INFINITY, f64::min);
            let high = ends.iter().map(|end| end.1).fold(f64::NEG_INFINITY, f64::max);
            part.iter().all(|item| matches!(item, Value::Num(_))).then(|| Value::Num(Num::range(low, high, at.taint)))
        };
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
        let place = |number: f64| {
            let number = if number < 0.0 { number + items.len() as f64 } else { number };
            (number >= 0.0 && number < items.len() as f64).then_some(number as usize)
        };
        if let Some(single) = at.single() {
            if let Some(item) = place(single).and_then(|at| items.get(at)) {
                return item.clone();
            }
        } else if let (Some(lo), Some(hi)) = (place(at.lo.0), place(at.hi.0))
            && let Some(value) = hull(&self.symbols, lo, hi)
        {
            return value;
        }
        Value::Sym(self.symbols.intern(Node::Index(object.clone(), index.clone()), Taint::NONE))
    }

    pub(super) fn set_index(&mut self, state: &mut State, object: &Value, index: &Value, value: Value) {
        // What is put into something that a mapping holds is another content of the mapping.
        if let Value::Sym(id) = object
            && let Some(Node::Index(holder @ Value::Object(_), key)) = self.symbols.info(*id).map(|info| &info.node)
            && !matches!(value, Value::Num(_))
        {
            let (holder, key) = (holder.clone(), key.clone());
            return self.set_index(state, &holder, &key, value);
        }
        if let Value::Object(id) = object
            && let Some(Object::List(items, _)) = Rc::make_mut(&mut state.objects).get_mut(id)
        {
            // A mapping's keys and values stand in turn: a key that is there already gets another value. One that moves
            // on (the number of a page, what is made of the last answer) is new input instead.
            let known = match index {
                Value::Str(_) => items.chunks_exact(2).rposition(|pair| pair.first() == Some(index)),
                _ => None,
            };
            let moves = |held: &Value| {
                let taint = self.symbols.taint(&value);
                let other = value != *held;
                let moved = matches!(value, Value::Num(_) | Value::Body(_) | Value::Headers(_))
                    || taint.has(Taint::COUNTER.or(Taint::CALL).or(Taint::FAILURE));
                other && moved || self.symbols.mentions(&value, &mut |part| other && part == held || part == object)
            };
            match known.and_then(|pair| items.get_mut(pair * 2 + 1)).filter(|held| !moves(held)) {
                Some(held) => *held = value,
                None => items.extend([index.clone(), value]),
            }
        } else if let (Value::Sym(id), Value::Str(key)) = (object, index)
            && self.moves_on(object, &value)
        {
            Rc::make_mut(&mut state.heap).insert((*id, format!("{PUT}{key}").into()), value);
        }
    }

    // ---- success and failure values ----

    pub(super) fn is_success(&mut self, value: &Value) -> Value {
        match value {
            Value::Variant(name, _, _) => match &**name {
                "Ok" | "Some" | "Continue" => Value::Bool(true, self.symbols.taint(value)),
                "Err" | "None" | "Break" => Value::Bool(false, self.symbols.taint(value)),
                _ => Value::Sym(self.symbols.intern(Node::IsSuccess(value.clone()), Taint::NONE)),
            },
            Value::None => Value::Bool(false, Taint::NONE),
            Value::Sym(_) if self.is_advised_time(value) => Value::Bool(true, self.symbols.taint(value)),
            Value::Sym(_) => Value::Sym(self.symbols.intern(Node::IsSuccess(value.clone()), Taint::NONE)),
            _ => Value::Bool(true, self.symbols.taint(value)),
        }
    }

    /// Whether a value is what Retry-After says, as a number, or that and a number more or less.
    fn is_advised_time(&self, value: &Value) -> bool {
        let Some((Value::Sym(base), _)) = arith::linear(&self.symbols, value) else { return false };
        self.symbols.info(*base).is_some_and(|info| matches!(info.node, Node::RetryAfter(_)))
    }

    pub(super) fn payload(&mut self, value: &Value, success: bool) -> Value {
        match value {
            Value::Variant(_, _, args) => args.first().cloned().unwrap_or(Value::None),
            // A text that is known to be there is what it is in an `Option` too.
            Value::Sym(_) if success && (self.advice_text(value).is_some() || self.is_advised_time(value)) => {
                value.clone()
            }
            Value::Sym(id) if !success => Value::Exc(Rc::new(Exc {
                classes: [Rc::from(super::value::ANY)].into(),
                resp: None,
                lost: None,
                args: Rc::from([]),
                object: Some(*id),
            })),
            Value::Sym(id) => {
                let ty = self.symbols.info(*id).and_then(|info| info.ty.clone());
                let id = self.symbols.intern(Node::Payload(value.clone(), true), Taint::NONE);
                if let Some(Type::Option(inner)) = ty {
                    self.symbols.set_type(id, (*inner).clone());
                }
                Value::Sym(id)
            }
            other => other.clone(),
        }
    }

    /// An exception of one of these classes.
    pub(super) fn raised(&self, classes: &[&str]) -> Value {
        Value::Exc(Rc::new(Exc {
            classes: classes.iter().map(|class| Rc::from(*class)).collect(),
            resp: None,
            lost: None,
            args: Rc::from([]),
            object: None,
        }))
    }

    // ---- the server's advice ----

    /// What reading Retry-After gives.
    pub(super) fn advice(&mut self, state: &mut State, resp: Place, at: At) -> Value {
        state.push(Event::ReadAdvice(resp, at));
        match self.plan.advice {
            super::machine::Advice::Absent => Value::None,
            _ => {
                let text = self.symbols.intern(Node::RetryAfterText(resp), Taint::SERVER.or(Taint::FAILURE));
                let value = Value::Sym(text);
                let truth = self.symbols.intern(Node::Truth(value.clone()), Taint::NONE);
                let none = self.symbols.intern(Node::IsNone(value.clone()), Taint::NONE);
                let success = self.symbols.intern(Node::IsSuccess(value.clone()), Taint::NONE);
                let decided = Rc::make_mut(&mut state.decided);
                decided.insert(truth, true);
                decided.insert(none, false);
                decided.insert(success, true);
                value
            }
        }
    }

    /// A documented field of the body that says how long to wait.
    pub(super) fn advice_in_body(&mut self, state: &mut State, resp: Place, at: At) -> Value {
        state.push(Event::ReadAdvice(resp, at));
        match self.plan.advice {
            super::machine::Advice::Absent => Value::None,
            _ => Value::Sym(self.symbols.intern(Node::RetryAfter(resp), Taint::SERVER.or(Taint::FAILURE))),
        }
    }

    /// `"Retry-After" in headers`.
    pub(super) fn header_test(&mut self, state: &mut State, key: &Value, headers: &Value, span: Span) -> Option<Value> {
        let Value::Headers(resp) = headers else { return None };
        if !key_is_retry_after(key) {
            return None;
        }
        let at = self.at(state, span);
        state.push(Event::ReadAdvice(*resp, at));
        Some(Value::Bool(self.plan.advice != super::machine::Advice::Absent, Taint::FAILURE))
    }

    /// The response behind a text of Retry-After.
    pub(super) fn advice_text(&self, value: &Value) -> Option<Place> {
        let Value::Sym(id) = value else { return None };
        match self.symbols.info(*id)?.node {
            Node::RetryAfterText(resp) => Some(resp),
            _ => None,
        }
    }
}

/// Collections as they are now, so that the value can be kept apart from the state.
pub(super) fn fixed(state: &State, value: &Value, depth: u32) -> Value {
    let Some(depth) = depth.checked_sub(1) else { return value.clone() };
    match value {
        Value::Object(id) => match state.objects.get(id) {
            Some(Object::List(items, true)) => {
                Value::Tuple(items.iter().map(|item| fixed(state, item, depth)).collect())
            }
            Some(Object::Items(items, 0)) => Value::Tuple(items.clone()),
            Some(Object::Range { next, step, stop: Some(stop), .. }) => {
                let single = |value: &Value| match value {
                    Value::Num(num) => num.single(),
                    _ => None,
                };
                match (single(next), single(step), single(stop)) {
                    (Some(next), Some(1.0), Some(stop)) if stop - next < 600.0 => {
                        let mut items = Vec::new();
                        let mut number = next;
                        while number < stop {
                            items.push(Value::Num(Num::exact(number)));
                            number += 1.0;
                        }
                        Value::Tuple(items.into())
                    }
                    _ => value.clone(),
                }
            }
            _ => value.clone(),
        },
        Value::Tuple(items) => Value::Tuple(items.iter().map(|item| fixed(state, item, depth)).collect()),
        other => other.clone(),
    }
}

/// The number that a mapping, whose keys and values stand in turn, has under a key.
fn number_under(items: &[Value], key: &Value) -> Option<Value> {
    let pair = items.chunks_exact(2).rev().find(|pair| pair.first() == Some(key))?;
    pair.get(1).filter(|value| matches!(value, Value::Num(_))).cloned()
}

/// Whether a name is that of the header, however it is written.
#[must_use]
pub fn is_retry_after(name: &str) -> bool {
    let mut letters = name.chars().filter(|c| !matches!(c, '-' | '_')).map(|c| c.to_ascii_lowercase());
    let mut wanted = "retryafter".chars();
    loop {
        match (letters.next(), wanted.next()) {
            (None, None) => return true,
            (a, b) if a == b => {}
            _ => return false,
        }
    }
}

/// Whether a key is that of the header: a text or a constant.
#[must_use]
pub fn key_is_retry_after(key: &Value) -> bool {
    match key {
        Value::Str(text) => is_retry_after(text),
        Value::Path(path) => is_retry_after(last_part(path)),
        _ => false,
    }
}

/// The last part of a path.
#[must_use]
pub fn last_part(path: &str) -> &str {
    path.rsplit(['.', ':']).next().unwrap_or(path)
}
