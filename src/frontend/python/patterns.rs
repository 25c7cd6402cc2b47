//! Where values go: assignment targets, and the patterns of `match`.

use tree_sitter::Node;

use super::Lowering;
use super::literals::number;
use super::names::Name;
use super::syntax::{child_of_kind, children, field, fields, first_child, span};
use crate::ir::{Const, Op, Pattern, Slot};

/// What is left to do once a pattern's names are bound.
pub(super) enum Later<'t> {
    /// A name that is no variable of the function.
    Name(&'t str, Slot, Node<'t>),
    /// `object[index]`
    Index(Slot, Slot, Slot, Node<'t>),
    /// A name that is bound to something that the pattern cannot express.
    Unknown(Slot, Node<'t>),
}

impl<'t> Lowering<'t> {
    /// Puts a value into a target.
    pub(super) fn assign(&mut self, target: Node<'t>, value: Slot) {
        if !self.descend(target) {
            self.unknown("nested too deeply", target);
            return;
        }
        match target.kind() {
            "identifier" => self.write(self.text_of(target), value, target),
            "attribute" => {
                let object = self.optional(field(target, "object"), target);
                let name = field(target, "attribute").map_or("", |name| self.text_of(name));
                self.graph().run(Op::SetAttr(object, name.to_owned(), value), span(target));
            }
            "subscript" => {
                let object = self.optional(field(target, "value"), target);
                let index = self.index(target);
                self.graph().run(Op::SetIndex(object, index, value), span(target));
            }
            "parenthesized_expression" | "as_pattern_target" | "type" => {
                if let Some(inner) = first_child(target) {
                    self.assign(inner, value);
                }
            }
            _ => {
                let mut later = Vec::new();
                let pattern = self.target_pattern(target, &mut later);
                self.graph().run(Op::Bind(value, pattern), span(target));
                self.finish_later(later);
            }
        }
        self.ascend();
    }

    /// Does what the binding of a pattern left over.
    pub(super) fn finish_later(&mut self, later: Vec<Later<'t>>) {
        for rest in later {
            match rest {
                Later::Name(name, slot, at) => self.write(name, slot, at),
                Later::Index(object, index, slot, at) => {
                    self.graph().run(Op::SetIndex(object, index, slot), span(at));
                }
                Later::Unknown(slot, at) => {
                    self.graph().emit_to(slot, Op::Unknown("rest of a mapping".to_owned()), span(at));
                }
            }
        }
    }

    /// An assignment target as a pattern.
    fn target_pattern(&mut self, target: Node<'t>, later: &mut Vec<Later<'t>>) -> Pattern {
        if !self.descend(target) {
            return Pattern::Any;
        }
        let pattern = match target.kind() {
            "identifier" => self.bind_name(target, later),
            "attribute" => {
                let object = self.optional(field(target, "object"), target);
                Pattern::Attr(object, field(target, "attribute").map_or("", |name| self.text_of(name)).to_owned())
            }
            "subscript" => {
                let object = self.optional(field(target, "value"), target);
                let index = self.index(target);
                let slot = self.graph().temporary();
                later.push(Later::Index(object, index, slot, target));
                Pattern::Bind(slot, None)
            }
            "parenthesized_expression" | "list_splat_pattern" | "list_splat" | "as_pattern_target" => {
                match first_child(target) {
                    Some(inner) => self.target_pattern(inner, later),
                    None => Pattern::Any,
                }
            }
            "pattern_list" | "tuple_pattern" | "list_pattern" | "tuple" | "list" | "expression_list" => {
                let parts = children(target);
                let rest = parts.iter().position(|part| part.kind().starts_with("list_splat"));
                let parts = parts.into_iter().map(|part| self.target_pattern(part, later)).collect();
                Pattern::Tuple(parts, rest)
            }
            _ => Pattern::Any,
        };
        self.ascend();
        pattern
    }

    fn bind_name(&mut self, name: Node<'t>, later: &mut Vec<Later<'t>>) -> Pattern {
        let text = self.text_of(name);
        let slot = match self.resolve(text) {
            Name::Slot(slot) => slot,
            _ => {
                let slot = self.graph().temporary();
                later.push(Later::Name(text, slot, name));
                slot
            }
        };
        Pattern::Bind(slot, None)
    }

    /// The patterns of a `case`, several of them being a sequence.
    pub(super) fn case_patterns(&mut self, clause: Node<'t>, later: &mut Vec<Later<'t>>) -> Pattern {
        let cases: Vec<Node<'t>> = children(clause).into_iter().filter(|part| part.kind() == "case_pattern").collect();
        match cases.as_slice() {
            [] => Pattern::Unknown(Vec::new()),
            [one] if !self.has_comma(clause, *one) => self.case_pattern(*one, later),
            several => self.sequence(several, later),
        }
    }

    fn has_comma(&self, clause: Node<'t>, one: Node<'t>) -> bool {
        child_of_kind(clause, ",").is_some_and(|comma| comma.start_byte() >= one.end_byte())
    }

    fn sequence(&mut self, parts: &[Node<'t>], later: &mut Vec<Later<'t>>) -> Pattern {
        let rest = parts.iter().position(|part| {
            part.kind() == "splat_pattern" || first_child(*part).is_some_and(|inner| inner.kind() == "splat_pattern")
        });
        let parts = parts.iter().map(|part| self.case_pattern(*part, later)).collect();
        Pattern::Tuple(parts, rest)
    }

    fn case_pattern(&mut self, node: Node<'t>, later: &mut Vec<Later<'t>>) -> Pattern {
        if !self.descend(node) {
            return Pattern::Unknown(Vec::new());
        }
        let pattern = self.case_pattern_within(node, later);
        self.ascend();
        pattern
    }

    fn case_pattern_within(&mut self, node: Node<'t>, later: &mut Vec<Later<'t>>) -> Pattern {
        let text = self.text_of(node);
        match node.kind() {
            "case_pattern" => match first_child(node) {
                Some(inner) if matches!(inner.kind(), "integer" | "float") => self.literal(node),
                Some(inner) => self.case_pattern(inner, later),
                None if text == "_" => Pattern::Any,
                None => Pattern::Unknown(Vec::new()),
            },
            "as_pattern" => {
                let inner = first_child(node).map(|inner| Box::new(self.case_pattern(inner, later)));
                match child_of_kind(node, "identifier").map(|name| self.bind_name(name, later)) {
                    Some(Pattern::Bind(slot, _)) => Pattern::Bind(slot, inner),
                    _ => inner.map_or(Pattern::Any, |inner| *inner),
                }
            }
            "splat_pattern" => match child_of_kind(node, "identifier") {
                Some(name) => self.bind_name(name, later),
                None => Pattern::Any,
            },
            "union_pattern" => Pattern::Or(self.alternatives(node, later)),
            "list_pattern" | "tuple_pattern" => {
                let parts = children(node);
                match parts.as_slice() {
                    // `(p)` is `p`.
                    [one] if node.kind() == "tuple_pattern" && !text.contains(',') => self.case_pattern(*one, later),
                    parts => self.sequence(parts, later),
                }
            }
            "dict_pattern" => self.mapping(node, later),
            "class_pattern" => self.class_pattern(node, later),
            "dotted_name" => {
                if text == "_" {
                    Pattern::Any
                } else if let [name] = children(node).as_slice() {
                    self.bind_name(*name, later)
                } else {
                    Pattern::Path(self.dotted_path(text))
                }
            }
            "true" | "false" | "none" | "integer" | "float" | "string" | "concatenated_string" => self.literal(node),
            _ => Pattern::Unknown(Vec::new()),
        }
    }

    /// The parts of `a | b | c`; signs before numbers are tokens of their own there.
    fn alternatives(&mut self, node: Node<'t>, later: &mut Vec<Later<'t>>) -> Vec<Pattern> {
        let mut parts = Vec::new();
        let mut negative = false;
        let mut cursor = node.walk();
        for child in node.children(&mut cursor).collect::<Vec<_>>() {
            match child.kind() {
                "-" => negative = true,
                "|" | "comment" => {}
                "_" => parts.push(Pattern::Any),
                _ => {
                    let pattern = self.case_pattern(child, later);
                    parts.push(if negative { negated(pattern) } else { pattern });
                    negative = false;
                }
            }
        }
        parts
    }

    /// A literal with its sign.
    fn literal(&self, node: Node<'t>) -> Pattern {
        match self.literal_value(node) {
            Some(value) => Pattern::Const(value),
            None => Pattern::Unknown(Vec::new()),
        }
    }

    fn literal_value(&self, node: Node<'t>) -> Option<Const> {
        let text = self.text_of(node);
        match node.kind() {
            "true" => Some(Const::Bool(true)),
            "false" => Some(Const::Bool(false)),
            "none" => Some(Const::None),
            "integer" | "float" => number(text),
            "string" => self.plain_string(node),
            "case_pattern" => {
                let inner = self.literal_value(first_child(node)?)?;
                match (text.starts_with('-'), inner) {
                    (true, Const::Int(value)) => Some(Const::Int(-value)),
                    (true, Const::Float(value)) => Some(Const::Float(-value)),
                    (_, other) => Some(other),
                }
            }
            "concatenated_string" => {
                let mut whole = String::new();
                for part in children(node) {
                    match self.plain_string(part)? {
                        Const::Str(text) => whole.push_str(&text),
                        _ => return None,
                    }
                }
                Some(Const::Str(whole))
            }
            _ => None,
        }
    }

    fn plain_string(&self, node: Node<'t>) -> Option<Const> {
        let start = child_of_kind(node, "string_start")?;
        let end = child_of_kind(node, "string_end")?;
        let prefix = super::literals::prefix(self.text_of(start));
        let text = self.text.get(start.end_byte()..end.start_byte())?;
        Some(Const::Str(super::literals::decode(text, prefix)))
    }

    fn mapping(&mut self, node: Node<'t>, later: &mut Vec<Later<'t>>) -> Pattern {
        let keys = fields(node, "key");
        let values = fields(node, "value");
        let mut pairs = Vec::new();
        let mut known = true;
        for (key, value) in keys.into_iter().zip(values) {
            let pattern = self.case_pattern(value, later);
            match self.literal_value(key) {
                Some(Const::Int(number)) if is_negative(key) => pairs.push((Const::Int(-number), pattern)),
                Some(key) => pairs.push((key, pattern)),
                None => {
                    known = false;
                    pairs.push((Const::None, pattern));
                }
            }
        }
        let mut rest = Vec::new();
        for splat in children(node).into_iter().filter(|part| part.kind() == "splat_pattern") {
            if let Some(name) = child_of_kind(splat, "identifier")
                && let Pattern::Bind(slot, _) = self.bind_name(name, later)
            {
                rest.push((slot, splat));
            }
        }
        if known {
            // Before the names that are written from temporaries.
            for (slot, at) in rest {
                later.insert(0, Later::Unknown(slot, at));
            }
            return Pattern::Mapping(pairs);
        }
        let mut slots: Vec<Slot> = rest.into_iter().map(|(slot, _)| slot).collect();
        for (_, pattern) in &pairs {
            slots.extend(pattern.binds());
        }
        Pattern::Unknown(slots)
    }

    fn class_pattern(&mut self, node: Node<'t>, later: &mut Vec<Later<'t>>) -> Pattern {
        let parts = children(node);
        let Some((class, parts)) = parts.split_first() else { return Pattern::Unknown(Vec::new()) };
        let path = self.dotted_path(self.text_of(*class));
        let name = path.rsplit('.').next().unwrap_or_default().to_owned();
        let mut positions = Vec::new();
        let mut named = Vec::new();
        for part in parts {
            let inner = first_child(*part).filter(|inner| inner.kind() == "keyword_pattern");
            match inner.map(children).as_deref() {
                Some([keyword, value]) => {
                    let pattern = self.case_pattern(*value, later);
                    let pattern = if is_negative(*value) { negated(pattern) } else { pattern };
                    named.push((self.text_of(*keyword).to_owned(), pattern));
                }
                Some(_) => {
                    // `name=_` has no node for the value.
                }
                None => positions.push(self.case_pattern(*part, later)),
            }
        }
        if named.is_empty() {
            return Pattern::Variant { name, path, args: positions };
        }
        let positions = positions.into_iter().enumerate().map(|(at, pattern)| (at.to_string(), pattern));
        Pattern::Struct { name, path, fields: positions.chain(named).collect() }
    }

    /// The path of a dotted name in a pattern.
    fn dotted_path(&mut self, text: &'t str) -> String {
        let (first, rest) = text.split_once('.').map_or((text, None), |(first, rest)| (first, Some(rest)));
        let first = match self.resolve(first.trim()) {
            Name::Path(path) => path,
            _ => first.trim().to_owned(),
        };
        rest.map_or_else(|| first.clone(), |rest| format!("{first}.{rest}"))
    }
}

/// Whether a minus sign stands before a number, as a token of its own.
fn is_negative(node: Node<'_>) -> bool {
    node.prev_sibling().is_some_and(|before| before.kind() == "-")
}

fn negated(pattern: Pattern) -> Pattern {
    match pattern {
        Pattern::Const(Const::Int(value)) => Pattern::Const(Const::Int(-value)),
        Pattern::Const(Const::Float(value)) => Pattern::Const(Const::Float(-value)),
        other => other,
    }
}
