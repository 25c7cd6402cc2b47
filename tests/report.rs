//! The formats, against golden files.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

mod common;

use std::io::Write;

use stormlint::check::{FileError, Input, Run};
use stormlint::diagnostic::{Confidence, Diagnostic, Label, Level};
use stormlint::report::sarif::Options;
use stormlint::report::{self, Style};
use stormlint::source::{Language, SourceFile, Span};

const PLAIN: Style = Style { colour: false, links: false };
const RICH: Style = Style { colour: true, links: true };

fn printed(write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn full() {
    let run = common::run();
    common::golden(
        "full.txt",
        &printed(|out| report::full::write(&run, PLAIN, out).and_then(|()| report::summary(&run, out))),
    );
}

#[test]
fn colours_and_links_change_nothing_else() {
    let run = common::run();
    for (rich, plain) in [
        (printed(|out| report::full::write(&run, RICH, out)), printed(|out| report::full::write(&run, PLAIN, out))),
        (
            printed(|out| report::concise::write(&run, RICH, out)),
            printed(|out| report::concise::write(&run, PLAIN, out)),
        ),
    ] {
        assert!(rich.contains("\u{1b}[") && !plain.contains('\u{1b}'));
        let page = concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/rules/unbounded-retry.md");
        let link = format!("[\u{1b}]8;;{page}\u{1b}\\unbounded-retry\u{1b}]8;;\u{1b}\\]");
        assert_eq!(rich.matches(&link).count(), 1, "{rich}");
        assert_eq!(rich.matches("\u{1b}]8;;h").count(), 4);
        assert_eq!(anstream::adapter::strip_str(&rich).to_string(), plain);
    }
    let colour = Style { links: false, ..RICH };
    assert!(!printed(|out| report::full::write(&run, colour, out)).contains("\u{1b}]"));
}

#[test]
fn concise() {
    let run = common::run();
    common::golden("concise.txt", &printed(|out| report::concise::write(&run, PLAIN, out)));
}

#[test]
fn github() {
    let run = common::run();
    common::golden("github.txt", &printed(|out| report::github::write(&run, out)));
    assert_eq!(printed(|out| report::github::write(&common::clean_run(), out)), "");
}

#[test]
fn gitlab() {
    let run = common::run();
    common::golden("gitlab.json", &printed(|out| report::gitlab::write(&run, out)));
    assert_eq!(printed(|out| report::gitlab::write(&common::clean_run(), out)), "[]\n");
}

#[test]
fn junit() {
    let run = common::run();
    common::golden("junit.xml", &printed(|out| report::junit::write(&run, Some(Level::Warning), out)));
    common::golden("junit-clean.xml", &printed(|out| report::junit::write(&common::clean_run(), None, out)));
    let nothing_fails = printed(|out| report::junit::write(&run, None, out));
    assert!(nothing_fails.contains("failures=\"0\"") && !nothing_fails.contains("<failure"), "{nothing_fails}");
}

#[test]
fn rules_are_counted_the_most_first() {
    let mut run = common::run();
    let note = run.findings.iter().find(|found| found.diagnostic.rule == "unbounded-retry").unwrap().clone();
    run.findings.extend(std::iter::repeat_n(note, 9));
    let counted = "10  unbounded-retry\n 1  fixed-retry-delay\n 1  retry-without-delay\n 1  unparsed-source\n";
    assert_eq!(printed(|out| report::statistics(&run, out)), counted);
    assert_eq!(printed(|out| report::statistics(&common::clean_run(), out)), "");
}

/// A run in which every text that comes from files tries to be more than a text.
fn hostile() -> Run {
    const EVIL: &str = "\u{1b}[2J\u{9b}31m\u{202e} ##[error]a ##vso[task.setvariable]b";
    let text = format!("x = 1\nwhile True:  # {EVIL}\n    get('{EVIL}')\n");
    let inputs = ["::error::a\r\n::error file=b::c.py".to_owned(), format!("{EVIL}.py")].map(|path| Input {
        file: SourceFile::new(path.as_str(), text.as_str(), Language::Python),
        module: String::new(),
        root_path: path.as_str().into(),
        config: std::sync::Arc::default(),
    });
    let says = format!("retries `get('{EVIL}')` {} ::error::forged\n::error::forged", "word ".repeat(18));
    let loop_at = text.find("while").unwrap();
    let finding = |at| {
        let labels =
            vec![Label { file: None, span: Span::new(text.find("get").unwrap(), text.len() - 1), text: says.clone() }];
        let diagnostic = Diagnostic {
            rule: "unbounded-retry",
            level: Level::Error,
            confidence: Confidence::High,
            span: Span::new(loop_at, loop_at + 5),
            message: says.clone(),
            why: says.clone(),
            help: says.clone(),
            labels,
            extent: Vec::new(),
            function: String::new(),
            key: EVIL.to_owned(),
        };
        (at, diagnostic)
    };
    let mut run = Run::with_findings(inputs.to_vec(), vec![finding(0), finding(1)]);
    run.errors =
        vec![FileError::new("gone\n::error::forged.py".to_owned(), "no such file\n::error::forged".to_owned())];
    run
}

#[test]
fn no_name_and_no_source_text_commands_a_terminal_or_a_build_server() {
    let (run, config) = (hostile(), common::config());
    let options = Options { config: &config, category: None };
    for (format, text) in [
        ("full", printed(|out| report::full::write(&run, PLAIN, out))),
        ("concise", printed(|out| report::concise::write(&run, PLAIN, out))),
        ("json", printed(|out| report::json::write(&run, out))),
        ("sarif", printed(|out| report::sarif::write(&run, options, out))),
        ("github", printed(|out| report::github::write(&run, out))),
        ("gitlab", printed(|out| report::gitlab::write(&run, out))),
        ("junit", printed(|out| report::junit::write(&run, Some(Level::Warning), out))),
    ] {
        let raw = text.chars().find(|c| c.is_control() && *c != '\n' || ('\u{202a}'..='\u{202e}').contains(c));
        assert_eq!(raw, None, "{format}: {text}");
        assert!(!text.contains("##[") && !text.contains("##vso["), "{format}: {text}");
        let commands = text.lines().filter(|line| line.trim_start().starts_with("::")).count();
        assert_eq!(commands, if format == "github" { 3 } else { 0 }, "{format}: {text}");
    }
    let annotations = printed(|out| report::github::write(&run, out));
    assert!(annotations.starts_with("::error file=%3A%3Aerror%3A%3Aa%0D%0A%3A%3Aerror file=b%3A%3Ac.py,line=2,"));
    let full = printed(|out| report::full::write(&run, PLAIN, out));
    assert!(full.contains("2 │ while True:  # ␛[2J\u{fffd}31m"), "{full}");
    let marked = full.lines().skip_while(|line| !line.starts_with("3 │")).nth(1).unwrap();
    assert_eq!(marked.find('-'), Some("  │     ".len()), "marks stand below what they mark: {full}");
}

#[test]
fn json() {
    let run = common::run();
    common::golden("findings.json", &printed(|out| report::json::write(&run, out)));
}

#[test]
fn sarif() {
    let (run, config) = (common::run(), common::config());
    let options = Options { config: &config, category: None };
    let text = printed(|out| report::sarif::write(&run, options, out));
    common::golden("findings.sarif", &text.replace(env!("CARGO_PKG_VERSION"), "VERSION"));
}

#[test]
fn the_closing_line_counts() {
    assert_eq!(printed(|out| report::summary(&common::clean_run(), out)), "No findings in 0 files.\n");
    assert_eq!(printed(|out| report::summary(&common::run(), out)), "Found 2 errors, 1 warning, 1 note in 3 files.\n");
}
