//! Whether a request is the same one again: what it asks for, and how often that was drawn anew.

use std::rc::Rc;

use rustc_hash::FxHashSet;

use super::machine::Machine;
use super::state::{Event, Known3, Object, OpInfo, State};
use super::value::{FuncRef, Node, Num, Place, SymId, Taint, Value};
use crate::ir::BinOp;
use crate::models::Kind;

/// So many lists among the inputs of an operation are looked into.
const MAX_OBJECTS: usize = 64;
/// Lists in lists are looked into so deep.
pub(super) const SHOWN: u32 = 4;
/// So many keys of what is sent are looked at.
const MAX_KEYS: usize = 24;
/// What unknown functions gave is followed to what they were given so far.
const MADE_OF: u32 = 4;
/// Texts that are added to texts are looked through so deep.
const ADDED: u32 = 16;
/// With this begin the names under which it is kept what was put into something that came from elsewhere.
pub(super) const PUT: &str = "[";

impl Machine<'_> {
    /// The inputs of an operation, with how often the work that they stem from was taken.
    pub(super) fn signature(&self, state: &State, values: &[Value]) -> Rc<[Value]> {
        let mut out = Vec::new();
        for value in values {
            let taint = self.symbols.taint(value);
            // Counters, clocks and chance do not make another request of it.
            let aside = Taint::CLOCK.or(Taint::RANDOM).or(Taint::FRESH).or(Taint::COUNTER);
            if matches!(value, Value::Num(_)) && taint.has(aside) {
                continue;
            }
            let shown = self.shown(state, value, SHOWN);
            let made = self.times_taken(state, std::slice::from_ref(&shown));
            out.push(if matches!(shown, Value::Tuple(_)) { self.asked(&shown, ADDED) } else { shown });
            if made > 0 {
                out.push(Value::Num(Num::exact(f64::from(made))));
            }
        }
        out.into()
    }

    /// What is asked for in a body: a fixed text or the last error that is added to it, for whoever is asked again, does
    /// not make another request of it.
    fn asked(&self, value: &Value, depth: u32) -> Value {
        let Some(depth) = depth.checked_sub(1) else { return value.clone() };
        match value {
            Value::Tuple(items) => Value::Tuple(items.iter().map(|item| self.asked(item, depth)).collect()),
            Value::Sym(id) => match self.symbols.info(*id).map(|info| &info.node) {
                Some(Node::Call(name, parts)) if &**name == "format" => match &**parts {
                    [first @ Value::Sym(_), added @ ..] if added.iter().all(|part| self.adds_nothing(part)) => {
                        self.asked(first, depth)
                    }
                    _ => value.clone(),
                },
                Some(Node::Binary(BinOp::Add, first, added)) if self.adds_nothing(added) => self.asked(first, depth),
                _ => value.clone(),
            },
            other => other.clone(),
        }
    }

    fn adds_nothing(&self, part: &Value) -> bool {
        let of_answer = |part: &Value| matches!(part, Value::Resp(_) | Value::Body(_) | Value::Headers(_));
        if let Value::Sym(id) = part
            && let Some(Node::Call(name, parts)) = self.symbols.info(*id).map(|info| &info.node)
            && &**name == "format"
        {
            return parts.iter().all(|part| self.adds_nothing(part));
        }
        match part {
            Value::Str(_) | Value::Exc(_) => true,
            other => self.symbols.taint(other).has(Taint::FAILURE) && !self.symbols.mentions(other, &mut { of_answer }),
        }
    }

    /// How often an address was drawn anew: a name that chance gives names another thing. In what follows a question
    /// mark it only keeps caches out of the way.
    pub(super) fn times_named(&self, state: &State, url: &Value) -> u32 {
        let by_chance = |root| self.is_chance(root);
        if let Value::Sym(id) = url
            && let Some(Node::Call(name, parts)) = self.symbols.info(*id).map(|info| &info.node)
            && &**name == "format"
        {
            let path = |part: &&Value| !matches!(part, Value::Str(text) if text.contains('?'));
            let parts: Vec<Value> = parts.iter().take_while(path).cloned().collect();
            return self.times_made(state, &parts, by_chance);
        }
        self.times_made(state, std::slice::from_ref(url), by_chance)
    }

    /// Whether two operations ask for the same. What a helper makes of the same things is the same when it is called once
    /// more.
    pub(super) fn asks_alike(&self, state: &State, first: &OpInfo, second: &OpInfo) -> bool {
        let in_helper = first.at == second.at && first.base != second.base;
        first.inputs == second.inputs || in_helper && self.are_alike(state, &first.inputs, &second.inputs, MADE_OF)
    }

    fn are_alike(&self, state: &State, first: &[Value], second: &[Value], depth: u32) -> bool {
        let mut pairs = first.iter().zip(second);
        first.len() == second.len() && pairs.all(|(one, other)| self.is_alike(state, one, other, depth))
    }

    fn is_alike(&self, state: &State, one: &Value, other: &Value, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return one == other };
        match (one, other) {
            _ if one == other => true,
            (Value::Tuple(items), Value::Tuple(others)) => self.are_alike(state, items, others, depth),
            (Value::Sym(id), Value::Sym(again)) => match (state.results.get(id), state.results.get(again)) {
                (Some(made), Some(anew)) => {
                    made.at == anew.at && self.are_alike(state, &made.inputs, &anew.inputs, depth)
                }
                _ => match (self.symbols.info(*id).map(|it| &it.node), self.symbols.info(*again).map(|it| &it.node)) {
                    (Some(Node::Payload(inner, good)), Some(Node::Payload(anew, well))) => {
                        good == well && self.is_alike(state, inner, anew, depth)
                    }
                    (Some(Node::Call(name, parts)), Some(Node::Call(called, with))) => {
                        name == called && self.are_alike(state, parts, with, depth)
                    }
                    _ => false,
                },
            },
            _ => false,
        }
    }

    /// How often what chance gave, among some values, was drawn.
    pub(super) fn times_drawn(&self, state: &State, values: &[Value]) -> u32 {
        self.times_made(state, values, |root| self.is_chance(root))
    }

    /// How often a function was called, with nothing, whose result is part of some values: what it gives is its own
    /// affair. Where the result is the value, the same request may have been built once more.
    pub(super) fn times_given(&self, state: &State, values: &[Value]) -> u32 {
        let whole = |value: &Value| match value {
            Value::Sym(id) => match self.symbols.info(*id).map(|info| &info.node) {
                Some(Node::Payload(Value::Sym(inner), _)) => state.results.contains_key(inner),
                _ => state.results.contains_key(id),
            },
            _ => false,
        };
        let parts: Vec<Value> = values.iter().filter(|value| !whole(value)).cloned().collect();
        self.times_made(state, &parts, |root| state.results.get(&root).is_some_and(|info| info.bare))
    }

    /// How often the work that some values stem from was taken.
    pub(super) fn times_taken(&self, state: &State, values: &[Value]) -> u32 {
        let is_item = |root| self.symbols.info(root).is_some_and(|info| info.taint.has(Taint::ITEM));
        let mut times = self.times_made(state, values, is_item).wrapping_add(self.times_taken_from(state, values));
        // What an unknown function made of an item is another thing with another item.
        let mut roots = Vec::new();
        values.iter().for_each(|value| self.symbols.collect_roots(value, &mut roots));
        for given in 0..MADE_OF {
            let made_of: Vec<Value> = roots
                .drain(..)
                .filter_map(|root| state.results.get(&root))
                // A helper goes through items of its own, which are there again next time.
                .filter(|info| info.remote != Known3::Yes && info.through.len() <= 1)
                .flat_map(|info| info.inputs.iter().cloned())
                .collect();
            if made_of.is_empty() || given + 1 == MADE_OF {
                break;
            }
            times = times.wrapping_add(self.times_made(state, &made_of, is_item));
            made_of.iter().for_each(|value| self.symbols.collect_roots(value, &mut roots));
            roots.sort_unstable();
            roots.dedup();
        }
        times
    }

    /// How often something was taken out of the collections among some values, and not put back: what is left of them is
    /// another input.
    fn times_taken_from(&self, state: &State, values: &[Value]) -> u32 {
        if !state.objects.values().any(|object| matches!(object, Object::Store { back: None, .. })) {
            return 0;
        }
        let mut times = 0u32;
        for value in values {
            let _ = self.symbols.mentions(value, &mut |part| {
                let store = match part {
                    Value::Sym(_) => self.symbols.known(&Node::Attr(part.clone(), "[]".into())),
                    _ => None,
                };
                if let Some(Object::Store { taken, back: None }) = store.and_then(|store| state.objects.get(&store)) {
                    times = times.wrapping_add(state.versions.get(taken).copied().unwrap_or(0));
                }
                false
            });
        }
        times
    }

    fn is_chance(&self, root: SymId) -> bool {
        self.symbols.info(root).is_some_and(|info| info.taint.has(Taint::FRESH.or(Taint::RANDOM)))
    }

    fn times_made(&self, state: &State, values: &[Value], counts: impl Fn(SymId) -> bool) -> u32 {
        let mut roots = Vec::new();
        values.iter().for_each(|value| self.symbols.collect_roots(value, &mut roots));
        roots
            .iter()
            .filter(|root| counts(**root))
            .map(|root| state.versions.get(root).copied().unwrap_or(0))
            .fold(0u32, u32::wrapping_add)
    }

    /// A text that was put together, with dots for what is not known of it.
    pub(super) fn built_text(&self, id: SymId) -> Option<Rc<str>> {
        let text = self.built(id, 4)?;
        text.contains('/').then(|| text.into())
    }

    fn built(&self, id: SymId, depth: u32) -> Option<String> {
        let depth = depth.checked_sub(1)?;
        let part = |part: &Value| match part {
            Value::Str(text) => text.to_string(),
            Value::Sym(id) => self.built(*id, depth).unwrap_or_else(|| "…".to_string()),
            _ => "…".to_string(),
        };
        match &self.symbols.info(id)?.node {
            Node::Call(name, parts) if &**name == "format" => Some(match parts.split_first() {
                Some((Value::Str(text), given)) if text.contains('{') => filled(text, given.iter().map(part)),
                _ => parts.iter().map(part).collect(),
            }),
            Node::Binary(BinOp::Add, first, second) => Some(part(first) + &part(second)),
            _ => None,
        }
    }

    /// Whether what is posted to an address asks and changes nothing, by a word that a model knows: the last of its path,
    /// or, where the model writes `/word/`, any before it.
    pub(super) fn is_asked_at(&self, file: u32, target: &str) -> bool {
        let path = target.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/').to_ascii_lowercase();
        let asks =
            |name: String| self.models(file).method("*", &name).is_some_and(|entry| entry.kind == Kind::QueryPath);
        let mut words = path.rsplit('/');
        words.next().is_some_and(|last| asks(format!("/{last}"))) || words.any(|word| asks(format!("/{word}/")))
    }

    /// Whether what is sent by its keys asks and changes nothing, as a model says: `{one}`, or `{one other}`.
    pub(super) fn is_asked_with(&self, file: u32, state: &State, body: &Value) -> bool {
        let Value::Tuple(items) = self.shown(state, body, SHOWN) else { return false };
        let key = |pair: &[Value]| match pair.first() {
            Some(Value::Str(key)) => Some(key.clone()),
            _ => None,
        };
        let keys: Vec<Rc<str>> = items.chunks(2).filter_map(key).take(MAX_KEYS).collect();
        let asks =
            |name: String| self.models(file).method("*", &name).is_some_and(|entry| entry.kind == Kind::QueryPath);
        let both = |one: &Rc<str>| keys.iter().any(|other| asks(format!("{{{one} {other}}}")));
        keys.iter().any(|key| asks(format!("{{{key}}}")) || both(key))
    }

    /// Whether a body is a query of the language GraphQL: the document that is sent says that it only reads.
    pub(super) fn is_question(&self, state: &State, body: &Value) -> bool {
        let document = match self.shown(state, body, SHOWN) {
            Value::Tuple(items) => items.chunks(2).find_map(|pair| match pair {
                [Value::Str(key), document] if &**key == "query" => Some(document.clone()),
                _ => None,
            }),
            Value::Sym(id) => state.heap.get(&(id, "query".into())).cloned(),
            _ => None,
        };
        let begun = match &document {
            Some(Value::Str(text)) => Some(text),
            Some(Value::Sym(id)) => match self.symbols.info(*id).map(|info| &info.node) {
                Some(Node::Call(name, parts)) if &**name == "format" => match parts.first() {
                    Some(Value::Str(text)) => Some(text),
                    _ => None,
                },
                _ => None,
            },
            _ => None,
        };
        begun.is_some_and(|text| {
            let text = text.trim_start();
            let reads = ["query", "{", "fragment"].iter().any(|word| text.starts_with(word));
            reads && text.contains('{') && !text.contains("mutation")
        })
    }

    /// A value with what its collections hold now.
    pub(super) fn shown(&self, state: &State, value: &Value, depth: u32) -> Value {
        let Some(depth) = depth.checked_sub(1) else { return value.clone() };
        let all = |items: &[Value]| items.iter().map(|item| self.shown(state, item, depth)).collect::<Rc<[Value]>>();
        match value {
            Value::Object(id) => match state.objects.get(id) {
                Some(Object::List(items, _)) => Value::Tuple(all(items)),
                _ => Value::Tuple([value.clone()].into()),
            },
            Value::Tuple(items) => Value::Tuple(all(items)),
            Value::Sym(id) => {
                let put = self.put_into(state, *id, MADE_OF);
                match put.is_empty() {
                    true => value.clone(),
                    false => Value::Tuple([value.clone()].into_iter().chain(put).collect()),
                }
            }
            Value::Future(pending) => {
                let callee = match &pending.callee {
                    Value::Func(func, Some(outer)) => self.closure_shown(state, *func, *outer, depth),
                    other => self.shown(state, other, depth),
                };
                let args = pending.args.iter().map(|(_, arg)| self.shown(state, arg, depth));
                Value::Tuple([callee].into_iter().chain(args).collect())
            }
            other => other.clone(),
        }
    }

    /// What was put into something that came from elsewhere, or into what that was made of: names and values in turn.
    fn put_into(&self, state: &State, id: SymId, depth: u32) -> Vec<Value> {
        let Some(depth) = depth.checked_sub(1) else { return Vec::new() };
        let own = state.heap.range((id, Rc::from(PUT))..);
        let own = own.take_while(|((of, name), _)| *of == id && name.starts_with(PUT));
        let mut put: Vec<Value> =
            own.flat_map(|((_, name), value)| [Value::Str(name.clone()), value.clone()]).collect();
        if let Some(Node::Call(_, parts)) = self.symbols.info(id).map(|info| &info.node) {
            let parts = parts.iter().filter_map(|part| match part {
                Value::Sym(of) => Some(*of),
                _ => None,
            });
            put.extend(parts.flat_map(|of| self.put_into(state, of, depth)));
        }
        let made_of = state.results.get(&id).map(|info| &*info.inputs).unwrap_or_default();
        for part in made_of {
            if let Value::Tuple(items) = part
                && let [Value::Sym(_), Value::Str(name), ..] = &**items
                && name.starts_with(PUT)
            {
                put.extend(items.iter().skip(1).cloned());
            }
        }
        put
    }

    /// Whether a value that is put into a mapping of which nothing is known is another one each time: the number of a
    /// page, what stood there and more, something out of the last answer.
    pub(super) fn moves_on(&self, mapping: &Value, value: &Value) -> bool {
        let of_it = |part: &Value| part == mapping;
        matches!(value, Value::Num(_)) || self.is_told(value) || self.symbols.mentions(value, &mut { of_it })
    }

    /// Whether a value counts turns, or comes out of an answer.
    fn is_told(&self, value: &Value) -> bool {
        let of_answer = |part: &Value| matches!(part, Value::Body(_) | Value::Headers(_));
        self.symbols.taint(value).has(Taint::COUNTER) || self.symbols.mentions(value, &mut { of_answer })
    }

    /// Notes that something that came from elsewhere, or a part of it, is given another content: the number of a page, or
    /// what the last answer said. What an object does to itself is its own affair.
    pub(super) fn note_changed(&self, state: &mut State, object: &Value, name: &str, value: &Value) {
        let Value::Sym(object_id) = object else { return };
        let mut base = *object_id;
        while let Some(
            Node::Attr(Value::Sym(of), _) | Node::Index(Value::Sym(of), _) | Node::Payload(Value::Sym(of), _),
        ) = self.symbols.info(base).map(|info| &info.node)
        {
            base = *of;
        }
        let before = self.symbols.known(&Node::Attr(object.clone(), name.into())).map(Value::Sym);
        let more = |part: &Value| before.as_ref() == Some(part);
        if !self.is_told(value) && !self.symbols.mentions(value, &mut { more }) {
            return;
        }
        let own = state.frames.iter().any(|frame| {
            let function = self.project.function(frame.func);
            let this = function.and_then(|function| function.params.iter().find(|param| param.is_self));
            let this = this.and_then(|this| frame.slots.get(this.slot.0 as usize)?.as_ref());
            this == Some(&Value::Sym(base))
        });
        if !own {
            Rc::make_mut(&mut state.heap).insert((base, format!("{PUT}.{name}").into()), value.clone());
        }
    }

    /// A future's body with what it uses of the functions around it. It is another one whenever the function that makes
    /// it is called; whether it does the same depends on what it uses.
    fn closure_shown(&self, state: &State, func: FuncRef, outer: u32, depth: u32) -> Value {
        if state.frames.first().is_some_and(|frame| frame.id == outer) {
            return Value::Func(func, Some(outer));
        }
        let slots = self.project.function(func).map(|function| function.slots.as_slice()).unwrap_or_default();
        let used = slots.iter().filter_map(|slot| self.read_outer(state, func, Some(outer), slot.captured?));
        let tells = |value: &Value| matches!(value, Value::Sym(_) | Value::Str(_) | Value::Inst(_) | Value::Tuple(_));
        let used = used.filter(tells).map(|value| self.shown(state, &value, depth));
        Value::Tuple([Value::Func(func, None)].into_iter().chain(used).collect())
    }

    /// The operations, this one aside, whose answers are among some values.
    pub(super) fn sources(&self, state: &State, own: Place, values: &[Value]) -> Rc<[Place]> {
        let mut places = Vec::new();
        let mut work: Vec<Value> = values.to_vec();
        let mut seen = FxHashSet::default();
        while let Some(value) = work.pop() {
            let mut objects = Vec::new();
            let _ = self.symbols.mentions(&value, &mut |part| {
                match part {
                    Value::Resp(place) | Value::Body(place) | Value::Headers(place) | Value::Status(place, _) => {
                        places.push(*place);
                    }
                    Value::Sym(id) => places.extend(state.results.get(id).map(|info| info.place)),
                    Value::Object(id) => objects.push(*id),
                    _ => {}
                }
                false
            });
            for id in objects {
                if let Some(Object::List(items, _)) = state.objects.get(&id)
                    && seen.insert(id)
                    && seen.len() < MAX_OBJECTS
                {
                    work.extend(items.iter().cloned());
                }
            }
        }
        places.retain(|place| *place != own);
        places.sort_unstable();
        places.dedup();
        places.into()
    }
}

/// Whether what an operation is given comes of another question this time: that was asked again since the operation
/// failed, of the next address or file.
pub(super) fn is_fed_anew(machine: &Machine<'_>, state: &State, again: &OpInfo) -> bool {
    let events = state.events();
    let failed = events.iter().rposition(|event| matches!(event, Event::Fail(..))).unwrap_or(0);
    let (before, after) = events.split_at(failed);
    let asked = |events: &[&Event], place: Place| {
        events.iter().rev().find_map(|event| match event {
            Event::Op(info) if info.place == place => Some(info.inputs.clone()),
            _ => None,
        })
    };
    // Another address or thing out of several: what else differs may only have been made anew.
    let is_thing = |value: &Value| match value {
        Value::Str(_) => true,
        Value::Sym(id) => machine.symbols.info(*id).is_some_and(|info| {
            matches!(info.node, Node::Item(_)) || info.taint.has(Taint::ITEM) && !info.taint.has(Taint::COUNTER)
        }),
        _ => false,
    };
    // What was reckoned out of several inputs is another part of them.
    let aside = Taint::COUNTER.or(Taint::CLOCK).or(Taint::RANDOM).or(Taint::FAILURE).or(Taint::CALL);
    let is_part = |value: &Value| {
        let mut given: FxHashSet<SymId> = FxHashSet::default();
        let _ = machine.symbols.mentions(value, &mut |part| {
            let param = |id: &SymId| matches!(machine.symbols.info(*id).map(|info| &info.node), Some(Node::Param(..)));
            given.extend(match part {
                Value::Sym(id) if param(id) => Some(*id),
                _ => None,
            });
            false
        });
        given.len() > 1
            && !machine.symbols.taint(value).has(aside)
            && matches!(value, Value::Sym(id) if machine.symbols.info(*id).is_some_and(|info| {
                matches!(info.node, Node::Binary(..) | Node::Linear(..) | Node::Math(..))
            }))
    };
    let another = |(one, other): (&Value, &Value)| {
        one != other && (is_thing(one) && is_thing(other) || is_part(one) != is_part(other))
    };
    is_picked_anew(machine, &events, again)
        || again.sources.iter().any(|source| match (asked(before, *source), asked(after, *source)) {
            (Some(first), Some(second)) => first.len() == second.len() && first.iter().zip(second.iter()).any(another),
            _ => false,
        })
}

/// Whether an operation on a thing is one of those that are asked for with another thing: some test picks, by both, what
/// is to be done, in a turn that took the next.
fn is_picked_anew(machine: &Machine<'_>, events: &[&Event], again: &OpInfo) -> bool {
    let is_item = |root: &SymId| machine.symbols.info(*root).is_some_and(|info| matches!(info.node, Node::Item(_)));
    let items = |values: &[Value]| {
        let mut roots = Vec::new();
        values.iter().for_each(|value| machine.symbols.collect_roots(value, &mut roots));
        roots.retain(is_item);
        roots
    };
    let own = items(&again.inputs);
    let mut turn = events.iter().rev().take_while(|event| !matches!(event, Event::Turn(_)));
    !own.is_empty()
        && turn.any(|event| match event {
            Event::Decide { sym, .. } => {
                let asked = items(&[Value::Sym(*sym)]);
                asked.iter().any(|root| own.contains(root)) && asked.iter().any(|root| !own.contains(root))
            }
            _ => false,
        })
}

/// A text with what is put into its places (`{}`, `{name}`, `{0}`), in their order.
fn filled(text: &str, mut given: impl Iterator<Item = String>) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        let Some((_, later)) = after.split_once('}') else { break };
        out.push_str(given.next().as_deref().unwrap_or("…"));
        rest = later;
    }
    out + rest
}
