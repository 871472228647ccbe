//! The refinable partition: states of a block lie side by side, those to look at again first.
//!
//! After Valmari and Lehtinen 2008; marking a state is a swap, splitting a block moves only what was marked.

use volee_store::large::{with_capacity, zeroes};

use super::History;
use super::signatures::Signatures;

#[derive(Debug, Clone, Copy)]
pub(super) struct Block {
    start: u32,
    end: u32,
    /// `start..marked` are to be looked at again.
    marked: u32,
}

/// A partition of `0..n`.
#[derive(Debug)]
pub(crate) struct Partition {
    elements: Vec<u32>,
    position: Vec<u32>,
    block_of: Vec<u32>,
    blocks: Vec<Block>,
    /// Blocks with marked states, in the order of marking.
    dirty: Vec<u32>,
    history: History,
    scratch: Vec<u32>,
}

/// Which states of a block take part in a split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rest {
    /// All states are marked.
    None,
    /// The states that are not marked belong to group 0.
    InGroupZero,
}

impl Partition {
    /// One block, everything marked.
    pub(super) fn new(states: usize) -> Self {
        let identity = || {
            let mut all = with_capacity(states);
            all.extend(0..states as u32);
            all
        };
        Partition {
            position: identity(),
            elements: identity(),
            block_of: zeroes(states),
            blocks: vec![Block { start: 0, end: states as u32, marked: states as u32 }],
            dirty: vec![0],
            history: History::new(),
            scratch: Vec::new(),
        }
    }

    pub(crate) fn block_of(&self) -> &[u32] {
        &self.block_of
    }

    pub(crate) fn block_count(&self) -> usize {
        self.history.len()
    }

    pub(super) fn take_dirty(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.dirty)
    }

    pub(super) fn size(&self, block: u32) -> usize {
        let b = &self.blocks[block as usize];
        (b.end - b.start) as usize
    }

    pub(super) fn states(&self, block: u32) -> &[u32] {
        let b = &self.blocks[block as usize];
        &self.elements[b.start as usize..b.end as usize]
    }

    pub(super) fn marked(&self, block: u32) -> &[u32] {
        let b = &self.blocks[block as usize];
        &self.elements[b.start as usize..b.marked as usize]
    }

    pub(super) fn unmarked(&self, block: u32) -> &[u32] {
        let b = &self.blocks[block as usize];
        &self.elements[b.marked as usize..b.end as usize]
    }

    pub(super) fn unmark(&mut self, block: u32) {
        let b = &mut self.blocks[block as usize];
        b.marked = b.start;
    }

    pub(super) fn is_marked(&self, state: u32) -> bool {
        self.position[state as usize] < self.blocks[self.block_of[state as usize] as usize].marked
    }

    /// Marks a state to be looked at again; says whether it was not marked before.
    #[inline]
    pub(super) fn mark(&mut self, state: u32) -> bool {
        let block = self.block_of[state as usize];
        let b = &mut self.blocks[block as usize];
        let at = self.position[state as usize];
        if at < b.marked || b.end - b.start == 1 {
            return false;
        }
        if b.marked == b.start {
            self.dirty.push(block);
        }
        let to = b.marked;
        b.marked += 1;
        let other = self.elements[to as usize];
        self.elements[to as usize] = state;
        self.elements[at as usize] = other;
        self.position[state as usize] = to;
        self.position[other as usize] = at;
        true
    }

    /// Splits a block: the group of each marked state is in `groups`, the sizes of the groups in
    /// `signatures`. The largest group keeps the name. Blocks of states are published later, at the end of
    /// the round.
    pub(super) fn split(
        &mut self,
        block: u32,
        groups: &[u32],
        signatures: &Signatures,
        rest: Rest,
        round: u32,
    ) {
        let counts = signatures.counts();
        self.unmark(block);
        if counts.len() < 2 {
            return;
        }
        let Block { start, end, .. } = self.blocks[block as usize];
        let ranges = self.sort_by_group(start, end, groups, counts, rest);
        let largest = (0..counts.len()).rev().max_by_key(|&g| counts[g]).unwrap_or(0);
        for (group, &(start, end)) in ranges.iter().enumerate() {
            let range = Block { start, end, marked: start };
            if group == largest {
                self.blocks[block as usize] = range;
            } else {
                self.blocks.push(range);
                self.history.push(block, round);
            }
        }
    }

    /// Puts the marked states in the order of their groups, group 0 last when the rest belongs to it.
    fn sort_by_group(
        &mut self,
        start: u32,
        end: u32,
        groups: &[u32],
        counts: &[u32],
        rest: Rest,
    ) -> Vec<(u32, u32)> {
        let mut ranges = vec![(0, 0); counts.len()];
        let mut next = start;
        let first = usize::from(rest == Rest::InGroupZero);
        for (group, &count) in counts.iter().enumerate().skip(first) {
            ranges[group] = (next, next + count);
            next += count;
        }
        if rest == Rest::InGroupZero {
            ranges[0] = (next, end);
        }
        let mut cursors: Vec<u32> = ranges.iter().map(|r| r.0).collect();
        self.scratch.clear();
        self.scratch.extend_from_slice(&self.elements[start as usize..start as usize + groups.len()]);
        for (&state, &group) in self.scratch.iter().zip(groups) {
            let to = &mut cursors[group as usize];
            self.elements[*to as usize] = state;
            self.position[state as usize] = *to;
            *to += 1;
        }
        if self.scratch.capacity() > 1 << 20 {
            self.scratch = Vec::new();
        }
        ranges
    }

    /// Splits all blocks at once: the group of each state is in `groups`, and the last word of a signature is
    /// the block that its states are in. Says how many states got another name. Only names are changed: call
    /// [`Partition::arrange`] before marking and splitting again.
    pub(super) fn split_all(&mut self, groups: &[u32], signatures: &Signatures, round: u32) -> usize {
        let names = self.name_groups(signatures, round);
        let mut moved = 0;
        for (block, &group) in self.block_of.iter_mut().zip(groups) {
            let name = names[group as usize];
            moved += usize::from(name != *block);
            *block = name;
        }
        moved
    }

    /// The largest group of each block keeps its name.
    fn name_groups(&mut self, signatures: &Signatures, round: u32) -> Vec<u32> {
        let counts = signatures.counts();
        let parent = |group: usize| signatures.words(group as u32).last().map_or(0, |&w| w as u32);
        let mut largest: Vec<Option<usize>> = vec![None; self.history.len()];
        for group in 0..counts.len() {
            let best = &mut largest[parent(group) as usize];
            if best.is_none_or(|b| counts[group] > counts[b]) {
                *best = Some(group);
            }
        }
        let mut names = Vec::with_capacity(counts.len());
        for group in 0..counts.len() {
            let block = parent(group);
            if largest[block as usize] == Some(group) {
                names.push(block);
            } else {
                names.push(self.history.len() as u32);
                self.history.push(block, round);
            }
        }
        names
    }

    /// Puts the states of each block side by side again, nothing marked.
    pub(super) fn arrange(&mut self) {
        self.blocks.clear();
        self.blocks.resize(self.history.len(), Block { start: 0, end: 0, marked: 0 });
        for &block in &self.block_of {
            self.blocks[block as usize].end += 1;
        }
        let mut next = 0;
        for block in &mut self.blocks {
            let size = block.end;
            *block = Block { start: next, end: next, marked: next };
            next += size;
        }
        for (state, &block) in self.block_of.iter().enumerate() {
            let end = &mut self.blocks[block as usize].end;
            self.elements[*end as usize] = state as u32;
            self.position[state] = *end;
            *end += 1;
        }
        self.dirty.clear();
    }

    /// Names the blocks made since `first` to their states.
    pub(super) fn publish(&mut self, first: usize) {
        for (name, b) in self.blocks.iter().enumerate().skip(first) {
            for &state in &self.elements[b.start as usize..b.end as usize] {
                self.block_of[state as usize] = name as u32;
            }
        }
    }

    /// The block that a block was split from.
    pub(super) fn parent(&self, block: u32) -> u32 {
        self.history.parent(block)
    }

    /// Gives away the map from states to blocks, and the history.
    pub(crate) fn into_parts(self) -> (Vec<u32>, History) {
        (self.block_of, self.history)
    }
}
