//! The path of a depth-first search in little memory, and the successors that wait along it.
//!
//! The search goes in batches of a few states, so the path is a list of *levels*: successors that wait there,
//! and behind them the group of states that were taken from among them and are being explored; their
//! successors are the next level. All are codes of as many bytes as they need, in one array. How many codes
//! of each kind a level has fits into one byte, mostly.
//!
//! A successor waits because it was unknown when it was generated. Until its turn comes it often becomes
//! known by another way, and in dense graphs most of what waits along a long path is such.
//! [`PackedPath::keep_waiting`] drops it early.

use crate::coding::low_bits;

/// A count of a level that does not fit into four bits.
const MANY: u32 = 15;

/// The counts of a level.
#[derive(Debug, Clone, Copy)]
struct Level {
    waiting: u32,
    /// The states taken from it.
    group: u32,
}

pub struct PackedPath {
    /// Bytes by code, and the bits of a word that they are.
    stride: usize,
    mask: u64,
    codes: Vec<u8>,
    /// The counts of all levels but the last, in four bits each.
    counts: Vec<u8>,
    /// Those for which four bits are too few, by the number of the level.
    many: Vec<(u32, Level)>,
    last: Level,
    /// How many states are on the path.
    len: usize,
}

impl PackedPath {
    /// For codes of this many bits. There is one level, and nothing waits there.
    pub fn new(width: u32) -> Self {
        let stride = width.div_ceil(8) as usize;
        PackedPath {
            stride,
            mask: low_bits(8 * stride as u32),
            codes: Vec::new(),
            counts: Vec::new(),
            many: Vec::new(),
            last: Level { waiting: 0, group: 0 },
            len: 0,
        }
    }

    /// How many states are on the path.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// How many levels are before the last.
    pub(crate) fn depth(&self) -> usize {
        self.counts.len()
    }

    pub fn bytes(&self) -> u64 {
        (self.codes.capacity() + self.counts.capacity() + self.many.capacity() * size_of::<(u32, Level)>())
            as u64
    }

    /// What it grows by when this many more codes wait, and a level is entered.
    pub(crate) fn growth(&self, codes: usize) -> u64 {
        let needed = self.codes.len() + codes * self.stride + size_of::<u64>();
        let mut all = needed.saturating_sub(self.codes.capacity());
        if all > 0 {
            all += needed / 8 + 64;
        }
        if self.counts.len() == self.counts.capacity() {
            all += self.counts.len() / 8 + 64;
        }
        if self.many.len() == self.many.capacity() && codes >= MANY as usize {
            all += (self.many.len() / 8 + 64) * size_of::<(u32, Level)>();
        }
        all as u64
    }

    /// What it grows by with codes of this many bits.
    pub(crate) fn growth_to(&self, width: u32) -> u64 {
        let stride = width.div_ceil(8) as usize;
        (self.codes.len() / self.stride * stride + size_of::<u64>()).saturating_sub(self.codes.capacity())
            as u64
    }

    /// Bytes in use, without what is reserved.
    pub(crate) fn used(&self) -> u64 {
        (self.codes.len() + self.counts.len() + self.many.len() * size_of::<(u32, Level)>()) as u64
    }

    /// Makes room for this many codes, as zeroes, to be set from the last to the first; the levels follow.
    pub fn prepare(&mut self, codes: usize) {
        self.codes = vec![0; codes * self.stride];
    }

    /// Sets a code.
    pub fn set(&mut self, index: usize, code: u64) {
        let at = index * self.stride;
        self.codes[at..at + self.stride].copy_from_slice(&code.to_le_bytes()[..self.stride]);
    }

    /// Says how many codes of the last level wait and are on the path, and enters the next one if there are
    /// such.
    pub fn set_level(&mut self, waiting: u32, group: u32) {
        self.last = Level { waiting, group };
        self.len += group as usize;
        if group > 0 {
            self.enter();
        }
    }

    /// Lets a code wait at the last level.
    #[inline]
    pub(crate) fn wait(&mut self, code: u64) {
        self.push(code);
        self.last.waiting += 1;
    }

    /// Puts a code on the path that has not waited.
    pub(crate) fn push_on_path(&mut self, code: u64) {
        self.push(code);
        self.last.group += 1;
        self.len += 1;
    }

    #[inline]
    fn push(&mut self, code: u64) {
        reserve(&mut self.codes, size_of::<u64>());
        // A copy of fixed length is one instruction.
        self.codes.extend_from_slice(&code.to_le_bytes());
        self.codes.truncate(self.codes.len() + self.stride - size_of::<u64>());
    }

    /// The code whose turn it is at the last level. It must then [`PackedPath::join`] the path, or
    /// [`PackedPath::drop_next`] it.
    #[inline]
    pub(crate) fn next(&self) -> Option<u64> {
        (self.last.waiting > 0).then(|| self.code(self.next_index()))
    }

    #[inline]
    fn next_index(&self) -> usize {
        self.codes.len() / self.stride - self.last.group as usize - 1
    }

    /// The codes that come next at the last level, at most this many.
    #[inline]
    pub(crate) fn next_waiting(&self, most: u32) -> impl Iterator<Item = u64> + '_ {
        let count = self.codes.len() / self.stride;
        let count = count - self.last.group as usize;
        (0..self.last.waiting.min(most) as usize).map(move |back| self.code(count - 1 - back))
    }

    /// The next code is on the path from now on.
    #[inline]
    pub(crate) fn join(&mut self) {
        self.last.waiting -= 1;
        self.last.group += 1;
        self.len += 1;
    }

    /// The next code does not wait any more.
    #[inline]
    pub(crate) fn drop_next(&mut self) {
        let at = self.next_index() * self.stride;
        self.last.waiting -= 1;
        self.codes.copy_within(at + self.stride.., at);
        self.codes.truncate(self.codes.len() - self.stride);
    }

    /// Begins a level for the successors of the states that were taken from the last one.
    pub(crate) fn enter(&mut self) {
        let Level { waiting, group } = self.last;
        if waiting >= MANY || group >= MANY {
            reserve(&mut self.many, 1);
            self.many.push((self.counts.len() as u32, self.last));
        }
        reserve(&mut self.counts, 1);
        self.counts.push((waiting.min(MANY) << 4 | group.min(MANY)) as u8);
        self.last = Level { waiting: 0, group: 0 };
    }

    /// Leaves the last level, where nothing waits any more; shows the states that leave the path.
    pub(crate) fn leave(&mut self, mut show: impl FnMut(u64)) {
        let Some(counts) = self.counts.pop() else { return };
        let Level { waiting, group } = self.unfold(counts, self.many.last().copied());
        if self.many.last().is_some_and(|&(number, _)| number as usize == self.counts.len()) {
            self.many.pop();
        }
        let count = self.codes.len() / self.stride;
        (0..group as usize).for_each(|back| show(self.code(count - 1 - back)));
        self.codes.truncate((count - group as usize) * self.stride);
        self.len -= group as usize;
        self.last = Level { waiting, group: 0 };
    }

    /// The states that leave the path with the last level.
    #[inline]
    pub(crate) fn last_group(&self) -> impl DoubleEndedIterator<Item = u64> + '_ {
        let level = self.counts.last().map(|&counts| self.unfold(counts, self.many.last().copied()));
        let group = level.map_or(0, |level| level.group) as usize;
        let end = self.codes.len() / self.stride - self.last.waiting as usize;
        (end - group..end).map(|index| self.code(index))
    }

    /// The counts of a level; they are `many` where four bits are too few.
    #[inline]
    fn unfold(&self, counts: u8, many: Option<(u32, Level)>) -> Level {
        let (waiting, group) = (u32::from(counts >> 4), u32::from(counts) & 15);
        match many {
            Some((_, level)) if waiting == MANY || group == MANY => level,
            _ => Level { waiting, group },
        }
    }

    /// The states of the path: those of the last group from its first on, then those of the one before it,
    /// and so on.
    pub(crate) fn groups(&self) -> impl Iterator<Item = impl Iterator<Item = u64> + '_> + '_ {
        let mut many = self.many.iter().rev().copied().peekable();
        let before = self.counts.iter().enumerate().rev().map(move |(number, &counts)| {
            let many = many.next_if(|&(many, _)| many as usize == number);
            self.unfold(counts, many)
        });
        let mut end = self.codes.len() / self.stride;
        let mut levels = std::iter::once(self.last).chain(before);
        std::iter::from_fn(move || {
            let Level { waiting, group } = levels.next()?;
            let group_end = end;
            end -= (waiting + group) as usize;
            // A state that joins goes before the others.
            Some((0..group as usize).map(move |back| self.code(group_end - 1 - back)))
        })
        .skip_while(|group| group.size_hint().0 == 0)
    }

    /// How many codes wait.
    pub(crate) fn waiting_len(&self) -> u64 {
        (self.codes.len() / self.stride - self.len) as u64
    }

    /// All codes, those that wait and those of the path.
    pub(crate) fn codes(&self) -> impl Iterator<Item = u64> + '_ {
        (0..self.codes.len() / self.stride).map(|index| self.code(index))
    }

    /// Drops those codes that wait and are not to be kept. Shows, beforehand, what will be asked about soon.
    pub(crate) fn keep_waiting(&mut self, soon: impl Fn(u64), mut keep: impl FnMut(u64) -> bool) {
        let (mut read, mut write) = (0, 0);
        let end = self.codes.len() / self.stride;
        let mut many = 0;
        for number in 0..=self.counts.len() {
            let here = self.many.get(many).copied().filter(|&(many, _)| many as usize == number);
            let level = self.counts.get(number).map_or(self.last, |&counts| self.unfold(counts, here));
            let first = write;
            for index in read..read + level.waiting as usize {
                if index + AHEAD < end {
                    soon(self.code(index + AHEAD));
                }
                let code = self.code(index);
                if keep(code) {
                    self.set(write, code);
                    write += 1;
                }
            }
            let waiting = (write - first) as u32;
            read += level.waiting as usize;
            let group = level.group as usize * self.stride;
            let from = read * self.stride;
            self.codes.copy_within(from..from + group, write * self.stride);
            (read, write) = (read + level.group as usize, write + level.group as usize);
            match (self.counts.get_mut(number), here) {
                (None, _) => self.last.waiting = waiting,
                (Some(_), Some(_)) => {
                    self.many[many].1.waiting = waiting;
                    many += 1;
                }
                (Some(counts), None) => *counts = *counts & 15 | (waiting as u8) << 4,
            }
        }
        self.codes.truncate(write * self.stride);
    }

    /// Codes change, and have another width.
    pub(crate) fn recode(&mut self, width: u32, mut map: impl FnMut(u64) -> u64) {
        let mut other = PackedPath::new(width);
        other.codes.reserve_exact(self.codes.len() / self.stride * other.stride);
        self.codes().for_each(|code| other.push(map(code)));
        (self.stride, self.mask, self.codes) = (other.stride, other.mask, other.codes);
    }

    #[inline(always)]
    fn code(&self, index: usize) -> u64 {
        let at = index * self.stride;
        // Eight bytes at once where there are that many: those of the next code are masked away.
        match self.codes.get(at..at + 8).and_then(|bytes| bytes.first_chunk()) {
            Some(bytes) => u64::from_le_bytes(*bytes) & self.mask,
            None => {
                let mut word = [0; 8];
                word[..self.stride].copy_from_slice(&self.codes[at..at + self.stride]);
                u64::from_le_bytes(word)
            }
        }
    }

    /// Gives back most of what is reserved, if much of it is not used.
    #[inline]
    pub(crate) fn give_back(&mut self) {
        if self.codes.len() < self.codes.capacity() / 2 {
            self.shrink();
        }
    }

    /// Gives back most of what is reserved.
    #[cold]
    pub(crate) fn shrink(&mut self) {
        self.shrink_to(64);
    }

    /// Gives back most of what is reserved, but for an eighth of what is used and this many bytes.
    #[cold]
    pub(crate) fn shrink_to(&mut self, left: usize) {
        self.codes.shrink_to(self.codes.len() + self.codes.len() / 8 + left);
    }
}

/// Codes between the one that is shown beforehand and the one that is asked about.
const AHEAD: usize = 16;

/// Makes room for more by an eighth, not by doubling: the budget is tight here.
#[inline]
fn reserve<T>(items: &mut Vec<T>, more: usize) {
    if items.len() + more > items.capacity() {
        items.reserve_exact(items.len() / 8 + 64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix;

    const WIDTH: u32 = 21;

    /// What waits, and who was taken from it.
    type Twin = Vec<(Vec<u64>, Vec<u64>)>;

    fn check(path: &PackedPath, twin: &Twin) {
        let taken: usize = twin.iter().map(|level| level.1.len()).sum();
        let waiting: usize = twin.iter().map(|level| level.0.len()).sum();
        assert_eq!((path.depth(), path.len()), (twin.len() - 1, taken));
        assert_eq!(path.waiting_len(), waiting as u64);
        let groups = twin.iter().rev().map(|level| level.1.clone()).filter(|group| !group.is_empty());
        assert!(path.groups().map(Iterator::collect::<Vec<u64>>).eq(groups));
        let codes = twin.iter().flat_map(|(waiting, group)| waiting.iter().chain(group.iter().rev()));
        assert!(path.codes().eq(codes.copied()));
    }

    /// Takes some of what waits: some of it joins the path.
    fn take(path: &mut PackedPath, twin: &mut Twin, random: u64) {
        let last = twin.last_mut().expect("a level");
        for i in 0..random % 20 {
            let next: Vec<u64> = last.0.iter().rev().copied().take(5).collect();
            assert!(path.next_waiting(5).eq(next));
            assert_eq!(path.next(), last.0.last().copied());
            let Some(code) = last.0.pop() else { break };
            if random >> (8 + i) & 1 == 0 {
                path.drop_next();
            } else {
                path.join();
                last.1.push(code);
            }
        }
    }

    #[test]
    fn levels_come_back_as_they_were_left() {
        let mut path = PackedPath::new(WIDTH);
        let mut twin: Twin = vec![(Vec::new(), Vec::new())];
        for i in 0..6000u64 {
            let random = mix(i);
            let count = if random.is_multiple_of(50) { 400 } else { random >> 40 & 31 };
            let codes: Vec<u64> = (0..count).map(|j| mix(random ^ j) >> (64 - WIDTH)).collect();
            codes.iter().for_each(|&code| path.wait(code));
            twin.last_mut().expect("a level").0.extend(codes);
            take(&mut path, &mut twin, mix(random));
            if random >> 20 & 63 == 0 {
                let known = |code: u64| mix(code ^ i).is_multiple_of(2);
                path.keep_waiting(|_| (), |code| !known(code));
                twin.iter_mut().for_each(|level| level.0.retain(|&code| !known(code)));
            }
            check(&path, &twin);
            if !twin.last().expect("a level").1.is_empty() {
                path.enter();
                twin.push((Vec::new(), Vec::new()));
            }
            for _ in 0..if twin.len() > 40 { 40 } else { random >> 30 & 1 } {
                while path.next().is_some() {
                    path.drop_next();
                }
                twin.pop();
                let Some(last) = twin.last_mut() else { break };
                let mut left = Vec::new();
                path.leave(|code| left.push(code));
                assert_eq!(left, std::mem::take(&mut last.1));
            }
            if twin.is_empty() {
                twin.push((Vec::new(), Vec::new()));
            }
        }
    }
}
