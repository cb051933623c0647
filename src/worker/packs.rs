//! What goes from a task to many places, some at a time.

use std::collections::HashMap;
use std::io::{Read, Write};

use super::arrow::RowWriter;
use super::pack::broken;
use super::rows::Kind;
use super::stage_error;
use crate::error::Error;

/// Bytes that go to a place at a time, about.
const PACK_BYTES: usize = 1 << 20;
/// Bytes that wait for that at the most, wherever they go.
const WAITING_BYTES: usize = 1 << 26;
/// How hard documents are compressed: a fifth fewer bytes than at the lowest level, which is the
/// fastest, at 40 % of its speed.
const LEVEL: i32 = 6;
/// Bytes that a pack has at the most when it is unpacked: those of one document, and some.
const UNPACKED_BYTES_MAX: u64 = 5 << 28;

/// What waits to be handed on, by where it goes.
pub(super) struct Packs {
    kind: Kind,
    waiting: HashMap<u32, Vec<u8>>,
    bytes: usize,
}

impl Packs {
    /// Of documents, which are compressed, or of bits, which are as short as they get.
    pub(super) fn new(kind: Kind) -> Self {
        Self {
            kind,
            waiting: HashMap::new(),
            bytes: 0,
        }
    }

    /// Adds to what goes to a place, and hands on what is enough.
    pub(super) fn put<W: Write>(
        &mut self,
        place: u32,
        output: &mut RowWriter<W>,
        document: impl FnOnce(&mut Vec<u8>),
    ) -> Result<(), Error> {
        let pack = self.waiting.entry(place).or_default();
        let before = pack.len();
        document(pack);
        self.bytes += pack.len() - before;
        if pack.len() >= PACK_BYTES {
            self.bytes -= pack.len();
            let pack = self.waiting.remove(&place).unwrap_or_default();
            self.push(place, pack, output)?;
        }
        if self.bytes >= WAITING_BYTES {
            self.hand_on(output)?;
        }
        Ok(())
    }

    /// Hands on all that waits.
    pub(super) fn hand_on<W: Write>(&mut self, output: &mut RowWriter<W>) -> Result<(), Error> {
        let mut waiting: Vec<(u32, Vec<u8>)> = self.waiting.drain().collect();
        self.bytes = 0;
        waiting.sort_unstable_by_key(|&(place, _)| place);
        for (place, pack) in waiting {
            self.push(place, pack, output)?;
        }
        Ok(())
    }

    fn push<W: Write>(
        &self,
        place: u32,
        pack: Vec<u8>,
        output: &mut RowWriter<W>,
    ) -> Result<(), Error> {
        let pack = match self.kind {
            Kind::Documents => compressed(&pack)?,
            _ => pack,
        };
        output.push(place, self.kind, &pack)
    }
}

pub(super) fn compressed(pack: &[u8]) -> Result<Vec<u8>, Error> {
    zstd::bulk::compress(pack, LEVEL).map_err(|error| stage_error(error.to_string()))
}

/// What was compressed.
pub(super) fn unpacked(pack: &[u8]) -> Result<Vec<u8>, Error> {
    unpacked_up_to(pack, UNPACKED_BYTES_MAX)
}

/// Nothing is unpacked beyond what may be, whatever a pack says.
fn unpacked_up_to(pack: &[u8], bytes_max: u64) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    let decoder = zstd::stream::Decoder::with_buffer(pack).map_err(|_| broken())?;
    match decoder.take(bytes_max + 1).read_to_end(&mut bytes) {
        Ok(taken) if taken as u64 <= bytes_max => Ok(bytes),
        _ => Err(broken()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pack_that_is_more_than_it_may_be_is_refused() {
        let text = vec![b'a'; 1 << 20];
        let pack = compressed(&text).unwrap();
        assert_eq!(unpacked_up_to(&pack, 1 << 20).unwrap(), text);
        assert!(unpacked_up_to(&pack, (1 << 20) - 1).is_err());
        assert!(unpacked(&pack[..pack.len() - 1]).is_err());
        assert!(unpacked(b"no pack").is_err());
    }
}
