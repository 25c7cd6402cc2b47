//! Text to tree, in a time that grows with the text.
//!
//! At the end of each line the parser looks for the next line of code, so that it goes through a block of comments as
//! often as that has lines: the lines of long blocks are blanked. What else it would read again and again, only broken
//! files hold, and it is stopped.

use std::borrow::Cow;

use tree_sitter::{Parser, Tree};

use super::lexer;
use crate::frontend::lexemes::Kind;

/// So many lines of comments, one after the other, are a long block.
const BLOCK: usize = 100;
/// The parser is given so many bytes at a time.
const PART: usize = 4096;
/// It may take so many bytes in all, and so many more for each byte of the text.
const TAKEN: usize = 128 << 20;
const TAKEN_EACH: usize = 16;

/// The tree of a text; nothing, if the parser does not come to an end with it.
pub(super) fn parse(text: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_python::LANGUAGE.into()).ok()?;
    let bytes = text.as_bytes();
    let mut left = TAKEN.saturating_add(bytes.len().saturating_mul(TAKEN_EACH));
    let mut part = |at: usize, _| {
        let rest = bytes.get(at..).unwrap_or_default();
        let part = rest.get(..PART).unwrap_or(rest);
        left = left.saturating_sub(part.len());
        if left > 0 { part } else { &[] }
    };
    let tree = parser.parse_with_options(&mut part, None, None)?;
    (left > 0).then_some(tree)
}

/// A text as the parser takes it; no byte moves.
pub(super) fn prepare(text: &str) -> Cow<'_, str> {
    match with_line_ends(text) {
        Cow::Borrowed(text) => without_blocks(text),
        Cow::Owned(text) => Cow::Owned(without_blocks(&text).into_owned()),
    }
}

/// A text in which every line ends as the parser knows it: a lone `\r` ends one for Python too.
fn with_line_ends(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let is_lone = |at: usize| bytes.get(at) == Some(&b'\r') && bytes.get(at + 1) != Some(&b'\n');
    if !bytes.contains(&b'\r') || !(0..bytes.len()).any(is_lone) {
        return Cow::Borrowed(text);
    }
    let ends = text.char_indices().map(|(at, c)| if c == '\r' && is_lone(at) { '\n' } else { c });
    Cow::Owned(ends.collect())
}

/// A text without its comments, if a long block of them is in it.
fn without_blocks(text: &str) -> Cow<'_, str> {
    let mut block = 0;
    let is_long = text.lines().map(str::trim_start).any(|line| {
        block = match line.bytes().next() {
            Some(b'#') => block + 1,
            Some(_) => 0,
            None => block,
        };
        block >= BLOCK
    });
    if !is_long {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for comment in lexer::lex(text).list.iter().filter(|lexeme| lexeme.kind == Kind::Comment) {
        out.push_str(text.get(out.len()..comment.span.start as usize).unwrap_or_default());
        out.extend(std::iter::repeat_n(' ', (comment.span.end as usize).saturating_sub(out.len())));
    }
    out.push_str(text.get(out.len()..).unwrap_or_default());
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_blocks_of_comments_are_blanked_where_they_stand() {
        let block = "    # é\n\n".repeat(BLOCK);
        let text = format!("x = '# a'  # b\n{block}y = '''\n{block}'''\n");
        let blanked = without_blocks(&text);
        let blank = "        \n\n".repeat(BLOCK);
        assert_eq!(blanked, format!("x = '# a'     \n{blank}y = '''\n{block}'''\n"));
        assert!(matches!(without_blocks("# a\n# b\nx = 1\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn what_the_parser_would_read_again_and_again_is_given_up() {
        assert!(parse("x = 1\n").is_some());
        assert!(parse(&"\\\n".repeat(30_000)).is_none());
    }
}
