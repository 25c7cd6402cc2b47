//! Every kind of file that a commit hook or a gate meets. Each stands beside a sound one with a known fault: that is
//! found, nothing goes wrong, and the run ends as it should.
//!
//! `STORMLINT_LARGE=1` takes the sizes of the worst files known in place of a tenth.

use std::fmt::Write as _;

use super::common::places;
use super::{SENTINEL, folder, lint};

/// What is to be said of a file.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Told {
    /// Nothing.
    Sound,
    /// That a part of it was not checked.
    InPart,
    /// That, or nothing.
    Either,
}

fn large(number: usize) -> usize {
    if std::env::var_os("STORMLINT_LARGE").is_some() { number } else { number / 10 }
}

/// Checks one file under each name beside the sound one.
fn hold(name: &str, bytes: &[u8], told: Told) {
    let folder = folder();
    folder.write("sound.py", SENTINEL).write(name, bytes);
    let ran = lint(&folder.0, &["--output-format", "json", "--isolated"]);
    let places = places(&ran);
    let is_found = places.iter().any(|place| place == "sound.py:5 [unbounded-retry]");
    assert!(is_found, "{name}: the other file was lost: {places:?} {}", ran.err);
    let errors = &ran.json()["errors"];
    assert!(ran.code == Some(1) && ran.err.is_empty(), "{name}: {:?} {} {errors}", ran.code, ran.err);
    let (path, _) = name.split_once('#').unwrap_or((name, ""));
    let unparsed = places.iter().any(|place| place.starts_with(path) && place.ends_with("[unparsed-source]"));
    match told {
        Told::Sound => assert!(!unparsed, "{name}: {places:?}"),
        Told::InPart => assert!(unparsed, "{name}: {places:?}"),
        Told::Either => {}
    }
}

fn nested(open: &str, inner: &str, close: &str, depth: usize) -> String {
    format!("{}{inner}{}", open.repeat(depth), close.repeat(depth))
}

#[test]
fn bytes_of_all_kinds() {
    let utf16: Vec<u8> = "x = 1\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let cases: &[(&str, &[u8], Told)] = &[
        ("empty.py", b"", Told::Sound),
        ("empty.rs", b"", Told::Sound),
        ("blank.py", b" \t\n\x0c\n", Told::Sound),
        ("bom.py", b"\xef\xbb\xbfx = 1\n", Told::Sound),
        ("bom.rs", b"\xef\xbb\xbffn main() {}\n", Told::Sound),
        ("crlf.py", b"def f():\r\n    return 1\r\n", Told::Sound),
        ("crlf.rs", b"fn main() {\r\n}\r\n", Told::Sound),
        ("cr.py", b"def f():\r    return 1\rx = f()\r", Told::Sound),
        ("mixed.py", b"def f():\r\n    return 1\rx = 2\ny = 3\n", Told::Sound),
        ("nul.py", b"x = 1\n\0\0y = 2\n", Told::Either),
        ("nul.rs", b"fn f() {}\n\0\0fn g() {}\n", Told::InPart),
        ("latin.py", b"# -*- coding: latin-1 -*-\nx = '\xe9'\n", Told::Sound),
        ("latin-cr.py", b"#!/usr/bin/python\r# coding: latin-1\rx = '\xe9'\r", Told::Sound),
        ("cp1252.py", b"# vim: set fileencoding=cp1252 :\nx = '\x80'\n", Told::Sound),
        ("koi8.py", b"# coding: koi8-r\nx = '\xc1\xc2'\n", Told::Sound),
        ("nonsense.py", b"# coding: no-such-thing\nx = '\xc1'\n", Told::Sound),
        ("wrong.py", b"x = '\xff\xfe\x80'\n", Told::Sound),
        ("wrong.rs", b"fn main() { let _ = \"\xff\"; }\n", Told::Sound),
        ("utf16.py", &utf16, Told::Either),
        ("binary.py", &[0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0xff, 0xfe, 0, 3], Told::Either),
        ("shebang.py", b"#!/usr/bin/env python3\nx = 1\n", Told::Sound),
        ("shebang.rs", b"#!/usr/bin/env run-cargo-script\nfn main() {}\n", Told::Sound),
        ("no-end.py", b"def f():\n    return 1", Told::Sound),
        ("backslash.py", b"x = 1 + \\", Told::Either),
    ];
    for (name, bytes, told) in cases {
        hold(name, bytes, *told);
    }
}

#[test]
fn a_line_ends_at_a_lone_carriage_return() {
    let folder = folder();
    folder.write("a.py", SENTINEL.replace('\n', "\r"));
    let ran = lint(&folder.0, &["--output-format", "json"]);
    assert!(places(&ran).contains(&"a.py:5 [unbounded-retry]".to_owned()), "{}", ran.out);
}

#[test]
fn all_that_an_editor_or_a_merge_leaves_behind() {
    let cases = [
        ("half.py", "def f(x):\n    return g(x, \n\n\ndef h(y):\n    while y:\n        y = g(y)\n", Told::InPart),
        ("dots.py", "import os\nos.path.\n\n\ndef f():\n    return 1\n", Told::InPart),
        ("quote.py", "x = \"abc\n\n\ndef f():\n    return 1\n", Told::InPart),
        ("triple.py", "def f():\n    return 1\n\n\nx = \"\"\"abc\n", Told::InPart),
        ("merge.py", "<<<<<<< HEAD\nx = 1\n=======\nx = 2\n>>>>>>> theirs\n\n\ndef f():\n    return x\n", Told::InPart),
        (
            "merge.rs",
            "fn f() {}\n<<<<<<< HEAD\nfn g() {}\n=======\nfn g() -> u8 { 1 }\n>>>>>>> b\nfn h() {}\n",
            Told::InPart,
        ),
        (
            "half.rs",
            "fn f() { let x = ; }\n\nimpl A {\n    fn g(&self) { self. }\n    fn h(&self) {}\n}\n",
            Told::InPart,
        ),
        ("brace.rs", "fn f() {\n    if true {\n\nfn g() {}\n", Told::InPart),
        ("quote.rs", "fn f() { let x = \"abc; }\n\nfn g() {}\n", Told::InPart),
        ("indent.py", "def f():\n\tif x:\n        return 1\n\treturn 2\n", Told::Either),
        ("dedent.py", "    def f():\n  return 1\n", Told::Either),
    ];
    for (name, text, told) in cases {
        hold(name, text.as_bytes(), told);
    }
}

#[test]
fn old_and_new_syntax() {
    let python2 = "import urllib2\nprint 'x', 1\nprint >>f, 'y'\nexec 'z' in d\nraise ValueError, 'no'\ntry:\n    g(0777, 1L, \
                   u'a', `b`)\nexcept (A, B), e:\n    pass\nif 1 <> 2:\n    pass\n";
    let python314 = "type Alias[T] = list[T]\n\n\ndef f[T: int](x: T, /, *, y=1) -> T:\n    match x:\n        case {'a': 1, **r} if \
                     r: return 1\n        case [1, *_] | (2, 3): return 2\n    try:\n        g(t'{x!r:>{y}} {f'{f'{x}'}'}')\n    \
                     except* A, B:\n        pass\n    if (n := x): lazy = n\n    return x\n\n\nasync def h():\n    async with a as b, \
                     c: pass\n    return [i async for i in b]\n";
    hold("two.py", python2.as_bytes(), Told::Either);
    hold("new.py", python314.as_bytes(), Told::Either);
    let nightly = "#![feature(all)]\nmod inner {\n    pub gen fn numbers() -> u8 { yield 1; }\n    pub fn kept(u: &str) { loop { if \
                   get(u).is_ok() { return; } } }\n}\nstruct S;\nimpl const S {\n    pub gen fn more(&self) -> u8 { yield 1; }\n    pub \
                   fn kept(&self) {}\n}\nfn f() { let x = do yeet 1; }\nfn g() -> impl use<> Sized { builtin # offset_of(S, a) }\nauto \
                   trait A {}\nfn last() {}\n";
    hold("nightly.rs", nightly.as_bytes(), Told::Either);
    let macros = "macro_rules! m { ($($x:tt)*) => { $($x)* } }\nm! { fn a() {} fn b( }\nlazy! { static ref X: u8 = 1; }\nquote! { \
                  #(#a),* => @ ` ~ }\n"
        .replace('`', "?");
    hold("macros.rs", macros.as_bytes(), Told::Either);
}

/// What stands beside a part that cannot be parsed is checked: in modules, `impl` and `trait` blocks, and macros' arms.
#[test]
fn syntax_that_is_not_known_yet_hides_nothing_beside_it() {
    let fault = "fn load(url: &str) -> String {\n    loop {\n        if let Ok(answer) = reqwest::blocking::get(url) {\n            \
                 return answer.text().unwrap();\n        }\n    }\n}\n";
    let unknown = "gen fn numbers() -> u8 { yield @ 1 }\n";
    for (before, after) in [
        ("", ""),
        ("mod inner {\n", "}\n"),
        ("struct A;\nimpl A {\n", "}\n"),
        ("struct A;\nimpl<T: Send> Load<T> for A where T: Sync {\n", "}\n"),
        ("trait Load {\n", "}\n"),
        ("mod a { mod b {\nimpl super::A {\n", "}\n} }\n"),
        ("#[cfg(feature = \"x\")]\npub(crate) mod a {\n    #![allow(dead_code)]\n    use x::y;\n", "}\n"),
        ("unsafe impl A {\n    const X: u8 = { 1 };\n    type Y = u8;\n", "}\n"),
    ] {
        let folder = folder();
        folder.write("a.rs", format!("{before}{unknown}{fault}{after}"));
        let ran = lint(&folder.0, &["--output-format", "json", "--isolated"]);
        let found = places(&ran);
        assert!(found.iter().any(|place| place.contains("unbounded-retry")), "{before}: {found:?}");
        assert!(found.iter().any(|place| place.contains("unparsed-source")), "{before}: {found:?}");
    }
}

#[test]
fn large_files() {
    let mut functions = String::new();
    for at in 0..large(100_000) {
        let _ = writeln!(functions, "def f{at}(x):\n    return f{}(x)\n", at + 1);
    }
    hold("functions.py", functions.as_bytes(), Told::Sound);
    let mut functions = String::new();
    for at in 0..large(100_000) {
        let _ = writeln!(functions, "fn f{at}(x: u8) -> u8 {{ f{}(x) }}", at + 1);
    }
    hold("functions.rs", functions.as_bytes(), Told::Sound);
    let mut branches = "def f(x, s):\n    while True:\n        s.get(x)\n".to_owned();
    let mut branches_rs = "fn f(x: u64) {\n    loop { g(x);\n".to_owned();
    for at in 0..large(100_000) {
        let _ = writeln!(branches, "        if x == {at}:\n            g({at})");
        let _ = writeln!(branches_rs, "        if x == {at} {{ g({at}); }}");
    }
    hold("branches.py", branches.as_bytes(), Told::Sound);
    hold("branches.rs", (branches_rs + "    }\n}\n").as_bytes(), Told::Sound);
    let numbers: String = (0..large(2_000_000)).map(|at| format!("{at}, ")).collect();
    hold("table.py", format!("TABLE = [{numbers}]\n").as_bytes(), Told::Sound);
    hold("table.rs", format!("const TABLE: &[u64] = &[{numbers}];\n").as_bytes(), Told::Sound);
    let text = "x".repeat(large(50 << 20));
    hold("text.py", format!("TEXT = '{text}'\n").as_bytes(), Told::Sound);
    hold("comment.rs", format!("// {text}\nfn main() {{}}\n").as_bytes(), Told::Sound);
    let lines = "x = 1\n".repeat(large(2 << 20));
    hold("lines.py", lines.as_bytes(), Told::Sound);
}

#[test]
fn deep_files() {
    let deep = large(50_000);
    let indented: String = (0..large(3_000)).map(|at| format!("{}if x:\n", " ".repeat(at))).collect();
    let loops: String = (0..large(3_000)).map(|at| format!("{}while x:\n", " ".repeat(at))).collect();
    let functions: String = (0..large(3_000)).map(|at| format!("{}def f(x):\n", " ".repeat(at))).collect();
    let inner = format!("{}pass\n", " ".repeat(large(3_000)));
    for (name, text) in [
        ("parentheses.py", format!("x = {}\n", nested("(", "1", ")", deep))),
        ("lists.py", format!("x = {}\n", nested("[", "1", "]", deep))),
        ("calls.py", format!("x = {}\n", nested("f(", "1", ")", deep))),
        ("lambdas.py", format!("x = {}1\n", "lambda: ".repeat(deep))),
        ("nots.py", format!("x = {}1\n", "not ".repeat(deep))),
        ("ternaries.py", format!("x = {}1\n", "1 if a else ".repeat(deep))),
        ("methods.py", format!("x = a{}\n", ".b()".repeat(deep))),
        ("indices.py", format!("x = a{}\n", "[0]".repeat(deep))),
        ("sums.py", format!("x = 1{}\n", " + 1".repeat(deep))),
        ("powers.py", format!("x = 1{}\n", " ** 1".repeat(deep))),
        ("compared.py", format!("x = 1{}\n", " < 1".repeat(deep))),
        ("f-strings.py", format!("x = {}\n", nested("f'{", "1", "}'", deep))),
        ("elifs.py", format!("if x:\n    pass\n{}", "elif x:\n    pass\n".repeat(deep))),
        ("ifs.py", indented + &inner),
        ("loops.py", loops + &inner),
        ("functions.py", functions + &inner),
        ("decorators.py", format!("{}def f(): pass\n", "@a\n".repeat(deep))),
        ("patterns.py", format!("match x:\n    case {}: pass\n", nested("[", "1", "]", deep))),
        ("parentheses.rs", format!("fn f() {{ {} }}\n", nested("(", "1", ")", deep))),
        ("blocks.rs", format!("fn f() {{ {} }}\n", nested("{", "1", "}", deep))),
        ("ifs.rs", format!("fn f() {{ {} }}\n", nested("if a {", "1", "}", deep))),
        ("loops.rs", format!("fn f() {{ {} }}\n", nested("loop {", "1", "}", deep))),
        ("closures.rs", format!("fn f() {{ {}1 }}\n", "|| ".repeat(deep))),
        ("methods.rs", format!("fn f() {{ a{} }}\n", ".b()".repeat(deep))),
        ("questions.rs", format!("fn f() {{ a{} }}\n", "?".repeat(deep))),
        ("sums.rs", format!("fn f() {{ 1{} }}\n", " + 1".repeat(deep))),
        ("nots.rs", format!("fn f() {{ {}1 }}\n", "!".repeat(deep))),
        ("elses.rs", format!("fn f() {{ if a {{}}{} }}\n", " else if a {}".repeat(deep))),
        ("types.rs", format!("fn f(x: {}) {{}}\n", nested("A<", "u8", ">", deep))),
        ("macros.rs", format!("fn f() {{ {} }}\n", nested("m!(", "1", ")", deep))),
        ("vectors.rs", format!("fn f() {{ {} }}\n", nested("vec![", "1", "]", deep))),
        ("modules.rs", nested("mod a {", "fn f() {}", "}", deep)),
        ("patterns.rs", format!("fn f() {{ let {} = x; }}\n", nested("(", "a", ",)", deep))),
        ("matches.rs", format!("fn f() {{ {} }}\n", nested("match a { _ => ", "1", "}", deep))),
    ] {
        hold(name, text.as_bytes(), Told::Either);
    }
}

/// Whatever can be put into itself, or set in a row without an end.
#[test]
fn deep_files_of_further_kinds() {
    let deep = large(50_000);
    let indented = |line: &str| -> String {
        let lines = (0..large(3_000)).map(|at| format!("{}{line}\n", " ".repeat(at)));
        lines.chain([format!("{}pass\n", " ".repeat(large(3_000)))]).collect()
    };
    let each = |line: &dyn Fn(usize) -> String| -> String { (0..deep).map(line).collect() };
    for (name, text) in [
        ("dicts.py", format!("x = {}\n", nested("{1: ", "1", "}", deep))),
        ("comprehensions.py", format!("x = {}\n", nested("[y for y in ", "z", "]", deep))),
        ("fors.py", format!("x = [y{}]\n", " for y in z".repeat(deep))),
        ("awaits.py", format!("async def f():\n    return {}x\n", "await ".repeat(deep))),
        ("yields.py", format!("def f():\n    x = {}\n", nested("(yield ", "1", ")", deep))),
        ("walrus.py", format!("x = {}\n", nested("(a := ", "1", ")", deep))),
        ("assigned.py", format!("{}1\n", "a = ".repeat(deep))),
        ("joined.py", format!("x = {}\n", "'a' ".repeat(deep))),
        ("ands.py", format!("x = a{}\n", " and f()".repeat(deep))),
        ("formats.py", format!("x = f'{}'\n", nested("{x:", "", "}", deep))),
        ("templates.py", format!("x = {}\n", nested("t'{", "1", "}'", deep))),
        ("types.py", format!("x: {} = 1\n", nested("A[", "int", "]", deep))),
        ("handlers.py", format!("try:\n    f()\n{}", each(&|at| format!("except E{at}:\n    g()\n")))),
        ("cases.py", format!("match x:\n{}", each(&|at| format!("    case {at}:\n        g()\n")))),
        ("dotted.py", format!("import a{}\n", ".b".repeat(deep))),
        ("tries.py", indented("try:")),
        ("withs.py", indented("with a() as b:")),
        ("classes.py", indented("class A:")),
        ("open.py", "(".repeat(deep)),
        ("open-string.py", "f'{".repeat(deep)),
        ("continued.py", "\\\n".repeat(deep)),
        ("conflicts.py", "<<<<<<< a\n".repeat(deep)),
        ("functions.rs", nested("fn f() {", "", "}", deep)),
        ("impls.rs", nested("impl A { fn f() {", "", "} }", deep)),
        ("unsafe.rs", format!("fn f() {{ {} }}\n", nested("unsafe {", "1", "}", deep))),
        ("async.rs", format!("fn f() {{ {} }}\n", nested("async move {", "1", "}", deep))),
        ("labels.rs", format!("fn f() {{ {} }}\n", nested("'a: {", "1", "}", deep))),
        ("awaits.rs", format!("async fn f() {{ x{} }}\n", ".await".repeat(deep))),
        ("refs.rs", format!("fn f() {{ {}1 }}\n", "&mut ".repeat(deep))),
        ("boxes.rs", format!("fn f() {{ let {}a = b; }}\n", "box ".repeat(deep))),
        ("chains.rs", format!("fn f() {{ if let A = a{} {{}} }}\n", " && let A = a".repeat(deep))),
        ("let-else.rs", format!("fn f() {{ {} }}\n", nested("let Some(a) = b else {", "return;", "};", deep))),
        ("passed.rs", format!("fn f() {{ {} }}\n", nested("g(|x| ", "1", ")", deep))),
        ("uses.rs", format!("use {};\n", nested("a::{", "b", "}", deep))),
        ("functions-types.rs", format!("fn f(x: {}u8) {{}}\n", "fn() -> ".repeat(deep))),
        ("attributes.rs", format!("{}fn f() {{}}\n", "#[a]\n".repeat(deep))),
        ("comments.rs", format!("{}fn f() {{}}\n", nested("/*", "", "*/", deep))),
        ("arms.rs", format!("fn f() {{ match a {{ {} _ => {{}} }} }}\n", "1 => g(), ".repeat(deep))),
        ("selects.rs", format!("fn f() {{ {} }}\n", nested("select! { a = b => { ", "1", " } }", deep))),
        ("modules-in-part.rs", nested("mod a { gen fn x() { yield @ 1 } ", "", "}", deep)),
        ("open.rs", "fn f() {".repeat(deep)),
        ("generics.rs", "<".repeat(deep)),
    ] {
        hold(name, text.as_bytes(), Told::Either);
    }
}

/// Tables, and one loop with a branch for each state: what programs write.
#[test]
fn parsers_that_were_generated() {
    let states = large(20_000);
    let numbers: String = (0..states * 20).map(|at| format!("{}, ", at * 7919 % 1000)).collect();
    let mut text = format!("TABLE = [{numbers}]\n\n\ndef parse(tokens, state):\n    while True:\n");
    let mut text_rs =
        format!("static TABLE: &[u16] = &[{numbers}];\nfn parse(mut state: u32) {{\nloop {{ match state {{\n");
    for at in 0..states {
        let _ = write!(
            text,
            "        if state == {at}:\n            token = next(tokens)\n            if token is None:\n                \
             return\n            state = TABLE[state * 20 + token]\n            continue\n"
        );
        let _ = writeln!(text_rs, "{at} => {{ let t = next(); if t == 0 {{ return; }} state = goto({at}, t); }}");
    }
    hold("tables.py", text.as_bytes(), Told::Sound);
    hold("tables.rs", (text_rs + "_ => return } } }\n").as_bytes(), Told::Sound);
}
