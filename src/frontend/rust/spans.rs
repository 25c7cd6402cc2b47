//! Byte ranges of syntax.
//!
//! syn's own way makes a token stream of the whole node, which is quadratic where nodes nest; here the first and the
//! last token are looked up.

use proc_macro2::{Span as Token, TokenStream};
use syn::spanned::Spanned;
use syn::{Expr, RangeLimits, Stmt};

use crate::source::Span;

/// The range of one token.
pub(super) fn token(span: Token) -> Span {
    let range = span.byte_range();
    Span::new(range.start, range.end)
}

/// The range of a node that is small: a path, a pattern, a type.
pub(super) fn small(node: &impl Spanned) -> Span {
    token(node.span())
}

/// From one token to another.
pub(super) fn between(first: Token, last: Token) -> Span {
    token(first).to(token(last))
}

/// The range of an expression, attributes excluded.
pub(super) fn expr(expr: &Expr) -> Span {
    token(first(expr)).to(token(last(expr)))
}

/// The range of a block with its braces.
pub(super) fn block(block: &syn::Block) -> Span {
    between(block.brace_token.span.open(), block.brace_token.span.close())
}

/// The range of a statement.
pub(super) fn stmt(stmt: &Stmt) -> Span {
    match stmt {
        Stmt::Local(local) => between(local.let_token.span, local.semi_token.span),
        Stmt::Item(item) => small(item),
        Stmt::Expr(e, None) => expr(e),
        Stmt::Expr(e, Some(semi)) => expr(e).to(token(semi.span)),
        Stmt::Macro(mac) => self::mac(&mac.mac),
    }
}

/// The range of a macro call.
pub(super) fn mac(mac: &syn::Macro) -> Span {
    small(&mac.path).to(token(delimiter_close(&mac.delimiter)))
}

/// The range of a run of tokens.
pub(super) fn tokens(stream: &TokenStream) -> Span {
    let mut all = stream.clone().into_iter();
    let Some(first) = all.next() else { return Span::default() };
    let first = first.span();
    token(first).to(token(all.last().map_or(first, |last| last.span())))
}

fn delimiter_close(delimiter: &syn::MacroDelimiter) -> Token {
    match delimiter {
        syn::MacroDelimiter::Paren(t) => t.span.close(),
        syn::MacroDelimiter::Brace(t) => t.span.close(),
        syn::MacroDelimiter::Bracket(t) => t.span.close(),
    }
}

fn label_or(label: Option<&syn::Label>, keyword: Token) -> Token {
    label.map_or(keyword, |label| label.name.apostrophe)
}

fn path_first(qself: Option<&syn::QSelf>, path: &syn::Path) -> Token {
    match (qself, path.leading_colon, path.segments.first()) {
        (Some(qself), _, _) => qself.lt_token.span,
        (_, Some(colons), _) => colons.spans.first().copied().unwrap_or_else(Token::call_site),
        (_, _, Some(segment)) => segment.ident.span(),
        _ => Token::call_site(),
    }
}

fn path_last(path: &syn::Path) -> Token {
    match path.segments.last() {
        Some(segment) => match &segment.arguments {
            syn::PathArguments::None => segment.ident.span(),
            syn::PathArguments::AngleBracketed(args) => args.gt_token.span,
            syn::PathArguments::Parenthesized(args) => args.paren_token.span.close(),
        },
        None => Token::call_site(),
    }
}

fn first(mut expr: &Expr) -> Token {
    loop {
        return match expr {
            Expr::Assign(e) => {
                expr = &e.left;
                continue;
            }
            Expr::Await(e) => {
                expr = &e.base;
                continue;
            }
            Expr::Binary(e) => {
                expr = &e.left;
                continue;
            }
            Expr::Call(e) => {
                expr = &e.func;
                continue;
            }
            Expr::Cast(e) => {
                expr = &e.expr;
                continue;
            }
            Expr::Field(e) => {
                expr = &e.base;
                continue;
            }
            Expr::Group(e) => {
                expr = &e.expr;
                continue;
            }
            Expr::Index(e) => {
                expr = &e.expr;
                continue;
            }
            Expr::MethodCall(e) => {
                expr = &e.receiver;
                continue;
            }
            Expr::Try(e) => {
                expr = &e.expr;
                continue;
            }
            Expr::Range(e) => match &e.start {
                Some(start) => {
                    expr = start;
                    continue;
                }
                None => limits(&e.limits),
            },
            Expr::Array(e) => e.bracket_token.span.open(),
            Expr::Async(e) => e.async_token.span,
            Expr::Block(e) => label_or(e.label.as_ref(), e.block.brace_token.span.open()),
            Expr::Break(e) => e.break_token.span,
            Expr::Closure(e) => match (&e.lifetimes, &e.constness, &e.asyncness, &e.capture) {
                (Some(t), _, _, _) => t.for_token.span,
                (_, Some(t), _, _) => t.span,
                (_, _, Some(t), _) => t.span,
                (_, _, _, Some(t)) => t.span,
                _ => e.inputs_begin.span,
            },
            Expr::Const(e) => e.const_token.span,
            Expr::Continue(e) => e.continue_token.span,
            Expr::ForLoop(e) => label_or(e.label.as_ref(), e.for_token.span),
            Expr::If(e) => e.if_token.span,
            Expr::Infer(e) => e.underscore_token.span,
            Expr::Let(e) => e.let_token.span,
            Expr::Lit(e) => e.lit.span(),
            Expr::Loop(e) => label_or(e.label.as_ref(), e.loop_token.span),
            Expr::Macro(e) => path_first(None, &e.mac.path),
            Expr::Match(e) => e.match_token.span,
            Expr::Paren(e) => e.paren_token.span.open(),
            Expr::Path(e) => path_first(e.qself.as_ref(), &e.path),
            Expr::RawAddr(e) => e.and_token.span,
            Expr::Reference(e) => e.and_token.span,
            Expr::Repeat(e) => e.bracket_token.span.open(),
            Expr::Return(e) => e.return_token.span,
            Expr::Struct(e) => path_first(e.qself.as_ref(), &e.path),
            Expr::TryBlock(e) => e.try_token.span,
            Expr::Tuple(e) => e.paren_token.span.open(),
            Expr::Unary(e) => small_token(&e.op),
            Expr::Unsafe(e) => e.unsafe_token.span,
            Expr::While(e) => label_or(e.label.as_ref(), e.while_token.span),
            Expr::Yield(e) => e.yield_token.span,
            other => other.span(),
        };
    }
}

fn last(mut expr: &Expr) -> Token {
    loop {
        return match expr {
            Expr::Assign(e) => {
                expr = &e.right;
                continue;
            }
            Expr::Binary(e) => {
                expr = &e.right;
                continue;
            }
            Expr::Break(e) => match &e.expr {
                Some(value) => {
                    expr = value;
                    continue;
                }
                None => e.label.as_ref().map_or(e.break_token.span, |label| label.ident.span()),
            },
            Expr::Closure(e) => {
                expr = &e.body;
                continue;
            }
            Expr::Group(e) => {
                expr = &e.expr;
                continue;
            }
            Expr::If(e) => match &e.else_branch {
                Some((_, other)) => {
                    expr = other;
                    continue;
                }
                None => e.then_branch.brace_token.span.close(),
            },
            Expr::Let(e) => {
                expr = &e.expr;
                continue;
            }
            Expr::Range(e) => match &e.end {
                Some(end) => {
                    expr = end;
                    continue;
                }
                None => limits(&e.limits),
            },
            Expr::RawAddr(e) => {
                expr = &e.expr;
                continue;
            }
            Expr::Reference(e) => {
                expr = &e.expr;
                continue;
            }
            Expr::Return(e) => match &e.expr {
                Some(value) => {
                    expr = value;
                    continue;
                }
                None => e.return_token.span,
            },
            Expr::Unary(e) => {
                expr = &e.expr;
                continue;
            }
            Expr::Yield(e) => match &e.expr {
                Some(value) => {
                    expr = value;
                    continue;
                }
                None => e.yield_token.span,
            },
            Expr::Array(e) => e.bracket_token.span.close(),
            Expr::Async(e) => e.block.brace_token.span.close(),
            Expr::Await(e) => e.await_token.span,
            Expr::Block(e) => e.block.brace_token.span.close(),
            Expr::Call(e) => e.paren_token.span.close(),
            Expr::Cast(e) => type_last(&e.ty),
            Expr::Const(e) => e.block.brace_token.span.close(),
            Expr::Continue(e) => e.label.as_ref().map_or(e.continue_token.span, |label| label.ident.span()),
            Expr::Field(e) => match &e.member {
                syn::Member::Named(name) => name.span(),
                syn::Member::Unnamed(index) => index.span,
            },
            Expr::ForLoop(e) => e.body.brace_token.span.close(),
            Expr::Index(e) => e.bracket_token.span.close(),
            Expr::Infer(e) => e.underscore_token.span,
            Expr::Lit(e) => e.lit.span(),
            Expr::Loop(e) => e.body.brace_token.span.close(),
            Expr::Macro(e) => delimiter_close(&e.mac.delimiter),
            Expr::Match(e) => e.brace_token.span.close(),
            Expr::MethodCall(e) => e.paren_token.span.close(),
            Expr::Paren(e) => e.paren_token.span.close(),
            Expr::Path(e) => path_last(&e.path),
            Expr::Repeat(e) => e.bracket_token.span.close(),
            Expr::Struct(e) => e.brace_token.span.close(),
            Expr::Try(e) => e.question_token.span,
            Expr::TryBlock(e) => e.block.brace_token.span.close(),
            Expr::Tuple(e) => e.paren_token.span.close(),
            Expr::Unsafe(e) => e.block.brace_token.span.close(),
            Expr::While(e) => e.body.brace_token.span.close(),
            other => other.span(),
        };
    }
}

fn type_last(ty: &syn::Type) -> Token {
    match ty {
        syn::Type::Path(path) => path_last(&path.path),
        other => other.span(),
    }
}

fn small_token(op: &syn::UnOp) -> Token {
    op.span()
}

fn limits(limits: &RangeLimits) -> Token {
    match limits {
        RangeLimits::HalfOpen(t) => t.span(),
        RangeLimits::Closed(t) => t.span(),
    }
}

/// The range of a path expression.
pub(super) fn expr_path(e: &syn::ExprPath) -> Span {
    between(path_first(e.qself.as_ref(), &e.path), path_last(&e.path))
}
