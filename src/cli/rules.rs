//! `stormlint rules`.

use std::process::ExitCode;

use super::{Failure, TableFormat, output};
use crate::report::catalogue;
use crate::rules;

pub(super) fn run(format: TableFormat) -> Result<ExitCode, Failure> {
    output::to(None, |out| match format {
        TableFormat::Full => catalogue::table(rules::ALL, out),
        TableFormat::Json => catalogue::json(rules::ALL, out),
    })?;
    Ok(ExitCode::SUCCESS)
}
