//! `stormlint check`.

use std::io::Read;
use std::path::Path;
use std::process::ExitCode;

use super::output;
use super::{Failure, Format, RunArgs};
use crate::check::{self, FileError, Run};
use crate::config::Config;
use crate::report;
use crate::walk::{self, Place, Sources};

pub(super) fn run(args: &RunArgs) -> Result<ExitCode, Failure> {
    let config = args.config()?;
    let run = over_files(args, &config)?;
    let colour = output::colour(args.color, args.output_file.as_deref());
    output::to(args.output_file.as_deref(), |out| {
        match args.output_format {
            Format::Full => report::full::write(&run, colour, out)?,
            Format::Concise => report::concise::write(&run, out)?,
            Format::Json => return report::json::write(&run, out),
            Format::Sarif => {
                let category = args.sarif_category.as_deref();
                return report::sarif::write(&run, report::sarif::Options { config: &config, category }, out);
            }
        }
        if args.quiet { Ok(()) } else { report::summary(&run, out) }
    })?;
    Ok(exit_code(&run, args.exit_zero))
}

fn exit_code(run: &Run, exit_zero: bool) -> ExitCode {
    if !run.errors.is_empty() {
        ExitCode::from(2)
    } else if run.fails() && !exit_zero {
        ExitCode::from(1)
    } else {
        ExitCode::SUCCESS
    }
}

/// Reads and checks what the arguments name; what cannot be read is told on standard error and kept in the run.
pub(super) fn over_files(args: &RunArgs, config: &Config) -> Result<Run, Failure> {
    let cwd =
        std::env::current_dir().map_err(|error| Failure::Io { what: "the working directory".to_owned(), error })?;
    if let Some(root) = args.root.as_deref().filter(|root| !cwd.join(root).is_dir()) {
        return Err(Failure::Usage(format!("--root takes a folder, and `{}` is none", root.display())));
    }
    let place = Place::new(&cwd, args.root.as_deref());
    let Sources { inputs, errors, mut remarks } = if args.paths.iter().any(|path| path == Path::new("-")) {
        standard_input(args, &place)?
    } else if let Some(name) = &args.stdin_filename {
        let name = name.display();
        return Err(Failure::Usage(format!(
            "--stdin-filename names what `-` reads; to check standard input: stormlint - --stdin-filename {name}"
        )));
    } else {
        walk::sources(&place, &args.paths)
    };
    if inputs.is_empty() && errors.is_empty() {
        output::complain("no Python or Rust sources under the given paths");
    }
    remarks.sort();
    remarks.dedup();
    for FileError { path, message, .. } in &remarks {
        output::complain(&format!("{path}: {message}"));
    }
    let mut run = check::check(inputs, config);
    run.errors.extend(errors);
    run.errors.sort();
    run.errors.dedup();
    for FileError { path, message, .. } in &run.errors {
        output::complain(&format!("{path}: {message}"));
    }
    Ok(run)
}

fn standard_input(args: &RunArgs, place: &Place) -> Result<Sources, Failure> {
    if args.paths.len() > 1 {
        return Err(Failure::Usage("`-` stands alone: standard input is checked without other files".to_owned()));
    }
    let Some(name) = &args.stdin_filename else {
        return Err(Failure::Usage(
            "`-` needs --stdin-filename, which says the language and the path to print".to_owned(),
        ));
    };
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().read_to_end(&mut bytes);
    read.map_err(|error| Failure::Io { what: "standard input".to_owned(), error })?;
    Ok(match place.text(name, &bytes) {
        Ok(input) => Sources { inputs: vec![input], ..Sources::default() },
        Err(error) => Sources { errors: vec![error], ..Sources::default() },
    })
}
