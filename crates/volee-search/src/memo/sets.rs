//! Remembered persistent sets: where all processes mean the same for the choice, the choice is the same.
//!
//! The sets of a state depend on what each of its processes may touch, next and later: its *stance*
//! ([`Reducible::stance`](volee_system::Reducible)), which depends on few components, mostly on the process
//! alone. So the stance of a process is remembered by the value of its record, or by the masked name where it
//! depends on more; and the sets by the stances of all processes.

use volee_store::{Layouts, Tuples, mix};
use volee_system::{ProcessSet, System};

use super::table::{Members, Table};
use super::{Loaded, Word};

/// Misses before anybody asks whether this pays.
const TRIAL: u64 = 1 << 14;
/// Of this many states one may be a miss.
const WORTH: u64 = 4;
/// Choices at most; then this is off.
const MOST_CHOICES: usize = 1 << 20;
const FIRST_PLACES: usize = 1 << 6;

/// How the stance of a value of a record is found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Way<W> {
    #[default]
    New,
    /// It is always this one.
    Fixed(u32),
    /// It depends on the bits of a mask; the number is that of a memory.
    Masked(u32, W),
    /// The system cannot tell.
    Unknown,
}

/// The sets of some stances.
#[derive(Debug, Clone, Copy)]
struct Choice {
    /// Where the stances start, among those of all choices; there are as many as records.
    stances: usize,
    /// Which of all sets they are.
    first: u32,
    last: u32,
}

/// What is remembered of persistent sets, for one layout of names.
#[derive(Debug, Clone, Default)]
pub(super) struct Sets<W> {
    off: bool,
    /// By record and the number of its value.
    ways: Vec<Vec<Way<W>>>,
    memories: u32,
    masked: Table<W, ()>,
    /// Numbers of choices, plus one, by a hash of their stances; 0 is a free place.
    places: Vec<u32>,
    choices: Vec<Choice>,
    stances: Vec<u32>,
    all: Vec<ProcessSet>,
    /// The stances of the state that is looked at, plus one; 0 where there is no process.
    current: Vec<u32>,
    scratch: Vec<ProcessSet>,
    asked: u64,
    misses: u64,
}

impl<W: Word> Sets<W> {
    /// The numbers of the sets of a state, in order. `None` when the system is to be asked.
    #[inline]
    pub fn of<S: System + ?Sized>(
        &mut self,
        system: &mut S,
        tuples: &mut Tuples,
        loaded: &mut Loaded<'_, W>,
    ) -> Option<std::ops::Range<usize>> {
        if self.off {
            return None;
        }
        self.asked += 1;
        let mut hash = 0;
        for record in 0..self.ways.len() {
            let value = loaded.word.number(tuples.field(tuples.fixed() + record));
            let stance = match self.ways[record].get(value) {
                Some(&Way::Fixed(stance)) => stance,
                Some(&Way::Masked(memory, mask)) => match self.masked.get(loaded.word & mask, memory) {
                    Some((stance, ())) => stance,
                    None => self.ask(system, tuples, (record, value), loaded)?,
                },
                Some(Way::Unknown) => return None,
                _ => self.ask(system, tuples, (record, value), loaded)?,
            };
            self.current[record] = stance;
            hash = mix(hash ^ u64::from(stance));
        }
        match self.find(hash) {
            Ok(Choice { first, last, .. }) => Some(first as usize..last as usize),
            Err(place) => self.choose(system, tuples, place, loaded),
        }
    }

    #[inline(always)]
    pub fn is_on(&self) -> bool {
        !self.off
    }

    #[inline(always)]
    pub fn get(&self, at: usize) -> ProcessSet {
        self.all[at]
    }

    /// The choice of the current stances, or the place where it belongs.
    #[inline]
    fn find(&self, hash: u64) -> Result<Choice, usize> {
        let mask = self.places.len() - 1;
        let mut at = (hash >> 32) as usize & mask;
        while let Some(number) = (self.places[at] as usize).checked_sub(1) {
            let choice = self.choices[number];
            if self.stances[choice.stances..][..self.current.len()] == self.current {
                return Ok(choice);
            }
            at = (at + 1) & mask;
        }
        Err(at)
    }

    /// Asks the system for a stance.
    #[cold]
    fn ask<S: System + ?Sized>(
        &mut self,
        system: &mut S,
        tuples: &mut Tuples,
        (record, value): (usize, usize),
        loaded: &mut Loaded<'_, W>,
    ) -> Option<u32> {
        loaded.load(tuples, system.divisible()?);
        self.miss();
        let mut touched = 0;
        let stance = match tuples.is_absent(tuples.fixed() + record, value) {
            true => Some(0),
            false => system.reducible()?.stance(record as u8, &mut touched).map(|stance| stance + 1),
        };
        let field = |component| W::mask(tuples.field(component));
        let own = field(tuples.fixed() + record);
        let found = (0..tuples.len()).filter(|&c| touched >> c & 1 == 1).fold(own, |mask, c| mask | field(c));
        let ways = &mut self.ways[record];
        if ways.len() <= value {
            ways.resize(value + 1, Way::New);
        }
        let way = match (stance, ways[value]) {
            (None, _) => Way::Unknown,
            (Some(_), Way::Masked(memory, mask)) if mask | found == mask => Way::Masked(memory, mask),
            (Some(stance), Way::New) if found == own => Way::Fixed(stance),
            (Some(_), before) => {
                self.memories += 1;
                let mask = if let Way::Masked(_, mask) = before { mask } else { own };
                Way::Masked(self.memories, mask | found)
            }
        };
        ways[value] = way;
        if let (Some(stance), Way::Masked(memory, mask)) = (stance, way) {
            self.masked.add(loaded.word & mask, memory, (stance, ()));
        }
        stance
    }

    /// Asks the system for the sets of the current stances.
    #[cold]
    fn choose<S: System + ?Sized>(
        &mut self,
        system: &mut S,
        tuples: &mut Tuples,
        place: usize,
        loaded: &mut Loaded<'_, W>,
    ) -> Option<std::ops::Range<usize>> {
        loaded.load(tuples, system.divisible()?);
        self.miss();
        self.scratch.clear();
        system.reducible()?.persistent_sets(&mut self.scratch);
        let first = self.all.len() as u32;
        self.all.append(&mut self.scratch);
        let last = self.all.len() as u32;
        self.choices.push(Choice { stances: self.stances.len(), first, last });
        self.stances.extend_from_slice(&self.current);
        self.places[place] = self.choices.len() as u32;
        self.off |= self.choices.len() >= MOST_CHOICES;
        if self.choices.len() * 2 > self.places.len() {
            self.grow();
        }
        Some(first as usize..last as usize)
    }

    fn miss(&mut self) {
        self.misses += 1;
        self.off |= self.misses > TRIAL && self.misses > self.asked / WORTH;
    }

    fn grow(&mut self) {
        let places = self.places.len() * 2;
        self.places = vec![0; places];
        for (number, choice) in self.choices.iter().enumerate() {
            let stances = &self.stances[choice.stances..][..self.current.len()];
            let hash = stances.iter().fold(0, |hash, &stance| mix(hash ^ u64::from(stance)));
            let mut at = (hash >> 32) as usize & (places - 1);
            while self.places[at] != 0 {
                at = (at + 1) & (places - 1);
            }
            self.places[at] = number as u32 + 1;
        }
    }

    /// Names are laid out anew, and their fields are kept.
    pub fn rename(&mut self, layouts: &Layouts) {
        let mut lasts = Members::new(self.memories);
        for way in self.ways.iter_mut().flatten() {
            if let Way::Masked(memory, mask) = way {
                *mask = W::of_tuple(layouts.mask(mask.tuple()));
                lasts.add(*memory);
            }
        }
        let word = |key: W| W::of_tuple(layouts.word(key.tuple()));
        self.masked.change(|memory| lasts.has(memory), |key, _, ()| *key = word(*key));
    }

    /// Names are laid out anew: values keep their numbers, but not their places, and there may be more
    /// records.
    pub fn clear(&mut self, tuples: &Tuples) {
        *self = self.emptied(tuples.len() - tuples.fixed());
    }

    /// As much as another system may begin with, which gives other numbers.
    pub fn for_another_system(&self) -> Self {
        self.emptied(self.ways.len())
    }

    fn emptied(&self, records: usize) -> Self {
        let mut masked = Table::default();
        masked.clear();
        Sets {
            off: self.off,
            ways: vec![Vec::new(); records],
            memories: self.memories,
            masked,
            places: vec![0; FIRST_PLACES],
            current: vec![0; records],
            asked: self.asked,
            misses: self.misses,
            ..Sets::default()
        }
    }

    pub fn bytes(&self) -> u64 {
        let ways: usize = self.ways.iter().map(|ways| ways.capacity() * size_of::<Way<W>>()).sum();
        let choices = self.choices.capacity() * size_of::<Choice>() + self.stances.capacity() * 4;
        let sets = self.all.capacity() * size_of::<ProcessSet>();
        self.masked.bytes() + (ways + choices + sets + self.places.capacity() * 4) as u64
    }
}
