//! How a run tells what happens while it happens. The library itself never
//! prints.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::error::{Error, Place};

/// A part of a run that is observed on its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Documents are read, and what is compared of them is made.
    Reading,
    /// Documents are compared. Where sets are, these are made ready first, and until it is known
    /// what is to be compared, nothing is counted. It may be told again while it lasts.
    Comparing,
    /// Documents are read again and written.
    Writing,
}

/// How much there is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// So many documents.
    Documents(u64),
    /// So many pairs.
    Pairs(u64),
    /// So many documents, to be made ready for comparing. How long that will take is known before
    /// it is known what comparing will.
    Preparation(u64),
}

impl Expected {
    /// How many of them.
    pub fn count(self) -> u64 {
        match self {
            Self::Documents(count) | Self::Pairs(count) | Self::Preparation(count) => count,
        }
    }
}

/// Told of progress and problems. Called from any thread.
pub trait Observer: Sync {
    /// A record or an input could not be used; the run goes on. Problems come in
    /// input order.
    fn problem(&self, _error: &Error) {}

    /// A record of an archive is well, but no document, such as a request or an image; told where
    /// it is listed what becomes of records. In input order, problems among them.
    fn passed_over(&self, _place: &Place, _what: &str) {}

    /// Another part of the run begins; a run starts with [`Phase::Reading`] untold.
    fn phase(&self, _phase: Phase) {}

    /// So much will be dealt with in this part of the run, at the most: from here on, that is
    /// what progress counts.
    fn expect(&self, _expected: Expected) {}

    /// What must be in memory at the least, of which there is less: the run goes on with that
    /// much. Told once, before documents are compared.
    fn floor(&self, _bytes: u64, _memory_bytes: u64) {}

    /// So many bytes and documents have been dealt with since the phase began. While reading,
    /// they are bytes of input; while writing, bytes of records and documents, or pairs,
    /// written. While comparing there are no bytes, and documents are counted by the work that
    /// they are: half of them are done when half of the work is.
    fn progress(&self, _bytes: u64, _documents: u64) {}
}

/// Hears nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quiet;

impl Observer for Quiet {}

/// How often progress is told at the most, from beginning to end.
const TOLD_MAX: u64 = 1000;

/// Counts work that several threads do on documents, and tells the observer from time to time
/// how many are done. How many there are is told when the first are: what comes before may take
/// longer than they do.
pub(crate) struct WorkCount<'a> {
    observer: &'a dyn Observer,
    expected: Expected,
    work: u64,
    done: AtomicU64,
    told: Mutex<Option<u64>>,
}

impl<'a> WorkCount<'a> {
    /// These are to be dealt with, which is so much work, in any unit.
    pub(crate) fn new(observer: &'a dyn Observer, expected: Expected, work: u64) -> Self {
        Self {
            observer,
            expected,
            work: work.max(1),
            done: AtomicU64::new(0),
            told: Mutex::new(None),
        }
    }

    /// So much more is done.
    pub(crate) fn add(&self, work: u64) {
        let before = self.done.fetch_add(work, Ordering::Relaxed);
        let step = |done: u64| self.scaled(done, TOLD_MAX);
        if step(before) == step(before + work) {
            return;
        }
        // Whoever comes late tells nothing: what is told never goes back.
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.is_none() {
            self.observer.expect(self.expected);
        }
        let documents = self.scaled(before + work, self.expected.count());
        let known = told.get_or_insert(0);
        if documents > *known {
            *known = documents;
            self.observer.progress(0, documents);
        }
    }

    /// The part of `all` that is done.
    fn scaled(&self, done: u64, all: u64) -> u64 {
        let part = u128::from(done.min(self.work)) * u128::from(all) / u128::from(self.work);
        part as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rayon::prelude::*;

    #[derive(Default)]
    struct Told {
        expected: Mutex<Vec<Expected>>,
        documents: Mutex<Vec<u64>>,
    }

    impl Observer for Told {
        fn expect(&self, expected: Expected) {
            self.expected.lock().unwrap().push(expected);
        }

        fn progress(&self, _: u64, documents: u64) {
            self.documents.lock().unwrap().push(documents);
        }
    }

    #[test]
    fn what_threads_do_is_told_in_order_to_the_end_and_not_too_often() {
        let told = Told::default();
        let count = WorkCount::new(&told, Expected::Documents(70_000), 1 << 21);
        (0..1 << 20).into_par_iter().for_each(|_| count.add(2));
        let documents = told.documents.into_inner().unwrap();
        assert!(documents.is_sorted());
        assert!(documents.len() <= TOLD_MAX as usize);
        assert_eq!(documents.last(), Some(&70_000));
        assert_eq!(
            *told.expected.lock().unwrap(),
            [Expected::Documents(70_000)]
        );
    }

    #[test]
    fn more_work_than_there_should_be_is_all_of_it() {
        let told = Told::default();
        let count = WorkCount::new(&told, Expected::Documents(3), 10);
        [4, 4, 4, 4].into_iter().for_each(|work| count.add(work));
        assert_eq!(*told.documents.lock().unwrap(), [1, 2, 3]);
    }
}
