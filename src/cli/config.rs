//! `stormlint config`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::{ChoiceArgs, Failure, SourceArgs, TableFormat, output, place, sound};
use crate::report::configuration::{self, Shown};

#[derive(Debug, Args)]
pub(super) struct ConfigArgs {
    /// Files and folders, which need not exist; of a folder, what holds for the files in it
    #[arg(default_value = ".", value_name = "FILE")]
    files: Vec<PathBuf>,
    /// How to print it
    #[arg(long, value_enum, default_value_t = TableFormat::Full, value_name = "FORMAT")]
    output_format: TableFormat,
    #[command(flatten)]
    source: SourceArgs,
    #[command(flatten)]
    choice: ChoiceArgs,
    /// Print the JSON schema of configuration files instead
    #[arg(long, conflicts_with_all = ["files", "output_format", "config", "isolated", "select", "ignore", "min_confidence"])]
    schema: bool,
}

pub(super) fn run(args: &ConfigArgs) -> Result<ExitCode, Failure> {
    if args.schema {
        output::to(None, |out| write!(out, "{}", include_str!("../../stormlint.schema.json")))?;
        return Ok(ExitCode::SUCCESS);
    }
    let place = place(None)?;
    let lookup = args.source.lookup(&place, args.choice.layer()?, false)?;
    let mut all = Vec::new();
    for given in &args.files {
        let path = place.absolute(given);
        let is_folder = path.is_dir();
        // Read for what may be wrong with them.
        let _ = lookup.models(if is_folder { &path } else { path.parent().unwrap_or(&path) });
        // For a folder: what holds for a file in it whose name no pattern is about.
        let (settings, overrides, holds) = lookup.holds(&if is_folder { path.join("*") } else { path.clone() });
        all.push(Shown { path: place.shown(&path), settings, overrides, excluded: lookup.excluded(&path), holds });
    }
    sound(&lookup)?;
    output::to(None, |out| match args.output_format {
        TableFormat::Full => configuration::full(&all, out),
        TableFormat::Json => configuration::json(&all, out),
    })?;
    Ok(ExitCode::SUCCESS)
}
