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
const INDEX_COMPARED_MIN: usize = 1 << 22;

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

    /// The sizes of all groups that were compared, and zero for the others.
    pub fn into_sizes(self) -> Vec<u32> {
        self.sizes
    }

    /// The number of different shingles of a group.
    fn size(&mut self, group: u32) -> u32 {
        let index = group as usize;
        if self.sizes[index] == 0 {
            self.sizes[index] = self.membership.distinct(self.list(group));
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

/// A set of shingles that can be asked which others it has: a bit for each shingle
/// answers nearly always, and a table where it does not.
#[derive(Default)]
struct Membership {
    bits: Vec<u64>,
    bit_mask: usize,
    /// Shingles, each near the place that its lowest bits tell; zero where there is none.
    slots: Vec<u64>,
    slot_mask: usize,
    /// For each slot, the last list that was seen to have it.
    seen: Vec<u32>,
    lists_seen: u32,
    is_table_loaded: bool,
}

/// Bits for each shingle: few enough to stay in the cache, and enough that one in
/// sixty-four is taken for another at the most.
const BITS_PER_SHINGLE: usize = 64;
/// Slots for each shingle: so many that most are where they are looked for first.
const SLOTS_PER_SHINGLE: usize = 4;
/// Shingles that may be repeated and are looked for one by one.
const SUSPECTS_MAX: usize = 32;

impl Membership {
    /// The number of different shingles in a list.
    fn distinct(&mut self, list: &[Shingle]) -> u32 {
        self.clear_bits(list);
        // Without a branch: where a bit is set already, a shingle is likely repeated.
        let mut suspects = [0; SUSPECTS_MAX];
        let mut count = 0;
        for (place, &shingle) in list.iter().enumerate() {
            let (index, bit) = self.bit(shingle);
            suspects[count % SUSPECTS_MAX] = place;
            count += usize::from(self.bits[index] & bit != 0);
            self.bits[index] |= bit;
        }
        if count >= SUSPECTS_MAX {
            return self.load_table(list);
        }
        let is_repeated = |&&place: &&usize| list[..place].contains(&list[place]);
        let repeated = suspects[..count].iter().filter(is_repeated).count();
        (list.len() - repeated) as u32
    }

    /// Holds the shingles of this list, and nothing else.
    fn load(&mut self, list: &[Shingle]) {
        self.clear_bits(list);
        self.is_table_loaded = false;
        for &shingle in list {
            let (index, bit) = self.bit(shingle);
            self.bits[index] |= bit;
        }
    }

    fn clear_bits(&mut self, list: &[Shingle]) {
        let bits = (list.len() * BITS_PER_SHINGLE).next_power_of_two().max(64);
        self.bits.clear();
        self.bits.resize(bits / 64, 0);
        self.bit_mask = bits - 1;
    }

    /// Puts the list into the table, and gives the number of different shingles.
    fn load_table(&mut self, list: &[Shingle]) -> u32 {
        let slots = (list.len() * SLOTS_PER_SHINGLE).next_power_of_two();
        self.slots.clear();
        self.slots.resize(slots, 0);
        self.slot_mask = slots - 1;
        self.seen.clear();
        self.seen.resize(slots, 0);
        self.lists_seen = 0;
        self.is_table_loaded = true;
        let mut count = 0;
        for &shingle in list {
            let slot = self.slot(shingle);
            count += u32::from(self.slots[slot] == 0);
            self.slots[slot] = key(shingle);
        }
        count
    }

    /// By other bits than the slots.
    #[inline]
    fn bit(&self, shingle: Shingle) -> (usize, u64) {
        let bit = (shingle.0 >> 32) as usize & self.bit_mask;
        (bit / 64, 1 << (bit % 64))
    }

    /// Where a shingle is, or would be.
    #[inline]
    fn slot(&self, shingle: Shingle) -> usize {
        let mut slot = shingle.0 as usize & self.slot_mask;
        while self.slots[slot] != 0 && self.slots[slot] != key(shingle) {
            slot = (slot + 1) & self.slot_mask;
        }
        slot
    }

    #[inline]
    fn may_have(&self, shingle: Shingle) -> bool {
        let (index, bit) = self.bit(shingle);
        self.bits[index] & bit != 0
    }

    /// No less than the number of different shingles of the list that are in the set.
    fn at_most(&self, list: &[Shingle]) -> u32 {
        let may_have = |&shingle: &Shingle| u32::from(self.may_have(shingle));
        list.iter().map(may_have).sum()
    }

    /// The number of different shingles of the list that are in the set, which is that
    /// of `own`.
    fn shared(&mut self, own: &[Shingle], list: &[Shingle], has_repeated: bool) -> u32 {
        if !self.is_table_loaded {
            self.load_table(own);
        }
        self.lists_seen += 1;
        let mut shared = 0;
        for &shingle in list {
            if !self.may_have(shingle) {
                continue;
            }
            let slot = self.slot(shingle);
            let is_there = self.slots[slot] != 0;
            if has_repeated && is_there {
                let is_new =
                    std::mem::replace(&mut self.seen[slot], self.lists_seen) != self.lists_seen;
                shared += u32::from(is_new);
            } else {
                shared += u32::from(is_there);
            }
        }
        shared
    }
}

/// What stands for a shingle in a slot: never zero. Two shingles of all are the same
/// then.
#[inline]
fn key(shingle: Shingle) -> u64 {
    shingle.0.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn shingle(number: u64) -> Shingle {
        Shingle(number.wrapping_mul(0x2545_f491_4f6c_dd1d))
    }

    #[test]
    fn the_least_that_keep_the_recall_are_few() {
        let threshold = |text: &str| text.parse::<Threshold>().unwrap();
        assert_eq!(least_for_recall(threshold("0.75"), 0.99999), Some(9));
        assert_eq!(least_for_recall(threshold("0.5"), 0.99999), Some(17));
        assert_eq!(least_for_recall(threshold("1"), 0.99999), Some(1));
        assert_eq!(least_for_recall(threshold("0.1"), 0.99999), None);
        assert_eq!(least_for_recall(threshold("0.75"), 1.0), None);
    }

    proptest! {
        #[test]
        fn what_two_lists_share_is_counted_once(
            lists in proptest::collection::vec(
                proptest::collection::vec((0_u64..60).prop_map(shingle), 0..90), 2..6,
            ),
        ) {
            let set = |list: &[Shingle]| -> BTreeSet<u64> { list.iter().map(|s| s.0).collect() };
            let mut membership = Membership::default();
            for left in &lists {
                prop_assert_eq!(membership.distinct(left) as usize, set(left).len());
                membership.load(left);
                for right in &lists {
                    let shared = set(left).intersection(&set(right)).count() as u32;
                    prop_assert!(membership.at_most(right) >= shared);
                    prop_assert_eq!(membership.shared(left, right, true), shared);
                    let distinct: Vec<Shingle> = set(right).into_iter().map(Shingle).collect();
                    prop_assert_eq!(membership.shared(left, &distinct, false), shared);
                }
            }
        }
    }
}
