//! xz, all streams of a file one after the other. The only file that knows liblzma, but
//! for `write/packed.rs`.

use std::io::{self, Read};

use liblzma::stream::{Action, CONCATENATED, Error, Status, Stream};

use crate::read::open::unpack::{Progress, Step, Unpack, Unpacked};

/// The memory that a file may ask for: `xz -9` takes 65 MiB, and only `--lzma2=dict=` more.
const MEMORY_BYTES_MAX: u64 = 272 << 20;

/// The unpacked content of a file.
pub(in crate::read) fn reader(packed: Box<dyn Read + Send>) -> io::Result<Box<dyn Read + Send>> {
    let stream = Stream::new_stream_decoder(MEMORY_BYTES_MAX, CONCATENATED)?;
    Ok(Box::new(Unpacked::new(packed, Unxz(stream))))
}

struct Unxz(Stream);

impl Unpack for Unxz {
    fn unpack(&mut self, input: &[u8], room: &mut [u8], ended: bool) -> Step {
        let Self(stream) = self;
        let (taken, given) = (stream.total_in(), stream.total_out());
        let action = match ended {
            true => Action::Finish,
            false => Action::Run,
        };
        let status = stream.process(input, room, action);
        let taken = (stream.total_in() - taken) as usize;
        let given = (stream.total_out() - given) as usize;
        let state = match status {
            Ok(Status::StreamEnd) => Ok(Progress::Over),
            Ok(_) => Ok(Progress::More),
            Err(Error::MemLimit) => Err(io::Error::new(
                io::ErrorKind::OutOfMemory,
                format!(
                    "unpacking takes more than {} MiB; `xzcat FILE | simdup` may have it",
                    MEMORY_BYTES_MAX >> 20
                ),
            )),
            Err(error) => Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!("xz: {error}"),
            )),
        };
        Step {
            taken,
            given,
            state,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::input::counted::{Damage, Filled};
    use std::io::{Cursor, Write};

    /// The header of a block names the window that its reader must keep.
    #[test]
    fn what_would_take_too_much_memory_is_refused() {
        let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 0);
        encoder.write_all(b"some words").unwrap();
        let mut file = encoder.finish().unwrap();
        let (header, filter) = (12, 14);
        assert_eq!(file[filter..filter + 2], [0x21, 1]);
        let length = (usize::from(file[header]) + 1) * 4;
        let sum_at = header + length - 4;
        // From 128 MiB, which is fine, to 4 GiB.
        for (window, is_fine) in [(30, true), (33, false), (40, false)] {
            file[filter + 2] = window;
            let mut sum = flate2::Crc::new();
            sum.update(&file[header..sum_at]);
            file[sum_at..sum_at + 4].copy_from_slice(&sum.sum().to_le_bytes());
            let mut content = Vec::new();
            let mut reader = reader(Box::new(Cursor::new(file.clone()))).unwrap();
            match reader.read_to_end(&mut content).map_err(Damage::of) {
                Ok(_) => assert!(is_fine && content == b"some words"),
                Err(Filled::Damaged(error)) => {
                    assert!(!is_fine && error.to_string().contains("MiB"), "{error}");
                }
                Err(other) => panic!("{other:?}"),
            }
        }
    }
}
