//! Numbers that several replicas of dictionaries agree on.
//!
//! Each thread has dictionaries of its own ([`crate::Tuples`]), in its own part of the cache, and reads them
//! without asking anybody. A value that a replica does not know gets its number here: under a lock, the
//! replica takes over what others have added since it last looked, in the order in which they did, and only
//! if the value is still unknown adds it at the end. So every replica is a beginning of the same list, and a
//! number means the same in all that know it. Values are rarely new.
//!
//! A number that a replica does not know yet can only come to it with a name from another thread. Whoever
//! takes such names catches up first; the lock through which they came orders the list before them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What was added to one kind of dictionary, by all replicas.
#[derive(Debug)]
pub(crate) struct Log<T> {
    entries: Mutex<Vec<T>>,
    /// How many there are: a hint, so that nobody takes the lock in vain.
    len: AtomicUsize,
}

impl<T> Default for Log<T> {
    fn default() -> Self {
        Log { entries: Mutex::new(Vec::new()), len: AtomicUsize::new(0) }
    }
}

impl<T> Log<T> {
    pub fn lock(&self) -> Additions<'_, T> {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        Additions { entries, len: &self.len }
    }

    /// Whether there are more than this many. What was added before the caller took a lock after its adder is
    /// seen.
    #[inline]
    pub fn has_more_than(&self, known: usize) -> bool {
        self.len.load(Ordering::Relaxed) > known
    }
}

/// The list, while nobody else adds to it.
pub(crate) struct Additions<'l, T> {
    entries: MutexGuard<'l, Vec<T>>,
    len: &'l AtomicUsize,
}

impl<T> Additions<'_, T> {
    pub fn since(&self, known: usize) -> &[T] {
        &self.entries[known..]
    }

    pub fn push(&mut self, entry: T) {
        self.entries.push(entry);
        self.len.store(self.entries.len(), Ordering::Relaxed);
    }
}

/// A value of a component.
#[derive(Debug)]
pub(crate) struct Value {
    pub component: u8,
    pub bytes: Box<[u8]>,
}

/// All that replicas share.
#[derive(Debug, Default)]
pub(crate) struct Numbering {
    pub values: Log<Value>,
    /// Words that names do not have room for: see [`crate::others`].
    pub words: Log<u128>,
}
