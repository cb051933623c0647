//! The classes of 64 ASCII characters, one bit each: the vector path and its plain
//! twin.
//!
//! `cargo bench -- "class masks"` shows what the vector path buys.

/// Characters that are looked at together.
pub(super) const BLOCK: usize = 64;

/// One bit per character of a block, the first character lowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Classes {
    pub(super) letter: u64,
    pub(super) digit: u64,
    /// `_`, which joins letters and digits but is no word by itself.
    pub(super) extend: u64,
    /// Joins two letters.
    pub(super) mid_letter: u64,
    /// Joins two digits.
    pub(super) mid_digit: u64,
}

/// A way of finding the classes of a block.
pub(super) trait Classify {
    fn classes(block: &[u8; BLOCK]) -> Classes;
}

/// For every machine.
pub(super) struct Plain;

impl Classify for Plain {
    #[inline(always)]
    fn classes(block: &[u8; BLOCK]) -> Classes {
        let classes = block.map(class);
        Classes {
            letter: mask(&classes, LETTER),
            digit: mask(&classes, DIGIT),
            extend: mask(&classes, EXTEND),
            mid_letter: mask(&classes, MID_LETTER),
            mid_digit: mask(&classes, MID_DIGIT),
        }
    }
}

const LETTER: u8 = 1;
const DIGIT: u8 = 2;
const EXTEND: u8 = 4;
const MID_LETTER: u8 = 8;
const MID_DIGIT: u8 = 16;

/// UAX #29's class of an ASCII character. Free of branches, so that a loop over
/// it becomes vector instructions.
#[inline]
fn class(byte: u8) -> u8 {
    let when = |condition: bool, class: u8| u8::from(condition).wrapping_neg() & class;
    when((byte | 0x20).wrapping_sub(b'a') < 26, LETTER)
        | when(byte.wrapping_sub(b'0') < 10, DIGIT)
        | when(byte == b'_', EXTEND)
        | when(byte == b':', MID_LETTER)
        | when((byte == b',') | (byte == b';'), MID_DIGIT)
        | when((byte == b'.') | (byte == b'\''), MID_LETTER | MID_DIGIT)
}

/// A bit for each byte that has `class`. Eight bytes of which each holds 0 or 1
/// are gathered into one by a multiplication that moves byte i to bit 56 + i.
#[inline]
fn mask(classes: &[u8; BLOCK], class: u8) -> u64 {
    const LOWEST: u64 = 0x0101_0101_0101_0101;
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let shift = class.trailing_zeros();
    let (chunks, _) = classes.as_chunks::<8>();
    chunks.iter().rev().fold(0, |mask, &chunk| {
        let bits = (u64::from_le_bytes(chunk) >> shift) & LOWEST;
        mask << 8 | bits.wrapping_mul(GATHER) >> 56
    })
}

/// Work that looks at the classes of blocks.
pub(super) trait Work {
    /// Does it. To be inlined into what knows which instructions there are.
    fn with<C: Classify>(self);
}

/// Does the work with the fastest [`Classify`] that the machine has.
pub(super) fn run(work: impl Work) {
    #[cfg(target_arch = "x86_64")]
    if vector::is_there() {
        return vector::run(work);
    }
    work.with::<Plain>();
}

#[cfg(target_arch = "x86_64")]
#[allow(
    unsafe_code,
    reason = "what the machine has is known only when it runs"
)]
mod vector {
    use std::arch::x86_64::{
        __m256i, _mm256_add_epi8, _mm256_cmpeq_epi8, _mm256_cmpgt_epi8, _mm256_movemask_epi8,
        _mm256_or_si256, _mm256_set1_epi8, _mm256_setr_epi64x,
    };

    use super::{BLOCK, Classes, Classify, Work};

    /// For machines with AVX2. Private, so that nothing else takes it for granted.
    pub(super) struct Avx2;

    impl Classify for Avx2 {
        #[inline(always)]
        fn classes(block: &[u8; BLOCK]) -> Classes {
            // SAFETY: only `run` and a test that asks first make use of this type.
            unsafe { classes(block) }
        }
    }

    /// Whether the machine has what [`run`] needs.
    #[inline]
    pub(super) fn is_there() -> bool {
        is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
    }

    /// Does the work with AVX2, which [`is_there`].
    #[inline]
    pub(super) fn run(work: impl Work) {
        // SAFETY: `super::run` has asked.
        unsafe { run_with_avx2(work) }
    }

    #[target_feature(enable = "avx2,bmi1,bmi2")]
    fn run_with_avx2(work: impl Work) {
        work.with::<Avx2>();
    }

    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2")]
    fn classes(block: &[u8; BLOCK]) -> Classes {
        let (halves, _) = block.as_chunks::<32>();
        let [low, high] = [half(&halves[0]), half(&halves[1])];
        let both = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        Classes {
            letter: both(low[0], high[0]),
            digit: both(low[1], high[1]),
            extend: both(low[2], high[2]),
            mid_letter: both(low[3], high[3]),
            mid_digit: both(low[4], high[4]),
        }
    }

    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2")]
    fn half(bytes: &[u8; 32]) -> [u32; 5] {
        let (words, _) = bytes.as_chunks::<8>();
        let word = |index: usize| i64::from_le_bytes(words[index]);
        let bytes = _mm256_setr_epi64x(word(0), word(1), word(2), word(3));
        let is = |byte: u8| _mm256_cmpeq_epi8(bytes, all(byte));
        // Moved such that the first of the range is the least signed number.
        let within = |bytes: __m256i, first: u8, count: u8| {
            let moved = _mm256_add_epi8(bytes, all(0x80_u8.wrapping_sub(first)));
            _mm256_cmpgt_epi8(all(0x80 + count), moved)
        };
        let small = _mm256_or_si256(bytes, all(0x20));
        let between_both = _mm256_or_si256(is(b'.'), is(b'\''));
        let between_digits = _mm256_or_si256(is(b','), is(b';'));
        [
            within(small, b'a', 26),
            within(bytes, b'0', 10),
            is(b'_'),
            _mm256_or_si256(is(b':'), between_both),
            _mm256_or_si256(between_digits, between_both),
        ]
        .map(|class| _mm256_movemask_epi8(class) as u32)
    }

    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2")]
    fn all(byte: u8) -> __m256i {
        _mm256_set1_epi8(byte as i8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_mask_has_the_bits_of_its_class(
            block in proptest::collection::vec(any::<u8>(), BLOCK),
        ) {
            let block: [u8; BLOCK] = block.try_into().unwrap();
            let classes = Plain::classes(&block);
            for (index, &byte) in block.iter().enumerate() {
                let bit = |mask: u64| mask >> index & 1 == 1;
                prop_assert_eq!(bit(classes.letter), byte.is_ascii_alphabetic());
                prop_assert_eq!(bit(classes.digit), byte.is_ascii_digit());
                prop_assert_eq!(bit(classes.extend), byte == b'_');
                prop_assert_eq!(bit(classes.mid_letter), b":.'".contains(&byte));
                prop_assert_eq!(bit(classes.mid_digit), b",;.'".contains(&byte));
            }
            #[cfg(target_arch = "x86_64")]
            if vector::is_there() {
                prop_assert_eq!(vector::Avx2::classes(&block), classes);
            }
        }
    }
}
