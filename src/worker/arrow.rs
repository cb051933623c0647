//! Rows as Arrow streams: the only place that knows Arrow.

use std::io::{Read, Write};
use std::sync::Arc;

use arrow_array::builder::{
    BinaryBuilder, Float64Builder, Int32Builder, Int64Builder, StringBuilder,
};
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};

use super::Order;
use super::rows::{Kind, Row};
use super::stage_error;
use crate::error::{Error, ErrorKind};
use crate::guard::caught;

/// Rows from a stream, whatever the order of its columns.
pub(super) struct RowReader<R: Read> {
    stream: StreamReader<R>,
    /// The rows of the last batch that wait, the next one last.
    waiting: Vec<Row>,
}

impl<R: Read> RowReader<R> {
    pub(super) fn new(input: R) -> Result<Self, Error> {
        Ok(Self {
            stream: guarded(|| StreamReader::try_new(input, None))?,
            waiting: Vec::new(),
        })
    }
}

impl<R: Read> Iterator for RowReader<R> {
    type Item = Result<Row, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(row) = self.waiting.pop() {
                return Some(Ok(row));
            }
            let taken = guarded(|| match self.stream.next().transpose()? {
                Some(batch) => Ok(Some(rows(&batch))),
                None => Ok(None),
            });
            let taken = match taken {
                Ok(Some(rows)) => rows,
                Ok(None) => return None,
                Err(error) => Err(error),
            };
            match taken {
                Ok(rows) => self.waiting = rows,
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

/// What Arrow gives, and an error where it gives up in whatever way: over damaged streams it
/// panics.
fn guarded<T>(work: impl FnOnce() -> Result<T, ArrowError>) -> Result<T, Error> {
    match caught(work) {
        Some(done) => done.map_err(unreadable),
        None => Err(stage_error("the rows are damaged")),
    }
}

/// The rows of a batch, the last one first.
fn rows(batch: &RecordBatch) -> Result<Vec<Row>, Error> {
    let column = |name: &str| {
        let column = batch.column_by_name(name);
        column.ok_or_else(|| stage_error(format!("the rows have no column `{name}`")))
    };
    let numbers = |name: &str| -> Result<Vec<i32>, Error> {
        let column = column(name)?;
        let wide = |array: &arrow_array::Int64Array| {
            let values = array.values().iter();
            values.map(|&value| i32::try_from(value).ok()).collect()
        };
        let found = match column.data_type() {
            DataType::Int32 => Some(column.as_primitive::<Int32Type>().values().to_vec()),
            DataType::Int64 => wide(column.as_primitive::<Int64Type>()),
            _ => None,
        };
        let wrong = || stage_error(format!("the column `{name}` is not of 32-bit integers"));
        found.ok_or_else(wrong)
    };
    let (parts, kinds) = (numbers("part")?, numbers("kind")?);
    let data = column("data")?;
    let bytes = |index: usize| -> Option<Vec<u8>> {
        Some(match data.data_type() {
            _ if data.is_null(index) => Vec::new(),
            DataType::Binary => data.as_binary::<i32>().value(index).to_vec(),
            DataType::LargeBinary => data.as_binary::<i64>().value(index).to_vec(),
            DataType::BinaryView => data.as_binary_view().value(index).to_vec(),
            _ => return None,
        })
    };
    let row = |index: usize| {
        Ok(Row {
            part: parts[index],
            kind: Kind::new(kinds[index])?,
            data: bytes(index).ok_or_else(|| stage_error("the column `data` is not binary"))?,
        })
    };
    (0..batch.num_rows()).rev().map(row).collect()
}

/// A result, as two ids and a score.
pub(super) struct Scored<'a> {
    pub(super) left: Order,
    pub(super) right: Order,
    pub(super) url1: &'a str,
    pub(super) url2: &'a str,
    pub(super) score: f64,
}

/// Bytes of a batch from which on it is handed on.
const BATCH_BYTES: usize = 8 << 20;
/// Rows of a batch at the most.
const BATCH_ROWS: usize = 1 << 16;

/// Rows to a stream.
pub(super) struct RowWriter<W: Write> {
    stream: StreamWriter<W>,
    schema: SchemaRef,
    part: Int32Builder,
    kind: Int32Builder,
    data: BinaryBuilder,
    /// The columns of results, where they are rows.
    results: Option<Results>,
    bytes: usize,
    rows: usize,
}

#[derive(Default)]
struct Results {
    left: Int64Builder,
    right: Int64Builder,
    url1: StringBuilder,
    url2: StringBuilder,
    score: Float64Builder,
}

impl<W: Write> RowWriter<W> {
    /// Rows for the next stage.
    pub(super) fn new(output: W) -> Result<Self, Error> {
        Self::with(output, None)
    }

    /// Rows that may be results.
    pub(super) fn results(output: W) -> Result<Self, Error> {
        Self::with(output, Some(Results::default()))
    }

    fn with(output: W, results: Option<Results>) -> Result<Self, Error> {
        let mut fields = vec![
            Field::new("part", DataType::Int32, false),
            Field::new("kind", DataType::Int32, false),
            Field::new("data", DataType::Binary, true),
        ];
        if results.is_some() {
            fields.extend([
                Field::new("left", DataType::Int64, true),
                Field::new("right", DataType::Int64, true),
                Field::new("url1", DataType::Utf8, true),
                Field::new("url2", DataType::Utf8, true),
                Field::new("score", DataType::Float64, true),
            ]);
        }
        let schema = Arc::new(Schema::new(fields));
        Ok(Self {
            stream: StreamWriter::try_new(output, &schema).map_err(unwritable)?,
            schema,
            part: Int32Builder::new(),
            kind: Int32Builder::new(),
            data: BinaryBuilder::new(),
            results,
            bytes: 0,
            rows: 0,
        })
    }

    pub(super) fn push(&mut self, part: u32, kind: Kind, data: &[u8]) -> Result<(), Error> {
        self.start(part, kind);
        self.data.append_value(data);
        if let Some(results) = &mut self.results {
            results.left.append_null();
            results.right.append_null();
            results.url1.append_null();
            results.url2.append_null();
            results.score.append_null();
        }
        self.grown(data.len())
    }

    /// A result; only where they are rows.
    pub(super) fn push_result(&mut self, scored: &Scored<'_>) -> Result<(), Error> {
        self.start(0, Kind::Result);
        self.data.append_null();
        if let Some(results) = &mut self.results {
            results.left.append_value(scored.left.0 as i64);
            results.right.append_value(scored.right.0 as i64);
            results.url1.append_value(scored.url1);
            results.url2.append_value(scored.url2);
            results.score.append_value(scored.score);
        }
        self.grown(scored.url1.len() + scored.url2.len() + 32)
    }

    fn start(&mut self, part: u32, kind: Kind) {
        self.part.append_value(part as i32);
        self.kind.append_value(kind as i32);
    }

    fn grown(&mut self, bytes: usize) -> Result<(), Error> {
        self.bytes += bytes;
        self.rows += 1;
        match self.bytes >= BATCH_BYTES || self.rows >= BATCH_ROWS {
            true => self.hand_on(),
            false => Ok(()),
        }
    }

    fn hand_on(&mut self) -> Result<(), Error> {
        let mut columns: Vec<ArrayRef> = vec![
            Arc::new(self.part.finish()),
            Arc::new(self.kind.finish()),
            Arc::new(self.data.finish()),
        ];
        if let Some(results) = &mut self.results {
            columns.extend([
                Arc::new(results.left.finish()) as ArrayRef,
                Arc::new(results.right.finish()),
                Arc::new(results.url1.finish()),
                Arc::new(results.url2.finish()),
                Arc::new(results.score.finish()),
            ]);
        }
        (self.bytes, self.rows) = (0, 0);
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns).map_err(unwritable)?;
        self.stream.write(&batch).map_err(unwritable)
    }

    /// Hands on what is left, and ends the stream.
    pub(super) fn finish(mut self) -> Result<(), Error> {
        if self.rows > 0 {
            self.hand_on()?;
        }
        self.stream.finish().map_err(unwritable)?;
        self.stream
            .get_mut()
            .flush()
            .map_err(|error| Error::in_file("-", ErrorKind::Write(error)))
    }
}

fn unreadable(error: ArrowError) -> Error {
    match error {
        ArrowError::IoError(_, error) => Error::in_file("-", ErrorKind::Unreadable(error)),
        error => stage_error(format!("not an Arrow stream of rows: {error}")),
    }
}

fn unwritable(error: ArrowError) -> Error {
    match error {
        ArrowError::IoError(_, error) => Error::in_file("-", ErrorKind::Write(error)),
        error => stage_error(format!("rows that Arrow does not take: {error}")),
    }
}

#[cfg(test)]
pub(super) mod testing {
    use super::*;

    /// A stream of rows, with the last one.
    pub(in super::super) fn stream_of(rows: &[(u32, Kind, Vec<u8>)]) -> Vec<u8> {
        let mut stream = Vec::new();
        let mut writer = RowWriter::new(&mut stream).unwrap();
        for (part, kind, data) in rows {
            writer.push(*part, *kind, data).unwrap();
        }
        let count = (rows.len() as u64).to_le_bytes();
        writer.push(0, Kind::End, &count).unwrap();
        writer.finish().unwrap();
        stream
    }

    /// The rows of a stream.
    pub(in super::super) fn rows_of(stream: &[u8]) -> Vec<Row> {
        let rows: Result<Vec<Row>, Error> = RowReader::new(stream).unwrap().collect();
        rows.unwrap()
    }
}

#[cfg(test)]
mod tests {
    use super::testing::{rows_of, stream_of};
    use super::*;

    proptest::proptest! {
        /// Whatever bytes of a stream are changed, it is read or refused.
        #[test]
        fn damaged_streams_are_refused_without_a_panic(
            changes in proptest::collection::vec((0_usize..4000, 0_u8..=255), 0..5),
            length in 0_usize..4000,
        ) {
            let rows: Vec<_> = (0..20).map(|n| (n, Kind::Keys, vec![7; n as usize])).collect();
            let mut stream = stream_of(&rows);
            assert_eq!(rows_of(&stream).len(), 21);
            for (at, byte) in changes {
                let at = at % stream.len();
                stream[at] = byte;
            }
            stream.truncate(length.max(1));
            if let Ok(reader) = RowReader::new(&stream[..]) {
                for row in reader {
                    if row.is_err() {
                        break;
                    }
                }
            }
        }
    }
}
