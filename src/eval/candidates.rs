//! How many pairs bands would have looked at: pairs of documents that agree in one of them.
//!
//! Where they are few they are counted. Where a band alone has very many, pairs of it are drawn, and
//! the share of them that agree in no band before it tells how many it adds: counting would take the
//! time that bands are there to save.

use super::judge::Judge;
use super::searched::Searched;
use crate::collection::{Group, for_each_bucket};
use crate::random::Random;
use crate::search::GroupSignatures;
use crate::sketch::Bands;
use crate::sketch::{Value, combine};

/// Pairs of groups that are looked at for a setting, at the most; beyond, so many are drawn from
/// each band.
const COUNTED_MAX: u64 = 1 << 20;
const DRAWN: usize = 4096;

/// Pairs of documents that agree in a band.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct CandidateCount {
    pub(super) pairs: f64,
    /// Of those, the true ones, and those that are known not to be.
    pub(super) yes: f64,
    pub(super) no: f64,
    pub(super) is_estimated: bool,
}

impl CandidateCount {
    fn add(&mut self, searched: &Searched<'_>, one: Group, two: Group, scale: f64) {
        let (yes, no) = searched.judge.judged(one, two);
        self.pairs += searched.judge.pairs(one, two) as f64 * scale;
        self.yes += yes as f64 * scale;
        self.no += no as f64 * scale;
    }
}

/// Whether two signatures agree in a band.
pub(super) fn agree(one: &[Value], two: &[Value], band: usize, rows: usize) -> bool {
    let range = band * rows..(band + 1) * rows;
    one[range.clone()] == two[range]
}

/// The first of the bands in which two signatures agree.
pub(super) fn first_band(one: &[Value], two: &[Value], bands: Bands) -> Option<usize> {
    (0..bands.bands).find(|&band| agree(one, two, band, bands.rows))
}

/// The pairs of all documents that agree in a band. Those that are the same agree in all.
pub(super) fn count(
    searched: &Searched<'_>,
    signatures: &dyn GroupSignatures,
    bands: Bands,
) -> CandidateCount {
    let groups: Vec<u32> = searched.groups().map(|group| group.0).collect();
    let mut all = CandidateCount::default();
    for &group in &groups {
        all.add(searched, Group(group), Group(group), 1.0);
    }
    let counted_max = COUNTED_MAX / bands.bands as u64;
    for band in 0..bands.bands {
        let range = band * bands.rows..(band + 1) * bands.rows;
        let key = |group: u32| {
            signatures.of(group)[range.clone()]
                .iter()
                .copied()
                .fold(0, combine)
        };
        let mut buckets: Vec<Vec<u32>> = for_each_bucket(
            &groups,
            key,
            Vec::new,
            |buckets, bucket| buckets.push(bucket.to_vec()),
            |mut one, mut two| {
                one.append(&mut two);
                one
            },
            |_| {},
        );
        // In an order that does not depend on threads.
        buckets.sort_unstable_by_key(|bucket| bucket.first().copied());
        let pairs = |bucket: &Vec<u32>| (bucket.len() * (bucket.len() - 1) / 2) as u64;
        let is_first = |one: u32, two: u32| {
            first_band(signatures.of(one), signatures.of(two), bands) == Some(band)
        };
        if buckets.iter().map(pairs).sum::<u64>() <= counted_max {
            for bucket in &buckets {
                for (place, &one) in bucket.iter().enumerate() {
                    for &two in &bucket[place + 1..] {
                        if is_first(one, two) {
                            all.add(searched, Group(one), Group(two), 1.0);
                        }
                    }
                }
            }
        } else {
            all.is_estimated = true;
            let drawing = Drawing::new(&searched.judge, &buckets);
            let mut random = Random::new(searched.seed ^ (bands.bands as u64) << 32 ^ band as u64);
            let each = drawing.all / DRAWN as f64;
            for _ in 0..DRAWN {
                let (one, two) = drawing.draw(&mut random);
                if is_first(one, two) {
                    let (one, two) = (Group(one), Group(two));
                    // A draw stands for as many pairs of documents as any other.
                    let own = searched.judge.pairs(one, two) as f64;
                    all.add(searched, one, two, each / own);
                }
            }
        }
    }
    all
}

/// Pairs of documents in buckets of groups, to be drawn from.
struct Drawing<'a> {
    buckets: &'a [Vec<u32>],
    /// Pairs up to the end of each bucket.
    ends: Vec<f64>,
    all: f64,
    /// Of each bucket, the documents up to the end of each of its groups.
    documents: Vec<Vec<f64>>,
}

impl<'a> Drawing<'a> {
    fn new(judge: &Judge, buckets: &'a [Vec<u32>]) -> Self {
        let mut all = 0.0;
        let (ends, documents) = buckets
            .iter()
            .map(|bucket| {
                let (mut sum, mut squares) = (0.0, 0.0);
                let documents = bucket.iter().map(|&group| {
                    let weight = judge.weight(Group(group)) as f64;
                    sum += weight;
                    squares += weight * weight;
                    sum
                });
                let documents: Vec<f64> = documents.collect();
                all += (sum * sum - squares) / 2.0;
                (all, documents)
            })
            .unzip();
        Self {
            buckets,
            ends,
            all,
            documents,
        }
    }

    /// Two groups, each pair as often as it has pairs of documents.
    fn draw(&self, random: &mut Random) -> (u32, u32) {
        let at = random.share() * self.all;
        let place = self.ends.partition_point(|&end| end <= at);
        let place = place.min(self.buckets.len() - 1);
        let (bucket, documents) = (&self.buckets[place], &self.documents[place]);
        let mut one = || {
            let at = random.share() * documents[documents.len() - 1];
            bucket[documents.partition_point(|&end| end <= at)]
        };
        const TRIES_MAX: usize = 10_000;
        for _ in 0..TRIES_MAX {
            let (one, two) = (one(), one());
            if one != two {
                return (one, two);
            }
        }
        (bucket[0], bucket[1])
    }
}
