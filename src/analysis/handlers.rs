//! Context managers and handlers: which exceptions they take, and which go on.

use super::calls::Args;
use super::machine::{Machine, Out, Res};
use super::state::{Event, Failing, Gives, Object, State};
use super::status::StatusSet;
use super::value::{ANY, Exc, Node, Taint, Type, Value};
use crate::frontend::prelude;
use crate::models::{Kind, Models, Occurs};
use crate::source::Span;
use rustc_hash::FxHashSet;
use std::rc::Rc;

/// The statuses that error classes stand for, if all of them do.
pub(super) fn stands_for(models: &Models, classes: &[Rc<str>]) -> Option<StatusSet> {
    let of = |class: &Rc<str>| StatusSet::parse(models.exception(class)?.stands_for.as_deref()?);
    let sets = classes.iter().map(of).collect::<Option<Vec<_>>>()?;
    Some(sets.iter().fold(StatusSet::EMPTY, |all, set| all.or(set))).filter(|set| !set.is_empty())
}

/// Whether errors of a class are answers: they are raised on an error status, or asked for theirs, or a model says so.
pub(super) fn is_answer(models: &Models, class: &str) -> bool {
    let class = models.canonical(class);
    let told = models.exception(class).is_some_and(|entry| entry.http);
    told || models.entries().iter().any(|entry| {
        let by_status = || entry.status_error.as_deref().is_some_and(|error| models.canonical(error) == class);
        let asked = || entry.kind == Kind::Status && entry.types.iter().any(|ty| models.canonical(ty) == class);
        by_status() || asked()
    })
}

impl<'a> Machine<'a> {
    pub(super) fn enter_context(&mut self, mut state: State, manager: Value, span: Span, out: &mut Out) {
        let file = state.top().map_or(self.file, |frame| frame.func.file);
        if let Value::Inst(inst) = &manager
            && let Some(entry) = self.models(file).function(&inst.ty)
            && entry.kind == Kind::TimeLimit
        {
            let class = match inst.parts.first() {
                Some(Value::Path(class)) => class.clone(),
                _ => Rc::from(ANY),
            };
            state.limits.push((class, inst.timeout.flatten()));
            if let Some(frame) = state.frames.last_mut() {
                // The limit lasts to the end of the block, at most to the end of the function.
                frame.limits = frame.limits.min(state.limits.len() - 1);
            }
        }
        match &manager {
            Value::Future(_) => self.force(state, manager, span, out),
            Value::Sym(id) => {
                let ty = self.symbols.info(*id).and_then(|info| info.ty.clone());
                if let Some(Type::Own(class)) = ty {
                    let method =
                        self.project.method(class, "__enter__").or_else(|| self.project.method(class, "__aenter__"));
                    if let Some(func) = method
                        && let Ok(()) =
                            self.follow(&mut state, func, None, Some(manager.clone()), Args::default(), Gives::Returned)
                    {
                        out.push((state, Res::Called));
                        return;
                    }
                }
                out.push((state, Res::Value(manager)));
            }
            _ => out.push((state, Res::Value(manager))),
        }
    }

    pub(super) fn exit_context(&mut self, mut state: State, manager: &Value, exception: Option<Value>, out: &mut Out) {
        let file = state.top().map_or(self.file, |frame| frame.func.file);
        let kind = match manager {
            Value::Inst(inst) => self.models(file).function(&inst.ty).map(|entry| (entry.kind, inst.clone())),
            _ => None,
        };
        if self.is_attempt(manager) {
            return self.leave_attempt(state, manager, exception, out);
        }
        match (kind, exception) {
            (Some((Kind::TimeLimit, _)), exception) => {
                state.limits.pop();
                let value = if exception.is_some() { Value::Bool(false, Taint::NONE) } else { Value::None };
                out.push((state, Res::Value(value)));
            }
            (Some((Kind::Suppress, inst)), Some(exception)) => {
                let types = Value::Tuple(inst.parts.clone());
                self.handler(state, &exception, &types, out);
            }
            (_, Some(_)) => out.push((state, Res::Value(Value::Bool(false, Taint::NONE)))),
            (_, None) => out.push((state, Res::Value(Value::None))),
        }
    }

    /// Whether a handler takes an exception: the paths on which it does and does not.
    pub(super) fn handler(&mut self, state: State, exception: &Value, types: &Value, out: &mut Out) {
        let file = state.top().map_or(self.file, |frame| frame.func.file);
        let Value::Exc(exc) = exception else {
            let id = self.symbols.intern(Node::Is(exception.clone(), "handled".into()), Taint::FAILURE);
            out.push((state, Res::Value(Value::Sym(id))));
            return;
        };
        let mut wanted = Vec::new();
        let whole = self.class_paths(&state, types, &mut wanted, 4);
        let (mut taken, mut left, mut open) = (Vec::new(), Vec::new(), Vec::new());
        // Errors that the operation's model lists beside a wider one are not meant by the wider one.
        let listed: Rc<[Rc<str>]> =
            state.failed.as_ref().map_or_else(|| Rc::from([]), |failed| failed.op.raises.clone());
        // What was built here is of this class and of none below it.
        let built = exc.object.is_some() && exc.classes.iter().all(|class| &**class != ANY);
        for class in exc.classes.iter() {
            let known = self.models(file).exception(class);
            // An interrupt, or a mistake in the code, is of no class that models do not know.
            let apart = known.is_some_and(|entry| entry.interrupt || entry.occurs == Some(Occurs::Defect));
            let mut answer = if whole { Some(false) } else { None };
            let mut narrowed = Vec::new();
            for base in &wanted {
                let this = if &**class == ANY {
                    if self.catches_everything(file, base) { Some(true) } else { None }
                } else {
                    self.project.is_subclass(file, class, base)
                };
                let this = if this.is_none() && apart { Some(false) } else { this };
                match this {
                    Some(true) => answer = Some(true),
                    Some(false) => {
                        // A handler below a class takes some of what that class stands for.
                        let apart = |other: &Rc<str>| {
                            other != class && self.project.is_subclass(file, other, base) == Some(true)
                        };
                        if !built
                            && self.project.is_subclass(file, base, class) == Some(true)
                            && !listed.iter().any(apart)
                        {
                            narrowed.push(base.clone());
                            if answer == Some(false) {
                                answer = None;
                            }
                        }
                    }
                    None => {
                        if answer == Some(false) {
                            answer = None;
                        }
                        narrowed.push(base.clone());
                    }
                }
                if answer == Some(true) {
                    break;
                }
            }
            match answer {
                Some(true) => taken.push(class.clone()),
                Some(false) => left.push(class.clone()),
                None => {
                    // Classes that somebody else chose are such as pass with time.
                    let answers = known.is_some_and(|entry| entry.stands_for.is_some() || entry.content);
                    // Of whatever there may be, a class that is named takes only its own.
                    let named = &**class == ANY && !narrowed.is_empty();
                    if !whole && !apart && !answers && !named {
                        open.push(class.clone());
                    }
                    open.extend(narrowed);
                    left.push(class.clone());
                }
            }
        }
        taken.extend(open);
        let narrow = |classes: Vec<Rc<str>>| Value::Exc(Rc::new(Exc { classes: classes.into(), ..(**exc).clone() }));
        for (mut classes, truth) in [(taken, true), (left, false)] {
            // Several may have been narrowed to the same one; handler after handler, they would multiply.
            let mut seen = FxHashSet::default();
            classes.retain(|class| seen.insert(class.clone()));
            if classes.is_empty() {
                continue;
            }
            let mut state = state.clone();
            state.guessed |= truth && !whole && classes.iter().any(|class| &**class != ANY);
            if let Some(failed) = &state.failed
                && let Failing::Raises(all) = &failed.how
                && **all == *exc.classes
            {
                let how = Failing::Raises(classes.clone().into());
                state.failed = Some(Rc::new(super::state::Failed { how, ..(**failed).clone() }));
            }
            let narrowed = narrow(classes);
            let narrowed = if truth { self.with_answer(&mut state, file, narrowed) } else { narrowed };
            // The exception that is being handled is known to be one of these now.
            for frame in &mut state.frames {
                for value in Rc::make_mut(&mut frame.slots).iter_mut().flatten() {
                    match value {
                        Value::Variant(name, path, args) if args.contains(exception) => {
                            let narrow = |arg: &Value| if arg == exception { narrowed.clone() } else { arg.clone() };
                            *value = Value::Variant(name.clone(), path.clone(), args.iter().map(narrow).collect());
                        }
                        value if value == exception => *value = narrowed.clone(),
                        _ => {}
                    }
                }
                if frame.caught.as_ref() == Some(exception) {
                    frame.caught = Some(narrowed.clone());
                }
            }
            out.push((state, Res::Value(Value::Bool(truth, Taint::FAILURE))));
        }
    }

    /// Errors that stand for an answer's status carry that answer, whatever out of sight they come from. What the code
    /// asks of them then tells which statuses it repeats.
    fn with_answer(&self, state: &mut State, file: u32, error: Value) -> Value {
        let Value::Exc(exc) = &error else { return error };
        let Some(failed) = &state.failed else { return error };
        let raised = matches!(&failed.how, Failing::Raises(classes) if **classes == *exc.classes);
        let made_here = exc.object.is_some() && exc.object != failed.op.result;
        if !raised || made_here || exc.resp.or(exc.lost).is_some() || prelude::is(file) {
            return error;
        }
        let (models, place) = (self.models(file), failed.op.place);
        let answer = exc.classes.iter().find_map(|class| models.answer_of(class));
        let (Some(set), Some(answer)) = (stands_for(models, &exc.classes), answer) else { return error };
        let set = self.plan.answers.map_or(set, |answers| set.and(&answers));
        if set.is_empty() {
            return error;
        }
        Rc::make_mut(&mut state.resps).insert(place, set);
        Rc::make_mut(&mut state.resp_types).insert(place, answer.into());
        Value::Exc(Rc::new(Exc { resp: Some(place), ..(**exc).clone() }))
    }

    /// Notes where an exception is caught, on the paths on which it is or may be.
    pub(super) fn caught(&self, out: &mut Out, span: Span) {
        for (state, res) in out {
            if !matches!(res, Res::Value(Value::Bool(false, _) | Value::None)) {
                let at = self.at(state, span);
                state.push(Event::Caught(at));
            }
        }
    }

    pub(super) fn catches_everything(&self, file: u32, class: &str) -> bool {
        let models = self.models(file);
        models.exception(class).is_some_and(|entry| !entry.interrupt)
            && models.ancestors(class).len() <= 1
            && models.descendants(class).len() > 20
    }

    /// The classes that a handler names; false where some are not known.
    pub(super) fn class_paths(&mut self, state: &State, types: &Value, paths: &mut Vec<Rc<str>>, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        match types {
            Value::Path(path) => {
                let file = state.top().map_or(self.file, |frame| frame.func.file);
                paths.push(self.models(file).canonical(path).into());
                true
            }
            Value::Class(class) => {
                paths.push(self.project.class_path(*class).into());
                true
            }
            Value::Tuple(items) => {
                let mut whole = true;
                for item in items.iter() {
                    whole &= self.class_paths(state, item, paths, depth);
                }
                whole
            }
            Value::Object(id) => match state.objects.get(id).cloned() {
                Some(Object::List(items, true)) => self.class_paths(state, &Value::Tuple(items.into()), paths, depth),
                _ => false,
            },
            _ => false,
        }
    }

    /// What a raised value is as an exception.
    pub(super) fn exception_of(&mut self, state: &mut State, value: Value) -> Value {
        let file = state.top().map_or(self.file, |frame| frame.func.file);
        match &value {
            Value::Exc(_) => value,
            Value::Class(class) => self.raised(&[&self.project.class_path(*class)]),
            Value::Path(path) => self.raised(&[self.models(file).canonical(path)]),
            Value::Sym(id) => Value::Exc(Rc::new(Exc {
                classes: [Rc::from(ANY)].into(),
                resp: None,
                lost: None,
                args: Rc::from([]),
                object: Some(*id),
            })),
            _ => super::machine::any_exception(),
        }
    }
}
