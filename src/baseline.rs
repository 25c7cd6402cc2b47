//! The findings that were there before: a file that names them, and what of it still holds.
//!
//! A baseline is JSON with one entry a line, sorted, so that two branches that change it merge as other lists do. An
//! entry is a file, a rule, a function and two hashes (see [`crate::fingerprint`]); lines and columns are not in it.
//!
//! Invariant: an entry stands for one finding. Of two equal faults where the baseline has one, one is new.

use serde::{Deserialize, Serialize};

/// The form that is written.
const VERSION: u32 = 1;

/// A finding as the baseline knows it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Entry {
    /// Path from the root of the repository.
    pub path: String,
    /// The rule.
    pub rule: String,
    /// The function that it stands in.
    pub function: String,
    /// Tells it from all others of the file.
    pub fingerprint: String,
    /// Stays where the code goes to another function.
    pub shape: String,
}

#[derive(Deserialize)]
struct Document {
    version: u32,
    findings: Vec<Entry>,
}

/// A text that is no baseline.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// No JSON, or not of this form.
    #[error("{0}")]
    Form(String),
    /// Written by another release.
    #[error("it has version {0}, and this program reads version {VERSION}")]
    Version(u32),
}

/// Reads a baseline.
///
/// # Errors
/// It is none.
pub fn read(text: &str) -> Result<Vec<Entry>, Malformed> {
    // Some editors put a mark of byte order in front.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let document: Document = serde_json::from_str(text).map_err(|error| {
        let message = error.to_string();
        let what = message.split(" at line ").next().unwrap_or_default();
        Malformed::Form(format!("line {}: {what}", error.line()))
    })?;
    if document.version != VERSION {
        return Err(Malformed::Version(document.version));
    }
    Ok(document.findings)
}

/// A baseline with these entries.
#[must_use]
pub fn write(mut entries: Vec<Entry>) -> String {
    entries.sort();
    entries.dedup();
    let mut text = format!("{{\n\"version\": {VERSION},\n\"findings\": [\n");
    let last = entries.len();
    for (at, entry) in entries.iter().enumerate() {
        // Texts and nothing else: this cannot fail.
        text.push_str(&serde_json::to_string(entry).unwrap_or_default());
        text.push_str(if at + 1 < last { ",\n" } else { "\n" });
    }
    text.push_str("]\n}\n");
    text
}

/// What is known of the present findings, and what is left of the baseline.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Compared {
    /// For each finding, whether it was there before.
    pub known: Vec<bool>,
    /// The entries that no finding has.
    pub left: Vec<Entry>,
}

/// Holds the present findings against the baseline: first those that are where they were, then those that went to
/// another function of the file, then those whose function went to another file.
#[must_use]
pub fn compare(baseline: &[Entry], present: &[Entry]) -> Compared {
    type Key<'a> = [&'a str; 3];
    const WAYS: [fn(&Entry) -> Key<'_>; 3] = [
        |entry| [&entry.path, &entry.rule, &entry.fingerprint],
        |entry| [&entry.path, &entry.rule, &entry.shape],
        |entry| [&entry.function, &entry.rule, &entry.shape],
    ];
    let mut known = vec![false; present.len()];
    let mut left: Vec<&Entry> = baseline.iter().collect();
    left.sort();
    left.dedup();
    for way in WAYS {
        let mut free: std::collections::BTreeMap<Key<'_>, Vec<&Entry>> = std::collections::BTreeMap::new();
        for entry in left.drain(..).rev() {
            free.entry(way(entry)).or_default().push(entry);
        }
        for (entry, known) in present.iter().zip(&mut known) {
            if !*known && free.get_mut(&way(entry)).and_then(Vec::pop).is_some() {
                *known = true;
            }
        }
        left = free.into_values().flatten().collect();
        left.sort();
    }
    Compared { known, left: left.into_iter().cloned().collect() }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn entry(path: &str, function: &str, fingerprint: &str, shape: &str) -> Entry {
        let [path, function, fingerprint, shape] = [path, function, fingerprint, shape].map(str::to_owned);
        Entry { path, rule: "r".to_owned(), function, fingerprint, shape }
    }

    #[test]
    fn what_is_written_is_read_sorted_a_line_each() {
        let (one, two) = (entry("a.py", "f", "1", "s"), entry("b \"ü\".py", "g", "2", "s"));
        let text = write(vec![two.clone(), one.clone(), two.clone()]);
        assert_eq!(text.lines().filter(|line| line.starts_with("{\"path\"")).count(), 2);
        assert_eq!(read(&text).unwrap(), [one, two]);
        assert_eq!(read(&write(Vec::new())).unwrap(), []);
    }

    #[test]
    fn what_is_no_baseline_is_told() {
        let error = read("{\n\"version\": 1,\n<<<<<<< ours\n").unwrap_err();
        assert_eq!(error.to_string(), "line 3: key must be a string");
        assert!(read("{\"version\": 1}").unwrap_err().to_string().contains("missing field `findings`"));
        let error = read("{\"version\": 2, \"findings\": []}").unwrap_err();
        assert_eq!(error.to_string(), "it has version 2, and this program reads version 1");
    }

    #[test]
    fn an_entry_stands_for_one_finding() {
        let old = [entry("a.py", "f", "1", "s")];
        let known = |present: &[Entry]| compare(&old, present).known;
        assert_eq!(known(&[entry("a.py", "f", "1", "s"), entry("a.py", "f", "2", "s")]), [true, false]);
        assert_eq!(known(&[entry("a.py", "g", "0", "s"), entry("a.py", "f", "1", "s")]), [false, true]);
        assert_eq!(known(&[entry("a.py", "g", "0", "s"), entry("a.py", "h", "2", "s")]), [true, false]);
        assert_eq!(known(&[entry("b.py", "f", "1", "s"), entry("c.py", "f", "1", "s")]), [true, false]);
        assert_eq!(known(&[entry("b.py", "g", "1", "s"), entry("a.py", "f", "1", "t")]), [false, true]);
        let left = compare(&[entry("a.py", "f", "1", "s"), entry("a.py", "f", "2", "s")], &old).left;
        assert_eq!(left, [entry("a.py", "f", "2", "s")]);
    }
}
