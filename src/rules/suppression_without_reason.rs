//! Reports suppression comments that do not say why. The finding is made where comments are read; no site has it.

use super::{Group, Rule};
use crate::diagnostic::Level;

pub(super) const RULE: Rule = Rule {
    name: "suppression-without-reason",
    group: Group::Strict,
    level: Level::Note,
    page: include_str!("../../rules/suppression-without-reason.md"),
    check: None,
};
