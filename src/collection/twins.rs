//! Documents that are on both sides of a comparison: records of a file that is read for both.

use crate::document::DocumentId;

/// Documents that are on both sides.
#[derive(Clone, Debug, Default)]
pub(crate) struct Twins {
    /// In the order of the left documents.
    runs: Vec<TwinRun>,
}

/// Consecutive documents on the left, and the same ones on the right.
#[derive(Clone, Copy, Debug)]
struct TwinRun {
    left: u32,
    right: u32,
    length: u32,
}

impl Twins {
    /// Whether a document on the left and one on the right are the same.
    pub(crate) fn are(&self, left: DocumentId, right: DocumentId) -> bool {
        self.of(left) == Some(right)
    }

    /// Returns the document on the right that is the same as one on the left.
    pub(crate) fn of(&self, left: DocumentId) -> Option<DocumentId> {
        let behind = self.runs.partition_point(|run| run.left <= left.0);
        let run = self.runs[behind.checked_sub(1)?];
        let at = left.0 - run.left;
        let right = run.right.checked_add(at)?;
        (at < run.length).then_some(DocumentId(right))
    }
}

/// A document's place: a file that is read for both sides, and the ordinal in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FilePlace {
    pub(crate) file: u32,
    pub(crate) ordinal: u64,
}

/// Consecutive documents on the left that are consecutive in their file, too.
#[derive(Clone, Copy, Debug)]
struct LeftRun {
    first: FilePlace,
    document: u32,
    length: u32,
}

/// Finds the documents that are on both sides, while the left ones are read and then the right
/// ones. Files may come in any order; of each, the documents come in the same order on both sides.
#[derive(Debug, Default)]
pub(crate) struct TwinFinder {
    left: Vec<LeftRun>,
    runs: Vec<TwinRun>,
}

impl TwinFinder {
    /// Adds the next document on the left.
    pub(crate) fn add_left(&mut self, place: FilePlace, document: DocumentId) {
        if let Some(last) = self.left.last_mut()
            && last.first.file == place.file
            && last.first.ordinal + u64::from(last.length) == place.ordinal
            && last.document + last.length == document.0
        {
            last.length += 1;
            return;
        }
        self.left.push(LeftRun {
            first: place,
            document: document.0,
            length: 1,
        });
    }

    /// Ends the left side.
    pub(crate) fn end_left(&mut self) {
        self.left.sort_unstable_by_key(|run| run.first);
    }

    /// Adds the next document on the right.
    pub(crate) fn add_right(&mut self, place: FilePlace, right: DocumentId) {
        let behind = self.left.partition_point(|run| run.first <= place);
        let Some(run) = behind.checked_sub(1).map(|place| self.left[place]) else {
            return;
        };
        let at = place.ordinal.wrapping_sub(run.first.ordinal);
        if run.first.file != place.file || at >= u64::from(run.length) {
            return;
        }
        let left = run.document + at as u32;
        if let Some(last) = self.runs.last_mut()
            && last.left + last.length == left
            && last.right + last.length == right.0
        {
            last.length += 1;
            return;
        }
        self.runs.push(TwinRun {
            left,
            right: right.0,
            length: 1,
        });
    }

    /// Returns the memory that it takes.
    pub(crate) fn bytes(&self) -> u64 {
        (self.left.capacity() * size_of::<LeftRun>() + self.runs.capacity() * size_of::<TwinRun>())
            as u64
    }

    /// Ends the right side.
    pub(crate) fn finish(mut self) -> Twins {
        self.runs.sort_unstable_by_key(|run| run.left);
        Twins { runs: self.runs }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        #[test]
        fn twins_are_the_records_that_are_read_on_both_sides(
            left in proptest::collection::vec((0_u32..4, any::<bool>()), 0..60),
            right in proptest::collection::vec((0_u32..4, any::<bool>()), 0..60),
        ) {
            // Each record is of a file, and is a document unless its id was met before.
            let places = |records: &[(u32, bool)]| {
                let mut counts = HashMap::new();
                let mut documents = Vec::new();
                for &(file, is_document) in records {
                    let ordinal = counts.entry(file).or_insert(0_u64);
                    if is_document {
                        documents.push(FilePlace { file, ordinal: *ordinal });
                    }
                    *ordinal += 1;
                }
                documents
            };
            let (left, right) = (places(&left), places(&right));
            let first = left.len() as u32;
            let mut finder = TwinFinder::default();
            for (place, document) in left.iter().zip(0..) {
                finder.add_left(*place, DocumentId(document));
            }
            finder.end_left();
            for (place, document) in right.iter().zip(first..) {
                finder.add_right(*place, DocumentId(document));
            }
            let twins = finder.finish();
            for (one, left) in left.iter().zip(0..) {
                for (other, right) in right.iter().zip(first..) {
                    let are = twins.are(DocumentId(left), DocumentId(right));
                    prop_assert_eq!(are, one == other);
                }
            }
        }
    }
}
