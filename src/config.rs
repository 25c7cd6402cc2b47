//! What holds for a file: which rules at which level, which limits, how sure a finding must be, which models.
//!
//! Rules are chosen by name, by group, or by the words `all` and `default`; names only, no codes.
//!
//! `read` makes [`Settings`] of the text of a configuration file, or says what is wrong with it; [`Settings::hold`] lays
//! the file, its overrides that fit and the command line one upon the other, and gives what [`Holds`] for a path.
//! `globs` are the patterns in it, `durations` the spans of time. Finding and reading files is not done here.

mod durations;
mod globs;
mod read;
mod settings;

use std::sync::Arc;

use crate::diagnostic::{Confidence, Level};
use crate::models::AllModels;
use crate::rules::{self, Limits, Rule};
use crate::spelling;

pub use globs::Globs;
pub use read::{ConfigError, read};
pub use settings::{Held, Holds, Layer, Origin, RuleHeld, Said, Settings};

/// A rule that is on, and the level at which it reports.
#[derive(Debug, Clone, Copy)]
pub struct ActiveRule {
    /// The rule.
    pub rule: Rule,
    /// Its level in this run.
    pub level: Level,
}

/// The configuration that holds for a file.
#[derive(Debug, Clone)]
pub struct Config {
    /// The rules that are on, in the order of their names.
    pub rules: Vec<ActiveRule>,
    /// The limits that they compare with.
    pub limits: Limits,
    /// Findings that are less sure stay out.
    pub min_confidence: Confidence,
    /// What is known of libraries, where that is more than what is built in.
    pub models: Option<Arc<AllModels>>,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            rules: default_rules(rules::ALL),
            limits: Limits::default(),
            min_confidence: Confidence::Medium,
            models: None,
        }
    }
}

impl Config {
    /// The active rule of this name.
    #[must_use]
    pub fn rule(&self, name: &str) -> Option<&ActiveRule> {
        self.rules.iter().find(|active| active.rule.name == name)
    }

    /// What is known of libraries.
    #[must_use]
    pub fn models(&self) -> &AllModels {
        self.models.as_deref().unwrap_or_else(|| AllModels::builtin())
    }

    /// The rules that are on in any of these, each at its first level there.
    #[must_use]
    pub fn rules_of_all<'a>(configs: impl IntoIterator<Item = &'a Config>) -> Vec<ActiveRule> {
        let mut all: Vec<ActiveRule> = Vec::new();
        for active in configs.into_iter().flat_map(|config| &config.rules) {
            if let Err(at) = all.binary_search_by_key(&active.rule.name, |known| known.rule.name) {
                all.insert(at, *active);
            }
        }
        all
    }
}

/// A name that nothing has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown {what} `{name}`; {}", match .suggestion {
    Some(near) => format!("did you mean `{near}`?"),
    None if .name.is_empty() => "the name is empty (is there a comma too many?)".to_owned(),
    None => "`stormlint rules` lists them".to_owned(),
})]
pub struct UnknownName {
    /// What a name was asked for: `rule`, `rule or group`.
    pub what: &'static str,
    /// What was asked for.
    pub name: String,
    /// The nearest name that there is.
    pub suggestion: Option<String>,
}

/// The rules that are on by default.
#[must_use]
pub fn default_rules(all: &[Rule]) -> Vec<ActiveRule> {
    activate(all.iter().filter(|rule| rule.on_by_default()))
}

/// The rules that `select` names (the default ones where it names none) without those that `ignore` names.
///
/// # Errors
/// A name that is neither a rule, nor a group, nor `all` or `default`.
pub fn select(all: &[Rule], select: &[String], ignore: &[String]) -> Result<Vec<ActiveRule>, UnknownName> {
    for name in select.iter().chain(ignore) {
        known(all, name)?;
    }
    let wanted = |rule: &&Rule| {
        let asked = if select.is_empty() { rule.on_by_default() } else { select.iter().any(|name| names(name, rule)) };
        asked && !ignore.iter().any(|name| names(name, rule))
    };
    Ok(activate(all.iter().filter(wanted)))
}

/// The rule of this name.
///
/// # Errors
/// There is none.
pub fn find<'a>(all: &'a [Rule], name: &str) -> Result<&'a Rule, UnknownName> {
    all.iter().find(|rule| rule.name == name).ok_or_else(|| UnknownName {
        what: "rule",
        name: name.to_owned(),
        suggestion: nearest(name, all.iter().map(|rule| rule.name)),
    })
}

fn activate<'a>(rules: impl Iterator<Item = &'a Rule>) -> Vec<ActiveRule> {
    let mut active: Vec<_> = rules.map(|rule| ActiveRule { rule: *rule, level: rule.level }).collect();
    active.sort_by_key(|active| active.rule.name);
    active
}

/// Whether rules can be chosen by this word.
///
/// # Errors
/// It is neither a rule, nor a group, nor `all` or `default`.
pub fn known(all: &[Rule], name: &str) -> Result<(), UnknownName> {
    // The groups stand even where no rule is in them yet.
    let words = || rules::Group::ALL.iter().map(|group| group.name()).chain(["all", "default"]);
    if all.iter().any(|rule| rule.name == name) || words().any(|word| word == name) {
        return Ok(());
    }
    let suggestion = nearest(name, all.iter().map(|rule| rule.name).chain(words()));
    Err(UnknownName { what: "rule or group", name: name.to_owned(), suggestion })
}

fn names(name: &str, rule: &Rule) -> bool {
    match name {
        "all" => true,
        "default" => rule.on_by_default(),
        _ => name == rule.name || name == rule.group.name(),
    }
}

fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<String> {
    spelling::nearest(name, candidates).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::rules::Group;

    fn rule(name: &'static str, group: Group) -> Rule {
        Rule { name, group, level: Level::Warning, page: "", check: None }
    }

    fn all() -> Vec<Rule> {
        vec![
            rule("unbounded-retry", Group::Bound),
            rule("retry-without-delay", Group::Pace),
            rule("fixed-retry-delay", Group::Strict),
        ]
    }

    fn chosen(on: &[&str], off: &[&str]) -> Vec<&'static str> {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        select(&all(), &owned(on), &owned(off)).unwrap().iter().map(|active| active.rule.name).collect()
    }

    #[test]
    fn rules_are_chosen_by_name_group_and_word() {
        assert_eq!(chosen(&[], &[]), ["retry-without-delay", "unbounded-retry"]);
        assert_eq!(chosen(&["all"], &["pace"]), ["fixed-retry-delay", "unbounded-retry"]);
        assert_eq!(chosen(&["default", "strict"], &[]).len(), 3);
        assert_eq!(chosen(&["bound"], &["unbounded-retry"]), [""; 0]);
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_nearest() {
        let error = select(&all(), &["unbouned-retry".to_owned()], &[]).unwrap_err();
        assert_eq!(error.to_string(), "unknown rule or group `unbouned-retry`; did you mean `unbounded-retry`?");
        let error = select(&all(), &[], &["xyzzy-plugh".to_owned()]).unwrap_err();
        assert_eq!(error.suggestion, None);
        let error = select(&all(), &["bound".to_owned(), String::new()], &[]).unwrap_err();
        assert_eq!(error.to_string(), "unknown rule or group ``; the name is empty (is there a comma too many?)");
    }
}
