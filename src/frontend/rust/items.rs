//! Items: first all names are surveyed, then `use` trees, then types and impls, and at last bodies are lowered, so that
//! every body sees everything that the file declares.

use syn::{Attribute, Block, Expr, Fields, FnArg, ImplItem, Item, Pat, Signature, TraitItem, Type, Visibility};

use super::draft::index;
use super::lowerer::{Context, Lowerer, unraw};
use super::names::{Named, Room, join, last_part};
use super::{attributes, literals, spans};
use crate::ir::{Class, ClassId, Field, FuncId, FunctionKind, Global, GlobalId, Op, Param, Slot, Term};
use crate::source::Span;

/// The items of one module or block, and what they stand in.
pub(super) struct Site<'a> {
    items: &'a [Item],
    context: Context,
    path: String,
    local: bool,
}

/// A body that waits for its turn.
enum Work<'a> {
    Function { id: FuncId, attrs: &'a [Attribute], vis: Option<&'a Visibility>, sig: &'a Signature, block: &'a Block },
    Global { id: GlobalId, expr: &'a Expr },
    Constant { class: ClassId, name: String, expr: &'a Expr },
    Field { class: ClassId, name: String, attrs: &'a [Attribute] },
    MacroRules { name: String, mac: &'a syn::Macro },
}

impl Lowerer {
    /// Lowers the items of a file.
    pub fn file(&mut self, items: &[Item], module: &str, is_test: bool) {
        self.names.rooms.push(Room { path: module.to_owned(), ..Room::default() });
        let context = Context { is_test, ..Context::default() };
        self.items(items, context, module.to_owned(), false);
    }

    /// Lowers the items of a file or of a block.
    pub fn items(&mut self, items: &[Item], context: Context, path: String, local: bool) {
        let mut sites = Vec::new();
        let mut work = Vec::new();
        self.survey(Site { items, context, path, local }, &mut sites, &mut work);
        for site in &sites {
            self.take_uses(site);
        }
        for site in &sites {
            self.take_foreign_impls(site);
        }
        for site in &sites {
            self.take_types(site, &mut work);
        }
        for (work, context) in &work {
            if let Work::Function { id, sig, .. } = work {
                let before = std::mem::replace(&mut self.context, context.clone());
                self.enter_generics(&sig.generics);
                if let Some(ty) = self.return_type(&sig.output) {
                    self.returns.insert(*id, ty);
                }
                self.context = before;
            }
        }
        for (work, context) in work {
            let before = std::mem::replace(&mut self.context, context);
            self.lower_work(work);
            self.context = before;
        }
    }

    fn lower_work(&mut self, work: Work<'_>) {
        match work {
            Work::Function { id, attrs, vis, sig, block } => self.function(id, attrs, vis, sig, block),
            Work::Global { id, expr } => {
                let value = self.initialiser_of(expr);
                if let Some(global) = self.globals.get_mut(id.0 as usize) {
                    global.value = Some(value);
                }
            }
            Work::Constant { class, name, expr } => {
                let value = self.initialiser_of(expr);
                self.give_field(class, &name, value);
            }
            Work::Field { class, name, attrs } => {
                if let Some(value) = self.declared_default(attrs) {
                    self.give_field(class, &name, value);
                }
            }
            Work::MacroRules { name, mac } => self.macro_rules(&name, mac),
        }
    }

    fn give_field(&mut self, class: ClassId, name: &str, value: FuncId) {
        let fields = self.classes.get_mut(class.0 as usize).map(|class| &mut class.fields);
        if let Some(field) = fields.and_then(|fields| fields.iter_mut().rev().find(|field| field.name == name)) {
            field.value = Some(value);
        }
    }

    fn add_name(&mut self, site: &Site<'_>, name: &str, item: Named) {
        let path = join(&site.path, name);
        if site.local
            && let Some(names) = self.names.local.last_mut()
        {
            names.insert(name.to_owned(), path.clone());
        }
        // Of several items of one name, each for its own platform or feature, the first stands for all.
        if self.names.item(&path).is_none() {
            self.names.add(path, item);
        }
    }

    fn add_class(&mut self, site: &Site<'_>, name: &syn::Ident, span: Span, is_test: bool) -> ClassId {
        let name = unraw(name);
        let path = join(&site.path, &name);
        let id = self.push_class(path, span, is_test);
        self.add_name(site, &name, Named::Class(id));
        id
    }

    fn push_class(&mut self, path: String, span: Span, is_test: bool) -> ClassId {
        let id = ClassId(index(self.classes.len()));
        self.classes.push(Class {
            name: last_part(&path).to_owned(),
            span,
            bases: Vec::new(),
            methods: Vec::new(),
            fields: Vec::new(),
            variants: Vec::new(),
            is_test,
        });
        self.class_paths.push(path.clone());
        if self.own_item(&path).is_none() {
            self.names.add(path, Named::Class(id));
        }
        id
    }

    fn add_global(&mut self, site: &Site<'_>, name: &syn::Ident, span: Span, value: Option<&Expr>) -> GlobalId {
        let id = GlobalId(index(self.globals.len()));
        let name = unraw(name);
        self.add_name(site, &name, Named::Global(id));
        self.globals.push(Global { name, value: None, ty: None, span });
        if let Some(value) = value.and_then(literals::constant) {
            self.literals.insert(id, value);
        }
        id
    }

    fn survey<'a>(&mut self, site: Site<'a>, sites: &mut Vec<Site<'a>>, work: &mut Vec<(Work<'a>, Context)>) {
        for item in site.items {
            let attrs = attributes::of_item(item);
            let mut context = site.context.clone();
            context.is_test |= attributes::is_test(attrs);
            match item {
                Item::Fn(item) => {
                    let id = self.reserve();
                    self.add_name(&site, &unraw(&item.sig.ident), Named::Func(id));
                    let (attrs, vis) = (item.attrs.as_slice(), Some(&item.vis));
                    let body = Work::Function { id, attrs, vis, sig: &item.sig, block: &item.block };
                    work.push((body, context));
                }
                Item::Struct(item) => {
                    let class = self.add_class(&site, &item.ident, spans::small(item), context.is_test);
                    for field in item.fields.iter().filter(|field| !field.attrs.is_empty()) {
                        if let Some(name) = field.ident.as_ref().map(unraw) {
                            work.push((Work::Field { class, name, attrs: &field.attrs }, context.clone()));
                        }
                    }
                }
                Item::Union(item) => {
                    self.add_class(&site, &item.ident, spans::small(item), context.is_test);
                }
                Item::Trait(item) => {
                    self.add_class(&site, &item.ident, spans::small(item), context.is_test);
                }
                Item::Enum(item) => {
                    let id = self.add_class(&site, &item.ident, spans::small(item), context.is_test);
                    let path = join(&site.path, &unraw(&item.ident));
                    let mut variants = Vec::new();
                    for variant in &item.variants {
                        let name = unraw(&variant.ident);
                        let unit = matches!(variant.fields, Fields::Unit);
                        self.names.add(join(&path, &name), Named::Variant { unit });
                        variants.push(name);
                    }
                    if let Some(class) = self.classes.get_mut(id.0 as usize) {
                        class.variants = variants;
                    }
                }
                Item::Const(item) if item.ident != "_" => {
                    let span = spans::between(item.const_token.span, item.semi_token.span);
                    let id = self.add_global(&site, &item.ident, span, Some(&item.expr));
                    work.push((Work::Global { id, expr: &item.expr }, context));
                }
                Item::Static(item) => {
                    let span = spans::between(item.static_token.span, item.semi_token.span);
                    let fixed = matches!(item.mutability, syn::StaticMutability::None);
                    let id = self.add_global(&site, &item.ident, span, fixed.then_some(&item.expr));
                    if fixed {
                        work.push((Work::Global { id, expr: &item.expr }, context));
                    }
                }
                Item::Mod(item) => {
                    let name = unraw(&item.ident);
                    self.add_name(&site, &name, Named::Module);
                    if let Some((_, items)) = &item.content {
                        let path = join(&site.path, &name);
                        context.room = self.names.rooms.len();
                        self.names.rooms.push(Room { path: path.clone(), ..Room::default() });
                        self.survey(Site { items, context, path, local: false }, sites, work);
                    }
                }
                Item::Macro(item) if item.mac.path.is_ident("macro_rules") => {
                    let name = item.ident.as_ref().map(unraw).unwrap_or_default();
                    work.push((Work::MacroRules { name, mac: &item.mac }, context));
                }
                _ => {}
            }
        }
        sites.push(site);
    }

    fn take_uses(&mut self, site: &Site<'_>) {
        for item in site.items {
            match item {
                Item::Use(item) => {
                    let absolute = item.leading_colon.is_some();
                    let (names, globs) = self.names.flatten(&item.tree, site.context.room, absolute);
                    for (alias, path) in names {
                        self.names.import(&path);
                        self.take_use(site, alias, path);
                    }
                    for glob in globs {
                        self.names.import(&join(&glob, "*"));
                        if site.local {
                            if let Some(globs) = self.names.local_globs.last_mut() {
                                globs.push(glob);
                            }
                        } else if let Some(room) = self.names.rooms.get_mut(site.context.room) {
                            room.globs.push(glob);
                        }
                    }
                }
                Item::ExternCrate(item) => {
                    let path = unraw(&item.ident);
                    self.names.import(&path);
                    if let Some((_, alias)) = &item.rename {
                        self.take_use(site, unraw(alias), path);
                    }
                }
                _ => {}
            }
        }
    }

    fn take_use(&mut self, site: &Site<'_>, alias: String, path: String) {
        if alias == "_" {
            return;
        }
        let names = if site.local {
            self.names.local.last_mut()
        } else {
            self.names.rooms.get_mut(site.context.room).map(|room| &mut room.uses)
        };
        if let Some(names) = names {
            names.insert(alias, path);
        }
    }

    /// A type that has an `impl` of its own here but is declared in another file of the crate gets a class too, so that
    /// its methods find each other. (Traits can be implemented for anybody's types: those keep their path.)
    fn take_foreign_impls(&mut self, site: &Site<'_>) {
        let before = std::mem::replace(&mut self.context, site.context.clone());
        for item in site.items {
            if let Item::Impl(item) = item
                && item.trait_.is_none()
                && let Type::Path(ty) = &*item.self_ty
                && ty.qself.is_none()
            {
                let path = self.absolute(&ty.path);
                if self.own_item(&path).is_none() {
                    self.push_class(path, spans::small(&*item.self_ty), self.context.is_test);
                }
            }
        }
        self.context = before;
    }

    fn take_types<'a>(&mut self, site: &Site<'a>, work: &mut Vec<(Work<'a>, Context)>) {
        let before = std::mem::replace(&mut self.context, site.context.clone());
        for item in site.items {
            if let Item::Type(item) = item
                && let Type::Path(target) = &*item.ty
                && target.qself.is_none()
            {
                let target = self.absolute(&target.path);
                self.names.add(join(&site.path, &unraw(&item.ident)), Named::Alias(target));
            }
        }
        for item in site.items {
            self.context.clone_from(&site.context);
            self.context.is_test |= attributes::is_test(attributes::of_item(item));
            match item {
                Item::Struct(item) => {
                    self.enter_class(site, &item.ident);
                    self.enter_generics(&item.generics);
                    self.take_fields(&item.fields);
                }
                Item::Enum(item) => self.enter_class(site, &item.ident),
                Item::Const(item) => self.type_global(site, &item.ident, &item.ty),
                Item::Static(item) => self.type_global(site, &item.ident, &item.ty),
                Item::Trait(item) => {
                    self.enter_class(site, &item.ident);
                    self.enter_generics(&item.generics);
                    for bound in &item.supertraits {
                        if let syn::TypeParamBound::Trait(bound) = bound {
                            self.add_base(&bound.path);
                        }
                    }
                    for member in &item.items {
                        match member {
                            TraitItem::Fn(member) => {
                                if let Some(block) = &member.default {
                                    let body = (member.attrs.as_slice(), None, &member.sig, block);
                                    self.add_method(body, work);
                                }
                            }
                            TraitItem::Const(member) => {
                                let value = member.default.as_ref().map(|(_, value)| value);
                                self.add_constant(&member.ident, &member.ty, value, false, work);
                            }
                            _ => {}
                        }
                    }
                }
                Item::Impl(item) => self.take_impl(item, work),
                _ => {}
            }
        }
        self.context = before;
    }

    /// Makes an own type the one that `Self` stands for.
    fn enter_class(&mut self, site: &Site<'_>, name: &syn::Ident) {
        let name = unraw(name);
        let path = join(&site.path, &name);
        if let Some(Named::Class(id)) = self.own_item(&path) {
            self.context.class = Some(id);
        }
        self.context.own = Some(path);
        self.context.prefix = format!("{}{name}.", self.context.prefix);
    }

    fn type_global(&mut self, site: &Site<'_>, name: &syn::Ident, ty: &Type) {
        let ty = self.type_ref(ty);
        if let Some(Named::Global(id)) = self.own_item(&join(&site.path, &unraw(name)))
            && let Some(global) = self.globals.get_mut(id.0 as usize)
        {
            global.ty = ty;
        }
    }

    fn take_fields(&mut self, fields: &Fields) {
        for (at, field) in fields.iter().enumerate() {
            let name = field.ident.as_ref().map_or_else(|| at.to_string(), unraw);
            let ty = self.type_ref(&field.ty);
            let private = matches!(field.vis, Visibility::Inherited);
            self.add_field(Field { name, ty, value: None, private });
        }
    }

    fn add_field(&mut self, field: Field) {
        let class = self.context.class.and_then(|id| self.classes.get_mut(id.0 as usize));
        if let Some(class) = class {
            class.fields.push(field);
        }
    }

    fn add_base(&mut self, path: &syn::Path) {
        let ty = Type::Path(syn::TypePath { attrs: Vec::new(), qself: None, path: path.clone() });
        let Some(base) = self.type_ref(&ty) else { return };
        let class = self.context.class.and_then(|id| self.classes.get_mut(id.0 as usize));
        if let Some(class) = class
            && !class.bases.contains(&base)
        {
            class.bases.push(base);
        }
    }

    fn take_impl<'a>(&mut self, item: &'a syn::ItemImpl, work: &mut Vec<(Work<'a>, Context)>) {
        self.enter_generics(&item.generics);
        let path = match &*item.self_ty {
            Type::Path(ty) => Some(self.absolute(&ty.path)),
            Type::Reference(ty) => match &*ty.elem {
                Type::Path(ty) => Some(self.absolute(&ty.path)),
                _ => None,
            },
            _ => None,
        };
        if let Some(path) = path {
            if let Some(Named::Class(id)) = self.own_item(&path) {
                self.context.class = Some(id);
            }
            self.context.prefix = format!("{}{}.", self.context.prefix, last_part(&path));
            self.context.own = Some(path);
        }
        if let Some((path, _)) = &item.trait_ {
            self.add_base(path);
        }
        for member in &item.items {
            match member {
                ImplItem::Fn(member) => {
                    // What a trait asks for is as visible as the trait.
                    let vis = item.trait_.is_none().then_some(&member.vis);
                    self.add_method((member.attrs.as_slice(), vis, &member.sig, &member.block), work);
                }
                ImplItem::Const(member) => {
                    let private = matches!(member.vis, Visibility::Inherited);
                    self.add_constant(&member.ident, &member.ty, Some(&member.expr), private, work);
                }
                _ => {}
            }
        }
    }

    fn add_method<'a>(
        &mut self,
        (attrs, vis, sig, block): (&'a [Attribute], Option<&'a Visibility>, &'a Signature, &'a Block),
        work: &mut Vec<(Work<'a>, Context)>,
    ) {
        let id = self.reserve();
        if let Some(class) = self.context.class.and_then(|id| self.classes.get_mut(id.0 as usize)) {
            class.methods.push(id);
        }
        if let (Some(_), Some(own)) = (self.context.class, &self.context.own) {
            self.names.add(join(own, &unraw(&sig.ident)), Named::Func(id));
        }
        let mut context = self.context.clone();
        context.is_test |= attributes::is_test(attrs);
        work.push((Work::Function { id, attrs, vis, sig, block }, context));
    }

    fn add_constant<'a>(
        &mut self,
        name: &syn::Ident,
        ty: &Type,
        value: Option<&'a Expr>,
        private: bool,
        work: &mut Vec<(Work<'a>, Context)>,
    ) {
        let name = unraw(name);
        let ty = self.type_ref(ty);
        let Some(class) = self.context.class else { return };
        if let Some(own) = &self.context.own {
            self.names.add(join(own, &name), Named::AssociatedConst(class, name.clone()));
        }
        self.add_field(Field { name: name.clone(), ty, value: None, private });
        if let Some(expr) = value {
            work.push((Work::Constant { class, name, expr }, self.context.clone()));
        }
    }

    fn function(&mut self, id: FuncId, attrs: &[Attribute], vis: Option<&Visibility>, sig: &Signature, block: &Block) {
        let before = self.enter_generics(&sig.generics);
        let header = header(vis, sig);
        let span = header.to(spans::block(block));
        let decorators = self.decorators(attrs);
        self.begin(id, FunctionKind::Named, &unraw(&sig.ident), span);
        self.draft.head.header = header;
        self.draft.head.is_async = sig.asyncness.is_some();
        self.draft.head.private = matches!(vis, Some(Visibility::Inherited));
        self.draft.head.class = self.context.class;
        self.draft.head.decorators = decorators;
        self.draft.head.returns = self.returns.get(&id).cloned();
        let mut late: Vec<(&Pat, Slot)> = Vec::new();
        for (at, input) in sig.inputs.iter().enumerate() {
            match input {
                FnArg::Receiver(_) => {
                    let ty = self.self_type();
                    let slot = self.draft.variable("self", ty);
                    self.draft.declare("self", slot);
                    self.add_param(slot, "self".to_owned(), true);
                }
                FnArg::Typed(param) => {
                    let ty = self.type_ref(&param.ty);
                    self.parameter(&param.pat, ty, at, &mut late);
                }
            }
        }
        for (pat, slot) in late {
            self.bind(pat, slot, super::patterns::place(pat));
        }
        match future_body(block).filter(|_| sig.asyncness.is_none()) {
            Some(inner) => {
                self.draft.head.is_async = true;
                self.body(&inner);
            }
            None => self.body(block),
        }
        self.end_function();
        self.context.generics = before;
    }

    fn add_param(&mut self, slot: Slot, name: String, is_self: bool) {
        self.draft.head.params.push(Param { slot, name, default: None, is_self, is_rest: false, is_named_rest: false });
    }

    /// Adds a parameter; a pattern is bound once all parameters have their slots.
    pub fn parameter<'a>(
        &mut self,
        pat: &'a Pat,
        ty: Option<crate::ir::TypeRef>,
        at: usize,
        late: &mut Vec<(&'a Pat, Slot)>,
    ) {
        let mut inner = pat;
        while let Pat::Reference(syn::PatReference { pat, .. }) | Pat::Paren(syn::PatParen { pat, .. }) = inner {
            inner = pat;
        }
        match inner {
            Pat::Ident(name) if name.subpat.is_none() => {
                let name = unraw(&name.ident);
                let slot = self.draft.variable(&name, ty);
                self.draft.declare(&name, slot);
                self.add_param(slot, name, false);
            }
            other => {
                let slot = self.draft.slot(crate::ir::SlotInfo { ty, ..Default::default() });
                self.add_param(slot, format!("_{at}"), false);
                late.push((other, slot));
            }
        }
    }

    /// A function's body: its last expression is what it returns.
    fn body(&mut self, block: &Block) {
        let has_value = matches!(block.stmts.last(), Some(syn::Stmt::Expr(_, None) | syn::Stmt::Macro(_)));
        let value = self.block_value(block);
        let end = spans::token(block.brace_token.span.close());
        let span = block.stmts.last().filter(|_| has_value).map_or(end, spans::stmt);
        self.draft.end(Term::Return(has_value.then_some(value)), span);
    }

    /// The associated constant of an own type.
    pub fn associated(&mut self, class: ClassId, name: &str, span: Span) -> Slot {
        let class = self.draft.emit(Op::Class(class), span);
        self.draft.emit(Op::Attr(class, name.to_owned()), span)
    }
}

/// What runs when the future is awaited that a function makes of its body: `Box::pin(async move { … })`.
fn future_body(block: &Block) -> Option<Block> {
    let (last, before) = block.stmts.split_last()?;
    let syn::Stmt::Expr(last, None) = last else { return None };
    let inner = future_block(last)?;
    before
        .iter()
        .all(|stmt| matches!(stmt, syn::Stmt::Local(_) | syn::Stmt::Item(_)))
        .then(|| Block { brace_token: inner.brace_token, stmts: before.iter().chain(&inner.stmts).cloned().collect() })
}

fn future_block(expr: &Expr) -> Option<&Block> {
    match expr {
        Expr::Async(future) => Some(&future.block),
        Expr::Paren(inner) => future_block(&inner.expr),
        Expr::Call(call) => match &*call.func {
            Expr::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "pin") => {
                future_block(call.args.first()?)
            }
            _ => None,
        },
        Expr::MethodCall(call) if call.args.is_empty() => {
            let boxes = ["boxed", "boxed_local"].iter().any(|name| call.method == name);
            future_block(&call.receiver).filter(|_| boxes)
        }
        _ => None,
    }
}

/// From the visibility or the first keyword to the end of the signature.
fn header(vis: Option<&Visibility>, sig: &Signature) -> Span {
    let start = match vis {
        Some(Visibility::Public(token)) => Some(token.span),
        Some(Visibility::Restricted(vis)) => Some(vis.pub_token.span),
        _ => sig.constness.map(|t| t.span).or_else(|| sig.asyncness.map(|t| t.span)),
    };
    let start = spans::token(start.unwrap_or(sig.fn_token.span));
    let mut end = spans::token(sig.paren_token.span.close());
    if let syn::ReturnType::Type(_, ty) = &sig.output {
        end = end.to(spans::small(ty));
    }
    if let Some(clause) = &sig.generics.where_clause {
        end = end.to(spans::small(clause));
    }
    start.to(end)
}
