//! `stormlint explain`.

use std::process::ExitCode;

use super::{Failure, output};
use crate::{config, rules};

pub(super) fn run(name: &str) -> Result<ExitCode, Failure> {
    let rule = config::find(rules::ALL, name)?;
    output::to(None, |out| writeln!(out, "{}", rule.page.trim_end()))?;
    Ok(ExitCode::SUCCESS)
}
