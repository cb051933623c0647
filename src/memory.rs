//! How much memory a run may use, and where to go beyond it.

use std::path::PathBuf;

/// A limit on memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    /// About how much to use.
    pub bytes: u64,
    /// Where the rest goes.
    pub temp_dir: PathBuf,
}

impl Memory {
    /// No limit.
    pub(crate) fn unlimited() -> Self {
        Self {
            bytes: u64::MAX,
            temp_dir: PathBuf::new(),
        }
    }
}
