//! A configuration file as it was read, and what holds for a path under it.
//!
//! Three kinds of [`Layer`] are laid one upon the other: the file's own, those of its overrides that fit the path, in
//! their order, and the command line's. In each, `select` begins anew, `ignore` takes away from what is on, and a level
//! in `[rules]` says more than both, that of a rule more than that of its group.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{ActiveRule, Config, Globs, names};
use crate::diagnostic::{Confidence, Level};
use crate::models::AllModels;
use crate::rules::{self, Limits, Rule};

/// A value, and the line that it stands on (from 1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said<T> {
    /// The value.
    pub value: T,
    /// The line; 0 on the command line.
    pub line: usize,
}

/// What a file, one of its overrides or the command line says.
#[derive(Debug, Clone, Default)]
pub struct Layer {
    /// Only these, with the line of the list; an empty list is nothing at all.
    pub select: Option<Said<Vec<Said<String>>>>,
    /// Not these.
    pub ignore: Vec<Said<String>>,
    /// Levels of rules and groups; `None` is `off`.
    pub levels: Vec<(String, Said<Option<Level>>)>,
    /// See [`Config::min_confidence`].
    pub min_confidence: Option<Said<Confidence>>,
    /// See [`Limits`].
    pub max_attempts: Option<Said<u32>>,
    /// See [`Limits`].
    pub max_amplification: Option<Said<u32>>,
    /// See [`Limits`], in seconds.
    pub min_delay: Option<Said<f64>>,
    /// See [`Limits`], in seconds.
    pub max_delay: Option<Said<f64>>,
}

/// What holds for some files of a configuration.
#[derive(Debug, Clone, Default)]
pub struct Override {
    /// The files.
    pub files: Globs,
    /// What is said for them.
    pub layer: Layer,
}

/// A configuration file that was read.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// The file, as it is printed.
    pub file: Arc<str>,
    /// The table in it (`tool.stormlint`), where it holds other things too; else empty.
    pub table: String,
    /// Its folder, to which patterns and the paths of models are relative.
    pub folder: PathBuf,
    /// For all files.
    pub layer: Layer,
    /// For some.
    pub overrides: Vec<Override>,
    /// What is not checked.
    pub exclude: Globs,
    /// Files of models and folders with them, as they are written.
    pub models: Vec<Said<String>>,
}

/// Where something was set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// Nowhere.
    Default,
    /// On a line of the configuration file.
    Line(usize),
    /// On the command line.
    CommandLine,
}

/// A value with its origin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Held<T> {
    /// The value.
    pub value: T,
    /// Where it was set.
    pub from: Origin,
}

impl<T: Copy> Held<T> {
    fn default_of(value: T) -> Self {
        Held { value, from: Origin::Default }
    }

    fn take(&mut self, said: Option<&Said<T>>) {
        if let Some(said) = said {
            *self = Held { value: said.value, from: said.origin() };
        }
    }
}

impl<T> Said<T> {
    fn origin(&self) -> Origin {
        if self.line == 0 { Origin::CommandLine } else { Origin::Line(self.line) }
    }
}

/// What holds of one rule.
#[derive(Debug, Clone, Copy)]
pub struct RuleHeld {
    /// The rule.
    pub rule: Rule,
    /// Whether it is on.
    pub on: Held<bool>,
    /// At which level.
    pub level: Held<Level>,
}

impl RuleHeld {
    /// Where the last word on it was said.
    #[must_use]
    pub fn from(&self) -> Origin {
        if self.on.value && self.level.from != Origin::Default { self.level.from } else { self.on.from }
    }
}

/// What holds for a path.
#[derive(Debug, Clone)]
pub struct Holds {
    /// All rules, on or off, by name.
    pub rules: Vec<RuleHeld>,
    /// How sure a finding must be.
    pub min_confidence: Held<Confidence>,
    /// See [`Limits`].
    pub max_attempts: Held<u32>,
    /// See [`Limits`].
    pub max_amplification: Held<u32>,
    /// See [`Limits`].
    pub min_delay: Held<f64>,
    /// See [`Limits`].
    pub max_delay: Held<f64>,
}

impl Settings {
    /// The overrides that fit a path, by their numbers.
    #[must_use]
    pub fn fitting(&self, path: &Path) -> Vec<usize> {
        let fits = |at: &usize| self.overrides.get(*at).is_some_and(|it| it.files.within(&self.folder, path).is_some());
        (0..self.overrides.len()).filter(fits).collect()
    }

    /// What holds where these of its overrides fit.
    #[must_use]
    pub fn hold(&self, fitting: &[usize], command_line: &Layer) -> Holds {
        let mut holds = Holds::default();
        holds.lay(&self.layer);
        for one in fitting.iter().filter_map(|at| self.overrides.get(*at)) {
            holds.lay(&one.layer);
        }
        holds.lay(command_line);
        holds
    }
}

impl Default for Holds {
    fn default() -> Self {
        let limits = Limits::default();
        let held = |rule: &Rule| RuleHeld {
            rule: *rule,
            on: Held::default_of(rule.on_by_default()),
            level: Held::default_of(rule.level),
        };
        let mut rules: Vec<_> = rules::ALL.iter().map(held).collect();
        rules.sort_by_key(|held| held.rule.name);
        Holds {
            rules,
            min_confidence: Held::default_of(Config::default().min_confidence),
            max_attempts: Held::default_of(limits.max_attempts),
            max_amplification: Held::default_of(limits.max_amplification),
            min_delay: Held::default_of(limits.min_delay),
            max_delay: Held::default_of(limits.max_delay),
        }
    }
}

impl Holds {
    fn lay(&mut self, layer: &Layer) {
        let by_name = |name: &str| rules::ALL.iter().any(|rule| rule.name == name);
        for held in &mut self.rules {
            if let Some(select) = &layer.select {
                held.on = match select.value.iter().find(|said| names(&said.value, &held.rule)) {
                    Some(said) => Held { value: true, from: said.origin() },
                    None => Held { value: false, from: select.origin() },
                };
            }
            if let Some(said) = layer.ignore.iter().find(|said| names(&said.value, &held.rule)) {
                held.on = Held { value: false, from: said.origin() };
            }
            // A group's level, then the rule's own.
            let levels = || layer.levels.iter().filter(|(name, _)| names(name, &held.rule));
            let own = levels().find(|(name, _)| by_name(name));
            if let Some((_, said)) = own.or_else(|| levels().next()) {
                held.on = Held { value: said.value.is_some(), from: said.origin() };
                if let Some(level) = said.value {
                    held.level = Held { value: level, from: said.origin() };
                }
            }
        }
        self.min_confidence.take(layer.min_confidence.as_ref());
        self.max_attempts.take(layer.max_attempts.as_ref());
        self.max_amplification.take(layer.max_amplification.as_ref());
        self.min_delay.take(layer.min_delay.as_ref());
        self.max_delay.take(layer.max_delay.as_ref());
    }

    /// The same without where it comes from.
    #[must_use]
    pub fn config(&self, models: Option<Arc<AllModels>>) -> Config {
        let on = self.rules.iter().filter(|held| held.on.value);
        Config {
            rules: on.map(|held| ActiveRule { rule: held.rule, level: held.level.value }).collect(),
            limits: Limits {
                max_attempts: self.max_attempts.value,
                min_delay: self.min_delay.value,
                max_delay: self.max_delay.value,
                max_amplification: self.max_amplification.value,
            },
            min_confidence: self.min_confidence.value,
            models,
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::read;
    use super::*;

    fn settings(text: &str) -> Settings {
        read("stormlint.toml", text, Path::new("/repo"), &[]).unwrap().unwrap()
    }

    fn rule(holds: &Holds, name: &str) -> (bool, Level, Origin) {
        let held = holds.rules.iter().find(|held| held.rule.name == name).unwrap();
        (held.on.value, held.level.value, held.from())
    }

    fn said(names: &[&str]) -> Vec<Said<String>> {
        names.iter().map(|name| Said { value: (*name).to_owned(), line: 0 }).collect()
    }

    #[test]
    fn without_a_word_the_defaults_hold() {
        let holds = Settings::default().hold(&[], &Layer::default());
        assert_eq!(rule(&holds, "unbounded-retry"), (true, Level::Error, Origin::Default));
        assert_eq!(rule(&holds, "catch-all-retry"), (false, Level::Note, Origin::Default));
        let config = holds.config(None);
        let names = |config: &Config| config.rules.iter().map(|active| active.rule.name).collect::<Vec<_>>();
        assert_eq!(names(&config), names(&Config::default()));
        assert_eq!(config.limits, Limits::default());
    }

    #[test]
    fn lists_choose_and_levels_say_more_than_lists() {
        let holds = settings(
            "select = [\"bound\", \"pace\"]\nignore = [\n  \"broken-attempt-cap\",\n]\n\n[rules]\npace = \"warn\"\n\
             retry-without-delay = \"note\"\nunbounded-retry = \"off\"\ncatch-all-retry = \"error\"\n",
        )
        .hold(&[], &Layer::default());
        assert_eq!(rule(&holds, "excessive-attempts"), (true, Level::Warning, Origin::Line(1)));
        assert_eq!(rule(&holds, "broken-attempt-cap"), (false, Level::Error, Origin::Line(3)));
        assert_eq!(rule(&holds, "uncapped-backoff"), (true, Level::Warning, Origin::Line(7)));
        assert_eq!(rule(&holds, "retry-without-delay"), (true, Level::Note, Origin::Line(8)));
        assert_eq!(rule(&holds, "unbounded-retry"), (false, Level::Error, Origin::Line(9)));
        assert_eq!(rule(&holds, "catch-all-retry"), (true, Level::Error, Origin::Line(10)));
        assert_eq!(rule(&holds, "nested-retry"), (false, Level::Warning, Origin::Line(1)));
        let none = settings("select = []\n").hold(&[], &Layer::default());
        assert!(none.config(None).rules.is_empty());
    }

    #[test]
    fn overrides_that_fit_are_laid_on_top_in_their_order() {
        let settings = settings(
            "max-attempts = 5\n[rules]\nunbounded-retry = \"warn\"\n\
             [[overrides]]\nfiles = [\"tests\"]\nignore = [\"unbounded-retry\"]\nmin-delay = \"1 ms\"\n\
             [[overrides]]\nfiles = [\"*.rs\"]\nselect = [\"unbounded-retry\"]\nmax-attempts = 7\n",
        );
        let hold = |path: &str| settings.hold(&settings.fitting(Path::new(path)), &Layer::default());
        assert_eq!(rule(&hold("/repo/a.py"), "unbounded-retry"), (true, Level::Warning, Origin::Line(3)));
        let test = hold("/repo/x/tests/a.py");
        assert!(!rule(&test, "unbounded-retry").0);
        assert_eq!(test.min_delay, Held { value: 0.001, from: Origin::Line(7) });
        let both = hold("/repo/tests/a.rs");
        assert_eq!(rule(&both, "unbounded-retry"), (true, Level::Warning, Origin::Line(3)));
        assert!(!rule(&both, "nested-retry").0);
        assert_eq!((both.max_attempts.value, both.min_delay.value), (7, 0.001));
    }

    #[test]
    fn the_command_line_has_the_last_word_and_levels_stay() {
        let settings = settings(
            "ignore = [\"default\"]\n[rules]\nnested-retry = \"off\"\nunbounded-retry = \"note\"\ncatch-all-retry = \"warn\"\n",
        );
        let select = Some(Said { value: said(&["nested-retry", "bound"]), line: 0 });
        let holds = settings.hold(&[], &Layer { select, ..Layer::default() });
        assert_eq!(rule(&holds, "nested-retry"), (true, Level::Warning, Origin::CommandLine));
        assert_eq!(rule(&holds, "unbounded-retry"), (true, Level::Note, Origin::Line(4)));
        assert_eq!(rule(&holds, "catch-all-retry"), (false, Level::Warning, Origin::CommandLine));
        let holds = settings.hold(&[], &Layer { ignore: said(&["strict"]), ..Layer::default() });
        assert!(!rule(&holds, "catch-all-retry").0 && rule(&holds, "unbounded-retry").0);
    }
}
