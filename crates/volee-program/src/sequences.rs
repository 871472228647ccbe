//! How far indivisible sequences are followed.
//!
//! All sequences that begin with one move are enumerated, and usually there are few. Where one of them comes
//! back to a point where it was, or where there are very many, points are remembered and each is gone through
//! once: what follows it is known. So a loop costs what it has points, not what it has paths. Counts of
//! transitions are then smaller than the number of sequences; nothing else is: whatever a sequence can come
//! to is still come to by one of them.
//!
//! What is remembered is forgotten with the first move, so that the steps of some moves are the same whether
//! others are asked for with them or not. A sequence through more points than anybody waits for is left out,
//! and it is known that it was.

use std::collections::HashSet;

use volee_system::FaultId;

use crate::moves::Level;

/// Moves of a single sequence after which it is left out.
pub(crate) const LONGEST_SEQUENCE: usize = 200_000;

/// Bytes of points that are remembered after one first move.
const MOST_BYTES: usize = 1 << 28;

/// A point inside a sequence: who goes on alone, the first error so far, and the state.
type Point = (Option<usize>, Option<FaultId>, Box<[u8]>);

/// What becomes of a sequence at a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// It goes on.
    On,
    /// What follows is known.
    Known,
    /// There is too much to look at.
    TooLong,
}

/// What is known of the sequences that begin with one move.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sequences {
    /// Moves that they may make before points are remembered.
    patience: u32,
    moves: u32,
    remembers: bool,
    met: HashSet<Point>,
    /// What the points take.
    bytes: usize,
    /// A sequence of the last enumeration was not gone along to its end.
    cut: bool,
    /// Some sequence was ever left out.
    left_out: bool,
}

impl Sequences {
    pub fn new(patience: u32) -> Self {
        Sequences { patience, ..Sequences::default() }
    }

    /// A new enumeration begins.
    pub fn begin(&mut self) {
        self.cut = false;
        self.begin_move();
    }

    /// A first move was made.
    pub fn begin_move(&mut self) {
        self.moves = 0;
        if self.remembers {
            self.remembers = false;
            self.met = HashSet::new();
            self.bytes = 0;
        }
    }

    /// Whether a sequence of the last enumeration was not gone along to its end.
    pub fn was_cut(&self) -> bool {
        self.cut
    }

    /// Whether a sequence was ever left out.
    pub fn some_left_out(&self) -> bool {
        self.left_out
    }

    /// A sequence is left out.
    pub fn leave_out(&mut self) {
        self.cut = true;
        self.left_out = true;
    }

    /// Whether a sequence goes on from the last of its levels.
    #[inline]
    pub fn arrive(&mut self, levels: &[Level]) -> Way {
        self.moves += 1;
        if !self.remembers && self.moves < self.patience && !returns(levels) {
            return Way::On;
        }
        self.look_up(levels)
    }

    #[cold]
    fn look_up(&mut self, levels: &[Level]) -> Way {
        let (last, before) = levels.split_last().expect("a level that was come to");
        if !self.remembers {
            self.remembers = true;
            before.iter().skip(1).for_each(|level| self.bytes += size(level));
            self.met.extend(before.iter().skip(1).map(point));
        }
        if before.len() >= LONGEST_SEQUENCE || self.bytes >= MOST_BYTES {
            self.leave_out();
            return Way::TooLong;
        }
        if self.met.insert(point(last)) {
            self.bytes += size(last);
            return Way::On;
        }
        self.cut = true;
        Way::Known
    }
}

fn size(level: &Level) -> usize {
    level.frame.bytes.len() + 2 * size_of::<Point>()
}

fn point(level: &Level) -> Point {
    (level.only(), level.fault(), level.frame.bytes.as_slice().into())
}

/// Whether a sequence has come back to a marked point. The mark moves at powers of two, as in Brent's cycle
/// finding: any loop is seen after at most twice as many moves as it has and lead to it.
fn returns(levels: &[Level]) -> bool {
    let top = levels.len() - 1;
    let mark = usize::pow(2, usize::ilog2(top)) - 1;
    // The first level is not a point inside: others may move there.
    mark > 0
        && mark < top
        && levels[mark].only() == levels[top].only()
        && levels[mark].frame.bytes == levels[top].frame.bytes
}
