//! Where two states differ, a word at a time.

/// The first place from `at` on where two states of the same length differ.
#[inline(always)]
pub(super) fn difference(one: &[u8], other: &[u8], mut at: usize) -> Option<usize> {
    let len = one.len().min(other.len());
    while let (Some(a), Some(b)) = (one.get(at..at + 8), other.get(at..at + 8)) {
        let differs = word(a) ^ word(b);
        if differs != 0 {
            return Some(at + differs.trailing_zeros() as usize / 8);
        }
        at += 8;
    }
    let last =
        len.checked_sub(8).and_then(|start| Some((start, one.get(start..len)?, other.get(start..len)?)));
    match last {
        // What stands before `at` was compared already, or is of no interest.
        Some((start, a, b)) if at < len => {
            let differs = (word(a) ^ word(b)) >> (8 * (at - start));
            (differs != 0).then(|| at + differs.trailing_zeros() as usize / 8)
        }
        _ => (at..len).find(|&at| one[at] != other[at]),
    }
}

#[inline(always)]
fn word(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.try_into().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_is_that_of_byte_by_byte() {
        for length in 0..20 {
            let one = vec![7u8; length];
            for changed in (0..length).flat_map(|i| (0..length).map(move |j| [i, j])) {
                let mut other = one.clone();
                changed.into_iter().for_each(|i| other[i] = 9);
                for at in 0..=length {
                    let naive = (at..length).find(|&i| one[i] != other[i]);
                    assert_eq!(difference(&one, &other, at), naive, "{changed:?} of {length} from {at}");
                }
            }
        }
    }
}
