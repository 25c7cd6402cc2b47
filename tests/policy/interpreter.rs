//! Runs the graphs that the linter sees against the same server as [`super::observed`].
//!
//! It knows the graph's instructions, and of libraries what the generated programs use. Nothing of the analysis is
//! in it, so that what both say alike is true.

use std::cell::RefCell;
use std::rc::Rc;

use stormlint::ir::{
    BinOp, BlockId, Callee, Const, FuncId, Function, Global, Instr, Module, Op, Pattern, Slot, Term, UnOp,
};

use crate::observed::{Runs, Scenario, Trace};
use crate::world::{self, World};

/// A value.
#[derive(Debug, Clone)]
pub enum V {
    /// `None`, `()`.
    None,
    Bool(bool),
    Int(i128),
    /// Times, too.
    Float(f64),
    Str(Rc<str>),
    Seq(Rc<RefCell<Vec<V>>>),
    Func(FuncId, Option<Rc<Frame>>),
    Class(u32),
    Path(Rc<str>),
    Variant(Rc<str>, Rc<Vec<V>>),
    /// What comes next, last first.
    Iter(Rc<RefCell<Vec<V>>>),
    /// An answer: its status and what it advises.
    Response(u16, Option<Rc<str>>),
    Headers(Option<Rc<str>>),
    /// A request that is being made: method, time limit.
    Builder(Rc<str>, Option<f64>),
    /// By the name of its class or sort.
    Exception(Rc<str>),
    /// A wait that has not begun.
    Sleep(f64),
    Method(Rc<V>, Rc<str>),
    Generator(Rc<RefCell<Generator>>),
}

/// A generator's activation, and where it goes on; `None` once it has ended.
#[derive(Debug)]
pub struct Generator {
    frame: Rc<Frame>,
    at: Option<(BlockId, usize)>,
}

/// An activation.
#[derive(Debug)]
pub struct Frame {
    func: FuncId,
    slots: RefCell<Vec<Option<V>>>,
    outer: Option<Rc<Frame>>,
}

/// Why a run ends before it returns.
#[derive(Debug, Clone)]
pub enum Stop {
    Raised(V),
    /// So many attempts are taken for no end.
    Enough,
    /// The process or the task ends.
    Abort,
    /// This interpreter does not know something: the test is at fault.
    Unsupported(#[allow(dead_code)] String),
}

pub type Res<T> = Result<T, Stop>;

pub fn unsupported<T>(what: impl std::fmt::Debug) -> Res<T> {
    Err(Stop::Unsupported(format!("{what:?}")))
}

pub struct Interpreter<'a> {
    module: &'a Module,
    pub world: World<'a>,
    pub is_python: bool,
    depth: u32,
}

/// Runs a module's function under a scenario, with the least and the greatest of what is drawn at random.
pub fn run(module: &Module, entry: &str, scenario: &Scenario) -> Runs {
    let one = |chance: f64| {
        let at = module.functions.iter().position(|function| function.name == entry).expect("the entry");
        let is_python = module.language == stormlint::source::Language::Python;
        let world = World::new(scenario, chance);
        let mut this = Interpreter { module, world, is_python, depth: 0 };
        let args = match is_python {
            true => vec![V::Str("http://server/item".into())],
            false => vec![V::Path("client".into()), V::Str("http://server/item".into())],
        };
        let result = this.call(FuncId(u32::try_from(at).expect("small")), None, args, Vec::new());
        let drawn = this.world.drawn;
        let mut trace: Trace = this.world.trace;
        trace.outcome = match result {
            Ok(value) => outcome(&value),
            Err(Stop::Raised(V::Exception(name))) => format!("raises {name}"),
            Err(Stop::Enough) => "endless".to_owned(),
            Err(Stop::Abort) => "raises panic".to_owned(),
            Err(other) => panic!("{other:?}\n{}", stormlint::ir::dump::dump(module)),
        };
        (trace, drawn)
    };
    let (low, drawn) = one(0.0);
    let high = if drawn { one(1.0).0 } else { low.clone() };
    Runs { low, high }
}

fn outcome(value: &V) -> String {
    match value {
        V::Variant(name, args) => match (&**name, args.first()) {
            ("Err", _) => "error".to_owned(),
            ("None", _) => "none".to_owned(),
            (_, Some(inner)) => outcome(inner),
            _ => "data".to_owned(),
        },
        V::None => "none".to_owned(),
        V::Bool(value) => value.to_string(),
        V::Str(text) if text.is_empty() => "empty".to_owned(),
        V::Seq(items) if items.borrow().is_empty() => "empty".to_owned(),
        _ => "data".to_owned(),
    }
}

pub fn some(value: V) -> V {
    V::Variant("Some".into(), Rc::new(vec![value]))
}

pub fn nothing() -> V {
    V::Variant("None".into(), Rc::default())
}

pub fn ok(value: V) -> V {
    V::Variant("Ok".into(), Rc::new(vec![value]))
}

pub fn error(value: V) -> V {
    V::Variant("Err".into(), Rc::new(vec![value]))
}

/// A number, where it is one.
pub fn number(value: &V) -> Res<f64> {
    match value {
        V::Int(number) => Ok(*number as f64),
        V::Float(number) => Ok(*number),
        V::Bool(value) => Ok(f64::from(u8::from(*value))),
        other => unsupported(("a number", other)),
    }
}

pub fn is_true(value: &V) -> bool {
    match value {
        V::None => false,
        V::Bool(value) => *value,
        V::Int(number) => *number != 0,
        V::Float(number) => *number != 0.0,
        V::Str(text) => !text.is_empty(),
        V::Seq(items) => !items.borrow().is_empty(),
        V::Response(status, _) => *status < 400,
        _ => true,
    }
}

pub fn equal(a: &V, b: &V) -> bool {
    match (a, b) {
        (V::Str(a), V::Str(b)) => a == b,
        (V::None, V::None) => true,
        (V::Variant(a, x), V::Variant(b, y)) => a == b && x.iter().zip(y.iter()).all(|(x, y)| equal(x, y)),
        _ => matches!((number(a), number(b)), (Ok(a), Ok(b)) if a == b),
    }
}

impl<'a> Interpreter<'a> {
    pub fn call(&mut self, id: FuncId, outer: Option<Rc<Frame>>, args: Vec<V>, named: Vec<(String, V)>) -> Res<V> {
        let module = self.module;
        let function = module.function(id).expect("a function");
        if self.depth > 200 {
            return Err(Stop::Enough);
        }
        let frame = Rc::new(Frame { func: id, slots: RefCell::new(vec![None; function.slots.len()]), outer });
        let mut args = args.into_iter();
        for param in &function.params {
            let given = named.iter().find(|(name, _)| *name == param.name).map(|(_, value)| value.clone());
            let value = match (given, args.next()) {
                (Some(value), _) | (None, Some(value)) => value,
                (None, None) => match param.default {
                    Some(default) => self.call(default, None, Vec::new(), Vec::new())?,
                    None => return unsupported(("no argument", &function.name, &param.name)),
                },
            };
            self.write(&frame, param.slot, value);
        }
        if function.is_generator {
            return Ok(V::Generator(Rc::new(RefCell::new(Generator { frame, at: Some((BlockId(0), 0)) }))));
        }
        self.depth += 1;
        let result = self.run(function, &frame, &mut Some((BlockId(0), 0)));
        self.depth -= 1;
        result
    }

    /// What comes next in an iterator.
    pub fn next(&mut self, iterator: &V) -> Res<Option<V>> {
        match iterator {
            V::Iter(items) => Ok(items.borrow_mut().pop()),
            V::Generator(generator) => {
                let mut generator = generator.borrow_mut();
                let frame = generator.frame.clone();
                let function = self.module.function(frame.func).expect("a function");
                let value = self.run(function, &frame, &mut generator.at)?;
                Ok(generator.at.map(|_| value))
            }
            other => unsupported(("an iterator", other)),
        }
    }

    fn write(&self, frame: &Rc<Frame>, slot: Slot, value: V) {
        let info = self.module.function(frame.func).and_then(|function| function.slot(slot));
        match (info.and_then(|info| info.captured), &frame.outer) {
            (Some(outer_slot), Some(outer)) => self.write(outer, outer_slot, value),
            _ => frame.slots.borrow_mut()[slot.0 as usize] = Some(value),
        }
    }

    fn read(&self, frame: &Rc<Frame>, slot: Slot) -> Res<V> {
        let info = self.module.function(frame.func).and_then(|function| function.slot(slot));
        match (info.and_then(|info| info.captured), &frame.outer) {
            (Some(outer_slot), Some(outer)) => self.read(outer, outer_slot),
            _ => match frame.slots.borrow()[slot.0 as usize].clone() {
                Some(value) => Ok(value),
                None => unsupported(("not set", info)),
            },
        }
    }

    /// Runs on from a place, to the end or the next item; then `from` is where that goes on.
    fn run(&mut self, function: &'a Function, frame: &Rc<Frame>, from: &mut Option<(BlockId, usize)>) -> Res<V> {
        let Some((mut at, mut first)) = from.take() else { return Ok(V::None) };
        let mut caught: Option<V> = None;
        for _ in 0..100_000 {
            let block = function.block(at).expect("a block");
            let step = self.block(function, frame, (at, std::mem::take(&mut first)), &mut caught);
            at = match step {
                Ok(Next::To(next)) => next,
                Ok(Next::Gives(value)) => return Ok(value),
                Ok(Next::Yields(value, after)) => {
                    *from = Some((at, after));
                    return Ok(value);
                }
                Err(Stop::Raised(exception)) => match block.unwind {
                    Some(handler) => {
                        caught = Some(exception);
                        handler
                    }
                    None => return Err(Stop::Raised(exception)),
                },
                Err(stop) => return Err(stop),
            };
        }
        Err(Stop::Enough)
    }

    fn block(
        &mut self,
        function: &'a Function,
        frame: &Rc<Frame>,
        (at, first): (BlockId, usize),
        caught: &mut Option<V>,
    ) -> Res<Next> {
        let block = function.block(at).expect("a block");
        for (number, Instr { dst, op, .. }) in block.instrs.iter().enumerate().skip(first) {
            let value = match op {
                Op::Yield(item) => {
                    if let Some(dst) = dst {
                        self.write(frame, *dst, V::None);
                    }
                    let item = item.map_or(Ok(V::None), |item| self.read(frame, item))?;
                    return Ok(Next::Yields(item, number + 1));
                }
                Op::Catch => caught.clone().unwrap_or(V::None),
                op => self.op(frame, op)?,
            };
            if let Some(dst) = dst {
                self.write(frame, *dst, value);
            }
        }
        Ok(match &block.term {
            Term::Goto(to) => Next::To(*to),
            Term::Branch { cond, then, otherwise } => {
                Next::To(if is_true(&self.read(frame, *cond)?) { *then } else { *otherwise })
            }
            Term::Next { iter, item, body, done } => {
                let items = self.read(frame, *iter)?;
                match self.next(&items)? {
                    Some(value) => {
                        self.write(frame, *item, value);
                        Next::To(*body)
                    }
                    None => Next::To(*done),
                }
            }
            Term::Return(None) => Next::Gives(V::None),
            Term::Return(Some(slot)) | Term::Propagate(slot) => Next::Gives(self.read(frame, *slot)?),
            Term::Raise(Some(slot)) => return Err(Stop::Raised(self.read(frame, *slot)?)),
            Term::Raise(None) => return Err(Stop::Raised(caught.clone().unwrap_or(V::None))),
            Term::Abort => return Err(Stop::Abort),
        })
    }

    fn op(&mut self, frame: &Rc<Frame>, op: &Op) -> Res<V> {
        Ok(match op {
            Op::Const(value) => constant(value),
            Op::Copy(slot) | Op::Unary(UnOp::Same | UnOp::Plus, slot) => self.read(frame, *slot)?,
            Op::Path(path) => world::path(path),
            Op::Func(id) => V::Func(*id, Some(frame.clone())),
            Op::Class(id) => V::Class(id.0),
            Op::Global(id) => {
                let Some(Global { value: Some(value), .. }) = self.module.global(*id) else {
                    return unsupported("a global");
                };
                self.call(*value, None, Vec::new(), Vec::new())?
            }
            Op::Attr(object, name) => {
                let object = self.read(frame, *object)?;
                self.attribute(object, name)?
            }
            Op::Index(object, index) => {
                let (V::Seq(items), at) = (self.read(frame, *object)?, number(&self.read(frame, *index)?)?) else {
                    return unsupported("an index");
                };
                let item = items.borrow().get(at as usize).cloned();
                item.map_or_else(|| unsupported(("beyond the end", at)), Ok)?
            }
            Op::Unary(UnOp::Not, slot) => V::Bool(!is_true(&self.read(frame, *slot)?)),
            Op::Unary(UnOp::Neg, slot) => V::Float(-number(&self.read(frame, *slot)?)?),
            Op::Binary(op, a, b) => binary(*op, &self.read(frame, *a)?, &self.read(frame, *b)?)?,
            Op::Call { callee, args } => {
                let mut given = Vec::new();
                let mut named = Vec::new();
                for arg in args {
                    let value = self.read(frame, arg.value)?;
                    match &arg.name {
                        Some(name) => named.push((name.clone(), value)),
                        None => given.push(value),
                    }
                }
                match callee {
                    Callee::Value(slot) => {
                        let callee = self.read(frame, *slot)?;
                        self.call_value(callee, given, named)?
                    }
                    Callee::Method { receiver, name } => {
                        let receiver = self.read(frame, *receiver)?;
                        self.method(receiver, name, given, named)?
                    }
                    Callee::Super { .. } => return unsupported(op),
                }
            }
            Op::Await(slot) => match self.read(frame, *slot)? {
                V::Sleep(seconds) => {
                    self.world.sleep(seconds);
                    V::None
                }
                value => value,
            },
            Op::Collection(_, slots) => {
                let items: Res<Vec<V>> = slots.iter().map(|slot| self.read(frame, *slot)).collect();
                V::Seq(Rc::new(RefCell::new(items?)))
            }
            Op::Format(_) => V::Str("text".into()),
            Op::Variant { name, args, .. } => {
                let args: Res<Vec<V>> = args.iter().map(|slot| self.read(frame, *slot)).collect();
                V::Variant(name.as_str().into(), Rc::new(args?))
            }
            Op::Matches(slot, pattern) => V::Bool(self.fits(&self.read(frame, *slot)?, pattern)?),
            Op::Bind(slot, pattern) => {
                let value = self.read(frame, *slot)?;
                self.bind(frame, &value, pattern)?;
                V::None
            }
            Op::IsSuccess(slot) => match self.read(frame, *slot)? {
                V::Variant(name, _) => V::Bool(&*name == "Ok" || &*name == "Some"),
                other => return unsupported(("success", other)),
            },
            Op::Payload(slot, _) => match self.read(frame, *slot)? {
                V::Variant(_, args) => args.first().cloned().unwrap_or(V::None),
                other => return unsupported(("payload", other)),
            },
            Op::IsException(exception, class) => {
                let (exception, class) = (self.read(frame, *exception)?, self.read(frame, *class)?);
                V::Bool(world::is_exception(&exception, &class)?)
            }
            Op::Iter(slot, _) => match self.read(frame, *slot)? {
                V::Seq(items) => V::Iter(Rc::new(RefCell::new(items.borrow().iter().rev().cloned().collect()))),
                iterator @ (V::Iter(_) | V::Generator(_)) => iterator,
                other => return unsupported(("iterated", other)),
            },
            other => return unsupported(other),
        })
    }

    fn fits(&self, value: &V, pattern: &Pattern) -> Res<bool> {
        Ok(match pattern {
            Pattern::Any | Pattern::Bind(_, None) => true,
            Pattern::Bind(_, Some(inner)) => self.fits(value, inner)?,
            Pattern::Const(wanted) => equal(value, &constant(wanted)),
            Pattern::Range { low, high, inclusive } => {
                let this = number(value)?;
                let end = |end: &Option<Const>| end.as_ref().map(|end| number(&constant(end))).transpose();
                let (low, high) = (end(low)?, end(high)?);
                low.is_none_or(|low| low <= this) && high.is_none_or(|high| this < high || *inclusive && this == high)
            }
            Pattern::Path(path) if path == "None" => matches!(value, V::Variant(name, _) if &**name == "None"),
            Pattern::Path(path) => equal(value, &world::path(path)),
            Pattern::Variant { name, args, .. } => match value {
                V::Variant(real, payload) if **real == **name => {
                    for (value, pattern) in payload.iter().zip(args) {
                        if !self.fits(value, pattern)? {
                            return Ok(false);
                        }
                    }
                    true
                }
                V::Variant(..) => false,
                other => return unsupported(("matched", other)),
            },
            Pattern::Or(patterns) => {
                for pattern in patterns {
                    if self.fits(value, pattern)? {
                        return Ok(true);
                    }
                }
                false
            }
            other => return unsupported(other),
        })
    }

    fn bind(&self, frame: &Rc<Frame>, value: &V, pattern: &Pattern) -> Res<()> {
        match (pattern, value) {
            (Pattern::Bind(slot, inner), _) => {
                self.write(frame, *slot, value.clone());
                inner.as_ref().map_or(Ok(()), |inner| self.bind(frame, value, inner))
            }
            (Pattern::Variant { args, .. }, V::Variant(_, payload)) => {
                payload.iter().zip(args).try_for_each(|(value, pattern)| self.bind(frame, value, pattern))
            }
            _ => Ok(()),
        }
    }

    /// An attribute of a class of the program.
    pub fn class_attribute(&mut self, class: u32, name: &str) -> Res<V> {
        let class = &self.module.classes[class as usize];
        match class.fields.iter().find(|field| field.name == name).and_then(|field| field.value) {
            Some(value) => self.call(value, None, Vec::new(), Vec::new()),
            None => unsupported(("attribute", &class.name, name)),
        }
    }
}

/// Where a block leads.
enum Next {
    To(BlockId),
    Gives(V),
    /// The next item, and where it goes on in this block.
    Yields(V, usize),
}

fn constant(value: &Const) -> V {
    match value {
        Const::None | Const::Ellipsis => V::None,
        Const::Bool(value) => V::Bool(*value),
        Const::Int(number) => V::Int(i128::from(*number)),
        Const::Float(number) => V::Float(*number),
        Const::Str(text) => V::Str(text.as_str().into()),
    }
}

fn binary(op: BinOp, a: &V, b: &V) -> Res<V> {
    let contains = |items: &V, item: &V| match items {
        V::Seq(items) => Ok(items.borrow().iter().any(|one| equal(one, item))),
        other => unsupported(("in", other)),
    };
    let is_none = |value: &V| matches!(value, V::None);
    match op {
        BinOp::Eq => return Ok(V::Bool(equal(a, b))),
        BinOp::Ne => return Ok(V::Bool(!equal(a, b))),
        BinOp::Is => return Ok(V::Bool(is_none(a) == is_none(b))),
        BinOp::IsNot => return Ok(V::Bool(is_none(a) != is_none(b))),
        BinOp::In => return Ok(V::Bool(contains(b, a)?)),
        BinOp::NotIn => return Ok(V::Bool(!contains(b, a)?)),
        _ => {}
    }
    if let (V::Int(x), V::Int(y)) = (a, b) {
        let (x, y) = (*x, *y);
        let power = || u32::try_from(y).ok();
        let whole = match op {
            BinOp::Add => Some(x + y),
            BinOp::Sub => Some(x - y),
            BinOp::Mul => x.checked_mul(y),
            BinOp::FloorDiv => Some(x.div_euclid(y)),
            BinOp::Rem => Some(x.rem_euclid(y)),
            BinOp::Pow => power().and_then(|y| x.checked_pow(y)),
            BinOp::Shl => power().filter(|y| *y < 100).map(|y| x << y),
            BinOp::Shr => power().map(|y| x >> y),
            // Only statuses are divided in a program in Rust.
            BinOp::Div if y == 100 => Some(x / y),
            _ => None,
        };
        if let Some(whole) = whole {
            return Ok(V::Int(whole));
        }
    }
    let (x, y) = (number(a)?, number(b)?);
    Ok(match op {
        BinOp::Add => V::Float(x + y),
        BinOp::Sub => V::Float(x - y),
        BinOp::Mul => V::Float(x * y),
        BinOp::Div => V::Float(x / y),
        BinOp::Pow => V::Float(x.powf(y)),
        BinOp::Shl => V::Float(x * y.exp2()),
        BinOp::Lt => V::Bool(x < y),
        BinOp::Le => V::Bool(x <= y),
        BinOp::Gt => V::Bool(x > y),
        BinOp::Ge => V::Bool(x >= y),
        other => return unsupported(other),
    })
}
