//! Partial-order reduction as a capability of a system: which steps of a state stand for all.
//!
//! A *persistent set* is a set of steps such that nothing the other steps can lead to interferes with it; a
//! *sleep set* holds processes all whose next steps are explored elsewhere (Godefroid, "Partial-Order Methods
//! for the Verification of Concurrent Systems", 1996). The system argues that its sets are such; that no step
//! is ignored for ever (the cycle proviso) is the business of the search. Steps are not numbered here as
//! [`System::steps`] numbers them.
//!
//! [`System::steps`]: crate::System::steps

use std::ops::ControlFlow;

use crate::{Flow, Sink, Step};

/// The processes of a state, as bits: those in its sleep set, and the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SleepSet {
    /// All they can do next is found by other ways.
    pub asleep: u64,
    /// The others.
    pub awake: u64,
}

/// A persistent set whose steps were pushed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PersistentSet {
    /// The other steps can, without one of these, never lead to a fault or change a predicate: they may be
    /// ignored for ever. Otherwise the search must see to it that they are taken sooner or later.
    pub others_may_be_ignored: bool,
    /// A search for cycles must not take this set: if no set is taken of which this is true, then on every
    /// cycle some state is expanded fully. It depends on the state and the attempt alone.
    pub cuts_cycles: bool,
    /// Which attempt comes next.
    pub next: u32,
}

/// Processes whose steps are persistent in a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessSet {
    /// As bits.
    pub set: u64,
    /// See [`PersistentSet::others_may_be_ignored`].
    pub others_may_be_ignored: bool,
    /// See [`PersistentSet::cuts_cycles`].
    pub cuts_cycles: bool,
}

/// What became of a question for steps of processes that are awake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Awake {
    /// Steps were pushed: all there are, or a persistent set of them.
    Moved(Option<PersistentSet>),
    /// No process that is awake (and, in an attempt, was looked at) can move.
    Nobody,
    /// The system cannot tell, or nobody can move at all: all steps must be asked for.
    Unknown,
}

/// A system that knows persistent sets, and perhaps sleep sets.
pub trait Reducible {
    /// Pushes a persistent set of steps of `state` that no predicate sees. Where the system knows several,
    /// the first `attempt` is 0, and the answer tells the next. `None`, and nothing pushed, where there is
    /// none (left).
    fn persistent_steps(
        &mut self,
        state: &[u8],
        attempt: u32,
        sink: &mut dyn Sink,
    ) -> ControlFlow<(), Option<PersistentSet>>;

    /// The sets of processes that [`Reducible::persistent_steps`] tries one after the other, in the state
    /// that was divided last (see [`Divisible`](crate::Divisible), whose records are the processes). The
    /// steps of a set are those of its processes, from the last to the first; a set without any is passed
    /// over.
    fn persistent_sets(&mut self, _sets: &mut Vec<ProcessSet>) {}

    /// What a process means for the choice of these sets, as a number: states in which the same processes
    /// have the same numbers have the same sets. Adds to `touched` the components that the number depends on.
    /// `None` where there is none.
    fn stance(&mut self, _record: u8, _touched: &mut u64) -> Option<u32> {
        None
    }

    /// Whether, when only persistent steps are taken, every state is met in which nobody can move. Otherwise
    /// some are met for others that nobody can tell from them.
    fn meets_every_end(&self) -> bool {
        true
    }

    /// Pushes the steps of the processes that are not `asleep` (a set of bits), or, at an `attempt` as in
    /// [`Reducible::persistent_steps`], a persistent set of them; and with each step the sleep set of its
    /// target. A system that knows no sleep sets need not say so.
    fn awake_steps(
        &mut self,
        _state: &[u8],
        _asleep: u64,
        _attempt: Option<u32>,
        _push: &mut dyn FnMut(Step, &[u8], SleepSet) -> Flow,
    ) -> ControlFlow<(), Awake> {
        ControlFlow::Continue(Awake::Unknown)
    }
}
