//! Where output goes: one buffered writer over standard output or a file, and complaints on standard error.

use std::io::{self, BufWriter, ErrorKind, IsTerminal, Write};
use std::path::Path;

use super::{Colour, Failure, file};
use crate::report::{Style, visible};

/// Runs `print` with a buffered writer. A reader that has gone away (a closed pipe) is no failure.
pub(super) fn to(file: Option<&Path>, print: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    match file {
        Some(file) => file::prepare(file, print).and_then(file::Ready::put).map_err(|error| unwritten(file, &error)),
        None => match into(io::stdout().lock(), print) {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                Err(Failure::Io { what: "standard output".to_owned(), error })
            }
            _ => Ok(()),
        },
    }
}

/// Runs `print` with a buffer before `target`.
pub(super) fn into(target: impl Write, print: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 16, target);
    print(&mut out)?;
    out.flush()
}

/// Why nothing could be written, in the same words everywhere.
pub(super) fn reason(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::IsADirectory => "it is a folder".to_owned(),
        ErrorKind::PermissionDenied => "permission denied".to_owned(),
        ErrorKind::StorageFull => "no space is left on the device".to_owned(),
        _ => error.to_string(),
    }
}

/// A file could not be written.
pub(super) fn unwritten(file: &Path, error: &io::Error) -> Failure {
    Failure::Unwritten { file: file.to_path_buf(), text: reason(error) }
}

/// Colours as asked, or where standard output is a terminal and the environment does not say no (`NO_COLOR`,
/// `CLICOLOR`, `TERM=dumb`) or says yes (`CLICOLOR_FORCE`). Links only on a terminal that is known to take them.
pub(super) fn style(asked: Colour, file: Option<&Path>) -> Style {
    let stdout = io::stdout();
    let forced = std::env::var_os("CLICOLOR_FORCE").is_some_and(|value| value != "0");
    let colour = match asked {
        Colour::Always => true,
        Colour::Never => false,
        Colour::Auto => {
            let wanted = anstream::AutoStream::choice(&stdout) != anstream::ColorChoice::Never;
            file.is_none() && wanted && (forced || stdout.is_terminal())
        }
    };
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let links = colour
        && !plain
        && file.is_none()
        && stdout.is_terminal()
        && supports_hyperlinks::on(supports_hyperlinks::Stream::Stdout);
    Style { colour, links }
}

/// One complaint on standard error.
pub(super) fn complain(message: &str) {
    aside(|err| writeln!(err, "stormlint: {}", visible::lines(message)));
}

/// Writes to standard error. Nowhere is left to say that it is closed.
pub(super) fn aside(print: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
    let _ = into(io::stderr().lock(), print);
}
