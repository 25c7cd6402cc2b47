//! How a run of the machine goes: what fails in it and how, and where it ends.

use std::rc::Rc;

use super::state::{Failing, OpInfo};
use super::status::StatusSet;
use super::value::Place;
use crate::ir::BlockId;

/// What the server says in Retry-After, where a status lets it say so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Advice {
    /// Nothing.
    Absent,
    /// A number of seconds.
    Seconds,
    /// A date.
    Date,
}

/// How a run goes.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Operations end in every way (at most one fails on a path).
    pub explore: bool,
    /// This operation fails in this way whenever it is executed.
    pub force: Option<(Place, Failing)>,
    /// What the server advises.
    pub advice: Advice,
    /// The statuses of answers that errors carry; all that they stand for, where none are told.
    pub answers: Option<StatusSet>,
    /// Blocks of the loop under analysis, in the first activation.
    pub blocks: Option<Rc<[bool]>>,
    /// Its head.
    pub head: Option<BlockId>,
    /// Stop when the head is come to again.
    pub stop_at_head: bool,
    /// The blocks of the first activation from which there is still a way to the head, where nothing else is looked for.
    pub on_the_way: Option<Rc<[bool]>>,
    /// Heads of the loops around it.
    pub outer_heads: Rc<[BlockId]>,
    /// A call of the function under analysis by itself is a turn.
    pub recursion: bool,
    /// The same operation on the same inputs elsewhere ends the path.
    pub second_try: bool,
    /// From this turn on no count ends it: what would come next is looked for.
    pub uncounted: Option<u32>,
    /// More turns than this end the path.
    pub max_turns: u32,
    /// Calls of which it is not known whether they leave the process do not raise.
    pub known_only: bool,
    /// What the loop calls of the project's own, and asks whether it succeeded, is an operation that is not looked into.
    pub whole: bool,
    /// What cannot come to an operation or a wait, and is given nothing of an answer or a failure, is not looked into.
    pub skim: bool,
    /// The first path that comes back is enough: others are not followed.
    pub first_back: bool,
    /// Good answers are redirects.
    pub redirected: bool,
    /// In place of failures, what is no failure of an operation.
    pub probe: Option<Rc<Probe>>,
}

/// What is raised beside an operation's own failures.
#[derive(Debug)]
pub struct Probe {
    /// The operation.
    pub op: Rc<OpInfo>,
    /// The classes that it raises.
    pub classes: Rc<[Rc<str>]>,
    /// A cancellation that is waited for counts too.
    pub flags: bool,
}

impl Plan {
    /// Runs on with every operation succeeding.
    #[must_use]
    pub fn calm() -> Plan {
        Plan {
            explore: false,
            force: None,
            advice: Advice::Absent,
            answers: None,
            blocks: None,
            head: None,
            stop_at_head: false,
            on_the_way: None,
            outer_heads: Rc::from([]),
            recursion: false,
            second_try: false,
            uncounted: None,
            max_turns: 2,
            known_only: false,
            whole: false,
            skim: false,
            first_back: false,
            redirected: false,
            probe: None,
        }
    }

    /// Whether operations fail in their own ways.
    pub(super) fn explores(&self) -> bool {
        self.explore && self.probe.is_none()
    }
}
