//! What the crate `parquet` may do over a damaged file: give an error, or panic.

use parquet::errors::ParquetError;

use crate::error::{ErrorKind, excerpt};
use crate::guard::caught;

/// What the crate gives, and an error where it gives up in whatever way.
pub(super) fn guarded<T>(work: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, ErrorKind> {
    match caught(work) {
        Some(Ok(done)) => Ok(done),
        Some(Err(error)) => {
            let what = excerpt(&error);
            let what = what.strip_prefix("Parquet error: ").unwrap_or(&what);
            Err(ErrorKind::Parquet(what.into()))
        }
        None => Err(ErrorKind::Parquet("it is damaged".into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error() {
        #[expect(clippy::panic)]
        let caught = guarded::<()>(|| panic!("expected"));
        assert!(matches!(caught, Err(ErrorKind::Parquet(_))));
        let told = guarded::<()>(|| Err(ParquetError::General("what it is".into())));
        assert!(matches!(told, Err(ErrorKind::Parquet(what)) if what == "what it is"));
        assert!(matches!(guarded(|| Ok(1)), Ok(1)));
    }
}
