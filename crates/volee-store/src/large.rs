//! Vectors on large pages.
//!
//! Random reads in hundreds of megabytes miss the translation buffer as often as the cache; with pages of 2
//! MB they miss it rarely, and there are 512 times fewer page faults while arrays grow. Linux gives such
//! pages to those who ask before first touching the memory.
//!
//! Safety: the advice concerns how memory is backed, never what it contains; the range lies inside an
//! allocation that the caller holds during the call; and a refusal is ignored.
#![allow(unsafe_code)]

/// Below this many bytes the advice is not worth a system call.
pub(crate) const LARGE: usize = 8 << 20;

/// Asks for large pages behind `capacity` elements from `start` on, which the caller holds.
pub(crate) fn advise<T>(start: *const T, capacity: usize) {
    let bytes = capacity * size_of::<T>();
    if bytes < LARGE {
        return;
    }
    #[cfg(all(target_os = "linux", not(miri)))]
    {
        const PAGE: usize = 4096;
        let begin = start.addr().next_multiple_of(PAGE);
        let end = (start.addr() + bytes) / PAGE * PAGE;
        // SAFETY: see the head of this file; `begin..end` lies within the caller's allocation.
        unsafe {
            libc::madvise(start.with_addr(begin).cast_mut().cast(), end - begin, libc::MADV_HUGEPAGE);
        }
    }
    let _ = start;
}

/// Asks for large pages behind the capacity of a vector; has an effect only on what was not touched yet.
pub fn prefer_large<T>(vector: &Vec<T>) {
    advise(vector.as_ptr(), vector.capacity());
}

/// An empty vector with room for `capacity` elements on large pages.
pub fn with_capacity<T>(capacity: usize) -> Vec<T> {
    let vector = Vec::with_capacity(capacity);
    prefer_large(&vector);
    vector
}

/// A vector of `len` zeroes on large pages.
pub fn zeroes(len: usize) -> Vec<u32> {
    let vector = vec![0; len];
    prefer_large(&vector);
    vector
}

/// Makes room for `additional` more elements, at least doubling, on large pages. Large vectors are copied: an
/// array that the system moves by renaming its pages keeps the small ones it grew up on.
#[cold]
fn reserve<T: Copy>(vector: &mut Vec<T>, additional: usize) {
    let capacity = vector.len() + additional.max(vector.capacity()).max(64);
    if capacity * size_of::<T>() < LARGE {
        vector.reserve_exact(capacity - vector.len());
        return;
    }
    let mut larger = with_capacity(capacity);
    larger.extend_from_slice(vector);
    *vector = larger;
}

/// As `Vec::push`, on large pages.
#[inline]
pub fn push<T: Copy>(vector: &mut Vec<T>, element: T) {
    if vector.len() == vector.capacity() {
        reserve(vector, 1);
    }
    vector.push(element);
}

/// Lengthens a vector with defaults, on large pages.
#[inline]
pub fn lengthen<T: Default + Copy>(vector: &mut Vec<T>, len: usize) {
    if len > vector.capacity() {
        reserve(vector, len - vector.len());
    }
    vector.resize(len.max(vector.len()), T::default());
}
