//! Numbers and texts: what a literal stands for.

use crate::ir::Const;

/// A number; `None` where it has an imaginary part.
pub(super) fn number(text: &str) -> Option<Const> {
    let plain: String = text.chars().filter(|c| *c != '_').collect::<String>().to_ascii_lowercase();
    let hex = plain.starts_with("0x");
    if plain.ends_with('j') {
        return None;
    }
    let digits = plain.trim_end_matches('l');
    let whole = |digits: &str, base: u32| -> Option<Const> {
        match i64::from_str_radix(digits, base) {
            Ok(value) => Some(Const::Int(value)),
            // Larger than 64 bits.
            Err(_) if base == 10 => digits.parse().ok().map(Const::Float),
            Err(_) => {
                let value = digits.chars().try_fold(0.0f64, |sum, digit| {
                    digit.to_digit(base).map(|digit| sum * f64::from(base) + f64::from(digit))
                });
                value.map(Const::Float)
            }
        }
    };
    if hex {
        return whole(digits.get(2..)?, 16);
    }
    if let Some(octal) = digits.strip_prefix("0o") {
        return whole(octal, 8);
    }
    if let Some(binary) = digits.strip_prefix("0b") {
        return whole(binary, 2);
    }
    if digits.chars().all(|c| c.is_ascii_digit()) {
        if digits.len() > 1 && digits.starts_with('0') && digits.chars().all(|c| ('0'..='7').contains(&c)) {
            return whole(digits, 8);
        }
        return whole(digits, 10);
    }
    digits.parse().ok().map(Const::Float)
}

/// How a string literal begins: what its prefix says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Prefix {
    /// Backslashes stand for themselves.
    pub(super) raw: bool,
    /// `{…}` are values, `{{` is a brace.
    pub(super) format: bool,
    /// Bytes: `\u` and `\N` are no escapes.
    pub(super) bytes: bool,
}

/// Reads the opening of a string literal (`rb"`, `f'''`).
pub(super) fn prefix(start: &str) -> Prefix {
    let has = |wanted: char| start.chars().any(|c| c.eq_ignore_ascii_case(&wanted));
    Prefix { raw: has('r'), format: has('f') || has('t'), bytes: has('b') }
}

/// Decodes the text between the quotes.
pub(super) fn decode(text: &str, prefix: Prefix) -> String {
    let text = if prefix.format { text.replace("{{", "{").replace("}}", "}") } else { text.to_owned() };
    if prefix.raw || !text.contains('\\') {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        let Some(escape) = rest.next() else {
            out.push('\\');
            break;
        };
        let mut numeric = |digits: usize, base: u32, first: u32| {
            let mut value = first;
            for _ in 0..digits {
                match rest.peek().and_then(|c| c.to_digit(base)) {
                    Some(digit) => {
                        value = value.wrapping_mul(base).wrapping_add(digit);
                        rest.next();
                    }
                    None => break,
                }
            }
            char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER)
        };
        match escape {
            'n' => out.push('\n'),
            'r' => out.push('\r'),
            't' => out.push('\t'),
            'a' => out.push('\u{7}'),
            'b' => out.push('\u{8}'),
            'f' => out.push('\u{c}'),
            'v' => out.push('\u{b}'),
            '\\' | '\'' | '"' => out.push(escape),
            '\n' => {}
            '\r' => {
                rest.next_if_eq(&'\n');
            }
            '0'..='7' => out.push(numeric(2, 8, escape.to_digit(8).unwrap_or(0))),
            'x' => out.push(numeric(2, 16, 0)),
            'u' if !prefix.bytes => out.push(numeric(4, 16, 0)),
            'U' if !prefix.bytes => out.push(numeric(8, 16, 0)),
            'N' if !prefix.bytes && rest.peek() == Some(&'{') => {
                // Named characters would need the whole Unicode name table; a text that holds one compares unequal.
                out.push(char::REPLACEMENT_CHARACTER);
                for c in rest.by_ref() {
                    if c == '}' {
                        break;
                    }
                }
            }
            other => {
                out.push('\\');
                out.push(other);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_all_bases() {
        assert_eq!(number("1_000"), Some(Const::Int(1000)));
        assert_eq!(number("0xFFl"), Some(Const::Int(255)));
        assert_eq!(number("0o17"), Some(Const::Int(15)));
        assert_eq!(number("0777"), Some(Const::Int(511)));
        assert_eq!(number("0b101"), Some(Const::Int(5)));
        assert_eq!(number("10L"), Some(Const::Int(10)));
        assert_eq!(number("1e3"), Some(Const::Float(1000.0)));
        assert_eq!(number(".5"), Some(Const::Float(0.5)));
        assert_eq!(number("1."), Some(Const::Float(1.0)));
        assert_eq!(number("3j"), None);
        assert_eq!(number("99999999999999999999"), Some(Const::Float(99_999_999_999_999_999_999.0)));
    }

    #[test]
    fn escapes() {
        let plain = prefix("'");
        assert_eq!(decode(r"a\n\x41\u00e9\101\'", plain), "a\nA\u{e9}A'");
        assert_eq!(decode(r"\d\.", plain), r"\d\.");
        assert_eq!(decode(r"\n", prefix("r'")), r"\n");
        assert_eq!(decode("{{x}}", prefix("f'")), "{x}");
        assert_eq!(decode(r"\u0041", prefix("b'")), r"\u0041");
        assert_eq!(decode("\\", plain), "\\");
    }
}
