//! Boolean equation systems, solved on the fly.
//!
//! A [`BooleanGraph`] is a system of boolean equations given by a successor function: an equation is produced
//! when its variable is first asked for (Joubert & Mateescu 2006, section 2.1). The [`solve`](mod@solve)
//! module holds one strategy per file behind one interface; [`certificate`] re-checks what they answer,
//! knowing only the definition. Systems with alternating fixed points are parity games ([`game`]). [`model`]
//! makes a boolean graph of a system and a formula of the mu-calculus, [`explain`] turns certificates back
//! into transition systems, traces and words, and [`equivalence`] asks whether two systems are bisimilar.

pub mod answer;
mod audit;
pub mod certificate;
pub mod equivalence;
pub mod explain;
pub mod explicit;
pub mod floor;
pub mod format;
pub mod game;
mod graph;
mod kept;
mod made;
pub mod model;
pub mod random;
pub mod solve;
mod variables;

pub use audit::{Seen, Told};
pub use graph::{BooleanGraph, Node, Operator, Shape, Sign, Successors, Trouble};
pub use solve::{Crew, How, LARGE, Proof, Solution, SolveError, Solved, Solver, Statistics, solve};
