//! Depth-first resolution of systems without cycles: no components, no backward edges, only the path.
//!
//! Traces, trees and unfoldings are of this kind. A cycle is noticed when it is met, and refused.

use std::io;

use serde::{Deserialize, Serialize};
use volee_store::checkpoint::{Checkpoint, Reader, Refused, Writer};
use volee_system::{Meter, Progress};

use super::keep::{Strategy, run};
use super::table::Table;
use super::{SolveError, Solved, Solver, Statistics};
use crate::graph::BooleanGraph;
use crate::variables::Pushing;

/// A variable on the path, and where its successors begin.
#[derive(Serialize, Deserialize)]
struct Frame {
    variable: u32,
    successors: usize,
}

struct Search<'g> {
    graph: &'g mut dyn BooleanGraph,
    table: Table,
    root: u32,
    path: Vec<Frame>,
    successors: Vec<u32>,
}

/// Solves a system without cycles.
pub(super) fn solve(
    graph: &mut dyn BooleanGraph,
    kept: Option<&Checkpoint>,
    meter: &Meter,
    progress: &mut dyn Progress,
) -> Result<Solved, SolveError> {
    let (table, root) = Table::new(graph)?;
    let mut search = Search { graph, table, root, path: Vec::new(), successors: Vec::new() };
    run(&mut search, kept, meter, progress)?;
    let statistics = Statistics { places: search.table.places_met(), ..search.costs().0 };
    let value = search.table.cell(root).value().expect("an empty path means that the root is decided");
    Ok(Solved::alone(value, search.table.into_solution(), statistics, Solver::Acyclic))
}

impl Search<'_> {
    fn visit(&mut self, variable: u32) -> Result<(), SolveError> {
        let begin = self.successors.len();
        let operator = self.table.cell(variable).operator();
        if self.table.expand(self.graph, variable, &mut self.successors)? == Pushing::Decided {
            self.table.decide(variable, operator.deciding());
            return Ok(());
        }
        self.successors[begin..].reverse();
        self.table.visit(variable, 0);
        self.path.push(Frame { variable, successors: begin });
        self.table.statistics.depth = self.table.statistics.depth.max(self.path.len() as u64);
        Ok(())
    }

    /// Gives the top of the path its value.
    fn leave(&mut self, value: bool) {
        if let Some(Frame { variable, successors }) = self.path.pop() {
            self.successors.truncate(successors);
            self.table.decide(variable, value);
        }
    }
}

impl Strategy for Search<'_> {
    const KIND: u64 = 12;

    fn begin(&mut self) -> Result<(), SolveError> {
        self.visit(self.root)
    }

    fn is_done(&self) -> bool {
        self.path.is_empty()
    }

    fn step(&mut self) -> Result<(), SolveError> {
        let Some(top) = self.path.last() else { return Ok(()) };
        let deciding = self.table.cell(top.variable).operator().deciding();
        let Some(&successor) = self.successors.get(top.successors..).and_then(<[u32]>::last) else {
            // Every successor was neutral, otherwise the variable would have left the path.
            self.leave(!deciding);
            return Ok(());
        };
        let cell = self.table.cell(successor);
        match cell.value() {
            Some(value) if value == deciding => self.leave(value),
            Some(_) => {
                self.successors.pop();
            }
            None if cell.is_visited() => return Err(SolveError::Cyclic),
            // Looked at again once it is decided.
            None => self.visit(successor)?,
        }
        Ok(())
    }

    fn costs(&self) -> (Statistics, u64) {
        let own = self.path.capacity() * size_of::<Frame>() + self.successors.capacity() * 4;
        (self.table.figures(own + self.graph.memory(), 0), self.path.len() as u64)
    }

    fn write(&mut self, out: &mut Writer) -> io::Result<()> {
        self.table.write(out)?;
        out.list(self.path.iter())?;
        out.list(self.successors.iter())
    }

    fn read(&mut self, input: &mut Reader, meter: &Meter) -> Result<(), Refused> {
        self.table.read(input, self.graph.blocks().len(), meter)?;
        self.path = input.list(meter)?;
        self.successors = input.list(meter)?;
        Ok(())
    }

    fn is_sound(&self) -> bool {
        let frame =
            |frame: &Frame| self.table.has(&[frame.variable]) && frame.successors <= self.successors.len();
        self.table.has(&self.successors)
            && self.path.iter().all(frame)
            && self.path.is_sorted_by_key(|frame| frame.successors)
            && (!self.path.is_empty() || self.table.cell(self.root).value().is_some())
    }
}
