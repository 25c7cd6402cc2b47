//! The command-line program.

use std::process::ExitCode;

/// The analysis makes and drops small values by the million, on all threads at once.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    stormlint::cli::run()
}
