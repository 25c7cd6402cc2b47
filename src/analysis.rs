//! From graphs to policies: finds every place where an operation is executed again because it failed, and what the
//! code does there: the [`policy::Site`]s that rules and the inventory read.
//!
//! * `sites` explores: every operation fails in every way, one on a path; what comes back to it is a failure path;
//!   `recursion` does it where there is no loop; `awaited` tells who only waits until something works.
//!   `combinators` and `pieces` do the same for policies that a library runs, `judges` for those that it asks; `probes`
//!   for interrupts and defects, `idle` for what was meant to be repeated and never is.
//!   `helpers` knows the project's own functions that call again what they are given, and `brought` looks where that comes
//!   from; `makers` knows what objects are made with.
//! * `outage` lets one failure last, attempt by attempt.
//! * `facts` makes a policy of what was seen, with `bounds` and `limits` (what ends it), `advice` (Retry-After), `leaving` (what
//!   leaves in the end), `taken` (how the code takes a failure), `batch`, `body`, `lost`, `overflow` and `reset` (single facts);
//!   `layers` says what multiplies, `crowds` how many tasks at once come to a site, `shared` whether they share a budget.
//! * [`machine`] is what runs: `conditions` and `iteration` decide where paths fork, `generators` runs iterators on, `loops` knows the graph's loops,
//!   `memory` names, attributes and patterns, `attributes` what constructors leave in them, `containers` collections,
//!   [`arith`] numbers, `scaling` where they come to the end of their sort, [`value`] and [`state`] what is
//!   known; `calls` finds what is called, `follow` goes into the project's own functions, `whole` does not, `ops` executes
//!   operations, `builders`, `futures`, `handlers` and `parse` do what models say of a call; `taking` hands out work and
//!   takes it back, `telling` runs the hooks of a policy, `inputs` tells whether a request is the same one again, `unset`
//!   what is a default, `verdicts` what is asked about an answer.
//! * [`project`] knows what a name stands for across files.

mod advice;
mod answers;
pub mod arith;
mod attributes;
mod awaited;
mod batch;
mod body;
mod bounds;
mod brought;
mod builders;
mod calls;
mod combinators;
mod conditions;
mod containers;
mod control;
mod crowds;
mod decorating;
mod draws;
mod entry;
mod facts;
mod follow;
mod futures;
mod generators;
mod given;
mod handlers;
mod helpers;
mod idle;
mod inputs;
mod iteration;
mod judges;
pub mod layers;
mod leaving;
mod limits;
mod links;
mod loops;
mod lost;
pub mod machine;
mod makers;
mod matching;
mod memory;
mod merging;
mod mixed;
mod modelled;
mod ops;
mod outage;
mod overflow;
mod pace;
mod parse;
mod pauses;
mod pausing;
mod pieces;
pub mod plan;
pub mod policy;
mod probes;
pub mod project;
mod reach;
mod recursion;
mod relations;
mod reset;
mod scaling;
mod sent;
mod settings;
mod shared;
mod sites;
mod slots;
pub mod state;
pub mod status;
mod stops;
mod taken;
mod taking;
mod telling;
mod unset;
pub mod value;
mod verdicts;
mod whole;

/// The sites of one file of a project, in source order.
#[must_use]
pub fn sites_of(project: &project::Project<'_>, file: u32) -> Vec<policy::Site> {
    let mut sites = sites::find(&mut machine::Machine::new(project, file));
    for site in sites.iter_mut().filter(|site| site.role == policy::Role::Retry && !site.in_test) {
        site.tasks = project.tasks_of(value::FuncRef { file, func: site.function });
    }
    sites
}
