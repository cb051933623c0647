//! Pairs that share one of their least shingles: the shortest way where few documents
//! are similar, with a recall that is stated.
//!
//! Put all shingles into an order that is as good as random. Of the m least shingles of
//! the union of two sets, each is in both sets with the chance of their Jaccard
//! similarity J; and if one is, it is among the m least of either set. So two sets that
//! have none of their m least shingles in common are missed with a chance of at most
//! (1 - J)^m: nine shingles of each document are enough for a recall of 0.99999 at 0.75.
//! (Broder, 1997, has the sketch; here it only finds what is then compared exactly.)
//!
//! A shingle that many documents have makes many candidates. If there are too many, this
//! gives up, and leaves the field to ways that are slower here and faster there.

use std::collections::HashMap;

use rayon::prelude::*;

use super::filing::for_each_bucket;
use super::identical::{Groups, collapse};
use super::membership::Membership;
use super::{Match, Method, RecallAt, RowSides, SearchStats, recall};
use crate::score::{Measure, Score, SetBound, Threshold};
use crate::sets::{Rank, ShingleLists};
use crate::shingle::Shingle;
use crate::sketch::Row;

/// Most of the least shingles of a document that are worth keeping.
const LEAST_MAX: usize = 64;
/// Candidates for each row, and at all, beyond which the search gives up.
const CANDIDATES_PER_ROW_MAX: usize = 8;
const CANDIDATES_MIN: usize = 1 << 16;
/// For each shingle of the collection, how many may be looked at in comparing.
const COMPARED_PER_SHINGLE_MAX: usize = 2;

/// The same for an index that grows, for each shingle that it was asked for so far; and
/// how many in any case.
const INDEX_COMPARED_PER_SHINGLE_MAX: usize = 4;
const INDEX_COMPARED_MIN: usize = 1 << 26;

/// How many of the least shingles are to be kept for this recall at the threshold;
/// `None` if that is too many, or no number is enough.
pub fn least_for_recall(threshold: Threshold, recall: f64) -> Option<usize> {
    let missed = 1.0 - threshold.as_f64();
    (1..=LEAST_MAX).find(|&least| missed.powi(least as i32) <= 1.0 - recall)
}

/// What the search found.
pub struct Found {
    /// Rows with the same list of shingles.
    pub groups: Groups,
    /// Number of shingles in each group's set; some number that is not zero where no
    /// other group is like it.
    pub sizes: Vec<u32>,
    /// Matches between groups, by number, in order.
    pub matches: Vec<Match>,
    /// How it went.
    pub stats: SearchStats,
}

/// The rows of a collection that count.
pub struct Collection<'a> {
    /// Their shingles.
    pub lists: &'a ShingleLists,
    /// Whether a row does not count.
    pub is_excluded: &'a (dyn Fn(Row) -> bool + Sync),
    /// On which side each group is.
    pub sides: &'a dyn Fn(&Groups) -> RowSides,
}

/// The pairs that share one of their least shingles, and share enough; `None` if too
/// many share one.
pub fn search(collection: &Collection<'_>, threshold: Threshold, bound: SetBound) -> Option<Found> {
    let lists = collection.lists;
    if lists.len().checked_mul(lists.least_len())? >= u32::MAX as usize {
        return None;
    }
    let list = |row: Row| lists.list(row.0 as usize);
    let groups = groups(collection);
    let firsts: Vec<Row> = groups.representatives().collect();
    let sides = (collection.sides)(&groups);
    let candidates = candidates(collection, &firsts, &sides)?;
    let stats = SearchStats {
        candidates: candidates.len() as u64,
        merges: candidates.len() as u64,
        ..stated(lists, threshold)
    };
    let sizes = sizes(lists, &firsts, &candidates);
    let list_of = |group: u32| list(firsts[group as usize]);
    let matches = compare(&candidates, &sizes, bound, &list_of);
    Some(Found {
        groups,
        sizes,
        matches,
        stats,
    })
}

/// Groups that are looked up by their least shingles, one after the other: for clusters,
/// where each is held against some of those before it.
pub struct LeastIndex<'a> {
    lists: &'a ShingleLists,
    firsts: &'a [Row],
    bound: SetBound,
    /// The groups that have a shingle among their least.
    having: HashMap<Rank, Vec<u32>, ahash::RandomState>,
    membership: Membership,
    /// For counting: what is loaded for comparing stays.
    counting: Membership,
    sizes: Vec<u32>,
    met: Vec<u32>,
    /// Shingles that may still be looked at.
    left: usize,
}

impl<'a> LeastIndex<'a> {
    /// An empty index of groups with these first rows.
    pub fn new(lists: &'a ShingleLists, firsts: &'a [Row], bound: SetBound) -> Self {
        Self {
            lists,
            firsts,
            bound,
            having: HashMap::default(),
            membership: Membership::default(),
            counting: Membership::default(),
            sizes: vec![0; firsts.len()],
            met: Vec::new(),
            left: INDEX_COMPARED_MIN,
        }
    }

    /// Adds a group.
    pub fn add(&mut self, group: u32) {
        for &rank in self.least(group) {
            self.having.entry(rank).or_default().push(group);
        }
    }

    fn least(&self, group: u32) -> &'a [Rank] {
        let least = self.lists.least(self.firsts[group as usize].0 as usize);
        &least[..least.partition_point(|&rank| rank < Rank::NONE)]
    }

    fn list(&self, group: u32) -> &'a [Shingle] {
        self.lists.list(self.firsts[group as usize].0 as usize)
    }

    /// Joins what is similar among `groups`, of which some are joined already and have the
    /// same `root`: two that share one of their least are compared only if they have not.
    /// `None` if there is too much to compare.
    pub fn join_apart(
        &mut self,
        groups: &[u32],
        root: impl Fn(u32) -> u32,
        join: impl Fn(u32, u32),
    ) -> Option<()> {
        let mut entries: Vec<(Rank, u32)> = groups
            .iter()
            .flat_map(|&group| self.least(group).iter().map(move |&rank| (rank, group)))
            .collect();
        entries.par_sort_unstable();
        self.left += entries.len();
        for bucket in entries.chunk_by(|one, two| one.0 == two.0) {
            let joined = root(bucket[0].1);
            if bucket.iter().all(|&(_, group)| root(group) == joined) {
                continue;
            }
            for (index, &(rank, one)) in bucket.iter().enumerate() {
                let mut is_loaded = false;
                for &(_, two) in &bucket[index + 1..] {
                    self.left = self.left.checked_sub(1)?;
                    // Two that meet more than once are compared where they meet first.
                    let first = first_shared(self.least(one), self.least(two));
                    if root(one) == root(two) || first != Some(rank) {
                        continue;
                    }
                    let (size, other_size) = (self.size(one), self.size(two));
                    let (own, list) = (self.list(one), self.list(two));
                    self.left = self.left.checked_sub(list.len())?;
                    if !std::mem::replace(&mut is_loaded, true) {
                        self.membership.load(own);
                    }
                    let needed = self.bound.shared(size, other_size);
                    if needed <= size.min(other_size)
                        && self.membership.at_most(list) >= needed
                        && self.membership.shared(own, list, true) >= needed
                    {
                        join(one, two);
                    }
                }
            }
        }
        Some(())
    }

    /// The sizes of all groups that were compared, and zero for the others.
    pub fn into_sizes(self) -> Vec<u32> {
        self.sizes
    }

    /// The number of different shingles of a group.
    fn size(&mut self, group: u32) -> u32 {
        let index = group as usize;
        if self.sizes[index] == 0 {
            self.sizes[index] = self.counting.distinct(self.list(group));
        }
        self.sizes[index]
    }

    /// Calls `each` with every group in the index that shares one of its least with this
    /// one and shares enough, and their score; `None` if there is too much to compare.
    pub fn similar(&mut self, group: u32, each: &mut dyn FnMut(u32, Score)) -> Option<()> {
        let mut met = std::mem::take(&mut self.met);
        for rank in self.least(group) {
            met.extend(self.having.get(rank).into_iter().flatten());
        }
        met.sort_unstable();
        met.dedup();
        self.left += self.list(group).len() * INDEX_COMPARED_PER_SHINGLE_MAX;
        if !met.is_empty() {
            let size = self.size(group);
            let sizes: Vec<u32> = met.iter().map(|&other| self.size(other)).collect();
            let own = self.list(group);
            self.membership.load(own);
            for (&other, other_size) in met.iter().zip(sizes) {
                let list = self.list(other);
                self.left = self.left.checked_sub(list.len())?;
                let needed = self.bound.shared(size, other_size);
                if needed > size.min(other_size) || self.membership.at_most(list) < needed {
                    continue;
                }
                let has_repeated = list.len() as u32 > other_size;
                let shared = self.membership.shared(own, list, has_repeated);
                if shared >= needed {
                    each(other, Measure::Jaccard.score(shared, [size, other_size]));
                }
            }
        }
        met.clear();
        self.met = met;
        Some(())
    }
}

/// How many different shingles two lists share.
pub fn overlap(one: &[Shingle], two: &[Shingle]) -> u32 {
    let mut membership = Membership::default();
    membership.load(one);
    membership.shared(one, two, true)
}

/// What can be said of the search before it starts.
pub fn stated(lists: &ShingleLists, threshold: Threshold) -> SearchStats {
    SearchStats {
        method: Method::Least,
        bands: lists.least_len(),
        rows: 1,
        recall: recall::scores_to_state(threshold)
            .map(|score| RecallAt {
                score,
                chance: 1.0 - (1.0 - score).powi(lists.least_len() as i32),
            })
            .collect(),
        ..SearchStats::default()
    }
}

/// Rows with the same list of shingles.
pub fn groups(collection: &Collection<'_>) -> Groups {
    let lists = collection.lists;
    let list = |row: Row| lists.list(row.0 as usize);
    collapse(
        lists.len() as u32,
        |row| {
            let sum = match (collection.is_excluded)(row) {
                false => lists.sum(row.0 as usize),
                // Far apart from all others, so that they are not compared.
                true => u64::from(row.0),
            };
            sum.wrapping_mul(0x9e37_79b9_7f4a_7c15)
        },
        |left, right| {
            !(collection.is_excluded)(left)
                && !(collection.is_excluded)(right)
                && list(left) == list(right)
        },
    )
}

/// Two groups, by number, the first the lower.
type Candidate = (u32, u32);

/// Every two groups, by their first rows, that share one of their least, once and in
/// order; `None` if they are too many.
fn candidates(
    collection: &Collection<'_>,
    firsts: &[Row],
    sides: &RowSides,
) -> Option<Vec<Candidate>> {
    let lists = collection.lists;
    let width = lists.least_len();
    // An entry for each of a group's least shingles.
    let ranks: Vec<Rank> = firsts
        .par_iter()
        .flat_map_iter(|&row| {
            let is_excluded = (collection.is_excluded)(row);
            let least = lists.least(row.0 as usize).iter();
            least.map(move |&rank| if is_excluded { Rank::NONE } else { rank })
        })
        .collect();
    let least = |group: u32| &ranks[group as usize * width..][..width];
    let entry_rank = |entry: Row| ranks[entry.0 as usize];
    let entries: Vec<Row> = (0..ranks.len() as u32)
        .map(Row)
        .filter(|&entry| entry_rank(entry) < Rank::NONE)
        .collect();
    let most = (firsts.len() * CANDIDATES_PER_ROW_MAX).max(CANDIDATES_MIN);
    let shingles: usize = firsts
        .iter()
        .map(|row| lists.list(row.0 as usize).len())
        .sum();
    let compared_max = (shingles * COMPARED_PER_SHINGLE_MAX).max(CANDIDATES_MIN);
    let length = |group: u32| lists.list(firsts[group as usize].0 as usize).len();
    let (mut candidates, compared) = for_each_bucket(
        &entries,
        |entry| entry_rank(entry).0,
        || (Vec::new(), 0_usize),
        |(candidates, compared), bucket| {
            // A bucket alone can be too much: its pairs are not even listed.
            if *compared > compared_max || bucket.len() * (bucket.len() - 1) / 2 > most {
                *compared = usize::MAX;
                return;
            }
            for (index, &one) in bucket.iter().enumerate() {
                for &two in &bucket[index + 1..] {
                    let (left, right) = (one.0 / width as u32, two.0 / width as u32);
                    let rank = entry_rank(one);
                    if entry_rank(two) == rank
                        && sides.across(Row(left), Row(right))
                        && first_shared(least(left), least(right)) == Some(rank)
                    {
                        candidates.push((left, right));
                        *compared = compared.saturating_add(length(left) + length(right));
                    }
                }
            }
        },
        |(mut one, compared), (mut two, more)| {
            one.append(&mut two);
            (one, compared.saturating_add(more))
        },
    );
    if compared > compared_max || candidates.len() > most {
        return None;
    }
    candidates.par_sort_unstable();
    Some(candidates)
}

/// The least that both have, so that a pair is taken once.
fn first_shared(left: &[Rank], right: &[Rank]) -> Option<Rank> {
    let (mut i, mut j) = (0, 0);
    while i < left.len() && j < right.len() {
        if left[i] == right[j] {
            return Some(left[i]);
        }
        let (a, b) = (left[i], right[j]);
        i += usize::from(a < b);
        j += usize::from(b < a);
    }
    None
}

/// The number of distinct shingles of those groups that are among the candidates; of the
/// others, that of all their shingles.
fn sizes(lists: &ShingleLists, firsts: &[Row], candidates: &[Candidate]) -> Vec<u32> {
    let mut is_needed = vec![false; firsts.len()];
    for &(left, right) in candidates {
        is_needed[left as usize] = true;
        is_needed[right as usize] = true;
    }
    (0..firsts.len())
        .into_par_iter()
        .map_init(Membership::default, |membership, group| {
            let list = lists.list(firsts[group].0 as usize);
            match is_needed[group] {
                true => membership.distinct(list),
                false => list.len() as u32,
            }
        })
        .collect()
}

/// Those of the candidates that share enough.
fn compare<'a>(
    candidates: &[Candidate],
    sizes: &[u32],
    bound: SetBound,
    list_of: &(impl Fn(u32) -> &'a [Shingle] + Sync),
) -> Vec<Match> {
    let of_left: Vec<&[Candidate]> = candidates.chunk_by(|a, b| a.0 == b.0).collect();
    let matches: Vec<Vec<Match>> = of_left
        .par_iter()
        .map_init(Membership::default, |membership, candidates| {
            let left = candidates[0].0;
            let size = sizes[left as usize];
            let own = list_of(left);
            membership.load(own);
            candidates
                .iter()
                .filter_map(|&(_, right)| {
                    let other = sizes[right as usize];
                    let needed = bound.shared(size, other);
                    let list = list_of(right);
                    if needed > size.min(other) || membership.at_most(list) < needed {
                        return None;
                    }
                    let shared = membership.shared(own, list, list.len() as u32 > other);
                    (shared >= needed).then_some(Match {
                        left: Row(left),
                        right: Row(right),
                        shared,
                    })
                })
                .collect()
        })
        .collect();
    matches.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_that_keep_the_recall_are_few() {
        let threshold = |text: &str| text.parse::<Threshold>().unwrap();
        assert_eq!(least_for_recall(threshold("0.75"), 0.99999), Some(9));
        assert_eq!(least_for_recall(threshold("0.5"), 0.99999), Some(17));
        assert_eq!(least_for_recall(threshold("1"), 0.99999), Some(1));
        assert_eq!(least_for_recall(threshold("0.1"), 0.99999), None);
        assert_eq!(least_for_recall(threshold("0.75"), 1.0), None);
    }
}
