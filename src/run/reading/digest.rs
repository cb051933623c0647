//! What is made of documents while they are read.

use std::sync::{Mutex, PoisonError};

use crate::document::Document;
use crate::run::reading::signatures::{SignatureBatch, SignatureDigest};
use crate::sets::ListBlock;
use crate::shingle::Shingle;

/// What a thread makes of the shingles of each document of a block.
pub(crate) trait Digest {
    /// What is left of a block.
    type Output: Send;

    /// Takes the next document of the block; it may have no shingle.
    fn document(&mut self, document: &Document<'_>, shingles: &[Shingle]);

    /// Ends the block.
    fn take(&mut self) -> Self::Output;

    /// About how much memory it takes.
    fn bytes(output: &Self::Output) -> usize;
}

/// Lists of shingles, and signatures if they are wanted too. Blocks that have been kept are
/// filled again: fresh memory is dear.
pub(super) struct ListDigest<'s> {
    pub(super) block: ListBlock,
    pub(super) signatures: Option<SignatureDigest>,
    pub(super) spare: &'s Mutex<Vec<ListBlock>>,
}

impl Digest for ListDigest<'_> {
    type Output = (ListBlock, Option<SignatureBatch>);

    fn document(&mut self, document: &Document<'_>, shingles: &[Shingle]) {
        self.block.push(shingles);
        if let Some(signatures) = &mut self.signatures {
            signatures.document(document, shingles);
        }
    }

    fn take(&mut self) -> Self::Output {
        let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        let block = std::mem::replace(&mut self.block, spare.pop().unwrap_or_default());
        (block, self.signatures.as_mut().map(Digest::take))
    }

    fn bytes((block, signatures): &Self::Output) -> usize {
        block.bytes() + signatures.as_ref().map_or(0, SignatureDigest::bytes)
    }
}

/// All shingles, as they come.
#[derive(Default)]
pub(super) struct TemplateDigest(Vec<Shingle>);

impl Digest for TemplateDigest {
    type Output = Vec<Shingle>;

    fn document(&mut self, _: &Document<'_>, shingles: &[Shingle]) {
        self.0.extend_from_slice(shingles);
    }

    fn take(&mut self) -> Vec<Shingle> {
        std::mem::take(&mut self.0)
    }

    fn bytes(shingles: &Vec<Shingle>) -> usize {
        size_of_val(&shingles[..])
    }
}
