//! Documents that are remembered on disk, to be asked about and added to: a folder of immutable
//! segments and a manifest that says which of them count. Knows neither the command line nor
//! output formats.
//!
//! A segment is written, is on the disk, and becomes part of the index when the manifest is
//! replaced, which happens in one step: after whatever interruption, all of a batch is there or
//! nothing of it. What no manifest names is removed by the next one who writes. Those who read
//! have all files open that their manifest names, and so see one state for as long as they like.

mod adding;
mod check;
mod checked;
mod geometry;
#[cfg(test)]
mod hostile;
mod info;
mod key;
mod keys;
mod lock;
mod manifest;
mod map;
pub(crate) mod matching;
mod merge;
mod querying;
mod record;
mod remembered;
mod removed;
mod run;
mod search;
mod segment;
#[cfg(test)]
mod tests;
mod tiers;
mod writer;
mod writing;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use crate::error::{Error, ErrorKind};
use manifest::{Manifest, SegmentEntry};
use segment::Segment;

pub use adding::{AddedPairs, Adding};
pub use info::{IndexInfo, LongList, SegmentInfo};
pub(crate) use key::{Key, keys_of};
pub use querying::{Answer, Found, Query, QueryStats, Wanted};
pub use remembered::Difference;
pub(crate) use remembered::Remembered;
pub(crate) use run::KeyBlock;
pub(crate) use search::{Enough, Lookups, Searcher, Shared};
pub(crate) use writing::IndexWriter;
pub use writing::Writer;

/// An index, in the state that it had when it was opened.
///
/// ```
/// use std::ops::ControlFlow;
///
/// use simdup::settings::{Measure, Query, Writer};
/// use simdup::{Index, Input, Quiet, Settings};
///
/// let input = |text: &'static str| vec![Input::from_reader("documents", text.as_bytes())];
/// let settings = Settings { measure: Measure::Jaccard, ..Settings::default() };
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = &folder.path().join("index");
/// let documents = r#"{"url": "a", "text": "one ship came into the harbour at dawn"}"#;
/// Index::create(path, input(documents), &settings, &Writer::default(), &Quiet)?;
///
/// let index = Index::open(path)?;
/// let question = r#"{"url": "q", "text": "One ship came into the harbour at dawn!"}"#;
/// index.query(input(question), &settings, &Query::default(), &Quiet, |answer| {
///     assert_eq!((answer.url, answer.found[0].url), ("q", "a"));
///     assert_eq!(answer.found[0].score.to_string(), "1.0");
///     ControlFlow::Continue(())
/// })?;
/// # Ok::<(), simdup::Error>(())
/// ```
#[derive(Debug)]
pub struct Index {
    folder: PathBuf,
    manifest: Manifest,
    segments: Vec<Segment>,
}

/// Where a document stands in an index. Documents that were added earlier come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Spot {
    segment: u32,
    document: u32,
}

/// The documents of an index as numbers, in order.
#[derive(Clone, Debug)]
pub(crate) struct Numbers {
    starts: Vec<u32>,
}

impl Numbers {
    /// The number of a document.
    pub(crate) fn of(&self, spot: Spot) -> u32 {
        self.starts[spot.segment as usize] + spot.document
    }

    /// The document of a number.
    pub(crate) fn spot(&self, number: u32) -> Spot {
        let segment = self.starts.partition_point(|&start| start <= number) - 1;
        Spot {
            segment: segment as u32,
            document: number - self.starts[segment],
        }
    }
}

impl Index {
    /// Opens an index to ask it.
    ///
    /// # Errors
    /// If there is none, if a later simdup made it, or if it is damaged.
    pub fn open(folder: impl Into<PathBuf>) -> Result<Self, Error> {
        let folder = folder.into();
        let mut manifest = Manifest::read(&folder)?;
        loop {
            let error = match Self::of(&folder, &manifest) {
                Ok(index) => return Ok(index),
                Err(error) => error,
            };
            // Files go when someone else has made the next state.
            let now = Manifest::read(&folder)?;
            if now == manifest {
                return Err(error);
            }
            manifest = now;
        }
    }

    fn of(folder: &Path, manifest: &Manifest) -> Result<Self, Error> {
        Self::after(None, folder, manifest)
    }

    /// The state that a manifest tells, with what an earlier state has open already.
    fn after(before: Option<&Self>, folder: &Path, manifest: &Manifest) -> Result<Self, Error> {
        let known = |entry: &SegmentEntry| {
            let before = before?;
            let is_same = |known: &SegmentEntry| known.number == entry.number;
            let place = before.manifest.segments.iter().position(is_same)?;
            Some(&before.segments[place])
        };
        let open = |entry: &SegmentEntry| match known(entry) {
            Some(segment) => segment.again(folder, entry),
            None => Segment::open(folder, entry),
        };
        let segments: Result<Vec<Segment>, Error> = manifest.segments.iter().map(open).collect();
        Ok(Self {
            folder: folder.to_owned(),
            manifest: manifest.clone(),
            segments: segments?,
        })
    }

    /// What the index at a place remembers, without opening the rest of it.
    pub(crate) fn remembered_at(folder: &Path) -> Result<Remembered, Error> {
        Ok(Manifest::read(folder)?.settings)
    }

    /// Whether a path is that of an index.
    pub fn is_at(path: &Path) -> bool {
        path.join(manifest::NAME).is_file()
    }

    /// Whether a path is that of an index that was begun and has nothing in it yet.
    pub fn is_begun_at(path: &Path) -> bool {
        path.is_dir() && !Self::is_at(path) && writing::is_begun(path)
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The settings that made its documents.
    pub(crate) fn remembered(&self) -> &Remembered {
        &self.manifest.settings
    }

    /// How many documents it has.
    pub fn len(&self) -> u64 {
        self.segments
            .iter()
            .map(|segment| u64::from(segment.live()))
            .sum()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The document of that id.
    pub(crate) fn find(&self, id: &str) -> Result<Option<Spot>, Error> {
        for (number, segment) in (0..).zip(&self.segments) {
            if let Some(document) = segment.find_id(id)? {
                return Ok(Some(Spot {
                    segment: number,
                    document,
                }));
            }
        }
        Ok(None)
    }

    /// Numbers for all documents, those that were removed among them.
    pub(crate) fn numbers(&self) -> Result<Numbers, Error> {
        let mut starts = Vec::new();
        let mut total = 0_u32;
        for segment in &self.segments {
            starts.push(total);
            total = total.checked_add(segment.count()).ok_or_else(|| {
                let name = self.folder.to_string_lossy();
                Error::in_file(&name, ErrorKind::TooManyDocuments)
            })?;
        }
        Ok(Numbers { starts })
    }

    /// Calls `each` with the id of every document, how many shingles it has, and its fields as a
    /// JSON object or nothing, in order, until it breaks.
    ///
    /// # Errors
    /// If the index is damaged.
    pub fn for_each_document(
        &self,
        mut each: impl FnMut(&str, u32, &str) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        for spot in self.documents() {
            let fields = self.segment(spot).fields(spot.document)?;
            if each(self.id(spot)?, self.size(spot)?, fields).is_break() {
                break;
            }
        }
        Ok(())
    }

    /// All documents that are there, in order.
    pub(crate) fn documents(&self) -> impl Iterator<Item = Spot> + '_ {
        (0..).zip(&self.segments).flat_map(|(number, segment)| {
            let there = |&document: &u32| !segment.removed.contains(document);
            let documents = (0..segment.count()).filter(there);
            documents.map(move |document| Spot {
                segment: number,
                document,
            })
        })
    }

    fn segment(&self, spot: Spot) -> &Segment {
        &self.segments[spot.segment as usize]
    }

    /// The id of a document.
    pub(crate) fn id(&self, spot: Spot) -> Result<&str, Error> {
        self.segment(spot).id(spot.document)
    }

    /// How many keys a document has.
    pub(crate) fn size(&self, spot: Spot) -> Result<u32, Error> {
        self.segment(spot).size(spot.document)
    }

    /// The keys of a document, in order.
    pub(crate) fn keys(&self, spot: Spot, keys: &mut Vec<Key>) -> Result<(), Error> {
        self.segment(spot).keys_of(spot.document, keys)
    }

    /// Gives the documents but one that share enough with one that has these keys, in order.
    pub(crate) fn search(
        &self,
        keys: &[Key],
        but: Option<Spot>,
        enough: Enough,
        searcher: &mut Searcher,
        mut each: impl FnMut(Spot, Shared),
    ) -> Result<(), Error> {
        for (number, segment) in (0..).zip(&self.segments) {
            let but = but.filter(|spot| spot.segment == number);
            let but = but.map(|spot| spot.document);
            searcher.search(segment, keys, but, enough, |shared| {
                let spot = Spot {
                    segment: number,
                    document: shared.document,
                };
                each(spot, shared);
            })?;
        }
        Ok(())
    }
}
