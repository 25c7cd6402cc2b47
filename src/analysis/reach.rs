//! Which functions may come to something that leaves the process, told from names alone: a coarse sieve that spares
//! explorations that cannot find anything.
//!
//! Invariant: what may be followed to a known remote operation is let through; much else is too.

use std::sync::OnceLock;

use rustc_hash::{FxHashMap, FxHashSet};

use super::project::Project;
use super::value::FuncRef;
use crate::ir::{Callee, FuncId, Function, Module, Op, TypeRef};
use crate::models::{Kind, Models};

/// The functions of a project that may reach a remote operation.
#[derive(Debug, Default)]
pub struct Reach {
    reaching: OnceLock<FxHashSet<FuncRef>>,
}

fn is_remote(kind: Kind) -> bool {
    matches!(kind, Kind::Request | Kind::Prepare | Kind::Effect | Kind::Remote | Kind::RaiseForStatus)
}

impl Reach {
    /// Whether a function may reach one.
    pub(super) fn may_reach(&self, project: &Project<'_>, func: FuncRef) -> bool {
        self.reaching.get_or_init(|| reaching(project)).contains(&func)
    }
}

/// Those that name an operation, and those that name one of them, to the end.
fn reaching(project: &Project<'_>) -> FxHashSet<FuncRef> {
    let mut found = Found::default();
    let mut callers: FxHashMap<&str, Vec<FuncRef>> = FxHashMap::default();
    for (file, module) in project.modules.iter().enumerate() {
        let Ok(file) = u32::try_from(file) else { break };
        let Some(models) = project.models(file) else { continue };
        let client = imports_client(models, module);
        for (id, function) in module.functions.iter().enumerate() {
            let Ok(id) = u32::try_from(id) else { break };
            let func = FuncRef { file, func: FuncId(id) };
            if names_operation(models, function, client) {
                found.add(module, func);
            } else {
                called(module, function).for_each(|name| callers.entry(name).or_default().push(func));
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
    found.reached
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
fn own_name<'m>(module: &'m Module, function: &'m Function) -> &'m str {
    let class = function.class.and_then(|id| module.class(id)).filter(|_| function.name.starts_with("__"));
    class.map_or(&function.name, |class| &class.name)
}

/// Whether a module imports, or a class or function of it declares, something of a library that has operations.
fn imports_client(models: &Models, module: &Module) -> bool {
    let of_client = |path: &str| {
        models.library_of(path).is_some_and(|library| {
            models.entries().iter().any(|entry| *entry.library == *library.name && is_remote(entry.kind))
        })
    };
    let declares = |ty: &TypeRef| of_client(&ty.path) || ty.args.iter().any(|arg| of_client(&arg.path));
    module.imports.iter().any(|import| of_client(import))
        || module.classes.iter().flat_map(|class| &class.fields).any(|field| field.ty.as_ref().is_some_and(declares))
}

fn names_operation(models: &Models, function: &Function, client: bool) -> bool {
    let by_name = |name: &str| {
        let mut all = models.types_with_method(name).iter().filter_map(|method| models.entry_of(method)).peekable();
        let (mut remote, mut local) = (false, false);
        all.by_ref().for_each(|entry| if is_remote(entry.kind) { remote = true } else { local = true });
        remote && (client || !local)
    };
    let by_path = |path: &str| models.function(path).is_some_and(|entry| is_remote(entry.kind));
    function.blocks.iter().flat_map(|block| &block.instrs).any(|instr| match &instr.op {
        Op::Path(path) => by_path(path),
        Op::Call { callee: Callee::Method { name, .. } | Callee::Super { name }, .. } => by_name(name),
        // What the caller gives may be anything.
        Op::Call { callee: Callee::Value(slot), .. } => {
            function.params.iter().any(|param| param.slot == *slot)
                || function.slot(*slot).is_some_and(|info| info.captured.is_some())
        }
        _ => false,
    })
}

/// The last parts of the names of what a function calls or hands on.
fn called<'m>(module: &'m Module, function: &'m Function) -> impl Iterator<Item = &'m str> {
    function.blocks.iter().flat_map(|block| &block.instrs).filter_map(|instr| match &instr.op {
        Op::Path(path) => path.rsplit(['.', ':']).next(),
        Op::Func(id) => module.function(*id).map(|function| function.name.as_str()),
        Op::Class(id) => module.class(*id).map(|class| class.name.as_str()),
        Op::Attr(_, name) => Some(name),
        Op::Call { callee: Callee::Method { name, .. } | Callee::Super { name }, .. } => Some(name),
        _ => None,
    })
}
