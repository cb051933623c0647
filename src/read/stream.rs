//! One input as a sequence of pieces: opened, its compression recognised by its
//! first bytes, and read. What must come in sequence is done here, and no more.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::ReadSettings;
use super::blocks::{End, Piece};
use super::buffer::PIECE_BYTES;
use super::counted::{CountedReader, Filled};
use super::format::InputFormat;
use super::gzip::{Chunk, Chunks};
use super::input::Input;
use super::parquet::{self, Table};
use super::spool::SpoolFailed;

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// Bytes that tell the compression.
const MAGIC_BYTES_MAX: usize = 8;

/// An input that is read a piece at a time.
pub struct Stream {
    state: State,
    settings: ReadSettings,
    taken: Arc<AtomicU64>,
}

enum State {
    Closed(Input),
    /// The first bytes have been read, and are still to be given.
    Plain(CountedReader, Vec<u8>),
    Gzip(Chunks),
    Zstd(super::zstd::Reader),
    Table(Box<Table>),
    Ended,
}

impl Stream {
    /// Opens `input` when its first piece is asked for. What is read of it is added
    /// to `taken`.
    pub fn new(input: Input, settings: &ReadSettings, taken: &Arc<AtomicU64>) -> Self {
        Self {
            state: State::Closed(input),
            settings: settings.clone(),
            taken: Arc::clone(taken),
        }
    }

    /// Fills `piece` with what comes next; false when nothing does. The last piece
    /// may hold nothing but the news of the end.
    pub fn next(&mut self, piece: &mut Piece) -> bool {
        piece.clear();
        if let State::Closed(_) = self.state {
            match self.open() {
                Ok(state) => self.state = state,
                Err(end) => {
                    self.state = State::Ended;
                    piece.end = Some(end);
                    return true;
                }
            }
        }
        let how = match &mut self.state {
            State::Closed(_) | State::Ended => return false,
            State::Plain(reader, head) => {
                let room = &mut piece.content.room(PIECE_BYTES)[..PIECE_BYTES];
                let start = head.len();
                room[..start].copy_from_slice(head);
                head.clear();
                let (filled, how) = reader.fill(&mut room[start..]);
                piece.content.end += start + filled;
                how
            }
            State::Zstd(reader) => {
                let room = &mut piece.content.room(PIECE_BYTES)[..PIECE_BYTES];
                let (filled, how) = reader.fill(room);
                piece.content.end += filled;
                how
            }
            State::Table(table) => {
                piece.format = Some(InputFormat::Parquet);
                match piece.content.append(|bytes| table.next(bytes, PIECE_BYTES)) {
                    true => Filled::Whole,
                    false => Filled::Ended,
                }
            }
            State::Gzip(chunks) => {
                let mut chunk: Chunk = std::mem::take(&mut piece.spare);
                let end = chunks.next(&mut chunk);
                piece.packed = Some(chunk);
                end.unwrap_or(Filled::Whole)
            }
        };
        piece.end = match how {
            Filled::Whole => return true,
            Filled::Ended => Some(End::Whole),
            Filled::Broken(error) => Some(End::Unreadable(error)),
            Filled::Damaged(error) => Some(End::Damaged(error)),
        };
        self.state = State::Ended;
        true
    }

    fn open(&mut self) -> Result<State, End> {
        let State::Closed(input) = std::mem::replace(&mut self.state, State::Ended) else {
            return Ok(State::Ended);
        };
        let file = input.regular_file().map(Path::to_path_buf);
        let mut reader = CountedReader::new(input.open().map_err(End::Unopened)?, &self.taken);
        let mut head = vec![0; MAGIC_BYTES_MAX];
        let (filled, how) = reader.fill(&mut head);
        head.truncate(filled);
        if let Filled::Broken(error) = how {
            return Err(End::Unopened(error));
        }
        let is_wanted = self.settings.format == Some(InputFormat::Parquet);
        if is_wanted || self.settings.format.is_none() && head.starts_with(parquet::MAGIC) {
            let file = match file {
                Some(path) => File::open(path).map_err(End::Unopened)?,
                None => self.spooled(&head, reader)?,
            };
            let table = Table::open(file, &self.settings, &self.taken).map_err(End::Unfit)?;
            return Ok(State::Table(Box::new(table)));
        }
        if head.starts_with(&GZIP_MAGIC) {
            return Ok(State::Gzip(Chunks::new(reader, head)));
        }
        if is_zstd(&head) {
            return Ok(State::Zstd(
                super::zstd::Reader::new(reader, head).map_err(End::Unopened)?,
            ));
        }
        Ok(State::Plain(reader, head))
    }
}

impl Stream {
    /// What comes from a pipe, in a file.
    fn spooled(&self, head: &[u8], reader: CountedReader) -> Result<File, End> {
        let temp_dir = self
            .settings
            .temp_dir
            .clone()
            .unwrap_or_else(std::env::temp_dir);
        parquet::spooled(head, reader, &temp_dir)
            .map_err(|error| End::Unreadable(SpoolFailed::wrap(&temp_dir, error)))
    }
}

/// Whether a file that starts like this is compressed.
pub(super) fn is_packed(head: &[u8]) -> bool {
    head.starts_with(&GZIP_MAGIC) || is_zstd(head)
}

/// A frame, or one to skip, as parallel compressors write before the first.
fn is_zstd(head: &[u8]) -> bool {
    head.starts_with(&ZSTD_MAGIC) || matches!(head, [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::{InputFormat, Pieces, ReadSettings};
    use flate2::{Compression, write::GzEncoder};
    use std::io::{Cursor, Read, Write};

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    /// The content, how many bytes were taken for it, and what was wrong.
    fn read(reader: impl Read + Send + 'static) -> (Vec<u8>, u64, Option<String>) {
        let settings = ReadSettings {
            format: Some(InputFormat::Lines),
            ..ReadSettings::default()
        };
        let mut pieces = Pieces::new(vec![Input::from_reader("r", reader)], &settings);
        let mut piece = Piece::default();
        let (mut content, mut problem) = (vec![], None);
        while pieces.next(&mut piece) {
            piece
                .blocks()
                .for_each(|block| content.extend_from_slice(block.bytes));
            problem = problem.or(piece.problem.take());
        }
        (
            content,
            pieces.bytes_taken(),
            problem.map(|error| error.to_string()),
        )
    }

    #[test]
    fn plain_gzip_members_and_zstd_are_recognised() {
        let plain = read(Cursor::new("plain"));
        assert_eq!(plain, (b"plain".to_vec(), 5, None));
        let members = [gzip(b"one "), gzip(b""), gzip(b"two"), vec![0; 700]].concat();
        let length = members.len() as u64;
        assert_eq!(
            read(Cursor::new(members)),
            (b"one two".to_vec(), length, None)
        );
        let frames = [
            zstd::encode_all(&b"one "[..], 1).unwrap(),
            zstd::encode_all(&b"two"[..], 1).unwrap(),
        ]
        .concat();
        assert_eq!(read(Cursor::new(frames)).0, b"one two");
        assert_eq!(read(Cursor::new("")), (vec![], 0, None));
    }

    /// A pipe that gives so many bytes at a time.
    struct Trickle(Cursor<Vec<u8>>, usize);

    impl Read for Trickle {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let some = buffer.len().min(self.1);
            self.0.read(&mut buffer[..some])
        }
    }

    /// What damaged or truncated data gives must not depend on how it comes in, nor on
    /// how large the buffers have become before.
    #[test]
    fn damaged_data_gives_the_same_however_it_comes_in() {
        let mut lines = Vec::new();
        for n in 0..40_000_u64 {
            let word = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            writeln!(lines, "line {n} with some {word:x} words").unwrap();
        }
        let halves = lines.split_at(lines.len() / 2);
        let mut checked = zstd::Encoder::new(vec![], 1).unwrap();
        checked.include_checksum(true).unwrap();
        checked.write_all(&lines).unwrap();
        for whole in [
            zstd::encode_all(&lines[..], 1).unwrap(),
            checked.finish().unwrap(),
            [halves.0, halves.1]
                .map(|half| zstd::encode_all(half, 3).unwrap())
                .concat(),
            gzip(&lines),
            [gzip(halves.0), gzip(halves.1)].concat(),
        ] {
            assert!(whole.len() > 250_000);
            for at in [7, 60_000, 201_000, whole.len() - 30_000, whole.len() - 2] {
                let mut spoiled = whole.clone();
                spoiled[at] ^= 0x55;
                let zeros = [&whole[..at], &[0; 5000], &whole[at..]].concat();
                for bytes in [spoiled, zeros, whole[..at].to_vec()] {
                    let all = read(Cursor::new(bytes.clone()));

                    for some in [1, 7, 1000, 100_000] {
                        let again = read(Trickle(Cursor::new(bytes.clone()), some));
                        assert!(again == all, "{at}, {some}: {:?} {:?}", again.2, all.2);
                    }
                }
            }
            // Much of what comes before the damage is used.
            let mut spoiled = whole.clone();
            spoiled[whole.len() - 30_000] ^= 0x55;
            assert!(read(Cursor::new(spoiled)).0.len() > lines.len() * 3 / 4);
        }
    }

    #[test]
    fn a_slow_pipe_and_a_frame_to_skip_hide_nothing() {
        let skipped = [&[0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 7, 7][..]].concat();
        let frame = zstd::encode_all(&b"text"[..], 1).unwrap();
        for bytes in [gzip(b"text"), [skipped, frame].concat(), b"text".to_vec()] {
            assert_eq!(read(Trickle(Cursor::new(bytes), 1)).0, b"text");
        }
    }

    #[test]
    fn a_cut_off_or_spoiled_stream_is_an_error_behind_what_is_whole() {
        let line = b"0123456789\n".repeat(2000);
        let whole = gzip(&line);
        for length in (2..whole.len()).step_by(7) {
            let (content, _, problem) = read(Cursor::new(whole[..length].to_vec()));
            assert!(problem.is_some(), "{length}");
            assert!(line.starts_with(&content) && content.len() % 11 == 0);
        }
        let (content, _, problem) = read(Cursor::new([&whole[..], b"junk"].concat()));
        assert!(content == line && problem.is_some());
        let cut_off = [&whole[..], &whole[..whole.len() - 1]].concat();
        let (content, _, problem) = read(Cursor::new(cut_off));
        assert!(content == line.repeat(2) && problem.is_some());
        // A member without its end is not made good by the one that follows it.
        for missing in [8, 30] {
            let spoiled = [&whole[..whole.len() - missing], &whole].concat();
            assert!(read(Cursor::new(spoiled)).2.is_some(), "{missing}");
        }
        // Nor do zeros between members hide what follows them.
        let apart = [&whole[..], &[0; 200_000], &whole].concat();
        assert!(read(Cursor::new(apart)).2.is_some());
        let whole = zstd::encode_all(&line[..], 1).unwrap();
        assert!(
            read(Cursor::new(whole[..whole.len() - 1].to_vec()))
                .2
                .is_some()
        );
    }

    /// A member may hold members.
    #[test]
    fn gzip_inside_gzip_is_data() {
        let inner: Vec<u8> = (0..400_u32)
            .flat_map(|n| gzip(&n.wrapping_mul(0x9e37_79b9).to_le_bytes().repeat(90)))
            .collect();
        let mut encoder = GzEncoder::new(Vec::new(), Compression::none());
        encoder.write_all(&inner.repeat(20)).unwrap();
        let (content, _, problem) = read(Cursor::new(encoder.finish().unwrap()));
        assert_eq!(problem, None);
        assert!(content == inner.repeat(20));
    }
}
