//! Signatures, as they are made.

use crate::run::reading::signatures::{Repetitions, SignatureDigest};
use std::ops::ControlFlow;

use crate::error::Error;
use crate::observer::Observer;
use crate::run::floor::Purpose;
use crate::run::reading::{Reading, Wants};
use crate::run::{Inputs, in_pool};
use crate::settings::Settings;
use crate::sketch::Value;
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
