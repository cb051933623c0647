//! Commands that were mistyped. The only file that knows strsim.

use std::path::Path;

use clap::CommandFactory;

use super::Cli;
use crate::cli::Failure;

/// Commands shorter than this are mistyped in one letter, longer ones in two.
const LONG: usize = 5;

/// Refuses a first file that is not there and reads like a command.
pub(super) fn check(file: &Path) -> Result<(), Failure> {
    let Some(name) = file.to_str().filter(|_| !file.exists()) else {
        return Ok(());
    };
    Err(Failure::Usage(match nearest_command(name) {
        None => return Ok(()),
        Some(command) if command == name => format!(
            "flags go behind the command: `simdup {command} …`; for a file of that name, write \
             ./{command}"
        ),
        Some(command) => {
            format!("{name}: no such command or file; did you mean `{command}`?")
        }
    }))
}

/// The command that was meant, perhaps.
pub(in crate::cli) fn nearest_command(name: &str) -> Option<String> {
    let name = name.to_ascii_lowercase();
    if !name.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return None;
    }
    let mut cli = Cli::command();
    cli.build();
    cli.get_subcommands()
        .map(clap::Command::get_name)
        .filter(|command| is_near(&name, command))
        .min_by_key(|command| strsim::damerau_levenshtein(&name, command))
        .map(str::to_owned)
}

fn is_near(name: &str, command: &str) -> bool {
    let most = if command.len() < LONG { 1 } else { 2 };
    let is_start = command.len() >= LONG && name.starts_with(command);
    is_start || strsim::damerau_levenshtein(name, command) <= most
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_near_is_found() {
        for (name, command) in [
            ("clsuter", Some("cluster")),
            ("dedupe", Some("dedup")),
            ("deduplicate", Some("dedup")),
            ("Sketch", Some("sketch")),
            ("hlep", Some("help")),
            ("data", None),
            ("dedup.jsonl", None),
            ("é", None),
            ("", None),
        ] {
            assert_eq!(nearest_command(name).as_deref(), command, "{name}");
        }
    }
}
