//! The methods of `Option` and `Result` that take what to do in either case, as the control flow that they are.
//!
//! Names that only those two types have (`map_err`, `ok_or_else`, …) are taken at their word. Names that iterators,
//! futures and streams share (`map`, `filter`, `and_then`, …) are control flow only where the receiver is known to be an
//! `Option` or `Result`; elsewhere they stay calls with a closure.

use syn::{Expr, ExprMethodCall};

use super::calls::strip;
use super::draft::Carrier;
use super::lowerer::{Lowerer, unraw};
use crate::ir::{Const, Op, Slot, Term, UnOp};
use crate::source::Span;

impl Lowerer {
    /// One block for success, one for failure, and the value of the one that ran.
    pub fn either(
        &mut self,
        carrier: Slot,
        span: Span,
        on_success: impl FnOnce(&mut Self) -> Slot,
        on_failure: impl FnOnce(&mut Self) -> Slot,
    ) -> Slot {
        let test = self.draft.emit(Op::IsSuccess(carrier), span);
        self.fork(test, span, on_success, on_failure)
    }

    /// One block where a test holds, one where it does not, and the value of the one that ran.
    pub fn fork(
        &mut self,
        test: Slot,
        span: Span,
        on_true: impl FnOnce(&mut Self) -> Slot,
        on_false: impl FnOnce(&mut Self) -> Slot,
    ) -> Slot {
        let result = self.draft.temp();
        let (yes, no, join) = (self.draft.block(), self.draft.block(), self.draft.block());
        self.draft.branch(test, yes, no, span);
        self.draft.resume(yes);
        let value = on_true(self);
        self.copy(value, Some(result), span);
        self.draft.goto(join, span);
        self.draft.resume(no);
        let value = on_false(self);
        self.copy(value, Some(result), span);
        self.draft.goto(join, span);
        self.draft.resume(join);
        result
    }

    fn payload(&mut self, carrier: Slot, success: bool, span: Span) -> Slot {
        self.draft.emit(Op::Payload(carrier, success), span)
    }

    fn diverge(&mut self, span: Span) -> Slot {
        self.draft.end(Term::Abort, span);
        self.draft.temp()
    }

    fn boolean(&mut self, value: bool, span: Span) -> Slot {
        self.draft.constant(Const::Bool(value), span)
    }

    fn mark(&mut self, slot: Slot, carrier: Option<Carrier>) -> Slot {
        match carrier {
            Some(carrier) => self.draft.carriers.insert(slot, carrier),
            None => self.draft.carriers.remove(&slot),
        };
        slot
    }

    /// Wraps a payload as the success of what it came from.
    fn success(&mut self, carrier: Carrier, payload: Slot, span: Span) -> Slot {
        let name = if carrier == Carrier::Option { "Some" } else { "Ok" };
        self.carrier(name, Some(payload), span)
    }

    /// Lowers a combinator; `None` where the method is none, or its receiver may be something else.
    pub fn combinator(&mut self, e: &ExprMethodCall, name: &str, s: Slot, span: Span) -> Option<Slot> {
        let known = self.draft.carriers.get(&s).copied();
        let mut args = e.args.iter();
        let (first, second) = (args.next(), args.next());
        if e.args.len() > 2 {
            return None;
        }
        match (first, second) {
            (None, _) => self.combinator_of_none(name, s, known, span),
            (Some(f), None) => self.combinator_of_one(e, name, s, known, f, span),
            (Some(f), Some(g)) => self.combinator_of_two(name, s, known, f, g, span),
        }
    }

    fn combinator_of_none(&mut self, name: &str, s: Slot, known: Option<Carrier>, span: Span) -> Option<Slot> {
        Some(match name {
            "is_ok" | "is_some" => self.draft.emit(Op::IsSuccess(s), span),
            "is_err" | "is_none" => {
                let success = self.draft.emit(Op::IsSuccess(s), span);
                self.draft.emit(Op::Unary(UnOp::Not, success), span)
            }
            "unwrap" => {
                let value = self.either(s, span, |l| l.payload(s, true, span), |l| l.diverge(span));
                self.mark(value, None)
            }
            "unwrap_err" => self.either(s, span, |l| l.diverge(span), |l| l.payload(s, false, span)),
            "unwrap_or_default" => self.either(
                s,
                span,
                |l| l.payload(s, true, span),
                |l| l.call_path("std::default::Default::default", Vec::new(), span),
            ),
            "ok" => {
                let some = |l: &mut Self| {
                    let value = l.payload(s, true, span);
                    l.carrier("Some", Some(value), span)
                };
                let value = self.either(s, span, some, |l| l.carrier("None", None, span));
                self.mark(value, Some(Carrier::Option))
            }
            "err" => {
                let some = |l: &mut Self| {
                    let value = l.payload(s, false, span);
                    l.carrier("Some", Some(value), span)
                };
                let value = self.either(s, span, |l| l.carrier("None", None, span), some);
                self.mark(value, Some(Carrier::Option))
            }
            "flatten" if known.is_some() => {
                let value = self.either(s, span, |l| l.payload(s, true, span), |_| s);
                self.mark(value, known)
            }
            "transpose" if known == Some(Carrier::Option) => {
                let value = self.either(
                    s,
                    span,
                    |l| {
                        let inner = l.payload(s, true, span);
                        let wrapped = |l: &mut Self| {
                            let value = l.payload(inner, true, span);
                            let some = l.carrier("Some", Some(value), span);
                            l.carrier("Ok", Some(some), span)
                        };
                        l.either(inner, span, wrapped, |_| inner)
                    },
                    |l| {
                        let none = l.carrier("None", None, span);
                        l.carrier("Ok", Some(none), span)
                    },
                );
                self.mark(value, Some(Carrier::Result))
            }
            _ => return None,
        })
    }

    fn combinator_of_one(
        &mut self,
        e: &ExprMethodCall,
        name: &str,
        s: Slot,
        known: Option<Carrier>,
        f: &Expr,
        span: Span,
    ) -> Option<Slot> {
        let shared = is_applicable(f) && known.is_some_and(|known| known != Carrier::Either) && !gives_future(f);
        let carrier = known.unwrap_or(Carrier::Either);
        Some(match name {
            "expect" if known.is_some() || is_message(f) => {
                self.either(s, span, |l| l.payload(s, true, span), |l| l.diverge(span))
            }
            "expect_err" => self.either(s, span, |l| l.diverge(span), |l| l.payload(s, false, span)),
            "unwrap_or" => {
                let other = self.expr(f);
                self.either(s, span, |l| l.payload(s, true, span), |_| other)
            }
            "unwrap_or_else" if is_applicable(f) => self.either(
                s,
                span,
                |l| l.payload(s, true, span),
                |l| {
                    let args = l.failure_args(f, s, carrier, span);
                    l.apply(f, args, span)
                },
            ),
            "map_err" if is_applicable(f) => {
                let failure = |l: &mut Self| {
                    let error = l.payload(s, false, span);
                    let error = l.apply(f, vec![error], span);
                    l.carrier("Err", Some(error), span)
                };
                let value = self.either(s, span, |_| s, failure);
                self.mark(value, Some(Carrier::Result))
            }
            "ok_or" => {
                let error = self.expr(f);
                let success = |l: &mut Self| {
                    let value = l.payload(s, true, span);
                    l.carrier("Ok", Some(value), span)
                };
                let value = self.either(s, span, success, |l| l.carrier("Err", Some(error), span));
                self.mark(value, Some(Carrier::Result))
            }
            "ok_or_else" => {
                let success = |l: &mut Self| {
                    let value = l.payload(s, true, span);
                    l.carrier("Ok", Some(value), span)
                };
                let failure = |l: &mut Self| {
                    let error = l.apply(f, Vec::new(), span);
                    l.carrier("Err", Some(error), span)
                };
                let value = self.either(s, span, success, failure);
                self.mark(value, Some(Carrier::Result))
            }
            "is_ok_and" | "is_some_and" => self.either(
                s,
                span,
                |l| {
                    let value = l.payload(s, true, span);
                    l.apply(f, vec![value], span)
                },
                |l| l.boolean(false, span),
            ),
            "is_err_and" => self.either(
                s,
                span,
                |l| l.boolean(false, span),
                |l| {
                    let error = l.payload(s, false, span);
                    l.apply(f, vec![error], span)
                },
            ),
            "is_none_or" => self.either(
                s,
                span,
                |l| {
                    let value = l.payload(s, true, span);
                    l.apply(f, vec![value], span)
                },
                |l| l.boolean(true, span),
            ),
            "inspect_err" if shared => {
                let failure = |l: &mut Self| {
                    let error = l.payload(s, false, span);
                    l.apply(f, vec![error], span);
                    s
                };
                let value = self.either(s, span, |_| s, failure);
                self.mark(value, Some(Carrier::Result))
            }
            "inspect" if shared => {
                let success = |l: &mut Self| {
                    let value = l.payload(s, true, span);
                    l.apply(f, vec![value], span);
                    s
                };
                let value = self.either(s, span, success, |_| s);
                self.mark(value, known)
            }
            "context" if is_wrapped_result(known, &e.receiver) => {
                self.expr(f);
                let failure = |l: &mut Self| {
                    let error = l.payload(s, false, span);
                    l.carrier("Err", Some(error), span)
                };
                let value = self.either(s, span, |l| l.as_result(s, carrier, span), failure);
                self.mark(value, Some(Carrier::Result))
            }
            "with_context" if is_wrapped_result(known, &e.receiver) => {
                let failure = |l: &mut Self| {
                    let args = if closure_arity(f) == Some(1) { vec![s] } else { Vec::new() };
                    l.apply(f, args, span);
                    let error = l.payload(s, false, span);
                    l.carrier("Err", Some(error), span)
                };
                let value = self.either(s, span, |l| l.as_result(s, carrier, span), failure);
                self.mark(value, Some(Carrier::Result))
            }
            "and_then" if shared => {
                let success = |l: &mut Self| {
                    let value = l.payload(s, true, span);
                    l.apply(f, vec![value], span)
                };
                let value = self.either(s, span, success, |_| s);
                self.mark(value, known)
            }
            "or_else" if shared => {
                let failure = |l: &mut Self| {
                    let args = l.failure_args(f, s, carrier, span);
                    l.apply(f, args, span)
                };
                let value = self.either(s, span, |_| s, failure);
                self.mark(value, known)
            }
            "or" if known.is_some_and(|known| known != Carrier::Either) => {
                let other = self.expr(f);
                let value = self.either(s, span, |_| s, |_| other);
                self.mark(value, known)
            }
            "map" if shared => {
                let success = |l: &mut Self| {
                    let value = l.payload(s, true, span);
                    let value = l.apply(f, vec![value], span);
                    l.success(carrier, value, span)
                };
                let value = self.either(s, span, success, |_| s);
                self.mark(value, known)
            }
            "filter" if shared && known == Some(Carrier::Option) => {
                let success = |l: &mut Self| {
                    let value = l.payload(s, true, span);
                    let keep = l.apply(f, vec![value], span);
                    l.fork(keep, span, |_| s, |l| l.carrier("None", None, span))
                };
                let value = self.either(s, span, success, |_| s);
                self.mark(value, known)
            }
            "then" if known.is_none() && closure_arity(f) == Some(0) && !gives_future(f) => {
                let some = |l: &mut Self| {
                    let value = l.apply(f, Vec::new(), span);
                    l.carrier("Some", Some(value), span)
                };
                let value = self.fork(s, span, some, |l| l.carrier("None", None, span));
                self.mark(value, Some(Carrier::Option))
            }
            "then_some" => {
                let payload = self.expr(f);
                let some = |l: &mut Self| l.carrier("Some", Some(payload), span);
                let value = self.fork(s, span, some, |l| l.carrier("None", None, span));
                self.mark(value, Some(Carrier::Option))
            }
            _ => return None,
        })
    }

    fn combinator_of_two(
        &mut self,
        name: &str,
        s: Slot,
        known: Option<Carrier>,
        f: &Expr,
        g: &Expr,
        span: Span,
    ) -> Option<Slot> {
        let carrier = known.unwrap_or(Carrier::Either);
        let success = |l: &mut Self| {
            let value = l.payload(s, true, span);
            l.apply(g, vec![value], span)
        };
        Some(match name {
            "map_or" if is_applicable(g) => {
                let default = self.expr(f);
                let value = self.either(s, span, success, |_| default);
                self.mark(value, None)
            }
            "map_or_else" if is_applicable(g) => {
                let failure = |l: &mut Self| {
                    let args = l.failure_args(f, s, carrier, span);
                    l.apply(f, args, span)
                };
                let value = self.either(s, span, success, failure);
                self.mark(value, None)
            }
            _ => return None,
        })
    }

    /// `Some(x)` as `Ok(x)`, for what turns an `Option` into a `Result`.
    fn as_result(&mut self, s: Slot, carrier: Carrier, span: Span) -> Slot {
        if carrier != Carrier::Option {
            return s;
        }
        let value = self.payload(s, true, span);
        self.carrier("Ok", Some(value), span)
    }

    /// What the function for the failure is given: the error, or nothing where there is none.
    fn failure_args(&mut self, f: &Expr, s: Slot, carrier: Carrier, span: Span) -> Vec<Slot> {
        let takes_error = match closure_arity(f) {
            Some(arity) => arity > 0,
            None => carrier == Carrier::Result,
        };
        if takes_error { vec![self.payload(s, false, span)] } else { Vec::new() }
    }

    /// `future.map_err(f).await` and the like: the future's end first, then what follows on its result.
    pub fn future_combinator(&mut self, e: &ExprMethodCall, span: Span) -> Option<Slot> {
        let name = unraw(&e.method);
        let f = e.args.first().filter(|f| e.args.len() == 1 && is_applicable(f))?;
        if !matches!(
            name.as_str(),
            "map_err"
                | "map_ok"
                | "and_then"
                | "or_else"
                | "map"
                | "then"
                | "inspect_err"
                | "inspect_ok"
                | "unwrap_or_else"
        ) {
            return None;
        }
        let at = super::spans::expr(&e.receiver);
        let s = self.awaited(&e.receiver, at);
        let then_await = |l: &mut Self, value: Slot| l.draft.emit(Op::Await(value), span);
        let success = |l: &mut Self| {
            let value = l.payload(s, true, span);
            l.apply(f, vec![value], span)
        };
        let failure = |l: &mut Self| {
            let error = l.payload(s, false, span);
            l.apply(f, vec![error], span)
        };
        let value = match name.as_str() {
            "map" => return Some(self.apply(f, vec![s], span)),
            "then" => {
                let future = self.apply(f, vec![s], span);
                return Some(then_await(self, future));
            }
            "unwrap_or_else" => return Some(self.either(s, span, |l| l.payload(s, true, span), failure)),
            "map_err" => {
                let wrapped = |l: &mut Self| {
                    let error = failure(l);
                    l.carrier("Err", Some(error), span)
                };
                self.either(s, span, |_| s, wrapped)
            }
            "map_ok" => {
                let wrapped = |l: &mut Self| {
                    let value = success(l);
                    l.carrier("Ok", Some(value), span)
                };
                self.either(s, span, wrapped, |_| s)
            }
            "and_then" => {
                let run = |l: &mut Self| {
                    let future = success(l);
                    then_await(l, future)
                };
                self.either(s, span, run, |_| s)
            }
            "or_else" => {
                let run = |l: &mut Self| {
                    let future = failure(l);
                    then_await(l, future)
                };
                self.either(s, span, |_| s, run)
            }
            "inspect_err" => {
                let look = |l: &mut Self| {
                    failure(l);
                    s
                };
                self.either(s, span, |_| s, look)
            }
            _ => {
                let look = |l: &mut Self| {
                    success(l);
                    s
                };
                self.either(s, span, look, |_| s)
            }
        };
        Some(self.mark(value, Some(Carrier::Result)))
    }
}

/// A closure literal or a path: what can be applied in place.
fn is_applicable(f: &Expr) -> bool {
    match strip(f) {
        Expr::Closure(closure) => closure.asyncness.is_none(),
        Expr::Path(_) => true,
        _ => false,
    }
}

fn closure_arity(f: &Expr) -> Option<usize> {
    match strip(f) {
        Expr::Closure(closure) => Some(closure.inputs.len()),
        _ => None,
    }
}

/// A closure whose body is an `async` block belongs to a combinator of futures.
fn gives_future(f: &Expr) -> bool {
    match strip(f) {
        Expr::Closure(closure) => matches!(strip(&closure.body), Expr::Async(_)),
        _ => false,
    }
}

/// The message of `expect`.
fn is_message(f: &Expr) -> bool {
    match strip(f) {
        Expr::Lit(lit) => matches!(lit.lit, syn::Lit::Str(_)),
        Expr::Macro(_) => true,
        Expr::Reference(e) => is_message(&e.expr),
        _ => false,
    }
}

/// Whether `context` is that of a `Result` rather than of an error value.
fn is_wrapped_result(known: Option<Carrier>, receiver: &Expr) -> bool {
    if known.is_some() {
        return true;
    }
    match strip(receiver) {
        Expr::Macro(_) => false,
        Expr::Path(path) => !path
            .path
            .get_ident()
            .is_some_and(|name| matches!(name.to_string().as_str(), "e" | "err" | "error" | "self")),
        Expr::Call(e) => match strip(&e.func) {
            Expr::Path(path) => {
                path.path.segments.iter().rev().nth(1).is_none_or(|owner| !owner.ident.to_string().ends_with("Error"))
            }
            _ => true,
        },
        _ => true,
    }
}
