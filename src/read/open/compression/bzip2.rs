//! Bzip2, all streams of a file one after the other, as parallel compressors write them. The
//! only file that knows bzip2, but for `write/packed.rs`.

use std::io::{self, Read};

use bzip2::{Decompress, Status};

use crate::read::open::unpack::{Progress, Step, Unpack, Unpacked};

/// The unpacked content of a file.
pub(in crate::read) fn reader(packed: Box<dyn Read + Send>) -> Box<dyn Read + Send> {
    let decoder = Bunzip {
        stream: None,
        is_behind_stream: false,
    };
    Box::new(Unpacked::new(packed, decoder))
}

struct Bunzip {
    /// `None` between streams.
    stream: Option<Decompress>,
    is_behind_stream: bool,
}

impl Unpack for Bunzip {
    fn unpack(&mut self, input: &[u8], room: &mut [u8], _ended: bool) -> Step {
        if self.stream.is_none() && self.is_behind_stream && input.first().is_some_and(|&b| b == 0)
        {
            // Zeros fill up the last block of a tape.
            let zeros = input.iter().take_while(|&&byte| byte == 0).count();
            return Step {
                taken: zeros,
                given: 0,
                state: Ok(Progress::Between),
            };
        }
        let stream = self.stream.get_or_insert_with(|| Decompress::new(false));
        let (taken, given) = (stream.total_in(), stream.total_out());
        let status = stream.decompress(input, room);
        let taken = (stream.total_in() - taken) as usize;
        let given = (stream.total_out() - given) as usize;
        let state = match status {
            Ok(Status::StreamEnd) => {
                self.stream = None;
                self.is_behind_stream = true;
                Ok(Progress::Between)
            }
            Ok(Status::MemNeeded) => Err(io::Error::from(io::ErrorKind::OutOfMemory)),
            Ok(_) => Ok(Progress::More),
            Err(error) => Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!("bzip2: {error}"),
            )),
        };
        Step {
            taken,
            given,
            state,
        }
    }
}
