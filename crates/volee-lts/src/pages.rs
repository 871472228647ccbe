//! Large arrays on large pages.
//!
//! Refinement reads arrays of tens and hundreds of megabytes at random; with pages of 4 kB most of these reads miss
//! the translation buffer as well as the cache. Linux gives pages of 2 MB to those who ask before first touching the
//! memory.
//!
//! Safety: the advice concerns how memory is backed, never what it contains; the range lies inside the allocation
//! of a vector that is borrowed during the call; and a refusal is ignored.
#![allow(unsafe_code)]

/// Below this many bytes the advice is not worth a system call.
const LARGE: usize = 8 << 20;

/// Asks for large pages behind the capacity of a vector; has an effect only on what was not touched yet.
pub(crate) fn prefer_large<T>(vector: &Vec<T>) {
    let bytes = vector.capacity() * size_of::<T>();
    if bytes < LARGE {
        return;
    }
    #[cfg(target_os = "linux")]
    {
        const PAGE: usize = 4096;
        let start = vector.as_ptr().cast::<u8>();
        let skip = start.align_offset(PAGE);
        let length = (bytes - skip) / PAGE * PAGE;
        // SAFETY: `skip` is below PAGE and `skip + length` at most `bytes`, so the range is inside the allocation; the
        // advice does not change its contents.
        unsafe {
            libc::madvise(start.add(skip).cast_mut().cast(), length, libc::MADV_HUGEPAGE);
        }
    }
}

/// An empty vector with room for `capacity` elements on large pages.
pub(crate) fn with_capacity<T>(capacity: usize) -> Vec<T> {
    let vector = Vec::with_capacity(capacity);
    prefer_large(&vector);
    vector
}

/// A vector of `len` zeroes on large pages.
pub(crate) fn zeroes(len: usize) -> Vec<u32> {
    let vector = vec![0; len];
    prefer_large(&vector);
    vector
}
