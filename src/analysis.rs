//! From graphs to policies: finds every place where an operation is executed again because it failed, and what the
//! code does there: the [`policy::Site`]s that rules and the inventory read.

pub mod arith;
mod calls;
mod facts;
pub mod machine;
mod memory;
mod ops;
mod outage;
pub mod policy;
pub mod project;
mod sites;
pub mod state;
pub mod status;
pub mod value;

use rayon::prelude::*;

use crate::ir::Module;
use crate::models::AllModels;
use crate::source::SourceFile;

/// The sites of each file, in source order. `names` are the modules' absolute paths, in the order of the files.
#[must_use]
pub fn analyse(
    files: &[SourceFile],
    modules: &[Module],
    names: &[String],
    models: &AllModels,
) -> Vec<Vec<policy::Site>> {
    let project = project::Project::new(files, modules, names, models);
    let count = u32::try_from(files.len()).unwrap_or(u32::MAX);
    (0..count).into_par_iter().map(|file| sites::find(&mut machine::Machine::new(&project, file))).collect()
}
