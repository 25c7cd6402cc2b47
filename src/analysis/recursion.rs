//! Repetition without a loop: a function that calls itself from a failure path, by itself or by way of another one, and
//! a second try in the failure path of the first.

use rustc_hash::{FxHashMap, FxHashSet};

use super::facts;
use super::helpers::made_by;
use super::loops;
use super::lost;
use super::machine::{End, Finished, Machine, Plan};
use super::policy::{Form, Role, Site};
use super::sites::{Found, Sieve, explore, handles, is_unnoticed};
use super::state::{At, Event, Failed, Failing, Known3, OpInfo, State};
use super::value::{ClassRef, FuncRef, Value};
use crate::ir::{Arg, BlockId, Callee, Const, Function, FunctionKind, Op, Slot, Term};

/// An instruction: its block, and its number there.
type Point = (BlockId, usize);

/// Calls times blocks up to which ways between calls are looked for, and calls of the same name.
const MOST_WAYS: usize = 400_000;
const MOST_ALIKE: usize = 16;

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
        if !sieve.known && !sieve.unknown {
            return sites;
        }
        let start = machine.enter(func);
        let mut plan = Plan { explore: true, recursion: true, max_turns: 2, ..Plan::calm() };
        let mut explored = explore(machine, &mut plan, vec![start.clone()], sieve);
        // Whoever reads page after page calls itself for the next one.
        let asks_on = |finished: &Finished| match (&finished.end, &finished.state.failed) {
            (End::Again(again), Some(failed)) if matches!(failed.how, Failing::Status(_)) => {
                went_on(&finished.state, failed, again)
            }
            _ => false,
        };
        explored.back.retain(|finished| !is_unnoticed(machine, finished) && !asks_on(finished));
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
        let mut plan = Plan { explore: true, second_try: true, ..Plan::calm() };
        let mut explored = explore(machine, &mut plan, vec![start.clone()], sieve);
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
    let mut looped = vec![false; function.blocks.len()];
    for (_, inside) in &machine.loops_of(func).loops {
        looped.iter_mut().zip(inside.iter()).for_each(|(looped, inside)| *looped |= inside);
    }
    let made = made_by(function);
    let made = |slot: Slot| made.get(slot.0 as usize).copied().flatten();
    let mut beside: FxHashMap<FuncRef, bool> = FxHashMap::default();
    let (mut recursive, mut mutual, mut operates) = (false, false, false);
    let mut named: Vec<(&str, Point)> = Vec::new();
    let branches =
        function.blocks.iter().any(|block| block.unwind.is_some() || matches!(block.term, Term::Branch { .. }));
    for (at, block) in function.blocks.iter().enumerate() {
        let Ok(id) = u32::try_from(at) else { break };
        for (number, instr) in block.instrs.iter().enumerate() {
            let Op::Call { callee, .. } = &instr.op else { continue };
            let name = match callee {
                Callee::Method { name, .. } | Callee::Super { name } => name.clone(),
                Callee::Value(slot) => match made(*slot) {
                    Some(Op::Func(id)) if *id == func.func => function.name.clone(),
                    op => callee_name(function, *slot, op).unwrap_or_default(),
                },
            };
            let itself = name == function.name || name == format!("#{}", func.func.0);
            if itself && function.kind == FunctionKind::Named && !is_of_another(callee, made) {
                recursive = true;
            }
            let made_callee = match callee {
                Callee::Value(slot) => made(*slot),
                _ => None,
            };
            let called = called_beside(machine, func, function, (callee, made_callee), &name);
            if called.is_some_and(|called| {
                *beside.entry(called).or_insert_with(|| calls_back(machine, called, func, function))
            }) {
                mutual = true;
                continue;
            }
            let op = made_callee.unwrap_or(&instr.op);
            let Some(name) = machine.project.leads_out(func.file, function, op) else { continue };
            operates |= !itself;
            if looped.get(at) == Some(&true) {
                continue;
            }
            named.push((name, (BlockId(id), number)));
        }
    }
    let recursive = (recursive || mutual && operates) && branches;
    (recursive, !recursive && branches && may_try_twice(function, &named))
}

/// Whether a method of the same name is a base's, or that of an object which this one has.
fn is_of_another<'f>(callee: &Callee, made: impl Fn(Slot) -> Option<&'f Op>) -> bool {
    match callee {
        Callee::Super { .. } => true,
        Callee::Method { receiver, .. } => matches!(made(*receiver), Some(Op::Attr(..))),
        Callee::Value(_) => false,
    }
}

/// Whether something that is named twice may be a second try of itself: the later call is come to where the earlier one
/// raised, or by a condition that depends on what it gave or did to its receiver.
fn may_try_twice(function: &Function, named: &[(&str, Point)]) -> bool {
    // To look takes longer than to explore, which is bounded.
    if named.len() * function.blocks.len() > MOST_WAYS {
        return true;
    }
    let mut by_name: FxHashMap<&str, Vec<Point>> = FxHashMap::default();
    named.iter().for_each(|(name, at)| by_name.entry(name).or_default().push(*at));
    let made = made_by(function);
    by_name.into_values().filter(|calls| calls.len() > 1).any(|calls| {
        if calls.len() > MOST_ALIKE {
            return true;
        }
        calls.iter().any(|first| {
            let same =
                calls.iter().filter(|other| other.0 != first.0 && !asks_otherwise(function, &made, *first, **other));
            let same: Vec<BlockId> = same.map(|other| other.0).collect();
            let others = || same.iter().copied();
            let reaches = |from: BlockId, other: BlockId| {
                loops::reachable(function, from, None).get(other.0 as usize) == Some(&true)
            };
            let handler = function.block(first.0).and_then(|block| block.unwind);
            if handler.is_some_and(|handler| others().any(|other| reaches(handler, other))) {
                return true;
            }
            let after = loops::reachable(function, first.0, None);
            let is_after = |at: BlockId| after.get(at.0 as usize) == Some(&true);
            if !others().any(is_after) {
                return false;
            }
            let mut forks = depends(function, *first).into_iter().filter(|fork| is_after(*fork));
            forks.any(|fork| {
                others().any(|other| other != fork && reaches(fork, other) && leaves_without(function, fork, other))
            })
        })
    })
}

/// Whether two calls are evidently of different things, or given different things for the same parameter: what the one
/// asks, the other does not. Numbers and truths may only say how.
fn asks_otherwise(function: &Function, made: &[Option<&Op>], one: Point, other: Point) -> bool {
    let call = |(block, at): Point| match function.block(block).and_then(|block| block.instrs.get(at)).map(|at| &at.op)
    {
        Some(Op::Call { callee, args }) => Some((callee, args.as_slice())),
        _ => None,
    };
    let Some(((callee, one), (other_callee, other))) = call(one).zip(call(other)) else { return false };
    let made = |slot: Slot| made.get(slot.0 as usize).copied().flatten();
    let differ = |one: Slot, other: Slot| match (made(one), made(other)) {
        (Some(Op::Const(Const::Str(one))), Some(Op::Const(Const::Str(other)))) => one != other,
        (Some(Op::Path(one)), Some(Op::Path(other))) => one != other,
        (Some(Op::Attr(_, one)), Some(Op::Attr(_, other))) => one != other,
        (Some(Op::Global(one)), Some(Op::Global(other))) => one != other,
        (Some(Op::Class(one)), Some(Op::Class(other))) => one != other,
        _ => false,
    };
    if let (Callee::Method { receiver: one, .. }, Callee::Method { receiver: other, .. }) = (callee, other_callee)
        && differ(*one, *other)
    {
        return true;
    }
    let placed = |arg: &&Arg| arg.name.is_none();
    let spread = one.iter().chain(other).any(|arg| arg.spread);
    let named = |one: &Arg| {
        one.name.is_some() && other.iter().any(|other| other.name == one.name && differ(one.value, other.value))
    };
    let mut pairs = one.iter().filter(placed).zip(other.iter().filter(placed));
    one.iter().any(named) || !spread && pairs.any(|(one, other)| differ(one.value, other.value))
}

/// The blocks that end with a condition on what a call gave, or on its receiver.
fn depends(function: &Function, (block, at): Point) -> Vec<BlockId> {
    let mut slots: FxHashSet<Slot> = FxHashSet::default();
    if let Some(instr) = function.block(block).and_then(|block| block.instrs.get(at)) {
        slots.extend(instr.dst);
        if let Op::Call { callee: Callee::Method { receiver, .. }, .. } = &instr.op {
            slots.insert(*receiver);
        }
    }
    loop {
        let before = slots.len();
        for instr in function.blocks.iter().flat_map(|block| &block.instrs) {
            if !instr.op.reads().iter().any(|slot| slots.contains(slot)) {
                continue;
            }
            slots.extend(instr.dst);
            match &instr.op {
                Op::Bind(_, pattern) => slots.extend(pattern.binds()),
                Op::SetAttr(object, ..) | Op::SetIndex(object, ..) => {
                    slots.insert(*object);
                }
                _ => {}
            }
        }
        if slots.len() == before {
            break;
        }
    }
    let blocks = function.blocks.iter().enumerate();
    let forks = blocks.filter(|(_, block)| match &block.term {
        Term::Branch { cond, .. } => slots.contains(cond),
        Term::Next { iter, .. } => slots.contains(iter),
        _ => false,
    });
    forks.filter_map(|(at, _)| Some(BlockId(u32::try_from(at).ok()?))).collect()
}

/// Whether all can go well from one block to the end without coming to another.
fn leaves_without(function: &Function, from: BlockId, barrier: BlockId) -> bool {
    let mut seen = vec![false; function.blocks.len()];
    let mut work = vec![from];
    while let Some(id) = work.pop() {
        let Some(block) = function.block(id).filter(|_| id != barrier) else { continue };
        if seen.get_mut(id.0 as usize).is_none_or(|seen| std::mem::replace(seen, true)) {
            continue;
        }
        match &block.term {
            Term::Return(_) | Term::Propagate(_) => return true,
            term => work.extend(loops::targets(term)),
        }
    }
    false
}

/// What is called, where it is a function beside this one: a method of the same class or a function of the same file.
fn called_beside(
    machine: &Machine<'_>,
    func: FuncRef,
    function: &Function,
    (callee, made): (&Callee, Option<&Op>),
    name: &str,
) -> Option<FuncRef> {
    if function.kind != FunctionKind::Named || name == function.name {
        return None;
    }
    let this = function.params.iter().find(|param| param.is_self).map(|param| param.slot);
    match (callee, made) {
        (Callee::Method { receiver, name }, _) if Some(*receiver) == this => {
            machine.project.method(ClassRef { file: func.file, class: function.class? }, name)
        }
        (Callee::Value(_), Some(Op::Func(id))) => Some(FuncRef { func: *id, ..func }),
        _ => None,
    }
}

/// Whether a function beside another one calls that.
fn calls_back(machine: &Machine<'_>, beside: FuncRef, func: FuncRef, function: &Function) -> bool {
    let Some(beside) = machine.project.function(beside) else { return false };
    let this = beside.params.iter().find(|param| param.is_self).map(|param| param.slot);
    beside.blocks.iter().flat_map(|block| &block.instrs).any(|instr| match &instr.op {
        Op::Call { callee: Callee::Method { receiver, name }, .. } => {
            *name == function.name && function.class.is_some() && Some(*receiver) == this
        }
        Op::Func(id) => *id == func.func,
        _ => false,
    })
}

fn callee_name(function: &Function, slot: Slot, made: Option<&Op>) -> Option<String> {
    if let Some(name) = function.slot(slot).and_then(|info| info.name.clone()) {
        return Some(name);
    }
    match made? {
        Op::Path(path) => Some(super::memory::last_part(path).to_string()),
        Op::Func(id) => Some(format!("#{}", id.0)),
        Op::Copy(from) => function.slot(*from).and_then(|info| info.name.clone()),
        _ => None,
    }
}

/// Whether a path asked for something else after the failure: it went on without the answer, and came to the request
/// again by the way, unless that mended the cause.
fn went_on(state: &State, failed: &Failed, again: &OpInfo) -> bool {
    let mended = matches!(&failed.how, Failing::Status(set) if set.minus(&facts::credential_statuses()).is_empty());
    let events = state.events();
    let last = events.iter().rposition(|event| matches!(event, Event::Fail(..))).unwrap_or(0);
    // The next turn begins with what it needs anew.
    let mut since = events.iter().skip(last).take_while(|event| !matches!(event, Event::Turn(_)));
    !mended
        && since.any(|event| match event {
            Event::Op(info) => info.remote == Known3::Yes && info.place != again.place && info.place != failed.op.place,
            _ => false,
        })
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
        Event::LookedAtStatus(_, true) | Event::Caught(_) | Event::Lost(_) => true,
        Event::Decide { sym, .. } => machine.symbols.mentions(&Value::Sym(*sym), &mut { of_answer }),
        _ => false,
    };
    let events = finished.state.events();
    let noticed = !matches!(failed.how, Failing::Status(_))
        || events.iter().rev().take_while(|event| !matches!(event, Event::Fail(..))).any(|event| notices(event));
    // Both in one call from here: that call's own affair.
    let elsewhere = failed.op.base == second.base;
    noticed && !went_on(&finished.state, failed, second) && !elsewhere && !done.iter().any(sends)
}
