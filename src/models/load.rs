//! Reads and checks a model file.
//!
//! A file is read to its end whatever is wrong with it: a faulty entry is left out and told of, the others hold.

use serde::Deserialize;
use serde::de::IntoDeserializer;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::vocabulary::{self, COMMON, WORDS};
use super::{Entry, Example, ModelFile, versions};
use crate::spelling;

/// What is wrong with a model file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {message}")]
pub struct ModelError {
    /// The file.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// What is wrong, and what is allowed.
    pub message: String,
}

/// Reads one file: what holds of it, and what is wrong with the rest.
#[must_use]
pub fn parse(name: &str, text: &str) -> (Option<ModelFile>, Vec<ModelError>) {
    let lines = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at).collect();
    let mut reader = Reader { name, text, lines, errors: Vec::new() };
    let file = reader.file();
    (file, reader.errors)
}

/// A file's text with empty lines for its examples: half of it, and nothing that a run needs. A text in which a line
/// within several quotes begins as a table does is not cut there.
pub(super) fn without_examples(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let (mut in_example, mut in_text) = (false, false);
    for line in text.split_inclusive('\n') {
        if !in_text && line.starts_with('[') {
            in_example = line.starts_with("[[example]]") || in_example && line.starts_with("[example.");
        }
        let quotes = line.matches("\"\"\"").count() + line.matches("'''").count();
        in_text ^= quotes % 2 == 1;
        kept.push_str(if in_example { "\n" } else { line });
    }
    kept
}

const FILE_KEYS: &[&str] = &[
    "library",
    "version",
    "follows-retry-after",
    "default-statuses",
    "package",
    "language",
    "sources",
    "imports",
    "groups",
    "entry",
    "example",
];

struct Reader<'a> {
    name: &'a str,
    text: &'a str,
    /// Where lines end.
    lines: Vec<usize>,
    errors: Vec<ModelError>,
}

impl Reader<'_> {
    fn line(&self, offset: usize) -> usize {
        self.lines.partition_point(|end| *end < offset) + 1
    }

    fn error(&mut self, offset: usize, message: impl Into<String>) {
        let line = self.line(offset);
        self.errors.push(ModelError { file: self.name.to_string(), line, message: message.into() });
    }

    fn toml_error(&mut self, error: &toml::de::Error, otherwise: usize) {
        let offset = error.span().map_or(otherwise, |span| span.start);
        self.error(offset, error.message().to_string());
    }

    fn file(&mut self) -> Option<ModelFile> {
        let (table, syntax) = DeTable::parse_recoverable(self.text);
        for error in &syntax {
            self.toml_error(error, 0);
        }
        if !syntax.is_empty() {
            return None;
        }
        let mut head = DeTable::new();
        let mut entries = Vec::new();
        let mut examples = Vec::new();
        let span = table.span();
        for (key, value) in table.into_inner() {
            match key.get_ref().as_ref() {
                "entry" => entries = self.list(&key, value),
                "example" => examples = self.list(&key, value),
                known if FILE_KEYS.contains(&known) => {
                    head.insert(key, value);
                }
                unknown => {
                    let message = spelling::unknown("key", unknown, FILE_KEYS.iter().copied());
                    self.error(key.span().start, message);
                }
            }
        }
        let answers = head.iter().find(|(key, _)| key.get_ref() == "default-statuses");
        if let Some((key, value)) = answers
            && let Some(text) = value.get_ref().as_str()
            && let Some(fault) = vocabulary::unsound_statuses(key.get_ref(), text)
        {
            self.error(value.span().start, fault);
        }
        let head = Spanned::new(span, DeValue::Table(head));
        let mut file = match ModelFile::deserialize(head.into_deserializer()) {
            Ok(file) => file,
            Err(error) => {
                self.toml_error(&error, 0);
                return None;
            }
        };
        file.entries = entries.into_iter().filter_map(|value| self.entry(&file, value)).collect();
        file.examples = examples.into_iter().filter_map(|value| self.example(value)).collect();
        Some(file)
    }

    fn list<'v>(
        &mut self,
        key: &Spanned<std::borrow::Cow<'_, str>>,
        value: Spanned<DeValue<'v>>,
    ) -> Vec<Spanned<DeValue<'v>>> {
        match value.into_inner() {
            DeValue::Array(items) => items.into_iter().collect(),
            _ => {
                self.error(key.span().start, format!("`{0}` is a list of tables: write `[[{0}]]`", key.get_ref()));
                Vec::new()
            }
        }
    }

    fn example(&mut self, value: Spanned<DeValue<'_>>) -> Option<Example> {
        let start = value.span().start;
        match Example::deserialize(value.into_deserializer()) {
            Ok(example) => Some(Example { line: self.line(start), ..example }),
            Err(error) => {
                self.toml_error(&error, start);
                None
            }
        }
    }

    fn entry(&mut self, file: &ModelFile, value: Spanned<DeValue<'_>>) -> Option<Entry> {
        let start = value.span().start;
        if !self.keys_are_sound(&value) {
            return None;
        }
        let mut entry = match Entry::deserialize(value.into_deserializer()) {
            Ok(entry) => entry,
            Err(error) => {
                self.toml_error(&error, start);
                return None;
            }
        };
        for list in [
            &mut entry.raises,
            &mut entry.functions,
            &mut entry.types,
            &mut entry.names,
            &mut entry.bases,
            &mut entry.aliases,
        ] {
            if let Err(group) = expand(list, file) {
                self.error(start, spelling::unknown("group", &group, file.groups.keys().map(String::as_str)));
                return None;
            }
        }
        if let Some(fault) = vocabulary::fault(&entry) {
            self.error(start, fault);
            return None;
        }
        entry.library = file.library.as_str().into();
        let package = file.package.as_deref().filter(|_| entry.package.is_empty());
        entry.package = versions::normal(match package {
            Some(package) => package,
            None if entry.package.is_empty() => &file.library,
            None => &entry.package,
        })
        .into();
        entry.line = self.line(start);
        Some(entry)
    }

    /// Holds an entry's keys against the table of what goes with its kind.
    fn keys_are_sound(&mut self, value: &Spanned<DeValue<'_>>) -> bool {
        let start = value.span().start;
        let Some(table) = value.get_ref().as_table() else {
            self.error(start, "an entry is a table: write `[[entry]]`");
            return false;
        };
        let Some(kind) = table.iter().find(|(key, _)| key.get_ref() == "kind").map(|(_, value)| value) else {
            self.error(start, "`kind` is missing: it says what `functions` or `names` are");
            return false;
        };
        let text = kind.get_ref().as_str().unwrap_or_default();
        let Some(word) = WORDS.iter().find(|word| word.word == text) else {
            self.error(kind.span().start, spelling::unknown("kind", text, WORDS.iter().map(|word| word.word)));
            return false;
        };
        let before = self.errors.len();
        for key in table.keys() {
            let name = key.get_ref().as_ref();
            if COMMON.contains(&name) || word.may.contains(&name) {
                continue;
            }
            let allowed = || COMMON.iter().chain(word.may).copied();
            let message = if vocabulary::all_keys().contains(&name) {
                format!("`{name}` does not go with `kind = \"{text}\"`, which takes {}", spelling::listed(allowed()))
            } else {
                spelling::unknown("key", name, allowed())
            };
            self.error(key.span().start, message);
        }
        for must in word.must {
            if !table.keys().any(|key| key.get_ref() == must) {
                self.error(start, format!("`kind = \"{text}\"` needs `{must}`"));
            }
        }
        self.errors.len() == before
    }
}

/// Puts the members of a file's groups in the place of their names.
fn expand(list: &mut Vec<String>, file: &ModelFile) -> Result<(), String> {
    if !list.iter().any(|item| item.starts_with('@')) {
        return Ok(());
    }
    let mut out = Vec::new();
    for item in list.drain(..) {
        match item.strip_prefix('@') {
            None => out.push(item),
            Some(group) => match file.groups.get(group) {
                Some(members) => out.extend(members.iter().cloned()),
                None => return Err(group.to_string()),
            },
        }
    }
    *list = out;
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use crate::models::Kind;

    const HEAD: &str = "library = \"x\"\nversion = \"1\"\n";

    fn errors(rest: &str) -> Vec<(usize, String)> {
        let (_, errors) = parse("x.toml", &format!("{HEAD}{rest}"));
        errors.into_iter().map(|error| (error.line, error.message)).collect()
    }

    #[test]
    fn a_sound_file_has_no_errors_and_knows_its_lines() {
        let text = format!(
            "{HEAD}[groups]\nnet = [\"x.A\", \"x.B\"]\n\n[[entry]]\nkind = \"request\"\nfunctions = [\"x.get\"]\nraises = [\"@net\", \"x.C\"]\n"
        );
        let (file, errors) = parse("x.toml", &text);
        assert_eq!(errors, []);
        let file = file.unwrap();
        assert_eq!(file.entries[0].kind, Kind::Request);
        assert_eq!(file.entries[0].raises, ["x.A", "x.B", "x.C"]);
        assert_eq!(file.entries[0].line, 6);
        assert_eq!(&*file.entries[0].library, "x");
    }

    #[test]
    fn what_is_built_in_says_the_same_without_its_examples() {
        use crate::models::builtin::files;
        use crate::source::Language;
        for (name, text) in files(Language::Python).iter().chain(files(Language::Rust)) {
            let whole = parse(name, text).0.unwrap();
            let (cut, errors) = parse(name, &without_examples(text));
            let cut = cut.unwrap();
            assert_eq!((errors, cut.examples.len()), (Vec::new(), 0), "{name}");
            assert!(whole.examples.is_empty() || without_examples(text).len() < text.len(), "{name}");
            let said = |file: &ModelFile| format!("{:?}", (&file.library, &file.version, &file.imports, &file.entries));
            assert_eq!(said(&cut), said(&whole), "{name}");
        }
    }

    #[test]
    fn a_misspelt_kind_is_told_with_line_and_suggestion() {
        let errors = errors("[[entry]]\nkind = \"reqest\"\nfunctions = [\"x.get\"]\n");
        assert_eq!(errors.len(), 1);
        assert_eq!(errors[0].0, 4);
        assert!(errors[0].1.contains("unknown kind `reqest`: did you mean `request`?"), "{}", errors[0].1);
    }

    #[test]
    fn a_misspelt_key_and_a_key_of_another_kind_are_told() {
        let errors = errors(
            "[[entry]]\nkind = \"sleep\"\nfunctions = [\"x.nap\"]\namount = { position = 0 }\nunits = \"seconds\"\nverb = \"GET\"\n",
        );
        assert_eq!(errors.iter().map(|error| error.0).collect::<Vec<_>>(), [7, 8]);
        assert!(errors[0].1.contains("did you mean `unit`?"), "{}", errors[0].1);
        assert!(errors[1].1.contains("`verb` does not go with `kind = \"sleep\"`"), "{}", errors[1].1);
    }

    #[test]
    fn a_faulty_entry_does_not_take_the_others_with_it() {
        let text = format!(
            "{HEAD}[[entry]]\nkind = \"sleep\"\nfunctions = [\"x.a\"]\n[[entry]]\nkind = \"exit\"\nfunctions = [\"x.b\"]\n"
        );
        let (file, errors) = parse("x.toml", &text);
        assert_eq!(errors.len(), 1);
        assert_eq!(errors[0].message, "`kind = \"sleep\"` needs `amount`");
        assert_eq!(file.unwrap().entries.len(), 1);
    }

    #[test]
    fn wrong_values_keep_their_line() {
        let errors = errors("[[entry]]\nkind = \"clock\"\nfunctions = [\"x.now\"]\nunit = \"fortnights\"\n");
        assert_eq!(errors.len(), 1);
        assert_eq!(errors[0].0, 6);
        assert!(errors[0].1.contains("fortnights"), "{}", errors[0].1);
    }

    #[test]
    fn syntax_errors_and_missing_heads_are_told() {
        assert_eq!(parse("x.toml", "library = \n").1[0].line, 1);
        assert!(parse("x.toml", "version = \"1\"\n").1[0].message.contains("library"));
        assert!(errors("[[entri]]\nkind = \"exit\"\n")[0].1.contains("did you mean `entry`?"));
        assert!(errors("entry = 3\n")[0].1.contains("[[entry]]"));
    }

    #[test]
    fn entries_must_name_something() {
        for rest in [
            "[[entry]]\nkind = \"exit\"\n",
            "[[entry]]\nkind = \"exit\"\nnames = [\"x\"]\n",
            "[[entry]]\nkind = \"exit\"\nfunctions = [\"a*b\"]\n",
            "[[entry]]\nkind = \"request\"\nfunctions = [\"a.*\"]\n",
            "[[entry]]\nkind = \"status-test\"\ntypes = [\"T\"]\nnames = [\"n\"]\nstatuses = \"5xx\"\n",
            "[[entry]]\nkind = \"request\"\nfunctions = [\"a.b\"]\nraises = [\"@none\"]\n",
            "[[entry]]\nkind = \"request\"\nfunctions = [\"a.b\"]\nurl = {}\n",
        ] {
            assert_eq!(errors(rest).len(), 1, "{rest}");
        }
    }
}
