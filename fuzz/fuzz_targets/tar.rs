//! A tar archive of a few members: any bytes behind a header, or a whole archive with a byte changed.
#![no_main]

use libfuzzer_sys::fuzz_target;
use simdup_fuzz::{damaged, read};

fuzz_target!(|input: (u16, u8, &str, &[u8])| {
    let (place, by, name, bytes) = input;
    let archive = archive(name, bytes);
    if place % 2 == 0 {
        return read(None, &[&archive[..archive.len().min(512)], bytes].concat());
    }
    read(None, &damaged(archive, place / 2, by));
});

fn archive(name: &str, bytes: &[u8]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for name in ["a.txt", name, "b/c.jsonl"] {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        // A name that cannot be written is left out.
        let _ = builder.append_data(&mut header, name, bytes);
    }
    builder.into_inner().unwrap_or_default()
}
