//! What holds for a path and where that is set: what `stormlint config` prints.

use std::io::{self, Write};
use std::sync::Arc;

use serde::Serialize;

use super::{document, visible};
use crate::config::{Held, Holds, Origin, RuleHeld, Said, Settings};

/// What is known of one path.
#[derive(Debug)]
pub struct Shown {
    /// The path, as it is printed.
    pub path: String,
    /// The configuration file, if there is one.
    pub settings: Option<Arc<Settings>>,
    /// Its overrides that fit, by their numbers.
    pub overrides: Vec<usize>,
    /// The file and the pattern in it by which a search passes over the path.
    pub excluded: Option<(Arc<Settings>, Said<String>)>,
    /// What holds.
    pub holds: Holds,
}

impl Shown {
    fn from(&self, origin: Origin) -> String {
        match origin {
            Origin::Default => "default".to_owned(),
            Origin::CommandLine => "command line".to_owned(),
            Origin::Line(line) => self.at(line),
        }
    }

    fn at(&self, line: usize) -> String {
        self.settings.as_ref().map_or_else(String::new, |settings| format!("{}:{line}", settings.file))
    }

    /// Name, value and origin of all that is no rule.
    fn values(&self) -> [(&'static str, serde_json::Value, Origin); 5] {
        fn row<T: Serialize>(name: &'static str, held: &Held<T>) -> (&'static str, serde_json::Value, Origin) {
            (name, serde_json::to_value(&held.value).unwrap_or_default(), held.from)
        }
        let holds = &self.holds;
        [
            row("min-confidence", &holds.min_confidence),
            row("max-attempts", &holds.max_attempts),
            row("max-amplification", &holds.max_amplification),
            row("min-delay", &holds.min_delay),
            row("max-delay", &holds.max_delay),
        ]
    }

    fn fitting(&self) -> Vec<String> {
        let Some(settings) = &self.settings else { return Vec::new() };
        let overrides = self.overrides.iter().filter_map(|at| settings.overrides.get(*at));
        let said = |patterns: &[Said<String>]| {
            let line = patterns.first().map_or(0, |said| said.line);
            let patterns: Vec<_> = patterns.iter().map(|said| said.value.as_str()).collect();
            format!("{} ({})", patterns.join(", "), self.at(line))
        };
        overrides.map(|one| said(&one.files.patterns)).collect()
    }

    fn models(&self) -> Vec<String> {
        let said = self.settings.iter().flat_map(|settings| &settings.models);
        said.map(|said| format!("{} ({})", said.value, self.at(said.line))).collect()
    }
}

/// `error`, `warn` or `note`, as the configuration writes them, or `off`.
fn level(held: &RuleHeld) -> &'static str {
    match held.level.value.name() {
        _ if !held.on.value => "off",
        "warning" => "warn",
        level => level,
    }
}

/// Writes it for people.
///
/// # Errors
/// The output cannot be written.
pub fn full(all: &[Shown], out: &mut dyn Write) -> io::Result<()> {
    for (at, shown) in all.iter().enumerate() {
        if at > 0 {
            writeln!(out)?;
        }
        writeln!(out, "{}", visible::line(&shown.path))?;
        match &shown.settings {
            None => writeln!(out, "  no configuration file: the defaults hold")?,
            Some(settings) if settings.table.is_empty() => {
                writeln!(out, "  configuration: {}", visible::line(&settings.file))?;
            }
            Some(settings) => {
                writeln!(out, "  configuration: {} [{}]", visible::line(&settings.file), settings.table)?;
            }
        }
        for files in shown.fitting() {
            writeln!(out, "  override: {}", visible::line(&files))?;
        }
        if let Some((settings, said)) = &shown.excluded {
            let pattern = format!("{} ({}:{})", said.value, settings.file, said.line);
            writeln!(out, "  excluded: {}", visible::line(&pattern))?;
        }
        for path in shown.models() {
            writeln!(out, "  models: {}", visible::line(&path))?;
        }
        writeln!(out)?;
        let width = shown.holds.rules.iter().map(|held| held.rule.name.len()).max().unwrap_or(0);
        for (name, value, from) in shown.values() {
            let value = match (value.as_str(), value.as_f64()) {
                (Some(word), _) => word.to_owned(),
                (None, Some(seconds)) if name.ends_with("delay") => format!("{seconds} s"),
                _ => value.to_string(),
            };
            writeln!(out, "  {name:width$}  {value:7}  {}", visible::line(&shown.from(from)))?;
        }
        writeln!(out)?;
        for held in &shown.holds.rules {
            writeln!(
                out,
                "  {:width$}  {:7}  {}",
                held.rule.name,
                level(held),
                visible::line(&shown.from(held.from()))
            )?;
        }
    }
    Ok(())
}

/// Writes it as one JSON document.
///
/// # Errors
/// The output cannot be written.
pub fn json(all: &[Shown], out: &mut dyn Write) -> io::Result<()> {
    let file = |shown: &Shown| {
        let set = |(name, value, from): (&'static str, serde_json::Value, Origin)| {
            (name.to_owned(), serde_json::json!({ "value": value, "from": shown.from(from) }))
        };
        let rule = |held: &RuleHeld| {
            serde_json::json!({
                "name": held.rule.name,
                "group": held.rule.group.name(),
                "level": level(held),
                "from": shown.from(held.from()),
            })
        };
        serde_json::json!({
            "path": shown.path,
            "configuration": shown.settings.as_ref().map(|settings| serde_json::json!({
                "file": *settings.file,
                "table": Some(&settings.table).filter(|table| !table.is_empty()),
            })),
            "overrides": shown.fitting(),
            "excluded": shown.excluded.as_ref().map(|(settings, said)| serde_json::json!({
                "pattern": said.value,
                "from": format!("{}:{}", settings.file, said.line),
            })),
            "models": shown.models(),
            "settings": shown.values().into_iter().map(set).collect::<serde_json::Map<_, _>>(),
            "rules": shown.holds.rules.iter().map(rule).collect::<Vec<_>>(),
        })
    };
    let files: Vec<_> = all.iter().map(file).collect();
    document::write(&serde_json::json!({ "version": 1, "files": files }), out)
}
