//! The pairs on the current path, in few bytes each: the names of both states one behind the other in one
//! buffer, a few numbers that say how far each pair was looked at, and a table to find a pair by its name.
//! What the pairs are steps of is found again when the traversal comes back to them.

use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use hashbrown::HashTable;

use super::sides::Packed;

/// How far a pair was looked at.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Frame {
    start: u32,
    divide: u32,
    /// Which step of the side is being matched, and which answer to it is next.
    pub(super) step: u32,
    pub(super) answer: u32,
    /// Steps of the second side that are matched already, of the first 64.
    pub(super) matched: u64,
    /// The steps of the second side are being matched.
    pub(super) second: bool,
    /// Of an answer that is two pairs the first is known.
    pub(super) half: bool,
    /// Whether some pair below counts on this one being equal.
    pub(super) assumed: bool,
}

/// The path.
pub(super) struct Path {
    names: Vec<u8>,
    frames: Vec<Frame>,
    table: HashTable<u32>,
    hasher: FixedState,
}

/// What a pair takes beside its name: its frame, and its share of a table that is between half and seven
/// eighths full.
pub(super) const OVERHEAD: u64 = size_of::<Frame>() as u64 + 10;

impl Path {
    pub(super) fn new() -> Self {
        Path {
            names: Vec::new(),
            frames: Vec::new(),
            table: HashTable::new(),
            hasher: FixedState::with_seed(17),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.frames.len()
    }

    pub(super) fn bytes(&self) -> u64 {
        self.names.len() as u64 + self.frames.len() as u64 * OVERHEAD
    }

    pub(super) fn top(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("only asked with a path")
    }

    pub(super) fn top_pair(&self) -> (Packed, Packed) {
        let (a, b) = pair(&self.names, self.frames.last().expect("only asked with a path"));
        (a.into(), b.into())
    }

    /// Adds a pair; nothing where the path has more names than can be numbered.
    pub(super) fn push(&mut self, (a, b): &(Packed, Packed)) -> Option<()> {
        let start = u32::try_from(self.names.len()).ok()?;
        let frame = Frame { start, divide: u32::try_from(a.len()).ok()?, ..Frame::default() };
        self.names.extend_from_slice(a);
        self.names.extend_from_slice(b);
        self.frames.push(frame);
        let Path { names, frames, table, hasher } = self;
        let hash = |at: &u32| hasher.hash_one(pair_at(names, frames, *at));
        table.insert_unique(hasher.hash_one((&a[..], &b[..])), frames.len() as u32 - 1, hash);
        Some(())
    }

    pub(super) fn pop(&mut self) -> Frame {
        let (a, b) = self.top_pair();
        let top = self.frames.len() as u32 - 1;
        if let Ok(entry) = self.table.find_entry(self.hasher.hash_one((&a[..], &b[..])), |at| *at == top) {
            entry.remove();
        }
        let frame = self.frames.pop().expect("only asked with a path");
        self.names.truncate(frame.start as usize);
        frame
    }

    /// Finds a pair on the path, and notes that it is counted on.
    pub(super) fn assume(&mut self, (a, b): &(Packed, Packed)) -> bool {
        let Path { names, frames, table, hasher } = self;
        let same = |at: &u32| pair_at(names, frames, *at) == (&a[..], &b[..]);
        let Some(&at) = table.find(hasher.hash_one((&a[..], &b[..])), same) else { return false };
        frames[at as usize].assumed = true;
        true
    }
}

fn pair_at<'n>(names: &'n [u8], frames: &[Frame], at: u32) -> (&'n [u8], &'n [u8]) {
    let end = frames.get(at as usize + 1).map_or(names.len(), |next| next.start as usize);
    let frame = &frames[at as usize];
    names[frame.start as usize..end].split_at(frame.divide as usize)
}

fn pair<'n>(names: &'n [u8], top: &Frame) -> (&'n [u8], &'n [u8]) {
    names[top.start as usize..].split_at(top.divide as usize)
}
