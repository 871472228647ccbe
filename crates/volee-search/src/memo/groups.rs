//! Records whose steps are remembered together.
//!
//! Where every record is asked for itself, an expansion costs a look-up for each, though most have a step or
//! none. So neighbours are joined, two groups into one, then two of these: the key is the name masked to all
//! that their parts depend on or change, and the value is the differences of all their steps, in order. What is
//! remembered of a group is put together from what is remembered of its parts, so the system is never asked.
//! A group's entry is a line of cache, in a small table in which an entry has one place: who comes later stays.
//!
//! Why it is exact. The mask of an entry has the values of its records, which tell the parts; all that the
//! steps of these parts depend on; and all that they replace. So in a state that agrees on it each part has
//! the steps it had, with the same differences. Where a mask grows, the group is another one, with a memory of
//! its own.
//!
//! How many records make a group is found by trial. One whose entries are not found again, or whose steps do
//! not fit, is divided, and its halves are left apart for a while.

use std::ops::Range;

use volee_store::{Tuples, mix};

use super::{ASK, INLINE, Memo, Word};

/// Steps that have room in an entry.
const MOST: usize = 6;
/// Expansions from one look at how groups do to the next, at least and at most.
const LOOKS: (u64, u64) = (1 << 11, 1 << 12);
const HASTY: u64 = 1 << 3;
/// Entries, at least and at most, and expansions for each.
const ENTRIES: (usize, usize) = (1 << 8, 1 << 13);
const SHARE: u64 = 1 << 6;
/// Of how many expansions one may miss its entry, and where a group is to be joined with another.
const PAYS: u64 = 8;
const GOOD: u64 = 64;
/// Where a group was divided, its halves are left apart until so many times as much was done.
const APART: u64 = 2;
/// Misses that are nothing.
const FEW: u64 = 16;

/// Neighbouring records.
#[derive(Debug, Clone, Copy)]
pub(super) struct Group<W> {
    /// The number of its memory; 0 where each record is asked for itself.
    pub memory: u32,
    pub mask: W,
    low: u16,
    high: u16,
    /// Expansions since the last look that missed their entry, and how many may.
    misses: u64,
    most: u64,
}

impl<W> Group<W> {
    pub fn records(&self) -> Range<usize> {
        usize::from(self.low)..usize::from(self.high)
    }

    fn is_joined(&self) -> bool {
        self.records().len() > 1
    }
}

/// What the records of a group did where the name, masked, was the key.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(64))]
struct Entry<W> {
    key: W,
    /// 0 is a free place.
    memory: u32,
    count: u32,
    differences: [W; MOST],
}

/// All records, in groups, the last first.
#[derive(Debug, Clone, Default)]
pub(super) struct Groups<W> {
    all: Vec<Group<W>>,
    /// A power of two of them, or none.
    entries: Vec<Entry<W>>,
    /// For each record, expansions before which it is not joined with the one before it.
    apart: Vec<u64>,
    /// For each, expansions when that was done.
    joined: Vec<u64>,
    looked: u64,
    pub next_look: u64,
    /// Looks come soon after one another: for those who compare.
    pub is_hasty: bool,
    /// Off for good.
    is_off: bool,
}

impl<W: Word> Groups<W> {
    /// So many records, each for itself unless they were in groups before.
    pub fn reset(&mut self, records: usize, expansions: u64) {
        if self.joined.len() != records {
            self.all = (0..records as u16).rev().map(|record| single(record..record + 1)).collect();
            (self.apart, self.joined) = (vec![0; records + 1], vec![0; records]);
            (self.looked, self.next_look) = (expansions, expansions + self.least_pause());
        }
        self.rename(|_| W::default());
    }

    /// Names are laid out anew, and masks with them.
    pub fn rename(&mut self, mask: impl Fn(W) -> W) {
        self.all.iter_mut().for_each(|group| group.mask = mask(group.mask));
        self.entries.fill(Entry::default());
    }

    /// Gives their memory back; each record is for itself from now on.
    pub fn close(&mut self) {
        *self = Groups { is_off: true, ..Groups::default() };
    }

    fn least_pause(&self) -> u64 {
        if self.is_hasty { HASTY } else { LOOKS.0 }
    }

    /// Whether any records are in a group.
    #[inline(always)]
    pub fn are_joined(&self) -> bool {
        self.all.len() < self.joined.len()
    }

    #[inline(always)]
    pub fn len(&self) -> usize {
        self.all.len()
    }

    #[inline(always)]
    pub fn get(&self, at: usize) -> &Group<W> {
        &self.all[at]
    }

    /// Where the entry of a group is, if there is one.
    #[inline(always)]
    pub fn find(&self, at: usize, word: W) -> Option<usize> {
        let Group { mask, memory, .. } = self.all[at];
        let key = word & mask;
        let place = self.place(key, memory);
        let entry = self.entries.get(place)?;
        (entry.key == key && entry.memory == memory).then_some(place)
    }

    /// The differences of the steps of an entry.
    #[inline(always)]
    pub fn differences(&self, place: usize) -> &[W] {
        let entry = &self.entries[place];
        &entry.differences[..entry.count as usize]
    }

    #[inline(always)]
    fn place(&self, key: W, memory: u32) -> usize {
        let hash = mix(key.hash() ^ u64::from(memory) << 40);
        hash as usize & self.entries.len().wrapping_sub(1)
    }

    /// Whether a record is in a group with others.
    pub fn has(&self, record: usize) -> bool {
        self.all.iter().any(|group| group.memory != 0 && group.records().contains(&record))
    }

    pub fn bytes(&self) -> u64 {
        let all = self.all.capacity() * size_of::<Group<W>>() + self.apart.capacity() * 16;
        (all + self.entries.capacity() * size_of::<Entry<W>>()) as u64
    }
}

fn single<W: Word>(Range { start: low, end: high }: Range<u16>) -> Group<W> {
    Group { memory: 0, mask: W::default(), low, high, misses: 0, most: 0 }
}

impl<W: Word> Memo<W> {
    /// Puts together what the records of a group do in a state and remembers it; where, if that was possible.
    #[cold]
    pub(super) fn compose(&mut self, tuples: &Tuples, at: usize, word: W) -> Option<usize> {
        let group = &mut self.groups.all[at];
        group.misses += 1;
        if group.misses > group.most {
            group.memory = 0;
            return None;
        }
        if tuples.has_waiting() || self.layout != tuples.changes() {
            return None;
        }
        let records = group.records();
        let mut entry = Entry::default();
        let mask = self.gather(tuples, records, word, &mut entry)?;
        let group = &mut self.groups.all[at];
        if group.mask | mask != group.mask {
            self.memories += 1;
            (group.mask, group.memory) = (group.mask | mask, self.memories);
        }
        (entry.key, entry.memory) = (word & group.mask, group.memory);
        let place = self.groups.place(entry.key, entry.memory);
        self.groups.entries[place] = entry;
        Some(place)
    }

    /// The differences of all steps of some records, from the last on, and what they depend on.
    fn gather(&self, tuples: &Tuples, records: Range<usize>, word: W, entry: &mut Entry<W>) -> Option<W> {
        let (mut mask, mut count) = (W::default(), 0);
        for record in records.rev() {
            let field = tuples.field(tuples.fixed() + record);
            mask = mask | W::mask(field);
            for part in &self.parts[self.listed(record, word.number(field))?] {
                mask = mask | part.mask | (W::ALL ^ part.kept);
                let (steps, differences) = match &part.fixed {
                    _ if part.memory == 0 => return None,
                    Some(steps) => (steps.count, &steps.differences),
                    None => self.steps.get(word & part.mask, part.memory)?,
                };
                if steps == ASK || count + steps as usize > MOST {
                    return None;
                }
                let steps = steps as usize;
                let differences = match steps {
                    ..=INLINE => &differences[..steps],
                    _ => &self.differences[differences[0].place()..][..steps],
                };
                for &difference in differences {
                    entry.differences[count] = difference ^ word ^ (word & part.kept);
                    count += 1;
                }
            }
        }
        entry.count = count as u32;
        Some(mask)
    }

    /// Looks how groups do: divides those that do not pay, and joins neighbours that are found nearly always.
    #[cold]
    pub(super) fn look_at_groups(&mut self) {
        let now = self.expansions;
        let pause = (now / 4).clamp(self.groups.least_pause(), LOOKS.1);
        // There is no room for labels in an entry.
        if self.labels.is_some() || self.groups.is_off || self.groups.joined.len() < 2 {
            self.groups.next_look = u64::MAX;
            return;
        }
        let good = FEW + (now - self.groups.looked) / GOOD;
        (self.groups.looked, self.groups.next_look) = (now, now + pause);
        let mut divided = Vec::with_capacity(self.groups.len());
        for group in std::mem::take(&mut self.groups.all) {
            match group.is_joined() && group.memory == 0 {
                true => divided.extend(self.divide_group(&group)),
                false => divided.push(Group { most: FEW + pause / PAYS, ..group }),
            }
        }
        let mut rest = divided.into_iter().peekable();
        while let Some(upper) = rest.next() {
            let is_good = |group: &Group<W>| {
                group.misses <= good && group.records().all(|record| self.records[record].left == 0)
            };
            let may = is_good(&upper) && self.groups.apart[usize::from(upper.low)] <= now;
            let group = match rest.next_if(|lower| may && is_good(lower)) {
                Some(lower) => {
                    self.groups.joined[usize::from(upper.low)] = now;
                    self.group(lower.low..upper.high, FEW + pause / PAYS)
                }
                None => Group { misses: 0, ..upper },
            };
            self.groups.all.push(group);
        }
        let entries = (1 << (now / SHARE).max(1).ilog2()).clamp(ENTRIES.0, ENTRIES.1);
        if self.groups.are_joined() && self.groups.entries.len() < entries {
            self.groups.entries = vec![Entry::default(); entries];
        }
    }

    /// Divides a group where it was joined last; the two are left apart until much more was done.
    fn divide_group(&mut self, group: &Group<W>) -> [Group<W>; 2] {
        let &Group { low, high, most, .. } = group;
        let last_joined = (low + 1..high).max_by_key(|&record| self.groups.joined[usize::from(record)]);
        let middle = last_joined.unwrap_or(low);
        for record in [low, middle, high] {
            self.groups.apart[usize::from(record)] = APART * self.expansions;
        }
        // What was counted while the group answered tells nothing about its parts.
        for part in &mut self.parts {
            if (low..high).contains(&u16::from(part.part.record)) {
                (part.lookups, part.misses) = (0, 0);
            }
        }
        [middle..high, low..middle].map(|records| self.group(records, most))
    }

    /// A group that remembers nothing yet, and may miss so many entries.
    fn group(&mut self, records: Range<u16>, most: u64) -> Group<W> {
        let mut group = single(records);
        if group.is_joined() {
            self.memories += 1;
            (group.memory, group.most) = (self.memories, most);
            let records = group.records();
            for part in self.parts.iter().filter(|part| records.contains(&part.part.record.into())) {
                group.mask = group.mask | part.mask | (W::ALL ^ part.kept);
            }
        }
        group
    }
}
