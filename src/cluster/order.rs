//! Which of several documents is kept.

use std::cmp::Ordering;

use crate::document::FieldValue;

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

/// The numbers from 0 to `count` in the order in which `keep` prefers them, by the
/// length and the value of each.
pub fn preference(
    keep: &Keep,
    count: usize,
    length: impl Fn(usize) -> u64,
    value: impl Fn(usize) -> Option<FieldValue>,
) -> Vec<u32> {
    let mut order: Vec<u32> = (0..count as u32).collect();
    match keep {
        Keep::First => {}
        Keep::Last => order.reverse(),
        Keep::Longest => order.sort_by_key(|&row| std::cmp::Reverse(length(row as usize))),
        Keep::Shortest => order.sort_by_key(|&row| length(row as usize)),
        Keep::Max(_) | Keep::Min(_) => {
            let values: Vec<Option<FieldValue>> = (0..count).map(value).collect();
            let is_max = matches!(keep, Keep::Max(_));
            // Stable, so that the first of equals comes first.
            order.sort_by(
                |&one, &two| match (&values[one as usize], &values[two as usize]) {
                    (None, None) => Ordering::Equal,
                    (None, Some(_)) => Ordering::Greater,
                    (Some(_), None) => Ordering::Less,
                    (Some(one), Some(two)) if is_max => compare(two, one),
                    (Some(one), Some(two)) => compare(one, two),
                },
            );
        }
    }
    order
}

/// Numbers as numbers, texts as texts, and all texts above all numbers.
fn compare(one: &FieldValue, two: &FieldValue) -> Ordering {
    let number = |value: &FieldValue| match value {
        FieldValue::Integer(number) => Some(*number as f64),
        FieldValue::Number(number) => Some(*number),
        FieldValue::Text(_) => None,
    };
    match (one, two) {
        (FieldValue::Integer(one), FieldValue::Integer(two)) => one.cmp(two),
        (FieldValue::Text(one), FieldValue::Text(two)) => one.cmp(two),
        _ => match (number(one), number(two)) {
            (Some(one), Some(two)) => one.partial_cmp(&two).unwrap_or(Ordering::Equal),
            (None, _) => Ordering::Greater,
            (_, None) => Ordering::Less,
        },
    }
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
            let order = preference(&keep, 5, |row| lengths[row], |row| values[row].clone());
            assert_eq!(order, expected, "{keep:?}");
        }
    }
}
