//! One line a finding: `path:line:column: level[rule] message`.

use std::io::{self, Write};

use super::{Style, visible};
use crate::check::Run;
use crate::diagnostic::Level;

/// Writes all findings.
///
/// # Errors
/// The output cannot be written.
pub fn write(run: &Run, style: Style, out: &mut dyn Write) -> io::Result<()> {
    for found in &run.findings {
        let Some(file) = run.files.get(found.file) else { continue };
        let diagnostic = &found.diagnostic;
        let place = file.position(diagnostic.span.start);
        let (on, off) = match diagnostic.level {
            _ if !style.colour => ("", ""),
            Level::Error => ("\u{1b}[1;31m", "\u{1b}[0m"),
            Level::Warning => ("\u{1b}[1;33m", "\u{1b}[0m"),
            Level::Note => ("\u{1b}[1;32m", "\u{1b}[0m"),
        };
        writeln!(
            out,
            "{}:{}:{}: {on}{}[{}]{off} {}",
            visible::path(&file.path),
            place.line,
            place.column,
            diagnostic.level.name(),
            style.rule(diagnostic.rule),
            visible::line(&diagnostic.message)
        )?;
    }
    Ok(())
}
