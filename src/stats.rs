//! What a run did, in numbers.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde::Serialize;
use serde::ser::Serializer;

use crate::candidates::SearchStats;
use crate::score::Estimate;
use crate::settings::Settings;

/// What a run did, in numbers.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Stats {
    /// What the run was asked to do.
    pub settings: Settings,
    /// What was read and found.
    pub counts: Counts,
    /// Documents that are not UTF-8, by the encoding that they seem to have.
    pub guessed_encodings: BTreeMap<&'static str, u64>,
    /// The formats of what was read.
    #[serde(skip)]
    pub formats: BTreeSet<&'static str>,
    /// The file of the first of them.
    #[serde(skip)]
    pub first_guessed: Option<String>,
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
