//! Places that are numbers, dealt out to the workers in stripes.
//!
//! Whoever numbers states does so as they are found, so neighbours in number are often neighbours in the
//! graph: a stripe of 64 stays together. In a small system stripes would be uneven, and single numbers are
//! dealt out.

use crate::places::Share;

/// A stripe has 2 to this power numbers.
const STRIPE: u32 = 6;
/// Stripes that every worker gets at least.
const FEWEST: u32 = 16;

/// The numbers below a bound, those of one share only.
#[derive(Debug, Clone, Copy)]
pub struct Numbers {
    pub bound: u32,
    pub share: Share,
    /// How many low bits tell numbers of a stripe apart.
    low: u32,
}

impl Numbers {
    pub fn new(bound: u32, share: Share) -> Self {
        let large = bound >> STRIPE >= FEWEST * u32::from(share.peers);
        Numbers { bound, share, low: if large { STRIPE } else { 0 } }
    }

    fn peers(&self) -> u32 {
        u32::from(self.share.peers)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        let (stripes, rest) = (self.bound >> self.low, self.bound & ((1 << self.low) - 1));
        let me = u32::from(self.share.me);
        let whole = stripes.saturating_sub(me).div_ceil(self.peers());
        let cut = if stripes % self.peers() == me { rest } else { 0 };
        ((whole << self.low) + cut) as usize
    }

    /// Whose a number is.
    #[inline]
    pub fn owner(&self, number: u32) -> usize {
        ((number >> self.low) % self.peers()) as usize
    }

    /// The number of one of ours among ours.
    #[inline]
    pub fn local(&self, number: u32) -> u32 {
        if self.share.peers == 1 {
            return number;
        }
        ((number >> self.low) / self.peers()) << self.low | number & ((1 << self.low) - 1)
    }

    /// The number of one of ours among ours, if it is one.
    #[inline]
    pub fn find(&self, number: u32) -> Option<u32> {
        let ours = self.share.peers == 1 || self.owner(number) == usize::from(self.share.me);
        (number < self.bound && ours).then(|| self.local(number))
    }

    /// What [`Numbers::local`] was given.
    #[inline]
    pub fn global(&self, local: u32) -> u32 {
        if self.share.peers == 1 {
            return local;
        }
        let stripe = (local >> self.low) * self.peers() + u32::from(self.share.me);
        stripe << self.low | local & ((1 << self.low) - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_belongs_to_one_share_and_comes_back() {
        for (bound, peers) in [(0, 2), (1, 3), (103, 4), (5000, 1), (5000, 3), (70_001, 4), (70_000, 7)] {
            let shares: Vec<Numbers> =
                (0..peers).map(|me| Numbers::new(bound, Share { me, peers })).collect();
            assert_eq!(shares.iter().map(Numbers::len).sum::<usize>(), bound as usize, "{bound} {peers}");
            for n in 0..bound {
                let owners: Vec<usize> = (0..shares.len()).filter(|k| shares[*k].find(n).is_some()).collect();
                assert_eq!(owners, [shares[0].owner(n)]);
                let own = &shares[owners[0]];
                let local = own.local(n);
                assert!((local as usize) < own.len(), "{n} of {bound} among {peers}");
                assert_eq!(own.global(local), n);
            }
        }
    }
}
