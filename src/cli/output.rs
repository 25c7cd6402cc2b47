//! Where output goes: one buffered writer over standard output or a file, and complaints on standard error.

use std::io::{self, BufWriter, ErrorKind, IsTerminal, Write};
use std::path::Path;

use super::{Colour, Failure};

/// Runs `print` with a buffered writer. A reader that has gone away (a closed pipe) is no failure.
pub(super) fn to(file: Option<&Path>, print: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    let what = file.map_or_else(|| "standard output".to_owned(), |file| file.display().to_string());
    let written = match file {
        Some(file) => std::fs::File::create(file).and_then(|file| into(file, print)),
        None => into(io::stdout().lock(), print),
    };
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure::Io { what, error }),
        _ => Ok(()),
    }
}

fn into(target: impl Write, print: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 16, target);
    print(&mut out)?;
    out.flush()
}

/// Whether to write ANSI colours: as asked, or where standard output is a terminal and the environment does not say no
/// (`NO_COLOR`, `CLICOLOR`, `TERM=dumb`).
pub(super) fn colour(asked: Colour, file: Option<&Path>) -> bool {
    match asked {
        Colour::Always => true,
        Colour::Never => false,
        Colour::Auto => {
            let forced = std::env::var_os("CLICOLOR_FORCE").is_some_and(|value| value != "0");
            let terminal = io::stdout().is_terminal() || forced;
            file.is_none() && terminal && anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never
        }
    }
}

/// One line on standard error.
pub(super) fn complain(message: &str) {
    // Nowhere is left to say that standard error is closed.
    let _ = writeln!(io::stderr().lock(), "stormlint: {message}");
}
