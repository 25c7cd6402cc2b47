//! What leads from a site to its operation: the functions on the way with their decorators and the loops around each
//! call, in whichever files they stand, and where on the way back something is caught or waited for.

use std::rc::Rc;

use super::facts::Group;
use super::machine::Machine;
use super::policy::{Form, Link};
use super::sites::Found;
use super::state::{Activation, Event, Frame, State};
use super::value::{FuncRef, Value};
use crate::frontend::prelude;
use crate::ir::FunctionKind;
use crate::source::Span;

impl Machine<'_> {
    /// The activations that a call at `span` is made through.
    pub(super) fn through(&mut self, state: &State, span: Span) -> Rc<[Activation]> {
        let last = state.frames.len().saturating_sub(1);
        let place = |(at, frame): (usize, &Frame)| {
            let block = self.project.function(frame.func).and_then(|function| function.block(frame.block));
            let called = block.and_then(|block| block.instrs.get(frame.at)).map(|instr| instr.span);
            let span = if at == last { span } else { called? };
            let runs = frame.slots.first().filter(|_| prelude::is(frame.func.file));
            let runs = runs.and_then(Option::as_ref).and_then(|value| match value {
                Value::Partial(pending) => function_of(&pending.callee),
                value => function_of(value),
            });
            Some(Activation { func: frame.func, id: frame.id, span, turns: self.turns_of(frame, at == 0), runs })
        };
        state.frames.iter().enumerate().filter_map(place).collect()
    }
}

fn function_of(value: &Value) -> Option<FuncRef> {
    if let Value::Func(func, _) = value { Some(*func) } else { None }
}

/// The links of a site's failure paths, each once.
pub(super) fn links(machine: &Machine<'_>, found: &Found<'_>, groups: &[Group]) -> Vec<Link> {
    let mut links = Vec::new();
    for group in groups {
        let inner = || group.op.through.iter().skip(1).filter(|one| !prelude::is(one.func.file));
        inner().for_each(|one| step(machine, one.func, one.span, &mut links));
        // What a policy runs is to it as its body is to a loop.
        let driven = inner().next().filter(|_| found.form == Form::Decorator);
        let body = driven.and_then(|one| Some((one.func.file, machine.project.function(one.func)?.span)));
        links.extend(body.map(|(file, span)| Link { file, span }));
    }
    for finished in &found.explored.back {
        for event in finished.state.events() {
            match event {
                Event::Wait { at, .. } | Event::Caught(at) | Event::Lost(at) => {
                    links.push(Link { file: at.file, span: at.span });
                }
                _ => {}
            }
        }
    }
    links.retain(|link| !prelude::is(link.file));
    links.sort();
    links.dedup();
    links
}

/// A call with what it stands in.
fn step(machine: &Machine<'_>, func: FuncRef, span: Span, links: &mut Vec<Link>) {
    let mut add = |span| links.push(Link { file: func.file, span });
    add(span);
    let Some(function) = machine.project.function(func) else { return };
    if function.kind != FunctionKind::ModuleBody {
        add(function.header);
    }
    function.decorators.iter().for_each(|decorator| add(decorator.span));
    function.loops.iter().filter(|around| around.span.contains(span)).for_each(|around| add(around.header));
}
