//! Blocks of whole records, cut from one input after another.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use memchr::memchr;

use super::compression::{Decompressed, decompress};
use super::format::{Cut, InputFormat, recognise};
use super::input::Input;
use super::{BLOCK_RECORDS_MAX, RECORD_BYTES_MAX, ReadSettings};
use crate::document::Document;
use crate::error::{Error, ErrorKind, Place};

/// Size a block is filled to, unless one record is longer. Small enough that a
/// block is still in the cache when the thread that unpacked it parses it.
const BLOCK_BYTES: usize = 256 * 1024;

/// Whole records of one input, with their place in it.
///
/// A block is made to be filled again and again, so that its buffer is
/// allocated once.
#[derive(Debug)]
pub struct Block {
    /// The records' bytes, back to back.
    pub bytes: Vec<u8>,
    /// The input's name.
    pub file: Arc<str>,
    /// The format of the records.
    pub format: InputFormat,
    /// Records of this input before the block.
    pub first_record: u64,
    /// Bytes of this input before the block.
    pub first_byte: u64,
    /// What happened behind the block's last record.
    pub problem: Option<Error>,
}

impl Default for Block {
    fn default() -> Self {
        Self {
            bytes: Vec::new(),
            file: "".into(),
            format: InputFormat::Text,
            first_record: 0,
            first_byte: 0,
            problem: None,
        }
    }
}

impl Block {
    /// The block's records in order, each a document or what is wrong with it.
    pub fn documents(
        &self,
        settings: &ReadSettings,
        each: &mut dyn FnMut(Result<Document<'_>, Error>),
    ) {
        self.format.rules().documents(self, settings, each);
    }

    /// An error in the block's `record`th record (from 0), at `byte` of the block.
    pub(super) fn error(&self, record: u64, byte: usize, kind: ErrorKind) -> Error {
        Error {
            place: Place {
                file: Arc::clone(&self.file),
                record: Some(self.first_record + record + 1),
                byte: Some(self.first_byte + byte as u64),
            },
            kind,
        }
    }

    /// The id of a record that has none of its own: its place.
    pub(super) fn place_id(&self, record: u64) -> String {
        format!("{}:{}", self.file, self.first_record + record + 1)
    }
}

/// Opens one input after another and cuts it into blocks.
pub struct Blocks {
    waiting: std::vec::IntoIter<Input>,
    format: Option<InputFormat>,
    open: Option<Stream>,
    taken: Arc<AtomicU64>,
}

impl Blocks {
    /// Reads `inputs` in order, as one collection.
    pub fn new(inputs: Vec<Input>, settings: &ReadSettings) -> Self {
        Self {
            waiting: inputs.into_iter(),
            format: settings.format,
            open: None,
            taken: Arc::new(AtomicU64::new(0)),
        }
    }

    /// Bytes taken from the inputs so far, before decompression.
    pub fn bytes_taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }

    /// Fills `block` with the next records; false when there are no more.
    ///
    /// A block may hold no record and only a problem.
    pub fn fill(&mut self, block: &mut Block) -> bool {
        loop {
            block.bytes.clear();
            block.problem = None;
            let Some(stream) = &mut self.open else {
                let Some(input) = self.waiting.next() else {
                    return false;
                };
                let name = Arc::clone(input.name());
                match Stream::open(input, self.format, &self.taken) {
                    Ok(stream) => self.open = Some(stream),
                    Err(error) => {
                        block.problem = Some(Error::in_file(&name, ErrorKind::Unreadable(error)));
                        block.file = name;
                        return true;
                    }
                }
                continue;
            };
            let more = stream.fill(block);
            if !more {
                self.open = None;
            }
            if !block.bytes.is_empty() || block.problem.is_some() {
                return true;
            }
        }
    }
}

/// One input being read.
struct Stream {
    name: Arc<str>,
    content: Decompressed,
    /// `None` until the first bytes have been seen.
    format: Option<InputFormat>,
    /// The start of a record whose end has not been read yet.
    carry: Vec<u8>,
    records: u64,
    bytes: u64,
    state: State,
}

/// What is known of the bytes to come.
enum State {
    Open,
    /// Inside a record that is too long and will not be used, up to its `end`.
    Skipping {
        end: u8,
    },
    Ended,
    Broken(io::Error),
}

impl Stream {
    fn open(input: Input, format: Option<InputFormat>, taken: &Arc<AtomicU64>) -> io::Result<Self> {
        let name = Arc::clone(input.name());
        Ok(Self {
            name,
            content: decompress(input.open()?, taken)?,
            format,
            carry: Vec::new(),
            records: 0,
            bytes: 0,
            state: State::Open,
        })
    }

    /// Fills `block` with the next records; false when the input is exhausted.
    fn fill(&mut self, block: &mut Block) -> bool {
        std::mem::swap(&mut block.bytes, &mut self.carry);
        self.carry.clear();
        if let State::Skipping { end } = self.state {
            self.skip(&mut block.bytes, end);
        }
        let mut wanted = BLOCK_BYTES;
        loop {
            self.read_until(&mut block.bytes, wanted);
            let format = *self.format.get_or_insert_with(|| recognise(&block.bytes));
            let cut = format
                .rules()
                .cut(&block.bytes, matches!(self.state, State::Ended));
            if cut.bytes > 0 || cut.end.is_some() || !matches!(self.state, State::Open) {
                return self.hand_over(block, cut);
            }
            if block.bytes.len() >= RECORD_BYTES_MAX {
                return self.give_up_record(block, format.rules().record_end());
            }
            wanted = block.bytes.len() * 2;
        }
    }

    fn hand_over(&mut self, block: &mut Block, cut: Cut) -> bool {
        self.carry.extend_from_slice(&block.bytes[cut.bytes..]);
        block.bytes.truncate(cut.bytes);
        self.label(block);
        self.records += cut.records;
        self.bytes += cut.bytes as u64;
        // A block may be full before the input is used up.
        let is_full = cut.records >= BLOCK_RECORDS_MAX;
        let stopped = match std::mem::replace(&mut self.state, State::Open) {
            _ if cut.end.is_some() => cut.end,
            State::Open | State::Skipping { .. } => return true,
            state if is_full => {
                self.state = state;
                return true;
            }
            State::Ended => None,
            State::Broken(error) if self.content.is_compressed() => {
                Some(ErrorKind::Compression(error))
            }
            State::Broken(error) => Some(ErrorKind::Unreadable(error)),
        };
        block.problem = stopped.map(|kind| self.error(kind));
        false
    }

    /// Drops a record that is too long to hold, and goes on behind it if the
    /// format can find the place: behind the next `end`.
    fn give_up_record(&mut self, block: &mut Block, end: Option<u8>) -> bool {
        let length = block.bytes.len() as u64;
        block.bytes = Vec::new();
        self.label(block);
        block.problem = Some(self.error(ErrorKind::TooLong(length)));
        self.bytes += length;
        self.records += 1;
        match end {
            Some(end) => self.state = State::Skipping { end },
            None => return false,
        }
        true
    }

    fn label(&self, block: &mut Block) {
        block.file = Arc::clone(&self.name);
        block.format = self.format.unwrap_or(InputFormat::Text);
        block.first_record = self.records;
        block.first_byte = self.bytes;
    }

    fn error(&self, kind: ErrorKind) -> Error {
        Error {
            place: Place {
                file: Arc::clone(&self.name),
                record: Some(self.records + 1),
                byte: Some(self.bytes),
            },
            kind,
        }
    }

    /// Reads to the end of a record that is not used, leaving in `buffer` what
    /// follows it.
    fn skip(&mut self, buffer: &mut Vec<u8>, end: u8) {
        self.state = State::Open;
        while matches!(self.state, State::Open) {
            buffer.clear();
            self.read_until(buffer, BLOCK_BYTES);
            let next = memchr(end, buffer).map(|end| end + 1);
            self.bytes += next.unwrap_or(buffer.len()) as u64;
            if let Some(next) = next {
                buffer.drain(..next);
                return;
            }
        }
        buffer.clear();
    }

    /// Reads until `buffer` holds `wanted` bytes or the input ends.
    fn read_until(&mut self, buffer: &mut Vec<u8>, wanted: usize) {
        let mut filled = buffer.len();
        if !matches!(self.state, State::Open) || filled >= wanted {
            return;
        }
        buffer.resize(wanted, 0);
        while filled < wanted {
            match self.content.read(&mut buffer[filled..]) {
                Ok(0) => {
                    self.state = State::Ended;
                    break;
                }
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.state = State::Broken(error);
                    break;
                }
            }
        }
        buffer.truncate(filled);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives a few bytes at a time, as a slow pipe does.
    struct Trickle(io::Cursor<Vec<u8>>);

    impl Read for Trickle {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let few = buffer.len().min(7);
            self.0.read(&mut buffer[..few])
        }
    }

    fn read(input: Input) -> (Vec<String>, Vec<String>) {
        let settings = ReadSettings {
            format: Some(InputFormat::Lines),
            ..ReadSettings::default()
        };
        let mut blocks = Blocks::new(vec![input], &settings);
        let mut block = Block::default();
        let (mut urls, mut problems) = (vec![], vec![]);
        while blocks.fill(&mut block) {
            block.documents(&settings, &mut |document| match document {
                Ok(document) => urls.push(document.url.into_owned()),
                Err(error) => problems.push(error.to_string()),
            });
            problems.extend(block.problem.take().map(|error| error.to_string()));
        }
        (urls, problems)
    }

    #[test]
    fn a_block_has_a_limited_number_of_records() {
        let count = 5 * BLOCK_RECORDS_MAX as usize;
        for text in ["x\n".repeat(count), "x\n".repeat(count) + "y"] {
            let lines = text.lines().count();
            let (urls, _) = read(Input::from_reader("r", io::Cursor::new(text)));
            assert_eq!(urls.len(), lines);
            assert_eq!(urls[lines - 1], format!("r:{lines}"));
        }
        let settings = ReadSettings {
            format: Some(InputFormat::Lines),
            ..ReadSettings::default()
        };
        let input = Input::from_reader("r", io::Cursor::new("x\n".repeat(count)));
        let mut blocks = Blocks::new(vec![input], &settings);
        let mut block = Block::default();
        assert!(blocks.fill(&mut block));
        assert_eq!(block.bytes.len(), 2 * BLOCK_RECORDS_MAX as usize);
        assert_eq!(blocks.bytes_taken(), 2 * count as u64);
    }

    #[test]
    fn blocks_end_where_records_end() {
        let line = "x".repeat(1000) + "\n";
        let text = line.repeat(3 * BLOCK_BYTES / 1000) + "last";
        let (urls, problems) = read(Input::from_reader(
            "r",
            Trickle(io::Cursor::new(text.into())),
        ));
        assert_eq!(problems, [""; 0]);
        assert_eq!(urls.len(), 3 * BLOCK_BYTES / 1000 + 1);
        assert_eq!(urls[0], "r:1");
        assert_eq!(urls[urls.len() - 1], format!("r:{}", urls.len()));
    }

    #[test]
    fn a_record_longer_than_a_block_is_read_whole() {
        let text = ["a\n", &"x".repeat(5 * BLOCK_BYTES), "\nb\n"].concat();
        let (urls, _) = read(Input::from_reader("r", io::Cursor::new(text)));
        assert_eq!(urls, ["r:1", "r:2", "r:3"]);
    }

    #[test]
    fn behind_a_record_that_is_too_long_reading_goes_on() {
        let endless = io::repeat(b'x').take(RECORD_BYTES_MAX as u64 + 1000);
        let stream = io::Cursor::new(b"a\n")
            .chain(endless)
            .chain(&b"\nb\nc\xff"[..]);
        let (urls, problems) = read(Input::from_reader("r", stream));
        assert_eq!(urls, ["r:1", "r:3"]);
        assert_eq!(problems.len(), 2);
        let byte = 2 + RECORD_BYTES_MAX + 1000 + 1 + 2 + 1;
        assert_eq!(
            problems[1],
            format!("r: record 4, byte {byte}: invalid UTF-8")
        );
        assert!(
            problems[0].starts_with("r: record 2, byte 2: a record of"),
            "{problems:?}"
        );
    }
}
