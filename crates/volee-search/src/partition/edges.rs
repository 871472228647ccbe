//! The transitions between the states of one worker that may be on a cycle that a claim accepts.
//!
//! Whoever owns the target of a transition keeps it: it learns the number of the source with the target, so
//! that keeping all transitions costs no message more than finding all states. Only transitions inside a
//! component of the automaton that can accept are kept, because a cycle of the product is one of the
//! automaton.

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use volee_logic::automaton::components;

use crate::liveness::{Claim, Fairness};
use crate::pairs::split;
use volee_store::StateRef;

/// Bytes that follow a state on its way: whether its transition is kept, and who moves.
pub(super) const TAG: usize = 2;
/// No component that can accept.
const OUTSIDE: u32 = u32::MAX;

/// What the states of an automaton mean for cycles of its product.
#[derive(Debug, Clone, Default)]
pub struct Recurrence {
    /// By state of the automaton: its component, if it can accept.
    component: Vec<u32>,
    /// By state of the automaton: whether it accepts.
    accepting: Vec<bool>,
    /// Whether each process that can move for ever must move.
    fair: bool,
}

impl Recurrence {
    /// For a claim with acceptance on states ([`Claim::state_based`]).
    ///
    /// # Panics
    /// Strong fairness is not looked for in this way.
    pub fn new(claim: &Claim, fairness: Fairness) -> Self {
        assert!(fairness != Fairness::Strong, "strong fairness needs the whole graph in one place");
        let automaton = &claim.automaton;
        let found = components(automaton);
        let all = automaton.all_marks();
        let component = |state: usize| match found.of[state] {
            unreachable @ OUTSIDE => unreachable,
            of if found.accepting(of, all) => of,
            _ => OUTSIDE,
        };
        Recurrence {
            component: (0..automaton.len()).map(component).collect(),
            accepting: (0..automaton.len()).map(|state| automaton.state_marks(state) != 0).collect(),
            fair: fairness == Fairness::Weak,
        }
    }

    /// Whether a transition to this pair stays inside a component.
    #[inline]
    pub(super) fn is_inside(&self, component: u32, target: &[u8]) -> bool {
        component != OUTSIDE && self.component[split(target).1 as usize] == component
    }
}

/// The transitions kept so far.
pub(super) struct Edges {
    recurrence: Recurrence,
    /// The numbers of our states.
    numbers: HashMap<StateRef, u32, FixedState>,
    /// Target, source.
    pub all: Vec<(u32, u32)>,
    /// Who moves, where that matters.
    pub movers: Vec<u8>,
    /// By state: how many transitions leave it, wherever they lead.
    pub leaving: Vec<u32>,
    pub accepting: Vec<bool>,
    /// By state, where that matters: who can move.
    pub enabled: Vec<[u64; 4]>,
}

impl Edges {
    pub fn new(recurrence: Recurrence) -> Self {
        Edges {
            recurrence,
            numbers: HashMap::with_hasher(FixedState::default()),
            all: Vec::new(),
            movers: Vec::new(),
            leaving: Vec::new(),
            accepting: Vec::new(),
            enabled: Vec::new(),
        }
    }

    pub fn is_fair(&self) -> bool {
        self.recurrence.fair
    }

    /// What is needed to tell which transitions of a pair are to be kept.
    pub fn recurrence(&self, state: &[u8]) -> (&Recurrence, u32) {
        (&self.recurrence, self.recurrence.component[split(state).1 as usize])
    }

    /// A state of ours was met; states are numbered as they are found. By a transition that is to be kept:
    /// its source and who moves.
    pub fn add(&mut self, name: StateRef, by: Option<(u32, u8)>) {
        let next = self.numbers.len() as u32;
        let number = *self.numbers.entry(name).or_insert(next);
        if let Some((source, mover)) = by {
            self.all.push((number, source));
            if self.recurrence.fair {
                self.movers.push(mover);
            }
        }
    }

    /// A state was expanded: how many of its transitions are kept somewhere, and who can move in it.
    pub fn leave(&mut self, at: usize, state: &[u8], inner: u32, enabled: [u64; 4]) {
        if self.leaving.len() <= at {
            self.leaving.resize(at + 1, 0);
            self.accepting.resize(at + 1, false);
        }
        self.leaving[at] = inner;
        self.accepting[at] = self.recurrence.accepting[split(state).1 as usize];
        if self.recurrence.fair {
            if self.enabled.len() <= at {
                self.enabled.resize(at + 1, [0; 4]);
            }
            self.enabled[at] = enabled;
        }
    }

    /// A transition of which it was known before that it is to be kept.
    pub fn known(&mut self, target: u32, source: u32, mover: u8) {
        self.all.push((target, source));
        if self.recurrence.fair {
            self.movers.push(mover);
        }
    }

    pub fn bytes(&self) -> usize {
        self.numbers.capacity() * 17
            + self.all.capacity() * 8
            + self.movers.capacity()
            + self.leaving.capacity() * 5
            + self.enabled.capacity() * 32
    }
}
