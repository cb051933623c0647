//! Text in any encoding, with a byte order mark and without, as one document or as lines.
#![no_main]

use libfuzzer_sys::fuzz_target;
use simdup::settings::InputFormat;
use simdup_fuzz::{draw, read};

const MARKS: [&[u8]; 6] = [
    b"",
    b"\xff\xfe",
    b"\xfe\xff",
    b"\xff\xfe\0\0",
    b"\0\0\xfe\xff",
    b"\xef\xbb\xbf",
];

fuzz_target!(|input: (u8, &[u8])| {
    let (mark, bytes) = input;
    let text = [MARKS[usize::from(mark) % MARKS.len()], bytes].concat();
    let format = match draw(bytes) / 4 % 3 {
        0 => None,
        1 => Some(InputFormat::Text),
        _ => Some(InputFormat::Lines),
    };
    read(format, &text);
});
