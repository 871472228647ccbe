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
//! Speed: successors pass through a pipeline of three stages. They are pushed, and their table lines start to be fetched;
//! 32 successors later they are looked up, and their records start to be fetched; another 32 later records are read and
//! dependencies noted. So memory works all the time. Backward edges are walked 64 stable variables abreast. The pipeline
//! is short at first, because a search that finds its answer early should not have expanded much.

use volee_system::{Limit, Meter, Progress};

use super::table::{Cell, Solution, narrow};
use super::{SolveError, Solved, Solver, Statistics, Watch};
use crate::graph::{BooleanGraph, Operator, Sign};
use crate::memory::{Pieces, lengthen, push};
use crate::prefetch::prefetch;
use crate::variables::{Batch, Pushing, Variables};

const NONE: u32 = u32::MAX;
const MAXIMUM_IN_FLIGHT: usize = 64;
const FIRST_IN_FLIGHT: usize = 4;
/// The batch is emptied when it has this many successors.
const FULL: usize = 512;

const MET: u32 = 1 << 31;
const STABLE: u32 = 1 << 30;
const TRUE: u32 = 1 << 29;
const CONJUNCTION: u32 = 1 << 28;
const MAXIMUM_MISSING: u32 = CONJUNCTION - 1;

/// What is kept per variable: eight bytes, because reading them is half of an edge's cost. The block is asked for again
/// in the rare case that it matters.
#[derive(Debug, Clone, Copy, Default)]
struct Record {
    /// Its first backward edge; once it is stable, its rank: nobody notes a dependency on a stable variable.
    link: u32,
    /// Flags, and how many successors have not been seen to be neutral.
    state: u32,
}

impl Record {
    fn met(operator: Operator) -> Self {
        let conjunction = if operator == Operator::And { CONJUNCTION } else { 0 };
        Record { link: NONE, state: MET | conjunction }
    }

    fn is_met(self) -> bool {
        self.state & MET != 0
    }

    fn operator(self) -> Operator {
        if self.state & CONJUNCTION != 0 { Operator::And } else { Operator::Or }
    }

    fn is_stable(self) -> bool {
        self.state & STABLE != 0
    }

    fn value(self) -> bool {
        self.state & TRUE != 0
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
    edges: Pieces<(u32, u32)>,
    /// Variables in the order in which they were met; those from `next` on are not expanded.
    queue: Vec<u32>,
    next: usize,
    /// The first backward edge and the value of stable variables whose dependants do not know yet.
    stable: Vec<(u32, bool)>,
    next_rank: u32,
    batch: Batch,
    expanded: Vec<Expanded>,
    /// How many of the expanded ones have had their successors looked up, and their dependencies noted.
    looked_up: usize,
    connected: usize,
    /// The numbers of the successors that were looked up.
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
    let (operator, _) = graph.equation(&place, node);
    let mut records = Vec::new();
    lengthen(&mut records, variables.len());
    let mut search = Search {
        graph,
        records,
        variables,
        edges: Pieces::new(),
        queue: Vec::new(),
        next: 0,
        stable: Vec::new(),
        next_rank: 0,
        batch: Batch::default(),
        expanded: Vec::new(),
        looked_up: 0,
        connected: 0,
        found: Vec::new(),
        cursors: Vec::new(),
        told: Vec::new(),
        in_flight: FIRST_IN_FLIGHT,
        statistics: Statistics::default(),
    };
    search.records[root as usize] = Record::met(operator);
    search.queue.push(root);
    let mut watch = Watch::new(meter, progress);
    search.explore(root, &mut watch)?;
    if !search.records[root as usize].is_stable() {
        search.close_blocks(root, &signs);
    }
    let met = |records: &&[Record]| records.iter().any(|r| r.is_met());
    let places = search.records.chunks(search.variables.nodes()).filter(met).count() as u64;
    let statistics = Statistics { places, ..search.figures() };
    let value = search.records[root as usize].value();
    // Cells are as large as records and take their place; the rest of the search is dropped first.
    let Search { records, variables, edges, queue, .. } = search;
    drop((edges, queue));
    let cell = |r: Record| match r.is_stable() {
        true => Cell::decided(r.value(), r.link),
        false => Cell::default(),
    };
    let cells = records.into_iter().map(cell).collect();
    let solution = Solution::new(variables, cells);
    Ok(Solved { value, solution, statistics, solver: Solver::BreadthFirst })
}

impl<G: BooleanGraph + ?Sized> Search<'_, G> {
    /// Expands and stabilises until the root is stable or nothing is left to expand.
    fn explore(&mut self, root: u32, watch: &mut Watch<'_>) -> Result<(), SolveError> {
        loop {
            self.stabilise();
            let idle = self.next == self.queue.len() && self.connected == self.expanded.len();
            if idle || self.records[root as usize].is_stable() {
                return Ok(());
            }
            self.round(watch)?;
            self.in_flight = (self.in_flight * 2).min(MAXIMUM_IN_FLIGHT);
        }
    }

    /// Moves about as many successors as may be in flight one stage on.
    fn round(&mut self, watch: &mut Watch<'_>) -> Result<(), SolveError> {
        let enough = self.batch.len() + self.in_flight;
        while self.next < self.queue.len() && self.batch.len() < enough {
            self.expand()?;
            self.look_up(self.in_flight / 2)?;
            self.connect(self.in_flight)?;
            watch.tick(|| (self.figures(), (self.queue.len() - self.next) as u64))?;
        }
        if self.next == self.queue.len() || self.batch.len() > FULL {
            self.look_up(0)?;
            self.connect(0)?;
            self.batch.clear();
            self.found.clear();
            self.expanded.clear();
            (self.looked_up, self.connected) = (0, 0);
        }
        Ok(())
    }

    /// Pushes the right-hand side of the next variable and starts fetching the table slots of its successors.
    #[inline]
    fn expand(&mut self) -> Result<(), SolveError> {
        let variable = self.queue[self.next];
        self.next += 1;
        if let Some(&ahead) = self.queue.get(self.next + 8) {
            prefetch(&self.records, ahead as usize);
        }
        self.statistics.expanded += 1;
        let before = self.batch.len();
        let operator = self.records[variable as usize].operator();
        let pushing = self.batch.push(self.graph, &self.variables, variable, operator)?;
        let count = self.batch.len() - before;
        if pushing == Pushing::Decided || count == 0 {
            self.set(variable, operator.deciding() == (pushing == Pushing::Decided));
        } else {
            self.records[variable as usize].state += missing(count)?;
            self.expanded.push(Expanded { variable, end: self.batch.len() });
        }
        Ok(())
    }

    /// Finds the numbers of the successors that were pushed `behind` successors ago, and starts fetching their records.
    #[inline]
    fn look_up(&mut self, behind: usize) -> Result<(), SolveError> {
        while let Some(expanded) = self.expanded.get(self.looked_up)
            && expanded.end + behind <= self.batch.len()
        {
            let range = self.found.len()..expanded.end;
            self.statistics.edges += range.len() as u64;
            let records = &self.records;
            self.batch.resolve(&mut self.variables, range, &mut self.found, |found| {
                prefetch(records, found as usize);
            })?;
            lengthen(&mut self.records, self.variables.len());
            self.looked_up += 1;
        }
        Ok(())
    }

    /// Notes the dependencies of the variables that were expanded `behind` successors ago.
    #[inline]
    fn connect(&mut self, behind: usize) -> Result<(), SolveError> {
        while self.connected < self.looked_up
            && self.expanded[self.connected].end + behind <= self.batch.len()
        {
            let begin = if self.connected == 0 { 0 } else { self.expanded[self.connected - 1].end };
            let Expanded { variable, end } = self.expanded[self.connected];
            for at in begin..end {
                self.depend(variable, at)?;
            }
            self.connected += 1;
        }
        Ok(())
    }

    /// Notes that a variable depends on the `at`-th one that was found.
    #[inline]
    fn depend(&mut self, variable: u32, at: usize) -> Result<(), SolveError> {
        let successor = self.found[at];
        let record = &mut self.records[successor as usize];
        if !record.is_met() {
            let (operator, _) = self.batch.equation(self.graph, &self.variables, at);
            *record = Record::met(operator);
            push(&mut self.queue, successor);
        }
        if record.is_stable() {
            let value = record.value();
            self.apply(variable, value);
        } else {
            let edge = narrow(self.edges.len())?;
            let head = std::mem::replace(&mut record.link, edge);
            self.edges.push((variable, head));
        }
        Ok(())
    }

    #[inline]
    fn set(&mut self, variable: u32, value: bool) {
        let record = &mut self.records[variable as usize];
        record.state |= STABLE | if value { TRUE } else { 0 };
        let head = std::mem::replace(&mut record.link, self.next_rank);
        self.next_rank += 1;
        if head != NONE {
            self.stable.push((head, value));
        }
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
        record.state -= 1;
        if record.state & MAXIMUM_MISSING == 0 {
            self.set(variable, !deciding);
        }
    }

    /// Walks the backward edges of all stable variables, many abreast.
    fn stabilise(&mut self) {
        loop {
            while self.cursors.len() < MAXIMUM_IN_FLIGHT
                && let Some(cursor) = self.stable.pop()
            {
                self.edges.prefetch(cursor.0 as usize);
                self.cursors.push(cursor);
            }
            if self.cursors.is_empty() {
                return;
            }
            let mut at = 0;
            while at < self.cursors.len() {
                let (edge, value) = self.cursors[at];
                let (dependant, next) = self.edges.get(edge as usize);
                prefetch(&self.records, dependant as usize);
                self.told.push((dependant, value));
                if next == NONE {
                    self.cursors.swap_remove(at);
                } else {
                    self.edges.prefetch(next as usize);
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
        let mut scratch = [0; 4];
        for &variable in &self.queue {
            let record = self.records[variable as usize];
            if !record.is_stable() {
                let (place, node) = self.variables.get(variable, &mut scratch);
                let (_, block) = self.graph.equation(place, node);
                by_block[usize::from(block)].push(variable);
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
            + self.edges.bytes()
            + self.queue.capacity() * 4
            + self.stable.capacity() * 8;
        Statistics {
            places: self.variables.places() as u64,
            variables: self.queue.len() as u64,
            memory: memory as u64,
            ..self.statistics
        }
    }
}

/// A count of successors that must fit a record.
fn missing(count: usize) -> Result<u32, Limit> {
    narrow(count).ok().filter(|n| *n <= MAXIMUM_MISSING).ok_or_else(|| Limit::Other {
        message: format!("one right-hand side has more than {MAXIMUM_MISSING} variables"),
    })
}
