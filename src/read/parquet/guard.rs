//! What the crate `parquet` may do over a damaged file: give an error, or panic.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use parquet::errors::ParquetError;

use crate::error::{ErrorKind, excerpt};

thread_local! {
    /// Whether this thread is where a panic is expected and caught.
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// What the crate gives, and an error where it gives up in whatever way.
pub(super) fn guarded<T>(work: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, ErrorKind> {
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
    match done {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(error)) => {
            let what = excerpt(&error);
            let what = what.strip_prefix("Parquet error: ").unwrap_or(&what);
            Err(ErrorKind::Parquet(what.into()))
        }
        Err(_) => Err(ErrorKind::Parquet("it is damaged".into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_here_and_stays_one_elsewhere() {
        #[expect(clippy::panic)]
        let caught = guarded::<()>(|| panic!("expected"));
        assert!(matches!(caught, Err(ErrorKind::Parquet(_))));
        assert!(!GUARDED.get());
        let told = guarded::<()>(|| Err(ParquetError::General("what it is".into())));
        assert!(matches!(told, Err(ErrorKind::Parquet(what)) if what == "what it is"));
        assert!(matches!(guarded(|| Ok(1)), Ok(1)));
    }
}
