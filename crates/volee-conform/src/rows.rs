//! The steps of states, in as few words as they take.
//!
//! A row has the steps that nobody sees, then those that a tester sees: closures need the ones, what follows
//! a closure the others, and a state may have hundreds of inputs that a closure has no use for. Steps with
//! the same label that come one after the other are a run, the label and how many there are in one word, then
//! the targets; most internal steps of a system share a label.

use volee_store::Pieces;

/// A step: a number of a label, and the state after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SpecEdge {
    pub label: u32,
    pub target: u32,
}

/// Which steps of the specification are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Which {
    All,
    Visible,
    Internal,
}

/// Labels are below this number.
pub(crate) const LABELS: u32 = 1 << (32 - COUNT_BITS);
/// Bits of a word that say how long a run is.
const COUNT_BITS: u32 = 8;
const LONGEST: usize = (1 << COUNT_BITS) - 1;

/// The rows of all states that were expanded.
pub(crate) struct Rows {
    /// Of each row how many words internal steps have, and whether there are others; the internal steps; how
    /// many words the others have; the others. There is a word before the first row.
    words: Pieces<u32>,
    /// How many steps there are.
    pub steps: u64,
}

/// The steps of a row that are still to be read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    at: usize,
    end: usize,
    /// What comes after these.
    then: (usize, usize),
    label: u32,
    /// How many of the run are left.
    left: usize,
}

impl Rows {
    pub fn new() -> Self {
        let mut words = Pieces::new();
        words.push(0);
        Rows { words, steps: 0 }
    }

    /// Adds a row; tells where it begins, which is not 0. `None` where there is no place for it.
    pub fn push(&mut self, internal: &[SpecEdge], visible: &[SpecEdge]) -> Option<u32> {
        let start = self.words.len();
        let (inner, outer) = (words_of(internal), words_of(visible));
        if start + inner + outer >= u32::MAX as usize / 2 {
            return None;
        }
        self.words.push((inner as u32) << 1 | u32::from(outer > 0));
        self.push_runs(internal);
        if outer > 0 {
            self.words.push(outer as u32);
            self.push_runs(visible);
        }
        self.steps += (internal.len() + visible.len()) as u64;
        Some(start as u32)
    }

    fn push_runs(&mut self, steps: &[SpecEdge]) {
        for run in runs(steps) {
            self.words.push(run[0].label << COUNT_BITS | run.len() as u32);
            run.iter().for_each(|edge| self.words.push(edge.target));
        }
    }

    /// The steps of the row that begins there.
    #[inline]
    pub fn row(&self, start: u32, which: Which) -> Row {
        let head = *self.words.get(start as usize);
        let at = start as usize + 1;
        let end = at + (head >> 1) as usize;
        let inner = (at, end);
        let outer = || match head & 1 {
            1 => (end + 1, end + 1 + *self.words.get(end) as usize),
            _ => (end, end),
        };
        let ((at, end), then) = match which {
            Which::Internal => (inner, (0, 0)),
            Which::Visible => (outer(), (0, 0)),
            Which::All => (inner, outer()),
        };
        Row { at, end, then, label: 0, left: 0 }
    }

    /// Reads the next step of a row.
    #[inline]
    pub fn next(&self, row: &mut Row) -> Option<SpecEdge> {
        if row.left == 0 {
            if row.at == row.end {
                (row.at, row.end) = std::mem::take(&mut row.then);
                if row.at == row.end {
                    return None;
                }
            }
            let head = *self.words.get(row.at);
            (row.label, row.left) = (head >> COUNT_BITS, head as usize & LONGEST);
            row.at += 1;
        }
        let target = *self.words.get(row.at);
        row.at += 1;
        row.left -= 1;
        Some(SpecEdge { label: row.label, target })
    }

    /// Bytes in use.
    pub fn memory(&self) -> usize {
        self.words.bytes()
    }
}

fn runs(steps: &[SpecEdge]) -> impl Iterator<Item = &[SpecEdge]> {
    steps.chunk_by(|a, b| a.label == b.label).flat_map(|same| same.chunks(LONGEST))
}

fn words_of(steps: &[SpecEdge]) -> usize {
    runs(steps).count() + steps.len()
}

#[cfg(test)]
mod tests {
    use volee_system::Random;

    use super::*;

    #[test]
    fn rows_come_back_each_part_of_them_and_all() {
        let mut random = Random::new(3);
        let mut rows = Rows::new();
        let mut kept = Vec::new();
        let mut some = |most: u64| -> Vec<SpecEdge> {
            let count = if random.part_of(20) == 0 { 700 } else { random.part_of(most) };
            let edge = |n: u64| SpecEdge { label: (LABELS - 1).min(n as u32 / 300), target: n as u32 };
            (0..count).map(|_| edge(random.part_of(900))).collect()
        };
        for _ in 0..3000 {
            let (internal, visible) = (some(6), some(4));
            let start = rows.push(&internal, &visible).expect("there is room");
            kept.push((start, internal, visible));
        }
        let read = |start, which| {
            let mut row = rows.row(start, which);
            std::iter::from_fn(|| rows.next(&mut row)).collect::<Vec<_>>()
        };
        for (start, internal, visible) in &kept {
            assert!(*start > 0);
            assert_eq!(&read(*start, Which::Internal), internal);
            assert_eq!(&read(*start, Which::Visible), visible);
            assert_eq!(read(*start, Which::All), [&internal[..], visible].concat());
        }
        let steps: usize = kept.iter().map(|(_, internal, visible)| internal.len() + visible.len()).sum();
        assert_eq!(rows.steps, steps as u64);
    }
}
