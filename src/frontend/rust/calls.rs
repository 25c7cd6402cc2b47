//! Calls, closures, async blocks and `.await`.

use syn::{Expr, ExprCall, ExprClosure, ExprMethodCall, ExprPath};

use super::draft::{Carrier, Exit, carrier_of_type};
use super::exprs::METAVARIABLE;
use super::lowerer::{Lowerer, unraw};
use super::names::{Named, is_type_like, join, last_part};
use super::spans;
use crate::ir::{Callee, FuncId, FunctionKind, Op, Slot, Term};
use crate::source::Span;

impl Lowerer {
    /// `function(args)`
    pub fn call_expr(&mut self, e: &ExprCall, span: Span) -> Slot {
        if let Expr::Path(path) = strip(&e.func) {
            if let (Some(closure), true) = (lazy_closure(e), self.is_lazy(path)) {
                return self.inline_closure(closure, &[], span);
            }
            if let Some(before) = self.exchange(path, e, span) {
                return before;
            }
            let args: Vec<Slot> = e.args.iter().map(|arg| self.expr(arg)).collect();
            return self.call_of_path(path, args, span);
        }
        let callee = self.expr(&e.func);
        let args = e.args.iter().map(|arg| self.expr(arg)).collect();
        self.call(Callee::Value(callee), args, span)
    }

    /// Whether a path is the constructor of a value that is computed at its first use.
    fn is_lazy(&mut self, path: &ExprPath) -> bool {
        let path = self.absolute_of(path);
        ["LazyLock::new", "LazyCell::new", "Lazy::new"].iter().any(|lazy| path.ends_with(lazy))
    }

    /// `std::mem::replace(&mut place, value)` and `std::mem::swap(&mut place, &mut other)`: what stood in the place, which
    /// now holds the other value.
    fn exchange(&mut self, path: &ExprPath, e: &ExprCall, span: Span) -> Option<Slot> {
        let absolute = self.absolute_of(path);
        let name = absolute.strip_prefix("std::mem::").or_else(|| absolute.strip_prefix("core::mem::"))?;
        let (place, other) = match (name, e.args.first(), e.args.get(1)) {
            ("replace" | "swap", Some(place), Some(other)) => (place, other),
            _ => return None,
        };
        let held = self.expr(place);
        let before = self.draft.emit(Op::Copy(held), span);
        self.carry(held, before);
        let value = self.expr(other);
        if name == "replace" {
            self.assign_referent(place, value, span);
            return Some(before);
        }
        let value = self.draft.emit(Op::Copy(value), span);
        self.assign_referent(place, value, span);
        self.assign_referent(other, before, span);
        Some(self.draft.unit(span))
    }

    /// A call of a path: a variable, an own function, a variant, or something from outside.
    pub fn call_of_path(&mut self, path: &ExprPath, args: Vec<Slot>, span: Span) -> Slot {
        let at = spans::expr_path(path);
        if let Some(name) = path.path.get_ident().map(unraw).filter(|_| path.qself.is_none()) {
            if let Some(slot) = self.variable(&name) {
                return self.call(Callee::Value(slot), args, span);
            }
            if let Some(name) = name.strip_prefix(METAVARIABLE) {
                return self.call_path(&format!("${name}"), args, span);
            }
        }
        let absolute = self.absolute_of(path);
        match self.own_item(&absolute) {
            Some(Named::Func(id)) => {
                let callee = self.draft.emit(Op::Func(id), at);
                let result = self.call(Callee::Value(callee), args, span);
                self.carry_return(id, result);
                return result;
            }
            Some(Named::Global(id)) => {
                let callee = self.draft.emit(Op::Global(id), at);
                return self.call(Callee::Value(callee), args, span);
            }
            Some(Named::Variant { .. } | Named::Class(_)) => return self.variant(absolute, args, span),
            _ => {}
        }
        let last = last_part(&absolute);
        if is_type_like(last) && !args.is_empty() && !is_shouting(last) {
            return self.variant(absolute, args, span);
        }
        let carrier = carrier_of_call(last);
        let ends = matches!(
            absolute.as_str(),
            "std::process::exit" | "std::process::abort" | "std::panic::resume_unwind" | "std::panic::panic_any"
        );
        let result = self.call_path(&absolute, args, span);
        if ends {
            self.draft.end(Term::Abort, span);
        }
        if let Some(carrier) = carrier {
            self.draft.carriers.insert(result, carrier);
        }
        result
    }

    /// Notes what an own function is declared to return.
    fn carry_return(&mut self, id: FuncId, result: Slot) {
        self.draft.declared.insert(result);
        let Some(ty) = self.returns.get(&id) else { return };
        let awaited = if ty.path == "std::future::Future" { ty.args.first() } else { Some(ty) };
        if let Some(carrier) = awaited.and_then(carrier_of_type) {
            self.draft.carriers.insert(result, carrier);
        }
    }

    /// `receiver.method(args)`
    pub fn method_call(&mut self, e: &ExprMethodCall, span: Span) -> Slot {
        let name = unraw(&e.method);
        let receiver = self.expr(&e.receiver);
        let own_method = self.own_method(receiver, &name);
        if own_method.is_none()
            && let Some(value) = self.combinator(e, &name, receiver, span)
        {
            return value;
        }
        let args: Vec<Slot> = e.args.iter().map(|arg| self.expr(arg)).collect();
        let count = args.len();
        let result = self.call(Callee::Method { receiver, name: name.clone() }, args, span);
        match own_method {
            Some(id) => self.carry_return(id, result),
            None => {
                let received = self.draft.carriers.get(&receiver).copied();
                if let Some(carrier) = carrier_of_method(&name, count, received) {
                    self.draft.carriers.insert(result, carrier);
                }
            }
        }
        result
    }

    /// The own method that a call means, where the receiver is declared to be of an own type.
    fn own_method(&self, receiver: Slot, name: &str) -> Option<FuncId> {
        let class = self.draft.head.slots.get(receiver.0 as usize)?.ty.as_ref()?.class?;
        match self.names.item(&join(self.class_paths.get(class.0 as usize)?, name)) {
            Some(Named::Func(id)) => Some(*id),
            _ => None,
        }
    }

    /// `future.await`. A combinator of futures is lowered as the future's end followed by that of its result.
    pub fn awaited(&mut self, base: &Expr, span: Span) -> Slot {
        if let Expr::MethodCall(e) = strip(base)
            && let Some(value) = self.future_combinator(e, span)
        {
            return value;
        }
        let future = self.expr(base);
        let value = self.draft.emit(Op::Await(future), span);
        let known = self.draft.carriers.get(&future).copied();
        let carrier = match strip(base) {
            _ if self.draft.declared.contains(&future) => known,
            Expr::MethodCall(_) => carrier_of_await(base),
            _ => known.or_else(|| carrier_of_await(base)),
        };
        if let Some(carrier) = carrier {
            self.draft.carriers.insert(value, carrier);
        }
        value
    }

    /// A closure as a value.
    pub fn closure(&mut self, e: &ExprClosure, span: Span) -> Slot {
        let id = self.reserve();
        let types: Vec<_> = e
            .inputs
            .iter()
            .map(|input| match input {
                syn::Pat::Type(typed) => self.type_ref(&typed.ty),
                _ => None,
            })
            .collect();
        let returns = self.return_type(&e.output);
        self.begin(id, FunctionKind::Closure, "<closure>", span);
        self.draft.head.header = Span { start: span.start, end: spans::token(e.inputs_end.span).end };
        self.draft.head.is_async = e.asyncness.is_some();
        self.draft.head.returns = returns;
        let mut late = Vec::new();
        for (at, (input, ty)) in e.inputs.iter().zip(types).enumerate() {
            let pat = match input {
                syn::Pat::Type(typed) => &typed.pat,
                other => other,
            };
            self.parameter(pat, ty, at, &mut late);
        }
        for (pat, slot) in late {
            self.bind(pat, slot, super::patterns::place(pat));
        }
        let value = self.expr(&e.body);
        self.draft.end(Term::Return(Some(value)), spans::expr(&e.body));
        self.end_function();
        self.draft.emit(Op::Func(id), span)
    }

    /// An `async` block as a value: a future.
    pub fn async_block(&mut self, block: &syn::Block, span: Span) -> Slot {
        let id = self.reserve();
        self.begin(id, FunctionKind::AsyncBlock, "<async>", span);
        self.draft.head.header = Span { start: span.start, end: spans::token(block.brace_token.span.open()).start };
        let value = self.block_value(block);
        self.draft.end(Term::Return(Some(value)), spans::token(block.brace_token.span.close()));
        self.end_function();
        self.draft.emit(Op::Func(id), span)
    }

    /// Runs a closure literal in place.
    pub fn inline_closure(&mut self, e: &ExprClosure, args: &[Slot], span: Span) -> Slot {
        self.draft.open();
        for (at, input) in e.inputs.iter().enumerate() {
            let value = match args.get(at) {
                Some(slot) => *slot,
                None => self.unknown("argument", span),
            };
            self.bind(input, value, super::patterns::place(input));
        }
        let result = self.draft.temp();
        let after = self.draft.block();
        let frames = std::mem::take(&mut self.draft.frames);
        self.draft.exits.push(Exit { result, after, only_try: false });
        self.into(&e.body, Some(result));
        self.draft.exits.pop();
        self.draft.frames = frames;
        self.draft.goto(after, spans::expr(&e.body));
        self.draft.resume(after);
        self.draft.close();
        result
    }

    /// Applies the argument of a combinator: a closure literal in place, a path or another value by a call.
    pub fn apply(&mut self, function: &Expr, args: Vec<Slot>, span: Span) -> Slot {
        match strip(function) {
            Expr::Closure(closure) if closure.asyncness.is_none() => self.inline_closure(closure, &args, span),
            Expr::Path(path) => self.call_of_path(path, args, span),
            other => {
                let callee = self.expr(other);
                self.call(Callee::Value(callee), args, span)
            }
        }
    }
}

/// Without parentheses.
pub(super) fn strip(mut expr: &Expr) -> &Expr {
    loop {
        expr = match expr {
            Expr::Paren(e) => &e.expr,
            Expr::Group(e) => &e.expr,
            other => return other,
        };
    }
}

fn lazy_closure(e: &ExprCall) -> Option<&ExprClosure> {
    match e.args.first().map(strip) {
        Some(Expr::Closure(closure)) if closure.inputs.is_empty() => Some(closure),
        _ => None,
    }
}

/// `MAX_RETRIES`, as against `Http`.
fn is_shouting(name: &str) -> bool {
    name.len() > 1 && !name.chars().any(char::is_lowercase)
}

/// What an awaited value is by convention: a `Result`, apart from methods whose futures as often give something else.
fn carrier_of_await(base: &Expr) -> Option<Carrier> {
    const UNSURE: [&str; 10] =
        ["recv", "lock", "read", "write", "pop", "acquire", "borrow", "get", "peek", "next_message"];
    match strip(base) {
        Expr::MethodCall(e) if e.method == "next" => Some(Carrier::Option),
        Expr::MethodCall(e) if UNSURE.contains(&e.method.to_string().as_str()) => None,
        _ => Some(Carrier::Result),
    }
}

/// What an associated function of this name gives by convention.
fn carrier_of_call(name: &str) -> Option<Carrier> {
    (name.starts_with("parse") || name.starts_with("try_") || name.starts_with("from_str") || name == "var")
        .then_some(Carrier::Result)
}

/// What a method of the standard library (and those modelled on it) gives.
fn carrier_of_method(name: &str, args: usize, received: Option<Carrier>) -> Option<Carrier> {
    const OPTION: [&str; 37] = [
        "get",
        "get_mut",
        "first",
        "last",
        "first_mut",
        "last_mut",
        "next",
        "next_back",
        "nth",
        "peek",
        "pop",
        "pop_front",
        "pop_back",
        "strip_prefix",
        "strip_suffix",
        "split_once",
        "rsplit_once",
        "find",
        "rfind",
        "position",
        "find_map",
        "min_by_key",
        "max_by_key",
        "as_u64",
        "as_i64",
        "as_f64",
        "as_bool",
        "as_array",
        "as_object",
        "source",
        "downcast_ref",
        "extension",
        "file_name",
        "split_first",
        "split_last",
        "as_str",
        "raw_os_error",
    ];
    const RESULT: [&str; 9] =
        ["parse", "to_str", "context", "with_context", "error_for_status", "recv_timeout", "join", "wait", "output"];
    const SAME: [&str; 16] = [
        "as_ref",
        "as_mut",
        "as_deref",
        "as_deref_mut",
        "cloned",
        "copied",
        "clone",
        "to_owned",
        "take",
        "replace",
        "inspect",
        "inspect_err",
        "or",
        "filter",
        "xor",
        "map_ok",
    ];
    if SAME.contains(&name) {
        return received;
    }
    if name.starts_with("checked_") || OPTION.contains(&name) || (matches!(name, "min" | "max") && args == 0) {
        return Some(Carrier::Option);
    }
    (name.starts_with("try_") || RESULT.contains(&name)).then_some(Carrier::Result)
}
