//! Sets of HTTP statuses from 100 to 599, one bit each.
//!
//! Conditions on a status (`< 500`, `in (429, 503)`, `// 100 == 5`, `is_server_error()`) are solved over these sets, so
//! that it is known exactly which statuses take which path.

use std::fmt;

use serde::{Deserialize, Serialize};

const FIRST: u16 = 100;
const LAST: u16 = 599;
const WORDS: usize = 8;

/// A set of statuses.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub struct StatusSet([u64; WORDS]);

impl StatusSet {
    /// No status.
    pub const EMPTY: StatusSet = StatusSet([0; WORDS]);

    /// The statuses with which a server may say how long to wait (RFC 9110, section 10.2.3; RFC 6585, section 4).
    pub const ADVISED: [u16; 2] = [429, 503];

    /// Those of [`Self::ADVISED`].
    #[must_use]
    pub fn advised() -> Self {
        Self::of(|status| Self::ADVISED.contains(&status))
    }

    /// Every status.
    #[must_use]
    pub fn all() -> Self {
        Self::range(FIRST, LAST)
    }

    /// Those that a caller means to get: 100 to 399.
    #[must_use]
    pub fn success() -> Self {
        Self::range(100, 399)
    }

    /// 400 to 599.
    #[must_use]
    pub fn errors() -> Self {
        Self::range(400, 599)
    }

    /// From `low` to `high`, both included; what is outside 100–599 is cut off.
    #[must_use]
    pub fn range(low: u16, high: u16) -> Self {
        Self::of(|status| low <= status && status <= high)
    }

    /// One status.
    #[must_use]
    pub fn one(status: u16) -> Self {
        Self::range(status, status)
    }

    /// Those for which a predicate holds.
    #[must_use]
    pub fn of(mut predicate: impl FnMut(u16) -> bool) -> Self {
        let mut set = Self::EMPTY;
        for status in FIRST..=LAST {
            if predicate(status) {
                let bit = usize::from(status - FIRST);
                if let Some(word) = set.0.get_mut(bit / 64) {
                    *word |= 1 << (bit % 64);
                }
            }
        }
        set
    }

    /// Whether a status is in it.
    #[must_use]
    pub fn contains(&self, status: u16) -> bool {
        status
            .checked_sub(FIRST)
            .is_some_and(|bit| self.0.get(usize::from(bit) / 64).is_some_and(|word| word >> (bit % 64) & 1 == 1))
    }

    /// Whether nothing is in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    /// How many.
    #[must_use]
    pub fn len(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// In both.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|at| self.word(at) & other.word(at)))
    }

    /// In either.
    #[must_use]
    pub fn or(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|at| self.word(at) | other.word(at)))
    }

    /// In this one, not in the other.
    #[must_use]
    pub fn minus(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|at| self.word(at) & !other.word(at)))
    }

    /// All that are not in it.
    #[must_use]
    pub fn complement(&self) -> Self {
        Self::all().minus(self)
    }

    fn word(&self, at: usize) -> u64 {
        self.0.get(at).copied().unwrap_or(0)
    }

    /// In order.
    pub fn iter(&self) -> impl Iterator<Item = u16> + '_ {
        (FIRST..=LAST).filter(|status| self.contains(*status))
    }

    /// From text such as `"429,500-599"`; `None` where it is not of that form.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut set = Self::EMPTY;
        for part in text.split(',') {
            let (low, high) = part.trim().split_once('-').unwrap_or((part.trim(), part.trim()));
            let (low, high) = (low.trim().parse().ok()?, high.trim().parse().ok()?);
            set = set.or(&Self::range(low, high));
        }
        Some(set)
    }
}

impl fmt::Display for StatusSet {
    /// `429,500-599`
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut first = true;
        let mut statuses = self.iter().peekable();
        while let Some(low) = statuses.next() {
            let mut high = low;
            while statuses.peek() == Some(&(high + 1)) {
                high = statuses.next().unwrap_or(high);
            }
            let comma = if first { "" } else { "," };
            first = false;
            if low == high {
                write!(out, "{comma}{low}")?;
            } else {
                write!(out, "{comma}{low}-{high}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for StatusSet {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{{{self}}}")
    }
}
