//! The command line as its pages show it: `-h` has what is typed daily and an example, and fits a
//! screen; `--help` has everything; each command speaks of its own defaults.

use std::ffi::OsStr;

use clap::builder::{EnumValueParser, PossibleValue, TypedValueParser};
use clap::{Arg, Command, CommandFactory, ValueEnum};

use super::Cli;
use super::signature::Preset;

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

/// Flags of a group that commands share, which this one of them refuses whatever else is typed.
const REFUSED: [(&str, &str); 3] = [
    ("cluster", "against"),
    ("explain", "items"),
    ("report", "items"),
];

/// Values of such flags.
const HIDDEN_VALUES: [(&str, &str, &[&str]); 6] = [
    ("cluster", "preset", &["technosphere"]),
    ("dedup", "preset", &["technosphere"]),
    ("explain", "preset", &["technosphere"]),
    ("report", "preset", &["technosphere"]),
    ("eval", "preset", &["technosphere"]),
    ("tune", "preset", &["technosphere"]),
];

/// Parses all values of a flag, of which some are not shown: they are refused, with a reason.
#[derive(Clone)]
struct Shown<V: ValueEnum + Clone + Send + Sync + 'static> {
    parser: EnumValueParser<V>,
    hidden: &'static [&'static str],
}

impl<V: ValueEnum + Clone + Send + Sync + 'static> Shown<V> {
    fn without(hidden: &'static [&'static str]) -> Self {
        let parser = EnumValueParser::new();
        Self { parser, hidden }
    }
}

impl<V: ValueEnum + Clone + Send + Sync + 'static> TypedValueParser for Shown<V> {
    type Value = V;

    fn parse_ref(
        &self,
        command: &Command,
        flag: Option<&Arg>,
        value: &OsStr,
    ) -> Result<V, clap::Error> {
        self.parser.parse_ref(command, flag, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let values = self.parser.possible_values()?;
        Some(Box::new(values.map(|value| {
            let is_hidden = self.hidden.contains(&value.get_name());
            value.hide(is_hidden)
        })))
    }
}

/// These words, with the default that a flag's own help has, if it has another one or none.
fn with_own_default(words: &str, own: &str) -> String {
    let default = |help: &str| {
        let (_, behind) = help.split_once(" [default: ")?;
        Some(behind.split_once(']')?.0.to_owned())
    };
    match (default(words), default(own)) {
        (Some(told), Some(own)) if own.starts_with(&told) => words.to_owned(),
        (Some(_), own) => {
            let words = words.split(" [default: ").next().unwrap_or_default();
            own.map_or(words.to_owned(), |own| format!("{words} [default: {own}]"))
        }
        (None, _) => words.to_owned(),
    }
}

/// Says in the help of a flag that its default is what an index was built with.
fn with_default_of_index(arg: Arg) -> Arg {
    const DEFAULT: &str = " [default: that of the index]";
    let own = arg.get_long_help().or(arg.get_help());
    let own = own.map(ToString::to_string).unwrap_or_default();
    let help = match own.split_once(" [default: ") {
        Some((before, behind)) => {
            let behind = behind.split_once(']').map_or("", |(_, behind)| behind);
            format!("{before}{DEFAULT}{behind}")
        }
        None => own + DEFAULT,
    };
    arg.help(help).long_help(None).hide_default_value(true)
}

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
            command.mut_subcommand(name, |sub| {
                let is_hidden = is_seldom || sub.is_hide_set();
                briefly(sub).hide(is_hidden)
            })
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
    table + "  128+N: signal N ended the run (as shells report it)"
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
        let arg = match (name.as_str(), arg.get_id().as_str()) {
            ("simdup", "score") => arg.help("What a score is [default: minhash]"),
            ("cluster", "score") => arg
                .help("What a score is: jaccard, which is the default")
                .hide_possible_values(true),
            ("dedup", "score") => arg
                .help("What a score is: jaccard, the default; with --annotate, containment too")
                .hide_possible_values(true),
            ("explain" | "report", "score") => arg.help("What a score is [default: jaccard]"),
            ("add" | "query", "id_field" | "text_field" | "shingle_words") => {
                with_default_of_index(arg)
            }
            ("worker", "score") => {
                arg.help("What a score is [default: minhash with --for pairs, else jaccard]")
            }
            _ => arg,
        };
        let id = arg.get_id().as_str();
        if REFUSED.contains(&(name.as_str(), id)) {
            return arg.hide(true);
        }
        let arg = match HIDDEN_VALUES
            .iter()
            .find(|(of, flag, _)| (*of, *flag) == (&name, id))
        {
            Some((.., values)) if id == "preset" => {
                arg.value_parser(Shown::<Preset>::without(values))
            }
            _ => arg,
        };
        let id = arg.get_id().as_str();
        match DAILY.iter().find(|(daily, _)| *daily == id) {
            Some((_, "")) => arg,
            // Of a stage it is a directory.
            Some(("output", _)) if name == "worker" => arg,
            Some((_, words)) => {
                let long = arg
                    .get_long_help()
                    .or(arg.get_help())
                    .cloned()
                    .unwrap_or_default();
                let brief = with_own_default(words, &long.to_string());
                arg.long_help(long).help(brief)
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::ffi::OsString;

    use clap::builder::PossibleValue;
    use clap::error::ErrorKind;

    use super::super::Command as Typed;
    use super::super::IndexCommand;
    use super::*;
    use crate::cli::Failure;

    /// A call of each command with nothing but what it needs.
    const CALLS: [(&str, &str); 19] = [
        ("simdup", "tests/data/homework"),
        ("simdup sketch", "tests/data/homework"),
        ("simdup cluster", "tests/data/homework"),
        ("simdup dedup", "tests/data/homework"),
        (
            "simdup rank",
            "--gold tests/data/gold.txt tests/data/homework",
        ),
        ("simdup index build", "none.idx tests/data/homework"),
        ("simdup index add", "none.idx tests/data/homework"),
        ("simdup index remove", "none.idx id"),
        ("simdup index info", "none.idx"),
        ("simdup index check", "none.idx"),
        ("simdup index compact", "none.idx"),
        ("simdup index export", "none.idx"),
        ("simdup query", "none.idx tests/data/homework"),
        ("simdup explain", "id1 id2 tests/data/homework"),
        ("simdup report", "-o none.html tests/data/homework"),
        ("simdup eval", "tests/data/homework"),
        ("simdup tune", "tests/data/homework"),
        ("simdup completions", "bash"),
        ("simdup man", ""),
    ];

    /// The same where no FILE or ID is named.
    const OTHER_CALLS: [(&str, &str); 3] = [
        ("simdup cluster", ""),
        ("simdup query", "none.idx"),
        ("simdup explain", "--best 2 tests/data/homework"),
    ];

    /// Flags that another one may need beside it.
    const COMPANIONS: [&str; 21] = [
        "",
        "-f jsonl",
        "-s jaccard",
        "-s jaccard -f jsonl",
        "-s jaccard --recall 0.9",
        "--rows 2 -s jaccard",
        "--bands 2 -s jaccard",
        "--rows 2",
        "--bands 2",
        "--shingle-code 8",
        "--files-from none",
        "--pre cat",
        "--anonymise",
        "--annotate",
        "--overlap 20",
        "--outlinks",
        "--weight tfidf",
        "--sweep hashes",
        "--sweep bands",
        "--best 3",
        "--against tests/data/homework",
    ];

    /// Values of all kinds.
    const VALUES: [&str; 16] = [
        "2",
        "0.5",
        "2-3",
        "field",
        "a=b",
        "utf-8",
        "host",
        "512M",
        "text",
        "shared",
        "max:date",
        ",",
        "none.csv",
        "english",
        "jaccard",
        "tests/data/gold.txt",
    ];

    /// The settings of a call, if it could run.
    fn settings(words: &str) -> Result<String, Option<ErrorKind>> {
        let words = words.split_whitespace().map(OsString::from).collect();
        let mut cli = Cli::read(words).map_err(|error| Some(error.kind()))?;
        // `--files-from none` is there for `-0`.
        let lists = cli.list_files();
        if !matches!(&lists, Err(Failure::Usage(told)) if told.contains("--files-from none")) {
            lists.map_err(|_| None)?;
        }
        cli.check().map_err(|_| None)?;
        let settings = match &cli.command {
            None => cli.pairs.settings(),
            Some(Typed::Sketch(args)) => args.settings(),
            Some(Typed::Cluster(args)) if args.pairs.is_none() => args.settings(),
            Some(Typed::Dedup(args)) => args.settings(),
            Some(Typed::Rank(args)) => args.settings(),
            Some(Typed::Query(args)) => args.settings(),
            Some(Typed::Explain(args)) => args.settings(),
            Some(Typed::Report(args)) => args.settings(),
            Some(Typed::Eval(args)) => args.settings(),
            Some(Typed::Tune(args)) => args.settings(),
            Some(Typed::Index(command)) => match &**command {
                IndexCommand::Build(args) => args.settings(),
                IndexCommand::Add(args) => args.settings(),
                _ => return Ok(String::new()),
            },
            _ => return Ok(String::new()),
        };
        settings
            .map(|settings| format!("{settings:?}"))
            .map_err(|_| None)
    }

    /// Each command with its call, as its two pages show it.
    fn for_each_command(mut each: impl FnMut(&str, &str, &Command)) {
        for cli in [Cli::shown(), Cli::shown_briefly()] {
            for (path, call) in CALLS {
                let names = path.split(' ').skip(1);
                let command =
                    names.fold(&cli, |command, name| command.find_subcommand(name).unwrap());
                each(path, call, command);
            }
        }
    }

    /// The flags that are shown, but for `--df`: it needs a file that `rank` wrote.
    fn flags(command: &Command) -> impl Iterator<Item = (&Arg, String)> {
        let is_tried = |flag: &&Arg| !flag.is_hide_set() && flag.get_id() != "df";
        let flags = command.get_arguments().filter(is_tried);
        flags.filter_map(|flag| Some((flag, format!("--{}", flag.get_long()?))))
    }

    #[test]
    fn every_command_is_tried() {
        fn add(command: &Command, above: &str, paths: &mut BTreeSet<String>) {
            let path = format!("{above} {}", command.get_name()).trim().to_owned();
            for sub in command.get_subcommands() {
                add(sub, &path, paths);
            }
            // A stage has its own tests.
            if path != "simdup index" && path != "simdup worker" {
                paths.insert(path);
            }
        }
        let mut paths = BTreeSet::new();
        add(&Cli::shown(), "", &mut paths);
        assert_eq!(paths, CALLS.map(|(path, _)| path.to_owned()).into());
    }

    #[test]
    fn every_flag_that_is_shown_is_accepted() {
        use ErrorKind::{DisplayHelp, DisplayVersion, InvalidValue, ValueValidation};
        let is_accepted = |path: &str, call: &str, way: &str| {
            let other_call = OTHER_CALLS.iter().find(|(other, _)| *other == path);
            let calls = std::iter::once(call).chain(other_call.map(|(_, call)| *call));
            for (companion, call) in COMPANIONS
                .into_iter()
                .flat_map(|one| calls.clone().map(move |call| (one, call)))
            {
                match settings(&format!("{path} {call} {way} {companion}")) {
                    Ok(_) | Err(Some(DisplayHelp | DisplayVersion)) => return true,
                    Err(Some(InvalidValue | ValueValidation)) if companion.is_empty() => {
                        return false;
                    }
                    Err(_) => {}
                }
            }
            false
        };
        let mut tried = BTreeSet::new();
        let mut refused = Vec::new();
        for_each_command(|path, call, command| {
            for (flag, name) in flags(command) {
                let values = flag.get_possible_values();
                let shown = values.iter().filter(|value| !value.is_hide_set());
                let shown: Vec<&str> = match flag.is_hide_possible_values_set() {
                    true => Vec::new(),
                    false => shown.map(PossibleValue::get_name).collect(),
                };
                // Each way to type it; of values that nobody lists, one.
                let ways: Vec<Vec<String>> = match (flag.get_action().takes_values(), &shown[..]) {
                    (false, _) => vec![vec![name]],
                    (true, []) => {
                        vec![
                            VALUES
                                .iter()
                                .map(|value| format!("{name}={value}"))
                                .collect(),
                        ]
                    }
                    (true, shown) => shown
                        .iter()
                        .map(|value| vec![format!("{name}={value}")])
                        .collect(),
                };
                for way in ways {
                    if tried.insert(format!("{path} {}", way[0]))
                        && !way.iter().any(|way| is_accepted(path, call, way))
                    {
                        refused.push(format!("{path} {}", way[0]));
                    }
                }
            }
        });
        assert!(refused.is_empty(), "{refused:#?}");
    }

    #[test]
    fn every_default_that_is_shown_holds() {
        let mut tried = BTreeSet::new();
        let mut wrong = Vec::new();
        for_each_command(|path, call, command| {
            for (flag, name) in flags(command) {
                let helps = [flag.get_help(), flag.get_long_help()];
                let told = helps.into_iter().flatten().filter_map(|help| {
                    let help = help.to_string();
                    let told = help.split_once("[default: ")?.1;
                    let told = told.split([';', ']']).next()?;
                    Some(told.split(", or as ").next()?.to_owned())
                });
                let own = flag.get_default_values().iter();
                let own = own.map(|value| value.to_string_lossy().into_owned());
                // Others are described, not named.
                let is_named = |value: &String| {
                    !value.contains([' ', ',']) && value != "found" && value != "all"
                };
                for value in told.chain(own).filter(is_named) {
                    let way = format!("{name}={value}");
                    if !tried.insert(format!("{path} {way}")) {
                        continue;
                    }
                    let holds = COMPANIONS.iter().any(|companion| {
                        let without = settings(&format!("{path} {call} {companion}"));
                        let with = settings(&format!("{path} {call} {way} {companion}"));
                        with.is_ok() && with == without
                    });
                    if !holds {
                        wrong.push(format!("{path} {way}"));
                    }
                }
            }
        });
        assert!(wrong.is_empty(), "{wrong:#?}");
        assert!(tried.len() > 100, "{}", tried.len());
    }

    #[test]
    fn a_brief_default_is_the_own_one() {
        for (words, own, shown) in [
            (
                "Score [default: 0.75]",
                "T [default: 0.75; 0.3 so]",
                "Score [default: 0.75]",
            ),
            (
                "Score [default: 0.75]",
                "T [default: other]",
                "Score [default: other]",
            ),
            ("Score [default: 0.75]", "T", "Score"),
            ("Score", "T [default: 1]", "Score"),
        ] {
            assert_eq!(with_own_default(words, own), shown);
        }
    }
}
