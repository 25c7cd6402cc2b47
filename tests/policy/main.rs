//! The policy that is printed is the policy that runs.
//!
//! Retry loops are generated from a small grammar ([`program`]), in both languages. Each is linted, and each is
//! executed against a server in this process that fails in every way that it can: with each status for ever, with each
//! exception, with some in turn. What was said is then held against what was seen, attempt by attempt ([`compare`]).
//! Python programs are executed by Python, Rust programs by an interpreter of the graphs that the linter's own frontend
//! makes; that interpreter is held against Python on the Python programs.
//!
//! A fact that is not stated is no fault; the share of those is printed (`cargo test --test policy -- --nocapture`).
//! `STORMLINT_PROGRAMS=5000` generates so many programs, `STORMLINT_SEED=7` others.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::print_stdout, missing_docs)]

mod compare;
mod condition;
mod interpreter;
mod observed;
mod program;
mod python;
mod rust;
mod statuses;
mod world;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Instant;

use compare::{ADVICE, Seen, Verdict};
use observed::{Runs, Scenario, run_python};
use program::{Bound, Program};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use stormlint::frontend;
use stormlint::source::{Language, SourceFile};

/// Programs of each language in an ordinary run.
const PROGRAMS: u32 = 200;

fn number(name: &str, default: u32) -> u32 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn runner(salt: u8) -> TestRunner {
    let mut seed = [salt; 32];
    seed[..4].copy_from_slice(&number("STORMLINT_SEED", 1).to_le_bytes());
    TestRunner::new_with_rng(Default::default(), TestRng::from_seed(RngAlgorithm::ChaCha, &seed))
}

/// All ways in which the server fails.
fn scenarios(language: Language) -> Vec<Scenario> {
    // Answers below 400 are no failures of a server.
    let mut all: Vec<Scenario> = (400..600).map(Scenario::status).collect();
    all.push(Scenario::status(200));
    let exceptions: &[&str] = match language {
        Language::Python => &["ConnectionError", "ConnectTimeout", "ReadTimeout", "ChunkedEncodingError"],
        Language::Rust => &["Connect", "ConnectTimeout", "Timeout", "Request"],
    };
    all.extend(exceptions.iter().map(|name| Scenario::exception(name)));
    for status in [429, 503] {
        all.extend(ADVICE.iter().map(|advice| Scenario::advised(status, advice)));
    }
    let turns = [
        vec![Scenario::status(503), Scenario::exception(exceptions[0]), Scenario::status(429)],
        vec![Scenario::exception(exceptions[2]), Scenario::status(429), Scenario::status(500)],
    ];
    all.extend(turns.map(|turns| Scenario {
        fails: turns.iter().flat_map(|turn| turn.fails.clone()).cycle().take(60).collect(),
        advice: None,
    }));
    all
}

fn text(program: &Program) -> String {
    match program.language {
        Language::Python => python::text(program),
        Language::Rust => rust::text(program),
    }
}

/// What a program does, by the interpreter of graphs.
fn interpret(language: Language, text: &str, scenarios: &[Scenario]) -> Vec<Runs> {
    let file = SourceFile::new("program", text.to_owned(), language);
    let module = frontend::lower(&file, "program");
    assert!(module.unparsed.is_empty(), "{:?}\n{text}", module.unparsed);
    let entry = if language == Language::Python { "fetch" } else { "start" };
    scenarios.iter().map(|scenario| interpreter::run(&module, entry, scenario)).collect()
}

/// What each program does: Python programs by Python.
fn execute(language: Language, work: &[(String, Vec<Scenario>)]) -> Vec<Vec<Runs>> {
    match language {
        Language::Python => run_python(work),
        Language::Rust => work.iter().map(|(text, scenarios)| interpret(language, text, scenarios)).collect(),
    }
}

fn judge(program: &Program, text: &str, scenarios: &[Scenario], runs: &[Runs]) -> Verdict {
    let deadline = match program.bound {
        Bound::Deadline(seconds, _) => Some(f64::from(seconds)),
        _ => None,
    };
    let well = scenarios.iter().position(|scenario| *scenario == Scenario::status(200)).expect("a success");
    let seen = Seen { scenarios, runs, deadline, success: &runs[well].high.outcome };
    compare::compare(&compare::lint(program.language, text), &seen)
}

/// The same program with less in it, as long as the same fact is wrong.
fn shrunk(mut tree: impl ValueTree<Value = Program>, fact: &str) -> Program {
    let mut worst = tree.current();
    let scenarios = scenarios(worst.language);
    for _ in 0..60 {
        if !tree.simplify() {
            break;
        }
        loop {
            let program = tree.current();
            let work = [(text(&program), scenarios.clone())];
            let runs = execute(program.language, &work).remove(0);
            let verdict = judge(&program, &work[0].0, &scenarios, &runs);
            if verdict.faults.iter().any(|fault| fault.starts_with(fact)) {
                worst = program;
                break;
            }
            if !tree.complicate() {
                return worst;
            }
        }
    }
    worst
}

/// Generates, executes, lints and compares; panics with the smallest program for each fact that is wrong.
fn hold(language: Language) {
    let begun = Instant::now();
    let mut runner = runner(if language == Language::Python { 1 } else { 2 });
    let strategy = program::any_in(language);
    let count = number("STORMLINT_PROGRAMS", PROGRAMS);
    let mut trees: Vec<Option<_>> =
        (0..count).map(|_| Some(strategy.new_tree(&mut runner).expect("a program"))).collect();
    let programs: Vec<Program> = trees.iter().flatten().map(ValueTree::current).collect();
    let scenarios = scenarios(language);
    let work: Vec<(String, Vec<Scenario>)> =
        programs.iter().map(|program| (text(program), scenarios.clone())).collect();
    let seen = execute(language, &work);
    println!("{count} programs executed after {:?}", begun.elapsed());
    if language == Language::Python {
        agree(&work, &seen);
        println!("and interpreted after {:?}", begun.elapsed());
    }
    let mut tally: BTreeMap<&str, (u32, u32)> = BTreeMap::new();
    let mut faults: BTreeMap<String, Vec<(usize, String)>> = BTreeMap::new();
    for (at, ((program, (text, _)), runs)) in programs.iter().zip(&work).zip(&seen).enumerate() {
        let verdict = judge(program, text, &scenarios, runs);
        for (fact, (agreed, unknown)) in verdict.tally.0 {
            let entry = tally.entry(fact).or_default();
            if unknown > 0 && entry.1 == 0 && std::env::var_os("STORMLINT_UNKNOWN").is_some() {
                println!("### {fact} is not stated of\n{text}");
            }
            *entry = (entry.0 + agreed, entry.1 + unknown);
        }
        for fault in verdict.faults {
            let fact = fault.split(':').next().unwrap_or_default().to_owned();
            let of_fact = faults.entry(fact).or_default();
            if of_fact.last().is_none_or(|(last, _)| *last != at) {
                of_fact.push((at, fault));
            }
        }
    }
    println!("and compared after {:?}", begun.elapsed());
    for (fact, (agreed, unknown)) in &tally {
        let share = f64::from(*unknown) * 100.0 / f64::from(agreed + unknown);
        println!("  {fact}: {agreed} agree, {unknown} are not stated ({share:.1} %)");
    }
    let mut report = String::new();
    for (fact, of_fact) in &faults {
        let _ = writeln!(report, "\n### {fact}: wrong in {} programs", of_fact.len());
        for (at, fault) in of_fact.iter().take(number("STORMLINT_SHOWN", 1) as usize) {
            let small = trees[*at].take().map_or_else(|| programs[*at].clone(), |tree| shrunk(tree, fact));
            let _ = writeln!(report, "{fault}\n{}", text(&small));
        }
    }
    assert!(faults.is_empty(), "what is said is not what runs\n{report}");
}

/// The interpreter does what Python does.
fn agree(work: &[(String, Vec<Scenario>)], seen: &[Vec<Runs>]) {
    for ((text, scenarios), runs) in work.iter().zip(seen) {
        for ((scenario, real), own) in scenarios.iter().zip(runs).zip(interpret(Language::Python, text, scenarios)) {
            let alike = real.low.is_like(&own.low) && real.high.is_like(&own.high);
            assert!(alike, "{scenario:?}\nPython: {real:?}\nhere: {own:?}\n{text}");
        }
    }
}

#[test]
fn the_policy_of_python_programs_is_the_one_that_runs() {
    hold(Language::Python);
}

#[test]
fn the_policy_of_rust_programs_is_the_one_that_runs() {
    hold(Language::Rust);
}
