//! Broder's score: the share of positions at which two signatures agree.

use crate::sketch::Value;

/// The number of positions at which two signatures agree.
#[inline]
pub fn shared_positions(left: &[Value], right: &[Value]) -> u32 {
    left.iter()
        .zip(right)
        .map(|(left, right)| u32::from(left == right))
        .sum()
}
