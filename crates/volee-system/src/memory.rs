//! What the process holds on its heap, as the allocator itself counts it: no phase can forget to count.
//!
//! The binary installs a counting allocator (`volee_store::Counting`), which reports here. A
//! [`Meter`](crate::Meter) reads [`held`] whenever it is asked, so that every loop that asks it keeps to the
//! memory budget, whatever it allocates and where. A loop that never asks meets the ceiling: its thread waits
//! inside the allocation, before the memory is taken, and the [`guard`](crate::guard) ends the process with
//! an answer. In a program without the allocator nothing is held and there is no ceiling.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

/// What a budget does not count: the program, its arguments, its source, the text of its answer. The meter
/// allows it.
pub const ALLOWANCE: u64 = 8 << 20;
/// Above the budget by so much no allocation is made any more.
pub const HEADROOM: u64 = 12 << 20;

const UNBOUNDED: i64 = i64::MAX - HEADROOM as i64;

static HELD: AtomicI64 = AtomicI64::new(0);
/// The budget of the process; its parts may have budgets of their own.
static BUDGET: AtomicI64 = AtomicI64::new(UNBOUNDED);
static OVER: AtomicBool = AtomicBool::new(false);

thread_local! {
    static EXEMPT: Cell<bool> = const { Cell::new(false) };
}

/// Bytes that are allocated and not freed; 0 where nobody counts.
pub fn held() -> u64 {
    HELD.load(Ordering::Relaxed).max(0) as u64
}

/// For the allocator: `delta` more bytes are about to be held. Does not return while that is above the
/// ceiling.
#[inline]
pub fn count(delta: i64) {
    let held = HELD.fetch_add(delta, Ordering::Relaxed).saturating_add(delta);
    if delta > 0 && held > ceiling() {
        wait_below_ceiling();
    }
}

/// The thread that writes the last answer is let through; all others wait for the end of the process, or for
/// memory.
#[cold]
fn wait_below_ceiling() {
    if EXEMPT.try_with(Cell::get).unwrap_or(true) {
        return;
    }
    OVER.store(true, Ordering::Relaxed);
    while HELD.load(Ordering::Relaxed) > ceiling() {
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Whether some thread has met the ceiling.
pub(crate) fn is_over() -> bool {
    OVER.load(Ordering::Relaxed)
}

/// The memory budget of the process; bytes.
pub(crate) fn set_budget(bytes: u64) {
    BUDGET.store(i64::try_from(bytes).unwrap_or(UNBOUNDED).min(UNBOUNDED), Ordering::Relaxed);
}

fn ceiling() -> i64 {
    BUDGET.load(Ordering::Relaxed) + HEADROOM as i64
}

/// The budget of the process, if this many bytes more are too many for it.
pub(crate) fn exceeded(more: u64) -> Option<u64> {
    let budget = BUDGET.load(Ordering::Relaxed) as u64;
    (held().saturating_add(more) > budget.saturating_add(ALLOWANCE)).then_some(budget)
}

/// The calling thread may allocate above the ceiling.
pub(crate) fn exempt_this_thread() {
    EXEMPT.with(|exempt| exempt.set(true));
}

/// Bytes of this process that are in physical memory, where the system tells. Allocates nothing.
pub fn resident() -> Option<u64> {
    use std::io::Read as _;
    let mut text = [0; 128];
    let length = std::fs::File::open("/proc/self/statm").ok()?.read(&mut text).ok()?;
    let pages = std::str::from_utf8(&text[..length]).ok()?.split(' ').nth(1)?;
    Some(pages.parse::<u64>().ok()?.saturating_mul(PAGE))
}

/// The unit of `/proc/self/statm` on the machines that have one and are built for.
const PAGE: u64 = 4096;
