//! What is kept of documents for Broder's score: their signatures.

use super::reading::Digest;
use crate::document::DocumentId;
use crate::shingle::Shingle;
use crate::sketch::{SketchSettings, Sketcher, Value, sketcher};

/// Whether a shingle that a document repeats counts again in its number of
/// shingles. A signature does not care, and finding them takes time.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Repetitions {
    Count,
    Drop,
}

/// Signatures of the documents of a block.
pub(super) struct SignatureDigest {
    sketcher: Box<dyn Sketcher>,
    repetitions: Repetitions,
    batch: SignatureBatch,
}

#[derive(Default)]
pub(super) struct SignatureBatch {
    values: Vec<Value>,
    /// For each document, where its signature ends, and its number of shingles.
    documents: Vec<(usize, usize)>,
}

impl SignatureDigest {
    pub(super) fn new(settings: &SketchSettings, repetitions: Repetitions) -> Self {
        Self {
            sketcher: sketcher(settings),
            repetitions,
            batch: SignatureBatch::default(),
        }
    }
}

impl Digest for SignatureDigest {
    type Output = SignatureBatch;

    fn document(&mut self, shingles: &[Shingle]) {
        if !shingles.is_empty() {
            self.sketcher.sketch(shingles, &mut self.batch.values);
        }
        let count = match self.repetitions {
            Repetitions::Count => shingles.len(),
            Repetitions::Drop => crate::shingle::ShingleSet::new(shingles.to_vec())
                .as_slice()
                .len(),
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
    /// The documents that count and have shingles: ordinal, number of shingles,
    /// signature.
    pub(super) fn signatures(
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
                let document = (*document)?;
                (!signature.is_empty()).then_some((document, shingles, signature))
            })
    }
}
