//! The outputs of a run: one that is shown, and any number of files beside it, each in its own format.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::ValueEnum;

use super::{Failure, Format, RunArgs, file, output};
use crate::report::Style;

/// `FORMAT=FILE`.
#[derive(Debug, Clone)]
pub(super) struct Output {
    pub(super) format: Format,
    pub(super) file: PathBuf,
}

/// Reads `FORMAT=FILE`; the file's name may be any that the system takes.
pub(super) fn parse(given: &OsStr) -> Result<Output, String> {
    let lossy = given.to_string_lossy();
    let (format, rest) = lossy.split_once('=').ok_or("it takes FORMAT=FILE")?;
    let format = Format::from_str(format, false).map_err(|_| {
        let names: Vec<_> = Format::value_variants().iter().map(|format| format.name()).collect();
        format!("the formats are {}", names.join(", "))
    })?;
    if rest.is_empty() || rest == "-" {
        return Err("it writes a file; --output-format says what is printed".to_owned());
    }
    // The format's name is ASCII, so that what stands behind it begins at the same byte.
    let file = match given.to_str() {
        Some(text) => PathBuf::from(text.split_once('=').map_or("", |(_, file)| file)),
        None => behind(given),
    };
    Ok(Output { format, file })
}

#[cfg(unix)]
fn behind(given: &OsStr) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    let bytes = given.as_bytes();
    let at = bytes.iter().position(|byte| *byte == b'=').map_or(0, |at| at + 1);
    PathBuf::from(OsStr::from_bytes(bytes.get(at..).unwrap_or_default()))
}

#[cfg(not(unix))]
fn behind(given: &OsStr) -> PathBuf {
    PathBuf::from(given.to_string_lossy().split_once('=').map_or("", |(_, file)| file))
}

impl RunArgs {
    /// All formats that are asked for.
    pub(super) fn formats(&self) -> impl Iterator<Item = Format> {
        std::iter::once(self.output_format).chain(self.output.iter().map(|output| output.format))
    }

    fn files(&self) -> impl Iterator<Item = &Path> {
        self.output_file.as_deref().into_iter().chain(self.output.iter().map(|output| output.file.as_path()))
    }

    /// Whether the files can be written, as far as that can be said before the run.
    pub(super) fn check_outputs(&self) -> Result<(), Failure> {
        let mut seen = HashSet::new();
        for file in self.files() {
            if !seen.insert(file) {
                let file = file.display();
                return Err(Failure::Usage(format!("two outputs go to `{file}`: give each a file of its own")));
            }
            let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
            if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
                let text = format!("there is no folder `{}`", folder.display());
                return Err(Failure::Unwritten { file: file.to_path_buf(), text });
            }
        }
        Ok(())
    }

    /// Writes all outputs. The files are put in their places once all of them are whole; what is shown is shown even
    /// where a file cannot be written.
    pub(super) fn print(&self, write: impl Fn(Format, Style, &mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
        let files = self.write_files(&write);
        let main = self.output_file.as_deref();
        let style = output::style(self.color, main);
        let shown = output::to(main, |out| write(self.output_format, style, out));
        files.and(shown)
    }

    fn write_files(&self, write: impl Fn(Format, Style, &mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
        let mut ready = Vec::new();
        for Output { format, file } in &self.output {
            let written = file::prepare(file, |out| write(*format, Style::default(), out));
            ready.push((file, written.map_err(|error| output::unwritten(file, &error))?));
        }
        ready.into_iter().try_for_each(|(file, ready)| ready.put().map_err(|error| output::unwritten(file, &error)))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_format_and_a_file_are_told_apart() {
        let output = parse(OsStr::new("sarif=out=1.sarif")).unwrap();
        assert_eq!((output.format, output.file.as_path()), (Format::Sarif, Path::new("out=1.sarif")));
        assert!(parse(OsStr::new("sarif")).unwrap_err().contains("FORMAT=FILE"));
        assert!(parse(OsStr::new("html=x")).unwrap_err().contains("full, concise, json, sarif, github, gitlab, junit"));
        assert!(parse(OsStr::new("json=")).is_err() && parse(OsStr::new("json=-")).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn names_need_not_be_text() {
        use std::os::unix::ffi::OsStrExt;
        let output = parse(OsStr::from_bytes(b"json=\xff.json")).unwrap();
        assert_eq!(output.file.as_os_str().as_bytes(), b"\xff.json");
    }
}
