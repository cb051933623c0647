//! A column of a row group, and the rows of it that have been decoded.

use std::sync::Arc;

use parquet::basic::ConvertedType;
use parquet::column::reader::{ColumnReader, get_column_reader};
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::metadata::RowGroupMetaData;

use super::pages::{Held, News, Pages};
use super::row::Value;
use super::shared::Shared;

/// Rows that are decoded at a time. Their text stays in its page.
const BATCH_ROWS: usize = 1024;
/// Bytes that they may take where text does not stay there.
const BATCH_BYTES: usize = 16 << 20;

/// A column that is read from its start to its end.
pub(super) struct Column {
    reader: ColumnReader,
    news: News,
    /// Rows of the present page that have not been decoded; of lists nobody knows.
    left_in_page: usize,
    /// Whether each value is there: it is if its level is the highest. And which of them start a
    /// row, where rows have many.
    levels: Vec<i16>,
    starts: Vec<i16>,
    level_max: i16,
    /// The least level of a list that is there.
    list_level: i16,
    is_list: bool,
    is_unsigned: bool,
    values: Values,
    /// Rows that have been decoded and not been used up.
    rows: usize,
    /// How far the levels and the values are used up.
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
    pub(super) fn new(
        file: &Arc<Shared>,
        group: &RowGroupMetaData,
        leaf: usize,
        held: &Held,
    ) -> Result<Self, ParquetError> {
        let news = News::default();
        let pages = Pages::new(file, group, leaf, &news, held)?;
        let column = group.schema_descr().column(leaf);
        let level_max = column.max_def_level();
        let is_list = column.max_rep_level() > 0;
        Ok(Self {
            news,
            left_in_page: 0,
            levels: Vec::new(),
            starts: Vec::new(),
            level_max,
            list_level: level_max - 1 - i16::from(column.self_type().is_optional()),
            is_list,
            is_unsigned: matches!(
                column.converted_type(),
                ConvertedType::UINT_32 | ConvertedType::UINT_64
            ),
            values: Values::default(),
            rows: 0,
            at: 0,
            value_at: 0,
            reader: get_column_reader(column, Box::new(pages)),
        })
    }

    /// Whether rows must be decoded before the next can be looked at.
    pub(super) fn is_used_up(&self) -> bool {
        self.rows == 0
    }

    /// How many rows are decoded next: never more than are left of a page, so that not many of
    /// them are held.
    fn batch(&self, rows_left: u64) -> usize {
        let news = self.news.lock();
        let most = match news.is_prefixed {
            true => BATCH_BYTES / news.bytes.max(1),
            false => BATCH_ROWS,
        };
        let most = most.min(BATCH_ROWS).min(self.left_in_page).max(1);
        rows_left.min(most as u64) as usize
    }

    /// Decodes the next rows, one at least.
    pub(super) fn fill(&mut self, rows_left: u64) -> Result<(), ParquetError> {
        let rows = self.batch(rows_left);
        self.levels.clear();
        self.starts.clear();
        (self.at, self.value_at) = (0, 0);
        let levels = Some(&mut self.levels);
        let starts = Some(&mut self.starts);
        let values = &mut self.values;
        if self.left_in_page == 0 {
            self.news.lock().bytes_since = 0;
        }
        macro_rules! read {
            ($reader:expr, $values:expr) => {{
                $values.clear();
                $reader.read_records(rows, levels, starts, $values)?.0
            }};
        }
        self.rows = match &mut self.reader {
            ColumnReader::ByteArrayColumnReader(reader) => read!(reader, &mut values.bytes),
            ColumnReader::Int32ColumnReader(reader) => read!(reader, &mut values.int32),
            ColumnReader::Int64ColumnReader(reader) => read!(reader, &mut values.int64),
            ColumnReader::FloatColumnReader(reader) => read!(reader, &mut values.float),
            ColumnReader::DoubleColumnReader(reader) => read!(reader, &mut values.double),
            _ => 0,
        };
        if self.rows == 0 {
            return Err(ParquetError::General("a column ends too early".into()));
        }
        if !self.is_list {
            if self.left_in_page == 0 {
                self.left_in_page = self.news.lock().rows;
            }
            self.left_in_page = self.left_in_page.saturating_sub(self.rows);
        }
        Ok(())
    }

    fn is_null(&self) -> bool {
        self.level_max > 0 && self.levels.get(self.at) != Some(&self.level_max)
    }

    /// What the row at hand holds, if anything.
    pub(super) fn value(&self) -> Option<Value<'_>> {
        match self.is_null() {
            true => None,
            false => self.value_at(self.value_at),
        }
    }

    /// The strings of the row at hand, if it has a list of them, which may be empty.
    pub(super) fn list(&self) -> Option<Vec<&[u8]>> {
        if *self.levels.get(self.at)? < self.list_level {
            return None;
        }
        let levels = self.levels.get(self.at..self.row_end())?;
        let count = levels.iter().filter(|&&level| level == self.level_max);
        let values = self.values.bytes[self.value_at..].iter();
        Some(values.take(count.count()).map(ByteArray::data).collect())
    }

    pub(super) fn is_list(&self) -> bool {
        self.is_list
    }

    /// Where the levels of the row at hand end.
    fn row_end(&self) -> usize {
        let behind = self.starts.iter().skip(self.at + 1);
        self.at + 1 + behind.take_while(|&&start| start != 0).count()
    }

    fn value_at(&self, at: usize) -> Option<Value<'_>> {
        let values = &self.values;
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
    pub(super) fn advance(&mut self) {
        let end = match self.is_list {
            true => self.row_end(),
            false => self.at + 1,
        };
        while self.at < end {
            self.value_at += usize::from(!self.is_null());
            self.at += 1;
        }
        self.rows = self.rows.saturating_sub(1);
    }
}

/// What is no number has no place in an order.
fn number(value: f64) -> Option<Value<'static>> {
    (!value.is_nan()).then_some(Value::Number(value))
}
