//! Process numbers in a family: a process may name itself, and others may hold that name and give it back.
//!
//! Numbers of the many cannot be kept as numbers. But a process whose number somebody holds, in a global, in
//! a message or in a local of a single process, can be told apart: it has a *name*, one of a few. The local
//! state of a process says which name it has, if any, and a cell that holds its number holds the name. A
//! process gets a name when its number leaves it and loses it when nobody holds it any more, so that names
//! are as few as there are holders. Names can be compared and passed on; whatever else is done with them
//! depends on numbers and is refused.

use volee_system::Diagnostic;

use super::build::{Builder, Found};
use super::step::Local;
use crate::FamilyError;

/// Names that can be held at once.
pub const NAMES: usize = 16;

/// Names of replications that a property tells apart begin here; they have them for good.
const PERMANENT: i32 = 64;

/// Where names are among the values of a cell.
const FIRST: i32 = i32::MIN + 1_000;

/// The own number of a process that has no name.
pub const SELF: i32 = FIRST - 1;

/// Who evaluates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Me {
    /// Nobody, or a process whose number is not known.
    Outside,
    /// A single process with this number.
    Number(i32),
    /// One of many, with its name.
    Many(Option<u8>),
    /// A replication that is told apart for good.
    Permanent(u8),
}

/// The value of a name.
pub fn name(k: u8) -> i32 {
    FIRST + i32::from(k)
}

/// Whether a value is a process number of one of the many.
pub fn is_name(value: i32) -> bool {
    (SELF..FIRST + 256).contains(&value)
}

impl Me {
    /// The own number.
    pub fn pid(self) -> Option<i32> {
        match self {
            Me::Outside => None,
            Me::Number(n) => Some(n),
            Me::Many(None) => Some(SELF),
            Me::Many(Some(k)) => Some(name(k)),
            Me::Permanent(k) => Some(name(k.saturating_add(PERMANENT as u8))),
        }
    }
}

/// Names that a step has taken from processes which do not take part in it.
pub(super) struct Orphan {
    found: Found,
    /// The names that their owners lose, the next one last.
    names: Vec<u8>,
    /// Local states that were looked at already.
    seen: usize,
}

/// The names that are held, in order.
fn held(cells: &[i32], counts: &[i32]) -> [bool; NAMES] {
    let mut all = [false; NAMES];
    for (at, count) in counts.iter().enumerate() {
        all[at % NAMES] |= *count > 0;
    }
    for &value in cells {
        if let Ok(k) = usize::try_from(value.wrapping_sub(FIRST))
            && k < NAMES
        {
            all[k] = true;
        }
    }
    all
}

/// How many cells hold each name.
pub(super) fn counts(values: &[i32]) -> [i32; NAMES] {
    let mut all = [0; NAMES];
    for value in values {
        if let Ok(k) = usize::try_from(value.wrapping_sub(FIRST))
            && k < NAMES
        {
            all[k] += 1;
        }
    }
    all
}

impl Builder<'_> {
    /// The names that somebody holds in a valuation: its cells have them, or count how often each holder does.
    pub(super) fn held_in(&self, globals: &[i32]) -> [bool; NAMES] {
        let (cells, counts) = globals.split_at(self.world.cells - NAMES * self.world.holders);
        held(cells, counts)
    }

    /// Where the names that a process holds are counted; `None` for the many, who hold only their own.
    fn counted_at(&self, class: usize) -> Option<usize> {
        let before = self.classes[..class].iter().filter(|c| !c.user).count();
        let first = self.world.cells - NAMES * self.world.holders;
        (!self.classes[class].user).then_some(first + before * NAMES)
    }

    /// Whether a process can be in a local state when the globals have these values, as far as names tell:
    /// whoever holds some is counted with just these, and whoever has one is known to somebody.
    pub(super) fn agree(&self, l: usize, g: usize) -> bool {
        let (class, local) = &self.locals[l];
        match self.counted_at(*class) {
            Some(at) => self.globals[g][at..at + NAMES] == self.names_of[l],
            None => local.me.is_none_or(|k| self.names_in[g][usize::from(k)]),
        }
    }

    /// Whether what a process does in this local state may change who holds which name.
    pub(super) fn moves_names(&self, class: usize, local: &Local) -> bool {
        !self.classes[class].user && local.values.iter().any(|v| is_name(*v))
    }

    /// A name for a process whose number leaves it.
    pub(super) fn fresh_name(&self, g: usize) -> Result<u8, FamilyError> {
        let free = self.names_in[g].iter().position(|held| !held);
        free.map(|k| k as u8).ok_or_else(|| {
            let message = format!("the numbers of more than {NAMES} processes are held at once");
            let help =
                "give the channels that carry process numbers room for fewer messages, or send other values";
            FamilyError::Refused(vec![Diagnostic::error(message, None).with_help(help)])
        })
    }

    /// Counts the names in the cells of a process that is not of the many and has moved; whether there are
    /// any.
    pub(super) fn count_names(
        &self,
        class: usize,
        before: &Local,
        after: &Local,
        globals: &mut [i32],
    ) -> bool {
        let Some(at) = self.counted_at(class) else { return false };
        let (before, after) = (counts(&before.values), counts(&after.values));
        globals[at..at + NAMES].copy_from_slice(&after);
        before.iter().chain(&after).any(|count| *count > 0)
    }

    /// Records a step after which nobody holds some names any more: their owners lose them, those that move
    /// (with their local states in `moved`) at once, another one as a bystander.
    pub(super) fn record_named(
        &mut self,
        mut found: Found,
        fresh: Option<u8>,
        mut moved: Vec<(usize, Local)>,
    ) -> Result<(), FamilyError> {
        let mut lost = Vec::new();
        if let Some((before, after)) = found.globals {
            let (before, after) = (self.names_in[before], self.names_in[after]);
            lost.extend((0..NAMES).filter(|&k| (before[k] || fresh == Some(k as u8)) && !after[k]));
        }
        let mut bystanders = Vec::new();
        for k in lost {
            match moved.iter_mut().find(|(_, local)| local.me == Some(k as u8)) {
                Some((_, local)) => local.me = None,
                None => bystanders.push(k as u8),
            }
        }
        for (i, (class, local)) in moved.into_iter().enumerate() {
            found.gives[i] = self.local(class, local)?;
        }
        if bystanders.is_empty() {
            return self.record(found);
        }
        self.orphans.push(Orphan { found, names: bystanders, seen: 0 });
        Ok(())
    }

    /// Adds the steps of which the owner of a lost name is a bystander; whether there were new ones.
    pub(super) fn adopt(&mut self) -> Result<bool, FamilyError> {
        let mut any = false;
        let mut o = 0;
        while o < self.orphans.len() {
            while self.orphans[o].seen < self.locals.len() {
                let l = self.orphans[o].seen;
                self.orphans[o].seen += 1;
                let Some((&name, others)) = self.orphans[o].names.split_last() else { break };
                let (class, local) = self.locals[l].clone();
                if local.me != Some(name) {
                    continue;
                }
                let others = others.to_vec();
                let mut found = self.orphans[o].found.clone();
                found.takes.push(l);
                found.gives.push(self.local(class, Local { me: None, ..local })?);
                match others.is_empty() {
                    true => self.record(found)?,
                    false => self.orphans.push(Orphan { found, names: others, seen: 0 }),
                }
                any = true;
            }
            o += 1;
        }
        Ok(any)
    }
}
