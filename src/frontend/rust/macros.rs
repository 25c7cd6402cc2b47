//! Macro calls: the well-known ones by what they expand to, all others by trying to read their tokens as expressions,
//! statements or arms.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Block, Expr, Pat, Stmt, Token};

use super::draft::Exit;
use super::flow::split_guard;
use super::formats::Chunks;
use super::lowerer::{Lowerer, unraw};
use super::patterns::Bindings;
use super::spans;
use crate::ir::{BinOp, BlockId, Callee, CollectionKind, Const, FunctionKind, Op, Slot, Term};
use crate::source::Span;

type Exprs = Punctuated<Expr, Token![,]>;

/// What cannot be read as code that runs here.
const NOT_CODE: [&str; 18] = [
    "quote",
    "quote_spanned",
    "parse_quote",
    "stringify",
    "env",
    "option_env",
    "cfg",
    "line",
    "file",
    "column",
    "module_path",
    "compile_error",
    "include_str",
    "include_bytes",
    "include",
    "html",
    "asm",
    "global_asm",
];

/// The comma-separated expressions of a macro.
pub(super) fn exprs(tokens: &TokenStream) -> Option<Exprs> {
    Exprs::parse_terminated.parse2(tokens.clone()).ok()
}

impl Lowerer {
    /// Lowers a macro call to its value.
    pub fn macro_call(&mut self, mac: &syn::Macro) -> Slot {
        let span = spans::mac(mac);
        if self.descend().is_none() {
            return self.unknown("nested too deep", span);
        }
        let name = mac.path.segments.last().map(|segment| unraw(&segment.ident)).unwrap_or_default();
        let value = match self.known_macro(&name, mac, span) {
            Some(value) => value,
            None => self.other_macro(&name, mac, span),
        };
        self.ascend();
        value
    }

    fn known_macro(&mut self, name: &str, mac: &syn::Macro, span: Span) -> Option<Slot> {
        let tokens = &mac.tokens;
        if NOT_CODE.contains(&name) {
            return Some(self.unknown(name, span));
        }
        Some(match name {
            "format" | "format_args" | "concat" => self.format(&Chunks::of(tokens), span),
            "println" | "print" | "eprintln" | "eprint" | "trace" | "debug" | "info" | "warn" | "error" | "log"
            | "event" | "span" | "info_span" | "debug_span" | "trace_span" | "warn_span" | "error_span" => {
                self.format(&Chunks::of(tokens), span);
                self.draft.unit(span)
            }
            "write" | "writeln" => {
                let mut chunks = Chunks::of(tokens);
                let receiver = chunks.take_first()?;
                let receiver = syn::parse2::<Expr>(receiver).ok()?;
                let receiver = self.expr(&receiver);
                let text = self.format(&chunks, span);
                self.call(Callee::Method { receiver, name: "write_fmt".to_owned() }, vec![text], span)
            }
            "panic" | "unreachable" | "todo" | "unimplemented" => {
                self.format(&Chunks::of(tokens), span);
                self.draft.end(Term::Abort, span);
                self.draft.temp()
            }
            "json" => self.json(tokens, span),
            "vec" | "smallvec" => self.vec_macro(tokens, span)?,
            "matches" => {
                if let Some((value, pat, None)) = parse_matches(tokens)
                    && !matches!(pat, Pat::Guard(_))
                {
                    let value = self.expr(&value);
                    let mut names = Bindings::new();
                    let pattern = self.pattern(&pat, &mut names);
                    return Some(self.draft.emit(Op::Matches(value, pattern), span));
                }
                let (then, otherwise, join) = (self.draft.block(), self.draft.block(), self.draft.block());
                if !self.matches_macro(mac, then, otherwise) {
                    return None;
                }
                let result = self.draft.temp();
                for (block, value) in [(then, true), (otherwise, false)] {
                    self.draft.resume(block);
                    self.draft.write(Some(result), Op::Const(Const::Bool(value)), span);
                    self.draft.goto(join, span);
                }
                self.draft.resume(join);
                result
            }
            "assert" | "debug_assert" => {
                let args = exprs(tokens)?;
                let (holds, fails) = (self.draft.block(), self.draft.block());
                self.condition(args.first()?, holds, fails);
                self.draft.resume(fails);
                self.draft.end(Term::Abort, span);
                self.draft.resume(holds);
                self.draft.unit(span)
            }
            "assert_eq" | "assert_ne" | "debug_assert_eq" | "debug_assert_ne" => {
                let args = exprs(tokens)?;
                let mut args = args.iter();
                let (left, right) = (args.next()?, args.next()?);
                let (left, right) = (self.expr(left), self.expr(right));
                let op = if name.ends_with("eq") { BinOp::Eq } else { BinOp::Ne };
                let test = self.draft.emit(Op::Binary(op, left, right), span);
                let (holds, fails) = (self.draft.block(), self.draft.block());
                self.draft.branch(test, holds, fails, span);
                self.draft.resume(fails);
                self.draft.end(Term::Abort, span);
                self.draft.resume(holds);
                self.draft.unit(span)
            }
            "anyhow" | "eyre" | "format_err" => self.error_value(name, &mac.path, &Chunks::of(tokens), span),
            "bail" => {
                self.bail(&mac.path, &Chunks::of(tokens), span);
                self.draft.temp()
            }
            "ensure" => {
                let mut chunks = Chunks::of(tokens);
                let cond = syn::parse2::<Expr>(chunks.take_first()?).ok()?;
                let (holds, fails) = (self.draft.block(), self.draft.block());
                self.condition(&cond, holds, fails);
                self.draft.resume(fails);
                self.bail(&mac.path, &chunks, span);
                self.draft.resume(holds);
                self.draft.unit(span)
            }
            "try" => {
                let carrier = syn::parse2::<Expr>(tokens.clone()).ok()?;
                let carrier = self.expr(&carrier);
                self.question(carrier, span)
            }
            "ready" => {
                let args = exprs(tokens)?;
                let value = self.expr(args.first()?);
                self.draft.emit(Op::Payload(value, true), span)
            }
            "dbg" => {
                let args = exprs(tokens)?;
                let mut value = None;
                for arg in &args {
                    value = Some(self.expr(arg));
                }
                value?
            }
            "cfg_if" => self.cfg_if(tokens, span)?,
            "pin" if exprs(tokens).is_none() => {
                for stmt in Block::parse_within.parse2(tokens.clone()).ok()? {
                    if let Stmt::Local(local) = stmt {
                        self.let_statement(&local);
                    }
                }
                self.draft.unit(span)
            }
            "addr_of" | "addr_of_mut" | "pin" | "black_box" => {
                let args = exprs(tokens)?;
                let only = args.first().filter(|_| args.len() == 1)?;
                self.expr(only)
            }
            "pin_mut" => self.draft.unit(span),
            "join" | "try_join" => self.join_macro(name == "try_join", tokens, span)?,
            "select" | "select_biased" => self.select_macro(tokens, span)?,
            "stream" | "try_stream" | "gen" => self.stream_macro(name == "try_stream", tokens, span)?,
            _ => return None,
        })
    }

    fn vec_macro(&mut self, tokens: &TokenStream, span: Span) -> Option<Slot> {
        let repeat = |input: ParseStream<'_>| {
            let value: Expr = input.parse()?;
            input.parse::<Token![;]>()?;
            Ok((value, input.parse::<Expr>()?))
        };
        if let Ok((value, length)) = repeat.parse2(tokens.clone()) {
            return Some(self.repeat(&value, &length, span));
        }
        let elems = exprs(tokens)?;
        let slots = elems.iter().map(|elem| self.expr(elem)).collect();
        Some(self.draft.emit(Op::Collection(CollectionKind::List, slots), span))
    }

    /// `matches!(value, pattern if guard)` as a condition; false where it is another macro or does not parse.
    pub fn matches_macro(&mut self, mac: &syn::Macro, then: BlockId, otherwise: BlockId) -> bool {
        if mac.path.segments.last().is_none_or(|segment| segment.ident != "matches") {
            return false;
        }
        let Some((value, pat, guard)) = parse_matches(&mac.tokens) else { return false };
        let (pat, inner) = split_guard(&pat);
        let guard = guard.as_ref().or(inner);
        let span = spans::mac(mac);
        let value = self.expr(&value);
        self.draft.open();
        match guard {
            None => self.test_pattern(pat, value, then, otherwise, span),
            Some(guard) => {
                let fits = self.draft.block();
                self.test_pattern(pat, value, fits, otherwise, span);
                self.draft.resume(fits);
                self.condition(guard, then, otherwise);
            }
        }
        self.draft.close();
        true
    }

    fn error_value(&mut self, name: &str, path: &syn::Path, chunks: &Chunks, span: Span) -> Slot {
        let written = self.absolute(path);
        let path = match (written.rsplit_once("::"), name) {
            (Some((owner, _)), _) => format!("{owner}::{name}"),
            (None, "eyre") => "eyre::eyre".to_owned(),
            (None, _) => format!("anyhow::{name}"),
        };
        let text = self.format(chunks, span);
        self.call_path(&path, vec![text], span)
    }

    /// `bail!(…)`: returns an error.
    fn bail(&mut self, path: &syn::Path, chunks: &Chunks, span: Span) {
        let written = self.absolute(path);
        let name = if written.contains("eyre") { "eyre" } else { "anyhow" };
        let error = match chunks.only_expr() {
            Some(error) => self.expr(&error),
            None => {
                let text = self.format(chunks, span);
                self.call_path(&format!("{name}::{name}"), vec![text], span)
            }
        };
        let value = self.carrier("Err", Some(error), span);
        self.return_value(Some(value), span);
    }

    fn join_macro(&mut self, fails: bool, tokens: &TokenStream, span: Span) -> Option<Slot> {
        let (tokens, _) = without_biased(tokens);
        let futures = exprs(&tokens)?;
        let started: Vec<Slot> = futures.iter().map(|future| self.expr(future)).collect();
        if !fails {
            let values = started.into_iter().map(|future| self.draft.emit(Op::Await(future), span)).collect();
            return Some(self.draft.emit(Op::Collection(CollectionKind::Tuple, values), span));
        }
        let result = self.draft.temp();
        let after = self.draft.block();
        self.draft.exits.push(Exit { result, after, only_try: true });
        let mut values = Vec::new();
        for future in started {
            let carrier = self.draft.emit(Op::Await(future), span);
            values.push(self.question(carrier, span));
        }
        self.draft.exits.pop();
        let all = self.draft.emit(Op::Collection(CollectionKind::Tuple, values), span);
        let value = self.variant("Ok".to_owned(), vec![all], span);
        self.copy(value, Some(result), span);
        self.draft.goto(after, span);
        self.draft.resume(after);
        Some(result)
    }

    /// `stream! { … yield x; … }`: a generator.
    fn stream_macro(&mut self, fallible: bool, tokens: &TokenStream, span: Span) -> Option<Slot> {
        let stmts = Block::parse_within.parse2(without_for_await(tokens)).ok()?;
        let id = self.reserve();
        self.begin(id, FunctionKind::AsyncBlock, "<async>", span);
        self.draft.head.is_generator = true;
        self.statements(&stmts, None, Span { start: span.end, end: span.end });
        let value = fallible.then(|| {
            let unit = self.draft.unit(span);
            self.carrier("Ok", Some(unit), span)
        });
        self.draft.end(Term::Return(value), span);
        self.end_function();
        Some(self.draft.emit(Op::Func(id), span))
    }

    /// `cfg_if!` among statements: any of its branches may be the one that is compiled.
    fn cfg_if(&mut self, tokens: &TokenStream, span: Span) -> Option<Slot> {
        let branches = tokens.clone().into_iter().filter_map(|tree| match tree {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                Block::parse_within.parse2(group.stream()).ok()
            }
            _ => None,
        });
        let branches: Vec<Vec<Stmt>> = branches.collect();
        let (last, first) = branches.split_last()?;
        let result = self.draft.temp();
        let join = self.draft.block();
        let end = Span { start: span.end, end: span.end };
        for stmts in first {
            let (taken, next) = (self.draft.block(), self.draft.block());
            let test = self.unknown("cfg", span);
            self.draft.branch(test, taken, next, span);
            self.draft.resume(taken);
            self.statements(stmts, Some(result), end);
            self.draft.goto(join, span);
            self.draft.resume(next);
        }
        self.statements(last, Some(result), end);
        self.draft.goto(join, span);
        self.draft.resume(join);
        Some(result)
    }

    /// A macro of which nothing is known: what it is given is evaluated once, in order.
    fn other_macro(&mut self, name: &str, mac: &syn::Macro, span: Span) -> Slot {
        let what = format!("{name}!");
        if mac.tokens.is_empty() {
            return self.unknown(&what, span);
        }
        if let Some(args) = exprs(&mac.tokens) {
            for arg in &args {
                self.into(arg, None);
            }
            return self.unknown(&what, span);
        }
        if let Ok(stmts) = Block::parse_within.parse2(without_for_await(&mac.tokens)) {
            if !stmts.iter().all(|stmt| matches!(stmt, Stmt::Item(_))) {
                let slot = self.draft.temp();
                self.statements(&stmts, Some(slot), Span { start: span.end, end: span.end });
                return slot;
            }
            return self.unknown(&what, span);
        }
        match self.select_macro(&mac.tokens, span) {
            Some(value) => value,
            None => self.unknown(&what, span),
        }
    }
}

/// `value, pattern if guard`
fn parse_matches(tokens: &TokenStream) -> Option<(Expr, Pat, Option<Expr>)> {
    let parse = |input: ParseStream<'_>| {
        let value: Expr = input.parse()?;
        input.parse::<Token![,]>()?;
        let pat = Pat::parse_multi_with_leading_vert(input)?;
        let guard = match input.parse::<Option<Token![if]>>()? {
            Some(_) => Some(input.parse::<Expr>()?),
            None => None,
        };
        input.parse::<Option<Token![,]>>()?;
        Ok((value, pat, guard))
    };
    parse.parse2(tokens.clone()).ok()
}

/// Without a leading `biased;`.
pub(super) fn without_biased(tokens: &TokenStream) -> (TokenStream, bool) {
    let mut trees = tokens.clone().into_iter();
    let is_biased = matches!(trees.next(), Some(TokenTree::Ident(word)) if word == "biased")
        && matches!(trees.next(), Some(TokenTree::Punct(semi)) if semi.as_char() == ';');
    if is_biased { (trees.collect(), true) } else { (tokens.clone(), false) }
}

/// `for await x in stream` as `for x in stream`: syn does not know the former.
fn without_for_await(tokens: &TokenStream) -> TokenStream {
    let mut after_for = false;
    tokens
        .clone()
        .into_iter()
        .filter_map(|tree| {
            let is_for = matches!(&tree, TokenTree::Ident(word) if word == "for");
            let is_await = matches!(&tree, TokenTree::Ident(word) if word == "await");
            let drop = is_await && after_for;
            after_for = is_for;
            if drop {
                return None;
            }
            Some(match tree {
                TokenTree::Group(group) => {
                    let mut inner = proc_macro2::Group::new(group.delimiter(), without_for_await(&group.stream()));
                    inner.set_span(group.span());
                    TokenTree::Group(inner)
                }
                other => other,
            })
        })
        .collect()
}
