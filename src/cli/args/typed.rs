//! What was typed, as it stands on the command line.

use clap::parser::ValueSource;
use clap::{ArgMatches, Command};

/// A flag that was typed, or the files.
#[derive(Debug)]
pub(in crate::cli) struct Flag {
    pub(super) id: String,
    /// As it is typed.
    pub(in crate::cli) name: String,
}

/// The flags of a command that were typed.
pub(super) fn flags(command: &Command, matches: &ArgMatches) -> Vec<Flag> {
    command
        .get_arguments()
        .filter(|flag| {
            let id = flag.get_id().as_str();
            let is_known = matches.try_contains_id(id).is_ok();
            is_known && matches.value_source(id) == Some(ValueSource::CommandLine)
        })
        .map(|flag| Flag {
            id: flag.get_id().to_string(),
            name: match flag.get_long() {
                Some(long) => format!("--{long}"),
                None => "FILE".into(),
            },
        })
        .collect()
}
