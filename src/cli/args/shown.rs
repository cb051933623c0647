//! The command line as its pages show it: `-h` has what is typed daily and an example, and fits a
//! screen; `--help` has everything; each command speaks of its own defaults.

use clap::builder::PossibleValue;
use clap::{Command, CommandFactory};

use super::Cli;

/// What `-h` shows, of every command that has it; and in what words, if it has others than `--help`.
const DAILY: [(&str, &str); 44] = [
    ("files", ""),
    ("id_field", "Field with the id [default: url, else id]"),
    ("text_field", "Field with the text, or several: A,B"),
    (
        "group_by",
        "Do not compare within one dir, field:NAME or host",
    ),
    ("template", "Take what a hand-out has out of every document"),
    ("shingle_words", "Words per shingle, or N-M [default: 5]"),
    ("shingle_chars", ""),
    (
        "shingle_code",
        "Tokens of code per shingle, instead of words",
    ),
    ("score", ""),
    ("threshold", "The least score, at most 1 [default: 0.75]"),
    ("hashes", "Positions in a signature [default: 128]"),
    ("against", "Compare with these documents; repeatable"),
    ("format", ""),
    ("output", "Write to FILE, whole or not at all"),
    ("top", "Print the N best"),
    ("exit_status", "Exit with 1 if found, 3 if nothing was read"),
    // Of some commands.
    ("cluster", ""),
    ("keep", ""),
    ("pairs", ""),
    ("removed", ""),
    ("annotate", ""),
    ("dry_run", ""),
    ("output_dir", ""),
    ("gold", ""),
    ("weight", ""),
    ("unsorted", ""),
    ("outlinks", ""),
    ("index", ""),
    ("no_pairs", ""),
    ("replace", ""),
    ("skip", ""),
    ("ids", ""),
    ("id", ""),
    ("overlap", ""),
    ("probability", ""),
    ("best", ""),
    ("worst", ""),
    ("anonymise", ""),
    ("no_text", ""),
    ("sweep", ""),
    ("truth", ""),
    ("inject", ""),
    ("plot", ""),
    ("sample", ""),
];

/// What the status 1 of a command says, with `--exit-status`.
const FOUND: [(&str, &str); 6] = [
    (
        "simdup",
        "at least one pair was found that is not in --baseline",
    ),
    ("cluster", "at least one cluster was found"),
    (
        "dedup",
        "at least one document goes, or has a near-duplicate",
    ),
    ("rank", "at least one score that was printed is above 0"),
    ("add", "the new documents bring at least one pair"),
    ("query", "something similar was found"),
];

/// Commands that a page of one screen does not name.
const SELDOM: [&str; 3] = ["worker", "completions", "man"];

impl Cli {
    /// The definition, as it is shown.
    pub(in crate::cli) fn shown() -> Command {
        shown(Self::command())
    }

    /// The same for `-h`, whose page is to fit a screen.
    pub(super) fn shown_briefly() -> Command {
        briefly(Self::shown())
    }
}

/// One heading for all flags, values that are told in a line, and no command that is seldom typed.
fn briefly(command: Command) -> Command {
    let command = command.mut_args(|arg| {
        let arg = arg.help_heading(None);
        match arg.get_id().as_str() {
            "group_by" => arg.value_name("BY"),
            "text_field" => arg.value_name("NAME"),
            "shingle_words" | "shingle_chars" | "shingle_code" => arg.value_name("N"),
            "format" | "score" if !arg.is_hide_possible_values_set() => {
                let told = arg.get_help().map(ToString::to_string).unwrap_or_default();
                let default = told
                    .split_once(" [default: ")
                    .map(|(_, default)| default.trim_end_matches(']'))
                    .and_then(|default| default.split(',').next());
                let values = arg.get_possible_values();
                let names: Vec<&str> = values.iter().map(PossibleValue::get_name).collect();
                let default = default.map(|name| format!(" [default: {name}]"));
                let told = names.join(", ") + &default.unwrap_or_default();
                arg.help(told).hide_possible_values(true)
            }
            _ => arg,
        }
    });
    let names = command
        .get_subcommands()
        .map(|sub| sub.get_name().to_owned());
    let names: Vec<String> = names.collect();
    names
        .into_iter()
        .fold(command, |command, name| {
            let is_seldom = SELDOM.contains(&name.as_str());
            command.mut_subcommand(name, |sub| briefly(sub).hide(is_seldom))
        })
        .disable_help_subcommand(true)
}

/// What the exit status of a command says.
fn statuses(name: &str, skips: bool) -> String {
    let found = FOUND.iter().find(|(command, _)| *command == name);
    let mut table = match found {
        Some((_, what)) => format!(
            "Exit status:\n  0  done: nothing found, or not asked\n  1  with --exit-status: {what}\n"
        ),
        None => "Exit status:\n  0  done\n".to_owned(),
    };
    table += match skips {
        true => "  2  an error, or records or files were skipped (unless --skip-ok)\n",
        false => "  2  an error\n",
    };
    if found.is_some() {
        table += "  3  with --exit-status: no document could be read, as with a wrong path\n";
    }
    table + "  128 and the number of a signal: a shell shows this if the signal ended the run"
}

fn shown(command: Command) -> Command {
    let name = command.get_name().to_owned();
    let example = command.get_after_long_help().and_then(|text| {
        let text = text.to_string();
        let examples = text.split_once("Examples:\n")?.1;
        Some(examples.lines().next()?.trim().to_owned())
    });
    let names = command
        .get_subcommands()
        .map(|sub| sub.get_name().to_owned());
    let names: Vec<String> = names.collect();
    let command = command.mut_args(|arg| {
        let arg = match arg.get_id().as_str() {
            "score" => match name.as_str() {
                "simdup" => arg.help("What a score is [default: minhash]"),
                "cluster" => arg
                    .help("What a score is: jaccard, which is the default")
                    .hide_possible_values(true),
                "dedup" => arg
                    .help("What a score is: jaccard, the default; with --annotate, containment too")
                    .hide_possible_values(true),
                "explain" | "report" => arg.help("What a score is [default: jaccard]"),
                _ => arg,
            },
            _ => arg,
        };
        let id = arg.get_id().as_str();
        match DAILY.iter().find(|(daily, _)| *daily == id) {
            Some((_, "")) => arg,
            Some((_, words)) => {
                let long = arg.get_long_help().or(arg.get_help()).cloned();
                arg.long_help(long.unwrap_or_default()).help(*words)
            }
            None => arg.hide_short_help(true),
        }
    });
    let skips = command.get_arguments().any(|arg| arg.get_id() == "skip_ok");
    let has_status = names.is_empty() || name == "simdup";
    let command = match has_status {
        true => {
            let before = command.get_after_long_help().map(ToString::to_string);
            let before = before.map(|text| text + "\n\n").unwrap_or_default();
            command.after_long_help(before + &statuses(&name, skips))
        }
        false => command,
    };
    let command = match example {
        Some(example) => command.after_help(format!("Example:\n  {example}")),
        None => command,
    };
    names
        .into_iter()
        .fold(command, |command, name| command.mut_subcommand(name, shown))
}
