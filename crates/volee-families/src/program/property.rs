//! Property automata: what must not happen, as an automaton that reads the steps of a family.
//!
//! Yang and Li (2010, section 2) give a property as an automaton with trap states; a run of the system that
//! leads it into one is a violation. Its letters are events of any process, or *subscripted* ones, of a named
//! replication, which is then kept apart from the counters as a process of its own ("regulated"). Because all
//! replications are alike, what holds of one choice of names holds of every choice.
//!
//! Here an automaton comes from a formula, a never claim or a file. It is handed over as a function, so that
//! this crate need not know what it was made of; it may be non-deterministic, and then each of its runs
//! counts.

use volee_program::{Expr, ProctypeId};

use crate::components::components;

/// What an atom of a property looks at.
pub enum Seen {
    /// A step in which a process does something.
    Event {
        /// Whose step, and of which replication; anybody's where nothing is said.
        process: Option<(ProctypeId, Option<u32>)>,
        /// Whether a statement is meant.
        matches: Box<dyn Fn(&str) -> bool>,
    },
    /// A condition over the globals.
    Condition(Expr),
}

/// Which state the conditions of a letter are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// A letter is a step and the state after it; nothing is read before the first step.
    Steps,
    /// A letter is a step and the state before it.
    Sources,
    /// The initial state is a letter, then each step with the state after it.
    States,
}

/// The states after a letter, given by the truth of each atom.
pub type Successors = Box<dyn Fn(u32, &[bool]) -> Vec<u32>>;

/// A property automaton.
pub struct Property {
    /// The question that it answers.
    pub name: String,
    /// What its letters are made of.
    pub atoms: Vec<Seen>,
    /// Which states its conditions are about.
    pub reading: Reading,
    /// Where it starts.
    pub initial: u32,
    /// For each of its states, whether being there is a violation.
    pub traps: Vec<bool>,
    /// For each of its states, whether being there for ever again is a violation; none where only traps are.
    /// Then every letter must lead somewhere from every state.
    pub accepting: Vec<bool>,
    /// The states after a letter.
    pub step: Successors,
}

impl std::fmt::Debug for Property {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Property").field("name", &self.name).field("states", &self.traps.len()).finish()
    }
}

impl Property {
    /// The replications that it names: of each template the numbers, ascending.
    pub(super) fn regulated(&self) -> Vec<(ProctypeId, u32)> {
        let mut all: Vec<(ProctypeId, u32)> = self
            .atoms
            .iter()
            .filter_map(|atom| match atom {
                Seen::Event { process: Some((proctype, Some(number))), .. } => Some((*proctype, *number)),
                _ => None,
            })
            .collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Whether some atom is a condition.
    pub(super) fn has_conditions(&self) -> bool {
        self.atoms.iter().any(|a| matches!(a, Seen::Condition(_)))
    }

    /// Whether reading one letter for ever from a state may pass accepting ones for ever.
    pub(super) fn stays_bad(&self, state: u32, letter: &[bool]) -> bool {
        let mut edges = Vec::new();
        let mut seen = vec![state];
        let mut at = 0;
        while let Some(&from) = seen.get(at) {
            at += 1;
            for to in (self.step)(from, letter) {
                edges.push((from, to));
                if !seen.contains(&to) {
                    seen.push(to);
                }
            }
        }
        let component = components(self.traps.len(), &edges);
        let round = |e: &(u32, u32)| component[e.0 as usize] == component[e.1 as usize];
        edges.iter().any(|e| round(e) && self.accepting[e.0 as usize])
    }

    pub(super) fn is_trap(&self, state: u32) -> bool {
        self.traps.get(state as usize).copied().unwrap_or(false)
    }
}
