//! Ends the program when a signal asks for it, and leaves nothing that was half written. The only
//! file that knows signal-hook, and ctrlc for Windows.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::observer;

/// Files that have a temporary name for as long as they are written.
static TEMPORARY: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes a file if a signal ends the program.
pub(super) fn remove_on_interrupt(path: Option<&Path>) {
    temporary().extend(path.map(Path::to_owned));
}

/// Until what it gives is dropped, no signal ends the program: outputs get their names without
/// being interrupted in between.
pub(super) fn hold() -> impl Drop {
    temporary()
}

fn temporary() -> MutexGuard<'static, Vec<PathBuf>> {
    TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes what is temporary, then calls `end`. Outputs get no names from then on.
fn clean_up(end: impl FnOnce()) {
    let temporary = temporary();
    for path in temporary.iter() {
        let _ = fs::remove_file(path);
    }
    observer::clear();
    simdup::inside::end_commands();
    end();
}

/// Added to the number of a signal, the exit status that shells show for it.
const SIGNALED: i32 = 128;

/// The exit status of a program that was not allowed to write so large a file: SIGXFSZ would
/// have ended it.
pub(super) const FILE_TOO_LARGE: u8 = SIGNALED as u8 + 25;

/// Watches for signals from here on. Without that a file may be left, which is no reason to
/// refuse the run.
#[cfg(unix)]
pub(super) fn watch() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXFSZ};

    let is_ignored = ignored_at_start();
    let ending = [SIGINT, SIGTERM, SIGHUP, SIGQUIT];
    if let Ok(mut signals) = signal_hook::iterator::Signals::new(
        ending.into_iter().filter(|&signal| !is_ignored(signal)),
    ) {
        let _ = std::thread::Builder::new().spawn(move || {
            if let Some(signal) = signals.forever().next() {
                clean_up(|| die_of(signal));
            }
        });
    }
    // Caught, it leaves a write that fails, and that is reported.
    let _ = signal_hook::flag::register(SIGXFSZ, std::sync::Arc::default());
}

/// Restores the default action of a signal and raises it again, so that a parent sees that the
/// signal ended the program: a shell then ends its loop too.
#[cfg(unix)]
fn die_of(signal: i32) {
    // The first process of a container does not die of signals.
    if std::process::id() == 1 {
        std::process::exit(SIGNALED + signal);
    }
    let _ = signal_hook::low_level::emulate_default_handler(signal);
    // Only if the signal is unknown there.
    std::process::exit(SIGNALED + signal)
}

/// What was ignored when the program started stays so: `nohup` is for that. Where Linux does
/// not tell, a hangup is left to do what it did.
#[cfg(unix)]
fn ignored_at_start() -> impl Fn(i32) -> bool {
    let told = super::linux::told("/proc/self/status", "SigIgn");
    let mask = told.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    move |signal| match mask {
        Some(mask) => mask & (1 << (signal - 1)) != 0,
        None => signal == signal_hook::consts::SIGHUP,
    }
}

#[cfg(windows)]
pub(super) fn watch() {
    const INTERRUPT: i32 = 2;
    let _ = ctrlc::set_handler(|| clean_up(|| std::process::exit(SIGNALED + INTERRUPT)));
}
