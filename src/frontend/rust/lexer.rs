//! Words, texts, signs and comments of a Rust file.

use crate::frontend::lexemes::{Kind, Lexemes, Reader, is_word};

/// Takes a text apart.
pub(in crate::frontend) fn lex(text: &str) -> Lexemes {
    let mut lexer = Lexer { reader: Reader::new(text), text };
    if lexer.reader.next_is(b"#!") && !lexer.reader.next_is(b"#![") {
        lexer.reader.skip_line();
    }
    while lexer.reader.peek(0).is_some() {
        lexer.code();
    }
    lexer.reader.out
}

struct Lexer<'a> {
    reader: Reader<'a>,
    text: &'a str,
}

impl Lexer<'_> {
    fn code(&mut self) {
        let Some(byte) = self.reader.peek(0) else { return };
        match byte {
            b'\n' | b'\r' => self.reader.end_line(false),
            b'/' if self.reader.peek(1) == Some(b'/') => self.line_comment(),
            b'/' if self.reader.peek(1) == Some(b'*') => self.block_comment(),
            b'"' => {
                self.drop_prefix(&[b"b", b"c"]);
                self.quoted();
            }
            b'\'' => self.character(),
            _ if is_word(byte) => {
                self.reader.word();
                self.raw();
            }
            b' ' | b'\t' => self.reader.at += 1,
            _ => self.reader.sign(),
        }
    }

    /// `///` and `//!` document, and are nobody's instruction; `////` is a comment like others.
    fn line_comment(&mut self) {
        let start = self.reader.at;
        let documents = self.reader.next_is(b"//!") || (self.reader.next_is(b"///") && !self.reader.next_is(b"////"));
        self.reader.skip_line();
        if !documents {
            self.reader.push(Kind::Comment, start);
        }
    }

    fn block_comment(&mut self) {
        let mut open = 0u32;
        while self.reader.peek(0).is_some() {
            if self.reader.next_is(b"/*") {
                open += 1;
                self.reader.at += 2;
            } else if self.reader.next_is(b"*/") {
                open -= 1;
                self.reader.at += 2;
                if open == 0 {
                    return;
                }
            } else if self.reader.at_line_end() {
                self.reader.end_line(true);
            } else {
                self.reader.at += 1;
            }
        }
    }

    /// Takes the word before a quote away if it belongs to it.
    fn drop_prefix(&mut self, prefixes: &[&[u8]]) {
        if self.reader.word_before().is_some_and(|word| prefixes.contains(&word)) {
            self.reader.out.list.pop();
        }
    }

    fn quoted(&mut self) {
        self.reader.at += 1;
        let start = self.reader.at;
        while let Some(byte) = self.reader.peek(0) {
            match byte {
                b'"' => {
                    self.reader.push(Kind::Text, start);
                    self.reader.at += 1;
                    return;
                }
                b'\n' | b'\r' => self.reader.end_line(true),
                b'\\' => {
                    self.reader.at += 1;
                    if !self.reader.at_line_end() {
                        self.reader.at += 1;
                    }
                }
                _ => self.reader.at += 1,
            }
        }
        self.reader.at = self.reader.at.min(self.text.len());
        self.reader.push(Kind::Text, start);
    }

    /// Behind a word: `r"…"`, `br#"…"#`, or the rest of `r#name`.
    fn raw(&mut self) {
        if !self.reader.word_before().is_some_and(|word| matches!(word, b"r" | b"br" | b"cr")) {
            return;
        }
        let hashes = (0..).take_while(|ahead| self.reader.peek(*ahead) == Some(b'#')).count();
        match self.reader.peek(hashes) {
            Some(b'"') => {}
            Some(byte) if hashes == 1 && is_word(byte) => {
                self.reader.out.list.pop();
                self.reader.at += 1;
                return self.reader.word();
            }
            _ => return,
        }
        self.reader.out.list.pop();
        self.reader.at += hashes + 1;
        let start = self.reader.at;
        while let Some(byte) = self.reader.peek(0) {
            if byte == b'"' && (1..=hashes).all(|ahead| self.reader.peek(ahead) == Some(b'#')) {
                self.reader.push(Kind::Text, start);
                self.reader.at += hashes + 1;
                return;
            }
            if self.reader.at_line_end() {
                self.reader.end_line(true);
            } else {
                self.reader.at += 1;
            }
        }
        self.reader.push(Kind::Text, start);
    }

    /// A character (`'a'`, `'\n'`, `b'"'`) or the quote of a lifetime or label.
    fn character(&mut self) {
        let rest = self.text.get(self.reader.at + 1..).unwrap_or_default();
        let length = match rest.strip_prefix('\\') {
            // `'\u{1f600}'`: to the quote, which may be the escaped one.
            Some(escaped) => {
                let line = escaped.split(['\n', '\r']).next().unwrap_or_default();
                let first = line.chars().next().map_or(0, char::len_utf8);
                line.get(first..).and_then(|line| line.find('\'')).map(|end| 1 + first + end)
            }
            None => rest.chars().next().filter(|c| !matches!(c, '\'' | '\n' | '\r')).and_then(|c| {
                rest.get(c.len_utf8()..).is_some_and(|behind| behind.starts_with('\'')).then(|| c.len_utf8())
            }),
        };
        let Some(length) = length else { return self.reader.sign() };
        self.drop_prefix(&[b"b"]);
        let start = self.reader.at + 1;
        self.reader.at = start + length;
        self.reader.push(Kind::Text, start);
        self.reader.at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comments(text: &str) -> Vec<&str> {
        lex(text).comments(text)
    }

    #[test]
    fn comments_are_told_from_texts() {
        assert_eq!(comments("let x = \"// no\\\" // no\"; // yes\r\n// more"), ["// yes", "// more"]);
        assert_eq!(comments("r#\"// no\" // no\"#; br\"\\\"; // yes"), ["// yes"]);
        assert_eq!(comments("\"a\n// no\n\"; // yes"), ["// yes"]);
        assert_eq!(comments("/* // no /* // no */ // no\n */ // yes"), ["// yes"]);
        assert_eq!(comments("/// no\n//! no\n//// yes\n// yes"), ["//// yes", "// yes"]);
        assert_eq!(comments("#!/bin//env x\n#![allow(x)] // yes"), ["// yes"]);
    }

    #[test]
    fn quotes_of_characters_and_lifetimes_are_told_apart() {
        assert_eq!(comments("let q = '\"'; // yes"), ["// yes"]);
        assert_eq!(comments(r#"['\'', '\\', b'"', '\u{22}', '𝒳', '"'] // yes"#), ["// yes"]);
        assert_eq!(comments("fn f<'a>(x: &'a str) -> &'a str { 'l: loop { break 'l } } // yes"), ["// yes"]);
        assert_eq!(comments("r#type; let r = 1; c\"// no\" // yes"), ["// yes"]);
    }

    #[test]
    fn nothing_that_is_broken_is_fatal() {
        for text in ["'", "'\\", "r#", "r##\"", "\"\\", "/*", "b'", "'\\u{", "\u{feff}// yes"] {
            lex(text);
        }
        assert_eq!(comments("\u{feff}// yes"), ["// yes"]);
        let states: Vec<_> = lex("{\n(\n/*\n*/ ]\n").lines.iter().map(|line| (line.depth, line.inside)).collect();
        assert_eq!(states, [(0, false), (1, false), (2, false), (2, true), (1, false)]);
    }
}
