//! Writes suppression comments into a text.
//!
//! A name goes into the comment that is about the place already, where there is one; else a comment of its own goes on
//! the line above, indented alike. Where no line can be put in between (within a text, behind a backslash) it goes to
//! the end of one of the header's lines; where that cannot be either, nothing is written and the finding is given back.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use super::comment::{Comment, Comments, Covers};
use crate::frontend;
use crate::source::{SourceFile, Span};

/// A finding to suppress.
#[derive(Debug, Clone, Copy)]
pub struct Wanted {
    /// Its header.
    pub span: Span,
    /// Its rule.
    pub rule: &'static str,
}

/// What was made of a file.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Added {
    /// The new text.
    pub text: String,
    /// How many of the findings are suppressed in it.
    pub done: usize,
    /// Those for which no comment can be written: line and rule.
    pub refused: Vec<(usize, &'static str)>,
}

/// Findings that begin on the same line.
struct Group {
    header: RangeInclusive<usize>,
    rules: BTreeSet<&'static str>,
    count: usize,
}

/// Suppresses these findings of a file.
#[must_use]
pub fn add(file: &SourceFile, wanted: &[Wanted], reason: &str) -> Added {
    let mut groups: BTreeMap<usize, Group> = BTreeMap::new();
    for one in wanted {
        let header = super::header(file, one.span);
        let group = groups.entry(*header.start()).or_insert_with(|| Group {
            header: header.clone(),
            rules: BTreeSet::new(),
            count: 0,
        });
        group.rules.insert(one.rule);
        group.count += 1;
        if header.end() > group.header.end() {
            group.header = header;
        }
    }
    let mut groups: Vec<Group> = groups.into_values().collect();
    let mut refused = Vec::new();
    let text = loop {
        let (text, lines) = written(file, &groups, reason);
        let comments = Comments::of(&SourceFile::new("", text.as_str(), file.language));
        let before = groups.len();
        let mut shifts = lines.iter();
        // What cannot be found again does not stay.
        groups.retain(|group| {
            let shift = shifts.next().copied().unwrap_or_default();
            let kept = shift.is_some_and(|shift| {
                let header = group.header.start() + shift..=group.header.end() + shift;
                let names = |rule: &&str| {
                    let mut near = comments.list.iter().filter(|comment| comments.covers(comment, &header));
                    near.any(|comment| comment.names.iter().any(|name| name.text == **rule))
                };
                group.rules.iter().all(names)
            });
            if !kept {
                refused.extend(group.rules.iter().map(|rule| (*group.header.start(), *rule)));
            }
            kept
        });
        if groups.len() == before {
            break text;
        }
    };
    refused.sort_unstable();
    Added { text, done: groups.iter().map(|group| group.count).sum(), refused }
}

/// The text with comments for all groups, and for each group how many lines were put in above it; `None` where there is
/// no place for its comment.
fn written(file: &SourceFile, groups: &[Group], reason: &str) -> (String, Vec<Option<usize>>) {
    let comments = Comments::of(file);
    let lexemes = frontend::lex(&file.text, file.language);
    let mut edits: Vec<(usize, String)> = Vec::new();
    let mut extended: BTreeMap<usize, BTreeSet<&str>> = BTreeMap::new();
    let mut placed = Vec::with_capacity(groups.len());
    let mut shift = 0;
    for group in groups {
        let near = |comment: &Comment| comment.covers != Covers::File && comments.covers(comment, &group.header);
        if let Some(at) = comments.list.iter().position(near) {
            extended.entry(at).or_default().extend(&group.rules);
            placed.push(Some(shift));
            continue;
        }
        let names: Vec<&str> = group.rules.iter().copied().collect();
        let comment = format!("{} stormlint: ignore[{}] {reason}", file.language.comment_sign(), names.join(", "));
        let first = *group.header.start();
        if first == 1 && names_interpreter(&file.text) {
            placed.push(None);
        } else if !lexemes.line(first).inside {
            let text = file.line_text(first);
            // The mark of the encoding stays first in the file; elsewhere it is a character like others.
            let mark = if first == 1 && text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
            let text = text.get(mark..).unwrap_or_default();
            let indent = text.get(..text.len() - text.trim_start().len()).unwrap_or_default();
            edits.push((file.line_start(first) + mark, format!("{indent}{comment}{}", line_end(file, first))));
            shift += 1;
            placed.push(Some(shift));
        } else if let Some(line) = [first, *group.header.end()].into_iter().find(|line| !lexemes.line(line + 1).inside)
        {
            let text = file.line_text(line);
            edits.push((file.line_start(line) + text.trim_end().len(), format!("  {comment}")));
            placed.push(Some(shift));
        } else {
            placed.push(None);
        }
    }
    for (at, rules) in extended {
        let Some(comment) = comments.list.get(at) else { continue };
        let new: Vec<&str> =
            rules.into_iter().filter(|rule| !comment.names.iter().any(|name| name.text == *rule)).collect();
        let end = comment.names.last().map_or(comment.names_end, |name| name.span.end as usize);
        if !new.is_empty() {
            edits.push((end, format!(", {}", new.join(", "))));
        }
        if comment.reason.is_empty() {
            edits.push((comment.names_end + 1, format!(" {reason}")));
        }
    }
    edits.sort();
    let mut text = String::with_capacity(file.text.len() + 80 * edits.len());
    let mut from = 0;
    for (at, inserted) in edits {
        text.push_str(file.text.get(from..at).unwrap_or_default());
        text.push_str(&inserted);
        from = at;
    }
    text.push_str(file.text.get(from..).unwrap_or_default());
    (text, placed)
}

/// Whether the first line has to stay the first.
fn names_interpreter(text: &str) -> bool {
    text.starts_with("#!") && !text.starts_with("#![")
}

/// How this line ends, or the one before it where it is the last.
fn line_end(file: &SourceFile, line: usize) -> &str {
    let end = |line: usize| {
        let start = file.line_start(line) + file.line_text(line).len();
        file.text.get(start..file.line_start(line + 1)).filter(|end| !end.is_empty())
    };
    end(line).or_else(|| end(line.checked_sub(1)?)).unwrap_or("\n")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::source::Language;

    fn added(text: &str, places: &[(&str, &'static str)]) -> Added {
        let file = SourceFile::new("a.py", text, Language::Python);
        let wanted: Vec<Wanted> = places
            .iter()
            .map(|(part, rule)| {
                let start = text.find(part).unwrap();
                Wanted { span: Span::new(start, start + part.len()), rule }
            })
            .collect();
        add(&file, &wanted, "known")
    }

    #[test]
    fn a_comment_goes_above_with_the_lines_end_and_indentation() {
        let new = added("def f():\r\n\twhile True:\r\n\t\tgo()", &[("while True:", "a"), ("while True:", "b")]);
        assert_eq!(new.text, "def f():\r\n\t# stormlint: ignore[a, b] known\r\n\twhile True:\r\n\t\tgo()");
        assert_eq!((new.done, new.refused.len()), (2, 0));
        assert_eq!(added("\u{feff}go()", &[("go()", "a")]).text, "\u{feff}# stormlint: ignore[a] known\ngo()");
        assert_eq!(
            added("x\n\u{feff}go()", &[("\u{feff}go()", "a")]).text,
            "x\n# stormlint: ignore[a] known\n\u{feff}go()"
        );
    }

    #[test]
    fn a_comment_that_is_there_is_extended() {
        let new = added("x(\n  1)  # noqa  # stormlint: ignore[z ]\n", &[("x(\n  1)", "a")]);
        assert_eq!(new.text, "x(\n  1)  # noqa  # stormlint: ignore[z, a ] known\n");
        let new = added("# stormlint: ignore[z] why\n@b\n@c\ndef f(): ...\n", &[("@b", "a"), ("@c", "a")]);
        assert_eq!(new.text, "# stormlint: ignore[z, a] why\n@b\n@c\ndef f(): ...\n");
        let new = added("# stormlint: file-ignore[z] why\nx()\n", &[("x()", "a")]);
        assert_eq!(new.text, "# stormlint: file-ignore[z] why\n# stormlint: ignore[a] known\nx()\n");
    }

    #[test]
    fn no_text_and_no_continued_line_is_broken() {
        let new = added("y = 1 + \\\n  x()  # more\n", &[("x()", "a")]);
        assert_eq!(new.text, "y = 1 + \\\n  x()  # more  # stormlint: ignore[a] known\n");
        let new = added("y = '''\n''' + x('''\n''')\n", &[("x('''\n''')", "a")]);
        assert_eq!(new.text, "y = '''\n''' + x('''\n''')  # stormlint: ignore[a] known\n");
        let text = "y = 1 + \\\n  x() + \\\n  2\nz()\n";
        let new = added(text, &[("x()", "b"), ("z()", "a")]);
        assert_eq!(new.text, "y = 1 + \\\n  x() + \\\n  2\n# stormlint: ignore[a] known\nz()\n");
        assert_eq!((new.done, new.refused), (1, vec![(2, "b")]));
        let new = added("#!/usr/bin/env python3\nx = (\n", &[("#!/usr", "a")]);
        assert_eq!((new.done, new.refused), (0, vec![(1, "a")]));
    }
}
