//! The list of all sites and their policies: what `stormlint inventory` prints, as JSON, as cards, or a line each.
//!
//! It states what was understood, and says nothing of whether it is good.

use std::borrow::Cow;
use std::io::{self, Write};

use serde::Serialize;

use super::json::Range;
use super::visible;
use crate::analysis::policy::{
    Bound, Cause, DateForm, FailurePath, Key, Known, Layer, Pace, RetryAfter, Role, Site, Timeout, Wait,
};
use crate::check::{FileError, Run};
use crate::source::SourceFile;

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    sites: Vec<Entry<'a>>,
    entry_points: Vec<EntryPoint<'a>>,
    files: usize,
    errors: &'a [FileError],
}

/// A site in the words of the output contract; `null` is "not known".
#[derive(Debug, Serialize)]
struct Entry<'a> {
    path: &'a str,
    range: Range,
    kind: String,
    operation: &'a str,
    remote: Remote,
    cap: Option<&'static str>,
    max_attempts: Option<u32>,
    delay: String,
    jitter: bool,
    delay_ceiling: Option<f64>,
    retry_after: Option<&'static str>,
    retried_statuses: String,
    retried_exceptions: Vec<&'a str>,
    method: Option<&'a str>,
    idempotency_key: Option<bool>,
    timeout: Limit,
    schedule: Vec<[Option<f64>; 2]>,
    worst_case_wait: Option<f64>,
    layers: Vec<LayerOut<'a>>,
    amplification: Option<u32>,
}

/// A call that becomes several requests while a fault lasts.
#[derive(Debug, Serialize)]
struct EntryPoint<'a> {
    path: &'a str,
    line: usize,
    function: &'a str,
    operation: &'a str,
    /// Requests that one call becomes; `null` where that is not known or has no end.
    requests: Option<u32>,
    layers: Vec<LayerOut<'a>>,
}

/// The sites that no other one has below it, the worst first.
fn entry_points(run: &Run) -> Vec<EntryPoint<'_>> {
    let outermost = |site: &Site| site.role == Role::Retry && !site.inner && !site.in_test;
    let leaves = |site: &Site| site.operation().is_some_and(|operation| operation.remote == Known::Yes);
    let mut sites: Vec<_> = entries(run).filter(|(_, site)| outermost(site) && leaves(site)).collect();
    let endless = |site: &Site| matches!(site.bound, Bound::None | Bound::Broken(_));
    sites.sort_by_key(|(_, site)| {
        (!endless(site), std::cmp::Reverse(site.amplification), std::cmp::Reverse(site.layers.len()))
    });
    let shown = sites.into_iter().map(|(file, site)| EntryPoint {
        path: &file.path,
        line: file.line_of(site.header.start),
        function: &site.function_name,
        operation: site.operation().map_or("", |operation| operation.text.as_str()),
        requests: site.amplification,
        layers: site.layers.iter().map(|layer| LayerOut::of(&run.files, layer)).collect(),
    });
    shown.collect()
}

/// One layer of those that multiply.
#[derive(Debug, Serialize)]
struct LayerOut<'a> {
    factor: Option<u32>,
    what: &'a str,
    path: Option<&'a str>,
    line: Option<usize>,
}

impl<'a> LayerOut<'a> {
    fn of(files: &'a [SourceFile], layer: &'a Layer) -> Self {
        let place = layer.at.and_then(|at| Some((files.get(at.file as usize)?, at.span)));
        LayerOut {
            factor: Some(layer.factor).filter(|factor| *factor > 0),
            what: &layer.text,
            path: place.map(|(file, _)| &*file.path),
            line: place.map(|(file, span)| file.line_of(span.start)),
        }
    }
}

#[derive(Debug, PartialEq, Serialize)]
#[serde(untagged)]
enum Remote {
    Known(bool),
    Unknown(&'static str),
}

#[derive(Debug, PartialEq, Serialize)]
#[serde(untagged)]
enum Limit {
    Seconds(f64),
    Word(&'static str),
}

impl<'a> Entry<'a> {
    fn of(files: &'a [SourceFile], file: &'a SourceFile, site: &'a Site) -> Self {
        let operation = site.operation();
        let path = of_record(&site.failures);
        Entry {
            path: &file.path,
            range: Range::of(file, site.span),
            kind: kind(site),
            operation: operation.map_or("", |operation| operation.text.as_str()),
            remote: match operation.map_or(Known::Unknown, |operation| operation.remote) {
                Known::Yes => Remote::Known(true),
                Known::No => Remote::Known(false),
                Known::Unknown => Remote::Unknown("unknown"),
            },
            cap: cap(&site.bound),
            max_attempts: site.max_attempts,
            delay: word(path.map_or(Pace::Unknown, |path| path.pace)),
            jitter: site.failures.iter().any(|path| path.jitter),
            delay_ceiling: site.delay_ceiling.and_then(finite),
            retry_after: retry_after(&site.failures),
            retried_statuses: site.retried_statuses.to_string(),
            retried_exceptions: exceptions(&site.failures),
            method: operation.and_then(|operation| operation.method.as_deref()),
            idempotency_key: match operation.map_or(Key::Unknown, |operation| operation.key) {
                Key::None => Some(false),
                Key::Stable | Key::PerAttempt => Some(true),
                Key::Unknown => None,
            },
            timeout: match operation.map_or(Timeout::Unknown, |operation| operation.timeout) {
                Timeout::Set(Some(seconds)) if seconds.is_finite() => Limit::Seconds(seconds),
                Timeout::Set(_) => Limit::Word("set"),
                Timeout::None => Limit::Word("none"),
                Timeout::Unknown => Limit::Word("unknown"),
            },
            schedule: path.map(schedule).unwrap_or_default(),
            worst_case_wait: longest(&site.failures),
            layers: site.layers.iter().map(|layer| LayerOut::of(files, layer)).collect(),
            amplification: site.amplification,
        }
    }
}

fn finite(number: f64) -> Option<f64> {
    number.is_finite().then_some(number)
}

/// The name of a unit variant, as serde writes it.
fn word(value: impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => "unknown".to_owned(),
    }
}

fn kind(site: &Site) -> String {
    match site.role {
        Role::Retry => word(site.form),
        Role::Probe | Role::Polling | Role::Daemon | Role::Idle => word(site.role),
    }
}

fn cap(bound: &Bound) -> Option<&'static str> {
    match bound {
        Bound::None | Bound::Flag => Some("none"),
        Bound::Count(_) => Some("count"),
        Bound::Deadline(_) => Some("deadline"),
        Bound::Both(..) => Some("count+deadline"),
        Bound::Caller => Some("caller"),
        Bound::Broken(_) => Some("broken"),
        Bound::Unknown => None,
    }
}

/// The path that shows how a site waits: the one whose wait grows most, of those that are reckoned by the code itself.
/// That another comes back at once is for the rules to say. One that rests on a guess comes after those that do not, and
/// one whose cause was mended, or that carries new input, is taken only where there is no other.
fn of_record(paths: &[FailurePath]) -> Option<&FailurePath> {
    paths.iter().min_by_key(|path| {
        let pace = match (path.pace, path.uncertain) {
            (Pace::Exponential, false) => 0,
            (Pace::Linear, false) => 1,
            (Pace::Fixed, false) => 2,
            (Pace::Exponential, true) => 3,
            (Pace::Linear, true) => 4,
            (Pace::Fixed, true) => 5,
            (Pace::Server, _) => 6,
            (Pace::None, _) => 7,
            (Pace::Unknown, _) => 8,
        };
        (path.repaired || path.new_input, pace)
    })
}

/// The worst that becomes of the header on any path; `None` where it could not be seen.
fn retry_after(paths: &[FailurePath]) -> Option<&'static str> {
    let words = paths.iter().map(|path| match (&path.retry_after, path.retry_after_date) {
        (RetryAfter::Ignored | RetryAfter::Lost(_) | RetryAfter::OutOfReach, _) => (0, Some("ignored")),
        (RetryAfter::Shortened { .. }, _) => (1, Some("truncated")),
        (_, DateForm::Breaks(_) | DateForm::Dropped(_)) => (2, Some("int-only")),
        (RetryAfter::Unknown, DateForm::Fine) => (3, None),
        (RetryAfter::Honoured, DateForm::Fine) => (4, Some("honored")),
        (RetryAfter::NotApplicable, DateForm::Fine) => (5, Some("not-applicable")),
    });
    words.min_by_key(|(rank, _)| *rank).map_or(Some("not-applicable"), |(_, word)| word)
}

fn exceptions(paths: &[FailurePath]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for path in paths {
        if let Cause::Exception { classes, everything } = &path.cause {
            names.extend(classes.iter().map(String::as_str));
            if classes.is_empty() && *everything {
                names.push("*");
            }
        }
    }
    names.sort_unstable();
    names.dedup();
    names
}

fn ends(wait: &Wait) -> [Option<f64>; 2] {
    if wait.unknown { [None, None] } else { [finite(wait.low), finite(wait.high)] }
}

fn schedule(path: &FailurePath) -> Vec<[Option<f64>; 2]> {
    path.waits.iter().map(ends).collect()
}

/// The longest time that any path waits in all, where it is known of each.
fn longest(paths: &[FailurePath]) -> Option<f64> {
    let each: Option<Vec<f64>> = paths.iter().map(worst_case).collect();
    each?.into_iter().reduce(f64::max)
}

/// The sum of the longest waits before the last attempt, where all of them are known.
fn worst_case(path: &FailurePath) -> Option<f64> {
    let retries = usize::try_from(path.attempts?.checked_sub(1)?).ok()?;
    let waits = path.waits.get(..retries)?;
    waits.iter().map(|wait| ends(wait)[1]).sum()
}

/// Those that repeat anything.
fn retries(sites: &[Site]) -> impl Iterator<Item = &Site> {
    sites.iter().filter(|site| site.role != Role::Idle)
}

fn entries(run: &Run) -> impl Iterator<Item = (&SourceFile, &Site)> {
    run.files.iter().zip(&run.sites).flat_map(|(file, sites)| retries(sites).map(move |site| (file, site)))
}

/// Writes the JSON document.
///
/// # Errors
/// The output cannot be written.
pub fn json(run: &Run, out: &mut dyn Write) -> io::Result<()> {
    let sites = entries(run).map(|(file, site)| Entry::of(&run.files, file, site)).collect();
    let entry_points = entry_points(run);
    let document = Document { version: 1, sites, entry_points, files: run.files.len(), errors: &run.errors };
    super::document::write(&document, out)
}

/// Writes one line a site.
///
/// # Errors
/// The output cannot be written.
pub fn concise(run: &Run, out: &mut dyn Write) -> io::Result<()> {
    for (file, site) in entries(run) {
        let entry = Entry::of(&run.files, file, site);
        let place = file.position(site.header.start);
        writeln!(
            out,
            "{}:{}:{}: {} {}: {}; {}",
            visible::path(&file.path),
            place.line,
            place.column,
            entry.kind,
            shown(entry.operation),
            attempts(site),
            waits(&entry)
        )?;
    }
    Ok(())
}

/// Writes a card a site, and how many there are.
///
/// # Errors
/// The output cannot be written.
pub fn full(run: &Run, out: &mut dyn Write) -> io::Result<()> {
    for (file, site) in entries(run) {
        let entry = Entry::of(&run.files, file, site);
        let place = file.position(site.header.start);
        let test = if site.in_test { ", test code" } else { "" };
        let (path, function) = (visible::path(&file.path), visible::line(&site.function_name));
        writeln!(out, "{path}:{}:{}  {} in {function}{test}", place.line, place.column, entry.kind)?;
        let mut row = |name: &str, value: &str| writeln!(out, "    {name:<14}{}", visible::line(value));
        let remote = match entry.remote {
            Remote::Known(true) => "remote",
            Remote::Known(false) => "local",
            Remote::Unknown(_) => "not known whether remote",
        };
        row("repeats", &format!("{} ({remote})", shown(entry.operation)))?;
        if let Some(method) = entry.method {
            let key = match entry.idempotency_key {
                Some(true) => "with an idempotency key",
                Some(false) => "no idempotency key",
                None => "idempotency key not known",
            };
            row("method", &format!("{method}, {key}"))?;
        }
        row("attempts", &attempts(site))?;
        row("waits", &waits(&entry))?;
        row("comes back on", &causes(&entry))?;
        row("Retry-After", entry.retry_after.unwrap_or("not known"))?;
        let timeout = match entry.timeout {
            Limit::Seconds(seconds) => format!("{seconds} s an attempt"),
            Limit::Word("unknown") => "not known".to_owned(),
            Limit::Word(word) => word.to_owned(),
        };
        row("timeout", &timeout)?;
        if entry.layers.len() > 1 {
            row("layers", &layers(&entry.layers))?;
            row("one call is", &requests(site.amplification))?;
        }
        writeln!(out)?;
    }
    let points = entry_points(run);
    if points.iter().any(|point| point.layers.len() > 1) {
        writeln!(out, "What one call becomes while a fault lasts, worst first:")?;
        for point in points {
            let place = format!("{}:{}", visible::path(point.path), point.line);
            let (requests, function) = (requests(point.requests), visible::line(point.function));
            writeln!(out, "    {requests:<24}{place}  {function}: {}", visible::line(&layers(&point.layers)))?;
        }
        writeln!(out)?;
    }
    let sites = run.sites.iter().map(|sites| retries(sites).count()).sum();
    writeln!(out, "{} in {}.", super::counted(sites, "retry site"), super::counted(run.files.len(), "file"))
}

/// "12 requests", or that their number is not known.
fn requests(number: Option<u32>) -> String {
    number.map_or("no known number".to_owned(), |number| super::counted(number as usize, "request"))
}

/// "3 here × 4 at net/client.py:12 × 3 by the default of openai 3.x".
fn layers(layers: &[LayerOut<'_>]) -> String {
    let parts = layers.iter().enumerate().map(|(at, layer)| {
        let factor = layer.factor.map_or("n".to_owned(), |factor| factor.to_string());
        match layer.path.zip(layer.line) {
            _ if at == 0 => format!("{factor} here"),
            Some((path, line)) => format!("{factor} at {path}:{line}"),
            None => format!("{factor} by {}", layer.what),
        }
    });
    parts.collect::<Vec<_>>().join(" × ")
}

fn shown(operation: &str) -> Cow<'_, str> {
    if operation.is_empty() { "an operation that is not known".into() } else { visible::line(operation) }
}

fn attempts(site: &Site) -> String {
    let number = || match site.max_attempts {
        Some(most) => {
            let alone = site.failures.iter().filter_map(|path| path.attempts).max().filter(|alone| *alone < most);
            let alone = alone.map(|alone| format!(" ({alone} if it always fails in the same way)"));
            format!("at most {most}{}", alone.unwrap_or_default())
        }
        None => "a number that is not known".to_owned(),
    };
    let time = |t: &Option<f64>| t.map_or("until a deadline".to_owned(), |t| format!("for at most {t} s"));
    match &site.bound {
        Bound::None => "without end".to_owned(),
        Bound::Flag => "until a stop flag is set".to_owned(),
        Bound::Count(_) => number(),
        Bound::Deadline(t) => time(t),
        Bound::Both(_, t) => format!("{}, {}", number(), time(t)),
        Bound::Caller => "as many as the caller says".to_owned(),
        Bound::Broken(why) => format!("a bound that does not hold: {}", visible::line(why)),
        Bound::Unknown => "not known".to_owned(),
    }
}

fn waits(entry: &Entry<'_>) -> String {
    let mut text = match entry.delay.as_str() {
        "none" => return "no wait".to_owned(),
        "unknown" => "a wait that is not known".to_owned(),
        "server" => "as long as the server says".to_owned(),
        delay => format!("{delay} wait"),
    };
    if entry.jitter {
        text.push_str(" with jitter");
    }
    if let Some(ceiling) = entry.delay_ceiling {
        text.push_str(&format!(", at most {ceiling} s"));
    }
    let known: Vec<String> = entry.schedule.iter().map_while(interval).take(6).collect();
    if !known.is_empty() {
        let more = if entry.schedule.len() > known.len() { ", …" } else { "" };
        text.push_str(&format!(": {}{more} s", known.join(", ")));
    }
    text
}

/// `2`, `1–3`, `1–∞`; `None` where it is not known.
fn interval(ends: &[Option<f64>; 2]) -> Option<String> {
    let short = |n: f64| ((n * 1000.0).round() / 1000.0).to_string();
    match *ends {
        [None, _] => None,
        [Some(low), None] => Some(format!("{}–∞", short(low))),
        [Some(low), Some(high)] if (high - low).abs() < 1e-9 => Some(short(low)),
        [Some(low), Some(high)] => Some(format!("{}–{}", short(low), short(high))),
    }
}

fn causes(entry: &Entry<'_>) -> String {
    let mut parts = Vec::new();
    if !entry.retried_statuses.is_empty() {
        parts.push(format!("status {}", entry.retried_statuses));
    }
    for name in &entry.retried_exceptions {
        parts.push(if *name == "*" { "any exception or error".to_owned() } else { (*name).to_owned() });
    }
    if parts.is_empty() { "a value that says failure".to_owned() } else { parts.join(", ") }
}

#[cfg(test)]
mod tests;
