//! The list of all that is not in the output, and why.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::cluster::documents::Assigned;
use crate::collection::{Fate, Records, Urls};
use crate::error::{Error, Place};
use crate::observer::{Expected, Observer, Phase};
use crate::write::{NamedWriter, RemovedLine, write_removed};

/// Where what was left out is listed, and whether that went well.
type Listing<'l, 'w> = (Option<&'l mut NamedWriter<'w>>, Result<(), Error>);

/// Lists records that cannot be used as they are met, and tells of them.
pub(super) struct Recording<'o, 'l, 'w> {
    observer: &'o dyn Observer,
    listing: Mutex<Listing<'l, 'w>>,
    /// Records that are no documents.
    passed_over: AtomicU64,
}

impl<'o, 'l, 'w> Recording<'o, 'l, 'w> {
    pub(super) fn new(
        observer: &'o dyn Observer,
        listing: Option<&'l mut NamedWriter<'w>>,
    ) -> Self {
        Self {
            observer,
            listing: Mutex::new((listing, Ok(()))),
            passed_over: AtomicU64::new(0),
        }
    }

    /// Records so far that are no documents.
    pub(super) fn passed_over(&self) -> u64 {
        self.passed_over.load(Ordering::Relaxed)
    }

    fn list(&self, line: &RemovedLine<'_>) {
        let mut listing = self.listing.lock().unwrap_or_else(PoisonError::into_inner);
        let (Some(output), Ok(())) = &mut *listing else {
            return;
        };
        let written = write_removed(line, output.writer).map_err(|error| output.failed(error));
        listing.1 = written;
    }

    /// Lists the rest: documents that others stand for, and those whose ids were met before.
    pub(super) fn finish(
        self,
        urls: &Urls,
        records: &Records,
        assigned: &Assigned,
    ) -> Result<(), Error> {
        let (listing, written) = self
            .listing
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        written?;
        match listing {
            Some(output) => list_removed(urls, records, assigned, output),
            None => Ok(()),
        }
    }
}

impl Observer for Recording<'_, '_, '_> {
    fn problem(&self, error: &Error) {
        self.observer.problem(error);
        self.list(&RemovedLine::Unreadable {
            place: &error.place,
            why: &error.kind,
        });
    }

    fn passed_over(&self, place: &Place, why: &str) {
        self.observer.passed_over(place, why);
        self.passed_over.fetch_add(1, Ordering::Relaxed);
        self.list(&RemovedLine::NoDocument { place, why });
    }

    fn progress(&self, bytes: u64, documents: u64) {
        self.observer.progress(bytes, documents);
    }

    fn phase(&self, phase: Phase) {
        self.observer.phase(phase);
    }

    fn expect(&self, expected: Expected) {
        self.observer.expect(expected);
    }

    fn floor(&self, bytes: u64, memory_bytes: u64) {
        self.observer.floor(bytes, memory_bytes);
    }
}

fn list_removed(
    urls: &Urls,
    records: &Records,
    assigned: &Assigned,
    output: &mut NamedWriter<'_>,
) -> Result<(), Error> {
    // The record of each document so far: of those with the same id, the first comes first.
    let mut firsts = Vec::with_capacity(urls.len());
    for (index, fate) in records.fates().iter().enumerate() {
        let line = match *fate {
            Fate::Unreadable => None,
            Fate::Repeated(first) => {
                let first_index = firsts.get(first.index()).copied();
                let first_place = first_index.and_then(|index| records.place(index));
                let places = records.place(index).zip(first_place);
                places.map(|(place, first_place)| RemovedLine::RepeatedId {
                    url: urls.get(first),
                    place,
                    first: first_place,
                })
            }
            Fate::Document(document) => {
                firsts.push(index);
                assigned
                    .of(document)
                    .map(|removed| RemovedLine::NearDuplicate {
                        url: urls.get(document),
                        keeper: urls.get(removed.keeper),
                        score: removed.score,
                    })
            }
        };
        if let Some(line) = line {
            write_removed(&line, output.writer).map_err(|error| output.failed(error))?;
        }
    }
    output.flush()
}
