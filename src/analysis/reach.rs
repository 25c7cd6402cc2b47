//! Which functions may come to something that leaves the process, or to the policy of a library, told from names alone:
//! a coarse sieve that spares explorations that cannot find anything.
//!
//! Invariant: what may be followed to a known remote operation, or to a policy, is let through; much else is too.

use std::sync::OnceLock;

use rustc_hash::{FxHashMap, FxHashSet};

use super::project::Project;
use super::value::FuncRef;
use crate::ir::{Callee, FuncId, Function, FunctionKind, Module, Op, TypeRef};
use crate::models::{Kind, Models};

/// The names under which the functions of a project are called that may reach a remote operation.
#[derive(Debug, Default)]
pub struct Reach {
    names: OnceLock<Reached>,
    firm: OnceLock<Reached>,
    policies: OnceLock<Reached>,
}

/// What may be come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Aim {
    /// An operation.
    Operation,
    /// The same, as in [`Project::surely_reaches`].
    Firmly,
    /// A policy of a library.
    Policy,
}

/// What reaches an aim.
#[derive(Debug)]
struct Reached {
    /// The functions.
    funcs: FxHashSet<FuncRef>,
    /// The names under which they are called.
    names: FxHashSet<Box<str>>,
    /// Those of them under which a method is named, to be called later on.
    methods: FxHashSet<Box<str>>,
    /// Which files have to do with clients.
    clients: Vec<bool>,
}

impl<'a> Project<'a> {
    fn reached(&self) -> &Reached {
        self.reach().names.get_or_init(|| reaching(self, Aim::Operation))
    }

    /// Whether a function may come to a remote operation.
    pub(super) fn reaches(&self, func: FuncRef) -> bool {
        self.reached().funcs.contains(&func)
    }

    /// The same, where a method counts only in files that import the library that operates under its name.
    pub(super) fn surely_reaches(&self, func: FuncRef) -> bool {
        self.reach().firm.get_or_init(|| reaching(self, Aim::Firmly)).funcs.contains(&func)
    }

    /// Whether what a function gives may be a policy of a library.
    pub(super) fn may_give_policy(&self, func: FuncRef) -> bool {
        self.reach().policies.get_or_init(|| reaching(self, Aim::Policy)).funcs.contains(&func)
    }

    /// Whether an attribute of this name may be a method that comes to a remote operation.
    pub(super) fn may_be_sending_method(&self, file: u32, name: &str) -> bool {
        let leaves = |models: &Models| {
            let mut entries = models.types_with_method(name).iter().filter_map(|method| models.entry_of(method));
            entries.any(|entry| entry.kind.leaves_process())
        };
        self.reached().methods.contains(name) || self.models(file).is_some_and(leaves)
    }

    /// The names in an instruction that may lead to a remote operation, what a caller gives being one.
    pub(super) fn leads_out(&self, file: u32, function: &'a Function, op: &'a Op) -> Option<&'a str> {
        let Reached { funcs, names, clients, .. } = self.reached();
        let module = self.module(file)?;
        let client = clients.get(file as usize) == Some(&true);
        let leads = |name: &str| match self.func_of(file, op) {
            Some(func) => funcs.contains(&func),
            None => names.contains(name),
        };
        let name = named(module, op).filter(|name| leads(name));
        name.or_else(|| names_operation(self, file, function, op, &|_, local| client || !local))
    }
}

/// The names of the functions that name what is aimed at, and of those that name one of them, to the end; and which files
/// have to do with clients.
fn reaching(project: &Project<'_>, aim: Aim) -> Reached {
    let mut found = Found { variables: aim == Aim::Policy, ..Found::default() };
    let mut clients = Vec::new();
    let mut callers: FxHashMap<Link<'_>, Vec<FuncRef>> = FxHashMap::default();
    for (file, module) in project.modules.iter().enumerate() {
        let Ok(file) = u32::try_from(file) else { break };
        let Some(models) = project.models(file) else { continue };
        let client = imports_client(models, module);
        clients.push(client);
        let counts = |library: &str, local: bool| {
            let own = |import: &String| models.library_of(import).is_some_and(|known| *known.name == *library);
            if aim == Aim::Firmly { module.imports.iter().any(own) } else { client || !local }
        };
        for (id, function) in module.functions.iter().enumerate() {
            let Ok(id) = u32::try_from(id) else { break };
            let func = FuncRef { file, func: FuncId(id) };
            let mut ops = function.blocks.iter().flat_map(|block| &block.instrs).map(|instr| &instr.op);
            let aimed_at = |op| match aim {
                Aim::Policy => names_policy(project, file, op),
                Aim::Operation | Aim::Firmly => names_operation(project, file, function, op, &counts).is_some(),
            };
            if ops.clone().any(aimed_at) {
                found.add(module, func);
            } else {
                let links = ops.by_ref().filter_map(|op| link(project, file, module, op));
                links.for_each(|link| callers.entry(link).or_default().push(func));
            }
        }
    }
    if aim == Aim::Policy {
        tell_policies(project, &mut found);
    }
    while let Some(link) = found.work.pop() {
        for func in callers.remove(&link).unwrap_or_default() {
            if let Some(module) = project.module(func.file) {
                found.add(module, func);
            }
        }
    }
    let methods = found.reached.iter().filter_map(|func| project.function(*func));
    let methods = methods.filter(|function| function.class.is_some() && !function.is_property);
    let methods = methods.map(|function| Box::from(function.name.as_str())).collect();
    Reached { names: found.told.into_iter().map(Box::from).collect(), methods, clients, funcs: found.reached }
}

#[derive(Default)]
struct Found<'m> {
    reached: FxHashSet<FuncRef>,
    told: FxHashSet<&'m str>,
    /// Functions that reach an operation, and their names, whose callers are to be found.
    work: Vec<Link<'m>>,
    /// What a variable holds is come to by its name.
    variables: bool,
}

/// What an instruction leads to: a function, or whatever has a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Link<'m> {
    /// This function.
    Func(FuncRef),
    /// What is called so.
    Name(&'m str),
}

/// What an instruction leads to.
pub(super) fn link<'m>(project: &Project<'m>, file: u32, module: &'m Module, op: &'m Op) -> Option<Link<'m>> {
    let name = || named(module, op).or_else(|| named_variable(module, op)).map(Link::Name);
    project.func_of(file, op).map(Link::Func).or_else(name)
}

impl<'m> Found<'m> {
    fn tell(&mut self, name: &'m str) {
        if self.told.insert(name) {
            self.work.push(Link::Name(name));
        }
    }

    /// A function reaches an operation, and so do those that it stands in.
    fn add(&mut self, module: &'m Module, func: FuncRef) {
        let mut at = Some(func.func);
        while let Some(id) = at {
            let Some(function) = module.function(id) else { return };
            if !self.reached.insert(FuncRef { func: id, ..func }) {
                return;
            }
            self.work.push(Link::Func(FuncRef { func: id, ..func }));
            self.tell(own_name(module, function));
            if self.variables && function.kind == FunctionKind::Initialiser {
                held_by(module, id).for_each(|name| self.tell(name));
            }
            at = function.parent;
        }
    }
}

/// The module variables and class attributes that an initialiser gives their value.
fn held_by(module: &Module, init: FuncId) -> impl Iterator<Item = &str> {
    let globals = module.globals.iter().filter(move |global| global.value == Some(init));
    let fields = module.classes.iter().flat_map(|class| &class.fields).filter(move |field| field.value == Some(init));
    globals.map(|global| global.name.as_str()).chain(fields.map(|field| field.name.as_str()))
}

/// The name of the module variable that an instruction reads.
fn named_variable<'m>(module: &'m Module, op: &Op) -> Option<&'m str> {
    match op {
        Op::Global(id) => module.global(*id).map(|global| global.name.as_str()),
        _ => None,
    }
}

/// Tells the names of the project's own classes that are policies.
fn tell_policies<'m>(project: &Project<'m>, found: &mut Found<'m>) {
    loop {
        let before = found.told.len();
        for (file, module) in project.modules.iter().enumerate() {
            let models = u32::try_from(file).ok().and_then(|file| project.models(file));
            let of_library = |path: &str| models.and_then(|models| models.function(path));
            for class in &module.classes {
                let is_policy = class.bases.iter().any(|base| {
                    let own = base.path.rsplit(['.', ':']).next().is_some_and(|name| found.told.contains(name));
                    own || of_library(&base.path).is_some_and(|entry| entry.kind == Kind::Retry)
                });
                if is_policy {
                    found.tell(&class.name);
                }
            }
        }
        if found.told.len() == before {
            return;
        }
    }
}

/// Whether an instruction names a policy of a library, or a part of one.
fn names_policy(project: &Project<'_>, file: u32, op: &Op) -> bool {
    let Some(models) = project.models(file) else { return false };
    match op {
        Op::Path(path) => models.function(path).is_some_and(|entry| entry.kind == Kind::Retry),
        Op::Attr(_, name) | Op::Call { callee: Callee::Method { name, .. } | Callee::Super { name }, .. } => {
            let entries = models.types_with_method(name).iter().filter_map(|method| models.entry_of(method));
            entries.into_iter().any(|entry| entry.kind == Kind::Retry)
        }
        _ => false,
    }
}

/// The name under which a function is called: that of the class for a constructor.
pub(super) fn own_name<'m>(module: &'m Module, function: &'m Function) -> &'m str {
    let class = function.class.and_then(|id| module.class(id)).filter(|_| function.name.starts_with("__"));
    class.map_or(&function.name, |class| &class.name)
}

/// Whether a module imports, or a class or function of it declares, something of a library that has operations.
fn imports_client(models: &Models, module: &Module) -> bool {
    let of_client = |path: &str| models.library_of(path).is_some_and(|library| models.has_operations(&library.name));
    let declares = |ty: &TypeRef| of_client(&ty.path) || ty.args.iter().any(|arg| of_client(&arg.path));
    module.imports.iter().any(|import| of_client(import))
        || module.classes.iter().flat_map(|class| &class.fields).any(|field| field.ty.as_ref().is_some_and(declares))
}

/// The name by which an instruction may begin a remote operation; `counts` tells whether the method of a library
/// does, and is told whether something local has the same name.
fn names_operation<'m>(
    project: &Project<'_>,
    file: u32,
    function: &'m Function,
    op: &'m Op,
    counts: &dyn Fn(&str, bool) -> bool,
) -> Option<&'m str> {
    let models = project.models(file)?;
    let tells = |name: &str| models.types_with_method(name).iter().any(|method| method.ty.starts_with('?'));
    match op {
        Op::Attr(_, name) if tells(name) => Some(name),
        Op::Path(path) => project.known(file, path).is_some_and(|entry| entry.kind.leaves_process()).then_some(path),
        Op::Call { callee: Callee::Method { name, .. } | Callee::Super { name }, .. } => {
            let methods = models.types_with_method(name);
            let known = || methods.iter().filter_map(|method| Some((method, models.entry_of(method)?.kind)));
            let local = known().any(|(_, kind)| !kind.leaves_process());
            known().any(|(method, kind)| kind.leaves_process() && counts(&method.library, local)).then_some(name)
        }
        // What a variable holds may be anything.
        Op::Call { callee: Callee::Value(slot), .. } => function.slot(*slot)?.name.as_deref(),
        _ => None,
    }
}

/// The last part of the name of what an instruction calls or hands on.
pub(super) fn named<'m>(module: &'m Module, op: &'m Op) -> Option<&'m str> {
    match op {
        Op::Path(path) => path.rsplit(['.', ':']).next(),
        Op::Func(id) => module.function(*id).map(|function| function.name.as_str()),
        Op::Class(id) => module.class(*id).map(|class| class.name.as_str()),
        Op::Attr(_, name) => Some(name),
        Op::Call { callee: Callee::Method { name, .. } | Callee::Super { name }, .. } => Some(name),
        _ => None,
    }
}
