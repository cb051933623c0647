//! What may be used, and what a bad record does.

use std::path::PathBuf;

use clap::Args;
use simdup::settings::{Memory, Strictness};

use super::together;
use super::values::{bytes, threads};
use crate::cli::{Failure, linux};

#[derive(Debug, Args)]
#[command(next_help_heading = "Resources and strictness")]
pub(in crate::cli) struct ResourceArgs {
    /// Threads; 0 for one a core. The result is the same
    #[arg(short = 'j', long, value_name = "N", default_value_t = 0, value_parser = threads)]
    pub(in crate::cli) threads: usize,
    /// Use no more than this and 64 MB, such as 512M or 4G, and temporary files beyond
    /// [default: three quarters of the machine's]
    ///
    /// What must be in memory may be more: it is told then, and the run goes on with that. It is 8
    /// MB, 2 MB a thread, the length of every id, 48 to 148 bytes a document, 4 bytes for each
    /// position of its signature, two to four times the largest record, 16 bytes for each shingle
    /// of it, the windows of zstd, and the pages of Parquet. --stats has the sum as floor_memory_bytes.
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
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

/// Of what the machine has, as Linux tells; elsewhere, of eight gigabytes.
fn three_quarters_of_memory() -> u64 {
    let told = linux::told_bytes("/proc/meminfo", "MemTotal");
    told.unwrap_or(8 << 30) / 4 * 3
}
