//! Fewer digits than a score has: rounded half to even, from the exact value.

use super::Score;

/// The most decimals that a score is printed with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digits(u8);

/// No score in its shortest form has more that count.
const DIGITS_MAX: u8 = 17;

impl Digits {
    /// So many, at least one; none of what cannot be.
    pub fn new(digits: u8) -> Option<Self> {
        (1..=DIGITS_MAX).contains(&digits).then_some(Self(digits))
    }

    /// A score as it is printed: in its shortest form if that has no more digits, else the exact
    /// ratio, rounded.
    pub(super) fn of_score(self, score: Score) -> String {
        let shortest = score.to_string();
        if self.is_enough_for(&shortest) {
            return shortest;
        }
        let unit = 10_u128.pow(u32::from(self.0));
        let whole = u128::from(score.whole);
        let scaled = u128::from(score.part) * unit;
        let (down, rest) = (scaled / whole, scaled % whole);
        let is_up = 2 * rest > whole || (2 * rest == whole && down % 2 == 1);
        let rounded = down + u128::from(is_up);
        let fraction = format!("{:0width$}", rounded % unit, width = usize::from(self.0));
        shortened(&(rounded / unit).to_string(), &fraction)
    }

    /// A score that is known as a decimal.
    pub fn of_number(self, score: f64) -> String {
        let text = format!("{score:?}");
        let text = match text.contains('e') {
            true => format!("{score}"),
            false => text,
        };
        if self.is_enough_for(&text) {
            return text;
        }
        let (units, fraction) = text.split_once('.').unwrap_or((&text, "0"));
        let (kept, rest) = fraction.split_at(usize::from(self.0).min(fraction.len()));
        let mut digits: Vec<u8> = [units, kept].concat().into_bytes();
        let is_odd = digits.last().is_some_and(|digit| digit % 2 == 1);
        let is_half = rest.trim_end_matches('0') == "5";
        if rest.as_bytes().first() >= Some(&b'5') && (!is_half || is_odd) {
            // What is carried beyond the first digit makes a new one.
            let nines = digits.iter().rev().take_while(|&&digit| digit == b'9');
            let nines = nines.count();
            let length = digits.len();
            digits[length - nines..].fill(b'0');
            match digits.get_mut((length - nines).wrapping_sub(1)) {
                Some(digit) => *digit += 1,
                None => digits.insert(0, b'1'),
            }
        }
        let point = digits.len() - kept.len();
        let text = String::from_utf8_lossy(&digits);
        shortened(&text[..point], &text[point..])
    }

    fn is_enough_for(self, text: &str) -> bool {
        let fraction = text.split_once('.').map_or("", |(_, fraction)| fraction);
        fraction.len() <= usize::from(self.0)
    }
}

impl Score {
    /// As it is printed, with no more than so many digits.
    pub fn printed(self, digits: Option<Digits>) -> String {
        match digits {
            Some(digits) => digits.of_score(self),
            None => self.to_string(),
        }
    }
}

/// Without zeros at the end, but for one.
fn shortened(units: &str, fraction: &str) -> String {
    match fraction.trim_end_matches('0') {
        "" => format!("{units}.0"),
        fraction => format!("{units}.{fraction}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn digits(digits: u8) -> Digits {
        Digits::new(digits).unwrap()
    }

    #[test]
    fn halves_go_to_the_even_digit() {
        for (part, whole, most, text) in [
            (17, 20, 1, "0.8"),
            (15, 20, 1, "0.8"),
            (13, 20, 1, "0.6"),
            (19, 20, 1, "1.0"),
            (2, 3, 2, "0.67"),
            (999, 1000, 2, "1.0"),
            (1, 4_000_000, 3, "0.0"),
            (9, 10, 4, "0.9"),
            (1, 3, 17, "0.3333333333333333"),
        ] {
            let score = Score::new(part, whole);
            assert_eq!(score.printed(Digits::new(most)), text);
        }
        assert_eq!(digits(1).of_number(0.25), "0.2");
        assert_eq!(digits(2).of_number(0.255), "0.26");
        assert_eq!(digits(2).of_number(0.9951), "1.0");
        assert_eq!(digits(2).of_number(1.0), "1.0");
        assert_eq!(digits(3).of_number(1e-9), "0.0");
        assert_eq!(Digits::new(0), None);
        assert_eq!(Digits::new(18), None);
    }

    proptest! {
        /// No other number of so few digits is nearer, and of two that are as near it is the
        /// even one.
        #[test]
        fn what_is_printed_is_the_nearest(part in 0_u32..5000, more in 0_u32..5000, most in 1_u8..6) {
            let score = Score::new(part, (part + more).max(1));
            let text = score.printed(Digits::new(most));
            let (units, fraction) = text.split_once('.').unwrap();
            let unit = 10_i128.pow(u32::from(most));
            let scaled = format!("{units}{fraction:0<width$}", width = usize::from(most));
            let scaled: i128 = scaled.parse().unwrap();
            let whole = i128::from(score.whole);
            let apart = (scaled * whole - i128::from(score.part) * unit).abs() * 2;
            prop_assert!(apart < whole || (apart == whole && scaled % 2 == 0), "{text}");
        }

        /// Ratios that are decimals are rounded the same in either way.
        #[test]
        fn numbers_are_rounded_as_ratios_are(part in 0_u32..=100_000, most in 1_u8..6) {
            let score = Score::new(part, 100_000);
            prop_assert_eq!(digits(most).of_number(score.as_f64()), score.printed(Digits::new(most)));
        }
    }
}
