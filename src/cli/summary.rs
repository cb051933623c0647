//! The closing line: what was read, what came of it, and how long it took.

use std::time::Duration;

use simdup::Stats;
use simdup::inside::{Estimate, Listed};
use simdup::settings::{Measure, SketchSettings};

/// The line of a run that took so long; `found` is what came of it.
pub(super) fn line(stats: &Stats, found: &str, took: Duration) -> String {
    let counts = &stats.counts;
    let documents = match counts.documents {
        1 => "1 document".to_owned(),
        documents => format!("{} documents", number(documents)),
    };
    let documents = match counts.against {
        0 => documents,
        against => format!("{documents} against {}", number(against)),
    };
    let comma = if found.is_empty() { "" } else { ", " };
    let repeated = match counts.repeated_ids {
        0 => String::new(),
        repeated => format!(" · {} with an id met before", number(repeated)),
    };
    let few_shared = match stats.search.pruned_by_min_shared {
        0 => String::new(),
        pairs => format!(
            " · {} left out for sharing fewer than {} shingles",
            count(pairs, "pair", "pairs"),
            number(stats.settings.min_shared.into())
        ),
    };
    format!(
        "{documents}{comma}{found} · {} in {}{repeated}{few_shared} · {} skipped",
        bytes(counts.input_bytes),
        time(took),
        number(counts.skipped)
    )
}

/// What scores are, if they are estimates.
pub(super) fn of_estimates(stats: &Stats) -> Option<String> {
    let settings = &stats.settings;
    if settings.measure != Measure::MinHash {
        return None;
    }
    let threshold = settings.threshold;
    let deviation = Estimate::deviation(threshold.as_f64(), settings.sketch.positions());
    let remedy = match settings.sketch {
        // The course's score is its own.
        SketchSettings::Technosphere => "",
        _ => "; --score jaccard is exact",
    };
    Some(format!(
        "scores are estimates, ±{deviation:.2} at {threshold}{remedy}"
    ))
}

/// Pairs that were listed.
pub(super) fn pairs(listed: Listed) -> String {
    match listed.pairs < listed.of {
        true => format!(
            "the best {} of {} pairs",
            number(listed.pairs),
            number(listed.of)
        ),
        false => count(listed.pairs, "pair", "pairs"),
    }
}

/// So many of something, of which no more than the best were asked for.
pub(super) fn best(found: u64, top: Option<usize>, one: &str, many: &str) -> String {
    match top {
        Some(top) if top as u64 == found => match found {
            1 => format!("the best {one}"),
            _ => format!("the best {} {many}", number(found)),
        },
        _ => count(found, one, many),
    }
}

/// What to do about documents that are mostly shorter than a shingle.
pub(super) fn of_short(stats: &Stats) -> Option<String> {
    let counts = &stats.counts;
    let (short, documents) = (counts.short, counts.documents + counts.against);
    (documents > 1 && short * 2 > documents).then(|| {
        format!(
            "{} of {} documents are shorter than a shingle, and found only if they are the same; \
             -w 1 or -c 2 compares parts of them",
            number(short),
            number(documents)
        )
    })
}

/// A number with its thousands apart.
pub(super) fn number(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// So many of something.
pub(super) fn count(count: u64, one: &str, many: &str) -> String {
    match count {
        1 => format!("1 {one}"),
        _ => format!("{} {many}", number(count)),
    }
}

/// What others stand for: of how many, unless those are in another collection.
pub(super) fn near_duplicates(stats: &Stats) -> String {
    let counts = &stats.counts;
    let members = count(counts.members, "near-duplicate", "near-duplicates");
    match counts.against {
        0 => format!("{members} of {}", number(counts.clusters)),
        _ => members,
    }
}

/// A size, in decimal units.
pub(super) fn bytes(bytes: u64) -> String {
    let units = ["kB", "MB", "GB", "TB"];
    let mut size = bytes as f64;
    let mut unit = "bytes";
    for larger in units {
        if size < 1000.0 {
            break;
        }
        size /= 1000.0;
        unit = larger;
    }
    match unit {
        "bytes" => count(bytes, "byte", "bytes"),
        unit => format!("{size:.1} {unit}"),
    }
}

fn time(took: Duration) -> String {
    let seconds = took.as_secs();
    match seconds {
        0..10 => format!("{:.1} s", took.as_secs_f64()),
        10..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_times_are_short() {
        for (size, text) in [
            (0, "0 bytes"),
            (1, "1 byte"),
            (999, "999 bytes"),
            (1000, "1.0 kB"),
            (2_500_000_000, "2.5 GB"),
            (7_000_000_000_000_000, "7000.0 TB"),
        ] {
            assert_eq!(bytes(size), text);
        }
        for (seconds, text) in [
            (0.04, "0.0 s"),
            (9.96, "10.0 s"),
            (12.7, "12 s"),
            (125.0, "2 min 5 s"),
            (7260.0, "2 h 1 min"),
        ] {
            assert_eq!(time(Duration::from_secs_f64(seconds)), text);
        }
    }

    #[test]
    fn the_line_has_its_thousands_apart() {
        let mut stats = Stats::default();
        stats.counts.documents = 400_000;
        stats.counts.members = 68_128;
        stats.counts.clusters = 31_007;
        stats.counts.input_bytes = 2_500_000_000;
        let found = format!("{}, {} kept", near_duplicates(&stats), number(331_872));
        assert_eq!(
            line(&stats, &found, Duration::from_secs(12)),
            "400,000 documents, 68,128 near-duplicates of 31,007, 331,872 kept · 2.5 GB in 12 s · 0 \
             skipped"
        );
        let told = of_estimates(&stats).unwrap();
        assert_eq!(
            told,
            "scores are estimates, ±0.04 at 0.75; --score jaccard is exact"
        );
        stats.settings.sketch = SketchSettings::Technosphere;
        let told = of_estimates(&stats).unwrap();
        assert!(!told.contains("jaccard"), "{told}");
        stats.counts.repeated_ids = 1200;
        let told = line(&stats, "", Duration::from_secs(12));
        assert_eq!(
            told,
            "400,000 documents · 2.5 GB in 12 s · 1,200 with an id met before · 0 skipped"
        );
        stats.settings.min_shared = 30;
        stats.search.pruned_by_min_shared = 1;
        let told = line(&stats, "", Duration::from_secs(12));
        assert!(
            told.contains(" · 1 pair left out for sharing fewer than 30 shingles · "),
            "{told}"
        );
        assert_eq!(pairs(Listed { pairs: 2, of: 7 }), "the best 2 of 7 pairs");
        assert_eq!(pairs(Listed { pairs: 1, of: 1 }), "1 pair");
        assert_eq!(best(2, Some(2), "pair", "pairs"), "the best 2 pairs");
        assert_eq!(best(2, Some(3), "pair", "pairs"), "2 pairs");
    }
}
