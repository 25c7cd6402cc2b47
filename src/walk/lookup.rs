//! Which configuration file holds for a path: the nearest one at or above its folder, up to the root of the repository,
//! or the one that the command line names. Files are never merged.
//!
//! Each folder is looked at once. What is wrong with a file is kept, and told when all have been read.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;

use super::versions::Pins;
use super::{EXCLUDED, Place, io_text, normal};
use crate::check::FileError;
use crate::config::{self, Config, Holds, Layer, Said, Settings};
use crate::models::AllModels;
use crate::models::own::{self, OwnFile};
use crate::models::versions::Versions;
use crate::source::Language;

/// The names of a configuration file in one folder, first come first served, and the tables that are ours in them.
const NAMES: [&str; 4] = ["stormlint.toml", ".stormlint.toml", "pyproject.toml", CARGO];
const CARGO: &str = "Cargo.toml";
const PYPROJECT_TABLE: &[&str] = &["tool", "stormlint"];
const PACKAGE_TABLE: &[&str] = &["package", "metadata", "stormlint"];
const WORKSPACE_TABLE: &[&str] = &["workspace", "metadata", "stormlint"];
/// A file of another program that does not hold this word is not read any further, and need not even be sound.
const OUR_NAME: &[u8] = b"stormlint";

/// What the command line says of the configuration.
#[derive(Debug, Default)]
pub struct Asked {
    /// This file, and no other.
    pub file: Option<PathBuf>,
    /// No file at all.
    pub isolated: bool,
    /// Laid on top of every file.
    pub layer: Layer,
    /// What is excluded stays out even if it is named.
    pub force_exclude: bool,
}

/// Answers what holds for a path.
#[derive(Debug)]
pub struct Lookup {
    place: Place,
    how: How,
    layer: Layer,
    force_exclude: bool,
    state: Mutex<State>,
}

#[derive(Debug)]
enum How {
    Isolated,
    One(Option<Arc<Settings>>),
    Nearest,
}

#[derive(Debug, Default)]
struct State {
    /// By folder, and whether a package of Cargo's was met further in.
    folders: FxHashMap<(PathBuf, bool), Option<Arc<Settings>>>,
    /// By settings, the overrides that fit, and the versions of packages.
    configs: FxHashMap<(usize, Vec<usize>, Arc<Versions>), Arc<Config>>,
    /// By settings.
    models: FxHashMap<usize, Option<Arc<AllModels>>>,
    /// By settings and versions.
    at_versions: FxHashMap<(usize, Arc<Versions>), Arc<AllModels>>,
    versions: Pins,
    errors: Vec<String>,
}

impl Lookup {
    /// Begins; a file that the command line names is read here.
    #[must_use]
    pub fn new(place: &Place, asked: Asked) -> Lookup {
        let mut state = State::default();
        let how = match asked.file {
            _ if asked.isolated => How::Isolated,
            Some(file) => How::One(state.named(place, &file)),
            None => How::Nearest,
        };
        Lookup {
            place: place.clone(),
            how,
            layer: asked.layer,
            force_exclude: asked.force_exclude,
            state: Mutex::new(state),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The configuration file for what lies in a folder.
    #[must_use]
    pub fn settings(&self, folder: &Path) -> Option<Arc<Settings>> {
        match &self.how {
            How::Isolated => None,
            How::One(settings) => settings.clone(),
            How::Nearest => self.state().of_folder(&self.place, folder, false),
        }
    }

    /// What holds for a file, the file that says so, and the overrides in it that fit.
    #[must_use]
    pub fn holds(&self, path: &Path) -> (Option<Arc<Settings>>, Vec<usize>, Holds) {
        let settings = path.parent().and_then(|folder| self.settings(folder));
        let fitting = settings.as_ref().map(|settings| settings.fitting(path)).unwrap_or_default();
        let holds = settings.clone().unwrap_or_default().hold(&fitting, &self.layer);
        (settings, fitting, holds)
    }

    /// The same, as a run uses it.
    #[must_use]
    pub fn config(&self, path: &Path) -> Arc<Config> {
        let settings = path.parent().and_then(|folder| self.settings(folder)).unwrap_or_default();
        let fitting = settings.fitting(path);
        let mut state = self.state();
        let models = state.models(&self.place, &settings);
        let of = if settings.file.is_empty() { 0 } else { key(&settings) };
        let (models, versions) = state.at_versions(&self.place, path, of, models);
        let config = state.configs.entry((of, fitting, versions));
        config
            .or_insert_with_key(|(_, fitting, _)| Arc::new(settings.hold(fitting, &self.layer).config(models)))
            .clone()
    }

    /// What is worth a word of the lock files that were read.
    #[must_use]
    pub fn remarks(&self) -> Vec<FileError> {
        self.state().versions.remarks.clone()
    }

    /// What is known of libraries in files of a folder, if that is more than what is built in.
    #[must_use]
    pub fn models(&self, folder: &Path) -> Option<Arc<AllModels>> {
        let settings = self.settings(folder)?;
        self.state().models(&self.place, &settings)
    }

    /// The model files for a folder that are not built in.
    #[must_use]
    pub fn model_files(&self, folder: &Path) -> Vec<OwnFile> {
        let settings = self.settings(folder).unwrap_or_default();
        self.state().model_files(&self.place, &settings)
    }

    /// Whether a file or folder that is met on the way is left out.
    #[must_use]
    pub fn passes_over(&self, path: &Path) -> bool {
        path.parent().is_some_and(|folder| self.settings(folder).is_some_and(|it| excludes(&it, path).is_some()))
    }

    /// The pattern by which a search from the root would pass over a path or a folder above it.
    #[must_use]
    pub fn excluded(&self, path: &Path) -> Option<(Arc<Settings>, Said<String>)> {
        let mut parts: Vec<&Path> = path.ancestors().collect();
        parts.reverse();
        parts.into_iter().find_map(|part| {
            let settings = self.settings(part.parent()?)?;
            let said = excludes(&settings, part)?.clone();
            Some((settings, said))
        })
    }

    /// Whether a path that was named stays out.
    #[must_use]
    pub fn refuses(&self, path: &Path) -> bool {
        let folder = if path.is_dir() { Some(path) } else { path.parent() };
        let inner = folder.map(|folder| folder.strip_prefix(&self.place.root).unwrap_or(folder));
        let is_never_entered = |name: &std::ffi::OsStr| EXCLUDED.iter().any(|other| name == *other);
        let in_excluded = || inner.is_some_and(|folder| folder.iter().any(is_never_entered));
        self.force_exclude && (in_excluded() || self.excluded(path).is_some())
    }

    /// What is wrong with the files that were read, one line each.
    #[must_use]
    pub fn errors(&self) -> Vec<String> {
        let mut errors = self.state().errors.clone();
        errors.sort();
        errors.dedup();
        errors
    }
}

fn excludes<'a>(settings: &'a Settings, path: &Path) -> Option<&'a Said<String>> {
    settings.exclude.fitting(&settings.folder, path)
}

/// Settings are told apart by where they stand in memory; each is kept as long as the look-up.
fn key(settings: &Arc<Settings>) -> usize {
    Arc::as_ptr(settings).addr()
}

impl State {
    fn of_folder(&mut self, place: &Place, folder: &Path, member: bool) -> Option<Arc<Settings>> {
        let key = (folder.to_path_buf(), member);
        if let Some(known) = self.folders.get(&key) {
            return known.clone();
        }
        let own = NAMES.iter().find_map(|name| self.found(place, &folder.join(name), member));
        let found = match (own, folder.parent()) {
            (Some(own), _) => Some(Arc::new(own)),
            (None, Some(above)) if !folder.join(".git").exists() => {
                let member = member || folder.join(CARGO).is_file();
                self.of_folder(place, above, member)
            }
            _ => None,
        };
        self.folders.insert(key, found.clone());
        found
    }

    /// What a file says that may be there or not.
    fn found(&mut self, place: &Place, path: &Path, member: bool) -> Option<Settings> {
        let shown = place.shown(path);
        let is_own = path.file_name().is_some_and(|name| NAMES.iter().take(2).any(|own| name == *own));
        let facts = match std::fs::metadata(path) {
            Ok(facts) => facts,
            // A link that leads nowhere was meant to be a configuration.
            Err(error) if gone(&error) && (!is_own || std::fs::symlink_metadata(path).is_err()) => return None,
            Err(error) if gone(&error) => return self.wrong(format!("{shown}: a link that leads nowhere")),
            Err(error) => return self.wrong(format!("{shown}: {}", io_text(&error))),
        };
        if facts.is_dir() {
            return None;
        }
        if !facts.is_file() {
            return if is_own { self.wrong(format!("{shown}: not a regular file")) } else { None };
        }
        match std::fs::read(path) {
            Ok(bytes) if is_own || mentions_us(&bytes) => {
                let tables: &[&[&str]] = match path.file_name().and_then(|name| name.to_str()) {
                    // The table of a package is about that package, the workspace's about all in it.
                    Some(CARGO) if member => &[WORKSPACE_TABLE],
                    _ => tables(path),
                };
                let settings = self.read(path, &shown, &bytes, tables)?;
                // Only with --config can a file lie outside of the folder.
                let overrides = settings.overrides.iter().map(|one| ("files", &one.files));
                for (key, globs) in [("exclude", &settings.exclude)].into_iter().chain(overrides) {
                    for said in globs.patterns.iter().filter(|said| said.value.starts_with("../")) {
                        let message = "the pattern leads out of the folder, and this file holds for nothing there";
                        self.errors.push(format!("{shown}:{}: in `{key}`: `{}`: {message}", said.line, said.value));
                    }
                }
                Some(settings)
            }
            Ok(_) => None,
            Err(error) => self.wrong(format!("{shown}: {}", io_text(&error))),
        }
    }

    /// The file of the command line, which must be there and say something of ours.
    fn named(&mut self, place: &Place, file: &Path) -> Option<Arc<Settings>> {
        let path = normal(&place.cwd.join(file));
        let shown = super::slashed(file);
        let bytes = match super::read_named(&path) {
            Ok(bytes) => bytes,
            Err(error) => return self.wrong(format!("{shown}: {}", io_text(&error))),
        };
        let tables = tables(&path);
        let before = self.errors.len();
        let settings = self.read(&path, &shown, &bytes, tables);
        if settings.is_none() && self.errors.len() == before {
            let names: Vec<_> = tables.iter().map(|table| format!("[{}]", table.join("."))).collect();
            return self.wrong(format!("{shown}: has no table {}", names.join(" or ")));
        }
        settings.map(Arc::new)
    }

    fn read(&mut self, path: &Path, shown: &str, bytes: &[u8], tables: &[&[&str]]) -> Option<Settings> {
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => {
                let before = bytes.iter().take(error.valid_up_to());
                let line = before.filter(|byte| **byte == b'\n').count() + 1;
                return self.wrong(format!("{shown}:{line}: not UTF-8, as TOML has to be"));
            }
        };
        let folder = path.parent().unwrap_or(path);
        for table in tables {
            match config::read(shown, text, folder, table) {
                Ok(None) => {}
                Ok(Some(settings)) => return Some(settings),
                Err(errors) => {
                    self.errors.extend(errors.iter().map(ToString::to_string));
                    return None;
                }
            }
        }
        None
    }

    fn wrong<T>(&mut self, message: String) -> Option<T> {
        self.errors.push(message);
        None
    }

    fn models(&mut self, place: &Place, settings: &Arc<Settings>) -> Option<Arc<AllModels>> {
        if settings.models.is_empty() {
            return None;
        }
        if let Some(known) = self.models.get(&key(settings)) {
            return known.clone();
        }
        let files = self.model_files(place, settings);
        let (all, errors) = own::load(&files);
        self.errors.extend(errors.iter().map(ToString::to_string));
        let all = Some(Arc::new(all));
        self.models.insert(key(settings), all.clone());
        all
    }

    /// The models in the versions that the project of a file has, and these versions.
    fn at_versions(
        &mut self,
        place: &Place,
        path: &Path,
        of: usize,
        models: Option<Arc<AllModels>>,
    ) -> (Option<Arc<AllModels>>, Arc<Versions>) {
        let all = models.as_deref().unwrap_or_else(|| AllModels::builtin());
        let versions = self.versions.of_file(place, path, all);
        if versions.is_empty() {
            return (models, versions);
        }
        let known = self.at_versions.entry((of, versions.clone()));
        (Some(known.or_insert_with(|| Arc::new(all.at(&versions))).clone()), versions)
    }

    /// The model files that a configuration names, in the order of its list, those of a folder by their paths.
    fn model_files(&mut self, place: &Place, settings: &Settings) -> Vec<OwnFile> {
        let mut paths: Vec<PathBuf> = Vec::new();
        for said in &settings.models {
            let path = normal(&settings.folder.join(&said.value));
            let mut wrong = |why: &str| {
                self.errors.push(format!("{}:{}: in `models`: `{}`: {why}", settings.file, said.line, said.value));
            };
            match std::fs::metadata(&path) {
                Err(error) => wrong(&io_text(&error)),
                Ok(facts) if facts.is_file() => paths.push(path),
                Ok(facts) if facts.is_dir() => {
                    let before = paths.len();
                    for entry in walkdir::WalkDir::new(&path).follow_links(true).sort_by_file_name() {
                        match entry {
                            Ok(entry) if is_model(&entry) => paths.push(entry.into_path()),
                            Ok(_) => {}
                            Err(error) => wrong(&error.to_string()),
                        }
                    }
                    if paths.len() == before {
                        wrong("no file in this folder ends in .toml");
                    }
                }
                Ok(_) => wrong("neither a file nor a folder"),
            }
        }
        let mut files: Vec<OwnFile> = Vec::new();
        for path in paths {
            let name = place.shown(&path);
            if files.iter().any(|file| file.name == name) {
                continue;
            }
            match super::read(&path).map(String::from_utf8) {
                Ok(Ok(text)) => {
                    let folder = path.parent().and_then(Path::file_name).and_then(|name| name.to_str());
                    let named = |language: &Language| folder == Some(language.name());
                    let language = [Language::Python, Language::Rust].into_iter().find(named);
                    files.push(OwnFile { name, text, language });
                }
                Ok(Err(_)) => self.errors.push(format!("{name}: not UTF-8, as TOML has to be")),
                Err(error) => self.errors.push(format!("{name}: {}", io_text(&error))),
            }
        }
        files
    }
}

/// The tables of a file that can be ours, by its name; of a file of our own the whole.
fn tables(path: &Path) -> &'static [&'static [&'static str]] {
    match path.file_name().and_then(|name| name.to_str()) {
        Some("pyproject.toml") => &[PYPROJECT_TABLE],
        Some(CARGO) => &[PACKAGE_TABLE, WORKSPACE_TABLE],
        _ => &[&[]],
    }
}

fn is_model(entry: &walkdir::DirEntry) -> bool {
    entry.file_type().is_file() && entry.path().extension().is_some_and(|extension| extension == "toml")
}

fn mentions_us(bytes: &[u8]) -> bool {
    bytes.windows(OUR_NAME.len()).any(|window| window == OUR_NAME)
}

fn gone(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
}
