//! What a run is asked for: which rules at which level, which limits, how sure a finding must be.
//!
//! Rules are chosen by name, by group, or by the words `all` and `default`; names only, no codes.

use crate::diagnostic::{Confidence, Level};
use crate::rules::{self, Limits, Rule};

/// A rule that is on, and the level at which it reports.
#[derive(Debug, Clone, Copy)]
pub struct ActiveRule {
    /// The rule.
    pub rule: Rule,
    /// Its level in this run.
    pub level: Level,
}

/// The configuration of a run.
#[derive(Debug, Clone)]
pub struct Config {
    /// The rules that are on, in the order of their names.
    pub rules: Vec<ActiveRule>,
    /// The limits that they compare with.
    pub limits: Limits,
    /// Findings that are less sure stay out.
    pub min_confidence: Confidence,
}

impl Default for Config {
    fn default() -> Self {
        Config { rules: default_rules(rules::ALL), limits: Limits::default(), min_confidence: Confidence::Medium }
    }
}

impl Config {
    /// The active rule of this name.
    #[must_use]
    pub fn rule(&self, name: &str) -> Option<&ActiveRule> {
        self.rules.iter().find(|active| active.rule.name == name)
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
        if !all.iter().any(|rule| names(name, rule)) && !is_word(name) {
            let suggestion = nearest(name, candidates(all));
            return Err(UnknownName { what: "rule or group", name: name.clone(), suggestion });
        }
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
        suggestion: nearest(name, all.iter().map(|rule| rule.name).collect()),
    })
}

fn activate<'a>(rules: impl Iterator<Item = &'a Rule>) -> Vec<ActiveRule> {
    let mut active: Vec<_> = rules.map(|rule| ActiveRule { rule: *rule, level: rule.level }).collect();
    active.sort_by_key(|active| active.rule.name);
    active
}

fn names(name: &str, rule: &Rule) -> bool {
    match name {
        "all" => true,
        "default" => rule.on_by_default(),
        _ => name == rule.name || name == rule.group.name(),
    }
}

/// `all`, `default`, and the groups, which stand even where no rule is in them yet.
fn is_word(name: &str) -> bool {
    name == "all" || name == "default" || rules::Group::ALL.iter().any(|group| group.name() == name)
}

fn candidates(all: &[Rule]) -> Vec<&'static str> {
    let groups = rules::Group::ALL.iter().map(|group| group.name());
    all.iter().map(|rule| rule.name).chain(groups).chain(["all", "default"]).collect()
}

/// The candidate at the least edit distance, if that is at most a third of the name's length (and at least two edits
/// are allowed).
fn nearest(name: &str, candidates: Vec<&'static str>) -> Option<String> {
    let allowed = (name.chars().count() / 3).max(2);
    let best = candidates.into_iter().map(|candidate| (distance(name, candidate), candidate)).min()?;
    (best.0 <= allowed).then(|| best.1.to_owned())
}

/// Levenshtein's distance between two short names.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (at, l) in left.chars().enumerate() {
        let mut next = vec![at + 1];
        let mut last = at + 1;
        for (r, pair) in right.iter().zip(row.windows(2)) {
            let [diagonal, above] = pair else { continue };
            last = (diagonal + usize::from(l != *r)).min(above + 1).min(last + 1);
            next.push(last);
        }
        row = next;
    }
    row.last().copied().unwrap_or(0)
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
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
    }
}
