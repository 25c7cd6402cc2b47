//! What all callers of a private function pass for a parameter, where that is one and the same number: a limit that is
//! given from one place is as good as a constant.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::machine::{Machine, constant_value};
use super::project::{Entity, Project};
use super::value::{ClassRef, FuncRef, Value};
use crate::ir::{Arg, Callee, FuncId, Function, FunctionKind, Module, Op, Param, Slot};

/// As many calls are looked at for what they pass.
const MOST_CALLS: usize = 200;

/// Where the functions of a file are called in it, those of its tests aside.
#[derive(Debug, Default)]
pub(super) struct Callers {
    /// Those that stand in one.
    inner: FxHashMap<FuncId, Vec<usize>>,
    of_func: FxHashMap<FuncId, Vec<CallAt>>,
    /// Calls of methods.
    of_name: FxHashMap<Box<str>, Vec<CallAt>>,
    /// Functions that are used in any other way, with the functions that do so.
    used: FxHashMap<FuncId, FxHashSet<usize>>,
    /// Attributes that are read, with the functions that do so.
    read: FxHashMap<Box<str>, FxHashSet<usize>>,
}

/// A call: its function, and its place there.
#[derive(Debug)]
struct CallAt {
    caller: usize,
    block: usize,
    instr: usize,
    /// What makes each argument, where it is made once.
    made: Box<[Option<(usize, usize)>]>,
}

impl Callers {
    pub(super) fn new(project: &Project<'_>, file: u32, module: &Module) -> Callers {
        let mut callers = Callers::default();
        for (at, caller) in module.functions.iter().enumerate() {
            caller.parent.into_iter().for_each(|outer| callers.inner.entry(outer).or_default().push(at));
            if !caller.is_test {
                callers.take(project, file, module, at, caller);
            }
        }
        callers
    }

    fn take(&mut self, project: &Project<'_>, file: u32, module: &Module, at: usize, caller: &Function) {
        let places = || {
            let blocks = caller.blocks.iter().enumerate();
            blocks.flat_map(|(block, it)| it.instrs.iter().enumerate().map(move |(instr, it)| ((block, instr), it)))
        };
        let mut named: FxHashMap<Slot, FuncId> = FxHashMap::default();
        let mut made: FxHashMap<Slot, Option<(usize, usize)>> = FxHashMap::default();
        for (place, instr) in places() {
            let Some(dst) = instr.dst else { continue };
            made.entry(dst).and_modify(|known| *known = None).or_insert(Some(place));
            let func = match &instr.op {
                Op::Func(id) => Some(*id),
                Op::Path(path) => match project.entity(path) {
                    Some(Entity::Func(of)) if of.file == file => Some(of.func),
                    _ => None,
                },
                _ => None,
            };
            func.into_iter().for_each(|func| _ = named.insert(dst, func));
        }
        for ((block, instr), op) in places().map(|(place, instr)| (place, &instr.op)) {
            let call = |args: &[Arg]| {
                let made = args.iter().map(|arg| made.get(&arg.value).copied().flatten()).collect();
                CallAt { caller: at, block, instr, made }
            };
            match op {
                Op::Call { callee: Callee::Value(callee), args } => {
                    if let Some(func) = named.get(callee) {
                        self.of_func.entry(*func).or_default().push(call(args));
                    }
                    let given = args.iter().filter_map(|arg| named.get(&arg.value));
                    given.for_each(|func| _ = self.used.entry(*func).or_default().insert(at));
                }
                Op::Call { callee: Callee::Method { name, .. } | Callee::Super { name }, args } => {
                    match self.of_name.get_mut(name.as_str()) {
                        Some(known) => known.push(call(args)),
                        None => drop(self.of_name.insert(name.as_str().into(), vec![call(args)])),
                    }
                    let is_it = |func: &FuncId| module.function(*func).is_some_and(|func| func.name == *name);
                    let read = op.reads().into_iter().filter_map(|slot| named.get(&slot).copied());
                    read.filter(|func| !is_it(func)).for_each(|func| _ = self.used.entry(func).or_default().insert(at));
                }
                op => {
                    if let Op::Attr(_, name) = op {
                        self.read.entry(name.as_str().into()).or_default().insert(at);
                    }
                    let read = op.reads().into_iter().filter_map(|slot| named.get(&slot).copied());
                    read.for_each(|func| _ = self.used.entry(func).or_default().insert(at));
                }
            }
        }
    }

    /// The functions that stand in one.
    pub(super) fn inside(&self, outer: FuncId) -> &[usize] {
        self.inner.get(&outer).map_or(&[], Vec::as_slice)
    }

    /// Whether a function is called or used in its file, by others.
    fn has_others(&self, func: FuncId, function: &Function) -> bool {
        self.of(func, function).is_none_or(|calls| !calls.is_empty())
    }

    /// All calls of a function but its own; `None` where it is used in any other way, or there are too many.
    fn of(&self, func: FuncId, function: &Function) -> Option<Vec<&CallAt>> {
        let own = func.0 as usize;
        let name = function.class.map(|_| function.name.as_str());
        let by_name = name.and_then(|name| self.of_name.get(name)).into_iter().flatten();
        let calls = self.of_func.get(&func).into_iter().flatten().chain(by_name).filter(|call| call.caller != own);
        let calls: Vec<&CallAt> = calls.take(MOST_CALLS + 1).collect();
        let by_others = |by: &FxHashSet<usize>| by.iter().any(|by| *by != own);
        let is_read = name.and_then(|name| self.read.get(name)).is_some_and(by_others);
        let is_used = self.used.get(&func).is_some_and(by_others);
        (!is_read && !is_used && calls.len() <= MOST_CALLS).then_some(calls)
    }
}

/// A call of a function, as it stands in its caller.
struct Passed<'c> {
    args: &'c [Arg],
    call: &'c CallAt,
    caller: &'c Function,
}

impl Machine<'_> {
    /// The number that every caller gives for this parameter.
    pub(super) fn given(&mut self, func: FuncRef, function: &Function, param: &Param) -> Option<Value> {
        if !function.private || function.kind != FunctionKind::Named || param.is_self || param.is_rest {
            return None;
        }
        let at = function.params.iter().position(|other| other.slot == param.slot)?;
        if let Some(known) = self.given_cache.get(&func) {
            return known.get(at).cloned().flatten();
        }
        // Whoever asks meanwhile is a caller of itself.
        self.given_cache.insert(func, Rc::from([]));
        let given = self.all_given(func, function);
        self.given_cache.insert(func, given.clone());
        given.get(at).cloned().flatten()
    }

    fn all_given(&mut self, func: FuncRef, function: &Function) -> Rc<[Option<Value>]> {
        let Some(module) = self.project.module(func.file) else { return Rc::from([]) };
        let Some(calls) = self.project.callers(func.file).and_then(|callers| callers.of(func.func, function)) else {
            return Rc::from([]);
        };
        let mut given: Option<Vec<Option<Value>>> = None;
        // How a recursion begins is for those who call it from outside.
        for call in calls {
            let caller = module.functions.get(call.caller);
            let instr = caller.and_then(|caller| caller.blocks.get(call.block)?.instrs.get(call.instr));
            let (Some(caller), Some(Op::Call { args, .. })) = (caller, instr.map(|instr| &instr.op)) else { continue };
            let passed = Passed { args, call, caller };
            let these: Vec<Option<Value>> =
                (0..function.params.len()).map(|at| self.passed(func, function, &passed, at)).collect();
            given = Some(match given {
                None => these,
                Some(known) => known
                    .into_iter()
                    .zip(these)
                    .map(|(known, this)| known.filter(|known| Some(known) == this.as_ref()))
                    .collect(),
            });
        }
        given.unwrap_or_default().into()
    }

    /// The number that a call passes for the parameter at a place.
    fn passed(&mut self, func: FuncRef, function: &Function, passed: &Passed<'_>, at: usize) -> Option<Value> {
        let Passed { args, call, caller } = passed;
        if args.iter().any(|arg| arg.spread) {
            return None;
        }
        let param = function.params.get(at)?;
        // The receiver is not among the arguments, nor is it where a method is called by its path.
        let place = match function.params.first().is_some_and(|first| first.is_self) {
            true => at.checked_sub(1)?,
            false => at,
        };
        let named = args.iter().position(|arg| arg.name.as_deref() == Some(param.name.as_str()));
        let given = named.or_else(|| args.get(place).filter(|arg| arg.name.is_none()).map(|_| place));
        let Some(given) = given else {
            return param.default.map(|default| self.initial(FuncRef { file: func.file, func: default }));
        };
        let Some((block, instr)) = *call.made.get(given)? else {
            return self.handed_on(
                FuncRef { file: func.file, func: FuncId(u32::try_from(call.caller).ok()?) },
                args.get(given)?.value,
            );
        };
        let op = &caller.blocks.get(block)?.instrs.get(instr)?.op;
        let value = match op {
            Op::Const(constant) => constant_value(constant),
            Op::Global(id) => {
                let value = self.project.module(func.file)?.global(*id)?.value?;
                self.initial(FuncRef { file: func.file, func: value })
            }
            // What the caller's own object was made with.
            Op::Attr(of, name) if caller.params.iter().any(|param| param.is_self && param.slot == *of) => {
                self.initial_attribute(ClassRef { file: func.file, class: caller.class? }, name)?
            }
            _ => return None,
        };
        matches!(value, Value::Num(_)).then_some(value)
    }

    /// The number that a caller hands on as it was given: its default, or what all callers of that give.
    fn handed_on(&mut self, caller: FuncRef, slot: Slot) -> Option<Value> {
        let function = self.project.function(caller)?;
        let param = function.params.iter().find(|param| param.slot == slot)?;
        if function.blocks.iter().flat_map(|block| &block.instrs).any(|instr| instr.dst == Some(slot)) {
            return None;
        }
        let value = match (self.given(caller, function, param), param.default) {
            (Some(given), _) => given,
            (None, Some(default)) => self.initial(FuncRef { file: caller.file, func: default }),
            (None, None) => return None,
        };
        matches!(value, Value::Num(_)).then_some(value)
    }
}

impl Project<'_> {
    /// What those who call a function within its file pass for a parameter of this name, among all further ones too: the
    /// callers, and their variables. A method is one for its own object, or by a name that no other class of the file has.
    pub(super) fn passed_within(&self, func: FuncRef, name: &str) -> Vec<(FuncRef, Slot)> {
        let known = (self.module(func.file), self.function(func), self.callers(func.file));
        let (Some(module), Some(function), Some(callers)) = known else { return Vec::new() };
        let alone = module.functions.iter().filter(|other| other.name == function.name).count() == 1;
        let by_name = function.class.and_then(|_| callers.of_name.get(function.name.as_str())).into_iter().flatten();
        let calls = callers.of_func.get(&func.func).into_iter().flatten().chain(by_name);
        let place = function.params.iter().filter(|param| !param.is_self).position(|param| param.name == name);
        let mut passed = Vec::new();
        for call in calls.filter(|call| call.caller != func.func.0 as usize).take(MOST_CALLS) {
            let Some(caller) = module.functions.get(call.caller) else { continue };
            let op =
                caller.blocks.get(call.block).and_then(|block| block.instrs.get(call.instr)).map(|instr| &instr.op);
            let Some(Op::Call { callee, args }) = op else { continue };
            let own = match callee {
                Callee::Method { receiver, .. } => {
                    let this = caller.params.iter().any(|param| param.is_self && param.slot == *receiver);
                    let class = caller.class.map(|class| ClassRef { file: func.file, class });
                    this && class.and_then(|class| self.method(class, &function.name)) == Some(func)
                        || alone && function.private
                }
                Callee::Value(_) | Callee::Super { .. } => true,
            };
            let named = args.iter().find(|arg| arg.name.as_deref() == Some(name) && !arg.spread);
            let placed = || args.get(place?).filter(|arg| arg.name.is_none());
            let spread = args.iter().any(|arg| arg.spread && arg.name.is_none());
            let arg = named.or_else(|| placed().filter(|_| !spread));
            if let (true, Some(arg), Ok(id)) = (own, arg, u32::try_from(call.caller)) {
                passed.push((FuncRef { func: FuncId(id), ..func }, arg.value));
            }
        }
        passed
    }

    /// Whether a function is called or used within its file.
    pub(super) fn is_called_within(&self, func: FuncRef, function: &Function) -> bool {
        self.callers(func.file).is_some_and(|callers| callers.has_others(func.func, function))
    }
}
