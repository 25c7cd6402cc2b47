//! The watchdog: worst cases of one size and of ten times that size. What they take grows no worse than n·log n.
//!
//! Measured is the time of the processor, less that of a run over an empty file.

use std::fmt::Write as _;
use std::process::Command;

use super::folder;

/// Seconds of the processor for one file.
fn seconds(name: &str, text: &str) -> f64 {
    let folder = folder();
    folder.write(name, text);
    let run = "TIMEFORMAT='%U'; time \"$0\" inventory --isolated --output-format json > out.json 2> err.txt";
    let output = Command::new("bash")
        .args(["-c", run, env!("CARGO_BIN_EXE_stormlint")])
        .current_dir(&folder.0)
        .env("LC_ALL", "C")
        .output()
        .unwrap();
    assert!(output.status.success(), "{name}: {}", std::fs::read_to_string(folder.0.join("err.txt")).unwrap());
    String::from_utf8(output.stderr).unwrap().trim().parse().unwrap()
}

fn hold(name: &str, size: usize, text: impl Fn(usize) -> String) {
    let base = seconds(name, "");
    // Less than this is not told from chance.
    let least = 0.05;
    let more = (size as f64 * 10.0).ln() / (size as f64).ln();
    let mut told = String::new();
    // Another program may take the caches away meanwhile.
    for _ in 0..3 {
        let small = (seconds(name, &text(size)) - base).max(least);
        let large = seconds(name, &text(size * 10)) - base;
        if large <= small * 10.0 * more * 1.4 {
            return;
        }
        let _ = write!(told, " {small:.2} s for {size}, {large:.2} s for {};", size * 10);
    }
    panic!("{name}:{told}");
}

const HEAD: &str = "import time\nimport requests\n\n\n";
const HEAD_RS: &str = "use std::{thread, time::Duration};\n";

/// The lines for each number, one after the other.
fn each(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).map(line).collect()
}

#[test]
fn loops_in_loops() {
    hold("nested.py", 12, |size| {
        let loops = each(size, |at| format!("{}for a{at} in range(3):\n", "  ".repeat(at + 1)));
        let body = "  ".repeat(size + 1);
        format!(
            "{HEAD}def f(u):\n{loops}{body}try:\n{body}  return requests.get(u)\n{body}except OSError:\n{body}  pass\n"
        )
    });
    hold("nested.rs", 12, |size| {
        let (open, close) = ("for a in 0..3 { ".repeat(size), "}".repeat(size));
        format!("{HEAD_RS}fn f(u: &str) {{ {open} if reqwest::blocking::get(u).is_ok() {{ return; }} {close} }}\n")
    });
}

#[test]
fn loops_after_loops() {
    hold("loops.py", 60, |size| {
        let loops = each(size, |at| {
            format!(
                "    for a in range(3):\n        try:\n            r{at} = requests.get(u)\n            break\n        except OSError:\n            time.sleep(a)\n"
            )
        });
        format!("{HEAD}def f(u):\n{loops}")
    });
    hold("loops.rs", 60, |size| {
        let one = "for a in 0..3 { if reqwest::blocking::get(u).is_ok() { break; } thread::sleep(Duration::from_secs(a)); }\n";
        format!("{HEAD_RS}fn f(u: &str) {{\n{}}}\n", one.repeat(size))
    });
}

#[test]
fn calls_in_one_try() {
    hold("calls.py", 100, |size| {
        let calls = each(size, |at| format!("            a{at} = requests.get(u + '{at}').json()\n"));
        format!(
            "{HEAD}def f(u):\n    for i in range(3):\n        try:\n{calls}            return a0\n        except OSError:\n            time.sleep(i)\n"
        )
    });
    hold("calls.rs", 100, |size| {
        let calls = each(size, |at| format!("let a{at} = reqwest::blocking::get(format!(\"{{u}}/{at}\"))?.text()?;\n"));
        format!(
            "{HEAD_RS}fn once(u: &str) -> reqwest::Result<()> {{ {calls} Ok(()) }}\nfn f(u: &str) {{ for i in 0..3 {{ if once(u).is_ok() {{ return; }} }} }}\n"
        )
    });
}

#[test]
fn chains_of_tests_on_the_status() {
    hold("elifs.py", 100, |size| {
        let tests = each(size, |at| {
            format!("        elif r.status_code == {}:\n            time.sleep({at})\n", 100 + at % 500)
        });
        format!(
            "{HEAD}def f(u):\n    while True:\n        r = requests.get(u)\n        if r.ok:\n            return r\n{tests}"
        )
    });
    hold("matches.rs", 100, |size| {
        let arms = each(size, |at| format!("{} => thread::sleep(Duration::from_secs({at})),\n", 100 + at % 500));
        format!(
            "{HEAD_RS}fn f(u: &str) {{ loop {{ let r = reqwest::blocking::get(u).unwrap(); match r.status().as_u16() {{ 200 => return,\n{arms} _ => {{}} }} }} }}\n"
        )
    });
}

#[test]
fn functions_that_call_one_another() {
    hold("mutual.py", 50, |size| {
        let functions = each(size, |at| {
            let (one, two, three) = ((at + 1) % size, (at * 7 + 3) % size, (at * 3 + 1) % size);
            format!(
                "def f{at}(u):\n    try:\n        f{one}(u)\n        return requests.get(u)\n    except OSError:\n        f{two}(u)\n        return f{three}(u)\n\n\n"
            )
        });
        format!("{HEAD}{functions}")
    });
    hold("mutual.rs", 50, |size| {
        let functions = each(size, |at| {
            let (one, two) = ((at + 1) % size, (at * 7 + 3) % size);
            format!(
                "fn f{at}(u: &str) -> reqwest::Result<String> {{ match reqwest::blocking::get(u) {{ Ok(a) => {{ f{one}(u)?; a.text() }} Err(_) => f{two}(u) }} }}\n"
            )
        });
        format!("{HEAD_RS}{functions}")
    });
}

#[test]
fn branches_of_one_function() {
    hold("branches.py", 300, |size| {
        let tests = each(size, |at| format!("        if x == {at}:\n            y = g({at}, y)\n"));
        format!(
            "{HEAD}def f(u, x, y):\n    while True:\n        try:\n            return requests.get(u)\n        except OSError:\n            pass\n{tests}"
        )
    });
    hold("handlers.py", 100, |size| {
        let handlers = each(size, |at| format!("        except E{at}:\n            time.sleep({at})\n"));
        let classes = each(size, |at| format!("class E{at}(OSError):\n    pass\n\n\n"));
        format!(
            "{HEAD}{classes}def f(u):\n    while True:\n        try:\n            return requests.get(u)\n{handlers}"
        )
    });
}

#[test]
fn handlers_of_classes_that_nothing_is_known_of() {
    // Each narrows what it is asked of to either of its two classes, and gives that on to the next.
    hold("narrowed.py", 4, |size| {
        let indent = |at: usize| "  ".repeat(at);
        let open = each(size, |at| format!("{}try:\n", indent(at + 3)));
        let close = each(size, |at| {
            let out = indent(size - at + 2);
            format!("{out}except (elsewhere.A{at}, elsewhere.B{at}):\n{out}  raise\n")
        });
        format!(
            "import elsewhere\n{HEAD}def f(u):\n  while True:\n    try:\n{open}{}return requests.get(u)\n{close}    except Exception:\n      pass\n",
            indent(size + 3)
        )
    });
    hold("asked.py", 4, |size| {
        let asked = each(size, |at| {
            format!(
                "            if isinstance(e, (elsewhere.A{at}, elsewhere.B{at})):\n                e = log(e) or e\n"
            )
        });
        format!(
            "import elsewhere\n{HEAD}def f(u):\n    while True:\n        try:\n            return requests.get(u)\n        except Exception as e:\n{asked}"
        )
    });
}

#[test]
fn many_small_functions() {
    hold("sites.py", 60, |size| {
        let sites = each(size, |at| {
            format!(
                "def f{at}(u):\n    for i in range(5):\n        try:\n            return requests.get(u, timeout=5)\n        except requests.ConnectionError:\n            if i == 4:\n                raise\n            time.sleep(2 ** i)\n\n\n"
            )
        });
        format!("{HEAD}{sites}")
    });
    hold("private.py", 100, |size| {
        let functions = each(size, |at| {
            format!(
                "def _f{at}(u, n):\n    for i in range(n):\n        try:\n            return requests.get(u)\n        except OSError:\n            pass\n\n\n"
            )
        });
        let calls = each(size, |at| format!("    _f{at}(u, 5)\n"));
        format!("{HEAD}{functions}def g(u):\n{calls}")
    });
    hold("closures.py", 100, |size| {
        let closures = each(size, |at| format!("    def g{at}():\n        return call(u, {at})\n    retry(g{at})\n"));
        format!(
            "{HEAD}def retry(f):\n    while True:\n        try:\n            return f()\n        except OSError:\n            pass\n\n\ndef f(u, call):\n{closures}"
        )
    });
}

#[test]
fn classes_with_many_bases() {
    // Each class of a row has all of the row before for its bases: the ways to the first row multiply.
    hold("bases.py", 8, |size| {
        let rows = each(size, |row| {
            each(6, |at| {
                let bases: Vec<String> = (0..6).map(|base| format!("C{}_{base}", row.wrapping_sub(1))).collect();
                let bases = if row == 0 { "Exception".to_owned() } else { bases.join(", ") };
                format!("class C{row}_{at}({bases}):\n    pass\n\n\n")
            })
        });
        let last = size - 1;
        format!(
            "{HEAD}{rows}def f(u):\n    c = C{last}_0()\n    while True:\n        try:\n            c.load(u)\n            return requests.get(u)\n        except C{last}_1:\n            c.wait()\n"
        )
    });
}

#[test]
fn parts_that_are_taken_apart_several_times() {
    // A `finally` part is come to in several ways, and so is what stands in it.
    hold("finally.py", 4, |size| {
        let mut text = format!("{HEAD}def f(u):\n    while True:\n");
        for at in 0..size {
            let indent = "  ".repeat(at + 4);
            let _ = writeln!(
                text,
                "{indent}try:\n{indent}  if g(u): return 1\n{indent}  requests.get(u)\n{indent}finally:"
            );
        }
        let indent = "  ".repeat(size + 4);
        text + &format!("{indent}pass\n")
    });
    hold("withs.py", 10, |size| {
        let mut text = format!("{HEAD}def f(u):\n    while True:\n");
        for at in 0..size {
            let indent = "  ".repeat(at + 4);
            let _ = writeln!(text, "{indent}with a{at}() as b:\n{indent}  if g(b): return 1");
        }
        let indent = "  ".repeat(size + 4);
        text + &format!("{indent}requests.get(u)\n")
    });
    hold("macros.rs", 12, |size| {
        let (open, close) = ("join!(f(u), vec![a, ".repeat(size), "])".repeat(size));
        format!("{HEAD_RS}async fn f(u: &str) {{ loop {{ {open} reqwest::get(u).await {close}; }} }}\n")
    });
    hold("closures.rs", 12, |size| {
        let (open, close) = ("run(|| { if a { return 1; } ".repeat(size), "})".repeat(size));
        format!("{HEAD_RS}fn f(u: &str) {{ loop {{ {open} reqwest::blocking::get(u) {close}; }} }}\n")
    });
}

#[test]
fn blocks_of_comments() {
    hold("comments.py", 800, |size| {
        let lines = "# what somebody took out and did not want to lose\n".repeat(size);
        format!("{HEAD}def f(u):\n    a = 1\n{lines}    return requests.get(u)\n")
    });
}

#[test]
fn modules_in_modules_that_parse_in_part() {
    hold("modules.rs", 300, |size| format!("{}{}", "mod a { gen fn f() { yield @ 1 } ".repeat(size), "}".repeat(size)));
}

/// What was not gone through for want of room is left out: a file with many sites has no finding that each of them has
/// not by itself.
#[test]
fn what_is_cut_short_is_not_guessed() {
    let site = |at: usize| {
        format!(
            "def f{at}(u):\n    for i in range(5):\n        try:\n            r = requests.get(u, timeout=5)\n            \
                 r.raise_for_status()\n            return r\n        except (requests.ConnectionError, requests.Timeout):\n            \
                 if i == 4:\n                raise\n            time.sleep(random.uniform(1, 2 ** i))\n\n\n"
        )
    };
    let alone = folder();
    let folder = folder();
    let noise = each(30, |at| format!("        if x == {at}:\n            y = g(requests.get(u), {at}, y)\n"));
    let heavy = |at: usize| {
        format!(
            "def h{at}(u, x, y):\n    for i in range(3):\n        try:\n            return requests.get(u)\n        except requests.ConnectionError:\n            time.sleep(2)\n{noise}    raise OSError\n\n\n"
        )
    };
    let text = format!("import random\n{HEAD}{}{}", each(150, heavy), each(40, site));
    folder.write("a.py", &text);
    let ran = super::lint(
        &folder.0,
        &["--isolated", "--select", "all", "--output-format", "json", "--min-confidence", "low"],
    );
    let first = text.lines().position(|line| line.starts_with("def f0(")).unwrap();
    alone.write("a.py", format!("import random\n{HEAD}{}", site(0)));
    let known =
        super::lint(&alone.0, &["--isolated", "--select", "all", "--output-format", "json", "--min-confidence", "low"]);
    let rules = |ran: &super::Ran, from: usize| -> std::collections::BTreeSet<String> {
        let document = ran.json();
        let late = document["findings"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|finding| finding["range"]["start"]["line"].as_u64().unwrap() as usize > from);
        late.map(|finding| finding["rule"].as_str().unwrap().to_owned()).collect()
    };
    let (late, alone) = (rules(&ran, first), rules(&known, 0));
    assert!(late.is_subset(&alone), "{late:?} of {alone:?}");
}

/// Branches around a request that leave different things behind: the ways through them double with each, and the loop
/// is about none of them.
#[test]
fn branches_around_a_request_do_not_hide_its_loop() {
    for count in [3, 6, 12] {
        let names = each(count, |at| format!("part{at}, "));
        let parts = each(count, |at| {
            format!(
                "        if order.part{at}:\n            part{at} = clean(order.part{at})\n        else:\n            part{at} = other(extra)\n"
            )
        });
        let told = each(3, |at| format!("            if part{at}:\n                log(error, part{at})\n"));
        let text = format!(
            "import requests\n\n\ndef submit(order, extra):\n    while True:\n{parts}        try:\n            return requests.put(\"https://shop.example/orders\", json=[{names}], timeout=5)\n        except requests.ConnectionError as error:\n{told}            continue\n"
        );
        let parts = each(count, |at| {
            format!("let part{at} = if order.part{at} {{ clean(&order.part{at}) }} else {{ other(extra) }};\n")
        });
        let told = each(3, |at| format!("if part{at} {{ log(&error, part{at}); }}\n"));
        let text_rs = format!(
            "fn submit(order: &Order, extra: &Extra) -> String {{\nloop {{\n{parts}match ureq::put(\"https://shop.example/orders\").send_json(({names})) {{\nOk(answer) => return answer.into_string().unwrap(),\nErr(error) => {{\n{told}}}\n}}\n}}\n}}\n"
        );
        for (name, text) in [("a.py", text), ("b.rs", text_rs)] {
            let folder = folder();
            folder.write(name, &text);
            let found = super::lint(&folder.0, &["--isolated", "--output-format", "concise"]).out;
            assert!(found.contains("[retry-without-delay]"), "{count} in {name}: {found}");
            assert!(found.contains("[unbounded-retry]"), "{count} in {name}: {found}");
        }
    }
}

/// What comes before a loop and after it, however much of it there is, does not hide how often the loop turns.
#[test]
fn branches_around_a_loop_do_not_hide_its_count() {
    for count in [3, 8, 16] {
        let before = each(count, |at| {
            format!(
                "    if job.part{at}:\n        told = note(job.part{at})\n        if told:\n            return told\n"
            )
        });
        let after = each(count, |at| {
            format!(
                "    if job.part{at}:\n        told = note(job.part{at})\n    elif not told:\n        told = other(answer)\n"
            )
        });
        let text = format!(
            "import requests\n\n\ndef note(what):\n    for word in words(what):\n        if word:\n            return word\n    return None\n\n\ndef submit(job, told=None):\n{before}    answer = None\n    for attempt in range(4):\n        try:\n            answer = requests.put(\"https://shop.example/orders\", json=job.all, timeout=5)\n            break\n        except requests.ConnectionError:\n            if attempt == 3:\n                raise\n{after}    return answer, told\n"
        );
        let folder = folder();
        folder.write("a.py", &text);
        let found = super::lint(&folder.0, &["--isolated", "--output-format", "json"]).out;
        let found: serde_json::Value = serde_json::from_str(&found).unwrap();
        let rules: Vec<(&str, &str)> = found["findings"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|one| Some((one["rule"].as_str()?, one["confidence"].as_str()?)))
            .collect();
        assert_eq!(rules, [("retry-without-delay", "high")], "{count}: {found}");
        let sites = super::lint(&folder.0, &["inventory", "--isolated", "--output-format", "json", "."]).out;
        assert!(sites.contains("\"max_attempts\": 4"), "{count}: {sites}");
    }
}
