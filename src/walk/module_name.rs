//! The name under which other files import a file.
//!
//! Python: the path from the topmost package that holds it (`pkg.sub.mod`), or from the root of the run where there are
//! no packages; a `src` folder at the front is no part of it. Rust: `crate_name::mod::sub`, with the crate's name from
//! the nearest manifest with a package, or the word `crate` where there is none; each test, example, bench and
//! further binary is a crate of its own.

use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;

use crate::source::Language;

/// Names files, and remembers what it has read of folders and manifests.
pub(super) struct ModuleNames {
    root: PathBuf,
    packages: FxHashMap<PathBuf, bool>,
    projects: FxHashMap<PathBuf, Option<PathBuf>>,
    crates: FxHashMap<PathBuf, Option<Crate>>,
}

/// What a manifest says.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Crate {
    folder: PathBuf,
    name: String,
    /// Source file of the library, from the manifest's folder, where it is not `src/lib.rs`.
    library: Option<PathBuf>,
}

impl ModuleNames {
    pub fn new(root: &Path) -> Self {
        ModuleNames {
            root: root.to_path_buf(),
            packages: FxHashMap::default(),
            projects: FxHashMap::default(),
            crates: FxHashMap::default(),
        }
    }

    pub fn of(&mut self, path: &Path, language: Language) -> String {
        match language {
            Language::Python => self.python(path),
            Language::Rust => self.rust(path),
        }
    }

    fn python(&mut self, path: &Path) -> String {
        let mut base = path.parent();
        while let Some(folder) = base
            && self.is_package(folder)
        {
            base = folder.parent();
        }
        // In a package, its parent is where imports begin; outside of any, the root is, or that of the project that it
        // belongs to.
        if base == path.parent()
            && let Some(folder) = base
        {
            let project = self.project(folder);
            if let Ok(inner) = path.strip_prefix(project.as_deref().unwrap_or(&self.root)) {
                let inner = inner.strip_prefix("src").unwrap_or(inner);
                return dotted(inner, "__init__", ".");
            }
        }
        let inner = base.and_then(|base| path.strip_prefix(base).ok()).unwrap_or(path);
        dotted(inner, "__init__", ".")
    }

    /// The nearest folder at or above one, and below the root, that has a Python project of its own.
    fn project(&mut self, folder: &Path) -> Option<PathBuf> {
        if let Some(known) = self.projects.get(folder) {
            return known.clone();
        }
        let below = folder != self.root && folder.starts_with(&self.root);
        let own = || ["pyproject.toml", "setup.py", "setup.cfg"].iter().any(|name| folder.join(name).exists());
        let found = match folder.parent() {
            _ if !below => None,
            _ if own() => Some(folder.to_path_buf()),
            Some(parent) => self.project(parent),
            None => None,
        };
        self.projects.insert(folder.to_path_buf(), found.clone());
        found
    }

    fn is_package(&mut self, folder: &Path) -> bool {
        if let Some(known) = self.packages.get(folder) {
            return *known;
        }
        let is = folder.join("__init__.py").exists() || folder.join("__init__.pyi").exists();
        self.packages.insert(folder.to_path_buf(), is);
        is
    }

    fn rust(&mut self, path: &Path) -> String {
        let Some(owner) = path.parent().and_then(|folder| self.owner(folder)) else {
            let inner = path.strip_prefix(&self.root).unwrap_or(path);
            return joined("crate", &rust_modules(inner.strip_prefix("src").unwrap_or(inner)));
        };
        let Ok(inner) = path.strip_prefix(&owner.folder) else { return owner.name };
        if let Some(library) = &owner.library {
            if inner == library {
                return owner.name;
            }
            if let Some(folder) = library.parent()
                && let Ok(inner) = inner.strip_prefix(folder)
            {
                return joined(&owner.name, &rust_modules(inner));
            }
        }
        if let Ok(inner) = inner.strip_prefix("src/bin") {
            return target(inner);
        }
        if let Ok(inner) = inner.strip_prefix("src") {
            return joined(&owner.name, &rust_modules(inner));
        }
        for folder in ["tests", "examples", "benches"] {
            if let Ok(inner) = inner.strip_prefix(folder) {
                return target(inner);
            }
        }
        target(inner)
    }

    /// The nearest package at or above a folder.
    fn owner(&mut self, folder: &Path) -> Option<Crate> {
        if let Some(known) = self.crates.get(folder) {
            return known.clone();
        }
        let own = super::read(&folder.join("Cargo.toml")).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        let own = own.and_then(|text| manifest(folder, &text));
        let owner = match own {
            Some(own) => Some(own),
            None => folder.parent().and_then(|parent| self.owner(parent)),
        };
        self.crates.insert(folder.to_path_buf(), owner.clone());
        owner
    }
}

fn manifest(folder: &Path, text: &str) -> Option<Crate> {
    let manifest: toml::Table = text.parse().ok()?;
    let entry = |table: &str, key: &str| manifest.get(table)?.get(key)?.as_str();
    let name = entry("package", "name")?;
    let name = entry("lib", "name").unwrap_or(name).replace('-', "_");
    let library = entry("lib", "path").map(PathBuf::from).filter(|path| path != Path::new("src/lib.rs"));
    Some(Crate { folder: folder.to_path_buf(), name, library })
}

/// A crate of its own: its first folder or file names it.
fn target(inner: &Path) -> String {
    let modules = rust_modules(inner);
    match modules.split_first() {
        Some((name, rest)) => joined(&name.replace('-', "_"), rest),
        None => "crate".to_owned(),
    }
}

fn rust_modules(inner: &Path) -> Vec<String> {
    let mut parts = parts(inner);
    let is_root = parts.len() == 1 && parts.last().is_some_and(|last| last == "lib" || last == "main");
    let is_folder = parts.len() > 1 && parts.last().is_some_and(|last| last == "mod" || last == "main");
    if is_root || is_folder {
        parts.pop();
    }
    parts
}

fn joined(name: &str, modules: &[String]) -> String {
    std::iter::once(name).chain(modules.iter().map(String::as_str)).collect::<Vec<_>>().join("::")
}

fn dotted(inner: &Path, folder_file: &str, dot: &str) -> String {
    let mut parts = parts(inner);
    if parts.len() > 1 && parts.last().is_some_and(|last| last == folder_file) {
        parts.pop();
    }
    parts.join(dot)
}

/// The parts of a relative path, the extension cut off.
fn parts(inner: &Path) -> Vec<String> {
    let mut parts: Vec<String> = inner
        .components()
        .filter_map(|part| match part {
            std::path::Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
            _ => None,
        })
        .collect();
    if let Some(last) = parts.last_mut()
        && let Some((stem, _)) = last.rsplit_once('.')
        && !stem.is_empty()
    {
        *last = stem.to_owned();
    }
    parts
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn named(root: &Path, path: &str) -> String {
        let path = root.join(path);
        let language = Language::of_extension(path.extension().unwrap().to_str().unwrap()).unwrap();
        ModuleNames::new(root).of(&path, language)
    }

    /// A folder of its own for a test, with empty files and manifests.
    fn tree(name: &str, files: &[(&str, &str)]) -> PathBuf {
        let root = std::env::temp_dir().join(format!("stormlint-names-{name}-{}", std::process::id()));
        for (path, text) in files {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        root
    }

    #[test]
    fn python_names_begin_above_the_topmost_package() {
        let root = tree(
            "python",
            &[("src/shop/__init__.py", ""), ("src/shop/net/__init__.py", ""), ("tools/a.py", ""), ("src/one.py", "")],
        );
        let more = [
            ("libs/wire/pyproject.toml", ""),
            ("libs/wire/src/wire/__init__.py", ""),
            ("libs/wire/src/single.py", ""),
            ("libs/wire/space/mod.py", ""),
        ];
        tree("python", &more);
        assert_eq!(named(&root, "src/shop/net/client.py"), "shop.net.client");
        assert_eq!(named(&root, "src/shop/net/__init__.py"), "shop.net");
        assert_eq!(named(&root, "tools/a.py"), "tools.a");
        assert_eq!(named(&root, "src/one.py"), "one");
        assert_eq!(named(&root, "libs/wire/src/wire/_http.py"), "wire._http");
        assert_eq!(named(&root, "libs/wire/src/single.py"), "single");
        assert_eq!(named(&root, "libs/wire/space/mod.py"), "space.mod");
        assert_eq!(named(&root, "claims.py"), "claims");
        std::fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn rust_names_begin_with_the_crate() {
        let root = tree(
            "rust",
            &[
                ("Cargo.toml", "[workspace]\n"),
                ("my-net/Cargo.toml", "[package]\nname = \"my-net\"\n"),
                ("odd/Cargo.toml", "[package]\nname = \"odd\"\n[lib]\nname = \"even\"\npath = \"code/root.rs\"\n"),
            ],
        );
        for (path, name) in [
            ("my-net/src/lib.rs", "my_net"),
            ("my-net/src/main.rs", "my_net"),
            ("my-net/src/http/mod.rs", "my_net::http"),
            ("my-net/src/http/client.rs", "my_net::http::client"),
            ("my-net/src/bin/ping-all.rs", "ping_all"),
            ("my-net/src/bin/pong/main.rs", "pong"),
            ("my-net/tests/it.rs", "it"),
            ("my-net/tests/common/mod.rs", "common"),
            ("my-net/build.rs", "build"),
            ("odd/code/root.rs", "even"),
            ("odd/code/sub.rs", "even::sub"),
        ] {
            assert_eq!(named(&root, path), name, "{path}");
        }
        std::fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn without_a_manifest_the_crate_is_called_crate() {
        let root = tree("bare", &[("x.rs", "")]);
        assert_eq!(named(&root, "main.rs"), "crate");
        assert_eq!(named(&root, "src/net/client.rs"), "crate::net::client");
        assert_eq!(named(&root, "x.rs"), "crate::x");
        std::fs::remove_dir_all(root).unwrap();
    }
}
