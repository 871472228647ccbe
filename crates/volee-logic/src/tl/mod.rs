//! Finite-trace temporal logic: from formulas to deterministic automata and monitors.
//!
//! A formula is interpreted over finite words of letters; a letter says which atoms are true. The empty word
//! is a word too: an event is false of it, a weak next true, and `f U g` what `g` is (Jard & Jéron 1989,
//! section 2). [`compile()`] makes one automaton of one formula; [`Monitor`] keeps the conjuncts of a formula
//! apart and steps their automata together, so that a conjunction of twenty properties costs twenty small
//! automata and not two to the twentieth.

mod compile;
mod dfa;
mod minimise;
mod monitor;

pub use compile::{Alphabet, CompileError, Limits, compile};
pub use dfa::{Dfa, DfaState, Verdict3};
pub use monitor::{Monitor, MonitorState};
