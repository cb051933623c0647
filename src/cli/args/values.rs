//! Values that flags take, each read from one argument.

use std::ffi::OsStr;
use std::ops::RangeInclusive;
use std::time::Duration;

use clap::builder::{PossibleValue, TypedValueParser};
use simdup::inside::Digits;
use simdup::settings::{
    Charset, CommonSettings, Keep, PartyBy, Pattern, TextEncoding, Threshold, Windows,
};

/// Reads what makes a group of documents.
pub(super) fn party_by(text: &str) -> Result<PartyBy, String> {
    match text.split_once(':') {
        None if text == "dir" => Ok(PartyBy::Folder(1)),
        None if text == "host" => Ok(PartyBy::Host),
        Some(("dir", level)) => at_least_one(level).map(PartyBy::Folder),
        Some(("field", name)) if !name.is_empty() => Ok(PartyBy::Field(name.into())),
        Some(("regex", pattern)) => Pattern::new(pattern).map(PartyBy::Pattern),
        _ => Err("dir, dir:2, field:NAME, host or regex:R".into()),
    }
}

/// Reads `--keep`, and says what can be typed, to who completes it.
#[derive(Clone)]
pub(super) struct KeepParser;

impl TypedValueParser for KeepParser {
    type Value = Keep;

    fn parse_ref(
        &self,
        command: &clap::Command,
        arg: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<Keep, clap::Error> {
        (keep as fn(&str) -> Result<Keep, String>).parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let values = [
            "first",
            "last",
            "longest",
            "shortest",
            "max:FIELD",
            "min:FIELD",
        ];
        Some(Box::new(values.into_iter().map(PossibleValue::new)))
    }
}

fn keep(text: &str) -> Result<Keep, String> {
    Ok(match text.split_once(':') {
        None if text == "first" => Keep::First,
        None if text == "last" => Keep::Last,
        None if text == "longest" => Keep::Longest,
        None if text == "shortest" => Keep::Shortest,
        Some(("max", field)) if !field.is_empty() => Keep::Max(field.into()),
        Some(("min", field)) if !field.is_empty() => Keep::Min(field.into()),
        _ => return Err("first, last, longest, shortest, max:FIELD or min:FIELD".into()),
    })
}

pub(super) fn encoding(text: &str) -> Result<TextEncoding, String> {
    match text {
        "detect" => Ok(TextEncoding::Detect),
        label => Charset::for_label(label)
            .map(TextEncoding::Named)
            .ok_or_else(|| {
                "detect, or an encoding's name such as windows-1251, shift_jis or utf-16le".into()
            }),
    }
}

/// Most threads that can be asked for: a typing error should not start millions.
const THREADS_MAX: usize = 512;

pub(super) fn threads(text: &str) -> Result<usize, String> {
    text.parse()
        .ok()
        .filter(|&threads| threads <= THREADS_MAX)
        .ok_or_else(|| format!("a number from 0 to {THREADS_MAX}"))
}

/// Reads seconds, with or without a part of one.
pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok();
    seconds
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| "seconds, such as 10 or 0.5".to_owned())
}

/// Reads a share in percent, above 0 and at most 100.
pub(super) fn percent(text: &str) -> Result<Threshold, String> {
    let wrong = || "percent above 0 and at most 100, such as 20 or 99.9".to_owned();
    let text = text.strip_suffix('%').unwrap_or(text);
    let (units, fraction) = text.split_once('.').unwrap_or((text, ""));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if units.is_empty() || units.len() > 3 || !is_number(units) || !is_number(fraction) {
        return Err(wrong());
    }
    // Two digits to the right: the point moves, and nothing is rounded.
    let digits = format!("{units:0>3}{fraction}");
    let share = format!("{}.{}", &digits[..1], &digits[1..]);
    share.parse().map_err(|_| wrong())
}

/// Reads how many digits a score has at the most.
pub(super) fn digits(text: &str) -> Result<Digits, String> {
    let digits = text.parse().ok().and_then(Digits::new);
    digits.ok_or_else(|| "a whole number from 1 to 17".to_owned())
}

pub(super) fn at_least_one(text: &str) -> Result<usize, String> {
    text.parse()
        .ok()
        .filter(|&number| number >= 1)
        .ok_or_else(|| "a whole number, at least 1".to_owned())
}

/// Reads a chance above 0 and at most 1.
pub(super) fn recall(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|&recall| recall > 0.0 && recall <= 1.0)
        .ok_or_else(|| "a chance above 0 and at most 1, such as 0.999".to_owned())
}

/// Reads a number of bytes: `512M`, `4G`, `1000000`.
pub(super) fn bytes(text: &str) -> Result<u64, String> {
    let (number, unit) = match text.char_indices().last() {
        Some((last, unit)) if unit.is_ascii_alphabetic() => {
            let shift = match unit.to_ascii_uppercase() {
                'K' => 10,
                'M' => 20,
                'G' => 30,
                'T' => 40,
                _ => 64,
            };
            (&text[..last], shift)
        }
        _ => (text, 0),
    };
    number
        .parse::<u64>()
        .ok()
        .filter(|_| unit < 64)
        .and_then(|number| number.checked_mul(1 << unit))
        .filter(|&bytes| bytes > 0)
        .ok_or_else(|| "a size such as 512M or 4G".to_owned())
}

/// The least that `--memory` takes: buffers of less would make a run endless.
pub(super) const MEMORY_BYTES_MIN: u64 = 1 << 20;

/// Reads how much memory a run may take.
pub(super) fn memory(text: &str) -> Result<u64, String> {
    match bytes(text)? {
        bytes if bytes < MEMORY_BYTES_MIN => {
            Err("the minimum is 1 MB: 1M. Sizes are bytes unless K, M, G or T follows".to_owned())
        }
        bytes => Ok(bytes),
    }
}

/// Reads a number of documents, or a share of them.
pub(super) fn common(text: &str) -> Result<CommonSettings, String> {
    let settings = match text.strip_suffix('%') {
        Some(percent) => percent_of(percent).map(CommonSettings::Share),
        None => text
            .parse()
            .ok()
            .filter(|&most| most > 0)
            .map(CommonSettings::Documents),
    };
    settings.ok_or_else(|| "a number of documents such as 100, or a share such as 5%".to_owned())
}

/// A percentage as an exact share: the point moves by two digits.
fn percent_of(text: &str) -> Option<Threshold> {
    // Only then is every byte a character, and the point can be put between any two.
    let is_decimal = |byte| matches!(byte, b'0'..=b'9' | b'.');
    if !text.bytes().all(is_decimal) {
        return None;
    }
    let (units, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = format!("{units:0>3}");
    let (whole, hundredths) = digits.split_at(digits.len() - 2);
    format!("{whole}.{hundredths}{fraction}").parse().ok()
}

/// Reads `N` or `N-M`.
pub(super) fn sizes(text: &str) -> Result<RangeInclusive<usize>, String> {
    let (least, most) = text.split_once('-').unwrap_or((text, text));
    match (least.parse(), most.parse()) {
        (Ok(least), Ok(most)) if 1 <= least && least <= most && most <= Windows::SIZE_MAX => {
            Ok(least..=most)
        }
        _ => Err(format!(
            "a size such as 5, or a range such as 2-4, from 1 to {}",
            Windows::SIZE_MAX
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::super::input::Fields;
    use super::*;

    #[test]
    fn percent_are_read_exactly() {
        for (text, share) in [
            ("20", "0.2"),
            ("100%", "1.0"),
            ("0.5", "0.005"),
            ("99.95", "0.9995"),
        ] {
            assert_eq!(percent(text).unwrap().to_string(), share);
        }
        for text in ["", "0", "101", "-1", "1e1", "1000", "x", "5.5.5", "100.1"] {
            assert!(percent(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_in_bytes_have_units() {
        assert_eq!(bytes("512M"), Ok(512 << 20));
        assert_eq!(bytes("4g"), Ok(4 << 30));
        assert_eq!(bytes("100"), Ok(100));
        for text in ["", "0", "M", "1X", "-1G", "99999999T", "1.5G"] {
            assert!(bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn memory_is_a_megabyte_at_the_least() {
        assert_eq!(memory("1M"), Ok(1 << 20));
        assert_eq!(memory("1048576"), Ok(1 << 20));
        for text in ["1", "512", "1023K", "1048575"] {
            assert!(memory(text).unwrap_err().starts_with("the minimum is 1 MB"));
        }
        assert_eq!(memory("1X"), bytes("1X"));
    }

    #[test]
    fn common_is_a_number_or_an_exact_share() {
        assert_eq!(common("7"), Ok(CommonSettings::Documents(7)));
        for (text, share) in [
            ("5%", "0.05"),
            ("12.5%", "0.125"),
            ("100%", "1"),
            ("0.1%", "0.001"),
        ] {
            assert_eq!(
                common(text),
                Ok(CommonSettings::Share(share.parse().unwrap()))
            );
        }
        for text in ["", "0", "%", "0%", "101%", "-3", "x%", "€%", "1€%", "+5%"] {
            assert!(common(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_are_numbers_or_ranges() {
        assert_eq!(sizes("5"), Ok(5..=5));
        assert_eq!(sizes("2-4"), Ok(2..=4));
        for text in ["", "0", "0-3", "4-2", "-3", "3-", "2-3-4", "x", "99999999"] {
            assert!(sizes(text).is_err(), "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_a_reader_panic(text in "(.|[-+0-9.,:%€eKMGT]|max:|min:){0,12}") {
            let _ = keep(&text);
            let _ = party_by(&text);
            let _ = threads(&text);
            let _ = at_least_one(&text);
            let _ = digits(&text);
            let _ = recall(&text);
            let _ = bytes(&text);
            let _ = common(&text);
            let _ = common(&format!("{text}%"));
            let _ = sizes(&text);
            let _ = text.parse::<Threshold>();
            let _ = text.parse::<Fields>();
        }
    }
}
