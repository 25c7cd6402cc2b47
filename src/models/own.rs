//! Users' own model files. More is asked of them than of single entries: what they name must hang together with what is
//! known already, for a slip in a name would silently leave an entry without effect.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{AllModels, Entry, Kind, ModelError, Models, parse, versions};
use crate::source::Language;
use crate::spelling;

/// A file as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnFile {
    /// As it is printed.
    pub name: String,
    /// Its text.
    pub text: String,
    /// The language that the name of its folder says, if it is that of one.
    pub language: Option<Language>,
}

impl OwnFile {
    /// Its language: what it says itself, else what its folder says.
    #[must_use]
    pub fn language(&self) -> Option<Language> {
        parse(&self.name, &self.text).0.and_then(|parsed| parsed.language).or(self.language)
    }
}

/// The built-in models and these on top of them, and all that is wrong with these.
#[must_use]
pub fn load(files: &[OwnFile]) -> (AllModels, Vec<ModelError>) {
    let mut errors = Vec::new();
    let mut sorted: Vec<(Language, &str, &str)> = Vec::new();
    for file in files {
        match file.language() {
            Some(language) => sorted.push((language, &file.name, &file.text)),
            None => errors.extend(no_language(file)),
        }
    }
    let (all, wrong) = AllModels::load(&sorted);
    errors.extend(wrong);
    if errors.is_empty() {
        for language in [Language::Python, Language::Rust] {
            Check::new(all.of(language), language).own(&sorted, &mut errors);
        }
    }
    (all, errors)
}

/// What is wrong with a file that does not say its language: something else, or that.
fn no_language(file: &OwnFile) -> Vec<ModelError> {
    let (_, errors) = parse(&file.name, &file.text);
    if !errors.is_empty() {
        return errors;
    }
    let message = "`language` is missing: write language = \"python\" or language = \"rust\", or put the file into a \
                   folder of that name";
    vec![ModelError { file: file.name.clone(), line: 1, message: message.to_owned() }]
}

struct Check<'a> {
    models: &'a Models,
    language: Language,
    /// All types and exceptions that an entry tells of.
    told: FxHashSet<&'a str>,
}

impl<'a> Check<'a> {
    fn new(models: &'a Models, language: Language) -> Self {
        let mut told = FxHashSet::default();
        for entry in models.entries() {
            told.extend(entry.gives.as_deref());
            if matches!(entry.kind, Kind::Type | Kind::Exception) {
                told.extend(entry.functions.iter().chain(&entry.aliases).map(String::as_str));
            }
        }
        Check { models, language, told }
    }

    fn own(&self, files: &[(Language, &str, &str)], errors: &mut Vec<ModelError>) {
        let own = |entry: &&Entry| {
            let file = self.models.library_with(entry).map_or("", |library| &*library.file);
            files.iter().any(|(language, name, _)| *language == self.language && *name == file)
        };
        let mut said: FxHashMap<(usize, String), Vec<&Entry>> = FxHashMap::default();
        for entry in self.models.entries().iter().filter(own) {
            let file = self.models.library_with(entry).map_or("", |library| &*library.file);
            let mut error = |message| errors.push(ModelError { file: file.to_owned(), line: entry.line, message });
            let methods = entry.types.iter().flat_map(|ty| entry.names.iter().map(move |name| (ty, name)));
            let methods = methods.map(|(ty, name)| format!("{ty}{}{name}", self.language.path_separator()));
            for path in entry.functions.iter().cloned().chain(methods) {
                let before = said.entry((entry.file, path.clone())).or_default();
                if let Some(before) = before.iter().find(|before| versions::overlap(before, entry)) {
                    error(format!("`{path}` was told of already, on line {}", before.line));
                }
                before.push(entry);
            }
            if let Some(message) = self.misspelt(entry) {
                error(message);
                continue;
            }
            for ty in entry.types.iter().chain(&entry.state).filter(|ty| *ty != "*" && !self.told.contains(ty.as_str()))
            {
                let how = "an entry of `kind = \"type\"` has it in `functions`, or another entry `gives` it";
                error(self.untold("type", ty, how));
            }
            let classes = entry.raises.iter().chain(&entry.bases).chain(&entry.status_error).chain(&entry.wraps);
            for class in classes.filter(|class| !self.told.contains(class.as_str())) {
                error(self.untold("class", class, "an entry of `kind = \"exception\"` has it in `functions`"));
            }
        }
    }

    /// A path that its language does not write so.
    fn misspelt(&self, entry: &Entry) -> Option<String> {
        let paths = entry.functions.iter().chain(&entry.types).chain(&entry.gives).chain(&entry.raises);
        let (name, separator) = match self.language {
            Language::Python => ("Python", "."),
            Language::Rust => ("Rust", "::"),
        };
        let wrong = |path: &&String| match self.language {
            Language::Python => path.contains([':', ' ']),
            Language::Rust => path.replace("::", "").contains([':', '.', ' ']),
        };
        let path = paths.into_iter().find(wrong)?;
        Some(format!("`{path}` is no path of {name}: its parts are joined by `{separator}`"))
    }

    fn untold(&self, what: &str, name: &str, how: &str) -> String {
        let near = spelling::nearest(name, self.told.iter().copied());
        let near = near.map_or_else(String::new, |near| format!("did you mean `{near}`? Else "));
        format!("nothing tells of the {what} `{name}`: {near}make sure that {how}")
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn errors(language: Option<Language>, rest: &str) -> Vec<String> {
        let text = format!("library = \"ours\"\n{rest}");
        let (_, errors) = load(&[OwnFile { name: "ours.toml".to_owned(), text, language }]);
        errors.iter().map(ToString::to_string).collect()
    }

    const CALL: &str = "[[entry]]\nkind = \"request\"\nfunctions = [\"ours.call\"]\n";

    #[test]
    fn the_language_comes_from_the_file_or_its_folder() {
        assert_eq!(errors(Some(Language::Python), CALL), [""; 0]);
        assert_eq!(errors(None, &format!("language = \"python\"\n{CALL}")), [""; 0]);
        let missing = errors(None, CALL);
        assert!(
            missing.first().unwrap().starts_with("ours.toml:1: `language` is missing: write language = \"python\"")
        );
        let wrong = errors(None, "language = \"ruby\"\n");
        assert!(wrong.first().unwrap().starts_with("ours.toml:2: "), "{wrong:?}");
        let slip = errors(None, "langage = \"python\"\n");
        assert!(slip.iter().any(|error| error.contains("unknown key `langage`: did you mean `language`?")), "{slip:?}");
        let (all, _) = load(&[OwnFile {
            name: "ours.toml".to_owned(),
            text: format!("library = \"ours\"\nlanguage = \"python\"\n{CALL}"),
            language: Some(Language::Rust),
        }]);
        let known = |language| all.of(language).function("ours.call").is_some();
        assert!(known(Language::Python) && !known(Language::Rust));
    }

    #[test]
    fn what_is_named_must_be_told_of() {
        let python = |rest: &str| errors(Some(Language::Python), rest);
        let types = "[[entry]]\nkind = \"type\"\nfunctions = [\"ours.Client\"]\n\
                     [[entry]]\nkind = \"request\"\ntypes = [\"ours.Clinet\"]\nnames = [\"get\"]\n";
        assert_eq!(
            python(types),
            [
                "ours.toml:5: nothing tells of the type `ours.Clinet`: did you mean `ours.Client`? Else make sure that an \
              entry of `kind = \"type\"` has it in `functions`, or another entry `gives` it"
            ]
        );
        let raises = format!("{CALL}raises = [\"requests.Timeout\", \"ours.errors.Unavailable\"]\n");
        assert_eq!(
            python(&raises),
            ["ours.toml:2: nothing tells of the class `ours.errors.Unavailable`: make sure that an entry of `kind = \
              \"exception\"` has it in `functions`"]
        );
        let any = "[[entry]]\nkind = \"request\"\ntypes = [\"*\"]\nnames = [\"fetch_remote\"]\n";
        assert_eq!(python(any), [""; 0]);
    }

    #[test]
    fn nothing_is_said_twice_and_paths_are_those_of_the_language() {
        let twice = errors(Some(Language::Python), &format!("{CALL}{CALL}"));
        assert_eq!(twice, ["ours.toml:5: `ours.call` was told of already, on line 2"]);
        let rust = errors(Some(Language::Rust), CALL);
        assert_eq!(rust, ["ours.toml:2: `ours.call` is no path of Rust: its parts are joined by `::`"]);
    }
}
