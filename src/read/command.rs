//! A command that makes text of a file.

use std::ffi::OsString;
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

/// A program that is given a path as its argument and the file on standard input, and writes
/// the text of a document to standard output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    program: OsString,
}

impl Command {
    /// A program, by its path or by a name that the system looks for.
    pub fn new(program: impl Into<OsString>) -> Self {
        Self {
            program: program.into(),
        }
    }

    /// Runs it for a file.
    pub(super) fn run(&self, path: &Path) -> io::Result<Box<dyn Read + Send>> {
        let name = format!("`{}`", self.program.display());
        let file = File::open(path)?;
        let mut running = lock(&RUNNING);
        let mut child = process::Command::new(&self.program)
            .arg(path)
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
