//! A set that is one sorted vector: canonical as a state has to be, and read in place without an allocation,
//! which the tree of the standard library is not. Right for the few messages or locks of a state, not for
//! thousands.

use std::fmt;
use std::ops::Deref;

use crate::pack::Pack;

/// A small set, its values in order.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Set<T>(Vec<T>);

impl<T> Default for Set<T> {
    fn default() -> Self {
        Set(Vec::new())
    }
}

impl<T: Ord> Set<T> {
    /// The empty set.
    pub fn new() -> Self {
        Set::default()
    }

    /// Adds a value; whether it is new.
    pub fn insert(&mut self, value: T) -> bool {
        match self.0.binary_search(&value) {
            Ok(_) => false,
            Err(place) => {
                self.0.insert(place, value);
                true
            }
        }
    }

    /// Takes a value out; whether it was there.
    pub fn remove(&mut self, value: &T) -> bool {
        let found = self.0.binary_search(value);
        if let Ok(place) = found {
            self.0.remove(place);
        }
        found.is_ok()
    }

    /// Whether the value is there.
    pub fn has(&self, value: &T) -> bool {
        self.0.binary_search(value).is_ok()
    }

    /// Takes all values out.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

impl<T> Deref for Set<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T: Ord> FromIterator<T> for Set<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        let mut all: Vec<T> = values.into_iter().collect();
        all.sort();
        all.dedup();
        Set(all)
    }
}

impl<T: fmt::Debug> fmt::Debug for Set<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(&self.0).finish()
    }
}

impl<T: Pack> Pack for Set<T> {
    #[inline(always)]
    fn put<'a>(&self, place: &'a mut [u8]) -> Option<&'a mut [u8]> {
        self.0.put(place)
    }

    #[inline(always)]
    fn assign(&mut self, from: &Self) {
        self.0.assign(&from.0);
    }

    #[inline(always)]
    fn unpack(&mut self, bytes: &mut &[u8]) -> Option<()> {
        self.0.unpack(bytes)
    }

    fn unpacked(bytes: &mut &[u8]) -> Option<Self> {
        Vec::unpacked(bytes).map(Set)
    }
}
