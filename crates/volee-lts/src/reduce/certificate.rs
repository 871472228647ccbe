//! Certificates of reductions: the map from states to classes, and its check against the definitions.
//!
//! The check shares no code with the refinement (only the component finder of internal steps): it reads the
//! original system, the map and the reduced system, and verifies that the map is a bisimulation between the
//! two. It does not show that no smaller system exists.

use std::collections::HashSet;

use crate::quotient::UNREACHED;
use crate::silent::{components, diverging};
use crate::{Edge, LabelId, Lts, StateId};

use super::bisimulations::Divergence;

/// Why a reduced system is equal to the original.
#[derive(Debug, Clone)]
pub enum Certificate {
    /// The map from states to classes is a strong bisimulation.
    Strong {
        /// The class of each state, [`u32::MAX`] for classes that are not reached.
        class_of: Vec<u32>,
    },
    /// The map from states to classes is a branching bisimulation.
    Branching {
        /// The class of each state, [`u32::MAX`] for classes that are not reached.
        class_of: Vec<u32>,
        /// Whether divergence is preserved too.
        divergence: Divergence,
    },
    /// The map from states to classes is a weak bisimulation.
    Weak {
        /// The class of each state, [`u32::MAX`] for classes that are not reached.
        class_of: Vec<u32>,
        /// Whether divergence is preserved too.
        divergence: Divergence,
    },
    /// The relation is not one between states (traces), so there is no map to check.
    None,
}

/// A certificate that does not certify.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the certificate does not hold at state {state}: {reason}")]
pub struct CertificateError {
    /// The state.
    pub state: u32,
    /// What is wrong there.
    pub reason: &'static str,
}

impl Certificate {
    /// The class of each original state, where classes are classes of states; `u32::MAX` is unreached.
    pub fn class_of(&self) -> Option<&[u32]> {
        match self {
            Certificate::Strong { class_of }
            | Certificate::Branching { class_of, .. }
            | Certificate::Weak { class_of, .. } => Some(class_of),
            Certificate::None => None,
        }
    }

    /// Checks that the map relates `original` to `reduced`.
    ///
    /// # Errors
    /// The state at which it does not.
    pub fn check(&self, original: &Lts, reduced: &Lts) -> Result<(), CertificateError> {
        match self {
            Certificate::None => Ok(()),
            Certificate::Strong { class_of } => check_strong(original, reduced, class_of),
            Certificate::Branching { class_of, divergence } => {
                check_branching(original, reduced, class_of, *divergence)
            }
            Certificate::Weak { class_of, divergence } => {
                check_weak(original, reduced, class_of, *divergence)
            }
        }
    }
}

fn wrong(state: StateId, reason: &'static str) -> CertificateError {
    CertificateError { state: state.0, reason }
}

fn check_initial(original: &Lts, reduced: &Lts, class_of: &[u32]) -> Result<(), CertificateError> {
    if class_of[original.initial().index()] != reduced.initial().0 {
        return Err(wrong(original.initial(), "the initial state is not in the initial class"));
    }
    Ok(())
}

/// Every state can do exactly what its class can do.
fn check_strong(original: &Lts, reduced: &Lts, class_of: &[u32]) -> Result<(), CertificateError> {
    check_initial(original, reduced, class_of)?;
    let mut row = Vec::new();
    for state in original.states() {
        let class = class_of[state.index()];
        if class == UNREACHED {
            continue;
        }
        row.clear();
        row.extend(
            original
                .edges(state)
                .iter()
                .map(|e| Edge { label: e.label, target: StateId(class_of[e.target.index()]) }),
        );
        row.sort_unstable();
        row.dedup();
        if row != reduced.edges(StateId(class)) {
            return Err(wrong(state, "its steps are not those of its class"));
        }
    }
    Ok(())
}

/// Every step of a state is inert or a step of its class; and every step of the class can be taken after
/// inert steps. For the second: states that reach each other inertly stand and fall together; such a group
/// either has an inert step into another group of the class (smaller, so the argument ends), or can itself do
/// all that the class can.
fn check_branching(
    original: &Lts,
    reduced: &Lts,
    class_of: &[u32],
    divergence: Divergence,
) -> Result<(), CertificateError> {
    check_initial(original, reduced, class_of)?;
    let inert = |s: StateId, e: Edge| e.is_tau() && class_of[s.index()] == class_of[e.target.index()];
    let groups = components(original, inert);
    let mut complete_elsewhere = vec![false; groups.count as usize];
    let mut cyclic = vec![false; groups.count as usize];
    let mut shown: Vec<Vec<Edge>> = vec![Vec::new(); groups.count as usize];
    for state in original.states().filter(|s| class_of[s.index()] != UNREACHED) {
        let class = class_of[state.index()];
        let group = groups.of[state.index()] as usize;
        for &edge in original.edges(state) {
            let step = Edge { label: edge.label, target: StateId(class_of[edge.target.index()]) };
            if inert(state, edge) {
                if groups.of[edge.target.index()] as usize == group {
                    cyclic[group] = true;
                } else {
                    complete_elsewhere[group] = true;
                }
            } else if reduced.edges(StateId(class)).binary_search(&step).is_err() {
                return Err(wrong(state, "it has a step that its class has not"));
            } else if !complete_elsewhere[group] {
                shown[group].push(step);
            }
        }
        // Groups are often whole protocols; do not let their lists of steps grow with them.
        if shown[group].len() > 64 + 2 * reduced.edges(StateId(class)).len() {
            shown[group].sort_unstable();
            shown[group].dedup();
        }
    }
    for state in original.states().filter(|s| class_of[s.index()] != UNREACHED) {
        let class = StateId(class_of[state.index()]);
        let group = groups.of[state.index()] as usize;
        let own_loop = Edge { label: LabelId::TAU, target: class };
        let class_loops = reduced.edges(class).binary_search(&own_loop).is_ok();
        if divergence == Divergence::Preserved && cyclic[group] && !class_loops {
            return Err(wrong(state, "it diverges and its class does not"));
        }
        if complete_elsewhere[group] || shown[group].first() == Some(&DONE) {
            continue;
        }
        let mut steps = std::mem::take(&mut shown[group]);
        if divergence == Divergence::Preserved && cyclic[group] {
            steps.push(own_loop);
        }
        steps.sort_unstable();
        steps.dedup();
        if steps != reduced.edges(class) {
            return Err(wrong(state, "its class has a step that it cannot take"));
        }
        shown[group] = vec![DONE];
    }
    Ok(())
}

/// Every step of a state is a weak step of its class, and every step of a class a weak step of its states.
/// Weak steps are searched for one state at a time, so this takes quadratic time but no memory to speak of.
fn check_weak(
    original: &Lts,
    reduced: &Lts,
    class_of: &[u32],
    divergence: Divergence,
) -> Result<(), CertificateError> {
    check_initial(original, reduced, class_of)?;
    let (mut of_state, mut of_class) = (WeakSteps::new(original), WeakSteps::new(reduced));
    let own: Vec<u32> = (0..reduced.state_count() as u32).collect();
    let diverges = |lts: &Lts| match divergence {
        Divergence::Preserved => diverging(lts),
        Divergence::Ignored => Vec::new(),
    };
    let (loops, class_loops) = (diverges(original), diverges(reduced));
    // States of a class are checked one after the other, so that its weak steps are searched once.
    let mut states: Vec<u32> =
        (0..class_of.len() as u32).filter(|&s| class_of[s as usize] != UNREACHED).collect();
    states.sort_by_key(|&s| class_of[s as usize]);
    let mut at_class = UNREACHED;
    for state in states.into_iter().map(StateId) {
        let class = class_of[state.index()];
        if class != at_class {
            of_class.search(StateId(class), &own);
            at_class = class;
        }
        of_state.search(state, class_of);
        let image = |e: &Edge| Edge { label: e.label, target: StateId(class_of[e.target.index()]) };
        if !original.edges(state).iter().all(|e| of_class.found.contains(&image(e))) {
            return Err(wrong(state, "it has a step that its class has not"));
        }
        if !reduced.edges(StateId(class)).iter().all(|e| of_state.found.contains(e)) {
            return Err(wrong(state, "its class has a step that it cannot take"));
        }
        if loops.get(state.index()) != class_loops.get(class as usize) {
            return Err(wrong(state, "only one of it and its class diverges"));
        }
    }
    Ok(())
}

/// The weak steps of one state at a time, targets given as classes.
struct WeakSteps<'a> {
    lts: &'a Lts,
    found: HashSet<Edge>,
}

impl<'a> WeakSteps<'a> {
    fn new(lts: &'a Lts) -> Self {
        WeakSteps { lts, found: HashSet::new() }
    }

    fn search(&mut self, state: StateId, class_of: &[u32]) {
        self.found.clear();
        let mut seen = HashSet::from([(None, state)]);
        let mut pending = vec![(None, state)];
        while let Some((taken, at)) = pending.pop() {
            let class = StateId(class_of[at.index()]);
            self.found.insert(Edge { label: taken.unwrap_or(LabelId::TAU), target: class });
            for edge in self.lts.edges(at) {
                let next = match (edge.is_tau(), taken) {
                    (true, _) => (taken, edge.target),
                    (false, None) => (Some(edge.label), edge.target),
                    (false, Some(_)) => continue,
                };
                if seen.insert(next) {
                    pending.push(next);
                }
            }
        }
    }
}

/// Stands for "this group was checked".
const DONE: Edge = Edge { label: LabelId(u32::MAX), target: StateId(u32::MAX) };
