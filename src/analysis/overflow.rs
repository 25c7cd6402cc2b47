//! At which attempt the arithmetic of a wait comes to the end of its numbers, and how long that takes.
//!
//! An outage leaves the numbers that were made before each attempt. One that passes its end there is seen to; a power or
//! shift that was seen to grow by the same factor up to the last attempt, and that nothing holds down, is reckoned on.

use super::facts::local_span;
use super::machine::Machine;
use super::outage::Outage;
use super::policy::{Bound, Overflow, Overrun, Wait};
use super::sites::Found;
use super::state::{Event, Past, Scaled, State};
use super::value::{Node, Taint, Value};

/// Attempts that are reckoned with.
const MOST: u32 = 5_000;
/// Attempts that somebody may ask for.
const MOST_CHOSEN: u32 = 100;
/// A number that grows by less than this factor is not reckoned on.
const GROWS: f64 = 1.2;
/// Whole numbers with no more than so many digits (to base two, zeros at the end aside) came out exactly.
const EXACT: f64 = 1_073_741_824.0;

/// The first overflow on the way to a wait, while an outage lasts.
pub(super) fn overflow(machine: &Machine<'_>, found: &Found<'_>, outage: &Outage, bound: &Bound) -> Option<Overflow> {
    let (most, deadline) = match bound {
        Bound::Count(Some(count)) => (*count, None),
        Bound::Both(count, Some(deadline)) => (count.unwrap_or(u32::MAX), Some(*deadline)),
        Bound::Deadline(Some(deadline)) => (u32::MAX, Some(*deadline)),
        Bound::None | Bound::Flag | Bound::Broken(_) => (u32::MAX, None),
        Bound::Caller | Bound::Count(None) => (MOST_CHOSEN, None),
        Bound::Deadline(None) | Bound::Both(..) | Bound::Unknown => return None,
    };
    let state = outage.survivors.first().or(outage.left.last().map(|(_, finished)| &finished.state))?;
    // A clock that is asked as well may end it first.
    if deadline.is_none() && state.events().iter().any(|event| matches!(event, Event::ClockTest { .. })) {
        return None;
    }
    let gaps = gaps(state);
    let waited = gaps.iter().rev().find_map(|gap| gap.waited.as_ref())?;
    if !machine.symbols.taint(waited).has(Taint::SCALED) {
        return None;
    }
    let mut places: Vec<&Scaled> = Vec::new();
    for scaled in gaps.iter().flat_map(|gap| &gap.scaled) {
        if !places.iter().any(|known| known.place == scaled.place) {
            places.push(scaled);
        }
    }
    let ends = places.iter().filter_map(|first| Some((passes(&gaps, first)?, *first)));
    let ((gap, value, last), _) = ends.min_by_key(|((gap, ..), _)| *gap)?;
    // Before attempt 2 the gap is the first one.
    if gap >= most {
        return None;
    }
    let after = time_until(&outage.waits, gap);
    if deadline.is_some_and(|deadline| after.is_none_or(|after| after > deadline)) {
        return None;
    }
    Some(Overflow {
        attempt: gap + 1,
        after,
        held: is_held(machine, waited),
        sort: last.sort.to_string(),
        outcome: outcome(last, value),
        span: local_span(machine, found, last.at),
    })
}

/// What happened between a failure and the next.
#[derive(Debug, Default)]
struct Gap<'s> {
    scaled: Vec<&'s Scaled>,
    waited: Option<Value>,
}

fn gaps(state: &State) -> Vec<Gap<'_>> {
    let mut gaps: Vec<Gap<'_>> = Vec::new();
    for event in state.events() {
        match event {
            Event::Fail(..) => gaps.push(Gap::default()),
            Event::Scaled(scaled) => {
                if let Some(gap) = gaps.last_mut() {
                    gap.scaled.push(scaled);
                }
            }
            Event::Wait { value, .. } => {
                if let Some(gap) = gaps.last_mut() {
                    gap.waited = Some(value.clone());
                }
            }
            _ => {}
        }
    }
    gaps
}

/// The gap (from 1) in which the number that is made at a place passes its end, the number, and what is known of it.
fn passes<'s>(gaps: &[Gap<'s>], first: &Scaled) -> Option<(u32, f64, &'s Scaled)> {
    let here = |gap: &Gap<'s>| gap.scaled.iter().rev().find(|scaled| scaled.place == first.place).copied();
    let made: Vec<Option<&Scaled>> = gaps.iter().map(here).collect();
    // What is too great from the start is no number that was meant to be one.
    if made.iter().flatten().next().is_some_and(|start| start.value > start.greatest) {
        return None;
    }
    for (made, gap) in made.iter().zip(1_u32..) {
        if let Some(scaled) = made
            && scaled.value > scaled.greatest
        {
            return Some((gap, scaled.value, scaled));
        }
    }
    let ([.., Some(a), Some(b), Some(c)] | [.., Some(a), Some(b), Some(c), None]) = made.as_slice() else {
        return None;
    };
    let factor = c.value / b.value;
    let steady = factor >= GROWS && (factor - b.value / a.value).abs() <= 0.01 * factor;
    if !steady || c.held || !c.raised {
        return None;
    }
    let trailing = u32::from(made.last().is_some_and(Option::is_none));
    let mut gap = u32::try_from(made.len()).ok()? - trailing;
    let mut value = c.value;
    while value <= c.greatest && value.is_finite() {
        value *= factor;
        gap += 1;
        if gap > MOST {
            return None;
        }
    }
    Some((gap, value, c))
}

/// About how long is waited before a gap: its own wait is never come to.
fn time_until(waits: &[Wait], gap: u32) -> Option<f64> {
    let mut sum = 0.0;
    let mut factor = 1.0;
    let mut last = 0.0;
    for at in 0..gap.saturating_sub(1) as usize {
        match waits.get(at) {
            Some(wait) if wait.unknown || !wait.high.is_finite() || !wait.low.is_finite() => return None,
            Some(wait) => {
                let expected = f64::midpoint(wait.low, wait.high).max(0.0);
                factor = if last > 0.0 { expected / last } else { 1.0 };
                last = expected;
            }
            None => last *= factor,
        }
        sum += last;
    }
    (!waits.is_empty()).then_some(sum)
}

/// Whether a ceiling is put on a wait.
fn is_held(machine: &Machine<'_>, wait: &Value) -> bool {
    let held = |value: &Value| match value {
        Value::Num(num) => num.taint.has(Taint::HELD),
        Value::Sym(id) => machine.symbols.info(*id).is_some_and(|info| match &info.node {
            Node::Math(name, _) => matches!(&**name, "min" | "clamp"),
            _ => false,
        }),
        _ => false,
    };
    machine.symbols.mentions(wait, &mut { held })
}

fn outcome(scaled: &Scaled, value: f64) -> Overrun {
    match &scaled.past {
        Past::Raises(class) => Overrun::Raises(class.to_string()),
        Past::Panics => Overrun::Panics,
        Past::Turns => Overrun::Turns,
        Past::Wraps { checked } => {
            Overrun::Wraps { checked: *checked, to: wrapped(value, scaled.greatest, &scaled.sort) }
        }
    }
}

/// What a whole number becomes that goes on from the other end, where it came out exactly.
fn wrapped(value: f64, greatest: f64, sort: &str) -> Option<f64> {
    let mut odd = value;
    while odd >= 2.0 && odd % 2.0 == 0.0 {
        odd /= 2.0;
    }
    if odd.fract() != 0.0 || odd >= EXACT {
        return None;
    }
    let half = greatest.log2().round().exp2();
    let signed = sort.starts_with('i');
    let width = if signed { half * 2.0 } else { half };
    let rest = value % width;
    Some(if signed && rest >= half { rest - width } else { rest })
}

#[cfg(test)]
mod tests {
    use super::{time_until, wrapped};
    use crate::analysis::policy::Wait;

    #[test]
    fn numbers_go_on_from_the_other_end() {
        let u32_most = f64::from(u32::MAX);
        assert_eq!(wrapped(4_294_967_296.0, u32_most, "u32"), Some(0.0));
        assert_eq!(wrapped(1000.0 * 8_388_608.0, u32_most, "u32"), Some(4_093_640_704.0));
        assert_eq!(wrapped(2_147_483_648.0, f64::from(i32::MAX), "i32"), Some(-2_147_483_648.0));
        assert_eq!(wrapped(3.0_f64.powi(41), 64.0_f64.exp2().next_down(), "u64"), None);
        assert_eq!(wrapped(64.0_f64.exp2(), 64.0_f64.exp2().next_down(), "u64"), Some(0.0));
    }

    #[test]
    fn the_last_wait_goes_on_as_it_grew() {
        let wait = |seconds: f64| Wait { low: seconds, high: seconds, unknown: false };
        assert_eq!(time_until(&[wait(1.0), wait(2.0), wait(4.0)], 6), Some(1.0 + 2.0 + 4.0 + 8.0 + 16.0));
        assert_eq!(time_until(&[wait(1.0), wait(60.0), wait(60.0)], 6), Some(241.0));
        assert_eq!(time_until(&[Wait { unknown: true, ..wait(1.0) }], 6), None);
    }
}
