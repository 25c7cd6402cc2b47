//! The formats, against golden files.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

mod common;

use std::io::Write;

use stormlint::report;
use stormlint::report::sarif::Options;

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
        &printed(|out| report::full::write(&run, false, out).and_then(|()| report::summary(&run, out))),
    );
}

#[test]
fn colours_change_nothing_but_colours() {
    let run = common::run();
    let coloured = printed(|out| report::full::write(&run, true, out));
    assert!(coloured.contains("\u{1b}["));
    let plain = printed(|out| report::full::write(&run, false, out));
    assert_eq!(anstream::adapter::strip_str(&coloured).to_string(), plain);
}

#[test]
fn concise() {
    let run = common::run();
    common::golden("concise.txt", &printed(|out| report::concise::write(&run, out)));
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
