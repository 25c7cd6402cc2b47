//! Which keys go with which kind, as one table.

use super::{Entry, Kind, PIECES, TAKES, versions};

/// Keys that every kind may have.
pub const COMMON: &[&str] = &[
    "kind",
    "functions",
    "types",
    "names",
    "note",
    "gives",
    "result",
    "async",
    "awaited",
    "raises",
    "blocking",
    "since",
    "until",
    "package",
];

/// A kind by its word, the further keys that it may have and those of them that it must have.
pub struct Word {
    pub word: &'static str,
    pub may: &'static [&'static str],
    pub must: &'static [&'static str],
}

const fn word(word: &'static str, may: &'static [&'static str], must: &'static [&'static str]) -> Word {
    Word { word, may, must }
}

/// The vocabulary.
pub const WORDS: &[Word] = &[
    word(
        "type",
        &[
            "aliases",
            "bases",
            "timeout",
            "default-timeout",
            "headers",
            "url",
            "retries",
            "default-retries",
            "policy",
            "status-error",
            "raises-on-status",
            "statuses",
        ],
        &[],
    ),
    word(
        "request",
        &[
            "prepared",
            "verb",
            "verb-is-name",
            "verb-param",
            "verb-with-body",
            "url",
            "headers",
            "body",
            "timeout",
            "default-timeout",
            "status-error",
            "statuses",
            "raises-on-status",
            "loses-response",
            "key",
            "idempotent",
            "retries",
            "default-retries",
        ],
        &[],
    ),
    word(
        "prepare",
        &["verb", "verb-is-name", "verb-param", "verb-with-body", "url", "headers", "body", "timeout", "key"],
        &[],
    ),
    word("set", &["sets", "in-place", "amount", "unit", "key", "value"], &["sets"]),
    word(
        "effect",
        &[
            "effect",
            "idempotent",
            "url",
            "key",
            "body",
            "headers",
            "timeout",
            "default-timeout",
            "retries",
            "default-retries",
            "policy",
            "amount",
            "unit",
        ],
        &["effect"],
    ),
    word("status", &[], &[]),
    word("status-test", &["statuses"], &["statuses"]),
    word("raise-for-status", &["status-error", "statuses", "loses-response"], &["statuses"]),
    word("headers", &[], &[]),
    word("header-read", &["key"], &["key"]),
    word("exception-response", &[], &[]),
    word("body", &["function"], &[]),
    word("sleep", &["amount", "unit"], &["amount"]),
    word("wait-for", &["amount", "unit"], &[]),
    word("clock", &["unit"], &["unit"]),
    word("elapsed", &["unit"], &[]),
    word("random", &["low", "high", "sort"], &[]),
    word("duration", &["amount", "unit", "parts", "greatest", "sort", "factor"], &[]),
    word("math", &["function", "greatest"], &["function"]),
    word("parse-number", &["function"], &[]),
    word("parse-date", &[], &[]),
    word(
        "exception",
        &[
            "aliases",
            "bases",
            "before-send",
            "conflict",
            "content",
            "elapsed",
            "http",
            "interrupt",
            "occurs",
            "severed",
            "stands-for",
        ],
        &["functions"],
    ),
    word("error-test", &[], &["raises"]),
    word("local", &["used-up"], &[]),
    word("remote", &["effect", "http", "idempotent", "timeout", "default-timeout", "retries", "default-retries"], &[]),
    word("transparent", &["value"], &[]),
    word("time-limit", &["future", "amount", "unit"], &["amount"]),
    word("suppress", &[], &[]),
    word("runs", &["future"], &[]),
    word("crowd", &["each", "lazy", "of-receiver", "ends", "amount"], &[]),
    word("query-path", &[], &["names"]),
    word("source", &["key", "container", "into", "amount", "unit"], &[]),
    word("put", &["container", "value"], &["value"]),
    word("setting", &["value"], &[]),
    word("stop-flag", &["interrupt"], &[]),
    word("fresh", &[], &[]),
    word("exit", &[], &[]),
    word("endless-iterator", &[], &[]),
    word("decorator", &[], &["functions"]),
    word("derive", &["function"], &["function"]),
    word("status-constant", &["statuses"], &["functions", "statuses"]),
    word("text-constant", &["value-text"], &["functions", "value-text"]),
    word("number-constant", &["number", "unit"], &["functions", "number"]),
    word(
        "retry",
        &[
            "function",
            "unit",
            "takes",
            "counts",
            "endless-below",
            "pace",
            "exhausted",
            "wraps",
            "passes-on",
            "state",
            "repeats",
            "statuses",
            "advised",
            "besides",
            "at-once",
            "power",
            "ceiling",
            "needs",
            "waits",
            "again",
            "hooks",
            "paces",
            "judge",
            "queue",
        ],
        &["function"],
    ),
];

/// All keys that some kind has.
pub fn all_keys() -> Vec<&'static str> {
    let mut keys: Vec<_> = COMMON.iter().chain(WORDS.iter().flat_map(|word| word.may)).copied().collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// What is wrong with an entry although each of its keys is well-formed.
pub fn fault(entry: &Entry) -> Option<String> {
    if entry.functions.is_empty() && entry.types.is_empty() && (entry.kind != Kind::Type || entry.gives.is_none()) {
        return Some("names nothing: it needs `functions`, or `types` with `names`".into());
    }
    if entry.types.is_empty() != entry.names.is_empty() {
        return Some("`types` and `names` go together: methods or attributes `names` of `types`".into());
    }
    for path in &entry.functions {
        if path.trim_end_matches('*').contains('*') || path.is_empty() {
            return Some(format!("`{path}` in `functions`: a `*` may stand at the end only"));
        }
        if path.ends_with('*') && !matches!(entry.kind, Kind::Local | Kind::Remote | Kind::Math | Kind::Random) {
            return Some(format!("`{path}` in `functions`: only `local` and `remote` take a final `*`"));
        }
    }
    if let Some(fault) = versions::fault(entry) {
        return Some(fault);
    }
    for (key, text) in [
        ("statuses", &entry.statuses),
        ("advised", &entry.advised),
        ("besides", &entry.besides),
        ("stands-for", &entry.stands_for),
    ] {
        if let Some(fault) = text.as_deref().and_then(|text| unsound_statuses(key, text)) {
            return Some(fault);
        }
    }
    if entry.kind == Kind::Retry {
        for word in entry.function.iter().chain(&entry.pace) {
            if !PIECES.contains(&word.as_str()) {
                return Some(format!("`{word}` is no piece of a policy; allowed: {}", PIECES.join(", ")));
            }
        }
        for key in entry.takes.keys().chain(&entry.needs) {
            if !TAKES.contains(&key.as_str()) {
                return Some(format!("`{key}` in `takes` is no part of a policy; allowed: {}", TAKES.join(", ")));
            }
        }
    }
    let params = [
        ("verb-param", &entry.verb_param),
        ("prepared", &entry.prepared),
        ("url", &entry.url),
        ("headers", &entry.headers),
        ("timeout", &entry.timeout),
        ("key", &entry.key),
        ("value", &entry.value),
        ("container", &entry.container),
        ("into", &entry.into),
        ("future", &entry.future),
        ("retries", &entry.retries),
        ("raises-on-status", &entry.raises_on_status),
    ];
    for (key, param) in params {
        if param.as_ref().is_some_and(|param| param.name.is_none() && param.position.is_none()) {
            return Some(format!("`{key}` needs `name`, `position` or both"));
        }
    }
    None
}

/// What is wrong with a text that is to be a set of statuses.
pub fn unsound_statuses(key: &str, text: &str) -> Option<String> {
    let fault = || format!("`{key} = \"{text}\"` is not a set of statuses such as \"429,500-599\"");
    (!statuses_are_sound(text)).then(fault)
}

/// Whether a text is a list of statuses and ranges of them.
fn statuses_are_sound(text: &str) -> bool {
    text.split(',').all(|part| {
        let (low, high) = part.split_once('-').unwrap_or((part, part));
        match (low.trim().parse::<u16>(), high.trim().parse::<u16>()) {
            (Ok(low), Ok(high)) => (100..=599).contains(&low) && low <= high && high <= 599,
            _ => false,
        }
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_a_kind() {
        for word in WORDS {
            let kind: Kind = toml::Value::String(word.word.into()).try_into().unwrap();
            assert_eq!(toml::Value::try_from(kind).unwrap().as_str(), Some(word.word));
        }
    }

    #[test]
    fn statuses_must_be_between_100_and_599() {
        assert!(statuses_are_sound("200-299, 304"));
        for wrong in ["", "5xx", "600", "500-400", "99", "200-"] {
            assert!(!statuses_are_sound(wrong), "{wrong}");
        }
    }
}
