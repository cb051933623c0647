//! Runs the program in a folder of its own.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

use flate2::Compression;
use flate2::write::GzEncoder;

/// A folder for the files of one test, with the program at hand.
pub struct Place {
    folder: tempfile::TempDir,
}

/// What a run left behind.
#[derive(Debug, PartialEq, Eq)]
pub struct Run {
    pub stdout: String,
    pub stderr: String,
    pub status: i32,
}

impl Run {
    /// Standard output of a run that went well and said nothing.
    #[track_caller]
    pub fn clean(self) -> String {
        assert_eq!((self.status, self.stderr.as_str()), (0, ""));
        self.stdout
    }

    /// A run that says this on standard error.
    #[track_caller]
    pub fn says(&self, text: &str) -> &Self {
        assert!(self.stderr.contains(text), "{}", self.stderr);
        self
    }

    /// A run that failed and says this.
    #[track_caller]
    pub fn fails(&self, text: &str) -> &Self {
        assert_eq!(self.status, 2, "{}", self.stderr);
        self.says(text)
    }
}

impl Place {
    pub fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file, and its folders.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> &Self {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
        self
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// The program with arguments that are separated by white space.
    pub fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_simdup"));
        command
            .args(arguments.split_whitespace())
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Such a command that signals end, whatever is ignored here: a shell's `&` ignores interrupts.
    pub fn signalled(&self, arguments: &str) -> Command {
        let command = self.command(arguments);
        if !cfg!(target_os = "linux") {
            return command;
        }
        let mut env = Command::new("env");
        env.arg("--default-signal")
            .arg(command.get_program())
            .args(command.get_args())
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        env
    }

    pub fn run(&self, arguments: &str) -> Run {
        finish(self.command(arguments).spawn().unwrap())
    }

    /// Runs with `input` on standard input.
    pub fn pipe(&self, arguments: &str, input: impl AsRef<[u8]>) -> Run {
        let mut child = self
            .command(arguments)
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.as_ref().to_vec();
        let writer = thread::spawn(move || {
            // The program may end before it has read everything.
            let _ = stdin.write_all(&input);
        });
        let run = finish(child);
        writer.join().unwrap();
        run
    }
}

fn finish(child: Child) -> Run {
    let output = child.wait_with_output().unwrap();
    Run {
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
        status: output.status.code().expect("no signal"),
    }
}

pub fn gzip(bytes: impl AsRef<[u8]>) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes.as_ref()).unwrap();
    encoder.finish().unwrap()
}

pub fn gunzip(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    flate2::read::MultiGzDecoder::new(std::fs::File::open(path).unwrap())
        .read_to_end(&mut bytes)
        .unwrap();
    bytes
}

/// A file of the repository.
pub fn repository(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// A JSONL line.
pub fn line(url: &str, text: &str) -> String {
    format!("{}\n", serde_json::json!({"url": url, "text": text}))
}

pub const ONE: &str = "one two three four five six seven eight nine ten eleven twelve";
pub const ONE_EDITED: &str = "one two three four five six seven eight nine ten eleven thirteen";
pub const OTHER: &str = "a text that has nothing to do with any of the others at all";

/// Two versions of one text, a copy, and another text.
pub fn four() -> [String; 4] {
    [
        line("a", ONE),
        line("b", OTHER),
        line("c", ONE_EDITED),
        line("d", ONE),
    ]
}
