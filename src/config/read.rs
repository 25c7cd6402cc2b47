//! From the text of a configuration file to [`Settings`], or to all that is wrong with it.
//!
//! Nothing is guessed: a key, a name or a value that is not known is an error, with its line and with what is allowed.

use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::settings::Override;
use super::{Globs, Layer, Said, Settings, durations, known};
use crate::diagnostic::{Confidence, Level};
use crate::rules::{self, Limits};
use crate::spelling;

/// What is wrong with a configuration file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
#[error("{file}:{line}: {message}")]
pub struct ConfigError {
    /// The file, as it is printed.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// What is wrong, and what is allowed.
    pub message: String,
}

/// Keys that stand at the top and in overrides.
const LAYER_KEYS: [&str; 8] =
    ["select", "ignore", "rules", "min-confidence", "max-attempts", "max-amplification", "min-delay", "max-delay"];
/// Keys that stand at the top only.
const TOP_KEYS: [&str; 3] = ["exclude", "models", "overrides"];
/// Keys that stand in overrides only.
const OVERRIDE_KEYS: [&str; 1] = ["files"];

const LEVELS: [(&str, Option<Level>); 4] =
    [("error", Some(Level::Error)), ("warn", Some(Level::Warning)), ("note", Some(Level::Note)), ("off", None)];
const CONFIDENCES: [(&str, Confidence); 3] =
    [("low", Confidence::Low), ("medium", Confidence::Medium), ("high", Confidence::High)];

/// The highest number that is taken for a limit of a count.
const MOST: i64 = 1_000_000;
/// The longest wait that is taken for a limit: thirty days.
const LONGEST: f64 = 30.0 * 86400.0;

/// Reads a text: of the file `name`, in `folder`, from the table at the end of the path `table` (the whole file where
/// that is empty). `None` where the file has no such table.
///
/// # Errors
/// All that is wrong with it, by line.
pub fn read(name: &str, text: &str, folder: &Path, table: &[&str]) -> Result<Option<Settings>, Vec<ConfigError>> {
    let prefix = table.iter().map(|part| format!("{part}.")).collect();
    let mut reader = Reader { name, text, prefix, errors: Vec::new() };
    let settings = reader.file(folder, table);
    if reader.errors.is_empty() {
        return Ok(settings);
    }
    reader.errors.sort();
    Err(reader.errors)
}

type Key<'a> = Spanned<std::borrow::Cow<'a, str>>;
type Value<'a> = Spanned<DeValue<'a>>;

struct Reader<'a> {
    name: &'a str,
    text: &'a str,
    /// What stands before the names of tables in this file (`tool.stormlint.`).
    prefix: String,
    errors: Vec<ConfigError>,
}

impl Reader<'_> {
    fn line<T>(&self, at: &Spanned<T>) -> usize {
        self.line_of(at.span().start)
    }

    fn line_of(&self, offset: usize) -> usize {
        self.text.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1
    }

    fn error(&mut self, line: usize, message: impl Into<String>) {
        self.errors.push(ConfigError { file: self.name.to_owned(), line, message: message.into() });
    }

    fn file(&mut self, folder: &Path, table: &[&str]) -> Option<Settings> {
        let (document, syntax) = DeTable::parse_recoverable(self.text);
        // What follows the first slip is often but its consequence.
        if let Some(error) = syntax.first() {
            let line = self.line_of(error.span().map_or(0, |span| span.start));
            self.error(line, format!("no TOML: {}", error.message()));
            return None;
        }
        let mut own = document.into_inner();
        for (depth, part) in table.iter().enumerate() {
            let (_, value) = own.into_iter().find(|(key, _)| key.get_ref() == part)?;
            let line = self.line(&value);
            own = match value.into_inner() {
                DeValue::Table(inner) => inner,
                _ if depth + 1 == table.len() => {
                    self.error(line, format!("`{0}` is a table: write `[{0}]`", table.join(".")));
                    return None;
                }
                _ => return None,
            };
        }
        let mut settings = Settings {
            file: self.name.into(),
            table: table.join("."),
            folder: folder.to_path_buf(),
            ..Settings::default()
        };
        let mut overrides = Vec::new();
        for (key, value) in own {
            match key.get_ref().as_ref() {
                "exclude" => settings.exclude = self.globs(&key, value),
                "models" => settings.models = self.texts(&key, value, "paths", "[\"models/in-house.toml\"]"),
                "overrides" => overrides = self.tables(&key, value),
                _ => self.layer_key(&mut settings.layer, &key, value, "", &TOP_KEYS),
            }
        }
        for said in settings.models.iter().filter(|said| said.value.is_empty()) {
            self.error(said.line, "an empty path in `models`");
        }
        settings.overrides = overrides.into_iter().filter_map(|value| self.one_override(value)).collect();
        self.delays(&settings);
        Some(settings)
    }

    fn tables<'v>(&mut self, key: &Key<'_>, value: Value<'v>) -> Vec<Value<'v>> {
        match value.into_inner() {
            DeValue::Array(items) if items.iter().all(|item| item.get_ref().is_table()) => items.into_iter().collect(),
            _ => {
                let line = self.line(key);
                self.error(line, format!("`{0}` is a list of tables: write `[[{1}{0}]]`", key.get_ref(), self.prefix));
                Vec::new()
            }
        }
    }

    fn one_override(&mut self, value: Value<'_>) -> Option<Override> {
        let line = self.line(&value);
        let DeValue::Table(table) = value.into_inner() else { return None };
        let mut one = Override::default();
        let mut has_files = false;
        let place = format!(" in `[[{}overrides]]`", self.prefix);
        for (key, value) in table {
            if key.get_ref() == "files" {
                has_files = true;
                if value.get_ref().as_array().is_some_and(|files| files.is_empty()) {
                    let line = self.line(&value);
                    self.error(line, "`files` is empty: the override holds nowhere");
                }
                one.files = self.globs(&key, value);
            } else {
                self.layer_key(&mut one.layer, &key, value, &place, &OVERRIDE_KEYS);
            }
        }
        if !has_files {
            self.error(line, "an override needs `files`, which says where it holds: files = [\"tests/**\"]");
        }
        Some(one)
    }

    /// A key of a layer; `place` and `others` are where it stands and what may stand there besides.
    fn layer_key(&mut self, layer: &mut Layer, key: &Key<'_>, value: Value<'_>, place: &str, others: &[&'static str]) {
        match key.get_ref().as_ref() {
            "select" => {
                let line = self.line(key);
                layer.select = Some(Said { value: self.names(key, value), line });
            }
            "ignore" => layer.ignore = self.names(key, value),
            "rules" => layer.levels = self.levels(value),
            "min-confidence" => layer.min_confidence = self.word(key, &value, &CONFIDENCES),
            "max-attempts" => layer.max_attempts = self.count(key, &value, 1),
            "max-amplification" => layer.max_amplification = self.count(key, &value, 2),
            "min-delay" => layer.min_delay = self.duration(key, &value),
            "max-delay" => layer.max_delay = self.duration(key, &value),
            unknown => {
                let allowed = LAYER_KEYS.iter().chain(others).copied();
                let is_rule = known(rules::ALL, unknown).is_ok();
                let message = if TOP_KEYS.contains(&unknown) {
                    format!("`{unknown}` stands at the top of the configuration, not{place}")
                } else if OVERRIDE_KEYS.contains(&unknown) {
                    format!("`{unknown}` stands in `[[{}overrides]]`, not at the top of the configuration", self.prefix)
                } else if is_rule && unknown != "all" && unknown != "default" {
                    format!("`{unknown}` is a rule or group: its level stands in `[{}rules]`", self.prefix)
                } else {
                    let what = if place.is_empty() { "key" } else { "override key" };
                    spelling::unknown(what, unknown, allowed)
                };
                let line = self.line(key);
                self.error(line, message);
            }
        }
    }

    /// Items of a list of texts, with their lines.
    fn texts(&mut self, key: &Key<'_>, value: Value<'_>, what: &str, example: &str) -> Vec<Said<String>> {
        let line = self.line(key);
        let DeValue::Array(items) = value.get_ref() else {
            self.error(line, format!("`{0}` is a list of {what}: {0} = {example}", key.get_ref()));
            return Vec::new();
        };
        let mut texts = Vec::new();
        for item in items {
            let line = self.line(item);
            match item.get_ref().as_str() {
                Some(text) => texts.push(Said { value: text.to_owned(), line }),
                None => {
                    let found = item.get_ref().type_str();
                    self.error(line, format!("`{0}` is a list of {what}, and this is of type {found}", key.get_ref()));
                }
            }
        }
        texts
    }

    fn globs(&mut self, key: &Key<'_>, value: Value<'_>) -> Globs {
        let patterns = self.texts(key, value, "patterns for paths", "[\"tests/**\"]");
        let mut faults = Vec::new();
        let globs = Globs::new(patterns, |said, message| faults.push((said.line, message)));
        for (line, message) in faults {
            self.error(line, format!("in `{}`: {message}", key.get_ref()));
        }
        globs
    }

    /// Names of rules, groups, `all` and `default`.
    fn names(&mut self, key: &Key<'_>, value: Value<'_>) -> Vec<Said<String>> {
        let names = self.texts(key, value, "names of rules and groups", "[\"default\", \"strict\"]");
        for said in &names {
            if let Err(error) = known(rules::ALL, &said.value) {
                self.error(said.line, format!("in `{}`: {error}", key.get_ref()));
            }
        }
        names
    }

    fn levels(&mut self, value: Value<'_>) -> Vec<(String, Said<Option<Level>>)> {
        let line = self.line(&value);
        let DeValue::Table(table) = value.into_inner() else {
            let prefix = &self.prefix;
            self.error(
                line,
                format!("`rules` is a table: `[{prefix}rules]`, and under it unbounded-retry = \"error\""),
            );
            return Vec::new();
        };
        let mut levels = Vec::new();
        for (key, value) in table {
            let name = key.get_ref().as_ref();
            let line = self.line(&key);
            if name == "all" || name == "default" {
                self.error(
                    line,
                    format!("`{name}` is a word for `select` and `ignore`; a level is that of a rule or group"),
                );
                continue;
            }
            if let Err(error) = known(rules::ALL, name) {
                self.error(line, format!("in `[{}rules]`: {error}", self.prefix));
                continue;
            }
            if let Some(level) = self.word(&key, &value, &LEVELS) {
                levels.push((name.to_owned(), level));
            }
        }
        levels
    }

    /// One word of a few.
    fn word<T: Copy>(&mut self, key: &Key<'_>, value: &Value<'_>, words: &[(&str, T)]) -> Option<Said<T>> {
        let line = self.line(value);
        let name = key.get_ref();
        let allowed = || words.iter().map(|(word, _)| *word);
        let Some(text) = value.get_ref().as_str() else {
            let found = value.get_ref().type_str();
            let allowed = allowed().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(", ");
            self.error(line, format!("`{name}` is one of {allowed}, and this is of type {found}"));
            return None;
        };
        if let Some((_, found)) = words.iter().find(|(word, _)| *word == text) {
            return Some(Said { value: *found, line });
        }
        // The level that reports call a warning is written as in other linters.
        let message = match text {
            "warning" if allowed().any(|word| word == "warn") => "it is written `warn`".to_owned(),
            _ => spelling::unknown("value", text, allowed()),
        };
        self.error(line, format!("`{name} = \"{text}\"`: {message}"));
        None
    }

    fn count(&mut self, key: &Key<'_>, value: &Value<'_>, least: i64) -> Option<Said<u32>> {
        let line = self.line(value);
        let name = key.get_ref();
        let whole = value.get_ref().as_integer();
        let number =
            whole.and_then(|number| i64::from_str_radix(&number.as_str().replace('_', ""), number.radix()).ok());
        let found =
            number.filter(|number| (least..=MOST).contains(number)).and_then(|number| u32::try_from(number).ok());
        if found.is_none() {
            self.error(line, format!("`{name}` is a whole number from {least} to {MOST}"));
        }
        found.map(|value| Said { value, line })
    }

    fn duration(&mut self, key: &Key<'_>, value: &Value<'_>) -> Option<Said<f64>> {
        let line = self.line(value);
        let name = key.get_ref();
        let plain = |text: &str| text.replace('_', "").parse::<f64>().ok();
        let seconds = match value.get_ref() {
            DeValue::Integer(number) if number.radix() == 10 => plain(number.as_str()),
            DeValue::Float(number) => plain(number.as_str()),
            DeValue::String(text) => durations::seconds(text),
            _ => None,
        };
        let Some(seconds) = seconds else {
            self.error(line, format!("`{name}` is a span of time: {}", durations::FORM));
            return None;
        };
        if !(seconds > 0.0 && seconds <= LONGEST) {
            self.error(line, format!("`{name}` is a span of time above 0 and of at most 30 days"));
            return None;
        }
        Some(Said { value: seconds, line })
    }

    /// A shortest wait above the longest one.
    fn delays(&mut self, settings: &Settings) {
        let base = &settings.layer;
        let layers = std::iter::once(base).chain(settings.overrides.iter().map(|one| &one.layer));
        let defaults = Limits::default();
        let mut faults = Vec::new();
        for layer in layers {
            let Some(line) = layer.max_delay.as_ref().or(layer.min_delay.as_ref()).map(|said| said.line) else {
                continue;
            };
            let of = |own: &Option<Said<f64>>, base: &Option<Said<f64>>, default: f64| {
                own.as_ref().or(base.as_ref()).map_or(default, |said| said.value)
            };
            let least = of(&layer.min_delay, &base.min_delay, defaults.min_delay);
            let most = of(&layer.max_delay, &base.max_delay, defaults.max_delay);
            if least > most {
                faults.push((line, format!("`min-delay` ({least} s) is above `max-delay` ({most} s)")));
            }
        }
        for (line, message) in faults {
            self.error(line, message);
        }
    }
}
