//! Expressions that are values; those that are control flow are in `flow`.

use syn::{BinOp as Operator, Expr, ExprBinary, RangeLimits, UnOp as Prefix};

use super::draft::{Carrier, Referent, carrier_of_type};
use super::lowerer::{Lowerer, unraw};
use super::names::Named;
use super::patterns::member;
use super::{literals, spans};
use crate::ir::{BinOp, CollectionKind, Const, Op, Slot, TypeRef, UnOp};
use crate::source::Span;

/// Name given to a macro's expression parameter: an operation of which nothing is known.
pub(super) const METAVARIABLE: &str = "__metavariable_";

impl Lowerer {
    /// Lowers an expression to the slot that holds its value.
    pub fn expr(&mut self, expr: &Expr) -> Slot {
        if self.descend().is_none() {
            return self.unknown("nested too deep", Span::default());
        }
        let slot = self.expr_inner(expr);
        self.ascend();
        slot
    }

    fn expr_inner(&mut self, expr: &Expr) -> Slot {
        match expr {
            Expr::Paren(e) => return self.expr(&e.expr),
            Expr::Group(e) => return self.expr(&e.expr),
            Expr::Path(e) => return self.path_value(e),
            _ => {}
        }
        let span = spans::expr(expr);
        match expr {
            Expr::Lit(e) => match literals::literal(&e.lit) {
                Some(value) => {
                    let slot = self.draft.constant(value, span);
                    self.typed(slot, literals::suffix(&e.lit));
                    slot
                }
                None => self.unknown("literal", span),
            },
            Expr::Unary(e) => self.unary(e, span),
            Expr::Binary(e) => self.binary(e, span),
            Expr::Assign(e) => {
                let value = self.expr(&e.right);
                self.assign(&e.left, value, span);
                self.draft.unit(span)
            }
            Expr::Reference(e) => {
                let value = self.expr(&e.expr);
                if e.mutability.is_none() {
                    return value;
                }
                let referent = self.referent(&e.expr);
                let slot = self.draft.emit(Op::Unary(UnOp::Same, value), span);
                if let Some(referent) = referent {
                    self.draft.referents.insert(slot, referent);
                }
                self.carry(value, slot);
                slot
            }
            Expr::RawAddr(e) => self.expr(&e.expr),
            Expr::Cast(e) => {
                let value = self.expr(&e.expr);
                let slot = self.draft.emit(Op::Unary(UnOp::Plus, value), span);
                let ty = self.type_ref(&e.ty);
                self.typed(slot, ty);
                slot
            }
            Expr::Field(e) => {
                let base = self.expr(&e.base);
                self.field(base, member(&e.member), span)
            }
            Expr::Index(e) => {
                let base = self.expr(&e.expr);
                let index = self.expr(&e.index);
                self.draft.emit(Op::Index(base, index), span)
            }
            Expr::Tuple(e) if e.elems.is_empty() => self.draft.unit(span),
            Expr::Tuple(e) => self.collection(CollectionKind::Tuple, e.elems.iter(), span),
            Expr::Array(e) => self.collection(CollectionKind::List, e.elems.iter(), span),
            Expr::Repeat(e) => self.repeat(&e.expr, &e.len, span),
            Expr::Range(e) => self.range(e, span),
            Expr::Struct(e) => self.structure(e, span),
            Expr::Call(e) => self.call_expr(e, span),
            Expr::MethodCall(e) => self.method_call(e, span),
            Expr::Await(e) => self.awaited(&e.base, span),
            Expr::Closure(e) => self.closure(e, span),
            Expr::Async(e) => self.async_block(&e.block, span),
            Expr::Macro(e) => self.macro_call(&e.mac),
            Expr::Yield(e) => {
                let value = e.expr.as_ref().map(|value| self.expr(value));
                self.draft.head.is_generator = true;
                self.draft.emit(Op::Yield(value), span)
            }
            Expr::Infer(_) => self.unknown("_", span),
            Expr::Verbatim(_) => self.unknown("syntax", span),
            other => {
                let slot = self.draft.temp();
                if !self.control(other, Some(slot)) {
                    let op = Op::Unknown("expression".to_owned());
                    self.draft.write(Some(slot), op, span);
                }
                slot
            }
        }
    }

    /// Notes what type a value was said to be of.
    fn typed(&mut self, slot: Slot, ty: Option<TypeRef>) {
        if let Some(info) = self.draft.head.slots.get_mut(slot.0 as usize) {
            info.ty = ty;
        }
    }

    /// Notes that two slots carry failure in the same way.
    pub fn carry(&mut self, from: Slot, to: Slot) {
        if let Some(carrier) = self.draft.carriers.get(&from).copied() {
            self.draft.carriers.insert(to, carrier);
        }
    }

    fn collection<'a>(&mut self, kind: CollectionKind, elems: impl Iterator<Item = &'a Expr>, span: Span) -> Slot {
        let slots = elems.map(|elem| self.expr(elem)).collect();
        self.draft.emit(Op::Collection(kind, slots), span)
    }

    /// `[value; length]`
    pub fn repeat(&mut self, value: &Expr, length: &Expr, span: Span) -> Slot {
        let slot = self.expr(value);
        if let Some(Const::Int(n)) = literals::constant(length)
            && (0..=16).contains(&n)
        {
            let count = usize::try_from(n).unwrap_or(0);
            return self.draft.emit(Op::Collection(CollectionKind::List, vec![slot; count]), span);
        }
        let length = self.expr(length);
        self.call_path("std::vec::from_elem", vec![slot, length], span)
    }

    fn range(&mut self, e: &syn::ExprRange, span: Span) -> Slot {
        let inclusive = matches!(e.limits, RangeLimits::Closed(_));
        let path = match (e.start.is_some(), e.end.is_some(), inclusive) {
            (true, true, false) => "std::ops::Range::new",
            (true, true, true) => "std::ops::RangeInclusive::new",
            (true, false, _) => "std::ops::RangeFrom::new",
            (false, true, false) => "std::ops::RangeTo::new",
            (false, true, true) => "std::ops::RangeToInclusive::new",
            (false, false, _) => "std::ops::RangeFull::new",
        };
        let args = [&e.start, &e.end].into_iter().flatten().map(|end| self.expr(end)).collect();
        self.call_path(path, args, span)
    }

    fn structure(&mut self, e: &syn::ExprStruct, span: Span) -> Slot {
        let path = self.absolute(&e.path);
        let fields = e.fields.iter().map(|field| (member(&field.member), self.expr(&field.expr))).collect();
        let base = e.rest.as_ref().map(|rest| match default_of(&e.path, rest) {
            Some(default) => self.call_of_path(&default, Vec::new(), span),
            None => self.expr(rest),
        });
        let class = match self.own_item(&path) {
            Some(Named::Class(id)) => Some(id),
            _ => None,
        };
        self.draft.emit(Op::Struct { class, path, fields, base }, span)
    }

    fn field(&mut self, base: Slot, name: String, span: Span) -> Slot {
        let class =
            self.draft.head.slots.get(base.0 as usize).and_then(|slot| slot.ty.as_ref()).and_then(|ty| ty.class);
        let fields = class.and_then(|id| self.classes.get(id.0 as usize)).map(|class| &class.fields);
        let ty = fields.and_then(|fields| fields.iter().find(|field| field.name == name)).and_then(|f| f.ty.clone());
        let slot = self.draft.emit(Op::Attr(base, name), span);
        if let Some(carrier) = ty.as_ref().and_then(carrier_of_type) {
            self.draft.carriers.insert(slot, carrier);
        }
        self.typed(slot, ty);
        slot
    }

    fn unary(&mut self, e: &syn::ExprUnary, span: Span) -> Slot {
        if matches!(e.op, Prefix::Neg(_))
            && let Some(value) = literals::negated(&e.expr)
        {
            return self.draft.constant(value, span);
        }
        let value = self.expr(&e.expr);
        match e.op {
            Prefix::Deref(_) => value,
            Prefix::Not(_) => self.draft.emit(Op::Unary(UnOp::Not, value), span),
            Prefix::Neg(_) => self.draft.emit(Op::Unary(UnOp::Neg, value), span),
            _ => self.unknown("operator", span),
        }
    }

    fn binary(&mut self, e: &ExprBinary, span: Span) -> Slot {
        if let Operator::And(_) | Operator::Or(_) = e.op {
            return self.short_circuit(e, span);
        }
        let (op, assigns) = operator(&e.op);
        if assigns {
            let right = self.expr(&e.right);
            let left = self.expr(&e.left);
            let value = self.draft.emit(Op::Binary(op, left, right), span);
            self.assign(&e.left, value, span);
            return self.draft.unit(span);
        }
        let left = self.expr(&e.left);
        let right = self.expr(&e.right);
        self.draft.emit(Op::Binary(op, left, right), span)
    }

    /// `a && b`, `a || b` as a value.
    fn short_circuit(&mut self, e: &ExprBinary, span: Span) -> Slot {
        let result = self.draft.temp();
        let (more, done) = (self.draft.block(), self.draft.block());
        let left = self.expr(&e.left);
        self.draft.write(Some(result), Op::Copy(left), span);
        if matches!(e.op, Operator::And(_)) {
            self.draft.branch(left, more, done, span);
        } else {
            self.draft.branch(left, done, more, span);
        }
        self.draft.resume(more);
        let right = self.expr(&e.right);
        self.draft.write(Some(result), Op::Copy(right), span);
        self.draft.goto(done, span);
        self.draft.resume(done);
        result
    }

    /// What `&mut place` refers to.
    fn referent(&mut self, place: &Expr) -> Option<Referent> {
        match place {
            Expr::Paren(e) => self.referent(&e.expr),
            Expr::Path(e) => {
                let name = unraw(e.path.get_ident()?);
                self.variable(&name).map(Referent::Variable)
            }
            Expr::Field(e) => match &*e.base {
                Expr::Path(base) => {
                    let name = unraw(base.path.get_ident()?);
                    self.variable(&name).map(|slot| Referent::Field(slot, member(&e.member)))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// Writes a value to a place.
    pub fn assign(&mut self, place: &Expr, value: Slot, span: Span) {
        match place {
            Expr::Paren(e) => self.assign(&e.expr, value, span),
            Expr::Group(e) => self.assign(&e.expr, value, span),
            Expr::Path(e) => {
                if let Some(slot) = e.path.get_ident().map(unraw).and_then(|name| self.variable(&name)) {
                    self.carry(value, slot);
                    self.draft.write(Some(slot), Op::Copy(value), span);
                    return;
                }
                let path = self.absolute(&e.path);
                if let Some(Named::Global(id)) = self.own_item(&path) {
                    self.draft.write(None, Op::SetGlobal(id, value), span);
                }
            }
            Expr::Field(e) => {
                let base = self.expr(&e.base);
                self.draft.write(None, Op::SetAttr(base, member(&e.member), value), span);
            }
            Expr::Index(e) => {
                let base = self.expr(&e.expr);
                let index = self.expr(&e.index);
                self.draft.write(None, Op::SetIndex(base, index, value), span);
            }
            Expr::Unary(e) if matches!(e.op, Prefix::Deref(_)) => self.assign_through(&e.expr, value, span),
            Expr::Infer(_) => {}
            Expr::Tuple(_) | Expr::Array(_) | Expr::Call(_) | Expr::Struct(_) => {
                let mut after = Vec::new();
                let pattern = self.assignee(place, &mut after);
                self.bind_pattern(pattern, value, span);
                for (place, value) in after {
                    self.assign(&place, value, span);
                }
            }
            other => {
                self.expr(other);
            }
        }
    }

    /// What a reference refers to takes a value: `&mut place`, or a variable that is one.
    pub fn assign_referent(&mut self, reference: &Expr, value: Slot, span: Span) {
        match reference {
            Expr::Paren(e) => self.assign_referent(&e.expr, value, span),
            Expr::Reference(e) => self.assign(&e.expr, value, span),
            other => self.assign_through(other, value, span),
        }
    }

    /// `*place = value`: a reference variable, or what a guard or pointer was taken from.
    fn assign_through(&mut self, place: &Expr, value: Slot, span: Span) {
        const GUARDS: [&str; 10] =
            ["lock", "write", "borrow_mut", "get_mut", "unwrap", "expect", "as_mut", "deref_mut", "entry", "or_insert"];
        let mut inner = place;
        loop {
            inner = match inner {
                Expr::Paren(e) => &e.expr,
                Expr::Reference(e) => &e.expr,
                Expr::Await(e) => &e.base,
                Expr::Try(e) => &e.expr,
                Expr::Unary(e) if matches!(e.op, Prefix::Deref(_)) => &e.expr,
                Expr::MethodCall(e) if GUARDS.contains(&e.method.to_string().as_str()) && e.args.len() <= 1 => {
                    if matches!(e.method.to_string().as_str(), "entry" | "or_insert" | "get_mut") && !e.args.is_empty()
                    {
                        self.expr(place);
                        return;
                    }
                    &e.receiver
                }
                _ => break,
            };
        }
        if let Expr::Path(e) = inner
            && let Some(slot) = e.path.get_ident().map(unraw).and_then(|name| self.variable(&name))
        {
            match self.draft.referents.get(&slot).cloned() {
                Some(Referent::Variable(target)) => self.draft.write(Some(target), Op::Copy(value), span),
                Some(Referent::Field(base, name)) => self.draft.write(None, Op::SetAttr(base, name, value), span),
                None => {}
            }
        }
        match inner {
            Expr::Path(_) | Expr::Field(_) | Expr::Index(_) => self.assign(inner, value, span),
            _ => {
                self.expr(place);
            }
        }
    }

    /// A path as a value: a variable, an own item, or something from outside.
    pub fn path_value(&mut self, e: &syn::ExprPath) -> Slot {
        let span = spans::expr_path(e);
        if let Some(name) = e.path.get_ident().map(unraw).filter(|_| e.qself.is_none()) {
            if let Some(slot) = self.variable(&name) {
                return slot;
            }
            if let Some(name) = name.strip_prefix(METAVARIABLE) {
                return self.call_path(&format!("${name}"), Vec::new(), span);
            }
        }
        let path = self.absolute_of(e);
        match self.own_item(&path) {
            Some(Named::Func(id)) => self.draft.emit(Op::Func(id), span),
            Some(Named::Class(id)) => self.draft.emit(Op::Class(id), span),
            Some(Named::Global(id)) => {
                let slot = self.draft.emit(Op::Global(id), span);
                let ty = self.globals.get(id.0 as usize).and_then(|global| global.ty.as_ref());
                if let Some(carrier) = ty.and_then(carrier_of_type) {
                    self.draft.carriers.insert(slot, carrier);
                }
                slot
            }
            Some(Named::AssociatedConst(class, name)) => self.associated(class, &name, span),
            Some(Named::Variant { unit: true }) => self.variant(path, Vec::new(), span),
            _ if path == "None" => self.variant(path, Vec::new(), span),
            _ => self.draft.emit(Op::Path(path), span),
        }
    }

    /// The absolute path of a path expression, `<Type as Trait>::name` included.
    pub fn absolute_of(&mut self, e: &syn::ExprPath) -> String {
        let Some(qself) = &e.qself else { return self.absolute(&e.path) };
        let last = e.path.segments.last().map(|segment| unraw(&segment.ident)).unwrap_or_default();
        if let syn::Type::Path(ty) = &*qself.ty
            && ty.qself.is_none()
        {
            let own = self.absolute(&ty.path);
            let path = super::names::join(&own, &last);
            if self.own_item(&path).is_some() || qself.position == 0 {
                return path;
            }
        }
        self.absolute(&e.path)
    }

    /// Builds an enum variant or tuple struct.
    pub fn variant(&mut self, path: String, args: Vec<Slot>, span: Span) -> Slot {
        let carrier = match path.as_str() {
            "Ok" | "Err" => Some(Carrier::Result),
            "Some" | "None" => Some(Carrier::Option),
            _ => None,
        };
        let name = super::names::last_part(&path).to_owned();
        let slot = self.draft.emit(Op::Variant { name, path, args }, span);
        if let Some(carrier) = carrier {
            self.draft.carriers.insert(slot, carrier);
        }
        slot
    }
}

/// The operator, and whether it assigns.
/// The constructor that `..Default::default()` stands for in a literal of a type: that type's own.
fn default_of(ty: &syn::Path, rest: &Expr) -> Option<syn::ExprPath> {
    let Expr::Call(call) = rest else { return None };
    let Expr::Path(function) = &*call.func else { return None };
    let mut names = function.path.segments.iter().rev();
    let (name, of) = (names.next()?, names.next()?);
    if name.ident != "default" || of.ident != "Default" || function.qself.is_some() {
        return None;
    }
    let mut path = ty.clone();
    path.segments.push(name.clone());
    Some(syn::ExprPath { attrs: Vec::new(), qself: None, path })
}

fn operator(op: &Operator) -> (BinOp, bool) {
    match op {
        Operator::Add(_) => (BinOp::Add, false),
        Operator::Sub(_) => (BinOp::Sub, false),
        Operator::Mul(_) => (BinOp::Mul, false),
        Operator::Div(_) => (BinOp::Div, false),
        Operator::Rem(_) => (BinOp::Rem, false),
        Operator::BitXor(_) => (BinOp::BitXor, false),
        Operator::BitAnd(_) => (BinOp::BitAnd, false),
        Operator::BitOr(_) => (BinOp::BitOr, false),
        Operator::Shl(_) => (BinOp::Shl, false),
        Operator::Shr(_) => (BinOp::Shr, false),
        Operator::Eq(_) => (BinOp::Eq, false),
        Operator::Lt(_) => (BinOp::Lt, false),
        Operator::Le(_) => (BinOp::Le, false),
        Operator::Ne(_) => (BinOp::Ne, false),
        Operator::Ge(_) => (BinOp::Ge, false),
        Operator::Gt(_) => (BinOp::Gt, false),
        Operator::AddAssign(_) => (BinOp::Add, true),
        Operator::SubAssign(_) => (BinOp::Sub, true),
        Operator::MulAssign(_) => (BinOp::Mul, true),
        Operator::DivAssign(_) => (BinOp::Div, true),
        Operator::RemAssign(_) => (BinOp::Rem, true),
        Operator::BitXorAssign(_) => (BinOp::BitXor, true),
        Operator::BitAndAssign(_) => (BinOp::BitAnd, true),
        Operator::BitOrAssign(_) => (BinOp::BitOr, true),
        Operator::ShlAssign(_) => (BinOp::Shl, true),
        Operator::ShrAssign(_) => (BinOp::Shr, true),
        _ => (BinOp::Other, false),
    }
}
