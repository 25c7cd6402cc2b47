//! What an attribute holds after construction, where that can be told from the class.

use std::rc::Rc;

use super::machine::{Machine, constant_value, is_once};
use super::memory::{ASIDE_BUDGET, fixed};
use super::state::State;
use super::value::{ClassRef, FuncRef, Inst, Node, SymId, Taint, Type, Value};
use crate::ir::{Callee, Function, Instr, Op, Slot};
use crate::models::Kind;

/// As many functions are looked at that make an object.
const MOST_BUILDERS: usize = 4;

impl Machine<'_> {
    /// What an attribute holds after construction, where that can be told from the class.
    pub(super) fn initial_attribute(&mut self, class: ClassRef, name: &str) -> Option<Value> {
        let key = (class, Rc::from(name));
        if let Some(known) = self.attr_cache.get(&key) {
            return known.clone();
        }
        self.attr_cache.insert(key.clone(), None);
        let value = self.find_initial_attribute(class, name, 6);
        self.attr_cache.insert(key, value.clone());
        value
    }

    fn find_initial_attribute(&mut self, class: ClassRef, name: &str, depth: u32) -> Option<Value> {
        let depth = depth.checked_sub(1)?;
        let own = self.project.class(class)?;
        let (mut written_in, mut made_in, mut writes) = (Vec::new(), Vec::new(), 0);
        let mut builders = Vec::new();
        for id in &own.methods {
            let func = FuncRef { file: class.file, func: *id };
            let Some(function) = self.project.function(func) else { continue };
            let this = function.params.iter().find(|param| param.is_self).map(|param| param.slot);
            for instr in function.blocks.iter().flat_map(|block| &block.instrs) {
                match &instr.op {
                    Op::SetAttr(object, attr, value) if attr == name && self.is_self(function, *object, this) => {
                        writes += 1;
                        if self.is_made_by_library(func.file, function, *value) && !made_in.contains(&func) {
                            made_in.push(func);
                        }
                        if !written_in.contains(&func) {
                            written_in.push(func);
                        }
                    }
                    Op::Struct { class: Some(made), fields, .. }
                        if *made == class.class && fields.iter().any(|(field, _)| field == name) =>
                    {
                        writes += 1;
                        if !builders.contains(&func) {
                            builders.push(func);
                        }
                    }
                    _ => {}
                }
            }
        }
        let once = writes <= 1;
        // In the class body.
        if let Some(field) = own.fields.iter().find(|field| field.name == name)
            && let Some(init) = field.value
        {
            let value = self.initial(FuncRef { file: class.file, func: init });
            if lasting(&value, writes == 0) {
                return Some(value);
            }
        }
        // By a constructor: the method that writes it and is called first.
        for func in written_in {
            let is_constructor =
                self.project.function(func).is_some_and(|function| function.name.starts_with("__init"));
            if !is_constructor {
                continue;
            }
            if let Some(value) = self.attribute_after(func, name)
                && lasting(&value, once)
            {
                return Some(value);
            }
        }
        // A client that is made later on, by a method that logs in or opens it.
        let mut client: Option<Rc<Inst>> = None;
        for func in made_in.into_iter().take(3) {
            match (self.attribute_after(func, name), &client) {
                (Some(Value::Inst(made)), None) => client = Some(made),
                (Some(Value::Inst(made)), Some(other)) if made.ty != other.ty => return None,
                _ => {}
            }
        }
        if let Some(client) = client {
            return Some(Value::Inst(client));
        }
        if let Some(value) = self.built_with(&builders, name)
            && lasting(&value, once)
        {
            return Some(value);
        }
        if writes > 0 {
            return None;
        }
        self.project.bases(class).into_iter().find_map(|base| self.find_initial_attribute(base, name, depth))
    }

    /// What the functions that make an object leave in an attribute: the same in all of them, or else the number that the
    /// one puts there which is given nothing (`Default::default()`), the others being told by who calls them.
    fn built_with(&mut self, builders: &[FuncRef], name: &str) -> Option<Value> {
        let made: Vec<(FuncRef, Option<Value>)> =
            builders.iter().take(MOST_BUILDERS).map(|func| (*func, self.attribute_of_built(*func, name))).collect();
        let (_, first) = made.first()?;
        if made.iter().all(|(_, value)| value == first) {
            return first.clone();
        }
        let numbers = || made.iter().filter(|(_, value)| matches!(value, Some(Value::Num(_))));
        let (_, number) = numbers().next()?;
        let given = |func: FuncRef| self.project.function(func).is_none_or(|function| !function.params.is_empty());
        // Else there are two sorts of object.
        let own = numbers().all(|(func, value)| value == number && !given(*func));
        number.clone().filter(|_| own)
    }

    /// Whether a test that is made again and again, while a failure lasts, asks an attribute by which others stop the
    /// object: another of its methods sets it to a truth value.
    pub(super) fn is_stop_flag(&mut self, state: &State, sym: SymId) -> bool {
        if state.failed.is_none() || self.plan.blocks.is_none() || state.frames.len() != 1 {
            return false;
        }
        let mut sym = sym;
        let (object, name) = loop {
            match self.symbols.info(sym).map(|info| &info.node) {
                Some(
                    Node::Truth(Value::Sym(of)) | Node::IsSuccess(Value::Sym(of)) | Node::Unary(_, Value::Sym(of)),
                ) => sym = *of,
                Some(Node::Attr(Value::Sym(object), name)) => break (*object, name.clone()),
                _ => return false,
            }
        };
        let Some(Type::Own(class)) = self.symbols.info(object).and_then(|info| info.ty.clone()) else { return false };
        let asks = state.top().map(|frame| frame.func);
        if let Some(known) = self.stop_cache.get(&(class, name.clone())) {
            return *known;
        }
        let functions = self.project.module(class.file).map(|module| module.functions.as_slice()).unwrap_or_default();
        let stops = functions.iter().enumerate().any(|(at, function)| {
            let itself = asks.is_some_and(|asks| asks.file == class.file && asks.func.0 as usize == at);
            let this = function.params.iter().find(|param| param.is_self).map(|param| param.slot);
            let instrs = || function.blocks.iter().flat_map(|block| &block.instrs);
            let told = |slot| {
                instrs().any(|made| made.dst == Some(slot) && matches!(made.op, Op::Const(crate::ir::Const::Bool(_))))
            };
            function.class == Some(class.class)
                && !itself
                && !function.name.starts_with("__init")
                && instrs().any(|instr| match &instr.op {
                    Op::SetAttr(of, set, value) => **set == *name && told(*value) && self.is_self(function, *of, this),
                    _ => false,
                })
        });
        self.stop_cache.insert((class, name), stops);
        stops
    }

    fn is_self(&self, function: &crate::ir::Function, object: crate::ir::Slot, this: Option<crate::ir::Slot>) -> bool {
        if Some(object) == this {
            return true;
        }
        // Through a copy into a temporary.
        function
            .blocks
            .iter()
            .flat_map(|block| &block.instrs)
            .any(|instr| instr.dst == Some(object) && matches!(instr.op, Op::Copy(from) if Some(from) == this))
    }

    /// Whether a variable holds what a call of a library gave.
    fn is_made_by_library(&self, file: u32, function: &Function, slot: Slot) -> bool {
        let made = |slot| {
            let mut instrs = function.blocks.iter().flat_map(|block| &block.instrs);
            instrs.find(|instr| instr.dst == Some(slot)).map(|instr| &instr.op)
        };
        let Some(Op::Call { callee: Callee::Value(callee), .. }) = made(slot) else { return false };
        match made(*callee) {
            Some(Op::Path(path)) => self.models(file).function(path).is_some_and(|entry| entry.kind == Kind::Type),
            _ => false,
        }
    }

    fn attribute_after(&mut self, func: FuncRef, name: &str) -> Option<Value> {
        if self.initialising.contains(&func) || self.initialising.len() > 4 {
            return None;
        }
        let function = self.project.function(func)?;
        let this = function.params.iter().find(|param| param.is_self)?.slot;
        if let Some(value) = self.plainly_set(func, function, this, name) {
            return Some(value);
        }
        let this = self.symbols.intern(Node::Param(func, this.0), Taint::NONE);
        let ends = self.constructed(func);
        let mut values = ends.iter().map(|state| {
            let value = state.heap.get(&(this, name.into()))?;
            Some(fixed(state, value, 4))
        });
        let mut first = values.next()??;
        // Nought on one path alone is what stands there for nothing given.
        let nought = matches!(&first, Value::Num(num) if num.single() == Some(0.0));
        if nought && let Some(other) = values.clone().flatten().find(|value| *value != first) {
            first = other;
        }
        if self.tells(&first) {
            return Some(first);
        }
        // What is given, or else made here: both are of one type.
        let other = values.flatten().find(|value| self.tells(value));
        Some(match other {
            Some(Value::Inst(inst)) => {
                Value::Inst(Rc::new(Inst { ty: inst.ty.clone(), opaque_headers: true, ..Inst::default() }))
            }
            Some(other @ Value::Sym(_)) => other,
            // Nothing given: what is taken then is what a default is.
            Some(other @ Value::Num(_)) if !is_once(&other) => other,
            _ => first,
        })
    }

    /// What a constructor puts in an attribute once and on every path, as it stands there: a constant or what it is given.
    /// It need not be run for that.
    fn plainly_set(&mut self, func: FuncRef, function: &Function, this: Slot, name: &str) -> Option<Value> {
        let sets = |instr: &&Instr| matches!(&instr.op, Op::SetAttr(_, attr, _) if attr == name);
        let instrs = || function.blocks.iter().flat_map(|block| &block.instrs);
        let first = function.blocks.first()?.instrs.iter().find(sets)?;
        let Op::SetAttr(object, _, value) = &first.op else { return None };
        if *object != this || instrs().filter(sets).count() != 1 {
            return None;
        }
        let mut made = instrs().filter(|instr| instr.dst == Some(*value)).map(|instr| &instr.op);
        match (made.next(), made.next()) {
            (Some(Op::Const(constant)), None) => Some(constant_value(constant)),
            (None, _) if function.params.iter().any(|param| param.slot == *value && !param.is_self) => {
                let mut state = self.enter(func);
                let value = self.read(&mut state, *value);
                Some(fixed(&state, &value, 4))
            }
            _ => None,
        }
    }

    /// How a constructor leaves its object. It is run once for all attributes, and at nobody's expense.
    fn constructed(&mut self, func: FuncRef) -> Rc<[State]> {
        if let Some(known) = self.built_cache.get(&func) {
            return known.clone();
        }
        let left = std::mem::replace(&mut self.budget, ASIDE_BUDGET);
        let state = self.enter(func);
        let ends: Rc<[State]> = self.run_all_aside(func, state).into_iter().map(|(state, _)| state).collect();
        self.budget = left;
        self.built_cache.insert(func, ends.clone());
        ends
    }

    /// Whether a value says what it is.
    pub(super) fn tells(&self, value: &Value) -> bool {
        match value {
            Value::Sym(id) => self.symbols.info(*id).is_some_and(|info| info.ty.is_some()),
            _ => true,
        }
    }

    fn attribute_of_built(&mut self, func: FuncRef, name: &str) -> Option<Value> {
        if self.initialising.contains(&func) || self.initialising.len() > 4 {
            return None;
        }
        let state = self.enter(func);
        let (state, value) = self.run_aside(func, state)?;
        let mut value = value;
        while let Value::Variant(_, _, args) = &value {
            value = args.first()?.clone();
        }
        let Value::Sym(id) = value else { return None };
        state.heap.get(&(id, name.into())).map(|value| fixed(&state, value, 4))
    }
}

/// Whether an initial value says something of later ones, if the attribute is written elsewhere too.
fn lasting(value: &Value, once: bool) -> bool {
    match value {
        Value::Num(_) | Value::Inst(_) | Value::Path(_) | Value::Func(..) | Value::Class(_) => true,
        Value::None | Value::Object(_) => false,
        _ => once,
    }
}
