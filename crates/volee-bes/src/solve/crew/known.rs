//! A proof that does not depend on chance, where all values are known.
//!
//! Threads that have closed the main variable's block have decided every variable that can be reached, and the
//! values are those of the system; only the order in which they were found is chance. So one thread solves the
//! system again with these values at hand: a successor that has another value than the variable it supports, and
//! so cannot be what it rests on, is a constant. What remains are variables of one value, of which mostly few
//! are looked at. What comes out is a certificate of the system itself, and is checked as such.

use volee_system::{Flow, Limit, Meter, Progress};

use crate::graph::{BooleanGraph, Node, Operator, Shape, Sign, Successors, Trouble};
use crate::solve::{Proof, Solution, SolveError, Solved, Solver, solve};

/// A system some of whose values are known.
struct Known<'g> {
    graph: &'g mut dyn BooleanGraph,
    solution: &'g Solution,
    scratch: Vec<u8>,
}

/// Looks at each successor: whoever has another value is a constant.
struct Sift<'a> {
    solution: &'a Solution,
    scratch: &'a mut Vec<u8>,
    value: Option<bool>,
    sink: &'a mut dyn Successors,
}

fn value_of(solution: &Solution, place: &[u8], node: Node, scratch: &mut Vec<u8>) -> Option<bool> {
    let number = solution.find(place, node, scratch)?;
    solution.value(number).map(|(value, _)| value)
}

impl Successors for Sift<'_> {
    fn variable(&mut self, place: &[u8], node: Node) -> Flow {
        match value_of(self.solution, place, node, self.scratch) {
            Some(other) if self.value.is_some_and(|value| value != other) => self.sink.constant(other),
            _ => self.sink.variable(place, node),
        }
    }

    fn constant(&mut self, value: bool) -> Flow {
        self.sink.constant(value)
    }
}

impl BooleanGraph for Known<'_> {
    fn root(&mut self) -> Result<(Vec<u8>, Node), Trouble> {
        self.graph.root()
    }
    fn blocks(&self) -> &[Sign] {
        self.graph.blocks()
    }
    fn alternation_free(&self) -> bool {
        self.graph.alternation_free()
    }
    fn nodes(&self) -> Node {
        self.graph.nodes()
    }
    fn equation(&self, place: &[u8], node: Node) -> (Operator, u16) {
        self.graph.equation(place, node)
    }
    fn successors(&mut self, place: &[u8], node: Node, sink: &mut dyn Successors) -> Result<(), Trouble> {
        let Known { graph, solution, scratch } = self;
        let value = value_of(solution, place, node, scratch);
        graph.successors(place, node, &mut Sift { solution, scratch, value, sink })
    }
    fn numbered(&self) -> Option<u32> {
        self.graph.numbered()
    }
    fn numbers_as_met(&self) -> bool {
        self.graph.numbers_as_met()
    }
    fn memory(&self) -> usize {
        self.graph.memory()
    }
    fn shape(&self, block: u16) -> Shape {
        self.graph.shape(block)
    }
}

/// Finds the proof of what threads have solved again, where theirs is one by chance.
pub(in crate::solve) fn told_alike(
    graph: &mut dyn BooleanGraph,
    solved: Solved,
    meter: &Meter,
    progress: &mut dyn Progress,
) -> Result<Solved, SolveError> {
    if solved.proof != Proof::ByChance {
        return Ok(solved);
    }
    let mut known = Known { graph, solution: &solved.solution, scratch: Vec::new() };
    let again = solve(&mut known, Solver::Auto, meter, progress)?;
    if again.value != solved.value {
        let message =
            "several threads and one have different answers; this is a defect of volee, please report it";
        return Err(Limit::Other { message: message.into() }.into());
    }
    Ok(Solved { solution: again.solution, proof: Proof::Unchecked, ..solved })
}
