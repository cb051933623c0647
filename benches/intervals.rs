//! How often a 95 % interval holds the true value: 1,000 simulated collections, each of clusters whose
//! pairs tend to be found or missed together. `cargo bench --bench intervals` prints the shares, and
//! fails if one is below 93 %, except where large clusters are other than small ones: a collection
//! without the largest clusters cannot tell how these are.

#![allow(missing_docs, clippy::print_stdout)]

use std::process::ExitCode;

use simdup::inside::{RandTally, Tally, confidence};

const SIMULATIONS: u64 = 1000;

/// SplitMix64.
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// A cluster of 1 to 6 true pairs, each found with a chance that the cluster has, and some pairs
/// that are not true.
fn cluster(draw: &mut Draw) -> Tally {
    let pairs = 1 + draw.next() % 6;
    let chance = if draw.share() < 0.7 { 0.95 } else { 0.4 };
    let mut tally = Tally::default();
    for _ in 0..pairs {
        match draw.share() < chance {
            true => tally.hits += 1,
            false => tally.missed += 1,
        }
    }
    if draw.share() < 0.2 {
        tally.false_alarms = 1 + draw.next() % 3;
    }
    tally
}

/// A cluster of a size with a heavy tail, whose pairs are all true or all not. `chance_of` says how
/// likely it is true by its size.
fn heavy(draw: &mut Draw, tail: f64, chance_of: impl Fn(f64) -> f64) -> Tally {
    let size = (2.0 * (1.0 - draw.share()).powf(-1.0 / tail)).floor();
    let size = size.min(LARGEST_CLUSTER);
    let pairs = (size * (size - 1.0) / 2.0) as u64;
    let is_true = draw.share() < chance_of(size);
    Tally {
        hits: if is_true { pairs } else { 0 },
        false_alarms: if is_true { 0 } else { pairs },
        ..Tally::default()
    }
}

/// The precision of all such clusters, from the chance of each size.
fn heavy_precision(tail: f64, chance_of: impl Fn(f64) -> f64) -> f64 {
    let (mut hits, mut found) = (0.0, 0.0);
    let at_least = |size: f64| (2.0 / size).powf(tail);
    for size in 2..=LARGEST_CLUSTER as u32 {
        let size = f64::from(size);
        let above = if size < LARGEST_CLUSTER {
            at_least(size + 1.0)
        } else {
            0.0
        };
        let pairs = (at_least(size) - above) * size * (size - 1.0) / 2.0;
        hits += pairs * chance_of(size);
        found += pairs;
    }
    hits / found
}

const LARGEST_CLUSTER: f64 = 1000.0;

/// Documents of a cluster that was found whole or in two parts.
fn partition(draw: &mut Draw) -> RandTally {
    let size = 2 + draw.next() % 6;
    let pairs = |count: u64| count * count.saturating_sub(1) / 2;
    let part = if draw.share() < 0.6 {
        0
    } else {
        draw.next() % size
    };
    let together = pairs(size - part) + pairs(part);
    RandTally {
        both: together,
        first: pairs(size),
        second: together,
        documents: size,
    }
}

/// The share of simulations whose interval holds what very many clusters have.
fn coverage<T: Copy + Default + std::ops::AddAssign>(
    clusters: usize,
    draw_one: impl Fn(&mut Draw) -> T,
    truth: f64,
    figure: impl Fn(&T) -> f64 + Copy,
    weight: impl Fn(&T) -> u64 + Copy,
) -> f64 {
    let mut held = 0;
    for seed in 0..SIMULATIONS {
        let mut draw = Draw(seed << 20 | clusters as u64);
        let drawn: Vec<T> = (0..clusters).map(|_| draw_one(&mut draw)).collect();
        held += u64::from(
            confidence(drawn, seed, figure, weight)
                .is_some_and(|found| found.interval.contains(truth)),
        );
    }
    held as f64 / SIMULATIONS as f64
}

fn main() -> ExitCode {
    let many = |count: usize| {
        let mut draw = Draw(99);
        let mut all = Tally::default();
        (0..count).for_each(|_| all += cluster(&mut draw));
        all
    };
    let all = many(2_000_000);
    let mut is_good = true;
    let mut tell = |what: &str, clusters: usize, share: f64| {
        println!("{what:<10} {clusters:>5} clusters: {:.1} %", share * 100.0);
        is_good &= share >= 0.93;
    };
    for clusters in [100, 300, 3000] {
        let recall = coverage(clusters, cluster, all.recall(), Tally::recall, Tally::truth);
        tell("recall", clusters, recall);
        let precision = coverage(
            clusters,
            cluster,
            all.precision(),
            Tally::precision,
            Tally::found,
        );
        tell("precision", clusters, precision);
        tell(
            "f1",
            clusters,
            coverage(
                clusters,
                cluster,
                all.f1(),
                Tally::f1,
                Tally::found_and_true,
            ),
        );
        // The index depends a little on how many clusters there are.
        let mut draw = Draw(7);
        let mean: f64 = (0..2000)
            .map(|_| {
                let mut all = RandTally::default();
                (0..clusters).for_each(|_| all += partition(&mut draw));
                all.adjusted()
            })
            .sum::<f64>()
            / 2000.0;
        tell(
            "ari",
            clusters,
            coverage(
                clusters,
                partition,
                mean,
                RandTally::adjusted,
                RandTally::pairs,
            ),
        );
    }
    for tail in [1.5, 2.0, 3.0, 4.0] {
        for clusters in [100, 300, 1500] {
            let draw = |draw: &mut Draw| heavy(draw, tail, |_| 0.8);
            let share = coverage(clusters, draw, 0.8, Tally::precision, Tally::found);
            tell(&format!("tail {tail}"), clusters, share);
        }
    }
    for tail in [2.0, 3.0, 4.0] {
        let chance_of = |size: f64| if size < 10.0 { 0.95 } else { 0.6 };
        let truth = heavy_precision(tail, chance_of);
        for clusters in [100, 300, 1500] {
            let draw = |draw: &mut Draw| heavy(draw, tail, chance_of);
            let share = coverage(clusters, draw, truth, Tally::precision, Tally::found);
            println!(
                "tail {tail}, large ones worse {clusters:>5} clusters: {:.1} %",
                share * 100.0
            );
        }
    }
    match is_good {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}
