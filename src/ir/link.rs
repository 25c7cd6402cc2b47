//! What other files call a thing by: names that a module imports are names of its own to whoever imports it.
//!
//! `from .transport import fetch` in a package's `__init__`, `pub use net::http::get as fetch`, `from .names import *`:
//! the paths in all modules of a run are replaced by those under which the things are defined, so that nobody has to
//! look for them again. A file is lowered without knowing any other; only this step joins them.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Class, Function, FunctionKind, Module, Op, Pattern, TypeRef};
use crate::source::Language;

/// Imports that lead to imports are followed so far.
const DEPTH: usize = 8;

/// What the modules of a run define and hand on.
#[derive(Debug, Default)]
struct Names {
    /// Absolute paths of all modules.
    modules: FxHashSet<String>,
    /// And of what stands in them.
    defined: FxHashSet<String>,
    /// The paths of imported names, with what they stand for.
    handed_on: FxHashMap<String, String>,
    /// Modules all of whose names a module has, too.
    opened: FxHashMap<String, Vec<String>>,
    /// The first parts of the paths of modules.
    roots: FxHashSet<String>,
}

/// Makes all paths in the modules of a run, which have these absolute paths, those of the things that they stand for.
pub fn link(modules: &mut [Module], names: &[String]) {
    let mut known = Names::default();
    for (module, name) in modules.iter().zip(names) {
        known.add(module, name);
    }
    for (module, name) in modules.iter_mut().zip(names) {
        let separator = module.language.path_separator();
        // A script finds what stands beside it; what belongs to a package asks for it by the package's name.
        let folder = name.rsplit_once(separator).map(|(folder, _)| folder);
        let beside = folder.filter(|folder| module.language == Language::Python && !known.modules.contains(*folder));
        let beside = beside.map(str::to_owned);
        each_path(module, &mut |path| {
            if let Some(found) = known.resolve(path, separator, beside.as_deref()) {
                *path = found;
            }
        });
    }
}

impl Names {
    fn add(&mut self, module: &Module, name: &str) {
        let separator = module.language.path_separator();
        let full = |own: &str| {
            let own = own.replace('.', separator);
            if name.is_empty() { own } else { format!("{name}{separator}{own}") }
        };
        self.modules.insert(name.to_owned());
        if let Some(root) = name.split(separator).next() {
            self.roots.insert(root.to_owned());
        }
        let functions = module.functions.iter().filter(|function| function.kind == FunctionKind::Named);
        let functions = functions.filter(|function| function.parent.is_none()).map(|it| it.qualified_name.as_str());
        let classes = module.classes.iter().map(|class| class.name.as_str());
        let globals = module.globals.iter().map(|global| global.name.as_str());
        self.defined.extend(functions.chain(classes).chain(globals).map(full));
        for (own, path) in &module.exports {
            match own.strip_suffix('*') {
                Some(room) => {
                    let room = full(room.trim_end_matches('.'));
                    let room = room.trim_end_matches(separator).to_owned();
                    self.opened.entry(room).or_default().push(path.clone());
                }
                None => {
                    let own = full(own);
                    if own != *path {
                        self.handed_on.insert(own, path.clone());
                    }
                }
            }
        }
    }

    /// The path under which a thing is defined, where that is another one.
    fn resolve(&self, path: &str, separator: &str, beside: Option<&str>) -> Option<String> {
        let root = path.split(separator).next()?;
        let mut now = match beside.map(|folder| format!("{folder}{separator}{root}")) {
            Some(sibling) if self.modules.contains(&sibling) => Some(format!("{sibling}{}", path.get(root.len()..)?)),
            _ if self.roots.contains(root) => None,
            _ => return None,
        };
        for _ in 0..DEPTH {
            match self.step(now.as_deref().unwrap_or(path), separator) {
                Some(next) => now = Some(next),
                None => break,
            }
        }
        now
    }

    /// One import further.
    fn step(&self, path: &str, separator: &str) -> Option<String> {
        let mut end = path.len();
        loop {
            let (front, rest) = path.split_at_checked(end)?;
            if self.defined.contains(front) {
                return None;
            }
            if let Some(target) = self.handed_on.get(front) {
                // A package that takes a name from a module of the same name.
                let itself = self.modules.contains(front) && target.strip_prefix(front).is_some();
                return (!itself || rest.is_empty()).then(|| format!("{target}{rest}"));
            }
            let name = rest.strip_prefix(separator).map(|rest| rest.split(separator).next().unwrap_or(rest));
            if let Some((opened, name)) = self.opened.get(front).zip(name) {
                let has = |target: &&String| {
                    let full = format!("{target}{separator}{name}");
                    self.defined.contains(&full)
                        || self.handed_on.contains_key(&full)
                        || self.opened.contains_key(*target)
                };
                if let Some(target) = opened.iter().find(has) {
                    return Some(format!("{target}{rest}"));
                }
            }
            if self.modules.contains(front) {
                return None;
            }
            end = front.rfind(separator)?;
        }
    }
}

/// Shows all paths of a module that may lead out of it.
fn each_path(module: &mut Module, see: &mut impl FnMut(&mut String)) {
    for function in &mut module.functions {
        in_function(function, see);
    }
    for class in &mut module.classes {
        in_class(class, see);
    }
    module.globals.iter_mut().filter_map(|global| global.ty.as_mut()).for_each(|ty| in_type(ty, see));
    module.imports.iter_mut().for_each(see);
}

fn in_class(class: &mut Class, see: &mut impl FnMut(&mut String)) {
    class.bases.iter_mut().for_each(|base| in_type(base, see));
    class.fields.iter_mut().filter_map(|field| field.ty.as_mut()).for_each(|ty| in_type(ty, see));
}

fn in_function(function: &mut Function, see: &mut impl FnMut(&mut String)) {
    function.returns.iter_mut().for_each(|ty| in_type(ty, see));
    function.slots.iter_mut().filter_map(|slot| slot.ty.as_mut()).for_each(|ty| in_type(ty, see));
    for instr in function.blocks.iter_mut().flat_map(|block| &mut block.instrs) {
        match &mut instr.op {
            Op::Path(path) => see(path),
            Op::Variant { path, .. } | Op::Struct { path, .. } => see(path),
            Op::Matches(_, pattern) | Op::Bind(_, pattern) => in_pattern(pattern, see),
            _ => {}
        }
    }
}

fn in_type(ty: &mut TypeRef, see: &mut impl FnMut(&mut String)) {
    if ty.class.is_none() {
        see(&mut ty.path);
    }
    ty.args.iter_mut().for_each(|arg| in_type(arg, see));
}

fn in_pattern(pattern: &mut Pattern, see: &mut impl FnMut(&mut String)) {
    match pattern {
        Pattern::Path(path) => see(path),
        Pattern::Variant { path, args, .. } => {
            see(path);
            args.iter_mut().for_each(|arg| in_pattern(arg, see));
        }
        Pattern::Struct { path, fields, .. } => {
            see(path);
            fields.iter_mut().for_each(|(_, part)| in_pattern(part, see));
        }
        Pattern::Bind(_, Some(inner)) => in_pattern(inner, see),
        Pattern::Tuple(parts, _) | Pattern::Or(parts) => parts.iter_mut().for_each(|part| in_pattern(part, see)),
        Pattern::Mapping(parts) => parts.iter_mut().for_each(|(_, part)| in_pattern(part, see)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frontend;
    use crate::source::SourceFile;

    /// Links files, given as path, module and text; returns the paths that the last of them uses.
    fn paths(files: &[(&str, &str, &str)], language: Language) -> Vec<String> {
        let mut modules = Vec::new();
        let mut names = Vec::new();
        for (path, module, text) in files {
            modules.push(frontend::lower(&SourceFile::new(*path, *text, language), module));
            names.push((*module).to_owned());
        }
        link(&mut modules, &names);
        let mut found = Vec::new();
        if let Some(last) = modules.last_mut() {
            each_path(last, &mut |path| found.push(path.clone()));
        }
        found
    }

    #[test]
    fn packages_hand_on_what_they_import() {
        let files = [
            (
                "net/__init__.py",
                "net",
                "from .http import get_text as text\nfrom .codes import *\nfrom requests import get\n",
            ),
            ("net/http.py", "net.http", "def get_text(url):\n    pass\n"),
            ("net/codes.py", "net.codes", "class Gone(Exception):\n    pass\n"),
            (
                "app.py",
                "app",
                "import net\nfrom net import Gone, get\ndef f():\n    net.text(1)\n    raise Gone(get)\n",
            ),
        ];
        let found = paths(&files, Language::Python);
        for path in ["net.http.get_text", "net.codes.Gone", "requests.get"] {
            assert!(found.iter().any(|known| known == path), "{path}: {found:?}");
        }
    }

    #[test]
    fn a_module_of_the_same_name_is_not_taken_for_what_it_holds() {
        let files = [
            ("net/__init__.py", "net", "from .fetch import fetch\n"),
            ("net/fetch.py", "net.fetch", "def fetch(url):\n    pass\ndef other():\n    pass\n"),
            (
                "app.py",
                "app",
                "from net import fetch\nfrom net.fetch import other\ndef f():\n    fetch(1)\n    other()\n",
            ),
        ];
        let found = paths(&files, Language::Python);
        assert!(found.iter().any(|known| known == "net.fetch.fetch"), "{found:?}");
        assert!(found.iter().any(|known| known == "net.fetch.other"), "{found:?}");
        assert!(!found.iter().any(|known| known.contains("fetch.fetch.")), "{found:?}");
    }

    #[test]
    fn scripts_find_what_stands_beside_them() {
        let files = [
            ("tools/wire.py", "tools.wire", "def get(url):\n    pass\n"),
            ("tools/run.py", "tools.run", "import wire\ndef f():\n    wire.get(1)\n"),
        ];
        assert!(paths(&files, Language::Python).contains(&"tools.wire.get".to_owned()));
        // In a package, the same is another library's name.
        let mut files = files.to_vec();
        files.insert(0, ("tools/__init__.py", "tools", ""));
        assert!(!paths(&files, Language::Python).contains(&"tools.wire.get".to_owned()));
    }

    #[test]
    fn crates_hand_on_what_they_use() {
        let files = [
            ("net/src/lib.rs", "net", "mod http;\npub use http::get_text as text;\n"),
            ("net/src/http.rs", "net::http", "pub fn get_text() {}\n"),
            ("app/src/main.rs", "app", "use net::text as t;\nfn f() { t(); net::text(); }\n"),
        ];
        let found = paths(&files, Language::Rust);
        assert_eq!(found.iter().filter(|path| *path == "net::http::get_text").count(), 3, "{found:?}");
    }
}
