//! stormlint: a linter for retries.

pub mod analysis;
pub mod diagnostic;
pub mod frontend;
pub mod ir;
pub mod models;
pub mod rules;
pub mod source;
