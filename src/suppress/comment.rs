//! What a suppression comment says, and which lines it is about.

use std::ops::RangeInclusive;

use crate::frontend;
use crate::frontend::lexemes::{Kind, Lexeme, Lexemes};
use crate::source::{SourceFile, Span};

/// What every such comment begins with.
const MARK: &str = "stormlint:";
/// What other tools' comments say where ours says `ignore`.
const FOREIGN: [&str; 7] = ["noqa", "disable", "allow", "skip", "off", "expect", "suppress"];

/// One suppression comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comment {
    /// From the comment's sign to its end; another tool's comment in front of it is left out.
    pub span: Span,
    /// What it is about.
    pub covers: Covers,
    /// What it names.
    pub names: Vec<Name>,
    /// How many brackets are open around it.
    depth: u32,
    /// Where further names would be written: before the closing bracket.
    pub names_end: usize,
    /// Why; empty where it does not say.
    pub reason: String,
    /// What is wrong with its form, so that it suppresses nothing.
    pub fault: Option<Fault>,
}

/// What a comment is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Covers {
    /// All findings of the file.
    File,
    /// Those that begin on one of these lines; where it is one line, those too whose header goes on to it.
    Lines(RangeInclusive<usize>),
}

/// A rule or group, as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    /// The name.
    pub text: String,
    /// Where.
    pub span: Span,
}

/// A wrong form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// What is wrong.
    pub message: String,
    /// What to write.
    pub help: String,
}

impl Comment {
    /// Whether it can suppress anything.
    #[must_use]
    pub fn is_fit(&self) -> bool {
        self.fault.is_none()
    }

    /// How it begins, up to the closing bracket.
    #[must_use]
    pub fn shown<'a>(&self, file: &'a SourceFile) -> &'a str {
        file.slice(Span::new(self.span.start as usize, self.names_end + 1))
    }
}

/// The suppression comments of a file.
#[derive(Debug, Default)]
pub struct Comments {
    /// In order.
    pub list: Vec<Comment>,
    /// What the file is made of; nothing where it has no such comment.
    pub(super) lexemes: Lexemes,
}

impl Comments {
    /// Finds those of a file.
    #[must_use]
    pub fn of(file: &SourceFile) -> Comments {
        // Most files have none, and need not be taken apart.
        if !has_mark(&file.text) {
            return Comments::default();
        }
        let lexemes = frontend::lex(&file.text, file.language);
        let comments = lexemes.list.iter().filter(|lexeme| lexeme.kind == Kind::Comment);
        let list =
            comments.filter_map(|lexeme| Reading { file, lexemes: &lexemes, lexeme: *lexeme }.comment()).collect();
        Comments { list, lexemes }
    }

    /// The lines of a header; of a decorator or an attribute, those of its arguments too.
    #[must_use]
    pub fn whole(&self, file: &SourceFile, header: RangeInclusive<usize>) -> RangeInclusive<usize> {
        let (first, mut last) = header.into_inner();
        if file.line_text(first).trim_start().starts_with(file.language.attribute_sign()) {
            let depth = self.lexemes.line(first).depth;
            while last < file.line_count() && self.lexemes.line(last + 1).depth > depth {
                last += 1;
            }
        }
        first..=last
    }

    /// Whether a comment is about a finding whose header takes these lines.
    #[must_use]
    pub fn covers(&self, comment: &Comment, header: &RangeInclusive<usize>) -> bool {
        let lines = match &comment.covers {
            _ if !comment.is_fit() => return false,
            Covers::File => return true,
            Covers::Lines(lines) => lines,
        };
        let (first, last) = (*header.start(), *header.end());
        if lines.contains(&first) {
            return true;
        }
        // Between the first and the last line of a call, other things may begin: what stands in a closure's braces is
        // not the call's header.
        let own = comment.depth <= self.lexemes.line(first).depth + 1;
        lines.start() == lines.end() && header.contains(lines.start()) && (lines.contains(&last) || own)
    }
}

fn has_mark(text: &str) -> bool {
    text.as_bytes().windows(MARK.len()).any(|window| window.eq_ignore_ascii_case(MARK.as_bytes()))
}

struct Reading<'a> {
    file: &'a SourceFile,
    lexemes: &'a Lexemes,
    lexeme: Lexeme,
}

impl Reading<'_> {
    fn comment(&self) -> Option<Comment> {
        let text = self.file.slice(self.lexeme.span);
        let sign = self.file.language.comment_sign();
        let (start, body) = directive(text, sign)?;
        let start = self.lexeme.span.start as usize + start;
        let body_at = self.lexeme.span.end as usize - body.len();
        let body = body.get(..end_of_own(body, sign)).unwrap_or(body).trim_end();
        let span = Span::new(start, body_at + body.len());

        let word_length =
            body.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_')).unwrap_or(body.len());
        let (word, rest) = body.split_at(word_length);
        let whole_file = word.eq_ignore_ascii_case("file-ignore");
        let mut comment = Comment {
            span,
            covers: if whole_file { Covers::File } else { Covers::Lines(self.lines()) },
            names: Vec::new(),
            depth: self.lexeme.depth,
            names_end: span.end as usize,
            reason: String::new(),
            fault: None,
        };
        if !whole_file && !word.eq_ignore_ascii_case("ignore") {
            if !looks_meant(word, rest) {
                return None;
            }
            let message = format!("`stormlint: {word}` is no suppression");
            comment.fault = Some(Fault { message, help: form(sign, "ignore") });
            return Some(comment);
        }
        let blanks = rest.len() - rest.trim_start().len();
        let opened = rest.trim_start().strip_prefix('[').and_then(|rest| Some((rest, rest.find(']')?)));
        let Some((inner, end)) = opened else {
            let message = if rest.trim_start().starts_with('[') {
                "The bracket of this suppression is not closed"
            } else {
                "This suppression names no rule"
            };
            comment.fault = Some(Fault { message: message.to_owned(), help: form(sign, word) });
            return Some(comment);
        };
        let names_at = body_at + word_length + blanks + 1;
        comment.names_end = names_at + end;
        let listed = inner.get(..end).unwrap_or_default();
        let mut at = names_at;
        for part in listed.split(',') {
            let name = part.trim();
            if !name.is_empty() {
                let start = at + (part.len() - part.trim_start().len());
                comment.names.push(Name { text: name.to_owned(), span: Span::new(start, start + name.len()) });
            }
            at += part.len() + 1;
        }
        comment.reason = reason(inner.get(end + 1..).unwrap_or_default());
        if comment.names.is_empty() {
            let message = "This suppression names no rule".to_owned();
            comment.fault = Some(Fault { message, help: form(sign, word) });
        } else if whole_file && !self.is_top_level() {
            comment.fault = Some(Fault {
                message: "A suppression for the whole file stands alone on its line, outside of all definitions"
                    .to_owned(),
                help: "put it at the top of the file, or write `ignore` for this place".to_owned(),
            });
        }
        Some(comment)
    }

    fn line(&self) -> usize {
        self.file.line_of(self.lexeme.span.start)
    }

    /// What stands before the comment on its line.
    fn before(&self) -> &str {
        let start = self.file.line_start(self.line());
        let before = self.file.text.get(start..self.lexeme.span.start as usize).unwrap_or_default();
        before.strip_prefix('\u{feff}').filter(|_| start == 0).unwrap_or(before)
    }

    fn is_alone(&self) -> bool {
        self.before().trim().is_empty()
    }

    fn is_top_level(&self) -> bool {
        let braced = !self.file.language.nests_by_indentation() && self.lexeme.depth == 0;
        self.is_alone() && (braced || self.before().is_empty())
    }

    /// The lines that it is about.
    fn lines(&self) -> RangeInclusive<usize> {
        let own = self.line();
        if !self.is_alone() {
            return own..=own;
        }
        let mut line = own + 1;
        while self.is_comment(line) {
            line += 1;
        }
        line..=stack_end(self.file, self.lexemes, line)
    }

    fn is_comment(&self, line: usize) -> bool {
        is_comment(self.file, line)
    }
}

fn is_comment(file: &SourceFile, line: usize) -> bool {
    file.line_text(line).trim_start().starts_with(file.language.comment_sign())
}

/// The line that the decorators or attributes from `line` on are for; `line` itself where there are none.
pub(super) fn stack_end(file: &SourceFile, lexemes: &Lexemes, line: usize) -> usize {
    let mut line = line;
    while file.line_text(line).trim_start().starts_with(file.language.attribute_sign()) {
        let depth = lexemes.line(line).depth;
        let mut next = line + 1;
        while next <= file.line_count() && (lexemes.line(next).depth > depth || lexemes.line(next).inside) {
            next += 1;
        }
        // `#[inline] fn f() {`: what it is for stands behind it.
        let last = file.line_text(next - 1);
        let code = last.split(" //").next().unwrap_or_default().trim_end();
        if !file.language.nests_by_indentation() && !code.ends_with(']') {
            return line;
        }
        while next <= file.line_count() && (is_comment(file, next) || file.line_text(next).trim().is_empty()) {
            next += 1;
        }
        if next > file.line_count() {
            return line;
        }
        line = next;
    }
    line
}

/// Where in a comment ours begins, and what stands behind the mark; other tools' comments may stand before it.
fn directive<'a>(text: &'a str, sign: &str) -> Option<(usize, &'a str)> {
    text.match_indices(sign).find_map(|(at, _)| {
        let inner = text.get(at..)?.trim_start_matches(['#', '/']).trim_start();
        let mark = inner.get(..MARK.len())?;
        mark.eq_ignore_ascii_case(MARK).then(|| inner.get(MARK.len()..).map(|body| (at, body.trim_start())))?
    })
}

/// Where another comment begins behind ours on the same line.
fn end_of_own(body: &str, sign: &str) -> usize {
    let behind = |at: &usize| {
        let before = body.get(..*at).is_some_and(|before| before.ends_with([' ', '\t']));
        let after = body.get(at + sign.len()..).unwrap_or_default();
        before && (after.starts_with([' ', '\t']) || after.starts_with("noqa") || after.starts_with("type:"))
    };
    body.match_indices(sign).map(|(at, _)| at).find(behind).unwrap_or(body.len())
}

/// Whether somebody meant to suppress something: a word with a bracket, or one that is nearly or elsewhere ours.
fn looks_meant(word: &str, rest: &str) -> bool {
    let word = word.to_ascii_lowercase();
    let near = |own: &str| {
        let same = word.chars().zip(own.chars()).take_while(|(one, other)| one == other).count();
        same + 2 >= own.len() && word.len().abs_diff(own.len()) <= 2
    };
    let foreign = FOREIGN.iter().any(|foreign| word.starts_with(foreign)) && (rest.is_empty() || rest.starts_with('['));
    (!word.is_empty() && rest.starts_with('[')) || foreign || near("ignore") || near("file-ignore")
}

fn form(sign: &str, word: &str) -> String {
    format!("write `{sign} stormlint: {}[rule-name] reason`", word.to_ascii_lowercase())
}

/// What stands behind the bracket, without a dash or colon that leads to it.
fn reason(text: &str) -> String {
    text.trim().trim_start_matches([':', '-', '–', '—']).trim().to_owned()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;
    use crate::source::Language;

    fn python(text: &str) -> Vec<Comment> {
        Comments::of(&SourceFile::new("a.py", text, Language::Python)).list
    }

    fn rust(text: &str) -> Vec<Comment> {
        Comments::of(&SourceFile::new("a.rs", text, Language::Rust)).list
    }

    fn names(comment: &Comment) -> Vec<&str> {
        comment.names.iter().map(|name| name.text.as_str()).collect()
    }

    fn lines(comment: &Comment) -> (usize, usize) {
        match &comment.covers {
            Covers::Lines(lines) => (*lines.start(), *lines.end()),
            Covers::File => (0, 0),
        }
    }

    #[test]
    fn names_and_reasons_are_read() {
        let text = "x  # noqa: E501  # stormlint: ignore[a-b, pace ,] — see #12, it ends  # type: ignore\n";
        let comment = &python(text)[0];
        assert_eq!((names(comment), comment.reason.as_str()), (vec!["a-b", "pace"], "see #12, it ends"));
        assert_eq!(&text[comment.span.range()], "# stormlint: ignore[a-b, pace ,] — see #12, it ends");
        assert_eq!(&text[comment.names[1].span.range()], "pace");
        assert_eq!(&text[comment.names_end..=comment.names_end], "]");
        let comment = &rust("x(); //stormlint:IGNORE [a] why // more")[0];
        assert_eq!((names(comment), comment.reason.as_str()), (vec!["a"], "why"));
        assert_eq!(python("'# stormlint: ignore[a]'\n# stormlint: a linter\n# see stormlint: ignore[a]\n"), []);
        assert_eq!(rust("/// stormlint: ignore[a]\nfn f() {}\n/* // stormlint: ignore[a] */"), []);
    }

    #[test]
    fn wrong_forms_have_a_message() {
        let fault = |text: &str| python(text)[0].fault.clone().unwrap().message;
        assert_eq!(fault("# stormlint: ignore"), "This suppression names no rule");
        assert_eq!(fault("# stormlint: ignore[ ]"), "This suppression names no rule");
        assert_eq!(fault("# stormlint: ignore[a"), "The bracket of this suppression is not closed");
        for word in ["disable", "ignores[a]", "noqa", "ingore[a]", "ignore-file[a]"] {
            assert!(fault(&format!("# stormlint: {word}")).ends_with("is no suppression"), "{word}");
        }
        assert!(fault("def f():\n    # stormlint: file-ignore[a] why\n").contains("outside of all definitions"));
        assert!(fault("x = 1  # stormlint: file-ignore[a] why\n").contains("alone on its line"));
        assert!(rust("fn f() {\n // stormlint: file-ignore[a] why\n}")[0].fault.is_some());
        assert!(rust("  // stormlint: file-ignore[a] why\n")[0].fault.is_none());
    }

    #[test]
    fn a_comment_is_about_its_line_or_the_next_one() {
        let about = |text: &str| lines(&python(text)[0]);
        assert_eq!(about("x  # stormlint: ignore[a]\ny\n"), (1, 1));
        assert_eq!(about("# stormlint: ignore[a]\n# more\nx\n"), (3, 3));
        assert_eq!(about("# stormlint: ignore[a]\n@b(\n  1,\n)\n# c\n\n@d\ndef f():\n  pass\n"), (2, 8));
        assert_eq!(about("@b\n  # stormlint: ignore[a]\n@c\ndef f():\n  pass\n"), (3, 4));
        let about = |text: &str| lines(&rust(text)[0]);
        assert_eq!(about("// stormlint: ignore[a]\n#[b(\nc)] // d\n/// e\n#[f]\nfn g() {\n}\n"), (2, 6));
        assert_eq!(about("// stormlint: ignore[a]\n#[b] fn g() {\n}\n#[c]\nfn h() {}\n"), (2, 2));
    }

    #[test]
    fn a_header_of_several_lines_is_one_place() {
        let text = "@retry(\n    # stormlint: ignore[a]\n    wait=1,\n)  # stormlint: ignore[b]\ndef f(): ...\n";
        let comments = Comments::of(&SourceFile::new("a.py", text, Language::Python));
        assert!(comments.list.iter().all(|comment| comments.covers(comment, &(1..=4))));
        assert!(!comments.list.iter().any(|comment| comments.covers(comment, &(5..=5))));
        let text = "run(x, || {\n    loop { // stormlint: ignore[a]\n    }\n}); // stormlint: ignore[b]\n";
        let comments = Comments::of(&SourceFile::new("a.rs", text, Language::Rust));
        let about = |header| comments.list.iter().map(|one| comments.covers(one, &header)).collect::<Vec<_>>();
        assert_eq!((about(1..=4), about(2..=2)), (vec![false, true], vec![true, false]));
    }
}
