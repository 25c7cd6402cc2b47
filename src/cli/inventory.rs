//! `stormlint inventory`.

use std::process::ExitCode;

use super::{Failure, Format, RunArgs, check};
use crate::check::ErrorKind;
use crate::config::{Layer, Said};
use crate::report::inventory;

pub(super) fn run(args: &RunArgs) -> Result<ExitCode, Failure> {
    if let Some(format) = args.formats().find(|format| !matches!(format, Format::Full | Format::Concise | Format::Json))
    {
        let name = format.name();
        return Err(Failure::Usage(format!("the inventory has no {name} form; take full, concise or json")));
    }
    // No finding is printed, so that none of the rules needs to be asked; the names of rules are looked at all the same.
    let select = Some(Said { value: Vec::new(), line: 0 });
    let run = check::over_files(args, Layer { select, ..args.choice.layer()? }, false)?;
    args.print(|format, _, out| match format {
        Format::Json => inventory::json(&run, out),
        Format::Concise => inventory::concise(&run, out),
        _ => inventory::full(&run, out),
    })?;
    // A list is no gate: a file that is no source is named, and no reason to fail.
    Ok(if run.errors.iter().all(|error| error.kind == ErrorKind::Unparsed) {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(2)
    })
}
