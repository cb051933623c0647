//! What is read: files, the files of a directory, or any reader.

use std::borrow::Cow;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::stream::is_packed;
use crate::write::{TEMPORARY_PREFIX, TEMPORARY_SUFFIX};

/// One stream of bytes with a name.
pub struct Input {
    name: Arc<str>,
    origin: Origin,
    /// The directory in which it was found, if it was.
    root: Option<Arc<Path>>,
}

enum Origin {
    Path(PathBuf),
    Reader(Box<dyn Read + Send>),
}

impl Input {
    /// A file, opened when its turn comes.
    pub fn from_path(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        Self {
            name: name(&path).into(),
            origin: Origin::Path(path),
            root: None,
        }
    }

    /// Any stream of bytes, under the name that ids and messages give it.
    pub fn from_reader(name: &str, reader: impl Read + Send + 'static) -> Self {
        Self {
            name: name.into(),
            origin: Origin::Reader(Box::new(reader)),
            root: None,
        }
    }

    /// The name that ids and messages give it.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// The folder that it is in, the `level`th below the directory in which it was found.
    pub(crate) fn folder(&self, level: usize) -> Option<Cow<'_, str>> {
        let (Origin::Path(path), Some(root)) = (&self.origin, &self.root) else {
            return None;
        };
        let folders = path.strip_prefix(root).ok()?.parent()?;
        let folder = folders.components().nth(level.checked_sub(1)?)?;
        Some(name(Path::new(folder.as_os_str())))
    }

    /// Size before decompression, if it is a regular file.
    pub fn bytes(&self) -> Option<u64> {
        match &self.origin {
            Origin::Path(path) => fs::metadata(path)
                .ok()
                .filter(fs::Metadata::is_file)
                .map(|metadata| metadata.len()),
            Origin::Reader(_) => None,
        }
    }

    /// Its path, if it is a regular file that can be opened again.
    pub(super) fn regular_file(&self) -> Option<&Path> {
        match &self.origin {
            Origin::Path(path) if path.is_file() => Some(path),
            _ => None,
        }
    }

    /// Whether it is a regular file that must be unpacked each time it is read.
    pub fn is_packed_file(&self) -> bool {
        let mut head = [0; 4];
        self.regular_file()
            .and_then(|path| File::open(path).ok())
            .is_some_and(|mut file| file.read_exact(&mut head).is_ok() && is_packed(&head))
    }

    pub(super) fn open(self) -> io::Result<Box<dyn Read + Send>> {
        match self.origin {
            Origin::Path(path) => Ok(Box::new(File::open(path)?)),
            Origin::Reader(reader) => Ok(reader),
        }
    }
}

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Input").field("name", &self.name).finish()
    }
}

/// The path as text: as it is, if it is text. Otherwise the bytes that are none are written
/// as in an address, `%FF`, so that different files have different names, and what would
/// read as such an escape is escaped too.
#[cfg(unix)]
fn name(path: &Path) -> Cow<'_, str> {
    use std::os::unix::ffi::OsStrExt;
    if let Some(name) = path.to_str() {
        return name.into();
    }
    let mut name = String::new();
    for chunk in path.as_os_str().as_bytes().utf8_chunks() {
        for (at, c) in chunk.valid().char_indices() {
            let behind = chunk.valid().as_bytes().get(at + 1..at + 3);
            let is_escape = behind.is_some_and(|two| two.iter().all(u8::is_ascii_hexdigit));
            match c == '%' && is_escape {
                true => name.push_str("%25"),
                false => name.push(c),
            }
        }
        for byte in chunk.invalid() {
            name.push_str(&format!("%{byte:02X}"));
        }
    }
    name.into()
}

#[cfg(not(unix))]
fn name(path: &Path) -> Cow<'_, str> {
    path.to_string_lossy()
}

/// The inputs behind a path: itself, or for a directory the files in it, by
/// name, folders in their place.
///
/// Links to files are followed, links to folders are not, so that a walk ends;
/// pipes and devices are passed over. What cannot be looked at stays in the list
/// and fails when it is opened, so that it is reported in its turn.
pub fn inputs(path: &Path) -> Vec<Input> {
    let mut found = Vec::new();
    if path.is_dir() {
        walk(path, &mut found);
        let root: Arc<Path> = path.into();
        for input in &mut found {
            input.root = Some(Arc::clone(&root));
        }
    } else {
        found.push(Input::from_path(path));
    }
    found
}

fn walk(folder: &Path, found: &mut Vec<Input>) {
    let Ok(entries) = fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>) else {
        found.push(Input::from_path(folder));
        return;
    };
    let mut names: Vec<_> = entries.into_iter().map(|entry| entry.file_name()).collect();
    // What a run that was killed left half written is no input.
    names.retain(|name| !is_temporary(&name.to_string_lossy()));
    names.sort_unstable();
    for name in names {
        let path = folder.join(name);
        let is_folder = fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_dir());
        if is_folder {
            walk(&path, found);
        } else if fs::metadata(&path).map_or(true, |metadata| metadata.is_file()) {
            found.push(Input::from_path(path));
        }
    }
}

/// The names that an output has until it is finished.
fn is_temporary(name: &str) -> bool {
    name.starts_with(TEMPORARY_PREFIX) && name.ends_with(TEMPORARY_SUFFIX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_walked_in_order_of_names() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b", "a/2", "a/1", "a.txt", ".simdup-x1.tmp"] {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        let names: Vec<String> = inputs(folder.path())
            .iter()
            .map(|input| {
                let path = Path::new(&**input.name());
                let path = path.strip_prefix(folder.path()).unwrap();
                path.to_str().unwrap().to_owned()
            })
            .collect();
        assert_eq!(names, ["a/1", "a/2", "a.txt", "b"]);
    }

    #[test]
    fn a_file_knows_the_folders_below_the_one_that_was_named() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["top", "ada/1", "ada/old/2"] {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        let all = inputs(folder.path());
        let of = |level| -> Vec<Option<String>> {
            let folder = |input: &Input| input.folder(level).map(Cow::into_owned);
            all.iter().map(folder).collect()
        };
        let ada = || Some("ada".to_owned());
        assert_eq!(of(1), [ada(), ada(), None]);
        assert_eq!(of(2), [None, Some("old".to_owned()), None]);
        assert_eq!(of(0), [None, None, None]);
        assert_eq!(Input::from_path("a/b/c").folder(1), None);
    }

    #[cfg(unix)]
    #[test]
    fn names_that_are_not_text_differ_and_lead_back_to_the_file() {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt;
        for (bytes, expected) in [
            (&b"d/\xff"[..], "d/%FF"),
            (b"d/\xfe", "d/%FE"),
            (b"caf\xe9 100%", "caf%E9 100%"),
            (b"%41\xff%", "%2541%FF%"),
            (b"%4\xff", "%4%FF"),
            (b"\xd0\x96\xd0", "\u{416}%D0"),
            // Text stays as it is.
            (b"100%41", "100%41"),
        ] {
            let input = Input::from_path(Path::new(OsStr::from_bytes(bytes)));
            assert_eq!(&**input.name(), expected);
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_to_files_are_followed_and_to_folders_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("file"), "x").unwrap();
        for (link, target) in [
            ("loop", "."),
            ("to-file", "file"),
            ("to-nothing", "nothing"),
        ] {
            std::os::unix::fs::symlink(target, at(link)).unwrap();
        }
        let found = inputs(folder.path());
        let names: Vec<&Path> = found
            .iter()
            .map(|input| Path::new(&**input.name()))
            .collect();
        assert_eq!(names, [at("file"), at("to-file"), at("to-nothing")]);
    }

    #[test]
    fn a_missing_path_is_kept_and_fails_on_opening() {
        let mut all = inputs(Path::new("/does/not/exist"));
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].bytes(), None);
        assert!(all.remove(0).open().is_err());
    }
}
