//! Targets with upper bounds, exactly: deadlocks, and markings of which a net says `x = 0`.
//!
//! Whether such a marking is reachable is not a question of coverability: more tokens may make it go away.
//! Dropping the upper bounds proves much and refutes nothing; what is left is asked of the counters engine,
//! with the control of the net as locations. That search need not end, but what it says is exact: a closed
//! set that misses the targets, checked again, or a run.

use volee_counters::{ControlledNet, Options, Outcome as Found, State, Witness};
use volee_nets::{Net, TransitionId};
use volee_system::{Budget, Limit, Meter};

use crate::answer::Counterexample;

/// Steps of a run before it is too long to be shown.
const LONGEST: usize = 100_000;

/// The answer.
pub(crate) enum Exactly {
    /// No target is reachable; a number of sets in a number of states of control shows it.
    Holds { sets: usize, control: usize },
    /// This one is.
    Violated(Counterexample),
    /// Not known.
    Unknown(Limit),
}

pub(crate) fn decide(net: &Net, meter: &Meter) -> Exactly {
    let Some(controlled) = ControlledNet::new(net) else {
        let message = "control is too large to decide reachability with upper bounds".into();
        return Exactly::Unknown(Limit::Other { message });
    };
    let budget = meter.budget();
    let left = budget.time.map(|time| time.saturating_sub(meter.elapsed()));
    let options = Options { budget: Budget { time: left, ..budget.clone() }, ..Options::default() };
    let answer = volee_counters::check(&controlled.program, &options);
    let sets = answer.statistics.forward_sets.max(answer.statistics.backward_sets);
    match answer.outcome {
        Found::Holds { .. } => Exactly::Holds { sets, control: controlled.program.locations.len() },
        Found::Unknown(limit) => Exactly::Unknown(limit),
        Found::Violated { witness, .. } => match example(net, &controlled, &witness) {
            Some(example) => Exactly::Violated(example),
            None => {
                let message = format!("a violation was found whose run has more than {LONGEST} steps");
                Exactly::Unknown(Limit::Other { message })
            }
        },
    }
}

/// The run as one of the net.
fn example(net: &Net, controlled: &ControlledNet, witness: &Witness) -> Option<Counterexample> {
    let steps = witness.written_out(&controlled.program, LONGEST)?;
    let trace: Vec<TransitionId> = steps.iter().map(|t| controlled.transitions[t.0 as usize]).collect();
    let start = State { location: witness.location, values: witness.values.clone() };
    let marking = controlled.marking(&start)?;
    let mut last = marking.clone();
    for t in &trace {
        last = net.transitions[t.index()].fire(&last)?;
    }
    let target = net.targets.iter().position(|t| t.contains(&last))?;
    let fits = |i: &volee_nets::Initial| {
        i.base.iter().zip(&i.open).zip(&marking).all(|((&base, &open), &m)| m == base || (open && m > base))
    };
    let initial = net.initial.iter().position(fits)?;
    Some(Counterexample { initial, marking, trace, target })
}
