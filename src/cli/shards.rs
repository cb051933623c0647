//! An output for each file that is read, in a folder: of the same name, and compressed as that is.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::{self, BufWriter, Read};
use std::path::{Path, PathBuf};

use simdup::inside::{Output, Packed};
use simdup::results::ErrorKind;
use simdup::{Error, Input, NamedWriter, Shards};

use super::{Failure, files, interrupt, report, summary};

/// The files of a folder, one for each input.
pub(super) struct ShardFiles {
    /// By the name of the input: where it goes, and the ending of its compression.
    paths: HashMap<String, (PathBuf, &'static str)>,
    /// The names, in order.
    names: Vec<String>,
    /// Those that were opened.
    begun: HashSet<String>,
    open: Option<(BufWriter<Packed>, String)>,
    /// Those that are whole.
    written: u64,
    /// What is written before anything is open, which is nothing.
    none: io::Sink,
}

impl ShardFiles {
    /// Checks that each has a name of its own, and none takes the place of what is read.
    pub(super) fn new(folder: &Path, inputs: &[Input]) -> Result<Self, Failure> {
        let wrong = |what: String| Failure::Usage(format!("--output-dir: {what}"));
        let mut paths: HashMap<String, (PathBuf, &'static str)> = HashMap::new();
        let mut names: HashMap<PathBuf, &str> = HashMap::new();
        let mut waiting = Vec::new();
        for input in inputs {
            let name = &**input.name();
            if name == "-" {
                return Err(wrong(
                    "standard input has no name to write to; name files, or use --output".into(),
                ));
            }
            let path = folder.join(input.path_below());
            if let Some(other) = names.insert(path.clone(), name) {
                if other == name {
                    continue;
                }
                return Err(wrong(format!(
                    "{other} and {name} would both be {}; name the directory above them instead, \
                     or take one at a time",
                    path.display()
                )));
            }
            let ending = compression(input.path().unwrap_or(Path::new(name))).map_err(wrong)?;
            paths.insert(name.to_owned(), (path, ending));
            waiting.push(name.to_owned());
        }
        let whole = |path: &Path| fs::canonicalize(path).ok();
        let read: HashSet<PathBuf> = inputs
            .iter()
            .filter_map(|input| whole(input.path()?))
            .collect();
        let is_read = |path: &&PathBuf| whole(path).is_some_and(|path| read.contains(&path));
        if let Some(path) = names.keys().find(is_read) {
            return Err(wrong(format!(
                "{} would replace what is read; name another folder",
                path.display()
            )));
        }
        fs::create_dir_all(folder)
            .map_err(|error| Failure::write(&folder.display().to_string(), error))?;
        Ok(Self {
            paths,
            names: waiting,
            begun: HashSet::new(),
            open: None,
            written: 0,
            none: io::sink(),
        })
    }

    /// Ends the last one, and makes those that nothing is kept of.
    pub(super) fn finish(&mut self) -> Result<(), Failure> {
        let not_begun = |name: &&String| !self.begun.contains(*name);
        let waiting: Vec<String> = self.names.iter().filter(not_begun).cloned().collect();
        for name in waiting {
            self.begin(&name)?;
        }
        self.end()
    }

    /// Says how many are there, if not all are.
    pub(super) fn tell_of_written(&self) {
        if self.written > 0 {
            report::warning(&format!(
                "--output-dir: {} of {} files were written, and those are whole",
                summary::number(self.written),
                summary::number(self.names.len() as u64)
            ));
        }
    }

    fn begin(&mut self, name: &str) -> Result<(), Failure> {
        self.end()?;
        self.begun.insert(name.to_owned());
        let Some((path, ending)) = self.paths.get(name) else {
            let why = "it is part of an archive, and none is written; unpack that, or use --output";
            return Err(Failure::Run(Error::in_file(name, ErrorKind::NoShard(why))));
        };
        let shown = path.display().to_string();
        let created = fs::create_dir_all(path.parent().unwrap_or(Path::new("")))
            .and_then(|()| Output::create(path))
            .and_then(|output| {
                interrupt::remove_on_interrupt(output.temporary_path());
                Packed::by_name(output, Some(Path::new(ending)))
            });
        let packed = created.map_err(|error| Failure::write(&shown, error))?;
        self.open = Some((BufWriter::new(packed), shown));
        Ok(())
    }

    /// Gives the one that is open its name.
    fn end(&mut self) -> Result<(), Failure> {
        match self.open.take() {
            None => Ok(()),
            Some((output, name)) => match output.into_inner() {
                Ok(packed) => {
                    files::finish([(packed, name)])?;
                    self.written += 1;
                    Ok(())
                }
                Err(error) => Err(Failure::write(&name, error.into_error())),
            },
        }
    }
}

impl Shards for ShardFiles {
    fn open(&mut self, input: &str) -> Result<(), Error> {
        self.begin(input).map_err(|failure| match failure {
            Failure::Run(error) => error,
            Failure::Usage(what) => Error::in_file(input, ErrorKind::Write(io::Error::other(what))),
        })
    }

    fn writer(&mut self) -> NamedWriter<'_> {
        match &mut self.open {
            Some((writer, name)) => NamedWriter { name, writer },
            None => NamedWriter {
                name: "--output-dir",
                writer: &mut self.none,
            },
        }
    }
}

/// The ending that a compression has by its name, by the first bytes of a file.
fn compression(path: &Path) -> Result<&'static str, String> {
    let mut head = [0; 6];
    let read = File::open(path).and_then(|mut file| file.read(&mut head));
    let endings: [(&[u8], &str); 4] = [
        (b"\x1f\x8b", "x.gz"),
        (b"\x28\xb5\x2f\xfd", "x.zst"),
        (b"BZh", "x.bz2"),
        (b"\xfd7zXZ\0", "x.xz"),
    ];
    let head = &head[..read.unwrap_or(0)];
    if head.starts_with(b"\x04\x22\x4d\x18") {
        return Err(format!(
            "{}: lz4 is not written; unpack it first, or use --output",
            path.display()
        ));
    }
    if head.starts_with(b"PAR1") {
        return Err(format!(
            "{}: Parquet is not written; `--output FILE.jsonl` in its place writes the ids and \
             texts that are kept, and `--removed FILE` which rows go",
            path.display()
        ));
    }
    let found = endings.iter().find(|(magic, _)| head.starts_with(magic));
    Ok(found.map_or("x", |(_, ending)| ending))
}
