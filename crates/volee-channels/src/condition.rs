//! The condition under which a loop repeats for ever.
//!
//! Jard and Jéron (1991, section 3.4; Jéron, STACS 1991). Let `w` lead from `S` to `S'`, both with the same
//! control. If for every channel `C(S)·out(w)` is a prefix of `C(S')·out(w)` (the report prints `out(S)` by a
//! slip), then `w` can be fired again and again: what it takes from a channel is found at its front, for the
//! front of `C(S')·out(w)` is that of `C(S)·out(w)`, from which `w` took it the first time. A channel that is
//! longer in `S'` grows in every round. The argument needs that a move sees of a channel only its front
//! message; the readers refuse anything else.

use crate::fifo::Configuration;
use crate::queued::GONE;

/// Rounds for which a loop is replayed before anybody hears of it.
pub const ROUNDS: usize = 12;

/// Two states of one path with the same control.
pub struct Between<'c> {
    pub old: &'c Configuration,
    pub now: &'c Configuration,
    /// What cannot be held for [`ROUNDS`] rounds cannot be shown to repeat.
    pub longest_queue: usize,
}

impl Between<'_> {
    /// Whether every channel keeps its prefix and one grows. `sent` hands the messages that were sent to a
    /// channel in between to a test and gives its answer.
    pub fn repeats(&self, sent: impl Fn(usize, &dyn Fn(&[u16]) -> bool) -> bool) -> bool {
        let mut grows = false;
        for (channel, queue) in self.now.contents.iter().enumerate() {
            let before = &self.old.contents[channel];
            let Some(more) = queue.len().checked_sub(before.len()) else { return false };
            if queue.len() + ROUNDS * more > self.longest_queue {
                return false;
            }
            grows |= more > 0;
            let keeps = |out: &[u16]| {
                let known = more == 0 || !out.contains(&GONE);
                known && before.iter().chain(out).zip(queue.iter().chain(out)).all(|(a, b)| a == b)
            };
            if !sent(channel, &keeps) {
                return false;
            }
        }
        grows
    }
}

/// How much longer each channel became.
pub fn growth(old: &Configuration, now: &Configuration) -> Vec<usize> {
    let lengths = now.contents.iter().zip(&old.contents);
    lengths.map(|(now, old)| now.len().saturating_sub(old.len())).collect()
}
