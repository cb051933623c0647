//! Changes an index, one at a time.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::checked::{cannot_read, cannot_write};
use super::lock::{self, Lock};
use super::manifest::{self, Manifest, SegmentEntry};
use super::merge::merge;
use super::removed::Removed;
use super::run::{KeyBlock, Run};
use super::tiers::{self, Sizes};
use super::writer::Making;
use super::{Index, Remembered, Spot};
use crate::document::DocumentId;
use crate::error::{Error, ErrorKind};

/// Who writes, and how long to wait for others who do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Writer {
    /// What others are told who wait.
    pub name: String,
    /// How long to wait for them.
    pub wait: Duration,
}

impl Default for Writer {
    fn default() -> Self {
        Self {
            name: format!("process {}", std::process::id()),
            wait: Duration::from_secs(10),
        }
    }
}

/// An index that nobody else changes.
#[derive(Debug)]
pub(crate) struct IndexWriter {
    index: Arc<Index>,
    run: Run,
    /// How much memory documents take that wait to be written.
    run_bytes_max: usize,
    /// What did not fit, as segments.
    runs: Vec<SegmentEntry>,
    /// How many segments of this kind were written so far.
    runs_written: u64,
    /// Keys of all documents that were added.
    keys: u64,
    /// The documents of each segment that are to be removed, with those that were.
    removed: Vec<Removed>,
    _lock: Lock,
}

/// Documents that wait take no more than this, however much memory there is.
const RUN_BYTES_MAX: u64 = 512 << 20;
/// Runs that are merged at once. Each of them takes some pages of memory while it is read.
const RUNS_MERGED_MAX: usize = 16;
/// Keys for each byte of checksums and of the directory of groups.
const KEYS_PER_BYTE: u64 = 8;

impl IndexWriter {
    /// A new index, which is there when it is committed.
    pub(crate) fn create(
        folder: &Path,
        settings: Remembered,
        writer: &Writer,
    ) -> Result<Self, Error> {
        let refuse = |what: &str| {
            let name = folder.to_string_lossy();
            Err(Error::in_file(&name, ErrorKind::Index(what.into())))
        };
        fs::create_dir_all(folder).map_err(|error| cannot_write(folder, error))?;
        let is_strange = |name: &str| name != lock::NAME && !manifest::is_own(name);
        if !Index::is_at(folder) && names(folder)?.iter().any(|name| is_strange(name)) {
            return refuse("there is something else in this folder; name another");
        }
        let lock = Lock::take(folder, &writer.name, writer.wait)?;
        if Index::is_at(folder) {
            return refuse("there is an index already; `simdup index add` adds to it");
        }
        let manifest = Manifest::new(settings);
        Self::new(Index::of(folder, &manifest)?, lock)
    }

    /// An index that is there.
    pub(crate) fn open(folder: &Path, writer: &Writer) -> Result<Self, Error> {
        Manifest::read(folder)?;
        let lock = Lock::take(folder, &writer.name, writer.wait)?;
        Self::new(Index::open(folder)?, lock)
    }

    fn new(index: Index, lock: Lock) -> Result<Self, Error> {
        let removed = index.segments.iter().map(|segment| segment.removed.clone());
        let writer = Self {
            removed: removed.collect(),
            index: Arc::new(index),
            run: Run::default(),
            run_bytes_max: RUN_BYTES_MAX as usize,
            runs: Vec::new(),
            runs_written: 0,
            keys: 0,
            _lock: lock,
        };
        writer.sweep()?;
        Ok(writer)
    }

    /// The index as it is without what has not been committed.
    pub(crate) fn index(&self) -> &Arc<Index> {
        &self.index
    }

    /// Lets documents that wait take no more than this, and keys on their way to a file.
    pub(crate) fn limit(&mut self, bytes: u64) {
        self.run_bytes_max = bytes.min(RUN_BYTES_MAX) as usize;
    }

    /// Memory that what was added takes when it is committed, its documents apart: the checksums of
    /// all files, and where groups of keys start.
    pub(crate) fn commit_bytes(&self) -> u64 {
        self.keys / KEYS_PER_BYTE
    }

    /// Removes files that are not part of the index.
    fn sweep(&self) -> Result<(), Error> {
        let folder = &self.index.folder;
        for name in names(folder)? {
            if manifest::is_own(&name) && !self.index.manifest.names(&name) {
                let path = folder.join(name);
                fs::remove_file(&path).map_err(|error| cannot_write(&path, error))?;
            }
        }
        Ok(())
    }

    /// Adds the documents of a block that have a number.
    pub(crate) fn push<'a>(
        &mut self,
        block: &KeyBlock,
        documents: &[Option<DocumentId>],
        id: impl Fn(DocumentId) -> &'a str,
    ) -> Result<(), Error> {
        for ((keys, record), document) in block.documents().zip(documents) {
            if let Some(document) = document {
                self.keys += keys.len() as u64;
                self.run.push(id(*document), keys, record);
            }
        }
        if self.run.bytes() > self.run_bytes_max {
            self.flush()?;
        }
        Ok(())
    }

    /// Writes what waits to a segment of its own, which is merged with others before it counts.
    fn flush(&mut self) -> Result<(), Error> {
        let number = self.next_run();
        let run = std::mem::take(&mut self.run);
        let written = run.write(&self.index.folder, number, self.making(false))?;
        self.runs.push(written);
        Ok(())
    }

    /// Returns the number of the next segment that is merged with others before it counts.
    fn next_run(&mut self) -> u64 {
        self.runs_written += 1;
        self.index.manifest.next + self.runs_written
    }

    fn making(&self, lasts: bool) -> Making {
        Making {
            lasts,
            bytes: self.run_bytes_max,
        }
    }

    /// Removes a document.
    pub(crate) fn remove(&mut self, spot: Spot) {
        self.removed[spot.segment as usize].insert(spot.document);
    }

    /// Makes all changes part of the index.
    pub(crate) fn commit(&mut self) -> Result<(), Error> {
        let folder = self.index.folder.clone();
        let mut manifest = self.index.manifest.clone();
        let added = self.finish_runs(manifest.next)?;
        if let Some(added) = added {
            manifest.segments.push(added);
            manifest.next += 1;
        }
        for ((entry, segment), removed) in manifest
            .segments
            .iter_mut()
            .zip(&self.index.segments)
            .zip(&self.removed)
        {
            if removed.count() > segment.removed.count() {
                let number = manifest.next;
                entry.removed = Some(removed.write(&folder, entry.number, number)?);
                manifest.next += 1;
            }
        }
        self.switch(&manifest)
    }

    /// The documents that wait, as one segment.
    fn finish_runs(&mut self, number: u64) -> Result<Option<SegmentEntry>, Error> {
        let folder = self.index.folder.clone();
        if self.runs.is_empty() {
            let run = std::mem::take(&mut self.run);
            return match run.is_empty() {
                true => Ok(None),
                false => run.write(&folder, number, self.making(true)).map(Some),
            };
        }
        if !self.run.is_empty() {
            self.flush()?;
        }
        while self.runs.len() > RUNS_MERGED_MAX {
            let runs = std::mem::take(&mut self.runs);
            for chunk in runs.chunks(RUNS_MERGED_MAX) {
                let number = self.next_run();
                let merged = self.merge_runs(chunk, number, false)?;
                self.runs.extend(merged);
            }
        }
        let runs = std::mem::take(&mut self.runs);
        self.merge_runs(&runs, number, true)
    }

    /// Merges consecutive runs into one segment, and removes them.
    fn merge_runs(
        &self,
        runs: &[SegmentEntry],
        number: u64,
        lasts: bool,
    ) -> Result<Option<SegmentEntry>, Error> {
        let folder = &self.index.folder;
        let merged = merge(runs, folder, number, self.making(lasts))?;
        for entry in runs {
            for path in super::writer::paths(folder, entry.number) {
                fs::remove_file(&path).map_err(|error| cannot_write(&path, error))?;
            }
        }
        Ok(merged)
    }

    /// Makes this the state of the index.
    fn switch(&mut self, manifest: &Manifest) -> Result<(), Error> {
        manifest.write(&self.index.folder)?;
        self.index = Arc::new(Index::after(
            Some(&self.index),
            &self.index.folder,
            manifest,
        )?);
        self.removed = self
            .index
            .segments
            .iter()
            .map(|segment| segment.removed.clone())
            .collect();
        // What is done is done: if something cannot be removed now, the next writer will do it.
        let _ = self.sweep();
        Ok(())
    }

    /// Merges segments as they come to be of the same size.
    pub(crate) fn merge_tiers(&mut self) -> Result<(), Error> {
        let sizes = |entry: &SegmentEntry| Sizes {
            all: entry.documents,
            live: entry.live(),
        };
        loop {
            let all: Vec<Sizes> = self.index.manifest.segments.iter().map(sizes).collect();
            match tiers::next(&all) {
                Some(range) => self.merge(range)?,
                None => return Ok(()),
            }
        }
    }

    /// Merges all segments into one.
    pub(crate) fn compact(&mut self) -> Result<(), Error> {
        match &self.index.manifest.segments[..] {
            [] => Ok(()),
            [only] if only.removed.is_none() => Ok(()),
            segments => self.merge(0..segments.len()),
        }
    }

    fn merge(&mut self, range: std::ops::Range<usize>) -> Result<(), Error> {
        let mut manifest = self.index.manifest.clone();
        let segments = &manifest.segments[range.clone()];
        let folder = &self.index.folder;
        let merged = merge(segments, folder, manifest.next, self.making(true))?;
        manifest.next += 1;
        manifest.segments.splice(range, merged);
        self.switch(&manifest)
    }
}

/// Whether there is nothing in a folder but what an index begins with.
pub(super) fn is_begun(folder: &Path) -> bool {
    names(folder).is_ok_and(|names| {
        let is_lock = |name: &String| name == lock::NAME;
        names.iter().any(is_lock)
            && names
                .iter()
                .all(|name| is_lock(name) || manifest::is_own(name))
    })
}

fn names(folder: &Path) -> Result<Vec<String>, Error> {
    let failed = |error| cannot_read(folder, error);
    let entries = fs::read_dir(folder).map_err(failed)?;
    let name = |entry: std::io::Result<fs::DirEntry>| {
        Ok(entry
            .map_err(failed)?
            .file_name()
            .to_string_lossy()
            .into_owned())
    };
    entries.map(name).collect()
}
