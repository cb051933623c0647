//! What is said on standard error, and the statistics.

use std::io::{self, IsTerminal, Write};
use std::path::Path;

use serde::Serialize;
use simdup::inside::{Output, Packed, VisibleWriter, visible};
use simdup::results::ErrorKind;
use simdup::{Error, Stats};

use super::files::open_beside;
use super::{Failure, linux};

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
        kind if is_too_large(kind) => "; `ulimit -f` tells how large a file may be",
        ErrorKind::FieldMissing(_) => "; --id-field and --text-field name the fields to read",
        ErrorKind::Spill(_) => "; --temp-dir names another place, --memory allows more",
        _ => "",
    };
    match &error.kind {
        kind @ ErrorKind::Write(_) if is_main_output(error) => {
            warning(&format!("standard output: {kind}{hint}"));
        }
        _ => warning(&format!("{error}{hint}")),
    }
}

/// Results have the name `-` on standard output, and nothing else that is written has.
pub(super) fn is_main_output(error: &Error) -> bool {
    matches!(error.kind, ErrorKind::Write(_)) && &*error.place.file == "-"
}

/// Whether a file met the limit on its size.
pub(super) fn is_too_large(kind: &ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::Write(error) | ErrorKind::Spill(error) | ErrorKind::Unreadable(error)
            if error.kind() == io::ErrorKind::FileTooLarge
    )
}

/// Something worth knowing. Ids and paths in it cannot steer a terminal.
pub(super) fn warning(text: &str) {
    // If nobody listens, there is nobody to tell.
    let _ = writeln!(io::stderr().lock(), "simdup: {}", visible(text));
}

/// Says that text lines do not have all ids as they are; `formats` have.
pub(super) fn note_encoded_ids(formats: &str) {
    warning(&format!(
        "some ids contain white space: it is printed as %20 or the like, and % as %25; use \
         {formats} for exact ids"
    ));
}

/// The formats of pairs that have ids as they are.
pub(super) const EXACT_FORMATS: &str = "-f tsv or -f jsonl";

/// Where the statistics go.
pub(super) struct StatsOutput(Option<(Packed, String)>);

impl StatsOutput {
    /// Opens it before the run, so that a bad name does not cost one.
    pub(super) fn open(path: Option<&Path>) -> Result<Self, Failure> {
        Ok(Self(match path {
            None => None,
            Some(path) if path.as_os_str() == "-" => {
                let stream: Box<dyn Write + Send> = match io::stderr().is_terminal() {
                    true => Box::new(VisibleWriter::new(io::stderr())),
                    false => Box::new(io::stderr()),
                };
                Some((Packed::Plain(Output::Stream(stream)), "--stats -".into()))
            }
            Some(path) => Some(open_beside("--stats", path)?),
        }))
    }

    /// Writes them, if they were asked for, and gives back what is to be finished.
    pub(super) fn write(self, stats: &mut Stats) -> Result<Option<(Packed, String)>, Failure> {
        stats.peak_memory_bytes = peak_memory_bytes();
        self.write_as_json(stats)
    }

    /// The same for those of a run that read no documents.
    pub(super) fn write_as_json(
        self,
        stats: &impl Serialize,
    ) -> Result<Option<(Packed, String)>, Failure> {
        let Some((mut output, name)) = self.0 else {
            return Ok(None);
        };
        serde_json::to_string_pretty(stats)
            .map_err(io::Error::from)
            .and_then(|json| writeln!(output, "{json}"))
            .map_err(|error| Failure::write(&name, error))?;
        Ok(Some((output, name)))
    }
}

/// What Linux remembers as the largest resident size; unknown elsewhere.
pub(super) fn peak_memory_bytes() -> Option<u64> {
    linux::told_bytes("/proc/self/status", "VmHWM")
}
