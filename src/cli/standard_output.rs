//! Standard output, and whether there is one. The only file that knows ctor.

use std::io::{self, Write};
use std::path::Path;

/// Whether a path means standard output.
pub(super) fn is_meant(path: &Path) -> bool {
    ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"]
        .map(Path::new)
        .contains(&path)
}

/// Standard output; if it is closed, whatever is written to it fails.
pub(super) fn open() -> Box<dyn Write + Send> {
    if is_closed() {
        Box::new(Closed)
    } else {
        Box::new(io::stdout())
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
