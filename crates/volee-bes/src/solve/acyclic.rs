//! Depth-first resolution of systems without cycles: no components, no backward edges, only the path.
//!
//! Traces, trees and unfoldings are of this kind. A cycle is noticed when it is met, and refused.

use volee_system::{Meter, Progress};

use super::table::Table;
use super::{SolveError, Solved, Solver, Statistics, Ticker};
use crate::graph::BooleanGraph;
use crate::variables::Pushing;

/// A variable on the path, and where its successors begin.
struct Frame {
    variable: u32,
    successors: usize,
}

/// Solves a system without cycles.
pub(super) fn solve<G: BooleanGraph + ?Sized>(
    graph: &mut G,
    meter: &Meter,
    progress: &mut dyn Progress,
) -> Result<Solved, SolveError> {
    let (mut table, root) = Table::new(graph)?;
    let mut ticker = Ticker::new(meter, progress);
    let mut path: Vec<Frame> = Vec::new();
    let mut successors: Vec<u32> = Vec::new();
    let figures = |table: &Table, path: &Vec<Frame>, successors: &Vec<u32>| -> Statistics {
        table.figures(path.capacity() * size_of::<Frame>() + successors.capacity() * 4, 0)
    };
    visit(graph, &mut table, root, &mut path, &mut successors)?;
    while let Some(top) = path.last() {
        let variable = top.variable;
        let operator = table.cell(variable).operator();
        let Some(successor) = (successors.len() > top.successors).then(|| successors.pop()).flatten() else {
            // Every successor was neutral, otherwise the variable would have left the path.
            table.decide(variable, !operator.deciding());
            path.pop();
            continue;
        };
        let cell = table.cell(successor);
        match cell.value() {
            Some(value) if value == operator.deciding() => {
                successors.truncate(top.successors);
                table.decide(variable, value);
                path.pop();
            }
            Some(_) => {}
            None if cell.is_visited() => return Err(SolveError::Cyclic),
            None => {
                // Looked at again once it is decided.
                successors.push(successor);
                visit(graph, &mut table, successor, &mut path, &mut successors)?;
            }
        }
        ticker.tick(|| (figures(&table, &path, &successors), path.len() as u64))?;
    }
    let statistics = Statistics { places: table.places_met(), ..figures(&table, &path, &successors) };
    let value = table.cell(root).value().expect("an empty path means that the root is decided");
    Ok(Solved { value, solution: table.into_solution(), statistics, solver: Solver::Acyclic })
}

fn visit<G: BooleanGraph + ?Sized>(
    graph: &mut G,
    table: &mut Table,
    variable: u32,
    path: &mut Vec<Frame>,
    successors: &mut Vec<u32>,
) -> Result<(), SolveError> {
    let begin = successors.len();
    let operator = table.cell(variable).operator();
    if table.expand(graph, variable, successors)? == Pushing::Decided {
        table.decide(variable, operator.deciding());
        return Ok(());
    }
    successors[begin..].reverse();
    table.visit(variable, 0);
    path.push(Frame { variable, successors: begin });
    table.statistics.depth = table.statistics.depth.max(path.len() as u64);
    Ok(())
}
