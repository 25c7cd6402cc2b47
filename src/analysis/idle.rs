//! What was meant to be repeated and never is: nothing that the operation does leads back to it.
//!
//! The exploration of a loop or policy that ended without a path back says so only where it was complete: all failures
//! of something that leaves the process were followed to where they leave. What is not known could come back, and is
//! silent. So is a loop of which it is not plain that it was to repeat: one over anything but a range of numbers, unless a
//! handler in it leads back that can have nothing to do.

use std::rc::Rc;

use super::bounds::enters;
use super::facts;
use super::loops;
use super::machine::{Advice, Finished, Machine, Plan};
use super::pieces::is_callable;
use super::policy::{Bound, Idle, IdleWhy, Role, Site};
use super::sites::{self, Found, is_switched_off};
use super::state::{Event, Failing, Known3, OpInfo, State};
use super::status::StatusSet;
use super::value::{ANY, Taint, Value};
use crate::ir::{Block, BlockId, Callee, Const, Function, LoopKind, Op, Slot, Term};
use crate::models::{Kind, Models, Occurs};
use crate::source::Span;

/// A tuple of classes is looked into so deep.
const DEPTH: u32 = 4;

/// The site of a loop that never repeats what it was to repeat.
pub(super) fn in_loop(machine: &mut Machine<'_>, found: &Found<'_>, inside: &[bool]) -> Option<Site> {
    let seen = &found.explored;
    if seen.cut || seen.thinned || seen.after_first_try || !seen.on.is_empty() || seen.done.is_empty() {
        return None;
    }
    let op = failed_of(&seen.out)?;
    // Success leaves at once.
    if seen.done.iter().any(|finished| finished.state.turns > 0) || comes_back(machine, found, &op) {
        return None;
    }
    let counts = found.loop_kind == Some(LoopKind::For)
        && (range_of(machine, found, inside).is_some() || is_policy_untold(machine, found));
    let once = range_of(machine, found, inside) == Some(Some(1));
    let stays = seen.out.iter().all(|finished| finished.state.turns == 0);
    let idle = if stays {
        let leaves = || Idle { why: IdleWhy::Leaves, span: leaves_at(machine, found, &seen.out) };
        let named = shadow(machine, found, inside).or_else(|| unmatched(machine, found, inside, &op));
        // A turn that asks for something of its own is no further attempt.
        let own = op.inputs.iter().any(|input| is_counted(input, DEPTH));
        // A handler that leads back is there for what else is done in the loop, seen to fail or not.
        let handled = || {
            let handlers = handlers(machine, found, inside).unwrap_or_default();
            handlers.iter().any(|handler| leads_back(found, inside, handler.then))
        };
        named.or_else(|| (counts && !once && !own && !handled()).then(leaves))?
    } else if counts && once && seen.out.iter().all(|finished| !takes_again(&finished.state)) {
        Idle { why: IdleWhy::Once, span: found.header }
    } else {
        return None;
    };
    Some(site(machine, found, &op, idle))
}

/// Whether a loop goes through a library's policy, and nothing is entered that could tell it of a failure.
fn is_policy_untold(machine: &mut Machine<'_>, found: &Found<'_>) -> bool {
    let head = found.plan.head.and_then(|head| found.function.block(head));
    let Some(Term::Next { iter, .. }) = head.map(|head| &head.term) else { return false };
    !enters(found.function)
        && found.entries.iter().any(|entry| {
            let mut entry = entry.clone();
            let iterator = machine.read(&mut entry, *iter);
            machine.limit_gone_through(&mut entry, &iterator).is_some()
        })
}

/// The site of a policy that never runs again what it is given.
pub(super) fn in_policy(machine: &mut Machine<'_>, found: &Found<'_>, policy: &Value) -> Option<Site> {
    let seen = &found.explored;
    if seen.cut || seen.thinned || seen.done.is_empty() || seen.out.iter().any(|finished| finished.state.guessed) {
        return None;
    }
    let op = failed_of(&seen.out)?;
    if comes_back(machine, found, &op) {
        return None;
    }
    let over = |finished: &Finished| {
        let events: Vec<Event> = finished.state.events().into_iter().cloned().collect();
        facts::since_failure(&events).iter().any(|event| matches!(event, Event::CountTest { .. } | Event::Counted(_)))
    };
    let why = if seen.out.iter().any(over) {
        if is_switched_off(machine, found.func, found.function) {
            return None;
        }
        IdleWhy::Once
    } else {
        let wanted = wanted(machine, found, policy)?;
        if !wanted.iter().all(|class| is_foreign(machine, found, class, &op)) {
            return None;
        }
        let known = |finished: &Finished| match finished.state.failed.as_ref().map(|failed| &failed.how) {
            Some(Failing::Raises(classes)) => classes.iter().all(|class| &**class != ANY),
            Some(Failing::Status(_)) => true,
            _ => false,
        };
        if !seen.out.iter().all(known) {
            return None;
        }
        IdleWhy::Never(wanted)
    };
    let idle = Idle { why, span: found.header };
    Some(site(machine, found, &op, idle))
}

/// A site of a policy that never repeats what it is for, made as if it did.
pub(super) fn never(site: Site, idle: Idle) -> Site {
    Site {
        role: Role::Idle,
        failures: Vec::new(),
        exits: Vec::new(),
        retried_statuses: StatusSet::EMPTY,
        bound: Bound::Count(Some(1)),
        max_attempts: Some(1),
        delay_ceiling: None,
        interrupts: None,
        defects: None,
        layers: Vec::new(),
        amplification: None,
        idle: Some(idle),
        ..site
    }
}

/// Whether something does come back, where the server says for how long to wait or whatever else may fail does; or a
/// layer further in repeats the operation, and this one may be there for what that lets out.
fn comes_back(machine: &mut Machine<'_>, found: &Found<'_>, op: &OpInfo) -> bool {
    let within = |finished: &Finished| facts::repeated_within(&finished.state.events(), op);
    if found.explored.out.iter().any(within) {
        return true;
    }
    let mut told = Plan { advice: Advice::Seconds, ..found.plan.clone() };
    let again = sites::explore(machine, &mut told, found.entries.clone(), sites::Sieve::ALL);
    if !again.back.is_empty() || again.cut || again.thinned {
        return true;
    }
    // Or it follows redirects: each turn goes where the last one was sent.
    let mut sent_on = Plan { redirected: true, ..found.plan.clone() };
    !sites::explore(machine, &mut sent_on, found.entries.clone(), sites::Sieve::ALL).on.is_empty()
}

/// The operation that leaves the process and was seen to fail.
fn failed_of(out: &[Finished]) -> Option<Rc<OpInfo>> {
    let remote = |finished: &Finished| {
        let op = finished.state.failed.as_ref()?.op.clone();
        (op.remote == Known3::Yes && !op.passed_in).then_some(op)
    };
    out.iter().find_map(remote)
}

/// Whether a value is, or holds, what counts the turns.
fn is_counted(value: &Value, depth: u32) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    match value {
        Value::Num(num) => num.taint.has(Taint::COUNTER),
        Value::Tuple(items) => items.iter().any(|item| is_counted(item, depth)),
        _ => false,
    }
}

/// Whether a path went on to another item after the failure.
fn takes_again(state: &State) -> bool {
    let events = state.events();
    events.iter().rev().take_while(|event| !matches!(event, Event::Fail(..))).any(|e| matches!(e, Event::Took { .. }))
}

/// Where a failure leaves.
fn leaves_at(machine: &Machine<'_>, found: &Found<'_>, out: &[Finished]) -> Span {
    let left = |finished: &Finished| {
        finished.state.events().iter().rev().find_map(|event| match event {
            Event::Left(at, ..) => Some(*at),
            _ => None,
        })
    };
    out.iter().find_map(left).map_or(found.header, |at| facts::local_span(machine, found, at))
}

/// Whether the loop goes over a range of numbers, and over how many where it says so with a number.
fn range_of(machine: &mut Machine<'_>, found: &Found<'_>, inside: &[bool]) -> Option<Option<u64>> {
    let function = found.function;
    let head = found.plan.head?;
    let iter = inside_blocks(function, inside).find_map(|(at, block)| match &block.term {
        Term::Next { iter, .. } if at == head => Some(*iter),
        _ => None,
    })?;
    let Op::Iter(source, _) = made(function, iter)? else { return None };
    let Op::Call { callee: Callee::Value(callee), args } = made(function, *source)? else { return None };
    let Op::Path(path) = made(function, *callee)? else { return None };
    let models = machine.project.models(found.func.file)?;
    let entry = models.function(path).filter(|entry| entry.kind == Kind::Math)?;
    let name = entry.function.as_deref().filter(|name| matches!(*name, "range" | "range-inclusive"))?;
    let numbers: Option<Vec<i64>> = args.iter().map(|arg| number(machine, found, arg.value)).collect();
    let length = match (numbers.as_deref(), name) {
        (Some([stop]), "range") => Some(*stop),
        (Some([start, stop]), "range") => Some(stop - start),
        (Some([start, stop]), _) => Some(stop - start + 1),
        _ => None,
    };
    Some(length.and_then(|length| u64::try_from(length).ok()))
}

/// A number that the code itself says: a literal, or a constant of the file.
fn number(machine: &mut Machine<'_>, found: &Found<'_>, slot: Slot) -> Option<i64> {
    match made(found.function, slot)? {
        Op::Const(Const::Int(number)) => Some(*number),
        Op::Copy(from) if *from != slot => number(machine, found, *from),
        Op::Global(id) => {
            let init = machine.project.module(found.func.file)?.global(*id)?.value?;
            let value = machine.initial(super::value::FuncRef { file: found.func.file, func: init });
            #[allow(clippy::cast_possible_truncation)]
            match value {
                Value::Num(num) => num.single().filter(|number| number.abs() < 1e9).map(|number| number as i64),
                _ => None,
            }
        }
        _ => None,
    }
}

/// What gives a slot its only value.
fn made(function: &Function, slot: Slot) -> Option<&Op> {
    // A parameter has the caller's value besides.
    if function.params.iter().any(|param| param.slot == slot) {
        return None;
    }
    let mut instrs = function.blocks.iter().flat_map(|block| &block.instrs).filter(|instr| instr.dst == Some(slot));
    let first = instrs.next()?;
    instrs.next().is_none().then_some(&first.op)
}

fn inside_blocks<'f>(function: &'f Function, inside: &'f [bool]) -> impl Iterator<Item = (BlockId, &'f Block)> {
    let numbered = (0_u32..).zip(&function.blocks);
    numbered.filter(|(at, _)| inside.get(*at as usize) == Some(&true)).map(|(at, block)| (BlockId(at), block))
}

/// The body of a loop over items that nothing leads back from; `None` of any other loop.
pub(super) fn body(function: &Function, head: BlockId) -> Option<Rc<[bool]>> {
    let Term::Next { body, done, .. } = function.block(head)?.term else { return None };
    let mut inside = vec![false; function.blocks.len()];
    *inside.get_mut(head.0 as usize)? = true;
    let mut work = vec![body];
    while let Some(at) = work.pop() {
        if at == head {
            return None;
        }
        let flag = inside.get_mut(at.0 as usize)?;
        if at != done && !std::mem::replace(flag, true) {
            work.extend(loops::successors(function.block(at)?));
        }
    }
    Some(inside.into())
}

// ---- handlers ----

/// A handler: the block that asks for its classes, these, and where it begins.
struct Handler {
    asks: BlockId,
    classes: Vec<String>,
    then: BlockId,
    span: Span,
}

/// The handlers in a loop, with the classes that they name; `None` where one names what is not known.
fn handlers(machine: &Machine<'_>, found: &Found<'_>, inside: &[bool]) -> Option<Vec<Handler>> {
    let models = machine.project.models(found.func.file)?;
    let mut handlers = Vec::new();
    for (asks, block) in inside_blocks(found.function, inside) {
        for instr in &block.instrs {
            let Op::IsException(_, types) = &instr.op else { continue };
            let Term::Branch { then, .. } = block.term else { return None };
            let mut classes = Vec::new();
            named(models, found.function, *types, &mut classes, DEPTH)?;
            handlers.push(Handler { asks, classes, then, span: instr.span });
        }
    }
    Some(handlers)
}

fn named(models: &Models, function: &Function, types: Slot, classes: &mut Vec<String>, depth: u32) -> Option<()> {
    let depth = depth.checked_sub(1)?;
    match made(function, types)? {
        Op::Path(path) if models.exception(path).is_some() => classes.push(models.canonical(path).to_owned()),
        Op::Collection(_, items) => {
            for item in items {
                named(models, function, *item, classes, depth)?;
            }
        }
        _ => return None,
    }
    Some(())
}

/// Whether a block leads to the loop's head without leaving the loop.
fn leads_back(found: &Found<'_>, inside: &[bool], from: BlockId) -> bool {
    let Some(head) = found.plan.head else { return false };
    let mut seen = vec![false; found.function.blocks.len()];
    let mut work = vec![from];
    while let Some(at) = work.pop() {
        let here = at.0 as usize;
        if at == head {
            return true;
        }
        if inside.get(here) != Some(&true) || seen.get(here).copied().unwrap_or(true) {
            continue;
        }
        if let Some(flag) = seen.get_mut(here) {
            *flag = true;
        }
        if let Some(block) = found.function.block(at) {
            let next = loops::successors(block);
            work.extend(next.into_iter().filter(|to| Some(*to) != block.unwind));
        }
    }
    false
}

/// In a loop or what it is part of: a handler that leads back behind one that takes the same and does not.
pub(super) fn shadowed(machine: &Machine<'_>, found: &Found<'_>) -> Option<Idle> {
    let inside = found.plan.blocks.clone()?;
    // A policy's loop is not this function's own.
    found.loop_kind.filter(|_| found.form == super::policy::Form::Loop)?;
    shadow(machine, found, &inside)
}

fn shadow(machine: &Machine<'_>, found: &Found<'_>, inside: &[bool]) -> Option<Idle> {
    let models = machine.project.models(found.func.file)?;
    let handlers = handlers(machine, found, inside)?;
    for (at, behind) in handlers.iter().enumerate() {
        let before = handlers.get(..at).unwrap_or_default();
        let earlier = before.iter().filter(|before| comes_to(found.function, before.asks, behind.asks));
        let taken = |class: &String| {
            let takes =
                |first: &&Handler| first.classes.iter().any(|wide| models.is_subclass(class, wide) == Some(true));
            earlier.clone().find(takes)
        };
        let takers: Option<Vec<&Handler>> = behind.classes.iter().map(taken).collect();
        let Some(takers) = takers else { continue };
        let lost = takers.iter().all(|first| !leads_back(found, inside, first.then));
        if !takers.is_empty() && lost && leads_back(found, inside, behind.then) {
            let first = takers.first()?;
            let wide = first.classes.iter().find(|wide| {
                behind.classes.first().is_some_and(|class| models.is_subclass(class, wide) == Some(true))
            })?;
            let why = IdleWhy::Shadowed(behind.classes.first()?.clone(), wide.clone());
            return Some(Idle { why, span: behind.span });
        }
    }
    None
}

/// Whether a handler is asked where the one before it did not take the exception.
fn comes_to(function: &Function, from: BlockId, to: BlockId) -> bool {
    let mut at = from;
    for _ in 0..12 {
        let Some(block) = function.block(at) else { return false };
        at = match block.term {
            Term::Branch { otherwise, .. } if block.instrs.iter().any(|i| matches!(i.op, Op::IsException(..))) => {
                otherwise
            }
            Term::Goto(next) if at != from => next,
            _ => return false,
        };
        if at == to {
            return true;
        }
    }
    false
}

/// Handlers that lead back, for nothing that the operation raises.
fn unmatched(machine: &Machine<'_>, found: &Found<'_>, inside: &[bool], op: &OpInfo) -> Option<Idle> {
    let handlers = handlers(machine, found, inside)?;
    let meant = |handler: &&Handler| leads_back(found, inside, handler.then) && stands_around(found, handler, op);
    let back: Vec<&Handler> = handlers.iter().filter(meant).collect();
    let classes: Vec<String> = back.iter().flat_map(|handler| handler.classes.iter().cloned()).collect();
    let foreign = !classes.is_empty() && classes.iter().all(|class| is_foreign(machine, found, class, op));
    let span = back.first().map(|handler| handler.span)?;
    foreign.then_some(Idle { why: IdleWhy::Never(classes), span })
}

/// Whether what an operation raises comes to a handler: it is not there for something else.
fn stands_around(found: &Found<'_>, handler: &Handler, op: &OpInfo) -> bool {
    let calls = |block: &&Block| block.instrs.iter().any(|instr| instr.span == op.base.span);
    found.function.blocks.iter().filter(calls).any(|block| {
        let mut next = block.unwind;
        for _ in 0..8 {
            let Some(at) = next else { break };
            if at == handler.asks || comes_to(found.function, at, handler.asks) {
                return true;
            }
            next = found.function.block(at).and_then(|block| block.unwind);
        }
        false
    })
}

/// Whether an exception is none that an operation, or what is made of its answer, can raise: a class of another library,
/// or the one that stands for an error status where nobody asks for the status.
fn is_foreign(machine: &Machine<'_>, found: &Found<'_>, class: &str, op: &OpInfo) -> bool {
    let Some(models) = machine.project.models(found.func.file) else { return false };
    let Some(entry) = models.exception(class) else { return false };
    if op.raises.is_empty() || entry.content || entry.interrupt || entry.occurs == Some(Occurs::Defect) {
        return false;
    }
    let apart = |raised: &Rc<str>| {
        models.is_subclass(raised, class) == Some(false) && models.is_subclass(class, raised) == Some(false)
    };
    if !op.raises.iter().all(apart) {
        return false;
    }
    let of_status = models.entries().iter().any(|entry| entry.status_error.as_deref() == Some(class));
    let sent_by = op.model.as_deref().and_then(|model| models.library_of(model)).map(|library| library.name.clone());
    let other = sent_by.is_some_and(|name| *name != *entry.library);
    // One of the language's own is meant for a connection where it, or a class below it, says so.
    let about = |class: &str| models.exception(class).is_some_and(|entry| entry.before_send || entry.elapsed);
    let of_the_system = about(class) || models.descendants(class).any(about);
    let of_library = models.library_of(class).is_some_and(|library| library.name == entry.library);
    of_status || other && (of_the_system || of_library)
}

// ---- policies ----

/// The classes for which a policy runs again; empty where a function says so that needs no guess.
fn wanted(machine: &mut Machine<'_>, found: &Found<'_>, policy: &Value) -> Option<Vec<String>> {
    let piece = machine.piece(found.func.file, policy)?;
    let when = piece.part("when").or(piece.part("classes")).cloned()?;
    if is_callable(&when) {
        return Some(Vec::new());
    }
    let types = match machine.piece(found.func.file, &when) {
        Some(inner) if inner.word() == "when-exception" => inner.part("classes").cloned()?,
        Some(inner) if inner.word() == "when-call" => return Some(Vec::new()),
        Some(_) => return None,
        None => when,
    };
    if is_callable(&types) && !matches!(types, Value::Path(_) | Value::Class(_)) {
        return Some(Vec::new());
    }
    let mut classes = Vec::new();
    let state = found.entries.first()?;
    machine.class_paths(state, &types, &mut classes, 4).then_some(())?;
    Some(classes.iter().map(|class| class.to_string()).collect())
}

// ---- the site ----

fn site(machine: &mut Machine<'_>, found: &Found<'_>, op: &OpInfo, idle: Idle) -> Site {
    let operation = facts::operation(machine, found, op);
    Site {
        function: found.func.func,
        function_name: found.function.qualified_name.clone(),
        in_async: found.function.is_async,
        in_test: found.function.is_test,
        form: found.form,
        role: found.role,
        span: found.span,
        header: found.header,
        operations: vec![operation],
        failures: Vec::new(),
        exits: Vec::new(),
        retried_statuses: StatusSet::EMPTY,
        bound: Bound::Count(Some(1)),
        max_attempts: Some(1),
        delay_ceiling: None,
        interrupts: None,
        defects: None,
        unreset: None,
        used_up: None,
        batch: None,
        idle: Some(idle),
        lost_result: None,
        helper: None,
        version: None,
        links: Vec::new(),
        layers: Vec::new(),
        layered_wait: None,
        multiplied: 0,
        inner: false,
        tasks: None,
        amplification: None,
        cut: false,
    }
}
