//! The set of places met so far, each with a dense number.
//!
//! Open addressing over 64-bit slots, half hash tag and half number, at most 11/16 full. Four things make it quick: the
//! line of a hash can be prefetched long before it is read; a line's eight slots are tried before the next line, so one
//! fetch is nearly always enough; a line's position is the top bits of a product of the tag, so doubling is one sweep
//! in order and reads no key; and for places of four bytes the tag is a bijection of the place, so equal tags mean
//! equal places and no key is read at all. Places that are numbers need no table.

use rapidhash::v3::{RapidSecrets, rapidhash_v3_nano_inline};
use volee_system::Limit;
use volee_system::part::Spread;

use crate::memory::lengthen;
use crate::prefetch::prefetch;

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
pub(crate) enum Places {
    /// Places are the numbers below this one; worker k of p has those that leave k when divided by p.
    Numbered(u32, Share),
    /// Anything else, spread over the workers by some or all of their bytes.
    Hashed(Table, Share, Spread),
}

impl Places {
    pub fn new(numbered: Option<u32>, share: Share, spread: Spread) -> Self {
        match numbered {
            Some(n) => Places::Numbered(n, share),
            None => Places::Hashed(Table::new(), share, spread),
        }
    }

    /// How many places there are: all of them when they are numbers.
    pub fn len(&self) -> usize {
        match self {
            Places::Numbered(n, Share { me, peers }) => {
                n.saturating_sub(u32::from(*me)).div_ceil(u32::from(*peers)) as usize
            }
            Places::Hashed(table, ..) => table.len as usize,
        }
    }

    /// Whose a place is.
    #[inline]
    pub fn owner(&self, place: &[u8]) -> usize {
        match self {
            Places::Numbered(_, share) => (number(place) % u32::from(share.peers)) as usize,
            Places::Hashed(_, share, spread) => spread.owner(place, usize::from(share.peers)),
        }
    }

    /// Whose a place is, and its tag if that matters here; then its line is on its way from memory.
    #[inline]
    pub fn locate(&self, place: &[u8]) -> (u16, u32) {
        let (share, numbered) = match self {
            Places::Numbered(_, share) => (share, true),
            Places::Hashed(_, share, _) => (share, false),
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
            Places::Numbered(..) => number(place),
            Places::Hashed(..) => tag(place),
        }
    }

    #[inline]
    pub fn prefetch(&self, tag: u32) {
        if let Places::Hashed(table, ..) = self {
            prefetch(&table.lines, table.start(tag).0);
        }
    }

    /// The number of a place, new or old.
    ///
    /// # Errors
    /// There are more than 2^32 - 2 places.
    #[inline]
    pub fn insert(&mut self, place: &[u8], tag: u32) -> Result<u32, Limit> {
        match self {
            Places::Numbered(_, share) => Ok(local(tag, *share)),
            Places::Hashed(table, ..) => table.insert(place, tag),
        }
    }

    /// The number of a place, if it is known.
    pub fn find(&self, place: &[u8]) -> Option<u32> {
        self.find_tagged(place, self.tag(place))
    }

    /// The number of a place whose tag is known, if the place is.
    #[inline]
    pub fn find_tagged(&self, place: &[u8], tag: u32) -> Option<u32> {
        match self {
            Places::Numbered(n, share) => {
                let own = share.peers == 1 || tag % u32::from(share.peers) == u32::from(share.me);
                (place.len() == 4 && tag < *n && own).then(|| local(tag, *share))
            }
            Places::Hashed(table, ..) => table.search(tag, place).ok(),
        }
    }

    /// The bytes of a place; `scratch` holds them where places are numbers.
    #[inline]
    pub fn get<'a>(&'a self, id: u32, scratch: &'a mut [u8; 4]) -> &'a [u8] {
        match self {
            Places::Numbered(_, share) => {
                *scratch = (id * u32::from(share.peers) + u32::from(share.me)).to_le_bytes();
                scratch
            }
            Places::Hashed(table, ..) => table.key(id),
        }
    }

    pub fn bytes(&self) -> usize {
        match self {
            Places::Numbered(..) => 0,
            Places::Hashed(table, ..) => {
                table.lines.capacity() * size_of::<Line>() + table.keys.capacity() + table.ends.capacity() * 8
            }
        }
    }
}

/// The number of a number among those of a share.
#[inline]
fn local(number: u32, share: Share) -> u32 {
    if share.peers == 1 { number } else { number / u32::from(share.peers) }
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

/// Eight slots of one cache line.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(64))]
struct Line([u64; SLOTS]);

const SLOTS: usize = 8;

#[derive(Debug, Clone)]
pub(crate) struct Table {
    /// Slots have the tag in the upper half, number + 1 in the lower; 0 is empty.
    lines: Vec<Line>,
    shift: u32,
    len: u32,
    keys: Vec<u8>,
    /// The width of every key, until two keys differ; then `ends` says where each key ends.
    width: usize,
    ends: Vec<u64>,
}

/// The lines of a new table, as a power of two.
const FIRST: u32 = 7;

impl Table {
    fn new() -> Self {
        let mut lines = Vec::new();
        lengthen(&mut lines, 1 << FIRST);
        Table { lines, shift: 64 - FIRST, len: 0, keys: Vec::new(), width: 0, ends: Vec::new() }
    }

    /// The line of a tag, and the slot in it to try first.
    #[inline]
    fn start(&self, tag: u32) -> (usize, usize) {
        let product = u64::from(tag).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        ((product >> self.shift) as usize, product as usize)
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

    /// The number of a place, or the line and the slot where it belongs.
    #[inline]
    fn search(&self, tag: u32, place: &[u8]) -> Result<u32, (usize, usize)> {
        let (mut line, first) = self.start(tag);
        loop {
            let slots = &self.lines[line].0;
            for i in 0..SLOTS {
                let at = (first + i) % SLOTS;
                let slot = slots[at];
                if (slot >> 32) as u32 == tag && slot != 0 && self.same(slot as u32 - 1, place) {
                    return Ok(slot as u32 - 1);
                }
                if slot == 0 {
                    return Err((line, at));
                }
            }
            line = (line + 1) & (self.lines.len() - 1);
        }
    }

    #[inline]
    fn insert(&mut self, place: &[u8], tag: u32) -> Result<u32, Limit> {
        match self.search(tag, place) {
            Ok(id) => Ok(id),
            Err(at) => self.add(place, tag, at),
        }
    }

    #[inline]
    fn add(&mut self, place: &[u8], tag: u32, (line, at): (usize, usize)) -> Result<u32, Limit> {
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
        match <[u8; 4]>::try_from(place) {
            Ok(four) => self.keys.extend(four),
            Err(_) => self.keys.extend_from_slice(place),
        }
        if !self.ends.is_empty() {
            self.ends.push(self.keys.len() as u64);
        }
        self.lines[line].0[at] = u64::from(tag) << 32 | u64::from(id + 1);
        self.len += 1;
        if self.len as usize * 16 > self.lines.len() * SLOTS * 11 {
            self.grow();
        }
        Ok(id)
    }

    /// Doubles the table. Lines keep their order, except where a run wraps around the end.
    #[cold]
    fn grow(&mut self) {
        let mut doubled = Vec::new();
        lengthen(&mut doubled, self.lines.len() * 2);
        let old = std::mem::replace(&mut self.lines, doubled);
        self.shift -= 1;
        for slot in old.into_iter().flat_map(|line| line.0).filter(|slot| *slot != 0) {
            let (line, at) = self.vacant((slot >> 32) as u32);
            self.lines[line].0[at] = slot;
        }
    }

    #[inline]
    fn vacant(&self, tag: u32) -> (usize, usize) {
        let (mut line, first) = self.start(tag);
        loop {
            for i in 0..SLOTS {
                let at = (first + i) % SLOTS;
                if self.lines[line].0[at] == 0 {
                    return (line, at);
                }
            }
            line = (line + 1) & (self.lines.len() - 1);
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

    #[test]
    fn every_number_belongs_to_one_share_and_keeps_its_bytes() {
        for peers in 1..5u16 {
            let shares: Vec<Places> =
                (0..peers).map(|me| Places::new(Some(103), Share { me, peers }, Spread::EVEN)).collect();
            assert_eq!(shares.iter().map(Places::len).sum::<usize>(), 103);
            for n in 0..103u32 {
                let place = n.to_le_bytes();
                let owners: Vec<usize> =
                    (0..shares.len()).filter(|k| shares[*k].find(&place).is_some()).collect();
                assert_eq!(owners, [shares[0].owner(&place)]);
                let own = &shares[owners[0]];
                let (id, mut scratch) = (own.find(&place).expect("it is its own"), [0; 4]);
                assert!((id as usize) < own.len());
                assert_eq!(own.get(id, &mut scratch), place);
            }
        }
    }
}
