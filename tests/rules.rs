//! The pages of the rules are their tests.
//!
//! Every `python` or `rust` fence of `rules/*.md` is linted with all default rules on, and with the rule of its page,
//! which may be off by default. A marker at a line's end
//! (`# error: [rule-name]`, `// warn: [a], error: [b]`) must be met by exactly that finding on that line; a fence with
//! no marker must yield nothing. A suppression comment that is part of the example stands before the marker. A `text` fence behind a bad example is the terminal's output for it, to the letter;
//! `STORMLINT_BLESS=1 cargo test --test rules` rewrites those. The sources in `testdata/incidents` are tested
//! alike. One fence is one trial, so that `cargo test --test rules unbounded-retry/python` runs a few.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, missing_docs)]

use std::fmt::Write as _;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use libtest_mimic::{Arguments, Failed, Trial};
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use stormlint::check::{Input, Run, check};
use stormlint::config::{self, Config};
use stormlint::diagnostic::{Confidence, Diagnostic, Level};
use stormlint::report;
use stormlint::rules;
use stormlint::source::{Language, SourceFile};

/// The one seam to the library: a run over this text alone, with default limits, the default rules and the rule of the
/// page that it stands on, which may be off by default.
fn run(file: &SourceFile, page: &str) -> Run {
    let path = file.path.clone();
    let module = path.split('.').next().unwrap_or_default().to_owned();
    let chosen: Vec<String> =
        ["default", page].iter().filter(|name| !name.is_empty()).map(ToString::to_string).collect();
    let known = page.is_empty() || rules::ALL.iter().any(|rule| rule.name == page);
    let rules = if known { config::select(rules::ALL, &chosen, &[]).expect("a rule") } else { Vec::new() };
    let config = Arc::new(Config { rules, ..Config::default() });
    check(vec![Input { file: file.clone(), module, root_path: path, config }])
}

/// The findings for a text.
fn lint(file: &SourceFile, page: &str) -> Vec<Diagnostic> {
    let run = run(file, page);
    assert!(run.errors.is_empty(), "{:?}", run.errors);
    run.findings.into_iter().map(|found| found.diagnostic).collect()
}

/// What the terminal shows for it, without colours.
fn output(file: &SourceFile, page: &str) -> String {
    let run = run(file, page);
    let mut out = Vec::new();
    report::full::write(&run, report::Style::default(), &mut out).expect("writing to memory");
    report::summary(&run, &mut out).expect("writing to memory");
    String::from_utf8(out).expect("text")
}

const SECTIONS: &[&str] = &["What it does", "Why it matters", "Examples", "How to fix", "References"];
const LONGEST_SUMMARY: usize = 1024;

fn main() {
    let arguments = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let paths = pages(root);
    if std::env::var_os("STORMLINT_BLESS").is_some() {
        paths.iter().for_each(|path| bless(path));
    }

    let mut trials = vec![every_rule_has_a_page(&paths)];
    for path in &paths {
        let page = Page::read(path);
        trials.extend(page.fences.iter().filter_map(|fence| fence.trial(&page.name)));
        trials.extend(page.output_trials());
        trials.push(page.form_trial());
    }
    trials.extend(incidents(&root.join("testdata/incidents")));
    libtest_mimic::run(&arguments, trials).exit();
}

fn pages(root: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(root.join("rules"))
        .expect("the folder of pages")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    paths.sort();
    paths
}

/// A page, taken apart.
struct Page {
    /// Name of its file, without `.md`.
    name: String,
    text: String,
    title: String,
    summary: String,
    sections: Vec<String>,
    fences: Vec<Fence>,
}

/// A fenced block of a page.
struct Fence {
    /// `None` for a fence of text.
    language: Option<Language>,
    info: String,
    /// Its place among the fences of its language, from 1.
    number: usize,
    /// Line of the page on which the fence opens.
    line: usize,
    /// The `###` heading above it, in lower case.
    heading: String,
    /// The whole block with its fences, as bytes of the page.
    range: Range<usize>,
    source: String,
}

impl Page {
    fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).expect("a readable page");
        let name = path.file_stem().expect("a file name").to_string_lossy().into_owned();
        let mut page = Page {
            name,
            title: String::new(),
            summary: String::new(),
            sections: Vec::new(),
            fences: Vec::new(),
            text: text.clone(),
        };
        // Words of the heading, paragraph or block that is being read.
        let mut words = String::new();
        let mut heading = String::new();
        for (event, range) in Parser::new_ext(&text, Options::empty()).into_offset_iter() {
            match event {
                Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) => {
                    words.clear();
                    page.open_fence(&info, &heading, range);
                }
                Event::Start(Tag::Heading { .. } | Tag::Paragraph) => words.clear(),
                Event::Text(part) | Event::Code(part) => words.push_str(&part),
                Event::SoftBreak => words.push(' '),
                Event::End(TagEnd::CodeBlock) => {
                    if let Some(fence) = page.fences.last_mut() {
                        fence.source = std::mem::take(&mut words);
                    }
                }
                Event::End(TagEnd::Heading(HeadingLevel::H1)) => page.title = std::mem::take(&mut words),
                Event::End(TagEnd::Heading(HeadingLevel::H2)) => page.sections.push(std::mem::take(&mut words)),
                Event::End(TagEnd::Heading(_)) => heading = std::mem::take(&mut words).to_lowercase(),
                Event::End(TagEnd::Paragraph) if page.summary.is_empty() && page.sections.is_empty() => {
                    page.summary = std::mem::take(&mut words);
                }
                _ => {}
            }
        }
        page
    }

    fn open_fence(&mut self, info: &str, heading: &str, range: Range<usize>) {
        let language = match info {
            "python" => Some(Language::Python),
            "rust" => Some(Language::Rust),
            _ => None,
        };
        self.fences.push(Fence {
            language,
            info: info.to_owned(),
            number: self.fences.iter().filter(|fence| fence.info == info).count() + 1,
            line: self.text[..range.start].lines().count() + 1,
            heading: heading.to_owned(),
            range,
            source: String::new(),
        });
    }

    /// Each fence of text with the example before it.
    fn outputs(&self) -> impl Iterator<Item = (&Fence, &Fence)> {
        self.fences
            .windows(2)
            .filter(|pair| pair[1].info == "text" && pair[0].language.is_some())
            .map(|pair| (&pair[0], &pair[1]))
    }

    fn output_trials(&self) -> Vec<Trial> {
        let trial = |(example, shown): (&Fence, &Fence)| {
            let name = format!("{}/text/{} line {}", self.name, shown.number, shown.line);
            let (file, expected, page) = (example.file(), shown.source.clone(), self.name.clone());
            Trial::test(name, move || {
                let real = output(&file, &page);
                if real.trim_end() == expected.trim_end() {
                    return Ok(());
                }
                let diff = similar::TextDiff::from_lines(expected.trim_end(), real.trim_end());
                Err(Failed::from(format!("the output is another one\n{}", diff.unified_diff().header("page", "run"))))
            })
        };
        self.outputs().map(trial).collect()
    }

    fn form_trial(&self) -> Trial {
        let faults = self.faults();
        Trial::test(format!("{}/form", self.name), move || {
            if faults.is_empty() { Ok(()) } else { Err(Failed::from(faults.join("\n"))) }
        })
    }

    /// What the page lacks.
    fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let mut demand = |holds: bool, fault: String| {
            if !holds {
                faults.push(fault);
            }
        };
        demand(self.title == self.name, format!("the title is {:?}, the file {:?}", self.title, self.name));
        demand(rules::ALL.iter().any(|rule| rule.name == self.name), "no rule has this name".to_owned());
        demand(!self.summary.is_empty(), "no summary under the title".to_owned());
        let length = self.summary.chars().count();
        demand(length <= LONGEST_SUMMARY, format!("the summary has {length} characters"));

        let known = |section: &String| SECTIONS.contains(&section.as_str()) || section == "Options";
        for section in self.sections.iter().filter(|section| !known(section)) {
            demand(false, format!("no page has a section {section:?}"));
        }
        let required: Vec<&str> = self.sections.iter().map(String::as_str).filter(|name| *name != "Options").collect();
        demand(required == SECTIONS, format!("the sections are {required:?}, wanted: {SECTIONS:?}"));

        let other = |fence: &&Fence| fence.language.is_none() && fence.info != "text" && fence.info != "toml";
        for fence in self.fences.iter().filter(other) {
            demand(false, format!("line {}: a fence of {:?}", fence.line, fence.info));
        }
        for text in self.fences.iter().filter(|fence| fence.info == "text") {
            let follows = self.outputs().any(|(example, shown)| shown.line == text.line && example.is_bad());
            demand(follows, format!("line {}: a fence of text follows a bad example", text.line));
        }
        for language in [Language::Python, Language::Rust] {
            let of_language = || self.fences.iter().filter(move |fence| fence.language == Some(language));
            for fence in of_language() {
                let line = fence.line;
                demand(fence.heading == language.name(), format!("line {line}: stands under {:?}", fence.heading));
                match fence.markers() {
                    Ok(markers) => {
                        let own = markers.is_empty() || markers.iter().any(|marker| marker.rule == self.name);
                        demand(own, format!("line {line}: a bad example that does not break this rule"));
                    }
                    Err(fault) => demand(false, format!("the example at line {line}, {fault}")),
                }
            }
            // A rule can be about one language only.
            let bad = of_language().filter(|fence| fence.is_bad()).count();
            let good = of_language().count() - bad;
            let covered = bad + good > 0;
            demand(
                !covered || (bad >= 2 && good >= 2),
                format!("{}: {bad} bad and {good} good examples", language.name()),
            );
        }
        faults
    }
}

impl Fence {
    fn file(&self) -> SourceFile {
        let language = self.language.expect("an example");
        let path = match language {
            Language::Python => "example.py",
            Language::Rust => "example.rs",
        };
        SourceFile::new(path, without_markers(&self.source), language)
    }

    fn markers(&self) -> Result<Vec<Marker>, String> {
        markers(&self.source)
    }

    fn is_bad(&self) -> bool {
        self.markers().map_or(true, |markers| !markers.is_empty())
    }

    fn trial(&self, page: &str) -> Option<Trial> {
        let name = format!("{page}/{}/{} line {}", self.language?.name(), self.number, self.line);
        let (file, markers, page) = (self.file(), self.markers(), page.to_owned());
        Some(Trial::test(name, move || compare(&file, &page, markers)))
    }
}

/// What a line's marker asks for.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Marker {
    line: usize,
    rule: String,
    /// `error`, `warn` or `note`.
    level: &'static str,
}

impl Marker {
    fn of(diagnostic: &Diagnostic, file: &SourceFile) -> Self {
        let level = word(diagnostic.level);
        Marker { line: file.line_of(diagnostic.span.start), rule: diagnostic.rule.to_owned(), level }
    }
}

fn word(level: Level) -> &'static str {
    match level {
        Level::Note => "note",
        Level::Warning => "warn",
        Level::Error => "error",
    }
}

/// Where the marker of a line begins, and what it says; `None` where the line has none.
fn marker_of_line(line: &str) -> Option<(usize, Vec<(&'static str, &str)>)> {
    let (start, comment) = [("#", 1), ("//", 2)]
        .iter()
        .filter_map(|(sign, length)| line.rfind(sign).map(|at| (at, &line[at + length..])))
        .max_by_key(|(at, _)| *at)?;
    let mut rest = comment.trim();
    let mut entries = Vec::new();
    loop {
        let (level, behind) = rest.split_once(": [")?;
        let level = ["error", "warn", "note"].into_iter().find(|word| *word == level)?;
        let (names, behind) = behind.split_once(']')?;
        entries.extend(names.split(", ").map(|name| (level, name)));
        if behind.is_empty() {
            return Some((start, entries));
        }
        rest = behind.strip_prefix(", ")?;
    }
}

fn markers(source: &str) -> Result<Vec<Marker>, String> {
    let mut found = Vec::new();
    for (at, line) in source.lines().enumerate() {
        let Some((_, entries)) = marker_of_line(line) else {
            // A comment for stormlint itself is no marker; one behind it may be.
            let named = |rule: &rules::Rule| line.contains(&format!("[{}]", rule.name));
            if !line.contains("stormlint:") && rules::ALL.iter().any(named) {
                return Err(format!("line {}: not a marker: {}", at + 1, line.trim()));
            }
            continue;
        };
        for (level, rule) in entries {
            if !rules::ALL.iter().any(|known| known.name == rule) {
                return Err(format!("line {}: no rule is called {rule:?}", at + 1));
            }
            found.push(Marker { line: at + 1, rule: rule.to_owned(), level });
        }
    }
    found.sort();
    Ok(found)
}

fn without_markers(source: &str) -> String {
    let mut text = String::with_capacity(source.len());
    for line in source.lines() {
        text.push_str(marker_of_line(line).map_or(line, |(start, _)| line[..start].trim_end()));
        text.push('\n');
    }
    text
}

/// Lints and holds the findings against the markers.
fn compare(file: &SourceFile, page: &str, markers: Result<Vec<Marker>, String>) -> Result<(), Failed> {
    let mut expected = markers?;
    expected.sort();
    let mut found = lint(file, page);
    found.retain(|diagnostic| diagnostic.confidence >= Confidence::Medium);
    let mut real: Vec<Marker> = found.iter().map(|diagnostic| Marker::of(diagnostic, file)).collect();
    real.sort();
    if real == expected {
        return Ok(());
    }

    let mut report = String::new();
    for (at, line) in file.text.lines().enumerate() {
        writeln!(report, "{:4} | {line}", at + 1)?;
    }
    let (mut missing, mut surplus) = (expected, Vec::new());
    for diagnostic in &found {
        let marker = Marker::of(diagnostic, file);
        match missing.iter().position(|wanted| *wanted == marker) {
            Some(at) => drop(missing.remove(at)),
            None => surplus.push((marker, diagnostic)),
        }
    }
    for marker in missing {
        writeln!(report, "missing:  line {} {}: [{}]", marker.line, marker.level, marker.rule)?;
    }
    for (marker, diagnostic) in surplus {
        let confidence = diagnostic.confidence.name();
        writeln!(report, "too much: line {} {}: [{}], {confidence}", marker.line, marker.level, marker.rule)?;
        writeln!(report, "          {}", diagnostic.message)?;
    }
    Err(report.into())
}

fn every_rule_has_a_page(paths: &[PathBuf]) -> Trial {
    let mut faults = Vec::new();
    for rule in rules::ALL {
        let path = paths.iter().find(|path| path.file_stem().is_some_and(|stem| stem == rule.name));
        if path.is_none_or(|path| fs::read_to_string(path).expect("a readable page") != rule.page) {
            faults.push(format!("rules/{0}.md is not the page of {0}", rule.name));
        }
    }
    if !rules::ALL.is_sorted_by(|one, next| one.name < next.name) {
        faults.push("the list of rules is not in the order of their names".to_owned());
    }
    Trial::test(
        "every rule has a page",
        move || {
            if faults.is_empty() { Ok(()) } else { Err(Failed::from(faults.join("\n"))) }
        },
    )
}

/// The sources of the incidents: the faulty ones, their usual repair and the sound versions. `expected.txt` says what
/// must be found in them, one `path:line: level: [rule]` a line, so that they can be shown to people without markers.
fn incidents(folder: &Path) -> Vec<Trial> {
    let expected = fs::read_to_string(folder.join("expected.txt")).expect("the expected findings");
    let mut expected: Vec<&str> = expected.lines().collect();
    let mut trials = Vec::new();
    for language in [Language::Python, Language::Rust] {
        let mut paths: Vec<PathBuf> = fs::read_dir(folder.join(language.name()))
            .expect("the incidents of a language")
            .map(|entry| entry.expect("an entry").path())
            .collect();
        paths.sort();
        for path in paths {
            let file_name = path.file_name().expect("a file name").to_string_lossy().into_owned();
            let name = format!("{}/{file_name}", language.name());
            let file = SourceFile::new(file_name, fs::read_to_string(&path).expect("a readable source"), language);
            let prefix = format!("{name}:");
            let own: Vec<&str> = expected.extract_if(.., |line| line.starts_with(&prefix)).collect();
            let markers = own.iter().map(|line| expectation(&line[prefix.len()..])).collect();
            trials.push(Trial::test(format!("incidents/{name}"), move || compare(&file, "", markers)));
        }
    }
    assert!(expected.is_empty(), "these findings are expected in no file: {expected:?}");
    trials
}

/// Reads `22: error: [unbounded-retry]`.
fn expectation(text: &str) -> Result<Marker, String> {
    let (line, marker) = text.split_once(": ").ok_or_else(|| format!("not an expected finding: {text}"))?;
    let line = line.parse().map_err(|_| format!("not a line: {line}"))?;
    let mut markers = markers(&format!("# {marker}"))?;
    let marker = markers.pop().filter(|_| markers.is_empty()).ok_or_else(|| format!("not one marker: {marker}"))?;
    Ok(Marker { line, ..marker })
}

/// Writes the real output into the fences of text.
fn bless(path: &Path) {
    let page = Page::read(path);
    let mut text = page.text.clone();
    let outputs: Vec<_> = page.outputs().collect();
    for (example, shown) in outputs.into_iter().rev() {
        let fence = format!("```text\n{}\n```", output(&example.file(), &page.name).trim_end());
        text.replace_range(shown.range.clone(), &fence);
    }
    if text != page.text {
        fs::write(path, text).expect("a page that can be written");
    }
}
