//! The relations between systems that volee knows, by their names.

use std::fmt;
use std::str::FromStr;

use crate::LtsError;

/// A way in which two systems can be equal, or one be contained in the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Relation {
    /// Strong bisimulation: internal steps count like any other.
    Strong,
    /// Branching bisimulation: inert internal steps do not count.
    Branching,
    /// Branching bisimulation that preserves divergence: staying in a class by internal steps for ever is
    /// observed.
    BranchingDivergence,
    /// Weak bisimulation.
    Weak,
    /// Weak bisimulation in which equal states can both take internal steps for ever, or neither.
    WeakDivergence,
    /// The same sequences of labels, internal steps included.
    Trace,
    /// The same sequences of visible labels.
    WeakTrace,
    /// Each simulates the other, internal steps counting like any other.
    Simulation,
    /// Each weakly simulates the other.
    WeakSimulation,
    /// Every trace of the first is one of the second.
    TracePreorder,
    /// Every visible trace of the first is one of the second.
    WeakTracePreorder,
    /// The second simulates the first.
    SimulationPreorder,
    /// The second weakly simulates the first.
    WeakSimulationPreorder,
}

impl Relation {
    /// All of them.
    pub const ALL: [Relation; 13] = [
        Relation::Strong,
        Relation::Branching,
        Relation::BranchingDivergence,
        Relation::Weak,
        Relation::WeakDivergence,
        Relation::Trace,
        Relation::WeakTrace,
        Relation::Simulation,
        Relation::WeakSimulation,
        Relation::TracePreorder,
        Relation::WeakTracePreorder,
        Relation::SimulationPreorder,
        Relation::WeakSimulationPreorder,
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Relation::Strong => "strong",
            Relation::Branching => "branching",
            Relation::BranchingDivergence => "branching-divergence",
            Relation::Weak => "weak",
            Relation::WeakDivergence => "weak-divergence",
            Relation::Trace => "trace",
            Relation::WeakTrace => "weak-trace",
            Relation::Simulation => "simulation",
            Relation::WeakSimulation => "weak-simulation",
            Relation::TracePreorder => "trace-preorder",
            Relation::WeakTracePreorder => "weak-trace-preorder",
            Relation::SimulationPreorder => "simulation-preorder",
            Relation::WeakSimulationPreorder => "weak-simulation-preorder",
        }
    }

    /// Whether it asks only that the first be contained in the second.
    pub fn is_preorder(self) -> bool {
        matches!(
            self,
            Relation::TracePreorder
                | Relation::WeakTracePreorder
                | Relation::SimulationPreorder
                | Relation::WeakSimulationPreorder
        )
    }
}

impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Relation {
    type Err = LtsError;

    fn from_str(name: &str) -> Result<Self, LtsError> {
        Relation::ALL.into_iter().find(|r| r.name() == name).ok_or_else(|| {
            let known: Vec<_> = Relation::ALL.iter().map(|r| r.name()).collect();
            LtsError::input(format!("`{name}` is not a relation; known are {}", known.join(", ")))
        })
    }
}
