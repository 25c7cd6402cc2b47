//! What is known of libraries: what `stormlint models` prints.

use std::io::{self, Write};

use serde_json::json;

use super::{document, visible};
use crate::models::{Entry, Library, Models};
use crate::source::Language;

/// A library with the entries about it.
#[derive(Debug, Clone, Copy)]
pub struct Known<'a> {
    /// Its language.
    pub language: Language,
    /// The library.
    pub library: &'a Library,
    /// The models that it is one of.
    pub models: &'a Models,
    /// Whether it comes with the program.
    pub built_in: bool,
}

impl<'a> Known<'a> {
    fn entries(self) -> impl Iterator<Item = &'a Entry> {
        let own = move |entry: &&Entry| {
            self.models.library_with(entry).is_some_and(|library| std::ptr::eq(library, self.library))
        };
        self.models.entries().iter().filter(own)
    }

    fn place(self) -> String {
        if self.built_in { "built in".to_owned() } else { self.library.file.to_string() }
    }

    fn json(self) -> serde_json::Value {
        json!({
            "name": *self.library.name,
            "language": self.language,
            "version": self.library.version,
            "imports": self.library.imports,
            "file": *self.library.file,
            "built_in": self.built_in,
        })
    }
}

/// Writes a table of libraries.
///
/// # Errors
/// The output cannot be written.
pub fn list(all: &[Known<'_>], out: &mut dyn Write) -> io::Result<()> {
    let name = all.iter().map(|known| known.library.name.len()).max().unwrap_or(0);
    let place = all.iter().map(|known| known.place().len()).max().unwrap_or(0);
    for known in all {
        let (library, entries) = (known.library, known.entries().count());
        let noun = if entries == 1 { "entry" } else { "entries" };
        let language = known.language.name();
        let row = format!(
            "{:name$}  {language:6}  {entries:4} {noun:7}  {:place$}  {}",
            library.name,
            known.place(),
            library.version
        );
        writeln!(out, "{}", visible::line(row.trim_end()))?;
    }
    Ok(())
}

/// Writes all that is known of some libraries, in the form in which models are written.
///
/// # Errors
/// The output cannot be written.
pub fn full(all: &[Known<'_>], out: &mut dyn Write) -> io::Result<()> {
    for (at, known) in all.iter().enumerate() {
        if at > 0 {
            writeln!(out)?;
        }
        let version = format!(" {}", known.library.version);
        let head =
            format!("{}{}, {}, {}", known.library.name, version.trim_end(), known.language.name(), known.place());
        writeln!(out, "{}", visible::line(&head))?;
        if !known.library.imports.is_empty() {
            writeln!(out, "imported as {}", visible::line(&known.library.imports.join(", ")))?;
        }
        for entry in known.entries() {
            let facts = facts(entry);
            let kind = facts.get("kind").and_then(toml::Value::as_str).unwrap_or_default();
            let head = format!("{kind}: {}  ({}:{})", paths(entry, known.language), known.library.file, entry.line);
            writeln!(out, "\n{}", visible::line(&head))?;
            let hidden = ["kind", "functions", "types", "names", "note"];
            for (key, value) in facts.iter().filter(|(key, _)| !hidden.contains(&key.as_str())) {
                writeln!(out, "    {key} = {}", visible::line(&value.to_string()))?;
            }
            if let Some(note) = &entry.note {
                writeln!(out, "    # {}", visible::line(note.trim()))?;
            }
        }
    }
    Ok(())
}

/// Writes a JSON document; with `entries`, all that is known of each library.
///
/// # Errors
/// The output cannot be written.
pub fn json(all: &[Known<'_>], entries: bool, out: &mut dyn Write) -> io::Result<()> {
    let library = |known: &Known<'_>| {
        let mut library = known.json();
        if entries && let Some(library) = library.as_object_mut() {
            let entry = |entry: &Entry| {
                let mut facts = serde_json::to_value(facts(entry)).unwrap_or_default();
                if let Some(facts) = facts.as_object_mut() {
                    facts.insert("line".to_owned(), entry.line.into());
                }
                facts
            };
            library.insert("entries".to_owned(), known.entries().map(entry).collect());
        }
        library
    };
    let libraries: Vec<_> = all.iter().map(library).collect();
    document::write(&json!({ "version": 1, "libraries": libraries }), out)
}

/// What an entry names: paths, and methods of types.
fn paths(entry: &Entry, language: Language) -> String {
    let separator = language.path_separator();
    let methods = match entry.types.as_slice() {
        [only] => entry.names.iter().map(|name| format!("{only}{separator}{name}")).collect(),
        [] => Vec::new(),
        several => vec![format!("{} of {}", entry.names.join(", "), several.join(", "))],
    };
    let own = entry.gives.iter().filter(|_| entry.functions.is_empty() && entry.types.is_empty());
    entry.functions.iter().chain(own).cloned().chain(methods).collect::<Vec<_>>().join(", ")
}

/// The keys that an entry has, without those that say what holds anyway.
fn facts(entry: &Entry) -> toml::Table {
    let mut table = toml::Table::try_from(entry).unwrap_or_default();
    let has_amount = table.contains_key("amount");
    table.retain(|key, value| match value {
        // No limit of time, and a repetition that does something again, are worth saying.
        toml::Value::Boolean(yes) => *yes || key == "default-timeout" || key == "idempotent",
        // The package matters where a range of its versions is told.
        toml::Value::String(_) if key == "package" => entry.since.is_some() || entry.until.is_some(),
        toml::Value::String(text) => !text.is_empty() && (key != "unit" || text != "seconds" || has_amount),
        toml::Value::Integer(number) => *number != 0 || !matches!(key, "at-once" | "power"),
        toml::Value::Array(items) => !items.is_empty(),
        toml::Value::Table(inner) => !inner.is_empty(),
        _ => true,
    });
    table
}
