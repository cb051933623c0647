//! Commands and ids that were mistyped. The only file that knows strsim.

use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory};

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
        .filter(|command| !command.is_hide_set())
        .map(Command::get_name)
        .filter(|command| is_near(&name, command))
        .min_by_key(|command| strsim::damerau_levenshtein(&name, command))
        .map(str::to_owned)
}

/// What to do instead of a flag that another command has: of a command, these flags.
const INSTEAD: [(&str, &[&str], &str); 7] = [
    (
        "cluster",
        &["--baseline", "--write-baseline", "--with", "--sort"],
        "`simdup -s jaccard -o pairs.tsv` lists pairs with it, and `simdup cluster --pairs pairs.tsv` \
         joins those",
    ),
    (
        "dedup",
        &["--baseline", "--write-baseline"],
        "`simdup -s jaccard` lists the pairs that are not known; what goes is what is similar, known \
         or not",
    ),
    (
        "dedup",
        &["--with", "--sort", "--top", "--digits"],
        "--removed lists what goes, with its keeper and the score",
    ),
    ("dedup", &["--count"], "--dry-run counts"),
    (
        "dedup",
        &["--format", "-f"],
        "documents are written as they came in, and `--removed` is JSONL",
    ),
    (
        "query",
        &["--baseline"],
        "`simdup -s jaccard --against INDEX --baseline FILE` has it",
    ),
    (
        "report",
        &["--top", "--sort"],
        "--max-pairs says how many pairs are shown, the best first",
    ),
];

/// The same error, unless it is of a flag that another command has: then that is said.
pub(super) fn elsewhere(error: clap::Error, cli: &Command, path: &[String]) -> clap::Error {
    let Some(ContextValue::String(typed)) = error
        .get(ContextKind::InvalidArg)
        .filter(|_| error.kind() == ErrorKind::UnknownArgument)
    else {
        return error;
    };
    let flag = typed
        .split(['=', ' '])
        .next()
        .unwrap_or_default()
        .to_owned();
    let mut owners = Vec::new();
    owners_of(&flag, cli, "", &mut owners);
    let own = path
        .iter()
        .try_fold(cli, |command, name| command.find_subcommand(name));
    let own_name = format!("simdup {}", path.join(" "));
    let (Some(name), Some(_), false) = (path.last(), own, owners.is_empty()) else {
        return error;
    };
    let hint = INSTEAD
        .iter()
        .find(|(command, flags, _)| command == name && flags.contains(&&*flag))
        .map_or_else(
            || {
                let owners: Vec<String> = owners.iter().map(|owner| format!("`{owner}`")).collect();
                format!("that is a flag of {}", owners.join(", "))
            },
            |(_, _, hint)| (*hint).to_owned(),
        );
    let says = format!("`{own_name}` has no {flag}: {hint}\n");
    clap::Error::raw(ErrorKind::UnknownArgument, says)
}

/// The commands that have a flag.
fn owners_of(flag: &str, command: &Command, above: &str, owners: &mut Vec<String>) {
    let name = format!("{above} {}", command.get_name())
        .trim_start()
        .to_owned();
    if command
        .get_arguments()
        .any(|arg| !arg.is_hide_set() && is_called(arg, flag))
    {
        owners.push(name.clone());
    }
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        owners_of(flag, sub, &name, owners);
    }
}

/// Whether a flag is typed so.
fn is_called(arg: &clap::Arg, flag: &str) -> bool {
    match flag.strip_prefix("--") {
        Some(long) => arg.get_long() == Some(long),
        None => arg
            .get_short()
            .is_some_and(|short| flag == format!("-{short}")),
    }
}

/// The flag that was meant, perhaps.
pub(super) fn nearest_flag<'a>(
    name: &str,
    flags: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    let distance = |flag: &str| strsim::damerau_levenshtein(&name.replace('_', "-"), flag);
    flags
        .filter(|flag| distance(flag) <= 1 + flag.len() / 4)
        .min_by_key(|flag| distance(flag))
}

/// The id that was meant, perhaps: one that ends or goes on with what was typed, else the one with
/// the fewest letters changed, if these are few; of equal ones the first.
pub(in crate::cli) fn nearest_id<'a>(
    typed: &str,
    ids: impl Iterator<Item = &'a str> + Clone,
) -> Option<&'a str> {
    let is_part = |id: &&str| id.ends_with(typed) || id.starts_with(typed);
    if let Some(id) = ids.clone().find(|id| !typed.is_empty() && is_part(id)) {
        return Some(id);
    }
    let most = 1 + typed.chars().count() / 4;
    let is_as_long = |id: &&str| id.len().abs_diff(typed.len()) <= 4 * most;
    let mut best: Option<(usize, &str)> = None;
    for id in ids.filter(is_as_long) {
        let distance = strsim::osa_distance(typed, id);
        if distance <= most && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, id));
        }
    }
    best.map(|(_, id)| id)
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
    fn ids_are_near_by_their_ends_or_by_few_letters() {
        let ids = [
            "https://a.example/week-12",
            "https://a.example/week-13",
            "x",
        ];
        let near = |typed| nearest_id(typed, ids.into_iter());
        assert_eq!(near("week-13"), Some(ids[1]));
        assert_eq!(near("https://a.exmaple/week-13"), Some(ids[1]));
        assert_eq!(near("https://a.example/week"), Some(ids[0]));
        assert_eq!(near("y"), Some("x"));
        assert_eq!(near("something else"), None);
        assert_eq!(near(""), Some("x"));
    }

    #[test]
    fn no_command_has_a_flag_that_something_is_suggested_instead_of() {
        let cli = Cli::shown();
        for (name, flags, _) in INSTEAD {
            let command = cli.find_subcommand(name).unwrap();
            for flag in flags {
                let has_flag = command.get_arguments().any(|arg| is_called(arg, flag));
                assert!(!has_flag, "{name} {flag}");
            }
        }
    }

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
