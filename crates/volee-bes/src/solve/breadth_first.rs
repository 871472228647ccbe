//! Breadth-first resolution with many look-ups in flight.
//!
//! Two traversals, as in section 2.2 of Joubert & Mateescu 2006 with one worker: forwards along dependencies, backwards
//! along the noted edges from what has become stable; stabilising comes first. The report's figure is corrected in two
//! points: a variable counts all its successors whatever its operator (a stable value of another block may be neutral
//! for any operator), and a variable whose successors are all neutral takes the neutral value of its operator, not the
//! default of its block.
//!
//! Expansion of all blocks runs at once. When nothing is left to expand, every successor of an unstable variable is
//! stable or unstable and expanded. The unstable variables of the last block that has some then depend on nothing
//! outside it, so they take their block's default; their values spread, and the next block is closed likewise.
//!
//! Speed: right-hand sides of several variables are gathered until 64 successors are known, whose table slots are being
//! fetched meanwhile; then all are looked up while their records are being fetched; only then are records read. Backward
//! edges are walked 64 stable variables abreast. A small batch at first, because a search that finds its answer early
//! should not have expanded much.

use volee_system::{Meter, Progress};

use super::table::{Cell, Solution, narrow};
use super::{SolveError, Solved, Solver, Statistics, Watch};
use crate::graph::{BooleanGraph, Operator, Sign};
use crate::memory::{lengthen, push};
use crate::prefetch::prefetch;
use crate::variables::{Batch, Pushing, Variables};

const NONE: u32 = u32::MAX;
const MAXIMUM_IN_FLIGHT: usize = 64;
const FIRST_IN_FLIGHT: usize = 4;

const MET: u16 = 1;
const STABLE: u16 = 2;
const TRUE: u16 = 4;
const CONJUNCTION: u16 = 8;

/// What is kept per variable.
#[derive(Debug, Clone, Copy, Default)]
struct Record {
    /// Its first backward edge.
    head: u32,
    /// Successors that have not been seen to be neutral.
    missing: u32,
    rank: u32,
    block: u16,
    flags: u16,
}

impl Record {
    fn operator(self) -> Operator {
        if self.flags & CONJUNCTION != 0 { Operator::And } else { Operator::Or }
    }

    fn is_stable(self) -> bool {
        self.flags & STABLE != 0
    }

    fn value(self) -> bool {
        self.flags & TRUE != 0
    }
}

/// An expanded variable and where its successors end in the batch.
struct Expanded {
    variable: u32,
    end: usize,
}

struct Search<'g, G: ?Sized> {
    graph: &'g mut G,
    variables: Variables,
    records: Vec<Record>,
    /// Backward edges: who depends, and the next edge.
    edges: Vec<(u32, u32)>,
    /// Variables in the order in which they were met; those from `next` on are not expanded.
    queue: Vec<u32>,
    next: usize,
    /// Stable variables whose dependants do not know yet.
    stable: Vec<u32>,
    next_rank: u32,
    batch: Batch,
    expanded: Vec<Expanded>,
    found: Vec<u32>,
    /// Edge and value of the stable variables whose dependants are being told.
    cursors: Vec<(u32, bool)>,
    told: Vec<(u32, bool)>,
    in_flight: usize,
    statistics: Statistics,
}

/// Solves breadth-first.
pub(super) fn solve<G: BooleanGraph + ?Sized>(
    graph: &mut G,
    meter: &Meter,
    progress: &mut dyn Progress,
) -> Result<Solved, SolveError> {
    let signs = graph.blocks().to_vec();
    let (place, node) = graph.root()?;
    let mut variables = Variables::new(graph);
    let root = variables.insert(&place, node)?;
    let (operator, block) = graph.equation(&place, node);
    let mut records = Vec::new();
    lengthen(&mut records, variables.len());
    let mut search = Search {
        graph,
        records,
        variables,
        edges: Vec::new(),
        queue: Vec::new(),
        next: 0,
        stable: Vec::new(),
        next_rank: 0,
        batch: Batch::default(),
        expanded: Vec::new(),
        found: Vec::new(),
        cursors: Vec::new(),
        told: Vec::new(),
        in_flight: FIRST_IN_FLIGHT,
        statistics: Statistics::default(),
    };
    search.records[root as usize] = met(operator, block);
    search.queue.push(root);
    let mut watch = Watch::new(meter, progress);
    search.explore(root, &mut watch)?;
    if !search.records[root as usize].is_stable() {
        search.close_blocks(root, &signs);
    }
    let met = |records: &&[Record]| records.iter().any(|r| r.flags & MET != 0);
    let places = search.records.chunks(search.variables.nodes()).filter(met).count() as u64;
    let statistics = Statistics { places, ..search.figures() };
    let value = search.records[root as usize].value();
    // Cells are smaller than records and come in the same order; the rest of the search is dropped first.
    let Search { records, variables, edges, queue, .. } = search;
    drop((edges, queue));
    let cell = |r: &Record| match r.is_stable() {
        true => Cell::decided(r.value(), r.rank),
        false => Cell::default(),
    };
    let cells = records.iter().map(cell).collect();
    let solution = Solution::new(variables, cells);
    Ok(Solved { value, solution, statistics, solver: Solver::BreadthFirst })
}

fn met(operator: Operator, block: u16) -> Record {
    let conjunction = if operator == Operator::And { CONJUNCTION } else { 0 };
    Record { head: NONE, missing: 0, rank: 0, block, flags: MET | conjunction }
}

impl<G: BooleanGraph + ?Sized> Search<'_, G> {
    /// Expands and stabilises until the root is stable or nothing is left to expand.
    fn explore(&mut self, root: u32, watch: &mut Watch<'_>) -> Result<(), SolveError> {
        loop {
            self.stabilise();
            if self.records[root as usize].is_stable() || self.next == self.queue.len() {
                return Ok(());
            }
            self.gather(watch)?;
            self.look_up()?;
            self.connect()?;
            self.in_flight = (self.in_flight * 2).min(MAXIMUM_IN_FLIGHT);
        }
    }

    /// Pushes right-hand sides until enough successors are in flight.
    fn gather(&mut self, watch: &mut Watch<'_>) -> Result<(), SolveError> {
        self.batch.clear();
        self.expanded.clear();
        while self.next < self.queue.len() && self.batch.len() < self.in_flight {
            let variable = self.queue[self.next];
            self.next += 1;
            if let Some(&ahead) = self.queue.get(self.next + 8) {
                prefetch(&self.records, ahead as usize);
            }
            let record = self.records[variable as usize];
            if record.is_stable() {
                continue;
            }
            self.statistics.expanded += 1;
            let before = self.batch.len();
            let operator = record.operator();
            let pushing = self.batch.push(self.graph, &self.variables, variable, operator)?;
            let count = self.batch.len() - before;
            if pushing == Pushing::Decided || count == 0 {
                self.set(variable, operator.deciding() == (pushing == Pushing::Decided));
            } else {
                self.records[variable as usize].missing = narrow(count)?;
                self.expanded.push(Expanded { variable, end: self.batch.len() });
            }
            watch.tick(|| (self.figures(), (self.queue.len() - self.next) as u64))?;
        }
        Ok(())
    }

    /// Finds the numbers of the gathered successors and starts fetching their records.
    fn look_up(&mut self) -> Result<(), SolveError> {
        self.found.clear();
        self.statistics.edges += self.batch.len() as u64;
        let records = &self.records;
        self.batch
            .resolve(&mut self.variables, &mut self.found, |found| prefetch(records, found as usize))?;
        if self.records.len() < self.variables.len() {
            lengthen(&mut self.records, self.variables.len());
        }
        Ok(())
    }

    /// Notes the dependencies between the expanded variables and what they were found to depend on.
    fn connect(&mut self) -> Result<(), SolveError> {
        let mut begin = 0;
        for i in 0..self.expanded.len() {
            let Expanded { variable, end } = self.expanded[i];
            for at in begin..end {
                let successor = self.found[at];
                let record = &mut self.records[successor as usize];
                if record.flags & MET == 0 {
                    let (operator, block) = self.batch.equation(self.graph, &self.variables, at);
                    *record = met(operator, block);
                    push(&mut self.queue, successor);
                }
                if record.is_stable() {
                    let value = record.value();
                    self.apply(variable, value);
                } else {
                    let edge = narrow(self.edges.len())?;
                    let head = std::mem::replace(&mut record.head, edge);
                    push(&mut self.edges, (variable, head));
                }
            }
            begin = end;
        }
        Ok(())
    }

    #[inline]
    fn set(&mut self, variable: u32, value: bool) {
        let record = &mut self.records[variable as usize];
        record.flags |= STABLE | if value { TRUE } else { 0 };
        record.rank = self.next_rank;
        self.next_rank += 1;
        self.stable.push(variable);
    }

    /// Tells a variable the value of one of its successors.
    #[inline]
    fn apply(&mut self, variable: u32, value: bool) {
        let record = &mut self.records[variable as usize];
        if record.is_stable() {
            return;
        }
        let deciding = record.operator().deciding();
        if value == deciding {
            self.set(variable, deciding);
            return;
        }
        record.missing -= 1;
        if record.missing == 0 {
            self.set(variable, !deciding);
        }
    }

    /// Walks the backward edges of all stable variables, many abreast.
    fn stabilise(&mut self) {
        loop {
            while self.cursors.len() < MAXIMUM_IN_FLIGHT
                && let Some(variable) = self.stable.pop()
            {
                let record = self.records[variable as usize];
                if record.head != NONE {
                    prefetch(&self.edges, record.head as usize);
                    self.cursors.push((record.head, record.value()));
                }
            }
            if self.cursors.is_empty() {
                return;
            }
            let mut at = 0;
            while at < self.cursors.len() {
                let (edge, value) = self.cursors[at];
                let (dependant, next) = self.edges[edge as usize];
                prefetch(&self.records, dependant as usize);
                self.told.push((dependant, value));
                if next == NONE {
                    self.cursors.swap_remove(at);
                } else {
                    prefetch(&self.edges, next as usize);
                    self.cursors[at].0 = next;
                    at += 1;
                }
            }
            for i in 0..self.told.len() {
                let (dependant, value) = self.told[i];
                self.apply(dependant, value);
            }
            self.told.clear();
        }
    }

    /// Gives the defaults, from the last block to the first, until the root is stable.
    fn close_blocks(&mut self, root: u32, signs: &[Sign]) {
        let mut by_block: Vec<Vec<u32>> = vec![Vec::new(); signs.len()];
        for &variable in &self.queue {
            let record = self.records[variable as usize];
            if !record.is_stable() {
                by_block[usize::from(record.block)].push(variable);
            }
        }
        for (block, variables) in by_block.into_iter().enumerate().rev() {
            for variable in variables {
                if !self.records[variable as usize].is_stable() {
                    self.set(variable, signs[block].default_value());
                }
            }
            if self.records[root as usize].is_stable() {
                return;
            }
            self.stabilise();
        }
    }

    fn figures(&self) -> Statistics {
        let memory = self.variables.bytes()
            + self.records.capacity() * size_of::<Record>()
            + self.edges.capacity() * 8
            + self.queue.capacity() * 4
            + self.stable.capacity() * 4;
        Statistics {
            places: self.variables.places() as u64,
            variables: self.queue.len() as u64,
            memory: memory as u64,
            ..self.statistics
        }
    }
}
