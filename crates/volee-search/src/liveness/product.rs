//! The product of a system and a claim, one node at a time.
//!
//! A letter is what the automaton's atoms see in the state *before* a step, and for events in the step itself. The
//! state of the system is expanded once per node; its targets are named together and looked up together.
//!
//! Where the claim cannot tell runs apart that only repeat letters more or less often, a persistent set of steps that no atom
//! sees may stand for all (Peled, "All from one, one for all", 1993). Which set is taken depends on the state of the system
//! alone, and no set is taken that cuts cycles ([`PersistentSet`](volee_system::PersistentSet)): so the reduced system is the
//! same beside every state of the automaton, on each of its cycles some state is expanded fully, and it has for every run of
//! the whole system one with the same letters up to repetition.

use std::ops::ControlFlow;

use volee_logic::automaton::Edge;
use volee_system::{FaultId, Flow, Label, Reason, Step, System};

use super::Claim;
use super::marks::{Enabled, Marks};
use super::nodes::Nodes;
use crate::watch::Sight;
use volee_store::{Full, Name, Names};

/// The ordinal of the step that a finished run repeats for ever.
pub(crate) const STUTTER: u32 = u32::MAX;
/// The ordinal of a step of a persistent set, which is not numbered as all steps are.
pub(crate) const UNNUMBERED: u32 = u32::MAX - 1;

/// A transition of the product.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arc<const W: usize> {
    pub node: u32,
    /// The step of the system, [`STUTTER`] or [`UNNUMBERED`].
    pub ordinal: u32,
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
    name: Name,
    ordinal: u32,
    label: Option<Label>,
    process: Option<u8>,
}

/// The product at work.
pub(crate) struct Product<'a, S: System + ?Sized, const W: usize> {
    pub system: &'a mut S,
    claim: &'a Claim,
    sight: Sight<'a>,
    names: Names,
    pub nodes: Nodes,
    /// Which states of the automaton are errors by themselves.
    pub traps: Vec<bool>,
    /// Whether steps with an error end the search. A reduced expansion may have left one out that a full one meets.
    pub watch_faults: bool,
    state: Vec<u8>,
    steps: Vec<Staged>,
    found: Vec<(Name, u32, u32, Marks<W>)>,
    pub transitions: u64,
    /// Whether persistent sets may stand for all steps.
    reduces: bool,
    /// How often one did.
    pub reduced: u64,
}

impl<'a, S: System + ?Sized, const W: usize> Product<'a, S, W> {
    pub fn new(system: &'a mut S, claim: &'a Claim, watch_faults: bool, reduces: bool) -> Self {
        Product {
            reduces: reduces && claim.stutter_invariant && W == 1 && system.reducible().is_some(),
            reduced: 0,
            names: Names::new(system.components()),
            system,
            claim,
            sight: Sight::new(&claim.atoms),
            nodes: Nodes::new(),
            traps: (0..claim.automaton.states.len()).map(|q| claim.is_trap(q)).collect(),
            watch_faults,
            state: Vec::new(),
            steps: Vec::new(),
            found: Vec::new(),
            transitions: 0,
        }
    }

    /// The letters met.
    pub fn letters(&self) -> &[u64] {
        self.sight.letters()
    }

    pub fn bytes(&self) -> u64 {
        self.names.bytes() + self.nodes.bytes()
    }

    /// The nodes in which runs start, in the order of the system's initial states.
    pub fn initial(&mut self) -> Vec<u32> {
        self.steps.clear();
        let (names, steps) = (&mut self.names, &mut self.steps);
        let _ = self.system.initial(&mut |state| {
            steps.push(Staged { name: names.name(state), ordinal: 0, label: None, process: None });
            Flow::Continue(())
        });
        self.rename();
        let at = self.claim.automaton.initial;
        self.steps.iter().map(|step| self.nodes.intern(step.name, at)).collect()
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
        let names = &mut self.names;
        self.steps.iter_mut().for_each(|step| step.name = renaming.translate(names, step.name));
        self.nodes.rename(|name| renaming.translate(names, name));
    }

    /// Appends the transitions of a node to `out`, or, where the claim allows it, some that stand for all.
    pub fn expand(&mut self, node: u32, out: &mut Vec<Arc<W>>) -> Result<(), Stop> {
        if !self.reduces {
            return self.expand_fully(node, out);
        }
        let (name, _) = self.nodes.key(node);
        self.names.load(name, &mut self.state);
        if self.stage_persistent() {
            self.reduced += 1;
            self.rename();
            return self.follow(node, Enabled::default(), out);
        }
        self.expand_loaded(node, out)
    }

    /// Appends all transitions of a node to `out`.
    pub fn expand_fully(&mut self, node: u32, out: &mut Vec<Arc<W>>) -> Result<(), Stop> {
        let (name, _) = self.nodes.key(node);
        self.names.load(name, &mut self.state);
        self.expand_loaded(node, out)
    }

    fn expand_loaded(&mut self, node: u32, out: &mut Vec<Arc<W>>) -> Result<(), Stop> {
        let (name, _) = self.nodes.key(node);
        let enabled = self.enumerate(name)?;
        self.rename();
        self.follow(node, enabled, out)
    }

    /// Appends what the automaton makes of the staged steps.
    fn follow(&mut self, node: u32, enabled: Enabled, out: &mut Vec<Arc<W>>) -> Result<(), Stop> {
        if let Some(full) = self.names.full() {
            return Err(Stop::Full(full));
        }
        if let Err(fault) = self.sight.look_at_state(self.system, &self.state) {
            return Err(Stop::Fault(None, self.system.fault(fault).into()));
        }
        if self.steps[0].ordinal == STUTTER {
            self.sight.end_of_run();
        }
        let edges = &self.claim.automaton.states[self.nodes.key(node).1 as usize];
        if self.sight.sees_events() {
            self.match_events(edges, enabled);
        } else {
            self.match_states(edges, enabled);
        }
        self.transitions += self.found.len() as u64;
        for &(name, state, ordinal, marks) in &self.found {
            out.push(Arc { node: self.nodes.intern(name, state), ordinal, marks });
        }
        self.found.clear();
        Ok(())
    }

    /// Stages the first persistent set of the loaded state that has no errors and cuts no cycles; whether there is one.
    fn stage_persistent(&mut self) -> bool {
        let mut attempt = 0;
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
            let ControlFlow::Continue(Some(set)) = set else { return false };
            if plain && !set.cuts_cycles {
                return true;
            }
            attempt = set.next;
        }
    }

    /// The number of a step from one node to another.
    pub fn ordinal(&mut self, from: u32, to: u32) -> Option<u32> {
        let (source, target) = (self.nodes.key(from).0, self.nodes.key(to).0);
        crate::explorer::ordinal_between(self.system, &mut self.names, source, target)
    }

    /// Names the targets of the loaded state; a state without steps repeats itself.
    fn enumerate(&mut self, name: Name) -> Result<Enabled, Stop> {
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
        self.sight.meet();
        let manager = &self.claim.automaton.manager;
        for edge in edges.iter().filter(|e| manager.eval(e.guard, |atom| self.sight.sees(atom))) {
            for step in &self.steps {
                self.nodes.prefetch(step.name, edge.target);
                let marks = enabled.marks(edge.marks, step.process);
                self.found.push((step.name, edge.target, step.ordinal, marks));
            }
        }
    }

    fn match_events(&mut self, edges: &[Edge], enabled: Enabled) {
        let manager = &self.claim.automaton.manager;
        for step in &self.steps {
            self.sight.look_at_step(&*self.system, step.label);
            self.sight.meet();
            for edge in edges.iter().filter(|e| manager.eval(e.guard, |atom| self.sight.sees(atom))) {
                self.nodes.prefetch(step.name, edge.target);
                let marks = enabled.marks(edge.marks, step.process);
                self.found.push((step.name, edge.target, step.ordinal, marks));
            }
        }
    }
}
