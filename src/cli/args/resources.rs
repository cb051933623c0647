//! What may be used, and what a bad record does.

use std::path::{Path, PathBuf};

use clap::Args;
use simdup::settings::{Memory, Strictness};

use super::together;
use super::values::{MEMORY_BYTES_MIN, memory, threads};
use crate::cli::{Failure, linux};

#[derive(Debug, Args)]
#[command(next_help_heading = "Resources and strictness")]
pub(in crate::cli) struct ResourceArgs {
    /// Threads; 0 for one a core. The result is the same
    #[arg(short = 'j', long, value_name = "N", default_value_t = 0, value_parser = threads)]
    pub(in crate::cli) threads: usize,
    /// Use no more than this and 64 MB, such as 512M or 4G, and temporary files beyond
    /// [default: three quarters of the machine's or the container's]
    ///
    /// 1M at the least. If the minimum of a run is larger than SIZE, simdup warns and continues.
    /// The minimum is 8 MB, 2 MB a thread, the length of every id, 48 to 212 bytes a document, 4
    /// bytes for each position of its signature, two to four times the largest record, 16 bytes for
    /// each shingle of it, the windows of zstd, and the pages of Parquet; for `explain`, also 160
    /// bytes for each token of the two texts. --stats has the sum as floor_memory_bytes.
    ///
    /// Limits of control groups, versions 1 and 2, count as a container's.
    #[arg(long, value_name = "SIZE", value_parser = memory)]
    pub(in crate::cli) memory: Option<u64>,
    /// Where temporary files go [default: the system's]
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) temp_dir: Option<PathBuf>,
    /// Stop at the first bad record, instead of skipping it
    #[arg(long)]
    pub(in crate::cli) strict: bool,
    /// Records and files that were skipped do not make the exit status 2
    #[arg(long)]
    pub(in crate::cli) skip_ok: bool,
}

impl ResourceArgs {
    pub(super) fn check(&self) -> Result<(), Failure> {
        together::check(&[(
            self.strict && self.skip_ok,
            "--strict",
            "--skip-ok",
            "nothing is skipped where the first bad record ends the run; leave out one of them",
        )])
    }

    pub(super) fn strictness(&self) -> Strictness {
        if self.strict {
            Strictness::Stop
        } else {
            Strictness::Skip
        }
    }

    pub(super) fn memory(&self) -> Memory {
        Memory {
            bytes: self.memory.unwrap_or_else(three_quarters_of_memory),
            temp_dir: self.temp_dir.clone().unwrap_or_else(std::env::temp_dir),
        }
    }
}

/// Three quarters of the memory that the process can have, as Linux tells; elsewhere, of eight
/// gigabytes.
fn three_quarters_of_memory() -> u64 {
    let bytes = linux::memory_bytes(Path::new("/")).unwrap_or(8 << 30);
    (bytes / 4 * 3).max(MEMORY_BYTES_MIN)
}
