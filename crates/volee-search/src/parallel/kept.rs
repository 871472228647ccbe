//! What a crew knows, on its way to a file and back.
//!
//! The thread that watches decides when the search is kept, and calls a meeting. There all workers hand in
//! what waits: their stacks, what they have kept for the next level, and what was staged and not yet looked
//! up. One of them lends its dictionaries. While they wait, the watching thread writes, and then all get
//! theirs back. A file of a crew has nothing of the search of the first thread: that is short, and the same
//! each time, so whoever goes on does it again.
//!
//! It is read twice: once to learn what names need, and once to fill a table that has room for all.

use std::sync::{Arc, Mutex, PoisonError};

use volee_store::checkpoint::{CheckpointError, Damaged, Keeper, Reader, Refused, Writer};
use volee_store::{Concurrent, Names, StateRef, Tuples};
use volee_system::{Limit, Meter, Progress};

use super::next::Waiting;
use super::worker::Worker;
use super::{Common, Sums};

/// What a kept search of this kind begins with.
pub(crate) const KIND: u8 = 3;
/// States that are read between two looks at names and clock.
const PIECE: u64 = 1 << 12;

/// What one worker has handed in.
#[derive(Default)]
struct Handed {
    now: Waiting,
    later: Option<Waiting>,
    /// Targets that were not looked up, with how deep they are.
    arrivals: Vec<(StateRef, u32)>,
}

/// Where workers hand in what they have.
pub(super) struct Desk {
    handed: Vec<Handed>,
    lent: Option<(Box<Tuples>, Arc<Concurrent>)>,
    left_out: Option<String>,
}

impl Desk {
    pub fn new(workers: usize) -> Mutex<Self> {
        let handed = (0..workers).map(|_| Handed::default()).collect();
        Mutex::new(Desk { handed, lent: None, left_out: None })
    }
}

impl Worker<'_, '_> {
    /// Hands in what waits, and gets it back when it is written. `None` when the search has ended.
    pub(super) fn hand_in(&mut self, leads: bool) -> Option<()> {
        self.explorer.visited.count();
        self.account();
        let common = self.common;
        let own = Handed {
            now: std::mem::take(&mut self.stack),
            later: self.kept.take(),
            arrivals: self.arrivals(),
        };
        let mut desk = common.desk.lock().unwrap_or_else(PoisonError::into_inner);
        desk.handed[self.number] = own;
        let left_out = self.explorer.system.left_out().map(|limit| limit.to_string());
        desk.left_out = desk.left_out.take().or(left_out);
        if leads && let Names::Tuples(own) = std::mem::replace(&mut self.explorer.names, Names::lasting()) {
            self.explorer.loaded = None;
            desk.lent = Some((own, Arc::clone(&self.explorer.visited.table)));
        }
        drop(desk);
        common.yard.hand_in()?;
        let mut desk = common.desk.lock().unwrap_or_else(PoisonError::into_inner);
        let own = std::mem::take(&mut desk.handed[self.number]);
        (self.stack, self.kept) = (own.now, own.later);
        if leads {
            self.explorer.names = Names::Tuples(desk.lent.take()?.0);
        }
        Some(())
    }
}

/// What goes into a file beside what the workers have.
pub(crate) struct Keeping<'k> {
    pub keeper: &'k mut Keeper,
    /// Transitions and reduced expansions before the crew began.
    pub before: (u64, u64),
    /// Bytes of a state.
    pub length: usize,
    /// What the first thread's system has left out.
    pub left_out: Option<String>,
}

impl Keeping<'_> {
    /// The limit that ends the search, a little before its time.
    pub(super) fn limit(&self, states: u64, meter: &Meter) -> Option<Limit> {
        meter.check().and_then(|()| self.keeper.last_moment(meter, states, self.length)).err()
    }

    /// Writes what was handed in. The search goes on if that fails, and says so.
    pub(super) fn write(&mut self, common: &Common, meter: &Meter, progress: &mut dyn Progress) {
        let mut desk = common.desk.lock().unwrap_or_else(PoisonError::into_inner);
        let sums = common.sums.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Desk { handed, lent, left_out } = &mut *desk;
        let Some((tuples, table)) = lent else { return };
        tuples.catch_up();
        let left_out = left_out.clone().or_else(|| self.left_out.clone());
        let before = self.before;
        let failed = self.keeper.keep(table.len(), meter, |out| {
            figures(before, &sums, out)?;
            let mut out = Out { out, tuples };
            out.out.value(&left_out)?;
            out.table(table)?;
            let packages = common.yard.packages();
            let now = handed.iter().flat_map(|own| own.now.all());
            out.states(now.chain(packages).collect())?;
            out.states(handed.iter().filter_map(|own| own.later.as_ref()).flat_map(Waiting::all).collect())?;
            out.states(handed.iter().flat_map(|own| own.arrivals.iter().copied()).collect())
        });
        if let Some(failed) = failed {
            progress.say(&failed);
        }
    }
}

fn figures(before: (u64, u64), sums: &Sums, out: &mut Writer) -> std::io::Result<()> {
    out.number(u64::from(KIND))?;
    out.number(before.0 + sums.transitions.iter().sum::<u64>())?;
    out.number(before.1 + sums.reduced.iter().sum::<u64>())?;
    out.number(sums.depth)?;
    out.value(&sums.reached)
}

/// States on their way to a file.
struct Out<'t> {
    out: &'t mut Writer,
    tuples: &'t mut Tuples,
}

impl Out<'_> {
    fn state(&mut self, name: StateRef) -> std::io::Result<()> {
        self.out.bytes(self.tuples.load(name))
    }

    fn table(&mut self, table: &Concurrent) -> std::io::Result<()> {
        self.out.number(table.len())?;
        let mut written = Ok(());
        table.each_name(&mut |name| {
            if written.is_ok() {
                written = self.state(name);
            }
        });
        written
    }

    fn states(&mut self, all: Vec<(StateRef, u32)>) -> std::io::Result<()> {
        self.out.number(all.len() as u64)?;
        for (name, depth) in all {
            self.out.number(u64::from(depth))?;
            self.state(name)?;
        }
        Ok(())
    }
}

/// What a file of a crew begins with.
pub(crate) struct Head {
    pub transitions: u64,
    pub reduced: u64,
    pub depth: u64,
    pub reached: Vec<bool>,
    pub left_out: Option<String>,
}

/// What a file of a crew has.
pub(crate) struct Restored {
    pub head: Head,
    pub table: Concurrent,
    pub waiting: Vec<(StateRef, u32)>,
    pub later: Vec<(StateRef, u32)>,
}

/// A file that is read from its beginning.
struct In<'m> {
    input: Reader,
    state: Vec<u8>,
    meter: &'m Meter,
    read: u64,
}

impl In<'_> {
    /// The next state, and whether it is time to look at names.
    fn state(&mut self) -> Result<bool, Refused> {
        self.input.bytes(&mut self.state)?;
        self.read += 1;
        let look = self.read.is_multiple_of(PIECE);
        if look {
            self.meter.check().map_err(Refused::Limit)?;
        }
        Ok(look)
    }

    fn depth(&mut self) -> Result<u32, Refused> {
        Ok(self.input.short()?)
    }
}

/// Goes on from a file: names are laid out so that they fit all its states.
pub(crate) fn read(
    path: &std::path::Path,
    names: &mut Names,
    goals: usize,
    meter: &Meter,
) -> Result<Restored, Refused> {
    let open = || Ok::<_, Refused>(In { input: Reader::open(path)?, state: Vec::new(), meter, read: 0 });
    let mut all = open()?;
    head(&mut all.input, goals)?;
    let known = all.input.index()?;
    let bits = Concurrent::bits_for(known);
    let mut count = known as u64;
    for list in 0..4 {
        for _ in 0..count {
            if list > 0 {
                all.depth()?;
            }
            let look = all.state()?;
            names.name(&all.state);
            if look && names.has_waiting() {
                names.rename(bits);
            }
        }
        count = if list < 3 { all.input.number()? } else { 0 };
    }
    if names.has_waiting() {
        names.rename(bits);
    }
    let mut all = open()?;
    let head = head(&mut all.input, goals)?;
    let needs = || format!("there are {known} states in the file");
    let too_large = || Limit::Memory { budget: meter.budget().memory.unwrap_or(u64::MAX), needed: needs() };
    let table = Concurrent::new(names.width(), known).ok_or_else(|| Refused::Limit(too_large()))?;
    meter.check_memory(names.bytes() + table.bytes(), needs).map_err(Refused::Limit)?;
    for _ in 0..all.input.number()? {
        all.state()?;
        table.add(u64::from(table.insert(names.name(&all.state))));
    }
    let mut lists = [Vec::new(), Vec::new(), Vec::new()];
    for (at, list) in lists.iter_mut().enumerate() {
        for _ in 0..all.input.number()? {
            let depth = all.depth()?;
            all.state()?;
            let name = names.name(&all.state);
            let new = table.insert(name);
            table.add(u64::from(new));
            // What was staged waits now if it is new; all others wait anyway.
            if at < 2 || new {
                list.push((name, depth));
            }
        }
    }
    if names.full().is_some() || names.has_waiting() {
        return Err(Refused::Limit(too_large()));
    }
    let [waiting, mut later, arrivals] = lists;
    later.extend(arrivals);
    Ok(Restored { head, table, waiting, later })
}

/// What a file of a crew says of itself, without what it has: states, transitions, depth.
pub(crate) fn told(path: &std::path::Path, goals: usize) -> Result<(u64, u64, u64), CheckpointError> {
    let mut input = Reader::open(path)?;
    let head = head(&mut input, goals)?;
    Ok((input.number()?, head.transitions, head.depth))
}

/// Reads the figures.
fn head(input: &mut Reader, goals: usize) -> Result<Head, CheckpointError> {
    let kind = input.number()?;
    let (transitions, reduced, depth) = (input.number()?, input.number()?, input.number()?);
    let (reached, left_out): (Vec<bool>, _) = (input.value()?, input.value()?);
    match kind == u64::from(KIND) && reached.len() == goals {
        true => Ok(Head { transitions, reduced, depth, reached, left_out }),
        false => Err(Damaged.into()),
    }
}
