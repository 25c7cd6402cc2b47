//! What a name stands for, where it stands.

use tree_sitter::Node;

use super::Lowering;
use super::builtins::is_builtin;
use super::scopes::Binding;
use super::syntax::span;
use crate::ir::{ClassId, FuncId, Global, GlobalId, Op, Slot, SlotInfo};
use crate::source::Span;

/// Tables with more syntax nodes than this are no constants that matter; the module's body builds them anyway.
const VALUE_LIMIT: usize = 20_000;

/// What a name stands for.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Name {
    /// A variable of this function or one that encloses it.
    Slot(Slot),
    /// Something from outside the file.
    Path(String),
    /// One of the module's functions.
    Func(FuncId),
    /// One of the module's classes.
    Class(ClassId),
    /// A module-level variable.
    Global(GlobalId),
    /// An attribute of the class whose body this is.
    Field(ClassId),
}

impl<'t> Lowering<'t> {
    /// The names that the module imports and has for others, unless it says itself what they are.
    pub(super) fn exports(&self) -> Vec<(String, String)> {
        let Some(module) = self.scope(0) else { return Vec::new() };
        let names = module.order.iter().filter_map(|name| module.bound.get(name).map(|binding| (*name, binding)));
        let imported =
            names.filter(|(_, binding)| binding.assigned == 0 && binding.function.is_none() && binding.class.is_none());
        let named = imported.filter_map(|(name, binding)| Some((name.to_owned(), binding.import.clone()?.0)));
        let opened = self.scopes.wildcards.iter().map(|module| ("*".to_owned(), module.clone()));
        named.filter(|(name, path)| name != path).chain(opened).collect()
    }

    /// Gives numbers to the module's variables.
    pub(super) fn declare_globals(&mut self) {
        let Some(module) = self.scope(0) else { return };
        let names: Vec<(&'t str, Span)> = module
            .order
            .iter()
            .filter_map(|name| module.bound.get(name).map(|binding| (*name, binding)))
            .filter(|(_, binding)| is_variable(binding))
            .map(|(name, binding)| (name, binding.first))
            .collect();
        for (name, span) in names {
            self.global_ids.insert(name, GlobalId(u32::try_from(self.globals.len()).unwrap_or(u32::MAX)));
            self.globals.push(Global { name: name.to_owned(), value: None, ty: None, span });
        }
    }

    /// Builds initialisers for the variables that have one value.
    pub(super) fn initialise_globals(&mut self) {
        // The module's body stands below them again, as when it ran.
        let mut outer = super::Context::new(FuncId(0), None);
        outer.is_module = true;
        self.contexts.push(outer);
        let Some(module) = self.scope(0) else { return };
        let all: Vec<_> = module
            .order
            .iter()
            .filter_map(|name| module.bound.get(name).map(|binding| (*name, binding.clone())))
            .filter(|(_, binding)| is_variable(binding))
            .collect();
        for (name, binding) in all {
            let Some(id) = self.global_ids.get(name).copied() else { continue };
            let ty = binding.ty.and_then(|ty| self.type_of(ty));
            let value = match binding.value {
                Some(value)
                    if binding.assigned == 1
                        && !binding.declared_global
                        && binding.class.is_none()
                        && value.descendant_count() <= VALUE_LIMIT
                        && binding.function.is_none_or(|(_, at)| (at as usize) < value.start_byte()) =>
                {
                    Some(self.initialiser(value, None, Some(name)))
                }
                _ => None,
            };
            if let Some(global) = self.globals.get_mut(id.0 as usize) {
                global.ty = ty;
                global.value = value;
            }
        }
        self.contexts.pop();
    }

    /// What a name stands for here.
    pub(super) fn resolve(&mut self, name: &'t str) -> Name {
        let top = self.contexts.len().saturating_sub(1);
        let class_body = self.contexts.last().and_then(|context| context.class_body);
        if let Some((class, scope)) = class_body
            && !self.contexts.last().is_some_and(|context| context.overlays.iter().any(|open| open.contains_key(name)))
            && let Some(binding) = self.scope(scope).and_then(|scope| scope.bound.get(name))
        {
            return match binding {
                Binding { import: Some((path, _)), .. } => Name::Path(path.clone()),
                Binding { assigned: 0, function: Some((id, _)), .. } => Name::Func(*id),
                Binding { assigned: 0, class: Some((id, _)), .. } => Name::Class(*id),
                _ => Name::Field(class),
            };
        }
        self.lookup(top, name)
    }

    fn lookup(&mut self, level: usize, name: &'t str) -> Name {
        let Some(context) = self.contexts.get(level) else { return self.global_name(name, None) };
        if let Some(slot) = context.overlays.iter().rev().find_map(|open| open.get(name)) {
            return Name::Slot(*slot);
        }
        if let Some(slot) = context.names.get(name) {
            return Name::Slot(*slot);
        }
        let own_global = context.own_global;
        if let Some(scope) = context.scope.and_then(|at| self.scope(at)) {
            if scope.globals.contains(name) {
                return self.global_name(name, None);
            }
            if let Some(binding) = scope.bound.get(name) {
                if let Some((path, _)) = &binding.import {
                    return Name::Path(path.clone());
                }
                return Name::Slot(self.new_variable(level, name, None));
            }
        }
        let outer = match level.checked_sub(1) {
            Some(level) => self.lookup(level, name),
            None => self.global_name(name, None),
        };
        match outer {
            Name::Slot(slot) => Name::Slot(self.new_variable(level, name, Some(slot))),
            Name::Global(_) if own_global == Some(name) => self.global_name(name, own_global),
            other => other,
        }
    }

    fn new_variable(&mut self, level: usize, name: &'t str, captured: Option<Slot>) -> Slot {
        let Some(context) = self.contexts.get_mut(level) else { return Slot(0) };
        let slot = context.graph.add_slot(SlotInfo { name: Some(name.to_owned()), captured, ty: None });
        context.names.insert(name, slot);
        slot
    }

    /// A name of the module. Inside the initialiser of a variable its own name means what it meant before.
    fn global_name(&self, name: &'t str, own: Option<&str>) -> Name {
        if let Some(binding) = self.scope(0).and_then(|module| module.bound.get(name)) {
            let own = own == Some(name);
            if let Some(id) = self.global_ids.get(name)
                && !own
            {
                return Name::Global(*id);
            }
            let import = binding.import.as_ref().map(|(path, at)| (*at, Name::Path(path.clone())));
            let function = binding.function.map(|(id, at)| (at, Name::Func(id)));
            let class = binding.class.map(|(id, at)| (at, Name::Class(id)));
            let defined = match (function, class) {
                (Some(function), Some(class)) => Some(if function.0 > class.0 { function } else { class }),
                (function, class) => function.or(class),
            };
            let chosen = match (import, defined) {
                (Some(import), Some(defined)) => Some(if import.0 < defined.0 { import } else { defined }),
                (import, defined) => import.or(defined),
            };
            if let Some((_, name)) = chosen {
                return name;
            }
            if own {
                return Name::Path(name.to_owned());
            }
        }
        if is_builtin(name) {
            return Name::Path(format!("builtins.{name}"));
        }
        match self.scopes.wildcards.as_slice() {
            [only] if !name.starts_with('_') => Name::Path(format!("{only}.{name}")),
            _ => Name::Path(name.to_owned()),
        }
    }

    /// The value of what a name stands for; a variable's own slot.
    pub(super) fn read(&mut self, name: Name, text: &str, at: Node<'t>) -> Slot {
        let op = match name {
            Name::Slot(slot) => return slot,
            Name::Path(path) => Op::Path(path),
            Name::Func(id) => Op::Func(id),
            Name::Class(id) => Op::Class(id),
            Name::Global(id) => Op::Global(id),
            Name::Field(class) => {
                let class = self.emit(Op::Class(class), at);
                Op::Attr(class, text.to_owned())
            }
        };
        self.emit(op, at)
    }

    /// Puts a value into what a name stands for. Names that stand for imports keep doing so: a second binding is the
    /// fallback of a missing library.
    pub(super) fn write(&mut self, name: &'t str, value: Slot, at: Node<'t>) {
        match self.resolve(name) {
            Name::Slot(slot) => self.graph().store(slot, value, span(at)),
            Name::Global(id) => self.graph().run(Op::SetGlobal(id, value), span(at)),
            Name::Path(_) | Name::Func(_) | Name::Class(_) | Name::Field(_) => {}
        }
    }
}

/// Whether a module-level name holds a value, rather than being an import, a function or a class.
fn is_variable(binding: &Binding<'_>) -> bool {
    let defined = binding.function.is_some() || binding.class.is_some();
    binding.import.is_none() && (binding.assigned > 0 || !defined)
}
