//! Behaviour of the distributed engines, against the sequential ones.

mod equations;
mod remote;
mod runs;
mod search;
