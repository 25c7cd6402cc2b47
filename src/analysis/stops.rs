//! Whether a policy makes another attempt: its stops, alone and combined, counted and timed.

use super::arith;
use super::machine::Machine;
use super::state::{Event, State};
use super::value::{Node, Num, Taint, Value};
use crate::ir::BinOp;
use crate::models::{Counts, Entry};
use crate::source::Span;

use super::pieces::{DEPTH, PIECE, Piece, here, marked, number};

impl<'a> Machine<'a> {
    /// Whether a policy never stops by itself.
    pub(super) fn is_endless(&mut self, state: &mut State, policy: &Value) -> bool {
        let Some(policy) = self.piece(here(state), policy) else { return false };
        let begun = Value::Num(Num { taint: Taint::CLOCK, ..Num::exact(-1.0e12) });
        let over = self.over(state, &policy, &[number(1.0e12), begun, Value::None], Span::default());
        matches!(over, Value::Bool(false, _))
    }

    pub(super) fn over(&mut self, state: &mut State, policy: &Piece<'a>, about: &[Value; 3], span: Span) -> Value {
        let [attempt, begun, error] = about;
        let mut tests: Vec<Value> = self.counted_by_kind(state, policy, attempt, error).into_iter().collect();
        if let Some(attempts) = policy.part("attempts").cloned() {
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
            state.push(Event::ClockTest { at, left, now });
        }
        arith::binary(&mut self.symbols, BinOp::Ge, &now, &end)
    }
}
