//! Pairs of an automaton's state and a system's as plain bytes, and what searches for cycles make of them.

use volee_system::{Limit, Reason};

/// The ordinal of the step that a finished run repeats for ever.
pub(crate) const STUTTER: u32 = u32::MAX;
/// The ordinal of a step of a persistent set, which is not numbered as all steps are.
pub(crate) const UNNUMBERED: u32 = u32::MAX - 1;
/// Bytes of the automaton's number.
pub(crate) const WIDTH: usize = 4;

/// The number of the automaton's state followed by the state of the system.
pub(crate) type Pair = Box<[u8]>;

/// A transition of the product.
pub(crate) struct Arc {
    pub target: Pair,
    /// The step of the system, [`STUTTER`] or [`UNNUMBERED`].
    pub ordinal: u32,
}

/// Takes a pair apart.
#[inline]
pub(crate) fn split(pair: &[u8]) -> (&[u8], u32) {
    let (at, state) = pair.split_first_chunk::<WIDTH>().expect("a pair begins with the automaton's number");
    (state, u32::from_le_bytes(*at))
}

/// Whether a step with a fault ends the search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Faults {
    /// It is an error of the model, and the answer.
    End,
    /// It is a step like any other.
    Pass,
}

/// Why a pair has no transitions to give.
#[derive(Debug)]
pub(crate) enum Stop {
    Limit(Limit),
    /// A step with this ordinal, or looking at the state (no ordinal), met an error.
    Fault(Option<u32>, Reason),
}

impl From<Limit> for Stop {
    fn from(limit: Limit) -> Self {
        Stop::Limit(limit)
    }
}
