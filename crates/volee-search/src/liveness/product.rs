//! The product of a system and a claim, one node at a time.
//!
//! A letter is what the automaton's atoms see in the state *before* a step, and for events in the step
//! itself. The state of the system is expanded once per node; its targets are named together and looked up
//! together.
//!
//! Where the claim cannot tell runs apart that only repeat letters more or less often, a persistent set of
//! steps that no atom sees may stand for all (Peled, "All from one, one for all", 1993). Which set is taken
//! depends on the state of the system alone, and no set is taken that cuts cycles
//! ([`PersistentSet`](volee_system::PersistentSet)): so the reduced system is the same beside every state of
//! the automaton, on each of its cycles some state is expanded fully, and it has for every run of the whole
//! system one with the same letters up to repetition.

use std::ops::ControlFlow;

use volee_logic::automaton::Edge;
use volee_system::{FaultId, Flow, Label, PersistentSet, Reason, Step, System};

use super::Claim;
use super::marks::{Enabled, Marks};
use super::nodes::Nodes;
use super::reduced::Expansions;
use crate::atoms::{Valuation, looks_at_events};
use crate::effort::Effort;
use crate::memo::{Memo, Recalled, Stage, rename_steps};
pub(crate) use crate::pairs::{STUTTER, UNNUMBERED};
use volee_store::{Full, Names, StateRef, Tuple, Tuples};

/// A transition of the product.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arc<const W: usize> {
    pub node: u32,
    /// The step of the system, [`STUTTER`] or [`UNNUMBERED`].
    pub ordinal: u32,
    /// Who moves.
    pub process: Option<u8>,
    pub marks: Marks<W>,
}

/// Why a node has no transitions to give.
pub(crate) enum Stop {
    /// The store is full.
    Full(Full),
    /// A step with this ordinal, or looking at the state (no ordinal), met an error.
    Fault(Option<u32>, Reason),
}

/// A step of the system, its target already named.
#[derive(Clone, Copy)]
struct Staged {
    name: StateRef,
    ordinal: u32,
    label: Option<Label>,
    process: Option<u8>,
}

/// Stages targets whose names are known.
struct Targets<'e> {
    steps: &'e mut Vec<Staged>,
    /// All steps are given, in order.
    numbered: bool,
}

impl Stage for Targets<'_> {
    fn one(&mut self, name: StateRef) {
        let ordinal = if self.numbered { self.steps.len() as u32 } else { UNNUMBERED };
        self.steps.push(Staged { name, ordinal, label: None, process: None });
    }

    fn count(&self) -> usize {
        self.steps.len()
    }

    fn up_to_two(&mut self, targets: [StateRef; 2], count: usize) {
        targets[..count].iter().for_each(|&name| self.one(name));
    }
}

/// The product at work.
pub(crate) struct Product<'a, S: System + ?Sized, const W: usize> {
    pub system: &'a mut S,
    claim: &'a Claim,
    valuation: Valuation<'a>,
    names: Names,
    pub nodes: Nodes,
    /// Which states of the automaton are errors by themselves.
    pub traps: Vec<bool>,
    /// Whether steps with an error end the search. A reduced expansion may have left one out that a full one
    /// meets.
    pub watch_faults: bool,
    state: Vec<u8>,
    steps: Vec<Staged>,
    found: Vec<(u32, Staged, Marks<W>)>,
    pub transitions: u64,
    /// Steps that are remembered, for claims that see nothing of a step but its target.
    memo: Memo<u64>,
    wide_memo: Memo<Tuple>,
    /// Who can move in the state that was last expanded fully.
    pub enabled: Enabled,
    /// Whether steps may be remembered.
    recalls: bool,
    /// Whether persistent sets may stand for all steps.
    reduces: bool,
    /// How often one did.
    pub reduced: u64,
    effort: Effort,
    /// Expansions that asked for a set, and those of them that had sets which cut cycles, and no other.
    asked: u64,
    refused: u64,
    /// Where they were settled by themselves.
    pub expansions: Option<Expansions>,
}

impl<'a, S: System + ?Sized, const W: usize> Product<'a, S, W> {
    pub fn new(system: &'a mut S, claim: &'a Claim, watch_faults: bool, reduces: bool) -> Self {
        Product {
            reduces: reduces && claim.stutter_invariant && W == 1 && system.reducible().is_some(),
            reduced: 0,
            effort: Effort::default(),
            asked: 0,
            refused: 0,
            expansions: None,
            memo: Memo::new(system),
            wide_memo: Memo::new(system),
            recalls: W == 1 && !looks_at_events(&claim.atoms) && system.divisible().is_some(),
            names: Names::new(system.components()),
            system,
            claim,
            valuation: Valuation::new(&claim.atoms),
            nodes: Nodes::new(),
            traps: (0..claim.automaton.states.len()).map(|q| claim.is_trap(q)).collect(),
            watch_faults,
            state: Vec::new(),
            steps: Vec::new(),
            found: Vec::new(),
            transitions: 0,
            enabled: Enabled::default(),
        }
    }

    /// The letters met.
    pub fn letters(&self) -> &[u64] {
        self.valuation.letters()
    }

    /// Letters that were met when the search was kept.
    pub fn met_before(&mut self, letters: &[u64]) {
        self.valuation.met_before(letters);
    }

    /// The state of a name.
    pub fn load(&mut self, name: StateRef) -> &[u8] {
        self.names.load(name, &mut self.state);
        &self.state
    }

    /// How many bytes the state has that was looked at last.
    pub fn state_length(&self) -> usize {
        self.state.len()
    }

    /// The name of a state. `None` where there is no room for it.
    pub fn name(&mut self, state: &[u8]) -> Option<StateRef> {
        self.steps.clear();
        self.steps.push(Staged { name: self.names.name(state), ordinal: 0, label: None, process: None });
        self.rename();
        self.names.full().is_none().then(|| self.steps[0].name)
    }

    /// The number of a pair. `None` where there is no room for it.
    pub fn intern(&mut self, state: &[u8], at: u32) -> Option<u32> {
        self.name(state).map(|name| self.nodes.intern(name, at))
    }

    pub fn bytes(&self) -> u64 {
        let settled = self.expansions.as_ref().map_or(0, Expansions::bytes);
        self.names.bytes() + self.nodes.bytes() + self.memo.bytes() + self.wide_memo.bytes() + settled
    }

    /// The names, where they are tuples.
    pub fn tuples(&mut self) -> Option<&mut Tuples> {
        self.names.tuples()
    }

    /// Goes on with other names for the same states; those it had.
    pub fn exchange_names(&mut self, names: Names) -> Names {
        std::mem::replace(&mut self.names, names)
    }

    /// Whether some staged states wait for names.
    pub fn has_waiting(&self) -> bool {
        self.names.has_waiting()
    }

    /// Whether names were lost because there is no room for them all.
    pub fn is_full(&self) -> bool {
        self.names.full().is_some()
    }

    /// Translates every name that it holds.
    pub fn translate(&mut self, mut translate: impl FnMut(StateRef) -> StateRef) {
        self.steps.iter_mut().for_each(|step| step.name = translate(step.name));
        self.nodes.rename(&mut translate);
        if let Some(expansions) = &mut self.expansions {
            expansions.rename(translate);
        }
    }

    /// What is remembered of steps is given up where memory is short.
    pub fn forget_steps(&mut self) -> bool {
        let had = self.recalls;
        self.recalls = false;
        self.memo.close();
        self.wide_memo.close();
        had
    }

    /// The nodes in which runs start, in the order of the system's initial states.
    pub fn initial(&mut self) -> Vec<u32> {
        self.stage_initial();
        let at = self.claim.automaton.initial;
        self.steps.iter().map(|step| self.nodes.intern(step.name, at)).collect()
    }

    /// Stages the system's initial states.
    pub fn stage_initial(&mut self) {
        self.steps.clear();
        let (names, steps) = (&mut self.names, &mut self.steps);
        let _ = self.system.initial(&mut |state| {
            steps.push(Staged { name: names.name(state), ordinal: 0, label: None, process: None });
            Flow::Continue(())
        });
        self.rename();
    }

    /// The names of what is staged. `None` where there is no room for them.
    pub fn staged_names(&mut self) -> Option<Vec<StateRef>> {
        self.rename();
        self.names.full().is_none().then(|| self.steps.iter().map(|step| step.name).collect())
    }

    /// Stages the first persistent set of a state that has no errors, whatever it cuts; whether there is one.
    pub fn stage_first_set(&mut self, name: StateRef) -> bool {
        self.names.load(name, &mut self.state);
        self.stage_persistent(|_| true)
    }

    /// Stages all steps of a state.
    pub fn stage_all(&mut self, name: StateRef) -> Result<(), Stop> {
        self.names.load(name, &mut self.state);
        self.enumerate(name).map(|_| ())
    }

    /// Whether many sets are refused for what they cut, so that settling expansions may help.
    pub fn is_cut_short(&self) -> bool {
        self.reduces && self.expansions.is_none() && self.refused * 16 > self.asked
    }

    /// Whether persistent sets may stand for all steps.
    pub fn reduces(&self) -> bool {
        self.reduces
    }

    /// Whether a node is an error by itself.
    pub fn is_trap(&self, node: u32) -> bool {
        self.traps[self.nodes.key(node).1 as usize]
    }

    /// Gives the staged states that wait for a name theirs, and translates all others.
    #[inline]
    fn rename(&mut self) {
        if self.names.has_waiting() {
            self.rename_all();
        }
    }

    #[cold]
    fn rename_all(&mut self) {
        let Some(mut renaming) = self.names.rename(u64::BITS - 1) else { return };
        rename_steps(&renaming, &mut self.names, (&mut self.memo, &mut self.wide_memo));
        let mut names = self.exchange_names(Names::lasting());
        self.translate(|name| renaming.translate(&mut names, name));
        self.names = names;
    }

    /// Appends the transitions of a node to `out`, or, where the claim allows it, some that stand for all.
    pub fn expand(&mut self, node: u32, out: &mut Vec<Arc<W>>) -> Result<(), Stop> {
        let enabled = self.stage(self.nodes.key(node).0)?;
        self.follow(node, enabled, out)
    }

    /// Stages the steps of a state, or, where the claim allows it, some that stand for all.
    pub fn stage(&mut self, name: StateRef) -> Result<Enabled, Stop> {
        if let Some(expansions) = &mut self.expansions {
            if expansions.is_reduced(name) && self.stage_first_set(name) {
                self.reduced += 1;
                return Ok(Enabled::default());
            }
        } else if self.reduces && self.effort.asks(false) {
            self.asked += 1;
            let found = match self.recall_persistent(name) {
                Ok(found) => found,
                Err(_) => {
                    self.names.load(name, &mut self.state);
                    self.stage_persistent(|set| !set.cuts_cycles)
                }
            };
            if found {
                self.effort.helped();
                self.reduced += 1;
                return Ok(Enabled::default());
            }
        }
        if self.recall(name) {
            return Ok(Enabled::default());
        }
        self.names.load(name, &mut self.state);
        self.enumerate(name)
    }

    /// Appends all transitions of a node to `out`.
    pub fn expand_fully(&mut self, node: u32, out: &mut Vec<Arc<W>>) -> Result<(), Stop> {
        let (name, _) = self.nodes.key(node);
        self.names.load(name, &mut self.state);
        self.enabled = self.enumerate(name)?;
        self.follow(node, self.enabled, out)
    }

    /// Stages all steps of a state from what is remembered of them; whether that was possible.
    fn recall(&mut self, name: StateRef) -> bool {
        let Some(tuples) = self.names.tuples().filter(|_| self.recalls) else { return false };
        self.steps.clear();
        let mut stage = Targets { steps: &mut self.steps, numbered: true };
        let state = (name, &mut self.state);
        let recalled = match tuples.is_wide() {
            true => self.wide_memo.expand(self.system, tuples, state, &mut stage),
            false => self.memo.expand(self.system, tuples, state, &mut stage),
        };
        recalled == Recalled::All
    }

    /// Stages a persistent set of steps of a state from memory, the first that cuts no cycles; whether there
    /// is one. `Err` when the system is to be asked.
    fn recall_persistent(&mut self, name: StateRef) -> Result<bool, Recalled> {
        let Some(tuples) = self.names.tuples().filter(|_| self.recalls) else { return Err(Recalled::Ask) };
        let mut attempt = 0;
        let mut cut = false;
        loop {
            self.steps.clear();
            let mut stage = Targets { steps: &mut self.steps, numbered: false };
            let state = ((name, &mut self.state), attempt);
            let set = match tuples.is_wide() {
                true => self.wide_memo.expand_set(self.system, tuples, state, &mut stage)?,
                false => self.memo.expand_set(self.system, tuples, state, &mut stage)?,
            };
            match set {
                None => {
                    self.refused += u64::from(cut);
                    return Ok(false);
                }
                Some(set) if !set.cuts_cycles => return Ok(true),
                Some(set) => (attempt, cut) = (set.next, true),
            }
        }
    }

    /// Appends what the automaton makes of the staged steps.
    fn follow(&mut self, node: u32, enabled: Enabled, out: &mut Vec<Arc<W>>) -> Result<(), Stop> {
        self.rename();
        if let Some(full) = self.names.full() {
            return Err(Stop::Full(full));
        }
        self.pair_up(self.nodes.key(node), enabled)?;
        for &(state, step, marks) in &self.found {
            let (ordinal, process) = (step.ordinal, step.process);
            out.push(Arc { node: self.nodes.intern(step.name, state), ordinal, process, marks });
        }
        Ok(())
    }

    /// What the automaton makes of the staged steps of a pair, which all have their names.
    pub fn pair_up(&mut self, (name, at): (StateRef, u32), enabled: Enabled) -> Result<(), Stop> {
        self.found.clear();
        self.names.load(name, &mut self.state);
        if let Err(fault) = self.valuation.look_at_state(self.system, &self.state) {
            return Err(Stop::Fault(None, self.system.fault(fault).into()));
        }
        if self.steps[0].ordinal == STUTTER {
            self.valuation.end_of_run();
        }
        let edges = &self.claim.automaton.states[at as usize];
        if self.valuation.sees_events() {
            self.match_events(edges, enabled);
        } else {
            self.match_states(edges, enabled);
        }
        self.transitions += self.found.len() as u64;
        Ok(())
    }

    /// The pairs that staged steps of a pair may lead to, each at least once.
    pub fn possible_pairs(&self, at: u32) -> impl Iterator<Item = (StateRef, u32)> {
        let mut last = None;
        let edges = self.claim.automaton.states[at as usize].iter();
        let targets = edges.map(|edge| edge.target).filter(move |&to| last.replace(to) != Some(to));
        targets.flat_map(|to| self.steps.iter().map(move |step| (step.name, to)))
    }

    /// Numbers what was paired up last and is inside, unless it is dead; the rest is told.
    pub fn number_inside(
        &mut self,
        inside: impl Fn(u32) -> bool,
        is_dead: impl Fn((StateRef, u32)) -> bool,
        ways: &mut Vec<(u32, Marks<W>)>,
        leaving: &mut Vec<(StateRef, u32)>,
    ) {
        for &(at, step, marks) in &self.found {
            match inside(at) {
                true if is_dead((step.name, at)) => {}
                true => ways.push((self.nodes.intern(step.name, at), marks)),
                false => leaving.push((step.name, at)),
            }
        }
    }

    /// Stages the first persistent set of the loaded state that has no errors and fits; whether there is one.
    fn stage_persistent(&mut self, fits: fn(PersistentSet) -> bool) -> bool {
        let mut attempt = 0;
        let mut cut = false;
        loop {
            let (names, steps) = (&mut self.names, &mut self.steps);
            steps.clear();
            let mut plain = true;
            let Some(reducible) = self.system.reducible() else { return false };
            let set = reducible.persistent_steps(&self.state, attempt, &mut |step: Step, target: &[u8]| {
                plain &= step.fault.is_none() && !step.stays;
                let (label, process) = (Some(step.label), Some(step.process));
                steps.push(Staged { name: names.name(target), ordinal: UNNUMBERED, label, process });
                Flow::Continue(())
            });
            let ControlFlow::Continue(Some(set)) = set else {
                self.refused += u64::from(cut);
                return false;
            };
            if plain && fits(set) {
                return true;
            }
            (attempt, cut) = (set.next, cut || plain);
        }
    }

    /// The number of a step from one node to another.
    pub fn ordinal(&mut self, from: u32, to: u32) -> Option<u32> {
        let (source, target) = (self.nodes.key(from).0, self.nodes.key(to).0);
        crate::paths::ordinal_between(self.system, &mut self.names, source, target)
    }

    /// Names the targets of the loaded state; a state without steps repeats itself.
    fn enumerate(&mut self, name: StateRef) -> Result<Enabled, Stop> {
        self.steps.clear();
        let mut enabled = Enabled::default();
        let mut fault: Option<(u32, FaultId)> = None;
        let mut pushed = 0;
        let (names, steps) = (&mut self.names, &mut self.steps);
        let _ = self.system.steps(&self.state, &mut |step: Step, target: &[u8]| {
            let ordinal = pushed;
            pushed += 1;
            if let Some(met) = step.fault {
                fault.get_or_insert((ordinal, met));
            }
            if !step.stays {
                enabled.add(step.process);
                let (label, process) = (Some(step.label), Some(step.process));
                steps.push(Staged { name: names.name(target), ordinal, label, process });
            }
            Flow::Continue(())
        });
        if let Some((ordinal, met)) = fault.filter(|_| self.watch_faults) {
            return Err(Stop::Fault(Some(ordinal), self.system.fault(met).into()));
        }
        if self.steps.is_empty() {
            self.steps.push(Staged { name, ordinal: STUTTER, label: None, process: None });
        }
        Ok(enabled)
    }

    /// Without events all steps of a state have the same letter.
    fn match_states(&mut self, edges: &[Edge], enabled: Enabled) {
        self.valuation.meet();
        let manager = &self.claim.automaton.manager;
        for edge in edges.iter().filter(|e| manager.eval(e.guard, |atom| self.valuation.sees(atom))) {
            for step in &self.steps {
                self.nodes.prefetch(step.name, edge.target);
                let marks = enabled.marks(edge.marks, step.process);
                self.found.push((edge.target, *step, marks));
            }
        }
    }

    fn match_events(&mut self, edges: &[Edge], enabled: Enabled) {
        let manager = &self.claim.automaton.manager;
        for step in &self.steps {
            self.valuation.look_at_step(&*self.system, step.label);
            self.valuation.meet();
            for edge in edges.iter().filter(|e| manager.eval(e.guard, |atom| self.valuation.sees(atom))) {
                self.nodes.prefetch(step.name, edge.target);
                let marks = enabled.marks(edge.marks, step.process);
                self.found.push((edge.target, *step, marks));
            }
        }
    }
}

#[cfg(test)]
mod tests;
