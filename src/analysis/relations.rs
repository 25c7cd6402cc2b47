//! What comparisons say of each other: of a count that is more than two and is not three, a test whether it is more
//! than three has its answer.

use super::arith;
use super::machine::Machine;
use super::state::State;
use super::value::{Node, SymId, Symbols, Value};
use crate::ir::{BinOp, UnOp};

/// So many comparisons are looked at.
const MOST: usize = 64;
/// So many numbers that it is not are stepped over.
const MOST_STEPS: usize = 64;

/// What an unknown, or the difference of two, is compared with.
#[derive(Debug)]
struct Comparison<'s> {
    /// The unknown, and what is taken from it.
    of: (&'s Value, Option<&'s Value>),
    op: BinOp,
    number: f64,
}

/// `a op b` the other way round.
fn mirrored(op: BinOp) -> BinOp {
    match op {
        BinOp::Lt => BinOp::Gt,
        BinOp::Le => BinOp::Ge,
        BinOp::Gt => BinOp::Lt,
        BinOp::Ge => BinOp::Le,
        other => other,
    }
}

/// `not (a op b)`.
fn opposite(op: BinOp) -> BinOp {
    match op {
        BinOp::Lt => BinOp::Ge,
        BinOp::Le => BinOp::Gt,
        BinOp::Gt => BinOp::Le,
        BinOp::Ge => BinOp::Lt,
        BinOp::Eq => BinOp::Ne,
        _ => BinOp::Eq,
    }
}

impl Comparison<'_> {
    /// What a condition compares, if it is a comparison of whole numbers, one of them not known.
    fn of(symbols: &Symbols, sym: SymId) -> Option<Comparison<'_>> {
        let Node::Binary(op, a, b) = &symbols.info(sym)?.node else { return None };
        if !matches!(op, BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge | BinOp::Eq | BinOp::Ne) {
            return None;
        }
        let number = |value: &Value| match value {
            Value::Num(num) => num.single(),
            _ => None,
        };
        let (of, op, number) = match (arith::linear(symbols, a), arith::linear(symbols, b)) {
            (Some((base, off)), None) => ((base, None), *op, number(b)? - off),
            (None, Some((base, off))) => ((base, None), mirrored(*op), number(a)? - off),
            (Some((a @ Value::Sym(first), x)), Some((b @ Value::Sym(second), y))) => match first < second {
                true => ((a, Some(b)), *op, y - x),
                false => ((b, Some(a)), mirrored(*op), x - y),
            },
            _ => return None,
        };
        (number.fract() == 0.0).then_some(Comparison { of, op, number })
    }
}

impl Symbols {
    /// Whether a condition that came out so says what something is, not what it is not.
    pub(super) fn affirms(&self, sym: SymId, truth: bool) -> bool {
        match self.info(sym).map(|info| &info.node) {
            Some(Node::Unary(UnOp::Not, Value::Sym(inner))) => self.affirms(*inner, !truth),
            Some(Node::Binary(BinOp::Ne | BinOp::NotIn | BinOp::IsNot, ..)) => !truth,
            _ => truth,
        }
    }
}

impl Machine<'_> {
    /// What follows for a comparison from others on this path.
    pub(super) fn follows(&mut self, state: &State, sym: SymId) -> Option<bool> {
        let asked = Comparison::of(&self.symbols, sym)?;
        let (mut low, mut high) = match &asked.of {
            (base, None) => arith::bounds(&self.symbols, base),
            _ => (f64::NEG_INFINITY, f64::INFINITY),
        };
        let mut never = Vec::new();
        for (other, truth) in state.decided.iter().rev() {
            let Some(known) = Comparison::of(&self.symbols, *other).filter(|known| known.of == asked.of) else {
                continue;
            };
            let op = if *truth { known.op } else { opposite(known.op) };
            let before = (low, high, never.len());
            match op {
                BinOp::Lt => high = high.min(known.number - 1.0),
                BinOp::Le => high = high.min(known.number),
                BinOp::Gt => low = low.max(known.number + 1.0),
                BinOp::Ge => low = low.max(known.number),
                BinOp::Eq => (low, high) = (low.max(known.number), high.min(known.number)),
                _ => never.push(known.number),
            }
            // What says no more than others say is not asked for.
            if before != (low, high, never.len()) {
                self.passages.ask(&self.symbols, &state.versions, *other);
            }
            if never.len() > MOST {
                break;
            }
        }
        for _ in 0..MOST_STEPS {
            match () {
                () if never.contains(&low) => low += 1.0,
                () if never.contains(&high) => high -= 1.0,
                () => break,
            }
        }
        let number = asked.number;
        let equal = || match () {
            () if number < low || number > high || never.contains(&number) => Some(false),
            () if low == high && low == number => Some(true),
            () => None,
        };
        let more = |than: f64| match () {
            () if low > than => Some(true),
            () if high <= than => Some(false),
            () => None,
        };
        match asked.op {
            BinOp::Gt => more(number),
            BinOp::Ge => more(number - 1.0),
            BinOp::Lt => more(number - 1.0).map(|more| !more),
            BinOp::Le => more(number).map(|more| !more),
            BinOp::Eq => equal(),
            _ => equal().map(|equal| !equal),
        }
    }
}
