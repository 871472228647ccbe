//! The instances of a net, smallest first.

use volee_nets::Net;

/// Enumerates initial markings by their number of extra tokens, at most this many in all.
#[derive(Debug)]
pub struct Sizes<'n> {
    net: &'n Net,
    initial: usize,
    extra: u32,
    /// How the extra tokens are spread over the open places; `None` before the first.
    shares: Option<Vec<u32>>,
    left: usize,
}

impl<'n> Sizes<'n> {
    /// All instances, at most `limit`.
    pub fn new(net: &'n Net, limit: usize) -> Self {
        Sizes { net, initial: 0, extra: 0, shares: None, left: limit }
    }

    fn open(&self, initial: usize) -> Vec<usize> {
        (0..self.net.places.len()).filter(|&p| self.net.initial[initial].open[p]).collect()
    }
}

impl Iterator for Sizes<'_> {
    type Item = (usize, Vec<u32>);

    fn next(&mut self) -> Option<Self::Item> {
        let any_open = self.net.initial.iter().any(|i| i.open.contains(&true));
        loop {
            if self.left == 0 || (self.extra > 0 && !any_open) || self.extra > volee_nets::MAX_TOKENS {
                return None;
            }
            if self.initial == self.net.initial.len() {
                self.initial = 0;
                self.extra += 1;
                self.shares = None;
                continue;
            }
            let open = self.open(self.initial);
            self.shares = match self.shares.take() {
                None => first_spread(open.len(), self.extra),
                Some(shares) => next_spread(shares),
            };
            let Some(shares) = &self.shares else {
                self.initial += 1;
                continue;
            };
            let mut marking = self.net.initial[self.initial].base.clone();
            for (&p, &share) in open.iter().zip(shares) {
                marking[p] = marking[p].saturating_add(share);
            }
            self.left -= 1;
            return Some((self.initial, marking));
        }
    }
}

fn first_spread(slots: usize, total: u32) -> Option<Vec<u32>> {
    let mut shares = vec![0; slots];
    match shares.first_mut() {
        Some(first) => *first = total,
        None if total > 0 => return None,
        None => {}
    }
    Some(shares)
}

/// The next way to spread the same total: one token moves right, what is right of it returns next to it.
fn next_spread(mut shares: Vec<u32>) -> Option<Vec<u32>> {
    let last = shares.len().checked_sub(1)?;
    let from = (0..last).rev().find(|&i| shares[i] > 0)?;
    let rest = std::mem::take(&mut shares[last]);
    shares[from] -= 1;
    shares[from + 1] += rest + 1;
    Some(shares)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_spreads_of_three_tokens_over_three_places_come_once() {
        let mut all = Vec::new();
        let mut now = first_spread(3, 3);
        while let Some(shares) = now {
            all.push(shares.clone());
            now = next_spread(shares);
        }
        assert_eq!(all.len(), 10);
        let mut sorted = all.clone();
        sorted.sort();
        sorted.dedup();
        assert_eq!(sorted.len(), 10);
        assert!(all.iter().all(|s| s.iter().sum::<u32>() == 3));
    }
}
