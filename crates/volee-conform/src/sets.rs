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

/// Writes sorted members.
pub(crate) fn encode(members: &[Member], out: &mut Vec<u8>) {
    out.clear();
    for run in members.chunk_by(|a, b| a.purpose() == b.purpose()) {
        out.extend_from_slice(&u32::from(run[0].purpose()).to_le_bytes());
        out.extend_from_slice(&(run.len() as u32).to_le_bytes());
        for member in run {
            out.extend_from_slice(&member.state().to_le_bytes());
        }
    }
}

/// Reads members back.
pub(crate) fn decode(bytes: &[u8], out: &mut Vec<Member>) {
    out.clear();
    let mut words = bytes.chunks_exact(4).map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]]));
    while let (Some(purpose), Some(count)) = (words.next(), words.next()) {
        out.extend(words.by_ref().take(count as usize).map(|state| Member::new(state, purpose as u16)));
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
        let pair = |m: Member| Member::of((&m.purpose().to_le_bytes(), &m.state().to_le_bytes()));
        assert_eq!(members.map(pair), members);
    }
}
