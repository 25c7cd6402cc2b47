//! Loops and `match`.

use tree_sitter::Node;

use super::literals::number;
use super::patterns::Later;
use super::syntax::{children, field, fields, first_child, has_token, header, span, unwrapped};
use super::{Frame, Lowering};
use crate::ir::{BlockId, CollectionKind, Const, Loop, LoopKind, Op, Pattern, Term};

impl<'t> Lowering<'t> {
    pub(super) fn while_statement(&mut self, node: Node<'t>) {
        let condition = field(node, "condition");
        let endless = condition.is_some_and(|condition| self.always_true(condition));
        let (head, after) = (self.graph().block(), self.graph().block());
        self.graph().goto(head);
        self.add_loop(node, head, if endless { LoopKind::Endless } else { LoopKind::While });
        self.graph().start(head);
        let otherwise = self.graph().block();
        if !endless {
            let body = self.graph().block();
            match condition {
                Some(condition) => self.condition(condition, body, otherwise),
                None => {
                    let test = self.unknown("incomplete expression", node);
                    self.graph().branch(test, body, otherwise);
                }
            }
            self.graph().start(body);
        }
        self.loop_body(node, head, otherwise, after);
    }

    pub(super) fn for_statement(&mut self, node: Node<'t>) {
        let iterable = self.optional(field(node, "right"), node);
        let at = field(node, "right").unwrap_or(node);
        let iter = self.emit(Op::Iter(iterable, has_token(node, "async")), at);
        let (head, after) = (self.graph().block(), self.graph().block());
        self.graph().goto(head);
        self.add_loop(node, head, LoopKind::For);
        self.graph().start(head);
        let (body, otherwise) = (self.graph().block(), self.graph().block());
        let item = self.graph().temporary();
        self.graph().end(Term::Next { iter, item, body, done: otherwise });
        self.graph().start(body);
        if let Some(target) = field(node, "left") {
            self.assign(target, item);
        }
        self.loop_body(node, head, otherwise, after);
    }

    fn add_loop(&mut self, node: Node<'t>, head: BlockId, kind: LoopKind) {
        let new = Loop { head, kind, span: span(node), header: header(node), is_comprehension: false };
        self.graph().add_loop(new);
    }

    /// The body, the way back, and the `else` part, which runs where the loop ends by itself.
    fn loop_body(&mut self, node: Node<'t>, head: BlockId, otherwise: BlockId, after: BlockId) {
        self.context().frames.push(Frame::Loop { next: head, after });
        if let Some(body) = field(node, "body") {
            self.statements(body);
        }
        self.context().frames.pop();
        self.graph().goto(head);
        self.graph().start(otherwise);
        if let Some(part) = fields(node, "alternative").into_iter().find(|part| part.kind() == "else_clause") {
            self.suite_of(part);
        }
        self.graph().goto(after);
        self.graph().start(after);
    }

    /// Whether a condition is a literal that is true.
    fn always_true(&self, condition: Node<'t>) -> bool {
        let condition = unwrapped(condition);
        match condition.kind() {
            "true" => true,
            "integer" | "float" => match number(self.text_of(condition)) {
                Some(Const::Int(value)) => value != 0,
                Some(Const::Float(value)) => value != 0.0,
                _ => false,
            },
            "not_operator" => field(condition, "argument").is_some_and(|argument| {
                let argument = unwrapped(argument);
                matches!(argument.kind(), "false" | "none") || self.text_of(argument) == "0"
            }),
            _ => false,
        }
    }

    pub(super) fn match_statement(&mut self, node: Node<'t>) {
        let subjects = fields(node, "subject");
        let subject = match subjects.as_slice() {
            [one] => self.expression(*one),
            several => {
                let elements = several.iter().map(|subject| self.expression(*subject)).collect();
                self.emit(Op::Collection(CollectionKind::Tuple, elements), node)
            }
        };
        let after = self.graph().block();
        let cases = field(node, "body").map(children).unwrap_or_default();
        for case in cases.into_iter().filter(|case| case.kind() == "case_clause") {
            self.graph().set_statement(header(case));
            let mut later: Vec<Later<'t>> = Vec::new();
            let pattern = self.case_patterns(case, &mut later);
            let (fits, next) = (self.graph().block(), self.graph().block());
            let irrefutable = matches!(pattern, Pattern::Any | Pattern::Bind(_, None));
            if irrefutable {
                self.graph().goto(fits);
            } else {
                let test = self.emit(Op::Matches(subject, pattern.clone()), case);
                self.graph().branch(test, fits, next);
            }
            self.graph().start(fits);
            if binds(&pattern) {
                self.graph().run(Op::Bind(subject, pattern), header(case));
            }
            self.finish_later(later);
            if let Some(guard) = field(case, "guard").and_then(first_child) {
                let passed = self.graph().block();
                self.condition(guard, passed, next);
                self.graph().start(passed);
            }
            if let Some(body) = field(case, "consequence") {
                self.statements(body);
            }
            self.graph().goto(after);
            self.graph().start(next);
        }
        self.graph().goto(after);
        self.graph().start(after);
    }
}

/// Whether a pattern binds any name.
fn binds(pattern: &Pattern) -> bool {
    match pattern {
        Pattern::Bind(..) | Pattern::Attr(..) => true,
        Pattern::Variant { args, .. } | Pattern::Tuple(args, _) | Pattern::Or(args) => args.iter().any(binds),
        Pattern::Struct { fields, .. } => fields.iter().any(|(_, part)| binds(part)),
        Pattern::Mapping(pairs) => pairs.iter().any(|(_, part)| binds(part)),
        Pattern::Unknown(slots) => !slots.is_empty(),
        Pattern::Any | Pattern::Const(_) | Pattern::Range { .. } | Pattern::Path(_) | Pattern::Global(_) => false,
    }
}
