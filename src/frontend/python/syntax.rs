//! Small helpers over syntax nodes, so that the other rooms read as prose.

use tree_sitter::Node;

use crate::source::Span;

/// The bytes that a node covers.
pub(super) fn span(node: Node<'_>) -> Span {
    Span::new(node.start_byte(), node.end_byte())
}

/// The named children without comments and line continuations.
pub(super) fn children<'t>(node: Node<'t>) -> Vec<Node<'t>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).filter(|child| !is_noise(*child)).collect()
}

/// The first named child that is no comment.
pub(super) fn first_child(node: Node<'_>) -> Option<Node<'_>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).find(|child| !is_noise(*child))
}

fn is_noise(node: Node<'_>) -> bool {
    matches!(node.kind(), "comment" | "line_continuation")
}

/// The first child of this kind, named or not.
pub(super) fn child_of_kind<'t>(node: Node<'t>, kind: &str) -> Option<Node<'t>> {
    let mut cursor = node.walk();
    node.children(&mut cursor).find(|child| child.kind() == kind)
}

/// Whether a keyword or sign is among the children.
pub(super) fn has_token(node: Node<'_>, token: &str) -> bool {
    child_of_kind(node, token).is_some()
}

/// A child by its field.
pub(super) fn field<'t>(node: Node<'t>, name: &str) -> Option<Node<'t>> {
    node.child_by_field_name(name)
}

/// All children of a field.
pub(super) fn fields<'t>(node: Node<'t>, name: &str) -> Vec<Node<'t>> {
    let mut cursor = node.walk();
    node.children_by_field_name(name, &mut cursor).filter(|child| child.is_named()).collect()
}

/// From the keyword to the colon of a compound statement; all of it where there is no colon.
pub(super) fn header(node: Node<'_>) -> Span {
    match child_of_kind(node, ":") {
        Some(colon) => Span::new(node.start_byte(), colon.end_byte()),
        None => span(node),
    }
}

/// The expression inside any number of parentheses.
pub(super) fn unwrapped(mut node: Node<'_>) -> Node<'_> {
    while node.kind() == "parenthesized_expression" {
        match first_child(node) {
            Some(inner) => node = inner,
            None => break,
        }
    }
    node
}

/// The names that an assignment target binds, without recursion.
pub(super) fn target_names<'t>(target: Node<'t>, mut visit: impl FnMut(Node<'t>)) {
    let mut todo = vec![target];
    while let Some(node) = todo.pop() {
        match node.kind() {
            "identifier" => visit(node),
            "pattern_list"
            | "tuple_pattern"
            | "list_pattern"
            | "list_splat_pattern"
            | "list_splat"
            | "tuple"
            | "list"
            | "expression_list"
            | "parenthesized_expression"
            | "as_pattern_target"
            | "dictionary_splat_pattern" => todo.extend(children(node)),
            _ => {}
        }
    }
}
