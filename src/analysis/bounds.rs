//! What bounds the attempts: counts, deadlines, flags, and the tests that never come to their end.

use super::arith;
use super::facts::Group;
use super::limits::limit_around;
use super::machine::{End, Finished, Machine};
use super::memory::last_part;
use super::mixed;
use super::outage::Outage;
use super::policy::{Bound, Cause, FailurePath, Form};
use super::sites::Found;
use super::state::{At, Event, Object, State};
use super::value::{Node, Place, SymId, Taint, Value};
use crate::ir::{BinOp, Function, Op, Term, UnOp};

/// Why a count does not bound that no turn changes.
const NEVER_MOVES: &str = "the count never moves, so that it never comes to its limit";

/// What bounds the attempts if the operation keeps failing so.
pub(super) fn bound(machine: &mut Machine<'_>, found: &Found<'_>, outage: &Outage) -> Bound {
    // The time that a limit leaves from where the loop is come to, wherever in its turns it is tested.
    let begun = found.entries.iter().map(|entry| entry.clock).fold(f64::INFINITY, f64::min);
    let clock = |events: &[&Event]| {
        events.iter().find_map(|event| match event {
            Event::ClockTest { left, now, .. } => Some(left + (now - begun).max(0.0)),
            _ => None,
        })
    };
    let took = |events: &[&Event]| {
        events.iter().rev().find_map(|event| match event {
            Event::Took { finite, outside } => Some((*finite, *outside)),
            _ => None,
        })
    };
    if let Some(attempts) = outage.attempts {
        // Every path left.
        let last = outage.left.iter().filter(|(attempt, _)| *attempt == attempts).map(|(_, finished)| finished);
        let mut deadline = None;
        let mut counted = false;
        for finished in last {
            let events = finished.state.events();
            let counts = events.iter().any(|event| matches!(event, Event::CountTest { .. }))
                || took(&events).is_some_and(|(finite, _)| finite);
            // Where nobody asked for the time after the last failure, it was not the time that ended it.
            counted |= counts || attempts <= 12 && !asks_time_last(&events);
            // Where a count does it, a test of the clock is one of pace, if it does not come nearer to its end.
            if !counts || !is_measured_anew(&events) {
                deadline = deadline.or(clock(&events));
            }
        }
        // Deadlines are come to by leaps of the clock, after which the number of attempts says nothing.
        let number = (attempts <= 12 || deadline.is_none()).then_some(attempts);
        return match (deadline, counted) {
            (Some(left), true) => Bound::Both(number, seconds(left)),
            (Some(left), false) => Bound::Deadline(seconds(left)),
            (None, _) => Bound::Count(number),
        };
    }
    if !outage.survivors.is_empty() && outage.survivors.iter().all(|state| draws_near(&state.events())) {
        // Other ways out cut the outage short, but the count was on its way.
        return by_items(machine, found, outage).unwrap_or(Bound::Count(None));
    }
    let tests = exit_tests(machine, found, outage);
    let mut flag = false;
    let mut unknown = false;
    let mut stuck: Option<&'static str> = None;
    for test in &tests {
        match test {
            Test::Moves { clock: true, .. } => return Bound::Deadline(None),
            Test::Moves { clock: false, given: true } => return Bound::Caller,
            Test::Moves { .. } => return Bound::Count(None),
            Test::Items => return by_items(machine, found, outage).unwrap_or(Bound::Count(None)),
            Test::Flag => flag = true,
            Test::Unknown => unknown = true,
            Test::Stuck(why) => stuck = Some(why),
        }
    }
    if let Some(bound) = by_items(machine, found, outage) {
        return bound;
    }
    if outage.cut || outage.survivors.is_empty() {
        return Bound::Unknown;
    }
    let survivors: Vec<Vec<&Event>> = outage.survivors.iter().map(State::events).collect();
    if unknown {
        return Bound::Unknown;
    }
    if let Some(why) = stuck {
        return Bound::Broken(why.to_string());
    }
    let timed = survivors.iter().filter(|events| clock(events).is_some());
    if timed.clone().next().is_some() && timed.clone().all(|events| runs_out(events)) {
        // Other ways out cut the outage short before the time was up.
        return Bound::Deadline(timed.clone().find_map(|events| clock(events)).and_then(seconds));
    }
    let ends = |event: &&Event| matches!(event, Event::ClockTest { paces: false, .. });
    if timed.clone().any(|events| events.iter().any(ends)) {
        return Bound::Broken("the time is measured anew in each turn, so that it never runs out".to_string());
    }
    if survivors.iter().any(|events| stands_still(events)) {
        return Bound::Broken("the count is set back in each turn, so that it never comes to its limit".to_string());
    }
    if flag || survivors.iter().any(|events| events.iter().any(|event| matches!(event, Event::Flag))) {
        return Bound::Flag;
    }
    if let Some(left) = limit_around(machine, found) {
        return Bound::Deadline(left);
    }
    if survivors.iter().any(|events| never_moves(events)) {
        return Bound::Broken(NEVER_MOVES.to_string());
    }
    Bound::None
}

/// The bound that the items of a `for` loop set, or the policy that it goes through, whatever its body does: each way
/// back passes its head.
fn by_items(machine: &mut Machine<'_>, found: &Found<'_>, outage: &Outage) -> Option<Bound> {
    let head = found.plan.head.filter(|_| matches!(found.form, Form::Loop | Form::Decorator))?;
    let looped = machine.project.function(found.looped)?;
    let Term::Next { iter, .. } = looped.block(head)?.term else { return None };
    let mut bound = None;
    for entry in &found.entries {
        let mut entry = entry.clone();
        let iterator = machine.read(&mut entry, iter);
        let this = match count_of(&entry, &iterator) {
            Some(Some(count)) if outage.simulated > count => return None,
            Some(count) => Bound::Count(count),
            None if outage.cut && enters(looped) => machine.limit_gone_through(&mut entry, &iterator)?,
            None => return None,
        };
        match &bound {
            None => bound = Some(this),
            Some(other) if *other == this => {}
            Some(_) => bound = Some(Bound::Count(None)),
        }
    }
    bound
}

/// Whether a function enters anything, as it must for a policy that it goes through to hear of a failure.
pub(super) fn enters(function: &Function) -> bool {
    function.blocks.iter().flat_map(|block| &block.instrs).any(|instr| matches!(instr.op, Op::Enter(..)))
}

/// How many items an iterator has left, if that is fixed; `Some(None)` where only their number is not known.
fn count_of(state: &State, iterator: &Value) -> Option<Option<u32>> {
    let Value::Object(id) = iterator else { return None };
    let single = |value: &Value| match value {
        Value::Num(num) => num.single(),
        _ => None,
    };
    match state.objects.get(id)? {
        Object::Range { next, step, stop: Some(stop), .. } => {
            let Some(stop) = single(stop) else {
                return matches!(stop, Value::Num(_)).then_some(None);
            };
            let count = ((stop - single(next)?) / single(step)?).ceil();
            Some((0.0..1.0e6).contains(&count).then_some(count as u32))
        }
        Object::Items(items, taken) => Some(u32::try_from(items.len().saturating_sub(*taken)).ok()),
        _ => None,
    }
}

/// What tests of the clock left, and when, each at its place.
fn lefts(events: &[&Event]) -> Vec<(At, Vec<(f64, f64)>)> {
    let mut tests: Vec<(At, Vec<(f64, f64)>)> = Vec::new();
    for event in events {
        let Event::ClockTest { at, left, now, .. } = event else { continue };
        match tests.iter_mut().find(|(other, _)| other == at) {
            Some((_, lefts)) => lefts.push((*left, *now)),
            None => tests.push((*at, vec![(*left, *now)])),
        }
    }
    tests
}

/// Whether the clock was looked at after the last failure.
fn asks_time_last(events: &[&Event]) -> bool {
    let last = events.iter().rev().take_while(|event| !matches!(event, Event::Fail(..)));
    last.into_iter().any(|event| matches!(event, Event::ClockTest { .. }))
}

/// Whether less and less time is left, turn after turn.
fn runs_out(events: &[&Event]) -> bool {
    let shrinks = |lefts: &[(f64, f64)]| lefts.windows(2).all(|pair| matches!(pair, [a, b] if b.0 < a.0));
    lefts(events).iter().any(|(_, lefts)| lefts.len() > 2 && shrinks(lefts))
}

/// Whether time went by between two tests of the clock, at each place of one, and as much was left as before.
fn is_measured_anew(events: &[&Event]) -> bool {
    let anew = |lefts: &[(f64, f64)]| lefts.windows(2).any(|pair| matches!(pair, [a, b] if b.1 > a.1 && b.0 >= a.0));
    lefts(events).iter().all(|(_, lefts)| anew(lefts))
}

/// Whether a variable that only ever has one number is compared, turn after turn, to see whether to leave.
fn never_moves(events: &[&Event]) -> bool {
    let mut tests: Vec<(At, Vec<f64>)> = Vec::new();
    for event in events {
        let Event::Compared(at, number) = event else { continue };
        match tests.iter_mut().find(|(other, _)| other == at) {
            Some((_, numbers)) => numbers.push(*number),
            None => tests.push((*at, vec![*number])),
        }
    }
    let same = |numbers: &[f64]| numbers.windows(2).all(|pair| matches!(pair, [a, b] if a == b));
    tests.iter().any(|(_, numbers)| numbers.len() >= 5 && same(numbers))
}

/// Whether the test of a count that would leave the loop has been made with the same numbers turn after turn.
pub(super) fn stands_still(events: &[&Event]) -> bool {
    let mut counted = None;
    let mut tested = Vec::new();
    for event in events {
        match event {
            Event::Counted(apart) => counted = Some(*apart),
            Event::CountTest { leads_out: true, .. } => tested.extend(counted.take()),
            _ => {}
        }
    }
    tested.len() >= 5 && tested.windows(2).all(|pair| matches!(pair, [a, b] if a == b))
}

/// Whether some test of a count that would leave the loop comes nearer to it turn after turn.
pub(super) fn comes_near(events: &[&Event]) -> bool {
    let mut counted = None;
    let mut tests: Vec<(At, Vec<f64>)> = Vec::new();
    for event in events {
        match event {
            Event::Counted(apart) => counted = Some(apart.abs()),
            Event::CountTest { at, leads_out: true, .. } => {
                let Some(apart) = counted.take() else { continue };
                match tests.iter_mut().find(|(other, _)| other == at) {
                    Some((_, gaps)) => gaps.push(apart),
                    None => tests.push((*at, vec![apart])),
                }
            }
            _ => {}
        }
    }
    tests.iter().any(|(_, gaps)| gaps.len() >= 5 && gaps.windows(2).all(|pair| matches!(pair, [a, b] if b < a)))
}

/// The same, whatever the steps in which a variable moves.
fn draws_near(events: &[&Event]) -> bool {
    let mut tests: Vec<(At, Vec<f64>)> = Vec::new();
    for event in events {
        let Event::Apart(at, apart) = event else { continue };
        match tests.iter_mut().find(|(other, _)| other == at) {
            Some((_, gaps)) => gaps.push(apart.abs()),
            None => tests.push((*at, vec![apart.abs()])),
        }
    }
    let shrinks = |gaps: &[f64]| gaps.len() >= 5 && gaps.windows(2).all(|pair| matches!(pair, [a, b] if b < a));
    comes_near(events) || tests.iter().any(|(_, gaps)| shrinks(gaps))
}

pub(super) fn seconds(left: f64) -> Option<f64> {
    (left.is_finite() && left < 1.0e7).then_some((left * 10.0).round() / 10.0)
}

/// What a test on the way out of the loop shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Test {
    /// Comes nearer to its end with each attempt; the end is `given` by a caller, or fixed elsewhere.
    Moves { clock: bool, given: bool },
    /// The items of something finite.
    Items,
    /// A stop flag, a running attribute.
    Flag,
    /// Something decides that cannot be seen.
    Unknown,
    /// A count that never comes nearer to its end.
    Stuck(&'static str),
}

/// What was decided on a path that comes back for as long as the outage lasts.
fn surviving(outage: &Outage) -> Vec<(Place, SymId, bool)> {
    let events = outage.survivors.first().map(State::events).unwrap_or_default();
    let decisions = events.into_iter().filter_map(|event| match event {
        Event::Decide { sym, taken, place, .. } => Some((*place, *sym, *taken)),
        _ => None,
    });
    decisions.collect()
}

/// The last decision in which a path that left and the surviving one differ.
fn parting(finished: &Finished, decided: &[(Place, SymId, bool)]) -> Option<(Place, SymId)> {
    finished.state.events().into_iter().rev().find_map(|event| match event {
        Event::Decide { sym, taken, place, .. } => {
            decided.iter().any(|(p, _, t)| p == place && t != taken).then_some((*place, *sym))
        }
        _ => None,
    })
}

/// The paths that left because as many attempts were made as there may be, however many that are.
pub(super) fn counted_out<'o>(machine: &mut Machine<'_>, found: &Found<'_>, outage: &'o Outage) -> Vec<&'o Finished> {
    let decided = surviving(outage);
    let mut known: Vec<(Place, bool)> = Vec::new();
    let mut counted = Vec::new();
    for (_, finished) in &outage.left {
        let Some((place, sym)) = parting(finished, &decided) else { continue };
        let counts = match known.iter().find(|(at, _)| *at == place) {
            Some((_, counts)) => *counts,
            None => {
                let syms: Vec<SymId> = decided.iter().filter(|(p, ..)| *p == place).map(|(_, sym, _)| *sym).collect();
                let counts =
                    matches!(classify(machine, found, sym, &syms, outage), Some(Test::Moves { clock: false, .. }));
                known.push((place, counts));
                counts
            }
        };
        if counts {
            counted.push(finished);
        }
    }
    counted
}

/// The undecided tests by which some paths left while others went on.
pub(super) fn exit_tests(machine: &mut Machine<'_>, found: &Found<'_>, outage: &Outage) -> Vec<Test> {
    let mut tests = Vec::new();
    let decided = surviving(outage);
    let mut seen: Vec<Place> = Vec::new();
    for (_, finished) in &outage.left {
        let Some((place, sym)) = parting(finished, &decided) else { continue };
        // What breaks down with something else does not count attempts, nor does what makes the request.
        let breaks_down = finished.end == End::Abort && is_of_something(machine, sym);
        if breaks_down || prepares(machine, outage, sym) || seen.contains(&place) {
            continue;
        }
        seen.push(place);
        let syms: Vec<SymId> = decided.iter().filter(|(p, ..)| *p == place).map(|(_, sym, _)| *sym).collect();
        tests.extend(classify(machine, found, sym, &syms, outage));
    }
    tests
}

/// Whether a test asks whether there is a value at all.
fn is_of_something(machine: &Machine<'_>, sym: SymId) -> bool {
    let there = |node: &Node| match node {
        Node::IsNone(_) => true,
        Node::Is(_, name) => matches!(&**name, "Some" | "None"),
        _ => false,
    };
    machine.is_error_test(sym) || machine.symbols.info(sym).is_some_and(|info| there(&info.node))
}

/// Whether a test asks whether what the operation is given could be made.
fn prepares(machine: &Machine<'_>, outage: &Outage, sym: SymId) -> bool {
    let Some(state) = outage.survivors.first() else { return false };
    let Some(failed) = &state.failed else { return false };
    let roots = machine.symbols.info(sym).map(|info| info.roots.clone()).unwrap_or_default();
    let made = |root: &SymId| state.results.get(root).is_some_and(|op| failed.op.sources.contains(&op.place));
    machine.is_error_test(sym) && !roots.is_empty() && roots.iter().all(made)
}

pub(super) fn classify(
    machine: &mut Machine<'_>,
    found: &Found<'_>,
    sym: SymId,
    syms: &[SymId],
    outage: &Outage,
) -> Option<Test> {
    let info = machine.symbols.info(sym)?.clone();
    let taint = info.taint;
    if let Node::More(..) = info.node {
        return Some(Test::Items);
    }
    if taint.has(Taint::FLAG) {
        return Some(Test::Flag);
    }
    // A comparison: how far its sides are apart, attempt by attempt.
    let slacks: Vec<f64> = syms.iter().filter_map(|sym| slack(machine, *sym)).collect();
    let moving = slacks.len() >= 3
        && slacks.len() == syms.len()
        && (slacks.windows(2).all(|pair| matches!(pair, [a, b] if b > a))
            || slacks.windows(2).all(|pair| matches!(pair, [a, b] if b < a)));
    if moving {
        let given = is_given(machine, &Value::Sym(sym), 6);
        return Some(Test::Moves { clock: taint.has(Taint::CLOCK), given });
    }
    if taint.has(Taint::CLOCK) {
        // The clock is in it, in a form that is not understood.
        let differ = syms.windows(2).any(|pair| matches!(pair, [a, b] if a != b));
        return Some(if differ { Test::Unknown } else { Test::Stuck("the time is measured anew in each turn") });
    }
    // Only about the failure itself: which failures are repeated, not how often.
    let own_result = outage.survivors.first().is_some_and(|state| {
        let failed = state.failed.as_ref().and_then(|failed| failed.op.result);
        failed.is_some_and(|result| info.roots.contains(&result))
    });
    let only_failure = (taint.has(Taint::FAILURE) || own_result)
        && !taint.has(Taint::INPUT.or(Taint::STATE).or(Taint::FLAG))
        && (own_result || !taint.has(Taint::CALL));
    if only_failure || taint.has(Taint::RANDOM) {
        return None;
    }
    if taint.has(Taint::CALL) {
        return Some(Test::Unknown);
    }
    if taint.has(Taint::COUNTER) && slacks.len() == syms.len() && !slacks.is_empty() {
        // Where the first answer is the answer to all that follow, the count is not asked again: paths that left show it.
        if syms.len() == 1 && moves_elsewhere(machine, sym, outage) {
            let given = is_given(machine, &Value::Sym(sym), 6);
            return Some(Test::Moves { clock: false, given });
        }
        return Some(Test::Stuck("the count never comes nearer to its limit"));
    }
    // A running attribute in the loop's own condition.
    if taint.has(Taint::STATE) && slacks.is_empty() && found.loop_kind.is_some() {
        return Some(Test::Flag);
    }
    if taint.has(Taint::STATE) {
        return Some(Test::Unknown);
    }
    None
}

/// Whether a path that left asked the same of a count that had gone on.
fn moves_elsewhere(machine: &Machine<'_>, sym: SymId, outage: &Outage) -> bool {
    let decided = surviving(outage);
    let Some((place, ..)) = decided.iter().find(|(_, other, _)| *other == sym) else { return false };
    outage.left.iter().any(|(_, finished)| {
        let events = finished.state.events();
        let asked = events.iter().filter_map(|event| match event {
            Event::Decide { sym, place: at, .. } if at == place => slack(machine, *sym),
            _ => None,
        });
        let gaps: Vec<f64> = asked.collect();
        gaps.windows(2).any(|pair| matches!(pair, [a, b] if a != b))
    })
}

/// Whether a number may be what a caller gives: a parameter, or what an object holds. A name of another module and what a
/// call gives are set elsewhere, once for all callers.
fn is_given(machine: &Machine<'_>, value: &Value, depth: u32) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return true };
    let Value::Sym(id) = value else { return false };
    let Some(info) = machine.symbols.info(*id) else { return true };
    match &info.node {
        Node::Unary(_, inner) | Node::Linear(inner, _) | Node::Truth(inner) => is_given(machine, inner, depth),
        Node::Binary(_, a, b) => is_given(machine, a, depth) || is_given(machine, b, depth),
        Node::Math(_, args) => args.iter().any(|arg| is_given(machine, arg, depth)),
        Node::Attr(Value::Path(_), _) | Node::Index(Value::Path(_), _) | Node::Call(..) | Node::Unknown(_) => false,
        _ => true,
    }
}

/// The number by which the sides of a comparison differ, symbols aside.
pub(super) fn slack(machine: &Machine<'_>, sym: SymId) -> Option<f64> {
    let mut sym = sym;
    for _ in 0..4 {
        match machine.symbols.info(sym)?.node.clone() {
            Node::Unary(UnOp::Not, Value::Sym(inner)) => sym = inner,
            Node::Binary(op, a, b) if arith::is_test(op) && !matches!(op, BinOp::In | BinOp::NotIn) => {
                return Some(number_in(machine, &a, 6) - number_in(machine, &b, 6));
            }
            Node::Truth(value) => return Some(number_in(machine, &value, 6)),
            Node::Binary(BinOp::Other | BinOp::BitOr, Value::Sym(a), _) => sym = a,
            _ => return None,
        }
    }
    None
}

/// The known part of a number: what stays if every unknown were nought (one, in a product).
pub(super) fn number_in(machine: &Machine<'_>, value: &Value, depth: u32) -> f64 {
    let Some(depth) = depth.checked_sub(1) else { return 0.0 };
    match value {
        Value::Num(num) => f64::midpoint(num.lo.0, num.hi.0.min(1.0e12)),
        Value::Sym(id) => match machine.symbols.info(*id).map(|info| info.node.clone()) {
            Some(Node::Linear(base, off)) => number_in(machine, &base, depth) + off.0,
            Some(Node::Binary(op, a, b)) => {
                let (x, y) = (number_in(machine, &a, depth), number_in(machine, &b, depth));
                match op {
                    BinOp::Add => x + y,
                    BinOp::Sub => x - y,
                    BinOp::Mul => (if x == 0.0 { 1.0 } else { x }) * (if y == 0.0 { 1.0 } else { y }),
                    BinOp::Div | BinOp::FloorDiv => x / if y == 0.0 { 1.0 } else { y },
                    BinOp::Pow => (if x == 0.0 { 2.0 } else { x }).powf(y),
                    _ => 0.0,
                }
            }
            Some(Node::Math(_, args)) => args.iter().map(|arg| number_in(machine, arg, depth)).sum(),
            Some(Node::Unary(UnOp::Neg, inner)) => -number_in(machine, &inner, depth),
            _ => 0.0,
        },
        Value::Variant(_, _, args) => args.first().map_or(0.0, |arg| number_in(machine, arg, depth)),
        _ => 0.0,
    }
}

/// Where one failure path of a loop is counted and another is not, the count is broken on the other.
pub(super) fn brand_broken(
    machine: &mut Machine<'_>,
    found: &Found<'_>,
    groups: &[Group],
    failures: &mut [FailurePath],
) {
    let counts = |path: &FailurePath| {
        matches!(path.bound, Bound::Count(_) | Bound::Both(..) | Bound::Caller | Bound::Deadline(_))
    };
    if !failures.iter().any(counts) {
        return;
    }
    let counted = groups.iter().zip(failures.iter()).find_map(|(group, path)| Some((group, path.attempts?)));
    for (group, path) in groups.iter().zip(failures) {
        let uncounted = path.bound == Bound::None || path.bound == Bound::Broken(NEVER_MOVES.to_string());
        if uncounted && !path.repaired {
            let which = match &path.cause {
                Cause::Status(set) => format!("the path on status {set}"),
                Cause::Exception { classes, .. } => match classes.first() {
                    Some(class) => format!("the path on {}", last_part(class)),
                    None => "the path on an exception".to_string(),
                },
                _ => "one failure path".to_string(),
            };
            let set_back = counted.is_some_and(|counted| mixed::sets_back(machine, found, counted, group));
            let what = if set_back { "sets the count back" } else { "is not counted" };
            path.bound = Bound::Broken(format!("{which} {what}"));
        }
    }
}

/// The weakest of all bounds that are known: a path of which it is not known leaves the word to the others.
pub(super) fn weakest(failures: &[FailurePath]) -> Bound {
    let rank = |bound: &Bound| match bound {
        Bound::None => 0,
        Bound::Broken(_) => 1,
        Bound::Flag => 2,
        Bound::Caller => 3,
        Bound::Count(None) => 4,
        Bound::Deadline(_) => 5,
        Bound::Count(Some(_)) => 6,
        Bound::Both(..) => 7,
        Bound::Unknown => 8,
    };
    failures.iter().map(|path| &path.bound).min_by_key(|bound| rank(bound)).cloned().unwrap_or(Bound::Unknown)
}
