//! Broder's score: the share of positions at which two signatures agree.

use crate::sketch::Value;

/// Positions compared before asking whether enough can still agree.
const CHUNK: usize = 64;

/// The number of positions at which two signatures agree, if it is at least
/// `needed`.
#[inline]
pub(crate) fn shared_at_least(left: &[Value], right: &[Value], needed: usize) -> Option<u32> {
    let mut differences = left.len().checked_sub(needed)?;
    for (left, right) in left.chunks(CHUNK).zip(right.chunks(CHUNK)) {
        let shared = shared_positions(left, right) as usize;
        differences = differences.checked_sub(left.len() - shared)?;
    }
    Some((needed + differences) as u32)
}

/// The number of positions at which two signatures agree.
#[inline]
pub(crate) fn shared_positions(left: &[Value], right: &[Value]) -> u32 {
    left.iter()
        .zip(right)
        .map(|(left, right)| u32::from(left == right))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn stopping_early_changes_nothing(
            rows in proptest::collection::vec((0..3, 0..3), 1..300), needed in 0_usize..310,
        ) {
            let (left, right): (Vec<Value>, Vec<Value>) = rows.into_iter().unzip();
            let shared = shared_positions(&left, &right);
            let expected = (shared as usize >= needed).then_some(shared);
            prop_assert_eq!(shared_at_least(&left, &right, needed), expected);
        }
    }
}
