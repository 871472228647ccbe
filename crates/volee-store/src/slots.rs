//! A hash table by cache lines, from 32-bit tags to dense numbers, with room for a payload beside each
//! number.
//!
//! A line has as many slots as fit 64 bytes, first all tags, then all numbers, then the payloads: a tag is
//! compared with those of the whole line at once, without a branch per slot. A line fills from its front and
//! nothing is ever removed, so a line with an empty slot ends a search. What makes it quick: the line of a
//! tag can be prefetched long before it is read; it is nearly always the only one that is read; a payload
//! arrives with the number that it is kept of, without a second fetch.
//!
//! A line's position is the lowest bits of the tag, which whoever makes tags has mixed well. So doubling n lines leaves a
//! slot of line i in line i or takes it to line i + n. It is done in place, line by line from the first: all slots of line i are taken out and put where they belong. Why each is found
//! afterwards: a slot of line i belongs to a line h <= i (those that had run over the end are put aside, and put back at
//! last). Put into the lower half, it goes to the first line from h on with room, and that is at most line i, which
//! has just been emptied and gets back no more than it had; likewise in the upper half, of which line i + n was empty.
//! So nothing ever passes over a line that has yet to be emptied, and the lines that were passed over stay full.

use volee_system::Limit;

use crate::pieces::Pieces;

#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
struct Line<P, const N: usize> {
    tags: [u32; N],
    /// The number plus one; 0 is empty.
    numbers: [u32; N],
    payloads: [P; N],
}

impl<P: Copy + Default, const N: usize> Default for Line<P, N> {
    fn default() -> Self {
        Line { tags: [0; N], numbers: [0; N], payloads: [P::default(); N] }
    }
}

/// The positions of the bits of a mask.
fn bits(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = (mask != 0).then_some(mask.trailing_zeros() as usize);
        mask &= mask.wrapping_sub(1);
        bit
    })
}

impl<P: Copy, const N: usize> Line<P, N> {
    fn copy(&mut self, to: usize, other: &Self, slot: usize) {
        self.tags[to] = other.tags[slot];
        self.numbers[to] = other.numbers[slot];
        self.payloads[to] = other.payloads[slot];
    }

    /// One bit for each slot that is in use: the lowest ones.
    #[inline(always)]
    fn used(&self) -> u32 {
        let mut mask = 0;
        for (i, number) in self.numbers.iter().enumerate() {
            mask |= u32::from(*number != 0) << i;
        }
        mask
    }

    /// One bit for each slot with this tag, in use or not.
    #[inline(always)]
    fn tagged(&self, tag: u32) -> u32 {
        let mut mask = 0;
        for (i, other) in self.tags.iter().enumerate() {
            mask |= u32::from(*other == tag) << i;
        }
        mask
    }
}

/// Where a number is, or where it belongs.
#[derive(Debug, Clone, Copy)]
pub struct At {
    line: usize,
    slot: usize,
}

/// The table; `N` slots of `8 + size_of::<P>()` bytes make a line.
#[derive(Debug, Clone)]
pub struct Slots<P: Copy, const N: usize> {
    lines: Pieces<Line<P, N>>,
    mask: usize,
    len: u32,
}

/// The lines of a new table, a power of two.
const FIRST: usize = 128;

impl<P: Copy + Default, const N: usize> Slots<P, N> {
    pub fn new() -> Self {
        const { assert!(N.is_power_of_two() && size_of::<Line<P, N>>() == 64) };
        let mut lines = Pieces::new();
        lines.lengthen(FIRST);
        Slots { lines, mask: FIRST - 1, len: 0 }
    }

    /// How many numbers have been given.
    pub fn len(&self) -> u32 {
        self.len
    }

    pub fn bytes(&self) -> usize {
        self.lines.bytes()
    }

    #[inline]
    fn start(&self, tag: u32) -> usize {
        tag as usize & self.mask
    }

    /// Starts fetching the line of a tag.
    #[inline]
    pub fn prefetch(&self, tag: u32) {
        self.lines.prefetch(self.start(tag));
    }

    /// The slot with this tag whose number is the `same`, or the one where it belongs.
    #[inline(always)]
    pub fn search(&self, tag: u32, same: impl Fn(u32) -> bool) -> Result<At, At> {
        let mut at = self.start(tag);
        loop {
            let line = self.lines.get(at);
            let mut hits = line.tagged(tag);
            while hits != 0 {
                let slot = hits.trailing_zeros() as usize % N;
                match line.numbers[slot] {
                    // Empty, and so are all behind it.
                    0 => break,
                    number if same(number - 1) => return Ok(At { line: at, slot }),
                    _ => hits &= hits - 1,
                }
            }
            let slot = line.used().trailing_ones() as usize;
            if slot < N {
                return Err(At { line: at, slot });
            }
            at = (at + 1) & self.mask;
        }
    }

    #[inline]
    pub fn number(&self, at: At) -> u32 {
        self.lines.get(at.line).numbers[at.slot % N] - 1
    }

    #[inline(always)]
    pub fn payload(&mut self, at: At) -> &mut P {
        &mut self.lines.get_mut(at.line).payloads[at.slot % N]
    }

    /// Gives the next number to the slot that a search has found empty. Slots may move.
    ///
    /// # Errors
    /// There are more than 2^32 - 2 numbers.
    #[inline]
    pub fn fill(&mut self, at: At, tag: u32, payload: P) -> Result<u32, Limit> {
        let number = self.len;
        if number >= u32::MAX - 1 {
            return Err(Limit::Other { message: "more than 4294967294 different places".into() });
        }
        self.put(at, tag, number + 1, payload);
        self.len += 1;
        if self.len as usize * 16 > (self.mask + 1) * N * 11 {
            self.grow();
        }
        Ok(number)
    }

    /// Passes over the next number, which is given to something that is never searched.
    pub fn skip(&mut self) {
        self.len += 1;
    }

    #[inline]
    fn put(&mut self, at: At, tag: u32, number: u32, payload: P) {
        let (line, slot) = (self.lines.get_mut(at.line), at.slot % N);
        line.tags[slot] = tag;
        line.numbers[slot] = number;
        line.payloads[slot] = payload;
    }

    /// Doubles the table in place; the head of this file argues why that is right.
    #[cold]
    fn grow(&mut self) {
        let lines = self.mask + 1;
        let aside = self.run_over();
        self.lines.lengthen(lines * 2);
        self.mask = lines * 2 - 1;
        for at in 0..lines {
            let line = std::mem::take(self.lines.get_mut(at));
            self.put_back(&line, line.used());
        }
        for line in aside {
            self.put_back(&line, line.used());
        }
    }

    /// Takes out what has run over the end of the table: it is in full lines at the beginning, and in the one
    /// after.
    fn run_over(&mut self) -> Vec<Line<P, N>> {
        let mut aside = Vec::new();
        for at in 0..=self.mask {
            let line = std::mem::take(self.lines.get_mut(at));
            let used = line.used();
            let mut own = 0;
            for slot in 0..N {
                own |= u32::from(line.tags[slot] as usize & self.mask <= at) << slot;
            }
            let mut over = Line::default();
            for (to, slot) in bits(used & !own).enumerate() {
                over.copy(to, &line, slot);
            }
            aside.push(over);
            let kept = self.lines.get_mut(at);
            for (to, slot) in bits(used & own).enumerate() {
                kept.copy(to, &line, slot);
            }
            if used.trailing_ones() < N as u32 {
                break;
            }
        }
        aside
    }

    /// Puts those slots of a line that are in the mask where they belong.
    #[inline]
    fn put_back(&mut self, line: &Line<P, N>, mask: u32) {
        for slot in bits(mask) {
            let slot = slot % N;
            let at = self.vacant(line.tags[slot]);
            self.put(at, line.tags[slot], line.numbers[slot], line.payloads[slot]);
        }
    }

    #[inline]
    fn vacant(&self, tag: u32) -> At {
        let mut at = self.start(tag);
        loop {
            let slot = self.lines.get(at).used().trailing_ones() as usize;
            if slot < N {
                return At { line: at, slot };
            }
            at = (at + 1) & self.mask;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_found_after_each_growth_also_what_ran_over_the_end() {
        let mut slots: Slots<(), 8> = Slots::new();
        // Tags that crowd the last lines of every size of the table, and some others.
        let tag = |n: u32| if n.is_multiple_of(3) { u32::MAX - n / 96 } else { n.wrapping_mul(0x9e37_79b9) };
        for n in 0..20_000u32 {
            let lines = slots.mask;
            let at = slots.search(tag(n), |other| other == n).expect_err("it is new");
            slots.fill(at, tag(n), ()).expect("few");
            if slots.mask != lines {
                for old in 0..=n {
                    let at = slots.search(tag(old), |other| other == old).expect("it is known");
                    assert_eq!(slots.number(at), old);
                }
            }
        }
    }

    #[test]
    fn numbers_and_payloads_survive_growth_and_equal_tags() {
        let mut wide: Slots<u64, 4> = Slots::new();
        // Three numbers for each tag, tag 0 among them.
        let tag = |n: u32| (n / 3).wrapping_mul(0x85eb_ca6b);
        for n in 0..30_000u32 {
            let at = wide.search(tag(n), |other| other == n).expect_err("it is new");
            assert_eq!(wide.fill(at, tag(n), u64::from(n) * 7), Ok(n));
        }
        assert_eq!(wide.len(), 30_000);
        for n in 0..30_000 {
            let at = wide.search(tag(n), |other| other == n).expect("it is known");
            assert_eq!((wide.number(at), *wide.payload(at)), (n, u64::from(n) * 7));
        }
        assert!(wide.search(tag(40_000), |_| true).is_err());
    }
}
