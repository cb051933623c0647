//! Signatures, as they are made.

use std::ops::ControlFlow;

use crate::document::{Document, DocumentId};
use crate::error::Error;
use crate::observer::Observer;
use crate::run::floor::Purpose;
use crate::run::reading::{Digest, Reading, Wants};
use crate::run::{Inputs, in_pool};
use crate::settings::Settings;
use crate::shingle::{Shingle, ShingleSet};
use crate::sketch::{SketchSettings, Sketcher, Value, sketcher};
use crate::stats::Stats;

/// A document with its signature, as [`sketch_documents`] gives it.
#[derive(Clone, Copy, Debug)]
pub struct Sketched<'a> {
    /// Its id.
    pub url: &'a str,
    /// How many distinct shingles it has.
    pub shingles: usize,
    /// Its signature.
    pub signature: &'a [Value],
}

/// Sketches all documents that have a shingle and gives them to `each` in input
/// order, as they come. Ends when `each` breaks.
///
/// # Errors
/// If reading is to stop at the first bad record, or there are too many documents.
///
/// # Performance
/// Time grows with the text. Nothing but the ids is kept.
pub fn sketch_documents(
    inputs: impl Into<Inputs>,
    settings: &Settings,
    observer: &dyn Observer,
    mut each: impl FnMut(Sketched<'_>) -> ControlFlow<()> + Send,
) -> Result<Stats, Error> {
    let mut reading = Reading::new(settings, observer, Wants::default(), Purpose::Sketches);
    let Inputs {
        documents,
        templates,
        ..
    } = inputs.into();
    in_pool(settings, || {
        reading.take_out(templates)?;
        let digest = || SignatureDigest::new(&settings.sketch, Repetitions::Drop);
        reading.read(documents, digest, |numbered, batch| {
            for (document, shingles, signature) in batch.signatures(numbered.documents) {
                let sketched = Sketched {
                    url: numbered.urls.get(document),
                    shingles,
                    signature,
                };
                if !signature.is_empty() {
                    each(sketched).map_break(|()| None)?;
                }
            }
            ControlFlow::Continue(())
        })?;
        reading.tell();
        Ok(reading.stats)
    })
}

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
