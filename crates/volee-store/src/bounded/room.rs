//! How the bounded store makes do: with less memory where the path needs it, and with longer codes where
//! names do.
//!
//! Both happen in place, for there is no room for two tables. What does not fit afterwards is forgotten, the
//! path never is.

use super::Bounded;
use crate::StateRef;
use crate::coding::{Coding, low_bits, whole_bytes};
use crate::exact::Exact;
use crate::line::Line;
use crate::table::{FIRST_LINES, Table, Turnover};

/// Bytes that the successors of a batch take on the path, unless a state has thousands of them.
const OF_A_BATCH: u64 = 1 << 14;

impl Bounded {
    /// Drops what waits in vain, if the path has grown since that was last done; how many bytes that frees.
    pub(super) fn purge(&mut self) -> u64 {
        let used = self.path.used();
        if self.purged.is_none_or(|purged| used < purged + purged / 4) {
            return 0;
        }
        let (table, before) = (&self.table, self.path.bytes());
        self.path.keep_waiting(|hash| table.prefetch(hash), |hash| table.find(hash).is_none());
        self.path.shrink();
        self.purged = Some(self.path.used());
        before.saturating_sub(self.path.bytes())
    }

    /// Gives back what the path has reserved and does not use, if that is much; how many bytes that frees. What the
    /// batch under way may still need stays: it was claimed already.
    pub(super) fn trim(&mut self) -> u64 {
        let (used, before) = (self.path.used(), self.path.bytes());
        if before > used + used / 4 + 2 * OF_A_BATCH {
            self.path.shrink_to(OF_A_BATCH as usize);
        }
        before.saturating_sub(self.path.bytes())
    }

    /// There is no place in the reach of a name: the table grows into what the path has reserved in vain, be it
    /// little, before anything is forgotten. Whether there is a place then.
    #[cold]
    pub(super) fn put_after_all(&mut self, hash: u64) -> bool {
        self.table.most_lines += self.trim() as usize / size_of::<Line>();
        self.table.stretch() && self.table.put_in_room(hash).is_some()
    }

    /// Frees at least this many bytes by shrinking the table. `None` when the path needs what is left.
    pub(super) fn shrink(&mut self, bytes: u64) -> Option<()> {
        // A part of the table more, so that it is not moved too often; a larger one where places are free.
        let part = if self.table.len() < self.table.capacity() / 4 * 3 { 8 } else { 256 };
        let fewer = bytes as usize / size_of::<Line>() + self.table.lines() / part + 1;
        let lines = self.table.lines().checked_sub(fewer).filter(|&lines| lines >= FIRST_LINES)?;
        if self.fits && self.table.len() >= self.most_pinned(lines) {
            self.stop_fitting()?;
        }
        (self.fits || self.path.len() < self.most_pinned(lines)).then_some(())?;
        self.table.resize(lines)?;
        self.table.most_lines = lines;
        self.keep_fitting()
    }

    /// The hash of a name. A name that has none yet makes all codes wider, and the table forgets what is not
    /// pinned: its places change their order, and there is no room for two tables. It happens a few times in
    /// a search at most.
    #[inline(always)]
    pub(crate) fn encode(&mut self, name: StateRef) -> Option<u64> {
        match self.table.coding.encode(name) {
            None => self.widen(name),
            hash => hash,
        }
    }

    #[cold]
    fn widen(&mut self, name: StateRef) -> Option<u64> {
        self.recode(self.table.coding.wider(name), &mut |name| name)?;
        self.table.coding.encode(name)
    }

    /// Names are coded in another way, and are perhaps others. Only those of the path, and what waits along
    /// it, remain.
    pub(super) fn recode(
        &mut self,
        coding: Coding,
        translate: &mut dyn FnMut(StateRef) -> StateRef,
    ) -> Option<()> {
        if self.fits {
            (self.fits, self.purged) = (false, Some(0));
        }
        // What the path grows by, the table does not have.
        let fewer = (self.path.growth_to(coding.width()) as usize).div_ceil(size_of::<Line>());
        let lines = self.table.lines().checked_sub(fewer).filter(|&lines| lines >= FIRST_LINES)?;
        let (most, policy) = (self.table.reserved(), self.table.policy);
        let rank = |hash| self.table.find(hash).map_or(0, |at| self.table.rank(at));
        let ranks: Vec<_> = self.path.groups().flatten().map(rank).collect();
        // The old table is given back before there is another: there is no room for both.
        let nothing = Table::new(coding.clone(), FIRST_LINES, FIRST_LINES, policy)?;
        let (from, known, before) = {
            let old = std::mem::replace(&mut self.table, nothing);
            (old.coding.clone(), old.len(), old.turnover)
        };
        self.table = Table::new(coding.clone(), lines, most, policy)?;
        let mut recode = |hash| coding.encode(translate(from.decode(hash)));
        for (hash, rank) in self.path.groups().flatten().zip(ranks) {
            let hash = recode(hash)?;
            let at = self.table.find(hash).or_else(|| self.table.put(hash))?;
            self.table.pin(at);
            self.table.set_rank(at, rank);
        }
        self.path.recode(coding.width(), |hash| recode(hash).unwrap_or(0));
        let forgotten = known.saturating_sub(self.table.len()) as u64;
        self.table.turnover = Turnover { replaced: before.replaced + forgotten, ..before };
        Some(())
    }
}

/// Which bits the names of a store vary in, with those that node numbers may still grow into.
pub fn coding_of(exact: &Exact, nodes: u64) -> Coding {
    let base = exact.names().next().unwrap_or(StateRef(1));
    let varies = exact.names().fold(0, |varies, name| varies | name.0 ^ base.0);
    if nodes == 0 {
        return Coding::new(base, whole_bytes(varies));
    }
    let number = low_bits(64 - nodes.leading_zeros());
    Coding::new(base, varies | number | number << 32 | 1 << 63)
}
