//! Zip archives, zip64 among them, by the list at their end. The only file that knows rawzip.
//!
//! Nothing that an archive says of its sizes is believed: members are unpacked as a stream, and
//! their length and checksum held against what was said when they end. Members may not take more
//! bytes together than the archive has: some that overlap make petabytes out of a few.

use std::io::{self, Read, SeekFrom};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rawzip::{
    CompressionMethod, Crc32, MAX_CENTRAL_DIRECTORY_RECORD_SIZE, ReaderAt, ZipArchive,
    ZipArchiveEntryWayfinder, ZipLocator,
};

use crate::read::format::foreign::Foreign;
use crate::read::input::counted::Damage;
use crate::read::input::name_of;
use crate::read::open::archive::{Member, Members};
use crate::read::open::compression::Packing;
use crate::read::open::compression::gzip;
use crate::read::open::source::ReadSeek;

/// Members whose places are known ahead. The list is gone through once for each so many.
const AHEAD_MAX: usize = 1 << 16;
/// Bytes of names that are known ahead.
const AHEAD_BYTES_MAX: usize = 8 << 20;
/// No system has longer paths.
const NAME_BYTES_MAX: usize = 4096;

const ENCRYPTED: Foreign = Foreign::new(
    "a member that is encrypted",
    "unpack the archive with its password and name the folder",
);
const METHOD: Foreign = Foreign::new(
    "a member that is compressed in a way that is not read",
    "unpack the archive and name the folder",
);

type Archive = ZipArchive<Shared>;

/// The archive's bytes, for its list and its members.
struct Shared(Mutex<Box<dyn ReadSeek>>);

impl ReaderAt for Shared {
    fn read_at(&self, room: &mut [u8], at: u64) -> io::Result<usize> {
        let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(at))?;
        file.read(room)
    }
}

/// An archive that is open.
pub(in crate::read) struct Zip {
    archive: Arc<Archive>,
    /// Counts the bytes of members, if the archive is not counted as it is read.
    taken: Option<Arc<AtomicU64>>,
    /// The next members, the last of them first, and how many have been listed so far.
    ahead: Vec<Entry>,
    listed: u64,
    is_listed: bool,
    /// What members may still take.
    bytes_left: u64,
}

struct Entry {
    name: Box<[u8]>,
    place: ZipArchiveEntryWayfinder,
    method: CompressionMethod,
    is_encrypted: bool,
    /// What is said of its content.
    length: u64,
    checksum: u32,
}

fn damage(error: &rawzip::Error) -> io::Error {
    Damage::invalid(&format!("zip: {error}"))
}

impl Zip {
    pub(in crate::read) fn open(
        mut file: Box<dyn ReadSeek>,
        taken: Option<Arc<AtomicU64>>,
    ) -> io::Result<Self> {
        let bytes_left = file.seek(SeekFrom::End(0))?;
        let mut buffer = vec![0; MAX_CENTRAL_DIRECTORY_RECORD_SIZE];
        let archive = ZipLocator::new()
            .locate_in_reader(Shared(Mutex::new(file)), &mut buffer, bytes_left)
            .map_err(|(_, error)| damage(&error))?;
        Ok(Self {
            archive: Arc::new(archive),
            taken,
            ahead: Vec::new(),
            listed: 0,
            is_listed: false,
            bytes_left,
        })
    }

    /// Lists the next members, which may be none.
    fn look_ahead(&mut self) -> io::Result<()> {
        let mut buffer = vec![0; MAX_CENTRAL_DIRECTORY_RECORD_SIZE];
        let mut entries = self.archive.entries(&mut buffer);
        let (mut index, mut bytes) = (0, 0);
        self.is_listed = true;
        while let Some(entry) = entries.next_entry().map_err(|error| damage(&error))? {
            index += 1;
            if index <= self.listed {
                continue;
            }
            if self.ahead.len() == AHEAD_MAX || bytes > AHEAD_BYTES_MAX {
                self.is_listed = false;
                break;
            }
            self.listed += 1;
            let name = entry.file_path();
            let name = name.as_bytes();
            if entry.is_dir() || entry.mode().is_symlink() {
                continue;
            }
            if name.len() > NAME_BYTES_MAX {
                return Err(Damage::invalid("zip: a name without an end"));
            }
            bytes += name.len() + size_of::<Entry>();
            self.ahead.push(Entry {
                name: name.into(),
                place: entry.wayfinder(),
                method: entry.compression_method(),
                is_encrypted: entry.flags().is_encrypted(),
                length: entry.uncompressed_size_hint(),
                checksum: entry.crc32(),
            });
        }
        self.ahead.reverse();
        Ok(())
    }

    fn content(&mut self, entry: &Entry) -> io::Result<Result<Box<dyn Read + Send>, Foreign>> {
        if entry.is_encrypted {
            return Ok(Err(ENCRYPTED));
        }
        let place = self
            .archive
            .get_entry(entry.place)
            .map_err(|error| damage(&error))?;
        let (start, end) = place.compressed_data_range();
        let length = end.saturating_sub(start);
        self.bytes_left = self
            .bytes_left
            .checked_sub(length)
            .ok_or_else(|| Damage::invalid("zip: members overlap"))?;
        if let Some(taken) = &self.taken {
            taken.fetch_add(length, Ordering::Relaxed);
        }
        let packed = Box::new(Part {
            archive: Arc::clone(&self.archive),
            start,
            end,
        });
        let packing = match entry.method {
            CompressionMethod::STORE | CompressionMethod::DEFLATE => None,
            CompressionMethod::ZSTD => Some(Packing::Zstd),
            CompressionMethod::BZIP2 => Some(Packing::Bzip2),
            CompressionMethod::XZ => Some(Packing::Xz),
            _ => return Ok(Err(METHOD)),
        };
        if let Some(foreign) = packing.and_then(Packing::foreign) {
            return Ok(Err(foreign));
        }
        let unpacked = match packing {
            Some(packing) => packing.reader(packed, &Arc::default())?,
            None if entry.method == CompressionMethod::DEFLATE => gzip::inflated(packed),
            None => packed,
        };
        Ok(Ok(Box::new(Checked {
            reader: unpacked,
            sum: Crc32::new(),
            checksum: entry.checksum,
            left: entry.length,
        })))
    }
}

impl Members for Zip {
    fn next(&mut self) -> io::Result<Option<Member>> {
        while self.ahead.is_empty() && !self.is_listed {
            self.look_ahead()?;
        }
        let Some(entry) = self.ahead.pop() else {
            return Ok(None);
        };
        let content = self.content(&entry).inspect_err(|_| {
            self.ahead.clear();
            self.is_listed = true;
        })?;
        Ok(Some(Member {
            name: name_of(&entry.name).into_owned(),
            content,
        }))
    }
}

/// A part of the archive.
struct Part {
    archive: Arc<Archive>,
    start: u64,
    end: u64,
}

impl Read for Part {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end - self.start).unwrap_or(usize::MAX);
        let most = left.min(room.len());
        if most == 0 {
            return Ok(0);
        }
        match self
            .archive
            .get_ref()
            .read_at(&mut room[..most], self.start)?
        {
            0 => Err(Damage::cut_off()),
            count => {
                self.start += count as u64;
                Ok(count)
            }
        }
    }
}

/// A member whose length and checksum are compared when it ends. All that it has up to the length
/// that was said is given before an error is.
struct Checked {
    reader: Box<dyn Read + Send>,
    sum: Crc32,
    checksum: u32,
    left: u64,
}

impl Read for Checked {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        if room.is_empty() {
            return Ok(0);
        }
        if self.left == 0 {
            return match self.reader.read(&mut [0])? {
                0 if self.sum.checksum() == self.checksum => Ok(0),
                0 => Err(Damage::invalid("zip: the checksum does not match")),
                _ => Err(Damage::invalid("zip: a member is longer than was said")),
            };
        }
        let most = usize::try_from(self.left).unwrap_or(usize::MAX);
        let most = most.min(room.len());
        match self.reader.read(&mut room[..most])? {
            0 => Err(Damage::invalid("zip: a member is shorter than was said")),
            count => {
                self.sum.update(&room[..count]);
                self.left -= count as u64;
                Ok(count)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rawzip::ZipArchiveWriter;
    use std::io::{Cursor, Write};

    fn zip(members: &[(&str, &[u8])]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut archive = ZipArchiveWriter::new(&mut bytes);
        for (name, content) in members {
            let (mut entry, config) = archive.new_file(name).start().unwrap();
            let mut writer = config.wrap(&mut entry);
            writer.write_all(content).unwrap();
            let (_, descriptor) = writer.finish().unwrap();
            entry.finish(descriptor).unwrap();
        }
        archive.finish().unwrap();
        bytes
    }

    /// Of each member what could be read, and whether that was all.
    fn read(bytes: &[u8]) -> io::Result<Vec<(String, Vec<u8>, bool)>> {
        let mut zip = Zip::open(Box::new(Cursor::new(bytes.to_vec())), None)?;
        let mut all = Vec::new();
        while let Some(member) = zip.next()? {
            let mut content = Vec::new();
            let mut reader = member.content.unwrap_or_else(|_| Box::new(io::empty()));
            let done = reader.read_to_end(&mut content);
            all.push((member.name, content, done.is_ok()));
        }
        Ok(all)
    }

    #[test]
    fn members_come_in_their_order() {
        let all = read(&zip(&[("b", b"one"), ("a/c", b""), ("a/b", b"two")])).unwrap();
        let expected = [("b", "one"), ("a/c", ""), ("a/b", "two")];
        assert_eq!(
            all,
            expected.map(|(name, text)| (name.into(), text.into(), true))
        );
        assert_eq!(read(&zip(&[])).unwrap(), []);
    }

    #[test]
    fn of_a_member_with_a_wrong_checksum_nothing_is_lost() {
        let content = "x".repeat(100_000);
        let mut bytes = zip(&[("a", content.as_bytes()), ("b", b"two")]);
        let at = bytes.iter().position(|&byte| byte == b'x').unwrap();
        bytes[at + 500] = b'y';
        let all = read(&bytes).unwrap();
        assert_eq!((all[0].1.len(), all[0].2), (100_000, false));
        assert_eq!(all[1], ("b".into(), "two".into(), true));
    }

    #[test]
    fn what_is_said_of_a_length_is_not_believed() {
        let whole = zip(&[("a", b"some words")]);
        // The list names the length behind the sum and the packed length.
        let list = whole
            .windows(4)
            .position(|four| four == b"PK\x01\x02")
            .unwrap();
        for (length, given) in [
            (3, &b"som"[..]),
            (11, b"some words"),
            (u32::MAX - 1, b"some words"),
        ] {
            let mut bytes = whole.clone();
            bytes[list + 24..list + 28].copy_from_slice(&u32::to_le_bytes(length));
            let all = read(&bytes).unwrap();
            assert_eq!(all, [("a".into(), given.to_vec(), false)], "{length}");
        }
    }
}
