//! What a run did, in numbers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde::ser::Serializer;

use crate::document::TextNotes;
use crate::error::{Error, ErrorKind};
use crate::score::Estimate;
use crate::search::SearchStats;
use crate::settings::Settings;

/// What a run did, in numbers.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Stats {
    /// What the run was asked to do.
    pub settings: Settings,
    /// What was read and found.
    pub counts: Counts,
    /// Documents whose texts were not read as they stand.
    #[serde(flatten)]
    pub texts: TextStats,
    /// The formats of what was read.
    #[serde(skip)]
    pub formats: BTreeSet<&'static str>,
    /// The first file of UTF-16 or UTF-32 whose records are written, as UTF-8, and how many
    /// documents there are in such files.
    #[serde(skip)]
    pub transcoded: Option<(String, u64)>,
    /// Text fields that were named, and that no document has.
    pub missing_fields: Vec<String>,
    /// Fields that an index was to store, and that no document has.
    pub missing_stored_fields: Vec<String>,
    /// What folders below several FILEs have in common, where they make groups.
    #[serde(skip)]
    pub folders: Option<FolderNotes>,
    /// How candidates were found.
    pub search: SearchStats,
    /// Where the time went.
    pub seconds: Seconds,
    /// What scores are worth, if they are estimates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimate: Option<Estimate>,
    /// The least effective number of clusters behind a confidence interval of `eval`, where few
    /// clusters have most of the pairs and the interval may be too narrow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uneven_clusters: Option<f64>,
    /// The least memory that the run could do with, as it follows from the counts.
    pub floor_memory_bytes: u64,
    /// The most memory the process had resident, where the system tells.
    pub peak_memory_bytes: Option<u64>,
}

/// Documents whose texts were not read as they stand, and the first file of each kind.
#[derive(Clone, Debug, Default, Serialize)]
pub struct TextStats {
    /// Documents that are not UTF-8, by the encoding that they seem to have.
    pub guessed_encodings: BTreeMap<&'static str, u64>,
    /// The first file of these.
    #[serde(skip)]
    pub first_guessed: Option<Arc<str>>,
    /// Documents in an encoding that cannot be decoded, by that encoding.
    pub unread_encodings: BTreeMap<&'static str, u64>,
    /// The first file of these.
    #[serde(skip)]
    pub first_unread: Option<Arc<str>>,
    /// Bytes that are not UTF-8 and were replaced by U+FFFD.
    pub replaced_bytes: u64,
    /// Documents with such bytes.
    pub repaired: u64,
    /// The file of the first of these bytes, and its place.
    #[serde(skip)]
    pub first_repaired: Option<(Arc<str>, u64)>,
    /// JSON arrays without a text field, read as plain text.
    pub plain_arrays: u64,
    /// The first file of these.
    #[serde(skip)]
    pub first_plain_array: Option<Arc<str>>,
    /// Files that are not empty and whose text a command made.
    pub printed: u64,
    /// Those of them for which it printed nothing.
    pub silent: u64,
    /// The first of these.
    #[serde(skip)]
    pub first_silent: Option<Arc<str>>,
}

impl TextStats {
    /// Adds the notes on a document of a file.
    pub(crate) fn add(&mut self, notes: TextNotes, file: &Arc<str>) {
        let first = |first: &mut Option<Arc<str>>| {
            first.get_or_insert_with(|| Arc::clone(file));
        };
        if let Some(guess) = notes.guess {
            *self.guessed_encodings.entry(guess).or_default() += 1;
            first(&mut self.first_guessed);
        }
        if let Some(suspect) = notes.suspect {
            *self.unread_encodings.entry(suspect).or_default() += 1;
            first(&mut self.first_unread);
        }
        if let Some(stray) = notes.stray {
            self.replaced_bytes += stray.count;
            self.repaired += 1;
            let place = || (Arc::clone(file), stray.first);
            self.first_repaired.get_or_insert_with(place);
        }
        if notes.is_array {
            self.plain_arrays += 1;
            first(&mut self.first_plain_array);
        }
    }

    /// Adds a file whose text a command made.
    pub(crate) fn add_printed(&mut self, is_silent: bool, file: &Arc<str>) {
        self.printed += 1;
        if is_silent {
            self.silent += 1;
            self.first_silent.get_or_insert_with(|| Arc::clone(file));
        }
    }

    /// Adds what was counted behind this.
    pub(crate) fn merge(&mut self, behind: Self) {
        for (name, documents) in behind.guessed_encodings {
            *self.guessed_encodings.entry(name).or_default() += documents;
        }
        for (name, documents) in behind.unread_encodings {
            *self.unread_encodings.entry(name).or_default() += documents;
        }
        self.replaced_bytes += behind.replaced_bytes;
        self.repaired += behind.repaired;
        self.plain_arrays += behind.plain_arrays;
        self.printed += behind.printed;
        self.silent += behind.silent;
        self.first_guessed = self.first_guessed.take().or(behind.first_guessed);
        self.first_unread = self.first_unread.take().or(behind.first_unread);
        self.first_repaired = self.first_repaired.take().or(behind.first_repaired);
        self.first_plain_array = self.first_plain_array.take().or(behind.first_plain_array);
        self.first_silent = self.first_silent.take().or(behind.first_silent);
    }

    /// The error that a command printed nothing for any file.
    pub(crate) fn nothing_printed(&self) -> Option<Error> {
        let first = self.first_silent.as_ref()?;
        let files = self.silent;
        (files == self.printed).then(|| Error::in_file(first, ErrorKind::NothingPrinted(files)))
    }
}

/// What may not be meant, where the folders below several directories or archives make groups.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FolderNotes {
    /// A folder that two of them have: its documents are one group.
    pub shared: Option<(String, [String; 2])>,
    /// A document that is in no folder, and so in no group.
    pub outside: Option<String>,
    /// The folder above them, if they are all in one.
    pub above: Option<String>,
}

/// What was read and found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Bytes taken from the inputs, before decompression.
    pub input_bytes: u64,
    /// Bytes of records, after decompression.
    pub record_bytes: u64,
    /// Documents in the collection: each id once.
    pub documents: u64,
    /// Documents that they are compared with, where those are another collection.
    pub against: u64,
    /// Documents without a token, which match nothing.
    pub empty: u64,
    /// Documents with fewer tokens than one shingle.
    pub short: u64,
    /// Documents with fewer or more words than asked for, which are not compared.
    pub left_out: u64,
    /// Documents with nothing but what is in a template, which match nothing.
    pub template_only: u64,
    /// Groups whose documents are not compared with each other.
    pub groups: u64,
    /// Documents that are in one.
    pub grouped: u64,
    /// Records that could not be used, and inputs that could not be read on.
    pub skipped: u64,
    /// Files of directories and members of archives without text.
    pub passed_over: u64,
    /// Inputs that were kept, in memory or in a file, before they could be read.
    pub kept_first: u64,
    /// Records of WARC archives that are no documents: requests, images and the like.
    pub passed_over_records: u64,
    /// Files that were named or found more than once, under the same or another path, and were
    /// read once: the names that were left out.
    pub repeated_files: u64,
    /// Records whose id a document before them has.
    pub repeated_ids: u64,
    /// Documents whose id the index has that they are added to: left out, or taken instead.
    pub present_ids: u64,
    /// Documents whose signature, or set of shingles, a document before them has.
    pub identical: u64,
    /// Whether shingles did not fit into memory and went to a temporary file.
    pub spilled: bool,
    /// Documents or links written that have a score above 0, where they are ranked.
    pub ranked: u64,
    /// Pairs compared.
    pub candidates: u64,
    /// Pairs written.
    pub pairs: u64,
    /// Clusters of two documents and more.
    pub clusters: u64,
    /// Documents in them besides the keepers.
    pub members: u64,
}

/// Where the time went.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Seconds {
    /// From the first byte to the last signature. Reading and sketching overlap.
    #[serde(serialize_with = "seconds")]
    pub read_and_sketch: Duration,
    /// Of that, reading and decompressing: the sum over threads.
    #[serde(serialize_with = "seconds")]
    pub read_busy: Duration,
    /// Of that, parsing, shingling and sketching: the sum over threads.
    #[serde(serialize_with = "seconds")]
    pub sketch_busy: Duration,
    /// Making sets of bundles from shingles.
    #[serde(serialize_with = "seconds")]
    pub bundle: Duration,
    /// Finding and scoring candidates.
    #[serde(serialize_with = "seconds")]
    pub candidates: Duration,
    /// Writing.
    #[serde(serialize_with = "seconds")]
    pub write: Duration,
}

fn seconds<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64((duration.as_secs_f64() * 1e6).round() / 1e6)
}
