//! `json!`: a value written as JSON, in which what is no literal is code.

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};
use syn::Expr;

use super::formats::Chunks;
use super::lowerer::Lowerer;
use crate::ir::{CollectionKind, Const, Op, Slot};
use crate::source::Span;

impl Lowerer {
    /// The value of what stands in `json!(…)`.
    pub fn json(&mut self, tokens: &TokenStream, span: Span) -> Slot {
        if self.descend().is_none() {
            return self.unknown("nested too deep", span);
        }
        let value = self.json_value(tokens, span);
        self.ascend();
        value
    }

    fn json_value(&mut self, tokens: &TokenStream, span: Span) -> Slot {
        let mut trees = tokens.clone().into_iter();
        match (trees.next(), trees.next()) {
            (Some(TokenTree::Group(group)), None) if group.delimiter() == Delimiter::Brace => {
                let mut slots = Vec::new();
                let mut fields = Chunks::of(&group.stream());
                while let Some(field) = fields.take_first() {
                    let (key, value) = halves(field);
                    slots.push(self.json_part(key, span));
                    slots.push(self.json(&value, span));
                }
                self.draft.emit(Op::Collection(CollectionKind::Dict, slots), span)
            }
            (Some(TokenTree::Group(group)), None) if group.delimiter() == Delimiter::Bracket => {
                let mut slots = Vec::new();
                let mut items = Chunks::of(&group.stream());
                while let Some(item) = items.take_first() {
                    slots.push(self.json(&item, span));
                }
                self.draft.emit(Op::Collection(CollectionKind::List, slots), span)
            }
            (Some(TokenTree::Ident(name)), None) if name == "null" => self.draft.emit(Op::Const(Const::None), span),
            _ => self.json_part(tokens.clone(), span),
        }
    }

    fn json_part(&mut self, tokens: TokenStream, span: Span) -> Slot {
        match syn::parse2::<Expr>(tokens) {
            Ok(expr) => self.expr(&expr),
            Err(_) => self.unknown("json", span),
        }
    }
}

/// A key and its value.
fn halves(field: TokenStream) -> (TokenStream, TokenStream) {
    let mut trees: Vec<TokenTree> = field.into_iter().collect();
    let colon = trees.iter().enumerate().position(|(at, tree)| {
        let parts = |tree: &TokenTree| matches!(tree, TokenTree::Punct(punct) if punct.as_char() == ':');
        let alone = matches!(tree, TokenTree::Punct(punct) if punct.spacing() == Spacing::Alone);
        let second = at.checked_sub(1).and_then(|before| trees.get(before)).is_some_and(parts);
        parts(tree) && alone && !second
    });
    let value = match colon {
        Some(at) => trees.split_off(at).into_iter().skip(1).collect(),
        None => TokenStream::new(),
    };
    (trees.into_iter().collect(), value)
}
