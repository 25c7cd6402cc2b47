//! What came of a run, in a form that can be stored and put together again with the same inputs.

use serde::{Deserialize, Serialize};

use super::{By, ErrorKind, FileError, Found, Input, Run, Suppressed};
use crate::config;
use crate::ir::Unparsed;
use crate::rules;

/// All of a run but its inputs and its sites.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    findings: Vec<Stored>,
    /// With the reasons in the comments.
    suppressed: Vec<(Stored, String)>,
    unparsed: Vec<Vec<Unparsed>>,
    /// Files of which nothing was checked: index, path and message.
    lost: Vec<(usize, String, String)>,
    errors: Vec<(String, String)>,
}

/// A finding, its rule by name.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Stored {
    rule: String,
    found: Found,
}

impl Stored {
    fn of(found: &Found) -> Stored {
        Stored { rule: found.diagnostic.rule.to_owned(), found: found.clone() }
    }

    /// The name of its rule, where there is such a rule.
    fn rule(&self) -> Option<&'static str> {
        config::find(rules::ALL, &self.rule).ok().map(|rule| rule.name)
    }

    fn found(self) -> Found {
        let rule = self.rule().unwrap_or_default();
        let mut found = self.found;
        found.diagnostic.rule = rule;
        found
    }
}

impl Outcome {
    /// Whether it can be one of a run over these inputs.
    #[must_use]
    pub fn is_of(&self, inputs: &[Input]) -> bool {
        let mut stored = self.findings.iter().chain(self.suppressed.iter().map(|(stored, _)| stored));
        self.unparsed.len() == inputs.len() && stored.all(|stored| stored.rule().is_some())
    }
}

impl Run {
    /// What is to be stored of a run as [`super::check()`] gives it; nothing of one in which this program itself went wrong.
    #[must_use]
    pub fn outcome(&self) -> Option<Outcome> {
        let by_comment = |one: &Suppressed| match &one.by {
            By::Comment(reason) => Some((Stored::of(&one.found), reason.clone())),
            By::Baseline => None,
        };
        let whole = self.errors.iter().all(|error| error.kind == ErrorKind::Unparsed) && self.outside.is_empty();
        let suppressed: Option<Vec<_>> = self.suppressed.iter().map(by_comment).collect();
        Some(Outcome {
            findings: self.findings.iter().map(Stored::of).collect(),
            suppressed: suppressed.filter(|_| whole)?,
            unparsed: self.unparsed.clone(),
            lost: self.lost.iter().map(|(at, error)| (*at, error.path.clone(), error.message.clone())).collect(),
            errors: self.errors.iter().map(|error| (error.path.clone(), error.message.clone())).collect(),
        })
    }

    /// The run over these inputs that such an outcome is of; without sites.
    #[must_use]
    pub fn again(mut inputs: Vec<Input>, outcome: Outcome) -> Run {
        inputs.sort_by(|left, right| left.file.path.cmp(&right.file.path));
        let error = |(path, message)| FileError { path, message, kind: ErrorKind::Unparsed };
        let comment =
            |(stored, reason): (Stored, String)| Suppressed { found: stored.found(), by: By::Comment(reason) };
        let mut run = Run {
            sites: inputs.iter().map(|_| Vec::new()).collect(),
            unparsed: outcome.unparsed,
            findings: outcome.findings.into_iter().map(Stored::found).collect(),
            suppressed: outcome.suppressed.into_iter().map(comment).collect(),
            errors: outcome.errors.into_iter().map(error).collect(),
            lost: outcome.lost.into_iter().map(|(at, path, message)| (at, error((path, message)))).collect(),
            ..Run::default()
        };
        for input in inputs {
            run.files.push(input.file);
            run.root_paths.push(input.root_path);
            run.configs.push(input.config);
        }
        run
    }
}
