//! Displays and comprehensions.

use rustc_hash::FxHashMap;
use tree_sitter::Node;

use super::Lowering;
use super::syntax::{children, field, fields, first_child, has_token, span, target_names};
use crate::ir::{Arg, Callee, CollectionKind, Loop, LoopKind, Op, Slot, SlotInfo, Term};

impl<'t> Lowering<'t> {
    /// A tuple, list or set of expressions.
    pub(super) fn display(&mut self, node: Node<'t>, kind: CollectionKind) -> Slot {
        let elements = children(node).into_iter().map(|element| self.expression(element)).collect();
        self.emit(Op::Collection(kind, elements), node)
    }

    pub(super) fn dictionary(&mut self, node: Node<'t>) -> Slot {
        let mut elements = Vec::new();
        for pair in children(node) {
            if pair.kind() == "pair" {
                elements.push(self.optional(field(pair, "key"), pair));
                elements.push(self.optional(field(pair, "value"), pair));
            } else {
                // Another mapping's pairs.
                let pairs = self.expression(pair);
                elements.extend([pairs, pairs]);
            }
        }
        self.emit(Op::Collection(CollectionKind::Dict, elements), node)
    }

    /// A comprehension: loops in this function that fill a collection. Its variables are its own.
    pub(super) fn comprehension(&mut self, node: Node<'t>) -> Slot {
        let kind = match node.kind() {
            "set_comprehension" => CollectionKind::Set,
            "dictionary_comprehension" => CollectionKind::Dict,
            _ => CollectionKind::List,
        };
        let result = self.emit(Op::Collection(kind, Vec::new()), node);
        let clauses: Vec<Node<'t>> =
            children(node).into_iter().filter(|part| matches!(part.kind(), "for_in_clause" | "if_clause")).collect();
        // The first iterable belongs to what is outside.
        let mut iterable = clauses.first().map(|first| self.iterable(*first));
        let variables = self.comprehension_variables(node, &clauses);
        self.context().overlays.push(variables);
        let after = self.graph().block();
        let mut next = after;
        for clause in clauses {
            if clause.kind() == "if_clause" {
                let passed = self.graph().block();
                match first_child(clause) {
                    Some(test) => self.condition(test, passed, next),
                    None => self.graph().goto(passed),
                }
                self.graph().start(passed);
                continue;
            }
            let iterable = iterable.take().unwrap_or_else(|| self.iterable(clause));
            let iter = self.emit(Op::Iter(iterable, has_token(clause, "async")), clause);
            let (head, body) = (self.graph().block(), self.graph().block());
            self.graph().goto(head);
            self.graph().add_loop(Loop {
                head,
                kind: LoopKind::For,
                span: span(node),
                header: span(clause),
                is_comprehension: true,
            });
            self.graph().start(head);
            let item = self.graph().temporary();
            self.graph().end(Term::Next { iter, item, body, done: next });
            self.graph().start(body);
            if let Some(target) = field(clause, "left") {
                self.assign(target, item);
            }
            next = head;
        }
        self.add_element(node, kind, result);
        self.graph().goto(next);
        self.graph().start(after);
        self.context().overlays.pop();
        result
    }

    fn iterable(&mut self, clause: Node<'t>) -> Slot {
        let right = fields(clause, "right");
        match right.as_slice() {
            [] => self.unknown("incomplete expression", clause),
            [one] => self.expression(*one),
            several => {
                let elements = several.iter().map(|element| self.expression(*element)).collect();
                self.emit(Op::Collection(CollectionKind::Tuple, elements), clause)
            }
        }
    }

    fn comprehension_variables(&mut self, node: Node<'t>, clauses: &[Node<'t>]) -> FxHashMap<&'t str, Slot> {
        if let Some(known) = self.context().comprehensions.get(&node.id()) {
            return known.clone();
        }
        let mut names = Vec::new();
        for left in clauses.iter().filter_map(|clause| field(*clause, "left")) {
            target_names(left, |name| names.push(name));
        }
        let mut variables = FxHashMap::default();
        for name in names {
            let text = self.text_of(name);
            let info = SlotInfo { name: Some(text.to_owned()), captured: None, ty: None };
            let slot = self.graph().add_slot(info);
            variables.entry(text).or_insert(slot);
        }
        self.context().comprehensions.insert(node.id(), variables.clone());
        variables
    }

    fn add_element(&mut self, node: Node<'t>, kind: CollectionKind, result: Slot) {
        let Some(body) = field(node, "body") else { return };
        if kind == CollectionKind::Dict {
            let key = self.optional(field(body, "key"), body);
            let value = self.optional(field(body, "value"), body);
            self.graph().run(Op::SetIndex(result, key, value), span(body));
            return;
        }
        let value = self.expression(body);
        let name = if kind == CollectionKind::Set { "add" } else { "append" };
        let callee = Callee::Method { receiver: result, name: name.to_owned() };
        let args = vec![Arg { name: None, value, spread: false }];
        self.graph().run(Op::Call { callee, args }, span(body));
    }
}
