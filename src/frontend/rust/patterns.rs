//! Patterns.
//!
//! Names of a pattern become slots first and visible names later ([`Lowerer::declare_all`]), as what stands in between
//! (the `else` of a `let`) does not see them.

use syn::{Expr, Member, Pat, RangeLimits};

use super::lowerer::{Lowerer, unraw};
use super::names::{Named, is_type_like, last_part};
use super::{literals, spans};
use crate::ir::{Const, Op, Pattern, Slot, TypeRef};
use crate::source::Span;

/// Names that a pattern binds.
pub(super) type Bindings = Vec<(String, Slot)>;

impl Lowerer {
    /// Makes the names of a pattern visible.
    pub fn declare_all(&mut self, names: &Bindings) {
        for (name, slot) in names {
            self.draft.declare(name, *slot);
        }
    }

    /// Binds an irrefutable pattern to a value in the current block, names visible at once.
    pub fn bind(&mut self, pat: &Pat, value: Slot, span: Span) {
        let mut names = Bindings::new();
        let pattern = self.pattern(pat, &mut names);
        self.bind_pattern(pattern, value, span);
        self.declare_all(&names);
    }

    /// Emits what binds a pattern that is known to fit.
    pub fn bind_pattern(&mut self, pattern: Pattern, value: Slot, span: Span) {
        match pattern {
            Pattern::Any => {}
            Pattern::Bind(slot, None) => {
                if let Some(carrier) = self.draft.carriers.get(&value).copied() {
                    self.draft.carriers.entry(slot).or_insert(carrier);
                }
                if let Some(referent) = self.draft.referents.get(&value).cloned() {
                    self.draft.referents.insert(slot, referent);
                }
                self.draft.write(Some(slot), Op::Copy(value), span);
            }
            pattern => self.draft.write(None, Op::Bind(value, pattern), span),
        }
    }

    /// Lowers a pattern.
    pub fn pattern(&mut self, pat: &Pat, names: &mut Bindings) -> Pattern {
        if self.descend().is_none() {
            return Pattern::Unknown(Vec::new());
        }
        let pattern = self.pattern_inner(pat, None, names);
        self.ascend();
        pattern
    }

    fn pattern_inner(&mut self, pat: &Pat, ty: Option<TypeRef>, names: &mut Bindings) -> Pattern {
        match pat {
            Pat::Wild(_) | Pat::Rest(_) => Pattern::Any,
            Pat::Ident(p) => {
                let name = unraw(&p.ident);
                let bare = p.by_ref.is_none() && p.mutability.is_none() && p.subpat.is_none();
                if bare && let Some(constant) = self.constant_pattern(&name) {
                    return constant;
                }
                let inner = p.subpat.as_ref().map(|(_, inner)| self.pattern(inner, names));
                let slot = self.name_in_pattern(&name, ty, names);
                let inner = inner.filter(|inner| !matches!(inner, Pattern::Any));
                Pattern::Bind(slot, inner.map(Box::new))
            }
            Pat::Lit(p) => literals::literal(&p.lit).map_or_else(|| Pattern::Unknown(Vec::new()), Pattern::Const),
            Pat::Const(_) | Pat::Macro(_) => Pattern::Unknown(Vec::new()),
            Pat::Or(p) => Pattern::Or(p.cases.iter().map(|case| self.pattern(case, names)).collect()),
            Pat::Paren(p) => self.pattern(&p.pat, names),
            Pat::Reference(p) => self.pattern(&p.pat, names),
            Pat::Type(p) => {
                let ty = self.type_ref(&p.ty);
                self.pattern_inner(&p.pat, ty, names)
            }
            Pat::Path(p) => self.path_pattern(&p.path),
            Pat::Range(p) => self.range_pattern(p),
            Pat::Slice(p) => self.sequence_pattern(p.elems.iter(), names),
            // There is but one `()`.
            Pat::Tuple(p) if p.elems.is_empty() => Pattern::Any,
            Pat::Tuple(p) => self.sequence_pattern(p.elems.iter(), names),
            Pat::TupleStruct(p) => {
                let path = self.absolute(&p.path);
                let mut args = Vec::new();
                let mut after_rest = false;
                for elem in &p.elems {
                    let arg = self.pattern(elem, names);
                    if matches!(elem, Pat::Rest(_)) {
                        after_rest = true;
                    } else if after_rest {
                        args.push(Pattern::Unknown(arg.binds()));
                    } else {
                        args.push(arg);
                    }
                }
                Pattern::Variant { name: last_part(&path).to_owned(), path, args }
            }
            Pat::Struct(p) => {
                let path = self.absolute(&p.path);
                let fields = p.fields.iter().map(|field| (member(&field.member), self.pattern(&field.pat, names)));
                let fields = fields.collect();
                Pattern::Struct { name: last_part(&path).to_owned(), path, fields }
            }
            Pat::Guard(p) => {
                let inner = self.pattern(&p.pat, names);
                Pattern::Unknown(inner.binds())
            }
            _ => Pattern::Unknown(Vec::new()),
        }
    }

    /// The slot of a name; alternatives of an or-pattern share it.
    fn name_in_pattern(&mut self, name: &str, ty: Option<TypeRef>, names: &mut Bindings) -> Slot {
        if let Some((_, slot)) = names.iter().find(|(there, _)| there == name) {
            return *slot;
        }
        let slot = self.draft.variable(name, ty);
        names.push((name.to_owned(), slot));
        slot
    }

    /// A bare name that is a constant or a unit variant rather than a new variable.
    fn constant_pattern(&mut self, name: &str) -> Option<Pattern> {
        if name == "None" {
            return Some(Pattern::Path("None".to_owned()));
        }
        let path = self.resolve(&[name.to_owned()]);
        match self.own_item(&path) {
            Some(Named::Global(id)) => Some(Pattern::Global(id)),
            Some(Named::Variant { .. } | Named::Class(_)) => Some(Pattern::Path(path)),
            _ => is_type_like(name).then_some(Pattern::Path(path)),
        }
    }

    fn path_pattern(&mut self, path: &syn::Path) -> Pattern {
        let path = self.absolute(path);
        match self.own_item(&path) {
            Some(Named::Global(id)) => Pattern::Global(id),
            _ => Pattern::Path(path),
        }
    }

    fn range_pattern(&mut self, range: &syn::ExprRange) -> Pattern {
        let mut end = |end: &Option<Box<Expr>>| match end {
            None => Some(None),
            Some(expr) => self.constant_value(expr).map(Some),
        };
        let (Some(low), Some(high)) = (end(&range.start), end(&range.end)) else {
            return Pattern::Unknown(Vec::new());
        };
        Pattern::Range { low, high, inclusive: matches!(range.limits, RangeLimits::Closed(_)) }
    }

    /// A literal, or a constant of the file that is one.
    fn constant_value(&mut self, expr: &Expr) -> Option<Const> {
        if let Some(value) = literals::constant(expr) {
            return Some(value);
        }
        let Expr::Path(path) = expr else { return None };
        let path = self.absolute(&path.path);
        match self.own_item(&path) {
            Some(Named::Global(id)) => self.literals.get(&id).cloned(),
            _ => None,
        }
    }

    fn sequence_pattern<'a>(&mut self, elems: impl Iterator<Item = &'a Pat>, names: &mut Bindings) -> Pattern {
        let mut rest = None;
        let mut parts = Vec::new();
        for (at, elem) in elems.enumerate() {
            let is_rest = match elem {
                Pat::Rest(_) => true,
                Pat::Ident(p) => p.subpat.as_ref().is_some_and(|(_, inner)| matches!(**inner, Pat::Rest(_))),
                _ => false,
            };
            if is_rest {
                rest = Some(at);
            }
            parts.push(self.pattern(elem, names));
        }
        Pattern::Tuple(parts, rest)
    }

    /// The left side of a destructuring assignment.
    pub fn assignee(&mut self, expr: &Expr, after: &mut Vec<(Expr, Slot)>) -> Pattern {
        match expr {
            Expr::Infer(_) => Pattern::Any,
            Expr::Range(_) => Pattern::Any,
            Expr::Paren(e) => self.assignee(&e.expr, after),
            Expr::Tuple(e) => self.assignees(e.elems.iter(), after),
            Expr::Array(e) => self.assignees(e.elems.iter(), after),
            Expr::Call(e) => {
                let Expr::Path(path) = &*e.func else { return Pattern::Any };
                let path = self.absolute(&path.path);
                let args = e.args.iter().map(|arg| self.assignee(arg, after)).collect();
                Pattern::Variant { name: last_part(&path).to_owned(), path, args }
            }
            Expr::Struct(e) => {
                let path = self.absolute(&e.path);
                let fields = e.fields.iter().map(|f| (member(&f.member), self.assignee(&f.expr, after))).collect();
                Pattern::Struct { name: last_part(&path).to_owned(), path, fields }
            }
            Expr::Field(e) => {
                let base = self.expr(&e.base);
                Pattern::Attr(base, member(&e.member))
            }
            Expr::Path(path) => {
                let found = path.path.get_ident().map(unraw).and_then(|name| self.variable(&name));
                found.map_or(Pattern::Any, |slot| Pattern::Bind(slot, None))
            }
            other => {
                let slot = self.draft.temp();
                after.push((other.clone(), slot));
                Pattern::Bind(slot, None)
            }
        }
    }

    fn assignees<'a>(&mut self, all: impl Iterator<Item = &'a Expr>, after: &mut Vec<(Expr, Slot)>) -> Pattern {
        let mut rest = None;
        let mut parts = Vec::new();
        for (at, part) in all.enumerate() {
            if matches!(part, Expr::Range(_)) {
                rest = Some(at);
            }
            parts.push(self.assignee(part, after));
        }
        Pattern::Tuple(parts, rest)
    }
}

/// A field's name: `retries`, `0`.
pub(super) fn member(member: &Member) -> String {
    match member {
        Member::Named(name) => unraw(name),
        Member::Unnamed(index) => index.index.to_string(),
    }
}

/// Whether a lowered pattern fits every value.
pub(super) fn always_fits(pattern: &Pattern) -> bool {
    match pattern {
        Pattern::Any => true,
        Pattern::Bind(_, inner) => inner.as_ref().is_none_or(|inner| always_fits(inner)),
        Pattern::Or(parts) => parts.iter().any(always_fits),
        _ => false,
    }
}

/// Where a pattern stands.
pub(super) fn place(pat: &Pat) -> Span {
    spans::small(pat)
}
