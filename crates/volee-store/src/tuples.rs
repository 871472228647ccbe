//! Packed names: a state is the tuple of the numbers of its components, side by side in one word.
//!
//! Each component has a [`Dictionary`]; its number stands in a *field* just wide enough for the values met so far. So a
//! name needs no inner nodes: a state's successor differs from it in the components that the step touched, and only those
//! are looked up. When a dictionary outgrows its field, the fields are laid out anew and all names change
//! ([`Tuples::lay_out`]); whoever keeps names translates them. Until then a state that has no name waits, and is called by
//! its place among those that wait (a name with [`WAITING`] set). The names of states are exact: equal names are equal
//! states. After COLLAPSE (Holzmann, "State compression in SPIN", 1997) with fields of bits instead of bytes.
//!
//! Naming and loading work against a *base*, the state that was loaded last, and touch what differs from it.
//!
//! No name is 0: the numbers of the first component start at 1. So do those of records, whose 0 says that there is none.

use volee_system::Components;

use crate::Name;
use crate::dictionary::Dictionary;

/// Set in the name of a state that waits for wider fields.
pub const WAITING: Name = 1 << 63;

/// Bits that all fields may have together.
const MOST_BITS: u32 = 63;

/// Components at most: a set of them is a word.
pub const MOST_COMPONENTS: usize = 64;

/// Bits for more values, where names cannot be as short as the store wishes.
const SPARE_BITS: u32 = 5;

/// Values from which on a field has room for more of them.
const MANY_VALUES: usize = 8;

/// Where the number of a component stands in a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Field {
    shift: u32,
    width: u32,
}

impl Field {
    /// The bits of the field, in place.
    #[inline(always)]
    pub fn mask(self) -> u64 {
        ((1 << self.width) - 1) << self.shift
    }

    /// The number that stands in it.
    #[inline(always)]
    pub fn of(self, name: Name) -> usize {
        (name >> self.shift & ((1 << self.width) - 1)) as usize
    }
}

/// One component: its field and its values.
#[derive(Debug, Clone)]
struct Component {
    field: Field,
    values: Dictionary,
    /// The number of its first value.
    first: usize,
    /// The kinds of its values, where it is a record.
    kinds: Vec<u8>,
}

impl Component {
    fn new(first: usize) -> Self {
        Component { field: Field::default(), values: Dictionary::new(), first, kinds: Vec::new() }
    }

    /// Bits that numbers need when there are `factor` times as many.
    fn bits(&self, factor: usize) -> u32 {
        let values = self.values.len();
        let most = if values < MANY_VALUES { values } else { values * factor };
        (most + self.first).saturating_sub(1).checked_ilog2().map_or(0, |log| log + 1)
    }

    fn value(&self, name: Name) -> &[u8] {
        match self.field.of(name).checked_sub(self.first) {
            Some(number) => self.values.get(number),
            None => &[],
        }
    }
}

/// The state that was loaded last.
#[derive(Debug, Clone, Default)]
struct Base {
    bytes: Vec<u8>,
    name: Name,
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
    /// The component whose field a bit of a name is in.
    owner_of_bit: [u8; 64],
    base: Base,
    /// States without a name, one after the other, and the end of each.
    waiting: Vec<u8>,
    waiting_ends: Vec<usize>,
    starts: Vec<u32>,
    /// Counts how often the kinds of records became more, or the fields were laid out.
    changes: u64,
    /// The states cannot be named like this at all.
    misfits: bool,
}

/// How names were laid out, and how they are now.
#[derive(Debug, Clone)]
pub struct Layouts {
    fields: Vec<(Field, Field)>,
}

impl Layouts {
    /// The name that a state has now.
    #[inline]
    pub fn translate(&self, name: Name) -> Name {
        let mut new = 0;
        for (from, to) in &self.fields {
            new |= (from.of(name) as u64) << to.shift;
        }
        new
    }
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
            owner_of_bit: [0; 64],
            base: Base::default(),
            waiting: Vec::new(),
            waiting_ends: Vec::new(),
            starts: Vec::new(),
            changes: 0,
            misfits: false,
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

    /// The bits of all fields.
    pub fn width(&self) -> u32 {
        self.components.iter().map(|c| c.field.width).sum()
    }

    /// Whether some states wait for a name: see [`Tuples::lay_out`].
    #[inline(always)]
    pub fn has_waiting(&self) -> bool {
        !self.waiting_ends.is_empty()
    }

    /// The name of a state, or its place among those that wait for one.
    #[inline]
    pub fn name(&mut self, state: &[u8]) -> Name {
        let name = if self.is_like_base(state) { self.name_by_base(state) } else { self.name_afresh(state) };
        match name {
            Some(name) => name,
            None => self.wait(state),
        }
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

    /// All values are interned, whether the earlier ones have room or not: then one layout is enough for the state.
    #[inline]
    fn name_by_base(&mut self, state: &[u8]) -> Option<Name> {
        let mut name = Some(self.base.name);
        let mut at = 0;
        while let Some(differs) = difference(&self.base.bytes, state, at) {
            let owner = usize::from(self.base.owners[differs]);
            let (start, end) = (self.base.starts[owner] as usize, self.base.starts[owner + 1] as usize);
            let with = self.with_value(name.unwrap_or_default(), owner, &state[start..end]);
            name = name.and(with);
            at = end;
        }
        name
    }

    #[cold]
    fn name_afresh(&mut self, state: &[u8]) -> Option<Name> {
        let mut starts = std::mem::take(&mut self.starts);
        self.misfits |= self.cut.starts(state, &mut starts).is_none() || starts.len() - 1 > MOST_COMPONENTS;
        let mut name = (!self.misfits).then_some(0);
        if !self.misfits {
            while self.components.len() < starts.len() - 1 {
                self.components.push(Component::new(1));
            }
            for (owner, ends) in starts.windows(2).enumerate() {
                let value = &state[ends[0] as usize..ends[1] as usize];
                let with = self.with_value(name.unwrap_or_default(), owner, value);
                name = name.and(with);
            }
        }
        self.starts = starts;
        name
    }

    /// The name with another value of a component. `None` where its field has no room.
    #[inline(always)]
    fn with_value(&mut self, name: Name, owner: usize, value: &[u8]) -> Option<Name> {
        let component = &mut self.components[owner];
        let known = component.values.len();
        let Some(number) = component.values.intern(value) else {
            self.misfits = true;
            return None;
        };
        if number as usize >= known && owner >= self.cut.ends.len() && !component.kinds.contains(&value[0]) {
            component.kinds.push(value[0]);
            self.changes += 1;
        }
        let number = number as u64 + component.first as u64;
        let Field { shift, width } = component.field;
        if number >> width != 0 {
            return None;
        }
        Some(name & !component.field.mask() | number << shift)
    }

    #[cold]
    fn wait(&mut self, state: &[u8]) -> Name {
        self.waiting.extend_from_slice(state);
        self.waiting_ends.push(self.waiting.len());
        WAITING | (self.waiting_ends.len() - 1) as u64
    }

    /// Makes fields wide enough for all values, for some with room for more, of so many bits in all where that is possible.
    /// Names change. `None` when a word does not hold them all.
    pub fn lay_out(&mut self, bits: u32) -> Option<Layouts> {
        if self.misfits {
            return None;
        }
        let total = |factor| self.components.iter().map(|c| c.bits(factor)).sum::<u32>();
        let least = total(1);
        let bits = bits.max(least + SPARE_BITS).min(MOST_BITS);
        let factor = [4, 2, 1].into_iter().find(|&factor| total(factor) <= bits)?;
        let mut shift = 0;
        let mut fields = Vec::with_capacity(self.components.len());
        for (owner, component) in self.components.iter_mut().enumerate() {
            let field = Field { shift, width: component.bits(factor) };
            self.owner_of_bit[shift as usize..(shift + field.width) as usize].fill(owner as u8);
            fields.push((std::mem::replace(&mut component.field, field), field));
            shift += field.width;
        }
        let layouts = Layouts { fields };
        self.base.name = layouts.translate(self.base.name);
        self.changes += 1;
        Some(layouts)
    }

    /// Takes the states that wait; their names were their places here.
    pub fn take_waiting(&mut self) -> Waiting {
        Waiting { bytes: std::mem::take(&mut self.waiting), ends: std::mem::take(&mut self.waiting_ends) }
    }

    /// The state of a name, which becomes the base.
    #[inline]
    pub fn load(&mut self, name: Name) -> &[u8] {
        let mut differs = name ^ self.base.name;
        while differs != 0 {
            let owner = usize::from(self.owner_of_bit[differs.trailing_zeros() as usize]);
            let component = &self.components[owner];
            let value = component.value(name);
            let (Some(&start), Some(&end)) = (self.base.starts.get(owner), self.base.starts.get(owner + 1))
            else {
                return self.load_afresh(name);
            };
            let place = &mut self.base.bytes[start as usize..end as usize];
            let is_record = owner >= self.cut.ends.len();
            if value.len() != place.len() || is_record && value[0] != place[0] {
                return self.load_afresh(name);
            }
            place.copy_from_slice(value);
            differs &= !component.field.mask();
        }
        self.base.name = name;
        &self.base.bytes
    }

    #[cold]
    fn load_afresh(&mut self, name: Name) -> &[u8] {
        let base = &mut self.base;
        base.bytes.clear();
        base.owners.clear();
        for (owner, component) in self.components.iter().enumerate() {
            let value = component.value(name);
            base.bytes.extend_from_slice(value);
            base.owners.resize(base.bytes.len(), owner as u8);
        }
        base.name = name;
        let cut = self.cut.starts(&base.bytes, &mut base.starts);
        debug_assert!(cut.is_some(), "the components of a named state fit together");
        &base.bytes
    }

    pub fn bytes(&self) -> u64 {
        let values: u64 = self.components.iter().map(|c| c.values.memory()).sum();
        values + (self.components.capacity() * size_of::<Component>() + self.waiting.capacity()) as u64
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
    pub fn state(&self, name: Name) -> &[u8] {
        let at = (name & !WAITING) as usize;
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.bytes[start..self.ends[at]]
    }
}

/// The first place from `at` on where two states of the same length differ.
#[inline(always)]
fn difference(one: &[u8], other: &[u8], mut at: usize) -> Option<usize> {
    let len = one.len().min(other.len());
    while let (Some(a), Some(b)) = (one.get(at..at + 8), other.get(at..at + 8)) {
        let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap_or_default());
        let differs = word(a) ^ word(b);
        if differs != 0 {
            return Some(at + differs.trailing_zeros() as usize / 8);
        }
        at += 8;
    }
    (at..len).find(|&at| one[at] != other[at])
}
