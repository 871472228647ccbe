//! Large zeroed arrays on huge pages, and prefetching: the two places where a state table meets the machine.
//!
//! A table of a gigabyte is touched at random, and with 4 KB pages nearly each touch misses the translation cache too.
//! So arrays above a few megabytes are mapped on their own, aligned to 2 MB, with the advice to use huge pages. They
//! start as zeroes that cost nothing until touched, and the front of an array that is being moved elsewhere can be
//! given back early, so that growing a table does not need old and new in full at the same time.
//!
//! # Safety
//! * The element types ([`Plain`]) are integers and arrays of integers: every bit pattern, all zeroes too, is a value.
//! * A mapping is private and anonymous, owned by one [`Pages`], never handed out but as a slice borrowed from it, and
//!   unmapped exactly once, in `drop`, with the address and length that `mmap` gave.
//! * [`Pages::give_back`] only tells the system that whole pages inside our own mapping may be dropped; they read as
//!   zeroes afterwards, which is a value of every `Plain` type.
//! * Prefetching any address is harmless: the instruction never faults and changes no visible state.
#![allow(unsafe_code)]

use std::ops::{Deref, DerefMut};

/// Types whose every bit pattern, zero included, is a value.
///
/// # Safety
/// Implementors have no invalid bit patterns, no padding, no destructor and no references.
pub(crate) unsafe trait Plain: Copy {
    const ZERO: Self;
}

// SAFETY: integers and arrays of integers have no invalid bit patterns and no padding.
unsafe impl Plain for u32 {
    const ZERO: Self = 0;
}
// SAFETY: as above.
unsafe impl Plain for [u64; 8] {
    const ZERO: Self = [0; 8];
}

/// Asks the processor to bring the cache line of `item` near.
#[inline(always)]
pub(crate) fn prefetch<T>(item: &T) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: see the head of this file; SSE is part of x86_64.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(item).cast());
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = item;
}

/// A zeroed array of fixed length.
pub(crate) enum Pages<T: Plain> {
    /// Small arrays, and all arrays where there is nothing better.
    Heap(Vec<T>),
    /// A mapping of our own.
    #[cfg(all(target_os = "linux", not(miri)))]
    Mapped(mapped::Mapping<T>),
}

impl<T: Plain> Pages<T> {
    /// `len` zeroes. `None` when the system has no such memory.
    pub(crate) fn zeroed(len: usize) -> Option<Self> {
        #[cfg(all(target_os = "linux", not(miri)))]
        if len.checked_mul(size_of::<T>())? >= mapped::WORTH_MAPPING {
            return mapped::Mapping::new(len).map(Pages::Mapped);
        }
        let mut heap = Vec::new();
        heap.try_reserve_exact(len).ok()?;
        heap.resize(len, T::ZERO);
        Some(Pages::Heap(heap))
    }

    /// A few zeroes, to start with.
    pub(crate) fn small(len: usize) -> Self {
        Pages::Heap(vec![T::ZERO; len])
    }

    /// Tells the system that the items before `upto` are not needed any more (they read as anything from now on).
    pub(crate) fn give_back(&mut self, upto: usize) {
        match self {
            Pages::Heap(_) => {}
            #[cfg(all(target_os = "linux", not(miri)))]
            Pages::Mapped(mapping) => mapping.give_back(upto),
        }
        let _ = upto;
    }

    pub(crate) fn bytes(&self) -> u64 {
        (self.len() * size_of::<T>()) as u64
    }
}

impl<T: Plain> Deref for Pages<T> {
    type Target = [T];
    #[inline]
    fn deref(&self) -> &[T] {
        match self {
            Pages::Heap(heap) => heap,
            #[cfg(all(target_os = "linux", not(miri)))]
            Pages::Mapped(mapping) => mapping.as_slice(),
        }
    }
}

impl<T: Plain> DerefMut for Pages<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        match self {
            Pages::Heap(heap) => heap,
            #[cfg(all(target_os = "linux", not(miri)))]
            Pages::Mapped(mapping) => mapping.as_mut_slice(),
        }
    }
}

#[cfg(all(target_os = "linux", not(miri)))]
mod mapped {
    use std::ptr::NonNull;

    use super::Plain;

    const HUGE: usize = 2 << 20;
    /// Below this a heap array is as good.
    pub(super) const WORTH_MAPPING: usize = 2 * HUGE;

    pub(crate) struct Mapping<T> {
        /// What `mmap` gave, for `munmap`.
        whole: NonNull<libc::c_void>,
        whole_bytes: usize,
        /// The first huge-page boundary in it.
        start: NonNull<T>,
        len: usize,
    }

    impl<T: Plain> Mapping<T> {
        pub(super) fn new(len: usize) -> Option<Self> {
            let bytes = len.checked_mul(size_of::<T>())?;
            let whole_bytes = bytes.checked_add(HUGE)?;
            // SAFETY: a fresh private anonymous mapping; no address is asked for, so nothing existing is touched.
            let whole = unsafe {
                libc::mmap(
                    std::ptr::null_mut(),
                    whole_bytes,
                    libc::PROT_READ | libc::PROT_WRITE,
                    libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                    -1,
                    0,
                )
            };
            if whole == libc::MAP_FAILED {
                return None;
            }
            let whole = NonNull::new(whole)?;
            let skip = whole.as_ptr().cast::<u8>().align_offset(HUGE);
            // SAFETY: skip < HUGE, and the mapping is HUGE bytes longer than what is used of it.
            let start = unsafe { whole.byte_add(skip) }.cast::<T>();
            // SAFETY: the range lies in our mapping; the advice changes speed only, and may fail freely.
            unsafe { libc::madvise(start.as_ptr().cast(), bytes, libc::MADV_HUGEPAGE) };
            Some(Mapping { whole, whole_bytes, start, len })
        }

        #[inline]
        pub(super) fn as_slice(&self) -> &[T] {
            // SAFETY: `len` items of a Plain type lie in our mapping, aligned to HUGE; shared borrow of self.
            unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
        }

        #[inline]
        pub(super) fn as_mut_slice(&mut self) -> &mut [T] {
            // SAFETY: as above, unique borrow of self.
            unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
        }

        pub(super) fn give_back(&mut self, upto: usize) {
            let bytes = upto.min(self.len) * size_of::<T>() / HUGE * HUGE;
            if bytes > 0 {
                // SAFETY: whole pages at the front of our mapping, uniquely borrowed; see the head of the file.
                unsafe { libc::madvise(self.start.as_ptr().cast(), bytes, libc::MADV_DONTNEED) };
            }
        }
    }

    impl<T> Drop for Mapping<T> {
        fn drop(&mut self) {
            // SAFETY: exactly what mmap gave, once.
            unsafe { libc::munmap(self.whole.as_ptr(), self.whole_bytes) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_arrays_start_as_zeroes_and_keep_what_is_written() {
        for len in [0usize, 5, 1 << 21] {
            let mut pages = Pages::<u32>::zeroed(len).expect("a few megabytes");
            assert_eq!(pages.len(), len);
            assert!(pages.iter().all(|&x| x == 0));
            if let Some(last) = pages.last_mut() {
                *last = 7;
                pages.give_back(len - 1);
                assert_eq!(pages.last(), Some(&7));
            }
        }
    }

    #[test]
    fn an_absurd_size_is_refused_rather_than_fatal() {
        assert!(Pages::<[u64; 8]>::zeroed(usize::MAX / 8).is_none());
    }
}
