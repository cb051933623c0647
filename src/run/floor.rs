//! The least memory that a run can do with, counted as it goes: what it holds of every document,
//! and of the largest record. What is beyond it has a share of what the floor leaves of
//! [`Memory`](crate::Memory), and goes to temporary files when that is used up.
//!
//! It is computed from counts and never measured, so that it is the same in every run.

use super::ordered::WaitingMax;
use super::reading::{Ids, Wants};
use crate::score::Measure;
use crate::search::{Way, way};
use crate::settings::Settings;
use crate::shingle::Shingles;

/// The program itself, with its tables.
const PROGRAM_BYTES: u64 = 8 << 20;
/// What a thread reads and works on at a time, as long as records are of usual size.
const THREAD_BYTES: u64 = 2 << 20;
/// Where a document's id stands, and its share of the table of ids, which is the largest when it
/// is made anew, twice as large, and filled from the old one.
const ID_BYTES: u64 = 8 + 32;
/// The group of a document, and of a group its members, size, links and what is worked out on the
/// way to them: by positions, and by sets.
const POSITION_PAIRS_BYTES: u64 = 52;
const PAIRS_BYTES: u64 = 88;
/// What clusters take besides: an order, who stands for whom, and the score.
const CLUSTERS_BYTES: u64 = 32;
/// Where a document of an index stands, while it is written.
const INDEX_BYTES: u64 = 64;
/// The length and the print of a document's list of shingles.
const LIST_BYTES: u64 = 20;
/// What became of a record, and its print.
const RECORD_BYTES: u64 = 16;
/// A position of a signature.
const POSITION_BYTES: u64 = 4;
/// A shingle, or a token.
const SHINGLE_BYTES: u64 = 8;
/// The least that the rest is worked on in, unless the memory is less.
const REST_BYTES_MIN: u64 = 16 << 20;

/// Where documents are ranked, so little of each is kept that what waits would be most of it.
const RANKS_SHARED_BYTES_MAX: u64 = 64 << 20;

/// What a run is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Signatures, none of which is kept.
    Sketches,
    Pairs,
    Clusters,
    /// Cosines, of which those that are kept are counted when all is read.
    Ranks,
    /// Segments of an index.
    Index,
    /// Segments of an index, and the pairs of what is added.
    IndexPairs,
}

/// What must be held, in counts.
#[derive(Clone, Debug)]
pub(crate) struct Floor {
    threads: u64,
    /// Bytes for each document, its id apart.
    document_bytes: u64,
    /// Bytes for each record, whatever became of it.
    record_bytes: u64,
    /// How often the largest record is held, and each of its shingles.
    record_copies: u64,
    shingle_copies: u64,
    /// How often ids are held.
    id_copies: u64,
    counted: Counted,
    windows: u64,
    /// How much of the rest what waits has a share of.
    shared_bytes_max: u64,
}

/// What was counted of some records.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counted {
    pub(crate) documents: u64,
    /// Bytes of ids, and of the fields that documents bring along.
    pub(crate) id_bytes: u64,
    pub(crate) records: u64,
    /// The most bytes of a record, and the most shingles of a document, and tokens that are held
    /// besides.
    pub(crate) record_bytes_max: u64,
    pub(crate) shingles_max: u64,
    pub(crate) tokens_max: u64,
    /// The most bytes of what is held once and is no document: a record that is too long, or what
    /// stands before the first record.
    pub(crate) other_bytes_max: u64,
}

impl Counted {
    /// Takes a document's record.
    pub(crate) fn record(&mut self, record: &[u8], shingles: &Shingles) {
        let [bytes, count, tokens] = [
            record.len(),
            shingles.as_slice().len(),
            shingles.tokens_held(),
        ];
        self.record_bytes_max = self.record_bytes_max.max(bytes as u64);
        self.shingles_max = self.shingles_max.max(count as u64);
        self.tokens_max = self.tokens_max.max(tokens as u64);
    }
}

/// The least memory of a run that reads no document.
pub(crate) fn floor_of_threads(settings: &Settings) -> u64 {
    PROGRAM_BYTES + settings.thread_count() as u64 * THREAD_BYTES
}

impl Floor {
    pub(crate) fn new(settings: &Settings, wants: Wants, purpose: Purpose) -> Self {
        let signature = POSITION_BYTES * settings.sketch.positions() as u64;
        let is_sketched = matches!(way(settings), Way::Bands(_));
        let features = match (purpose, settings.measure) {
            (Purpose::Sketches | Purpose::Ranks | Purpose::Index, _) => 0,
            (_, Measure::MinHash) => signature,
            _ if is_sketched => LIST_BYTES + signature,
            _ => LIST_BYTES,
        };
        let compared = match purpose {
            Purpose::Sketches | Purpose::Ranks => 0,
            Purpose::Index => INDEX_BYTES,
            Purpose::IndexPairs => INDEX_BYTES + PAIRS_BYTES,
            Purpose::Pairs if settings.measure == Measure::MinHash => POSITION_PAIRS_BYTES,
            Purpose::Pairs => PAIRS_BYTES,
            Purpose::Clusters => PAIRS_BYTES + CLUSTERS_BYTES,
        };
        // The table of ids is gone when documents are compared.
        let id_bytes = match purpose {
            Purpose::Ranks if wants.ids != Ids::Kept => 0,
            // Here it is not.
            Purpose::Index | Purpose::IndexPairs | Purpose::Ranks => ID_BYTES + compared,
            _ => ID_BYTES.max(8 + compared),
        };
        let document_bytes = features + id_bytes + if wants.lengths { 8 } else { 0 };
        Self {
            threads: settings.thread_count() as u64,
            document_bytes,
            record_bytes: if wants.records { RECORD_BYTES } else { 0 },
            // As it was read, as text, and where records are written, on the way to that.
            record_copies: if wants.records { 4 } else { 2 },
            // Where they are made, and on the way to where they are kept.
            shingle_copies: match (purpose, settings.measure) {
                (Purpose::Pairs, Measure::MinHash) => 1,
                _ => 2,
            },
            id_copies: match purpose {
                Purpose::Index | Purpose::IndexPairs => 2,
                _ => 1,
            },
            counted: Counted::default(),
            windows: 0,
            shared_bytes_max: match purpose {
                Purpose::Ranks => RANKS_SHARED_BYTES_MAX,
                _ => u64::MAX,
            },
        }
    }

    /// Counts more.
    pub(crate) fn add(&mut self, more: &Counted) {
        let all = &mut self.counted;
        all.documents += more.documents;
        all.id_bytes += more.id_bytes;
        all.records += more.records;
        all.record_bytes_max = all.record_bytes_max.max(more.record_bytes_max);
        all.shingles_max = all.shingles_max.max(more.shingles_max);
        all.tokens_max = all.tokens_max.max(more.tokens_max);
        all.other_bytes_max = all.other_bytes_max.max(more.other_bytes_max);
    }

    /// What was counted so far.
    pub(crate) fn counted(&self) -> &Counted {
        &self.counted
    }

    /// Counts the windows of so many inputs that are compressed with such a one at the most:
    /// each thread has one of them open.
    pub(crate) fn add_windows(&mut self, inputs: usize, window_bytes: u64) {
        let open = self.threads.min(inputs as u64);
        self.windows = self.windows.max(open * window_bytes);
    }

    /// The least memory that the run can do with.
    pub(crate) fn bytes(&self) -> u64 {
        let Counted {
            documents,
            id_bytes,
            records,
            record_bytes_max,
            shingles_max,
            tokens_max,
            other_bytes_max,
        } = self.counted;
        PROGRAM_BYTES
            + self.threads * THREAD_BYTES
            + self.windows
            + id_bytes * self.id_copies
            + documents * self.document_bytes
            + records * self.record_bytes
            + record_bytes_max * self.record_copies
            + other_bytes_max
            + (shingles_max * self.shingle_copies + tokens_max) * SHINGLE_BYTES
    }

    /// What it leaves of the memory for all that can go to files.
    pub(crate) fn rest(&self, memory_bytes: u64) -> u64 {
        let least = REST_BYTES_MIN.min(memory_bytes);
        memory_bytes.saturating_sub(self.bytes()).max(least)
    }

    /// How much of that may wait for its turn.
    pub(crate) fn waiting_max(&self, memory_bytes: u64) -> WaitingMax {
        WaitingMax::of(self.rest(memory_bytes).min(self.shared_bytes_max))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_floor_grows_with_documents_and_the_largest_record_only() {
        let settings = Settings {
            threads: 2,
            measure: Measure::Jaccard,
            ..Settings::default()
        };
        let mut floor = Floor::new(&settings, Wants::default(), Purpose::Pairs);
        let empty = floor.bytes();
        assert_eq!(empty, PROGRAM_BYTES + 2 * THREAD_BYTES);
        let counted = Counted {
            documents: 10,
            id_bytes: 70,
            records: 11,
            record_bytes_max: 1000,
            shingles_max: 100,
            tokens_max: 104,
            other_bytes_max: 0,
        };
        let shingles = (2 * 100 + 104) * 8;
        floor.add(&counted);
        floor.add(&counted);
        let documents = 20 * (LIST_BYTES + 8 + PAIRS_BYTES) + 140;
        assert_eq!(floor.bytes() - empty, documents + 2 * 1000 + shingles);
        floor.add_windows(1, 1 << 20);
        floor.add_windows(9, 1 << 20);
        assert_eq!(
            floor.bytes() - empty,
            documents + 2 * 1000 + shingles + (2 << 20)
        );
    }

    #[test]
    fn what_is_left_is_never_nothing() {
        let settings = Settings {
            threads: 1,
            ..Settings::default()
        };
        let floor = Floor::new(&settings, Wants::default(), Purpose::Pairs);
        let bytes = floor.bytes();
        assert_eq!(floor.rest(0), 0);
        assert_eq!(floor.rest(1000), 1000);
        assert_eq!(floor.rest(bytes), bytes.min(REST_BYTES_MIN));
        assert_eq!(floor.rest(bytes + (1 << 30)), 1 << 30);
    }
}
