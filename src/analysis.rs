//! From graphs to policies: finds every place where an operation is executed again because it failed, and what the
//! code does there: the [`policy::Site`]s that rules and the inventory read.

pub mod arith;
mod calls;
pub mod machine;
mod memory;
mod ops;
pub mod policy;
pub mod project;
pub mod state;
pub mod status;
pub mod value;
