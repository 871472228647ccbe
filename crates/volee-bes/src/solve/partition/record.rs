//! What a worker keeps of a variable, and how variables and values are written down in four bytes each.

use serde::{Deserialize, Serialize};
use volee_system::Limit;

use crate::graph::Operator;
use crate::solve::table::narrow;

/// No edge; no variable of ours.
pub(super) const NONE: u32 = u32::MAX;

pub(super) const MET: u32 = 1 << 31;
pub(super) const STABLE: u32 = 1 << 30;
pub(super) const TRUE: u32 = 1 << 29;
pub(super) const CONJUNCTION: u32 = 1 << 28;
pub(super) const MAXIMUM_MISSING: u32 = CONJUNCTION - 1;
/// Ranks travel with a value in four bytes.
pub(super) const MAXIMUM_RANK: u32 = (1 << 31) - 1;

/// What is kept per variable: eight bytes, because reading them is half of an edge's cost. The block is asked
/// for again in the rare case that it matters.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(super) struct Record {
    /// Its first backward edge; once it is stable, its rank: nobody notes a dependency on a stable variable.
    pub link: u32,
    /// Flags, and how many successors have not been seen to be neutral.
    pub state: u32,
}

impl Record {
    pub fn met(operator: Operator) -> Self {
        let conjunction = if operator == Operator::And { CONJUNCTION } else { 0 };
        Record { link: NONE, state: MET | conjunction }
    }

    pub fn is_met(self) -> bool {
        self.state & MET != 0
    }

    pub fn operator(self) -> Operator {
        if self.state & CONJUNCTION != 0 { Operator::And } else { Operator::Or }
    }

    pub fn is_stable(self) -> bool {
        self.state & STABLE != 0
    }

    pub fn value(self) -> bool {
        self.state & TRUE != 0
    }

    /// What dependants are told of a stable variable.
    pub fn told(self) -> Told {
        Told(self.link << 1 | u32::from(self.value()))
    }
}

/// The rank and the value of a stable variable.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Told(pub u32);

impl Told {
    pub fn value(self) -> bool {
        self.0 & 1 == 1
    }

    pub fn rank(self) -> u32 {
        self.0 >> 1
    }
}

/// A count of successors that must fit a record.
pub(super) fn missing(count: usize) -> Result<u32, Limit> {
    narrow(count).ok().filter(|n| *n <= MAXIMUM_MISSING).ok_or_else(|| Limit::Other {
        message: format!("one right-hand side has more than {MAXIMUM_MISSING} variables"),
    })
}
