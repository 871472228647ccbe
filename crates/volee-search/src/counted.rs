//! Memory counted in states: what the traversal of the reports keeps, as they print it.
//!
//! Jard and Jéron 1991, section 2.1, and 1989, section 4: one path is kept, and beside it as many visited
//! states as fit; a visited state chosen at random makes room. Of a state on the path only the number of the
//! next step is kept, so that what is counted is all there is. [`volee_store::Frugal`] needs fewer bytes;
//! this one draws the curves of the reports, is the plainest statement of the algorithm, and a twin for the
//! others. The traversal itself is in [`crate::single`].

use std::collections::HashMap;
use std::rc::Rc;

use volee_system::{Limit, Meter, Progress, System};

use crate::check::Statistics;
use crate::questions::{Questions, once};
use crate::single::{self, Kept, Turned};
use volee_store::Sketch;

/// Bytes for the estimate of how many states there are.
const SKETCH: u64 = 1 << 20;

/// Visits all states with at most `most` of them in memory.
pub(crate) fn search<S: System + ?Sized>(
    system: &mut S,
    questions: &mut Questions<'_>,
    meter: &Meter,
    progress: &mut dyn Progress,
    most: usize,
    seed: u64,
) -> (Statistics, Option<Limit>) {
    questions.count_once(once::share(u64::MAX));
    let parts = (Heap::new(most.max(1), seed), Sketch::new(SKETCH), Statistics::default());
    single::search(system, questions, meter, progress, parts)
}

/// A state of the path, and the number of the step to take next.
struct Frame {
    slot: u32,
    next: u32,
}

/// States on the path are pinned; of the others one may be forgotten in no time.
struct Heap {
    slots: HashMap<Rc<[u8]>, u32>,
    states: Vec<Rc<[u8]>>,
    /// Slots of states that are not on the path, and where each slot is among them.
    loose: Vec<u32>,
    place: Vec<u32>,
    most: usize,
    seed: u64,
    path: Vec<Frame>,
    turned: Turned,
}

impl Heap {
    fn new(most: usize, seed: u64) -> Self {
        Heap {
            slots: HashMap::new(),
            states: Vec::new(),
            loose: Vec::new(),
            place: Vec::new(),
            most,
            seed,
            path: Vec::new(),
            turned: Turned::default(),
        }
    }

    fn random(&mut self, below: usize) -> usize {
        self.seed = self.seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.seed;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((u128::from(bits ^ (bits >> 31)) * below as u128) >> 64) as usize
    }

    /// Stores a state, pinned. `None` when all that is kept is on the path.
    fn pin(&mut self, state: &[u8]) -> Option<u32> {
        let state: Rc<[u8]> = state.into();
        let slot = if self.states.len() < self.most {
            self.states.push(Rc::clone(&state));
            self.place.push(u32::MAX);
            self.states.len() as u32 - 1
        } else {
            let chosen = match self.loose.len() {
                0 => return None,
                count => self.random(count),
            };
            let slot = self.loose.swap_remove(chosen);
            if let Some(&moved) = self.loose.get(chosen) {
                self.place[moved as usize] = chosen as u32;
            }
            let old = std::mem::replace(&mut self.states[slot as usize], Rc::clone(&state));
            self.slots.remove(&old);
            self.turned.replaced += 1;
            slot
        };
        self.slots.insert(state, slot);
        self.turned.insertions += 1;
        Some(slot)
    }
}

impl Kept for Heap {
    fn knows(&mut self, state: &[u8]) -> bool {
        let known = self.slots.contains_key(state);
        self.turned.hits += u64::from(known);
        known
    }

    fn enter(&mut self, state: &[u8]) -> Option<()> {
        let slot = self.pin(state)?;
        self.path.push(Frame { slot, next: 0 });
        Some(())
    }

    fn last(&self) -> Option<&[u8]> {
        Some(&self.states[self.path.last()?.slot as usize])
    }

    fn next_step(&mut self) -> &mut u32 {
        &mut self.path.last_mut().expect("the path has a state").next
    }

    fn leave(&mut self) {
        if let Some(Frame { slot, .. }) = self.path.pop() {
            self.place[slot as usize] = self.loose.len() as u32;
            self.loose.push(slot);
        }
    }

    fn depth(&self) -> usize {
        self.path.len()
    }

    fn steps(&self) -> Vec<u32> {
        self.path.iter().rev().map(|frame| frame.next).collect()
    }

    fn turned(&self) -> Turned {
        self.turned
    }

    fn len(&self) -> u64 {
        self.states.len() as u64
    }

    fn bytes(&self) -> u64 {
        let bytes = self.states.first().map_or(0, |state| state.len());
        (self.states.len() * (bytes + 64)) as u64
    }

    fn full(&self, _: u64) -> Limit {
        let message = format!(
            "{} states are too few: a path of {} states must be kept",
            self.most,
            self.path.len() + 1
        );
        Limit::Other { message }
    }
}
