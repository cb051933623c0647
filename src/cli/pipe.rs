//! The pipe on standard input.

/// As much as Linux gives to any user unless told otherwise.
#[cfg(target_os = "linux")]
const PIPE_BYTES: usize = 1 << 20;

/// Makes the pipe hold more, so that what writes into it need not stop while a piece
/// is worked on: a sixteenth of this is not enough to keep `zcat` going. If standard
/// input is no pipe, or may not grow, it stays as it is.
pub(super) fn widen() {
    #[cfg(target_os = "linux")]
    if rustix::pipe::fcntl_getpipe_size(std::io::stdin()).is_ok_and(|bytes| bytes < PIPE_BYTES) {
        let _ = rustix::pipe::fcntl_setpipe_size(std::io::stdin(), PIPE_BYTES);
    }
}
