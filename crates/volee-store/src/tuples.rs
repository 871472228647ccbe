//! Packed names: a state is the tuple of the numbers of its components, side by side in one word.
//!
//! Each component has a [`Dictionary`]; its number stands in a *field* just wide enough for the values met so
//! far. So a name needs no inner nodes: a state's successor differs from it in the components that the step
//! touched, and only those are looked up. When a dictionary outgrows its field, the fields are laid out anew
//! and all names change ([`Tuples::lay_out`]); whoever keeps names translates them. Until then a state that
//! has no name waits, and is called by its place among those that wait (a name with [`WAITING`] set). The
//! names of states are exact: equal names are equal states. After COLLAPSE (Holzmann, "State compression in
//! SPIN", 1997) with fields of bits instead of bytes.
//!
//! Where the tuple has more bits than a word, a name has the fields of the last components itself and, of the
//! others together, a number ([`Others`]): one more look-up where a step touches them.
//!
//! Naming and loading work against a *base*, the state that was loaded last, and touch what differs from it.
//!
//! No name is 0: the numbers of the first component start at 1. So do those of records that the first state
//! does not have: their 0 says that there is none. Where a record of the first state is missing later, that
//! is a value like others.

use std::sync::Arc;

use volee_system::Components;

use crate::StateRef;
use crate::dictionary::Dictionary;
use crate::numbering::Numbering;
use crate::others::Others;

mod differing;
mod held;
mod layouts;
mod replica;

use differing::difference;
pub use layouts::Layouts;

/// Set in the name of a state that waits for wider fields.
pub const WAITING: u64 = 1 << 63;

/// The numbers of all components, side by side.
pub type Tuple = u128;

/// Bits that a name has at most.
const NAME_BITS: u32 = 63;
/// Bits of the fields that a name has itself where it does not have them all.
const OWN_BITS: u32 = NAME_BITS - Others::NUMBER_BITS;
/// Bits of all fields, at most: what a name does not have itself is a word, and no field begins after the
/// last bit of a tuple.
const MOST_BITS: u32 = Tuple::BITS - 1;
const _: () = assert!(MOST_BITS - OWN_BITS <= Others::WORD_BITS);

/// Components at most: a set of them is a word.
pub const MOST_COMPONENTS: usize = 64;

/// Bits for more values, where names cannot be as short as the store wishes.
const SPARE_BITS: u32 = 5;

/// Values from which on a field has room for more of them.
const MANY_VALUES: usize = 8;

/// Where the number of a component stands in a tuple.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Field {
    shift: u32,
    width: u32,
    /// As many ones as it is wide: every look at a number needs them.
    ones: u64,
}

impl Field {
    fn new(shift: u32, width: u32) -> Self {
        Field { shift, width, ones: (1 << width) - 1 }
    }

    /// The bits of the field, in place.
    #[inline(always)]
    pub fn mask(self) -> Tuple {
        Tuple::from(self.ones) << self.shift
    }

    /// The number that stands in it.
    #[inline(always)]
    pub fn of(self, tuple: Tuple) -> usize {
        ((tuple >> self.shift) as u64 & self.ones) as usize
    }

    /// The same where the tuple has no more bits than a name.
    #[inline(always)]
    pub fn of_ref(self, name: StateRef) -> usize {
        (name.0 >> self.shift & self.ones) as usize
    }
}

/// One component: its field and its values.
#[derive(Debug, Clone)]
struct Component {
    field: Field,
    /// The bits of the field, in place.
    mask: Tuple,
    values: Dictionary,
    /// The number of its first value.
    first: usize,
    /// The kinds of its values, where it is a record.
    kinds: Vec<u8>,
}

impl Component {
    /// What a new one takes, with its first value.
    const BYTES: usize = size_of::<Component>() + Dictionary::FIRST_BYTES;

    fn new(first: usize) -> Self {
        Component { field: Field::default(), mask: 0, values: Dictionary::new(), first, kinds: Vec::new() }
    }

    /// Bits that numbers need when there are `factor` times as many.
    fn bits(&self, factor: usize) -> u32 {
        let values = self.values.len();
        let most = if values < MANY_VALUES { values } else { values * factor };
        (most + self.first).saturating_sub(1).checked_ilog2().map_or(0, |log| log + 1)
    }

    fn value(&self, tuple: Tuple) -> &[u8] {
        match self.field.of(tuple).checked_sub(self.first) {
            Some(number) => self.values.get(number),
            None => &[],
        }
    }
}

/// The state that was loaded last.
#[derive(Debug, Clone, Default)]
struct Base {
    bytes: Vec<u8>,
    name: StateRef,
    tuple: Tuple,
    /// Where its components begin, and the end of the last.
    starts: Vec<u32>,
    /// The component of each byte.
    owners: Vec<u8>,
}

/// Names for the states of a system that tells its components.
#[derive(Debug, Clone)]
pub struct Tuples {
    cut: Components,
    components: Vec<Component>,
    /// The component whose field a bit of a tuple is in.
    owner_of_bit: [u8; 128],
    /// Names have not all fields themselves.
    wide: bool,
    others: Others,
    base: Base,
    /// States without a name, one after the other, and the end of each.
    waiting: Vec<u8>,
    waiting_ends: Vec<usize>,
    starts: Vec<u32>,
    /// Counts how often the kinds of records became more, or the fields were laid out.
    changes: u64,
    /// The states cannot be named like this at all.
    misfits: bool,
    lost: bool,
    /// Bytes that it may take; what needs more is lost.
    most: u64,
    /// What this one and its clones share, and how much of it this one has taken over.
    numbering: Option<Arc<Numbering>>,
    known_values: usize,
    known_words: usize,
}

/// The tuple of a name.
#[inline(always)]
fn expand(wide: bool, others: &Others, name: StateRef) -> Tuple {
    if !wide {
        return Tuple::from(name.0);
    }
    let number = ((name.0 >> OWN_BITS) as usize).wrapping_sub(1);
    let own = Tuple::from(name.0 & ((1 << OWN_BITS) - 1));
    others.get(number) << OWN_BITS | own
}

impl Tuples {
    /// Names for states that are cut like this; `None` where there are too many components.
    pub fn new(cut: Components) -> Option<Self> {
        if cut.ends.is_empty() || cut.ends.len() > MOST_COMPONENTS {
            return None;
        }
        let components = (0..cut.ends.len()).map(|at| Component::new(usize::from(at == 0))).collect();
        Some(Tuples {
            cut,
            components,
            owner_of_bit: [0; 128],
            wide: false,
            others: Others::default(),
            base: Base::default(),
            waiting: Vec::new(),
            waiting_ends: Vec::new(),
            starts: Vec::new(),
            changes: 0,
            misfits: false,
            lost: false,
            most: u64::MAX,
            numbering: None,
            known_values: 0,
            known_words: 0,
        })
    }

    /// Components that every state has; the others are records.
    pub fn fixed(&self) -> usize {
        self.cut.ends.len()
    }

    /// Components met so far, records included.
    pub fn len(&self) -> usize {
        self.components.len()
    }

    /// Where the number of a component stands.
    #[inline(always)]
    pub fn field(&self, component: usize) -> Field {
        self.components[component].field
    }

    /// The kinds of values that a record has had so far.
    pub fn kinds(&self, component: usize) -> &[u8] {
        &self.components[component].kinds
    }

    /// A number that changes with every layout and every new kind of a record.
    #[inline(always)]
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// Whether tuples have more bits than names.
    #[inline(always)]
    pub fn is_wide(&self) -> bool {
        self.wide
    }

    /// The tuple of a name.
    #[inline(always)]
    pub fn tuple(&self, name: StateRef) -> Tuple {
        expand(self.wide, &self.others, name)
    }

    /// The name of a tuple. `None` where there are too many: then the state is to be named, and will wait.
    #[inline(always)]
    pub fn name_of(&mut self, tuple: Tuple) -> Option<StateRef> {
        if self.wide { self.name_of_wide(tuple) } else { Some(StateRef(tuple as u64)) }
    }

    /// The same beside a name whose tuple is known: where the two differ only in what names have themselves,
    /// nothing is looked up.
    #[inline(always)]
    pub fn name_beside(&mut self, tuple: Tuple, (name, known): (StateRef, Tuple)) -> Option<StateRef> {
        let differs = tuple ^ known;
        if differs >> OWN_BITS == 0 { Some(StateRef(name.0 ^ differs as u64)) } else { self.name_of(tuple) }
    }

    #[inline]
    fn name_of_wide(&mut self, tuple: Tuple) -> Option<StateRef> {
        let own = tuple as u64 & ((1 << OWN_BITS) - 1);
        let word = tuple >> OWN_BITS;
        let number = if self.base.tuple >> OWN_BITS == word && self.base.name != StateRef::NONE {
            self.base.name.0 >> OWN_BITS
        } else {
            let known = self.others.find(word);
            let Some(number) = known.or_else(|| self.learn_word(word)) else {
                self.misfits = true;
                return None;
            };
            // No name is 0.
            number as u64 + 1
        };
        Some(StateRef(number << OWN_BITS | own))
    }

    /// The bits of all names.
    pub fn width(&self) -> u32 {
        if self.wide { NAME_BITS } else { self.components.iter().map(|c| c.field.width).sum() }
    }

    /// Whether some states wait for a name: see [`Tuples::lay_out`].
    #[inline(always)]
    pub fn has_waiting(&self) -> bool {
        !self.waiting_ends.is_empty()
    }

    /// The name of a state, or its place among those that wait for one.
    #[inline]
    pub fn name(&mut self, state: &[u8]) -> StateRef {
        match self.tuple_of(state).and_then(|tuple| self.name_of(tuple)) {
            Some(name) => name,
            None => self.wait(state),
        }
    }

    /// The tuple of a state, where fields have room for it.
    #[inline]
    fn tuple_of(&mut self, state: &[u8]) -> Option<Tuple> {
        if self.is_like_base(state) { self.tuple_by_base(state) } else { self.tuple_afresh(state) }
    }

    /// Whether the components of a state are where those of the base are.
    #[inline]
    fn is_like_base(&self, state: &[u8]) -> bool {
        let Base { bytes, starts, .. } = &self.base;
        let fixed = self.cut.ends.len();
        bytes.len() == state.len()
            && !starts.is_empty()
            && match &self.cut.records {
                None => true,
                Some(records) => {
                    let count_at = records.count_at as usize;
                    bytes[count_at] == state[count_at]
                        && starts[fixed..starts.len() - 1]
                            .iter()
                            .all(|&at| bytes[at as usize] == state[at as usize])
                }
            }
    }

    /// All values are interned, whether the earlier ones have room or not: then one layout is enough for the
    /// state.
    #[inline]
    fn tuple_by_base(&mut self, state: &[u8]) -> Option<Tuple> {
        let mut tuple = Some(self.base.tuple);
        let mut at = 0;
        while let Some(differs) = difference(&self.base.bytes, state, at) {
            let owner = usize::from(self.base.owners[differs]);
            let (start, end) = (self.base.starts[owner] as usize, self.base.starts[owner + 1] as usize);
            let with = self.with_value(tuple.unwrap_or_default(), owner, &state[start..end]);
            tuple = tuple.and(with);
            at = end;
        }
        tuple
    }

    #[cold]
    fn tuple_afresh(&mut self, state: &[u8]) -> Option<Tuple> {
        let mut starts = std::mem::take(&mut self.starts);
        self.misfits |= self.cut.starts(state, &mut starts).is_none() || starts.len() - 1 > MOST_COMPONENTS;
        let mut tuple = (!self.misfits).then_some(0);
        if !self.misfits {
            let is_first = self.components[0].values.len() == 0;
            let more = (starts.len() - 1).saturating_sub(self.components.len());
            if !self.may_grow((more * Component::BYTES) as u64) {
                self.lost = true;
                self.starts = starts;
                return None;
            }
            self.components.reserve_exact(more);
            while self.components.len() < starts.len() - 1 {
                self.components.push(Component::new(usize::from(!is_first)));
            }
            for (owner, ends) in starts.windows(2).enumerate() {
                let value = &state[ends[0] as usize..ends[1] as usize];
                let with = self.with_value(tuple.unwrap_or_default(), owner, value);
                tuple = tuple.and(with);
            }
            for owner in starts.len() - 1..self.components.len() {
                let with = self.without(tuple.unwrap_or_default(), owner);
                tuple = tuple.and(with);
            }
        }
        self.starts = starts;
        tuple
    }

    /// The tuple without a record.
    fn without(&mut self, tuple: Tuple, owner: usize) -> Option<Tuple> {
        match self.components[owner].first {
            0 => self.with_value(tuple, owner, &[]),
            _ => Some(tuple & !self.components[owner].mask),
        }
    }

    /// Whether a number of a record says that there is none.
    pub fn is_absent(&self, component: usize, number: usize) -> bool {
        let component = &self.components[component];
        number.checked_sub(component.first).is_none_or(|number| component.values.get(number).is_empty())
    }

    /// The tuple with another value of a component. `None` where its field has no room.
    #[inline(always)]
    fn with_value(&mut self, tuple: Tuple, owner: usize, value: &[u8]) -> Option<Tuple> {
        let number = match self.components[owner].values.find(value) {
            Some(number) => number,
            None => self.learn_value(owner, value)?,
        };
        let component = &self.components[owner];
        let number = number as u64 + component.first as u64;
        let Field { shift, width, .. } = component.field;
        if number >> width != 0 {
            return None;
        }
        Some(tuple & !component.mask | Tuple::from(number) << shift)
    }

    #[cold]
    fn wait(&mut self, state: &[u8]) -> StateRef {
        let room = self.waiting.capacity() - self.waiting.len();
        let growth = if state.len() > room { self.waiting.capacity().max(state.len()) as u64 } else { 0 };
        let ends = if self.waiting_ends.len() == self.waiting_ends.capacity() {
            8 * self.waiting_ends.len().max(4) as u64
        } else {
            0
        };
        if self.lost || !self.may_grow(growth + ends) {
            self.lost = true;
            return StateRef(1);
        }
        self.waiting.extend_from_slice(state);
        self.waiting_ends.push(self.waiting.len());
        StateRef(WAITING | (self.waiting_ends.len() - 1) as u64)
    }

    /// Makes fields wide enough for all values, for some with room for more, of this many bits in all where
    /// that is possible. Names change. `None` when there is no room for them all.
    pub fn lay_out(&mut self, bits: u32) -> Option<Layouts> {
        self.lay_out_within(bits, NAME_BITS)
    }

    /// The same for names that must not have more than `most` bits, unless there is a number for the rest.
    pub fn lay_out_within(&mut self, bits: u32, most: u32) -> Option<Layouts> {
        if self.misfits {
            return None;
        }
        let total = |factor| self.components.iter().map(|c| c.bits(factor)).sum::<u32>();
        let least = total(1);
        let wide = least > most;
        let wished = bits;
        let bits = match least {
            _ if wide => MOST_BITS,
            // The store's wish is out of reach, for long: let names change as rarely as possible.
            _ if least > bits + SPARE_BITS => most,
            _ => bits.max(least + SPARE_BITS).min(most),
        };
        // No field may stand on the border between what names have themselves and the rest.
        let factor = [4, 2, 1].into_iter().find(|&f| {
            let gap = if wide { self.largest(f) } else { 0 };
            total(f) + gap <= bits
        })?;
        // One less than the store wishes, or it would have to grow for it.
        let shared_out = if least > wished + SPARE_BITS { bits } else { wished };
        let spare = if wide { 0 } else { shared_out.saturating_sub(total(factor) + 1) };
        let fields = self.place_fields(factor, wide, spare);
        let was_wide = std::mem::replace(&mut self.wide, wide);
        let taken: u32 = self.components.iter().map(|c| c.field.shift + c.field.width).max().unwrap_or(0);
        let others = std::mem::replace(&mut self.others, Others::new(taken.saturating_sub(OWN_BITS)));
        let layouts = Layouts::new(fields, (was_wide, wide), others);
        if !self.base.starts.is_empty() {
            let tuple = layouts.translate(self.base.name);
            (self.base.tuple, self.base.name) = (tuple, StateRef::NONE);
            self.base.name = self.name_of(tuple).unwrap_or(StateRef::NONE);
        }
        self.changes += 1;
        Some(layouts)
    }

    fn largest(&self, factor: usize) -> u32 {
        self.components.iter().map(|c| c.bits(factor)).max().unwrap_or(0)
    }

    /// Places fields from the last component on: processes change often, and are what names best have
    /// themselves. Bits that are left go to those of few values that have room for no other.
    fn place_fields(&mut self, factor: usize, wide: bool, mut spare: u32) -> Vec<(Field, Field)> {
        let mut shift = 0;
        let mut fields = vec![(Field::default(), Field::default()); self.components.len()];
        for (owner, component) in self.components.iter_mut().enumerate().rev() {
            let mut width = component.bits(factor);
            if spare > 0 && width > 0 && (component.values.len() + component.first) >> width == 1 {
                (spare, width) = (spare - 1, width + 1);
            }
            if wide && shift < OWN_BITS && shift + width > OWN_BITS {
                shift = OWN_BITS;
            }
            let field = Field::new(shift, width);
            self.owner_of_bit[shift as usize..(shift + width) as usize].fill(owner as u8);
            component.mask = field.mask();
            fields[owner] = (std::mem::replace(&mut component.field, field), field);
            shift += width;
        }
        fields
    }

    /// The new name of a state that had one before.
    #[inline]
    pub fn renamed(&mut self, layouts: &Layouts, name: StateRef) -> StateRef {
        let name = self.name_of(layouts.translate(name));
        self.lost |= name.is_none();
        name.unwrap_or(StateRef(1))
    }

    /// Takes the states that wait; their names were their places here.
    pub fn take_waiting(&mut self) -> Waiting {
        Waiting { bytes: std::mem::take(&mut self.waiting), ends: std::mem::take(&mut self.waiting_ends) }
    }

    /// Takes states back that were taken before.
    pub fn put_waiting(&mut self, waiting: Waiting) {
        (self.waiting, self.waiting_ends) = (waiting.bytes, waiting.ends);
    }

    /// Whether names were lost when fields were laid out: there is no room for them all.
    #[inline(always)]
    pub fn is_full(&self) -> bool {
        self.lost
    }

    /// The state of a name, which becomes the base.
    #[inline]
    pub fn load(&mut self, name: StateRef) -> &[u8] {
        let tuple = self.tuple(name);
        let mut differs = tuple ^ self.base.tuple;
        while differs != 0 {
            let owner = usize::from(self.owner_of_bit[differs.trailing_zeros() as usize]);
            let component = &self.components[owner];
            let value = component.value(tuple);
            let (Some(&start), Some(&end)) = (self.base.starts.get(owner), self.base.starts.get(owner + 1))
            else {
                return self.load_afresh(name, tuple);
            };
            let place = &mut self.base.bytes[start as usize..end as usize];
            let is_record = owner >= self.cut.ends.len();
            if value.len() != place.len() || is_record && value[0] != place[0] {
                return self.load_afresh(name, tuple);
            }
            place.copy_from_slice(value);
            differs &= !component.mask;
        }
        (self.base.name, self.base.tuple) = (name, tuple);
        &self.base.bytes
    }

    #[cold]
    fn load_afresh(&mut self, name: StateRef, tuple: Tuple) -> &[u8] {
        let base = &mut self.base;
        base.bytes.clear();
        base.owners.clear();
        for (owner, component) in self.components.iter().enumerate() {
            let value = component.value(tuple);
            base.bytes.extend_from_slice(value);
            base.owners.resize(base.bytes.len(), owner as u8);
        }
        (base.name, base.tuple) = (name, tuple);
        let cut = self.cut.starts(&base.bytes, &mut base.starts);
        debug_assert!(cut.is_some(), "the components of a named state fit together");
        &base.bytes
    }
}

/// States that waited for wider fields.
#[derive(Debug, Clone, Default)]
pub struct Waiting {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Waiting {
    /// The state behind the name of one that waited.
    pub fn state(&self, name: StateRef) -> &[u8] {
        let at = (name.0 & !WAITING) as usize;
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.bytes[start..self.ends[at]]
    }
}
