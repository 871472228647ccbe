//! Partitions of the states of a system, refined until stable.
//!
//! All relations that are bisimulations of some kind are computed the same way: states of a block are grouped
//! by their signature (what they can do, and into which blocks), the largest group keeps the name of the
//! block, and only states that can step into a block with a new name are looked at again. That is Hopcroft's
//! "all but the largest" for signatures (Jacobs and Wißmann, "Fast coalgebraic bisimilarity minimization",
//! 2023): a state moves to a new name at most log n times, so all signatures together cost O(m log n) times
//! the largest degree, in practice a few passes over the edges.
//!
//! Refinement goes in synchronous rounds, and every block remembers from which block and in which round it
//! came: two states that differ are separated by signatures over the partition of the round before.
//! Distinguishing formulas are read off that history.

mod blocks;
mod branching;
mod history;
mod signatures;
mod strong;

pub(crate) use blocks::Partition;
pub(crate) use branching::{Silent, branching};
pub(crate) use history::History;
pub(crate) use strong::strong;
