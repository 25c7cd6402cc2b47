//! One run over a set of files: lowers them, analyses them, asks the rules, and puts the findings in order.
//!
//! Nothing here reads a file or prints: texts come in ([`Input`]), and a [`Run`] goes out that every report reads.
//!
//! Invariant: a fault of this program in one file loses at most that file; it becomes an entry in [`Run::errors`].
//! Invariant: the outcome depends on the inputs and the configuration alone, not on threads or the order of files.

mod guard;
mod outcome;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::analysis::policy::Site;
use crate::analysis::project::Project;
use crate::analysis::{self, layers};
use crate::config::{ActiveRule, Config};
use crate::diagnostic::{Confidence, Diagnostic, Label, Level, Place};
use crate::fingerprint::Fingerprints;
use crate::frontend;
use crate::ir::{Module, Unparsed};
use crate::models::AllModels;
use crate::rules::Context;
use crate::source::{SourceFile, Span};
use crate::suppress::{self, Sorted};
pub use guard::tell_panics;
use guard::{Running, guarded, trip};
pub use outcome::Outcome;

/// Parsers and analysis recurse over what a file nests; this much stack takes all that compilers accept.
const STACK: usize = 64 << 20;

/// The rule about files that could not be parsed.
const UNPARSED: &str = "unparsed-source";

/// So many further parts that could not be parsed are shown.
const MAX_OTHERS: usize = 7;

/// A file to check.
#[derive(Debug, Clone)]
pub struct Input {
    /// Its text, under the path that is printed.
    pub file: SourceFile,
    /// Dotted module path, as far as it is known.
    pub module: String,
    /// Path relative to the root of the repository: what SARIF prints.
    pub root_path: Arc<str>,
    /// What holds for it.
    pub config: Arc<Config>,
}

/// A file that could not be read or checked.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub struct FileError {
    /// Its path, as it is printed.
    pub path: String,
    /// What went wrong.
    pub message: String,
    /// Whose fault it is.
    pub kind: ErrorKind,
}

/// Why a file was not checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorKind {
    /// It could not be read.
    Unread,
    /// It was read, but could not be parsed at all.
    Unparsed,
    /// This program went wrong on it.
    InternalError,
}

impl FileError {
    /// A file that could not be read.
    #[must_use]
    pub fn new(path: String, message: String) -> FileError {
        FileError { path, message, kind: ErrorKind::Unread }
    }

    fn internal(file: &SourceFile, message: String) -> FileError {
        FileError { path: file.path.to_string(), message, kind: ErrorKind::InternalError }
    }
}

/// A finding in its file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// Index in [`Run::files`].
    pub file: usize,
    /// What is said.
    pub diagnostic: Diagnostic,
    /// See [`Fingerprints`].
    pub fingerprint: String,
    /// The part of it that stays where code goes to another function.
    pub shape: String,
}

/// A finding that is not reported.
#[derive(Debug, Clone)]
pub struct Suppressed {
    /// The finding.
    pub found: Found,
    /// Why not.
    pub by: By,
}

/// What keeps a finding out of the report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum By {
    /// A comment in the source, with its reason (empty where it has none).
    Comment(String),
    /// It was there before: the baseline has it.
    Baseline,
}

/// What came of a run.
#[derive(Debug, Default)]
pub struct Run {
    /// The files, in the order of their paths.
    pub files: Vec<SourceFile>,
    /// Their paths from the root of the repository, in the same order.
    pub root_paths: Vec<Arc<str>>,
    /// What holds for each of them.
    pub configs: Vec<Arc<Config>>,
    /// The sites of each file, in source order.
    pub sites: Vec<Vec<Site>>,
    /// The parts of each file that could not be parsed.
    pub unparsed: Vec<Vec<Unparsed>>,
    /// The findings, by file, place and rule.
    pub findings: Vec<Found>,
    /// Those that are not reported, in the same order.
    pub suppressed: Vec<Suppressed>,
    /// Whether reports that can tell them apart list those too.
    pub lists_suppressed: bool,
    /// Those that have nothing to do with the changed lines, and are not reported either.
    pub outside: Vec<Found>,
    /// What could not be read or checked, by path.
    pub errors: Vec<FileError>,
    /// Files of which nothing was checked, with what is to be told of them where no finding does.
    lost: Vec<(usize, FileError)>,
}

impl Run {
    /// How many findings have this level.
    #[must_use]
    pub fn count(&self, level: Level) -> usize {
        self.findings.iter().filter(|found| found.diagnostic.level == level).count()
    }

    /// Whether a finding fails the run: one at this level or above.
    #[must_use]
    pub fn fails(&self, fail_on: Option<Level>) -> bool {
        fail_on.is_some_and(|level| self.findings.iter().any(|found| found.diagnostic.level >= level))
    }

    /// Leaves out what has a lower level than `min_level`. A file of which nothing was checked becomes an error where
    /// what is left does not say so, or would not fail a run that fails at `fail_on`; returns these.
    pub fn narrow(&mut self, min_level: Level, fail_on: Option<Level>) -> Vec<FileError> {
        self.findings.retain(|found| found.diagnostic.level >= min_level);
        let says = |found: &Found| {
            let diagnostic = &found.diagnostic;
            diagnostic.rule == UNPARSED && fail_on.is_none_or(|level| diagnostic.level >= level)
        };
        // What somebody decided not to be told is as good as told.
        let unasked = self.suppressed.iter().map(|one| &one.found).chain(&self.outside);
        let unasked = unasked.filter(|found| found.diagnostic.rule == UNPARSED);
        let told: Vec<usize> =
            self.findings.iter().filter(|found| says(found)).chain(unasked).map(|found| found.file).collect();
        self.suppressed.retain(|one| one.found.diagnostic.level >= min_level);
        let untold = std::mem::take(&mut self.lost).into_iter().filter(|(file, _)| !told.contains(file));
        let untold: Vec<FileError> = untold.map(|(_, error)| error).collect();
        self.errors.extend_from_slice(&untold);
        self.errors.sort();
        untold
    }

    /// A run with these findings already made, in order and with their fingerprints.
    #[must_use]
    pub fn with_findings(inputs: Vec<Input>, diagnostics: Vec<(usize, Diagnostic)>) -> Run {
        let mut run = Run::default();
        for input in inputs {
            run.files.push(input.file);
            run.root_paths.push(input.root_path);
            run.configs.push(input.config);
            run.sites.push(Vec::new());
            run.unparsed.push(Vec::new());
        }
        run.take(diagnostics.into_iter().map(|(file, diagnostic)| (file, diagnostic, None)).collect());
        run
    }

    /// Takes findings in, in any order; with a reason, those that a comment suppresses.
    fn take(&mut self, mut diagnostics: Vec<(usize, Diagnostic, Option<String>)>) {
        diagnostics.sort_by(|(left_file, left, _), (right_file, right, _)| {
            (left_file, left.span, left.rule, &left.message).cmp(&(right_file, right.span, right.rule, &right.message))
        });
        diagnostics.dedup();
        let mut prints = Fingerprints::default();
        let mut last = None;
        for (at, diagnostic, reason) in diagnostics {
            if last != Some(at) {
                prints = Fingerprints::default();
                last = Some(at);
            }
            // Suppressed or not, an equal one keeps its number.
            let print = prints.next(&diagnostic);
            let found = Found { file: at, diagnostic, fingerprint: print.own, shape: print.shape };
            match reason {
                Some(reason) => self.suppressed.push(Suppressed { found, by: By::Comment(reason) }),
                None => self.findings.push(found),
            }
        }
    }

    /// Reports what comments suppress, as if there were none.
    pub fn unsuppress(&mut self) {
        self.findings.extend(std::mem::take(&mut self.suppressed).into_iter().map(|suppressed| suppressed.found));
        self.findings.retain(|found| !suppress::RULES.contains(&found.diagnostic.rule));
        self.findings.sort_by(|left, right| {
            let key = |found: &Found| (found.file, found.diagnostic.span, found.diagnostic.rule);
            key(left).cmp(&key(right)).then_with(|| left.diagnostic.message.cmp(&right.diagnostic.message))
        });
    }
}

/// How far a run has come, for those who wait for it.
#[derive(Debug, Default)]
pub struct Progress {
    done: AtomicUsize,
    all: AtomicUsize,
}

impl Progress {
    /// The steps that are done, and all of them: a file is lowered and analysed.
    #[must_use]
    pub fn steps(&self) -> (usize, usize) {
        (self.done.load(Relaxed), self.all.load(Relaxed))
    }

    fn step<T>(&self, work: impl FnOnce() -> T) -> T {
        let outcome = work();
        self.done.fetch_add(1, Relaxed);
        outcome
    }
}

/// Checks a set of files together: calls are followed from one into the other. Each is judged by its own configuration.
#[must_use]
pub fn check(inputs: Vec<Input>) -> Run {
    check_watched(inputs, &Progress::default())
}

/// As [`check()`], for somebody who waits for it.
#[must_use]
pub fn check_watched(inputs: Vec<Input>, progress: &Progress) -> Run {
    match rayon::ThreadPoolBuilder::new().stack_size(STACK).build() {
        Ok(pool) => pool.install(|| check_here(inputs, progress)),
        Err(_) => check_here(inputs, progress),
    }
}

fn check_here(mut inputs: Vec<Input>, progress: &Progress) -> Run {
    let _running = Running::new();
    progress.all.store(inputs.len() * 2, Relaxed);
    inputs.sort_by(|left, right| left.file.path.cmp(&right.file.path));
    let lower = |input: &Input| {
        let lower = || {
            trip(&input.file.text, "lowering");
            frontend::lower(&input.file, &input.module)
        };
        progress.step(|| guarded(lower))
    };
    let lowered: Vec<Result<Module, String>> = inputs.par_iter().map(lower).collect();

    let mut run = Run::default();
    let mut modules = Vec::with_capacity(inputs.len());
    let names: Vec<String> = inputs.iter().map(|input| input.module.clone()).collect();
    for (input, lowered) in inputs.into_iter().zip(lowered) {
        let module = lowered.unwrap_or_else(|message| {
            run.errors.push(FileError::internal(&input.file, message));
            empty_module(&input.file)
        });
        if module.is_lost() {
            let lost = lost(&input.file, &module.unparsed);
            match input.config.rule(UNPARSED) {
                None => run.errors.push(lost),
                Some(_) => run.lost.push((run.files.len(), lost)),
            }
        }
        run.unparsed.push(module.unparsed.clone());
        run.files.push(input.file);
        run.root_paths.push(input.root_path);
        run.configs.push(input.config);
        modules.push(module);
    }
    crate::ir::link::link(&mut modules, &names);
    run.sites = sites(&run.files, &modules, &names, &run.configs, &mut run.errors, progress);

    let failed: Vec<&str> = run.errors.iter().map(|error| error.path.as_str()).collect();
    let judged: Vec<Result<Sorted, String>> = run
        .files
        .par_iter()
        .zip(&run.sites)
        .zip(&run.unparsed)
        .zip(&run.configs)
        .map(|(((file, sites), unparsed), config)| {
            guarded(|| {
                trip(&file.text, "the rules");
                let found = judge(&run, file, sites, unparsed, config);
                let unread = unread(file, unparsed, failed.contains(&&*file.path));
                let mut sorted = suppress::sort(file, &config.rules, &unread, found);
                sorted.kept.retain(|diagnostic| diagnostic.confidence >= config.min_confidence);
                sorted.suppressed.retain(|(diagnostic, _)| diagnostic.confidence >= config.min_confidence);
                sorted
            })
        })
        .collect();
    let mut diagnostics = Vec::new();
    for (at, judged) in judged.into_iter().enumerate() {
        match judged {
            Ok(sorted) => {
                diagnostics.extend(sorted.kept.into_iter().map(|diagnostic| (at, diagnostic, None)));
                diagnostics.extend(sorted.suppressed.into_iter().map(|(found, reason)| (at, found, Some(reason))));
            }
            Err(message) => {
                let told = run.files.get(at).map(|file| FileError::internal(file, message));
                run.errors.extend(told);
            }
        }
    }
    run.take(diagnostics);
    run.errors.sort();
    run.errors.dedup();
    run
}

/// The sites of each file; a file on which the analysis goes wrong is reported, the others are not lost with it.
fn sites(
    files: &[SourceFile],
    modules: &[Module],
    names: &[String],
    configs: &[Arc<Config>],
    errors: &mut Vec<FileError>,
    progress: &Progress,
) -> Vec<Vec<Site>> {
    let models: Vec<&AllModels> = configs.iter().map(|config| config.models()).collect();
    let mut different: Vec<&AllModels> = Vec::new();
    for one in &models {
        if !different.iter().any(|known| std::ptr::eq(*known, *one)) {
            different.push(one);
        }
    }
    let joined;
    let shared = match different.as_slice() {
        [] => AllModels::builtin(),
        [one] => one,
        several => {
            joined = AllModels::joined(several);
            &joined
        }
    };
    let project = Project::new(files, modules, names, models, shared);
    let count = u32::try_from(files.len()).unwrap_or(u32::MAX);
    let sites_of = |file: u32| {
        let analyse = || {
            files.get(file as usize).into_iter().for_each(|file| trip(&file.text, "the analysis"));
            analysis::sites_of(&project, file)
        };
        progress.step(|| guarded(analyse))
    };
    let found: Vec<_> = (0..count).into_par_iter().map(sites_of).collect();
    let mut sites = Vec::with_capacity(files.len());
    for (file, found) in files.iter().zip(found) {
        sites.push(found.unwrap_or_else(|message| {
            errors.push(FileError::internal(file, message));
            Vec::new()
        }));
    }
    layers::tell_inner(&mut sites);
    sites
}

/// Asks every active rule about every site of one file.
fn judge(run: &Run, file: &SourceFile, sites: &[Site], unparsed: &[Unparsed], config: &Config) -> Vec<Diagnostic> {
    let context = Context { file, files: &run.files, limits: &config.limits };
    let mut found = Vec::new();
    for site in sites.iter().filter(|site| !site.in_test) {
        for active in &config.rules {
            let told = active.rule.check.and_then(|check| ask(active, check, site, context));
            found.extend(told.filter(|_| !is_told_of_helper(run, active, site, config)));
        }
    }
    let told: Vec<bool> = found.iter().map(|one| found.iter().any(|other| is_told_within(one, other))).collect();
    let mut told = told.into_iter();
    found.retain(|_| !told.next().unwrap_or(false));
    if let Some(active) = config.rule(UNPARSED) {
        found.extend(unparsed_source(active, file, unparsed));
    }
    found
}

/// Whether a loop further in has the very same fault at the very same call: it is there that it is to be mended.
fn is_told_within(one: &Diagnostic, other: &Diagnostic) -> bool {
    let whole = |diagnostic: &Diagnostic| diagnostic.extent.first().map(|place| place.span);
    let (Some(outer), Some(inner)) = (whole(one), whole(other)) else { return false };
    let same = one.rule == other.rule && one.message == other.message && one.labels == other.labels;
    same && outer != inner && outer.contains(inner)
}

/// The parts of a file of which it is not known what is to be found in them.
fn unread(file: &SourceFile, unparsed: &[Unparsed], failed: bool) -> Vec<Span> {
    if failed { vec![Span::new(0, file.text.len())] } else { unparsed.iter().map(|part| part.span).collect() }
}

type Check = fn(&Site, Context<'_>) -> Option<crate::rules::Finding>;

fn ask(active: &ActiveRule, check: Check, site: &Site, context: Context<'_>) -> Option<Diagnostic> {
    let finding = check(site, context)?;
    let operation = site.operation().map_or(site.header, |operation| operation.span);
    let written = |span| frontend::outline(context.file.slice(span), context.file.language);
    let extent = [site.span, site.header, operation].map(|span| Place { file: None, span });
    let links = site.links.iter().map(|link| Place { file: Some(link.file as usize), span: link.span });
    Some(Diagnostic {
        rule: active.rule.name,
        level: active.level,
        confidence: finding.confidence,
        span: site.header,
        message: finding.message,
        why: site.version.as_ref().map_or_else(|| finding.why.clone(), |note| format!("{} ({note})", finding.why)),
        help: finding.help,
        labels: finding.labels,
        extent: extent.into_iter().chain(links).collect(),
        function: site.function_name.clone(),
        key: format!("{} @ {}", written(operation), written(site.header)),
    })
}

/// Whether a rule says the same of the helper that a site brings something in to: what is wrong there whatever is passed
/// in is said there, once.
fn is_told_of_helper(run: &Run, active: &ActiveRule, site: &Site, config: &Config) -> bool {
    let Some(helper) = site.helper else { return false };
    let at = helper.file as usize;
    let Some((file, sites)) = run.files.get(at).zip(run.sites.get(at)) else { return false };
    let context = Context { file, files: &run.files, limits: &config.limits };
    let itself = |own: &&Site| own.helper.is_none() && own.header == helper.header && !own.in_test;
    sites.iter().filter(itself).any(|own| {
        let told = active.rule.check.and_then(|check| ask(active, check, own, context));
        told.is_some_and(|told| told.confidence >= config.min_confidence)
    })
}

/// One finding a file, at the first line of the first part that could not be parsed.
fn unparsed_source(active: &ActiveRule, file: &SourceFile, unparsed: &[Unparsed]) -> Option<Diagnostic> {
    let first = unparsed.iter().min_by_key(|part| part.span)?;
    let more = match unparsed.len() - 1 {
        0 => String::new(),
        1 => ", nor was 1 further part".to_owned(),
        n => format!(", nor were {n} further parts"),
    };
    let others = unparsed.iter().filter(|part| part.span != first.span);
    let label = |part: &Unparsed| Label { file: None, span: file.first_line(part.span), text: part.message.clone() };
    Some(Diagnostic {
        rule: active.rule.name,
        level: active.level,
        confidence: Confidence::High,
        span: file.first_line(first.span),
        message: format!("A part of the file was not checked ({}){more}", first.message.trim_end_matches('.')),
        why: "what stands there may hold faults that no other rule reports; the rest of the file was checked"
            .to_owned(),
        help: "mend the syntax, or leave the file out if it is not meant to be run".to_owned(),
        labels: others.take(MAX_OTHERS).map(label).collect(),
        extent: unparsed.iter().map(|part| Place { file: None, span: part.span }).collect(),
        function: String::new(),
        key: frontend::outline(file.slice(file.first_line(first.span)), file.language),
    })
}

/// A file of which nothing was checked, where no finding says so.
fn lost(file: &SourceFile, unparsed: &[Unparsed]) -> FileError {
    let first = unparsed.iter().min_by_key(|part| part.span);
    let place = first.map_or_else(String::new, |part| {
        format!(" (line {}: {})", file.line_of(part.span.start), part.message.trim_end_matches('.'))
    });
    FileError {
        path: file.path.to_string(),
        message: format!("could not be parsed, and nothing of it was checked{place}"),
        kind: ErrorKind::Unparsed,
    }
}

fn empty_module(file: &SourceFile) -> Module {
    Module {
        language: file.language,
        functions: Vec::new(),
        classes: Vec::new(),
        globals: Vec::new(),
        imports: Vec::new(),
        exports: Vec::new(),
        unparsed: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;
    use crate::rules::{Group, Rule};
    use crate::source::{Language, Span};

    fn active() -> ActiveRule {
        let rule = Rule { name: UNPARSED, group: Group::Meta, level: Level::Warning, page: "", check: None };
        ActiveRule { rule, level: Level::Warning }
    }

    #[test]
    fn unparsed_parts_make_one_finding_at_the_first() {
        let part = |start| Unparsed { span: Span::new(start, start + 2), message: "expected `:`".to_owned() };
        let file = SourceFile::new("a.py", "def (\n\nx = = 1\nclass class\n", Language::Python);
        let found = unparsed_source(&active(), &file, &[part(9), part(4), part(20)]).unwrap();
        assert_eq!(found.span, Span::new(4, 5));
        assert_eq!(found.message, "A part of the file was not checked (expected `:`), nor were 2 further parts");
        assert_eq!(found.labels.len(), 2);
        assert!(unparsed_source(&active(), &file, &[]).is_none());
    }

    #[test]
    fn findings_are_ordered_by_file_place_and_rule() {
        let input = |path: &str| Input {
            file: SourceFile::new(path, "while True:\n    go()\n", Language::Python),
            module: String::new(),
            root_path: path.into(),
            config: Arc::default(),
        };
        let diagnostic = |rule, start| {
            let part = Unparsed { span: Span::new(start, start + 1), message: "x".to_owned() };
            let found = unparsed_source(&active(), &input("a.py").file, &[part]).unwrap();
            Diagnostic { rule, ..found }
        };
        let given = vec![
            (1, diagnostic("a", 0)),
            (0, diagnostic("b", 3)),
            (0, diagnostic("a", 3)),
            (0, diagnostic("z", 1)),
            (0, diagnostic("z", 1)),
        ];
        let run = Run::with_findings(vec![input("a.py"), input("b.py")], given);
        let order: Vec<_> = run.findings.iter().map(|found| (found.file, found.diagnostic.rule)).collect();
        assert_eq!(order, [(0, "z"), (0, "a"), (0, "b"), (1, "a")]);
        assert!(run.fails(Some(Level::Warning)) && !run.fails(Some(Level::Error)) && !run.fails(None));
        assert_eq!(run.count(Level::Warning), 4);
    }
}
