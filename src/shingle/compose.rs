//! NFKC where characters stand together: which characters can be looked at one by one,
//! and what becomes of those that cannot.
//!
//! A character that neither combines with what stands before it nor trades places with
//! it starts a group, and groups are normalised independently of each other (UAX #15).

use unicode_normalization::char::{canonical_combining_class, compose, decompose_compatible};
use unicode_normalization::{IsNormalized, is_nfkc_quick};

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

/// Room for the characters of a group.
#[derive(Debug, Default)]
pub(super) struct Group {
    /// Each with its order.
    characters: Vec<(u8, char)>,
}

impl Group {
    /// NFKC of some characters, of which each may come with its order if it is whole.
    pub(super) fn compose(
        &mut self,
        characters: impl Iterator<Item = (char, Option<u8>)>,
    ) -> impl Iterator<Item = char> {
        let all = &mut self.characters;
        all.clear();
        for (c, order) in characters {
            match order {
                Some(order) => all.push((order, c)),
                None => decompose_compatible(c, |part| {
                    all.push((canonical_combining_class(part), part));
                }),
            }
        }
        for marks in all.split_mut(|&(order, _)| order == 0) {
            if !marks.is_sorted_by_key(|&(order, _)| order) {
                marks.sort_by_key(|&(order, _)| order);
            }
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
        all.drain(..kept).map(|(_, c)| c)
    }
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
            let whole = |c: char| Some(attachment(c)).filter(|a| a.whole).map(|a| a.order);
            let mut group = Group::default();
            let composed: String = group.compose(text.chars().map(|c| (c, None))).collect();
            let known: String = group.compose(text.chars().map(|c| (c, whole(c)))).collect();
            prop_assert_eq!(&composed, &text.nfkc().collect::<String>());
            prop_assert_eq!(composed, known);
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
