//! Search and equation solving over several threads, processes and machines.
//!
//! What is computed is a [`Part`](volee_system::part::Part) per worker: a partition of a boolean equation
//! system ([`volee_bes::solve::partition`]) or of a state space ([`volee_search::partition`]), which know
//! nothing of this crate. [`exchange`] moves their packets over timely dataflow and learns from its progress
//! tracking when all are idle and nothing is in flight; [`drive`] runs a part between the two; [`threads`]
//! makes workers of threads, [`remote`] of processes anywhere; [`kept`] has what they know written to a file
//! now and then. This is the only crate that knows timely.

pub mod drive;
pub mod equations;
pub mod exchange;
pub mod kept;
pub mod remote;
pub mod runs;
pub mod search;
pub mod threads;
