//! Behaviour of the distributed engines, against the sequential ones.

mod equations;
mod kept;
mod remote;
mod runs;
mod search;
