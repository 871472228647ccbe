//! Large arrays on large pages.
//!
//! Random reads in hundreds of megabytes miss the translation buffer as often as the cache; with pages of 2 MB they
//! miss it rarely, and there are 512 times fewer page faults while arrays grow. Linux gives such pages to those who ask.
//!
//! Safety: the advice concerns only how memory is backed, never its contents; the range is that of a vector we hold,
//! and the kernel refuses what it does not like, which is ignored.
#![allow(unsafe_code)]

/// Below this many bytes the advice is not worth a system call.
const LARGE: usize = 8 << 20;

/// Asks for large pages behind the whole capacity of a vector.
fn advise<T>(vector: &Vec<T>) {
    let bytes = vector.capacity() * size_of::<T>();
    if bytes < LARGE {
        return;
    }
    #[cfg(target_os = "linux")]
    {
        const PAGE: usize = 4096;
        let begin = vector.as_ptr().addr().next_multiple_of(PAGE);
        let end = (vector.as_ptr().addr() + bytes) / PAGE * PAGE;
        let start = vector.as_ptr().with_addr(begin);
        // SAFETY: see the head of this file; `begin..end` lies within the vector's allocation.
        unsafe {
            libc::madvise(start.cast_mut().cast(), end - begin, libc::MADV_HUGEPAGE);
        }
    }
}

/// A vector of `len` zero words on large pages.
pub(crate) fn zeros(len: usize) -> Vec<u64> {
    let vector = vec![0; len];
    advise(&vector);
    vector
}

/// Makes room for `additional` more elements, at least doubling, on large pages.
#[cold]
fn reserve<T>(vector: &mut Vec<T>, additional: usize) {
    vector.reserve(additional.max(vector.capacity()).max(64));
    advise(vector);
}

/// As `Vec::push`, on large pages.
#[inline]
pub(crate) fn push<T>(vector: &mut Vec<T>, element: T) {
    if vector.len() == vector.capacity() {
        reserve(vector, 1);
    }
    vector.push(element);
}

/// Lengthens a vector with defaults, on large pages.
#[inline]
pub(crate) fn lengthen<T: Default + Clone>(vector: &mut Vec<T>, len: usize) {
    if len > vector.capacity() {
        reserve(vector, len - vector.len());
    }
    vector.resize(len.max(vector.len()), T::default());
}
