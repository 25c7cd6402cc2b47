//! Requests that are known by their answers: what an unknown call gives is asked for its status, so that it is a
//! response, and the call sent a request.
//!
//! A client that is passed in, kept in an attribute, or wrapped in a helper out of sight has no type that could be seen;
//! but nobody reads `status_code` of anything else, nor compares a `status` with 503. Models say which readings tell
//! (methods of a type whose name begins with `?`), and of which type the response then is.

use rustc_hash::FxHashMap;

use super::machine::Machine;
use super::state::State;
use super::value::FuncRef;
use crate::ir::{BinOp, Callee, CollectionKind, Const, Function, Instr, Op, Pattern, Slot, Term, UnOp};
use crate::models::{Entry, Kind};

/// Callers that hand an answer on are looked at so far.
const DEPTH: usize = 6;

/// What is done with a value in its function.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Use<'a> {
    /// The entry of the request by which it would come.
    answer: Option<&'a Entry>,
    /// It is given to the caller, as the payload of a success or as it is.
    returned: Option<bool>,
}

/// A value, and whether it is still wrapped (`Ok(…)`).
type Held = FxHashMap<Slot, bool>;

impl<'a> Machine<'a> {
    /// The request that the call at hand must be, by what is done with its answer.
    pub(super) fn answered_as(&mut self, state: &State) -> Option<&'a Entry> {
        let mut frames = state.frames.iter().rev();
        let top = frames.next()?;
        let function = self.project.function(top.func)?;
        let mut slot = function.block(top.block)?.instrs.get(top.at)?.dst?;
        let mut wrapped = None;
        let mut frame = top;
        for _ in 0..DEPTH {
            let used = self.use_of(frame.func, slot);
            if let Some(entry) = used.answer {
                let as_it_is = |known: &bool| *known == entry.result;
                return wrapped.as_ref().is_none_or(as_it_is).then_some(entry);
            }
            wrapped = Some(used.returned?);
            slot = frame.dst?;
            frame = frames.next()?;
        }
        None
    }

    /// Whether what the call at hand gives is awaited, or read as only the response of a request is.
    pub(super) fn is_read_as(&self, state: &State, request: &Entry) -> bool {
        if self.is_awaited(state) {
            return true;
        }
        let (Some(frame), Some(ty)) = (state.top(), request.gives.as_deref()) else { return false };
        let Some(function) = self.project.function(frame.func) else { return false };
        let block = function.block(frame.block);
        let Some(slot) = block.and_then(|block| block.instrs.get(frame.at)).and_then(|instr| instr.dst) else {
            return false;
        };
        let (models, held) = (self.models(frame.func.file), held(function, slot));
        instrs(function).any(|instr| match &instr.op {
            Op::Attr(of, name) | Op::Call { callee: Callee::Method { receiver: of, name }, .. } => {
                held.contains_key(of) && models.method(ty, name).is_some()
            }
            _ => false,
        })
    }

    fn use_of(&mut self, func: FuncRef, slot: Slot) -> Use<'a> {
        if let Some(known) = self.use_cache.get(&(func, slot)) {
            return *known;
        }
        let used = self.find_use(func, slot).unwrap_or_default();
        self.use_cache.insert((func, slot), used);
        used
    }

    fn find_use(&self, func: FuncRef, slot: Slot) -> Option<Use<'a>> {
        let function = self.project.function(func)?;
        let held = held(function, slot);
        let mut used = Use::default();
        for block in &function.blocks {
            for instr in &block.instrs {
                let (of, name) = match &instr.op {
                    Op::Attr(of, name) => (of, name),
                    Op::Call { callee: Callee::Method { receiver, name }, .. } => (receiver, name),
                    _ => continue,
                };
                if let Some(false) = held.get(of)
                    && let Some(entry) = self.answer(func.file, function, name, instr.dst, &held, slot)
                {
                    return Some(Use { answer: Some(entry), returned: None });
                }
            }
            if let Term::Return(Some(slot)) = &block.term
                && let Some(wrapped) = held.get(slot)
            {
                used.returned = Some(*wrapped);
            }
        }
        Some(used)
    }

    /// The entry whose answers are known by this reading: that of a library that the file imports, if there is one.
    fn answer(
        &self,
        file: u32,
        function: &Function,
        name: &str,
        read: Option<Slot>,
        held: &Held,
        first: Slot,
    ) -> Option<&'a Entry> {
        let models = self.models(file);
        let imports = &self.project.module(file)?.imports;
        let imported = |library: &str| {
            imports.iter().any(|import| models.library_of(import).is_some_and(|known| *known.name == *library))
        };
        let opened = held.get(&first) == Some(&true);
        let mut best: Option<&'a Entry> = None;
        for method in models.types_with_method(name).iter().filter(|method| method.ty.starts_with('?')) {
            let Some(entry) = models.entry_of(method).filter(|entry| entry.result == opened) else { continue };
            if entry.statuses.is_some() && !read.is_some_and(|read| self.is_status(file, function, read)) {
                continue;
            }
            if imported(&method.library) {
                return Some(entry);
            }
            best = best.or(Some(entry));
        }
        best
    }

    /// Whether a value is held against statuses.
    fn is_status(&self, file: u32, function: &Function, read: Slot) -> bool {
        let models = self.models(file);
        let held = held(function, read);
        let made = |slot: Slot| instrs(function).find(|instr| instr.dst == Some(slot)).map(|instr| &instr.op);
        let names_one = |op: &Op| match op {
            Op::Const(Const::Int(number)) => (100..=599).contains(number),
            Op::Path(path) => self.project.known(file, path).is_some_and(|entry| entry.kind == Kind::StatusConstant),
            _ => false,
        };
        let is_one = |slot: Slot| match made(slot) {
            Some(Op::Collection(CollectionKind::Tuple | CollectionKind::List | CollectionKind::Set, items)) => {
                items.first().and_then(|item| made(*item)).is_some_and(names_one)
            }
            Some(op) => names_one(op),
            None => false,
        };
        let fits = |pattern: &Pattern| match pattern {
            Pattern::Const(Const::Int(number)) => (100..=599).contains(number),
            Pattern::Path(path) => {
                self.project.known(file, path).is_some_and(|entry| entry.kind == Kind::StatusConstant)
            }
            _ => false,
        };
        instrs(function).any(|instr| match &instr.op {
            Op::Binary(op, a, b) if super::arith::is_test(*op) || matches!(op, BinOp::In | BinOp::NotIn) => {
                held.contains_key(a) && is_one(*b) || held.contains_key(b) && is_one(*a)
            }
            Op::Matches(value, pattern) => held.contains_key(value) && fits(pattern),
            Op::Call { callee: Callee::Method { receiver, name }, .. } => {
                held.contains_key(receiver)
                    && models
                        .types_with_method(name)
                        .iter()
                        .filter_map(|method| models.entry_of(method))
                        .any(|entry| entry.kind == Kind::StatusTest)
            }
            _ => false,
        })
    }
}

fn instrs(function: &Function) -> impl Iterator<Item = &Instr> {
    function.blocks.iter().flat_map(|block| &block.instrs)
}

/// The slots in which a value is, under whatever name, awaited, entered or taken out of a success.
fn held(function: &Function, slot: Slot) -> Held {
    let mut held = Held::from_iter([(slot, false)]);
    let mut opened = false;
    loop {
        let before = held.len();
        for instr in instrs(function) {
            match (&instr.op, instr.dst) {
                (Op::Await(from) | Op::Copy(from) | Op::Enter(from, _) | Op::Unary(UnOp::Same, from), Some(to)) => {
                    if let Some(wrapped) = held.get(from).copied() {
                        held.entry(to).or_insert(wrapped);
                    }
                }
                (Op::Payload(from, true), Some(to)) if held.contains_key(from) => {
                    opened |= held.insert(to, false).is_none();
                }
                (Op::Variant { name, args, .. }, Some(to))
                    if matches!(name.as_str(), "Ok" | "Some")
                        && args.iter().any(|arg| held.get(arg) == Some(&false)) =>
                {
                    held.entry(to).or_insert(true);
                }
                (Op::Bind(from, pattern), _) if held.contains_key(from) => {
                    let (inner, out) = match pattern {
                        Pattern::Variant { name, args, .. } if matches!(name.as_str(), "Ok" | "Some") => {
                            (args.first(), true)
                        }
                        other => (Some(other), false),
                    };
                    if let Some(Pattern::Bind(to, None)) = inner {
                        let wrapped = !out && held.get(from) == Some(&true);
                        opened |= out && held.insert(*to, wrapped).is_none();
                        held.entry(*to).or_insert(wrapped);
                    }
                }
                _ => {}
            }
        }
        if held.len() == before {
            break;
        }
    }
    if opened {
        held.insert(slot, true);
    }
    held
}
