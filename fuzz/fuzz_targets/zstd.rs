//! Zstandard.
#![no_main]

use libfuzzer_sys::fuzz_target;
use simdup_fuzz::compare_packed;

fuzz_target!(|input: (u16, u8, &[u8])| {
    let packed = |bytes: &[u8]| zstd::encode_all(bytes, 1).unwrap_or_default();
    compare_packed(&[0x28, 0xb5, 0x2f, 0xfd], packed, input);
});
