//! The strategies, behind one interface.
//!
//! All strategies answer with a [`Solution`]: a value for every variable they decided, and a rank, the moment
//! at which it was decided. Ranks are what makes a solution a certificate: a least fixed point that is true
//! must owe it to variables that were true before it, and dually for greatest ones ([`crate::certificate`]).

mod acyclic;
mod breadth_first;
mod cells;
pub mod confirm;
mod crew;
mod depth_first;
mod economical;
pub(crate) mod keep;
pub mod partition;
mod single;
mod table;

use serde::{Deserialize, Serialize};
use volee_store::checkpoint::Checkpoint;
use volee_system::{Limit, Meter, Progress};

pub use self::crew::{Another, Crew, LARGE};
pub use self::table::Solution;
use crate::graph::{BooleanGraph, Shape, Trouble};

/// How to solve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Solver {
    /// Choose from the shape of the system.
    #[default]
    Auto,
    /// Depth-first, deciding component after component.
    DepthFirst,
    /// Breadth-first, with many look-ups in flight; finds short diagnostics.
    BreadthFirst,
    /// Depth-first for systems without cycles; refuses others.
    Acyclic,
    /// For disjunctive and conjunctive blocks; stores no edges.
    Economical,
}

impl Solver {
    /// All strategies.
    pub const ALL: [Solver; 5] =
        [Solver::Auto, Solver::DepthFirst, Solver::BreadthFirst, Solver::Acyclic, Solver::Economical];

    /// The name by which it is asked for and told.
    pub const fn name(self) -> &'static str {
        match self {
            Solver::Auto => "auto",
            Solver::DepthFirst => "dfs",
            Solver::BreadthFirst => "bfs",
            Solver::Acyclic => "acyclic",
            Solver::Economical => "economical",
        }
    }
}

/// By which strategy to solve, where the resolution is kept, and who helps.
#[derive(Debug, Clone, Copy, Default)]
pub struct How<'k> {
    /// The strategy.
    pub solver: Solver,
    /// Where, if anywhere.
    pub kept: Option<&'k Checkpoint>,
    /// Several threads for what is large, where the strategy is not chosen.
    pub crew: Option<&'k Crew<'k>>,
}

impl From<Solver> for How<'_> {
    fn from(solver: Solver) -> Self {
        How { solver, ..How::default() }
    }
}

/// Why there is no solution.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SolveError {
    /// A budget is used up.
    #[error("{0}")]
    Limit(Limit),
    /// A right-hand side has no meaning.
    #[error(transparent)]
    Trouble(#[from] Trouble),
    /// The acyclic strategy met a cycle.
    #[error(
        "the equations depend on each other in a cycle, so the acyclic solver cannot solve them; use dfs or bfs"
    )]
    Cyclic,
    /// The economical strategy met a block that is neither disjunctive nor conjunctive.
    #[error(
        "block {0} is neither disjunctive nor conjunctive, so the economical solver cannot solve it; use dfs or bfs"
    )]
    Mixed(u16),
    /// The blocks depend on each other in a cycle.
    #[error(
        "least and greatest fixed points alternate, so this is a parity game and not a sequence of blocks"
    )]
    Alternating,
}

impl From<Limit> for SolveError {
    fn from(limit: Limit) -> Self {
        SolveError::Limit(limit)
    }
}

/// What a resolution cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statistics {
    /// Different places met (states, pairs of states).
    pub places: u64,
    /// Variables met.
    pub variables: u64,
    /// Right-hand sides produced.
    pub expanded: u64,
    /// Edges of the boolean graph looked up.
    pub edges: u64,
    /// Edges walked a second time, backwards, to tell that a variable is stable (breadth-first, by one
    /// worker).
    pub told: u64,
    /// Bytes in use at the end.
    pub memory: u64,
    /// The longest path of a depth-first search.
    pub depth: u64,
}

/// A resolution.
#[derive(Debug, Clone)]
pub struct Solved {
    /// The value of the variable that was asked for.
    pub value: bool,
    /// All values that were decided on the way.
    pub solution: Solution,
    /// What it cost.
    pub statistics: Statistics,
    /// The strategy that was used.
    pub solver: Solver,
    /// How many have solved it together.
    pub workers: usize,
    /// How far the solution can be relied on.
    pub proof: Proof,
}

/// How far a solution can be relied on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proof {
    /// It is still to be checked ([`crate::certificate`]).
    Unchecked,
    /// Whoever has found it has checked it.
    Confirmed,
    /// As before, but it would be another one the next time.
    ByChance,
}

impl Solved {
    fn alone(value: bool, solution: Solution, statistics: Statistics, solver: Solver) -> Self {
        Solved { value, solution, statistics, solver, workers: 1, proof: Proof::Unchecked }
    }
}

/// Finds the value of a graph's main variable. The strategies are compiled once, for all graphs: a call for each
/// variable and edge is little beside looking it up.
///
/// # Errors
/// A limit, an equation without meaning, or a system that the strategy does not apply to.
pub fn solve<'k>(
    graph: &mut dyn BooleanGraph,
    how: impl Into<How<'k>>,
    meter: &Meter,
    progress: &mut dyn Progress,
) -> Result<Solved, SolveError> {
    if !graph.alternation_free() {
        return Err(SolveError::Alternating);
    }
    let mut how = how.into();
    how.crew = how.crew.filter(|crew| !graph.outruns(crew.workers()));
    let solver = if how.solver == Solver::Auto { choose(graph) } else { how.solver };
    let solved = match solver {
        Solver::BreadthFirst => breadth_first::solve(graph, how.kept, meter, progress),
        Solver::Acyclic => acyclic::solve(graph, how.kept, meter, progress),
        Solver::Economical => economical::solve(graph, how, meter, progress),
        Solver::Auto | Solver::DepthFirst => depth_first::solve(graph, how, meter, progress),
    };
    let solved = solved?;
    if solved.workers > 1 {
        // Threads have no numbers in common.
        graph.forget_numbers();
    }
    crew::known::told_alike(graph, solved, meter, progress)
}

/// Without edges where the shape allows it; else depth-first, which decides components as soon as they are
/// complete: breadth-first decides what depends on a default only when everything is explored.
fn choose(graph: &dyn BooleanGraph) -> Solver {
    let blocks = u16::try_from(graph.blocks().len()).unwrap_or(u16::MAX);
    if (0..blocks).all(|block| graph.shape(block) != Shape::Mixed) {
        Solver::Economical
    } else {
        Solver::DepthFirst
    }
}
