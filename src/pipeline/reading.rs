//! Reading and shingling a collection with all threads, down to what is kept of
//! each document.
//!
//! Threads take turns to unpack a block of records, and each parses, shingles and
//! digests the block it has unpacked. What is left of a block comes back in input
//! order, its documents numbered.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use super::{Run, ordered};
use crate::document::DocumentId;
use crate::error::{Error, ErrorKind};
use crate::observer::Observer;
use crate::read::{Block, Blocks, Input};
use crate::settings::{Settings, Strictness};
use crate::shingle::{Shingle, Shingler, Shingles, shingler};
use crate::stats::Stats;
use crate::urls::{Added, Urls};

/// What a thread makes of the shingles of each document of a block.
pub(super) trait Digest {
    /// What is left of a block.
    type Output: Send;

    /// Takes the next document of the block; it may have no shingle.
    fn document(&mut self, shingles: &[Shingle]);

    /// Ends the block.
    fn take(&mut self) -> Self::Output;
}

/// Reads all inputs. Each block's digest goes to `keep`, with the ordinals of its
/// documents; a document whose id was met before has none.
pub(super) fn read_all<D: Digest>(
    inputs: Vec<Input>,
    run: &mut Run<'_>,
    digest: impl Fn() -> D + Sync,
    keep: impl FnMut(&Urls, &[Option<DocumentId>], D::Output) -> ControlFlow<Option<Error>> + Send,
) -> Result<(), Error> {
    let started = Instant::now();
    let Run {
        settings,
        observer,
        urls,
        stats,
        ..
    } = run;
    let settings: &Settings = settings;
    let mut blocks = Blocks::new(inputs, &settings.read);
    let shingler = shingler(&settings.shingle);
    let earlier_bytes = stats.counts.input_bytes;
    let mut collector = Collector {
        settings,
        observer: *observer,
        keep,
        urls,
        stats,
        numbers: Vec::new(),
        failed: None,
    };
    ordered::map_in_order(
        |piece: &mut Piece| {
            let started = Instant::now();
            let more = blocks.fill(&mut piece.block);
            piece.input_bytes = earlier_bytes + blocks.bytes_taken();
            piece.reading = started.elapsed();
            more
        },
        |piece, digesting: &mut Digesting<'_, D>| digesting.block(piece),
        |batch| collector.add(batch),
        || Digesting {
            settings,
            shingler: &*shingler,
            digest: digest(),
            shingles: Shingles::default(),
        },
    );
    let failed = collector.failed;
    stats.seconds.read_and_sketch += started.elapsed();
    match failed {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

/// A block on its way from reading to digesting.
#[derive(Default)]
struct Piece {
    block: Block,
    /// Bytes taken from all inputs when the block had been read.
    input_bytes: u64,
    reading: Duration,
}

/// What a thread needs to digest blocks.
struct Digesting<'a, D> {
    settings: &'a Settings,
    shingler: &'a dyn Shingler,
    digest: D,
    shingles: Shingles,
}

impl<D: Digest> Digesting<'_, D> {
    fn block(&mut self, piece: &mut Piece) -> Batch<D::Output> {
        let started = Instant::now();
        let mut urls = String::new();
        let mut documents = Vec::new();
        let mut problems = Vec::new();
        let block = &piece.block;
        block.documents(&self.settings.read, &mut |document| match document {
            Ok(document) => {
                self.shingler.shingle(&document.content, &mut self.shingles);
                let shingles = self.shingles.as_slice();
                self.digest.document(shingles);
                urls.push_str(&document.url);
                documents.push(BatchDocument {
                    url_end: urls.len(),
                    is_empty: shingles.is_empty() && !self.shingles.is_short(),
                    is_short: self.shingles.is_short(),
                });
            }
            Err(error) => problems.push(error),
        });
        let record_bytes = block.bytes.len() as u64;
        problems.extend(piece.block.problem.take());
        Batch {
            urls,
            documents,
            digest: self.digest.take(),
            problems,
            input_bytes: piece.input_bytes,
            record_bytes,
            reading: piece.reading,
            sketching: started.elapsed(),
        }
    }
}

/// What is left of a block.
struct Batch<T> {
    urls: String,
    documents: Vec<BatchDocument>,
    digest: T,
    problems: Vec<Error>,
    input_bytes: u64,
    record_bytes: u64,
    reading: Duration,
    sketching: Duration,
}

struct BatchDocument {
    url_end: usize,
    is_empty: bool,
    is_short: bool,
}

/// Takes batches in input order, numbers the documents, and hands them on.
struct Collector<'a, K> {
    settings: &'a Settings,
    observer: &'a dyn Observer,
    keep: K,
    urls: &'a mut Urls,
    stats: &'a mut Stats,
    numbers: Vec<Option<DocumentId>>,
    failed: Option<Error>,
}

impl<K> Collector<'_, K> {
    fn add<T>(&mut self, batch: Batch<T>) -> ControlFlow<()>
    where
        K: FnMut(&Urls, &[Option<DocumentId>], T) -> ControlFlow<Option<Error>>,
    {
        self.stats.counts.input_bytes = batch.input_bytes;
        self.stats.counts.record_bytes += batch.record_bytes;
        self.stats.seconds.read_busy += batch.reading;
        self.stats.seconds.sketch_busy += batch.sketching;
        for error in batch.problems {
            if self.settings.strictness == Strictness::Stop {
                self.failed = Some(error);
                return ControlFlow::Break(());
            }
            self.stats.counts.skipped += 1;
            self.observer.problem(&error);
        }
        self.numbers.clear();
        let mut url_start = 0;
        for document in &batch.documents {
            let url = &batch.urls[url_start..document.url_end];
            url_start = document.url_end;
            let number = self.number(url, document)?;
            self.numbers.push(number);
        }
        self.observer
            .progress(batch.input_bytes, self.stats.counts.documents);
        (self.keep)(self.urls, &self.numbers, batch.digest).map_break(|error| self.failed = error)
    }

    fn number(
        &mut self,
        url: &str,
        document: &BatchDocument,
    ) -> ControlFlow<(), Option<DocumentId>> {
        let counts = &mut self.stats.counts;
        match self.urls.add(url) {
            Added::New(id) => {
                counts.documents += 1;
                counts.empty += u64::from(document.is_empty);
                counts.short += u64::from(document.is_short);
                ControlFlow::Continue(Some(id))
            }
            Added::Repeated(_) => {
                counts.repeated_ids += 1;
                ControlFlow::Continue(None)
            }
            Added::Full => {
                self.failed = Some(Error::in_file(url, ErrorKind::TooManyDocuments));
                ControlFlow::Break(())
            }
        }
    }
}
