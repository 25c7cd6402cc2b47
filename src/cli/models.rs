//! `stormlint models`.

use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;

use super::{Failure, SourceArgs, TableFormat, output, place, sound};
use crate::config::{Config, Layer};
use crate::models::own::OwnFile;
use crate::models::{self, AllModels};
use crate::report::libraries::{self, Known};
use crate::report::{examples, visible};
use crate::source::Language;
use crate::spelling;

#[derive(Debug, Args)]
pub(super) struct ModelsArgs {
    /// A library, by its name or by what is imported [default: a list of all]
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// How to print it
    #[arg(long, value_enum, default_value_t = TableFormat::Full, value_name = "FORMAT")]
    output_format: TableFormat,
    #[command(flatten)]
    source: SourceArgs,
    /// Run the examples in the model files of the configuration
    #[arg(long, conflicts_with_all = ["name", "output_format"])]
    test: bool,
}

pub(super) fn run(args: &ModelsArgs) -> Result<ExitCode, Failure> {
    let place = place(None)?;
    let lookup = args.source.lookup(&place, Layer::default(), false)?;
    let own = lookup.models(&place.cwd);
    sound(&lookup)?;
    if args.test {
        return test(&lookup.model_files(&place.cwd), own);
    }
    let models = own.as_deref().unwrap_or_else(|| AllModels::builtin());
    let mut all = Vec::new();
    for language in [Language::Python, Language::Rust] {
        let (models, built_in) = (models.of(language), AllModels::builtin().of(language).libraries());
        for library in models.libraries() {
            all.push(Known { language, library, models, built_in: built_in.contains(library) });
        }
    }
    all.sort_by_key(|known| (&known.library.name, known.language, &known.library.file));
    if let Some(name) = &args.name {
        let is_it = |known: &Known<'_>| *known.library.name == **name || known.library.imports.contains(name);
        let names: Vec<String> = all.iter().map(|known| known.library.name.to_string()).collect();
        all.retain(is_it);
        if all.is_empty() {
            let near = spelling::nearest(name, names.iter().map(String::as_str));
            let near = near.map_or_else(
                || "`stormlint models` lists those that are; docs/models.md says how to describe another".to_owned(),
                |near| format!("did you mean `{near}`?"),
            );
            return Err(Failure::Usage(format!("nothing is known of a library `{name}`; {near}")));
        }
    }
    let whole = args.name.is_some();
    output::to(None, |out| match args.output_format {
        TableFormat::Full if whole => libraries::full(&all, out),
        TableFormat::Full => libraries::list(&all, out),
        TableFormat::Json => libraries::json(&all, whole, out),
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Runs the examples of model files; ends with 1 where one yields something else than it says.
fn test(files: &[OwnFile], models: Option<Arc<AllModels>>) -> Result<ExitCode, Failure> {
    let config = Arc::new(Config { models, ..Config::default() });
    let (mut run, mut faults) = (0, Vec::new());
    for file in files {
        let (Some(language), (Some(parsed), _)) = (file.language(), models::parse(&file.name, &file.text)) else {
            continue;
        };
        for example in &parsed.examples {
            run += 1;
            let found = examples::faults(example, language, &config);
            faults.extend(found.into_iter().map(|fault| format!("{}:{}: {fault}", file.name, example.line)));
        }
    }
    output::to(None, |out| {
        for fault in &faults {
            writeln!(out, "{}", visible::line(fault))?;
        }
        let examples = format!("{run} example{} in {} file{}", plural(run), files.len(), plural(files.len()));
        let outcome = if faults.is_empty() { "as they say" } else { "not all as they say" };
        writeln!(out, "Ran {examples}: {outcome}.")
    })?;
    Ok(if faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn plural(n: usize) -> &'static str {
    if n == 1 { "" } else { "s" }
}
