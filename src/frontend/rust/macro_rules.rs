//! Bodies of `macro_rules!`: about one real retry loop in twenty stands in one.
//!
//! A metavariable is one token instead of two, with the place of both, so that a body parses like other code and keeps
//! its byte offsets. One that stands for an expression is a call of which nothing is known.

use proc_macro2::{Delimiter, Group, Ident, Punct, Spacing, TokenStream, TokenTree};
use rustc_hash::FxHashMap;
use syn::Block;
use syn::parse::Parser;

use super::exprs::METAVARIABLE;
use super::lowerer::Lowerer;
use super::spans;
use crate::ir::{FunctionKind, Term};

/// What becomes of `$( … )*`: the first that parses is taken.
#[derive(Clone, Copy, PartialEq)]
enum Repetition {
    /// Its content, once.
    Inline,
    /// Its content as a statement: `$($body)*` among statements.
    Statement,
    /// Nothing.
    Dropped,
}

type Kinds = FxHashMap<String, String>;

impl Lowerer {
    /// Lowers the arms of a `macro_rules!` definition that parse.
    pub fn macro_rules(&mut self, name: &str, mac: &syn::Macro) {
        let trees: Vec<TokenTree> = mac.tokens.clone().into_iter().collect();
        let mut rest = trees.as_slice();
        while let [
            TokenTree::Group(matcher),
            TokenTree::Punct(a),
            TokenTree::Punct(b),
            TokenTree::Group(body),
            more @ ..,
        ] = rest
        {
            if a.as_char() != '=' || b.as_char() != '>' {
                return;
            }
            rest = match more {
                [TokenTree::Punct(semi), more @ ..] if semi.as_char() == ';' => more,
                more => more,
            };
            let mut kinds = Kinds::default();
            collect_kinds(matcher.stream(), &mut kinds);
            let ways = [Repetition::Inline, Repetition::Statement, Repetition::Dropped];
            let parsed = ways.into_iter().find_map(|way| {
                let code = transcribe(body.stream(), &kinds, way);
                Block::parse_within.parse2(code).ok()
            });
            let Some(stmts) = parsed else { continue };
            let span = spans::token(body.span());
            let id = self.reserve();
            self.begin(id, FunctionKind::MacroBody, name, spans::token(matcher.span()).to(span));
            self.draft.head.header = spans::token(matcher.span());
            let value = self.draft.temp();
            self.statements(&stmts, Some(value), spans::token(body.span_close()));
            self.draft.end(Term::Return(Some(value)), spans::token(body.span_close()));
            self.end_function();
        }
    }
}

/// `$name:kind` everywhere in a matcher.
fn collect_kinds(matcher: TokenStream, kinds: &mut Kinds) {
    let mut open = vec![matcher];
    while let Some(tokens) = open.pop() {
        let trees: Vec<TokenTree> = tokens.into_iter().collect();
        for window in trees.windows(4) {
            if let [TokenTree::Punct(dollar), TokenTree::Ident(name), TokenTree::Punct(colon), TokenTree::Ident(kind)] =
                window
                && dollar.as_char() == '$'
                && colon.as_char() == ':'
            {
                kinds.insert(name.to_string(), kind.to_string());
            }
        }
        open.extend(trees.into_iter().filter_map(|tree| match tree {
            TokenTree::Group(group) => Some(group.stream()),
            _ => None,
        }));
    }
}

/// The body with identifiers for metavariables; repetitions are written out once.
fn transcribe(body: TokenStream, kinds: &Kinds, way: Repetition) -> TokenStream {
    let trees: Vec<TokenTree> = body.into_iter().collect();
    let mut out = TokenStream::new();
    let mut rest = trees.as_slice();
    while let [first, more @ ..] = rest {
        rest = more;
        let is_dollar = matches!(first, TokenTree::Punct(p) if p.as_char() == '$');
        match (is_dollar, more) {
            (true, [TokenTree::Ident(name), more @ ..]) => {
                rest = more;
                let span = first.span().join(name.span()).unwrap_or_else(|| name.span());
                out.extend(metavariable(&name.to_string(), kinds, span));
            }
            (true, [TokenTree::Group(group), more @ ..]) if group.delimiter() == Delimiter::Parenthesis => {
                if way != Repetition::Dropped {
                    out.extend(transcribe(group.stream(), kinds, way));
                }
                if way == Repetition::Statement {
                    let mut end = Punct::new(';', Spacing::Alone);
                    end.set_span(group.span());
                    out.extend([TokenTree::Punct(end)]);
                }
                rest = after_repetition(more);
            }
            _ => match first {
                TokenTree::Group(group) => {
                    let mut inner = Group::new(group.delimiter(), transcribe(group.stream(), kinds, way));
                    inner.set_span(group.span());
                    out.extend([TokenTree::Group(inner)]);
                }
                other => out.extend([other.clone()]),
            },
        }
    }
    out
}

fn metavariable(name: &str, kinds: &Kinds, span: proc_macro2::Span) -> TokenStream {
    if name == "crate" {
        return TokenTree::Ident(Ident::new("crate", span)).into();
    }
    let unknown = || TokenTree::Ident(Ident::new(&format!("{METAVARIABLE}{name}"), span));
    match kinds.get(name).map(String::as_str) {
        Some("expr" | "expr_2021" | "tt" | "stmt") => unknown().into(),
        Some("block") => {
            let mut block = Group::new(Delimiter::Brace, unknown().into());
            block.set_span(span);
            TokenTree::Group(block).into()
        }
        Some("lifetime") => {
            let mut quote = Punct::new('\'', Spacing::Joint);
            quote.set_span(span);
            [TokenTree::Punct(quote), TokenTree::Ident(plain(name, span))].into_iter().collect()
        }
        Some("vis" | "meta") => TokenStream::new(),
        _ => TokenTree::Ident(plain(name, span)).into(),
    }
}

fn plain(name: &str, span: proc_macro2::Span) -> Ident {
    if syn::parse_str::<Ident>(name).is_ok() { Ident::new(name, span) } else { Ident::new(&format!("{name}_"), span) }
}

/// After the separator and the operator of `$(…),*`.
fn after_repetition(rest: &[TokenTree]) -> &[TokenTree] {
    let operator = |tree: &TokenTree| matches!(tree, TokenTree::Punct(p) if matches!(p.as_char(), '*' | '+' | '?'));
    match rest {
        [first, more @ ..] if operator(first) => more,
        [_, second, more @ ..] if operator(second) => more,
        other => other,
    }
}
