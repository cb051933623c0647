//! Bands of positions that find every pair with enough positions in common.
//!
//! Of k positions, m must agree, so that at most e = k - m may differ. However
//! the positions are split into e + 1 bands, one band has no difference: two
//! groups that are similar enough agree in one band at least. Each band is handled
//! by itself, its keys sorted so that groups with equal keys stand together, and a
//! pair is taken from the first band in which it agrees, so that nothing needs
//! to be remembered of the pairs seen.
//!
//! Groups that stand together may be many without being similar: pages with the
//! same frame around them agree in a band, and in little else. What holds for all
//! positions holds for those outside the band, in which at most e may differ
//! too: a full bucket is split by e + 1 bands of the remaining positions, again
//! without missing a pair, until it is small or most of it is part of the answer.

use rayon::prelude::*;

use super::SearchStats;
use super::links::{LinkWriter, Match};
use crate::collection::{Group, GroupScope, for_each_bucket};
use crate::error::Error;
use crate::observer::{Expected, Observer, WorkCount};
use crate::sketch::Value;

/// The positions of a band.
type Band = Vec<u16>;

/// Buckets up to this size are compared all with all.
const SPLIT_MIN: usize = 256;
/// Filing a group in a band costs as much as comparing so many positions.
const FILING_COST_POSITIONS: usize = 640;
/// Pairs looked at to see whether most of a bucket is part of the answer.
const SAMPLES: u64 = 64;
/// One in so many of the sampled pairs makes a bucket worth comparing whole.
const SAMPLES_PER_MATCH: u64 = 8;
/// Groups in a bucket from which on it is worth asking whether most pairs match.
const SAMPLED_MIN: usize = 64;
/// Groups in a bucket from which on the comparisons are shared among threads.
const PARALLEL_MIN: usize = 1024;

/// How the positions are cut into bands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// So many bands that no pair is missed that agrees in `needed` positions.
    Lossless,
    /// So many bands of so many positions each.
    Chosen {
        /// Number of bands.
        bands: usize,
        /// Positions in each.
        rows: usize,
    },
}

/// The signatures of groups, by number.
pub(crate) trait GroupSignatures: Sync {
    /// Positions of each.
    fn positions(&self) -> usize;
    /// The signature of a group.
    fn of(&self, group: u32) -> &[Value];
}

/// What is looked for.
pub(crate) struct Wanted<'a, S> {
    pub(crate) signatures: &'a dyn GroupSignatures,
    /// The groups to look among, in order.
    pub(crate) groups: &'a [u32],
    pub(crate) layout: Layout,
    /// Positions that must agree.
    pub(crate) needed: usize,
    pub(crate) scope: &'a GroupScope,
    /// What two groups share, if it is enough; it admits none that agree in fewer positions.
    pub(crate) score: S,
}

/// Finds the pairs of groups that agree in a band and whose signatures agree in at least
/// `needed` positions, with what `score` says they share.
pub(crate) fn search(
    wanted: Wanted<'_, impl Fn(u32, u32) -> Option<u32> + Sync>,
    links: &LinkWriter<'_>,
    observer: &dyn Observer,
) -> Result<SearchStats, Error> {
    let Wanted {
        signatures,
        groups,
        layout,
        needed,
        scope,
        score,
    } = wanted;
    let search = Search {
        signatures,
        needed,
        scope,
        // For sets, what two share is dear, and a signature is only the way there.
        order: match layout {
            Layout::Lossless => None,
            Layout::Chosen { .. } => Some(Order::FirstPath),
        },
        score,
        links,
    };
    let all: Band = (0..signatures.positions() as u16).collect();
    let level = match layout {
        Layout::Lossless => {
            Level::dealt(search.telling_first(all, groups), search.differences() + 1)
        }
        Layout::Chosen { bands, rows } => Level {
            bands: all.chunks_exact(rows).take(bands).map(Band::from).collect(),
            positions: all,
        },
    };
    let mut found = Found::default();
    let filings = (groups.len() * level.bands.len()) as u64;
    let count = WorkCount::new(observer, Expected::Documents(groups.len() as u64), filings);
    for band in 0..level.bands.len() {
        let path = Path {
            level: &level,
            band,
            above: None,
        };
        found = for_each_bucket(
            groups,
            |group| key(signatures.of(group), &level.bands[band]),
            Found::default,
            |found, bucket| {
                found.stats.count_bucket(bucket.len());
                search.bucket(&path, bucket, found);
            },
            Found::merge,
            |filed| count.add(filed as u64),
        )
        .merge(found);
    }
    search.hand_over(&mut found, 0);
    found.stats.bands = level.bands.len();
    found.stats.rows = level.bands.iter().map(Vec::len).min().unwrap_or(0);
    match found.failed {
        Some(error) => Err(error),
        None => Ok(found.stats),
    }
}

/// The positions in bands such that two signatures that differ in so many have one in common.
#[cfg(feature = "worker")]
pub(crate) fn lossless_bands(positions: usize, differences: usize) -> Vec<Vec<u16>> {
    Level::dealt((0..positions as u16).collect(), differences + 1).bands
}

/// Disjoint bands that together hold `positions`.
struct Level {
    positions: Band,
    bands: Vec<Band>,
}

impl Level {
    /// Deals `positions` out to the bands one by one, so that each has one of the
    /// first, one of the next, and so on.
    fn dealt(positions: Band, count: usize) -> Self {
        let dealt = |band| {
            positions
                .iter()
                .copied()
                .skip(band)
                .step_by(count)
                .collect()
        };
        Self {
            bands: (0..count).map(dealt).collect(),
            positions,
        }
    }

    fn positions_outside(&self, band: usize) -> Band {
        let inside = &self.bands[band];
        let outside = |position: &u16| !inside.contains(position);
        self.positions.iter().copied().filter(outside).collect()
    }
}

/// How a bucket came about: a band, and the band of the bucket it was split from.
struct Path<'a> {
    level: &'a Level,
    band: usize,
    above: Option<&'a Path<'a>>,
}

impl Path<'_> {
    /// Whether this is the path by which the search comes to these two first:
    /// they agree in its bands, and at each level in no band before.
    fn is_first(&self, left: &[Value], right: &[Value]) -> bool {
        let agree = |band: &Band| {
            band.iter()
                .all(|&position| left[usize::from(position)] == right[usize::from(position)])
        };
        agree(&self.level.bands[self.band])
            && !self.level.bands[..self.band].iter().any(agree)
            && self.above.is_none_or(|above| above.is_first(left, right))
    }
}

#[derive(Default)]
struct Found {
    matches: Vec<Match>,
    stats: SearchStats,
    failed: Option<Error>,
}

impl Found {
    fn merge(mut self, mut other: Self) -> Self {
        if self.matches.len() < other.matches.len() {
            std::mem::swap(&mut self.matches, &mut other.matches);
        }
        self.matches.append(&mut other.matches);
        self.stats = self.stats.merge(other.stats);
        self.failed = self.failed.or(other.failed);
        self
    }
}

/// What is asked first of a pair: what it shares, or whether another path leads to
/// it before this one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    FirstScore,
    FirstPath,
}

struct Search<'a, S> {
    signatures: &'a dyn GroupSignatures,
    needed: usize,
    scope: &'a GroupScope,
    /// What is asked first of every pair; `None` to see what suits a bucket.
    order: Option<Order>,
    score: S,
    links: &'a LinkWriter<'a>,
}

/// Matches that a thread holds before it hands them over.
const MATCHES_AT_ONCE: usize = 1 << 14;

impl<S: Fn(u32, u32) -> Option<u32> + Sync> Search<'_, S> {
    /// Hands over what was found, if it is more than so much.
    fn hand_over(&self, found: &mut Found, most: usize) {
        if found.matches.len() > most
            && let Err(error) = self.links.push(&mut found.matches)
        {
            found.matches.clear();
            found.failed = Some(error);
        }
    }

    fn differences(&self) -> usize {
        self.signatures.positions() - self.needed
    }

    /// Finds the matches among `groups`, which are in order and share the keys of `path`.
    fn bucket(&self, path: &Path<'_>, groups: &[u32], found: &mut Found) {
        if !self.scope.admits_any(groups) || found.failed.is_some() {
            return;
        }
        let outside = path.level.positions.len() - path.level.bands[path.band].len();
        let bands = self.differences() + 1;
        // With fewer positions left than bands, the groups agree in `needed` already.
        let even = 2 * FILING_COST_POSITIONS * bands / self.signatures.positions();
        let few = SPLIT_MIN.max(even);
        if groups.len() <= few
            || outside < bands
            || self.sampled_matches(groups, found) * SAMPLES_PER_MATCH >= SAMPLES
        {
            self.compare_all(path, groups, found);
        } else {
            self.split(path, groups, found);
        }
    }

    fn split(&self, path: &Path<'_>, groups: &[u32], found: &mut Found) {
        found.stats.split_buckets += 1;
        let outside = path.level.positions_outside(path.band);
        let level = Level::dealt(self.telling_first(outside, groups), self.differences() + 1);
        for band in 0..level.bands.len() {
            let mut filed: Vec<(u64, u32)> = groups
                .iter()
                .map(|&group| (key(self.signatures.of(group), &level.bands[band]), group))
                .collect();
            filed.sort_unstable();
            let path = Path {
                level: &level,
                band,
                above: Some(path),
            };
            for bucket in filed.chunk_by(|a, b| a.0 == b.0) {
                if bucket.len() > 1 {
                    let groups: Vec<u32> = bucket.iter().map(|&(_, group)| group).collect();
                    self.bucket(&path, &groups, found);
                }
            }
        }
    }

    /// The positions in which groups differ most come first. Where many pages have a
    /// common frame, its positions are the same in all of them and tell nothing;
    /// bands of nothing else would put them all into one bucket, again and again.
    fn telling_first(&self, mut positions: Band, groups: &[u32]) -> Band {
        let step = groups.len().div_ceil(SAMPLES as usize).max(1);
        let mut values = Vec::new();
        let mut most_common = |position: &u16| {
            values.clear();
            let sample = groups.iter().step_by(step);
            values.extend(sample.map(|&group| self.signatures.of(group)[usize::from(*position)]));
            values.sort_unstable();
            values.chunk_by(|a, b| a == b).map(<[Value]>::len).max()
        };
        positions.sort_by_cached_key(|position| (most_common(position), *position));
        positions
    }

    /// How many of some sampled pairs match.
    fn sampled_matches(&self, groups: &[u32], found: &mut Found) -> u64 {
        found.stats.candidates += SAMPLES;
        let count = groups.len() as u64;
        let matching = (0..SAMPLES).filter(|sample| {
            // Any spread will do that is the same on every machine.
            let spread = sample.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 16;
            let left = spread % count;
            let right = (left + 1 + (spread / count) % (count - 1)) % count;
            (self.score)(groups[left as usize], groups[right as usize]).is_some()
        });
        matching.count() as u64
    }

    fn compare_all(&self, path: &Path<'_>, groups: &[u32], found: &mut Found) {
        let count = groups.len() as u64;
        found.stats.candidates += count * (count - 1) / 2;
        // Where most pairs match they do so in many bands, and have been found.
        let worth_asking = groups.len() >= SAMPLED_MIN && path.band > 0;
        let order = match self.order {
            Some(order) => order,
            None if worth_asking && self.sampled_matches(groups, found) * 2 > SAMPLES => {
                Order::FirstPath
            }
            None => Order::FirstScore,
        };
        let fewer = self.scope.fewer(groups);
        let compare = |one: usize, matches: &mut Vec<Match>| match &fewer {
            None => {
                for &right in &groups[one + 1..] {
                    self.compare(path, groups[one], right, order, matches);
                }
            }
            Some(fewer) if fewer[one] => {
                // Those before it that are among the fewer have met it already.
                let others = (0..groups.len()).filter(|&two| two > one || !fewer[two]);
                for two in
                    others.filter(|&two| self.scope.admits(Group(groups[one]), Group(groups[two])))
                {
                    let (left, right) = (groups[one.min(two)], groups[one.max(two)]);
                    self.compare(path, left, right, order, matches);
                }
            }
            Some(_) => {}
        };
        if groups.len() < PARALLEL_MIN {
            (0..groups.len()).for_each(|one| compare(one, &mut found.matches));
            self.hand_over(found, MATCHES_AT_ONCE);
            return;
        }
        let others = (0..groups.len())
            .into_par_iter()
            .fold(Found::default, |mut found, one| {
                compare(one, &mut found.matches);
                self.hand_over(&mut found, MATCHES_AT_ONCE);
                found
            })
            .reduce(Found::default, Found::merge);
        *found = std::mem::take(found).merge(others);
        self.hand_over(found, MATCHES_AT_ONCE);
    }

    fn compare(
        &self,
        path: &Path<'_>,
        left: u32,
        right: u32,
        order: Order,
        matches: &mut Vec<Match>,
    ) {
        let is_first = || path.is_first(self.signatures.of(left), self.signatures.of(right));
        if order == Order::FirstPath && !is_first() {
            return;
        }
        if let Some(shared) = (self.score)(left, right)
            && (order == Order::FirstPath || is_first())
        {
            matches.push(Match {
                one: Group(left),
                two: Group(right),
                shared,
            });
        }
    }
}

/// A number that is the same for groups that agree in the band, and hardly ever
/// for others.
fn key(signature: &[Value], band: &[u16]) -> u64 {
    band.iter().fold(0, |key, &position| {
        crate::sketch::combine(key, signature[usize::from(position)])
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collection::{Groups, Scope};
    use crate::memory::Memory;
    use crate::observer::Quiet;
    use crate::score::shared_positions;
    use crate::sets::Role;
    use proptest::prelude::*;

    /// Signatures, each of a group.
    struct Rows(Vec<Vec<Value>>);

    impl GroupSignatures for Rows {
        fn positions(&self) -> usize {
            self.0.first().map_or(1, Vec::len)
        }

        fn of(&self, group: u32) -> &[Value] {
            &self.0[group as usize]
        }
    }

    /// Two groups and what they share.
    type Pair = (u32, u32, u32);

    fn found(rows: &Rows, needed: usize) -> (Vec<Pair>, SearchStats) {
        found_in(
            rows,
            needed,
            &Scope::default().of_groups(&Groups::default()),
        )
    }

    fn found_in(rows: &Rows, needed: usize, scope: &GroupScope) -> (Vec<Pair>, SearchStats) {
        let groups: Vec<u32> = (0..rows.0.len() as u32).collect();
        let links = LinkWriter::new(groups.len(), &Memory::unlimited());
        let wanted = Wanted {
            signatures: rows,
            groups: &groups,
            layout: Layout::Lossless,
            needed,
            scope,
            score: |left, right| scored(rows, needed, left, right),
        };
        let stats = search(wanted, &links, &Quiet).unwrap();
        let links = links.finish().unwrap();
        let mut pairs = vec![];
        let mut buffer = vec![];
        for left in groups {
            let own = links.of(Group(left), &mut buffer).unwrap().iter();
            let behind = own.filter(|&&(right, _)| right > left);
            pairs.extend(behind.map(|&(right, shared)| (left, right, shared)));
        }
        (pairs, stats)
    }

    fn scored(rows: &Rows, needed: usize, left: u32, right: u32) -> Option<u32> {
        let shared = shared_positions(rows.of(left), rows.of(right));
        (shared as usize >= needed).then_some(shared)
    }

    /// All pairs, compared.
    fn twin(rows: &Rows, needed: usize) -> Vec<Pair> {
        let mut pairs = vec![];
        for left in 0..rows.0.len() as u32 {
            for right in left + 1..rows.0.len() as u32 {
                let shared = scored(rows, needed, left, right);
                pairs.extend(shared.map(|shared| (left, right, shared)));
            }
        }
        pairs
    }

    fn positions_and_needed() -> impl Strategy<Value = (usize, usize)> {
        (1_usize..40).prop_flat_map(|positions| (Just(positions), 1..=positions))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        #[test]
        fn nothing_is_missed_and_nothing_comes_twice(
            (needed, rows) in positions_and_needed().prop_flat_map(|(positions, needed)| {
                // Few different values, so that rows share many positions.
                let row = proptest::collection::vec(0..3_i32, positions);
                (Just(needed), proptest::collection::vec(row, 1..60))
            }),
        ) {
            let signatures = Rows(rows);
            prop_assert_eq!(found(&signatures, needed).0, twin(&signatures, needed));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]

        /// Pages with a common frame fill buckets that must be split.
        #[test]
        fn full_buckets_are_split_without_loss(
            seed in any::<u64>(),
            positions in 8_usize..24,
            framed in 1_usize..8,
            share in 30_usize..100,
        ) {
            let needed = (positions * share).div_ceil(100);
            let mut state = seed;
            let mut random = |limit: u64| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (state >> 33) % limit
            };
            let mut rows: Vec<Vec<Value>> = vec![];
            for _ in 0..900 {
                let row = if rows.is_empty() || random(3) > 0 {
                    (0..positions).map(|position| {
                        if position < framed { 7 } else { random(1 << 20) as Value }
                    }).collect()
                } else {
                    let mut row = rows[random(rows.len() as u64) as usize].clone();
                    for _ in 0..random(positions as u64) {
                        row[random(positions as u64) as usize] = random(1 << 20) as Value;
                    }
                    row
                };
                rows.push(row);
            }
            let signatures = Rows(rows);
            prop_assert_eq!(found(&signatures, needed).0, twin(&signatures, needed));
        }
    }

    /// Rows that are different but for a frame: each site has one of its own, in
    /// other positions, with the same value in all its rows.
    fn framed(sites: i32, rows: i32, positions: i32, framed: i32) -> Rows {
        let all: Vec<Vec<Value>> = (0..sites * rows)
            .map(|row| {
                let site = row % sites;
                let is_framed = |position: i32| (position + 7 * site) % positions < framed;
                (0..positions)
                    .map(|position| match is_framed(position) {
                        true => -1 - site,
                        false => row * positions + position,
                    })
                    .collect()
            })
            .collect();
        Rows(all)
    }

    #[test]
    fn a_common_frame_does_not_make_all_pairs_candidates() {
        for (sites, rows, positions, framed_positions, needed) in [
            (1, 20_000, 20, 4, 15),
            (40, 600, 20, 14, 15),
            (30, 600, 256, 140, 192),
        ] {
            let signatures = framed(sites, rows, positions, framed_positions);
            let (matches, stats) = found(&signatures, needed);
            assert!(matches.is_empty());
            assert!(stats.candidates < 100_000, "{stats:?}");
        }
    }

    /// Versions of one text: nearly all pairs match, in nearly all bands, in buckets
    /// large enough for several threads.
    #[test]
    fn nothing_is_missed_where_nearly_all_pairs_match() {
        let rows: Vec<Vec<Value>> = (0..1500)
            .map(|row| {
                let changed = |position| (row * 7 + position * 13) % 19 == 0;
                (0..20)
                    .map(|position| if changed(position) { row } else { -1 })
                    .collect()
            })
            .collect();
        let signatures = Rows(rows);
        for needed in [15, 18] {
            let (matches, stats) = found(&signatures, needed);
            assert_eq!(matches, twin(&signatures, needed));
            assert!(matches.len() > 100_000, "{}", matches.len());
            assert!(stats.largest_bucket >= PARALLEL_MIN, "{stats:?}");
        }
    }

    /// A dense side has no pairs of its own, and costs nothing.
    #[test]
    fn only_pairs_across_are_looked_for() {
        let rows: Vec<Vec<Value>> = (0..1300)
            .map(|row| {
                (0..40)
                    .map(|p| if (row + p * 7) % 23 < 2 { row } else { -1 })
                    .collect()
            })
            .collect();
        let signatures = Rows(rows);
        for few in [0, 1, 30, 700] {
            let role = |row: u32| match row % 1300 {
                5 => Role::LEFT.and(Role::RIGHT),
                row if row < few => Role::LEFT,
                _ => Role::RIGHT,
            };
            let scope = GroupScope::of((0..1300).map(role).collect());
            let (found, _) = found_in(&signatures, 30, &scope);
            let mut expected = twin(&signatures, 30);
            expected.retain(|pair| scope.admits(Group(pair.0), Group(pair.1)));
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn a_full_bucket_is_split_and_counted() {
        let signatures = framed(40, 600, 20, 14);
        let (_, stats) = found(&signatures, 15);
        assert_eq!(stats.largest_bucket, 600);
        assert!(stats.split_buckets >= 10, "{stats:?}");
    }
}
