//! A worker and a number of its own, in four bytes.

/// How the four bytes are divided, given how many workers there are.
#[derive(Debug, Clone, Copy)]
pub struct Packing {
    shift: u32,
    mask: u32,
}

impl Packing {
    /// For this many workers.
    pub fn new(peers: usize) -> Self {
        let bits = usize::BITS - (peers.max(1) - 1).leading_zeros();
        Packing { shift: 32 - bits, mask: ((1u64 << (32 - bits)) - 1) as u32 }
    }

    /// Numbers must be below this one.
    #[inline]
    pub fn bound(self) -> u32 {
        self.mask
    }

    /// Both in one.
    #[inline]
    pub fn pack(self, owner: usize, number: u32) -> u32 {
        ((owner as u64) << self.shift) as u32 | number
    }

    /// The worker, and its number.
    #[inline]
    pub fn unpack(self, packed: u32) -> (usize, u32) {
        ((u64::from(packed) >> self.shift) as usize, packed & self.mask)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_and_a_number_fit_in_four_bytes() {
        for peers in [1, 2, 3, 4, 5, 64, 65, 256] {
            let packing = Packing::new(peers);
            for owner in [0, peers - 1] {
                for number in [0, 1, 12345, packing.bound() - 1] {
                    assert_eq!(packing.unpack(packing.pack(owner, number)), (owner, number), "{peers}");
                }
            }
        }
    }
}
