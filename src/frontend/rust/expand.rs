//! Macros in the place of items, replaced by the items that they hold: `lazy_static!`, `thread_local!`, `cfg_if!`, and
//! any other whose tokens are items.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::Item;

use super::lowerer::unraw;

/// Replaces item macros by what they hold, nested modules included.
pub(super) fn expand(items: Vec<Item>, depth: usize) -> Vec<Item> {
    let mut out = Vec::with_capacity(items.len());
    for item in items {
        match item {
            Item::Macro(mac) if !mac.mac.path.is_ident("macro_rules") && depth < 64 => {
                let name = mac.mac.path.segments.last().map(|segment| unraw(&segment.ident)).unwrap_or_default();
                let inner = match name.as_str() {
                    "cfg_if" => branches(&mac.mac.tokens),
                    _ => parse(&mac.mac.tokens),
                };
                match inner {
                    Some(inner) => out.extend(expand(inner, depth + 1)),
                    None => out.push(Item::Macro(mac)),
                }
            }
            Item::Mod(mut module) => {
                if let Some((_, inner)) = &mut module.content {
                    *inner = expand(std::mem::take(inner), depth);
                }
                out.push(Item::Mod(module));
            }
            other => out.push(other),
        }
    }
    out
}

/// Tokens as items; `static ref NAME` is a static, and the last `;` may be missing.
fn parse(tokens: &TokenStream) -> Option<Vec<Item>> {
    if tokens.is_empty() {
        return None;
    }
    let mut plain: Vec<TokenTree> = Vec::new();
    let mut after_static = false;
    for tree in tokens.clone() {
        let is_ref = matches!(&tree, TokenTree::Ident(word) if word == "ref");
        let is_static = matches!(&tree, TokenTree::Ident(word) if word == "static");
        if !(is_ref && after_static) {
            plain.push(tree);
        }
        after_static = is_static;
    }
    let whole: TokenStream = plain.iter().cloned().collect();
    if let Ok(file) = syn::parse2::<syn::File>(whole) {
        return Some(file.items);
    }
    let span = plain.last()?.span();
    let mut semicolon = proc_macro2::Punct::new(';', proc_macro2::Spacing::Alone);
    semicolon.set_span(span);
    plain.push(TokenTree::Punct(semicolon));
    syn::parse2::<syn::File>(plain.into_iter().collect()).ok().map(|file| file.items)
}

/// The items of all branches of `cfg_if!`.
fn branches(tokens: &TokenStream) -> Option<Vec<Item>> {
    let mut items = Vec::new();
    for tree in tokens.clone() {
        if let TokenTree::Group(group) = tree
            && group.delimiter() == Delimiter::Brace
        {
            items.extend(parse(&group.stream()).unwrap_or_default());
        }
    }
    (!items.is_empty()).then_some(items)
}
