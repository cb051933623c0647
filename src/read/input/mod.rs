//! What is read: a file, what a command makes of it, or any reader.

pub(in crate::read) mod command;
pub(in crate::read) mod counted;
pub(in crate::read) mod file_text;
pub(in crate::read) mod identity;
#[cfg(feature = "worker")]
pub(crate) mod part;
pub(in crate::read) mod spool;
pub(in crate::read) mod walk;

use std::borrow::Cow;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::ReadSettings;
use super::format::InputFormat;
use crate::document::TextNotes;
use crate::error::{Error, ErrorKind};
use crate::read::cut::blocks::Start;
use crate::read::format::json_array::looks_like_array;
use crate::read::format::parquet;
use crate::read::format::parquet::Layout;
use crate::read::input::command::Command;
use crate::read::input::counted::CountedReader;
use crate::read::input::identity::FileIdentity;
use crate::read::open::archive::HEAD_BYTES;
use crate::read::open::compression::Packing;
use crate::read::open::source::Source;

/// One stream of bytes with a name.
pub struct Input {
    name: Arc<str>,
    origin: Origin,
    /// Nobody named it: it was found in a directory.
    is_found: bool,
    /// Only what is in it counts, if it is an archive.
    if_archive: bool,
    /// The directory in which it was found, if it was.
    root: Option<Arc<Path>>,
    /// How often the same file was named or found besides, which is not read.
    repeats: u64,
}

enum Origin {
    Path(PathBuf),
    /// What a command makes of a file.
    Command(Arc<Command>, PathBuf),
    /// A part of a Parquet file.
    RowGroup(RowGroup),
    /// Some lines of a file of lines.
    #[cfg(feature = "worker")]
    Lines(part::LinesPart),
    Reader(Box<dyn Read + Send>),
    Unreadable(io::Error),
}

/// A row group of a Parquet file that has been looked at.
pub(super) struct RowGroup {
    pub(super) path: PathBuf,
    pub(super) layout: Arc<Layout>,
    pub(super) index: usize,
    /// Rows of the file before it.
    first_row: u64,
}

impl Input {
    fn new(name: impl Into<Arc<str>>, origin: Origin) -> Self {
        Self {
            name: name.into(),
            origin,
            is_found: false,
            if_archive: false,
            root: None,
            repeats: 0,
        }
    }

    /// A file, opened when its turn comes.
    pub fn from_path(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        let name: Arc<str> = name(&path).into();
        Self::new(name, Origin::Path(path))
    }

    /// Any stream of bytes, under the name that ids and messages give it.
    pub fn from_reader(name: &str, reader: impl Read + Send + 'static) -> Self {
        Self::new(name, Origin::Reader(Box::new(reader)))
    }

    /// The text that a command makes of a file, one document.
    pub fn from_command(command: &Arc<Command>, path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        let name: Arc<str> = name(&path).into();
        Self::new(name, Origin::Command(Arc::clone(command), path))
    }

    /// The lines of a file that start in a range of its bytes.
    #[cfg(feature = "worker")]
    pub(crate) fn from_lines(name: &str, part: part::LinesPart) -> Self {
        Self::new(name, Origin::Lines(part))
    }

    /// The same under another name.
    #[cfg(feature = "worker")]
    pub(crate) fn named(self, name: &str) -> Self {
        Self {
            name: name.into(),
            ..self
        }
    }

    /// A path that cannot be read, which is said in its turn.
    pub(super) fn unreadable(path: &Path, error: io::Error) -> Self {
        Self::new(name(path), Origin::Unreadable(error))
    }

    /// The same, found in a directory: if there is no text in it, it is passed over.
    pub(crate) fn found(self, root: &Arc<Path>) -> Self {
        Self {
            is_found: true,
            root: Some(Arc::clone(root)),
            ..self
        }
    }

    /// The same, of which only what is in it counts, if it is an archive.
    pub(super) fn if_archive(self) -> Self {
        Self {
            if_archive: true,
            ..self
        }
    }

    /// Returns which file it is, if it is a regular one.
    pub(crate) fn identity(&self) -> Option<FileIdentity> {
        let (Origin::Path(path) | Origin::Command(_, path)) = &self.origin else {
            return None;
        };
        let metadata = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
        FileIdentity::of(path, &metadata)
    }

    /// Returns how often the same file was named or found besides.
    pub(crate) fn repeats(&self) -> u64 {
        self.repeats
    }

    #[cfg(test)]
    pub(super) fn is_if_archive(&self) -> bool {
        self.if_archive
    }

    /// Takes another input that is the same file: what is named is read as such, whatever a
    /// directory would make of it.
    pub(super) fn merge_repeated(&mut self, other: &Self) {
        self.is_found &= other.is_found;
        self.if_archive &= other.if_archive;
        self.repeats += 1 + other.repeats;
    }

    /// The name that ids and messages give it.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// The part of its name, and of the names of what is inside it, that is the FILE which was
    /// named: a directory, or itself.
    pub(crate) fn named_part(&self) -> usize {
        match &self.root {
            Some(root) => name(root).len(),
            None => self.name.len(),
        }
    }

    /// Size before decompression, if it is a regular file.
    pub fn bytes(&self) -> Option<u64> {
        self.path()
            .and_then(|path| fs::metadata(path).ok())
            .filter(fs::Metadata::is_file)
            .map(|metadata| metadata.len())
    }

    /// Returns its path, if it is a file.
    pub fn path(&self) -> Option<&Path> {
        match &self.origin {
            Origin::Path(path) | Origin::Command(_, path) => Some(path),
            Origin::RowGroup(part) => Some(&part.path),
            #[cfg(feature = "worker")]
            Origin::Lines(part) => Some(&part.path),
            Origin::Reader(_) | Origin::Unreadable(_) => None,
        }
    }

    /// Its path, if it is a file that is read as it stands.
    #[cfg(feature = "worker")]
    pub(crate) fn plain_path(&self) -> Option<&Path> {
        match &self.origin {
            Origin::Path(path) if !self.if_archive => Some(path),
            _ => None,
        }
    }

    /// The same once more, if it is a file.
    #[cfg(feature = "worker")]
    pub(crate) fn once_more(&self) -> Option<Self> {
        self.again()
    }

    /// Returns the directory in which it was found, if it was.
    #[cfg(feature = "worker")]
    pub(crate) fn found_in(&self) -> Option<&Path> {
        self.root.as_deref()
    }

    /// Refuses what is not there or cannot be opened. Pipes are not opened, which would take
    /// from them.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let checked = match &self.origin {
            // Nothing is lost by a link that leads back to where it is.
            Origin::Unreadable(error) if error.kind() == io::ErrorKind::Other => Ok(()),
            Origin::Unreadable(error) => Err(copy_of(error)),
            _ => match self.path() {
                Some(path) => fs::metadata(path).and_then(|found| match found.file_type() {
                    kind if kind.is_file() || kind.is_dir() => File::open(path).map(drop),
                    _ => Ok(()),
                }),
                None => Ok(()),
            },
        };
        checked.map_err(|error| Error::in_file(&self.name, ErrorKind::Unreadable(error)))
    }

    /// Whether it is a regular file, which can be opened again.
    pub(crate) fn is_file(&self) -> bool {
        self.path().is_some_and(Path::is_file)
    }

    /// The same once more, if it is a regular file that can be opened again.
    pub(super) fn again(&self) -> Option<Self> {
        let path = self.path().filter(|path| path.is_file())?;
        let origin = match &self.origin {
            Origin::Command(command, _) => Origin::Command(Arc::clone(command), path.into()),
            #[cfg(feature = "worker")]
            Origin::Lines(part) => Origin::Lines(part.clone()),
            _ => Origin::Path(path.into()),
        };
        Some(self.with_origin(origin))
    }

    /// The same, read from elsewhere.
    fn with_origin(&self, origin: Origin) -> Self {
        Self {
            name: Arc::clone(&self.name),
            origin,
            is_found: self.is_found,
            if_archive: self.if_archive,
            root: self.root.clone(),
            repeats: self.repeats,
        }
    }

    /// The same once more, if it cannot be read.
    pub(super) fn unreadable_again(&self) -> Option<Self> {
        let error = match &self.origin {
            Origin::Unreadable(error) => copy_of(error),
            Origin::Path(path) => fs::metadata(path).err()?,
            _ => return None,
        };
        Some(self.with_origin(Origin::Unreadable(error)))
    }

    /// Its path below the directory that was named, or its name alone.
    pub fn path_below(&self) -> &str {
        let below = match &self.root {
            Some(root) => self.name.get(name(root).len()..),
            None => self.name.rsplit(['/', std::path::MAIN_SEPARATOR]).next(),
        };
        let below = below.unwrap_or(&self.name);
        below.trim_start_matches(['/', std::path::MAIN_SEPARATOR])
    }

    /// The same once more, if it is a regular file that is read as it stands.
    pub(crate) fn as_file(&self) -> Option<Self> {
        match self.origin {
            Origin::Path(_) => self.again(),
            _ => None,
        }
    }

    /// Whether it is a regular file that is neither unpacked when it is read, nor an array whose
    /// elements become lines.
    pub(crate) fn has_lines_of_its_own(&self) -> bool {
        let Origin::Path(path) = &self.origin else {
            return false;
        };
        let mut head = Vec::new();
        let is_read = File::open(path).is_ok_and(|file| {
            let mut start = file.take(HEAD_BYTES as u64);
            start.read_to_end(&mut head).is_ok()
        });
        is_read && !looks_like_array(&head) && !self.is_packed_file()
    }

    /// Whether it is a regular file that must be unpacked each time it is read.
    pub fn is_packed_file(&self) -> bool {
        let is_packed = |path: &Path| {
            let mut head = [0; 16];
            let is_read = File::open(path).is_ok_and(|mut file| file.read_exact(&mut head).is_ok());
            is_read && (Packing::of(&head).is_some() || head.starts_with(b"PK"))
        };
        match &self.origin {
            Origin::Path(path) => path.is_file() && is_packed(path),
            Origin::Command(..) | Origin::RowGroup(_) => true,
            #[cfg(feature = "worker")]
            Origin::Lines(_) => false,
            Origin::Reader(_) | Origin::Unreadable(_) => false,
        }
    }

    /// What is to be known when it starts.
    pub(super) fn start(&self) -> Start {
        Start {
            name: Arc::clone(&self.name),
            format: match self.origin {
                Origin::Command(..) => Some(InputFormat::Text),
                Origin::RowGroup(_) => Some(InputFormat::Parquet),
                #[cfg(feature = "worker")]
                Origin::Lines(_) => Some(InputFormat::Jsonl),
                _ => None,
            },
            encoding: None,
            notes: TextNotes::default(),
            is_printed: match &self.origin {
                Origin::Command(_, path) => fs::metadata(path).is_ok_and(|file| file.len() > 0),
                _ => false,
            },
            is_found: self.is_found,
            if_archive: self.if_archive,
            is_member: false,
            first_byte: match &self.origin {
                #[cfg(feature = "worker")]
                Origin::Lines(part) => part.start,
                _ => 0,
            },
            first_record: match &self.origin {
                Origin::RowGroup(part) => part.first_row,
                #[cfg(feature = "worker")]
                Origin::Lines(part) => part.lines_before,
                _ => 0,
            },
        }
    }

    pub(super) fn row_group(&self) -> Option<&RowGroup> {
        match &self.origin {
            Origin::RowGroup(part) => Some(part),
            _ => None,
        }
    }

    /// The parts of it that can be read at the same time: the row groups of a Parquet file, else
    /// itself alone.
    pub(super) fn parts(self, settings: &ReadSettings) -> Vec<Self> {
        let Some((path, layout)) = self.layout(settings) else {
            return vec![self];
        };
        let mut first_row = 0;
        let part = |(index, rows)| {
            let group = RowGroup {
                path: path.clone(),
                layout: Arc::clone(&layout),
                index,
                first_row,
            };
            first_row += rows;
            self.with_origin(Origin::RowGroup(group))
        };
        layout.rows().enumerate().map(part).collect()
    }

    /// The layout of a Parquet file of several row groups. What is wrong with others is told
    /// when they are read.
    fn layout(&self, settings: &ReadSettings) -> Option<(PathBuf, Arc<Layout>)> {
        let Origin::Path(path) = &self.origin else {
            return None;
        };
        let is_wanted = matches!(settings.format, None | Some(InputFormat::Parquet));
        if !is_wanted || self.if_archive || !path.is_file() || parquet::foreign().is_some() {
            return None;
        }
        let mut file = File::open(path).ok()?;
        let mut head = [0; parquet::MAGIC.len()];
        file.read_exact(&mut head).ok()?;
        if head != parquet::MAGIC {
            return None;
        }
        let layout = Layout::read(Box::new(file), settings).ok()?;
        (layout.rows().count() > 1).then(|| (path.clone(), Arc::new(layout)))
    }

    pub(super) fn open(self) -> io::Result<Box<dyn Read + Send>> {
        match self.origin {
            Origin::Path(path) | Origin::RowGroup(RowGroup { path, .. }) => {
                Ok(Box::new(File::open(path)?))
            }
            Origin::Command(command, path) => command.run(&path),
            #[cfg(feature = "worker")]
            Origin::Lines(part) => part.open(),
            Origin::Reader(reader) => Ok(reader),
            Origin::Unreadable(error) => Err(error),
        }
    }

    /// Opens it. What is read of it is added to `taken`.
    pub(super) fn source(self, taken: &Arc<AtomicU64>) -> io::Result<Source> {
        let path = match &self.origin {
            Origin::Path(path) => Some(path.clone()),
            _ => None,
        };
        let reader = CountedReader::new(self.open()?, taken);
        Ok(Source::new(Box::new(reader)).at_path(path))
    }
}

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Input").field("name", &self.name).finish()
    }
}

/// Returns an error that says the same.
fn copy_of(error: &io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(number) => io::Error::from_raw_os_error(number),
        None => io::Error::new(error.kind(), error.to_string()),
    }
}

#[cfg(unix)]
fn name(path: &Path) -> Cow<'_, str> {
    use std::os::unix::ffi::OsStrExt;
    name_of(path.as_os_str().as_bytes())
}

#[cfg(not(unix))]
fn name(path: &Path) -> Cow<'_, str> {
    path.to_string_lossy()
}

/// Stands before the two digits of a byte that is not UTF-8.
const ESCAPE: char = char::REPLACEMENT_CHARACTER;

/// Returns a path as text, so that different paths have different names.
///
/// A path that is UTF-8 is its own name. In any other, each byte that is not UTF-8 is written as
/// U+FFFD and two digits, and a U+FFFD as its three bytes. A path that is UTF-8 and reads as such a
/// name gets one U+FFFD more.
pub(super) fn name_of(path: &[u8]) -> Cow<'_, str> {
    if let Ok(name) = std::str::from_utf8(path) {
        return if name.contains(ESCAPE) {
            with_longer_escapes(name).into()
        } else {
            name.into()
        };
    }
    let mut name = String::new();
    let push_bytes = |name: &mut String, bytes: &[u8]| {
        for byte in bytes {
            name.push_str(&format!("{ESCAPE}{byte:02X}"));
        }
    };
    for chunk in path.utf8_chunks() {
        for c in chunk.valid().chars() {
            if c == ESCAPE {
                push_bytes(&mut name, ESCAPE.encode_utf8(&mut [0; 4]).as_bytes());
            } else {
                name.push(c);
            }
        }
        push_bytes(&mut name, chunk.invalid());
    }
    name.into()
}

/// Adds a U+FFFD to each run of them that two digits follow.
fn with_longer_escapes(text: &str) -> String {
    let is_digit = |byte: &u8| byte.is_ascii_digit() || (b'A'..=b'F').contains(byte);
    let mut name = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(ESCAPE) {
        let after = rest[start..].trim_start_matches(ESCAPE);
        name.push_str(&rest[..rest.len() - after.len()]);
        if after.bytes().take(2).filter(is_digit).count() == 2 {
            name.push(ESCAPE);
        }
        rest = after;
    }
    name + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[cfg(unix)]
    #[test]
    fn a_path_that_is_text_is_its_own_name_and_no_other_path_has_it() {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt;
        for (bytes, expected) in [
            (&b"d/\xff"[..], "d/\u{fffd}FF"),
            (b"d/\xfe", "d/\u{fffd}FE"),
            (b"caf\xe9 100%", "caf\u{fffd}E9 100%"),
            (b"\xd0\x96\xd0", "\u{416}\u{fffd}D0"),
            (
                b"\xef\xbf\xbd\xff",
                "\u{fffd}EF\u{fffd}BF\u{fffd}BD\u{fffd}FF",
            ),
            // Text stays as it is, unless it could be what bytes became.
            (b"%CF%F0%E8.html", "%CF%F0%E8.html"),
            (b"c%FF", "c%FF"),
            (b"c\xef\xbf\xbd", "c\u{fffd}"),
            (b"c\xef\xbf\xbdFF", "c\u{fffd}\u{fffd}FF"),
        ] {
            let input = Input::from_path(Path::new(OsStr::from_bytes(bytes)));
            assert_eq!(&**input.name(), expected);
        }
    }
    proptest! {
        #[test]
        fn different_names_of_files_are_different_ids(
            one in proptest::collection::vec(part(), 0..6),
            two in proptest::collection::vec(part(), 0..6),
        ) {
            let [one, two] = [one.concat(), two.concat()];
            prop_assert_eq!(name_of(&one) == name_of(&two), one == two);
        }
    }

    /// Bytes of names, and what they may become.
    fn part() -> impl Strategy<Value = &'static [u8]> {
        proptest::sample::select(vec![
            &b"\xff"[..],
            b"\xd0",
            b"\x96",
            b"\xd0\x96",
            b"\xef\xbf\xbd",
            b"\xef",
            b"\xbf\xbd",
            b"EF",
            b"BF",
            b"FF",
            b"D0",
            b"96",
            b"a",
            b"F",
        ])
    }
}
