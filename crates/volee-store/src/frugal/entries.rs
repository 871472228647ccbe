//! Entries of the path, which are read from their ends.

/// An entry of the path that is longer than a byte tells has this in that byte, and its length before.
const LONG: u8 = u8::MAX;

/// An entry of the path tells its length at its end, where it is read from.
pub(super) fn end_entry(entry: &mut Vec<u8>) {
    match u8::try_from(entry.len()) {
        Ok(length) if length != LONG => entry.push(length),
        _ => {
            let length = entry.len() as u32;
            entry.extend_from_slice(&length.to_le_bytes());
            entry.push(LONG);
        }
    }
}

/// Where the last entry starts, and its length without what tells it.
pub(super) fn last_entry(bytes: &[u8]) -> (usize, usize) {
    let end = bytes.len() - 1;
    match bytes[end] {
        LONG => {
            let told: [u8; 4] = std::array::from_fn(|at| bytes[end - 4 + at]);
            let length = u32::from_le_bytes(told) as usize;
            (end - 4 - length, length)
        }
        length => (end - usize::from(length), usize::from(length)),
    }
}
