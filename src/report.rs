//! One file a format. Each takes a [`Run`] and writes; none decides what is reported or how the process exits.

pub mod catalogue;
pub mod concise;
pub mod configuration;
mod document;
pub mod examples;
pub mod full;
pub mod github;
pub mod gitlab;
pub mod inventory;
pub mod json;
pub mod junit;
pub mod libraries;
mod page;
pub mod sarif;
pub mod visible;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Write};

use crate::check::{By, Run};
use crate::diagnostic::{Diagnostic, Level};

/// What the terminal that a report is written for takes.
#[derive(Debug, Clone, Copy, Default)]
pub struct Style {
    /// ANSI colours.
    pub colour: bool,
    /// Links behind words (OSC 8).
    pub links: bool,
}

impl Style {
    /// A rule's name, with a link to its page.
    fn rule(self, name: &str) -> Cow<'_, str> {
        if self.links {
            Cow::Owned(format!("\u{1b}]8;;{}\u{1b}\\{name}\u{1b}]8;;\u{1b}\\", page::address(name)))
        } else {
            Cow::Borrowed(name)
        }
    }
}

/// A text as a sentence: a capital at the front (unless it begins with code) and a full stop.
fn sentence(text: &str) -> String {
    let text = text.trim();
    let mut chars = text.chars();
    let mut sentence = match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => String::new(),
    };
    if !sentence.is_empty() && !sentence.ends_with(['.', '!', '?']) {
        sentence.push('.');
    }
    sentence
}

/// What was seen, why it matters, what to do.
fn sentences(diagnostic: &Diagnostic) -> String {
    let parts = [&diagnostic.message, &diagnostic.why, &diagnostic.help].map(|part| sentence(part));
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// `1 error`, `3 errors`.
fn counted(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

/// The closing line: what was found, in how many files.
///
/// # Errors
/// The output cannot be written.
pub fn summary(run: &Run, out: &mut dyn Write) -> io::Result<()> {
    let counts: Vec<String> = [(Level::Error, "error"), (Level::Warning, "warning"), (Level::Note, "note")]
        .into_iter()
        .map(|(level, noun)| (run.count(level), noun))
        .filter(|(n, _)| *n > 0)
        .map(|(n, noun)| counted(n, noun))
        .collect();
    let (files, left_out) = (counted(run.files.len(), "file"), left_out(run));
    if counts.is_empty() {
        writeln!(out, "No findings in {files}{left_out}.")
    } else {
        writeln!(out, "Found {} in {files}{left_out}.", counts.join(", "))
    }
}

/// How many findings each rule has, the most first.
///
/// # Errors
/// The output cannot be written.
pub fn statistics(run: &Run, out: &mut dyn Write) -> io::Result<()> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for found in &run.findings {
        *counts.entry(found.diagnostic.rule).or_default() += 1;
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let width = counts.first().map_or(0, |(_, most)| most.to_string().len());
    counts.iter().try_for_each(|(rule, count)| writeln!(out, "{count:>width$}  {rule}"))
}

/// What is not reported, in brackets; nothing where that is nothing.
fn left_out(run: &Run) -> String {
    let comments = run.suppressed.iter().filter(|one| one.by != By::Baseline).count();
    let known = run.suppressed.len() - comments;
    let parts: Vec<String> =
        [(comments, "suppressed"), (known, "in the baseline"), (run.outside.len(), "outside of the changed lines")]
            .into_iter()
            .filter(|(n, _)| *n > 0)
            .map(|(n, what)| format!("{n} {what}"))
            .collect();
    if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_have_a_capital_and_a_stop() {
        assert_eq!(sentence("retries at once"), "Retries at once.");
        assert_eq!(sentence("`get` is retried!"), "`get` is retried!");
        assert_eq!(sentence(" "), "");
    }

    #[test]
    fn nouns_are_counted() {
        assert_eq!(counted(1, "file") + &counted(2, "file"), "1 file2 files");
    }
}
