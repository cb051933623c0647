//! In place of `table.rs` where it is not built.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use crate::error::ErrorKind;
use crate::read::ReadSettings;
use crate::read::open::source::ReadSeek;

/// There is none.
#[derive(Debug)]
pub(in crate::read) enum Layout {}

impl Layout {
    /// Who asks has heard that there is none.
    pub(in crate::read) fn read(_: Box<dyn ReadSeek>, _: &ReadSettings) -> Result<Self, ErrorKind> {
        Err(ErrorKind::Parquet("it is not read".into()))
    }

    /// Never called.
    pub(in crate::read) fn rows(&self) -> impl Iterator<Item = u64> {
        match *self {}
        #[expect(unreachable_code, reason = "it says of what type nothing is")]
        std::iter::empty()
    }
}

/// There is none.
pub(in crate::read) enum Table {}

impl Table {
    /// Who asks has heard that there is none.
    pub(in crate::read) fn open(
        _: Box<dyn ReadSeek>,
        _: &ReadSettings,
        _: Option<Arc<AtomicU64>>,
        _: &Arc<AtomicU64>,
    ) -> Result<Self, ErrorKind> {
        Err(ErrorKind::Parquet("it is not read".into()))
    }

    /// Never called.
    pub(in crate::read) fn group(
        _: Box<dyn ReadSeek>,
        layout: &Arc<Layout>,
        _: usize,
        _: &ReadSettings,
        _: &Arc<AtomicU64>,
        _: &Arc<AtomicU64>,
    ) -> io::Result<Self> {
        match **layout {}
    }

    /// Never called.
    pub(in crate::read) fn next(&mut self, _: &mut Vec<u8>, _: usize) -> bool {
        match *self {}
    }
}
