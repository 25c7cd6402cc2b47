//! Hard constructs, each with its whole graph.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

mod dump;
mod invariants;

use crate::ir::{FunctionKind, Module, Op};
use crate::source::{Language, SourceFile};

fn lower(text: &str) -> Module {
    super::lower(&SourceFile::new("src/net.rs", text, Language::Rust), "")
}

/// The graph of the function of this name, indented as in these tests.
fn graph(module: &Module, name: &str) -> String {
    let function = module.functions.iter().find(|function| function.qualified_name == name).expect("no such function");
    dump::function(module, function)
}

/// Lowers a text and holds the graph of one function against what is expected.
#[track_caller]
fn check(name: &str, text: &str, expected: &str) {
    let module = lower(text);
    invariants::check(&module, text);
    let expected: String = expected.trim_matches('\n').lines().map(|line| format!("{line}\n")).collect();
    assert_eq!(graph(&module, name), expected, "\n{}", graph(&module, name));
}

#[test]
fn a_labelled_continue_leaves_the_inner_loop() {
    check(
        "f",
        r#"async fn f(hosts: Vec<Host>) {
    'retry: loop {
        for host in hosts {
            if host.ask().await { continue 'retry; }
        }
        break;
    }
}"#,
        r#"
0:
  ->1
1: [Endless]
  ->2
2:
  %2 = iter hosts
  ->4
3:
  return %1
4: [For]
  next %3 of %2 ->5 done ->6
5:
  host = %3
  %5 = host.ask()
  %6 = await %5
  if %6 ->7 else ->8
6:
  %1 = ()
  ->3
7:
  ->1
8:
  ->9
9:
  ->4
"#,
    );
}

#[test]
fn a_guard_that_fails_falls_to_the_next_arm() {
    check(
        "f",
        r#"fn f(answer: Result<u16, Error>) -> u16 {
    match answer {
        Ok(status) if status < 500 => status,
        Ok(_) | Err(Error::Busy) => 0,
        Err(error) => panic!("{error}"),
    }
}"#,
        r#"
0:
  %3 = answer matches Ok(status)
  if %3 ->3 else ->2
1:
  return %1
2:
  %6 = answer matches Ok(_) | Err(Error::Busy)
  if %6 ->6 else ->5
3:
  bind Ok(status) = answer
  %4 = 500
  %5 = status Lt %4
  if %5 ->4 else ->2
4:
  %1 = status
  ->1
5:
  bind Err(error) = answer
  %9 = format error
  abort
6:
  %7 = 0
  %1 = %7
  ->1
"#,
    );
}

#[test]
fn a_question_mark_leaves_the_loop() {
    check(
        "f",
        r#"async fn f(client: Client) -> Result<(), Error> {
    while client.pending() {
        client.send().await?;
    }
    Ok(())
}"#,
        r#"
0:
  ->1
1: [While]
  %2 = client.pending()
  if %2 ->2 else ->3
2:
  %3 = client.send()
  %4 = await %3
  %5 = %4 is success
  if %5 ->4 else ->5
3:
  %7 = ()
  %8 = Ok(%7)
  %1 = %8
  return %1
4:
  %6 = payload %4
  ->1
5:
  propagate %4
"#,
    );
}

#[test]
fn let_else_binds_only_where_it_fits() {
    check(
        "f",
        r#"fn f() -> u32 {
    let Some(value) = find() else { return 0 };
    value
}"#,
        r#"
0:
  %1 = <find>
  %2 = call %1()
  %4 = %2 matches Some(value)
  if %4 ->1 else ->2
1:
  bind Some(value) = %2
  %0 = value
  return %0
2:
  %5 = 0
  return %5
"#,
    );
}

#[test]
fn an_inlined_closure_returns_to_the_combinator() {
    check(
        "f",
        r#"async fn f(client: Client) -> Result<Reply, Fault> {
    client.send().await.map_err(|error| {
        if error.is_timeout() { return Fault::Slow; }
        Fault::Other(error)
    })
}"#,
        r#"
0:
  %2 = client.send()
  %3 = await %2
  %4 = %3 is success
  if %4 ->1 else ->2
1:
  %5 = %3
  ->3
2:
  %6 = error %3
  error = %6
  %9 = error.is_timeout()
  if %9 ->5 else ->6
3:
  %1 = %5
  return %1
4:
  %12 = Err(%8)
  %5 = %12
  ->3
5:
  %10 = <Fault::Slow>
  %8 = %10
  ->4
6:
  ->7
7:
  %11 = Fault::Other(error)
  %8 = %11
  ->4
"#,
    );
}

#[test]
fn a_break_carries_its_value() {
    check(
        "f",
        r#"fn f() -> u32 {
    let found = loop {
        if done() { break 7; }
    };
    found
}"#,
        r#"
0:
  ->1
1: [Endless]
  ->2
2:
  %2 = <done>
  %3 = call %2()
  if %3 ->4 else ->5
3:
  found = %1
  %0 = found
  return %0
4:
  %4 = 7
  %1 = %4
  ->3
5:
  ->6
6:
  ->1
"#,
    );
}

#[test]
fn select_arms_await_their_own_future() {
    check(
        "f",
        r#"async fn f(mut jobs: Jobs) {
    loop {
        tokio::select! {
            _ = stop() => break,
            Some(job) = jobs.next(), if ready() => job.run().await,
        }
    }
}"#,
        r#"
0:
  ->1
1: [Endless]
  ->2
2:
  %3 = select 2
  %4 = 0
  %5 = %3 Eq %4
  if %5 ->8 else ->7
3:
  return %1
4:
  ->1
5:
  %8 = <stop>
  %9 = call %8()
  %10 = await %9
  %1 = ()
  ->3
6:
  %11 = jobs.next()
  %12 = await %11
  %14 = %12 matches Some(job)
  if %14 ->10 else ->5
7:
  ->9
8:
  ->5
9:
  %6 = <ready>
  %7 = call %6()
  if %7 ->6 else ->5
10:
  bind Some(job) = %12
  %15 = job.run()
  %16 = await %15
  %2 = %16
  ->4
"#,
    );
}

#[test]
fn a_macro_body_loops_over_an_unknown_operation() {
    check(
        "again",
        r#"macro_rules! again {
    ($call:expr) => {
        loop {
            if let Ok(value) = $call.await { break value; }
        }
    };
}"#,
        r#"
0:
  ->1
1: [Endless]
  ->2
2:
  %1 = <$call>
  %2 = call %1()
  %3 = await %2
  %5 = %3 matches Ok(value)
  if %5 ->7 else ->5
3:
  return %0
4:
  %0 = value
  ->3
5:
  ->6
6:
  ->1
7:
  bind Ok(value) = %3
  ->4
"#,
    );
}

#[test]
fn a_chain_of_lets_and_conditions() {
    check(
        "f",
        r#"fn f(first: Option<u32>) -> bool {
    if let Some(a) = first && let Some(b) = other(a) && a < b { true } else { false }
}"#,
        r#"
0:
  %3 = first matches Some(a)
  if %3 ->6 else ->2
1:
  %9 = true
  %1 = %9
  ->3
2:
  %10 = false
  %1 = %10
  ->3
3:
  return %1
4:
  %8 = a Lt b
  if %8 ->1 else ->2
5:
  %4 = <other>
  %5 = call %4(a)
  %7 = %5 matches Some(b)
  if %7 ->7 else ->2
6:
  bind Some(a) = first
  ->5
7:
  bind Some(b) = %5
  ->4
"#,
    );
}

#[test]
fn a_map_of_an_iterator_stays_a_call() {
    check(
        "f",
        r#"fn f(items: Vec<u32>, last: Option<u32>) {
    items.iter().map(|item| item + 1);
    last.map(|item| item + 1);
}"#,
        r#"
0:
  %3 = items.iter()
  %4 = fn f.<closure>
  %5 = %3.map(%4)
  %6 = last is success
  if %6 ->1 else ->2
1:
  %8 = payload last
  item = %8
  %11 = 1
  %12 = item Add %11
  %10 = %12
  ->4
2:
  %7 = last
  ->3
3:
  %2 = ()
  return
4:
  %13 = Some(%10)
  %7 = %13
  ->3
"#,
    );
}

#[test]
fn a_future_is_awaited_before_its_combinators() {
    check(
        "f",
        r#"async fn f(client: Client) {
    client.send().and_then(|reply| reply.json()).await;
}"#,
        r#"
0:
  %2 = client.send()
  %3 = await %2
  %4 = %3 is success
  if %4 ->1 else ->2
1:
  %6 = payload %3
  reply = %6
  %9 = reply.json()
  %8 = %9
  ->4
2:
  %5 = %3
  ->3
3:
  %1 = ()
  return
4:
  %10 = await %8
  %5 = %10
  ->3
"#,
    );
}

#[test]
fn writes_through_a_reference_reach_what_it_refers_to() {
    check(
        "f",
        r#"fn f() {
    let mut tries = 0;
    let left = &mut tries;
    *left += 1;
}"#,
        r#"
0:
  %1 = 0
  tries = %1
  %3 = Same tries
  left = %3
  %5 = 1
  %6 = left Add %5
  tries = %6
  left = %6
  %7 = ()
  %0 = ()
  return
"#,
    );
}

#[test]
fn unwrap_aborts_where_there_is_nothing() {
    check(
        "f",
        r#"fn f(value: Option<u32>) -> u32 {
    value.unwrap()
}"#,
        r#"
0:
  %2 = value is success
  if %2 ->1 else ->2
1:
  %4 = payload value
  %3 = %4
  ->3
2:
  abort
3:
  %1 = %3
  return %1
"#,
    );
}

#[test]
fn paths_are_absolute() {
    let text = "
use std::time::Duration;
use tokio::time::{self, sleep as nap};
use super::config::LIMIT;
pub enum Fault { Slow, Status(u16) }
pub struct Client { tries: u32 }
impl Client {
    const MOST: u32 = 3;
    pub fn new() -> Self { Self { tries: Self::MOST } }
    fn fault() -> Fault { Fault::Status(1); Self::new(); nap(Duration::from_secs(1)); time::sleep(LIMIT); Fault::Slow }
}
mod tests {
    use super::*;
    fn make() -> Client { crate::net::Client::new() }
}
";
    let module = super::lower(&SourceFile::new("src/net.rs", text, Language::Rust), "app::net");
    let fault = graph(&module, "Client.fault");
    for line in [
        "app::net::Fault::Status(",
        "= fn Client.new",
        "<tokio::time::sleep>",
        "<std::time::Duration::from_secs>",
        "<app::config::LIMIT>",
        "app::net::Fault::Slow()",
    ] {
        assert!(fault.contains(line), "{line}\n{fault}");
    }
    assert!(graph(&module, "Client.new").contains(".MOST"));
    assert!(graph(&module, "make").contains("= fn Client.new"));
    assert!(module.imports.contains(&"app::config::LIMIT".to_owned()));
    let client = module.classes.iter().find(|class| class.name == "Client").unwrap();
    assert_eq!(client.methods.len(), 2);
    assert!(client.fields.iter().any(|field| field.name == "tries" && field.private));
    assert!(client.fields.iter().any(|field| field.name == "MOST" && field.value.is_some()));
}

#[test]
fn types_lose_their_wrappers() {
    let text = "
use std::sync::{Arc, Mutex};
struct State;
fn f<F, Fut>(op: F, state: &Arc<Mutex<State>>, hook: Option<Box<dyn Fn(u32) -> bool + Send>>, client: &mut reqwest::Client)
where
    F: Fn() -> Fut,
    Fut: std::future::Future<Output = Result<u32, ()>>,
{}
";
    let module = lower(text);
    let function = &module.functions[0];
    let types: Vec<_> = function.params.iter().map(|p| function.slot(p.slot).unwrap().ty.clone().unwrap()).collect();
    let paths: Vec<&str> = types.iter().map(|ty| ty.path.as_str()).collect();
    assert_eq!(paths, ["fn", "State", "Option", "reqwest::Client"]);
    assert!(types[1].class.is_some());
    assert_eq!(types[2].args[0].path, "fn");
}

#[test]
fn headers_end_before_bodies() {
    let text = "impl A {\n    /// Doc.\n    pub async fn run(&self) -> Result<(), E> where A: B {\n        'again: loop { for x in 0..3 { while let Err(e) = op().await {} } }\n    }\n}";
    let module = lower(text);
    let run = module.functions.iter().find(|function| function.name == "run").unwrap();
    assert_eq!(&text[run.header.range()], "pub async fn run(&self) -> Result<(), E> where A: B");
    let headers: Vec<&str> = run.loops.iter().map(|l| &text[l.header.range()]).collect();
    assert_eq!(headers, ["'again: loop", "for x in 0..3", "while let Err(e) = op().await"]);
}

#[test]
fn places_count_a_byte_order_mark_and_a_shebang() {
    let text = "\u{feff}#!/usr/bin/env rust-script\nfn main() { loop {} }";
    let module = lower(text);
    assert_eq!(&text[module.functions[0].loops[0].header.range()], "loop");
}

#[test]
fn closures_capture_through_every_level() {
    let text = "fn f(client: Client) { run(move || async move { client.send().await }); }";
    let module = lower(text);
    let block = module.functions.iter().find(|function| function.kind == FunctionKind::AsyncBlock).unwrap();
    let closure = module.function(block.parent.unwrap()).unwrap();
    let captured = |function: &crate::ir::Function| function.slots.iter().find_map(|slot| slot.captured).unwrap();
    let middle = closure.slot(captured(block)).unwrap();
    assert_eq!(middle.captured, Some(module.functions[0].params[0].slot));
}

#[test]
fn tests_are_known_as_such() {
    let module = lower("#[cfg(test)] mod t { fn a() {} } #[tokio::test] async fn b() {} #[cfg(not(test))] fn c() {}");
    let tests: Vec<_> = module.functions.iter().map(|function| (function.name.as_str(), function.is_test)).collect();
    assert_eq!(tests, [("a", true), ("b", true), ("c", false)]);
}

#[test]
fn an_attribute_macro_is_a_decorator_with_its_arguments() {
    let module = lower("#[inline] #[backon::retry(times = 3, quiet)] #[doc = \"x\"] fn f() {}");
    let function = module.functions.iter().find(|function| function.name == "f").unwrap();
    assert_eq!(function.decorators.len(), 1);
    let value = module.function(function.decorators[0].value).unwrap();
    let args = value.blocks[0].instrs.iter().find_map(|instr| match &instr.op {
        Op::Call { args, .. } => Some(args.iter().map(|arg| arg.name.as_deref()).collect::<Vec<_>>()),
        _ => None,
    });
    assert_eq!(args.unwrap(), [Some("times"), None]);
}

#[test]
fn the_rest_of_a_broken_file_is_lowered() {
    let text = "fn a() {}\nimpl X { fn b(&self) {} fn bad(&self) { let = ; } fn c(&self) {} }\nfn d() {}";
    let module = lower(text);
    let names: Vec<_> = module.functions.iter().map(|function| function.name.as_str()).collect();
    assert_eq!(names, ["a", "d", "b", "c"]);
    assert_eq!(module.unparsed.len(), 1);
    assert_eq!(&text[module.unparsed[0].span.range()], "fn bad(&self) { let = ; }");
}

#[test]
fn a_repetition_in_a_macro_body_is_written_out_once() {
    let module = lower("macro_rules! again { ($e:expr, $($rest:tt)*) => {{ let r = $e; $($rest)* r }} }");
    let body = graph(&module, "again");
    assert!(body.contains("<$e>") && body.contains("<$rest>"), "{body}");
}

#[test]
fn a_default_arm_of_select_can_be_taken() {
    let text = "async fn f() { futures::select! { x = g() => x, default => return, complete => () } }";
    let body = graph(&lower(text), "f");
    assert!(body.contains("select 3") && body.contains("await") && body.contains("return"), "{body}");
}

#[test]
fn branches_of_cfg_if_may_all_be_compiled() {
    let body = graph(&lower("fn f() { cfg_if! { if #[cfg(unix)] { a(); } else { b(); } } }"), "f");
    assert!(body.contains("<a>") && body.contains("<b>") && body.contains("unknown cfg"), "{body}");
}

#[test]
fn methods_of_a_type_from_another_file_find_each_other() {
    let text = "use crate::Client; impl Client { fn a(&self) { Self::b() } fn b() {} } impl Get for http::Url { fn a(&self) {} }";
    let module = super::lower(&SourceFile::new("src/net.rs", text, Language::Rust), "app::net");
    assert!(graph(&module, "Client.a").contains("= fn Client.b"));
    assert!(module.functions.iter().all(|function| function.class.is_some() == (function.qualified_name != "Url.a")));
}

#[test]
fn a_log_record_holds_its_fields_and_its_text() {
    let body = graph(&lower("fn f(e: E, n: u8) { warn!(error = %e, n, \"try {n}\"); }"), "f");
    assert!(body.contains("format n \"try \" n e"), "{body}");
}
