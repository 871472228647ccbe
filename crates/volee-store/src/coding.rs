//! Names as short numbers that are already hashed: what a full table keeps of a name is only what it does not
//! know.
//!
//! A name has 64 bits, but those of one search differ in few of them: node numbers stay below the number of
//! nodes, and states of one word have bytes that never change. A [`Coding`] gathers the bits that vary into a
//! code of `width` bits and scrambles it by a permutation of all such codes (Cleary, Compact hash tables
//! using bidirectional linear probing, 1984). The scrambled code serves as hash: its high part chooses the
//! line of a table, so only its low part needs to be stored, and line and low part together give the name
//! back.

use crate::StateRef;

/// Odd multipliers, and their inverses modulo 2^64.
const FACTORS: [u64; 2] = [0x9E37_79B9_7F4A_7C15, 0xD6E8_FEB8_6659_FD93];

/// A run of adjacent bits: where it starts in the name and in the code, and its mask at the start.
#[derive(Debug, Clone, Copy)]
struct Run {
    from: u32,
    to: u32,
    mask: u64,
}

/// A one-to-one map from the names that differ from a base in certain bits only to numbers of `width` bits.
#[derive(Debug, Clone)]
pub struct Coding {
    base: StateRef,
    varies: u64,
    runs: Vec<Run>,
    width: u32,
    /// All bits of a code, and half of their number: every look-up needs them.
    all: u64,
    half: u32,
    inverses: [u64; 2],
}

impl Coding {
    /// For names that agree with `base` but for the bits of `varies`.
    pub fn new(base: StateRef, varies: u64) -> Self {
        // A code has at least one bit, so that shifts by the width are defined.
        let varies = varies | 1;
        let mut runs = Vec::new();
        let (mut rest, mut to) = (varies, 0);
        while rest != 0 {
            let from = rest.trailing_zeros();
            let length = (rest >> from).trailing_ones();
            let mask = low_bits(length);
            runs.push(Run { from, to, mask });
            rest &= !(mask << from);
            to += length;
        }
        let (all, half) = (low_bits(to), to.div_ceil(2));
        Coding { base, varies, runs, width: to, all, half, inverses: FACTORS.map(inverse) }
    }

    /// For names below 2 to this power.
    pub fn of_width(width: u32) -> Self {
        Coding::new(StateRef(0), low_bits(width))
    }

    /// One that also has a code for `name`: bytes of it that differ count as wholes, since more of them will
    /// vary.
    pub fn wider(&self, name: StateRef) -> Self {
        Coding::new(self.base, self.varies | whole_bytes(name.0 ^ self.base.0))
    }

    pub fn width(&self) -> u32 {
        self.width
    }

    /// All bits of a code.
    #[inline(always)]
    pub(crate) fn all(&self) -> u64 {
        self.all
    }

    /// The scrambled code of a name; `None` when it differs from the base in other bits.
    #[inline(always)]
    pub fn encode(&self, name: StateRef) -> Option<u64> {
        let different = name.0 ^ self.base.0;
        if different & !self.varies != 0 {
            return None;
        }
        let code = match &self.runs[..] {
            [only] => different >> only.from,
            runs => runs.iter().fold(0, |code, run| code | (different >> run.from & run.mask) << run.to),
        };
        Some(self.scramble(code))
    }

    /// The name of a scrambled code.
    pub fn decode(&self, hash: u64) -> StateRef {
        let code = self.unscramble(hash);
        StateRef(
            self.runs.iter().fold(self.base.0, |name, run| name ^ (code >> run.to & run.mask) << run.from),
        )
    }

    /// The scrambled form of a code.
    #[inline(always)]
    pub(crate) fn scramble(&self, code: u64) -> u64 {
        FACTORS.iter().fold(self.fold(code), |code, factor| self.fold(code.wrapping_mul(*factor) & self.all))
    }

    fn unscramble(&self, hash: u64) -> u64 {
        let inverses = self.inverses.iter().rev();
        self.fold(inverses.fold(hash, |hash, inverse| self.fold(hash).wrapping_mul(*inverse) & self.all))
    }

    /// Adds the high half to the low half; doing it twice changes nothing.
    #[inline(always)]
    fn fold(&self, code: u64) -> u64 {
        code ^ code >> self.half
    }
}

/// So many ones.
#[inline(always)]
pub fn low_bits(count: u32) -> u64 {
    if count >= 64 { u64::MAX } else { (1 << count) - 1 }
}

/// All bits of the bytes in which some bit is set.
pub fn whole_bytes(bits: u64) -> u64 {
    u64::from_le_bytes(bits.to_le_bytes().map(|byte| if byte == 0 { 0 } else { 0xFF }))
}

/// The inverse of an odd number modulo 2^64, by Newton's iteration.
fn inverse(odd: u64) -> u64 {
    (0..6).fold(odd, |x, _| x.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(x))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix;

    #[test]
    fn codes_are_one_to_one_and_have_no_more_bits_than_vary() {
        for seed in 1..200u64 {
            let varies = match seed % 4 {
                0 => u64::MAX,
                1 => mix(seed) & mix(seed + 1000) & mix(seed + 2000),
                2 => low_bits(21) | low_bits(21) << 32 | 1 << 63,
                _ => low_bits(seed as u32 % 64),
            };
            let coding = Coding::new(StateRef(mix(seed + 5)), varies);
            for i in 0..200 {
                let name = StateRef(mix(seed + 5) ^ (mix(seed * 1000 + i) & varies));
                let code = coding.encode(name).expect("only those bits vary");
                assert!(code <= low_bits(coding.width()));
                assert_eq!(coding.decode(code), name);
            }
        }
    }

    #[test]
    fn all_codes_of_a_small_width_are_used_once() {
        let coding = Coding::new(StateRef(0), 0b1011_0110_0111);
        let mut codes: Vec<u64> = (0..1 << 12).filter_map(|name| coding.encode(StateRef(name))).collect();
        codes.sort_unstable();
        assert_eq!(codes, (0..1 << coding.width()).collect::<Vec<u64>>());
        assert!(coding.encode(StateRef(0b1000)).is_none());
        assert!(coding.wider(StateRef(0b1000)).encode(StateRef(0b1000)).is_some());
    }
}
