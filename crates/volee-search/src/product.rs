//! The product of a system and an automaton of bad behaviour, as a system again.
//!
//! A state is the number of the automaton's state, then the system's bytes; a step is one of the system
//! together with a transition of the automaton that takes what is seen in the state before the step (and, for
//! events, in the step). A run that ends repeats its last state. Because the product is a system, every
//! traversal and every store can be under it: those of invariants where the automaton only waits for
//! something bad to have happened, searches that forget, and several workers. The search by components has
//! the same product on packed names, for speed (`liveness/product.rs`).
//!
//! Where the claim cannot tell runs apart that only repeat letters more or less often, a persistent set of
//! steps may stand for all. It is chosen by the state of the system alone and never cuts cycles, so the
//! product is that with a smaller system; why that has the same answers is argued in `liveness/product.rs`.

use std::borrow::Cow;
use std::ops::ControlFlow;

use volee_system::{
    Action, Components, Fault, FaultId, Flow, Label, Limit, Marks, PredicateId, Records, Sink, Step, System,
    Variable, Witness, collect_initial,
};

use crate::atoms::Valuation;
use crate::check::Check;
use crate::liveness::Claim;
use crate::pairs::{Arc, Faults, STUTTER, Stop, UNNUMBERED, WIDTH, pair, split};

/// The predicate "the automaton still waits for something bad".
const WAITING: PredicateId = PredicateId(u32::MAX - 1);
/// What a finished run does for ever.
const REPEATED: Label = Label(u32::MAX);

/// A step of the system, or none where a finished run repeats its last state.
#[derive(Clone, Copy)]
struct Taken {
    step: Option<Step>,
    ordinal: u32,
    /// Where its target ends in the buffer of all.
    end: usize,
}

/// A system beside a claim.
pub struct ClaimProduct<'a, S: System + ?Sized> {
    system: &'a mut S,
    claim: &'a Claim,
    valuation: Valuation<'a>,
    reduces: bool,
    traps: Vec<bool>,
    taken: Vec<Taken>,
    targets: Vec<u8>,
    target: Vec<u8>,
    /// Whether a condition without a value is told with the state, because nobody asks for errors of steps.
    looks_twice: bool,
    /// How often a persistent set stood for all steps.
    pub reduced: u64,
}

impl<'a, S: System + ?Sized> ClaimProduct<'a, S> {
    /// The product; `reduces` where persistent sets may stand for all steps, if the claim allows it.
    pub fn new(system: &'a mut S, claim: &'a Claim, reduces: bool) -> Self {
        ClaimProduct {
            reduces: reduces && claim.stutter_invariant && system.reducible().is_some(),
            valuation: Valuation::new(&claim.atoms),
            traps: (0..claim.automaton.len()).map(|state| claim.is_trap(state)).collect(),
            system,
            claim,
            taken: Vec::new(),
            targets: Vec::new(),
            target: Vec::new(),
            looks_twice: false,
            reduced: 0,
        }
    }

    /// The questions whose answers decide the claim as far as finite runs can: no trap is reached, and if
    /// `how` says so no step has an error.
    pub fn questions(&mut self, how: &Check) -> Check {
        self.looks_twice = !how.faults;
        Check {
            deadlocks: false,
            invariants: vec![(String::new(), WAITING)],
            goals: Vec::new(),
            ..how.clone()
        }
    }

    /// The letters met.
    pub fn letters(&self) -> &[u64] {
        self.valuation.letters()
    }

    /// The steps of the system in a state: all, or where it is allowed some that stand for all.
    fn enumerate(&mut self, own: &[u8]) {
        if self.reduces && self.persistent(own) {
            self.reduced += 1;
            return;
        }
        self.enumerate_all(own);
    }

    fn enumerate_all(&mut self, own: &[u8]) {
        self.taken.clear();
        self.targets.clear();
        let (taken, targets) = (&mut self.taken, &mut self.targets);
        let (mut ordinal, mut moves) = (0, false);
        let _ = self.system.steps(own, &mut |step: Step, target: &[u8]| {
            moves |= !step.stays;
            targets.extend_from_slice(target);
            taken.push(Taken { step: Some(step), ordinal, end: targets.len() });
            ordinal += 1;
            Flow::Continue(())
        });
        if !moves {
            targets.extend_from_slice(own);
            taken.push(Taken { step: None, ordinal: STUTTER, end: targets.len() });
        }
    }

    /// The first persistent set that has no errors and cuts no cycles; whether there is one.
    fn persistent(&mut self, own: &[u8]) -> bool {
        let mut attempt = 0;
        loop {
            self.taken.clear();
            self.targets.clear();
            let (taken, targets) = (&mut self.taken, &mut self.targets);
            let mut plain = true;
            let Some(reducible) = self.system.reducible() else { return false };
            let set = reducible.persistent_steps(own, attempt, &mut |step: Step, target: &[u8]| {
                plain &= step.fault.is_none() && !step.stays;
                targets.extend_from_slice(target);
                taken.push(Taken { step: Some(step), ordinal: UNNUMBERED, end: targets.len() });
                Flow::Continue(())
            });
            let ControlFlow::Continue(Some(set)) = set else { return false };
            if plain && !set.cuts_cycles {
                return true;
            }
            attempt = set.next;
        }
    }

    /// Pushes what the automaton makes of the steps that were enumerated last, and of each the system's
    /// number. Steps that end in an error where they are stay beside the automaton's state as it is.
    fn follow(&mut self, state: &[u8], push: &mut dyn FnMut(Step, u32, &[u8]) -> Flow) -> Flow {
        let (own, at) = split(state);
        if let Err(fault) = self.valuation.look_at_state(self.system, own) {
            let step = Step { label: REPEATED, fault: Some(fault), stays: true, ..Step::default() };
            return push(step, STUTTER, state);
        }
        if self.taken.iter().any(|taken| taken.step.is_none()) {
            self.valuation.end_of_run();
        }
        let automaton = &self.claim.automaton;
        let mut start = 0;
        for &Taken { step, ordinal, end } in &self.taken {
            let target = &self.targets[start..end];
            start = end;
            let stays = step.filter(|step| step.stays);
            if let Some(step) = stays {
                push(step, ordinal, state)?;
                continue;
            }
            self.valuation.look_at_step(&*self.system, step.map(|step| step.label));
            self.valuation.meet();
            let step = step.unwrap_or(Step { label: REPEATED, ..Step::default() });
            let (mut first, valuation) = (true, &self.valuation);
            for edge in automaton.states[at as usize].iter() {
                if !automaton.manager.eval(edge.guard, |atom| valuation.sees(atom)) {
                    continue;
                }
                first = false;
                pair(target, edge.target, &mut self.target);
                push(step, ordinal, &self.target)?;
            }
            // An error of the system is one whatever the automaton makes of it; and who moves in a step that
            // the automaton does not take could move all the same, which matters for fairness.
            if first && (step.fault.is_some() || self.valuation.sees_events()) {
                push(Step { stays: true, ..step }, ordinal, state)?;
            }
        }
        Flow::Continue(())
    }

    /// Appends the transitions of a pair.
    pub(crate) fn arcs(&mut self, from: &[u8], faults: Faults, out: &mut Vec<Arc>) -> Result<(), Stop> {
        self.enumerate(split(from).0);
        let mut fault = None;
        let _ = self.follow(from, &mut |step, ordinal, target| {
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

    /// The system's number of a step from one pair to another, of one without an error if there is one;
    /// nothing where a finished run repeats itself.
    pub(crate) fn ordinal(&mut self, from: &[u8], to: &[u8]) -> Option<u32> {
        self.enumerate_all(split(from).0);
        let mut found = None;
        let _ = self.follow(from, &mut |step, ordinal, target| {
            if step.stays || target != to || found.is_some() && step.fault.is_some() {
                return Flow::Continue(());
            }
            found = Some(ordinal);
            if step.fault.is_none() { Flow::Break(()) } else { Flow::Continue(()) }
        });
        found.filter(|&ordinal| ordinal != STUTTER)
    }

    /// A step of the product by its number: whether it stays, the system's number of it, where it leads.
    fn nth(&mut self, state: &[u8], ordinal: usize) -> Option<(bool, Option<u32>, Vec<u8>)> {
        self.enumerate(split(state).0);
        let (mut pushed, mut found) = (0, None);
        let _ = self.follow(state, &mut |step, own, target| {
            pushed += 1;
            if pushed <= ordinal {
                return Flow::Continue(());
            }
            found = Some((step.stays, own, target.to_vec()));
            Flow::Break(())
        });
        let (stays, own, target) = found?;
        let own = match own {
            STUTTER => None,
            UNNUMBERED => self.ordinal(state, &target),
            own => Some(own),
        };
        Some((stays, own, target))
    }

    /// A run of the product as the run of the system that it is, and the pair it ends in; `None` if it is no
    /// run.
    pub fn own_run(&mut self, witness: &Witness) -> Option<(Witness, Vec<u8>)> {
        let mut at = collect_initial(self).into_iter().nth(witness.initial as usize)?;
        let mut steps = Vec::new();
        for &ordinal in &witness.steps {
            let (stays, own, next) = self.nth(&at, ordinal as usize)?;
            steps.extend(own);
            if !stays {
                at = next;
            }
        }
        Some((Witness { initial: witness.initial, steps, loop_start: None }, at))
    }

    pub(crate) fn claim(&self) -> &'a Claim {
        self.claim
    }
}

impl<S: System + ?Sized> System for ClaimProduct<'_, S> {
    fn initial(&mut self, push: &mut dyn FnMut(&[u8]) -> Flow) -> Flow {
        let (at, product) = (self.claim.automaton.initial, &mut self.target);
        self.system.initial(&mut |state| {
            pair(state, at, product);
            push(product)
        })
    }

    fn steps(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        self.enumerate(split(state).0);
        self.follow(state, &mut |step, _, target| sink.push(step, target))
    }

    fn label(&self, label: Label) -> Cow<'_, str> {
        if label == REPEATED { "the end, for ever".into() } else { self.system.label(label) }
    }

    fn names(&self, label: Label) -> Vec<String> {
        if label == REPEATED { Vec::new() } else { self.system.names(label) }
    }

    fn is_valid_end(&mut self, state: &[u8]) -> bool {
        self.system.is_valid_end(split(state).0)
    }

    fn fault(&self, fault: FaultId) -> Fault {
        self.system.fault(fault)
    }

    fn explain(&mut self, state: &[u8], ordinal: usize) -> Vec<Action> {
        match self.nth(state, ordinal) {
            Some((_, Some(own), _)) => self.system.explain(split(state).0, own as usize),
            _ => Vec::new(),
        }
    }

    fn variables(&self, state: &[u8]) -> Vec<Variable> {
        self.system.variables(split(state).0)
    }

    fn left_out(&self) -> Option<Limit> {
        self.system.left_out()
    }

    fn holds(&mut self, predicate: PredicateId, state: &[u8]) -> Result<bool, FaultId> {
        let (own, at) = split(state);
        if predicate != WAITING {
            return self.system.holds(predicate, own);
        }
        if self.looks_twice {
            self.valuation.look_at_state(self.system, own)?;
        }
        Ok(!self.traps[at as usize])
    }

    fn marks(&mut self, state: &[u8]) -> Marks {
        self.system.marks(split(state).0)
    }

    /// The automaton's number belongs to what every state has, before the first component of the system.
    fn components(&self) -> Option<Components> {
        let mut components = self.system.components()?;
        components.ends.iter_mut().for_each(|end| *end += WIDTH as u32);
        if let Some(Records { count_at, .. }) = &mut components.records {
            *count_at += WIDTH as u32;
        }
        Some(components).filter(|components| !components.ends.is_empty())
    }
}
