//! The rows of a Parquet file, row group by row group: of each, its id and its text. The files
//! beside this one are the only ones that know the crate `parquet`, which does not check UTF-8,
//! and may panic over what is damaged.
//!
//! Of each column that is read, one page is held at a time, once as it came and once unpacked;
//! for lists, the pages of one row.

use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use parquet::file::reader::Length;

use super::column::Column;
use super::columns::Columns;
use super::guard::guarded;
use super::pages::{Held, check};
use super::row::{Row, Value};
use super::shared::Shared;
use crate::document::RECORD_BYTES_MAX;
use crate::error::ErrorKind;
use crate::read::open::source::ReadSeek;
use crate::read::{FIELD_SEPARATOR, ReadSettings};

/// What is known of a file before its rows are read.
#[derive(Debug)]
pub(in crate::read) struct Layout {
    metadata: ParquetMetaData,
    columns: Columns,
    /// What each row group counts for.
    group_bytes: u64,
}

impl Layout {
    /// Looks at a file.
    pub(in crate::read) fn read(
        file: Box<dyn ReadSeek>,
        settings: &ReadSettings,
    ) -> Result<Self, ErrorKind> {
        let file = Shared::new(file).map_err(ErrorKind::Unreadable)?;
        Self::of(&file, settings)
    }

    fn of(file: &Shared, settings: &ReadSettings) -> Result<Self, ErrorKind> {
        let metadata = guarded(|| ParquetMetaDataReader::new().parse_and_finish(file))?;
        let schema = metadata.file_metadata().schema_descr();
        let columns = guarded(|| Ok(Columns::find(schema, settings)))??;
        let groups = metadata.num_row_groups() as u64;
        for group in metadata.row_groups() {
            let read = columns.leaves.iter();
            for column in read.filter_map(|&leaf| group.columns().get(leaf)) {
                check(column.compression())?;
            }
        }
        Ok(Self {
            columns,
            group_bytes: file.len() / groups.max(1),
            metadata,
        })
    }

    /// The rows of each row group.
    pub(in crate::read) fn rows(&self) -> impl Iterator<Item = u64> {
        let groups = self.metadata.row_groups().iter();
        groups.map(|group| u64::try_from(group.num_rows()).unwrap_or(0))
    }
}

/// Row groups that are read one after the other.
pub(in crate::read) struct Table {
    file: Arc<Shared>,
    layout: Arc<Layout>,
    /// Those that have not been begun.
    groups: Range<usize>,
    /// How many rows are left of the one that has.
    rows_left: u64,
    readers: Vec<Column>,
    items: bool,
    taken: Option<Arc<AtomicU64>>,
    /// The most that the pages of all columns took together.
    held: Arc<AtomicU64>,
}

impl Table {
    /// Opens a file. What is read of it is added to `taken`, what its pages take at the most is
    /// in `held`.
    pub(in crate::read) fn open(
        file: Box<dyn ReadSeek>,
        settings: &ReadSettings,
        taken: Option<Arc<AtomicU64>>,
        held: &Arc<AtomicU64>,
    ) -> Result<Self, ErrorKind> {
        let file = Shared::new(file).map_err(ErrorKind::Unreadable)?;
        let layout = Arc::new(Layout::of(&file, settings)?);
        let groups = 0..layout.metadata.num_row_groups();
        Ok(Self::new(file, layout, groups, settings, taken, held))
    }

    /// One row group of a file that was looked at.
    pub(in crate::read) fn group(
        file: Box<dyn ReadSeek>,
        layout: &Arc<Layout>,
        group: usize,
        settings: &ReadSettings,
        taken: &Arc<AtomicU64>,
        held: &Arc<AtomicU64>,
    ) -> io::Result<Self> {
        let (layout, taken) = (Arc::clone(layout), Some(Arc::clone(taken)));
        let file = Shared::new(file)?;
        Ok(Self::new(
            file,
            layout,
            group..group + 1,
            settings,
            taken,
            held,
        ))
    }

    fn new(
        file: Shared,
        layout: Arc<Layout>,
        groups: Range<usize>,
        settings: &ReadSettings,
        taken: Option<Arc<AtomicU64>>,
        held: &Arc<AtomicU64>,
    ) -> Self {
        Self {
            file: Arc::new(file),
            layout,
            groups,
            rows_left: 0,
            readers: Vec::new(),
            items: settings.items,
            taken,
            held: Arc::clone(held),
        }
    }

    /// Adds rows to `bytes` until there are `bytes_wanted`; false if none is left.
    pub(in crate::read) fn next(&mut self, bytes: &mut Vec<u8>, bytes_wanted: usize) -> bool {
        let start = bytes.len();
        while bytes.len() - start < bytes_wanted {
            if self.rows_left == 0 && !self.next_group(bytes) {
                return false;
            }
            if self.rows_left > 0
                && let Err(kind) = self.row(bytes)
            {
                self.give_up(bytes, &kind);
            }
        }
        true
    }

    /// Of a row group that is damaged, the rest is not used.
    fn give_up(&mut self, bytes: &mut Vec<u8>, kind: &ErrorKind) {
        let what = match kind {
            ErrorKind::Parquet(what) => what.clone(),
            other => other.to_string(),
        };
        let rows = self.rows_left;
        Row::Bad(&format!(
            "row group {}: {what}; {rows} of its rows were not used",
            self.groups.start
        ))
        .write(bytes);
        self.rows_left = 0;
        self.readers.clear();
    }

    /// Begins the next row group; false if there is none.
    fn next_group(&mut self, bytes: &mut Vec<u8>) -> bool {
        let Some(index) = self.groups.next() else {
            return false;
        };
        let Layout {
            metadata,
            columns,
            group_bytes,
        } = &*self.layout;
        if let Some(taken) = &self.taken {
            taken.fetch_add(*group_bytes, Ordering::Relaxed);
        }
        let group = metadata.row_group(index);
        self.rows_left = u64::try_from(group.num_rows()).unwrap_or(0);
        let held = Held {
            columns: columns.leaves.len() as u64,
            bytes: Arc::clone(&self.held),
        };
        let leaves = columns.leaves.iter();
        let open = |&leaf: &usize| Column::new(&self.file, group, leaf, &held);
        match guarded(|| leaves.map(open).collect()) {
            Ok(readers) => self.readers = readers,
            Err(kind) => self.give_up(bytes, &kind),
        }
        true
    }

    fn row(&mut self, bytes: &mut Vec<u8>) -> Result<(), ErrorKind> {
        for column in &mut self.readers {
            if column.is_used_up() {
                guarded(|| column.fill(self.rows_left))?;
            }
        }
        let columns = &self.layout.columns;
        let at = |place: &usize| self.readers[*place].value();
        let ids = columns.ids.iter().filter_map(at);
        let id = ids.map(Value::into_bytes).find(|id| !id.is_empty());
        let texts = columns.texts.iter().filter_map(|&place| {
            let column = &self.readers[place];
            match column.is_list() {
                true => column.list().map(|list| self.list_text(&list).into()),
                false => column.value().map(Value::into_bytes),
            }
        });
        let texts: Vec<_> = texts.collect();
        let (value, party) = (
            columns.value.as_ref().and_then(at),
            columns.party.as_ref().and_then(at),
        );
        let length: usize = texts.iter().map(|text| text.len()).sum();
        match length > RECORD_BYTES_MAX / 2 {
            true => Row::Bad(&format!("a text of {length} bytes")).write(bytes),
            false => Row::Document {
                id,
                texts,
                value,
                party,
            }
            .write(bytes),
        }
        self.rows_left -= 1;
        for column in &mut self.readers {
            column.advance();
        }
        Ok(())
    }

    /// A list of strings as the text of a field: joined, or as JSON where each counts for itself.
    fn list_text(&self, list: &[&[u8]]) -> Vec<u8> {
        let texts: Result<Vec<&str>, _> = list.iter().map(|text| str::from_utf8(text)).collect();
        match texts.map(|texts| serde_json::to_vec(&texts)) {
            Ok(Ok(json)) if self.items => json,
            // What is not UTF-8 is told of where the text is taken from the row.
            _ => list.join(FIELD_SEPARATOR.as_bytes()),
        }
    }
}
