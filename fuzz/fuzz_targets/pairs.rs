//! Pairs that were written earlier.
#![no_main]

use std::io::Cursor;

use libfuzzer_sys::fuzz_target;
use simdup::Input;
use simdup::inside::read_pairs;

fuzz_target!(|bytes: &[u8]| {
    let input = Input::from_reader("pairs", Cursor::new(bytes.to_vec()));
    // What is no pair is an error, never a panic, and never a score that has no order.
    let _ = read_pairs(input, |_, _, score| {
        assert!(score.is_finite());
        Ok(())
    });
});
