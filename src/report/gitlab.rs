//! GitLab's Code Quality report: what a merge request shows beside its changes.

use std::io::{self, Write};

use serde::Serialize;

use super::{document, sentence};
use crate::check::Run;
use crate::diagnostic::Level;
use crate::fingerprint;

#[derive(Serialize)]
struct Issue<'a> {
    description: String,
    check_name: &'a str,
    fingerprint: String,
    severity: &'static str,
    location: Location<'a>,
}

#[derive(Serialize)]
struct Location<'a> {
    path: &'a str,
    lines: Lines,
}

#[derive(Serialize)]
struct Lines {
    begin: usize,
    end: usize,
}

/// Writes the document: a list, empty where nothing was found.
///
/// # Errors
/// The output cannot be written.
pub fn write(run: &Run, out: &mut dyn Write) -> io::Result<()> {
    let issues = run.findings.iter().filter_map(|found| {
        let (file, path) = (run.files.get(found.file)?, run.root_paths.get(found.file)?);
        let diagnostic = &found.diagnostic;
        Some(Issue {
            description: sentence(&diagnostic.message),
            check_name: diagnostic.rule,
            // Issues with the same fingerprint are taken for one, in whichever files they stand.
            fingerprint: fingerprint::in_file(path, &found.fingerprint),
            severity: match diagnostic.level {
                Level::Error => "critical",
                Level::Warning => "major",
                Level::Note => "info",
            },
            location: Location {
                path,
                lines: Lines { begin: file.line_of(diagnostic.span.start), end: file.line_of(diagnostic.span.end) },
            },
        })
    });
    document::write(&issues.collect::<Vec<_>>(), out)
}
