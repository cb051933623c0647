//! Bytes as text. The only file that knows simdutf8.

/// The text that the bytes are, or where it ends.
pub(super) fn text(bytes: &[u8]) -> Result<&str, usize> {
    simdutf8::basic::from_utf8(bytes).map_err(|_| match std::str::from_utf8(bytes) {
        Ok(_) => bytes.len(),
        Err(error) => error.valid_up_to(),
    })
}
