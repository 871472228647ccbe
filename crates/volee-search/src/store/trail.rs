//! The path of a depth-first search in little memory, and the successors that wait along it.
//!
//! The names of the path are in the table of the bounded store anyway; here are their places, four bytes each. Waiting
//! successors are codes of as many bytes as they need. Neither has counters: one bit of a place says that successors of
//! this state wait, and one bit of a code that it is the first of its state.

/// A place in the table: line times places by line, plus the place in the line; below 2^31.
pub(super) type Slot = u32;

const SOME_WAIT: u32 = 1 << 31;

#[derive(Default)]
pub(super) struct Trail {
    slots: Vec<u32>,
    waiting: Vec<u8>,
}

impl Trail {
    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    pub(super) fn bytes(&self) -> u64 {
        (self.slots.capacity() * size_of::<u32>() + self.waiting.capacity()) as u64
    }

    pub(super) fn push(&mut self, slot: Slot) {
        reserve(&mut self.slots, 1);
        self.slots.push(slot);
    }

    /// Removes the last state. Its successors no longer wait by then.
    pub(super) fn pop(&mut self) -> Option<Slot> {
        self.slots.pop()
    }

    pub(super) fn slots(&self) -> impl Iterator<Item = Slot> + '_ {
        self.slots.iter().map(|slot| slot & !SOME_WAIT)
    }

    /// A state of the path has another place from now on.
    pub(super) fn move_slot(&mut self, index: usize, slot: Slot) {
        self.slots[index] = self.slots[index] & SOME_WAIT | slot;
    }

    /// Lets a code of so many bits wait for the last state.
    pub(super) fn wait(&mut self, code: u64, width: u32) {
        let Some(top) = self.slots.last_mut() else { return };
        let first = *top & SOME_WAIT == 0;
        *top |= SOME_WAIT;
        self.push_code(code, first, width);
    }

    /// Takes a code that waits for the last state.
    pub(super) fn take_waiting(&mut self, width: u32) -> Option<u64> {
        let top = self.slots.last_mut().filter(|top| **top & SOME_WAIT != 0)?;
        let start = self.waiting.len() - stride(width);
        let (code, first) = decode(&self.waiting[start..]);
        self.waiting.truncate(start);
        if first {
            *top &= !SOME_WAIT;
        }
        Some(code)
    }

    pub(super) fn waiting_len(&self, width: u32) -> u64 {
        (self.waiting.len() / stride(width)) as u64
    }

    /// All codes that wait, each with whether it is the first of its state.
    pub(super) fn waiting(&self, width: u32) -> impl Iterator<Item = (u64, bool)> + '_ {
        self.waiting.chunks_exact(stride(width)).map(decode)
    }

    /// Codes change, and have another width.
    pub(super) fn recode(&mut self, from: u32, to: u32, map: impl Fn(u64) -> Option<u64>) {
        let old = std::mem::take(&mut self.waiting);
        for (code, first) in old.chunks_exact(stride(from)).map(decode) {
            self.push_code(map(code).unwrap_or(0), first, to);
        }
    }

    fn push_code(&mut self, code: u64, first: bool, width: u32) {
        let bytes = stride(width);
        reserve(&mut self.waiting, bytes);
        let word = u128::from(code) << 1 | u128::from(first);
        self.waiting.extend_from_slice(&word.to_le_bytes()[..bytes]);
    }
}

/// Bytes by code: its bits, and one.
fn stride(width: u32) -> usize {
    (width as usize + 1).div_ceil(8)
}

fn decode(bytes: &[u8]) -> (u64, bool) {
    let mut word = [0; 16];
    word[..bytes.len()].copy_from_slice(bytes);
    let word = u128::from_le_bytes(word);
    ((word >> 1) as u64, word & 1 == 1)
}

/// Makes room for more by an eighth, not by doubling: the budget is tight here.
fn reserve<T>(items: &mut Vec<T>, more: usize) {
    if items.len() + more > items.capacity() {
        items.reserve_exact(items.len() / 8 + 64);
    }
}
