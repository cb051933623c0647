//! The frozen hashes of tokens and shingles. Signatures, indexes and other
//! machines depend on every bit of them: they never change, and the tests below
//! hold literal values.
//!
//! A token's hash takes its UTF-8 bytes, eight at a time, little-endian, the
//! last chunk filled with zeros, and then its length. A shingle's hash is a
//! polynomial in its tokens' hashes, so that each window comes from the one before by
//! two multiplications whatever its size.

/// Odd constants with no structure: the fractional parts of the square roots
/// of 2, 3 and 5.
const START: u64 = 0x6a09_e667_f3bc_c909;
const CHUNK: u64 = 0xbb67_ae85_84ca_a73b;
const FINISH: u64 = 0x3c6e_f372_fe94_f82b;

/// The polynomial's base. It is 3 modulo 8: then `BASE^i - BASE^j` has few
/// factors of two, and swapping two tokens changes all but the lowest bits.
pub(super) const BASE: u64 = 0x9e37_79b9_7f4a_7c13;

/// The hash of a token.
pub fn token_hash(token: &[u8]) -> u64 {
    let mut state = START;
    let (chunks, rest) = token.as_chunks::<8>();
    for &chunk in chunks {
        state = absorb(state, u64::from_le_bytes(chunk));
    }
    if !rest.is_empty() {
        let mut chunk = [0; 8];
        chunk[..rest.len()].copy_from_slice(rest);
        state = absorb(state, u64::from_le_bytes(chunk));
    }
    finish(state, token.len())
}

/// The state before the first chunk.
pub(super) const fn start() -> u64 {
    START
}

/// Takes up to eight bytes of a token.
#[inline]
pub(super) fn absorb(state: u64, chunk: u64) -> u64 {
    fold(state ^ chunk, CHUNK)
}

/// Takes the token's length in bytes and gives its hash.
#[inline]
pub(super) fn finish(state: u64, length: usize) -> u64 {
    fold(state ^ length as u64, FINISH)
}

/// Both halves of the 128-bit product, one over the other.
#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ ((product >> 64) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_hashes_are_frozen() {
        for (token, hash) in [
            ("", 0xe087_f629_9ff1_b481),
            ("a", 0x6d0e_3d87_05c6_2fc6),
            ("simdup", 0x432e_bd88_6738_a2d6),
            ("captains", 0x15bc_ed5c_6cfd_e2fd),
            ("near-duplicate", 0x81a1_6e40_f6f0_9385),
            ("капибара", 0x829c_c45a_d3cc_1617),
            ("你", 0xd49d_40ff_7d83_bd48),
        ] {
            assert_eq!(token_hash(token.as_bytes()), hash, "{token}");
        }
    }

    #[test]
    fn neighbouring_tokens_differ_in_half_of_the_bits() {
        let mut flipped = 0;
        let mut count = 0;
        for n in 0..1000_u32 {
            let word = format!("w{n}");
            for bit in 0..word.len() * 8 {
                let mut other = word.clone().into_bytes();
                other[bit / 8] ^= 1 << (bit % 8);
                flipped += (token_hash(word.as_bytes()) ^ token_hash(&other)).count_ones();
                count += 64;
            }
        }
        let share = f64::from(flipped) / f64::from(count);
        assert!((0.49..0.51).contains(&share), "{share}");
    }
}
