//! One line a finding: `path:line:column: level[rule] message`.

use std::io::{self, Write};

use crate::check::Run;

/// Writes all findings.
///
/// # Errors
/// The output cannot be written.
pub fn write(run: &Run, out: &mut dyn Write) -> io::Result<()> {
    for found in &run.findings {
        let Some(file) = run.files.get(found.file) else { continue };
        let diagnostic = &found.diagnostic;
        let place = file.position(diagnostic.span.start);
        writeln!(
            out,
            "{}:{}:{}: {}[{}] {}",
            file.path,
            place.line,
            place.column,
            diagnostic.level.name(),
            diagnostic.rule,
            diagnostic.message
        )?;
    }
    Ok(())
}
