//! Which versions of packages the project of a file has: what the lock files and manifests in its folder and above say,
//! up to the root of its repository.
//!
//! The nearest lock file that names a package tells its version; where none does, the nearest manifest. Each folder is
//! looked at once, and a file is read only if a package stands in it whose version matters.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::{Place, io_text, language, locks};
use crate::check::FileError;
use crate::models::AllModels;
use crate::models::versions::{self, Pin, Pinned, Version, Versions};
use crate::source::Language;

/// What the folders say that were looked at so far.
#[derive(Debug, Default)]
pub(super) struct Pins {
    folders: FxHashMap<(PathBuf, Language), Arc<Said>>,
    /// What is wrong with lock files.
    pub remarks: Vec<FileError>,
}

/// What one lock file tells of a package.
#[derive(Debug, Default, Clone)]
struct Locked {
    versions: Vec<Version>,
    file: Arc<str>,
}

/// What holds in a folder.
#[derive(Debug, Default, Clone)]
struct Said {
    /// Lock files may tell of several versions of one package.
    locks: BTreeMap<(Language, Arc<str>), Locked>,
    manifests: Versions,
    /// Both together.
    all: Arc<Versions>,
}

impl Pins {
    /// The versions that matter for a file.
    pub(super) fn of_file(&mut self, place: &Place, path: &Path, models: &AllModels) -> Arc<Versions> {
        // A script without an extension is Python's.
        let language = language(path).unwrap_or(Language::Python);
        let said = path.parent().map(|folder| self.of_folder(place, folder, language, models));
        said.map(|said| said.all.clone()).unwrap_or_default()
    }

    fn of_folder(&mut self, place: &Place, folder: &Path, language: Language, models: &AllModels) -> Arc<Said> {
        let key = (folder.to_path_buf(), language);
        if let Some(known) = self.folders.get(&key) {
            return known.clone();
        }
        let above = match folder.parent() {
            Some(above) if !folder.join(".git").exists() => self.of_folder(place, above, language, models),
            _ => Arc::default(),
        };
        let said = self.own(place, folder, language, models, &above).map_or(above, Arc::new);
        self.folders.insert(key, said.clone());
        said
    }

    /// What the files in a folder add to what is said above it, if anything.
    fn own(
        &mut self,
        place: &Place,
        folder: &Path,
        language: Language,
        models: &AllModels,
        above: &Said,
    ) -> Option<Said> {
        let entries = std::fs::read_dir(folder).ok()?.filter_map(Result::ok);
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let mut files: Vec<(String, bool)> = names
            .filter_map(|name| {
                let (_, exact) = locks::sort(&name).filter(|(of, _)| *of == language)?;
                Some((name, exact))
            })
            .collect();
        if files.is_empty() {
            return None;
        }
        let wanted = models.versioned(language);
        // Of several in one folder the first by name tells.
        files.sort();
        let mut said: Option<Said> = None;
        let mut told: Vec<(Arc<str>, bool)> = Vec::new();
        for (name, exact) in files {
            let path = folder.join(&name);
            let Some(bytes) = self.text(place, &path, exact, &wanted) else { continue };
            let shown: Arc<str> = place.shown(&path).into();
            let read = locks::read(&name, &bytes);
            for (line, fault) in read.faults.iter().filter(|_| exact) {
                let line = line.map_or_else(String::new, |line| format!("line {line}: "));
                let message = format!(
                    "{line}{fault}; what else it says of versions holds, and for what it does not tell the newest is assumed"
                );
                self.remarks.push(FileError::new(shown.to_string(), message));
            }
            let mut here: Vec<(Arc<str>, Pin)> = Vec::new();
            for (package, pin) in read.pins {
                let package = versions::normal(&package);
                if wanted.contains(&package.as_str()) {
                    here.push((package.into(), pin));
                }
            }
            let said = said.get_or_insert_with(|| above.clone());
            for (package, pin) in here {
                let key = (package.clone(), exact);
                let by_other = told.contains(&key);
                match pin {
                    Pin::Exact(version) if exact => {
                        let of = said.locks.entry((language, package)).or_default();
                        if of.file == shown {
                            of.versions.push(version);
                        } else if !by_other {
                            *of = Locked { versions: vec![version], file: shown.clone() };
                        }
                    }
                    pin if !by_other => {
                        said.manifests.insert((language, package), Pinned { pin, file: shown.clone() });
                    }
                    _ => {}
                }
                told.push(key);
            }
        }
        let mut said = said?;
        said.all = Arc::new(together(&said));
        Some(said)
    }

    /// A file that names a package whose version matters.
    fn text(&mut self, place: &Place, path: &Path, exact: bool, wanted: &[&str]) -> Option<Vec<u8>> {
        match super::read(path) {
            Ok(bytes) => mentions(&bytes, wanted).then_some(bytes),
            Err(error) if exact => {
                self.remarks.push(FileError::new(place.shown(path), io_text(&error)));
                None
            }
            Err(_) => None,
        }
    }
}

fn together(said: &Said) -> Versions {
    let mut all = said.manifests.clone();
    for (key, Locked { versions: found, file }) in &said.locks {
        // Of several the one that the manifest asks for, and of these the newest.
        let fits = |version: &&Version| match all.get(key).map(|pinned| &pinned.pin) {
            Some(Pin::Below(end)) => *version < end,
            Some(Pin::Exact(exact)) => *version == exact,
            None => true,
        };
        let version = found.iter().filter(fits).max().or_else(|| found.iter().max());
        if let Some(version) = version.cloned() {
            all.insert(key.clone(), Pinned { pin: Pin::Exact(version), file: file.clone() });
        }
    }
    all
}

/// Whether a text names one of these packages, however it writes the name.
fn mentions(bytes: &[u8], wanted: &[&str]) -> bool {
    let same = |found: &u8, letter: u8| match letter {
        b'-' => matches!(found, b'-' | b'_' | b'.'),
        _ => found.eq_ignore_ascii_case(&letter),
    };
    wanted.iter().any(|name| {
        bytes
            .windows(name.len())
            .any(|window| window.iter().zip(name.bytes()).all(|(found, letter)| same(found, letter)))
    })
}
