//! Words, texts, signs and comments of a Python file.
//!
//! A field of an f-string (PEP 701: it may hold quotes of the same kind, comments and line ends) is code again, so that
//! what is open is a stack: a text, a field in it, the format behind the field's colon, a text in that field.

use crate::frontend::lexemes::{Kind, Lexemes, Reader, is_word};

/// Something that is open.
#[derive(Debug, Clone, Copy)]
enum Open {
    Text(Quotes),
    /// A field; so many brackets are open in it before any of its own.
    Field(u32),
    /// What stands behind a field's colon.
    Format,
}

#[derive(Debug, Clone, Copy)]
struct Quotes {
    quote: u8,
    triple: bool,
    formatted: bool,
    raw: bool,
    /// How many brackets were open before it.
    depth: u32,
}

/// Takes a text apart.
pub(in crate::frontend) fn lex(text: &str) -> Lexemes {
    let mut lexer = Lexer { reader: Reader::new(text), open: Vec::new() };
    while lexer.reader.peek(0).is_some() {
        match lexer.open.last() {
            None | Some(Open::Field(_)) => lexer.code(),
            Some(Open::Text(quotes)) => {
                let quotes = *quotes;
                lexer.text(quotes, false);
            }
            Some(Open::Format) => {
                let around = lexer.open.iter().rev().find_map(|open| match open {
                    Open::Text(quotes) => Some(*quotes),
                    _ => None,
                });
                match around {
                    Some(quotes) => lexer.text(quotes, true),
                    None => lexer.open.clear(),
                }
            }
        }
    }
    lexer.reader.out
}

struct Lexer<'a> {
    reader: Reader<'a>,
    open: Vec<Open>,
}

impl Lexer<'_> {
    fn field(&self) -> Option<u32> {
        match self.open.last() {
            Some(Open::Field(depth)) => Some(*depth),
            _ => None,
        }
    }

    fn code(&mut self) {
        let Some(byte) = self.reader.peek(0) else { return };
        let start = self.reader.at;
        match byte {
            b'\n' | b'\r' => {
                self.reader.end_line(!self.open.is_empty());
                self.begin_again();
            }
            b'#' => {
                self.reader.skip_line();
                self.reader.push(Kind::Comment, start);
            }
            b'\\' => {
                self.reader.at += 1;
                if self.reader.at_line_end() {
                    self.reader.end_line(true);
                }
            }
            b'\'' | b'"' => self.quote(byte),
            b':' if self.field() == Some(self.reader.depth) => {
                self.reader.sign();
                self.open.push(Open::Format);
            }
            b'}' if self.field() == Some(self.reader.depth) => {
                self.reader.at += 1;
                self.close_field();
            }
            // A bracket that nothing opened in this field.
            b')' | b']' | b'}' if self.field().is_some_and(|depth| self.reader.depth <= depth) => self.reader.at += 1,
            b' ' | b'\t' | b'\x0c' => self.reader.at += 1,
            _ if is_word(byte) => self.reader.word(),
            _ => self.reader.sign(),
        }
    }

    /// Where a definition or an import begins at the margin, no bracket can be open: one that was never closed is
    /// given up.
    fn begin_again(&mut self) {
        const WORDS: [&[u8]; 4] = [b"def ", b"class ", b"async def ", b"import "];
        if (self.reader.depth > 0 || !self.open.is_empty()) && WORDS.iter().any(|word| self.reader.next_is(word)) {
            self.open.clear();
            self.reader.depth = 0;
            if let Some(line) = self.reader.out.lines.last_mut() {
                *line = Default::default();
            }
        }
    }

    fn quote(&mut self, quote: u8) {
        let prefix = self.reader.word_before().map(<[u8]>::to_ascii_lowercase).unwrap_or_default();
        let is_prefix = matches!(
            prefix.as_slice(),
            b"r" | b"u" | b"b" | b"f" | b"t" | b"br" | b"rb" | b"fr" | b"rf" | b"tr" | b"rt" | b"ur"
        );
        if is_prefix {
            self.reader.out.list.pop();
        }
        let has = |letter| is_prefix && prefix.contains(&letter);
        let triple = self.reader.peek(1) == Some(quote) && self.reader.peek(2) == Some(quote);
        self.reader.at += if triple { 3 } else { 1 };
        self.open.push(Open::Text(Quotes {
            quote,
            triple,
            formatted: has(b'f') || has(b't'),
            raw: has(b'r'),
            depth: self.reader.depth,
        }));
    }

    /// A text up to its end or to the next field.
    fn text(&mut self, quotes: Quotes, format: bool) {
        let start = self.reader.at;
        while let Some(byte) = self.reader.peek(0) {
            match byte {
                b'\n' | b'\r' if quotes.triple => self.reader.end_line(true),
                b'\n' | b'\r' => {
                    self.reader.push(Kind::Text, start);
                    return self.close_text(quotes);
                }
                b'\\' => {
                    self.reader.at += 1;
                    if self.reader.at_line_end() {
                        self.reader.end_line(true);
                    } else if quotes.formatted && !quotes.raw && self.reader.next_is(b"N{") {
                        self.reader.at += 2;
                    } else if self.reader.peek(0).is_some_and(|next| !(quotes.formatted && next == b'{')) {
                        self.reader.at += 1;
                    }
                }
                _ if byte == quotes.quote => {
                    let ends =
                        !quotes.triple || (self.reader.peek(1) == Some(byte) && self.reader.peek(2) == Some(byte));
                    if ends {
                        self.reader.push(Kind::Text, start);
                        self.reader.at += if quotes.triple { 3 } else { 1 };
                        return self.close_text(quotes);
                    }
                    self.reader.at += 1;
                }
                b'{' if quotes.formatted && !format && self.reader.peek(1) == Some(b'{') => self.reader.at += 2,
                b'{' if quotes.formatted => {
                    self.reader.push(Kind::Text, start);
                    self.reader.at += 1;
                    self.reader.depth += 1;
                    self.open.push(Open::Field(self.reader.depth));
                    return;
                }
                b'}' if format => {
                    self.reader.push(Kind::Text, start);
                    self.reader.at += 1;
                    self.open.pop();
                    return self.close_field();
                }
                _ => self.reader.at += 1,
            }
        }
        self.reader.push(Kind::Text, start);
    }

    fn close_field(&mut self) {
        if let Some(Open::Field(depth)) = self.open.pop() {
            self.reader.depth = depth.saturating_sub(1);
        }
    }

    fn close_text(&mut self, quotes: Quotes) {
        while let Some(open) = self.open.pop() {
            if matches!(open, Open::Text(_)) {
                break;
            }
        }
        self.reader.depth = quotes.depth;
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
        assert_eq!(comments("x = 1  # one\r\n'# two'  # three\n"), ["# one", "# three"]);
        assert_eq!(comments("'''\n# no\n\\'''# no\n'''  # yes"), ["# yes"]);
        assert_eq!(comments(r#"r'\' # no'  # yes"#), ["# yes"]);
        assert_eq!(comments(r##"rb"\"" "a\\"# yes"##), ["# yes"]);
        assert_eq!(comments("x = 'open # yes?\ny = 1  # yes\n"), ["# yes"]);
        assert_eq!(comments("x = 'a \\\n # no'  # yes\n"), ["# yes"]);
        assert_eq!(comments("bar'# no'  # yes"), ["# yes"]);
        // A text that ends in the middle of an escape ends there.
        for text in ["'\\", "x = f'a{b}\\"] {
            assert!(lex(text).list.iter().all(|lexeme| text.get(lexeme.span.range()).is_some()), "{text:?}");
        }
    }

    #[test]
    fn fields_of_texts_are_code() {
        assert_eq!(comments(r##"f"{d["# no"]} # no"  # yes"##), ["# yes"]);
        assert_eq!(comments(r##"f'{x:#x} {{# no {y!r:>{width}}} # no'  # yes"##), ["# yes"]);
        assert_eq!(comments("f'''{\n    x  # in a field\n} # no\n'''  # yes"), ["# in a field", "# yes"]);
        assert_eq!(comments(r##"f"\N{NUMBER SIGN} # no" f"\{x} # no" rf"\{x}#" # yes"##), ["# yes"]);
        assert_eq!(comments(r##"f"{f"{f"{1}"}"}" # yes"##), ["# yes"]);
        assert_eq!(comments(r##"f"{x:%H:%M}" f"{d[1:2]}" f"{(y:=1)}" f"{lambda: 1}" # yes"##), ["# yes"]);
    }

    #[test]
    fn nothing_that_is_broken_hides_what_follows() {
        assert_eq!(comments("x = f'{a\ny = 1  # yes\n"), ["# yes"]);
        assert_eq!(comments("x = f'{a:>\ny = 1  # yes\n"), ["# yes"]);
        assert_eq!(comments("x = (((\n# one\ndef f():\n    # two\n"), ["# one", "# two"]);
        let lexemes = lex("x = (\n  1\ndef f():\n  y = \\\n1\n'''\n");
        let states: Vec<_> = lexemes.lines.iter().map(|line| (line.depth, line.inside)).collect();
        assert_eq!(states, [(0, false), (1, false), (0, false), (0, false), (0, true), (0, false), (0, true)]);
        for end in 0..20 {
            let text = r##"f'{a["}{:{'''\N{"##;
            lex(text.get(..end.min(text.len())).unwrap_or_default());
        }
    }
}
