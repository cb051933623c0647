//! Zip archives, zip64 among them, by the list at their end. The only file that knows rawzip.
//!
//! Nothing that an archive says of its sizes is believed: members are unpacked as a stream, and
//! their length and checksum held against what was said when they end. Members may not take more
//! bytes together than the archive has: some that overlap make petabytes out of a few.

use std::io::{self, Read, SeekFrom};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rawzip::{
    CompressionMethod, MAX_CENTRAL_DIRECTORY_RECORD_SIZE, ReaderAt, ZipArchive,
    ZipArchiveEntryWayfinder, ZipLocator,
};

use super::archive::{Member, Members};
use super::counted::Damage;
use super::foreign::Foreign;
use super::gzip;
use super::input::name_of;
use super::packed::Packing;
use super::source::ReadSeek;

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
pub(super) struct Zip {
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
}

fn damage(error: &rawzip::Error) -> io::Error {
    Damage::invalid(&format!("zip: {error}"))
}

impl Zip {
    pub(super) fn open(
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
        Ok(Ok(Box::new(Checked(place.verifying_reader(unpacked)))))
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

/// A member whose length and checksum are compared when it ends.
struct Checked<R>(R);

impl<R: Read> Read for Checked<R> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        self.0.read(room).map_err(|error| {
            let is_own = error
                .get_ref()
                .and_then(|inner| inner.downcast_ref::<rawzip::Error>())
                .is_some();
            match is_own {
                true => Damage::invalid(&format!("zip: {error}")),
                false => error,
            }
        })
    }
}
