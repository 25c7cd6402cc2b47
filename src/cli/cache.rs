//! What an earlier run found, for a run over the very same inputs.
//!
//! A run depends on its inputs and their configuration alone, so that one key stands for all of it: the texts, their paths
//! and modules, the rules, limits and models of each, and the program itself. Under that key lies what was found. Whatever
//! changes makes another key; what is damaged is not taken, and is written anew.
//!
//! Invariant: with and without it, a run prints the same. A cache that cannot be written is told of, and nothing else.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use rayon::prelude::*;
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use super::output;
use crate::check::{Input, Outcome};
use crate::config::Config;
use crate::report::visible;
use crate::source::Language;
use crate::walk::{self, Place};

/// The folder, in the root of the repository.
pub(super) const FOLDER: &str = ".stormlint_cache";
/// What tells that a folder of that name is ours, and tells programs that make copies to pass over it.
const TAG: &str = "CACHEDIR.TAG";
/// How the names of files begin that are not whole yet.
const PART: &str = ".part-";
const TAG_TEXT: &str = "Signature: 8a477f597d28d172789f06886806bc55\n# Made by stormlint, and safe to remove.\n";
/// As many runs are kept, the newest ones.
const MOST: usize = 64;
/// What an entry begins with; another form of it gets another number.
const MAGIC: &str = "stormlint cache 1 ";

/// A place for what was found under one key.
pub(super) struct Cache {
    folder: PathBuf,
    entry: PathBuf,
}

impl Cache {
    /// The place for a run over these inputs.
    pub(super) fn of(place: &Place, inputs: &[Input]) -> Cache {
        let folder = place.root.join(FOLDER);
        let entry = folder.join(format!("{:032x}", key(&program(), inputs)));
        Cache { folder, entry }
    }

    /// What was found, where it is known.
    pub(super) fn read(&self) -> Option<Outcome> {
        let text = String::from_utf8(walk::read(&self.entry).ok()?).ok()?;
        let (head, body) = text.strip_prefix(MAGIC)?.split_once('\n')?;
        (head == sum(body)).then(|| serde_json::from_str(body).ok()).flatten()
    }

    /// Keeps what was found. Other runs may read and write at the same time: an entry is there whole or not at all.
    pub(super) fn keep(&self, outcome: &Outcome) {
        if let Err(error) = self.write(outcome) {
            let folder = visible::line(&self.folder.to_string_lossy()).into_owned();
            let reason = output::reason(&error);
            output::complain(&format!("the cache `{folder}` cannot be written ({reason}); --no-cache does without"));
        }
    }

    fn write(&self, outcome: &Outcome) -> io::Result<()> {
        // The sources may come from anybody, and lead by a link to a folder of somebody else's files.
        if self.folder.is_symlink() {
            return Err(io::Error::other("it is a link"));
        }
        if !self.folder.join(TAG).is_file() {
            fs::create_dir_all(&self.folder)?;
            put(&self.folder, ".gitignore", "*\n")?;
            put(&self.folder, TAG, TAG_TEXT)?;
        }
        let body = serde_json::to_string(outcome)?;
        let name = self.entry.file_name().unwrap_or_default();
        put(&self.folder, name, &format!("{MAGIC}{}\n{body}", sum(&body)))?;
        thin_out(&self.folder);
        Ok(())
    }
}

/// Removes the cache; whether there was one.
pub(super) fn remove(root: &Path) -> io::Result<bool> {
    let folder = root.join(FOLDER);
    if !folder.join(TAG).is_file() {
        return Ok(false);
    }
    fs::remove_dir_all(folder).map(|()| true)
}

fn put(folder: &Path, name: impl AsRef<Path>, text: &str) -> io::Result<()> {
    let mut file = tempfile::Builder::new().prefix(PART).tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.persist(folder.join(name)).map(|_| ()).map_err(|error| error.error)
}

/// Removes the oldest entries beyond what is kept, and what interrupted runs left.
fn thin_out(folder: &Path) {
    let Ok(listed) = fs::read_dir(folder) else { return };
    let entry = |entry: fs::DirEntry| {
        let name = entry.file_name();
        let name = name.to_str()?;
        let is_ours = name.starts_with(PART) || (name.len() == 32 && name.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let time = entry.metadata().and_then(|facts| facts.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
        is_ours.then(|| (time, entry.path()))
    };
    let mut entries: Vec<_> = listed.filter_map(Result::ok).filter_map(entry).collect();
    entries.sort();
    let surplus = entries.len().saturating_sub(MOST);
    for (_, path) in entries.into_iter().take(surplus) {
        let _ = fs::remove_file(path);
    }
}

fn sum(body: &str) -> String {
    format!("{:032x}", xxh3_128(body.as_bytes()))
}

/// This program: its version, and what tells one build of it from another.
fn program() -> String {
    let facts = std::env::current_exe().and_then(fs::metadata);
    let facts = facts.map(|facts| (facts.len(), facts.modified().ok()));
    format!("{} {facts:?}", env!("CARGO_PKG_VERSION"))
}

fn key(program: &str, inputs: &[Input]) -> u128 {
    let texts: Vec<u128> = inputs.par_iter().map(|input| xxh3_128(input.file.text.as_bytes())).collect();
    let mut configs: Vec<(*const Config, u128)> = Vec::new();
    let mut hasher = Xxh3::new();
    let mut part = |bytes: &[u8]| {
        hasher.update(&bytes.len().to_le_bytes());
        hasher.update(bytes);
    };
    part(program.as_bytes());
    for (input, text) in inputs.iter().zip(texts) {
        let at = Arc::as_ptr(&input.config);
        let config = match configs.iter().find(|(known, _)| *known == at) {
            Some((_, config)) => *config,
            None => {
                let config = configuration(&input.config);
                configs.push((at, config));
                config
            }
        };
        part(input.file.path.as_bytes());
        part(input.file.language.name().as_bytes());
        part(input.module.as_bytes());
        part(input.root_path.as_bytes());
        part(&config.to_le_bytes());
        part(&text.to_le_bytes());
    }
    hasher.digest128()
}

fn configuration(config: &Config) -> u128 {
    let rules: Vec<_> = config.rules.iter().map(|active| (active.rule.name, active.level)).collect();
    let models = config.models.as_ref().map(|models| {
        [Language::Python, Language::Rust]
            .map(|language| (models.of(language).libraries(), models.of(language).entries()))
    });
    xxh3_128(format!("{rules:?} {:?} {:?} {models:?}", config.limits, config.min_confidence).as_bytes())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;
    use crate::config::ActiveRule;
    use crate::diagnostic::Confidence;
    use crate::models::own::{self, OwnFile};
    use crate::source::SourceFile;

    fn input(path: &str, text: &str) -> Input {
        Input {
            file: SourceFile::new(path, text, Language::Python),
            module: "pkg.a".to_owned(),
            root_path: path.into(),
            config: Arc::default(),
        }
    }

    fn configured(change: impl FnOnce(&mut Config)) -> Input {
        let mut config = Config::default();
        change(&mut config);
        Input { config: Arc::new(config), ..input("a.py", "x") }
    }

    fn models(entry: &str) -> Input {
        let text = format!("library = \"own\"\nversion = \"1\"\nlanguage = \"python\"\n[[entry]]\n{entry}\n");
        let (all, errors) = own::load(&[OwnFile { name: "own.toml".to_owned(), text, language: None }]);
        assert_eq!(errors, []);
        configured(|config| config.models = Some(Arc::new(all)))
    }

    #[test]
    fn whatever_a_run_depends_on_makes_another_key() {
        let base = || input("a.py", "x");
        let mut keys = vec![
            key("1", &[base()]),
            key("2", &[base()]),
            key("1", &[base(), input("b.py", "")]),
            key("1", &[input("a.py", "y")]),
            key("1", &[input("b.py", "x")]),
            key("1", &[Input { module: "pkg.b".to_owned(), ..base() }]),
            key("1", &[Input { root_path: "sub/a.py".into(), ..base() }]),
            key("1", &[configured(|config| config.rules.truncate(3))]),
            key(
                "1",
                &[configured(|config| {
                    config.rules.insert(0, ActiveRule { level: crate::diagnostic::Level::Note, ..config.rules[0] })
                })],
            ),
            key("1", &[configured(|config| config.limits.max_attempts += 1)]),
            key("1", &[configured(|config| config.min_confidence = Confidence::High)]),
            key("1", &[models("kind = \"exit\"\nfunctions = [\"own.end\"]")]),
            key("1", &[models("kind = \"exit\"\nfunctions = [\"own.stop\"]")]),
        ];
        assert_eq!(keys[0], key("1", &[base()]));
        keys.sort_unstable();
        let all = keys.len();
        keys.dedup();
        assert_eq!(keys.len(), all);
    }

    #[test]
    fn only_the_newest_entries_are_kept() {
        let root = tempfile::tempdir().unwrap();
        let cache = |number: usize| Cache {
            folder: root.path().join(FOLDER),
            entry: root.path().join(FOLDER).join(format!("{number:032x}")),
        };
        for number in 0..MOST + 3 {
            cache(number).write(&Outcome::default()).unwrap();
            let old = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(number as u64);
            fs::File::options().append(true).open(&cache(number).entry).unwrap().set_modified(old).unwrap();
        }
        assert_eq!(fs::read_dir(&cache(0).folder).unwrap().count(), MOST + 2);
        assert!(cache(0).read().is_none() && cache(MOST + 2).read().is_some());
        assert!(remove(root.path()).unwrap() && !cache(0).folder.exists() && !remove(root.path()).unwrap());
    }
}
