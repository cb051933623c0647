//! The files that are written: none of them is read too, they are opened before anything is
//! read, and finished together.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use simdup::inside::{Output, Packed, Walk, appear};

use super::args::{OutputArgs, check_name};
use super::{Failure, interrupt, standard_output};

/// What a flag names to be written.
pub(super) struct Written<'a> {
    pub(super) flag: &'static str,
    pub(super) path: &'a Path,
}

/// Where something is written.
#[derive(PartialEq, Eq)]
enum Target {
    StandardOutput,
    StandardError,
    /// There or not yet.
    File(PathBuf),
}

impl Written<'_> {
    /// `None` for a device, which takes whatever comes from wherever.
    fn target(&self) -> Option<Target> {
        if self.path == Path::new("-") && self.flag == "--stats" {
            return Some(Target::StandardError);
        }
        if standard_output::is_meant(self.path) {
            return Some(Target::StandardOutput);
        }
        if self.path == Path::new("/dev/stderr") {
            return Some(Target::StandardError);
        }
        if is_device(self.path) {
            return None;
        }
        whole(self.path).map(Target::File)
    }
}

/// Refuses to write over what is read, or two results over each other.
pub(super) fn keep_apart(written: &[Written<'_>], read: &[&Path]) -> Result<(), Failure> {
    for (index, one) in written.iter().enumerate() {
        let (flag, name) = (one.flag, one.path.display());
        let Some(target) = one.target() else {
            continue;
        };
        if let Some(other) = written[index + 1..]
            .iter()
            .find(|other| other.target().as_ref() == Some(&target))
        {
            let other = other.flag;
            return Err(Failure::Usage(match target {
                Target::File(_) => format!(
                    "{flag} and {other} name the same file, {name}: one would replace the other; \
                     name another"
                ),
                Target::StandardOutput => {
                    format!("{flag} and {other} are both for standard output: name a file for one")
                }
                Target::StandardError => {
                    format!("{flag} and {other} are both for standard error: name a file for one")
                }
            }));
        }
        let Target::File(path) = target else {
            continue;
        };
        for read in read {
            if is_read(&path, read) {
                return Err(Failure::Usage(format!(
                    "{flag} {name} would replace what is read from {}: name another file{}",
                    if *read == Path::new("-") {
                        "standard input".into()
                    } else {
                        read.to_string_lossy()
                    },
                    if read.is_dir() { ", outside of it" } else { "" }
                )));
            }
        }
    }
    Ok(())
}

/// Whether a file is, or would be, among those behind a path that is read.
fn is_read(file: &Path, read: &Path) -> bool {
    let read = match read == Path::new("-") {
        true => Path::new("/dev/stdin"),
        false => read,
    };
    if is_same(file, read) {
        return true;
    }
    if !read.is_dir() {
        return false;
    }
    // A link in the folder may lead to it too.
    fs::canonicalize(read).is_ok_and(|folder| file.starts_with(folder))
        || file.exists()
            && Walk {
                hidden: true,
                follow: true,
                ..Walk::default()
            }
            .inputs(read)
            .iter()
            .any(|input| input.path().is_some_and(|path| is_same(file, path)))
}

fn is_same(one: &Path, two: &Path) -> bool {
    whole(one).is_some_and(|one| whole(two) == Some(one)) || is_linked(one, two)
}

/// Whether these are two names of one file.
#[cfg(unix)]
fn is_linked(one: &Path, two: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let number = |path| fs::metadata(path).map(|found| (found.dev(), found.ino()));
    matches!((number(one), number(two)), (Ok(one), Ok(two)) if one == two)
}

#[cfg(not(unix))]
fn is_linked(_: &Path, _: &Path) -> bool {
    false
}

#[cfg(unix)]
fn is_device(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    fs::metadata(path).is_ok_and(|found| {
        let found = found.file_type();
        found.is_char_device() || found.is_block_device()
    })
}

#[cfg(not(unix))]
fn is_device(_: &Path) -> bool {
    false
}

/// The path without links, to a file that need not be there yet.
fn whole(path: &Path) -> Option<PathBuf> {
    fs::canonicalize(path).ok().or_else(|| {
        let path = fs::read_link(path).map_or_else(
            |_| path.to_owned(),
            |target| path.parent().unwrap_or(Path::new("")).join(target),
        );
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        Some(fs::canonicalize(folder).ok()?.join(path.file_name()?))
    })
}

impl OutputArgs {
    /// Where results go, and its name: `-` for standard output. If nobody reads that any more, the
    /// run ends, unless it is to write statistics.
    pub(super) fn open(&self) -> Result<(Packed, String), Failure> {
        self.open_to_the_end(false)
    }

    /// The same for a run that goes on without a reader if it has something else to tell: in a file
    /// besides, or in its status.
    pub(super) fn open_to_the_end(&self, goes_on: bool) -> Result<(Packed, String), Failure> {
        self.open_on(standard_output::open, goes_on)
    }

    /// The same for what a terminal is to have as it is.
    pub(super) fn open_exact(&self, goes_on: bool) -> Result<(Packed, String), Failure> {
        self.open_on(standard_output::open_exact, goes_on)
    }

    fn open_on(
        &self,
        standard_output: fn() -> Box<dyn Write + Send>,
        goes_on: bool,
    ) -> Result<(Packed, String), Failure> {
        match &self.output {
            Some(path) if !standard_output::is_meant(path) => create("--output", path),
            _ => {
                let stream = match goes_on || self.stats.is_some() {
                    true => standard_output::to_the_end(standard_output()),
                    false => standard_output(),
                };
                Ok((Packed::Plain(Output::Stream(stream)), "-".into()))
            }
        }
    }
}

/// Where something else goes that a flag names, and its name.
pub(super) fn open_beside(flag: &str, path: &Path) -> Result<(Packed, String), Failure> {
    match standard_output::is_meant(path) {
        true => Ok((
            Packed::Plain(Output::Stream(standard_output::open())),
            format!("{flag} {}", path.display()),
        )),
        false => create(flag, path),
    }
}

/// A file that a flag names, compressed as its name says and removed if the program is
/// interrupted, and its name.
pub(super) fn create(flag: &str, path: &Path) -> Result<(Packed, String), Failure> {
    check_name(flag, path)?;
    let name = path.display().to_string();
    let packed = Output::create(path).and_then(|output| {
        interrupt::remove_on_interrupt(output.temporary_path());
        Packed::by_name(output, Some(path))
    });
    match packed {
        Ok(packed) => Ok((packed, name)),
        Err(error) => Err(Failure::write(&name, error)),
    }
}

/// Ends what was written. Files appear together, as far as renaming one after the other can.
pub(super) fn finish(outputs: impl IntoIterator<Item = (Packed, String)>) -> Result<(), Failure> {
    let complete: Result<Vec<_>, Failure> = outputs
        .into_iter()
        .map(|(output, name)| {
            let complete: io::Result<_> = output.into_output().and_then(Output::complete);
            complete.map_err(|error| Failure::write(&name, error))
        })
        .collect();
    let complete = complete?;
    let _held = interrupt::hold();
    Ok(appear(complete)?)
}
