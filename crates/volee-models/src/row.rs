//! As many values as a model has of something, from the first state to the last: resource managers, cells of
//! a buffer, processes.
//!
//! A vector may grow, so nobody can say where in the bytes of a state the next field begins. A row does not:
//! its values can be changed but not their number, and states with rows are kept field by field.
//!
//! A row also notes which of its values somebody looks at, while it is *watched*: that is how a search knows
//! what a step depends on without being told (see `parts.rs`). Whatever reaches values other than by one
//! index reaches all of them. A row that was made by the model, or stands where another one stood, counts as
//! looked at as a whole.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::{
    Deref, DerefMut, Index, IndexMut, Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive,
};
use std::slice::SliceIndex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use volee::system::Variable;

use crate::pack::{Pack, assign_all, put_all, put_length, unpack_into, unpack_length, variables_of};

/// All values were looked at.
const ALL: u64 = u64::MAX;

/// A fixed number of values.
pub struct Row<T> {
    values: Vec<T>,
    /// The values that were looked at, one bit for each; from the 64th on they share the last.
    seen: AtomicU64,
    /// Which row of a watched state it is, from 1 on; 0 for others.
    place: u32,
}

impl<T> Row<T> {
    fn new(values: Vec<T>) -> Self {
        Row { values, seen: AtomicU64::new(ALL), place: 0 }
    }

    /// How many values there are: no state has another number of them.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Somebody looks at these values.
    #[inline(always)]
    fn note(&self, values: u64) {
        if self.seen.load(Relaxed) != ALL {
            self.seen.fetch_or(values, Relaxed);
        }
    }

    #[inline(always)]
    fn all(&self) -> &Vec<T> {
        self.note(ALL);
        &self.values
    }
}

impl<T: Clone> Row<T> {
    /// So many times the same value.
    pub fn of(number: usize, value: T) -> Self {
        Row::new(vec![value; number])
    }
}

impl<T: Clone> Clone for Row<T> {
    fn clone(&self) -> Self {
        Row::new(self.all().clone())
    }
}

impl<T> FromIterator<T> for Row<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Row::new(values.into_iter().collect())
    }
}

impl<T> Deref for Row<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        self.all()
    }
}

impl<T> DerefMut for Row<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        self.note(ALL);
        &mut self.values
    }
}

/// What a row can be indexed with.
pub trait Places<T>: SliceIndex<[T]> {
    /// The places as bits.
    fn bits(&self) -> u64;
}

impl<T> Places<T> for usize {
    #[inline(always)]
    fn bits(&self) -> u64 {
        bit(*self)
    }
}

/// The bit of a value.
#[inline(always)]
fn bit(place: usize) -> u64 {
    1 << place.min(63)
}

macro_rules! ranges {
    ($($range:ty),*) => {$(
        impl<T> Places<T> for $range {
            #[inline(always)]
            fn bits(&self) -> u64 {
                ALL
            }
        }
    )*};
}

ranges!(
    Range<usize>,
    RangeFrom<usize>,
    RangeFull,
    RangeInclusive<usize>,
    RangeTo<usize>,
    RangeToInclusive<usize>
);

impl<T, I: Places<T>> Index<I> for Row<T> {
    type Output = I::Output;

    #[inline(always)]
    fn index(&self, place: I) -> &I::Output {
        self.note(place.bits());
        &self.values[place]
    }
}

impl<T, I: Places<T>> IndexMut<I> for Row<T> {
    #[inline(always)]
    fn index_mut(&mut self, place: I) -> &mut I::Output {
        self.note(place.bits());
        &mut self.values[place]
    }
}

impl<T: PartialEq> PartialEq for Row<T> {
    fn eq(&self, other: &Self) -> bool {
        self.all() == other.all()
    }
}

impl<T: Eq> Eq for Row<T> {}

impl<T: PartialOrd> PartialOrd for Row<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.all().partial_cmp(other.all())
    }
}

impl<T: Ord> Ord for Row<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.all().cmp(other.all())
    }
}

impl<T: Hash> Hash for Row<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.all().hash(state);
    }
}

impl<T: fmt::Debug> fmt::Debug for Row<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.all().fmt(f)
    }
}

impl<T: Pack> Pack for Row<T> {
    const COMPOSITE: bool = T::COMPOSITE;

    #[inline(always)]
    fn put<'a>(&self, place: &'a mut [u8]) -> Option<&'a mut [u8]> {
        put_all(self.all(), put_length(self.values.len(), place)?)
    }

    #[inline(always)]
    fn assign(&mut self, from: &Self) {
        // The same row of another state is copied by who watches, any other by the model.
        if self.place != from.place {
            from.note(ALL);
        }
        assign_all(&mut self.values, &from.values);
    }

    #[inline(always)]
    fn unpack(&mut self, bytes: &mut &[u8]) -> Option<()> {
        let length = unpack_length(bytes)?;
        unpack_into(&mut self.values, length, bytes)
    }

    fn unpacked(bytes: &mut &[u8]) -> Option<Self> {
        Vec::unpacked(bytes).map(Row::new)
    }

    fn width(&self) -> Option<usize> {
        Some(
            width_of_length(self.values.len())
                + self.values.iter().map(Pack::width).sum::<Option<usize>>()?,
        )
    }

    fn fields(&self, widths: &mut Vec<Option<usize>>) {
        if self.values.is_empty() {
            return widths.push(self.width());
        }
        let first = widths.len();
        self.values.iter().for_each(|value| value.fields(widths));
        // The length, which never changes, goes with the first.
        if let Some(Some(width)) = widths.get_mut(first) {
            *width += width_of_length(self.values.len());
        }
    }

    fn watch(&mut self, rows: &mut u32, on: bool) {
        *rows += 1;
        self.place = *rows;
        *self.seen.get_mut() = if on { 0 } else { ALL };
    }

    fn seen(&self, rows: &mut u32, seen: &mut Vec<bool>) -> Option<()> {
        *rows += 1;
        if self.place != *rows {
            return None;
        }
        if self.values.is_empty() {
            seen.push(false);
            return Some(());
        }
        let (bits, mut fields) = (self.seen.load(Relaxed), Vec::new());
        for (place, value) in self.values.iter().enumerate() {
            fields.clear();
            value.fields(&mut fields);
            seen.extend(fields.iter().map(|_| bits & bit(place) != 0));
        }
        Some(())
    }

    fn variables(&self, name: &str, all: &mut Vec<Variable>) {
        variables_of(self.all(), name, all);
    }
}

/// The bytes that a length takes: seven bits each.
fn width_of_length(length: usize) -> usize {
    (usize::BITS - (length | 1).leading_zeros()).div_ceil(7) as usize
}
