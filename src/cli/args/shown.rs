//! The command line as its pages show it: `-h` has what is typed daily and an example, `--help` has
//! everything; each command speaks of its own defaults.

use clap::{Command, CommandFactory};

use super::Cli;

/// What `-h` shows, of every command that has it; and in what words, if it has others than `--help`.
const DAILY: [(&str, &str); 44] = [
    ("files", ""),
    ("id_field", "Field with the id [default: url, else id]"),
    ("text_field", "Field with the text; several are joined"),
    (
        "group_by",
        "Do not compare documents of one group: a folder, a field, a host",
    ),
    (
        "template",
        "Take what FILE has, such as a hand-out, out of every document",
    ),
    ("shingle_words", ""),
    ("shingle_chars", ""),
    (
        "shingle_code",
        "Tokens of source code per shingle, instead of words",
    ),
    ("score", ""),
    (
        "threshold",
        "The least score: above 0, at most 1 [default: 0.75]",
    ),
    ("hashes", ""),
    (
        "against",
        "Compare the FILEs with these documents; repeatable",
    ),
    ("format", ""),
    ("output", "Write to FILE, whole or not at all"),
    ("top", "Print the N best"),
    (
        "exit_status",
        "Exit with 1 if something was found, 3 if nothing was read",
    ),
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

impl Cli {
    /// The definition, as it is shown.
    pub(in crate::cli) fn shown() -> Command {
        shown(Self::command())
    }
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
    let command = match example {
        Some(example) => {
            command.after_help(format!("Example:\n  {example}\n\n--help has all flags."))
        }
        None => command,
    };
    names
        .into_iter()
        .fold(command, |command, name| command.mut_subcommand(name, shown))
}
