//! Texts, addresses and regions in the form that SARIF asks for.

use super::schema::{Region, Snippet};
use crate::source::{SourceFile, Span};

/// Descriptions may not be longer than this.
const MAX_DESCRIPTION: usize = 1024;

/// Context longer than this (generated files have lines of a megabyte) is left out, in bytes.
const MAX_CONTEXT: usize = 4096;

/// A relative path as a relative URI reference.
pub(super) fn uri(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        // A colon would be read as the end of a scheme.
        if byte.is_ascii_alphanumeric() || b"-._~/!$&'()*+,;=@".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri
}

/// Lines and columns in UTF-16 code units from 1, the end exclusive.
pub(super) fn region(file: &SourceFile, span: Span, with_text: bool) -> Region {
    let (start, end) = (file.position(span.start), file.position(span.end));
    Region {
        start_line: start.line,
        start_column: Some(start.utf16_column),
        end_line: end.line,
        end_column: Some(end.utf16_column),
        snippet: with_text.then(|| Snippet::new(file.slice(span))),
    }
}

/// The lines of a span with one more on either side, unless they are too long to be read.
pub(super) fn context(file: &SourceFile, span: Span) -> Option<Region> {
    let first = file.line_of(span.start).saturating_sub(1).max(1);
    let last = (file.line_of(span.end) + 1).min(file.line_count());
    let lines: Vec<&str> = (first..=last).map(|line| file.line_text(line)).collect();
    let text = lines.join("\n");
    (text.len() <= MAX_CONTEXT).then(|| Region { snippet: Some(Snippet::new(&text)), ..Region::lines(first, last) })
}

/// `unbounded-retry` as `UnboundedRetry`.
pub(super) fn pascal_case(name: &str) -> String {
    name.split('-')
        .flat_map(|word| {
            let mut chars = word.chars();
            chars.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(chars.collect::<Vec<_>>())
        })
        .collect()
}

/// At most so long as a description may be.
pub(super) fn cut(text: &str) -> String {
    if text.chars().count() <= MAX_DESCRIPTION {
        return text.to_owned();
    }
    text.chars().take(MAX_DESCRIPTION - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Language;

    #[test]
    fn uris_are_percent_encoded() {
        assert_eq!(uri("src/a b/é#1%.py"), "src/a%20b/%C3%A9%231%25.py");
        assert_eq!(uri("c:x.rs"), "c%3Ax.rs");
    }

    #[test]
    fn columns_count_utf16_units() {
        let file = SourceFile::new("a.py", "x = '𝒳é'; while 1: go()", Language::Python);
        let start = file.text.find("while").unwrap_or_default();
        let region = region(&file, Span::new(start, start + 5), true);
        assert_eq!((region.start_column, region.end_column), (Some(12), Some(17)));
        assert!(context(&file, Span::new(start, start + 5)).is_some());
        assert_eq!(region.snippet.map(|snippet| snippet.text).as_deref(), Some("while"));
    }

    #[test]
    fn names_and_descriptions_fit() {
        assert_eq!(pascal_case("retry-after-date"), "RetryAfterDate");
        assert_eq!(cut(&"é".repeat(2000)).chars().count(), MAX_DESCRIPTION);
        assert_eq!(cut("short"), "short");
    }
}
