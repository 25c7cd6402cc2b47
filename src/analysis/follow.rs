//! Following calls into the project's own functions and classes.

use super::calls::Args;
use super::machine::{End, Machine, Out, Res};
use super::project::Entity;
use super::scaling;
use super::state::{Event, Gives, Object, State};
use super::value::{ClassRef, Exc, FuncRef, Node, Num, Pending, Taint, Type, Value};
use crate::frontend::prelude;
use crate::ir::{Arg, Block, Callee, Function, Op, Param, Slot, Term, UnOp};
use crate::models::Kind;
use crate::source::Span;
use std::rc::Rc;

/// Functions of so many blocks are followed whatever they do.
pub(super) const SMALL: usize = 24;

/// Functions of more blocks are not followed.
pub(super) const LARGE: usize = 400;

/// What is looked for in a function and in what it calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Sought {
    /// What a model knows to send or wait.
    Act,
    /// What it knows to send.
    Ask,
    /// What ends the work: an exception is raised, or the process is left.
    End,
}

impl Sought {
    fn is(self, kind: Kind) -> bool {
        let asks = matches!(kind, Kind::Request | Kind::Effect | Kind::Remote | Kind::RaiseForStatus);
        match self {
            Sought::Act => asks || matches!(kind, Kind::Sleep | Kind::WaitFor),
            Sought::Ask => asks,
            Sought::End => matches!(kind, Kind::Exit | Kind::RaiseForStatus),
        }
    }
}

impl<'a> Machine<'a> {
    /// Notes which parameters of the activation just begun stand for variables of its caller (`&mut count`).
    pub(super) fn lend(&self, state: &mut State, args: &[Arg]) {
        let [.., caller, callee] = state.frames.as_slice() else { return };
        let Some(block) = self.project.function(caller.func).and_then(|function| function.block(caller.block)) else {
            return;
        };
        let Some(function) = self.project.function(callee.func) else { return };
        let earlier = block.instrs.get(..caller.at).unwrap_or_default();
        let source = |slot: Slot| {
            let instr = earlier.iter().rev().find(|instr| instr.dst == Some(slot))?;
            match instr.op {
                Op::Unary(UnOp::Same, source) => Some(source),
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
        let args = match self.made_decorator(&state, func, outer, args) {
            Ok(made) => return out.push((state, Res::Value(made))),
            Err(args) => args,
        };
        if let Some((driver, args)) = self.layered(&mut state, func, this.as_ref(), &args) {
            return self.call_function(state, driver, None, None, args, span, out);
        }
        if let Some(generator) = self.generator(&mut state, func, outer, this.as_ref(), &args) {
            return out.push((state, Res::Value(generator)));
        }
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
        let whole = self.is_taken_whole(&state, func, this.as_ref(), &args);
        match self.follow(&mut state, func, outer, this, args, Gives::Returned) {
            Ok(()) => out.push((state, Res::Called)),
            Err(args) if whole => self.take_whole(state, func, args, span, out),
            // Too deep, or a recursion.
            Err(args) => out.push(self.not_followed(state, func, &args, span)),
        }
    }

    pub(super) fn not_followed(&mut self, mut state: State, func: FuncRef, args: &Args, span: Span) -> (State, Res) {
        if self.plan.recursion && state.frames.first().is_some_and(|frame| frame.func == func) && state.failed.is_some()
        {
            // A turn: the function begins again with these arguments.
            state.turns += 1;
            let at = self.at(&state, span);
            let at = if at.file == self.file { at } else { self.base_at(&state, span) };
            while state.frames.len() > 1 {
                self.pop(&mut state);
            }
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
            if self.begins_otherwise(&state, func, args, &slots) {
                state.push(Event::Asked);
            }
            if let Some(frame) = state.frames.last_mut() {
                frame.slots = Rc::new(slots);
                frame.block = crate::ir::BlockId(0);
                frame.at = 0;
                frame.visits.clear();
                frame.caught = None;
            }
            return (state, Res::Called);
        }
        state.guessed |= state.gap.stored || self.may_matter(func);
        let value = self.unknown(&mut state, Taint::CALL);
        let value = self.as_declared(func, value);
        if let Value::Sym(id) = value
            && self.project.function(func).is_some_and(|function| function.is_generator)
        {
            self.symbols.set_type(id, Type::Other(super::body::GENERATOR.into()));
            state.push(Event::Renewed(id));
        }
        (state, Res::Value(value))
    }

    /// What a function gives, of which no more is known than what it is declared to return.
    pub(super) fn as_declared(&mut self, func: FuncRef, value: Value) -> Value {
        let Value::Sym(id) = value else { return value };
        let plain = self
            .symbols
            .info(id)
            .is_some_and(|info| info.ty.is_none() && !info.taint.has(Taint::SERVER.or(Taint::FAILURE).or(Taint::ITEM)));
        let function = self.project.function(func).filter(|function| plain && !function.is_generator);
        let returns = function.and_then(|function| function.returns.as_ref());
        match returns.and_then(|ty| self.type_of(func.file, ty)) {
            Some(Type::Model(path)) => self.instance(path, id, false),
            Some(ty @ Type::Own(_)) => {
                self.symbols.set_type(id, ty);
                Value::Sym(id)
            }
            _ => Value::Sym(id),
        }
    }

    /// Begins to follow a call, if that may be; else gives the arguments back.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn follow(
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
        if recursive
            || generator
            || self.is_taken_whole(state, func, this.as_ref(), &args)
            || self.is_passed_over(func, this.as_ref(), &args)
            || !self.may_follow(state, func)
            || !self.worth_following(func)
        {
            return Err(args);
        }
        let slots = self.bind_params(state, func, this, &args);
        let dst = self.current_dst(state);
        self.push_frame(state, func, slots, outer, dst, gives);
        Ok(())
    }

    /// Whether a call is not looked into, as [`Plan::skim`](super::plan::Plan::skim) says.
    fn is_passed_over(&mut self, func: FuncRef, this: Option<&Value>, args: &Args) -> bool {
        if !self.plan.skim
            || prelude::is(func.file)
            || self.project.surely_reaches(func)
            || self.acts(func, Sought::Act, 4)
        {
            return false;
        }
        // What a lasting failure leads to may end by a helper that gives up.
        if !self.plan.explore && self.acts(func, Sought::End, 4) {
            return false;
        }
        let of_outcome = |value: &Value| {
            matches!(value, Value::Exc(_) | Value::Resp(_) | Value::Body(_) | Value::Status(..) | Value::StatusIn(..))
        };
        !this.into_iter().chain(args.values()).any(|value| self.symbols.mentions(value, &mut { of_outcome }))
    }

    /// Whether following a function can show anything: it is small, it runs what it is given, or something in it (or in
    /// what it calls) sends, waits or raises.
    pub(super) fn worth_following(&mut self, func: FuncRef) -> bool {
        if let Some(known) = self.weight_cache.get(&func) {
            return *known;
        }
        let worth = match self.project.function(func) {
            Some(function) if function.blocks.len() <= SMALL => true,
            Some(function) if function.blocks.len() <= LARGE && runs_given(function) => true,
            Some(_) => self.acts(func, Sought::Act, 4),
            None => false,
        };
        self.weight_cache.insert(func, worth);
        worth
    }

    /// Whether what a function does that is not followed may matter to a policy, as its text shows: it sends or waits, or
    /// is too large to be looked through.
    fn may_matter(&mut self, func: FuncRef) -> bool {
        let large = self.project.function(func).is_none_or(|function| function.blocks.len() > LARGE);
        large || self.acts(func, Sought::Act, 4)
    }

    /// Whether a function's text has what is sought, itself or through the project's own, which are looked into so deep.
    pub(super) fn acts(&mut self, func: FuncRef, sought: Sought, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        if let Some(known) = self.acts_cache.get(&(func, sought, depth)) {
            return *known;
        }
        let acts = self.acts_within(func, sought, depth);
        self.acts_cache.insert((func, sought, depth), acts);
        acts
    }

    fn acts_within(&mut self, func: FuncRef, sought: Sought, depth: u32) -> bool {
        let Some(function) = self.project.function(func) else { return false };
        if function.blocks.len() > LARGE {
            return sought == Sought::End;
        }
        let ends = |block: &Block| matches!(block.term, Term::Raise(_) | Term::Abort);
        if sought == Sought::End && function.blocks.iter().any(ends) {
            return true;
        }
        let mut own = Vec::new();
        for instr in function.blocks.iter().flat_map(|block| &block.instrs) {
            match &instr.op {
                Op::Path(path) => match self.project.entity(path) {
                    Some(Entity::Func(callee)) => own.push(callee),
                    Some(_) => {}
                    None => {
                        if self.project.known(func.file, path).is_some_and(|entry| sought.is(entry.kind)) {
                            return true;
                        }
                    }
                },
                Op::Func(id) => own.push(FuncRef { file: func.file, func: *id }),
                Op::Call { callee: Callee::Method { name, .. }, .. } => {
                    let by_import = self.by_import(func.file, name);
                    if by_import.is_some_and(|(_, entry)| sought == Sought::Act || sought.is(entry.kind)) {
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
        own.into_iter().take(24).any(|callee| self.acts(callee, sought, depth))
    }

    /// Whether a function begins again with another word for what it is to do: it is given a text or a variant that it was
    /// not given before. What is left out is as it usually is.
    fn begins_otherwise(&self, state: &State, func: FuncRef, args: &Args, slots: &[Option<Value>]) -> bool {
        let (Some(function), Some(frame)) = (self.project.function(func), state.top()) else { return false };
        let placed = args.list.iter().filter(|(name, _)| name.is_none()).count();
        let named = |wanted: &str| args.list.iter().any(|(name, _)| name.as_deref() == Some(wanted));
        function.params.iter().filter(|param| !param.is_self).enumerate().any(|(number, param)| {
            let at = param.slot.0 as usize;
            let (now, before) = (slots.get(at).cloned().flatten(), frame.slots.get(at).cloned().flatten());
            let word = |value: &Value| matches!(value, Value::Str(_) | Value::Path(_) | Value::Variant(..));
            let given = number < placed || named(&param.name) || args.open;
            given && now.as_ref().is_some_and(word) && now != before
        })
    }

    /// The variables of a new activation.
    pub(super) fn bind_params(
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
        let mut spread = 0_u32;
        for param in &function.params {
            let given = if param.is_self && this.is_some() {
                this.take()
            } else if param.is_rest {
                self.further(state, function, param, args, &mut positional)
            } else {
                let named = args.list.iter().find(|(name, _)| name.as_deref() == Some(param.name.as_str()));
                match named {
                    Some((_, value)) => Some(value.clone()),
                    None => positional.pop().or_else(|| {
                        // One of those that something holds: with another holder, another one.
                        let (of, at) = (args.spread.clone()?, Value::Num(Num::exact(f64::from(spread))));
                        spread += 1;
                        Some(Value::Sym(self.symbols.intern(Node::Index(of, at), Taint::NONE)))
                    }),
                }
            };
            let was_given = given.is_some();
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
                            self.instance(path, *id, was_given)
                        }
                        _ => value,
                    }
                }
                (_, declared) => scaling::of_sort(value, declared),
            };
            if let Some(slot) = slots.get_mut(param.slot.0 as usize) {
                *slot = Some(value);
            }
        }
        slots
    }

    /// What is left of the arguments for a parameter that takes all further ones, where all of them are in sight.
    fn further(
        &mut self,
        state: &mut State,
        function: &Function,
        param: &Param,
        args: &Args,
        positional: &mut Vec<Value>,
    ) -> Option<Value> {
        if args.open {
            return None;
        }
        if !param.is_named_rest {
            let mut items = std::mem::take(positional);
            items.reverse();
            return Some(Value::Tuple(items.into()));
        }
        let taken = |name: &str| function.params.iter().any(|param| !param.is_rest && param.name == name);
        let further = args.list.iter().filter_map(|(name, value)| {
            let name = name.as_ref().filter(|name| &***name != "self" && !taken(name))?;
            Some([Value::Str(name.clone()), value.clone()])
        });
        let items: Vec<Value> = further.flatten().collect();
        let place = self.place(state);
        let at = Value::Num(Num::exact(f64::from(place.0)));
        let id = self.symbols.intern(Node::Call("**".into(), [at].into()), Taint::NONE);
        Rc::make_mut(&mut state.objects).insert(id, Object::List(items, true));
        Some(Value::Object(id))
    }

    /// Makes an object of a class of the project.
    pub(super) fn construct(&mut self, mut state: State, class: ClassRef, args: Args, out: &mut Out) {
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
        if let Some(span) = self.current_span(&state).filter(|_| self.driven.is_some()) {
            self.note_inherited(&state, class, args.clone(), span);
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
}

/// Whether a function calls or awaits what it is given.
fn runs_given(function: &Function) -> bool {
    let given = |slot: Slot| function.params.iter().any(|param| !param.is_self && param.slot == slot);
    function.blocks.iter().flat_map(|block| &block.instrs).any(|instr| match &instr.op {
        Op::Call { callee: Callee::Value(slot), .. } | Op::Await(slot) => given(*slot),
        _ => false,
    })
}
