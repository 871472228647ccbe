//! The values of one component of a state, each once, with a number: append-only and small, to stay in cache.
//!
//! A value of up to seven bytes is its own key; of a longer one the key is a hash, and the bytes decide.

use rapidhash::v3::{RapidSecrets, rapidhash_v3_nano_inline};

use crate::hash::mix;

const FIRST_PLACES: usize = 8;
const SECRETS: RapidSecrets = RapidSecrets::seed(0x766f_6c65_6501);

#[derive(Debug, Clone, Copy, Default)]
struct Place {
    key: u64,
    /// The number plus one; 0 is free.
    number: u32,
}

/// Values with numbers from 0 on.
#[derive(Debug, Clone)]
pub(crate) struct Dictionary {
    places: Vec<Place>,
    shift: u32,
    bytes: Vec<u8>,
    /// Where the value with a number ends, for each.
    ends: Vec<u32>,
}

impl Dictionary {
    /// What an empty one takes.
    pub const FIRST_BYTES: usize = FIRST_PLACES * size_of::<Place>();

    pub fn new() -> Self {
        Dictionary {
            places: vec![Place::default(); FIRST_PLACES],
            shift: 64 - FIRST_PLACES.trailing_zeros(),
            bytes: Vec::new(),
            ends: Vec::new(),
        }
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    #[inline]
    pub fn get(&self, number: usize) -> &[u8] {
        let start = if number == 0 { 0 } else { self.ends[number - 1] as usize };
        &self.bytes[start..self.ends[number] as usize]
    }

    /// The number of a value that is known.
    #[inline]
    pub fn find(&self, value: &[u8]) -> Option<u32> {
        let key = key(value);
        let mask = self.places.len() - 1;
        let mut at = (mix(key) >> self.shift) as usize;
        loop {
            let place = self.places[at];
            if place.number == 0 {
                return None;
            }
            if place.key == key && (value.len() < 8 || self.get(place.number as usize - 1) == value) {
                return Some(place.number - 1);
            }
            at = (at + 1) & mask;
        }
    }

    /// The number of a value that was not known. `None` when there is no room for another.
    #[cold]
    pub fn add(&mut self, value: &[u8]) -> Option<u32> {
        let key = key(value);
        let end = u32::try_from(self.bytes.len() + value.len()).ok()?;
        self.bytes.try_reserve(value.len()).ok()?;
        self.bytes.extend_from_slice(value);
        self.ends.push(end);
        if self.ends.len() * 2 > self.places.len() {
            self.grow();
        }
        let number = self.ends.len() as u32;
        self.put(Place { key, number });
        Some(number - 1)
    }

    fn grow(&mut self) {
        let larger = vec![Place::default(); self.places.len() * 2];
        self.shift -= 1;
        let old = std::mem::replace(&mut self.places, larger);
        old.into_iter().filter(|place| place.number != 0).for_each(|place| self.put(place));
    }

    fn put(&mut self, place: Place) {
        let mask = self.places.len() - 1;
        let mut at = (mix(place.key) >> self.shift) as usize;
        while self.places[at].number != 0 {
            at = (at + 1) & mask;
        }
        self.places[at] = place;
    }

    /// What so many more values of this many bytes together take, if they are not more than there are.
    pub fn growth(&self, values: usize, len: usize) -> u64 {
        let places = if (self.ends.len() + values) * 2 > self.places.len() { self.places.len() } else { 0 };
        let room = self.bytes.capacity() - self.bytes.len();
        let bytes = if len > room { self.bytes.capacity().max(len).max(8) } else { 0 };
        let ends = if self.ends.len() + values > self.ends.capacity() { self.ends.len().max(4) } else { 0 };
        (places * size_of::<Place>() + bytes + ends * 4) as u64
    }

    /// Bytes of a value, in the mean.
    pub fn mean(&self) -> usize {
        self.bytes.len().div_ceil(self.ends.len().max(1))
    }

    pub fn memory(&self) -> u64 {
        (self.places.len() * size_of::<Place>() + self.bytes.capacity() + self.ends.capacity() * 4) as u64
    }
}

#[inline]
fn key(value: &[u8]) -> u64 {
    if value.len() >= 8 {
        // No short value's key has this bit.
        return rapidhash_v3_nano_inline::<true, false>(value, &SECRETS) | 1 << 63;
    }
    // The first digit is the length, so values of different lengths have different keys.
    match (value.first_chunk(), value.last_chunk()) {
        (Some(first), Some(last)) => {
            let [first, last] = [first, last].map(|four| u64::from(u32::from_be_bytes(*four)));
            let length = value.len() as u64;
            length << (8 * length) | first << (8 * (length - 4)) | last
        }
        _ => value.iter().fold(value.len() as u64, |key, &byte| key << 8 | u64::from(byte)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_values_are_their_own_keys() {
        let long = [37u8, 74, 111, 148, 185, 222, 3];
        for length in 0..=7 {
            let value = &long[..length];
            let digits = value.iter().fold(length as u64, |key, &byte| key << 8 | u64::from(byte));
            assert_eq!(key(value), digits, "{value:?}");
        }
    }

    #[test]
    fn values_of_any_length_keep_their_numbers() {
        let mut dictionary = Dictionary::new();
        let value = |n: u64| mix(n).to_le_bytes().repeat(2)[..(n % 16) as usize].to_vec();
        let mut twin = std::collections::HashMap::new();
        for n in (0..5000).chain(0..5000) {
            let next = twin.len() as u32;
            let number = *twin.entry(value(n)).or_insert(next);
            let known = dictionary.find(&value(n));
            assert_eq!(known.or_else(|| dictionary.add(&value(n))), Some(number));
        }
        assert_eq!(dictionary.len(), twin.len());
        assert!(twin.iter().all(|(value, &number)| dictionary.get(number as usize) == value));
    }
}
