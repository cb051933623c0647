//! Text of another encoding as UTF-8, for encodings whose lines cannot be told as bytes.

use std::io::{self, Read};

use super::encoding::{Charset, StreamDecoder};
use crate::read::input::counted::{Damage, Filled, fill};

/// Bytes taken at a time.
const STEP_BYTES: usize = 64 * 1024;

/// The content as UTF-8.
pub(in crate::read) struct Transcoded {
    reader: Box<dyn Read + Send>,
    decoder: StreamDecoder,
    step: Vec<u8>,
    /// What has been decoded, and how much of it has been given.
    text: Vec<u8>,
    given: usize,
    /// How the input ends behind that, if it does.
    end: Option<Filled>,
}

impl Transcoded {
    pub(in crate::read) fn new(reader: Box<dyn Read + Send>, charset: Charset) -> Self {
        Self {
            reader,
            decoder: StreamDecoder::new(charset),
            step: vec![0; STEP_BYTES],
            text: Vec::new(),
            given: 0,
            end: None,
        }
    }
}

impl Read for Transcoded {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        while self.given == self.text.len() {
            if let Some(end) = &mut self.end {
                return Damage::or_end(std::mem::replace(end, Filled::Ended));
            }
            let (filled, how) = fill(&mut self.reader, &mut self.step);
            (self.given, self.end) = (0, (!matches!(how, Filled::Whole)).then_some(how));
            self.text.clear();
            self.decoder
                .decode(&self.step[..filled], self.end.is_some(), &mut self.text);
        }
        let text = &self.text[self.given..];
        let count = text.len().min(room.len());
        room[..count].copy_from_slice(&text[..count]);
        self.given += count;
        Ok(count)
    }
}
