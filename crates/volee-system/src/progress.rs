//! Progress of a long search: engines report, somebody else decides whether and how to show it.

use serde::Serialize;

/// How far a search is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Snapshot {
    /// States stored so far.
    pub states: u64,
    /// Transitions taken so far.
    pub transitions: u64,
    /// Length of the current path, or the current level of a breadth-first search.
    pub depth: u64,
    /// The deepest so far.
    pub max_depth: u64,
    /// States known but not yet expanded.
    pub pending: u64,
    /// Bytes in use by states, stack and tables.
    pub memory: u64,
}

/// Receives snapshots; called every few thousand states, so it must be quick.
pub trait Progress {
    /// One more snapshot.
    fn report(&mut self, snapshot: &Snapshot);

    /// A sentence that cannot wait for the answer.
    fn say(&mut self, _: &str) {}
}

/// Shows nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Quiet;

impl Progress for Quiet {
    fn report(&mut self, _: &Snapshot) {}
}
