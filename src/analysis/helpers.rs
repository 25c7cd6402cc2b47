//! Which functions call again what they are given: retry helpers of the project's own, told from the graphs alone.
//!
//! A function that calls a parameter in a loop is one, and so is a closure that calls what the function around it was
//! given: a decorator's wrapper. Those that hand on what they are given to one of them are known too, so that it is
//! seen where the operation is brought in, however many functions it goes through.

use std::sync::OnceLock;

use rustc_hash::{FxHashMap, FxHashSet};

use super::loops::loop_map;
use super::project::{Entity, Project};
use super::reach::{Link, link, named, own_name};
use super::value::FuncRef;
use crate::ir::{BlockId, Callee, FuncId, Function, Instr, Module, Op, Slot, UnOp};
use crate::models::Kind;
use crate::source::Span;

/// How far a value is followed back through copies and closures.
const DEPTH: u32 = 6;

/// The retry helpers of a project.
#[derive(Debug, Default)]
pub struct Helpers {
    index: OnceLock<Index>,
}

#[derive(Debug, Default)]
struct Index {
    loops: FxHashMap<FuncRef, Vec<Repeats>>,
    /// They, those around them, and those that hand on to them what they are given.
    hand_on: FxHashSet<FuncRef>,
    /// The names under which they are called.
    names: FxHashSet<Box<str>>,
    /// Those of them that are methods.
    methods: FxHashSet<Box<str>>,
}

/// A loop in which a function calls what it is given.
#[derive(Debug)]
struct Repeats {
    head: BlockId,
    /// The calls.
    calls: FxHashSet<Span>,
}

impl<'a> Project<'a> {
    fn helper_index(&self) -> &Index {
        self.helpers().index.get_or_init(|| index(self))
    }

    /// Whether a function has, with this head, a loop in which it calls what it is given.
    pub(super) fn repeats_given(&self, func: FuncRef, head: BlockId) -> bool {
        let loops = self.helper_index().loops.get(&func);
        loops.is_some_and(|loops| loops.iter().any(|repeats| repeats.head == head))
    }

    /// Whether a call in such a loop is one of what was given.
    pub(super) fn is_given_call(&self, func: FuncRef, head: BlockId, call: Span) -> bool {
        let loops = self.helper_index().loops.get(&func).into_iter().flatten();
        loops.filter(|repeats| repeats.head == head).any(|repeats| repeats.calls.contains(&call))
    }

    /// Whether a function is such a helper, or hands on to one what it is given.
    pub(super) fn hands_on(&self, func: FuncRef) -> bool {
        self.helper_index().hand_on.contains(&func)
    }

    /// Whether a function may bring something in that a helper calls again.
    pub(super) fn may_bring(&self, file: u32, function: &'a Function) -> bool {
        let index = self.helper_index();
        let Some(module) = self.module(file).filter(|_| !index.loops.is_empty()) else { return false };
        let instrs = || function.blocks.iter().flat_map(|block| &block.instrs);
        let is_helper = |op: &Op| self.is_helper(file, module, op);
        if !instrs().any(|instr| is_helper(&instr.op) == Some(true)) {
            return false;
        }
        let made = made_by(function);
        instrs().any(|instr| {
            let called = match &instr.op {
                Op::Call { callee: Callee::Value(slot), .. } => {
                    made.get(slot.0 as usize).copied().flatten().and_then(is_helper)
                }
                op => is_helper(op),
            };
            // What has no name of its own may be a helper that another call gave.
            called != Some(false) && self.brings(file, function, &made, instr)
        })
    }

    /// Whether a call is given something that may be a callable which leaves the process.
    fn brings(&self, file: u32, function: &'a Function, made: &[Option<&'a Op>], instr: &Instr) -> bool {
        let Op::Call { args, .. } = &instr.op else { return false };
        args.iter().any(|arg| self.may_be_called(file, function, made, arg.value, DEPTH))
    }

    fn may_be_called(
        &self,
        file: u32,
        function: &'a Function,
        made: &[Option<&'a Op>],
        slot: Slot,
        depth: u32,
    ) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        let Some(op) = made.get(slot.0 as usize).copied().flatten() else { return false };
        match op {
            Op::Copy(from) | Op::Unary(UnOp::Same, from) => self.may_be_called(file, function, made, *from, depth),
            Op::Func(_) | Op::Path(_) => self.leads_out(file, function, op).is_some(),
            Op::Attr(_, name) => self.may_be_sending_method(file, name),
            // A callable that is made of another one.
            Op::Call { args, .. } => args.iter().any(|arg| self.may_be_called(file, function, made, arg.value, depth)),
            _ => false,
        }
    }

    /// Whether what a decorator's expression names may be a helper.
    pub(super) fn is_helper_decorator(&self, decorator: FuncRef) -> bool {
        self.names_helper(decorator, 3)
    }

    fn names_helper(&self, func: FuncRef, depth: u32) -> bool {
        let index = self.helper_index();
        let Some((depth, module)) = depth.checked_sub(1).zip(self.module(func.file)) else { return false };
        let Some(function) = module.function(func.func).filter(|_| !index.loops.is_empty()) else { return false };
        let mut instrs = function.blocks.iter().flat_map(|block| &block.instrs);
        instrs.any(|instr| match &instr.op {
            // A variable that holds the decorator.
            Op::Global(id) => {
                let value = module.global(*id).and_then(|global| global.value);
                value.is_some_and(|value| self.names_helper(FuncRef { func: value, ..func }, depth))
            }
            Op::Path(path) => match self.entity(path) {
                Some(Entity::Global(file, id)) => {
                    let value = self.module(file).and_then(|module| module.global(id)).and_then(|global| global.value);
                    value.is_some_and(|value| self.names_helper(FuncRef { file, func: value }, depth))
                }
                Some(_) => self.is_helper(func.file, module, &instr.op) == Some(true),
                None => false,
            },
            op => self.is_helper(func.file, module, op) == Some(true),
        })
    }

    /// Whether what an instruction names is a helper, or hands on to one; not known where it names nothing.
    fn is_helper(&self, file: u32, module: &'a Module, op: &'a Op) -> Option<bool> {
        let index = self.helper_index();
        match op {
            Op::Call { callee: Callee::Method { name, .. } | Callee::Super { name }, .. } => {
                Some(index.methods.contains(name.as_str()))
            }
            op => match self.func_of(file, op) {
                Some(func) => Some(self.hands_on(func)),
                None => named(module, op).map(|name| index.names.contains(name)),
            },
        }
    }
}

fn index(project: &Project<'_>) -> Index {
    let mut index = Index::default();
    let mut handing: FxHashMap<Link<'_>, Vec<FuncRef>> = FxHashMap::default();
    let mut work: Vec<FuncRef> = Vec::new();
    for (file, module) in project.modules.iter().enumerate() {
        let Ok(file) = u32::try_from(file) else { break };
        let closures = calling_captured(module);
        for (id, function) in module.functions.iter().enumerate() {
            let Ok(id) = u32::try_from(id) else { break };
            if function.is_test || (function.params.is_empty() && function.parent.is_none()) {
                continue;
            }
            let func = FuncRef { file, func: FuncId(id) };
            let look = Look::new(project, file, module, function, &closures);
            let loops = look.loops();
            if !loops.is_empty() {
                index.loops.insert(func, loops);
                work.push(func);
            }
            for link in look.handed_to() {
                handing.entry(link).or_default().push(func);
            }
        }
    }
    while let Some(func) = work.pop() {
        let mut at = Some(func.func);
        let Some(module) = project.module(func.file) else { continue };
        while let Some(function) = at.and_then(|id| module.function(id)) {
            let of = FuncRef { func: at.unwrap_or(func.func), ..func };
            index.hand_on.insert(of);
            let class = function.class.and_then(|class| module.class(class));
            let names = [Some(own_name(module, function)), class.map(|class| class.name.as_str())];
            let names = names.into_iter().flatten();
            if function.class.is_some() {
                index.methods.insert(function.name.as_str().into());
            }
            index.names.extend(names.clone().map(Box::from));
            for link in names.map(Link::Name).chain([Link::Func(of)]) {
                let callers = handing.remove(&link).unwrap_or_default();
                work.extend(callers.into_iter().filter(|caller| !index.hand_on.contains(caller)));
            }
            at = function.parent;
        }
    }
    index
}

/// A function as it is looked at.
struct Look<'p, 'a> {
    project: &'p Project<'a>,
    file: u32,
    module: &'a Module,
    function: &'a Function,
    /// Which functions of the module call what one around them was given.
    closures: &'p [bool],
    /// What first gives each slot its value.
    made: Vec<Option<&'a Op>>,
}

impl<'p, 'a> Look<'p, 'a> {
    fn new(
        project: &'p Project<'a>,
        file: u32,
        module: &'a Module,
        function: &'a Function,
        closures: &'p [bool],
    ) -> Self {
        Look { project, file, module, function, closures, made: made_by(function) }
    }

    fn made(&self, slot: Slot) -> Option<&'a Op> {
        self.made.get(slot.0 as usize).copied().flatten()
    }

    /// Whether a slot holds what the function, or one around it, was given.
    fn is_given(&self, slot: Slot, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        let params = &self.function.params;
        if let Some(param) = params.iter().find(|param| param.slot == slot) {
            return !param.is_self && !param.is_rest;
        }
        if self.function.slot(slot).is_some_and(|info| info.captured.is_some()) {
            return is_captured_given(self.module, self.function, slot, depth);
        }
        match self.made(slot) {
            Some(Op::Copy(from) | Op::Unary(UnOp::Same, from)) => self.is_given(*from, depth),
            Some(Op::Func(id)) => self.closures.get(id.0 as usize) == Some(&true),
            // A field that holds a callable.
            Some(Op::Attr(object, _)) => params.iter().any(|param| param.is_self && param.slot == *object),
            // A part of its arguments is given beforehand.
            Some(Op::Call { callee: Callee::Value(callee), args }) => {
                let partial = matches!(self.made(*callee), Some(Op::Path(path)) if path.ends_with(".partial"));
                partial && args.first().is_some_and(|arg| self.is_given(arg.value, depth))
            }
            _ => false,
        }
    }

    /// Whether an instruction calls what was given.
    fn calls_given(&self, op: &Op) -> bool {
        let Op::Call { callee, args } = op else { return false };
        match callee {
            Callee::Value(slot) => self.is_given(*slot, DEPTH) || self.runs(*slot, args),
            Callee::Method { receiver, name } => {
                let this = self.function.params.iter().any(|param| param.is_self && param.slot == *receiver);
                this && self.is_given_field(name)
            }
            Callee::Super { .. } => false,
        }
    }

    /// Whether what was given is handed to what runs it: an executor, a time limit.
    fn runs(&self, callee: Slot, args: &[crate::ir::Arg]) -> bool {
        let Some(Op::Path(path)) = self.made(callee) else { return false };
        let runs = |kind| matches!(kind, Kind::Runs | Kind::TimeLimit);
        self.project.known(self.file, path).is_some_and(|entry| runs(entry.kind))
            && args.iter().any(|arg| self.is_given(arg.value, DEPTH))
    }

    /// Whether a class has no such method, but keeps under that name what its constructor was given.
    fn is_given_field(&self, name: &str) -> bool {
        let Some(class) = self.function.class.and_then(|class| self.module.class(class)) else { return false };
        let mut methods = class.methods.iter().filter_map(|id| self.module.function(*id));
        if methods.clone().any(|method| method.name == name) {
            return false;
        }
        methods.any(|method| {
            let kept = |instr: &Instr| match &instr.op {
                Op::SetAttr(_, attr, value) if attr == name => method.params.iter().any(|param| param.slot == *value),
                _ => false,
            };
            method.name == "__init__" && method.blocks.iter().flat_map(|block| &block.instrs).any(kept)
        })
    }

    /// The loops in which what was given is called.
    fn loops(&self) -> Vec<Repeats> {
        let instrs = || self.function.blocks.iter().flat_map(|block| &block.instrs);
        let closure = |op: &Op| matches!(op, Op::Func(id) if self.closures.get(id.0 as usize) == Some(&true));
        let calls = |instr: &&Instr| self.calls_given(&instr.op) || closure(&instr.op);
        if self.function.loops.is_empty() || !instrs().any(|instr| calls(&instr)) {
            return Vec::new();
        }
        let mut found = Vec::new();
        for (head, inside) in loop_map(self.function).loops {
            let blocks = self.function.blocks.iter().enumerate();
            let within: Vec<&Instr> =
                blocks.filter(|(at, _)| inside.get(*at) == Some(&true)).flat_map(|(_, block)| &block.instrs).collect();
            let mut spans: FxHashSet<Span> = FxHashSet::default();
            let mut slots: FxHashSet<Slot> = FxHashSet::default();
            // What is called, and what awaits or hands on what that gave.
            loop {
                let before = spans.len();
                for instr in &within {
                    let goes_on = match &instr.op {
                        Op::Await(slot) | Op::Copy(slot) | Op::Unary(UnOp::Same, slot) => slots.contains(slot),
                        Op::Call { callee: Callee::Value(callee), args } => {
                            slots.contains(callee) || args.iter().any(|arg| slots.contains(&arg.value))
                        }
                        _ => false,
                    };
                    if (goes_on || calls(instr)) && spans.insert(instr.span) {
                        slots.extend(instr.dst);
                    }
                }
                if spans.len() == before {
                    break;
                }
            }
            let called = within.iter().any(|instr| matches!(instr.op, Op::Call { .. }) && spans.contains(&instr.span));
            if called {
                found.push(Repeats { head, calls: spans });
            }
        }
        found
    }

    /// What is given, as an argument, what was given.
    fn handed_to(&self) -> Vec<Link<'a>> {
        let mut links = Vec::new();
        for instr in self.function.blocks.iter().flat_map(|block| &block.instrs) {
            let Op::Call { callee, args } = &instr.op else { continue };
            if !args.iter().any(|arg| self.is_given(arg.value, DEPTH)) {
                continue;
            }
            let op = match callee {
                Callee::Value(slot) => self.made(*slot),
                Callee::Method { .. } | Callee::Super { .. } => Some(&instr.op),
            };
            links.extend(op.and_then(|op| link(self.project, self.file, self.module, op)));
        }
        links
    }
}

/// What first gives each slot of a function its value.
pub(super) fn made_by(function: &Function) -> Vec<Option<&Op>> {
    let mut made: Vec<Option<&Op>> = vec![None; function.slots.len()];
    for instr in function.blocks.iter().flat_map(|block| &block.instrs) {
        if let Some(first) = instr.dst.and_then(|dst| made.get_mut(dst.0 as usize)) {
            first.get_or_insert(&instr.op);
        }
    }
    made
}

/// Whether a variable of a closure is a parameter of a function around it.
fn is_captured_given(module: &Module, function: &Function, slot: Slot, depth: u32) -> bool {
    let (mut function, mut slot) = (function, slot);
    for _ in 0..depth {
        let Some(outer) = function.slot(slot).and_then(|info| info.captured) else { return false };
        let Some(parent) = function.parent.and_then(|id| module.function(id)) else { return false };
        if let Some(param) = parent.params.iter().find(|param| param.slot == outer) {
            // A decorator that stands in a class gets the function where a method gets its object.
            return !param.is_rest;
        }
        (function, slot) = (parent, outer);
    }
    false
}

/// Which functions call what a function around them was given, themselves or by a function that is made in them.
fn calling_captured(module: &Module) -> Vec<bool> {
    let mut calling = vec![false; module.functions.len()];
    let mut made_in: Vec<Vec<usize>> = vec![Vec::new(); module.functions.len()];
    let mut work = Vec::new();
    for (at, function) in module.functions.iter().enumerate() {
        let mut calls = false;
        for instr in function.blocks.iter().flat_map(|block| &block.instrs) {
            match &instr.op {
                Op::Call { callee: Callee::Value(slot), .. } => {
                    calls = calls || is_captured_given(module, function, *slot, DEPTH);
                }
                Op::Func(inner) => made_in.get_mut(inner.0 as usize).into_iter().for_each(|list| list.push(at)),
                _ => {}
            }
        }
        if calls {
            work.push(at);
        }
    }
    while let Some(at) = work.pop() {
        if let Some(known) = calling.get_mut(at).filter(|known| !**known) {
            *known = true;
            work.extend(made_in.get_mut(at).map(std::mem::take).unwrap_or_default());
        }
    }
    calling
}
