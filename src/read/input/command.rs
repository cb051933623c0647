//! A command that makes text of a file.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::process::{self, Child, ChildStderr, ChildStdout, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Commands that run, to be ended with the program.
static RUNNING: Mutex<Vec<Arc<Mutex<Child>>>> = Mutex::new(Vec::new());

/// Ends all commands that run. For a program that is about to end itself.
pub fn end_commands() {
    for child in lock(&RUNNING).drain(..) {
        // One that has ended meanwhile is none to worry about.
        let _ = lock(&child).kill();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Stands for the path of the file in an argument.
const PATH: &str = "{}";

/// A program with its arguments that gets a file on standard input and its path as an argument,
/// and writes the text of a document to standard output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    program: OsString,
    /// At least one of them has [`PATH`].
    arguments: Vec<OsString>,
}

impl Command {
    /// A command as it is typed: the path of a program, or words as a shell splits them. No shell
    /// runs it. `{}` stands for the path of the file, which is added at the end if it stands
    /// nowhere.
    ///
    /// # Errors
    /// The reason why these are no words.
    pub fn parse(typed: &OsStr) -> Result<Self, String> {
        let mut words = match (is_program(typed), typed.to_str()) {
            (true, _) => vec![typed.to_owned()],
            (false, Some(typed)) => shlex::split(typed)
                .ok_or("a quote is opened and never closed")?
                .into_iter()
                .map(OsString::from)
                .collect(),
            (false, None) => return Err("no such program, and no UTF-8 to split".to_owned()),
        }
        .into_iter();
        let program = words.next().filter(|program| !program.is_empty());
        let mut arguments: Vec<OsString> = words.collect();
        let program = program.ok_or("a command is missing")?;
        let has_path = |argument: &OsString| {
            let argument = argument.to_string_lossy();
            argument.contains(PATH)
        };
        let name = Path::new(&program).file_stem();
        let is_pdftotext = name.is_some_and(|name| name.eq_ignore_ascii_case("pdftotext"));
        if !arguments.iter().any(has_path) {
            // The file must not be taken for its output.
            if is_pdftotext && arguments.last().is_some_and(|last| last == "-") {
                arguments.pop();
            }
            arguments.push(PATH.into());
        }
        if is_pdftotext && arguments.last().is_some_and(|last| last == PATH) {
            // It would write a file beside its input.
            arguments.push("-".into());
        }
        Ok(Self { program, arguments })
    }

    /// Its arguments for a file.
    fn arguments(&self, path: &Path) -> impl Iterator<Item = OsString> {
        self.arguments.iter().map(move |argument| {
            // One that is no UTF-8 is no argument but the program itself.
            let parts = argument.to_str().unwrap_or_default().split(PATH);
            let mut whole = OsString::new();
            for (index, part) in parts.enumerate() {
                if index > 0 {
                    whole.push(path);
                }
                whole.push(part);
            }
            whole
        })
    }

    /// Runs it for a file.
    pub(in crate::read) fn run(&self, path: &Path) -> io::Result<Box<dyn Read + Send>> {
        let name = format!("`{}`", self.program.display());
        let file = File::open(path)?;
        let mut running = lock(&RUNNING);
        let mut child = process::Command::new(&self.program)
            .args(self.arguments(path))
            .stdin(Stdio::from(file))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| {
                io::Error::new(error.kind(), format!("{name} cannot be run: {error}"))
            })?;
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let child = Arc::new(Mutex::new(child));
        running.push(Arc::clone(&child));
        drop(running);
        Ok(Box::new(Output {
            name,
            stdout,
            complaint: stderr.map(|stderr| thread::spawn(|| first_line(stderr))),
            child,
        }))
    }
}

/// Bytes of a complaint that are quoted.
const COMPLAINT_BYTES_MAX: u64 = 300;

/// The first line that a program complains with. The others are read too, so that it can go on.
fn first_line(stderr: ChildStderr) -> String {
    let mut stderr = BufReader::new(stderr);
    let mut line = Vec::new();
    let _ = (&mut stderr)
        .take(COMPLAINT_BYTES_MAX)
        .read_until(b'\n', &mut line);
    let _ = io::copy(&mut stderr, &mut io::sink());
    String::from_utf8_lossy(&line).trim().to_owned()
}

/// What a program writes, which counts only if it ends well.
struct Output {
    name: String,
    stdout: Option<ChildStdout>,
    complaint: Option<JoinHandle<String>>,
    child: Arc<Mutex<Child>>,
}

impl Read for Output {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(stdout) = &mut self.stdout else {
            return Ok(0);
        };
        let count = stdout.read(buffer)?;
        if count > 0 || buffer.is_empty() {
            return Ok(count);
        }
        self.stdout = None;
        let status = self.wait()?;
        if status.success() {
            return Ok(0);
        }
        let complaint = self.complaint.take().map(JoinHandle::join);
        let complaint = match complaint {
            Some(Ok(line)) if !line.is_empty() => format!(": {line}"),
            _ => String::new(),
        };
        let name = &self.name;
        Err(io::Error::other(format!(
            "{name} failed, {status}{complaint}"
        )))
    }
}

impl Output {
    /// Waits without keeping others from ending it.
    fn wait(&self) -> io::Result<ExitStatus> {
        const LONGEST: Duration = Duration::from_millis(50);
        let mut pause = Duration::from_micros(100);
        loop {
            if let Some(status) = lock(&self.child).try_wait()? {
                return Ok(status);
            }
            thread::sleep(pause);
            pause = (pause * 2).min(LONGEST);
        }
    }
}

/// Nobody is left to read what it writes.
impl Drop for Output {
    fn drop(&mut self) {
        self.stdout = None;
        lock(&RUNNING).retain(|child| !Arc::ptr_eq(child, &self.child));
        let mut child = lock(&self.child);
        if !matches!(child.try_wait(), Ok(Some(_))) {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Whether a command as a whole is the path of a program.
fn is_program(typed: &OsStr) -> bool {
    let Ok(metadata) = Path::new(typed).metadata() else {
        return false;
    };
    #[cfg(unix)]
    let is_executable =
        std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o111 != 0;
    #[cfg(not(unix))]
    let is_executable = true;
    metadata.is_file() && is_executable
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(typed: &str) -> Vec<String> {
        let command = Command::parse(OsStr::new(typed)).unwrap();
        let arguments = command.arguments(Path::new("a b.pdf"));
        [command.program.clone()]
            .into_iter()
            .chain(arguments)
            .map(|word| word.into_string().unwrap())
            .collect()
    }

    #[test]
    fn a_command_has_arguments() {
        for (typed, expected) in [
            ("cat", &["cat", "a b.pdf"][..]),
            ("pandoc -t plain", &["pandoc", "-t", "plain", "a b.pdf"]),
            ("x --in={} -o -", &["x", "--in=a b.pdf", "-o", "-"]),
            ("x '{} and' {}", &["x", "a b.pdf and", "a b.pdf"]),
            (
                "x 'two words' \"a\\\"b\" c\\ d",
                &["x", "two words", "a\"b", "c d", "a b.pdf"],
            ),
            ("x ''", &["x", "", "a b.pdf"]),
        ] {
            assert_eq!(words(typed), expected, "{typed}");
        }
        for typed in ["", " ", "x 'y", "'' x"] {
            assert!(Command::parse(OsStr::new(typed)).is_err(), "{typed}");
        }
    }

    #[test]
    fn pdftotext_writes_to_standard_output() {
        for (typed, expected) in [
            ("pdftotext", &["pdftotext", "a b.pdf", "-"][..]),
            (
                "pdftotext -layout",
                &["pdftotext", "-layout", "a b.pdf", "-"],
            ),
            // It would be its output.
            ("pdftotext -", &["pdftotext", "a b.pdf", "-"]),
            ("/bin/pdftotext {}", &["/bin/pdftotext", "a b.pdf", "-"]),
            ("pdftotext {} -", &["pdftotext", "a b.pdf", "-"]),
            ("pdftotext {} out", &["pdftotext", "a b.pdf", "out"]),
        ] {
            assert_eq!(words(typed), expected, "{typed}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_program_may_have_spaces_in_its_path() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("my tool");
        std::fs::write(&path, "").unwrap();
        let typed = path.to_str().unwrap();
        assert_ne!(words(typed)[0], typed);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(words(typed), [typed, "a b.pdf"]);
    }
}
