//! Whether a run shows what it is shown for, by going along it once more: no search, no store, no reduction.
//!
//! The letters that an automaton or a formula sees along the run are written down, and the run of the
//! automaton on that word is followed in the simplest way: the set of its states after each letter, and for
//! the cycle of a lasso the largest set of places from which every acceptance mark can be met again and again
//! (Emerson & Lei 1986).

use volee_system::{Step, System, Witness, walk};

use crate::atoms::{BoundAtom, Valuation};
use crate::deterministic::DeterministicProperty;
use crate::liveness::Claim;
use crate::monitor::{Runs, TlQuestion};

/// What an automaton sees along a run. The word of a lasso repeats from its start on; the word of a run that
/// ends has one more letter, which a lasso without steps repeats.
pub(crate) struct Word {
    pub letters: Vec<Vec<bool>>,
    pub start: Option<usize>,
    /// A run without a cycle that cannot go on: its last letter is repeated too.
    ends: bool,
    /// Some condition has no value in the last state of a run without a cycle: the word stops before it.
    blind: bool,
}

/// The letters of states and the steps taken there; `None` if it is no run, or a condition has no value on
/// it.
pub(crate) fn word<S: System + ?Sized>(
    system: &mut S,
    atoms: &[BoundAtom],
    witness: &Witness,
) -> Option<Word> {
    let mut valuation = Valuation::new(atoms);
    let mut letters = Vec::with_capacity(witness.steps.len() + 1);
    let (mut readable, mut ends, mut blind) = (true, false, false);
    let stutters = witness.loop_start.is_some_and(|start| start >= witness.steps.len());
    walk(system, witness, |system, state, step: Option<Step>| {
        if step.is_none() && witness.loop_start.is_some() && !stutters {
            return;
        }
        let seen = valuation.look_at_state(system, state).is_ok();
        if !seen && step.is_none() && witness.loop_start.is_none() {
            blind = true;
            return;
        }
        readable &= seen;
        if step.is_none() {
            let steps = volee_system::collect_steps(system, state);
            ends = steps.iter().all(|(step, _)| step.stays);
        }
        if ends {
            valuation.end_of_run();
        }
        valuation.look_at_step(&*system, step.map(|s| s.label));
        letters.push((0..atoms.len()).map(|atom| valuation.sees(atom as u32)).collect());
    })
    .ok()?;
    let start = witness.loop_start.map(|start| start.min(witness.steps.len()));
    readable.then_some(Word { letters, start, ends, blind })
}

impl Claim {
    /// Whether the automaton accepts this run, by its definition; `None` if the run is none of this system.
    pub fn accepts<S: System + ?Sized>(&self, system: &mut S, witness: &Witness) -> Option<bool> {
        let Word { letters, start, ends, blind } = word(system, &self.atoms, witness)?;
        let automaton = &self.automaton;
        let mut now = vec![false; automaton.states.len()];
        now[automaton.initial as usize] = true;
        let trapped = |now: &[bool]| (0..now.len()).any(|q| now[q] && self.is_trap(q));
        // What a run that could go on does next is seen by nobody: the claim moves with the steps.
        let prefix = start.unwrap_or(letters.len() - usize::from(!blind));
        for letter in &letters[..prefix] {
            if trapped(&now) {
                return Some(true);
            }
            now = self.after(&now, letter);
        }
        if trapped(&now) {
            return Some(true);
        }
        if start.is_some() || ends {
            return Some(self.accepts_for_ever(&now, &letters[prefix..]));
        }
        if blind {
            return Some(false);
        }
        // What predicates see in the last state they see whatever follows.
        let of_states = self.atoms.iter().all(|atom| matches!(atom, BoundAtom::Predicate(_)));
        Some(of_states && trapped(&self.after(&now, &letters[prefix])))
    }

    /// The states after one letter.
    fn after(&self, now: &[bool], letter: &[bool]) -> Vec<bool> {
        let mut next = vec![false; now.len()];
        for state in (0..now.len()).filter(|&q| now[q]) {
            for edge in self.automaton.successors(state as u32, |atom| letter[atom as usize]) {
                next[edge.target as usize] = true;
            }
        }
        next
    }

    /// Whether a word repeated for ever is accepted from one of these states.
    fn accepts_for_ever(&self, from: &[bool], cycle: &[Vec<bool>]) -> bool {
        let (rounds, size) = (cycle.len(), from.len());
        let reached = self.reached(from, cycle);
        if (0..rounds).any(|at| (0..size).any(|q| reached[at][q] && self.is_trap(q))) {
            return true;
        }
        let mut good = reached;
        loop {
            let before = good.clone();
            for mark in 0..self.automaton.sets.max(1) {
                let wanted = if self.automaton.sets == 0 { 0 } else { 1 << mark };
                good = self.can_meet(&good, cycle, wanted);
            }
            if good == before {
                return good.iter().flatten().any(|&q| q);
            }
        }
    }

    /// By place of the cycle: the states that the automaton can be in there.
    fn reached(&self, from: &[bool], cycle: &[Vec<bool>]) -> Vec<Vec<bool>> {
        let mut reached = vec![vec![false; from.len()]; cycle.len()];
        reached[0] = from.to_vec();
        let mut grew = true;
        while grew {
            grew = false;
            for at in 0..cycle.len() {
                let next = self.after(&reached[at], &cycle[at]);
                let there = &mut reached[(at + 1) % cycle.len()];
                for (known, new) in there.iter_mut().zip(next) {
                    grew |= new && !*known;
                    *known |= new;
                }
            }
        }
        reached
    }

    /// Those places and states from which, staying among them, a transition with a mark can be taken.
    fn can_meet(&self, among: &[Vec<bool>], cycle: &[Vec<bool>], mark: u64) -> Vec<Vec<bool>> {
        let mut can = vec![vec![false; among[0].len()]; cycle.len()];
        let mut grew = true;
        while grew {
            grew = false;
            for at in (0..cycle.len()).rev() {
                let next = (at + 1) % cycle.len();
                for q in 0..among[at].len() {
                    if !among[at][q] || can[at][q] {
                        continue;
                    }
                    let mut edges = self.automaton.successors(q as u32, |atom| cycle[at][atom as usize]);
                    let meets = edges.any(|edge| {
                        let target = edge.target as usize;
                        among[next][target] && (edge.marks & mark == mark || can[next][target])
                    });
                    can[at][q] = meets;
                    grew |= meets;
                }
            }
        }
        can
    }
}

impl DeterministicProperty {
    /// Whether the automaton refuses a lasso, by its definition; `None` if it is no lasso of this system.
    pub fn refuses<S: System + ?Sized>(&self, system: &mut S, witness: &Witness) -> Option<bool> {
        let Word { letters, start, .. } = word(system, self.atoms(), witness)?;
        let start = start?;
        let automaton = self.automaton();
        let step = |at: u32, letter: &Vec<bool>| {
            automaton.successors(at, |atom| letter[atom as usize]).next().map(|edge| edge.target)
        };
        let mut at = automaton.initial;
        for letter in &letters[..start] {
            at = step(at, letter)?;
        }
        // After that many rounds the states at the start of a round have come twice.
        let mut rounds: Vec<(u32, bool)> = Vec::new();
        loop {
            let first = at;
            let mut accepted = false;
            for letter in &letters[start..] {
                accepted |= automaton.state_marks(at as usize) != 0;
                at = step(at, letter)?;
            }
            rounds.push((first, accepted));
            if let Some(again) = rounds.iter().position(|(q, _)| *q == at) {
                return Some(!rounds[again..].iter().any(|(_, accepted)| *accepted));
            }
        }
    }
}

impl TlQuestion {
    /// Whether the formula is false of a run, by following the automata of its conjuncts; `None` if it is no
    /// run of this system.
    pub fn refutes<S: System + ?Sized>(&self, system: &mut S, witness: &Witness, runs: Runs) -> Option<bool> {
        let mut valuation = Valuation::new(&self.atoms);
        let mut at = self.monitor.initial();
        let mut label = None;
        let (mut readable, mut ended) = (true, false);
        walk(system, witness, |system, state, step: Option<Step>| {
            // A letter is a step and the state that it leads to.
            if let Some(label) = label {
                valuation.look_at_step(&*system, Some(label));
                readable &= valuation.look_at_state(system, state).is_ok();
                self.monitor.step(&mut at, |atom| valuation.sees(atom as u32));
            }
            label = step.filter(|s| !s.stays).map(|s| s.label);
            if step.is_none() {
                let steps = volee_system::collect_steps(system, state);
                ended = steps.iter().all(|(step, _)| step.stays);
            }
        })
        .ok()?;
        let rejected = self.monitor.rejecting(&at).is_some();
        readable.then_some(rejected && (runs == Runs::Prefixes || ended))
    }
}

/// Whether every process that can move somewhere on the cycle of a lasso moves on it; `None` if it is no
/// lasso.
pub fn is_strongly_fair<S: System + ?Sized>(system: &mut S, witness: &Witness) -> Option<bool> {
    let start = witness.loop_start?;
    let (mut enabled, mut moved) = ([false; 256], [false; 256]);
    let mut at = 0;
    walk(system, witness, |system, state, step: Option<Step>| {
        if let Some(step) = step.filter(|_| at >= start) {
            for (possible, _) in volee_system::collect_steps(system, state) {
                enabled[usize::from(possible.process)] |= !possible.stays;
            }
            moved[usize::from(step.process)] = true;
        }
        at += 1;
    })
    .ok()?;
    Some((0..256).all(|process| moved[process] || !enabled[process]))
}

/// Whether no process can move all along the cycle of a lasso without ever moving; `None` if it is no lasso.
pub fn is_fair<S: System + ?Sized>(system: &mut S, witness: &Witness) -> Option<bool> {
    let start = witness.loop_start?;
    let mut waiting = [true; 256];
    let mut moved = [false; 256];
    let mut at = 0;
    walk(system, witness, |system, state, step: Option<Step>| {
        if at >= start && (step.is_some() || start >= witness.steps.len()) {
            let mut enabled = [false; 256];
            for (possible, _) in volee_system::collect_steps(system, state) {
                enabled[usize::from(possible.process)] |= !possible.stays;
            }
            (0..256).for_each(|process| waiting[process] &= enabled[process]);
            if let Some(step) = step {
                moved[usize::from(step.process)] = true;
            }
        }
        at += 1;
    })
    .ok()?;
    Some((0..256).all(|process| moved[process] || !waiting[process]))
}
