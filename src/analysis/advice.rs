//! What becomes of the server's Retry-After: kept, lowered, unread, or lost, and what a date in it does.

use std::rc::Rc;

use super::arith;
use super::facts::{Group, local_span, since_failure};
use super::handlers::is_answer;
use super::machine::{Advice, End, Finished, Machine, Plan};
use super::outage::Outage;
use super::policy::{Cause, DateForm, Form, RetryAfter};
use super::sites::{Found, is_failure_value};
use super::state::{At, Event, Failing, Known3, OpInfo, State};
use super::status::StatusSet;
use super::taken::is_of_error;
use super::value::{Node, Taint, Value};
use crate::ir::{BinOp, UnOp};

/// How a wait stands to what the server asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Relation {
    /// At least as long.
    Kept,
    /// Can be shorter: at most so many seconds.
    Lowered(Option<f64>),
    /// Has nothing to do with it.
    None,
}

pub(super) fn relation(machine: &Machine<'_>, value: &Value, depth: u32) -> Relation {
    let Some(depth) = depth.checked_sub(1) else { return Relation::None };
    match value {
        Value::Variant(_, _, args) => args.first().map_or(Relation::None, |arg| relation(machine, arg, depth)),
        Value::Sym(id) => {
            let Some(info) = machine.symbols.info(*id) else { return Relation::None };
            if !info.taint.has(Taint::SERVER) {
                return Relation::None;
            }
            let high_of = |values: &[Value]| {
                let high = values
                    .iter()
                    .filter(|value| relation(machine, value, depth) == Relation::None)
                    .map(|value| arith::bounds(&machine.symbols, value).1)
                    .fold(f64::INFINITY, f64::min);
                high.is_finite().then_some(high)
            };
            match &info.node {
                Node::RetryAfter(_) | Node::RetryAfterText(_) => Relation::Kept,
                Node::Linear(base, _) => relation(machine, base, depth),
                Node::Binary(op, a, b) => {
                    let (x, y) = (relation(machine, a, depth), relation(machine, b, depth));
                    let low = |value: &Value| arith::bounds(&machine.symbols, value).0;
                    match op {
                        BinOp::Add => match (x, y) {
                            (Relation::Kept, _) if low(b) >= 0.0 => Relation::Kept,
                            (_, Relation::Kept) if low(a) >= 0.0 => Relation::Kept,
                            (Relation::None, other) | (other, _) => other,
                        },
                        BinOp::Sub => x,
                        BinOp::Mul => match (x, y) {
                            (Relation::Kept, Relation::None) if low(b) >= 1.0 => Relation::Kept,
                            (Relation::None, Relation::Kept) if low(a) >= 1.0 => Relation::Kept,
                            (Relation::Kept, Relation::None) if low(b) < 1.0 && low(b) > f64::NEG_INFINITY => {
                                Relation::Lowered(None)
                            }
                            (Relation::None, Relation::Kept) if low(a) < 1.0 && low(a) > f64::NEG_INFINITY => {
                                Relation::Lowered(None)
                            }
                            (Relation::None, other) | (other, _) => other,
                        },
                        _ => {
                            if x == Relation::None {
                                y
                            } else {
                                x
                            }
                        }
                    }
                }
                Node::Math(name, args) => {
                    let each: Vec<Relation> = args.iter().map(|arg| relation(machine, arg, depth)).collect();
                    match &**name {
                        "min" | "clamp" => Relation::Lowered(high_of(args)),
                        "max" if each.contains(&Relation::Kept) => Relation::Kept,
                        "random" => Relation::Lowered(None),
                        _ => each.into_iter().find(|one| *one != Relation::None).unwrap_or(Relation::None),
                    }
                }
                Node::Unary(_, inner) | Node::Payload(inner, _) => relation(machine, inner, depth),
                Node::Call(_, args) => args
                    .iter()
                    .map(|arg| relation(machine, arg, depth))
                    .find(|one| *one != Relation::None)
                    .unwrap_or(Relation::None),
                _ => Relation::Kept,
            }
        }
        _ => Relation::None,
    }
}

/// Whether an operation asks an HTTP API, and keeps the answers to itself.
fn asks_http(machine: &Machine<'_>, group: &Group) -> bool {
    let Some(path) = &group.op.model else { return false };
    machine.project.known(group.op.at.file, path).is_some_and(|entry| entry.http)
}

/// Whether the status of the answer that an error carries is asked for.
fn is_looked_at(group: &Group) -> bool {
    let asks = |event: &&Event| matches!(event, Event::LookedAtStatus(place, _) if *place == group.op.place);
    group.paths.iter().any(|path| path.state.events().iter().any(asks))
}

/// Whether a value is a part of what failed, or was asked of it.
fn is_of_failure(machine: &Machine<'_>, group: &Group, state: &State, value: &Value, depth: u32) -> bool {
    let result = group.op.result.map(Value::Sym);
    let mut failed = |part: &Value| matches!(part, Value::Exc(_)) || Some(part) == result.as_ref();
    if machine.symbols.taint(value).has(Taint::FAILURE) || machine.symbols.mentions(value, &mut failed) {
        return true;
    }
    let Some(depth) = depth.checked_sub(1) else { return false };
    let mut roots = Vec::new();
    machine.symbols.collect_roots(value, &mut roots);
    let asked = |root| state.results.get(root).is_some_and(|op: &Rc<OpInfo>| op.remote != Known3::Yes);
    roots.iter().filter(|root| asked(*root)).any(|root| {
        let inputs = state.results.get(root).map(|op| op.inputs.clone()).unwrap_or_default();
        inputs.iter().any(|input| is_of_failure(machine, group, state, input, depth))
    })
}

/// Whether it is asked if some part of what failed, whatever that is, is an error status, and those with which a server
/// may say how long to wait are among what comes back by the answer: nobody asks that of what comes from no HTTP server.
fn is_held_against_status(machine: &Machine<'_>, found: &Found<'_>, group: &Group) -> bool {
    let words = |text: &str, status: u16| text.split(|c: char| !c.is_ascii_digit()).any(|w| w == status.to_string());
    // What is written down: a count or the time may come by such a number.
    let number = |value: &Value| match value {
        Value::Num(num) if num.taint == Taint::NONE => num.single(),
        _ => None,
    };
    let is = |value: &Value, status: u16| match value {
        Value::Str(text) => words(text, status),
        value => number(value) == Some(f64::from(status)),
    };
    let is_status = |value: &Value| match value {
        Value::Str(_) => StatusSet::ADVISED.iter().any(|status| is(value, *status)),
        value => number(value).is_some_and(|number| (400.0..=599.0).contains(&number)),
    };
    let among = |value: &Value, what: &dyn Fn(&Value) -> bool| match value {
        Value::Tuple(items) => items.iter().any(what),
        value => what(value),
    };
    // Which of them can come by a test, if it is one.
    let asks = |state: &State, event: &Event| {
        let Event::Decide { sym, taken, .. } = event else { return None };
        let (mut sym, mut holds) = (*sym, *taken);
        for _ in 0..4 {
            match &machine.symbols.info(sym)?.node {
                Node::Unary(UnOp::Not, Value::Sym(inner)) => (sym, holds) = (*inner, !holds),
                Node::Truth(Value::Sym(inner)) => sym = *inner,
                Node::Binary(op, a, b) if arith::is_test(*op) => {
                    let of_failure = |value: &Value| is_of_failure(machine, group, state, value, 3);
                    let named = |part: &Value, named: &Value| among(named, &is_status) && of_failure(part);
                    let (first, named) = match () {
                        () if named(a, b) => (true, b),
                        () if named(b, a) => (false, a),
                        () => return None,
                    };
                    let limit = match op {
                        BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge => number(named)?,
                        _ => 0.0,
                    };
                    let passes = |status: u16| match op {
                        BinOp::Eq | BinOp::Is | BinOp::In => among(named, &|one| is(one, status)),
                        BinOp::Ne | BinOp::IsNot | BinOp::NotIn => !among(named, &|one| is(one, status)),
                        _ if first => arith::holds(*op, f64::from(status), limit),
                        _ => arith::holds(*op, limit, f64::from(status)),
                    };
                    let named = StatusSet::advised().and(&StatusSet::of(|status| among(named, &|one| is(one, status))));
                    return Some((StatusSet::advised().and(&StatusSet::of(|status| passes(status) == holds)), named));
                }
                _ => return None,
            }
        }
        None
    };
    // Those that are meant, and which of them go that way; nothing where no status is asked for.
    let on = |path: &Finished| {
        let events: Vec<Event> = path.state.events().into_iter().cloned().collect();
        let asked: Vec<_> = since_failure(&events).iter().filter_map(|event| asks(&path.state, event)).collect();
        // Of two where one is named, that one is what is asked about.
        let named = asked.iter().fold(StatusSet::EMPTY, |all, (_, named)| all.or(named));
        let meant = if named.is_empty() { StatusSet::advised() } else { named };
        (!asked.is_empty()).then(|| (meant, asked.iter().fold(meant, |left, (passing, _)| left.and(passing))))
    };
    let back: Vec<_> = group.paths.iter().filter_map(on).collect();
    if !back.is_empty() {
        return back.iter().any(|(_, passing)| !passing.is_empty());
    }
    // Of paths that come back by several reasons one may stand for all: those that lead out were asked for each.
    let of_group = |path: &&Finished| {
        path.state.failed.as_ref().is_some_and(|failed| failed.op.place == group.op.place && failed.how == group.how)
    };
    found.explored.out.iter().filter(of_group).filter_map(on).any(|(meant, passing)| meant != passing)
}

/// Whether what comes back may be the refusal of an HTTP server: an error of a class that stands for an answer, or one
/// that is above such a class, where nothing is known of what the operation raises but what the handler names; and
/// whatever is asked for its status.
fn may_be_refusal(machine: &Machine<'_>, found: &Found<'_>, group: &Group) -> bool {
    if is_held_against_status(machine, found, group) {
        return true;
    }
    let asked = is_looked_at(group) && group.answers.is_none_or(|left| !left.and(&StatusSet::advised()).is_empty());
    let classes = match &group.how {
        Failing::Raises(classes) => classes,
        Failing::Test(..) => return asked,
        _ => return false,
    };
    let Some(models) = machine.project.models(group.op.at.file) else { return false };
    let advised = |class: &str| match models.exception(class).and_then(|entry| entry.stands_for.as_deref()) {
        Some(set) => StatusSet::parse(set).is_some_and(|set| !set.and(&StatusSet::advised()).is_empty()),
        None => is_answer(models, class) || models.ancestors(class).any(|above| is_answer(models, above)),
    };
    let library = |class: &str| models.library_of(class).map(|library| library.name.clone());
    let below = |class: &str| models.descendants(class).any(|below| library(below) == library(class) && advised(below));
    classes.iter().any(|class| advised(class) || !group.op.raises.contains(class) && below(class))
        || is_looked_at(group)
}

pub(super) fn advice(
    machine: &mut Machine<'_>,
    found: &Found<'_>,
    group: &Group,
    cause: &Cause,
    events: &[Event],
) -> (RetryAfter, DateForm) {
    let not_applicable = (RetryAfter::NotApplicable, DateForm::Fine);
    if found.form == Form::StraightLine {
        return not_applicable;
    }
    let set = match (cause, &group.how) {
        (Cause::Status(set), Failing::Status(_)) => set.and(&StatusSet::advised()),
        (Cause::Status(set), _) if is_looked_at(group) => set.and(&StatusSet::advised()),
        (Cause::Status(set), _) if !set.and(&StatusSet::advised()).is_empty() => {
            return (RetryAfter::OutOfReach, DateForm::Fine);
        }
        (Cause::Exception { everything, .. }, _) if *everything && asks_http(machine, group) => {
            return (RetryAfter::OutOfReach, DateForm::Fine);
        }
        _ => StatusSet::EMPTY,
    };
    if set.is_empty() {
        // What the error says of the time to wait is the server's advice, by whatever way it came.
        let told = |event: &Event| match event {
            Event::Wait { value, .. } => is_of_error(machine, group, value),
            _ => false,
        };
        let honoured = group.paths.iter().any(|path| {
            let events: Vec<Event> = path.state.events().into_iter().cloned().collect();
            since_failure(&events).iter().any(told)
        });
        return match honoured {
            true => (RetryAfter::Honoured, DateForm::Fine),
            false if may_be_refusal(machine, found, group) => (RetryAfter::OutOfReach, DateForm::Fine),
            false => not_applicable,
        };
    }
    let how = match &group.how {
        Failing::Status(_) => Failing::Status(set),
        how => how.clone(),
    };
    let plan = Plan { answers: Some(set), ..found.plan.clone() };
    let told = machine.outage(&plan, &found.entries, group.op.place, &how, Advice::Seconds, Some(3));
    if told.first.is_empty() {
        // With the advice at hand the request is not sent again.
        return (RetryAfter::Honoured, DateForm::Fine);
    }
    let mut read = false;
    let mut compared = None;
    let mut relations = Vec::new();
    let mut lowered: Option<(Option<f64>, At)> = None;
    let mut lost = None;
    for state in &told.first {
        let events: Vec<Event> = state.events().into_iter().cloned().collect();
        // A wait of nothing, which any other one keeps to.
        if since_failure(&events).iter().any(|event| says_nought(machine, event)) {
            continue;
        }
        let mut this = Relation::None;
        for event in since_failure(&events) {
            match event {
                Event::ReadAdvice(..) => read = true,
                Event::Lost(at) => lost = Some(*at),
                // Whether it fits into the time that is left says nothing of how long it is waited.
                Event::Decide { sym, at, .. }
                    if machine
                        .symbols
                        .info(*sym)
                        .is_some_and(|info| info.taint.has(Taint::SERVER) && !info.taint.has(Taint::CLOCK)) =>
                {
                    compared = Some((*sym, *at));
                }
                Event::Wait { value, at, .. } => match relation(machine, value, 10) {
                    Relation::Kept => this = Relation::Kept,
                    Relation::Lowered(most) if this != Relation::Kept => {
                        this = Relation::Lowered(most);
                        lowered = Some((most, *at));
                    }
                    _ => {}
                },
                _ => {}
            }
        }
        relations.push((this, form_test(machine, &events).is_some()));
    }
    // Where a test of its form lets the advice through on one path, the other is for what has another form.
    let heard = relations.iter().any(|(this, tested)| *tested && *this == Relation::Kept);
    let kept = relations.iter().all(|(this, tested)| *this == Relation::Kept || heard && *tested);
    if let Some((most, at)) = lowered {
        let at = local_span(machine, found, at);
        return (RetryAfter::Shortened { ceiling: most, at }, date(machine, (found, &plan), group, &how, &told));
    }
    if kept {
        return (RetryAfter::Honoured, date(machine, (found, &plan), group, &how, &told));
    }
    // Something unknown that is given the response, the exception or the header may make the wait of it.
    let passed_on = told.first.iter().any(|state| {
        let events: Vec<Event> = state.events().into_iter().cloned().collect();
        since_failure(&events).iter().any(|event| match event {
            Event::Wait { value, unknown, .. } => *unknown && machine.symbols.taint(value).has(Taint::CALL),
            _ => false,
        })
    });
    if read {
        if let Some((sym, at)) = compared.filter(|_| !passed_on) {
            let at = local_span(machine, found, at);
            let most = machine.symbols.info(sym).and_then(|info| match &info.node {
                Node::Binary(_, a, b) => [a, b].into_iter().find_map(|side| match side {
                    Value::Num(num) => num.single(),
                    _ => None,
                }),
                _ => None,
            });
            return (RetryAfter::Shortened { ceiling: most, at }, date(machine, (found, &plan), group, &how, &told));
        }
        if passed_on {
            let dated =
                if compared.is_some() { date(machine, (found, &plan), group, &how, &told) } else { DateForm::Fine };
            return (RetryAfter::Unknown, dated);
        }
        return (RetryAfter::Ignored, DateForm::Fine);
    }
    if let Some(at) = lost.or_else(|| {
        events.iter().find_map(|event| match event {
            Event::Lost(at) => Some(*at),
            _ => None,
        })
    }) {
        return (RetryAfter::Lost(local_span(machine, found, at)), DateForm::Fine);
    }
    (if passed_on { RetryAfter::Unknown } else { RetryAfter::Ignored }, DateForm::Fine)
}

/// Whether something that cannot be seen into was given the header's text.
fn is_handed_on(machine: &Machine<'_>, event: &Event) -> bool {
    let Event::Op(info) = event else { return false };
    let is_text = |value: &Value| match value {
        Value::Sym(id) => machine.symbols.info(*id).is_some_and(|info| matches!(info.node, Node::RetryAfterText(_))),
        _ => false,
    };
    info.inputs.iter().any(|input| machine.symbols.mentions(input, &mut { is_text }))
}

/// Whether it was decided that the server asks for no time at all.
fn says_nought(machine: &Machine<'_>, event: &Event) -> bool {
    let Event::Decide { sym, taken: false, .. } = event else { return false };
    machine.symbols.info(*sym).is_some_and(|info| match &info.node {
        Node::Truth(inner) => machine.symbols.taint(inner).has(Taint::SERVER),
        Node::RetryAfter(_) => true,
        _ => false,
    })
}

/// Where the form of the advice was tested on this path: more than whether there is any.
fn form_test(machine: &Machine<'_>, events: &[Event]) -> Option<At> {
    let is_text = |value: &Value| match value {
        Value::Sym(id) => machine.symbols.info(*id).is_some_and(|info| matches!(info.node, Node::RetryAfterText(_))),
        _ => false,
    };
    events.iter().find_map(|event| {
        let Event::Decide { sym, at, .. } = event else { return None };
        let plain = match &machine.symbols.info(*sym)?.node {
            Node::Truth(inner) | Node::IsNone(inner) | Node::IsSuccess(inner) => is_text(inner),
            _ => is_text(&Value::Sym(*sym)),
        };
        (!plain && machine.symbols.mentions(&Value::Sym(*sym), &mut { is_text })).then_some(*at)
    })
}

/// What a date in Retry-After does, where seconds are followed: `told` is what was seen with them.
fn date(
    machine: &mut Machine<'_>,
    (found, plan): (&Found<'_>, &Plan),
    group: &Group,
    how: &Failing,
    told: &Outage,
) -> DateForm {
    let dated = machine.outage(plan, &found.entries, group.op.place, how, Advice::Date, Some(2));
    let failed_at = |state: &State| {
        state.events().iter().rev().find_map(|event| match event {
            Event::ParseFailed(at) => Some(*at),
            _ => None,
        })
    };
    let parsed = |state: &State| state.events().iter().any(|event| matches!(event, Event::ParsedDate));
    let end = |finished: &Finished| match &finished.end {
        End::Raise(_, at) | End::Return(_, _, at) => Some(*at),
        _ => None,
    };
    // Where seconds lead out too, it is not for the date.
    let other_ends: Vec<At> = told.left.iter().filter_map(|(_, finished)| end(finished)).collect();
    let by_date = |finished: &Finished| end(finished).is_some_and(|at| !other_ends.contains(&at));
    for (_, finished) in dated.left.iter().filter(|(_, finished)| !parsed(&finished.state) && by_date(finished)) {
        if let Some(at) = failed_at(&finished.state) {
            let fails = match &finished.end {
                End::Raise(..) => true,
                End::Return(value, ..) => is_failure_value(value),
                _ => false,
            };
            if fails {
                return DateForm::Breaks(local_span(machine, found, at));
            }
        }
    }
    for state in &dated.first {
        let events: Vec<Event> = state.events().into_iter().cloned().collect();
        let read = |event: &Event| matches!(event, Event::ParsedDate) || is_handed_on(machine, event);
        if since_failure(&events).iter().any(read) {
            continue;
        }
        let kept = since_failure(&events).iter().any(|event| match event {
            Event::Wait { value, .. } => relation(machine, value, 10) != Relation::None,
            _ => false,
        });
        if !kept && let Some(at) = failed_at(state).or_else(|| form_test(machine, &events)) {
            return DateForm::Dropped(local_span(machine, found, at));
        }
    }
    DateForm::Fine
}
