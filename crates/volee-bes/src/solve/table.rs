//! What a depth-first strategy knows of variables, and the solution it leaves behind.

use std::io;

use volee_store::checkpoint::{Damaged, Reader, Refused, Writer};
use volee_store::large::lengthen;
use volee_system::{Flow, Limit, Meter};

use super::cells::{Cell, Cells};
use super::{SolveError, Statistics};
use crate::graph::{BooleanGraph, Node, Successors};
use crate::variables::{Batch, Pushing, Variables};

/// Variables, their cells, and how to expand one.
pub(super) struct Table {
    variables: Variables,
    cells: Cells,
    batch: Batch,
    next_rank: u32,
    pub statistics: Statistics,
}

impl Table {
    /// A table that knows only the main variable, whose number it gives.
    pub fn new(graph: &mut dyn BooleanGraph) -> Result<(Self, u32), SolveError> {
        let (place, node) = graph.root()?;
        let mut variables = Variables::new(graph);
        let root = variables.insert(&place, node)?;
        let mut cells = Cells::new();
        cells.lengthen(variables.len());
        let (operator, block) = graph.equation(&place, node);
        cells.set(root as usize, Cell::met(operator, block));
        let statistics = Statistics { variables: 1, ..Statistics::default() };
        Ok((Table { variables, cells, batch: Batch::default(), next_rank: 0, statistics }, root))
    }

    /// Appends the successors of a variable to `out`, in order. Nothing is appended when a constant decides
    /// it.
    pub fn expand(
        &mut self,
        graph: &mut dyn BooleanGraph,
        variable: u32,
        out: &mut Vec<u32>,
    ) -> Result<Pushing, SolveError> {
        self.statistics.expanded += 1;
        if let Some(nodes) = self.variables.nodes_as_met() {
            return self.expand_numbers(graph, variable, nodes, out);
        }
        self.batch.clear();
        let operator = self.cell(variable).operator();
        let pushing = self.batch.push(graph, &self.variables, variable, operator)?;
        self.statistics.edges += self.batch.len() as u64;
        let begin = out.len();
        let cells = &self.cells;
        self.batch
            .resolve(&mut self.variables, 0..self.batch.len(), out, |found| cells.prefetch(found as usize))?;
        self.cells.lengthen(self.variables.len());
        for (at, &successor) in out[begin..].iter().enumerate() {
            if !self.cell(successor).is_met() {
                let (operator, block) = self.batch.equation(graph, &self.variables, at);
                self.cells.set(successor as usize, Cell::met(operator, block));
                self.statistics.variables += 1;
            }
        }
        Ok(pushing)
    }

    /// The same where places are numbers that are given as they are met: nothing is looked up.
    fn expand_numbers(
        &mut self,
        graph: &mut dyn BooleanGraph,
        variable: u32,
        nodes: u32,
        out: &mut Vec<u32>,
    ) -> Result<Pushing, SolveError> {
        let begin = out.len();
        let deciding = self.cell(variable).operator().deciding();
        let place = (variable / nodes).to_le_bytes();
        let mut sink = Numbers { cells: &self.cells, nodes, out, most: 0, deciding, decided: false };
        graph.successors(&place, (variable % nodes) as Node, &mut sink)?;
        let (most, decided) = (sink.most, sink.decided);
        if decided {
            out.truncate(begin);
            return Ok(Pushing::Decided);
        }
        if most >= u64::from(u32::MAX) {
            return Err(SolveError::Limit(Limit::Other { message: "more than 4294967294 variables".into() }));
        }
        self.statistics.edges += (out.len() - begin) as u64;
        if most as usize >= self.cells.len() {
            self.variables.meet((most / u64::from(nodes)) as u32);
            self.cells.lengthen(self.variables.len());
        }
        for &successor in &out[begin..] {
            if !self.cell(successor).is_met() {
                let place = (successor / nodes).to_le_bytes();
                let (operator, block) = graph.equation(&place, (successor % nodes) as Node);
                self.cells.set(successor as usize, Cell::met(operator, block));
                self.statistics.variables += 1;
            }
        }
        Ok(Pushing::Open)
    }

    #[inline]
    pub fn cell(&self, variable: u32) -> Cell {
        self.cells.get(variable as usize)
    }

    /// How many variables have cells.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Marks a variable as visited and notes its position.
    #[inline]
    pub fn visit(&mut self, variable: u32, position: u32) {
        self.cells.set(variable as usize, self.cell(variable).visited(position));
    }

    /// Decides a variable.
    #[inline]
    pub fn decide(&mut self, variable: u32, value: bool) {
        let cell = self.cell(variable).with_value(value, self.next_rank);
        self.cells.set(variable as usize, cell);
        self.next_rank += 1;
    }

    /// What it cost so far; `other` bytes are those of the strategy itself.
    pub fn figures(&self, other: usize, depth: u64) -> Statistics {
        let memory = self.variables.bytes() + self.cells.bytes() + other;
        Statistics {
            places: self.variables.places() as u64,
            memory: memory as u64,
            depth: self.statistics.depth.max(depth),
            ..self.statistics
        }
    }

    /// The places that were really met; where places are numbers the table knows them all.
    pub fn places_met(&self) -> u64 {
        let nodes = self.variables.nodes();
        let met = |place: &usize| (place * nodes..(place + 1) * nodes).any(|at| self.cells.get(at).is_met());
        (0..self.cells.len() / nodes).filter(met).count() as u64
    }

    pub fn write(&self, out: &mut Writer) -> io::Result<()> {
        self.variables.write(out)?;
        out.list((0..self.cells.len()).map(|at| self.cells.get(at)))?;
        out.number(u64::from(self.next_rank))?;
        out.value(&self.statistics)
    }

    /// Reads a table that was written, where this one knows no more than the main variable.
    pub fn read(&mut self, input: &mut Reader, blocks: usize, meter: &Meter) -> Result<(), Refused> {
        self.variables.read(input, meter)?;
        let cells: Vec<Cell> = input.list(meter)?;
        self.next_rank = input.short()?;
        self.statistics = input.value()?;
        let sound = cells.iter().all(|cell| usize::from(cell.block()) < blocks);
        self.cells = Cells::new();
        self.cells.lengthen(cells.len());
        cells.into_iter().enumerate().for_each(|(at, cell)| self.cells.set(at, cell));
        if sound && self.cells.len() == self.variables.len() { Ok(()) } else { Err(Damaged.into()) }
    }

    /// Whether all these are numbers of variables.
    pub fn has(&self, variables: &[u32]) -> bool {
        variables.iter().all(|variable| (*variable as usize) < self.cells.len())
    }

    pub fn into_solution(self) -> Solution {
        Solution { shares: vec![Valued { variables: self.variables, cells: self.cells }] }
    }
}

/// Receives a right-hand side of variables by number.
struct Numbers<'a> {
    cells: &'a Cells,
    nodes: u32,
    out: &'a mut Vec<u32>,
    /// The largest number.
    most: u64,
    deciding: bool,
    decided: bool,
}

impl Successors for Numbers<'_> {
    #[inline]
    fn variable(&mut self, place: &[u8], node: Node) -> Flow {
        let place = place.try_into().map_or(u32::MAX, u32::from_le_bytes);
        let number = u64::from(place) * u64::from(self.nodes) + u64::from(node);
        self.most = self.most.max(number);
        self.cells.prefetch(number as usize);
        self.out.push(number as u32);
        Flow::Continue(())
    }

    fn constant(&mut self, value: bool) -> Flow {
        self.decided |= value == self.deciding;
        if self.decided { Flow::Break(()) } else { Flow::Continue(()) }
    }
}

/// The values of the variables of one share.
#[derive(Debug, Clone)]
struct Valued {
    variables: Variables,
    cells: Cells,
}

/// The values that a strategy decided. Where several workers did, each has those of its share, and a variable's
/// number tells which: that of the worker is the remainder by how many there are.
#[derive(Debug, Clone)]
pub struct Solution {
    shares: Vec<Valued>,
}

impl Solution {
    pub(super) fn new(variables: Variables, cells: Vec<Cell>) -> Self {
        Solution { shares: vec![Valued { variables, cells: Cells::Whole(cells) }] }
    }

    /// What workers have decided together, in the order of their shares.
    pub(super) fn joined(shares: impl Iterator<Item = Solution>) -> Self {
        Solution { shares: shares.flat_map(|share| share.shares).collect() }
    }

    /// A solution of those variables whose values somebody claims: place, node, value, rank.
    ///
    /// # Errors
    /// There are too many.
    pub fn assemble<'v>(
        graph: &dyn BooleanGraph,
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
    pub(crate) fn prefetch(&self, number: u32) {
        let (share, number) = self.within(number);
        share.cells.prefetch(number as usize);
    }

    /// Bytes in use.
    pub fn bytes(&self) -> usize {
        let bytes = |share: &Valued| share.variables.bytes() + share.cells.bytes();
        self.shares.iter().map(bytes).sum()
    }

    /// A bound on the numbers that [`Solution::find`] gives.
    pub fn len(&self) -> usize {
        self.shares.iter().map(|share| share.cells.len()).max().unwrap_or(0) * self.shares.len()
    }

    /// Whether there are no variables.
    pub fn is_empty(&self) -> bool {
        self.shares.iter().all(|share| share.cells.len() == 0)
    }

    /// A variable's number. `scratch` saves an allocation.
    #[inline]
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
    #[inline]
    pub fn value(&self, number: u32) -> Option<(bool, u32)> {
        let (share, number) = self.within(number);
        let cell = share.cells.known(number as usize)?;
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
