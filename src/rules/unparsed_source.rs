//! Reports the parts of a file that could not be parsed and so were not looked at. The finding is made where files are
//! read; no site has it.

use super::{Group, Rule};
use crate::diagnostic::Level;

pub(super) const RULE: Rule = Rule {
    name: "unparsed-source",
    group: Group::Meta,
    level: Level::Warning,
    page: include_str!("../../rules/unparsed-source.md"),
    check: None,
};
