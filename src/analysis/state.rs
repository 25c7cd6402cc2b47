//! The state of one path of a run: activations, what is known of memory, what was decided, what happened so far.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::policy::{Key, Known, Timeout};
use super::status::StatusSet;
use super::value::{FuncRef, Place, SymId, Value};
use crate::ir::{BlockId, Slot};
use crate::source::Span;

/// A place in a file of the project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct At {
    /// Index of the file.
    pub file: u32,
    /// The place.
    pub span: Span,
}

/// What a call gives back when it returns.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Gives {
    /// What it returns.
    Returned,
    /// This, whatever it returns (a constructor).
    Instead(Value),
    /// What it returns, wrapped as success under this name (a time limit kept, a closure mapped over a value).
    Wrapped(&'static str),
    /// The next item of an iterator: what it yields, or returns.
    Item(Rc<Taking>),
}

/// An item that is being taken from an iterator whose code is run on for it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Taking {
    /// The generator that is run on, by its key among the objects; none where a method gives the items.
    pub generator: Option<SymId>,
    /// The iterator that numbers the items.
    pub numbered: Option<SymId>,
    /// How whoever asks is told of an item, and that there is none.
    pub end: NoMore,
}

/// What comes of a call for the next item where there is none; a loop just ends.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum NoMore {
    /// This value.
    Gives(Value),
    /// The exception that says so.
    Raises,
    /// An optional value without content; an item is one with.
    Wrapped,
}

/// An activation of a function.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Frame {
    /// The function.
    pub func: FuncRef,
    /// Block to run.
    pub block: BlockId,
    /// Next instruction in it.
    pub at: usize,
    /// Variables; `None` until written.
    pub slots: Rc<Vec<Option<Value>>>,
    /// The exception being handled.
    pub caught: Option<Value>,
    /// Where the caller wants the result.
    pub dst: Option<Slot>,
    /// What the caller gets.
    pub gives: Gives,
    /// Number of this activation.
    pub id: u32,
    /// The activation that a closure was made in.
    pub outer: Option<u32>,
    /// A closure was made in this one: keep its variables when it ends.
    pub closed_over: bool,
    /// How often each loop head was come to.
    pub visits: Vec<(BlockId, u32)>,
    /// Hash of the chain of calls.
    pub chain: u64,
    /// A call has just come back.
    pub came_back: bool,
    /// How many time limits were in force when it began.
    pub limits: usize,
    /// Parameters that stand for variables of the caller: theirs here, and the caller's.
    pub lent: Rc<[(Slot, Slot)]>,
    /// It runs in a thread of its own.
    pub in_thread: bool,
}

impl Frame {
    /// A function's activation at its entry, come to from nowhere.
    #[must_use]
    pub fn at_entry(func: FuncRef, slots: Vec<Option<Value>>, id: u32, outer: Option<u32>) -> Frame {
        Frame {
            func,
            block: BlockId(0),
            at: 0,
            slots: Rc::new(slots),
            caught: None,
            dst: None,
            gives: Gives::Returned,
            id,
            outer,
            closed_over: false,
            came_back: false,
            visits: Vec::new(),
            chain: 0,
            limits: 0,
            lent: Rc::from([]),
            in_thread: false,
        }
    }
}

/// Content of a collection or iterator.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Object {
    /// A list; `whole`: these are all its items.
    List(Vec<Value>, bool),
    /// Numbers from `next` on, up to `stop` (exclusive).
    Range {
        /// The next one.
        next: Value,
        /// Step.
        step: Value,
        /// Where it ends.
        stop: Option<Value>,
        /// How many were taken.
        taken: u32,
        /// It was written with the last one that belongs to it, which is one before `stop`.
        closed: bool,
    },
    /// Items of a sequence that is known.
    Items(Rc<[Value]>, usize),
    /// Items of something unknown: finite, as far as known.
    Unknown(Value, u32),
    /// The same without end.
    Endless(Value, u32),
    /// The items of an iterator, each with its number (the next one).
    Numbered(Value, Value),
    /// The first items of an iterator: so many are left.
    Limited(Value, u32),
    /// One iterator after the other.
    Chain(Rc<[Value]>),
    /// A generator's activation where it stopped; none once it has ended.
    Generator(Option<Rc<Frame>>),
    /// Work that is taken piece by piece: the piece taken last, and what of it was put back.
    Store {
        /// Taken last.
        taken: SymId,
        /// Put back.
        back: Option<Value>,
    },
}

/// What is known of one call of an operation.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct OpInfo {
    /// Its place: the operation's identity.
    pub place: Place,
    /// Where it stands.
    pub at: At,
    /// Where the function under analysis calls it (or what leads to it).
    pub base: At,
    /// The activations that the call is made through, the function under analysis first.
    pub through: Rc<[Activation]>,
    /// As the source has it.
    pub text: Rc<str>,
    /// Path of the model or callee.
    pub model: Option<Rc<str>>,
    /// Leaves the process.
    pub remote: Known3,
    /// HTTP method.
    pub method: Option<Rc<str>>,
    /// `Some(true)`: may be repeated; `Some(false)`: not.
    pub idempotent: Option<bool>,
    /// What it does.
    pub effect: Option<Rc<str>>,
    /// Address, if literal.
    pub target: Option<Rc<str>>,
    /// Time limit: as [`super::value::Inst::timeout`].
    pub timeout: Option<Option<super::value::F>>,
    /// Idempotency key.
    pub key: KeyFact,
    /// Called through a parameter.
    pub passed_in: bool,
    /// A request by what is done with its answer alone.
    pub likely: bool,
    /// It is no method and takes nothing.
    pub bare: bool,
    /// Its result is awaited.
    pub awaited: bool,
    /// Its inputs, with how often what they depend on had been made.
    pub inputs: Rc<[Value]>,
    /// How often what chance gave, among its inputs, was drawn.
    pub drawn: u32,
    /// Other operations whose answers are among its inputs, headers included.
    pub sources: Rc<[Place]>,
    /// The symbol of its result, where that is unknown.
    pub result: Option<SymId>,
    /// It gives a response with a status.
    pub http: bool,
    /// Layers below it that send it again by themselves.
    pub layers: Rc<[Below]>,
    /// Where its client was told to send requests again, but none to such an address.
    pub unmounted: Option<At>,
    /// The errors that the model lists, each for what the others do not stand for.
    pub raises: Rc<[Rc<str>]>,
    /// What it sends.
    pub body: Rc<[Value]>,
}

/// One of the activations that a call is made through.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Activation {
    /// The function.
    pub func: FuncRef,
    /// The activation's number.
    pub id: u32,
    /// Where it has got to.
    pub span: Span,
    /// The loops around that, the outermost first, each with how often its head was come to.
    pub turns: Rc<[(BlockId, u32)]>,
    /// In a function of the prelude: what it was given to run.
    pub runs: Option<FuncRef>,
}

/// A layer below an operation.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Below {
    /// Executions that one call becomes while the fault lasts.
    pub factor: u32,
    /// Where the project's own code set that; else it is the library's default.
    pub told: Option<At>,
    /// The library.
    pub library: Rc<str>,
    /// What switches it off, where that is an argument.
    pub off: Option<Rc<str>>,
    /// By which version it is the default, where that differs.
    pub version: Option<Rc<str>>,
    /// It repeats only where nothing was sent.
    pub connects: bool,
}

/// [`Known`] that can be hashed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Known3 {
    Yes,
    No,
    Unknown,
}

impl From<Known3> for Known {
    fn from(known: Known3) -> Self {
        match known {
            Known3::Yes => Known::Yes,
            Known3::No => Known::No,
            Known3::Unknown => Known::Unknown,
        }
    }
}

/// What is known of an idempotency key.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum KeyFact {
    /// None among the headers and arguments, all of which are in view.
    None,
    /// This value.
    Value(Value),
    /// There may be one.
    Unknown,
}

impl OpInfo {
    /// The time limit as the policy has it.
    #[must_use]
    pub fn policy_timeout(&self) -> Timeout {
        match self.timeout {
            None => Timeout::Unknown,
            Some(None) => Timeout::None,
            Some(Some(seconds)) if seconds.0.is_nan() => Timeout::Set(None),
            Some(Some(seconds)) => Timeout::Set(Some(seconds.0)),
        }
    }

    /// The key as the policy has it, if `fresh` tells whether a value is made anew each time.
    #[must_use]
    pub fn policy_key(&self, fresh: impl Fn(&Value) -> bool) -> Key {
        match &self.key {
            KeyFact::None => Key::None,
            KeyFact::Unknown => Key::Unknown,
            KeyFact::Value(value) if fresh(value) => Key::PerAttempt,
            KeyFact::Value(_) => Key::Stable,
        }
    }
}

/// A way in which an operation fails.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Failing {
    /// Raises (or gives as `Err`) one of these classes.
    Raises(Rc<[Rc<str>]>),
    /// Answers with one of these statuses.
    Status(StatusSet),
    /// A test of its result comes out so.
    Test(SymId, bool),
    /// Is cut by a time limit around it, which raises this class.
    Elapsed(Rc<str>),
}

/// The failure under which a path runs.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Failed {
    /// The operation.
    pub op: Rc<OpInfo>,
    /// How.
    pub how: Failing,
    /// In which turn.
    pub turn: u32,
}

/// What happened on a path, newest first.
#[derive(Debug)]
pub struct Trace {
    /// What.
    pub event: Event,
    /// Before it.
    pub before: Option<Rc<Trace>>,
    /// How many before it.
    pub depth: u32,
}

/// One thing that happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// An operation was executed.
    Op(Rc<OpInfo>),
    /// It failed.
    Fail(Rc<OpInfo>, Failing, At),
    /// A wait: seconds, and the value that they came from.
    Wait {
        /// At least.
        low: f64,
        /// At most.
        high: f64,
        /// Not known how long.
        unknown: bool,
        /// What was slept.
        value: Value,
        /// Where.
        at: At,
        /// Blocks the thread in async code.
        blocks: bool,
    },
    /// An undecided condition was decided.
    Decide {
        /// The condition.
        sym: SymId,
        /// How.
        taken: bool,
        /// Where.
        at: At,
        /// The instruction.
        place: Place,
    },
    /// A comparison with a clock was decided.
    ClockTest {
        /// Where.
        at: At,
        /// Seconds between the two sides.
        left: f64,
        /// What the clock showed.
        now: f64,
        /// Whatever comes out, the same is done, sooner or later.
        paces: bool,
    },
    /// A comparison with a counter of turns was decided.
    CountTest {
        /// Where.
        at: At,
        /// The way that was not taken leads out of the loop.
        leads_out: bool,
        /// The side that was taken.
        taken: bool,
    },
    /// A loop over something finite (`true`) or without end took an item.
    Took {
        /// Finite.
        finite: bool,
        /// Its length comes from outside.
        outside: bool,
    },
    /// The loop's head was come to again, from here (or the function called itself here).
    Turn(At),
    /// Retry-After was read.
    ReadAdvice(Place, At),
    /// It was a date, and was parsed as one.
    ParsedDate,
    /// A parse of it failed (on a date, or on a number).
    ParseFailed(At),
    /// A response was thrown away by this call.
    Lost(At),
    /// An exception was caught here.
    Caught(At),
    /// Something of the answer beyond its status and headers was read.
    ReadBody(Place),
    /// Two numbers, one of them a count, were compared: their difference.
    Counted(f64),
    /// A variable of the function under analysis, which holds this number, was compared to see whether to leave the loop.
    Compared(At, f64),
    /// Two numbers, of which one may move, were compared to see whether to leave: how far they are apart.
    Apart(At, f64),
    /// The status was looked at; `true`: a good answer would have gone the other way.
    LookedAtStatus(Place, bool),
    /// A stop flag was looked at.
    Flag,
    /// The loop was left, after so much waiting since the failure (at least, at most).
    Left(At, f64, f64),
    /// Something that is used up by being sent was made, or a method of it was called (to wind it back).
    Renewed(SymId),
    /// What was taken here was put back where it came from.
    PutBack(SymId),
    /// An inner loop of which the end is not known was left after a few turns: activation and head.
    WornOut(u32, BlockId),
    /// After a credential was refused, something was put where it outlasts the turn (an attribute, an element): no number, and nothing
    /// of the failure itself.
    Stored,
    /// A person was asked for something.
    Asked,
    /// Something was written to a log or shown.
    Said,
    /// A helper gave a failure on, of something that is no operation here.
    Stumbled,
    /// A number was made that may come to the end of what its sort can hold.
    Scaled(Rc<Scaled>),
}

/// A number and the end of its sort.
#[derive(Debug, Clone, PartialEq)]
pub struct Scaled {
    /// The instruction.
    pub place: Place,
    /// Where it stands.
    pub at: At,
    /// The number, as if its sort had no end.
    pub value: f64,
    /// The greatest that there is.
    pub greatest: f64,
    /// Its sort, by the name of its type ("u32", "float").
    pub sort: Rc<str>,
    /// What passing the end does.
    pub past: Past,
    /// What it was made of is held down by a ceiling: it does not grow for ever.
    pub held: bool,
    /// It is a power, or shifted, or made of one.
    pub raised: bool,
}

/// What it does to pass the end of a sort of number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Past {
    /// An exception of this class is raised.
    Raises(Rc<str>),
    /// The program panics.
    Panics,
    /// It goes on from the other end; with `checked`, a build with checks panics instead.
    Wraps {
        /// Checked in some builds.
        checked: bool,
    },
    /// It is shifted by as many bits as there are: a build with checks panics, others shift by none.
    Turns,
}

/// The waits since the failure, and what else was done in between.
#[derive(Debug, Clone, PartialEq)]
pub struct Gap {
    /// At least, in seconds.
    pub low: f64,
    /// At most.
    pub high: f64,
    /// Some part is not known.
    pub unknown: bool,
    /// Something was put where it outlasts the turn: what reads it may be another thing now.
    pub stored: bool,
}

impl Gap {
    /// No wait, and nothing done.
    pub const NONE: Gap = Gap { low: 0.0, high: 0.0, unknown: false, stored: false };
}

/// The variables of an activation that has ended, and the activation around it.
pub type Kept = (Rc<Vec<Option<Value>>>, Option<u32>);

/// One path of a run.
#[derive(Debug, Clone)]
pub struct State {
    /// Activations, the function under analysis first.
    pub frames: Vec<Frame>,
    /// Attributes.
    pub heap: Rc<BTreeMap<(SymId, Rc<str>), Value>>,
    /// Collections and iterators.
    pub objects: Rc<BTreeMap<SymId, Object>>,
    /// Module variables that were written.
    pub globals: Rc<BTreeMap<(u32, u32), Value>>,
    /// Conditions that were decided.
    pub decided: Rc<BTreeMap<SymId, bool>>,
    /// How often each unknown was made.
    pub versions: Rc<BTreeMap<SymId, u32>>,
    /// Statuses that each response can have.
    pub resps: Rc<BTreeMap<Place, StatusSet>>,
    /// Type of each response, by model path.
    pub resp_types: Rc<BTreeMap<Place, Rc<str>>>,
    /// The operation behind each unknown result.
    pub results: Rc<BTreeMap<SymId, Rc<OpInfo>>>,
    /// Variables of ended activations that closures still use.
    pub kept: Rc<BTreeMap<u32, Kept>>,
    /// Simulated seconds since the start.
    pub clock: f64,
    /// What happened.
    pub trace: Option<Rc<Trace>>,
    /// The failure, if any.
    pub failed: Option<Rc<Failed>>,
    /// How often the head was come to.
    pub turns: u32,
    /// The loop was left.
    pub left: bool,
    /// The next activation's number.
    pub next_frame: u32,
    /// Time limits in force: class that they raise.
    pub limits: Vec<(Rc<str>, Option<super::value::F>)>,
    /// Waits since the failure.
    pub gap: Gap,
    /// The stopped operation is to be executed now.
    pub resume: bool,
    /// Something was guessed.
    pub guessed: bool,
    /// The last point that it passed (see [`super::merging`]).
    pub passage: u32,
    /// What it did, as far as it will be looked at (see [`super::merging`]).
    pub history: u64,
    /// The same in outline.
    pub outline: u64,
}

impl State {
    /// The statuses of the answer with which the operation failed, be it one that an error carries.
    pub(super) fn refusal(&self) -> Option<StatusSet> {
        let failed = self.failed.as_ref()?;
        match &failed.how {
            Failing::Status(set) => Some(*set),
            Failing::Raises(_) => self.resps.get(&failed.op.place).copied().filter(|set| !set.contains(200)),
            _ => None,
        }
    }

    /// Adds an event.
    pub fn push(&mut self, event: Event) {
        self.outline = super::merging::outline(self.outline, &event, self.failed.is_some());
        self.history = super::merging::remember(self.history, &event, self.failed.is_some());
        let depth = self.trace.as_ref().map_or(0, |trace| trace.depth + 1);
        self.trace = Some(Rc::new(Trace { event, before: self.trace.take(), depth }));
    }

    /// The events, oldest first, from the one after `since` events on.
    #[must_use]
    pub fn events(&self) -> Vec<&Event> {
        let mut events = Vec::new();
        let mut at = self.trace.as_deref();
        while let Some(trace) = at {
            events.push(&trace.event);
            at = trace.before.as_deref();
        }
        events.reverse();
        events
    }

    /// The innermost activation.
    #[must_use]
    pub fn top(&self) -> Option<&Frame> {
        self.frames.last()
    }

    /// What tells this state from others at the same point: two that agree will go on alike.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        use std::hash::{Hash, Hasher};
        let mut hasher = rustc_hash::FxHasher::default();
        for frame in &self.frames {
            (frame.func, frame.block, frame.at, &frame.slots, &frame.caught).hash(&mut hasher);
        }
        self.heap.hash(&mut hasher);
        self.objects.hash(&mut hasher);
        self.globals.hash(&mut hasher);
        self.decided.hash(&mut hasher);
        self.resps.hash(&mut hasher);
        self.left.hash(&mut hasher);
        self.gap.high.to_bits().hash(&mut hasher);
        self.gap.low.to_bits().hash(&mut hasher);
        self.failed.as_ref().map(|failed| (failed.op.place, &failed.how)).hash(&mut hasher);
        hasher.finish()
    }
}

impl Drop for Trace {
    /// Long chains are taken apart one by one, so that no chain is too long for the stack.
    fn drop(&mut self) {
        let mut next = self.before.take();
        while let Some(trace) = next {
            match Rc::try_unwrap(trace) {
                Ok(mut owned) => next = owned.before.take(),
                Err(_) => break,
            }
        }
    }
}
