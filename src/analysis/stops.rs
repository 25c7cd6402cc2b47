//! Whether a policy makes another attempt: its stops, alone and combined, counted and timed.

use super::arith;
use super::machine::Machine;
use super::policy::Bound;
use super::state::{Event, Object, State};
use super::value::{Node, Num, Taint, Value};
use crate::ir::{BinOp, Op};
use crate::models::{Counts, Entry};
use crate::source::Span;

use super::pieces::{DEPTH, PIECE, Piece, here, marked, number};
use super::settings::asks_again;

/// Attempts up to which a policy is asked whether it stops.
const MOST_COUNTED: u32 = 256;

impl<'a> Machine<'a> {
    /// Whether a policy never stops by itself.
    pub(super) fn is_endless(&mut self, state: &mut State, policy: &Value) -> bool {
        let Some(policy) = self.piece(here(state), policy) else { return false };
        let begun = Value::Num(Num { taint: Taint::CLOCK, ..Num::exact(-1.0e12) });
        let over = self.over(state, &policy, &[number(1.0e12), begun, Value::None], Span::default());
        matches!(over, Value::Bool(false, _))
    }

    /// The bound that a policy states, whatever fails: how many attempts, and whether there is a deadline.
    pub(super) fn limit_of(&mut self, state: &mut State, policy: &Value) -> Bound {
        let Some(policy) = self.piece(here(state), policy) else { return Bound::Unknown };
        let clock = |at: f64| Value::Num(Num { taint: Taint::CLOCK, ..Num::exact(at) });
        let (now, long_ago) = (clock(state.clock), clock(-1.0e12));
        let mut over = |attempt: f64, begun: &Value| {
            self.over(state, &policy, &[number(attempt), begun.clone(), Value::None], Span::default())
        };
        let holds = |over: &Value| matches!(over, Value::Bool(true, _));
        let deadline = holds(&over(1.0, &long_ago)) && !holds(&over(1.0, &now));
        let count = (1..=MOST_COUNTED).find(|count| holds(&over(f64::from(*count), &now)));
        let never = over(1.0e12, &now);
        let looser = self.attempts_of_both(state, &policy);
        let (count, deadline) = (count.or(looser), deadline || looser.is_some());
        let count = match (count, &never) {
            (Some(count), _) => Some(Some(count)),
            (None, Value::Bool(truth, _)) => truth.then_some(None),
            (None, other) => match self.unseen_end(other) {
                Bound::Count(_) => Some(None),
                Bound::Unknown if policy.part("stop").is_some_and(|stop| self.counts(state, stop, DEPTH)) => Some(None),
                unseen => return unseen,
            },
        };
        match (count, deadline) {
            (Some(count), false) => Bound::Count(count),
            (Some(count), true) => Bound::Both(count, None),
            (None, true) => Bound::Deadline(None),
            (None, false) => Bound::None,
        }
    }

    /// The bound that a policy states which is gone through attempt by attempt.
    pub(super) fn limit_gone_through(&mut self, state: &mut State, iterator: &Value) -> Option<Bound> {
        let Value::Object(id) = iterator else { return None };
        let Object::Unknown(policy, _) = state.objects.get(id)? else { return None };
        let policy = policy.clone();
        if !self.is_policy(here(state), &policy) {
            return None;
        }
        Some(self.limit_of(state, &policy)).filter(|limit| *limit != Bound::Unknown)
    }

    /// Whether a stop counts attempts, or one of several does of which each is enough.
    fn counts(&mut self, state: &State, stop: &Value, depth: u32) -> bool {
        let Some((depth, piece)) = depth.checked_sub(1).zip(self.piece(here(state), stop)) else { return false };
        match piece.word() {
            "stop-attempts" => piece.part("amount").is_some_and(|amount| *amount != Value::None),
            "stop-any" => piece.rest().iter().any(|one| self.counts(state, one, depth)),
            _ => false,
        }
    }

    /// What ends a policy by a number that cannot be seen. Of several ends one that counts is enough.
    fn unseen_end(&self, over: &Value) -> Bound {
        if let Value::Sym(id) = over
            && let Some(Node::Binary(BinOp::BitOr, a, b)) = self.symbols.info(*id).map(|info| &info.node)
        {
            let ends = [self.unseen_end(a), self.unseen_end(b)];
            return ends.into_iter().find(|end| *end != Bound::Unknown).unwrap_or(Bound::Unknown);
        }
        match self.symbols.taint(over) {
            taint if taint.has(Taint::CALL) => Bound::Unknown,
            taint if taint.has(Taint::INPUT) => Bound::Caller,
            _ => Bound::Count(None),
        }
    }

    /// The attempts of a policy that stops only where all its ends are come to, by how long it waits between them.
    fn attempts_of_both(&mut self, state: &mut State, policy: &Piece<'a>) -> Option<u32> {
        let stop = policy.part("stop").cloned()?;
        self.piece(here(state), &stop).filter(|piece| piece.word() == "stop-all")?;
        let wait = policy.part("wait").cloned()?;
        let mut waited = 0.0;
        for attempt in 1..=MOST_COUNTED {
            let begun = Value::Num(Num { taint: Taint::CLOCK, ..Num::exact(state.clock - waited) });
            let attempt = f64::from(attempt);
            let over = self.over(state, policy, &[number(attempt), begun, Value::None], Span::default());
            if matches!(over, Value::Bool(true, _)) {
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
                return Some(attempt as u32);
            }
            let length = self.wait_length(state, &wait, attempt, DEPTH);
            let longest = arith::bounds(&self.symbols, &length).1;
            waited += Some(longest).filter(|longest| longest.is_finite() && *longest > 0.0)?;
        }
        None
    }

    pub(super) fn over(&mut self, state: &mut State, policy: &Piece<'a>, about: &[Value; 3], span: Span) -> Value {
        let [attempt, begun, error] = about;
        if let Some(over) = policy.part("adjust").and_then(|adjust| self.adjusted_end(adjust)) {
            return Value::Bool(over, if over { Taint::COUNTER } else { Taint::NONE });
        }
        let mut tests: Vec<Value> = self.counted_by_kind(state, policy, attempt, error).into_iter().collect();
        let told = asks_again(policy, error).and_then(|told| told.get(1)).filter(|told| **told != Value::None);
        if let Some(attempts) = told.or(policy.part("attempts")).cloned() {
            tests.push(self.counted(policy.entry, &attempts, attempt));
        }
        if let Some(limit) = policy.part("limit").cloned() {
            tests.push(self.elapsed(state, policy.entry, &limit, begun, span));
        }
        if let Some(stop) = policy.part("stop").cloned() {
            tests.push(self.stop(state, &stop, attempt, begun, span, DEPTH));
        }
        if let Some(wait) = policy.part("wait").cloned()
            && let Some(wait) = self.piece(here(state), &wait)
            && let Some(attempts) = wait.part("attempts").cloned()
        {
            tests.push(self.counted(wait.entry, &attempts, attempt));
        }
        if let Some(wait) = policy.part("wait").cloned()
            && let Some(wait) = self.piece(here(state), &wait)
            && let Some(limit) = wait.part("limit").cloned()
        {
            tests.push(self.elapsed(state, wait.entry, &limit, begun, span));
        }
        let unseen = |wait: &Value| match wait {
            Value::Sym(_) => true,
            Value::Inst(_) => marked(wait, PIECE).is_none(),
            _ => false,
        };
        if policy.part("wait").is_some_and(unseen) && policy.entry.state.is_none() && tests.is_empty() {
            return self.unknown(state, Taint::CALL);
        }
        if tests.is_empty() && policy.open() {
            return self.unknown(state, Taint::CALL);
        }
        self.fold(&tests, true)
    }

    /// Where what changes each wait (given the failure, and the wait or nothing where the attempts are used up) never
    /// reads its second parameter: whether all is over after any attempt (it gives no wait) or after none (it gives one).
    fn adjusted_end(&self, adjust: &Value) -> Option<bool> {
        let Value::Func(func, _) = adjust else { return None };
        let function = self.project.function(*func)?;
        let instrs = || function.blocks.iter().flat_map(|block| &block.instrs);
        let makes = |wanted: &str| {
            instrs().any(|instr| matches!(&instr.op, Op::Variant { name, .. } if name.as_str() == wanted))
        };
        let told = function.params.get(1).map(|param| param.slot);
        let reads = told.is_some_and(|slot| instrs().any(|instr| instr.op.reads().contains(&slot)));
        let calls = instrs().any(|instr| matches!(instr.op, Op::Call { .. }));
        match (makes("Some"), makes("None")) {
            _ if reads => None,
            (true, false) => (told.is_some() || !calls).then_some(false),
            (false, true) => (!calls).then_some(true),
            _ => None,
        }
    }

    /// Any of some truth values (`any`), or all.
    pub(super) fn fold(&mut self, tests: &[Value], any: bool) -> Value {
        let decisive = |test: &&Value| matches!(test, Value::Bool(truth, _) if *truth == any);
        if let Some(test) = tests.iter().find(decisive) {
            return (*test).clone();
        }
        let mut open = tests.iter().filter(|test| !matches!(test, Value::Bool(..)));
        match open.next() {
            Some(first) => {
                let op = if any { BinOp::BitOr } else { BinOp::BitAnd };
                open.fold(first.clone(), |all, test| {
                    Value::Sym(self.symbols.intern(Node::Binary(op, all, test.clone()), Taint::NONE))
                })
            }
            None => match tests.first() {
                Some(test) => test.clone(),
                None => Value::Bool(false, Taint::NONE),
            },
        }
    }

    pub(super) fn stop(
        &mut self,
        state: &mut State,
        stop: &Value,
        attempt: &Value,
        begun: &Value,
        span: Span,
        depth: u32,
    ) -> Value {
        let never = Value::Bool(false, Taint::NONE);
        let Some(depth) = depth.checked_sub(1) else { return self.unknown(state, Taint::CALL) };
        if *stop == Value::None {
            return never;
        }
        let Some(piece) = self.piece(here(state), stop) else { return self.unknown(state, Taint::CALL) };
        match piece.word() {
            "stop-never" => never,
            "stop-attempts" => match piece.part("amount").cloned() {
                Some(amount) => self.counted(piece.entry, &amount, attempt),
                None => self.unknown(state, Taint::CALL),
            },
            "stop-delay" => match piece.part("amount").cloned() {
                Some(amount) => self.elapsed(state, piece.entry, &amount, begun, span),
                None => self.unknown(state, Taint::CALL),
            },
            word @ ("stop-any" | "stop-all") => {
                let tests: Vec<Value> =
                    piece.rest().iter().map(|stop| self.stop(state, stop, attempt, begun, span, depth)).collect();
                self.fold(&tests, word == "stop-any")
            }
            _ => self.unknown(state, Taint::CALL),
        }
    }

    /// Whether so many attempts were made.
    pub(super) fn counted(&mut self, entry: &Entry, amount: &Value, attempt: &Value) -> Value {
        let more = if entry.counts == Some(Counts::Retries) { 1.0 } else { 0.0 };
        match amount {
            Value::None => Value::Bool(false, Taint::NONE),
            Value::Bool(false, _) => self.counted(entry, &number(0.0), attempt),
            Value::Num(num) if num.hi.0 < entry.endless_below.unwrap_or(f64::NEG_INFINITY) => {
                Value::Bool(false, Taint::NONE)
            }
            Value::Num(num) if num.single().is_some() => {
                let made = arith::bounds(&self.symbols, attempt).0;
                Value::Bool(made >= num.lo.0 + more, Taint::COUNTER)
            }
            other => {
                let most = arith::binary(&mut self.symbols, BinOp::Add, other, &number(more));
                arith::binary(&mut self.symbols, BinOp::Ge, attempt, &most)
            }
        }
    }

    /// Whether so much time went by.
    pub(super) fn elapsed(
        &mut self,
        state: &mut State,
        entry: &Entry,
        limit: &Value,
        begun: &Value,
        span: Span,
    ) -> Value {
        if *limit == Value::None {
            return Value::Bool(false, Taint::NONE);
        }
        let limit = self.seconds(limit, entry.unit);
        let now = Value::Num(Num { taint: Taint::CLOCK, ..Num::exact(state.clock) });
        let end = arith::binary(&mut self.symbols, BinOp::Add, begun, &limit);
        let left = arith::bounds(&self.symbols, &limit).1;
        if left.is_finite() {
            let at = self.at(state, span);
            let now = arith::bounds(&self.symbols, begun).0;
            state.push(Event::ClockTest { at, left, now, paces: false });
        }
        arith::binary(&mut self.symbols, BinOp::Ge, &now, &end)
    }
}
