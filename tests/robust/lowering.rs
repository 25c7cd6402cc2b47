//! Python's graphs go where Python goes: for generated functions, which call can follow which is read off CPython's own
//! bytecode (jumps and exception tables), and has to be the same in the lowered graph.
//!
//! Every statement calls a marker. Calls and `raise` can fail; so can what a failed test of handlers raises again. What
//! lies between is taken to be safe on both sides. `STORMLINT_PROGRAMS=5000` makes more, `STORMLINT_SEED=7` others.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use stormlint::frontend;
use stormlint::ir::{Block, BlockId, Const, Function, FunctionKind, Op, Slot, Term};
use stormlint::source::{Language, SourceFile};

/// Which marker comes next after which; the entry is -1, a return -2, an exception that leaves -3.
type Edges = BTreeSet<(i64, i64)>;
const ENTRY: i64 = -1;
const RETURN: i64 = -2;
const ESCAPE: i64 = -3;

const ORACLE: &str = r#"
import dis, json, sys
END = {"RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE", "JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT"}

def edges(code):
    bytecode = dis.Bytecode(code)
    instrs = [i for i in bytecode if i.opname != "CACHE"]
    follow = {a.offset: b.offset for a, b in zip(instrs, instrs[1:])}
    table = sorted(bytecode.exception_entries, key=lambda e: e.start)
    at = {i.offset: i for i in instrs}
    mark, last = {}, None
    for i in instrs:
        if i.opname in ("LOAD_CONST", "LOAD_SMALL_INT"):
            last = i.argval
        elif i.opname == "CALL" and type(last) is int:
            mark[i.offset], last = last, None
    def thrown(offset):
        for entry in table:
            if entry.start <= offset < entry.end:
                return entry.target
        return None
    def after(offset):
        i, to = at[offset], []
        if i.opcode in dis.hasjrel or i.opcode in dis.hasjabs:
            to.append(i.argval)
        if i.opname not in END and offset in follow:
            to.append(follow[offset])
        return to
    found, seen, starts = set(), set(), [(-1, [instrs[0].offset])]
    while starts:
        name, work = starts.pop()
        passed = set()
        while work:
            offset = work.pop()
            if offset in passed:
                continue
            passed.add(offset)
            i = at[offset]
            if offset in mark:
                found.add((name, mark[offset]))
                if offset not in seen:
                    seen.add(offset)
                    to = thrown(offset)
                    if to is None:
                        found.add((mark[offset], -3))
                    starts.append((mark[offset], after(offset) + ([] if to is None else [to])))
            elif i.opname in ("RETURN_VALUE", "RETURN_CONST"):
                found.add((name, -2))
            elif i.opname in ("RAISE_VARARGS", "RERAISE"):
                to = thrown(offset)
                if to is None:
                    found.add((name, -3))
                else:
                    work.append(to)
            else:
                work += after(offset)
    return sorted(found)

code = compile(sys.stdin.read(), "x.py", "exec")
print(json.dumps([edges(c) for c in code.co_consts if hasattr(c, "co_code")]))
"#;

#[derive(Debug, Clone)]
enum Stmt {
    Mark,
    Test(Vec<Stmt>, Vec<Stmt>),
    While { always: bool, body: Vec<Stmt>, or: Vec<Stmt> },
    For(Vec<Stmt>, Vec<Stmt>),
    Try { body: Vec<Stmt>, handlers: Vec<Vec<Stmt>>, or: Vec<Stmt>, finally: Vec<Stmt> },
    With(Vec<Stmt>),
    Match(Vec<Vec<Stmt>>, bool),
    Return,
    Break,
    Continue,
    Raise,
    Again,
    Choice,
    Both,
    Assert,
}

fn statements() -> BoxedStrategy<Vec<Stmt>> {
    let leaf = prop_oneof![
        6 => Just(Stmt::Mark),
        2 => Just(Stmt::Return),
        2 => Just(Stmt::Break),
        2 => Just(Stmt::Continue),
        2 => Just(Stmt::Raise),
        1 => Just(Stmt::Again),
        1 => Just(Stmt::Choice),
        1 => Just(Stmt::Both),
        1 => Just(Stmt::Assert),
    ];
    let one = leaf.prop_recursive(4, 24, 3, |inner| {
        let some = proptest::collection::vec(inner.clone(), 1..4);
        let maybe = proptest::collection::vec(inner, 0..3);
        prop_oneof![
            (some.clone(), maybe.clone()).prop_map(|(then, or)| Stmt::Test(then, or)),
            (any::<bool>(), some.clone(), maybe.clone()).prop_map(|(always, body, or)| Stmt::While {
                always,
                body,
                or
            }),
            (some.clone(), maybe.clone()).prop_map(|(body, or)| Stmt::For(body, or)),
            (some.clone(), proptest::collection::vec(some.clone(), 0..3), maybe.clone(), maybe)
                .prop_map(|(body, handlers, or, finally)| Stmt::Try { body, handlers, or, finally }),
            some.clone().prop_map(Stmt::With),
            (proptest::collection::vec(some, 1..3), any::<bool>()).prop_map(|(arms, whole)| Stmt::Match(arms, whole)),
        ]
    });
    proptest::collection::vec(one, 1..5).boxed()
}

/// Writes statements, with a marker of its own number wherever something can fail.
#[derive(Default)]
struct Writer {
    text: String,
    marks: i64,
    loops: usize,
}

impl Writer {
    fn mark(&mut self) -> String {
        self.marks += 1;
        format!("m({})", 1000 + self.marks)
    }

    fn line(&mut self, depth: usize, text: &str) {
        let _ = writeln!(self.text, "{}{text}", "    ".repeat(depth));
    }

    fn block(&mut self, depth: usize, head: &str, body: &[Stmt]) {
        self.line(depth, head);
        body.iter().for_each(|stmt| self.statement(depth + 1, stmt));
    }

    fn optional(&mut self, depth: usize, head: &str, body: &[Stmt]) {
        if !body.is_empty() {
            self.block(depth, head, body);
        }
    }

    fn in_loop(&mut self, depth: usize, head: &str, body: &[Stmt]) {
        self.loops += 1;
        self.block(depth, head, body);
        self.loops -= 1;
    }

    fn statement(&mut self, depth: usize, stmt: &Stmt) {
        let mark = self.mark();
        match stmt {
            Stmt::Break if self.loops > 0 => self.line(depth, "break"),
            Stmt::Continue if self.loops > 0 => self.line(depth, "continue"),
            Stmt::Mark | Stmt::Break | Stmt::Continue => self.line(depth, &mark),
            Stmt::Test(then, or) => {
                self.block(depth, &format!("if {mark}:"), then);
                self.optional(depth, "else:", or);
            }
            Stmt::While { always, body, or } => {
                let head = if *always { "while True:".to_owned() } else { format!("while not {mark}:") };
                self.in_loop(depth, &head, body);
                self.optional(depth, "else:", or);
            }
            Stmt::For(body, or) => {
                self.in_loop(depth, &format!("for x in {mark}:"), body);
                self.optional(depth, "else:", or);
            }
            Stmt::Try { body, handlers, or, finally } => {
                self.block(depth, "try:", body);
                for (at, handler) in handlers.iter().enumerate() {
                    let last = at + 1 == handlers.len() && at % 2 == 1;
                    let head = if last { "except:".to_owned() } else { format!("except E{at} as e{at}:") };
                    self.block(depth, &head, handler);
                }
                if !handlers.is_empty() {
                    self.optional(depth, "else:", or);
                }
                if handlers.is_empty() && finally.is_empty() {
                    self.block(depth, "finally:", &[Stmt::Mark]);
                }
                self.optional(depth, "finally:", finally);
            }
            Stmt::With(body) => self.block(depth, &format!("with {mark} as w:"), body),
            Stmt::Match(arms, whole) => {
                self.line(depth, &format!("match {mark}:"));
                for (at, arm) in arms.iter().enumerate() {
                    self.block(depth + 1, &format!("case {at}:"), arm);
                }
                if *whole {
                    self.block(depth + 1, "case _:", &[Stmt::Mark]);
                }
            }
            Stmt::Return => self.line(depth, &format!("return {mark}")),
            Stmt::Raise => self.line(depth, &format!("raise {mark}")),
            Stmt::Again => self.line(depth, "raise"),
            Stmt::Choice => {
                let (one, other) = (self.mark(), self.mark());
                self.line(depth, &format!("x = {one} if {mark} else {other}"));
            }
            // Of `a and b or c` the graph tells only by values that a false `b` cannot make the whole true.
            Stmt::Both => {
                let other = self.mark();
                self.line(depth, &format!("x = {mark} and {other}"));
            }
            Stmt::Assert => self.line(depth, &format!("assert {mark}")),
        }
    }
}

/// The same relation, read off the lowered graph.
fn edges(function: &Function) -> Edges {
    let instrs = || function.blocks.iter().flat_map(|block| &block.instrs);
    let numbers: BTreeMap<Slot, i64> = instrs()
        .filter_map(|instr| match instr.op {
            Op::Const(Const::Int(number)) => Some((instr.dst?, number)),
            _ => None,
        })
        .collect();
    let truths: BTreeMap<Slot, bool> = instrs()
        .filter_map(|instr| match instr.op {
            Op::Const(Const::Bool(truth)) => Some((instr.dst?, truth)),
            _ => None,
        })
        .collect();
    let mark = |op: &Op| match op {
        Op::Call { args, .. } => numbers.get(&args.first()?.value).copied().filter(|number| *number > 1000),
        _ => None,
    };
    type At = (BlockId, usize);
    let raised = |block: &Block| block.unwind.map(|to| (to, 0));
    let (mut found, mut seen) = (Edges::new(), BTreeSet::new());
    let mut starts: Vec<(i64, Vec<At>)> = vec![(ENTRY, vec![(BlockId(0), 0)])];
    while let Some((name, mut work)) = starts.pop() {
        let mut passed = BTreeSet::new();
        while let Some(at) = work.pop() {
            let Some(block) = function.block(at.0).filter(|_| passed.insert((at.0.0, at.1))) else { continue };
            if let Some(instr) = block.instrs.get(at.1) {
                let next = (at.0, at.1 + 1);
                let Some(to) = mark(&instr.op) else {
                    work.push(next);
                    continue;
                };
                found.insert((name, to));
                if seen.insert((at.0.0, at.1)) {
                    if block.unwind.is_none() {
                        found.insert((to, ESCAPE));
                    }
                    starts.push((to, raised(block).into_iter().chain([next]).collect()));
                }
                continue;
            }
            match &block.term {
                Term::Goto(to) => work.push((*to, 0)),
                Term::Branch { cond, then, otherwise } => {
                    let truth = truths.get(cond);
                    work.extend([(*then, 0)].into_iter().filter(|_| truth != Some(&false)));
                    work.extend([(*otherwise, 0)].into_iter().filter(|_| truth != Some(&true)));
                }
                Term::Next { body, done, .. } => work.extend([(*body, 0), (*done, 0)]),
                Term::Return(_) | Term::Propagate(_) => _ = found.insert((name, RETURN)),
                Term::Raise(_) => match raised(block) {
                    Some(to) => work.push(to),
                    None => _ = found.insert((name, ESCAPE)),
                },
                Term::Abort => {}
            }
        }
    }
    found
}

fn number(name: &str, default: u32) -> u32 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn control_goes_where_pythons_own_bytecode_goes() {
    let has_tables = super::python(&["-c", "import sys; sys.exit(sys.version_info < (3, 11))"], "").is_some();
    if !has_tables {
        assert!(std::env::var_os("CI").is_none(), "CI has a Python whose bytecode can be read");
        return;
    }
    let mut seed = [17; 32];
    seed[..4].copy_from_slice(&number("STORMLINT_SEED", 1).to_le_bytes());
    let mut runner = TestRunner::new_with_rng(Default::default(), TestRng::from_seed(RngAlgorithm::ChaCha, &seed));
    let programs: Vec<String> = (0..number("STORMLINT_PROGRAMS", 500))
        .map(|at| {
            let mut writer = Writer::default();
            let body = statements().new_tree(&mut runner).unwrap().current();
            writer.block(0, &format!("def f{at}():"), &body);
            writer.text
        })
        .collect();
    let text = programs.concat();
    let said = super::python(&["-c", ORACLE], &text).unwrap();
    let oracle: Vec<Vec<(i64, i64)>> = serde_json::from_str(&said).unwrap();
    assert_eq!(oracle.len(), programs.len());
    let module = frontend::lower(&SourceFile::new("x.py", text.as_str(), Language::Python), "");
    assert!(module.unparsed.is_empty(), "{:?}", module.unparsed);
    let functions: Vec<_> = module.functions.iter().filter(|it| it.kind == FunctionKind::Named).collect();
    assert_eq!(functions.len(), programs.len());
    let mut wrong = Vec::new();
    for ((program, function), oracle) in programs.iter().zip(functions).zip(oracle) {
        let (ours, theirs) = (edges(function), Edges::from_iter(oracle));
        let more: Vec<_> = ours.difference(&theirs).collect();
        let less: Vec<_> = theirs.difference(&ours).collect();
        if !more.is_empty() || !less.is_empty() {
            wrong.push((program.len(), format!("{program}ours alone: {more:?}\nPython's alone: {less:?}\n")));
        }
    }
    wrong.sort();
    let count = wrong.len();
    let first: String = wrong.into_iter().take(4).map(|(_, text)| text).collect();
    assert_eq!(count, 0, "of {} functions; the shortest:\n{first}", programs.len());
}
