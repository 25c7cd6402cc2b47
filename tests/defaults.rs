//! The table of docs/models.md: what each library does where nothing is said, in which versions, and where that stands.
//! `STORMLINT_BLESS=1` writes it.
#![allow(clippy::unwrap_used, missing_docs)]

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use stormlint::models::{AllModels, Counts, DefaultTimeout, Entry, Kind, ModelFile, builtin, parse};
use stormlint::report::examples;
use stormlint::source::Language;

const LANGUAGES: [Language; 2] = [Language::Python, Language::Rust];
const BEGIN: &str = "<!-- defaults -->\n";
const END: &str = "<!-- end of defaults -->";

fn files() -> impl Iterator<Item = (Language, &'static str, ModelFile)> {
    LANGUAGES.into_iter().flat_map(|language| {
        builtin::files(language).iter().map(move |(name, text)| (language, *name, parse(name, text).0.unwrap()))
    })
}

fn number(value: &toml::Value) -> Option<f64> {
    #[allow(clippy::cast_precision_loss)]
    value.as_float().or_else(|| value.as_integer().map(|number| number as f64))
}

/// What holds where nothing is said, in a few words.
fn told(entry: &Entry) -> Option<String> {
    let mut told = Vec::new();
    let default = |key: &str| entry.takes.get(key).and_then(|param| param.default.as_ref()).and_then(number);
    if let Some(retries) = entry.default_retries {
        told.push(attempts(f64::from(retries) + 1.0));
    }
    let word = entry.function.as_deref().unwrap_or_default();
    // Of several limits the least.
    let kinds = ["connects", "reads", "answers"].into_iter().filter_map(default);
    let count = kinds.chain(default("attempts")).reduce(f64::min);
    let is_whole = matches!(word, "policy" | "run") && !entry.takes.is_empty();
    if entry.kind == Kind::Retry && (is_whole || count.is_some()) {
        match count {
            Some(count) => {
                let count = if entry.counts == Some(Counts::Retries) { count + 1.0 } else { count };
                let endless = entry.endless_below.is_some_and(|least| count < least);
                told.push(if endless { "no end".to_owned() } else { attempts(count) });
            }
            None if default("limit").is_some() => {}
            // Its end is that of a stop or of a wait that it must be given, or nothing is repeated at all.
            None if entry.takes.contains_key("wait")
                && !entry.takes.contains_key("attempts")
                && !entry.takes.contains_key("stop") => {}
            None if !entry.needs.is_empty() => told.push("one attempt".to_owned()),
            None => told.push("no end".to_owned()),
        }
        told.extend(default("limit").map(|limit| format!("within {limit} s")));
        let first = default("amount").map(|amount| amount * entry.unit.seconds());
        let pace = entry.pace.as_deref().unwrap_or(word);
        match first {
            Some(0.0) => told.push("no wait".to_owned()),
            Some(first) if pace == "wait-fixed" => told.push(format!("{first} s between them")),
            Some(first) => {
                let most = default("high").map(|high| high * entry.unit.seconds());
                let most = most.or(entry.ceiling.map(|times| first * times)).map(|most| format!(" up to {most} s"));
                told.push(format!("from {first} s{}", most.unwrap_or_else(|| " without a ceiling".to_owned())));
            }
            None => {}
        }
    }
    if told.is_empty() && entry.since.is_none() && entry.until.is_none() {
        return None;
    }
    if told.is_empty() {
        // Waits that nobody cuts off go on.
        told.push(if word.starts_with("wait-") { "no end" } else { "one attempt" }.to_owned());
    }
    match entry.default_timeout {
        Some(DefaultTimeout::Seconds(seconds)) => told.push(format!("a time limit of {seconds} s")),
        Some(DefaultTimeout::None(_)) => told.push("no time limit".to_owned()),
        None => {}
    }
    Some(told.join(", "))
}

fn attempts(count: f64) -> String {
    if count == 1.0 { "one attempt".to_owned() } else { format!("{count} attempts") }
}

fn versions(entry: &Entry) -> String {
    match (&entry.since, &entry.until) {
        (None, None) => "all".to_owned(),
        (Some(since), None) => format!("from {since}"),
        (None, Some(until)) => format!("before {until}"),
        (Some(since), Some(until)) => format!("{since} to before {until}"),
    }
}

fn table() -> String {
    let mut rows: BTreeMap<(String, &str), Vec<String>> = BTreeMap::new();
    for (language, _, file) in files() {
        // Names by what is told of them.
        let mut told_of: Vec<(String, String, Vec<String>)> = Vec::new();
        // What a client is given its number for is told of with the client.
        let of_client = |entry: &Entry| {
            let path = entry.functions.first();
            file.entries.iter().any(|client| client.policy.is_some() && client.policy.as_ref() == path)
                && entry.takes.get("attempts").is_none_or(|param| param.default.is_none())
        };
        for entry in file.entries.iter().filter(|entry| !of_client(entry)) {
            let Some(told) = told(entry) else { continue };
            let method = entry.types.first().zip(entry.names.first());
            let method = method.map(|(ty, name)| format!("{ty}{}{name}", language.path_separator()));
            let name = entry.gives.clone().filter(|_| entry.functions.is_empty() && method.is_none());
            let Some(name) = entry.functions.first().cloned().or(method).or(name) else { continue };
            let key = (told, versions(entry));
            match told_of.iter_mut().find(|row| (&row.0, &row.1) == (&key.0, &key.1)) {
                Some(row) if !row.2.contains(&name) => row.2.push(name),
                Some(_) => {}
                None => told_of.push((key.0, key.1, vec![name])),
            }
        }
        let mut lines = Vec::new();
        for (told, versions, names) in told_of {
            let shown: Vec<String> =
                names.iter().take(2).map(|name| format!("`{}`", name.replace('|', "\\|"))).collect();
            let more = if names.len() > 2 { format!(" and {} more", names.len() - 2) } else { String::new() };
            lines.push(format!("| {}{more} | {versions} | {told} |", shown.join(", ")));
        }
        if !lines.is_empty() {
            let head = format!("{} {}, read: {}", file.library, language.name(), file.version);
            let sources: Vec<String> = file.sources.iter().map(|source| format!("`{source}`")).collect();
            lines.insert(
                0,
                format!("| **{}** ({}), {} | | {} |", file.library, language.name(), file.version, sources.join(", ")),
            );
            rows.insert((head.to_lowercase(), language.name()), lines);
        }
    }
    let mut out = String::from(
        "| library, name | versions | by default; in the library's line: where that stands |\n|---|---|---|\n",
    );
    for line in rows.into_values().flatten() {
        writeln!(out, "{line}").unwrap();
    }
    out
}

#[test]
fn the_page_has_the_table_of_defaults() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/models.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (printed, after) = rest.split_once(END).unwrap();
    let wanted = table();
    if std::env::var_os("STORMLINT_BLESS").is_some() {
        std::fs::write(&path, format!("{before}{BEGIN}{wanted}{END}{after}")).unwrap();
    } else {
        assert!(printed == wanted, "the table in docs/models.md; STORMLINT_BLESS=1 writes it");
    }
}

/// What an example yields must come from the model: without the file that it stands in, it yields something else.
#[test]
fn every_model_of_retries_is_exercised_by_an_example() {
    let mut idle = Vec::new();
    for (language, name, file) in files() {
        let repeats = |entry: &Entry| entry.kind == Kind::Retry || entry.default_retries.is_some();
        if !file.entries.iter().any(repeats) {
            continue;
        }
        let without: Vec<_> = builtin::files(language).iter().copied().filter(|(other, _)| *other != name).collect();
        let models = AllModels::of_files(language, &without);
        let config = stormlint::config::Config { models: Some(models.into()), ..Default::default() };
        let config = config.into();
        let exercised = file.examples.iter().any(|example| !examples::faults(example, language, &config).is_empty());
        if !exercised {
            idle.push(name);
        }
    }
    assert!(idle.is_empty(), "no example needs what is said there: {idle:?}");
}
