//! Sets of product states as bytes, so that equal sets are found by one look-up: runs of states that share a
//! state of the purpose, which is one run for most purposes. A member is `purpose << 32 | state`.

use volee_search::Pair;

/// A state of the specification with a state of the purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Member(u64);

impl Member {
    pub fn new(state: u32, purpose: u16) -> Self {
        Member(u64::from(purpose) << 32 | u64::from(state))
    }

    pub fn state(self) -> u32 {
        self.0 as u32
    }

    pub fn purpose(self) -> u16 {
        (self.0 >> 32) as u16
    }

    /// The pair of the product: two bytes of the purpose, four of the specification.
    #[inline]
    pub fn of((purpose, state): Pair<'_>) -> Self {
        let purpose = purpose.try_into().expect("a state of a purpose has two bytes");
        let state = state.try_into().expect("a state of a specification is its number");
        Member::new(u32::from_le_bytes(state), u16::from_le_bytes(purpose))
    }
}

/// Writes sorted members: of each run the state of the purpose, how many there are, and the states, each as
/// its distance from the one before. A closure has states that were met one after the other, so that most
/// distances are one byte.
pub(crate) fn encode(members: &[Member], out: &mut Vec<u8>) {
    out.clear();
    for run in members.chunk_by(|a, b| a.purpose() == b.purpose()) {
        put(u32::from(run[0].purpose()), out);
        put(run.len() as u32, out);
        let mut last = 0;
        for member in run {
            put(member.state().wrapping_sub(last), out);
            last = member.state();
        }
    }
}

/// Reads members back.
pub(crate) fn decode(bytes: &[u8], out: &mut Vec<Member>) {
    out.clear();
    out.extend(Members::of(bytes));
}

/// The members of a set that was written, in their order.
pub(crate) struct Members<'b> {
    bytes: &'b [u8],
    purpose: u16,
    left: u32,
    last: u32,
}

impl<'b> Members<'b> {
    pub fn of(bytes: &'b [u8]) -> Self {
        Members { bytes, purpose: 0, left: 0, last: 0 }
    }
}

impl Iterator for Members<'_> {
    type Item = Member;

    #[inline]
    fn next(&mut self) -> Option<Member> {
        if self.left == 0 {
            self.purpose = take(&mut self.bytes)? as u16;
            self.left = take(&mut self.bytes)?;
            self.last = 0;
        }
        self.left -= 1;
        self.last = self.last.wrapping_add(take(&mut self.bytes)?);
        Some(Member::new(self.last, self.purpose))
    }
}

/// Appends a number, seven bits to a byte, the lowest first.
#[inline]
pub(crate) fn put(mut number: u32, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Takes a number from the front; nothing where there is none, or where it is too long.
#[inline]
pub(crate) fn take(bytes: &mut &[u8]) -> Option<u32> {
    let (mut number, mut shift) = (0, 0);
    loop {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u32::from(byte & 0x7f).checked_shl(shift)?;
        if byte < 0x80 {
            return Some(number);
        }
        shift += 7;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_come_back() {
        let members = [(3, 0), (9, 0), (1, 2), (u32::MAX, u16::MAX)].map(|(s, p)| Member::new(s, p));
        let (mut bytes, mut back) = (Vec::new(), Vec::new());
        encode(&members, &mut bytes);
        decode(&bytes, &mut back);
        assert_eq!(back, members);
        assert!(Members::of(&bytes[..bytes.len() - 1]).count() < members.len());
        let pair = |m: Member| Member::of((&m.purpose().to_le_bytes(), &m.state().to_le_bytes()));
        assert_eq!(members.map(pair), members);
    }
}
