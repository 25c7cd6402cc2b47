//! How waits grow from attempt to attempt, and where they stop to.
//!
//! Where lengths are known they are compared as they are. Where they are not, each unknown stands for the same number
//! (greater than one) in every turn, which shows how the code makes the next wait of the last.

use rustc_hash::FxHashMap;

use super::facts::Group;
use super::machine::{Advice, Machine, Plan};
use super::outage::Outage;
use super::policy::{Form, Pace, Wait};
use super::sites::Found;
use super::state::{Event, State};
use super::value::{Node, SymId, Taint, Value};
use crate::ir::{BinOp, UnOp};

/// What an unknown number is taken to be.
const UNKNOWN: f64 = 3.0;
/// So many numbers near [`UNKNOWN`] stand for what is given.
const SAMPLES: u32 = 5;
/// A wait that is so many times as long as the last has been multiplied, not added to.
const DOUBLED: f64 = 1.45;
/// Waits that are looked at.
const LOOKED_AT: usize = 8;
/// A length is made of the last one, turn by turn, and that again.
const DEPTH: u32 = 60;
/// Waits that show how they grow, though they do not to the end.
const LONG_ENOUGH: usize = 3;
/// Attempts beyond the last that are looked at to see how waits grow.
const LONGER: u32 = 2;

/// One wait or two do not tell how they grow: the same outage, as it would go on if no count ended it.
pub(super) fn longer(machine: &mut Machine<'_>, found: &Found<'_>, group: &Group, outage: &Outage) -> Option<Outage> {
    let lengths: Vec<f64> = outage.waits.iter().map(|wait| wait.high).filter(|length| *length > 0.0).collect();
    let attempts = outage.attempts.filter(|_| found.form == Form::Loop)?;
    match lengths.as_slice() {
        [_] => {}
        [a, b] if a != b => {}
        // Neither the same is added each time nor is it multiplied: the first may be reckoned otherwise than the others.
        [a, b, c] if a < b && b < c && !is_near(b - a, c - b) && !is_near(b / a, c / b) => {}
        _ => return None,
    }
    let plan = Plan { uncounted: Some(attempts.saturating_sub(1)), ..found.plan.clone() };
    let most = outage.simulated + LONGER;
    let longer = machine.outage(&plan, &found.entries, group.op.place, &group.how, Advice::Absent, Some(most));
    // What a test of the count did in the first turn may have been for that turn alone.
    let goes_on = longer.waits.len() > outage.waits.len() && longer.waits.starts_with(&outage.waits);
    goes_on.then_some(longer)
}

/// How the wait goes on from attempt to attempt.
pub(super) fn pace(machine: &Machine<'_>, outage: &Outage, after_failure: &[Event]) -> Pace {
    let waits = &outage.waits;
    if waits.iter().all(|wait| wait.high == 0.0 && !wait.unknown) {
        return Pace::None;
    }
    if outage.cut && outage.attempts.is_none() && waits.len() < 2 {
        // One wait shows no growth, and there are more.
        return Pace::Unknown;
    }
    if waits.iter().all(|wait| !wait.unknown && wait.high.is_finite()) {
        let lengths: Vec<f64> = waits.iter().map(|wait| wait.high).collect();
        let pace = growth(&lengths);
        if pace != Pace::Fixed || waits.iter().all(|wait| wait.low == wait.high) {
            return pace;
        }
        // Only the longest that each may be is known, which may be a ceiling, if it is none of several that are written down.
        let states = outage.survivors.iter().chain(outage.left.iter().map(|(_, finished)| &finished.state));
        let mut events = states.flat_map(State::events);
        let steady = waits.len() > 1 && waits.windows(2).all(|pair| matches!(pair, [a, b] if a == b));
        if steady && waits.iter().all(|wait| wait.low > 0.0) && events.all(is_written_down) {
            return Pace::Fixed;
        }
    }
    // A path on which nothing is waited for, where there are others, has nothing to show.
    let mut states = outage.survivors.iter().chain(outage.left.last().map(|(_, finished)| &finished.state));
    let state = states.clone().find(|state| waits_on(state)).or_else(|| states.next());
    let lengths = state.map(|state| sampled(machine, state, |sum, wait| sum + wait)).unwrap_or_default();
    let grows = lengths.windows(2).any(|pair| matches!(pair, [a, b] if a != b));
    if lengths.len() >= 2 && grows && growth(&lengths) != Pace::Unknown {
        return growth(&lengths);
    }
    // A ceiling that is tested for, and not known, cuts waits short on some paths, and on others does not.
    let all = longest(machine, outage);
    if matches!(all, Pace::Linear | Pace::Exponential) {
        return all;
    }
    if grows {
        return Pace::Unknown;
    }
    let constant = |event: &Event| match event {
        Event::Wait { value: Value::Num(_) | Value::Path(_), .. } => Some(true),
        Event::Wait { value: value @ Value::Sym(_), .. } => {
            let again = |state: &&State| is_waited_again(machine, state, value);
            Some(is_given(machine, value, 8) || state.as_ref().is_some_and(again))
        }
        _ => None,
    };
    let all = |events: &mut dyn Iterator<Item = &Event>| {
        let told: Vec<bool> = events.filter_map(constant).collect();
        !told.is_empty() && told.into_iter().all(|constant| constant)
    };
    let sampled = state.filter(|state| waits_on(state)).map(State::events).unwrap_or_default();
    let told = all(&mut after_failure.iter()) || all(&mut sampled.into_iter());
    if told { Pace::Fixed } else { Pace::Unknown }
}

/// How the longest waits of all paths grow, turn by turn, as long as they do: not all paths are kept to the end. Of
/// several waits in a turn the longest counts, since turns that went by the operation add theirs to it on some paths.
fn longest(machine: &Machine<'_>, outage: &Outage) -> Pace {
    let mut longest: Vec<f64> = Vec::new();
    let states = outage.survivors.iter().chain(outage.left.iter().map(|(_, finished)| &finished.state));
    let mut several = 0;
    for state in states {
        several += 1;
        for (at, length) in sampled(machine, state, f64::max).into_iter().enumerate() {
            match longest.get_mut(at) {
                Some(most) => *most = most.max(length),
                None => longest.push(length),
            }
        }
    }
    let falls = longest.windows(2).position(|pair| matches!(pair, [a, b] if b < a));
    longest.truncate(falls.filter(|at| several > 1 && *at > LONG_ENOUGH).map_or(longest.len(), |at| at + 1));
    growth(&longest)
}

/// Whether chance has a part in how long it is waited, after this failure or a later one of the outage.
pub(super) fn is_jittered(machine: &Machine<'_>, outage: &Outage, after_failure: &[Event]) -> bool {
    let drawn = |event: &Event| match event {
        Event::Wait { value, .. } => machine.symbols.taint(value).has(Taint::RANDOM),
        _ => false,
    };
    let states = outage.survivors.iter().chain(outage.left.iter().map(|(_, finished)| &finished.state));
    after_failure.iter().any(drawn) || states.flat_map(State::events).any(drawn)
}

/// Whether a length is waited for twice on a path, and nothing of what it is made of was made anew between.
fn is_waited_again(machine: &Machine<'_>, state: &State, length: &Value) -> bool {
    let mut roots = Vec::new();
    machine.symbols.collect_roots(length, &mut roots);
    let once = !roots.is_empty() && roots.iter().all(|root| state.versions.get(root).is_none_or(|made| *made <= 1));
    let events = state.events();
    let waits = events.iter().filter(|event| matches!(event, Event::Wait { value, .. } if value == length));
    once && waits.count() > 1
}

/// Whether a length is made of nothing but what the code, its caller or a setting gives, which a turn does not change.
fn is_given(machine: &Machine<'_>, length: &Value, depth: u32) -> bool {
    const CHANGING: [Taint; 8] = [
        Taint::FAILURE,
        Taint::CLOCK,
        Taint::CALL,
        Taint::SERVER,
        Taint::ITEM,
        Taint::FLAG,
        Taint::FRESH,
        Taint::COUNTER,
    ];
    let taint = machine.symbols.taint(length);
    let Some(depth) = depth.checked_sub(1) else { return false };
    if CHANGING.iter().any(|source| taint.has(*source)) {
        return false;
    }
    let given = |part: &Value| is_given(machine, part, depth);
    match length {
        Value::Sym(id) => machine.symbols.info(*id).is_some_and(|info| match &info.node {
            Node::Binary(_, a, b) => given(a) && given(b),
            Node::Linear(inner, _) | Node::Unary(_, inner) | Node::Payload(inner, _) => given(inner),
            Node::Math(_, args) => args.iter().all(given),
            Node::Call(..) => false,
            _ => true,
        }),
        Value::Variant(_, _, args) => args.iter().all(given),
        Value::Num(_) | Value::Path(_) | Value::Inst(_) => true,
        _ => false,
    }
}

/// Whether an event is no wait, or one of a length that is written down.
fn is_written_down(event: &Event) -> bool {
    match event {
        Event::Wait { value, .. } => matches!(value, Value::Num(num) if num.single().is_some()),
        _ => true,
    }
}

/// Whether two numbers are the same but for rounding.
fn is_near(a: f64, b: f64) -> bool {
    (b - a).abs() <= 0.01 * a.abs()
}

/// Whether a path waits.
fn waits_on(state: &State) -> bool {
    state.events().iter().any(|event| matches!(event, Event::Wait { .. }))
}

/// The waits of a path, turn by turn, unknowns taken for a number; several in one turn are joined. It ends before the
/// first that is made of too much.
fn sampled(machine: &Machine<'_>, state: &State, join: fn(f64, f64) -> f64) -> Vec<f64> {
    let mut lengths = Vec::new();
    let mut now: Option<f64> = None;
    let mut known = FxHashMap::default();
    for event in state.events() {
        match event {
            Event::Wait { value, .. } => match sample(machine, value, DEPTH, &mut known) {
                Some(length) => now = Some(join(now.unwrap_or(0.0), length)),
                None => return lengths,
            },
            Event::Fail(..) => lengths.extend(now.take()),
            _ => {}
        }
    }
    lengths.extend(now);
    lengths
}

/// A value with each unknown in it taken for [`UNKNOWN`]; `None` where it is made of too much. What a wait is made of is
/// made of what the last one is made of: `known` are the parts that were met before.
fn sample(machine: &Machine<'_>, value: &Value, depth: u32, known: &mut FxHashMap<SymId, Option<f64>>) -> Option<f64> {
    match value {
        Value::Num(num) => Some(f64::midpoint(num.lo.0, num.hi.0.min(1.0e12))),
        Value::Variant(_, _, args) => match args.first() {
            Some(arg) => sample(machine, arg, depth.checked_sub(1)?, known),
            None => Some(UNKNOWN),
        },
        Value::Sym(id) => {
            if let Some(length) = known.get(id) {
                return *length;
            }
            let length = sample_made(machine, *id, depth.checked_sub(1)?, known);
            known.insert(*id, length);
            length
        }
        _ => Some(UNKNOWN),
    }
}

/// As [`sample`], by what a symbol is made of.
fn sample_made(machine: &Machine<'_>, id: SymId, depth: u32, known: &mut FxHashMap<SymId, Option<f64>>) -> Option<f64> {
    let mut of = |value: &Value| sample(machine, value, depth, known);
    let Some(info) = machine.symbols.info(id) else { return Some(UNKNOWN) };
    Some(match &info.node {
        Node::Linear(base, off) => of(base)? + off.0,
        Node::Binary(op, a, b) => {
            let (x, y) = (of(a)?, of(b)?);
            match op {
                BinOp::Add => x + y,
                BinOp::Sub => x - y,
                BinOp::Mul => x * y,
                BinOp::Div | BinOp::FloorDiv if y != 0.0 => x / y,
                BinOp::Pow => x.powf(y),
                BinOp::Shl => x * y.exp2(),
                _ => UNKNOWN,
            }
        }
        Node::Math(name, args) => {
            // A limit that is not known is far away.
            let told: Option<Vec<f64>> = args.iter().filter(|arg| is_made(machine, arg)).map(&mut of).collect();
            let told = told?.into_iter();
            match &**name {
                "min" => told.reduce(f64::min).unwrap_or(UNKNOWN),
                "max" => told.reduce(f64::max).unwrap_or(UNKNOWN),
                "sum" => args.iter().map(of).sum::<Option<f64>>()?,
                // The upper end grows, whatever the lower one does.
                "random" => args.last().map_or(Some(UNKNOWN), of)?,
                "exp" => args.first().map_or(Some(UNKNOWN), of)?.exp(),
                "exp2" => args.first().map_or(Some(UNKNOWN), of)?.exp2(),
                _ => args.first().map_or(Some(UNKNOWN), of)?,
            }
        }
        Node::Unary(UnOp::Neg, inner) => -of(inner)?,
        Node::Payload(inner, _) => of(inner)?,
        // Two that are given are two numbers: the sum of both is not twice the one.
        Node::Param(..) | Node::Attr(..) | Node::Global(..) => UNKNOWN * (1.0 + f64::from(id.0 % SAMPLES) / 50.0),
        _ => UNKNOWN,
    })
}

/// Whether a value is made of others, or known: no bare unknown.
fn is_made(machine: &Machine<'_>, value: &Value) -> bool {
    match value {
        Value::Num(_) => true,
        Value::Sym(id) => machine
            .symbols
            .info(*id)
            .is_some_and(|info| matches!(info.node, Node::Linear(..) | Node::Binary(..) | Node::Math(..))),
        _ => false,
    }
}

/// How lengths go on, a first attempt at once and a ceiling at the end aside.
fn growth(lengths: &[f64]) -> Pace {
    let lengths: Vec<f64> = lengths.iter().copied().skip_while(|length| *length == 0.0).collect();
    // A least length, which holds until it is passed, and a sum of the last two begin with the same several times. It says
    // less of how they go on than what comes after it.
    let held = lengths.iter().take_while(|length| Some(*length) == lengths.first()).count();
    let rising = lengths.get(held..).unwrap_or_default();
    let begin = match rising {
        [a, b, _, ..] if held > 1 && lengths.first() < Some(a) && a < b => held,
        [a, _, ..] if held == 2 && lengths.first() < Some(a) => 1,
        _ => 0,
    };
    let lengths: Vec<f64> = lengths.iter().copied().skip(begin).take(LOOKED_AT).collect();
    if lengths.windows(2).any(|pair| matches!(pair, [a, b] if b < a)) {
        return Pace::Unknown;
    }
    let most = lengths.iter().copied().fold(0.0, f64::max);
    let up = lengths.iter().take_while(|length| **length < most).count();
    // What has come to its ceiling no longer grows; a last step that is cut short by it says nothing of the growth.
    let at_ceiling = lengths.get(up + 1).is_some_and(|after| *after == most);
    let steps: Vec<f64> = lengths.iter().copied().take(up + 1).collect();
    if steps.len() < 2 {
        return Pace::Fixed;
    }
    let full = if at_ceiling && steps.len() > 2 { steps.get(..steps.len() - 1).unwrap_or(&steps) } else { &steps };
    let pairs = || full.windows(2).filter_map(|pair| if let [a, b] = pair { Some((*a, *b)) } else { None });
    if pairs().any(|(a, b)| b <= a) {
        return Pace::Unknown;
    }
    let first = pairs().next().map_or(0.0, |(a, b)| b - a);
    let added = full.len() > 2 && pairs().all(|(a, b)| is_near(first, b - a));
    // A first wait that is reckoned otherwise (drawn, or a fixed one) changes nothing of how the others go on.
    let steps: Vec<f64> = pairs().skip(1).map(|(a, b)| b - a).collect();
    let equal = |pair: &[f64]| matches!(pair, [a, b] if is_near(*a, *b));
    let added =
        added || steps.len() > 1 && first <= steps.first().copied().unwrap_or(first) && steps.windows(2).all(equal);
    match () {
        () if added => Pace::Linear,
        () if pairs().all(|(a, b)| b >= a * DOUBLED) => Pace::Exponential,
        () => Pace::Linear,
    }
}

/// The ceiling of a growing wait: the length at which it stays.
pub(super) fn ceiling(waits: &[Wait], pace: Pace) -> Option<f64> {
    if !matches!(pace, Pace::Exponential | Pace::Linear) {
        return None;
    }
    let lengths: Vec<f64> = waits.iter().filter(|wait| !wait.unknown).map(|wait| wait.high).collect();
    match lengths.as_slice() {
        [.., a, b] if a == b => Some(*b),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Pace, growth};

    #[test]
    fn growth_is_told_from_the_lengths() {
        assert_eq!(growth(&[2.0, 2.0, 2.0]), Pace::Fixed);
        assert_eq!(growth(&[1.0, 2.0, 4.0, 8.0]), Pace::Exponential);
        assert_eq!(growth(&[0.0, 1.0, 2.0, 4.0]), Pace::Exponential);
        assert_eq!(growth(&[1.0, 2.0, 4.0, 5.0, 5.0]), Pace::Exponential);
        assert_eq!(growth(&[1.0, 1.5, 2.25]), Pace::Exponential);
        assert_eq!(growth(&[1.0, 3.0, 5.0, 7.0]), Pace::Linear);
        assert_eq!(growth(&[5.0, 10.0, 15.0]), Pace::Linear);
        assert_eq!(growth(&[1.0, 2.0, 3.0, 4.0, 4.0]), Pace::Linear);
        assert_eq!(growth(&[1.0, 1.1, 1.3]), Pace::Linear);
        assert_eq!(growth(&[1.0, 3.5, 6.5, 9.5, 10.0, 10.0]), Pace::Linear);
        assert_eq!(growth(&[2.0, 1.0, 0.5]), Pace::Unknown);
        assert_eq!(growth(&[1.0, 4.0, 2.0, 4.0]), Pace::Unknown);
        assert_eq!(growth(&[1.0, 3.0]), Pace::Exponential);
        assert_eq!(growth(&[0.1, 0.1, 0.2, 0.3, 0.5, 0.8]), Pace::Exponential);
        assert_eq!(growth(&[1.0, 1.0, 2.0, 3.0, 4.0]), Pace::Linear);
        assert_eq!(growth(&[1.0, 1.0, 1.0, 2.0]), Pace::Unknown);
        assert_eq!(growth(&[5.0, 5.0, 5.0, 5.0, 8.0, 16.0, 32.0, 60.0]), Pace::Exponential);
        assert_eq!(growth(&[5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 6.0, 7.0, 8.0, 9.0]), Pace::Linear);
        assert_eq!(growth(&[5.0, 5.0, 5.0, 8.0, 8.0, 8.0]), Pace::Unknown);
        assert_eq!(growth(&[0.5, 0.75, 1.125, 1.6875, 2.53125, 3.796875, 5.6953125, 8.54296875]), Pace::Exponential);
    }
}
