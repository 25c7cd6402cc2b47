//! What lock files and manifests say of versions: texts in, pins out.
//!
//! A file is read as far as it is sound; what is wrong with it is told, and what else it says holds.

use serde_json::Value as Json;
use toml::{Table, Value};

use crate::models::versions::{Pin, Version};
use crate::source::Language;

/// What one file says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Said {
    /// Packages with what is said of their version; of several versions of one package all.
    pub pins: Vec<(String, Pin)>,
    /// What is wrong with it, with the line where that is known.
    pub faults: Vec<(Option<usize>, String)>,
}

/// The files that say something, by their names: their language, and whether they tell exactly what is installed.
pub(super) fn sort(name: &str) -> Option<(Language, bool)> {
    let is_list = name.starts_with("requirements") && name.ends_with(".txt");
    match name {
        "uv.lock" | "poetry.lock" | "pdm.lock" | "Pipfile.lock" => Some((Language::Python, true)),
        "pyproject.toml" => Some((Language::Python, false)),
        _ if is_list => Some((Language::Python, false)),
        "Cargo.lock" => Some((Language::Rust, true)),
        "Cargo.toml" => Some((Language::Rust, false)),
        _ => None,
    }
}

/// Reads a file of such a name.
pub(super) fn read(name: &str, bytes: &[u8]) -> Said {
    let mut said = Said::default();
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text.trim_start_matches('\u{feff}'),
        Err(error) => {
            let before = bytes.iter().take(error.valid_up_to()).filter(|byte| **byte == b'\n').count();
            said.faults.push((Some(before + 1), "not UTF-8".to_owned()));
            return said;
        }
    };
    match name {
        "Pipfile.lock" => pipfile(text, &mut said),
        "pyproject.toml" => pyproject(&table(text, &mut said), &mut said),
        "Cargo.toml" => cargo(&table(text, &mut said), &mut said),
        _ if name.ends_with(".lock") => packages(text, &mut said),
        _ => said.pins.extend(text.lines().filter_map(requirement)),
    }
    said
}

/// A manifest; nothing, where it is not sound.
fn table(text: &str, said: &mut Said) -> Table {
    text.parse().unwrap_or_else(|error: toml::de::Error| {
        let line = error.span().map(|span| text.bytes().take(span.start).filter(|byte| *byte == b'\n').count() + 1);
        said.faults.push((line, error.message().trim().to_owned()));
        Table::new()
    })
}

/// Lists of `[[package]]` with `name` and `version`, read line by line: what stands before and behind a fault holds.
fn packages(text: &str, said: &mut Said) {
    let mut name: Option<&str> = None;
    let (mut in_package, mut any) = (false, false);
    for (at, line) in text.lines().enumerate() {
        let line = line.trim_end();
        if ["<<<<<<<", "=======", ">>>>>>>"].iter().any(|mark| line.starts_with(mark)) {
            said.faults.push((Some(at + 1), format!("a mark of a conflict that git left: `{line}`")));
            continue;
        }
        if line.starts_with('[') {
            // Tables within a package have longer names.
            in_package = line == "[[package]]";
            any |= in_package;
            name = None;
            continue;
        }
        if !in_package {
            continue;
        }
        let Some((key, value)) = line.split_once('=') else { continue };
        let Some(value) = value.trim().strip_prefix('"').and_then(|rest| rest.split_once('"')) else { continue };
        match key.trim() {
            "name" => name = Some(value.0),
            "version" => {
                let pin = Version::parse(value.0).map(Pin::Exact);
                match (name, pin) {
                    (Some(name), Some(pin)) => said.pins.push((name.to_owned(), pin)),
                    (Some(name), None) => {
                        said.faults.push((Some(at + 1), format!("`{}` is no version of {name}", value.0)));
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }
    // An empty lock is a sound one; a text without a package or a table is none.
    if !any && !text.trim().is_empty() && !text.lines().any(|line| line.starts_with("version") || line.starts_with('['))
    {
        said.faults.push((Some(1), "no lock file: it lists no `[[package]]`".to_owned()));
    }
}

fn pipfile(text: &str, said: &mut Said) {
    let document: Json = match serde_json::from_str(text) {
        Ok(document) => document,
        Err(error) => {
            said.faults.push((Some(error.line()), error.to_string()));
            return;
        }
    };
    for section in ["default", "develop"] {
        let Some(packages) = document.get(section).and_then(Json::as_object) else { continue };
        for (name, facts) in packages {
            let version = facts.get("version").and_then(Json::as_str);
            said.pins.extend(version.and_then(specifier).map(|pin| (name.clone(), pin)));
        }
    }
}

fn pyproject(table: &Table, said: &mut Said) {
    let lists = |value: Option<&Value>| -> Vec<String> {
        let groups = value.and_then(Value::as_table).into_iter().flat_map(|groups| groups.values());
        let items = groups.filter_map(Value::as_array).flatten();
        items.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    if let Some(project) = table.get("project") {
        let own = project.get("dependencies").and_then(Value::as_array).into_iter().flatten();
        said.pins.extend(own.filter_map(Value::as_str).filter_map(requirement));
        let optional = lists(project.get("optional-dependencies"));
        said.pins.extend(optional.iter().filter_map(|line| requirement(line)));
    }
    said.pins.extend(lists(table.get("dependency-groups")).iter().filter_map(|line| requirement(line)));
    let Some(poetry) = table.get("tool").and_then(|tool| tool.get("poetry")) else { return };
    let groups = poetry.get("group").and_then(Value::as_table).into_iter().flat_map(|groups| groups.values());
    for section in groups.chain([poetry]) {
        dependencies(section.get("dependencies"), said);
        dependencies(section.get("dev-dependencies"), said);
    }
}

fn cargo(table: &Table, said: &mut Said) {
    let targets = table.get("target").and_then(Value::as_table).into_iter().flat_map(|targets| targets.values());
    let targets: Vec<&Value> = targets.collect();
    for key in ["dependencies", "dev-dependencies", "build-dependencies"] {
        dependencies(table.get(key), said);
        dependencies(table.get("workspace").and_then(|workspace| workspace.get(key)), said);
        targets.iter().for_each(|target| dependencies(target.get(key), said));
    }
}

/// `name = "^1.2"` and `name = { version = "1.2" }`, where a bare number stands for all that are compatible with it.
fn dependencies(section: Option<&Value>, said: &mut Said) {
    for (name, value) in section.and_then(Value::as_table).into_iter().flatten() {
        let version = value.as_str().or_else(|| value.get("version").and_then(Value::as_str));
        let name = value.get("package").and_then(Value::as_str).unwrap_or(name);
        let Some(version) = version else { continue };
        let bare = version.trim().starts_with(|first: char| first.is_ascii_digit());
        let pin = if bare { specifier(&format!("^{}", version.trim())) } else { specifier(version) };
        said.pins.extend(pin.map(|pin| (name.to_owned(), pin)));
    }
}

/// One line of a list of requirements: `redis[hiredis]>=5,<6; python_version > "3.8"  # why`.
fn requirement(line: &str) -> Option<(String, Pin)> {
    let line = line.split(" #").next()?.split(';').next()?.trim();
    let end = line.find(|letter: char| !letter.is_ascii_alphanumeric() && !"-_.".contains(letter))?;
    let (name, rest) = line.split_at_checked(end).filter(|(name, _)| !name.is_empty())?;
    let rest = rest.trim_start();
    let rest = if rest.starts_with('[') { rest.split_once(']')?.1 } else { rest };
    Some((name.to_owned(), specifier(rest.trim().trim_matches(['(', ')']))?))
}

/// What a list of conditions leaves: one version, or the newest that is older than one.
fn specifier(text: &str) -> Option<Pin> {
    let pins = text.split(',').filter_map(|part| {
        let part = part.trim();
        let starts = part.find(|letter: char| letter.is_ascii_digit())?;
        let (sign, number) = part.split_at_checked(starts)?;
        let version = Version::parse(number)?;
        let given = number.split(['-', '+']).next()?.split('.').filter(|part| part.parse::<u64>().is_ok()).count();
        let is_open = number.contains('*');
        match sign.trim() {
            "==" | "=" | "===" if is_open => Some(Pin::Below(version.bumped(given.saturating_sub(1)))),
            "==" | "=" | "===" | "<=" => Some(Pin::Exact(version)),
            "<" => Some(Pin::Below(version)),
            // All with the same leading part; where only noughts are given, with the same parts.
            "^" => Some(Pin::Below(version.bumped(version.leading().min(given.saturating_sub(1))))),
            "~=" => Some(Pin::Below(version.bumped(given.saturating_sub(2)))),
            "~" => Some(Pin::Below(version.bumped(given.saturating_sub(1).min(1)))),
            _ => None,
        }
    });
    let end = |pin: &Pin| match pin {
        Pin::Exact(version) => (version.clone(), 1),
        Pin::Below(version) => (version.clone(), 0),
    };
    pins.min_by_key(end)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn pins(name: &str, text: &str) -> Vec<String> {
        let said = read(name, text.as_bytes());
        assert_eq!(said.faults, [], "{text}");
        let shown = |(name, pin): &(String, Pin)| match pin {
            Pin::Exact(version) => format!("{name} {version}"),
            Pin::Below(version) => format!("{name} <{version}"),
        };
        said.pins.iter().map(shown).collect()
    }

    #[test]
    fn locks_tell_versions() {
        let lock = "version = 1\n\n[[package]]\nname = \"redis\"\nversion = \"5.3.1\"\nsource = { registry = \"x\" }\n\n\
                    [package.metadata]\nversion = \"9\"\n\n[[package]]\nname = \"kube\"\nversion = \"3.1.0\"\n";
        for name in ["uv.lock", "poetry.lock", "Cargo.lock"] {
            assert_eq!(pins(name, lock), ["redis 5.3.1", "kube 3.1"]);
        }
        let pipfile =
            "{\"default\": {\"redis\": {\"version\": \"==5.3.1\"}}, \"develop\": {\"own\": {\"path\": \".\"}}}";
        assert_eq!(pins("Pipfile.lock", pipfile), ["redis 5.3.1"]);
    }

    #[test]
    fn requirements_tell_versions_and_ends() {
        let list = "# all\n-r base.txt\nredis[hiredis] == 5.3.1 ; python_version > '3.8'\nbotocore>=1.40,<1.44  # why\n\
                    kubernetes\nopenai~=2.8\nanthropic==1.*\nhttpx>=0.27\nfrom-git @ git+ssh://x/y@v1\nlitellm <= 1.9\n";
        let told = ["redis 5.3.1", "botocore <1.44", "openai <3", "anthropic <2", "litellm 1.9"];
        assert_eq!(pins("requirements-dev.txt", list), told);
        let manifest = "[project]\nname = \"x\"\ndependencies = [\"redis<6\"]\n[project.optional-dependencies]\nai = \
                        [\"openai==1.2\"]\n[tool.poetry.dependencies]\nbotocore = \"^1.34\"\nkube = { version = \"~1.2\" }\n";
        assert_eq!(pins("pyproject.toml", manifest), ["redis <6", "openai 1.2", "botocore <2", "kube <1.3"]);
    }

    #[test]
    fn cargo_reads_a_bare_number_as_compatible() {
        let manifest = "[dependencies]\nkube = \"3\"\nai = { package = \"async-openai\", version = \"0.36.1\" }\n\
                        own = { path = \"../own\" }\nshared.workspace = true\nany = \"*\"\nolder = \">=1, <2\"\n\
                        [target.'cfg(unix)'.dependencies]\nexact = \"=1.2.3\"\n";
        assert_eq!(pins("Cargo.toml", manifest), ["async-openai <0.37", "kube <4", "older <2", "exact 1.2.3"]);
    }

    #[test]
    fn what_is_sound_in_a_broken_file_holds() {
        let lock = "[[package]]\nname = \"redis\"\n<<<<<<< HEAD\nversion = \"5.3.1\"\n=======\nversion = \"6.0.0\"\n>>>>>>> x\n\
                    [[package]]\nname = \"kube\"\nversion = \"3.1.0\"\n";
        let said = read("uv.lock", lock.as_bytes());
        assert_eq!(said.faults.first().unwrap().0, Some(3));
        assert!(said.pins.iter().any(|(name, _)| name == "kube"));
        for (name, text) in
            [("Pipfile.lock", "{\"default\": "), ("poetry.lock", "what?"), ("Cargo.toml", "[dependencies\n")]
        {
            let said = read(name, text.as_bytes());
            assert_eq!((said.pins.len(), said.faults.len()), (0, 1), "{name}");
        }
        assert_eq!(read("uv.lock", b"\n\xff\n").faults, [(Some(2), "not UTF-8".to_owned())]);
    }
}
