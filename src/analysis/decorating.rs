//! Functions that a library makes a decorator of, to be given the decorated function before its arguments:
//! `def retry(call, tries=3, *args, **kwargs)`. Such a name stands for the decorator, and a function that it decorates
//! for a call of the function as it is written, with some of its arguments given beforehand.

use std::rc::Rc;

use super::calls::{Args, Call};
use super::machine::Machine;
use super::pieces::is_callable;
use super::state::State;
use super::value::{FuncRef, Pending, Value};
use crate::ir::{Function, Op};
use crate::models::Kind;

/// Among the arguments of a call: the function is meant as it is written.
const WRITTEN: &str = "~written";
/// Among the arguments of a call: the decorator that was made of the function is meant, whatever stands before that.
const MADE: &str = "~made";

impl<'a> Machine<'a> {
    /// What a call gives where a decorator was made of what is called; else the arguments of the call again.
    pub(super) fn made_decorator(
        &mut self,
        state: &State,
        func: FuncRef,
        outer: Option<u32>,
        args: Args,
    ) -> Result<Value, Args> {
        let Some(function) = self.project.function(func) else { return Err(args) };
        let Args { mut list, open, spread } = args;
        let mut take = |mark: &str| {
            let before = list.len();
            list.retain(|(name, _)| name.as_deref() != Some(mark));
            list.len() < before
        };
        let (written, made) = (take(WRITTEN), take(MADE));
        if written || open || !made && !self.is_made_decorator(func, function) {
            return Err(Args { list, open, spread });
        }
        let place = self.place(state);
        let partial = |args: Vec<(Option<Rc<str>>, Value)>| {
            Value::Partial(Rc::new(Pending { callee: Value::Func(func, outer), args: args.into(), place }))
        };
        let positional = |list: &[(Option<Rc<str>>, Value)]| -> Vec<Value> {
            list.iter().filter(|(name, _)| name.is_none()).map(|(_, value)| value.clone()).collect()
        };
        let given = positional(&list);
        if !given.first().is_some_and(is_callable) {
            // Its further arguments come first, and what it decorates later.
            list.push((Some(MADE.into()), Value::None));
            return Ok(partial(list));
        }
        let mut bound: Vec<(Option<Rc<str>>, Value)> = vec![(Some(WRITTEN.into()), Value::None)];
        bound.extend(given.iter().map(|value| (None, value.clone())));
        let further = function.params.iter().take_while(|param| !param.is_rest).skip(given.len());
        for param in further {
            let named = list.iter().find(|(name, _)| name.as_deref() == Some(param.name.as_str()));
            let value = match (named, param.default) {
                (Some((_, value)), _) => value.clone(),
                (None, Some(default)) => self.initial(FuncRef { file: func.file, func: default }),
                (None, None) => continue,
            };
            bound.push((None, value));
        }
        Ok(partial(bound))
    }

    /// Whether one of a function's decorators makes a decorator of it.
    fn is_made_decorator(&mut self, func: FuncRef, function: &Function) -> bool {
        let project = self.project;
        let makes = |path: &str| project.known(func.file, path).is_some_and(|entry| entry.kind == Kind::Decorator);
        function.decorators.iter().any(|decorator| {
            let make = FuncRef { file: func.file, func: decorator.value };
            let instrs =
                project.function(make).into_iter().flat_map(|make| &make.blocks).flat_map(|block| &block.instrs);
            let may_make = |op: &Op| match op {
                Op::Path(path) => makes(path),
                // An alias.
                Op::Global(_) | Op::Attr(..) => true,
                _ => false,
            };
            instrs.into_iter().any(|instr| may_make(&instr.op))
                && matches!(self.initial(make), Value::Path(path) if makes(&path))
        })
    }

    /// A call that makes a decorator of a function.
    pub(super) fn make_decorator(&mut self, state: &State, call: &Call<'a>) -> Value {
        let given = call.args.nth(0).cloned().unwrap_or(Value::None);
        if !is_callable(&given) {
            return given;
        }
        let args = [(Some(MADE.into()), Value::None)].into();
        Value::Partial(Rc::new(Pending { callee: given, args, place: self.place(state) }))
    }

    /// A call that gives a function some of its arguments beforehand.
    pub(super) fn partial(&mut self, state: &mut State, call: &Call<'a>) -> Value {
        let mut list = call.args.list.iter();
        match list.next() {
            Some((None, callee)) if !call.args.open && (is_callable(callee) || matches!(callee, Value::Path(_))) => {
                let (callee, args) = (callee.clone(), list.cloned().collect());
                Value::Partial(Rc::new(Pending { callee, args, place: self.place(state) }))
            }
            _ => self.pure_result(state, call),
        }
    }
}
