//! `stormlint clean`.

use std::path::Path;
use std::process::ExitCode;

use super::{Failure, cache, output};

pub(super) fn run(root: Option<&Path>) -> Result<ExitCode, Failure> {
    let place = super::place(root)?;
    let removed = cache::remove(&place.root)
        .map_err(|error| Failure::Io { what: format!("the cache {}", cache::FOLDER), error })?;
    let folder = place.shown(&place.root.join(cache::FOLDER));
    output::to(
        None,
        |out| if removed { writeln!(out, "removed {folder}") } else { writeln!(out, "there is no {folder}") },
    )?;
    Ok(ExitCode::SUCCESS)
}
