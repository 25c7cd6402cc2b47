//! All models of one language behind hash maps, for the questions that the analysis asks of every call.

use std::collections::BTreeMap;
use std::ops::Bound::{Included, Unbounded};
use std::sync::{Arc, OnceLock};

use rustc_hash::{FxHashMap, FxHashSet};

use super::load::without_examples;
use super::versions::{Pinned, Versions};
use super::{Entry, Kind, ModelError, Occurs, builtin, parse};
use crate::source::Language;

/// The models of all languages.
#[derive(Debug, Default)]
pub struct AllModels {
    /// Those of languages of which more is known than what is built in.
    own: Vec<(Language, Models)>,
}

impl AllModels {
    /// The built-in ones.
    #[must_use]
    pub fn builtin() -> &'static AllModels {
        static ALL: AllModels = AllModels { own: Vec::new() };
        &ALL
    }

    /// The built-in ones and a user's files on top of them; what a later file says of a name holds.
    #[must_use]
    pub fn load(files: &[(Language, &str, &str)]) -> (AllModels, Vec<ModelError>) {
        let (mut all, mut errors) = (AllModels::default(), Vec::new());
        for language in [Language::Python, Language::Rust] {
            let own: Vec<_> = files.iter().filter(|file| file.0 == language).map(|file| (file.1, file.2)).collect();
            if !own.is_empty() {
                let (models, wrong) = Models::load_all(builtin::files(language), &own);
                all.own.push((language, models));
                errors.extend(wrong);
            }
        }
        (all, errors)
    }

    /// What several say together; of two users' files that say something of the same name, the later holds.
    #[must_use]
    pub fn joined(all: &[&AllModels]) -> AllModels {
        let of = |language| Models::joined(&all.iter().map(|one| one.of(language)).collect::<Vec<_>>());
        let has_own = |language: &Language| all.iter().any(|one| one.own.iter().any(|(own, _)| own == language));
        let languages = [Language::Python, Language::Rust].into_iter().filter(has_own);
        AllModels { own: languages.map(|language| (language, of(language))).collect() }
    }

    /// What these files say of one language, and nothing else of it.
    #[must_use]
    pub fn of_files(language: Language, files: &[(&str, &str)]) -> AllModels {
        AllModels { own: vec![(language, Models::load(files).0)] }
    }

    /// What holds in a project with these versions.
    #[must_use]
    pub fn at(&self, versions: &Versions) -> AllModels {
        let is_told = |language: &Language| {
            versions.keys().map(|(of, _)| of).chain(self.own.iter().map(|(of, _)| of)).any(|of| of == language)
        };
        let languages = [Language::Python, Language::Rust].into_iter().filter(is_told);
        AllModels { own: languages.map(|language| (language, self.of(language).at(language, versions))).collect() }
    }

    /// Those of one language; what is built in is read when it is first asked for.
    #[must_use]
    pub fn of(&self, language: Language) -> &Models {
        static PYTHON: OnceLock<Models> = OnceLock::new();
        static RUST: OnceLock<Models> = OnceLock::new();
        let built_in = match language {
            Language::Python => &PYTHON,
            Language::Rust => &RUST,
        };
        match self.own.iter().find(|(own, _)| *own == language) {
            Some((_, models)) => models,
            None => built_in.get_or_init(|| Models::load_all(builtin::files(language), &[]).0),
        }
    }
}

/// What a model file says of its library as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Library {
    /// Name.
    pub name: Arc<str>,
    /// Version that was read.
    pub version: String,
    /// Import paths that belong to it.
    pub imports: Vec<String>,
    /// What it sends again by itself waits as long as `Retry-After` says.
    pub follows_retry_after: bool,
    /// The answers that it sends a request again after by itself, where that is told.
    pub default_statuses: Option<String>,
    /// The file that says so.
    pub file: Arc<str>,
}

/// A type that has a method of some name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeMethod {
    /// Canonical path of the type.
    pub ty: Arc<str>,
    /// The library that says so.
    pub library: Arc<str>,
    entry: usize,
}

/// What is above a class and what is below it.
#[derive(Debug, Default)]
struct Line {
    /// Nearest first, each once.
    above: Vec<Arc<str>>,
    /// Those that models tell of, in order of their paths.
    below: Vec<Arc<str>>,
    /// Models tell of all that are above it.
    whole: bool,
}

/// All models of one language, ready for look-ups.
#[derive(Debug, Default)]
pub struct Models {
    entries: Vec<Entry>,
    libraries: Vec<Library>,
    /// Exact paths.
    functions: FxHashMap<String, usize>,
    /// What stands before the `*`, for paths that end in one.
    wildcards: BTreeMap<String, usize>,
    /// By canonical type, then by name.
    methods: FxHashMap<String, FxHashMap<String, usize>>,
    types_with: FxHashMap<String, Vec<TypeMethod>>,
    /// From any path of a type to its first one.
    canonical: FxHashMap<String, Arc<str>>,
    /// What lets several things run at once: functions by their paths, methods by their names.
    crowds: FxHashMap<String, usize>,
    crowd_methods: FxHashMap<String, Vec<usize>>,
    crowd_names: FxHashSet<String>,
    /// The classes directly above a known class, by canonical path.
    bases: FxHashMap<Arc<str>, Vec<Arc<str>>>,
    /// All that are above one, and below one: asked on every path to every handler.
    lines: FxHashMap<Arc<str>, Line>,
    /// Import path to library.
    imports: FxHashMap<String, usize>,
    /// The types of spans of time.
    spans: FxHashSet<Arc<str>>,
    overflow: Option<Arc<str>>,
    span_of_time: Option<usize>,
    /// The versions of packages that are known, by name.
    pub(super) versions: FxHashMap<Arc<str>, Pinned>,
}

impl Models {
    /// Models that know nothing.
    #[must_use]
    pub fn none() -> &'static Models {
        static NONE: OnceLock<Models> = OnceLock::new();
        NONE.get_or_init(Models::default)
    }

    /// Reads files; of two that say something of the same name, the later holds.
    #[must_use]
    pub fn load(files: &[(&str, &str)]) -> (Models, Vec<ModelError>) {
        Models::load_all(files, &[])
    }

    /// As [`Models::load`], with a user's files behind the others. Examples are left unread.
    fn load_all(files: &[(&str, &str)], own: &[(&str, &str)]) -> (Models, Vec<ModelError>) {
        let mut models = Models::default();
        let mut errors = Vec::new();
        let built_in = files.iter().map(|(name, text)| (name, parse(name, &without_examples(text)), false));
        for (name, (file, wrong), is_own) in
            built_in.chain(own.iter().map(|(name, text)| (name, parse(name, text), true)))
        {
            errors.extend(wrong);
            let Some(mut file) = file else { continue };
            if is_own && file.imports.is_empty() {
                file.imports = roots(&file.entries);
            }
            let library = models.libraries.len();
            let library_name = file.library.as_str().into();
            let file_name: Arc<str> = (*name).into();
            models.libraries.push(Library {
                name: library_name,
                version: file.version,
                follows_retry_after: file.follows_retry_after,
                default_statuses: file.default_statuses,
                imports: file.imports,
                file: file_name,
            });
            models.entries.extend(file.entries.into_iter().map(|entry| Entry { file: library, ..entry }));
        }
        models.index();
        (models, errors)
    }

    fn joined(all: &[&Models]) -> Models {
        let mut models = Models::default();
        for one in all {
            let first = models.libraries.len();
            let new: Vec<bool> = one.libraries.iter().map(|library| !models.libraries.contains(library)).collect();
            let is_new = |entry: &&Entry| new.get(entry.file).copied().unwrap_or_default();
            let place = |file: usize| first + new.iter().take(file).filter(|new| **new).count();
            let entries: Vec<Entry> = one
                .entries
                .iter()
                .filter(is_new)
                .map(|entry| Entry { file: place(entry.file), ..entry.clone() })
                .collect();
            let libraries = one.libraries.iter().zip(&new).filter(|(_, new)| **new).map(|(library, _)| library.clone());
            let libraries: Vec<Library> = libraries.collect();
            models.entries.extend(entries);
            models.libraries.extend(libraries);
        }
        models.index();
        models
    }

    /// The same in a project with these versions. Entries keep their places, whichever of them hold.
    pub(super) fn at(&self, language: Language, versions: &Versions) -> Models {
        let own = versions.iter().filter(|((of, _), _)| *of == language);
        let mut models = Models {
            entries: self.entries.clone(),
            libraries: self.libraries.clone(),
            versions: own.map(|((_, name), pinned)| (name.clone(), pinned.clone())).collect(),
            ..Models::default()
        };
        models.index();
        models
    }

    fn index(&mut self) {
        for (library, known) in self.libraries.iter().enumerate() {
            for import in &known.imports {
                self.imports.insert(import.clone(), library);
            }
        }
        for entry in &self.entries {
            if let Some(first) = own_path(entry).filter(|_| self.holds(entry)) {
                let first: Arc<str> = first.into();
                let same = if entry.gives.is_none() { entry.functions.as_slice() } else { &[] };
                for path in same.iter().chain(&entry.aliases) {
                    self.canonical.insert(path.clone(), first.clone());
                }
                self.canonical.insert(first.to_string(), first);
            }
        }
        for at in 0..self.entries.len() {
            self.index_entry(at);
        }
        let overflows = |entry: &&Entry| entry.occurs == Some(Occurs::Overflow);
        self.overflow = self.entries.iter().find(overflows).and_then(own_path).map(Arc::from);
        let ends = |entry: &Entry| entry.kind == Kind::Duration && entry.greatest.is_some();
        self.span_of_time = self.entries.iter().position(ends);
        self.index_lines();
    }

    fn index_lines(&mut self) {
        let mut lines: FxHashMap<Arc<str>, Line> = FxHashMap::default();
        let mut known: Vec<&Arc<str>> = self.bases.keys().collect();
        known.sort_unstable();
        for class in known {
            let above = self.all_above(class);
            for base in &above {
                lines.entry(base.clone()).or_default().below.push(class.clone());
            }
            let whole = above.iter().all(|base| self.bases.contains_key(base));
            let line = lines.entry(class.clone()).or_default();
            (line.above, line.whole) = (above, whole);
        }
        self.lines = lines;
    }

    fn all_above(&self, class: &Arc<str>) -> Vec<Arc<str>> {
        let mut found: Vec<Arc<str>> = Vec::new();
        let mut next = class.clone();
        let mut at = 0;
        loop {
            for base in self.bases.get(&next).into_iter().flatten() {
                if !found.contains(base) {
                    found.push(base.clone());
                }
            }
            let Some(class) = found.get(at) else { return found };
            next = class.clone();
            at += 1;
        }
    }

    fn index_entry(&mut self, at: usize) {
        let Some(entry) = self.entries.get(at).filter(|entry| self.holds(entry)) else { return };
        // Said beside what else the same call is.
        if entry.kind == Kind::Crowd {
            for path in &entry.functions {
                self.crowds.insert(path.clone(), at);
            }
            for name in &entry.names {
                self.crowd_methods.entry(name.clone()).or_default().push(at);
            }
            if !entry.lazy {
                let of_path = |path: &String| split_last(path).map(|(_, _, name)| name.to_owned());
                self.crowd_names.extend(entry.functions.iter().filter_map(of_path).chain(entry.names.clone()));
            }
            return;
        }
        for path in entry.functions.iter().chain(&entry.aliases) {
            match path.strip_suffix('*') {
                Some(prefix) => self.wildcards.insert(prefix.to_string(), at),
                None => self.functions.insert(path.clone(), at),
            };
        }
        for ty in &entry.types {
            let ty = self.canonical.get(ty).cloned().unwrap_or_else(|| ty.as_str().into());
            let of_type = self.methods.entry(ty.to_string()).or_default();
            for name in &entry.names {
                of_type.insert(name.clone(), at);
                if &*ty == "*" || name == "*" {
                    continue;
                }
                let with = self.types_with.entry(name.clone()).or_default();
                let found = TypeMethod { ty: ty.clone(), library: entry.library.clone(), entry: at };
                match with.iter_mut().find(|known| known.ty == ty) {
                    Some(known) => *known = found,
                    None => with.push(found),
                }
            }
        }
        if entry.kind == Kind::Duration
            && let Some(made) = entry.gives.as_deref().filter(|_| !entry.functions.is_empty())
        {
            self.spans.insert(self.canonical.get(made).cloned().unwrap_or_else(|| made.into()));
        }
        if matches!(entry.kind, Kind::Exception | Kind::Type)
            && let Some(first) = own_path(entry)
        {
            let bases = entry.bases.iter().map(|base| match self.canonical.get(base) {
                Some(first) => first.clone(),
                None => base.as_str().into(),
            });
            let bases: Vec<_> = bases.collect();
            // A type that is also an exception, or is made in several ways, keeps the bases that any entry gives it.
            let known = self.bases.entry(first.into()).or_default();
            if !bases.is_empty() {
                *known = bases;
            }
        }
    }

    /// All entries, in the order of the files, of whatever versions.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Whether anything of a library leaves the process.
    #[must_use]
    pub fn has_operations(&self, library: &str) -> bool {
        self.entries.iter().any(|entry| *entry.library == *library && entry.kind.leaves_process())
    }

    /// The libraries, in the order of the files.
    #[must_use]
    pub fn libraries(&self) -> &[Library] {
        &self.libraries
    }

    /// What is known of a function, class or constant by its absolute path: exactly, by another path of the type that it
    /// belongs to, else by the longest wildcard that fits.
    #[must_use]
    pub fn function(&self, path: &str) -> Option<&Entry> {
        self.exact(path).or_else(|| self.wildcard(path))
    }

    /// As [`Models::function`], without wildcards.
    #[must_use]
    pub fn exact(&self, path: &str) -> Option<&Entry> {
        let at = self.functions.get(path).or_else(|| {
            let (owner, separator, name) = split_last(path)?;
            let first = self.canonical.get(owner).filter(|first| &***first != owner)?;
            self.functions.get(&format!("{first}{separator}{name}"))
        })?;
        self.entries.get(*at)
    }

    /// What a function lets run at once.
    #[must_use]
    pub fn crowd(&self, path: &str) -> Option<&Entry> {
        self.entries.get(*self.crowds.get(path)?)
    }

    /// What a method lets run at once, where `is_of` takes one of the types that an entry says it of (`*` is any).
    pub fn crowd_method(&self, name: &str, mut is_of: impl FnMut(&Entry, &str) -> bool) -> Option<&Entry> {
        let mut entries = self.crowd_methods.get(name)?.iter().filter_map(|at| self.entries.get(*at));
        entries.find(|entry| entry.types.iter().any(|ty| is_of(entry, ty)))
    }

    /// Whether something of this name lets several things run at once.
    #[must_use]
    pub fn is_crowd_name(&self, name: &str) -> bool {
        self.crowd_names.contains(name)
    }

    fn wildcard(&self, path: &str) -> Option<&Entry> {
        let mut rest = path;
        loop {
            let (prefix, at) = self.wildcards.range::<str, _>((Unbounded, Included(rest))).next_back()?;
            if rest.starts_with(prefix.as_str()) {
                return self.entries.get(*at);
            }
            // One that fits begins as this one does, as far as this one fits.
            let same = rest.char_indices().zip(prefix.chars()).find(|((_, here), there)| here != there);
            rest = rest.get(..same?.0.0)?;
        }
    }

    /// What is known of a method or attribute of a type: said of the type itself, of a class above it, of any type, of
    /// all methods of the type (`*`), or of all that its library holds (a wildcard).
    #[must_use]
    pub fn method(&self, ty: &str, name: &str) -> Option<&Entry> {
        let ty = self.canonical(ty);
        let said_of = |ty: &str, name: &str| self.methods.get(ty).and_then(|names| names.get(name));
        let inherited =
            |name: &str| said_of(ty, name).or_else(|| self.ancestors(ty).find_map(|above| said_of(above, name)));
        let found = inherited(name).or_else(|| said_of("*", name)).or_else(|| inherited("*"));
        match found {
            Some(at) => self.entries.get(*at),
            None => self.wildcard(ty).filter(|entry| matches!(entry.kind, Kind::Remote | Kind::Local)),
        }
    }

    /// The type of the answer that errors of a class carry, whatever they call it.
    #[must_use]
    pub fn answer_of(&self, class: &str) -> Option<&str> {
        let class = self.canonical(class);
        let said_of = |class: &str| {
            let entries = self.methods.get(class)?.values().filter_map(|at| self.entries.get(*at));
            let carried = entries.filter(|entry| entry.kind == Kind::ExceptionResponse);
            carried.filter_map(|entry| entry.gives.as_deref()).min()
        };
        said_of(class).or_else(|| self.ancestors(class).find_map(said_of))
    }

    /// The types that have a method or attribute of this name (inherited ones aside).
    #[must_use]
    pub fn types_with_method(&self, name: &str) -> &[TypeMethod] {
        self.types_with.get(name).map_or(&[], Vec::as_slice)
    }

    /// What such a type's method is.
    #[must_use]
    pub fn entry_of(&self, method: &TypeMethod) -> Option<&Entry> {
        self.entries.get(method.entry)
    }

    /// The library that an absolute path belongs to, by the longest of the import paths that it begins with.
    #[must_use]
    pub fn library_of(&self, path: &str) -> Option<&Library> {
        let mut rest = path;
        loop {
            if let Some(at) = self.imports.get(rest) {
                return self.libraries.get(*at);
            }
            rest = split_last(rest)?.0;
        }
    }

    /// The library whose file an entry stands in.
    #[must_use]
    pub fn library_with(&self, entry: &Entry) -> Option<&Library> {
        self.libraries.get(entry.file)
    }

    /// A library by its name.
    #[must_use]
    pub fn library(&self, name: &str) -> Option<&Library> {
        self.libraries.iter().find(|library| &*library.name == name)
    }

    /// The first path of a type or exception that has several (`requests.Timeout` is
    /// `requests.exceptions.Timeout`); any other path as it is.
    #[must_use]
    pub fn canonical<'a>(&'a self, path: &'a str) -> &'a str {
        self.canonical.get(path).map_or(path, |first| &**first)
    }

    /// Whether a path is a type or exception that models tell of.
    #[must_use]
    pub fn knows_type(&self, path: &str) -> bool {
        let path = self.canonical(path);
        self.bases.contains_key(path) || self.methods.contains_key(path)
    }

    /// Whether the values of a type are spans of time: numbers, as far as arithmetic goes.
    #[must_use]
    pub fn is_span(&self, ty: &str) -> bool {
        self.spans.contains(self.canonical(ty))
    }

    /// Whether every value of `class` is one of `base`; `None` where either is not known, or a class between them is
    /// not.
    #[must_use]
    pub fn is_subclass(&self, class: &str, base: &str) -> Option<bool> {
        let (class, base) = (self.canonical(class), self.canonical(base));
        if class == base {
            return Some(true);
        }
        let line = self.lines.get(class)?;
        if line.above.iter().any(|above| &**above == base) {
            return Some(true);
        }
        // A class that is not known may be one of these by another name, but hardly by that of another library.
        let root = |path: &str| path.split(['.', ':']).next().map(str::to_owned);
        let of_others = |path: &str| root(path) != root(base) && root(path).as_deref() != Some("builtins");
        let top = |path: &str| matches!(path, "builtins.Exception" | "builtins.BaseException");
        let above = || line.above.iter().map(|above| &**above);
        let foreign = || of_others(class) && above().any(top) && above().all(|above| top(above) || of_others(above));
        let known = self.bases.contains_key(class) && line.whole;
        (known && (self.bases.contains_key(base) || foreign())).then_some(false)
    }

    /// All classes above a class, nearest first, each once; empty where none are known.
    pub fn ancestors(&self, class: &str) -> impl ExactSizeIterator<Item = &str> + use<'_> {
        let line = self.lines.get(self.canonical(class));
        line.map_or(&[][..], |line| &line.above).iter().map(|above| &**above)
    }

    /// All known classes below a class, in order of their paths.
    pub fn descendants(&self, class: &str) -> impl ExactSizeIterator<Item = &str> + use<'_> {
        let line = self.lines.get(self.canonical(class));
        line.map_or(&[][..], |line| &line.below).iter().map(|below| &**below)
    }

    /// The exceptions of a `raises` list that a handler may tell apart: by their first paths, each once, in order.
    #[must_use]
    pub fn leaf_exceptions(&self, raises: &[String]) -> Vec<String> {
        let mut seen = FxHashSet::default();
        let firsts = raises.iter().map(|class| self.canonical(class));
        firsts.filter(|first| seen.insert(*first)).map(str::to_string).collect()
    }

    /// What arithmetic raises whose result is too great, where the language has such an exception.
    #[must_use]
    pub fn overflow(&self) -> Option<&str> {
        self.overflow.as_deref()
    }

    /// The span of time of the language's own, as a model tells of it: how long it can be, and what it is multiplied
    /// with.
    #[must_use]
    pub fn span_of_time(&self) -> Option<&Entry> {
        self.span_of_time.and_then(|at| self.entries.get(at))
    }

    /// What is said of an exception class itself (not of those above it).
    #[must_use]
    pub fn exception(&self, class: &str) -> Option<&Entry> {
        let entry = self.functions.get(self.canonical(class)).and_then(|at| self.entries.get(*at));
        entry.filter(|entry| entry.kind == Kind::Exception)
    }
}

/// The packages that entries tell of: the first parts of what they name.
fn roots(entries: &[Entry]) -> Vec<String> {
    let first = |path: &String| path.split(['.', ':']).next().filter(|root| !root.contains('*')).map(str::to_owned);
    let mut roots: Vec<String> = entries.iter().flat_map(|entry| &entry.functions).filter_map(first).collect();
    roots.sort();
    roots.dedup();
    roots
}

/// The path of the type that an entry is about.
fn own_path(entry: &Entry) -> Option<&str> {
    match entry.kind {
        Kind::Type => entry.gives.as_deref().or_else(|| entry.functions.first().map(String::as_str)),
        Kind::Exception => entry.functions.first().map(String::as_str),
        _ => None,
    }
}

/// A path without its last part, the separator, and the last part.
fn split_last(path: &str) -> Option<(&str, &str, &str)> {
    let (at, separator) = match (path.rfind("::"), path.rfind('.')) {
        (Some(at), _) => (at, "::"),
        (None, Some(at)) => (at, "."),
        (None, None) => return None,
    };
    Some((path.get(..at)?, separator, path.get(at + separator.len()..)?))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const FILE: &str = r#"
library = "net"
version = "1"
imports = ["net", "net2.inner"]
[[entry]]
kind = "exception"
functions = ["net.errors.Error", "net.Error"]
bases = ["builtins.OSError"]
[[entry]]
kind = "exception"
functions = ["net.errors.Late", "net.Late"]
bases = ["net.Error"]
before-send = true
[[entry]]
kind = "exception"
functions = ["builtins.OSError"]
[[entry]]
kind = "exception"
functions = ["builtins.Exception"]
[[entry]]
kind = "exception"
functions = ["net.Plain"]
bases = ["builtins.Exception"]
[[entry]]
kind = "exception"
functions = ["net.errors.Odd"]
bases = ["elsewhere.Base"]
[[entry]]
kind = "exception-response"
types = ["net.Error"]
names = ["answer"]
gives = "net.Answer"
[[entry]]
kind = "type"
functions = ["net.Session", "net.session"]
[[entry]]
kind = "request"
types = ["net.session"]
names = ["get"]
verb-is-name = true
[[entry]]
kind = "transparent"
types = ["*"]
names = ["clone"]
[[entry]]
kind = "remote"
functions = ["net.*", "net.sub.*", "cloud_*"]
[[entry]]
kind = "local"
functions = ["net.log.*"]
[[entry]]
kind = "type"
gives = "std::Span"
functions = ["std::Span::new"]
aliases = ["other::Span"]
[[entry]]
kind = "remote"
types = ["net.Pool"]
names = ["*"]
"#;

    fn models() -> Models {
        let (models, errors) = Models::load(&[("net.toml", FILE)]);
        assert_eq!(errors, []);
        models
    }

    #[test]
    fn the_longest_wildcard_wins_and_an_exact_path_beats_it() {
        let models = models();
        assert_eq!(models.function("net.log.info").unwrap().kind, Kind::Local);
        assert_eq!(models.function("net.anything").unwrap().kind, Kind::Remote);
        assert_eq!(models.function("net.zeal.far").unwrap().kind, Kind::Remote);
        assert_eq!(models.function("net.Session").unwrap().kind, Kind::Type);
        assert_eq!(models.function("cloud_s3::Client::new").unwrap().kind, Kind::Remote);
        assert!(models.function("network.anything").is_none());
        assert!(models.function("net").is_none());
        assert!(models.function("é").is_none());
    }

    #[test]
    fn methods_are_found_on_aliases_above_and_on_any_type() {
        let models = models();
        assert_eq!(models.method("net.Session", "get").unwrap().kind, Kind::Request);
        assert_eq!(models.method("net.session", "get").unwrap().kind, Kind::Request);
        assert_eq!(models.method("net.Late", "answer").unwrap().kind, Kind::ExceptionResponse);
        assert_eq!(models.method("anything", "clone").unwrap().kind, Kind::Transparent);
        assert_eq!(models.method("net.Pool", "clone").unwrap().kind, Kind::Transparent);
        assert_eq!(models.method("net.Pool", "run").unwrap().kind, Kind::Remote);
        assert_eq!(models.method("net.sub.Thing", "run").unwrap().kind, Kind::Remote);
        assert!(models.method("anything", "get").is_none());
    }

    #[test]
    fn a_constructor_is_no_alias_of_its_type_but_an_aliased_type_has_its_constructors() {
        let models = models();
        assert_eq!(models.canonical("std::Span::new"), "std::Span::new");
        assert_eq!(models.canonical("other::Span"), "std::Span");
        assert_eq!(models.function("other::Span::new").unwrap().gives.as_deref(), Some("std::Span"));
    }

    #[test]
    fn classes_are_compared_over_aliases_and_only_where_known() {
        let models = models();
        assert_eq!(models.is_subclass("net.Late", "builtins.OSError"), Some(true));
        assert_eq!(models.is_subclass("net.Late", "net.errors.Late"), Some(true));
        assert_eq!(models.is_subclass("net.Error", "net.Late"), Some(false));
        assert_eq!(models.is_subclass("net.Odd", "net.Late"), None);
        assert_eq!(models.is_subclass("net.errors.Odd", "net.Late"), None);
        assert_eq!(models.is_subclass("net.errors.Odd", "elsewhere.Base"), Some(true));
        assert_eq!(models.is_subclass("net.Late", "own.Class"), None);
        assert_eq!(models.is_subclass("net.Plain", "own.Class"), Some(false));
        assert_eq!(models.is_subclass("net.Plain", "net.other.Class"), None);
        assert_eq!(models.answer_of("net.Late"), Some("net.Answer"));
        assert_eq!(models.answer_of("net.Plain"), None);
        assert_eq!(models.ancestors("net.Late").collect::<Vec<_>>(), ["net.errors.Error", "builtins.OSError"]);
        assert_eq!(models.descendants("builtins.OSError").collect::<Vec<_>>(), ["net.errors.Error", "net.errors.Late"]);
        let raises = ["net.Late".to_string(), "net.errors.Late".into(), "net.Error".into()];
        assert_eq!(models.leaf_exceptions(&raises), ["net.errors.Late", "net.errors.Error"]);
        assert!(models.exception("net.Late").unwrap().before_send);
        assert!(!models.exception("net.Error").unwrap().before_send);
    }

    #[test]
    fn bases_that_go_round_do_not_hang() {
        let text = "library = \"x\"\nversion = \"1\"\n[[entry]]\nkind = \"exception\"\nfunctions = [\"A\"]\nbases = [\"B\"]\n[[entry]]\nkind = \"exception\"\nfunctions = [\"B\"]\nbases = [\"A\"]\n";
        let (models, _) = Models::load(&[("x.toml", text)]);
        assert_eq!(models.is_subclass("A", "B"), Some(true));
        assert_eq!(models.is_subclass("A", "C"), None);
    }

    #[test]
    fn libraries_are_known_by_what_is_imported() {
        let models = models();
        assert_eq!(&*models.library_of("net.Session").unwrap().name, "net");
        assert_eq!(&*models.library_of("net2.inner.x.y").unwrap().name, "net");
        assert!(models.library_of("net2.other").is_none());
        assert_eq!(models.library("net").unwrap().imports, ["net", "net2.inner"]);
    }

    #[test]
    fn types_are_found_by_their_methods() {
        let models = models();
        let with = models.types_with_method("get");
        assert_eq!(with.iter().map(|found| &*found.ty).collect::<Vec<_>>(), ["net.Session"]);
        assert_eq!(models.entry_of(with.first().unwrap()).unwrap().kind, Kind::Request);
        assert!(models.types_with_method("clone").is_empty());
    }

    #[test]
    fn a_later_file_overrides_an_earlier_one() {
        let own = "library = \"own\"\nversion = \"1\"\n[[entry]]\nkind = \"local\"\ntypes = [\"net.Session\"]\nnames = [\"get\"]\n";
        let (models, errors) = Models::load(&[("net.toml", FILE), ("own.toml", own)]);
        assert_eq!(errors, []);
        assert_eq!(models.method("net.session", "get").unwrap().kind, Kind::Local);
        assert_eq!(&*models.types_with_method("get").first().unwrap().library, "own");
    }
}
