//! How much work an operation may do. Deciding linear arithmetic over the integers is hard in the worst case;
//! an operation that runs out says so ([`Exhausted`]) instead of running for ever or guessing.

use std::cell::Cell;
use std::fmt;
use std::rc::Rc;

/// Units of work between two looks at whoever may stop it.
const POLL: u64 = 1 << 18;

/// The work that may still be done; one unit is about one coefficient touched. Work is counted, not timed, so
/// that the same question always has the same answer.
#[derive(Clone)]
pub struct Effort {
    left: Cell<u64>,
    spent: Cell<u64>,
    /// Asked now and then; once it says yes nothing is left for good.
    stop: Option<Rc<dyn Fn() -> bool>>,
    next_poll: Cell<u64>,
    stopped: Cell<bool>,
}

impl fmt::Debug for Effort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Effort").field("left", &self.left).field("spent", &self.spent).finish()
    }
}

/// The work allowed was not enough: the answer is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the integer constraints are too hard for the work allowed")]
pub struct Exhausted;

impl Effort {
    /// Up to `units` of work.
    pub fn new(units: u64) -> Self {
        Effort {
            left: Cell::new(units),
            spent: Cell::new(0),
            stop: None,
            next_poll: Cell::new(POLL),
            stopped: Cell::new(false),
        }
    }

    /// Work that also ends when `stop` says so: a clock, somebody who interrupts.
    #[must_use]
    pub fn stopped_by(self, stop: impl Fn() -> bool + 'static) -> Self {
        Effort { stop: Some(Rc::new(stop)), ..self }
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
        let spent = self.spent.get().saturating_add(units);
        self.spent.set(spent);
        if spent >= self.next_poll.get() {
            self.next_poll.set(spent + POLL);
            self.stopped.set(self.stopped.get() || self.stop.as_ref().is_some_and(|stop| stop()));
        }
        if self.stopped.get() {
            return Err(Exhausted);
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_was_stopped_stays_stopped() {
        let asked = Rc::new(Cell::new(0));
        let seen = Rc::clone(&asked);
        let effort = Effort::new(u64::MAX).stopped_by(move || {
            seen.set(seen.get() + 1);
            seen.get() == 3
        });
        let done = (0..100).take_while(|_| effort.spend(POLL as usize).is_ok()).count();
        assert_eq!((done, asked.get()), (2, 3));
        effort.refill(u64::MAX);
        assert_eq!(effort.spend(1), Err(Exhausted));
    }
}
