//! Reports suppression comments that hit nothing: names that no finding has, names that nothing has, and wrong forms. The
//! finding is made where comments are read; no site has it.

use super::{Group, Rule};
use crate::diagnostic::Level;

pub(super) const RULE: Rule = Rule {
    name: "unused-suppression",
    group: Group::Meta,
    level: Level::Warning,
    page: include_str!("../../rules/unused-suppression.md"),
    check: None,
};
