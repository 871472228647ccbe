//! Remembered steps: what a part of a system did in a state, it does in every state that looks the same to it.
//!
//! A system that makes its steps part by part ([`Divisible`]) tells with them which components they depend on or change.
//! Here the name of a state, masked to these components, is the key; the value is a list of differences between names: a
//! step's target is the state's name with the difference added bit by bit. So a step that is remembered costs a look-up in
//! a small table: no state is unpacked, nothing is evaluated, no component is looked up.
//!
//! Why it is exact. Let M be the components in the mask of a part, at least those that its execution in a state s depends
//! on or changes. In a state t that agrees with s on M the execution is the same and stores the same values; components that
//! it changes had the same values before, so in the name the same bits change; the others it leaves alone, in both. The
//! fields of names and the kinds of records must be those of then: when they change, all is forgotten.
//!
//! A mask grows when an execution depends on more than it has; the part is then another one, with a memory of its own. A
//! part that is nearly never met again is divided further, and in the end left to the system. A step with a fault is not
//! remembered as such but as a reason to ask the system for all steps of the state, as are states without any step: there
//! the system may know of others (a `timeout`).

use std::ops::{BitAnd, BitOr, BitXor};

use volee_store::{Field, Name, Tuple, Tuples, mix};
use volee_system::{Divisible, Fineness, Flow, Part, Step, System};

const FIRST_PLACES: usize = 1 << 8;
/// Entries at most; then all is forgotten.
const MOST_ENTRIES: usize = 1 << 21;
/// Differences that fit into an entry.
const INLINE: usize = 2;
/// The count of an entry that says that the system is to be asked for all steps of the state.
const ASK: u32 = u32::MAX;
/// Of so many look-ups one may be a miss, in a part that pays.
const WORTH: u32 = 4;
/// Expansions after which somebody asks whether remembering pays at all, again and again.
const LONG_TRIAL: u64 = 1 << 16;

/// What names stand for: the name itself, or more bits than a name has.
pub(crate) trait Word:
    Copy + Eq + Default + BitAnd<Output = Self> + BitOr<Output = Self> + BitXor<Output = Self>
{
    fn of(tuples: &Tuples, name: Name) -> Self;
    fn mask(field: Field) -> Self;
    fn number(self, field: Field) -> usize;
    fn hash(self) -> u64;
    fn bits(self) -> u32;

    /// Gives the first `count` of these to `stage`. `None` where one has no name.
    fn stage(words: [Self; INLINE], count: usize, tuples: &mut Tuples, stage: &mut impl Stage) -> Option<()>;
}

impl Word for u64 {
    #[inline(always)]
    fn of(_: &Tuples, name: Name) -> u64 {
        name
    }

    #[inline(always)]
    fn mask(field: Field) -> u64 {
        field.mask() as u64
    }

    #[inline(always)]
    fn number(self, field: Field) -> usize {
        field.of_name(self)
    }

    #[inline(always)]
    fn hash(self) -> u64 {
        self
    }

    fn bits(self) -> u32 {
        self.count_ones()
    }

    #[inline(always)]
    fn stage(words: [u64; INLINE], count: usize, _: &mut Tuples, stage: &mut impl Stage) -> Option<()> {
        stage.up_to_two(words, count);
        Some(())
    }
}

impl Word for Tuple {
    #[inline(always)]
    fn of(tuples: &Tuples, name: Name) -> Tuple {
        tuples.tuple(name)
    }

    #[inline(always)]
    fn mask(field: Field) -> Tuple {
        field.mask()
    }

    #[inline(always)]
    fn number(self, field: Field) -> usize {
        field.of(self)
    }

    #[inline(always)]
    fn hash(self) -> u64 {
        self as u64 ^ ((self >> 64) as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29)
    }

    fn bits(self) -> u32 {
        self.count_ones()
    }

    #[inline(always)]
    fn stage(
        words: [Tuple; INLINE],
        count: usize,
        tuples: &mut Tuples,
        stage: &mut impl Stage,
    ) -> Option<()> {
        for &word in &words[..count] {
            stage.one(tuples.name_of(word)?);
        }
        Some(())
    }
}

/// What a part did where the name, masked, was the key.
#[derive(Debug, Clone, Copy, Default)]
struct Entry<W> {
    key: W,
    /// The number of the part's memory, plus one; 0 is a free place.
    part: u32,
    count: u32,
    /// Where the differences start among all, if there are more than fit here.
    more: u32,
    /// The differences.
    differences: [W; INLINE],
}

/// A part of a record with a certain value.
#[derive(Debug, Clone, Copy)]
struct Remembered<W> {
    part: Part,
    /// The number of the record's value.
    value: u32,
    /// The number of its memory, plus one; 0 for a part that is left to the system.
    memory: u32,
    fineness: Fineness,
    mask: W,
    lookups: u32,
    misses: u32,
}

/// What is remembered, for one layout of names.
#[derive(Debug, Default)]
pub(crate) struct Memo<W> {
    /// Off for good.
    off: bool,
    layout: u64,
    entries: Vec<Entry<W>>,
    len: usize,
    shift: u32,
    differences: Vec<W>,
    /// For each record and the number of its value, where its parts are: the first plus one, and how many.
    values: Vec<Vec<(u32, u32)>>,
    parts: Vec<Remembered<W>>,
    /// For each record that is left to the system, a part that is all of it, plus one.
    left: Vec<u32>,
    /// For each record, misses of its parts so far.
    misses: Vec<u64>,
    memories: u32,
    /// Expansions, and part executions that the system made.
    expansions: u64,
    executions: u64,
    scratch: Vec<Part>,
    targets: Vec<Name>,
}

/// Takes the targets of steps, in order.
pub(crate) trait Stage {
    fn one(&mut self, target: Name);

    /// Takes the first `count` of these; nobody can foresee whether there is one, so that is better not a branch.
    fn up_to_two(&mut self, targets: [Name; INLINE], count: usize);
}

/// What an expansion came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Recalled {
    /// The targets of all steps were given.
    All,
    /// The system is to be asked for all steps.
    Ask,
}

/// A state that is expanded, loaded when somebody asks for it.
struct Loaded<'s, W> {
    name: Name,
    word: W,
    state: &'s mut Vec<u8>,
    done: bool,
}

impl<W> Loaded<'_, W> {
    fn load(&mut self, tuples: &mut Tuples, system: &mut dyn Divisible) {
        if !self.done {
            self.state.clear();
            self.state.extend_from_slice(tuples.load(self.name));
            system.divide(self.state);
            self.done = true;
        }
    }
}

impl<W: Word> Memo<W> {
    /// For a system; it remembers nothing where the system cannot tell what steps depend on.
    pub(crate) fn new<S: System + ?Sized>(system: &mut S) -> Self {
        Memo { off: system.divisible().is_none(), ..Memo::default() }
    }

    /// Whether it is of use.
    #[inline(always)]
    pub(crate) fn is_on(&self) -> bool {
        !self.off
    }

    /// Gives the targets of all steps of a state, in order, to `stage`, unless the system is to be asked. Then what was
    /// given is to be forgotten.
    #[inline]
    pub(crate) fn expand<S: System + ?Sized>(
        &mut self,
        system: &mut S,
        tuples: &mut Tuples,
        (name, state): (Name, &mut Vec<u8>),
        stage: &mut impl Stage,
    ) -> Recalled {
        if self.off {
            return Recalled::Ask;
        }
        match self.expand_parts(system, tuples, (name, state), stage) {
            Some(true) => Recalled::All,
            _ => Recalled::Ask,
        }
    }

    /// Whether there are steps. `None` when the system is to be asked.
    #[inline(always)]
    fn expand_parts<S: System + ?Sized>(
        &mut self,
        system: &mut S,
        tuples: &mut Tuples,
        (name, state): (Name, &mut Vec<u8>),
        stage: &mut impl Stage,
    ) -> Option<bool> {
        if self.layout != tuples.changes() {
            self.forget(tuples);
        }
        self.expansions += 1;
        if self.expansions.is_multiple_of(LONG_TRIAL) {
            // Where most of it is left to the system, the system does it better in one go.
            self.off = self.executions > LONG_TRIAL * 2 / 3 * self.values.len() as u64;
            self.executions = 0;
        }
        let mut loaded = Loaded { name, word: W::of(tuples, name), state, done: false };
        let mut any = false;
        for record in (0..tuples.len() - tuples.fixed()).rev() {
            let value = loaded.word.number(tuples.field(tuples.fixed() + record));
            if value == 0 {
                continue;
            }
            if let Some(at) = (self.left[record] as usize).checked_sub(1) {
                any |= self.execute(system, tuples, at, &mut loaded, stage)?;
                continue;
            }
            let (first, count) = match self.values[record].get(value) {
                Some(&(first, count)) if first != 0 => (first as usize - 1, count as usize),
                _ => self.divide(system, tuples, (record, value), Fineness::Coarse, &mut loaded)?,
            };
            for at in first..first + count {
                any |= self.recall(system, tuples, at, &mut loaded, stage)?;
            }
        }
        Some(any)
    }

    /// The steps of one part; whether there are any. `None` when the system is to be asked for all.
    #[inline(always)]
    fn recall<S: System + ?Sized>(
        &mut self,
        system: &mut S,
        tuples: &mut Tuples,
        at: usize,
        loaded: &mut Loaded<'_, W>,
        stage: &mut impl Stage,
    ) -> Option<bool> {
        let part = &mut self.parts[at];
        if part.memory == 0 {
            return self.execute(system, tuples, at, loaded, stage);
        }
        part.lookups += 1;
        let (key, memory) = (loaded.word & part.mask, part.memory);
        let mask = self.entries.len() - 1;
        let mut place = home(key, memory, self.shift);
        loop {
            let entry = self.entries[place];
            if entry.part == memory && entry.key == key {
                return self.apply(tuples, &entry, loaded.word, stage);
            }
            if entry.part == 0 {
                return self.execute(system, tuples, at, loaded, stage);
            }
            place = (place + 1) & mask;
        }
    }

    #[inline(always)]
    fn apply(&self, tuples: &mut Tuples, entry: &Entry<W>, word: W, stage: &mut impl Stage) -> Option<bool> {
        if entry.count <= INLINE as u32 {
            let [one, other] = entry.differences;
            W::stage([word ^ one, word ^ other], entry.count as usize, tuples, stage)?;
        } else if entry.count == ASK {
            return None;
        } else {
            let differences = &self.differences[entry.more as usize..][..entry.count as usize];
            for &difference in differences {
                W::stage([word ^ difference; INLINE], 1, tuples, stage)?;
            }
        }
        Some(entry.count > 0)
    }

    /// Lets the system make the steps of a part, and remembers them where that may pay.
    #[cold]
    fn execute<S: System + ?Sized>(
        &mut self,
        system: &mut S,
        tuples: &mut Tuples,
        at: usize,
        loaded: &mut Loaded<'_, W>,
        stage: &mut impl Stage,
    ) -> Option<bool> {
        let system = system.divisible()?;
        loaded.load(tuples, system);
        self.executions += 1;
        let part = self.parts[at];
        let (mut touched, mut faulty) = (0, false);
        let recorded = (part.memory != 0).then_some(&mut touched);
        let mut targets = std::mem::take(&mut self.targets);
        targets.clear();
        let flow = system.part_steps(part.part, recorded, &mut |step: Step, target: &[u8]| {
            faulty |= step.fault.is_some() || step.stays;
            targets.push(tuples.name(target));
            if faulty { Flow::Break(()) } else { Flow::Continue(()) }
        });
        faulty |= flow.is_break();
        if part.memory != 0 {
            self.remember(tuples, at, (loaded.word, touched), &targets, faulty);
        }
        if !faulty {
            targets.iter().for_each(|&target| stage.one(target));
        }
        let any = !targets.is_empty();
        self.targets = targets;
        (!faulty).then_some(any)
    }

    fn remember(
        &mut self,
        tuples: &Tuples,
        at: usize,
        (word, touched): (W, u64),
        targets: &[Name],
        faulty: bool,
    ) {
        if tuples.has_waiting() || self.layout != tuples.changes() {
            return;
        }
        let record = usize::from(self.parts[at].part.record);
        self.misses[record] += 1;
        if self.expansions > LONG_TRIAL && self.misses[record] > self.expansions / 2 {
            return self.leave(record);
        }
        let part = &mut self.parts[at];
        part.misses += 1;
        if part.misses > trial(part.mask.bits()) && part.misses > part.lookups / WORTH {
            return self.doubt(at);
        }
        let mask = (0..tuples.len()).filter(|&c| touched >> c & 1 == 1);
        let mask = mask.fold(part.mask, |mask, component| mask | W::mask(tuples.field(component)));
        if mask != part.mask {
            part.mask = mask;
            self.memories += 1;
            part.memory = self.memories;
        }
        let (key, memory) = (word & part.mask, part.memory);
        let mut entry = Entry { key, part: memory, count: targets.len() as u32, ..Entry::default() };
        if faulty {
            entry.count = ASK;
        } else if targets.len() <= INLINE {
            entry
                .differences
                .iter_mut()
                .zip(targets)
                .for_each(|(d, target)| *d = W::of(tuples, *target) ^ word);
        } else {
            entry.more = self.differences.len() as u32;
            self.differences.extend(targets.iter().map(|&target| W::of(tuples, target) ^ word));
        }
        self.put(entry);
        self.len += 1;
        if self.len * 2 > self.entries.len() {
            self.grow();
        }
    }

    /// A record whose values are new more often than not is left to the system.
    fn leave(&mut self, record: usize) {
        let part = Part { record: record as u8, first: 0, last: u16::MAX, partner: None };
        let fineness = Fineness::Coarse;
        self.parts.push(Remembered {
            part,
            value: 0,
            memory: 0,
            fineness,
            mask: W::default(),
            lookups: 0,
            misses: 0,
        });
        self.left[record] = self.parts.len() as u32;
        self.values[record] = Vec::new();
    }

    /// A part that is nearly never met again is divided further, if it can be; otherwise it is left to the system.
    fn doubt(&mut self, at: usize) {
        let Remembered { part, value, fineness, .. } = self.parts[at];
        self.parts[at].memory = 0;
        if fineness == Fineness::Coarse && part.last > part.first + 1 && part.partner.is_none() {
            // The parts of this value are made anew when they are next asked for, as fine as they can be.
            self.values[usize::from(part.record)][value as usize] = (0, 1);
        }
    }

    /// Finds the parts of a value of a record.
    #[cold]
    fn divide<S: System + ?Sized>(
        &mut self,
        system: &mut S,
        tuples: &mut Tuples,
        (record, value): (usize, usize),
        fineness: Fineness,
        loaded: &mut Loaded<'_, W>,
    ) -> Option<(usize, usize)> {
        let system = system.divisible()?;
        loaded.load(tuples, system);
        // A value that was divided before has a count already.
        let doubted = self.values[record].get(value).is_some_and(|&(_, count)| count != 0);
        let fineness = if doubted { Fineness::Fine } else { fineness };
        let (fixed, records) = (tuples.fixed(), tuples.len() - tuples.fixed());
        let kinds = |at: usize| if at < records { tuples.kinds(fixed + at).to_vec() } else { Vec::new() };
        self.scratch.clear();
        system.parts(loaded.state, record as u8, fineness, &kinds, &mut self.scratch);
        system.divide(loaded.state);
        let first = self.parts.len();
        for &part in &self.scratch {
            self.memories += 1;
            let mask = W::mask(tuples.field(fixed + record));
            let memory = self.memories;
            self.parts.push(Remembered {
                part,
                value: value as u32,
                memory,
                fineness,
                mask,
                lookups: 0,
                misses: 0,
            });
        }
        let count = self.parts.len() - first;
        let values = &mut self.values[record];
        if values.len() <= value {
            values.resize(value + 1, (0, 0));
        }
        values[value] = (first as u32 + 1, count as u32);
        Some((first, count))
    }

    fn put(&mut self, entry: Entry<W>) {
        let mask = self.entries.len() - 1;
        let mut place = home(entry.key, entry.part, self.shift);
        while self.entries[place].part != 0 {
            place = (place + 1) & mask;
        }
        self.entries[place] = entry;
    }

    #[cold]
    fn grow(&mut self) {
        if self.len >= MOST_ENTRIES {
            // Parts keep their doubts, but not what they remember.
            self.entries.fill(Entry::default());
            self.differences.clear();
            self.len = 0;
            return;
        }
        let larger = vec![Entry::default(); self.entries.len() * 2];
        self.shift -= 1;
        let old = std::mem::replace(&mut self.entries, larger);
        old.into_iter().filter(|entry| entry.part != 0).for_each(|entry| self.put(entry));
    }

    /// Names are laid out anew, or records have kinds that they had not.
    #[cold]
    fn forget(&mut self, tuples: &Tuples) {
        self.layout = tuples.changes();
        self.entries = vec![Entry::default(); FIRST_PLACES];
        self.shift = 64 - FIRST_PLACES.trailing_zeros();
        self.len = 0;
        self.differences.clear();
        self.parts.clear();
        let records = tuples.len() - tuples.fixed();
        self.values = vec![Vec::new(); records];
        self.misses.resize(records, 0);
        let left = std::mem::take(&mut self.left);
        self.left = vec![0; records];
        (0..left.len()).filter(|&record| left[record] != 0).for_each(|record| self.leave(record));
    }

    /// Gives all memory back and is off for good: where memory is short, states need it more.
    pub(crate) fn close(&mut self) {
        *self = Memo { off: true, ..Memo::default() };
    }

    pub(crate) fn bytes(&self) -> u64 {
        let values: usize = self.values.iter().map(|v| v.capacity() * 8).sum();
        let parts = self.parts.capacity() * size_of::<Remembered<W>>();
        (self.entries.capacity() * size_of::<Entry<W>>() + self.differences.capacity() * 8 + values + parts)
            as u64
    }
}

/// Misses of a part before anybody asks whether it pays: where keys have few bits, they all come back in the end.
fn trial(bits: u32) -> u32 {
    match bits {
        ..=18 => u32::MAX,
        19..=28 => 1 << 15,
        29..=36 => 1 << 10,
        _ => 1 << 7,
    }
}

#[inline(always)]
fn home<W: Word>(key: W, memory: u32, shift: u32) -> usize {
    (mix(key.hash() ^ u64::from(memory) << 40) >> shift) as usize
}
