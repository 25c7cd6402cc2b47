//! From bytes to text. A text that is not what it says is still read: a wrong letter in a string hides no loop.

use std::sync::Arc;

use crate::source::Language;

/// UTF-8, or what a Python file's encoding line says if that is Latin-1 or a relative of it; wrong bytes become U+FFFD.
pub(super) fn decode(bytes: &[u8], language: Language) -> Arc<str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.into(),
        Err(_) if language == Language::Python && declared(bytes).is_some_and(|name| is_latin(&name)) => {
            bytes.iter().map(|byte| char::from(*byte)).collect::<String>().into()
        }
        Err(_) => String::from_utf8_lossy(bytes).into(),
    }
}

/// The encoding named by a `coding:` or `coding=` comment in the first two lines (PEP 263), in lower case.
fn declared(bytes: &[u8]) -> Option<String> {
    bytes.split(|byte| *byte == b'\n').take(2).find_map(|line| {
        let line = String::from_utf8_lossy(line);
        let comment = line.trim_start().strip_prefix('#')?;
        let (_, rest) = comment.split_once("coding")?;
        let rest = rest.strip_prefix([':', '='])?.trim_start();
        let is_name = |c: &char| c.is_ascii_alphanumeric() || "-_.".contains(*c);
        let name: String = rest.chars().take_while(is_name).collect();
        (!name.is_empty()).then(|| name.to_ascii_lowercase().replace('_', "-"))
    })
}

fn is_latin(name: &str) -> bool {
    ["latin", "iso-8859", "iso8859", "cp125", "windows-125", "l1"].iter().any(|prefix| name.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_decoded_by_what_they_say() {
        let python = |bytes: &[u8]| decode(bytes, Language::Python).to_string();
        assert_eq!(python("é".as_bytes()), "é");
        assert_eq!(
            python(b"#!/bin/x\n# -*- coding: latin-1 -*-\nx = '\xe9'"),
            "#!/bin/x\n# -*- coding: latin-1 -*-\nx = 'é'"
        );
        assert_eq!(python(b"# vim: set fileencoding=iso_8859-15 :\n\xe9"), "# vim: set fileencoding=iso_8859-15 :\né");
        assert_eq!(python(b"x = '\xe9'"), "x = '\u{fffd}'");
        assert_eq!(decode(b"# coding: latin-1\n\xe9", Language::Rust).chars().last(), Some('\u{fffd}'));
    }
}
