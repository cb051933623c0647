//! What was typed, as it stands on the command line.

use std::ffi::OsString;

use clap::parser::ValueSource;
use clap::{ArgMatches, Command, ValueHint};

/// A flag that was typed, or the files.
#[derive(Debug)]
#[cfg_attr(
    not(feature = "worker"),
    allow(dead_code, reason = "only stages are typed once more elsewhere")
)]
pub(in crate::cli) struct Flag {
    pub(super) id: String,
    /// As it is typed.
    pub(in crate::cli) name: String,
    /// As they were typed; none of a flag that takes none.
    values: Vec<OsString>,
    /// The values are paths.
    has_paths: bool,
}

impl Flag {
    /// How the same is typed elsewhere, as arguments: paths mean the same from every directory.
    /// Nothing, if it cannot be said in UTF-8.
    #[cfg(feature = "worker")]
    pub(in crate::cli) fn typed_elsewhere(&self) -> Option<Vec<String>> {
        if self.values.is_empty() {
            return Some(vec![self.name.clone()]);
        }
        let from_anywhere = |value: &OsString| match self.has_paths && value != "-" {
            true => std::path::absolute(value).map_or_else(|_| value.clone(), Into::into),
            false => value.clone(),
        };
        let typed = |value: &OsString| {
            let value = from_anywhere(value);
            Some(format!("{}={}", self.name, value.to_str()?))
        };
        self.values.iter().map(typed).collect()
    }
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
            values: match flag.get_action().takes_values() {
                true => {
                    let values = matches.get_raw(flag.get_id().as_str());
                    values.into_iter().flatten().map(Into::into).collect()
                }
                false => Vec::new(),
            },
            has_paths: flag.get_value_hint() == ValueHint::AnyPath,
        })
        .collect()
}
