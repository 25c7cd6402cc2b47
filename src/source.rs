//! Source texts and places in them.
//!
//! A [`Span`] is a byte range of one file; everything that is shown to a person or a tool (lines, columns in bytes,
//! characters or UTF-16 units) is derived from it at the very end, by [`SourceFile`].

use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

/// The languages that have a frontend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// Python 2.7 to 3.14 (`.py`, `.pyi`).
    Python,
    /// Rust, all editions (`.rs`).
    Rust,
}

impl Language {
    /// The language's name in lower case, as it is written in model folders and Markdown fences.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Language::Python => "python",
            Language::Rust => "rust",
        }
    }

    /// What stands between the parts of a path.
    #[must_use]
    pub fn path_separator(self) -> &'static str {
        match self {
            Language::Python => ".",
            Language::Rust => "::",
        }
    }

    /// What begins a comment that ends with its line.
    #[must_use]
    pub fn comment_sign(self) -> &'static str {
        match self {
            Language::Python => "#",
            Language::Rust => "//",
        }
    }

    /// How a line begins that says something of the definition below it: a decorator, an attribute.
    #[must_use]
    pub fn attribute_sign(self) -> &'static str {
        match self {
            Language::Python => "@",
            Language::Rust => "#[",
        }
    }

    /// Whether blocks are what is indented, not what stands in braces.
    #[must_use]
    pub fn nests_by_indentation(self) -> bool {
        matches!(self, Language::Python)
    }

    /// The language of a file with this extension (without the dot).
    #[must_use]
    pub fn of_extension(extension: &str) -> Option<Self> {
        match extension {
            "py" | "pyi" => Some(Language::Python),
            "rs" => Some(Language::Rust),
            _ => None,
        }
    }
}

/// A range of bytes in one source file, end exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The range from `start` to `end`; offsets past 4 GiB are cut to that.
    #[must_use]
    pub fn new(start: usize, end: usize) -> Self {
        let cut = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Span { start: cut(start), end: cut(end.max(start)) }
    }

    /// The smallest range that holds both.
    #[must_use]
    pub fn to(self, other: Span) -> Self {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// Whether `other` lies wholly inside.
    #[must_use]
    pub fn contains(self, other: Span) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// As a range of `usize`.
    #[must_use]
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A place as people count: line and column from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters (code points), from 1.
    pub column: usize,
    /// Column in UTF-16 code units, from 1.
    pub utf16_column: usize,
}

/// A name or text that need not be UTF-8, as text: what is none becomes `\\xff` and the like, so that two names stay two.
#[must_use]
pub fn text_of(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        chunk.invalid().iter().for_each(|byte| text.push_str(&format!("\\x{byte:02x}")));
    }
    text
}

/// One file's text with its display path (relative, `/` between parts).
#[derive(Debug, Clone)]
pub struct SourceFile {
    /// Path as it is printed: relative to the root of the run, with `/`.
    pub path: Arc<str>,
    /// The whole text, as decoded.
    pub text: Arc<str>,
    /// What it is written in.
    pub language: Language,
    /// Found when it is first asked for: of most files nothing is shown.
    line_starts: Arc<OnceLock<Box<[u32]>>>,
}

impl SourceFile {
    /// Takes a text in; lines end at `\n`, `\r\n` or a lone `\r`.
    #[must_use]
    pub fn new(path: impl Into<Arc<str>>, text: impl Into<Arc<str>>, language: Language) -> Self {
        SourceFile { path: path.into(), text: text.into(), language, line_starts: Arc::default() }
    }

    fn line_starts(&self) -> &[u32] {
        self.line_starts.get_or_init(|| {
            let bytes = self.text.as_bytes();
            let mut starts = vec![0u32];
            for (at, byte) in bytes.iter().enumerate() {
                let ends = match byte {
                    b'\n' => true,
                    b'\r' => bytes.get(at + 1) != Some(&b'\n'),
                    _ => false,
                };
                if ends {
                    starts.push(u32::try_from(at + 1).unwrap_or(u32::MAX));
                }
            }
            starts.into()
        })
    }

    /// The text of a range; empty where the range is not in the file.
    #[must_use]
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.range()).unwrap_or_default()
    }

    /// The line (from 1) that holds this byte.
    #[must_use]
    pub fn line_of(&self, offset: u32) -> usize {
        self.line_starts().partition_point(|start| *start <= offset)
    }

    /// The bytes of a line (from 1) without its end-of-line characters.
    #[must_use]
    pub fn line_text(&self, line: usize) -> &str {
        let start = line.checked_sub(1).and_then(|at| self.line_starts().get(at)).copied();
        let Some(start) = start else { return "" };
        let end = self.line_starts().get(line).map_or(self.text.len(), |end| *end as usize);
        self.text.get(start as usize..end).unwrap_or_default().trim_end_matches(['\r', '\n'])
    }

    /// The first byte of a line (from 1); the length of the text for lines past the end.
    #[must_use]
    pub fn line_start(&self, line: usize) -> usize {
        let start = line.checked_sub(1).map_or(Some(0), |at| self.line_starts().get(at).copied());
        start.map_or(self.text.len(), |start| start as usize)
    }

    /// The part of a span that lies in its first line, within the text.
    #[must_use]
    pub fn first_line(&self, span: Span) -> Span {
        let line = self.line_of(span.start);
        let end = self.line_start(line) + self.line_text(line).len();
        Span::new((span.start as usize).min(end), (span.end as usize).min(end))
    }

    /// How many lines the file has (at least one).
    #[must_use]
    pub fn line_count(&self) -> usize {
        self.line_starts().len()
    }

    /// Line and columns of a byte offset.
    #[must_use]
    pub fn position(&self, offset: u32) -> Position {
        let line = self.line_of(offset);
        let start = line.checked_sub(1).and_then(|at| self.line_starts().get(at)).copied().unwrap_or(0);
        let before = self.text.get(start as usize..offset as usize).unwrap_or_default();
        Position {
            line,
            column: before.chars().count() + 1,
            utf16_column: before.chars().map(char::len_utf16).sum::<usize>() + 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_cut_to_one_line_of_the_text() {
        let file = SourceFile::new("a.py", "@retry(\n  3,\n)\r\nend", Language::Python);
        assert_eq!(file.first_line(Span::new(1, 14)), Span::new(1, 7));
        assert_eq!(file.first_line(Span::new(8, 12)), Span::new(8, 12));
        assert_eq!(file.first_line(Span::new(900, 1000)), Span::new(19, 19));
        assert_eq!((file.line_start(1), file.line_start(2), file.line_start(99)), (0, 8, 19));
    }
}
