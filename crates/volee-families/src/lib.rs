//! Any number of processes: families of systems, and the nets they become.
//!
//! Yang & Li (ICSE 2010) ask whether a property holds for *every* number of replicated processes. A configuration then
//! is a control state and one counter per local state of the replicated processes, which makes the question one of
//! coverability in a Petri net. This crate has the net ([`Net`], with transfers, resets and constants), readers that
//! make one, and four engines that decide it, one file each. Every answer is checked before it leaves: a proof by an
//! inductive invariant that separate code re-checks ([`Certificate`]), a violation by replaying its trace
//! on a concrete instance ([`Instance`]).

mod answer;
mod backward;
mod certificate;
mod error;
mod instance;
mod linear;
mod net;
mod predecessors;
mod simplex;
mod sparse;
mod spec;
mod structure;

pub use answer::{Answer, Counterexample, Method, Outcome, Statistics};
pub use backward::Backward;
pub use certificate::{Certificate, CertificateError, OMEGA, OmegaMarking};
pub use error::FamilyError;
pub use instance::{Found, Instance, search_instance};
pub use linear::Inequality;
pub use net::{Bound, Initial, MAX_TOKENS, Net, PlaceId, Row, Target, Transition, TransitionId};
pub use sparse::Entry;
pub use spec::read_spec;
