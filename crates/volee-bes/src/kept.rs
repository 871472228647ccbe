//! The steps of states that are kept: of each a row, with how many steps there are, their targets, and the kinds
//! of their labels.
//!
//! A formula has few action predicates, so that there are few kinds of labels; as long as there are at most
//! sixteen, and no more than some hundred million states, kind and target are one word of four bytes.

use volee_store::Pieces;
use volee_system::Flow;

/// The bits of a word that are the target, where the others are the kind.
const SHIFT: u32 = 28;

/// Where the kinds of labels are.
#[derive(Debug)]
enum Kinds {
    /// There is one.
    One,
    /// In the upper bits of the targets.
    Within,
    /// Beside the targets.
    Beside(Pieces<u16>),
}

/// Rows of steps, by the number of the state.
#[derive(Debug)]
pub(crate) struct Kept {
    /// For each state, where its row begins; 0 where there is none.
    first: Pieces<u32>,
    /// Of each row, how many steps there are, then their targets. A count has no kind.
    words: Pieces<u32>,
    kinds: Kinds,
}

/// A row: where its steps are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    pub begin: usize,
    pub end: usize,
}

impl Kept {
    /// No rows; of labels of one kind where nobody looks at them.
    pub fn new(blind: bool) -> Self {
        // No row begins at 0.
        let mut words = Pieces::new();
        words.push(0);
        Kept { first: Pieces::new(), words, kinds: if blind { Kinds::One } else { Kinds::Within } }
    }

    /// How many states there may be rows of.
    pub fn len(&self) -> usize {
        self.first.len()
    }

    /// Bytes of the steps.
    pub fn size(&self) -> usize {
        self.words.len() * if matches!(self.kinds, Kinds::Beside(_)) { 6 } else { 4 }
    }

    /// Bytes in use.
    pub fn bytes(&self) -> usize {
        let kinds = if let Kinds::Beside(kinds) = &self.kinds { kinds.bytes() } else { 0 };
        self.first.bytes() + self.words.bytes() + kinds
    }

    /// The row of a state.
    #[inline(always)]
    pub fn row(&self, number: u32) -> Option<Row> {
        let known = (number as usize) < self.first.len();
        let first = if known { *self.first.get(number as usize) as usize } else { 0 };
        (first > 0).then(|| Row { begin: first + 1, end: first + 1 + *self.words.get(first) as usize })
    }

    /// The bits of a word that are the target, and by how much it is shifted for the kind.
    #[inline(always)]
    fn split(&self) -> (u32, u32) {
        if matches!(self.kinds, Kinds::Within) { ((1 << SHIFT) - 1, SHIFT) } else { (u32::MAX, u32::BITS) }
    }

    /// The target and the kind of the step at a place of a row.
    #[inline(always)]
    pub fn step(&self, at: usize) -> (u32, u16) {
        let ((low, shift), word) = (self.split(), *self.words.get(at));
        match &self.kinds {
            Kinds::Beside(kinds) => (word, *kinds.get(at)),
            _ => (word & low, (u64::from(word) >> shift) as u16),
        }
    }

    /// The target and the kind of each step of a row, until it is enough.
    #[inline(always)]
    pub fn steps(&self, row: Row, mut push: impl FnMut(u32, u16) -> Flow) -> Flow {
        if let Kinds::Beside(kinds) = &self.kinds {
            return (row.begin..row.end).try_for_each(|at| push(*self.words.get(at), *kinds.get(at)));
        }
        let (low, shift) = self.split();
        for words in self.words.slices(row.begin, row.end) {
            for &word in words {
                push(word & low, (u64::from(word) >> shift) as u16)?;
            }
        }
        Flow::Continue(())
    }

    /// Keeps the row of a state, of targets and kinds; whether there are numbers for it.
    pub fn keep(&mut self, number: u32, steps: &[(u32, u32)]) -> bool {
        let most = steps.iter().map(|step| step.0).max().unwrap_or(0).max(steps.len() as u32);
        let kind = steps.iter().map(|step| step.1).max().unwrap_or(0);
        if self.words.len() + steps.len() >= u32::MAX as usize || kind > u32::from(u16::MAX) {
            return false;
        }
        if matches!(self.kinds, Kinds::Within) && (most >> SHIFT > 0 || kind >> (u32::BITS - SHIFT) > 0) {
            self.part();
        }
        let first = self.words.len() as u32;
        self.words.push(steps.len() as u32);
        match &mut self.kinds {
            Kinds::One => steps.iter().for_each(|step| self.words.push(step.0)),
            Kinds::Within => steps.iter().for_each(|step| self.words.push(step.0 | step.1 << SHIFT)),
            Kinds::Beside(kinds) => {
                kinds.push(0);
                for step in steps {
                    self.words.push(step.0);
                    kinds.push(step.1 as u16);
                }
            }
        }
        self.first.lengthen(number as usize + 1);
        *self.first.get_mut(number as usize) = first;
        true
    }

    /// Puts the kinds beside the targets, because one of both has become too large.
    #[cold]
    fn part(&mut self) {
        let mut kinds = Pieces::new();
        for at in 0..self.words.len() {
            let word = self.words.get_mut(at);
            kinds.push((*word >> SHIFT) as u16);
            *word &= (1 << SHIFT) - 1;
        }
        self.kinds = Kinds::Beside(kinds);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Random rows come back as they were, also after kinds or targets have become too large for one word.
    #[test]
    fn rows_come_back() {
        let mut random = volee_system::Random::new(7);
        let mut below = move |bound: u32| random.below(bound);
        for large in [None, Some((3, 16)), Some((1 << SHIFT, 2)), Some((u32::MAX, 70))] {
            let (mut kept, mut rows) = (Kept::new(false), Vec::new());
            for number in 0..2000 {
                let count = below(6);
                let mut row: Vec<(u32, u32)> = (0..count).map(|_| (below(1 << SHIFT), below(16))).collect();
                row.extend(large.filter(|_| number == 1000));
                assert!(kept.row(number).is_none() && kept.keep(number, &row));
                rows.push(row);
            }
            assert_eq!(matches!(kept.kinds, Kinds::Beside(_)), large.is_some());
            for (row, number) in rows.iter().zip(0..) {
                let place = kept.row(number).expect("it was kept");
                let mut steps = Vec::new();
                let _ = kept.steps(place, |target, kind| {
                    steps.push((target, u32::from(kind)));
                    Flow::Continue(())
                });
                assert_eq!(&steps, row);
                let one = |at| (kept.step(at).0, u32::from(kept.step(at).1));
                assert!((place.begin..place.end).map(one).eq(row.iter().copied()));
            }
            assert!(!kept.keep(2000, &[(0, 1 << 16)]));
        }
    }
}
