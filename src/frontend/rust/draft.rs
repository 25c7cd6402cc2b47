//! One function's graph under construction: blocks, slots, scopes of names, and the places that `break`, `continue`,
//! `return` and `?` go to.
//!
//! There is a current block, or none where the code cannot be reached (after a `return`, say). What is emitted into
//! nothing is dropped, and blocks that nothing leads to are taken out at the end, so that the finished graph holds
//! only edges that can be followed.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ir::{
    Block, BlockId, Const, FuncId, Function, FunctionKind, Instr, Loop, LoopKind, Op, Slot, SlotInfo, Term, TypeRef,
};
use crate::source::Span;

/// Which of the two carriers of failure a value is, where the syntax tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Carrier {
    /// `Option`.
    Option,
    /// `Result`.
    Result,
    /// One of them.
    Either,
}

/// Something that `break` (and `continue`, for loops) can name.
#[derive(Debug, Clone)]
pub(super) struct Frame {
    /// Label without the quote.
    pub label: Option<String>,
    /// Where `break` goes.
    pub after: BlockId,
    /// Where `continue` goes; `None` for a labelled block.
    pub head: Option<BlockId>,
    /// Receives the value of `break value`.
    pub result: Option<Slot>,
}

/// Where `return` and `?` go inside a closure that was inlined, or `?` inside a `try` block.
#[derive(Debug, Clone, Copy)]
pub(super) struct Exit {
    /// Receives the value.
    pub result: Slot,
    /// The block after it.
    pub after: BlockId,
    /// A `try` block: only `?` stops here.
    pub only_try: bool,
}

/// What a reference variable refers to: `let count = &mut self.count`.
#[derive(Debug, Clone)]
pub(super) enum Referent {
    /// A variable.
    Variable(Slot),
    /// A field.
    Field(Slot, String),
}

/// A function being built.
pub(super) struct Draft {
    /// Its index.
    pub id: FuncId,
    /// Everything but the graph.
    pub head: Function,
    /// Not a closure: sees no variables of the functions around it.
    pub closed: bool,
    current: Option<BlockId>,
    targeted: Vec<bool>,
    scopes: Vec<FxHashMap<String, Slot>>,
    /// Enclosing loops and labelled blocks.
    pub frames: Vec<Frame>,
    /// Enclosing inlined closures and `try` blocks.
    pub exits: Vec<Exit>,
    /// Variables that are known to hold an `Option` or `Result`.
    pub carriers: FxHashMap<Slot, Carrier>,
    /// Results of own functions: what they carry was declared, and does not have to be guessed.
    pub declared: FxHashSet<Slot>,
    /// What reference variables refer to.
    pub referents: FxHashMap<Slot, Referent>,
}

impl Draft {
    /// An empty function with its entry block.
    pub fn new(id: FuncId, kind: FunctionKind, name: &str, span: Span) -> Self {
        let head = Function::empty(name, kind, span);
        let mut draft = Draft {
            id,
            head,
            closed: !matches!(kind, FunctionKind::Closure | FunctionKind::AsyncBlock),
            current: None,
            targeted: Vec::new(),
            scopes: vec![FxHashMap::default()],
            frames: Vec::new(),
            exits: Vec::new(),
            carriers: FxHashMap::default(),
            declared: FxHashSet::default(),
            referents: FxHashMap::default(),
        };
        let entry = draft.block();
        draft.current = Some(entry);
        draft
    }

    /// A new block that nothing leads to yet.
    pub fn block(&mut self) -> BlockId {
        let id = BlockId(index(self.head.blocks.len()));
        let term = Term::Abort;
        self.head.blocks.push(Block { instrs: Vec::new(), term, term_span: Span::default(), unwind: None });
        self.targeted.push(false);
        id
    }

    /// Goes on in this block, if something leads to it.
    pub fn resume(&mut self, block: BlockId) {
        let reached = self.targeted.get(block.0 as usize).copied().unwrap_or(false);
        self.current = reached.then_some(block);
    }

    /// Ends the current block.
    pub fn end(&mut self, mut term: Term, span: Span) {
        let Some(current) = self.current.take() else { return };
        for to in targets(&mut term).into_iter().flatten() {
            if let Some(mark) = self.targeted.get_mut(to.0 as usize) {
                *mark = true;
            }
        }
        if let Some(block) = self.head.blocks.get_mut(current.0 as usize) {
            block.term = term;
            block.term_span = span;
        }
    }

    /// Ends the current block with a jump.
    pub fn goto(&mut self, block: BlockId, span: Span) {
        self.end(Term::Goto(block), span);
    }

    /// Ends the current block with a test.
    pub fn branch(&mut self, cond: Slot, then: BlockId, otherwise: BlockId, span: Span) {
        self.end(Term::Branch { cond, then, otherwise }, span);
    }

    /// Adds an instruction that writes `dst`.
    pub fn write(&mut self, dst: Option<Slot>, op: Op, span: Span) {
        let Some(current) = self.current else { return };
        if let Some(block) = self.head.blocks.get_mut(current.0 as usize) {
            block.instrs.push(Instr { dst, op, span });
        }
    }

    /// Adds an instruction that writes a new temporary.
    pub fn emit(&mut self, op: Op, span: Span) -> Slot {
        let dst = self.temp();
        self.write(Some(dst), op, span);
        dst
    }

    /// A literal in a new temporary.
    pub fn constant(&mut self, value: Const, span: Span) -> Slot {
        self.emit(Op::Const(value), span)
    }

    /// `()`
    pub fn unit(&mut self, span: Span) -> Slot {
        self.constant(Const::None, span)
    }

    /// A new unnamed slot.
    pub fn temp(&mut self) -> Slot {
        self.slot(SlotInfo::default())
    }

    /// A new slot.
    pub fn slot(&mut self, info: SlotInfo) -> Slot {
        let slot = Slot(index(self.head.slots.len()));
        self.head.slots.push(info);
        slot
    }

    /// A new slot for a variable; [`Draft::declare`] makes the name visible.
    pub fn variable(&mut self, name: &str, ty: Option<TypeRef>) -> Slot {
        let carrier = ty.as_ref().and_then(carrier_of_type);
        let slot = self.slot(SlotInfo { name: Some(name.to_owned()), captured: None, ty });
        if let Some(carrier) = carrier {
            self.carriers.insert(slot, carrier);
        }
        slot
    }

    /// Makes a name visible in the innermost scope.
    pub fn declare(&mut self, name: &str, slot: Slot) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.to_owned(), slot);
        }
    }

    /// Makes a name visible in the whole function: a captured variable.
    pub fn declare_outermost(&mut self, name: &str, slot: Slot) {
        if let Some(scope) = self.scopes.first_mut() {
            scope.insert(name.to_owned(), slot);
        }
    }

    /// The variable of this name.
    pub fn lookup(&self, name: &str) -> Option<Slot> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name)).copied()
    }

    /// Opens a scope.
    pub fn open(&mut self) {
        self.scopes.push(FxHashMap::default());
    }

    /// Closes the innermost scope.
    pub fn close(&mut self) {
        if self.scopes.len() > 1 {
            self.scopes.pop();
        }
    }

    /// Notes a loop of the source.
    pub fn note_loop(&mut self, head: BlockId, kind: LoopKind, span: Span, header: Span) {
        self.head.loops.push(Loop { head, kind, span, header, is_comprehension: false });
    }

    /// The frame that a `break` or `continue` names.
    pub fn frame(&self, label: Option<&str>) -> Option<&Frame> {
        self.frames.iter().rev().find(|frame| match label {
            Some(label) => frame.label.as_deref() == Some(label),
            None => frame.head.is_some(),
        })
    }

    /// The finished function, without the blocks that nothing leads to.
    pub fn finish(mut self) -> Function {
        self.end(Term::Return(None), self.head.span);
        prune(&mut self.head);
        self.head
    }
}

/// An index that fits the graph's own.
pub(super) fn index(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// `Option` or `Result`, by the declared type.
pub(super) fn carrier_of_type(ty: &TypeRef) -> Option<Carrier> {
    match ty.path.as_str() {
        "Option" => Some(Carrier::Option),
        "Result" => Some(Carrier::Result),
        _ => None,
    }
}

fn targets(term: &mut Term) -> [Option<&mut BlockId>; 2] {
    match term {
        Term::Goto(to) => [Some(to), None],
        Term::Branch { then, otherwise, .. } => [Some(then), Some(otherwise)],
        Term::Next { body, done, .. } => [Some(body), Some(done)],
        Term::Return(_) | Term::Propagate(_) | Term::Raise(_) | Term::Abort => [None, None],
    }
}

/// Takes out the blocks that cannot be reached from the entry, and the loops that begin in one.
fn prune(function: &mut Function) {
    let mut live = vec![false; function.blocks.len()];
    let mut open = vec![BlockId(0)];
    while let Some(id) = open.pop() {
        let at = id.0 as usize;
        let (Some(mark), Some(block)) = (live.get_mut(at), function.blocks.get_mut(at)) else { continue };
        if std::mem::replace(mark, true) {
            continue;
        }
        open.extend(targets(&mut block.term).into_iter().flatten().map(|to| *to));
    }
    let mut next = 0;
    let renumbered: Vec<Option<BlockId>> = live
        .iter()
        .map(|live| {
            live.then(|| {
                next += 1;
                BlockId(next - 1)
            })
        })
        .collect();
    let new_id = |old: BlockId| renumbered.get(old.0 as usize).copied().flatten();
    let mut alive = live.iter();
    function.blocks.retain(|_| alive.next().copied().unwrap_or(false));
    for block in &mut function.blocks {
        for to in targets(&mut block.term).into_iter().flatten() {
            *to = new_id(*to).unwrap_or(*to);
        }
    }
    function.loops.retain_mut(|l| match new_id(l.head) {
        Some(head) => {
            l.head = head;
            true
        }
        None => false,
    });
}
