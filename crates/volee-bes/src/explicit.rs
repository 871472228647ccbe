//! Explicit systems of equations: what files hold and generators make.

use volee_store::checkpoint::Checkpoint;
use volee_system::{Meter, Progress};

use crate::certificate::{CheckError, Nobody, check};
use crate::game::{Built, build};
use crate::graph::{BooleanGraph, Node, Operator, Shape, Sign, Successors, Trouble};
use crate::solve::{How, Solution, SolveError, Solved, solve};

/// An equation: its operator, its block, and its right-hand side as a range of `Explicit::successors`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// How the right-hand side is joined.
    pub operator: Operator,
    /// Its block.
    pub block: u16,
    /// Where its successors end; they begin where those of the row before end.
    end: u64,
}

/// A system of equations, all of it in memory. Variables are numbered from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explicit {
    rows: Vec<Row>,
    successors: Vec<u32>,
    blocks: Vec<Sign>,
    shapes: Vec<Shape>,
    alternation_free: bool,
    main: u32,
}

impl Explicit {
    /// A system with these blocks, outermost first, whose main variable is `main`. Rows are
    /// `(operator, block, right-hand side)`; variables are their positions.
    ///
    /// # Panics
    /// A right-hand side, a block or the main variable does not exist.
    pub fn new(
        blocks: Vec<Sign>,
        main: u32,
        rows: impl IntoIterator<Item = (Operator, u16, Vec<u32>)>,
    ) -> Self {
        let mut system = Explicit {
            rows: Vec::new(),
            successors: Vec::new(),
            shapes: Vec::new(),
            blocks,
            alternation_free: true,
            main,
        };
        for (operator, block, successors) in rows {
            assert!(usize::from(block) < system.blocks.len(), "every row's block exists");
            system.successors.extend(successors);
            system.rows.push(Row { operator, block, end: system.successors.len() as u64 });
        }
        let count = system.rows.len();
        assert!((main as usize) < count, "the main variable has an equation");
        assert!(system.successors.iter().all(|s| (*s as usize) < count), "every variable has an equation");
        system.look();
        system
    }

    /// How many variables there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Never: the main variable exists.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// How many edges there are.
    pub fn edge_count(&self) -> usize {
        self.successors.len()
    }

    /// The main variable.
    pub fn main(&self) -> u32 {
        self.main
    }

    /// The operator and the block of a variable.
    pub fn row(&self, variable: u32) -> Row {
        self.rows[variable as usize]
    }

    /// The right-hand side of a variable.
    pub fn right_hand_side(&self, variable: u32) -> &[u32] {
        let at = variable as usize;
        let begin = if at == 0 { 0 } else { self.rows[at - 1].end as usize };
        &self.successors[begin..self.rows[at].end as usize]
    }

    /// Reads shapes and alternation off the rows.
    fn look(&mut self) {
        let mut disjunctive = vec![true; self.blocks.len()];
        let mut conjunctive = vec![true; self.blocks.len()];
        let mut free = true;
        for (variable, row) in (0u32..).zip(&self.rows) {
            let mut own = 0;
            for successor in self.right_hand_side(variable) {
                let block = self.rows[*successor as usize].block;
                own += u32::from(block == row.block);
                free &= block >= row.block;
            }
            if own > 1 {
                let broken = if row.operator == Operator::And { &mut disjunctive } else { &mut conjunctive };
                broken[usize::from(row.block)] = false;
            }
        }
        let shape = |(disjunctive, conjunctive)| match (disjunctive, conjunctive) {
            (true, _) => Shape::Disjunctive,
            (false, true) => Shape::Conjunctive,
            (false, false) => Shape::Mixed,
        };
        self.shapes = disjunctive.into_iter().zip(conjunctive).map(shape).collect();
        self.alternation_free = free;
    }
}

fn number(place: &[u8]) -> u32 {
    let mut bytes = [0; 4];
    bytes.copy_from_slice(&place[..4]);
    u32::from_le_bytes(bytes)
}

impl Explicit {
    /// Finds the value of the main variable ([`crate::solve()`]).
    ///
    /// # Errors
    /// As there.
    pub fn solve(
        &self,
        how: How<'_>,
        meter: &Meter,
        progress: &mut dyn Progress,
    ) -> Result<Solved, SolveError> {
        solve(&mut &*self, how, meter, progress)
    }

    /// Checks a solution ([`crate::certificate::check`]).
    ///
    /// # Errors
    /// As there.
    pub fn check(&self, solution: &Solution, value: bool, meter: &Meter) -> Result<(), CheckError> {
        check(&mut &*self, solution, value, meter, &mut Nobody)
    }

    /// Explores the equations as a parity game ([`crate::game::build`]).
    ///
    /// # Errors
    /// As there.
    pub fn game(
        &self,
        kept: Option<&Checkpoint>,
        meter: &Meter,
        progress: &mut dyn Progress,
    ) -> Result<Built, SolveError> {
        build(&mut &*self, kept, meter, progress)
    }

    /// Lends the graph to whoever takes any.
    pub fn as_graph<'g>(system: &'g mut &Self) -> &'g mut dyn BooleanGraph {
        system
    }
}

impl BooleanGraph for &Explicit {
    fn root(&mut self) -> Result<(Vec<u8>, Node), Trouble> {
        Ok((self.main.to_le_bytes().to_vec(), 0))
    }

    fn blocks(&self) -> &[Sign] {
        &self.blocks
    }

    fn alternation_free(&self) -> bool {
        self.alternation_free
    }

    fn equation(&self, place: &[u8], _: Node) -> (Operator, u16) {
        let row = self.row(number(place));
        (row.operator, row.block)
    }

    fn successors(&mut self, place: &[u8], _: Node, sink: &mut dyn Successors) -> Result<(), Trouble> {
        for successor in self.right_hand_side(number(place)) {
            if sink.variable(&successor.to_le_bytes(), 0).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn numbered(&self) -> Option<u32> {
        u32::try_from(self.rows.len()).ok()
    }

    fn shape(&self, block: u16) -> Shape {
        self.shapes[usize::from(block)]
    }
}
