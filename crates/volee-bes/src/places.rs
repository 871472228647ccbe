//! The set of places met so far, each with a dense number.
//!
//! Open addressing over 64-bit slots, half hash tag and half number, at most 5/8 full. Three things make it quick: the
//! slot of a hash can be prefetched long before it is read; a slot's position is the top bits of a product of the tag,
//! so doubling is one sweep in order and reads no key; and for places of four bytes the tag is a bijection of the
//! place, so equal tags mean equal places and no key is read at all. Places that are numbers need no table.

use rapidhash::v3::{RapidSecrets, rapidhash_v3_nano_inline};
use volee_system::Limit;

use crate::memory::zeros;
use crate::prefetch::prefetch;

/// The set of places.
#[derive(Debug, Clone)]
pub(crate) enum Places {
    /// Places are the numbers below this one.
    Numbered(u32),
    /// Anything else.
    Hashed(Table),
}

impl Places {
    pub fn new(numbered: Option<u32>) -> Self {
        match numbered {
            Some(n) => Places::Numbered(n),
            None => Places::Hashed(Table::new()),
        }
    }

    /// How many places there are: all of them when they are numbers.
    pub fn len(&self) -> usize {
        match self {
            Places::Numbered(n) => *n as usize,
            Places::Hashed(table) => table.len as usize,
        }
    }

    #[inline]
    pub fn tag(&self, place: &[u8]) -> u32 {
        match self {
            Places::Numbered(_) => number(place),
            Places::Hashed(_) => tag(place),
        }
    }

    #[inline]
    pub fn prefetch(&self, tag: u32) {
        if let Places::Hashed(table) = self {
            prefetch(&table.slots, table.start(tag));
        }
    }

    /// The number of a place, new or old.
    ///
    /// # Errors
    /// There are more than 2^32 - 2 places.
    #[inline]
    pub fn insert(&mut self, place: &[u8], tag: u32) -> Result<u32, Limit> {
        match self {
            Places::Numbered(_) => Ok(tag),
            Places::Hashed(table) => table.insert(place, tag),
        }
    }

    /// The number of a place, if it is known.
    pub fn find(&self, place: &[u8]) -> Option<u32> {
        match self {
            Places::Numbered(n) => {
                let number = u32::from_le_bytes(place.try_into().ok()?);
                (number < *n).then_some(number)
            }
            Places::Hashed(table) => table.find(place),
        }
    }

    /// Copies the bytes of a place to `out`.
    #[inline]
    pub fn copy(&self, id: u32, out: &mut Vec<u8>) {
        out.clear();
        match self {
            Places::Numbered(_) => out.extend_from_slice(&id.to_le_bytes()),
            Places::Hashed(table) => out.extend_from_slice(table.key(id)),
        }
    }

    pub fn bytes(&self) -> usize {
        match self {
            Places::Numbered(_) => 0,
            Places::Hashed(table) => {
                table.slots.capacity() * 8 + table.keys.capacity() + table.ends.capacity() * 8
            }
        }
    }
}

#[inline]
fn number(place: &[u8]) -> u32 {
    match place.try_into() {
        Ok(bytes) => u32::from_le_bytes(bytes),
        Err(_) => u32::MAX,
    }
}

/// For four bytes a bijection (the finaliser of MurmurHash3), else 32 bits of a hash with a fixed seed.
#[inline]
fn tag(place: &[u8]) -> u32 {
    const SECRETS: RapidSecrets = RapidSecrets::seed(0x766f_6c65_6500);
    if let Ok(bytes) = place.try_into() {
        let mut h = u32::from_le_bytes(bytes);
        h ^= h >> 16;
        h = h.wrapping_mul(0x85eb_ca6b);
        h ^= h >> 13;
        h = h.wrapping_mul(0xc2b2_ae35);
        return h ^ (h >> 16);
    }
    (rapidhash_v3_nano_inline::<true, false>(place, &SECRETS) >> 32) as u32
}

#[derive(Debug, Clone)]
pub(crate) struct Table {
    /// Tag in the upper half, number + 1 in the lower; 0 is empty.
    slots: Vec<u64>,
    shift: u32,
    len: u32,
    keys: Vec<u8>,
    /// The width of every key, until two keys differ; then `ends` says where each key ends.
    width: usize,
    ends: Vec<u64>,
}

impl Table {
    fn new() -> Self {
        Table { slots: zeros(1 << 10), shift: 64 - 10, len: 0, keys: Vec::new(), width: 0, ends: Vec::new() }
    }

    #[inline]
    fn start(&self, tag: u32) -> usize {
        (u64::from(tag).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift) as usize
    }

    #[inline]
    fn key(&self, id: u32) -> &[u8] {
        let id = id as usize;
        if self.ends.is_empty() {
            return &self.keys[id * self.width..(id + 1) * self.width];
        }
        let begin = if id == 0 { 0 } else { self.ends[id - 1] as usize };
        &self.keys[begin..self.ends[id] as usize]
    }

    #[inline]
    fn same(&self, id: u32, place: &[u8]) -> bool {
        (self.ends.is_empty() && self.width == 4 && place.len() == 4) || self.key(id) == place
    }

    #[inline]
    fn insert(&mut self, place: &[u8], tag: u32) -> Result<u32, Limit> {
        let mask = self.slots.len() - 1;
        let mut at = self.start(tag);
        loop {
            let slot = self.slots[at];
            if slot == 0 {
                break;
            }
            if (slot >> 32) as u32 == tag && self.same(slot as u32 - 1, place) {
                return Ok(slot as u32 - 1);
            }
            at = (at + 1) & mask;
        }
        self.add(place, tag, at)
    }

    fn find(&self, place: &[u8]) -> Option<u32> {
        let tag = tag(place);
        let mask = self.slots.len() - 1;
        let mut at = self.start(tag);
        loop {
            let slot = self.slots[at];
            if slot == 0 {
                return None;
            }
            if (slot >> 32) as u32 == tag && self.same(slot as u32 - 1, place) {
                return Some(slot as u32 - 1);
            }
            at = (at + 1) & mask;
        }
    }

    #[inline]
    fn add(&mut self, place: &[u8], tag: u32, at: usize) -> Result<u32, Limit> {
        let id = self.len;
        if id >= u32::MAX - 1 {
            return Err(Limit::Other { message: "more than 4294967294 different places".into() });
        }
        if id == 0 {
            self.width = place.len();
        } else if self.ends.is_empty() && place.len() != self.width {
            let width = self.width as u64;
            self.ends = (1..=u64::from(id)).map(|n| n * width).collect();
        }
        self.keys.extend_from_slice(place);
        if !self.ends.is_empty() {
            self.ends.push(self.keys.len() as u64);
        }
        self.slots[at] = u64::from(tag) << 32 | u64::from(id + 1);
        self.len += 1;
        if self.len as usize * 8 > self.slots.len() * 5 {
            self.grow();
        }
        Ok(id)
    }

    /// Doubles the table. Positions keep their order, except where a run wraps around the end.
    #[cold]
    fn grow(&mut self) {
        let doubled = zeros(self.slots.len() * 2);
        let old = std::mem::replace(&mut self.slots, doubled);
        self.shift -= 1;
        let mask = self.slots.len() - 1;
        for slot in old.into_iter().filter(|slot| *slot != 0) {
            let mut at = self.start((slot >> 32) as u32);
            while self.slots[at] != 0 {
                at = (at + 1) & mask;
            }
            self.slots[at] = slot;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_keep_their_numbers_while_the_table_grows_and_widths_mix() {
        let mut places = Places::new(None);
        let key =
            |n: u32| if n % 7 == 3 { format!("{n} and more").into_bytes() } else { n.to_le_bytes().to_vec() };
        for n in 0..50_000 {
            let place = key(n);
            assert_eq!(places.insert(&place, places.tag(&place)), Ok(n));
        }
        let mut bytes = Vec::new();
        for n in 0..50_000 {
            assert_eq!(places.find(&key(n)), Some(n));
            places.copy(n, &mut bytes);
            assert_eq!(bytes, key(n));
        }
        assert_eq!(places.find(&key(50_001)), None);
    }
}
