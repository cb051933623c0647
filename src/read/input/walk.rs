//! From paths that are named to inputs: the files of directories among them. The only file that
//! knows globset.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use globset::{GlobBuilder, GlobMatcher};

use super::command::Command;
use super::identity::FileIdentity;
use crate::read::input::Input;
use crate::read::open::archive;

/// What the name of an output starts and ends with until it is finished: it is no input.
pub(crate) const TEMPORARY_PREFIX: &str = ".simdup-";
pub(crate) const TEMPORARY_SUFFIX: &str = ".tmp";

/// Which files are read of those that are named, and how. As ripgrep does it: what is named is
/// read, whatever it is called; of what a directory holds, what the globs say, and what is
/// neither hidden nor a link.
#[derive(Clone, Debug, Default)]
pub struct Walk {
    /// Which files of directories.
    pub globs: Globs,
    /// Hidden files and directories too.
    pub hidden: bool,
    /// What links lead to, too.
    pub follow: bool,
    /// Run for files; what it prints is their text.
    pub command: Option<Arc<Command>>,
    /// For which files, if not for all.
    pub command_globs: Globs,
}

/// Patterns of paths. The last that fits a path says whether it is meant.
#[derive(Clone, Debug, Default)]
pub struct Globs(Vec<Pattern>);

#[derive(Clone, Debug)]
struct Pattern {
    /// As it was typed.
    text: String,
    matcher: GlobMatcher,
    /// It is held against the path in the directory, not against the name alone.
    has_folders: bool,
    /// What it fits is not meant: it starts with an exclamation mark.
    excludes: bool,
}

impl Globs {
    /// Adds a pattern, behind those before.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn add(&mut self, glob: &str) -> Result<(), String> {
        let (excludes, pattern) = match glob.strip_prefix('!') {
            Some(pattern) => (true, pattern),
            None => (false, glob),
        };
        // A slash at its end asks for a directory, one at its start for the top.
        let bare = pattern.strip_suffix('/').unwrap_or(pattern);
        let has_folders = bare.contains('/');
        let matcher = GlobBuilder::new(bare.strip_prefix('/').unwrap_or(bare))
            .literal_separator(true)
            .backslash_escape(true)
            .build()
            .map_err(|error| error.kind().to_string())?
            .compile_matcher();
        self.0.push(Pattern {
            text: glob.to_owned(),
            matcher,
            has_folders,
            excludes,
        });
        Ok(())
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What the last pattern says that fits: whether the path is meant. `None` if none fits.
    fn says(&self, path: &Path) -> Option<bool> {
        let name = Path::new(path.file_name().unwrap_or_default());
        let fits = |pattern: &&Pattern| {
            pattern.matcher.is_match(match pattern.has_folders {
                true => path,
                false => name,
            })
        };
        self.0.iter().rev().find(fits).map(|found| !found.excludes)
    }

    /// Whether a file is meant: if no pattern fits it, if all that are there exclude.
    fn admit(&self, path: &Path) -> bool {
        self.says(path)
            .unwrap_or_else(|| self.0.iter().all(|pattern| pattern.excludes))
    }

    /// Whether neither a pattern nor being hidden forbids to look at a path, file or folder.
    fn admit_name(&self, path: &Path, is_hidden: bool) -> bool {
        self.says(path).unwrap_or(!is_hidden)
    }

    /// Whether a file is meant, which nothing forbids to look at. An archive is a folder, too.
    fn file(&self, path: &Path) -> Meant {
        let name = path.file_name().unwrap_or_default();
        match self.admit(path) {
            true => Meant::Yes,
            false if archive::has_name(&name.to_string_lossy()) => Meant::IfArchive,
            false => Meant::No,
        }
    }

    /// Whether the member of an archive is meant, as a file of a directory is.
    pub(in crate::read) fn member(&self, name: &str, hidden: bool) -> Meant {
        let mut path = PathBuf::new();
        for part in name.split('/').filter(|part| !part.is_empty()) {
            path.push(part);
            if !self.admit_name(&path, !hidden && archive::is_hidden(part)) {
                return Meant::No;
            }
        }
        self.file(&path)
    }
}

impl PartialEq for Globs {
    fn eq(&self, other: &Self) -> bool {
        let texts = |globs: &Self| globs.0.iter().map(|pattern| pattern.text.clone()).collect();
        let [own, others]: [Vec<String>; 2] = [texts(self), texts(other)];
        own == others
    }
}

impl Eq for Globs {}

/// Whether a file is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::read) enum Meant {
    No,
    /// For what is in it, if it is an archive.
    IfArchive,
    Yes,
}

impl Walk {
    /// The inputs behind a path: itself, or for a directory the files in it, by name, folders in
    /// their place.
    ///
    /// Pipes and devices are passed over. What cannot be looked at stays in the list and fails
    /// when it is opened, so that it is reported in its turn.
    pub fn inputs(&self, path: &Path) -> Vec<Input> {
        let metadata = fs::metadata(path).ok().filter(fs::Metadata::is_dir);
        if let Some(metadata) = metadata {
            let mut found = Vec::new();
            let mut inside: Vec<FileIdentity> =
                self.identity(path, &metadata).into_iter().collect();
            self.folder(path, Path::new(""), &mut inside, &mut found);
            let root: Arc<Path> = path.into();
            return found.into_iter().map(|input| input.found(&root)).collect();
        }
        let below = Path::new(path.file_name().unwrap_or_default());
        vec![self.input(path, below)]
    }

    /// Returns the identity of a folder, which is needed only where links can lead back to it.
    fn identity(&self, folder: &Path, metadata: &fs::Metadata) -> Option<FileIdentity> {
        FileIdentity::of(folder, metadata).filter(|_| self.follow)
    }

    /// A file as it is, or what the command makes of it.
    fn input(&self, path: &Path, below: &Path) -> Input {
        match &self.command {
            Some(command) if self.command_globs.admit(below) => Input::from_command(command, path),
            _ => Input::from_path(path),
        }
    }

    /// Walks a directory that is `below` the one that was named, and `inside` others.
    fn folder(
        &self,
        folder: &Path,
        below: &Path,
        inside: &mut Vec<FileIdentity>,
        found: &mut Vec<Input>,
    ) {
        let entries = fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
        let Ok(entries) = entries else {
            found.push(Input::from_path(folder));
            return;
        };
        let mut names: Vec<_> = entries.into_iter().map(|entry| entry.file_name()).collect();
        names.sort_unstable();
        // What a run that was killed left half written is no input, nor are the checksums that
        // Hadoop and Spark keep of the files beside them.
        let is_sum = |name: &OsStr| {
            let name = name.to_string_lossy();
            let of = name.strip_prefix('.').and_then(|n| n.strip_suffix(".crc"));
            of.is_some_and(|of| names.binary_search(&of.into()).is_ok())
        };
        for name in &names {
            let (path, below) = (folder.join(name), below.join(name));
            let is_hidden = !self.hidden && name.as_encoded_bytes().starts_with(b".");
            if is_temporary(name) || is_sum(name) || !self.globs.admit_name(&below, is_hidden) {
                continue;
            }
            let metadata = match self.follow {
                true => fs::metadata(&path),
                false => fs::symlink_metadata(&path),
            };
            match metadata {
                Ok(metadata) if metadata.is_dir() => {
                    let identity = self.identity(&path, &metadata);
                    if identity
                        .as_ref()
                        .is_some_and(|identity| inside.contains(identity))
                    {
                        let error = io::Error::other("a link to a folder that it is in");
                        found.push(Input::unreadable(&path, error));
                        continue;
                    }
                    let depth = inside.len();
                    inside.extend(identity);
                    self.folder(&path, &below, inside, found);
                    inside.truncate(depth);
                }
                Ok(metadata) if metadata.is_file() => match self.globs.file(&below) {
                    Meant::Yes => found.push(self.input(&path, &below)),
                    Meant::IfArchive => found.push(Input::from_path(path).if_archive()),
                    Meant::No => {}
                },
                Ok(_) => {}
                Err(error) => found.push(Input::unreadable(&path, error)),
            }
        }
    }
}

/// The names that an output has until it is finished.
fn is_temporary(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    name.starts_with(TEMPORARY_PREFIX.as_bytes()) && name.ends_with(TEMPORARY_SUFFIX.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn globs(patterns: &[&str]) -> Globs {
        let mut globs = Globs::default();
        for pattern in patterns {
            globs.add(pattern).unwrap();
        }
        globs
    }

    /// The paths in a folder that are found.
    fn found(folder: &Path, walk: &Walk) -> Vec<String> {
        let name = |input: &Input| {
            let path = Path::new(&**input.name());
            let path = path.strip_prefix(folder).unwrap();
            path.to_str().unwrap().to_owned()
        };
        walk.inputs(folder).iter().map(name).collect()
    }

    fn folder(names: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for name in names {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        folder
    }

    #[test]
    fn a_directory_is_walked_in_order_of_names() {
        let folder = folder(&["b", "a/2", "a/1", "a.txt", ".simdup-x1.tmp", ".h", ".d/x"]);
        let names = found(folder.path(), &Walk::default());
        assert_eq!(names, ["a/1", "a/2", "a.txt", "b"]);
        let hidden = Walk {
            hidden: true,
            ..Walk::default()
        };
        assert_eq!(
            found(folder.path(), &hidden),
            [".d/x", ".h", "a/1", "a/2", "a.txt", "b"]
        );
    }

    #[test]
    fn globs_say_which_files_are_meant_and_the_last_one_counts() {
        let names = [
            "A.java",
            "b/C.java",
            "b/c.txt",
            "b/lib/D.java",
            "e.txt",
            ".f.java",
        ];
        let folder = folder(&names);
        for (patterns, expected) in [
            (
                &["*.java"][..],
                &[".f.java", "A.java", "b/C.java", "b/lib/D.java"][..],
            ),
            (&["!*.java"], &["b/c.txt", "e.txt"]),
            (&["*.java", "!lib"], &[".f.java", "A.java", "b/C.java"]),
            (&["b/*.java"], &["b/C.java"]),
            (&["/*.java"], &[".f.java", "A.java"]),
            (&["**/*.{txt,md}"], &["b/c.txt", "e.txt"]),
            (&["*.java", "!*.java", "C.*"], &["b/C.java"]),
            (&["nothing"], &[]),
        ] {
            let walk = Walk {
                globs: globs(patterns),
                ..Walk::default()
            };
            assert_eq!(found(folder.path(), &walk), expected, "{patterns:?}");
        }
        assert!(Globs::default().add("[").is_err());
    }

    #[test]
    fn members_of_archives_are_meant_as_files_are() {
        use Meant::{IfArchive, No, Yes};
        for (patterns, name, hidden, expected) in [
            (&[][..], "a/b.txt", false, Yes),
            (&[], "a/.b/c", false, No),
            (&[], "a/.b/c", true, Yes),
            (&[], "__MACOSX/c", false, No),
            (&["*.java"], "a/B.java", false, Yes),
            (&["*.java"], "./a//B.java", false, Yes),
            (&["*.java"], "a/b.txt", false, No),
            (&["*.java"], "a/.B.java", false, Yes),
            (&["*.java"], "a/b.ZIP", false, IfArchive),
            (&["*.java", "!b.*"], "a/b.zip", false, No),
            (&["*.java", "!lib"], "a/lib/B.java", false, No),
            (&["/*.java"], "a/B.java", false, No),
            (&["!*.java"], "a/b.zip", false, Yes),
        ] {
            let meant = globs(patterns).member(name, hidden);
            assert_eq!(meant, expected, "{patterns:?} {name}");
        }
        let folder = folder(&["a.zip", "b.tar.gz", "c.java", "d.txt"]);
        let walk = Walk {
            globs: globs(&["*.java"]),
            ..Walk::default()
        };
        assert_eq!(found(folder.path(), &walk), ["a.zip", "b.tar.gz", "c.java"]);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_if_so_asked_and_a_walk_ends() {
        let folder = folder(&["d/file"]);
        let at = |name: &str| folder.path().join(name);
        for (link, target) in [
            ("d/loop", "."),
            ("link", "d/file"),
            ("to-nothing", "nothing"),
        ] {
            std::os::unix::fs::symlink(target, at(link)).unwrap();
        }
        assert_eq!(found(folder.path(), &Walk::default()), ["d/file"]);
        let follow = Walk {
            follow: true,
            ..Walk::default()
        };
        assert_eq!(
            found(folder.path(), &follow),
            ["d/file", "d/loop", "link", "to-nothing"]
        );
        // What is named is read.
        assert_eq!(Walk::default().inputs(&at("link")).len(), 1);
    }

    #[test]
    fn a_missing_path_is_kept_and_fails_on_opening() {
        let mut all = Walk::default().inputs(Path::new("/does/not/exist"));
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].bytes(), None);
        assert!(all.remove(0).open().is_err());
    }
}
