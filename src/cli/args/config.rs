//! Settings in a file: TOML whose keys are the long flags. What is typed counts more. The only file
//! that knows toml.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::Path;

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, CommandFactory};
use toml::{Table, Value};

use super::Cli;
use super::mistyped::nearest_flag;
use crate::cli::Failure;

/// Flags that are about the file itself, or end the run.
const NOT_IN_A_FILE: [&str; 4] = ["config", "print-config", "help", "version"];

/// The command line with what `--config` says, before all that was typed for the command.
pub(in crate::cli) fn expanded(typed: Vec<OsString>) -> Result<Vec<OsString>, Failure> {
    let mut cli = Cli::command();
    cli.build();
    let mut command = &cli;
    let mut start = 1;
    while let Some(found) = typed
        .get(start)
        .and_then(|name| command.find_subcommand(name))
    {
        command = found;
        start += 1;
    }
    let mut behind = typed.get(start..).unwrap_or_default();
    if let Some(end) = behind.iter().position(|typed| typed == "--") {
        behind = &behind[..end];
    }
    let Some(path) = path_of(behind) else {
        return Ok(typed);
    };
    let (before, _) = typed.split_at(start);
    let flags = read(
        Path::new(path),
        command,
        &cli,
        before,
        &typed_names(command, behind),
    )?;
    let (before, behind) = typed.split_at(start);
    Ok([before, &flags, behind].concat())
}

/// The file that was typed last.
fn path_of(typed: &[OsString]) -> Option<&OsStr> {
    let mut path = None;
    for (at, flag) in typed.iter().enumerate() {
        if flag == "--config" {
            path = typed.get(at + 1).map(OsString::as_os_str);
        } else if let Some(value) = flag
            .to_str()
            .and_then(|flag| flag.strip_prefix("--config="))
        {
            path = Some(OsStr::new(value));
        }
    }
    path
}

/// The long names of the flags that were typed.
fn typed_names(command: &Command, typed: &[OsString]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for typed in typed.iter().filter_map(|typed| typed.to_str()) {
        if let Some(long) = typed.strip_prefix("--") {
            let name = long.split_once('=').map_or(long, |(name, _)| name);
            names.insert(name.to_owned());
            continue;
        }
        for short in typed.strip_prefix('-').unwrap_or_default().chars() {
            let Some(flag) = command
                .get_arguments()
                .find(|flag| flag.get_short() == Some(short))
            else {
                break;
            };
            names.extend(flag.get_long().map(str::to_owned));
            // What follows is its value.
            if flag.get_action().takes_values() {
                break;
            }
        }
    }
    names
}

fn read(
    path: &Path,
    command: &Command,
    cli: &Command,
    before: &[OsString],
    typed: &BTreeSet<String>,
) -> Result<Vec<OsString>, Failure> {
    let wrong = |what: String| Failure::Usage(format!("--config {}: {what}", path.display()));
    let text = fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    let table: Table = text.parse().map_err(|error: toml::de::Error| {
        wrong(error.to_string().trim_end().replace('\n', "\nsimdup: "))
    })?;
    let mut flags = Vec::new();
    for (key, value) in &table {
        let Some(flag) = flag_of(command, key) else {
            return Err(wrong(unknown(key, command, cli)));
        };
        if !typed.contains(key) && !has_rival(key, typed) {
            let start = flags.len();
            add(flag, key, value, &mut flags).map_err(wrong)?;
            let alone = before.iter().chain(&flags[start..]);
            check(cli, alone).map_err(|what| wrong(format!("{key}: {what}")))?;
        }
    }
    Ok(flags)
}

/// Flags of which one is meant: if it is typed, the others of a file do not count.
const RIVALS: [&[&str]; 6] = [
    &["shingle-words", "shingle-chars", "shingle-code", "items"],
    &["recall", "bands"],
    &["strict", "skip-ok"],
    &["output", "output-dir"],
    &["annotate", "dry-run", "removed"],
    &["annotate", "output-dir"],
];
/// Where only a number is printed, there is nothing to say of how else.
const BESIDE_COUNT: [&str; 5] = ["format", "sort", "top", "digits", "with"];

/// Whether something is typed that is meant instead of a flag.
fn has_rival(key: &str, typed: &BTreeSet<String>) -> bool {
    let is_typed = |name: &&str| *name != key && typed.contains(*name);
    let has_other = |rivals: &&[&str]| rivals.contains(&key) && rivals.iter().any(is_typed);
    RIVALS.iter().any(has_other)
        || BESIDE_COUNT.contains(&key) && typed.contains("count")
        || key == "count" && BESIDE_COUNT.iter().any(is_typed)
        // Bands come with their rows.
        || key == "rows" && typed.contains("recall")
}

/// What is wrong with the values of flags, whatever else is missing.
fn check<'a>(cli: &Command, flags: impl Iterator<Item = &'a OsString>) -> Result<(), String> {
    use clap::error::ErrorKind;
    let Err(error) = cli.clone().try_get_matches_from(flags) else {
        return Ok(());
    };
    let is_value = matches!(
        error.kind(),
        ErrorKind::InvalidValue | ErrorKind::ValueValidation | ErrorKind::WrongNumberOfValues
    );
    if !is_value {
        return Ok(());
    }
    let told = error.to_string();
    let told = told.strip_prefix("error: ").unwrap_or(&told);
    let told = told.split("\n\n").next().unwrap_or_default();
    let lines: Vec<&str> = told.lines().map(str::trim).collect();
    Err(lines.join(" "))
}

fn flag_of<'a>(command: &'a Command, key: &str) -> Option<&'a Arg> {
    let mut flags = command.get_arguments();
    flags.find(|flag| flag.get_long() == Some(key) && !NOT_IN_A_FILE.contains(&key))
}

/// Appends what a key says as it would be typed.
fn add(flag: &Arg, key: &str, value: &Value, flags: &mut Vec<OsString>) -> Result<(), String> {
    let is_list = matches!(flag.get_action(), ArgAction::Append);
    match value {
        Value::Boolean(false) => {}
        Value::Boolean(true) if !flag.get_action().takes_values() || is_optional(flag) => {
            flags.push(format!("--{key}").into());
        }
        _ if !flag.get_action().takes_values() => {
            return Err(format!("`{key}` is true or false"));
        }
        Value::Array(values) if is_list => {
            for value in values {
                flags.push(format!("--{key}={}", plain(key, value)?).into());
            }
        }
        Value::Array(values) => {
            let values: Result<Vec<String>, String> =
                values.iter().map(|value| plain(key, value)).collect();
            flags.push(format!("--{key}={}", values?.join(",")).into());
        }
        value => flags.push(format!("--{key}={}", plain(key, value)?).into()),
    }
    Ok(())
}

/// Whether a flag may stand without its value.
fn is_optional(flag: &Arg) -> bool {
    flag.get_num_args()
        .is_some_and(|count| count.min_values() == 0)
}

fn plain(key: &str, value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Integer(number) => Ok(number.to_string()),
        Value::Float(number) => Ok(number.to_string()),
        _ => Err(format!("`{key}` is a text, a number, or a list of these")),
    }
}

/// What to say of a key that is no flag of the command.
fn unknown(key: &str, command: &Command, cli: &Command) -> String {
    let name = command.get_bin_name().unwrap_or("simdup");
    let others: Vec<&str> = std::iter::once(cli)
        .chain(cli.get_subcommands())
        .filter(|other| flag_of(other, key).is_some())
        .map(Command::get_name)
        .collect();
    let longs = command.get_arguments().filter_map(Arg::get_long);
    let near = nearest_flag(key, longs.filter(|long| !NOT_IN_A_FILE.contains(long)));
    let remedy = match (near, &others[..]) {
        (_, [_, ..]) => format!("; it is one of {}", others.join(", ")),
        (Some(near), []) => format!("; did you mean `{near}`?"),
        (None, []) => String::new(),
    };
    format!("`{key}` is no flag of {name}{remedy}")
}

/// The flags of a command line as such a file, whether they were typed or stood in one.
pub(super) fn printed(command: &Command, matches: &ArgMatches) -> Result<String, String> {
    let mut lines = format!("# {}\n", command.get_bin_name().unwrap_or("simdup"));
    for flag in command.get_arguments() {
        let (id, Some(key)) = (flag.get_id().as_str(), flag.get_long()) else {
            continue;
        };
        if NOT_IN_A_FILE.contains(&key)
            || matches.try_contains_id(id).is_err()
            || matches.value_source(id) != Some(ValueSource::CommandLine)
        {
            continue;
        }
        let raw = matches.get_raw(id).into_iter().flatten();
        let values: Option<Vec<Value>> = raw.map(|raw| raw.to_str().map(value_of)).collect();
        let values = values.ok_or_else(|| format!("--{key}: the value is not UTF-8"))?;
        let value = match &values[..] {
            _ if !flag.get_action().takes_values() => Value::Boolean(true),
            [] => Value::Boolean(true),
            [value] if !matches!(flag.get_action(), ArgAction::Append) => value.clone(),
            values => Value::Array(values.to_vec()),
        };
        lines += &format!("{key} = {value}\n");
    }
    Ok(lines)
}

/// A number, if it reads back as it was typed.
fn value_of(text: &str) -> Value {
    match (text.parse::<i64>(), text.parse::<f64>()) {
        (Ok(number), _) if number.to_string() == text => Value::Integer(number),
        (_, Ok(number)) if number.is_finite() && format!("{number:?}") == text => {
            Value::Float(number)
        }
        _ => Value::String(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expand(typed: &str, file: &str) -> Result<String, Failure> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("simdup.toml");
        fs::write(&path, file).unwrap();
        let typed = typed.replace("FILE", path.to_str().unwrap());
        let typed = typed.split(' ').map(OsString::from).collect();
        let expanded = expanded(typed)?;
        let words: Vec<_> = expanded.iter().filter_map(|word| word.to_str()).collect();
        Ok(words.join(" ").replace(path.to_str().unwrap(), "FILE"))
    }

    #[test]
    fn what_is_typed_counts_more() {
        let file = "threshold = 0.5\nhashes = 20\nquiet = true\nstrict = false\n";
        for (typed, expected) in [
            (
                "simdup --config FILE docs",
                "simdup --hashes=20 --quiet --threshold=0.5 --config FILE docs",
            ),
            (
                "simdup -qt0.9 --config=FILE docs",
                "simdup --hashes=20 -qt0.9 --config=FILE docs",
            ),
            (
                "simdup cluster --hashes=1 --config FILE -- -t",
                "simdup cluster --quiet --threshold=0.5 --hashes=1 --config FILE -- -t",
            ),
            (
                "simdup docs -- --config FILE",
                "simdup docs -- --config FILE",
            ),
        ] {
            assert_eq!(expand(typed, file).unwrap(), expected);
        }
        let file = "glob = [\"*.c\", \"*.h\"]\ntext-field = [\"title\", \"body\"]\nhtml = true\n";
        assert_eq!(
            expand("simdup --config FILE", file).unwrap(),
            "simdup --glob=*.c --glob=*.h --html --text-field=title,body --config FILE"
        );
    }

    #[test]
    fn what_is_typed_drops_what_it_does_not_go_with() {
        let file = "shingle-words = 3\nformat = 'jsonl'\ndigits = 2\nbands = 4\nrows = 2\n";
        for (typed, expected) in [
            (
                "simdup --config FILE -c 4",
                "simdup --bands=4 --digits=2 --format=jsonl --rows=2 --config FILE -c 4",
            ),
            (
                "simdup --config FILE --count --recall 0.9",
                "simdup --shingle-words=3 --config FILE --count --recall 0.9",
            ),
        ] {
            assert_eq!(expand(typed, file).unwrap(), expected);
        }
        let file = "count = true\n";
        let expected = "simdup --config FILE --top 3";
        assert_eq!(expand(expected, file).unwrap(), expected);
    }

    #[test]
    fn a_key_that_is_no_flag_is_refused() {
        for (file, says) in [
            (
                "treshold = 1",
                "`treshold` is no flag of simdup; did you mean `threshold`?",
            ),
            ("removed = 'x'", "it is one of dedup"),
            (
                "threshold = 5",
                "simdup.toml: threshold: invalid value '5' for '--threshold <T>': a threshold",
            ),
            ("format = 'xml'", "format: invalid value 'xml' for"),
            ("config = 'x'", "`config` is no flag"),
            ("quiet = 3", "`quiet` is true or false"),
            ("threshold = {a = 1}", "`threshold` is a text, a number"),
            ("threshold 1", "TOML parse error"),
        ] {
            let told = match expand("simdup --config FILE", file) {
                Err(Failure::Usage(told)) => told,
                other => format!("{other:?}"),
            };
            assert!(told.contains(says), "{told}");
        }
    }
}
