//! Versions of libraries: which one a project has, and in which of them an entry holds.
//!
//! An entry holds from `since` (inclusive) to `until` (exclusive) of its library's package. Where it is not known which
//! version a project has, the newest is assumed.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::{AllModels, Entry, Models};
use crate::source::Language;

/// The numbers of a version, whatever else it says (`2.0.0rc1` is as good as 2.0.0); missing ones are nought.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Version(Vec<u64>);

impl Version {
    /// Reads a version that begins with a number.
    #[must_use]
    pub fn parse(text: &str) -> Option<Version> {
        let text = text.trim().trim_start_matches(['v', 'V']);
        // An epoch stands before everything else, and is hardly ever there.
        let text = text.split_once('!').map_or(text, |(_, rest)| rest);
        let mut parts = Vec::new();
        for part in text.split(['.', '-', '+']) {
            let digits = part.len() - part.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
            let (number, rest) = part.split_at_checked(digits)?;
            match number.parse() {
                Ok(number) => parts.push(number),
                Err(_) => break,
            }
            if !rest.is_empty() {
                break;
            }
        }
        while parts.len() > 1 && parts.last() == Some(&0) {
            parts.pop();
        }
        (!parts.is_empty()).then_some(Version(parts))
    }

    /// The first version that differs in the part at `place`: 1.4.2 bumped at 1 is 1.5.
    #[must_use]
    pub fn bumped(&self, place: usize) -> Version {
        let mut parts: Vec<u64> = self.0.iter().copied().chain(std::iter::repeat(0)).take(place + 1).collect();
        if let Some(last) = parts.last_mut() {
            *last = last.saturating_add(1);
        }
        Version(parts)
    }

    /// The place of the first part that is not nought.
    #[must_use]
    pub fn leading(&self) -> usize {
        self.0.iter().position(|part| *part != 0).unwrap_or(0)
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let parts: Vec<String> = self.0.iter().map(u64::to_string).collect();
        f.write_str(&parts.join("."))
    }
}

/// What is said of a package's version.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Pin {
    /// This one.
    Exact(Version),
    /// The newest that is older than this.
    Below(Version),
}

/// What is said of a package's version, and where.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Pinned {
    /// The version.
    pub pin: Pin,
    /// The file that says so, as it is printed.
    pub file: Arc<str>,
}

impl Pinned {
    fn holds(&self, since: Option<&Version>, until: Option<&Version>) -> bool {
        match &self.pin {
            Pin::Exact(version) => {
                since.is_none_or(|since| since <= version) && until.is_none_or(|until| version < until)
            }
            Pin::Below(end) => since.is_none_or(|since| since < end) && until.is_none_or(|until| until >= end),
        }
    }
}

/// The versions of the packages of a project, by language and name.
pub type Versions = BTreeMap<(Language, Arc<str>), Pinned>;

/// A package's name as it is compared: `Async_OpenAI` is `async-openai`.
#[must_use]
pub fn normal(name: &str) -> String {
    name.to_ascii_lowercase().replace(['_', '.'], "-")
}

/// What is wrong with the range of an entry.
pub(super) fn fault(entry: &Entry) -> Option<String> {
    for (key, text) in [("since", &entry.since), ("until", &entry.until)] {
        if let Some(text) = text
            && Version::parse(text).is_none()
        {
            return Some(format!("`{key} = \"{text}\"` is no version such as \"1.44\""));
        }
    }
    let ends = entry.since.as_deref().and_then(Version::parse).zip(entry.until.as_deref().and_then(Version::parse));
    let (since, until) = ends?;
    (since >= until).then(|| {
        "`since` is the first version in which it holds, and `until` the first one after: no version \
                              is between them"
            .to_owned()
    })
}

/// Whether there can be a version in which both entries hold.
#[must_use]
pub fn overlap(one: &Entry, other: &Entry) -> bool {
    let version = |text: &Option<String>| text.as_deref().and_then(Version::parse);
    let before = |left: &Entry, right: &Entry| match (version(&left.until), version(&right.since)) {
        (Some(until), Some(since)) => until.cmp(&since) != Ordering::Greater,
        _ => false,
    };
    !before(one, other) && !before(other, one)
}

impl AllModels {
    /// The packages whose version matters, of one language.
    #[must_use]
    pub fn versioned(&self, language: Language) -> Vec<&str> {
        let models = self.of(language);
        let ranged = models.entries().iter().filter(|entry| is_ranged(entry));
        let mut names: Vec<&str> = ranged.map(|entry| &*entry.package).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

impl Models {
    /// What is to be told of the version that an entry holds in; nothing where it holds in any.
    #[must_use]
    pub fn version_note(&self, entry: &Entry) -> Option<String> {
        if !is_ranged(entry) {
            return None;
        }
        Some(match self.versions.get(&*entry.package) {
            Some(Pinned { pin: Pin::Exact(version), file }) => format!("{} {version}, by {file}", entry.package),
            Some(Pinned { pin: Pin::Below(end), file }) => format!("{} before {end}, by {file}", entry.package),
            None => format!("the newest {} is assumed: no lock file or manifest tells its version", entry.package),
        })
    }

    /// Whether an entry holds in the version that the project has.
    #[must_use]
    pub fn holds(&self, entry: &Entry) -> bool {
        if !is_ranged(entry) {
            return true;
        }
        let version = |text: &Option<String>| text.as_deref().and_then(Version::parse);
        match self.versions.get(&*entry.package) {
            Some(pinned) => pinned.holds(version(&entry.since).as_ref(), version(&entry.until).as_ref()),
            None => entry.until.is_none(),
        }
    }
}

fn is_ranged(entry: &Entry) -> bool {
    entry.since.is_some() || entry.until.is_some()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn version(text: &str) -> Version {
        Version::parse(text).unwrap()
    }

    #[test]
    fn versions_are_compared_by_their_numbers() {
        for (older, newer) in [("1.43.127", "1.44"), ("1.9", "1.10"), ("0.36.1", "0.39.0"), ("3.9.9", "4.0.0rc1")] {
            assert!(version(older) < version(newer), "{older} < {newer}");
        }
        assert_eq!(version("2"), version("2.0.0"));
        assert_eq!(version("1!2.3.post1"), version("2.3"));
        assert_eq!((Version::parse("latest"), Version::parse("")), (None, None));
        assert_eq!(
            (version("0.36.1").bumped(1).to_string(), version("1").bumped(0).to_string()),
            ("0.37".into(), "2".into())
        );
    }

    #[test]
    fn an_entry_holds_in_its_range_and_the_newest_is_assumed() {
        let model = "library = \"net\"\npackage = \"Net_Kit\"\n\
                     [[entry]]\nkind = \"type\"\nfunctions = [\"net.Client\"]\ndefault-retries = 2\nuntil = \"4\"\n\
                     [[entry]]\nkind = \"type\"\nfunctions = [\"net.Client\"]\ndefault-retries = 15\nsince = \"4\"\n";
        let (models, errors) = Models::load(&[("net.toml", model)]);
        assert_eq!(errors, []);
        let told = |versions: &[Pin]| {
            let pinned = |pin: &Pin| {
                let name: Arc<str> = "net-kit".into();
                ((Language::Python, name), Pinned { pin: pin.clone(), file: "uv.lock".into() })
            };
            let models = models.at(Language::Python, &versions.iter().map(pinned).collect());
            let entry = models.function("net.Client").unwrap();
            (entry.default_retries.unwrap(), models.version_note(entry).unwrap())
        };
        let newest = "the newest net-kit is assumed: no lock file or manifest tells its version";
        assert_eq!(told(&[]), (15, newest.to_owned()));
        assert_eq!(told(&[Pin::Exact(version("3.9"))]), (2, "net-kit 3.9, by uv.lock".to_owned()));
        assert_eq!(told(&[Pin::Exact(version("4.0.0"))]).0, 15);
        assert_eq!(told(&[Pin::Below(version("4"))]), (2, "net-kit before 4, by uv.lock".to_owned()));
        assert_eq!(told(&[Pin::Below(version("5"))]).0, 15);
    }
}
