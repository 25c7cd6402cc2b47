//! A file as a row of words, texts, signs and comments, for what a syntax tree has no place for: comments, and two
//! pieces of code that are the same but for blanks and names.
//!
//! Each language's folder has a lexer that makes one. It takes broken code as it comes: what is never closed ends with
//! its line where the language ends it there, else with the file.

use crate::source::Span;

/// What a [`Lexeme`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A name, a keyword or a number.
    Word,
    /// What stands between quotes: of a text with fields in it, the parts between them.
    Text,
    /// Any other single character.
    Sign,
    /// A comment that ends with its line, with the sign that begins it; not one that documents.
    Comment,
}

/// One piece of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lexeme {
    /// What it is.
    pub kind: Kind,
    /// Where.
    pub span: Span,
    /// How many brackets are open before it.
    pub depth: u32,
}

/// How a line begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LineStart {
    /// How many brackets are open.
    pub depth: u32,
    /// Within a text or a comment that an earlier line began, or right behind a backslash: a comment cannot stand alone
    /// on such a line.
    pub inside: bool,
}

/// A whole file.
#[derive(Debug, Clone, Default)]
pub struct Lexemes {
    /// In order.
    pub list: Vec<Lexeme>,
    /// How each line begins; line 1 is the first.
    pub lines: Vec<LineStart>,
}

impl Lexemes {
    /// How this line (from 1) begins; a line past the end as the first.
    #[must_use]
    pub fn line(&self, line: usize) -> LineStart {
        line.checked_sub(1).and_then(|at| self.lines.get(at)).copied().unwrap_or_default()
    }

    /// The comments, as they stand in the text, which has to have been read line by line.
    #[cfg(test)]
    pub fn comments<'a>(&self, text: &'a str) -> Vec<&'a str> {
        assert_eq!(self.lines.len(), text.replace("\r\n", "\n").split(['\n', '\r']).count(), "{text:?}");
        let comments = self.list.iter().filter(|lexeme| lexeme.kind == Kind::Comment);
        comments.filter_map(|lexeme| text.get(lexeme.span.range())).collect()
    }
}

/// What a lexer reads from and writes to.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    /// The next byte to read.
    pub at: usize,
    /// How many brackets are open.
    pub depth: u32,
    /// What was read.
    pub out: Lexemes,
}

impl<'a> Reader<'a> {
    /// At the beginning of a text, behind its byte-order mark.
    pub fn new(text: &'a str) -> Self {
        let at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let out = Lexemes { list: Vec::new(), lines: vec![LineStart::default()] };
        Reader { bytes: text.as_bytes(), at, depth: 0, out }
    }

    /// The byte so far ahead.
    pub fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    /// Whether this comes next.
    pub fn next_is(&self, text: &[u8]) -> bool {
        self.bytes.get(self.at..).is_some_and(|rest| rest.starts_with(text))
    }

    /// Whether a line ends here.
    pub fn at_line_end(&self) -> bool {
        matches!(self.peek(0), Some(b'\n' | b'\r'))
    }

    /// Goes past a line's end; the next line begins `inside`.
    pub fn end_line(&mut self, inside: bool) {
        self.at += if self.next_is(b"\r\n") { 2 } else { 1 };
        self.out.lines.push(LineStart { depth: self.depth, inside });
    }

    /// To the end of the line.
    pub fn skip_line(&mut self) {
        while self.peek(0).is_some() && !self.at_line_end() {
            self.at += 1;
        }
    }

    /// Past the letters, digits and underscores that come next.
    pub fn word(&mut self) {
        let start = self.at;
        while self.peek(0).is_some_and(is_word) {
            self.at += 1;
        }
        self.push(Kind::Word, start);
    }

    /// What was read from `start` on is one piece.
    pub fn push(&mut self, kind: Kind, start: usize) {
        self.out.list.push(Lexeme { kind, span: Span::new(start, self.at), depth: self.depth });
    }

    /// One character that stands for itself; brackets are counted.
    pub fn sign(&mut self) {
        let sign = self.peek(0);
        if matches!(sign, Some(b')' | b']' | b'}')) {
            self.depth = self.depth.saturating_sub(1);
        }
        self.at += 1;
        self.push(Kind::Sign, self.at - 1);
        if matches!(sign, Some(b'(' | b'[' | b'{')) {
            self.depth += 1;
        }
    }

    /// The word that ends right here, which may belong to the quote that follows.
    pub fn word_before(&self) -> Option<&'a [u8]> {
        let last = self.out.list.last()?;
        let ends_here = last.kind == Kind::Word && last.span.end as usize == self.at;
        ends_here.then(|| self.bytes.get(last.span.range())).flatten()
    }
}

/// Whether a byte belongs to a word; all that is not ASCII does.
pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// More pieces than this do not tell one piece of code from another.
const OUTLINE: usize = 300;

/// What stays of a piece of code when it is laid out anew, commented, or its variables get other names: called names,
/// fields, numbers, texts and signs.
#[must_use]
pub(super) fn outline(text: &str, lexemes: &Lexemes) -> String {
    let list: Vec<Lexeme> =
        lexemes.list.iter().filter(|lexeme| lexeme.kind != Kind::Comment).take(OUTLINE).copied().collect();
    let written = |at: Option<usize>| {
        let lexeme = at.and_then(|at| list.get(at)).filter(|lexeme| lexeme.kind == Kind::Sign);
        lexeme.and_then(|lexeme| text.get(lexeme.span.range())).unwrap_or_default()
    };
    let mut out = String::new();
    for (at, lexeme) in list.iter().enumerate() {
        let own = text.get(lexeme.span.range()).unwrap_or_default();
        let (before, after) = (at.checked_sub(1), Some(at + 1));
        match lexeme.kind {
            Kind::Comment => {}
            Kind::Text => {
                out.push('"');
                out.push_str(&unnamed(own));
            }
            Kind::Sign => {
                let trailing = own == "," && (after.is_none_or(|at| at >= list.len()) || is_closing(written(after)));
                if !trailing {
                    out.push_str(own);
                }
            }
            Kind::Word => {
                let number = own.starts_with(|c: char| c.is_ascii_digit());
                let called = matches!(written(after), "(" | "!");
                let member = matches!(written(before), "." | ":");
                let argument = written(after) == "=" && written(Some(at + 2)) != "=" && lexeme.depth > 0;
                let kept = number || called || member || argument;
                if before.and_then(|at| list.get(at)).is_some_and(|last| last.kind == Kind::Word) {
                    out.push(' ');
                }
                out.push_str(if kept { own } else { "_" });
            }
        }
    }
    out
}

fn is_closing(sign: &str) -> bool {
    matches!(sign, ")" | "]" | "}")
}

/// A text with the names in its braces left out.
fn unnamed(text: &str) -> String {
    let mut out = String::new();
    let mut in_name = false;
    let mut last = ' ';
    for c in text.chars() {
        let begins = last == '{' && (c.is_alphabetic() || c == '_');
        in_name = begins || (in_name && (c.is_alphanumeric() || c == '_'));
        if begins {
            out.push('_');
        }
        if !in_name {
            out.push(c);
        }
        last = c;
    }
    out
}
