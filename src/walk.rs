//! Finds the sources of a run and reads them.
//!
//! Folders are searched as git would see them (`.gitignore` and `.ignore` hold, also where there is no repository), less
//! a few folders that hold nobody's own code and what a configuration excludes. What is named is taken whatever any list
//! says, unless that is asked for. `lookup` finds the configuration that holds for each file, `versions` the lock files and manifests
//! around it, which `locks` reads.
//!
//! Invariant: what is found does not depend on the order in which paths are named, nor on the file system's.

mod decode;
mod locks;
mod lookup;
mod module_name;
mod versions;

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rayon::prelude::*;

use crate::check::{FileError, Input};
use crate::source::{Language, SourceFile, text_of};
pub use lookup::{Asked, Lookup};
use module_name::ModuleNames;

/// Folders that are not entered unless they are named.
const EXCLUDED: [&str; 6] = [".git", "target", "node_modules", ".venv", "venv", "__pycache__"];

/// Where a run takes place.
#[derive(Debug, Clone)]
pub struct Place {
    /// The working directory: printed paths are relative to it.
    pub cwd: PathBuf,
    /// The root of the repository: SARIF's paths and module names are relative to it.
    pub root: PathBuf,
}

impl Place {
    /// The place for a working directory; without a `root`, the nearest folder upwards that holds `.git`, else the
    /// working directory itself.
    #[must_use]
    pub fn new(cwd: &Path, root: Option<&Path>) -> Self {
        let cwd = normal(cwd);
        let root = match root {
            Some(root) => normal(&cwd.join(root)),
            None => repository(&cwd).unwrap_or(&cwd).to_path_buf(),
        };
        Place { cwd, root }
    }

    /// How a path is printed: relative to the working directory if it lies in it, with `/`; that itself as `.`.
    #[must_use]
    pub fn shown(&self, path: &Path) -> String {
        let inner = path.strip_prefix(&self.cwd).unwrap_or(path);
        if inner.as_os_str().is_empty() { ".".to_owned() } else { slashed(inner) }
    }

    /// The path from the root; for a file outside of it, from its own repository's root, and failing that without a
    /// leading separator: never absolute.
    fn in_root(&self, path: &Path) -> String {
        let inner = path.strip_prefix(&self.root).ok();
        let inner = inner.or_else(|| path.strip_prefix(repository(path.parent()?)?).ok());
        let mut shown = slashed(inner.unwrap_or(path));
        if shown.starts_with('/') {
            shown = shown.trim_start_matches('/').to_owned();
        }
        shown
    }

    /// The absolute path of a name that was given.
    #[must_use]
    pub fn absolute(&self, given: &Path) -> PathBuf {
        normal(&self.cwd.join(given))
    }

    /// A text that came in some other way (standard input), under the name that it is to have; nothing, if files of that
    /// name stay out.
    ///
    /// # Errors
    /// The name does not say the language.
    pub fn text(&self, lookup: &Lookup, name: &Path, bytes: &[u8]) -> Result<Option<Input>, FileError> {
        let path = normal(&self.cwd.join(name));
        let Some(language) = language(&path).or_else(|| shebang(bytes)) else {
            return Err(FileError::new(self.shown(&path), NOT_A_SOURCE.to_owned()));
        };
        if lookup.refuses(&path) {
            return Ok(None);
        }
        let text = decode::decode(bytes, language);
        Ok(Some(self.input(lookup, &path, text, language, &mut ModuleNames::new(&self.root))))
    }

    fn input(
        &self,
        lookup: &Lookup,
        path: &Path,
        text: Arc<str>,
        language: Language,
        names: &mut ModuleNames,
    ) -> Input {
        Input {
            file: SourceFile::new(self.shown(path), text, language),
            module: names.of(path, language),
            root_path: Arc::from(self.in_root(path)),
            config: lookup.config(path),
        }
    }
}

/// Pipes (what a shell makes of `<(…)`, `/dev/stdin` behind one), sockets and devices: reading one may never end, and its
/// name does not say the language.
const NOT_A_FILE: &str =
    "not a regular file; to check what a pipe gives, send it to `stormlint - --stdin-filename NAME`";

const NOT_A_SOURCE: &str = "neither Python nor Rust, by its name (.py, .pyi, .rs) or its first line";

/// What was found under some paths.
#[derive(Debug, Default)]
pub struct Sources {
    /// The files, in the order of their paths.
    pub inputs: Vec<Input>,
    /// What does not exist or could not be read.
    pub errors: Vec<FileError>,
    /// What is worth a word, and hides nothing: links that lead nowhere.
    pub remarks: Vec<FileError>,
}

/// The lists of what to pass over that are read in each folder.
const LISTS: [&str; 3] = [".gitignore", ".ignore", ".git/info/exclude"];

/// So much is read of what the command line names, whatever it is, in bytes.
const MOST: u64 = 1 << 30;

/// Reads a file that was found, not named: what a project holds may be a link to something that never ends.
///
/// # Errors
/// It cannot be read, or is no regular file.
pub fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(std::io::Error::other("not a regular file"));
    }
    std::fs::read(path)
}

/// Reads what the command line names: a file, a pipe, a device.
///
/// # Errors
/// It cannot be read, or there is more than a gigabyte of it.
pub fn read_named(path: &Path) -> std::io::Result<Vec<u8>> {
    read_to_end(std::fs::File::open(path)?)
}

/// Reads what may never end.
///
/// # Errors
/// It cannot be read, or there is more than a gigabyte of it.
pub fn read_to_end(from: impl std::io::Read) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(MOST).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == MOST {
        return Err(std::io::Error::other("it does not end within a gigabyte"));
    }
    Ok(bytes)
}

/// A list in a folder that cannot be read to its end.
fn endless_list(folder: &Path) -> Option<PathBuf> {
    let endless = |path: &PathBuf| std::fs::metadata(path).is_ok_and(|facts| !facts.is_file() && !facts.is_dir());
    LISTS.iter().map(|name| folder.join(name)).find(endless)
}

/// Finds and reads all sources under the paths.
#[must_use]
pub fn sources(place: &Place, lookup: &Arc<Lookup>, paths: &[PathBuf]) -> Sources {
    let (mut errors, mut remarks) = (Vec::new(), Vec::new());
    let mut files: BTreeMap<PathBuf, Named> = BTreeMap::new();
    for given in paths {
        let path = normal(&place.cwd.join(given));
        match std::fs::metadata(&path) {
            Err(error) => errors.push(FileError::new(slashed(given), io_text(&error))),
            Ok(facts) if (facts.is_dir() || facts.is_file()) && lookup.refuses(&path) => {}
            Ok(facts) if facts.is_dir() => walk(place, lookup, &path, &mut files, &mut errors, &mut remarks),
            Ok(facts) if facts.is_file() => {
                files.insert(path, Named::Yes);
            }
            Ok(_) => errors.push(FileError::new(slashed(given), NOT_A_FILE.to_owned())),
        }
    }
    let read: Vec<_> = files
        .into_par_iter()
        .map(|(path, named)| {
            let text = std::fs::read(&path).map(|bytes| {
                let language = language(&path).or_else(|| shebang(&bytes).filter(|_| named == Named::Yes));
                language.map(|language| (decode::decode(&bytes, language), language))
            });
            (path, text)
        })
        .collect();

    let mut names = ModuleNames::new(&place.root);
    let mut inputs = Vec::with_capacity(read.len());
    for (path, text) in read {
        let message = match text {
            Ok(Some((text, language))) => {
                inputs.push(place.input(lookup, &path, text, language, &mut names));
                continue;
            }
            Ok(None) => NOT_A_SOURCE.to_owned(),
            Err(error) => io_text(&error),
        };
        errors.push(FileError::new(place.shown(&path), message));
    }
    Sources { inputs, errors, remarks }
}

/// Whether a file was named, or met in a folder.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Named {
    Yes,
    No,
}

fn walk(
    place: &Place,
    lookup: &Arc<Lookup>,
    folder: &Path,
    files: &mut BTreeMap<PathBuf, Named>,
    errors: &mut Vec<FileError>,
    remarks: &mut Vec<FileError>,
) {
    let endless = |list: &Path| FileError::new(place.shown(list), "not a regular file".to_owned());
    // Those of the folders above hold here too.
    let real = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
    if let Some(list) = real.ancestors().find_map(endless_list) {
        errors.push(endless(&list));
        return;
    }
    let refused: Arc<Mutex<Vec<PathBuf>>> = Arc::default();
    let mut builder = ignore::WalkBuilder::new(folder);
    let (lists, refuse) = (lookup.clone(), refused.clone());
    builder.hidden(false).require_git(false).filter_entry(move |entry| {
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        let excluded = || entry.file_name().to_str().is_some_and(|name| EXCLUDED.contains(&name));
        let concerns = is_folder || language(entry.path()).is_some();
        if entry.depth() > 0 && (is_folder && excluded() || concerns && lists.passes_over(entry.path())) {
            return false;
        }
        let list = if is_folder { endless_list(entry.path()) } else { None };
        let is_sound = list.is_none();
        refuse.lock().unwrap_or_else(PoisonError::into_inner).extend(list);
        is_sound
    });
    for entry in builder.build() {
        match entry {
            Ok(entry) => {
                let Some(kind) = entry.file_type().filter(|_| language(entry.path()).is_some()) else { continue };
                if kind.is_file() {
                    files.entry(entry.into_path()).or_insert(Named::No);
                } else if kind.is_symlink() && std::fs::metadata(entry.path()).is_err() {
                    let message = "a link that leads nowhere; there is nothing to check".to_owned();
                    remarks.push(FileError::new(place.shown(entry.path()), message));
                }
            }
            Err(error) => {
                let (path, message) = walk_error(&error);
                let path = path.map_or_else(|| place.shown(folder), |path| place.shown(&path));
                errors.push(FileError::new(path, message));
            }
        }
    }
    let refused = refused.lock().unwrap_or_else(PoisonError::into_inner);
    errors.extend(refused.iter().map(|list| endless(list)));
}

fn walk_error(error: &ignore::Error) -> (Option<PathBuf>, String) {
    match error {
        ignore::Error::WithPath { path, err } => (Some(path.clone()), walk_error(err).1),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => walk_error(err),
        ignore::Error::Io(io) => (None, io_text(io)),
        other => (None, other.to_string()),
    }
}

/// An error's text without the number of the operating system's error.
fn io_text(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "no such file or folder".to_owned(),
        std::io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        std::io::ErrorKind::IsADirectory => "is a folder".to_owned(),
        _ => error.to_string(),
    }
}

/// The language of a file, by its name.
#[must_use]
pub fn language(path: &Path) -> Option<Language> {
    Language::of_extension(path.extension()?.to_str()?)
}

/// A script without an extension that names its interpreter.
fn shebang(bytes: &[u8]) -> Option<Language> {
    let line = bytes.split(|byte| *byte == b'\n').next()?;
    let line = line.strip_prefix(b"#!")?;
    line.windows(6).any(|word| word == b"python").then_some(Language::Python)
}

/// The nearest folder, this one or above, that holds `.git`.
#[must_use]
pub fn repository(folder: &Path) -> Option<&Path> {
    folder.ancestors().find(|folder| folder.join(".git").exists())
}

/// Without `.` and `..`, by the text alone.
#[must_use]
pub fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            part => normal.push(part),
        }
    }
    normal
}

/// A path as text, with `/`.
fn slashed(path: &Path) -> String {
    let text = text_of(path.as_os_str().as_encoded_bytes());
    if std::path::MAIN_SEPARATOR == '/' { text } else { text.replace(std::path::MAIN_SEPARATOR, "/") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_made_plain() {
        assert_eq!(normal(Path::new("/a/./b/../c")), Path::new("/a/c"));
        let place = Place { cwd: "/repo/sub".into(), root: "/repo".into() };
        assert_eq!(place.shown(Path::new("/repo/sub/x/a.py")), "x/a.py");
        assert_eq!(place.shown(Path::new("/repo/a.py")), "/repo/a.py");
        assert_eq!(place.in_root(Path::new("/repo/sub/x/a.py")), "sub/x/a.py");
        assert_eq!(place.in_root(Path::new("/else/where/a.py")), "else/where/a.py");
    }

    #[cfg(unix)]
    #[test]
    fn two_names_that_are_no_text_stay_two() {
        use std::os::unix::ffi::OsStrExt;
        let shown = |name: &[u8]| slashed(Path::new(std::ffi::OsStr::from_bytes(name)));
        assert_eq!(shown(b"a/\xff\xfe.py"), "a/\\xff\\xfe.py");
        assert_eq!(shown("ä.py".as_bytes()), "ä.py");
    }

    #[test]
    fn a_first_line_tells_the_language() {
        assert_eq!(shebang(b"#!/usr/bin/env python3\nx"), Some(Language::Python));
        assert_eq!(shebang(b"#!/bin/sh\npython"), None);
        assert_eq!(shebang(b""), None);
    }
}
