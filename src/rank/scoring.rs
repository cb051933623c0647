//! From a document's counts of terms to its score.

use super::counts::Counts;
use super::gold::GoldTerms;
use crate::score::DocumentFrequencies;
use crate::score::{Cosine, Weight, squared_idf};
use crate::settings::{Combine, RankSettings};

/// How rare terms are.
pub(super) struct Idf<'a> {
    frequencies: &'a DocumentFrequencies,
    /// By the number of documents: the same few numbers are most of them.
    small: Vec<u64>,
}

/// Numbers of documents whose idf is kept.
const SMALL: u32 = 1024;

impl<'a> Idf<'a> {
    pub(super) fn new(frequencies: &'a DocumentFrequencies) -> Self {
        let documents = frequencies.documents();
        let small = (0..SMALL).map(|count| squared_idf(documents, u64::from(count)));
        Self {
            frequencies,
            small: small.collect(),
        }
    }

    /// The square of a term's idf.
    pub(super) fn squared(&self, hash: u64) -> u64 {
        self.of_count(self.frequencies.of_hash(hash))
    }

    /// The same by the number of documents that have it.
    pub(super) fn of_count(&self, count: u32) -> u64 {
        match self.small.get(count as usize) {
            Some(&squared) => squared,
            None => squared_idf(self.frequencies.documents(), u64::from(count)),
        }
    }
}

/// What is known of a vector: its squared length, and its terms that a gold standard has too,
/// with their counts.
#[derive(Debug, Default)]
pub(super) struct Vector {
    pub(super) length: u128,
    pub(super) shared: Vec<(u32, u32)>,
}

/// A score, and the gold standard that has it, the first of those if all count.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Scored {
    pub(super) score: Cosine,
    pub(super) gold: u32,
}

/// Compares vectors with the gold standards.
pub(super) struct Scoring<'a> {
    pub(super) gold: &'a GoldTerms,
    weight: Weight,
    combine: Combine,
    explain: usize,
    idf: Option<Idf<'a>>,
    /// The squared lengths of the gold standards.
    lengths: Vec<u128>,
}

impl<'a> Scoring<'a> {
    /// Comparing as the settings ask for; with `frequencies` where terms are weighed by them.
    pub(super) fn new(
        gold: &'a GoldTerms,
        settings: &RankSettings,
        frequencies: Option<&'a DocumentFrequencies>,
    ) -> Self {
        let idf = frequencies.map(Idf::new);
        Self {
            lengths: gold.lengths(settings.weight, idf.as_ref()),
            gold,
            weight: settings.weight,
            combine: settings.combine,
            explain: settings.explain,
            idf,
        }
    }

    /// The vector of all that was counted.
    pub(super) fn vector(&self, counts: &mut Counts, vector: &mut Vector) {
        let Vector { length, shared } = vector;
        *length = 0;
        shared.clear();
        if self.weight != Weight::Tf {
            return counts.drain(|word, count| self.add(vector, word, count));
        }
        let mut squares = 0;
        counts.drain(|word, count| {
            // A document has no more than 2³⁰ words.
            squares += u64::from(count) * u64::from(count);
            if let Some(term) = self.gold.get(word) {
                shared.push((term, count));
            }
        });
        *length = squares.into();
    }

    /// Adds a term to a vector.
    #[inline]
    pub(super) fn add(&self, vector: &mut Vector, hash: u64, count: u32) {
        let squared = self.idf.as_ref().map_or(1, |idf| idf.squared(hash));
        vector.length += self.weight.product(count, count) * u128::from(squared);
        if let Some(term) = self.gold.get(hash) {
            vector.shared.push((term, count));
        }
    }

    /// The score of a vector.
    pub(super) fn score(&self, vector: &Vector) -> Scored {
        let cosines = self.cosines(vector);
        match self.combine {
            Combine::Mean => Scored {
                score: Cosine::mean(&cosines),
                gold: 0,
            },
            Combine::Max | Combine::Joined => {
                let mut best = Scored::default();
                for (gold, &score) in (0..).zip(&cosines) {
                    if score > best.score {
                        best = Scored { score, gold };
                    }
                }
                best
            }
        }
    }

    fn cosines(&self, vector: &Vector) -> Vec<Cosine> {
        let mut dots = vec![0; self.lengths.len()];
        for &(term, count) in &vector.shared {
            let squared = self.squared_idf(term);
            for &(gold, of_gold) in self.gold.counts(term) {
                dots[gold as usize] += self.weight.product(count, of_gold) * squared;
            }
        }
        let both = dots.iter().zip(&self.lengths);
        both.map(|(&dot, &length)| Cosine::new(dot, vector.length, length))
            .collect()
    }

    fn squared_idf(&self, term: u32) -> u128 {
        let squared = |idf: &Idf<'_>| idf.squared(self.gold.hash(term));
        u128::from(self.idf.as_ref().map_or(1, squared))
    }

    /// The terms that add most to a score, with their shares of it, the largest first; of equal
    /// ones, in the order of their spelling.
    pub(super) fn explain(&self, vector: &Vector, scored: Scored) -> Vec<(u32, f64)> {
        if self.explain == 0 {
            return Vec::new();
        }
        let mut shared = vector.shared.clone();
        shared.sort_unstable();
        let mut parts: Vec<(u32, f64)> = shared
            .iter()
            .map(|&(term, count)| {
                let squared = self.squared_idf(term) as f64;
                let of_gold = self.gold.counts(term).iter();
                let counts = of_gold
                    .filter(|(gold, _)| self.combine == Combine::Mean || *gold == scored.gold);
                let part = counts.map(|&(gold, of_gold)| {
                    let length = match self.combine {
                        Combine::Mean => (self.lengths[gold as usize] as f64).sqrt(),
                        // It is the same for all terms.
                        Combine::Max | Combine::Joined => 1.0,
                    };
                    self.weight.product(count, of_gold) as f64 * squared / length
                });
                (term, part.sum())
            })
            .filter(|(_, part)| *part > 0.0)
            .collect();
        let whole: f64 = parts.iter().map(|(_, part)| part).sum();
        parts.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
        parts.truncate(self.explain);
        for (_, part) in &mut parts {
            *part /= whole;
        }
        parts
    }
}
