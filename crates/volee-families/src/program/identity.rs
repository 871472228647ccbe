//! Process numbers in a family: a process may name itself, and others may hold that name and give it back.
//!
//! Numbers of the many cannot be kept as numbers. But a process whose number somebody holds, in a global, in
//! a message or in a local of a single process, can be told apart: it has a *name*, one of a few. The local
//! state of a process says which name it has, if any, and a cell that holds its number holds the name. A
//! process gets a name when its number leaves it and loses it when nobody holds it any more, so that names
//! are as few as there are holders. Names can be compared and passed on; whatever else is done with them
//! depends on numbers and is refused.
//!
//! Which name is whose makes no difference, so after every step they are given anew, in the order in which
//! they are held: of all the ways in which n processes can stand in a queue there is one. Processes whose name
//! changes by that take part in the step as bystanders.

use std::collections::HashSet;

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

/// A step that changes names of processes which do not take part in it.
pub(super) struct Orphan {
    found: Found,
    /// Who they are, the next one last.
    left: Vec<Bystander>,
    renaming: Renaming,
    /// Local states that were looked at already, and those that it was done with.
    seen: usize,
    done: HashSet<usize>,
}

impl Orphan {
    /// More may be known of where names are held.
    pub(super) fn look_again(&mut self) {
        self.seen = 0;
    }
}

/// A process whose name a step changes, or that holds one which it changes.
#[derive(Debug, Clone, Copy)]
enum Bystander {
    /// The owner of a name, and the one that it has then.
    Owner(u8, Option<u8>),
    /// The single process of a class.
    Holder(usize),
}

/// The new name for each.
type Renaming = [u8; NAMES];

/// Names in the order in which they are held: first by cells, then by holders.
fn in_order(cells: &[i32], counts: &[i32]) -> Renaming {
    let mut order: Vec<usize> = Vec::new();
    let held = cells.iter().filter_map(|value| index(*value));
    let counted = counts.iter().enumerate().filter(|(_, count)| **count > 0).map(|(at, _)| at % NAMES);
    for k in held.chain(counted).chain(0..NAMES) {
        if !order.contains(&k) {
            order.push(k);
        }
    }
    let mut new = [0; NAMES];
    order.iter().enumerate().for_each(|(to, &from)| new[from] = to as u8);
    new
}

/// Which name a cell holds.
pub(super) fn index(value: i32) -> Option<usize> {
    usize::try_from(value.wrapping_sub(FIRST)).ok().filter(|k| *k < NAMES)
}

fn rename(values: &mut [i32], renaming: &Renaming) {
    for value in values {
        if let Some(k) = index(*value) {
            *value = name(renaming[k]);
        }
    }
}

/// The names that are held, in order.
fn held(cells: &[i32], counts: &[i32]) -> [bool; NAMES] {
    let mut all = [false; NAMES];
    for (at, count) in counts.iter().enumerate() {
        all[at % NAMES] |= *count > 0;
    }
    cells.iter().filter_map(|value| index(*value)).for_each(|k| all[k] = true);
    all
}

/// How many cells hold each name.
pub(super) fn counts(values: &[i32]) -> [i32; NAMES] {
    let mut all = [0; NAMES];
    values.iter().filter_map(|value| index(*value)).for_each(|k| all[k] += 1);
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
            None => {
                local.me.is_none_or(|k| self.names_in[g][usize::from(k)] && self.occurrences.may_be(l, k, g))
            }
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

    /// Records a step. Owners of names that nobody holds any more lose them, and names are given anew: of
    /// those that move (with their local states in `moved`) at once, of others as bystanders.
    pub(super) fn record_named(
        &mut self,
        mut found: Found,
        (before, after): (usize, Option<Vec<i32>>),
        fresh: Option<u8>,
        mut moved: Vec<(usize, Local)>,
    ) -> Result<(), FamilyError> {
        let mut left = Vec::new();
        let mut renaming = [0; NAMES];
        if let Some(mut after) = after {
            let first = after.len() - NAMES * self.world.holders;
            let (known, still) = (self.names_in[before], self.held_in(&after));
            renaming = in_order(&after[..first], &after[first..]);
            let own: Vec<Option<u8>> = moved.iter().map(|(_, local)| local.me).collect();
            let named = (0..NAMES).filter(|&k| known[k] || fresh == Some(k as u8) || still[k]);
            for k in named.filter(|&k| !still[k] || usize::from(renaming[k]) != k) {
                if !own.contains(&Some(k as u8)) {
                    left.push(Bystander::Owner(k as u8, still[k].then_some(renaming[k])));
                }
            }
            for (_, local) in &mut moved {
                local.me = local.me.and_then(|k| still[usize::from(k)].then_some(renaming[usize::from(k)]));
                rename(&mut local.values, &renaming);
            }
            let holders = self.holders(before, &renaming, &found.takes);
            left.extend(holders.into_iter().map(Bystander::Holder));
            rename(&mut after[..first], &renaming);
            for counts in after[first..].chunks_mut(NAMES) {
                let old = counts.to_vec();
                (0..NAMES).for_each(|k| counts[usize::from(renaming[k])] = old[k]);
            }
            let after = self.global(after)?;
            found.globals = Some((before, after));
            for k in (0..NAMES).filter(|&k| known[k] && still[k] && !own.contains(&Some(k as u8))) {
                self.occurrences.shift((before, k), (after, usize::from(renaming[k])));
            }
        }
        for (i, (class, local)) in moved.into_iter().enumerate() {
            let name = local.me;
            found.gives[i] = self.local(class, local)?;
            match (name, found.globals) {
                (Some(k), Some((_, after))) => self.occurrences.own(found.gives[i], k, after),
                (Some(_), None) => self.occurrences.walk(found.takes[i], found.gives[i]),
                (None, _) => {}
            }
        }
        if left.is_empty() {
            return self.record(found);
        }
        self.orphans.push(Orphan { found, left, renaming, seen: 0, done: HashSet::new() });
        Ok(())
    }

    /// The classes of single processes that do not take part in a step and hold names which it changes.
    fn holders(&self, g: usize, renaming: &Renaming, takes: &[usize]) -> Vec<usize> {
        let moves = |class: usize| takes.iter().any(|&l| self.locals[l].0 == class);
        let holds = |class: &usize| {
            let at = self.counted_at(*class).filter(|_| !moves(*class));
            let changed = |at: usize, k: usize| self.globals[g][at + k] > 0 && usize::from(renaming[k]) != k;
            at.is_some_and(|at| (0..NAMES).any(|k| changed(at, k)))
        };
        (0..self.classes.len()).filter(holds).collect()
    }

    /// The local state that a bystander has afterwards, if it can be in this one.
    fn renamed(&self, l: usize, orphan: &Orphan) -> Option<Local> {
        let (class, local) = &self.locals[l];
        let mut local = local.clone();
        match orphan.left.last()? {
            Bystander::Owner(k, to) if self.classes[*class].user && local.me == Some(*k) => {
                let (before, _) = orphan.found.globals?;
                self.occurrences.may_be(l, *k, before).then_some(())?;
                local.me = *to;
            }
            Bystander::Holder(holder) if holder == class => {
                let (before, _) = orphan.found.globals?;
                self.agree(l, before).then_some(())?;
                rename(&mut local.values, &orphan.renaming);
            }
            _ => return None,
        }
        Some(local)
    }

    /// Adds the steps in which somebody is a bystander; whether there were new ones.
    pub(super) fn adopt(&mut self) -> Result<bool, FamilyError> {
        let mut any = false;
        let mut o = 0;
        while o < self.orphans.len() {
            while self.orphans[o].seen < self.locals.len() {
                let l = self.orphans[o].seen;
                self.orphans[o].seen += 1;
                let Some(local) = self.renamed(l, &self.orphans[o]) else { continue };
                if !self.orphans[o].done.insert(l) {
                    continue;
                }
                let Orphan { found, left, renaming, .. } = &self.orphans[o];
                let (mut found, mut left, renaming) = (found.clone(), left.clone(), *renaming);
                left.pop();
                found.takes.push(l);
                found.gives.push(self.local(self.locals[l].0, local)?);
                match left.is_empty() {
                    true => self.record(found)?,
                    false => {
                        self.orphans.push(Orphan { found, left, renaming, seen: 0, done: HashSet::new() });
                    }
                }
                any = true;
            }
            o += 1;
        }
        Ok(any)
    }
}
