//! What Linux tells of the process and the machine, in `/proc`; elsewhere nothing is known.

use std::fs;

/// What stands behind a name in a file of lines, each a name, a colon and a value.
pub(super) fn told(file: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let value = |line: &str| {
        line.strip_prefix(name)?
            .strip_prefix(':')
            .map(str::to_owned)
    };
    text.lines().find_map(value)
}

/// The same of a number of kilobytes, in bytes.
pub(super) fn told_bytes(file: &str, name: &str) -> Option<u64> {
    let value = told(file, name)?;
    let kilobytes: u64 = value.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}
