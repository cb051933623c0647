//! The documents to keep, those of each input in an output of its own.

use std::sync::Arc;

use super::writing::Writing;
use crate::collection::Fate;
use crate::error::{Error, ErrorKind};
use crate::read::Input;
use crate::run::reading::why_not_apart;
use crate::run::records::{KeptRecords, Record, RecordForm, for_each_record};
use crate::write::{NamedWriter, RecordLines};

/// An output for each input.
pub trait Shards: Send {
    /// Where the documents of this input go. It is asked for once, when its records begin, and what
    /// was asked for before is complete then.
    ///
    /// # Errors
    /// If there is none, or the one before cannot be finished.
    fn open(&mut self, input: &str) -> Result<(), Error>;

    /// What is open.
    fn writer(&mut self) -> NamedWriter<'_>;
}

impl Writing<'_> {
    /// Writes what is kept of each input, with the head that it has, whatever is left of it.
    pub(super) fn write_shards(
        &self,
        again: Vec<Input>,
        kept: Option<KeptRecords>,
        shards: &mut dyn Shards,
    ) -> Result<(), Error> {
        let mut open: Option<Arc<str>> = None;
        let mut lines = RecordLines::default();
        let mut written = 0;
        let each = |record: Record<'_>, taken: u64| {
            let fate = self.records.fate(record.index, record.print);
            let changed = || self.changed(record.index, Some(record.file));
            let document = match fate.ok_or_else(changed)? {
                Fate::Document(document) if !self.assigned.is_removed(document) => Some(document),
                _ => None,
            };
            let format = record.format;
            if format.is_file() && record.is_blank {
                // A file without content stays without, whatever it would have had.
                return Ok(());
            }
            if let Some(why) = why_not_apart(format) {
                return Err(Error::in_file(record.file, ErrorKind::NoShard(why)));
            }
            let format = format.written();
            let is_next = open.as_ref().is_none_or(|open| open != record.file);
            if is_next {
                shards.open(record.file)?;
                open = Some(Arc::clone(record.file));
                lines = RecordLines::default();
            }
            let output = shards.writer();
            if is_next {
                let head = lines.head(format, &record.head.bytes, output.writer);
                head.map_err(|error| output.failed(error))?;
            }
            if document.is_some() {
                let line = lines.record(format, record.bytes, output.writer);
                line.map_err(|error| output.failed(error))?;
                written += 1;
                self.tell(taken, written);
            }
            Ok(())
        };
        let form = RecordForm::AsTheyCame;
        let count = for_each_record(again, self.settings, form, kept, each)?;
        match count == self.records.len() {
            true => Ok(()),
            false => Err(self.changed(count, None)),
        }
    }
}
