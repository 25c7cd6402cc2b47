//! Decorators: those that may change what a call does are kept, as functions that compute them.

use tree_sitter::Node;

use super::Lowering;
use super::names::Name;
use super::syntax::{children, field, first_child, span};
use crate::ir::{ClassId, Decorator};

/// What a decorator list says of a function.
#[derive(Default)]
pub(super) struct Decorators {
    /// Those that matter, outermost first.
    pub(super) kept: Vec<Decorator>,
    /// The function takes no receiver.
    pub(super) is_static: bool,
    /// Reading it calls it.
    pub(super) is_property: bool,
    /// It is not what the name stands for: a declaration of types only, or the setter of a property.
    pub(super) is_secondary: bool,
    /// Whoever inherits it has to define it.
    pub(super) is_abstract: bool,
}

impl<'t> Lowering<'t> {
    pub(super) fn decorators(&mut self, nodes: &[Node<'t>], class_body: Option<(ClassId, usize)>) -> Decorators {
        let mut all = Decorators::default();
        for node in nodes {
            let Some(value) = first_child(*node) else { continue };
            let accessor = class_body.and_then(|_| self.accessor(value));
            let path = accessor.or_else(|| self.decorator_path(value));
            if path.as_deref() == Some("builtins.staticmethod") {
                all.is_static = true;
            }
            let last = path.as_deref().and_then(|path| path.rsplit('.').next());
            all.is_property |= path.as_deref() == Some("builtins.property")
                || matches!(last, Some("cached_property" | "abstractproperty"));
            all.is_secondary |= matches!(last, Some("overload" | "setter" | "deleter"));
            all.is_abstract |= path.as_deref().is_some_and(is_abstract);
            if path.as_deref().is_some_and(is_trivial) {
                continue;
            }
            let initialiser = self.initialiser(value, class_body, None);
            all.kept.push(Decorator { span: span(value), value: initialiser });
        }
        all
    }

    /// Whether a method only says that there is one: whoever calls it means what a class below has in its place. A body
    /// that only passes may mean to do nothing, unless it is said to be abstract.
    pub(super) fn is_declaration(&self, body: Node<'t>, is_abstract: bool) -> bool {
        let statements = children(body);
        let of = |node: &Node<'t>| match node.kind() {
            "expression_statement" => first_child(*node).map_or("", |value| value.kind()),
            kind => kind,
        };
        let refuses = |node: &Node<'t>| {
            let mut text = self.text_of(*node).split(|sign: char| !sign.is_alphanumeric());
            text.any(|word| word == "NotImplementedError")
        };
        let stated = |node: &Node<'t>| of(node) == "ellipsis" || of(node) == "raise_statement" && refuses(node);
        let idle = |node: &Node<'t>| matches!(of(node), "string" | "concatenated_string" | "pass_statement");
        let empty = statements.iter().all(|node| idle(node) || stated(node));
        empty && (is_abstract || statements.iter().any(stated))
    }

    /// `@name.setter` in a class body: a part of a property.
    fn accessor(&self, node: Node<'t>) -> Option<String> {
        field(node, "object").filter(|object| object.kind() == "identifier")?;
        let part = self.text_of(field(node, "attribute")?);
        matches!(part, "setter" | "getter" | "deleter").then(|| format!("builtins.property.{part}"))
    }

    /// The absolute path of what decorates: `functools.wraps` for `@wraps(f)`.
    fn decorator_path(&mut self, node: Node<'t>) -> Option<String> {
        let mut at = node;
        if at.kind() == "call" {
            at = field(at, "function")?;
        }
        let mut parts = Vec::new();
        while at.kind() == "attribute" {
            parts.push(self.text_of(field(at, "attribute")?));
            at = field(at, "object")?;
        }
        if at.kind() != "identifier" {
            return None;
        }
        parts.reverse();
        match self.resolve(self.text_of(at)) {
            Name::Path(path) => Some(parts.iter().fold(path, |path, part| format!("{path}.{part}"))),
            _ => None,
        }
    }
}

/// Decorators of what is defined elsewhere.
fn is_abstract(path: &str) -> bool {
    let name = path.strip_prefix("abc.");
    matches!(name, Some("abstractmethod" | "abstractproperty" | "abstractclassmethod" | "abstractstaticmethod"))
}

/// Decorators of the language and its library that leave a call as it is.
fn is_trivial(path: &str) -> bool {
    let (module, name) = path.rsplit_once('.').unwrap_or(("", path));
    match module {
        "builtins" => matches!(name, "staticmethod" | "classmethod" | "property"),
        "builtins.property" => matches!(name, "setter" | "getter" | "deleter"),
        "functools" => matches!(name, "wraps" | "cached_property" | "total_ordering" | "singledispatch"),
        "abc" => is_abstract(path),
        "typing" | "typing_extensions" => {
            matches!(name, "overload" | "override" | "final" | "no_type_check" | "runtime_checkable" | "deprecated")
        }
        "warnings" => name == "deprecated",
        "dataclasses" => name == "dataclass",
        "enum" => matches!(name, "unique" | "property" | "member" | "nonmember"),
        _ => false,
    }
}
