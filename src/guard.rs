//! What crates do over damaged bytes beside giving errors: they panic. That is caught here, and
//! not printed.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::sync::Once;

thread_local! {
    /// Whether this thread is where a panic is expected and caught.
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// What some work gives, or nothing if it panics.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Option<T> {
    static HUSHED: Once = Once::new();
    HUSHED.call_once(|| {
        // What is caught is not printed; all else is, as before.
        let print = panic::take_hook();
        panic::set_hook(Box::new(move |what| {
            if !GUARDED.get() {
                print(what);
            }
        }));
    });
    let before = GUARDED.replace(true);
    let done = catch_unwind(AssertUnwindSafe(work));
    GUARDED.set(before);
    done.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_nothing_here_and_stays_one_elsewhere() {
        #[expect(clippy::panic)]
        let nothing = caught::<()>(|| panic!("expected"));
        assert!(nothing.is_none());
        assert!(!GUARDED.get());
        assert_eq!(caught(|| 1), Some(1));
    }
}
