//! Documents that go because an index has something similar.

use std::ops::ControlFlow;

use super::super::clusters::{Assigned, Keepers};
use super::super::reading::{Digest, Reading};
use super::enough;
use crate::collection::{Added, Records, Urls};
use crate::document::Document;
use crate::error::{Error, ErrorKind};
use crate::index::{Enough, Index, Key, Lookups, Searcher, Spot, keys_of};
use crate::read::Input;
use crate::score::{Measure, Score};
use crate::settings::Settings;
use crate::shingle::Shingle;

/// Who of an index stands for whom: the most similar document, of equals the first. The ids of
/// those that stand for others come behind all others.
pub(in crate::pipeline) fn best_of_index(
    reading: &mut Reading<'_>,
    inputs: Vec<Input>,
    index: &Index,
    settings: &Settings,
) -> Result<(Urls, Option<Records>, Assigned), Error> {
    let enough = enough(settings)?;
    let digest = || BestDigest {
        index,
        enough,
        measure: settings.measure,
        searcher: Searcher::default(),
        keys: Vec::new(),
        block: BestBlock::default(),
    };
    let mut best: Vec<Option<(Spot, Score)>> = Vec::new();
    let mut candidates = 0;
    reading.read(inputs, digest, |numbered, block| {
        if let Some(error) = block.failed {
            return ControlFlow::Break(Some(error));
        }
        candidates += block.lookups.candidates;
        let numbered = numbered.documents.iter().zip(block.best);
        best.extend(numbered.filter_map(|(document, best)| document.map(|_| best)));
        ControlFlow::Continue(())
    })?;
    reading.tell();
    reading.stats.counts.candidates = candidates;
    reading.stats.counts.against = index.len();
    let (mut urls, records) = reading.take();
    // An id of the index may be one of the documents.
    urls.forget();
    let mut spots: Vec<Spot> = best.iter().flatten().map(|&(spot, _)| spot).collect();
    spots.sort_unstable();
    spots.dedup();
    let mut keepers = Vec::with_capacity(spots.len());
    for &spot in &spots {
        let id = index.id(spot)?;
        match urls.add(id) {
            Added::New(document) | Added::Repeated(document) => keepers.push(document),
            Added::Full => return Err(Error::in_file(id, ErrorKind::TooManyDocuments)),
        }
    }
    urls.forget();
    let keeper = |(spot, score)| {
        let place = spots.binary_search(&spot).ok()?;
        Some((keepers[place], score))
    };
    let keepers: Keepers = best.into_iter().map(|best| best.and_then(keeper)).collect();
    reading.stats.counts.members = keepers.iter().flatten().count() as u64;
    Ok((urls, records, Assigned::against(keepers)))
}

/// The most similar document of an index for each of a block.
struct BestDigest<'a> {
    index: &'a Index,
    enough: Enough,
    measure: Measure,
    searcher: Searcher,
    keys: Vec<Key>,
    block: BestBlock,
}

#[derive(Default)]
struct BestBlock {
    best: Vec<Option<(Spot, Score)>>,
    lookups: Lookups,
    failed: Option<Error>,
}

impl Digest for BestDigest<'_> {
    type Output = BestBlock;

    fn document(&mut self, _: &Document<'_>, shingles: &[Shingle]) {
        keys_of(shingles, &mut self.keys);
        let size = self.keys.len() as u32;
        let mut best: Option<(Spot, Score)> = None;
        let searched = self.index.search(
            &self.keys,
            self.enough,
            &mut self.searcher,
            |spot, shared| {
                let score = self.measure.score(shared.shared, [size, shared.size]);
                if best.is_none_or(|(_, known)| score > known) {
                    best = Some((spot, score));
                }
            },
        );
        if let Err(error) = searched {
            self.block.failed.get_or_insert(error);
        }
        self.block.best.push(best);
    }

    fn take(&mut self) -> BestBlock {
        self.block.lookups = std::mem::take(&mut self.searcher.lookups);
        std::mem::take(&mut self.block)
    }

    fn bytes(block: &BestBlock) -> usize {
        size_of_val(&block.best[..])
    }
}
