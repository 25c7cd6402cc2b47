//! `stormlint check`.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use super::cache::Cache;
use super::{CheckArgs, Failure, Format, RunArgs};
use super::{gate, output, progress};
use crate::check::{self, FileError, Run};
use crate::config::{Config, Layer};
use crate::diagnostic::Level;
use crate::report::{self, Style, visible};
use crate::walk::{self, Lookup, Place, Sources};

pub(super) fn run(args: &CheckArgs) -> Result<ExitCode, Failure> {
    let CheckArgs { run: args, levels, gate } = args;
    let gate = gate::prepare(args, gate)?;
    let fail_on = levels.fail_on.level().filter(|_| !args.exit_zero);
    let mut run = over_files(args, args.choice.layer()?, !args.no_cache && !args.parse_all)?;
    gate.sort(&mut run);
    run.narrow(levels.min_level.into(), fail_on).iter().for_each(tell);
    if let Some(code) = gate.write(&run)? {
        return Ok(code);
    }
    let rules = Config::rules_of_all(run.configs.iter().map(|config| &**config));
    let config = Config { rules, ..Config::default() };
    let report = Report { run: &run, config: &config, args, fail_on, statistics: levels.statistics };
    args.print(|format, style, out| report.write(format, style, out))?;
    if levels.statistics && !args.output_format.is_text() {
        output::aside(|err| report::statistics(&run, err));
    }
    Ok(if !run.errors.is_empty() {
        ExitCode::from(2)
    } else if run.fails(fail_on) {
        ExitCode::from(1)
    } else {
        ExitCode::SUCCESS
    })
}

struct Report<'a> {
    run: &'a Run,
    config: &'a Config,
    args: &'a RunArgs,
    fail_on: Option<Level>,
    statistics: bool,
}

impl Report<'_> {
    fn write(&self, format: Format, style: Style, out: &mut dyn Write) -> io::Result<()> {
        let run = self.run;
        match format {
            Format::Full => report::full::write(run, style, out)?,
            Format::Concise => report::concise::write(run, style, out)?,
            Format::Json => report::json::write(run, out)?,
            Format::Sarif => {
                let category = self.args.sarif_category.as_deref();
                report::sarif::write(run, report::sarif::Options { config: self.config, category }, out)?;
            }
            Format::Github => report::github::write(run, out)?,
            Format::Gitlab => report::gitlab::write(run, out)?,
            Format::Junit => report::junit::write(run, self.fail_on, out)?,
        }
        if self.statistics && format.is_text() {
            report::statistics(run, out)?;
        }
        if format.is_text() && !self.args.quiet { report::summary(run, out) } else { Ok(()) }
    }
}

/// Reads and checks what the arguments name; what cannot be read is told on standard error and kept in the run. What comes
/// from the cache has no sites.
pub(super) fn over_files(args: &RunArgs, layer: Layer, cached: bool) -> Result<Run, Failure> {
    args.check_outputs()?;
    let place = super::place(args.root.as_deref())?;
    let lookup = Arc::new(args.source.lookup(&place, layer, args.force_exclude)?);
    let is_piped = args.paths.iter().any(|path| path == Path::new("-"));
    let Sources { inputs, errors, mut remarks } = if is_piped {
        standard_input(args, &place, &lookup)?
    } else if let Some(name) = &args.stdin_filename {
        let name = name.display();
        return Err(Failure::Usage(format!(
            "--stdin-filename names what `-` reads; to check standard input: stormlint - --stdin-filename {name}"
        )));
    } else {
        walk::sources(&place, &lookup, &args.paths)
    };
    super::sound(&lookup)?;
    // What was left out as asked is no mistake in the paths.
    if inputs.is_empty() && errors.is_empty() && !args.force_exclude {
        output::complain("no Python or Rust sources under the given paths");
    }
    remarks.extend(lookup.remarks());
    remarks.sort();
    remarks.dedup();
    remarks.iter().for_each(tell);
    let cache = (cached && !is_piped && !inputs.is_empty()).then(|| Cache::of(&place, &inputs));
    let known = cache.as_ref().and_then(Cache::read);
    let mut run = match known.filter(|known| known.is_of(&inputs)) {
        Some(known) => Run::again(inputs, known),
        None => {
            let run = progress::shown(args.quiet, |progress| check::check_watched(inputs, progress));
            if let Some((cache, outcome)) = cache.zip(run.outcome()) {
                cache.keep(&outcome);
            }
            run
        }
    };
    run.errors.extend(errors);
    run.errors.sort();
    run.errors.dedup();
    run.errors.iter().for_each(tell);
    Ok(run)
}

fn tell(error: &FileError) {
    output::complain(&format!("{}: {}", visible::line(&error.path), visible::line(&error.message)));
}

fn standard_input(args: &RunArgs, place: &Place, lookup: &Lookup) -> Result<Sources, Failure> {
    if args.paths.len() > 1 {
        return Err(Failure::Usage("`-` stands alone: standard input is checked without other files".to_owned()));
    }
    let Some(name) = &args.stdin_filename else {
        return Err(Failure::Usage(
            "`-` needs --stdin-filename, which says the language and the path to print".to_owned(),
        ));
    };
    let bytes = walk::read_to_end(io::stdin().lock())
        .map_err(|error| Failure::Io { what: "standard input".to_owned(), error })?;
    Ok(match place.text(lookup, name, &bytes) {
        Ok(input) => Sources { inputs: input.into_iter().collect(), ..Sources::default() },
        Err(error) => Sources { errors: vec![error], ..Sources::default() },
    })
}
