//! Which name of a full line is forgotten: the policies of replacement, in four bits by name.
//!
//! Jard and Jéron (1991, section 2.2) recommend a random choice. The others need to know something of a name,
//! its *rank*: when it came, how deep it was, how often it was met again, what it took to explore. Four bits
//! of its mark say it, coarsely; see [`super::line`].

use crate::hash::mix;
use crate::line::{Layout, Line, MAX_RANK};

/// Which visited state makes room for a new one when the memory budget is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Replacement {
    /// One at random: the choice of the 1991 report. It has no worst case on particular systems, and needs to
    /// remember nothing about the path.
    #[default]
    Random,
    /// The one that was stored first.
    Oldest,
    /// The one that was met nearest to the initial states.
    LeastDeep,
    /// The one that was met again least often.
    LeastFrequent,
    /// One that was not met again since the last time it was considered.
    Clock,
    /// The one that took the least work to explore: it is cheap to explore again. Ties are broken at random,
    /// and a state that is never met again loses its value, so that this too has no worst case on particular
    /// systems. It costs four bytes more for each state of the path.
    Cheapest,
}

/// Of this many victims one lets the others of its line lose value, in the policy that weighs work.
const AGEING: u64 = 32;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Policy {
    pub(crate) kind: Replacement,
    random: u64,
    /// The depth that names are inserted at.
    pub(crate) depth: u64,
}

impl Policy {
    pub(crate) fn new(kind: Replacement, seed: u64) -> Self {
        Policy { kind, random: seed, depth: 0 }
    }

    /// The place of a line whose name is to be forgotten; `None` when all are pinned. `now` is a time in four
    /// bits.
    pub(crate) fn victim(&mut self, layout: Layout, line: &mut Line, now: u8) -> Option<usize> {
        self.random = self.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let random = mix(self.random);
        let start = (random >> 32) as usize % layout.places;
        let free = rotated(start, layout.places).filter(|&place| !layout.is_pinned(line, place));
        match self.kind {
            Replacement::Random => { free }.next(),
            Replacement::Oldest => {
                free.max_by_key(|&place| now.wrapping_sub(layout.rank(line, place)) & MAX_RANK)
            }
            Replacement::LeastDeep | Replacement::LeastFrequent => {
                free.min_by_key(|&place| layout.rank(line, place))
            }
            Replacement::Clock => sweep(layout, line, start),
            Replacement::Cheapest => {
                let chosen = free.min_by_key(|&place| layout.rank(line, place));
                if random.is_multiple_of(AGEING) {
                    age(layout, line);
                }
                chosen
            }
        }
    }

    /// The rank of a name that comes in.
    pub(crate) fn first_rank(&self, now: u8) -> u8 {
        match self.kind {
            Replacement::Random | Replacement::Clock | Replacement::Cheapest => 0,
            Replacement::LeastFrequent => 1,
            Replacement::Oldest => now,
            Replacement::LeastDeep => price(self.depth),
        }
    }

    /// A name is met again.
    #[inline]
    pub(crate) fn touch(&self, layout: Layout, line: &mut Line, place: usize) {
        match self.kind {
            Replacement::Clock => layout.set_rank(line, place, 1),
            Replacement::LeastFrequent => {
                let rank = layout.rank(line, place);
                layout.set_rank(line, place, (rank + 1).min(MAX_RANK));
            }
            _ => {}
        }
    }

    /// A name leaves the path; this many names were stored meanwhile.
    #[inline]
    pub(crate) fn leave(&self, layout: Layout, line: &mut Line, place: usize, work: u64) {
        if self.kind == Replacement::Cheapest {
            layout.set_rank(line, place, price(work));
        }
    }
}

/// What it costs to forget a state that took so much work, on a logarithmic scale.
fn price(work: u64) -> u8 {
    (work.max(1).ilog2() as u8).min(MAX_RANK)
}

/// All names of a line lose a little, so that a dear one that is never met again goes in the end.
fn age(layout: Layout, line: &mut Line) {
    for place in 0..layout.places {
        let rank = layout.rank(line, place);
        layout.set_rank(line, place, rank.saturating_sub(1));
    }
}

/// All places of a line, from one on.
fn rotated(start: usize, places: usize) -> impl Iterator<Item = usize> {
    (start..places).chain(0..start)
}

/// The clock's hand goes over a line: the first name not met since the last time, else the first at all.
fn sweep(layout: Layout, line: &mut Line, start: usize) -> Option<usize> {
    let mut first = None;
    for place in rotated(start, layout.places) {
        if layout.is_pinned(line, place) {
            continue;
        }
        if layout.rank(line, place) == 0 {
            return Some(place);
        }
        layout.set_rank(line, place, 0);
        first = first.or(Some(place));
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_grow_with_the_work() {
        assert!((1..5000u64).all(|work| price(work) <= price(work + 1)));
        assert_eq!(price(u64::MAX), MAX_RANK);
    }
}
