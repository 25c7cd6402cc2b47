//! Waits behind calls that cannot be seen into: `await clock.sleep(delay)`, `boxed_sleep(backoff).await`.
//!
//! What is waited for and given up to a length of time, and gives nothing that anybody uses, is there for its length: a
//! pause between attempts. A name is not asked; a call that is not awaited, or whose answer is used, is none.

use super::calls::Args;
use super::machine::Machine;
use super::state::State;
use super::value::{Node, Pending, Taint, Value};
use crate::ir::{BinOp, Function, Instr, Op, Slot};
use crate::models::Kind;

/// A value is looked into so deep.
const DEPTH: u32 = 6;

impl Machine<'_> {
    /// The length for which an unknown call pauses, where a failure is being met and that is all it can be for.
    pub(super) fn pause_of(&mut self, state: &State, args: &Args) -> Option<Value> {
        state.failed.as_ref()?;
        let [(_, length)] = args.list.as_slice() else { return None };
        // Whoever is given a sleep sleeps, if nothing else comes first.
        if let Value::Future(sleep) = length {
            return if self.is_awaited(state) { self.length_of(state, sleep) } else { None };
        }
        if args.open || !self.is_length(length, DEPTH) || !self.is_awaited_for_nothing(state) {
            return None;
        }
        Some(length.clone())
    }

    /// The length of a sleep that has not begun.
    fn length_of(&mut self, state: &State, sleep: &Pending) -> Option<Value> {
        let Value::Path(path) = &sleep.callee else { return None };
        let file = state.top()?.func.file;
        let entry = self.project.known(file, path).filter(|entry| entry.kind == Kind::Sleep)?;
        let args = Args { list: sleep.args.to_vec(), open: false, ..Args::default() };
        let amount = self.number(&args, entry.amount.as_ref())?;
        Some(self.seconds(&amount, entry.unit))
    }

    /// A number that is no plain unknown: one that is written down or was computed.
    fn is_length(&self, value: &Value, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        match value {
            Value::Num(num) => num.hi.0 > 0.0,
            Value::Sym(id) => self.symbols.info(*id).is_some_and(|info| match &info.node {
                Node::Binary(BinOp::Add, a, b) => {
                    self.is_length(a, depth) || self.is_length(b, depth) || info.taint.has(Taint::RANDOM)
                }
                Node::Binary(BinOp::Mul | BinOp::Pow | BinOp::Div | BinOp::FloorDiv | BinOp::Sub | BinOp::Shl, ..)
                | Node::Linear(..)
                | Node::Math(..) => true,
                _ => info.taint.has(Taint::RANDOM),
            }),
            _ => false,
        }
    }

    /// Whether the call at hand is awaited (or given to whoever runs this generator), and nothing reads what comes of it.
    fn is_awaited_for_nothing(&self, state: &State) -> bool {
        let Some(frame) = state.top() else { return false };
        let Some(function) = self.project.function(frame.func) else { return false };
        let Some(block) = function.block(frame.block) else { return false };
        let Some(instr) = block.instrs.get(frame.at) else { return false };
        let ended = match instr.op {
            Op::Await(_) => instr.dst,
            _ => {
                let waits = block.instrs.iter().skip(frame.at + 1).take(2).find(|next| match next.op {
                    Op::Await(slot) | Op::Yield(Some(slot)) => Some(slot) == instr.dst,
                    _ => false,
                });
                let Some(waits) = waits else { return false };
                waits.dst
            }
        };
        ended.is_none_or(|slot| !is_read(function, slot, DEPTH))
    }
}

/// Whether anything in a function reads a slot, other than to hand it on to where nothing reads it.
fn is_read(function: &Function, slot: Slot, depth: u32) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return true };
    let reads = |instr: &Instr| match (&instr.op, instr.dst) {
        (Op::Copy(from), Some(to)) => *from == slot && is_read(function, to, depth),
        (op, _) => op.reads().contains(&slot),
    };
    function.blocks.iter().any(|block| block.term.reads() == Some(slot) || block.instrs.iter().any(reads))
}
