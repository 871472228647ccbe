//! Witnesses and their replay.
//!
//! A [`Witness`] names a run by ordinals only: which initial state, then which step of each state. It is
//! small, cheap to record, and means nothing until it is replayed; [`replay`] re-executes it with the system
//! and gives the [`Run`] that reports print. No violation is printed that does not replay.

use serde::{Deserialize, Serialize};

use crate::liftable::essence;
use crate::{Action, Fault, Flow, Step, System, Variable, collect_steps};

/// A run of a system, by ordinals. With `loop_start`, the steps from there on repeat for ever.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Witness {
    /// Which initial state, from 0.
    pub initial: u32,
    /// The ordinal of each step in its source state.
    pub steps: Vec<u32>,
    /// The index in `steps` at which the cycle of a lasso starts; the run then ends where the cycle begins. A
    /// run that ends for good and only stutters has its cycle after its last step.
    pub loop_start: Option<usize>,
}

/// A replayed run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// Steps before `initial` that were replayed but are not told: 0 unless the run is very long.
    #[serde(default)]
    pub skipped: usize,
    /// The state at the start.
    pub initial: RunState,
    /// What happened, in order.
    pub steps: Vec<RunStep>,
    /// As in the witness, counted from `initial`; `None` as well where the cycle begins among the steps not
    /// told.
    pub loop_start: Option<usize>,
}

/// A state of a run, for display.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunState {
    /// All variables.
    pub variables: Vec<Variable>,
}

/// A step of a run, for display.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunStep {
    /// The ordinal in the source state.
    pub ordinal: u32,
    /// The label's text.
    pub label: String,
    /// The actions the step is made of.
    pub actions: Vec<Action>,
    /// The error met in it.
    pub fault: Option<Fault>,
    /// The state after it.
    pub state: RunState,
}

/// Why a witness is not a run of the system.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// There are fewer initial states.
    #[error("the system has no initial state number {0}")]
    Initial(u32),
    /// A state has fewer steps.
    #[error(
        "after {at} steps the trace takes step number {ordinal}, but only {available} are possible there"
    )]
    Step {
        /// Steps replayed before.
        at: usize,
        /// The ordinal asked for.
        ordinal: u32,
        /// How many there are.
        available: usize,
    },
    /// The loop does not close.
    #[error("the cycle of the trace does not return to its start")]
    Loop,
}

/// Re-executes a witness.
///
/// # Errors
/// The witness is not a run of this system.
pub fn replay<S: System + ?Sized>(system: &mut S, witness: &Witness) -> Result<Run, ReplayError> {
    replay_any(system, witness, usize::MAX)
}

/// Re-executes a witness and tells only its last `longest` steps: a run of millions of steps would not fit in
/// memory with all that is to be said about each.
///
/// # Errors
/// The witness is not a run of this system.
pub fn replay_end(system: &mut dyn System, witness: &Witness, longest: usize) -> Result<Run, ReplayError> {
    replay_any(system, witness, longest)
}

fn replay_any<S: System + ?Sized>(
    system: &mut S,
    witness: &Witness,
    longest: usize,
) -> Result<Run, ReplayError> {
    let skipped = witness.steps.len().saturating_sub(longest);
    let mut state = nth_initial(system, witness.initial).ok_or(ReplayError::Initial(witness.initial))?;
    let mut initial = RunState { variables: system.variables(&state) };
    let mut loop_state = None;
    let mut steps = Vec::with_capacity(witness.steps.len() - skipped);
    for (at, &ordinal) in witness.steps.iter().enumerate() {
        if witness.loop_start == Some(at) {
            loop_state = Some(state.clone());
        }
        if at < skipped {
            let (_, target) = nth_step(system, &state, ordinal as usize)
                .map_err(|available| ReplayError::Step { at, ordinal, available })?;
            state = target;
            continue;
        }
        if at == skipped {
            initial = RunState { variables: system.variables(&state) };
        }
        let (step, target) = nth_step(system, &state, ordinal as usize)
            .map_err(|available| ReplayError::Step { at, ordinal, available })?;
        steps.push(RunStep {
            ordinal,
            label: system.label(step.label).into_owned(),
            actions: system.explain(&state, ordinal as usize),
            fault: step.fault.map(|f| system.fault(f)),
            state: RunState { variables: system.variables(&target) },
        });
        state = target;
    }
    if witness.loop_start.is_some_and(|start| start >= witness.steps.len()) {
        // An empty cycle is a run that has ended and stutters: it must really have ended.
        let ended = collect_steps(system, &state).iter().all(|(step, _)| step.stays);
        if !ended {
            return Err(ReplayError::Loop);
        }
    } else if let Some(start) = loop_state
        && start != state
        && essence(system, &start) != essence(system, &state)
    {
        return Err(ReplayError::Loop);
    }
    let loop_start = witness.loop_start.and_then(|start| start.checked_sub(skipped));
    Ok(Run { skipped, initial, steps, loop_start })
}

/// Goes along a witness without telling anything of it: `visit` is called with every state and the step that
/// is taken there, with none at the end. Whether a cycle closes is not looked at.
///
/// # Errors
/// The witness is not a run of this system.
pub fn walk<S: System + ?Sized>(
    system: &mut S,
    witness: &Witness,
    mut visit: impl FnMut(&mut S, &[u8], Option<Step>),
) -> Result<(), ReplayError> {
    let mut state = nth_initial(system, witness.initial).ok_or(ReplayError::Initial(witness.initial))?;
    for (at, &ordinal) in witness.steps.iter().enumerate() {
        let (step, target) = nth_step(system, &state, ordinal as usize)
            .map_err(|available| ReplayError::Step { at, ordinal, available })?;
        visit(system, &state, Some(step));
        state = target;
    }
    visit(system, &state, None);
    Ok(())
}

pub(crate) fn nth_initial<S: System + ?Sized>(system: &mut S, n: u32) -> Option<Vec<u8>> {
    let mut seen = 0;
    let mut found = None;
    let _ = system.initial(&mut |state| {
        if seen == n {
            found = Some(state.to_vec());
            return Flow::Break(());
        }
        seen += 1;
        Flow::Continue(())
    });
    found
}

pub(crate) fn nth_step<S: System + ?Sized>(
    system: &mut S,
    state: &[u8],
    n: usize,
) -> Result<(Step, Vec<u8>), usize> {
    let mut seen = 0;
    let mut found = None;
    let _ = system.steps(state, &mut |step: Step, target: &[u8]| {
        if seen == n {
            found = Some((step, target.to_vec()));
            return Flow::Break(());
        }
        seen += 1;
        Flow::Continue(())
    });
    found.ok_or(seen)
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;
    use crate::Label;

    /// Counts to 3 and starts again.
    struct Counter;

    impl System for Counter {
        fn initial(&mut self, push: &mut dyn FnMut(&[u8]) -> Flow) -> Flow {
            push(&[0])
        }
        fn steps(&mut self, state: &[u8], sink: &mut dyn crate::Sink) -> Flow {
            sink.push(Step::labelled(0), &[(state[0] + 1) % 4])
        }
        fn label(&self, _: Label) -> Cow<'_, str> {
            "tick".into()
        }
    }

    #[test]
    fn a_lasso_that_closes_replays() {
        let run = replay(&mut Counter, &Witness { initial: 0, steps: vec![0; 6], loop_start: Some(2) });
        let run = run.expect("0 1 (2 3 0 1)");
        assert_eq!(run.steps.len(), 6);
        assert_eq!(run.steps[0].actions[0].text, "tick");
    }

    #[test]
    fn the_end_of_a_long_run_can_be_had_alone() {
        let witness = Witness { initial: 0, steps: vec![0; 6], loop_start: Some(2) };
        let whole = replay(&mut Counter, &witness).expect("0 1 (2 3 0 1)");
        let end = replay_end(&mut Counter, &witness, 3).expect("it closes as well");
        assert_eq!((end.skipped, end.loop_start), (3, None));
        assert_eq!(end.initial, whole.steps[2].state);
        assert_eq!(end.steps, whole.steps[3..]);
        assert_eq!(replay_end(&mut Counter, &witness, 4).map(|r| r.loop_start), Ok(Some(0)));
    }

    #[test]
    fn a_lasso_that_does_not_close_is_refused() {
        let witness = Witness { initial: 0, steps: vec![0; 5], loop_start: Some(2) };
        assert_eq!(replay(&mut Counter, &witness), Err(ReplayError::Loop));
    }

    #[test]
    fn a_step_that_does_not_exist_is_refused() {
        let witness = Witness { initial: 0, steps: vec![0, 1], loop_start: None };
        assert_eq!(
            replay(&mut Counter, &witness),
            Err(ReplayError::Step { at: 1, ordinal: 1, available: 1 })
        );
    }
}
