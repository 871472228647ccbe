//! Verdicts: holds, violated with its witness, or unknown with the limit. Never a guess.

use serde::{Deserialize, Serialize};

use crate::{Fault, FaultKind, Limit, Place, Witness};

/// The answer to one question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The property holds in every run.
    Holds,
    /// It does not, and this shows it. Several only when all errors were asked for; never empty.
    Violated(Vec<Violation>),
    /// A limit was reached before an answer.
    Unknown(Limit),
}

/// One way in which a property fails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// What is wrong.
    pub reason: Reason,
    /// How to get there.
    pub witness: Witness,
}

/// What is wrong, where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    /// The kind, as in the machine-readable answer.
    pub kind: ReasonKind,
    /// A sentence without a full stop.
    pub message: String,
    /// Where in the model.
    pub place: Option<Place>,
}

/// The kinds of violation. Kinds may be added, never renamed: they are part of the machine-readable answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReasonKind {
    /// A state without steps that is not a proper end.
    InvalidEndState,
    /// An assertion of the model failed.
    Assertion,
    /// An invariant is false in some reachable state.
    Invariant,
    /// The model did something that has no meaning.
    RuntimeError,
    /// An infinite run that a claim accepts.
    AcceptanceCycle,
    /// An infinite run without progress.
    NonProgressCycle,
    /// A monitor of bad behaviour reached its trap.
    Trap,
    /// A channel grows without bound.
    Unbounded,
    /// A goal that was asked for is reachable (the witness shows how).
    Reachable,
    /// A goal that was asked for is not reachable.
    Unreachable,
    /// A formula is false in the initial state.
    Formula,
    /// Two systems differ.
    Different,
}

impl From<Fault> for Reason {
    fn from(fault: Fault) -> Self {
        let kind = match fault.kind {
            FaultKind::Assertion => ReasonKind::Assertion,
            FaultKind::Runtime => ReasonKind::RuntimeError,
        };
        Reason { kind, message: fault.message, place: fault.place }
    }
}
