//! Policies of the project's own that a library asks: after each answer, whether to send the request again.
//!
//! A type that implements the library's trait is the policy, and one method of it the judge: what it gives is awaited
//! and the request sent once more, or nothing, and the answer is given to the caller. The library's loop stands in the
//! prelude; it is run with the judge as the project wrote it.

use super::calls::Args;
use super::facts;
use super::leaving::class_of;
use super::machine::{End, Machine, Out, Plan, Res};
use super::policy::{Bound, Form, Role, Site};
use super::sites::{self, Found};
use super::state::State;
use super::value::{ClassRef, FuncRef, Type, Value};
use crate::frontend::prelude;
use crate::ir::{ClassId, Function, LoopKind, TypeRef};
use crate::models::{Entry, Kind};
use crate::source::Span;

/// The piece that such a trait is.
const JUDGE: &str = "judge";
/// The call of a client whose answers are of no type that is known.
const ANY_REQUEST: &str = "<request>";
/// Steps for coming to the loop.
const ENTRY_BUDGET: u64 = 2_000;

/// The site of a method by which a type decides whether a request is sent again.
pub(super) fn implemented(machine: &mut Machine<'_>, func: FuncRef, function: &Function) -> Option<Site> {
    let class = function.class?;
    let (entry, base) = trait_of(machine, func, class, &function.name)?;
    let call = sent(machine, func.file, entry, base);
    let file = prelude::file_for(machine.project.module(func.file)?.language);
    let driver = FuncRef { file, func: prelude::function(file, "drive_judged")? };
    machine.weight_cache.insert(func, true);
    let start = machine.enter(func);
    let mut given = function.params.iter().map(|param| start.top()?.slots.get(param.slot.0 as usize)?.clone());
    let (policy, request) = (given.next()??, given.next()??);
    let start = machine.at_entry_of(driver, start, &[call, Value::Func(func, None), policy, request])?;
    let head = machine.project.function(driver)?.loops.first()?.head;
    let blocks = machine.loops_of(driver).loops.first()?.1.clone();
    machine.plan = Plan { head: Some(head), stop_at_head: true, ..Plan::calm() };
    machine.allow(ENTRY_BUDGET);
    let came = machine.run(vec![start]).into_iter().filter(|finished| finished.end == End::Head);
    let entries: Vec<State> = came.map(|finished| sites::at_head(finished.state)).collect();
    let mut plan = Plan { explore: true, blocks: Some(blocks), head: Some(head), ..Plan::calm() };
    let explored = sites::explore(machine, &mut plan, entries.clone(), sites::Sieve::ALL);
    if explored.back.is_empty() {
        return None;
    }
    let found = Found {
        func,
        function,
        looped: driver,
        form: Form::ClientConfig,
        role: Role::Retry,
        span: function.span,
        header: machine.project.file(func.file)?.first_line(function.header),
        entries,
        plan,
        explored,
        loop_kind: Some(LoopKind::Endless),
        most: None,
        lost_result: None,
        // How often it says yes is up to it, and to what it was made with.
        limit: Some(Bound::Caller),
    };
    let mut site = facts::site(machine, &found)?;
    let name = machine.project.class(ClassRef { file: func.file, class })?.name.clone();
    site.operations.iter_mut().for_each(|operation| operation.text.clone_from(&name));
    Some(site)
}

/// The library's trait by which a class is a judge with this method, and what it says of the trait.
fn trait_of<'a>(
    machine: &Machine<'a>,
    func: FuncRef,
    class: ClassId,
    method: &str,
) -> Option<(&'a Entry, &'a TypeRef)> {
    let models = machine.project.models(func.file)?;
    let class = machine.project.class(ClassRef { file: func.file, class })?;
    class.bases.iter().find_map(|base| {
        let entry = models.function(&base.path).filter(|entry| entry.kind == Kind::Retry)?;
        let judges = entry.function.as_deref() == Some(JUDGE) && entry.hooks.iter().any(|hook| hook == method);
        judges.then_some((entry, base))
    })
}

/// What is sent: a request of the library's, where its answers are of the type that the trait is implemented for.
fn sent(machine: &Machine<'_>, file: u32, entry: &Entry, base: &TypeRef) -> Value {
    let models = machine.models(file);
    let sends = entry.repeats.as_deref().filter(|path| {
        let gives = models.function(path).and_then(|entry| entry.gives.as_deref());
        base.args.iter().any(|arg| gives == Some(models.canonical(&arg.path)))
    });
    Value::Path(sends.unwrap_or(ANY_REQUEST).into())
}

impl Machine<'_> {
    /// What the library's loop asks of such a policy.
    pub(super) fn judged(
        &mut self,
        mut state: State,
        policy: &Value,
        asked: &str,
        args: &Args,
        span: Span,
        out: &mut Out,
    ) {
        let arg = |index: usize| args.nth(index).cloned().unwrap_or(Value::None);
        let value = match (asked, arg(0)) {
            ("judge", Value::Func(judge, _)) => {
                let list = [arg(1), arg(2)].map(|value| (None, value)).to_vec();
                let args = Args { list, open: false, ..Args::default() };
                return self.call_function(state, judge, None, Some(policy.clone()), args, span, out);
            }
            ("next", answer) => self.judge_after(&state, policy, &[answer, arg(1)]),
            (_, answer) => {
                let pending = self.pending_in(&state, &answer);
                // What something that the policy holds has made is awaited, nobody knows for how long.
                let held = |id| state.results.get(id).is_some_and(|info| info.model.is_none());
                if matches!(&pending, Value::Sym(id) if held(id)) && class_of(self, &pending).is_none() {
                    let at = self.at(&state, span);
                    self.wait(&mut state, None, at, false);
                }
                pending
            }
        };
        out.push((state, Res::Value(value)));
    }

    /// What a judge's answer makes wait: a future, or the one that an object keeps.
    fn pending_in(&mut self, state: &State, answer: &Value) -> Value {
        let value = self.payload(answer, true);
        let Value::Sym(object) = &value else { return value };
        let mut fields: Vec<_> = state.heap.iter().filter(|((of, _), _)| of == object).collect();
        fields.sort_by(|a, b| a.0.cmp(b.0));
        let future = fields.into_iter().find(|(_, kept)| matches!(kept, Value::Future(_)));
        future.map_or(value, |(_, kept)| kept.clone())
    }

    /// The policy that is asked next: another one that the last answer, or what was awaited, brought; else the same.
    fn judge_after(&mut self, state: &State, policy: &Value, brought: &[Value; 2]) -> Value {
        let [answer, given] = brought;
        let answer = self.payload(answer, true);
        let class = |value: &Value| match value {
            Value::Sym(id) => match self.symbols.info(*id)?.ty {
                Some(Type::Own(class)) => Some(class),
                _ => None,
            },
            _ => None,
        };
        let Some(own) = class(policy) else { return policy.clone() };
        let kept = state.heap.iter().filter(|((of, _), _)| answer == Value::Sym(*of)).map(|(_, kept)| kept);
        let mut found: Vec<&Value> =
            [given].into_iter().chain(kept).filter(|value| class(value) == Some(own)).collect();
        found.sort_by_key(|value| match value {
            Value::Sym(id) => *id,
            _ => super::value::SymId(u32::MAX),
        });
        found.first().map_or(policy, |value| *value).clone()
    }
}
