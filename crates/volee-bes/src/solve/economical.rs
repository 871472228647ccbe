//! Resolution of disjunctive and conjunctive blocks without storing edges (after the memory-saving strategy
//! of CÆSAR_SOLVE for such systems).
//!
//! In a disjunctive block a conjunction has at most one variable of its own block; the others belong to later
//! blocks. Once those are known, the block is a graph in which `true` travels backwards along single edges;
//! conjunctive blocks are the same with `false`. Call the value that travels the *sought* one: if a variable
//! has it, so has everyone on the way from the start of the search to it. There are two cases.
//!
//! * The sought value is the block's default (nu disjunctive, mu conjunctive): a cycle suffices. Depth-first;
//!   meeting a variable of the path gives the sought value to the whole path, so what has left the path is
//!   always decided.
//! * It is not (mu disjunctive, nu conjunctive): reachability. If the search ends in vain, all it visited has
//!   the default. For the main variable the search is breadth-first, because then the first find is the
//!   shortest and nobody asks for the rest. Searches for later blocks are depth-first: there, every successor
//!   of a variable that has left the path was visited, so after a find the variables left undecided are
//!   decided by expanding them once more.
//!
//! A variable of a later block starts a search of its own, which is complete before this one goes on; so
//! there is at most one search per block at any time, and all of them live on explicit stacks.

use std::io;

use serde::{Deserialize, Serialize};
use volee_store::checkpoint::{Damaged, Reader, Refused, Writer};
use volee_system::{Meter, Progress};

use super::keep::{Strategy, run_with};
use super::table::{Table, narrow};
use super::{How, SolveError, Solved, Solver, Statistics};
use crate::graph::{BooleanGraph, Shape};
use crate::variables::Pushing;

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Block {
    default: bool,
    /// The value that travels along single edges.
    sought: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Order {
    BreadthFirst,
    DepthFirst,
}

/// A search within one block.
struct Run {
    block: Block,
    index: u16,
    order: Order,
    /// Depth-first: the path. Breadth-first: the one being worked on.
    visits: Vec<Visit>,
    /// Breadth-first: the place of the next one in `met`.
    next: usize,
    /// Breadth-first: all that was visited, in order. Depth-first reachability: what has left the path undecided.
    met: Vec<u32>,
    /// Where the successors of its variables begin.
    base: usize,
}

/// A visited variable.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Visit {
    variable: u32,
    /// Where its successors begin, or `NONE` before it is expanded.
    successors: u32,
    /// Whether a successor in the block was left undecided.
    waiting: bool,
}

impl Visit {
    fn of(variable: u32) -> Self {
        Visit { variable, successors: NONE, waiting: false }
    }
}

struct Search<'g> {
    graph: &'g mut dyn BooleanGraph,
    blocks: Vec<Block>,
    table: Table,
    root: u32,
    runs: Vec<Run>,
    /// Successors still to be looked at, of all variables being worked on.
    successors: Vec<u32>,
    /// Lists of searches that are over, to be used again.
    spare: Vec<(Vec<Visit>, Vec<u32>)>,
}

/// Solves systems whose blocks are all disjunctive or conjunctive.
pub(super) fn solve(
    graph: &mut dyn BooleanGraph,
    how: How<'_>,
    meter: &Meter,
    progress: &mut dyn Progress,
) -> Result<Solved, SolveError> {
    let blocks = read_blocks(graph)?;
    let (table, root) = Table::new(graph)?;
    let mut search =
        Search { graph, blocks, table, root, runs: Vec::new(), successors: Vec::new(), spare: Vec::new() };
    if let Some(solved) = run_with(&mut search, how, meter, progress)? {
        return Ok(solved);
    }
    let statistics = Statistics { places: search.table.places_met(), ..search.costs().0 };
    let value = search.table.cell(root).value().expect("no search left means that the root is decided");
    Ok(Solved::alone(value, search.table.into_solution(), statistics, Solver::Economical))
}

impl Strategy for Search<'_> {
    const KIND: u64 = 17;

    fn begin(&mut self) -> Result<(), SolveError> {
        self.start(self.root);
        Ok(())
    }

    fn is_done(&self) -> bool {
        self.runs.is_empty()
    }

    fn step(&mut self) -> Result<(), SolveError> {
        self.advance()
    }

    fn costs(&self) -> (Statistics, u64) {
        let visits: usize = self.runs.iter().map(|run| run.visits.capacity() * size_of::<Visit>()).sum();
        let met: usize = self.runs.iter().map(|run| run.met.capacity() * 4).sum();
        let own = visits + met + self.successors.capacity() * 4;
        let depth = self.runs.iter().map(|run| match run.order {
            Order::BreadthFirst => run.met.len() as u64,
            Order::DepthFirst => run.visits.len() as u64,
        });
        let depth = depth.max().unwrap_or(0);
        (self.table.figures(own + self.graph.memory(), depth), self.successors.len() as u64)
    }

    fn write(&mut self, out: &mut Writer) -> io::Result<()> {
        self.table.write(out)?;
        out.list(self.successors.iter())?;
        out.number(self.runs.len() as u64)?;
        self.runs.iter().try_for_each(|run| {
            out.value(&(run.index, run.order, run.next, run.base))?;
            out.list(run.visits.iter())?;
            out.list(run.met.iter())
        })
    }

    fn read(&mut self, input: &mut Reader, meter: &Meter) -> Result<(), Refused> {
        self.table.read(input, self.blocks.len(), meter)?;
        self.successors = input.list(meter)?;
        for _ in 0..input.index()? {
            let (index, order, next, base) = input.value()?;
            let (visits, met) = (input.list(meter)?, input.list(meter)?);
            let block = *self.blocks.get(usize::from(index)).ok_or(Damaged)?;
            self.runs.push(Run { block, index, order, visits, next, met, base });
        }
        Ok(())
    }

    fn is_sound(&self) -> bool {
        let successors = self.successors.len();
        let visit = |visit: &Visit| {
            self.table.has(&[visit.variable])
                && (visit.successors == NONE || visit.successors as usize <= successors)
        };
        let way_back = |variable: u32| match self.table.cell(variable) {
            cell if cell.value().is_some() => true,
            cell => cell.number() == NONE || self.table.has(&[cell.number()]),
        };
        let run = |run: &Run| {
            run.base <= successors
                && run.next <= run.met.len()
                && self.table.has(&run.met)
                && run.visits.iter().all(visit)
                && run.visits.iter().map(|v| v.variable).chain(run.met.iter().copied()).all(way_back)
        };
        self.table.has(&self.successors)
            && self.runs.iter().all(run)
            && (!self.runs.is_empty() || self.table.cell(self.root).value().is_some())
    }
}

fn read_blocks(graph: &dyn BooleanGraph) -> Result<Vec<Block>, SolveError> {
    let mut blocks = Vec::with_capacity(graph.blocks().len());
    for (index, sign) in (0..=u16::MAX).zip(graph.blocks()) {
        let sought = match graph.shape(index) {
            Shape::Disjunctive => true,
            Shape::Conjunctive => false,
            Shape::Mixed => return Err(SolveError::Mixed(index)),
        };
        blocks.push(Block { default: sign.default_value(), sought });
    }
    Ok(blocks)
}

impl Search<'_> {
    /// Starts a search for the value of a variable.
    fn start(&mut self, variable: u32) {
        let index = self.table.cell(variable).block();
        let block = self.blocks[usize::from(index)];
        let reachability = block.sought != block.default;
        let order =
            if reachability && self.runs.is_empty() { Order::BreadthFirst } else { Order::DepthFirst };
        let (visits, met) = self.spare.pop().unwrap_or_default();
        let base = self.successors.len();
        self.runs.push(Run { block, index, order, visits, next: 0, met, base });
        self.visit(variable, NONE);
    }

    fn run(&mut self) -> &mut Run {
        self.runs.last_mut().expect("there is a search")
    }

    fn visit(&mut self, variable: u32, met_by: u32) {
        self.table.visit(variable, met_by);
        let run = self.run();
        match run.order {
            Order::BreadthFirst => run.met.push(variable),
            Order::DepthFirst => run.visits.push(Visit::of(variable)),
        }
    }

    /// The variable being worked on, and its position.
    fn current(&mut self) -> Option<(usize, Visit)> {
        let run = self.run();
        if run.order == Order::BreadthFirst && run.visits.is_empty() {
            run.visits.push(Visit::of(*run.met.get(run.next)?));
            run.next += 1;
        }
        let visit = run.visits.last()?;
        Some((run.visits.len() - 1, *visit))
    }

    /// Expands a variable, or looks at its successors until one needs work of its own.
    fn advance(&mut self) -> Result<(), SolveError> {
        let Some((at, visit)) = self.current() else {
            self.end_in_vain();
            return Ok(());
        };
        let variable = visit.variable;
        let (cell, run) = (self.table.cell(variable), self.run());
        let (block, index, order) = (run.block, run.index, run.order);
        let deciding = cell.operator().deciding();
        if visit.successors == NONE {
            return match self.open(variable)? {
                Some(begin) => {
                    self.run().visits[at].successors = begin;
                    Ok(())
                }
                None => self.known(variable, deciding),
            };
        }
        let begin = visit.successors as usize;
        while self.successors.len() > begin {
            let successor = self.successors[self.successors.len() - 1];
            let cell = self.table.cell(successor);
            match cell.value() {
                Some(value) if value == deciding => {
                    self.successors.truncate(begin);
                    return self.known(variable, deciding);
                }
                Some(_) => {}
                None if cell.block() != index => {
                    self.start(successor);
                    return Ok(());
                }
                None if cell.is_visited() && block.sought == block.default => {
                    // A cycle. The sought value is right for this variable and for the whole path.
                    self.successors.truncate(begin);
                    return self.known(variable, block.sought);
                }
                None if cell.is_visited() => self.run().visits[at].waiting = true,
                None if order == Order::DepthFirst => {
                    // Looked at again when it has left the path.
                    self.visit(successor, variable);
                    return Ok(());
                }
                None => {
                    self.visit(successor, variable);
                    self.run().visits[at].waiting = true;
                }
            }
            self.successors.pop();
        }
        if self.run().visits[at].waiting { self.leave(variable) } else { self.known(variable, !deciding) }
    }

    /// Expands a variable. Its successors lie on the stack, those of later blocks on top, so that they come
    /// first. Gives where they begin, or nothing when a constant decides the variable.
    fn open(&mut self, variable: u32) -> Result<Option<u32>, SolveError> {
        let begin = self.successors.len();
        if self.table.expand(self.graph, variable, &mut self.successors)? == Pushing::Decided {
            return Ok(None);
        }
        let (table, own) = (&self.table, self.table.cell(variable).block());
        let successors = &mut self.successors[begin..];
        successors.reverse();
        if successors.iter().any(|s| table.cell(*s).block() != own) {
            successors.sort_by_key(|s| table.cell(*s).block() != own);
        }
        Ok(Some(narrow(begin)?))
    }

    /// The variable being worked on has no successor left to look at, but some are undecided.
    fn leave(&mut self, variable: u32) -> Result<(), SolveError> {
        let run = self.run();
        run.visits.pop();
        if run.order == Order::DepthFirst {
            run.met.push(variable);
        }
        Ok(())
    }

    /// The variable being worked on has got a value.
    fn known(&mut self, variable: u32, value: bool) -> Result<(), SolveError> {
        let run = self.run();
        if value == run.block.sought {
            return self.found(variable);
        }
        run.visits.pop();
        self.table.decide(variable, value);
        Ok(())
    }

    /// The sought value: it is that of everyone on the way here, in this order.
    fn found(&mut self, variable: u32) -> Result<(), SolveError> {
        let mut run = self.runs.pop().expect("there is a search");
        self.successors.truncate(run.base);
        let mut at = variable;
        while at != NONE {
            let met_by = self.table.cell(at).number();
            self.table.decide(at, run.block.sought);
            at = met_by;
        }
        if run.order == Order::DepthFirst && !run.met.is_empty() {
            self.settle(&mut run)?;
        }
        self.recycle(run);
        Ok(())
    }

    fn end_in_vain(&mut self) {
        let run = self.runs.pop().expect("there is a search");
        for variable in run.visits.iter().map(|visit| visit.variable).chain(run.met.iter().copied()) {
            if self.table.cell(variable).value().is_none() {
                self.table.decide(variable, run.block.default);
            }
        }
        self.recycle(run);
    }

    fn recycle(&mut self, run: Run) {
        let Run { mut visits, mut met, .. } = run;
        visits.clear();
        met.clear();
        self.spare.push((visits, met));
    }

    /// Decides what a depth-first search for reachability has left behind: all its successors are decided or
    /// among it.
    fn settle(&mut self, run: &mut Run) -> Result<(), SolveError> {
        let mut heads = vec![NONE; run.met.len()];
        let mut missing = vec![0u32; run.met.len()];
        let mut edges: Vec<(u32, u32)> = Vec::new();
        let mut ready: Vec<u32> = Vec::new();
        for (at, &variable) in run.met.iter().enumerate() {
            self.table.visit(variable, narrow(at)?);
        }
        let mut successors = Vec::new();
        for (at, &variable) in run.met.iter().enumerate() {
            successors.clear();
            let deciding = self.table.cell(variable).operator().deciding();
            self.table.expand(self.graph, variable, &mut successors)?;
            missing[at] = narrow(successors.len())?;
            for &successor in &successors {
                let cell = self.table.cell(successor);
                match cell.value() {
                    None => {
                        let edge = narrow(edges.len())?;
                        let head = std::mem::replace(&mut heads[cell.number() as usize], edge);
                        edges.push((narrow(at)?, head));
                    }
                    Some(value) if value == deciding => {
                        self.table.decide(variable, value);
                        ready.push(narrow(at)?);
                        break;
                    }
                    Some(_) => missing[at] -= 1,
                }
            }
            // Not all neutral: such a variable would not have been left undecided, unless its last successors
            // were decided by the find itself.
            if missing[at] == 0 && self.table.cell(variable).value().is_none() {
                self.table.decide(variable, !deciding);
                ready.push(narrow(at)?);
            }
        }
        while let Some(at) = ready.pop() {
            let value = self.table.cell(run.met[at as usize]).value().expect("it is ready");
            let mut edge = heads[at as usize];
            while edge != NONE {
                let (dependant, next) = edges[edge as usize];
                edge = next;
                let variable = run.met[dependant as usize];
                let cell = self.table.cell(variable);
                if cell.value().is_some() {
                    continue;
                }
                let deciding = cell.operator().deciding();
                missing[dependant as usize] -= u32::from(value != deciding);
                if value == deciding || missing[dependant as usize] == 0 {
                    self.table.decide(variable, deciding == (value == deciding));
                    ready.push(dependant);
                }
            }
        }
        for &variable in &run.met {
            if self.table.cell(variable).value().is_none() {
                self.table.decide(variable, run.block.default);
            }
        }
        Ok(())
    }
}
