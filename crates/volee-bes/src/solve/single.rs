//! Breadth-first resolution by one worker, where every variable has a key of its own: the strategy of
//! [`super::partition`] (which see for the algorithm, its corrections of the report and why closing blocks is
//! right), laid out so that an edge costs one fetch from memory instead of two.
//!
//! * A variable's slot in the table holds what an edge *to* it needs: the first edge of its list of
//!   dependants, or its value once the list was told. So the look-up and the noting of a dependency read one
//!   line.
//! * The slot also holds the dependant that met the variable first, so a quarter of the edges of a typical
//!   graph need no record in the list; and these dependants lie side by side in memory, because a
//!   breadth-first search meets the successors of a variable together.
//! * A record by number holds what an edge *from* the variable needs when it is told: the count, the
//!   operator, the value. Until the variable is stable it also remembers the tag, so that its slot is found
//!   without reading the key.
//! * Variables are numbered as they are met, so the queue of a breadth-first search is the numbers
//!   themselves.
//!
//! Successors pass through a pipeline of two stages: they are pushed, and their lines start to be fetched; 64
//! successors later their lines are read and dependencies noted. The pipeline is short at first, because a
//! search that finds its answer early should not have expanded much. Telling works on 64 stable variables at
//! a time.

mod kept;

use std::io;

use serde::{Deserialize, Serialize};
use volee_store::checkpoint::{Checkpoint, Reader, Refused, Writer};
use volee_system::{Limit, Meter, Progress};

use super::cells::Cell;
use super::keep::{Strategy, run};
use super::table::{Solution, narrow};
use super::{SolveError, Solved, Solver, Statistics};
use crate::graph::{BooleanGraph, Node, Operator, Sign};
use crate::variables::{Batch, Lines, Pushing, Variables, unpack};
use volee_store::Pieces;
use volee_store::large::push;
use volee_store::prefetch_at as prefetch;
use volee_store::{Hashed, Links, tag};

const NONE: u32 = u32::MAX;
/// Links of stable variables. (An edge has a smaller number.)
const TOLD_FALSE: u32 = u32::MAX - 1;
const TOLD_TRUE: u32 = u32::MAX - 2;

const MAXIMUM_IN_FLIGHT: usize = 64;
const FIRST_IN_FLIGHT: usize = 4;
/// What has passed through the pipeline is forgotten when it is this much.
const FULL: usize = 1024;
/// Expansions, and dependants told, between two looks at the clock; expansions before the first one.
const QUANTUM: u64 = 4096;
const FIRST_QUANTUM: u64 = 1;
const TOLD_AT_ONCE: usize = 1 << 16;

const STABLE: u32 = 1 << 31;
const TRUE: u32 = 1 << 30;
const CONJUNCTION: u32 = 1 << 29;
const MAXIMUM_MISSING: u32 = CONJUNCTION - 1;

/// What an edge from a variable needs.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Record {
    /// The tag of its key; once it is stable, its rank.
    word: u32,
    /// Flags, and how many successors have not been seen to be neutral.
    state: u32,
}

impl Record {
    #[inline]
    fn met(tag: u32, operator: Operator) -> Self {
        Record { word: tag, state: if operator == Operator::And { CONJUNCTION } else { 0 } }
    }

    #[inline]
    fn operator(self) -> Operator {
        if self.state & CONJUNCTION != 0 { Operator::And } else { Operator::Or }
    }

    #[inline]
    fn is_stable(self) -> bool {
        self.state & STABLE != 0
    }

    #[inline]
    fn value(self) -> bool {
        self.state & TRUE != 0
    }
}

/// The variables by their keys.
struct Met {
    /// What an edge to a variable needs: the last one that was noted, or that all were told; and who met it
    /// first.
    table: Hashed<Links, 4>,
    packed: bool,
}

impl Met {
    #[inline]
    fn variable(&self, number: u32) -> (&[u8], Node) {
        self.split(self.table.keys.get(number))
    }

    #[inline]
    fn split<'k>(&self, key: &'k [u8]) -> (&'k [u8], Node) {
        if self.packed { unpack(key) } else { (key, 0) }
    }
}

impl Lines for Met {
    #[inline]
    fn packed(&self) -> bool {
        self.packed
    }

    #[inline]
    fn approach(&self, key: &[u8]) -> (u16, u32) {
        let tag = tag(key);
        self.table.slots.prefetch(tag);
        (0, tag)
    }
}

/// An expanded variable and where its successors end in the batch.
#[derive(Serialize, Deserialize)]
struct Expanded {
    variable: u32,
    end: usize,
}

/// A stable variable whose dependants do not know yet.
#[derive(Serialize, Deserialize)]
struct Decided {
    variable: u32,
    tag: u32,
    value: bool,
}

struct Search<'g> {
    graph: &'g mut dyn BooleanGraph,
    signs: Vec<Sign>,
    root_block: u16,
    met: Met,
    records: Vec<Record>,
    /// Who depends, and the edge before.
    edges: Pieces<(u32, u32)>,
    /// The first variable that is not expanded.
    next: u32,
    batch: Batch,
    expanded: Vec<Expanded>,
    /// How many of the expanded ones have had their dependencies noted, and how many successors those have.
    noted: usize,
    passed: usize,
    decided: Vec<Decided>,
    /// Edge and value of the stable variables whose dependants are being told.
    cursors: Vec<(u32, bool)>,
    told: Vec<(u32, bool)>,
    next_rank: u32,
    in_flight: usize,
    quantum: u64,
    /// The unstable variables of the blocks after the main one, once everything is explored.
    open: Option<Vec<Vec<u32>>>,
    statistics: Statistics,
}

/// Solves breadth-first.
pub(super) fn solve(
    graph: &mut dyn BooleanGraph,
    kept: Option<&Checkpoint>,
    meter: &Meter,
    progress: &mut dyn Progress,
) -> Result<Solved, SolveError> {
    let mut search = Search::new(graph)?;
    run(&mut search, kept, meter, progress)?;
    Ok(search.finish())
}

impl Strategy for Search<'_> {
    const KIND: u64 = 13;
    const PATIENCE: u32 = 0;

    fn begin(&mut self) -> Result<(), SolveError> {
        Ok(())
    }

    fn is_done(&self) -> bool {
        self.records[0].is_stable()
    }

    fn step(&mut self) -> Result<(), SolveError> {
        if self.advance()? {
            self.close_block();
        }
        self.quantum = (self.quantum * 2).min(QUANTUM);
        Ok(())
    }

    fn costs(&self) -> (Statistics, u64) {
        let memory = self.met.table.bytes()
            + self.graph.memory()
            + self.records.capacity() * size_of::<Record>()
            + self.edges.bytes()
            + self.decided.capacity() * size_of::<Decided>();
        let count = self.records.len() as u64;
        let statistics =
            Statistics { places: count, variables: count, memory: memory as u64, ..self.statistics };
        (statistics, count - u64::from(self.next))
    }

    fn write(&mut self, out: &mut Writer) -> io::Result<()> {
        self.write_all(out)
    }

    fn read(&mut self, input: &mut Reader, meter: &Meter) -> Result<(), Refused> {
        self.read_all(input, meter)
    }

    fn is_sound(&self) -> bool {
        self.fits_together()
    }
}

impl<'g> Search<'g> {
    fn new(graph: &'g mut dyn BooleanGraph) -> Result<Self, SolveError> {
        let signs = graph.blocks().to_vec();
        let (mut key, node) = graph.root()?;
        let (operator, root_block) = graph.equation(&key, node);
        let packed = graph.nodes() > 1;
        if packed {
            key.extend_from_slice(&node.to_le_bytes());
        }
        let mut met = Met { table: Hashed::default(), packed };
        let tag = tag(&key);
        if let Err(at) = met.table.search(&key, tag) {
            met.table.add(&key, tag, at, Links { last: NONE, first: NONE })?;
        }
        Ok(Search {
            graph,
            signs,
            root_block,
            met,
            records: vec![Record::met(tag, operator)],
            edges: Pieces::new(),
            next: 0,
            batch: Batch::default(),
            expanded: Vec::new(),
            noted: 0,
            passed: 0,
            decided: Vec::new(),
            cursors: Vec::new(),
            told: Vec::new(),
            next_rank: 0,
            in_flight: FIRST_IN_FLIGHT,
            quantum: FIRST_QUANTUM,
            open: None,
            statistics: Statistics::default(),
        })
    }

    /// Stabilises and expands, for a quantum; true when nothing is left to be done before a block is closed.
    fn advance(&mut self) -> Result<bool, SolveError> {
        let until = self.statistics.expanded + self.quantum;
        let mut tell = TOLD_AT_ONCE;
        loop {
            let quiet = self.stabilise(&mut tell);
            if self.records[0].is_stable() || !quiet || self.statistics.expanded >= until {
                return Ok(false);
            }
            if self.next as usize == self.records.len() && self.noted == self.expanded.len() {
                return Ok(true);
            }
            self.round()?;
            self.in_flight = (self.in_flight * 2).min(MAXIMUM_IN_FLIGHT);
        }
    }

    /// Moves about as many successors as may be in flight through the pipeline.
    fn round(&mut self) -> Result<(), SolveError> {
        let enough = self.batch.len() + self.in_flight;
        while (self.next as usize) < self.records.len() && self.batch.len() < enough {
            self.expand()?;
            self.note(self.in_flight)?;
        }
        if self.next as usize == self.records.len() {
            self.note(0)?;
        }
        if self.passed > FULL {
            self.batch.forget(self.passed);
            self.expanded.drain(..self.noted);
            for expanded in &mut self.expanded {
                expanded.end -= self.passed;
            }
            (self.noted, self.passed) = (0, 0);
        }
        Ok(())
    }

    /// Pushes the right-hand side of the next variable and starts fetching the lines of its successors. (No
    /// variable is stable before it was expanded.)
    #[inline(always)]
    fn expand(&mut self) -> Result<(), SolveError> {
        let variable = self.next;
        self.next += 1;
        self.statistics.expanded += 1;
        let before = self.batch.len();
        let operator = self.records[variable as usize].operator();
        let key = self.met.variable(variable);
        let pushing = self.batch.push_right_hand_side(self.graph, &self.met, key, operator)?;
        let count = self.batch.len() - before;
        if pushing == Pushing::Decided || count == 0 {
            self.set(variable, operator.deciding() == (pushing == Pushing::Decided));
        } else {
            self.records[variable as usize].state += missing(count)?;
            self.expanded.push(Expanded { variable, end: self.batch.len() });
        }
        Ok(())
    }

    /// Notes the dependencies of the variables that were expanded `behind` successors ago.
    #[inline(always)]
    fn note(&mut self, behind: usize) -> Result<(), SolveError> {
        while let Some(&Expanded { variable, end }) = self.expanded.get(self.noted)
            && end + behind <= self.batch.len()
        {
            for at in self.passed..end {
                self.depend(variable, at)?;
            }
            self.statistics.edges += (end - self.passed) as u64;
            self.passed = end;
            self.noted += 1;
        }
        Ok(())
    }

    /// Notes that a variable depends on the `at`-th one that was pushed.
    #[inline(always)]
    fn depend(&mut self, variable: u32, at: usize) -> Result<(), SolveError> {
        let mut scratch = [0; 4];
        let (tag, key, _) = self.batch.item(at, &mut scratch);
        match self.met.table.search(key, tag) {
            Ok(at) => {
                let links = self.met.table.slots.payload(at);
                match links.last {
                    TOLD_FALSE => self.apply(variable, false),
                    TOLD_TRUE => self.apply(variable, true),
                    last => {
                        links.last = edge(self.edges.len())?;
                        self.edges.push((variable, last));
                    }
                }
            }
            Err(at) => {
                let (place, node) = self.met.split(key);
                let (operator, _) = self.graph.equation(place, node);
                self.met.table.add(key, tag, at, Links { last: NONE, first: variable })?;
                push(&mut self.records, Record::met(tag, operator));
            }
        }
        Ok(())
    }

    #[inline]
    fn set(&mut self, variable: u32, value: bool) {
        let tag = self.settle(variable, value);
        self.decided.push(Decided { variable, tag, value });
    }

    /// Gives a variable its value and its rank; what its tag was.
    #[inline]
    fn settle(&mut self, variable: u32, value: bool) -> u32 {
        let record = &mut self.records[variable as usize];
        record.state |= STABLE | if value { TRUE } else { 0 };
        let tag = std::mem::replace(&mut record.word, self.next_rank);
        self.next_rank += 1;
        tag
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

    /// Walks the edges to all stable variables, many at a time; `false` when `tell` dependants were told and
    /// there are more.
    fn stabilise(&mut self, tell: &mut usize) -> bool {
        loop {
            if self.decided.is_empty() && self.cursors.is_empty() && self.told.is_empty() {
                return true;
            }
            if *tell == 0 {
                return false;
            }
            self.take_decided();
            self.walk();
            self.statistics.told += self.told.len() as u64;
            *tell = tell.saturating_sub(self.told.len());
            for i in 0..self.told.len() {
                let (dependant, value) = self.told[i];
                self.apply(dependant, value);
            }
            self.told.clear();
        }
    }

    /// Makes room for no more dependants: takes the lists of decided variables from their slots.
    fn take_decided(&mut self) {
        let room = MAXIMUM_IN_FLIGHT.saturating_sub(self.cursors.len());
        let from = self.decided.len().saturating_sub(room);
        for decided in &self.decided[from..] {
            self.met.table.slots.prefetch(decided.tag);
        }
        for Decided { variable, tag, value } in self.decided.drain(from..) {
            let Ok(at) = self.met.table.slots.search(tag, |number| number == variable) else { continue };
            let links = self.met.table.slots.payload(at);
            let last = std::mem::replace(&mut links.last, if value { TOLD_TRUE } else { TOLD_FALSE });
            if links.first != NONE {
                prefetch(&self.records, links.first as usize);
                self.told.push((links.first, value));
            }
            if last != NONE {
                self.edges.prefetch(last as usize);
                self.cursors.push((last, value));
            }
        }
    }

    /// Takes one step along the edges of each cursor.
    fn walk(&mut self) {
        let mut at = 0;
        while at < self.cursors.len() {
            let (edge, value) = self.cursors[at];
            let (dependant, before) = *self.edges.get(edge as usize);
            prefetch(&self.records, dependant as usize);
            self.told.push((dependant, value));
            if before == NONE {
                self.cursors.swap_remove(at);
            } else {
                self.edges.prefetch(before as usize);
                self.cursors[at].0 = before;
                at += 1;
            }
        }
    }

    /// Gives the default of the last block that is not closed to its unstable variables.
    fn close_block(&mut self) {
        if self.open.is_none() {
            self.open = Some(self.unstable());
        }
        let later = self.open.as_mut().and_then(Vec::pop);
        match later {
            Some(variables) => {
                let block = usize::from(self.root_block) + 1 + self.open.as_ref().map_or(0, Vec::len);
                let default = self.signs[block].default_value();
                for variable in variables {
                    if !self.records[variable as usize].is_stable() {
                        self.set(variable, default);
                    }
                }
            }
            // What is still unstable is of the main variable's block, and nobody need be told.
            None => {
                let default = self.signs[usize::from(self.root_block)].default_value();
                for variable in 0..self.met.table.len() {
                    if !self.records[variable as usize].is_stable() {
                        self.settle(variable, default);
                    }
                }
            }
        }
    }

    /// The unstable variables of each block after the main one.
    fn unstable(&self) -> Vec<Vec<u32>> {
        let first = usize::from(self.root_block) + 1;
        let mut by_block: Vec<Vec<u32>> = vec![Vec::new(); self.signs.len().saturating_sub(first)];
        if by_block.is_empty() {
            return by_block;
        }
        for variable in 0..self.met.table.len() {
            if !self.records[variable as usize].is_stable() {
                let (place, node) = self.met.variable(variable);
                let (_, block) = self.graph.equation(place, node);
                if let Some(later) = usize::from(block).checked_sub(first) {
                    by_block[later].push(variable);
                }
            }
        }
        by_block
    }

    /// The values that were decided; the rest of the search is dropped first.
    fn finish(self) -> Solved {
        let statistics = self.costs().0;
        let value = self.records[0].value();
        let Search { records, met: Met { table, packed }, edges, .. } = self;
        drop(edges);
        let cell = |r: Record| match r.is_stable() {
            true => Cell::decided(r.value(), r.word),
            false => Cell::default(),
        };
        // Cells are as large as records and take their place.
        let cells = records.into_iter().map(cell).collect();
        let solution = Solution::new(Variables::with_keys(table, packed), cells);
        Solved::alone(value, solution, statistics, Solver::BreadthFirst)
    }
}

/// The number of the next edge.
#[inline]
fn edge(count: usize) -> Result<u32, Limit> {
    narrow(count).and_then(|n| if n < TOLD_TRUE { Ok(n) } else { narrow(usize::MAX) })
}

/// A count of successors that must fit a record.
#[inline]
fn missing(count: usize) -> Result<u32, Limit> {
    narrow(count).ok().filter(|n| *n <= MAXIMUM_MISSING).ok_or_else(|| Limit::Other {
        message: format!("one right-hand side has more than {MAXIMUM_MISSING} variables"),
    })
}
