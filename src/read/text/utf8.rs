//! Bytes as text. The only file that knows simdutf8.

/// The text that the bytes are, or where it ends.
pub(in crate::read) fn text(bytes: &[u8]) -> Result<&str, usize> {
    simdutf8::basic::from_utf8(bytes).map_err(|_| match std::str::from_utf8(bytes) {
        Ok(_) => bytes.len(),
        Err(error) => error.valid_up_to(),
    })
}

/// Whether the bytes are text, as far as they go: the last character may be cut off.
pub(in crate::read) fn is_text(bytes: &[u8]) -> bool {
    let Err(end) = text(bytes) else {
        return true;
    };
    std::str::from_utf8(&bytes[end..]).is_err_and(|error| error.error_len().is_none())
}
