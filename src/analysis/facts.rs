//! From simulated outages to a site's policy.

use super::advice::advice;
use super::bounds::{bound, brand_broken, counted_out, weakest};
use super::leaving::{after_last, exhaustion, exits};
use std::rc::Rc;

use super::batch;
use super::body;
use super::handlers::stands_for;
use super::idle;
use super::layers::{Layers, layers};
use super::links::links;
use super::machine::{Advice, Finished, Machine, Plan};
use super::memory::last_part;
use super::mixed;
use super::outage::Outage;
use super::overflow;
use super::pace::{ceiling, is_jittered, longer, pace};
use super::policy::{
    Bound, Cause, DateForm, FailurePath, Form, Known, Operation, Pace, RetryAfter, Role, Site, Step, Timeout, Wait,
};
use super::probes;
use super::reset;
use super::shared;
use super::sites::{Found, groups};
use super::state::{At, Event, Failing, Known3, Object, OpInfo};
use super::status::StatusSet;
use super::taken::{counts_as_failure, follows_its_answer, is_picked, waits_as_told};
use super::value::{ANY, Node, Place, SymId, Taint, Value};
use super::verdicts::is_judged_by_more;
use crate::frontend::prelude;
use crate::ir::{BinOp, LoopKind, Term, UnOp};
use crate::models::{Entry, Kind};
use crate::source::Span;

/// Failure paths of one operation that fails in one way.
#[derive(Debug)]
pub(super) struct Group {
    pub op: Rc<OpInfo>,
    pub how: Failing,
    /// What was asked on the way back of the answer that its error carries leaves these statuses.
    pub answers: Option<StatusSet>,
    pub paths: Vec<Finished>,
}

/// The policy of a site that was found; `None` where, looked at closely, it is none.
pub(super) fn site(machine: &mut Machine<'_>, found: &Found<'_>) -> Option<Site> {
    let mut groups = split(machine, groups(&found.explored));
    // A compare-and-swap that lost goes on with what has become of the state.
    groups.retain(|group| !is_conflict(machine, group) && !group.paths.iter().all(|path| was_seen_to(machine, path)));
    tell_by_errors(machine, &mut groups);
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
    // What the code waits for comes before what it asks of an answer that it has.
    let places: Vec<Place> = groups.iter().map(|group| group.op.place).collect();
    let follows = |op: &OpInfo| op.sources.iter().any(|source| *source != op.place && places.contains(source));
    groups.sort_by_key(|group| (remote(&group.op), !group.op.awaited, follows(&group.op)));
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
    if found.limit.is_none() {
        brand_broken(machine, found, &groups, &mut failures);
    }
    // A call of which nothing is known is taken for one that can fail for a while only where the code treats it so: it
    // is awaited, there is a wait before it is made again, what is caught of it is trouble on the way to somebody, or a
    // policy of a library was made for it.
    let on_the_way = |group: &Group| {
        raises_only(machine, group, |entry| entry.elapsed || entry.severed)
            && !raises_only(machine, group, |entry| entry.elapsed)
    };
    let treated_so = matches!(found.form, Form::Decorator)
        || groups.iter().any(|group| group.op.remote == Known3::Yes || group.op.awaited || on_the_way(group))
        || failures.iter().any(|path| path.waits.iter().any(|wait| wait.high > 0.0 || wait.unknown));
    if !treated_so {
        failures.iter_mut().for_each(|path| path.uncertain = true);
    }
    // Who is asked in words, and whose answer will not do, is asked again at once: a person. And what goes through items
    // at once tries one after the other.
    let tries = goes_through_items(machine, found);
    for (group, path) in groups.iter().zip(&mut failures) {
        let waits = path.waits.iter().any(|wait| wait.high > 0.0 || wait.unknown);
        let asks = path.cause == Cause::Value && group.op.inputs.iter().any(|input| says_words(machine, input));
        let vague = group.op.remote == Known3::Unknown || group.op.likely;
        path.uncertain |= !waits && (vague && asks || tries);
        path.uncertain |= found.explored.cut && is_passed_by(found, &group.op);
    }
    let mut operations: Vec<Operation> = Vec::new();
    let mut seen: Vec<Place> = Vec::new();
    for (group, path) in groups.iter().zip(&mut failures) {
        let known = seen.iter().position(|place| *place == group.op.place);
        path.operation = known.unwrap_or(seen.len());
        if known.is_none() {
            seen.push(group.op.place);
            operations.push(operation(machine, found, &group.op));
        }
    }
    let multiplied = most.of.and_then(|of| seen.iter().position(|place| *place == of)).unwrap_or(0);
    let exits = exits(machine, found);
    let bound = weakest(&failures);
    let max_attempts = mixed::attempts_in_all(machine, found, &groups, &failures);
    let most = most.mixed(max_attempts, &failures);
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
    let passed_once = || groups.iter().find_map(|group| body::passed_once(machine, found, group));
    let used_up = used_up.or_else(passed_once);
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
        batch: groups.iter().find_map(|group| batch::replayed(machine, found, group)),
        idle: idle::shadowed(machine, found),
        lost_result: found.lost_result,
        layers: most.layers,
        amplification: most.product,
        layered_wait: most.wait,
        multiplied,
        inner: false,
        tasks: None,
        links: links(machine, found, &groups),
        cut,
        helper: None,
        version: None,
    })
}

/// Whether what is done goes well without the operation: something else is asked, and this only now and then before it.
fn is_passed_by(found: &Found<'_>, op: &OpInfo) -> bool {
    found.explored.done.iter().any(|finished| {
        let events = finished.state.events();
        let mut asked = events.iter().filter_map(|event| match event {
            Event::Op(info) if info.remote == Known3::Yes => Some(info.place),
            _ => None,
        });
        let first = asked.next();
        first.is_some_and(|first| first != op.place) && asked.all(|place| place != op.place)
    })
}

/// Whether a `for` loop goes through things, and not through the numbers of its turns.
fn goes_through_items(machine: &mut Machine<'_>, found: &Found<'_>) -> bool {
    let Some(head) = found.plan.head.filter(|_| found.loop_kind == Some(LoopKind::For)) else { return false };
    let function = machine.project.function(found.looped);
    let Some(Term::Next { iter, .. }) = function.and_then(|function| function.block(head)).map(|block| &block.term)
    else {
        return false;
    };
    let iter = *iter;
    found.entries.iter().all(|entry| {
        let mut entry = entry.clone();
        match machine.read(&mut entry, iter) {
            Value::Object(id) => match entry.objects.get(&id) {
                Some(Object::Items(items, _)) => !items.iter().all(|item| matches!(item, Value::Num(_))),
                Some(Object::Unknown(..)) => true,
                _ => false,
            },
            _ => false,
        }
    })
}

/// What fails with the error of a client has asked a server, whatever it is called; where several calls could be meant,
/// none is told so.
fn tell_by_errors(machine: &Machine<'_>, groups: &mut [Group]) {
    let Some(models) = machine.project.models(machine.file) else { return };
    if groups.iter().any(|group| group.op.remote == Known3::Yes) {
        return;
    }
    // What is awaited, where anything is.
    let awaits = groups.iter().any(|group| group.op.awaited);
    let meant: Vec<Place> =
        groups.iter().filter(|group| group.op.awaited || !awaits).map(|group| group.op.place).collect();
    let Some((only, others)) = meant.split_first() else { return };
    if others.iter().any(|place| place != only) {
        return;
    }
    let of_client = |class: &Rc<str>| {
        machine.project.known(machine.file, class).is_some_and(|entry| match entry.kind {
            Kind::Exception => {
                !entry.content && models.library_of(class).is_some_and(|library| models.has_operations(&library.name))
            }
            Kind::Remote => true,
            Kind::Local => models.has_operations(&entry.library),
            _ => false,
        })
    };
    for group in groups.iter_mut().filter(|group| group.op.place == *only) {
        let told = matches!(&group.how, Failing::Raises(classes) if classes.iter().any(of_client));
        if told && group.op.remote == Known3::Unknown {
            let op = Rc::make_mut(&mut group.op);
            (op.remote, op.likely) = (Known3::Yes, true);
        }
    }
}

/// Whether a failure says that somebody else was faster.
fn is_conflict(machine: &Machine<'_>, group: &Group) -> bool {
    let Failing::Raises(classes) = &group.how else { return false };
    let conflict = |class: &str| {
        machine.project.models(group.op.at.file).is_some_and(|models| {
            models
                .ancestors(class)
                .chain([class])
                .any(|class| models.exception(class).is_some_and(|entry| entry.conflict))
        })
    };
    !classes.is_empty() && classes.iter().all(|class| conflict(class))
}

/// Parts error classes that stand for an answer's status from those that do not, and refusals of the request itself
/// from passing ones: they are different ways of failing.
pub(super) fn split(machine: &Machine<'_>, groups: Vec<Group>) -> Vec<Group> {
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
            out.push(Group { op: group.op.clone(), how, answers: group.answers, paths: group.paths.clone() });
        }
    }
    out
}

/// An operation as the policy has it.
pub(super) fn operation(machine: &mut Machine<'_>, found: &Found<'_>, info: &OpInfo) -> Operation {
    let key = info.policy_key(|value| {
        let taint = machine.symbols.taint(value);
        taint.has(Taint::FRESH) && made_inside(machine, found, value)
    });
    let handed = found.looped != found.func && info.at == info.base;
    let span = match () {
        () if handed => found.span,
        () if info.at.file == machine.file => info.at.span,
        () if info.base.file == machine.file => info.base.span,
        () => found.header,
    };
    // What a library or a helper calls is known by how it was given to it.
    let text = match prelude::is(info.at.file) || handed {
        true => machine.call_text(At { file: found.func.file, span: found.span }),
        false => info.text.clone(),
    };
    Operation {
        text: text.to_string(),
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
        likely: info.likely,
        by_setting: found.form == Form::ClientConfig,
    }
}

/// Whether a fresh value is made anew in each turn: its roots are not among what was there before the loop.
pub(super) fn made_inside(machine: &Machine<'_>, found: &Found<'_>, value: &Value) -> bool {
    let mut roots = Vec::new();
    machine.symbols.collect_roots(value, &mut roots);
    roots.iter().any(|root| {
        machine.symbols.info(*root).is_some_and(|info| info.taint.has(Taint::FRESH))
            && !found.entries.iter().any(|entry| entry.versions.contains_key(root))
    })
}

pub(super) fn cause(machine: &Machine<'_>, group: &Group) -> Cause {
    match &group.how {
        Failing::Status(set) => Cause::Status(*set),
        Failing::Elapsed(class) => Cause::Exception { classes: vec![readable(machine, class)], everything: false },
        Failing::Raises(classes) => {
            // Classes that stand for statuses are answers.
            if let Some(set) = machine.project.models(machine.file).and_then(|models| stands_for(models, classes)) {
                return Cause::Status(group.answers.map_or(set, |left| left.and(&set)));
            }
            // What may have had its effect first: it tells more.
            let mut known: Vec<&str> = classes.iter().map(|class| &**class).filter(|class| *class != ANY).collect();
            known.sort_by_key(|class| is_before_send(machine, group, class));
            Cause::Exception {
                classes: known.into_iter().map(|class| readable(machine, class)).collect(),
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

/// Whether an error says that nothing was sent.
fn is_before_send(machine: &Machine<'_>, group: &Group, class: &str) -> bool {
    let models = machine.project.models(group.op.at.file);
    models.and_then(|models| models.exception(class)).is_some_and(|entry| entry.before_send)
}

pub(super) fn readable(machine: &Machine<'_>, class: &str) -> String {
    match machine.project.class_of_path(class) {
        Some(own) => machine.project.class(own).map_or_else(|| class.to_string(), |class| class.name.clone()),
        None => class.to_string(),
    }
}

pub(super) fn failure_path(
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
        let plan = Plan { answers: group.answers, ..found.plan.clone() };
        machine.outage(&plan, &found.entries, group.op.place, &group.how, Advice::Absent, found.most)
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
    let judged = is_judged_by_more(machine, group);
    let bound = match () {
        () if twice => Bound::Count(Some(2)),
        () if judged => Bound::Unknown,
        () => bound_of(machine, found, &outage),
    };
    let bound = match (bound, &found.limit) {
        (Bound::Unknown | Bound::Broken(_) | Bound::None, Some(limit)) => limit.clone(),
        (Bound::Both(None, left), Some(Bound::Both(count, _))) => Bound::Both(*count, left),
        // That it counts was seen, and it is the policy that does.
        (Bound::Count(None), Some(limit @ Bound::Count(Some(_)))) => limit.clone(),
        (bound, _) => bound,
    };
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
    let jitter = is_jittered(machine, &outage, after_failure);
    let server = group.paths.iter().any(|path| waits_as_told(machine, group, path));
    let pace = match longer(machine, found, group, &outage) {
        _ if server => Pace::Server,
        Some(longer) => pace(machine, &longer, after_failure),
        None => pace(machine, outage.alone.as_deref().unwrap_or(&outage), after_failure),
    };
    // Operations on the way that were not on the way before: a repair.
    let before: Vec<Place> = events
        .iter()
        .take_while(|event| !matches!(event, Event::Fail(..)))
        .filter_map(|event| match event {
            Event::Op(info) => Some(info.place),
            _ => None,
        })
        .collect();
    let tells = tellers(machine, &events);
    let mends = |event: &Event| match event {
        Event::Op(info) => {
            info.remote != Known3::No
                && !is_told(machine, info, &tells)
                && !is_asked_of_error(machine, info)
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
    // A credential that was refused, and another one put in its place.
    let refused = matches!(&cause, Cause::Status(set) if set.minus(&credential_statuses()).is_empty());
    let repaired = repaired || refused && group.paths.iter().all(|path| happens_since_failure(path, &Event::Stored));
    let asked = group.paths.iter().all(|path| happens_since_failure(path, &Event::Asked));
    let new_input = asked
        || matches!(&cause, Cause::Status(set) if set.minus(&conflict_statuses()).is_empty())
            && group.paths.iter().all(|path| {
                let events = path.state.events();
                group.op.sources.iter().any(|source| executed_after_failure(&events, *source))
            });
    // What a remote call gave without failing, and the code does not want.
    let good_answer =
        cause == Cause::Value && group.op.remote == Known3::Yes || raises_only(machine, group, |entry| entry.content);
    let inner = group.paths.iter().any(|path| repeated_within(&path.state.events(), &group.op));
    let picked = !counts_as_failure(machine, found, group, &cause, &bound) && is_picked(machine, found, group);
    let unknown_on_the_way = !helpers.is_empty() && !repaired;
    let (retry_after, retry_after_date) = if inner {
        (RetryAfter::NotApplicable, DateForm::Fine)
    } else {
        advice(machine, found, group, &cause, &events)
    };
    // A server may say how long to wait in words of its own; who follows these follows it.
    let follows = || group.paths.iter().any(|path| follows_its_answer(machine, group, path));
    let retry_after = match retry_after {
        RetryAfter::Ignored if follows() => RetryAfter::Honoured,
        other => other,
    };
    // Where nothing says how long it is but what the server does say, that is what it follows.
    let pace = match (pace, &retry_after) {
        (Pace::Unknown, RetryAfter::Honoured) if matches!(found.form, Form::Loop | Form::Recursion) => Pace::Server,
        (pace, _) => pace,
    };
    let overflow = overflow::overflow(machine, found, &outage, &bound);
    let exhaustion = exhaustion(machine, found, &outage, &bound);
    let last = match (&bound, attempts) {
        (_, Some(attempts)) => {
            outage.left.iter().filter(|(attempt, _)| *attempt == attempts).map(|(_, finished)| finished).collect()
        }
        (Bound::Caller | Bound::Count(None), None) => counted_out(machine, found, &outage),
        _ => Vec::new(),
    };
    let wait_after_last = after_last(&last, &group.op);
    let wait_span = waited.as_ref().map(|(at, ..)| local_span(machine, found, *at));
    let steps = steps(machine, found, group, &events, &outage);
    let before_send = match &group.how {
        Failing::Raises(classes) => {
            let unsent = classes.iter().filter(|class| is_before_send(machine, group, class));
            unsent.map(|class| readable(machine, class)).collect()
        }
        _ => Vec::new(),
    };
    let elapsed = matches!(group.how, Failing::Elapsed(_)) || raises_only(machine, group, |entry| entry.elapsed);
    FailurePath {
        operation: 0,
        cause,
        bound,
        attempts,
        pace,
        jitter,
        wait_after_last: wait_after_last.map(|(wait, at)| (wait, local_span(machine, found, at))),
        overflow,
        wait_span,
        blocks_executor: waited.as_ref().is_some_and(|(_, blocks, _)| *blocks),
        repaired,
        new_input,
        inner,
        before_send,
        elapsed,
        good_answer,
        retry_after,
        retry_after_date,
        exhaustion,
        steps,
        shared: shared::is_shared(machine, found, group),
        picked,
        uncertain: picked
            || judged
            || unknown_on_the_way
            || outage.cut
            || sample.is_some_and(|path| path.state.guessed)
            || group.paths.iter().any(|path| was_seen_to(machine, path)),
        waits: outage.waits,
    }
}

/// What bounds the attempts; where not all paths could be followed, as one alone shows it.
fn bound_of(machine: &mut Machine<'_>, found: &Found<'_>, outage: &Outage) -> Bound {
    match (bound(machine, found, outage), &outage.alone) {
        (Bound::Unknown | Bound::Count(None), Some(alone)) if alone.is_counted_out() => bound(machine, found, alone),
        (bound, _) => bound,
    }
}

/// Whether the operation is only come to where something is in want (a credential that has expired), and what was
/// in want had been got when the operation failed: whether it is in want again nobody can tell.
fn was_seen_to(machine: &Machine<'_>, path: &Finished) -> bool {
    let events = path.state.events();
    let Some(at) = events.iter().rposition(|event| matches!(event, Event::Fail(..))) else { return false };
    let (before, after) = (events.get(..at).unwrap_or_default(), events.get(at..).unwrap_or_default());
    after.iter().any(|event| match event {
        Event::Decide { sym, taken, place, .. } => {
            let asked = before.iter().rposition(|event| match event {
                Event::Decide { sym: first, taken: side, place: there, .. } => {
                    there == place && side == taken && first != sym
                }
                _ => false,
            });
            let since = asked.and_then(|asked| before.get(asked..)).unwrap_or_default();
            let got = |event: &&Event| match event {
                Event::Op(info) => machine.symbols.mentions(&Value::Sym(*sym), &mut |part| match part {
                    Value::Resp(of) | Value::Body(of) => *of == info.place,
                    Value::Sym(part) => info.result == Some(*part),
                    _ => false,
                }),
                _ => false,
            };
            since.iter().any(got)
        }
        _ => false,
    })
}

/// What is told things in words on a path, and so is no help: a logger, however it is come by.
fn tellers(machine: &Machine<'_>, events: &[Event]) -> Vec<Value> {
    let told = events.iter().filter_map(|event| match event {
        Event::Op(info) if info.remote == Known3::Unknown => info.inputs.get(..2),
        _ => None,
    });
    let is_param = |id: &SymId| machine.symbols.info(*id).is_none_or(|info| matches!(info.node, Node::Param(..)));
    told.filter_map(|parts| match parts {
        [receiver @ Value::Sym(id), text] if !is_param(id) && says_words(machine, text) => Some(receiver.clone()),
        _ => None,
    })
    .collect()
}

/// Whether a call of which nothing is known only tells somebody something: its text is for people, and nobody waits.
fn is_told(machine: &Machine<'_>, info: &OpInfo, tells: &[Value]) -> bool {
    let worded = info.inputs.iter().take(2).any(|input| says_words(machine, input));
    let teller = info.inputs.first().is_some_and(|receiver| tells.contains(receiver));
    info.remote == Known3::Unknown && !info.awaited && (worded || teller)
}

/// Whether a call only asks an error what it is: that mends nothing, and nobody waits for it.
fn is_asked_of_error(machine: &Machine<'_>, info: &OpInfo) -> bool {
    let of_error = |value: &Value| machine.symbols.taint(value).has(Taint::FAILURE);
    let alone = matches!(&*info.inputs, [error, Value::Str(_)] if of_error(error));
    alone && info.remote == Known3::Unknown && !info.awaited
}

/// Whether a value is a text of several words, or made of one.
fn says_words(machine: &Machine<'_>, value: &Value) -> bool {
    match value {
        Value::Str(text) => text.trim().contains(' '),
        Value::Sym(id) => machine.symbols.info(*id).is_some_and(|info| match &info.node {
            Node::Call(name, parts) if &**name == "format" => parts.iter().any(|part| match part {
                Value::Str(text) => text.trim().contains(' '),
                _ => false,
            }),
            Node::Binary(BinOp::Add | BinOp::Rem, text, _) => says_words(machine, text),
            _ => false,
        }),
        _ => false,
    }
}

/// Whether it fails with errors alone of which all (or a class above them) are as a model says.
fn raises_only(machine: &Machine<'_>, group: &Group, what: fn(&Entry) -> bool) -> bool {
    let Failing::Raises(classes) = &group.how else { return false };
    let Some(models) = machine.project.models(group.op.at.file) else { return false };
    let is = |class: &str| models.exception(class).is_some_and(what);
    let above = |class: &str| models.ancestors(class).any(is);
    !classes.is_empty() && classes.iter().all(|class| is(class) || above(class))
}

pub(super) fn credential_statuses() -> StatusSet {
    StatusSet::of(|status| matches!(status, 401 | 403 | 407 | 419))
}

/// Answers which say that the state has moved on since it was read.
pub(super) fn conflict_statuses() -> StatusSet {
    StatusSet::of(|status| matches!(status, 409 | 412 | 428))
}

/// Whether an operation was executed after the failure.
pub(super) fn executed_after_failure(events: &[&Event], place: Place) -> bool {
    let at = events.iter().rposition(|event| matches!(event, Event::Fail(..))).map_or(0, |at| at + 1);
    events.iter().skip(at).any(|event| matches!(event, Event::Op(info) if info.place == place))
}

/// Whether the operation failed more than once, on the same input, in the turn in which it first failed.
pub(super) fn repeated_within(events: &[&Event], op: &OpInfo) -> bool {
    let failures = events
        .iter()
        .skip_while(|event| !matches!(event, Event::Fail(..)))
        .take_while(|event| !matches!(event, Event::Turn(_)))
        .filter(|event| matches!(event, Event::Fail(of, ..) if of.place == op.place && of.inputs == op.inputs));
    failures.count() > 1
}

/// Whether something happened on a path after the last failure.
fn happens_since_failure(path: &Finished, what: &Event) -> bool {
    path.state.events().iter().rev().take_while(|event| !matches!(event, Event::Fail(..))).any(|event| *event == what)
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

// ---- steps ----

pub(super) fn steps(
    machine: &Machine<'_>,
    found: &Found<'_>,
    group: &Group,
    events: &[Event],
    outage: &Outage,
) -> Vec<Step> {
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

pub(super) fn shorten(set: &StatusSet) -> String {
    let text = set.to_string();
    if text.len() <= 40 {
        return text;
    }
    let mut cut: String = text.chars().take(37).collect();
    cut.push('…');
    cut
}

pub(super) fn number(number: f64) -> String {
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
