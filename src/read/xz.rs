//! xz, all streams of a file one after the other. The only file that knows liblzma.

use std::io::{self, Read};

use liblzma::stream::{Action, CONCATENATED, Error, Status, Stream};

use super::unpack::{Progress, Step, Unpack, Unpacked};

/// The memory that a file may ask for: `xz -9` takes 65 MiB, and only `--lzma2=dict=` more.
const MEMORY_BYTES_MAX: u64 = 272 << 20;

/// The unpacked content of a file.
pub(super) fn reader(packed: Box<dyn Read + Send>) -> io::Result<Box<dyn Read + Send>> {
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
