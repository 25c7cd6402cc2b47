//! Arithmetic, comparison and truth over abstract values.
//!
//! Numbers are intervals; what depends on a response's status is computed pointwise over 100–599; everything else
//! becomes an interned expression, so that it can be decided once, compared over attempts, and looked into.

use std::rc::Rc;

use super::status::StatusSet;
use super::value::{F, Node, Num, SymId, Symbols, Taint, Value};
use crate::ir::{BinOp, UnOp};

/// What is known of a value's truth.
#[derive(Debug, Clone, PartialEq)]
pub enum Truth {
    /// True or false.
    Known(bool, Taint),
    /// True exactly for these statuses of this response.
    Status(super::value::RespId, StatusSet),
    /// Not known; decided under this symbol.
    Unknown(SymId),
}

/// The statuses, as numbers.
#[must_use]
pub fn identity_status() -> Rc<[i32]> {
    (100..=599).collect()
}

fn status_set(map: &[i32], predicate: impl Fn(f64) -> bool) -> StatusSet {
    StatusSet::of(|status| map.get(usize::from(status - 100)).is_some_and(|value| predicate(f64::from(*value))))
}

/// The least and greatest number that a value can be.
#[must_use]
pub fn bounds(symbols: &Symbols, value: &Value) -> (f64, f64) {
    match value {
        Value::Num(num) => (num.lo.0, num.hi.0),
        Value::Bool(truth, _) => (f64::from(u8::from(*truth)), f64::from(u8::from(*truth))),
        Value::Sym(id) => symbols.info(*id).map_or((f64::NEG_INFINITY, f64::INFINITY), |info| (info.lo, info.hi)),
        Value::Variant(_, _, args) if args.len() == 1 => {
            args.first().map_or((f64::NEG_INFINITY, f64::INFINITY), |arg| bounds(symbols, arg))
        }
        _ => (f64::NEG_INFINITY, f64::INFINITY),
    }
}

fn add_ends(a: f64, b: f64, nan: f64) -> f64 {
    let sum = a + b;
    if sum.is_nan() { nan } else { sum }
}

fn combine(op: BinOp, (al, ah): (f64, f64), (bl, bh): (f64, f64)) -> (f64, f64) {
    let corners = |f: &dyn Fn(f64, f64) -> f64| {
        let all = [f(al, bl), f(al, bh), f(ah, bl), f(ah, bh)];
        if all.iter().any(|x| x.is_nan()) {
            return (f64::NEG_INFINITY, f64::INFINITY);
        }
        (all.iter().copied().fold(f64::INFINITY, f64::min), all.iter().copied().fold(f64::NEG_INFINITY, f64::max))
    };
    let mul = |a: f64, b: f64| if a == 0.0 || b == 0.0 { 0.0 } else { a * b };
    match op {
        BinOp::Add => (add_ends(al, bl, f64::NEG_INFINITY), add_ends(ah, bh, f64::INFINITY)),
        BinOp::Sub => (add_ends(al, -bh, f64::NEG_INFINITY), add_ends(ah, -bl, f64::INFINITY)),
        BinOp::Mul => corners(&mul),
        BinOp::Div if bl > 0.0 || bh < 0.0 => corners(&|a, b| a / b),
        BinOp::FloorDiv if bl > 0.0 || bh < 0.0 => corners(&|a, b| (a / b).floor()),
        BinOp::Rem if al == ah && bl == bh && bl != 0.0 => {
            let rem = al.rem_euclid(bl);
            (rem, rem)
        }
        BinOp::Rem if bl == bh && bl > 0.0 => (0.0, bl),
        BinOp::Pow => corners(&|a: f64, b: f64| a.powf(b)),
        BinOp::Shl if bl >= 0.0 => corners(&|a, b| a * b.exp2()),
        BinOp::Shr if bl >= 0.0 => corners(&|a, b| (a / b.exp2()).floor()),
        BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor if al == ah && bl == bh && al.abs() < 9e15 && bl.abs() < 9e15 => {
            #[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss)]
            let (a, b) = (al as i64, bl as i64);
            #[allow(clippy::cast_precision_loss)]
            let bits = match op {
                BinOp::BitAnd => a & b,
                BinOp::BitOr => a | b,
                _ => a ^ b,
            } as f64;
            (bits, bits)
        }
        _ => (f64::NEG_INFINITY, f64::INFINITY),
    }
}

fn compare(op: BinOp, a: (f64, f64), b: (f64, f64)) -> Option<bool> {
    let less = |a: (f64, f64), b: (f64, f64)| {
        if a.1 < b.0 {
            Some(true)
        } else if a.0 >= b.1 {
            Some(false)
        } else {
            None
        }
    };
    let less_equal = |a: (f64, f64), b: (f64, f64)| {
        if a.1 <= b.0 {
            Some(true)
        } else if a.0 > b.1 {
            Some(false)
        } else {
            None
        }
    };
    match op {
        BinOp::Lt => less(a, b),
        BinOp::Le => less_equal(a, b),
        BinOp::Gt => less(b, a),
        BinOp::Ge => less_equal(b, a),
        BinOp::Eq | BinOp::Is => {
            if a.0 == a.1 && a == b {
                Some(true)
            } else if a.1 < b.0 || b.1 < a.0 {
                Some(false)
            } else {
                None
            }
        }
        BinOp::Ne | BinOp::IsNot => compare(BinOp::Eq, a, b).map(|equal| !equal),
        _ => None,
    }
}

pub(super) fn holds(op: BinOp, a: f64, b: f64) -> bool {
    compare(op, (a, a), (b, b)).unwrap_or(false)
}

/// Whether the operation is a comparison or membership test.
#[must_use]
pub fn is_test(op: BinOp) -> bool {
    matches!(
        op,
        BinOp::Eq
            | BinOp::Ne
            | BinOp::Lt
            | BinOp::Le
            | BinOp::Gt
            | BinOp::Ge
            | BinOp::In
            | BinOp::NotIn
            | BinOp::Is
            | BinOp::IsNot
    )
}

/// Whether a value is certainly not `None`.
fn certainly_some(value: &Value) -> bool {
    !matches!(value, Value::Sym(_) | Value::None) && !matches!(value, Value::Variant(name, _, _) if &**name == "None")
}

/// Whether a text that was put together begins otherwise than a text that is known.
fn begins_otherwise(symbols: &Symbols, built: &Value, text: &Value) -> bool {
    let (Value::Sym(id), Value::Str(text)) = (built, text) else { return false };
    match symbols.info(*id).map(|info| &info.node) {
        Some(Node::Call(name, parts)) if &**name == "format" => {
            matches!(parts.first(), Some(Value::Str(start)) if !text.starts_with(&**start))
        }
        _ => false,
    }
}

fn known_equal(a: &Value, b: &Value) -> Option<bool> {
    match (a, b) {
        (Value::None, Value::None) => Some(true),
        (Value::None, other) | (other, Value::None) if certainly_some(other) => Some(false),
        (Value::Str(a), Value::Str(b)) => Some(a == b),
        (Value::Bool(a, _), Value::Bool(b, _)) => Some(a == b),
        (Value::Path(a), Value::Path(b)) => Some(a == b),
        (Value::Variant(a, _, xs), Value::Variant(b, _, ys)) if a != b || (xs.is_empty() && ys.is_empty()) => {
            Some(a == b)
        }
        (Value::Str(_), Value::Num(_)) | (Value::Num(_), Value::Str(_)) => Some(false),
        // An error is no text and no number.
        (Value::Exc(_), Value::Str(_) | Value::Num(_) | Value::Bool(..))
        | (Value::Str(_) | Value::Num(_) | Value::Bool(..), Value::Exc(_)) => Some(false),
        _ => None,
    }
}

/// Whether a symbol is a number or text, whatever its value: what the server said, or the result of arithmetic.
fn is_number(symbols: &Symbols, id: SymId) -> bool {
    symbols.info(id).is_some_and(|info| match &info.node {
        Node::RetryAfter(_) | Node::RetryAfterText(_) | Node::Linear(..) => true,
        Node::Math(name, _) => matches!(&**name, "min" | "max" | "clamp" | "abs"),
        Node::Binary(op, a, b) => {
            !is_test(*op)
                && [a, b].into_iter().all(|side| match side {
                    Value::Num(_) => true,
                    Value::Sym(id) => is_number(symbols, *id),
                    _ => false,
                })
        }
        _ => false,
    })
}

/// `a op b`.
pub fn binary(symbols: &mut Symbols, op: BinOp, a: &Value, b: &Value) -> Value {
    // `x == None` and `x is None` are one question.
    if matches!(op, BinOp::Eq | BinOp::Is | BinOp::Ne | BinOp::IsNot) {
        let negated = matches!(op, BinOp::Ne | BinOp::IsNot);
        // A status that may be missing, compared with one that is there.
        for (one, other) in [(a, b), (b, a)] {
            if let (Value::Status(..), Value::Variant(name, _, args)) = (one, other) {
                match (&**name, args.first()) {
                    ("Some" | "Ok", Some(inner)) => return binary(symbols, op, one, &inner.clone()),
                    ("None", _) => return Value::Bool(negated, Taint::FAILURE),
                    _ => {}
                }
            }
        }
        if begins_otherwise(symbols, a, b) || begins_otherwise(symbols, b, a) {
            return Value::Bool(negated, symbols.taint(a).or(symbols.taint(b)));
        }
        if let Some(equal) = known_equal(a, b) {
            let taint = symbols.taint(a).or(symbols.taint(b));
            return Value::Bool(equal != negated, taint);
        }
        for (one, other) in [(a, b), (b, a)] {
            if *one == Value::None
                && let Value::Sym(id) = other
            {
                if is_number(symbols, *id) {
                    return Value::Bool(negated, symbols.taint(other));
                }
                let id = symbols.intern(Node::IsNone(other.clone()), Taint::NONE);
                return if negated { not(symbols, &Value::Sym(id)) } else { Value::Sym(id) };
            }
            if let (Value::Bool(wanted, _), Value::Sym(_) | Value::StatusIn(..)) = (one, other) {
                let same = *wanted != negated;
                return if same { other.clone() } else { not(symbols, other) };
            }
        }
    }
    match (a, b) {
        (Value::Status(resp, map), other) | (other, Value::Status(resp, map)) => {
            let flipped = !matches!(a, Value::Status(..));
            if let Value::Num(num) = other
                && let Some(number) = num.single()
            {
                let pair = |status: f64| if flipped { (number, status) } else { (status, number) };
                if is_test(op) && !matches!(op, BinOp::In | BinOp::NotIn) {
                    let set = status_set(map, |status| {
                        let (x, y) = pair(status);
                        holds(op, x, y)
                    });
                    return Value::StatusIn(*resp, set);
                }
                let mapped: Rc<[i32]> = map
                    .iter()
                    .map(|status| {
                        let (x, y) = pair(f64::from(*status));
                        let (low, _) = combine(op, (x, x), (y, y));
                        #[allow(clippy::cast_possible_truncation)]
                        let number = low.clamp(-1e9, 1e9).floor() as i32;
                        number
                    })
                    .collect();
                return Value::Status(*resp, mapped);
            }
            if !flipped
                && matches!(op, BinOp::In | BinOp::NotIn)
                && let Value::Tuple(items) = other
            {
                let numbers: Option<Vec<f64>> = items
                    .iter()
                    .map(|item| match item {
                        Value::Num(num) => num.single(),
                        _ => None,
                    })
                    .collect();
                if let Some(numbers) = numbers {
                    let inside = status_set(map, |status| numbers.contains(&status));
                    let set = if op == BinOp::In { inside } else { inside.complement() };
                    return Value::StatusIn(*resp, set);
                }
            }
        }
        (Value::StatusIn(r, x), Value::StatusIn(s, y)) if r == s => match op {
            BinOp::BitAnd => return Value::StatusIn(*r, x.and(y)),
            BinOp::BitOr => return Value::StatusIn(*r, x.or(y)),
            _ => {}
        },
        (item, Value::Tuple(items)) if matches!(op, BinOp::In | BinOp::NotIn) => {
            let known: Option<Vec<bool>> = items
                .iter()
                .map(|other| match binary(symbols, BinOp::Eq, item, other) {
                    Value::Bool(equal, _) => Some(equal),
                    _ => None,
                })
                .collect();
            if let Some(known) = known {
                let inside = known.contains(&true);
                return Value::Bool(inside == (op == BinOp::In), symbols.taint(item));
            }
        }
        _ => {}
    }
    let numeric = |value: &Value| matches!(value, Value::Num(_) | Value::Bool(..));
    let taint = symbols.taint(a).or(symbols.taint(b));
    let (x, y) = (bounds(symbols, a), bounds(symbols, b));
    if is_test(op) {
        if let Some(truth) = compare(op, x, y) {
            return Value::Bool(truth, taint);
        }
        // Differences of the same unknown decide too: n + 1 > n.
        if let (Some((base, off)), Some((base2, off2))) = (linear(symbols, a), linear(symbols, b))
            && base == base2
            && let Some(truth) = compare(op, (off, off), (off2, off2))
        {
            return Value::Bool(truth, taint);
        }
        let id = symbols.intern(Node::Binary(op, a.clone(), b.clone()), Taint::NONE);
        return Value::Sym(id);
    }
    if numeric(a) && numeric(b) {
        let (lo, hi) = combine(op, x, y);
        // What goes up or down by one counts.
        let counts = matches!(op, BinOp::Add | BinOp::Sub) && (x == (1.0, 1.0) || y == (1.0, 1.0));
        let taint = if counts { taint.or(Taint::COUNTER) } else { taint };
        return Value::Num(Num::range(lo, hi, taint));
    }
    if let (Value::Str(a), Value::Str(b), BinOp::Add) = (a, b, op) {
        return Value::Str(format!("{a}{b}").into());
    }
    // Symbol plus or minus a number.
    if matches!(op, BinOp::Add | BinOp::Sub) {
        let number = |value: &Value| match value {
            Value::Num(num) => num.single(),
            _ => None,
        };
        if let (Some((base, off)), Some(n)) = (linear(symbols, a), number(b)) {
            let off = if op == BinOp::Add { off + n } else { off - n };
            return make_linear(symbols, base.clone(), off, taint);
        }
        if let (Some(n), Some((base, off)), BinOp::Add) = (number(a), linear(symbols, b), op) {
            return make_linear(symbols, base.clone(), off + n, taint);
        }
        if let (Some((base, off)), Some((base2, off2)), BinOp::Sub) = (linear(symbols, a), linear(symbols, b), op)
            && base == base2
        {
            return Value::Num(Num { taint, ..Num::exact(off - off2) });
        }
    }
    let (lo, hi) = combine(op, x, y);
    let id = symbols.intern(Node::Binary(op, a.clone(), b.clone()), Taint::NONE);
    symbols.set_range(id, lo, hi);
    Value::Sym(id)
}

fn make_linear(symbols: &mut Symbols, base: Value, off: f64, taint: Taint) -> Value {
    if off == 0.0 {
        return base;
    }
    let (lo, hi) = bounds(symbols, &base);
    let id = symbols.intern(Node::Linear(base, F(off)), taint);
    symbols.set_range(id, lo + off, hi + off);
    Value::Sym(id)
}

/// A value as a symbol plus a number.
#[must_use]
pub fn linear<'s>(symbols: &'s Symbols, value: &'s Value) -> Option<(&'s Value, f64)> {
    let Value::Sym(id) = value else { return None };
    match &symbols.info(*id)?.node {
        Node::Linear(base, off) => Some((base, off.0)),
        _ => Some((value, 0.0)),
    }
}

/// `not a`.
pub fn not(symbols: &mut Symbols, value: &Value) -> Value {
    match truth(symbols, value) {
        Truth::Known(truth, taint) => Value::Bool(!truth, taint),
        Truth::Status(resp, set) => Value::StatusIn(resp, set.complement()),
        Truth::Unknown(id) => {
            if let Some(Node::Unary(UnOp::Not, inner)) = symbols.info(id).map(|info| info.node.clone()) {
                return inner;
            }
            Value::Sym(symbols.intern(Node::Unary(UnOp::Not, Value::Sym(id)), Taint::NONE))
        }
    }
}

/// A unary operation.
pub fn unary(symbols: &mut Symbols, op: UnOp, value: &Value) -> Value {
    match (op, value) {
        (UnOp::Not, _) => not(symbols, value),
        (UnOp::Same | UnOp::Plus, _) => value.clone(),
        (UnOp::Neg, Value::Num(num)) => Value::Num(Num::range(-num.hi.0, -num.lo.0, num.taint)),
        _ => {
            let (lo, hi) = bounds(symbols, value);
            let id = symbols.intern(Node::Unary(op, value.clone()), Taint::NONE);
            if op == UnOp::Neg {
                symbols.set_range(id, -hi, -lo);
            }
            Value::Sym(id)
        }
    }
}

/// The truth of a value, as a language with truthiness has it. (A typed language tests truth values only.)
pub fn truth(symbols: &mut Symbols, value: &Value) -> Truth {
    match value {
        Value::None => Truth::Known(false, Taint::NONE),
        Value::Bool(truth, taint) => Truth::Known(*truth, *taint),
        Value::Num(num) if num.lo.0 > 0.0 || num.hi.0 < 0.0 => Truth::Known(true, num.taint),
        Value::Num(num) if num.single() == Some(0.0) => Truth::Known(false, num.taint),
        Value::Str(text) => Truth::Known(!text.is_empty(), Taint::NONE),
        Value::StatusIn(resp, set) => Truth::Status(*resp, *set),
        Value::Tuple(items) => Truth::Known(!items.is_empty(), Taint::NONE),
        Value::Variant(name, _, _) => Truth::Known(&**name != "None", Taint::NONE),
        Value::Sym(id) => {
            let boolean = symbols.info(*id).is_some_and(|info| {
                matches!(
                    &info.node,
                    Node::IsNone(_) | Node::Truth(_) | Node::IsSuccess(_) | Node::Is(..) | Node::More(..)
                ) || matches!(&info.node, Node::Unary(UnOp::Not, _))
                    || matches!(&info.node, Node::Binary(op, _, _) if is_test(*op))
            });
            if boolean {
                Truth::Unknown(*id)
            } else {
                Truth::Unknown(symbols.intern(Node::Truth(value.clone()), Taint::NONE))
            }
        }
        Value::Num(_) | Value::Object(_) | Value::Body(_) => {
            Truth::Unknown(symbols.intern(Node::Truth(value.clone()), Taint::NONE))
        }
        _ => Truth::Known(true, Taint::NONE),
    }
}

/// A function of arithmetic that models name (`min`, `max`, `pow`, …); `None` where it is not one.
pub fn math(symbols: &mut Symbols, function: &str, args: &[Value]) -> Value {
    let flat: Vec<Value> = match args {
        [Value::Tuple(items)] if matches!(function, "min" | "max" | "sum") => items.to_vec(),
        _ => args.to_vec(),
    };
    let first = flat.first().cloned().unwrap_or(Value::None);
    let op = match function {
        "pow" => Some(BinOp::Pow),
        "add" => Some(BinOp::Add),
        "sub" => Some(BinOp::Sub),
        "mul" => Some(BinOp::Mul),
        "div" => Some(BinOp::Div),
        "shl" => Some(BinOp::Shl),
        "shr" => Some(BinOp::Shr),
        "rem" => Some(BinOp::Rem),
        "eq" => Some(BinOp::Eq),
        "ne" => Some(BinOp::Ne),
        _ => None,
    };
    if let (Some(op), [a, b, ..]) = (op, flat.as_slice()) {
        return binary(symbols, op, a, b);
    }
    let all: Vec<(f64, f64)> = flat.iter().map(|arg| bounds(symbols, arg)).collect();
    let taint = flat.iter().fold(Taint::NONE, |taint, arg| taint.or(symbols.taint(arg)));
    let taint = if matches!(function, "min" | "clamp") { taint.or(Taint::HELD) } else { taint };
    let (lo0, hi0) = all.first().copied().unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
    let (lo1, _) = all.get(1).copied().unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
    let (_, hi2) = all.get(2).copied().unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
    let fold = |f: fn(f64, f64) -> f64, start: f64| {
        (all.iter().map(|b| b.0).fold(start, f), all.iter().map(|b| b.1).fold(start, f))
    };
    let (lo, hi) = match function {
        "min" => fold(f64::min, f64::INFINITY),
        "max" => fold(f64::max, f64::NEG_INFINITY),
        "clamp" => (lo0.max(lo1).min(hi2), hi0.min(hi2).max(lo1)),
        "abs" => {
            let least = if lo0 <= 0.0 && hi0 >= 0.0 { 0.0 } else { lo0.abs().min(hi0.abs()) };
            (least, lo0.abs().max(hi0.abs()))
        }
        "int" | "floor" | "trunc" => (lo0.floor(), hi0.floor()),
        "ceil" => (lo0.ceil(), hi0.ceil()),
        "round" => (lo0.round(), hi0.round()),
        "exp" => (lo0.exp(), hi0.exp()),
        "exp2" => (lo0.exp2(), hi0.exp2()),
        "float" | "same" => (lo0, hi0),
        "sum" => (all.iter().map(|b| b.0).sum(), all.iter().map(|b| b.1).sum()),
        _ => (f64::NEG_INFINITY, f64::INFINITY),
    };
    let all_numbers = flat.iter().all(|arg| matches!(arg, Value::Num(_) | Value::Bool(..)));
    if all_numbers && !flat.is_empty() && lo.is_finite() {
        return Value::Num(Num::range(lo, hi, taint));
    }
    if matches!(function, "int" | "float" | "same" | "round" | "floor" | "trunc" | "ceil") {
        // Rounding an unknown number changes nothing that is asked here.
        return first;
    }
    if !matches!(function, "min" | "max" | "clamp" | "abs" | "exp" | "exp2" | "sum") {
        return Value::Sym(symbols.intern(Node::Math(function.into(), flat.into()), Taint::NONE));
    }
    let id = symbols.intern(Node::Math(function.into(), flat.into()), Taint::NONE);
    symbols.set_range(id, lo, hi);
    Value::Sym(id)
}
