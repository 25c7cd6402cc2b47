//! The rules: a list of facts and one predicate each, over a [`Site`] and its policy. A rule sees no syntax.
//!
//! Invariant: no rule calls another one. Where two would report the same fault, each checks the fact that decides.

mod attempt_without_timeout;
mod backoff_overflow;
mod batch_replay;
mod blocking_sleep_in_async_retry;
mod broken_attempt_cap;
mod catch_all_retry;
mod dropped_retry_result;
mod error_returned_as_success;
mod excessive_attempts;
mod exhausted_request_body;
mod fixed_retry_delay;
mod idempotency_key_per_attempt;
mod ignored_retry_after;
mod ineffective_retry;
mod nested_retry;
mod retried_client_error;
mod retried_interrupt;
mod retried_non_idempotent_request;
mod retry_after_date_unhandled;
mod retry_without_deadline;
mod retry_without_delay;
mod retry_without_jitter;
mod scope;
mod shortened_retry_after;
mod silent_exhaustion;
mod sleep_after_last_attempt;
mod suppression_without_reason;
#[cfg(test)]
mod tests;
mod unbounded_retry;
mod uncapped_backoff;
mod unparsed_source;
mod unreset_backoff;
mod unshared_retry_budget;
mod unused_suppression;
mod wording;

use crate::analysis::policy::Site;
use crate::diagnostic::{Confidence, Label, Level};
use crate::source::SourceFile;

/// What a rule belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Group {
    Bound,
    Pace,
    Server,
    Outcome,
    Replay,
    Layers,
    Budget,
    Strict,
    Meta,
}

impl Group {
    /// All groups.
    pub const ALL: [Group; 9] = [
        Group::Bound,
        Group::Pace,
        Group::Server,
        Group::Outcome,
        Group::Replay,
        Group::Layers,
        Group::Budget,
        Group::Strict,
        Group::Meta,
    ];

    /// Its name in lower case.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Group::Bound => "bound",
            Group::Pace => "pace",
            Group::Server => "server",
            Group::Outcome => "outcome",
            Group::Replay => "replay",
            Group::Layers => "layers",
            Group::Budget => "budget",
            Group::Strict => "strict",
            Group::Meta => "meta",
        }
    }
}

/// The limits that rules compare with.
#[derive(Debug, Clone, PartialEq)]
pub struct Limits {
    /// More executions than this in under a minute of waiting are excessive.
    pub max_attempts: u32,
    /// A wait below this (seconds) is none.
    pub min_delay: f64,
    /// A growing wait with no ceiling may not pass this (seconds).
    pub max_delay: f64,
    /// From this product on, an SDK's default layer counts.
    pub max_amplification: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { max_attempts: 10, min_delay: 0.01, max_delay: 300.0, max_amplification: 10 }
    }
}

/// What a rule reports of a site; the rest of the diagnostic (place, level, key) is the same for all rules.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// How sure.
    pub confidence: Confidence,
    /// What was seen: one sentence that stands alone, without a full stop.
    pub message: String,
    /// Why it matters here, in this site's numbers; may be empty.
    pub why: String,
    /// What to do.
    pub help: String,
    /// The failure path and other places.
    pub labels: Vec<Label>,
}

/// What a rule sees.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// The file, for quoting.
    pub file: &'a SourceFile,
    /// All files of the run: what a site says of others are indices of these.
    pub files: &'a [SourceFile],
    /// The limits that hold for it.
    pub limits: &'a Limits,
}

/// One rule.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// Its name.
    pub name: &'static str,
    /// Its group.
    pub group: Group,
    /// Level at which it reports by default.
    pub level: Level,
    /// Its page in Markdown.
    pub page: &'static str,
    /// The predicate; `None` for rules that are about files, not sites.
    pub check: Option<fn(&Site, Context<'_>) -> Option<Finding>>,
}

impl Rule {
    /// Whether it is on without being selected.
    #[must_use]
    pub fn on_by_default(&self) -> bool {
        self.group != Group::Strict
    }
}

/// All rules, in the order of their names.
pub const ALL: &[Rule] = &[
    attempt_without_timeout::RULE,
    backoff_overflow::RULE,
    batch_replay::RULE,
    blocking_sleep_in_async_retry::RULE,
    broken_attempt_cap::RULE,
    catch_all_retry::RULE,
    dropped_retry_result::RULE,
    error_returned_as_success::RULE,
    excessive_attempts::RULE,
    exhausted_request_body::RULE,
    fixed_retry_delay::RULE,
    idempotency_key_per_attempt::RULE,
    ignored_retry_after::RULE,
    ineffective_retry::RULE,
    nested_retry::RULE,
    retried_client_error::RULE,
    retried_interrupt::RULE,
    retried_non_idempotent_request::RULE,
    retry_after_date_unhandled::RULE,
    retry_without_deadline::RULE,
    retry_without_delay::RULE,
    retry_without_jitter::RULE,
    shortened_retry_after::RULE,
    silent_exhaustion::RULE,
    sleep_after_last_attempt::RULE,
    suppression_without_reason::RULE,
    unbounded_retry::RULE,
    uncapped_backoff::RULE,
    unparsed_source::RULE,
    unreset_backoff::RULE,
    unshared_retry_budget::RULE,
    unused_suppression::RULE,
];
