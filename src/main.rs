//! The program: runs what was typed and turns the outcome into an exit status.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod cli;

use std::process::ExitCode;

use clap::Parser;

/// 0 done; 1 only where `--exit-status` asks for an answer in it; 2 an error,
/// skipped records among them.
fn main() -> ExitCode {
    let typed = cli::Cli::parse();
    match cli::run(typed) {
        Ok(outcome) => outcome.into(),
        Err(error) if error.is_broken_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            cli::report::failure(&error);
            ExitCode::from(2)
        }
    }
}
