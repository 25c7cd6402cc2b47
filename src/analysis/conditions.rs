//! Conditions: what was decided, which sides of a branch can be taken, and what a test of a result says of its
//! operation.

use super::arith::{self, Truth};
use super::calls::split_path;
use super::loops::{reachable, successors};
use super::machine::INNER_TURNS;
use super::machine::ITEMS;
use super::machine::Machine;
use super::state::{At, Event, Failed, Failing, Gap, Object, OpInfo, State};
use super::status::StatusSet;
use super::value::{Node, Place, SymId, Taint, Value};
use super::verdicts::Verdict;
use crate::ir::{BinOp, Block, BlockId, Callee, Function, Instr, Op, Slot, Term, UnOp};
use crate::models::Kind;
use crate::source::Span;
use std::rc::Rc;

/// As many blocks are gone through for what a test lets be done before all goes on.
const MOST_DELAYING: usize = 40;

/// Sequences put together: `a + b`, `a * 3`.
#[allow(clippy::cast_precision_loss)]
pub(super) fn joined(op: BinOp, a: &Value, b: &Value) -> Option<Value> {
    let items = match (op, a, b) {
        (BinOp::Add, Value::Tuple(a), Value::Tuple(b)) => a.iter().chain(b.iter()).cloned().collect::<Vec<_>>(),
        // Sets; what is in both may stand there twice.
        (BinOp::BitOr, Value::Tuple(a), Value::Tuple(b)) => a.iter().chain(b.iter()).cloned().collect(),
        (BinOp::Sub, Value::Tuple(a), Value::Tuple(b)) => a.iter().filter(|item| !b.contains(item)).cloned().collect(),
        (BinOp::BitAnd, Value::Tuple(a), Value::Tuple(b)) => {
            a.iter().filter(|item| b.contains(item)).cloned().collect()
        }
        (BinOp::Mul, Value::Tuple(items), Value::Num(times)) | (BinOp::Mul, Value::Num(times), Value::Tuple(items)) => {
            let times = times.single().filter(|times| (0.0..=ITEMS as f64).contains(times))?;
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            let times = times as usize;
            items.iter().cloned().cycle().take(items.len() * times).collect()
        }
        _ => return None,
    };
    (items.len() <= ITEMS).then(|| Value::Tuple(items.into()))
}

/// Whether a branch on `cond` is one on what an instruction of the block gives.
fn decides(block: &Block, instr: &Instr, cond: Slot) -> bool {
    let negates = |next: &Instr| {
        next.dst == Some(cond) && matches!(next.op, Op::Unary(UnOp::Not, slot) if Some(slot) == instr.dst)
    };
    instr.dst == Some(cond) || block.instrs.iter().any(negates)
}

impl<'a> Machine<'a> {
    /// What was decided of just this symbol.
    pub(super) fn was_decided(&mut self, state: &State, sym: SymId) -> Option<bool> {
        self.passages.ask(&self.symbols, &state.versions, sym);
        state.decided.get(&sym).copied()
    }

    /// What was decided of a symbol on this path, directly or by what follows from other decisions.
    pub(super) fn decided(&mut self, state: &State, sym: SymId) -> Option<bool> {
        if let Some(truth) = self.was_decided(state, sym) {
            return Some(truth);
        }
        let node = self.symbols.info(sym)?.node.clone();
        match node {
            Node::Unary(crate::ir::UnOp::Not, Value::Sym(inner)) => self.decided(state, inner).map(|truth| !truth),
            Node::Truth(value) => {
                let none = self.symbols.intern(Node::IsNone(value.clone()), Taint::NONE);
                if self.was_decided(state, none) == Some(true) {
                    return Some(false);
                }
                let success = self.symbols.intern(Node::IsSuccess(value), Taint::NONE);
                (self.was_decided(state, success) == Some(false)).then_some(false)
            }
            Node::IsNone(value) => {
                let truth = self.symbols.intern(Node::Truth(value.clone()), Taint::NONE);
                if self.was_decided(state, truth) == Some(true) {
                    return Some(false);
                }
                let success = self.symbols.intern(Node::IsSuccess(value), Taint::NONE);
                self.was_decided(state, success).map(|success| !success)
            }
            Node::Is(value, name) => {
                let success = self.symbols.intern(Node::IsSuccess(value), Taint::NONE);
                match (&*name, self.was_decided(state, success)) {
                    ("Ok" | "Some", Some(truth)) => Some(truth),
                    ("Err" | "None", Some(truth)) => Some(!truth),
                    _ => None,
                }
            }
            Node::Binary(..) => self.follows(state, sym),
            _ => None,
        }
    }

    pub(super) fn record(&mut self, state: &mut State, sym: SymId, truth: bool) {
        let node = self.symbols.info(sym).map(|info| info.node.clone());
        if let Some(Node::Unary(crate::ir::UnOp::Not, Value::Sym(inner))) = node {
            return self.record(state, inner, !truth);
        }
        // `is it Ok` is `is it a success`.
        if let Some(Node::Is(value, name)) = &node
            && let Some(success) = match &**name {
                "Ok" | "Some" => Some(truth),
                "Err" => Some(!truth),
                _ => None,
            }
        {
            let id = self.symbols.intern(Node::IsSuccess(value.clone()), Taint::NONE);
            Rc::make_mut(&mut state.decided).insert(id, success);
        }
        Rc::make_mut(&mut state.decided).insert(sym, truth);
    }

    /// A value where its truth is asked: that of some libraries' answers is whether they are good ones.
    pub(super) fn as_test(&mut self, state: &State, value: &Value) -> Value {
        let Value::Resp(resp) = value else { return self.open_name(state, value) };
        let models = self.models(state.top().map_or(self.file, |frame| frame.func.file));
        let told = state.resp_types.get(resp).and_then(|ty| models.method(ty, "__bool__"));
        let told = told.filter(|entry| entry.kind == Kind::StatusTest).and_then(|entry| entry.statuses.as_deref());
        told.and_then(StatusSet::parse).map_or_else(|| value.clone(), |set| Value::StatusIn(*resp, set))
    }

    /// What a name of a module out of sight stands for, where that is asked: it may hold anything, or nothing.
    fn open_name(&mut self, state: &State, value: &Value) -> Value {
        let Value::Path(path) = value else { return value.clone() };
        let file = state.top().map_or(self.file, |frame| frame.func.file);
        let models = self.models(file);
        let known = self.project.known(file, path).is_some()
            || models.library_of(path).is_some()
            || models.exception(path).is_some()
            || models.knows_type(path);
        match split_path(path).filter(|_| !known) {
            Some((module, name)) => {
                let node = Node::Attr(Value::Path(module.into()), name.into());
                Value::Sym(self.symbols.intern(node, Taint::SETTING.or(Taint::STATE)))
            }
            None => value.clone(),
        }
    }

    /// Whether all, or any, of some tests hold, where each is one of a status or decided.
    pub(super) fn of_tests(&mut self, tests: &[Value], any: bool) -> Option<Value> {
        let op = if any { BinOp::BitOr } else { BinOp::BitAnd };
        let mut all: Option<Value> = None;
        for test in tests {
            all = match test {
                Value::Bool(truth, _) if *truth == any => return Some(test.clone()),
                Value::Bool(..) => all,
                Value::StatusIn(..) => match all {
                    Some(others) => Some(arith::binary(&mut self.symbols, op, &others, test)),
                    None => Some(test.clone()),
                },
                _ => return None,
            };
        }
        Some(all.unwrap_or(Value::Bool(!any, Taint::NONE)))
    }

    /// Decides a condition: the paths on which it is true and false.
    pub(super) fn decide(
        &mut self,
        mut state: State,
        value: &Value,
        span: Span,
        then: BlockId,
        otherwise: BlockId,
    ) -> Vec<(State, bool)> {
        let at = self.at(&state, span);
        let value = self.as_test(&state, value);
        match arith::truth(&mut self.symbols, &value) {
            Truth::Known(truth, taint) => {
                if taint.has(Taint::COUNTER) {
                    let other = if truth { otherwise } else { then };
                    let leads_out = state.frames.len() == 1 && self.leads_out(&state, other, false);
                    let taken = self.side_before(&state, at).unwrap_or(truth);
                    state.push(Event::CountTest { at, leads_out, taken });
                    return vec![(state, taken)];
                }
                vec![(state, truth)]
            }
            Truth::Status(resp, set) => {
                let now = state.resps.get(&resp).copied().unwrap_or_else(StatusSet::all);
                let is_good = set.contains(200);
                let (yes, no) = (now.and(&set), now.minus(&set));
                let mut out = Vec::new();
                if !yes.is_empty() {
                    let mut state = state.clone();
                    state.push(Event::LookedAtStatus(resp, !is_good));
                    self.narrow(&mut state, resp, yes);
                    out.push((state, true));
                }
                if !no.is_empty() {
                    state.push(Event::LookedAtStatus(resp, is_good));
                    self.narrow(&mut state, resp, no);
                    out.push((state, false));
                }
                out
            }
            Truth::Unknown(sym) => {
                if let Some(truth) = self.decided(&state, sym) {
                    let other = if truth { otherwise } else { then };
                    if self.is_stop_flag(&state, sym) && self.leads_out(&state, other, false) {
                        let mut state = state;
                        state.push(Event::Flag);
                        return vec![(state, truth)];
                    }
                    return vec![(state, truth)];
                }
                if let Some((both, first, second)) = self.parts_of_test(sym) {
                    let mut out = Vec::new();
                    for (mut state, truth) in self.decide(state, &first, span, then, otherwise) {
                        if truth == both {
                            out.extend(self.decide(state, &second, span, then, otherwise));
                        } else {
                            self.record(&mut state, sym, truth);
                            out.push((state, truth));
                        }
                    }
                    return out;
                }
                // An inner loop that has gone round often enough is left.
                let sides =
                    match self.forced_side(&mut state, then, otherwise).or_else(|| self.is_interrupt(&state, sym)) {
                        Some(side) => vec![side],
                        None => vec![true, false],
                    };
                let flag = self.symbols.info(sym).is_some_and(|info| info.taint.has(Taint::FLAG))
                    && self.tells_the_end(&state, [then, otherwise]);
                let place = self.place(&state);
                let mut out = Vec::new();
                for truth in sides {
                    let mut state = state.clone();
                    self.record(&mut state, sym, truth);
                    if flag {
                        state.push(Event::Flag);
                    }
                    state.push(Event::Decide { sym, taken: truth, at, place });
                    let ways = if truth { [then, otherwise] } else { [otherwise, then] };
                    self.note_failure(&mut state, sym, truth, at, ways);
                    out.push((state, truth));
                }
                out
            }
        }
    }

    /// The two tests of which one is made, where the first asks whether something succeeded; `true`: both must hold.
    fn parts_of_test(&self, sym: SymId) -> Option<(bool, Value, Value)> {
        let node = match &self.symbols.info(sym)?.node {
            Node::Truth(Value::Sym(inner)) => &self.symbols.info(*inner)?.node,
            node => node,
        };
        let Node::Binary(op @ (BinOp::Other | BinOp::BitOr), first, second) = node else { return None };
        let mut of = first;
        for _ in 0..6 {
            let Value::Sym(asked) = of else { return None };
            match &self.symbols.info(*asked)?.node {
                Node::IsSuccess(_) => return Some((*op == BinOp::Other, first.clone(), second.clone())),
                Node::Unary(UnOp::Not, inner) | Node::Binary(BinOp::Other | BinOp::BitOr, inner, _) => of = inner,
                _ => return None,
            }
        }
        None
    }

    /// The side of a test whether an error is an interruption: a failure that lasts is none.
    pub(super) fn is_interrupt(&self, state: &State, sym: SymId) -> Option<bool> {
        let models = self.models(state.top().map_or(self.file, |frame| frame.func.file));
        let names = |path: &str| models.exception(path).is_some_and(|entry| entry.interrupt);
        let given = |value: &Value| matches!(value, Value::Path(path) if names(path));
        match &self.symbols.info(sym)?.node {
            Node::Binary(BinOp::Eq, a, b) if given(a) || given(b) => Some(false),
            Node::Binary(BinOp::Ne, a, b) if given(a) || given(b) => Some(true),
            Node::Is(Value::Sym(_), path) if names(path) => Some(false),
            _ => None,
        }
    }

    /// Whether the call that is made asks a parameter whether to go on: the loop begins by it and keeps nothing of the
    /// answer, nothing else in the loop has to do with that parameter, and something in it may leave the process.
    pub(super) fn asks_whether_to_stop(&self, state: &State, callee: &Value) -> bool {
        let (Value::Bound(pair), Some(blocks), Some(head), [frame]) =
            (callee, &self.plan.blocks, self.plan.head, state.frames.as_slice())
        else {
            return false;
        };
        let is_open = match &pair.0 {
            Value::Sym(id) => self.symbols.info(*id).is_some_and(|info| info.ty.is_none()),
            _ => false,
        };
        let Some(function) = self.project.function(frame.func).filter(|_| is_open && frame.block == head) else {
            return false;
        };
        let Some(block) = function.block(head) else { return false };
        let (Some(instr), Term::Branch { cond, then, otherwise }) = (block.instrs.get(frame.at), &block.term) else {
            return false;
        };
        let Op::Call { callee: Callee::Method { receiver, .. }, .. } = &instr.op else { return false };
        let kept = instr.dst.and_then(|dst| function.slot(dst)).is_none_or(|info| info.name.is_some());
        if kept || !decides(block, instr, *cond) {
            return false;
        }
        let inside = function.blocks.iter().zip(blocks.iter()).filter(|(_, inside)| **inside).map(|(block, _)| block);
        let instrs = || inside.clone().flat_map(|block| &block.instrs);
        let uses = instrs().filter(|instr| instr.op.reads().contains(receiver) || instr.dst == Some(*receiver)).count();
        let closures = instrs().any(|instr| matches!(instr.op, Op::Func(_)));
        let leaves = self.leads_out(state, *then, false) || self.leads_out(state, *otherwise, false);
        function.params.iter().any(|param| param.slot == *receiver)
            && uses == 1
            && !closures
            && leaves
            && instrs().any(|instr| self.project.leads_out(frame.func.file, function, &instr.op).is_some())
    }

    /// Notes a comparison of a variable's number with another, or with a parameter, by which the loop may be left.
    pub(super) fn note_limit(&self, state: &mut State, instr: &Instr, block: &Block, sides: [(Slot, &Value); 2]) {
        let Op::Binary(BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge | BinOp::Eq, ..) = instr.op else { return };
        let Term::Branch { cond, then, otherwise } = block.term else { return };
        if !decides(block, instr, cond) {
            return;
        }
        let Some(function) = state.frames.first().and_then(|frame| self.project.function(frame.func)) else { return };
        if state.frames.len() != 1 || self.plan.blocks.is_none() {
            return;
        }
        let is_parameter = |slot: Slot| function.params.iter().any(|param| param.slot == slot);
        let number = |(slot, value): (Slot, &Value)| match value {
            Value::Num(num) => {
                let info = function.slot(slot).filter(|info| info.name.is_some() && info.captured.is_none());
                num.single().filter(|_| info.is_some() && !is_parameter(slot) && self.stays(state, function, slot))
            }
            _ => None,
        };
        // A count that moves toward a limit in a variable is not that variable's affair.
        let named = |slot: Slot| function.slot(slot).is_some_and(|info| info.name.is_some());
        let is_limit = |(slot, value): (Slot, &Value)| {
            is_parameter(slot) || matches!(value, Value::Num(_)) && (!named(slot) || self.stays(state, function, slot))
        };
        let [left, right] = sides;
        let pairs = [(left, right), (right, left)];
        let standing = pairs.into_iter().find_map(|(count, limit)| number(count).filter(|_| is_limit(limit)));
        let plain = |value: &Value| match value {
            Value::Num(num) if !num.taint.has(Taint::CLOCK.or(Taint::RANDOM)) => num.single(),
            _ => None,
        };
        let apart = plain(left.1).zip(plain(right.1)).map(|(left, right)| left - right);
        let at = self.at(state, instr.span);
        let noted = match (standing, apart) {
            (Some(count), _) => Event::Compared(at, count),
            (None, Some(apart)) => Event::Apart(at, apart),
            (None, None) => return,
        };
        let parts = |out, on| self.leads_out(state, out, false) && !self.leads_out(state, on, true);
        if parts(then, otherwise) || parts(otherwise, then) {
            state.push(noted);
        }
    }

    /// Whether the loop leaves a variable as it is: nothing in it writes to the variable, but for what adds nought.
    fn stays(&self, state: &State, function: &Function, slot: Slot) -> bool {
        let (Some(frame), Some(inside)) = (state.frames.first(), &self.plan.blocks) else { return false };
        let closures = self.project.closures_in(frame.func);
        let lent = |inner: &&Function| inner.slots.iter().any(|info| info.captured == Some(slot));
        let blocks = function.blocks.iter().zip(inside.iter()).filter(|(_, inside)| **inside);
        let instrs = || blocks.clone().flat_map(|(block, _)| &block.instrs);
        let is_nought = |slot: Slot| {
            let value = frame.slots.get(slot.0 as usize).and_then(Option::as_ref);
            matches!(value, Some(Value::Num(num)) if num.single() == Some(0.0))
        };
        let adds_nought = |op: &Op| match op {
            Op::Binary(BinOp::Add | BinOp::Sub, a, b) => *a == slot && is_nought(*b),
            _ => false,
        };
        let changes = |instr: &Instr| match &instr.op {
            Op::Copy(from) => !instrs().any(|made| made.dst == Some(*from) && adds_nought(&made.op)),
            op => !adds_nought(op),
        };
        !instrs().any(|instr| instr.dst == Some(slot) && changes(instr)) && !closures.iter().any(lent)
    }

    /// Whether the test that is being made decides only whether something is done before all goes on as it would have:
    /// one of its sides comes to the other.
    fn only_delays(&self, state: &State) -> bool {
        let Some(frame) = state.top() else { return false };
        let Some(function) = self.project.function(frame.func) else { return false };
        let Some(block) = function.block(frame.block) else { return false };
        let (Term::Branch { cond, then, otherwise }, Some(instr)) = (&block.term, block.instrs.get(frame.at)) else {
            return false;
        };
        let comes_to = |from: BlockId, to: BlockId| {
            let (mut seen, mut work) = (Vec::new(), vec![from]);
            while let Some(at) = work.pop() {
                if at == to || seen.contains(&at) {
                    continue;
                }
                let on = function.block(at).map(|block| (block.unwind, successors(block))).unwrap_or_default();
                let on: Vec<BlockId> = on.1.into_iter().filter(|next| Some(*next) != on.0).collect();
                if at == frame.block || on.is_empty() || seen.len() > MOST_DELAYING {
                    return false;
                }
                seen.push(at);
                work.extend(on);
            }
            true
        };
        decides(block, instr, *cond) && (comes_to(*then, *otherwise) || comes_to(*otherwise, *then))
    }

    /// Whether a block of the function under analysis leads out of its loop without coming back to the head, failures on
    /// the way included or not.
    pub(super) fn leads_out(&self, state: &State, from: BlockId, failures: bool) -> bool {
        let (Some(blocks), Some(head), Some(frame)) = (&self.plan.blocks, self.plan.head, state.top()) else {
            return false;
        };
        let Some(function) = self.project.function(frame.func) else { return false };
        let mut seen = Vec::new();
        let mut work = vec![from];
        while let Some(block) = work.pop() {
            if block == head {
                return false;
            }
            if seen.contains(&block) || blocks.get(block.0 as usize) != Some(&true) {
                continue;
            }
            seen.push(block);
            if seen.len() > 60 {
                return false;
            }
            if let Some(block) = function.block(block) {
                work.extend(successors(block).into_iter().filter(|to| failures || Some(*to) != block.unwind));
            }
        }
        true
    }

    /// Whether it depends on which of two ways is taken how the loop, or the function that it calls, ends.
    fn tells_the_end(&self, state: &State, [first, second]: [BlockId; 2]) -> bool {
        if state.frames.len() == 1 && self.plan.blocks.is_some() {
            return self.leads_out(state, first, false) || self.leads_out(state, second, false);
        }
        let Some(function) = state.top().and_then(|frame| self.project.function(frame.func)) else { return true };
        let (first, second) = (reachable(function, first, None), reachable(function, second, None));
        let ends = |block: &Block| matches!(block.term, Term::Return(_) | Term::Propagate(_) | Term::Raise(_));
        let blocks = function.blocks.iter().zip(first.iter().zip(&second));
        blocks.into_iter().any(|(block, (first, second))| first != second && ends(block))
    }

    /// Narrows a response's statuses; if it is the failed one's, the failure too.
    pub(super) fn narrow(&mut self, state: &mut State, resp: Place, set: StatusSet) {
        Rc::make_mut(&mut state.resps).insert(resp, set);
        if let Some(failed) = &state.failed
            && failed.op.place == resp
            && matches!(failed.how, Failing::Status(_))
        {
            let failed = Failed { how: Failing::Status(set), ..(**failed).clone() };
            state.failed = Some(Rc::new(failed));
        }
    }

    /// A test of an operation's own result that comes out badly is that operation's failure.
    fn note_failure(&mut self, state: &mut State, sym: SymId, truth: bool, at: At, ways: [BlockId; 2]) {
        if state.failed.is_some() || state.left || !self.plan.explores() {
            return;
        }
        let (mut sym, mut truth) = (sym, truth);
        for _ in 0..4 {
            let Some(info) = self.symbols.info(sym) else { return };
            match info.node.clone() {
                Node::Unary(crate::ir::UnOp::Not, Value::Sym(inner)) => (sym, truth) = (inner, !truth),
                Node::Truth(Value::Sym(result)) | Node::IsSuccess(Value::Sym(result)) => {
                    return self.fail_by_result(state, result, (sym, truth), truth, at, ways);
                }
                Node::IsNone(Value::Sym(result)) => {
                    return self.fail_by_result(state, result, (sym, truth), !truth, at, ways);
                }
                Node::Is(Value::Sym(result), name) => {
                    let good = match &*name {
                        "Ok" | "Some" => truth,
                        "Err" | "None" => !truth,
                        _ => return,
                    };
                    return self.fail_by_result(state, result, (sym, truth), good, at, ways);
                }
                _ => return,
            }
        }
    }

    fn fail_by_result(
        &mut self,
        state: &mut State,
        result: SymId,
        (test, truth): (SymId, bool),
        good: bool,
        at: At,
        ways: [BlockId; 2],
    ) {
        let Some(asked) = self.result_of(state, result, test) else { return };
        let (op, good) = match self.verdict(state, &asked, test, ways) {
            Verdict::Own => (asked, good),
            Verdict::Of(other, good) => (other, good),
            Verdict::Open => return,
        };
        if good {
            return;
        }
        let how = Failing::Test(test, truth);
        state.push(Event::Fail(op.clone(), how.clone(), at));
        state.failed = Some(Rc::new(Failed { op, how, turn: state.turns }));
        state.gap = Gap::NONE;
    }

    /// The operation of which a tested value is the result, or a part of it that is a result itself.
    fn result_of(&self, state: &State, result: SymId, test: SymId) -> Option<Rc<OpInfo>> {
        if let Some(op) = state.results.get(&result) {
            return Some(op.clone());
        }
        let whole = match &self.symbols.info(result)?.node {
            Node::Index(Value::Sym(whole), Value::Num(_)) => whole,
            Node::Attr(Value::Sym(whole), name) if name.parse::<u32>().is_ok() => whole,
            _ => return None,
        };
        state.results.get(whole).filter(|_| self.is_error_test(test)).cloned()
    }

    /// The side that a test of a count took in the turn before, where none is to end the loop.
    fn side_before(&self, state: &State, at: At) -> Option<bool> {
        self.plan.uncounted.filter(|from| state.turns >= *from && state.frames.len() == 1)?;
        state.events().into_iter().rev().find_map(|event| match event {
            Event::CountTest { at: other, taken, .. } if *other == at => Some(*taken),
            _ => None,
        })
    }

    /// The side that leaves an inner loop which has gone round often enough.
    pub(super) fn forced_side(&mut self, state: &mut State, then: BlockId, otherwise: BlockId) -> Option<bool> {
        let (side, worn_out) = self.worn_out(state, then, otherwise)?;
        state.push(worn_out);
        Some(side)
    }

    fn worn_out(&mut self, state: &State, then: BlockId, otherwise: BlockId) -> Option<(bool, Event)> {
        let frame = state.top()?;
        let base = state.frames.len() == 1;
        if frame.visits.iter().all(|(_, count)| *count < INNER_TURNS) {
            return None;
        }
        let map = self.loops_of(frame.func);
        for (head, inside) in &map.loops {
            if base && Some(*head) == self.plan.head {
                continue;
            }
            // Loops around the one under analysis are not gone round.
            if base && self.plan.outer_heads.contains(head) {
                continue;
            }
            let visits = frame.visits.iter().find(|(seen, _)| seen == head).map_or(0, |(_, count)| *count);
            if visits < INNER_TURNS {
                continue;
            }
            let is_in = |block: BlockId| inside.get(block.0 as usize) == Some(&true);
            if !is_in(frame.block) {
                continue;
            }
            let event = Event::WornOut(frame.id, *head);
            match (is_in(then), is_in(otherwise)) {
                (true, false) => return Some((false, event)),
                (false, true) => return Some((true, event)),
                _ => {}
            }
        }
        None
    }

    /// A binary operation, with what its operands hold looked up.
    pub(super) fn binary(&mut self, state: &mut State, op: BinOp, a: &Value, b: &Value, span: Span) -> Value {
        let whole = |state: &State, value: &Value| match value {
            Value::Object(id) => match state.objects.get(id) {
                Some(Object::List(items, true)) => Value::Tuple(items.clone().into()),
                Some(Object::Items(items, 0)) => Value::Tuple(items.clone()),
                _ => value.clone(),
            },
            _ => value.clone(),
        };
        if matches!(op, BinOp::In | BinOp::NotIn) {
            if let Some(value) = self.header_test(state, a, b, span) {
                return if op == BinOp::In { value } else { arith::not(&mut self.symbols, &value) };
            }
            let b = self.range_items(state, b).unwrap_or_else(|| whole(state, b));
            return arith::binary(&mut self.symbols, op, a, &b);
        }
        if let Some(joined) = joined(op, &whole(state, a), &whole(state, b)) {
            return joined;
        }
        if let Some(value) = self.combined(state, op, a, b) {
            return value;
        }
        let asked = matches!(op, BinOp::Eq | BinOp::Ne | BinOp::Is | BinOp::IsNot) && *b == Value::None;
        let open = asked.then(|| self.open_name(state, a));
        let value = arith::binary(&mut self.symbols, op, open.as_ref().unwrap_or(a), b);
        if let Value::Bool(_, taint) = &value
            && taint.has(Taint::COUNTER)
            && arith::is_test(op)
        {
            let (x, y) = (arith::bounds(&self.symbols, a), arith::bounds(&self.symbols, b));
            state.push(Event::Counted(x.0 - y.0));
        }
        if let Value::Bool(_, taint) = &value
            && taint.has(Taint::CLOCK)
            && matches!(op, BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge)
        {
            let (x, y) = (arith::bounds(&self.symbols, a), arith::bounds(&self.symbols, b));
            let at = self.at(state, span);
            let paces = self.only_delays(state);
            state.push(Event::ClockTest { at, left: (y.1 - x.0).abs(), now: state.clock, paces });
        }
        value
    }
}
