//! Patterns for paths, relative to the folder of the configuration file that they stand in.
//!
//! A pattern without a slash fits the name of a file or folder at any depth, one with a slash the path from the folder.
//! `*` and `?` stay within a name, `**` does not. What lies in a folder that fits is meant with it.

use std::path::{Component, Path};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use super::Said;

/// Some patterns.
#[derive(Debug, Clone, Default)]
pub struct Globs {
    set: GlobSet,
    /// As they are written.
    pub patterns: Vec<Said<String>>,
}

impl Globs {
    /// Reads patterns; each faulty one is left out, and what is wrong with it is told.
    pub(super) fn new(patterns: Vec<Said<String>>, mut fault: impl FnMut(&Said<String>, String)) -> Globs {
        let mut builder = GlobSetBuilder::new();
        let mut kept = Vec::new();
        for pattern in patterns {
            match glob(&pattern.value) {
                Ok(glob) => {
                    builder.add(glob);
                    kept.push(pattern);
                }
                Err(message) => fault(&pattern, message),
            }
        }
        match builder.build() {
            Ok(set) => Globs { set, patterns: kept },
            // Each is sound, and they are put together into one.
            Err(_) => {
                if let Some(first) = kept.first() {
                    fault(first, format!("{} patterns are too large together", kept.len()));
                }
                Globs::default()
            }
        }
    }

    /// The pattern that fits this path itself, whatever fits the folders above it.
    #[must_use]
    pub fn fitting(&self, folder: &Path, path: &Path) -> Option<&Said<String>> {
        if self.patterns.is_empty() {
            return None;
        }
        self.first(&relative(folder, path)?)
    }

    /// The pattern that fits this path or a folder above it.
    #[must_use]
    pub fn within(&self, folder: &Path, path: &Path) -> Option<&Said<String>> {
        if self.patterns.is_empty() {
            return None;
        }
        let path = relative(folder, path)?;
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        ends.filter_map(|end| path.get(..end)).filter(|part| !only_upwards(part)).find_map(|part| self.first(part))
    }

    fn first(&self, path: &str) -> Option<&Said<String>> {
        self.set.matches(path).first().and_then(|at| self.patterns.get(*at))
    }
}

fn glob(pattern: &str) -> Result<globset::Glob, String> {
    let refuse = |why: &str| Err(format!("`{pattern}`: {why}"));
    let anchored = pattern.strip_prefix("./").or_else(|| pattern.strip_prefix('/'));
    let text = anchored.unwrap_or(pattern).trim_end_matches('/');
    if text.is_empty() {
        return refuse("the pattern is empty");
    }
    if pattern.starts_with('!') {
        return refuse("a pattern cannot begin with `!`: there are no exceptions from a list");
    }
    let inner = text.split('/').skip_while(|part| *part == "..");
    if inner.clone().next().is_none() || inner.clone().any(|part| part == ".." || part == "." || part.is_empty()) {
        return refuse("`.`, `..` and empty parts can stand at the front only");
    }
    let text = if anchored.is_none() && !text.contains('/') { format!("**/{text}") } else { text.to_owned() };
    let built = GlobBuilder::new(&text).literal_separator(true).backslash_escape(true).build();
    built.or_else(|error| refuse(&format!("no pattern for paths: {}", error.kind())))
}

/// The path as seen from a folder, with `/`; `None` for the folder itself and those above it.
fn relative(folder: &Path, path: &Path) -> Option<String> {
    let (mut from, mut to) = (folder.components().peekable(), path.components().peekable());
    while from.peek().is_some() && from.peek() == to.peek() {
        from.next();
        to.next();
    }
    let mut text = "../".repeat(from.count());
    let parts: Vec<_> = to
        .filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_string_lossy()),
            _ => None,
        })
        .collect();
    text.push_str(&parts.join("/"));
    (!parts.is_empty()).then_some(text)
}

fn only_upwards(path: &str) -> bool {
    path.split('/').all(|part| part == "..")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn globs(patterns: &[&str]) -> Globs {
        let said = |text: &&str| Said { value: (*text).to_owned(), line: 1 };
        Globs::new(patterns.iter().map(said).collect(), |_, message| panic!("{message}"))
    }

    fn fits(pattern: &str, path: &str) -> bool {
        globs(&[pattern]).within(Path::new("/repo/app"), Path::new(path)).is_some()
    }

    #[test]
    fn a_name_fits_at_any_depth_and_a_path_from_the_folder() {
        assert!(fits("gen", "/repo/app/gen/a.py"));
        assert!(fits("gen", "/repo/app/x/gen/deep/a.py"));
        assert!(fits("*_pb2.py", "/repo/app/x/y_pb2.py"));
        assert!(!fits("gen", "/repo/app/general/a.py"));
        assert!(fits("x/gen", "/repo/app/x/gen/a.py"));
        assert!(!fits("x/gen", "/repo/app/y/x/gen/a.py"));
        assert!(fits("**/x/gen/**", "/repo/app/y/x/gen/a.py"));
        assert!(fits("/gen", "/repo/app/gen/a.py") && fits("./gen/", "/repo/app/gen/a.py"));
        assert!(!fits("/gen", "/repo/app/x/gen/a.py"));
        assert!(fits("tests/*.py", "/repo/app/tests/a.py"));
        assert!(!fits("tests/*.py", "/repo/app/tests/x/a.py"));
        assert!(fits("{a,b}/**", "/repo/app/b/c.rs"));
    }

    #[test]
    fn folders_above_the_configuration_do_not_count() {
        assert!(!fits("app", "/repo/app/a.py"));
        assert!(!fits("repo", "/repo/app/a.py"));
        assert!(fits("gen", "/repo/other/gen/a.py"), "with --config a file may lie outside");
        assert!(fits("../other/**", "/repo/other/a.py"));
        assert!(!fits("../other/**", "/repo/app/other/a.py"));
        assert!(!fits("*", "/repo"));
    }

    #[test]
    fn a_path_itself_is_told_from_what_it_lies_in() {
        let globs = globs(&["gen", "x/*.py"]);
        let fitting = |path: &str| globs.fitting(Path::new("/r"), Path::new(path)).map(|said| said.value.as_str());
        assert_eq!(fitting("/r/a/gen"), Some("gen"));
        assert_eq!(fitting("/r/a/gen/b.py"), None);
        assert_eq!(fitting("/r/x/b.py"), Some("x/*.py"));
    }

    /// Whatever somebody writes: it is refused, or tried in a time that follows from its length and the path's.
    #[test]
    fn no_pattern_takes_for_ever() {
        let path = format!("/repo/app/{}", "a".repeat(200));
        let all = ["*a".repeat(2000), "{a,b}".repeat(2000), "**/".repeat(2000) + "a", "[a-z]*".repeat(2000)];
        for pattern in all.iter().map(String::as_str).chain([&*format!("{}a{}", "{a,".repeat(500), "}".repeat(500))]) {
            let mut faults = Vec::new();
            let said = Said { value: pattern.to_owned(), line: 1 };
            let globs = Globs::new(vec![said], |_, message| faults.push(message));
            assert!(globs.patterns.len() + faults.len() == 1, "{faults:?}");
            assert!(globs.within(Path::new("/repo/app"), Path::new(&path)).is_none(), "{pattern}");
        }
        let many = (0..20_000).map(|at| Said { value: format!("*{at}*b{at}*"), line: at });
        let mut faults = Vec::new();
        let globs = Globs::new(many.collect(), |_, message| faults.push(message));
        assert!(globs.patterns.is_empty());
        assert_eq!(faults, ["20000 patterns are too large together"]);
    }

    #[test]
    fn faulty_patterns_are_told_of() {
        for pattern in ["", "/", "!a", "a/../b", "..", "a//b", "[a", "{a"] {
            let mut faults = Vec::new();
            let said = Said { value: pattern.to_owned(), line: 3 };
            let globs = Globs::new(vec![said], |said, message| faults.push((said.line, message)));
            assert!(globs.patterns.is_empty() && faults.len() == 1, "{pattern}: {faults:?}");
            assert!(faults.first().unwrap().1.starts_with(&format!("`{pattern}`: ")), "{faults:?}");
        }
    }
}
