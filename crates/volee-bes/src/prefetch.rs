//! A hint to the processor to fetch memory that will be read soon.
//!
//! Safety: a prefetch instruction never faults and never changes what the program observes, whatever the address; the
//! address is nevertheless taken from a bounds-checked reference, so it is always one of ours. On other processors the
//! hint is nothing.
#![allow(unsafe_code)]

/// Starts fetching the cache line of `slice[at]`; does nothing when `at` is out of bounds.
#[inline(always)]
pub(crate) fn prefetch<T>(slice: &[T], at: usize) {
    if let Some(target) = slice.get(at) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: see the head of this file; SSE is part of every x86-64 processor.
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(target).cast());
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = target;
    }
}
