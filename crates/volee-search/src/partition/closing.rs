//! What several workers found about a claim, made into runs of the system.
//!
//! The workers know a state from which an accepted cycle is reached, and the way to it. The cycle itself is
//! looked for in one place, by components, from that state on; so a lasso is found by other code than has
//! said that there is one.

use volee_system::part::PartError;
use volee_system::{
    Action, Components, Divisible, Fault, FaultId, Flow, Label, Limit, Marks, Meter, PredicateId, Progress,
    Reason, ReasonKind, Reducible, Sink, System, Variable, Verdict, Violation, Witness,
};

use super::witness::{PartialOutcome, join};
use crate::check::Check;
use crate::claimed::ClaimProduct;
use crate::liveness::{Claim, ClaimOptions, ClaimOutcome, Emptiness, check_claim, reason};
use crate::pairs::split;

/// A state was found from which an accepted cycle is reached.
pub(super) fn open_cycle() -> Reason {
    Reason { kind: ReasonKind::AcceptanceCycle, message: String::new(), place: None }
}

/// Joins what the workers found about a claim with acceptance on states ([`Claim::state_based`]). `memory` is
/// what they used together.
///
/// # Errors
/// What they found is none: a defect.
pub fn conclude(
    system: &mut dyn System,
    claim: &Claim,
    options: ClaimOptions<'_>,
    parts: Vec<PartialOutcome>,
    memory: u64,
    meter: &Meter,
    progress: &mut dyn Progress,
) -> Result<ClaimOutcome, PartError> {
    let mut product = ClaimProduct::new(system, claim, options.reduces());
    let check = product.questions(&Check::new().faults(options.faults));
    let outcome = join(&mut product, &check, parts, memory, meter);
    let mut errors: Vec<(Reason, Witness, Vec<u8>)> = Vec::new();
    for answer in outcome.answers {
        let Verdict::Violated(violations) = answer.verdict else { continue };
        for Violation { reason, witness } in violations {
            let (own, pair) = product.own_run(&witness).ok_or_else(no_run)?;
            errors.push((reason, own, pair));
        }
    }
    // What decides the claim comes before errors of the model, which leave it open.
    let rank = |kind: ReasonKind| match kind {
        ReasonKind::Invariant => 0,
        ReasonKind::AcceptanceCycle => 2,
        _ => 1,
    };
    errors.sort_by_key(|(reason, own, _)| (rank(reason.kind), own.steps.len()));
    let verdict = match errors.into_iter().next() {
        None => Verdict::Holds,
        Some((found, own, pair)) if found.kind == ReasonKind::AcceptanceCycle => {
            closed(system, claim, options, own, &pair, meter, progress)?
        }
        Some((found, witness, _)) if found.kind == ReasonKind::Invariant => {
            Verdict::Violated(vec![Violation { reason: reason(ReasonKind::Trap, false), witness }])
        }
        Some((reason, witness, _)) => Verdict::Violated(vec![Violation { reason, witness }]),
    };
    Ok(ClaimOutcome { verdict, statistics: outcome.statistics, letters: Vec::new() })
}

fn no_run() -> PartError {
    PartError::Defect("what the workers found is not a run of the system".into())
}

/// A lasso: the way to a pair, then on to an accepted cycle.
fn closed(
    system: &mut dyn System,
    claim: &Claim,
    options: ClaimOptions<'_>,
    mut way: Witness,
    pair: &[u8],
    meter: &Meter,
    progress: &mut dyn Progress,
) -> Result<Verdict, PartError> {
    let (state, at) = split(pair);
    let mut claim = claim.clone();
    claim.automaton.initial = at;
    let how = ClaimOptions { emptiness: Emptiness::Components, faults: false, max_errors: 1, ..options };
    let mut onward = Onward { system, state };
    let found = check_claim(&mut onward, &claim, how, meter, progress);
    match found.verdict {
        Verdict::Holds => {
            Err(PartError::Defect("the workers found an accepted cycle and one alone does not".into()))
        }
        Verdict::Unknown(limit) => {
            let message =
                format!("some run violates the property, but none could be made to show it: {limit}");
            Ok(Verdict::Unknown(Limit::Other { message }))
        }
        Verdict::Violated(mut violations) => {
            let first = violations.swap_remove(0);
            let before = way.steps.len();
            way.loop_start = first.witness.loop_start.map(|start| before + start);
            way.steps.extend(first.witness.steps);
            Ok(Verdict::Violated(vec![Violation { witness: way, ..first }]))
        }
    }
}

/// A system that starts in another state.
struct Onward<'a, S: System + ?Sized> {
    system: &'a mut S,
    state: &'a [u8],
}

impl<S: System + ?Sized> System for Onward<'_, S> {
    fn initial(&mut self, push: &mut dyn FnMut(&[u8]) -> Flow) -> Flow {
        push(self.state)
    }

    fn steps(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        self.system.steps(state, sink)
    }

    fn label(&self, label: Label) -> std::borrow::Cow<'_, str> {
        self.system.label(label)
    }

    fn names(&self, label: Label) -> Vec<String> {
        self.system.names(label)
    }

    fn is_valid_end(&mut self, state: &[u8]) -> bool {
        self.system.is_valid_end(state)
    }

    fn fault(&self, fault: FaultId) -> Fault {
        self.system.fault(fault)
    }

    fn explain(&mut self, state: &[u8], ordinal: usize) -> Vec<Action> {
        self.system.explain(state, ordinal)
    }

    fn variables(&self, state: &[u8]) -> Vec<Variable> {
        self.system.variables(state)
    }

    fn left_out(&self) -> Option<Limit> {
        self.system.left_out()
    }

    fn holds(&mut self, predicate: PredicateId, state: &[u8]) -> Result<bool, FaultId> {
        self.system.holds(predicate, state)
    }

    fn marks(&mut self, state: &[u8]) -> Marks {
        self.system.marks(state)
    }

    fn components(&self) -> Option<Components> {
        self.system.components()
    }

    fn divisible(&mut self) -> Option<&mut dyn Divisible> {
        self.system.divisible()
    }

    fn reducible(&mut self) -> Option<&mut dyn Reducible> {
        self.system.reducible()
    }
}
