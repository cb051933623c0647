//! One writer at a time.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use super::checked::cannot_write;
use crate::error::{Error, ErrorKind};

pub(super) const NAME: &str = "lock";
/// How often it is tried.
const PAUSE: Duration = Duration::from_millis(20);

/// Nobody else writes as long as it is there. The system ends it with the process, however that
/// ends.
#[derive(Debug)]
pub(super) struct Lock(#[allow(dead_code, reason = "it is held, not used")] File);

impl Lock {
    /// Waits for it for so long. Others are told who holds it.
    pub(super) fn take(folder: &Path, holder: &str, wait: Duration) -> Result<Self, Error> {
        let path = folder.join(NAME);
        let failed = |error| cannot_write(&path, error);
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(&path).map_err(failed)?;
        let started = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::Error(error)) => return Err(failed(error)),
                Err(TryLockError::WouldBlock) if started.elapsed() < wait => {
                    std::thread::sleep(PAUSE);
                }
                Err(TryLockError::WouldBlock) => {
                    let holder = fs::read_to_string(&path).unwrap_or_default();
                    let holder = match holder.lines().next().unwrap_or_default() {
                        "" => "another process",
                        named => named,
                    };
                    let what = format!(
                        "it is being written by {holder}; try again later, or wait longer with \
                         --lock-timeout"
                    );
                    let name = folder.to_string_lossy();
                    return Err(Error::in_file(&name, ErrorKind::Index(what)));
                }
            }
        }
        // Who it is helps those who wait; without it they know that there is someone.
        let _ = file
            .set_len(0)
            .and_then(|()| file.write_all(format!("{holder}\n").as_bytes()));
        Ok(Self(file))
    }
}
