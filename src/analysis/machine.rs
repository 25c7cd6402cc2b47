//! The abstract machine: runs a function's graph over abstract values, along every path that can be told apart.
//!
//! A path forks where a condition is not known, and where an operation can end in several ways. Operations end as the
//! [`Plan`] says: all ways in turn while failures are being looked for, one way again and again while an outage is
//! simulated. Calls of the project's own functions are followed (to a depth), so that helpers that wait, count, raise
//! or give up are seen to do so.
//!
//! Invariant: work is bounded by [`Machine::budget`]; what was cut is marked, never guessed.

use super::loops::{LoopMap, loop_map};
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::arith::{self};
use super::merging::{Liveness, Passages};
pub use super::plan::{Advice, Plan, Probe};
use super::project::Project;
use super::scaling::{self, Scaling};
use super::state::{At, Event, Failing, Frame, Object, OpInfo, State};
use super::value::{ANY, Exc, FuncRef, Node, Num, Place, SymId, Symbols, Taint, Type, Value};
use crate::ir::{Block, BlockId, CollectionKind, Const, FormatPart, Instr, Op, Slot, UnOp};
use crate::models::{Kind, Models};
use crate::source::Span;

/// How deep calls of the project's own functions are followed.
pub(super) const DEPTH: usize = 6;
/// How often the head of an inner loop is come to before only its exits are taken.
pub(super) const INNER_TURNS: u32 = 3;
/// How deep values nest before nothing more is kept of them.
pub(super) const VALUE_DEPTH: u32 = 12;
/// Steps after which a file is gone through less thoroughly.
const FILE_SHARE: u64 = 1_200_000;
/// A state holds so much before its steps count for more than one, and for one more with each further so much.
const ORDINARY: usize = 700;
const EXTRA: usize = 96;
/// What part of the steps that are allowed goes at most into what comes after the loop under analysis.
const AFTERWARDS: u64 = 4;
/// How many paths are followed to an end.
const ENDS: usize = 400;
/// How many of those are kept on which the same failure left at the same place.
const ALIKE: u32 = 3;
/// How many items of a growing collection are kept.
pub(super) const ITEMS: usize = 200;

/// How a path ended.
#[derive(Debug, Clone, PartialEq)]
pub enum End {
    /// At the loop's head.
    Head,
    /// The failed operation is about to be executed again.
    Again(Rc<OpInfo>),
    /// The same operation is about to be executed a second time elsewhere.
    SecondTry(Rc<OpInfo>),
    /// The function under analysis returned this; `true`: by a statement with a value.
    Return(Value, bool, At),
    /// An exception left it.
    Raise(Value, At),
    /// The failure went back to a loop around this one.
    NextWork(At),
    /// The process or task ended.
    Abort,
    /// It was left, and what comes after was more than is followed.
    Away,
    /// The work was cut short.
    Cut,
}

/// A path that ended.
#[derive(Debug, Clone)]
pub struct Finished {
    /// As it was then.
    pub state: State,
    /// How.
    pub end: End,
}

/// What an instruction gives.
#[derive(Debug)]
pub(super) enum Res {
    /// A value.
    Value(Value),
    /// An exception.
    Raise(Value),
    /// A call was begun: its result comes later.
    Called,
    /// The path ends here.
    End(End),
}

/// The results of an instruction: one or more paths.
pub(super) type Out = Vec<(State, Res)>;

/// A type's path and what a model says of one of its methods.
pub(super) type Described<'a> = (Rc<str>, &'a crate::models::Entry);

/// The machine.
#[derive(Debug)]
pub struct Machine<'a> {
    /// The project.
    pub project: &'a Project<'a>,
    /// The file whose function is under analysis.
    pub file: u32,
    /// All symbols.
    pub symbols: Symbols,
    /// How paths go.
    pub plan: Plan,
    /// Steps left.
    pub budget: u64,
    /// Steps made in this file so far.
    pub spent: u64,
    /// Steps left for what comes after the loop under analysis.
    pub(super) afterwards: u64,
    /// The budget was used up in the last run.
    pub exhausted: bool,
    /// Paths were dropped in the last run for others that are only like them.
    pub thinned: bool,
    /// Something that leaves the process was come to.
    pub met: bool,
    /// A call was taken to end well as [`Plan::known_only`] says.
    pub spared: bool,
    pub(super) passages: Passages,
    pub(super) live: FxHashMap<FuncRef, Rc<Liveness>>,
    places: FxHashMap<(FuncRef, u32, u32, u64), Place>,
    loop_blocks: FxHashMap<FuncRef, Rc<LoopMap>>,
    pub(super) init_cache: FxHashMap<FuncRef, Value>,
    /// What functions set once for the closures in them.
    pub(super) settled_cache: FxHashMap<FuncRef, Rc<[Option<Value>]>>,
    /// Which attributes others set to stop an object.
    pub(super) stop_cache: FxHashMap<(super::value::ClassRef, Rc<str>), bool>,
    /// What is done with what a call gives.
    pub(super) use_cache: FxHashMap<(FuncRef, Slot), super::answers::Use<'a>>,
    /// What the callers of a private function pass, parameter by parameter.
    pub(super) given_cache: FxHashMap<FuncRef, Rc<[Option<Value>]>>,
    pub(super) attr_cache: FxHashMap<(super::value::ClassRef, Rc<str>), Option<Value>>,
    /// How constructors leave their objects.
    pub(super) built_cache: FxHashMap<FuncRef, Rc<[State]>>,
    pub(super) initialising: Vec<FuncRef>,
    pub(super) import_cache: FxHashMap<(u32, Rc<str>), Option<Described<'a>>>,
    pub(super) set_cache: FxHashMap<(u32, u32), Value>,
    /// Keys under which a file writes to mappings.
    pub(super) written_cache: FxHashMap<(u32, Rc<str>), bool>,
    pub(super) weight_cache: FxHashMap<FuncRef, bool>,
    /// Whether a function acts or ends the work, looked into so deep.
    pub(super) acts_cache: FxHashMap<(FuncRef, super::follow::Sought, u32), bool>,
    /// Policies that were called with what they run again, while such calls are looked for.
    pub(super) driven: Option<Vec<super::combinators::Called>>,
    /// Loops of helpers that were come to with something to call, while such loops are looked for.
    pub(super) brought: Option<Vec<super::brought::Brought>>,
    /// The function whose decorator is looked at: calls of it are calls of what stands in it.
    pub(super) bare: Option<FuncRef>,
    /// Parameters may be more than a default of nought or one.
    pub(super) open_defaults: bool,
    /// Attributes that stand for other attributes, one within the other, in the call at hand.
    pub(super) aliases: u32,
}

impl<'a> Machine<'a> {
    /// A machine for one file's functions.
    #[must_use]
    pub fn new(project: &'a Project<'a>, file: u32) -> Self {
        Machine {
            project,
            file,
            symbols: Symbols::default(),
            plan: Plan::calm(),
            budget: 0,
            spent: 0,
            afterwards: 0,
            exhausted: false,
            thinned: false,
            spared: false,
            met: false,
            passages: Passages::new(0),
            live: FxHashMap::default(),
            places: FxHashMap::default(),
            loop_blocks: FxHashMap::default(),
            init_cache: FxHashMap::default(),
            settled_cache: FxHashMap::default(),
            stop_cache: FxHashMap::default(),
            given_cache: FxHashMap::default(),
            use_cache: FxHashMap::default(),
            attr_cache: FxHashMap::default(),
            built_cache: FxHashMap::default(),
            initialising: Vec::new(),
            import_cache: FxHashMap::default(),
            set_cache: FxHashMap::default(),
            written_cache: FxHashMap::default(),
            weight_cache: FxHashMap::default(),
            acts_cache: FxHashMap::default(),
            open_defaults: false,
            aliases: 0,
            driven: None,
            brought: None,
            bare: None,
        }
    }

    /// Allows so many steps; fewer in a file that has taken more than its share, and fewer again for each further share,
    /// so that none holds up the others.
    pub(super) fn allow(&mut self, steps: u64) {
        let shares = u32::try_from(self.spent / FILE_SHARE).unwrap_or(u32::MAX);
        self.budget = 10u64.checked_pow(shares).map_or(0, |less| steps / less);
        self.afterwards = self.budget / AFTERWARDS;
    }

    pub(super) fn models(&self, file: u32) -> &'a Models {
        self.project.models(file).unwrap_or_else(|| Models::none())
    }

    /// The loops of a function.
    pub fn loops_of(&mut self, func: FuncRef) -> Rc<LoopMap> {
        if let Some(map) = self.loop_blocks.get(&func) {
            return map.clone();
        }
        let map = Rc::new(self.project.function(func).map(loop_map).unwrap_or_default());
        self.loop_blocks.insert(func, map.clone());
        map
    }

    pub(super) fn place_of(&mut self, func: FuncRef, block: BlockId, at: usize, chain: u64) -> Place {
        let next = Place(u32::try_from(self.places.len()).unwrap_or(u32::MAX));
        *self.places.entry((func, block.0, u32::try_from(at).unwrap_or(u32::MAX), chain)).or_insert(next)
    }

    /// The header of the loop that takes its items at a place.
    pub(super) fn loop_at(&self, place: Place) -> Option<At> {
        let ((func, block, ..), _) = self.places.iter().find(|(_, known)| **known == place)?;
        let function = self.project.function(*func)?;
        let header = function.loops.iter().find(|source| source.head.0 == *block).map(|source| source.header);
        let span = header.or_else(|| Some(function.block(BlockId(*block))?.term_span))?;
        Some(At { file: func.file, span })
    }

    /// The place of the instruction that a state is about to run.
    pub(super) fn place(&mut self, state: &State) -> Place {
        match state.top() {
            Some(frame) => self.place_of(frame.func, frame.block, frame.at, frame.chain),
            None => Place(u32::MAX),
        }
    }

    /// A symbol made anew at this place; what was decided of the old one is forgotten.
    pub(super) fn fresh(&mut self, state: &mut State, node: Node, taint: Taint) -> SymId {
        let id = self.symbols.intern(node, taint);
        let version = Rc::make_mut(&mut state.versions).entry(id).or_insert(0);
        *version = version.wrapping_add(1);
        let symbols = &self.symbols;
        let depends = |sym: &SymId| symbols.info(*sym).is_some_and(|info| info.roots.contains(&id));
        if state.decided.keys().any(depends) {
            Rc::make_mut(&mut state.decided).retain(|sym, _| !depends(sym));
        }
        id
    }

    pub(super) fn unknown(&mut self, state: &mut State, taint: Taint) -> Value {
        let place = self.place(state);
        Value::Sym(self.fresh(state, Node::Unknown(place), taint))
    }

    /// Runs a state until every path has ended.
    pub fn run(&mut self, start: Vec<State>) -> Vec<Finished> {
        let mut finished = Vec::new();
        let mut work = start;
        self.exhausted = false;
        self.thinned = false;
        work.reverse();
        work.iter_mut().for_each(|state| state.passage = 0);
        let outer = std::mem::replace(&mut self.passages, Passages::new(work.len()));
        while let Some(state) = work.pop() {
            if self.plan.explore {
                thin_out(&mut finished);
            }
            if self.budget == 0 || finished.len() > ENDS || work.len() > 600 {
                self.exhausted = true;
                finished.push(Finished { state, end: End::Cut });
                continue;
            }
            self.run_path(state, &mut work, &mut finished);
            if self.plan.first_back && matches!(finished.last().map(|last| &last.end), Some(End::Again(_))) {
                self.thinned |= !work.is_empty();
                break;
            }
        }
        let asked = std::mem::replace(&mut self.passages, outer).asked();
        self.passages.hand_on(asked);
        finished
    }

    /// Runs one path until it ends or forks.
    pub(super) fn run_path(&mut self, state: State, work: &mut Vec<State>, finished: &mut Vec<Finished>) {
        let mut state = state;
        self.take_up(&state);
        loop {
            if self.budget == 0 {
                self.exhausted = true;
                finished.push(Finished { state, end: End::Cut });
                return;
            }
            let effort = effort(&state);
            self.budget = self.budget.saturating_sub(effort);
            self.spent += effort;
            if state.left {
                if self.afterwards == 0 {
                    finished.push(Finished { state, end: End::Away });
                    return;
                }
                self.afterwards = self.afterwards.saturating_sub(effort);
            }
            // Alone, a path has none to come together with.
            if !work.is_empty() && state.top().is_some_and(Frame::is_at_point) && self.is_repeated(&mut state) {
                self.passages.became(&self.symbols, 0);
                return;
            }
            let Some(frame) = state.frames.last_mut() else { return };
            frame.came_back = false;
            let (func, block_id, at) = (frame.func, frame.block, frame.at);
            let Some(block) = self.project.function(func).and_then(|function| function.block(block_id)) else {
                finished.push(Finished { state, end: End::Cut });
                return;
            };
            let mut out: Vec<Result<State, Finished>> = Vec::new();
            match block.instrs.get(at) {
                Some(instr) => self.step(state, instr, block, &mut out),
                None => self.terminate(state, block, &mut out),
            }
            // The common case: one path goes on.
            let mut out = out.into_iter();
            match (out.next(), out.len()) {
                (Some(Ok(next)), 0) => state = next,
                (first, _) => {
                    let mut next = Vec::new();
                    for item in first.into_iter().chain(out) {
                        match item {
                            Ok(state) => next.push(state),
                            Err(end) => finished.push(end),
                        }
                    }
                    self.passages.became(&self.symbols, next.len());
                    next.reverse();
                    work.extend(next);
                    return;
                }
            }
        }
    }

    pub(super) fn at(&self, state: &State, span: Span) -> At {
        At { file: state.top().map_or(self.file, |frame| frame.func.file), span }
    }

    /// What the analysed function was doing: the place of the outermost call in progress.
    pub(super) fn base_at(&self, state: &State, span: Span) -> At {
        let Some(frame) = state.frames.first() else { return self.at(state, span) };
        if state.frames.len() == 1 {
            return self.at(state, span);
        }
        let block = self.project.function(frame.func).and_then(|function| function.block(frame.block));
        let span = block.and_then(|block| block.instrs.get(frame.at)).map_or(span, |instr| instr.span);
        At { file: frame.func.file, span }
    }

    // ---- stepping ----

    pub(super) fn step(
        &mut self,
        mut state: State,
        instr: &'a Instr,
        block: &'a Block,
        ends: &mut Vec<Result<State, Finished>>,
    ) {
        let mut out: Out = Vec::new();
        match &instr.op {
            Op::Const(constant) => {
                let value = constant_value(constant);
                out.push((state, Res::Value(value)));
            }
            Op::Copy(slot) => {
                let value = self.read(&mut state, *slot);
                out.push((state, Res::Value(value)));
            }
            Op::Path(path) => {
                let value = self.path_value(&state, path);
                out.push((state, Res::Value(value)));
            }
            Op::Func(id) => {
                let file = state.top().map_or(self.file, |frame| frame.func.file);
                let func = FuncRef { file, func: *id };
                let value = self.function_value(&mut state, func);
                out.push((state, Res::Value(value)));
            }
            Op::Class(id) => {
                let file = state.top().map_or(self.file, |frame| frame.func.file);
                out.push((state, Res::Value(Value::Class(super::value::ClassRef { file, class: *id }))));
            }
            Op::Global(id) => {
                let file = state.top().map_or(self.file, |frame| frame.func.file);
                let value = self.global(&state, file, *id);
                let declared = self.project.module(file).and_then(|module| module.global(*id));
                let value = scaling::of_sort(value, declared.and_then(|global| global.ty.as_ref()));
                let value = self.settled(&state, value);
                out.push((state, Res::Value(value)));
            }
            Op::SetGlobal(id, slot) => {
                let file = state.top().map_or(self.file, |frame| frame.func.file);
                let value = self.read(&mut state, *slot);
                Rc::make_mut(&mut state.globals).insert((file, id.0), value);
                out.push((state, Res::Value(Value::None)));
            }
            Op::Attr(slot, name) => {
                let object = self.read(&mut state, *slot);
                self.attribute(state, &object, name, instr.span, &mut out);
            }
            Op::SetAttr(object, name, value) => {
                let object = self.read(&mut state, *object);
                let value = self.read(&mut state, *value);
                self.replace_method(&mut state, &object, name, &value);
                self.note_stored(&mut state, &value);
                self.note_changed(&mut state, &object, name, &value);
                self.set_attribute(&mut state, &object, name, value);
                out.push((state, Res::Value(Value::None)));
            }
            Op::Index(object, index) => {
                let object = self.read(&mut state, *object);
                let index = self.read(&mut state, *index);
                self.index(state, &object, &index, instr.span, &mut out);
            }
            Op::SetIndex(object, index, value) => {
                let object = self.read(&mut state, *object);
                let index = self.read(&mut state, *index);
                let value = self.read(&mut state, *value);
                self.note_stored(&mut state, &value);
                self.set_index(&mut state, &object, &index, value);
                out.push((state, Res::Value(Value::None)));
            }
            Op::Unary(op, slot) => {
                let value = self.read(&mut state, *slot);
                let value = if *op == UnOp::Not { self.as_test(&state, &value) } else { value };
                let value = self.cast(&mut state, value, *op, *slot, instr);
                let value = arith::unary(&mut self.symbols, *op, &value);
                out.push((state, Res::Value(value)));
            }
            Op::Binary(op, left, right) => {
                let a = self.read(&mut state, *left);
                let b = self.read(&mut state, *right);
                self.note_limit(&mut state, instr, block, [(*left, &a), (*right, &b)]);
                let value = self.binary(&mut state, *op, &a, &b, instr.span);
                let value = self.scaled(&mut state, Scaling::plain(*op, instr.span), &a, &b, value);
                out.push((state, Res::Value(value)));
            }
            Op::Call { callee, args } => self.call_instr(state, callee, args, instr.span, &mut out),
            Op::Await(slot) => {
                let value = self.read(&mut state, *slot);
                self.force(state, value, instr.span, &mut out);
            }
            Op::Yield(slot) => {
                let item = slot.map_or(Value::None, |slot| self.read(&mut state, slot));
                let Some(mut state) = self.stop_at_yield(state, item, instr.span, ends) else { return };
                let value = self.unknown(&mut state, Taint::INPUT);
                out.push((state, Res::Value(value)));
            }
            Op::Collection(kind, slots) => {
                let items: Vec<Value> = slots.iter().map(|slot| self.read(&mut state, *slot)).collect();
                let value = match kind {
                    CollectionKind::Tuple | CollectionKind::Set => Value::Tuple(items.into()),
                    CollectionKind::List => {
                        let place = self.place(&state);
                        let id = self.symbols.intern(Node::New(place), Taint::NONE);
                        Rc::make_mut(&mut state.objects).insert(id, Object::List(items, true));
                        Value::Object(id)
                    }
                    CollectionKind::Dict => {
                        let place = self.place(&state);
                        let id = self.symbols.intern(Node::New(place), Taint::NONE);
                        Rc::make_mut(&mut state.objects).insert(id, Object::List(items, true));
                        Value::Object(id)
                    }
                };
                out.push((state, Res::Value(value)));
            }
            Op::Format(parts) => {
                let mut text = Some(String::new());
                let mut values = Vec::new();
                for part in parts {
                    match part {
                        FormatPart::Text(literal) => {
                            if let Some(text) = &mut text {
                                text.push_str(literal);
                            }
                            values.push(Value::Str(literal.as_str().into()));
                        }
                        FormatPart::Value(slot) => {
                            let value = self.read(&mut state, *slot);
                            match (&value, &mut text) {
                                (Value::Str(literal), Some(text)) => text.push_str(literal),
                                _ => text = None,
                            }
                            values.push(value);
                        }
                    }
                }
                let value = match text {
                    Some(text) => Value::Str(text.into()),
                    None => Value::Sym(self.symbols.intern(Node::Call("format".into(), values.into()), Taint::NONE)),
                };
                out.push((state, Res::Value(value)));
            }
            Op::Variant { name, path, args } => {
                let args: Rc<[Value]> = args.iter().map(|slot| self.read(&mut state, *slot)).collect();
                let value = Value::Variant(name.as_str().into(), path.as_str().into(), args);
                out.push((state, Res::Value(value)));
            }
            Op::Struct { class, path, fields, base } => {
                let file = state.top().map_or(self.file, |frame| frame.func.file);
                let fields: Vec<(&String, Value)> =
                    fields.iter().map(|(name, slot)| (name, self.read(&mut state, *slot))).collect();
                let base = base.map(|slot| self.read(&mut state, slot));
                if let Some(piece) = self.piece_of_fields(&state, path, &fields, base.as_ref(), instr.span) {
                    out.push((state, Res::Value(piece)));
                    return self.settle_all(out, instr, block, ends);
                }
                let place = self.place(&state);
                let id = self.fresh(&mut state, Node::New(place), Taint::NONE);
                if let Some(class) = class {
                    self.symbols.set_type(id, Type::Own(super::value::ClassRef { file, class: *class }));
                } else {
                    self.symbols.set_type(id, Type::Other(path.as_str().into()));
                }
                let object = Value::Sym(id);
                if let Some(base) = base.filter(|base| *base != object) {
                    Rc::make_mut(&mut state.heap).insert((id, "..".into()), base);
                }
                for (name, value) in fields {
                    Rc::make_mut(&mut state.heap).insert((id, name.as_str().into()), value);
                }
                out.push((state, Res::Value(object)));
            }
            Op::Matches(slot, pattern) => {
                let value = self.read(&mut state, *slot);
                let value = self.matches(&mut state, &value, pattern, instr.span);
                out.push((state, Res::Value(value)));
            }
            Op::Bind(slot, pattern) => {
                let value = self.read(&mut state, *slot);
                self.bind(&mut state, &value, pattern);
                out.push((state, Res::Value(Value::None)));
            }
            Op::IsSuccess(slot) => {
                let value = self.read(&mut state, *slot);
                let value = self.is_success(&value);
                out.push((state, Res::Value(value)));
            }
            Op::Payload(slot, success) => {
                let value = self.read(&mut state, *slot);
                let value = self.payload(&value, *success);
                out.push((state, Res::Value(value)));
            }
            Op::Catch => {
                let caught = state.top().and_then(|frame| frame.caught.clone()).unwrap_or_else(any_exception);
                // Where handlers are asked first, it is caught by the one that takes it.
                let asks = |next: &Instr| match &next.op {
                    Op::IsException(exception, _) | Op::Exit(_, Some(exception)) => Some(*exception) == instr.dst,
                    _ => false,
                };
                if !block.instrs.iter().any(asks) {
                    let at = self.at(&state, instr.span);
                    state.push(Event::Caught(at));
                }
                out.push((state, Res::Value(caught)));
            }
            Op::IsException(exception, types) => {
                let exception = self.read(&mut state, *exception);
                let types = self.read(&mut state, *types);
                self.handler(state, &exception, &types, &mut out);
                self.caught(&mut out, instr.span);
            }
            Op::Enter(slot, _) => {
                let manager = self.read(&mut state, *slot);
                self.enter_context(state, manager, instr.span, &mut out);
            }
            Op::Exit(slot, exception) => {
                let manager = self.read(&mut state, *slot);
                let exception = exception.map(|slot| self.read(&mut state, slot));
                let failed = exception.is_some();
                self.exit_context(state, &manager, exception, &mut out);
                if failed {
                    self.caught(&mut out, instr.span);
                }
            }
            Op::Iter(slot, _) => {
                let value = self.read(&mut state, *slot);
                let res = match self.own_generator(&mut state, &value) {
                    Some(generator) => Res::Value(generator),
                    None if self.own_iterator(&mut state, &value) => Res::Called,
                    None => Res::Value(self.iterator(&mut state, value)),
                };
                out.push((state, res));
            }
            Op::Select(_) => {
                let value = self.unknown(&mut state, Taint::CALL);
                out.push((state, Res::Value(value)));
            }
            Op::Unknown(_) => {
                let value = self.unknown(&mut state, Taint::CALL);
                out.push((state, Res::Value(value)));
            }
        }
        self.settle_all(out, instr, block, ends);
    }

    fn settle_all(&mut self, out: Out, instr: &'a Instr, block: &'a Block, ends: &mut Vec<Result<State, Finished>>) {
        for (state, res) in out {
            self.settle(state, res, instr.dst, instr.span, block, ends);
        }
    }

    /// Whether another call may be followed.
    pub(super) fn may_follow(&self, state: &State, func: FuncRef) -> bool {
        state.frames.iter().filter(|frame| !crate::frontend::prelude::is(frame.func.file)).count() < DEPTH
            && state.frames.iter().filter(|frame| frame.func == func).count() < 2
    }

    /// The instruction that is being run.
    fn current(&self, state: &State) -> Option<&'a Instr> {
        let frame = state.top()?;
        self.project.function(frame.func)?.block(frame.block)?.instrs.get(frame.at)
    }

    /// The slot that the current instruction writes.
    pub(super) fn current_dst(&self, state: &State) -> Option<Slot> {
        self.current(state)?.dst
    }

    /// Where the current instruction stands.
    pub(super) fn current_span(&self, state: &State) -> Option<Span> {
        Some(self.current(state)?.span)
    }

    pub(super) fn kind_of_path(&self, file: u32, path: &str) -> Option<(Kind, &'a crate::models::Entry)> {
        self.project.known(file, path).map(|entry| (entry.kind, entry))
    }
}

/// How many steps a step counts for: where a state is large, it takes long to copy and to compare.
fn effort(state: &State) -> u64 {
    let slots = state.top().map_or(0, |frame| frame.slots.len() + frame.visits.len());
    let known = state.heap.len() + state.objects.len() + state.decided.len() + state.versions.len();
    let size = slots + known + state.results.len() + state.resps.len() + state.kept.len();
    1 + (size.saturating_sub(ORDINARY) / EXTRA) as u64
}

/// Whether a value is a number with which nothing is done more than once.
pub(super) fn is_once(value: &Value) -> bool {
    matches!(value, Value::Num(num) if num.single().is_some_and(|number| (0.0..=1.0).contains(&number)))
}

/// Of paths on which the same failure left at the same place, a few are as good as all.
fn thin_out(finished: &mut Vec<Finished>) {
    if finished.len() <= ENDS {
        return;
    }
    let mut kept: FxHashMap<(Place, Failing, At), u32> = FxHashMap::default();
    finished.retain(|path| {
        let (End::Return(_, _, at) | End::Raise(_, at)) = &path.end else { return true };
        let Some(failed) = &path.state.failed else { return true };
        let number = kept.entry((failed.op.place, failed.how.clone(), *at)).or_default();
        *number += 1;
        *number <= ALIKE
    });
}

/// A literal as a value.
#[must_use]
pub fn constant_value(constant: &Const) -> Value {
    match constant {
        Const::None => Value::None,
        Const::Bool(truth) => Value::Bool(*truth, Taint::NONE),
        #[allow(clippy::cast_precision_loss)]
        Const::Int(number) => Value::Num(Num::exact(*number as f64)),
        Const::Float(number) => Value::Num(Num { taint: Taint::FLOAT, ..Num::exact(*number) }),
        Const::Str(text) => Value::Str(text.as_str().into()),
        Const::Ellipsis => Value::Str("...".into()),
    }
}

/// An exception of which nothing is known.
#[must_use]
pub fn any_exception() -> Value {
    Value::Exc(Rc::new(Exc {
        classes: [Rc::from(ANY)].into(),
        resp: None,
        lost: None,
        args: Rc::from([]),
        object: None,
    }))
}
