//! Sites where something is brought in to a retry helper of the project's own: at the call that hands it over, and at
//! the decorator that stands before a function.
//!
//! The caller is run until it comes to the helper's loop (see [`super::helpers`]). In the state that it comes with, its
//! arguments and what it hands over among it, the loop is looked at as any other; but only for what was handed over
//! and is known to leave the process. The helper's own loop is a site of its own.

use std::rc::Rc;

use super::facts;
use super::machine::{Machine, Plan};
use super::policy::{Form, Helper, Site};
use super::sites::{self, Found, Sieve};
use super::state::{At, Frame, Known3, State};
use super::value::{FuncRef, Value};
use crate::frontend::prelude;
use crate::ir::{BlockId, FuncId, Function, FunctionKind, Module};
use crate::source::Span;

/// Steps for coming to the helpers of a function.
const BUDGET: u64 = 2_000;
/// As many are looked at in one function.
const MOST: usize = 24;

/// A helper's loop, as a function comes to it for the first time.
#[derive(Debug)]
pub struct Brought {
    state: State,
    head: BlockId,
    /// The call in progress in the function.
    call: At,
}

impl Machine<'_> {
    /// Notes that a helper's loop is come to, while such loops are looked for.
    pub(super) fn note_brought(&mut self, state: &State, head: BlockId, span: Span) {
        let Some(known) = self.brought.as_ref().filter(|known| known.len() < MOST) else { return };
        let [_, between @ .., top] = state.frames.as_slice() else { return };
        if !self.initialising.is_empty() || !self.project.repeats_given(top.func, head) {
            return;
        }
        // What one in between hands over is not brought in here.
        if !between.iter().all(|frame| self.project.hands_on(frame.func)) {
            return;
        }
        let call = self.base_at(state, span);
        if known.iter().any(|known| known.call == call) {
            return;
        }
        let brought = Brought { state: state.clone(), head, call };
        self.brought.get_or_insert_default().push(brought);
    }
}

/// The sites of the calls in a file that bring something in.
pub(super) fn called(machine: &mut Machine<'_>, module: &Module) -> Vec<Site> {
    let mut found = Vec::new();
    for at in 0..module.functions.len() {
        let Ok(id) = u32::try_from(at) else { break };
        let func = FuncRef { file: machine.file, func: FuncId(id) };
        let Some(function) = machine.project.function(func) else { continue };
        let skipped = function.is_test || function.kind == FunctionKind::Initialiser;
        if skipped || !machine.project.may_bring(func.file, function) {
            continue;
        }
        let start = machine.enter(func);
        for brought in come_to(machine, start) {
            let span = brought.call.span;
            found.extend(site(machine, brought, func, function, span));
        }
    }
    found
}

/// The sites that decorators of the project's own make of a function.
pub(super) fn decorated(machine: &mut Machine<'_>, func: FuncRef, function: &Function) -> Vec<Site> {
    let mut found = Vec::new();
    if function.kind != FunctionKind::Named || function.is_generator {
        return found;
    }
    for decorator in &function.decorators {
        let make = FuncRef { file: func.file, func: decorator.value };
        if !machine.project.is_helper_decorator(make) {
            continue;
        }
        let start = machine.enter(func);
        let outer = start.top().and_then(|frame| frame.outer);
        let this = function.params.first().filter(|param| param.is_self).map(|param| param.slot);
        let this = this.and_then(|slot| start.top()?.slots.get(slot.0 as usize)?.clone());
        let Some(driver) = machine.decorating(func.file, function.is_async) else { continue };
        let given = Value::Tuple(this.into_iter().collect());
        let values = [Value::Func(make, None), Value::Func(func, outer), given];
        let Some(start) = machine.at_entry_of(driver, start, &values) else { continue };
        machine.bare = Some(func);
        for brought in come_to(machine, start) {
            found.extend(site(machine, brought, func, function, decorator.span));
        }
        machine.bare = None;
    }
    found
}

fn come_to(machine: &mut Machine<'_>, start: State) -> Vec<Brought> {
    machine.brought = Some(Vec::new());
    machine.plan = Plan::calm();
    machine.allow(BUDGET);
    machine.run(vec![start]);
    machine.brought.take().unwrap_or_default()
}

/// The site of what a function brings in to a loop.
fn site(machine: &mut Machine<'_>, brought: Brought, func: FuncRef, function: &Function, span: Span) -> Option<Site> {
    let Brought { mut state, head, .. } = brought;
    let frame = state.frames.pop()?;
    for frame in std::mem::take(&mut state.frames) {
        Rc::make_mut(&mut state.kept).insert(frame.id, (frame.slots, frame.outer));
    }
    let helper = frame.func;
    state.frames.push(Frame { dst: None, lent: Rc::from([]), ..frame });
    let state = sites::at_head(state);
    let with_loop = machine.project.function(helper)?;
    let source = with_loop.loops.iter().find(|source| source.head == head)?;
    let map = machine.loops_of(helper);
    let blocks = map.loops.iter().find(|(other, _)| *other == head)?.1.clone();
    let outer_heads = sites::around(machine, helper, head);
    let mut plan = Plan { explore: true, blocks: Some(blocks), head: Some(head), outer_heads, ..Plan::calm() };
    let sieve = Sieve { known: true, unknown: false };
    let mut explored = sites::explore(machine, &mut plan, vec![state.clone()], sieve);
    explored.back.retain(|finished| {
        finished.state.failed.as_ref().is_some_and(|failed| {
            let given = machine.project.is_given_call(helper, head, failed.op.base.span);
            failed.op.remote == Known3::Yes && given
        })
    });
    let role = sites::role_of(machine, &mut explored, std::slice::from_ref(&state), source.kind)?;
    let header = machine.project.file(func.file)?.first_line(span);
    let found = Found {
        func,
        function,
        looped: helper,
        form: Form::Decorator,
        role,
        span,
        header,
        entries: vec![state],
        plan,
        explored,
        loop_kind: Some(source.kind),
        most: None,
        lost_result: None,
        limit: None,
    };
    let mut site = facts::site(machine, &found)?;
    site.helper = Some(Helper { file: helper.file, header: source.header });
    Some(site)
}

impl Machine<'_> {
    /// What calls a function that stands in a decorator of the project's own.
    pub(super) fn decorating(&self, file: u32, is_async: bool) -> Option<FuncRef> {
        let file = prelude::file_for(self.project.module(file)?.language);
        let name = if is_async { "decorate_async" } else { "decorate" };
        Some(FuncRef { file, func: prelude::function(file, name)? })
    }

    /// The state at the entry of a function of the prelude, come to from a state in which its arguments are known.
    pub(super) fn at_entry_of(&self, driver: FuncRef, mut state: State, values: &[Value]) -> Option<State> {
        let drive = self.project.function(driver)?;
        for frame in std::mem::take(&mut state.frames) {
            Rc::make_mut(&mut state.kept).insert(frame.id, (frame.slots, frame.outer));
        }
        let mut slots = vec![None; drive.slots.len()];
        for (param, value) in drive.params.iter().zip(values) {
            if let Some(slot) = slots.get_mut(param.slot.0 as usize) {
                *slot = Some(value.clone());
            }
        }
        let id = state.next_frame;
        state.next_frame += 1;
        state.frames.push(Frame::at_entry(driver, slots, id, None));
        Some(state)
    }
}
