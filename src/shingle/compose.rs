//! NFKC where characters stand together: which characters can be looked at one by one,
//! and what becomes of those that cannot.
//!
//! A character that neither combines with what stands before it nor trades places with
//! it starts a group, and groups are normalised independently of each other (UAX #15).

use std::ops::Range;

use unicode_normalization::char::{canonical_combining_class, compose, decompose_compatible};
use unicode_normalization::{IsNormalized, is_nfkc_quick};

use super::normalise::is_unseen;

/// What a character does to the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Attachment {
    /// Whether it goes on with the group that the character before it is in.
    pub(super) attached: bool,
    /// Whether it cannot be taken apart.
    pub(super) whole: bool,
    /// Whether it is whole and never becomes part of another.
    pub(super) lasting: bool,
    /// Its place among the marks of a letter (canonical combining class).
    pub(super) order: u8,
}

/// What `c` does to the character before it.
pub(super) fn attachment(c: char) -> Attachment {
    let mut parts = 0;
    let mut first = c;
    decompose_compatible(c, |part| {
        first = if parts == 0 { part } else { first };
        parts += 1;
    });
    let order = canonical_combining_class(first);
    let composes = is_nfkc_quick(std::iter::once(first)) == IsNormalized::Maybe;
    let whole = first == c && parts == 1;
    Attachment {
        attached: order != 0 || composes,
        whole,
        lasting: whole && !composes,
        order,
    }
}

/// A character with its order.
pub(super) type Ordered = (u8, char);

/// Groups that were composed before are remembered if they have at most this many bytes.
const REMEMBERED_BYTES_MAX: usize = 16;
/// And if they come to at most this many characters.
const REMEMBERED_MAX: usize = 4;
/// How many are remembered. A language has a few hundred.
const REMEMBERED: usize = 1024;

#[derive(Clone, Copy, Debug, Default)]
struct Remembered {
    key: u128,
    length: usize,
    characters: [Ordered; REMEMBERED_MAX],
}

/// Composes groups, and remembers the last of them.
#[derive(Debug, Default)]
pub(super) struct Composer {
    characters: Vec<Ordered>,
    remembered: Vec<Remembered>,
}

impl Composer {
    /// NFKC of the group `text[group]`. `order` gives the order of a character if that is
    /// whole and known.
    pub(super) fn compose(
        &mut self,
        text: &str,
        group: Range<usize>,
        order: impl Fn(char) -> Option<u8>,
    ) -> &[Ordered] {
        let Some(key) = key(text.as_bytes(), &group) else {
            self.compose_anew(&text[group], order);
            return &self.characters;
        };
        if self.remembered.is_empty() {
            self.remembered.resize(REMEMBERED, Remembered::default());
        }
        let hash = (key as u64 ^ (key >> 64) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        // The product's highest bits depend on all of the key's.
        let slot = (hash >> (u64::BITS - REMEMBERED.ilog2())) as usize;
        if self.remembered[slot].key != key {
            self.compose_anew(&text[group], order);
            let length = self.characters.len();
            if length > REMEMBERED_MAX {
                return &self.characters;
            }
            let remembered = &mut self.remembered[slot];
            remembered.key = key;
            remembered.length = length;
            remembered.characters[..length].copy_from_slice(&self.characters);
        }
        let remembered = &self.remembered[slot];
        &remembered.characters[..remembered.length]
    }

    fn compose_anew(&mut self, group: &str, order: impl Fn(char) -> Option<u8>) {
        let all = &mut self.characters;
        all.clear();
        for c in group.chars().filter(|&c| !is_unseen(c)) {
            match order(c) {
                Some(order) => all.push((order, c)),
                None => decompose_compatible(c, |part| {
                    all.push((canonical_combining_class(part), part));
                }),
            }
        }
        for marks in all.split_mut(|&(order, _)| order == 0) {
            marks.sort_by_key(|&(order, _)| order);
        }
        let mut kept = 0;
        let mut base: Option<usize> = None;
        for index in 0..all.len() {
            let (order, c) = all[index];
            if let Some(base) = base {
                // What stands between keeps those of the same order away, and all bases.
                let is_free = kept == base + 1 || all[kept - 1].0 < order;
                let composed = is_free.then(|| compose(all[base].1, c)).flatten();
                if let Some(composed) = composed {
                    all[base].1 = composed;
                    continue;
                }
            }
            if order == 0 {
                base = Some(kept);
            }
            all[kept] = (order, c);
            kept += 1;
        }
        all.truncate(kept);
    }
}

/// The bytes of a group as a number, if they are few and the text does not end soon.
fn key(text: &[u8], group: &Range<usize>) -> Option<u128> {
    let bytes = text[group.start..].first_chunk::<REMEMBERED_BYTES_MAX>()?;
    let unused = REMEMBERED_BYTES_MAX.checked_sub(group.len())?;
    u128::from_le_bytes(*bytes).checked_shl(8 * unused as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use unicode_normalization::UnicodeNormalization;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn a_group_becomes_what_the_library_makes_of_it(
            text in "[aeêếoơ\u{323}\u{302}\u{301}\u{31b}\u{316}\u{344}אשׁ\u{5b0}-\u{5c2}اأ\u{64b}-\u{655}\
                क-ह\u{93c}\u{94d}ෙේා\u{dca}\u{dcf}ᄀ-다-ᅣᆨ-ᆪ가각ㄱㅏか\u{3099}ﾊ\u{ff9e}\u{f71}-\u{f75}ﬁ…]{0,12}",
        ) {
            let composed: String = text.nfkc().collect();
            let whole = |c: char| Some(attachment(c)).filter(|a| a.whole).map(|a| a.order);
            // With enough behind it for the group to be remembered, and without.
            let behind = text.clone() + "                ";
            let mut composer = Composer::default();
            for (all, is_known) in [(&text, false), (&behind, true), (&behind, false)] {
                let order = |c: char| if is_known { whole(c) } else { None };
                let found = composer.compose(all, 0..text.len(), order);
                let found: String = found.iter().map(|&(_, c)| c).collect();
                prop_assert_eq!(&found, &composed);
            }
        }
    }

    /// The text may be taken apart before every character that is not attached.
    #[test]
    fn groups_do_not_depend_on_each_other() {
        let bases = [
            "a",
            "1",
            "\u{11d00}",
            "ᄀ",
            "가",
            "ெ",
            "ே",
            "ا",
            "か",
            "は",
            "क",
            "𑄱",
            "\u{301}",
        ];
        for c in ('\0'..='\u{10ffff}').filter(|&c| !attachment(c).attached) {
            let alone: String = c.nfkc().collect();
            for base in bases {
                let together: String = base.chars().chain([c]).nfkc().collect();
                assert_eq!(together, base.to_owned() + &alone, "{base:?} {c:?}");
            }
        }
    }
}
