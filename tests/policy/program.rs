//! A small grammar of retry loops, in terms that both languages share.

use proptest::prelude::*;
use proptest::sample::select;
use stormlint::source::Language;

use crate::condition::{self, Cmp, Cond, Written};

/// What goes round, and until when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// `for attempt in range(n)`
    Range,
    /// `for attempt in range(1, n + 1)`
    FromOne,
    /// `while attempt < n`; the flag: counted at the top of a turn, not where it fails.
    While(bool),
    /// `while True`, and the count is tested where it fails.
    Counted(Cmp),
    /// A time limit of so many seconds; the flag: tested where it fails, not in the loop's head.
    Deadline(u32, bool),
    /// `for delay in (1, 2, 4)`; the flag: `None` at the end says that the last attempt failed.
    Delays(bool),
    /// The function calls itself.
    Recursion,
    /// Nothing.
    Endless,
}

/// The wait before the next attempt, in milliseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wait {
    None,
    Fixed(u32),
    /// So much more each time.
    Linear(u32),
    /// The base times two to the power of the attempt, in one of several spellings.
    Power(u32, u8),
    /// A variable that is multiplied.
    Growing(u32, u32),
    /// Taken from a list by the number of the attempt.
    Listed(Vec<u32>),
}

/// What is drawn at random.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Jitter {
    None,
    /// Up to so many milliseconds are added.
    Added(u32),
    /// Between a half and one and a half of it.
    Scaled,
    /// Between nothing and all of it.
    Full,
}

/// Where the wait stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Where it fails.
    Handler,
    /// At the end of the turn.
    Tail,
    /// At the beginning of the next turn.
    Top,
}

/// What leaves in the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// An exception or error, from where it fails last or from behind the loop.
    Raise,
    /// `None`.
    Nothing,
    /// `False`.
    False,
    /// The function just ends.
    Falls,
    /// An empty value.
    Empty,
    /// The loop is broken out of, and an error follows.
    BreakRaise,
}

/// How a failure shows itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// As an exception of one of these sorts, and by its status.
    Caught(Sort),
    /// The same, where a bad status is made an exception first.
    Raised(Sort),
    /// By its status alone; exceptions leave.
    Status,
    /// A helper gives nothing (`true`: `None`, else `False`).
    Helper(bool),
}

/// What is caught.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    Connect,
    Timeout,
    Both,
    Library,
    Everything,
}

/// Which statuses come back.
#[derive(Debug, Clone)]
pub enum Statuses {
    /// Those for which a condition holds; all others are good.
    RetryIf(Cond),
    /// Those for which none holds.
    GoodIf(Cond),
    /// Good ones, those that leave at once, and the rest.
    GoodOrFatal(Cond, Cond),
}

/// What becomes of `Retry-After`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Advice {
    Ignored,
    /// In the place of the wait.
    Slept,
    /// Where it is longer.
    Max,
    /// Cut to so many seconds.
    Min(u32),
    /// In the place of the wait, dates too.
    Dated,
    /// Dates are dropped.
    Guarded,
}

/// Where the number of attempts is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Number {
    Literal,
    Constant,
    Default,
}

/// A retry loop.
#[derive(Debug, Clone)]
pub struct Program {
    pub language: Language,
    pub bound: Bound,
    pub attempts: u32,
    pub number: Number,
    pub wait: Wait,
    /// Milliseconds.
    pub ceiling: Option<u32>,
    pub jitter: Jitter,
    pub place: Place,
    /// The last failure does not wait.
    pub skip_last: bool,
    /// It gives up where it fails, not behind the loop.
    pub gives_up_inside: bool,
    pub exit: Exit,
    pub failure: Failure,
    pub statuses: Statuses,
    pub advice: Advice,
    /// The numbers of the attempts and waits that grow come from generators. Python only.
    pub generated: bool,
    /// Rust only.
    pub is_async: bool,
    pub method: &'static str,
    /// Seconds.
    pub timeout: Option<u32>,
}

impl Program {
    /// Takes back what does not go together.
    fn sound(mut self) -> Program {
        match self.bound {
            Bound::Delays(sentinel) => {
                (self.wait, self.jitter, self.ceiling) = (Wait::None, Jitter::None, None);
                self.skip_last = sentinel;
                self.gives_up_inside = sentinel;
                self.number = Number::Literal;
                if self.place == Place::Top {
                    self.place = Place::Tail;
                }
            }
            Bound::Deadline(_, inside) => {
                self.gives_up_inside = inside;
                self.skip_last = inside;
                // No turn in no time.
                if matches!(self.wait, Wait::None | Wait::Listed(_)) || self.jitter == Jitter::Full {
                    (self.wait, self.jitter) = (Wait::Fixed(2000), Jitter::None);
                }
                self.number = Number::Literal;
                // What is cut to more than the time that is left declines.
                if matches!(self.advice, Advice::Min(_)) {
                    self.advice = Advice::Min(5);
                }
            }
            Bound::Counted(_) => (self.gives_up_inside, self.skip_last) = (true, true),
            Bound::Recursion => {
                (self.gives_up_inside, self.skip_last) = (true, true);
                if self.exit == Exit::BreakRaise {
                    self.exit = Exit::Raise;
                }
                if matches!(self.wait, Wait::Growing(..)) {
                    self.wait = Wait::Power(500, 0);
                }
                if self.number == Number::Default {
                    self.number = Number::Constant;
                }
            }
            Bound::Endless => (self.gives_up_inside, self.number) = (false, Number::Literal),
            Bound::Range | Bound::FromOne | Bound::While(_) => {}
        }
        let counts = matches!(self.bound, Bound::Range | Bound::FromOne | Bound::While(_));
        if self.place == Place::Top && (!counts || self.advice != Advice::Ignored || self.bound == Bound::While(false))
        {
            self.place = Place::Handler;
        }
        if self.place == Place::Top && matches!(self.wait, Wait::Growing(..)) {
            self.wait = Wait::Power(250, 1);
        }
        let indexed = counts || matches!(self.bound, Bound::Counted(_) | Bound::Recursion);
        if !indexed && matches!(self.wait, Wait::Linear(_) | Wait::Power(..) | Wait::Listed(_)) {
            self.wait = Wait::Growing(500, 2);
        }
        if let Wait::Listed(list) = &mut self.wait {
            // One for each attempt, however they are numbered.
            list.resize(self.attempts as usize + 1, 7000);
            (self.jitter, self.ceiling) = (Jitter::None, None);
        }
        if matches!(self.wait, Wait::None | Wait::Fixed(_)) {
            self.ceiling = None;
        }
        if self.wait == Wait::None {
            self.jitter = Jitter::None;
        }
        if self.place == Place::Tail && self.advice != Advice::Ignored {
            self.place = Place::Handler;
        }
        if matches!(self.failure, Failure::Helper(_) | Failure::Raised(_)) || self.bound == (Bound::Delays(true)) {
            self.advice = Advice::Ignored;
        }
        if self.failure == Failure::Raised(Sort::Connect) || self.failure == Failure::Raised(Sort::Timeout) {
            self.failure = Failure::Raised(Sort::Library);
        }
        if self.failure == Failure::Raised(Sort::Both) {
            self.failure = Failure::Raised(Sort::Everything);
        }
        // What asks again after a success is no retry.
        if let Statuses::RetryIf(cond) = &self.statuses
            && cond.holds(self.language, 200)
        {
            self.statuses = Statuses::RetryIf(Cond::Not(Box::new(cond.clone())));
        }
        if self.exit == Exit::Falls && self.bound == Bound::Recursion {
            self.exit = Exit::Nothing;
        }
        self
    }
}

fn milliseconds() -> impl Strategy<Value = u32> {
    select(vec![100_u32, 250, 500, 1000, 2000, 3000])
}

fn bounds() -> impl Strategy<Value = Bound> {
    prop_oneof![
        3 => Just(Bound::Range),
        2 => Just(Bound::FromOne),
        2 => any::<bool>().prop_map(Bound::While),
        3 => select(vec![Bound::Counted(Cmp::Ge), Bound::Counted(Cmp::Gt), Bound::Counted(Cmp::Eq)]),
        2 => (select(vec![10_u32, 20, 30]), any::<bool>()).prop_map(|(seconds, inside)| Bound::Deadline(seconds, inside)),
        2 => any::<bool>().prop_map(Bound::Delays),
        2 => Just(Bound::Recursion),
        1 => Just(Bound::Endless),
    ]
}

fn waits() -> impl Strategy<Value = Wait> {
    prop_oneof![
        1 => Just(Wait::None),
        2 => milliseconds().prop_map(Wait::Fixed),
        1 => milliseconds().prop_map(Wait::Linear),
        3 => (milliseconds(), 0_u8..4).prop_map(|(base, spelling)| Wait::Power(base, spelling)),
        3 => (milliseconds(), 2_u32..4).prop_map(|(base, factor)| Wait::Growing(base, factor)),
        1 => proptest::collection::vec(milliseconds(), 2..5).prop_map(Wait::Listed),
    ]
}

fn failures() -> impl Strategy<Value = Failure> {
    let sort = || select(vec![Sort::Connect, Sort::Timeout, Sort::Both, Sort::Library, Sort::Everything]);
    prop_oneof![
        4 => sort().prop_map(Failure::Caught),
        2 => sort().prop_map(Failure::Raised),
        2 => Just(Failure::Status),
        2 => any::<bool>().prop_map(Failure::Helper),
    ]
}

fn plain_condition() -> impl Strategy<Value = Cond> {
    select(vec![
        Cond::In(vec![429, 503], Written::Here, false),
        Cond::In(vec![429, 500, 502, 503, 504], Written::Module, false),
        Cond::Compare(Cmp::Ge, 500),
        Cond::Class(Cmp::Eq, 5),
        Cond::ServerError,
        Cond::Compare(Cmp::Eq, 429),
        Cond::Either(Box::new(Cond::Compare(Cmp::Eq, 429)), Box::new(Cond::Compare(Cmp::Ge, 500))),
        Cond::Ranges(vec![(429, 429), (500, 599)]),
    ])
}

fn statuses() -> impl Strategy<Value = Statuses> {
    let good = || select(vec![Cond::Good, Cond::Compare(Cmp::Eq, 200), Cond::Compare(Cmp::Lt, 400)]);
    let fatal = || {
        select(vec![
            Cond::Both(Box::new(Cond::ClientError), Box::new(Cond::Compare(Cmp::Ne, 429))),
            Cond::In(vec![400, 401, 403, 404], Written::Module, false),
            Cond::Compare(Cmp::Lt, 429),
        ])
    };
    prop_oneof![
        4 => plain_condition().prop_map(Statuses::RetryIf),
        2 => good().prop_map(Statuses::GoodIf),
        2 => (good(), fatal()).prop_map(|(good, fatal)| Statuses::GoodOrFatal(good, fatal)),
        1 => condition::any().prop_map(Statuses::RetryIf),
    ]
}

/// Programs in one language.
pub fn any_in(language: Language) -> impl Strategy<Value = Program> {
    let numbers = select(vec![Number::Literal, Number::Constant, Number::Default]);
    let exits = select(vec![Exit::Raise, Exit::Nothing, Exit::False, Exit::Falls, Exit::Empty, Exit::BreakRaise]);
    let places = select(vec![Place::Handler, Place::Tail, Place::Top]);
    let jitters = prop_oneof![
        3 => Just(Jitter::None),
        1 => select(vec![100_u32, 500]).prop_map(Jitter::Added),
        1 => Just(Jitter::Scaled),
        1 => Just(Jitter::Full),
    ];
    let advice = prop_oneof![
        3 => Just(Advice::Ignored),
        2 => select(vec![Advice::Slept, Advice::Max, Advice::Min(5), Advice::Min(30), Advice::Dated, Advice::Guarded]),
    ];
    let shape = (bounds(), 2_u32..7, numbers, exits, places, any::<bool>(), any::<bool>());
    let pace = (waits(), proptest::option::of(select(vec![1500_u32, 4000, 10_000])), jitters);
    let outcome = (failures(), statuses(), advice);
    let request =
        (any::<[bool; 2]>(), select(vec!["get", "get", "post", "put"]), proptest::option::of(select(vec![3_u32, 10])));
    (shape, pace, outcome, request).prop_map(move |(shape, pace, outcome, request)| {
        let (bound, attempts, number, exit, place, skip_last, gives_up_inside) = shape;
        let (wait, ceiling, jitter) = pace;
        let (failure, statuses, advice) = outcome;
        let ([is_async, generated], method, timeout) = request;
        let is_async = is_async && language == Language::Rust;
        let generated = generated && language == Language::Python;
        Program {
            language,
            bound,
            attempts,
            number,
            wait,
            ceiling,
            jitter,
            place,
            skip_last,
            gives_up_inside,
            exit,
            failure,
            statuses,
            advice,
            generated,
            is_async,
            method,
            timeout,
        }
        .sound()
    })
}
