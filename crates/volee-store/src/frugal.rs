//! One path and what else was visited, in a fixed number of bytes, for states that have no short names.
//!
//! Jard and Jéron 1991, section 2: only the path must be kept. Here a state costs what tells it from a
//! neighbour, a few bytes, however long it is. States are in *blocks*, one after the other, each as its
//! difference from the one beside it ([`difference`]). A block of the path can be read from its last state
//! backwards, so that leaving a state is reading one difference; a block of visited states from its first
//! state on, which is written out. An [`Index`] tells for two bytes of a state's hash in which block it may
//! be; whether it is there, the block itself tells. So what is said to be known is known: nothing is taken
//! for something else.
//!
//! When there is no more room a block of visited states, chosen at random, is *thinned*: of each two
//! neighbours one is forgotten, one that was not met again if the other was, otherwise either. What is left
//! goes to a block of such remains. Long chains of states thus keep members at even distances, and whoever
//! comes upon a chain again is soon at one that is known. Whole blocks would leave long gaps, and chains are
//! what paths with long channels are made of.
//!
//! All that is held is counted, and room is made before something grows.

mod difference;
mod entries;
mod index;

use crate::sketch::hash_state;
use crate::table::Turnover;
use difference::{MARK, apply, number, read, write};
use entries::{end_entry, last_entry};
use index::Index;

/// The fewest bytes of a block.
const SMALLEST: usize = 256;
/// Blocks of the fewest bytes are so large that there are at most so many.
const MOST: u64 = 1 << 15;
/// A block has room for so many states that are written out.
const STATES: usize = 6;
/// What an allocation takes beside its bytes.
const OVERHEAD: usize = 16;

/// States, each as its difference from one beside it.
#[derive(Default)]
struct Block {
    bytes: Vec<u8>,
    /// What it was when it was last known what it is.
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Kind {
    #[default]
    Free,
    /// On the path; what it begins with, if anything, is the last state of the block before it.
    Path {
        states: u32,
    },
    Visited,
}

/// The block at whose end states are put, and the last of them.
#[derive(Default)]
struct Stream {
    block: Option<u16>,
    last: Vec<u8>,
}

/// See the head of this file.
pub struct Frugal {
    blocks: Vec<Block>,
    free: Vec<u16>,
    path: Vec<u16>,
    /// Visited blocks that are full.
    full: Vec<u16>,
    /// What left the path last, and what was left of blocks that were thinned.
    fresh: Stream,
    remains: Stream,
    index: Index,
    /// The last state of the path, and the number of its next step.
    current: Vec<u8>,
    next: u32,
    depth: usize,
    budget: u64,
    block_bytes: u64,
    largest: usize,
    peak: u64,
    seed: u64,
    pub turnover: Turnover,
    read: Vec<u8>,
    other: Vec<u8>,
    written: Vec<u8>,
    tried: Vec<u8>,
}

impl Frugal {
    /// A store of at most this many bytes.
    pub fn new(budget: u64, seed: u64) -> Self {
        Frugal {
            // The number 0 is no block.
            blocks: vec![Block::default()],
            free: Vec::new(),
            path: Vec::new(),
            full: Vec::new(),
            fresh: Stream::default(),
            remains: Stream::default(),
            index: Index::new(Index::FEWEST),
            current: Vec::new(),
            next: 0,
            depth: 0,
            budget,
            block_bytes: 0,
            largest: SMALLEST,
            peak: 0,
            seed,
            turnover: Turnover::default(),
            read: Vec::new(),
            other: Vec::new(),
            written: Vec::new(),
            tried: Vec::new(),
        }
    }

    /// The last state of the path.
    pub fn last(&self) -> Option<&[u8]> {
        (self.depth > 0).then_some(&self.current[..])
    }

    /// How many states are on the path.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// The number of the next step of the last state.
    pub fn next_step(&mut self) -> &mut u32 {
        &mut self.next
    }

    /// How many states are kept.
    pub fn len(&self) -> u64 {
        self.index.len() as u64
    }

    /// Bytes in use.
    pub fn bytes(&self) -> u64 {
        let buffers = [&self.fresh.last, &self.remains.last, &self.current, &self.read, &self.other];
        let buffers = buffers.into_iter().chain([&self.written, &self.tried]);
        let numbers = self.free.capacity() + self.path.capacity() + self.full.capacity();
        self.block_bytes
            + buffers.map(|buffer| buffer.capacity() as u64).sum::<u64>()
            + (self.blocks.capacity() * size_of::<Block>() + numbers * size_of::<u16>()) as u64
            + Index::bytes_of(self.index.lines())
    }

    /// The bytes that the path of one short state takes.
    pub fn least(&self) -> u64 {
        self.bytes() + self.reserve() + (SMALLEST + OVERHEAD + self.growth()) as u64
    }

    /// The most bytes that were in use.
    pub fn peak(&self) -> u64 {
        self.peak.max(self.bytes())
    }

    /// Whether a state is known. That it was met again is noted.
    pub fn knows(&mut self, state: &[u8]) -> bool {
        let hash = hash_state(state);
        let known = self.find(hash, state);
        self.turnover.hits += u64::from(known);
        known
    }

    fn find(&mut self, hash: u64, state: &[u8]) -> bool {
        let mut looked = 0;
        // The same block may be told twice; that is rare, and looking twice does no harm.
        let candidates: [u16; 32] = {
            let mut all = [0; 32];
            for block in self.index.blocks(hash) {
                all[looked] = block;
                looked += 1;
            }
            all
        };
        candidates[..looked].iter().any(|&block| match self.blocks[usize::from(block)].kind {
            Kind::Free => false,
            Kind::Path { .. } => self.is_on_path(block, state),
            Kind::Visited => self.is_visited(block, state),
        })
    }

    fn is_visited(&mut self, block: u16, state: &[u8]) -> bool {
        let bytes = &mut self.blocks[usize::from(block)].bytes;
        self.read.clear();
        let mut at = 0;
        while at < bytes.len() {
            let start = at;
            at += apply(&mut self.read, &bytes[at..]);
            if self.read == state {
                bytes[start] |= MARK;
                return true;
            }
        }
        false
    }

    fn is_on_path(&mut self, block: u16, state: &[u8]) -> bool {
        let mut read = std::mem::take(&mut self.read);
        self.last_of(block, &mut read);
        let mut found = false;
        self.backwards(block, &mut read, |read| {
            found = read == state;
            !found
        });
        self.read = read;
        found
    }

    /// The last state of a block of the path.
    fn last_of(&self, block: u16, state: &mut Vec<u8>) {
        state.clear();
        let at = self.path.iter().rposition(|&other| other == block).unwrap_or_default();
        match self.path.get(at + 1) {
            Some(&above) => _ = apply(state, &self.blocks[usize::from(above)].bytes),
            None => state.extend_from_slice(&self.current),
        }
    }

    /// Reads the states of a block of the path from its last one, which is in the buffer, as long as it is
    /// told to.
    fn backwards(&self, block: u16, state: &mut Vec<u8>, mut goes_on: impl FnMut(&[u8]) -> bool) {
        let block = &self.blocks[usize::from(block)];
        let Kind::Path { states } = block.kind else { return };
        let mut end = block.bytes.len();
        for _ in 0..states {
            if !goes_on(state) {
                return;
            }
            let (start, length) = last_entry(&block.bytes[..end]);
            let mut at = start;
            read(&block.bytes, &mut at);
            apply(state, &block.bytes[at..start + length]);
            end = start;
        }
    }

    /// Puts a state on the path, one that is not known. `None` when there is no room.
    pub fn enter(&mut self, state: &[u8]) -> Option<()> {
        let hash = hash_state(state);
        let mut entry = std::mem::take(&mut self.written);
        entry.clear();
        number(u64::from(self.next), &mut entry);
        if self.depth == 0 {
            self.current.clear();
        }
        write(state, &self.current, &mut entry, &mut self.tried);
        end_entry(&mut entry);
        let block = self.block_for(&entry);
        if let Some(block) = block {
            let block = &mut self.blocks[usize::from(block)];
            block.bytes.extend_from_slice(&entry);
            if let Kind::Path { states } = &mut block.kind {
                *states += 1;
            }
        }
        self.written = entry;
        let block = block?;
        self.current.clear();
        self.current.extend_from_slice(state);
        (self.next, self.depth) = (0, self.depth + 1);
        self.turnover.insertions += 1;
        self.put_in_index(hash, block)
    }

    /// A block of the path with room for an entry.
    fn block_for(&mut self, entry: &[u8]) -> Option<u16> {
        if let Some(&last) = self.path.last() {
            let bytes = &self.blocks[usize::from(last)].bytes;
            if bytes.len() + entry.len() <= bytes.capacity() {
                return Some(last);
            }
        }
        let mut first = Vec::new();
        if self.depth > 0 {
            write(&[], &self.current, &mut first, &mut self.tried);
        }
        let size = self.size_for(first.len() + entry.len());
        let room = size + first.len() + self.growth();
        self.make_room(room as u64)?;
        let block = self.new_block(size, Kind::Path { states: 0 })?;
        self.blocks[usize::from(block)].bytes.extend_from_slice(&first);
        push(&mut self.path, block);
        Some(block)
    }

    /// A state of the path must be in the index, which may have to grow for it.
    fn put_in_index(&mut self, hash: u64, block: u16) -> Option<()> {
        while self.index.is_full() && !self.grow_index() {
            self.thin().then_some(())?;
        }
        while !self.index.add(hash, block) {
            if !self.grow_index() {
                return self.displace(hash, block).then_some(());
            }
            // What was there is there again, and what is on the path is there already.
            if self.index.has(hash, block) {
                break;
            }
        }
        Some(())
    }

    /// Puts a state of the path in the place of a visited one.
    fn displace(&mut self, hash: u64, block: u16) -> bool {
        let chosen = self.random();
        let blocks = &self.blocks;
        let displaced = self
            .index
            .displace(hash, block, chosen, |other| blocks[usize::from(other)].kind == Kind::Visited);
        self.turnover.replaced += u64::from(displaced);
        displaced
    }

    /// Makes the index larger by a quarter or more, if there is room.
    fn grow_index(&mut self) -> bool {
        let mut lines = self.index.lines();
        loop {
            lines += lines / 4 + 1;
            let more = Index::bytes_of(lines).saturating_sub(Index::bytes_of(self.index.lines()));
            if self.bytes() + more + self.reserve() > self.budget {
                return false;
            }
            let before = self.index.len();
            if self.fill_index(lines) {
                self.turnover.replaced += before.saturating_sub(self.index.len()) as u64;
                return true;
            }
        }
    }

    /// Makes an index of this many lines of what is in the blocks; whether the path had a place in it.
    fn fill_index(&mut self, lines: usize) -> bool {
        // The old one and the new one are never there at once.
        self.index = Index::new(0);
        self.index = Index::new(lines);
        let mut state = std::mem::take(&mut self.read);
        let mut all = true;
        for at in 0..self.path.len() {
            let block = self.path[at];
            let mut index = std::mem::replace(&mut self.index, Index::new(0));
            self.last_of(block, &mut state);
            self.backwards(block, &mut state, |state| {
                all &= index.add(hash_state(state), block);
                all
            });
            self.index = index;
        }
        for block in 1..self.blocks.len() {
            if self.blocks[block].kind != Kind::Visited {
                continue;
            }
            state.clear();
            let mut at = 0;
            while at < self.blocks[block].bytes.len() {
                at += apply(&mut state, &self.blocks[block].bytes[at..]);
                self.index.add(hash_state(&state), block as u16);
            }
        }
        self.read = state;
        all
    }

    /// Leaves the last state of the path; it may be forgotten from now on.
    pub fn leave(&mut self) {
        let Some(&block) = self.path.last() else { return };
        let hash = hash_state(&self.current);
        let state = std::mem::take(&mut self.current);
        let kept = self.append(&state, hash, block);
        if !kept {
            self.index.remove(hash, block);
            self.turnover.replaced += 1;
        }
        self.current = state;
        let bytes = &mut self.blocks[usize::from(block)].bytes;
        let (start, length) = last_entry(bytes);
        let mut at = start;
        self.next = read(bytes, &mut at) as u32;
        apply(&mut self.current, &bytes[at..start + length]);
        bytes.truncate(start);
        self.depth -= 1;
        if let Kind::Path { states } = &mut self.blocks[usize::from(block)].kind {
            *states -= 1;
            if *states == 0 {
                self.free_block(block);
                self.path.pop();
            }
        }
    }

    /// Puts a state that leaves this block of the path at the end of the visited ones; whether there was room.
    fn append(&mut self, state: &[u8], hash: u64, before: u16) -> bool {
        let mut stream = std::mem::take(&mut self.fresh);
        let mut block = self.stream_block(&mut stream, state);
        if block.is_none() {
            let size = self.size_for(state.len() + 16);
            if self.make_room((size + self.growth()) as u64).is_some() {
                block = self.new_stream_block(&mut stream, state, size);
            }
        }
        self.fresh = stream;
        block.is_some_and(|block| self.index.moved(hash, before, block))
    }

    /// Writes a state at the end of a stream, if its block has room.
    fn stream_block(&mut self, stream: &mut Stream, state: &[u8]) -> Option<u16> {
        let block = stream.block?;
        self.written.clear();
        write(&stream.last, state, &mut self.written, &mut self.tried);
        let bytes = &mut self.blocks[usize::from(block)].bytes;
        if bytes.len() + self.written.len() > bytes.capacity() {
            return None;
        }
        bytes.extend_from_slice(&self.written);
        stream.last.clear();
        stream.last.extend_from_slice(state);
        Some(block)
    }

    /// Begins a new block of a stream with a state. There must be room.
    fn new_stream_block(&mut self, stream: &mut Stream, state: &[u8], size: usize) -> Option<u16> {
        let block = self.new_block(size, Kind::Visited)?;
        if let Some(full) = stream.block.replace(block) {
            push(&mut self.full, full);
        }
        stream.last.clear();
        stream.last.extend_from_slice(state);
        write(&[], state, &mut self.blocks[usize::from(block)].bytes, &mut self.tried);
        Some(block)
    }

    /// How large a block is made that begins with this many bytes.
    fn size_for(&self, bytes: usize) -> usize {
        (STATES * bytes).max(SMALLEST).max((self.budget / MOST) as usize)
    }

    fn new_block(&mut self, size: usize, kind: Kind) -> Option<u16> {
        let block = match self.free.pop() {
            Some(block) => block,
            None => {
                let block = u16::try_from(self.blocks.len()).ok()?;
                push(&mut self.blocks, Block::default());
                block
            }
        };
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(size).ok()?;
        self.block_bytes += (bytes.capacity() + OVERHEAD) as u64;
        self.largest = self.largest.max(bytes.capacity());
        self.blocks[usize::from(block)] = Block { bytes, kind };
        self.peak = self.peak.max(self.bytes());
        Some(block)
    }

    fn free_block(&mut self, block: u16) {
        let freed = std::mem::take(&mut self.blocks[usize::from(block)]);
        self.block_bytes -= (freed.bytes.capacity() + OVERHEAD) as u64;
        push(&mut self.free, block);
    }

    /// What the lists of blocks may grow by with one block more.
    fn growth(&self) -> usize {
        let grown = |len: usize, size: usize| (len / 8 + 8) * size;
        grown(self.blocks.len(), size_of::<Block>()) + 3 * grown(self.blocks.len(), size_of::<u16>())
    }

    /// What is left for a block that is thinned, whose remains are beside it for a moment, and for buffers,
    /// which grow with states.
    fn reserve(&self) -> u64 {
        (2 * self.largest + OVERHEAD) as u64
    }

    fn make_room(&mut self, bytes: u64) -> Option<()> {
        while self.bytes() + bytes + self.reserve() > self.budget {
            self.thin().then_some(())?;
        }
        Some(())
    }

    fn random(&mut self) -> usize {
        self.seed = self.seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        crate::hash::mix(self.seed) as usize >> 1
    }

    /// Forgets half of the states of a block; whether there was one.
    fn thin(&mut self) -> bool {
        let chosen = match self.full.len() {
            0 => match self.remains.block.take().or_else(|| self.fresh.block.take()) {
                Some(block) => block,
                None => return false,
            },
            count => {
                let chosen = self.random() % count;
                self.full.swap_remove(chosen)
            }
        };
        let bytes = std::mem::take(&mut self.blocks[usize::from(chosen)].bytes);
        let mut stream = std::mem::take(&mut self.remains);
        let (mut state, mut before) = (std::mem::take(&mut self.read), std::mem::take(&mut self.other));
        state.clear();
        let mut waiting: Option<(u64, bool)> = None;
        let mut at = 0;
        while at < bytes.len() {
            let marked = bytes[at] & MARK != 0;
            at += apply(&mut state, &bytes[at..]);
            let hash = hash_state(&state);
            if !self.index.has(hash, chosen) {
                continue;
            }
            let Some((other, other_marked)) = waiting.take() else {
                before.clear();
                before.extend_from_slice(&state);
                waiting = Some((hash, marked));
                continue;
            };
            let stays = if marked == other_marked { self.random() & 1 == 0 } else { marked };
            let (kept, forgotten) = if stays { (hash, other) } else { (other, hash) };
            self.forget(forgotten, chosen);
            if !self.remain(&mut stream, if stays { &state } else { &before }, kept, chosen) {
                self.forget(kept, chosen);
            }
        }
        if let Some((hash, _)) = waiting {
            self.forget(hash, chosen);
        }
        (self.read, self.other, self.remains) = (state, before, stream);
        self.blocks[usize::from(chosen)].bytes = bytes;
        self.free_block(chosen);
        true
    }

    fn forget(&mut self, hash: u64, block: u16) {
        self.index.remove(hash, block);
        self.turnover.replaced += 1;
    }

    /// Moves a state from a block that is thinned to the remains; whether it is there now.
    fn remain(&mut self, stream: &mut Stream, state: &[u8], hash: u64, before: u16) -> bool {
        let block = self.stream_block(stream, state).or_else(|| {
            let size = self.size_for(state.len() + 16).min(self.largest);
            self.new_stream_block(stream, state, size)
        });
        block.is_some_and(|block| self.index.moved(hash, before, block))
    }

    /// The numbers of the steps that were taken along the path, from its last state: for each state the
    /// number of its next step.
    pub fn steps(&self) -> Vec<u32> {
        let mut steps = vec![self.next];
        for &block in self.path.iter().rev() {
            let block = &self.blocks[usize::from(block)];
            let Kind::Path { states } = block.kind else { continue };
            let mut end = block.bytes.len();
            for _ in 0..states {
                let (mut start, _) = last_entry(&block.bytes[..end]);
                end = start;
                steps.push(read(&block.bytes, &mut start) as u32);
            }
        }
        steps.truncate(self.depth);
        steps
    }
}

/// Adds to a list, which does not grow by doubling: what it reserves, states do not have.
fn push<T>(list: &mut Vec<T>, item: T) {
    if list.len() == list.capacity() {
        list.reserve_exact(list.len() / 8 + 8);
    }
    list.push(item);
}

#[cfg(test)]
mod tests;
