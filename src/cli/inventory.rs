//! `stormlint inventory`.

use std::process::ExitCode;

use super::{Failure, Format, RunArgs, check, output};
use crate::config::Config;
use crate::report::inventory;

pub(super) fn run(args: &RunArgs) -> Result<ExitCode, Failure> {
    let write = match args.output_format {
        Format::Full => inventory::full,
        Format::Concise => inventory::concise,
        Format::Json => inventory::json,
        Format::Sarif => return Err(Failure::Usage("the inventory has no SARIF form; take json".to_owned())),
    };
    // No finding is printed, so that none of the rules needs to be asked; the names of rules are looked at all the same.
    let config = Config { rules: Vec::new(), ..args.config()? };
    let run = check::over_files(args, &config)?;
    output::to(args.output_file.as_deref(), |out| write(&run, out))?;
    // A list is no gate: a file that is no source is named, and no reason to fail.
    Ok(if run.errors.iter().all(|error| error.unparsed) { ExitCode::SUCCESS } else { ExitCode::from(2) })
}
