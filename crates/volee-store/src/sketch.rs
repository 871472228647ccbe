//! An estimate of how many different states were seen, when they cannot all be remembered.
//!
//! HyperLogLog (Flajolet, Fusy, Gandouet, Meunier 2007): each state is hashed, the hash chooses one of 2^b
//! registers, and a register keeps the longest run of leading zeroes it has seen. Seeing a state again
//! changes nothing, so repetitions do not count. The standard error is 1.04 / sqrt(2^b); small numbers are
//! read off the registers that are still empty, which is more precise. There are 2^14 registers of a byte (an
//! error of 0.8 %), fewer where they would take more than a sixteenth of a small budget.

use crate::hash::mix;

const MIN_BITS: u32 = 6;
const MAX_BITS: u32 = 14;

pub struct Sketch {
    bits: u32,
    registers: Box<[u8]>,
}

impl Sketch {
    /// A sketch beside a store of this many bytes.
    pub fn new(bytes: u64) -> Self {
        let bits = (bytes / 16).max(1).ilog2().clamp(MIN_BITS, MAX_BITS);
        Sketch { bits, registers: vec![0; 1 << bits].into_boxed_slice() }
    }

    /// No sketch: a value to leave in the place of one.
    pub fn none() -> Self {
        Sketch { bits: 0, registers: Box::default() }
    }

    pub fn bytes(&self) -> u64 {
        self.registers.len() as u64
    }

    pub fn add(&mut self, state: &[u8]) {
        self.add_hash(hash_state(state));
    }

    /// Adds a state by its [`hash_state`].
    #[inline]
    pub fn add_hash(&mut self, hash: u64) {
        let rank = ((hash << self.bits) | (1 << (self.bits - 1))).leading_zeros() as u8 + 1;
        let register = &mut self.registers[(hash >> (64 - self.bits)) as usize];
        *register = rank.max(*register);
    }

    /// Adds what another sketch has seen; one of another size has seen nothing.
    pub fn join(&mut self, other: &Sketch) {
        if self.bits == other.bits {
            let registers = self.registers.iter_mut().zip(&other.registers);
            registers.for_each(|(own, other)| *own = (*own).max(*other));
        }
    }

    /// The standard error of the estimate, as a share of it.
    pub fn standard_error(&self) -> f64 {
        1.04 / (self.registers.len() as f64).sqrt()
    }

    pub fn estimate(&self) -> f64 {
        let m = self.registers.len() as f64;
        let sum: f64 = self.registers.iter().map(|&rank| (-f64::from(rank)).exp2()).sum();
        let raw = 0.7213 / (1.0 + 1.079 / m) * m * m / sum;
        let empty = self.registers.iter().filter(|&&rank| rank == 0).count();
        if raw <= 2.5 * m && empty > 0 { m * (m / empty as f64).ln() } else { raw }
    }
}

/// A state in 64 bits, the same on every machine.
#[inline]
pub fn hash_state(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let mut hash = bytes.len() as u64;
    for word in words {
        hash = mix(hash ^ u64::from_le_bytes(*word)).rotate_left(17);
    }
    for &byte in rest {
        hash = mix(hash ^ u64::from(byte));
    }
    mix(hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_estimate_is_within_four_standard_errors_and_repetition_does_not_count() {
        for count in [10u64, 3000, 50_000, 400_000] {
            let mut sketch = Sketch::new(1 << 20);
            for i in (0..count).chain(0..count / 2) {
                sketch.add(&i.to_le_bytes());
            }
            let error = (sketch.estimate() - count as f64).abs() / count as f64;
            assert!(error < 4.0 * sketch.standard_error(), "{count}: {}", sketch.estimate());
        }
        assert_eq!(Sketch::new(0).bytes(), 1 << MIN_BITS);
    }

    #[test]
    fn sketches_that_are_joined_have_seen_what_both_have() {
        let of = |range: std::ops::Range<u64>| {
            let mut sketch = Sketch::new(1 << 20);
            range.for_each(|i| sketch.add(&i.to_le_bytes()));
            sketch
        };
        let mut joined = of(0..30_000);
        joined.join(&of(20_000..50_000));
        assert_eq!(joined.registers, of(0..50_000).registers);
    }
}
