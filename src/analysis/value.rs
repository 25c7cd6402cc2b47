//! Abstract values, and the table of symbols that unknown ones are.
//!
//! A value is known as far as the code shows it: a number is an interval, a status is a function of the response's
//! status, an exception is a set of classes. What is not known is a [`SymId`]: a node of an expression graph, interned,
//! so that the same expression over the same unknowns is the same symbol, and a condition decided once stays decided.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::status::StatusSet;
use crate::ir::{BinOp, ClassId, FuncId, UnOp};

/// A number that can be compared and hashed by its bits.
#[derive(Clone, Copy)]
pub struct F(pub f64);

impl PartialEq for F {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_bits() == other.0.to_bits()
    }
}
impl Eq for F {}
impl Hash for F {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.to_bits().hash(state);
    }
}
impl fmt::Debug for F {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Where a value comes from: a set of sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Taint(pub u32);

impl Taint {
    /// Nothing but the code itself.
    pub const NONE: Taint = Taint(0);
    /// The failure of an operation: its exception, status, body.
    pub const FAILURE: Taint = Taint(1);
    /// A clock.
    pub const CLOCK: Taint = Taint(2);
    /// Chance.
    pub const RANDOM: Taint = Taint(4);
    /// The caller: a parameter.
    pub const INPUT: Taint = Taint(8);
    /// A call of which nothing is known.
    pub const CALL: Taint = Taint(16);
    /// An attribute or module variable that others may change.
    pub const STATE: Taint = Taint(32);
    /// The server's Retry-After.
    pub const SERVER: Taint = Taint(64);
    /// An item of a collection that is gone through.
    pub const ITEM: Taint = Taint(128);
    /// A stop flag or cancellation token.
    pub const FLAG: Taint = Taint(256);
    /// A fresh identifier.
    pub const FRESH: Taint = Taint(512);
    /// The number of the turn (a loop over a range).
    pub const COUNTER: Taint = Taint(1024);
    /// What may be set from outside the program, and need not be.
    pub const SETTING: Taint = Taint(1 << 21);

    // What sort of number it is, where that is known (see [`super::scaling`]).

    /// 32 bits with a sign.
    pub const I32: Taint = Taint(1 << 11);
    /// 32 bits.
    pub const U32: Taint = Taint(1 << 12);
    /// 64 bits with a sign.
    pub const I64: Taint = Taint(1 << 13);
    /// 64 bits.
    pub const U64: Taint = Taint(1 << 14);
    /// A floating-point number.
    pub const FLOAT: Taint = Taint(1 << 15);
    /// A span of time of a type of its own.
    pub const SPAN: Taint = Taint(1 << 16);
    /// Of another type, whose end is not reckoned with.
    pub const TYPED: Taint = Taint(1 << 17);
    /// All of these.
    pub const SORTS: Taint = Taint(0b111_1111 << 11);

    // How it came about.

    /// Held down by a ceiling.
    pub const HELD: Taint = Taint(1 << 18);
    /// Out of arithmetic that has an end.
    pub const SCALED: Taint = Taint(1 << 19);
    /// A power, or shifted.
    pub const RAISED: Taint = Taint(1 << 20);

    /// The sort of number that a type is, by the type's name.
    #[must_use]
    pub fn of_type(path: &str) -> Option<Taint> {
        Some(match path {
            "i32" => Taint::I32,
            "u32" => Taint::U32,
            "i64" | "isize" => Taint::I64,
            "u64" | "usize" => Taint::U64,
            "i8" | "u8" | "i16" | "u16" | "i128" | "u128" => Taint::TYPED,
            "f32" | "f64" => Taint::FLOAT,
            _ => return None,
        })
    }
    /// These less the others.
    #[must_use]
    pub fn without(self, other: Taint) -> Taint {
        Taint(self.0 & !other.0)
    }
    /// Those that are among the others too.
    #[must_use]
    pub fn among(self, other: Taint) -> Taint {
        Taint(self.0 & other.0)
    }
    /// Both.
    #[must_use]
    pub fn or(self, other: Taint) -> Taint {
        Taint(self.0 | other.0)
    }
    /// Whether any source of `other` is among these.
    #[must_use]
    pub fn has(self, other: Taint) -> bool {
        self.0 & other.0 != 0
    }
}

/// An interval of numbers with its sources.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Num {
    /// Least.
    pub lo: F,
    /// Greatest.
    pub hi: F,
    /// Sources.
    pub taint: Taint,
}

impl Num {
    /// One number.
    #[must_use]
    pub fn exact(number: f64) -> Self {
        Num { lo: F(number), hi: F(number), taint: Taint::NONE }
    }
    /// From `lo` to `hi`.
    #[must_use]
    pub fn range(lo: f64, hi: f64, taint: Taint) -> Self {
        Num { lo: F(lo.min(hi)), hi: F(hi.max(lo)), taint }
    }
    /// The number, where there is just one.
    #[must_use]
    pub fn single(&self) -> Option<f64> {
        (self.lo.0 == self.hi.0).then_some(self.lo.0)
    }
}

/// Index of a symbol in the [`Symbols`] table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SymId(pub u32);

/// A place in a run: an instruction with the chain of calls that led to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place(pub u32);

/// A function of the project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FuncRef {
    /// Index of the file.
    pub file: u32,
    /// The function.
    pub func: FuncId,
}

/// A class of the project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClassRef {
    /// Index of the file.
    pub file: u32,
    /// The class.
    pub class: ClassId,
}

/// The response of one operation (named by the operation's place).
pub type RespId = Place;

/// An exception or error value: any one of a set of classes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Exc {
    /// Absolute paths of its possible classes; [`ANY`] is one of which nothing is known.
    pub classes: Rc<[Rc<str>]>,
    /// The response that it carries.
    pub resp: Option<RespId>,
    /// The response was there, but is lost by how this came about.
    pub lost: Option<RespId>,
    /// What was passed to its constructor.
    pub args: Rc<[Value]>,
    /// Its own attributes live under this symbol.
    pub object: Option<SymId>,
}

/// The class of an exception of which nothing is known.
pub const ANY: &str = "*";

/// The type under which a model tells of the methods of a number.
pub const NUMBER: &str = "number";

/// A thing whose type a model describes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Inst {
    /// Type path of the model.
    pub ty: Rc<str>,
    /// Time limit: `None` not known, `Some(None)` none, `Some(Some(s))` so many seconds (NaN: set, not known how many).
    pub timeout: Option<Option<F>>,
    /// HTTP method, for a prepared request.
    pub verb: Option<Rc<str>>,
    /// Address and other inputs of a prepared request.
    pub inputs: Rc<[Value]>,
    /// An idempotency key is among the headers: the value that it was given.
    pub key: Option<Value>,
    /// Headers that cannot be seen through were added.
    pub opaque_headers: bool,
    /// How often it sends a request again by itself, where that is known.
    pub retries: Option<u32>,
    /// Whether it was told to raise on an error status, or not to.
    pub raises: Option<bool>,
    /// Where it was told so by the project's own code.
    pub told: Option<super::state::At>,
    /// The beginnings of the addresses for which it does so; none: for all.
    pub mounted: Rc<[Rc<str>]>,
    /// It does so only where nothing was sent.
    pub connects: bool,
    /// How it was made is in view.
    pub made_here: bool,
    /// What the kind of the entry needs besides (exceptions of a suppressing context, a limit's future …).
    pub parts: Rc<[Value]>,
}

/// A call that has not happened yet.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Pending {
    /// What is called.
    pub callee: Value,
    /// With what.
    pub args: Rc<[(Option<Rc<str>>, Value)]>,
    /// Where it was called.
    pub place: Place,
}

/// An abstract value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Value {
    /// Not known.
    Sym(SymId),
    /// `None`, `()`.
    None,
    /// A truth value with its sources.
    Bool(bool, Taint),
    /// A number; spans of time and points in time in seconds.
    Num(Num),
    /// A text.
    Str(Rc<str>),
    /// A number that is a function of a response's status: one entry for each of 100 to 599.
    Status(RespId, Rc<[i32]>),
    /// True exactly where the response's status is in the set.
    StatusIn(RespId, StatusSet),
    /// A response.
    Resp(RespId),
    /// The headers of one.
    Headers(RespId),
    /// Something read from the body of one.
    Body(RespId),
    /// An exception or error value.
    Exc(Rc<Exc>),
    /// `Ok(x)`, `Err(e)`, `Some(x)`, `None`, any enum's variant: name, path, payload.
    Variant(Rc<str>, Rc<str>, Rc<[Value]>),
    /// A tuple or a collection that does not change.
    Tuple(Rc<[Value]>),
    /// A collection or iterator whose content is in the state, under this key.
    Object(SymId),
    /// A function, with the activation that it closes over.
    Func(FuncRef, Option<u32>),
    /// A method of a value, not called yet.
    Bound(Rc<(Value, Rc<str>)>),
    /// A function with some arguments given already.
    Partial(Rc<Pending>),
    /// A class of the project.
    Class(ClassRef),
    /// A name from outside the project.
    Path(Rc<str>),
    /// A thing that a model describes.
    Inst(Rc<Inst>),
    /// A future that has not run.
    Future(Rc<Pending>),
}

impl Value {
    /// Whether values are nested in it more than so many levels deep.
    #[must_use]
    pub fn is_deeper_than(&self, levels: u32) -> bool {
        let inside = |parts: &[Value]| match levels.checked_sub(1) {
            Some(levels) => parts.iter().any(|part| part.is_deeper_than(levels)),
            None => true,
        };
        match self {
            Value::Variant(_, _, args) | Value::Tuple(args) => inside(args),
            Value::Inst(inst) => inside(&inst.inputs) || inside(&inst.parts),
            Value::Exc(exc) => inside(&exc.args),
            Value::Bound(pair) => match levels.checked_sub(1) {
                Some(levels) => pair.0.is_deeper_than(levels),
                None => true,
            },
            Value::Future(pending) | Value::Partial(pending) => match levels.checked_sub(1) {
                Some(levels) => {
                    pending.callee.is_deeper_than(levels)
                        || pending.args.iter().any(|(_, arg)| arg.is_deeper_than(levels))
                }
                None => true,
            },
            _ => false,
        }
    }
}

/// What a symbol stands for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Node {
    /// A parameter.
    Param(FuncRef, u32),
    /// Result of something unknown at a place.
    Unknown(Place),
    /// A thing made at a place.
    New(Place),
    /// An item of a collection gone through at a place.
    Item(Place),
    /// Attribute of a value.
    Attr(Value, Rc<str>),
    /// Element of a value.
    Index(Value, Value),
    /// Module variable.
    Global(u32, u32),
    /// Unary operation.
    Unary(UnOp, Value),
    /// Binary operation.
    Binary(BinOp, Value, Value),
    /// A symbol plus a number.
    Linear(Value, F),
    /// A named function of arithmetic.
    Math(Rc<str>, Rc<[Value]>),
    /// A call whose result depends on its arguments alone.
    Call(Rc<str>, Rc<[Value]>),
    /// `x is None`.
    IsNone(Value),
    /// Truth of a value.
    Truth(Value),
    /// Whether a value is a success.
    IsSuccess(Value),
    /// Payload of success or failure.
    Payload(Value, bool),
    /// Whether a value has this variant's name or equals this constant.
    Is(Value, Rc<str>),
    /// Seconds that a response's Retry-After asks for.
    RetryAfter(RespId),
    /// Its text.
    RetryAfterText(RespId),
    /// Whether an iterator has an item of this number.
    More(Value, u32),
}

/// The type of a symbol, as far as declared or seen.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Type {
    /// A class of the project.
    Own(ClassRef),
    /// A type of a model.
    Model(Rc<str>),
    /// A callable.
    Callable,
    /// Optional of.
    Option(Rc<Type>),
    /// Of no use here.
    Other(Rc<str>),
}

/// A symbol's facts.
#[derive(Debug, Clone)]
pub struct SymInfo {
    /// What it stands for.
    pub node: Node,
    /// Its sources.
    pub taint: Taint,
    /// Least value, if a number.
    pub lo: f64,
    /// Greatest value, if a number.
    pub hi: f64,
    /// Its type.
    pub ty: Option<Type>,
    /// Symbols that are made anew when their place is run again, and that this one depends on.
    pub roots: Rc<[SymId]>,
    /// The symbol of the question whether it is none, once that was asked.
    none: Option<SymId>,
}

/// The table of symbols of one analysis.
#[derive(Debug, Default)]
pub struct Symbols {
    infos: Vec<SymInfo>,
    index: FxHashMap<Node, SymId>,
}

impl Symbols {
    /// The facts of a symbol.
    #[must_use]
    pub fn info(&self, id: SymId) -> Option<&SymInfo> {
        self.infos.get(id.0 as usize)
    }

    /// A symbol that was made already.
    #[must_use]
    pub fn known(&self, node: &Node) -> Option<SymId> {
        self.index.get(node).copied()
    }

    /// The symbol of a node, with its own taint (added to that of its parts).
    pub fn intern(&mut self, node: Node, own: Taint) -> SymId {
        if let Some(id) = self.index.get(&node) {
            return *id;
        }
        let mut taint = own;
        let mut roots: Vec<SymId> = Vec::new();
        let id = SymId(u32::try_from(self.infos.len()).unwrap_or(u32::MAX));
        if matches!(node, Node::Unknown(_) | Node::New(_) | Node::Item(_)) {
            roots.push(id);
        }
        for part in parts(&node) {
            taint = taint.or(self.taint(part));
            self.collect_roots(part, &mut roots);
        }
        roots.sort_unstable();
        roots.dedup();
        roots.truncate(16);
        let (lo, hi) = match &node {
            Node::RetryAfter(_) => (0.0, f64::INFINITY),
            _ => (f64::NEG_INFINITY, f64::INFINITY),
        };
        self.infos.push(SymInfo { node: node.clone(), taint, lo, hi, ty: None, roots: roots.into(), none: None });
        self.index.insert(node, id);
        id
    }

    /// The symbol of the question whether another is none.
    pub fn none_of(&mut self, id: SymId) -> SymId {
        if let Some(none) = self.info(id).and_then(|info| info.none) {
            return none;
        }
        let none = self.intern(Node::IsNone(Value::Sym(id)), Taint::NONE);
        if let Some(info) = self.infos.get_mut(id.0 as usize) {
            info.none = Some(none);
        }
        none
    }

    /// Narrows a symbol's range.
    pub fn set_range(&mut self, id: SymId, lo: f64, hi: f64) {
        if let Some(info) = self.infos.get_mut(id.0 as usize) {
            info.lo = lo;
            info.hi = hi;
        }
    }

    /// Gives a symbol a type, if it has none.
    pub fn set_type(&mut self, id: SymId, ty: Type) {
        if let Some(info) = self.infos.get_mut(id.0 as usize)
            && info.ty.is_none()
        {
            info.ty = Some(ty);
        }
    }

    /// The sources of a value.
    #[must_use]
    pub fn taint(&self, value: &Value) -> Taint {
        match value {
            Value::Sym(id) | Value::Object(id) => self.info(*id).map_or(Taint::CALL, |info| info.taint),
            Value::Bool(_, taint) => *taint,
            Value::Num(num) => num.taint,
            Value::Status(..)
            | Value::StatusIn(..)
            | Value::Resp(_)
            | Value::Headers(_)
            | Value::Body(_)
            | Value::Exc(_) => Taint::FAILURE,
            Value::Variant(_, _, args) | Value::Tuple(args) => {
                args.iter().fold(Taint::NONE, |taint, arg| taint.or(self.taint(arg)))
            }
            Value::Inst(inst) => inst.inputs.iter().fold(Taint::NONE, |taint, arg| taint.or(self.taint(arg))),
            Value::Future(pending) | Value::Partial(pending) => {
                pending.args.iter().fold(self.taint(&pending.callee), |taint, (_, arg)| taint.or(self.taint(arg)))
            }
            Value::Bound(pair) => self.taint(&pair.0),
            Value::None | Value::Str(_) | Value::Func(..) | Value::Class(_) | Value::Path(_) => Taint::NONE,
        }
    }

    /// Adds the roots that a value depends on.
    pub fn collect_roots(&self, value: &Value, roots: &mut Vec<SymId>) {
        match value {
            Value::Sym(id) | Value::Object(id) => {
                if let Some(info) = self.info(*id) {
                    roots.extend_from_slice(&info.roots);
                }
            }
            Value::Variant(_, _, args) | Value::Tuple(args) => {
                args.iter().for_each(|arg| self.collect_roots(arg, roots));
            }
            Value::Inst(inst) => inst.inputs.iter().for_each(|arg| self.collect_roots(arg, roots)),
            Value::Future(pending) | Value::Partial(pending) => {
                self.collect_roots(&pending.callee, roots);
                pending.args.iter().for_each(|(_, arg)| self.collect_roots(arg, roots));
            }
            Value::Bound(pair) => self.collect_roots(&pair.0, roots),
            _ => {}
        }
    }

    /// Whether `found` holds for a value or one of its parts; each part is asked once, at most [`MAX_PARTS`] of them.
    #[must_use]
    pub fn mentions(&self, value: &Value, found: &mut dyn FnMut(&Value) -> bool) -> bool {
        let mut seen = FxHashSet::default();
        let mut work = vec![value];
        let mut left = MAX_PARTS;
        while let Some(value) = work.pop() {
            // Symbols share their parts: gone through as a tree, a chain of them doubles at each link.
            if matches!(value, Value::Sym(id) if !seen.insert(*id)) {
                continue;
            }
            if found(value) {
                return true;
            }
            left -= 1;
            if left == 0 {
                return false;
            }
            match value {
                Value::Sym(id) => work.extend(self.info(*id).map(|info| parts(&info.node)).unwrap_or_default()),
                Value::Variant(_, _, args) | Value::Tuple(args) => work.extend(args.iter()),
                Value::Exc(exc) => work.extend(exc.args.iter()),
                Value::Inst(inst) => work.extend(inst.inputs.iter()),
                Value::Future(pending) | Value::Partial(pending) => {
                    work.push(&pending.callee);
                    work.extend(pending.args.iter().map(|(_, arg)| arg));
                }
                Value::Bound(pair) => work.push(&pair.0),
                _ => {}
            }
        }
        false
    }
}

/// So many parts of a value are looked at.
const MAX_PARTS: u32 = 2_000;

/// The values that a node is made of.
fn parts(node: &Node) -> Vec<&Value> {
    match node {
        Node::Param(..)
        | Node::Unknown(_)
        | Node::New(_)
        | Node::Item(_)
        | Node::Global(..)
        | Node::RetryAfter(_)
        | Node::RetryAfterText(_) => Vec::new(),
        Node::Linear(value, _)
        | Node::Attr(value, _)
        | Node::Unary(_, value)
        | Node::IsNone(value)
        | Node::Truth(value)
        | Node::IsSuccess(value)
        | Node::Payload(value, _)
        | Node::Is(value, _)
        | Node::More(value, _) => vec![value],
        Node::Index(a, b) | Node::Binary(_, a, b) => vec![a, b],
        Node::Math(_, args) | Node::Call(_, args) => args.iter().collect(),
    }
}
