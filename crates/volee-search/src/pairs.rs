//! Pairs of a system's state and an automaton's as plain bytes, for searches that may forget what they have seen.

use volee_logic::automaton::Automaton;
use volee_system::{Flow, Label, Limit, Reason, Step, System};

use crate::atoms::Valuation;

/// The ordinal of the step that a finished run repeats for ever.
pub(crate) const STUTTER: u32 = u32::MAX;

/// A state of the system followed by the number of the automaton's.
pub(crate) type Pair = Box<[u8]>;

/// A transition of the product.
pub(crate) struct Arc {
    pub target: Pair,
    pub ordinal: u32,
}

/// Puts a pair together.
pub(crate) fn pair(state: &[u8], at: u32) -> Pair {
    let mut bytes = Vec::with_capacity(state.len() + 4);
    bytes.extend_from_slice(state);
    bytes.extend_from_slice(&at.to_le_bytes());
    bytes.into()
}

/// Takes a pair apart.
pub(crate) fn split(pair: &[u8]) -> (&[u8], u32) {
    let (state, at) = pair.split_at(pair.len() - 4);
    (state, u32::from_le_bytes(at.try_into().expect("the last four bytes are the automaton's")))
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

/// Appends the transitions of a pair; a state without steps repeats itself.
pub(crate) fn expand<S: System + ?Sized>(
    system: &mut S,
    automaton: &Automaton,
    valuation: &mut Valuation<'_>,
    from: &[u8],
    faults: Faults,
    out: &mut Vec<Arc>,
) -> Result<(), Stop> {
    let (state, at) = split(from);
    let mut steps: Vec<(Option<Label>, u32, Vec<u8>)> = Vec::new();
    let mut pushed = 0;
    let mut fault = None;
    let _ = system.steps(state, &mut |step: Step, target: &[u8]| {
        if let Some(met) = step.fault {
            fault.get_or_insert((pushed, met));
        }
        if !step.stays {
            steps.push((Some(step.label), pushed, target.to_vec()));
        }
        pushed += 1;
        Flow::Continue(())
    });
    if let Some((ordinal, met)) = fault.filter(|_| faults == Faults::End) {
        return Err(Stop::Fault(Some(ordinal), system.fault(met).into()));
    }
    if let Some(limit) = system.left_out() {
        return Err(Stop::Limit(limit));
    }
    if steps.is_empty() {
        steps.push((None, STUTTER, state.to_vec()));
    }
    if let Err(fault) = valuation.look_at_state(system, state) {
        return Err(Stop::Fault(None, system.fault(fault).into()));
    }
    if steps[0].1 == STUTTER {
        valuation.end_of_run();
    }
    for (label, ordinal, target) in steps {
        valuation.look_at_step(&*system, label);
        let edges = automaton.states[at as usize].iter();
        for edge in edges.filter(|e| automaton.manager.eval(e.guard, |atom| valuation.sees(atom))) {
            out.push(Arc { target: pair(&target, edge.target), ordinal });
        }
    }
    Ok(())
}
