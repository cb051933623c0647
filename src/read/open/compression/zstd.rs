//! Zstandard, all frames of a file one after the other. The only file that knows
//! zstd.
//!
//! Where a frame is damaged, zstd forgets what it has unpacked in the same call. So it is
//! given what a block needs and no more: then all that comes before the damaged block is
//! there, however the bytes came in.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use zstd::stream::raw::{DParameter, Decoder, InBuffer, Operation, OutBuffer};

use crate::read::input::counted::{Damage, Filled, fill};

/// The largest window that zstd writes, with `--ultra --long=31`.
const WINDOW_LOG_MAX: u32 = 31;
/// Bytes asked of the operating system at a time; a block has up to 128 KiB.
const AHEAD_BYTES: usize = 256 * 1024;
/// Bytes that a frame starts with.
const FRAME_START_BYTES: usize = 5;
/// Bytes that the header of a frame takes at the most.
const FRAME_HEADER_BYTES_MAX: usize = 18;
/// Bytes before each block. zstd asks for them with the block before, but looking at them
/// must be left for the next call.
const BLOCK_HEADER_BYTES: usize = 3;

/// The unpacked content of a file.
pub(in crate::read) struct Reader {
    reader: Box<dyn Read + Send>,
    decoder: Decoder<'static>,
    /// What has been read, and how much of it has been unpacked.
    ahead: Vec<u8>,
    taken: usize,
    /// How the input ends behind that, if it does.
    end: Option<Filled>,
    /// Bytes that the decoder wants next.
    wanted: usize,
    is_in_frame: bool,
    /// The largest window of the frames so far: that much of what is unpacked is kept.
    windows: Arc<AtomicU64>,
    /// There may be more to come of what the decoder was given.
    is_flushing: bool,
    /// What was found behind the last bytes that were given.
    last: Option<Filled>,
}

/// Unpacks what is in memory as a whole.
#[cfg(feature = "parquet")]
#[derive(Default)]
pub(in crate::read) struct Bulk(Option<zstd::bulk::Decompressor<'static>>);

#[cfg(feature = "parquet")]
impl Bulk {
    /// The content of frames, or more than `limit` bytes of it.
    pub(in crate::read) fn unpack(&mut self, packed: &[u8], limit: usize) -> io::Result<Vec<u8>> {
        // Room is made for as much as a frame says it has, and not touched before it is filled.
        let said = zstd::zstd_safe::get_frame_content_size(packed)
            .ok()
            .flatten();
        let said = said.and_then(|said| usize::try_from(said).ok());
        if let Some(length) = said.filter(|&length| length <= limit) {
            let decoder = match &mut self.0 {
                Some(decoder) => decoder,
                none => none.insert(zstd::bulk::Decompressor::new()?),
            };
            let mut unpacked = Vec::with_capacity(length);
            if decoder.decompress_to_buffer(packed, &mut unpacked).is_ok() {
                return Ok(unpacked);
            }
        }
        // There may be more frames than the first.
        let mut unpacked = Vec::new();
        let mut reader = Reader::new(Box::new(io::Cursor::new(packed.to_vec())), &Arc::default())?;
        let most = limit as u64 + 1;
        reader.by_ref().take(most).read_to_end(&mut unpacked)?;
        Ok(unpacked)
    }
}

impl Reader {
    /// Unpacks what comes from `reader`.
    pub(in crate::read) fn new(
        reader: Box<dyn Read + Send>,
        windows: &Arc<AtomicU64>,
    ) -> io::Result<Self> {
        let mut decoder = Decoder::new()?;
        decoder.set_parameter(DParameter::WindowLogMax(WINDOW_LOG_MAX))?;
        Ok(Self {
            reader,
            decoder,
            ahead: Vec::new(),
            taken: 0,
            end: None,
            wanted: FRAME_START_BYTES,
            is_in_frame: false,
            windows: Arc::clone(windows),
            is_flushing: false,
            last: None,
        })
    }

    /// Fills `room`, and tells how much is in it.
    fn fill(&mut self, room: &mut [u8]) -> (usize, Filled) {
        let size = room.len();
        let mut output = OutBuffer::around(room);
        while output.pos() < size {
            self.look_ahead();
            let rest = &self.ahead[self.taken..];
            if rest.is_empty() && !self.is_in_frame {
                return (output.pos(), self.end());
            }
            if !self.is_in_frame {
                let window = window_bytes(rest);
                self.windows.fetch_max(window, Ordering::Relaxed);
            }
            let given = match self.is_flushing {
                true => 0,
                false => rest.len().min(step(self.wanted)),
            };
            let mut input = InBuffer::around(&rest[..given]);
            let filled = output.pos();
            let unpacked = self.decoder.run(&mut input, &mut output);
            self.taken += input.pos();
            let wanted = match unpacked {
                Ok(wanted) => wanted,
                Err(error) => return (filled, Filled::Damaged(error)),
            };
            if given == 0 && !self.is_flushing && output.pos() == filled {
                return (filled, self.end());
            }
            self.is_in_frame = wanted > 0;
            self.wanted = match self.is_in_frame {
                true => wanted,
                false => FRAME_START_BYTES,
            };
            self.is_flushing = self.is_in_frame && output.pos() == size;
        }
        (size, Filled::Whole)
    }

    /// Sees to it that what the decoder wants is there, if it is a block, or a frame's header.
    fn look_ahead(&mut self) {
        let there = self.ahead.len() - self.taken;
        let wanted = match self.is_in_frame {
            true => self.wanted,
            false => FRAME_HEADER_BYTES_MAX,
        };
        if self.end.is_some() || there >= wanted.min(AHEAD_BYTES) {
            return;
        }
        self.ahead.drain(..self.taken);
        self.taken = 0;
        self.ahead.resize(AHEAD_BYTES, 0);
        let (filled, how) = fill(&mut self.reader, &mut self.ahead[there..]);
        self.ahead.truncate(there + filled);
        if !matches!(how, Filled::Whole) {
            self.end = Some(how);
        }
    }

    /// How the content ends where the input does.
    fn end(&mut self) -> Filled {
        match self.end.take().unwrap_or(Filled::Ended) {
            Filled::Ended if self.is_in_frame => {
                let cut_off = io::Error::new(io::ErrorKind::UnexpectedEof, "the data is cut off");
                Filled::Damaged(cut_off)
            }
            end => end,
        }
    }
}

/// The window of the frame that starts with these bytes (RFC 8878, 3.1.1.1); 0 if it is none.
fn window_bytes(frame: &[u8]) -> u64 {
    const MAGIC_BYTES: usize = 4;
    let (Some(0xfd2f_b528), Some(&descriptor)) = (
        frame.first_chunk().map(|&magic| u32::from_le_bytes(magic)),
        frame.get(MAGIC_BYTES),
    ) else {
        return 0;
    };
    let behind = &frame[MAGIC_BYTES + 1..];
    let is_single_segment = descriptor & 0x20 != 0;
    if !is_single_segment {
        let window = behind.first().copied().unwrap_or(0);
        let base = 1_u64 << (10 + (window >> 3));
        return base + base / 8 * u64::from(window & 7);
    }
    // All of the content is the window, and its size stands behind the number of a dictionary.
    let dictionary_bytes = [0, 1, 2, 4][usize::from(descriptor & 3)];
    let size_bytes = 1 << (descriptor >> 6);
    let mut size = [0; 8];
    match behind.get(dictionary_bytes..dictionary_bytes + size_bytes) {
        Some(bytes) => size[..size_bytes].copy_from_slice(bytes),
        None => return 0,
    }
    // A size of two bytes counts from 256.
    let from = if size_bytes == 2 { 256 } else { 0 };
    u64::from_le_bytes(size) + from
}

impl Read for Reader {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        if let Some(last) = self.last.take() {
            // Whoever reads on finds no more.
            (self.is_in_frame, self.end) = (false, Some(Filled::Ended));
            self.ahead.truncate(self.taken);
            return Damage::or_end(last);
        }
        let (filled, how) = self.fill(room);
        match (filled, how) {
            (0, Filled::Whole) => Ok(0),
            (_, Filled::Whole) => Ok(filled),
            (_, how) => {
                self.last = Some(how);
                match filled {
                    0 => self.read(room),
                    _ => Ok(filled),
                }
            }
        }
    }
}

/// How much the decoder is given at a time of what it wants.
fn step(wanted: usize) -> usize {
    match wanted > BLOCK_HEADER_BYTES {
        true => wanted - BLOCK_HEADER_BYTES,
        false => wanted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn the_window_is_what_the_frame_says() {
        for log in [17, 20, 24] {
            let mut encoder = zstd::Encoder::new(vec![], 1).unwrap();
            encoder.window_log(log).unwrap();
            // Of unknown size, so that the window is written.
            encoder.write_all(&vec![b'x'; 100_000]).unwrap();
            let frame = encoder.finish().unwrap();
            assert_eq!(window_bytes(&frame), 1 << log);
        }
        for size in [100, 300, 70_000] {
            let frame = zstd::bulk::compress(&vec![b'x'; size], 1).unwrap();
            assert_eq!(window_bytes(&frame), size as u64);
        }
        assert_eq!(window_bytes(b"\x28\xb5\x2f\xfd"), 0);
        assert_eq!(window_bytes(b"\x28\xb5\x2f\xfd\xe0\x01"), 0);
        assert_eq!(window_bytes(b"no frame at all"), 0);
    }

    #[cfg(feature = "parquet")]
    #[test]
    fn what_is_unpacked_as_a_whole_has_a_limit() {
        let frame = |size| zstd::bulk::compress(&vec![b'x'; size], 1).unwrap();
        let two = [frame(5000), frame(4)].concat();
        let mut bulk = Bulk::default();
        for _ in 0..2 {
            assert_eq!(bulk.unpack(&frame(5000), 5000).unwrap().len(), 5000);
            assert_eq!(bulk.unpack(&two, 6000).unwrap().len(), 5004);
            assert_eq!(bulk.unpack(&two, 100).unwrap().len(), 101);
            assert!(bulk.unpack(&two[..12], 6000).is_err());
        }
    }
}
