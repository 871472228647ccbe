//! In which block a state is: for each state that is kept two bytes of its hash and the number of the block.
//!
//! A hash has two lines of sixteen entries where its entry may be, and the entry is put where more room is,
//! so that a table can be filled to nine tenths. Entries of one line with the same two bytes and the same
//! block are one as good as the other.

/// Entries of a line.
const LINE: usize = 16;

/// Entries of a table that has so many lines, at most.
const fn room(lines: usize) -> usize {
    lines * LINE / 10 * 9
}

/// See the head of this file.
pub(super) struct Index {
    lines: Vec<[u32; LINE]>,
    len: usize,
}

fn entry(hash: u64, block: u16) -> u32 {
    (hash as u32) << 16 | u32::from(block)
}

impl Index {
    /// The fewest lines.
    pub const FEWEST: usize = 4;

    /// A table of this many lines, with nothing in it.
    pub fn new(lines: usize) -> Self {
        Index { lines: vec![[0; LINE]; lines], len: 0 }
    }

    /// The bytes of a table of this many lines.
    pub fn bytes_of(lines: usize) -> u64 {
        (lines * size_of::<[u32; LINE]>()) as u64
    }

    pub fn lines(&self) -> usize {
        self.lines.len()
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_full(&self) -> bool {
        self.len >= room(self.lines.len())
    }

    fn homes(&self, hash: u64) -> [usize; 2] {
        let home = |hash: u64| ((u128::from(hash) * self.lines.len() as u128) >> 64) as usize;
        let first = home(hash);
        let second = home(hash.rotate_left(32).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        // Two lines that are one would make room for half as many.
        [first, if second == first { (first + 1) % self.lines.len() } else { second }]
    }

    /// The blocks in which the state may be.
    pub fn blocks(&self, hash: u64) -> impl Iterator<Item = u16> + '_ {
        let lines = self.homes(hash).map(|home| &self.lines[home]);
        let found = lines.into_iter().flatten().filter(move |&&found| found >> 16 == entry(hash, 0) >> 16);
        found.map(|&found| found as u16).filter(|&block| block != 0)
    }

    fn place(&self, hash: u64, block: u16) -> Option<(usize, usize)> {
        let wanted = entry(hash, block);
        self.homes(hash)
            .into_iter()
            .find_map(|home| Some((home, self.lines[home].iter().position(|&found| found == wanted)?)))
    }

    /// Whether a state of this hash is in this block.
    pub fn has(&self, hash: u64, block: u16) -> bool {
        self.place(hash, block).is_some()
    }

    /// Adds an entry; whether there was a place for it.
    pub fn add(&mut self, hash: u64, block: u16) -> bool {
        let used = |home: usize| self.lines[home].iter().filter(|&&found| found != 0).count();
        let [first, second] = self.homes(hash);
        let (home, used) = match (used(first), used(second)) {
            (one, other) if one <= other => (first, one),
            (_, other) => (second, other),
        };
        if used == LINE {
            return false;
        }
        self.lines[home][used] = entry(hash, block);
        self.len += 1;
        true
    }

    /// Puts an entry in the place of another, which is told by a number and of a block that may be forgotten;
    /// whether there was one.
    pub fn displace(&mut self, hash: u64, block: u16, number: usize, may_go: impl Fn(u16) -> bool) -> bool {
        let [first, second] = self.homes(hash);
        let places = (0..2 * LINE).map(|at| (at + number) % (2 * LINE));
        for at in places {
            let line = if at < LINE { first } else { second };
            let slot = &mut self.lines[line][at % LINE];
            if may_go(*slot as u16) {
                *slot = entry(hash, block);
                return true;
            }
        }
        false
    }

    /// The state is in another block now; whether it was in this one.
    pub fn moved(&mut self, hash: u64, block: u16, to: u16) -> bool {
        match self.place(hash, block) {
            Some((line, at)) => {
                self.lines[line][at] = entry(hash, to);
                true
            }
            None => false,
        }
    }

    /// The state is in this block no more.
    pub fn remove(&mut self, hash: u64, block: u16) {
        if let Some((line, at)) = self.place(hash, block) {
            let line = &mut self.lines[line];
            let used = line.iter().filter(|&&found| found != 0).count();
            line[at] = line[used - 1];
            line[used - 1] = 0;
            self.len -= 1;
        }
    }
}
