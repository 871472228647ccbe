//! Process numbers in a family: a process may name itself, and others may hold that name and give it back.
//!
//! Numbers of the many cannot be kept as numbers. But a process whose number somebody holds, in a global, in a message or in
//! a local of a single process, can be told apart: it has a *name*, one of a few. The local state of a process says which
//! name it has, if any, and a cell that holds its number holds the name. A process gets a name when its number leaves it
//! and loses it when nobody holds it any more, so that names are as few as there are holders. Names can be compared and passed
//! on; whatever else is done with them depends on numbers and is refused.

use volee_system::Diagnostic;

use super::build::{Builder, Found};
use super::step::Local;
use crate::FamilyError;

/// Names that can be held at once.
pub const NAMES: usize = 4;

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
    /// The name that its owner loses.
    name: u8,
    /// Local states that were looked at already.
    seen: usize,
}

/// How often cells hold each name, and last how often any.
pub(super) type Held = [i32; NAMES + 1];

fn names_in(local: &Local) -> Held {
    let mut names = Held::default();
    for k in 0..NAMES {
        names[k] = local.values.iter().filter(|v| **v == name(k as u8)).count() as i32;
        names[NAMES] += names[k];
    }
    names
}

/// The names that are held, in order.
fn held(cells: &[i32], counts: &[i32]) -> [bool; NAMES] {
    let mut all = [false; NAMES];
    for (k, held) in all.iter_mut().enumerate() {
        *held = counts[k] > 0 || cells.contains(&name(k as u8));
    }
    all
}

impl Builder<'_> {
    /// The values of a valuation, and how many cells of single processes hold each name.
    fn split<'g>(&self, globals: &'g [i32]) -> (&'g [i32], &'g [i32]) {
        globals.split_at(self.world.cells - NAMES)
    }

    /// A name for a process whose number leaves it.
    pub(super) fn fresh_name(&self, g: usize) -> Result<u8, FamilyError> {
        let (cells, counts) = self.split(&self.globals[g]);
        let free = held(cells, counts).iter().position(|held| !held);
        free.map(|k| k as u8).ok_or_else(|| {
            let message = format!("the numbers of more than {NAMES} processes are held at once");
            let help =
                "give the channels that carry process numbers room for fewer messages, or send other values";
            FamilyError::Refused(vec![Diagnostic::error(message, None).with_help(help)])
        })
    }

    /// Whether a step from local state `l` depends on the valuation because names are counted there.
    pub(super) fn counts_names(&self, l: usize) -> bool {
        self.names[l][NAMES] > 0
    }

    /// Whether processes can be in these local states under a valuation, as far as its counts of names tell: they hold no
    /// more than are counted, the other single processes hold the rest, and who has a name has it because somebody holds it.
    /// Without this the counts would grow for ever in states that never occur.
    pub(super) fn may_hold(&self, takes: &[usize], g: usize) -> bool {
        let (cells, counts) = self.split(&self.globals[g]);
        let held = held(cells, counts);
        let owns = |l: &usize| self.locals[*l].1.me.is_none_or(|k| held[usize::from(k)]);
        if !takes.iter().all(owns) {
            return false;
        }
        let fits = |k: usize, count: i32| {
            let own: i32 = takes.iter().map(|&l| self.names[l][k]).sum();
            let all: i32 = self.most_names.iter().map(|most| most[k]).sum();
            let theirs: i32 = takes.iter().map(|&l| self.most_names[self.locals[l].0][k]).sum();
            own <= count && count - own <= all - theirs
        };
        (0..NAMES).all(|k| fits(k, counts[k])) && fits(NAMES, counts.iter().sum())
    }

    /// Notes the names in the cells of a local state that was found just now, if a single process has it.
    pub(super) fn note_names(&mut self, class: usize, local: &Local) {
        let single = self.classes.get(class).is_none_or(|c| !c.user);
        let names = if single { names_in(local) } else { Held::default() };
        self.names.push(names);
        self.most_names.resize(self.most_names.len().max(class + 1), Held::default());
        for (most, own) in self.most_names[class].iter_mut().zip(names) {
            *most = own.max(*most);
        }
    }

    /// Counts the names in the cells of a single process that has moved.
    pub(super) fn count_names(&self, class: usize, before: &Local, after: &Local, globals: &mut [i32]) {
        if self.classes[class].user {
            return;
        }
        let counts = &mut globals[self.world.cells - NAMES..];
        let (before, after) = (names_in(before), names_in(after));
        counts.iter_mut().enumerate().for_each(|(k, count)| *count += after[k] - before[k]);
    }

    /// Records a step after which nobody holds some names any more: their owners lose them, those that move (with their
    /// local states in `moved`) at once, another one as a bystander.
    pub(super) fn record_named(
        &mut self,
        mut found: Found,
        fresh: Option<u8>,
        mut moved: Vec<(usize, Local)>,
    ) -> Result<(), FamilyError> {
        let mut lost = Vec::new();
        if let Some((before, after)) = found.globals {
            let of = |g: usize| {
                let (cells, counts) = self.split(&self.globals[g]);
                held(cells, counts)
            };
            let (before, after) = (of(before), of(after));
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
        match bystanders[..] {
            [] => self.record(found),
            [name] => {
                self.orphans.push(Orphan { found, name, seen: 0 });
                Ok(())
            }
            _ => {
                let message = "one step takes the names of several other processes";
                let help = "let whoever holds a process number give it up before it takes another";
                Err(FamilyError::Refused(vec![Diagnostic::error(message, None).with_help(help)]))
            }
        }
    }

    /// Adds the steps of which the owner of a lost name is a bystander; whether there were new ones.
    pub(super) fn adopt(&mut self) -> Result<bool, FamilyError> {
        let mut any = false;
        for o in 0..self.orphans.len() {
            while self.orphans[o].seen < self.locals.len() {
                let l = self.orphans[o].seen;
                self.orphans[o].seen += 1;
                let (class, local) = self.locals[l].clone();
                if local.me != Some(self.orphans[o].name) {
                    continue;
                }
                let mut found = self.orphans[o].found.clone();
                found.takes.push(l);
                found.gives.push(self.local(class, Local { me: None, ..local })?);
                self.record(found)?;
                any = true;
            }
        }
        Ok(any)
    }
}
