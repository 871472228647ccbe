//! An estimate of how many different states were seen, when they cannot all be remembered.
//!
//! HyperLogLog (Flajolet, Fusy, Gandouet, Meunier 2007): each state is hashed, the hash chooses one of 2^14 registers,
//! and a register keeps the longest run of leading zeroes it has seen. Seeing a state again changes nothing, so
//! repetitions do not count. The standard error is 1.04 / sqrt(2^14), that is 0.8 %; small numbers are read off the
//! registers that are still empty, which is more precise.

use super::hash::mix;

const BITS: u32 = 14;
const REGISTERS: usize = 1 << BITS;

pub(crate) struct Sketch {
    registers: Box<[u8]>,
}

impl Sketch {
    pub(crate) fn new() -> Self {
        Sketch { registers: vec![0; REGISTERS].into_boxed_slice() }
    }

    pub(crate) fn add(&mut self, state: &[u8]) {
        let hash = hash_bytes(state);
        let rank = ((hash << BITS) | (1 << (BITS - 1))).leading_zeros() as u8 + 1;
        let register = &mut self.registers[(hash >> (64 - BITS)) as usize];
        *register = rank.max(*register);
    }

    /// The standard error of the estimate, as a share of it.
    pub(crate) fn standard_error(&self) -> f64 {
        1.04 / (REGISTERS as f64).sqrt()
    }

    pub(crate) fn estimate(&self) -> f64 {
        let m = REGISTERS as f64;
        let sum: f64 = self.registers.iter().map(|&rank| (-f64::from(rank)).exp2()).sum();
        let raw = 0.7213 / (1.0 + 1.079 / m) * m * m / sum;
        let empty = self.registers.iter().filter(|&&rank| rank == 0).count();
        if raw <= 2.5 * m && empty > 0 { m * (m / empty as f64).ln() } else { raw }
    }
}

fn hash_bytes(bytes: &[u8]) -> u64 {
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
            let mut sketch = Sketch::new();
            for i in (0..count).chain(0..count / 2) {
                sketch.add(&i.to_le_bytes());
            }
            let error = (sketch.estimate() - count as f64).abs() / count as f64;
            assert!(error < 0.033, "{count}: {}", sketch.estimate());
        }
    }
}
