//! Attributes: tests, and attribute macros that may change what a call of a function does.

use proc_macro2::TokenTree;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, Item, Meta, Token};

use super::lowerer::{Lowerer, unraw};
use super::names::Named;
use super::{literals, spans};
use crate::ir::{Arg, Callee, Decorator, FuncId, Op};

/// Attributes that leave a call as it is.
const HARMLESS: [&str; 42] = [
    "derive",
    "cfg",
    "cfg_attr",
    "inline",
    "allow",
    "warn",
    "deny",
    "forbid",
    "expect",
    "doc",
    "must_use",
    "cold",
    "main",
    "async_trait",
    "instrument",
    "test",
    "ignore",
    "should_panic",
    "deprecated",
    "track_caller",
    "no_mangle",
    "target_feature",
    "automatically_derived",
    "export_name",
    "link_section",
    "unsafe",
    "skip",
    "bench",
    "rstest",
    "case",
    "test_case",
    "non_exhaustive",
    "repr",
    "serde",
    "stable",
    "unstable",
    "rustc_const_stable",
    "const_trait",
    "global_allocator",
    "panic_handler",
    "proc_macro",
    "proc_macro_derive",
];
/// Attributes that make a test or benchmark.
const TESTS: [&str; 7] = ["test", "bench", "rstest", "test_case", "wasm_bindgen_test", "quickcheck", "proptest"];

/// Attributes of a field that say what it is where nobody says otherwise: what reads a configuration (serde), arguments
/// (clap, structopt, argh), or makes builders (typed-builder, derive_builder, bon) puts it there.
const DEFAULTS: [(&str, &str, Default); 9] = [
    ("serde", "default", Default::Function),
    ("arg", "default_value_t", Default::Value),
    ("arg", "default_value", Default::Text),
    ("clap", "default_value_t", Default::Value),
    ("clap", "default_value", Default::Text),
    ("structopt", "default_value", Default::Text),
    ("argh", "default", Default::Text),
    ("builder", "default", Default::Value),
    ("builder", "default_code", Default::Text),
];

/// How the attribute says it.
#[derive(Clone, Copy, PartialEq)]
enum Default {
    /// By the path of a function, in a text.
    Function,
    /// As an expression.
    Value,
    /// As an expression in a text.
    Text,
}

/// The attributes of an item.
pub(super) fn of_item(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(i) => &i.attrs,
        Item::Enum(i) => &i.attrs,
        Item::ExternCrate(i) => &i.attrs,
        Item::Fn(i) => &i.attrs,
        Item::ForeignMod(i) => &i.attrs,
        Item::Impl(i) => &i.attrs,
        Item::Macro(i) => &i.attrs,
        Item::Mod(i) => &i.attrs,
        Item::Static(i) => &i.attrs,
        Item::Struct(i) => &i.attrs,
        Item::Trait(i) => &i.attrs,
        Item::Type(i) => &i.attrs,
        Item::Union(i) => &i.attrs,
        Item::Use(i) => &i.attrs,
        _ => &[],
    }
}

fn name(attr: &Attribute) -> String {
    attr.path().segments.last().map(|segment| unraw(&segment.ident)).unwrap_or_default()
}

/// Whether attributes say that something is test code.
pub(super) fn is_test(attrs: &[Attribute]) -> bool {
    attrs.iter().any(|attr| match name(attr).as_str() {
        "cfg" => match &attr.meta {
            Meta::List(list) => names_test(list.tokens.clone()),
            _ => false,
        },
        name => TESTS.contains(&name),
    })
}

/// Whether a `cfg` asks for `test`, not for its absence.
fn names_test(tokens: proc_macro2::TokenStream) -> bool {
    let mut open = vec![tokens];
    while let Some(tokens) = open.pop() {
        let mut negated = false;
        for tree in tokens {
            match tree {
                TokenTree::Ident(name) if name == "test" => return true,
                TokenTree::Ident(name) => negated = name == "not",
                TokenTree::Group(group) if !negated => open.push(group.stream()),
                _ => {}
            }
        }
    }
    false
}

/// Whether attributes keep a statement out of the program for an ordinary computer: it is for another sort of target.
/// What features are on is not known.
pub(super) fn is_for_others(attrs: &[Attribute]) -> bool {
    let holds = |attr: &Attribute| match &attr.meta {
        Meta::List(list) if attr.path().is_ident("cfg") => holds(&list.parse_args::<Meta>().ok()?),
        _ => None,
    };
    attrs.iter().any(|attr| holds(attr) == Some(false))
}

/// Whether a condition of a `cfg` holds on an ordinary computer, where that is known.
fn holds(condition: &Meta) -> Option<bool> {
    let name = condition.path().get_ident().map(unraw)?;
    let parts = |list: &syn::MetaList| {
        list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated)
            .map(|parts| parts.iter().map(holds).collect::<Vec<_>>())
            .ok()
    };
    match condition {
        Meta::Path(_) => matches!(name.as_str(), "test" | "miri" | "loom").then_some(false),
        Meta::NameValue(pair) => {
            let Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(value), .. }) = &pair.value else { return None };
            let value = value.value();
            match name.as_str() {
                "target_family" | "target_arch" => value.starts_with("wasm").then_some(false),
                _ => None,
            }
        }
        Meta::List(list) => match name.as_str() {
            "not" => parts(list)?.first().copied().flatten().map(|holds| !holds),
            "all" => parts(list)?.contains(&Some(false)).then_some(false),
            "any" => {
                let parts = parts(list)?;
                let none = !parts.is_empty() && parts.iter().all(|part| *part == Some(false));
                if parts.contains(&Some(true)) { Some(true) } else { none.then_some(false) }
            }
            _ => None,
        },
    }
}

fn text_of(value: &Expr) -> Option<String> {
    match value {
        Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => Some(text.value()),
        _ => None,
    }
}

/// The attributes of a statement.
pub(super) fn of_statement(stmt: &syn::Stmt) -> &[Attribute] {
    match stmt {
        syn::Stmt::Local(local) => &local.attrs,
        syn::Stmt::Macro(stmt) => &stmt.attrs,
        syn::Stmt::Expr(expr, _) => match expr {
            Expr::Block(e) => &e.attrs,
            Expr::Call(e) => &e.attrs,
            Expr::MethodCall(e) => &e.attrs,
            Expr::Await(e) => &e.attrs,
            Expr::Try(e) => &e.attrs,
            Expr::If(e) => &e.attrs,
            Expr::Match(e) => &e.attrs,
            Expr::Assign(e) => &e.attrs,
            Expr::Return(e) => &e.attrs,
            Expr::Loop(e) => &e.attrs,
            Expr::While(e) => &e.attrs,
            Expr::ForLoop(e) => &e.attrs,
            Expr::Path(e) => &e.attrs,
            _ => &[],
        },
        syn::Stmt::Item(_) => &[],
    }
}

impl Lowerer {
    /// The value that the attributes of a field declare it to have where nobody says otherwise, as an initialiser.
    pub fn declared_default(&mut self, attrs: &[Attribute]) -> Option<FuncId> {
        for attr in attrs {
            let Meta::List(list) = &attr.meta else { continue };
            let Ok(parts) = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated) else { continue };
            for part in &parts {
                let Meta::NameValue(pair) = part else { continue };
                let said = |(of, key, _): &&(&str, &str, Default)| attr.path().is_ident(of) && pair.path.is_ident(key);
                let Some((.., how)) = DEFAULTS.iter().find(said) else { continue };
                let span = spans::small(&attr.meta);
                return match (how, text_of(&pair.value)) {
                    (Default::Function, Some(path)) => {
                        let path = self.absolute(&syn::parse_str(&path).ok()?);
                        let Some(Named::Func(id)) = self.own_item(&path) else { return None };
                        Some(self.initialiser(span, |this| {
                            let callee = this.draft.emit(Op::Func(id), span);
                            let args = Vec::new();
                            this.draft.emit(Op::Call { callee: Callee::Value(callee), args }, span)
                        }))
                    }
                    (Default::Function, None) => None,
                    (Default::Value, None) => Some(self.initialiser_of(&pair.value)),
                    (_, Some(text)) => {
                        let value = literals::constant(&syn::parse_str(&text).ok()?)?;
                        Some(self.initialiser(span, |this| this.draft.constant(value, span)))
                    }
                    (Default::Text, None) => None,
                };
            }
        }
        None
    }

    /// The attribute macros of a function that are not known to be harmless.
    pub fn decorators(&mut self, attrs: &[Attribute]) -> Vec<Decorator> {
        let mut out = Vec::new();
        for attr in attrs {
            let tool = attr.path().segments.first().is_some_and(|s| s.ident == "clippy" || s.ident == "rustfmt");
            if tool || HARMLESS.contains(&name(attr).as_str()) || !matches!(attr.style, syn::AttrStyle::Outer) {
                continue;
            }
            let span = spans::small(&attr.meta);
            let value = self.initialiser(span, |this| {
                let path = this.absolute(attr.path());
                let callee = this.draft.emit(Op::Path(path), span);
                let Meta::List(list) = &attr.meta else { return callee };
                let Some(args) = this.attribute_args(&list.tokens) else {
                    return this.unknown("attribute", span);
                };
                this.draft.emit(Op::Call { callee: Callee::Value(callee), args }, span)
            });
            out.push(Decorator { span, value });
        }
        out
    }

    fn attribute_args(&mut self, tokens: &proc_macro2::TokenStream) -> Option<Vec<Arg>> {
        let list = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(tokens.clone()).ok()?;
        let mut args = Vec::new();
        for expr in &list {
            let (name, value) = match expr {
                Expr::Assign(assign) => match &*assign.left {
                    Expr::Path(path) => (path.path.get_ident().map(unraw), &*assign.right),
                    _ => (None, expr),
                },
                other => (None, other),
            };
            let value = self.expr(value);
            args.push(Arg { name, value, spread: false });
        }
        Some(args)
    }
}
