//! From graphs to policies: finds every place where an operation is executed again because it failed, and what the
//! code does there: the [`policy::Site`]s that rules and the inventory read.

pub mod arith;
mod body;
mod calls;
mod combinators;
mod containers;
mod facts;
mod lost;
pub mod machine;
mod memory;
mod ops;
mod outage;
mod pieces;
pub mod policy;
mod probes;
pub mod project;
mod reset;
mod sites;
pub mod state;
pub mod status;
pub mod value;

/// The sites of one file of a project, in source order.
#[must_use]
pub fn sites_of(project: &project::Project<'_>, file: u32) -> Vec<policy::Site> {
    sites::find(&mut machine::Machine::new(project, file))
}
