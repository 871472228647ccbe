//! The cycle proviso of reduced searches: which states are sure to lead to one that is expanded in full.
//!
//! Where a state is expanded with a persistent set, the other steps are put off. They stay possible, and they
//! must be taken somewhere. A state *satisfies the proviso* (is *satisfied*) if all its steps are taken, or
//! nobody will ask for those that are not, or it has an explored step to a satisfied state. The search sees
//! to it that in the end all states are; then from each an explored run leads to a state where what was put
//! off is taken, and nothing is lost: let w be a run from a state to something that is asked about. If the
//! first step of w that is in the state's persistent set exists, it can be taken first, and what is left of w
//! is shorter. Otherwise w is possible, as it is, after each step of the set: follow the explored run to
//! where one of the steps of w is taken, at the latest the state where all are. (The ignoring problem:
//! Valmari, "A stubborn attack on state explosion", 1992; usual conditions ask for a full expansion on each
//! cycle, or for a new successor of each state.)
//!
//! In a depth-first search a state is satisfied when its exploration is finished: it is expanded in full
//! unless some successor in its set is new, and so finished before it, or known and satisfied. So the states
//! that are not are those on the stack that wait, and of those below them the ones of which no successor is
//! satisfied so far. They are counted here in a table of small counters, several states to a counter: what it
//! does not hold is satisfied, what it holds may be too, and is then expanded in full for nothing.

use volee_store::StateRef;

const FIRST_SIZE: usize = 1 << 8;
/// Counters for each state that is held, at least.
const LEAST_SHARE: usize = 4;

/// The states that are not satisfied.
#[derive(Debug, Clone, Default)]
pub(crate) struct Proviso {
    /// A power of two of them; none where nobody asks.
    counters: Vec<u8>,
    held: usize,
    /// How many there may be, where memory is bounded: with fewer than it takes, more is held than must be.
    most: Option<usize>,
}

impl Proviso {
    /// From now on states are held.
    pub(crate) fn start(&mut self) {
        self.counters = vec![0; FIRST_SIZE];
        self.held = 0;
    }

    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        !self.counters.is_empty()
    }

    /// A state that is not satisfied.
    #[inline]
    pub(crate) fn hold(&mut self, name: StateRef) {
        let at = self.place(name);
        self.counters[at] = self.counters[at].saturating_add(1);
        self.held += 1;
    }

    /// A state that was held is satisfied now. A counter that was full stays so.
    #[inline]
    pub(crate) fn release(&mut self, name: StateRef) {
        let at = self.place(name);
        if self.counters[at] < u8::MAX {
            self.counters[at] -= 1;
        }
        self.held -= 1;
    }

    /// Whether a state may be one of those that are not satisfied.
    #[inline]
    pub(crate) fn holds(&self, name: StateRef) -> bool {
        self.counters[self.place(name)] > 0
    }

    /// Whether there should be more counters: see [`Proviso::rebuild`].
    #[inline]
    pub(crate) fn is_crowded(&self) -> bool {
        self.held > self.counters.len() / LEAST_SHARE && self.may_grow()
    }

    fn may_grow(&self) -> bool {
        self.most.is_none_or(|most| 4 * self.counters.len() <= most)
    }

    /// It may have this many bytes, or what it begins with.
    pub(crate) fn hold_to(&mut self, bytes: u64) {
        self.most = Some(usize::try_from(bytes).unwrap_or(usize::MAX));
    }

    /// Makes room, as far as there may be more, and holds these states instead of those it held.
    pub(crate) fn rebuild(&mut self, names: impl Iterator<Item = StateRef>) {
        if self.may_grow() {
            self.counters = vec![0; self.counters.len() * 4];
        }
        self.refill(names);
    }

    /// Holds these states instead of those it held.
    pub(crate) fn refill(&mut self, names: impl Iterator<Item = StateRef>) {
        self.counters.fill(0);
        self.held = 0;
        names.for_each(|name| self.hold(name));
    }

    /// What it grows by if states are held soon that make it crowded.
    pub(crate) fn growth(&self) -> u64 {
        if self.may_grow() && self.held + self.held / 4 + 64 > self.counters.len() / LEAST_SHARE {
            3 * self.bytes()
        } else {
            0
        }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.counters.capacity() as u64
    }

    #[inline]
    fn place(&self, name: StateRef) -> usize {
        (volee_store::mix(name.0) >> 32) as usize & (self.counters.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_is_never_denied_and_all_is_given_back() {
        let mut proviso = Proviso::default();
        assert!(!proviso.is_on());
        proviso.start();
        assert!(proviso.is_on());
        let mut held: Vec<StateRef> = Vec::new();
        for round in 0..20_000_u64 {
            let name = StateRef(round * 0x1234_5678_9ABC);
            if round % 3 < 2 {
                proviso.hold(name);
                held.push(name);
            } else {
                proviso.release(held.swap_remove(round as usize % held.len()));
            }
            if proviso.is_crowded() {
                proviso.rebuild(held.iter().copied());
            }
        }
        assert!(held.iter().all(|&name| proviso.holds(name)));
        let strangers =
            (0..10_000_u64).map(|i| StateRef(i * 7 + 3)).filter(|&name| proviso.holds(name)).count();
        assert!(strangers < 3_500, "{strangers} of 10,000 are held without reason");
        held.drain(..).for_each(|name| proviso.release(name));
        assert!(proviso.counters.iter().all(|&count| count == 0));
        assert!(!proviso.is_crowded() && proviso.held == 0);
        assert!(proviso.bytes() >= (LEAST_SHARE * 6_000) as u64, "counters for all that were held");
    }

    #[test]
    fn a_counter_that_was_full_denies_nobody() {
        let mut proviso = Proviso::default();
        proviso.start();
        let name = StateRef(17);
        (0..300).for_each(|_| proviso.hold(name));
        (0..299).for_each(|_| proviso.release(name));
        assert!(proviso.holds(name), "one is held, whatever was counted");
    }

    #[test]
    fn there_are_four_counters_for_each_state_that_is_held() {
        let mut proviso = Proviso::default();
        proviso.start();
        for held in 1..=3 * FIRST_SIZE / LEAST_SHARE {
            proviso.hold(StateRef(held as u64));
            assert_eq!(proviso.is_crowded(), FIRST_SIZE < LEAST_SHARE * held, "{held} are held");
        }
    }
}
