//! The loops of a graph: which blocks belong to each.

use crate::ir::{Block, BlockId, Function, Term};
use std::rc::Rc;

use rustc_hash::FxHashSet;

/// So many flags are kept of one function: in one that is larger, nothing belongs to the loops that are left.
const MOST_FLAGS: usize = 1 << 24;

/// Which blocks belong to which loop of a function.
#[derive(Debug, Default)]
pub struct LoopMap {
    /// For each loop: its head and a flag a block.
    pub loops: Vec<(BlockId, Rc<[bool]>)>,
    /// All heads.
    pub heads: FxHashSet<BlockId>,
}

/// The blocks that a block can go to, exceptions included.
#[must_use]
pub fn successors(block: &Block) -> Vec<BlockId> {
    let mut next = targets(&block.term);
    next.extend(block.unwind);
    next
}

/// The blocks that a block can go to where nothing is raised in it.
pub(super) fn targets(term: &Term) -> Vec<BlockId> {
    match term {
        Term::Goto(to) => vec![*to],
        Term::Branch { then, otherwise, .. } => vec![*then, *otherwise],
        Term::Next { body, done, .. } => vec![*body, *done],
        Term::Return(_) | Term::Propagate(_) | Term::Raise(_) | Term::Abort => Vec::new(),
    }
}

/// The blocks that can be come to from one, itself included, without passing through `barrier`.
pub(super) fn reachable(function: &Function, from: BlockId, barrier: Option<BlockId>) -> Vec<bool> {
    let mut reached = vec![false; function.blocks.len()];
    let mut work = vec![from];
    while let Some(block) = work.pop() {
        let Some(seen) = reached.get_mut(block.0 as usize).filter(|_| Some(block) != barrier) else { continue };
        if !std::mem::replace(seen, true)
            && let Some(block) = function.block(block)
        {
            work.extend(successors(block));
        }
    }
    reached
}

/// The blocks from which one can be come to, itself included.
pub(super) fn leading(function: &Function, to: BlockId) -> Rc<[bool]> {
    let before = predecessors(function);
    let mut leads = vec![false; function.blocks.len()];
    let mut work = vec![to.0];
    while let Some(at) = work.pop() {
        let Some(seen) = leads.get_mut(at as usize) else { continue };
        if !std::mem::replace(seen, true) {
            work.extend(before.get(at as usize).into_iter().flatten());
        }
    }
    leads.into()
}

/// For each block those that go to it, exceptions included.
fn predecessors(function: &Function) -> Vec<Vec<u32>> {
    let mut before: Vec<Vec<u32>> = vec![Vec::new(); function.blocks.len()];
    for (at, block) in function.blocks.iter().enumerate() {
        for to in successors(block) {
            if let (Some(list), Ok(at)) = (before.get_mut(to.0 as usize), u32::try_from(at)) {
                list.push(at);
            }
        }
    }
    before
}

/// Finds the blocks of each loop: those that reach its head again without leaving by an earlier block.
#[must_use]
pub fn loop_map(function: &Function) -> LoopMap {
    let count = function.blocks.len();
    let before = predecessors(function);
    let mut loops = Vec::new();
    let known = MOST_FLAGS / count.max(1);
    for (number, source) in function.loops.iter().enumerate() {
        let head = source.head;
        if number >= known {
            loops.push((head, Rc::from([])));
            continue;
        }
        let reached = reachable(function, head, None);
        // The head dominates its loop: what can be reached from the entry without it, and is before it, is no part.
        let outside = reachable(function, BlockId(0), Some(head));
        let mut inside = vec![false; count];
        let mut work: Vec<u32> = Vec::new();
        if let Some(slot) = inside.get_mut(head.0 as usize) {
            *slot = true;
        }
        for from in before.get(head.0 as usize).into_iter().flatten() {
            if reached.get(*from as usize) == Some(&true) && outside.get(*from as usize) == Some(&false) {
                work.push(*from);
            }
        }
        while let Some(block) = work.pop() {
            let Some(slot) = inside.get_mut(block as usize) else { continue };
            if std::mem::replace(slot, true) {
                continue;
            }
            for from in before.get(block as usize).into_iter().flatten() {
                if reached.get(*from as usize) == Some(&true) {
                    work.push(*from);
                }
            }
        }
        loops.push((head, inside.into()));
    }
    LoopMap { heads: loops.iter().map(|(head, _)| *head).collect(), loops }
}
