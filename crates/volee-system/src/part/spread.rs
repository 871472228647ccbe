//! Which worker a state belongs to, so that most steps stay at home.
//!
//! A hash of all bytes spreads states evenly, and sends all but one in P steps to another worker. A hash of a
//! few bytes that change rarely (what a process holds, how far it is) keeps most steps at home, an idea of
//! Lerda and Sisto (1999), who took the bytes of one process; but too few bytes with too few values spread
//! badly. Which bytes are good depends on the system. So a sample of it is looked at first: walks of a few
//! thousand steps, the same for all workers, because neither the order of steps nor the numbers drawn depend
//! on who looks. Each choice of bytes has two costs there: the share of steps that leave home, and how
//! unevenly states would be spread. The second comes from how often each value of the bytes occurs: if all
//! are equally frequent, E of them fall on P workers like balls into urns.
//!
//! Bytes are added one by one, the best first. Where no choice is much better than the hash of all bytes,
//! that is taken. A worker asks nobody which bytes the others have chosen; that all have chosen the same is
//! checked with every state that arrives, since it must be the receiver's.

use std::collections::HashMap;

/// Steps of a walk before the next one begins.
const WALK: usize = 24;
/// States that are expanded at most.
const EXPANSIONS: usize = 2400;
/// Successors that are looked at, at most.
const PUSHES: usize = 200_000;
/// Bytes of states that are kept at most.
const BYTES: usize = 4 << 20;
/// Of the steps of one state this many are counted: a state with very many would decide for all.
const COUNTED: usize = 8;
/// The largest number of bytes that are chosen.
const MOST: usize = 6;
/// Candidates: those bytes that change least.
const CANDIDATES: usize = 24;
/// What a step that leaves home costs, in steps that stay.
const MESSAGE: f64 = 0.7;
/// The largest worker may be this much larger than the mean, as far as the sample can tell.
const LARGEST: f64 = 1.3;
/// A choice must cost at most so much of what the hash of all bytes costs.
const WORTH_IT: f64 = 0.95;
/// Hash functions that are tried for the most even spread.
const SEEDS: u64 = 12;
/// Fewer states than this say nothing.
const FEWEST: usize = 200;

/// Whom states belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spread {
    /// The bytes that count; none means all.
    bytes: [u16; MOST],
    len: u8,
    seed: u64,
}

impl Spread {
    /// By all bytes.
    pub const EVEN: Spread = Spread { bytes: [0; MOST], len: 0, seed: 0 };

    /// Whether all bytes count.
    #[inline]
    pub fn is_even(&self) -> bool {
        self.len == 0
    }

    /// Whose a state is among `peers` workers.
    #[inline]
    pub fn owner(&self, state: &[u8], peers: usize) -> usize {
        let hash = if self.len == 0 { hash_all(state) } else { self.hash(state) };
        (((hash >> 32) * peers as u64) >> 32) as usize
    }

    #[inline]
    fn word(&self, state: &[u8]) -> u64 {
        let bytes = &self.bytes[..usize::from(self.len)];
        let byte = |at: &u16| state.get(usize::from(*at)).copied().unwrap_or(0);
        bytes.iter().fold(0, |word, at| word << 8 | u64::from(byte(at)))
    }

    #[inline]
    fn hash(&self, state: &[u8]) -> u64 {
        mix(self.word(state) ^ self.seed)
    }

    fn seeded(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    fn with(mut self, byte: u16) -> Self {
        self.bytes[usize::from(self.len)] = byte;
        self.len += 1;
        self
    }
}

#[inline]
fn mix(word: u64) -> u64 {
    let h = (word ^ (word >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    let h = (h ^ (h >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    h ^ (h >> 32)
}

fn hash_all(state: &[u8]) -> u64 {
    let (words, rest) = state.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let fold = |hash: u64, word: [u8; 8]| mix(hash ^ u64::from_le_bytes(word));
    fold(words.iter().fold(state.len() as u64, |hash, word| fold(hash, *word)), last)
}

/// Numbers that look drawn by chance and are the same everywhere.
struct Drawn(u64);

impl Drawn {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        (((mix(self.0) >> 32) * bound as u64) >> 32) as usize
    }
}

/// Some states of a system and some of their steps.
#[derive(Debug, Default)]
pub struct Sample {
    states: Vec<Vec<u8>>,
    numbers: HashMap<Vec<u8>, usize>,
    steps: Vec<(usize, usize)>,
    /// The states that were walked through, once each.
    walked: Vec<usize>,
    size: usize,
    /// Bytes at the end of each state that do not count.
    tail: usize,
}

impl Sample {
    /// Walks through a system from some of its states. `expand` gives the successors of a state, in an order
    /// that is the same everywhere, or nothing where it cannot. The last `tail` bytes of a state are not
    /// looked at.
    pub fn walk(
        starts: &[Vec<u8>],
        tail: usize,
        mut expand: impl FnMut(&[u8], &mut Vec<Vec<u8>>) -> Option<()>,
    ) -> Option<Self> {
        let mut sample = Sample { tail, ..Sample::default() };
        for start in starts {
            sample.number(start);
        }
        let (mut drawn, mut pushes, mut expansions) = (Drawn(0), 0, 0);
        let mut seen = vec![false; starts.len()];
        let mut targets = Vec::new();
        // A system that has few states is known soon.
        while !sample.states.is_empty()
            && expansions < EXPANSIONS.min(64 + 4 * sample.states.len())
            && pushes < PUSHES
            && sample.size < BYTES
        {
            let mut at = drawn.below(sample.states.len());
            for _ in 0..WALK {
                targets.clear();
                expand(&sample.states[at], &mut targets)?;
                expansions += 1;
                pushes += targets.len();
                seen.resize(sample.states.len(), false);
                if !std::mem::replace(&mut seen[at], true) {
                    sample.walked.push(at);
                }
                if targets.is_empty() {
                    break;
                }
                let counted = targets.len().min(COUNTED);
                let first = drawn.below(targets.len());
                for k in 0..counted {
                    let target =
                        sample.number(&targets[(first + k * targets.len() / counted) % targets.len()]);
                    sample.steps.push((at, target));
                }
                at = sample.number(&targets[drawn.below(targets.len())]);
            }
        }
        Some(sample)
    }

    fn number(&mut self, state: &[u8]) -> usize {
        if let Some(&number) = self.numbers.get(state) {
            return number;
        }
        self.size += state.len();
        self.numbers.insert(state.to_vec(), self.states.len());
        self.states.push(state.to_vec());
        self.states.len() - 1
    }

    /// The spread that costs least, as far as the sample can tell.
    pub fn spread(&self, peers: usize) -> Spread {
        if peers == 1 || self.walked.len() < FEWEST {
            return Spread::EVEN;
        }
        let away = (peers - 1) as f64 / peers as f64;
        let mut least = WORTH_IT * (1.0 + MESSAGE * away);
        let (mut best, mut growing) = (Spread::EVEN, Spread::EVEN);
        let candidates = self.candidates();
        for _ in 0..MOST {
            let unused = candidates.iter().filter(|c| !growing.bytes[..usize::from(growing.len)].contains(c));
            let larger =
                unused.map(|byte| growing.with(*byte)).map(|spread| (self.costs(&spread, peers), spread));
            let Some((costs, spread)) = larger.min_by(|(a, _), (b, _)| a.all().total_cmp(&b.all())) else {
                break;
            };
            growing = spread;
            if costs.all() < least && costs.largest <= LARGEST {
                (least, best) = (costs.all(), spread);
            }
        }
        if best.is_even() { best } else { self.evenly(best, peers) }
    }

    /// The bytes that change at some step, those that change least first.
    fn candidates(&self) -> Vec<u16> {
        let mut changes: Vec<usize> = Vec::new();
        for &(from, to) in &self.steps {
            let (from, to) = (self.counting(from), self.counting(to));
            changes.resize(changes.len().max(from.len()).max(to.len()), 0);
            for (at, changed) in changes.iter_mut().enumerate() {
                *changed += usize::from(from.get(at).unwrap_or(&0) != to.get(at).unwrap_or(&0));
            }
        }
        let mut bytes: Vec<(usize, u16)> = changes.into_iter().zip(0..u16::MAX).filter(|c| c.0 > 0).collect();
        bytes.sort_unstable();
        bytes.into_iter().map(|(_, at)| at).take(CANDIDATES).collect()
    }

    fn counting(&self, state: usize) -> &[u8] {
        let state = &self.states[state];
        &state[..state.len().saturating_sub(self.tail)]
    }

    fn costs(&self, spread: &Spread, peers: usize) -> Costs {
        let words: Vec<u64> = (0..self.states.len()).map(|at| spread.word(self.counting(at))).collect();
        let leaving = self.steps.iter().filter(|(from, to)| words[*from] != words[*to]).count();
        let away = (peers - 1) as f64 / peers as f64;
        let mut walked: Vec<u64> = self.walked.iter().map(|at| words[*at]).collect();
        walked.sort_unstable();
        let equal = |c: &[u64]| c.len() * (c.len() - 1);
        let pairs: usize = walked.chunk_by(|a, b| a == b).map(equal).sum();
        let meet = pairs as f64 / equal(&walked) as f64;
        // The largest of P loads, each the sum of what falls into it; half of what chance would make of it,
        // because the best of several hash functions is taken. No logarithm, because all must get the same
        // number.
        let doublings = f64::from(usize::BITS - (peers - 1).leading_zeros());
        Costs {
            away: away * leaving as f64 / self.steps.len().max(1) as f64,
            largest: 1.0 + (1.4 * doublings * (peers - 1) as f64 * meet).sqrt() / 2.0,
        }
    }

    /// The same bytes with the hash function that spreads the sample most evenly.
    fn evenly(&self, spread: Spread, peers: usize) -> Spread {
        let largest = |spread: &Spread| {
            let mut loads = vec![0usize; peers];
            for &at in &self.walked {
                loads[spread.owner(self.counting(at), peers)] += 1;
            }
            loads.into_iter().max()
        };
        let seeded = (0..SEEDS).map(|seed| spread.seeded(seed << 56));
        seeded.min_by_key(largest).unwrap_or(spread)
    }
}

/// What a spread costs, as far as a sample can tell.
#[derive(Debug, Clone, Copy)]
struct Costs {
    /// The share of steps that leave home.
    away: f64,
    /// The largest worker's load over the mean.
    largest: f64,
}

impl Costs {
    fn all(&self) -> f64 {
        self.largest * (1.0 + MESSAGE * self.away)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A counter that turns at every step, and a value that jumps when the counter is back at 0.
    fn walk(tail: usize) -> Sample {
        let expand = |state: &[u8], targets: &mut Vec<Vec<u8>>| {
            let next = (state[0] + 1) % 16;
            let jump = |by: u8| vec![next, 7, state[2].wrapping_mul(by).wrapping_add(by + 2), 0];
            match next {
                0 => targets.extend([5, 21, 13, 45, 97, 201].map(jump)),
                _ => targets.push(vec![next, 7, state[2], state[3] ^ 1]),
            }
            Some(())
        };
        Sample::walk(&[vec![62, 7, 0, 0]], tail, expand).expect("it can always go on")
    }

    #[test]
    fn the_byte_that_changes_rarely_and_has_many_values_is_chosen() {
        for peers in [2, 3] {
            let sample = walk(0);
            let spread = sample.spread(peers);
            let costs = sample.costs(&Spread::EVEN.with(2), peers);
            assert_eq!((spread.len, spread.bytes[0]), (1, 2), "{spread:?} {costs:?}");
            let mut loads = vec![0; peers];
            for value in 0..=255 {
                let owner = spread.owner(&[3, 7, value, 0], peers);
                assert_eq!(owner, spread.owner(&[40, 7, value, 1], peers));
                loads[owner] += 1;
            }
            assert!(loads.iter().all(|load| load * peers > 180 && load * peers < 340), "{loads:?}");
        }
    }

    #[test]
    fn bytes_that_do_not_count_are_not_chosen_and_few_states_say_nothing() {
        assert!(walk(2).spread(2).is_even());
        assert!(walk(0).spread(1).is_even());
        let turn = |state: &[u8], targets: &mut Vec<Vec<u8>>| {
            targets.push(vec![(state[0] + 1) % 100]);
            Some(())
        };
        assert!(Sample::walk(&[vec![0]], 0, turn).expect("it turns").spread(2).is_even());
        assert!(Sample::walk(&[vec![0]], 0, |_, _| None).is_none());
    }

    #[test]
    fn all_bytes_spread_evenly() {
        for peers in [2, 3, 7] {
            let mut counts = vec![0; peers];
            for n in 0..10_000u32 {
                let state = format!("{n:08} of a state");
                counts[Spread::EVEN.owner(state.as_bytes(), peers)] += 1;
            }
            let even = 10_000 / peers;
            assert!(counts.iter().all(|c| *c > even * 9 / 10 && *c < even * 11 / 10), "{counts:?}");
        }
    }
}
