//! The findings as one JSON document, for other programs. The form is versioned: fields are added, never changed.

use std::io::{self, Write};

use serde::Serialize;

use crate::check::{By, FileError, Run};
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
    #[serde(skip_serializing_if = "Option::is_none")]
    suppression: Option<SuppressionOut<'a>>,
}

/// What keeps a finding out, where those are listed too.
#[derive(Serialize)]
struct SuppressionOut<'a> {
    kind: &'static str,
    reason: &'a str,
}

impl<'a> SuppressionOut<'a> {
    fn of(by: &'a By) -> Self {
        match by {
            By::Comment(reason) => SuppressionOut { kind: "comment", reason },
            By::Baseline => SuppressionOut { kind: "baseline", reason: "" },
        }
    }
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
    let suppressed = run.suppressed.iter().filter(|_| run.lists_suppressed).map(|one| (&one.found, Some(&one.by)));
    let listed = run.findings.iter().map(|found| (found, None)).chain(suppressed);
    let findings = listed.filter_map(|(found, by)| {
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
            suppression: by.map(SuppressionOut::of),
        })
    });
    let document = Document { version: 1, findings: findings.collect(), files: run.files.len(), errors: &run.errors };
    super::document::write(&document, out)
}
