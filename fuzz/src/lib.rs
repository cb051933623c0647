//! What the targets have in common: bytes go in as a file would, and the outcome must be the
//! same however they come in.
//!
//! Reading is fast because it is done on the calling thread, by the reader that the library
//! itself uses ([`Pieces`]). A whole run, with threads and little memory, starts a thread pool
//! each time: [`compare_runs`] is for one target only.

use std::cell::RefCell;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Read};
use std::sync::Mutex;

use simdup::inside::{Content, Piece, Pieces};
use simdup::settings::{InputFormat, Memory, ReadSettings};
use simdup::{Error, Input, Observer, Settings, find_pairs};

/// The memory of a cramped run: a few shingles go to a file.
const MEMORY_BYTES: u64 = 4096;
/// Bytes that a slow input gives at a time.
const SIP_BYTES: usize = 7;
/// Pieces that a live input comes in at the most: each may take new buffers.
const LIVE_PIECES: usize = 8;

/// A number that an input draws: which of several ways it is read. All ways for each input would
/// take several times as long, and a mutation of an input draws another one.
pub fn draw(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish()
}

/// Reads a file on this thread. A format of `None` is recognized.
pub fn read(format: Option<InputFormat>, bytes: &[u8]) {
    let settings = ReadSettings {
        format,
        ..ReadSettings::default()
    };
    read_with(&settings, bytes);
}

/// Reads a file on this thread with some settings: all at once, and one in four also in sips, and
/// one in four as what a pipe has at the time.
pub fn read_with(settings: &ReadSettings, bytes: &[u8]) {
    let whole = contents(io::Cursor::new(bytes.to_vec()), settings);
    match draw(bytes) % 4 {
        0 => {
            let sips = contents(Sips::new(bytes, SIP_BYTES), settings);
            assert_eq!(whole, sips);
        }
        1 => {
            // The format and the encoding may be decided by less of the file, so that the outcome
            // may be another one.
            let live = ReadSettings {
                live: true,
                ..settings.clone()
            };
            let sip_bytes = bytes.len().div_ceil(LIVE_PIECES).max(SIP_BYTES);
            contents(Sips::new(bytes, sip_bytes), &live);
        }
        _ => {}
    }
}

/// Reads a file of records with fields on this thread: the text alone, or many fields.
pub fn read_fields(format: InputFormat, bytes: &[u8]) {
    if draw(bytes) & 4 == 0 {
        return read(Some(format), bytes);
    }
    let many = ReadSettings {
        format: Some(format),
        text_fields: ["text", "words", "deep.lines"].map(Into::into).into(),
        value_field: Some("n".into()),
        party_field: Some("deep.n".into()),
        ..ReadSettings::default()
    };
    read_with(&many, bytes);
}

/// A file with one byte changed; with `by` zero, the file itself.
pub fn damaged(mut file: Vec<u8>, place: u16, by: u8) -> Vec<u8> {
    let length = file.len().max(1);
    if let Some(byte) = file.get_mut(usize::from(place) % length) {
        *byte ^= by;
    }
    file
}

/// The contents of a file, as far as they can be compared.
#[derive(Debug, Default, PartialEq)]
struct Contents {
    /// A hash of each document, with its number.
    documents: Vec<(u64, u64)>,
    problems: Vec<String>,
    passed_over: Vec<(u64, &'static str)>,
    files_passed_over: usize,
}

fn contents(bytes: impl Read + Send + 'static, settings: &ReadSettings) -> Contents {
    thread_local! {
        /// The buffers of the last file, which are made to be used again.
        static PIECE: RefCell<Piece> = RefCell::default();
    }
    PIECE.with_borrow_mut(|piece| {
        let mut found = Contents::default();
        let inputs = vec![Input::from_reader("input", bytes)];
        let mut pieces = Pieces::new(inputs, settings);
        while pieces.next(piece) {
            found.add(piece, settings);
        }
        found
    })
}

impl Contents {
    fn add(&mut self, piece: &mut Piece, settings: &ReadSettings) {
        for block in piece.blocks() {
            let (mut documents, mut records) = (0, 0);
            block.passed_over(&mut |number, what| self.passed_over.push((number, what)));
            block.records(&mut |_| records += 1);
            block.documents(settings, &mut |document| {
                documents += 1;
                match document {
                    Ok(document) => {
                        let mut hasher = DefaultHasher::new();
                        document.url.hash(&mut hasher);
                        match &document.content {
                            Content::Text(text) => text.hash(&mut hasher),
                            Content::Items(items) => items.hash(&mut hasher),
                        }
                        document.record.hash(&mut hasher);
                        document.notes.hash(&mut hasher);
                        document.fields.hash(&mut hasher);
                        for link in &document.links {
                            (&link.url, &link.text).hash(&mut hasher);
                        }
                        let values = [&document.value, &document.party];
                        format!("{values:?}").hash(&mut hasher);
                        let number = block.first_record + document.number;
                        self.documents.push((number, hasher.finish()));
                    }
                    Err(error) => self.problems.push(error.to_string()),
                }
            });
            assert_eq!(documents, records, "records are documents or errors");
        }
        self.problems
            .extend(piece.problem.take().map(|error| error.to_string()));
        self.files_passed_over += usize::from(piece.passed_over);
    }
}

/// Finds the pairs of a file twice: on one thread, and in sips with two threads and little
/// memory. This takes a millisecond and more.
pub fn compare_runs(format: Option<InputFormat>, bytes: &[u8]) {
    let settings = Settings {
        read: ReadSettings {
            format,
            ..ReadSettings::default()
        },
        measure: simdup::settings::Measure::Jaccard,
        threads: 1,
        ..Settings::default()
    };
    let cramped = Settings {
        threads: 2,
        memory: Some(Memory {
            bytes: MEMORY_BYTES,
            temp_dir: std::env::temp_dir(),
        }),
        ..settings.clone()
    };
    let whole = outcome(io::Cursor::new(bytes.to_vec()), &settings);
    let sips = outcome(Sips::new(bytes, SIP_BYTES), &cramped);
    assert_eq!(whole, sips);
}

/// The visible outcome of a run.
#[derive(Debug, PartialEq)]
struct Outcome {
    pairs: Result<Vec<String>, String>,
    problems: Vec<String>,
}

fn outcome(bytes: impl Read + Send + 'static, settings: &Settings) -> Outcome {
    let problems = Problems::default();
    let inputs = vec![Input::from_reader("input", bytes)];
    let pairs = find_pairs(inputs, settings, &problems).and_then(|similar| {
        let pairs = similar.pairs.to_vec()?;
        let line = |pair: &simdup::Pair| {
            let [left, right] = [pair.left, pair.right].map(|id| similar.urls.get(id));
            format!("{left:?} {right:?} {}", pair.score)
        };
        Ok(pairs.iter().map(line).collect())
    });
    Outcome {
        pairs: pairs.map_err(|error| error.to_string()),
        problems: problems.0.into_inner().unwrap_or_default(),
    }
}

#[derive(Default)]
struct Problems(Mutex<Vec<String>>);

impl Observer for Problems {
    fn problem(&self, error: &Error) {
        if let Ok(mut problems) = self.0.lock() {
            problems.push(error.to_string());
        }
    }
}

/// An input that gives a few bytes at a time, as a pipe may.
struct Sips {
    bytes: io::Cursor<Vec<u8>>,
    sip_bytes: usize,
}

impl Sips {
    fn new(bytes: &[u8], sip_bytes: usize) -> Self {
        Self {
            bytes: io::Cursor::new(bytes.to_vec()),
            sip_bytes,
        }
    }
}

impl Read for Sips {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = buffer.len().min(self.sip_bytes);
        self.bytes.read(&mut buffer[..length])
    }
}
