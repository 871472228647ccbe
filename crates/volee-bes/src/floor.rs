//! What the memory of this machine allows: the yardstick of the benchmark of the solvers.
//!
//! To process an edge, a solver has to find out whether its target is known, and to read what it keeps of it:
//! two reads at places that nobody can foresee. This file makes such reads and nothing else, so that a
//! benchmark can say how much a solver adds to them. They are independent of each other, and made in the
//! better of two ways: left to the processor, which looks ahead as far as it can, or with as many prefetched
//! as the solvers have in flight.

use std::hint::black_box;
use volee_system::Random;

use volee_store::large::lengthen;
use volee_store::prefetch_at as prefetch;

/// How memory is backed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pages {
    /// As every program gets it.
    Ordinary,
    /// On large pages, as the solvers ask for.
    Large,
}

/// Who decides how many reads are in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ahead {
    /// The processor.
    Processor,
    /// The program, as many as the solvers have.
    Program,
}

/// As the solvers have.
const IN_FLIGHT: usize = 64;

/// Two arrays to read from at random.
#[derive(Debug)]
pub struct Field {
    first: Vec<u64>,
    second: Vec<u64>,
}

impl Field {
    /// Arrays of this many bytes, all of them written to.
    pub fn new(first: usize, second: usize, pages: Pages) -> Self {
        let array = |bytes: usize| match pages {
            Pages::Ordinary => vec![1u64; bytes.div_ceil(8)],
            Pages::Large => {
                let mut array = Vec::new();
                lengthen(&mut array, bytes.div_ceil(8));
                array.fill(1);
                array
            }
        };
        Field { first: array(first), second: array(second) }
    }

    /// Reads one element of each array, `pairs` times.
    pub fn read(&self, pairs: u64, ahead: Ahead) {
        let mut random = Random::new(7);
        let mut draw = || {
            let drawn = random.number();
            let (high, low) = ((drawn >> 32) as usize, (drawn & 0xffff_ffff) as usize);
            ((high * self.first.len()) >> 32, (low * self.second.len()) >> 32)
        };
        let mut sum = 0u64;
        match ahead {
            Ahead::Processor => {
                for _ in 0..pairs {
                    let (i, j) = draw();
                    sum = sum.wrapping_add(self.first[i]).wrapping_add(self.second[j]);
                }
            }
            Ahead::Program => {
                let mut coming = [(0, 0); IN_FLIGHT];
                for n in 0..pairs as usize {
                    let (i, j) = draw();
                    prefetch(&self.first, i);
                    prefetch(&self.second, j);
                    let (i, j) = std::mem::replace(&mut coming[n % IN_FLIGHT], (i, j));
                    sum = sum.wrapping_add(self.first[i]).wrapping_add(self.second[j]);
                }
            }
        }
        black_box(sum);
    }
}
