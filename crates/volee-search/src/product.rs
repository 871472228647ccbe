//! A system and what watches it, stepped together, as a system again: the one product of this house.
//!
//! What watches is an [`Observer`]: the automaton of a claim (`claimed.rs`: LTL, never claims, HOA,
//! deterministic Büchi automata), the monitor of a finite-trace formula (`monitor.rs`), the purpose of a test
//! (in the room of conformance). A state of the product is the observer's, a few bytes, then the system's; a
//! step is one of the system together with what the observer makes of it, and has the system's label. Because
//! the product is a system, every traversal and every store can be under it: those of invariants where
//! something bad has only to happen, searches that forget, several workers. The search by components has the
//! claim's product on packed names, for speed (`liveness/product.rs`).
//!
//! Where the observer cannot tell runs apart that only repeat letters more or less often, a persistent set of
//! steps may stand for all. It is chosen by the state of the system alone and never cuts cycles, so the
//! product is that with a smaller system; why that has the same answers is argued in `liveness/product.rs`.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::ops::ControlFlow;

use volee_system::{
    Action, Components, Fault, FaultId, Flow, Label, Limit, Marks, PredicateId, Records, Sink, Step, System,
    Variable, Witness, collect_initial,
};

use crate::pairs::{STUTTER, UNNUMBERED};

/// What a finished run does for ever.
const REPEATED: Label = Label(u32::MAX);

/// A state of the observer and one of the system.
pub type Pair<'p> = (&'p [u8], &'p [u8]);

/// What moves along with a system, seeing its states and steps. It may have several ways to go on, or none.
pub trait Observer<S: System + ?Sized> {
    /// Whether a run that ends goes on for it, repeating the last state for ever.
    const REPEATS_END: bool = false;

    /// The bytes of a state that it knows at once.
    type Known: AsRef<[u8]>;

    /// Bytes of its states.
    fn width(&self) -> usize;

    /// Appends the state in which it starts.
    fn start(&self, out: &mut Vec<u8>);

    /// Whether nothing that follows can matter, so that the product has no steps here.
    fn is_settled(&mut self, _at: &[u8]) -> bool {
        false
    }

    /// Looks at a state of the system, before its steps; `is_last` where the run ends there.
    ///
    /// # Errors
    /// What it looks for has no value there.
    fn look_at_state(&mut self, _system: &mut S, _state: &[u8], _is_last: bool) -> Result<(), FaultId> {
        Ok(())
    }

    /// Pushes its states after a step to a state; without a label a finished run repeats its last state. With
    /// them goes an error of its own, where what it looks for has no value.
    fn follow(
        &mut self,
        system: &mut S,
        at: &[u8],
        step: (Option<Label>, &[u8]),
        push: impl FnMut(Option<FaultId>, &[u8]) -> Flow,
    ) -> Flow;

    /// Its state after a step of which the label decides all, where it knows that without asking the system.
    /// Such steps are followed as they come; others are kept until the system is free to be asked.
    fn known(&self, _at: &[u8], _label: Label) -> Option<Self::Known> {
        None
    }

    /// Whether it matters who could move in a step that it does not take.
    fn minds_refusals(&self) -> bool {
        false
    }

    /// The value of a predicate of its own in a pair of states; nothing where it is the system's.
    fn holds(
        &mut self,
        _system: &mut S,
        _predicate: PredicateId,
        _pair: Pair<'_>,
    ) -> Option<Result<bool, FaultId>> {
        None
    }
}

/// A step of the system, or none where a finished run repeats its last state.
#[derive(Clone, Copy)]
struct Taken {
    step: Option<Step>,
    ordinal: u32,
    /// Where its target ends in the buffer of all.
    end: usize,
}

/// Steps of pairs: what a product needs beside its system and its observer.
#[derive(Default)]
pub struct Pairing {
    /// Whether persistent sets may stand for all steps.
    reduces: bool,
    taken: Vec<Taken>,
    targets: Vec<u8>,
    /// How often a persistent set stood for all steps.
    reduced: u64,
}

impl Pairing {
    /// Pushes the steps of a pair, each with the system's number of it, or, where that is allowed, some that
    /// stand for all.
    #[inline]
    pub fn steps<S: System + ?Sized, O: Observer<S>>(
        &mut self,
        system: &mut S,
        observer: &mut O,
        pair: Pair<'_>,
        mut push: impl FnMut(Step, u32, Pair<'_>) -> Flow,
    ) -> Flow {
        if observer.is_settled(pair.0) {
            return Flow::Continue(());
        }
        if self.reduces && self.persistent(system, pair.1) {
            self.reduced += 1;
        } else {
            self.enumerate(system, observer, pair, &mut push)?;
        }
        self.follow(system, observer, pair, push)
    }

    /// Pushes all steps of a pair, whatever could stand for them.
    fn all_steps<S: System + ?Sized, O: Observer<S>>(
        &mut self,
        system: &mut S,
        observer: &mut O,
        pair: Pair<'_>,
        mut push: impl FnMut(Step, u32, Pair<'_>) -> Flow,
    ) -> Flow {
        self.enumerate(system, observer, pair, &mut push)?;
        self.follow(system, observer, pair, push)
    }

    /// Asks the system for all steps of a pair and keeps those that cannot be followed as they come: the
    /// first of them and all after it.
    #[inline]
    fn enumerate<S: System + ?Sized, O: Observer<S>>(
        &mut self,
        system: &mut S,
        observer: &O,
        (at, own): Pair<'_>,
        push: &mut impl FnMut(Step, u32, Pair<'_>) -> Flow,
    ) -> Flow {
        self.taken.clear();
        self.targets.clear();
        let mut coming: Coming<'_, S, O, _> =
            Coming { pairing: self, observer, at, push, pushed: 0, moves: false, system: PhantomData };
        system.steps(own, &mut coming)?;
        let moves = coming.moves;
        if O::REPEATS_END && !moves {
            self.targets.extend_from_slice(own);
            self.taken.push(Taken { step: None, ordinal: STUTTER, end: self.targets.len() });
        }
        Flow::Continue(())
    }

    #[inline(never)]
    fn keep(&mut self, step: Step, ordinal: u32, target: &[u8]) {
        self.targets.extend_from_slice(target);
        self.taken.push(Taken { step: Some(step), ordinal, end: self.targets.len() });
    }

    /// The first persistent set that has no errors and cuts no cycles; whether there is one.
    fn persistent<S: System + ?Sized>(&mut self, system: &mut S, own: &[u8]) -> bool {
        let mut attempt = 0;
        loop {
            self.taken.clear();
            self.targets.clear();
            let (taken, targets) = (&mut self.taken, &mut self.targets);
            let mut plain = true;
            let Some(reducible) = system.reducible() else { return false };
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

    /// Pushes what the observer makes of the steps that were enumerated last. Steps that end in an error
    /// where they are stay beside the observer's state as it is.
    #[inline]
    fn follow<S: System + ?Sized, O: Observer<S>>(
        &mut self,
        system: &mut S,
        observer: &mut O,
        (at, own): Pair<'_>,
        mut push: impl FnMut(Step, u32, Pair<'_>) -> Flow,
    ) -> Flow {
        let is_last = self.taken.last().is_some_and(|taken| taken.step.is_none());
        if let Err(fault) = observer.look_at_state(system, own, is_last) {
            let step = Step { label: REPEATED, fault: Some(fault), stays: true, ..Step::default() };
            return push(step, STUTTER, (at, own));
        }
        let mut start = 0;
        for &Taken { step, ordinal, end } in &self.taken {
            let target = &self.targets[start..end];
            start = end;
            if let Some(step) = step.filter(|step| step.stays) {
                push(step, ordinal, (at, own))?;
                continue;
            }
            let seen = (step.map(|step| step.label), target);
            let step = step.unwrap_or(Step { label: REPEATED, ..Step::default() });
            let mut refused = true;
            observer.follow(system, at, seen, |fault, next| {
                refused = false;
                push(Step { fault: step.fault.or(fault), ..step }, ordinal, (next, target))
            })?;
            // An error of the system is one whatever the observer makes of it; and who moves in a step that
            // it does not take could move all the same, which matters for fairness.
            if refused && (step.fault.is_some() || observer.minds_refusals()) {
                push(Step { stays: true, ..step }, ordinal, (at, own))?;
            }
        }
        Flow::Continue(())
    }
}

/// The steps of a pair as they come from the system.
struct Coming<'p, S: ?Sized, O, F> {
    pairing: &'p mut Pairing,
    observer: &'p O,
    at: &'p [u8],
    push: &'p mut F,
    pushed: u32,
    moves: bool,
    system: PhantomData<fn(&S)>,
}

impl<S: System + ?Sized, O: Observer<S>, F: FnMut(Step, u32, Pair<'_>) -> Flow> Sink for Coming<'_, S, O, F> {
    #[inline(always)]
    fn push(&mut self, step: Step, target: &[u8]) -> Flow {
        let ordinal = self.pushed;
        self.pushed += 1;
        self.moves |= !step.stays;
        if self.pairing.taken.is_empty()
            && !step.stays
            && let Some(next) = self.observer.known(self.at, step.label)
        {
            return (self.push)(step, ordinal, (next.as_ref(), target));
        }
        self.pairing.keep(step, ordinal, target);
        Flow::Continue(())
    }
}

/// The name of a pair: the observer's state, then the system's.
fn join((at, own): Pair<'_>, out: &mut Vec<u8>) {
    out.clear();
    out.extend_from_slice(at);
    out.extend_from_slice(own);
}

/// A system beside an observer.
pub struct Beside<'a, S: System + ?Sized, O: Observer<S>> {
    pub(crate) system: &'a mut S,
    pub(crate) observer: O,
    pairing: Pairing,
    joined: Vec<u8>,
}

impl<'a, S: System + ?Sized, O: Observer<S>> Beside<'a, S, O> {
    /// The product; `reduces` where persistent sets may stand for all steps.
    pub(crate) fn of(system: &'a mut S, observer: O, reduces: bool) -> Self {
        let reduces = reduces && system.reducible().is_some();
        Beside { system, observer, pairing: Pairing { reduces, ..Pairing::default() }, joined: Vec::new() }
    }

    /// How often a persistent set stood for all steps.
    pub fn reduced(&self) -> u64 {
        self.pairing.reduced
    }

    /// The system's part of a state.
    fn own<'s>(&self, state: &'s [u8]) -> &'s [u8] {
        &state[self.observer.width()..]
    }

    /// Pushes the steps of a state, each with the system's number of it.
    pub(crate) fn numbered_steps(
        &mut self,
        state: &[u8],
        mut push: impl FnMut(Step, u32, &[u8]) -> Flow,
    ) -> Flow {
        let (pair, joined) = (state.split_at(self.observer.width()), &mut self.joined);
        self.pairing.steps(self.system, &mut self.observer, pair, |step, ordinal, pair| {
            join(pair, joined);
            push(step, ordinal, joined)
        })
    }

    /// The system's number of a step from one state to another, of one without an error if there is one;
    /// nothing where a finished run repeats itself.
    pub(crate) fn ordinal(&mut self, from: &[u8], to: &[u8]) -> Option<u32> {
        let mut found = None;
        let (width, observer) = (self.observer.width(), &mut self.observer);
        let to = to.split_at(width);
        let _ = self.pairing.all_steps(self.system, observer, from.split_at(width), |step, ordinal, pair| {
            if step.stays || pair != to || found.is_some() && step.fault.is_some() {
                return Flow::Continue(());
            }
            found = Some(ordinal);
            if step.fault.is_none() { Flow::Break(()) } else { Flow::Continue(()) }
        });
        found.filter(|&ordinal| ordinal != STUTTER)
    }

    /// A step of the product by its number: whether it stays, the system's number of it, where it leads.
    fn nth(&mut self, state: &[u8], ordinal: usize) -> Option<(bool, Option<u32>, Vec<u8>)> {
        let (mut pushed, mut found) = (0, None);
        let _ = self.numbered_steps(state, |step, own, target| {
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
}

impl<S: System + ?Sized, O: Observer<S>> System for Beside<'_, S, O> {
    fn initial(&mut self, push: &mut dyn FnMut(&[u8]) -> Flow) -> Flow {
        let (mut start, joined) = (Vec::new(), &mut self.joined);
        self.observer.start(&mut start);
        self.system.initial(&mut |state| {
            join((&start, state), joined);
            push(joined)
        })
    }

    fn steps(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        self.numbered_steps(state, |step, _, target| sink.push(step, target))
    }

    fn label(&self, label: Label) -> Cow<'_, str> {
        if label == REPEATED { "the end, for ever".into() } else { self.system.label(label) }
    }

    fn names(&self, label: Label) -> Vec<String> {
        if label == REPEATED { Vec::new() } else { self.system.names(label) }
    }

    fn is_valid_end(&mut self, state: &[u8]) -> bool {
        let own = self.own(state);
        self.system.is_valid_end(own)
    }

    fn fault(&self, fault: FaultId) -> Fault {
        self.system.fault(fault)
    }

    fn explain(&mut self, state: &[u8], ordinal: usize) -> Vec<Action> {
        match self.nth(state, ordinal) {
            Some((_, Some(own), _)) => self.system.explain(&state[self.observer.width()..], own as usize),
            _ => Vec::new(),
        }
    }

    fn variables(&self, state: &[u8]) -> Vec<Variable> {
        self.system.variables(self.own(state))
    }

    fn left_out(&self) -> Option<Limit> {
        self.system.left_out()
    }

    fn holds(&mut self, predicate: PredicateId, state: &[u8]) -> Result<bool, FaultId> {
        let (at, own) = state.split_at(self.observer.width());
        match self.observer.holds(self.system, predicate, (at, own)) {
            Some(value) => value,
            None => self.system.holds(predicate, own),
        }
    }

    fn marks(&mut self, state: &[u8]) -> Marks {
        let own = self.own(state);
        self.system.marks(own)
    }

    /// The observer's state belongs to what every state has, before the first component of the system.
    fn components(&self) -> Option<Components> {
        let width = self.observer.width() as u32;
        let mut components = self.system.components()?;
        components.ends.iter_mut().for_each(|end| *end += width);
        if let Some(Records { count_at, .. }) = &mut components.records {
            *count_at += width;
        }
        Some(components).filter(|components| !components.ends.is_empty())
    }
}
