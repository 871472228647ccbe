//! Remembered steps: what a part of a system did in a state, it does in every state that looks the same to
//! it.
//!
//! A system that makes its steps part by part ([`Divisible`]) tells with them which components they depend on
//! or change. Here the name of a state, masked to these components, is the key; the value is a list of
//! differences between names: a step's target is the state's name with the difference added bit by bit. So a
//! step that is remembered costs a look-up in a small table: no state is unpacked, nothing is evaluated, no
//! component is looked up.
//!
//! Why it is exact. Let M be the components in the mask of a part, at least those that its execution in a
//! state s depends on or changes. In a state t that agrees with s on M the execution is the same and stores
//! the same values; components that it changes had the same values before, so in the name the same bits
//! change; the others it leaves alone, in both. A component that each of the steps sets, whatever it held,
//! need not be in M: its bits are not changed but replaced. The kinds of records must be those of then: when
//! they change, all is forgotten. When the fields of names move, what is remembered moves with them, unless a
//! component gets bits that had none: nothing tells who depended on it.
//!
//! Where an execution depended on nothing but the record itself, its value alone tells the steps: nothing is
//! looked up. A part without steps there, of a process that waits for others to begin a rendezvous or stands
//! at its end, is then not even asked.
//!
//! Neighbouring records are remembered together where that pays ([`groups`]).
//!
//! Where somebody looks at labels, the label of each step is kept beside its difference: a label tells what was
//! done and with which values, and these an execution depends on.
//!
//! A mask grows when an execution depends on more than it has; the part is then another one, with a memory of
//! its own. A part that is not met again often enough is divided into halves, and in the end left to the
//! system. A step with a fault is not remembered as such but as a reason to ask the system for all steps of
//! the state, as are states without any step where the system may know of others (a `timeout`).

mod division;
mod groups;
mod moved;
mod part;
mod sets;
mod stage;
mod table;
mod word;

use volee_store::{Field, StateRef, Tuples};
use volee_system::{Divisible, Flow, Label, Part, PersistentSet, Step, System, Touched};

use groups::Groups;
pub(crate) use moved::rename_steps;
use part::{Doubt, Remembered};
use sets::Sets;
pub(crate) use stage::Stage;
use stage::apply;
use table::Table;
pub(crate) use word::Word;

/// Differences that fit into an entry.
const INLINE: usize = 2;
/// The count of an entry that says that the system is to be asked for all steps of the state.
const ASK: u32 = u32::MAX;
/// Bytes from which on nothing is remembered that does not pay, and misses after which that is known of a
/// part.
const PRESSURE: u64 = 1 << 22;
const LEAST_TRIAL: u32 = 1 << 8;
/// Expansions after which somebody asks whether remembering pays at all, again and again.
const LONG_TRIAL: u64 = 1 << 16;

/// What a part did where the name, masked, was the key.
#[derive(Debug, Clone, Copy, Default)]
struct Steps<W> {
    count: u32,
    /// The differences; where there are more than fit here, the first is where they start among all.
    differences: [W; INLINE],
}

/// What an expansion looks at first of a record.
#[derive(Debug, Clone, Default)]
struct Record {
    field: Field,
    /// For the number of each of its values, where its parts are: the first plus one, and how many. There is none
    /// where it is left to the system.
    values: Vec<(u32, u32)>,
    /// Where it is left to the system, a part that is all of it, plus one.
    left: u32,
    /// Misses of its parts so far.
    misses: u64,
}

/// What is remembered, for one layout of names.
#[derive(Debug, Clone, Default)]
pub(crate) struct Memo<W> {
    /// Off for good.
    off: bool,
    /// Where no part has steps there are none: see [`Divisible::is_complete`].
    is_complete: bool,
    layout: u64,
    steps: Table<W, [W; INLINE]>,
    differences: Vec<W>,
    /// Beside each difference, the label; then no difference is in an entry itself.
    labels: Option<Vec<Label>>,
    /// For each record, the kinds of its values.
    kinds: Vec<Vec<u8>>,
    records: Vec<Record>,
    parts: Vec<Remembered<W>>,
    groups: Groups<W>,
    memories: u32,
    /// Expansions, and part executions that the system made.
    expansions: u64,
    executions: u64,
    scratch: Vec<Part>,
    targets: Vec<StateRef>,
    /// Beside each target, the label of the step.
    taken: Vec<Label>,
    /// What is remembered of persistent sets.
    sets: Sets<W>,
}

/// What an expansion came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Recalled {
    /// The targets of all steps were given.
    All,
    /// There are no steps.
    End,
    /// The system is to be asked for all steps.
    Ask,
}

/// A state that is expanded, loaded when somebody asks for it.
struct Loaded<'s, W> {
    name: StateRef,
    word: W,
    state: &'s mut Vec<u8>,
    done: bool,
}

impl<W: Word> Loaded<'_, W> {
    /// Its name, and what that stands for.
    #[inline(always)]
    fn beside(&self) -> (StateRef, W) {
        (self.name, self.word)
    }

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
    /// One that remembers nothing, so that the system makes every step itself.
    pub(crate) fn none() -> Self {
        Memo { off: true, ..Memo::default() }
    }

    /// For a system; it remembers nothing where the system cannot tell what steps depend on.
    pub(crate) fn new<S: System + ?Sized>(system: &mut S) -> Self {
        let divisible = system.divisible();
        let is_complete = divisible.as_ref().is_some_and(|system| system.is_complete());
        Memo { off: divisible.is_none(), is_complete, ..Memo::default() }
    }

    /// The same, with the labels of steps.
    pub(crate) fn with_labels<S: System + ?Sized>(system: &mut S) -> Self {
        Memo { labels: Some(Vec::new()), ..Memo::new(system) }
    }

    /// The same, but records are in groups from early on, and are divided and joined again and again.
    pub(crate) fn hasty(mut self) -> Self {
        self.groups.is_hasty = true;
        self
    }

    /// Whether records are in groups that are remembered together.
    pub(crate) fn has_groups(&self) -> bool {
        self.groups.are_joined()
    }

    /// Whether it is of use.
    #[inline(always)]
    pub(crate) fn is_on(&self) -> bool {
        !self.off
    }

    /// Gives the targets of all steps of a state, in order, to `stage`, unless the system is to be asked.
    /// Then what was given is to be forgotten.
    #[inline]
    pub(crate) fn expand<S: System + ?Sized>(
        &mut self,
        system: &mut S,
        tuples: &mut Tuples,
        (name, state): (StateRef, &mut Vec<u8>),
        stage: &mut impl Stage,
    ) -> Recalled {
        if self.off {
            return Recalled::Ask;
        }
        self.begin(tuples);
        let mut loaded = Loaded { name, word: W::of(tuples, name), state, done: false };
        let before = stage.count();
        if self.groups.are_joined() {
            return self.expand_groups(system, tuples, &mut loaded, stage);
        }
        for record in (0..self.records.len()).rev() {
            if self.expand_record(system, tuples, record, &mut loaded, stage).is_none() {
                return Recalled::Ask;
            }
        }
        self.recalled(stage.count() > before)
    }

    /// What an expansion came to that has asked about all parts.
    #[inline(always)]
    fn recalled(&self, any: bool) -> Recalled {
        match any {
            true => Recalled::All,
            false if self.is_complete => Recalled::End,
            false => Recalled::Ask,
        }
    }

    /// Gives the targets of a persistent set of steps to `stage`, the first from this attempt on that has
    /// any. `Err` when the system is to be asked; then what was given is to be forgotten.
    #[inline]
    pub(crate) fn expand_set<S: System + ?Sized>(
        &mut self,
        system: &mut S,
        tuples: &mut Tuples,
        ((name, state), attempt): ((StateRef, &mut Vec<u8>), u32),
        stage: &mut impl Stage,
    ) -> Result<Option<PersistentSet>, Recalled> {
        if self.off {
            return Err(Recalled::Ask);
        }
        self.begin(tuples);
        let mut loaded = Loaded { name, word: W::of(tuples, name), state, done: false };
        let sets = self.sets.of(system, tuples, &mut loaded).ok_or(Recalled::Ask)?;
        for (at, next) in sets.zip(1..).skip(attempt as usize) {
            let set = self.sets.get(at);
            let (before, mut rest) = (stage.count(), set.set);
            while rest != 0 {
                let record = 63 - rest.leading_zeros();
                rest ^= 1 << record;
                self.expand_record(system, tuples, record as usize, &mut loaded, stage)
                    .ok_or(Recalled::Ask)?;
            }
            if stage.count() > before {
                let others_may_be_ignored = set.others_may_be_ignored;
                let cuts_cycles = set.cuts_cycles;
                return Ok(Some(PersistentSet { others_may_be_ignored, cuts_cycles, next }));
            }
        }
        Ok(None)
    }

    /// Whether persistent sets are remembered.
    #[inline(always)]
    pub(crate) fn has_sets(&self) -> bool {
        self.sets.is_on()
    }

    /// Whether what is remembered is so much that it pays to bring it near before it is looked up.
    #[inline]
    pub(crate) fn is_far(&self) -> bool {
        self.steps.is_large()
    }

    /// Brings what will be looked up for a state near.
    #[inline]
    pub(crate) fn prefetch(&self, tuples: &Tuples, name: StateRef) {
        if !self.is_far() || self.layout != tuples.changes() {
            return;
        }
        let word = W::of(tuples, name);
        for at in 0..self.groups.len() {
            let group = self.groups.get(at);
            if group.memory != 0 {
                continue;
            }
            for record in group.records() {
                let value = word.number(self.records[record].field);
                let parts = self.listed(record, value).map_or(&[][..], |listed| &self.parts[listed]);
                for part in parts.iter().filter(|part| part.fixed.is_none()) {
                    self.steps.prefetch(word & part.mask, part.memory);
                }
            }
        }
    }

    /// Forgets what is no longer true, and asks now and then whether all this pays.
    #[inline(always)]
    fn begin(&mut self, tuples: &Tuples) {
        if self.layout != tuples.changes() {
            self.forget(tuples);
        }
        self.expansions += 1;
        if self.expansions >= self.groups.next_look {
            self.look_at_groups();
        }
        if self.expansions.is_multiple_of(LONG_TRIAL) {
            // Where most of it is left to the system, the system does it better in one go.
            self.off = self.executions > LONG_TRIAL * 2 / 3 * self.records.len() as u64;
            self.executions = 0;
        }
    }

    /// The same, where records are in groups.
    #[inline(never)]
    fn expand_groups<S: System + ?Sized>(
        &mut self,
        system: &mut S,
        tuples: &mut Tuples,
        loaded: &mut Loaded<'_, W>,
        stage: &mut impl Stage,
    ) -> Recalled {
        let before = stage.count();
        for at in 0..self.groups.len() {
            if self.expand_group(system, tuples, at, loaded, stage).is_none() {
                return Recalled::Ask;
            }
        }
        self.recalled(stage.count() > before)
    }

    /// The steps of a group of records. `None` when the system is to be asked for all.
    #[inline(always)]
    fn expand_group<S: System + ?Sized>(
        &mut self,
        system: &mut S,
        tuples: &mut Tuples,
        at: usize,
        loaded: &mut Loaded<'_, W>,
        stage: &mut impl Stage,
    ) -> Option<()> {
        if self.groups.get(at).memory != 0 {
            let found = self.groups.find(at, loaded.word);
            if let Some(place) = found.or_else(|| self.compose(tuples, at, loaded.word)) {
                for &difference in self.groups.differences(place) {
                    stage.one((loaded.word ^ difference).name(tuples, loaded.beside())?);
                }
                return Some(());
            }
        }
        for record in self.groups.get(at).records().rev() {
            self.expand_record(system, tuples, record, loaded, stage)?;
        }
        Some(())
    }

    /// The steps of one record. `None` when the system is to be asked for all.
    #[inline(always)]
    fn expand_record<S: System + ?Sized>(
        &mut self,
        system: &mut S,
        tuples: &mut Tuples,
        record: usize,
        loaded: &mut Loaded<'_, W>,
        stage: &mut impl Stage,
    ) -> Option<()> {
        let known = &self.records[record];
        let value = loaded.word.number(known.field);
        let (first, count) = match known.values.get(value) {
            Some(&(first, count)) if first != 0 => (first as usize - 1, count as usize),
            _ => match (known.left as usize).checked_sub(1) {
                Some(_) if tuples.is_absent(tuples.fixed() + record, value) => return Some(()),
                Some(at) => return self.execute(system, tuples, at, loaded, stage),
                None => self.divide(system, tuples, (record, value), loaded)?,
            },
        };
        for at in first..first + count {
            self.recall(system, tuples, at, loaded, stage)?;
        }
        Some(())
    }

    /// The steps of one part. `None` when the system is to be asked for all.
    #[inline(always)]
    fn recall<S: System + ?Sized>(
        &mut self,
        system: &mut S,
        tuples: &mut Tuples,
        at: usize,
        loaded: &mut Loaded<'_, W>,
        stage: &mut impl Stage,
    ) -> Option<()> {
        let part = &mut self.parts[at];
        if part.memory == 0 {
            return self.execute(system, tuples, at, loaded, stage);
        }
        let kept = loaded.word & part.kept;
        if let Some(steps) = &part.fixed {
            let steps = (steps.count, &steps.differences);
            return apply(&[], &self.labels, tuples, steps, (kept, loaded.beside()), stage);
        }
        part.lookups += 1;
        match self.steps.get(loaded.word & part.mask, part.memory) {
            Some(steps) => {
                apply(&self.differences, &self.labels, tuples, steps, (kept, loaded.beside()), stage)
            }
            None => self.execute(system, tuples, at, loaded, stage),
        }
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
    ) -> Option<()> {
        let system = system.divisible()?;
        loaded.load(tuples, system);
        self.executions += 1;
        if self.parts[at].doubt == Doubt::Due {
            self.split(system, tuples, at, loaded);
        }
        let part = self.parts[at];
        let (mut touched, mut faulty) = (Touched::default(), false);
        let told = (part.memory != 0).then_some((&mut touched, &self.kinds[..]));
        let mut targets = std::mem::take(&mut self.targets);
        let taken = &mut self.taken;
        targets.clear();
        taken.clear();
        let flow = system.part_steps(part.part, told, &mut |step: Step, target: &[u8]| {
            faulty |= step.fault.is_some() || step.stays;
            targets.push(tuples.name(target));
            taken.push(step.label);
            if faulty { Flow::Break(()) } else { Flow::Continue(()) }
        });
        faulty |= flow.is_break();
        if part.memory != 0 {
            self.remember(tuples, at, (loaded.word, touched), &targets, faulty);
        }
        if !faulty {
            for (&target, &label) in targets.iter().zip(&self.taken) {
                stage.one(target);
                stage.label(label);
            }
        }
        self.targets = targets;
        (!faulty).then_some(())
    }

    fn remember(
        &mut self,
        tuples: &Tuples,
        at: usize,
        (word, touched): (W, Touched),
        targets: &[StateRef],
        faulty: bool,
    ) {
        if tuples.has_waiting() || self.layout != tuples.changes() {
            return;
        }
        let record = usize::from(self.parts[at].part.record);
        let misses = &mut self.records[record].misses;
        *misses += 1;
        if self.expansions > LONG_TRIAL && *misses > self.expansions / 2 {
            return self.leave(record);
        }
        let part = &mut self.parts[at];
        part.misses += 1;
        // In a group it is not known how often a part is met.
        if part.is_in_doubt() && !self.groups.has(record) {
            return part.give_up();
        }
        if self.steps.is_full() && self.steps.bytes() >= PRESSURE && self.leave_what_does_not_pay() {
            return;
        }
        let part = &mut self.parts[at];
        let bits = |set: u64| {
            let members = (0..tuples.len()).filter(|&c| set >> c & 1 == 1);
            members.fold(W::default(), |bits, component| bits | W::mask(tuples.field(component)))
        };
        let mut mask = part.mask | bits(touched.reads);
        let mut kept = part.kept;
        if !targets.is_empty() {
            // What not all executions replace is changed, and so part of the key.
            let told = W::ALL ^ bits(touched.writes);
            let before = if part.is_told { part.kept } else { told };
            mask = mask | (before ^ told);
            (kept, part.is_told) = (before | told, true);
        }
        kept = kept | mask;
        if mask != part.mask || kept != part.kept {
            (part.mask, part.kept) = (mask, kept);
            self.memories += 1;
            part.memory = self.memories;
        }
        let (key, memory) = (word & mask, part.memory);
        let mut steps = Steps { count: targets.len() as u32, ..Steps::default() };
        let differences = targets.iter().map(|&target| W::of(tuples, target) ^ (word & kept));
        if faulty {
            steps.count = ASK;
        } else if targets.is_empty() || targets.len() <= INLINE && self.labels.is_none() {
            steps.differences.iter_mut().zip(differences).for_each(|(place, difference)| *place = difference);
        } else {
            steps.differences[0] = W::from_place(self.differences.len());
            if self.differences.capacity() - self.differences.len() < targets.len() {
                self.differences.reserve_exact(targets.len() + self.differences.len() / 4);
            }
            self.differences.extend(differences);
            if let Some(labels) = &mut self.labels {
                labels.extend_from_slice(&self.taken);
            }
        }
        if mask == W::mask(tuples.field(tuples.fixed() + record)) {
            if steps.count == 0 {
                return self.unlist(record, at);
            } else if steps.count <= INLINE as u32 && self.labels.is_none() {
                part.fixed = Some(steps);
                return;
            }
        }
        if !self.steps.add(key, memory, (steps.count, steps.differences)) {
            // Parts keep their doubts, but not what they remember.
            self.forget_differences();
        }
    }

    fn forget_differences(&mut self) {
        self.differences.clear();
        self.labels.iter_mut().for_each(Vec::clear);
    }

    /// Names are laid out anew, or records have kinds that they had not.
    #[cold]
    fn forget(&mut self, tuples: &Tuples) {
        self.layout = tuples.changes();
        self.steps.clear();
        self.forget_differences();
        self.sets.clear(tuples);
        self.parts.clear();
        let records = tuples.len() - tuples.fixed();
        self.kinds = (tuples.fixed()..tuples.len()).map(|record| tuples.kinds(record).to_vec()).collect();
        self.records.resize(records, Record::default());
        self.records.iter_mut().for_each(|record| record.values = Vec::new());
        self.look_at_fields(tuples);
        self.groups.reset(records, self.expansions);
        for record in 0..records {
            if self.records[record].left != 0 {
                self.leave(record);
            }
        }
    }

    /// Fields may have moved.
    fn look_at_fields(&mut self, tuples: &Tuples) {
        for (record, component) in self.records.iter_mut().zip(tuples.fixed()..tuples.len()) {
            record.field = tuples.field(component);
        }
    }

    /// What another system of the same program may begin with: steps are the same there, but it numbers what
    /// processes mean for the choice of sets as it meets them.
    pub(crate) fn for_another_system(&self) -> Self {
        Memo { sets: self.sets.for_another_system(), ..self.clone() }
    }

    /// Remembers the steps of each record for itself from now on, in less memory.
    pub(crate) fn close_groups(&mut self) {
        let records = self.records.len();
        self.groups.close();
        self.groups.reset(records, self.expansions);
    }

    /// Gives all memory back and is off for good: where memory is short, states need it more.
    pub(crate) fn close(&mut self) {
        *self = Memo { off: true, ..Memo::default() };
    }

    pub(crate) fn bytes(&self) -> u64 {
        let values: usize = self.records.iter().map(|r| size_of::<Record>() + r.values.capacity() * 8).sum();
        let parts = self.parts.capacity() * size_of::<Remembered<W>>();
        let labels = self.labels.as_ref().map_or(0, |labels| labels.capacity() * size_of::<Label>());
        let differences = self.differences.capacity() * size_of::<W>() + labels;
        self.steps.bytes() + self.sets.bytes() + self.groups.bytes() + (differences + values + parts) as u64
    }
}
