//! What the pages, the recipes and the package promise.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, missing_docs)]

mod common;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{Folder, out, stormlint};
use yaml_rust2::{Yaml, YamlLoader};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The pages for people: path and text.
fn pages() -> Vec<(String, String)> {
    let mut paths: Vec<String> = ["README.md", "CONTRIBUTING.md"].map(str::to_owned).to_vec();
    for entry in std::fs::read_dir(root().join("docs")).unwrap() {
        paths.push(format!("docs/{}", entry.unwrap().file_name().into_string().unwrap()));
    }
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), read(&path))).collect()
}

/// The fenced blocks of a page in this language.
fn fences<'a>(page: &'a str, language: &str) -> Vec<&'a str> {
    let open = format!("```{language}\n");
    page.split(&open).skip(1).map(|rest| rest.split("```").next().unwrap()).collect()
}

fn yaml(what: &str, text: &str) -> Yaml {
    let mut documents = YamlLoader::load_from_str(text).unwrap_or_else(|error| panic!("{what}: {error}\n{text}"));
    assert_eq!(documents.len(), 1, "{what}");
    documents.remove(0)
}

/// All values of this key, wherever they stand.
fn values<'a>(tree: &'a Yaml, key: &str, found: &mut Vec<&'a Yaml>) {
    match tree {
        Yaml::Hash(map) => {
            for (name, value) in map {
                if name.as_str() == Some(key) {
                    found.push(value);
                }
                values(value, key, found);
            }
        }
        Yaml::Array(items) => items.iter().for_each(|item| values(item, key, found)),
        _ => {}
    }
}

/// The recipes, the action and the hook: what they are called, and their text.
fn workflows() -> Vec<(String, String)> {
    let mut all: Vec<_> = ["action.yml", ".pre-commit-hooks.yaml"].map(|path| (path.to_owned(), read(path))).to_vec();
    for (path, text) in pages() {
        all.extend(fences(&text, "yaml").into_iter().map(|recipe| (path.clone(), recipe.to_owned())));
    }
    all
}

#[test]
fn recipes_are_read_and_pin_what_they_use() {
    let workflows = workflows();
    assert!(workflows.len() >= 9, "recipes were not found");
    for (path, text) in &workflows {
        let tree = yaml(path, text);
        let mut used = Vec::new();
        values(&tree, "uses", &mut used);
        for action in used {
            let action = action.as_str().unwrap();
            let commit = action.split_once('@').map_or("", |(_, commit)| commit);
            assert!(commit.len() == 40 && commit.chars().all(|c| c.is_ascii_hexdigit()), "{path}: {action}");
        }
        let mut scripts = Vec::new();
        values(&tree, "run", &mut scripts);
        for script in scripts {
            assert!(!script.as_str().unwrap().contains("${{"), "{path}: what is put into a script can end it: {text}");
        }
    }
    for (path, text) in pages() {
        for block in fences(&text, "json") {
            let read = serde_json::from_str::<serde_json::Value>(block);
            assert!(read.is_ok(), "{path}: {}", read.unwrap_err());
        }
    }
}

#[test]
fn the_hook_is_what_the_recipes_name() {
    let hook = yaml("the hook", &read(".pre-commit-hooks.yaml"));
    assert_eq!(hook[0]["id"].as_str(), Some("stormlint"));
    let args = hook[0]["args"].as_vec().unwrap();
    assert_eq!(args.last().and_then(Yaml::as_str), Some("--"), "names of files are no options");
}

/// The arguments of each call of stormlint in a script, without those that only the shell knows.
fn calls(script: &str) -> Vec<Vec<String>> {
    let script = script.replace("\\\n", " ").replace(['"', '\''], "").replace("$INPUT_FAIL_ON", "never");
    let commands = script.lines().flat_map(|line| line.split(" #").next().unwrap_or_default().split(['|', '&']));
    commands
        .filter_map(|command| {
            let mut words = command.split_whitespace();
            let program = words.next()?.rsplit('/').next()?;
            let args = words.filter(|word| !word.contains("${")).map(str::to_owned).collect();
            (program == "stormlint").then_some(args)
        })
        .collect()
}

#[test]
fn calls_in_the_pages_are_understood() {
    let mut counted = 0;
    let mut texts: Vec<(String, String)> = pages()
        .iter()
        .flat_map(|(path, text)| fences(text, "sh").into_iter().map(|fence| (path.clone(), fence.to_owned())))
        .collect();
    for (path, text) in workflows() {
        let tree = yaml(&path, &text);
        let mut scripts = Vec::new();
        values(&tree, "run", &mut scripts);
        values(&tree, "script", &mut scripts);
        for script in scripts {
            let lines = script.as_vec().map_or_else(|| vec![script], |lines| lines.iter().collect());
            texts.extend(lines.iter().filter_map(|line| Some((path.clone(), line.as_str()?.to_owned()))));
        }
    }
    for (path, text) in texts {
        for call in calls(&text) {
            // With --help, arguments are read and nothing is done; it has to stand before a `--`.
            let at = call.iter().position(|word| word == "--").unwrap_or(call.len());
            let mut args: Vec<&str> = call.iter().map(String::as_str).collect();
            args.insert(at, "--help");
            let output = stormlint(&root(), &args);
            assert_eq!(output.status.code(), Some(0), "{path}: {call:?}: {}", common::err(&output));
            counted += 1;
        }
    }
    assert!(counted >= 8, "calls were not found: {counted}");
}

#[test]
fn the_project_has_one_address() {
    for (path, text) in pages().into_iter().chain(workflows()) {
        for (at, _) in text.match_indices("https://") {
            let address = text[at..].split(|c: char| c.is_whitespace() || ")\"`>".contains(c)).next().unwrap();
            let is_own = address.starts_with(env!("CARGO_PKG_REPOSITORY"));
            assert!(is_own || !address.contains("stormlint"), "{path}: {address}");
        }
    }
    assert!(env!("CARGO_PKG_REPOSITORY").starts_with("https://"));
}

#[test]
fn the_readme_shows_what_the_program_prints() {
    let readme = read("README.md");
    let section = |name: &str| {
        let rest = readme.split(&format!("\n## {name}\n")).nth(1).unwrap_or_else(|| panic!("no section {name}"));
        rest.split("\n## ").next().unwrap().to_owned()
    };
    let catches = section("What it catches");
    let program = fences(&catches, "python")[0];
    assert_eq!(program.lines().filter(|line| !line.is_empty() && !line.starts_with("import")).count(), 5);
    let folder = Folder::new("readme");
    folder.write("webhook.py", program);
    let shown = fences(&catches, "text");
    let select = ["webhook.py", "--select", "unbounded-retry", "--quiet"];
    let printed = [
        out(&stormlint(&folder.0, &select)).trim_end().to_owned() + "\n",
        out(&stormlint(&folder.0, &["webhook.py", "--output-format", "concise"])),
    ];
    if std::env::var_os("STORMLINT_BLESS").is_some() {
        let blessed = readme.replacen(shown[0], &printed[0], 1).replacen(shown[1], &printed[1], 1);
        std::fs::write(root().join("README.md"), blessed).unwrap();
    } else {
        assert_eq!(shown, [&printed[0], &printed[1]], "the output in README.md; STORMLINT_BLESS=1 writes it");
    }
    let commands: Vec<_> = section("Set-up")
        .lines()
        .filter(|line| line.starts_with("cargo ") || line.starts_with("bash "))
        .map(str::to_owned)
        .collect();
    assert_eq!(commands.len(), 2, "{commands:?}");
}

/// What the sources take in when they are compiled.
fn included() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for entry in walkdir::WalkDir::new(root().join("src")).into_iter().filter_map(Result::ok) {
        let path = entry.path();
        if path.extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        let text = std::fs::read_to_string(path).unwrap();
        let code = text.split("#[cfg(test)]\nmod ").next().unwrap();
        for rest in code.split("include_str!(\"").skip(1) {
            let target = path.parent().unwrap().join(rest.split('"').next().unwrap());
            let target = target.canonicalize().unwrap_or_else(|error| panic!("{}: {error}", target.display()));
            found.insert(target.strip_prefix(root()).unwrap().to_string_lossy().replace('\\', "/"));
        }
    }
    found
}

#[test]
fn the_package_holds_what_building_takes_and_no_more() {
    let output = Command::new(env!("CARGO"))
        .args(["package", "--list", "--allow-dirty", "--offline", "--quiet"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let listed: BTreeSet<String> = out(&output).lines().map(str::to_owned).collect();
    let included = included();
    assert!(included.len() > 40, "what is included was not found");
    for path in included.iter().map(String::as_str).chain(["Cargo.lock", "LICENSE-MIT", "README.md", "src/main.rs"]) {
        assert!(listed.contains(path), "{path} is not in the package");
    }
    let rest: Vec<_> = listed
        .iter()
        .filter(|path| ["tests/", "testdata/", ".ci/", "docs/"].iter().any(|folder| path.starts_with(folder)))
        .collect();
    assert!(rest.is_empty(), "{rest:?}");
    assert!(Path::new(&root()).join("rules").is_dir());
}

/// Each dependency has a reason, and each reason a dependency.
#[test]
fn dependencies_are_named_with_their_reasons() {
    let manifest: toml::Table = read("Cargo.toml").parse().unwrap();
    let of = |table: &str| manifest[table].as_table().unwrap().keys().cloned().collect::<Vec<_>>();
    let wanted: BTreeSet<String> = ["dependencies", "dev-dependencies"].into_iter().flat_map(of).collect();
    let page = read("CONTRIBUTING.md");
    let section = page.split("## A dependency").nth(1).unwrap().split("\n## ").next().unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| `"));
    let cells = rows.flat_map(|row| row.split('|').nth(1).unwrap().split(','));
    let named: BTreeSet<String> = cells.map(|cell| cell.trim().trim_matches('`').to_owned()).collect();
    assert_eq!(named, wanted);
    // Each is used.
    let mut sources = String::new();
    for entry in walkdir::WalkDir::new(root()).into_iter().filter_entry(|entry| entry.file_name() != "target") {
        let entry = entry.unwrap();
        if entry.path().extension().is_some_and(|extension| extension == "rs") {
            sources += &std::fs::read_to_string(entry.path()).unwrap();
        }
    }
    for name in wanted {
        let path = format!("{}::", name.replace('-', "_"));
        let is_used = sources.contains(&path) || sources.contains(&format!("{} as", name.replace('-', "_")));
        assert!(is_used, "{name} is not used");
    }
}
