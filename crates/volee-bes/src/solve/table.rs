//! Cells: what a depth-first strategy keeps per variable, and the solution it leaves behind.
//!
//! A cell has eight bytes: flags, block, and one number that is the position on a stack while the variable is
//! open and the rank once it is decided.

use std::io;

use serde::{Deserialize, Serialize};
use volee_store::checkpoint::{Damaged, Reader, Refused, Writer};
use volee_system::{Limit, Meter};

use super::{SolveError, Statistics};
use crate::graph::{BooleanGraph, Node, Operator};
use crate::variables::{Batch, Pushing, Variables};
use volee_store::large::lengthen;
use volee_store::prefetch_at as prefetch;

const MET: u16 = 1;
const VISITED: u16 = 2;
const STABLE: u16 = 4;
const TRUE: u16 = 8;
const CONJUNCTION: u16 = 16;

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(super) struct Cell {
    /// Position while open, rank once stable.
    number: u32,
    block: u16,
    flags: u16,
}

impl Cell {
    pub fn met(operator: Operator, block: u16) -> Self {
        let conjunction = if operator == Operator::And { CONJUNCTION } else { 0 };
        Cell { number: 0, block, flags: MET | conjunction }
    }

    /// A decided variable, for strategies that keep other records while they run.
    pub fn decided(value: bool, rank: u32) -> Self {
        Cell { number: rank, block: 0, flags: MET | STABLE | if value { TRUE } else { 0 } }
    }

    #[inline]
    pub fn is_met(self) -> bool {
        self.flags & MET != 0
    }

    #[inline]
    pub fn is_visited(self) -> bool {
        self.flags & VISITED != 0
    }

    #[inline]
    pub fn value(self) -> Option<bool> {
        (self.flags & STABLE != 0).then_some(self.flags & TRUE != 0)
    }

    #[inline]
    pub fn operator(self) -> Operator {
        if self.flags & CONJUNCTION != 0 { Operator::And } else { Operator::Or }
    }

    #[inline]
    pub fn block(self) -> u16 {
        self.block
    }

    #[inline]
    pub fn number(self) -> u32 {
        self.number
    }
}

/// Variables, their cells, and how to expand one.
pub(super) struct Table {
    variables: Variables,
    pub cells: Vec<Cell>,
    batch: Batch,
    next_rank: u32,
    pub statistics: Statistics,
}

impl Table {
    /// A table that knows only the main variable, whose number it gives.
    pub fn new<G: BooleanGraph + ?Sized>(graph: &mut G) -> Result<(Self, u32), SolveError> {
        let (place, node) = graph.root()?;
        let mut variables = Variables::new(graph);
        let root = variables.insert(&place, node)?;
        let mut cells = Vec::new();
        lengthen(&mut cells, variables.len());
        let (operator, block) = graph.equation(&place, node);
        cells[root as usize] = Cell::met(operator, block);
        let statistics = Statistics { variables: 1, ..Statistics::default() };
        Ok((Table { variables, cells, batch: Batch::default(), next_rank: 0, statistics }, root))
    }

    /// Appends the successors of a variable to `out`, in order. Nothing is appended when a constant decides
    /// it.
    pub fn expand<G: BooleanGraph + ?Sized>(
        &mut self,
        graph: &mut G,
        variable: u32,
        out: &mut Vec<u32>,
    ) -> Result<Pushing, SolveError> {
        self.statistics.expanded += 1;
        self.batch.clear();
        let operator = self.cells[variable as usize].operator();
        let pushing = self.batch.push(graph, &self.variables, variable, operator)?;
        self.statistics.edges += self.batch.len() as u64;
        let begin = out.len();
        let cells = &self.cells;
        self.batch.resolve(&mut self.variables, 0..self.batch.len(), out, |found| {
            prefetch(cells, found as usize)
        })?;
        if self.cells.len() < self.variables.len() {
            lengthen(&mut self.cells, self.variables.len());
        }
        for (at, &successor) in out[begin..].iter().enumerate() {
            let cell = &mut self.cells[successor as usize];
            if !cell.is_met() {
                let (operator, block) = self.batch.equation(graph, &self.variables, at);
                *cell = Cell::met(operator, block);
                self.statistics.variables += 1;
            }
        }
        Ok(pushing)
    }

    #[inline]
    pub fn cell(&self, variable: u32) -> Cell {
        self.cells[variable as usize]
    }

    /// Marks a variable as visited and notes its position.
    #[inline]
    pub fn visit(&mut self, variable: u32, position: u32) {
        let cell = &mut self.cells[variable as usize];
        cell.flags |= VISITED;
        cell.number = position;
    }

    /// Decides a variable.
    #[inline]
    pub fn decide(&mut self, variable: u32, value: bool) {
        let cell = &mut self.cells[variable as usize];
        cell.flags |= VISITED | STABLE | if value { TRUE } else { 0 };
        cell.number = self.next_rank;
        self.next_rank += 1;
    }

    /// What it cost so far; `other` bytes are those of the strategy itself.
    pub fn figures(&self, other: usize, depth: u64) -> Statistics {
        let memory = self.variables.bytes() + self.cells.capacity() * size_of::<Cell>() + other;
        Statistics {
            places: self.variables.places() as u64,
            memory: memory as u64,
            depth: self.statistics.depth.max(depth),
            ..self.statistics
        }
    }

    /// The places that were really met; where places are numbers the table knows them all.
    pub fn places_met(&self) -> u64 {
        let met = |cells: &&[Cell]| cells.iter().any(|cell| cell.is_met());
        self.cells.chunks(self.variables.nodes()).filter(met).count() as u64
    }

    pub fn write(&self, out: &mut Writer) -> io::Result<()> {
        self.variables.write(out)?;
        out.list(self.cells.iter())?;
        out.number(u64::from(self.next_rank))?;
        out.value(&self.statistics)
    }

    /// Reads a table that was written, where this one knows no more than the main variable.
    pub fn read(&mut self, input: &mut Reader, blocks: usize, meter: &Meter) -> Result<(), Refused> {
        self.variables.read(input, meter)?;
        self.cells = input.list(meter)?;
        self.next_rank = input.short()?;
        self.statistics = input.value()?;
        let sound = self.cells.iter().all(|cell| usize::from(cell.block) < blocks);
        if sound && self.cells.len() == self.variables.len() { Ok(()) } else { Err(Damaged.into()) }
    }

    /// Whether all these are numbers of variables.
    pub fn has(&self, variables: &[u32]) -> bool {
        variables.iter().all(|variable| (*variable as usize) < self.cells.len())
    }

    pub fn into_solution(self) -> Solution {
        Solution::new(self.variables, self.cells)
    }
}

/// The values of the variables of one share.
#[derive(Debug, Clone)]
struct Valued {
    variables: Variables,
    cells: Vec<Cell>,
}

/// The values that a strategy decided. Where several workers did, each has those of its share, and a variable's
/// number tells which: that of the worker is the remainder by how many there are.
#[derive(Debug, Clone)]
pub struct Solution {
    shares: Vec<Valued>,
}

impl Solution {
    pub(super) fn new(variables: Variables, cells: Vec<Cell>) -> Self {
        Solution { shares: vec![Valued { variables, cells }] }
    }

    /// What workers have decided together, in the order of their shares.
    pub(super) fn joined(shares: impl Iterator<Item = Solution>) -> Self {
        Solution { shares: shares.flat_map(|share| share.shares).collect() }
    }

    /// A solution of those variables whose values somebody claims: place, node, value, rank.
    ///
    /// # Errors
    /// There are too many.
    pub fn assemble<'v, G: BooleanGraph + ?Sized>(
        graph: &G,
        claims: impl Iterator<Item = (&'v [u8], Node, bool, u32)>,
    ) -> Result<Self, Limit> {
        let (mut variables, mut cells) = (Variables::sparse(graph), Vec::new());
        for (place, node, value, rank) in claims.filter(|claim| claim.1 < graph.nodes()) {
            let number = variables.insert(place, node)?;
            lengthen(&mut cells, variables.len());
            cells[number as usize] = Cell::decided(value, rank);
        }
        Ok(Solution::new(variables, cells))
    }

    /// The variables of the first share, which is the only one of whoever is alone.
    pub(super) fn variables(&self) -> &Variables {
        &self.shares[0].variables
    }

    /// The share of a variable, and its number there.
    #[inline]
    fn within(&self, number: u32) -> (&Valued, u32) {
        match &self.shares[..] {
            [all] => (all, number),
            shares => (&shares[number as usize % shares.len()], number / shares.len() as u32),
        }
    }

    /// Starts fetching what is known of a variable.
    #[inline]
    pub(super) fn prefetch(&self, number: u32) {
        let (share, number) = self.within(number);
        prefetch(&share.cells, number as usize);
    }

    /// Bytes in use.
    pub fn bytes(&self) -> usize {
        let bytes = |share: &Valued| share.variables.bytes() + share.cells.capacity() * size_of::<Cell>();
        self.shares.iter().map(bytes).sum()
    }

    /// A bound on the numbers that [`Solution::find`] gives.
    pub fn len(&self) -> usize {
        self.shares.iter().map(|share| share.cells.len()).max().unwrap_or(0) * self.shares.len()
    }

    /// Whether there are no variables.
    pub fn is_empty(&self) -> bool {
        self.shares.iter().all(|share| share.cells.is_empty())
    }

    /// A variable's number. `scratch` saves an allocation.
    pub fn find(&self, place: &[u8], node: Node, scratch: &mut Vec<u8>) -> Option<u32> {
        if let [all] = &self.shares[..] {
            return all.variables.find(place, node, scratch);
        }
        let owner = self.shares[0].variables.owner_of(place, node, scratch).0;
        let within = self.shares[owner].variables.find(place, node, scratch)?;
        // Shares have no more variables than numbers of all of them together.
        within.checked_mul(self.shares.len() as u32)?.checked_add(owner as u32)
    }

    /// The value and the rank of a variable by its number, if it was decided.
    pub fn value(&self, number: u32) -> Option<(bool, u32)> {
        let (share, number) = self.within(number);
        let cell = share.cells.get(number as usize)?;
        cell.value().map(|value| (value, cell.number()))
    }

    /// The place and the node of a variable.
    pub fn variable(&self, number: u32, place: &mut Vec<u8>) -> Node {
        let (share, number) = self.within(number);
        share.variables.copy(number, place)
    }
}

/// A count that must fit four bytes.
#[inline]
pub(super) fn narrow(n: usize) -> Result<u32, Limit> {
    u32::try_from(n)
        .map_err(|_| Limit::Other { message: "more than 4294967295 edges are open at once".into() })
}
