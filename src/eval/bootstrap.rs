//! How far a figure may be off by luck: 95 % intervals by bootstrap over clusters (Efron 1987,
//! bias-corrected and accelerated). Pairs of one cluster are found or missed together, so that
//! clusters are what is drawn anew, not pairs.

use std::ops::AddAssign;

use super::random::{Random, mixed};

/// Where a figure lies with a chance of 95 %.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// From here.
    pub low: f64,
    /// To here.
    pub high: f64,
}

impl Interval {
    /// Whether a number is in it.
    pub fn contains(&self, number: f64) -> bool {
        (self.low..=self.high).contains(&number)
    }
}

/// Collections that are drawn.
const DRAWS: usize = 1000;
/// More clusters are put together into so many parts, each with as many: sums over independent
/// clusters tell as much.
pub(crate) const PARTS_MAX: usize = 2000;
/// Half of what is left out, on each side.
const TAIL: f64 = 0.025;

/// The part that a cluster is put into. Each round is dealt out from another one on, so that what
/// comes every so often does not always come to the same.
pub(crate) fn part_of(cluster: usize) -> usize {
    let turn = match cluster / PARTS_MAX {
        0 => 0,
        round => mixed(round as u64) as usize % PARTS_MAX,
    };
    (cluster + turn) % PARTS_MAX
}

/// The interval of a figure of the sum of independent parts; `None` if there are none.
pub fn interval<T: Copy + Default + AddAssign>(
    parts: impl IntoIterator<Item = T>,
    seed: u64,
    figure: impl Fn(&T) -> f64,
) -> Option<Interval> {
    let mut bags: Vec<T> = Vec::new();
    let mut clusters = 0_usize;
    for part in parts {
        if bags.len() < PARTS_MAX {
            bags.push(part);
        } else {
            bags[part_of(clusters)] += part;
        }
        clusters += 1;
    }
    if bags.is_empty() {
        return None;
    }
    let sum = |mut all: T, part: &T| {
        all += *part;
        all
    };
    let whole = figure(&bags.iter().fold(T::default(), sum));
    let mut random = Random::new(seed ^ 0xb007_57a9);
    let mut drawn: Vec<f64> = (0..DRAWS)
        .map(|_| {
            let mut all = T::default();
            for _ in 0..bags.len() {
                all += bags[random.below(bags.len())];
            }
            figure(&all)
        })
        .collect();
    drawn.sort_by(f64::total_cmp);
    if drawn[0] == drawn[DRAWS - 1] {
        return Some(unvaried(whole, clusters));
    }
    // How far the draws lie to one side of the figure, and how skewed it is.
    let below = drawn.partition_point(|&other| other < whole);
    let same = drawn.partition_point(|&other| other <= whole) - below;
    let share = (below as f64 + same as f64 / 2.0) / DRAWS as f64;
    let bias = quantile(share.clamp(0.5 / DRAWS as f64, 1.0 - 0.5 / DRAWS as f64));
    let skew = acceleration(&bags, figure);
    let at = |tail: f64| {
        let z = bias + quantile(tail);
        let share = normal(bias + z / (1.0 - skew * z));
        let place = share * (DRAWS + 1) as f64 - 1.0;
        drawn[(place.round().max(0.0) as usize).min(DRAWS - 1)]
    };
    Some(Interval {
        low: at(TAIL).min(whole),
        high: at(1.0 - TAIL).max(whole),
    })
}

/// Of a figure that every cluster has alike, only so much is known as of a share that was all or
/// nothing in so many trials.
fn unvaried(figure: f64, clusters: usize) -> Interval {
    let bound = TAIL.powf(1.0 / clusters as f64);
    if figure >= 1.0 {
        Interval {
            low: bound,
            high: figure,
        }
    } else if figure <= 0.0 {
        Interval {
            low: figure,
            high: 1.0 - bound,
        }
    } else {
        Interval {
            low: figure,
            high: figure,
        }
    }
}

/// The skew of a figure, from leaving out one part at a time.
fn acceleration<T: Copy + Default + AddAssign>(bags: &[T], figure: impl Fn(&T) -> f64) -> f64 {
    // All but one, as the sum of those before and those behind.
    let mut behind = vec![T::default(); bags.len() + 1];
    for (index, bag) in bags.iter().enumerate().rev() {
        behind[index] = behind[index + 1];
        behind[index] += *bag;
    }
    let mut before = T::default();
    let without: Vec<f64> = bags
        .iter()
        .enumerate()
        .map(|(index, bag)| {
            let mut all = before;
            all += behind[index + 1];
            before += *bag;
            figure(&all)
        })
        .collect();
    let mean = without.iter().sum::<f64>() / without.len() as f64;
    let power = |n| {
        without
            .iter()
            .map(|figure| (mean - figure).powi(n))
            .sum::<f64>()
    };
    match power(2) {
        0.0 => 0.0,
        squares => power(3) / (6.0 * squares.powf(1.5)),
    }
}

/// The share of a normal distribution below `z` (Abramowitz, Stegun 26.2.17).
fn normal(z: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.231_641_9 * z.abs());
    let tail = (-z * z / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt()
        * t
        * (0.319_381_53
            + t * (-0.356_563_782
                + t * (1.781_477_937 + t * (-1.821_255_978 + t * 1.330_274_429))));
    if z < 0.0 { tail } else { 1.0 - tail }
}

/// Where a normal distribution has so much below, by halving: asked for a few times only.
fn quantile(share: f64) -> f64 {
    let (mut low, mut high) = (-9.0, 9.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        match normal(middle) < share {
            true => low = middle,
            false => high = middle,
        }
    }
    (low + high) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::Tally;

    #[test]
    fn quantiles_are_those_of_the_normal_distribution() {
        assert!((quantile(0.975) - 1.959_964).abs() < 1e-5);
        assert!((normal(1.0) - 0.841_344_7).abs() < 1e-6);
        assert!((quantile(0.5)).abs() < 1e-6);
    }

    #[test]
    fn an_interval_is_seeded_and_holds_the_figure() {
        let tally = |hits, missed| Tally {
            hits,
            missed,
            ..Tally::default()
        };
        let parts: Vec<Tally> = (0..300)
            .map(|i| tally(i % 4 + 1, u64::from(i % 5 == 0)))
            .collect();
        let one = interval(parts.clone(), 1, Tally::recall).unwrap();
        assert_eq!(Some(one), interval(parts.clone(), 1, Tally::recall));
        assert_ne!(Some(one), interval(parts.clone(), 2, Tally::recall));
        let recall = 750.0 / 810.0;
        assert!(one.contains(recall) && one.high - one.low < 0.05, "{one:?}");
        assert_eq!(interval(Vec::<Tally>::new(), 0, Tally::recall), None);
        // Many clusters are put together, and tell as much.
        let many: Vec<Tally> = (0..30_000)
            .map(|i| tally(1, u64::from(i % 10 == 0)))
            .collect();
        let many = interval(many, 0, Tally::recall).unwrap();
        assert!(
            many.contains(1.0 / 1.1) && many.high - many.low < 0.01,
            "{many:?}"
        );
    }

    #[test]
    fn what_was_always_found_is_not_certain() {
        let all = vec![
            Tally {
                hits: 3,
                ..Tally::default()
            };
            100
        ];
        let found = interval(all, 0, Tally::recall).unwrap();
        assert_eq!(found.high, 1.0);
        assert!((found.low - 0.025_f64.powf(0.01)).abs() < 1e-12);
    }
}
