//! Documents that go because an index has something similar.

use std::ops::ControlFlow;

use rayon::prelude::*;

use crate::cluster::documents::{Assigned, Keepers};
use crate::collection::{Added, Collection, Features, Sides, Urls};
use crate::dedup::Among;
use crate::document::{Document, DocumentId};
use crate::error::{Error, ErrorKind};
use crate::index::matching::{enough, own_spot};
use crate::index::{Enough, Index, Key, Lookups, Searcher, Spot, keys_of};
use crate::read::Input;
use crate::run::reading::{Digest, Reading};
use crate::score::{Measure, Score};
use crate::sets::{ListBlock, ListPlaces, ShingleLists};
use crate::settings::Settings;
use crate::shingle::Shingle;

/// The best of an index for a document.
type Best = Option<(Spot, Score)>;

/// For each document, the most similar one of an index; of equals the first.
pub(crate) struct BestOfIndex<'a> {
    index: &'a Index,
    best: Vec<Best>,
}

/// Bytes that are kept of a document besides its shingles: the best, and where the index has it.
const DOCUMENT_BYTES: usize = size_of::<Best>() + size_of::<Spot>();

/// Reads documents, and finds the most similar document of an index for each. Those of the index
/// whose ids are among the documents are left out: one of two that are similar must stay.
///
/// The collection has the shingles of those documents that are compared with each other later.
pub(crate) fn best_of_index<'a>(
    reading: &mut Reading<'_>,
    inputs: Vec<Input>,
    index: &'a Index,
    settings: &Settings,
    among: Among,
) -> Result<(Collection, BestOfIndex<'a>), Error> {
    let asking = Asking {
        index,
        enough: enough(settings)?,
        measure: settings.measure,
    };
    let digest = || BestDigest {
        asking,
        among,
        searcher: Searcher::default(),
        keys: Vec::new(),
        block: BestBlock::default(),
    };
    let mut lists = ShingleLists::new(&settings.memory());
    let mut best: Vec<Best> = Vec::new();
    let mut own: Vec<Spot> = Vec::new();
    let mut candidates = 0;
    reading.read(inputs, digest, |numbered, block| {
        let keep = || {
            if let Some(error) = block.failed {
                return Err(error);
            }
            candidates += block.lookups.candidates;
            for (document, (of_document, spot)) in numbered.documents.iter().zip(block.found) {
                if document.is_some() {
                    best.push(of_document);
                    own.extend(spot);
                }
            }
            lists.push(&block.lists, numbered.documents)?;
            lists.limit(numbered.rest)
        };
        match keep() {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(Some(error)),
        }
    })?;
    lists.finish()?;
    reading.add_to_floor((best.len() * DOCUMENT_BYTES) as u64);
    reading.add_rest_to_floor();
    reading.tell();
    own.sort_unstable();
    asking.replace_own(&mut best, &own, &lists)?;
    reading.stats.counts.spilled = lists.is_spilled();
    reading.stats.counts.candidates = candidates;
    reading.stats.counts.against = index.len();
    let features = Features::Shingles {
        lists: Box::new(lists),
        signatures: None,
    };
    let collection = reading.finish(features, Sides::All, None);
    Ok((collection, BestOfIndex { index, best }))
}

impl<'a> BestOfIndex<'a> {
    /// Returns who stands for whom. The documents of the index come behind all others.
    pub(crate) fn assigned(self) -> (KeeperIds<'a>, Assigned) {
        let Self { index, best } = self;
        let mut spots: Vec<Spot> = best.iter().flatten().map(|&(spot, _)| spot).collect();
        spots.sort_unstable();
        spots.dedup();
        let first = best.len();
        let keeper = |(spot, score)| {
            let place = spots.binary_search(&spot).ok()?;
            Some((DocumentId((first + place) as u32), score))
        };
        let keepers: Keepers = best.iter().map(|best| best.and_then(keeper)).collect();
        (KeeperIds { index, spots }, Assigned::new(keepers))
    }
}

/// The documents of an index that stand for others.
pub(crate) struct KeeperIds<'a> {
    index: &'a Index,
    spots: Vec<Spot>,
}

impl KeeperIds<'_> {
    /// Adds their ids behind those of all documents.
    pub(crate) fn name(&self, urls: &mut Urls) -> Result<(), Error> {
        // An id of the index may be one of the documents.
        urls.forget();
        for &spot in &self.spots {
            let id = self.index.id(spot)?;
            let name = self.index.folder().to_string_lossy();
            match urls.add(id) {
                Added::New(_) => {}
                Added::Repeated(_) => {
                    let what = format!("two documents have the id {id}");
                    return Err(Error::in_file(&name, ErrorKind::DamagedIndex(what)));
                }
                Added::Full => return Err(Error::in_file(id, ErrorKind::TooManyDocuments)),
            }
        }
        urls.forget();
        Ok(())
    }
}

/// How the best is found.
#[derive(Clone, Copy)]
struct Asking<'a> {
    index: &'a Index,
    enough: Enough,
    measure: Measure,
}

impl Asking<'_> {
    /// Returns the most similar document of the index, of those that count; of equals the first.
    fn best(
        self,
        keys: &[Key],
        searcher: &mut Searcher,
        counts: impl Fn(Spot) -> bool,
    ) -> Result<Best, Error> {
        let size = keys.len() as u32;
        let mut best: Best = None;
        self.index
            .search(keys, None, self.enough, searcher, |spot, shared| {
                let score = self.measure.score(shared.shared, [size, shared.size]);
                if best.is_none_or(|(_, known)| score > known) && counts(spot) {
                    best = Some((spot, score));
                }
            })?;
        Ok(best)
    }

    /// Takes another document of the index for those whose best is one of the documents
    /// themselves.
    fn replace_own(
        self,
        best: &mut [Best],
        own: &[Spot],
        lists: &ShingleLists,
    ) -> Result<(), Error> {
        let is_own = |spot: Spot| own.binary_search(&spot).is_ok();
        if !best.iter().flatten().any(|&(spot, _)| is_own(spot)) {
            return Ok(());
        }
        let places = ListPlaces::new(lists)?;
        let start = || (Searcher::default(), Vec::new(), Vec::new());
        best.par_iter_mut().enumerate().try_for_each_init(
            start,
            |(searcher, shingles, keys), (document, best)| {
                if best.is_some_and(|(spot, _)| is_own(spot)) {
                    places.shingles(DocumentId(document as u32), shingles)?;
                    keys_of(shingles, keys);
                    *best = self.best(keys, searcher, |spot| !is_own(spot))?;
                }
                Ok(())
            },
        )
    }
}

/// The most similar document of an index for each of a block.
struct BestDigest<'a> {
    asking: Asking<'a>,
    among: Among,
    searcher: Searcher,
    keys: Vec<Key>,
    block: BestBlock,
}

#[derive(Default)]
struct BestBlock {
    /// Of each document, the best, and where the index has it.
    found: Vec<(Best, Option<Spot>)>,
    lists: ListBlock,
    lookups: Lookups,
    failed: Option<Error>,
}

impl BestDigest<'_> {
    fn find(&mut self, url: &str) -> Result<(Best, Option<Spot>), Error> {
        let own = own_spot(self.asking.index, url)?;
        let counts = |spot| Some(spot) != own;
        let best = self.asking.best(&self.keys, &mut self.searcher, counts)?;
        Ok((best, own))
    }
}

impl Digest for BestDigest<'_> {
    type Output = BestBlock;

    fn document(&mut self, document: &Document<'_>, shingles: &[Shingle]) {
        keys_of(shingles, &mut self.keys);
        let found = self.find(&document.url).unwrap_or_else(|error| {
            self.block.failed.get_or_insert(error);
            (None, None)
        });
        // Without anything similar, a document is compared with the others at the most.
        let is_compared = self.among == Among::All || found.0.is_some();
        let shingles = if is_compared { shingles } else { &[] };
        self.block.lists.push(shingles);
        self.block.found.push(found);
    }

    fn take(&mut self) -> BestBlock {
        self.block.lookups = std::mem::take(&mut self.searcher.lookups);
        std::mem::take(&mut self.block)
    }

    fn bytes(block: &BestBlock) -> usize {
        size_of_val(&block.found[..]) + block.lists.bytes()
    }
}
