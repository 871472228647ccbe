//! The reduced system by itself, for products that are large because cycles are cut where there are none.
//!
//! Cuts ([`PersistentSet::cuts_cycles`](volee_system::PersistentSet)) are chosen for the cycles that control
//! graphs allow. Processes that hand on messages in a ring have such cycles, each of them, while the states
//! of the whole may have none; then most sets are refused for nothing. So a product that grows where sets are
//! refused is put aside, and the reduced system is explored without the automaton, depth-first: each state
//! with its first persistent set, whatever that cuts, but with all its steps if one of the set leads back to
//! the path. On every cycle of a graph, a depth-first search finds a step back to its path, so on every cycle
//! of what was explored some state has all its steps (the stack proviso: Peled, "All from one, one for all",
//! 1993).
//!
//! Which states these are is settled before the automaton is looked at, and the product is then one with this
//! fixed system: what goes wrong where the choice depends on the automaton (Siegel 2019) cannot. A product
//! may have more steps than the fixed system, never fewer.

use volee_store::StateRef;
use volee_system::{Meter, System};

use super::nodes::{Nodes, UNVISITED};
use super::product::Product;

/// What becomes of a state, in the place of its order.
const ON_PATH: u32 = 1;
const REDUCED: u32 = 2;
const FULL: u32 = 3;

/// States entered between two looks at the clock.
const TICK: usize = 1 << 12;

/// A state on the path, and its targets that wait.
struct Frame {
    state: u32,
    first: usize,
    next: usize,
    is_full: bool,
}

/// The states of the reduced system, and which of them have all their steps.
#[derive(Clone)]
pub(crate) struct Expansions(Nodes);

impl Expansions {
    pub fn none() -> Self {
        Expansions(Nodes::new())
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// A state, and what became of it.
    pub fn get(&self, state: u32) -> (StateRef, u32) {
        (self.0.key(state).0, self.0.order[state as usize])
    }

    /// What became of a state.
    pub fn put(&mut self, name: StateRef, order: u32) {
        let state = self.number(name);
        *self.of(state) = order;
    }

    pub fn bytes(&self) -> u64 {
        self.0.bytes()
    }

    pub fn rename(&mut self, translate: impl FnMut(StateRef) -> StateRef) {
        self.0.rename(translate);
    }

    /// Whether the first persistent set of a state stands for all its steps.
    pub fn is_reduced(&mut self, name: StateRef) -> bool {
        let state = self.number(name);
        self.0.order[state as usize] == REDUCED
    }

    fn number(&mut self, name: StateRef) -> u32 {
        self.0.intern(name, 0)
    }

    fn of(&mut self, state: u32) -> &mut u32 {
        &mut self.0.order[state as usize]
    }
}

impl<S: System + ?Sized, const W: usize> Product<'_, S, W> {
    /// Settles which states of the system have all their steps; whether that was possible with at most this
    /// many states.
    pub fn settle_expansions(&mut self, most: usize, meter: &Meter) -> bool {
        self.expansions = Some(Expansions::none());
        let settled = self.explore_reduced(most, meter).is_some();
        if !settled {
            self.expansions = None;
        }
        settled
    }

    fn explore_reduced(&mut self, most: usize, meter: &Meter) -> Option<()> {
        let (mut frames, mut waiting): (Vec<Frame>, Vec<u32>) = (Vec::new(), Vec::new());
        self.stage_initial();
        let mut roots = Vec::new();
        self.number_targets(&mut roots)?;
        for root in roots {
            if *self.expansions.as_mut()?.of(root) == UNVISITED {
                frames.push(self.enter_reduced(root, &mut waiting)?);
            }
            while let Some(frame) = frames.last_mut() {
                if frame.next == waiting.len() {
                    *self.expansions.as_mut()?.of(frame.state) = if frame.is_full { FULL } else { REDUCED };
                    waiting.truncate(frame.first);
                    frames.pop();
                    continue;
                }
                let target = waiting[frame.next];
                frame.next += 1;
                match *self.expansions.as_mut()?.of(target) {
                    UNVISITED => {
                        frames.push(self.enter_reduced(target, &mut waiting)?);
                        let entered = self.expansions.as_ref()?.0.len();
                        if entered > most || entered % TICK == 0 && meter.check().is_err() {
                            return None;
                        }
                    }
                    ON_PATH if !frame.is_full => {
                        frame.is_full = true;
                        frame.next = frame.first;
                        waiting.truncate(frame.first);
                        self.all_targets(frame.state, &mut waiting)?;
                    }
                    _ => {}
                }
            }
        }
        Some(())
    }

    /// Puts a new state on the path. `None` where nothing can be settled.
    fn enter_reduced(&mut self, state: u32, waiting: &mut Vec<u32>) -> Option<Frame> {
        let expansions = self.expansions.as_mut()?;
        *expansions.of(state) = ON_PATH;
        let name = expansions.0.key(state).0;
        let first = waiting.len();
        let is_full = !self.stage_first_set(name);
        match is_full {
            true => self.all_targets(state, waiting)?,
            false => self.number_targets(waiting)?,
        }
        Some(Frame { state, first, next: first, is_full })
    }

    fn all_targets(&mut self, state: u32, waiting: &mut Vec<u32>) -> Option<()> {
        let name = self.expansions.as_ref()?.0.key(state).0;
        self.stage_all(name).ok()?;
        self.number_targets(waiting)
    }

    /// Numbers the targets that are staged.
    fn number_targets(&mut self, numbers: &mut Vec<u32>) -> Option<()> {
        for name in self.staged_names()? {
            numbers.push(self.expansions.as_mut()?.number(name));
        }
        Some(())
    }
}
