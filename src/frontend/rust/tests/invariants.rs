//! What must hold for any file at all, checked on the sources of other crates where they are at hand.

use std::path::{Path, PathBuf};

use crate::ir::{Function, Module, Op, Slot, Term};
use crate::source::{Language, SourceFile};

fn slots_of(op: &Op) -> Vec<Slot> {
    let mut slots = op.reads();
    if let Op::Matches(_, pattern) | Op::Bind(_, pattern) = op {
        slots.extend(pattern.binds());
    }
    slots
}

/// Every index is in range, and every span in the text.
pub(super) fn check(module: &Module, text: &str) {
    for function in &module.functions {
        check_function(module, function, text);
    }
    for class in &module.classes {
        assert!(class.methods.iter().all(|id| module.function(*id).is_some()));
    }
    let spans = module.unparsed.iter().map(|part| part.span).chain(module.globals.iter().map(|global| global.span));
    assert!(spans.into_iter().all(|span| text.get(span.range()).is_some()));
}

fn check_function(module: &Module, function: &Function, text: &str) {
    let name = &function.qualified_name;
    let slot_ok = |slot: Slot| (slot.0 as usize) < function.slots.len();
    let in_text = |span: crate::source::Span| text.get(span.range()).is_some();
    assert!(in_text(function.span) && in_text(function.header), "{name}: span");
    assert!(function.params.iter().all(|param| slot_ok(param.slot)), "{name}: parameter");
    for l in &function.loops {
        assert!(function.block(l.head).is_some(), "{name}: loop");
        assert!(in_text(l.span) && l.span.contains(l.header), "{name}: loop {:?} {:?}", l.span, l.header);
    }
    let parent = function.parent.and_then(|id| module.function(id));
    for slot in &function.slots {
        if let Some(captured) = slot.captured {
            let parent = parent.expect("a closure has a parent");
            assert!((captured.0 as usize) < parent.slots.len(), "{name}: captured");
        }
    }
    for block in &function.blocks {
        for instr in &block.instrs {
            assert!(instr.dst.is_none_or(slot_ok), "{name}: {instr:?}");
            assert!(slots_of(&instr.op).into_iter().all(slot_ok), "{name}: {instr:?}");
            assert!(in_text(instr.span), "{name}: {instr:?}");
            if let Op::Func(id) = &instr.op {
                assert!(module.function(*id).is_some(), "{name}");
            }
        }
        let targets = match &block.term {
            Term::Goto(to) => vec![*to],
            Term::Branch { cond, then, otherwise } => {
                assert!(slot_ok(*cond));
                vec![*then, *otherwise]
            }
            Term::Next { iter, item, body, done } => {
                assert!(slot_ok(*iter) && slot_ok(*item));
                vec![*body, *done]
            }
            Term::Return(slot) | Term::Raise(slot) => {
                assert!(slot.is_none_or(slot_ok));
                Vec::new()
            }
            Term::Propagate(slot) => {
                assert!(slot_ok(*slot));
                Vec::new()
            }
            Term::Abort => Vec::new(),
        };
        assert!(targets.into_iter().all(|to| function.block(to).is_some()), "{name}: edge");
        assert!(in_text(block.term_span), "{name}: terminator");
    }
}

fn sources(folder: &Path, out: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut entries: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            sources(&path, out);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            out.push(path);
        }
    }
}

#[test]
fn holds_for_the_sources_of_other_crates() {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| std::env::home_dir().map(|home| home.join(".cargo")));
    let Some(folder) = home.map(|home| home.join("registry").join("src")) else { return };
    let mut files = Vec::new();
    sources(&folder, &mut files);
    let step = files.len() / 300 + 1;
    for path in files.iter().step_by(step) {
        let Ok(text) = std::fs::read_to_string(path) else { continue };
        if text.len() > 400_000 {
            continue;
        }
        let module = super::super::lower(&SourceFile::new("src/lib.rs", text.as_str(), Language::Rust), "krate::part");
        check(&module, &text);
    }
}

#[test]
fn survives_any_text() {
    let deep = |open: &str, close: &str, n: usize| {
        format!("fn f() {{ let x = {}1{}; }} fn g() {{ h(); }}", open.repeat(n), close.repeat(n))
    };
    let texts = [
        String::new(),
        "\u{feff}#!/usr/bin/env run\nfn main() { loop { break; } }".to_owned(),
        "fn f( { ) } fn".to_owned(),
        "fn ok() {}\nfn bad() { let = ; }\nfn fine() { loop {} }".to_owned(),
        "fn ok() {}\n\nfn bad() { \"unclosed }\n".to_owned(),
        "impl A { fn ok(&self) {} fn bad(&self) { let = ; } fn fine(&self) {} }".to_owned(),
        deep("(", ")", 1_500),
        deep("{", "}", 1_500),
        deep("[", "]", 50_000),
        deep("!", "", 1_500),
        deep("|a| ", "", 1_500),
        deep("if a { 1 } else ", "", 1_500),
        deep("match a { _ => ", "}", 1_200),
        deep("x = ", "", 1_500),
        deep("1 + ", "", 100_000),
        deep("", ".a()", 1_800),
        deep("", "?", 1_800),
        deep("", ".map_err(|e| e)", 900),
        deep("m!(", ")", 1_200),
        deep("loop { ", "}", 1_200),
        deep("async { ", "}", 600),
        format!("fn f(x: {}u8{}) {{}}", "Vec<".repeat(1_500), ">".repeat(1_500)),
        format!("fn f() {{ let {}x{} = 1; }}", "Some(".repeat(1_500), ")".repeat(1_500)),
        format!("use {}a{};", "{".repeat(1_500), "}".repeat(1_500)),
        format!("{}{}", "mod a {".repeat(1_200), "}".repeat(1_200)),
    ];
    // Just below and above what an ordinary stack is trusted with.
    let shapes = [
        ("(", ")"),
        ("{", "}"),
        ("!", ""),
        ("|a| ", ""),
        ("m!(", ")"),
        ("loop { ", "}"),
        ("async { ", "}"),
        ("if a { 1 } else ", "{}"),
        ("match a { Some(x) if x > 1 => 1, _ => ", "}"),
        ("a.map_err(|e| ", ")"),
        ("select! { x = f() => ", "}"),
        ("vec![", "]"),
    ];
    let near = shapes.iter().flat_map(|(open, close)| [9, 19, 36, 38, 45].map(|n| deep(open, close, n)));
    for text in texts.into_iter().chain(near) {
        let module = super::lower(&text);
        check(&module, &text);
    }
}
