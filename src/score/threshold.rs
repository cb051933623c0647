//! A threshold as it was typed: an exact decimal, not the float nearest to it.

use std::fmt;
use std::str::FromStr;

use super::Score;

/// The least score that counts, more than 0 and at most 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Threshold {
    numerator: u64,
    /// A power of ten.
    denominator: u64,
}

/// Digits after the point that are read; the rest must be zeros.
const DIGITS_MAX: usize = 18;

impl Threshold {
    /// A half.
    pub const HALF: Self = Self {
        numerator: 5,
        denominator: 10,
    };

    /// Whether `score` is at least the threshold.
    pub fn admits(self, score: Score) -> bool {
        u128::from(score.part) * u128::from(self.denominator)
            >= u128::from(self.numerator) * u128::from(score.whole)
    }

    /// The least number of parts that is enough, of `whole`.
    pub fn needed(self, whole: usize) -> usize {
        // At most `whole`, as a threshold is at most 1.
        divided(self.numerator, whole as u64, self.denominator) as usize
    }

    /// The least whole number that is t / (1 + t) of `whole`.
    pub(crate) fn part_of_one_more(self, whole: u64) -> u32 {
        divided(self.numerator, whole, self.numerator + self.denominator) as u32
    }

    /// How many of `whole` are no more than this share.
    pub fn whole_part_of(self, whole: usize) -> usize {
        let product = u128::from(self.numerator) * whole as u128;
        (product / u128::from(self.denominator)) as usize
    }

    /// The nearest floating-point number.
    pub fn as_f64(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }
}

/// `factor` × `whole` / `divisor`, rounded up. The short way is for the thresholds
/// that people type, in the loops that ask for it a billion times.
fn divided(factor: u64, whole: u64, divisor: u64) -> u64 {
    match factor.checked_mul(whole) {
        Some(product) => product.div_ceil(divisor),
        None => {
            let product = u128::from(factor) * u128::from(whole);
            product.div_ceil(u128::from(divisor)) as u64
        }
    }
}

impl Default for Threshold {
    fn default() -> Self {
        Self {
            numerator: 75,
            denominator: 100,
        }
    }
}

/// Why a text is no threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidThreshold;

impl fmt::Display for InvalidThreshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "a threshold is a decimal above 0 and at most 1, such as 0.75, \
             with at most {DIGITS_MAX} digits"
        )
    }
}

impl std::error::Error for InvalidThreshold {}

impl FromStr for Threshold {
    type Err = InvalidThreshold;

    fn from_str(text: &str) -> Result<Self, InvalidThreshold> {
        let (units, fraction) = text.split_once('.').unwrap_or((text, ""));
        let fraction = fraction.trim_end_matches('0');
        let digits = [units, fraction].concat();
        let well_formed = text.bytes().any(|byte| byte.is_ascii_digit())
            && digits.bytes().all(|byte| byte.is_ascii_digit())
            && fraction.len() <= DIGITS_MAX;
        let numerator = match digits.parse() {
            Ok(numerator) if well_formed => numerator,
            _ => return Err(InvalidThreshold),
        };
        let denominator = 10_u64.pow(fraction.len() as u32);
        if (1..=denominator).contains(&numerator) {
            Ok(Self {
                numerator,
                denominator,
            })
        } else {
            Err(InvalidThreshold)
        }
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.denominator.ilog10() as usize;
        if digits == 0 {
            return write!(f, "{}.0", self.numerator);
        }
        let units = self.numerator / self.denominator;
        let fraction = self.numerator % self.denominator;
        write!(f, "{units}.{fraction:0digits$}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_read_exactly() {
        for (text, shown) in [
            ("0.75", "0.75"),
            (".75", "0.75"),
            ("1", "1.0"),
            ("1.000", "1.0"),
            ("0.050", "0.05"),
            ("0.000000000000000001", "0.000000000000000001"),
        ] {
            assert_eq!(text.parse::<Threshold>().unwrap().to_string(), shown);
        }
        for text in [
            "",
            ".",
            "0",
            "0.0",
            "1.01",
            "-0.5",
            "+0.5",
            "0.5x",
            "1e-1",
            "nan",
            "0.1.2",
            "0.0000000000000000001",
            "99999999999999999999",
        ] {
            assert_eq!(text.parse::<Threshold>(), Err(InvalidThreshold), "{text}");
        }
    }

    #[test]
    fn the_threshold_itself_is_enough() {
        let threshold: Threshold = "0.55".parse().unwrap();
        // In floating point, 0.55 * 20 is a little more than 11.
        assert_eq!(threshold.needed(20), 11);
        assert!(threshold.admits(Score::new(11, 20)));
        assert!(!threshold.admits(Score::new(10, 20)));
        assert_eq!("1".parse::<Threshold>().unwrap().needed(4096), 4096);
        assert_eq!("0.0001".parse::<Threshold>().unwrap().needed(20), 1);
    }
}
