//! How much work it is to hold each of some sets against those before it, so that progress can
//! be told by what is left to do. Not by how many sets are done: where all meet all, the last
//! take as long as all others together.

use super::rarity::SetsByRarity;

/// What all of the work of a set is, on average.
pub(crate) const SET: u64 = 1 << 16;

/// The work of sets, up to each of them.
pub(crate) struct Work {
    up_to: Vec<u64>,
}

impl Work {
    /// For sets that are taken in this order; some of it may have none.
    pub(crate) fn new(sets: &SetsByRarity, places: impl Iterator<Item = Option<usize>>) -> Self {
        let mut filed = vec![0_u32; sets.ranks()];
        let mut up_to = vec![0];
        let mut all = 0;
        for (before, place) in (0..).zip(places) {
            let mut meetings = 0;
            let prefix = place.map_or(&[][..], |place| sets.prefix(place));
            for item in prefix {
                let filed = &mut filed[item.rank as usize];
                meetings += u64::from(*filed);
                *filed += 1;
            }
            // However often two meet, they are compared once.
            all += 1 + prefix.len() as u64 + meetings.min(2 * before);
            up_to.push(all);
        }
        let count = up_to.len() as u64 - 1;
        let scaled =
            |work: u64| u128::from(work) * u128::from(count * SET) / u128::from(all.max(1));
        for work in &mut up_to {
            *work = scaled(*work) as u64;
        }
        Self { up_to }
    }

    /// Of some of them, counted in order.
    pub(crate) fn of(&self, run: std::ops::Range<usize>) -> u64 {
        self.up_to[run.end] - self.up_to[run.start]
    }
}
