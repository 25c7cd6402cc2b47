//! What names mean: `use` trees, the file's own items, nested modules.
//!
//! Every path is made absolute first; the file's own items are then found in one table by their absolute paths.

use rustc_hash::{FxHashMap, FxHashSet};
use syn::UseTree;

use crate::ir::{ClassId, FuncId, GlobalId};

/// An item of the file.
#[derive(Debug, Clone)]
pub(super) enum Named {
    /// A function, method or associated function.
    Func(FuncId),
    /// Several of one name (`from` in several impls): not to be told apart without types.
    Several,
    /// A struct, enum or trait.
    Class(ClassId),
    /// A constant or static.
    Global(GlobalId),
    /// An associated constant.
    AssociatedConst(ClassId, String),
    /// An enum's variant.
    Variant {
        /// Has no payload.
        unit: bool,
    },
    /// A module in this file.
    Module,
    /// A type alias, with what it stands for as an absolute path.
    Alias(String),
}

/// A module of the file: the file itself, or a `mod` block.
#[derive(Debug, Default)]
pub(super) struct Room {
    /// Absolute path.
    pub path: String,
    /// Imported names.
    pub uses: FxHashMap<String, String>,
    /// Modules and enums all of whose names are imported.
    pub globs: Vec<String>,
}

/// All names of a file.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// The modules; the first is the file.
    pub rooms: Vec<Room>,
    /// The file's own items by absolute path.
    pub items: FxHashMap<String, Named>,
    /// Names that blocks bring in (`use` and items within functions), innermost last.
    pub local: Vec<FxHashMap<String, String>>,
    /// Modules whose names blocks bring in.
    pub local_globs: Vec<Vec<String>>,
    /// Everything imported or named by its full path, in order and once each.
    pub imports: Vec<String>,
    seen: FxHashSet<String>,
}

/// Puts a path and a name together.
pub(super) fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}::{name}") }
}

/// The last part of a path.
pub(super) fn last_part(path: &str) -> &str {
    path.rsplit("::").next().unwrap_or(path)
}

/// All but the last part.
pub(super) fn parent(path: &str) -> &str {
    path.rsplit_once("::").map_or("", |(parent, _)| parent)
}

impl Names {
    fn room(&self, room: usize) -> &str {
        self.rooms.get(room).map_or("", |room| room.path.as_str())
    }

    /// Notes an import.
    pub fn import(&mut self, path: &str) {
        if !path.is_empty() && self.seen.insert(path.to_owned()) {
            self.imports.push(path.to_owned());
        }
    }

    /// The names that the modules of the file import, and have for others.
    pub fn exports(&self) -> Vec<(String, String)> {
        let root = self.room(0);
        let mut found = Vec::new();
        for room in &self.rooms {
            let inner = room.path.strip_prefix(root).unwrap_or(&room.path).trim_start_matches("::").replace("::", ".");
            let own = |name: &str| if inner.is_empty() { name.to_owned() } else { format!("{inner}.{name}") };
            found.extend(room.uses.iter().map(|(name, path)| (own(name), path.clone())));
            found.extend(room.globs.iter().map(|path| (own("*"), path.clone())));
        }
        found.sort();
        found
    }

    /// Adds an item; a second of the same name makes it ambiguous.
    pub fn add(&mut self, path: String, item: Named) {
        match self.items.get_mut(&path) {
            Some(there @ Named::Func(_)) if matches!(item, Named::Func(_)) => *there = Named::Several,
            Some(_) => {}
            None => {
                self.items.insert(path, item);
            }
        }
    }

    /// The file's own item at an absolute path.
    pub fn item(&self, path: &str) -> Option<&Named> {
        self.items.get(path)
    }

    /// Takes in a `use` tree: `(alias, absolute path)` pairs and globs.
    pub fn flatten(&self, tree: &UseTree, room: usize, absolute: bool) -> (Vec<(String, String)>, Vec<String>) {
        let mut names = Vec::new();
        let mut globs = Vec::new();
        let mut open: Vec<(&UseTree, Vec<String>)> = vec![(tree, Vec::new())];
        while let Some((tree, mut prefix)) = open.pop() {
            let resolve = |parts: &[String]| {
                if absolute { parts.join("::") } else { self.anchor(parts, room) }
            };
            match tree {
                UseTree::Path(path) => {
                    prefix.push(path.ident.to_string());
                    open.push((&path.tree, prefix));
                }
                UseTree::Name(name) if name.ident == "self" => {
                    let alias = prefix.last().cloned().unwrap_or_default();
                    names.push((alias, resolve(&prefix)));
                }
                UseTree::Name(name) => {
                    let alias = name.ident.to_string();
                    prefix.push(alias.clone());
                    names.push((alias, resolve(&prefix)));
                }
                UseTree::Rename(rename) => {
                    if rename.ident != "self" {
                        prefix.push(rename.ident.to_string());
                    }
                    names.push((rename.rename.to_string(), resolve(&prefix)));
                }
                UseTree::Glob(_) => globs.push(resolve(&prefix)),
                UseTree::Group(group) => open.extend(group.items.iter().rev().map(|item| (item, prefix.clone()))),
            }
        }
        (names, globs)
    }

    /// Resolves the beginning of a `use` path: `crate`, `self`, `super`, or an own module.
    fn anchor(&self, parts: &[String], room: usize) -> String {
        let here = self.room(room);
        let mut base = String::new();
        let mut rest = parts;
        let mut relative = false;
        while let [first, more @ ..] = rest {
            match first.as_str() {
                "crate" | "$crate" => base = self.crate_root(),
                "self" => base = if relative { base } else { here.to_owned() },
                "super" => {
                    let from = if relative { base } else { here.to_owned() };
                    base = parent(&from).to_owned();
                }
                _ => break,
            }
            relative = true;
            rest = more;
        }
        if !relative
            && let Some(first) = rest.first()
            && self.items.contains_key(&join(here, first))
        {
            here.clone_into(&mut base);
        }
        if base == "crate" && rest.first().is_some_and(|first| self.items.contains_key(first)) {
            base.clear();
        }
        rest.iter().fold(base, |path, part| join(&path, part))
    }

    fn crate_root(&self) -> String {
        let file = self.room(0);
        let root = file.split("::").next().unwrap_or("");
        if root.is_empty() { "crate".to_owned() } else { root.to_owned() }
    }

    /// A path as written, made absolute. `own` is what `Self` stands for.
    pub fn resolve(&self, parts: &[String], room: usize, own: Option<&str>) -> String {
        let Some((first, rest)) = parts.split_first() else { return String::new() };
        let then = |base: &str| {
            let path = rest.iter().fold(base.to_owned(), |path, part| join(&path, part));
            canonical(self.through_alias(path))
        };
        match first.as_str() {
            "Self" => return own.map_or_else(|| then("Self"), then),
            "crate" | "self" | "super" | "$crate" => return canonical(self.through_alias(self.anchor(parts, room))),
            _ => {}
        }
        for names in self.local.iter().rev() {
            if let Some(path) = names.get(first) {
                return then(path);
            }
        }
        let Some(here) = self.rooms.get(room) else { return then(first) };
        if let Some(path) = here.uses.get(first) {
            return then(path);
        }
        let own_item = join(&here.path, first);
        if self.items.contains_key(&own_item) {
            return then(&own_item);
        }
        let globs = self.local_globs.iter().rev().flatten().chain(here.globs.iter());
        for glob in globs {
            let path = join(glob, first);
            if self.items.contains_key(&path) {
                return then(&path);
            }
            let imported = self.rooms.iter().find(|room| room.path == *glob).and_then(|room| room.uses.get(first));
            if let Some(path) = imported {
                return then(path);
            }
        }
        then(first)
    }

    /// Replaces an own type alias at the beginning of a path by what it stands for.
    fn through_alias(&self, path: String) -> String {
        if let Some(Named::Alias(target)) = self.items.get(&path) {
            return target.clone();
        }
        let head = parent(&path);
        match self.items.get(head) {
            Some(Named::Alias(target)) => join(target, last_part(&path)),
            _ => path,
        }
    }
}

/// `Ok`, `Err`, `Some`, `None` by their short names, however they were written.
fn canonical(path: String) -> String {
    let Some((head, last)) = path.rsplit_once("::") else { return path };
    let short = match last {
        "Ok" | "Err" => matches!(head, "Result" | "std::result::Result" | "core::result::Result"),
        "Some" | "None" => matches!(head, "Option" | "std::option::Option" | "core::option::Option"),
        _ => false,
    };
    if short { last.to_owned() } else { path }
}

/// Whether a name is written like a type or variant: `Http`, not `http` or `MAX`.
pub(super) fn is_type_like(name: &str) -> bool {
    name.chars().next().is_some_and(char::is_uppercase)
}
