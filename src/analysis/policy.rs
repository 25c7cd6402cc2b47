//! A retry site and its policy: the facts that rules read and `inventory` prints. Plain data; no syntax in it.
//!
//! Times are in seconds. An *attempt* is one execution of the operation; retries are attempts less one.

use serde::{Deserialize, Serialize};

#[cfg(test)]
pub(crate) mod sample;

use super::status::StatusSet;
use crate::ir::FuncId;
use crate::source::Span;

/// Known, known not to be, or not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "lowercase")]
pub enum Known {
    /// It is so.
    Yes,
    /// It is not so.
    No,
    /// It could not be found out.
    #[default]
    Unknown,
}

/// The form that the repetition takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// A loop.
    Loop,
    /// A function calls itself from a failure path.
    Recursion,
    /// A second try in the failure path of the first.
    StraightLine,
    /// A decorator, macro or helper that calls again what it is given.
    Decorator,
    /// A client told to retry.
    ClientConfig,
    /// A task queue told to run a task again.
    TaskQueue,
}

/// What the repetition is for; decides which rules apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// The operation is repeated because it failed, and its success ends that.
    Retry,
    /// Waits for something to become ready: failures are swallowed until the answer is good.
    Probe,
    /// Asks until the answer is the wanted one; failures leave.
    Polling,
    /// Runs for ever on purpose (a daemon's reconnect or worker loop): success does not end it, and failures are
    /// swallowed. Bounds do not apply; pace does.
    Daemon,
    /// Was meant to repeat something, and never does: no retry at all (see [`Site::idle`]).
    Idle,
}

/// What is repeated.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Operation {
    /// The call as it stands in the source, shortened to one line (`self.session.post(url, …)`).
    pub text: String,
    /// Where it stands.
    pub span: Span,
    /// Path of the model's entry or of the callee (`requests.Session.post`), where it is known.
    pub model: Option<String>,
    /// Whether it leaves the process.
    pub remote: Known,
    /// HTTP method in capitals, where known.
    pub method: Option<String>,
    /// Whether a second execution changes nothing more.
    pub idempotent: Known,
    /// What it does, for messages, where it is no HTTP request ("sends a mail").
    pub effect: Option<String>,
    /// Address, if literal.
    pub target: Option<String>,
    /// A time limit on each attempt.
    pub timeout: Timeout,
    /// The key that makes a repetition harmless.
    pub key: Key,
    /// Passed in by the caller (a parameter, a closure from outside): a retry helper's own loop.
    pub passed_in: bool,
    /// Taken for a request because its answer is asked for a status: nothing else is known of it.
    pub likely: bool,
    /// Any request of a client whose setting is `text`.
    pub by_setting: bool,
}

/// A time limit on one attempt.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Timeout {
    /// So many seconds, where known.
    Set(Option<f64>),
    /// None: it can hang for ever.
    None,
    /// Out of sight.
    Unknown,
}

/// An idempotency key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Key {
    /// None is sent.
    None,
    /// One that stays the same over all attempts.
    Stable,
    /// Made anew for each attempt.
    PerAttempt,
    /// Headers or arguments that cannot be seen through.
    Unknown,
}

/// How a way of failing shows itself.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Cause {
    /// An exception or error value of one of these types (absolute paths; empty where not known).
    Exception {
        /// Their paths.
        classes: Vec<String>,
        /// `except Exception`, a bare `except`, `Err(_)`: whatever it is.
        everything: bool,
    },
    /// An answer with one of these statuses.
    Status(StatusSet),
    /// A value that the code takes as failure (`None`, `False`, a body that says error).
    Value,
    /// A cancellation, an interrupt, a shutdown.
    Interrupt,
    /// The operation (a session) ended normally and is begun again.
    Ended,
}

/// What bounds the number of attempts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Bound {
    /// Nothing.
    None,
    /// So many attempts, where the number is known.
    Count(Option<u32>),
    /// A deadline after so many seconds, where known.
    Deadline(Option<f64>),
    /// Both.
    Both(Option<u32>, Option<f64>),
    /// A parameter without default, or an iterator from outside.
    Caller,
    /// Only a stop flag or running attribute: not a bound.
    Flag,
    /// A counter or deadline that does not bound, and why (a clause such as "the 429 path never counts").
    Broken(String),
    /// Something that cannot be seen decides.
    Unknown,
}

/// An interval of seconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Wait {
    /// At least.
    pub low: f64,
    /// At most; infinite where there is no limit that can be seen.
    pub high: f64,
    /// There is a wait, but its length is not known (`low` and `high` then are guesses and not to be quoted).
    pub unknown: bool,
}

/// How waits grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum Pace {
    None,
    Fixed,
    Linear,
    Exponential,
    /// The server's advice.
    Server,
    Unknown,
}

/// What becomes of the server's `Retry-After`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum RetryAfter {
    /// No path on which it could matter (429 and 503 do not come back, or no response is at hand).
    NotApplicable,
    /// A response with 429 or 503 comes back, is at hand, and the header is not read.
    Ignored,
    /// What comes back may stand for a 429 or 503 (an error of a client of an HTTP API), and nothing asks how long the
    /// server wants to be left alone.
    OutOfReach,
    /// The header is lost before the handler sees it (where, and by what call).
    Lost(Span),
    /// Slept in full, or the retry is declined where it is too long.
    Honoured,
    /// Lowered (to at most so many seconds, where known), and the request sent before the wait is over.
    Shortened {
        /// The ceiling.
        ceiling: Option<f64>,
        /// Where it is lowered.
        at: Span,
    },
    /// It cannot be seen what becomes of it.
    Unknown,
}

/// What an HTTP-date in `Retry-After` does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum DateForm {
    /// Handled, or not applicable.
    Fine,
    /// Raises in the failure path (an exception nobody handles, or one that ends the retry).
    Breaks(Span),
    /// Is dropped: another wait is taken instead.
    Dropped(Span),
}

/// What the caller gets after the last attempt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Exhaustion {
    /// Never happens.
    Never,
    /// An exception or `Err`.
    Raises,
    /// A declared failure value (`None` with `Optional`, `False`, the failed response, a logged `return None`).
    FailureValue,
    /// The function ends without a value although it gives one on success (where).
    FallsOff(Span),
    /// A default that looks like data (where, as it stands in the source).
    DefaultValue(Span, String),
    /// The loop is left and the code goes on as if nothing had happened.
    GoesOn(Span),
    /// Not known.
    Unknown,
}

/// A step of a failure path, for labels and code flows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Where.
    pub span: Span,
    /// A few words: "fails with a timeout", "waits 1 to 2 s", "back to the loop".
    pub text: String,
}

/// One way from a failure of the operation back to it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FailurePath {
    /// Which of the site's operations fails on it.
    pub operation: usize,
    /// The failure.
    pub cause: Cause,
    /// What bounds it if the operation keeps failing in this way.
    pub bound: Bound,
    /// Attempts in all, if it keeps failing in this way.
    pub attempts: Option<u32>,
    /// The waits before attempt 2, 3, …, as far as they were evaluated (at most 64).
    pub waits: Vec<Wait>,
    /// How they grow.
    pub pace: Pace,
    /// Drawn at random, at least in part.
    pub jitter: bool,
    /// The wait after the last attempt, before giving up.
    pub wait_after_last: Option<(Wait, Span)>,
    /// Where the arithmetic of the wait comes to the end of its numbers.
    pub overflow: Option<Overflow>,
    /// Where the (last) wait stands.
    pub wait_span: Option<Span>,
    /// The wait blocks the thread inside async code.
    pub blocks_executor: bool,
    /// What failed was mended on the way (a refreshed credential, a folder made).
    pub repaired: bool,
    /// New input on this path (a redirect's address, the rest of a batch): not the same request.
    pub new_input: bool,
    /// A layer further in has already repeated what fails on this path: the answers and headers are its affair.
    pub inner: bool,
    /// Those classes of the cause that are raised before anything was sent, or as a refusal: after them, a repetition
    /// does nothing twice.
    pub before_send: Vec<String>,
    /// The failure is that a time limit was over: that was a wait by itself.
    pub elapsed: bool,
    /// The answer was a good one, and the code asks again because of what stands in it (a text that does not parse, a
    /// state that is not the wanted one).
    pub good_answer: bool,
    /// What becomes of Retry-After.
    pub retry_after: RetryAfter,
    /// And of one that is a date.
    pub retry_after_date: DateForm,
    /// What leaves after the last attempt.
    pub exhaustion: Exhaustion,
    /// Step by step.
    pub steps: Vec<Step>,
    /// Something that outlives the attempts has a say in whether there is another one, or keeps count of them: a budget, a
    /// breaker, a flag. Whoever else comes here may share it.
    pub shared: bool,
    /// Something that cannot be seen through picks, by the answer, which failures are repeated: the cause names all that
    /// it may pick from.
    pub picked: bool,
    /// Some step rests on a guess (an unknown callee decides, exploration was cut).
    pub uncertain: bool,
}

/// Arithmetic that overflows on the way to a wait.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Overflow {
    /// The attempt before which it happens.
    pub attempt: u32,
    /// About so many seconds of waiting after the first failure, where the waits are known.
    pub after: Option<f64>,
    /// The wait has a ceiling, which is taken of what has overflowed.
    pub held: bool,
    /// The sort of number, by the name of its type ("u32", "float", "span of time").
    pub sort: String,
    /// What comes of it.
    pub outcome: Overrun,
    /// Where.
    pub span: Span,
}

/// What comes of a number that is too great for its sort.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Overrun {
    /// An exception of this class.
    Raises(String),
    /// A panic, in any build.
    Panics,
    /// It goes on from the other end, with this number where that is known; where it is checked, a build with checks
    /// panics instead.
    Wraps {
        /// Checked in some builds.
        checked: bool,
        /// The number after it.
        to: Option<f64>,
    },
    /// A shift by as many bits as there are: a panic in a build with checks, in others a shift by none.
    Turns,
}

/// One way in which the operation's answer leaves the loop.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Exit {
    /// The statuses of the answer, where it has one.
    pub statuses: Option<StatusSet>,
    /// What leaves.
    pub kind: ExitKind,
    /// Where.
    pub span: Span,
}

/// How an answer leaves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExitKind {
    /// The response itself, unread.
    Response,
    /// A parsed body, `True`, a default, or nothing where success gives nothing either: error statuses among
    /// `statuses` are passed off as success.
    Value,
    /// A value that says failure (`None`, `False`, `Err`, an exception).
    Failure,
    /// Leaves the loop for the code behind it, which was not followed.
    Elsewhere,
}

/// Something that is no failure of the operation, and comes back to it all the same.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Swallowed {
    /// What it is (paths of classes; empty: a cancellation that was waited for).
    pub classes: Vec<String>,
    /// Others of its sort are let out by a policy that a library runs.
    pub spared: bool,
    /// Step by step.
    pub steps: Vec<Step>,
}

/// A place where an operation is repeated because it failed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Site {
    /// The function that it stands in.
    pub function: FuncId,
    /// Its qualified name.
    pub function_name: String,
    /// The function is async.
    pub in_async: bool,
    /// In test code: listed, never reported.
    pub in_test: bool,
    /// Form.
    pub form: Form,
    /// Role.
    pub role: Role,
    /// The whole loop, decorator or call.
    pub span: Span,
    /// What a finding marks: the loop's header, the decorator, the recursive call.
    pub header: Span,
    /// What is repeated. The first is the one of record.
    pub operations: Vec<Operation>,
    /// The ways back to the operation. Empty for a daemon or poll whose failures leave.
    pub failures: Vec<FailurePath>,
    /// The ways in which an answer leaves.
    pub exits: Vec<Exit>,
    /// Statuses that come back to the operation.
    pub retried_statuses: StatusSet,
    /// The bound over all failure paths (the weakest).
    pub bound: Bound,
    /// Attempts in all, however they fail, where every path has a known number: the greatest, or more where failures of
    /// different kinds have counts of their own.
    pub max_attempts: Option<u32>,
    /// Ceiling of a growing wait, in seconds.
    pub delay_ceiling: Option<f64>,
    /// Interrupts and cancellations that come back to the operation.
    pub interrupts: Option<Swallowed>,
    /// Mistakes in the code (a wrong type, a missing attribute) that come back to the operation.
    pub defects: Option<Swallowed>,
    /// The wait that an earlier outage leaves behind in a long-lived loop.
    pub unreset: Option<Unreset>,
    /// Where a body that an attempt uses up was made, and its operation sends it again.
    pub used_up: Option<UsedUp>,
    /// The items that are all asked for again because one of them failed.
    pub batch: Option<Batch>,
    /// Why nothing is ever repeated, or not on a failure that the code names.
    pub idle: Option<Idle>,
    /// The recursive call whose value does not reach the caller.
    pub lost_result: Option<LostResult>,
    /// The layers that multiply, this site's own first.
    pub layers: Vec<Layer>,
    /// Executions of the operation that one call becomes while the fault lasts: the product of the layers, where all
    /// are known.
    pub amplification: Option<u32>,
    /// Another site of the run has it below it as one of its layers.
    pub inner: bool,
    /// Tasks that run at once and come to it, each for itself.
    pub tasks: Option<Tasks>,
    /// The longest that the layers in the project's own code wait in all, in seconds, where that is known.
    pub layered_wait: Option<f64>,
    /// Which of the operations the layers repeat.
    pub multiplied: usize,
    /// What leads from here to the operations and back, besides the steps of the failure paths.
    pub links: Vec<Link>,
    /// The work of the analysis was cut short.
    pub cut: bool,
    /// The loop stands elsewhere, in a helper that is a site of its own: this one is what is brought in to it.
    pub helper: Option<Helper>,
    /// The version of a library that its policy holds in, and who says that it is that one, where it is not the same in
    /// all versions.
    pub version: Option<String>,
}

/// The loop of a retry helper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Helper {
    /// Index of its file.
    pub file: u32,
    /// Its header.
    pub header: Span,
}

/// A place in some file of the run, on the way from a site to its operation and back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Link {
    /// Index of the file.
    pub file: u32,
    /// The place.
    pub span: Span,
}

/// A wait that a success does not set back, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Unreset {
    /// Before the second attempt of the first outage.
    pub first: f64,
    /// The same in the next outage.
    pub kept: f64,
}

/// A collection that is gone through again as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Batch {
    /// The loop over its items.
    pub span: Span,
}

/// Several tasks that run at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tasks {
    /// The call that lets them run.
    pub at: Link,
    /// How many run at once, where that is known: more than one.
    pub count: Option<u32>,
}

/// A repetition that never comes about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Idle {
    /// Why.
    pub why: IdleWhy,
    /// Where that shows.
    pub span: Span,
}

/// Why a repetition never comes about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum IdleWhy {
    /// There is one attempt in all.
    Once,
    /// Success and every failure leave in the first turn.
    Leaves,
    /// The failures that are looked for (paths of classes; empty where a function says which) are none that the
    /// operation can have.
    Never(Vec<String>),
    /// What is run is a coroutine's making, which never fails: nobody that repeats awaits it.
    Unawaited,
    /// Nothing is asked of the addresses for which it was told to repeat; what is asked is this one.
    Elsewhere(String),
    /// All that is asked is by this method, which the policy leaves out: only where no connection was made is it sent
    /// again.
    Method(String),
    /// A handler of the first class stands behind one of the second, which takes all of the first.
    Shadowed(String, String),
}

/// A body that the first attempt reads to its end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UsedUp {
    /// What makes it ("open").
    pub what: String,
    /// The call that sends it.
    pub span: Span,
}

/// A repetition whose result nobody gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LostResult {
    /// The call.
    pub span: Span,
    /// It is awaited, or need not be; else it never runs where it should.
    pub runs: bool,
}

/// One of several layers that repeat the same operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layer {
    /// Executions that one becomes; 0 where that is not known.
    pub factor: u32,
    /// What it is, in a few words ("the loop in `fetch`", "the default of openai 3.x").
    pub text: String,
    /// Where it stands, in whichever file; `None` for a library's default.
    pub at: Option<Link>,
    /// Made by the project's own code; else a library's default.
    pub explicit: bool,
    /// A library runs it, and waits as long as `Retry-After` says.
    pub follows_advice: bool,
    /// The library that runs it, where one does.
    pub library: Option<String>,
    /// What switches it off, where that is an argument ("max_retries=0").
    pub off: Option<String>,
    /// Whether it repeats what comes back here is a guess: a library's default, around which the code itself picks the
    /// failures that it repeats.
    pub guessed: bool,
}

impl FailurePath {
    /// The cause less what is raised before anything was sent; `None` where nothing is left of it.
    #[must_use]
    pub fn cause_once_sent(&self) -> Option<Cause> {
        let Cause::Exception { classes, everything } = &self.cause else { return Some(self.cause.clone()) };
        let sent: Vec<String> = classes.iter().filter(|class| !self.before_send.contains(class)).cloned().collect();
        let nothing = sent.is_empty() && !classes.is_empty() && !everything;
        (!nothing).then_some(Cause::Exception { classes: sent, everything: *everything })
    }
}

impl Site {
    /// The operation of record.
    #[must_use]
    pub fn operation(&self) -> Option<&Operation> {
        self.operations.first()
    }
}
