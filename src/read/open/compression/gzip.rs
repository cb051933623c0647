//! Gzip, all members of a file one after the other, as `cat a.gz b.gz` or blocked
//! gzip (BGZF) makes them. The only file that knows flate2.
//!
//! A file is cut into chunks, and [`Gunzip`] takes them as they come. Where a chunk
//! starts and ends with what looks like the start of a member, it is likely to be
//! made of whole members, and can be unpacked apart from the others: [`unpack_whole`]
//! tries. Only if that works out to the last byte was it true.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use flate2::{Crc, Decompress, FlushDecompress, Status};
use memchr::memmem;

use crate::read::cut::buffer::Buffer;
use crate::read::input::counted::{Damage, Filled, fill};
use crate::read::open::unpack::{Progress, Step, Unpack, Unpacked};

/// Of what every member starts with, the part that is always the same: the magic
/// number and the one method there is.
const MEMBER_START: [u8; 3] = [0x1f, 0x8b, 8];
/// Flags that no member has.
const RESERVED_FLAGS: u8 = 0xe0;

/// Bytes in a chunk, unless a member ends near; unpacked, a chunk should stay in a
/// core's own cache.
const CHUNK_BYTES: usize = 64 * 1024;
/// Bytes that a chunk may become, as far as that can be foreseen: zeros are packed a
/// thousand to one.
const UNPACKED_BYTES_MAX: usize = 4 << 20;
/// The most that deflate makes of a byte.
const EXPANSION_MAX: usize = 1032;
/// How far the end of a member is looked for: a block of BGZF has up to 64 KiB.
const LOOK_BYTES: usize = 2 * CHUNK_BYTES;

/// Part of a gzip file.
#[derive(Debug, Default)]
pub(in crate::read) struct Chunk {
    bytes: Vec<u8>,
    /// Whether it seems to be made of whole members.
    seems_whole: bool,
    expansion: Arc<Expansion>,
}

/// What a byte of a file becomes, by the chunk that was unpacked last.
#[derive(Debug)]
struct Expansion(AtomicUsize);

impl Default for Expansion {
    fn default() -> Self {
        Self(AtomicUsize::new(EXPANSION_MAX))
    }
}

impl Expansion {
    fn measure(&self, packed: usize, unpacked: usize) {
        let expansion = unpacked.div_ceil(packed.max(1)).max(1);
        self.0.store(expansion, Ordering::Relaxed);
    }

    fn chunk_bytes(&self) -> usize {
        CHUNK_BYTES.min(UNPACKED_BYTES_MAX / self.0.load(Ordering::Relaxed))
    }
}

/// Cuts a gzip file into chunks.
pub(in crate::read) struct Chunks {
    reader: Box<dyn Read + Send>,
    /// What has been read and not been given away.
    ahead: Vec<u8>,
    state: Option<Filled>,
    at_member: bool,
    expansion: Arc<Expansion>,
}

impl Chunks {
    /// The chunks of what `reader` gives.
    pub(in crate::read) fn new(reader: Box<dyn Read + Send>) -> Self {
        Self {
            reader,
            ahead: Vec::new(),
            state: None,
            at_member: true,
            expansion: Arc::default(),
        }
    }

    /// Fills `chunk` with the next bytes; says how the input ended if it did.
    pub(in crate::read) fn next(&mut self, chunk: &mut Chunk) -> Option<Filled> {
        let start = self.ahead.len();
        if self.state.is_none() && start < LOOK_BYTES {
            self.ahead.resize(LOOK_BYTES, 0);
            let (filled, how) = fill(&mut self.reader, &mut self.ahead[start..]);
            self.ahead.truncate(start + filled);
            if !matches!(how, Filled::Whole) {
                self.state = Some(how);
            }
        }
        let (end, at_member) = self.chunk_end();
        chunk.bytes.clear();
        chunk.bytes.extend_from_slice(&self.ahead[..end]);
        self.ahead.drain(..end);
        let is_last = self.ahead.is_empty() && self.state.is_some();
        chunk.seems_whole = self.at_member && (at_member || is_last);
        chunk.expansion = Arc::clone(&self.expansion);
        self.at_member = at_member;
        if is_last { self.state.take() } else { None }
    }

    /// Where the chunk ends, and whether a member seems to start there.
    fn chunk_end(&self) -> (usize, bool) {
        let chunk_bytes = self.expansion.chunk_bytes();
        let near = self.ahead.len().min(chunk_bytes);
        let is_end = |&at: &usize| at > 0 && seems_member(&self.ahead[at..]);
        let before = memmem::rfind_iter(&self.ahead[..near], &MEMBER_START).find(is_end);
        if let Some(end) = before
            && (end > chunk_bytes / 2 || self.ahead.len() > near)
        {
            return (end, true);
        }
        if self.ahead.len() <= near {
            return (self.ahead.len(), false);
        }
        let behind = memmem::find_iter(&self.ahead[near..], &MEMBER_START)
            .map(|at| near + at)
            .find(is_end);
        match behind {
            Some(end) => (end, true),
            None => (near, false),
        }
    }
}

fn seems_member(bytes: &[u8]) -> bool {
    bytes.starts_with(&MEMBER_START)
        && bytes
            .get(3)
            .is_some_and(|flags| flags & RESERVED_FLAGS == 0)
}

/// Unpacks a chunk that seems to be made of whole members, behind what is in `content`
/// already, and gives the state behind it; `None`, and nothing done, if it is not.
///
/// That it works out shows where members are only if one starts where the chunk does: a
/// member may hold others as its data. Who knows what comes before must ask.
pub(in crate::read) fn unpack_whole(chunk: &Chunk, content: &mut Buffer) -> Option<Gunzip> {
    if !chunk.seems_whole {
        return None;
    }
    let before = content.end;
    let mut gunzip = Gunzip::default();
    if gunzip.unpack(chunk, content).is_ok() && gunzip.is_between_members() {
        return Some(gunzip);
    }
    content.end = before;
    None
}

/// Least room that is given for unpacking.
const ROOM_BYTES: usize = 64 * 1024;

/// Unpacks members that come in chunks.
#[derive(Debug)]
pub(in crate::read) struct Gunzip {
    inflate: Box<Decompress>,
    crc: Crc,
    state: State,
}

#[derive(Debug)]
enum State {
    /// Before a member, or behind the last. Zeros may follow that one.
    Between { zeros: bool },
    /// In a member's header, of which this much is there.
    Header(Vec<u8>),
    /// In the compressed data.
    Data,
    /// In what follows it, of which this much is there.
    Trailer(Vec<u8>),
}

impl Default for Gunzip {
    fn default() -> Self {
        Self {
            inflate: Box::new(Decompress::new(false)),
            crc: Crc::new(),
            state: State::Between { zeros: false },
        }
    }
}

impl Gunzip {
    /// Whether a member may start here.
    pub(in crate::read) fn is_before_member(&self) -> bool {
        matches!(self.state, State::Between { zeros: false })
    }

    /// Whether a file may end here.
    pub(in crate::read) fn is_between_members(&self) -> bool {
        matches!(self.state, State::Between { .. })
    }

    /// Unpacks the next chunk of the file, behind what is in `content` already. What
    /// comes before an error is there.
    pub(in crate::read) fn unpack(
        &mut self,
        chunk: &Chunk,
        content: &mut Buffer,
    ) -> io::Result<()> {
        let before = content.end;
        let unpacked = self.unpack_bytes(&chunk.bytes, content);
        let Chunk {
            bytes, expansion, ..
        } = chunk;
        expansion.measure(bytes.len(), content.end - before);
        unpacked
    }

    fn unpack_bytes(&mut self, mut rest: &[u8], content: &mut Buffer) -> io::Result<()> {
        while !rest.is_empty() {
            match &mut self.state {
                State::Between { zeros } => {
                    if rest[0] == 0 {
                        *zeros = true;
                        rest = &rest[1..];
                    } else if rest[0] == MEMBER_START[0] && !*zeros {
                        self.state = State::Header(Vec::new());
                    } else {
                        return Err(invalid("bytes that are not gzip after the last member"));
                    }
                }
                State::Header(header) => {
                    let before = header.len();
                    header.extend_from_slice(rest);
                    let Some(length) = header_length(header)? else {
                        return Ok(());
                    };
                    rest = &rest[length - before..];
                    self.inflate.reset(false);
                    self.crc.reset();
                    self.state = State::Data;
                }
                State::Data => rest = self.inflate_some(rest, content)?,
                State::Trailer(trailer) => {
                    let (more, behind) =
                        rest.split_at(rest.len().min(TRAILER_BYTES - trailer.len()));
                    trailer.extend_from_slice(more);
                    rest = behind;
                    if let Some((crc, length)) = read_trailer(trailer) {
                        if crc != self.crc.sum() || length != self.crc.amount() {
                            return Err(invalid("the checksum does not match"));
                        }
                        self.state = State::Between { zeros: false };
                    }
                }
            }
        }
        Ok(())
    }

    fn inflate_some<'a>(&mut self, input: &'a [u8], content: &mut Buffer) -> io::Result<&'a [u8]> {
        let (taken, given) = (self.inflate.total_in(), self.inflate.total_out());
        let room = content.room(ROOM_BYTES.max(input.len() * 4));
        let status = self.inflate.decompress(input, room, FlushDecompress::None);
        let taken = (self.inflate.total_in() - taken) as usize;
        let given = (self.inflate.total_out() - given) as usize;
        self.crc.update(&room[..given]);
        content.end += given;
        match status {
            Ok(Status::StreamEnd) => self.state = State::Trailer(Vec::new()),
            Ok(_) if taken > 0 || given > 0 => {}
            Ok(_) | Err(_) => return Err(invalid("corrupt deflate stream")),
        }
        Ok(&input[taken..])
    }
}

/// The start of what a file becomes, by the start of the file: some bytes at least, if they are
/// in it.
pub(in crate::read) fn unpacked_head(head: &[u8]) -> Vec<u8> {
    let mut content = Buffer::default();
    // What comes before damage tells too.
    let _ = Gunzip::default().unpack_bytes(head, &mut content);
    content.bytes.truncate(content.end);
    content.bytes
}

/// The unpacked content of a file, one chunk after the other.
pub(in crate::read) fn reader(packed: Box<dyn Read + Send>) -> Box<dyn Read + Send> {
    Box::new(Reader {
        chunks: Some(Chunks::new(packed)),
        chunk: Chunk::default(),
        gunzip: Gunzip::default(),
        content: Buffer::default(),
        end: None,
    })
}

struct Reader {
    /// `None` when the last has been taken.
    chunks: Option<Chunks>,
    chunk: Chunk,
    gunzip: Gunzip,
    /// What has been unpacked and not been given.
    content: Buffer,
    /// How it ends behind that, if it does.
    end: Option<Filled>,
}

impl Read for Reader {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        while self.content.range().is_empty() {
            let Some(chunks) = &mut self.chunks else {
                return Damage::or_end(self.end.take().unwrap_or(Filled::Ended));
            };
            self.content.clear();
            let end = chunks.next(&mut self.chunk);
            let unpacked = self.gunzip.unpack(&self.chunk, &mut self.content);
            let is_cut_off =
                matches!(end, Some(Filled::Ended)) && !self.gunzip.is_between_members();
            self.end = match unpacked {
                Err(error) => Some(Filled::Damaged(error)),
                Ok(()) if is_cut_off => Some(Damage::of(Damage::cut_off())),
                Ok(()) => end,
            };
            if self.end.is_some() {
                self.chunks = None;
            }
        }
        let content = &self.content.bytes[self.content.range()];
        let count = content.len().min(room.len());
        room[..count].copy_from_slice(&content[..count]);
        self.content.start += count;
        Ok(count)
    }
}

/// The content of what is deflated without the frame of a gzip file.
pub(in crate::read) fn inflated(packed: Box<dyn Read + Send>) -> Box<dyn Read + Send> {
    Box::new(Unpacked::new(packed, Inflate(Decompress::new(false))))
}

struct Inflate(Decompress);

impl Unpack for Inflate {
    fn unpack(&mut self, input: &[u8], room: &mut [u8], _ended: bool) -> Step {
        let Self(inflate) = self;
        let (taken, given) = (inflate.total_in(), inflate.total_out());
        let status = inflate.decompress(input, room, FlushDecompress::None);
        Step {
            taken: (inflate.total_in() - taken) as usize,
            given: (inflate.total_out() - given) as usize,
            state: match status {
                Ok(Status::StreamEnd) => Ok(Progress::Over),
                Ok(_) => Ok(Progress::More),
                Err(_) => Err(invalid("corrupt deflate stream")),
            },
        }
    }
}

fn invalid(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// Longest header that is read; nobody puts a novel into a file's comment.
const HEADER_BYTES_MAX: usize = 1 << 20;
/// Checksum and length.
const TRAILER_BYTES: usize = 8;

/// The length of the header (RFC 1952) that these bytes start with, if it is there
/// to its end.
fn header_length(bytes: &[u8]) -> io::Result<Option<usize>> {
    const FIXED: usize = 10;
    const HAS_CRC: u8 = 2;
    const HAS_EXTRA: u8 = 4;
    const HAS_NAME: u8 = 8;
    const HAS_COMMENT: u8 = 16;
    let known = bytes.len().min(MEMBER_START.len());
    let flags = bytes.get(3).copied().unwrap_or(0);
    if bytes[..known] != MEMBER_START[..known] || flags & RESERVED_FLAGS != 0 {
        return Err(invalid("invalid gzip header"));
    }
    let too_long = || match bytes.len() > HEADER_BYTES_MAX {
        true => Err(invalid("endless gzip header")),
        false => Ok(None),
    };
    let mut end = FIXED;
    if flags & HAS_EXTRA != 0 {
        let Some(&length) = bytes.get(end..).and_then(<[u8]>::first_chunk) else {
            return Ok(None);
        };
        end += 2 + usize::from(u16::from_le_bytes(length));
    }
    for flag in [HAS_NAME, HAS_COMMENT] {
        if flags & flag != 0 {
            match memchr::memchr(0, bytes.get(end..).unwrap_or_default()) {
                Some(zero) => end += zero + 1,
                None => return too_long(),
            }
        }
    }
    if flags & HAS_CRC != 0 {
        end += 2;
    }
    Ok((bytes.len() >= end).then_some(end))
}

/// Checksum and length modulo 2^32, if all of it is there.
fn read_trailer(trailer: &[u8]) -> Option<(u32, u32)> {
    let crc = trailer.first_chunk()?;
    let length = trailer.get(4..)?.first_chunk()?;
    Some((u32::from_le_bytes(*crc), u32::from_le_bytes(*length)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::testing::gzip as member;
    use flate2::{Compression, GzBuilder};
    use proptest::prelude::*;
    use std::io::{Cursor, Write};

    fn chunks(file: &[u8]) -> Vec<Chunk> {
        let mut chunks = Chunks::new(Box::new(Cursor::new(file.to_vec())));
        let mut all = vec![];
        loop {
            let mut chunk = Chunk::default();
            let end = chunks.next(&mut chunk);
            all.push(chunk);
            if end.is_some() {
                return all;
            }
        }
    }

    /// Unpacks each chunk by itself where that works, and how often it did.
    fn unpacked(chunks: &[Chunk]) -> io::Result<(Vec<u8>, usize)> {
        let mut content = Buffer::default();
        let mut gunzip = Gunzip::default();
        let mut apart = 0;
        for chunk in chunks {
            let before = content.end;
            match unpack_whole(chunk, &mut content) {
                Some(behind) if gunzip.is_before_member() => {
                    gunzip = behind;
                    apart += 1;
                }
                _ => {
                    content.end = before;
                    gunzip.unpack(chunk, &mut content)?;
                }
            }
        }
        match gunzip.is_between_members() {
            true => Ok((content.bytes[content.range()].to_vec(), apart)),
            false => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    /// Hardly compressible, so that chunks are many.
    fn noise(length: usize) -> Vec<u8> {
        let mut state = 1_u64;
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 56) as u8
        };
        (0..length).map(|_| next()).collect()
    }

    #[test]
    fn members_are_unpacked_apart_and_long_ones_in_turn() {
        let noise = noise(600_000);
        let blocked: Vec<u8> = noise
            .chunks(30_000)
            .flat_map(|block| member(block, 1))
            .collect();
        let (bytes, apart) = unpacked(&chunks(&blocked)).unwrap();
        assert!(bytes == noise);
        assert!(apart >= 8, "{apart}");
        let (bytes, apart) = unpacked(&chunks(&member(&noise, 1))).unwrap();
        assert!(bytes == noise);
        assert_eq!(apart, 0);
    }

    #[test]
    fn what_only_looks_like_a_member_is_unpacked_in_turn() {
        // Stored blocks hold the bytes as they are, headers of members among them.
        let mut trap = noise(400_000);
        for at in (5_000..trap.len()).step_by(9_000) {
            trap[at..at + 10].copy_from_slice(&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]);
        }
        let file = [member(&trap, 0), member(&trap, 0), member(b"end", 6)].concat();
        let (bytes, _) = unpacked(&chunks(&file)).unwrap();
        assert!(bytes == [&trap[..], &trap, b"end"].concat());
    }

    #[test]
    fn what_comes_before_damage_depends_neither_on_chunks_nor_on_room() {
        let text: Vec<u8> = (0..60_000_u32)
            .flat_map(|n| format!("{:x} ", n.wrapping_mul(0x9e37_79b9) >> 12).into_bytes())
            .collect();
        let whole = member(&text, 6);
        for at in (20..whole.len()).step_by(997) {
            let mut file = whole.clone();
            file[at] ^= 0x3c;
            let sizes = [
                (1000, 0),
                (4096, 300_000),
                (65_536, 0),
                (300_000, 5_000_000),
            ];
            let [first, others @ ..] = sizes.map(|(chunk_bytes, room)| {
                let mut content = Buffer::default();
                content.room(room);
                let mut gunzip = Gunzip::default();
                let result = file.chunks(chunk_bytes).try_for_each(|bytes| {
                    let chunk = Chunk {
                        bytes: bytes.to_vec(),
                        ..Chunk::default()
                    };
                    gunzip.unpack(&chunk, &mut content)
                });
                let text = content.bytes[content.range()].to_vec();
                (text, result.map_err(|error| error.to_string()))
            });
            assert!(others.iter().all(|other| *other == first), "{at}");
        }
    }

    #[test]
    fn all_parts_of_a_header_are_passed_over() {
        let mut encoder = GzBuilder::new()
            .filename("name")
            .comment("comment")
            .extra(&b"BC\x02\0ab"[..])
            .write(Vec::new(), Compression::fast());
        encoder.write_all(b"text").unwrap();
        let mut file = encoder.finish().unwrap();
        // The checksum of the header, which flate2 does not write, is not looked at.
        file[3] |= 2;
        let header = file
            .windows(8)
            .position(|bytes| bytes == b"comment\0")
            .unwrap()
            + 8;
        file.splice(header..header, [7, 7]);
        assert_eq!(unpacked(&chunks(&file)).unwrap().0, b"text");
    }

    #[test]
    fn padding_is_passed_over_and_junk_is_not() {
        let whole = member(b"text", 6);
        let padded = [&whole[..], &[0; 700]].concat();
        assert_eq!(unpacked(&chunks(&padded)).unwrap().0, b"text");
        for junk in [&b"junk"[..], b"\0\0junk"] {
            assert!(unpacked(&chunks(&[&whole[..], junk].concat())).is_err());
        }
    }

    proptest! {
        #[test]
        fn chunks_of_any_size_unpack_to_the_same(
            parts in proptest::collection::vec(("[a-d]{0,300}", 0_u32..10), 1..6),
            cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..5),
            spoiled in proptest::option::of((any::<prop::sample::Index>(), 1_u8..)),
        ) {
            let mut file: Vec<u8> =
                parts.iter().flat_map(|(text, level)| member(text.as_bytes(), *level)).collect();
            if let Some((place, flip)) = spoiled {
                let place = place.index(file.len());
                file[place] ^= flip;
            }
            let mut ends: Vec<usize> = cuts.iter().map(|cut| cut.index(file.len())).collect();
            ends.extend([0, file.len()]);
            ends.sort_unstable();
            let chunks: Vec<Chunk> = ends
                .windows(2)
                .map(|ends| Chunk {
                    bytes: file[ends[0]..ends[1]].to_vec(),
                    seems_whole: true,
                    expansion: Arc::default(),
                })
                .collect();
            let expected: String = parts.iter().map(|(text, _)| text.as_str()).collect();
            match unpacked(&chunks) {
                Ok((bytes, _)) => prop_assert_eq!(bytes, expected.into_bytes()),
                Err(_) => prop_assert!(spoiled.is_some()),
            }
        }
    }
}
