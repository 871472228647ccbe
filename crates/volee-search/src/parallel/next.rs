//! The states that wait for a worker, and which of them is next.
//!
//! Workers look differently, so that a shallow error does not wait behind a deep search, nor a deep one behind
//! a wide one: some go on with the state that they met last, some with the first, some with any. Those that
//! hunt take turns, and some of them walk: from any state on by any way that is new, and soon from another.
//! Who goes by the first is told by the others of states that are less deep than where it is.

use std::collections::VecDeque;
use std::ops::Range;

use volee_store::{StateRef, mix};

use super::yard::Package;

/// States that are handed over at a time, at most.
const LARGEST_PACKAGE: usize = 1 << 14;
/// Steps of a walk, in the mean.
const WALK: u64 = 1 << 8;
/// From so many of those met last a walk chooses.
const WAYS: usize = 4;

/// Which of the states that wait is expanded next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    Last,
    First,
    /// Any: by a generator that is the same in each search.
    Any(u64),
    /// One of the last, and now and then any.
    Walk(u64),
}

impl Next {
    /// What this worker does.
    pub fn of(worker: usize) -> Self {
        match worker % 4 {
            1 => Next::First,
            3 => Next::Any(worker as u64),
            _ => Next::Last,
        }
    }

    /// What it does at its turn when all hunt. Who goes by the first does so always, so that states wait for
    /// it in the order of their depth; one that is alone does everything.
    pub fn hunting(worker: usize, workers: usize, turn: u64, seed: u64) -> Self {
        let random = mix(seed ^ mix(worker as u64 + 1) ^ turn);
        match (if workers == 1 { 4 } else { worker % 4 }, turn % 4) {
            (1, _) | (4, 1 | 3) => Next::First,
            (2, _) | (0, 3) | (4, 2) => Next::Walk(random),
            (3, _) => Next::Any(random),
            _ => Next::Last,
        }
    }
}

/// States that wait, with how deep they are.
#[derive(Default)]
pub(super) struct Waiting {
    pub names: VecDeque<StateRef>,
    depths: VecDeque<u32>,
}

impl Waiting {
    pub fn of(states: &[(StateRef, u32)]) -> Self {
        let (names, depths) = states.iter().copied().unzip();
        Waiting { names, depths }
    }

    pub fn from_package(package: Package) -> Self {
        Waiting { names: package.names.into(), depths: package.depths.into() }
    }

    pub fn push(&mut self, name: StateRef, depth: u32) {
        self.names.push_back(name);
        self.depths.push_back(depth);
    }

    pub fn pop(&mut self, next: &mut Next) -> Option<(StateRef, u32)> {
        match next {
            Next::Last => self.pop_last(),
            Next::First => self.names.pop_front().zip(self.depths.pop_front()),
            Next::Any(random) => {
                *random = mix(*random);
                self.pop_at(*random as usize % self.names.len().max(1))
            }
            Next::Walk(random) => {
                *random = mix(*random);
                let (length, any) = (self.names.len(), *random as usize >> 16);
                match (*random).is_multiple_of(WALK) {
                    true => self.pop_at(any % length.max(1)),
                    false => self.pop_at(length.saturating_sub(1 + any % length.clamp(1, WAYS))),
                }
            }
        }
    }

    fn pop_last(&mut self) -> Option<(StateRef, u32)> {
        self.names.pop_back().zip(self.depths.pop_back())
    }

    fn pop_at(&mut self, at: usize) -> Option<(StateRef, u32)> {
        self.names.swap_remove_back(at).zip(self.depths.swap_remove_back(at))
    }

    /// The one whose turn will probably come after so many others, itself counted.
    pub fn soon(&self, next: Next, after: usize) -> Option<StateRef> {
        let at = if next == Next::First { after.checked_sub(1) } else { self.names.len().checked_sub(after) };
        at.and_then(|at| self.names.get(at).copied())
    }

    /// How deep the one is that was met first.
    pub fn first_depth(&self) -> Option<u32> {
        self.depths.front().copied()
    }

    fn drain(&mut self, range: Range<usize>) -> Package {
        Package {
            names: self.names.drain(range.clone()).collect(),
            depths: self.depths.drain(range).collect(),
        }
    }

    /// Half of them, those that would be popped last.
    pub fn split(&mut self, next: Next) -> Package {
        let len = self.names.len();
        let half = (len / 2).min(LARGEST_PACKAGE);
        self.drain(if next == Next::First { len - half..len } else { 0..half })
    }

    /// Those that were met first and are less deep than this, but not all.
    pub fn above(&mut self, level: u32) -> Option<Package> {
        let most = self.names.len().saturating_sub(1).min(LARGEST_PACKAGE);
        let count = self.depths.iter().take(most).take_while(|&&depth| depth < level).count();
        (count > 0).then(|| self.drain(0..count))
    }

    /// Takes these as well: at the front where they are less deep.
    pub fn join(&mut self, package: Package) {
        let (names, depths) = (package.names.into_iter(), package.depths.into_iter());
        if depths.as_slice().first() < self.depths.front() {
            for (name, depth) in names.zip(depths).rev() {
                self.names.push_front(name);
                self.depths.push_front(depth);
            }
        } else {
            self.names.extend(names);
            self.depths.extend(depths);
        }
    }

    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = (StateRef, u32)> + '_ {
        self.names.iter().copied().zip(self.depths.iter().copied())
    }

    pub fn bytes(&self) -> u64 {
        (self.names.capacity() * 8 + self.depths.capacity() * 4) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(depths: &[u32]) -> Waiting {
        let all: Vec<(StateRef, u32)> =
            depths.iter().zip(1..).map(|(&depth, n)| (StateRef(n), depth)).collect();
        Waiting::of(&all)
    }

    #[test]
    fn every_order_gives_every_state_once() {
        for next in [Next::Last, Next::First, Next::Any(3), Next::Walk(5)] {
            let (mut waiting, mut next) = (waiting(&[0; 1000]), next);
            let mut all: Vec<u64> = std::iter::from_fn(|| waiting.pop(&mut next)).map(|s| s.0.0).collect();
            all.sort_unstable();
            assert_eq!(all, (1..=1000).collect::<Vec<u64>>());
        }
    }

    #[test]
    fn what_is_less_deep_is_given_away_and_comes_first_elsewhere() {
        let mut deep = waiting(&[1, 2, 7, 9, 3]);
        let package = deep.above(5).expect("two are less deep");
        assert_eq!((&package.depths[..], deep.names.len()), (&[1, 2][..], 3));
        let mut wide = waiting(&[4, 5]);
        wide.join(package);
        assert_eq!(wide.all().map(|s| s.1).collect::<Vec<_>>(), [1, 2, 4, 5]);
        wide.join(Package { names: vec![StateRef(9)], depths: vec![6] });
        assert_eq!(wide.all().last(), Some((StateRef(9), 6)));
        assert!(waiting(&[1]).above(5).is_none(), "somebody must go on");
    }

    #[test]
    fn hunters_look_in_all_ways_whatever_their_number() {
        for workers in [1, 2, 4] {
            let turns = (0..workers).flat_map(|worker| (0..4).map(move |turn| (worker, turn)));
            let kinds: Vec<Next> = turns.map(|(w, turn)| Next::hunting(w, workers, turn, 7)).collect();
            assert!(kinds.contains(&Next::First) && kinds.contains(&Next::Last), "{kinds:?}");
            assert!(kinds.iter().any(|kind| matches!(kind, Next::Walk(_))), "{kinds:?}");
        }
    }
}
