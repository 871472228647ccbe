//! The product of a system and a claim, one node at a time.
//!
//! A letter is what the automaton's atoms see in the state *before* a step, and for events in the step itself. The
//! state of the system is expanded once per node; its targets are named together and looked up together.

use volee_logic::automaton::Edge;
use volee_system::{FaultId, Flow, Label, Reason, Step, System};

use super::Claim;
use super::marks::{Enabled, Marks};
use super::nodes::Nodes;
use crate::watch::Sight;
use volee_store::{Full, Name, Tree};

/// The ordinal of the step that a finished run repeats for ever.
pub(crate) const STUTTER: u32 = u32::MAX;

/// A transition of the product.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arc<const W: usize> {
    pub node: u32,
    /// The step of the system, or [`STUTTER`].
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
    pub tree: Tree,
    pub nodes: Nodes,
    /// Which states of the automaton are errors by themselves.
    pub traps: Vec<bool>,
    watch_faults: bool,
    state: Vec<u8>,
    steps: Vec<Staged>,
    found: Vec<(Name, u32, u32, Marks<W>)>,
    pub transitions: u64,
}

impl<'a, S: System + ?Sized, const W: usize> Product<'a, S, W> {
    pub fn new(system: &'a mut S, claim: &'a Claim, watch_faults: bool) -> Self {
        Product {
            system,
            claim,
            sight: Sight::new(&claim.atoms),
            tree: Tree::new(),
            nodes: Nodes::new(),
            traps: (0..claim.automaton.states.len()).map(|q| claim.is_trap(q)).collect(),
            watch_faults,
            state: Vec::new(),
            steps: Vec::new(),
            found: Vec::new(),
            transitions: 0,
        }
    }

    pub fn bytes(&self) -> u64 {
        self.tree.bytes() + self.nodes.bytes()
    }

    /// The nodes in which runs start, in the order of the system's initial states.
    pub fn initial(&mut self) -> Vec<u32> {
        let mut names = Vec::new();
        let tree = &mut self.tree;
        let _ = self.system.initial(&mut |state| {
            names.push(tree.name(state));
            Flow::Continue(())
        });
        names.into_iter().map(|name| self.nodes.intern(name, self.claim.automaton.initial)).collect()
    }

    /// Whether a node is an error by itself.
    pub fn is_trap(&self, node: u32) -> bool {
        self.traps[self.nodes.key(node).1 as usize]
    }

    /// Appends the transitions of a node to `out`.
    pub fn expand(&mut self, node: u32, out: &mut Vec<Arc<W>>) -> Result<(), Stop> {
        let (name, at) = self.nodes.key(node);
        self.tree.load(name, &mut self.state);
        let enabled = self.enumerate(name)?;
        if let Err(fault) = self.sight.look_at_state(self.system, &self.state) {
            return Err(Stop::Fault(None, self.system.fault(fault).into()));
        }
        if self.steps[0].ordinal == STUTTER {
            self.sight.end_of_run();
        }
        let edges = &self.claim.automaton.states[at as usize];
        if self.sight.sees_events() {
            self.match_events(edges, enabled);
        } else {
            self.match_states(edges, enabled);
        }
        if let Some(full) = self.tree.full() {
            return Err(Stop::Full(full));
        }
        self.transitions += self.found.len() as u64;
        for &(name, state, ordinal, marks) in &self.found {
            out.push(Arc { node: self.nodes.intern(name, state), ordinal, marks });
        }
        self.found.clear();
        Ok(())
    }

    /// Names the targets of the loaded state; a state without steps repeats itself.
    fn enumerate(&mut self, name: Name) -> Result<Enabled, Stop> {
        self.steps.clear();
        let mut enabled = Enabled::default();
        let mut fault: Option<(u32, FaultId)> = None;
        let mut pushed = 0;
        let (tree, steps) = (&mut self.tree, &mut self.steps);
        let _ = self.system.steps(&self.state, &mut |step: Step, target: &[u8]| {
            let ordinal = pushed;
            pushed += 1;
            if let Some(met) = step.fault {
                fault.get_or_insert((ordinal, met));
            }
            if !step.stays {
                enabled.add(step.process);
                let (label, process) = (Some(step.label), Some(step.process));
                steps.push(Staged { name: tree.name(target), ordinal, label, process });
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
            for edge in edges.iter().filter(|e| manager.eval(e.guard, |atom| self.sight.sees(atom))) {
                self.nodes.prefetch(step.name, edge.target);
                let marks = enabled.marks(edge.marks, step.process);
                self.found.push((step.name, edge.target, step.ordinal, marks));
            }
        }
    }
}
