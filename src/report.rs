//! One file a format. Each takes a [`Run`] and writes; none decides what is reported or how the process exits.

pub mod catalogue;
pub mod concise;
pub mod full;
pub mod inventory;
pub mod json;
mod page;
pub mod sarif;

use std::io::{self, Write};

use crate::check::Run;
use crate::diagnostic::Level;

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
    let files = counted(run.files.len(), "file");
    if counts.is_empty() {
        writeln!(out, "No findings in {files}.")
    } else {
        writeln!(out, "Found {} in {files}.", counts.join(", "))
    }
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
