//! stormlint: a linter for retries.

pub mod diagnostic;
pub mod frontend;
pub mod ir;
pub mod source;
