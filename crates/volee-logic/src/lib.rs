//! Temporal logic: formulas, and the automata that watch a system for them.
//!
//! Nothing here explores a system: products and searches live in `volee-search`.

pub mod bdd;
pub mod formula;
pub mod mu;
pub mod tl;
