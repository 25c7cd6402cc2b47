//! `select!`: each arm awaits its own future, then binds its pattern and runs its handler.

use proc_macro2::TokenStream;
use syn::parse::{ParseStream, Parser};
use syn::{Expr, Pat, Token};

use super::lowerer::Lowerer;
use super::macros::without_biased;
use super::patterns::{Bindings, always_fits, place};
use super::spans;
use crate::ir::{BinOp, BlockId, Const, Op, Slot, Term};
use crate::source::Span;

/// An arm of `select!`.
struct Arm {
    /// `None`: `else`, `complete`, `default`.
    wait: Option<(Pat, Expr)>,
    /// `else`: runs only where no other arm can.
    is_else: bool,
    condition: Option<Expr>,
    handler: Expr,
    /// The operation is a channel's own (`recv(r) -> msg`), not a future.
    blocking: bool,
}

fn parse_arm(input: ParseStream<'_>) -> syn::Result<Arm> {
    let is_default = input.peek(Token![else])
        || input.fork().parse::<syn::Ident>().is_ok_and(|word| word == "complete" || word == "default");
    if is_default {
        let is_else = input.parse::<Option<Token![else]>>()?.is_some();
        if !is_else {
            input.parse::<syn::Ident>()?;
        }
        if input.peek(syn::token::Paren) {
            let limit;
            syn::parenthesized!(limit in input);
            limit.parse::<TokenStream>()?;
        }
        input.parse::<Token![=>]>()?;
        return Ok(Arm { wait: None, is_else, condition: None, handler: parse_handler(input)?, blocking: false });
    }
    let fork = input.fork();
    let channel = fork.parse::<Expr>().is_ok() && fork.peek(Token![->]);
    if channel {
        let operation: Expr = input.parse()?;
        input.parse::<Token![->]>()?;
        let pat = Pat::parse_multi_with_leading_vert(input)?;
        input.parse::<Token![=>]>()?;
        let handler = parse_handler(input)?;
        return Ok(Arm { wait: Some((pat, operation)), is_else: false, condition: None, handler, blocking: true });
    }
    let pat = Pat::parse_multi_with_leading_vert(input)?;
    input.parse::<Token![=]>()?;
    let future: Expr = input.parse()?;
    let condition = if input.peek(Token![,]) {
        input.parse::<Token![,]>()?;
        input.parse::<Token![if]>()?;
        Some(input.parse::<Expr>()?)
    } else {
        None
    };
    input.parse::<Token![=>]>()?;
    Ok(Arm { wait: Some((pat, future)), is_else: false, condition, handler: parse_handler(input)?, blocking: false })
}

/// A handler: a block without a comma, or an expression.
fn parse_handler(input: ParseStream<'_>) -> syn::Result<Expr> {
    if input.peek(syn::token::Brace) {
        let fork = input.fork();
        fork.parse::<syn::Block>()?;
        if !(fork.peek(Token![.]) || fork.peek(Token![?])) {
            let block = input.parse()?;
            input.parse::<Option<Token![,]>>()?;
            return Ok(Expr::Block(syn::ExprBlock { attrs: Vec::new(), label: None, block }));
        }
    }
    let handler = input.parse()?;
    input.parse::<Option<Token![,]>>()?;
    Ok(handler)
}

fn parse_arms(input: ParseStream<'_>) -> syn::Result<Vec<Arm>> {
    let mut arms = Vec::new();
    while !input.is_empty() {
        arms.push(parse_arm(input)?);
    }
    Ok(arms)
}

impl Lowerer {
    /// Lowers the arms of a `select!`; `None` where they do not parse.
    pub fn select_macro(&mut self, tokens: &TokenStream, span: Span) -> Option<Slot> {
        let (tokens, _) = without_biased(tokens);
        let arms = parse_arms.parse2(tokens).ok()?;
        let waiting: Vec<&Arm> = arms.iter().filter(|arm| !arm.is_else).collect();
        if arms.is_empty() {
            return None;
        }
        let result = self.draft.temp();
        let after = self.draft.block();
        let count = u32::try_from(waiting.len()).unwrap_or(u32::MAX);
        let chosen = self.draft.emit(Op::Select(count), span);
        // Entries first: an arm whose pattern does not fit leaves the choice to the others.
        let entries: Vec<BlockId> = waiting.iter().map(|_| self.draft.block()).collect();
        let fallback = self.draft.block();
        let open_arm = |but: usize| {
            let mut others = waiting.iter().zip(&entries).enumerate();
            others.find(|(at, (arm, _))| *at != but && is_open(arm)).map(|(_, (_, entry))| *entry)
        };
        let refusals: Vec<BlockId> = (0..waiting.len()).map(|at| open_arm(at).unwrap_or(fallback)).collect();
        for (at, (arm, entry)) in waiting.iter().zip(&entries).enumerate() {
            let is_last = at + 1 == waiting.len();
            let next = self.draft.block();
            let enabled = self.draft.block();
            if is_last {
                self.draft.goto(enabled, span);
            } else {
                let index = self.draft.constant(Const::Int(i64::try_from(at).unwrap_or(i64::MAX)), span);
                let test = self.draft.emit(Op::Binary(BinOp::Eq, chosen, index), span);
                self.draft.branch(test, enabled, next, span);
            }
            self.draft.resume(enabled);
            match &arm.condition {
                Some(condition) => {
                    let refused = if is_last { refusals.get(at).copied().unwrap_or(fallback) } else { next };
                    self.condition(condition, *entry, refused);
                }
                None => self.draft.goto(*entry, span),
            }
            self.draft.resume(next);
        }
        if waiting.is_empty() {
            self.draft.goto(fallback, span);
        }
        for ((arm, entry), refused) in waiting.iter().zip(&entries).zip(&refusals) {
            self.draft.resume(*entry);
            self.arm(arm, *refused, result, after);
        }
        self.draft.resume(fallback);
        if let Some(arm) = arms.iter().find(|arm| arm.is_else) {
            self.into(&arm.handler, Some(result));
            self.draft.goto(after, span);
        }
        self.draft.end(Term::Abort, span);
        self.draft.resume(after);
        Some(result)
    }

    fn arm(&mut self, arm: &Arm, refused: BlockId, result: Slot, after: BlockId) {
        let Some((pat, future)) = &arm.wait else {
            self.into(&arm.handler, Some(result));
            self.draft.goto(after, spans::expr(&arm.handler));
            return;
        };
        let span = spans::expr(future);
        let value = if arm.blocking { self.expr(future) } else { self.awaited(future, span) };
        self.draft.open();
        let mut names = Bindings::new();
        let pattern = self.pattern(pat, &mut names);
        if !always_fits(&pattern) {
            let fits = self.draft.block();
            let test = self.draft.emit(Op::Matches(value, pattern.clone()), place(pat));
            self.draft.branch(test, fits, refused, span);
            self.draft.resume(fits);
        }
        self.bind_pattern(pattern, value, place(pat));
        self.declare_all(&names);
        self.into(&arm.handler, Some(result));
        self.draft.goto(after, spans::expr(&arm.handler));
        self.draft.close();
    }
}

/// Whether an arm can always run: no condition, and a pattern that fits everything.
fn is_open(arm: &Arm) -> bool {
    arm.condition.is_none()
        && arm.wait.as_ref().is_some_and(|(pat, _)| match pat {
            Pat::Wild(_) => true,
            Pat::Ident(name) => name.subpat.is_none() && name.ident != "None",
            _ => false,
        })
}
