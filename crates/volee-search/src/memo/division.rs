//! Which parts a record is divided into: as few as pay, and what does not pay is left to the system.

use volee_store::Tuples;
use volee_system::{Divisible, Fineness, Part, System};

use super::part::{Doubt, Remembered, WORTH};
use super::{LEAST_TRIAL, Loaded, Memo, Word};

impl<W: Word> Memo<W> {
    /// Leaves parts that are met again too rarely to the system, and forgets all; whether there are such.
    #[cold]
    pub(super) fn leave_what_does_not_pay(&mut self) -> bool {
        let mut any = false;
        for part in &mut self.parts {
            if self.groups.has(usize::from(part.part.record)) {
                continue;
            }
            if part.memory != 0 && part.misses > LEAST_TRIAL && part.misses > part.lookups / WORTH {
                part.give_up();
                any = true;
            }
        }
        if any {
            self.steps.clear();
            self.forget_differences();
        }
        any
    }

    /// A record whose values are new more often than not is left to the system.
    pub(super) fn leave(&mut self, record: usize) {
        let part = Part { record: record as u8, first: 0, last: u16::MAX, partner: None };
        self.parts.push(Remembered::new(part, 0, 0, W::default()));
        self.records[record].left = self.parts.len() as u32;
        self.records[record].values = Vec::new();
    }

    /// Divides a part into two, near its middle, if it can be: each depends on less, and is met again more
    /// often.
    #[cold]
    pub(super) fn split(
        &mut self,
        system: &mut dyn Divisible,
        tuples: &Tuples,
        at: usize,
        loaded: &mut Loaded<'_, W>,
    ) {
        let Remembered { part, value, .. } = self.parts[at];
        let (record, value) = (usize::from(part.record), value as usize);
        self.ask_for_parts(system, record, Fineness::Fine, loaded);
        let middle = part.first / 2 + part.last / 2;
        let starts = self.scratch.iter().filter(|p| p.partner.is_none()).map(|p| p.first);
        let inside = starts.filter(|&first| part.first < first && first < part.last);
        let Some(cut) = inside.min_by_key(|first| first.abs_diff(middle)) else {
            self.memories += 1;
            (self.parts[at].doubt, self.parts[at].memory) = (Doubt::Settled, self.memories);
            return;
        };
        self.parts[at].doubt = Doubt::None;
        // The parts of the value may have been listed anew since, or left to the system.
        let Some(listed) = self.listed(record, value).filter(|listed| listed.contains(&at)) else { return };
        let start = self.parts.len();
        for old in listed {
            if old != at {
                self.parts.push(self.parts[old]);
                continue;
            }
            for half in [Part { last: cut, ..part }, Part { first: cut, ..part }] {
                self.add_part(half, value, W::mask(tuples.field(tuples.fixed() + record)));
            }
        }
        self.records[record].values[value] = (start as u32 + 1, (self.parts.len() - start) as u32);
    }

    /// A part that has no steps, whatever the rest of the state is, is asked no more. Whoever goes through the
    /// parts of its value now goes on undisturbed: the list is made anew.
    pub(super) fn unlist(&mut self, record: usize, at: usize) {
        let value = self.parts[at].value as usize;
        let Some(listed) = self.listed(record, value).filter(|listed| listed.contains(&at)) else { return };
        let start = self.parts.len();
        for old in listed.filter(|&old| old != at) {
            self.parts.push(self.parts[old]);
        }
        self.records[record].values[value] = (start as u32 + 1, (self.parts.len() - start) as u32);
    }

    /// Where the parts of a value are, unless they are left to the system.
    pub(super) fn listed(&self, record: usize, value: usize) -> Option<std::ops::Range<usize>> {
        let &(first, count) = self.records[record].values.get(value)?;
        let first = (first as usize).checked_sub(1)?;
        Some(first..first + count as usize)
    }

    fn add_part(&mut self, part: Part, value: usize, mask: W) {
        self.memories += 1;
        self.parts.push(Remembered::new(part, value as u32, self.memories, mask));
    }

    /// Asks for the parts of a record, to be found in `scratch`.
    fn ask_for_parts(
        &mut self,
        system: &mut dyn Divisible,
        record: usize,
        fineness: Fineness,
        loaded: &mut Loaded<'_, W>,
    ) {
        self.scratch.clear();
        system.parts(loaded.state, record as u8, fineness, &self.kinds, &mut self.scratch);
        system.divide(loaded.state);
    }

    /// Finds the parts of a value of a record.
    #[cold]
    pub(super) fn divide<S: System + ?Sized>(
        &mut self,
        system: &mut S,
        tuples: &mut Tuples,
        (record, value): (usize, usize),
        loaded: &mut Loaded<'_, W>,
    ) -> Option<(usize, usize)> {
        let system = system.divisible()?;
        loaded.load(tuples, system);
        self.scratch.clear();
        if !tuples.is_absent(tuples.fixed() + record, value) {
            self.ask_for_parts(system, record, Fineness::Coarse, loaded);
        }
        let first = self.parts.len();
        let mask = W::mask(tuples.field(tuples.fixed() + record));
        for part in std::mem::take(&mut self.scratch) {
            self.add_part(part, value, mask);
        }
        let count = self.parts.len() - first;
        let values = &mut self.records[record].values;
        if values.len() <= value {
            values.resize(value + 1, (0, 0));
        }
        values[value] = (first as u32 + 1, count as u32);
        Some((first, count))
    }
}
