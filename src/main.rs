//! The program: runs what was typed and turns the outcome into an exit status.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod cli;

use std::process::ExitCode;

/// Exits with 0: done; 1: found, and 3: no document could be read, both only with `--exit-status`;
/// 2: an error, skipped records among them unless `--skip-ok`. A signal that ends the run ends the
/// process.
fn main() -> ExitCode {
    match cli::run() {
        Ok(outcome) => outcome.into(),
        Err(failure) if failure.is_end_of_interest() => ExitCode::SUCCESS,
        Err(failure) => {
            cli::report::failure(&failure);
            failure.status()
        }
    }
}
