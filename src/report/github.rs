//! Annotations of GitHub's workflows: one command a finding, which the runner shows beside the changed lines.
//!
//! Everything that a command quotes is escaped, so that no name and no source text can make a command of its own.

use std::io::{self, Write};

use super::{sentences, visible};
use crate::check::{ErrorKind, Run};
use crate::diagnostic::Level;

/// Writes all findings, and an error for each file that could not be checked.
///
/// # Errors
/// The output cannot be written.
pub fn write(run: &Run, out: &mut dyn Write) -> io::Result<()> {
    for found in &run.findings {
        let (Some(file), Some(path)) = (run.files.get(found.file), run.root_paths.get(found.file)) else { continue };
        let diagnostic = &found.diagnostic;
        let (start, end) = (file.position(diagnostic.span.start), file.position(diagnostic.span.end));
        let command = match diagnostic.level {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Note => "notice",
        };
        write!(out, "::{command} file={},line={},endLine={}", property(path), start.line, end.line)?;
        // Columns are taken within one line only.
        if start.line == end.line {
            write!(out, ",col={},endColumn={}", start.column, end.column)?;
        }
        writeln!(out, ",title={}::{}", property(diagnostic.rule), message(&sentences(diagnostic)))?;
    }
    for error in &run.errors {
        let text = format!("{}: {}", visible::line(&error.path), error.message);
        let title = if error.kind == ErrorKind::InternalError { "internal error" } else { "not checked" };
        writeln!(out, "::error title={title}::{}", message(&text))?;
    }
    Ok(())
}

/// A command's text.
fn message(text: &str) -> String {
    escaped(text, &['%', '\r', '\n'])
}

/// The value of a command's property.
fn property(text: &str) -> String {
    escaped(text, &['%', '\r', '\n', ':', ','])
}

fn escaped(text: &str, special: &[char]) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if special.contains(&c) {
            out.push_str(&format!("%{:02X}", u32::from(c)));
        } else {
            out.push(c);
        }
    }
    visible::line(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_ends_a_command() {
        assert_eq!(message("100 %\n::error::x: y, z\r\u{1b}[2J"), "100 %25%0A::error::x: y, z%0D␛[2J");
        assert_eq!(property("a,line=1::b\n.py"), "a%2Cline=1%3A%3Ab%0A.py");
    }
}
