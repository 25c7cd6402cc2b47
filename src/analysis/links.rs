//! What leads from a site to its operation: the functions on the way with their decorators and the loops around each
//! call, in whichever files they stand, and where on the way back something is caught or waited for.

use super::facts::Group;
use super::machine::Machine;
use super::policy::{Form, Link};
use super::sites::Found;
use super::state::{Event, State};
use super::value::FuncRef;
use crate::frontend::prelude;
use crate::ir::FunctionKind;
use crate::source::Span;

impl Machine<'_> {
    /// The functions that a call at `span` is made through, but the one under analysis, each with where it has got to.
    pub(super) fn through(&self, state: &State, span: Span) -> std::rc::Rc<[(FuncRef, Span)]> {
        let last = state.frames.len().saturating_sub(1);
        let inner = state.frames.iter().enumerate().skip(1);
        let place = |(at, frame): (usize, &super::state::Frame)| {
            let block = self.project.function(frame.func).and_then(|function| function.block(frame.block));
            let called = block.and_then(|block| block.instrs.get(frame.at)).map(|instr| instr.span);
            Some((frame.func, if at == last { span } else { called? }))
        };
        inner.filter(|(_, frame)| !prelude::is(frame.func.file)).filter_map(place).collect()
    }
}

/// The links of a site's failure paths, each once.
pub(super) fn links(machine: &Machine<'_>, found: &Found<'_>, groups: &[Group]) -> Vec<Link> {
    let mut links = Vec::new();
    for group in groups {
        for (func, span) in group.op.through.iter() {
            step(machine, *func, *span, &mut links);
        }
        // What a policy runs is to it as its body is to a loop.
        let driven = group.op.through.first().filter(|_| found.form == Form::Decorator);
        let body = driven.and_then(|(func, _)| Some((func.file, machine.project.function(*func)?.span)));
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
