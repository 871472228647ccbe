//! How one state is made of another, in few bytes.
//!
//! A step changes few bytes of a state, and may lengthen or shorten it: at its end, where a message is sent,
//! or further to the front, where one is received and the others move up. So two states are laid side by side
//! with their fronts or with their ends together, whichever takes less, and what differs is written down:
//! runs of bytes, each with how many are skipped before it. A state by itself is its difference from nothing.

/// The bit of the first byte that belongs to whoever keeps the difference.
pub(super) const MARK: u8 = 1;
/// The ends of the two states are together, not their fronts.
const AT_END: u64 = 2;
/// Where the number of runs starts; three stands for three and more.
const RUNS: u32 = 2;
/// Where the difference of the lengths starts.
const LENGTH: u32 = 4;
/// Equal bytes between two runs that are cheaper than another run.
const GAP: usize = 1;

/// Writes how `to` is made of `from`. The two buffers are for what is tried.
pub(super) fn write(from: &[u8], to: &[u8], out: &mut Vec<u8>, tried: &mut Vec<u8>) {
    let start = out.len();
    write_aligned(from, to, false, out);
    if from.len() != to.len() && !from.is_empty() {
        tried.clear();
        write_aligned(from, to, true, tried);
        if tried.len() < out.len() - start {
            out.truncate(start);
            out.extend_from_slice(tried);
        }
    }
}

fn write_aligned(from: &[u8], to: &[u8], at_end: bool, out: &mut Vec<u8>) {
    let lengthened = to.len() as i64 - from.len() as i64;
    let zigzag = ((lengthened << 1) ^ (lengthened >> 63)) as u64;
    let runs = Runs { from, to, at_end, at: 0 };
    let count = runs.clone().count() as u64;
    let head = zigzag << LENGTH | count.min(3) << RUNS | if at_end { AT_END } else { 0 };
    number(head, out);
    if count >= 3 {
        number(count - 3, out);
    }
    let mut written = 0;
    for (start, end) in runs {
        let (skipped, length) = ((start - written) as u64, (end - start) as u64);
        number(skipped << 2 | (length - 1).min(3), out);
        if length >= 4 {
            number(length - 4, out);
        }
        out.extend_from_slice(&to[start..end]);
        written = end;
    }
}

/// Where `to` has other bytes than `from`, in order.
#[derive(Clone)]
struct Runs<'a> {
    from: &'a [u8],
    to: &'a [u8],
    at_end: bool,
    at: usize,
}

impl Runs<'_> {
    /// The first place from here on that differs, if `differs`, or does not.
    fn next_place(&self, at: usize, differs: bool) -> usize {
        let (from, to) = (self.from.len(), self.to.len());
        // Places of `to` before and behind what lies beside `from` have no byte there.
        let (first, last) = match (self.at_end, to >= from) {
            (true, true) => (to - from, to),
            (false, true) => (0, from),
            (_, false) => (0, to),
        };
        let behind = if self.at_end { from.saturating_sub(to) } else { 0 };
        let mut at = at;
        if differs && at >= first {
            while at + 16 <= last && self.to[at..at + 16] == self.from[at - first + behind..][..16] {
                at += 16;
            }
        }
        while at < to {
            let alone = at < first || at >= last;
            if (alone || self.to[at] != self.from[at - first + behind]) == differs {
                break;
            }
            at += 1;
        }
        at
    }
}

impl Iterator for Runs<'_> {
    type Item = (usize, usize);

    fn next(&mut self) -> Option<(usize, usize)> {
        let start = self.next_place(self.at, true);
        if start >= self.to.len() {
            return None;
        }
        let mut end = self.next_place(start, false);
        loop {
            let again = self.next_place(end, true);
            if again >= self.to.len() || again - end > GAP {
                break;
            }
            end = self.next_place(again, false);
        }
        self.at = end;
        Some((start, end))
    }
}

/// Makes the other state of this one, in its place; how many bytes the difference has.
pub(super) fn apply(state: &mut Vec<u8>, difference: &[u8]) -> usize {
    let mut at = 0;
    let head = read(difference, &mut at);
    let zigzag = head >> LENGTH;
    let lengthened = (zigzag >> 1) as i64 ^ -((zigzag & 1) as i64);
    let length = (state.len() as i64 + lengthened) as usize;
    let count = match head >> RUNS & 3 {
        3 => 3 + read(difference, &mut at),
        few => few,
    };
    if head & AT_END == 0 {
        state.resize(length, 0);
    } else if length < state.len() {
        state.drain(..state.len() - length);
    } else {
        let before = state.len();
        state.resize(length, 0);
        state.copy_within(..before, length - before);
    }
    let mut place = 0;
    for _ in 0..count {
        let head = read(difference, &mut at);
        let length = match head & 3 {
            3 => 4 + read(difference, &mut at),
            few => few + 1,
        } as usize;
        place += (head >> 2) as usize;
        state[place..place + length].copy_from_slice(&difference[at..at + length]);
        place += length;
        at += length;
    }
    at
}

/// Writes a number, seven bits to a byte.
pub(super) fn number(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Reads a number and goes behind it.
pub(super) fn read(bytes: &[u8], at: &mut usize) -> u64 {
    let (mut number, mut shift) = (0, 0);
    loop {
        let byte = bytes[*at];
        *at += 1;
        number |= u64::from(byte & 0x7F) << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            return number;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use volee_system::Random;

    /// A state that is made of another as steps do, or is a stranger.
    fn other(random: &mut Random, state: &[u8]) -> Vec<u8> {
        let mut other = state.to_vec();
        for _ in 0..random.below(4) {
            match random.below(6) {
                0 => other.push(random.below(3) as u8),
                1 if !other.is_empty() => drop(other.remove(random.below(other.len()))),
                2 => other.insert(random.below(other.len() + 1), random.below(256) as u8),
                3 => other.truncate(random.below(other.len() + 1)),
                4 if random.below(8) == 0 => {
                    other = (0..random.below(300)).map(|_| random.below(4) as u8).collect();
                }
                _ if !other.is_empty() => {
                    let at = random.below(other.len());
                    other[at] ^= 1 << random.below(8);
                }
                _ => {}
            }
        }
        other
    }

    #[test]
    fn a_difference_gives_back_the_state_it_was_made_for() {
        let mut random = Random::new(1);
        let mut tried = Vec::new();
        for _ in 0..300 {
            let mut states = vec![Vec::new()];
            let mut bytes = Vec::new();
            for _ in 0..40 {
                let last = states.last().expect("there is one");
                let next = other(&mut random, last);
                write(last, &next, &mut bytes, &mut tried);
                states.push(next);
            }
            let (mut state, mut at) = (Vec::new(), 0);
            for wanted in &states[1..] {
                assert!(
                    random.below(2) == 0 || {
                        bytes[at] |= MARK;
                        true
                    }
                );
                at += apply(&mut state, &bytes[at..]);
                assert_eq!(&state, wanted);
            }
            assert_eq!(at, bytes.len());
        }
    }

    #[test]
    fn a_step_takes_few_bytes_at_both_ends_of_a_channel() {
        let mut state = vec![7u8; 3];
        state.extend((0..500u32).map(|i| (i * i % 251) as u8));
        let mut sent = state.clone();
        sent[0] = 1;
        sent.push(9);
        let mut received = state.clone();
        received[1] = 2;
        received.remove(3);
        for (from, to) in [(&state, &sent), (&sent, &state), (&state, &received), (&received, &state)] {
            let mut bytes = Vec::new();
            write(from, to, &mut bytes, &mut Vec::new());
            assert!(bytes.len() <= 8, "{bytes:?}");
        }
    }
}
