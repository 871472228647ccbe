//! Automata as text: the Hanoi Omega-Automata format (version 1) in and out, never claims and DOT out.

mod guard;
mod never;
mod read;
mod write;

pub use never::never_claim;
pub use read::read_hoa;
pub use write::{dfa_dot, dfa_hoa, dot, hoa};
