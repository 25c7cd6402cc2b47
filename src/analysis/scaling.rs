//! Numbers that come to the end of what their sort can hold: powers, products and shifts of whole numbers with a width,
//! whole numbers that become floating-point ones, spans of time.
//!
//! Numbers are followed as if their sorts had no end, so that the waits of a policy are those that were meant; what
//! comes near an end leaves an [`Event::Scaled`], and [`super::overflow`] tells from those at which attempt it is passed.
//! A number carries its sort among its sources ([`Taint::SORTS`]), from where it was written with a suffix, declared or
//! cast. One of which the sort is not known has no end.

use std::rc::Rc;

use super::calls::Call;
use super::machine::Machine;
use super::state::{Event, Past, Scaled, State};
use super::value::{Num, Taint, Value};
use crate::ir::{BinOp, Const, Function, Instr, Op, Slot, TypeRef, UnOp};
use crate::source::Span;

/// How numbers are put together.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scaling {
    op: BinOp,
    span: Span,
    /// It goes on from the other end whatever the build.
    wraps: bool,
    /// What it makes has an end of its own.
    greatest: Option<f64>,
}

impl Scaling {
    /// By an operator.
    pub fn plain(op: BinOp, span: Span) -> Scaling {
        Scaling { op, span, wraps: false, greatest: None }
    }

    /// By a function that a model describes.
    pub fn named(call: &Call<'_>) -> Option<Scaling> {
        let name = call.entry.function.as_deref()?;
        let wraps = name.starts_with("wrapping-");
        let op = match name.trim_start_matches("wrapping-") {
            "pow" => BinOp::Pow,
            "mul" => BinOp::Mul,
            "shl" => BinOp::Shl,
            _ => return None,
        };
        Some(Scaling { op, span: call.span, wraps, greatest: call.entry.greatest })
    }
}

/// A number as one of the sort that it was declared to be.
pub(super) fn of_sort(value: Value, declared: Option<&TypeRef>) -> Value {
    match declared.and_then(|ty| Taint::of_type(&ty.path)) {
        Some(sort) => with_sort(value, sort),
        None => value,
    }
}

/// A number as one of this sort.
pub(super) fn with_sort(value: Value, sort: Taint) -> Value {
    match value {
        Value::Num(num) => Value::Num(Num { taint: num.taint.without(Taint::SORTS).or(sort), ..num }),
        other => other,
    }
}

/// The sort that a model names.
pub(super) fn named_sort(name: &str) -> Option<Taint> {
    if name == "float" { Some(Taint::FLOAT) } else { Taint::of_type(name) }
}

/// The name, width and greatest number of a sort of whole numbers.
fn width(sorts: Taint) -> Option<(&'static str, i32, f64)> {
    let bits = |bits: i32| f64::from(bits).exp2();
    match sorts {
        Taint::I32 => Some(("i32", 32, bits(31) - 1.0)),
        Taint::U32 => Some(("u32", 32, bits(32) - 1.0)),
        // The next number below that a float can hold is far enough from it.
        Taint::I64 => Some(("i64", 64, bits(63).next_down())),
        Taint::U64 => Some(("u64", 64, bits(64).next_down())),
        _ => None,
    }
}

/// The greatest number of a number's sort, where that has an end.
pub(super) fn greatest(value: &Value) -> f64 {
    let sorts = match value {
        Value::Num(num) => num.taint.among(Taint::SORTS),
        _ => Taint::NONE,
    };
    width(sorts).map_or(f64::INFINITY, |(_, _, greatest)| greatest)
}

/// What is made: a number and the end of its sort.
struct Made {
    value: f64,
    greatest: f64,
    sort: Rc<str>,
    past: Past,
    raised: bool,
}

impl Machine<'_> {
    /// Notes what two numbers make, and gives it the sort that it has.
    pub(super) fn scaled(&mut self, state: &mut State, how: Scaling, a: &Value, b: &Value, made: Value) -> Value {
        let (Value::Num(x), Value::Num(y), Value::Num(z)) = (a, b, &made) else { return made };
        let power = matches!(how.op, BinOp::Pow | BinOp::Shl);
        if !power && !matches!(how.op, BinOp::Add | BinOp::Sub | BinOp::Mul) {
            return made;
        }
        let (first, second) = (x.taint.among(Taint::SORTS), y.taint.among(Taint::SORTS));
        let sorts = match () {
            () if power && how.op == BinOp::Shl => first,
            () if power && first == Taint::NONE => second.among(Taint::FLOAT),
            () if power => first.or(second.among(Taint::FLOAT)),
            () if first.or(second).has(Taint::SPAN) => Taint::SPAN,
            () => first.or(second),
        };
        let mut taint = z.taint.without(Taint::SORTS).or(sorts);
        if power {
            taint = taint.or(Taint::RAISED);
        }
        let end = match sorts {
            Taint::SPAN => self.end_of_span(state, how, (x, y), z),
            _ if sorts.has(Taint::FLOAT) => self.end_of_float(state, how.op, (x, y), z),
            _ => end_of_width(how, sorts, y, z),
        };
        let Some(end) = end else { return Value::Num(Num { taint, ..*z }) };
        let held = x.taint.or(y.taint).has(Taint::HELD);
        self.note_scaled(state, how.span, Made { raised: end.raised || power, ..end }, held);
        Value::Num(Num { taint: taint.or(Taint::SCALED), ..*z })
    }

    fn note_scaled(&mut self, state: &mut State, span: Span, made: Made, held: bool) {
        let (place, at) = (self.place(state), self.at(state, span));
        let Made { value, greatest, sort, past, raised } = made;
        state.push(Event::Scaled(Rc::new(Scaled { place, at, value, greatest, sort, past, held, raised })));
    }

    /// What becomes of a number that is too great for a float or a span; `None` where somebody reckons with that.
    fn past_the_end(&self, state: &State) -> Option<Past> {
        let file = state.top().map_or(self.file, |frame| frame.func.file);
        match self.models(file).overflow() {
            Some(class) if self.is_foreseen(state, class) => None,
            Some(class) => Some(Past::Raises(class.into())),
            None => Some(Past::Panics),
        }
    }

    /// A whole number that is too great to become a float, and a power of floats that is too great.
    fn end_of_float(&self, state: &State, op: BinOp, (x, y): (&Num, &Num), made: &Num) -> Option<Made> {
        let file = state.top().map_or(self.file, |frame| frame.func.file);
        self.models(file).overflow()?;
        let whole = |num: &Num| !num.taint.has(Taint::FLOAT);
        let grown = match op {
            BinOp::Pow => made,
            _ if whole(x) => x,
            _ if whole(y) => y,
            // Two floats make an infinite one.
            _ => return None,
        };
        let past = self.past_the_end(state)?;
        let raised = grown.taint.has(Taint::RAISED);
        Some(Made { value: grown.hi.0, greatest: f64::MAX, sort: "float".into(), past, raised })
    }

    /// A span of time that is multiplied, or the number that it is multiplied with.
    fn end_of_span(&self, state: &State, how: Scaling, (x, y): (&Num, &Num), made: &Num) -> Option<Made> {
        let file = state.top().map_or(self.file, |frame| frame.func.file);
        let span = self.models(file).span_of_time()?;
        let grown = if x.taint.has(Taint::SPAN) { y } else { x };
        if how.op != BinOp::Mul || grown.taint.has(Taint::SPAN) {
            return None;
        }
        let raised = grown.taint.has(Taint::RAISED);
        let bare = grown.taint.among(Taint::SORTS) == Taint::NONE;
        let factor = span.factor.as_deref().and_then(Taint::of_type).and_then(width);
        if let Some((sort, _, greatest)) = factor.filter(|_| bare && how.greatest.is_none()) {
            // A number of which nothing else is known is of the sort that a span is multiplied with.
            let past = past_of_bare(grown.hi.0);
            return Some(Made { value: grown.hi.0, greatest, sort: sort.into(), past, raised });
        }
        let past = self.past_the_end(state)?;
        let greatest = how.greatest.or(span.greatest)?;
        Some(Made { value: made.hi.0, greatest, sort: "span of time".into(), past, raised })
    }

    /// A span of time made of a number.
    pub(super) fn span_made(&mut self, state: &mut State, call: &Call<'_>, value: Value) -> Value {
        let Value::Num(num) = value else { return value };
        let made_here = call.entry.amount.is_some() || !call.entry.parts.is_empty();
        let sort = match call.entry.sort.as_deref().and_then(named_sort) {
            Some(sort) if !made_here => sort,
            // A span's reading as a number.
            _ if !made_here => Taint::TYPED,
            _ => Taint::SPAN,
        };
        let taint = num.taint.without(Taint::SORTS).or(sort);
        let given = call.args.nth(0).cloned();
        let mut scaled = false;
        let raised = num.taint.has(Taint::RAISED);
        let held = num.taint.has(Taint::HELD);
        let takes = call.entry.sort.as_deref().and_then(Taint::of_type).and_then(width).filter(|_| made_here);
        if let (Some((sort, _, greatest)), Some(Value::Num(amount))) = (takes, &given)
            && amount.taint.among(Taint::SORTS) == Taint::NONE
            && raised
        {
            let past = past_of_bare(amount.hi.0);
            let made = Made { value: amount.hi.0, greatest, sort: sort.into(), past, raised };
            self.note_scaled(state, call.span, made, held);
            scaled = true;
        }
        if let Some(greatest) = call.entry.greatest.filter(|_| made_here)
            && raised
            && let Some(past) = self.past_the_end(state)
        {
            let made = Made { value: num.hi.0, greatest, sort: "span of time".into(), past, raised };
            self.note_scaled(state, call.span, made, held);
            scaled = true;
        }
        let taint = if scaled { taint.or(Taint::SCALED) } else { taint };
        Value::Num(Num { taint, ..num })
    }

    /// A cast of a power or shift to a narrower sort, which cuts it. Where nothing but literals make the number, it is
    /// of the sort that a language gives them for want of another.
    pub(super) fn cast(&mut self, state: &mut State, value: Value, op: UnOp, slot: Slot, instr: &Instr) -> Value {
        let Value::Num(num) = &value else { return value };
        if op != UnOp::Plus || !num.taint.has(Taint::RAISED) {
            return value;
        }
        let function = state.top().and_then(|frame| self.project.function(frame.func));
        let Some(function) = function else { return value };
        let to = instr.dst.and_then(|dst| function.slot(dst)).and_then(|info| info.ty.as_ref());
        let to = to.and_then(|ty| Taint::of_type(&ty.path));
        let (from, of_width) = (num.taint.among(Taint::SORTS), |sort: Option<Taint>| sort.and_then(width));
        let end = match from {
            Taint::NONE => of_width(to.filter(|_| is_bare(function, slot, 6)).map(|_| Taint::I32)),
            _ => of_width(to.filter(|_| width(from).is_some())),
        };
        let Some((sort, _, greatest)) = end else { return value };
        let past = Past::Wraps { checked: false };
        let made = Made { value: num.hi.0, greatest, sort: sort.into(), past, raised: true };
        self.note_scaled(state, instr.span, made, num.taint.has(Taint::HELD));
        Value::Num(Num { taint: num.taint.or(Taint::SCALED), ..*num })
    }

    /// Whether an exception of this class, raised here, is taken by a handler that is there for it or for any.
    fn is_foreseen(&self, state: &State, class: &str) -> bool {
        state.frames.iter().rev().any(|frame| {
            let Some(function) = self.project.function(frame.func) else { return false };
            let Some(mut at) = function.block(frame.block).and_then(|block| block.unwind) else { return false };
            let models = self.models(frame.func.file);
            for _ in 0..8 {
                let Some(block) = function.block(at) else { return false };
                let named = block.instrs.iter().any(|instr| match &instr.op {
                    Op::Path(path) => models.exception(path).is_some() && models.is_subclass(class, path) == Some(true),
                    _ => false,
                });
                if named {
                    return true;
                }
                at = match &block.term {
                    crate::ir::Term::Goto(to) => *to,
                    crate::ir::Term::Branch { otherwise, .. } => *otherwise,
                    _ => return false,
                };
            }
            false
        })
    }
}

/// A whole number of a width.
fn end_of_width(how: Scaling, sorts: Taint, by: &Num, made: &Num) -> Option<Made> {
    let (sort, bits, greatest) = width(sorts)?;
    if matches!(how.op, BinOp::Add | BinOp::Sub) {
        return None;
    }
    let past = match how.op {
        BinOp::Shl if by.hi.0 >= f64::from(bits) && !how.wraps => Past::Turns,
        // Bits that are shifted out are lost in silence.
        BinOp::Shl => Past::Wraps { checked: false },
        _ => Past::Wraps { checked: !how.wraps },
    };
    Some(Made { value: made.hi.0, greatest, sort: sort.into(), past, raised: made.taint.has(Taint::RAISED) })
}

/// What becomes of a power whose sort only its use tells: it was shifted, since only a shift needs no sort, and was
/// multiplied after that where it is no power of two.
fn past_of_bare(value: f64) -> Past {
    if value.log2().fract() == 0.0 { Past::Turns } else { Past::Wraps { checked: true } }
}

/// Whether a value is made of literals alone, a shift's amount aside.
fn is_bare(function: &Function, slot: Slot, depth: u32) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    let named = function.slot(slot).is_none_or(|info| info.name.is_some() || info.ty.is_some());
    let mut made = function.blocks.iter().flat_map(|block| &block.instrs).filter(|instr| instr.dst == Some(slot));
    let (Some(instr), None, false) = (made.next(), made.next(), named) else { return false };
    match &instr.op {
        Op::Const(Const::Int(_)) => true,
        Op::Binary(BinOp::Shl, a, _) => is_bare(function, *a, depth),
        Op::Binary(BinOp::Mul | BinOp::Add | BinOp::Sub, a, b) => {
            is_bare(function, *a, depth) && is_bare(function, *b, depth)
        }
        _ => false,
    }
}
