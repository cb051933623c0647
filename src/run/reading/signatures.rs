//! The signatures of a block of documents.

use super::Digest;
use crate::document::{Document, DocumentId};
use crate::shingle::{Shingle, ShingleSet};
use crate::sketch::{SketchSettings, Sketcher, Value, sketcher};

/// Whether a shingle that a document repeats counts again in its number of
/// shingles. A signature does not care, and finding them takes time.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repetitions {
    Count,
    Drop,
}

/// Signatures of the documents of a block.
pub(crate) struct SignatureDigest {
    sketcher: Box<dyn Sketcher>,
    repetitions: Repetitions,
    batch: SignatureBatch,
}

#[derive(Default)]
pub(crate) struct SignatureBatch {
    values: Vec<Value>,
    /// For each document, where its signature ends, and its number of shingles.
    documents: Vec<(usize, usize)>,
}

impl SignatureDigest {
    pub(crate) fn new(settings: &SketchSettings, repetitions: Repetitions) -> Self {
        Self {
            sketcher: sketcher(settings),
            repetitions,
            batch: SignatureBatch::default(),
        }
    }
}

impl Digest for SignatureDigest {
    type Output = SignatureBatch;

    fn document(&mut self, _: &Document<'_>, shingles: &[Shingle]) {
        if !shingles.is_empty() {
            self.sketcher.sketch(shingles, &mut self.batch.values);
        }
        let count = match self.repetitions {
            Repetitions::Count => shingles.len(),
            Repetitions::Drop => ShingleSet::new(shingles.to_vec()).as_slice().len(),
        };
        self.batch.documents.push((self.batch.values.len(), count));
    }

    fn take(&mut self) -> SignatureBatch {
        std::mem::take(&mut self.batch)
    }

    fn bytes(batch: &SignatureBatch) -> usize {
        size_of_val(&batch.values[..]) + size_of_val(&batch.documents[..])
    }
}

impl SignatureBatch {
    /// The documents that count: ordinal, number of shingles, signature, which is empty if
    /// there is no shingle.
    pub(crate) fn signatures(
        &self,
        documents: &[Option<DocumentId>],
    ) -> impl Iterator<Item = (DocumentId, usize, &[Value])> {
        let mut start = 0;
        documents
            .iter()
            .zip(&self.documents)
            .filter_map(move |(document, &(end, shingles))| {
                let signature = &self.values[start..end];
                start = end;
                Some(((*document)?, shingles, signature))
            })
    }
}
