//! Holds the policy that is printed against what a program was seen to do.

use std::collections::BTreeMap;

use serde_json::Value;
use stormlint::analysis::policy::{
    Bound, Cause, DateForm, Exhaustion, FailurePath, Form, Pace, RetryAfter, Role, Site, Timeout,
};
use stormlint::analysis::status::StatusSet;
use stormlint::check::{Input, Run, check};
use stormlint::report::inventory;
use stormlint::source::{Language, SourceFile};

use crate::observed::{DATE, Fault, MOST, Runs, Scenario, near};

/// Facts compared, by name: how many agreed, how many were not stated.
#[derive(Debug, Default)]
pub struct Tally(pub BTreeMap<&'static str, (u32, u32)>);

/// What is wrong about one program.
#[derive(Debug, Default)]
pub struct Verdict {
    pub tally: Tally,
    pub faults: Vec<String>,
}

impl Verdict {
    fn agrees(&mut self, fact: &'static str) {
        self.tally.0.entry(fact).or_default().0 += 1;
    }

    fn unknown(&mut self, fact: &'static str) {
        self.tally.0.entry(fact).or_default().1 += 1;
    }

    fn check(&mut self, fact: &'static str, holds: bool, fault: impl FnOnce() -> String) {
        if holds {
            self.agrees(fact);
        } else {
            let fault = fault();
            self.faults.push(format!("{fact}: {fault}"));
        }
    }
}

/// What was seen, and under what.
pub struct Seen<'a> {
    pub scenarios: &'a [Scenario],
    pub runs: &'a [Runs],
    /// Seconds of the time limit that the program was made with.
    pub deadline: Option<f64>,
    /// What a success gives.
    pub success: &'a str,
}

/// Headers that are sent with 429 and 503.
pub const ADVICE: [&str; 4] = ["7", "45", "4000", "date"];

/// One run of the linter over a text.
pub fn lint(language: Language, text: &str) -> Run {
    let path = match language {
        Language::Python => "program.py",
        Language::Rust => "program.rs",
    };
    let file = SourceFile::new(path, text.to_owned(), language);
    let run = check(vec![Input {
        root_path: file.path.clone(),
        module: "program".to_owned(),
        file,
        config: std::sync::Arc::default(),
    }]);
    assert!(run.errors.is_empty(), "{:?}", run.errors);
    run
}

/// The sites of a program at which something is repeated.
pub fn sites(run: &Run) -> Vec<&Site> {
    run.sites[0].iter().filter(|site| site.role != Role::Idle).collect()
}

/// The faults of what is said about a program.
pub fn compare(run: &Run, seen: &Seen<'_>) -> Verdict {
    let mut verdict = Verdict::default();
    let comes_back: Vec<bool> = seen.runs.iter().map(|runs| runs.high.attempts() > 1).collect();
    let sites = sites(run);
    let site = match sites.as_slice() {
        [site] => site,
        [] if !comes_back.contains(&true) => return verdict,
        [] => {
            verdict.check("site", false, || "none is found".to_owned());
            return verdict;
        }
        many => {
            verdict.check("site", false, || format!("{} are found", many.len()));
            return verdict;
        }
    };
    if !comes_back.contains(&true) {
        verdict.check("site", false, || "one is found where nothing comes back".to_owned());
        return verdict;
    }
    verdict.agrees("site");
    statuses(site, seen, &mut verdict);
    for (scenario, runs) in seen.scenarios.iter().zip(seen.runs) {
        let [fault] = scenario.fails.as_slice() else {
            mixed(site, runs, scenario, &mut verdict);
            continue;
        };
        if scenario.advice.is_some() {
            continue;
        }
        let paths: Vec<&FailurePath> = site.failures.iter().filter(|path| covers(path, fault)).collect();
        if let Fault::Exception(name) = fault {
            let back = runs.high.attempts() > 1;
            verdict.check("exceptions", back != paths.is_empty(), || {
                format!("{name} {} come back, which is not what is said", if back { "does" } else { "does not" })
            });
        }
        for path in paths.iter().filter(|_| runs.high.attempts() > 1) {
            let before = verdict.faults.len();
            path_facts(path, runs, seen, &mut verdict);
            for fault in verdict.faults.iter_mut().skip(before) {
                *fault = format!("{fault} ({:?})", scenario.fails);
            }
        }
    }
    advice(site, seen, &mut verdict);
    whole(run, site, seen, &mut verdict);
    verdict
}

fn covers(path: &FailurePath, fault: &Fault) -> bool {
    match (&path.cause, fault) {
        (Cause::Status(set), Fault::Status(status)) => set.contains(*status),
        (Cause::Exception { classes, everything }, Fault::Exception(name)) => {
            let named = |class: &String| {
                let last = class.rsplit(['.', ':']).next().unwrap_or(class);
                last == name
            };
            classes.iter().any(named) || *everything && classes.is_empty()
        }
        // A helper's failure value stands for all that fails in it.
        (Cause::Value, Fault::Status(_) | Fault::Exception(_)) => true,
        _ => false,
    }
}

fn statuses(site: &Site, seen: &Seen<'_>, verdict: &mut Verdict) {
    let mut real = StatusSet::EMPTY;
    for (scenario, runs) in seen.scenarios.iter().zip(seen.runs) {
        if let ([Fault::Status(status)], None) = (scenario.fails.as_slice(), &scenario.advice)
            && runs.high.attempts() > 1
        {
            real = real.or(&StatusSet::one(*status));
        }
    }
    if site.retried_statuses.is_empty() && !real.is_empty() {
        return verdict.unknown("statuses");
    }
    verdict.check("statuses", site.retried_statuses == real, || {
        format!("{} come back, said are {}", real, site.retried_statuses)
    });
}

/// Attempts, waits and what leaves, on one failure path.
fn path_facts(path: &FailurePath, runs: &Runs, seen: &Seen<'_>, verdict: &mut Verdict) {
    let (low, high) = (&runs.low, &runs.high);
    let real = high.attempts();
    match (&path.bound, path.attempts) {
        (Bound::None | Bound::Flag, _) => {
            verdict.check("bound", high.is_endless(), || format!("said to be without end, {real} were made"));
        }
        (Bound::Count(_) | Bound::Both(..), Some(said)) => {
            verdict.check("attempts", said as usize == real, || format!("{real} were made, said are {said}"));
        }
        (Bound::Count(_), None) | (Bound::Unknown | Bound::Caller, _) => verdict.unknown("attempts"),
        (Bound::Deadline(said), _) => match said {
            Some(said) => verdict
                .check("deadline", seen.deadline.is_some_and(|real| near(real, *said)), || format!("said is {said} s")),
            None => verdict.unknown("deadline"),
        },
        (Bound::Both(..), None) => verdict.unknown("attempts"),
        (Bound::Broken(why), _) => {
            verdict.check("bound", high.is_endless(), || format!("said to be broken ({why}), {real} were made"));
        }
    }
    let (least, most) = (low.between(), high.between());
    if seen.deadline.is_none() && path.attempts.is_some() {
        verdict.check("schedule", path.waits.len() + 1 == real.min(65), || {
            format!("{} attempts, but {} waits are said: {:?}", real, path.waits.len(), path.waits)
        });
    }
    for (at, wait) in path.waits.iter().enumerate() {
        let (Some(low), Some(high)) = (least.get(at), most.get(at)) else { break };
        if wait.unknown {
            verdict.unknown("waits");
            continue;
        }
        let (low, high) = (low.min(*high), low.max(*high));
        let exact = near(wait.low, low) && near(wait.high, high);
        if !exact && path.attempts.is_none() && wait.low <= low && high <= wait.high {
            // Only its ends are known: which attempt it is hangs on the caller.
            verdict.unknown("waits");
            continue;
        }
        verdict.check("waits", exact, || {
            format!("wait {} is {low} to {high} s, said is {} to {} s", at + 1, wait.low, wait.high)
        });
    }
    if most.len() >= 2 && seen.deadline.is_none() {
        pace(path, &most, verdict);
        let drawn = least != most;
        if path.waits.iter().all(|wait| !wait.unknown) {
            verdict.check("jitter", path.jitter == drawn, || format!("{drawn}, said is {}", path.jitter));
        } else {
            verdict.unknown("jitter");
        }
    }
    if !high.is_endless() {
        leaving(path, runs, seen, verdict);
    }
}

fn pace(path: &FailurePath, waits: &[f64], verdict: &mut Verdict) {
    let real = match waits {
        _ if waits.iter().all(|wait| *wait == 0.0) => Pace::None,
        _ if waits.iter().all(|wait| near(*wait, waits[0])) => Pace::Fixed,
        // What a ceiling cuts short says nothing of the growth.
        _ if waits.len() < 3 || near(waits[waits.len() - 1], waits[waits.len() - 2]) => return,
        _ if waits.windows(3).all(|w| near(w[1] - w[0], w[2] - w[1])) => Pace::Linear,
        _ if waits.windows(2).all(|w| w[1] >= w[0] * 1.9) => Pace::Exponential,
        _ => return,
    };
    match path.pace {
        Pace::Unknown => verdict.unknown("pace"),
        said => verdict.check("pace", said == real, || format!("{real:?} ({waits:?}), said is {said:?}")),
    }
}

/// What leaves after the last attempt, and whether a wait comes first.
fn leaving(path: &FailurePath, runs: &Runs, seen: &Seen<'_>, verdict: &mut Verdict) {
    let (low, high) = (&runs.low, &runs.high);
    // How the last turn of a time limit ends hangs on its second.
    if seen.deadline.is_none() && path.attempts.is_some() {
        match (&path.wait_after_last, low.after_last(), high.after_last()) {
            (None, _, real) => verdict.check("after last", real.unwrap_or(0.0) == 0.0, || {
                format!("waits {} s after the last attempt, which is not said", real.unwrap_or(0.0))
            }),
            (Some((said, _)), low, high) => {
                let (low, high) = (low.unwrap_or(0.0), high.unwrap_or(0.0));
                let (low, high) = (low.min(high), low.max(high));
                let fits = said.unknown || near(said.low, low) && near(said.high, high);
                verdict.check("after last", fits && high > 0.0, || format!("{low} to {high} s, said is {said:?}"));
            }
        }
    }
    let outcome = high.outcome.as_str();
    let fits = match &path.exhaustion {
        Exhaustion::Unknown => return verdict.unknown("exhaustion"),
        Exhaustion::Never => false,
        Exhaustion::Raises => outcome.starts_with("raises"),
        Exhaustion::FailureValue => matches!(outcome, "none" | "false" | "error"),
        Exhaustion::FallsOff(_) => outcome == "none" && seen.success != "none",
        Exhaustion::DefaultValue(..) => matches!(outcome, "empty" | "none" | "false"),
        // The caller cannot tell it from a success.
        Exhaustion::GoesOn(_) => outcome == seen.success,
    };
    verdict.check("exhaustion", fits, || format!("{outcome}, said is {:?}", path.exhaustion));
}

/// Failures of several kinds in turn stay within what is said of all.
fn mixed(site: &Site, runs: &Runs, scenario: &Scenario, verdict: &mut Verdict) {
    let real = runs.high.attempts();
    if let Some(most) = site.max_attempts {
        verdict.check("attempts of mixed failures", real <= most as usize, || {
            format!("{real} are made of {:?}, said are at most {most}", scenario.fails)
        });
    }
}

/// What becomes of `Retry-After`, told from the waits with and without it.
fn advice(site: &Site, seen: &Seen<'_>, verdict: &mut Verdict) {
    for status in [429_u16, 503] {
        let find = |advice: Option<&str>| {
            let wanted = Scenario { fails: vec![Fault::Status(status)], advice: advice.map(str::to_owned) };
            seen.scenarios.iter().position(|scenario| *scenario == wanted).map(|at| &seen.runs[at])
        };
        let (Some(plain), [Some(short), Some(long), Some(longest), Some(date)]) =
            (find(None), ADVICE.map(|a| find(Some(a))))
        else {
            continue;
        };
        if plain.high.attempts() < 2 {
            continue;
        }
        // Only the first wait is compared: a time limit may end it after that.
        let first = |runs: &Runs| runs.low.between().first().copied();
        let base = first(plain);
        let heard = |runs: &Runs, seconds: f64| first(runs).is_none_or(|wait| wait + 2.0 > seconds);
        let ignored = [short, long, longest].iter().all(|runs| first(runs) == base);
        let honoured = heard(short, 7.0) && heard(long, 45.0) && heard(longest, 4000.0);
        let dated = match (first(date), first(date) == base) {
            // It waits until the time is over.
            (None, _) if date.low.after_last().is_some_and(|wait| wait > DATE - 5.0) => "fine",
            (None, _) => "breaks",
            (_, true) => "dropped",
            (Some(wait), _) if wait > DATE - 5.0 => "fine",
            _ => "other",
        };
        for path in site.failures.iter().filter(|path| covers(path, &Fault::Status(status))) {
            let fits = match &path.retry_after {
                RetryAfter::Unknown => {
                    verdict.unknown("retry-after");
                    continue;
                }
                // A response that no one has at hand.
                RetryAfter::NotApplicable | RetryAfter::OutOfReach | RetryAfter::Lost(_) => ignored,
                RetryAfter::Ignored => ignored,
                RetryAfter::Honoured => honoured,
                RetryAfter::Shortened { .. } => !ignored && !honoured,
            };
            verdict.check("retry-after", fits, || {
                format!("{status}: ignored {ignored}, honoured {honoured}, said is {:?}", path.retry_after)
            });
            if ignored || !honoured {
                continue;
            }
            let said = match path.retry_after_date {
                DateForm::Fine => "fine",
                DateForm::Breaks(_) => "breaks",
                DateForm::Dropped(_) => "dropped",
            };
            verdict.check("retry-after date", said == dated, || format!("{dated}, said is {said}"));
        }
    }
}

/// What the inventory prints of the whole site.
fn whole(run: &Run, site: &Site, seen: &Seen<'_>, verdict: &mut Verdict) {
    let mut out = Vec::new();
    inventory::json(run, &mut out).expect("writing to memory");
    let document: Value = serde_json::from_slice(&out).expect("JSON");
    let entry = &document["sites"][0];
    let alone = || {
        let single = |(scenario, _): &(&Scenario, &Runs)| scenario.fails.len() == 1 && scenario.advice.is_none();
        seen.scenarios.iter().zip(seen.runs).filter(single).map(|(_, runs)| runs)
    };
    let most = alone().map(|runs| runs.high.attempts()).max().unwrap_or(0);
    match entry["max_attempts"].as_u64() {
        Some(said) => {
            verdict.check("max_attempts", said as usize == most && most < MOST, || format!("{most}, said are {said}"));
        }
        None if most >= MOST || seen.deadline.is_some() => verdict.agrees("max_attempts"),
        None => verdict.unknown("max_attempts"),
    }
    let shown = site.retried_statuses.to_string();
    verdict.check("printed statuses", entry["retried_statuses"] == shown.as_str(), || shown.clone());
    if let Some(worst) = entry["worst_case_wait"].as_f64() {
        let waits = alone().filter(|runs| runs.high.attempts() > 1 && !runs.high.is_endless());
        let real = waits.map(|runs| runs.high.between().iter().sum::<f64>()).fold(0.0, f64::max);
        verdict.check("worst case", near(real, worst), || format!("{real} s, said is {worst} s"));
    } else if seen.deadline.is_none() && most < MOST {
        verdict.unknown("worst case");
    }
    let first: Vec<[Option<f64>; 2]> = serde_json::from_value(entry["schedule"].clone()).expect("a schedule");
    if !first.is_empty() && site.failures.iter().all(|path| path.waits.iter().all(|wait| !wait.unknown)) {
        let growth = match entry["delay"].as_str() {
            Some("none") => first.iter().all(|ends| ends[1] == Some(0.0)),
            Some("fixed") => first.iter().all(|ends| *ends == first[0]),
            _ => true,
        };
        verdict.check("printed schedule", growth, || format!("{} with {first:?}", entry["delay"]));
    }
    let requests = || seen.runs.iter().flat_map(|runs| &runs.high.requests);
    match entry["method"].as_str() {
        Some(said) => {
            verdict.check("method", requests().all(|(method, _)| method == said), || format!("said is {said}"))
        }
        None => verdict.unknown("method"),
    }
    let limit = requests().next().and_then(|(_, timeout)| *timeout);
    match site.operation().map_or(Timeout::Unknown, |operation| operation.timeout) {
        Timeout::Set(said) => verdict.check("timeout", said == limit, || format!("{limit:?}, said is {said:?}")),
        Timeout::None => verdict.check("timeout", limit.is_none(), || format!("{limit:?}, said is none")),
        Timeout::Unknown if limit.is_none() => {}
        Timeout::Unknown => verdict.unknown("timeout"),
    }
    let form = if site.form == Form::Recursion { "recursion" } else { "loop" };
    verdict.check("kind", entry["kind"] == form || entry["kind"] == "probe", || format!("{}", entry["kind"]));
}
