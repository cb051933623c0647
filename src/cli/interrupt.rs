//! What is left when the program is told to end: nothing that was half written.
//! The only file that knows ctrlc.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// As shells have it: 128 and the number of the signal.
const INTERRUPTED: i32 = 130;

static TEMPORARY: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes a file if the program is interrupted or terminated.
pub(super) fn remove_on_interrupt(path: Option<&Path>) {
    let Some(path) = path else {
        return;
    };
    let mut all = TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner);
    if all.is_empty() {
        // Without a handler, a file may be left: no reason to refuse the run.
        let _ = ctrlc::set_handler(|| {
            let all = TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner);
            for path in all.iter() {
                let _ = fs::remove_file(path);
            }
            std::process::exit(INTERRUPTED);
        });
    }
    all.push(path.to_owned());
}
