//! What an engine answers, and the figures it kept on the way.

use volee_system::Limit;

use crate::certificate::Certificate;
use crate::cutoff::Why;
use volee_nets::TransitionId;

/// The engines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Method {
    /// Backward search over minimal bad markings (BRA).
    Backward,
    /// Karp–Miller tree (FRAKM).
    KarpMiller,
    /// Karp–Miller tree that drops covered nodes (FRAEN).
    EmersonNamjoshi,
    /// Cut-offs by subsets of counters (FBRA).
    CutOff,
    /// Explicit search of instances of growing size: finds violations only.
    Instances,
    /// Sets of vectors with acceleration, for targets with upper bounds.
    Sets,
}

impl Method {
    /// The name on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Method::Backward => "bra",
            Method::KarpMiller => "frakm",
            Method::EmersonNamjoshi => "fraen",
            Method::CutOff => "fbra",
            Method::Instances => "instances",
            Method::Sets => "sets",
        }
    }
}

/// A concrete instance and a run in it that ends in a bad marking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counterexample {
    /// Which of the initial families the instance belongs to.
    pub initial: usize,
    /// The initial marking of the instance: how many processes there are.
    pub marking: Vec<u32>,
    /// The run.
    pub trace: Vec<TransitionId>,
    /// Which target it reaches.
    pub target: usize,
}

/// The answer of one engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// No initial marking, of any size, leads to a target; the certificate proves it.
    Holds(Certificate),
    /// Some instance does.
    Violated(Counterexample),
    /// A limit was reached first.
    Unknown(Limit),
}

/// Figures of one run of an engine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Vectors, nodes or configurations kept.
    pub states: u64,
    /// Those computed, kept or not.
    pub transitions: u64,
    /// Those excluded by an invariant.
    pub pruned: u64,
    /// Linear inequalities found.
    pub inequalities: u64,
}

/// An answer with who gave it and what it took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The answer.
    pub answer: Answer,
    /// The engine that gave it.
    pub method: Method,
    /// Its figures.
    pub statistics: Statistics,
    /// How a cut-off was found, where one was.
    pub why: Option<Box<Why>>,
}
