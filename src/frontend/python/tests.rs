//! Dumps of the hard constructs (`testdata/lower/python`, rewritten with `STORMLINT_BLESS=1`), odd inputs, and
//! invariants over many files.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::print_stdout)]

use std::path::{Path, PathBuf};

use super::lower;
use crate::ir::dump::dump;
use crate::ir::{BlockId, Function, Instr, Module, Op, Slot, Term};
use crate::source::{Language, SourceFile};

fn lowered(path: &str, text: &str, module: &str) -> Module {
    let module = lower(&SourceFile::new(path, text, Language::Python), module);
    check(&module, path, text);
    module
}

fn text_of(text: &str) -> String {
    dump(&lowered("pkg/mod.py", text, "pkg.mod"))
}

#[test]
fn dumps() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/lower/python");
    let bless = std::env::var_os("STORMLINT_BLESS").is_some();
    let mut wrong = Vec::new();
    for source in python_files(&folder) {
        let text = std::fs::read_to_string(&source).unwrap();
        let got = text_of(&text);
        let expected = source.with_extension("dump");
        if bless {
            std::fs::write(&expected, &got).unwrap();
        } else if std::fs::read_to_string(&expected).unwrap_or_default() != got {
            wrong.push(format!("{}:\n{got}", expected.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn python_files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = walkdir::WalkDir::new(folder)
        .into_iter()
        .filter_map(Result::ok)
        .map(walkdir::DirEntry::into_path)
        .filter(|path| path.extension().is_some_and(|ext| ext == "py"))
        .collect();
    files.sort();
    files
}

/// Every number is in range, and loops go round.
fn check(module: &Module, path: &str, text: &str) {
    let length = text.len();
    // Words that may keep a loop from going round.
    let leaves = ["return", "raise", "break", "exit", "abort", "quit", "while True", "while 1", "while not False"];
    for function in &module.functions {
        let at = format!("{path}: {}", function.qualified_name);
        let blocks = function.blocks.len();
        let block_ok = |id: BlockId| assert!((id.0 as usize) < blocks, "{at}: block {} of {blocks}", id.0);
        assert!(blocks > 0, "{at}: no entry");
        assert!(function.span.end as usize <= length && function.span.start <= function.span.end, "{at}: span");
        for (index, param) in function.params.iter().enumerate() {
            assert_eq!(param.slot.0 as usize, index, "{at}: parameters come first");
            assert!(param.default.is_none_or(|id| module.function(id).is_some()), "{at}: default");
        }
        if let Some(parent) = function.parent {
            let parent = module.function(parent).expect("parent");
            for slot in &function.slots {
                assert!(slot.captured.is_none_or(|slot| parent.slot(slot).is_some()), "{at}: captured slot");
            }
        } else {
            assert!(function.slots.iter().all(|slot| slot.captured.is_none()), "{at}: captures of nothing");
        }
        for decorator in &function.decorators {
            assert!(module.function(decorator.value).is_some(), "{at}: decorator");
        }
        for block in &function.blocks {
            block.unwind.map(block_ok);
            successors(&block.term).into_iter().for_each(block_ok);
            let slot_ok = |slot: Slot| assert!((slot.0 as usize) < function.slots.len(), "{at}: slot {}", slot.0);
            for (index, instr) in block.instrs.iter().enumerate() {
                instr.dst.map(slot_ok);
                reads(module, instr).into_iter().for_each(slot_ok);
                assert!(instr.span.end as usize <= length, "{at}: span of {instr:?}");
                if matches!(instr.op, Op::Catch) {
                    assert_eq!(index, 0, "{at}: catch stands first");
                }
            }
            match &block.term {
                Term::Branch { cond, .. } => slot_ok(*cond),
                Term::Next { iter, item, .. } => {
                    slot_ok(*iter);
                    slot_ok(*item);
                }
                Term::Return(Some(value)) | Term::Raise(Some(value)) | Term::Propagate(value) => slot_ok(*value),
                _ => {}
            }
        }
        for it in &function.loops {
            block_ok(it.head);
            assert!(it.span.contains(it.header), "{at}: header");
            let body = text.get(it.header.end as usize..it.span.end as usize).unwrap_or_default();
            if it.is_comprehension || module.unparsed.is_empty() && !leaves.iter().any(|word| body.contains(word)) {
                assert!(goes_round(function, it.head), "{at}: a loop goes round: {body}");
            }
        }
    }
    for class in &module.classes {
        assert!(class.methods.iter().all(|id| module.function(*id).is_some()));
        assert!(class.fields.iter().filter_map(|field| field.value).all(|id| module.function(id).is_some()));
    }
}

fn goes_round(function: &Function, head: BlockId) -> bool {
    let mut seen = vec![false; function.blocks.len()];
    let mut todo = successors(&function.blocks[head.0 as usize].term);
    todo.extend(function.blocks[head.0 as usize].unwind);
    while let Some(id) = todo.pop() {
        if id == head {
            return true;
        }
        if !std::mem::replace(&mut seen[id.0 as usize], true) {
            let block = &function.blocks[id.0 as usize];
            todo.extend(successors(&block.term));
            todo.extend(block.unwind);
        }
    }
    false
}

fn successors(term: &Term) -> Vec<BlockId> {
    match term {
        Term::Goto(to) => vec![*to],
        Term::Branch { then, otherwise, .. } => vec![*then, *otherwise],
        Term::Next { body, done, .. } => vec![*body, *done],
        _ => Vec::new(),
    }
}

/// The slots of an instruction; what it names of the module is there.
fn reads(module: &Module, instr: &Instr) -> Vec<Slot> {
    let mut slots = instr.op.reads();
    match &instr.op {
        Op::SetGlobal(id, _) | Op::Global(id) => assert!(module.global(*id).is_some()),
        Op::Func(id) => {
            let function = module.function(*id).expect("function");
            assert_ne!(function.name, "<init>", "a function that was not lowered");
        }
        Op::Class(id) => assert!(module.class(*id).is_some()),
        Op::Matches(_, pattern) | Op::Bind(_, pattern) => slots.extend(pattern.binds()),
        _ => {}
    }
    slots
}

#[test]
fn standard_library() {
    let asked = std::process::Command::new("python3").args(["-c", "import os; print(os.__file__)"]).output();
    let Ok(asked) = asked else { return };
    let Some(library) = Path::new(String::from_utf8_lossy(&asked.stdout).trim()).parent().map(Path::to_path_buf) else {
        return;
    };
    for path in python_files(&library) {
        // Every file takes a minute without optimisation; a tenth of them has seen every construct.
        let chosen = path.as_os_str().len() % 10 == 3 || std::env::var_os("STORMLINT_ALL_FILES").is_some();
        if !chosen || path.components().any(|part| part.as_os_str() == "site-packages") {
            continue;
        }
        if let Ok(text) = std::fs::read_to_string(&path) {
            lowered(&path.to_string_lossy(), &text, "lib.mod");
        }
    }
}

#[test]
fn deep_nesting_and_long_chains() {
    let cases = [
        format!("x = {}1{}\n", "(".repeat(50_000), ")".repeat(50_000)),
        format!("x = {}1{}\n", "[".repeat(5_000), "]".repeat(5_000)),
        format!("x = a{}\n", " + b".repeat(20_000)),
        format!("x = a{}\n", " and b or c".repeat(10_000)),
        format!("if a{}:\n    pass\n", " or b and c".repeat(5_000)),
        format!("x = a{}\n", ".b(1)[2].c".repeat(10_000)),
        format!("x = {}a\n", "not ".repeat(10_000)),
        format!("x = {}a\n", "-".repeat(10_000)),
        format!("x = {}a\n", "lambda: ".repeat(3_000)),
        format!("x = {}1\n", "a if b else ".repeat(5_000)),
        format!("if a:\n    pass\n{}", "elif b():\n    c()\n".repeat(10_000)),
        format!("x: {}int{} = 1\n", "List[".repeat(5_000), "]".repeat(5_000)),
        format!("{}x = 1\n", "x = ".repeat(10_000)),
        (0..1_000).fold(String::new(), |text, depth| text + &" ".repeat(depth) + "if x:\n")
            + &" ".repeat(1_000)
            + "y()\n",
        (0..300).fold(String::new(), |text, depth| text + &" ".repeat(depth) + "def f():\n")
            + &" ".repeat(300)
            + "y()\n",
        (0..40).fold("def f():\n".to_owned(), |text, depth| {
            let margin = " ".repeat(depth + 1);
            text + &format!("{margin}try:\n{margin} a()\n{margin}finally:\n")
        }) + &" ".repeat(42)
            + "return 1\n",
        (0..40).fold("def f():\n".to_owned(), |text, depth| text + &" ".repeat(depth + 1) + "try:\n")
            + &" ".repeat(42)
            + "return 1\n"
            + &(0..40).rev().fold(String::new(), |text, depth| {
                let margin = " ".repeat(depth + 1);
                text + &format!("{margin}finally:\n{margin} if b: return 2\n")
            }),
        format!("x = {}1{}\n", "f(".repeat(5_000), ")".repeat(5_000)),
        format!("x = {}1{}\n", "[x for x in ".repeat(400), "]".repeat(400)),
        format!("x = {}1{}\n", "{a: ".repeat(400), "}".repeat(400)),
        format!("if {}1{}:\n    pass\n", "a and (b or (".repeat(400), "))".repeat(400)),
        format!("x = {}1{}\n", "lambda x=(".repeat(400), "): x".repeat(400)),
        format!("{} = x\n", "[".repeat(1_000) + "a" + &"]".repeat(1_000)),
        format!("match x:\n case {}a{}:\n  pass\n", "[".repeat(400), "]".repeat(400)),
        format!("x = f'{}{}'\n", "{a:".repeat(300), "}".repeat(300)),
        (0..150).fold(String::new(), |text, depth| {
            let margin = " ".repeat(depth);
            text + &format!("{margin}try:\n{margin} x()\n{margin}except E as e:\n")
        }) + &" ".repeat(151)
            + "raise\n",
        (0..300).fold(String::new(), |text, depth| text + &" ".repeat(depth) + "with a as b:\n")
            + &" ".repeat(300)
            + "y()\n",
        (0..150).fold(String::new(), |text, depth| {
            let margin = " ".repeat(2 * depth);
            text + &format!("{margin}class A:\n{margin} def f(self):\n")
        }) + &" ".repeat(300)
            + "y()\n",
        // Never closed: the parser has to recover.
        "(".repeat(5_000),
        "[".repeat(5_000),
        "{".repeat(5_000),
        "f(".repeat(5_000),
        "x = f'{".repeat(1_000),
        "if x:\n".repeat(5_000),
        "try:\n  x = (\n".repeat(2_000),
    ];
    for (at, text) in cases.iter().enumerate() {
        lowered(&format!("case {at}"), text, "");
    }
}

#[test]
fn broken_sources_keep_what_is_whole() {
    let module = lowered("a.py", "def f():\n    return g(\n\ndef h():\n    while True:\n        get()\n", "");
    assert!(!module.unparsed.is_empty());
    let module = lowered("a.py", "x = (1,\n", "");
    assert!(!module.unparsed.is_empty());
    for text in [
        "",
        "\u{feff}import a\r\n\x0cx = a.b\r\n",
        "def",
        "class",
        "@",
        "x = ",
        "try:\n",
        "match x:\n case",
        "f'{'",
        "\"\"\"",
    ] {
        lowered("a.py", text, "");
    }
}

#[test]
fn byte_order_mark_and_line_ends() {
    let text = text_of("\u{feff}import requests\r\n\x0cdef f():\r\n\treturn requests.get('u')\r\n");
    assert!(text.contains("path requests.get"), "{text}");
}

#[test]
fn test_code_is_marked() {
    let text = "def helper(): pass\nclass TestX:\n    def check(self): pass\ndef test_it():\n    def inner(): pass\n";
    let marked = |path: &str| -> Vec<String> {
        let module = lowered(path, text, "");
        module.functions.iter().filter(|it| it.is_test).map(|it| it.qualified_name.clone()).collect()
    };
    assert_eq!(marked("pkg/mod.py"), ["TestX.check", "test_it", "test_it.inner"]);
    assert_eq!(marked("tests/mod.py").len(), 5);
    assert_eq!(marked("conftest.py").len(), 5);
    assert_eq!(marked("latest/testament.py").len(), 3);
}

#[test]
fn cut_off_sources() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/lower/python");
    for source in python_files(&folder) {
        let text = std::fs::read_to_string(&source).unwrap();
        for cut in (0..text.len()).step_by(7).filter(|cut| text.is_char_boundary(*cut)) {
            lowered("cut.py", &text[..cut], "");
            lowered("cut.py", &text[cut..], "");
        }
    }
}

#[test]
fn noise() {
    let mut seed = 12345u64;
    let mut random = |n: usize, alphabet: &[&str]| {
        let mut out = String::new();
        for _ in 0..n {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            out += alphabet[(seed >> 33) as usize % alphabet.len()];
        }
        out
    };
    let words = [
        "if ", "x", ":", "\n", "  ", "(", ")", "[", "{", "}", "try:", "\n    ", "def f(", "=", "\"", "'", "lambda ",
        "for ", " in ", "match ", "case ", "*", "print ", ",", "@", "class ", "\\", "f'{", "async ", "await ", "with ",
        " as ", "except ", "else:",
    ];
    let cases = vec![
        "(".repeat(50_000),
        "{".repeat(50_000),
        random(3_000, &words),
        random(30_000, &words),
        random(30_000, &["match", " ", "print", "x", ",", "(", ")", ":", "\n", "*", "type", "["]),
        "print ".repeat(20_000),
        "match x".repeat(20_000),
        "*a, ".repeat(20_000),
        "x = (a, b, c".repeat(5_000),
        random(30_000, &["a", "=", "(", ")", ","]),
    ];
    for (at, text) in cases.iter().enumerate() {
        lowered(&format!("case {at}"), text, "");
    }
}
