//! The set of places met so far, each with a dense number.
//!
//! A table by cache lines ([`crate::slots`]) from a tag of the place's bytes to its number, and the bytes by
//! number. For places of four bytes the tag is a bijection of the place, so equal tags mean equal places and
//! no key is read at all. Places that are numbers need no table.

use std::io;

use rapidhash::v3::{RapidSecrets, rapidhash_v3_nano_inline};
use serde::{Deserialize, Serialize};
use volee_system::part::Spread;
use volee_system::{Limit, Meter};

use crate::checkpoint::{Damaged, PIECE, Reader, Refused, Writer};
use crate::numbers::Numbers;
use crate::slots::{At, Slots};

/// Which of the places belong to this worker, where several share them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// Which worker this is, from 0.
    pub me: u16,
    /// How many workers there are, at least 1.
    pub peers: u16,
}

impl Share {
    /// Everything belongs to one.
    pub const ALONE: Share = Share { me: 0, peers: 1 };
}

/// The set of places, those of one share only.
#[derive(Debug, Clone)]
pub enum Places {
    /// Places are numbers.
    Numbered(Numbers),
    /// Places are numbers that whoever makes them gives as they are met; there are so many so far.
    AsMet(u32),
    /// Anything else, spread over the workers by some or all of their bytes.
    Hashed(Hashed<(), 8>, Share, Spread),
    /// As hashed, by a strategy that has kept something beside the numbers.
    Linked(Hashed<Links, 4>),
}

impl Places {
    pub fn new(numbered: Option<u32>, share: Share, spread: Spread) -> Self {
        match numbered {
            Some(n) => Places::Numbered(Numbers::new(n, share)),
            None => Places::Hashed(Hashed::default(), share, spread),
        }
    }

    fn are_numbers(&self) -> bool {
        matches!(self, Places::Numbered(_) | Places::AsMet(_))
    }

    /// How many places there are: all of them when they are numbers.
    pub fn len(&self) -> usize {
        match self {
            Places::Numbered(numbers) => numbers.len(),
            Places::AsMet(len) => *len as usize,
            Places::Hashed(table, ..) => table.len() as usize,
            Places::Linked(table) => table.len() as usize,
        }
    }

    /// Whose a place is.
    #[inline]
    pub fn owner(&self, place: &[u8]) -> usize {
        match self {
            Places::Numbered(numbers) => numbers.owner(number(place)),
            Places::Hashed(_, share, spread) => spread.owner(place, usize::from(share.peers)),
            Places::AsMet(_) | Places::Linked(_) => 0,
        }
    }

    /// Whose a place is, and its tag if that matters here; then its line is on its way from memory.
    #[inline]
    pub fn locate(&self, place: &[u8]) -> (u16, u32) {
        let (share, numbered) = match self {
            Places::Numbered(numbers) => (&numbers.share, true),
            Places::Hashed(_, share, _) => (share, false),
            Places::AsMet(_) | Places::Linked(_) => (&Share::ALONE, false),
        };
        if share.peers > 1 {
            let owner = self.owner(place) as u16;
            if owner != share.me {
                return (owner, if numbered { number(place) } else { 0 });
            }
        }
        let tag = self.tag(place);
        self.prefetch(tag);
        (share.me, tag)
    }

    #[inline]
    pub fn tag(&self, place: &[u8]) -> u32 {
        match self {
            Places::Numbered(..) | Places::AsMet(_) => number(place),
            Places::Hashed(..) | Places::Linked(_) => tag(place),
        }
    }

    #[inline]
    pub fn prefetch(&self, tag: u32) {
        if let Places::Hashed(table, ..) = self {
            table.slots.prefetch(tag);
        }
    }

    /// The number of a place, new or old.
    ///
    /// # Errors
    /// There are more than 2^32 - 2 places.
    #[inline]
    pub fn insert(&mut self, place: &[u8], tag: u32) -> Result<u32, Limit> {
        match self {
            Places::Numbered(numbers) => Ok(numbers.local(tag)),
            Places::AsMet(len) => {
                *len = (*len).max(tag.saturating_add(1));
                Ok(tag)
            }
            Places::Hashed(table, ..) => table.insert(place, tag),
            Places::Linked(table) => table.insert(place, tag),
        }
    }

    /// The number of a place, if it is known.
    #[inline]
    pub fn find(&self, place: &[u8]) -> Option<u32> {
        self.find_tagged(place, self.tag(place))
    }

    /// The number of a place whose tag is known, if the place is.
    #[inline]
    pub fn find_tagged(&self, place: &[u8], tag: u32) -> Option<u32> {
        match self {
            Places::Numbered(numbers) => numbers.find(tag).filter(|_| place.len() == 4),
            Places::AsMet(len) => (tag < *len && place.len() == 4).then_some(tag),
            Places::Hashed(table, ..) => table.find(place, tag),
            Places::Linked(table) => table.find(place, tag),
        }
    }

    /// The bytes of a place; `scratch` holds them where places are numbers.
    #[inline]
    pub fn get<'a>(&'a self, id: u32, scratch: &'a mut [u8; 4]) -> &'a [u8] {
        match self {
            Places::Numbered(numbers) => {
                *scratch = numbers.global(id).to_le_bytes();
                scratch
            }
            Places::AsMet(_) => {
                *scratch = id.to_le_bytes();
                scratch
            }
            Places::Hashed(table, ..) => table.keys.get(id),
            Places::Linked(table) => table.keys.get(id),
        }
    }

    /// Writes those that are not numbers.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, out: &mut Writer) -> io::Result<()> {
        out.number(self.len() as u64)?;
        let known = if self.are_numbers() { 0 } else { self.len() as u32 };
        (0..known).try_for_each(|id| out.bytes(self.get(id, &mut [0; 4])))
    }

    /// Reads them back, so that all have the numbers that they had.
    ///
    /// # Errors
    /// The file has others than these, or there is no time or room.
    pub fn read(&mut self, input: &mut Reader, shortest: usize, meter: &Meter) -> Result<(), Refused> {
        let count = input.short()?;
        if self.are_numbers() {
            return if count as usize == self.len() { Ok(()) } else { Err(Damaged.into()) };
        }
        let mut place = Vec::new();
        for id in 0..count {
            if (id as usize).is_multiple_of(PIECE) {
                meter.check().map_err(Refused::Limit)?;
            }
            input.bytes(&mut place)?;
            let given = self.insert(&place, self.tag(&place)).map_err(Refused::Limit)?;
            if given != id || place.len() < shortest {
                return Err(Damaged.into());
            }
        }
        Ok(())
    }

    pub fn bytes(&self) -> usize {
        match self {
            Places::Numbered(..) | Places::AsMet(_) => 0,
            Places::Hashed(table, ..) => table.bytes(),
            Places::Linked(table) => table.bytes(),
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
pub fn tag(place: &[u8]) -> u32 {
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

/// The bytes of places, by number.
#[derive(Debug, Clone, Default)]
pub struct Keys {
    len: u32,
    bytes: Vec<u8>,
    /// The width of every key, until two keys differ; then `ends` says where each key ends.
    width: usize,
    ends: Vec<u64>,
}

impl Keys {
    #[inline]
    pub fn get(&self, number: u32) -> &[u8] {
        let number = number as usize;
        if self.ends.is_empty() {
            return &self.bytes[number * self.width..(number + 1) * self.width];
        }
        let begin = if number == 0 { 0 } else { self.ends[number - 1] as usize };
        &self.bytes[begin..self.ends[number] as usize]
    }

    /// Whether the key with this number is this one; their tags are equal.
    #[inline]
    pub fn same(&self, number: u32, key: &[u8]) -> bool {
        (self.ends.is_empty() && self.width == 4 && key.len() == 4) || self.get(number) == key
    }

    #[inline]
    pub fn push(&mut self, key: &[u8]) {
        if self.len == 0 {
            self.width = key.len();
        } else if self.ends.is_empty() && key.len() != self.width {
            let width = self.width as u64;
            self.ends = (1..=u64::from(self.len)).map(|n| n * width).collect();
        }
        match <[u8; 4]>::try_from(key) {
            Ok(four) => self.bytes.extend(four),
            Err(_) => self.bytes.extend_from_slice(key),
        }
        if !self.ends.is_empty() {
            self.ends.push(self.bytes.len() as u64);
        }
        self.len += 1;
    }

    pub fn bytes(&self) -> usize {
        self.bytes.capacity() + self.ends.capacity() * 8
    }
}

/// What `solve`'s breadth-first strategy keeps beside a number: two edges, or whatever they have become.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct Links {
    pub last: u32,
    pub first: u32,
}

/// Places by their tags.
#[derive(Debug, Clone)]
pub struct Hashed<P: Copy, const N: usize> {
    pub slots: Slots<P, N>,
    pub keys: Keys,
}

impl<P: Copy + Default, const N: usize> Default for Hashed<P, N> {
    fn default() -> Self {
        Hashed { slots: Slots::new(), keys: Keys::default() }
    }
}

impl<P: Copy + Default, const N: usize> Hashed<P, N> {
    pub fn len(&self) -> u32 {
        self.slots.len()
    }

    pub fn bytes(&self) -> usize {
        self.slots.bytes() + self.keys.bytes()
    }

    /// Where a place is, or where it belongs.
    #[inline(always)]
    pub fn search(&self, place: &[u8], tag: u32) -> Result<At, At> {
        self.slots.search(tag, |number| self.keys.same(number, place))
    }

    /// Gives the next number to a place that was searched in vain.
    #[inline]
    pub fn add(&mut self, place: &[u8], tag: u32, at: At, payload: P) -> Result<u32, Limit> {
        let number = self.slots.fill(at, tag, payload)?;
        self.keys.push(place);
        Ok(number)
    }

    #[inline]
    fn find(&self, place: &[u8], tag: u32) -> Option<u32> {
        self.search(place, tag).ok().map(|at| self.slots.number(at))
    }

    #[inline]
    fn insert(&mut self, place: &[u8], tag: u32) -> Result<u32, Limit> {
        match self.search(place, tag) {
            Ok(at) => Ok(self.slots.number(at)),
            Err(at) => self.add(place, tag, at, P::default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_keep_their_numbers_while_the_table_grows_and_widths_mix() {
        let mut places = Places::new(None, Share::ALONE, Spread::EVEN);
        let key =
            |n: u32| if n % 7 == 3 { format!("{n} and more").into_bytes() } else { n.to_le_bytes().to_vec() };
        for n in 0..50_000 {
            let place = key(n);
            assert_eq!(places.insert(&place, places.tag(&place)), Ok(n));
        }
        let mut scratch = [0; 4];
        for n in 0..50_000 {
            assert_eq!(places.find(&key(n)), Some(n));
            assert_eq!(places.get(n, &mut scratch), key(n));
        }
        assert_eq!(places.find(&key(50_001)), None);
    }
}
