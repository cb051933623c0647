//! Settings in a file: TOML whose keys are the long flags. What is typed counts more, and keys that
//! do not apply to what is typed are ignored. The only file that knows toml.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};
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
    let (before, behind) = typed.split_at(start.min(typed.len()));
    let end = behind.iter().position(|typed| typed == "--");
    let flags = &behind[..end.unwrap_or(behind.len())];
    let Some(path) = path_of(flags) else {
        return Ok(typed);
    };
    let typed_names = typed_names(command, flags);
    let keys = read(Path::new(path), command, &cli, before, &typed_names)?;
    let line = |keys: &[&Key]| {
        let mut line = before.to_vec();
        line.extend(keys.iter().flat_map(|key| key.flags.iter().cloned()));
        line.extend_from_slice(behind);
        line
    };
    let keys = applicable(&keys, |keys| Fit::of(line(keys)));
    Ok(line(&keys))
}

/// A key of a file, with the flags that say the same.
#[derive(Debug)]
struct Key {
    name: String,
    flags: Vec<OsString>,
}

/// Whether a command line could run, whatever is in the files.
#[derive(Debug, PartialEq, Eq)]
enum Fit {
    Fits,
    /// Flags are missing, by their long names.
    Lacks(Vec<String>),
    Fails,
}

impl Fit {
    fn of(line: Vec<OsString>) -> Self {
        let error = match Cli::read(line) {
            Ok(mut cli) => {
                return match cli.list_files().and_then(|()| cli.check()) {
                    Ok(()) => Self::Fits,
                    Err(_) => Self::Fails,
                };
            }
            Err(error) => error,
        };
        match error.get(ContextKind::InvalidArg) {
            // A page of help.
            _ if !error.use_stderr() => Self::Fits,
            Some(ContextValue::Strings(lacking))
                if error.kind() == ErrorKind::MissingRequiredArgument =>
            {
                let name =
                    |flag: &String| Some(flag.split(' ').next()?.strip_prefix("--")?.to_owned());
                Self::Lacks(lacking.iter().filter_map(name).collect())
            }
            _ => Self::Fails,
        }
    }
}

/// Returns the keys that apply to what was typed: all but those with which it could not run,
/// whatever else of the file is left out. A key that only contradicts another one of the file is
/// among them, for the error that follows.
fn applicable(keys: &[Key], fit: impl Fn(&[&Key]) -> Fit) -> Vec<&Key> {
    let all: Vec<&Key> = keys.iter().collect();
    if keys.is_empty() || fit(&all) == Fit::Fits {
        return all;
    }
    let kept = grown(&all, &fit);
    let is_kept = |key: &&Key| kept.iter().any(|kept| kept.name == key.name);
    for dropped in all.iter().filter(|key| !is_kept(key)) {
        let others = all.iter().filter(|key| key.name != dropped.name);
        let first: Vec<&Key> = std::iter::once(dropped).chain(others).copied().collect();
        if grown(&first, &fit)
            .iter()
            .any(|kept| kept.name == dropped.name)
        {
            let name = &dropped.name;
            let is_told = |key: &&Key| is_kept(key) || key.name == *name;
            return all.iter().copied().filter(is_told).collect();
        }
    }
    all.into_iter().filter(is_kept).collect()
}

/// Adds the keys one by one, in this order, as long as the line could run with them.
fn grown<'k>(keys: &[&'k Key], fit: impl Fn(&[&Key]) -> Fit) -> Vec<&'k Key> {
    let mut kept: Vec<&Key> = Vec::new();
    // A key may apply only beside another one, which is added later.
    loop {
        let before = kept.len();
        for key in keys {
            if kept.iter().any(|kept| kept.name == key.name) {
                continue;
            }
            let mut more = kept.clone();
            more.push(key);
            let mut fits = fit(&more);
            if let Fit::Lacks(names) = &fits {
                more.extend(keys.iter().filter(|key| names.contains(&key.name)));
                fits = fit(&more);
            }
            if fits == Fit::Fits {
                kept = more;
            }
        }
        if kept.len() == before {
            return kept;
        }
    }
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
) -> Result<Vec<Key>, Failure> {
    let wrong = |what: String| Failure::Usage(format!("--config {}: {what}", path.display()));
    let text = fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    let table: Table = text.parse().map_err(|error: toml::de::Error| {
        wrong(error.to_string().trim_end().replace('\n', "\nsimdup: "))
    })?;
    let mut keys = Vec::new();
    for (name, value) in &table {
        let Some(flag) = flag_of(command, name) else {
            match is_known(cli, name) {
                true => continue,
                false => return Err(wrong(unknown(name, command))),
            }
        };
        if typed.contains(name) {
            continue;
        }
        let mut flags = Vec::new();
        add(flag, name, value, &mut flags).map_err(wrong)?;
        check(cli, before.iter().chain(&flags)).map_err(|what| wrong(format!("{name}: {what}")))?;
        let name = name.clone();
        keys.push(Key { name, flags });
    }
    Ok(keys)
}

/// What is wrong with the values of flags, whatever else is missing.
fn check<'a>(cli: &Command, flags: impl Iterator<Item = &'a OsString>) -> Result<(), String> {
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

/// Whether a command, or one below it, has such a flag.
fn is_known(command: &Command, key: &str) -> bool {
    let mut below = command.get_subcommands();
    flag_of(command, key).is_some() || below.any(|below| is_known(below, key))
}

/// Says that no command has such a flag, and which one was meant, perhaps.
fn unknown(key: &str, command: &Command) -> String {
    let name = command.get_bin_name().unwrap_or("simdup");
    let longs = command.get_arguments().filter_map(Arg::get_long);
    let near = nearest_flag(key, longs.filter(|long| !NOT_IN_A_FILE.contains(long)));
    let remedy = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
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
                "simdup cluster --hashes=128 --config FILE -- -t",
                "simdup cluster --quiet --threshold=0.5 --hashes=128 --config FILE -- -t",
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
    fn keys_that_do_not_apply_to_what_is_typed_are_ignored() {
        let file = "shingle-words = 3\nformat = 'jsonl'\ndigits = 2\nbands = 4\nrows = 2\n";
        for (typed, expected) in [
            (
                "simdup --config FILE -s jaccard -c 4",
                "simdup --bands=4 --digits=2 --format=jsonl --rows=2 --config FILE -s jaccard -c 4",
            ),
            (
                "simdup --config FILE -s jaccard --count --recall 0.9",
                "simdup --shingle-words=3 --config FILE -s jaccard --count --recall 0.9",
            ),
            // Bands are of Jaccard's score.
            (
                "simdup --config FILE",
                "simdup --digits=2 --format=jsonl --shingle-words=3 --config FILE",
            ),
        ] {
            assert_eq!(expand(typed, file).unwrap(), expected);
        }
        for (file, typed) in [
            ("count = true", "simdup --config FILE --top 3"),
            ("glob = '*.c'", "simdup --config FILE Cargo.toml"),
            (
                "hashes = 20\npreset = 'technosphere'",
                "simdup cluster --config FILE",
            ),
            ("skip-ok = true", "simdup --config FILE --strict"),
            ("removed = 'x'\ngold = 'y'", "simdup --config FILE"),
            ("digits = 2\ntop = 3", "simdup index info --config FILE i"),
        ] {
            assert_eq!(expand(typed, file).unwrap(), typed, "{file}");
        }
        // One key applies beside another one.
        let file = "score = 'jaccard'\nrecall = 0.9\nglob = '*.c'\n";
        assert_eq!(
            expand("simdup --config FILE Cargo.toml", file).unwrap(),
            "simdup --recall=0.9 --score=jaccard --config FILE Cargo.toml"
        );
    }

    #[test]
    fn keys_that_contradict_each_other_are_left_for_the_error() {
        for (file, expected) in [
            (
                "strict = true\nskip-ok = true",
                "simdup --skip-ok --strict --config FILE",
            ),
            (
                "count = true\ntop = 3",
                "simdup --count --top=3 --config FILE",
            ),
            (
                "score = 'jaccard'\nrecall = 0.9\nbands = 4\nrows = 2",
                "simdup --bands=4 --recall=0.9 --rows=2 --score=jaccard --config FILE",
            ),
        ] {
            assert_eq!(expand("simdup --config FILE", file).unwrap(), expected);
        }
    }

    #[test]
    fn a_key_that_is_no_flag_is_refused() {
        for (file, says) in [
            (
                "treshold = 1",
                "`treshold` is no flag of simdup; did you mean `threshold`?",
            ),
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
