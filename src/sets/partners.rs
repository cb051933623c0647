//! Which documents can have a partner at all.
//!
//! To be similar enough, a document of n shingles must share at least so many of them with
//! another one: for Jaccard, ⌈t·n⌉. So if more than n - ⌈t·n⌉ of its shingles occur in no
//! other document it has no partner, and need not be looked at again; nor need it be
//! counted for others. On ordinary text that leaves a few in a hundred.
//!
//! A chunk that several documents have is shared as a whole. The shingles of the others are
//! looked at a part of their range at a time, in tables small enough for a cache: two bits for
//! each tell whether it occurs, and whether more than once. Two shingles may have the same bits:
//! then they are taken for one that occurs twice, which drops fewer documents and never one too
//! many. Each document is dropped as soon as the parts so far are enough to know, so that most
//! are gone after a third of them.
//!
//! A document's list has the shingles that it repeats as often as it repeats them, and how many
//! different ones there are is not known. A shingle therefore counts at most once as one that is in
//! no other document: of L entries with n different shingles, L - ⌈t·L⌉ is at least n - ⌈t·n⌉. Among
//! documents that are compared with each other, the two bits see to that. Across two sides they tell
//! the sides instead, and repetitions are looked for in the list itself.

use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};

use super::lists::{Chunks, ShingleLists, Slice};
use super::uses::{ChunkUses, Use};
use crate::document::DocumentId;
use crate::error::Error;
use crate::score::SetBound;
use crate::sets::Role;

/// Slots of a table for each shingle in it, at the most: one in eight to one in four is taken
/// for another.
const SLOTS_PER_SHINGLE: u64 = 8;
/// Bits for each shingle of a document in the table that tells which of them were counted: about
/// one in sixty-four is taken for another.
const SEEN_BITS_PER_SHINGLE: usize = 32;
/// Bytes of a table that are aimed at.
const TABLE_BYTES: u64 = 4 << 20;
/// Fewest and most parts of the range.
const PARTS: std::ops::RangeInclusive<u64> = 4..=64;
/// If what can be dropped has less than one in so many of all shingles, as the first part
/// tells, looking at the others is no gain.
const WORTH_ONE_IN: u64 = 4;
/// Another sweep is worth it if the last dropped more than one in so many shingles.
const AGAIN_ONE_IN: u64 = 8;

/// Bytes of a table of so many shingles, if they are more than is aimed at: the range has no more
/// parts then.
pub(super) fn large_table_bytes(shingles: u64) -> u64 {
    let bytes = shingles / PARTS.end() * SLOTS_PER_SHINGLE / 4;
    bytes.saturating_sub(TABLE_BYTES)
}

/// Drops those documents that cannot have a partner: their role becomes [`Role::NONE`].
pub(crate) fn drop_partnerless(
    lists: &ShingleLists,
    roles: &mut [Role],
    is_across: bool,
    bound: SetBound,
) -> Result<(), Error> {
    let mut sweep = Sweep {
        lists,
        is_across,
        bound,
        roles: roles.iter().map(|role| AtomicU8::new(role.0)).collect(),
        alone: roles.iter().map(|_| AtomicU32::new(0)).collect(),
    };
    let mut before = sweep.shingles();
    loop {
        let is_worth_it = sweep.run(before)?;
        let left = sweep.shingles();
        let dropped = before - left;
        if !is_worth_it || left == 0 || dropped * AGAIN_ONE_IN < before {
            break;
        }
        before = left;
        sweep
            .alone
            .iter_mut()
            .for_each(|alone| *alone.get_mut() = 0);
    }
    for (role, left) in roles.iter_mut().zip(sweep.roles) {
        *role = Role(left.into_inner());
    }
    Ok(())
}

struct Sweep<'a> {
    lists: &'a ShingleLists,
    is_across: bool,
    bound: SetBound,
    /// Of each document, [`Role::NONE`] once it is dropped. One thread at a time looks at a
    /// document.
    roles: Vec<AtomicU8>,
    /// Shingles of each that are known to be in no other.
    alone: Vec<AtomicU32>,
}

/// What the first part tells: shingles of documents that are likely to be dropped, and of all.
#[derive(Default)]
struct Forecast {
    dropped: u64,
    all: u64,
}

impl Sweep<'_> {
    fn role(&self, document: usize) -> Role {
        Role(self.roles[document].load(Ordering::Relaxed))
    }

    /// Shingles of the documents that are left.
    fn shingles(&self) -> u64 {
        (0..self.roles.len())
            .filter(|&document| self.role(document) != Role::NONE)
            .map(|document| u64::from(self.lists.lengths()[document]))
            .sum()
    }

    /// Looks at all parts, or only at the first if that is no gain: then it says so.
    fn run(&self, shingles: u64) -> Result<bool, Error> {
        let uses = ChunkUses::new(self.lists, |document| self.role(document.index()))?;
        let parts = (shingles * SLOTS_PER_SHINGLE / 4 / TABLE_BYTES)
            .next_power_of_two()
            .clamp(*PARTS.start(), *PARTS.end());
        // No more than so many for each shingle, so that the table stays in the cache.
        let slots = 1_u64 << (shingles / parts * SLOTS_PER_SHINGLE).max(32).ilog2();
        let layout = Layout {
            parts,
            part_shift: 64 - parts.ilog2(),
            slot_shift: 64 - parts.ilog2() - slots.ilog2(),
            slot_mask: slots as usize - 1,
        };
        let (mut table, _) = self.pass(&layout, &uses, None, Some(0))?;
        for part in 0..parts {
            let next = (part + 1 < parts).then_some(part + 1);
            let forecast;
            (table, forecast) = self.pass(&layout, &uses, Some((part, &table)), next)?;
            if part == 0 && forecast.dropped * WORTH_ONE_IN < forecast.all {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Counts what of one part is in no other document, and fills the table of another part.
    fn pass(
        &self,
        layout: &Layout,
        uses: &ChunkUses,
        counted: Option<(u64, &Table)>,
        filled: Option<u64>,
    ) -> Result<(Table, Forecast), Error> {
        let is_used = |slice: Slice| uses.any(slice.chunks());
        let slots = match filled {
            Some(_) => layout.slot_mask + 1,
            None => 0,
        };
        let start = || Thread {
            table: Table::new(slots),
            forecast: Forecast::default(),
            own: Selected::default(),
            seen: Vec::new(),
        };
        let threads = self.lists.fold(is_used, start, |thread, lists| {
            for (document, chunks) in lists.documents() {
                let role = self.role(document.index());
                let mut is_left = role != Role::NONE;
                if let (true, Some((part, counted))) = (is_left, counted) {
                    thread.own.count = 0;
                    for chunk in chunks {
                        // Of what is not new here another document has a part, or had.
                        if let Some(shingles) = chunk.shingles
                            && !uses.of(chunk.id).is_shared(role, self.is_across)
                        {
                            thread.own.add(shingles, part, layout);
                        }
                    }
                    let own = thread.own.get();
                    let alone = if !self.is_across {
                        counted.count_alone(layout, own, 2)
                    } else if self.needed(document) > 1 {
                        let other_side = u64::from(role.others().0);
                        counted.count_alone_once(layout, own, other_side, &mut thread.seen)
                    } else {
                        // Only a document all of whose entries are alone is dropped.
                        counted.count_alone(layout, own, u64::from(role.others().0))
                    };
                    is_left = !self.is_over(document, alone, layout, &mut thread.forecast);
                }
                if let Some(part) = filled {
                    let counts = |used: Use| match role {
                        Role::NONE => used != Use::NONE,
                        _ => is_left || used.is_twice(),
                    };
                    thread.fill(chunks, part, layout, uses, counts, self.is_across);
                }
            }
            Ok(())
        })?;
        let mut all = (Table::new(0), Forecast::default());
        for (index, thread) in threads.into_iter().enumerate() {
            match index {
                0 => all.0 = thread.table,
                _ => all.0.merge(&thread.table, self.is_across),
            }
            all.1.dropped += thread.forecast.dropped;
            all.1.all += thread.forecast.all;
        }
        Ok(all)
    }

    /// The least number of shingles that a document must share with a partner.
    fn needed(&self, document: DocumentId) -> u32 {
        self.bound.shared_with_smaller(self.lists.length(document))
    }

    /// Takes note that so many more of a document's shingles are in no other; true if it is
    /// dropped.
    fn is_over(
        &self,
        document: DocumentId,
        alone: u32,
        layout: &Layout,
        forecast: &mut Forecast,
    ) -> bool {
        let length = self.lists.length(document);
        let allowed = length - self.needed(document).min(length);
        let known = self.alone[document.index()].load(Ordering::Relaxed) + alone;
        self.alone[document.index()].store(known, Ordering::Relaxed);
        forecast.all += u64::from(length);
        let is_likely = u64::from(alone) * layout.parts > u64::from(allowed);
        forecast.dropped += u64::from(is_likely) * u64::from(length);
        let is_over = known > allowed;
        if is_over {
            self.roles[document.index()].store(Role::NONE.0, Ordering::Relaxed);
        }
        is_over
    }
}

/// What a thread has.
struct Thread {
    table: Table,
    forecast: Forecast,
    own: Selected,
    /// A table of bits for the shingles of one document that have been counted.
    seen: Vec<u64>,
}

impl Thread {
    /// Adds those chunks of a document that count to the table.
    fn fill(
        &mut self,
        chunks: Chunks<'_>,
        part: u64,
        layout: &Layout,
        uses: &ChunkUses,
        counts: impl Fn(Use) -> bool,
        is_across: bool,
    ) {
        let mut before = Use::NONE;
        self.own.count = 0;
        for chunk in chunks {
            let used = uses.of(chunk.id);
            let Some(shingles) = chunk.shingles.filter(|_| counts(used)) else {
                continue;
            };
            // Neighbours mostly have the same use.
            if used != before {
                self.table.add(layout, self.own.get(), before, is_across);
                self.own.count = 0;
                before = used;
            }
            self.own.add(shingles, part, layout);
        }
        self.table.add(layout, self.own.get(), before, is_across);
    }
}

/// Shingles of one part.
#[derive(Default)]
struct Selected {
    words: Vec<u64>,
    count: usize,
}

impl Selected {
    fn get(&self) -> &[u64] {
        &self.words[..self.count]
    }

    /// Adds those of the shingles that are in the part. Without a branch, which would be a
    /// surprise too often.
    #[inline]
    fn add(&mut self, shingles: &[u64], part: u64, layout: &Layout) {
        let end = self.count + shingles.len();
        if self.words.len() < end {
            self.words.resize(end.next_power_of_two(), 0);
        }
        let words = &mut self.words[self.count..end];
        let mut count = 0;
        for &shingle in shingles {
            words[count] = shingle;
            count += usize::from(shingle >> layout.part_shift == part);
        }
        self.count += count;
    }
}

/// Which bits of a shingle tell what.
struct Layout {
    parts: u64,
    part_shift: u32,
    slot_shift: u32,
    slot_mask: usize,
}

impl Layout {
    /// The word and the place in it of a shingle's two bits.
    #[inline]
    fn slot(&self, shingle: u64) -> (usize, u32) {
        let slot = (shingle >> self.slot_shift) as usize & self.slot_mask;
        (slot / 32, (slot % 32 * 2) as u32)
    }
}

/// Two bits for each slot: that a shingle occurs, and that one does once more; or, across two
/// sides, that one occurs on the left, and on the right.
struct Table(Vec<u64>);

impl Table {
    fn new(slots: usize) -> Self {
        Self(super::pages::zeros(slots.div_ceil(32)))
    }

    #[inline]
    fn add(&mut self, layout: &Layout, own: &[u64], used: Use, is_across: bool) {
        let known = match (is_across, used.is_twice()) {
            (true, _) => Some(u64::from(used.role().0)),
            (false, true) => Some(0b11),
            (false, false) => None,
        };
        for &shingle in own {
            let (word, at) = layout.slot(shingle);
            let bits = known.unwrap_or((self.0[word] >> at & 1) << 1 | 1);
            self.0[word] |= bits << at;
        }
    }

    /// Counts the shingles whose slot has none of these bits: for certain they occur nowhere
    /// else, or not on the other side.
    #[inline]
    fn count_alone(&self, layout: &Layout, own: &[u64], bits: u64) -> u32 {
        let is_alone = |&shingle: &u64| u32::from(self.is_alone(layout, shingle, bits));
        own.iter().map(is_alone).sum()
    }

    /// Counts them, each once: two that have the same bit of `seen` are taken for one, which
    /// drops fewer documents and never one too many.
    #[inline]
    fn count_alone_once(
        &self,
        layout: &Layout,
        own: &[u64],
        bits: u64,
        seen: &mut Vec<u64>,
    ) -> u32 {
        let seen_bits = (own.len() * SEEN_BITS_PER_SHINGLE)
            .next_power_of_two()
            .max(64);
        seen.clear();
        seen.resize(seen_bits / 64, 0);
        let mut alone = 0;
        for &shingle in own {
            let is_alone = self.is_alone(layout, shingle, bits);
            let bit = shingle as usize & (seen_bits - 1);
            let is_new = seen[bit / 64] >> (bit % 64) & 1 == 0;
            seen[bit / 64] |= u64::from(is_alone) << (bit % 64);
            alone += u32::from(is_alone & is_new);
        }
        alone
    }

    #[inline]
    fn is_alone(&self, layout: &Layout, shingle: u64, bits: u64) -> bool {
        let (word, at) = layout.slot(shingle);
        self.0[word] >> at & bits == 0
    }

    fn merge(&mut self, other: &Self, is_across: bool) {
        const FIRST_BITS: u64 = 0x5555_5555_5555_5555;
        for (one, two) in self.0.iter_mut().zip(&other.0) {
            let twice = match is_across {
                true => 0,
                false => (*one & two & FIRST_BITS) << 1,
            };
            *one |= two | twice;
        }
    }
}
