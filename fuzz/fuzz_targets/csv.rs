//! CSV, and the same with tabs.
#![no_main]

use libfuzzer_sys::fuzz_target;
use simdup::settings::InputFormat;
use simdup_fuzz::{draw, read_fields};

fuzz_target!(|bytes: &[u8]| {
    let format = match draw(bytes) & 8 {
        0 => InputFormat::Csv,
        _ => InputFormat::Tsv,
    };
    read_fields(format, bytes);
});
