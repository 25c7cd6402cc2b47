//! Comments that keep findings out of the report: `ignore[rule, group] reason` for one place, `file-ignore[…] reason`
//! for a file, each behind `stormlint:`.
//!
//! [`Comments`] finds them, as the language's lexer sees comments, and says which lines each is about; [`sort`] holds the
//! findings of a file against them, and reports the names that hit nothing. [`add`] writes them into a text.
//!
//! A comment behind code is about the findings whose header (the loop's head, the decorator with its arguments, the
//! call) begins, ends or goes on on that line. One that stands alone is about the line below it, comments in between left out; where that is a decorator
//! or an attribute, about all of its stack and the line that they are for.
//!
//! Invariant: a comment that names nothing suppresses nothing. There is no word for "all rules".
//! Invariant: a name is reported as useless only where the rule was asked and the place was looked at.

pub mod add;
mod comment;

use std::ops::RangeInclusive;

use crate::config::{self, ActiveRule};
use crate::diagnostic::{Confidence, Diagnostic, Place};
use crate::rules::{self, Group};
use crate::source::{SourceFile, Span};

pub use comment::{Comment, Comments, Covers, Name};

/// The rule about comments and names that hit nothing.
pub const UNUSED: &str = "unused-suppression";
/// The rule about comments that do not say why.
pub const WITHOUT_REASON: &str = "suppression-without-reason";

/// Both: what is said of the comments themselves.
pub const RULES: [&str; 2] = [UNUSED, WITHOUT_REASON];

/// What became of a file's findings.
#[derive(Debug, Default)]
pub struct Sorted {
    /// Those that stay, with what there is to say of the comments.
    pub kept: Vec<Diagnostic>,
    /// Those that a comment is about, with its reason (empty where it has none).
    pub suppressed: Vec<(Diagnostic, String)>,
}

/// Takes the findings out that the file's comments are about. `unread` are the parts that nobody looked at.
#[must_use]
pub fn sort(file: &SourceFile, active: &[ActiveRule], unread: &[Span], found: Vec<Diagnostic>) -> Sorted {
    let comments = Comments::of(file);
    if comments.list.is_empty() {
        return Sorted { kept: found, suppressed: Vec::new() };
    }
    let mut sorting = Sorting { file, active, hits: vec![Vec::new(); comments.list.len()], comments: &comments };
    let mut sorted = Sorted::default();
    for diagnostic in found {
        sorting.put(diagnostic, &mut sorted);
    }
    // What is said of the comments can be suppressed as well.
    for diagnostic in sorting.of_the_comments(unread, false) {
        sorting.put(diagnostic, &mut sorted);
    }
    sorted.kept.extend(sorting.of_the_comments(unread, true));
    sorted
}

/// The lines of a finding's header.
#[must_use]
pub fn header(file: &SourceFile, span: Span) -> RangeInclusive<usize> {
    let last = span.end.saturating_sub(1).max(span.start);
    file.line_of(span.start)..=file.line_of(last)
}

struct Sorting<'a> {
    file: &'a SourceFile,
    active: &'a [ActiveRule],
    comments: &'a Comments,
    /// For each comment, the rules of the findings that it took out.
    hits: Vec<Vec<&'static str>>,
}

impl Sorting<'_> {
    fn put(&mut self, diagnostic: Diagnostic, sorted: &mut Sorted) {
        let lines = self.comments.whole(self.file, header(self.file, diagnostic.span));
        // The reason of the nearest comment stands for all that are about it.
        let mut reason: Option<&str> = None;
        for (comment, hits) in self.comments.list.iter().zip(&mut self.hits) {
            // What is said of a comment is said on its own line.
            let is_itself = RULES.contains(&diagnostic.rule) && comment.span == diagnostic.span;
            let covers = self.comments.covers(comment, &lines) || (is_itself && comment.is_fit());
            if covers && comment.names.iter().any(|name| name_is(&name.text, diagnostic.rule)) {
                hits.push(diagnostic.rule);
                let nearer = comment.covers != Covers::File && !comment.reason.is_empty();
                if reason.is_none_or(str::is_empty) || nearer {
                    reason = Some(&comment.reason);
                }
            }
        }
        match reason.map(str::to_owned) {
            Some(reason) => sorted.suppressed.push((diagnostic, reason)),
            None => sorted.kept.push(diagnostic),
        }
    }

    /// What the rules about comments say; of those names that stand for these rules themselves (`own`), or of all
    /// others.
    fn of_the_comments(&self, unread: &[Span], own: bool) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        let of = |name: &str| self.active.iter().find(|active| active.rule.name == name);
        for (comment, hits) in self.comments.list.iter().zip(&self.hits) {
            if let Some(active) = of(UNUSED) {
                found.extend(self.unused(active, comment, hits, unread, own));
            }
            if let Some(active) = of(WITHOUT_REASON).filter(|_| !own && comment.reason.is_empty() && comment.is_fit()) {
                let (message, why, help) = (
                    "This suppression does not say why".to_owned(),
                    "whoever reads it next cannot tell a decision from a fault that was put off".to_owned(),
                    format!("write the reason behind the bracket: `{} because …`", comment.shown(self.file)),
                );
                found.push(self.diagnostic(active, comment, [message, why, help]));
            }
        }
        found
    }

    fn unused(
        &self,
        active: &ActiveRule,
        comment: &Comment,
        hits: &[&'static str],
        unread: &[Span],
        own: bool,
    ) -> Option<Diagnostic> {
        let is_own = |name: &Name| [UNUSED, WITHOUT_REASON, Group::Meta.name()].contains(&name.text.as_str());
        let names = || comment.names.iter().filter(|name| is_own(name) == own);
        if let Some(fault) = &comment.fault {
            let why = "it suppresses nothing".to_owned();
            let said = [fault.message.clone(), why, fault.help.clone()];
            return (!own).then(|| self.diagnostic(active, comment, said));
        }
        let unknown: Vec<(&str, String)> =
            names().filter_map(|name| Some((name.text.as_str(), unknown(&name.text)?))).collect();
        let not_looked_at = match &comment.covers {
            Covers::File => !unread.is_empty(),
            Covers::Lines(lines) => unread.iter().any(|part| {
                let part = header(self.file, *part);
                lines.start() <= part.end() && part.start() <= lines.end()
            }),
        };
        let useless: Vec<&str> = names()
            .map(|name| name.text.as_str())
            .filter(|name| !not_looked_at && self.was_asked(name) && !hits.iter().any(|rule| name_is(name, rule)))
            .collect();
        let quoted = |names: &[&str], word: &str| {
            let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            match names.as_slice() {
                [first @ .., last] if !first.is_empty() => format!("{}{word}{last}", first.join(", ")),
                _ => names.concat(),
            }
        };
        let taken_out = |names: &[&str]| {
            if names.len() == comment.names.len() {
                "take the comment out".to_owned()
            } else {
                format!("take {} out", quoted(names, " and "))
            }
        };
        let (message, help) = match (unknown.as_slice(), useless.as_slice()) {
            ([], []) => return None,
            ([(name, suggestion)], []) => {
                (format!("There is no rule or group `{name}` to suppress"), suggestion.clone())
            }
            ([], names) => {
                let place = if comment.covers == Covers::File { "in this file" } else { "here" };
                (format!("There is no finding of {} {place} to suppress", quoted(names, " or ")), taken_out(names))
            }
            (unknown, names) => {
                let all: Vec<&str> = unknown.iter().map(|(name, _)| *name).chain(names.iter().copied()).collect();
                let suggestions = unknown.iter().map(|(name, suggestion)| format!("`{name}`: {suggestion}"));
                let useless = (!names.is_empty()).then(|| taken_out(names));
                let help: Vec<String> = suggestions.chain(useless).collect();
                (format!("There is nothing of {} to suppress", quoted(&all, " or ")), help.join("; "))
            }
        };
        let why = "a suppression that hits nothing hides the next fault of its name".to_owned();
        Some(self.diagnostic(active, comment, [message, why, help]))
    }

    /// Whether all rules that a name stands for were active.
    fn was_asked(&self, name: &str) -> bool {
        let mut named = rules::ALL.iter().filter(|rule| name_is(name, rule.name)).peekable();
        let asked = |name: &str| self.active.iter().any(|active| active.rule.name == name);
        named.peek().is_some() && named.all(|rule| asked(rule.name))
    }

    fn diagnostic(&self, active: &ActiveRule, comment: &Comment, [message, why, help]: [String; 3]) -> Diagnostic {
        Diagnostic {
            rule: active.rule.name,
            level: active.level,
            confidence: Confidence::High,
            span: comment.span,
            message,
            why,
            help,
            labels: Vec::new(),
            extent: vec![Place { file: None, span: comment.span }],
            function: String::new(),
            key: comment.names.iter().map(|name| name.text.as_str()).collect::<Vec<_>>().join(","),
        }
    }
}

/// Whether a name stands for a rule: its own name, or its group's.
fn name_is(name: &str, rule: &str) -> bool {
    name == rule || rules::ALL.iter().any(|known| known.name == rule && known.group.name() == name)
}

/// What to say of a name that stands for nothing.
fn unknown(name: &str) -> Option<String> {
    if rules::ALL.iter().any(|rule| name_is(name, rule.name)) || Group::ALL.iter().any(|group| group.name() == name) {
        return None;
    }
    let suggestion = config::select(rules::ALL, &[name.to_owned()], &[]).err().and_then(|error| error.suggestion);
    Some(match suggestion {
        Some(near) => format!("did you mean `{near}`?"),
        None if matches!(name, "all" | "default") => "name the rules or groups that are meant".to_owned(),
        None => "`stormlint rules` lists the rules and groups".to_owned(),
    })
}
