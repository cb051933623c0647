//! In place of `table.rs` where it is not built.

use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::super::ReadSettings;
use crate::error::ErrorKind;

/// There is none.
pub(in crate::read) enum Table {}

impl Table {
    /// Names what is missing.
    pub(in crate::read) fn open(
        _: File,
        _: &ReadSettings,
        _: &Arc<AtomicU64>,
    ) -> Result<Self, ErrorKind> {
        Err(ErrorKind::Foreign {
            what: "Parquet, which this build does not read",
            remedy: "build simdup with the feature `parquet`",
        })
    }

    /// Never called.
    pub(in crate::read) fn next(&mut self, _: &mut Vec<u8>, _: usize) -> bool {
        match *self {}
    }
}
