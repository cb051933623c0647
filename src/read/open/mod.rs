//! One input as a sequence of pieces: opened, unpacked as its first bytes say, member by member
//! if it is an archive, and read. What must come in sequence is done here, and no more.

pub(in crate::read) mod archive;
pub(in crate::read) mod compression;
pub(in crate::read) mod source;
pub(in crate::read) mod unpack;

use std::fs::File;
use std::io;
use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::ReadSettings;
use super::format::{InputFormat, by_first_line, recognise, says_code};
use super::input::{Input, RowGroup};
use crate::document::TextNotes;
use crate::error::ErrorKind;
use crate::read::cut::blocks::{End, Piece, Start};
use crate::read::cut::buffer::PIECE_BYTES;
use crate::read::format::foreign;
use crate::read::format::foreign::Foreign;
use crate::read::format::json_array::{ArrayLines, first_lacks, looks_like_array};
use crate::read::format::parquet;
use crate::read::format::parquet::Table;
use crate::read::format::{protobuf, warc};
use crate::read::input::counted::{Damage, Filled, fill_until};
use crate::read::input::walk::Meant;
use crate::read::open::archive::{ArchiveKind, Members};
use crate::read::open::compression::Packing;
use crate::read::open::compression::gzip;
use crate::read::open::compression::gzip::{Chunk, Chunks};
use crate::read::open::source::{Source, Spool};
use crate::read::text::encoding::{Charset, InputEncoding, TextEncoding};
use crate::read::text::stateful;
use crate::read::text::transcoded::Transcoded;

/// Bytes that tell compressions, archives and encodings.
const HEAD_BYTES: usize = 8 * 1024;
/// Those of them that tell wide characters without a mark.
const WIDE_HEAD_BYTES: usize = 1024;
/// How much of a gzip file is looked at for those bytes at first.
const GZIP_HEAD_BYTES: usize = 4 * 1024;
/// How much of a gzip file is looked at for those bytes at most: its header may be long.
const GZIP_HEAD_BYTES_MAX: usize = 1 << 20;

/// How often something is compressed that is still unpacked.
const PACKED_DEEP_MAX: usize = 4;
/// How many archives may be inside each other.
const ARCHIVES_DEEP_MAX: usize = 3;

const PACKED_TOO_DEEP: Foreign = Foreign::new(
    "data that is compressed more than four times over",
    "unpack it some times before",
);
const ARCHIVES_TOO_DEEP: Foreign = Foreign::new(
    "an archive inside an archive inside an archive inside another",
    "unpack the outer ones and name the folder",
);

/// An input that is read a piece at a time.
pub(crate) struct Stream {
    state: State,
    /// Those that are open, each in the one before.
    archives: Vec<Archive>,
    settings: ReadSettings,
    taken: Arc<AtomicU64>,
    /// The largest window of what was unpacked so far, or what the pages of a table take.
    windows: Arc<AtomicU64>,
    /// The input had to be kept before it was read, which nobody has been told.
    kept_first: bool,
}

enum State {
    Closed(Input),
    /// What is open, and what it is called, if nobody knows yet.
    Open(Leaf, Option<Start>),
    /// Between the members of an archive.
    Between,
    Ended,
}

/// What documents are cut from.
enum Leaf {
    Plain(Box<Source>),
    /// To be unpacked by any thread.
    Gzip(Box<Chunks>),
    /// Rows that have been taken apart.
    Table(Box<Table>),
}

struct Archive {
    name: Arc<str>,
    members: Box<dyn Members>,
}

impl Stream {
    /// Opens `input` when its first piece is asked for. What is read of it is added
    /// to `taken`.
    pub(crate) fn new(input: Input, settings: &ReadSettings, taken: &Arc<AtomicU64>) -> Self {
        Self {
            state: State::Closed(input),
            archives: Vec::new(),
            settings: settings.clone(),
            taken: Arc::clone(taken),
            windows: Arc::default(),
            kept_first: false,
        }
    }

    /// Fills `piece` with what comes next; false when nothing does. The last piece
    /// may hold nothing but the news of the end.
    pub(crate) fn next(&mut self, piece: &mut Piece) -> bool {
        piece.clear();
        piece.window_bytes = self.windows.load(Ordering::Relaxed);
        loop {
            match mem::replace(&mut self.state, State::Ended) {
                State::Ended => return false,
                State::Open(leaf, start) => {
                    piece.start = start;
                    piece.kept_first = mem::take(&mut self.kept_first);
                    self.take(leaf, piece);
                    return true;
                }
                State::Closed(input) => {
                    let start = input.start();
                    if let Some(part) = input.row_group() {
                        match self.row_group(part) {
                            Ok(leaf) => self.state = State::Open(leaf, Some(start)),
                            Err(error) => refuse(piece, start, End::Unopened(error)),
                        }
                        continue;
                    }
                    match input.source(&self.taken) {
                        Ok(source) => self.open(self.live(source), start, piece),
                        Err(error) => refuse(piece, start, End::Unopened(error)),
                    }
                }
                State::Between => self.open_member(piece),
            }
            if piece.end.is_some() {
                return true;
            }
        }
    }

    /// A source that is waited for no longer than must be.
    fn live(&self, source: Source) -> Source {
        match (self.settings.live, self.settings.format) {
            (false, _) => source,
            (true, None) => source.with_enough(|head| by_first_line(head).is_some()),
            (true, Some(format)) if format.has_lines() => {
                source.with_enough(|head| head.contains(&b'\n'))
            }
            (true, Some(_)) => source,
        }
    }

    /// Fills a piece from what is open.
    fn take(&mut self, mut leaf: Leaf, piece: &mut Piece) {
        let how = match &mut leaf {
            Leaf::Plain(source) => {
                let room = &mut piece.content.room(PIECE_BYTES)[..PIECE_BYTES];
                let is_live = self.settings.live;
                let (filled, how) = fill_until(source, room, |there| is_live && !there.is_empty());
                piece.content.end += filled;
                how
            }
            Leaf::Table(table) => {
                match piece.content.append(|bytes| table.next(bytes, PIECE_BYTES)) {
                    true => Filled::Whole,
                    false => Filled::Ended,
                }
            }
            Leaf::Gzip(chunks) => {
                let mut chunk: Chunk = mem::take(&mut piece.spare);
                let end = chunks.next(&mut chunk);
                piece.packed = Some(chunk);
                end.unwrap_or(Filled::Whole)
            }
        };
        piece.window_bytes = self.windows.load(Ordering::Relaxed);
        piece.end = match how {
            Filled::Whole => {
                self.state = State::Open(leaf, None);
                return;
            }
            Filled::Ended => Some(End::Whole),
            Filled::Broken(error) => Some(End::Unreadable(error)),
            Filled::Damaged(error) => Some(End::Damaged(error)),
        };
        self.state = self.behind();
    }

    /// Where reading goes on behind what was open.
    fn behind(&self) -> State {
        match self.archives.is_empty() {
            true => State::Ended,
            false => State::Between,
        }
    }

    /// Opens the next member of the innermost archive, or leaves it.
    fn open_member(&mut self, piece: &mut Piece) {
        let Some(archive) = self.archives.last_mut() else {
            return;
        };
        let start = |name: Arc<str>| Start {
            name,
            format: None,
            encoding: None,
            notes: TextNotes::default(),
            is_printed: false,
            is_found: true,
            if_archive: false,
            is_member: true,
            first_record: 0,
            first_byte: 0,
        };
        match archive.members.next() {
            Ok(Some(member)) => {
                let ReadSettings { globs, hidden, .. } = &self.settings;
                let meant = globs.member(&member.name, *hidden);
                if meant == Meant::No {
                    self.state = State::Between;
                    return;
                }
                let start = Start {
                    if_archive: meant == Meant::IfArchive,
                    ..start(format!("{}!{}", archive.name, member.name).into())
                };
                match member.content {
                    Ok(content) => self.open(Source::new(content), start, piece),
                    Err(foreign) => {
                        refuse(piece, start, End::Refused(foreign.into()));
                        self.state = State::Between;
                    }
                }
            }
            Ok(None) => {
                self.archives.pop();
                self.state = self.behind();
            }
            Err(error) => {
                refuse(
                    piece,
                    start(Arc::clone(&archive.name)),
                    damaged_archive(error),
                );
                self.archives.pop();
                self.state = self.behind();
            }
        }
    }

    /// Opens what is inside a source: the archive, the compressed or the plain file.
    fn open(&mut self, source: Source, mut start: Start, piece: &mut Piece) {
        match self.inside(source, &mut start) {
            Ok(Inside::Leaf(_)) if start.if_archive => self.state = self.behind(),
            Ok(Inside::Leaf(leaf)) => self.state = State::Open(leaf, Some(start)),
            Ok(Inside::Archive(members)) => {
                self.archives.push(Archive {
                    name: start.name,
                    members,
                });
                self.state = State::Between;
            }
            Err(end) => {
                refuse(piece, start, end);
                self.state = self.behind();
            }
        }
    }

    fn inside(&mut self, mut source: Source, start: &mut Start) -> Result<Inside, End> {
        let is_told = start.format.is_some();
        let mut deep = 0;
        while !is_told && let Some(packing) = Packing::of(look(&mut source, HEAD_BYTES)?) {
            if let Some(foreign) = packing.foreign() {
                return Err(End::Refused(foreign.into()));
            }
            if deep == PACKED_DEEP_MAX {
                return Err(End::Refused(PACKED_TOO_DEEP.into()));
            }
            if packing == Packing::Gzip {
                let head = gzip_head(&mut source)?;
                if self.is_document(&head, &start.name) {
                    start.notes.suspect = self.suspect(&head);
                    let chunks = Chunks::new(Box::new(source));
                    return Ok(Inside::Leaf(Leaf::Gzip(Box::new(chunks))));
                }
            }
            let unpacked = packing
                .reader(Box::new(source), &self.windows)
                .map_err(End::Unopened)?;
            source = Source::new(unpacked);
            deep += 1;
        }
        let head = look(&mut source, HEAD_BYTES)?;
        if !is_told
            && let Some(kind) = ArchiveKind::of(head)
            && foreign::by_signature(head).is_none()
        {
            if let Some(foreign) = kind.foreign() {
                return Err(End::Refused(foreign.into()));
            }
            if self.archives.len() == ARCHIVES_DEEP_MAX {
                return Err(End::Refused(ARCHIVES_TOO_DEEP.into()));
            }
            self.kept_first |= kind == ArchiveKind::Zip && self.must_be_kept(&source);
            return kind
                .members(source, &self.spool(), &self.taken)
                .map(Inside::Archive)
                .map_err(damaged_archive);
        }
        if !is_told && self.is_table(head) {
            start.format = Some(InputFormat::Parquet);
            self.kept_first |= self.must_be_kept(&source);
            return self.table(source).map(Leaf::Table).map(Inside::Leaf);
        }
        if let Some(wide) = self.wide(head, &start.name) {
            start.encoding = Some(InputEncoding::Transcoded);
            start.notes.guess = wide.guess;
            source.skip(wide.mark);
            source = Source::new(Box::new(Transcoded::new(Box::new(source), wide.charset)));
        } else {
            start.notes.suspect = self.suspect(head);
        }
        let head = look(&mut source, HEAD_BYTES)?;
        if !is_told && self.is_array(head) {
            if self.has_records(head, start) {
                start.format = Some(InputFormat::Jsonl);
                source = Source::new(Box::new(ArrayLines::new(source)));
            } else {
                start.format = Some(InputFormat::Text);
                start.notes.is_array = !says_code(&start.name);
            }
        }
        Ok(Inside::Leaf(Leaf::Plain(Box::new(source))))
    }

    /// Whether the elements of a JSON array are records. In a file of source code, or in one that
    /// nobody named and whose first element has no text where texts are by default, they are not.
    fn has_records(&self, head: &[u8], start: &Start) -> bool {
        let ReadSettings {
            format,
            id_field,
            text_fields,
            ..
        } = &self.settings;
        if format.is_some() {
            return true;
        }
        if says_code(&start.name) {
            return false;
        }
        let is_default = id_field.is_none() && *text_fields == ReadSettings::default().text_fields;
        !(start.is_found && is_default && first_lacks(head, &text_fields[0]))
    }

    /// Whether what starts like this is neither packed nor an archive nor to be transcoded.
    fn is_document(&self, head: &[u8], name: &str) -> bool {
        let head = &head[..head.len().min(HEAD_BYTES)];
        Packing::of(head).is_none()
            && ArchiveKind::of(head).is_none()
            && !self.is_table(head)
            && !self.is_array(head)
            && self.wide(head, name).is_none()
    }

    /// Whether what starts like this is a JSON array of records.
    fn is_array(&self, head: &[u8]) -> bool {
        matches!(self.settings.format, None | Some(InputFormat::Jsonl)) && looks_like_array(head)
    }

    /// Whether what starts like this is a Parquet file, or should be one.
    fn is_table(&self, head: &[u8]) -> bool {
        match self.settings.format {
            Some(format) => format == InputFormat::Parquet,
            None => head.starts_with(parquet::MAGIC),
        }
    }

    fn table(&self, source: Source) -> Result<Box<Table>, End> {
        if let Some(foreign) = parquet::foreign() {
            return Err(End::Refused(foreign.into()));
        }
        let taken = source.is_file().then(|| Arc::clone(&self.taken));
        let file =
            source
                .into_seekable(&self.spool())
                .map_err(|error| match Damage::of(error) {
                    Filled::Damaged(error) => End::Damaged(error),
                    Filled::Broken(error) => End::Unopened(error),
                    Filled::Whole | Filled::Ended => End::Whole,
                })?;
        let table =
            Table::open(file, &self.settings, taken, &self.windows).map_err(End::Refused)?;
        Ok(Box::new(table))
    }

    /// Whether an input comes from a pipe, and is not read from its start to its end.
    fn must_be_kept(&self, source: &Source) -> bool {
        self.archives.is_empty() && !source.is_file()
    }

    fn row_group(&self, part: &RowGroup) -> io::Result<Leaf> {
        let file = Box::new(File::open(&part.path)?);
        let (settings, taken) = (&self.settings, &self.taken);
        Table::group(
            file,
            &part.layout,
            part.index,
            settings,
            taken,
            &self.windows,
        )
        .map(|table| Leaf::Table(Box::new(table)))
    }

    fn spool(&self) -> Spool {
        Spool {
            temp_dir: self.settings.temp_dir.clone(),
        }
    }
}

/// What is inside an input.
enum Inside {
    Leaf(Leaf),
    Archive(Box<dyn Members>),
}

/// Tells of something that cannot be read.
fn refuse(piece: &mut Piece, start: Start, end: End) {
    piece.start = Some(start);
    piece.end = Some(end);
}

fn damaged_archive(error: io::Error) -> End {
    match Damage::of(error) {
        Filled::Damaged(error) => End::Refused(ErrorKind::Archive(error)),
        Filled::Broken(error) => End::Unopened(error),
        Filled::Whole | Filled::Ended => End::Whole,
    }
}

fn look(source: &mut Source, length: usize) -> Result<&[u8], End> {
    source.look(length).map_err(End::Unopened)
}

/// The start of what a gzip file holds.
fn gzip_head(source: &mut Source) -> Result<Vec<u8>, End> {
    let mut length = GZIP_HEAD_BYTES;
    loop {
        let head = gzip::unpacked_head(look(source, length)?);
        if head.len() >= HEAD_BYTES || source.is_seen() || length >= GZIP_HEAD_BYTES_MAX {
            return Ok(head);
        }
        length *= 4;
    }
}

/// An encoding whose lines cannot be told as bytes.
struct Wide {
    charset: Charset,
    /// The length of its byte order mark.
    mark: usize,
    guess: Option<&'static str>,
}

impl Stream {
    /// The encoding of what starts like this, if it must be transcoded to be cut.
    fn wide(&self, head: &[u8], name: &str) -> Option<Wide> {
        let known = |(charset, mark)| Wide {
            charset,
            mark,
            guess: None,
        };
        let format = self.settings.format;
        let by_mark = Charset::by_mark(head).filter(|(charset, _)| !charset.has_lines());
        let wide = match (by_mark, self.settings.encoding) {
            (Some(marked), _) => known(marked),
            (None, TextEncoding::Named(charset)) if charset.has_lines() => return None,
            (None, TextEncoding::Named(charset)) => {
                let format = format.or_else(|| recognise(head, name).ok());
                if format == Some(InputFormat::Jsonl) {
                    return None;
                }
                known((charset, 0))
            }
            (None, encoding) => {
                let start = &head[..head.len().min(WIDE_HEAD_BYTES)];
                // A page may say itself that it is in ISO-2022-JP.
                let is_page = || match format {
                    Some(format) => format == InputFormat::Html,
                    None => recognise(head, name) == Ok(InputFormat::Html),
                };
                let charset = foreign::wide_without_mark(start)
                    .or_else(|| Charset::guess_stateful(head).filter(|_| !is_page()))?;
                Wide {
                    charset,
                    mark: 0,
                    guess: (encoding == TextEncoding::Auto).then(|| charset.name()),
                }
            }
        };
        // JSON may be in one of them, by its mark.
        let is_text = match format {
            Some(format) => format.is_text() || format == InputFormat::Jsonl,
            None => !protobuf::looks_like_frames(head) && !warc::looks_like_warc(head),
        };
        is_text.then_some(wide)
    }

    /// An encoding that what starts like this seems to have, and that cannot be decoded.
    fn suspect(&self, head: &[u8]) -> Option<&'static str> {
        match self.settings.encoding {
            TextEncoding::Named(_) => None,
            TextEncoding::Auto | TextEncoding::Detect => stateful::suspect(head),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::testing::{self, Trickle};
    use crate::read::{InputFormat, Pieces, ReadSettings};
    use std::io::{Cursor, Read, Write};
    use std::sync::atomic::Ordering::Relaxed;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        testing::gzip(bytes, 1)
    }

    /// The compressions that are built in, beside gzip and zstd.
    type Pack = fn(&[u8]) -> Vec<u8>;
    const OTHERS: &[Pack] = &[
        #[cfg(feature = "bzip2")]
        |bytes| {
            use bzip2::{Compression, write::BzEncoder};
            let mut encoder = BzEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap()
        },
        #[cfg(feature = "xz")]
        |bytes| {
            let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 1);
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap()
        },
        #[cfg(feature = "lz4")]
        |bytes| {
            use lz4_flex::frame::{FrameEncoder, FrameInfo};
            let info = FrameInfo::new().content_checksum(true);
            let mut encoder = FrameEncoder::with_frame_info(info, Vec::new());
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap()
        },
    ];

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
            pieces.taken.load(Relaxed),
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

    #[test]
    fn other_compressions_are_recognised_one_after_and_inside_the_other() {
        let lines = b"some words\n".repeat(50_000);
        for pack in OTHERS {
            let parts = [pack(b"one "), pack(b""), pack(&lines), pack(b"two")].concat();
            let length = parts.len() as u64;
            let expected = [b"one ", &lines[..], b"two"].concat();
            assert!(read(Cursor::new(parts.clone())) == (expected.clone(), length, None));
            assert!(read(Trickle(Cursor::new(parts.clone()), 1)).0 == expected);
            assert!(read(Cursor::new(gzip(&parts))).0 == expected);
            assert!(read(Cursor::new(pack(&gzip(&expected)))).0 == expected);
            let twice = zstd::encode_all(&pack(&pack(&expected))[..], 1).unwrap();
            assert!(read(Cursor::new(twice)).0 == expected);
        }
    }

    #[test]
    fn of_other_compressions_what_is_whole_counts_too() {
        let line = b"0123456789\n".repeat(200);
        for pack in OTHERS {
            let whole = pack(&line);
            for length in 16..whole.len() {
                let (content, _, problem) = read(Cursor::new(whole[..length].to_vec()));
                assert!(problem.is_some(), "{length}: {:?}", &whole[..10]);
                assert!(line.starts_with(&content) && content.len() % 11 == 0);
            }
            let (content, _, problem) = read(Cursor::new([&whole[..], b"junk"].concat()));
            assert!(content == line && problem.is_some());
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
        let others = OTHERS.iter().map(|pack| pack(&lines));
        for whole in others.chain([
            zstd::encode_all(&lines[..], 1).unwrap(),
            checked.finish().unwrap(),
            [halves.0, halves.1]
                .map(|half| zstd::encode_all(half, 3).unwrap())
                .concat(),
            gzip(&lines),
            [gzip(halves.0), gzip(halves.1)].concat(),
        ]) {
            assert!(whole.len() > 250_000);
            for at in [7, 60_000, 201_000, whole.len() - 30_000, whole.len() - 2] {
                let mut spoiled = whole.clone();
                spoiled[at] ^= 0x55;
                let zeros = [&whole[..at], &[0; 5000], &whole[at..]].concat();
                for bytes in [spoiled, zeros, whole[..at].to_vec()] {
                    let all = read(Cursor::new(bytes.clone()));

                    for some in [7, 100_000] {
                        let again = read(Trickle(Cursor::new(bytes.clone()), some));
                        assert!(again == all, "{at}, {some}: {:?} {:?}", again.2, all.2);
                    }
                }
            }
            // Much of what comes before the damage is used, in blocks of up to a megabyte.
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

    /// A member may hold members: they are unpacked too.
    #[test]
    fn gzip_inside_gzip_is_unpacked_to_some_depth() {
        let text: Vec<u8> = (0..400_u32)
            .flat_map(|n| {
                n.wrapping_mul(0x9e37_79b9)
                    .to_string()
                    .repeat(9)
                    .into_bytes()
            })
            .collect();
        let inner = [gzip(&text), gzip(&text)].concat();
        let (content, _, problem) = read(Cursor::new(testing::gzip(&inner.repeat(20), 0)));
        assert_eq!(problem, None);
        assert!(content == text.repeat(40));
        let mut deep = text.clone();
        for _ in 0..PACKED_DEEP_MAX {
            deep = gzip(&deep);
        }
        assert!(read(Cursor::new(deep.clone())).0 == text);
        let (content, _, problem) = read(Cursor::new(gzip(&deep)));
        assert!(content.is_empty());
        assert!(problem.unwrap().contains("compressed more than four times"));
    }
}
