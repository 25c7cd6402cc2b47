//! The Python frontend: tree-sitter in, [`Module`] out.
//!
//! [`scopes`] walks the tree once and learns what each name is. Then the module's body is lowered like a function, and
//! each function, class and lambda where it is met. A [`Context`] is one function that is being built; those that
//! enclose it are below it on a stack, so that a closure finds its variables there.
//!
//! Recursion follows only true nesting: chains of operators, calls, attributes, `elif` and parentheses are walked in
//! loops. What is nested deeper than [`DEPTH_LIMIT`] becomes [`Op::Unknown`].

mod builtins;
mod calls;
mod collections;
mod decorators;
mod definitions;
mod exceptions;
mod expressions;
mod flow;
pub(super) mod lexer;
mod literals;
mod names;
mod patterns;
mod reading;
mod scopes;
mod statements;
mod syntax;
#[cfg(test)]
mod tests;
mod types;

use rustc_hash::{FxHashMap, FxHashSet};
use tree_sitter::Node;

use crate::frontend::graph::Graph;
use crate::ir::{
    Block, BlockId, Class, ClassId, FuncId, Function, FunctionKind, Global, GlobalId, Module, Op, Slot, Term, Unparsed,
};
use crate::source::{Language, SourceFile, Span};
use scopes::{Package, Scope, Scopes};
use syntax::span;

/// How deep statements and expressions may be nested.
const DEPTH_LIMIT: usize = 200;

/// Lowers a Python file; never fails.
#[must_use]
pub fn lower(file: &SourceFile, module: &str) -> Module {
    let text = reading::prepare(&file.text);
    let Some(tree) = reading::parse(&text) else {
        let whole = Span::new(0, file.text.len());
        let unparsed = vec![Unparsed { span: whole, message: "the parser gave up on this file".to_owned() }];
        return Module {
            language: Language::Python,
            functions: Vec::new(),
            classes: Vec::new(),
            globals: Vec::new(),
            imports: Vec::new(),
            exports: Vec::new(),
            unparsed,
        };
    };
    let package = Package::of(module, &file.path);
    let root = tree.root_node();
    let scopes = scopes::collect(root, &text, &package);
    Lowering::new(&text, scopes, is_test_file(&file.path)).run(root)
}

/// Whether the file's name or a folder above it says that it holds tests.
fn is_test_file(path: &str) -> bool {
    let mut parts = path.rsplit('/');
    let name = parts.next().unwrap_or_default();
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    stem.starts_with("test_") || stem.ends_with("_test") || stem == "conftest" || parts.any(super::holds_tests)
}

/// A construct that control has to leave in an orderly way, innermost last.
#[derive(Debug, Clone, Copy)]
enum Frame<'t> {
    /// A loop: where `continue` and `break` go.
    Loop { next: BlockId, after: BlockId },
    /// A `with`: the manager to leave, and where exceptions go outside of it.
    With { manager: Slot, span: Span, outer: Option<BlockId> },
    /// A `finally` part, and where exceptions go outside of it.
    Finally { body: Node<'t>, outer: Option<BlockId> },
}

/// One function that is being built.
struct Context<'t> {
    id: FuncId,
    graph: Graph,
    /// Index of its scope; an initialiser and the module's body have none.
    scope: Option<usize>,
    is_module: bool,
    /// Variables that have a slot already, captured ones too.
    names: FxHashMap<&'t str, Slot>,
    /// Variables of the comprehensions that are open, innermost last.
    overlays: Vec<FxHashMap<&'t str, Slot>>,
    /// Slots of each comprehension's variables: a `finally` part is lowered several times, its closures once.
    comprehensions: FxHashMap<usize, FxHashMap<&'t str, Slot>>,
    /// The class body that an initialiser stands in: its names are seen there, but not by functions within.
    class_body: Option<(ClassId, usize)>,
    /// The class of a method, and its first parameter's name.
    method: Option<(ClassId, &'t str)>,
    frames: Vec<Frame<'t>>,
    /// The exceptions of the handlers that are open, with the number of catches when each was entered.
    handlers: Vec<(Slot, usize)>,
    catches: usize,
    /// The global that an initialiser computes.
    own_global: Option<&'t str>,
}

/// The lowering of one file.
struct Lowering<'t> {
    text: &'t str,
    scopes: Scopes<'t>,
    functions: Vec<Function>,
    classes: Vec<Class>,
    globals: Vec<Global>,
    global_ids: FxHashMap<&'t str, GlobalId>,
    /// Base names of each class as they are written, for calls that name the base.
    base_names: FxHashMap<ClassId, Vec<&'t str>>,
    contexts: Vec<Context<'t>>,
    /// Names of the functions and classes that are open, for qualified names.
    qualifiers: Vec<&'t str>,
    /// Functions and lambdas that were lowered, by their nodes.
    done: FxHashMap<usize, FuncId>,
    done_classes: FxHashSet<ClassId>,
    unparsed: Vec<Unparsed>,
    depth: usize,
    cut: bool,
    is_test: bool,
}

impl<'t> Lowering<'t> {
    fn new(text: &'t str, mut scopes: Scopes<'t>, is_test: bool) -> Self {
        let unparsed = std::mem::take(&mut scopes.unparsed);
        let functions = (0..scopes.function_count).map(|_| blank()).collect();
        let classes = (0..scopes.class_count)
            .map(|_| Class {
                name: String::new(),
                span: Span::default(),
                bases: Vec::new(),
                methods: Vec::new(),
                fields: Vec::new(),
                variants: Vec::new(),
                is_test,
            })
            .collect();
        Lowering {
            text,
            scopes,
            functions,
            classes,
            globals: Vec::new(),
            global_ids: FxHashMap::default(),
            base_names: FxHashMap::default(),
            contexts: Vec::new(),
            qualifiers: Vec::new(),
            done: FxHashMap::default(),
            done_classes: FxHashSet::default(),
            unparsed,
            depth: 0,
            cut: false,
            is_test,
        }
    }

    fn run(mut self, root: Node<'t>) -> Module {
        self.declare_globals();
        let mut context = Context::new(FuncId(0), None);
        context.is_module = true;
        self.contexts.push(context);
        self.statements(root);
        let whole = Span::new(0, self.text.len());
        self.finish_function(Function {
            name: "<module>".to_owned(),
            qualified_name: "<module>".to_owned(),
            kind: FunctionKind::ModuleBody,
            span: whole,
            header: Span::new(0, 0),
            is_test: self.is_test,
            ..blank()
        });
        self.initialise_globals();
        self.unparsed.sort_by_key(|part| (part.span.start, part.span.end));
        let exports = self.exports();
        Module {
            language: Language::Python,
            functions: self.functions,
            classes: self.classes,
            globals: self.globals,
            exports,
            imports: std::mem::take(&mut self.scopes.imports),
            unparsed: self.unparsed,
        }
    }

    fn text_of(&self, node: Node<'t>) -> &'t str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    /// The function that is being built.
    #[expect(clippy::expect_used, reason = "a context is open from `run` on; every room pushes and pops in pairs")]
    fn context(&mut self) -> &mut Context<'t> {
        self.contexts.last_mut().expect("a function is being built")
    }

    fn graph(&mut self) -> &mut Graph {
        &mut self.context().graph
    }

    fn scope(&self, at: usize) -> Option<&Scope<'t>> {
        self.scopes.list.get(at)
    }

    fn emit(&mut self, op: Op, at: Node<'t>) -> Slot {
        self.graph().emit(op, span(at))
    }

    fn unknown(&mut self, what: &str, at: Node<'t>) -> Slot {
        self.emit(Op::Unknown(what.to_owned()), at)
    }

    /// Goes one level down; `false` where it is too deep, which is noted once a file.
    fn descend(&mut self, node: Node<'t>) -> bool {
        if self.depth < DEPTH_LIMIT {
            self.depth += 1;
            return true;
        }
        if !self.cut {
            self.cut = true;
            self.unparsed.push(Unparsed { span: span(node), message: "nested too deeply".to_owned() });
        }
        false
    }

    fn ascend(&mut self) {
        self.depth -= 1;
    }

    /// Closes the innermost context and puts its graph where its function belongs.
    fn finish_function(&mut self, mut function: Function) {
        let Some(context) = self.contexts.pop() else { return };
        if let Some(outer) = self.contexts.last()
            && (!outer.is_module || context.graph.captures())
        {
            function.parent = Some(outer.id);
        }
        let mut graph = context.graph;
        graph.end(Term::Return(None));
        let parts = graph.finish();
        function.slots = parts.slots;
        function.blocks = parts.blocks;
        function.loops = parts.loops;
        if let Some(place) = self.functions.get_mut(context.id.0 as usize) {
            *place = function;
        }
    }

    /// A function that computes one expression in the scope that is open.
    fn initialiser(
        &mut self,
        value: Node<'t>,
        class_body: Option<(ClassId, usize)>,
        own_global: Option<&'t str>,
    ) -> FuncId {
        let id = FuncId(u32::try_from(self.functions.len()).unwrap_or(u32::MAX));
        self.functions.push(blank());
        let mut context = Context::new(id, None);
        context.class_body = class_body;
        context.own_global = own_global;
        context.graph.set_statement(span(value));
        self.contexts.push(context);
        let result = self.expression(value);
        self.graph().end(Term::Return(Some(result)));
        self.finish_function(Function { span: span(value), header: span(value), is_test: self.is_test, ..blank() });
        id
    }
}

impl Context<'_> {
    fn new(id: FuncId, scope: Option<usize>) -> Self {
        Context {
            id,
            graph: Graph::new(),
            scope,
            is_module: false,
            names: FxHashMap::default(),
            overlays: Vec::new(),
            comprehensions: FxHashMap::default(),
            class_body: None,
            method: None,
            frames: Vec::new(),
            handlers: Vec::new(),
            catches: 0,
            own_global: None,
        }
    }
}

/// A function of which nothing is known yet.
fn blank() -> Function {
    let nothing = Block { instrs: Vec::new(), term: Term::Abort, term_span: Span::default(), unwind: None };
    Function { blocks: vec![nothing], ..Function::empty("<init>", FunctionKind::Initialiser, Span::default()) }
}
