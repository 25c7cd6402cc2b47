//! The command line: what can be asked, and how the process ends.
//!
//! Exit codes, the same for every format: 0 nothing at warning or above, 1 something, 2 wrong usage, or a file that
//! could not be read or checked.

mod check;
mod explain;
mod inventory;
mod output;
mod rules;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::config::{self, Config};
use crate::diagnostic::Confidence;
use crate::rules::Limits;

/// Finds the retry loops that turn a brief fault into a retry storm, in Python and Rust sources.
#[derive(Debug, Parser)]
#[command(name = "stormlint", version, args_conflicts_with_subcommands = true)]
struct Cli {
    #[command(subcommand)]
    verb: Option<Verb>,
    #[command(flatten)]
    check: RunArgs,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Report the faults of all retries (the default)
    Check(RunArgs),
    /// List all retries with their policies, faults or not
    Inventory(RunArgs),
    /// Print a rule's page
    Explain {
        /// The rule's name
        rule: String,
    },
    /// List all rules
    Rules {
        /// How to print them
        #[arg(long, value_enum, default_value_t = TableFormat::Full, value_name = "FORMAT")]
        output_format: TableFormat,
    },
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
    /// Only these rules or groups (`all`, `default`)
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    select: Vec<String>,
    /// Not these rules or groups
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    ignore: Vec<String>,
    /// Show findings that are at least so sure
    #[arg(long, value_enum, default_value_t = Sureness::Medium, value_name = "LEVEL")]
    min_confidence: Sureness,
    /// Read no configuration files
    #[arg(long)]
    isolated: bool,
    /// Exit with 0 although there are findings
    #[arg(long)]
    exit_zero: bool,
    /// Parse every function, not only those that can matter
    #[arg(long)]
    parse_all: bool,
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
    Name(#[from] config::UnknownName),
    /// Wrong usage.
    #[error("{0}")]
    Usage(String),
    /// The output or the standard input.
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
    let cli = Cli::parse();
    let done = match cli.verb {
        None => check::run(&cli.check),
        Some(Verb::Check(args)) => check::run(&args),
        Some(Verb::Inventory(args)) => inventory::run(&args),
        Some(Verb::Explain { rule }) => explain::run(&rule),
        Some(Verb::Rules { output_format }) => rules::run(output_format),
    };
    done.unwrap_or_else(|failure| {
        output::complain(&failure.to_string());
        ExitCode::from(2)
    })
}

impl RunArgs {
    fn config(&self) -> Result<Config, Failure> {
        Ok(Config {
            rules: config::select(crate::rules::ALL, &self.select, &self.ignore)?,
            limits: Limits::default(),
            min_confidence: match self.min_confidence {
                Sureness::Low => Confidence::Low,
                Sureness::Medium => Confidence::Medium,
                Sureness::High => Confidence::High,
            },
        })
    }
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
