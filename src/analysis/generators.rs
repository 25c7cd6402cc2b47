//! Generators, and iterators of the project's own classes: each item is what their code gives when it is run on from
//! where it stopped.
//!
//! A generator that waits is an activation that is kept ([`Object::Generator`]). To take an item is to put it on top of
//! the activations and to run on; at the next `yield` it is kept again, and the item goes where it is wanted. So each
//! item is what the body makes of the last one, a body that ends ends the loop over it, and one that does not, does not.

use std::rc::Rc;

use super::calls::Args;
use super::follow::SMALL;
use super::machine::{Finished, Machine, Out, Res};
use super::memory::last_part;
use super::state::{Event, Frame, Gives, NoMore, Object, State, Taking};
use super::value::{ClassRef, FuncRef, Node, Num, SymId, Taint, Type, Value};
use crate::ir::{BinOp, Function, FunctionKind, Term};
use crate::source::Span;

/// The methods that give the next item of an iterator of the project's own.
const NEXT: [&str; 3] = ["__next__", "next", "__anext__"];
/// Those that make one.
const ITER: [&str; 3] = ["__iter__", "into_iter", "__aiter__"];

impl<'a> Machine<'a> {
    /// What a call of a generator function gives, where its body can be run: it is small, stands for itself, and asks
    /// nobody for anything.
    pub(super) fn generator(
        &mut self,
        state: &mut State,
        func: FuncRef,
        outer: Option<u32>,
        this: Option<&Value>,
        args: &Args,
    ) -> Option<Value> {
        let function = self.project.function(func).filter(|function| function.is_generator)?;
        let runs = function.kind == FunctionKind::Named
            && function.decorators.is_empty()
            && function.blocks.len() <= 2 * SMALL
            && self.may_follow(state, func)
            && !self.acts(func, super::follow::Sought::Ask, 3);
        if !runs {
            return None;
        }
        let slots = self.bind_params(state, func, this.cloned(), args);
        let place = self.place(state);
        let chain = self.chain_here(state);
        let frame = Frame { chain, ..Frame::at_entry(func, slots, state.next_frame, outer) };
        state.next_frame += 1;
        let id = self.fresh(state, Node::New(place), Taint::NONE);
        self.symbols.set_type(id, Type::Other(super::body::GENERATOR.into()));
        Rc::make_mut(&mut state.objects).insert(id, Object::Generator(Some(Rc::new(frame))));
        state.push(Event::Renewed(id));
        Some(Value::Object(id))
    }

    /// Runs on what gives the next item of an iterator, where that is code of the project's: whether there may be one.
    /// `None` where it is not.
    pub(super) fn run_on(&mut self, mut state: State, iterator: &Value, end: NoMore) -> (State, Option<bool>) {
        let object = |state: &State, value: &Value| match value {
            Value::Object(id) => state.objects.get(id).cloned().map(|object| (*id, object)),
            _ => None,
        };
        let mut taking = Taking { generator: None, numbered: None, end };
        let mut source = iterator.clone();
        let mut limits = Vec::new();
        loop {
            match object(&state, &source) {
                Some((id, Object::Numbered(of, _))) if taking.numbered.is_none() => {
                    (taking.numbered, source) = (Some(id), of);
                }
                Some((id, Object::Limited(of, left))) => {
                    limits.push((id, of.clone(), left));
                    source = of;
                }
                _ => break,
            }
        }
        if limits.iter().any(|(.., left)| *left == 0) {
            let at = self.base_at(&state, self.current_span(&state).unwrap_or_default());
            state.push(Event::CountTest { at, leads_out: false, taken: false });
            return (state, Some(false));
        }
        for (id, of, left) in limits {
            Rc::make_mut(&mut state.objects).insert(id, Object::Limited(of, left - 1));
        }
        match object(&state, &source) {
            Some((_, Object::Generator(None))) => return (state, Some(false)),
            Some((id, Object::Generator(Some(frame)))) => {
                taking.generator = Some(id);
                let mut frame = Frame::clone(&frame);
                (frame.limits, frame.gives) = (state.limits.len(), Gives::Item(Rc::new(taking)));
                state.frames.push(frame);
                return (state, Some(true));
            }
            _ => {}
        }
        let Some(next) = self.own_method(&source, &NEXT) else { return (state, None) };
        match self.follow(&mut state, next, None, Some(source), Args::default(), Gives::Item(Rc::new(taking))) {
            Ok(()) => (state, Some(true)),
            Err(_) => (state, None),
        }
    }

    /// The same for a call that asks for the next item; gives the state back where it is none of the project's code.
    pub(super) fn call_next(&mut self, state: State, iterator: &Value, end: NoMore, out: &mut Out) -> Option<State> {
        let (state, runs) = self.run_on(state, iterator, end.clone());
        let Some(runs) = runs else { return Some(state) };
        let res = match (runs, end) {
            (true, _) => Res::Called,
            (false, NoMore::Wrapped) => Res::Value(Value::Variant("None".into(), "None".into(), Rc::from([]))),
            (false, NoMore::Gives(value)) => Res::Value(value),
            (false, NoMore::Raises) => Res::Raise(self.raised(&["builtins.StopIteration"])),
        };
        out.push((state, res));
        None
    }

    /// An iterator over the first items of one whose code is the project's; `None` for others.
    pub(super) fn first_items(&mut self, state: &mut State, iterator: &Value, count: &Value) -> Option<Value> {
        let Value::Num(num) = count else { return None };
        let number = num.single().filter(|count| (0.0..1.0e6).contains(count))?;
        let generates = match iterator {
            Value::Object(id) => matches!(state.objects.get(id), Some(Object::Generator(_) | Object::Numbered(..))),
            _ => self.is_own_iterator(iterator),
        };
        if !generates {
            return None;
        }
        let id = self.symbols.intern(Node::Index(iterator.clone(), count.clone()), Taint::NONE);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        Rc::make_mut(&mut state.objects).insert(id, Object::Limited(iterator.clone(), number as u32));
        Some(Value::Object(id))
    }

    /// What an adaptor makes of an iterator of the project's own.
    pub(super) fn adapted(&mut self, state: &mut State, iterator: &Value, name: &str, args: &Args) -> Option<Value> {
        match (name, args.nth(0)) {
            ("take", Some(count)) => self.first_items(state, iterator, count),
            ("enumerate", None) => Some(self.enumerate(state, iterator.clone(), &Value::Num(Num::exact(0.0)))),
            ("into_iter" | "by_ref" | "iter", None) => Some(iterator.clone()),
            _ => None,
        }
    }

    /// Whether a value is of a class of the project's that gives items.
    pub(super) fn is_own_iterator(&self, value: &Value) -> bool {
        self.own_method(value, &NEXT).is_some()
    }

    /// Begins to run what makes an iterator of an object of the project's own class.
    pub(super) fn own_iterator(&mut self, state: &mut State, value: &Value) -> bool {
        let Some(iter) = self.own_method(value, &ITER) else { return false };
        self.follow(state, iter, None, Some(value.clone()), Args::default(), Gives::Returned).is_ok()
    }

    /// The iterator that a generator method makes of an object of the project's own class.
    pub(super) fn own_generator(&mut self, state: &mut State, value: &Value) -> Option<Value> {
        let iter = self.own_method(value, &ITER)?;
        self.generator(state, iter, None, Some(value), &Args::default())
    }

    /// The first of these methods that the class of a value has.
    fn own_method(&self, value: &Value, names: &[&str]) -> Option<FuncRef> {
        let class = self.own_class(value)?;
        names.iter().find_map(|name| self.project.method(class, name))
    }

    fn own_class(&self, value: &Value) -> Option<ClassRef> {
        let Value::Sym(id) = value else { return None };
        match self.symbols.info(*id)?.ty {
            Some(Type::Own(class)) => Some(class),
            _ => None,
        }
    }

    /// A `yield` in a generator that is run for its items: it stops here, and the item goes where it is wanted. Any other
    /// `yield` gives the state back.
    pub(super) fn stop_at_yield(
        &mut self,
        mut state: State,
        item: Value,
        span: Span,
        ends: &mut Vec<Result<State, Finished>>,
    ) -> Option<State> {
        let Some((taking, generator)) = state.top().and_then(|frame| match &frame.gives {
            Gives::Item(taking) => Some((taking.clone(), taking.generator?)),
            _ => None,
        }) else {
            return Some(state);
        };
        // What is sent in: nothing.
        if let Some(dst) = self.current_dst(&state) {
            self.write(&mut state, dst, Value::None);
        }
        if let Some(mut frame) = self.pop(&mut state) {
            frame.at += 1;
            // Its loops go round once for each item: that is the turn of whoever takes them.
            frame.visits.clear();
            frame.gives = Gives::Returned;
            self.keep(&mut state, generator, Some(frame));
        }
        self.hand_over(state, &taking, Some(item), span, ends);
        None
    }

    /// An exception has left a generator: it gives nothing any more.
    pub(super) fn end_generator(&self, state: &mut State, taking: &Taking) {
        if let Some(generator) = taking.generator {
            self.keep(state, generator, None);
        }
    }

    fn keep(&self, state: &mut State, generator: SymId, frame: Option<Frame>) {
        Rc::make_mut(&mut state.objects).insert(generator, Object::Generator(frame.map(Rc::new)));
    }

    /// An activation that was run for an item has returned.
    pub(super) fn after_items(
        &mut self,
        mut state: State,
        func: FuncRef,
        taking: &Taking,
        value: Value,
        span: Span,
        ends: &mut Vec<Result<State, Finished>>,
    ) {
        let may_be_none = |function: &Function| {
            function.name == "next" && function.returns.as_ref().is_some_and(|returns| returns.path == "Option")
        };
        if let Some(generator) = taking.generator {
            self.keep(&mut state, generator, None);
            return self.hand_over(state, taking, None, span, ends);
        }
        let item = match &value {
            Value::Variant(name, _, args) if &**name == "Some" => args.first().cloned(),
            Value::Variant(name, ..) if &**name == "None" => None,
            Value::Sym(_) if self.project.function(func).is_some_and(may_be_none) => {
                let more = self.symbols.intern(Node::IsSuccess(value.clone()), Taint::NONE);
                if self.decided(&state, more) != Some(true) {
                    let mut state = state.clone();
                    self.record(&mut state, more, false);
                    self.hand_over(state, taking, None, span, ends);
                }
                if self.decided(&state, more) == Some(false) {
                    return;
                }
                self.record(&mut state, more, true);
                Some(self.payload(&value, true))
            }
            _ => Some(value),
        };
        self.hand_over(state, taking, item, span, ends);
    }

    /// Whether an exception that leaves an activation only says that there are no more items; then that is handed on.
    pub(super) fn says_no_more(&self, taking: &Taking, exception: &Value) -> bool {
        let ends = |class: &str| matches!(last_part(class), "StopIteration" | "StopAsyncIteration");
        let said = matches!(exception, Value::Exc(exc) if exc.classes.iter().all(|class| ends(class)));
        taking.generator.is_none() && said
    }

    /// Gives the next item, or that there is none, to whoever asked for it.
    pub(super) fn hand_over(
        &mut self,
        mut state: State,
        taking: &Taking,
        item: Option<Value>,
        span: Span,
        ends: &mut Vec<Result<State, Finished>>,
    ) {
        let item = match (item, taking.numbered) {
            (Some(item), Some(id)) => {
                let Some(Object::Numbered(of, number)) = state.objects.get(&id).cloned() else { return };
                let after = super::arith::binary(&mut self.symbols, BinOp::Add, &number, &Value::Num(Num::exact(1.0)));
                Rc::make_mut(&mut state.objects).insert(id, Object::Numbered(of, after));
                Some(Value::Tuple([number, item].into()))
            }
            (item, _) => item,
        };
        let block = state.top().and_then(|frame| self.project.function(frame.func)?.block(frame.block));
        let (Some(block), Some(at)) = (block, state.top().map(|frame| frame.at)) else { return };
        let Some(instr) = block.instrs.get(at) else {
            let Term::Next { item: slot, body, done, .. } = &block.term else { return };
            let Some(item) = item else { return self.go(state, *done, block.term_span, ends) };
            self.write(&mut state, *slot, item);
            return self.go(state, *body, block.term_span, ends);
        };
        let some = |item| Value::Variant("Some".into(), "Some".into(), [item].into());
        let none = || Value::Variant("None".into(), "None".into(), Rc::from([]));
        let value = match (item, &taking.end) {
            (Some(item), NoMore::Wrapped) => some(item),
            (None, NoMore::Wrapped) => none(),
            (Some(item), _) => item,
            (None, NoMore::Gives(value)) => value.clone(),
            (None, NoMore::Raises) => {
                let end = self.raised(&["builtins.StopIteration"]);
                return self.unwind(state, end, block.unwind, span, ends);
            }
        };
        if let Some(dst) = instr.dst {
            self.write(&mut state, dst, value);
        }
        if let Some(frame) = state.frames.last_mut() {
            frame.at += 1;
            frame.came_back = true;
        }
        ends.push(Ok(state));
    }
}
