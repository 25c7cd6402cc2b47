//! What a person reads: the finding in its source text, with the failure path as numbered labels.

use std::cell::OnceCell;
use std::io::{self, Write};
use std::ops::Range;

use codespan_reporting::diagnostic::{Diagnostic as Shown, Label as Mark, Severity};
use codespan_reporting::files::{Error, Files};
use codespan_reporting::term::{self, termcolor::Buffer};

use super::{Style, visible};
use crate::check::{Found, Run};
use crate::diagnostic::{Label, Level};
use crate::source::{SourceFile, Span};

/// More labels than this are hard to read; of longer paths the first steps and the last one are shown.
const MAX_LABELS: usize = 8;

/// Notes are broken at this column.
const WIDTH: usize = 100;

/// Writes all findings, each followed by an empty line.
///
/// # Errors
/// The output cannot be written.
pub fn write(run: &Run, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let config = term::Config::default();
    let sources = Sources::new(&run.files);
    for found in &run.findings {
        let mut buffer = if style.colour { Buffer::ansi() } else { Buffer::no_color() };
        let rule = found.diagnostic.rule;
        let shown = shown(&sources, found);
        if term::emit_to_write_style(&mut buffer, &config, &sources, &shown).is_err() {
            writeln!(out, "{}[{}]: {}\n", found.diagnostic.level.name(), style.rule(rule), shown.message)?;
            continue;
        }
        let text = String::from_utf8_lossy(buffer.as_slice());
        // The head names the rule, and nothing stands before it.
        let linked = text.replacen(&format!("[{rule}]"), &format!("[{}]", style.rule(rule)), 1);
        out.write_all(linked.as_bytes())?;
    }
    Ok(())
}

fn shown(sources: &Sources<'_>, found: &Found) -> Shown<usize> {
    let diagnostic = &found.diagnostic;
    let severity = match diagnostic.level {
        Level::Error => Severity::Error,
        Level::Warning => Severity::Warning,
        Level::Note => Severity::Note,
    };
    let mark = |file: usize, span, primary: bool, text: String| {
        let range = sources.range(file, span)?;
        let mark = if primary { Mark::primary(file, range) } else { Mark::secondary(file, range) };
        Some(mark.with_message(text))
    };
    let mut marks: Vec<_> = mark(found.file, diagnostic.span, true, String::new()).into_iter().collect();
    for (number, label) in steps(&diagnostic.labels) {
        let text = visible::line(&label.text);
        let text = if diagnostic.labels.len() > 1 { format!("{number}: {text}") } else { text.into_owned() };
        marks.extend(mark(label.file.unwrap_or(found.file), label.span, false, text));
    }
    let mut notes = Vec::new();
    if !diagnostic.why.is_empty() {
        notes.push(wrapped(&diagnostic.why, 0));
    }
    if !diagnostic.help.is_empty() {
        notes.push(wrapped(&format!("help: {}", diagnostic.help), "help: ".len()));
    }
    Shown::new(severity)
        .with_code(diagnostic.rule)
        .with_message(visible::line(&diagnostic.message))
        .with_labels(marks)
        .with_notes(notes)
}

/// The labels to show, each with its number from 1.
fn steps(labels: &[Label]) -> impl Iterator<Item = (usize, &Label)> {
    let last = labels.len();
    labels
        .iter()
        .enumerate()
        .map(|(at, label)| (at + 1, label))
        .filter(move |(number, _)| last <= MAX_LABELS || *number < MAX_LABELS || *number == last)
}

/// Broken at blanks so that lines keep within [`WIDTH`], further lines indented. No line begins with what a build server
/// would take for a command.
fn wrapped(text: &str, indent: usize) -> String {
    let mut lines = String::new();
    let mut width = 0;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if width > 0 && width + 1 + length > WIDTH && !word.starts_with("::") {
            lines.push('\n');
            lines.extend(std::iter::repeat_n(' ', indent));
            width = indent;
        } else if width > 0 {
            lines.push(' ');
            width += 1;
        }
        lines.push_str(&visible::line(word));
        width += length;
    }
    lines
}

/// The files of a run as the renderer wants them, made when they are asked for.
struct Sources<'a> {
    files: &'a [SourceFile],
    printable: Vec<OnceCell<Printable>>,
}

/// A file of which everything can be printed.
struct Printable {
    path: String,
    file: SourceFile,
    /// Where the bytes of the file have gone, if something was replaced.
    moved: Option<visible::Source>,
}

impl<'a> Sources<'a> {
    fn new(files: &'a [SourceFile]) -> Self {
        Sources { files, printable: files.iter().map(|_| OnceCell::new()).collect() }
    }

    fn get(&self, id: usize) -> Result<&Printable, Error> {
        let (Some(file), Some(cell)) = (self.files.get(id), self.printable.get(id)) else {
            return Err(Error::FileMissing);
        };
        Ok(cell.get_or_init(|| {
            let moved = visible::Source::new(&file.text);
            let shown = moved.as_ref().map(|moved| SourceFile::new("", moved.text.as_str(), file.language));
            let path = visible::line(&file.path).into_owned();
            Printable { path, file: shown.unwrap_or_else(|| file.clone()), moved }
        }))
    }

    /// The first line of a span, in the text that is printed.
    fn range(&self, id: usize, span: Span) -> Option<Range<usize>> {
        let range = self.files.get(id)?.first_line(span).range();
        let moved = self.get(id).ok()?.moved.as_ref();
        Some(moved.map_or(range.clone(), |moved| moved.place(range.start)..moved.place(range.end)))
    }
}

impl<'a> Files<'a> for Sources<'_> {
    type FileId = usize;
    type Name = &'a str;
    type Source = &'a str;

    fn name(&'a self, id: usize) -> Result<&'a str, Error> {
        Ok(&self.get(id)?.path)
    }

    fn source(&'a self, id: usize) -> Result<&'a str, Error> {
        Ok(&self.get(id)?.file.text)
    }

    fn line_index(&'a self, id: usize, byte: usize) -> Result<usize, Error> {
        Ok(self.get(id)?.file.line_of(u32::try_from(byte).unwrap_or(u32::MAX)).saturating_sub(1))
    }

    fn line_range(&'a self, id: usize, line: usize) -> Result<Range<usize>, Error> {
        let file = &self.get(id)?.file;
        if line >= file.line_count() {
            return Err(Error::LineTooLarge { given: line, max: file.line_count().saturating_sub(1) });
        }
        Ok(file.line_start(line + 1)..file.line_start(line + 2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_paths_show_their_first_steps_and_their_last() {
        let label = |n: usize| Label { file: None, span: Span::new(n, n + 1), text: String::new() };
        let labels: Vec<_> = (0..12).map(label).collect();
        let numbers: Vec<_> = steps(&labels).map(|(number, _)| number).collect();
        assert_eq!(numbers, [1, 2, 3, 4, 5, 6, 7, 12]);
        assert_eq!(steps(labels.split_at(8).0).count(), 8);
    }

    #[test]
    fn notes_are_broken_at_blanks() {
        let text = format!("help: {}", "word ".repeat(40));
        let lines: Vec<String> = wrapped(&text, 6).lines().map(str::to_owned).collect();
        assert!(lines.len() > 1 && lines.iter().all(|line| line.chars().count() <= WIDTH));
        assert!(lines.iter().skip(1).all(|line| line.starts_with("      word")));
        assert_eq!(wrapped("short", 0), "short");
        let text = format!("{} ::error::x\u{1b}[m", "word ".repeat(19));
        assert!(wrapped(&text, 0).ends_with("word ::error::x␛[m"));
    }
}
