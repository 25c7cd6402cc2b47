//! Repetition without a loop: a function that calls itself from a failure path, by itself or by way of another one, and
//! a second try in the failure path of the first.

use super::facts;
use super::lost;
use super::machine::{End, Finished, Machine, Plan};
use super::policy::{Form, Role, Site};
use super::sites::{Found, Sieve, explore, handles};
use super::state::{At, Event, Failing, Known3, State};
use super::value::{ClassRef, FuncRef, Value};
use crate::ir::{Callee, Function, FunctionKind, Op, Slot, Term};

/// Recursion from a failure path, and a second try in one.
pub(super) fn in_function<'a>(machine: &mut Machine<'a>, func: FuncRef, function: &'a Function) -> Vec<Site> {
    if function.kind == FunctionKind::ModuleBody {
        return Vec::new();
    }
    let (recursive, twice) = repeats(machine, func, function);
    let mut sites = Vec::new();
    if recursive {
        let mut instrs = function.blocks.iter().flat_map(|block| &block.instrs);
        let known = instrs.any(|instr| machine.project.leads_out(func.file, function, &instr.op).is_some());
        let sieve = Sieve { known, unknown: handles(function, &vec![true; function.blocks.len()]) };
        let start = machine.enter(func);
        let plan = Plan { explore: true, recursion: true, max_turns: 2, ..Plan::calm() };
        let explored = explore(machine, &plan, vec![start.clone()], sieve);
        let turn = explored.back.iter().find_map(|finished| last_turn(&finished.state));
        if let Some(turn) = turn
            && !explored.back.is_empty()
        {
            let gives_value = explored
                .done
                .iter()
                .any(|finished| matches!(&finished.end, End::Return(value, true, _) if !matches!(value, Value::None)));
            let calls = explored.back.iter().filter_map(|finished| last_turn(&finished.state));
            let lost_result = calls.into_iter().find_map(|call| lost::lost_result(function, call.span, gives_value));
            let found = Found {
                func,
                function,
                looped: func,
                form: Form::Recursion,
                role: Role::Retry,
                // By way of another function: that is where it begins again.
                span: if function.span.contains(turn.span) { function.span } else { turn.span },
                header: lost_result.map_or(turn.span, |lost| lost.span),
                entries: vec![start],
                plan,
                explored,
                loop_kind: None,
                most: None,
                lost_result,
                limit: None,
            };
            sites.extend(facts::site(machine, &found));
        }
    } else if twice {
        let sieve = Sieve { known: true, unknown: false };
        let start = machine.enter(func);
        let plan = Plan { explore: true, second_try: true, ..Plan::calm() };
        let mut explored = explore(machine, &plan, vec![start.clone()], sieve);
        explored.back.retain(|finished| is_second_try(machine, &explored.done, finished));
        let second = explored.back.iter().find_map(|finished| match &finished.end {
            End::SecondTry(info) if info.remote == Known3::Yes => Some(info.clone()),
            _ => None,
        });
        if let Some(second) = second {
            let found = Found {
                func,
                function,
                looped: func,
                form: Form::StraightLine,
                role: Role::Retry,
                span: second.base.span,
                header: second.base.span,
                entries: vec![start],
                plan,
                explored,
                loop_kind: None,
                most: None,
                lost_result: None,
                limit: None,
            };
            sites.extend(facts::site(machine, &found));
        }
    }
    sites
}

fn last_turn(state: &State) -> Option<At> {
    state.events().iter().rev().find_map(|event| match event {
        Event::Turn(at) => Some(*at),
        _ => None,
    })
}

/// Whether a function calls itself, and whether it names twice, outside of loops, what may leave the process.
fn repeats<'a>(machine: &mut Machine<'a>, func: FuncRef, function: &'a Function) -> (bool, bool) {
    let map = machine.loops_of(func);
    let looped = |at: usize| map.loops.iter().any(|(_, inside)| inside.get(at) == Some(&true));
    let (mut recursive, mut mutual, mut operates, mut twice) = (false, false, false, false);
    let mut seen: Vec<&str> = Vec::new();
    let branches =
        function.blocks.iter().any(|block| block.unwind.is_some() || matches!(block.term, Term::Branch { .. }));
    for (at, block) in function.blocks.iter().enumerate() {
        for instr in &block.instrs {
            let Op::Call { callee, .. } = &instr.op else { continue };
            let name = match callee {
                Callee::Method { name, .. } | Callee::Super { name } => name.clone(),
                Callee::Value(slot) => match made_from(function, *slot) {
                    Some(Op::Func(id)) if *id == func.func => function.name.clone(),
                    _ => callee_name(function, *slot).unwrap_or_default(),
                },
            };
            let itself = name == function.name || name == format!("#{}", func.func.0);
            if itself && function.kind == FunctionKind::Named {
                recursive = true;
            }
            if calls_back(machine, func, function, callee, &name) {
                mutual = true;
                continue;
            }
            let made = match callee {
                Callee::Value(slot) => made_from(function, *slot).unwrap_or(&instr.op),
                _ => &instr.op,
            };
            let Some(name) = machine.project.leads_out(func.file, function, made) else { continue };
            operates |= !itself;
            if looped(at) {
                continue;
            }
            if seen.contains(&name) {
                twice = true;
            } else {
                seen.push(name);
            }
        }
    }
    ((recursive || mutual && operates) && branches, twice && branches)
}

/// Whether what is called is a function beside this one, a method of the same class or a function of the same file, that
/// calls this one.
fn calls_back(machine: &Machine<'_>, func: FuncRef, function: &Function, callee: &Callee, name: &str) -> bool {
    if function.kind != FunctionKind::Named || name == function.name {
        return false;
    }
    let this = function.params.iter().find(|param| param.is_self).map(|param| param.slot);
    let beside = match callee {
        Callee::Method { receiver, .. } if Some(*receiver) == this => {
            let class = function.class.map(|class| ClassRef { file: func.file, class });
            class.and_then(|class| machine.project.method(class, name))
        }
        Callee::Value(slot) => match made_from(function, *slot) {
            Some(Op::Func(id)) => Some(FuncRef { func: *id, ..func }),
            _ => None,
        },
        _ => None,
    };
    let Some(beside) = beside.and_then(|beside| machine.project.function(beside)) else { return false };
    let this = beside.params.iter().find(|param| param.is_self).map(|param| param.slot);
    beside.blocks.iter().flat_map(|block| &block.instrs).any(|instr| match &instr.op {
        Op::Call { callee: Callee::Method { receiver, name }, .. } => {
            *name == function.name && function.class.is_some() && Some(*receiver) == this
        }
        Op::Func(id) => *id == func.func,
        _ => false,
    })
}

/// What first gives a slot its value.
fn made_from(function: &Function, slot: Slot) -> Option<&Op> {
    let made = function.blocks.iter().flat_map(|block| &block.instrs).find(|instr| instr.dst == Some(slot))?;
    Some(&made.op)
}

fn callee_name(function: &Function, slot: Slot) -> Option<String> {
    if let Some(name) = function.slot(slot).and_then(|info| info.name.clone()) {
        return Some(name);
    }
    match made_from(function, slot)? {
        Op::Path(path) => Some(super::memory::last_part(path).to_string()),
        Op::Func(id) => Some(format!("#{}", id.0)),
        Op::Copy(from) => function.slot(*from).and_then(|info| info.name.clone()),
        _ => None,
    }
}

/// Whether a request was sent once more because it failed: somebody noticed, and where it succeeds it is not sent again.
fn is_second_try(machine: &Machine<'_>, done: &[Finished], finished: &Finished) -> bool {
    let End::SecondTry(second) = &finished.end else { return false };
    let sends = |finished: &Finished| {
        finished.state.events().iter().any(|event| matches!(event, Event::Op(info) if info.place == second.place))
    };
    let Some(failed) = &finished.state.failed else { return false };
    let of_answer = |value: &Value| matches!(value, Value::Body(place) if *place == failed.op.place);
    let notices = |event: &Event| match event {
        Event::LookedAtStatus(_) | Event::Caught(_) | Event::Lost(_) => true,
        Event::Decide { sym, .. } => machine.symbols.mentions(&Value::Sym(*sym), &mut { of_answer }),
        _ => false,
    };
    let events = finished.state.events();
    let noticed = !matches!(failed.how, Failing::Status(_))
        || events.iter().rev().take_while(|event| !matches!(event, Event::Fail(..))).any(|event| notices(event));
    // What went on without it and asked for something else came to it again by the way, unless that mended the cause.
    let mended = matches!(&failed.how, Failing::Status(set) if set.minus(&facts::credential_statuses()).is_empty());
    let since = events.iter().rev().take_while(|event| !matches!(event, Event::Fail(..)));
    let went_on = since.clone().any(|event| match event {
        Event::Op(info) => info.remote == Known3::Yes && info.place != second.place && info.place != failed.op.place,
        _ => false,
    });
    // Both in one call from here: that call's own affair.
    let elsewhere = failed.op.base == second.base;
    noticed && (mended || !went_on) && !elsewhere && !done.iter().any(sends)
}
