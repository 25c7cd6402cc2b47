//! Simple statements, and the dispatch over all of them.

use tree_sitter::Node;

use super::expressions::binary_operator;
use super::syntax::{child_of_kind, children, field, fields, first_child, header, span};
use super::{Frame, Lowering};
use crate::ir::{Arg, Callee, Op, Slot, Term};

impl<'t> Lowering<'t> {
    /// The statements of a block, module or broken part.
    pub(super) fn statements(&mut self, block: Node<'t>) {
        for statement in children(block) {
            self.statement(statement);
        }
    }

    /// The statements under a clause (`finally:`, `else:`).
    pub(super) fn suite_of(&mut self, clause: Node<'t>) {
        if let Some(block) = child_of_kind(clause, "block") {
            self.statements(block);
        }
    }

    fn statement(&mut self, node: Node<'t>) {
        let place = match node.kind() {
            "if_statement"
            | "while_statement"
            | "for_statement"
            | "try_statement"
            | "with_statement"
            | "match_statement"
            | "function_definition"
            | "class_definition" => header(node),
            _ => span(node),
        };
        let before = self.graph().set_statement(place);
        if self.descend(node) {
            self.statement_within(node);
            self.ascend();
        } else {
            self.unknown("nested too deeply", node);
        }
        self.graph().set_statement(before);
    }

    fn statement_within(&mut self, node: Node<'t>) {
        match node.kind() {
            "expression_statement" => self.expression_statement(node),
            "return_statement" => self.return_statement(node),
            "raise_statement" => self.raise_statement(node),
            "break_statement" => self.leave_loop(node, true),
            "continue_statement" => self.leave_loop(node, false),
            "assert_statement" => self.assert_statement(node),
            "delete_statement" => self.delete_statement(node),
            "if_statement" => self.if_statement(node),
            "while_statement" => self.while_statement(node),
            "for_statement" => self.for_statement(node),
            "try_statement" => self.try_statement(node),
            "with_statement" => self.with_statement(node),
            "match_statement" => self.match_statement(node),
            "function_definition" => self.function_statement(node, &[]),
            "class_definition" => self.class_statement(node, &[]),
            "decorated_definition" => {
                let decorators: Vec<Node<'t>> =
                    children(node).into_iter().filter(|part| part.kind() == "decorator").collect();
                match field(node, "definition") {
                    Some(class) if class.kind() == "class_definition" => self.class_statement(class, &decorators),
                    Some(function) => self.function_statement(function, &decorators),
                    None => {}
                }
            }
            "print_statement" => self.old_call(node, "builtins.print", children(node)),
            "exec_statement" => self.old_call(node, "builtins.exec", children(node)),
            "ERROR" => {
                self.unknown("syntax error", node);
                for part in children(node) {
                    if part.kind().ends_with("_statement")
                        || part.kind().ends_with("_definition")
                        || part.kind() == "block"
                    {
                        self.statement(part);
                    }
                }
            }
            "block" => self.statements(node),
            "pass_statement"
            | "import_statement"
            | "import_from_statement"
            | "future_import_statement"
            | "global_statement"
            | "nonlocal_statement"
            | "type_alias_statement" => {}
            _ => {
                let value = self.expression(node);
                self.graph().discard(value);
            }
        }
    }

    fn expression_statement(&mut self, node: Node<'t>) {
        for part in children(node) {
            match part.kind() {
                // Docstrings and other texts on their own do nothing.
                "string" if child_of_kind(part, "interpolation").is_none() => {}
                "ellipsis" => {}
                _ => {
                    let value = self.expression(part);
                    self.graph().discard(value);
                }
            }
        }
    }

    /// `a = b = value`, `a: int = value`; gives the value.
    pub(super) fn assignment(&mut self, node: Node<'t>) -> Slot {
        let mut targets = Vec::new();
        let mut right = Some(node);
        while let Some(part) = right.filter(|part| part.kind() == "assignment") {
            if let Some(left) = field(part, "left") {
                if let Some(ty) = field(part, "type") {
                    self.annotate(left, ty);
                }
                if field(part, "right").is_some() {
                    targets.push(left);
                }
            }
            right = field(part, "right");
        }
        let Some(right) = right else { return Slot(0) };
        let value = self.expression(right);
        if let [one] = targets.as_slice() {
            self.assign(*one, value);
            return value;
        }
        for target in targets {
            // The value is needed again for the next target: it must not be renamed into this one's variable.
            match target.kind() {
                "identifier" => {
                    let copy = self.graph().emit(Op::Copy(value), span(target));
                    self.assign(target, copy);
                }
                _ => self.assign(target, value),
            }
        }
        value
    }

    /// `x: Client` tells of a variable, `self.x: Client` of a field.
    fn annotate(&mut self, target: Node<'t>, ty: Node<'t>) {
        let Some(ty) = self.type_of(ty) else { return };
        match target.kind() {
            "identifier" => {
                if let super::names::Name::Slot(slot) = self.resolve(self.text_of(target))
                    && let Some(info) = self.graph().slot_mut(slot)
                {
                    info.ty.get_or_insert(ty);
                }
            }
            "attribute" => {
                let Some((class, receiver)) = self.context().method else { return };
                let object = field(target, "object").map_or("", |object| self.text_of(object));
                if let Some(name) = field(target, "attribute").filter(|_| object == receiver) {
                    self.declare_field(class, self.text_of(name), ty);
                }
            }
            _ => {}
        }
    }

    /// `a += value`
    pub(super) fn augmented(&mut self, node: Node<'t>) -> Slot {
        let Some(target) = field(node, "left") else { return self.unknown("incomplete expression", node) };
        let op = binary_operator(field(node, "operator").map_or("", |operator| self.text_of(operator)));
        match target.kind() {
            "attribute" => {
                let object = self.optional(field(target, "object"), target);
                let name = field(target, "attribute").map_or("", |name| self.text_of(name));
                let old = self.emit(Op::Attr(object, name.to_owned()), target);
                let right = self.optional(field(node, "right"), node);
                let new = self.emit(Op::Binary(op, old, right), node);
                self.graph().run(Op::SetAttr(object, name.to_owned(), new), span(node));
                new
            }
            "subscript" => {
                let object = self.optional(field(target, "value"), target);
                let index = self.index(target);
                let old = self.emit(Op::Index(object, index), target);
                let right = self.optional(field(node, "right"), node);
                let new = self.emit(Op::Binary(op, old, right), node);
                self.graph().run(Op::SetIndex(object, index, new), span(node));
                new
            }
            _ => {
                let old = self.expression(target);
                let right = self.optional(field(node, "right"), node);
                let new = self.emit(Op::Binary(op, old, right), node);
                self.assign(target, new);
                new
            }
        }
    }

    fn return_statement(&mut self, node: Node<'t>) {
        let value = first_child(node).map(|value| {
            let slot = self.expression(value);
            // What runs on the way out may change a variable, but not the value that is returned.
            let named = self.graph().slot_mut(slot).is_some_and(|info| info.name.is_some());
            if named && self.context().frames.iter().any(|frame| !matches!(frame, Frame::Loop { .. })) {
                self.emit(Op::Copy(slot), value)
            } else {
                slot
            }
        });
        let unwind = self.graph().unwind();
        self.leave_frames(0);
        self.graph().end(Term::Return(value));
        self.graph().set_unwind(unwind);
    }

    /// `break` and `continue`.
    fn leave_loop(&mut self, node: Node<'t>, is_break: bool) {
        let frames = &self.context().frames;
        let found = frames.iter().rposition(|frame| matches!(frame, Frame::Loop { .. }));
        let Some(at) = found else {
            self.unknown("outside of a loop", node);
            return;
        };
        let Some(Frame::Loop { next, after }) = frames.get(at).copied() else { return };
        let unwind = self.graph().unwind();
        self.leave_frames(at);
        self.graph().jump(if is_break { after } else { next });
        self.graph().set_unwind(unwind);
    }

    fn raise_statement(&mut self, node: Node<'t>) {
        let cause = field(node, "cause");
        let raised = children(node).into_iter().find(|part| Some(part.id()) != cause.map(|cause| cause.id()));
        let Some(raised) = raised else {
            // The innermost open handler's exception. Where another one was caught and done with since, it is named.
            let context = self.context();
            let again = match context.handlers.last() {
                Some((exception, catches)) if *catches != context.catches => Some(*exception),
                _ => None,
            };
            self.graph().end(Term::Raise(again));
            return;
        };
        // Python 2: `raise Class, "message"`.
        let raised = match raised.kind() {
            "expression_list" => first_child(raised).unwrap_or(raised),
            _ => raised,
        };
        let value = self.expression(raised);
        if let Some(cause) = cause {
            let cause = self.expression(cause);
            self.graph().discard(cause);
        }
        self.graph().end(Term::Raise(Some(value)));
    }

    fn assert_statement(&mut self, node: Node<'t>) {
        let parts = children(node);
        let Some((test, message)) = parts.split_first() else { return };
        let (holds, fails) = (self.graph().block(), self.graph().block());
        self.condition(*test, holds, fails);
        self.graph().start(fails);
        if let Some(message) = message.first() {
            let message = self.expression(*message);
            self.graph().discard(message);
        }
        let raised = self.emit(Op::Path("builtins.AssertionError".to_owned()), node);
        self.graph().end(Term::Raise(Some(raised)));
        self.graph().start(holds);
    }

    fn delete_statement(&mut self, node: Node<'t>) {
        let mut todo = children(node);
        todo.reverse();
        while let Some(target) = todo.pop() {
            match target.kind() {
                "identifier" => {
                    let gone = self.unknown("deleted", target);
                    self.assign(target, gone);
                }
                "attribute" => {
                    let gone = self.unknown("deleted", target);
                    self.assign(target, gone);
                }
                "subscript" => {
                    let receiver = self.optional(field(target, "value"), target);
                    let index = self.index(target);
                    let callee = Callee::Method { receiver, name: "__delitem__".to_owned() };
                    let args = vec![Arg { name: None, value: index, spread: false }];
                    self.graph().run(Op::Call { callee, args }, span(target));
                }
                _ => todo.extend(children(target).into_iter().rev()),
            }
        }
    }

    /// Python 2's `print x` and `exec code`.
    fn old_call(&mut self, node: Node<'t>, path: &str, parts: Vec<Node<'t>>) {
        let mut args = Vec::new();
        for part in parts {
            let (name, part) = match part.kind() {
                "chevron" => (Some("file".to_owned()), first_child(part).unwrap_or(part)),
                _ => (None, part),
            };
            args.push(Arg { name, value: self.expression(part), spread: false });
        }
        let callee = Callee::Value(self.emit(Op::Path(path.to_owned()), node));
        self.graph().run(Op::Call { callee, args }, span(node));
    }

    fn if_statement(&mut self, node: Node<'t>) {
        let after = self.graph().block();
        let mut clause = node;
        let alternatives = fields(node, "alternative");
        let mut alternatives = alternatives.into_iter().peekable();
        loop {
            let then = self.graph().block();
            let otherwise = if alternatives.peek().is_some() { self.graph().block() } else { after };
            self.graph().set_statement(header(clause));
            match field(clause, "condition") {
                Some(condition) => self.condition(condition, then, otherwise),
                None => {
                    let test = self.unknown("incomplete expression", clause);
                    self.graph().branch(test, then, otherwise);
                }
            }
            self.graph().start(then);
            if let Some(body) = field(clause, "consequence") {
                self.statements(body);
            }
            self.graph().goto(after);
            let Some(next) = alternatives.next() else { break };
            self.graph().start(otherwise);
            if next.kind() != "elif_clause" {
                if let Some(body) = field(next, "body") {
                    self.statements(body);
                }
                self.graph().goto(after);
                break;
            }
            clause = next;
        }
        self.graph().start(after);
    }
}
