//! Which segments are merged.
//!
//! Small segments pile up at the end as documents are added. The last ones are merged, three at
//! least, if the others together are no smaller than the largest of them: a document then comes
//! into a segment at least twice as large, so that it is written anew no more often than its
//! index can double; and for each size there are but few segments. A segment is written anew, too,
//! if most of it was removed.

use std::ops::Range;

/// How often a document is written anew until its index is twice as large, at the most.
pub(super) const REWRITES_PER_DOUBLING: u64 = 1;

/// Segments that are merged at the least.
const LEAST: usize = 3;

/// Documents of a segment: all, and those that were not removed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    pub(super) all: u64,
    pub(super) live: u64,
}

/// The segments to merge next, if there are some.
pub(super) fn next(segments: &[Sizes]) -> Option<Range<usize>> {
    let is_hollow = |sizes: &Sizes| sizes.live * 2 < sizes.all || sizes.live == 0;
    if let Some(hollow) = segments.iter().position(is_hollow) {
        return Some(hollow..hollow + 1);
    }
    let most = segments.len().checked_sub(LEAST)?;
    (0..=most).map(|first| first..segments.len()).find(|range| {
        let sizes = segments[range.clone()].iter().map(|sizes| sizes.live);
        let (sum, largest) = (sizes.clone().sum::<u64>(), sizes.max().unwrap_or(0));
        sum - largest >= largest
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// However many documents come at a time: few segments, none written too often.
        #[test]
        fn segments_stay_few_and_are_written_seldom(adds in proptest::collection::vec(1_u64..1000, 1..300)) {
            let mut segments: Vec<Sizes> = vec![];
            let (mut all, mut written) = (0, 0);
            for add in adds {
                segments.push(Sizes { all: add, live: add });
                all += add;
                while let Some(range) = next(&segments) {
                    let sum = segments[range.clone()].iter().map(|sizes| sizes.live).sum();
                    written += sum;
                    segments.splice(range, [Sizes { all: sum, live: sum }]);
                }
                let doublings = u64::from((all + 1).ilog2() + 1);
                prop_assert!(segments.len() as u64 <= 2 * doublings + 2, "{segments:?}");
                prop_assert!(written <= all * doublings);
            }
        }
    }

    #[test]
    fn what_is_hollow_is_written_anew() {
        let sizes = |all, live| Sizes { all, live };
        assert_eq!(next(&[sizes(9, 9), sizes(9, 4)]), Some(1..2));
        assert_eq!(next(&[sizes(9, 9), sizes(9, 5)]), None);
        assert_eq!(next(&[sizes(9, 9), sizes(5, 5), sizes(4, 4)]), Some(0..3));
        assert_eq!(next(&[]), None);
    }
}
