//! What is known about libraries, as data: one TOML file a library, in `rules/models/<language>/`, and files of the
//! same form that users add.
//!
//! A file is a list of entries. Each entry names callables, attributes or types, and says with one word of a closed
//! vocabulary ([`Kind`]) what they are; the other keys say which parameter carries what. Nothing in the analysis knows
//! a library by name: it asks [`Models`] for a path or for a method of a type.
//!
//! Invariant: the vocabulary is closed. A word that the loader does not know is an error with file, line and key.

pub mod builtin;
pub mod load;
pub mod lookup;
pub mod own;
pub mod versions;
mod vocabulary;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::source::Language;

pub use load::{ModelError, parse};
pub use lookup::{AllModels, Library, Models, TypeMethod};

/// One model file.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ModelFile {
    /// The library's name, as it is imported.
    pub library: String,
    /// The version that was read; may be absent where a library has none.
    #[serde(default)]
    pub version: String,
    /// What it sends again by itself waits as long as `Retry-After` says.
    #[serde(default)]
    pub follows_retry_after: bool,
    /// The answers that it sends a request again after by itself, as `"429,500-599"`; absent where that is not told.
    #[serde(default)]
    pub default_statuses: Option<String>,
    /// The package by whose version the ranges of its entries go, as lock files name it; absent: as `library`.
    #[serde(default)]
    pub package: Option<String>,
    /// Its language; may be absent where the file stands in a folder of that name.
    #[serde(default)]
    pub language: Option<Language>,
    /// Where the facts stand: files of the library's source, pages of its documentation.
    #[serde(default)]
    pub sources: Vec<String>,
    /// Import paths that belong to the library (`requests`, `tokio::time`): for duck typing by what a file imports.
    #[serde(default)]
    pub imports: Vec<String>,
    /// Named lists of paths that recur: `raises = ["@network", …]` stands for all of the list `network`.
    #[serde(default)]
    pub groups: BTreeMap<String, Vec<String>>,
    /// What it is.
    #[serde(default, rename = "entry")]
    pub entries: Vec<Entry>,
    /// Executed as tests: each must yield exactly what it says.
    #[serde(default, rename = "example")]
    pub examples: Vec<Example>,
}

/// A small program, and what the inventory must say of the first site in it.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Example {
    /// The program's text.
    pub code: String,
    /// Facts of the inventory that must hold of the first site (`method = "POST"`, `timeout = "none"`, …), as strings.
    #[serde(default)]
    pub site: BTreeMap<String, toml::Value>,
    /// Rules that must be reported somewhere in it, and no others.
    #[serde(default)]
    pub findings: Vec<String>,
    /// The versions of packages that the program has, as a lock file would say.
    #[serde(default)]
    pub versions: BTreeMap<String, String>,
    /// The line of its file that it begins on; filled in by the loader.
    #[serde(skip)]
    pub line: usize,
}

/// The closed vocabulary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A type, made by calling one of `functions` (Python: the class itself; Rust: constructors). See `gives`,
    /// `timeout`, `headers`. As a method (`build` of a builder) it makes the type from its receiver, and what was set on
    /// the receiver holds for it.
    Type,
    /// Sends a request (or runs a remote operation) when called (when awaited, if `async`).
    Request,
    /// Makes a request that is sent later (a builder): `gives` the builder's type; `verb`, `url` as for `request`. As a
    /// method of a builder of requests (`build`), it gives the same request in another type.
    Prepare,
    /// A method of a builder or client that sets one thing and gives the receiver: see `sets`.
    Set,
    /// A remote operation other than an HTTP request: see `effect`, `idempotent`.
    Effect,
    /// An attribute or method that reads the status of a response as a number (or a status object).
    Status,
    /// An attribute or method that is true exactly for `statuses`.
    StatusTest,
    /// Raises (or gives `Err`) on `statuses`, else gives the response.
    RaiseForStatus,
    /// An attribute or method that gives the headers of a response or of an exception.
    Headers,
    /// Reads one header by name (parameter `key`).
    HeaderRead,
    /// Gives the response that an exception carries.
    ExceptionResponse,
    /// Reads the body of a response (may take long, may fail on the way; never a new request).
    Body,
    /// Waits: parameter `amount` in `unit`.
    Sleep,
    /// Waits for something, at most `amount` in `unit` (an event, a queue, a condition); without it, without limit.
    WaitFor,
    /// Reads a clock, in `unit`.
    Clock,
    /// Time since the receiver was made (`Instant::elapsed`).
    Elapsed,
    /// A random number between `low` and `high` (parameters or numbers).
    Random,
    /// A span of time made from `amount` in `unit` (with `parts` added up where `amount` is absent), or, as a method or
    /// attribute, its reading as a number in `unit`. A time-limit object of a client is one too.
    Duration,
    /// Arithmetic that the analysis evaluates: see `function`.
    Math,
    /// Parses text to a number; raises or gives `Err` on anything else (an HTTP-date).
    ParseNumber,
    /// Parses an HTTP-date.
    ParseDate,
    /// An exception or error type with its `bases`.
    Exception,
    /// A method or attribute of an error that is true exactly for errors of the classes `raises` (`Error::is_timeout`).
    ErrorTest,
    /// Purely local work: never leaves the process and never decides about a retry. `functions` may end in `*`.
    Local,
    /// Every call of the library goes over the network, unless another entry says otherwise. `functions` end in `*`.
    Remote,
    /// Gives its receiver (or first argument) again: clones, references, conversions.
    Transparent,
    /// Limits the time of a future (parameter `future`) or, as a context manager, of a block: `amount` in `unit`.
    TimeLimit,
    /// A context manager that swallows the exceptions that it is given.
    Suppress,
    /// Runs the callables, futures or coroutines among its arguments (gather, spawn, to_thread, executors).
    Runs,
    /// Lets several callables or futures run at once: all that it is given (gather, `join_all`), or one more a call (spawn,
    /// submit). Said beside what the same call is otherwise; with `amount`, at most so many at once (as a pool's
    /// constructor: of what its methods run).
    Crowd,
    /// The last part of an address (`names`, with a leading slash) where a POST asks and changes nothing: a query, a search,
    /// a token, a completion.
    QueryPath,
    /// Gives something new at each call (takes from a queue, reads from a stream, accepts, asks a person): new work for
    /// an iteration. What it takes from is its receiver or `container`; where `key` is a number or absent it takes an
    /// item, else it looks one up. With `amount`, `blocking` or `async` it waits for the item. `gives = "Option"`, or
    /// `result`, says in what the item is wrapped; `into` is a variable that receives it.
    Source,
    /// Puts `value` into its receiver or `container`, from which a `source` takes it again.
    Put,
    /// Reads what whoever runs the program may set and need not (an environment variable): `value` is the parameter that
    /// says what holds where it is not set, and what the analysis goes by.
    Setting,
    /// A flag by which somebody else ends a loop: a stop event, a cancellation token.
    StopFlag,
    /// Gives a fresh value at each call (a random identifier): what a key must not be, if made for each attempt.
    Fresh,
    /// Ends the process or the task.
    Exit,
    /// An endless iterator (`count`, `repeat`).
    EndlessIterator,
    /// Gives a result derived from its receiver or argument, for which truth, emptiness and failure carry over: see
    /// `function` (`ok`, `json`, `text`).
    Derive,
    /// A constant that stands for one status (`StatusCode::TOO_MANY_REQUESTS`): see `statuses`.
    StatusConstant,
    /// A constant that is a text (the name of a header): see `value-text`.
    TextConstant,
    /// A constant that is a number (or a span of time, in `unit`): see `number`.
    NumberConstant,
    /// Makes a decorator of a function: one that is given the decorated function before its arguments, with the further
    /// parameters of its own in between.
    Decorator,
    /// A retry policy or a piece of one (a stop, a wait, a condition): `function` says which, `takes` which parameter
    /// is what.
    Retry,
}

impl Kind {
    /// Whether what is called so begins or is a remote operation.
    #[must_use]
    pub fn leaves_process(self) -> bool {
        matches!(self, Kind::Request | Kind::Prepare | Kind::Effect | Kind::Remote | Kind::RaiseForStatus)
    }
}

/// The words for all kinds.
pub fn kinds() -> impl Iterator<Item = &'static str> {
    vocabulary::WORDS.iter().map(|word| word.word)
}

/// What a parameter of a `retry` entry can be.
pub const TAKES: &[&str] = &[
    "attempts",
    "limit",
    "stop",
    "wait",
    "when",
    "unless",
    "jitter",
    "callback",
    "raises",
    "bare",
    "amount",
    "step",
    "low",
    "high",
    "base",
    "classes",
    "value",
    "call",
    "result",
    "connects",
    "reads",
    "answers",
    "statuses",
    "methods",
    "advice",
    "more",
    "adjust",
    "factor",
    "on-failure",
    "on-wait",
];

/// What a `retry` entry can be, as `function`.
pub const PIECES: &[&str] = &[
    "policy",
    "run",
    "with",
    "again",
    "judge",
    "stop-attempts",
    "stop-delay",
    "stop-never",
    "stop-any",
    "stop-all",
    "wait-none",
    "wait-fixed",
    "wait-random",
    "wait-linear",
    "wait-exponential",
    "wait-exponential-full",
    "wait-exponential-added",
    "wait-grown",
    "wait-fibonacci",
    "wait-spread",
    "wait-sum",
    "wait-chain",
    "wait-computed",
    "next-wait",
    "begin-again",
    "when-exception",
    "when-not-exception",
    "when-call",
    "when-result",
    "when-not-result",
    "when-false",
    "when-any",
    "when-all",
    "when-always",
    "when-never",
    "when-variant",
    "when-unknown",
    "jitter-full",
    "jitter-added",
    "jitter-grown",
    "jitter-doubled",
    "jitter-around",
    "jitter-none",
    "state-attempt",
    "state-outcome",
    "state-error",
    "state-result",
    "state-elapsed",
];

/// How a library counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Counts {
    /// All attempts.
    Total,
    /// Those after the first.
    Retries,
}

/// What leaves after the last attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Exhausted {
    /// The exception (or one that stands for it).
    Raises,
    /// `None`.
    Nothing,
    /// The last result; an exception where there is none.
    Last,
}

/// Where an exception can be raised whatever is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Occurs {
    /// At any call.
    Call,
    /// At any await.
    Await,
    /// At any call, by a mistake in the code.
    Defect,
    /// In arithmetic whose result is too great for a floating-point number or a span of time.
    Overflow,
}

/// What a `set` entry sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sets {
    /// A time limit over the whole call or over reading (parameter `amount`).
    Timeout,
    /// A limit on connecting only.
    ConnectTimeout,
    /// One header: parameters `key` and `value`.
    Header,
    /// Many headers: parameter `value`.
    Headers,
    /// The body: parameter `value`.
    Body,
    /// How often a request is sent again: parameter `value`, a number or a thing that carries one.
    Retries,
    /// Query, form, authentication: nothing that matters here.
    Other,
    /// Statuses of 400 and above are no longer raised (`amount` false).
    StatusAsError,
    /// What carries requests out: parameter `value`. One of the project's own may set any limit.
    Adapter,
    /// The time limit of whatever in the process is given none.
    DefaultTimeout,
}

/// A parameter, by name, position or both; position counts from 0, the receiver not among them.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ParamRef {
    /// Keyword.
    #[serde(default)]
    pub name: Option<String>,
    /// Position.
    #[serde(default)]
    pub position: Option<usize>,
    /// A number taken where the parameter is absent.
    #[serde(default)]
    pub default: Option<toml::Value>,
    /// The keyword that it had in former versions.
    #[serde(default)]
    pub former: Option<String>,
}

/// One of several amounts that make up a span of time.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Part {
    /// Keyword.
    #[serde(default)]
    pub name: Option<String>,
    /// Position.
    #[serde(default)]
    pub position: Option<usize>,
    /// Its unit.
    pub unit: Unit,
}

/// A unit of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize, Serialize, Default)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum Unit {
    Nanoseconds,
    Microseconds,
    Milliseconds,
    #[default]
    Seconds,
    Minutes,
    Hours,
    Days,
    Weeks,
    /// A value that carries its own unit (a duration, a timedelta): held in seconds.
    Duration,
    /// A point in time on the same clock, in seconds.
    Instant,
}

impl Unit {
    /// Seconds in one unit.
    #[must_use]
    pub fn seconds(self) -> f64 {
        match self {
            Unit::Nanoseconds => 1e-9,
            Unit::Microseconds => 1e-6,
            Unit::Milliseconds => 1e-3,
            Unit::Seconds | Unit::Duration | Unit::Instant => 1.0,
            Unit::Minutes => 60.0,
            Unit::Hours => 3600.0,
            Unit::Days => 86400.0,
            Unit::Weeks => 604_800.0,
        }
    }
}

/// What is known of a time limit where the call itself sets none.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize)]
#[serde(untagged)]
pub enum DefaultTimeout {
    /// So many seconds.
    Seconds(f64),
    /// `false`: none at all, a call can hang for ever.
    None(bool),
}

/// One entry. Which keys go with which kind is checked when the file is loaded.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Entry {
    /// What it is.
    pub kind: Kind,
    /// Absolute paths of functions, classes, constants; a final `*` stands for any rest.
    #[serde(default)]
    pub functions: Vec<String>,
    /// With `names`: types whose methods or attributes these are. `*` is any type (use sparingly: for names that no
    /// other library gives another meaning). A name that begins with `?` stands for what has no known type: a `request`
    /// of such a type is any unknown call whose answer is asked for one of `names` (with `statuses`: only where what is
    /// read is held against one of them).
    #[serde(default)]
    pub types: Vec<String>,
    /// Names of methods or attributes of `types`.
    #[serde(default)]
    pub names: Vec<String>,
    /// The type that a call gives (for `type`: defaults to the first of `functions`, the others then being other paths
    /// of the same type).
    #[serde(default)]
    pub gives: Option<String>,
    /// `type` with `gives`, `exception`: other paths of the same type.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// `request`, `prepare`: the method, fixed.
    #[serde(default)]
    pub verb: Option<String>,
    /// `request`, `prepare`: the method is the callable's own name in capitals.
    #[serde(default)]
    pub verb_is_name: bool,
    /// `request`, `prepare`: the parameter that names the method (a text, or a constant whose last part is the method).
    #[serde(default)]
    pub verb_param: Option<ParamRef>,
    /// The method where the body parameter is given, else GET (`urlopen`).
    #[serde(default)]
    pub verb_with_body: Option<String>,
    /// The parameter that may hold a request made before (`session.send(prepared)`, `urlopen(Request(…))`), which then
    /// says method, address, headers and body.
    #[serde(default)]
    pub prepared: Option<ParamRef>,
    /// The parameter with the address.
    #[serde(default)]
    pub url: Option<ParamRef>,
    /// The parameter with the headers.
    #[serde(default)]
    pub headers: Option<ParamRef>,
    /// Parameters with the body.
    #[serde(default)]
    pub body: Vec<ParamRef>,
    /// The parameter with the time limit.
    #[serde(default)]
    pub timeout: Option<ParamRef>,
    /// The time limit where neither the call nor its client sets one; absent: not known.
    #[serde(default)]
    pub default_timeout: Option<DefaultTimeout>,
    /// What it raises (or gives as `Err`) by itself, apart from statuses.
    #[serde(default)]
    pub raises: Vec<String>,
    /// `raise-for-status`: what it raises. `request` that raises on a status by itself: that too, with `statuses`.
    #[serde(default)]
    pub status_error: Option<String>,
    /// `type`, `request`: the parameter that, where true, makes an error status raise (a client that was told to).
    #[serde(default)]
    pub raises_on_status: Option<ParamRef>,
    /// A failure is a value (`Err`), not an exception.
    #[serde(default)]
    pub result: bool,
    /// Happens when awaited (or entered with `async with`), not when called.
    #[serde(default, rename = "async")]
    pub is_async: bool,
    /// Of a method that any value may have: it is this one only where what it gives is awaited.
    #[serde(default)]
    pub awaited: bool,
    /// Statuses as text: `"400-599"`, `"200-299,304"`. Of a `type`: those for which a value of it counts as true
    /// (`if response:`); without it every value does.
    #[serde(default)]
    pub statuses: Option<String>,
    /// The failure no longer carries the response, so that headers are lost.
    #[serde(default)]
    pub loses_response: bool,
    /// Names of the header, effect or builder key: parameter. `source`: which item is taken.
    #[serde(default)]
    pub key: Option<ParamRef>,
    /// `source`, `put`: the parameter that is taken from or put into, where it is not the receiver.
    #[serde(default)]
    pub container: Option<ParamRef>,
    /// `source`: the parameter that receives what is taken.
    #[serde(default)]
    pub into: Option<ParamRef>,
    /// `set`, `put`: the value. `transparent`: the argument that is given again, where that is not the receiver or the first one.
    #[serde(default)]
    pub value: Option<ParamRef>,
    /// An amount of time, a number. `effect` with a `policy`: the time limit over all its attempts.
    #[serde(default)]
    pub amount: Option<ParamRef>,
    /// The unit of `amount` (or of what a clock gives).
    #[serde(default)]
    pub unit: Unit,
    /// `duration`, `math`: greater numbers (of seconds, for a `duration`) make it fail, or overflow.
    #[serde(default)]
    pub greatest: Option<f64>,
    /// The sort of number that it takes (`duration`: as `amount`) or gives (`random`), by the name of the type.
    #[serde(default)]
    pub sort: Option<String>,
    /// `duration`: the sort of number that such a span is multiplied with.
    #[serde(default)]
    pub factor: Option<String>,
    /// `duration`: further amounts, each in its unit (`timedelta(minutes=, hours=)`).
    #[serde(default)]
    pub parts: Vec<Part>,
    /// `random`: lower end.
    #[serde(default)]
    pub low: Option<ParamRef>,
    /// `random`: upper end.
    #[serde(default)]
    pub high: Option<ParamRef>,
    /// `time-limit`: the future.
    #[serde(default)]
    pub future: Option<ParamRef>,
    /// `set`: what.
    #[serde(default)]
    pub sets: Option<Sets>,
    /// `set`: the receiver itself is changed, and nothing is given.
    #[serde(default)]
    pub in_place: bool,
    /// `math`, `derive`: the function (`min`, `max`, `pow`, `int`, `abs`, `len`, `round`, `clamp`, `saturating-mul`, …).
    #[serde(default)]
    pub function: Option<String>,
    /// `effect`: in a few words, for messages ("sends a mail").
    #[serde(default)]
    pub effect: Option<String>,
    /// `effect`, `request`: whether a second execution changes nothing more; absent: not known.
    #[serde(default)]
    pub idempotent: Option<bool>,
    /// `exception`, `type`: the classes above it.
    #[serde(default)]
    pub bases: Vec<String>,
    /// `exception`: raised before anything was sent, or as a refusal, so that a repetition does nothing twice.
    #[serde(default)]
    pub before_send: bool,
    /// `exception`: raised only when a time limit is over (or the kernel's own), which is a wait by itself.
    #[serde(default)]
    pub elapsed: bool,
    /// `exception`: the way to somebody outside the process was lost, or never found.
    #[serde(default)]
    pub severed: bool,
    /// `exception`: about what stands in an answer, or a slip of the program; no sign of a server in trouble.
    #[serde(default)]
    pub content: bool,
    /// The state has moved on since it was read: what is tried again is computed anew (exception).
    #[serde(default)]
    pub conflict: bool,
    /// `exception`, `stop-flag`: a cancellation or interrupt.
    #[serde(default)]
    pub interrupt: bool,
    /// `exception`: at which calls it can be raised, whatever is called.
    #[serde(default)]
    pub occurs: Option<Occurs>,
    /// `exception`: statuses that it stands for, where its class says so.
    #[serde(default)]
    pub stands_for: Option<String>,
    /// `remote`: it asks an HTTP API, so that what it raises may be the server's refusal for a while (429, 503).
    /// `exception`: it is raised for the answers of one.
    #[serde(default)]
    pub http: bool,
    /// `local`: what it gives is used up by being read or sent once.
    #[serde(default)]
    pub used_up: bool,
    /// `crowd`: it calls what it is given once for each item of something.
    #[serde(default)]
    pub each: bool,
    /// `crowd`: what it makes for each item runs only where something else lets it.
    #[serde(default)]
    pub lazy: bool,
    /// `crowd`: what it runs is in its receiver.
    #[serde(default)]
    pub of_receiver: bool,
    /// `crowd`: methods of what it gives that wait for its end.
    #[serde(default)]
    pub ends: Vec<String>,
    /// Blocks the thread.
    #[serde(default)]
    pub blocking: bool,
    /// Retries that the library makes by itself by default (beyond the first attempt).
    #[serde(default)]
    pub default_retries: Option<u32>,
    /// Parameter that sets the number of retries.
    #[serde(default)]
    pub retries: Option<ParamRef>,
    /// `retry`: its parameters, by what they are ([`TAKES`](crate::models::TAKES)).
    #[serde(default)]
    pub takes: BTreeMap<String, ParamRef>,
    /// `retry`: attempts are counted in all (`total`, which is what holds where nothing is said) or after the first
    /// (`retries`).
    #[serde(default)]
    pub counts: Option<Counts>,
    /// `retry`: a number of attempts below this is no limit.
    #[serde(default)]
    pub endless_below: Option<f64>,
    /// `retry`: what the waits of a policy are that are given as numbers, by the word of a wait.
    #[serde(default)]
    pub pace: Option<String>,
    /// `retry`: what leaves after the last attempt.
    #[serde(default)]
    pub exhausted: Option<Exhausted>,
    /// `retry`: the class in which the last error leaves, unless the argument `bare` says that it leaves as it is.
    #[serde(default)]
    pub wraps: Option<String>,
    /// `retry`: its further keyword arguments go to the piece that it is given (`on_exception(expo, E, max_value=60)`).
    #[serde(default)]
    pub passes_on: bool,
    /// `retry`: the type of what a callable among its pieces is given instead of the failure (`RetryCallState`).
    #[serde(default)]
    pub state: Option<String>,
    /// `retry`: the call that is made again by whoever is given this policy, by the path of its entry (a path without one
    /// is a call of which nothing is known). To make such a policy, or to attach it, is a client's setting.
    #[serde(default)]
    pub repeats: Option<String>,
    /// `type`, `effect`: it repeats by itself by this policy (the path of a `retry` entry), of which `retries` is the number, or
    /// which it is given as `retries`.
    #[serde(default)]
    pub policy: Option<String>,
    /// `retry`: statuses that are tried again only where the answer says when.
    #[serde(default)]
    pub advised: Option<String>,
    /// `retry`: statuses that are tried again whatever list it is given.
    #[serde(default)]
    pub besides: Option<String>,
    /// `retry`: so many further attempts are made at once, before the waits begin.
    #[serde(default)]
    pub at_once: u32,
    /// `retry`: the power of its base by which a growing wait is multiplied before the second attempt.
    #[serde(default)]
    pub power: u32,
    /// `retry`: a growing wait ends at so many times the first one, where no other end is given.
    #[serde(default)]
    pub ceiling: Option<f64>,
    /// `retry`: parts without which it repeats nothing: they must be given, and not be `False`, `None` or nought.
    #[serde(default)]
    pub needs: Vec<String>,
    /// `retry`: its waits, each with arguments of its own, by the paths of their entries: the first holds that has what
    /// it needs.
    #[serde(default)]
    pub waits: Vec<String>,
    /// `retry`: the class that a task raises to be run again.
    #[serde(default)]
    pub again: Option<String>,
    /// `retry`: methods by which a class that is made of it decides for itself.
    #[serde(default)]
    pub hooks: Vec<String>,
    /// `retry`: such methods that decide no more than how long it waits.
    #[serde(default)]
    pub paces: Vec<String>,
    /// `retry`: the method, given the request's method and the answer's status, that decides no more than whether an
    /// answer is tried again.
    #[serde(default)]
    pub judge: Option<String>,
    /// `retry`: it is told to a queue, which runs the whole task again.
    #[serde(default)]
    pub queue: bool,
    /// The first version in which it holds; absent: from the first.
    #[serde(default)]
    pub since: Option<String>,
    /// The first version in which it no longer holds; absent: to the newest.
    #[serde(default)]
    pub until: Option<String>,
    /// The package by whose version that goes, where it is not that of the file.
    #[serde(default)]
    pub package: Arc<str>,
    /// `text-constant`: the text.
    #[serde(default)]
    pub value_text: Option<String>,
    /// `number-constant`: the number.
    #[serde(default)]
    pub number: Option<f64>,
    /// A remark with the source of the fact.
    #[serde(default)]
    pub note: Option<String>,
    /// The library that says so; filled in by the loader.
    #[serde(skip)]
    pub library: Arc<str>,
    /// The line of its file that it begins on; filled in by the loader.
    #[serde(skip)]
    pub line: usize,
    /// Its file, by the place of the library in [`Models::libraries`]; filled in by the loader.
    #[serde(skip)]
    pub file: usize,
}
