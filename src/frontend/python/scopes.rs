//! One pass over the whole tree before anything is lowered: which scope binds which name, and how.
//!
//! Python decides by the whole body of a function whether a name is local, and a module's functions may be used above
//! their definitions. So the bindings have to be known first. The pass walks with a cursor and its own stack: it takes
//! linear time, and deep nesting does not hurt it. It also hands out the numbers of functions and classes.

use rustc_hash::{FxHashMap, FxHashSet};
use tree_sitter::Node;

use super::syntax::{child_of_kind, children, field, fields, span, target_names};
use crate::ir::{ClassId, FuncId, Unparsed};
use crate::source::Span;

/// Where names are bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScopeKind {
    Module,
    Function,
    Class,
}

/// All that binds one name in one scope.
#[derive(Debug, Default, Clone)]
pub(super) struct Binding<'t> {
    /// The first place.
    pub(super) first: Span,
    /// The absolute path of the first import, and where it stands.
    pub(super) import: Option<(String, u32)>,
    /// The last definition as a function.
    pub(super) function: Option<(FuncId, u32)>,
    /// The last definition as a class.
    pub(super) class: Option<(ClassId, u32)>,
    /// How many assignments of any kind.
    pub(super) assigned: u32,
    /// The assigned expression, where it is a plain assignment.
    pub(super) value: Option<Node<'t>>,
    /// The annotation.
    pub(super) ty: Option<Node<'t>>,
    /// A `global` statement in some function names it.
    pub(super) declared_global: bool,
}

/// A module's, function's, lambda's or class's own names.
#[derive(Debug)]
pub(super) struct Scope<'t> {
    pub(super) kind: ScopeKind,
    pub(super) bound: FxHashMap<&'t str, Binding<'t>>,
    /// In the order in which they were bound first.
    pub(super) order: Vec<&'t str>,
    pub(super) globals: FxHashSet<&'t str>,
    pub(super) nonlocals: FxHashSet<&'t str>,
    pub(super) is_generator: bool,
}

/// The result of the pass.
#[derive(Debug)]
pub(super) struct Scopes<'t> {
    pub(super) list: Vec<Scope<'t>>,
    /// The scope that a function, lambda or class node opens.
    pub(super) by_node: FxHashMap<usize, usize>,
    pub(super) functions: FxHashMap<usize, FuncId>,
    pub(super) classes: FxHashMap<usize, ClassId>,
    pub(super) function_count: u32,
    pub(super) class_count: u32,
    pub(super) imports: Vec<String>,
    /// Modules of which everything is imported (`from x import *`).
    pub(super) wildcards: Vec<String>,
    pub(super) unparsed: Vec<Unparsed>,
}

/// The package that relative imports of a file start from.
pub(super) struct Package<'a> {
    parts: Vec<&'a str>,
}

impl<'a> Package<'a> {
    /// The package of the module with this dotted path; a file `__init__.py` is its package itself.
    pub(super) fn of(module: &'a str, file: &str) -> Self {
        let mut parts: Vec<&str> = module.split('.').filter(|part| !part.is_empty()).collect();
        let is_init = file.rsplit('/').next().is_some_and(|name| name.starts_with("__init__."));
        if parts.last() == Some(&"__init__") || !is_init {
            parts.pop();
        }
        Package { parts }
    }

    /// The absolute path of `..name` with so many dots. What lies outside the known packages keeps a leading dot, so
    /// that it is not taken for a library of that name.
    fn absolute(&self, dots: usize, name: &str) -> String {
        let mut parts = match self.parts.len().checked_sub(dots.saturating_sub(1)) {
            Some(keep) if keep > 0 => self.parts.get(..keep).unwrap_or_default().to_vec(),
            _ => vec![""],
        };
        if !name.is_empty() {
            parts.push(name);
        }
        parts.join(".")
    }
}

struct Walk<'t, 'a> {
    text: &'t str,
    package: &'a Package<'a>,
    result: Scopes<'t>,
    open: Vec<usize>,
    /// The value of the assignment that was met last.
    chain_value: Option<Node<'t>>,
    /// How many loops are open: what is assigned in one has no single value.
    loops: usize,
}

fn is_loop(kind: &str) -> bool {
    matches!(kind, "for_statement" | "while_statement")
}

/// Walks the tree. Function 0 is kept for the module's own body.
pub(super) fn collect<'t>(root: Node<'t>, text: &'t str, package: &Package<'_>) -> Scopes<'t> {
    let result = Scopes {
        list: vec![new_scope(ScopeKind::Module)],
        by_node: FxHashMap::default(),
        functions: FxHashMap::default(),
        classes: FxHashMap::default(),
        function_count: 1,
        class_count: 0,
        imports: Vec::new(),
        wildcards: Vec::new(),
        unparsed: Vec::new(),
    };
    let mut walk = Walk { text, package, result, open: vec![0], chain_value: None, loops: 0 };
    let mut cursor = root.walk();
    // Kinds of the nodes from the root to the cursor, and whether each one opened a scope.
    let mut path: Vec<(&str, bool)> = Vec::new();
    loop {
        let node = cursor.node();
        let parent = path.last().map_or("", |(kind, _)| *kind);
        let in_error = path.iter().rev().take(2).any(|(kind, _)| *kind == "ERROR");
        let opened = walk.visit(node, parent, in_error);
        if cursor.goto_first_child() {
            walk.loops += usize::from(is_loop(node.kind()));
            path.push((node.kind(), opened));
            continue;
        }
        if opened {
            walk.open.pop();
        }
        loop {
            if cursor.goto_next_sibling() {
                break;
            }
            if !cursor.goto_parent() {
                walk.result.imports.sort();
                walk.result.imports.dedup();
                return walk.result;
            }
            if let Some((kind, opened)) = path.pop() {
                walk.loops -= usize::from(is_loop(kind));
                if opened {
                    walk.open.pop();
                }
            }
        }
    }
}

fn new_scope<'t>(kind: ScopeKind) -> Scope<'t> {
    Scope {
        kind,
        bound: FxHashMap::default(),
        order: Vec::new(),
        globals: FxHashSet::default(),
        nonlocals: FxHashSet::default(),
        is_generator: false,
    }
}

impl<'t> Walk<'t, '_> {
    /// Notes what a node binds; gives whether it opened a scope.
    fn visit(&mut self, node: Node<'t>, parent: &str, in_error: bool) -> bool {
        if node.is_missing() {
            let missing = node.kind();
            self.fault(node, format!("expected `{missing}` here"));
            return false;
        }
        if !node.is_named() {
            return false;
        }
        match node.kind() {
            "ERROR" if !in_error => self.fault(node, "syntax error".to_owned()),
            "function_definition" | "lambda" => return self.function(node),
            "class_definition" => return self.class(node),
            "parameters" | "lambda_parameters" => self.parameters(node),
            "assignment" => self.assignment(node, parent == "assignment"),
            "augmented_assignment" | "for_statement" => {
                if let Some(left) = field(node, "left") {
                    self.bind_target(left);
                }
            }
            "type_alias_statement" => {
                if let Some(left) = field(node, "left").and_then(|left| super::syntax::first_child(left)) {
                    self.bind_target(left);
                }
            }
            "named_expression" => {
                if let Some(name) = field(node, "name") {
                    self.bind_target(name);
                }
            }
            "as_pattern_target" => self.bind_target(node),
            "as_pattern" if parent == "case_pattern" => {
                if let Some(name) = child_of_kind(node, "identifier") {
                    self.bind_target(name);
                }
            }
            "splat_pattern" => {
                if let Some(name) = child_of_kind(node, "identifier") {
                    self.bind_target(name);
                }
            }
            "dotted_name" if is_capture_parent(parent) => {
                let parts = children(node);
                if let ([name], true) = (parts.as_slice(), self.text_of(node) != "_") {
                    self.bind_target(*name);
                }
            }
            "except_clause" => self.except_clause(node),
            "import_statement" => self.import(node),
            "import_from_statement" => self.import_from(node),
            "global_statement" => self.global(node),
            "nonlocal_statement" => {
                let names: Vec<&str> = children(node).into_iter().map(|name| self.text_of(name)).collect();
                self.here(|scope| scope.nonlocals.extend(names));
            }
            "yield" => {
                let inner = self
                    .open
                    .iter()
                    .rev()
                    .copied()
                    .find(|at| self.result.list.get(*at).is_some_and(|scope| scope.kind == ScopeKind::Function));
                if let Some(scope) = inner.and_then(|at| self.result.list.get_mut(at)) {
                    scope.is_generator = true;
                }
            }
            _ => {}
        }
        false
    }

    fn fault(&mut self, node: Node<'t>, message: String) {
        self.result.unparsed.push(Unparsed { span: span(node), message });
    }

    fn text_of(&self, node: Node<'t>) -> &'t str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    fn here(&mut self, change: impl FnOnce(&mut Scope<'t>)) {
        if let Some(scope) = self.open.last().and_then(|at| self.result.list.get_mut(*at)) {
            change(scope);
        }
    }

    /// The binding of a name in the scope that an assignment here reaches.
    fn bind(&mut self, name: &'t str, at: Span, change: impl FnOnce(&mut Binding<'t>)) {
        let mut at_scope = self.open.last().copied().unwrap_or(0);
        if let Some(scope) = self.result.list.get(at_scope) {
            if scope.globals.contains(name) {
                at_scope = 0;
            } else if scope.nonlocals.contains(name) {
                return;
            }
        }
        let Some(scope) = self.result.list.get_mut(at_scope) else { return };
        let binding = scope.bound.entry(name).or_insert_with(|| {
            scope.order.push(name);
            Binding { first: at, ..Binding::default() }
        });
        change(binding);
    }

    fn bind_target(&mut self, target: Node<'t>) {
        let mut names = Vec::new();
        target_names(target, |name| names.push(name));
        for name in names.into_iter().rev() {
            self.bind(self.text_of(name), span(name), |binding| binding.assigned += 1);
        }
    }

    fn open_scope(&mut self, node: Node<'t>, kind: ScopeKind) {
        let at = self.result.list.len();
        self.result.list.push(new_scope(kind));
        self.result.by_node.insert(node.id(), at);
        self.open.push(at);
    }

    fn function(&mut self, node: Node<'t>) -> bool {
        let id = FuncId(self.result.function_count);
        self.result.function_count += 1;
        self.result.functions.insert(node.id(), id);
        if let Some(name) = field(node, "name") {
            let start = span(name).start;
            self.bind(self.text_of(name), span(name), |binding| binding.function = Some((id, start)));
        }
        self.open_scope(node, ScopeKind::Function);
        true
    }

    fn class(&mut self, node: Node<'t>) -> bool {
        let id = ClassId(self.result.class_count);
        self.result.class_count += 1;
        self.result.classes.insert(node.id(), id);
        if let Some(name) = field(node, "name") {
            let start = span(name).start;
            self.bind(self.text_of(name), span(name), |binding| binding.class = Some((id, start)));
        }
        self.open_scope(node, ScopeKind::Class);
        true
    }

    fn parameters(&mut self, node: Node<'t>) {
        for parameter in children(node) {
            let target = match parameter.kind() {
                "default_parameter" | "typed_default_parameter" => field(parameter, "name"),
                "typed_parameter" => super::syntax::first_child(parameter),
                _ => Some(parameter),
            };
            if let Some(target) = target {
                self.bind_target(target);
            }
        }
    }

    /// `a = b = value`: the inner assignments come later, and have the value of the outer one.
    fn assignment(&mut self, node: Node<'t>, is_inner: bool) {
        let Some(left) = field(node, "left") else { return };
        let ty = field(node, "type");
        let mut right = if is_inner { self.chain_value } else { field(node, "right") };
        while let Some(inner) = right.filter(|right| right.kind() == "assignment") {
            right = field(inner, "right");
        }
        self.chain_value = right;
        let right = right.filter(|_| self.loops == 0);
        let has_value = is_inner || field(node, "right").is_some();
        if left.kind() == "identifier" {
            self.bind(self.text_of(left), span(left), |binding| {
                binding.ty = binding.ty.or(ty);
                if has_value {
                    binding.assigned += 1;
                    binding.value = right;
                }
            });
            return;
        }
        let targets = children(left);
        let values = right.filter(|right| matches!(right.kind(), "expression_list" | "tuple")).map(children);
        let plain = |nodes: &[Node<'t>]| !nodes.iter().any(|node| node.kind().contains("splat"));
        match values {
            Some(values)
                if left.kind() == "pattern_list"
                    && values.len() == targets.len()
                    && plain(&values)
                    && plain(&targets) =>
            {
                for (target, value) in targets.into_iter().zip(values) {
                    if target.kind() == "identifier" {
                        self.bind(self.text_of(target), span(target), |binding| {
                            binding.assigned += 1;
                            binding.value = Some(value);
                        });
                    } else {
                        self.bind_target(target);
                    }
                }
            }
            _ => self.bind_target(left),
        }
    }

    fn except_clause(&mut self, node: Node<'t>) {
        if let Some(alias) = field(node, "alias") {
            self.bind_target(alias);
        }
        if let Some(alias) = old_alias(&fields(node, "value"), self.text) {
            self.bind_target(alias);
        }
    }

    fn global(&mut self, node: Node<'t>) {
        for name in children(node) {
            let text = self.text_of(name);
            self.here(|scope| {
                scope.globals.insert(text);
            });
            let Some(module) = self.result.list.first_mut() else { continue };
            let binding = module.bound.entry(text).or_insert_with(|| {
                module.order.push(text);
                Binding { first: span(name), ..Binding::default() }
            });
            binding.declared_global = self.open.len() > 1;
        }
    }

    fn bind_import(&mut self, name: &'t str, node: Node<'t>, path: String) {
        let at = span(node);
        self.bind(name, at, |binding| {
            if binding.import.is_none() {
                binding.import = Some((path, at.start));
            }
        });
    }

    /// A dotted name without blanks and comments in it.
    fn dotted(&self, node: Node<'t>) -> String {
        let text = self.text_of(node);
        if text.bytes().any(|b| b.is_ascii_whitespace() || b == b'\\') {
            return children(node).into_iter().map(|part| self.text_of(part)).collect::<Vec<_>>().join(".");
        }
        text.to_owned()
    }

    fn import(&mut self, node: Node<'t>) {
        for item in fields(node, "name") {
            if item.kind() == "aliased_import" {
                if let (Some(name), Some(alias)) = (field(item, "name"), field(item, "alias")) {
                    let path = self.dotted(name);
                    self.result.imports.push(path.clone());
                    self.bind_import(self.text_of(alias), alias, path);
                }
            } else {
                let path = self.dotted(item);
                self.result.imports.push(path);
                if let Some(first) = super::syntax::first_child(item) {
                    let name = self.text_of(first);
                    self.bind_import(name, first, name.to_owned());
                }
            }
        }
    }

    fn import_from(&mut self, node: Node<'t>) {
        let Some(from) = field(node, "module_name") else { return };
        let module = if from.kind() == "relative_import" {
            let dots = child_of_kind(from, "import_prefix")
                .map_or(0, |prefix| self.text_of(prefix).bytes().filter(|b| *b == b'.').count());
            let name = child_of_kind(from, "dotted_name").map(|name| self.dotted(name)).unwrap_or_default();
            self.package.absolute(dots, &name)
        } else {
            self.dotted(from)
        };
        if child_of_kind(node, "wildcard_import").is_some() {
            self.result.imports.push(module.clone());
            self.result.wildcards.push(module);
            return;
        }
        for item in fields(node, "name") {
            let (name, alias) = if item.kind() == "aliased_import" {
                (field(item, "name"), field(item, "alias"))
            } else {
                (Some(item), Some(item))
            };
            if let (Some(name), Some(alias)) = (name, alias) {
                let path = format!("{module}.{}", self.dotted(name));
                self.result.imports.push(path.clone());
                self.bind_import(self.text_of(alias), alias, path);
            }
        }
    }
}

/// The variable of Python 2's `except Error, e`. Python 3.14 allows the same form for two exceptions; classes of
/// exceptions begin with a capital letter.
pub(super) fn old_alias<'t>(values: &[Node<'t>], text: &str) -> Option<Node<'t>> {
    let [_, alias] = values else { return None };
    let name = text.get(alias.byte_range())?;
    (alias.kind() == "identifier" && name.starts_with(|c: char| c.is_lowercase() || c == '_')).then_some(*alias)
}

/// Whether a single name in this part of a `match` pattern binds.
fn is_capture_parent(parent: &str) -> bool {
    matches!(
        parent,
        "case_pattern" | "union_pattern" | "list_pattern" | "tuple_pattern" | "keyword_pattern" | "dict_pattern"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_imports() {
        let package = Package::of("pkg.sub.mod", "pkg/sub/mod.py");
        assert_eq!(package.absolute(1, "x"), "pkg.sub.x");
        assert_eq!(package.absolute(2, "y.z"), "pkg.y.z");
        assert_eq!(package.absolute(1, ""), "pkg.sub");
        assert_eq!(package.absolute(3, "q"), ".q");
        assert_eq!(Package::of("pkg.sub", "pkg/sub/__init__.py").absolute(1, "x"), "pkg.sub.x");
        assert_eq!(Package::of("", "lone.py").absolute(1, "requests"), ".requests");
    }
}
