//! Depth-first resolution with components.
//!
//! Tarjan's algorithm finds the strongly connected components of the boolean graph as it is explored; values
//! spread backwards along the edges of the components that are still open. When a component is complete, its
//! variables that nothing has decided take the default of their block: nothing outside can reach them any
//! more. Two consequences: a block need never be closed as a whole, and the backward edges of a component are
//! dropped with it, so memory for edges is that of the open components only. (Early stabilisation as in the
//! depth-first strategy of CÆSAR_SOLVE; the edges as a stack are ours.)
//!
//! Why values never spread to a variable in the middle of the path: an edge into an open variable is noted by
//! a variable visited later, so everything that depends on the top of the path lies above it and is finished.
//! A variable decided early is finished at once; variables it has left open below it stay on the component
//! stack with its low-link, and are closed with the component they belong to.

use std::io;

use serde::{Deserialize, Serialize};
use volee_store::checkpoint::{Reader, Refused, Writer};
use volee_system::{Meter, Progress};

use super::cells::Cell;
use super::keep::{Strategy, run_with};
use super::table::{Table, narrow};
use super::{How, SolveError, Solved, Solver, Statistics};
use crate::graph::{BooleanGraph, Sign};
use crate::variables::Pushing;

const NONE: u32 = u32::MAX;

/// A variable of a component that is not complete.
#[derive(Serialize, Deserialize)]
struct Open {
    variable: u32,
    /// Its first backward edge.
    head: u32,
    /// Successors that have not been seen to be neutral.
    missing: u32,
}

/// A variable on the path.
#[derive(Serialize, Deserialize)]
struct Frame {
    /// Its position among the open ones.
    open: u32,
    low: u32,
    /// Where its successors begin, where the backward edges ended when it was entered.
    successors: usize,
    edges: usize,
}

struct Search<'g> {
    graph: &'g mut dyn BooleanGraph,
    signs: Vec<Sign>,
    table: Table,
    root: u32,
    path: Vec<Frame>,
    open: Vec<Open>,
    successors: Vec<u32>,
    /// Backward edges: the open position of who depends, and the next edge.
    edges: Vec<(u32, u32)>,
    /// Open positions that were decided and whose dependants do not know yet.
    decided: Vec<u32>,
}

/// Solves depth-first.
pub(super) fn solve(
    graph: &mut dyn BooleanGraph,
    how: How<'_>,
    meter: &Meter,
    progress: &mut dyn Progress,
) -> Result<Solved, SolveError> {
    let signs = graph.blocks().to_vec();
    let (table, root) = Table::new(graph)?;
    let mut search = Search {
        graph,
        signs,
        table,
        root,
        path: Vec::new(),
        open: Vec::new(),
        successors: Vec::new(),
        edges: Vec::new(),
        decided: Vec::new(),
    };
    if let Some(solved) = run_with(&mut search, how, meter, progress)? {
        return Ok(solved);
    }
    let statistics = Statistics { places: search.table.places_met(), ..search.costs().0 };
    let value = search.table.cell(root).value().expect("an empty path means that the root is decided");
    Ok(Solved::alone(value, search.table.into_solution(), statistics, Solver::DepthFirst))
}

impl Strategy for Search<'_> {
    const KIND: u64 = 10;

    fn begin(&mut self) -> Result<(), SolveError> {
        self.visit(self.root)
    }

    fn is_done(&self) -> bool {
        self.path.is_empty()
    }

    fn step(&mut self) -> Result<(), SolveError> {
        self.advance()
    }

    fn costs(&self) -> (Statistics, u64) {
        let own = self.path.capacity() * size_of::<Frame>()
            + self.open.capacity() * size_of::<Open>()
            + self.successors.capacity() * 4
            + self.edges.capacity() * 8;
        (self.table.figures(own + self.graph.memory(), 0), self.path.len() as u64)
    }

    fn write(&mut self, out: &mut Writer) -> io::Result<()> {
        self.table.write(out)?;
        out.list(self.path.iter())?;
        out.list(self.open.iter())?;
        out.list(self.successors.iter())?;
        out.list(self.edges.iter())
    }

    fn read(&mut self, input: &mut Reader, meter: &Meter) -> Result<(), Refused> {
        self.table.read(input, self.signs.len(), meter)?;
        self.path = input.list(meter)?;
        self.open = input.list(meter)?;
        self.successors = input.list(meter)?;
        self.edges = input.list(meter)?;
        Ok(())
    }

    fn is_sound(&self) -> bool {
        let open = |position: u32| self.open.get(position as usize);
        let edge = |(at, &(dependant, next)): (usize, &(u32, u32))| {
            open(dependant).is_some() && (next == NONE || (next as usize) < at)
        };
        let frame = |frame: &Frame| {
            frame.low <= frame.open
                && open(frame.open).is_some()
                && frame.successors <= self.successors.len()
                && frame.edges <= self.edges.len()
        };
        let is_open = |variable: u32| {
            let cell: Cell = self.table.cell(variable);
            cell.value().is_some()
                || !cell.is_visited()
                || open(cell.number()).is_some_and(|open| open.variable == variable)
        };
        self.table.has(&self.successors)
            && self.path.iter().all(frame)
            && self
                .path
                .is_sorted_by(|a, b| a.open < b.open && a.successors <= b.successors && a.edges <= b.edges)
            && self.open.iter().all(|open| self.table.has(&[open.variable]))
            && self.open.iter().all(|open| open.head == NONE || (open.head as usize) < self.edges.len())
            && self.edges.iter().enumerate().all(edge)
            && (0..self.table.len() as u32).all(is_open)
            && (!self.path.is_empty() || self.table.cell(self.root).value().is_some())
    }
}

impl Search<'_> {
    /// Enters a variable: either it is decided at once, or it becomes the top of the path.
    fn visit(&mut self, variable: u32) -> Result<(), SolveError> {
        let begin = self.successors.len();
        let operator = self.table.cell(variable).operator();
        let pushing = self.table.expand(self.graph, variable, &mut self.successors)?;
        let count = self.successors.len() - begin;
        if pushing == Pushing::Decided || count == 0 {
            self.table.decide(variable, operator.deciding() == (pushing == Pushing::Decided));
            return Ok(());
        }
        self.successors[begin..].reverse();
        let position = narrow(self.open.len())?;
        self.table.visit(variable, position);
        self.open.push(Open { variable, head: NONE, missing: narrow(count)? });
        self.path.push(Frame { open: position, low: position, successors: begin, edges: self.edges.len() });
        self.table.statistics.depth = self.table.statistics.depth.max(self.path.len() as u64);
        Ok(())
    }

    fn advance(&mut self) -> Result<(), SolveError> {
        let top = self.path.last().expect("the path is not empty");
        let (position, begin) = (top.open, top.successors);
        let variable = self.open[position as usize].variable;
        if self.table.cell(variable).value().is_some() || self.successors.len() == begin {
            return self.finish();
        }
        let successor = self.successors.pop().expect("successors remain");
        if !self.table.cell(successor).is_visited() {
            self.visit(successor)?;
        }
        let cell = self.table.cell(successor);
        if let Some(value) = cell.value() {
            self.apply(position, value);
            self.spread();
        } else if self.path.last().expect("the path is not empty").open == position {
            // Visited before and open: a dependency within a component.
            self.depend(cell.number(), position)?;
            let top = self.path.last_mut().expect("the path is not empty");
            top.low = top.low.min(cell.number());
        }
        Ok(())
    }

    /// Leaves the top of the path.
    fn finish(&mut self) -> Result<(), SolveError> {
        let frame = self.path.pop().expect("the path is not empty");
        self.successors.truncate(frame.successors);
        let variable = self.open[frame.open as usize].variable;
        let closed = frame.low == frame.open;
        if closed {
            self.close(&frame);
        }
        let Some(parent) = self.path.last_mut() else { return Ok(()) };
        let parent_position = parent.open;
        if !closed {
            parent.low = parent.low.min(frame.low);
        }
        match self.table.cell(variable).value() {
            Some(value) => {
                self.apply(parent_position, value);
                self.spread();
                Ok(())
            }
            None => self.depend(frame.open, parent_position),
        }
    }

    /// The component above and including `frame` is complete.
    fn close(&mut self, frame: &Frame) {
        for open in self.open.drain(frame.open as usize..) {
            let cell = self.table.cell(open.variable);
            if cell.value().is_none() {
                let default = self.signs[usize::from(cell.block())].default_value();
                self.table.decide(open.variable, default);
            }
        }
        self.edges.truncate(frame.edges);
    }

    fn depend(&mut self, on: u32, dependant: u32) -> Result<(), SolveError> {
        let edge = narrow(self.edges.len())?;
        let head = std::mem::replace(&mut self.open[on as usize].head, edge);
        self.edges.push((dependant, head));
        Ok(())
    }

    /// Tells an open variable the value of one of its successors.
    fn apply(&mut self, position: u32, value: bool) {
        let open = &mut self.open[position as usize];
        let cell = self.table.cell(open.variable);
        if cell.value().is_some() {
            return;
        }
        let deciding = cell.operator().deciding();
        if value == deciding {
            self.table.decide(open.variable, deciding);
            self.decided.push(position);
            return;
        }
        open.missing -= 1;
        if open.missing == 0 {
            self.table.decide(open.variable, !deciding);
            self.decided.push(position);
        }
    }

    /// Tells the dependants of what was just decided, and theirs.
    fn spread(&mut self) {
        while let Some(position) = self.decided.pop() {
            let open = &self.open[position as usize];
            let value = self.table.cell(open.variable).value().expect("it was just decided");
            let mut edge = open.head;
            while edge != NONE {
                let (dependant, next) = self.edges[edge as usize];
                self.apply(dependant, value);
                edge = next;
            }
        }
    }
}
