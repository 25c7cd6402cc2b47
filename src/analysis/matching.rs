//! Patterns: whether a value fits one, and what its names are bound to.

use super::arith;
use super::machine::{Machine, constant_value};
use super::state::{Object, State};
use super::value::{Node, Num, Taint, Type, Value};
use crate::ir::{BinOp, Const, Pattern};
use crate::source::Span;

use super::memory::last_part;

impl<'a> Machine<'a> {
    pub(super) fn both(&mut self, a: Value, b: Value) -> Value {
        match (&a, &b) {
            (Value::Bool(true, _), _) => b,
            (_, Value::Bool(true, _)) => a,
            (Value::Bool(false, _), _) => a,
            (_, Value::Bool(false, _)) => b,
            (Value::StatusIn(r, x), Value::StatusIn(s, y)) if r == s => Value::StatusIn(*r, x.and(y)),
            _ => Value::Sym(self.symbols.intern(Node::Binary(BinOp::Other, a, b), Taint::NONE)),
        }
    }

    pub(super) fn either(&mut self, a: Value, b: Value) -> Value {
        match (&a, &b) {
            (Value::Bool(true, _), _) => a,
            (_, Value::Bool(true, _)) => b,
            (Value::Bool(false, _), _) => b,
            (_, Value::Bool(false, _)) => a,
            (Value::StatusIn(r, x), Value::StatusIn(s, y)) if r == s => Value::StatusIn(*r, x.or(y)),
            _ if a == b => a,
            _ => Value::Sym(self.symbols.intern(Node::Binary(BinOp::BitOr, a, b), Taint::NONE)),
        }
    }

    pub(super) fn matches(&mut self, state: &mut State, value: &Value, pattern: &Pattern, span: Span) -> Value {
        let yes = Value::Bool(true, Taint::NONE);
        match pattern {
            Pattern::Any | Pattern::Bind(_, None) | Pattern::Attr(..) => yes,
            Pattern::Bind(_, Some(inner)) => self.matches(state, value, inner, span),
            Pattern::Const(constant) => {
                let constant = constant_value(constant);
                arith::binary(&mut self.symbols, BinOp::Eq, value, &constant)
            }
            Pattern::Range { low, high, inclusive } => {
                let mut all = yes;
                let mut side = |machine: &mut Self, op: BinOp, end: &Option<Const>| {
                    if let Some(end) = end {
                        let test = arith::binary(&mut machine.symbols, op, value, &constant_value(end));
                        let so_far = std::mem::replace(&mut all, Value::None);
                        all = machine.both(so_far, test);
                    }
                };
                side(self, BinOp::Ge, low);
                side(self, if *inclusive { BinOp::Le } else { BinOp::Lt }, high);
                all
            }
            Pattern::Path(path) => {
                let constant = self.path_value(state, path);
                match (&constant, value) {
                    (Value::Num(_) | Value::Str(_) | Value::Bool(..), _) => {
                        arith::binary(&mut self.symbols, BinOp::Eq, value, &constant)
                    }
                    _ => self.is_variant(state, value, last_part(path), path),
                }
            }
            Pattern::Global(id) => {
                let file = state.top().map_or(self.file, |frame| frame.func.file);
                let constant = self.global(state, file, *id);
                arith::binary(&mut self.symbols, BinOp::Eq, value, &constant)
            }
            Pattern::Variant { name, path, args } => {
                let is = self.is_variant(state, value, name, path);
                if matches!(is, Value::Bool(false, _)) {
                    return is;
                }
                let mut all = is;
                for (at, arg) in args.iter().enumerate() {
                    let part = self.part(state, value, name, at);
                    let test = self.matches(state, &part, arg, span);
                    all = self.both(all, test);
                }
                all
            }
            Pattern::Struct { name, path, .. } => self.is_variant(state, value, name, path),
            Pattern::Tuple(patterns, rest) => match value {
                Value::Tuple(items) if rest.is_none() && items.len() == patterns.len() => {
                    let mut all = yes;
                    for (item, pattern) in items.clone().iter().zip(patterns) {
                        let test = self.matches(state, item, pattern, span);
                        all = self.both(all, test);
                    }
                    all
                }
                _ => self.is_named(value, "tuple"),
            },
            Pattern::Mapping(_) => self.is_named(value, "mapping"),
            Pattern::Or(patterns) => {
                let mut any = Value::Bool(false, Taint::NONE);
                for pattern in patterns {
                    let test = self.matches(state, value, pattern, span);
                    any = self.either(any, test);
                }
                any
            }
            Pattern::Unknown(_) => self.is_named(value, &format!("pattern at {}", span.start)),
        }
    }

    pub(super) fn is_named(&mut self, value: &Value, name: &str) -> Value {
        Value::Sym(self.symbols.intern(Node::Is(value.clone(), name.into()), Taint::NONE))
    }

    /// Whether a value is the variant (or of the class) of this name.
    pub(super) fn is_variant(&mut self, state: &State, value: &Value, name: &str, path: &str) -> Value {
        match value {
            Value::Variant(other, _, _) => Value::Bool(&**other == name, self.symbols.taint(value)),
            Value::None => Value::Bool(name == "None", Taint::NONE),
            Value::Sym(_) => match name {
                "Ok" | "Some" => Value::Sym(self.symbols.intern(Node::IsSuccess(value.clone()), Taint::NONE)),
                "Err" | "None" => {
                    let success = self.symbols.intern(Node::IsSuccess(value.clone()), Taint::NONE);
                    arith::not(&mut self.symbols, &Value::Sym(success))
                }
                _ => match self.made_as(value) {
                    Some(made) => Value::Bool(made == name, Taint::NONE),
                    None => self.is_named(value, path),
                },
            },
            Value::Exc(exc) => {
                if matches!(name, "Ok" | "Some" | "Err" | "None") {
                    return Value::Bool(name == "Some" || name == "Ok", Taint::FAILURE);
                }
                let file = state.top().map_or(self.file, |frame| frame.func.file);
                let answers: Vec<Option<bool>> =
                    exc.classes.iter().map(|class| self.project.is_subclass(file, class, path)).collect();
                if answers.iter().all(|answer| *answer == Some(true)) {
                    return Value::Bool(true, Taint::FAILURE);
                }
                if answers.iter().all(|answer| *answer == Some(false)) {
                    return Value::Bool(false, Taint::FAILURE);
                }
                self.is_named(value, path)
            }
            _ if matches!(name, "Ok" | "Some") => Value::Bool(true, Taint::NONE),
            _ if matches!(name, "Err" | "None") => Value::Bool(false, Taint::NONE),
            _ => self.is_named(value, path),
        }
    }

    /// The name of the struct or variant as which a value was written out, with its fields, on this path.
    fn made_as(&self, value: &Value) -> Option<&str> {
        let Value::Sym(id) = value else { return None };
        let info = self.symbols.info(*id).filter(|info| matches!(info.node, Node::New(_)))?;
        match info.ty.as_ref()? {
            Type::Own(class) => self.project.class(*class).map(|class| class.name.as_str()),
            Type::Other(path) if path.contains("::") => Some(last_part(path)),
            _ => None,
        }
    }

    /// One part of a variant's payload.
    pub(super) fn part(&mut self, state: &State, value: &Value, name: &str, at: usize) -> Value {
        let _ = state;
        match value {
            Value::Variant(_, _, args) => args.get(at).cloned().unwrap_or(Value::None),
            Value::Sym(_) if at == 0 && matches!(name, "Ok" | "Some") => self.payload(value, true),
            Value::Sym(_) if at == 0 && name == "Err" => self.payload(value, false),
            Value::Exc(exc) => match (at, exc.resp.or(exc.lost)) {
                (0, Some(resp)) => Value::Status(resp, arith::identity_status()),
                (1, Some(_)) if exc.resp.is_some() => exc.resp.map_or(Value::None, Value::Resp),
                _ => {
                    let index = Value::Num(Num::exact(u32::try_from(at).map_or(0.0, f64::from)));
                    Value::Sym(self.symbols.intern(Node::Index(value.clone(), index), Taint::FAILURE))
                }
            },
            _ if at == 0 && matches!(name, "Ok" | "Some") => value.clone(),
            _ => {
                let index = Value::Num(Num::exact(u32::try_from(at).map_or(0.0, f64::from)));
                Value::Sym(self.symbols.intern(Node::Index(value.clone(), index), Taint::NONE))
            }
        }
    }

    pub(super) fn bind(&mut self, state: &mut State, value: &Value, pattern: &Pattern) {
        match pattern {
            Pattern::Bind(slot, inner) => {
                self.write(state, *slot, value.clone());
                if let Some(inner) = inner {
                    self.bind(state, value, inner);
                }
            }
            Pattern::Variant { name, args, .. } => {
                for (at, arg) in args.iter().enumerate() {
                    let part = self.part(state, value, name, at);
                    self.bind(state, &part, arg);
                }
            }
            Pattern::Struct { fields, .. } => {
                for (field, pattern) in fields {
                    let part = self.attribute_value(state, value, field, Span::default());
                    self.bind(state, &part, pattern);
                }
            }
            Pattern::Tuple(patterns, rest) => {
                let items = match value {
                    Value::Tuple(items) => Some(items.clone()),
                    Value::Object(id) => match state.objects.get(id) {
                        Some(Object::List(items, true)) => Some(items.clone().into()),
                        _ => None,
                    },
                    _ => None,
                };
                let fits = items.as_ref().is_some_and(|items| rest.is_none() && items.len() == patterns.len());
                for (at, pattern) in patterns.iter().enumerate() {
                    let part = match &items {
                        Some(items) if fits => items.get(at).cloned().unwrap_or(Value::None),
                        _ => match value {
                            Value::Resp(_) | Value::Body(_) => value.clone(),
                            _ => {
                                let index = Value::Num(Num::exact(u32::try_from(at).map_or(0.0, f64::from)));
                                Value::Sym(self.symbols.intern(Node::Index(value.clone(), index), Taint::NONE))
                            }
                        },
                    };
                    self.bind(state, &part, pattern);
                }
            }
            Pattern::Mapping(pairs) => {
                for (key, pattern) in pairs {
                    let part = Node::Index(value.clone(), constant_value(key));
                    let part = Value::Sym(self.symbols.intern(part, Taint::NONE));
                    self.bind(state, &part, pattern);
                }
            }
            Pattern::Or(patterns) => {
                // All alternatives bind the same names.
                let fitting = patterns.iter().find(|pattern| {
                    !matches!(self.matches(state, value, pattern, Span::default()), Value::Bool(false, _))
                });
                if let Some(pattern) = fitting.or(patterns.first()) {
                    self.bind(state, value, pattern);
                }
            }
            Pattern::Attr(object, name) => {
                let object = self.read(state, *object);
                self.set_attribute(state, &object, name, value.clone());
            }
            Pattern::Unknown(slots) => {
                for slot in slots {
                    let unknown = self.unknown(state, Taint::CALL);
                    self.write(state, *slot, unknown);
                }
            }
            Pattern::Any | Pattern::Const(_) | Pattern::Range { .. } | Pattern::Path(_) | Pattern::Global(_) => {}
        }
    }
}
