//! Document frequencies, as `rank --df` reads them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use simdup::DocumentFrequencies;

fuzz_target!(|bytes: &[u8]| {
    let _ = DocumentFrequencies::read("df", bytes);
});
