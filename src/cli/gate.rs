//! What stands between the findings and the report: comments, the baseline, changed lines.
//!
//! In this order: comments were honoured when the files were checked (`--no-ignores` takes that back), then the baseline
//! takes out what was there before, then what has nothing to do with the changed lines goes. `--add-ignore` and
//! `--write-baseline` write down what is left, instead of reporting it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use super::{Failure, RunArgs, file, output};
use crate::baseline::{self, Entry};
use crate::check::{By, Found, Run, Suppressed};
use crate::config::Config;
use crate::source::{SourceFile, Span};
use crate::suppress::{self, add};
use crate::vcs::patch::indent;
use crate::vcs::{self, Changes, Lines};
use crate::walk::{self, Place};

/// So many names of entries that no longer occur are told.
const MAX_NAMED: usize = 5;

/// Which findings are not reported, and what is written instead.
#[derive(Debug, Args)]
pub(super) struct GateArgs {
    /// Honour no suppression comments
    #[arg(long)]
    no_ignores: bool,
    /// Write suppression comments with this reason for all findings, and report none
    #[arg(long, value_name = "REASON", conflicts_with = "no_ignores")]
    add_ignore: Option<String>,
    /// List what comments and the baseline keep out too, marked as such (SARIF, JSON)
    #[arg(long)]
    include_suppressed: bool,
    /// Report only what this file does not have
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Write all findings to this file, and report none
    #[arg(long, value_name = "FILE", conflicts_with_all = ["baseline", "add_ignore", "diff_base", "diff"])]
    write_baseline: Option<PathBuf>,
    /// Report only what lines are part of that were changed since this branch or commit
    #[arg(long, value_name = "REF")]
    diff_base: Option<String>,
    /// Report only what lines are part of that this unified diff adds; `-` reads standard input
    #[arg(long, value_name = "FILE", conflicts_with = "diff_base")]
    diff: Option<PathBuf>,
}

/// What was read before the run, so that a wrong name does not cost one.
pub(super) struct Gate<'a> {
    args: &'a GateArgs,
    place: Place,
    baseline: Option<Vec<Entry>>,
    changes: Option<Changes>,
}

/// Reads what the arguments name.
pub(super) fn prepare<'a>(args: &RunArgs, gate: &'a GateArgs) -> Result<Gate<'a>, Failure> {
    let cwd =
        std::env::current_dir().map_err(|error| Failure::Io { what: "the working directory".to_owned(), error })?;
    let place = Place::new(&cwd, args.root.as_deref());
    let is_piped = args.paths.iter().any(|path| path == Path::new("-"));
    if let Some(reason) = &gate.add_ignore {
        if reason.trim().is_empty() {
            return Err(Failure::Usage("--add-ignore takes the reason that is to stand in the comments".to_owned()));
        }
        let cut = [" # ", " // "].into_iter().any(|sign| reason.contains(sign));
        if cut || reason.contains(['\n', '\r']) {
            let message = "the reason of --add-ignore is one line, and holds no ` # ` and no ` // `";
            return Err(Failure::Usage(message.to_owned()));
        }
        if is_piped {
            return Err(Failure::Usage("--add-ignore changes files, and standard input is none".to_owned()));
        }
    }
    let baseline = gate.baseline.as_deref().map(read_baseline).transpose()?;
    let changes = match (&gate.diff_base, &gate.diff) {
        (Some(base), _) => {
            let mut changes = Changes::default();
            for folder in repositories(&place, args) {
                changes = changes.and(vcs::since(base, &folder)?);
            }
            Some(changes)
        }
        (None, Some(file)) => {
            if is_piped && file == Path::new("-") {
                return Err(Failure::Usage("standard input is either the diff or the source".to_owned()));
            }
            Some(patched(file, &place)?)
        }
        (None, None) => None,
    };
    Ok(Gate { args: gate, place, baseline, changes })
}

fn read_baseline(file: &Path) -> Result<Vec<Entry>, Failure> {
    let what = file.display();
    let bytes = walk::read_named(file).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            Failure::Usage(format!("there is no baseline {what}; `stormlint --write-baseline {what}` makes one"))
        }
        _ => Failure::Io { what: format!("the baseline {what}"), error },
    })?;
    baseline::read(&String::from_utf8_lossy(&bytes)).map_err(|error| {
        Failure::Usage(format!(
            "{what} is no baseline ({error}); mend it, or remove it and make a new one with `stormlint --write-baseline \
             {what}`"
        ))
    })
}

/// The roots of the repositories that the checked paths are in.
fn repositories(place: &Place, args: &RunArgs) -> BTreeSet<PathBuf> {
    let stdin = args.stdin_filename.as_deref().unwrap_or(Path::new("."));
    let folder = |path: &PathBuf| {
        let path = walk::normal(&place.cwd.join(if path == Path::new("-") { stdin } else { path }));
        let folder = path.ancestors().find(|folder| folder.is_dir()).unwrap_or(&place.cwd);
        walk::repository(folder).unwrap_or(folder).to_path_buf()
    };
    args.paths.iter().map(folder).collect()
}

fn patched(file: &Path, place: &Place) -> Result<Changes, Failure> {
    let (what, bytes) = if file == Path::new("-") {
        ("the diff on standard input".to_owned(), walk::read_to_end(std::io::stdin().lock()))
    } else {
        (format!("the diff {}", file.display()), walk::read_named(file))
    };
    let bytes = bytes.map_err(|error| Failure::Io { what: what.clone(), error })?;
    let changes = vcs::patched(&String::from_utf8_lossy(&bytes), &place.root, &place.cwd)
        .map_err(|error| Failure::Usage(format!("{what}: {error}")))?;
    let sources = |name: &&String| walk::language(Path::new(name.as_str())).is_some();
    let missing: Vec<&String> = changes.missing.iter().filter(sources).collect();
    if let Some(first) = missing.first() {
        let root = place.root.display();
        let message = format!(
            "{what} names `{first}`, which is neither in {root} nor in the working directory; give the folder that its \
             names begin in with --root"
        );
        // Of a diff that fits nothing here, it is the place that is wrong; nothing would be checked against it.
        if changes.is_empty() {
            return Err(Failure::Usage(message));
        }
        output::complain(&message);
    }
    Ok(changes)
}

impl Gate<'_> {
    /// Takes out of the run what is not to be reported.
    pub(super) fn sort(&self, run: &mut Run) {
        if self.args.no_ignores {
            run.unsuppress();
        }
        if let (Some(entries), Some(file)) = (&self.baseline, &self.args.baseline) {
            self.take_known(entries, file, run);
        }
        if let Some(changes) = &self.changes {
            self.take_outside(changes, run);
        }
        run.lists_suppressed = self.args.include_suppressed;
    }

    /// Writes what is left, where that is asked for instead of a report, and gives the exit code.
    pub(super) fn write(&self, run: &Run) -> Result<Option<ExitCode>, Failure> {
        if let Some(file) = &self.args.write_baseline {
            self.write_baseline(file, run)?;
            return Ok(Some(exit(run, true)));
        }
        let Some(reason) = &self.args.add_ignore else { return Ok(None) };
        let all = self.add_comments(reason.trim(), run)?;
        Ok(Some(exit(run, all)))
    }

    fn take_known(&self, entries: &[Entry], file: &Path, run: &mut Run) {
        let compared = baseline::compare(entries, &present(run));
        let mut known = compared.known.iter();
        let (old, new) = std::mem::take(&mut run.findings).into_iter().partition(|_| known.next() == Some(&true));
        run.findings = new;
        let old: Vec<Found> = old;
        run.suppressed.extend(old.into_iter().map(|found| Suppressed { found, by: By::Baseline }));
        run.suppressed.sort_by_key(|one| (one.found.file, one.found.diagnostic.span, one.found.diagnostic.rule));
        let (gone, _) = self.gone(compared.left, run);
        if !gone.is_empty() {
            let file = file.display();
            output::complain(&format!(
                "{} of {file} no longer occur{}: {}; `stormlint --write-baseline {file}` takes {} out",
                if gone.len() == 1 { "1 entry".to_owned() } else { format!("{} entries", gone.len()) },
                if gone.len() == 1 { "s" } else { "" },
                named(&gone),
                if gone.len() == 1 { "it" } else { "them" },
            ));
        }
    }

    /// Of the entries that no finding has, those that are known not to occur: their rule was asked and their file was
    /// checked whole, or is no more. And the others.
    fn gone(&self, left: Vec<Entry>, run: &Run) -> (Vec<Entry>, Vec<Entry>) {
        let whole: BTreeMap<&str, &Config> = run
            .root_paths
            .iter()
            .zip(&run.unparsed)
            .zip(&run.configs)
            .filter(|((_, unparsed), _)| unparsed.is_empty())
            .map(|((path, _), config)| (&**path, &**config))
            .collect();
        let known_rule = |name: &str| crate::rules::ALL.iter().any(|rule| rule.name == name);
        left.into_iter().partition(|entry| {
            let asked = |config: &&Config| config.rule(&entry.rule).is_some() || !known_rule(&entry.rule);
            let there = self.place.root.join(&entry.path).is_file();
            !there || whole.get(entry.path.as_str()).is_some_and(asked)
        })
    }

    fn write_baseline(&self, file: &Path, run: &Run) -> Result<(), Failure> {
        let old = if file.is_file() { read_baseline(file)? } else { Vec::new() };
        let present = present(run);
        let compared = baseline::compare(&old, &present);
        let (gone, kept) = self.gone(compared.left, run);
        let count = present.len();
        let text = baseline::write(present.into_iter().chain(kept.iter().cloned()).collect());
        put(file, &text)?;
        let mut message = format!("wrote {} to {}", counted(count, "finding"), file.display());
        if !kept.is_empty() {
            message += &format!("; kept {} of what was not checked now", counted(kept.len(), "more"));
        }
        if !gone.is_empty() {
            message += &format!("; took out {}, no longer there: {}", gone.len(), named(&gone));
        }
        output::complain(&message);
        Ok(())
    }

    /// Takes out what has no part in changed lines.
    fn take_outside(&self, changes: &Changes, run: &mut Run) {
        let lines: Vec<Option<&Lines>> =
            run.files.iter().map(|file| changes.of(&self.place.cwd.join(&*file.path))).collect();
        let touches = |at: usize, span: Span| {
            let (Some(file), Some(Some(lines))) = (run.files.get(at), lines.get(at)) else { return false };
            let header = suppress::header(file, span);
            let (first, last) = (*header.start(), *header.end());
            let margin = if first < last { indent(file.line_text(first)) } else { None };
            lines.touch(first, last, margin)
        };
        let (inside, outside): (Vec<Found>, Vec<Found>) =
            std::mem::take(&mut run.findings).into_iter().partition(|found| {
                let diagnostic = &found.diagnostic;
                let labels = diagnostic.labels.iter().map(|label| (label.file, label.span));
                let extent = diagnostic.extent.iter().map(|place| (place.file, place.span));
                let all = labels.chain(extent).chain([(None, diagnostic.span)]);
                all.into_iter().any(|(file, span)| touches(file.unwrap_or(found.file), span))
            });
        run.outside = outside;
        run.findings = inside;
    }

    /// Writes comments for all findings; `false` where that could not be done for all.
    fn add_comments(&self, reason: &str, run: &Run) -> Result<bool, Failure> {
        let mut wanted: BTreeMap<usize, Vec<add::Wanted>> = BTreeMap::new();
        let mut all = true;
        for found in &run.findings {
            let diagnostic = &found.diagnostic;
            let Some(file) = run.files.get(found.file) else { continue };
            if suppress::RULES.contains(&diagnostic.rule) {
                refuse(
                    file,
                    file.line_of(diagnostic.span.start),
                    diagnostic.rule,
                    "it is about a comment that is there",
                );
                all = false;
                continue;
            }
            let one = add::Wanted { span: diagnostic.span, rule: diagnostic.rule };
            wanted.entry(found.file).or_default().push(one);
        }
        let (mut done, mut files) = (0, 0);
        for (at, wanted) in wanted {
            let Some(file) = run.files.get(at) else { continue };
            let path = self.place.cwd.join(&*file.path);
            let bytes = std::fs::read(&path).map_err(|error| Failure::Io { what: file.path.to_string(), error })?;
            if bytes != file.text.as_bytes() {
                let why = "the file is not UTF-8, or was changed while it was checked";
                wanted.iter().for_each(|one| refuse(file, file.line_of(one.span.start), one.rule, why));
                all = false;
                continue;
            }
            let added = add::add(file, &wanted, reason);
            for (line, rule) in &added.refused {
                refuse(file, *line, rule, "no line can be put in above it, and its end is no place for one");
                all = false;
            }
            if added.done > 0 {
                put(&path, &added.text)?;
                files += 1;
            }
            done += added.done;
        }
        output::complain(&format!("suppressed {} in {}", counted(done, "finding"), counted(files, "file")));
        Ok(all)
    }
}

/// Writes a file whole or not at all.
fn put(path: &Path, text: &str) -> Result<(), Failure> {
    let written = file::prepare(path, |out| out.write_all(text.as_bytes())).and_then(file::Ready::put);
    written.map_err(|error| output::unwritten(path, &error))
}

fn refuse(file: &SourceFile, line: usize, rule: &str, why: &str) {
    output::complain(&format!("{}:{line}: no comment was written for {rule}: {why}", file.path));
}

fn exit(run: &Run, all: bool) -> ExitCode {
    match (run.errors.is_empty(), all) {
        (false, _) => ExitCode::from(2),
        (true, false) => ExitCode::from(1),
        (true, true) => ExitCode::SUCCESS,
    }
}

/// The present findings as a baseline knows them.
fn present(run: &Run) -> Vec<Entry> {
    let entry = |found: &Found| Entry {
        path: run.root_paths.get(found.file).map(ToString::to_string).unwrap_or_default(),
        rule: found.diagnostic.rule.to_owned(),
        function: found.diagnostic.function.clone(),
        fingerprint: found.fingerprint.clone(),
        shape: found.shape.clone(),
    };
    run.findings.iter().map(entry).collect()
}

fn counted(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 || noun == "more" { "" } else { "s" })
}

/// The first entries in words.
fn named(entries: &[Entry]) -> String {
    let mut names: Vec<String> = entries
        .iter()
        .take(MAX_NAMED)
        .map(|entry| match entry.function.as_str() {
            "" => format!("{} in {}", entry.rule, entry.path),
            function => format!("{} in {} ({function})", entry.rule, entry.path),
        })
        .collect();
    if entries.len() > MAX_NAMED {
        names.push(format!("{} more", entries.len() - MAX_NAMED));
    }
    names.join(", ")
}
