//! How much work an operation may do. Deciding linear arithmetic over the integers is hard in the worst case; an
//! operation that runs out says so ([`Exhausted`]) instead of running for ever or guessing.

use std::cell::Cell;

/// The work that may still be done; one unit is about one coefficient touched. Work is counted, not timed, so that
/// the same question always has the same answer.
#[derive(Debug, Clone)]
pub struct Effort {
    left: Cell<u64>,
    spent: Cell<u64>,
}

/// The work allowed was not enough: the answer is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the integer constraints are too hard for the work allowed")]
pub struct Exhausted;

impl Effort {
    /// Up to `units` of work.
    pub fn new(units: u64) -> Self {
        Effort { left: Cell::new(units), spent: Cell::new(0) }
    }

    /// Enough for any question of ordinary size.
    pub fn ample() -> Self {
        Effort::new(2_000_000_000)
    }

    /// Work done so far.
    pub fn spent(&self) -> u64 {
        self.spent.get()
    }

    /// Allows `units` from now on, whatever was left.
    pub fn refill(&self, units: u64) {
        self.left.set(units);
    }

    /// Counts `units` of work.
    ///
    /// # Errors
    /// Nothing is left.
    pub fn spend(&self, units: usize) -> Result<(), Exhausted> {
        let units = units as u64;
        self.spent.set(self.spent.get().saturating_add(units));
        match self.left.get().checked_sub(units) {
            Some(left) => {
                self.left.set(left);
                Ok(())
            }
            None => {
                self.left.set(0);
                Err(Exhausted)
            }
        }
    }
}
