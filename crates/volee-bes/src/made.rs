//! The states of a system by number, with the steps that were made of them.
//!
//! A formula asks for the steps of a state once for each of its modalities, and the checker of the answer asks
//! again. Here they are made once: states have numbers, in the order in which they are met, and a step is the
//! number of its target and the kind of its label, which is the set of the formula's action predicates that
//! hold of it. So whoever solves the equations sees places of four bytes, and no state is looked up twice for
//! the same step.
//!
//! A state of a system that tells its components is known by its name, and its steps are those that the
//! searches remember ([`Recall`]), with their labels where the formula looks at them. Other states of up to 15 bytes
//! are words by themselves. All steps of a state are looked up together, so that several lines of the table are
//! on their way at once.
//!
//! Steps are kept as long as there is room for them; after that the steps of other states are made as often as
//! somebody asks.
//!
//! **What was made is not believed by whoever checks an answer** ([`Made::distrust`]): from then on the steps of
//! a state are made by the system again when they are first asked for, from nothing that is remembered of steps,
//! and compared with those that were kept,
//! label by label and target by target, by what the states are and not by where the table finds them. So an
//! answer that rests on a step that the system does not make is not confirmed. Another thread may do that
//! meanwhile ([`crate::audit`]), which is told what is kept.

use volee_logic::mu::Labels;
use volee_search::{NamedStep, Recall};
use volee_store::{Hashed, StateRef, Word as _, Words, prefetch_at, tag};
use volee_system::{Flow, Label, Limit, Step, System};

use crate::audit::{Telling, Told};
use crate::graph::Trouble;
use crate::kept::{Kept, Row};

/// The bytes of a state that is a word, and of one with its length.
const SHORT: usize = 15;

/// A label whose kind is not known.
const UNKNOWN: u32 = u32::MAX;

/// The states by number.
#[derive(Debug)]
enum States {
    /// All have few bytes: a state is a word, with its length in the last byte.
    Short(Words<u128>),
    /// Any.
    Long(Hashed<(), 8>),
    /// Names.
    Named(Box<Recall>, Words<u64>),
}

/// The states and steps of a system, as far as they were asked for.
#[derive(Debug)]
pub(crate) struct Made {
    states: States,
    /// The steps of those states of which they were made, as far as there is room.
    kept: Kept,
    /// For each kind, the action predicates that hold.
    masks: Vec<u64>,
    /// For each label, its kind.
    kind_of: Vec<u32>,
    /// All labels are of the first kind.
    blind: bool,
    /// Bytes that kept steps may have.
    room: usize,
    /// The steps that were not kept, of the last state that had such.
    loose: Vec<(u32, u32)>,
    /// When nothing is believed: those states whose steps were made again.
    again: Option<Vec<u64>>,
    /// The auditor who is told of steps that are kept; whether he was told of all that were made; whether
    /// somebody has looked at a state.
    telling: Option<Box<Telling>>,
    told: bool,
    looked: bool,
    /// Steps on their way into the table: the word, or where the bytes end; the tag; the label.
    staged: Vec<(u128, u32, Option<Label>)>,
    bytes: Vec<u8>,
    named: Vec<NamedStep>,
}

/// The steps of a state.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Steps<'m> {
    made: &'m Made,
    /// Where they are; nothing where they are loose.
    row: Option<Row>,
}

impl Steps<'_> {
    /// Of each step, its target and the action predicates that hold of its label, until it is enough.
    #[inline(always)]
    pub fn each(&self, mut push: impl FnMut(u32, u64) -> Flow) -> Flow {
        let Made { kept, masks, loose, .. } = self.made;
        match self.row {
            Some(row) => kept.steps(row, |target, kind| push(target, masks[usize::from(kind)])),
            None => loose.iter().try_for_each(|&(target, kind)| push(target, masks[kind as usize])),
        }
    }
}

/// The word of a state, if it is short.
#[inline(always)]
pub(crate) fn word(state: &[u8]) -> Option<u128> {
    let len = state.len();
    let eight = |at: usize| state[at..at + 8].try_into().map_or(0, u64::from_le_bytes);
    let four = |at: usize| state[at..at + 4].try_into().map_or(0, u32::from_le_bytes);
    let bytes = match len {
        8..=SHORT => u128::from(eight(0)) | u128::from(eight(len - 8)) << (8 * (len - 8)),
        4..8 => u128::from(four(0)) | u128::from(four(len - 4)) << (8 * (len - 4)),
        0..4 => (0..).zip(state).fold(0, |word, (at, &byte)| word | u128::from(byte) << (8 * at)),
        _ => return None,
    };
    Some(bytes | (len as u128) << (8 * SHORT))
}

/// The state of a word.
#[inline(always)]
pub(crate) fn state_of(word: u128) -> ([u8; SHORT + 1], usize) {
    let bytes = word.to_le_bytes();
    (bytes, usize::from(bytes[SHORT]))
}

impl Made {
    pub fn new<S: System + ?Sized>(system: &mut S, labels: &Labels, room: usize) -> Self {
        let blind = labels.blind();
        let states = match Recall::new(system, blind.is_none()) {
            Some(recall) => States::Named(Box::new(recall), Words::new()),
            None => States::Short(Words::new()),
        };
        Made {
            states,
            kept: Kept::new(blind.is_some()),
            masks: blind.into_iter().collect(),
            kind_of: Vec::new(),
            blind: blind.is_some(),
            room,
            loose: Vec::new(),
            again: None,
            telling: None,
            told: true,
            looked: false,
            staged: Vec::new(),
            bytes: Vec::new(),
            named: Vec::new(),
        }
    }

    /// Bytes in use.
    pub fn memory(&self) -> usize {
        let states = match &self.states {
            States::Short(words) => words.bytes(),
            States::Long(table) => table.bytes(),
            States::Named(recall, words) => words.bytes() + recall.bytes() as usize,
        };
        let again = self.again.as_ref().map_or(0, |again| again.capacity() * 8);
        states + self.kept.bytes() + again
    }

    /// Whether a step takes little time: it is not one of a program whose interpreter must name what happens.
    pub fn is_quick(&self) -> bool {
        self.blind || !matches!(self.states, States::Named(..))
    }

    /// The number of a state.
    pub fn number(&mut self, state: &[u8]) -> Result<u32, Limit> {
        match (&mut self.states, word(state)) {
            (States::Short(words), Some(word)) => words.insert(word, word.tag()),
            (States::Short(_), None) => {
                self.lengthen_states()?;
                self.number(state)
            }
            (States::Long(table), _) => insert(table, state, tag(state)),
            (States::Named(recall, words), _) => {
                self.named.clear();
                self.named.push((recall.name(state), None));
                settle(recall, words, &mut self.named)?;
                let name = self.named[0].0.0;
                words.insert(name, name.tag())
            }
        }
    }

    /// The bytes of a state.
    pub fn state(&mut self, number: u32) -> &[u8] {
        self.looked = true;
        match &mut self.states {
            States::Short(words) => {
                let (bytes, len) = state_of(words.get(number));
                self.bytes.clear();
                self.bytes.extend_from_slice(&bytes[..len]);
                &self.bytes
            }
            States::Long(table) => table.keys.get(number),
            States::Named(recall, words) => recall.load(StateRef(words.get(number))),
        }
    }

    /// The first state with more bytes than a word was met.
    #[cold]
    fn lengthen_states(&mut self) -> Result<(), Limit> {
        if let States::Short(words) = &self.states {
            let mut table = Hashed::default();
            for number in 0..words.len() {
                let (bytes, len) = state_of(words.get(number));
                insert(&mut table, &bytes[..len], tag(&bytes[..len]))?;
            }
            self.states = States::Long(table);
        }
        Ok(())
    }

    /// From now on nothing is believed that the system does not say again.
    pub fn distrust(&mut self) {
        self.again = Some(vec![0; self.kept.len().div_ceil(64)]);
    }

    /// The steps of a state.
    #[inline]
    pub fn steps<S: System + ?Sized>(
        &mut self,
        system: &mut S,
        labels: &mut Labels,
        number: u32,
    ) -> Result<Steps<'_>, Trouble> {
        let row = match self.kept.row(number) {
            Some(row) => {
                if self.again.as_mut().is_some_and(|again| is_first(again, number)) {
                    self.make_again(system, number, row)?;
                }
                Some(row)
            }
            None if self.make(system, labels, number)? => self.kept.row(number),
            None => None,
        };
        Ok(Steps { made: self, row })
    }

    /// From now on an auditor is told of the steps that are kept.
    pub fn tell_to(&mut self, telling: Telling) {
        self.telling = Some(Box::new(telling));
    }

    /// Nothing more is told. Whether somebody has heard all steps that were made.
    pub fn end_telling(&mut self) -> bool {
        let heard = self.send();
        self.telling = None;
        heard && self.told
    }

    /// Whether an auditor was told of all steps that were ever made.
    pub fn is_told(&self) -> bool {
        self.told
    }

    /// Whether somebody has looked at what states are.
    pub fn has_looked(&self) -> bool {
        self.looked
    }

    /// How many states there are.
    pub fn len(&self) -> u32 {
        match &self.states {
            States::Short(words) => words.len(),
            States::Long(table) => table.slots.len(),
            States::Named(_, words) => words.len(),
        }
    }

    /// Notes that the steps of a state are to be told.
    #[inline]
    fn tell(&mut self, number: u32) {
        let states = self.len() as usize;
        let Some(telling) = &mut self.telling else { return };
        telling.weight += self.loose.len() + 2;
        if telling.begun {
            telling.waiting.push(number);
        } else if states >= telling.from {
            telling.begun = true;
            let numbers = 0..self.kept.len() as u32;
            telling.waiting.extend(numbers.filter(|number| self.kept.row(*number).is_some()));
        }
        if telling.begun && telling.is_enough() && !self.send() {
            self.give_up();
        }
    }

    /// The auditor is of no use any more.
    #[cold]
    fn give_up(&mut self) {
        self.told = false;
        if let Some(telling) = self.telling.take() {
            telling.give_up();
        }
    }

    /// Tells what waits; whether somebody has heard it.
    fn send(&mut self) -> bool {
        // The auditor has states of his own, for which there must be room.
        let room = self.memory() <= self.room;
        let Some(telling) = self.telling.as_mut().filter(|telling| telling.begun && room) else {
            return false;
        };
        let mut told = Told { states: std::mem::take(&mut telling.states), ..Told::default() };
        for number in telling.waiting.drain(..) {
            let Some(row) = self.kept.row(number) else { continue };
            told.numbers.extend([number, (row.end - row.begin) as u32]);
            let _ = self.kept.steps(row, |target, kind| {
                told.numbers.push(target);
                if !self.blind {
                    told.kinds.push(kind);
                }
                Flow::Continue(())
            });
        }
        told.masks.extend_from_slice(&self.masks[telling.kinds..]);
        (telling.kinds, telling.weight) = (self.masks.len(), 0);
        telling.send(told)
    }

    /// Lets the system make the steps of a state; whether they are kept.
    fn make<S: System + ?Sized>(
        &mut self,
        system: &mut S,
        labels: &mut Labels,
        number: u32,
    ) -> Result<bool, Trouble> {
        let trouble = |limit: Limit| Trouble(limit.to_string());
        self.staged.clear();
        if self.stage(system, number).map_err(trouble)?.is_break() {
            self.lengthen_states().map_err(trouble)?;
            self.staged.clear();
            let _ = self.stage(system, number).map_err(trouble)?;
        }
        if let Some(limit) = system.left_out() {
            return Err(trouble(limit));
        }
        self.told &= self.telling.is_some();
        self.loose.clear();
        self.look_up().map_err(trouble)?;
        if !self.blind {
            for at in 0..self.staged.len() {
                if let Some(label) = self.staged[at].2 {
                    self.loose[at].1 = match self.kind_of.get(label.0 as usize) {
                        Some(&kind) if kind != UNKNOWN => kind,
                        _ => self.learn(system, labels, label),
                    };
                }
            }
        }
        if self.kept.size() > self.room || !self.kept.keep(number, &self.loose) {
            self.give_up();
            return Ok(false);
        }
        if let Some(again) = &mut self.again {
            again.resize(self.kept.len().div_ceil(64), 0);
            is_first(again, number);
        }
        self.tell(number);
        Ok(true)
    }

    /// Stages the steps of a state; their lines start to be fetched. Breaks where a state is not a word.
    fn stage<S: System + ?Sized>(&mut self, system: &mut S, number: u32) -> Result<Flow, Limit> {
        let staged = &mut self.staged;
        match &mut self.states {
            States::Short(words) => {
                let (state, len) = state_of(words.get(number));
                let mut long = false;
                let _ = system.steps(&state[..len], &mut |step: Step, target: &[u8]| {
                    let Some(word) = word(target) else {
                        long = true;
                        return Flow::Break(());
                    };
                    let tag = word.tag();
                    words.prefetch_line(tag);
                    staged.push((word, tag, Some(step.label)));
                    Flow::Continue(())
                });
                Ok(if long { Flow::Break(()) } else { Flow::Continue(()) })
            }
            States::Long(table) => {
                let bytes = &mut self.bytes;
                bytes.clear();
                let _ = system.steps(table.keys.get(number), &mut |step: Step, target: &[u8]| {
                    let tag = tag(target);
                    table.slots.prefetch(tag);
                    bytes.extend_from_slice(target);
                    staged.push((bytes.len() as u128, tag, Some(step.label)));
                    Flow::Continue(())
                });
                Ok(Flow::Continue(()))
            }
            States::Named(recall, words) => {
                self.named.clear();
                let name = StateRef(words.get(number));
                match self.again {
                    // Nothing is believed that is remembered.
                    Some(_) => recall.steps_anew(system, name, &mut self.named),
                    None => recall.steps(system, name, &mut self.named),
                }
                settle(recall, words, &mut self.named)?;
                for &(name, label) in &self.named {
                    let tag = name.0.tag();
                    words.prefetch_line(tag);
                    staged.push((u128::from(name.0), tag, label));
                }
                Ok(Flow::Continue(()))
            }
        }
    }

    /// Looks up the targets of all steps that were staged.
    fn look_up(&mut self) -> Result<(), Limit> {
        match &mut self.states {
            States::Short(words) => {
                self.staged.iter().for_each(|&(_, tag, _)| words.approach(tag));
                for &(word, tag, _) in &self.staged {
                    self.loose.push((words.insert(word, tag)?, 0));
                }
            }
            States::Long(table) => {
                let mut begin = 0;
                for &(end, tag, _) in &self.staged {
                    self.loose.push((insert(table, &self.bytes[begin..end as usize], tag)?, 0));
                    begin = end as usize;
                }
            }
            States::Named(_, words) => {
                self.staged.iter().for_each(|&(_, tag, _)| words.approach(tag));
                for &(name, tag, _) in &self.staged {
                    self.loose.push((words.insert(name as u64, tag)?, 0));
                }
            }
        }
        Ok(())
    }

    /// The kind of a label that is new.
    #[cold]
    fn learn<S: System + ?Sized>(&mut self, system: &S, labels: &mut Labels, label: Label) -> u32 {
        let mask = labels.known(label).unwrap_or_else(|| labels.learn(system, label));
        let known = self.masks.iter().position(|known| *known == mask);
        let kind = known.unwrap_or_else(|| {
            self.masks.push(mask);
            self.masks.len() - 1
        });
        // There are no more kinds than labels.
        let kind = kind as u32;
        let at = label.0 as usize;
        if self.kind_of.len() <= at {
            self.kind_of.resize(at + 1, UNKNOWN);
        }
        self.kind_of[at] = kind;
        kind
    }

    /// Lets the system make the steps of a state again, and compares.
    fn make_again<S: System + ?Sized>(
        &mut self,
        system: &mut S,
        number: u32,
        row: Row,
    ) -> Result<(), Trouble> {
        let (kept, kind_of, blind, end) = (&self.kept, &self.kind_of, self.blind, row.end);
        let mut at = row.begin;
        let mut same = true;
        let of_kind = |kind: u16, label: Label| {
            blind || kind_of.get(label.0 as usize).is_some_and(|known| *known == u32::from(kind))
        };
        match &mut self.states {
            States::Short(words) => {
                (at..end).for_each(|at| words.prefetch(kept.step(at).0));
                let (state, len) = state_of(words.get(number));
                let _ = system.steps(&state[..len], &mut |step: Step, target: &[u8]| {
                    let known = (at < end).then(|| kept.step(at));
                    same = known.is_some_and(|(number, kind)| {
                        Some(words.get(number)) == word(target) && of_kind(kind, step.label)
                    });
                    at += 1;
                    if same { Flow::Continue(()) } else { Flow::Break(()) }
                });
            }
            States::Long(table) => {
                (at..end).for_each(|at| prefetch_at(table.keys.get(kept.step(at).0), 0));
                let _ = system.steps(table.keys.get(number), &mut |step: Step, target: &[u8]| {
                    let known = (at < end).then(|| kept.step(at));
                    same = known.is_some_and(|(number, kind)| {
                        table.keys.get(number) == target && of_kind(kind, step.label)
                    });
                    at += 1;
                    if same { Flow::Continue(()) } else { Flow::Break(()) }
                });
            }
            States::Named(recall, words) => {
                (at..end).for_each(|at| words.prefetch(kept.step(at).0));
                self.named.clear();
                recall.steps_anew(system, StateRef(words.get(number)), &mut self.named);
                // A state that has no name yet is another one than those that were kept.
                let of_kind = |kind, label: Option<Label>| label.map_or(blind, |label| of_kind(kind, label));
                same = !recall.has_waiting()
                    && self.named.len() == end - at
                    && self.named.iter().zip(at..).all(|(&(name, label), at)| {
                        let (number, kind) = kept.step(at);
                        words.get(number) == name.0 && of_kind(kind, label)
                    });
                at += self.named.len();
            }
        }
        if same && at == end && system.left_out().is_none() {
            return Ok(());
        }
        let message =
            "a state has not the steps that it had before; this is a defect of volee, please report it";
        Err(Trouble(message.into()))
    }
}

/// Sets the bit of a state; whether it was not set.
#[inline]
fn is_first(bits: &mut [u64], number: u32) -> bool {
    let (word, bit) = (number as usize / 64, 1 << (number % 64));
    let first = bits[word] & bit == 0;
    bits[word] |= bit;
    first
}

/// Gives names that wait theirs; all others change with them.
#[inline]
fn settle(recall: &mut Recall, words: &mut Words<u64>, named: &mut [NamedStep]) -> Result<(), Limit> {
    if recall.has_waiting() {
        rename(recall, words, named)?;
    }
    match recall.full() {
        Some(full) => Err(full.limit(recall.bytes(), format!("{} states have names", words.len()))),
        None => Ok(()),
    }
}

#[cold]
fn rename(recall: &mut Recall, words: &mut Words<u64>, named: &mut [NamedStep]) -> Result<(), Limit> {
    let Some(mut renaming) = recall.rename() else { return Ok(()) };
    words.rename(|name| recall.translate(&mut renaming, StateRef(name)).0)?;
    named.iter_mut().for_each(|step| step.0 = recall.translate(&mut renaming, step.0));
    Ok(())
}

fn insert(table: &mut Hashed<(), 8>, state: &[u8], tag: u32) -> Result<u32, Limit> {
    match table.search(state, tag) {
        Ok(at) => Ok(table.slots.number(at)),
        Err(at) => table.add(state, tag, at, ()),
    }
}
