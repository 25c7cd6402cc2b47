//! What a rule says about a place: plain data, no behaviour.

use serde::{Deserialize, Serialize};

use crate::source::Span;

/// How grave a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Worth knowing; does not fail a run.
    Note,
    /// A likely fault; fails a run.
    Warning,
    /// A fault that turns an outage into a storm; fails a run.
    Error,
}

impl Level {
    /// `note`, `warning` or `error`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Level::Note => "note",
            Level::Warning => "warning",
            Level::Error => "error",
        }
    }
}

/// How sure a finding is. `Low` is shown only on request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// A guess: some fact that it rests on is not known.
    Low,
    /// The shape is plain, but something that it calls is not known.
    Medium,
    /// Every fact that it rests on was read from the code or a model.
    High,
}

impl Confidence {
    /// `low`, `medium` or `high`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Confidence::Low => "low",
            Confidence::Medium => "medium",
            Confidence::High => "high",
        }
    }
}

/// A place in a file, with what is to be said of it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Label {
    /// Index of the file among those of the run; `None` means the finding's own file.
    pub file: Option<usize>,
    /// The place.
    pub span: Span,
    /// A few words, lower case, no full stop.
    pub text: String,
}

/// A place in a file of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Place {
    /// Index of the file among those of the run; `None` means the finding's own file.
    pub file: Option<usize>,
    /// The place.
    pub span: Span,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// The rule's name.
    #[serde(skip)]
    pub rule: &'static str,
    /// As the rule or the configuration has it.
    pub level: Level,
    /// How sure it is.
    pub confidence: Confidence,
    /// The loop's, decorator's or call's header: what SARIF marks and what suppressions are about.
    pub span: Span,
    /// The first sentence stands alone: what was seen. No line breaks.
    pub message: String,
    /// Why it matters here, in this site's own numbers; empty where the first sentence has said it.
    pub why: String,
    /// What to do.
    pub help: String,
    /// The failure path, step by step, in the order in which it runs.
    pub labels: Vec<Label>,
    /// What it rests on besides the labels: the whole loop or definition, and in whichever files what leads from there
    /// to the operation. A change of any of it may have made the finding.
    pub extent: Vec<Place>,
    /// Qualified name of the function that it stands in; empty where there is none.
    pub function: String,
    /// What tells it from others of the same rule in that function: operation and header, so written that neither
    /// layout nor names of variables count. With the function's name the basis of fingerprints.
    pub key: String,
}
