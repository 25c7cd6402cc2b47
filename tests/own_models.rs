//! Users' own models: the page about them is executed, and so are the errors in a file.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

mod common;

use std::path::Path;
use std::sync::Arc;

use common::{Folder, stormlint};
use stormlint::check::{Input, check};
use stormlint::config::{self, Config};
use stormlint::models::own::{self, OwnFile};
use stormlint::source::{Language, SourceFile};

fn page() -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/models.md")).unwrap()
}

/// The fences of a section: what they hold by their first line, and their text.
fn fences(section: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut open: Option<(String, String)> = None;
    for line in section.lines() {
        match &mut open {
            Some(_) if line == "```" => found.extend(open.take()),
            Some((_, text)) => {
                text.push_str(line);
                text.push('\n');
            }
            None => open = line.strip_prefix("```").map(|info| (info.to_owned(), String::new())),
        }
    }
    found
}

/// The source without its marks, and what they ask for: `line level [rule]`.
fn unmarked(text: &str) -> (String, Vec<String>) {
    let (mut plain, mut wanted) = (String::new(), Vec::new());
    for (at, line) in text.lines().enumerate() {
        let mark = [" # ", " // "].iter().filter_map(|sign| line.rfind(sign).map(|begin| (begin, sign.len()))).max();
        let mark = mark.filter(|(begin, length)| line[begin + length..].contains(": ["));
        let Some((begin, length)) = mark else {
            plain.push_str(line);
            plain.push('\n');
            continue;
        };
        plain.push_str(line[..begin].trim_end());
        plain.push('\n');
        for one in line[begin + length..].split("], ") {
            let (level, rule) = one.trim_end_matches(']').split_once(": [").unwrap();
            wanted.push(format!("{} {level} [{rule}]", at + 1));
        }
    }
    wanted.sort();
    (plain, wanted)
}

#[test]
fn the_examples_of_the_page_yield_what_they_say() {
    let mut programs = 0;
    for section in page().split("\n## ") {
        let title = section.lines().next().unwrap().to_owned();
        let mut files = Vec::new();
        for (info, text) in fences(section) {
            if info == "toml" && text.contains("library = ") {
                files.push(OwnFile { name: format!("{}.toml", files.len()), text, language: None });
                continue;
            }
            if info == "toml" {
                let read = config::read("stormlint.toml", &text, Path::new("/repo"), &[]);
                assert_eq!(read.unwrap().unwrap().models.len(), 2);
                continue;
            }
            let language = [Language::Python, Language::Rust].into_iter().find(|it| it.name() == info).unwrap();
            let (models, errors) = own::load(&files);
            assert!(errors.is_empty(), "{title}: {errors:#?}");
            let (plain, wanted) = unmarked(&text);
            let input = Input {
                file: SourceFile::new("example", plain.as_str(), language),
                module: String::new(),
                root_path: "example".into(),
                config: Arc::new(Config { models: Some(Arc::new(models)), ..Config::default() }),
            };
            let run = check(vec![input]);
            let mut found: Vec<String> = run
                .findings
                .iter()
                .map(|found| {
                    let level = found.diagnostic.level.name().replace("warning", "warn");
                    let line = run.files[0].line_of(found.diagnostic.span.start);
                    format!("{line} {level} [{}]", found.diagnostic.rule)
                })
                .collect();
            found.sort();
            assert_eq!(found, wanted, "{title}");
            // Without the models nothing would be known.
            assert!(!wanted.is_empty(), "{title}");
            programs += 1;
        }
    }
    assert_eq!(programs, 6);
}

#[test]
fn the_page_names_every_kind() {
    let page = page();
    for kind in stormlint::models::kinds() {
        assert!(page.contains(&format!("`{kind}`")), "{kind}");
    }
}

fn refused(folder: &Folder, args: &[&str]) -> String {
    let output = stormlint(&folder.0, args);
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stdout));
    assert!(output.stdout.is_empty());
    String::from_utf8(output.stderr).unwrap()
}

fn printed(folder: &Folder, args: &[&str]) -> String {
    let output = stormlint(&folder.0, args);
    assert!(matches!(output.status.code(), Some(0 | 1)), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

const CLIENT: &str = "library = \"shopnet\"\nlanguage = \"python\"\nimports = [\"shopnet\"]\n\
    [[entry]]\nkind = \"request\"\nfunctions = [\"shopnet.send\"]\nverb = \"POST\"\n";
const USE: &str = "import time\n\nimport shopnet\n\n\ndef place(order):\n    for attempt in range(3):\n        try:\n            \
    return shopnet.send(order, timeout=5)\n        except OSError:\n            if attempt == 2:\n                raise\n            \
    time.sleep(2**attempt)\n";

#[test]
fn files_and_folders_are_read_and_each_configuration_has_its_own() {
    let folder = Folder::new("own-models");
    folder
        .write("stormlint.toml", "models = [\"tools/shopnet.toml\", \"tools/more\"]\n")
        .write("tools/shopnet.toml", CLIENT)
        .write(
            "tools/more/python/other.toml",
            CLIENT.replace("language = \"python\"\n", "").replace("shopnet", "other"),
        )
        .write("tools/more/notes.md", "not read")
        .write("a.py", USE)
        .write("b.py", USE.replace("shopnet", "other"))
        .write("bare/.stormlint.toml", "")
        .write("bare/c.py", USE)
        .write("get/stormlint.toml", "models = [\"shopnet.toml\"]\n")
        .write("get/shopnet.toml", CLIENT.replace("POST", "GET"))
        .write("get/d.py", USE);
    let found = printed(&folder, &["--output-format", "concise", "--select", "retried-non-idempotent-request"]);
    let places: Vec<&str> = found.lines().filter_map(|line| line.split_once(": ")).map(|(place, _)| place).collect();
    assert_eq!(places, ["a.py:7:5", "b.py:7:5"], "{found}");
    let isolated = printed(&folder, &["--isolated", "--output-format", "concise"]);
    assert!(!isolated.contains("retried-non-idempotent-request"), "{isolated}");
    let listed = printed(&folder, &["inventory", "get", "--output-format", "json"]);
    assert!(listed.contains("\"GET\""), "{listed}");
}

#[test]
fn what_is_known_of_a_library_is_listed() {
    let folder = Folder::new("own-models-listed");
    folder.write("stormlint.toml", "models = [\"shopnet.toml\"]\n").write("shopnet.toml", CLIENT);
    let list = printed(&folder, &["models"]);
    let row = |name: &str| list.lines().find(|line| line.starts_with(name)).unwrap().to_owned();
    assert_eq!(
        row("shopnet").split_whitespace().collect::<Vec<_>>(),
        ["shopnet", "python", "1", "entry", "shopnet.toml"]
    );
    assert!(row("requests").contains("built in"));
    assert!(!printed(&folder, &["models", "--isolated"]).contains("shopnet"));
    let one = printed(&folder, &["models", "shopnet"]);
    assert_eq!(
        one,
        "shopnet, python, shopnet.toml\nimported as shopnet\n\nrequest: shopnet.send  (shopnet.toml:4)\n    verb = \"POST\"\n"
    );
    let both = printed(&folder, &["models", "retry"]);
    assert!(both.contains("retry 0.9.2, python, built in") && both.contains("retry 2.2.0, rust, built in"), "{both}");
    assert!(printed(&folder, &["models", "tokio_retry2"]).starts_with("tokio_retry "), "by what is imported");
    let json: serde_json::Value =
        serde_json::from_str(&printed(&folder, &["models", "requests", "--output-format", "json"])).unwrap();
    let library = &json["libraries"][0];
    assert_eq!((&library["name"], &library["language"]), (&"requests".into(), &"python".into()));
    assert_eq!(library["built_in"], true);
    let entries = library["entries"].as_array().unwrap();
    assert!(entries.iter().any(|entry| entry["kind"] == "request" && entry["default-timeout"] == false), "{entries:?}");
    let json: serde_json::Value =
        serde_json::from_str(&printed(&folder, &["models", "--output-format", "json"])).unwrap();
    assert!(json["libraries"].as_array().unwrap().len() > 30);
    assert_eq!(
        refused(&folder, &["models", "reqests"]),
        "stormlint: nothing is known of a library `reqests`; did you mean `requests`?\n"
    );
}

#[test]
fn examples_in_models_are_run() {
    let folder = Folder::new("own-models-examples");
    let example = |findings: &str, method: &str| {
        format!(
            "{CLIENT}\n[[example]]\ncode = \"\"\"\n{USE}\"\"\"\nfindings = {findings}\nsite = {{ method = \"{method}\", max_attempts = 3 }}\n"
        )
    };
    folder.write("stormlint.toml", "models = [\"shopnet.toml\"]\n");
    folder.write("shopnet.toml", example("[\"retried-non-idempotent-request\"]", "POST"));
    assert_eq!(printed(&folder, &["models", "--test"]), "Ran 1 example in 1 file: as they say.\n");
    folder.write("shopnet.toml", example("[\"unbounded-retry\"]", "GET"));
    let output = stormlint(&folder.0, &["models", "--test"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        "shopnet.toml:9: not reported: `unbounded-retry`\n\
         shopnet.toml:9: reported, and not named in `findings`: `retried-non-idempotent-request`\n\
         shopnet.toml:9: `method` of the first site is \"POST\", not \"GET\"\n\
         Ran 1 example in 1 file: not all as they say.\n"
    );
}

#[test]
fn errors_in_models_have_file_and_line() {
    let folder = Folder::new("own-models-errors");
    folder
        .write("stormlint.toml", "select = []\nmodels = [\n  \"gone.toml\",\n  \"bare\",\n]\n")
        .write("bare/x.md", "");
    folder.write("a.py", "x = 1\n");
    for args in [&["check"] as &[&str], &["models"], &["config"], &["inventory"]] {
        assert_eq!(
            refused(&folder, args),
            "stormlint: stormlint.toml:3: in `models`: `gone.toml`: no such file or folder\n\
             stormlint: stormlint.toml:4: in `models`: `bare`: no file in this folder ends in .toml\n"
        );
    }
    folder.write("stormlint.toml", "models = [\"m\"]\n");
    for (text, wanted) in [
        (CLIENT.replace("request", "reqest"), "m/x.toml:5: unknown kind `reqest`: did you mean `request`? Allowed: "),
        (CLIENT.replace("verb", "vreb"), "m/x.toml:7: unknown key `vreb`: did you mean `verb`? Allowed: "),
        (CLIENT.replace("verb", "amount"), "m/x.toml:7: `amount` does not go with `kind = \"request\"`, which takes "),
        (CLIENT.replace("\"POST\"", "3"), "m/x.toml:7: "),
        (CLIENT.replace("language = \"python\"\n", ""), "m/x.toml:1: `language` is missing: write language = "),
        (format!("{CLIENT}raises = [\"shopnet.Down\"]\n"), "m/x.toml:4: nothing tells of the class `shopnet.Down`: "),
        (CLIENT.replace("shopnet.send", "shopnet::send"), "m/x.toml:4: `shopnet::send` is no path of Python: "),
        (format!("default-statuses = \"5xx\"\n{CLIENT}"), "m/x.toml:1: `default-statuses = \"5xx\"` is not a set of "),
        (CLIENT.replace("library = \"shopnet\"\n", ""), "m/x.toml:1: missing field `library`"),
        ("library = \n".to_owned(), "m/x.toml:1: "),
    ] {
        folder.write("m/x.toml", text);
        let told = refused(&folder, &[]);
        assert!(told.starts_with(&format!("stormlint: {wanted}")), "{told}");
        assert_eq!(told.lines().count(), 1, "{told}");
    }
    folder.write("m/x.toml", b"library = \"\xff\"\n");
    assert_eq!(refused(&folder, &[]), "stormlint: m/x.toml: not UTF-8, as TOML has to be\n");
}
