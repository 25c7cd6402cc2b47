//! Questions about an answer: whether it will do is asked of the answer itself (`output.success()`), or of somebody who is
//! given it (`policy.retries(output, attempt)`). What comes out says nothing of whoever is asked, and something of the
//! operation that gave the answer.

use std::rc::Rc;

use super::facts::Group;
use super::machine::{Finished, Machine};
use super::state::{Event, Failing, Known3, OpInfo, State};
use super::value::{Node, Place, SymId, Value};
use crate::ir::BlockId;

/// Tests of tests are looked through so deep.
const TESTS: usize = 6;
/// What an answer is made of is looked through so deep.
const MADE_OF: u32 = 4;

/// What a test of a call's result, one side of it taken, says.
pub(super) enum Verdict {
    /// Nothing of another operation: the call is one of its own.
    Own,
    /// That this operation's answer will do, or will not.
    Of(Rc<OpInfo>, bool),
    /// Something of another operation's answer, but not what.
    Open,
}

impl Machine<'_> {
    /// What it says of others that a call's result was tested; `ways`: where that side leads, and where the other one.
    /// An error is the call's own, and that something is there, or not, is no word on whether it is good.
    pub(super) fn verdict(&self, state: &State, asked: &OpInfo, test: SymId, ways: [BlockId; 2]) -> Verdict {
        if self.is_error_test(test) {
            return Verdict::Own;
        }
        let Some(about) = asked_about(self, state, asked) else {
            return if is_told_of_earlier(self, state, asked) { Verdict::Open } else { Verdict::Own };
        };
        let [this, other] = ways;
        let says = self.symbols.info(test).is_some_and(|info| matches!(info.node, Node::Truth(_)));
        let at_base = says && state.frames.len() == 1 && self.plan.blocks.is_some();
        let leads_out = |way: BlockId| at_base && self.leads_out(state, way, false);
        let known = about.remote == Known3::Yes;
        match (is_question(self, state, asked), leads_out(this), leads_out(other)) {
            (true, true, false) => Verdict::Of(about, true),
            (true, false, true) => Verdict::Of(about, false),
            (false, true, false) if !known => Verdict::Of(about, true),
            (false, false, true) if !known => Verdict::Of(about, false),
            (false, ..) if known => Verdict::Open,
            _ => Verdict::Own,
        }
    }

    /// Who says that an answer will not do says so for as long as the operation fails in that way.
    pub(super) fn say_again(&self, state: &mut State, place: Place, result: SymId) {
        let Some(failed) = state.failed.clone().filter(|failed| failed.op.place != place) else { return };
        if let Failing::Test(test, truth) = failed.how
            && self.symbols.info(test).is_some_and(|info| info.roots.contains(&result))
        {
            Rc::make_mut(&mut state.decided).insert(test, truth);
        }
    }
}

/// The operation of this turn whose answer a call is given.
fn asked_about(machine: &Machine<'_>, state: &State, asked: &OpInfo) -> Option<Rc<OpInfo>> {
    if asked.remote != Known3::Unknown || asked.awaited || asked.sources.is_empty() {
        return None;
    }
    let question = is_question(machine, state, asked);
    let mut at = state.trace.as_deref();
    while let Some(trace) = at {
        match &trace.event {
            Event::Turn(_) => return None,
            Event::Op(info)
                if info.place != asked.place
                    && asked.sources.contains(&info.place)
                    && (question || info.awaited || info.remote == Known3::Yes) =>
            {
                return Some(info.clone());
            }
            _ => {}
        }
        at = trace.before.as_deref();
    }
    None
}

/// Whether a call is given, and more besides, an answer from before the loop or this turn.
fn is_told_of_earlier(machine: &Machine<'_>, state: &State, asked: &OpInfo) -> bool {
    let told = || is_told(state, asked, MADE_OF, &|place| sent_from(state, place));
    asked.remote == Known3::Unknown && !asked.awaited && !is_question(machine, state, asked) && told()
}

/// Whether something leaves the process at a place.
pub(super) fn sent_from(state: &State, place: Place) -> bool {
    let sent = |info: &Rc<OpInfo>| info.place == place && info.remote == Known3::Yes;
    state.resp_types.contains_key(&place) || state.results.values().any(sent)
}

/// Whether what a call is given is the answer of such an operation, or made of one.
fn is_told(state: &State, asked: &OpInfo, depth: u32, of: &dyn Fn(Place) -> bool) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    asked.sources.iter().filter(|place| **place != asked.place).any(|place| {
        let made = |info: &&Rc<OpInfo>| info.place == *place && info.remote == Known3::Unknown;
        of(*place) || state.results.values().find(made).is_some_and(|info| is_told(state, info, depth, of))
    })
}

/// Whether a call is given nothing but an answer, or a part of it.
fn is_question(machine: &Machine<'_>, state: &State, asked: &OpInfo) -> bool {
    let [Value::Sym(given), Value::Str(_)] = &*asked.inputs else { return false };
    let mut part = *given;
    for _ in 0..MADE_OF {
        if let Some(info) = state.results.get(&part) {
            return info.place != asked.place && asked.sources.contains(&info.place);
        }
        part = match machine.symbols.info(part).map(|info| &info.node) {
            Some(Node::Attr(Value::Sym(of), _) | Node::Payload(Value::Sym(of), _)) => *of,
            Some(Node::Index(Value::Sym(of), Value::Num(_) | Value::Str(_))) => *of,
            _ => return false,
        };
    }
    false
}

/// The call whose result a test asks.
fn tested<'s>(machine: &Machine<'_>, state: &'s State, test: SymId) -> Option<&'s Rc<OpInfo>> {
    let mut sym = test;
    for _ in 0..TESTS {
        if let Some(info) = state.results.get(&sym) {
            return Some(info);
        }
        sym = match &machine.symbols.info(sym)?.node {
            Node::Unary(_, Value::Sym(of))
            | Node::Truth(Value::Sym(of))
            | Node::IsNone(Value::Sym(of))
            | Node::IsSuccess(Value::Sym(of))
            | Node::Is(Value::Sym(of), _)
            | Node::Binary(_, Value::Sym(of), _)
            | Node::Index(Value::Sym(of), _) => *of,
            _ => return None,
        };
    }
    None
}

/// What was said last, on a path, of the answers of some operations, by those who were asked: where, and which side was
/// taken.
pub(super) fn verdicts(machine: &Machine<'_>, finished: &Finished, of: &dyn Fn(Place) -> bool) -> Vec<(Place, bool)> {
    let events = finished.state.events();
    let inside = events.iter().take_while(|event| !matches!(event, Event::Left(..)));
    let told = inside.filter_map(|event| match event {
        Event::Decide { sym, taken, place, .. } => {
            let asked = tested(machine, &finished.state, *sym)?;
            let of_others = asked.remote == Known3::Unknown && !asked.awaited;
            (of_others && is_told(&finished.state, asked, MADE_OF, of)).then_some((*place, *taken))
        }
        _ => None,
    });
    let mut last: Vec<(Place, bool)> = Vec::new();
    for (place, taken) in told {
        last.retain(|(other, _)| *other != place);
        last.push((place, taken));
    }
    last
}

/// Who was asked about the answer with which an operation failed.
fn judge<'s>(machine: &Machine<'_>, state: &'s State, op: &OpInfo, how: &Failing) -> Option<&'s Rc<OpInfo>> {
    let Failing::Test(test, _) = how else { return None };
    tested(machine, state, *test).filter(|asked| asked.place != op.place)
}

/// Whether an answer would not do, by what it says of itself, and the next one may be about something else: nobody
/// knows that a request was sent, nor waits before the next.
pub(super) fn is_another_answer(machine: &Machine<'_>, finished: &Finished) -> bool {
    let state = &finished.state;
    state.failed.as_ref().is_some_and(|failed| {
        judge(machine, state, &failed.op, &failed.how).is_some()
            && failed.op.remote != Known3::Yes
            && !(state.gap.unknown || state.gap.high > 0.0)
    })
}

/// Whether the answers of an operation would not do by the word of somebody who looks at more than the answer, and may
/// change his mind.
pub(super) fn is_judged_by_more(machine: &Machine<'_>, group: &Group) -> bool {
    group.paths.iter().any(|path| {
        let asked = judge(machine, &path.state, &group.op, &group.how);
        asked.is_some_and(|asked| !is_question(machine, &path.state, asked))
    })
}
