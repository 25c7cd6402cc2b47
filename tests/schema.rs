//! The JSON schema of configuration files is current, and says of a text what the reader says of it; and every error's
//! text.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs, dead_code)]

use std::collections::BTreeMap;
use std::path::Path;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};
use stormlint::config;
use stormlint::rules::{ALL, Group};

/// What stormlint reports, and where. The nearest file holds for each checked file; files are not merged.
#[derive(JsonSchema)]
#[schemars(title = "stormlint", deny_unknown_fields, rename_all = "kebab-case", transform = nothing_needed)]
struct Document {
    /// Only these rules and groups; `default` is what is on without a configuration, `all` is every rule.
    #[schemars(schema_with = "names")]
    select: (),
    /// Not these rules and groups.
    #[schemars(schema_with = "names")]
    ignore: (),
    /// Levels of rules and groups: a level turns a rule on, `off` turns it off. Says more than `select` and `ignore`;
    /// the level of a rule says more than that of its group.
    #[schemars(schema_with = "levels")]
    rules: (),
    /// Findings that are less sure are not shown. [default: medium]
    #[schemars(schema_with = "confidence")]
    min_confidence: (),
    /// More executions than this in under a minute of waiting are excessive. [default: 10]
    #[schemars(schema_with = "at_least_1")]
    max_attempts: (),
    /// From this product of layers on, a layer that is only a library's default is reported. [default: 10]
    #[schemars(schema_with = "at_least_2")]
    max_amplification: (),
    /// A wait below this is none: seconds, or a text such as "10 ms". [default: 0.01]
    #[schemars(schema_with = "duration")]
    min_delay: (),
    /// A growing wait without a ceiling may not pass this: seconds, or a text such as "5 min". [default: 300]
    #[schemars(schema_with = "duration")]
    max_delay: (),
    /// What is not checked: patterns, relative to the folder of this file.
    #[schemars(schema_with = "patterns")]
    exclude: (),
    /// Files that describe further libraries, or folders of them, relative to the folder of this file.
    #[schemars(schema_with = "texts")]
    models: (),
    /// What holds for some files only, later ones on top of earlier ones.
    overrides: Vec<Override>,
}

/// What holds for some files only.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, rename_all = "kebab-case", transform = files_needed)]
struct Override {
    /// The files: patterns, relative to the folder of this file.
    #[schemars(schema_with = "some_patterns")]
    files: (),
    /// Only these rules and groups, whatever was chosen before.
    #[schemars(schema_with = "names")]
    select: (),
    /// Not these rules and groups.
    #[schemars(schema_with = "names")]
    ignore: (),
    /// Levels of rules and groups.
    #[schemars(schema_with = "levels")]
    rules: (),
    /// Findings that are less sure are not shown.
    #[schemars(schema_with = "confidence")]
    min_confidence: (),
    /// See above.
    #[schemars(schema_with = "at_least_1")]
    max_attempts: (),
    /// See above.
    #[schemars(schema_with = "at_least_2")]
    max_amplification: (),
    /// See above.
    #[schemars(schema_with = "duration")]
    min_delay: (),
    /// See above.
    #[schemars(schema_with = "duration")]
    max_delay: (),
}

fn nothing_needed(schema: &mut Schema) {
    schema.remove("required");
}

fn files_needed(schema: &mut Schema) {
    schema.insert("required".to_owned(), json!(["files"]));
}

fn names(_: &mut SchemaGenerator) -> Schema {
    let groups = Group::ALL.iter().map(|group| group.name());
    let names: Vec<&str> =
        ["all", "default"].into_iter().chain(groups).chain(ALL.iter().map(|rule| rule.name)).collect();
    json_schema!({ "type": "array", "items": { "enum": names } })
}

fn levels(_: &mut SchemaGenerator) -> Schema {
    let level = || json!({ "enum": ["error", "warn", "note", "off"] });
    let mut properties = serde_json::Map::new();
    for name in Group::ALL.iter().map(|group| group.name()).chain(ALL.iter().map(|rule| rule.name)) {
        properties.insert(name.to_owned(), level());
    }
    json_schema!({ "type": "object", "properties": properties, "additionalProperties": false })
}

fn confidence(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "enum": ["low", "medium", "high"] })
}

fn at_least_1(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "integer", "minimum": 1, "maximum": 1_000_000 })
}

fn at_least_2(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "integer", "minimum": 2, "maximum": 1_000_000 })
}

fn duration(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "oneOf": [
        { "type": "number", "exclusiveMinimum": 0, "maximum": 30 * 86400 },
        { "type": "string", "pattern": "^\\s*[0-9]+(\\.[0-9]*)?\\s*(ms|s|min|h)\\s*$" },
    ] })
}

fn texts(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "array", "items": { "type": "string", "minLength": 1 } })
}

fn patterns(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "array", "items": { "type": "string", "pattern": "^[^!]" } })
}

fn some_patterns(generator: &mut SchemaGenerator) -> Schema {
    let mut some = patterns(generator);
    some.insert("minItems".to_owned(), json!(1));
    some
}

const SCHEMA: &str = "stormlint.schema.json";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn the_schema_is_current() {
    let schema = serde_json::to_value(schemars::schema_for!(Document)).unwrap();
    let text = format!("{}\n", serde_json::to_string_pretty(&schema).unwrap());
    let path = root().join(SCHEMA);
    if std::env::var_os("STORMLINT_BLESS").is_some() {
        std::fs::write(&path, text).unwrap();
    } else {
        assert!(std::fs::read_to_string(&path).unwrap() == text, "{SCHEMA}: STORMLINT_BLESS=1 writes it");
    }
}

fn validator() -> jsonschema::Validator {
    let schema = serde_json::to_value(schemars::schema_for!(Document)).unwrap();
    jsonschema::validator_for(&schema).unwrap()
}

fn accepts(validator: &jsonschema::Validator, text: &str) -> bool {
    let table: toml::Table = text.parse().unwrap();
    validator.is_valid(&serde_json::to_value(table).unwrap())
}

/// What the reader says: `line: message`, one a line.
fn said(text: &str) -> String {
    match config::read("stormlint.toml", text, Path::new("/repo"), &[]) {
        Ok(settings) => {
            assert!(settings.is_some());
            String::new()
        }
        Err(errors) => {
            let all: Vec<String> = errors.iter().map(ToString::to_string).collect();
            all.join("\n").replace("stormlint.toml:", "")
        }
    }
}

/// Texts that are sound.
const SOUND: &[&str] = &[
    "",
    "# nothing\r\n\r\n",
    "select = []\n",
    "select = [\"all\"]\nignore = [\"strict\", \"nested-retry\"]\n",
    "min-confidence = \"low\"\nmax-attempts = 1\nmax-amplification = 0x10\nmin-delay = 0.001\nmax-delay = 60\n",
    "min-delay = \"1.5 s\"\nmax-delay = \"10min\"\n",
    "exclude = [\"gen\", \"*_pb2.py\", \"../other/**\"]\nmodels = [\"models\"]\n",
    "rules.unbounded-retry = \"off\"\nrules.strict = \"warn\"\n",
    "[rules]\nstrict = \"note\"\nunbounded-retry = \"error\"\n",
    "[[overrides]]\nfiles = [\"tests\"]\nselect = [\"bound\"]\nignore = []\nmin-confidence = \"high\"\n\
     max-attempts = 3\nmax-amplification = 2\nmin-delay = 1\nmax-delay = \"1 h\"\nrules = { pace = \"off\" }\n",
];

/// Faulty texts, what is said of each, and whether the schema refuses them too.
const FAULTY: &[(&str, &str, bool)] = &[
    // What there is not.
    (
        "selct = []\n",
        "1: unknown key `selct`: did you mean `select`? Allowed: `select`, `ignore`, `rules`, `min-confidence`, \
         `max-attempts`, `max-amplification`, `min-delay`, `max-delay`, `exclude`, `models`, `overrides`",
        true,
    ),
    (
        "\n\nmax_attempts = 3\nzebra = 1\n",
        "3: unknown key `max_attempts`: did you mean `max-attempts`? Allowed: `select`, `ignore`, `rules`, \
         `min-confidence`, `max-attempts`, `max-amplification`, `min-delay`, `max-delay`, `exclude`, `models`, `overrides`\n\
         4: unknown key `zebra`. Allowed: `select`, `ignore`, `rules`, `min-confidence`, `max-attempts`, \
         `max-amplification`, `min-delay`, `max-delay`, `exclude`, `models`, `overrides`",
        true,
    ),
    ("unbounded-retry = \"off\"\n", "1: `unbounded-retry` is a rule or group: its level stands in `[rules]`", true),
    ("files = [\"a\"]\n", "1: `files` stands in `[[overrides]]`, not at the top of the configuration", true),
    (
        "[[overrides]]\nfiles = [\"a\"]\nexclude = [\"b\"]\nignor = []\n",
        "3: `exclude` stands at the top of the configuration, not in `[[overrides]]`\n\
         4: unknown override key `ignor`: did you mean `ignore`? Allowed: `select`, `ignore`, `rules`, \
         `min-confidence`, `max-attempts`, `max-amplification`, `min-delay`, `max-delay`, `files`",
        true,
    ),
    // Names.
    (
        "select = [\n  \"bound\",\n  \"unbouned-retry\",\n]\n",
        "3: in `select`: unknown rule or group `unbouned-retry`; did you mean `unbounded-retry`?",
        true,
    ),
    (
        "ignore = [\"\", \"xyzzy\"]\n",
        "1: in `ignore`: unknown rule or group ``; the name is empty (is there a comma too many?)\n\
         1: in `ignore`: unknown rule or group `xyzzy`; `stormlint rules` lists them",
        true,
    ),
    (
        "select = \"all\"\n",
        "1: `select` is a list of names of rules and groups: select = [\"default\", \"strict\"]",
        true,
    ),
    ("ignore = [3]\n", "1: `ignore` is a list of names of rules and groups, and this is of type integer", true),
    // Levels.
    ("rules = []\n", "1: `rules` is a table: `[rules]`, and under it unbounded-retry = \"error\"", true),
    (
        "[rules]\nunbounded-retry = \"eror\"\n",
        "2: `unbounded-retry = \"eror\"`: unknown value `eror`: did you mean `error`? Allowed: `error`, `warn`, `note`, `off`",
        true,
    ),
    ("[rules]\npace = \"warning\"\n", "2: `pace = \"warning\"`: it is written `warn`", true),
    (
        "[rules]\npace = false\n",
        "2: `pace` is one of \"error\", \"warn\", \"note\", \"off\", and this is of type boolean",
        true,
    ),
    ("[rules]\npase = \"off\"\n", "2: in `[rules]`: unknown rule or group `pase`; did you mean `pace`?", true),
    (
        "[rules]\nall = \"warn\"\n",
        "2: `all` is a word for `select` and `ignore`; a level is that of a rule or group",
        true,
    ),
    (
        "min-confidence = \"hihg\"\n",
        "1: `min-confidence = \"hihg\"`: unknown value `hihg`: did you mean `high`? Allowed: `low`, `medium`, `high`",
        true,
    ),
    // Limits.
    ("max-attempts = 0\n", "1: `max-attempts` is a whole number from 1 to 1000000", true),
    ("max-attempts = \"5\"\n", "1: `max-attempts` is a whole number from 1 to 1000000", true),
    ("max-amplification = 1\n", "1: `max-amplification` is a whole number from 2 to 1000000", true),
    ("max-attempts = 99999999999999999999\n", "1: `max-attempts` is a whole number from 1 to 1000000", false),
    (
        "min-delay = \"10\"\nmax-delay = \"5 m\"\n",
        "1: `min-delay` is a span of time: seconds as a number (0.5), or a text with a unit (\"500 ms\", \"1.5 s\", \
         \"2 min\", \"1 h\")\n\
         2: `max-delay` is a span of time: seconds as a number (0.5), or a text with a unit (\"500 ms\", \"1.5 s\", \
         \"2 min\", \"1 h\")",
        true,
    ),
    ("min-delay = 0\n", "1: `min-delay` is a span of time above 0 and of at most 30 days", true),
    ("max-delay = -1.5\n", "1: `max-delay` is a span of time above 0 and of at most 30 days", true),
    ("max-delay = 1e9\n", "1: `max-delay` is a span of time above 0 and of at most 30 days", true),
    ("max-delay = nan\n", "1: `max-delay` is a span of time above 0 and of at most 30 days", false),
    ("min-delay = 10\nmax-delay = 5\n", "2: `min-delay` (10 s) is above `max-delay` (5 s)", false),
    (
        "max-delay = 60\n[[overrides]]\nfiles = [\"a\"]\nmin-delay = \"2 min\"\n",
        "4: `min-delay` (120 s) is above `max-delay` (60 s)",
        false,
    ),
    // Patterns and paths.
    (
        "exclude = [\n  \"ok\",\n  \"[a\",\n]\n",
        "3: in `exclude`: `[a`: no pattern for paths: unclosed character class; missing ']'",
        false,
    ),
    ("exclude = [\"\"]\n", "1: in `exclude`: ``: the pattern is empty", true),
    (
        "exclude = [\"!a\"]\n",
        "1: in `exclude`: `!a`: a pattern cannot begin with `!`: there are no exceptions from a list",
        true,
    ),
    (
        "exclude = [\"a/../b\"]\n",
        "1: in `exclude`: `a/../b`: `.`, `..` and empty parts can stand at the front only",
        false,
    ),
    ("exclude = \"gen\"\n", "1: `exclude` is a list of patterns for paths: exclude = [\"tests/**\"]", true),
    ("models = \"m\"\n", "1: `models` is a list of paths: models = [\"models/in-house.toml\"]", true),
    ("models = [\"\"]\n", "1: an empty path in `models`", true),
    // Overrides.
    ("overrides = 1\n", "1: `overrides` is a list of tables: write `[[overrides]]`", true),
    ("[overrides]\nfiles = [\"a\"]\n", "1: `overrides` is a list of tables: write `[[overrides]]`", true),
    (
        "select = []\n[[overrides]]\nignore = [\"pace\"]\n",
        "2: an override needs `files`, which says where it holds: files = [\"tests/**\"]",
        true,
    ),
    ("[[overrides]]\nfiles = []\n", "2: `files` is empty: the override holds nowhere", true),
    ("[[overrides]]\nfiles = \"tests\"\n", "2: `files` is a list of patterns for paths: files = [\"tests/**\"]", true),
];

#[test]
fn sound_texts_are_taken_by_reader_and_schema() {
    let validator = validator();
    for text in SOUND {
        assert_eq!(said(text), "", "{text}");
        assert!(accepts(&validator, text), "{text}");
    }
}

#[test]
fn every_error_has_its_text_and_the_schema_sees_most() {
    let validator = validator();
    for (text, wanted, seen) in FAULTY {
        assert_eq!(said(text), *wanted, "of\n{text}");
        if *seen {
            assert!(!accepts(&validator, text), "the schema takes\n{text}");
        }
    }
}

#[test]
fn what_is_no_toml_is_told_with_its_line() {
    for (text, wanted) in [
        ("\nselect = [\n\n", "2: no TOML: "),
        ("select = []\nselect = []\n", "2: no TOML: duplicate key"),
        ("select\n", "1: no TOML: "),
    ] {
        let found = said(text);
        assert!(found.starts_with(wanted) && !found.contains('\n'), "{found}");
    }
}

#[test]
fn tables_of_other_files_are_named_in_full() {
    let read = |text: &str| config::read("pyproject.toml", text, Path::new("/repo"), &["tool", "stormlint"]);
    assert!(read("[tool.other]\nx = 1\n").unwrap().is_none());
    assert!(read("tool = 3\n").unwrap().is_none());
    assert_eq!(read("[tool.stormlint]\n").unwrap().unwrap().table, "tool.stormlint");
    let errors = read("[tool]\nstormlint = 3\n").unwrap_err();
    assert_eq!(errors[0].to_string(), "pyproject.toml:2: `tool.stormlint` is a table: write `[tool.stormlint]`");
    let errors = read(
        "[project]\nname = \"x\"\n[tool.stormlint]\npace = \"off\"\nfiles = []\noverrides = 1\nrules = 1\n\
         [tool.stormlint.x]\n",
    )
    .unwrap_err();
    let all: Vec<String> = errors.iter().map(|error| error.message.clone()).collect();
    assert_eq!(all[0], "`pace` is a rule or group: its level stands in `[tool.stormlint.rules]`");
    assert_eq!(all[1], "`files` stands in `[[tool.stormlint.overrides]]`, not at the top of the configuration");
    assert_eq!(all[2], "`overrides` is a list of tables: write `[[tool.stormlint.overrides]]`");
    assert_eq!(all[3], "`rules` is a table: `[tool.stormlint.rules]`, and under it unbounded-retry = \"error\"");
    assert!(all[4].starts_with("unknown key `x`"), "{all:?}");
}

/// The fences of a page that hold TOML, with the line on which each begins.
fn fences(page: &str) -> Vec<(usize, String)> {
    let text = std::fs::read_to_string(root().join(page)).unwrap();
    let mut found = Vec::new();
    let mut open: Option<(usize, String)> = None;
    for (at, line) in text.lines().enumerate() {
        match &mut open {
            Some(_) if line.trim_start() == "```" => found.extend(open.take()),
            Some((_, inner)) => {
                inner.push_str(line);
                inner.push('\n');
            }
            None if line.trim_start() == "```toml" => open = Some((at + 1, String::new())),
            None => {}
        }
    }
    found
}

#[test]
fn the_examples_of_the_readme_are_sound() {
    let validator = validator();
    let mut seen = BTreeMap::new();
    for (line, text) in fences("README.md") {
        let (table, prefix): (&[&str], _) = match &text {
            text if text.contains("[tool.stormlint") => (&["tool", "stormlint"], "pyproject.toml"),
            text if text.contains("[workspace.metadata") => (&["workspace", "metadata", "stormlint"], "Cargo.toml"),
            _ => (&[], "stormlint.toml"),
        };
        let read = config::read("README.md", &text, Path::new("/repo"), table);
        assert!(read.as_ref().is_ok_and(Option::is_some), "line {line}: {read:?}");
        if table.is_empty() {
            assert!(accepts(&validator, &text), "line {line}");
        }
        *seen.entry(prefix).or_insert(0) += 1;
    }
    assert!(seen.contains_key("stormlint.toml") && seen.contains_key("pyproject.toml"), "{seen:?}");
}

/// Every key of the schema is one that the README names.
#[test]
fn the_readme_names_every_key() {
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(root().join(SCHEMA)).unwrap()).unwrap();
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    for key in schema["properties"].as_object().unwrap().keys() {
        assert!(readme.contains(&format!("`{key}`")) || readme.contains(&format!("`[[{key}]]`")), "{key}");
    }
}

/// Parts of configurations, sound and faulty ones, as they may stand next to each other.
fn parts() -> impl proptest::strategy::Strategy<Value = String> {
    use proptest::prelude::*;
    let whole: Vec<String> =
        SOUND.iter().chain(FAULTY.iter().map(|(text, _, _)| text)).map(|text| (*text).to_owned()).collect();
    let keys =
        ["select", "ignore", "rules", "exclude", "models", "overrides", "files", "min-delay", "max-attempts", "x", "é"];
    let values = [
        "1",
        "-1",
        "0x1f",
        "1e400",
        "inf",
        "nan",
        "true",
        "\"\"",
        "\"10 ms\"",
        "'é'",
        "[]",
        "{}",
        "[1, [2]]",
        "[\"**/*\"]",
        "1979-05-27",
        "[{ files = [\"[\"] }]",
    ];
    let pair = (prop::sample::select(keys.to_vec()), prop::sample::select(values.to_vec()));
    prop_oneof![
        prop::sample::select(whole),
        pair.prop_map(|(key, value)| format!("{key} = {value}\n")),
        prop::sample::select(vec!["[rules]\n", "[[overrides]]\n", "[overrides]\n", "\r\n", "# é\n", "\u{feff}", "="])
            .prop_map(str::to_owned),
        any::<String>(),
    ]
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(500))]

    #[test]
    fn no_text_is_too_odd_to_be_answered(parts in proptest::collection::vec(parts(), 0..6)) {
        let text = parts.concat();
        let lines = text.matches('\n').count() + 1;
        if let Err(errors) = config::read("stormlint.toml", &text, Path::new("/repo"), &[]) {
            proptest::prop_assert!(!errors.is_empty());
            for error in errors {
                proptest::prop_assert!((1..=lines).contains(&error.line) && !error.message.is_empty());
                proptest::prop_assert!(!error.message.contains('\n'), "{}", error.message);
            }
        }
    }
}
