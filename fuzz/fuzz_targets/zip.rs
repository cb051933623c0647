//! A zip archive: any bytes as a member's header and its data, as the list of members, and as what follows it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use simdup_fuzz::read;

fuzz_target!(|input: (&[u8], &[u8], u32, u32, u16)| {
    let (members, list, length, start, count) = input;
    let mut archive = [
        b"PK\x03\x04",
        members,
        b"PK\x01\x02",
        list,
        b"PK\x05\x06\0\0\0\0",
    ]
    .concat();
    archive.extend([count.to_le_bytes(), count.to_le_bytes()].concat());
    archive.extend(length.to_le_bytes());
    archive.extend(start.to_le_bytes());
    archive.extend([0, 0]);
    if start % 2 == 0 {
        return read(None, &archive);
    }
    // With a list that is where it should be.
    let at = archive.len() - 10;
    let list_at = (members.len() + 4) as u32;
    let list_length = (list.len() + 4) as u32;
    archive[at..at + 4].copy_from_slice(&list_length.to_le_bytes());
    archive[at + 4..at + 8].copy_from_slice(&list_at.to_le_bytes());
    read(None, &archive);
});
