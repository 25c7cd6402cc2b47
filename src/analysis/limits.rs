//! Time limits around a whole loop: a block that it stands in, or what runs its function.

use rustc_hash::FxHashSet;

use super::bounds::seconds;
use super::loops::successors;
use super::machine::Machine;
use super::sites::Found;
use super::value::FuncRef;
use crate::ir::{BlockId, Callee, Function, FunctionKind, Op, Slot, UnOp};
use crate::models::Kind;

/// Callers of callers are looked at so far.
const DEPTH: u32 = 3;

/// The limit that is in force around a loop, if there is one; `Some(None)`: of a length that is not known.
pub(super) fn limit_around(machine: &Machine<'_>, found: &Found<'_>) -> Option<Option<f64>> {
    let lengths = found.entries.iter().map(|state| state.limits.iter().filter_map(|(_, length)| *length).next_back());
    let inside: Option<Vec<_>> = lengths.collect();
    match inside.as_deref() {
        Some([first, ..]) => Some(Some(first.0).filter(|length| !length.is_nan()).and_then(seconds)),
        _ => is_run_limited(machine, found.func, DEPTH).then_some(None),
    }
}

/// Whether all that runs a function, as far as its file shows, does so under a time limit.
fn is_run_limited(machine: &Machine<'_>, func: FuncRef, depth: u32) -> bool {
    let (Some(depth), Some(module)) = (depth.checked_sub(1), machine.project.module(func.file)) else { return false };
    let Some(own) = machine.project.function(func) else { return false };
    let runs_by_name = matches!(own.kind, FunctionKind::Named);
    let mut found = false;
    for (at, function) in module.functions.iter().enumerate() {
        let uses = uses(machine, func, own, function);
        if uses.is_empty() || function.is_test {
            continue;
        }
        found = true;
        let limited = Limited::new(machine, func.file, function);
        if uses.iter().all(|(block, slot)| limited.holds(*block, *slot)) {
            continue;
        }
        let Ok(id) = u32::try_from(at) else { return false };
        let caller = FuncRef { file: func.file, func: crate::ir::FuncId(id) };
        if !runs_by_name || caller == func || !is_run_limited(machine, caller, depth) {
            return false;
        }
    }
    found
}

/// Where a function is run (or, an `async` block, is made), and what holds the future.
fn uses(machine: &Machine<'_>, func: FuncRef, own: &Function, function: &Function) -> Vec<(BlockId, Option<Slot>)> {
    let same_class = || own.class.is_some();
    let mut named: Vec<Slot> = Vec::new();
    let mut uses = Vec::new();
    for (at, block) in function.blocks.iter().enumerate() {
        let Ok(at) = u32::try_from(at) else { break };
        for instr in &block.instrs {
            let is_it = match &instr.op {
                Op::Func(id) => *id == func.func,
                Op::Path(path) => {
                    matches!(machine.project.entity(path), Some(super::project::Entity::Func(other)) if other == func)
                }
                Op::Copy(from) => named.contains(from),
                _ => false,
            };
            if is_it {
                named.extend(instr.dst);
                if own.kind == FunctionKind::AsyncBlock && !matches!(instr.op, Op::Copy(_)) {
                    uses.push((BlockId(at), instr.dst));
                }
            }
            let runs = match &instr.op {
                Op::Call { callee: Callee::Value(callee), args } => {
                    named.contains(callee)
                        || own.kind == FunctionKind::Named && args.iter().any(|arg| named.contains(&arg.value))
                }
                Op::Call { callee: Callee::Method { name, .. }, .. } => same_class() && *name == own.name,
                _ => false,
            };
            if runs && own.kind == FunctionKind::Named {
                uses.push((BlockId(at), instr.dst));
            }
        }
    }
    uses
}

/// What in a function stands under a time limit.
struct Limited {
    /// Blocks inside of `with limit:`.
    blocks: FxHashSet<BlockId>,
    /// Futures that are run under a limit.
    futures: FxHashSet<Slot>,
}

impl Limited {
    fn new(machine: &Machine<'_>, file: u32, function: &Function) -> Limited {
        let is_limit =
            |path: &str| machine.project.known(file, path).is_some_and(|entry| entry.kind == Kind::TimeLimit);
        let (mut limits, mut managers) = (FxHashSet::default(), FxHashSet::default());
        let mut limited = Limited { blocks: FxHashSet::default(), futures: FxHashSet::default() };
        let instrs = || function.blocks.iter().flat_map(|block| &block.instrs);
        for instr in instrs() {
            match &instr.op {
                Op::Path(path) if is_limit(path) => limits.extend(instr.dst),
                Op::Call { callee: Callee::Value(callee), args } if limits.contains(callee) => {
                    managers.extend(instr.dst);
                    limited.futures.extend(args.iter().map(|arg| arg.value));
                }
                Op::Copy(from) if managers.contains(from) => managers.extend(instr.dst),
                _ => {}
            }
        }
        // What is passed on is what it was made from.
        for instr in instrs().collect::<Vec<_>>().into_iter().rev() {
            if let (Some(dst), Op::Copy(from) | Op::Unary(UnOp::Same, from)) = (instr.dst, &instr.op)
                && limited.futures.contains(&dst)
            {
                limited.futures.insert(*from);
            }
        }
        let leaves = |block: &crate::ir::Block| {
            block.instrs.iter().any(|instr| matches!(&instr.op, Op::Exit(manager, _) if managers.contains(manager)))
        };
        let mut work: Vec<BlockId> = Vec::new();
        for block in &function.blocks {
            let enters = block
                .instrs
                .iter()
                .any(|instr| matches!(&instr.op, Op::Enter(manager, _) if managers.contains(manager)));
            if enters {
                work.extend(successors(block).into_iter().filter(|to| Some(*to) != block.unwind));
            }
        }
        while let Some(at) = work.pop() {
            let Some(block) = function.block(at).filter(|block| !leaves(block)) else { continue };
            if limited.blocks.insert(at) {
                work.extend(successors(block));
            }
        }
        limited
    }

    fn holds(&self, block: BlockId, future: Option<Slot>) -> bool {
        self.blocks.contains(&block) || future.is_some_and(|future| self.futures.contains(&future))
    }
}
