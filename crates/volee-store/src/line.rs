//! A cache line of a full table: as many short codes as fit, a byte of marks for each, and a counter.
//!
//! The codes of a table all have the same number of bytes, from one to eight; a line has 63 / (bytes + 1)
//! places. First come the codes, then the marks, last how many codes had to go on to a later line. The mark
//! of a place says whether it is taken and by how many lines its code was displaced, whether the code is
//! pinned, and has four bits for the policy of replacement. Places are taken from the front, and a code that
//! leaves makes room for another at once, so the places that are not taken are the last ones.

/// The bytes of a line.
pub(crate) type Line = [u8; 64];

/// How many lines from its home on a code may live in.
pub(crate) const REACH: usize = 7;
const DISPLACED: u8 = 0b0000_0111;
const PINNED: u8 = 0b0000_1000;
const RANK_SHIFT: u32 = 4;
/// The largest value of the policy's four bits.
pub(crate) const MAX_RANK: u8 = 15;
const PASSED: usize = 63;

/// How the lines of a table are divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Layout {
    /// Bytes by code.
    bytes: usize,
    /// Codes by line.
    pub(crate) places: usize,
    mask: u64,
}

impl Layout {
    /// For codes of this many bits.
    pub(crate) fn new(bits: u32) -> Self {
        let bytes = bits.div_ceil(8).max(1) as usize;
        Layout { bytes, places: PASSED / (bytes + 1), mask: super::coding::low_bits(bytes as u32 * 8) }
    }

    /// The place of a code that was displaced by this many lines.
    #[inline(always)]
    pub(crate) fn find(self, line: &Line, code: u64, displaced: usize) -> Option<usize> {
        // The number of bytes as a constant lets the compiler unroll the loop.
        match self.bytes {
            1 => find::<1>(line, code, displaced),
            2 => find::<2>(line, code, displaced),
            3 => find::<3>(line, code, displaced),
            4 => find::<4>(line, code, displaced),
            5 => find::<5>(line, code, displaced),
            6 => find::<6>(line, code, displaced),
            7 => find::<7>(line, code, displaced),
            _ => find::<8>(line, code, displaced),
        }
    }

    /// A place that is not taken.
    #[inline(always)]
    pub(crate) fn free(self, line: &Line) -> Option<usize> {
        if line[PASSED - 1] != 0 {
            return None;
        }
        line[PASSED - self.places..PASSED].iter().position(|mark| mark & DISPLACED == 0)
    }

    pub(crate) fn code(self, line: &Line, place: usize) -> u64 {
        word(line, place * self.bytes) & self.mask
    }

    /// By how many lines the code of a place was displaced; `None` when it is not taken.
    pub(crate) fn displaced(self, line: &Line, place: usize) -> Option<usize> {
        (line[self.mark(place)] & DISPLACED).checked_sub(1).map(usize::from)
    }

    /// Takes a place for a code.
    #[inline(always)]
    pub(crate) fn put(self, line: &mut Line, place: usize, code: u64, displaced: usize, rank: u8) {
        let at = place * self.bytes;
        line[at..at + self.bytes].copy_from_slice(&code.to_le_bytes()[..self.bytes]);
        line[self.mark(place)] = (displaced as u8 + 1) | (rank << RANK_SHIFT);
    }

    /// Gives a place free.
    pub(crate) fn clear(self, line: &mut Line, place: usize) {
        line[self.mark(place)] = 0;
    }

    /// The last code of a line moves to a place that was cleared, if it is behind it: places are taken from
    /// the front.
    pub(crate) fn close(self, line: &mut Line, place: usize) {
        let last = (place + 1..self.places).rfind(|&last| line[self.mark(last)] & DISPLACED != 0);
        if let Some(last) = last {
            line.copy_within(last * self.bytes..(last + 1) * self.bytes, place * self.bytes);
            line[self.mark(place)] = line[self.mark(last)];
            self.clear(line, last);
        }
    }

    pub(crate) fn is_pinned(self, line: &Line, place: usize) -> bool {
        line[self.mark(place)] & PINNED != 0
    }

    pub(crate) fn pin(self, line: &mut Line, place: usize) {
        line[self.mark(place)] |= PINNED;
    }

    pub(crate) fn unpin(self, line: &mut Line, place: usize) {
        line[self.mark(place)] &= !PINNED;
    }

    pub(crate) fn rank(self, line: &Line, place: usize) -> u8 {
        line[self.mark(place)] >> RANK_SHIFT
    }

    pub(crate) fn set_rank(self, line: &mut Line, place: usize, rank: u8) {
        let mark = &mut line[self.mark(place)];
        *mark = *mark & (DISPLACED | PINNED) | rank << RANK_SHIFT;
    }

    #[inline(always)]
    fn mark(self, place: usize) -> usize {
        PASSED - self.places + place
    }
}

/// How many codes had to go on from this line or through it: at most all places of the lines in reach.
#[inline(always)]
pub(crate) fn passed(line: &Line) -> u8 {
    line[PASSED]
}

pub(crate) fn pass(line: &mut Line, more: i8) {
    line[PASSED] = line[PASSED].wrapping_add_signed(more);
}

/// Eight bytes from `at` on. Codes end early enough in a line for the last of them too.
#[inline(always)]
fn word(line: &Line, at: usize) -> u64 {
    line[at..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

#[inline(always)]
fn find<const BYTES: usize>(line: &Line, code: u64, displaced: usize) -> Option<usize> {
    let places = PASSED / (BYTES + 1);
    let code = code.to_le_bytes();
    let code = code.first_chunk::<BYTES>()?;
    // All places are compared, without a branch on each: equal codes are rare.
    let (codes, _) = line[..places * BYTES].as_chunks::<BYTES>();
    let equal =
        codes.iter().zip(0u32..).fold(0u32, |equal, (held, place)| equal | u32::from(held == code) << place);
    let mut equal = equal;
    while equal != 0 {
        let place = equal.trailing_zeros() as usize;
        if usize::from(line[PASSED - places + place] & DISPLACED) == displaced + 1 {
            return Some(place);
        }
        equal &= equal - 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_holds_codes_of_any_width_in_all_its_places() {
        for bits in 0..=64 {
            let layout = Layout::new(bits);
            let mut line = [0; 64];
            let code = |place: usize| (place as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) & layout.mask;
            for place in 0..layout.places {
                assert_eq!(layout.free(&line), Some(place));
                layout.put(&mut line, place, code(place), place % REACH, place as u8 % 16);
            }
            assert_eq!(layout.free(&line), None);
            layout.pin(&mut line, 3);
            for place in 0..layout.places {
                assert_eq!(layout.find(&line, code(place), place % REACH), Some(place));
                assert_eq!(layout.find(&line, code(place), (place + 1) % REACH), None);
                assert_eq!(layout.code(&line, place), code(place));
                assert_eq!(layout.is_pinned(&line, place), place == 3);
                assert_eq!(layout.rank(&line, place), place as u8 % 16);
            }
            let last = layout.places - 1;
            layout.clear(&mut line, last);
            assert_eq!((layout.free(&line), passed(&line)), (Some(last), 0));
        }
    }
}
