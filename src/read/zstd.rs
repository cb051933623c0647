//! Zstandard, all frames of a file one after the other. The only file that knows
//! zstd.

use std::io::{self, BufReader, Chain, Cursor, Read};

use zstd::stream::read::Decoder;

use super::counted::CountedReader;

/// The largest window that zstd writes, with `--ultra --long=31`.
const WINDOW_LOG_MAX: u32 = 31;
/// Bytes asked of the operating system at a time.
const INPUT_BUFFER_BYTES: usize = 128 * 1024;

/// The unpacked content of a file.
pub(super) type Reader = Decoder<'static, BufReader<Chain<Cursor<Vec<u8>>, CountedReader>>>;

/// Unpacks `raw`, of which `head` has been read already.
pub(super) fn reader(raw: CountedReader, head: Vec<u8>) -> io::Result<Reader> {
    let whole = Cursor::new(head).chain(raw);
    let mut decoder = Decoder::with_buffer(BufReader::with_capacity(INPUT_BUFFER_BYTES, whole))?;
    decoder.window_log_max(WINDOW_LOG_MAX)?;
    Ok(decoder)
}
