//! How the rules put operations, failures, statuses and times into words.

use crate::analysis::policy::{Bound, Cause, FailurePath, Layer, Operation, Site, Wait};
use crate::analysis::status::StatusSet;

/// What one call against a failing server is taken to last, in seconds.
const CALL: f64 = 0.05;
/// The outages that are reckoned with, in seconds, with their names.
const OUTAGES: [(f64, &str); 2] = [(3.0, "a 3 s outage"), (600.0, "an outage of 10 minutes")];
/// More ranges of statuses than this are not listed.
const RANGES: usize = 6;
/// A range that lacks no more statuses than this is named with its exceptions.
const HOLES: u32 = 5;

/// The operation within a sentence: "the POST to `https://…`", "the POST `client.post(url)`", "`connect()`".
pub(super) fn operation(operation: &Operation) -> String {
    match (&operation.method, &operation.target) {
        (Some(method), _) if operation.by_setting => format!("each {method} of a client with `{}`", operation.text),
        (None, _) if operation.by_setting => format!("each request of a client with `{}`", operation.text),
        (Some(method), Some(target)) => format!("the {method} to `{target}`"),
        (Some(method), None) => format!("the {method} `{}`", operation.text),
        (None, _) if operation.passed_in => format!("the operation `{}` that is passed in", operation.text),
        (None, _) => format!("`{}`", operation.text),
    }
}

/// The same for the beginning of a sentence.
pub(super) fn subject(of: &Operation) -> String {
    sentence_start(&operation(of))
}

/// With a capital letter at the front.
pub(super) fn sentence_start(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// When a path is taken: "on any status ≥ 500", "on `Timeout`", "whatever the error".
pub(super) fn when(cause: &Cause) -> String {
    match cause {
        Cause::Status(set) => format!("on {}", statuses(set, "or")),
        Cause::Exception { everything: true, .. } => "on any error".to_owned(),
        Cause::Exception { classes, .. } if classes.is_empty() => "on an error".to_owned(),
        Cause::Exception { classes, .. } => {
            let mut names: Vec<String> = classes.iter().map(|path| format!("`{}`", last_segment(path))).collect();
            names.dedup();
            format!("on {}", list(&names, "or"))
        }
        Cause::Value => "on an answer that counts as failed".to_owned(),
        Cause::Interrupt => "on an interrupt".to_owned(),
        Cause::Ended => "once it has ended".to_owned(),
    }
}

/// Classes by their own names: "`KeyboardInterrupt` or `SystemExit`".
pub(super) fn classes(paths: &[String]) -> String {
    let mut names: Vec<String> = paths.iter().map(|path| format!("`{}`", last_segment(path))).collect();
    names.dedup();
    list(&names, "or")
}

/// The last part of a path.
pub(super) fn last_segment(path: &str) -> &str {
    path.rsplit(['.', ':']).next().unwrap_or(path)
}

/// "a", "a and b", "a, b and c"; long lists are cut.
pub(super) fn list(names: &[String], word: &str) -> String {
    const SHOWN: usize = 3;
    match names {
        [] => String::new(),
        [one] => one.clone(),
        _ if names.len() > SHOWN => {
            let shown = names.get(..SHOWN).unwrap_or_default();
            format!("{} {word} {} more", shown.join(", "), names.len() - SHOWN)
        }
        [first @ .., last] => format!("{} {word} {last}", first.join(", ")),
    }
}

/// A set of statuses: "429", "429 and 503", "any status ≥ 500", "any status from 400 to 499 but 408, 425 and 429".
pub(super) fn statuses(set: &StatusSet, word: &str) -> String {
    let mut ranges: Vec<(u16, u16)> = Vec::new();
    for status in set.iter() {
        match ranges.last_mut() {
            Some((_, high)) if *high + 1 == status => *high = status,
            _ => ranges.push((status, status)),
        }
    }
    let (Some((low, _)), Some((_, high))) = (ranges.first(), ranges.last()) else {
        return "no status".to_owned();
    };
    let hull = StatusSet::range(*low, *high);
    let holes = hull.minus(set);
    if !holes.is_empty() && holes.len() <= HOLES && hull.len() > 10 * HOLES {
        return format!("{} but {}", statuses(&hull, word), statuses(&holes, "and"));
    }
    if ranges.len() > RANGES {
        return format!("any of {} statuses", set.len());
    }
    let mut parts: Vec<String> = Vec::new();
    for (low, high) in ranges {
        match high - low {
            0 => parts.push(low.to_string()),
            1 | 2 => parts.extend((low..=high).map(|status| status.to_string())),
            _ if high == 599 => parts.push(format!("any status ≥ {low}")),
            _ => parts.push(format!("any status from {low} to {high}")),
        }
    }
    match parts.split_last() {
        Some((last, first)) if !first.is_empty() => format!("{} {word} {last}", first.join(", ")),
        _ => parts.concat(),
    }
}

/// "0.5 s", "30 s", "10 minutes".
pub(super) fn seconds(seconds: f64) -> String {
    if seconds >= 120.0 && seconds % 60.0 == 0.0 {
        return format!("{} minutes", seconds / 60.0);
    }
    if seconds > 0.0 && seconds < 0.1 {
        return format!("{} ms", rounded(seconds * 1000.0));
    }
    format!("{} s", rounded(seconds))
}

/// A time that may be long, to the nearest whole number of what it is best counted in: "27 minutes", "17 hours".
pub(super) fn long(seconds: f64) -> String {
    const UNITS: [(f64, &str); 4] =
        [(31_557_600.0, "years"), (86_400.0, "days"), (3_600.0, "hours"), (60.0, "minutes")];
    let fits = UNITS.iter().find(|(unit, _)| seconds >= 2.0 * unit);
    fits.map_or_else(|| format!("{seconds:.0} s"), |(unit, name)| format!("{:.0} {name}", seconds / unit))
}

/// Two decimals at most, and no trailing zeros.
fn rounded(number: f64) -> String {
    let text = format!("{number:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// "3 × 5", with n for what is not known.
fn factors(layers: &[Layer]) -> String {
    let known = |layer: &Layer| if layer.factor == 0 { "n".to_owned() } else { layer.factor.to_string() };
    layers.iter().map(known).collect::<Vec<_>>().join(" × ")
}

/// "3 × 5 = 15 requests for one call"; "3 × n requests for one call" where a number is not known.
pub(super) fn requests(site: &Site) -> String {
    let product = site.amplification.map(|product| format!(" = {product}")).unwrap_or_default();
    format!("{}{product} requests for one call", factors(&site.layers))
}

/// "20 × 5 = 100 requests until they give up", for tasks that run at once; with n for what is not known.
pub(super) fn requests_of_tasks(site: &Site, tasks: Option<u32>) -> String {
    let each = if site.layers.len() > 1 { site.amplification } else { site.max_attempts };
    let each = each.filter(|each| *each > 0);
    let number = |known: Option<u32>| known.map_or_else(|| "n".to_owned(), |known| known.to_string());
    let product = tasks.zip(each).map(|(tasks, each)| format!(" = {}", tasks.saturating_mul(each)));
    format!("{} × {}{} requests until they give up", number(tasks), number(each), product.unwrap_or_default())
}

/// "1 attempt", "5 attempts".
pub(super) fn attempts(count: u32) -> String {
    if count == 1 { "1 attempt".to_owned() } else { format!("{count} attempts") }
}

/// How many attempts a path makes, where it is known: "5 attempts", and "5 attempts on `Timeout` alone" where other
/// failures have counts of their own.
pub(super) fn attempts_on(site: &Site, path: &FailurePath) -> Option<String> {
    path.attempts.map(|count| format!("{}{}", attempts(count), alone(site, path)))
}

/// " on `Timeout` alone" where failures of other kinds make for more attempts than this path has; else nothing.
pub(super) fn alone(site: &Site, path: &FailurePath) -> String {
    let more = path.attempts.is_some_and(|count| site.max_attempts.is_none_or(|most| most > count));
    // The greatest of the paths is no count of their own.
    let own = more && site.failures.iter().all(|other| other.attempts.is_some() && other.attempts != site.max_attempts);
    if own { format!(" {} alone", when(&path.cause)) } else { String::new() }
}

/// What this path does to a server that fails for a while: "a 3 s outage at 50 ms a call is 60 requests". `None`
/// where a wait is not known, and where each attempt lasts as long as its time limit.
pub(super) fn storm(path: &FailurePath) -> Option<String> {
    if path.elapsed {
        return None;
    }
    OUTAGES.iter().find_map(|(outage, name)| {
        let requests = requests_during(path, *outage)?;
        let known = path.attempts.is_some() || matches!(path.bound, Bound::None | Bound::Broken(_) | Bound::Flag);
        let (most, limit) = if known { ("", "") } else { ("up to ", ", as far as its limit on attempts allows") };
        (requests > 2).then(|| format!("{name} at 50 ms a call is {most}{requests} requests from each caller{limit}"))
    })
}

/// How many requests one caller sends while an outage lasts.
fn requests_during(path: &FailurePath, outage: f64) -> Option<u32> {
    let limit = path.attempts.unwrap_or(u32::MAX);
    let outage = outage - CALL / 2.0;
    let (mut now, mut requests) = (0.0, 0);
    // The last wait that was evaluated stands for all that follow.
    let mut wait = 0.0;
    while now < outage && requests < limit {
        if let Some(next) = requests.checked_sub(1).and_then(|at| path.waits.get(at as usize)) {
            wait = expected(next)?;
        }
        now += if requests == 0 { 0.0 } else { wait };
        if now >= outage {
            break;
        }
        requests += 1;
        now += CALL;
    }
    Some(requests)
}

fn expected(wait: &Wait) -> Option<f64> {
    let known = !wait.unknown && wait.low.is_finite() && wait.high.is_finite();
    known.then(|| f64::midpoint(wait.low, wait.high).max(0.0))
}

#[cfg(test)]
mod tests {
    use super::{StatusSet, attempts, long, seconds, statuses};

    #[test]
    fn status_sets_read_well() {
        let read = |text: &str| statuses(&StatusSet::parse(text).unwrap_or_default(), "and");
        assert_eq!(read("429"), "429");
        assert_eq!(read("429,503"), "429 and 503");
        assert_eq!(read("500,502,503,504"), "500, 502, 503 and 504");
        assert_eq!(read("500-599"), "any status ≥ 500");
        assert_eq!(read("429,500-599"), "429 and any status ≥ 500");
        assert_eq!(read("400-407,409-424,426-428,430-499"), "any status from 400 to 499 but 408, 425 and 429");
        assert_eq!(statuses(&StatusSet::EMPTY, "and"), "no status");
    }

    #[test]
    fn numbers_read_well() {
        assert_eq!(seconds(0.5), "0.5 s");
        assert_eq!(seconds(30.0), "30 s");
        assert_eq!(seconds(0.05), "50 ms");
        assert_eq!(seconds(120.0), "2 minutes");
        assert_eq!(seconds(0.0), "0 s");
        assert_eq!(
            (long(61_440.0).as_str(), long(1_900.0).as_str(), long(90.0).as_str()),
            ("17 hours", "32 minutes", "90 s")
        );
        assert_eq!((long(4.3e9).as_str(), long(4.3e6).as_str()), ("136 years", "50 days"));
        assert_eq!((attempts(1), attempts(5)), ("1 attempt".to_owned(), "5 attempts".to_owned()));
    }
}
