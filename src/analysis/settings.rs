//! Settings: a client that is told to repeat its requests by itself.
//!
//! The policy is a piece as any other, and the library's loop is run as it is for a decorator, with any request of such
//! a client (the entry's `repeats`) in the place of a decorated function. What is particular to clients stands here:
//! which answers are tried again, for which methods, and how long the server asks to wait.

use std::rc::Rc;

use rustc_hash::FxHashSet;

use super::arith;
use super::calls::{Args, Call};
use super::combinators::{Called, Given};
use super::machine::{Advice, Machine, Out, Res};
use super::pieces::{DEPTH, PIECE, Piece, here, marked};
use super::state::{Event, State};
use super::status::StatusSet;
use super::value::{ANY, ClassRef, Exc, Inst, Node, Pending, Place, RespId, Taint, Value};
use crate::ir::{BinOp, Callee, Function, Instr, Module, Op};
use crate::models::{Entry, Kind, Models};
use crate::source::Span;

/// The part of a policy that says which answers are tried again, where a class does that for itself.
const JUDGE: &str = "judge";
/// The part of a policy that says that a class decides for itself how long it waits.
pub(super) const OWN_WAIT: &str = "own-wait";
/// So many policies of one function are looked at.
const MOST: usize = 32;
/// So many more that come to the same place on different paths.
const MOST_PATHS: usize = 3;

/// Whether an entry says what is told to a client.
pub(super) fn is_setting(entry: &Entry) -> bool {
    entry.repeats.is_some() || entry.policy.is_some()
}

/// The names, without their paths, of all that is told to a client.
pub(super) fn names(models: &Models) -> FxHashSet<&str> {
    let settings = models.entries().iter().filter(|entry| is_setting(entry));
    settings
        .flat_map(|entry| entry.functions.iter().map(|path| last(path)).chain(entry.names.iter().map(|it| &**it)))
        .collect()
}

fn last(path: &str) -> &str {
    path.rsplit(['.', ':']).next().unwrap_or_default()
}

/// Whether something is named in a function that may be a setting: most functions hold none, and need not be run.
pub(super) fn may_set(models: &Models, names: &FxHashSet<&str>, module: &Module, function: &Function) -> bool {
    function.blocks.iter().flat_map(|block| &block.instrs).any(|instr| match &instr.op {
        Op::Path(path) => names.contains(last(path)),
        Op::Attr(_, name) | Op::Call { callee: Callee::Method { name, .. }, .. } => names.contains(name.as_str()),
        Op::Call { callee: Callee::Super { name }, .. } => name == "__init__",
        Op::Class(id) => {
            let bases = module.classes.get(id.0 as usize).map(|class| class.bases.as_slice()).unwrap_or_default();
            bases.iter().any(|base| models.function(&base.path).is_some_and(is_setting))
        }
        _ => false,
    })
}

impl<'a> Machine<'a> {
    /// Notes a policy that was made for a client, in the place of one that it was made of.
    pub(super) fn note_setting(
        &mut self,
        state: &State,
        old: Option<&Value>,
        policy: &Value,
        span: Span,
        attached: bool,
    ) {
        if self.driven.is_none() || state.frames.len() != 1 || marked(policy, PIECE).is_none() {
            return;
        }
        let Some(piece) = self.piece(here(state), policy) else { return };
        if piece.word() != "policy" || !piece.is_told() || piece.entry.repeats.is_none() {
            return;
        }
        let Some(call) = self.any_request(state, &piece) else { return };
        let Some(driven) = self.driven.as_mut() else { return };
        if let Some(old) = old {
            driven.retain(|known| known.given != Given::Made || known.policy != *old);
        }
        let here = |known: &&mut Called| known.span == span && known.given != Given::Called;
        if let Some(known) = driven.iter_mut().find(here) {
            let same = known.policy == *policy || known.others.iter().any(|(other, _)| other == policy);
            if !same && known.others.len() < MOST_PATHS {
                known.others.push((policy.clone(), state.clone()));
            }
            return;
        }
        if driven.len() >= MOST {
            return;
        }
        let given = if attached { Given::Attached } else { Given::Made };
        let (policy, state) = (policy.clone(), state.clone());
        driven.push(Called { policy, call, args: Vec::new(), state, span, given, others: Vec::new() });
    }

    /// Notes that a client was made that repeats as it was told.
    pub(super) fn note_attached(&mut self, state: &State, call: &Call<'a>) {
        if self.driven.is_none() || state.frames.len() != 1 {
            return;
        }
        let (Some(path), Some(param)) = (&call.entry.policy, &call.entry.retries) else { return };
        let policy = match call.args.get(param) {
            Some(given @ Value::Inst(_)) => match call.entry.amount.as_ref().map(|param| call.args.get(param)) {
                Some(limit) if !call.args.open => {
                    let within = limited(given, limit.cloned().unwrap_or(Value::None));
                    return self.note_setting(state, Some(given), &within, call.span, true);
                }
                _ => given.clone(),
            },
            Some(number @ Value::Num(_)) => {
                let Some(entry) = self.models(here(state)).function(path) else { return };
                let Some(attempts) = entry.takes.get("attempts") else { return };
                let list = vec![(attempts.name.as_deref().map(Rc::from), number.clone())];
                self.make_piece(here(state), entry, &Args { list, open: false, ..Args::default() }, None, Some(state))
                    .value()
            }
            // How, and whether, it repeats cannot be seen.
            _ => return,
        };
        self.note_setting(state, None, &policy, call.span, true);
    }

    /// Notes what a class passes on to a base that repeats as it is told.
    pub(super) fn note_inherited(&mut self, state: &State, class: ClassRef, args: Args, span: Span) {
        let models = self.models(class.file);
        let bases = self.project.class(class).map(|class| class.bases.as_slice()).unwrap_or_default();
        let Some(entry) = bases.iter().find_map(|base| models.function(&base.path)).filter(|entry| is_setting(entry))
        else {
            return;
        };
        if entry.hooks.iter().any(|hook| self.project.method(class, hook).is_some()) {
            return;
        }
        if entry.kind == Kind::Retry {
            let piece = self.make_piece(class.file, entry, &args, None, Some(state));
            let policy = self.with_hooks(&mut state.clone(), class, piece);
            let decides = entry.judge.as_deref().and_then(|judge| self.decides(class, judge));
            let span = decides.filter(|_| class.file == here(state)).unwrap_or(span);
            return self.note_setting(state, None, &policy, span, true);
        }
        let path = entry.functions.first().map_or("", String::as_str);
        let call = Call { entry, receiver: None, path: path.into(), name: "__init__".into(), args, span };
        self.note_attached(state, &call);
    }

    /// The method of a class that decides what is tried again: the judge that the library asks, or another one of the
    /// class that the judge hands the status on to.
    fn decides(&self, class: ClassRef, judge: &str) -> Option<Span> {
        let mut func = self.project.method(class, judge)?;
        let mut function = self.project.function(func)?;
        for _ in 0..DEPTH {
            let status = function.params.get(2).map(|param| param.slot)?;
            let mut calls =
                function.blocks.iter().flat_map(|block| &block.instrs).filter_map(|instr| match &instr.op {
                    Op::Call { callee: Callee::Method { name, .. }, args }
                        if args.iter().any(|arg| arg.value == status) =>
                    {
                        self.project.method(class, name)
                    }
                    _ => None,
                });
            match calls.next().filter(|other| *other != func && calls.next().is_none()) {
                Some(other) => (func, function) = (other, self.project.function(other)?),
                None => break,
            }
        }
        Some(function.span)
    }

    /// The name of the class of the project that decides what a policy tries again.
    pub(super) fn deciding_class(&self, piece: &Piece<'a>) -> Option<&'a String> {
        let Value::Partial(pending) = piece.part(JUDGE)? else { return None };
        let Value::Func(judge, _) = &pending.callee else { return None };
        let class = self.project.function(*judge)?.class?;
        Some(&self.project.class(ClassRef { file: judge.file, class })?.name)
    }

    /// The policy of a class that is made of one: what the class decides for itself is its own, or not known.
    fn with_hooks(&mut self, state: &mut State, class: ClassRef, piece: Piece<'a>) -> Value {
        let mut inst = (*piece.inst).clone();
        let mut more: Vec<(&str, Value)> = Vec::new();
        let constructor = state.top().and_then(|frame| Some((frame, self.project.function(frame.func)?)));
        let constructor = constructor
            .filter(|(frame, function)| frame.func.file == class.file && function.class == Some(class.class));
        let this = constructor.and_then(|(frame, function)| {
            let slot = function.params.iter().find(|param| param.is_self)?.slot;
            frame.slots.get(slot.0 as usize)?.clone()
        });
        // What a caller hands through the constructor may be a number of attempts.
        let through = constructor.and_then(|(frame, function)| {
            let slot = function.params.iter().find(|param| param.is_named_rest)?.slot;
            frame.slots.get(slot.0 as usize)?.clone()
        });
        if piece.open()
            && let Some(through) = through
            && piece.entry.takes.contains_key("attempts")
            && piece.part("attempts").is_none()
        {
            let attempts = self.symbols.intern(Node::Attr(through, "attempts".into()), Taint::INPUT);
            more.push(("attempts", Value::Sym(attempts)));
        }
        if piece.entry.paces.iter().any(|hook| self.project.method(class, hook).is_some()) {
            more.push((OWN_WAIT, Value::Bool(true, Taint::NONE)));
        }
        let judge = piece.entry.judge.as_deref().and_then(|hook| self.project.method(class, hook));
        if let Some(judge) = judge {
            let callee = Value::Func(judge, None);
            let (this, place) = (this.unwrap_or_else(|| self.unknown(state, Taint::INPUT)), self.place(state));
            let args = [(Some(Rc::from("self")), this), (None, self.unknown(state, Taint::INPUT))].into();
            more.push((JUDGE, Value::Partial(Rc::new(Pending { callee, args, place }))));
        }
        let more = more.into_iter().flat_map(|(key, value)| [Value::Str(key.into()), value]);
        inst.parts = inst.parts.iter().cloned().chain(more).collect();
        Value::Inst(Rc::new(inst))
    }

    /// Any request of a client with such a policy: of the methods that it repeats, the one that does most harm.
    fn any_request(&mut self, state: &State, piece: &Piece<'a>) -> Option<Value> {
        let path: Rc<str> = piece.entry.repeats.as_deref()?.into();
        let callee = Value::Path(path);
        let Some(verb) = piece.part("methods").and_then(|methods| self.worst_method(here(state), methods)) else {
            return Some(callee);
        };
        let args = [(Some(Rc::from("method")), Value::Str(verb.into()))].into();
        Some(Value::Partial(Rc::new(Pending { callee, args, place: self.place(state) })))
    }

    /// A request of a client with such a policy by a method that it is seen to send; `None` where the policy says which
    /// methods it repeats.
    pub(super) fn sent_by(&mut self, file: u32, policy: &Value, state: &State, verb: &str) -> Option<Value> {
        let piece = self.piece(file, policy).filter(|piece| !piece.entry.takes.contains_key("methods"))?;
        let callee = Value::Path(piece.entry.repeats.as_deref()?.into());
        let args = [(Some(Rc::from("method")), Value::Str(verb.into()))].into();
        Some(Value::Partial(Rc::new(Pending { callee, args, place: self.place(state) })))
    }

    /// Whether a policy that says which methods it repeats leaves this one out. Of those that say nothing, the
    /// idempotent ones are repeated.
    pub(super) fn leaves_out(&mut self, file: u32, policy: &Value, verb: &str) -> bool {
        let says = |piece: &Piece<'a>| piece.entry.takes.contains_key("methods");
        let Some(piece) = self.piece(file, policy).filter(says) else { return false };
        match piece.part("methods") {
            None => !piece.open() && matches!(verb, "POST" | "PATCH"),
            Some(Value::Tuple(items)) => {
                let other = |item: &Value| matches!(item, Value::Str(text) if !text.eq_ignore_ascii_case(verb));
                !items.is_empty() && items.iter().all(other)
            }
            _ => false,
        }
    }

    /// Of the methods that are repeated, one that a repetition does twice. `None` and `False` stand for all.
    fn worst_method(&self, file: u32, methods: &Value) -> Option<&'static str> {
        // What holds where none are given may be a text of the model's.
        if let Value::Path(path) = methods
            && let Some(text) = self.models(file).exact(path).and_then(|entry| entry.value_text.as_deref())
        {
            return ["POST", "PATCH"].into_iter().find(|name| *name == text);
        }
        if matches!(methods, Value::None | Value::Bool(false, _)) {
            return Some("POST");
        }
        // Some are taken away: which are left is not known.
        let mut less = |value: &Value| match value {
            Value::Sym(id) => {
                self.symbols.info(*id).is_some_and(|info| matches!(info.node, Node::Binary(BinOp::Sub, ..)))
            }
            _ => false,
        };
        if self.symbols.mentions(methods, &mut less) {
            return None;
        }
        let named = |name: &str| {
            let mut is = |value: &Value| matches!(value, Value::Str(text) if text.eq_ignore_ascii_case(name));
            self.symbols.mentions(methods, &mut is)
        };
        ["POST", "PATCH"].into_iter().find(|name| named(name))
    }

    /// Whether an answer is one that is tried again.
    pub(super) fn unwanted_answer(&mut self, state: State, piece: &Piece<'a>, resp: RespId, span: Span, out: &mut Out) {
        if let Some(judge) = piece.part(JUDGE).cloned() {
            return self.ask(state, &judge, Value::Status(resp, arith::identity_status()), out, span);
        }
        let parse = |text: &Option<String>| text.as_deref().and_then(StatusSet::parse).unwrap_or_default();
        let set = match piece.part("statuses") {
            None if piece.open() && piece.entry.takes.contains_key("statuses") => None,
            None | Some(Value::None) => Some(parse(&piece.entry.statuses)),
            Some(given) => statuses_in(given),
        };
        let Some(mut set) = set else {
            let which = piece.part("statuses").cloned().unwrap_or(Value::None);
            return self.ask(state, &which, Value::Resp(resp), out, span);
        };
        set = set.or(&parse(&piece.entry.besides));
        if self.plan.advice != Advice::Absent && heeds(piece) {
            set = set.or(&parse(&piece.entry.advised));
        }
        out.push((state, Res::Value(Value::StatusIn(resp, set))));
    }

    /// The wait that the server asks for, where the library follows it.
    pub(super) fn advised_pause(
        &mut self,
        state: &mut State,
        piece: &Piece<'a>,
        resp: Place,
        span: Span,
    ) -> Option<Value> {
        if piece.entry.repeats.is_none() || !heeds(piece) {
            return None;
        }
        let at = self.at(state, span);
        if self.advice(state, resp, at) == Value::None {
            return None;
        }
        if self.plan.advice == Advice::Date {
            state.push(Event::ParsedDate);
        }
        Some(Value::Sym(self.symbols.intern(Node::RetryAfter(resp), Taint::SERVER.or(Taint::FAILURE))))
    }

    /// Whether as many attempts were made as there may be for this kind of failure: for connecting, for what comes
    /// after, and for answers.
    pub(super) fn counted_by_kind(
        &mut self,
        state: &State,
        policy: &Piece<'a>,
        attempt: &Value,
        error: &Value,
    ) -> Option<Value> {
        let models = self.models(here(state));
        let before_send = |class: &Rc<str>| models.exception(class).is_some_and(|entry| entry.before_send);
        let kinds: &[&str] = match error {
            Value::Exc(exc) if exc.classes.iter().all(before_send) => &["connects"],
            Value::Exc(exc) if exc.classes.iter().any(|class| &**class == ANY || before_send(class)) => {
                &["connects", "reads"]
            }
            Value::Exc(_) => &["reads"],
            _ => &["answers"],
        };
        let limits: Option<Vec<Value>> =
            kinds.iter().map(|kind| policy.part(kind).filter(|limit| **limit != Value::None).cloned()).collect();
        let tests: Vec<Value> = limits?.iter().map(|limit| self.counted(policy.entry, limit, attempt)).collect();
        Some(self.fold(&tests, false))
    }

    /// What the requests of a client fail with, less the kinds of which none is repeated.
    pub(super) fn repeated_classes(&self, state: &State, policy: &Piece<'a>) -> Vec<String> {
        let models = self.models(here(state));
        let raises = policy.entry.repeats.as_deref().and_then(|path| models.function(path));
        let off = |class: &str| {
            let before_send = models.exception(class).is_some_and(|entry| entry.before_send);
            match policy.part(if before_send { "connects" } else { "reads" }) {
                Some(Value::Bool(false, _)) => true,
                Some(Value::Num(limit)) => limit.hi.0 <= 0.0,
                _ => false,
            }
        };
        raises.into_iter().flat_map(|entry| &entry.raises).filter(|class| !off(class)).cloned().collect()
    }

    /// How often a policy sends a request again, for whoever counts the layers.
    pub(super) fn count_retries(&mut self, file: u32, piece: &mut Piece<'a>) {
        if piece.entry.repeats.is_none() {
            return;
        }
        // The waits of a policy may come to an end by themselves.
        let counted = match (piece.part("attempts"), piece.part("wait").cloned()) {
            (None, Some(wait)) => self.piece(file, &wait).unwrap_or_else(|| piece.clone()),
            _ => piece.clone(),
        };
        let number = match counted.part("attempts") {
            Some(Value::Num(num)) => num.single().filter(|number| (0.0..1.0e6).contains(number)),
            Some(Value::Bool(false, _)) => Some(0.0),
            _ => None,
        };
        let after_first = counted.entry.counts == Some(crate::models::Counts::Retries);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let retries = number.map(|number| if after_first { number as u32 } else { (number as u32).saturating_sub(1) });
        Rc::make_mut(&mut piece.inst).retries = retries;
    }

    /// A policy, or a wait of one, that is written as its fields.
    pub(super) fn piece_of_fields(
        &mut self,
        state: &State,
        path: &str,
        fields: &[(&String, Value)],
        base: Option<&Value>,
        span: Span,
    ) -> Option<Value> {
        let file = here(state);
        let entry = self.models(file).exact(path).filter(|entry| entry.kind == Kind::Retry)?;
        let list = fields.iter().map(|(name, value)| (Some(Rc::from(name.as_str())), value.clone())).collect();
        // What the rest is of is known where it is the default.
        let known =
            base.is_none_or(|base| self.piece(file, base).is_some_and(|piece| std::ptr::eq(piece.entry, entry)));
        let piece =
            self.make_piece(file, entry, &Args { list, open: !known, ..Args::default() }, None, Some(state)).value();
        self.note_setting(state, base, &piece, span, false);
        Some(piece)
    }

    /// The arguments with those that stand in a mapping among them.
    pub(super) fn with_more(&self, entry: &Entry, args: &Args, state: Option<&State>) -> Args {
        let mut args = args.clone();
        let Some(more) = entry.takes.get("more").and_then(|param| args.get(param)).cloned() else { return args };
        let items = match (&more, state) {
            (Value::None, _) => Some(Rc::from([])),
            (more, Some(state)) => self.spread(state, more),
            (Value::Tuple(items), None) => Some(items.clone()),
            _ => None,
        };
        match items {
            Some(items) => args.push_pairs(&items),
            None => args.open = true,
        }
        args
    }

    /// Of the waits that a policy may have, the one that it is given the arguments of.
    pub(super) fn wait_by_its_arguments(
        &mut self,
        file: u32,
        entry: &Entry,
        args: &Args,
        state: Option<&State>,
    ) -> Option<Value> {
        let list = args.list.iter().filter(|(name, _)| name.is_some()).cloned().collect();
        let named = Args { list, open: args.open, ..Args::default() };
        entry.waits.iter().find_map(|path| {
            let wait = self.models(file).function(path)?;
            let piece = self.make_piece(file, wait, &named, None, state);
            piece.is_told().then(|| piece.value())
        })
    }
}

impl<'a> Machine<'a> {
    /// Whether a method that any value may have is meant by which a task asks to be run again: one of a parameter, in a
    /// file that imports the library.
    pub(super) fn is_task(&self, file: u32, entry: &Entry, receiver: &Value) -> bool {
        let given = match receiver {
            Value::Sym(id) => self.symbols.info(*id).is_some_and(|info| matches!(info.node, Node::Param(..))),
            _ => false,
        };
        given && entry.function.as_deref() == Some("again") && self.imports_library(file, entry)
    }

    /// Whether a function may ask the queue of its task to be run again.
    pub(super) fn may_ask_again(&self, piece: &Piece<'a>, function: &Function) -> bool {
        let asks = |instr: &Instr| match &instr.op {
            Op::Call { callee: Callee::Method { name, .. }, .. } => {
                let entry = Models::method(self.models(self.file), "*", name);
                entry.is_some_and(|entry| entry.function.as_deref() == Some("again"))
            }
            _ => false,
        };
        let asked = || function.blocks.iter().flat_map(|block| &block.instrs).any(asks);
        piece.word() == "policy" && piece.entry.again.is_some() && asked()
    }

    /// A task asks to be run again: it leaves with what its queue takes for that.
    pub(super) fn run_again(&mut self, state: State, call: &Call<'a>, out: &mut Out) {
        let part = |key: &str| call.entry.takes.get(key).and_then(|param| call.args.get(param)).cloned();
        let class: Rc<str> = call.entry.again.as_deref().unwrap_or(ANY).into();
        let args = [part("amount").unwrap_or(Value::None), part("attempts").unwrap_or(Value::None)].into();
        let asked = Exc { classes: [class].into(), resp: None, lost: None, args, object: None };
        out.push((state, Res::Raise(Value::Exc(Rc::new(asked)))));
    }
}

/// What a task asked for that left so that it is run again: how long to wait, and how often in all.
pub(super) fn asks_again<'v>(piece: &Piece<'_>, error: &'v Value) -> Option<&'v [Value]> {
    let class = piece.entry.again.as_deref()?;
    match error {
        Value::Exc(exc) if exc.classes.iter().any(|known| &**known == class) => Some(&exc.args),
        _ => None,
    }
}

/// A policy whose attempts are all made within a limit of time.
fn limited(policy: &Value, limit: Value) -> Value {
    let Value::Inst(inst) = policy else { return policy.clone() };
    let mut parts = inst.parts.to_vec();
    if parts.len() >= 2 {
        // The first that holds is read.
        parts.splice(2..2, [Value::Str("limit".into()), limit]);
    }
    Value::Inst(Rc::new(Inst { parts: parts.into(), ..(**inst).clone() }))
}

/// The policy as it was before it was told of such a limit.
pub(super) fn unlimited(policy: &Value) -> Value {
    let Value::Inst(inst) = policy else { return policy.clone() };
    let mut parts = inst.parts.to_vec();
    let is_limit = |part: Option<&Value>| matches!(part, Some(Value::Str(key)) if &**key == "limit");
    if is_limit(parts.get(2)) {
        parts.drain(2..4);
    }
    Value::Inst(Rc::new(Inst { parts: parts.into(), ..(**inst).clone() }))
}

/// Whether the library follows Retry-After, and was not told otherwise.
fn heeds(piece: &Piece<'_>) -> bool {
    let asked = piece.entry.takes.contains_key("advice") || piece.entry.advised.is_some();
    asked && !matches!(piece.part("advice"), Some(Value::None | Value::Bool(false, _)))
}

/// The statuses of a list; `None` where it cannot be seen.
fn statuses_in(value: &Value) -> Option<StatusSet> {
    match value {
        Value::Num(num) =>
        {
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            num.single().filter(|number| (100.0..600.0).contains(number)).map(|number| StatusSet::one(number as u16))
        }
        Value::Bool(false, _) => Some(StatusSet::EMPTY),
        Value::Tuple(items) => items.iter().try_fold(StatusSet::EMPTY, |set, item| Some(set.or(&statuses_in(item)?))),
        Value::Variant(_, _, args) => args.first().and_then(statuses_in),
        _ => None,
    }
}
