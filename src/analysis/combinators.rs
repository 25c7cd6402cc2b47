//! Sites without a loop of their own: a function that a decorator runs again.
//!
//! The decorator's expression is evaluated to a policy. The loop is the library's, and stands in the prelude; it is
//! run with the decorated function as what it calls, so that the facts are found as they are for any other loop.

use std::rc::Rc;

use super::facts;
use super::machine::{End, Machine, Plan};
use super::policy::{Form, Site};
use super::prelude;
use super::sites::{self, Found};
use super::state::{Frame, Gives, State};
use super::value::{FuncRef, Value};
use crate::ir::{BlockId, Function, FunctionKind, LoopKind};
use crate::source::Span;

/// Steps for evaluating a decorator's expression.
const EVALUATE_BUDGET: u64 = 6_000;

/// The sites that a function's decorators make of it.
pub(super) fn decorated(machine: &mut Machine<'_>, func: FuncRef, function: &Function) -> Vec<Site> {
    let mut found = Vec::new();
    if function.kind != FunctionKind::Named || function.is_generator {
        return found;
    }
    for decorator in &function.decorators {
        machine.budget = machine.budget.max(EVALUATE_BUDGET);
        let value = machine.initial(FuncRef { file: func.file, func: decorator.value });
        if !machine.is_policy(func.file, &value) {
            continue;
        }
        let start = machine.enter(func);
        let outer = start.top().and_then(|frame| frame.outer);
        let what = Driven {
            policy: value,
            call: Value::Func(func, outer),
            start,
            func,
            function,
            span: decorator.span,
            form: Form::Decorator,
        };
        found.extend(site(machine, what));
    }
    found
}

/// What a policy runs.
pub(super) struct Driven<'f> {
    pub policy: Value,
    pub call: Value,
    pub start: State,
    pub func: FuncRef,
    pub function: &'f Function,
    pub span: Span,
    pub form: Form,
}

/// The site of a call that a policy runs again.
pub(super) fn site(machine: &mut Machine<'_>, what: Driven<'_>) -> Option<Site> {
    let is_async = match &what.call {
        Value::Func(func, _) => machine.project.function(*func).is_some_and(|function| function.is_async),
        _ => what.function.is_async,
    };
    // A library that blocks knows nothing of coroutines: it takes the making of one for the call.
    let piece = machine.piece(what.func.file, &what.policy)?;
    let driver = prelude::function(if is_async && !piece.entry.blocking { "drive_async" } else { "drive" })?;
    let drive = machine.project.function(driver)?;
    if let Value::Func(func, _) = &what.call {
        machine.weight_cache.insert(*func, true);
    }
    let start = driven(machine, driver, drive, &what);
    let head = drive.loops.first()?.head;
    let map = machine.loops_of(driver);
    let blocks = map.loops.first()?.1.clone();
    machine.plan = Plan { head: Some(head), stop_at_head: true, ..Plan::calm() };
    machine.budget = 2_000;
    let entries: Vec<State> = machine
        .run(vec![start])
        .into_iter()
        .filter(|finished| finished.end == End::Head)
        .map(|finished| sites::at_head(finished.state))
        .collect();
    let plan = Plan { explore: true, blocks: Some(blocks), head: Some(head), max_turns: 2, ..Plan::calm() };
    let explored = sites::explore(machine, &plan, entries.clone());
    if explored.back.is_empty() {
        return None;
    }
    let role = sites::role(machine, &explored, LoopKind::Endless)?;
    let file = machine.project.file(what.func.file)?;
    let header = file.first_line(what.span);
    let found = Found {
        func: what.func,
        function: what.function,
        form: what.form,
        role,
        span: what.span,
        header,
        entries,
        plan,
        explored,
        loop_kind: Some(LoopKind::Endless),
    };
    facts::site(machine, &found)
}

/// The state at the entry of the driver, its variables set.
fn driven(machine: &mut Machine<'_>, driver: FuncRef, drive: &Function, what: &Driven<'_>) -> State {
    let mut state = what.start.clone();
    for frame in std::mem::take(&mut state.frames) {
        Rc::make_mut(&mut state.kept).insert(frame.id, (frame.slots, frame.outer));
    }
    let mut slots = vec![None; drive.slots.len()];
    let given = [what.call.clone(), what.policy.clone()];
    for (param, value) in drive.params.iter().zip(given) {
        if let Some(slot) = slots.get_mut(param.slot.0 as usize) {
            *slot = Some(value);
        }
    }
    let _ = &machine;
    let id = state.next_frame;
    state.next_frame += 1;
    state.frames.push(Frame {
        func: driver,
        block: BlockId(0),
        at: 0,
        slots: Rc::new(slots),
        caught: None,
        dst: None,
        gives: Gives::Returned,
        id,
        outer: None,
        closed_over: false,
        visits: Vec::new(),
        chain: 0,
        limits: 0,
    });
    state
}
