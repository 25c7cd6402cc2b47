//! How long a policy waits before the next attempt: its waits, added up, grown, capped and drawn.

use super::arith;
use super::calls::Args;
use super::machine::{Machine, Out, Res};
use super::state::{At, State};
use super::value::{Node, Num, Taint, Value};
use crate::ir::BinOp;
use crate::models::Unit;
use crate::source::Span;

use super::pieces::{DEPTH, Piece, here, is_callable, number};
use super::settings::{OWN_WAIT, asks_again};

/// A wait that grows by steps is followed over as many.
const MOST_GROWN: f64 = 1_000.0;

impl<'a> Machine<'a> {
    /// How long to wait before the next attempt.
    pub(super) fn pause(&mut self, mut state: State, receiver: &Value, about: [Value; 3], span: Span, out: &mut Out) {
        let Some(policy) = self.piece(here(&state), receiver) else {
            let value = self.unknown(&mut state, Taint::CALL);
            out.push((state, Res::Value(value)));
            return;
        };
        let [attempt, error, result] = about;
        if let Value::Resp(resp) = &result
            && let Some(told) = self.advised_pause(&mut state, &policy, *resp, span)
        {
            out.push((state, Res::Value(told)));
            return;
        }
        if let Some([pause, ..]) = asks_again(&policy, &error)
            && *pause != Value::None
        {
            let pause = self.seconds(pause, policy.entry.unit);
            out.push((state, Res::Value(pause)));
            return;
        }
        if policy.part(OWN_WAIT).is_some() || policy.part("adjust").is_some_and(is_callable) {
            let value = self.unknown(&mut state, Taint::CALL);
            out.push((state, Res::Value(value)));
            return;
        }
        let wait = policy.part("wait").cloned();
        let n = arith::bounds(&self.symbols, &attempt).0;
        match wait {
            _ if n <= f64::from(policy.entry.at_once) => out.push((state, Res::Value(number(0.0)))),
            None if policy.entry.pace.is_some() => {
                let word = policy.entry.pace.as_deref().unwrap_or_default();
                let value = self.pause_length(&policy, word, n);
                out.push((state, Res::Value(value)));
            }
            None if policy.open() => {
                let value = self.unknown(&mut state, Taint::CALL);
                out.push((state, Res::Value(value)));
            }
            None | Some(Value::None) => out.push((state, Res::Value(number(0.0)))),
            Some(wait) => {
                let computed = self.piece(here(&state), &wait).filter(|piece| piece.word() == "wait-computed");
                if let Some(piece) = computed {
                    let callable = piece.part("value").cloned().unwrap_or(Value::None);
                    let given = if error == Value::None { result } else { error };
                    return self.ask(state, &callable, given, out, span);
                }
                if is_callable(&wait) {
                    let given = Self::attempt_state(&policy, attempt, error, result);
                    let args = Args {
                        list: given.into_iter().map(|given| (None, given)).collect(),
                        open: false,
                        ..Args::default()
                    };
                    if args.list.is_empty() {
                        let value = self.unknown(&mut state, Taint::CALL);
                        out.push((state, Res::Value(value)));
                        return;
                    }
                    return self.call_value(state, wait, args, span, out);
                }
                let value = self.wait_length(&mut state, &wait, n, DEPTH);
                out.push((state, Res::Value(value)));
            }
        }
    }

    pub(super) fn wait_length(&mut self, state: &mut State, wait: &Value, n: f64, depth: u32) -> Value {
        let Some(depth) = depth.checked_sub(1) else { return self.unknown(state, Taint::CALL) };
        if matches!(wait, Value::Num(_)) {
            return wait.clone();
        }
        let Some(piece) = self.piece(here(state), wait) else { return self.unknown(state, Taint::CALL) };
        match piece.word() {
            "wait-sum" => {
                let rest = piece.rest();
                rest.iter().fold(number(0.0), |sum, wait| {
                    let length = self.wait_length(state, wait, n, depth);
                    arith::binary(&mut self.symbols, BinOp::Add, &sum, &length)
                })
            }
            "wait-chain" => {
                let rest = piece.rest();
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
                match rest.get((n - 1.0).max(0.0) as usize).or(rest.last()) {
                    Some(wait) => self.wait_length(state, wait, n, depth),
                    None => self.unknown(state, Taint::CALL),
                }
            }
            "wait-computed" => self.unknown(state, Taint::CALL),
            word => self.pause_length(&piece, word, n),
        }
    }

    /// The wait before attempt `n + 1`, by the word of a wait and the parts of a piece.
    pub(super) fn pause_length(&mut self, piece: &Piece<'a>, word: &str, n: f64) -> Value {
        let unit = piece.entry.unit;
        let part = |machine: &mut Self, key: &str| {
            piece.part(key).filter(|value| **value != Value::None).cloned().map(|value| match (key, value) {
                ("base", Value::Bool(true, _)) => number(2.0),
                ("base", value) => value,
                ("amount", Value::Bool(true, _)) => number(1.0),
                (_, value) => machine.seconds(&value, unit),
            })
        };
        if piece.open() && piece.part("amount").is_none() {
            let node = Node::Call("wait".into(), [piece.value(), number(n)].into());
            return Value::Sym(self.symbols.intern(node, Taint::CALL));
        }
        let amount = part(self, "amount");
        let amount = match piece.part("factor").cloned() {
            Some(factor) => amount.map(|amount| arith::binary(&mut self.symbols, BinOp::Mul, &amount, &factor)),
            None => amount,
        };
        let (low, high) = (part(self, "low"), part(self, "high"));
        let high = high.or_else(|| {
            let (amount, most) = (amount.as_ref()?, number(piece.entry.ceiling?));
            Some(arith::binary(&mut self.symbols, BinOp::Mul, amount, &most))
        });
        let random = |machine: &mut Self, low: Value, high: Value| machine.drawn(low, high);
        match word {
            "wait-fixed" => match amount {
                // A sequence of waits.
                Some(Value::Tuple(items)) => {
                    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
                    let at = (n - 1.0).max(0.0) as usize;
                    items.get(at).or(items.last()).cloned().unwrap_or_else(|| number(0.0))
                }
                amount => amount.unwrap_or_else(|| number(0.0)),
            },
            "wait-random" => {
                let low = low.unwrap_or_else(|| number(0.0));
                let high = high.unwrap_or_else(|| low.clone());
                random(self, low, high)
            }
            "wait-linear" => {
                let step = part(self, "step").unwrap_or_else(|| number(0.0));
                let grown = arith::binary(&mut self.symbols, BinOp::Mul, &step, &number(n - 1.0));
                let start = amount.unwrap_or_else(|| number(0.0));
                let length = arith::binary(&mut self.symbols, BinOp::Add, &start, &grown);
                self.clamped(length, low, high)
            }
            "wait-exponential" | "wait-exponential-full" | "wait-exponential-added" => {
                let base = part(self, "base").unwrap_or_else(|| number(2.0));
                let power = n - 1.0 + f64::from(piece.entry.power);
                let grown = match &base {
                    Value::Num(base) if base.single().is_some() => number(base.lo.0.powf(power)),
                    other => arith::binary(&mut self.symbols, BinOp::Pow, other, &number(power)),
                };
                let amount = amount.unwrap_or_else(|| number(1.0));
                let length = arith::binary(&mut self.symbols, BinOp::Mul, &amount, &grown);
                match word {
                    "wait-exponential" => self.clamped(length, low, high),
                    "wait-exponential-full" => {
                        let length = self.clamped(length, None, high);
                        let low = low.unwrap_or_else(|| number(0.0));
                        let high = self.clamped(length, Some(low.clone()), None);
                        random(self, low, high)
                    }
                    _ => {
                        let jitter = part(self, "step").unwrap_or_else(|| number(0.0));
                        let jitter = random(self, number(0.0), jitter);
                        let sum = arith::binary(&mut self.symbols, BinOp::Add, &length, &jitter);
                        self.clamped(sum, low, high)
                    }
                }
            }
            "wait-grown" => {
                let step = part(self, "step").unwrap_or_else(|| number(0.0));
                let step = match step {
                    Value::Tuple(ends) => match &*ends {
                        [low, high] => random(self, low.clone(), high.clone()),
                        _ => number(0.0),
                    },
                    step => step,
                };
                let base = part(self, "base").unwrap_or_else(|| number(1.0));
                let mut length = amount.unwrap_or_else(|| number(0.0));
                let mut left = n;
                while left > 1.0 && left < MOST_GROWN {
                    let grown = arith::binary(&mut self.symbols, BinOp::Mul, &length, &base);
                    let grown = arith::binary(&mut self.symbols, BinOp::Add, &grown, &step);
                    length = self.clamped(grown, None, high.clone());
                    left -= 1.0;
                }
                // What chance adds to the further waits is told of the first one too.
                match (length, &step) {
                    (Value::Num(length), Value::Num(step)) => {
                        Value::Num(Num { taint: length.taint.or(step.taint), ..length })
                    }
                    (length, _) => length,
                }
            }
            "wait-fibonacci" => {
                let (mut a, mut b) = (1.0, 1.0);
                let mut left = n;
                while left > 1.0 && b < 1.0e9 {
                    (a, b) = (b, a + b);
                    left -= 1.0;
                }
                let amount = amount.unwrap_or_else(|| number(1.0));
                let length = arith::binary(&mut self.symbols, BinOp::Mul, &amount, &number(a));
                self.clamped(length, low, high)
            }
            "wait-spread" => {
                let window = high.unwrap_or_else(|| number(0.0));
                let gaps = match piece.part("attempts") {
                    Some(Value::Num(attempts)) => attempts.single().map(|attempts| attempts - 1.0),
                    _ => None,
                };
                let share = gaps.map(|gaps| 2.0_f64.powf(n - 1.0) / (2.0_f64.powf(gaps) - 1.0));
                let share = share.filter(|share| (0.0..1.0).contains(share)).unwrap_or(1.0);
                let most = arith::binary(&mut self.symbols, BinOp::Mul, &window, &number(share));
                random(self, number(0.0), most)
            }
            "wait-none" => number(0.0),
            _ => {
                let node = Node::Call("wait".into(), [piece.value()].into());
                Value::Sym(self.symbols.intern(node, Taint::CALL))
            }
        }
    }

    /// At least `low`, at most `high`.
    pub(super) fn clamped(&mut self, value: Value, low: Option<Value>, high: Option<Value>) -> Value {
        let mut value = value;
        for (name, other) in [("max", low), ("min", high)] {
            let Some(other) = other else { continue };
            value = match (&value, &other) {
                (Value::Num(a), Value::Num(b)) => {
                    let pick = |x: f64, y: f64| if name == "min" { x.min(y) } else { x.max(y) };
                    Value::Num(Num::range(pick(a.lo.0, b.lo.0), pick(a.hi.0, b.hi.0), a.taint.or(b.taint)))
                }
                _ => Value::Sym(self.symbols.intern(Node::Math(name.into(), [value, other].into()), Taint::NONE)),
            };
        }
        value
    }

    /// A number drawn between two.
    pub(super) fn drawn(&mut self, low: Value, high: Value) -> Value {
        let (lo, hi) = (arith::bounds(&self.symbols, &low).0, arith::bounds(&self.symbols, &high).1);
        if let (Value::Num(a), Value::Num(b)) = (&low, &high) {
            return Value::Num(Num::range(lo, hi, a.taint.or(b.taint).or(Taint::RANDOM)));
        }
        let id = self.symbols.intern(Node::Math("random".into(), [low, high].into()), Taint::RANDOM);
        self.symbols.set_range(id, lo, hi);
        Value::Sym(id)
    }

    /// Waits, what chance adds or takes included.
    pub(super) fn rest(&mut self, state: &mut State, receiver: &Value, length: &Value, at: At) {
        let policy = self.piece(here(state), receiver);
        let jitter = policy.as_ref().and_then(|policy| policy.part("jitter").cloned()).unwrap_or(Value::None);
        let unit = policy.as_ref().map(|policy| policy.entry.unit).unwrap_or_default();
        let own = policy.as_ref().and_then(|policy| policy.part("wait").cloned());
        let own = own.and_then(|wait| self.piece(here(state), &wait)?.part("jitter").cloned());
        let jitter = if jitter == Value::None { own.unwrap_or(jitter) } else { jitter };
        // What is sent again at once is so for certain.
        let at_once = *length == number(0.0) && policy.as_ref().is_some_and(|policy| policy.entry.at_once > 0);
        if at_once && !matches!(&jitter, Value::None) && jitter != number(0.0) {
            let length = Value::Num(Num::range(0.0, 0.0, Taint::RANDOM));
            return self.wait(state, Some(length), at, false);
        }
        let high = policy.as_ref().and_then(|policy| policy.part("high").cloned());
        let length = self.jittered(state, length, &jitter, high, unit);
        self.wait(state, Some(length), at, false);
    }

    /// A length with what chance adds to it or takes from it; `high` is the most that may come of it, and `unit` that of
    /// both.
    pub(super) fn jittered(
        &mut self,
        state: &State,
        length: &Value,
        jitter: &Value,
        high: Option<Value>,
        unit: Unit,
    ) -> Value {
        let drawn = self.piece(here(state), jitter);
        match (drawn.as_ref().map(Piece::word), jitter) {
            (None, Value::Bool(true, _)) | (Some("jitter-full"), _) => self.drawn(number(0.0), length.clone()),
            (Some("jitter-grown"), _) => {
                let more = self.drawn(number(0.0), length.clone());
                arith::binary(&mut self.symbols, BinOp::Add, length, &more)
            }
            (Some("jitter-doubled"), _) => {
                let high = high.map(|high| self.seconds(&high, unit));
                let half = high.as_ref().map(|high| arith::binary(&mut self.symbols, BinOp::Mul, high, &number(0.5)));
                let twice = arith::binary(&mut self.symbols, BinOp::Mul, length, &number(2.0));
                let low = self.clamped(length.clone(), None, half);
                let top = self.clamped(twice, None, high);
                self.drawn(low, top)
            }
            (Some("jitter-around"), _) => {
                let half = arith::binary(&mut self.symbols, BinOp::Mul, length, &number(0.5));
                let more = self.drawn(number(0.0), length.clone());
                arith::binary(&mut self.symbols, BinOp::Add, &half, &more)
            }
            (Some("jitter-added"), _) => {
                let more = self.drawn(number(0.0), number(1.0));
                arith::binary(&mut self.symbols, BinOp::Add, length, &more)
            }
            (None, Value::Num(_)) => {
                let most = self.seconds(jitter, unit);
                let more = if most == number(0.0) { most } else { self.drawn(number(0.0), most) };
                arith::binary(&mut self.symbols, BinOp::Add, length, &more)
            }
            (None, Value::Tuple(items)) if items.len() == 2 => {
                let ends: Vec<Value> = items.iter().map(|item| self.seconds(item, unit)).collect();
                let end = |at: usize| ends.get(at).cloned().unwrap_or(Value::None);
                let more = self.drawn(end(0), end(1));
                arith::binary(&mut self.symbols, BinOp::Add, length, &more)
            }
            (None, Value::Func(..) | Value::Path(_) | Value::Sym(_) | Value::Partial(_)) => {
                let node = Node::Call("jitter".into(), [length.clone()].into());
                Value::Sym(self.symbols.intern(node, Taint::RANDOM))
            }
            _ => length.clone(),
        }
    }
}
