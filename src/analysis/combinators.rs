//! Sites without a loop of their own: a function that a decorator runs again.
//!
//! The decorator's expression is evaluated to a policy. The loop is the library's, and stands in the prelude; it is
//! run with the decorated function as what it calls, so that the facts are found as they are for any other loop.

use std::rc::Rc;

use super::calls::Args;
use super::facts;
use super::idle;
use super::machine::{End, Machine, Out, Plan, Res};
use super::pieces::{Piece, is_callable};
use super::policy::{Form, Idle, IdleWhy, Role, Site};
use super::sent::Sent;
use super::settings::{self, is_setting};
use super::sites::{self, Found};
use super::state::{At, OpInfo, State};
use super::value::{FuncRef, Pending, Taint, Value};
use crate::frontend::prelude;
use crate::ir::{FuncId, Function, FunctionKind, LoopKind, Module};
use crate::models::{Entry, Kind};
use crate::source::Span;

/// Attempts after which one that never stops has shown what it does.
const ENOUGH: u32 = 24;
/// Steps for evaluating a decorator's expression.
const EVALUATE_BUDGET: u64 = 6_000;
/// Steps for coming to the settings in a function.
const SETTINGS_BUDGET: u64 = 30_000;
/// So many policies that are called are looked at in one function.
const MOST_CALLED: usize = 32;

/// The sites that a function's decorators make of it.
pub(super) fn decorated(machine: &mut Machine<'_>, func: FuncRef, function: &Function) -> Vec<Site> {
    let mut found = Vec::new();
    if function.kind != FunctionKind::Named || function.is_generator {
        return found;
    }
    for decorator in &function.decorators {
        let make = FuncRef { file: func.file, func: decorator.value };
        if !machine.project.may_give_policy(make) {
            continue;
        }
        let value = machine.initial(make);
        let Some(piece) = machine.piece(func.file, &value) else { continue };
        if !machine.is_policy(func.file, &value) && !machine.may_ask_again(&piece, function) {
            continue;
        }
        let form = if piece.entry.queue { Form::TaskQueue } else { Form::Decorator };
        let start = machine.enter(func);
        let outer = start.top().and_then(|frame| frame.outer);
        let what = Driven {
            policy: value,
            call: Value::Func(func, outer),
            args: Vec::new(),
            start,
            func,
            function,
            span: decorator.span,
            form,
            others: Vec::new(),
            elsewhere: None,
            left_out: None,
        };
        found.extend(site(machine, what));
    }
    found
}

/// What a policy runs.
pub(super) struct Driven<'f> {
    pub policy: Value,
    pub call: Value,
    pub args: Vec<Value>,
    pub start: State,
    pub func: FuncRef,
    pub function: &'f Function,
    pub span: Span,
    pub form: Form,
    /// What the policy is on other paths.
    pub others: Vec<(Value, State)>,
    /// A request of its client to where it does not hold.
    pub elsewhere: Option<Rc<OpInfo>>,
    /// A request of its client by a method that it leaves out, as all are that are seen.
    pub left_out: Option<Rc<OpInfo>>,
}

/// The site of a call that a policy runs again.
pub(super) fn site(machine: &mut Machine<'_>, what: Driven<'_>) -> Option<Site> {
    let runs_async = runs_async(machine, &what);
    let made = matches!(&what.call, Value::Func(..)) && runs_async;
    let piece = machine.piece(what.func.file, &what.policy)?;
    // What the policy takes for the call only makes a coroutine: looked at as if it were awaited, and told to be idle.
    let unawaited = made && piece.entry.blocking;
    let driver = driver(machine, what.func.file, &what.policy, runs_async, unawaited)?;
    let drive = machine.project.function(driver)?;
    if let Value::Func(func, _) = &what.call {
        machine.weight_cache.insert(*func, true);
    }
    let mut start = driven(machine, driver, &what, &what.policy, &what.start)?;
    let others: Vec<State> =
        what.others.iter().filter_map(|(policy, start)| driven(machine, driver, &what, policy, start)).collect();
    let head = drive.loops.first()?.head;
    let map = machine.loops_of(driver);
    let blocks = map.loops.first()?.1.clone();
    let most = machine.is_endless(&mut start, &what.policy).then_some(ENOUGH);
    let limit = machine.limit_of(&mut start, &what.policy);
    machine.plan = Plan { head: Some(head), stop_at_head: true, ..Plan::calm() };
    machine.allow(2_000);
    let entries: Vec<State> = machine
        .run([start].into_iter().chain(others).collect())
        .into_iter()
        .filter(|finished| finished.end == End::Head)
        .map(|finished| sites::at_head(finished.state))
        .collect();
    let plan = Plan { explore: true, blocks: Some(blocks), head: Some(head), max_turns: 2, ..Plan::calm() };
    let mut plan = plan;
    let mut explored = sites::explore(machine, &mut plan, entries.clone(), sites::Sieve::ALL);
    if explored.back.is_empty() && (explored.cut || !explored.on.is_empty()) {
        // What it runs is not followed to its end, or makes anew what it needs: it is given the same each time.
        plan.whole = true;
        explored = sites::explore(machine, &mut plan, entries.clone(), sites::Sieve::ALL);
    }
    let idle = explored.back.is_empty();
    // What a client or queue was told to do is a retry, whatever it is for.
    let role = match what.form {
        Form::ClientConfig | Form::TaskQueue if idle => return None,
        _ if idle => Role::Idle,
        Form::ClientConfig | Form::TaskQueue => Role::Retry,
        // A library's loop is over where what it runs succeeded: so it is too where no such path was come to in time.
        _ if explored.cut && explored.done.is_empty() && sites::comes_back_raised(&explored) => Role::Retry,
        _ => sites::role(machine, &explored, LoopKind::Endless)?,
    };
    let file = machine.project.file(what.func.file)?;
    let header = file.first_line(what.span);
    let found = Found {
        func: what.func,
        function: what.function,
        looped: driver,
        form: what.form,
        role,
        span: what.span,
        header,
        entries,
        plan,
        explored,
        loop_kind: Some(LoopKind::Endless),
        most,
        lost_result: None,
        limit: Some(limit),
    };
    let mut site = if idle { idle::in_policy(machine, &found, &what.policy) } else { facts::site(machine, &found) };
    if let (Some(site), Some(name)) = (&mut site, machine.deciding_class(&piece)) {
        site.operations.iter_mut().for_each(|operation| operation.text.clone_from(name));
    }
    let version = machine.models(what.func.file).version_note(piece.entry);
    let site = site.map(|site| Site { version, ..site });
    let never = match what.elsewhere {
        Some(op) => {
            let span = if op.at.file == what.func.file { op.at.span } else { header };
            Some(Idle { why: IdleWhy::Elsewhere(op.target.as_deref().unwrap_or_default().to_owned()), span })
        }
        None => unawaited.then_some(Idle { why: IdleWhy::Unawaited, span: header }),
    };
    match (never, what.left_out) {
        (Some(idle), _) => site.map(|site| idle::never(site, idle)),
        (None, Some(op)) => {
            let span = if op.at.file == what.func.file { op.at.span } else { header };
            let why = IdleWhy::Method(op.method.as_deref().unwrap_or_default().to_owned());
            site.map(|site| Site { idle: Some(Idle { why, span }), ..site })
        }
        (None, None) => site,
    }
}

/// What runs a policy.
fn driver(machine: &mut Machine<'_>, file: u32, policy: &Value, runs_async: bool, unawaited: bool) -> Option<FuncRef> {
    let piece = machine.piece(file, policy)?;
    // A library that blocks knows nothing of coroutines: it takes the making of one for the call.
    let awaits = unawaited || !piece.entry.blocking && (piece.entry.is_async || runs_async);
    let name = match (piece.entry.result, awaits) {
        (false, false) => "drive",
        (false, true) => "drive_async",
        (true, false) => "drive_result",
        (true, true) => "drive_result_async",
    };
    let file = prelude::file_for(machine.project.module(file)?.language);
    Some(FuncRef { file, func: prelude::function(file, name)? })
}

impl Machine<'_> {
    /// A policy called with a function. As a decorator it gives the function, followed as if it were bare; told to run
    /// it, what that gives. Either way the call is noted, if such calls are looked for.
    pub(super) fn decorated(&mut self, mut state: State, policy: Value, args: &Args, span: Span, out: &mut Out) {
        let call = args.nth(0).cloned().unwrap_or(Value::None);
        self.note_driven(&state, &policy, &call, args, span);
        let value = if args.list.len() == 1 { call } else { self.unknown(&mut state, Taint::CALL) };
        out.push((state, Res::Value(value)));
    }

    pub(super) fn note_driven(&mut self, state: &State, policy: &Value, call: &Value, args: &Args, span: Span) {
        let can_be = is_callable(call) || matches!(call, Value::Sym(_) | Value::Path(_));
        let called = can_be && state.frames.len() == 1;
        let Some(driven) = self.driven.as_mut().filter(|driven| called && driven.len() < MOST_CALLED) else { return };
        if driven.iter().any(|known| known.span == span && known.given == Given::Called) {
            return;
        }
        let args = args.list.iter().skip(1).map(|(_, value)| value.clone()).collect();
        let (policy, call, state) = (policy.clone(), call.clone(), state.clone());
        driven.push(Called { policy, call, args, state, span, given: Given::Called, others: Vec::new() });
    }

    /// Notes a policy that was made to run what a function is given, for the case that nobody here gives it one.
    pub(super) fn note_kept(&mut self, state: &State, piece: &Piece<'_>, span: Span) {
        if piece.word() != "policy" || piece.entry.repeats.is_some() || piece.entry.queue || !piece.is_told() {
            return;
        }
        let Some(known) = self.driven.as_ref().filter(|_| state.frames.len() == 1) else { return };
        if known.len() >= MOST_CALLED || known.iter().any(|known| known.span == span) {
            return;
        }
        let mut state = state.clone();
        let call = self.unknown(&mut state, Taint::INPUT);
        let kept = Called {
            policy: piece.value(),
            call,
            args: Vec::new(),
            state,
            span,
            given: Given::Kept,
            others: Vec::new(),
        };
        self.driven.get_or_insert_default().push(kept);
    }

    /// Whether a method that any value may have is meant: one of a callable, in a file that imports the library.
    pub(super) fn lends_policy(&self, file: u32, entry: &Entry, receiver: &Value) -> bool {
        is_callable(receiver) && self.imports_library(file, entry)
    }

    /// Whether a file imports the library that an entry is of.
    pub(super) fn imports_library(&self, file: u32, entry: &Entry) -> bool {
        let models = self.models(file);
        let imports = self.project.module(file).map(|module| module.imports.as_slice()).unwrap_or_default();
        imports.iter().any(|path| models.library_of(path).is_some_and(|library| library.name == entry.library))
    }

    /// What is called in place of a function that a decorator runs again: its driver, with the function itself. A
    /// policy without an end would be run for ever, and is left out.
    pub(super) fn layered(
        &mut self,
        state: &mut State,
        func: FuncRef,
        this: Option<&Value>,
        args: &Args,
    ) -> Option<(FuncRef, Args)> {
        let function = self.project.function(func)?;
        let bare = function.decorators.is_empty() || function.kind != FunctionKind::Named || function.is_generator;
        let known = state.frames.iter().any(|frame| frame.func == func);
        let driven = state.top().is_none_or(|frame| prelude::is(frame.func.file));
        if bare || self.bare == Some(func) || known || driven || args.open || !self.initialising.is_empty() {
            return None;
        }
        let mut policy = None;
        let mut own = None;
        for decorator in &function.decorators {
            let make = FuncRef { file: func.file, func: decorator.value };
            if self.project.is_helper_decorator(make) {
                own = own.or(Some(make));
                continue;
            }
            if !self.project.may_give_policy(make) {
                continue;
            }
            let value = self.initial(make);
            let queued = self.piece(func.file, &value).is_some_and(|piece| piece.entry.queue);
            if self.is_policy(func.file, &value) && !queued && !self.is_endless(&mut state.clone(), &value) {
                policy = Some(value);
                break;
            }
        }
        let driver = match &policy {
            Some(policy) => driver(self, func.file, policy, function.is_async, false),
            None if self.is_decorated(state, func) => None,
            None => own.and_then(|_| self.decorating(func.file, function.is_async)),
        }?;
        let this = this.map(|this| (Some("self".into()), this.clone()));
        let call = Value::Partial(Rc::new(Pending {
            callee: Value::Func(func, None),
            args: this.into_iter().chain(args.list.iter().cloned()).collect(),
            place: self.place(state),
        }));
        let list = match (policy, own) {
            (Some(policy), _) => vec![(None, call), (None, policy)],
            (None, own) => vec![(None, Value::Func(own?, None)), (None, call), (None, Value::Tuple(Rc::from([])))],
        };
        Some((driver, Args { list, open: false, ..Args::default() }))
    }

    /// Whether a function is being called by way of its decorators already.
    fn is_decorated(&self, state: &State, func: FuncRef) -> bool {
        let itself = |value: &Value| matches!(value, Value::Func(of, _) if *of == func);
        state.frames.iter().filter(|frame| prelude::is(frame.func.file)).any(|frame| {
            frame.slots.iter().flatten().any(|value| match value {
                Value::Partial(pending) => itself(&pending.callee),
                value => itself(value),
            })
        })
    }
}

fn runs_async(machine: &Machine<'_>, what: &Driven<'_>) -> bool {
    match &what.call {
        Value::Func(func, _) => machine.project.function(*func).is_some_and(|function| function.is_async),
        _ => what.function.is_async,
    }
}

/// The calls in a file of policies that run what they are given, and the settings of clients in it.
pub(super) fn called(machine: &mut Machine<'_>, module: &Module) -> Vec<Site> {
    let mut noted: Vec<(FuncRef, &Function, Called)> = Vec::new();
    let models = machine.models(machine.file);
    let runs = |entry: &Entry| entry.kind == Kind::Retry && matches!(entry.function.as_deref(), Some("policy" | "run"));
    let libraries = |runs: &dyn Fn(&Entry) -> bool| -> Vec<&str> {
        models.entries().iter().filter(|entry| runs(entry)).map(|entry| &*entry.library).collect()
    };
    let imported = |libraries: &[&str]| {
        let of = |path: &String| models.library_of(path).is_some_and(|library| libraries.contains(&&*library.name));
        module.imports.iter().any(of)
    };
    let combines = imported(&libraries(&|entry| runs(entry) && entry.repeats.is_none()));
    if !combines && !imported(&libraries(&is_setting)) {
        return Vec::new();
    }
    let names = settings::names(models);
    let mut sent = Sent::default();
    for at in 0..module.functions.len() {
        let Ok(id) = u32::try_from(at) else { break };
        let func = FuncRef { file: machine.file, func: FuncId(id) };
        let Some(function) = machine.project.function(func) else { continue };
        if function.is_test || function.kind == FunctionKind::Initialiser {
            continue;
        }
        let sets = settings::may_set(models, &names, module, function);
        if !combines && !sets {
            continue;
        }
        machine.driven = Some(Vec::new());
        machine.plan = Plan::calm();
        machine.allow(if sets { SETTINGS_BUDGET } else { EVALUATE_BUDGET });
        let start = machine.enter(func);
        let ends = machine.run(vec![start]);
        // On a path that was not followed a setting may be another.
        let cut = machine.exhausted;
        sent.take(&ends);
        sent.run.insert(func.func);
        let given_out =
            |policy: &Value| ends.iter().any(|end| matches!(&end.end, End::Return(value, ..) if value == policy));
        for mut call in machine.driven.take().unwrap_or_default() {
            // A policy that a function makes for its callers is a site where they attach it, if they are in sight.
            if call.given == Given::Kept
                && (!given_out(&call.policy) || machine.project.is_called_within(func, function))
            {
                continue;
            }
            call.state.guessed |= cut && call.given != Given::Called || call.given == Given::Kept;
            noted.push((func, function, call));
        }
    }
    if noted.iter().any(|(.., call)| matches!(call.given, Given::Made | Given::Attached)) {
        sent.look(machine, module);
    }
    // A policy that is attached or run in this file is a site there, and none where it is made.
    let used: Vec<Value> = noted
        .iter()
        .filter(|(.., call)| !matches!(call.given, Given::Made | Given::Kept))
        .flat_map(|(.., call)| [call.policy.clone(), settings::unlimited(&call.policy)])
        .chain(decorators(machine, module))
        .collect();
    noted.retain(|(.., call)| !matches!(call.given, Given::Made | Given::Kept) || !used.contains(&call.policy));
    let mut found = Vec::new();
    for (func, function, call) in noted {
        let Called { policy, call, args, state, span, given, others } = call;
        let told = match &policy {
            Value::Inst(inst) => inst.told,
            _ => None,
        };
        let told = [told, Some(At { file: func.file, span })];
        let call = match sent.side_effect(&told).filter(|_| given != Given::Called) {
            Some(verb) => machine.sent_by(func.file, &policy, &state, verb).unwrap_or(call),
            None => call,
        };
        let elsewhere = sent.elsewhere(&told);
        let mut left_out = |verb: &str| machine.leaves_out(func.file, &policy, verb);
        let left_out = sent.all_by(&told, &mut left_out).filter(|_| given != Given::Called);
        let queue = machine.piece(func.file, &policy).is_some_and(|piece| piece.entry.queue);
        let form = match given {
            _ if queue => Form::TaskQueue,
            Given::Called | Given::Kept => Form::Decorator,
            Given::Made | Given::Attached => Form::ClientConfig,
        };
        let what = Driven { policy, call, args, start: state, func, function, span, form, others, elsewhere, left_out };
        found.extend(site(machine, what));
    }
    found
}

/// The values of all decorators in a file.
fn decorators(machine: &mut Machine<'_>, module: &Module) -> Vec<Value> {
    let all = module.functions.iter().flat_map(|function| &function.decorators);
    let all: Vec<FuncId> = all.map(|decorator| decorator.value).collect();
    machine.allow(EVALUATE_BUDGET);
    all.into_iter().map(|func| machine.initial(FuncRef { file: machine.file, func })).collect()
}

/// A policy that was met.
#[derive(Debug)]
pub struct Called {
    pub(super) policy: Value,
    pub(super) call: Value,
    pub(super) args: Vec<Value>,
    pub(super) state: State,
    pub(super) span: Span,
    pub(super) given: Given,
    /// What it is on other paths that come there.
    pub(super) others: Vec<(Value, State)>,
}

/// What became of a policy there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Given {
    /// It was called with what it runs.
    Called,
    /// It was made, as the setting of some client.
    Made,
    /// A client was made with it.
    Attached,
    /// It was made, to run what it will be given.
    Kept,
}

/// The state at the entry of the driver, its variables set.
fn driven(machine: &Machine<'_>, driver: FuncRef, what: &Driven<'_>, policy: &Value, start: &State) -> Option<State> {
    let mut given = vec![what.call.clone(), policy.clone()];
    if !what.args.is_empty() || what.form == Form::ClientConfig {
        given.push(Value::Tuple(what.args.clone().into()));
    }
    machine.at_entry_of(driver, start.clone(), &given)
}
