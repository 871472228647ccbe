//! An allocator that counts: what the process holds is known at any moment, and cannot pass the ceiling of
//! [`volee_system::memory`]. It wraps the system's allocator and changes nothing else about it.
//!
//! Each thread gathers what it takes and gives back, and reports it when that amounts to [`BATCH`], so that a
//! small allocation costs an addition in its own cache line. What is held is thus known up to [`BATCH`] for
//! each thread.
//!
//! Safety: every call is passed on unchanged to [`System`], whose contract is ours; the counting neither
//! allocates (its thread-local value needs no initialisation and no destructor) nor unwinds.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use volee_system::memory;

/// Bytes that a thread may hold without anybody knowing.
const BATCH: i64 = 64 << 10;

thread_local! {
    static GATHERED: Cell<i64> = const { Cell::new(0) };
}

/// The allocator; to be installed with `#[global_allocator]`.
pub struct Counting;

#[inline]
fn note(delta: i64) {
    let report = GATHERED.try_with(|gathered| {
        let sum = gathered.get() + delta;
        let report = if sum.abs() >= BATCH { sum } else { 0 };
        gathered.set(sum - report);
        report
    });
    match report.unwrap_or(delta) {
        0 => {}
        delta => memory::count(delta),
    }
}

/// A layout has at most `isize::MAX` bytes.
fn taken(bytes: usize) -> i64 {
    bytes as i64
}

// SAFETY: see the head of this file.
unsafe impl GlobalAlloc for Counting {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(taken(layout.size()));
        // SAFETY: the caller's promises are those that `System` asks for.
        unsafe { System.alloc(layout) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note(taken(layout.size()));
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(block, layout) };
        note(-taken(layout.size()));
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note(taken(size) - taken(layout.size()));
        // SAFETY: as above.
        unsafe { System.realloc(block, layout, size) }
    }
}

/// Large blocks are given back to the system as soon as they are freed, so that what is held is what is
/// resident.
///
/// The system's allocator raises its threshold for blocks of their own when such a block is freed, up to 32
/// MB, and keeps what is freed below; a process with a small budget then has twice what it holds.
pub fn return_freed_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu", not(miri)))]
    // SAFETY: sets two numbers of the allocator; called before there are other threads.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, 1 << 20);
        libc::mallopt(libc::M_TRIM_THRESHOLD, 2 << 20);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_allocated_is_held_until_it_is_freed() {
        let layout = Layout::from_size_align(1 << 20, 8).expect("a small layout");
        let before = memory::held();
        // SAFETY: the block is used with its own layout and freed once.
        unsafe {
            let block = Counting.alloc_zeroed(layout);
            assert!(!block.is_null());
            assert_eq!(memory::held() - before, 1 << 20);
            let block = Counting.realloc(block, layout, 3 << 20);
            assert_eq!(memory::held() - before, 3 << 20);
            Counting.dealloc(block, Layout::from_size_align(3 << 20, 8).expect("a small layout"));
        }
        assert_eq!(memory::held(), before);
    }
}
