//! Exact scores: the shingles of all documents are kept, and compared by the least of
//! them, by sets of bundles, or by bands.

use std::ops::ControlFlow;
use std::time::Instant;

use super::kept::KeptShingles;
use super::reading::Digest;
use super::{Run, group_sides};
use crate::candidates::identical::Groups;
use crate::candidates::least;
use crate::candidates::prefix::PrefixIndex;
use crate::candidates::ranked::{self, RankedSets};
use crate::candidates::recall::{self, Bands};
use crate::candidates::{Match, RecallAt, RowSides, SearchStats};
use crate::cluster::{Assigned, Components};
use crate::document::DocumentId;
use crate::error::Error;
use crate::pairs::{Collection, Pairs, Sides};
use crate::score::{Measure, SetBound};
use crate::sets::{ListBlock, ListWriter};
use crate::settings::Finding;
use crate::shingle::Shingle;
use crate::sketch::Row;

impl Run<'_> {
    /// Exact scores of sets.
    pub(super) fn by_sets(&mut self) -> Result<Pairs, Error> {
        let Compared {
            documents,
            groups,
            sides,
            found,
        } = self.compare_sets()?;
        let started = Instant::now();
        let (sizes, matches, search) = match found {
            Found::Matches {
                sizes,
                matches,
                search,
                ..
            } => (sizes, matches, search),
            // Only clusters make do with less.
            Found::Lists { sizes, .. }
            | Found::Stars { sizes, .. }
            | Found::Joined { sizes, .. } => (sizes, Vec::new(), SearchStats::default()),
            Found::Sets(sets) => {
                let bound = SetBound::new(self.settings.measure, self.settings.threshold);
                let (matches, search) = self.join(&sets, bound, &group_sides(&groups, sides));
                (sets.sizes().to_vec(), matches, search)
            }
        };
        let collection = Collection {
            documents,
            groups,
            sizes,
            measure: self.settings.measure,
            sides,
        };
        Ok(self.finish(collection, &matches, search, started))
    }

    /// Reads all, and finds what is similar by the least shingles where that is little;
    /// elsewhere it makes sets of bundles, in which to look for it.
    pub(super) fn compare_sets(&mut self) -> Result<Compared, Error> {
        let compared = self.compare_lists()?;
        match compared.found {
            Found::Lists { shingles, .. } => {
                self.bundle(compared.documents, compared.sides, shingles)
            }
            _ => Ok(compared),
        }
    }

    /// Reads all, and finds what is similar by the least shingles where that is little;
    /// elsewhere nothing is known yet but which lists are the same.
    pub(super) fn compare_lists(&mut self) -> Result<Compared, Error> {
        let settings = self.settings;
        let compared = self.inputs.against.is_some();
        let mut shingles = KeptShingles::new(settings);
        let mut documents: Vec<Option<DocumentId>> = Vec::new();
        let digest = || ListWriter::new(settings.least_shingles());
        self.read(digest, |_, numbers, block| {
            documents.extend_from_slice(numbers);
            match shingles.push(block, numbers) {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => ControlFlow::Break(Some(error)),
            }
        })?;
        let sides = self.sides(&documents, compared);
        let bound = SetBound::new(settings.measure, settings.threshold);
        let Some(lists) = shingles.lists() else {
            return self.bundle(documents, sides, shingles);
        };
        let started = Instant::now();
        let collection = least::Collection {
            lists,
            is_excluded: &|row| documents[row.0 as usize].is_none(),
            sides: &|groups| group_sides(groups, sides),
        };
        let found = least::search(&collection, settings.threshold, bound);
        let compared = match found {
            Some(found) => (
                found.groups,
                Found::Matches {
                    sizes: found.sizes,
                    matches: found.matches,
                    search: found.stats,
                    shingles,
                },
            ),
            None => {
                let groups = least::groups(&collection);
                let length = |row: Row| lists.list(row.0 as usize).len() as u32;
                let sizes = groups.representatives().map(length).collect();
                (groups, Found::Lists { sizes, shingles })
            }
        };
        self.stats.seconds.candidates += started.elapsed();
        let (groups, found) = compared;
        Ok(Compared {
            documents,
            groups,
            sides,
            found,
        })
    }

    /// Makes sets of bundles.
    pub(super) fn bundle(
        &mut self,
        documents: Vec<Option<DocumentId>>,
        sides: Sides,
        shingles: KeptShingles,
    ) -> Result<Compared, Error> {
        let settings = self.settings;
        let bound = SetBound::new(settings.measure, settings.threshold);
        let started = Instant::now();
        let sets = shingles.into_sets()?;
        self.stats.counts.spilled = sets.is_spilled();
        let sets = sets.into_bundles(settings.common.of(self.urls.len()))?;
        let groups = ranked::groups(&sets);
        let ranked = ranked::rank(&sets, &groups, bound);
        self.stats.seconds.bundle = started.elapsed();
        Ok(Compared {
            documents,
            groups,
            sides,
            found: Found::Sets(ranked),
        })
    }

    /// The matches among sets, by the complete join unless bands are asked for and
    /// cost less.
    fn join(
        &self,
        sets: &RankedSets,
        bound: SetBound,
        sides: &RowSides,
    ) -> (Vec<Match>, SearchStats) {
        let settings = self.settings;
        let threshold = settings.threshold.as_f64();
        let positions = settings.sketch.positions();
        let by_bands = |bands| {
            recall::search(
                sets,
                &settings.sketch,
                bands,
                settings.threshold,
                bound,
                sides,
            )
        };
        let bands = match (settings.measure, settings.finding) {
            (Measure::Jaccard, Finding::Bands(bands)) => return by_bands(bands),
            (Measure::Jaccard, Finding::Recall(recall)) if recall < 1.0 => {
                Bands::for_recall(positions, threshold, recall)
            }
            _ => None,
        };
        let index = PrefixIndex::new(sets, bound);
        if let Some(bands) = bands
            && index.hits() > recall::hits_worth_it(sets, bands)
        {
            drop(index);
            return by_bands(bands);
        }
        let (matches, mut stats) = index.search(sides);
        stats.recall = recall::scores_to_state(settings.threshold)
            .map(|score| RecallAt { score, chance: 1.0 })
            .collect();
        (matches, stats)
    }
}

/// A collection for exact scores, and what is known of its sets.
pub(super) struct Compared {
    pub(super) documents: Vec<Option<DocumentId>>,
    pub(super) groups: Groups,
    pub(super) sides: Sides,
    pub(super) found: Found,
}

pub(super) enum Found {
    /// All that is similar, which is little.
    Matches {
        sizes: Vec<u32>,
        matches: Vec<Match>,
        search: SearchStats,
        shingles: KeptShingles,
    },
    /// Too much is similar; shingles as they came, and how many each group has.
    Lists {
        sizes: Vec<u32>,
        shingles: KeptShingles,
    },
    /// Stars, found without looking for all that is similar.
    Stars {
        assigned: Assigned,
        sizes: Vec<u32>,
        search: SearchStats,
    },
    /// Components, found without looking for all that is similar.
    Joined {
        components: Components,
        sizes: Vec<u32>,
        search: SearchStats,
        shingles: KeptShingles,
    },
    /// The sets in which to look for it.
    Sets(RankedSets),
}

impl Digest for ListWriter {
    type Output = ListBlock;

    fn document(&mut self, shingles: &[Shingle]) {
        self.push(shingles);
    }

    fn take(&mut self) -> ListBlock {
        self.take()
    }

    fn bytes(block: &ListBlock) -> usize {
        block.bytes()
    }
}
