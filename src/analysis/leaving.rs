//! What leaves: after the last attempt, and with which answers.

use super::facts::{local_span, repeated_within, since_failure};
use super::inputs::SHOWN;
use super::machine::{End, Finished, Machine};
use super::outage::Outage;
use super::policy::{Bound, Exhaustion, Exit, ExitKind, Wait};
use super::sites::{Found, is_failure_value};
use super::state::{At, Event, Failing, OpInfo};
use super::value::{ClassRef, Node, Place, SymId, Taint, Type, Value};
use crate::ir::UnOp;

/// The wait between the last failure and giving up, of those paths that have made all their attempts.
pub(super) fn after_last(last: &[&Finished], op: &OpInfo) -> Option<(Wait, At)> {
    let mut found: Option<(Wait, At)> = None;
    for finished in last {
        // A loop around this one goes on: what waits here waits for its next turn.
        if matches!(finished.end, End::NextWork(_)) {
            return None;
        }
        let events = finished.state.events();
        let at_failure = events.iter().rposition(|event| matches!(event, Event::Fail(..)))?;
        let after = events.get(at_failure..).unwrap_or_default();
        let left = after.iter().position(|event| matches!(event, Event::Left(..)))?;
        // Behind the loop the last attempt of all is made: the wait is before it.
        if after.get(left..).unwrap_or_default().iter().any(|event| once_more(event, op)) {
            return None;
        }
        // What waits before a loop further in gives up is that loop's own affair.
        let until = after.get(..left).unwrap_or_default();
        let inner = repeated_within(&events, op);
        let own = until.iter().rposition(|event| inner && matches!(event, Event::Caught(_))).unwrap_or(0);
        let wait = until.get(own..).unwrap_or_default().iter().rev().find_map(|event| match event {
            Event::Wait { low, high, unknown, at, .. } if *high > 0.0 || *unknown => {
                Some((Wait { low: *low, high: *high, unknown: *unknown }, *at))
            }
            _ => None,
        });
        match wait {
            Some(wait) => found = Some(wait),
            // One path gives up without a wait: the wait is not certain.
            None => return None,
        }
    }
    found
}

/// Whether the same is done at another place.
fn once_more(event: &Event, op: &OpInfo) -> bool {
    match event {
        Event::Op(info) => {
            // What is called through a parameter is known by that alone, whatever else it is given.
            let given = info.passed_in && op.passed_in && info.inputs.first() == op.inputs.first();
            let named = info.text == op.text || info.model.is_some() && info.model == op.model;
            info.place != op.place && (named || given)
        }
        _ => false,
    }
}

/// Whether what leaves is not the answer that had failed: it was asked for once more at another place, or a further turn
/// was begun in which something that has nothing to do with it decides that there is nothing to ask for.
fn ends_otherwise(machine: &Machine<'_>, finished: &Finished, op: &OpInfo) -> bool {
    let events = finished.state.events();
    let failed = events.iter().rposition(|event| matches!(event, Event::Fail(..))).unwrap_or(0);
    let after = events.get(failed..).unwrap_or_default();
    if after.iter().any(|event| once_more(event, op)) {
        return true;
    }
    let Some(turned) = after.iter().rposition(|event| matches!(event, Event::Turn(_))) else { return false };
    let own = |part: &Value| match part {
        Value::Resp(of) | Value::Body(of) | Value::Headers(of) | Value::Status(of, _) | Value::StatusIn(of, _) => {
            *of == op.place
        }
        Value::Exc(_) => true,
        _ => false,
    };
    let turn = after.get(turned..).unwrap_or_default();
    let last = turn.iter().rev().find_map(|event| match event {
        Event::Decide { sym, .. } => Some(*sym),
        _ => None,
    });
    last.is_some_and(|sym| {
        let sym = Value::Sym(sym);
        let of_failure = Taint::FAILURE.or(Taint::COUNTER).or(Taint::CLOCK);
        !machine.symbols.taint(&sym).has(of_failure) && !machine.symbols.mentions(&sym, &mut { own })
    })
}

/// Whether a path left from a turn in which other things were done, but not what had failed before: that is no giving
/// up.
fn passed_by(finished: &Finished) -> bool {
    let Some(failed) = &finished.state.failed else { return false };
    let events = finished.state.events();
    let turn = events.iter().rev().skip_while(|event| !matches!(event, Event::Left(..)));
    let mut done = turn.take_while(|event| !matches!(event, Event::Turn(_))).filter_map(|event| match event {
        Event::Op(info) => Some(info.place),
        _ => None,
    });
    let turned = events.iter().any(|event| matches!(event, Event::Turn(_)));
    let first = done.next();
    turned && first.is_some() && first != Some(failed.op.place) && done.all(|place| place != failed.op.place)
}

pub(super) fn exhaustion(machine: &Machine<'_>, found: &Found<'_>, outage: &Outage, bound: &Bound) -> Exhaustion {
    if matches!(bound, Bound::None | Bound::Broken(_) | Bound::Flag) {
        return Exhaustion::Never;
    }
    let gives_value = found.explored.done.iter().any(|finished| match &finished.end {
        End::Return(value, explicit, _) => *explicit && !matches!(value, Value::None),
        _ => false,
    });
    let last = outage.left.iter().map(|(attempt, _)| *attempt).max().unwrap_or(0);
    let (mut worst, mut raises) = (Exhaustion::Unknown, false);
    for (attempt, finished) in &outage.left {
        if *attempt != last || passed_by(finished) {
            continue;
        }
        let this = match &finished.end {
            End::Raise(..) | End::Abort => Exhaustion::Raises,
            End::NextWork(at) => Exhaustion::GoesOn(at.span),
            End::Return(value, explicit, at) => match value {
                Value::None if !explicit && gives_value => Exhaustion::FallsOff(at.span),
                Value::None if !explicit => Exhaustion::GoesOn(at.span),
                value if is_failure_value(value) => Exhaustion::FailureValue,
                Value::Tuple(_) | Value::Object(_) | Value::Num(_) | Value::Str(_)
                    if gives_value && looks_empty(finished, value) =>
                {
                    let text = machine.project.file(at.file).map_or("", |file| file.slice(at.span));
                    Exhaustion::DefaultValue(at.span, text.split_whitespace().collect::<Vec<_>>().join(" "))
                }
                Value::Variant(name, _, args) if &**name == "Ok" && gives_value => match args.first() {
                    Some(inner) if looks_empty(finished, inner) => {
                        let text = machine.project.file(at.file).map_or("", |file| file.slice(at.span));
                        Exhaustion::DefaultValue(at.span, text.to_string())
                    }
                    _ => Exhaustion::Unknown,
                },
                _ => Exhaustion::Unknown,
            },
            _ => Exhaustion::Unknown,
        };
        let rank = |exhaustion: &Exhaustion| match exhaustion {
            Exhaustion::FallsOff(_) => 5,
            Exhaustion::DefaultValue(..) => 4,
            Exhaustion::GoesOn(_) => 3,
            Exhaustion::FailureValue => 2,
            Exhaustion::Raises => 1,
            _ => 0,
        };
        // What was not followed to its end may well be told.
        raises |= this == Exhaustion::Raises || finished.end == End::Away;
        if rank(&this) > rank(&worst) {
            worst = this;
        }
    }
    // Something decides whether the failure leaves as what it is: who wants the default has asked for it.
    if raises && matches!(worst, Exhaustion::FallsOff(_) | Exhaustion::DefaultValue(..)) {
        worst = Exhaustion::Unknown;
    }
    // A declared optional result says that there may be none.
    let returns = machine.project.function(found.looped).and_then(|function| function.returns.as_ref());
    let declared = returns.is_some_and(|ty| {
        matches!(ty.path.as_str(), "Option" | "Result" | "bool" | "builtins.bool" | "None" | "builtins.None")
    });
    // An empty `Ok` says the opposite of what a declared error is for.
    let fallible = returns.is_some_and(|ty| ty.path == "Result");
    match worst {
        Exhaustion::FallsOff(_) if declared => Exhaustion::FailureValue,
        Exhaustion::DefaultValue(..) if declared && !fallible => Exhaustion::FailureValue,
        other => other,
    }
}

/// The class of the project that a value is an instance of.
pub(super) fn class_of(machine: &Machine<'_>, value: &Value) -> Option<ClassRef> {
    let Value::Sym(id) = value else { return None };
    match &machine.symbols.info(*id)?.ty {
        Some(Type::Own(class)) => Some(*class),
        _ => None,
    }
}

/// Whether a value is an empty default: `[]`, `{}`, `""`, `0`.
pub(super) fn looks_empty(finished: &Finished, value: &Value) -> bool {
    match value {
        Value::Tuple(items) => items.is_empty(),
        Value::Str(text) => text.is_empty(),
        Value::Object(id) => matches!(
            finished.state.objects.get(id),
            Some(super::state::Object::List(items, true)) if items.is_empty()
        ),
        Value::Num(num) => num.single() == Some(0.0),
        _ => false,
    }
}

/// Whether a caller asks for error answers as they are: a parameter says so, and with its other value the same answer is
/// raised.
fn is_asked_for(machine: &Machine<'_>, found: &Found<'_>, finished: &Finished) -> bool {
    let told = |finished: &Finished| -> Vec<(Place, bool)> {
        let events: Vec<Event> = finished.state.events().into_iter().cloned().collect();
        let of_caller = |event: &Event| match event {
            Event::Decide { sym, taken, place, .. } => is_parameter(machine, found, *sym).then_some((*place, *taken)),
            _ => None,
        };
        since_failure(&events).iter().filter_map(of_caller).collect()
    };
    let Some(failed) = &finished.state.failed else { return false };
    let asked = told(finished);
    !asked.is_empty()
        && found.explored.out.iter().any(|other| {
            let same = other.state.failed.as_ref().is_some_and(|of| of.op.place == failed.op.place);
            let raised = matches!(other.end, End::Raise(..));
            same && raised && told(other).iter().any(|(place, side)| asked.contains(&(*place, !side)))
        })
}

/// Whether a condition is a parameter of the function under analysis, and nothing else.
fn is_parameter(machine: &Machine<'_>, found: &Found<'_>, sym: SymId) -> bool {
    let mut sym = sym;
    for _ in 0..4 {
        match machine.symbols.info(sym).map(|info| &info.node) {
            Some(Node::Param(func, _)) => return *func == found.func,
            Some(Node::Truth(Value::Sym(inner)) | Node::Unary(UnOp::Not, Value::Sym(inner))) => sym = *inner,
            _ => return false,
        }
    }
    false
}

/// The ways in which answers leave.
pub(super) fn exits(machine: &Machine<'_>, found: &Found<'_>) -> Vec<Exit> {
    let mut exits: Vec<Exit> = Vec::new();
    let success: Vec<At> = found
        .explored
        .done
        .iter()
        .filter_map(|finished| match &finished.end {
            End::Return(_, _, at) => Some(*at),
            _ => None,
        })
        .collect();
    // What fails on the way to what is repeated (a credential that is fetched first) is no answer to that.
    let repeated = |place: Place| {
        let of = |finished: &Finished| finished.state.failed.as_ref().is_some_and(|failed| failed.op.place == place);
        found.explored.back.iter().any(of)
    };
    for finished in &found.explored.out {
        let Some(failed) = finished.state.failed.as_ref().filter(|failed| repeated(failed.op.place)) else { continue };
        let Failing::Status(set) = &failed.how else { continue };
        let place = failed.op.place;
        if ends_otherwise(machine, finished, &failed.op) {
            continue;
        }
        let (kind, at) = match &finished.end {
            End::Return(_, _, at) if is_asked_for(machine, found, finished) => (ExitKind::Response, *at),
            End::Raise(_, at) => (ExitKind::Failure, *at),
            End::NextWork(at) => (ExitKind::Elsewhere, *at),
            End::Return(value, explicit, at) => {
                let mut response = |value: &Value| match value {
                    Value::Resp(of) | Value::Status(of, _) | Value::StatusIn(of, _) => *of == place,
                    Value::Exc(_) => true,
                    Value::Inst(_) => true,
                    _ => false,
                };
                let looked = finished
                    .state
                    .events()
                    .iter()
                    .any(|event| matches!(event, Event::LookedAtStatus(of, _) if *of == place));
                // What stands in the answer was asked for: an error's would not have come so far.
                let of_answer = |value: &Value| matches!(value, Value::Body(of) if *of == place);
                let read = finished.state.events().iter().any(|event| match event {
                    Event::Decide { sym, .. } => machine.symbols.mentions(&Value::Sym(*sym), &mut { of_answer }),
                    _ => false,
                });
                // Where nothing is given either way, a test behind the loop is there to tell a failure from a success.
                let told_apart = *value == Value::None
                    && finished
                        .state
                        .events()
                        .iter()
                        .skip_while(|event| !matches!(event, Event::Left(..)))
                        .any(|event| matches!(event, Event::LookedAtStatus(of, _) if *of == place));
                // What was raised and caught was noticed: the loop came to its end with it.
                let caught = finished
                    .state
                    .events()
                    .iter()
                    .skip_while(|event| !matches!(event, Event::Fail(..)))
                    .any(|event| matches!(event, Event::Caught(_)));
                // An instance of another class than a success gives says that it is none.
                let other_class = class_of(machine, value).is_some_and(|class| {
                    !found.explored.done.iter().any(|finished| match &finished.end {
                        End::Return(value, ..) => class_of(machine, value).is_none_or(|good| good == class),
                        _ => false,
                    })
                });
                // What tells of the status tells of the failure, wherever in the result it stands.
                let shown = machine.shown(&finished.state, value, SHOWN);
                let kind = if machine.symbols.mentions(&shown, &mut response) {
                    ExitKind::Response
                } else if is_failure_value(value) && *explicit || other_class {
                    ExitKind::Failure
                } else if success.contains(at) && looked && !read && !told_apart && !(caught && *value == Value::None) {
                    ExitKind::Value
                } else {
                    ExitKind::Failure
                };
                (kind, *at)
            }
            _ => continue,
        };
        let span = local_span(machine, found, at);
        match exits.iter_mut().find(|exit| exit.kind == kind && exit.span == span) {
            Some(exit) => exit.statuses = exit.statuses.map(|statuses| statuses.or(set)),
            None => exits.push(Exit { statuses: Some(*set), kind, span }),
        }
    }
    exits
}
