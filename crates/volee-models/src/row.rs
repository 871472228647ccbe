//! As many values as a model has of something, from the first state to the last: resource managers, cells of
//! a buffer, processes.
//!
//! A vector may grow, so nobody can say where in the bytes of a state the next field begins. A row does not:
//! its values can be changed but not their number, and states with rows are kept field by field.

use std::fmt;
use std::ops::{Deref, DerefMut};

use volee::system::Variable;

use crate::pack::{Pack, assign_all, put_all, put_length, unpack_into, unpack_length, variables_of};

/// A fixed number of values.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Row<T>(Vec<T>);

impl<T: Clone> Row<T> {
    /// So many times the same value.
    pub fn of(number: usize, value: T) -> Self {
        Row(vec![value; number])
    }
}

impl<T> FromIterator<T> for Row<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Row(values.into_iter().collect())
    }
}

impl<T> Deref for Row<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T> DerefMut for Row<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

impl<T: fmt::Debug> fmt::Debug for Row<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T: Pack> Pack for Row<T> {
    const COMPOSITE: bool = T::COMPOSITE;

    #[inline(always)]
    fn put<'a>(&self, place: &'a mut [u8]) -> Option<&'a mut [u8]> {
        put_all(&self.0, put_length(self.0.len(), place)?)
    }

    #[inline(always)]
    fn assign(&mut self, from: &Self) {
        assign_all(&mut self.0, &from.0);
    }

    #[inline(always)]
    fn unpack(&mut self, bytes: &mut &[u8]) -> Option<()> {
        let length = unpack_length(bytes)?;
        unpack_into(&mut self.0, length, bytes)
    }

    fn unpacked(bytes: &mut &[u8]) -> Option<Self> {
        Vec::unpacked(bytes).map(Row)
    }

    fn width(&self) -> Option<usize> {
        Some(width_of_length(self.0.len()) + self.0.iter().map(Pack::width).sum::<Option<usize>>()?)
    }

    fn fields(&self, widths: &mut Vec<Option<usize>>) {
        if self.0.is_empty() {
            return widths.push(self.width());
        }
        let first = widths.len();
        self.0.iter().for_each(|value| value.fields(widths));
        // The length, which never changes, goes with the first.
        if let Some(Some(width)) = widths.get_mut(first) {
            *width += width_of_length(self.0.len());
        }
    }

    fn variables(&self, name: &str, all: &mut Vec<Variable>) {
        variables_of(&self.0, name, all);
    }
}

/// The bytes that a length takes: seven bits each.
fn width_of_length(length: usize) -> usize {
    (usize::BITS - (length | 1).leading_zeros()).div_ceil(7) as usize
}
