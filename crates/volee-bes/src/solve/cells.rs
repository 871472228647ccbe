//! Cells: what a strategy keeps per variable.
//!
//! A cell is flags, block, and one number that is the position on a stack while the variable is open and the
//! rank once it is decided. It has four bytes as long as all numbers and blocks are small, because there are
//! more cells than anything else and each is looked at for every edge; then eight.

use serde::{Deserialize, Serialize};
use volee_store::{Pieces, prefetch_at};

use crate::graph::Operator;

const MET: u16 = 1;
const VISITED: u16 = 2;
const STABLE: u16 = 4;
const TRUE: u16 = 8;
const CONJUNCTION: u16 = 16;
const FLAG_BITS: u32 = 5;
/// Blocks of which four bytes have room for the number.
const NARROW_BLOCKS: u16 = 4;
/// Where the number begins in four bytes; the largest stands for the largest of all.
const NUMBER: u32 = FLAG_BITS + NARROW_BLOCKS.trailing_zeros();
const MOST_NUMBER: u32 = u32::MAX >> NUMBER;

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

    /// The same, visited at a position.
    #[inline]
    pub fn visited(self, position: u32) -> Self {
        Cell { number: position, flags: self.flags | VISITED, ..self }
    }

    /// The same, decided.
    #[inline]
    pub fn with_value(self, value: bool, rank: u32) -> Self {
        let flags = self.flags | VISITED | STABLE | if value { TRUE } else { 0 };
        Cell { number: rank, flags, ..self }
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

    /// It in four bytes, if there is room for its number and its block.
    #[inline(always)]
    fn narrow(self) -> Option<u32> {
        let number = if self.number == u32::MAX { MOST_NUMBER } else { self.number };
        let fits = self.block < NARROW_BLOCKS && (number < MOST_NUMBER || self.number == u32::MAX);
        let block = u32::from(self.block) << FLAG_BITS;
        fits.then_some(number << NUMBER | block | u32::from(self.flags))
    }

    #[inline(always)]
    fn of_narrow(narrow: u32) -> Self {
        let number = narrow >> NUMBER;
        Cell {
            number: if number == MOST_NUMBER { u32::MAX } else { number },
            block: (narrow >> FLAG_BITS) as u16 & (NARROW_BLOCKS - 1),
            flags: narrow as u16 & ((1 << FLAG_BITS) - 1),
        }
    }
}

/// Cells by the number of their variable: in pieces while they become more, as one where whoever has found the
/// values had them so.
#[derive(Debug, Clone)]
pub(super) enum Cells {
    Narrow(Pieces<u32>),
    Wide(Pieces<Cell>),
    Whole(Vec<Cell>),
}

impl Cells {
    pub fn new() -> Self {
        Cells::Narrow(Pieces::new())
    }

    #[inline(always)]
    pub fn len(&self) -> usize {
        match self {
            Cells::Narrow(pieces) => pieces.len(),
            Cells::Wide(pieces) => pieces.len(),
            Cells::Whole(cells) => cells.len(),
        }
    }

    /// A cell that is there.
    #[inline(always)]
    pub fn get(&self, at: usize) -> Cell {
        match self {
            Cells::Narrow(pieces) => Cell::of_narrow(*pieces.get(at)),
            Cells::Wide(pieces) => *pieces.get(at),
            Cells::Whole(cells) => cells[at],
        }
    }

    /// A cell, if it is there.
    #[inline(always)]
    pub fn known(&self, at: usize) -> Option<Cell> {
        (at < self.len()).then(|| self.get(at))
    }

    /// Changes a cell that is there.
    #[inline(always)]
    pub fn set(&mut self, at: usize, cell: Cell) {
        match self {
            Cells::Narrow(pieces) => match cell.narrow() {
                Some(narrow) => *pieces.get_mut(at) = narrow,
                None => self.widen(at, cell),
            },
            Cells::Wide(pieces) => *pieces.get_mut(at) = cell,
            Cells::Whole(cells) => cells[at] = cell,
        }
    }

    /// Changes a cell that has no room in four bytes.
    #[cold]
    fn widen(&mut self, at: usize, cell: Cell) {
        if let Cells::Narrow(pieces) = self {
            let mut wide = Pieces::new();
            std::mem::replace(pieces, Pieces::new()).consume(|narrow| wide.push(Cell::of_narrow(narrow)));
            *self = Cells::Wide(wide);
        }
        self.set(at, cell);
    }

    /// Adds cells of variables that nobody has met.
    pub fn lengthen(&mut self, len: usize) {
        match self {
            Cells::Narrow(pieces) => pieces.lengthen(len),
            Cells::Wide(pieces) => pieces.lengthen(len),
            Cells::Whole(cells) => cells.resize(len.max(cells.len()), Cell::default()),
        }
    }

    #[inline(always)]
    pub fn prefetch(&self, at: usize) {
        match self {
            Cells::Narrow(pieces) => pieces.prefetch(at),
            Cells::Wide(pieces) => pieces.prefetch(at),
            Cells::Whole(cells) => prefetch_at(cells, at),
        }
    }

    pub fn bytes(&self) -> usize {
        match self {
            Cells::Narrow(pieces) => pieces.bytes(),
            Cells::Wide(pieces) => pieces.bytes(),
            Cells::Whole(cells) => cells.capacity() * size_of::<Cell>(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(one: Cell, other: Cell) -> bool {
        (one.number, one.block, one.flags) == (other.number, other.block, other.flags)
    }

    /// Whatever is put into a cell is read from it, and the others stay as they were, also when one of them has
    /// no room in four bytes.
    #[test]
    fn a_cell_holds_what_was_put_into_it() {
        let numbers = [0, 1, 77, MOST_NUMBER - 1, u32::MAX, MOST_NUMBER, u32::MAX - 1];
        for blocks in [1, NARROW_BLOCKS, NARROW_BLOCKS + 1, u16::MAX] {
            let mut cells = Cells::new();
            let mut twin = Vec::new();
            for number in numbers {
                for (operator, value) in
                    [(Operator::And, None), (Operator::Or, Some(false)), (Operator::And, Some(true))]
                {
                    let cell = Cell::met(operator, blocks - 1).visited(number);
                    let cell = value.map_or(cell, |value| cell.with_value(value, number));
                    assert!(cell.is_met() && cell.value() == value && cell.operator() == operator);
                    assert!(cell.number() == number && cell.block() == blocks - 1);
                    twin.push(cell);
                    cells.lengthen(twin.len());
                    cells.set(twin.len() - 1, cell);
                    assert!(twin.iter().enumerate().all(|(at, &cell)| same(cells.get(at), cell)));
                }
            }
            assert!(matches!(cells, Cells::Wide(_)) && cells.known(twin.len()).is_none());
        }
        let mut small = Cells::new();
        small.lengthen(9);
        small.set(3, Cell::met(Operator::Or, NARROW_BLOCKS - 1).with_value(true, MOST_NUMBER - 1));
        assert!(matches!(small, Cells::Narrow(_)) && !small.get(8).is_met());
    }
}
