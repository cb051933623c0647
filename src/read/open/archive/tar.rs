//! Tar archives: ustar, GNU and pax, as they come. The only file that knows tar.

use std::io::{self, Read};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tar::{EntryType, Header, PaxExtensions};

use crate::read::format::foreign::Foreign;
use crate::read::input::counted::{Damage, Filled, fill};
use crate::read::input::name_of;
use crate::read::open::archive::{Member, Members};

const BLOCK_BYTES: usize = 512;

/// Longest name, or list of properties, of a member.
const PROPERTIES_BYTES_MAX: u64 = 1 << 20;

const SPARSE: Foreign = Foreign::new(
    "a member with holes in it (sparse)",
    "unpack the archive and name the folder",
);

/// An archive that is read in sequence.
pub(in crate::read) struct Tar(Arc<Mutex<Blocks>>);

struct Blocks {
    reader: Box<dyn Read + Send>,
    /// Bytes of the present member that have not been read, and of what fills its last block.
    left: u64,
    padding: u64,
    /// The number of the present member.
    member: u64,
    is_over: bool,
    /// It ended inside a member, which was told there.
    is_broken: bool,
}

impl Tar {
    pub(in crate::read) fn new(reader: Box<dyn Read + Send>) -> Self {
        Self(Arc::new(Mutex::new(Blocks {
            reader,
            left: 0,
            padding: 0,
            member: 0,
            is_over: false,
            is_broken: false,
        })))
    }
}

fn lock(blocks: &Mutex<Blocks>) -> MutexGuard<'_, Blocks> {
    blocks.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Members for Tar {
    fn next(&mut self) -> io::Result<Option<Member>> {
        let mut blocks = lock(&self.0);
        if blocks.is_over {
            return Ok(None);
        }
        // Whatever happens, nobody comes back behind an error.
        blocks.is_over = true;
        if blocks.is_broken {
            return Err(Damage::cut_off());
        }
        let Some((name, is_sparse)) = blocks.next_file()? else {
            return Ok(None);
        };
        blocks.is_over = false;
        blocks.member += 1;
        let content = Content {
            member: blocks.member,
            blocks: Arc::clone(&self.0),
        };
        Ok(Some(Member {
            name,
            content: match is_sparse {
                true => Err(SPARSE),
                false => Ok(Box::new(content)),
            },
        }))
    }
}

/// What the headers before a member's own say of it.
#[derive(Default)]
struct Properties {
    name: Option<Vec<u8>>,
    size: Option<u64>,
    is_sparse: bool,
}

impl Blocks {
    /// The next file, past everything else: its name, and whether it has holes.
    fn next_file(&mut self) -> io::Result<Option<(String, bool)>> {
        let mut properties = Properties::default();
        loop {
            self.pass()?;
            let Some(block) = self.block()? else {
                return Ok(None);
            };
            let header = Header::from_byte_slice(&block);
            check_sum(header)?;
            let kind = header.entry_type();
            let size = header.entry_size().map_err(Damage::wrap)?;
            self.start(size);
            match kind {
                EntryType::GNULongName => {
                    let mut name = self.properties()?;
                    name.truncate(name.iter().position(|&b| b == 0).unwrap_or(name.len()));
                    properties.name = Some(name);
                }
                EntryType::XHeader => {
                    let list = self.properties()?;
                    properties.read(&list)?;
                }
                EntryType::GNULongLink | EntryType::XGlobalHeader => {}
                EntryType::Regular | EntryType::Continuous | EntryType::GNUSparse => {
                    if let Some(size) = properties.size {
                        self.start(size);
                    }
                    let is_sparse = properties.is_sparse || kind == EntryType::GNUSparse;
                    if header.as_gnu().is_some_and(tar::GnuHeader::is_extended)
                        && kind == EntryType::GNUSparse
                    {
                        self.pass_extensions()?;
                    }
                    let name = properties
                        .name
                        .take()
                        .unwrap_or_else(|| header.path_bytes().into_owned());
                    // So the first versions wrote folders.
                    if !name.ends_with(b"/") {
                        return Ok(Some((name_of(&name).into_owned(), is_sparse)));
                    }
                    properties = Properties::default();
                }
                _ => properties = Properties::default(),
            }
        }
    }

    fn start(&mut self, size: u64) {
        self.left = size;
        self.padding = size.next_multiple_of(BLOCK_BYTES as u64).wrapping_sub(size);
        self.padding %= BLOCK_BYTES as u64;
    }

    /// Passes over what is left of the present member.
    fn pass(&mut self) -> io::Result<()> {
        let left = self.left.saturating_add(self.padding);
        (self.left, self.padding) = (0, 0);
        match io::copy(&mut (&mut self.reader).take(left), &mut io::sink())? < left {
            true => Err(Damage::cut_off()),
            false => Ok(()),
        }
    }

    /// The next header; `None` behind the last.
    fn block(&mut self) -> io::Result<Option<[u8; BLOCK_BYTES]>> {
        let mut block = [0; BLOCK_BYTES];
        match fill(&mut self.reader, &mut block) {
            (_, Filled::Whole) => Ok((block != [0; BLOCK_BYTES]).then_some(block)),
            (0, Filled::Ended) => Ok(None),
            (_, Filled::Ended) => Err(Damage::cut_off()),
            (_, how) => Damage::or_end(how).map(|_| None),
        }
    }

    /// The content of a member that tells of another.
    fn properties(&mut self) -> io::Result<Vec<u8>> {
        if self.left > PROPERTIES_BYTES_MAX {
            return Err(Damage::invalid("a name without an end"));
        }
        let mut list = vec![0; self.left as usize];
        self.left = 0;
        match fill(&mut self.reader, &mut list) {
            (_, Filled::Whole) => Ok(list),
            (_, Filled::Ended) => Err(Damage::cut_off()),
            (_, how) => Damage::or_end(how).map(|_| Vec::new()),
        }
    }

    /// Passes over further blocks that tell of holes, each of which tells whether another
    /// follows.
    fn pass_extensions(&mut self) -> io::Result<()> {
        const IS_EXTENDED: usize = 504;
        while let Some(block) = self.block()? {
            if block[IS_EXTENDED] == 0 {
                break;
            }
        }
        Ok(())
    }
}

impl Properties {
    fn read(&mut self, list: &[u8]) -> io::Result<()> {
        for property in PaxExtensions::new(list) {
            let property = property.map_err(Damage::wrap)?;
            let value = property.value_bytes();
            match property.key_bytes() {
                b"path" => self.name = Some(value.to_vec()),
                b"size" => {
                    let size = std::str::from_utf8(value)
                        .ok()
                        .and_then(|size| size.parse().ok());
                    let invalid = || Damage::invalid("a size that is no number");
                    self.size = Some(size.ok_or_else(invalid)?);
                }
                key => self.is_sparse |= key.starts_with(b"GNU.sparse."),
            }
        }
        Ok(())
    }
}

/// A header holds the sum of its bytes, its own place taken for spaces.
fn check_sum(header: &Header) -> io::Result<()> {
    const SUM: std::ops::Range<usize> = 148..156;
    let bytes = header.as_bytes();
    let around = [&bytes[..SUM.start], &bytes[SUM.end..]];
    let sum: u32 = around
        .iter()
        .flat_map(|part| part.iter())
        .map(|&b| u32::from(b))
        .sum();
    let sum = sum + SUM.len() as u32 * u32::from(b' ');
    match header.cksum() {
        Ok(named) if named == sum => Ok(()),
        _ => Err(Damage::invalid("a header's checksum does not match")),
    }
}

/// The content of a member, for as long as no other is asked for.
struct Content {
    blocks: Arc<Mutex<Blocks>>,
    member: u64,
}

impl Read for Content {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let mut blocks = lock(&self.blocks);
        if blocks.member != self.member || blocks.left == 0 || room.is_empty() {
            return Ok(0);
        }
        let most = usize::try_from(blocks.left)
            .unwrap_or(usize::MAX)
            .min(room.len());
        let count = match blocks.reader.read(&mut room[..most]) {
            Ok(0) => Err(Damage::cut_off()),
            read => read,
        };
        match &count {
            Ok(count) => blocks.left -= *count as u64,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => blocks.is_broken = true,
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn tar(members: &[(&str, &[u8])]) -> Vec<u8> {
        let mut builder = tar::Builder::new(Vec::new());
        for (name, content) in members {
            let mut header = Header::new_gnu();
            header.set_size(content.len() as u64);
            builder.append_data(&mut header, name, *content).unwrap();
        }
        builder.into_inner().unwrap()
    }

    /// Of each member what could be read, and what was wrong at the end.
    fn read(bytes: &[u8]) -> (Vec<(String, Vec<u8>)>, Option<String>) {
        let mut tar = Tar::new(Box::new(Cursor::new(bytes.to_vec())));
        let mut all = Vec::new();
        loop {
            match tar.next() {
                Ok(Some(member)) => {
                    let mut content = Vec::new();
                    if let Ok(mut reader) = member.content {
                        // What is wrong is told once more behind it.
                        let _ = reader.read_to_end(&mut content);
                    }
                    all.push((member.name, content));
                }
                Ok(None) => return (all, None),
                Err(error) => return (all, Some(error.to_string())),
            }
        }
    }

    #[test]
    fn members_come_in_their_order_whatever_their_length() {
        let long = "d/".repeat(200) + "name";
        let large = vec![b'x'; 3 * BLOCK_BYTES + 1];
        let members = [
            ("b", &b"one"[..]),
            (&long, &large),
            ("empty", b""),
            ("a", &large[..BLOCK_BYTES]),
        ];
        let (all, wrong) = read(&tar(&members));
        assert_eq!(wrong, None);
        let expected = members.map(|(name, content)| (name.to_owned(), content.to_vec()));
        assert_eq!(all, expected);
    }

    #[test]
    fn a_member_that_is_not_read_is_passed_over() {
        let bytes = tar(&[("a", &[b'x'; 2000]), ("b", b"two")]);
        let mut tar = Tar::new(Box::new(Cursor::new(bytes)));
        let first = tar.next().unwrap().unwrap();
        let second = tar.next().unwrap().unwrap();
        let mut content = String::new();
        // The first is gone.
        assert_eq!(first.content.ok().unwrap().read(&mut [0]).unwrap(), 0);
        let mut reader = second.content.ok().unwrap();
        reader.read_to_string(&mut content).unwrap();
        assert_eq!(content, "two");
        assert!(tar.next().unwrap().is_none());
        assert!(tar.next().unwrap().is_none());
    }

    #[test]
    fn sizes_and_sums_that_lie_end_it() {
        let whole = tar(&[("a", b"one"), ("b", b"two")]);
        let mut huge = whole.clone();
        let mut header = Header::new_gnu();
        header.set_path("a").unwrap();
        header.set_size(u64::MAX / 2);
        header.set_cksum();
        huge[..BLOCK_BYTES].copy_from_slice(header.as_bytes());
        let (all, wrong) = read(&huge);
        assert_eq!(all.len(), 1);
        assert_eq!(wrong.as_deref(), Some("the data is cut off"));
        let mut sum = whole;
        sum[2 * BLOCK_BYTES] ^= 1;
        let (all, wrong) = read(&sum);
        assert_eq!(all, [("a".to_owned(), b"one".to_vec())]);
        assert!(wrong.is_some_and(|wrong| wrong.contains("checksum")));
    }
}
