//! All files of a run, and what a name from outside a file stands for in it.

use std::sync::OnceLock;

use rustc_hash::{FxHashMap, FxHashSet};

use super::crowds::Crowds;
use super::given::Callers;
use super::helpers::Helpers;
use super::makers::Makers;
use super::reach::Reach;
use super::value::{ClassRef, FuncRef};
use crate::frontend::prelude;
use crate::ir::{Class, ClassId, FuncId, Function, FunctionKind, GlobalId, Module, Op};
use crate::models::{AllModels, Entry, Models, Sets};
use crate::source::SourceFile;

/// As many classes are looked into for what one of them inherits.
const MOST_BASES: usize = 100;

/// A thing that a project defines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entity {
    /// A function or method.
    Func(FuncRef),
    /// A class.
    Class(ClassRef),
    /// A module variable.
    Global(u32, GlobalId),
}

/// The files of a run with their graphs.
#[derive(Debug)]
pub struct Project<'a> {
    /// The files.
    pub files: &'a [SourceFile],
    /// Their graphs, in the same order.
    pub modules: &'a [Module],
    /// For each file.
    models: Vec<&'a AllModels>,
    /// For what belongs to none of them.
    shared: &'a AllModels,
    names: FxHashMap<String, Entity>,
    /// The first parts of the modules' paths.
    roots: FxHashSet<String>,
    reach: Reach,
    crowds: Crowds,
    helpers: Helpers,
    makers: Makers,
    /// Methods that a trait of the project gives to results and options; `None` where several have the name.
    lent: FxHashMap<&'a str, Option<FuncRef>>,
    /// For each file, whether it sets the time limit of all that is given none.
    default_limits: Vec<OnceLock<bool>>,
    /// For each file, where its functions are named.
    callers: Vec<OnceLock<Callers>>,
}

impl<'a> Project<'a> {
    /// Indexes what the modules define; `names` are their absolute paths (`pkg.mod`, `crate::net`) and `models` what is
    /// known of libraries in each, in the same order; `shared` holds for all of them together.
    #[must_use]
    pub fn new(
        files: &'a [SourceFile],
        modules: &'a [Module],
        names: &[String],
        models: Vec<&'a AllModels>,
        shared: &'a AllModels,
    ) -> Self {
        let mut index = FxHashMap::default();
        let mut roots = FxHashSet::default();
        let mut lent = FxHashMap::default();
        for (at, (module, name)) in modules.iter().zip(names).enumerate() {
            let Ok(file) = u32::try_from(at) else { break };
            let separator = module.language.path_separator();
            if let Some((root, _)) = name.split_once(separator) {
                roots.insert(root.to_owned());
            }
            let full = |own: &str| {
                let own = own.replace('.', separator);
                if name.is_empty() { own } else { format!("{name}{separator}{own}") }
            };
            for (id, func) in module.functions.iter().enumerate() {
                if func.kind == FunctionKind::Named
                    && let Ok(id) = u32::try_from(id)
                {
                    let entity = Entity::Func(FuncRef { file, func: FuncId(id) });
                    index.entry(full(&func.qualified_name)).or_insert(entity);
                    if is_lent(func) {
                        let func_ref = FuncRef { file, func: FuncId(id) };
                        lent.entry(func.name.as_str()).and_modify(|one| *one = None).or_insert(Some(func_ref));
                    }
                }
            }
            for (id, class) in module.classes.iter().enumerate() {
                if let Ok(id) = u32::try_from(id) {
                    index.entry(full(&class.name)).or_insert(Entity::Class(ClassRef { file, class: ClassId(id) }));
                }
            }
            for (id, global) in module.globals.iter().enumerate() {
                if let Ok(id) = u32::try_from(id) {
                    index.entry(full(&global.name)).or_insert(Entity::Global(file, GlobalId(id)));
                }
            }
        }
        let default_limits = modules.iter().map(|_| OnceLock::new()).collect();
        let callers = modules.iter().map(|_| OnceLock::new()).collect();
        Project {
            files,
            modules,
            models,
            shared,
            names: index,
            roots,
            reach: Reach::default(),
            crowds: Crowds::default(),
            helpers: Helpers::default(),
            makers: Makers::default(),
            lent,
            default_limits,
            callers,
        }
    }

    /// The method of this name that a trait of the project gives to results and options, where there is one.
    pub(super) fn lent_method(&self, name: &str) -> Option<FuncRef> {
        self.lent.get(name).copied().flatten()
    }

    /// What is known of a function, class or constant by its path. What is said of a library as a whole does not hold
    /// for the library's own source.
    pub(super) fn known(&self, file: u32, path: &str) -> Option<&'a Entry> {
        let models = self.models(file)?;
        let own = || path.split(['.', ':']).next().is_some_and(|root| self.roots.contains(root));
        if own() { models.exact(path) } else { models.function(path) }
    }

    /// Whether a file sets the time limit of whatever in the process is given none.
    pub(super) fn has_default_limit(&self, file: u32) -> bool {
        let sets = |op: &Op| match op {
            Op::Path(path) => self.known(file, path).is_some_and(|entry| entry.sets == Some(Sets::DefaultTimeout)),
            _ => false,
        };
        let Some((module, known)) = self.module(file).zip(self.default_limits.get(file as usize)) else { return false };
        let instrs = || module.functions.iter().flat_map(|function| &function.blocks).flat_map(|block| &block.instrs);
        *known.get_or_init(|| instrs().any(|instr| sets(&instr.op)))
    }

    /// Where the functions of a file are named in it.
    pub(super) fn callers(&self, file: u32) -> Option<&Callers> {
        let (module, known) = self.modules.get(file as usize).zip(self.callers.get(file as usize))?;
        Some(known.get_or_init(|| Callers::new(self, file, module)))
    }

    /// The functions that stand in one.
    pub(super) fn closures_in(&self, func: FuncRef) -> Vec<&'a Function> {
        let Some(module) = self.module(func.file) else { return Vec::new() };
        match self.callers(func.file) {
            Some(callers) => callers.inside(func.func).iter().filter_map(|at| module.functions.get(*at)).collect(),
            None => module.functions.iter().filter(|inner| inner.parent == Some(func.func)).collect(),
        }
    }

    /// What may come to something that leaves the process.
    pub(super) fn reach(&self) -> &Reach {
        &self.reach
    }

    /// What tasks that run at once come to.
    pub(super) fn crowds(&self) -> &Crowds {
        &self.crowds
    }

    /// What calls again what it is given.
    pub(super) fn helpers(&self) -> &Helpers {
        &self.helpers
    }

    /// What objects are made with.
    pub(super) fn makers(&self) -> &Makers {
        &self.makers
    }

    /// What an absolute path stands for, where the project defines it.
    #[must_use]
    pub fn entity(&self, path: &str) -> Option<Entity> {
        // A relative import from where no package is known names a sibling at the root.
        self.names.get(path).or_else(|| self.names.get(path.strip_prefix('.')?)).copied()
    }

    /// The project's own function that an instruction names, where it can only be that one.
    pub(super) fn func_of(&self, file: u32, op: &Op) -> Option<FuncRef> {
        match op {
            Op::Func(func) => Some(FuncRef { file, func: *func }),
            Op::Path(path) => match self.entity(path)? {
                Entity::Func(func) => Some(func),
                _ => None,
            },
            _ => None,
        }
    }

    /// A file's graph.
    #[must_use]
    pub fn module(&self, file: u32) -> Option<&'a Module> {
        prelude::module(file).or_else(|| self.modules.get(file as usize))
    }

    /// A file.
    #[must_use]
    pub fn file(&self, file: u32) -> Option<&'a SourceFile> {
        prelude::source(file).or_else(|| self.files.get(file as usize))
    }

    /// A function.
    #[must_use]
    pub fn function(&self, func: FuncRef) -> Option<&'a Function> {
        self.module(func.file)?.function(func.func)
    }

    /// A class.
    #[must_use]
    pub fn class(&self, class: ClassRef) -> Option<&'a Class> {
        self.module(class.file)?.class(class.class)
    }

    /// The models that apply to a file.
    #[must_use]
    pub fn models(&self, file: u32) -> Option<&'a Models> {
        let language = self.module(file)?.language;
        Some(self.models.get(file as usize).unwrap_or(&self.shared).of(language))
    }

    /// A method of a class by its name, its own first, then those of its bases.
    #[must_use]
    pub fn method(&self, class: ClassRef, name: &str) -> Option<FuncRef> {
        self.method_within(class, name, &mut Vec::new())
    }

    fn method_within(&self, class: ClassRef, name: &str, seen: &mut Vec<ClassRef>) -> Option<FuncRef> {
        if !is_new(class, seen) {
            return None;
        }
        let module = self.module(class.file)?;
        let own = self.class(class)?;
        // The last definition of a name is the one that counts; overloads come before it.
        let found = own.methods.iter().rev().find(|id| module.function(**id).is_some_and(|func| func.name == name));
        if let Some(func) = found {
            return Some(FuncRef { file: class.file, func: *func });
        }
        self.bases(class).into_iter().find_map(|base| self.method_within(base, name, seen))
    }

    /// The bases of a class that the project defines.
    #[must_use]
    pub fn bases(&self, class: ClassRef) -> Vec<ClassRef> {
        let Some(own) = self.class(class) else { return Vec::new() };
        let of = |base: &crate::ir::TypeRef| match (base.class, self.entity(&base.path)) {
            (Some(id), _) => Some(ClassRef { file: class.file, class: id }),
            (None, Some(Entity::Class(found))) => Some(found),
            _ => None,
        };
        own.bases.iter().filter_map(of).filter(|base| *base != class).collect()
    }

    /// The path under which the project's own class is known as an exception or type.
    #[must_use]
    pub fn class_path(&self, class: ClassRef) -> String {
        let name = self.class(class).map_or("", |class| class.name.as_str());
        format!("{}#{name}", class.file)
    }

    /// The class of such a path.
    #[must_use]
    pub fn class_of_path(&self, path: &str) -> Option<ClassRef> {
        let (file, name) = path.split_once('#')?;
        let file: u32 = file.parse().ok()?;
        let at = self.module(file)?.classes.iter().position(|class| class.name == name)?;
        Some(ClassRef { file, class: ClassId(u32::try_from(at).ok()?) })
    }

    /// Whether every value of exception class `class` is one of `base`; `None` where that is not known. Paths are
    /// absolute, or those of [`Project::class_path`].
    #[must_use]
    pub fn is_subclass(&self, file: u32, class: &str, base: &str) -> Option<bool> {
        if class == base {
            return Some(true);
        }
        let models = self.models(file)?;
        let Some(own) = self.class_of_path(class) else {
            if self.class_of_path(base).is_some() {
                return (class != super::value::ANY).then_some(false);
            }
            return models.is_subclass(class, base);
        };
        let wanted = self.class_of_path(base);
        self.own_is_subclass(models, own, (base, wanted), &mut Vec::new())
    }

    fn own_is_subclass(
        &self,
        models: &Models,
        own: ClassRef,
        wanted: (&str, Option<ClassRef>),
        seen: &mut Vec<ClassRef>,
    ) -> Option<bool> {
        if wanted.1 == Some(own) || (wanted.1.is_none() && self.class_path(own) == wanted.0) {
            return Some(true);
        }
        if !is_new(own, seen) {
            return (seen.len() < MOST_BASES).then_some(false);
        }
        let mut all_known = true;
        for above in self.class(own).map(|class| class.bases.as_slice()).unwrap_or_default() {
            let answer = match (above.class, self.entity(&above.path)) {
                (Some(id), _) if id != own.class => {
                    self.own_is_subclass(models, ClassRef { file: own.file, class: id }, wanted, seen)
                }
                (None, Some(Entity::Class(found))) if found != own => self.own_is_subclass(models, found, wanted, seen),
                _ if wanted.1.is_some() => Some(false),
                _ => models.is_subclass(&above.path, wanted.0),
            };
            match answer {
                Some(true) => return Some(true),
                Some(false) => {}
                None => all_known = false,
            }
        }
        all_known.then_some(false)
    }

    /// Whether a class is an exception: it descends from one that models know.
    #[must_use]
    pub fn is_exception(&self, class: ClassRef) -> bool {
        self.is_exception_within(class, &mut Vec::new())
    }

    fn is_exception_within(&self, class: ClassRef, seen: &mut Vec<ClassRef>) -> bool {
        if !is_new(class, seen) {
            return false;
        }
        let Some(own) = self.class(class) else { return false };
        let by_model = own
            .bases
            .iter()
            .any(|base| self.models(class.file).is_some_and(|models| models.exception(&base.path).is_some()));
        by_model || self.bases(class).into_iter().any(|base| self.is_exception_within(base, seen))
    }
}

/// Notes a class that is looked into; `false` for one that was, and where it is one too many. Classes may have the same
/// bases by many ways, and themselves.
fn is_new(class: ClassRef, seen: &mut Vec<ClassRef>) -> bool {
    let new = seen.len() < MOST_BASES && !seen.contains(&class);
    if new {
        seen.push(class);
    }
    new
}

/// Whether a method stands in an `impl` of a trait for a result or an option.
fn is_lent(function: &Function) -> bool {
    let mut parts = function.qualified_name.rsplit('.');
    let of = parts.nth(1);
    function.class.is_none() && matches!(of, Some("Result" | "Option")) && function.params.iter().any(|it| it.is_self)
}
