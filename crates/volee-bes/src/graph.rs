//! The interface between whoever has equations and whoever solves them.
//!
//! A variable is a place (packed bytes: a state, a pair of states, a number) and a node (which of the few
//! equations of that place). Keeping the two apart lets a solver store a state once for all its subformulas.
//! Right-hand sides are pure disjunctions or conjunctions, so a variable is one vertex and its right-hand
//! side its outgoing edges.

pub use volee_logic::mu::{Operator, Sign};
use volee_system::Flow;

use crate::audit::{Seen, Told};

/// Which of the equations of a place.
pub type Node = u16;

/// Why a right-hand side cannot be computed: the model or the property has no meaning in that place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Trouble(pub String);

/// What is known of the equations of a block before looking at any place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Every conjunction has at most one variable of its own block: values spread like reachability.
    Disjunctive,
    /// Every disjunction has at most one variable of its own block.
    Conjunctive,
    /// Neither.
    Mixed,
}

/// Receives a right-hand side.
pub trait Successors {
    /// A variable of the right-hand side; `place` is only valid during the call. `Break` means: enough is
    /// known.
    fn variable(&mut self, place: &[u8], node: Node) -> Flow;
    /// A constant of the right-hand side.
    fn constant(&mut self, value: bool) -> Flow;
}

/// A system of boolean equations, produced on demand.
pub trait BooleanGraph {
    /// The variable whose value is asked for.
    ///
    /// # Errors
    /// There is none.
    fn root(&mut self) -> Result<(Vec<u8>, Node), Trouble>;

    /// The sign of each block, outermost first.
    fn blocks(&self) -> &[Sign];

    /// Whether each block depends only on itself and on later blocks. Otherwise the blocks are the priorities
    /// of a parity game, and the first block on a cycle decides it.
    fn alternation_free(&self) -> bool {
        true
    }

    /// How many nodes a place has.
    fn nodes(&self) -> Node {
        1
    }

    /// The operator and the block of a variable.
    fn equation(&self, place: &[u8], node: Node) -> (Operator, u16);

    /// Pushes the right-hand side of a variable, in a fixed order.
    ///
    /// # Errors
    /// The right-hand side has no meaning.
    fn successors(&mut self, place: &[u8], node: Node, sink: &mut dyn Successors) -> Result<(), Trouble>;

    /// If places are the numbers below some n, as four little-endian bytes, that n: they then need no hash
    /// table.
    fn numbered(&self) -> Option<u32> {
        None
    }

    /// Whether places are numbers, as four little-endian bytes, that are given as they are met, from 0 on.
    fn numbers_as_met(&self) -> bool {
        false
    }

    /// Goes back to places that mean the same to every graph of the same equations.
    fn forget_numbers(&mut self) {}

    /// From now on nothing that the graph has kept to be quicker is believed, unless it is confirmed by what
    /// it was made from.
    fn distrust(&mut self) {}

    /// Makes the steps again that another graph of the same equations has kept, as they are told; nothing where
    /// there is a difference, or where that cannot be done.
    fn audit(&mut self, _told: &mut dyn Iterator<Item = Told>) -> Option<Seen> {
        None
    }

    /// Bytes that the graph itself has in use.
    fn memory(&self) -> usize {
        0
    }

    /// Whether one thread makes right-hand sides in less time than so many take that must tell each other of
    /// them.
    fn outruns(&self, _threads: usize) -> bool {
        false
    }

    /// The shape of a block.
    fn shape(&self, _block: u16) -> Shape {
        Shape::Mixed
    }
}

impl<G: BooleanGraph + ?Sized> BooleanGraph for &mut G {
    fn root(&mut self) -> Result<(Vec<u8>, Node), Trouble> {
        (**self).root()
    }
    fn blocks(&self) -> &[Sign] {
        (**self).blocks()
    }
    fn alternation_free(&self) -> bool {
        (**self).alternation_free()
    }
    fn nodes(&self) -> Node {
        (**self).nodes()
    }
    fn equation(&self, place: &[u8], node: Node) -> (Operator, u16) {
        (**self).equation(place, node)
    }
    fn successors(&mut self, place: &[u8], node: Node, sink: &mut dyn Successors) -> Result<(), Trouble> {
        (**self).successors(place, node, sink)
    }
    fn numbered(&self) -> Option<u32> {
        (**self).numbered()
    }
    fn numbers_as_met(&self) -> bool {
        (**self).numbers_as_met()
    }
    fn forget_numbers(&mut self) {
        (**self).forget_numbers();
    }
    fn distrust(&mut self) {
        (**self).distrust();
    }
    fn audit(&mut self, told: &mut dyn Iterator<Item = Told>) -> Option<Seen> {
        (**self).audit(told)
    }
    fn memory(&self) -> usize {
        (**self).memory()
    }
    fn outruns(&self, threads: usize) -> bool {
        (**self).outruns(threads)
    }
    fn shape(&self, block: u16) -> Shape {
        (**self).shape(block)
    }
}
