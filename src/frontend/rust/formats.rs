//! The arguments of `format!` and its relatives, and those of logging macros, which add fields and sigils.

use proc_macro2::{TokenStream, TokenTree};
use syn::{Expr, Lit};

use super::literals;
use super::lowerer::{Lowerer, unraw};
use crate::ir::{FormatPart, Op, Slot};
use crate::source::Span;

/// A macro's tokens, cut at its commas.
pub(super) struct Chunks(Vec<TokenStream>);

impl Chunks {
    /// Cuts tokens at the commas (and semicolons) that stand in no brackets.
    pub fn of(tokens: &TokenStream) -> Self {
        let mut chunks = Vec::new();
        let mut chunk: Vec<TokenTree> = Vec::new();
        let mut angles = 0usize;
        let mut before = ' ';
        for tree in tokens.clone() {
            match &tree {
                TokenTree::Punct(punct) => {
                    match punct.as_char() {
                        '<' if before == ':' => angles += 1,
                        '>' => angles = angles.saturating_sub(1),
                        ',' | ';' if angles == 0 => {
                            chunks.push(chunk.drain(..).collect());
                            before = ',';
                            continue;
                        }
                        _ => {}
                    }
                    before = punct.as_char();
                }
                _ => before = ' ',
            }
            chunk.push(tree);
        }
        if !chunk.is_empty() {
            chunks.push(chunk.into_iter().collect());
        }
        Chunks(chunks)
    }

    /// Takes the first chunk off.
    pub fn take_first(&mut self) -> Option<TokenStream> {
        (!self.0.is_empty()).then(|| self.0.remove(0))
    }

    /// The only chunk, where it is an expression other than a text.
    pub fn only_expr(&self) -> Option<Expr> {
        let [only] = self.0.as_slice() else { return None };
        let expr = syn::parse2::<Expr>(only.clone()).ok()?;
        (!matches!(&expr, Expr::Lit(_))).then_some(expr)
    }
}

/// `name = value`, `%value`, `?value`, `target: value`: the name and the value.
fn field(tokens: &TokenStream) -> (Option<String>, TokenStream) {
    let trees: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let mut name = None;
    let mut rest = trees.as_slice();
    let equals = trees.iter().position(|tree| matches!(tree, TokenTree::Punct(p) if matches!(p.as_char(), '=' | ':')));
    if let Some(at) = equals {
        let (before, after) = trees.split_at(at);
        let is_name = before.iter().all(|tree| match tree {
            TokenTree::Ident(_) => true,
            TokenTree::Punct(p) => p.as_char() == '.',
            _ => false,
        });
        let doubled = matches!(after.get(1), Some(TokenTree::Punct(p)) if matches!(p.as_char(), '=' | ':' | '>'));
        if is_name && !before.is_empty() && !doubled {
            if let [TokenTree::Ident(word)] = before {
                name = Some(unraw(word));
            }
            rest = after.get(1..).unwrap_or_default();
        }
    }
    while let [TokenTree::Punct(sigil), more @ ..] = rest
        && matches!(sigil.as_char(), '%' | '?')
    {
        rest = more;
    }
    (name, rest.iter().cloned().collect())
}

impl Lowerer {
    /// Evaluates the arguments and builds the text.
    pub fn format(&mut self, chunks: &Chunks, span: Span) -> Slot {
        let mut template = None;
        let mut positional = Vec::new();
        let mut named: Vec<(String, Slot)> = Vec::new();
        let mut parts = Vec::new();
        for chunk in &chunks.0 {
            let (name, value) = field(chunk);
            let Ok(expr) = syn::parse2::<Expr>(value) else { continue };
            if let (None, None, Expr::Lit(lit)) = (&template, &name, &expr)
                && let Lit::Str(text) = &lit.lit
            {
                template = Some(text.value());
                // What came before were fields of a log record.
                parts.extend(positional.drain(..).map(FormatPart::Value));
                continue;
            }
            let slot = match literals::constant(&expr) {
                Some(value) => self.draft.constant(value, span),
                None => self.expr(&expr),
            };
            match name {
                Some(name) => named.push((name, slot)),
                None => positional.push(slot),
            }
        }
        match template {
            Some(text) => {
                parts.extend(self.template(&text, &positional, &named, span));
                // Fields of a log record that its text does not name.
                let others = named.iter().filter(|(name, _)| !text.contains(&format!("{{{name}")));
                parts.extend(others.map(|(_, slot)| FormatPart::Value(*slot)));
            }
            None => {
                parts.extend(
                    positional.into_iter().chain(named.into_iter().map(|(_, slot)| slot)).map(FormatPart::Value),
                );
            }
        }
        self.draft.emit(Op::Format(parts), span)
    }

    fn template(&mut self, text: &str, positional: &[Slot], named: &[(String, Slot)], span: Span) -> Vec<FormatPart> {
        let mut parts = Vec::new();
        let mut next = 0;
        let mut plain = String::new();
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                '{' | '}' if chars.peek() == Some(&c) => {
                    chars.next();
                    plain.push(c);
                }
                '{' => {
                    let inside: String = chars.by_ref().take_while(|c| *c != '}').collect();
                    let argument = inside.split(':').next().unwrap_or_default().trim();
                    if !plain.is_empty() {
                        parts.push(FormatPart::Text(std::mem::take(&mut plain)));
                    }
                    let slot = if argument.is_empty() {
                        next += 1;
                        positional.get(next - 1).copied()
                    } else if let Ok(at) = argument.parse::<usize>() {
                        positional.get(at).copied()
                    } else {
                        let given = named.iter().find(|(name, _)| name == argument).map(|(_, slot)| *slot);
                        given.or_else(|| self.captured_value(argument, span))
                    };
                    match slot {
                        Some(slot) => parts.push(FormatPart::Value(slot)),
                        None => plain.push_str(&inside),
                    }
                }
                c => plain.push(c),
            }
        }
        if !plain.is_empty() {
            parts.push(FormatPart::Text(plain));
        }
        parts
    }

    /// `{name}`: a variable or constant in sight.
    fn captured_value(&mut self, name: &str, span: Span) -> Option<Slot> {
        if let Some(slot) = self.variable(name) {
            return Some(slot);
        }
        let absolute = self.resolve(&[name.to_owned()]);
        match self.own_item(&absolute)? {
            super::names::Named::Global(id) => Some(self.draft.emit(Op::Global(id), span)),
            _ => None,
        }
    }
}
