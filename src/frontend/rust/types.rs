//! Declared types, reduced to what can matter: wrappers, references and lifetimes are stripped.

use rustc_hash::FxHashMap;
use syn::{GenericArgument, GenericParam, Generics, PathArguments, ReturnType, Type, TypeParamBound, WherePredicate};

use super::lowerer::{Lowerer, unraw};
use super::names::{Named, last_part};
use crate::ir::TypeRef;

/// Types that stand for what they hold.
const WRAPPERS: [&str; 14] = [
    "Box", "Arc", "Rc", "Mutex", "RwLock", "Cow", "Pin", "RefCell", "Cell", "LazyLock", "Lazy", "OnceCell", "OnceLock",
    "Weak",
];
/// Bounds that say nothing of what a value does.
const MARKERS: [&str; 9] = ["Send", "Sync", "Unpin", "Sized", "Clone", "Copy", "Debug", "Default", "UnwindSafe"];

fn plain(path: &str, args: Vec<TypeRef>) -> TypeRef {
    TypeRef { path: path.to_owned(), class: None, args }
}

impl Lowerer {
    /// A type as a path with arguments.
    pub fn type_ref(&mut self, ty: &Type) -> Option<TypeRef> {
        self.descend()?;
        let found = self.type_inner(ty);
        self.ascend();
        found
    }

    fn type_inner(&mut self, ty: &Type) -> Option<TypeRef> {
        match ty {
            Type::Reference(t) => self.type_ref(&t.elem),
            Type::Ptr(t) => self.type_ref(&t.elem),
            Type::Group(t) => self.type_ref(&t.elem),
            Type::Paren(t) => self.type_ref(&t.elem),
            Type::Slice(t) => Some(plain("Vec", self.type_ref(&t.elem).into_iter().collect())),
            Type::Array(t) => Some(plain("Vec", self.type_ref(&t.elem).into_iter().collect())),
            Type::FnPtr(_) => Some(plain("fn", Vec::new())),
            Type::Never(_) => Some(plain("!", Vec::new())),
            Type::Tuple(t) if t.elems.is_empty() => Some(plain("()", Vec::new())),
            Type::Tuple(t) => {
                let unknown = || plain("_", Vec::new());
                let parts = t.elems.iter().map(|part| self.type_ref(part).unwrap_or_else(unknown)).collect();
                Some(plain("tuple", parts))
            }
            Type::ImplTrait(t) => self.bounds(t.bounds.iter()),
            Type::TraitObject(t) => self.bounds(t.bounds.iter()),
            Type::Path(t) => self.type_path(t.qself.is_some(), &t.path),
            _ => None,
        }
    }

    fn type_path(&mut self, qualified: bool, path: &syn::Path) -> Option<TypeRef> {
        if qualified {
            return None;
        }
        let last = path.segments.last()?;
        let name = unraw(&last.ident);
        if path.segments.len() == 1 {
            if let Some(bound) = self.context.generics.get(&name) {
                return Some(bound.clone());
            }
            if name == "Self" {
                return self.self_type();
            }
        }
        let args = self.type_args(&last.arguments);
        if WRAPPERS.contains(&name.as_str()) && !args.is_empty() {
            return args.into_iter().next();
        }
        if matches!(name.as_str(), "Fn" | "FnMut" | "FnOnce" | "AsyncFn" | "AsyncFnMut" | "AsyncFnOnce") {
            return Some(plain("fn", Vec::new()));
        }
        if matches!(name.as_str(), "Result" | "Option") {
            return Some(plain(&name, args));
        }
        if matches!(name.as_str(), "BoxFuture" | "LocalBoxFuture") {
            return Some(plain("std::future::Future", args));
        }
        let absolute = self.absolute(path);
        match self.own_item(&absolute) {
            Some(Named::Class(id)) => {
                let name = last_part(&absolute).to_owned();
                Some(TypeRef { path: name, class: Some(id), args })
            }
            _ => match last_part(&absolute) {
                short @ ("Result" | "Option") => Some(plain(short, args)),
                _ => Some(TypeRef { path: absolute, class: None, args }),
            },
        }
    }

    fn type_args(&mut self, arguments: &PathArguments) -> Vec<TypeRef> {
        let PathArguments::AngleBracketed(list) = arguments else { return Vec::new() };
        list.args
            .iter()
            .filter_map(|arg| match arg {
                GenericArgument::Type(ty) => Some(self.type_ref(ty).unwrap_or_else(|| plain("_", Vec::new()))),
                GenericArgument::AssocType(assoc) if assoc.ident == "Output" => self.type_ref(&assoc.ty),
                _ => None,
            })
            .collect()
    }

    /// The first bound that says what a value does.
    fn bounds<'a>(&mut self, bounds: impl Iterator<Item = &'a TypeParamBound>) -> Option<TypeRef> {
        for bound in bounds {
            let TypeParamBound::Trait(bound) = bound else { continue };
            let Some(last) = bound.path.segments.last() else { continue };
            if MARKERS.contains(&last.ident.to_string().as_str()) {
                continue;
            }
            if last.ident == "Future" {
                let args = self.type_args(&last.arguments);
                return Some(plain("std::future::Future", args));
            }
            return self.type_path(false, &bound.path);
        }
        None
    }

    /// The type that `self` has here.
    pub fn self_type(&self) -> Option<TypeRef> {
        let own = self.context.own.as_deref()?;
        match self.context.class {
            Some(id) => Some(TypeRef { path: last_part(own).to_owned(), class: Some(id), args: Vec::new() }),
            None => Some(plain(own, Vec::new())),
        }
    }

    /// What a signature returns.
    pub fn return_type(&mut self, output: &ReturnType) -> Option<TypeRef> {
        match output {
            ReturnType::Default => None,
            ReturnType::Type(_, ty) => self.type_ref(ty),
        }
    }

    /// Adds what the bounds of generic parameters tell; gives what was there before.
    pub fn enter_generics(&mut self, generics: &Generics) -> FxHashMap<String, TypeRef> {
        let before = self.context.generics.clone();
        for param in &generics.params {
            if let GenericParam::Type(param) = param
                && let Some(bound) = self.bounds(param.bounds.iter())
            {
                self.context.generics.insert(unraw(&param.ident), bound);
            }
        }
        for predicate in generics.where_clause.iter().flat_map(|clause| &clause.predicates) {
            if let WherePredicate::Type(predicate) = predicate
                && let Type::Path(bounded) = &predicate.bounded_ty
                && let Some(name) = bounded.path.get_ident()
                && let Some(bound) = self.bounds(predicate.bounds.iter())
            {
                self.context.generics.insert(unraw(name), bound);
            }
        }
        before
    }
}
