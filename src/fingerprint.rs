//! What makes a finding recognisable in the next run, although lines have moved.
//!
//! Two kinds, for two readers. [`Fingerprints`] gives stormlint's own: a hash of the rule, the function and the finding's
//! key, with an ordinal among equals. It survives lines that are added above, a moved or renamed file, reformatting, and
//! variables that get other names. [`line_hashes`] is the hash that code-scanning
//! services compute for each line when they get no other (a rolling hash over the next 100 characters); their upload
//! action compares it with its own, so it has to be exact.

use rustc_hash::FxHashMap;

use crate::diagnostic::Diagnostic;

/// Gives out fingerprints for the findings of one file, in source order.
#[derive(Debug, Default)]
pub struct Fingerprints {
    seen: FxHashMap<u64, u64>,
}

/// What one finding is recognised by: each 16 hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Fingerprint {
    /// No other finding of the file has it.
    pub own: String,
    /// Without the function's name and without an ordinal: what stays where code goes to another function.
    pub shape: String,
}

impl Fingerprints {
    /// The fingerprint of the next finding.
    pub fn next(&mut self, diagnostic: &Diagnostic) -> Fingerprint {
        let mut shape = Fnv::default();
        shape.part(diagnostic.rule);
        shape.part(&diagnostic.key);
        let mut own = Fnv(shape.0);
        own.part(&diagnostic.function);
        let ordinal = self.seen.entry(own.0).or_default();
        own.text(ordinal.to_string().chars());
        *ordinal += 1;
        Fingerprint { own: format!("{:016x}", own.finish()), shape: format!("{:016x}", shape.finish()) }
    }
}

/// A fingerprint that no other file's finding has, for readers that keep no paths beside it: 32 hexadecimal digits.
#[must_use]
pub fn in_file(path: &str, fingerprint: &str) -> String {
    let mut hash = Fnv::default();
    hash.part(path);
    format!("{:016x}{fingerprint}", hash.finish())
}

/// FNV-1a with a final mix: short, and the same on every machine and in every release.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Fnv(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    fn byte(&mut self, byte: u8) {
        self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }

    fn text(&mut self, text: impl Iterator<Item = char>) {
        for c in text {
            let mut buffer = [0; 4];
            c.encode_utf8(&mut buffer).bytes().for_each(|byte| self.byte(byte));
        }
        self.byte(0xff);
    }

    fn part(&mut self, text: &str) {
        self.text(text.chars());
    }

    fn finish(&self) -> u64 {
        let mut hash = self.0;
        hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        hash = (hash ^ (hash >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        hash ^ (hash >> 33)
    }
}

const BLOCK: usize = 100;
const MOD: u64 = 37;
const END: u16 = 0xffff;
const TAB: u16 = 9;
const LF: u16 = 10;
const CR: u16 = 13;
const SPACE: u16 = 32;

/// The hash of each line of a text, with a count among equal hashes: `"d4c365becc5d231e:1"`. The first one is line 1.
#[must_use]
pub fn line_hashes(text: &str) -> Vec<String> {
    let mut rolling = Rolling::default();
    for unit in text.encode_utf16() {
        rolling.take(unit);
    }
    rolling.take(END);
    rolling.flush();
    rolling.lines
}

/// A window over the last [`BLOCK`] code units that are neither blank nor tab. The hash of a line is that of the
/// window which begins with the line's first character, so it is known only once the window has moved past it.
struct Rolling {
    window: [u16; BLOCK],
    /// For each place of the window, whether a line begins there.
    starts: [bool; BLOCK],
    at: usize,
    hash: u64,
    line_start: bool,
    after_cr: bool,
    counts: FxHashMap<u64, u32>,
    lines: Vec<String>,
}

impl Default for Rolling {
    fn default() -> Self {
        Rolling {
            window: [0; BLOCK],
            starts: [false; BLOCK],
            at: 0,
            hash: 0,
            line_start: true,
            after_cr: false,
            counts: FxHashMap::default(),
            lines: Vec::new(),
        }
    }
}

impl Rolling {
    fn take(&mut self, unit: u16) {
        if unit == SPACE || unit == TAB || (self.after_cr && unit == LF) {
            self.after_cr = false;
            return;
        }
        self.after_cr = unit == CR;
        let unit = if unit == CR { LF } else { unit };
        self.put_out();
        if self.line_start
            && let Some(start) = self.starts.get_mut(self.at)
        {
            *start = true;
        }
        self.line_start = unit == LF;
        self.roll(unit);
    }

    fn flush(&mut self) {
        for _ in 0..BLOCK {
            self.put_out();
            self.roll(0);
        }
    }

    /// If the oldest character of the window begins a line, the window is that line's.
    fn put_out(&mut self) {
        if let Some(start) = self.starts.get_mut(self.at)
            && std::mem::take(start)
        {
            let count = self.counts.entry(self.hash).or_default();
            *count += 1;
            self.lines.push(format!("{:x}:{count}", self.hash));
        }
    }

    fn roll(&mut self, unit: u16) {
        const FIRST: u64 = MOD.wrapping_pow(BLOCK as u32);
        if let Some(place) = self.window.get_mut(self.at) {
            let oldest = std::mem::replace(place, unit);
            self.hash = self
                .hash
                .wrapping_mul(MOD)
                .wrapping_add(u64::from(unit))
                .wrapping_sub(FIRST.wrapping_mul(u64::from(oldest)));
        }
        self.at = (self.at + 1) % BLOCK;
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;
    use crate::diagnostic::{Confidence, Level};
    use crate::source::Span;

    #[test]
    fn line_hashes_agree_with_the_vectors() {
        let vectors: serde_json::Value =
            serde_json::from_str(include_str!("../testdata/sarif/line-hashes.json")).unwrap();
        let mut compared = 0;
        for (name, vector) in vectors.as_object().unwrap() {
            let lines = line_hashes(vector["text"].as_str().unwrap());
            for (line, hash) in vector["lines"].as_object().unwrap() {
                let at: usize = line.parse().unwrap();
                assert_eq!(Some(lines[at - 1].as_str()), hash.as_str(), "{name} line {line}");
                compared += 1;
            }
        }
        assert_eq!(compared, 40);
    }

    #[test]
    fn a_thousand_equal_lines_are_counted() {
        let lines = line_hashes(&"go()\n".repeat(1000));
        assert_eq!(lines.len(), 1001);
        assert!(lines.iter().any(|hash| hash.ends_with(":2")));
    }

    fn finding(function: &str, key: &str) -> Diagnostic {
        Diagnostic {
            rule: "unbounded-retry",
            level: Level::Error,
            confidence: Confidence::High,
            span: Span::default(),
            message: String::new(),
            why: String::new(),
            help: String::new(),
            labels: Vec::new(),
            extent: Vec::new(),
            function: function.to_owned(),
            key: key.to_owned(),
        }
    }

    #[test]
    fn a_fingerprint_tells_equals_and_functions_apart() {
        let mut prints = Fingerprints::default();
        let first = prints.next(&finding("f", "get()"));
        let second = prints.next(&finding("f", "get()"));
        let other = prints.next(&finding("g", "get()"));
        assert!(first.own != second.own && first.own != other.own);
        assert!(first.shape == second.shape && first.shape == other.shape);
        assert_eq!(first, Fingerprints::default().next(&finding("f", "get()")));
        assert_ne!(first.shape, prints.next(&finding("f", "put()")).shape);
        assert_eq!((first.own.len(), first.shape.len()), (16, 16));
        assert_ne!(in_file("a.py", &first.own), in_file("b.py", &first.own));
        assert_eq!(in_file("a.py", &first.own).len(), 32);
    }
}
