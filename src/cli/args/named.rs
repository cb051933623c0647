//! What the name of a file says of what is written to it: a compression, and a format before it.

use std::path::Path;

use super::output::OutputArgs;
use crate::cli::Failure;

/// Endings of compressions and archives that are not written.
const NOT_WRITTEN: [&str; 16] = [
    "7z", "br", "gzip", "lz", "lz4", "lzma", "lzo", "rar", "sz", "tar", "tbz2", "tgz", "txz",
    "tzst", "z", "zip",
];

/// Endings of formats that others would take for what they say, and are not written.
const FORMATS_NOT_WRITTEN: [&str; 8] = [
    "arrow", "avro", "feather", "ods", "orc", "parquet", "xls", "xlsx",
];

/// Formats that names have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NamedFormat {
    Text,
    Tsv,
    Csv,
    Jsonl,
    Sarif,
}

/// Formats that names have, in which some results are not written.
const FORMATS: [&str; 14] = [
    "csv", "htm", "html", "json", "jsonl", "md", "ndjson", "pb", "sarif", "tsv", "warc", "xml",
    "yaml", "yml",
];

/// What a name ends with before the ending of a compression.
fn ending_of(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_string_lossy().to_lowercase();
    let packed = [".gz", ".zst", ".zstd", ".bz2", ".xz"];
    let plain = packed.iter().find_map(|ending| name.strip_suffix(ending));
    let (_, ending) = plain.unwrap_or(&name).rsplit_once('.')?;
    Some(ending.to_owned())
}

/// Refuses a name of a format in which nothing is written but what ends as is `written`.
pub(super) fn check_format(flag: &str, path: &Path, written: &[&str]) -> Result<(), Failure> {
    let Some(ending) = ending_of(path) else {
        return Ok(());
    };
    let is_written =
        written.contains(&&*ending) || ending == "ndjson" && written.contains(&"jsonl");
    if is_written || !FORMATS.contains(&&*ending) {
        return Ok(());
    }
    let (last, others) = written.split_last().unwrap_or((&"txt", &[]));
    Err(Failure::Usage(format!(
        "{flag} {}: .{ending} is not written here; name it .{} or .{last}",
        path.display(),
        others.join(", .")
    )))
}

/// The same for results whose format is that of their name.
pub(super) fn check_rows(output: &OutputArgs, written: &[&str]) -> Result<(), Failure> {
    match &output.output {
        Some(path) => check_format("--output", path, written),
        None => Ok(()),
    }
}

/// The format that a name says.
pub(super) fn format_of(path: &Path) -> Option<NamedFormat> {
    match &*ending_of(path)? {
        "txt" => Some(NamedFormat::Text),
        "tsv" => Some(NamedFormat::Tsv),
        "csv" => Some(NamedFormat::Csv),
        "jsonl" | "ndjson" => Some(NamedFormat::Jsonl),
        "sarif" => Some(NamedFormat::Sarif),
        _ => None,
    }
}

/// Refuses a compression that is not written, whatever else a name says.
pub(in crate::cli) fn check(flag: &str, path: &Path) -> Result<(), Failure> {
    let ending = path
        .extension()
        .map(|ending| ending.to_string_lossy().to_lowercase());
    let ending = ending.as_deref().unwrap_or_default();
    if FORMATS_NOT_WRITTEN.contains(&ending) {
        return Err(Failure::Usage(format!(
            "{flag} {}: .{ending} is not written; name it .jsonl, or .csv for pairs",
            path.display()
        )));
    }
    let is_left_out = match ending {
        "bz2" => !cfg!(feature = "bzip2"),
        "xz" => !cfg!(feature = "xz"),
        ending => NOT_WRITTEN.contains(&ending),
    };
    match is_left_out {
        false => Ok(()),
        true => Err(Failure::Usage(format!(
            "{flag} {}: .{ending} is not written; name it .gz, .zst, .bz2 or .xz to have it \
             compressed, or without such an ending",
            path.display()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_stands_before_a_compression() {
        for (name, format) in [
            ("pairs.tsv", Some(NamedFormat::Tsv)),
            ("a/pairs.CSV.gz", Some(NamedFormat::Csv)),
            ("pairs.jsonl.zst", Some(NamedFormat::Jsonl)),
            ("pairs.ndjson.xz", Some(NamedFormat::Jsonl)),
            ("pairs.sarif", Some(NamedFormat::Sarif)),
            ("pairs.txt.bz2", Some(NamedFormat::Text)),
            ("pairs.gz", None),
            ("pairs", None),
            ("tsv", None),
            ("a.tsv/pairs", None),
            ("", None),
        ] {
            assert_eq!(format_of(Path::new(name)), format, "{name}");
        }
    }

    #[test]
    fn formats_that_are_not_written_are_refused() {
        let check = |name: &str| {
            let checked = check_format("--output", Path::new(name), &["jsonl", "csv", "txt"]);
            checked.err().map(|failure| format!("{failure:?}"))
        };
        for name in ["a.json", "a.html.gz", "a.sarif", "a.TSV"] {
            assert!(check(name).is_some(), "{name}");
        }
        let told = check("a.json").unwrap();
        assert!(
            told.contains(".json is not written here; name it .jsonl, .csv or .txt"),
            "{told}"
        );
        for name in [
            "a.ndjson",
            "a.jsonl.xz",
            "a.csv",
            "a.txt",
            "a.out",
            "a",
            "-",
        ] {
            assert_eq!(check(name), None, "{name}");
        }
    }

    #[test]
    fn other_compressions_are_refused() {
        for name in ["a.lz4", "a.tsv.BR", "a.Z", "a.7z", "a.zip", "a.tar"] {
            assert!(check("--output", Path::new(name)).is_err(), "{name}");
        }
        for name in ["a.gz", "a.zst", "a", "-", "a.tsv", "a.v2"] {
            assert!(check("--output", Path::new(name)).is_ok(), "{name}");
        }
    }
}
