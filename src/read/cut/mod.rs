//! Cuts the pieces of one input, in order, into blocks of whole records.

pub(in crate::read) mod blocks;
pub(in crate::read) mod buffer;

use std::ops::Range;
use std::sync::Arc;
use std::{io, mem};

use memchr::{memchr, memrchr, memrchr2};

use super::format::{Cut, Head, InputFormat, by_first_line, by_name, recognise, without_bom};
use super::{BLOCK_RECORDS_MAX, ReadSettings};
use crate::document::RECORD_BYTES_MAX;
use crate::document::TextNotes;
use crate::error::{Error, ErrorKind, Place};
use crate::read::cut::blocks::{End, Piece, Span, Start};
use crate::read::cut::buffer::{Buffer, HEADROOM_BYTES, PIECE_BYTES, huge_bytes};
use crate::read::format::foreign;
use crate::read::format::foreign::Foreign;
use crate::read::input::spool::SpoolFailed;
use crate::read::open::compression::gzip::Gunzip;
use crate::read::text::encoding::{
    Charset, GUESS_BYTES, InputEncoding, TextEncoding, encoding_of_damaged,
};
use crate::read::text::utf8;

/// What is known of an input from the pieces so far.
pub(crate) struct Cutter {
    name: Arc<str>,
    settings: ReadSettings,
    /// `None` until enough has been seen.
    format: Option<InputFormat>,
    /// The encoding of its lines, those of CSV among them; `None` as long as they are UTF-8.
    encoding: Option<InputEncoding>,
    /// There are characters of UTF-8 beyond ASCII in the lines so far.
    is_behind_utf8: bool,
    /// How all of it is read.
    notes: TextNotes,
    /// A command makes it of a file that is not empty.
    is_printed: bool,
    is_found: bool,
    /// Whether it is yet to be seen that there is text in it, which nobody said of this file.
    may_be_binary: bool,
    is_member: bool,
    /// What stands before the first record; `None` until it has been seen.
    head: Option<Arc<Head>>,
    /// `None` until there is something to unpack.
    gunzip: Option<Gunzip>,
    /// The start of a record whose end has not come yet.
    carry: Vec<u8>,
    /// So much of the next record must be there before it is worth to look at it again.
    needs: usize,
    records: u64,
    bytes: u64,
    state: State,
}

/// What is known of the bytes to come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    /// Inside a record that is too long and will not be used, up to its `end`.
    Skipping {
        end: u8,
    },
    /// They are of no use.
    Over,
}

impl Cutter {
    /// For an input of that name.
    pub(crate) fn new(name: &Arc<str>, settings: &ReadSettings) -> Self {
        Self {
            name: Arc::clone(name),
            settings: settings.clone(),
            format: settings.format,
            encoding: None,
            is_behind_utf8: false,
            notes: TextNotes::default(),
            is_printed: false,
            is_found: false,
            may_be_binary: false,
            is_member: false,
            head: None,
            needs: 0,
            gunzip: None,
            carry: Vec::new(),
            records: 0,
            bytes: 0,
            state: State::Open,
        }
    }

    /// Whether the input is used up, or what follows is of no use.
    pub(crate) fn is_over(&self) -> bool {
        self.state == State::Over && !self.is_member
    }

    /// Begins with the input, or with another member of it.
    fn start(&mut self, start: Start) {
        self.name = start.name;
        self.format = start.format.or(self.settings.format);
        self.encoding = start.encoding;
        self.is_behind_utf8 = false;
        self.notes = start.notes;
        self.is_printed = start.is_printed;
        self.is_found = start.is_found;
        self.may_be_binary = start.is_found
            && start.format.is_none()
            && self.settings.format == Some(InputFormat::Text)
            && !matches!(self.settings.encoding, TextEncoding::Named(_));
        self.is_member = start.is_member;
        self.head = None;
        self.gunzip = None;
        self.carry.clear();
        (self.needs, self.records, self.bytes) = (0, start.first_record, start.first_byte);
        self.state = State::Open;
    }

    /// Bytes of a record that has not ended yet, if they are more than is usual.
    pub(crate) fn huge_bytes(&self) -> usize {
        huge_bytes(self.carry.len())
    }

    /// Cuts the next piece of the input.
    pub(crate) fn cut(&mut self, piece: &mut Piece) {
        if let Some(start) = piece.start.take() {
            self.start(start);
        }
        if self.state == State::Over {
            piece.clear();
            return;
        }
        self.unpack(piece);
        if let State::Skipping { end } = self.state {
            self.skip(&mut piece.content, end);
        }
        self.join(&mut piece.content, piece.end.is_some());
        let is_whole = matches!(piece.end, Some(End::Whole));
        let problem = match self.recognise(&piece.content, piece.end.is_some()) {
            Ok(()) => self.cut_content(piece, is_whole),
            Err(foreign) if self.is_found && foreign.has_no_text() => {
                self.state = State::Over;
                piece.passed_over = true;
                None
            }
            Err(foreign) => Some(Error::in_file(&self.name, foreign.into())),
        };
        let too_long = match self.format {
            Some(format) if self.carry.len() >= RECORD_BYTES_MAX => {
                Some(self.give_up_record(format.rules().record_end()))
            }
            _ => None,
        };
        if is_whole || problem.is_some() {
            self.state = State::Over;
        }
        piece.problem = too_long.or(problem);
        piece.blocks.file = Arc::clone(&self.name);
        piece.blocks.format = self.format.unwrap_or(InputFormat::Text);
        piece.blocks.notes = self.notes;
        piece.blocks.is_printed = self.is_printed;
        piece.blocks.encoding = self.encoding.unwrap_or_default();
        if let Some(head) = &self.head {
            piece.blocks.head = Arc::clone(head);
        }
    }

    /// The format of what is not waited for, if a line of it tells: the same however much has
    /// come.
    fn by_first_line(&self, content: &[u8]) -> Option<InputFormat> {
        by_first_line(content).filter(|_| self.settings.live)
    }

    /// Finds the format by the content, unless it is known or there is none yet. What is taken for
    /// text wherever it was found may have none in it all the same.
    fn recognise(&mut self, content: &Buffer, is_last: bool) -> Result<(), Foreign> {
        let content = &content.bytes[content.range()];
        if self.may_be_binary && (content.len() >= PIECE_BYTES || is_last) {
            self.may_be_binary = false;
            let head = &content[..content.len().min(PIECE_BYTES)];
            if let Some(foreign) = foreign::without_text(without_bom(head)) {
                return Err(foreign);
            }
        }
        if self.format.is_none() && !content.is_empty() {
            self.format = Some(match self.by_first_line(content) {
                Some(format) => format,
                None => recognise(content, &self.name)?,
            });
        }
        Ok(())
    }

    /// Cuts what there is, and tells what is behind it if it is not more.
    fn cut_content(&mut self, piece: &mut Piece, is_whole: bool) -> Option<Error> {
        let (spans, content) = (&mut piece.blocks.spans, &mut piece.content);
        let is_last = piece.end.is_some();
        let until = self.decide_encoding(content, is_last);
        let stopped = match self.format {
            Some(format) if !content.range().is_empty() => {
                match self.behind_head(format, content, until, is_last) {
                    Ok(Some(head)) => self.spans(format, &head, spans, content, until, is_whole),
                    Ok(None) => None,
                    Err(kind) => Some(kind),
                }
            }
            _ => None,
        };
        if is_whole && self.bytes == 0 && content.range().is_empty() {
            // There is nothing that could tell.
            self.format = self.format.or(by_name(&self.name));
            if self.format.is_some_and(InputFormat::is_file) {
                spans.push(self.span(content.range()));
            }
        }
        if let Some(kind) = stopped {
            return Some(self.error(kind));
        }
        let in_file = |kind| Error::in_file(&self.name, kind);
        match piece.end.take()? {
            End::Whole => None,
            End::Unopened(error) => Some(unreadable(error, in_file)),
            End::Unreadable(error) => Some(unreadable(error, |kind| self.error(kind))),
            End::Damaged(error) => Some(self.error(ErrorKind::Compression(error))),
            End::Refused(kind) => Some(in_file(kind)),
        }
    }

    /// Passes over what stands before the first record, and gives it. `None` if it is not all
    /// there, or its encoding is not known yet: then the content is carried.
    fn behind_head(
        &mut self,
        format: InputFormat,
        content: &mut Buffer,
        until: usize,
        is_last: bool,
    ) -> Result<Option<Arc<Head>>, ErrorKind> {
        if self.head.is_none() {
            let bytes = &content.bytes[content.range()];
            let encoding = self.encoding.unwrap_or_default();
            let head = match until < content.end {
                true => None,
                false => format
                    .rules()
                    .head(bytes, is_last, encoding, &self.settings)?,
            };
            let Some(head) = head else {
                self.needs = bytes.len().saturating_mul(2).max(PIECE_BYTES);
                content.swap(&mut self.carry);
                content.end = content.start;
                return Ok(None);
            };
            content.start += head.bytes.len();
            self.bytes += head.bytes.len() as u64;
            self.head = Some(Arc::new(head));
        }
        Ok(self.head.clone())
    }

    /// Unpacks what could not be unpacked apart from the pieces before, or should not
    /// have been.
    fn unpack(&mut self, piece: &mut Piece) {
        let Some(chunk) = piece.packed.take() else {
            return;
        };
        let is_before_member = self.gunzip.as_ref().is_none_or(Gunzip::is_before_member);
        let (gunzip, unpacked) = match piece.apart.take() {
            Some(behind) if is_before_member => (self.gunzip.insert(behind), Ok(())),
            _ => {
                piece.content.end = piece.content.start;
                let gunzip = self.gunzip.get_or_insert_default();
                let unpacked = gunzip.unpack(&chunk, &mut piece.content);
                (gunzip, unpacked)
            }
        };
        piece.spare = chunk;
        let is_last = matches!(piece.end, Some(End::Whole));
        match unpacked {
            Err(error) => piece.end = Some(End::Damaged(error)),
            Ok(()) if is_last && !gunzip.is_between_members() => {
                let cut_off = io::Error::new(io::ErrorKind::UnexpectedEof, "the data is cut off");
                piece.end = Some(End::Damaged(cut_off));
            }
            Ok(()) => {}
        }
    }

    /// Puts the start of the first record in front of what follows it, if there is
    /// enough of that to look at.
    fn join(&mut self, content: &mut Buffer, is_last: bool) {
        let new = content.range();
        let is_enough = |new: &[u8]| new.len() >= PIECE_BYTES || self.by_first_line(new).is_some();
        if self.carry.is_empty()
            && (self.format.is_some() || is_last || is_enough(&content.bytes[new.clone()]))
        {
            return;
        }
        if self.carry.len() <= HEADROOM_BYTES && self.format.is_some() {
            let start = new.start - self.carry.len();
            content.bytes[start..new.start].copy_from_slice(&self.carry);
            content.start = start;
            self.carry.clear();
            return;
        }
        let new = &content.bytes[new];
        self.carry.extend_from_slice(new);
        // What has been looked through for the end of the record is not looked through
        // again.
        let is_enough = match self.format.map(|format| format.rules().record_end()) {
            None => self.carry.len() >= PIECE_BYTES || self.by_first_line(&self.carry).is_some(),
            Some(Some(end)) => memchr(end, new).is_some(),
            Some(None) => self.carry.len() >= self.needs,
        };
        content.end = content.start;
        if is_last || is_enough {
            // A record may be a gigabyte: it changes hands and is not copied.
            content.swap(&mut self.carry);
        }
    }

    /// Finds the encoding of lines by the first of them that is not UTF-8 and what follows it:
    /// by so many bytes, however they come in. Gives the place up to which may be cut already.
    fn decide_encoding(&mut self, content: &Buffer, is_last: bool) -> usize {
        let line_end: fn(&[u8]) -> Option<usize> = match self.format {
            Some(InputFormat::Lines) => |bytes| memrchr(b'\n', bytes),
            Some(InputFormat::Csv | InputFormat::Tsv) => |bytes| memrchr2(b'\n', b'\r', bytes),
            _ => return content.end,
        };
        let encoding = self.settings.encoding;
        let is_other = matches!(encoding, TextEncoding::Named(c) if c != Charset::UTF_8);
        if self.encoding.is_some() || is_other {
            return content.end;
        }
        let bytes = &content.bytes[content.range()];
        if self.bytes == 0 && without_bom(bytes).len() < bytes.len() {
            // A mark says that it is UTF-8.
            self.encoding = Some(InputEncoding::DamagedUtf8);
            return content.end;
        }
        let lines = match is_last {
            true => bytes.len(),
            false => line_end(bytes).map_or(0, |at| at + 1),
        };
        let valid = utf8::text(&bytes[..lines]).map_or_else(|at| at, |_| lines);
        let line = match valid == lines {
            true => lines,
            false => line_end(&bytes[..valid]).map_or(0, |at| at + 1),
        };
        self.is_behind_utf8 = self.is_behind_utf8 || !bytes[..line].is_ascii();
        if valid == lines {
            return content.end;
        }
        let rest = &bytes[line..];
        if rest.len() < GUESS_BYTES && !is_last {
            return content.start + line;
        }
        let sample = &rest[..rest.len().min(GUESS_BYTES)];
        self.encoding = Some(encoding_of_damaged(sample, encoding, self.is_behind_utf8));
        content.end
    }

    /// Cuts the content, as far as it may be cut, into blocks, and carries what is left. Tells what makes
    /// it impossible to go on behind them.
    fn spans(
        &mut self,
        format: InputFormat,
        head: &Head,
        spans: &mut Vec<Span>,
        content: &mut Buffer,
        until: usize,
        is_whole: bool,
    ) -> Option<ErrorKind> {
        let mut start = content.start;
        loop {
            let rest = &content.bytes[start..until];
            let Cut {
                bytes,
                records,
                end,
                needs,
            } = format.rules().cut(rest, is_whole, head);
            if bytes > 0 {
                spans.push(self.span(start..start + bytes));
            }
            start += bytes;
            self.records += records;
            self.bytes += bytes as u64;
            // A block may be full before the content is used up.
            if end.is_none() && records >= BLOCK_RECORDS_MAX {
                continue;
            }
            self.needs = needs;
            if start == 0 {
                content.swap(&mut self.carry);
            } else {
                self.carry
                    .extend_from_slice(&content.bytes[start..content.end]);
            }
            return end;
        }
    }

    /// A block of the next records.
    fn span(&self, bytes: Range<usize>) -> Span {
        Span {
            bytes,
            first_record: self.records,
            first_byte: self.bytes,
        }
    }

    /// Drops a record that is too long to hold, to go on behind it if the format can
    /// find the place: behind the next `end`.
    fn give_up_record(&mut self, end: Option<u8>) -> Error {
        let length = mem::take(&mut self.carry).len() as u64;
        let error = self.error(ErrorKind::TooLong(length));
        self.bytes += length;
        self.records += 1;
        self.state = match end {
            Some(end) => State::Skipping { end },
            None => State::Over,
        };
        error
    }

    /// Passes over the rest of a record that is not used.
    fn skip(&mut self, content: &mut Buffer, end: u8) {
        let range = content.range();
        let next = memchr(end, &content.bytes[range.clone()]).map(|at| at + 1);
        let skipped = next.unwrap_or(range.len());
        self.bytes += skipped as u64;
        content.start += skipped;
        if next.is_some() {
            self.state = State::Open;
        }
    }

    fn error(&self, kind: ErrorKind) -> Error {
        Error {
            place: Place {
                file: Arc::clone(&self.name),
                record: Some(self.records + 1),
                byte: Some(self.bytes),
            },
            kind,
        }
    }
}

/// The system refused, for the input's sake or for another's.
fn unreadable(error: io::Error, in_input: impl FnOnce(ErrorKind) -> Error) -> Error {
    match error.downcast::<SpoolFailed>() {
        Ok(failed) => failed.into(),
        Err(error) => in_input(ErrorKind::Unreadable(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::testing::Trickle;
    use crate::read::{Input, Pieces};
    use std::io::Read;
    use std::sync::atomic::Ordering::Relaxed;

    fn lines() -> ReadSettings {
        ReadSettings {
            format: Some(InputFormat::Lines),
            ..ReadSettings::default()
        }
    }

    fn read(input: Input) -> (Vec<String>, Vec<String>) {
        let settings = lines();
        let mut pieces = Pieces::new(vec![input], &settings);
        let mut piece = Piece::default();
        let (mut urls, mut problems) = (vec![], vec![]);
        while pieces.next(&mut piece) {
            for block in piece.blocks() {
                block.documents(&settings, &mut |document| match document {
                    Ok(document) => urls.push(document.url.into_owned()),
                    Err(error) => problems.push(error.to_string()),
                });
            }
            problems.extend(piece.problem.take().map(|error| error.to_string()));
        }
        (urls, problems)
    }

    #[test]
    fn a_block_has_a_limited_number_of_records() {
        let count = 5 * BLOCK_RECORDS_MAX as usize;
        for text in ["x\n".repeat(count), "x\n".repeat(count) + "y"] {
            let lines = text.lines().count();
            let (urls, _) = read(Input::from_reader("r", io::Cursor::new(text)));
            assert_eq!(urls.len(), lines);
            assert_eq!(urls[lines - 1], format!("r:{lines}"));
        }
        let settings = lines();
        let input = Input::from_reader("r", io::Cursor::new("x\n".repeat(count)));
        let mut pieces = Pieces::new(vec![input], &settings);
        let mut piece = Piece::default();
        assert!(pieces.next(&mut piece));
        assert_eq!(piece.blocks().count(), 5);
        assert!(
            piece
                .blocks()
                .all(|block| block.bytes.len() == 2 * BLOCK_RECORDS_MAX as usize)
        );
        assert_eq!(pieces.taken.load(Relaxed), 2 * count as u64);
    }

    #[test]
    fn blocks_end_where_records_end() {
        let line = "x".repeat(1000) + "\n";
        let text = line.repeat(3 * PIECE_BYTES / 1000) + "last";
        let (urls, problems) = read(Input::from_reader(
            "r",
            Trickle(io::Cursor::new(text.into()), 7),
        ));
        assert_eq!(problems, [""; 0]);
        assert_eq!(urls.len(), 3 * PIECE_BYTES / 1000 + 1);
        assert_eq!(urls[0], "r:1");
        assert_eq!(urls[urls.len() - 1], format!("r:{}", urls.len()));
    }

    #[test]
    fn records_of_any_length_are_read_whole() {
        for length in [
            HEADROOM_BYTES - 1,
            HEADROOM_BYTES + 1,
            PIECE_BYTES - 3,
            PIECE_BYTES,
            5 * PIECE_BYTES,
        ] {
            let long = "x".repeat(length);
            let text = ["a\n", &long, "\nb\n", &long, "\n", &long].concat();
            let settings = lines();
            let input = Input::from_reader("r", io::Cursor::new(text.clone()));
            let mut pieces = Pieces::new(vec![input], &settings);
            let mut piece = Piece::default();
            let mut found = String::new();
            while pieces.next(&mut piece) {
                for block in piece.blocks() {
                    assert_eq!(block.first_byte as usize, found.len());
                    found.push_str(std::str::from_utf8(block.bytes).unwrap());
                }
            }
            assert!(found == text, "{length}");
        }
    }

    #[test]
    fn behind_a_record_that_is_too_long_reading_goes_on() {
        let endless = io::repeat(b'x').take((RECORD_BYTES_MAX + 3 * PIECE_BYTES) as u64);
        let stream = io::Cursor::new(b"a\n")
            .chain(endless)
            .chain(&b"\nb\n\x01\x02\x03\x04\xff"[..]);
        let (urls, problems) = read(Input::from_reader("r", stream));
        assert_eq!(urls, ["r:1", "r:3"]);
        assert_eq!(problems.len(), 2);
        let byte = 2 + RECORD_BYTES_MAX + 3 * PIECE_BYTES + 1 + 2 + 4;
        let invalid = format!("r: record 4, byte {byte}: invalid UTF-8");
        assert!(problems[1].starts_with(&invalid), "{problems:?}");
        assert!(
            problems[0].starts_with("r: record 2, byte 2: a record of"),
            "{problems:?}"
        );
    }
}
