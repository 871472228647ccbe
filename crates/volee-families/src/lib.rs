//! Any number of processes: families of systems, and the nets they become.
//!
//! Yang & Li (ICSE 2010) ask whether a property holds for *every* number of replicated processes. A
//! configuration then is a control state and one counter per local state of the replicated processes, which
//! makes the question one of coverability in a Petri net. This crate makes such a [`Net`](volee_nets::Net) of
//! a program, and has four engines that decide it, one file each. Every answer is checked before it leaves: a
//! proof by an inductive invariant that separate code re-checks ([`Certificate`]), a violation by replaying
//! its trace on a concrete instance ([`Instance`](volee_nets::Instance)).
//!
//! | module | what it does |
//! |---|---|
//! | `program`, `instance`, `sizes`, `generate` | families, the nets they become, and their members |
//! | `check`, `answer`, `certificate` | a question, and what shows its answer |
//! | `backward`, `predecessors`, `karp_miller`, `omega_tree` | coverability |
//! | `structure`, `components`, `linear`, `simplex`, `sparse`, `exact`, `ranking` | invariants of nets |
//! | `cutoff`, `emerson_namjoshi`, `recurrence` | cut-offs, and what happens for ever |

mod answer;
mod backward;
mod certificate;
mod check;
mod components;
mod cutoff;
mod emerson_namjoshi;
mod error;
mod exact;
mod generate;
mod instance;
mod karp_miller;
mod linear;
mod omega_tree;
mod predecessors;
mod program;
mod ranking;
mod recurrence;
mod simplex;
mod sizes;
mod sparse;
mod structure;

pub use answer::{Answer, Counterexample, Method, Outcome, Statistics};
pub use backward::Backward;
pub use certificate::{Certificate, CertificateError, OMEGA, OmegaMarking};
pub use check::{Checked, Choice, check};
pub use cutoff::{CutOff, Erg, Induction, Why, cut_off};
pub use emerson_namjoshi::{EmersonNamjoshi, emerson_namjoshi};
pub use error::FamilyError;
pub use generate::{Flavour, random_net};
pub use instance::{Found, search_instance, witness};
pub use karp_miller::{KarpMiller, karp_miller};
pub use linear::Inequality;
pub use program::{
    Asked, Family, Followed, Kind, NO_FAMILY, Property, Questions, Reading, Seen, Successors, family_of,
    follow,
};
pub use ranking::{Edge, Ranking, Stage};
pub use recurrence::{Recurrence, recurrence};
pub use sizes::Sizes;
pub use sparse::Entry;
