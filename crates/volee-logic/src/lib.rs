//! Temporal logic: formulas, and the automata that watch a system for them.
//!
//! * [`formula`]: the language of finite-trace TL and of LTL, its atoms being events and state predicates;
//! * [`tl`]: finite traces, compiled by derivatives into small deterministic automata that run as monitors;
//! * [`ltl`] and [`automaton`]: infinite runs, translated into generalised Büchi automata, and their
//!   reduction;
//! * [`hoa`]: those automata as text;
//! * [`mu`]: the modal mu-calculus;
//! * [`bdd`]: the decision diagrams under the automata.
//!
//! Nothing here explores a system: products and searches live in `volee-search`.

pub mod automaton;
pub mod bdd;
pub mod formula;
pub mod hoa;
pub mod ltl;
pub mod mu;
pub mod tl;
