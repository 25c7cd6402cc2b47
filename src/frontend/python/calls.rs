//! Calls, attributes, subscripts, `await` and parentheses: one chain from its root outward, walked in a loop.

use tree_sitter::Node;

use super::Lowering;
use super::names::Name;
use super::syntax::{child_of_kind, children, field, fields, first_child, unwrapped};
use crate::ir::{Arg, Callee, Op, Slot, Term};

/// What a chain has come to so far.
enum Link<'t> {
    /// A value.
    Value(Slot),
    /// A name from outside, or one that is reached over its attributes.
    Path(String, Node<'t>),
    /// `super()`
    Super(Node<'t>),
    /// An attribute that may be about to be called.
    Member(Slot, &'t str, Node<'t>),
    /// A method of the base class that may be about to be called.
    Inherited(&'t str, Node<'t>),
    /// A base class's method that may be called with `self` as its first argument: `Base.__init__`.
    OfBase(&'t str, Box<Link<'t>>),
}

impl<'t> Lowering<'t> {
    /// Lowers a chain whose outermost part this node is.
    pub(super) fn chain(&mut self, node: Node<'t>) -> Slot {
        let mut spine = Vec::new();
        let mut root = node;
        loop {
            let inner = match root.kind() {
                "call" => field(root, "function"),
                "attribute" => field(root, "object"),
                "subscript" => field(root, "value"),
                "await" | "parenthesized_expression" => first_child(root),
                _ => None,
            };
            let Some(inner) = inner else { break };
            spine.push(root);
            root = inner;
        }
        let mut link = match root.kind() {
            "identifier" => {
                let name = self.text_of(root);
                match self.resolve(name) {
                    Name::Path(path) => Link::Path(path, root),
                    other => Link::Value(self.read(other, name, root)),
                }
            }
            // Parentheses around nothing that can be lowered, or a part that is missing.
            "call" | "attribute" | "subscript" | "await" | "parenthesized_expression" => {
                Link::Value(self.unknown("incomplete expression", root))
            }
            _ => Link::Value(self.expression(root)),
        };
        for part in spine.into_iter().rev() {
            link = match part.kind() {
                "call" => self.call(link, part),
                "attribute" => self.attribute(link, part),
                "subscript" => {
                    let object = self.value_of(link);
                    let index = self.index(part);
                    Link::Value(self.emit(Op::Index(object, index), part))
                }
                "await" => {
                    let future = self.value_of(link);
                    Link::Value(self.emit(Op::Await(future), part))
                }
                _ => link,
            };
        }
        self.value_of(link)
    }

    fn value_of(&mut self, link: Link<'t>) -> Slot {
        match link {
            Link::Value(slot) => slot,
            Link::Path(path, at) => self.emit(Op::Path(path), at),
            Link::Super(at) => self.emit(Op::Path("builtins.super".to_owned()), at),
            Link::Member(object, name, at) => self.emit(Op::Attr(object, name.to_owned()), at),
            Link::Inherited(name, at) => {
                let base = self.emit(Op::Path("builtins.super".to_owned()), at);
                self.emit(Op::Attr(base, name.to_owned()), at)
            }
            Link::OfBase(_, plain) => self.value_of(*plain),
        }
    }

    fn attribute(&mut self, link: Link<'t>, part: Node<'t>) -> Link<'t> {
        let Some(attribute) = field(part, "attribute") else {
            self.value_of(link);
            return Link::Value(self.unknown("incomplete expression", part));
        };
        let name = self.text_of(attribute);
        let of_base = self.names_base(part);
        let plain = match link {
            Link::Path(path, _) => Link::Path(format!("{path}.{name}"), part),
            Link::Super(_) => return Link::Inherited(name, part),
            other => Link::Member(self.value_of(other), name, part),
        };
        if of_base { Link::OfBase(name, Box::new(plain)) } else { plain }
    }

    /// Whether the object of an attribute is a base of the class whose method this is.
    fn names_base(&mut self, part: Node<'t>) -> bool {
        let Some((class, _)) = self.context().method else { return false };
        let Some(object) = field(part, "object").filter(|object| matches!(object.kind(), "identifier" | "attribute"))
        else {
            return false;
        };
        let text = self.text_of(object);
        self.base_names.get(&class).is_some_and(|bases| bases.contains(&text))
    }

    fn call(&mut self, link: Link<'t>, part: Node<'t>) -> Link<'t> {
        let arguments = field(part, "arguments");
        if let Link::Path(path, _) = &link
            && path == "builtins.super"
        {
            return Link::Super(part);
        }
        let link = match link {
            Link::OfBase(name, plain) => {
                let receiver = self.context().method.map(|(_, receiver)| receiver);
                let first = arguments.and_then(first_child).filter(|first| first.kind() == "identifier");
                if first.map(|first| self.text_of(first)) == receiver {
                    let args = self.arguments(arguments, true);
                    let callee = Callee::Super { name: name.to_owned() };
                    return Link::Value(self.emit(Op::Call { callee, args }, part));
                }
                *plain
            }
            other => other,
        };
        let ending = match &link {
            Link::Path(path, _) => Ending::of(path),
            _ => None,
        };
        if let Some(ending) = ending {
            self.arguments(arguments, false);
            return Link::Value(self.end_process(ending, part));
        }
        let callee = match link {
            Link::Member(receiver, name, _) => Callee::Method { receiver, name: name.to_owned() },
            Link::Inherited(name, _) => Callee::Super { name: name.to_owned() },
            other => Callee::Value(self.value_of(other)),
        };
        let args = self.arguments(arguments, false);
        Link::Value(self.emit(Op::Call { callee, args }, part))
    }

    fn end_process(&mut self, ending: Ending, at: Node<'t>) -> Slot {
        match ending {
            Ending::Exit => {
                let raised = self.emit(Op::Path("builtins.SystemExit".to_owned()), at);
                self.graph().end(Term::Raise(Some(raised)));
            }
            Ending::Kill => self.graph().end(Term::Abort),
        }
        self.unknown("never returns", at)
    }

    /// The arguments of a call, evaluated in order.
    pub(super) fn arguments(&mut self, list: Option<Node<'t>>, without_first: bool) -> Vec<Arg> {
        let Some(list) = list else { return Vec::new() };
        if list.kind() == "generator_expression" {
            let value = self.expression(list);
            return vec![Arg { name: None, value, spread: false }];
        }
        let mut args = Vec::new();
        for node in children(list).into_iter().skip(usize::from(without_first)) {
            let arg = match node.kind() {
                "keyword_argument" => {
                    let name = field(node, "name").map(|name| self.text_of(name).to_owned());
                    let value = self.optional(field(node, "value"), node);
                    Arg { name, value, spread: false }
                }
                "list_splat" => {
                    let value = self.optional(first_child(node), node);
                    Arg { name: None, value, spread: true }
                }
                "dictionary_splat" => {
                    let value = self.optional(first_child(node), node);
                    Arg { name: Some(String::new()), value, spread: true }
                }
                "parenthesized_expression" if unwrapped(node).kind() == "list_splat" => {
                    let value = self.optional(first_child(unwrapped(node)), node);
                    Arg { name: None, value, spread: true }
                }
                _ => Arg { name: None, value: self.expression(node), spread: false },
            };
            args.push(arg);
        }
        args
    }

    /// The index of a subscript: a value, a tuple of several, or an unknown for a slice.
    pub(super) fn index(&mut self, subscript: Node<'t>) -> Slot {
        let parts = fields(subscript, "subscript");
        let mut slots: Vec<Slot> = parts.iter().map(|part| self.index_part(*part)).collect();
        if slots.len() == 1 && !trailing_comma(subscript) {
            return slots.remove(0);
        }
        self.emit(Op::Collection(crate::ir::CollectionKind::Tuple, slots), subscript)
    }

    fn index_part(&mut self, part: Node<'t>) -> Slot {
        if part.kind() != "slice" {
            return self.expression(part);
        }
        for bound in children(part) {
            let bound = self.expression(bound);
            self.graph().discard(bound);
        }
        self.emit(Op::Unknown("slice".to_owned()), part)
    }
}

fn trailing_comma(subscript: Node<'_>) -> bool {
    child_of_kind(subscript, ",").is_some()
}

/// A call that never comes back.
#[derive(Clone, Copy)]
enum Ending {
    /// By an exception that may be caught.
    Exit,
    /// At once.
    Kill,
}

impl Ending {
    fn of(path: &str) -> Option<Self> {
        match path {
            "sys.exit" | "builtins.exit" | "builtins.quit" => Some(Ending::Exit),
            "os._exit" | "os.abort" => Some(Ending::Kill),
            _ => None,
        }
    }
}
