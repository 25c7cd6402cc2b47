//! Texts that came from files, made safe to print.
//!
//! A source text, a file's name and whatever a message quotes of them may hold terminal escape sequences, letters that
//! turn the direction of writing round, and the words by which build servers take commands out of a log. None of these
//! may leave a report as they are.

use std::borrow::Cow;

/// One line of text: everything that does not print is replaced by a sign for it, line ends and tabs too.
#[must_use]
pub fn line(text: &str) -> Cow<'_, str> {
    replaced(text, |_| false)
}

/// A text of several lines: as [`line()`], but line ends stay.
#[must_use]
pub fn lines(text: &str) -> Cow<'_, str> {
    replaced(text, |c| c == '\n')
}

/// A path at the beginning of a line. One that begins like a command to a build server (`::`) gets `./` in front.
#[must_use]
pub fn path(path: &str) -> Cow<'_, str> {
    let shown = line(path);
    if shown.trim_start().starts_with(':') { Cow::Owned(format!("./{shown}")) } else { shown }
}

/// A source text of which something was replaced, and where its bytes have gone.
pub(super) struct Source {
    pub(super) text: String,
    /// Byte offsets of the original behind which the text has grown, with the growth so far.
    grown: Vec<(usize, usize)>,
}

impl Source {
    /// `None` where the text can be printed as it is. Line ends and tabs stay.
    pub(super) fn new(text: &str) -> Option<Self> {
        let stays = |c: char| matches!(c, '\n' | '\r' | '\t');
        let Cow::Owned(shown) = replaced(text, stays) else { return None };
        let (mut grown, mut by) = (Vec::new(), 0);
        for (at, c, sign) in pieces(text, stays) {
            let length = sign.map_or(c.len_utf8(), |sign| sign.chars().map(char::len_utf8).sum());
            if length > c.len_utf8() {
                by += length - c.len_utf8();
                grown.push((at + c.len_utf8(), by));
            }
        }
        Some(Source { text: shown, grown })
    }

    /// Where a byte of the original stands now.
    pub(super) fn place(&self, byte: usize) -> usize {
        let before = self.grown.partition_point(|(at, _)| *at <= byte);
        byte + before.checked_sub(1).and_then(|last| self.grown.get(last)).map_or(0, |(_, by)| *by)
    }
}

/// Writes a JSON string's part, in which JSON itself finds nothing to escape: what does not print is escaped, so that
/// the document means the same and does no harm where it is shown.
pub(super) fn json_fragment(text: &str, out: &mut (impl std::io::Write + ?Sized)) -> std::io::Result<()> {
    let mut written = 0;
    for (at, c, sign) in pieces(text, |_| false) {
        if sign.is_some() {
            out.write_all(text.get(written..at).unwrap_or_default().as_bytes())?;
            write!(out, "\\u{:04x}", u32::from(c))?;
            written = at + c.len_utf8();
        }
    }
    out.write_all(text.get(written..).unwrap_or_default().as_bytes())
}

/// What is printed in place of one character.
#[derive(Clone, Copy)]
enum Sign {
    /// This one.
    Other(char),
    /// Itself, with a mark of no width in front, which keeps what stood together apart.
    Parted(char),
}

impl Sign {
    fn chars(self) -> impl Iterator<Item = char> {
        let (mark, c) = match self {
            Sign::Other(c) => (None, c),
            Sign::Parted(c) => (Some('\u{200c}'), c),
        };
        mark.into_iter().chain([c])
    }
}

fn replaced(text: &str, stays: impl Fn(char) -> bool + Copy) -> Cow<'_, str> {
    if pieces(text, stays).all(|(_, _, sign)| sign.is_none()) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for (_, c, sign) in pieces(text, stays) {
        match sign {
            None => out.push(c),
            Some(sign) => out.extend(sign.chars()),
        }
    }
    Cow::Owned(out)
}

/// Each character with its place, and what is printed in its place unless it may stay.
fn pieces(text: &str, stays: impl Fn(char) -> bool) -> impl Iterator<Item = (usize, char, Option<Sign>)> {
    text.char_indices().map(move |(at, c)| {
        let sign = if stays(c) { None } else { sign(c).map(Sign::Other) };
        (at, c, sign.or_else(|| begins_command(text, at, c).then_some(Sign::Parted(c))))
    })
}

/// The sign for what does not print: the picture of a control character, or the sign for a letter that cannot be shown.
fn sign(c: char) -> Option<char> {
    match c {
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)),
        '\u{7f}' => Some('\u{2421}'),
        // C1 controls; marks and overrides of direction; separators of lines and paragraphs; a mark of byte order.
        '\u{80}'..='\u{9f}'
        | '\u{61c}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}'
        | '\u{feff}' => Some(char::REPLACEMENT_CHARACTER),
        _ => None,
    }
}

/// The second `#` of `##[` or `##vso[`: build servers take these for commands wherever they stand in a line.
fn begins_command(text: &str, at: usize, c: char) -> bool {
    c == '#' && text.get(..at).is_some_and(|before| before.ends_with('#')) && {
        let rest = text.get(at + 1..).unwrap_or_default();
        rest.starts_with('[') || rest.get(..4).is_some_and(|word| word.eq_ignore_ascii_case("vso["))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn what_does_not_print_becomes_a_sign() {
        assert_eq!(line("get(\u{1b}[31m)\r\n\tx"), "get(␛[31m)␍␊␉x");
        assert_eq!(line("a\u{9b}b\u{202e}c\u{7f}"), "a\u{fffd}b\u{fffd}c␡");
        assert_eq!(lines("a\u{7}\nb"), "a␇\nb");
        assert!(matches!(line("naïve 𝒳 · plain"), Cow::Borrowed(_)));
    }

    #[test]
    fn no_line_is_a_command() {
        assert_eq!(path("::error::x.py"), "./::error::x.py");
        assert_eq!(path("  ::error::x.py"), "./  ::error::x.py");
        assert_eq!(path("a::b.py"), "a::b.py");
        assert_eq!(line("###[error]x ##VSO[task]"), "##\u{200c}#[error]x #\u{200c}#VSO[task]");
        assert_eq!(line("## [a] #[b] ##vs"), "## [a] #[b] ##vs");
    }

    #[test]
    fn places_move_with_the_text() {
        let text = "a\u{1b}b\n\u{c}c\u{85}d\n";
        let source = Source::new(text).unwrap();
        assert_eq!(source.text, "a␛b\n␌c\u{fffd}d\n");
        for c in ['a', 'b', 'c', 'd'] {
            assert_eq!(Some(source.place(text.find(c).unwrap())), source.text.find(c));
        }
        assert_eq!(source.place(1), 1, "at what was replaced");
        assert!(Source::new("plain\r\n\ttext").is_none());
    }

    #[test]
    fn json_keeps_its_meaning() {
        let mut out = Vec::new();
        json_fragment("é\u{9b}31m ##[error] \u{202e}", &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text, "é\\u009b31m #\\u0023[error] \\u202e");
        let back: String = serde_json::from_str(&format!("\"{text}\"")).unwrap();
        assert_eq!(back, "é\u{9b}31m ##[error] \u{202e}");
    }
}
