//! The one source of chance: a seed means the same on every machine and in every version, which no library
//! promises.

use serde::{Deserialize, Serialize};

/// SplitMix64 (Steele, Lea and Flood 2014): every seed is as good as any other, also neighbouring ones.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Random(u64);

/// The integers that can be drawn.
pub trait Whole: Copy {
    /// As 64 bits; none is negative where it is a bound.
    fn widened(self) -> u64;
    /// From 64 bits that are known to fit.
    fn narrowed(bits: u64) -> Self;
}

macro_rules! whole {
    ($($type:ty)*) => {$(
        impl Whole for $type {
            #[inline]
            fn widened(self) -> u64 {
                self as u64
            }

            #[inline]
            fn narrowed(bits: u64) -> Self {
                bits as $type
            }
        }
    )*};
}

whole! { u8 u16 u32 u64 usize i32 i64 }

impl Random {
    /// From a seed.
    pub fn new(seed: u64) -> Self {
        Random(seed)
    }

    /// The next number.
    #[inline]
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Less than `bound`, or 0 where that is 0: the rest of a division.
    #[inline]
    pub fn below<N: Whole>(&mut self, bound: N) -> N {
        N::narrowed(self.number() % bound.widened().max(1))
    }

    /// Less than `bound`, or 0 where that is 0: the number as a part of all numbers, without a division.
    #[inline]
    pub fn part_of<N: Whole>(&mut self, bound: N) -> N {
        N::narrowed(((u128::from(self.number()) * u128::from(bound.widened())) >> 64) as u64)
    }

    /// From `low` to `high`, both included.
    pub fn within(&mut self, low: i64, high: i64) -> i64 {
        low + self.below(high - low + 1)
    }

    /// True in `percent` of 100 cases.
    pub fn percent(&mut self, percent: u64) -> bool {
        self.below(100_u64) < percent
    }

    /// True in `some` of `all` cases.
    pub fn chance(&mut self, some: u64, all: u64) -> bool {
        self.part_of(all) < some
    }

    /// True once in `n` times.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// One of several things.
    ///
    /// # Panics
    /// There are none.
    pub fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }

    /// The index of one of several weights, with probability in proportion.
    pub fn weighted(&mut self, weights: &[usize]) -> usize {
        let mut left: usize = self.below(weights.iter().sum());
        for (index, &weight) in weights.iter().enumerate() {
            match left.checked_sub(weight) {
                Some(less) => left = less,
                None => return index,
            }
        }
        weights.len() - 1
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn a_seed_means_the_same_everywhere() {
        let mut random = Random::new(1);
        assert_eq!([random.number(), random.number()], [0x910A_2DEC_8902_5CC1, 0xBEEB_8DA1_658E_EC67]);
    }

    #[test]
    fn what_is_drawn_is_below_its_bound_and_every_value_is_met() {
        let mut random = Random::new(3);
        let (mut rests, mut parts) = ([0; 7], [0; 7]);
        for _ in 0..7000 {
            rests[random.below(7_usize)] += 1;
            parts[random.part_of(7_usize)] += 1;
        }
        assert!(rests.iter().chain(&parts).all(|&count| (800..1200).contains(&count)), "{rests:?} {parts:?}");
        assert!((0..100).map(|_| random.within(-2, 2)).all(|n| (-2..=2).contains(&n)));
    }

    #[test]
    fn weights_are_proportions() {
        let mut random = Random::new(7);
        let mut met = [0; 3];
        (0..6000).for_each(|_| met[random.weighted(&[1, 0, 5])] += 1);
        assert!(met[1] == 0 && met[0] > 800 && met[0] < 1200, "{met:?}");
    }
}
