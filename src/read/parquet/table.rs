//! The rows of a Parquet file, row group by row group: of each, its id and its text. This file
//! and `shared.rs` are the only ones that know the crate `parquet`, which does not check UTF-8,
//! and may panic over what is damaged.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Once};

use parquet::basic::{ConvertedType, Type};
use parquet::column::reader::ColumnReader;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, Length, SerializedFileReader};
use parquet::schema::types::{ColumnDescriptor, SchemaDescriptor};

use super::super::jsonl::ID_FIELDS;
use super::super::source::ReadSeek;
use super::super::{FIELD_SEPARATOR, RECORD_BYTES_MAX, ReadSettings};
use super::row::{Row, Value};
use super::shared::Shared;
use crate::error::{ErrorKind, excerpt};

/// Rows of a column that are decoded at a time. Their text stays in its page.
const BATCH_ROWS: usize = 1024;

/// A file that is read from its start to its end.
pub(in crate::read) struct Table {
    file: SerializedFileReader<Shared>,
    columns: Columns,
    /// The row group that is read, and how many of its rows are left.
    group: usize,
    rows_left: u64,
    readers: Vec<Column>,
    /// What each group counts for.
    group_bytes: u64,
    taken: Option<Arc<AtomicU64>>,
}

/// Columns that are read, and what each stands for, by its place among them.
struct Columns {
    leaves: Vec<usize>,
    ids: Vec<usize>,
    texts: Vec<usize>,
    value: Option<usize>,
}

impl Table {
    /// Opens a file. What is read of it is added to `taken`.
    pub(in crate::read) fn open(
        file: Box<dyn ReadSeek>,
        settings: &ReadSettings,
        taken: Option<Arc<AtomicU64>>,
    ) -> Result<Self, ErrorKind> {
        let file = Shared::new(file).map_err(ErrorKind::Unreadable)?;
        let bytes = file.len();
        let file = guarded(|| SerializedFileReader::new(file))?;
        let schema = file.metadata().file_metadata().schema_descr_ptr();
        let columns = guarded(|| Ok(Columns::find(&schema, settings)))??;
        let groups = file.metadata().num_row_groups() as u64;
        Ok(Self {
            columns,
            file,
            group: 0,
            rows_left: 0,
            readers: Vec::new(),
            group_bytes: bytes / groups.max(1),
            taken,
        })
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
            self.group
        ))
        .write(bytes);
        self.rows_left = 0;
        self.readers.clear();
    }

    /// Begins the next row group; false if there is none.
    fn next_group(&mut self, bytes: &mut Vec<u8>) -> bool {
        if self.group >= self.file.metadata().num_row_groups() {
            return false;
        }
        if let Some(taken) = &self.taken {
            taken.fetch_add(self.group_bytes, Ordering::Relaxed);
        }
        let index = self.group;
        self.group += 1;
        self.rows_left = 0;
        let readers = guarded(|| {
            let group = self.file.get_row_group(index)?;
            let rows = u64::try_from(group.metadata().num_rows()).unwrap_or(0);
            let leaves = self.columns.leaves.iter();
            let columns: Result<Vec<Column>, ParquetError> = leaves
                .map(|&leaf| {
                    let reader = group.get_column_reader(leaf)?;
                    Ok(Column::new(
                        reader,
                        &group.metadata().schema_descr().column(leaf),
                    ))
                })
                .collect();
            Ok((rows, columns?))
        });
        match readers {
            Ok((rows, readers)) => (self.rows_left, self.readers) = (rows, readers),
            Err(kind) => self.give_up(bytes, &kind),
        }
        true
    }

    fn row(&mut self, bytes: &mut Vec<u8>) -> Result<(), ErrorKind> {
        for column in &mut self.readers {
            if column.at == column.batch {
                let wanted = self.rows_left.min(BATCH_ROWS as u64) as usize;
                guarded(|| column.fill(wanted))?;
            }
        }
        let at = |place: &usize| self.readers[*place].value();
        let ids = self.columns.ids.iter().filter_map(at);
        let id = ids.map(Value::into_bytes).find(|id| !id.is_empty());
        let mut texts = self
            .columns
            .texts
            .iter()
            .filter_map(at)
            .map(Value::into_bytes);
        let mut text = texts.next();
        for more in texts {
            let joined = text.get_or_insert_default().to_mut();
            joined.extend_from_slice(FIELD_SEPARATOR.as_bytes());
            joined.extend_from_slice(&more);
        }
        let value = self.columns.value.as_ref().and_then(at);
        let length = text.as_ref().map_or(0, |text| text.len());
        match length > RECORD_BYTES_MAX / 2 {
            true => Row::Bad(&format!("a text of {length} bytes")).write(bytes),
            false => Row::Document { id, text, value }.write(bytes),
        }
        self.rows_left -= 1;
        for column in &mut self.readers {
            column.advance();
        }
        Ok(())
    }
}

thread_local! {
    /// Whether this thread is where a panic is expected and caught.
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// What the crate gives, and an error where it gives up in whatever way.
fn guarded<T>(work: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, ErrorKind> {
    static HUSHED: Once = Once::new();
    HUSHED.call_once(|| {
        // What is caught is not printed; all else is, as before.
        let print = panic::take_hook();
        panic::set_hook(Box::new(move |what| {
            if !GUARDED.get() {
                print(what);
            }
        }));
    });
    let before = GUARDED.replace(true);
    let done = catch_unwind(AssertUnwindSafe(work));
    GUARDED.set(before);
    match done {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(error)) => {
            let what = excerpt(&error);
            let what = what.strip_prefix("Parquet error: ").unwrap_or(&what);
            Err(ErrorKind::Parquet(what.into()))
        }
        Err(_) => Err(ErrorKind::Parquet("it is damaged".into())),
    }
}

/// What a column is wanted for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    Id,
    Text,
    Value,
}

impl Columns {
    fn find(schema: &SchemaDescriptor, settings: &ReadSettings) -> Result<Self, ErrorKind> {
        let names: Vec<String> = schema
            .columns()
            .iter()
            .map(|leaf| leaf.path().string())
            .collect();
        let mut leaves: Vec<usize> = Vec::new();
        let mut add = |name: &str, wanted: Use| -> Result<Option<usize>, ErrorKind> {
            let Some(leaf) = names.iter().position(|leaf| leaf == name) else {
                let is_inside = |leaf: &&String| {
                    leaf.strip_prefix(name)
                        .is_some_and(|rest| rest.starts_with('.'))
                };
                let Some(inside) = names.iter().find(is_inside) else {
                    return Ok(None);
                };
                let what = format!("column `{name}` itself; there is `{inside}`");
                return Err(ErrorKind::FieldMissing(excerpt(&what)));
            };
            let column = schema.column(leaf);
            let is_readable = match column.physical_type() {
                Type::BYTE_ARRAY => true,
                Type::INT32 | Type::INT64 => wanted != Use::Text,
                Type::FLOAT | Type::DOUBLE => wanted == Use::Value,
                _ => false,
            };
            if column.max_rep_level() > 0 || !is_readable {
                let what = match column.max_rep_level() {
                    0 => format!("column `{name}` is {}", column.physical_type()),
                    _ => format!("column `{name}` is a list"),
                };
                return Err(ErrorKind::Parquet(format!("{what}, not a string")));
            }
            let place = leaves.iter().position(|&known| known == leaf);
            Ok(Some(place.unwrap_or_else(|| {
                leaves.push(leaf);
                leaves.len() - 1
            })))
        };
        let missing = |missing: &str| {
            let what = format!("column `{missing}`; the file has `{}`", names.join("`, `"));
            ErrorKind::FieldMissing(excerpt(&what))
        };
        let mut texts = Vec::new();
        for name in &settings.text_fields {
            texts.extend(add(name, Use::Text)?.filter(|place| !texts.contains(place)));
        }
        let mut ids = Vec::new();
        match &settings.id_field {
            Some(name) => ids.push(add(name, Use::Id)?.ok_or_else(|| missing(name))?),
            None => {
                for name in ID_FIELDS {
                    ids.extend(add(name, Use::Id)?);
                }
            }
        }
        let value = settings
            .value_field
            .as_deref()
            .map(|name| add(name, Use::Value));
        let value = value.transpose()?.flatten();
        if texts.is_empty() {
            return Err(missing(&settings.text_fields.join("`, `")));
        }
        Ok(Self {
            leaves,
            ids,
            texts,
            value,
        })
    }
}

/// What is no number has no place in an order.
fn number(value: f64) -> Option<Value<'static>> {
    (!value.is_nan()).then_some(Value::Number(value))
}

/// A column of the row group, and the rows of it that have been decoded.
struct Column {
    reader: ColumnReader,
    /// Whether each row has a value: it has if its level is the highest.
    levels: Vec<i16>,
    level_max: i16,
    is_unsigned: bool,
    values: Values,
    /// Rows that have been decoded, those that are used up, and their values.
    batch: usize,
    at: usize,
    value_at: usize,
}

#[derive(Default)]
struct Values {
    bytes: Vec<ByteArray>,
    int32: Vec<i32>,
    int64: Vec<i64>,
    float: Vec<f32>,
    double: Vec<f64>,
}

impl Column {
    fn new(reader: ColumnReader, column: &ColumnDescriptor) -> Self {
        Self {
            reader,
            levels: Vec::new(),
            level_max: column.max_def_level(),
            is_unsigned: matches!(
                column.converted_type(),
                ConvertedType::UINT_32 | ConvertedType::UINT_64
            ),
            values: Values::default(),
            batch: 0,
            at: 0,
            value_at: 0,
        }
    }

    /// Decodes the next rows, so many or fewer, but one at least.
    fn fill(&mut self, rows: usize) -> Result<(), ParquetError> {
        self.levels.clear();
        (self.at, self.value_at) = (0, 0);
        let levels = Some(&mut self.levels);
        let values = &mut self.values;
        macro_rules! read {
            ($reader:expr, $values:expr) => {{
                $values.clear();
                $reader.read_records(rows, levels, None, $values)?.0
            }};
        }
        self.batch = match &mut self.reader {
            ColumnReader::ByteArrayColumnReader(reader) => read!(reader, &mut values.bytes),
            ColumnReader::Int32ColumnReader(reader) => read!(reader, &mut values.int32),
            ColumnReader::Int64ColumnReader(reader) => read!(reader, &mut values.int64),
            ColumnReader::FloatColumnReader(reader) => read!(reader, &mut values.float),
            ColumnReader::DoubleColumnReader(reader) => read!(reader, &mut values.double),
            _ => 0,
        };
        match self.batch {
            0 => Err(ParquetError::General("a column ends too early".into())),
            _ => Ok(()),
        }
    }

    fn is_null(&self) -> bool {
        self.level_max > 0 && self.levels.get(self.at) != Some(&self.level_max)
    }

    /// What the row at hand holds, if anything.
    fn value(&self) -> Option<Value<'_>> {
        if self.is_null() {
            return None;
        }
        let (values, at) = (&self.values, self.value_at);
        match &self.reader {
            ColumnReader::ByteArrayColumnReader(_) => values
                .bytes
                .get(at)
                .map(|bytes| Value::Bytes(bytes.data().into())),
            ColumnReader::Int32ColumnReader(_) => values.int32.get(at).map(|&value| {
                Value::Integer(
                    match self.is_unsigned {
                        true => i64::from(value as u32),
                        false => value.into(),
                    }
                    .into(),
                )
            }),
            ColumnReader::Int64ColumnReader(_) => values.int64.get(at).map(|&value| {
                Value::Integer(match self.is_unsigned {
                    true => (value as u64).into(),
                    false => value.into(),
                })
            }),
            ColumnReader::FloatColumnReader(_) => values
                .float
                .get(at)
                .map(|&value| value.into())
                .and_then(number),
            ColumnReader::DoubleColumnReader(_) => values.double.get(at).copied().and_then(number),
            _ => None,
        }
    }

    /// Goes on to the next row.
    fn advance(&mut self) {
        self.value_at += usize::from(!self.is_null());
        self.at += 1;
    }
}
