//! What was typed, as it stands on the command line.

use std::ffi::OsString;

use clap::parser::ValueSource;
use clap::{ArgMatches, Command, ValueHint};

/// What files are called, which have no flag.
const FILE: &str = "FILE";

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
    /// A value stands behind `=` only.
    has_equals: bool,
    /// Its heading in the help.
    heading: String,
}

impl Flag {
    /// Whether it says what is read or what a shingle is.
    pub(in crate::cli) fn is_of_documents(&self) -> bool {
        ["Input", "Shingles"].contains(&self.heading.as_str())
    }

    /// As it is typed in a shell.
    pub(in crate::cli) fn in_shell(&self) -> String {
        if self.values.is_empty() {
            return self.name.clone();
        }
        let is_file = self.is_file();
        let typed = |value: &OsString| {
            let value = value.to_string_lossy();
            match value.starts_with('-') && value.len() > 1 {
                true if is_file => format!("./{value}"),
                false if is_file => value.into_owned(),
                true => format!("{}={value}", self.name),
                false if self.has_equals => format!("{}={value}", self.name),
                false => format!("{}\0{value}", self.name),
            }
        };
        let typed: Vec<String> = self.values.iter().map(typed).collect();
        typed
            .join("\0")
            .split('\0')
            .map(quoted)
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// Whether these are the files.
    pub(in crate::cli) fn is_file(&self) -> bool {
        self.name == FILE
    }

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

/// An argument as a shell takes it for one.
fn quoted(argument: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_=./,:@%+".contains(c);
    match !argument.is_empty() && argument.chars().all(is_plain) {
        true => argument.to_owned(),
        false => format!("'{}'", argument.replace('\'', r"'\''")),
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
                None => FILE.into(),
            },
            values: match flag.get_action().takes_values() {
                true => {
                    let values = matches.get_raw(flag.get_id().as_str());
                    values.into_iter().flatten().map(Into::into).collect()
                }
                false => Vec::new(),
            },
            has_paths: flag.get_value_hint() == ValueHint::AnyPath,
            has_equals: flag.is_require_equals_set(),
            heading: flag.get_help_heading().unwrap_or_default().to_owned(),
        })
        .collect()
}
