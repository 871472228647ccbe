//! Comparison of two explicit systems: equal, or a difference that was checked.
//!
//! Bisimulations refine the partition of both systems together; the history of the refinement gives a
//! distinguishing formula. Traces are compared by sets of states, simulations by a game on pairs of states.
//! Whatever the way, the difference is confirmed on the systems as given before it is reported.

mod distinguish;
mod simulation;
mod trace;

use volee_system::Meter;

use crate::reduce::{Divergence, reduce_branching, reduce_strong};
use crate::{Formula, Labels, Lts, LtsBuilder, LtsError, Relation, StateId};

pub use trace::admits;

/// One of the two systems.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The first.
    First,
    /// The second.
    Second,
}

/// What tells two systems apart.
#[derive(Debug, Clone)]
pub enum Difference {
    /// A sequence of labels that only one of them has.
    Trace {
        /// The labels; for weak relations the visible ones.
        trace: Vec<String>,
        /// Who has it.
        possible_in: Side,
    },
    /// A formula that holds in only one of them.
    Formula {
        /// The formula.
        formula: Formula,
        /// Where it holds.
        holds_in: Side,
    },
}

/// Compares two systems: nothing if they are related, else what tells them apart, confirmed.
///
/// # Errors
/// The budget runs out.
pub fn compare(a: &Lts, b: &Lts, relation: Relation, meter: &Meter) -> Result<Option<Difference>, LtsError> {
    let difference = match relation {
        Relation::Strong => distinguish::strong(&Pair::join(a, b)),
        Relation::Branching => distinguish::branching(&Pair::join(a, b), Divergence::Ignored),
        Relation::BranchingDivergence => distinguish::branching(&Pair::join(a, b), Divergence::Preserved),
        Relation::Weak => {
            let small = |lts| reduce_branching(lts, Divergence::Ignored).lts;
            distinguish::weak(&Pair::join(&small(a), &small(b)), Divergence::Ignored, meter)?
        }
        Relation::WeakDivergence => {
            let small = |lts| reduce_branching(lts, Divergence::Preserved).lts;
            distinguish::weak(&Pair::join(&small(a), &small(b)), Divergence::Preserved, meter)?
        }
        Relation::Trace | Relation::TracePreorder => {
            let pair = Pair::join(&reduce_strong(a).lts, &reduce_strong(b).lts);
            trace::compare(&pair, relation, meter)?
        }
        Relation::WeakTrace | Relation::WeakTracePreorder => {
            let small = |lts| reduce_branching(lts, Divergence::Ignored).lts;
            trace::compare(&Pair::join(&small(a), &small(b)), relation, meter)?
        }
        Relation::Simulation | Relation::SimulationPreorder => {
            let pair = Pair::join(&reduce_strong(a).lts, &reduce_strong(b).lts);
            simulation::compare(&pair, relation, meter)?
        }
        Relation::WeakSimulation | Relation::WeakSimulationPreorder => {
            let small = |lts| reduce_branching(lts, Divergence::Ignored).lts;
            simulation::compare(&Pair::join(&small(a), &small(b)), relation, meter)?
        }
    };
    if let Some(difference) = &difference {
        confirm(a, b, relation, difference)?;
    }
    Ok(difference)
}

/// Two systems side by side over one set of labels; the initial state is that of the first.
pub(crate) struct Pair {
    pub lts: Lts,
    pub second: StateId,
}

impl Pair {
    fn join(a: &Lts, b: &Lts) -> Pair {
        let mut labels: Labels = a.labels().clone();
        let map: Vec<_> = b.labels().iter().map(|(_, name)| labels.intern(name)).collect();
        let shift = a.state_count() as u32;
        let mut builder = LtsBuilder::new(labels);
        builder.reserve(a.transition_count() + b.transition_count(), a.state_count() + b.state_count());
        for (source, edge) in a.transitions() {
            builder.add(source, edge.label, edge.target);
        }
        for (source, edge) in b.transitions() {
            builder.add(StateId(source.0 + shift), map[edge.label.index()], StateId(edge.target.0 + shift));
        }
        let lts = builder
            .finish(a.initial(), shift + b.state_count() as u32)
            .expect("both systems fit, and together they have fewer than 2^32 states");
        Pair { lts, second: StateId(b.initial().0 + shift) }
    }

    fn first(&self) -> StateId {
        self.lts.initial()
    }
}

/// Checks a difference on the systems as given.
fn confirm(a: &Lts, b: &Lts, relation: Relation, difference: &Difference) -> Result<(), LtsError> {
    let (in_a, in_b, side) = match difference {
        Difference::Formula { formula, holds_in } => (formula.holds(a), formula.holds(b), *holds_in),
        Difference::Trace { trace, possible_in } => {
            let visible = matches!(relation, Relation::WeakTrace | Relation::WeakTracePreorder);
            (admits(a, trace, visible), admits(b, trace, visible), *possible_in)
        }
    };
    if (in_a, in_b) == (side == Side::First, side == Side::Second) {
        return Ok(());
    }
    Err(LtsError::Unconfirmed(format!("the difference found for {relation} does not show on the systems")))
}
