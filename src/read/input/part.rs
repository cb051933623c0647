//! A part of a file of lines, to be read by itself. The parts of a file lie end to end, each of
//! whole lines.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::PathBuf;

use crate::read::ReadSettings;
use crate::read::cut::buffer::PIECE_BYTES;
use crate::read::format::json_array::looks_like_array;
use crate::read::format::{InputFormat, recognise};
use crate::read::input::Input;
use crate::read::open::archive::ArchiveKind;
use crate::read::open::compression::Packing;

/// Some lines of a file.
#[derive(Clone, Debug)]
pub(crate) struct LinesPart {
    pub(crate) path: PathBuf,
    /// The bytes of the lines.
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// Lines of the file before these.
    pub(crate) lines_before: u64,
}

impl LinesPart {
    /// How many lines the part has.
    pub(crate) fn count_lines(&self) -> io::Result<u64> {
        let mut file = BufReader::with_capacity(PIECE_BYTES, self.clone().open()?);
        let mut lines = 0;
        loop {
            let bytes = file.fill_buf()?;
            let taken = bytes.len();
            if taken == 0 {
                return Ok(lines);
            }
            lines += memchr::memchr_iter(b'\n', bytes).count() as u64;
            file.consume(taken);
        }
    }

    pub(in crate::read) fn open(self) -> io::Result<Box<dyn Read + Send>> {
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(self.start))?;
        Ok(Box::new(file.take(self.end.saturating_sub(self.start))))
    }
}

/// Where a file of so many bytes is cut so that its parts are of whole lines and have about so
/// many bytes each: all ends, the last one being that of the file.
pub(crate) fn cuts(file: &mut File, bytes: u64, part_bytes: u64) -> io::Result<Vec<u64>> {
    let mut ends = Vec::new();
    let mut start = 0;
    while bytes - start > part_bytes {
        // A line that starts there is behind a line end.
        let from = start + part_bytes - 1;
        file.seek(SeekFrom::Start(from))?;
        start = from + rest_of_line(&mut BufReader::new(&mut *file))?;
        ends.push(start.min(bytes));
    }
    if ends.last().is_none_or(|&end| end < bytes) {
        ends.push(bytes);
    }
    Ok(ends)
}

/// Passes over the rest of a line, and gives its bytes.
fn rest_of_line(file: &mut impl BufRead) -> io::Result<u64> {
    let mut passed = 0;
    loop {
        let bytes = file.fill_buf()?;
        let (taken, is_over) = match memchr::memchr(b'\n', bytes) {
            Some(end) => (end + 1, true),
            None => (bytes.len(), bytes.is_empty()),
        };
        file.consume(taken);
        passed += taken as u64;
        if is_over {
            return Ok(passed);
        }
    }
}

impl Input {
    /// Whether it is a file with something in it, and then whether that is records, not a text.
    pub(crate) fn has_records(&self, settings: &ReadSettings) -> Option<bool> {
        let mut head = Vec::new();
        let file = File::open(self.plain_path()?).ok()?;
        file.take(PIECE_BYTES as u64).read_to_end(&mut head).ok()?;
        let format = settings
            .format
            .or_else(|| recognise(&head, self.name()).ok());
        let is_packed = Packing::of(&head).is_some() || ArchiveKind::of(&head).is_some();
        let is_text = !is_packed && format.is_some_and(InputFormat::is_file);
        (!head.is_empty()).then_some(!is_text)
    }

    /// The length of the file, if it is one of lines of JSON that can be read in parts.
    pub(crate) fn lines_bytes(&self, settings: &ReadSettings) -> Option<u64> {
        if !matches!(settings.format, None | Some(InputFormat::Jsonl)) {
            return None;
        }
        let mut head = Vec::new();
        let file = File::open(self.plain_path()?).ok()?;
        file.take(PIECE_BYTES as u64).read_to_end(&mut head).ok()?;
        let is_wide = matches!(head[..], [0xff | 0xfe, ..] | [0, ..] | [_, 0, ..]);
        let is_plain = Packing::of(&head).is_none()
            && ArchiveKind::of(&head).is_none()
            && !looks_like_array(&head)
            && !is_wide;
        let is_lines = is_plain && recognise(&head, self.name()).ok() == Some(InputFormat::Jsonl);
        self.bytes().filter(|_| is_lines)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    proptest::proptest! {
        #[test]
        fn parts_are_of_whole_lines_and_have_each_once(
            lines in proptest::collection::vec("[a-c]{0,5}", 0..12),
            part_bytes in 1_u64..20,
            ended: bool,
        ) {
            let mut text = lines.join("\n");
            if ended {
                text.push('\n');
            }
            let mut file = tempfile::NamedTempFile::new().unwrap();
            file.write_all(text.as_bytes()).unwrap();
            let length = text.len() as u64;
            let ends = cuts(&mut File::open(file.path()).unwrap(), length, part_bytes).unwrap();
            let (mut found, mut start) = (String::new(), 0);
            for end in ends {
                let part = LinesPart { path: file.path().into(), start, end, lines_before: 0 };
                assert!(start == 0 || found.ends_with('\n'));
                let before = found.matches('\n').count() as u64;
                let lines = part.count_lines().unwrap();
                part.open().unwrap().read_to_string(&mut found).unwrap();
                assert_eq!(before + lines, found.matches('\n').count() as u64);
                start = end;
            }
            assert_eq!(found, text);
        }
    }
}
