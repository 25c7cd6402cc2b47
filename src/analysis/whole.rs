//! Calls that are taken whole: what a loop calls of the project's own, as one operation that succeeds or fails.
//!
//! A helper out of which many ways lead takes all the steps that there are for a loop, and no failure of what it does
//! is followed back to the call. The loop itself asks the helper only whether it succeeded. Seen from there the call is
//! an operation like any other of which nothing is known.

use super::calls::Args;
use super::machine::{Machine, Out, Res};
use super::state::State;
use super::value::{FuncRef, Value};
use crate::frontend::prelude;
use crate::ir::{Function, Instr, Op, Pattern, Slot, UnOp};
use crate::source::Span;
use std::rc::Rc;

impl Machine<'_> {
    /// Whether a call that the function under analysis is about to make is taken whole: it may come to what leaves the
    /// process, and the function asks whether it succeeded. What is given an outcome decides what becomes of it, and is
    /// looked into.
    pub(super) fn is_taken_whole(&self, state: &State, func: FuncRef, this: Option<&Value>, args: &Args) -> bool {
        let [frame] = state.frames.as_slice() else { return false };
        if !self.plan.whole || state.left || !self.project.reaches(func) {
            return false;
        }
        let is_outcome = |value: &Value| match value {
            Value::Exc(_) | Value::Resp(_) => true,
            Value::Variant(name, ..) => matches!(&**name, "Ok" | "Err"),
            Value::Sym(id) => state.results.contains_key(id),
            _ => false,
        };
        if this.into_iter().chain(args.values()).any(is_outcome) {
            return false;
        }
        // What runs a policy asks whatever it calls.
        if prelude::is(frame.func.file) {
            return true;
        }
        let Some(function) = self.project.function(frame.func) else { return false };
        self.current_dst(state).is_some_and(|dst| is_asked(function, dst))
    }

    /// Makes such a call.
    pub(super) fn take_whole(&mut self, mut state: State, func: FuncRef, args: Args, span: Span, out: &mut Out) {
        // What it waits for, and whether it repeats something itself, is not seen.
        state.guessed = true;
        let name: Rc<str> = self.project.function(func).map_or("", |function| &function.qualified_name).into();
        let before = out.len();
        self.call_unknown(state, Value::Path(name), args, span, out);
        for (_, res) in out.iter_mut().skip(before) {
            if let Res::Value(value) = res {
                *value = self.as_declared(func, value.clone());
            }
        }
    }
}

/// Whether a function asks of what an instruction gives whether it is a success.
pub(super) fn is_answer_asked(function: &Function, instr: &Instr) -> bool {
    instr.dst.is_some_and(|dst| is_asked(function, dst))
}

fn is_asked(function: &Function, slot: Slot) -> bool {
    let mut held = vec![slot];
    let instrs = || function.blocks.iter().flat_map(|block| &block.instrs);
    loop {
        let before = held.len();
        for instr in instrs() {
            if let (Op::Await(from) | Op::Copy(from) | Op::Unary(UnOp::Same, from), Some(to)) = (&instr.op, instr.dst)
                && held.contains(from)
                && !held.contains(&to)
            {
                held.push(to);
            }
        }
        if held.len() == before {
            break;
        }
    }
    instrs().any(|instr| match &instr.op {
        Op::IsSuccess(of) => held.contains(of),
        Op::Matches(of, Pattern::Variant { name, .. }) => matches!(name.as_str(), "Ok" | "Err") && held.contains(of),
        _ => false,
    })
}
