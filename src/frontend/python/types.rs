//! Annotations: `Optional[Client]`, `"Client | None"`, `Callable[[int], str]` as a [`TypeRef`].
//!
//! They are read from the text, as an annotation may be a string just as well as an expression.

use tree_sitter::Node;

use super::Lowering;
use super::builtins::is_builtin;
use crate::ir::{ClassId, TypeRef};

/// How deep type arguments may be nested.
const DEPTH_LIMIT: usize = 24;

/// A type as it is written.
enum Written {
    Name(String, Vec<Written>),
    Union(Vec<Written>),
    /// `[A, B]` within `Callable`, a number, `...`: nothing that says anything.
    Other,
}

impl<'t> Lowering<'t> {
    /// The type that an annotation names; `None` where it names none.
    pub(super) fn type_of(&self, node: Node<'t>) -> Option<TypeRef> {
        let written = Reader { rest: self.text_of(node) }.union(0);
        self.resolved(&written)
    }

    fn resolved(&self, written: &Written) -> Option<TypeRef> {
        match written {
            Written::Other => None,
            Written::Union(parts) => {
                let of: Vec<TypeRef> = parts.iter().filter_map(|part| self.resolved(part)).collect();
                Some(union(of))
            }
            Written::Name(name, args) => {
                let (path, class) = self.type_name(name);
                let last = path.rsplit('.').next().unwrap_or_default();
                let typing = path.starts_with("typing.") || path.starts_with("typing_extensions.") || path == *last;
                let arguments = || args.iter().filter_map(|arg| self.resolved(arg)).collect::<Vec<_>>();
                match last {
                    "Annotated" | "Final" | "ClassVar" | "Required" | "NotRequired" | "ReadOnly" if typing => {
                        args.first().and_then(|arg| self.resolved(arg))
                    }
                    "Optional" if typing => Some(option(arguments())),
                    "Union" if typing => Some(union(arguments())),
                    "Callable" if typing || path == "collections.abc.Callable" => {
                        let returned = args.last().and_then(|arg| self.resolved(arg));
                        Some(TypeRef { path: "fn".to_owned(), class: None, args: returned.into_iter().collect() })
                    }
                    "Literal" if typing => Some(TypeRef { path, class: None, args: Vec::new() }),
                    _ => Some(TypeRef { path, class, args: arguments() }),
                }
            }
        }
    }

    /// The absolute path of a type's name, and the module's own class where it is one.
    pub(super) fn type_name(&self, dotted: &str) -> (String, Option<ClassId>) {
        let (first, rest) = dotted.split_once('.').map_or((dotted, None), |(first, rest)| (first, Some(rest)));
        if dotted == "None" {
            return (dotted.to_owned(), None);
        }
        let open = self.contexts.iter().rev().filter_map(|context| context.scope).chain([0]);
        for scope in open.filter_map(|at| self.scope(at)) {
            let Some(binding) = scope.bound.get(first) else { continue };
            if let Some((path, _)) = &binding.import {
                return (rest.map_or_else(|| path.clone(), |rest| format!("{path}.{rest}")), None);
            }
            let class = binding.class.map(|(id, _)| id).filter(|_| rest.is_none());
            return (dotted.to_owned(), class);
        }
        if is_builtin(first) {
            return (format!("builtins.{dotted}"), None);
        }
        match self.scopes.wildcards.as_slice() {
            [only] => (format!("{only}.{dotted}"), None),
            _ => (dotted.to_owned(), None),
        }
    }
}

fn option(mut args: Vec<TypeRef>) -> TypeRef {
    args.truncate(1);
    TypeRef { path: "Option".to_owned(), class: None, args }
}

fn union(mut of: Vec<TypeRef>) -> TypeRef {
    let before = of.len();
    of.retain(|part| part.path != "None");
    let optional = of.len() < before;
    let whole = match of.len() {
        0 => TypeRef { path: "None".to_owned(), class: None, args: Vec::new() },
        1 => of.remove(0),
        _ => TypeRef { path: "Union".to_owned(), class: None, args: of },
    };
    if optional && whole.path != "Option" { option(vec![whole]) } else { whole }
}

struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn skip(&mut self) {
        self.rest = self.rest.trim_start_matches(|c: char| c.is_whitespace() || c == '\\');
        while let Some(comment) = self.rest.strip_prefix('#') {
            self.rest = comment.split_once('\n').map_or("", |(_, rest)| rest).trim_start();
        }
    }

    fn takes(&mut self, sign: char) -> bool {
        self.skip();
        match self.rest.strip_prefix(sign) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn union(&mut self, depth: usize) -> Written {
        let mut parts = vec![self.item(depth)];
        while self.takes('|') {
            parts.push(self.item(depth));
        }
        if parts.len() == 1 { parts.remove(0) } else { Written::Union(parts) }
    }

    fn list(&mut self, close: char, depth: usize) -> Vec<Written> {
        let mut items = Vec::new();
        loop {
            self.skip();
            if self.rest.is_empty() || self.takes(close) {
                return items;
            }
            let before = self.rest.len();
            items.push(self.union(depth + 1));
            self.takes(',');
            if self.rest.len() == before {
                // Something that is no type (an operator, a sign): go past it.
                let mut chars = self.rest.chars();
                chars.next();
                self.rest = chars.as_str();
            }
        }
    }

    fn item(&mut self, depth: usize) -> Written {
        self.skip();
        if depth > DEPTH_LIMIT {
            self.rest = "";
            return Written::Other;
        }
        if self.takes('(') {
            let mut items = self.list(')', depth);
            return if items.len() == 1 { items.remove(0) } else { Written::Other };
        }
        if self.takes('[') {
            self.list(']', depth);
            return Written::Other;
        }
        if self.rest.starts_with(['"', '\'']) {
            return self.quoted(depth);
        }
        let end = self.rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.')).unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        if !name.starts_with(|c: char| c.is_alphabetic() || c == '_') {
            return Written::Other;
        }
        let args = if self.takes('[') { self.list(']', depth) } else { Vec::new() };
        Written::Name(name.to_owned(), args)
    }

    /// A forward reference: the text within the quotes is a type itself.
    fn quoted(&mut self, depth: usize) -> Written {
        let Some(quote) = self.rest.chars().next() else { return Written::Other };
        let body = self.rest.trim_start_matches(quote);
        let (inner, rest) = body.split_once(quote).unwrap_or((body, ""));
        self.rest = rest.trim_start_matches(quote);
        Reader { rest: inner }.union(depth + 1)
    }
}
