//! Expressions: each gives the slot that holds its value. What decides between operands is control flow.

use tree_sitter::Node;

use super::literals::{decode, number, prefix};
use super::syntax::{child_of_kind, children, field, fields, first_child, span, unwrapped};
use super::{Lowering, syntax};
use crate::ir::{BinOp, BlockId, CollectionKind, Const, FormatPart, Op, Slot, UnOp};

impl<'t> Lowering<'t> {
    /// The value of an expression. A variable's value is its own slot.
    pub(super) fn expression(&mut self, node: Node<'t>) -> Slot {
        if !self.descend(node) {
            return self.unknown("nested too deeply", node);
        }
        let slot = self.expression_within(node);
        self.ascend();
        slot
    }

    /// The value of an expression that may be missing in a broken source.
    pub(super) fn optional(&mut self, node: Option<Node<'t>>, at: Node<'t>) -> Slot {
        match node {
            Some(node) => self.expression(node),
            None => self.unknown("incomplete expression", at),
        }
    }

    fn expression_within(&mut self, node: Node<'t>) -> Slot {
        match node.kind() {
            "identifier" => {
                let text = self.text_of(node);
                let name = self.resolve(text);
                self.read(name, text, node)
            }
            "call" | "attribute" | "subscript" | "await" | "parenthesized_expression" => self.chain(node),
            "string" | "concatenated_string" => self.string(node),
            "integer" | "float" => match number(self.text_of(node)) {
                Some(value) => self.constant(value, node),
                None => self.unknown("complex number", node),
            },
            "true" => self.constant(Const::Bool(true), node),
            "false" => self.constant(Const::Bool(false), node),
            "none" => self.constant(Const::None, node),
            "ellipsis" => self.constant(Const::Ellipsis, node),
            "binary_operator" => self.binary(node),
            "unary_operator" => self.unary(node),
            "not_operator" => {
                let value = self.optional(field(node, "argument"), node);
                self.emit(Op::Unary(UnOp::Not, value), node)
            }
            "boolean_operator" => self.boolean(node),
            "comparison_operator" => self.comparison(node),
            "conditional_expression" => self.conditional(node),
            "named_expression" => {
                let value = self.optional(field(node, "value"), node);
                match field(node, "name") {
                    Some(name) => self.assign_walrus(name, value),
                    None => value,
                }
            }
            "lambda" => self.lambda(node),
            "list" => self.display(node, CollectionKind::List),
            "set" => self.display(node, CollectionKind::Set),
            "tuple" | "expression_list" | "pattern_list" | "tuple_pattern" => self.display(node, CollectionKind::Tuple),
            "list_pattern" => self.display(node, CollectionKind::List),
            "dictionary" => self.dictionary(node),
            "list_comprehension" | "generator_expression" | "set_comprehension" | "dictionary_comprehension" => {
                self.comprehension(node)
            }
            "yield" => self.yielded(node),
            "assignment" => self.assignment(node),
            "augmented_assignment" => self.augmented(node),
            "as_pattern" | "type" => self.optional(first_child(node), node),
            "list_splat" | "list_splat_pattern" | "dictionary_splat" => {
                let value = self.optional(first_child(node), node);
                self.graph().discard(value);
                self.unknown("any number of elements", node)
            }
            "ERROR" => self.unknown("syntax error", node),
            other => {
                let what = format!("unsupported: {other}");
                self.unknown(&what, node)
            }
        }
    }

    pub(super) fn constant(&mut self, value: Const, at: Node<'t>) -> Slot {
        self.emit(Op::Const(value), at)
    }

    /// `:=`: the variable's slot, so that a test of the whole also tells of the variable.
    fn assign_walrus(&mut self, name: Node<'t>, value: Slot) -> Slot {
        let text = self.text_of(name);
        self.write(text, value, name);
        match self.resolve(text) {
            super::names::Name::Slot(slot) => slot,
            _ => value,
        }
    }

    fn yielded(&mut self, node: Node<'t>) -> Slot {
        let value = first_child(node).map(|value| self.expression(value));
        match value {
            // A delegation runs the other generator or coroutine to its end.
            Some(value) if syntax::has_token(node, "from") => self.emit(Op::Await(value), node),
            value => self.emit(Op::Yield(value), node),
        }
    }

    /// `a + b + c …`: a chain that leans to the left is walked in a loop.
    fn binary(&mut self, node: Node<'t>) -> Slot {
        let mut spine = Vec::new();
        let mut first = node;
        while first.kind() == "binary_operator" {
            spine.push(first);
            match field(first, "left") {
                Some(left) => first = left,
                None => return self.unknown("incomplete expression", node),
            }
        }
        let mut value = self.expression(first);
        for part in spine.into_iter().rev() {
            let right = self.optional(field(part, "right"), part);
            let op = field(part, "operator").map_or(BinOp::Other, |operator| binary_operator(self.text_of(operator)));
            value = self.emit(Op::Binary(op, value, right), part);
        }
        value
    }

    fn unary(&mut self, node: Node<'t>) -> Slot {
        let operator = field(node, "operator").map_or("", |operator| self.text_of(operator));
        let argument = field(node, "argument");
        // A negative literal is a constant.
        if let ("-", Some(argument)) = (operator, argument) {
            match number(self.text_of(argument)) {
                Some(Const::Int(value)) if argument.kind() == "integer" => {
                    return self.constant(Const::Int(-value), node);
                }
                Some(Const::Float(value)) if matches!(argument.kind(), "integer" | "float") => {
                    return self.constant(Const::Float(-value), node);
                }
                _ => {}
            }
        }
        let value = self.optional(argument, node);
        let op = match operator {
            "-" => UnOp::Neg,
            "~" => UnOp::BitNot,
            _ => UnOp::Plus,
        };
        self.emit(Op::Unary(op, value), node)
    }

    /// The operands of `a and b and c`, and whether the operator is `and`.
    fn operands(&self, node: Node<'t>) -> (Vec<Node<'t>>, bool) {
        let operator = |node: Node<'t>| field(node, "operator").map_or("", |operator| self.text_of(operator));
        let kind = operator(node);
        let mut operands = Vec::new();
        let mut at = node;
        while at.kind() == "boolean_operator" && operator(at) == kind {
            operands.extend(field(at, "right"));
            match field(at, "left") {
                Some(left) => at = left,
                None => break,
            }
        }
        operands.push(at);
        operands.reverse();
        (operands, kind == "and")
    }

    /// `a or b` as a value: that of the operand that decided.
    fn boolean(&mut self, node: Node<'t>) -> Slot {
        let (operands, and) = self.operands(node);
        let result = self.graph().temporary();
        let end = self.graph().block();
        let last = operands.len().saturating_sub(1);
        for (at, operand) in operands.into_iter().enumerate() {
            let value = self.expression(operand);
            if at == last {
                self.graph().store(result, value, span(operand));
                break;
            }
            self.graph().emit_to(result, Op::Copy(value), span(operand));
            let next = self.graph().block();
            let (then, otherwise) = if and { (next, end) } else { (end, next) };
            self.graph().branch(value, then, otherwise);
            self.graph().start(next);
        }
        self.graph().goto(end);
        self.graph().start(end);
        result
    }

    /// `a < b < c` as a value.
    fn comparison(&mut self, node: Node<'t>) -> Slot {
        let (operands, operators) = self.compared(node);
        let mut operands = operands.into_iter();
        let mut left = self.optional(operands.next(), node);
        let pairs = operators.len();
        if pairs <= 1 {
            let right = self.optional(operands.next(), node);
            let op = operators.first().copied().unwrap_or(BinOp::Other);
            return self.emit(Op::Binary(op, left, right), node);
        }
        let result = self.graph().temporary();
        let end = self.graph().block();
        for (at, (operand, op)) in operands.zip(operators).enumerate() {
            let right = self.expression(operand);
            self.graph().emit_to(result, Op::Binary(op, left, right), span(node));
            if at + 1 < pairs {
                let next = self.graph().block();
                self.graph().branch(result, next, end);
                self.graph().start(next);
            }
            left = right;
        }
        self.graph().goto(end);
        self.graph().start(end);
        result
    }

    fn compared(&self, node: Node<'t>) -> (Vec<Node<'t>>, Vec<BinOp>) {
        let mut cursor = node.walk();
        let operators = node
            .children_by_field_name("operators", &mut cursor)
            .map(|operator| comparison_operator(self.text_of(operator)))
            .collect();
        let operands =
            children(node).into_iter().filter(|child| !matches!(child.kind(), "not in" | "is not")).collect();
        (operands, operators)
    }

    fn conditional(&mut self, node: Node<'t>) -> Slot {
        let parts = children(node);
        let [value, condition, alternative] = parts.as_slice() else {
            return self.unknown("incomplete expression", node);
        };
        let result = self.graph().temporary();
        let (then, otherwise, end) = (self.graph().block(), self.graph().block(), self.graph().block());
        self.condition(*condition, then, otherwise);
        for (block, value) in [(then, *value), (otherwise, *alternative)] {
            self.graph().start(block);
            let slot = self.expression(value);
            self.graph().store(result, slot, span(value));
            self.graph().goto(end);
        }
        self.graph().start(end);
        result
    }

    /// Branches on an expression's truth; each operand of `and`, `or` and chained comparisons by its own test.
    pub(super) fn condition(&mut self, node: Node<'t>, then: BlockId, otherwise: BlockId) {
        let (mut node, mut then, mut otherwise) = (node, then, otherwise);
        loop {
            match node.kind() {
                "parenthesized_expression" => {
                    let inner = unwrapped(node);
                    if inner.id() == node.id() || inner.kind() == "parenthesized_expression" {
                        break;
                    }
                    node = inner;
                }
                "not_operator" => {
                    let Some(argument) = field(node, "argument") else { break };
                    node = argument;
                    std::mem::swap(&mut then, &mut otherwise);
                }
                _ => break,
            }
        }
        if !self.descend(node) {
            let value = self.unknown("nested too deeply", node);
            self.graph().branch(value, then, otherwise);
            return;
        }
        match node.kind() {
            "boolean_operator" => {
                let (operands, and) = self.operands(node);
                let last = operands.len().saturating_sub(1);
                for (at, operand) in operands.into_iter().enumerate() {
                    if at == last {
                        self.condition(operand, then, otherwise);
                        break;
                    }
                    let next = self.graph().block();
                    let (yes, no) = if and { (next, otherwise) } else { (then, next) };
                    self.condition(operand, yes, no);
                    self.graph().start(next);
                }
            }
            "comparison_operator" => {
                let (operands, operators) = self.compared(node);
                let mut operands = operands.into_iter();
                let mut left = self.optional(operands.next(), node);
                let pairs = operators.len();
                if pairs <= 1 {
                    let right = self.optional(operands.next(), node);
                    let op = operators.first().copied().unwrap_or(BinOp::Other);
                    let value = self.emit(Op::Binary(op, left, right), node);
                    self.graph().branch(value, then, otherwise);
                } else {
                    for (at, (operand, op)) in operands.zip(operators).enumerate() {
                        let right = self.expression(operand);
                        let value = self.emit(Op::Binary(op, left, right), node);
                        let next = if at + 1 < pairs { self.graph().block() } else { then };
                        self.graph().branch(value, next, otherwise);
                        self.graph().start(next);
                        left = right;
                    }
                }
            }
            "conditional_expression" => {
                let parts = children(node);
                if let [value, condition, alternative] = parts.as_slice() {
                    let (a, b) = (self.graph().block(), self.graph().block());
                    self.condition(*condition, a, b);
                    self.graph().start(a);
                    self.condition(*value, then, otherwise);
                    self.graph().start(b);
                    self.condition(*alternative, then, otherwise);
                } else {
                    let value = self.unknown("incomplete expression", node);
                    self.graph().branch(value, then, otherwise);
                }
            }
            _ => {
                let value = self.expression(node);
                self.graph().branch(value, then, otherwise);
            }
        }
        self.ascend();
    }

    /// A string, several that stand side by side, or a formatted one.
    fn string(&mut self, node: Node<'t>) -> Slot {
        let pieces = if node.kind() == "string" { vec![node] } else { children(node) };
        let mut parts: Vec<FormatPart> = Vec::new();
        let mut formatted = false;
        for piece in pieces.into_iter().filter(|piece| piece.kind() == "string") {
            let start = child_of_kind(piece, "string_start");
            let end = child_of_kind(piece, "string_end");
            let prefix = prefix(start.map_or("", |start| self.text_of(start)));
            let mut from = start.map_or(piece.start_byte(), |start| start.end_byte());
            for value in children(piece).into_iter().filter(|child| child.kind() == "interpolation") {
                formatted = true;
                self.text_part(&mut parts, from, value.start_byte(), prefix);
                from = value.end_byte();
                let slot = self.interpolation(value);
                parts.push(FormatPart::Value(slot));
            }
            let to = end.map_or(piece.end_byte(), |end| end.start_byte());
            self.text_part(&mut parts, from, to, prefix);
        }
        if formatted {
            return self.emit(Op::Format(parts), node);
        }
        let text = match parts.pop() {
            Some(FormatPart::Text(text)) => text,
            _ => String::new(),
        };
        self.constant(Const::Str(text), node)
    }

    /// Adds literal text, joined with text that stands before it.
    fn text_part(&self, parts: &mut Vec<FormatPart>, from: usize, to: usize, prefix: super::literals::Prefix) {
        let text = decode(self.text.get(from..to).unwrap_or_default(), prefix);
        match parts.last_mut() {
            _ if text.is_empty() => {}
            Some(FormatPart::Text(before)) => before.push_str(&text),
            _ => parts.push(FormatPart::Text(text)),
        }
    }

    fn interpolation(&mut self, node: Node<'t>) -> Slot {
        let value = self.optional(field(node, "expression"), node);
        if let Some(format) = field(node, "format_specifier") {
            for inner in children(format) {
                if let Some(width) = fields(inner, "expression").first() {
                    let width = self.expression(*width);
                    self.graph().discard(width);
                }
            }
        }
        value
    }
}

pub(super) fn binary_operator(sign: &str) -> BinOp {
    match sign.strip_suffix('=').unwrap_or(sign) {
        "+" => BinOp::Add,
        "-" => BinOp::Sub,
        "*" => BinOp::Mul,
        "/" => BinOp::Div,
        "//" => BinOp::FloorDiv,
        "%" => BinOp::Rem,
        "**" => BinOp::Pow,
        "<<" => BinOp::Shl,
        ">>" => BinOp::Shr,
        "&" => BinOp::BitAnd,
        "|" => BinOp::BitOr,
        "^" => BinOp::BitXor,
        _ => BinOp::Other,
    }
}

fn comparison_operator(sign: &str) -> BinOp {
    match sign {
        "<" => BinOp::Lt,
        "<=" => BinOp::Le,
        "==" => BinOp::Eq,
        "!=" | "<>" => BinOp::Ne,
        ">=" => BinOp::Ge,
        ">" => BinOp::Gt,
        "in" => BinOp::In,
        "is" => BinOp::Is,
        other if other.starts_with("not") => BinOp::NotIn,
        other if other.starts_with("is") => BinOp::IsNot,
        _ => BinOp::Other,
    }
}
