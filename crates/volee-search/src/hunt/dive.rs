//! Depth-first search over whole states, for tables that know no names: a few bits by state.
//!
//! The stack has the states that wait and, below them, those that were expanded on the way to them, all in one
//! piece of memory. So it is a path, and parts of it can be given to another thread with the way that leads
//! there: whoever finds an error knows its run. Persistent sets of steps are taken where that is right by the
//! state alone (see [`Reducing::by_state_alone`](crate::reducing::Reducing)), so that it does not matter who
//! has explored what.

use std::ops::ControlFlow;
use std::sync::Arc;

use volee_system::{FaultId, Flow, Random, Step, System, Witness};

use crate::paths::place_of;
use crate::questions::{OnFault, Questions};
use crate::reducing::MOST_ATTEMPTS;

/// States one after the other.
#[derive(Debug, Default)]
struct States {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl States {
    fn push(&mut self, state: &[u8]) {
        self.bytes.extend_from_slice(state);
        self.ends.push(self.bytes.len());
    }

    fn get(&self, at: usize) -> &[u8] {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start..self.ends[at]]
    }

    fn truncate(&mut self, length: usize) {
        self.ends.truncate(length);
        self.bytes.truncate(self.ends.last().copied().unwrap_or(0));
    }

    fn clear(&mut self) {
        self.truncate(0);
    }
}

/// The states that lead to where somebody begins, in pieces, the last one first.
#[derive(Debug)]
pub(crate) struct Way {
    states: States,
    before: Option<Arc<Way>>,
}

impl Drop for Way {
    /// One piece after the other: there may be many.
    fn drop(&mut self) {
        let mut next = self.before.take();
        while let Some(mut way) = next.and_then(Arc::into_inner) {
            next = way.before.take();
        }
    }
}

/// States for another thread, and how one gets to their common parent.
pub(crate) struct Package {
    states: States,
    way: Option<Arc<Way>>,
}

impl Package {
    /// These states, which are initial.
    pub(crate) fn initial<'s>(states: impl Iterator<Item = &'s Vec<u8>>) -> Self {
        let mut all = States::default();
        states.for_each(|state| all.push(state));
        Package { states: all, way: None }
    }
}

/// What became of a state on the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Waits,
    /// It is on the way to those above it.
    Expanded,
    /// Another thread has it.
    Given,
}

/// States that wait, with their path.
#[derive(Default)]
struct Path {
    states: States,
    places: Vec<Place>,
    waiting: usize,
    /// Below this nobody waits.
    lowest: usize,
    way: Option<Arc<Way>>,
}

impl Path {
    fn push(&mut self, state: &[u8]) {
        self.states.push(state);
        self.places.push(Place::Waits);
        self.waiting += 1;
    }

    /// Copies the next state; it is on the path from now on.
    fn next(&mut self, state: &mut Vec<u8>) -> bool {
        while self.places.pop_if(|place| *place != Place::Waits).is_some() {}
        self.states.truncate(self.places.len());
        self.lowest = self.lowest.min(self.places.len());
        let Some(last) = self.places.last_mut() else { return false };
        *last = Place::Expanded;
        self.waiting -= 1;
        state.clear();
        state.extend_from_slice(self.states.get(self.places.len() - 1));
        true
    }

    /// About half of the states that wait nearest to the start; none where only one waits.
    fn give(&mut self) -> Option<Package> {
        if self.waiting < 2 {
            return None;
        }
        while self.places[self.lowest] != Place::Waits {
            self.lowest += 1;
        }
        let siblings = self.places[self.lowest..].iter().take_while(|&&place| place != Place::Expanded);
        let most = siblings.count().div_ceil(2);
        let (mut states, mut way) = (States::default(), States::default());
        for at in 0..self.lowest {
            if self.places[at] == Place::Expanded {
                way.push(self.states.get(at));
            }
        }
        for at in self.lowest..self.lowest + most {
            if self.places[at] == Place::Waits {
                states.push(self.states.get(at));
                self.places[at] = Place::Given;
                self.waiting -= 1;
            }
        }
        let way = match way.ends.is_empty() {
            true => self.way.clone(),
            false => Some(Arc::new(Way { states: way, before: self.way.clone() })),
        };
        Some(Package { states, way })
    }

    /// The states from an initial one to the last that was expanded.
    fn states(&self) -> Vec<&[u8]> {
        let mut all: Vec<&[u8]> = Vec::new();
        let expanded = (0..self.places.len()).filter(|&at| self.places[at] == Place::Expanded);
        all.extend(expanded.map(|at| self.states.get(at)).rev());
        let mut way = self.way.as_deref();
        while let Some(piece) = way {
            all.extend((0..piece.states.ends.len()).rev().map(|at| piece.states.get(at)));
            way = piece.before.as_deref();
        }
        all.reverse();
        all
    }

    fn bytes(&self) -> u64 {
        (self.states.bytes.len() + self.states.ends.len() * (size_of::<usize>() + 1)) as u64
    }
}

/// A search at work.
pub(crate) struct Diver<'d, 'c, S: ?Sized> {
    pub(crate) system: &'d mut S,
    pub(crate) questions: Questions<'c>,
    path: Path,
    state: Vec<u8>,
    targets: States,
    order: Vec<u32>,
    faults: Vec<(u32, FaultId)>,
    /// Targets are tried in an order left to chance.
    shuffle: Option<Random>,
    reduces: bool,
    pub(crate) figures: Figures,
}

/// How far a search has come.
#[derive(Debug, Clone, Default)]
pub(crate) struct Figures {
    pub(crate) expanded: u64,
    pub(crate) transitions: u64,
    pub(crate) reduced: u64,
    pub(crate) depth: u64,
}

impl<'d, 'c, S: System + ?Sized> Diver<'d, 'c, S> {
    pub(crate) fn new(system: &'d mut S, questions: Questions<'c>, shuffle: Option<u64>) -> Self {
        Diver {
            reduces: questions.check().reduction.is_persistent(),
            system,
            questions,
            path: Path::default(),
            state: Vec::new(),
            targets: States::default(),
            order: Vec::new(),
            faults: Vec::new(),
            shuffle: shuffle.map(Random::new),
            figures: Figures::default(),
        }
    }

    /// Begins with the initial states that are new.
    pub(crate) fn begin(&mut self, is_new: impl FnMut(&[u8]) -> bool) {
        self.targets.clear();
        let (system, targets) = (&mut *self.system, &mut self.targets);
        let _ = system.initial(&mut |state| {
            targets.push(state);
            Flow::Continue(())
        });
        self.figures.transitions += self.targets.ends.len() as u64;
        self.push_new(is_new);
    }

    /// Begins with what another has given; nothing else waits.
    pub(crate) fn take(&mut self, package: Package) {
        self.path = Path { way: package.way, ..Path::default() };
        (0..package.states.ends.len()).for_each(|at| self.path.push(package.states.get(at)));
    }

    /// Something for another.
    pub(crate) fn give(&mut self) -> Option<Package> {
        self.path.give()
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.path.waiting == 0
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.path.bytes()
    }

    pub(crate) fn waiting(&self) -> u64 {
        self.path.waiting as u64
    }

    /// Expands a state; whether there was one. `Break` when the search may end for what was found.
    pub(crate) fn step(&mut self, is_new: impl FnMut(&[u8]) -> bool) -> ControlFlow<(), bool> {
        if !self.path.next(&mut self.state) {
            return ControlFlow::Continue(false);
        }
        self.figures.expanded += 1;
        let flow = self.questions.visit(self.system, &self.state);
        self.give_witness(None);
        flow?;
        if !self.expand_reduced() {
            self.expand_fully()?;
        }
        self.push_new(is_new);
        ControlFlow::Continue(true)
    }

    /// The targets of a persistent set of steps, if there is one that is right by the state alone.
    fn expand_reduced(&mut self) -> bool {
        let mut attempt = 0;
        while self.reduces && attempt < MOST_ATTEMPTS {
            self.targets.clear();
            let targets = &mut self.targets;
            let Some(system) = self.system.reducible() else { return false };
            let mut sink = |step: Step, target: &[u8]| {
                if step.fault.is_some() {
                    return Flow::Break(());
                }
                targets.push(target);
                Flow::Continue(())
            };
            let answer = system.persistent_steps(&self.state, attempt, &mut sink);
            let Some(set) = answer.continue_value().flatten() else { return false };
            if set.others_may_be_ignored || !set.cuts_cycles {
                self.figures.transitions += self.targets.ends.len() as u64;
                self.figures.reduced += 1;
                return true;
            }
            attempt = set.next;
        }
        false
    }

    /// All targets, and what the questions say of the steps to them.
    fn expand_fully(&mut self) -> Flow {
        self.targets.clear();
        self.faults.clear();
        let (targets, faults, on_fault) = (&mut self.targets, &mut self.faults, self.questions.on_fault());
        let mut pushed = 0;
        let mut sink = |step: Step, target: &[u8]| {
            pushed += 1;
            if !step.stays {
                targets.push(target);
            }
            match step.fault.filter(|_| on_fault != OnFault::Ignore) {
                None => Flow::Continue(()),
                Some(fault) => {
                    faults.push((pushed - 1, fault));
                    if on_fault == OnFault::Stop { Flow::Break(()) } else { Flow::Continue(()) }
                }
            }
        };
        let _ = self.system.steps(&self.state, &mut sink);
        self.figures.transitions += self.targets.ends.len() as u64;
        if pushed == 0 {
            let flow = self.questions.end(self.system, &self.state);
            self.give_witness(None);
            return flow;
        }
        for at in 0..self.faults.len() {
            let (ordinal, fault) = self.faults[at];
            let flow = self.questions.fault(self.system, &self.state, ordinal, fault);
            self.give_witness(Some(ordinal));
            flow?;
        }
        Flow::Continue(())
    }

    /// Puts the new ones of the targets on the stack; the last one will be expanded first.
    fn push_new(&mut self, mut is_new: impl FnMut(&[u8]) -> bool) {
        let count = self.targets.ends.len();
        self.order.clear();
        self.order.extend(0..count as u32);
        if let Some(random) = &mut self.shuffle {
            for at in (1..count).rev() {
                self.order.swap(at, random.part_of(at + 1));
            }
        }
        for at in 0..count {
            let target = self.targets.get(self.order[at] as usize);
            if is_new(target) {
                self.path.push(target);
            }
        }
        self.figures.depth = self.figures.depth.max(self.path.places.len() as u64);
    }

    #[inline]
    fn give_witness(&mut self, last: Option<u32>) {
        if self.questions.wants_witness() {
            let witness = run(self.system, &self.path.states(), last).unwrap_or_default();
            self.questions.give_witness(&witness);
        }
    }
}

/// The run through these states, and from the last by a step.
fn run<S: System + ?Sized>(system: &mut S, states: &[&[u8]], last: Option<u32>) -> Option<Witness> {
    let initial = place_of(states.first()?, |push| system.initial(push))?;
    let mut steps = Vec::with_capacity(states.len());
    for pair in states.windows(2) {
        let step = place_of(pair[1], |push| system.steps(pair[0], &mut |_: Step, s: &[u8]| push(s)))?;
        steps.push(step);
    }
    steps.extend(last);
    Some(Witness { initial, steps, loop_start: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn states(path: &Path) -> Vec<Vec<u8>> {
        path.states().into_iter().map(<[u8]>::to_vec).collect()
    }

    #[test]
    fn what_is_given_away_takes_its_way_along() {
        let (mut path, mut state) = (Path::default(), Vec::new());
        path.push(&[1]);
        assert!(path.next(&mut state) && path.give().is_none());
        [2, 3, 4].iter().for_each(|&next| path.push(&[next, 0]));
        let package = path.give().expect("three wait");
        assert_eq!((package.states.ends.len(), path.waiting), (2, 1));
        assert!(path.next(&mut state));
        assert_eq!((&state[..], states(&path)), (&[4, 0][..], vec![vec![1], vec![4, 0]]));
        assert!(!path.next(&mut state), "what was given is not expanded here");

        let mut other = Path { way: package.way, ..Path::default() };
        (0..2).for_each(|at| other.push(package.states.get(at)));
        assert!(other.next(&mut state));
        [5, 6].iter().for_each(|&next| other.push(&[next]));
        assert!(other.next(&mut state));
        assert_eq!(states(&other), vec![vec![1], vec![3, 0], vec![6]]);
        let again = other.give().expect("two wait");
        assert_eq!(again.states.get(0), [2, 0], "the one nearest to the start");
        assert_eq!(again.way.map(|way| way.states.get(0).to_vec()), Some(vec![1]));
    }
}
