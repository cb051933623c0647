//! The records of a collection as they came, for the second time: from memory if they were
//! kept, else by reading the inputs once more.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::ordered::{self, WaitingMax, Work};
use super::{in_pool, unless_failed};
use crate::collection::record_print;
use crate::document::{Content, Document};
use crate::error::Error;
use crate::read::{self, Block, Cutter, Head, Input, InputEncoding, InputFormat, Piece, Stream};
use crate::settings::Settings;

/// How records are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecordForm {
    /// Byte for byte as they came.
    AsTheyCame,
    /// As a JSON object a line.
    Json,
}

/// Records that were kept when a collection was first read.
#[derive(Debug)]
pub(crate) struct KeptRecords {
    form: RecordForm,
    /// In input order; `None` if they do not fit into memory.
    blocks: Option<Vec<RecordBlock>>,
    bytes: u64,
}

impl KeptRecords {
    /// Keeps them in that form.
    pub(crate) fn new(form: RecordForm) -> Self {
        Self {
            form,
            blocks: Some(Vec::new()),
            bytes: 0,
        }
    }

    pub(crate) fn form(&self) -> RecordForm {
        self.form
    }

    /// Keeps more; none at all if they are more than so much together.
    pub(crate) fn add(&mut self, mut records: RecordBlock, bytes_max: u64) {
        self.bytes += records.bytes() as u64;
        if self.bytes > bytes_max {
            self.blocks = None;
        }
        if let Some(blocks) = &mut self.blocks {
            records.bytes.shrink_to_fit();
            blocks.push(records);
        }
    }
}

/// A record for the second time.
pub(crate) struct Record<'a> {
    /// Its number among all, bad ones included.
    pub(crate) index: usize,
    pub(crate) format: InputFormat,
    /// What stands before the first record of its input.
    pub(crate) head: &'a Arc<Head>,
    /// As it is to be written.
    pub(crate) bytes: &'a [u8],
    /// The input, and its encoding.
    pub(crate) file: &'a Arc<str>,
    pub(crate) encoding: InputEncoding,
    /// It is a file that has no content.
    pub(crate) is_blank: bool,
    /// What it was, if it was read again: it may have changed.
    pub(crate) print: Option<u64>,
}

/// Calls `each` with every record, in input order, as when the collection was read before. If
/// they were all `kept` then, nothing is read.
pub(crate) fn for_each_record(
    inputs: Vec<Input>,
    settings: &Settings,
    form: RecordForm,
    kept: Option<KeptRecords>,
    mut each: impl FnMut(Record<'_>, u64) -> Result<(), Error> + Send,
) -> Result<usize, Error> {
    let mut count = 0;
    let mut give = |records: &RecordBlock, taken: u64| {
        let mut start = 0;
        for (index, &end) in records.ends.iter().enumerate() {
            let record = Record {
                index: count,
                format: records.format,
                head: &records.head,
                file: &records.file,
                encoding: records.encoding,
                bytes: &records.bytes[start..end],
                is_blank: records.is_blank,
                print: records.prints.get(index).copied(),
            };
            each(record, taken)?;
            count += 1;
            start = end;
        }
        Ok(())
    };
    if let Some(blocks) = kept.and_then(|kept| kept.blocks) {
        let mut bytes = 0;
        for records in blocks {
            bytes += records.bytes() as u64;
            give(&records, bytes)?;
        }
        return Ok(count);
    }
    let taken = Arc::new(AtomicU64::new(0));
    let lanes = read::open(inputs, &settings.read, &taken);
    let mut result = Ok(());
    in_pool(settings, || {
        let copying = Copying { settings, form };
        let waiting_max = WaitingMax::of(settings.memory().bytes);
        ordered::in_order(&copying, waiting_max, lanes, |records: RecordBlock| {
            result = give(&records, taken.load(Ordering::Relaxed));
            unless_failed(&result)
        });
        Ok(())
    })?;
    result.map(|()| count)
}

/// The records of a block, bad ones included.
#[derive(Debug)]
pub(crate) struct RecordBlock {
    format: InputFormat,
    is_blank: bool,
    file: Arc<str>,
    encoding: InputEncoding,
    head: Arc<Head>,
    /// As they are to be written; nothing of bad ones.
    bytes: Vec<u8>,
    ends: Vec<usize>,
    /// What each was, if they were read again.
    prints: Vec<u64>,
}

impl RecordBlock {
    pub(crate) fn new(block: &Block<'_>) -> Self {
        Self {
            format: block.format,
            is_blank: block.bytes.is_empty(),
            file: Arc::clone(block.file),
            encoding: block.encoding,
            head: Arc::clone(block.head),
            bytes: Vec::with_capacity(block.bytes.len()),
            ends: Vec::new(),
            prints: Vec::new(),
        }
    }

    /// Whether its file has nothing in it.
    #[cfg(feature = "worker")]
    pub(crate) fn is_blank(&self) -> bool {
        self.is_blank
    }

    /// Where the record with this index ends.
    #[cfg(feature = "worker")]
    pub(crate) fn end(&self, index: usize) -> usize {
        self.ends.get(index).copied().unwrap_or(self.bytes.len())
    }

    /// What stands between two ends.
    #[cfg(feature = "worker")]
    pub(crate) fn between(&self, start: usize, end: usize) -> &[u8] {
        &self.bytes[start..end]
    }

    #[cfg(feature = "worker")]
    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    #[cfg(feature = "worker")]
    pub(crate) fn format(&self) -> InputFormat {
        self.format
    }

    #[cfg(feature = "worker")]
    pub(crate) fn head(&self) -> &Arc<Head> {
        &self.head
    }

    /// The memory that it takes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.len() + size_of_val(&self.ends[..]) + size_of_val(&self.prints[..])
    }

    /// Adds a document's record; nothing if it is a bad one.
    pub(crate) fn push(&mut self, form: RecordForm, document: Option<&Document<'_>>) {
        let bytes = &mut self.bytes;
        match (document, form, self.format) {
            (None, ..) => {}
            (Some(document), RecordForm::AsTheyCame, format) if format.is_file() => {
                bytes.extend_from_slice(document.url.as_bytes());
                bytes.push(b'\n');
            }
            (Some(document), RecordForm::AsTheyCame, InputFormat::Parquet) => {
                json_object(document, bytes);
            }
            (Some(document), RecordForm::AsTheyCame, _)
            | (Some(document), RecordForm::Json, InputFormat::Jsonl) => {
                bytes.extend_from_slice(document.record);
            }
            (Some(document), RecordForm::Json, _) => json_object(document, bytes),
        }
        self.ends.push(self.bytes.len());
    }
}

/// Appends a document as a JSON object: its record, if that is one.
pub(crate) fn write_json(document: &Document<'_>, bytes: &mut Vec<u8>) {
    match document.record.trim_ascii() {
        record @ ([b'{', .., b'}'] | [0xef, 0xbb, 0xbf, b'{', .., b'}']) => {
            bytes.extend_from_slice(record);
        }
        _ => json_object(document, bytes),
    }
}

fn json_object(document: &Document<'_>, bytes: &mut Vec<u8>) {
    let mut object = serde_json::Map::new();
    object.insert("url".into(), document.url.as_ref().into());
    let text = match &document.content {
        Content::Text(text) => text.as_ref().into(),
        Content::Items(items) => items.iter().map(AsRef::as_ref).collect(),
    };
    object.insert("text".into(), text);
    bytes.extend_from_slice(serde_json::Value::Object(object).to_string().as_bytes());
    bytes.push(b'\n');
}

struct Copying<'a> {
    settings: &'a Settings,
    form: RecordForm,
}

impl Work for Copying<'_> {
    type Source = Stream;
    type Joint = Cutter;
    type Piece = Piece;
    type Scratch = ();
    type Output = RecordBlock;

    fn take(&self, stream: &mut Stream, piece: &mut Piece) -> bool {
        stream.next(piece)
    }

    fn prepare(&self, piece: &mut Piece) {
        piece.unpack();
    }

    fn join(&self, cutter: &mut Cutter, piece: &mut Piece) -> ControlFlow<()> {
        cutter.cut(piece);
        match cutter.is_over() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    fn scratch(&self) {}

    fn work(&self, piece: &mut Piece, (): &mut (), give: &mut dyn FnMut(RecordBlock)) {
        for block in piece.blocks() {
            let mut records = RecordBlock::new(&block);
            let is_raw = match (self.form, block.format) {
                (_, InputFormat::Jsonl) => true,
                (RecordForm::AsTheyCame, format) => {
                    !format.is_file() && format != InputFormat::Parquet
                }
                (RecordForm::Json, _) => false,
            };
            if is_raw {
                // What is wrong with some was said when they were read before.
                block.records(&mut |record| {
                    records.bytes.extend_from_slice(record);
                    records.ends.push(records.bytes.len());
                    records.prints.push(record_print(record));
                });
            } else {
                block.documents(&self.settings.read, &mut |document| {
                    let document = document.as_ref().ok();
                    records.push(self.form, document);
                    let print = document.map(|document| record_print(document.record));
                    records.prints.push(print.unwrap_or(0));
                });
            }
            give(records);
        }
        // A huge record may have blown it up.
        piece.clear();
    }

    fn bytes(records: &RecordBlock) -> usize {
        records.bytes()
    }

    fn piece_bytes(&self, piece: &Piece) -> usize {
        2 * piece.huge_bytes()
    }

    fn joint_bytes(&self, cutter: &Cutter) -> usize {
        cutter.huge_bytes()
    }
}
