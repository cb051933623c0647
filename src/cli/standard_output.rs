//! Standard output, and whether there is one. The only file that knows ctor.

use std::io::{self, IsTerminal, Write};
use std::path::Path;

use simdup::inside::VisibleWriter;

use super::observer;

/// Whether a path means standard output.
pub(super) fn is_meant(path: &Path) -> bool {
    ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"]
        .map(Path::new)
        .contains(&path)
}

/// Standard output. On a terminal, control characters in it are named. If it is closed, whatever is
/// written to it fails.
pub(super) fn open() -> Box<dyn Write + Send> {
    match io::stdout().is_terminal() {
        true => Box::new(VisibleWriter::new(open_exact())),
        false => open_exact(),
    }
}

/// The same for what a terminal is to have as it is: documents, and text in color.
pub(super) fn open_exact() -> Box<dyn Write + Send> {
    if is_closed() {
        Box::new(Closed)
    } else {
        Box::new(Open {
            output: io::stdout(),
            give_way: match io::stdout().is_terminal() {
                true => observer::give_way,
                false => observer::stand_aside,
            },
        })
    }
}

/// An output whose reader may go away while the run has more to do than to print: from then on,
/// nothing is printed, and nothing fails.
pub(super) fn to_the_end(output: Box<dyn Write + Send>) -> Box<dyn Write + Send> {
    Box::new(Unread(Some(output)))
}

/// A terminal, where progress stands until there is something else to see; or a pipe, and who reads
/// it may print to that terminal.
struct Open {
    output: io::Stdout,
    /// Takes the progress away.
    give_way: fn(),
}

impl Write for Open {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !bytes.is_empty() {
            (self.give_way)();
        }
        self.output.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

/// What is written to as long as there is somebody who reads it.
struct Unread<W>(Option<W>);

impl<W: Write> Unread<W> {
    fn unless_gone<T>(
        &mut self,
        instead: T,
        write: impl FnOnce(&mut W) -> io::Result<T>,
    ) -> io::Result<T> {
        match self.0.as_mut().map(write) {
            None => Ok(instead),
            Some(Err(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.0 = None;
                Ok(instead)
            }
            Some(written) => written,
        }
    }
}

impl<W: Write> Write for Unread<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.unless_gone(bytes.len(), |output| output.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.unless_gone((), W::flush)
    }
}

struct Closed;

impl Write for Closed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.is_empty() {
            return Ok(0);
        }
        Err(io::Error::other("it is closed"))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(unix)]
pub(super) use before_main::is_closed;

#[cfg(not(unix))]
pub(super) fn is_closed() -> bool {
    false
}

/// Before `main`, the standard library opens `/dev/null` in the place of what is closed, and
/// from then on all that is written is lost without an error. So it is looked at earlier.
#[cfg(unix)]
mod before_main {
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

    static IS_CLOSED: AtomicBool = AtomicBool::new(false);

    pub(in crate::cli) fn is_closed() -> bool {
        IS_CLOSED.load(Relaxed)
    }

    ctor::declarative::ctor! {
        #[ctor(unsafe)]
        fn look() {
            let flags = rustix::io::fcntl_getfd(rustix::stdio::stdout());
            IS_CLOSED.store(flags == Err(rustix::io::Errno::BADF), Relaxed);
        }
    }
}
