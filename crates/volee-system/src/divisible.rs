//! Steps that depend on few components, as a capability of a system: what lets a search remember them.
//!
//! A state has many components (see [`Components`](crate::Components)) and its steps depend on few of them
//! each. A system that can tell makes its steps *part* by part: a part belongs to a record (a process), and
//! with its steps comes the set of components that they depend on or change. In every state that agrees on
//! these (but for those whose value before makes no difference) the part has the same steps: the same labels
//! in the same order, the same new values. (LTSmin caches transition groups over such dependencies: Blom, van
//! de Pol, Weber, "LTSmin: distributed and symbolic reachability", 2010. There they are fixed before; here
//! they are those of each execution.)

use crate::{Flow, Sink};

/// Some of what a record can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Part {
    /// The record, from 0.
    pub record: u8,
    /// Which of its transitions: from the first to before the last.
    pub first: u16,
    /// See `first`.
    pub last: u16,
    /// With this other record only, where several take part in a step.
    pub partner: Option<u8>,
}

/// What the steps of a part depend on and change, as sets of components.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Touched {
    /// Those that they depend on, and those that not all of them change in the way of `writes`. All bits
    /// where that is not known.
    pub reads: u64,
    /// Those that each of them gives a value that does not depend on the one before.
    pub writes: u64,
}

/// How small parts are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fineness {
    /// All of a record, where that depends on few components.
    Coarse,
    /// As small as they can be.
    Fine,
}

/// For each record, the kinds of values that it has had in any state so far.
pub type Kinds = [Vec<u8>];

/// A system that makes its steps part by part.
///
/// Where the parts have any steps at all, the steps of a state are those of all parts of its records, from
/// the last record to the first, in the order in which [`Divisible::parts`] gives them.
pub trait Divisible {
    /// Whether a state none of whose parts has a step has none at all: nothing happens only where nobody can move.
    fn is_complete(&self) -> bool {
        false
    }

    /// The parts of a record of a state. They depend on the value of the record alone, and on `kinds`.
    fn parts(&mut self, state: &[u8], record: u8, fineness: Fineness, kinds: &Kinds, parts: &mut Vec<Part>);

    /// The state that parts are asked about from now on.
    fn divide(&mut self, state: &[u8]);

    /// Pushes the steps of a part. `Break` when the sink breaks, or the part cannot be made by itself in this
    /// state: then all steps of the state are to be asked for. Tells, where it is asked to, what they depend
    /// on and change, as long as records have no other kinds.
    fn part_steps(&mut self, part: Part, told: Option<(&mut Touched, &Kinds)>, sink: &mut dyn Sink) -> Flow;
}
