//! Who slept in a state, as far as the bounded store remembers.
//!
//! A place has four bits for its policy, which the random one does not need: they say in which of four groups
//! a process slept. A group counts as asleep as a whole: more sleep is remembered than there was, so a state
//! may be explored again in vain but is never passed over. Each time it is, one group less sleeps, and so it
//! ends.

use volee_system::SleepSet;

use crate::{Bounded, StateRef};

/// Groups of processes that sleep together.
const GROUPS: u32 = 4;
/// The processes of the first group; those of another are this many bits further.
const GROUP: u64 = 0x1111_1111_1111_1111;

impl Bounded {
    /// Who may sleep when the state with this name is to be explored; `None` when it was explored with as few
    /// asleep.
    pub fn explores(&mut self, name: StateRef, sleep: SleepSet) -> Option<u64> {
        let Some(at) = self.table.coding.encode(name).and_then(|hash| self.table.find(hash)) else {
            return Some(sleep.asleep);
        };
        let slept = self.table.rank(at);
        let groups = (0..GROUPS).filter(|group| slept >> group & 1 == 1);
        let still = groups.filter(|group| sleep.awake & GROUP << group == 0);
        let kept = still.fold(0, |mask, group| mask | 1 << group);
        if kept == slept {
            self.table.turnover.hits += 1;
            return None;
        }
        let kept = (0..GROUPS).filter(|group| kept >> group & 1 == 1);
        Some(kept.fold(0, |all, group| all | sleep.asleep & GROUP << group))
    }

    /// Remembers a name as the one of a new level of the path, and who sleeps there. It may be on the path
    /// before. `None` when all room is pinned.
    pub fn enter_asleep(&mut self, name: StateRef, asleep: u64) -> Option<()> {
        let hash = self.encode(name)?;
        let found = self.table.find(hash);
        match found.filter(|&at| self.table.is_pinned(at)) {
            None => self.pin(hash, found)?,
            Some(_) => self.repeated.push(self.path.len() as u32),
        }
        self.path.push_on_path(hash);
        let at = self.table.find(hash)?;
        let groups = (0..GROUPS).fold(0, |all, g| all | u8::from(asleep & GROUP << g != 0) << g);
        self.table.set_rank(at, groups);
        self.enter();
        Some(())
    }
}
