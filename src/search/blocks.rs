//! Sets a block at a time, where memory is short.
//!
//! Neighbourhoods are put together into cells that fit into memory. A neighbourhood that does not
//! is cut into blocks: each is held against all that follow, which are read one by one.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::prefix::{Asked, PrefixIndex, Probe};
use super::rarity::{RankedSet, Ranking};
use super::sets::{LoadedSets, PreparedSets};
use super::work;
use super::{Match, SearchStats};
use crate::collection::{Group, GroupScope};
use crate::error::Error;
use crate::observer::WorkCount;

/// The part of the memory that sets may take while they are joined; bytes that a bundle of a set
/// takes then, and that a bundle takes by itself; and how many bundles of a set take as much as
/// the set does without them.
const MEMORY_SHARE: u64 = 2;
const BUNDLE_BYTES: u64 = 12;
const SET_BUNDLES: u64 = 8;
const DISTINCT_BUNDLE_BYTES: u64 = 72;

/// Groups that are similar to no others, by their places in an order: in one block, if they fit
/// into memory.
#[derive(Default)]
pub(super) struct Cell {
    pub(super) blocks: Vec<Vec<u32>>,
    /// Bundles of all, and of the last block.
    bundles: u64,
    in_block: u64,
}

impl Cell {
    /// How much work it is to hold each block against itself and all that follow.
    pub(super) fn work(&self) -> u64 {
        let blocks = (1..).zip(&self.blocks);
        let sets: usize = blocks.map(|(times, block)| times * block.len()).sum();
        sets as u64 * work::SET
    }

    /// Adds a group that has so many bundles.
    fn push(&mut self, place: u32, bundles: u64, most: u64) {
        let is_full = self.bundles > most && self.in_block + bundles > most;
        match self.blocks.last_mut().filter(|_| !is_full) {
            Some(block) => block.push(place),
            None => {
                self.blocks.push(vec![place]);
                self.in_block = 0;
            }
        }
        self.in_block += bundles;
    }
}

/// Cuts `order` into cells: one, as a rule; if memory is short, as many neighbourhoods to a cell as
/// fit into it.
pub(super) fn cells(prepared: &PreparedSets, order: &[Group]) -> Vec<Cell> {
    const NO_CELL: u32 = u32::MAX;
    let bundles = prepared.bundle_counts();
    let bundles_of = |group: Group| u64::from(bundles[group.index()]) + SET_BUNDLES;
    let all: u64 = prepared.with_partner().map(bundles_of).sum();
    let distinct = prepared.distinct_bundles_max().min(all);
    let bytes = all * BUNDLE_BYTES + distinct * DISTINCT_BUNDLE_BYTES;
    let parts = bytes.div_ceil((prepared.memory().bytes / MEMORY_SHARE).max(1));
    let most = all / parts.max(1);
    let count = prepared.groups.len();
    let mut in_neighbourhood = vec![0_u64; count];
    // The order may name a group several times.
    for group in prepared.with_partner() {
        let neighbourhood = prepared.neighbourhood(group).index();
        in_neighbourhood[neighbourhood] += bundles_of(group);
    }
    let mut cells: Vec<Cell> = Vec::new();
    // The cell that takes neighbourhoods in.
    let mut open = None;
    let mut cell_of = vec![NO_CELL; count];
    for (place, &group) in (0..).zip(order) {
        let neighbourhood = prepared.neighbourhood(group).index();
        if cell_of[neighbourhood] == NO_CELL {
            let bundles = in_neighbourhood[neighbourhood];
            let fitting = open.filter(|&open: &usize| cells[open].bundles + bundles <= most);
            let cell = fitting.unwrap_or(cells.len());
            if fitting.is_none() {
                cells.push(Cell::default());
                if bundles <= most {
                    open = Some(cell);
                }
            }
            cells[cell].bundles += bundles;
            cell_of[neighbourhood] = cell as u32;
        }
        let cell = &mut cells[cell_of[neighbourhood] as usize];
        cell.push(place, bundles_of(group), most);
    }
    cells
}

/// Sets that are held against those of a block.
pub(super) struct OtherSets<'a> {
    pub(super) prepared: &'a PreparedSets,
    pub(super) block: &'a LoadedSets,
    pub(super) ranking: &'a Ranking,
    /// For each group, whether it is one of them.
    pub(super) is_other: &'a [bool],
}

impl OtherSets<'_> {
    /// Every pair of them and a set of the block that share enough and that `scope` admits. Each
    /// thread hands over what it has found, some at a time and in any order, to `take`.
    pub(super) fn for_each_pair(
        &self,
        scope: &GroupScope,
        count: &WorkCount<'_>,
        take: impl Fn(&mut Vec<Match>) -> Result<(), Error> + Sync,
    ) -> Result<SearchStats, Error> {
        let sets = &self.block.sets;
        let mut index = PrefixIndex::new(sets, self.prepared.bound(), Asked::Any);
        (0..sets.len()).for_each(|place| index.add(place));
        let next = AtomicUsize::new(0);
        let stretches = self.prepared.stretches();
        let found = rayon::broadcast(|_| -> Result<SearchStats, Error> {
            let mut probe = Probe::new(sets.len());
            let mut ranked = RankedSet::default();
            let (mut buffer, mut matches) = (Vec::new(), Vec::new());
            loop {
                let stretch = next.fetch_add(1, Ordering::Relaxed);
                if stretch >= stretches {
                    return Ok(probe.stats);
                }
                let mut taken = 0;
                self.prepared
                    .for_each_of(stretch, &mut buffer, |group, set| {
                        if !self.is_other[group.index()] {
                            return;
                        }
                        taken += 1;
                        self.ranking.rank(&set, &mut ranked);
                        let of = |place: usize| self.block.groups[place];
                        let wanted = |place| scope.admits(group, of(place));
                        probe.similar(&index, ranked.get(), wanted, |place, shared| {
                            matches.push(Match {
                                one: group,
                                two: of(place),
                                shared,
                            });
                        });
                    })?;
                take(&mut matches)?;
                count.add(taken * work::SET);
            }
        });
        let mut stats = SearchStats::default();
        for counted in found {
            stats = stats.merge(counted?);
        }
        Ok(stats)
    }
}
