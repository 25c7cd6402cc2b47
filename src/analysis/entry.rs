//! How a function is come to where no caller is in sight: its state, its parameters, and what declared types mean.

use super::state::{Frame, Gap, Object, State};
use super::value::{FuncRef, Inst, Node, SymId, Taint, Type, Value};
use crate::ir::{Function, TypeRef};
use crate::models::Kind;
use std::rc::Rc;

use super::machine::{Machine, is_once};
use super::memory::ASIDE_BUDGET;

impl<'a> Machine<'a> {
    /// A state at the entry of a function, its parameters as unknown as a caller leaves them.
    pub fn enter(&mut self, func: FuncRef) -> State {
        let mut state = State {
            frames: Vec::new(),
            heap: Rc::default(),
            objects: Rc::default(),
            globals: Rc::default(),
            decided: Rc::default(),
            versions: Rc::default(),
            resps: Rc::default(),
            resp_types: Rc::default(),
            results: Rc::default(),
            kept: Rc::default(),
            clock: 1.0e6,
            trace: None,
            failed: None,
            turns: 0,
            left: false,
            next_frame: 0,
            limits: Vec::new(),
            gap: Gap::NONE,
            resume: false,
            guessed: false,
            passage: 0,
            outline: 0,
            history: 0,
        };
        // A closure runs in the activations of the functions that it stands in.
        let mut outers = Vec::new();
        let mut parent = self.project.function(func).and_then(|function| function.parent);
        while let Some(id) = parent {
            let of = FuncRef { file: func.file, func: id };
            outers.push(of);
            parent = self.project.function(of).and_then(|function| function.parent);
            if outers.len() > 8 {
                break;
            }
        }
        let mut outer = None;
        for of in outers.into_iter().rev() {
            let mut slots = self.parameters(&mut state, of);
            for (slot, number) in slots.iter_mut().zip(self.settled_in(of).iter()) {
                *slot = slot.take().or_else(|| number.clone());
            }
            let id = state.next_frame;
            state.next_frame += 1;
            Rc::make_mut(&mut state.kept).insert(id, (Rc::new(slots), outer));
            outer = Some(id);
        }
        let slots = self.parameters(&mut state, func);
        let id = state.next_frame;
        state.next_frame += 1;
        state.frames.push(Frame::at_entry(func, slots, id, outer));
        state
    }

    /// The numbers that a function sets once, for the closures in it, slot by slot. It is run once for all of them, and at
    /// nobody's expense.
    fn settled_in(&mut self, func: FuncRef) -> Rc<[Option<Value>]> {
        if let Some(known) = self.settled_cache.get(&func) {
            return known.clone();
        }
        // Whoever asks meanwhile is in it.
        self.settled_cache.insert(func, Rc::from([]));
        let Some(function) = self.project.function(func) else { return Rc::from([]) };
        let closures = self.project.closures_in(func);
        let once: Vec<bool> = (0..function.slots.len()).map(|at| is_set_once(function, &closures, at)).collect();
        let mut settled: Option<Vec<Option<Value>>> = None;
        if once.contains(&true) && !self.initialising.contains(&func) {
            let left = std::mem::replace(&mut self.budget, ASIDE_BUDGET);
            let state = self.enter(func);
            for (state, _) in self.run_all_aside(func, state) {
                let Some(frame) = state.frames.first() else { continue };
                let this = frame.slots.iter().zip(&once).map(|(value, once)| {
                    value.clone().filter(|value| *once && matches!(value, Value::Num(num) if num.single().is_some()))
                });
                settled = Some(match settled {
                    None => this.collect(),
                    Some(known) => {
                        known.into_iter().zip(this).map(|(a, b)| a.filter(|a| Some(a) == b.as_ref())).collect()
                    }
                });
            }
            self.budget = left;
        }
        let settled: Rc<[Option<Value>]> = settled.unwrap_or_default().into();
        self.settled_cache.insert(func, settled.clone());
        settled
    }

    pub(super) fn parameters(&mut self, state: &mut State, func: FuncRef) -> Vec<Option<Value>> {
        let Some(function) = self.project.function(func) else { return Vec::new() };
        let mut slots = vec![None; function.slots.len()];
        for param in &function.params {
            let value = self.parameter(state, func, function, param);
            if let Some(slot) = slots.get_mut(param.slot.0 as usize) {
                *slot = Some(value);
            }
        }
        slots
    }

    /// What a parameter is where no caller is in sight: its default where that is a number, a callable or a collection,
    /// else unknown.
    pub(super) fn parameter(
        &mut self,
        state: &mut State,
        func: FuncRef,
        function: &Function,
        param: &crate::ir::Param,
    ) -> Value {
        if param.is_self
            && let Some(class) = function.class
        {
            let id = self.symbols.intern(Node::Param(func, param.slot.0), Taint::NONE);
            self.symbols.set_type(id, Type::Own(super::value::ClassRef { file: func.file, class }));
            return Value::Sym(id);
        }
        if let Some(given) = self.given(func, function, param) {
            return given;
        }
        if let Some(default) = param.default {
            let value = self.initial(FuncRef { file: func.file, func: default });
            // An empty collection is there to be filled.
            if matches!(&value, Value::Tuple(items) if items.is_empty()) {
                let id = self.symbols.intern(Node::Param(func, param.slot.0), Taint::INPUT);
                Rc::make_mut(&mut state.objects).insert(id, Object::List(Vec::new(), true));
                return Value::Object(id);
            }
            if !(self.open_defaults && is_once(&value))
                && matches!(value, Value::Num(_) | Value::Path(_) | Value::Func(..) | Value::Tuple(_) | Value::Inst(_))
            {
                return value;
            }
        }
        let declared = function.slot(param.slot).and_then(|info| info.ty.as_ref());
        let value = self.declared(func.file, declared, Node::Param(func, param.slot.0), Taint::INPUT);
        if let Value::Sym(id) = value
            && declared.is_none()
            && function.name == "__init__"
            && let Some(class) = self.project.made_with(func, param.slot)
        {
            self.symbols.set_type(id, Type::Own(class));
        }
        value
    }

    /// A value of a declared type.
    pub(super) fn declared(&mut self, file: u32, ty: Option<&TypeRef>, node: Node, taint: Taint) -> Value {
        let ty = ty.and_then(|ty| self.type_of(file, ty));
        let id = self.symbols.intern(node, taint);
        if let Some(Type::Model(path)) = &ty {
            return self.instance(path.clone(), id, false);
        }
        if let Some(ty) = ty {
            self.symbols.set_type(id, ty);
        }
        Value::Sym(id)
    }

    /// A value of a type that a model describes, of which nothing else is known. What belongs to a piece of work goes on
    /// belonging to it, and what a caller gave (`given`) is still that, and not what he gives the next time.
    pub(super) fn instance(&mut self, ty: Rc<str>, of: SymId, given: bool) -> Value {
        // A length of time is reckoned with, whatever it is.
        if self.models(self.file).is_span(&ty) {
            self.symbols.set_type(of, Type::Model(ty));
            return Value::Sym(of);
        }
        let rooted = given || self.symbols.info(of).is_some_and(|info| !info.roots.is_empty());
        let inputs = if rooted { Rc::from([Value::Sym(of)]) } else { Rc::default() };
        Value::Inst(Rc::new(Inst { ty, inputs, opaque_headers: true, ..Inst::default() }))
    }

    /// What a declared type means here.
    pub(super) fn type_of(&self, file: u32, ty: &TypeRef) -> Option<Type> {
        if let Some(class) = ty.class {
            return Some(Type::Own(super::value::ClassRef { file, class }));
        }
        if ty.path == "fn" {
            return Some(Type::Callable);
        }
        if ty.path == "Option" {
            let inner = ty.args.first().and_then(|inner| self.type_of(file, inner))?;
            // An optional client is a client where it is used.
            return match inner {
                Type::Model(_) | Type::Own(_) => Some(inner),
                other => Some(Type::Option(Rc::new(other))),
            };
        }
        if let Some(super::project::Entity::Class(class)) = self.project.entity(&ty.path) {
            return Some(Type::Own(class));
        }
        let models = self.models(file);
        if models.knows_type(&ty.path) && models.exception(&ty.path).is_none() {
            return Some(Type::Model(models.canonical(&ty.path).into()));
        }
        // A type of a library whose every call leaves the process.
        if models.exception(&ty.path).is_none()
            && self.project.known(file, &ty.path).is_some_and(|entry| entry.kind == Kind::Remote)
        {
            return Some(Type::Model(ty.path.as_str().into()));
        }
        Some(Type::Other(ty.path.as_str().into()))
    }
}

/// Whether a closure reads a variable that its function sets once, and nobody else.
fn is_set_once(function: &Function, closures: &[&Function], at: usize) -> bool {
    let sets = |function: &Function, at: usize| {
        let instrs = function.blocks.iter().flat_map(|block| &block.instrs);
        instrs.filter(|instr| instr.dst.is_some_and(|dst| dst.0 as usize == at)).count()
    };
    let lent = |inner: &&&Function| inner.slots.iter().any(|info| info.captured.is_some_and(|of| of.0 as usize == at));
    let set_by = |inner: &Function| {
        let of = inner.slots.iter().position(|info| info.captured.is_some_and(|of| of.0 as usize == at));
        of.is_some_and(|of| sets(inner, of) > 0)
    };
    let is_parameter = function.params.iter().any(|param| param.slot.0 as usize == at);
    !is_parameter
        && closures.iter().any(|inner| lent(&inner))
        && sets(function, at) == 1
        && !closures.iter().any(|inner| set_by(inner))
}
