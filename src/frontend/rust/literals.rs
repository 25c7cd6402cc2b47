//! Literals.

use syn::{Expr, Lit};

use crate::ir::{Const, TypeRef};

/// The value of a literal.
pub(super) fn literal(lit: &Lit) -> Option<Const> {
    match lit {
        Lit::Str(s) => Some(Const::Str(s.value())),
        Lit::ByteStr(s) => Some(Const::Str(String::from_utf8_lossy(&s.value()).into_owned())),
        Lit::CStr(s) => Some(Const::Str(s.value().to_string_lossy().into_owned())),
        Lit::Byte(b) => Some(Const::Int(i64::from(b.value()))),
        Lit::Char(c) => Some(Const::Str(c.value().to_string())),
        Lit::Bool(b) => Some(Const::Bool(b.value)),
        Lit::Float(f) => f.base10_digits().parse().ok().map(Const::Float),
        Lit::Int(i) if matches!(i.suffix(), "f32" | "f64") => i.base10_digits().parse().ok().map(Const::Float),
        Lit::Int(i) => {
            let digits = i.base10_digits();
            digits.parse().map(Const::Int).or_else(|_| digits.parse().map(Const::Float)).ok()
        }
        _ => None,
    }
}

/// The type that a number's suffix gives it.
pub(super) fn suffix(lit: &Lit) -> Option<TypeRef> {
    let suffix = match lit {
        Lit::Int(number) => number.suffix(),
        Lit::Float(number) => number.suffix(),
        _ => "",
    };
    (!suffix.is_empty()).then(|| TypeRef { path: suffix.to_owned(), class: None, args: Vec::new() })
}

/// The value of an expression that is a literal, maybe with a minus before it.
pub(super) fn constant(expr: &Expr) -> Option<Const> {
    match expr {
        Expr::Lit(e) => literal(&e.lit),
        Expr::Paren(e) => constant(&e.expr),
        Expr::Group(e) => constant(&e.expr),
        Expr::Unary(e) if matches!(e.op, syn::UnOp::Neg(_)) => negated(&e.expr),
        _ => None,
    }
}

/// The value of a literal with a minus before it.
pub(super) fn negated(expr: &Expr) -> Option<Const> {
    let Expr::Lit(e) = expr else { return None };
    match literal(&e.lit)? {
        Const::Int(n) => n.checked_neg().map(Const::Int),
        Const::Float(x) => Some(Const::Float(-x)),
        _ => None,
    }
}
