//! Which functions may come to something that leaves the process, told from names alone: a coarse sieve that spares
//! explorations that cannot find anything.
//!
//! Invariant: what may be followed to a known remote operation is let through; much else is too.

use std::sync::OnceLock;

use rustc_hash::{FxHashMap, FxHashSet};

use super::project::Project;
use super::value::FuncRef;
use crate::ir::{Callee, FuncId, Function, Module, Op, TypeRef};
use crate::models::Models;

/// The names under which the functions of a project are called that may reach a remote operation.
#[derive(Debug, Default)]
pub struct Reach {
    names: OnceLock<Reached>,
    firm: OnceLock<Reached>,
}

/// The names of the functions that may reach an operation, which files have to do with clients, and the functions.
type Reached = (FxHashSet<Box<str>>, Vec<bool>, FxHashSet<FuncRef>);

impl<'a> Project<'a> {
    fn reached(&self) -> &Reached {
        self.reach().names.get_or_init(|| reaching(self, false))
    }

    /// Whether a function may come to a remote operation.
    pub(super) fn reaches(&self, func: FuncRef) -> bool {
        self.reached().2.contains(&func)
    }

    /// The same, where a method counts only in files that import the library that operates under its name.
    pub(super) fn surely_reaches(&self, func: FuncRef) -> bool {
        self.reach().firm.get_or_init(|| reaching(self, true)).2.contains(&func)
    }

    /// The names in an instruction that may lead to a remote operation, what a caller gives being one.
    pub(super) fn leads_out(&self, file: u32, function: &'a Function, op: &'a Op) -> Option<&'a str> {
        let (names, clients, _) = self.reached();
        let module = self.module(file)?;
        let client = clients.get(file as usize) == Some(&true);
        let name = named(module, op).filter(|name| names.contains(*name));
        name.or_else(|| names_operation(self, file, function, op, &|_, local| client || !local))
    }
}

/// The names of the functions that name an operation, and of those that name one of them, to the end; and which files
/// have to do with clients. `firm` as in [`Project::surely_reaches`].
fn reaching(project: &Project<'_>, firm: bool) -> Reached {
    let mut found = Found::default();
    let mut clients = Vec::new();
    let mut callers: FxHashMap<&str, Vec<FuncRef>> = FxHashMap::default();
    for (file, module) in project.modules.iter().enumerate() {
        let Ok(file) = u32::try_from(file) else { break };
        let Some(models) = project.models(file) else { continue };
        let client = imports_client(models, module);
        clients.push(client);
        let counts = |library: &str, local: bool| {
            let own = |import: &String| models.library_of(import).is_some_and(|known| *known.name == *library);
            if firm { module.imports.iter().any(own) } else { client || !local }
        };
        for (id, function) in module.functions.iter().enumerate() {
            let Ok(id) = u32::try_from(id) else { break };
            let func = FuncRef { file, func: FuncId(id) };
            let mut ops = function.blocks.iter().flat_map(|block| &block.instrs).map(|instr| &instr.op);
            if ops.clone().any(|op| names_operation(project, file, function, op, &counts).is_some()) {
                found.add(module, func);
            } else {
                let names = ops.by_ref().filter_map(|op| named(module, op));
                names.for_each(|name| callers.entry(name).or_default().push(func));
            }
        }
    }
    while let Some(name) = found.work.pop() {
        for func in callers.remove(name).unwrap_or_default() {
            if let Some(module) = project.module(func.file) {
                found.add(module, func);
            }
        }
    }
    (found.told.into_iter().map(Box::from).collect(), clients, found.reached)
}

#[derive(Default)]
struct Found<'m> {
    reached: FxHashSet<FuncRef>,
    told: FxHashSet<&'m str>,
    /// Names of functions that reach an operation, whose callers are to be found.
    work: Vec<&'m str>,
}

impl<'m> Found<'m> {
    /// A function reaches an operation, and so do those that it stands in.
    fn add(&mut self, module: &'m Module, func: FuncRef) {
        let mut at = Some(func.func);
        while let Some(id) = at {
            let Some(function) = module.function(id) else { return };
            if !self.reached.insert(FuncRef { func: id, ..func }) {
                return;
            }
            let name = own_name(module, function);
            if self.told.insert(name) {
                self.work.push(name);
            }
            at = function.parent;
        }
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
