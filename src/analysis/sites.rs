//! Finds the places where an operation is executed again because it failed.
//!
//! For each loop, and each function that may call itself or try a second time, the machine first explores: every
//! operation fails in every way, one on a path, and the paths on which it comes back to be executed again are kept.
//! What the loop does on success tells what it is for. Then each way of failing is simulated as an outage that lasts
//! (see [`super::outage`]), which gives the bound, the waits and what leaves in the end.

use std::rc::Rc;

use rustc_hash::FxHashSet;

use super::awaited::{only_looks, waits_until_there};
use super::brought;
use super::combinators;
use super::facts::{self, Group};
use super::idle;
use super::inputs::is_fed_anew;
use super::judges;
use super::loops;
use super::machine::{End, Finished, Machine, Plan, is_once};
use super::policy::{Bound, Form, LostResult, Role, Site};
use super::recursion;
use super::state::{Event, Failed, Failing, Known3, OpInfo, State};
use super::status::StatusSet;
use super::taking::is_handed_work;
use super::unset;
use super::value::{ClassRef, FuncRef, Node, Place, SymId, Taint, Value};
use super::verdicts::{is_another_answer, sent_from, verdicts};
use super::whole::is_answer_asked;
use crate::ir::{Block, BlockId, Function, FunctionKind, Instr, LoopKind, Op, Pattern, Term};
use crate::source::Span;

/// Steps for coming to a loop.
const ENTRY_BUDGET: u64 = 6_000;
/// Steps for finding failure paths.
const EXPLORE_BUDGET: u64 = 12_000;
/// Steps within which something that leaves the process is to be come to.
const SIEVE_BUDGET: u64 = 3_000;

/// What was found by exploring.
#[derive(Debug, Default)]
pub(super) struct Explored {
    /// Paths from a failure back to the operation.
    pub back: Vec<Finished>,
    /// Paths on which nothing failed and the function or loop was left.
    pub done: Vec<Finished>,
    /// Paths on which nothing failed and the loop goes on.
    pub on: Vec<Finished>,
    /// Paths that left with a failure.
    pub out: Vec<Finished>,
    /// The work was cut short.
    pub cut: bool,
    /// Not all paths were followed: what was found is there, what was not found may be.
    pub thinned: bool,
    /// The loop is come to only where a first try before it failed.
    pub after_first_try: bool,
}

/// All sites of a file, in source order.
#[must_use]
pub fn find(machine: &mut Machine<'_>) -> Vec<Site> {
    let file = machine.file;
    let Some(module) = machine.project.module(file) else { return Vec::new() };
    let mut sites = Vec::new();
    for at in 0..module.functions.len() {
        let Ok(id) = u32::try_from(at) else { break };
        let func = FuncRef { file, func: crate::ir::FuncId(id) };
        let Some(function) = machine.project.function(func) else { continue };
        if function.kind == FunctionKind::Initialiser || function.is_test {
            continue;
        }
        for number in 0..function.loops.len() {
            sites.extend(in_loop(machine, func, function, number));
        }
        sites.extend(recursion::in_function(machine, func, function));
        sites.extend(combinators::decorated(machine, func, function));
        sites.extend(brought::decorated(machine, func, function));
        sites.extend(judges::implemented(machine, func, function));
    }
    sites.extend(combinators::called(machine, module));
    sites.extend(brought::called(machine, module));
    sites.sort_by_key(|site| (site.header.start, site.span.start));
    sites
}

/// The loops around one, by their heads.
pub(super) fn around(machine: &mut Machine<'_>, func: FuncRef, head: BlockId) -> Rc<[BlockId]> {
    let map = machine.loops_of(func);
    map.loops
        .iter()
        .filter(|(other, inside)| *other != head && inside.get(head.0 as usize) == Some(&true))
        .map(|(other, _)| *other)
        .collect()
}

/// The site of a loop, if it is one.
fn in_loop<'a>(machine: &mut Machine<'a>, func: FuncRef, function: &'a Function, number: usize) -> Option<Site> {
    let source = function.loops.get(number)?;
    if source.is_comprehension {
        return None;
    }
    let map = machine.loops_of(func);
    let (head, inside) = map.loops.get(number)?;
    let (head, inside) = (*head, inside.clone());
    let inside = idle::body(function, head).unwrap_or(inside);
    let in_body = |at: usize| inside.get(at) == Some(&true);
    let calls = function.blocks.iter().enumerate().filter(|(at, _)| in_body(*at)).any(|(_, block)| {
        block.instrs.iter().any(|instr| matches!(instr.op, Op::Call { .. } | Op::Await(_) | Op::Enter(..)))
    });
    if !calls {
        return None;
    }
    let handles = handles(function, &inside);
    let leads = |instr: &'a Instr| machine.project.leads_out(func.file, function, &instr.op).is_some();
    let mut bodies = function.blocks.iter().enumerate().filter(|(at, _)| in_body(*at));
    let known = bodies.any(|(_, block)| block.instrs.iter().any(leads));
    if !known && !handles || !handles && source.kind == LoopKind::For && !may_leave(function, head, &inside) {
        return None;
    }
    let outer_heads = around(machine, func, head);
    let entries = entries(machine, func, function, head);
    let mut plan = Plan {
        explore: true,
        blocks: Some(inside.clone()),
        head: Some(head),
        outer_heads,
        max_turns: 2,
        ..Plan::calm()
    };
    let mut entries = entries;
    let sieve = Sieve { known, unknown: handles };
    let mut explored = explore(machine, &mut plan, entries.clone(), sieve);
    // A loop that is not gone into where all went well before it: the first try may stand there.
    if explored.back.is_empty() && explored.on.is_empty() && explored.out.is_empty() && !explored.cut {
        entries = entries_after_failure(machine, func, function, head);
        explored = explore(machine, &mut plan, entries.clone(), sieve);
        explored.after_first_try = true;
    }
    if !machine.open_defaults && is_switched_off(machine, func, function) {
        let kept = (
            std::mem::take(&mut machine.attr_cache),
            std::mem::take(&mut machine.init_cache),
            std::mem::take(&mut machine.built_cache),
        );
        machine.open_defaults = true;
        let site = in_loop(machine, func, function, number);
        machine.open_defaults = false;
        (machine.attr_cache, machine.init_cache, machine.built_cache) = kept;
        // What comes back past the limit is not all that does where a caller asks for more, and he has the limit.
        let never = explored.back.is_empty();
        let ways = facts::split(machine, groups(&explored)).len();
        let more = |site: &Site| site.failures.len() > ways && site.max_attempts.is_none();
        if site.as_ref().is_some_and(|site| never || more(site)) || never && !explored.cut {
            return site;
        }
    }
    let seen = seen_whole(machine, function, &plan, &entries, &mut explored, source.kind);
    plan.whole = seen;
    let never = explored.back.is_empty();
    let role = if never { Role::Idle } else { role_of(machine, &mut explored, &entries, source.kind)? };
    let found = Found {
        func,
        function,
        looped: func,
        form: Form::Loop,
        role,
        span: source.span,
        header: source.header,
        entries,
        plan,
        explored,
        loop_kind: Some(source.kind),
        most: None,
        lost_result: None,
        limit: None,
    };
    if never { idle::in_loop(machine, &found, &inside) } else { facts::site(machine, &found) }
}

/// Explores with the project's own calls taken whole where nothing was found to be repeated by looking into them.
fn seen_whole(
    machine: &mut Machine<'_>,
    function: &Function,
    plan: &Plan,
    entries: &[State],
    explored: &mut Explored,
    kind: LoopKind,
) -> bool {
    let inside = plan.blocks.as_deref().unwrap_or_default();
    let passed_over = |finished: &Finished| is_passed_over(machine, finished, entries);
    let none = match role(machine, explored, kind) {
        None => true,
        Some(_) if explored.back.is_empty() => true,
        Some(Role::Retry) => false,
        Some(_) => explored.back.iter().all(passed_over),
    };
    let asks = |instr: &Instr| matches!(instr.op, Op::Call { .. } | Op::Await(_)) && is_answer_asked(function, instr);
    let blocks = function.blocks.iter().enumerate().filter(|(at, _)| inside.get(*at) == Some(&true));
    if !none || explored.after_first_try || !blocks.flat_map(|(_, block)| &block.instrs).any(asks) {
        return false;
    }
    let whole = Plan { whole: true, ..plan.clone() };
    let mut seen = explore_as(machine, &whole, entries.to_vec(), SIEVE_BUDGET);
    let found = role_of(machine, &mut seen, entries, kind).is_some();
    if found {
        *explored = seen;
    }
    found
}

/// Whether a loop can be left before its items are at an end, other than by a failure: where it cannot, a success goes on
/// to the next item as much as a failure does.
fn may_leave(function: &Function, head: BlockId, inside: &[bool]) -> bool {
    let goes_out = |block: &Block| {
        let out = |to: &BlockId| inside.get(to.0 as usize) != Some(&true);
        matches!(block.term, Term::Return(_) | Term::Propagate(_)) || loops::targets(&block.term).iter().any(out)
    };
    let blocks = function.blocks.iter().enumerate();
    blocks
        .filter(|(at, _)| *at != head.0 as usize && inside.get(*at) == Some(&true))
        .any(|(_, block)| goes_out(block) || matches!(block.term, Term::Raise(_)))
}

/// What a loop is for, with the paths left on which what failed is repeated; `None` where there are none.
pub(super) fn role_of(
    machine: &Machine<'_>,
    explored: &mut Explored,
    entries: &[State],
    kind: LoopKind,
) -> Option<Role> {
    if explored.back.is_empty() {
        return None;
    }
    let role = role(machine, explored, kind)?;
    // Where success goes on, so does the work: the next turn has its own.
    if role != Role::Retry {
        explored.back.retain(|finished| !is_passed_over(machine, finished, entries));
    }
    (!explored.back.is_empty()).then_some(role)
}

/// Whether a path back is none where success goes on too, or somebody only waits.
fn is_passed_over(machine: &Machine<'_>, finished: &Finished, entries: &[State]) -> bool {
    is_new_work(machine, finished, entries) || is_unnoticed(machine, finished) || is_another_answer(machine, finished)
}

/// Whether a parameter, of the function or of what makes its object, has a default with which nothing is repeated: a
/// caller may ask for more.
pub(super) fn is_switched_off(machine: &mut Machine<'_>, func: FuncRef, function: &Function) -> bool {
    let class = function.class.map(|class| ClassRef { file: func.file, class });
    let maker = class.and_then(|class| machine.project.method(class, "__init__"));
    let maker = maker.and_then(|maker| Some((maker.file, machine.project.function(maker)?)));
    let mut defaults = Vec::new();
    for (file, function) in [(func.file, function)].into_iter().chain(maker) {
        defaults.extend(function.params.iter().filter_map(|param| Some(FuncRef { file, func: param.default? })));
    }
    defaults.into_iter().any(|default| is_once(&machine.initial(default)))
}

/// A site that was found, before its policy is known.
#[derive(Debug)]
pub(super) struct Found<'f> {
    pub func: FuncRef,
    pub function: &'f Function,
    /// The function that the loop stands in: that itself, or what it hands its operation to.
    pub looped: FuncRef,
    pub form: Form,
    pub role: Role,
    pub span: Span,
    pub header: Span,
    pub entries: Vec<State>,
    pub plan: Plan,
    pub explored: Explored,
    pub loop_kind: Option<LoopKind>,
    /// So many attempts are enough to see.
    pub most: Option<u32>,
    pub lost_result: Option<LostResult>,
    /// What the policy of a library says of its bound. The library's loop keeps to it, whatever can be followed.
    pub limit: Option<Bound>,
}

/// States in which the loop is come to for the first time.
fn entries(machine: &mut Machine<'_>, func: FuncRef, function: &Function, head: BlockId) -> Vec<State> {
    let on_the_way = Some(loops::leading(function, head));
    for explore in [false, true] {
        let on_the_way = on_the_way.clone();
        machine.plan = Plan { explore, head: Some(head), stop_at_head: true, on_the_way, ..Plan::calm() };
        machine.allow(ENTRY_BUDGET);
        let start = machine.enter(func);
        let finished = machine.run(vec![start]);
        let mut seen = FxHashSet::default();
        let mut states: Vec<State> = Vec::new();
        for finished in finished {
            if finished.end != End::Head {
                continue;
            }
            let state = at_head(finished.state);
            if seen.insert(state.fingerprint()) {
                states.push(state);
            }
        }
        unset::keep(machine, &mut states);
        states.truncate(3);
        if !states.is_empty() {
            return states;
        }
    }
    // Not come to from the entry within the budget: as unknown as can be.
    let mut state = machine.enter(func);
    state.guessed = true;
    if let Some(frame) = state.frames.last_mut() {
        frame.block = head;
    }
    vec![state]
}

/// States in which the loop is come to although, or because, something before it failed.
fn entries_after_failure(machine: &mut Machine<'_>, func: FuncRef, function: &Function, head: BlockId) -> Vec<State> {
    let on_the_way = Some(loops::leading(function, head));
    machine.plan = Plan { explore: true, head: Some(head), stop_at_head: true, on_the_way, ..Plan::calm() };
    machine.allow(ENTRY_BUDGET);
    let start = machine.enter(func);
    let finished = machine.run(vec![start]);
    let failed = finished.into_iter().filter(|finished| finished.end == End::Head && finished.state.failed.is_some());
    let mut seen = FxHashSet::default();
    let mut states: Vec<State> = Vec::new();
    for finished in failed {
        let state = at_head(finished.state);
        if seen.insert(state.fingerprint()) {
            states.push(state);
        }
    }
    states.truncate(4);
    states
}

/// A state at the head, what happened before forgotten.
pub(super) fn at_head(mut state: State) -> State {
    state.turns = 0;
    state.trace = None;
    state.failed = None;
    state.left = false;
    state.gap = super::state::Gap::NONE;
    if let Some(frame) = state.frames.last_mut() {
        frame.visits.clear();
    }
    state
}

/// Which failures are worth looking for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sieve {
    /// Those of what is known to leave the process: something of the sort is in reach.
    pub known: bool,
    /// Those of calls of which that is not known: somebody looks at them.
    pub unknown: bool,
}

impl Sieve {
    pub const ALL: Sieve = Sieve { known: true, unknown: true };
}

/// Whether a failure of a call can lead on within these blocks: it is caught there, or a result is asked whether it is
/// one.
pub(super) fn handles(function: &Function, inside: &[bool]) -> bool {
    let within = |at: usize| inside.get(at) == Some(&true);
    function.blocks.iter().enumerate().filter(|(at, _)| within(*at)).any(|(_, block)| {
        let caught = block.unwind.is_some_and(|to| within(to.0 as usize));
        let asked = |op: &Op| match op {
            Op::IsSuccess(_) => true,
            Op::Matches(_, pattern) => !matches!(pattern, Pattern::Any | Pattern::Bind(_, None)),
            _ => false,
        };
        caught || block.instrs.iter().any(|instr| asked(&instr.op))
    })
}

/// Explores, with the failures of what is known to leave the process first: where one of them is repeated, that is what
/// the loop is about, and what other calls may do besides would only multiply the paths. Where all steps went into what
/// comes before, the plan becomes one that passes it over.
pub(super) fn explore(machine: &mut Machine<'_>, plan: &mut Plan, entries: Vec<State>, sieve: Sieve) -> Explored {
    machine.spared = false;
    if plan.probe.is_none() && sieve.known {
        let known = explore_known(machine, plan, &entries);
        if known.cut && !machine.met && !plan.skim {
            let skimmed = Plan { skim: true, ..plan.clone() };
            let seen = explore_known(machine, &skimmed, &entries);
            if is_remote(&seen) {
                *plan = skimmed;
                return seen;
            }
        }
        if is_remote(&known) || !machine.spared || !sieve.unknown {
            return known;
        }
        // What stays in the process comes back too: what is waited for tells more, and so does what is not known to stay
        // there and came back by what it gave alone.
        if !known.back.is_empty() {
            let half_seen = repeated(&known).any(|op| op.remote == Known3::Unknown);
            let all = explore_as(machine, plan, entries, EXPLORE_BUDGET);
            let tells_more = waits_for_some(&all) || half_seen && !all.back.is_empty();
            return if tells_more { all } else { known };
        }
    }
    explore_as(machine, plan, entries, EXPLORE_BUDGET)
}

/// Explores with the failures of what is known to leave the process, further where something of the sort was met.
fn explore_known(machine: &mut Machine<'_>, plan: &Plan, entries: &[State]) -> Explored {
    machine.met = false;
    let only_known = Plan { known_only: true, ..plan.clone() };
    let known = explore_as(machine, &only_known, entries.to_vec(), SIEVE_BUDGET);
    if known.cut && machine.met { explore_as(machine, &only_known, entries.to_vec(), EXPLORE_BUDGET) } else { known }
}

/// What failed on each path back.
fn repeated(explored: &Explored) -> impl Iterator<Item = &OpInfo> {
    explored.back.iter().filter_map(|finished| Some(&*finished.state.failed.as_ref()?.op))
}

/// Whether all that comes back was raised, or told by a status: no answer that would not do.
pub(super) fn comes_back_raised(explored: &Explored) -> bool {
    let raised = |finished: &Finished| {
        let how = finished.state.failed.as_ref().map(|failed| &failed.how);
        matches!(how, Some(Failing::Raises(_)))
    };
    explored.back.iter().all(raised)
}

fn is_remote(explored: &Explored) -> bool {
    repeated(explored).any(|op| op.remote == Known3::Yes)
}

fn waits_for_some(explored: &Explored) -> bool {
    repeated(explored).any(|op| op.awaited && op.remote != Known3::No)
}

fn explore_as(machine: &mut Machine<'_>, plan: &Plan, entries: Vec<State>, budget: u64) -> Explored {
    machine.plan = plan.clone();
    machine.allow(budget);
    let mut explored = Explored::default();
    let finished = machine.run(entries.clone());
    explored.cut = machine.exhausted;
    explored.thinned = machine.thinned;
    for finished in finished {
        let failed = finished.state.failed.is_some();
        match (&finished.end, failed) {
            (End::Again(info), true) => {
                if comes_back(&finished.state, info) && !is_fed_anew(machine, &finished.state, info) {
                    explored.back.push(finished);
                } else {
                    explored.on.push(finished);
                }
            }
            (End::SecondTry(_), true) => explored.back.push(finished),
            (End::Head, false) => explored.on.push(finished),
            (End::Return(..) | End::NextWork(_) | End::Away, false) => explored.done.push(finished),
            (End::Return(..) | End::Raise(..) | End::NextWork(_) | End::Away, true) => explored.out.push(finished),
            (End::Cut, _) => explored.cut = true,
            _ => {}
        }
    }
    // The work was over before any path succeeded, or none went on that did and it is known what success is: what success
    // does is looked at by itself.
    let goes_on = explored.on.iter().any(|finished| finished.state.failed.is_none());
    let none = explored.done.is_empty() && explored.on.is_empty();
    let remote = repeated(&explored).all(|op| op.remote == Known3::Yes);
    let part = explored.cut || explored.thinned && remote;
    let unseen = part && (none || !goes_on && remote) && !explored.back.is_empty();
    if unseen && plan.head.is_some() && plan.probe.is_none() {
        // Where failures are all that is known to go on, a part of what success does is not enough.
        let budget = if explored.on.is_empty() { SIEVE_BUDGET } else { EXPLORE_BUDGET };
        let good = all_goes_well(machine, plan, &entries, 1, budget);
        let whole = explored.on.is_empty() || !machine.exhausted;
        for finished in good.into_iter().filter(|_| whole) {
            match &finished.end {
                End::Head => explored.on.push(finished),
                End::Return(..) | End::NextWork(_) | End::Away => explored.done.push(finished),
                _ => {}
            }
        }
    }
    // Where further turns took all steps, the first is looked at alone: that success leaves it is seen on any path.
    let stays = explored.done.iter().all(|finished| finished.state.turns > 0);
    if part && stays && remote && !explored.back.is_empty() && plan.head.is_some() && plan.probe.is_none() {
        let good = all_goes_well(machine, plan, &entries, 0, SIEVE_BUDGET);
        let left = |finished: &Finished| matches!(finished.end, End::Return(..) | End::NextWork(_) | End::Away);
        explored.done.extend(good.into_iter().filter(left));
    }
    keep_ordinary(&mut explored);
    explored
}

/// The paths of so many turns on which nothing fails.
fn all_goes_well(
    machine: &mut Machine<'_>,
    plan: &Plan,
    entries: &[State],
    max_turns: u32,
    budget: u64,
) -> Vec<Finished> {
    machine.plan = Plan { explore: false, max_turns, ..plan.clone() };
    machine.allow(budget);
    let mut finished = machine.run(entries.to_vec());
    finished.retain(|finished| finished.state.failed.is_none());
    finished
}

/// Whether what is executed again has failed on this path: last, or before others of its place did in the same turn.
fn comes_back(state: &State, again: &OpInfo) -> bool {
    let Some(failed) = &state.failed else { return false };
    let earlier = |event: &Event| match event {
        Event::Fail(op, how, _) if op.place == again.place => {
            is_same(&Failed { op: op.clone(), how: how.clone(), turn: failed.turn }, again)
        }
        _ => false,
    };
    is_same(failed, again) || state.events().into_iter().any(earlier)
}

/// Whether what is executed again is what failed. What chance gives is no other request by itself, but where it was
/// refused, another draw is another try.
fn is_same(failed: &Failed, again: &OpInfo) -> bool {
    let refused = match &failed.how {
        Failing::Status(set) => !set.is_empty() && set.minus(&refusals()).is_empty(),
        _ => false,
    };
    failed.op.inputs == again.inputs && !(refused && failed.op.drawn != again.drawn)
}

/// Statuses that say that the request itself will not do.
fn refusals() -> StatusSet {
    StatusSet::of(|status| (400..500).contains(&status) && !matches!(status, 408 | 425 | 429))
}

/// Statuses that tell of trouble, not of what is asked for.
fn troubles() -> StatusSet {
    StatusSet::of(|status| matches!(status, 408 | 409 | 425 | 429 | 500..=599))
}

/// Where some path takes a plain 200 for the success that it is, "any other 2xx" on another path is what the source's
/// test happens to leave over, and says nothing about what the loop does on success.
fn keep_ordinary(explored: &mut Explored) {
    let plain: Vec<Place> = explored
        .done
        .iter()
        .flat_map(|finished| finished.state.resps.iter())
        .filter(|(_, set)| set.contains(200) && set.minus(&StatusSet::range(200, 299)).is_empty())
        .map(|(place, _)| *place)
        .collect();
    let left_over = |finished: &Finished| {
        finished.state.failed.is_none()
            && plain.iter().any(|place| {
                finished.state.resps.get(place).is_some_and(|set| !set.contains(200) && set.iter().count() > 5)
            })
    };
    explored.done.retain(|finished| !left_over(finished));
    explored.on.retain(|finished| !left_over(finished));
}

/// Whether what failed on a path is work that the next turn does not come back to: an input was received from another
/// call, which is made again first, or is an item that was taken and not put back. An item that was at hand before the
/// loop is the loop's one piece of work.
fn is_new_work(machine: &Machine<'_>, finished: &Finished, entries: &[State]) -> bool {
    let Some(failed) = &finished.state.failed else { return false };
    let events = finished.state.events();
    let made_again = |place: &Place| facts::executed_after_failure(&events, *place);
    let back = |root: &SymId| events.iter().any(|event| matches!(event, Event::PutBack(sym) if sym == root));
    let taken = |input: &Value| {
        let mut roots = Vec::new();
        machine.symbols.collect_roots(input, &mut roots);
        let item = |root: &SymId| machine.symbols.info(*root).is_some_and(|info| info.taint.has(Taint::ITEM));
        let before = |root: &SymId| entries.iter().any(|entry| entry.versions.contains_key(root));
        roots.iter().any(|root| item(root) && !before(root)) && !roots.iter().any(back)
    };
    failed.op.sources.iter().any(made_again) || failed.op.inputs.iter().any(taken) || is_handed_work(machine, finished)
}

/// Whether an answer with an error status is taken for a good one: nobody tells its status from that of a good one, and
/// what stands in it decides, or something else is asked for next. So goes whoever reads page after page.
pub(super) fn is_unnoticed(machine: &Machine<'_>, finished: &Finished) -> bool {
    let Some(failed) = finished.state.failed.as_ref().filter(|failed| matches!(failed.how, Failing::Status(_))) else {
        return false;
    };
    let place = failed.op.place;
    let of_answer = |value: &Value| matches!(value, Value::Body(of) if *of == place);
    let of_status = |value: &Value| matches!(value, Value::Resp(of) | Value::Status(of, _) if *of == place);
    let (mut read, mut noticed) = (false, false);
    let events = finished.state.events();
    for event in events.iter().rev().take_while(|event| !matches!(event, Event::Fail(..))) {
        match event {
            Event::LookedAtStatus(_, true) | Event::Caught(_) | Event::Lost(_) => noticed = true,
            Event::Decide { sym, .. } => {
                let decides =
                    |found: &mut dyn FnMut(&Value) -> bool| machine.symbols.mentions(&Value::Sym(*sym), found);
                noticed |= decides(&mut { of_status });
                read |= decides(&mut { of_answer });
            }
            Event::Op(other) => read |= other.remote == Known3::Yes && other.base != failed.op.base,
            _ => {}
        }
    }
    read && !noticed
}

/// What the loop is for, by what success and failure do.
pub(super) fn role(machine: &Machine<'_>, explored: &Explored, kind: LoopKind) -> Option<Role> {
    // A `for` loop ends with its items whatever becomes of them: only what leaves in the midst of it is its success.
    let leaves = |finished: &Finished| {
        let events = finished.state.events();
        let mut inside = events.iter().take_while(|event| !matches!(event, Event::Left(..)));
        let first = u32::from(explored.after_first_try);
        // Leaving before anything was done is no success, unless the first try stands before the loop.
        let done = inside.any(|event| matches!(event, Event::Op(_)));
        match kind {
            LoopKind::For => done && finished.state.turns <= first,
            _ => (done || explored.after_first_try) && !told_to_stop(machine, &finished.state),
        }
    };
    let succeeds_out = explored.done.iter().any(leaves);
    // What comes back by way of a handler is a good answer that would not do.
    let caught = |finished: &Finished| finished.state.events().iter().any(|event| matches!(event, Event::Caught(_)));
    // Where success leaves, a turn that goes on because a helper failed is no success.
    let stumbled = |state: &State| state.events().iter().any(|event| matches!(event, Event::Stumbled));
    // Nor is one in which there was nothing to go through.
    let is_end = |sym: SymId| machine.symbols.info(sym).is_some_and(|info| matches!(info.node, Node::More(..)));
    let idle = |state: &State| {
        let events = state.events();
        !events.iter().any(|event| matches!(event, Event::Op(_)))
            && events.iter().any(|event| matches!(event, Event::Decide { sym, taken: false, .. } if is_end(*sym)))
    };
    // Nor is one in which somebody was asked about the answer, and it would not do: where it does, it leaves. The first
    // answer may have come before the loop.
    let failing: Vec<Place> = repeated(explored).filter(|op| op.remote == Known3::Yes).map(|op| op.place).collect();
    let told_of = |finished: &Finished| {
        let events = finished.state.events();
        let here = |place| events.iter().any(|event| matches!(event, Event::Op(info) if info.place == place));
        let of_it = |place| failing.contains(&place) || !here(place) && sent_from(&finished.state, place);
        verdicts(machine, finished, &of_it)
    };
    let fine: Vec<(Place, bool)> = explored.done.iter().filter(|finished| leaves(finished)).flat_map(told_of).collect();
    let refused = |finished: &Finished| {
        let told = told_of(finished);
        told.iter().any(|(place, side)| fine.contains(&(*place, !side)) && !fine.contains(&(*place, *side)))
    };
    let succeeds_on = explored.on.iter().any(|finished| {
        let state = &finished.state;
        state.failed.is_none()
            && !caught(finished)
            && (!succeeds_out || !idle(state) && !stumbled(state) && !refused(finished))
    });
    // Where success goes on, what leaves by way of a handler was told to stop, or has nothing left to work with; and what
    // leaves because of how the object was set up was set up to do all there is, and no more.
    let succeeds_out = succeeds_out
        && (!succeeds_on
            || explored.done.iter().any(|finished| {
                leaves(finished)
                    && !caught(finished)
                    && !(kind != LoopKind::For && set_to_stop(machine, &finished.state))
            }));
    let by_value_alone = explored.back.iter().all(|finished| {
        finished.state.failed.as_ref().is_some_and(|failed| match failed.how {
            Failing::Test(sym, _) => !machine.is_error_test(sym),
            // The answer, whatever its status, says in so many words that it is not time yet. One that tells of
            // trouble or of a conflict refuses what was asked.
            Failing::Status(_) | Failing::Raises(_) => {
                finished.state.refusal().is_some_and(|set| !set.minus(&troubles()).is_empty())
                    && finished.state.events().iter().any(|event| match event {
                        Event::Decide { sym, taken, .. } => {
                            machine.symbols.affirms(*sym, *taken)
                                && machine.symbols.mentions(
                                    &Value::Sym(*sym),
                                    &mut |value| matches!(value, Value::Body(place) if *place == failed.op.place),
                                )
                        }
                        _ => false,
                    })
            }
            _ => false,
        })
    });
    match (succeeds_out, succeeds_on) {
        (true, false) if by_value_alone || waits_until_there(explored) => Some(Role::Polling),
        (true, false) if only_looks(machine, explored) => Some(Role::Probe),
        (true, false) => Some(Role::Retry),
        (true, true) => Some(if by_value_alone { Role::Polling } else { Role::Probe }),
        (false, true) if kind != LoopKind::For && !by_value_alone => Some(Role::Daemon),
        _ => None,
    }
}

/// Whether a further turn was not begun because of a flag that others set: the success of the turn before has no say in
/// it.
fn told_to_stop(machine: &Machine<'_>, state: &State) -> bool {
    let others = Taint::FLAG.or(Taint::STATE);
    let own = Taint::FAILURE.or(Taint::CALL).or(Taint::COUNTER).or(Taint::CLOCK);
    let events = state.events();
    let inside = events.iter().take_while(|event| !matches!(event, Event::Left(..)));
    let mut told = false;
    for event in inside.skip_while(|event| !matches!(event, Event::Turn(_))) {
        match event {
            Event::Decide { sym, .. } => {
                told = machine.symbols.info(*sym).is_some_and(|info| info.taint.has(others) && !info.taint.has(own));
            }
            Event::Op(_) => return false,
            _ => {}
        }
    }
    told
}

/// Whether the last thing asked before the loop was left is how the object was set up.
fn set_to_stop(machine: &Machine<'_>, state: &State) -> bool {
    let events = state.events();
    let inside = events.iter().take_while(|event| !matches!(event, Event::Left(..)));
    let last = inside.filter_map(|event| match event {
        Event::Decide { sym, .. } => Some(*sym),
        _ => None,
    });
    last.last().and_then(|sym| machine.symbols.info(sym)).is_some_and(|info| {
        let asked = match &info.node {
            Node::Truth(Value::Sym(inner)) | Node::Unary(_, Value::Sym(inner)) => machine.symbols.info(*inner),
            _ => Some(info),
        };
        asked.is_some_and(|info| matches!(info.node, Node::Attr(..)) && !info.taint.has(Taint::CALL.or(Taint::FAILURE)))
    })
}

/// Groups failure paths by the operation and the way in which it fails.
pub(super) fn groups(explored: &Explored) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for finished in &explored.back {
        let Some(failed) = &finished.state.failed else { continue };
        let (op, how) = (failed.op.clone(), failed.how.clone());
        let answers = match how {
            Failing::Raises(_) => finished.state.resps.get(&op.place).copied(),
            _ => None,
        };
        let same = |group: &&mut Group| group.op.place == op.place && group.how == how && group.answers == answers;
        match groups.iter_mut().find(same) {
            Some(group) => group.paths.push(finished.clone()),
            None => groups.push(Group { op, how, answers, paths: vec![finished.clone()] }),
        }
    }
    groups
}

/// Whether a value says that something failed.
#[must_use]
pub(super) fn is_failure_value(value: &Value) -> bool {
    match value {
        Value::None | Value::Bool(false, _) | Value::Exc(_) | Value::Resp(_) => true,
        Value::Variant(name, _, args) => {
            matches!(&**name, "Err" | "None") || args.iter().any(|arg| *arg != Value::None && is_failure_value(arg))
        }
        Value::Tuple(items) => items.iter().any(is_failure_value),
        _ => false,
    }
}
