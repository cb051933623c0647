//! Zstandard, all frames of a file one after the other. The only file that knows
//! zstd.
//!
//! Where a frame is damaged, zstd forgets what it has unpacked in the same call. So it is
//! given what a block needs and no more: then all that comes before the damaged block is
//! there, however the bytes came in.

use std::io::{self, Read};

use zstd::stream::raw::{DParameter, Decoder, InBuffer, Operation, OutBuffer};

use super::counted::{Damage, Filled, fill};

/// The largest window that zstd writes, with `--ultra --long=31`.
const WINDOW_LOG_MAX: u32 = 31;
/// Bytes asked of the operating system at a time; a block has up to 128 KiB.
const AHEAD_BYTES: usize = 256 * 1024;
/// Bytes that a frame starts with.
const FRAME_START_BYTES: usize = 5;
/// Bytes before each block. zstd asks for them with the block before, but looking at them
/// must be left for the next call.
const BLOCK_HEADER_BYTES: usize = 3;

/// The unpacked content of a file.
pub(super) struct Reader {
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
    /// There may be more to come of what the decoder was given.
    is_flushing: bool,
    /// What was found behind the last bytes that were given.
    last: Option<Filled>,
}

impl Reader {
    /// Unpacks what comes from `reader`.
    pub(super) fn new(reader: Box<dyn Read + Send>) -> io::Result<Self> {
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

    /// Sees to it that what the decoder wants is there, if it is a block.
    fn look_ahead(&mut self) {
        let there = self.ahead.len() - self.taken;
        if self.end.is_some() || there >= self.wanted.min(AHEAD_BYTES) {
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
