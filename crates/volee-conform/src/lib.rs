//! Conformance testing: tests from a model, run against the real program.
//!
//! The theory is ioco (Tretmans 1996) with test purposes as in TGV (Jard and Jéron 2005; Joubert and Mateescu
//! 2006, section 3.2). A [`Specification`] explores any system and tells inputs, outputs and quiescence;
//! [`Determinised`] is the product with a [`Purpose`], suspended and determinised on demand; [`direct`] and
//! [`by_equations`] select the complete [`TestGraph`] from it, the one by backward search, the other as the
//! diagnostic of a boolean equation system; [`Partition`] is one worker's part of the same, and [`join()`]
//! makes one graph of the parts of all. [`TestGraph::case`] extracts a controllable test case. [`run`]
//! executes tests against a program over its standard streams or TCP.

mod actions;
mod closures;
mod cycles;
mod determinised;
mod equations;
mod error;
mod files;
mod followed;
mod graph;
mod interface;
mod ioco;
mod join;
mod partition;
mod purpose;
pub mod random;
mod rows;
pub mod run;
mod select;
mod sets;
mod specification;
mod suite;

pub use actions::{Action, ActionId, Actions, DELTA, Kind};
pub use determinised::{Determinised, MetaId, Moves};
pub use equations::{Raw, by_equations};
pub use error::ConformError;
pub use files::{TestFile, read_test, write_dot};
pub use graph::{Form, Move, Node, TestEdge, TestGraph, Verdict};
pub use interface::{Interface, Matcher};
pub use ioco::{BadTrace, ioco};
pub use join::join;
pub use partition::{PartialTests, Partition};
pub use purpose::{Purpose, Standing};
pub use select::{Selected, Sizes, direct, start, test_of_trace};
pub use specification::{Livelock, Specification};
pub use suite::{Suite, SuiteTest, covering_suite};
