//! lz4, all frames of a file one after the other. The only file that knows lz4_flex.

use std::io::{self, Read};
use std::mem;

use lz4_flex::frame::FrameDecoder;

use crate::read::input::counted::{Damage, Filled, fill};
use crate::read::open::compression::{LZ4_FIRST_VERSION, LZ4_FRAME};

/// The unpacked content of a file.
pub(in crate::read) fn reader(packed: Box<dyn Read + Send>) -> Box<dyn Read + Send> {
    Box::new(Frames(State::Between(Packed {
        reader: packed,
        head: Vec::new(),
        is_ended: false,
    })))
}

/// The content of a block that stands for itself, or an error if it is more than `limit` bytes.
/// A block does not say how much that is.
#[cfg(feature = "parquet")]
pub(in crate::read) fn block(packed: &[u8], limit: usize) -> io::Result<Vec<u8>> {
    /// A byte stands for so many at the most.
    const RATIO_MAX: usize = 255;
    let most = limit.min(packed.len().saturating_mul(RATIO_MAX));
    let mut length = most.min(4 * packed.len() + 64);
    loop {
        match lz4_flex::block::decompress(packed, length) {
            Err(lz4_flex::block::DecompressError::OutputTooSmall { .. }) if length < most => {
                length = most.min(2 * length);
            }
            unpacked => return unpacked.map_err(io::Error::other),
        }
    }
}

struct Frames(State);

/// A frame has a decoder of its own: one that has seen small blocks is not made for large ones.
enum State {
    Between(Packed),
    /// In a frame that has an end.
    Inside(Box<FrameDecoder<Packed>>),
    /// In one of the first version, which ends where the file does.
    Endless(Box<FrameDecoder<Packed>>),
    Over,
}

impl Read for Frames {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        loop {
            // Behind an error, there is no more.
            let mut state = mem::replace(&mut self.0, State::Over);
            let (State::Inside(decoder) | State::Endless(decoder)) = &mut state else {
                match state {
                    State::Between(packed) => self.0 = start(packed)?,
                    _ => return Ok(0),
                }
                continue;
            };
            let count = decoder.read(room).map_err(damage)?;
            if count > 0 || room.is_empty() {
                self.0 = state;
                return Ok(count);
            }
            if let State::Inside(decoder) = state {
                let packed = decoder.into_inner();
                if packed.is_ended {
                    // The decoder is silent about a frame that ends where the file does.
                    return Err(Damage::cut_off());
                }
                self.0 = State::Between(packed);
            }
        }
    }
}

/// Looks at what follows a frame, past frames to be skipped.
fn start(mut packed: Packed) -> io::Result<State> {
    loop {
        let head = packed.look()?;
        if head.is_empty() {
            return Ok(State::Over);
        }
        if head.starts_with(&LZ4_FIRST_VERSION) {
            return Ok(State::Endless(Box::new(FrameDecoder::new(packed))));
        }
        if head.starts_with(&LZ4_FRAME) {
            return Ok(State::Inside(Box::new(FrameDecoder::new(packed))));
        }
        if !matches!(head, [0x50..=0x5f, 0x2a, 0x4d, 0x18]) {
            return Err(Damage::invalid(
                "bytes that are not lz4 after the last frame",
            ));
        }
        let mut length = [0; 4];
        packed.head.clear();
        packed
            .read_exact(&mut length)
            .map_err(|_| Damage::cut_off())?;
        let length = u64::from(u32::from_le_bytes(length));
        if io::copy(&mut (&mut packed).take(length), &mut io::sink())? < length {
            return Err(Damage::cut_off());
        }
    }
}

/// What the decoder says is damage, unless it was handed on from further down.
fn damage(error: io::Error) -> io::Error {
    let is_own = error.kind() == io::ErrorKind::UnexpectedEof
        || error
            .get_ref()
            .and_then(|inner| inner.downcast_ref::<lz4_flex::frame::Error>())
            .is_some();
    match is_own {
        true => Damage::wrap(error),
        false => error,
    }
}

/// The packed bytes, of which the next four can be looked at.
struct Packed {
    reader: Box<dyn Read + Send>,
    head: Vec<u8>,
    /// Someone has read to the end.
    is_ended: bool,
}

impl Packed {
    fn look(&mut self) -> io::Result<&[u8]> {
        if self.head.is_empty() {
            self.head.resize(LZ4_FRAME.len(), 0);
            let (filled, how) = fill(&mut self.reader, &mut self.head);
            self.head.truncate(filled);
            if let end @ (Filled::Broken(_) | Filled::Damaged(_)) = how {
                Damage::or_end(end)?;
            }
        }
        Ok(&self.head)
    }
}

impl Read for Packed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.head.is_empty() {
            let count = self.head.len().min(buffer.len());
            buffer[..count].copy_from_slice(&self.head[..count]);
            self.head.drain(..count);
            return Ok(count);
        }
        let count = self.reader.read(buffer)?;
        self.is_ended |= count == 0 && !buffer.is_empty();
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lz4_flex::frame::{FrameEncoder, FrameInfo};
    use std::io::{Cursor, Write};

    fn frame(bytes: &[u8], info: FrameInfo) -> Vec<u8> {
        let mut encoder = FrameEncoder::with_frame_info(info, Vec::new());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn content(file: Vec<u8>) -> io::Result<Vec<u8>> {
        let mut content = Vec::new();
        reader(Box::new(Cursor::new(file)))
            .read_to_end(&mut content)
            .map(|_| content)
    }

    #[test]
    fn frames_to_skip_are_skipped_and_old_ones_end_with_the_file() {
        let skipped = [0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 7, 7, 7];
        let one = frame(b"one ", FrameInfo::new());
        let old = frame(b"two", FrameInfo::new().legacy_frame(true));
        let file = [&one[..], &skipped, &skipped, &one, &old].concat();
        assert_eq!(content(file).unwrap(), b"one one two");
        for cut in 1..skipped.len() {
            assert!(content([&one[..], &skipped[..cut]].concat()).is_err());
        }
        for cut in 1..one.len() {
            assert!(content([&one[..], &one[..cut]].concat()).is_err(), "{cut}");
        }
    }

    #[cfg(feature = "parquet")]
    #[test]
    fn a_block_unpacks_to_its_limit_and_no_further() {
        let packed = lz4_flex::block::compress(&[7; 5000]);
        assert!(packed.len() < 100);
        assert_eq!(block(&packed, 5000).unwrap(), [7; 5000]);
        assert!(block(&packed, 4999).is_err());
        assert!(block(&packed[..10], 5000).is_err());
    }
}
