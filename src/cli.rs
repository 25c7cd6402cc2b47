//! The command line: what can be asked, and how the process ends.
//!
//! Exit codes, the same for every format: 0 nothing at warning or above (`--fail-on`), 1 something, 2 wrong usage, a
//! file that could not be read or checked, or an output that could not be written.

mod cache;
mod check;
mod clean;
mod completions;
mod config;
mod explain;
mod file;
mod gate;
mod inventory;
mod models;
mod output;
mod outputs;
mod progress;
mod rules;

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::config::{self as configuration, Layer, Said};
use crate::diagnostic::{Confidence, Level};
use crate::report::visible;
use crate::walk::{Asked, Lookup, Place};

/// Finds the retry loops that turn a brief fault into a retry storm, in Python and Rust sources.
#[derive(Debug, Parser)]
#[command(name = "stormlint", version, args_conflicts_with_subcommands = true)]
struct Cli {
    #[command(subcommand)]
    verb: Option<Verb>,
    #[command(flatten)]
    check: CheckArgs,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Report the faults of all retries (the default)
    Check(CheckArgs),
    /// List all retries with their policies, faults or not
    Inventory(RunArgs),
    /// Print a rule's page
    Explain {
        /// The rule's name
        rule: String,
    },
    /// Print what holds for a file, and where that is set
    Config(config::ConfigArgs),
    /// List what is known of libraries
    Models(models::ModelsArgs),
    /// List all rules
    Rules {
        /// How to print them
        #[arg(long, value_enum, default_value_t = TableFormat::Full, value_name = "FORMAT")]
        output_format: TableFormat,
    },
    /// Remove what earlier runs left to be faster: the folder `.stormlint_cache`
    Clean {
        /// The repository's root, where it lies [default: the nearest folder with .git]
        #[arg(long, value_name = "FOLDER")]
        root: Option<PathBuf>,
    },
    /// Print a script that makes a shell complete stormlint's arguments
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

/// What `check` can be told.
#[derive(Debug, Args)]
struct CheckArgs {
    #[command(flatten)]
    run: RunArgs,
    #[command(flatten)]
    levels: LevelArgs,
    #[command(flatten)]
    gate: gate::GateArgs,
}

/// What is shown of the findings, and what fails the run.
#[derive(Debug, Args)]
struct LevelArgs {
    /// Show findings of this level and above
    #[arg(long, value_enum, default_value_t = Grade::Note, value_name = "LEVEL")]
    min_level: Grade,
    /// End with 1 if a finding of this level or above is shown
    #[arg(long, value_enum, default_value_t = FailOn::Warning, value_name = "LEVEL", conflicts_with = "exit_zero")]
    fail_on: FailOn,
    /// Count the findings of each rule
    #[arg(long)]
    statistics: bool,
}

/// What a run over files can be told.
#[derive(Debug, Args)]
struct RunArgs {
    /// Files and folders; `-` reads standard input
    #[arg(default_value = ".", value_name = "PATHS")]
    paths: Vec<PathBuf>,
    /// How to print
    #[arg(long, value_enum, default_value_t = Format::Full, value_name = "FORMAT")]
    output_format: Format,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output_file: Option<PathBuf>,
    /// Write to a file as well, in its own format; may be repeated
    #[arg(long, value_name = "FORMAT=FILE", value_parser = OsStringValueParser::new().try_map(|given| outputs::parse(&given)))]
    output: Vec<outputs::Output>,
    #[command(flatten)]
    source: SourceArgs,
    #[command(flatten)]
    choice: ChoiceArgs,
    /// Leave out what the configuration excludes even if it is named
    #[arg(long)]
    force_exclude: bool,
    /// Exit with 0 although there are findings
    #[arg(long)]
    exit_zero: bool,
    /// Parse every function, not only those that can matter
    #[arg(long)]
    parse_all: bool,
    /// Look at everything anew, and keep nothing for the next run
    #[arg(long)]
    no_cache: bool,
    /// The repository's root, which SARIF's paths are relative to [default: the nearest folder with .git]
    #[arg(long, value_name = "FOLDER")]
    root: Option<PathBuf>,
    /// The name under which a text from standard input is checked
    #[arg(long, value_name = "NAME")]
    stdin_filename: Option<PathBuf>,
    /// `automationDetails.id` of SARIF, to tell several runs over one repository apart
    #[arg(long, value_name = "ID")]
    sarif_category: Option<String>,
    /// When to use colours
    #[arg(long, value_enum, default_value_t = Colour::Auto, value_name = "WHEN")]
    color: Colour,
    /// Leave out the closing line
    #[arg(short, long)]
    quiet: bool,
}

/// Where the configuration comes from.
#[derive(Debug, Args)]
struct SourceArgs {
    /// Read this configuration file, and no other [default: the nearest one of each checked file]
    #[arg(long, value_name = "FILE", conflicts_with = "isolated")]
    config: Option<PathBuf>,
    /// Read no configuration files
    #[arg(long)]
    isolated: bool,
}

/// What the command line says more than a configuration file.
#[derive(Debug, Args)]
struct ChoiceArgs {
    /// Only these rules or groups (`all`, `default`)
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    select: Vec<String>,
    /// Not these rules or groups
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    ignore: Vec<String>,
    /// Show findings that are at least so sure [default: as configured, else medium]
    #[arg(long, value_enum, value_name = "LEVEL")]
    min_confidence: Option<Sureness>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// With the source text and the failure path
    Full,
    /// A line each
    Concise,
    /// For other programs
    Json,
    /// SARIF 2.1.0, for code scanning and editors
    Sarif,
    /// Annotations of GitHub's workflows
    Github,
    /// GitLab's Code Quality
    Gitlab,
    /// JUnit's XML, for build servers
    Junit,
}

impl Format {
    fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// Whether more lines may follow, as no document's do.
    fn is_text(self) -> bool {
        matches!(self, Format::Full | Format::Concise | Format::Github)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Grade {
    Note,
    Warning,
    Error,
}

impl From<Grade> for Level {
    fn from(grade: Grade) -> Level {
        match grade {
            Grade::Note => Level::Note,
            Grade::Warning => Level::Warning,
            Grade::Error => Level::Error,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FailOn {
    Note,
    Warning,
    Error,
    Never,
}

impl FailOn {
    fn level(self) -> Option<Level> {
        match self {
            FailOn::Note => Some(Level::Note),
            FailOn::Warning => Some(Level::Warning),
            FailOn::Error => Some(Level::Error),
            FailOn::Never => None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TableFormat {
    /// A table
    Full,
    /// For other programs
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Sureness {
    Low,
    Medium,
    High,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Colour {
    Auto,
    Always,
    Never,
}

/// Why a command could not be carried out. Printed, and the process ends with 2.
#[derive(Debug, thiserror::Error)]
enum Failure {
    /// Wrong usage.
    #[error(transparent)]
    Name(#[from] configuration::UnknownName),
    /// Configuration or model files; one line each.
    #[error("{}", .0.join("\nstormlint: "))]
    Configuration(Vec<String>),
    /// Changed lines could not be found out.
    #[error(transparent)]
    Changes(#[from] crate::vcs::Error),
    /// Wrong usage.
    #[error("{0}")]
    Usage(String),
    /// A file that was to be written.
    #[error("cannot write `{}`: {text}", visible::line(&file.to_string_lossy()))]
    Unwritten {
        /// Its path.
        file: PathBuf,
        /// What went wrong.
        text: String,
    },
    /// Standard output or input.
    #[error("{what}: {error}")]
    Io {
        /// What was read or written.
        what: String,
        /// What went wrong.
        error: std::io::Error,
    },
}

/// Carries out the command line of this process.
#[must_use]
pub fn run() -> ExitCode {
    crate::check::tell_panics(output::complain);
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return refuse(&error),
    };
    let done = match cli.verb {
        None => check::run(&cli.check),
        Some(Verb::Check(args)) => check::run(&args),
        Some(Verb::Inventory(args)) => inventory::run(&args),
        Some(Verb::Explain { rule }) => explain::run(&rule),
        Some(Verb::Config(args)) => config::run(&args),
        Some(Verb::Models(args)) => models::run(&args),
        Some(Verb::Rules { output_format }) => rules::run(output_format),
        Some(Verb::Clean { root }) => clean::run(root.as_deref()),
        Some(Verb::Completions { shell }) => completions::run(shell),
    };
    done.unwrap_or_else(|failure| {
        output::complain(&failure.to_string());
        ExitCode::from(2)
    })
}

/// Help, the version, or what is wrong with the arguments. What they hold (names of files among it) commands no terminal.
fn refuse(error: &clap::Error) -> ExitCode {
    let printable = |given: OsString| matches!(visible::line(&given.to_string_lossy()), Cow::Borrowed(_));
    if std::env::args_os().all(printable) {
        drop(error.print());
    } else {
        output::aside(|err| err.write_all(visible::lines(&error.to_string()).as_bytes()));
    }
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

impl SourceArgs {
    /// # Errors
    /// The file that is named cannot be read.
    fn lookup(&self, place: &Place, layer: Layer, force_exclude: bool) -> Result<Lookup, Failure> {
        let asked = Asked { file: self.config.clone(), isolated: self.isolated, layer, force_exclude };
        let lookup = Lookup::new(place, asked);
        sound(&lookup)?;
        Ok(lookup)
    }
}

/// Fails where something is wrong with a configuration that was read so far.
fn sound(lookup: &Lookup) -> Result<(), Failure> {
    let errors: Vec<String> = lookup.errors().iter().map(|error| visible::line(error).into_owned()).collect();
    if errors.is_empty() { Ok(()) } else { Err(Failure::Configuration(errors)) }
}

impl ChoiceArgs {
    fn layer(&self) -> Result<Layer, Failure> {
        let said = |names: &[String]| -> Result<Vec<Said<String>>, Failure> {
            for name in names {
                configuration::known(crate::rules::ALL, name)?;
            }
            Ok(names.iter().map(|name| Said { value: name.clone(), line: 0 }).collect())
        };
        let select = said(&self.select)?;
        let confidence = self.min_confidence.map(|least| match least {
            Sureness::Low => Confidence::Low,
            Sureness::Medium => Confidence::Medium,
            Sureness::High => Confidence::High,
        });
        Ok(Layer {
            select: (!select.is_empty()).then_some(Said { value: select, line: 0 }),
            ignore: said(&self.ignore)?,
            min_confidence: confidence.map(|value| Said { value, line: 0 }),
            ..Layer::default()
        })
    }
}

/// The working directory and the root of its repository.
fn place(root: Option<&Path>) -> Result<Place, Failure> {
    let cwd =
        std::env::current_dir().map_err(|error| Failure::Io { what: "the working directory".to_owned(), error })?;
    if let Some(root) = root.filter(|root| !cwd.join(root).is_dir()) {
        return Err(Failure::Usage(format!("--root takes a folder, and `{}` is none", root.display())));
    }
    Ok(Place::new(&cwd, root))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
