//! The language-neutral form of a source file: functions as control-flow graphs in which every way that a failure
//! takes is an edge.
//!
//! A function is a list of basic [`Block`]s over numbered [`Slot`]s (named variables and unnamed temporaries alike).
//! Instructions are three-address: they read slots and write one. Control flow that stands inside an expression
//! (`and`, `?`, a conditional, a comprehension) is control flow here too.
//!
//! Two ways of failing meet in this form. An *exception* leaves an instruction along [`Block::unwind`], or leaves the
//! function where there is none. A *failure value* (`Err`, `None`) is data, tested by [`Op::IsSuccess`] or
//! [`Op::Matches`] and branched upon.
//!
//! Invariant: what a frontend cannot lower becomes [`Op::Unknown`]: a value of which nothing is known. It never
//! becomes a value, an edge or a call that the source does not have.
//! Invariant: nothing here or behind it knows which language a file was written in, except by what models say.

pub mod dump;
pub mod link;

use serde::{Deserialize, Serialize};

use crate::source::{Language, Span};

/// Index of a function in [`Module::functions`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FuncId(pub u32);
/// Index of a class, struct, enum or trait in [`Module::classes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ClassId(pub u32);
/// Index of a module-level variable, constant or static in [`Module::globals`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct GlobalId(pub u32);
/// Index of a variable or temporary in [`Function::slots`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Slot(pub u32);
/// Index of a block in [`Function::blocks`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct BlockId(pub u32);

/// One source file, lowered.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Module {
    /// What it was written in: selects the models that apply.
    pub language: Language,
    /// All functions, methods, closures, lambdas, comprehension bodies that are functions, async blocks, and the
    /// initialisers that globals, class attributes and parameter defaults need.
    pub functions: Vec<Function>,
    /// Classes, structs, enums, traits.
    pub classes: Vec<Class>,
    /// Module-level names that hold values.
    pub globals: Vec<Global>,
    /// Absolute paths of all imported modules and names (`requests`, `requests.adapters.HTTPAdapter`,
    /// `std::time::Duration`), for duck typing by what a file imports.
    pub imports: Vec<String>,
    /// The names that it imports, as others may import them from it, with the absolute paths of what they stand for.
    /// `*` (or `inner.*`) is all of a module.
    pub exports: Vec<(String, String)>,
    /// Parts that could not be parsed; the rest was lowered all the same.
    pub unparsed: Vec<Unparsed>,
}

impl Module {
    /// Whether the parser left nothing of a file to look at: no class, no variable, and no function that does anything.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        let holds_code = |function: &Function| {
            let mut instrs = function.blocks.iter().flat_map(|block| &block.instrs);
            function.blocks.len() > 1
                || function.blocks.iter().any(|block| !matches!(block.term, Term::Return(None)))
                || instrs.any(|instr| !matches!(instr.op, Op::Unknown(_)))
        };
        let nothing = self.classes.is_empty() && self.globals.is_empty() && !self.functions.iter().any(holds_code);
        nothing && !self.unparsed.is_empty()
    }
}

/// A part of a file that could not be parsed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unparsed {
    /// Where.
    pub span: Span,
    /// What the parser missed, in plain words.
    pub message: String,
}

/// What sort of function it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum FunctionKind {
    /// A named function or method.
    Named,
    /// A lambda or closure.
    Closure,
    /// An `async` block: like a closure with no parameters whose call gives a future (see [`Op::Func`]).
    AsyncBlock,
    /// The statements of the module itself (top-level code of a script).
    ModuleBody,
    /// Computes one global, class attribute or parameter default; no parameters, one returned value.
    Initialiser,
    /// The body of a `macro_rules!` arm.
    MacroBody,
}

/// A function's graph.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Function {
    /// Its own name; `<lambda>`, `<closure>`, `<async>`, `<module>`, `<init>` where it has none.
    pub name: String,
    /// With its class or enclosing functions: `Client.get`, `outer.inner`.
    pub qualified_name: String,
    /// What sort.
    pub kind: FunctionKind,
    /// The whole definition.
    pub span: Span,
    /// From `def`/`fn` to the end of the signature.
    pub header: Span,
    /// In order, `self`/`cls` included.
    pub params: Vec<Param>,
    /// Calls of it give a coroutine or future, that runs when awaited.
    pub is_async: bool,
    /// Its body yields.
    pub is_generator: bool,
    /// In `#[cfg(test)]`, `#[test]`, a `Test…` class, a `test_…` function, or a file of tests.
    pub is_test: bool,
    /// Cannot be called from other modules (private by the language or by a leading underscore).
    pub private: bool,
    /// Reading the attribute of its name calls it.
    pub is_property: bool,
    /// The class that it is a method of.
    pub class: Option<ClassId>,
    /// The function that it stands in (closures and nested functions).
    pub parent: Option<FuncId>,
    /// From the outermost (first in the source) to the innermost.
    pub decorators: Vec<Decorator>,
    /// What it is declared to return, as a type path.
    pub returns: Option<TypeRef>,
    /// Variables and temporaries; the parameters are the first ones.
    pub slots: Vec<SlotInfo>,
    /// The graph; block 0 is the entry.
    pub blocks: Vec<Block>,
    /// The loops of the source, outer before inner.
    pub loops: Vec<Loop>,
}

impl Function {
    /// One of this name that does nothing yet: no graph, no parameters, neither async nor private.
    #[must_use]
    pub fn empty(name: &str, kind: FunctionKind, span: Span) -> Function {
        Function {
            name: name.to_owned(),
            qualified_name: name.to_owned(),
            kind,
            span,
            header: span,
            params: Vec::new(),
            is_async: false,
            is_generator: false,
            is_test: false,
            private: false,
            is_property: false,
            class: None,
            parent: None,
            decorators: Vec::new(),
            returns: None,
            slots: Vec::new(),
            blocks: Vec::new(),
            loops: Vec::new(),
        }
    }
}

/// A parameter.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Param {
    /// Its slot.
    pub slot: Slot,
    /// Name as callers use it.
    pub name: String,
    /// Initialiser of the default, where it has one.
    pub default: Option<FuncId>,
    /// The receiver: `self`, `cls`, `&mut self`.
    pub is_self: bool,
    /// Takes all further arguments (`*args`, `**kwargs`).
    pub is_rest: bool,
    /// Those of them that are named (`**kwargs`).
    pub is_named_rest: bool,
}

/// What a slot stands for.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct SlotInfo {
    /// The variable's name; `None` for a temporary.
    pub name: Option<String>,
    /// A variable of the enclosing function (of [`Function::parent`]) that this closure uses: reads and writes go there.
    pub captured: Option<Slot>,
    /// Declared type, where the source gives one.
    pub ty: Option<TypeRef>,
}

/// A declared type, as far as it can matter: a path with its arguments. References, `mut`, lifetimes are stripped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TypeRef {
    /// Absolute path after imports are resolved (`reqwest::Client`, `aiohttp.ClientSession`, `Option`, `Result`), or
    /// the plain name where the type is this module's own. `impl Fn(A) -> R` and `Callable` have the path `fn`.
    pub path: String,
    /// The module's own class, where it is one.
    pub class: Option<ClassId>,
    /// Generic arguments, in order (`Option[str]` has one). A union `A | None` is `Option` of A.
    pub args: Vec<TypeRef>,
}

/// A decorator or attribute macro that may change what a call of the function does.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Decorator {
    /// The whole decorator, without the leading `@`.
    pub span: Span,
    /// Initialiser-like function that evaluates the decorator's expression (a path, a call, a variable) and returns it.
    pub value: FuncId,
}

/// A class, struct, enum or trait.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Class {
    /// Its name.
    pub name: String,
    /// Definition.
    pub span: Span,
    /// Base classes or implemented traits, as absolute paths.
    pub bases: Vec<TypeRef>,
    /// Methods, associated functions, those of trait impls and of all impl blocks too.
    pub methods: Vec<FuncId>,
    /// Class attributes, associated constants and declared fields.
    pub fields: Vec<Field>,
    /// Names of an enum's variants.
    pub variants: Vec<String>,
    /// In test code.
    pub is_test: bool,
}

/// A field or class attribute.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Declared type.
    pub ty: Option<TypeRef>,
    /// Initialiser of its value in the class body (class attributes, associated constants).
    pub value: Option<FuncId>,
    /// Cannot be set from other modules (private by the language or by a leading underscore).
    pub private: bool,
}

/// A module-level variable.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Global {
    /// Its name.
    pub name: String,
    /// Initialiser of its value, where it is assigned exactly once in the file; otherwise nothing is known of it.
    pub value: Option<FuncId>,
    /// Declared type.
    pub ty: Option<TypeRef>,
    /// Where it is assigned first.
    pub span: Span,
}

/// How a loop of the source goes round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum LoopKind {
    /// `while True`, `loop`.
    Endless,
    /// `while condition`, `while let`.
    While,
    /// `for x in …`, comprehensions.
    For,
}

/// A loop of the source. Its blocks are found from the graph: those that reach `head` again without leaving.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Loop {
    /// Where each turn begins: the block that every `continue` and the end of the body go to.
    pub head: BlockId,
    /// What sort.
    pub kind: LoopKind,
    /// The whole loop, `else` part included.
    pub span: Span,
    /// From the keyword (or label) to before the body: `for attempt in range(5):`, `loop`. One line where possible.
    pub header: Span,
    /// A comprehension or an iterator adaptor, not a statement.
    pub is_comprehension: bool,
}

/// A straight run of instructions.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Block {
    /// In order.
    pub instrs: Vec<Instr>,
    /// How it ends.
    pub term: Term,
    /// The statement that the terminator belongs to.
    pub term_span: Span,
    /// Where an exception goes that one of the instructions (or a `Raise` terminator) throws; `None`: out of the
    /// function. The block there begins with [`Op::Catch`] where it looks at the exception.
    pub unwind: Option<BlockId>,
}

/// An instruction.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Instr {
    /// What it writes; `None` where the value is not used.
    pub dst: Option<Slot>,
    /// What it does.
    pub op: Op,
    /// Where it stands.
    pub span: Span,
}

/// A literal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Const {
    /// `None`, `()`. Rust's `None` is [`Op::Variant`] `None`; Python's is this one.
    None,
    /// `True`, `false`.
    Bool(bool),
    /// Whole number (larger ones become `Float`).
    Int(i64),
    /// Floating-point number.
    Float(f64),
    /// Text; bytes too.
    Str(String),
    /// `...`
    Ellipsis,
}

/// Arithmetic, comparison and membership.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum BinOp {
    Add,
    Sub,
    Mul,
    /// True division (`/` in Python).
    Div,
    /// `//`; Rust's `/` on integers is lowered to `Div` as types are not known.
    FloorDiv,
    Rem,
    Pow,
    Shl,
    Shr,
    BitAnd,
    BitOr,
    BitXor,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    /// `a in b`
    In,
    /// `a not in b`
    NotIn,
    /// `a is b`
    Is,
    /// `a is not b`
    IsNot,
    /// `(a, b)` both needed without short-circuit (`&` on booleans is `BitAnd`).
    Other,
}

/// A unary operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum UnOp {
    Not,
    Neg,
    BitNot,
    /// The number, whatever its sign (`+x`); also a cast (`x as u64`).
    Plus,
    /// `*x`, `&x`, `&mut x`: the same value.
    Same,
}

/// An argument of a call.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Arg {
    /// Its name, for a keyword argument; empty for a mapping of several.
    pub name: Option<String>,
    /// The value.
    pub value: Slot,
    /// `*args`, `**kwargs`: stands for any number of arguments.
    pub spread: bool,
}

/// What is called.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Callee {
    /// A value: a function, a class, a path, a closure, a parameter.
    Value(Slot),
    /// `receiver.name(…)`; the receiver is not among the arguments.
    Method {
        /// The receiver.
        receiver: Slot,
        /// The method's name.
        name: String,
    },
    /// `super().name(…)` or a call that names the base class.
    Super {
        /// The method's name.
        name: String,
    },
}

/// The sort of a collection display.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum CollectionKind {
    Tuple,
    List,
    Set,
    /// Elements alternate: key, value, key, value.
    Dict,
}

/// What an instruction does. Slots that are read stand in the variants.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Op {
    /// A literal.
    Const(Const),
    /// The value of another slot (assignment to a variable, too).
    Copy(Slot),
    /// A name from outside the file, as an absolute path after imports are resolved: `requests.get`,
    /// `builtins.range`, `tokio::time::sleep`. Names that nothing explains are given as they stand.
    Path(String),
    /// A function of this module. A closure captures the current activation; an `async` block gives a future at once.
    Func(FuncId),
    /// A class, struct or enum of this module, as a value.
    Class(ClassId),
    /// Reads a module-level variable.
    Global(GlobalId),
    /// Writes one.
    SetGlobal(GlobalId, Slot),
    /// `object.name`, a field or attribute.
    Attr(Slot, String),
    /// `object.name = value`
    SetAttr(Slot, String, Slot),
    /// `object[index]`
    Index(Slot, Slot),
    /// `object[index] = value`
    SetIndex(Slot, Slot, Slot),
    /// A unary operation.
    Unary(UnOp, Slot),
    /// A binary operation.
    Binary(BinOp, Slot, Slot),
    /// A call. It may raise (along `unwind`). Of an async function: gives a future that does nothing until awaited.
    Call {
        /// What is called.
        callee: Callee,
        /// The arguments in order.
        args: Vec<Arg>,
    },
    /// `await x`, `x.await`: runs a future to its end and gives its value. It may raise.
    Await(Slot),
    /// `yield x`; the value sent in is not known.
    Yield(Option<Slot>),
    /// A tuple, list, set or dict display, an array, `vec![…]`.
    Collection(CollectionKind, Vec<Slot>),
    /// An f-string or `format!`: literal parts and values, in order.
    Format(Vec<FormatPart>),
    /// Builds an enum variant or tuple struct by its name: `Ok(x)`, `Some(x)`, `None`, `Error::Status(code)`,
    /// `ControlFlow::Break(x)`. The name is the last part, `path` all of it.
    Variant {
        /// `Ok`, `Err`, `Some`, `None`, `Status`.
        name: String,
        /// Resolved path, `Result::Ok` given as `Ok`.
        path: String,
        /// The payload.
        args: Vec<Slot>,
    },
    /// Builds a struct by its fields.
    Struct {
        /// The module's own type, where it is one.
        class: Option<ClassId>,
        /// Resolved path.
        path: String,
        /// Fields in order.
        fields: Vec<(String, Slot)>,
        /// `..base`
        base: Option<Slot>,
    },
    /// Whether a value fits a pattern. Binds nothing: [`Op::Bind`] does, in the block that the test leads to.
    Matches(Slot, Pattern),
    /// Binds the names of a pattern that is known to fit (or `let (a, b) = …`, unpacking). `dst` is `None`.
    Bind(Slot, Pattern),
    /// Whether a value is `Ok`, `Some` or `Continue` (what `?` asks).
    IsSuccess(Slot),
    /// The payload of `Ok`/`Some`, of `Err` where the flag is false.
    Payload(Slot, bool),
    /// The exception that led to this block. Only as first instruction of a block that some `unwind` points to.
    Catch,
    /// Whether the exception (first slot) is one that a handler for the second (a class, a path, a tuple of them) takes.
    IsException(Slot, Slot),
    /// `with manager`: enters it and gives what `as` binds. `true`: `async with`. It may raise.
    Enter(Slot, bool),
    /// Leaves a context manager: normally (`None`: gives nothing), or with an exception: gives whether it is swallowed.
    Exit(Slot, Option<Slot>),
    /// An iterator over a value, for [`Term::Next`]. `true`: `async for`.
    Iter(Slot, bool),
    /// Runs one of several futures, whichever ends first (`select!`): gives the index of that arm, as an unknown whole
    /// number; the arms are branches that follow, each of which awaits its own future first.
    Select(u32),
    /// Not lowered: a value of which nothing is known; what it may call or raise is not known either.
    Unknown(String),
}

/// A part of a formatted text.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum FormatPart {
    Text(String),
    Value(Slot),
}

/// A pattern of `match`, `if let`, `let`, a handler or an unpacking.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Pattern {
    /// `_`, `..`
    Any,
    /// `name`, `name @ pattern`, `pattern as name`.
    Bind(Slot, Option<Box<Pattern>>),
    /// A literal.
    Const(Const),
    /// `a..=b`; a missing end is open.
    Range {
        /// Lower end.
        low: Option<Const>,
        /// Upper end.
        high: Option<Const>,
        /// Whether the upper end belongs to it.
        inclusive: bool,
    },
    /// A constant or a unit variant by path: `StatusCode::TOO_MANY_REQUESTS`, `None`, `Color.RED`.
    Path(String),
    /// A constant of this module (`MAX_STATUS =>`).
    Global(GlobalId),
    /// `Ok(p)`, `Err(Error::Status(code, _))`, `Some(p)`, a class pattern with positions.
    Variant {
        /// Last part of the path.
        name: String,
        /// Resolved path.
        path: String,
        /// Patterns of the payload.
        args: Vec<Pattern>,
    },
    /// `Error::Io { source, .. }`, a class pattern with keywords.
    Struct {
        /// Last part of the path.
        name: String,
        /// Resolved path.
        path: String,
        /// Named parts.
        fields: Vec<(String, Pattern)>,
    },
    /// A tuple, slice or sequence of patterns; `Any` stands for a rest too (`rest` is its place).
    Tuple(Vec<Pattern>, Option<usize>),
    /// A mapping pattern: keys are constants.
    Mapping(Vec<(Const, Pattern)>),
    /// Any of several.
    Or(Vec<Pattern>),
    /// Assigns to something that is no variable (`self.x, y = …`): the attribute of a slot.
    Attr(Slot, String),
    /// Could be anything: whether it fits is not known. Names in it are bound to unknowns.
    Unknown(Vec<Slot>),
}

/// How a block ends.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Term {
    /// To another block.
    Goto(BlockId),
    /// On a value's truth.
    Branch {
        /// The value tested.
        cond: Slot,
        /// Where it is true.
        then: BlockId,
        /// Where it is not.
        otherwise: BlockId,
    },
    /// Takes the next item of an iterator, or goes to `done` where there is none.
    Next {
        /// From [`Op::Iter`].
        iter: Slot,
        /// Receives the item.
        item: Slot,
        /// The loop's body.
        body: BlockId,
        /// After the last item.
        done: BlockId,
    },
    /// Returns; `None` gives `None`/`()`. From an async block or generator too. `break value` is a copy and a `Goto`.
    Return(Option<Slot>),
    /// `?` on a failure value: returns it as the function's own failure (an `Err`'s payload may be converted).
    Propagate(Slot),
    /// Raises a value; `None` (`raise` alone) the exception that is being handled.
    Raise(Option<Slot>),
    /// Ends the process or task, or cannot be reached: `panic!`, `unreachable!`, `sys.exit()`, `process::exit`.
    Abort,
}

impl Module {
    /// A function by its index.
    #[must_use]
    pub fn function(&self, id: FuncId) -> Option<&Function> {
        self.functions.get(id.0 as usize)
    }
    /// A class by its index.
    #[must_use]
    pub fn class(&self, id: ClassId) -> Option<&Class> {
        self.classes.get(id.0 as usize)
    }
    /// A module-level variable by its index.
    #[must_use]
    pub fn global(&self, id: GlobalId) -> Option<&Global> {
        self.globals.get(id.0 as usize)
    }
}

impl Function {
    /// A block by its index.
    #[must_use]
    pub fn block(&self, id: BlockId) -> Option<&Block> {
        self.blocks.get(id.0 as usize)
    }
    /// A slot's facts.
    #[must_use]
    pub fn slot(&self, slot: Slot) -> Option<&SlotInfo> {
        self.slots.get(slot.0 as usize)
    }
}

impl Term {
    /// The slot that it reads.
    #[must_use]
    pub fn reads(&self) -> Option<Slot> {
        match self {
            Term::Branch { cond, .. } => Some(*cond),
            Term::Next { iter, .. } => Some(*iter),
            Term::Return(slot) | Term::Raise(slot) => *slot,
            Term::Propagate(slot) => Some(*slot),
            Term::Goto(_) | Term::Abort => None,
        }
    }
}

impl Pattern {
    /// The patterns that it is made of.
    fn parts(&self) -> Vec<&Pattern> {
        match self {
            Pattern::Bind(_, inner) => inner.iter().map(|inner| &**inner).collect(),
            Pattern::Variant { args: parts, .. } | Pattern::Tuple(parts, _) | Pattern::Or(parts) => {
                parts.iter().collect()
            }
            Pattern::Struct { fields, .. } => fields.iter().map(|(_, part)| part).collect(),
            Pattern::Mapping(pairs) => pairs.iter().map(|(_, part)| part).collect(),
            _ => Vec::new(),
        }
    }

    fn each<'p>(&'p self, found: &mut dyn FnMut(&'p Pattern)) {
        let mut work = vec![self];
        while let Some(pattern) = work.pop() {
            found(pattern);
            work.extend(pattern.parts());
        }
    }

    /// The slots that it gives a value.
    #[must_use]
    pub fn binds(&self) -> Vec<Slot> {
        let mut slots = Vec::new();
        self.each(&mut |pattern| match pattern {
            Pattern::Bind(slot, _) => slots.push(*slot),
            Pattern::Unknown(more) => slots.extend(more),
            _ => {}
        });
        slots
    }

    /// The slots that it reads: objects whose attributes it assigns.
    #[must_use]
    pub fn reads(&self) -> Vec<Slot> {
        let mut slots = Vec::new();
        self.each(&mut |pattern| {
            if let Pattern::Attr(slot, _) = pattern {
                slots.push(*slot);
            }
        });
        slots
    }
}

impl Op {
    /// The slots that it reads.
    #[must_use]
    pub fn reads(&self) -> Vec<Slot> {
        match self {
            Op::Const(_)
            | Op::Path(_)
            | Op::Func(_)
            | Op::Class(_)
            | Op::Global(_)
            | Op::Catch
            | Op::Select(_)
            | Op::Unknown(_)
            | Op::Yield(None) => Vec::new(),
            Op::Copy(a)
            | Op::SetGlobal(_, a)
            | Op::Attr(a, _)
            | Op::Unary(_, a)
            | Op::Await(a)
            | Op::Yield(Some(a))
            | Op::IsSuccess(a)
            | Op::Payload(a, _)
            | Op::Enter(a, _)
            | Op::Iter(a, _) => vec![*a],
            Op::Matches(a, pattern) | Op::Bind(a, pattern) => std::iter::once(*a).chain(pattern.reads()).collect(),
            Op::SetAttr(a, _, b) | Op::Index(a, b) | Op::Binary(_, a, b) | Op::IsException(a, b) => vec![*a, *b],
            Op::SetIndex(a, b, c) => vec![*a, *b, *c],
            Op::Exit(a, b) => std::iter::once(*a).chain(*b).collect(),
            Op::Call { callee, args } => {
                let receiver = match callee {
                    Callee::Value(slot) => Some(*slot),
                    Callee::Method { receiver, .. } => Some(*receiver),
                    Callee::Super { .. } => None,
                };
                receiver.into_iter().chain(args.iter().map(|arg| arg.value)).collect()
            }
            Op::Collection(_, slots) | Op::Variant { args: slots, .. } => slots.clone(),
            Op::Format(parts) => parts
                .iter()
                .filter_map(|part| match part {
                    FormatPart::Value(slot) => Some(*slot),
                    FormatPart::Text(_) => None,
                })
                .collect(),
            Op::Struct { fields, base, .. } => fields.iter().map(|(_, slot)| *slot).chain(*base).collect(),
        }
    }
}
