//! Memory in large pages. The system hands out fresh memory page by page, and clears each
//! one first: for the shingles of a collection that takes as long as finding them. Large
//! pages are a few hundred times fewer. The only file that knows of pages.

/// Bytes below which it is not worth asking.
#[cfg(target_os = "linux")]
const WORTH_BYTES: usize = 4 << 20;

/// A vector with room for `length` elements, in large pages if the system has any to spare.
pub(crate) fn room<T>(length: usize) -> Vec<T> {
    let words: Vec<T> = Vec::with_capacity(length);
    #[cfg(target_os = "linux")]
    if length * size_of::<T>() >= WORTH_BYTES {
        advise(words.as_ptr().addr(), length * size_of::<T>());
    }
    words
}

/// So many zeros. The system clears fresh memory anyway: it is not written twice.
pub(crate) fn zeros(length: usize) -> Vec<u64> {
    let words = vec![0; length];
    #[cfg(target_os = "linux")]
    if length * size_of::<u64>() >= WORTH_BYTES {
        advise(words.as_ptr().addr(), length * size_of::<u64>());
    }
    words
}

#[cfg(target_os = "linux")]
#[allow(
    unsafe_code,
    reason = "advice is given for addresses, and `cargo bench -- pages` shows what it buys"
)]
fn advise(start: usize, bytes: usize) {
    const PAGE_BYTES: usize = 4096;
    let first = start.next_multiple_of(PAGE_BYTES);
    let end = (start + bytes) / PAGE_BYTES * PAGE_BYTES;
    if first < end {
        let address = std::ptr::with_exposed_provenance_mut(first);
        // SAFETY: the range is inside one allocation, and this advice changes only how its
        // pages are backed, not what they hold. If it is not taken, nothing is lost.
        let _ =
            unsafe { rustix::mm::madvise(address, end - first, rustix::mm::Advice::LinuxHugepage) };
    }
}
