//! What all callers of a private function pass for a parameter, where that is one and the same number: a limit that is
//! given from one place is as good as a constant.

use std::rc::Rc;

use super::machine::{Machine, constant_value};
use super::project::Entity;
use super::value::{FuncRef, Value};
use crate::ir::{Arg, Callee, Function, FunctionKind, Instr, Op, Param, Slot};

impl Machine<'_> {
    /// The number that every caller gives for this parameter.
    pub(super) fn given(&mut self, func: FuncRef, function: &Function, param: &Param) -> Option<Value> {
        if !function.private || function.kind != FunctionKind::Named || param.is_self || param.is_rest {
            return None;
        }
        let at = function.params.iter().position(|other| other.slot == param.slot)?;
        if let Some(known) = self.given_cache.get(&func) {
            return known.get(at).cloned().flatten();
        }
        // Whoever asks meanwhile is a caller of itself.
        self.given_cache.insert(func, Rc::from([]));
        let given = self.all_given(func, function);
        self.given_cache.insert(func, given.clone());
        given.get(at).cloned().flatten()
    }

    fn all_given(&mut self, func: FuncRef, function: &Function) -> Rc<[Option<Value>]> {
        let Some(module) = self.project.module(func.file) else { return Rc::from([]) };
        let mut given: Option<Vec<Option<Value>>> = None;
        // How a recursion begins is for those who call it from outside.
        let is_own = |caller: &Function| std::ptr::eq(caller, function);
        for caller in module.functions.iter().filter(|caller| !caller.is_test && !is_own(caller)) {
            let Some(calls) = self.calls_of(func, function, caller) else { return Rc::from([]) };
            for args in calls {
                let these: Vec<Option<Value>> =
                    (0..function.params.len()).map(|at| self.passed(func, function, caller, args, at)).collect();
                given = Some(match given {
                    None => these,
                    Some(known) => known
                        .into_iter()
                        .zip(these)
                        .map(|(known, this)| known.filter(|known| Some(known) == this.as_ref()))
                        .collect(),
                });
            }
        }
        given.unwrap_or_default().into()
    }

    /// The arguments of all calls of a function in another; `None` where it is used in any other way.
    fn calls_of<'f>(&self, func: FuncRef, function: &Function, caller: &'f Function) -> Option<Vec<&'f [Arg]>> {
        let instrs = || caller.blocks.iter().flat_map(|block| &block.instrs);
        let is_it = |op: &Op| match op {
            Op::Func(id) => *id == func.func,
            Op::Path(path) => matches!(self.project.entity(path), Some(Entity::Func(other)) if other == func),
            _ => false,
        };
        let named: Vec<Slot> = instrs().filter(|instr| is_it(&instr.op)).filter_map(|instr| instr.dst).collect();
        let mut calls = Vec::new();
        for instr in instrs() {
            match &instr.op {
                Op::Call { callee: Callee::Value(callee), args } if named.contains(callee) => {
                    if args.iter().any(|arg| named.contains(&arg.value)) {
                        return None;
                    }
                    calls.push(args.as_slice());
                }
                Op::Call { callee: Callee::Method { name, .. } | Callee::Super { name }, args }
                    if function.class.is_some() && *name == function.name =>
                {
                    calls.push(args.as_slice());
                }
                Op::Attr(_, name) if function.class.is_some() && *name == function.name => return None,
                op if op.reads().iter().any(|slot| named.contains(slot)) => return None,
                _ => {}
            }
        }
        Some(calls)
    }

    /// The number that a call passes for the parameter at a place.
    fn passed(
        &mut self,
        func: FuncRef,
        function: &Function,
        caller: &Function,
        args: &[Arg],
        at: usize,
    ) -> Option<Value> {
        if args.iter().any(|arg| arg.spread) {
            return None;
        }
        let param = function.params.get(at)?;
        // The receiver is not among the arguments, nor is it where a method is called by its path.
        let place = match function.params.first().is_some_and(|first| first.is_self) {
            true => at.checked_sub(1)?,
            false => at,
        };
        let named = args.iter().find(|arg| arg.name.as_deref() == Some(param.name.as_str()));
        let given = named.or_else(|| args.get(place).filter(|arg| arg.name.is_none()));
        let Some(arg) = given else {
            return param.default.map(|default| self.initial(FuncRef { file: func.file, func: default }));
        };
        let mut made =
            caller.blocks.iter().flat_map(|block| &block.instrs).filter(|instr| instr.dst == Some(arg.value));
        let (Some(Instr { op, .. }), None) = (made.next(), made.next()) else { return None };
        let value = match op {
            Op::Const(constant) => constant_value(constant),
            Op::Global(id) => {
                let value = self.project.module(func.file)?.global(*id)?.value?;
                self.initial(FuncRef { file: func.file, func: value })
            }
            _ => return None,
        };
        matches!(value, Value::Num(_)).then_some(value)
    }
}
