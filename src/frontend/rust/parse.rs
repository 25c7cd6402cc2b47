//! Text to syntax tree, never giving up more than it must.
//!
//! syn gives up a whole file at one syntax error and recurses without a limit. So the tokens are looked at first: what
//! nests too deep for any stack is left out, and where a file does not parse, its items are parsed one by one, and the
//! members of an `impl`, `trait` or `mod` that does not parse one by one too.
//!
//! Byte offsets are those of the text as given: a byte-order mark, a shebang, and parts that are not even tokens are
//! overwritten with blanks before the tokens are made.

use std::str::FromStr;

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use syn::{Attribute, ImplItem, Item, TraitItem};

use super::spans;
use crate::ir::Unparsed;
use crate::source::Span;

/// Deeper than this, an item is reported rather than parsed.
pub(super) const TOO_DEEP: usize = 2_000;
/// As deep as this, a module that does not parse is taken apart.
const MODULES: usize = 50;

/// What could be parsed of a file.
#[derive(Default)]
pub(super) struct Parsed {
    /// Inner attributes of the file.
    pub attrs: Vec<Attribute>,
    /// Its items.
    pub items: Vec<Item>,
    /// The parts that could not be parsed.
    pub unparsed: Vec<Unparsed>,
}

/// Tokens of the text; the parts that are no tokens are blanked and reported.
pub(super) fn tokenise(text: &str, unparsed: &mut Vec<Unparsed>) -> TokenStream {
    let text = blank_preamble(text);
    if let Ok(tokens) = TokenStream::from_str(&text) {
        return tokens;
    }
    let mut kept = String::with_capacity(text.len());
    for chunk in chunks(&text) {
        match TokenStream::from_str(chunk) {
            Ok(_) => kept.push_str(chunk),
            Err(error) => {
                let trimmed = chunk.trim_end().len();
                unparsed.push(Unparsed {
                    span: Span::new(kept.len(), kept.len() + trimmed),
                    message: format!("not valid Rust tokens: {error}"),
                });
                push_blanks(&mut kept, chunk);
            }
        }
    }
    TokenStream::from_str(&kept).unwrap_or_default()
}

/// Overwrites a byte-order mark, a shebang and a frontmatter with blanks of the same length.
fn blank_preamble(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    if let Some(after) = rest.strip_prefix('\u{feff}') {
        out.push_str("   ");
        rest = after;
    }
    let is_shebang = rest.strip_prefix("#!").is_some_and(|after| !after.trim_start().starts_with('['));
    if is_shebang {
        let (line, after) = rest.split_at(rest.find('\n').unwrap_or(rest.len()));
        push_blanks(&mut out, line);
        rest = after;
    }
    let body = rest.trim_start();
    if body.starts_with("---") {
        let close = body.find('\n').and_then(|at| body.get(at..)?.find("\n---").map(|end| at + end + 4));
        if let Some(close) = close {
            let (front, after) = rest.split_at(rest.len() - body.len() + close);
            push_blanks(&mut out, front);
            rest = after;
        }
    }
    out.push_str(rest);
    out
}

fn push_blanks(out: &mut String, text: &str) {
    out.extend(text.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
}

/// Splits a text where a line begins that looks like the start of a top-level item.
fn chunks(text: &str) -> Vec<&str> {
    const STARTS: [&str; 17] = [
        "pub",
        "fn ",
        "impl",
        "use ",
        "struct ",
        "enum ",
        "mod ",
        "async ",
        "const ",
        "static ",
        "trait ",
        "type ",
        "#[",
        "unsafe ",
        "extern ",
        "macro_rules!",
        "///",
    ];
    let mut out = Vec::new();
    let mut start = 0;
    let mut at = 0;
    let mut in_head = false;
    for line in text.split_inclusive('\n') {
        let begins = STARTS.iter().any(|word| line.starts_with(word));
        let is_attribute = line.starts_with("#[") || line.starts_with("///");
        if begins && !in_head && at > start {
            out.extend(text.get(start..at));
            start = at;
        }
        in_head = is_attribute || (in_head && !begins && line.trim().is_empty());
        at += line.len();
    }
    out.extend(text.get(start..));
    out
}

/// An upper bound of how deep the parser and the lowering recurse on these tokens: brackets, and within one pair of
/// them the longest run of operators, method calls and the like that no separator interrupts.
pub(super) fn depth(tokens: &TokenStream) -> usize {
    struct Level {
        rest: proc_macro2::token_stream::IntoIter,
        base: usize,
        run: usize,
        angles: usize,
        after_brace: bool,
        after_equals: bool,
    }
    let level = |tokens: TokenStream, base: usize| Level {
        rest: tokens.into_iter(),
        base,
        run: 0,
        angles: 0,
        after_brace: false,
        after_equals: false,
    };
    let mut deepest = 0;
    let mut open = vec![level(tokens.clone(), 0)];
    while let Some(top) = open.last_mut() {
        let Some(tree) = top.rest.next() else {
            open.pop();
            continue;
        };
        let was_brace = std::mem::take(&mut top.after_brace);
        let was_equals = std::mem::take(&mut top.after_equals);
        let mut inner = None;
        match tree {
            TokenTree::Group(group) => {
                top.after_brace = group.delimiter() == Delimiter::Brace;
                inner = Some(group.stream());
            }
            TokenTree::Ident(name) => {
                let joins = name == "else" || name == "as";
                if was_brace && !joins {
                    top.run = 0;
                    top.angles = 0;
                }
                if joins || ["return", "break", "yield", "if", "box"].iter().any(|word| name == word) {
                    top.run += 1;
                }
            }
            TokenTree::Punct(punct) => match punct.as_char() {
                ';' => {
                    top.run = 0;
                    top.angles = 0;
                }
                ',' => top.run = 0,
                '#' if was_brace => top.run = 0,
                '<' => top.angles += 1,
                '>' if was_equals => top.run = 0,
                '>' => top.angles = top.angles.saturating_sub(1),
                ':' | '#' | '$' | '\'' => {}
                other => {
                    top.run += 1;
                    top.after_equals = other == '=';
                }
            },
            TokenTree::Literal(_) => {}
        }
        let here = top.base + top.run + top.angles;
        deepest = deepest.max(here);
        if let Some(inner) = inner {
            deepest = deepest.max(here + 1);
            if deepest > 4 * TOO_DEEP {
                return deepest;
            }
            open.push(level(inner, here + 1));
        }
    }
    deepest
}

/// Parses tokens as a file; item by item where that fails.
pub(super) fn parse(tokens: TokenStream, deepest: usize, mut unparsed: Vec<Unparsed>) -> Parsed {
    if deepest <= TOO_DEEP
        && let Ok(file) = syn::parse2::<syn::File>(tokens.clone())
    {
        return Parsed { attrs: file.attrs, items: file.items, unparsed };
    }
    let (inner, rest) = inner_attributes(tokens);
    let attrs = syn::parse::Parser::parse2(Attribute::parse_inner, inner).unwrap_or_default();
    let items = recover_items(rest, MODULES, &mut unparsed);
    Parsed { attrs, items, unparsed }
}

fn parse_bounded<T: syn::parse::Parse>(tokens: &TokenStream) -> Result<T, String> {
    if depth(tokens) > TOO_DEEP {
        return Err("nested too deep".to_owned());
    }
    syn::parse2::<T>(tokens.clone()).map_err(|error| error.to_string())
}

fn report(tokens: &TokenStream, message: &str, unparsed: &mut Vec<Unparsed>) {
    unparsed.push(Unparsed { span: spans::tokens(tokens), message: format!("cannot parse this part: {message}") });
}

/// The `#![…]` at the beginning, and the rest.
fn inner_attributes(tokens: TokenStream) -> (TokenStream, TokenStream) {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    let mut at = 0;
    while let Some([TokenTree::Punct(hash), TokenTree::Punct(bang), TokenTree::Group(_)]) = trees.get(at..at + 3)
        && hash.as_char() == '#'
        && bang.as_char() == '!'
    {
        at += 3;
    }
    let mut trees = trees.into_iter();
    let inner = trees.by_ref().take(at).collect();
    (inner, trees.collect())
}

fn recover_items(tokens: TokenStream, levels: usize, unparsed: &mut Vec<Unparsed>) -> Vec<Item> {
    let mut items = Vec::new();
    for piece in split(tokens) {
        match parse_bounded::<Item>(&piece) {
            Ok(item) => items.push(item),
            Err(message) => match recover_item(&piece, levels, unparsed) {
                Some(item) => items.push(item),
                None => report(&piece, &message, unparsed),
            },
        }
    }
    items
}

/// A `mod`, `impl` or `trait` with those of its members that parse.
fn recover_item(piece: &TokenStream, levels: usize, unparsed: &mut Vec<Unparsed>) -> Option<Item> {
    let levels = levels.checked_sub(1)?;
    let mut trees: Vec<TokenTree> = piece.clone().into_iter().collect();
    let Some(TokenTree::Group(body)) = trees.pop() else { return None };
    if body.delimiter() != Delimiter::Brace {
        return None;
    }
    let mut empty = Group::new(Delimiter::Brace, TokenStream::new());
    empty.set_span(body.span());
    trees.push(TokenTree::Group(empty));
    let mut shell = parse_bounded::<Item>(&trees.into_iter().collect()).ok()?;
    match &mut shell {
        Item::Mod(module) => {
            let (_, rest) = inner_attributes(body.stream());
            module.content.as_mut()?.1 = recover_items(rest, levels, unparsed);
        }
        Item::Impl(block) => {
            for piece in split(body.stream()) {
                match parse_bounded::<ImplItem>(&piece) {
                    Ok(member) => block.items.push(member),
                    Err(message) => report(&piece, &message, unparsed),
                }
            }
        }
        Item::Trait(block) => {
            for piece in split(body.stream()) {
                match parse_bounded::<TraitItem>(&piece) {
                    Ok(member) => block.items.push(member),
                    Err(message) => report(&piece, &message, unparsed),
                }
            }
        }
        _ => return None,
    }
    Some(shell)
}

/// Cuts tokens where items end: at a `;`, or at a brace where the item is not one that ends with a `;`.
fn split(tokens: TokenStream) -> Vec<TokenStream> {
    let mut pieces = Vec::new();
    let mut piece: Vec<TokenTree> = Vec::new();
    let mut semicolon_only = false;
    let mut previous = String::new();
    for tree in tokens {
        let mut ends = false;
        match &tree {
            TokenTree::Punct(punct) if punct.as_char() == ';' => ends = true,
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => ends = !semicolon_only,
            TokenTree::Ident(name) => {
                let name = name.to_string();
                match name.as_str() {
                    "use" | "type" | "static" | "const" => semicolon_only = true,
                    "fn" | "impl" | "trait" | "mod" | "enum" | "struct" | "union" | "macro_rules"
                        if previous != "=" && previous != ":" =>
                    {
                        semicolon_only = false;
                    }
                    _ => {}
                }
                previous = name;
            }
            TokenTree::Punct(punct) => previous = punct.as_char().to_string(),
            _ => previous.clear(),
        }
        piece.push(tree);
        if ends {
            pieces.push(piece.drain(..).collect());
            semicolon_only = false;
            previous.clear();
        }
    }
    if !piece.is_empty() {
        pieces.push(piece.into_iter().collect());
    }
    pieces
}
