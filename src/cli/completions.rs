//! `stormlint completions`.

use std::process::ExitCode;

use clap::CommandFactory;

use super::{Cli, Failure, output};

pub(super) fn run(shell: clap_complete::Shell) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "stormlint", &mut script);
    output::to(None, |out| out.write_all(&script))?;
    Ok(ExitCode::SUCCESS)
}
