//! The one hash function of the stores: 64 bits to 64 bits, the same on every machine and in every run.

/// Mixes by a full multiplication whose halves are folded together.
#[inline(always)]
pub fn mix(key: u64) -> u64 {
    let product = u128::from(key ^ 0x9E37_79B9_7F4A_7C15) * 0xD6E8_FEB8_6659_FD93;
    (product as u64) ^ ((product >> 64) as u64)
}
