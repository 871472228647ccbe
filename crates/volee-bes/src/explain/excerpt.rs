//! A diagnostic judged by itself: its states and steps as a system of their own, and the formula asked of
//! that.
//!
//! The argument that nothing is missing is in `steps.rs`: an item that needs one support has its step, and
//! one that needs all of them has no more supports among fewer steps. This is the check of that argument. It
//! shares no code with the collection of steps; where it does not agree, the diagnostic is not called
//! complete.

use std::borrow::Cow;

use volee_system::{FaultId, Flow, Label, Meter, PredicateId, Quiet, Sink, Step, System};

use super::Explanation;
use crate::game::{Player, build, zielonka};
use crate::graph::BooleanGraph;
use crate::model::ModelGraph;
use crate::solve::{SolveError, Solver, solve};

/// The part of a system that a diagnostic shows.
struct Excerpt<'a, S: ?Sized> {
    system: &'a mut S,
    shown: &'a Explanation,
    /// The transitions of each state.
    rows: Vec<Vec<u32>>,
}

impl<S: System + ?Sized> Excerpt<'_, S> {
    fn number(state: &[u8]) -> usize {
        state.try_into().map_or(0, |bytes| u32::from_le_bytes(bytes) as usize)
    }
}

impl<S: System + ?Sized> System for Excerpt<'_, S> {
    fn initial(&mut self, push: &mut dyn FnMut(&[u8]) -> Flow) -> Flow {
        push(&0u32.to_le_bytes())
    }

    fn steps(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        self.rows[Self::number(state)].iter().try_for_each(|&at| {
            let target = self.shown.transitions[at as usize].target as u32;
            sink.push(Step::labelled(at), &target.to_le_bytes())
        })
    }

    fn label(&self, label: Label) -> Cow<'_, str> {
        self.shown.transitions[label.0 as usize].label.as_str().into()
    }

    fn names(&self, label: Label) -> Vec<String> {
        self.system.names(self.shown.transitions[label.0 as usize].id)
    }

    fn holds(&mut self, predicate: PredicateId, state: &[u8]) -> Result<bool, FaultId> {
        self.system.holds(predicate, &self.shown.states[Self::number(state)])
    }

    fn numbered(&self) -> Option<u32> {
        u32::try_from(self.shown.states.len()).ok()
    }
}

/// Whether the states and steps of an explanation alone give the formula this value.
pub(crate) fn stands_alone<S: System + ?Sized>(
    graph: &mut ModelGraph<'_, S>,
    shown: &Explanation,
    value: bool,
    meter: &Meter,
) -> bool {
    let mut rows = vec![Vec::new(); shown.states.len()];
    for (at, transition) in (0..).zip(&shown.transitions) {
        rows[transition.source].push(at);
    }
    let (equations, predicates) = (graph.equations().clone(), graph.predicates().to_vec());
    let mut excerpt = Excerpt { system: graph.system(), shown, rows };
    let Ok(mut alone) = ModelGraph::new(&mut excerpt, equations, predicates) else { return false };
    value_of(&mut alone, meter) == Ok(value)
}

fn value_of<S: System + ?Sized>(graph: &mut ModelGraph<'_, S>, meter: &Meter) -> Result<bool, SolveError> {
    let alternation_free = graph.equations().alternation_free();
    // An excerpt is small: it is not worth a solver of its own.
    let graph: &mut dyn BooleanGraph = graph;
    if alternation_free {
        return solve(graph, Solver::DepthFirst, meter, &mut Quiet).map(|solved| solved.value);
    }
    let built = build(graph, None, meter, &mut Quiet)?;
    Ok(zielonka(&built.game, meter)?.winner[0] == Player::Even)
}
