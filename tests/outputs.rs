//! What is written where: formats, files, colours, gates, pipes that close, and texts that would command a terminal.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

mod common;

use std::path::Path;
use std::process::{Command, Output, Stdio};

use common::{FORMATS, Folder, err, json, out, stormlint};

const CALM: &str = "def f(x):\n    return x\n";
const BROKEN: &str = "def f(:\n    while while\n";
const ENDLESS: &str = "\
import requests


def load(url):
    while True:
        try:
            return requests.get(url)
        except requests.RequestException:
            continue
";

#[test]
fn several_outputs_are_written_at_once() {
    let folder = Folder::new("outputs");
    folder.write("a.py", ENDLESS);
    let to = |format: &str| format!("--output={format}=out.{format}");
    let outputs: Vec<String> = FORMATS.iter().map(|format| to(format)).collect();
    let args: Vec<&str> = outputs.iter().map(String::as_str).chain(["--output-format", "concise"]).collect();
    let output = stormlint(&folder.0, &args);
    assert_eq!(output.status.code(), Some(1), "{}", err(&output));
    assert!(out(&output).contains("a.py:5:5: error[unbounded-retry] "), "{}", out(&output));
    for format in FORMATS {
        let written = std::fs::read_to_string(folder.0.join(format!("out.{format}"))).unwrap();
        assert_eq!(written, out(&stormlint(&folder.0, &["--output-format", format])), "{format}");
        assert!(!written.contains('\u{1b}'));
    }
    let output = stormlint(&folder.0, &["inventory", "--output=json=sites.json", "--output-format=concise"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(out(&output).starts_with("a.py:5:5: loop ") && folder.0.join("sites.json").exists());
}

#[test]
fn an_output_that_cannot_be_written_is_told_and_leaves_nothing() {
    let folder = Folder::new("unwritable");
    folder.write("a.py", CALM).write("sub/keep", "");
    for (to, says) in [
        ("no/such/x.json", "cannot write `no/such/x.json`: there is no folder `no/such`"),
        ("sub", "cannot write `sub`: it is a folder"),
        ("a.py/x.json", "cannot write `a.py/x.json`: there is no folder `a.py`"),
        ("/dev/full", "cannot write `/dev/full`: no space is left on the device"),
    ] {
        if to.starts_with("/dev") && !Path::new(to).exists() {
            continue;
        }
        for args in [vec!["-o".to_owned(), to.to_owned()], vec![format!("--output=json={to}")]] {
            let args: Vec<&str> = args.iter().map(String::as_str).chain(["--output=json=ok.json"]).collect();
            let output = stormlint(&folder.0, &args);
            assert_eq!(output.status.code(), Some(2), "{args:?}");
            assert_eq!(err(&output), format!("stormlint: {says}\n"), "{args:?}");
        }
    }
    let mut left: Vec<_> = std::fs::read_dir(&folder.0).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert!(!left.iter().any(|name| name.to_string_lossy().starts_with(".stormlint-")), "{left:?}");
    for args in [["--output=json=x", "-ox"], ["--output=json=x", "--output=sarif=x"]] {
        let output = stormlint(&folder.0, &args);
        assert_eq!(output.status.code(), Some(2));
        assert!(err(&output).contains("two outputs go to `x`"), "{}", err(&output));
    }
    let output = stormlint(&folder.0, &["--output=html=x"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(err(&output).contains("the formats are full, concise, json"), "{}", err(&output));
}

#[test]
fn what_is_shown_and_what_fails_can_be_chosen() {
    let folder = Folder::new("gate");
    folder
        .write("a.py", ENDLESS)
        .write("b.py", "import requests\n\n\ndef f(x):\n    y = (x +\n\n\ndef g(x):\n    return x\n");
    let run = |args: &[&str]| {
        let output = stormlint(
            &folder.0,
            &[&["--output-format=json", "--select=unbounded-retry,unparsed-source"], args].concat(),
        );
        let levels: Vec<_> =
            json(&output)["findings"].as_array().unwrap().iter().map(|finding| finding["level"].to_string()).collect();
        (output.status.code(), levels.join(" "))
    };
    let both = "\"error\" \"warning\"".to_owned();
    assert_eq!(run(&[]), (Some(1), both.clone()));
    assert_eq!(run(&["--fail-on=never"]), (Some(0), both.clone()));
    assert_eq!(run(&["--fail-on=error"]), (Some(1), both.clone()));
    assert_eq!(run(&["--fail-on=error", "b.py"]), (Some(0), "\"warning\"".to_owned()));
    assert_eq!(run(&["--min-level=error"]), (Some(1), "\"error\"".to_owned()));
    assert_eq!(run(&["--min-level=error", "b.py"]), (Some(0), String::new()));
    assert_eq!(run(&["--select=strict", "--ignore=default", "--fail-on=note", "b.py"]).0, Some(0));
    let output = stormlint(&folder.0, &["--fail-on=error", "--exit-zero"]);
    assert_eq!(output.status.code(), Some(2), "one says what the other denies");
    assert_eq!(stormlint(&folder.0, &["inventory", "--fail-on=error"]).status.code(), Some(2));
}

#[test]
fn a_lost_file_does_not_pass_where_its_finding_is_not_shown_or_does_not_fail() {
    let folder = Folder::new("lost-level");
    folder.write("a.py", BROKEN);
    for args in [["--min-level", "error"], ["--fail-on", "error"]] {
        let output = stormlint(&folder.0, &args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(err(&output).contains("a.py: could not be parsed"), "{}", err(&output));
    }
    assert_eq!(stormlint(&folder.0, &["--fail-on", "never"]).status.code(), Some(0));
}

#[test]
fn findings_are_counted() {
    let folder = Folder::new("statistics");
    folder.write("a.py", ENDLESS).write("b.py", ENDLESS);
    let args = ["--statistics", "--select=unbounded-retry,retry-without-delay", "--output-format"];
    let counts = "2  retry-without-delay\n2  unbounded-retry\n";
    for format in FORMATS {
        let output = stormlint(&folder.0, &[&args as &[&str], &[format]].concat());
        let text = ["full", "concise", "github"].contains(&format);
        assert_eq!(out(&output).ends_with(&format!("{counts}Found 4 errors in 2 files.\n")), text, "{}", out(&output));
        assert_eq!(err(&output), if text { "" } else { counts }, "{format}");
    }
}

#[test]
fn colours_follow_the_environment_and_the_argument_before_it() {
    let folder = Folder::new("colours");
    folder.write("a.py", ENDLESS);
    let coloured = |args: &[&str], environment: &[(&str, &str)]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stormlint"));
        for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "FORCE_HYPERLINK"] {
            command.env_remove(name);
        }
        let output = command.current_dir(&folder.0).args(args).envs(environment.iter().copied()).output().unwrap();
        let text = out(&output);
        assert!(!text.contains("\u{1b}]8"), "links are for terminals: {text}");
        text.contains("\u{1b}[")
    };
    for format in ["--output-format=full", "--output-format=concise"] {
        assert!(!coloured(&[format], &[]));
        assert!(coloured(&[format, "--color=always"], &[]));
        assert!(coloured(&[format, "--color=always"], &[("NO_COLOR", "1"), ("FORCE_HYPERLINK", "1")]));
        assert!(coloured(&[format], &[("CLICOLOR_FORCE", "1"), ("FORCE_HYPERLINK", "1")]));
        assert!(!coloured(&[format], &[("CLICOLOR_FORCE", "0")]));
        assert!(!coloured(&[format], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
        assert!(!coloured(&[format, "--color=never"], &[("CLICOLOR_FORCE", "1")]));
    }
}

#[test]
fn completions_name_what_can_be_asked() {
    let folder = Folder::new("completions");
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = stormlint(&folder.0, &["completions", shell]);
        assert_eq!(script.status.code(), Some(0));
        assert!(out(&script).contains("min-confidence") && out(&script).contains("inventory"), "{shell}");
    }
    assert_eq!(stormlint(&folder.0, &["completions", "tcl"]).status.code(), Some(2));
}

#[cfg(unix)]
#[test]
fn names_and_sources_command_no_terminal() {
    let folder = Folder::new("hostile");
    let name = "::error::\u{1b}[31m\u{9b}1m\nx.py";
    folder.write(name, ENDLESS.replace("get(url)", "get(url + '\u{1b}[2J\u{7}' + base)").as_str());
    folder.write(&format!("lost{name}"), BROKEN);
    let gone = format!("gone{name}");
    let formats = FORMATS.iter().map(|format| ("check", *format));
    for (verb, format) in formats.chain([("inventory", "full"), ("inventory", "concise"), ("inventory", "json")]) {
        let args = [verb, "--output-format", format, "--select=bound", ".", &gone];
        let output = stormlint(&folder.0, &args);
        assert_eq!(output.status.code(), Some(2));
        for text in [out(&output), err(&output)] {
            let raw = text.chars().find(|c| c.is_control() && *c != '\n');
            assert_eq!(raw, None, "{verb} {format}: {text:?}");
            let commands = text.lines().filter(|line| line.trim_start().starts_with("::")).count();
            assert!(commands == 0 || format == "github", "{verb} {format}: {text}");
        }
        assert_eq!(err(&output).lines().count(), 2, "{}", err(&output));
        assert!(out(&output).contains("[2J") || format == "gitlab", "{verb} {format}: {}", out(&output));
    }
    let output = stormlint(&folder.0, &["-o", "a/\u{1b}[31m"]);
    assert!(err(&output).contains("cannot write `a/␛[31m`"), "{}", err(&output));
    let output = stormlint(&folder.0, &["--color=always", "--\u{1b}[31m\u{9b}1m.py"]);
    assert_eq!(output.status.code(), Some(2));
    let raw = err(&output).chars().find(|c| c.is_control() && *c != '\n');
    assert!(raw.is_none() && err(&output).contains("unexpected argument"), "{:?}", err(&output));
    assert_eq!(stormlint(&folder.0, &["--version"]).status.code(), Some(0));
}

/// Runs with nobody reading standard output.
fn unread(folder: &Folder, args: &[&str]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_stormlint"))
        .current_dir(&folder.0)
        .args(args)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    child.wait_with_output().unwrap()
}

#[test]
fn a_closed_pipe_is_no_fault() {
    let folder = Folder::new("pipe");
    folder.write("a.py", ENDLESS);
    for format in FORMATS {
        let output = unread(&folder, &["--output-format", format, "--output=json=out.json"]);
        assert_eq!((output.status.code(), err(&output).as_str()), (Some(1), ""), "{format}");
        assert!(std::fs::remove_file(folder.0.join("out.json")).is_ok(), "files are written all the same");
    }
    for args in [
        &["rules", "--output-format", "json"] as &[&str],
        &["inventory"],
        &["explain", "unbounded-retry"],
        &["completions", "zsh"],
    ] {
        let output = unread(&folder, args);
        assert_eq!((output.status.code(), err(&output).as_str()), (Some(0), ""), "{args:?}");
    }
}

#[cfg(unix)]
#[test]
fn an_interrupt_leaves_no_half_written_file() {
    use std::time::{Duration, Instant};
    let folder = Folder::new("interrupt");
    folder.write("src/a.py", ENDLESS).write("out/old.json", "old");
    let made = Command::new("mkfifo").arg(folder.0.join("pipe")).status();
    if !made.is_ok_and(|status| status.success()) {
        return;
    }
    let names = || {
        let entries = std::fs::read_dir(folder.0.join("out")).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    // Nobody reads the pipe, so that the run stays where the first file is written and not in its place yet.
    let mut child = Command::new(env!("CARGO_BIN_EXE_stormlint"))
        .current_dir(&folder.0)
        .args(["src", "--output=json=out/old.json", "--output=sarif=pipe"])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let begin = Instant::now();
    while names().len() < 2 && begin.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(names().len(), 2, "the first file was not begun");
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(names(), ["old.json"]);
    assert_eq!(std::fs::read_to_string(folder.0.join("out/old.json")).unwrap(), "old");
}
