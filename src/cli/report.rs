//! What is said on standard error, and the statistics.
#![allow(clippy::print_stderr, reason = "this is the file that prints")]

use std::fs;
use std::io::Write;
use std::path::Path;

use simdup::write::Output;
use simdup::{Error, Stats};

use super::Failure;

/// The run ended here.
pub(crate) fn failure(failure: &Failure) {
    eprintln!("simdup: {failure}");
}

/// A record or a file was skipped.
pub(super) fn problem(error: &Error) {
    eprintln!("simdup: {error}");
}

/// Something worth knowing.
pub(super) fn warning(text: &str) {
    eprintln!("simdup: {text}");
}

/// Writes the statistics where they were asked for; `-` is standard error.
pub(super) fn stats(stats: &mut Stats, path: Option<&Path>) -> Result<(), Failure> {
    let Some(path) = path else {
        return Ok(());
    };
    stats.peak_memory_bytes = peak_memory_bytes();
    let name = path.display().to_string();
    let json =
        serde_json::to_string_pretty(stats).map_err(|error| Failure::write(&name, error.into()))?;
    if path.as_os_str() == "-" {
        eprintln!("{json}");
        return Ok(());
    }
    let written = Output::create(path).and_then(|mut output| {
        writeln!(output, "{json}")?;
        output.finish()
    });
    written.map_err(|error| Failure::write(&name, error))
}

/// What Linux remembers as the largest resident size; unknown elsewhere.
fn peak_memory_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}
