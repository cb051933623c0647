//! The cosine of two vectors of terms, from integers.
//!
//! Squared lengths and the dot product are whole numbers, so that neither the order of terms nor
//! that of threads can show. Where weights are no integers, their products are taken as
//! multiples of 2⁻⁵⁴, each rounded once, and the rest is exact again.

use std::fmt;

use super::print;

/// How much a term counts in a vector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Weight {
    /// As often as it occurs.
    #[default]
    Tf,
    /// Once.
    Binary,
    /// 1 + ln(tf).
    Log,
    /// tf · idf, where idf = ln((1 + N) / (1 + df)) + 1 for a term that df of N documents have.
    TfIdf,
}

impl Weight {
    /// The name on the command line and in statistics.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tf => "tf",
            Self::Binary => "binary",
            Self::Log => "log",
            Self::TfIdf => "tfidf",
        }
    }

    /// The product of the weights of a term that occurs so often in two vectors, without its
    /// idf: a count, or for [`Weight::Log`] a multiple of 2⁻⁵⁴.
    pub(crate) fn product(self, one: u32, other: u32) -> u128 {
        match self {
            Self::Tf | Self::TfIdf => u128::from(one) * u128::from(other),
            Self::Binary => 1,
            Self::Log => u128::from(fixed(logarithmic(one) * logarithmic(other))),
        }
    }
}

fn logarithmic(count: u32) -> f64 {
    1.0 + f64::from(count).ln()
}

/// A number from 0 to 1023 as a multiple of 2⁻⁵⁴: exact from 2 on, where there are no finer ones.
fn fixed(number: f64) -> u64 {
    (number * (1_u64 << 54) as f64) as u64
}

/// The square of a term's idf, as a multiple of 2⁻⁵⁴. With 2³² documents the idf is below 24.
pub(crate) fn squared_idf(documents: u64, frequency: u64) -> u64 {
    let idf = ((1 + documents) as f64 / (1 + frequency) as f64).ln() + 1.0;
    fixed(idf * idf)
}

/// How near two vectors point: 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Cosine(f64);

impl Cosine {
    /// From a dot product and two squared lengths, in the same unit: the square root of
    /// dot² / (one · other), in lowest terms. Vectors that point the same way have exactly 1,
    /// and ratios that are the same are the same number.
    pub(crate) fn new(dot: u128, one: u128, other: u128) -> Self {
        if dot == 0 {
            return Self(0.0);
        }
        let (mut parts, mut wholes) = ([dot, dot], [one, other]);
        for part in &mut parts {
            for whole in &mut wholes {
                let divisor = common_divisor(*part, *whole);
                *part /= divisor;
                *whole /= divisor;
            }
        }
        let [part, whole] = [parts, wholes].map(|[a, b]| match a.checked_mul(b) {
            Some(product) => product as f64,
            None => a as f64 * b as f64,
        });
        Self((part / whole).sqrt().min(1.0))
    }

    /// The mean of some.
    pub(crate) fn mean(all: &[Self]) -> Self {
        let sum: f64 = all.iter().map(|cosine| cosine.0).sum();
        Self(sum / all.len().max(1) as f64)
    }

    /// (1 − `share`) of this and `share` of another.
    pub(crate) fn mixed(self, other: Self, share: f64) -> Self {
        Self((1.0 - share) * self.0 + share * other.0)
    }

    /// As a number.
    pub fn as_f64(self) -> f64 {
        self.0
    }
}

/// In its shortest form, as all scores.
impl fmt::Display for Cosine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print(self.0, f)
    }
}

fn common_divisor(a: u128, b: u128) -> u128 {
    match (u64::try_from(a), u64::try_from(b)) {
        (Ok(a), Ok(b)) => u128::from(common_divisor_64(a, b)),
        _ if b == 0 => a,
        // Numbers of any size meet in 64 bits soon.
        _ => common_divisor(b, a % b),
    }
}

/// Stein's: no division.
fn common_divisor_64(mut a: u64, mut b: u64) -> u64 {
    if a == 0 || b == 0 {
        return a | b;
    }
    let twos = (a | b).trailing_zeros();
    a >>= a.trailing_zeros();
    while b != 0 {
        b >>= b.trailing_zeros();
        if a > b {
            std::mem::swap(&mut a, &mut b);
        }
        b -= a;
    }
    a << twos
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cosine(weight: Weight, one: &[u32], other: &[u32]) -> f64 {
        let product = |a: &[u32], b: &[u32]| {
            let both = a.iter().zip(b).filter(|(a, b)| **a > 0 && **b > 0);
            both.map(|(&a, &b)| weight.product(a, b)).sum()
        };
        Cosine::new(
            product(one, other),
            product(one, one),
            product(other, other),
        )
        .0
    }

    /// By the formula, in floating point.
    fn twin(weight: Weight, one: &[u32], other: &[u32]) -> f64 {
        let weigh = |count: u32| match (weight, count) {
            (_, 0) => 0.0,
            (Weight::Binary, _) => 1.0,
            (Weight::Log, _) => 1.0 + f64::from(count).ln(),
            _ => f64::from(count),
        };
        let sum = |a: &[u32], b: &[u32]| -> f64 {
            let both = a.iter().zip(b);
            both.map(|(&a, &b)| weigh(a) * weigh(b)).sum()
        };
        match sum(one, one).sqrt() * sum(other, other).sqrt() {
            0.0 => 0.0,
            lengths => sum(one, other) / lengths,
        }
    }

    const WEIGHTS: [Weight; 4] = [Weight::Tf, Weight::Binary, Weight::Log, Weight::TfIdf];

    proptest! {
        #[test]
        fn cosines_are_what_the_formula_says(
            counts in proptest::collection::vec(
                prop_oneof![Just((0, 0)), (0_u32..9, 0_u32..9), (0_u32..1 << 24, 0_u32..1 << 24)],
                0..20,
            ),
        ) {
            let (one, other): (Vec<u32>, Vec<u32>) = counts.into_iter().unzip();
            for weight in WEIGHTS {
                let (found, expected) = (cosine(weight, &one, &other), twin(weight, &one, &other));
                prop_assert!((found - expected).abs() < 1e-14, "{} {}", found, expected);
                if one.iter().any(|&count| count > 0) {
                    prop_assert_eq!(cosine(weight, &one, &one), 1.0);
                }
            }
        }

        #[test]
        fn what_points_the_same_way_has_one(
            counts in proptest::collection::vec(1_u32..1000, 1..20),
            factor in 1_u32..1000,
        ) {
            let longer: Vec<u32> = counts.iter().map(|count| count * factor).collect();
            prop_assert_eq!(cosine(Weight::Tf, &counts, &longer), 1.0);
        }

        #[test]
        fn divisors_are_those_of_euclid(a in any::<u64>(), b in any::<u64>(), c in any::<u32>()) {
            fn euclid(a: u128, b: u128) -> u128 {
                if b == 0 { a } else { euclid(b, a % b) }
            }
            let (a, b) = (u128::from(a) * u128::from(c), u128::from(b) * u128::from(c));
            prop_assert_eq!(common_divisor(a, b), euclid(a, b));
            prop_assert_eq!(common_divisor(a >> 32, b >> 70), euclid(a >> 32, b >> 70));
        }
    }

    #[test]
    fn equal_ratios_are_equal_numbers() {
        for factor in 1..1000_u128 {
            let other = Cosine::new(factor, 4 * factor * factor, 7);
            assert_eq!(Cosine::new(1, 4, 7), other, "{factor}");
        }
        assert_eq!(Cosine::new(3, 4, 4).0, 0.75);
        assert_eq!(Cosine::new(0, 0, 9).to_string(), "0.0");
        let most = u128::from(u64::MAX) << 60;
        assert_eq!(Cosine::new(most, most, most).0, 1.0);
        assert!((Cosine::new(most / 2, most - 1, most - 3).0 - 0.5).abs() < 1e-15);
    }

    #[test]
    fn idf_is_that_of_the_help() {
        let idf = |documents, frequency| {
            (squared_idf(documents, frequency) as f64 / (1_u64 << 54) as f64).sqrt()
        };
        assert_eq!(idf(9, 9), 1.0);
        assert!((idf(99, 9) - (10_f64.ln() + 1.0)).abs() < 1e-15);
        assert!(idf(u64::from(u32::MAX), 0) < 24.0);
    }
}
