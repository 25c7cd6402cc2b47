//! What is sent through the clients of a file that were told to repeat it: by which method, and to where.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::machine::{Finished, Machine, Plan};
use super::state::{At, Event, KeyFact, OpInfo};
use super::value::FuncRef;
use crate::ir::{Callee, FuncId, Function, FunctionKind, Module, Op};
use crate::models::Kind;

/// Steps for coming to the requests of a function.
const BUDGET: u64 = 2_000;
/// As many functions of a file are run for what they send.
const MOST: usize = 40;

/// Requests through such clients, by where those were told so.
#[derive(Debug, Default)]
pub(super) struct Sent {
    /// Functions that were run already.
    pub run: FxHashSet<FuncId>,
    /// Those that are repeated.
    repeated: FxHashMap<At, Vec<Rc<OpInfo>>>,
    /// Those that go to where nothing is repeated.
    elsewhere: FxHashMap<At, Vec<Rc<OpInfo>>>,
}

impl Sent {
    /// Takes the requests on some paths.
    pub fn take(&mut self, ends: &[Finished]) {
        for event in ends.iter().flat_map(|end| end.state.events()) {
            let Event::Op(op) = event else { continue };
            for told in op.layers.iter().filter_map(|below| below.told) {
                self.repeated.entry(told).or_default().push(op.clone());
            }
            if let Some(told) = op.unmounted {
                self.elsewhere.entry(told).or_default().push(op.clone());
            }
        }
    }

    /// Takes the requests of functions that were not run yet.
    pub fn look(&mut self, machine: &mut Machine<'_>, module: &Module) {
        let models = machine.models(machine.file);
        let asking = models.entries().iter().filter(|entry| matches!(entry.kind, Kind::Request | Kind::Prepare));
        let names: FxHashSet<&str> = asking.flat_map(|entry| entry.names.iter().map(String::as_str)).collect();
        let asks = |function: &Function| {
            function.blocks.iter().flat_map(|block| &block.instrs).any(|instr| match &instr.op {
                Op::Call { callee: Callee::Method { name, .. }, .. } => names.contains(name.as_str()),
                _ => false,
            })
        };
        let mut left = MOST;
        for (at, function) in module.functions.iter().enumerate() {
            let Ok(id) = u32::try_from(at).map(FuncId) else { break };
            let skipped = function.is_test || function.kind == FunctionKind::Initialiser || self.run.contains(&id);
            if skipped || left == 0 || !asks(function) {
                continue;
            }
            left -= 1;
            machine.plan = Plan::calm();
            machine.allow(BUDGET);
            let start = machine.enter(FuncRef { file: machine.file, func: id });
            let ends = machine.run(vec![start]);
            self.take(&ends);
        }
    }

    /// The method of a request that is repeated, does something twice if it is, and carries no key.
    pub fn side_effect(&self, told: &[Option<At>]) -> Option<&'static str> {
        let found = told.iter().flatten().filter_map(|told| self.repeated.get(told)).flatten();
        let mut harmful = found.filter(|op| op.idempotent != Some(true) && op.key == KeyFact::None);
        harmful.find_map(|op| ["POST", "PATCH"].into_iter().find(|verb| op.method.as_deref() == Some(verb)))
    }

    /// The requests that are repeated, where each is by a method of which this is true.
    pub fn all_by(&self, told: &[Option<At>], mut by: impl FnMut(&str) -> bool) -> Option<Rc<OpInfo>> {
        let found = || told.iter().flatten().filter_map(|told| self.repeated.get(told)).flatten();
        let all = found().all(|op| op.method.as_deref().is_some_and(&mut by));
        found().next().filter(|_| all).cloned()
    }

    /// A request to where nothing is repeated, if no other one is seen.
    pub fn elsewhere(&self, told: &[Option<At>]) -> Option<Rc<OpInfo>> {
        let mut told = told.iter().flatten();
        if told.clone().any(|told| self.repeated.contains_key(told)) {
            return None;
        }
        told.find_map(|told| self.elsewhere.get(told)?.first().cloned())
    }
}
