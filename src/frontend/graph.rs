//! Builds one function's graph, block by block.
//!
//! A frontend writes instructions at the current block, opens and starts blocks, and ends them. The unwind target is
//! a state of the builder: a block takes over the one that holds when it is started. Blocks that nothing reaches (code
//! behind a `return`) are dropped at the end, so that a frontend need not care whether it is in dead code.

use crate::ir::{Block, BlockId, Instr, Loop, Op, Slot, SlotInfo, Term};
use crate::source::Span;

/// A graph that is being built.
pub struct Graph {
    slots: Vec<SlotInfo>,
    blocks: Vec<Block>,
    /// Blocks that stay although they are empty: `continue`, `break` and the like are steps of a path.
    kept: Vec<bool>,
    loops: Vec<Loop>,
    current: BlockId,
    unwind: Option<BlockId>,
    statement: Span,
}

/// What a finished graph consists of.
pub struct Parts {
    /// Variables and temporaries.
    pub slots: Vec<SlotInfo>,
    /// Reachable blocks; the first one is the entry.
    pub blocks: Vec<Block>,
    /// Reachable loops, in the order in which they were added.
    pub loops: Vec<Loop>,
}

impl Default for Graph {
    fn default() -> Self {
        Self::new()
    }
}

impl Graph {
    /// A graph with an empty entry block, which is the current one.
    #[must_use]
    pub fn new() -> Self {
        let mut graph = Graph {
            slots: Vec::new(),
            blocks: Vec::new(),
            kept: Vec::new(),
            loops: Vec::new(),
            current: BlockId(0),
            unwind: None,
            statement: Span::default(),
        };
        graph.current = graph.block();
        graph
    }

    /// Opens a block, to be started later.
    pub fn block(&mut self) -> BlockId {
        let id = BlockId(index(self.blocks.len()));
        self.blocks.push(Block {
            instrs: Vec::new(),
            term: Term::Abort,
            term_span: self.statement,
            unwind: self.unwind,
        });
        self.kept.push(false);
        id
    }

    /// How many blocks were opened so far.
    #[must_use]
    pub fn size(&self) -> usize {
        self.blocks.len()
    }

    /// The block that is being written.
    #[must_use]
    pub fn current(&self) -> BlockId {
        self.current
    }

    /// Goes on in a block that was opened before.
    pub fn start(&mut self, block: BlockId) {
        self.current = block;
        let unwind = self.unwind;
        if let Some(block) = self.here() {
            block.unwind = unwind;
        }
    }

    /// Where exceptions go from here on.
    #[must_use]
    pub fn unwind(&self) -> Option<BlockId> {
        self.unwind
    }

    /// Sets where exceptions go from here on; what was written before is not touched.
    pub fn set_unwind(&mut self, unwind: Option<BlockId>) {
        if self.unwind == unwind {
            return;
        }
        self.unwind = unwind;
        if self.here().is_some_and(|block| block.instrs.is_empty()) {
            self.start(self.current);
        } else {
            let next = self.block();
            self.goto(next);
            self.start(next);
        }
    }

    /// The span that terminators get from here on; gives the one before.
    pub fn set_statement(&mut self, span: Span) -> Span {
        std::mem::replace(&mut self.statement, span)
    }

    /// A new unnamed slot.
    pub fn temporary(&mut self) -> Slot {
        self.add_slot(SlotInfo::default())
    }

    /// A new slot with these facts.
    pub fn add_slot(&mut self, info: SlotInfo) -> Slot {
        let slot = Slot(index(self.slots.len()));
        self.slots.push(info);
        slot
    }

    /// A slot's facts, to be completed.
    pub fn slot_mut(&mut self, slot: Slot) -> Option<&mut SlotInfo> {
        self.slots.get_mut(slot.0 as usize)
    }

    /// Whether any slot belongs to the enclosing function.
    #[must_use]
    pub fn captures(&self) -> bool {
        self.slots.iter().any(|slot| slot.captured.is_some())
    }

    /// Writes an instruction whose value goes to a new temporary.
    pub fn emit(&mut self, op: Op, span: Span) -> Slot {
        let dst = self.temporary();
        self.emit_to(dst, op, span);
        dst
    }

    /// Writes an instruction whose value goes to a given slot.
    pub fn emit_to(&mut self, dst: Slot, op: Op, span: Span) {
        if let Some(block) = self.here() {
            block.instrs.push(Instr { dst: Some(dst), op, span });
        }
    }

    /// Writes an instruction without a value.
    pub fn run(&mut self, op: Op, span: Span) {
        if let Some(block) = self.here() {
            block.instrs.push(Instr { dst: None, op, span });
        }
    }

    /// Says that nobody will read this value: the instruction that has just made it writes nothing, or goes away where
    /// it does nothing else.
    pub fn discard(&mut self, value: Slot) {
        let Some(last) = self.last_made(value) else { return };
        last.dst = None;
        if matches!(last.op, Op::Const(_) | Op::Copy(_) | Op::Path(_) | Op::Func(_) | Op::Class(_) | Op::Global(_))
            && let Some(block) = self.here()
        {
            block.instrs.pop();
        }
    }

    /// Puts a value into a variable: the instruction that has just made it writes there at once, or it is copied.
    pub fn store(&mut self, variable: Slot, value: Slot, span: Span) {
        if let Some(last) = self.last_made(value) {
            last.dst = Some(variable);
        } else if variable != value {
            self.emit_to(variable, Op::Copy(value), span);
        }
    }

    fn last_made(&mut self, value: Slot) -> Option<&mut Instr> {
        if self.slots.get(value.0 as usize).is_some_and(|slot| slot.name.is_some()) {
            return None;
        }
        self.here().and_then(|block| block.instrs.last_mut()).filter(|last| last.dst == Some(value))
    }

    /// Ends the current block. What is written then, before another block is started, is dead code.
    pub fn end(&mut self, term: Term) {
        let span = self.statement;
        if let Some(block) = self.here() {
            block.term = term;
            block.term_span = span;
        }
        self.current = self.block();
    }

    /// Ends the current block with a jump.
    pub fn goto(&mut self, to: BlockId) {
        self.end(Term::Goto(to));
    }

    /// Ends the current block with a jump that the source states (`continue`), so that it stays visible.
    pub fn jump(&mut self, to: BlockId) {
        if let Some(kept) = self.kept.get_mut(self.current.0 as usize) {
            *kept = true;
        }
        self.end(Term::Goto(to));
    }

    /// Ends the current block with a test.
    pub fn branch(&mut self, cond: Slot, then: BlockId, otherwise: BlockId) {
        self.end(Term::Branch { cond, then, otherwise });
    }

    /// Adds a loop; its head has been opened.
    pub fn add_loop(&mut self, new: Loop) {
        if let Some(kept) = self.kept.get_mut(new.head.0 as usize) {
            *kept = true;
        }
        self.loops.push(new);
    }

    fn here(&mut self) -> Option<&mut Block> {
        self.blocks.get_mut(self.current.0 as usize)
    }

    /// Drops what nothing reaches, shortens jumps over empty blocks, and numbers the rest anew.
    #[must_use]
    pub fn finish(mut self) -> Parts {
        // A loop at the very beginning is still entered from outside: the entry is no loop's head.
        if let Some(kept) = self.kept.first_mut() {
            *kept = true;
        }
        let target = self.shortened();
        let through = |id: BlockId| target.get(id.0 as usize).copied().unwrap_or(id);
        for block in &mut self.blocks {
            block.unwind = block.unwind.map(through);
            each_successor(&mut block.term, |id| *id = through(*id));
        }
        let entry = through(BlockId(0));
        let mut seen = vec![false; self.blocks.len()];
        let mut todo = vec![entry];
        while let Some(id) = todo.pop() {
            let at = id.0 as usize;
            if seen.get(at).copied().unwrap_or(true) {
                continue;
            }
            if let Some(flag) = seen.get_mut(at) {
                *flag = true;
            }
            if let Some(block) = self.blocks.get_mut(at) {
                if !can_raise(block) {
                    block.unwind = None;
                }
                todo.extend(block.unwind);
                each_successor(&mut block.term, |id| todo.push(*id));
            }
        }
        let mut numbers = vec![BlockId(0); self.blocks.len()];
        let mut next = u32::from(seen.get(entry.0 as usize).copied().unwrap_or(false));
        for (at, number) in numbers.iter_mut().enumerate() {
            if seen.get(at).copied().unwrap_or(false) && at != entry.0 as usize {
                *number = BlockId(next);
                next += 1;
            }
        }
        let number = |id: BlockId| numbers.get(id.0 as usize).copied().unwrap_or(BlockId(0));
        let mut blocks = Vec::new();
        for (at, mut block) in self.blocks.into_iter().enumerate() {
            if !seen.get(at).copied().unwrap_or(false) {
                continue;
            }
            block.unwind = block.unwind.map(number);
            each_successor(&mut block.term, |id| *id = number(*id));
            if at == entry.0 as usize && !blocks.is_empty() {
                blocks.insert(0, block);
            } else {
                blocks.push(block);
            }
        }
        let mut loops = self.loops;
        loops.retain(|it| seen.get(it.head.0 as usize).copied().unwrap_or(false));
        for it in &mut loops {
            it.head = number(it.head);
        }
        Parts { slots: self.slots, blocks, loops }
    }

    /// For each block the one that a jump to it ends up in, empty blocks being passed over.
    fn shortened(&self) -> Vec<BlockId> {
        let next = |id: BlockId| -> Option<BlockId> {
            let at = id.0 as usize;
            let block = self.blocks.get(at)?;
            match block.term {
                Term::Goto(to) if block.instrs.is_empty() && !self.kept.get(at).copied().unwrap_or(true) => Some(to),
                _ => None,
            }
        };
        let mut target: Vec<Option<BlockId>> = vec![None; self.blocks.len()];
        for start in 0..self.blocks.len() {
            let mut path = Vec::new();
            let mut at = BlockId(index(start));
            let end = loop {
                if let Some(known) = target.get(at.0 as usize).copied().flatten() {
                    break known;
                }
                path.push(at);
                match next(at) {
                    Some(to) if path.len() <= self.blocks.len() => at = to,
                    _ => break at,
                }
            };
            for id in path {
                if let Some(known) = target.get_mut(id.0 as usize) {
                    *known = Some(end);
                }
            }
        }
        target.into_iter().enumerate().map(|(at, to)| to.unwrap_or(BlockId(index(at)))).collect()
    }
}

/// Whether an exception may leave the block: an instruction, or a terminator that raises or asks an iterator.
fn can_raise(block: &Block) -> bool {
    !block.instrs.is_empty() || matches!(block.term, Term::Raise(_) | Term::Next { .. })
}

fn each_successor(term: &mut Term, mut visit: impl FnMut(&mut BlockId)) {
    match term {
        Term::Goto(to) => visit(to),
        Term::Branch { then, otherwise, .. } => {
            visit(then);
            visit(otherwise);
        }
        Term::Next { body, done, .. } => {
            visit(body);
            visit(done);
        }
        Term::Return(_) | Term::Propagate(_) | Term::Raise(_) | Term::Abort => {}
    }
}

fn index(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
