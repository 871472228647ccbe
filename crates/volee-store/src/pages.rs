//! Large zeroed arrays on huge pages, and prefetching: the two places where a state table meets the machine.
//!
//! A table of a gigabyte is touched at random, and with 4 KB pages nearly each touch misses the translation
//! cache too. So arrays above a few megabytes are mapped on their own, aligned to 2 MB, with the advice to
//! use huge pages. They start as zeroes that cost nothing until touched, and the front of an array that is
//! being moved elsewhere can be given back early, so that growing a table does not need old and new in full
//! at the same time.
//!
//! # Safety
//! * The element types ([`Plain`]) are integers and arrays of integers: every bit pattern, all zeroes too, is
//!   a value.
//! * A mapping is private and anonymous, owned by one [`Pages`] (as is what the allocator gave where nothing is
//!   mapped), never handed out but as a slice borrowed from it, and given back exactly once, in `drop`, with
//!   the address and length of `mmap`, or the layout that was asked for.
//! * [`Pages::give_back`] and [`Pages::give_back_from`] only tell the system that whole pages inside our own
//!   mapping may be dropped; they read as zeroes afterwards, which is a value of every `Plain` type.
//! * Prefetching any address is harmless: the instruction never faults and changes no visible state.
#![allow(unsafe_code)]

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

#[cfg(all(target_os = "linux", not(miri)))]
const HUGE: usize = 2 << 20;
/// A small page, or a multiple of it.
#[cfg(all(target_os = "linux", not(miri)))]
const SMALL: usize = 64 << 10;
/// Below this a heap array is as good.
#[cfg(all(target_os = "linux", not(miri)))]
const WORTH_MAPPING: usize = 2 * HUGE;

/// Bytes of a line of cache.
const LINE: usize = 64;

/// Types whose every bit pattern, zero included, is a value.
///
/// # Safety
/// Implementors have no invalid bit patterns, no padding, no destructor and no references.
pub unsafe trait Plain: Copy {}

// SAFETY: integers and arrays of integers have no invalid bit patterns and no padding.
unsafe impl Plain for u32 {}
// SAFETY: as above.
unsafe impl Plain for [u32; 16] {}
// SAFETY: as above.
unsafe impl Plain for [u8; 64] {}
// SAFETY: as above.
unsafe impl Plain for [u64; 8] {}

/// Asks the processor to bring the cache line of `item` near.
#[inline(always)]
pub fn prefetch<T>(item: &T) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: see the head of this file; SSE is part of x86_64.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(item).cast());
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = item;
}

/// Starts fetching the cache line of `slice[at]`; does nothing when `at` is out of bounds.
#[inline(always)]
pub fn prefetch_at<T>(slice: &[T], at: usize) {
    if let Some(item) = slice.get(at) {
        prefetch(item);
    }
}

/// A zeroed array of fixed length.
pub struct Pages<T: Plain> {
    start: NonNull<T>,
    len: usize,
    backing: Backing,
}

enum Backing {
    /// What the allocator gave for this layout: small arrays, and all where there is nothing better.
    Heap(Layout),
    /// What `mmap` gave: address and length.
    #[cfg(all(target_os = "linux", not(miri)))]
    Mapped(NonNull<libc::c_void>, usize),
}

// SAFETY: an array owns its memory as a vector does.
unsafe impl<T: Plain + Send> Send for Pages<T> {}

impl<T: Plain> Pages<T> {
    /// `len` zeroes. `None` when the system has no such memory.
    pub fn zeroed(len: usize) -> Option<Self> {
        #[cfg(all(target_os = "linux", not(miri)))]
        if len.checked_mul(size_of::<T>())? >= WORTH_MAPPING {
            return Self::mapped(len);
        }
        Self::heap(len, Self::layout(len)?)
    }

    /// A few zeroes, to start with.
    pub fn small(len: usize) -> Self {
        let layout = Self::layout(len).expect("a few");
        Self::heap(len, layout).unwrap_or_else(|| handle_alloc_error(layout))
    }

    /// Items begin where a line of cache does, so that those of its size are never in two.
    fn layout(len: usize) -> Option<Layout> {
        Layout::array::<T>(len.max(1)).ok()?.align_to(LINE).ok()
    }

    fn heap(len: usize, layout: Layout) -> Option<Self> {
        // SAFETY: the layout has room for one item at least, so its size is not 0; zeroes are items.
        let start = NonNull::new(unsafe { alloc_zeroed(layout) })?.cast();
        Some(Pages { len, start, backing: Backing::Heap(layout) })
    }

    #[cfg(all(target_os = "linux", not(miri)))]
    fn mapped(len: usize) -> Option<Self> {
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
        Some(Pages { start, len, backing: Backing::Mapped(whole, whole_bytes) })
    }

    /// Tells the system that the items before `upto` are not needed any more (they read as anything from now
    /// on).
    pub fn give_back(&mut self, upto: usize) {
        #[cfg(all(target_os = "linux", not(miri)))]
        if let Backing::Mapped(..) = self.backing {
            let bytes = upto.min(self.len) * size_of::<T>() / HUGE * HUGE;
            // SAFETY: whole pages at the front of our mapping, uniquely borrowed; see the head of the file.
            unsafe { libc::madvise(self.start.as_ptr().cast(), bytes, libc::MADV_DONTNEED) };
        }
        let _ = upto;
    }

    /// Tells the system that the items from `start` on are not needed for now. They are zeroes, and remain
    /// zeroes.
    pub fn give_back_from(&mut self, start: usize) {
        #[cfg(all(target_os = "linux", not(miri)))]
        if let Backing::Mapped(..) = self.backing {
            let first = (start * size_of::<T>()).next_multiple_of(SMALL);
            let bytes = (self.len * size_of::<T>()).saturating_sub(first);
            if bytes > 0 {
                // SAFETY: whole pages at the end of the used part of our mapping, uniquely borrowed.
                unsafe {
                    let from = self.start.as_ptr().cast::<u8>().add(first);
                    libc::madvise(from.cast(), bytes, libc::MADV_DONTNEED);
                }
            }
        }
        let _ = start;
    }

    pub fn bytes(&self) -> u64 {
        (self.len * size_of::<T>()) as u64
    }

    /// Where the items start, for those who see them as something else: see [`crate::Concurrent`].
    #[inline(always)]
    pub(crate) fn start(&self) -> *const T {
        self.start.as_ptr()
    }

    /// How many items there are, without a look at any.
    #[inline(always)]
    pub(crate) fn count(&self) -> usize {
        self.len
    }
}

impl<T: Plain> Deref for Pages<T> {
    type Target = [T];
    #[inline(always)]
    fn deref(&self) -> &[T] {
        // SAFETY: `start` and `len` describe the boxed slice or the used part of the mapping that self owns.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl<T: Plain> DerefMut for Pages<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and self is borrowed uniquely.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl<T: Plain> Drop for Pages<T> {
    fn drop(&mut self) {
        match self.backing {
            // SAFETY: what `heap` was given for this layout, once; items have no destructor.
            Backing::Heap(layout) => unsafe { dealloc(self.start.as_ptr().cast(), layout) },
            #[cfg(all(target_os = "linux", not(miri)))]
            // SAFETY: exactly what mmap gave, once.
            Backing::Mapped(whole, bytes) => unsafe {
                libc::munmap(whole.as_ptr(), bytes);
            },
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
