//! The state of lowering one file, and what all parts of it need.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use syn::Expr;

use super::draft::{Draft, index};
use super::names::{Named, Names};
use super::spans;
use crate::ir::{
    Arg, Callee, Class, ClassId, Const, FuncId, Function, FunctionKind, Global, GlobalId, Module, Op, Slot, SlotInfo,
    TypeRef, Unparsed,
};
use crate::source::{Language, Span};

/// Expressions nested deeper than this are not lowered.
const TOO_DEEP: usize = 4 * super::parse::TOO_DEEP;

/// What an item stands in.
#[derive(Debug, Clone, Default)]
pub(super) struct Context {
    /// Index into [`Names::rooms`].
    pub room: usize,
    /// In test code.
    pub is_test: bool,
    /// The own class whose `impl` or `trait` it is.
    pub class: Option<ClassId>,
    /// What `Self` stands for, as an absolute path.
    pub own: Option<String>,
    /// Types of generic parameters, as far as their bounds tell (`F: Fn()` is `fn`).
    pub generics: FxHashMap<String, TypeRef>,
    /// Names of the class or functions around it, with a dot after each.
    pub prefix: String,
}

/// Lowers one file.
pub(super) struct Lowerer {
    /// The text, for the odd look at what syntax trees leave out.
    pub text: Arc<str>,
    /// Names.
    pub names: Names,
    /// Finished functions; `None` until their turn comes.
    pub functions: Vec<Option<Function>>,
    /// Own types.
    pub classes: Vec<Class>,
    /// Their absolute paths.
    pub class_paths: Vec<String>,
    /// Own constants and statics.
    pub globals: Vec<Global>,
    /// Constants that are plain literals.
    pub literals: FxHashMap<GlobalId, Const>,
    /// Parts that were left out.
    pub unparsed: Vec<Unparsed>,
    /// What own functions are declared to return.
    pub returns: FxHashMap<FuncId, TypeRef>,
    /// Where we are.
    pub context: Context,
    /// The function being built.
    pub draft: Draft,
    /// The functions around it, outermost first.
    pub outer: Vec<Draft>,
    depth: usize,
}

impl Lowerer {
    /// Ready to begin.
    pub fn new(text: Arc<str>) -> Self {
        let idle = Draft::new(FuncId(u32::MAX), FunctionKind::ModuleBody, "<module>", Span::default());
        Lowerer {
            text,
            names: Names::default(),
            functions: Vec::new(),
            classes: Vec::new(),
            class_paths: Vec::new(),
            globals: Vec::new(),
            literals: FxHashMap::default(),
            unparsed: Vec::new(),
            returns: FxHashMap::default(),
            context: Context::default(),
            draft: idle,
            outer: Vec::new(),
            depth: 0,
        }
    }

    /// The module.
    pub fn finish(self) -> Module {
        let functions = self.functions.into_iter().enumerate().map(|(at, function)| {
            function.unwrap_or_else(|| {
                Draft::new(FuncId(index(at)), FunctionKind::Initialiser, "<init>", Span::default()).finish()
            })
        });
        Module {
            language: Language::Rust,
            functions: functions.collect(),
            classes: self.classes,
            globals: self.globals,
            exports: self.names.exports(),
            imports: self.names.imports,
            unparsed: self.unparsed,
        }
    }

    /// The index of a function that is to come.
    pub fn reserve(&mut self) -> FuncId {
        let id = FuncId(index(self.functions.len()));
        self.functions.push(None);
        id
    }

    /// Starts a function inside the current one.
    pub fn begin(&mut self, id: FuncId, kind: FunctionKind, name: &str, span: Span) {
        let draft = Draft::new(id, kind, name, span);
        let outer = std::mem::replace(&mut self.draft, draft);
        self.draft.head.is_test = self.context.is_test;
        if outer.id.0 != u32::MAX {
            self.draft.head.parent = Some(outer.id);
            self.draft.head.is_test |= outer.head.is_test;
            let within = if kind == FunctionKind::Named { self.context.prefix.as_str() } else { "" };
            self.draft.head.qualified_name = format!("{}.{within}{name}", outer.head.qualified_name);
        } else {
            self.draft.head.qualified_name = format!("{}{name}", self.context.prefix);
        }
        self.outer.push(outer);
    }

    /// Ends the current function and goes back to the one around it.
    pub fn end_function(&mut self) -> FuncId {
        let Some(outer) = self.outer.pop() else { return self.draft.id };
        let done = std::mem::replace(&mut self.draft, outer);
        let id = done.id;
        if let Some(place) = self.functions.get_mut(id.0 as usize) {
            *place = Some(done.finish());
        }
        id
    }

    /// The variable of this name here; one of an enclosing function is captured by every closure in between.
    pub fn variable(&mut self, name: &str) -> Option<Slot> {
        if let Some(slot) = self.draft.lookup(name) {
            return Some(slot);
        }
        if self.draft.closed {
            return None;
        }
        let mut found = None;
        for (at, draft) in self.outer.iter().enumerate().rev() {
            if let Some(slot) = draft.lookup(name) {
                found = Some((at, slot));
                break;
            }
            if draft.closed {
                return None;
            }
        }
        let (at, mut slot) = found?;
        let ty = self.outer.get(at).and_then(|draft| draft.head.slots.get(slot.0 as usize)).and_then(|s| s.ty.clone());
        let carrier = self.outer.get(at).and_then(|draft| draft.carriers.get(&slot)).copied();
        let inner = self.outer.iter_mut().skip(at + 1).chain(std::iter::once(&mut self.draft));
        for draft in inner {
            slot = draft.slot(SlotInfo { name: Some(name.to_owned()), captured: Some(slot), ty: ty.clone() });
            draft.declare_outermost(name, slot);
            if let Some(carrier) = carrier {
                draft.carriers.insert(slot, carrier);
            }
        }
        Some(slot)
    }

    /// A path made absolute.
    pub fn resolve(&self, parts: &[String]) -> String {
        self.names.resolve(parts, self.context.room, self.context.own.as_deref())
    }

    /// The segments of a path, without their generic arguments.
    pub fn parts(path: &syn::Path) -> Vec<String> {
        path.segments.iter().map(|segment| unraw(&segment.ident)).collect()
    }

    /// A path of the source made absolute; one that begins with `::` is so already.
    pub fn absolute(&mut self, path: &syn::Path) -> String {
        let parts = Self::parts(path);
        let resolved = if path.leading_colon.is_some() { parts.join("::") } else { self.resolve(&parts) };
        if parts.len() > 1 && resolved == parts.join("::") && parts.first().is_some_and(|p| is_crate_like(p)) {
            self.names.import(&resolved);
        }
        resolved
    }

    /// An own item by the path of the source.
    pub fn own_item(&self, path: &str) -> Option<Named> {
        self.names.item(path).cloned()
    }

    /// A value of which nothing is known.
    pub fn unknown(&mut self, what: &str, span: Span) -> Slot {
        self.draft.emit(Op::Unknown(what.to_owned()), span)
    }

    /// Emits a call.
    pub fn call(&mut self, callee: Callee, args: Vec<Slot>, span: Span) -> Slot {
        let args = args.into_iter().map(|value| Arg { name: None, value, spread: false }).collect();
        self.draft.emit(Op::Call { callee, args }, span)
    }

    /// Emits a call of a path outside the file.
    pub fn call_path(&mut self, path: &str, args: Vec<Slot>, span: Span) -> Slot {
        let callee = self.draft.emit(Op::Path(path.to_owned()), span);
        self.call(Callee::Value(callee), args, span)
    }

    /// Builds `Ok`, `Err`, `Some` or `None`.
    pub fn carrier(&mut self, name: &str, payload: Option<Slot>, span: Span) -> Slot {
        let args = payload.into_iter().collect();
        self.draft.emit(Op::Variant { name: name.to_owned(), path: name.to_owned(), args }, span)
    }

    /// Goes one level down; `None` where it is too deep.
    pub fn descend(&mut self) -> Option<()> {
        if self.depth >= TOO_DEEP {
            return None;
        }
        self.depth += 1;
        Some(())
    }

    /// Comes back up.
    pub fn ascend(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// Builds an initialiser: a function with no parameters that returns one value.
    pub fn initialiser(&mut self, span: Span, value: impl FnOnce(&mut Self) -> Slot) -> FuncId {
        let id = self.reserve();
        self.begin(id, FunctionKind::Initialiser, "<init>", span);
        let value = value(self);
        self.draft.end(crate::ir::Term::Return(Some(value)), span);
        self.end_function()
    }

    /// An initialiser that evaluates an expression.
    pub fn initialiser_of(&mut self, expr: &Expr) -> FuncId {
        self.initialiser(spans::expr(expr), |this| this.expr(expr))
    }

    /// The text between two places.
    pub fn text_between(&self, first: Span, last: Span) -> &str {
        self.text.get(first.end as usize..last.start as usize).unwrap_or_default()
    }
}

/// A name without `r#`.
pub(super) fn unraw(name: &syn::Ident) -> String {
    let text = name.to_string();
    text.strip_prefix("r#").map(str::to_owned).unwrap_or(text)
}

/// Whether a path's first part may be a crate: lower case, and none of the primitive types.
fn is_crate_like(name: &str) -> bool {
    const PRIMITIVE: [&str; 21] = [
        "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize", "f32", "f64", "bool",
        "char", "str", "self", "super", "crate", "std",
    ];
    name.chars().next().is_some_and(|c| c.is_lowercase() || c == '_') && !PRIMITIVE.contains(&name)
}
