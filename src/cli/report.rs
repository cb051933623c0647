//! What is said on standard error, and the statistics.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use simdup::write::Output;
use simdup::{Error, ErrorKind, Stats};

use super::Failure;

/// The run ended here.
pub(crate) fn failure(failure: &Failure) {
    match failure {
        Failure::Run(error) => problem(error),
        Failure::Usage(text) => warning(text),
    }
}

/// A record or a file was skipped.
pub(super) fn problem(error: &Error) {
    let hint = match &error.kind {
        ErrorKind::FieldMissing(_) => "; --id-field and --text-field name the fields to read",
        ErrorKind::Spill(_) => "; --temp-dir names another place, --memory allows more",
        _ => "",
    };
    warning(&format!("{error}{hint}"));
}

/// Something worth knowing.
pub(super) fn warning(text: &str) {
    // If nobody listens, there is nobody to tell.
    let _ = writeln!(io::stderr().lock(), "simdup: {text}");
}

/// Where the statistics go.
pub(super) struct StatsOutput {
    output: Option<Output>,
    name: String,
}

impl StatsOutput {
    /// Opens it before the run, so that a bad name does not cost one.
    pub(super) fn open(path: Option<&Path>) -> Result<Self, Failure> {
        let name = path.map_or_else(String::new, |path| path.display().to_string());
        let output = match path {
            None => Ok(None),
            Some(path) if path.as_os_str() == "-" => {
                Ok(Some(Output::Stream(Box::new(io::stderr()))))
            }
            Some(path) => Output::create(path).map(Some),
        };
        match output {
            Ok(output) => Ok(Self { output, name }),
            Err(error) => Err(Failure::write(&name, error)),
        }
    }

    /// Writes them, if they were asked for.
    pub(super) fn write(self, stats: &mut Stats) -> Result<(), Failure> {
        let Some(mut output) = self.output else {
            return Ok(());
        };
        stats.peak_memory_bytes = peak_memory_bytes();
        serde_json::to_string_pretty(stats)
            .map_err(io::Error::from)
            .and_then(|json| writeln!(output, "{json}"))
            .and_then(|()| output.finish())
            .map_err(|error| Failure::write(&self.name, error))
    }
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
