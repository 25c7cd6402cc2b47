//! Tasks that run at once: what several of them come to is repeated by each of them on its own account.
//!
//! Told from the graphs alone, once a project: calls that models know to let several callables or futures run at once,
//! the functions that these are, and whatever those call. Where it is not certain that there are several tasks (a
//! call outside of any loop, one that is awaited in its own turn), nothing is said.

use std::sync::OnceLock;

use rustc_hash::{FxHashMap, FxHashSet};

use super::loops::{LoopMap, loop_map};
use super::policy::{Link, Tasks};
use super::project::{Entity, Project};
use super::reach::named;
use super::value::{ClassRef, FuncRef};
use crate::ir::{
    Arg, BlockId, Callee, Const, Function, FunctionKind, GlobalId, Instr, LoopKind, Module, Op, Pattern, Slot, Term,
    UnOp,
};
use crate::models::{Entry, Models, ParamRef};

/// Calls are followed so deep from a task.
const DEPTH: u32 = 6;
/// As many slots are gone through for what a call lets run.
const MOST_SLOTS: usize = 300;
/// A value is followed so far back.
const BACK: u32 = 8;
/// As many slots are asked for their type.
const MOST_STEPS: usize = 60;
/// As many calls of a function are gone through for what they let run.
const MOST_CALLS: usize = 50;

/// The functions that tasks which run at once come to.
#[derive(Debug, Default)]
pub struct Crowds {
    known: OnceLock<FxHashMap<FuncRef, Tasks>>,
}

impl Project<'_> {
    /// The tasks that run at once and come to a function.
    pub(super) fn tasks_of(&self, func: FuncRef) -> Option<Tasks> {
        self.crowds().known.get_or_init(|| crowds(self)).get(&func).copied()
    }
}

fn crowds(project: &Project<'_>) -> FxHashMap<FuncRef, Tasks> {
    let mut known = FxHashMap::default();
    for (file, module) in project.modules.iter().enumerate() {
        let Ok(file) = u32::try_from(file) else { break };
        let Some(models) = project.models(file) else { continue };
        for function in module.functions.iter().filter(|function| !function.is_test) {
            let names = |instr: &Instr| named(module, &instr.op).is_some_and(|name| models.is_crowd_name(name));
            if !function.blocks.iter().flat_map(|block| &block.instrs).any(names) {
                continue;
            }
            let look = Look::new(project, models, file, module, function);
            for (func, tasks) in look.tasks() {
                spread(project, func, tasks, DEPTH, &mut known);
            }
        }
    }
    known
}

/// Notes tasks with what they call, to the end.
fn spread(project: &Project<'_>, func: FuncRef, tasks: Tasks, depth: u32, known: &mut FxHashMap<FuncRef, Tasks>) {
    let Some(depth) = depth.checked_sub(1).filter(|_| !known.contains_key(&func)) else { return };
    let Some((module, function)) = project.module(func.file).zip(project.function(func)) else { return };
    let Some(models) = project.models(func.file) else { return };
    known.insert(func, tasks);
    let look = Look::new(project, models, func.file, module, function);
    for instr in function.blocks.iter().flat_map(|block| &block.instrs) {
        if let Some(called) = look.function_of(&instr.op) {
            spread(project, called, tasks, depth, known);
        }
    }
}

/// A callable or future that a call lets run.
#[derive(Debug, Clone, Copy)]
struct Given {
    func: FuncRef,
    /// The block in which it is made.
    block: usize,
    /// One for each item of something.
    each: bool,
}

/// What is known of a function by its graph.
struct Look<'p, 'a> {
    project: &'p Project<'a>,
    models: &'a Models,
    file: u32,
    module: &'a Module,
    function: &'a Function,
    /// What gives each slot its value, with the blocks.
    made: FxHashMap<Slot, Vec<(usize, &'a Op)>>,
    /// What the methods that are called on a slot are given.
    asked: FxHashMap<Slot, Vec<&'a [Arg]>>,
}

impl<'p, 'a> Look<'p, 'a> {
    fn new(
        project: &'p Project<'a>,
        models: &'a Models,
        file: u32,
        module: &'a Module,
        function: &'a Function,
    ) -> Self {
        let (mut made, mut asked) = (FxHashMap::default(), FxHashMap::default());
        for (block, instr) in instrs(function) {
            let mut makes = |slot: Slot, op| made.entry(slot).or_insert_with(Vec::new).push((block, op));
            match &instr.op {
                Op::Bind(_, Pattern::Bind(slot, None)) => makes(*slot, &instr.op),
                op => instr.dst.into_iter().for_each(|slot| makes(slot, op)),
            }
            if let Op::Call { callee: Callee::Method { receiver, .. }, args } = &instr.op {
                asked.entry(*receiver).or_insert_with(Vec::new).push(args.as_slice());
            }
        }
        Look { project, models, file, module, function, made, asked }
    }

    fn made(&self, slot: Slot) -> &[(usize, &'a Op)] {
        self.made.get(&slot).map_or(&[], Vec::as_slice)
    }

    /// The one thing that gives a slot its value, copies gone through.
    fn only(&self, slot: Slot) -> Option<&'a Op> {
        let mut slot = slot;
        for _ in 0..BACK {
            match self.made(slot) {
                [(_, Op::Copy(from) | Op::Unary(UnOp::Same, from) | Op::Bind(from, _))] => slot = *from,
                [(_, op)] => return Some(op),
                _ => return None,
            }
        }
        None
    }

    /// The tasks that the function lets run at once, with what they begin with.
    fn tasks(&self) -> Vec<(FuncRef, Tasks)> {
        let mut found = Vec::new();
        let (mut loops, mut calls) = (None, 0);
        for (block, instr) in instrs(self.function) {
            let Op::Call { callee, args } = &instr.op else { continue };
            let Some((entry, receiver)) = self.crowd(callee) else { continue };
            if entry.lazy {
                continue;
            }
            calls += 1;
            if calls > MOST_CALLS {
                break;
            }
            let limit = entry.amount.as_ref().and_then(|param| self.argument(args, param));
            let limit = limit.or_else(|| self.limit_of(receiver?));
            let loops = loops.get_or_insert_with(|| loop_map(self.function));
            let own = receiver.filter(|_| entry.of_receiver);
            let mut given: Vec<(Slot, bool)> = own.map(|slot| (slot, false)).into_iter().collect();
            given.extend(args.iter().map(|arg| (arg.value, entry.each)));
            for task in self.given(given) {
                let count = match task.each {
                    true => Some(args.iter().find_map(|arg| self.length(arg.value, BACK))),
                    false => self.turns(loops, task.block, block, instr.dst, entry),
                };
                let Some(count) = count else { continue };
                let count = match (count, limit) {
                    (Some(count), Some(limit)) => Some(count.min(limit)),
                    (count, limit) => count.or(limit),
                };
                if count.is_none_or(|count| count > 1) {
                    found.push((task.func, Tasks { at: Link { file: self.file, span: instr.span }, count }));
                }
            }
        }
        found
    }

    /// What a call lets run at once, if it does, and the receiver of a method.
    fn crowd(&self, callee: &Callee) -> Option<(&'a Entry, Option<Slot>)> {
        match callee {
            Callee::Value(slot) => match self.only(*slot)? {
                Op::Path(path) => Some((self.models.crowd(path)?, None)),
                _ => None,
            },
            Callee::Method { receiver, name } => {
                let is_of = |_: &Entry, ty: &str| self.is_of(*receiver, ty, &mut FxHashSet::default());
                Some((self.models.crowd_method(name, is_of)?, Some(*receiver)))
            }
            Callee::Super { .. } => None,
        }
    }

    /// Whether a slot holds what a type, or what makes it, is called by.
    fn is_of(&self, slot: Slot, ty: &str, seen: &mut FxHashSet<Slot>) -> bool {
        if seen.len() > MOST_STEPS || !seen.insert(slot) {
            return ty == "*";
        }
        let declared = self.function.slot(slot).and_then(|info| info.ty.as_ref());
        if ty == "*" || declared.is_some_and(|declared| declared.path == ty) {
            return true;
        }
        self.made(slot).iter().any(|(_, op)| match op {
            Op::Copy(from) | Op::Unary(_, from) | Op::Bind(from, _) | Op::Enter(from, _) | Op::Await(from) => {
                self.is_of(*from, ty, seen)
            }
            Op::Call { callee: Callee::Method { receiver, name }, .. } => {
                let mut gives =
                    |entry: &Entry, of: &str| entry.gives.as_deref() == Some(ty) && self.is_of(*receiver, of, seen);
                self.models.crowd_method(name, &mut gives).is_some()
            }
            Op::Attr(object, name) => self.kept(*object, name).is_some_and(|(look, slot)| look.is_made_as(slot, ty)),
            _ => self.is_made_as(slot, ty),
        })
    }

    /// Whether what a slot holds is made by a function of a type.
    fn is_made_as(&self, slot: Slot, ty: &str) -> bool {
        let Some(Op::Call { callee: Callee::Value(callee), .. }) = self.only(slot) else { return false };
        match self.only(*callee) {
            Some(Op::Path(path)) => path == ty || path.strip_prefix(ty).is_some_and(|rest| rest.starts_with("::")),
            _ => false,
        }
    }

    /// What a constructor keeps under this name of the object that it makes.
    fn kept(&self, object: Slot, name: &str) -> Option<(Look<'p, 'a>, Slot)> {
        let init = self.project.method(self.class_of(object)?, "__init__")?;
        let function = self.project.function(init)?;
        let module = self.project.module(init.file)?;
        let value = instrs(function).find_map(|(_, instr)| match &instr.op {
            Op::SetAttr(_, attr, value) if attr == name => Some(*value),
            _ => None,
        })?;
        let models = self.project.models(init.file)?;
        Some((Look::new(self.project, models, init.file, module, function), value))
    }

    /// How many tasks what was made so lets run at once.
    fn limit_of(&self, slot: Slot) -> Option<u32> {
        match self.only(slot)? {
            Op::Enter(from, _) => self.limit_of_call(self.only(*from)?),
            Op::Attr(object, name) => {
                let (look, slot) = self.kept(*object, name)?;
                look.limit_of_call(look.only(slot)?)
            }
            op => self.limit_of_call(op),
        }
    }

    fn limit_of_call(&self, made: &Op) -> Option<u32> {
        let Op::Call { callee: Callee::Value(callee), args } = made else { return None };
        let Op::Path(path) = self.only(*callee)? else { return None };
        self.argument(args, self.models.crowd(path)?.amount.as_ref()?)
    }

    /// The callables and futures that slots hold, in collections and calls too.
    fn given(&self, slots: Vec<(Slot, bool)>) -> Vec<Given> {
        let (mut found, mut work) = (Vec::new(), slots);
        let mut seen = FxHashSet::default();
        while let Some((slot, each)) = work.pop().filter(|_| seen.len() < MOST_SLOTS) {
            if !seen.insert((slot, each)) {
                continue;
            }
            for (block, op) in self.made(slot) {
                if let Some(func) = self.reference(op) {
                    found.push(Given { func, block: *block, each });
                }
                match op {
                    Op::Copy(from) | Op::Unary(UnOp::Same, from) | Op::Bind(from, _) => work.push((*from, each)),
                    Op::Collection(_, slots) => work.extend(slots.iter().map(|slot| (*slot, each))),
                    Op::Call { callee, args } => {
                        if let Some(func) = self.called(callee).filter(|func| self.is_async(*func)) {
                            found.push(Given { func, block: *block, each });
                        }
                        let each = each || self.crowd(callee).is_some_and(|(entry, _)| entry.lazy);
                        work.extend(args.iter().map(|arg| (arg.value, each)));
                        if let Callee::Method { receiver, .. } = callee {
                            work.push((*receiver, false));
                        }
                    }
                    _ => {}
                }
            }
            // What is put into a collection.
            let put = self.asked.get(&slot).into_iter().flatten().flat_map(|args| args.iter());
            work.extend(put.map(|arg| (arg.value, each)));
        }
        found
    }

    /// How many there are of what is made in one block and let run in another, where there are several: `Some(None)`
    /// where there are as many as something has items.
    fn turns(
        &self,
        loops: &LoopMap,
        made: usize,
        run: usize,
        task: Option<Slot>,
        entry: &Entry,
    ) -> Option<Option<u32>> {
        let around = |block: usize| {
            let inside = loops.loops.iter().filter(move |(_, inside)| inside.get(block) == Some(&true));
            let mut inside: Vec<_> = inside.collect();
            inside.sort_by_key(|(_, inside)| inside.iter().filter(|inside| **inside).count());
            inside
        };
        let has = |inside: &[bool], block: usize| inside.get(block) == Some(&true);
        let between: Vec<BlockId> =
            around(made).into_iter().filter(|(_, inside)| !has(inside, run)).map(|(head, _)| *head).collect();
        if !between.is_empty() {
            return self.product(&between);
        }
        let around = around(run);
        let (head, inside) = around.first()?;
        if task.is_some_and(|task| self.is_waited_for(task, inside, entry)) {
            return None;
        }
        self.product(&[*head])
    }

    /// How many turns loops make together; `None` where one of them does not go through items.
    fn product(&self, heads: &[BlockId]) -> Option<Option<u32>> {
        let mut product = Some(1u32);
        for head in heads {
            let source = self.function.loops.iter().find(|source| source.head == *head)?;
            if source.kind != LoopKind::For {
                return None;
            }
            let Term::Next { iter, .. } = &self.function.block(*head)?.term else { return None };
            let length = self.length(*iter, BACK);
            product = product.zip(length).map(|(all, more)| all.saturating_mul(more));
        }
        Some(product)
    }

    /// Whether a task is waited for in the loop that begins it.
    fn is_waited_for(&self, task: Slot, inside: &[bool], entry: &Entry) -> bool {
        let within = |block: usize| inside.get(block) == Some(&true);
        let is_it = |slot: &Slot| {
            *slot == task
                || self.made(*slot).iter().any(|(_, op)| match op {
                    Op::Copy(from) | Op::Unary(_, from) | Op::Bind(from, _) => *from == task,
                    _ => false,
                })
        };
        instrs(self.function).any(|(block, instr)| match &instr.op {
            Op::Await(slot) => within(block) && is_it(slot),
            Op::Call { callee: Callee::Method { receiver, name }, .. } => {
                within(block) && is_it(receiver) && entry.ends.contains(name)
            }
            // Into a call that waits: a time limit, a gathering.
            _ => false,
        })
    }

    fn is_async(&self, func: FuncRef) -> bool {
        self.project.function(func).is_some_and(|function| function.is_async)
    }

    /// The project's own function that an instruction names or calls.
    fn function_of(&self, op: &Op) -> Option<FuncRef> {
        match op {
            Op::Call { callee, .. } => self.called(callee),
            op => self.reference(op),
        }
    }

    /// The project's own function that an instruction names.
    fn reference(&self, op: &Op) -> Option<FuncRef> {
        match op {
            Op::Func(id) => Some(FuncRef { file: self.file, func: *id }),
            Op::Path(path) => match self.project.entity(path)? {
                Entity::Func(func) => Some(func),
                _ => None,
            },
            Op::Attr(object, name) => self.project.method(self.class_of(*object)?, name),
            _ => None,
        }
    }

    fn called(&self, callee: &Callee) -> Option<FuncRef> {
        match callee {
            Callee::Value(slot) => self.reference(self.only(*slot)?),
            Callee::Method { receiver, name } => self.project.method(self.class_of(*receiver)?, name),
            Callee::Super { name } => {
                let class = ClassRef { file: self.file, class: self.function.class? };
                self.project.bases(class).into_iter().find_map(|base| self.project.method(base, name))
            }
        }
    }

    /// The project's own class of what a slot holds, as far as it is declared, or plain to see.
    fn class_of(&self, slot: Slot) -> Option<ClassRef> {
        let (mut function, mut slot) = (self.function, slot);
        while let Some(outer) = function.slot(slot)?.captured {
            (function, slot) = (function.parent.and_then(|id| self.module.function(id))?, outer);
        }
        if let Some(ty) = function.slot(slot).and_then(|info| info.ty.as_ref()) {
            let ty = if ty.args.len() == 1 { ty.args.first()? } else { ty };
            return match (ty.class, self.project.entity(&ty.path)) {
                (Some(class), _) => Some(ClassRef { file: self.file, class }),
                (None, Some(Entity::Class(class))) => Some(class),
                _ => None,
            };
        }
        if function.params.iter().any(|param| param.is_self && param.slot == slot) {
            return Some(ClassRef { file: self.file, class: function.class? });
        }
        let Op::Call { callee: Callee::Value(callee), .. } = self.only(slot)? else { return None };
        match self.only(*callee)? {
            Op::Class(class) => Some(ClassRef { file: self.file, class: *class }),
            Op::Path(path) => match self.project.entity(path)? {
                Entity::Class(class) => Some(class),
                _ => None,
            },
            _ => None,
        }
    }

    /// The number that a call gives for a parameter.
    fn argument(&self, args: &[Arg], param: &ParamRef) -> Option<u32> {
        let named = args.iter().find(|arg| arg.name.is_some() && arg.name == param.name);
        let at = || args.iter().filter(|arg| arg.name.is_none() && !arg.spread).nth(param.position?);
        self.number(named.or_else(at)?.value)
    }

    fn number(&self, slot: Slot) -> Option<u32> {
        match self.only(slot)? {
            Op::Const(Const::Int(number)) => u32::try_from(*number).ok(),
            Op::Global(id) => self.constant(self.file, *id),
            Op::Path(path) => match self.project.entity(path)? {
                Entity::Global(file, id) => self.constant(file, id),
                _ => None,
            },
            _ => None,
        }
    }

    /// The number that a module's variable is set to.
    fn constant(&self, file: u32, id: GlobalId) -> Option<u32> {
        let module = self.project.module(file)?;
        let init = module.function(module.global(id)?.value?)?;
        let number = |(_, instr): (usize, &Instr)| match instr.op {
            Op::Const(Const::Int(number)) => u32::try_from(number).ok(),
            _ => None,
        };
        match instrs(init).collect::<Vec<_>>().as_slice() {
            [one] if init.kind == FunctionKind::Initialiser => number(*one),
            _ => None,
        }
    }

    /// How many items something has that is gone through.
    fn length(&self, slot: Slot, depth: u32) -> Option<u32> {
        let depth = depth.checked_sub(1)?;
        match self.only(slot)? {
            Op::Iter(from, _) => self.length(*from, depth),
            Op::Collection(_, items) if !self.asked.contains_key(&slot) => u32::try_from(items.len()).ok(),
            Op::Call { callee: Callee::Value(callee), args } => {
                let Op::Path(path) = self.only(*callee)? else { return None };
                self.project.known(self.file, path).filter(|entry| entry.function.as_deref() == Some("range"))?;
                match args.as_slice() {
                    [end] => self.number(end.value),
                    [start, end] => self.number(end.value)?.checked_sub(self.number(start.value)?),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

fn instrs(function: &Function) -> impl Iterator<Item = (usize, &Instr)> {
    function.blocks.iter().enumerate().flat_map(|(at, block)| block.instrs.iter().map(move |instr| (at, instr)))
}
