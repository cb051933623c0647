//! Which of several documents is kept.

use std::cmp::{Ordering, Reverse};

use crate::document::{DocumentId, FieldValue};

/// Which of several documents is kept; of equals, the first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    /// The one that came first.
    #[default]
    First,
    /// The one that came last.
    Last,
    /// The one with the longest text.
    Longest,
    /// The one with the shortest text.
    Shortest,
    /// The one with the highest value in this field; one without comes last.
    Max(String),
    /// The one with the lowest value in this field; one without comes last.
    Min(String),
}

impl Keep {
    /// The field that counts, if one does.
    pub fn field(&self) -> Option<&str> {
        match self {
            Self::Max(field) | Self::Min(field) => Some(field),
            _ => None,
        }
    }
}

/// The first `count` documents in the order in which `keep` prefers them, by the length and
/// the value of each, where these count.
pub(crate) fn preference(
    keep: &Keep,
    count: u32,
    lengths: &[u64],
    values: &[Option<FieldValue>],
) -> Vec<DocumentId> {
    let mut order: Vec<DocumentId> = (0..count).map(DocumentId).collect();
    let length = |document: &DocumentId| lengths.get(document.index()).copied();
    let value = |document: &DocumentId| values.get(document.index()).and_then(Option::as_ref);
    // Stable, so that the first of equals comes first.
    match keep {
        Keep::First => {}
        Keep::Last => order.reverse(),
        Keep::Longest => order.sort_by_key(|document| Reverse(length(document))),
        Keep::Shortest => order.sort_by_key(length),
        Keep::Max(_) | Keep::Min(_) => {
            let is_max = matches!(keep, Keep::Max(_));
            order.sort_by(|one, two| match (value(one), value(two)) {
                (None, None) => Ordering::Equal,
                (None, Some(_)) => Ordering::Greater,
                (Some(_), None) => Ordering::Less,
                (Some(one), Some(two)) if is_max => compare(two, one),
                (Some(one), Some(two)) => compare(one, two),
            });
        }
    }
    order
}

/// Numbers as numbers, texts as texts, and all texts above all numbers. A total order: whole
/// numbers and others are compared without rounding.
fn compare(one: &FieldValue, two: &FieldValue) -> Ordering {
    use FieldValue::{Integer, Number, Text};
    match (one, two) {
        (Integer(one), Integer(two)) => one.cmp(two),
        (Number(one), Number(two)) => compare_numbers(*one, *two),
        (Integer(one), Number(two)) => compare_mixed(*one, *two),
        (Number(one), Integer(two)) => compare_mixed(*two, *one).reverse(),
        (Text(one), Text(two)) => one.cmp(two),
        (Text(_), _) => Ordering::Greater,
        (_, Text(_)) => Ordering::Less,
    }
}

/// Numbers from JSON are never NaN; zero has one sign here.
fn compare_numbers(one: f64, two: f64) -> Ordering {
    (one + 0.0).total_cmp(&(two + 0.0))
}

/// A whole number beside another number: first by the whole part, which is exact, then by
/// what is behind the point.
fn compare_mixed(integer: i128, number: f64) -> Ordering {
    // Far beyond every whole number there is.
    if number.abs() >= 1e38 {
        return compare_numbers(0.0, number);
    }
    let whole = number.trunc();
    integer
        .cmp(&(whole as i128))
        .then(compare_numbers(0.0, number - whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_preferred_come_first_and_of_equals_the_first() {
        let lengths = [3, 9, 3, 1, 9];
        let number = |value: i128| Some(FieldValue::Integer(value));
        let text = |value: &str| Some(FieldValue::Text(value.into()));
        let values = [
            number(2),
            None,
            Some(FieldValue::Number(10.5)),
            text("2026-01-02"),
            text("2025-12-31"),
        ];
        for (keep, expected) in [
            (Keep::First, [0, 1, 2, 3, 4]),
            (Keep::Last, [4, 3, 2, 1, 0]),
            (Keep::Longest, [1, 4, 0, 2, 3]),
            (Keep::Shortest, [3, 0, 2, 1, 4]),
            (Keep::Max("f".into()), [3, 4, 2, 0, 1]),
            (Keep::Min("f".into()), [0, 2, 4, 3, 1]),
        ] {
            let order = preference(&keep, 5, &lengths, &values);
            assert_eq!(order, expected.map(DocumentId), "{keep:?}");
        }
    }
    #[test]
    fn keep_max_with_integers_above_2_to_the_53_and_floats_is_a_total_order() {
        let two_53 = 9_007_199_254_740_992_i128;
        let mut values = vec![
            FieldValue::Integer(two_53 + 1),
            FieldValue::Number(9_007_199_254_740_992.0),
            FieldValue::Integer(two_53),
            FieldValue::Integer(two_53 - 1),
            FieldValue::Number(-0.0),
            FieldValue::Integer(0),
            FieldValue::Number(0.5),
            FieldValue::Number(-0.5),
            FieldValue::Number(1e300),
            FieldValue::Number(-1e300),
            FieldValue::Integer(i128::MAX),
            FieldValue::Text("a".into()),
        ];
        for a in &values {
            for b in &values {
                assert_eq!(compare(a, b), compare(b, a).reverse());
                for c in &values {
                    if compare(a, b).is_le() && compare(b, c).is_le() {
                        assert!(compare(a, c).is_le(), "{a:?} {b:?} {c:?}");
                    }
                }
            }
        }
        values.sort_by(compare);
        assert_eq!(values[0], FieldValue::Number(-1e300));
    }
}
