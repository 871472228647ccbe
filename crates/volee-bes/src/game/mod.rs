//! Parity games: what equations become when least and greatest fixed points alternate.
//!
//! A disjunction is a vertex of player Even, who wants it true; a conjunction one of player Odd. An infinite
//! play is won by the parity of the largest priority seen for ever; who cannot move loses. The priorities are
//! the blocks counted from the inside: even for greatest fixed points, odd for least.

mod build;
mod strategy;
mod zielonka;

pub use build::{Built, build};
pub use strategy::{StrategyError, verify};
pub use zielonka::zielonka;

/// Who owns a vertex or wins it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Player {
    /// Wants the main variable to be true; wins even priorities.
    Even,
    /// Wants it to be false; wins odd priorities.
    Odd,
}

impl Player {
    /// The other one.
    #[must_use]
    pub fn opponent(self) -> Self {
        match self {
            Player::Even => Player::Odd,
            Player::Odd => Player::Even,
        }
    }

    /// Who wins a priority.
    pub fn of(priority: u32) -> Self {
        if priority.is_multiple_of(2) { Player::Even } else { Player::Odd }
    }
}

/// No successor chosen, or none needed.
pub const NO_CHOICE: u32 = u32::MAX;

/// An explicit parity game; the largest priority decides.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Game {
    owners: Vec<bool>,
    priorities: Vec<u32>,
    /// Where each vertex's successors end.
    ends: Vec<u32>,
    successors: Vec<u32>,
}

impl Game {
    /// Adds a vertex, whose number is the count before it.
    ///
    /// # Panics
    /// There are more than 2^32 edges.
    pub fn add(&mut self, owner: Player, priority: u32, successors: impl IntoIterator<Item = u32>) {
        self.owners.push(owner == Player::Odd);
        self.priorities.push(priority);
        self.successors.extend(successors);
        self.ends.push(u32::try_from(self.successors.len()).expect("callers bound the number of edges"));
    }

    /// Owner (whether it is Odd), priority and end of the successors of each vertex.
    pub(crate) fn vertices(&self) -> impl ExactSizeIterator<Item = (bool, u32, u32)> {
        let vertex = |at| (self.owners[at], self.priorities[at], self.ends[at]);
        (0..self.len()).map(vertex)
    }

    /// The successors of all vertices, one after the other.
    pub(crate) fn all_successors(&self) -> &[u32] {
        &self.successors
    }

    /// A game of what [`Game::vertices`] and [`Game::all_successors`] have told.
    pub(crate) fn assemble(vertices: &[(bool, u32, u32)], successors: Vec<u32>) -> Option<Self> {
        let (owners, priorities) = vertices.iter().map(|vertex| (vertex.0, vertex.1)).unzip();
        let ends: Vec<u32> = vertices.iter().map(|vertex| vertex.2).collect();
        let whole = ends.is_sorted() && ends.last().map_or(0, |end| *end as usize) == successors.len();
        whole.then_some(Game { owners, priorities, ends, successors })
    }

    /// How many vertices there are.
    pub fn len(&self) -> usize {
        self.owners.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.owners.is_empty()
    }

    /// How many edges there are.
    pub fn edge_count(&self) -> usize {
        self.successors.len()
    }

    /// Who moves.
    pub fn owner(&self, vertex: u32) -> Player {
        if self.owners[vertex as usize] { Player::Odd } else { Player::Even }
    }

    /// The priority of a vertex.
    pub fn priority(&self, vertex: u32) -> u32 {
        self.priorities[vertex as usize]
    }

    /// Where one can move.
    pub fn successors(&self, vertex: u32) -> &[u32] {
        let at = vertex as usize;
        let begin = if at == 0 { 0 } else { self.ends[at - 1] as usize };
        &self.successors[begin..self.ends[at] as usize]
    }
}

/// Who wins each vertex, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Winning {
    /// Who wins each vertex.
    pub winner: Vec<Player>,
    /// For each vertex whose owner wins it, where to move; [`NO_CHOICE`] elsewhere.
    pub strategy: Vec<u32>,
}
