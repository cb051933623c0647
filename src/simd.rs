//! Vector instructions where the machine has them: 64 bytes at a time become masks of
//! one bit a byte, which say what each byte is. A plain twin serves all other machines.
//! It knows neither words nor JSON beyond the classes of single bytes.
//!
//! `cargo bench -- simd` shows what the vector path buys.

/// Bytes that are looked at together.
pub(crate) const BLOCK: usize = 64;

/// What ASCII characters are to words: a bit for each of a block, the first lowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Classes {
    pub letter: u64,
    pub digit: u64,
    /// `_`, which joins letters and digits but is no word by itself.
    pub extend: u64,
    /// Joins two letters.
    pub mid_letter: u64,
    /// Joins two digits.
    pub mid_digit: u64,
}

/// A way of looking at a block.
pub trait Masks {
    /// The classes of its characters.
    fn classes(block: &[u8; BLOCK]) -> Classes;

    /// The bytes that do not stand for themselves in a JSON string: quotes,
    /// backslashes and control characters.
    fn specials(block: &[u8; BLOCK]) -> u64;
}

/// For every machine.
struct Plain;

impl Masks for Plain {
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

    #[inline(always)]
    fn specials(block: &[u8; BLOCK]) -> u64 {
        let special = |byte: u8| u8::from((byte == b'"') | (byte == b'\\') | (byte < 0x20));
        mask(&block.map(special), 1)
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

/// Work that looks at blocks.
pub trait Work {
    /// What comes of it.
    type Output;

    /// Does it. To be inlined into what knows which instructions there are.
    fn with<M: Masks>(self) -> Self::Output;
}

/// Does the work with the fastest [`Masks`] that the machine has.
pub fn run<W: Work>(work: W) -> W::Output {
    #[cfg(target_arch = "x86_64")]
    if vector::is_there() {
        return vector::run(work);
    }
    work.with::<Plain>()
}

/// Does the work with the plain twin: for comparing the two.
pub fn run_plainly<W: Work>(work: W) -> W::Output {
    work.with::<Plain>()
}

#[cfg(target_arch = "x86_64")]
#[allow(
    unsafe_code,
    reason = "what the machine has is known only when it runs"
)]
mod vector {
    use std::arch::x86_64::{
        __m256i, _mm256_add_epi8, _mm256_cmpeq_epi8, _mm256_cmpgt_epi8, _mm256_min_epu8,
        _mm256_movemask_epi8, _mm256_or_si256, _mm256_set1_epi8, _mm256_setr_epi64x,
    };

    use super::{BLOCK, Classes, Masks, Work};

    /// For machines with AVX2. Private, so that nothing else takes it for granted.
    pub(super) struct Avx2;

    impl Masks for Avx2 {
        #[inline(always)]
        fn classes(block: &[u8; BLOCK]) -> Classes {
            // SAFETY: only `run` and a test that asks first make use of this type.
            unsafe { classes(block) }
        }

        #[inline(always)]
        fn specials(block: &[u8; BLOCK]) -> u64 {
            // SAFETY: as above.
            unsafe { specials(block) }
        }
    }

    /// Whether the machine has what [`run`] needs.
    #[inline]
    pub(super) fn is_there() -> bool {
        is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("popcnt")
    }

    /// Does the work with AVX2, which [`is_there`].
    #[inline]
    pub(super) fn run<W: Work>(work: W) -> W::Output {
        // SAFETY: `super::run` has asked.
        unsafe { run_with_avx2(work) }
    }

    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    fn run_with_avx2<W: Work>(work: W) -> W::Output {
        work.with::<Avx2>()
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
        let bytes = load(bytes);
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
    fn specials(block: &[u8; BLOCK]) -> u64 {
        let half = |bytes: &[u8; 32]| {
            let bytes = load(bytes);
            let is = |byte: u8| _mm256_cmpeq_epi8(bytes, all(byte));
            let control = _mm256_cmpeq_epi8(_mm256_min_epu8(bytes, all(0x1f)), bytes);
            let special = _mm256_or_si256(control, _mm256_or_si256(is(b'"'), is(b'\\')));
            u64::from(_mm256_movemask_epi8(special) as u32)
        };
        let (halves, _) = block.as_chunks::<32>();
        half(&halves[0]) | half(&halves[1]) << 32
    }

    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2")]
    fn load(bytes: &[u8; 32]) -> __m256i {
        let (words, _) = bytes.as_chunks::<8>();
        let word = |index: usize| i64::from_le_bytes(words[index]);
        _mm256_setr_epi64x(word(0), word(1), word(2), word(3))
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
            let specials = Plain::specials(&block);
            for (index, &byte) in block.iter().enumerate() {
                let bit = |mask: u64| mask >> index & 1 == 1;
                prop_assert_eq!(bit(classes.letter), byte.is_ascii_alphabetic());
                prop_assert_eq!(bit(classes.digit), byte.is_ascii_digit());
                prop_assert_eq!(bit(classes.extend), byte == b'_');
                prop_assert_eq!(bit(classes.mid_letter), b":.'".contains(&byte));
                prop_assert_eq!(bit(classes.mid_digit), b",;.'".contains(&byte));
                prop_assert_eq!(bit(specials), byte < b' ' || b"\"\\".contains(&byte));
            }
            #[cfg(target_arch = "x86_64")]
            if vector::is_there() {
                prop_assert_eq!(vector::Avx2::classes(&block), classes);
                prop_assert_eq!(vector::Avx2::specials(&block), specials);
            }
        }
    }
}
