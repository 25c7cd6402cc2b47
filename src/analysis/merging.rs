//! Paths that will go on alike are run once.
//!
//! Where two paths come to the same point and agree in all that is read from there on, the second has nothing to show
//! that the first has not shown: it is dropped. What is read is known exactly, as paths are run depth first: by the
//! time the second comes, the first has been followed to all its ends, and every decision that it asked for on the way
//! was noted. Variables are told apart by liveness.
//!
//! Where many branches only differ in which unknown thing they leave behind, the paths multiply and none of them is
//! followed far. So of paths that agree in outline (all that is known for sure, and of what is not known only where it
//! comes from) a few are as good as all, if each answer to what is asked later is among theirs; and one that comes back to where it was with nothing
//! changed has shown what it can. Where even the outlines multiply (six options, each set or not), it is enough that each
//! thing that is known on a path was known on one of many others, in whatever company. Such a run is marked as thinned:
//! what it found is there, what it did not find may be.
//!
//! Invariant: a path is only dropped for some that ran to all their ends under the same budget, or for itself.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use super::loops::successors;
use super::machine::Machine;
use super::state::{Event, Frame, Object, State};
use super::value::{FuncRef, SymId, Symbols, Taint, Value};
use crate::ir::{Function, Op, Slot, Term};

/// A function for which this takes more words of memory is too large to know.
const MOST_WORDS: usize = 1 << 20;

/// So many paths that agree in outline are followed from a point, and as many more as tell something new by what was
/// decided on them, up to the greater number.
const ALIKE: usize = 2;
const MOST_ALIKE: usize = 24;
/// So many paths that did the same are followed from a point, whatever is known on them, and all further ones that bring
/// something that was known on none of these.
const COMPANY: usize = 12;
/// How deep collections within collections are looked into for an outline.
const SKETCHED: u32 = 2;

/// A set of slots.
type Slots = Box<[u64]>;

fn insert(set: &mut Slots, slot: Slot) {
    if let Some(word) = set.get_mut(slot.0 as usize / 64) {
        *word |= 1 << (slot.0 % 64);
    }
}

fn remove(set: &mut Slots, slot: Slot) {
    if let Some(word) = set.get_mut(slot.0 as usize / 64) {
        *word &= !(1 << (slot.0 % 64));
    }
}

/// Adds what is not there yet; whether something was.
fn unite(set: &mut Slots, other: &Slots) -> bool {
    let mut changed = false;
    for (word, more) in set.iter_mut().zip(other.iter()) {
        changed |= *more & !*word != 0;
        *word |= more;
    }
    changed
}

fn members(set: &Slots) -> impl Iterator<Item = usize> + '_ {
    set.iter()
        .enumerate()
        .flat_map(|(at, word)| (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| at * 64 + bit))
}

/// What is read after each point of a function.
#[derive(Debug, Default)]
pub(super) struct Liveness {
    /// Blocks that several others go to.
    joins: Box<[bool]>,
    /// Slots that are read after a block is begun.
    at_start: Vec<Slots>,
    /// Slots that are read in or after a block.
    about: Vec<Slots>,
}

impl Liveness {
    /// Of a function; `kept` are the variables that closures in it use.
    fn new(function: &Function, kept: impl Iterator<Item = Slot>) -> Liveness {
        let count = function.blocks.len();
        if count * function.slots.len().div_ceil(64) > MOST_WORDS {
            return Liveness::default();
        }
        let none: Slots = vec![0; function.slots.len().div_ceil(64)].into();
        let mut always = none.clone();
        kept.for_each(|slot| insert(&mut always, slot));
        let mut into = vec![0u32; count];
        let (mut uses, mut writes) = (vec![none.clone(); count], vec![none.clone(); count]);
        for ((block, uses), writes) in function.blocks.iter().zip(&mut uses).zip(&mut writes) {
            for to in successors(block) {
                if let Some(number) = into.get_mut(to.0 as usize) {
                    *number += 1;
                }
            }
            let mut read = |slot: Slot, writes: &Slots| {
                if writes.get(slot.0 as usize / 64).is_some_and(|word| word >> (slot.0 % 64) & 1 == 0) {
                    insert(uses, slot);
                }
            };
            for instr in &block.instrs {
                instr.op.reads().into_iter().for_each(|slot| read(slot, writes));
                if let Op::Bind(_, pattern) = &instr.op {
                    pattern.binds().into_iter().for_each(|slot| insert(writes, slot));
                }
                instr.dst.into_iter().for_each(|slot| insert(writes, slot));
            }
            block.term.reads().into_iter().for_each(|slot| read(slot, writes));
            if let Term::Next { item, .. } = &block.term {
                insert(writes, *item);
            }
        }
        let mut at_start = uses.clone();
        at_start.iter_mut().for_each(|set| _ = unite(set, &always));
        let mut about = vec![none.clone(); count];
        let mut changed = true;
        while changed {
            changed = false;
            for (at, block) in function.blocks.iter().enumerate().rev() {
                let mut after = none.clone();
                for to in successors(block) {
                    if let Some(set) = at_start.get(to.0 as usize) {
                        unite(&mut after, set);
                    }
                }
                let (Some(written), Some(used)) = (writes.get(at), uses.get(at)) else { continue };
                let mut before = after.clone();
                members(written).for_each(|slot| remove(&mut before, Slot(u32::try_from(slot).unwrap_or(0))));
                // An exception may come before the block wrote anything.
                if let Some(set) = block.unwind.and_then(|to| at_start.get(to.0 as usize)) {
                    unite(&mut before, set);
                }
                unite(&mut after, written);
                unite(&mut after, used);
                if let Some(set) = at_start.get_mut(at) {
                    changed |= unite(set, &before);
                    unite(&mut after, set);
                }
                if let Some(set) = about.get_mut(at) {
                    *set = after;
                }
            }
        }
        Liveness { joins: into.iter().map(|number| *number > 1).collect(), at_start, about }
    }
}

/// A path's passage through a point.
#[derive(Debug, Default)]
struct Passage {
    /// The one before it on the same path.
    before: u32,
    /// Paths through here, and passages after it, that have not come to their end.
    open: u32,
    /// What was decided by then.
    decided: Rc<BTreeMap<SymId, bool>>,
    /// How often each unknown had been made by then.
    versions: Rc<BTreeMap<SymId, u32>>,
    /// What tells it in outline.
    outline: u64,
    /// The same, in parts.
    sketch: Sketch,
    /// Symbols of which somebody asked afterwards whether they were decided, and that were not made anew before that.
    asked: FxHashSet<(SymId, u64)>,
}

/// What tells a state in outline.
#[derive(Debug, Default)]
struct Sketch {
    /// Where it is, and what was done.
    done: u64,
    /// Each thing that is known there, by itself.
    known: Box<[u64]>,
}

impl Sketch {
    /// All of it as one.
    fn whole(&self) -> u64 {
        let mut hasher = FxHasher::default();
        (self.done, &self.known).hash(&mut hasher);
        hasher.finish()
    }
}

/// Paths at one point that did the same.
#[derive(Debug, Default)]
struct Company {
    /// How many were followed to all their ends.
    closed: usize,
    /// What was known on one of them.
    known: FxHashSet<u64>,
    /// What was asked afterwards, and what had been decided of it.
    answers: FxHashSet<(SymId, Option<bool>)>,
    asked: FxHashSet<(SymId, u64)>,
}

impl Company {
    /// Takes in a passage whose paths have all come to their ends.
    fn take_in(&mut self, passage: &mut Passage) {
        self.closed += 1;
        self.known.extend(std::mem::take(&mut passage.sketch.known));
        self.answers.extend(passage.asked.iter().map(|(sym, _)| (*sym, passage.decided.get(sym).copied())));
        self.asked.extend(&passage.asked);
    }

    /// Whether a state has nothing to show that none of many others had.
    fn covers(&self, state: &State, sketch: &Sketch) -> bool {
        let answered =
            |(sym, _): &(SymId, Option<bool>)| self.answers.contains(&(*sym, state.decided.get(sym).copied()));
        self.closed >= COMPANY
            && sketch.known.iter().all(|thing| self.known.contains(thing))
            && self.answers.iter().all(answered)
    }
}

/// The passages of one run.
#[derive(Debug)]
pub(super) struct Passages {
    all: Vec<Passage>,
    by_key: FxHashMap<u64, Vec<u32>>,
    /// By what tells paths apart in outline.
    by_outline: FxHashMap<u64, Vec<u32>>,
    /// By what was done on them.
    companies: FxHashMap<u64, Company>,
    /// The last passage of the path that is running.
    now: u32,
}

impl Passages {
    /// For a run that begins with so many paths.
    pub fn new(paths: usize) -> Passages {
        let open = u32::try_from(paths).unwrap_or(u32::MAX);
        Passages {
            all: vec![Passage { open, ..Passage::default() }],
            by_key: FxHashMap::default(),
            by_outline: FxHashMap::default(),
            companies: FxHashMap::default(),
            now: 0,
        }
    }

    /// Somebody asks whether a symbol was decided.
    pub fn ask(&mut self, symbols: &Symbols, versions: &BTreeMap<SymId, u32>, sym: SymId) {
        let version = version(symbols, versions, sym);
        if let Some(passage) = self.all.get_mut(self.now as usize) {
            passage.asked.insert((sym, version));
        }
    }

    /// All that was asked for in a run, or after a passage.
    pub fn asked(&mut self) -> FxHashSet<(SymId, u64)> {
        let mut asked = FxHashSet::default();
        self.all.iter().for_each(|passage| asked.extend(&passage.asked));
        asked
    }

    /// Takes over what was asked in a run within this one.
    pub fn hand_on(&mut self, asked: FxHashSet<(SymId, u64)>) {
        if let Some(passage) = self.all.get_mut(self.now as usize) {
            passage.asked.extend(asked);
        }
    }

    /// A path ended in, or became, so many.
    pub fn became(&mut self, symbols: &Symbols, paths: usize) {
        let paths = u32::try_from(paths).unwrap_or(u32::MAX);
        let now = self.now;
        let Some(passage) = self.all.get_mut(now as usize) else { return };
        passage.open = passage.open.saturating_add(paths).saturating_sub(1);
        self.close(symbols, now);
    }

    /// Passages that nothing is open of hand on what was asked.
    fn close(&mut self, symbols: &Symbols, mut at: u32) {
        while at != 0 {
            let Some(passage) = self.all.get_mut(at as usize).filter(|passage| passage.open == 0) else { return };
            let before = passage.before;
            self.companies.entry(passage.sketch.done).or_default().take_in(passage);
            self.take_over(symbols, before, at);
            if let Some(passage) = self.all.get_mut(before as usize) {
                passage.open = passage.open.saturating_sub(1);
            }
            at = before;
        }
    }

    /// What was asked after one passage is asked after another: that of what was made anew in between tells nothing.
    fn take_over(&mut self, symbols: &Symbols, to: u32, from: u32) {
        let Some(asked) = self.all.get(from as usize).map(|passage| passage.asked.clone()) else { return };
        self.asked_after(symbols, to, &asked);
    }

    fn asked_after(&mut self, symbols: &Symbols, to: u32, asked: &FxHashSet<(SymId, u64)>) {
        let Some(passage) = self.all.get_mut(to as usize) else { return };
        let versions = &passage.versions;
        passage.asked.extend(asked.iter().filter(|(sym, asked)| to == 0 || version(symbols, versions, *sym) == *asked));
    }

    /// The passages of paths that agree with a state in outline, if there are some and each thing that is asked later on
    /// was decided on one of them as it was here; or none, where the path itself was here with nothing changed.
    fn as_good_as(&self, state: &State, outline: u64) -> Option<Vec<u32>> {
        let numbers = self.by_outline.get(&outline)?.iter().copied();
        if self.was_here(state, outline) {
            return Some(Vec::new());
        }
        let closed =
            |number: &u32| Some((*number, self.all.get(*number as usize).filter(|passage| passage.open == 0)?));
        let (numbers, alike): (Vec<u32>, Vec<&Passage>) =
            numbers.filter_map(|number| closed(&number)).take(MOST_ALIKE).unzip();
        let decided = |sym: &SymId| {
            let here = state.decided.get(sym);
            alike.iter().any(|passage| passage.decided.get(sym) == here)
        };
        let all_decided = || alike.iter().flat_map(|passage| &passage.asked).all(|(sym, _)| decided(sym));
        (alike.len() == MOST_ALIKE || alike.len() >= ALIKE && all_decided()).then_some(numbers)
    }

    /// Whether a path was at this point before, and neither what it holds has changed in outline since, nor what was
    /// decided.
    fn was_here(&self, state: &State, outline: u64) -> bool {
        let mut at = state.passage;
        while at != 0
            && let Some(passage) = self.all.get(at as usize)
        {
            if passage.outline == outline && passage.decided == state.decided {
                return true;
            }
            at = passage.before;
        }
        false
    }
}

impl Passage {
    /// Whether a state agrees in all that was asked after this.
    fn agrees(&self, state: &State) -> bool {
        self.asked.iter().all(|(sym, _)| self.decided.get(sym) == state.decided.get(sym))
    }
}

impl Machine<'_> {
    /// Whether a path comes to a point that others passed that go on as this one would, or as good as. If not, it passes.
    pub(super) fn is_repeated(&mut self, state: &mut State) -> bool {
        let Some(key) = self.point(state) else { return false };
        let sketch = self.outline(state);
        let outline = sketch.whole();
        let passages = &mut self.passages;
        let goes_on_alike = |number: &&u32| {
            passages.all.get(**number as usize).is_some_and(|passage| passage.open == 0 && passage.agrees(state))
        };
        let same = passages.by_key.get(&key).into_iter().flatten().find(goes_on_alike).copied();
        if let Some(same) = same {
            passages.take_over(&self.symbols, state.passage, same);
            return true;
        }
        if let Some(alike) = passages.as_good_as(state, outline) {
            alike.into_iter().for_each(|number| passages.take_over(&self.symbols, state.passage, number));
            self.thinned = true;
            return true;
        }
        if let Some(company) = passages.companies.get(&sketch.done).filter(|company| company.covers(state, &sketch)) {
            let asked = company.asked.clone();
            passages.asked_after(&self.symbols, state.passage, &asked);
            self.thinned = true;
            return true;
        }
        let number = u32::try_from(passages.all.len()).unwrap_or(u32::MAX);
        let (decided, versions) = (state.decided.clone(), state.versions.clone());
        let before = state.passage;
        passages.all.push(Passage { before, open: 1, decided, versions, outline, sketch, asked: FxHashSet::default() });
        passages.by_key.entry(key).or_default().push(number);
        passages.by_outline.entry(outline).or_default().push(number);
        passages.now = number;
        state.passage = number;
        false
    }

    /// Continues a path.
    pub(super) fn take_up(&mut self, state: &State) {
        self.passages.now = state.passage;
    }

    /// What tells a state at a point where paths may come together from others there, decisions aside.
    fn point(&mut self, state: &State) -> Option<u64> {
        let top = state.top()?;
        let live = self.liveness(top.func);
        let start = top.at == 0;
        if start && live.joins.get(top.block.0 as usize) != Some(&true) {
            return None;
        }
        let mut hasher = FxHasher::default();
        let last = state.frames.len() - 1;
        for (at, frame) in state.frames.iter().enumerate() {
            let live = self.liveness(frame.func);
            // What is not told apart does not come together.
            if live.about.is_empty() {
                return None;
            }
            let sets = if at == last && start { &live.at_start } else { &live.about };
            (frame.func, frame.block, frame.at, frame.dst, &frame.gives, &frame.visits).hash(&mut hasher);
            frame.caught.hash(&mut hasher);
            frame.limits.hash(&mut hasher);
            let slot = |slot: usize| frame.slots.get(slot).and_then(Option::as_ref);
            sets.get(frame.block.0 as usize).into_iter().flat_map(members).for_each(|at| slot(at).hash(&mut hasher));
            frame.lent.iter().for_each(|(here, _)| slot(here.0 as usize).hash(&mut hasher));
        }
        (&state.heap, &state.objects, &state.globals, &state.resps, &state.kept).hash(&mut hasher);
        (state.left, state.turns, state.resume, state.history, state.limits.len()).hash(&mut hasher);
        (state.gap.low.to_bits(), state.gap.high.to_bits(), state.gap.unknown).hash(&mut hasher);
        state.failed.as_ref().map(|failed| (failed.op.place, &failed.how)).hash(&mut hasher);
        if !self.plan.explore {
            state.clock.to_bits().hash(&mut hasher);
        }
        // What a text of the server's was found to be is asked for in more ways than one.
        let of_server = |sym: &SymId| self.symbols.info(*sym).is_some_and(|info| info.taint.has(Taint::SERVER));
        state.decided.iter().filter(|(sym, _)| of_server(sym)).for_each(|entry| entry.hash(&mut hasher));
        Some(hasher.finish())
    }

    /// What tells a state at a point in outline: where it is, what failed and what was done about it, and of what it
    /// holds all but the identity of what is not known.
    fn outline(&mut self, state: &State) -> Sketch {
        let mut done = FxHasher::default();
        let mut known = Vec::new();
        let last = state.frames.len() - 1;
        for (at, frame) in state.frames.iter().enumerate() {
            let live = self.liveness(frame.func);
            let sets = if at == last && frame.at == 0 { &live.at_start } else { &live.about };
            (frame.func, frame.block, frame.at, frame.dst, frame.limits).hash(&mut done);
            known.extend(frame.caught.iter().map(|value| self.thing(&state.objects, (at, "caught"), value)));
            for slot in sets.get(frame.block.0 as usize).into_iter().flat_map(members) {
                if let Some(value) = frame.slots.get(slot).and_then(Option::as_ref) {
                    known.push(self.thing(&state.objects, (at, slot), value));
                }
            }
        }
        let is_known = |value: &&Value| !matches!(value, Value::Sym(_) | Value::Object(_));
        for (key, value) in state.heap.iter().filter(|(_, value)| is_known(value)) {
            known.push(self.thing(&state.objects, key, value));
        }
        for (key, value) in state.globals.iter().filter(|(_, value)| is_known(value)) {
            known.push(self.thing(&state.objects, key, value));
        }
        (&state.resps, state.left, state.turns, state.resume, state.outline, state.limits.len()).hash(&mut done);
        let mut times = FxHasher::default();
        (state.gap.low.to_bits(), state.gap.high.to_bits(), state.gap.unknown).hash(&mut times);
        if !self.plan.explore {
            state.clock.to_bits().hash(&mut times);
        }
        known.push(times.finish());
        state.failed.as_ref().map(|failed| (failed.op.place, &failed.how)).hash(&mut done);
        Sketch { done: done.finish(), known: known.into() }
    }

    /// What is known under a name, in outline.
    fn thing(&self, objects: &BTreeMap<SymId, Object>, name: impl Hash, value: &Value) -> u64 {
        let mut hasher = FxHasher::default();
        name.hash(&mut hasher);
        self.sketch(objects, value, SKETCHED, &mut hasher);
        hasher.finish()
    }

    /// A value in outline; collections in it are looked into so many levels deep.
    fn sketch(&self, objects: &BTreeMap<SymId, Object>, value: &Value, depth: u32, hasher: &mut FxHasher) {
        std::mem::discriminant(value).hash(hasher);
        let all = |parts: &[Value], hasher: &mut FxHasher| {
            parts.len().hash(hasher);
            parts.iter().for_each(|part| self.sketch(objects, part, depth, hasher));
        };
        let inside = |parts: &[Value], hasher: &mut FxHasher| {
            parts.len().hash(hasher);
            if let Some(depth) = depth.checked_sub(1) {
                parts.iter().for_each(|part| self.sketch(objects, part, depth, hasher));
            }
        };
        match value {
            Value::Sym(sym) => self.symbols.info(*sym).map(|info| info.taint).hash(hasher),
            Value::Object(id) => match objects.get(id) {
                // How far it has got.
                Some(Object::Range { next, stop, taken, .. }) => (next, stop, taken).hash(hasher),
                Some(Object::Items(items, at)) => (items.len(), at).hash(hasher),
                Some(Object::List(items, whole)) => {
                    whole.hash(hasher);
                    inside(items, hasher);
                }
                Some(Object::Numbered(iterator, _)) => inside(std::slice::from_ref(iterator), hasher),
                Some(Object::Limited(iterator, left)) => {
                    left.hash(hasher);
                    inside(std::slice::from_ref(iterator), hasher);
                }
                Some(Object::Chain(iterators)) => inside(iterators, hasher),
                Some(Object::Store { back, .. }) => back.is_some().hash(hasher),
                Some(Object::Generator(kept)) => {
                    if let Some(frame) = kept {
                        (frame.func, frame.block, frame.at).hash(hasher);
                        let held: Vec<Value> = frame.slots.iter().flatten().cloned().collect();
                        inside(&held, hasher);
                    }
                    kept.is_some().hash(hasher);
                }
                Some(Object::Unknown(..) | Object::Endless(..)) | None => {}
            },
            Value::Variant(name, _, args) => {
                name.hash(hasher);
                all(args, hasher);
            }
            Value::Tuple(items) => all(items, hasher),
            Value::Exc(exc) => (&exc.classes, exc.resp, exc.lost).hash(hasher),
            Value::Func(func, _) => func.hash(hasher),
            Value::Bound(method) => {
                method.1.hash(hasher);
                all(std::slice::from_ref(&method.0), hasher);
            }
            Value::Inst(inst) => {
                (&inst.ty, inst.timeout, &inst.verb, inst.key.is_some(), inst.retries, inst.raises).hash(hasher);
                (inst.opaque_headers, inst.told, inst.made_here).hash(hasher);
                all(&inst.inputs, hasher);
                all(&inst.parts, hasher);
            }
            Value::Partial(pending) | Value::Future(pending) => {
                all(std::slice::from_ref(&pending.callee), hasher);
                pending.args.iter().for_each(|(_, arg)| self.sketch(objects, arg, depth, hasher));
            }
            known => known.hash(hasher),
        }
    }

    fn liveness(&mut self, func: FuncRef) -> Rc<Liveness> {
        if let Some(live) = self.live.get(&func) {
            return live.clone();
        }
        let live = match self.project.function(func) {
            Some(function) => {
                let inner = self.project.closures_in(func);
                let kept = inner.iter().flat_map(|inner| inner.slots.iter().filter_map(|slot| slot.captured));
                Rc::new(Liveness::new(function, kept))
            }
            None => Rc::default(),
        };
        self.live.insert(func, live.clone());
        live
    }
}

impl Frame {
    /// Whether the path has just come back from a call, or is at the start of a block.
    pub(super) fn is_at_point(&self) -> bool {
        self.at == 0 || self.came_back
    }
}

/// Adds an event to what tells a path's history from others: all that is looked at once the path has ended. Before the
/// failure that is what was done; after it, every answer to it. Which way a condition went is not history: where it
/// matters, the paths differ in something else.
pub(super) fn remember(history: u64, event: &Event, failed: bool) -> u64 {
    let mut hasher = FxHasher::default();
    history.hash(&mut hasher);
    match event {
        Event::Op(info) => (0, info.place).hash(&mut hasher),
        Event::Fail(info, how, at) => (1, info.place, how, at).hash(&mut hasher),
        Event::Turn(at) => (2, at).hash(&mut hasher),
        Event::Left(at, ..) => (3, at).hash(&mut hasher),
        Event::Caught(at) => (4, at).hash(&mut hasher),
        Event::Lost(at) => (5, at).hash(&mut hasher),
        Event::ReadBody(place) => (6, place).hash(&mut hasher),
        Event::Renewed(sym) => (7, sym).hash(&mut hasher),
        Event::Stumbled => 8.hash(&mut hasher),
        Event::Wait { value, at, blocks, .. } if failed => (9, value, at, blocks).hash(&mut hasher),
        Event::ClockTest { at, .. } if failed => (10, at).hash(&mut hasher),
        Event::CountTest { at, leads_out, .. } if failed => (11, at, leads_out).hash(&mut hasher),
        Event::Took { finite, outside } if failed => (12, finite, outside).hash(&mut hasher),
        Event::ReadAdvice(place, at) if failed => (13, place, at).hash(&mut hasher),
        Event::ParsedDate if failed => 14.hash(&mut hasher),
        Event::ParseFailed(at) if failed => (15, at).hash(&mut hasher),
        Event::PutBack(sym) if failed => (16, sym).hash(&mut hasher),
        Event::Stored if failed => 17.hash(&mut hasher),
        Event::Asked if failed => 18.hash(&mut hasher),
        _ => return history,
    }
    hasher.finish()
}

/// The same in outline: of what was done before the failure, only what sorts of things.
pub(super) fn outline(outline: u64, event: &Event, failed: bool) -> u64 {
    match event {
        Event::Op(_) if failed => outline | 1 << 63,
        _ if failed => remember(outline, event, true),
        Event::Fail(info, how, at) => {
            let mut hasher = FxHasher::default();
            (outline, info.place, how, at).hash(&mut hasher);
            hasher.finish()
        }
        Event::Op(_) if outline & 1 == 0 => outline | 1,
        Event::Op(_) => outline | 2,
        Event::Left(..) => outline | 4,
        Event::Caught(_) => outline | 8,
        Event::Lost(_) => outline | 16,
        Event::ReadBody(_) => outline | 32,
        Event::Stumbled => outline | 64,
        _ => outline,
    }
}

/// How often what a symbol is made of had been made.
fn version(symbols: &Symbols, versions: &BTreeMap<SymId, u32>, sym: SymId) -> u64 {
    let of = |sym: &SymId| u64::from(versions.get(sym).copied().unwrap_or(0));
    symbols.info(sym).map_or(0, |info| of(&sym) + info.roots.iter().map(of).sum::<u64>())
}
