//! The one source of chance: a seed means the same on every machine and in every version.

/// SplitMix64 (Steele, Lea and Flood 2014): every seed is as good as any other, also neighbouring ones.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// From a seed.
    pub fn new(seed: u64) -> Self {
        Random(seed)
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Less than `bound`, which is not 0.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.number() % bound as u64) as usize
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
        let mut left = self.below(weights.iter().sum());
        for (index, &weight) in weights.iter().enumerate() {
            match left.checked_sub(weight) {
                Some(less) => left = less,
                None => return index,
            }
        }
        weights.len() - 1
    }
}

/// The seed of a run whose seeds rotate: that of the environment variable `VOLEE_SEED`, or else the day. It is printed, so that
/// a failure can be had again.
pub fn seed_of_the_day() -> u64 {
    let named = std::env::var("VOLEE_SEED").ok().and_then(|text| text.parse().ok());
    let seed = named.unwrap_or_else(|| {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        now.map_or(0, |passed| passed.as_secs() / 86_400 * 1_000_000)
    });
    println!("seed {seed} (VOLEE_SEED={seed} repeats this run)");
    seed
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
    fn weights_are_proportions() {
        let mut random = Random::new(7);
        let mut met = [0; 3];
        (0..6000).for_each(|_| met[random.weighted(&[1, 0, 5])] += 1);
        assert!(met[1] == 0 && met[0] > 800 && met[0] < 1200, "{met:?}");
    }
}
