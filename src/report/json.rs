//! The findings as one JSON document, for other programs. The form is versioned: fields are added, never changed.

use std::io::{self, Write};

use serde::Serialize;

use crate::check::{FileError, Run};
use crate::diagnostic::{Confidence, Level};
use crate::source::{SourceFile, Span};

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    findings: Vec<Finding<'a>>,
    files: usize,
    errors: &'a [FileError],
}

#[derive(Serialize)]
struct Finding<'a> {
    rule: &'a str,
    level: Level,
    confidence: Confidence,
    message: String,
    why: &'a str,
    help: &'a str,
    path: &'a str,
    range: Range,
    labels: Vec<LabelOut<'a>>,
    fingerprint: &'a str,
}

#[derive(Serialize)]
struct LabelOut<'a> {
    message: &'a str,
    path: &'a str,
    range: Range,
}

/// Lines and columns from 1, columns in characters, the end exclusive.
#[derive(Debug, Serialize)]
pub(super) struct Range {
    start: Place,
    end: Place,
}

#[derive(Debug, Serialize)]
struct Place {
    line: usize,
    column: usize,
}

impl Range {
    pub(super) fn of(file: &SourceFile, span: Span) -> Self {
        let place = |offset| {
            let position = file.position(offset);
            Place { line: position.line, column: position.column }
        };
        Range { start: place(span.start), end: place(span.end) }
    }
}

/// Writes the document, indented, with a line end.
///
/// # Errors
/// The output cannot be written.
pub fn write(run: &Run, out: &mut dyn Write) -> io::Result<()> {
    let findings = run.findings.iter().filter_map(|found| {
        let file = run.files.get(found.file)?;
        let diagnostic = &found.diagnostic;
        let labels = diagnostic.labels.iter().filter_map(|label| {
            let file = run.files.get(label.file.unwrap_or(found.file))?;
            Some(LabelOut { message: &label.text, path: &file.path, range: Range::of(file, label.span) })
        });
        Some(Finding {
            rule: diagnostic.rule,
            level: diagnostic.level,
            confidence: diagnostic.confidence,
            message: super::sentence(&diagnostic.message),
            why: &diagnostic.why,
            help: &diagnostic.help,
            path: &file.path,
            range: Range::of(file, diagnostic.span),
            labels: labels.collect(),
            fingerprint: &found.fingerprint,
        })
    });
    let document = Document { version: 1, findings: findings.collect(), files: run.files.len(), errors: &run.errors };
    super::document::write(&document, out)
}
