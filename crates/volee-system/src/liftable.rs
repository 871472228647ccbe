//! Steps as lists of moves: what makes a run of an optimised system one of the plain system.
//!
//! A move is a transition of one process, by a number that no optimisation changes, so that the faster system
//! and the plain one mean the same by it. [`crate::lift`] goes along these lists.

use crate::{Step, System};

/// One transition of one process, by a number that it keeps however the system is optimised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Move {
    /// The process.
    pub process: u8,
    /// The transition.
    pub transition: u32,
}

/// A step that makes the beginning of a list of moves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Followed {
    /// Its number in its source state.
    pub ordinal: usize,
    /// How many of the moves it makes.
    pub moves: usize,
    /// The step.
    pub step: Step,
    /// Where it leads.
    pub target: Vec<u8>,
}

/// A system whose steps are made of moves. Nothing here is called in a hot loop.
pub trait Liftable {
    /// The moves that the `ordinal`-th step of `state` is made of, in order. A rendezvous is two, the
    /// sender's first.
    fn moves(&mut self, state: &[u8], ordinal: usize) -> Vec<Move>;

    /// The step of `state` whose moves are the first of these.
    fn follow(&mut self, state: &[u8], moves: &[Move]) -> Option<Followed>;

    /// A state without what nobody reads: two states with the same essence allow the same runs, and every
    /// predicate has the same value in both.
    fn essence(&self, state: &[u8]) -> Vec<u8>;
}

/// The essence of a state; all of it where the system cannot tell.
pub(crate) fn essence<S: System + ?Sized>(system: &mut S, state: &[u8]) -> Vec<u8> {
    system.liftable().map_or_else(|| state.to_vec(), |system| system.essence(state))
}

/// The moves of a step; none where the system is not made of moves.
pub(crate) fn moves<S: System + ?Sized>(system: &mut S, state: &[u8], ordinal: usize) -> Vec<Move> {
    system.liftable().map(|system| system.moves(state, ordinal)).unwrap_or_default()
}
