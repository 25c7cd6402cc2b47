//! From simulated outages to a site's policy.

use std::rc::Rc;

use super::arith;
use super::body;
use super::machine::{Advice, End, Finished, Machine};
use super::memory::last_part;
use super::outage::Outage;
use super::policy::{
    Bound, Cause, DateForm, Exhaustion, Exit, ExitKind, FailurePath, Form, Known, Layer, Operation, Pace, RetryAfter,
    Role, Site, Step, Timeout, Wait,
};
use super::probes;
use super::reset;
use super::sites::{Found, groups, is_failure_value};
use super::state::{At, Event, Failing, Known3, OpInfo, State};
use super::status::StatusSet;
use super::value::{ANY, FuncRef, Node, Place, SymId, Taint, Value};
use crate::ir::{BinOp, Callee, LoopKind, Op, Slot, UnOp};
use crate::models::Kind;
use crate::source::Span;

/// Failure paths of one operation that fails in one way.
#[derive(Debug)]
pub(super) struct Group {
    pub op: Rc<OpInfo>,
    pub how: Failing,
    pub paths: Vec<Finished>,
}

/// The policy of a site that was found; `None` where, looked at closely, it is none.
pub(super) fn site(machine: &mut Machine<'_>, found: &Found<'_>) -> Option<Site> {
    let mut groups = split(machine, groups(&found.explored));
    // Where something leaves the process, what fails inside it is no operation.
    let remote = |op: &OpInfo| match op.remote {
        Known3::Yes => 0,
        Known3::Unknown => 1,
        Known3::No => 2,
    };
    let best = groups.iter().map(|group| remote(&group.op)).min()?;
    if best < 2 {
        groups.retain(|group| group.op.remote != Known3::No);
    } else {
        groups.truncate(2);
    }
    groups.sort_by_key(|group| remote(&group.op));
    groups.truncate(8);
    let mut failures = Vec::new();
    let mut retried = StatusSet::EMPTY;
    let mut cut = found.explored.cut;
    let mut most = Layers::default();
    for group in &groups {
        let path = failure_path(machine, found, group, &mut cut, &mut most);
        if let Cause::Status(set) = &path.cause {
            retried = retried.or(set);
        }
        failures.push(path);
    }
    brand_broken(&mut failures);
    // A call of which nothing is known is taken for one that can fail for a while only where the code treats it so: it
    // is awaited, or there is a wait before it is made again.
    let treated_so = groups.iter().any(|group| group.op.remote == Known3::Yes || group.op.awaited)
        || failures.iter().any(|path| path.waits.iter().any(|wait| wait.high > 0.0 || wait.unknown));
    if !treated_so {
        failures.iter_mut().for_each(|path| path.uncertain = true);
    }
    let mut operations: Vec<Operation> = Vec::new();
    let mut seen: Vec<Place> = Vec::new();
    for group in &groups {
        if !seen.contains(&group.op.place) {
            seen.push(group.op.place);
            operations.push(operation(machine, found, &group.op));
        }
    }
    let exits = exits(machine, found);
    let bound = weakest(&failures);
    let max_attempts = failures
        .iter()
        .map(|path| path.attempts)
        .try_fold(0, |most, attempts| attempts.map(|attempts| most.max(attempts)))
        .filter(|most| *most > 0);
    let mut role = found.role;
    // A daemon's turn that takes new work is none.
    if role == Role::Daemon && failures.is_empty() {
        return None;
    }
    if role == Role::Retry && found.loop_kind == Some(LoopKind::For) && failures.iter().all(|path| path.new_input) {
        role = Role::Polling;
    }
    let of_record = groups.first().map(|group| group.op.clone())?;
    let unreset = groups.first().and_then(|group| reset::unreset(machine, found, group));
    let used_up = groups.iter().find_map(|group| body::used_up(machine, group));
    let interrupts = probes::interrupts(machine, found, &of_record);
    let defects = probes::defects(machine, found, &of_record);
    let ceiling = failures.iter().find_map(|path| ceiling(&path.waits, path.pace));
    Some(Site {
        function: found.func.func,
        function_name: found.function.qualified_name.clone(),
        in_async: found.function.is_async,
        in_test: found.function.is_test,
        form: found.form,
        role,
        span: found.span,
        header: found.header,
        operations,
        failures,
        exits,
        retried_statuses: retried,
        bound,
        max_attempts,
        delay_ceiling: ceiling,
        interrupts,
        defects,
        unreset,
        used_up,
        lost_result: found.lost_result,
        layers: most.layers,
        amplification: most.product,
        cut,
    })
}

/// Parts error classes that stand for an answer's status from those that do not, and refusals of the request itself
/// from passing ones: they are different ways of failing.
fn split(machine: &Machine<'_>, groups: Vec<Group>) -> Vec<Group> {
    let Some(models) = machine.project.models(machine.file) else { return groups };
    let statuses =
        |class: &str| models.exception(class).and_then(|entry| entry.stands_for.as_deref()).and_then(StatusSet::parse);
    let mut out = Vec::new();
    for group in groups {
        let Failing::Raises(classes) = &group.how else {
            out.push(group);
            continue;
        };
        let (answers, others): (Vec<_>, Vec<_>) = classes.iter().cloned().partition(|class| statuses(class).is_some());
        if answers.is_empty() || others.is_empty() {
            out.push(group);
            continue;
        }
        for part in [others, answers] {
            let how = Failing::Raises(part.into());
            out.push(Group { op: group.op.clone(), how, paths: group.paths.clone() });
        }
    }
    out
}

/// An operation as the policy has it.
fn operation(machine: &mut Machine<'_>, found: &Found<'_>, info: &OpInfo) -> Operation {
    let key = info.policy_key(|value| {
        let taint = machine.symbols.taint(value);
        taint.has(Taint::FRESH) && made_inside(machine, found, value)
    });
    let span = match () {
        () if info.at.file == machine.file => info.at.span,
        () if info.base.file == machine.file => info.base.span,
        () => found.header,
    };
    Operation {
        text: info.text.to_string(),
        span,
        model: info.model.as_deref().map(str::to_string),
        remote: info.remote.into(),
        method: info.method.as_deref().map(str::to_string),
        idempotent: match info.idempotent {
            Some(true) => Known::Yes,
            Some(false) => Known::No,
            None => Known::Unknown,
        },
        effect: info.effect.as_deref().map(str::to_string),
        target: info.target.as_deref().map(str::to_string),
        timeout: if info.remote == Known3::Yes { info.policy_timeout() } else { Timeout::Unknown },
        key,
        passed_in: info.passed_in,
    }
}

/// Whether a fresh value is made anew in each turn: its roots are not among what was there before the loop.
fn made_inside(machine: &Machine<'_>, found: &Found<'_>, value: &Value) -> bool {
    let mut roots = Vec::new();
    machine.symbols.collect_roots(value, &mut roots);
    roots.iter().any(|root| {
        machine.symbols.info(*root).is_some_and(|info| info.taint.has(Taint::FRESH))
            && !found.entries.iter().any(|entry| entry.versions.contains_key(root))
    })
}

fn cause(machine: &Machine<'_>, group: &Group) -> Cause {
    match &group.how {
        Failing::Status(set) => Cause::Status(*set),
        Failing::Elapsed(class) => Cause::Exception { classes: vec![readable(machine, class)], everything: false },
        Failing::Raises(classes) => {
            // Classes that stand for statuses are answers.
            let models = machine.project.models(machine.file);
            let statuses = classes.iter().try_fold(StatusSet::EMPTY, |set, class| {
                let entry = models.and_then(|models| models.exception(class));
                let stands = entry.and_then(|entry| entry.stands_for.as_deref()).and_then(StatusSet::parse);
                stands.map(|stands| set.or(&stands))
            });
            if let Some(set) = statuses
                && !set.is_empty()
            {
                return Cause::Status(set);
            }
            Cause::Exception {
                classes: classes
                    .iter()
                    .filter(|class| &***class != ANY)
                    .map(|class| readable(machine, class))
                    .collect(),
                everything: classes.iter().any(|class| &**class == ANY),
            }
        }
        Failing::Test(sym, _) => {
            if machine.is_error_test(*sym) {
                Cause::Exception { classes: Vec::new(), everything: true }
            } else {
                Cause::Value
            }
        }
    }
}

fn readable(machine: &Machine<'_>, class: &str) -> String {
    match machine.project.class_of_path(class) {
        Some(own) => machine.project.class(own).map_or_else(|| class.to_string(), |class| class.name.clone()),
        None => class.to_string(),
    }
}

fn failure_path(
    machine: &mut Machine<'_>,
    found: &Found<'_>,
    group: &Group,
    cut: &mut bool,
    most: &mut Layers,
) -> FailurePath {
    let cause = cause(machine, group);
    let sample = group.paths.first();
    let events: Vec<Event> = sample.map(|path| path.state.events().into_iter().cloned().collect()).unwrap_or_default();
    let after_failure = since_failure(&events);
    let twice = found.form == Form::StraightLine;
    let mut outage = if twice {
        let mut outage = Outage { attempts: Some(2), simulated: 2, ..Outage::default() };
        for path in &group.paths {
            let gap = &path.state.gap;
            outage.waits.push(Wait { low: gap.low, high: gap.high, unknown: gap.unknown });
            outage.first.push(path.state.clone());
        }
        outage.waits.truncate(1);
        outage
    } else {
        machine.outage(&found.plan, &found.entries, group.op.place, &group.how, Advice::Absent, found.most)
    };
    *cut |= outage.cut;
    if outage.waits.is_empty() {
        // The outage could not be followed: what was seen while exploring is all there is.
        for path in &group.paths {
            let gap = &path.state.gap;
            outage.waits.push(Wait { low: gap.low, high: gap.high, unknown: gap.unknown });
        }
        outage.waits.truncate(1);
    }
    let bound = if twice { Bound::Count(Some(2)) } else { bound(machine, found, &outage, group) };
    let attempts = match &bound {
        Bound::Count(Some(count)) | Bound::Both(Some(count), _) => Some(*count),
        _ => None,
    };
    most.take(layers(machine, found, group, &outage, attempts));
    let wait_event = |events: &[Event]| {
        events.iter().rev().find_map(|event| match event {
            Event::Wait { at, blocks, value, .. } => Some((*at, *blocks, value.clone())),
            _ => None,
        })
    };
    let waited = wait_event(after_failure);
    let jitter = after_failure.iter().any(|event| match event {
        Event::Wait { value, .. } => machine.symbols.taint(value).has(Taint::RANDOM),
        _ => false,
    });
    let server = after_failure.iter().any(|event| match event {
        Event::Wait { value, .. } => machine.symbols.taint(value).has(Taint::SERVER),
        _ => false,
    });
    let pace = if server { Pace::Server } else { pace(machine, &outage, after_failure) };
    // Operations on the way that were not on the way before: a repair.
    let before: Vec<Place> = events
        .iter()
        .take_while(|event| !matches!(event, Event::Fail(..)))
        .filter_map(|event| match event {
            Event::Op(info) => Some(info.place),
            _ => None,
        })
        .collect();
    let mends = |event: &Event| match event {
        Event::Op(info) => {
            info.remote != Known3::No
                && info.place != group.op.place
                && !before.contains(&info.place)
                && !info.passed_in
        }
        _ => false,
    };
    let between = after_failure.iter().take_while(|event| !matches!(event, Event::Turn(_)));
    let helpers: Vec<&Event> = between.clone().filter(|event| mends(event)).collect();
    let repaired = helpers.iter().any(|event| match event {
        Event::Op(info) => info.remote == Known3::Yes,
        _ => false,
    }) || (!helpers.is_empty()
        && matches!(&cause, Cause::Status(set) if set.minus(&credential_statuses()).is_empty()));
    let new_input = matches!(&cause, Cause::Status(set) if set.minus(&conflict_statuses()).is_empty())
        && group.paths.iter().all(|path| {
            let events = path.state.events();
            group.op.sources.iter().any(|source| executed_after_failure(&events, *source))
        });
    // What a remote call gave without failing, and the code does not want.
    let good_answer = cause == Cause::Value && group.op.remote == Known3::Yes
        || matches!(&group.how, Failing::Raises(classes) if !classes.is_empty() && classes.iter().all(|class| {
            machine.project.models(group.op.at.file).is_some_and(|models| {
                models.ancestors(class).into_iter().chain([&**class]).any(|class| {
                    models.exception(class).is_some_and(|entry| entry.content)
                })
            })
        }));
    let inner = group.paths.iter().any(|path| repeated_within(&path.state.events(), &group.op));
    let unknown_on_the_way = !helpers.is_empty() && !repaired;
    let (retry_after, retry_after_date) = if inner {
        (RetryAfter::NotApplicable, DateForm::Fine)
    } else {
        advice(machine, found, group, &cause, &events)
    };
    let exhaustion = exhaustion(machine, found, &outage, &bound);
    let wait_after_last = after_last(&outage, attempts, &group.op);
    let wait_span = waited.as_ref().map(|(at, ..)| local_span(machine, found, *at));
    let steps = steps(machine, found, group, &events, &outage);
    let before_send = matches!(&group.how, Failing::Raises(classes) if !classes.is_empty() && classes.iter().all(|class| {
        machine.project.models(group.op.at.file).and_then(|models| models.exception(class)).is_some_and(|entry| entry.before_send)
    }));
    FailurePath {
        cause,
        bound,
        attempts,
        pace,
        jitter,
        wait_after_last: wait_after_last.map(|(wait, at)| (wait, local_span(machine, found, at))),
        wait_span,
        blocks_executor: waited.as_ref().is_some_and(|(_, blocks, _)| *blocks),
        repaired,
        new_input,
        inner,
        before_send,
        good_answer,
        retry_after,
        retry_after_date,
        exhaustion,
        steps,
        uncertain: unknown_on_the_way || outage.cut || sample.is_some_and(|path| path.state.guessed),
        waits: outage.waits,
    }
}

fn credential_statuses() -> StatusSet {
    StatusSet::of(|status| matches!(status, 401 | 403 | 407 | 419))
}

/// Answers which say that the state has moved on since it was read.
fn conflict_statuses() -> StatusSet {
    StatusSet::of(|status| matches!(status, 409 | 412 | 428))
}

/// Whether an operation was executed after the failure.
pub(super) fn executed_after_failure(events: &[&Event], place: Place) -> bool {
    let at = events.iter().rposition(|event| matches!(event, Event::Fail(..))).map_or(0, |at| at + 1);
    events.iter().skip(at).any(|event| matches!(event, Event::Op(info) if info.place == place))
}

/// Whether the operation failed more than once, on the same input, in the turn in which it first failed.
fn repeated_within(events: &[&Event], op: &OpInfo) -> bool {
    let failures = events
        .iter()
        .skip_while(|event| !matches!(event, Event::Fail(..)))
        .take_while(|event| !matches!(event, Event::Turn(_)))
        .filter(|event| matches!(event, Event::Fail(of, ..) if of.place == op.place && of.inputs == op.inputs));
    failures.count() > 1
}

/// The events after the (last) failure.
pub(super) fn since_failure(events: &[Event]) -> &[Event] {
    let at = events.iter().rposition(|event| matches!(event, Event::Fail(..))).map_or(0, |at| at + 1);
    events.get(at..).unwrap_or_default()
}

/// A place as the site's own file shows it: the place itself, or the header where it is elsewhere.
pub(super) fn local_span(machine: &Machine<'_>, found: &Found<'_>, at: At) -> Span {
    if at.file == machine.file { at.span } else { found.header }
}

// ---- layers ----

/// The layers of the failure path that multiplies most.
#[derive(Debug, Default)]
pub(super) struct Layers {
    layers: Vec<Layer>,
    product: Option<u32>,
}

impl Layers {
    fn take(&mut self, other: Layers) {
        let better = other.layers.len() > self.layers.len()
            || (other.layers.len() == self.layers.len() && other.product > self.product);
        if better {
            *self = other;
        }
    }
}

/// The layers that repeat an operation: the site itself, loops below it, and what its client does by itself.
fn layers(machine: &Machine<'_>, found: &Found<'_>, group: &Group, outage: &Outage, attempts: Option<u32>) -> Layers {
    let _ = machine;
    let mut layers = Vec::new();
    let mut product = attempts;
    if let Some(attempts) = attempts {
        let text = format!("{} attempts here", attempts);
        layers.push(Layer { factor: attempts, text, span: Some(found.header), explicit: true });
    } else {
        layers.push(Layer {
            factor: 0,
            text: "as many attempts as it takes here".to_string(),
            span: Some(found.header),
            explicit: true,
        });
    }
    // Executions in one turn: loops below.
    let per_turn = outage.first.first().map_or(1, |state| {
        let mut fails = state.events().into_iter().filter_map(|event| match event {
            Event::Fail(info, ..) if info.place == group.op.place => Some(&info.inputs),
            _ => None,
        });
        // The same request each time: other items of a collection are other requests.
        let first = fails.next();
        let again = fails.filter(|inputs| Some(*inputs) == first).count();
        u32::try_from(again).unwrap_or(0).saturating_add(1)
    });
    if per_turn > 1 && found.form != Form::StraightLine {
        let text = format!("{per_turn} attempts in the layer below");
        let span = (group.op.base.file == machine.file).then_some(group.op.base.span);
        layers.push(Layer { factor: per_turn, text, span, explicit: true });
        product = product.map(|product| product.saturating_mul(per_turn));
    }
    if !matches!(group.how, Failing::Status(_)) {
        for below in group.op.layers.iter() {
            layers.push(Layer {
                factor: below.factor,
                text: format!("{} attempts by {}", below.factor, below.text),
                span: None,
                explicit: below.explicit,
            });
            product = product.map(|product| product.saturating_mul(below.factor));
        }
    }
    Layers { layers, product }
}

// ---- bounds ----

/// What bounds the attempts if the operation keeps failing so.
fn bound(machine: &mut Machine<'_>, found: &Found<'_>, outage: &Outage, group: &Group) -> Bound {
    let _ = group;
    let clock = |events: &[&Event]| {
        events.iter().find_map(|event| match event {
            Event::ClockTest { left, .. } => Some(*left),
            _ => None,
        })
    };
    let took = |events: &[&Event]| {
        events.iter().rev().find_map(|event| match event {
            Event::Took { finite, outside } => Some((*finite, *outside)),
            _ => None,
        })
    };
    if let Some(attempts) = outage.attempts {
        // Every path left.
        let last = outage.left.iter().filter(|(attempt, _)| *attempt == attempts).map(|(_, finished)| finished);
        let mut deadline = None;
        let mut counted = false;
        for finished in last {
            let events = finished.state.events();
            deadline = deadline.or(clock(&events));
            counted |= events.iter().any(|event| matches!(event, Event::CountTest { .. }))
                || took(&events).is_some_and(|(finite, _)| finite);
        }
        // Deadlines are come to by leaps of the clock, after which the number of attempts says nothing.
        let number = (attempts <= 12 || deadline.is_none()).then_some(attempts);
        return match (deadline, counted) {
            (Some(left), true) => Bound::Both(number, seconds(left)),
            (Some(left), false) => Bound::Deadline(seconds(left)),
            (None, _) => Bound::Count(number),
        };
    }
    let tests = exit_tests(machine, found, outage);
    let mut flag = false;
    let mut unknown = false;
    let mut stuck: Option<&'static str> = None;
    for test in &tests {
        match test {
            Test::Moves { clock: true } => return Bound::Deadline(None),
            Test::Moves { clock: false } => return Bound::Caller,
            Test::Items => return Bound::Count(None),
            Test::Flag => flag = true,
            Test::Unknown => unknown = true,
            Test::Stuck(why) => stuck = Some(why),
        }
    }
    if outage.cut || outage.survivors.is_empty() {
        return Bound::Unknown;
    }
    let survivors: Vec<Vec<&Event>> = outage.survivors.iter().map(State::events).collect();
    if unknown {
        return Bound::Unknown;
    }
    if let Some(why) = stuck {
        return Bound::Broken(why.to_string());
    }
    if survivors.iter().any(|events| clock(events).is_some_and(|_| true)) {
        return Bound::Broken("the time is measured anew in each turn, so that it never runs out".to_string());
    }
    if survivors.iter().any(|events| stands_still(events)) {
        return Bound::Broken("the count is set back in each turn, so that it never comes to its limit".to_string());
    }
    if flag || survivors.iter().any(|events| events.iter().any(|event| matches!(event, Event::Flag))) {
        return Bound::Flag;
    }
    if is_limited(machine, found) {
        return Bound::Deadline(None);
    }
    Bound::None
}

/// Whether a loop stands in an `async` block that the function around it runs under a time limit.
fn is_limited(machine: &Machine<'_>, found: &Found<'_>) -> bool {
    let Some(parent) = found.function.parent else { return false };
    let parent = FuncRef { func: parent, ..found.func };
    let Some(function) = machine.project.function(parent) else { return false };
    let instrs = || function.blocks.iter().flat_map(|block| &block.instrs);
    let mut futures = Vec::new();
    for instr in instrs() {
        let carries = match &instr.op {
            Op::Func(id) => *id == found.func.func,
            Op::Copy(from) | Op::Unary(UnOp::Same, from) => futures.contains(from),
            _ => false,
        };
        futures.extend(instr.dst.filter(|_| carries));
    }
    let limits = |slot: Slot| {
        instrs().any(|instr| match &instr.op {
            Op::Path(path) => {
                instr.dst == Some(slot)
                    && machine.models(parent.file).function(path).is_some_and(|entry| entry.kind == Kind::TimeLimit)
            }
            _ => false,
        })
    };
    instrs().any(|instr| match &instr.op {
        Op::Call { callee: Callee::Value(callee), args } => {
            args.iter().any(|arg| futures.contains(&arg.value)) && limits(*callee)
        }
        _ => false,
    })
}

/// Whether the test of a count that would leave the loop has been made with the same numbers turn after turn.
fn stands_still(events: &[&Event]) -> bool {
    let mut counted = None;
    let mut tested = Vec::new();
    for event in events {
        match event {
            Event::Counted(apart) => counted = Some(*apart),
            Event::CountTest { leads_out: true, .. } => tested.extend(counted.take()),
            _ => {}
        }
    }
    tested.len() >= 5 && tested.windows(2).all(|pair| matches!(pair, [a, b] if a == b))
}

fn seconds(left: f64) -> Option<f64> {
    (left.is_finite() && left < 1.0e7).then_some((left * 10.0).round() / 10.0)
}

/// What a test on the way out of the loop shows.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Test {
    /// Comes nearer to its end with each attempt.
    Moves { clock: bool },
    /// The items of something finite.
    Items,
    /// A stop flag, a running attribute.
    Flag,
    /// Something decides that cannot be seen.
    Unknown,
    /// A count that never comes nearer to its end.
    Stuck(&'static str),
}

/// The undecided tests by which some paths left while others went on.
fn exit_tests(machine: &mut Machine<'_>, found: &Found<'_>, outage: &Outage) -> Vec<Test> {
    let mut tests = Vec::new();
    let Some(survivor) = outage.survivors.first() else { return tests };
    let decided: Vec<(Place, SymId, bool)> = survivor
        .events()
        .into_iter()
        .filter_map(|event| match event {
            Event::Decide { sym, taken, place, .. } => Some((*place, *sym, *taken)),
            _ => None,
        })
        .collect();
    let mut seen: Vec<Place> = Vec::new();
    for (_, finished) in &outage.left {
        // The last decision in which this path and the surviving one differ.
        let last = finished.state.events().into_iter().rev().find_map(|event| match event {
            Event::Decide { sym, taken, place, .. } => {
                decided.iter().any(|(p, _, t)| p == place && t != taken).then_some((*place, *sym))
            }
            _ => None,
        });
        let Some((place, sym)) = last else { continue };
        if seen.contains(&place) {
            continue;
        }
        seen.push(place);
        let syms: Vec<SymId> = decided.iter().filter(|(p, ..)| *p == place).map(|(_, sym, _)| *sym).collect();
        tests.extend(classify(machine, found, sym, &syms, outage));
    }
    tests
}

fn classify(machine: &mut Machine<'_>, found: &Found<'_>, sym: SymId, syms: &[SymId], outage: &Outage) -> Option<Test> {
    let info = machine.symbols.info(sym)?.clone();
    let taint = info.taint;
    if let Node::More(..) = info.node {
        return Some(Test::Items);
    }
    if taint.has(Taint::FLAG) {
        return Some(Test::Flag);
    }
    // A comparison: how far its sides are apart, attempt by attempt.
    let slacks: Vec<f64> = syms.iter().filter_map(|sym| slack(machine, *sym)).collect();
    let moving = slacks.len() >= 3
        && slacks.len() == syms.len()
        && (slacks.windows(2).all(|pair| matches!(pair, [a, b] if b > a))
            || slacks.windows(2).all(|pair| matches!(pair, [a, b] if b < a)));
    if moving {
        return Some(Test::Moves { clock: taint.has(Taint::CLOCK) });
    }
    if taint.has(Taint::CLOCK) {
        // The clock is in it, in a form that is not understood.
        let differ = syms.windows(2).any(|pair| matches!(pair, [a, b] if a != b));
        return Some(if differ { Test::Unknown } else { Test::Stuck("the time is measured anew in each turn") });
    }
    // Only about the failure itself: which failures are repeated, not how often.
    let own_result = outage.survivors.first().is_some_and(|state| {
        let failed = state.failed.as_ref().and_then(|failed| failed.op.result);
        failed.is_some_and(|result| info.roots.contains(&result))
    });
    let only_failure = (taint.has(Taint::FAILURE) || own_result)
        && !taint.has(Taint::INPUT.or(Taint::STATE).or(Taint::FLAG))
        && (own_result || !taint.has(Taint::CALL));
    if only_failure || taint.has(Taint::RANDOM) {
        return None;
    }
    if taint.has(Taint::CALL) {
        return Some(Test::Unknown);
    }
    if taint.has(Taint::COUNTER) && slacks.len() == syms.len() && !slacks.is_empty() {
        return Some(Test::Stuck("the count never comes nearer to its limit"));
    }
    // A running attribute in the loop's own condition.
    if taint.has(Taint::STATE) && slacks.is_empty() && found.loop_kind.is_some() {
        return Some(Test::Flag);
    }
    if taint.has(Taint::STATE) {
        return Some(Test::Unknown);
    }
    None
}

/// The number by which the sides of a comparison differ, symbols aside.
fn slack(machine: &Machine<'_>, sym: SymId) -> Option<f64> {
    let mut sym = sym;
    for _ in 0..4 {
        match machine.symbols.info(sym)?.node.clone() {
            Node::Unary(UnOp::Not, Value::Sym(inner)) => sym = inner,
            Node::Binary(op, a, b) if arith::is_test(op) && !matches!(op, BinOp::In | BinOp::NotIn) => {
                return Some(number_in(machine, &a, 6) - number_in(machine, &b, 6));
            }
            Node::Truth(value) => return Some(number_in(machine, &value, 6)),
            Node::Binary(BinOp::Other | BinOp::BitOr, Value::Sym(a), _) => sym = a,
            _ => return None,
        }
    }
    None
}

/// The known part of a number: what stays if every unknown were nought (one, in a product).
fn number_in(machine: &Machine<'_>, value: &Value, depth: u32) -> f64 {
    let Some(depth) = depth.checked_sub(1) else { return 0.0 };
    match value {
        Value::Num(num) => f64::midpoint(num.lo.0, num.hi.0.min(1.0e12)),
        Value::Sym(id) => match machine.symbols.info(*id).map(|info| info.node.clone()) {
            Some(Node::Linear(base, off)) => number_in(machine, &base, depth) + off.0,
            Some(Node::Binary(op, a, b)) => {
                let (x, y) = (number_in(machine, &a, depth), number_in(machine, &b, depth));
                match op {
                    BinOp::Add => x + y,
                    BinOp::Sub => x - y,
                    BinOp::Mul => (if x == 0.0 { 1.0 } else { x }) * (if y == 0.0 { 1.0 } else { y }),
                    BinOp::Div | BinOp::FloorDiv => x / if y == 0.0 { 1.0 } else { y },
                    BinOp::Pow => (if x == 0.0 { 2.0 } else { x }).powf(y),
                    _ => 0.0,
                }
            }
            Some(Node::Math(_, args)) => args.iter().map(|arg| number_in(machine, arg, depth)).sum(),
            Some(Node::Unary(UnOp::Neg, inner)) => -number_in(machine, &inner, depth),
            _ => 0.0,
        },
        Value::Variant(_, _, args) => args.first().map_or(0.0, |arg| number_in(machine, arg, depth)),
        _ => 0.0,
    }
}

/// Where one failure path of a loop is counted and another is not, the count is broken on the other.
fn brand_broken(failures: &mut [FailurePath]) {
    let counted = failures
        .iter()
        .any(|path| matches!(path.bound, Bound::Count(_) | Bound::Both(..) | Bound::Caller | Bound::Deadline(_)));
    if !counted {
        return;
    }
    for path in failures {
        if path.bound == Bound::None && !path.repaired {
            let which = match &path.cause {
                Cause::Status(set) => format!("the path on status {set} is not counted"),
                Cause::Exception { classes, .. } => match classes.first() {
                    Some(class) => format!("the path on {} is not counted", last_part(class)),
                    None => "the path on an exception is not counted".to_string(),
                },
                _ => "one failure path is not counted".to_string(),
            };
            path.bound = Bound::Broken(which);
        }
    }
}

/// The weakest of all bounds.
fn weakest(failures: &[FailurePath]) -> Bound {
    let rank = |bound: &Bound| match bound {
        Bound::None => 0,
        Bound::Broken(_) => 1,
        Bound::Flag => 2,
        Bound::Unknown => 3,
        Bound::Caller => 4,
        Bound::Count(None) => 5,
        Bound::Deadline(_) => 6,
        Bound::Count(Some(_)) => 7,
        Bound::Both(..) => 8,
    };
    failures.iter().map(|path| &path.bound).min_by_key(|bound| rank(bound)).cloned().unwrap_or(Bound::Unknown)
}

// ---- pace ----

fn pace(machine: &Machine<'_>, outage: &Outage, after_failure: &[Event]) -> Pace {
    let waits = &outage.waits;
    if waits.iter().all(|wait| wait.high == 0.0 && !wait.unknown) {
        return Pace::None;
    }
    // Lengths by which growth is judged: known ones, or the known part of what is slept.
    let mut lengths: Vec<f64> = Vec::new();
    if waits.iter().all(|wait| !wait.unknown && wait.high.is_finite()) {
        lengths.extend(waits.iter().map(|wait| wait.high));
    } else if let Some(state) = outage.survivors.first().or(outage.left.last().map(|(_, finished)| &finished.state)) {
        for event in state.events() {
            if let Event::Wait { value, .. } = event {
                lengths.push(number_in(machine, value, 8));
            }
        }
        if lengths.len() < 2 || lengths.iter().all(|length| *length == 0.0) {
            let constant = after_failure.iter().any(|event| match event {
                Event::Wait { value, .. } => {
                    let taint = machine.symbols.taint(value);
                    !taint.has(Taint::CALL) && matches!(value, Value::Sym(_))
                }
                _ => false,
            });
            return if constant { Pace::Fixed } else { Pace::Unknown };
        }
    }
    let lengths: Vec<f64> = lengths.into_iter().skip_while(|length| *length == 0.0).take(8).collect();
    // What has come to its ceiling no longer grows.
    let most = lengths.iter().copied().fold(0.0, f64::max);
    let growing: Vec<f64> = {
        let mut growing: Vec<f64> = lengths.iter().copied().take_while(|length| *length < most).collect();
        growing.push(most);
        growing
    };
    match growing.as_slice() {
        [] | [_] => Pace::Fixed,
        steps => {
            let doubles = |a: f64, b: f64| b >= a * 1.45;
            let (mut exponential, mut linear) = (true, true);
            for pair in steps.windows(2) {
                if let [a, b] = pair {
                    linear &= b > a;
                    exponential &= doubles(*a, *b) || *b == most;
                }
            }
            let third = steps.get(2).zip(steps.get(1)).is_none_or(|(c, b)| *c == most || doubles(*b, *c));
            if exponential
                && third
                && steps.len() > 1
                && doubles(steps.first().copied().unwrap_or(0.0), steps.get(1).copied().unwrap_or(0.0))
            {
                Pace::Exponential
            } else if linear {
                Pace::Linear
            } else {
                Pace::Unknown
            }
        }
    }
}

/// The ceiling of a growing wait: the length at which it stays.
fn ceiling(waits: &[Wait], pace: Pace) -> Option<f64> {
    if !matches!(pace, Pace::Exponential | Pace::Linear) {
        return None;
    }
    let lengths: Vec<f64> = waits.iter().filter(|wait| !wait.unknown).map(|wait| wait.high).collect();
    match lengths.as_slice() {
        [.., a, b] if a == b => Some(*b),
        _ => None,
    }
}

// ---- what leaves ----

fn after_last(outage: &Outage, attempts: Option<u32>, op: &OpInfo) -> Option<(Wait, At)> {
    let attempts = attempts?;
    let mut found: Option<(Wait, At)> = None;
    for (attempt, finished) in &outage.left {
        if *attempt != attempts {
            continue;
        }
        // A loop around this one goes on: what waits here waits for its next turn.
        if matches!(finished.end, End::NextWork(_)) {
            return None;
        }
        let events = finished.state.events();
        let at_failure = events.iter().rposition(|event| matches!(event, Event::Fail(..)))?;
        let after = events.get(at_failure..).unwrap_or_default();
        let left = after.iter().position(|event| matches!(event, Event::Left(..)))?;
        // Behind the loop the last attempt of all is made: the wait is before it.
        let once_more = |event: &&Event| match event {
            Event::Op(info) => {
                info.place != op.place && (info.text == op.text || info.model.is_some() && info.model == op.model)
            }
            _ => false,
        };
        if after.get(left..).unwrap_or_default().iter().any(once_more) {
            return None;
        }
        let wait = after.get(..left).unwrap_or_default().iter().rev().find_map(|event| match event {
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

fn exhaustion(machine: &Machine<'_>, found: &Found<'_>, outage: &Outage, bound: &Bound) -> Exhaustion {
    if matches!(bound, Bound::None | Bound::Broken(_) | Bound::Flag) {
        return Exhaustion::Never;
    }
    let gives_value = found.explored.done.iter().any(|finished| match &finished.end {
        End::Return(value, explicit, _) => *explicit && !matches!(value, Value::None),
        _ => false,
    });
    let last = outage.left.iter().map(|(attempt, _)| *attempt).max().unwrap_or(0);
    let mut worst = Exhaustion::Unknown;
    for (attempt, finished) in &outage.left {
        if *attempt != last {
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
        if rank(&this) > rank(&worst) {
            worst = this;
        }
    }
    // A declared optional result says that there may be none.
    let declared = found.function.returns.as_ref().is_some_and(|ty| {
        matches!(ty.path.as_str(), "Option" | "Result" | "bool" | "builtins.bool" | "None" | "builtins.None")
    });
    // An empty `Ok` says the opposite of what a declared error is for.
    let fallible = found.function.returns.as_ref().is_some_and(|ty| ty.path == "Result");
    match worst {
        Exhaustion::FallsOff(_) if declared => Exhaustion::FailureValue,
        Exhaustion::DefaultValue(..) if declared && !fallible => Exhaustion::FailureValue,
        other => other,
    }
}

/// Whether a value is an empty default: `[]`, `{}`, `""`, `0`.
fn looks_empty(finished: &Finished, value: &Value) -> bool {
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

/// The ways in which answers leave.
fn exits(machine: &Machine<'_>, found: &Found<'_>) -> Vec<Exit> {
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
    for finished in &found.explored.out {
        let Some(failed) = &finished.state.failed else { continue };
        let Failing::Status(set) = &failed.how else { continue };
        let place = failed.op.place;
        let (kind, at) = match &finished.end {
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
                    .any(|event| matches!(event, Event::LookedAtStatus(of) if *of == place));
                let kind = if machine.symbols.mentions(value, &mut response) {
                    ExitKind::Response
                } else if is_failure_value(value) && *explicit {
                    ExitKind::Failure
                } else if success.contains(at) && looked {
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

// ---- the server's advice ----

/// How a wait stands to what the server asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Relation {
    /// At least as long.
    Kept,
    /// Can be shorter: at most so many seconds.
    Lowered(Option<f64>),
    /// Has nothing to do with it.
    None,
}

fn relation(machine: &Machine<'_>, value: &Value, depth: u32) -> Relation {
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

/// The statuses with which a server may say how long to wait.
fn advised_statuses() -> StatusSet {
    StatusSet::of(|status| matches!(status, 429 | 503))
}

fn advice(
    machine: &mut Machine<'_>,
    found: &Found<'_>,
    group: &Group,
    cause: &Cause,
    events: &[Event],
) -> (RetryAfter, DateForm) {
    let not_applicable = (RetryAfter::NotApplicable, DateForm::Fine);
    let Cause::Status(set) = cause else { return not_applicable };
    let set = set.and(&advised_statuses());
    if set.is_empty() || found.form == Form::StraightLine {
        return not_applicable;
    }
    let Failing::Status(_) = &group.how else { return not_applicable };
    let how = Failing::Status(set);
    let told = machine.outage(&found.plan, &found.entries, group.op.place, &how, Advice::Seconds, Some(3));
    if told.first.is_empty() {
        // With the advice at hand the request is not sent again.
        return (RetryAfter::Honoured, DateForm::Fine);
    }
    let mut read = false;
    let mut compared = None;
    let mut kept = true;
    let mut lowered: Option<(Option<f64>, At)> = None;
    let mut lost = None;
    for state in &told.first {
        let events: Vec<Event> = state.events().into_iter().cloned().collect();
        let mut this = Relation::None;
        for event in since_failure(&events) {
            match event {
                Event::ReadAdvice(..) => read = true,
                Event::Lost(at) => lost = Some(*at),
                Event::Decide { sym, at, .. }
                    if machine.symbols.info(*sym).is_some_and(|info| info.taint.has(Taint::SERVER)) =>
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
        kept &= this == Relation::Kept;
    }
    if let Some((most, at)) = lowered {
        let at = local_span(machine, found, at);
        return (RetryAfter::Shortened { ceiling: most, at }, date(machine, found, group, &how));
    }
    if kept {
        return (RetryAfter::Honoured, date(machine, found, group, &how));
    }
    if read {
        if let Some((sym, at)) = compared {
            let at = local_span(machine, found, at);
            let most = machine.symbols.info(sym).and_then(|info| match &info.node {
                Node::Binary(_, a, b) => [a, b].into_iter().find_map(|side| match side {
                    Value::Num(num) => num.single(),
                    _ => None,
                }),
                _ => None,
            });
            return (RetryAfter::Shortened { ceiling: most, at }, date(machine, found, group, &how));
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
    // Something unknown that is given the response or the exception may read it.
    let passed_on = told.first.iter().any(|state| {
        let events: Vec<Event> = state.events().into_iter().cloned().collect();
        since_failure(&events).iter().any(|event| match event {
            Event::Wait { value, unknown, .. } => *unknown && machine.symbols.taint(value).has(Taint::CALL),
            _ => false,
        })
    });
    if passed_on {
        return (RetryAfter::Unknown, DateForm::Fine);
    }
    (RetryAfter::Ignored, DateForm::Fine)
}

/// What a date in Retry-After does, where seconds are followed.
fn date(machine: &mut Machine<'_>, found: &Found<'_>, group: &Group, how: &Failing) -> DateForm {
    let dated = machine.outage(&found.plan, &found.entries, group.op.place, how, Advice::Date, Some(2));
    let failed_at = |state: &State| {
        state.events().iter().rev().find_map(|event| match event {
            Event::ParseFailed(at) => Some(*at),
            _ => None,
        })
    };
    let parsed = |state: &State| state.events().iter().any(|event| matches!(event, Event::ParsedDate));
    for (_, finished) in dated.left.iter().filter(|(_, finished)| !parsed(&finished.state)) {
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
        if since_failure(&events).iter().any(|event| matches!(event, Event::ParsedDate)) {
            continue;
        }
        let kept = since_failure(&events).iter().any(|event| match event {
            Event::Wait { value, .. } => relation(machine, value, 10) != Relation::None,
            _ => false,
        });
        if !kept && let Some(at) = failed_at(state) {
            return DateForm::Dropped(local_span(machine, found, at));
        }
    }
    DateForm::Fine
}

// ---- steps ----

fn steps(machine: &Machine<'_>, found: &Found<'_>, group: &Group, events: &[Event], outage: &Outage) -> Vec<Step> {
    let mut steps = Vec::new();
    let how = match cause(machine, group) {
        Cause::Status(set) => format!("answers with status {}", shorten(&set)),
        Cause::Exception { classes, .. } => match classes.first() {
            Some(class) => format!("fails with {}", last_part(class)),
            None => "fails".to_string(),
        },
        Cause::Value => "gives a value that is taken as failure".to_string(),
        Cause::Interrupt => "is cancelled".to_string(),
        Cause::Ended => "ends".to_string(),
    };
    let operation = if group.op.at.file == machine.file { group.op.at } else { group.op.base };
    steps.push(Step { span: local_span(machine, found, operation), text: how });
    for event in since_failure(events) {
        match event {
            Event::Wait { low, high, unknown, at, .. } if steps.len() < 6 => {
                let text = if *unknown {
                    "waits".to_string()
                } else if *high == 0.0 {
                    "waits 0 s".to_string()
                } else if (high - low).abs() < 1e-9 {
                    format!("waits {} s", number(*high))
                } else {
                    format!("waits {} to {} s", number(*low), number(*high))
                };
                steps.push(Step { span: local_span(machine, found, *at), text });
            }
            Event::Lost(at) => {
                let text = "throws the response away, its headers too".to_string();
                steps.push(Step { span: local_span(machine, found, *at), text });
            }
            Event::Caught(at) if at.file == machine.file => {
                steps.push(Step { span: at.span, text: "is caught here".to_string() });
            }
            Event::Turn(at) if at.file == machine.file && found.form == Form::Loop => {
                steps.push(Step { span: at.span, text: "goes back to the loop".to_string() });
            }
            _ => {}
        }
    }
    let _ = outage;
    steps.dedup();
    steps
}

fn shorten(set: &StatusSet) -> String {
    let text = set.to_string();
    if text.len() <= 40 {
        return text;
    }
    let mut cut: String = text.chars().take(37).collect();
    cut.push('…');
    cut
}

fn number(number: f64) -> String {
    let rounded = (number * 1000.0).round() / 1000.0;
    format!("{rounded}")
}

impl Machine<'_> {
    /// Whether a test is one for a failure value proper (`Err`), not for a value that may mean "not yet".
    pub(super) fn is_error_test(&self, sym: SymId) -> bool {
        let mut sym = sym;
        for _ in 0..4 {
            match self.symbols.info(sym).map(|info| &info.node) {
                Some(Node::Unary(UnOp::Not, Value::Sym(inner))) => sym = *inner,
                Some(Node::IsSuccess(_)) => return true,
                Some(Node::Is(_, name)) => return matches!(&**name, "Ok" | "Err"),
                _ => return false,
            }
        }
        false
    }
}
