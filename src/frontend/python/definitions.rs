//! Functions, lambdas and classes.

use tree_sitter::Node;

use super::syntax::{children, field, first_child, has_token, header, span};
use super::{Context, Lowering, blank};
use crate::ir::{ClassId, Field, FuncId, Function, FunctionKind, Op, Param, Slot, SlotInfo, Term, TypeRef};

/// A parameter as it is written.
struct Written<'t> {
    /// The name, or a tuple of names (Python 2).
    target: Node<'t>,
    ty: Option<Node<'t>>,
    default: Option<FuncId>,
    is_rest: bool,
    is_named_rest: bool,
}

impl<'t> Lowering<'t> {
    /// `def` as a statement of a function or the module.
    pub(super) fn function_statement(&mut self, node: Node<'t>, decorators: &[Node<'t>]) {
        let Some(id) = self.function(node, decorators, None) else { return };
        if let Some(name) = field(node, "name") {
            let text = self.text_of(name);
            if self.is_stored(text) {
                let value = self.emit(Op::Func(id), name);
                self.write(text, value, name);
            }
        }
    }

    /// Whether a definition's name is a variable here, rather than something that is resolved at once.
    fn is_stored(&mut self, name: &'t str) -> bool {
        matches!(self.resolve(name), super::names::Name::Slot(_) | super::names::Name::Global(_))
    }

    /// Lowers a function once, however often its statement is.
    fn function(&mut self, node: Node<'t>, decorators: &[Node<'t>], class: Option<(ClassId, usize)>) -> Option<FuncId> {
        let id = *self.scopes.functions.get(&node.id())?;
        if self.done.insert(node.id(), id).is_some() {
            return Some(id);
        }
        let name = field(node, "name").map_or("", |name| self.text_of(name));
        let decorators = self.decorators(decorators, class);
        if let Some((class, _)) = class
            && !decorators.is_secondary
            && !field(node, "body").is_some_and(|body| self.is_declaration(body, decorators.is_abstract))
            && let Some(class) = self.class_mut(class)
        {
            class.methods.push(id);
        }
        let written = self.written_parameters(field(node, "parameters"), class);
        let was_test = self.is_test;
        self.is_test |= name.starts_with("test_");
        let scope = self.scopes.by_node.get(&node.id()).copied();
        self.contexts.push(Context::new(id, scope));
        // What belongs to no statement (falling off the end) is shown at the header.
        self.graph().set_statement(header(node));
        self.qualifiers.push(name);
        let has_receiver = class.is_some() && !decorators.is_static;
        let params = self.parameters(written, has_receiver);
        if let (Some((class, _)), Some(receiver)) = (class, params.first().filter(|first| first.is_self)) {
            let receiver = self.known_name(&receiver.name);
            self.context().method = receiver.map(|receiver| (class, receiver));
        }
        if let Some(body) = field(node, "body") {
            self.statements(body);
        }
        let returns = field(node, "return_type").and_then(|ty| self.type_of(ty));
        let is_generator = scope.and_then(|at| self.scope(at)).is_some_and(|scope| scope.is_generator);
        let function = Function {
            name: name.to_owned(),
            qualified_name: self.qualifiers.join("."),
            kind: FunctionKind::Named,
            span: span(node),
            header: header(node),
            params,
            is_async: has_token(node, "async"),
            is_generator,
            is_test: self.is_test,
            private: name.starts_with('_') && !name.ends_with("__"),
            is_property: class.is_some() && decorators.is_property,
            class: class.map(|(class, _)| class),
            decorators: decorators.kept,
            returns,
            ..blank()
        };
        self.qualifiers.pop();
        self.finish_function(function);
        self.is_test = was_test;
        Some(id)
    }

    /// The name of a parameter as a piece of the text.
    fn known_name(&mut self, name: &str) -> Option<&'t str> {
        self.context().names.keys().copied().find(|known| *known == name)
    }

    pub(super) fn lambda(&mut self, node: Node<'t>) -> Slot {
        let Some(id) = self.scopes.functions.get(&node.id()).copied() else {
            return self.unknown("incomplete expression", node);
        };
        if self.done.insert(node.id(), id).is_none() {
            let written = self.written_parameters(field(node, "parameters"), None);
            let scope = self.scopes.by_node.get(&node.id()).copied();
            self.contexts.push(Context::new(id, scope));
            self.qualifiers.push("<lambda>");
            let params = self.parameters(written, false);
            if let Some(body) = field(node, "body") {
                self.graph().set_statement(span(body));
                let value = self.expression(body);
                self.graph().end(Term::Return(Some(value)));
            }
            let function = Function {
                name: "<lambda>".to_owned(),
                qualified_name: self.qualifiers.join("."),
                kind: FunctionKind::Closure,
                span: span(node),
                header: header(node),
                params,
                is_generator: scope.and_then(|at| self.scope(at)).is_some_and(|scope| scope.is_generator),
                is_test: self.is_test,
                ..blank()
            };
            self.qualifiers.pop();
            self.finish_function(function);
        }
        self.emit(Op::Func(id), node)
    }

    /// The parameters with their defaults, which belong to the scope outside.
    fn written_parameters(&mut self, list: Option<Node<'t>>, class: Option<(ClassId, usize)>) -> Vec<Written<'t>> {
        let mut all = Vec::new();
        for node in list.map(children).unwrap_or_default() {
            let mut target = node;
            let mut ty = None;
            let mut default = None;
            match node.kind() {
                "default_parameter" | "typed_default_parameter" => {
                    target = field(node, "name").unwrap_or(node);
                    ty = field(node, "type");
                    default = field(node, "value").map(|value| self.initialiser(value, class, None));
                }
                "typed_parameter" => {
                    target = first_child(node).unwrap_or(node);
                    ty = field(node, "type");
                }
                "keyword_separator" | "positional_separator" | "ERROR" => continue,
                _ => {}
            }
            let is_rest = matches!(target.kind(), "list_splat_pattern" | "dictionary_splat_pattern");
            let is_named_rest = target.kind() == "dictionary_splat_pattern";
            if is_rest {
                target = first_child(target).unwrap_or(target);
            }
            all.push(Written { target, ty, default, is_rest, is_named_rest });
        }
        all
    }

    fn parameters(&mut self, written: Vec<Written<'t>>, has_receiver: bool) -> Vec<Param> {
        let mut params = Vec::new();
        let mut unpacked = Vec::new();
        for (at, parameter) in written.into_iter().enumerate() {
            let is_name = parameter.target.kind() == "identifier";
            let name = self.text_of(parameter.target);
            let ty = parameter.ty.and_then(|ty| self.type_of(ty));
            let slot = self.graph().add_slot(SlotInfo { name: is_name.then(|| name.to_owned()), captured: None, ty });
            if is_name {
                self.context().names.insert(name, slot);
            } else {
                unpacked.push((parameter.target, slot));
            }
            params.push(Param {
                slot,
                name: name.to_owned(),
                default: parameter.default,
                is_self: has_receiver && at == 0 && is_name && !parameter.is_rest,
                is_rest: parameter.is_rest,
                is_named_rest: parameter.is_named_rest,
            });
        }
        for (target, slot) in unpacked {
            self.assign(target, slot);
        }
        params
    }

    /// `class` as a statement of a function or the module.
    pub(super) fn class_statement(&mut self, node: Node<'t>, _decorators: &[Node<'t>]) {
        let Some(id) = self.class(node) else { return };
        if let Some(name) = field(node, "name") {
            let text = self.text_of(name);
            if self.is_stored(text) {
                let value = self.emit(Op::Class(id), name);
                self.write(text, value, name);
            }
        }
    }

    fn class(&mut self, node: Node<'t>) -> Option<ClassId> {
        let id = *self.scopes.classes.get(&node.id())?;
        let scope = *self.scopes.by_node.get(&node.id())?;
        if !self.done_classes.insert(id) {
            return Some(id);
        }
        let name = field(node, "name").map_or("", |name| self.text_of(name));
        let bases: Vec<Node<'t>> = field(node, "superclasses")
            .map(children)
            .unwrap_or_default()
            .into_iter()
            .filter(|base| !matches!(base.kind(), "keyword_argument" | "list_splat" | "dictionary_splat"))
            .collect();
        let types: Vec<TypeRef> = bases.iter().filter_map(|base| self.type_of(*base)).collect();
        self.base_names.insert(id, bases.iter().map(|base| self.text_of(*base)).collect());
        let is_enum = types.iter().any(|base| base.path.starts_with("enum."));
        let was_test = self.is_test;
        self.is_test |= name.starts_with("Test") || types.iter().any(|base| base.path.ends_with("TestCase"));
        let is_test = self.is_test;
        if let Some(class) = self.class_mut(id) {
            name.clone_into(&mut class.name);
            class.span = span(node);
            class.bases = types;
            class.is_test = is_test;
        }
        self.qualifiers.push(name);
        if let Some(body) = field(node, "body") {
            self.members(body, (id, scope));
        }
        self.qualifiers.pop();
        self.is_test = was_test;
        if is_enum && let Some(class) = self.class_mut(id) {
            class.variants =
                class.fields.iter().filter(|field| !field.private).map(|field| field.name.clone()).collect();
        }
        Some(id)
    }

    fn class_mut(&mut self, id: ClassId) -> Option<&mut crate::ir::Class> {
        self.classes.get_mut(id.0 as usize)
    }

    /// The methods and attributes of a class body, those under `if` and `try` too.
    fn members(&mut self, block: Node<'t>, class: (ClassId, usize)) {
        if !self.descend(block) {
            return;
        }
        for node in children(block) {
            match node.kind() {
                "function_definition" => {
                    self.function(node, &[], Some(class));
                }
                "decorated_definition" => {
                    let decorators: Vec<Node<'t>> =
                        children(node).into_iter().filter(|part| part.kind() == "decorator").collect();
                    match field(node, "definition") {
                        Some(function) if function.kind() == "function_definition" => {
                            self.function(function, &decorators, Some(class));
                        }
                        Some(inner) => {
                            self.class(inner);
                        }
                        None => {}
                    }
                }
                "class_definition" => {
                    self.class(node);
                }
                "expression_statement" => {
                    for part in children(node).into_iter().filter(|part| part.kind() == "assignment") {
                        self.attribute_definition(part, class);
                    }
                }
                "if_statement" | "try_statement" | "with_statement" | "for_statement" | "while_statement"
                | "else_clause" | "elif_clause" | "except_clause" | "finally_clause" | "block" | "ERROR" => {
                    self.members(node, class);
                }
                _ => {}
            }
        }
        self.ascend();
    }

    fn attribute_definition(&mut self, node: Node<'t>, (class, scope): (ClassId, usize)) {
        let mut targets = Vec::new();
        let mut right = Some(node);
        while let Some(part) = right.filter(|part| part.kind() == "assignment") {
            if let Some(left) = field(part, "left") {
                targets.push((left, field(part, "type")));
            }
            right = field(part, "right");
        }
        for (target, ty) in targets.into_iter().filter(|(target, _)| target.kind() == "identifier") {
            let name = self.text_of(target);
            let ty = ty.and_then(|ty| self.type_of(ty));
            let once = self.scope(scope).and_then(|scope| scope.bound.get(name)).is_some_and(|it| it.assigned == 1);
            let value = right.filter(|_| once).map(|right| self.initialiser(right, Some((class, scope)), None));
            let Some(class) = self.class_mut(class) else { continue };
            match class.fields.iter_mut().find(|field| field.name == name) {
                Some(field) => {
                    field.ty = field.ty.take().or(ty);
                    field.value = value;
                }
                None => class.fields.push(Field { name: name.to_owned(), ty, value, private: name.starts_with('_') }),
            }
        }
    }

    /// A field that a method declares: `self.x: Client = …`.
    pub(super) fn declare_field(&mut self, class: ClassId, name: &str, ty: TypeRef) {
        let Some(class) = self.class_mut(class) else { return };
        match class.fields.iter_mut().find(|field| field.name == name) {
            Some(field) => {
                field.ty.get_or_insert(ty);
            }
            None => class.fields.push(Field {
                name: name.to_owned(),
                ty: Some(ty),
                value: None,
                private: name.starts_with('_'),
            }),
        }
    }
}
