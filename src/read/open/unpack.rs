//! Unpacking as a reader, whatever the compression: what a decoder gives before it meets
//! damage counts, and does not depend on how the bytes come in.

use std::io::{self, Read};

use crate::read::input::counted::{Damage, Filled, fill};

/// Takes packed bytes and gives unpacked ones.
pub(in crate::read) trait Unpack: Send {
    /// Unpacks some of `input` into `room`. With `ended`, nothing follows the input.
    fn unpack(&mut self, input: &[u8], room: &mut [u8], ended: bool) -> Step;
}

/// What came of unpacking some bytes.
pub(in crate::read) struct Step {
    pub(in crate::read) taken: usize,
    pub(in crate::read) given: usize,
    pub(in crate::read) state: io::Result<Progress>,
}

/// Where an unpacking stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::read) enum Progress {
    /// There is more to come, if there is more to unpack.
    More,
    /// The file may end here.
    Between,
    /// What follows is of no interest.
    Over,
}

/// Bytes asked of the input at a time.
const AHEAD_BYTES: usize = 64 * 1024;

/// The unpacked content of a file.
pub(in crate::read) struct Unpacked<D> {
    reader: Box<dyn Read + Send>,
    decoder: D,
    /// What has been read, and how much of it has been unpacked.
    ahead: Vec<u8>,
    taken: usize,
    /// How the input ends behind that, if it does.
    end: Option<Filled>,
    progress: Progress,
    /// What was found behind the last bytes that were given.
    failed: Option<io::Error>,
}

impl<D: Unpack> Unpacked<D> {
    pub(in crate::read) fn new(reader: Box<dyn Read + Send>, decoder: D) -> Self {
        Self {
            reader,
            decoder,
            ahead: Vec::new(),
            taken: 0,
            end: None,
            progress: Progress::Between,
            failed: None,
        }
    }

    fn look_ahead(&mut self) {
        if self.taken == self.ahead.len() && self.end.is_none() {
            self.ahead.resize(AHEAD_BYTES, 0);
            let (filled, how) = fill(&mut self.reader, &mut self.ahead);
            self.ahead.truncate(filled);
            self.taken = 0;
            if !matches!(how, Filled::Whole) {
                self.end = Some(how);
            }
        }
    }
}

impl<D: Unpack> Read for Unpacked<D> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        if let Some(error) = self.failed.take() {
            // Whoever reads on finds no more.
            self.progress = Progress::Over;
            return Err(error);
        }
        while self.progress != Progress::Over && !room.is_empty() {
            self.look_ahead();
            let rest = &self.ahead[self.taken..];
            let is_empty = rest.is_empty();
            if is_empty && self.progress == Progress::Between {
                return Damage::or_end(self.end.take().unwrap_or(Filled::Ended));
            }
            let step = self.decoder.unpack(rest, room, self.end.is_some());
            self.taken += step.taken;
            match step.state {
                Ok(progress) => self.progress = progress,
                Err(error) => self.failed = Some(Damage::wrap(error)),
            }
            if step.given > 0 {
                return Ok(step.given);
            }
            if let Some(error) = self.failed.take() {
                self.progress = Progress::Over;
                return Err(error);
            }
            if step.taken == 0 && self.progress == Progress::More {
                self.progress = Progress::Over;
                return match (is_empty, self.end.take()) {
                    (true, Some(Filled::Ended | Filled::Whole) | None) => Err(Damage::cut_off()),
                    (true, Some(end)) => Damage::or_end(end),
                    (false, _) => Err(Damage::invalid("the data makes no sense")),
                };
            }
        }
        Ok(0)
    }
}
