//! The automaton of a claim as an observer: formulas over infinite runs, never claims, automata from files.
//!
//! It takes what is seen in the state before a step (and, for events, in the step), and a run that ends
//! repeats its last state.

use volee_system::{FaultId, Flow, Label, PredicateId, Step, System};

use crate::atoms::Valuation;
use crate::check::Check;
use crate::liveness::Claim;
use crate::pairs::{Arc, Faults, STUTTER, Stop, WIDTH};
use crate::product::{Beside, Observer, Pair};

/// The predicate "the automaton still waits for something bad".
const WAITING: PredicateId = PredicateId(u32::MAX - 1);

/// A system beside a claim.
pub type ClaimProduct<'a, S> = Beside<'a, S, ClaimObserver<'a>>;

/// A claim at work: its states are the numbers of the automaton's.
pub struct ClaimObserver<'a> {
    claim: &'a Claim,
    valuation: Valuation<'a>,
    traps: Vec<bool>,
    /// Whether a condition without a value is told with the state, because nobody asks for errors of steps.
    looks_twice: bool,
}

fn number(at: &[u8]) -> usize {
    u32::from_le_bytes(at.try_into().expect("four bytes are the automaton's number")) as usize
}

impl<S: System + ?Sized> Observer<S> for ClaimObserver<'_> {
    const REPEATS_END: bool = true;
    type Known = [u8; 0];

    fn width(&self) -> usize {
        WIDTH
    }

    fn start(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.claim.automaton.initial.to_le_bytes());
    }

    fn look_at_state(&mut self, system: &mut S, state: &[u8], is_last: bool) -> Result<(), FaultId> {
        self.valuation.look_at_state(system, state)?;
        if is_last {
            self.valuation.end_of_run();
        }
        Ok(())
    }

    fn follow(
        &mut self,
        system: &mut S,
        at: &[u8],
        (label, _): (Option<Label>, &[u8]),
        mut push: impl FnMut(Option<FaultId>, &[u8]) -> Flow,
    ) -> Flow {
        self.valuation.look_at_step(&*system, label);
        self.valuation.meet();
        let (automaton, valuation) = (&self.claim.automaton, &self.valuation);
        for edge in automaton.states[number(at)].iter() {
            if automaton.manager.eval(edge.guard, |atom| valuation.sees(atom)) {
                push(None, &edge.target.to_le_bytes())?;
            }
        }
        Flow::Continue(())
    }

    fn minds_refusals(&self) -> bool {
        self.valuation.sees_events()
    }

    fn holds(
        &mut self,
        system: &mut S,
        predicate: PredicateId,
        (at, own): Pair<'_>,
    ) -> Option<Result<bool, FaultId>> {
        if predicate != WAITING {
            return None;
        }
        if self.looks_twice
            && let Err(fault) = self.valuation.look_at_state(system, own)
        {
            return Some(Err(fault));
        }
        Some(Ok(!self.traps[number(at)]))
    }
}

impl<'a, S: System + ?Sized> ClaimProduct<'a, S> {
    /// The product; `reduces` where persistent sets may stand for all steps, if the claim allows it.
    pub fn new(system: &'a mut S, claim: &'a Claim, reduces: bool) -> Self {
        let observer = ClaimObserver {
            claim,
            valuation: Valuation::new(&claim.atoms),
            traps: (0..claim.automaton.len()).map(|state| claim.is_trap(state)).collect(),
            looks_twice: false,
        };
        Beside::of(system, observer, reduces && claim.stutter_invariant)
    }

    /// The questions whose answers decide the claim as far as finite runs can: no trap is reached, and if
    /// `how` says so no step has an error.
    pub fn questions(&mut self, how: &Check) -> Check {
        self.observer.looks_twice = !how.faults;
        Check {
            deadlocks: false,
            invariants: vec![(String::new(), WAITING)],
            goals: Vec::new(),
            ..how.clone()
        }
    }

    /// The letters met.
    pub fn letters(&self) -> &[u64] {
        self.observer.valuation.letters()
    }

    /// Appends the transitions of a pair.
    pub(crate) fn arcs(&mut self, from: &[u8], faults: Faults, out: &mut Vec<Arc>) -> Result<(), Stop> {
        let mut fault = None;
        let _ = self.numbered_steps(from, |step: Step, ordinal, target| {
            if let Some(met) = step.fault.filter(|_| faults == Faults::End || ordinal == STUTTER) {
                fault.get_or_insert((ordinal, met));
            }
            if !step.stays {
                out.push(Arc { target: target.into(), ordinal });
            }
            Flow::Continue(())
        });
        match fault {
            None => Ok(()),
            Some((ordinal, met)) => {
                let ordinal = Some(ordinal).filter(|&ordinal| ordinal != STUTTER);
                Err(Stop::Fault(ordinal, self.system.fault(met).into()))
            }
        }
    }

    pub(crate) fn claim(&self) -> &'a Claim {
        self.observer.claim
    }
}
