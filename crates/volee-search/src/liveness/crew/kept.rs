//! What a crew that looks for accepted cycles knows, on its way to a file and back.
//!
//! As in a search of states ([`crate::parallel::kept`]) the thread that watches calls a meeting, all workers
//! hand in what waits, one lends its names, and while they wait the watching thread writes.
//!
//! Mostly a walk is not kept as such: what it has closed is dead, and each pair on its path is one from which
//! somebody walks when the search goes on, the last one first. So a walk goes on about where it was, at the
//! cost of expanding its path once more, however often it is interrupted. That would not be so in a large
//! component that is not whole yet. Large components are left only where an automaton has cycles of both kinds
//! ([`Kind::Mixed`]), and there one walks at a time: its walk is kept with all it has met.
//!
//! The file has pairs, each with what is to be done about it: nothing, or to expand it or walk from it. It has
//! nothing of the search of the first thread, which is begun anew if there is a run to be found.

use std::io;
use std::sync::PoisonError;

use volee_store::checkpoint::{Damaged, Keeper, Reader, Refused, Writer};
use volee_store::{Names, StateRef, Tuples};
use volee_system::{Meter, Progress, System};

use super::kinds::Kinds;
use super::meeting::Tables;
use super::walk::Walk;
use super::worker::Worker;
use super::{Account, Begun, Claim, ClaimOptions, Common, Ground, Kind, Pair};
use crate::liveness::components::Search;
use crate::liveness::kept::Header;
use crate::liveness::nodes::{DEAD, Nodes, UNVISITED};
use crate::liveness::reduced::Expansions;

/// What a file of a crew begins with.
pub(crate) const KIND: u64 = 7;

/// What stands before a pair: whether there is something to do about it. None follows the last.
const END: u64 = 0;
const TO_DO: u64 = 1;
const DONE: u64 = 2;

/// Where workers hand in what they have.
pub(super) struct Desk<const W: usize> {
    /// Pairs that wait.
    waiting: Vec<Pair>,
    /// The paths of walks, from where they began.
    paths: Vec<Pair>,
    letters: Vec<u64>,
    left_out: Option<String>,
    lent: Option<Lent>,
    /// The walk that one is on alone, and what it has met.
    walk: Option<(Nodes, Walk<W>)>,
}

impl<const W: usize> Default for Desk<W> {
    fn default() -> Self {
        let (waiting, paths, letters) = (Vec::new(), Vec::new(), Vec::new());
        Desk { waiting, paths, letters, left_out: None, lent: None, walk: None }
    }
}

/// What one of the workers lends to whoever writes.
struct Lent {
    tuples: Box<Tuples>,
    expansions: Option<Expansions>,
    tables: Tables,
}

impl<const W: usize> Worker<'_, W> {
    /// Hands in what waits, and goes on when it is written. `None` when the search has ended.
    pub(super) fn hand_in(&mut self, leads: bool) -> Option<()> {
        self.count();
        self.account();
        let common = self.common;
        let mut desk = common.desk.lock().unwrap_or_else(PoisonError::into_inner);
        // What is being expanded has led nowhere yet.
        let current = (self.current.0 != StateRef::NONE).then_some(self.current);
        desk.waiting.extend(self.stack.iter().chain(&self.arrived).copied().chain(current));
        // A walk whose last pair is not expanded begins anew.
        let lends_walk = self.alone.is_some() && self.walk.is_under_way() && current.is_none();
        if lends_walk {
            let nodes = std::mem::replace(&mut self.product.nodes, Nodes::new());
            desk.walk = Some((nodes, std::mem::replace(&mut self.walk, Walk::new(0))));
        } else {
            desk.paths.extend(self.walk.path(&self.product.nodes));
        }
        desk.letters.extend_from_slice(self.product.letters());
        let left_out = self.product.system.left_out().map(|limit| limit.to_string());
        desk.left_out = desk.left_out.take().or(left_out);
        if leads && let Names::Tuples(tuples) = self.product.exchange_names(Names::lasting()) {
            let (expansions, tables) = (self.product.expansions.take(), self.tables.clone());
            desk.lent = Some(Lent { tuples, expansions, tables });
        }
        drop(desk);
        common.yard.hand_in()?;
        let mut desk = common.desk.lock().unwrap_or_else(PoisonError::into_inner);
        if lends_walk {
            (self.product.nodes, self.walk) = desk.walk.take()?;
        }
        if leads {
            let Lent { tuples, expansions, .. } = desk.lent.take()?;
            self.product.exchange_names(Names::Tuples(tuples));
            self.product.expansions = expansions;
        }
        Some(())
    }
}

/// Writes what was handed in. The search goes on if that fails, and says so.
pub(super) fn write<const W: usize>(
    common: &Common<'_, W>,
    keeper: &mut Keeper,
    progress: &mut dyn Progress,
) {
    let mut desk = std::mem::take(&mut *common.desk.lock().unwrap_or_else(PoisonError::into_inner));
    common.yard.each_package(|package| desk.waiting.extend_from_slice(package));
    let states = common.sum().passing + common.yard.size().0;
    let failed = keeper.keep(states, common.meter, |out| desk.write(common, out));
    if let Some(failed) = failed {
        progress.say(&failed);
    }
    // What was lent goes back.
    let mut empty = common.desk.lock().unwrap_or_else(PoisonError::into_inner);
    (empty.lent, empty.walk) = (desk.lent, desk.walk);
}

impl<const W: usize> Desk<W> {
    fn write(&mut self, common: &Common<'_, W>, out: &mut Writer) -> io::Result<()> {
        let sum = common.sum();
        let Some(Lent { tuples, expansions, tables }) = &mut self.lent else {
            return Err(io::Error::other("nobody has lent names"));
        };
        tuples.catch_up();
        self.letters.extend_from_slice(&common.letters.lock().unwrap_or_else(PoisonError::into_inner));
        self.letters.sort_unstable();
        self.letters.dedup();
        let header = Header {
            kind: KIND,
            words: W as u64,
            transitions: sum.transitions,
            reduced: sum.reduced,
            max_depth: sum.depth,
            initial: 0,
            settle_after: usize::MAX as u64,
            is_left_to_one: 0,
        };
        header.write(out)?;
        out.value(&self.left_out.as_ref().or(common.left_out.as_ref()))?;
        out.value(&self.letters)?;
        let no_key = || io::Error::other("a state has no name of the usual kind");
        let waiting: Option<Vec<StateRef>> = self.waiting.iter().map(|&pair| tables.key(pair)).collect();
        let mut waiting = waiting.ok_or_else(no_key)?;
        waiting.sort_unstable();
        waiting.dedup();
        let mut written = Ok(());
        let mut put = |(name, at): Pair, what: u64| {
            if written.is_ok() {
                let state = tuples.load(name);
                written =
                    out.number(what).and_then(|()| out.number(u64::from(at))).and_then(|()| out.bytes(state));
            }
        };
        tables.dead.each_name(&mut |key| put(tables.pair(key), DONE));
        tables.seen.each_name(&mut |key| {
            let pair = tables.pair(key);
            if !tables.dead.contains(key) {
                let passing = common.kinds.of(pair.1) == Kind::Passing;
                put(pair, if passing && waiting.binary_search(&key).is_err() { DONE } else { TO_DO });
            }
        });
        let is_new = |key: &&StateRef| !tables.seen.contains(**key) && !tables.dead.contains(**key);
        waiting.iter().filter(is_new).for_each(|&key| put(tables.pair(key), TO_DO));
        // What comes last is done first.
        self.paths.iter().for_each(|&pair| put(pair, TO_DO));
        written?;
        out.number(END)?;
        let settled = expansions.as_ref().map_or(0, |settled| settled.len() + 1);
        out.number(settled as u64)?;
        for at in 0..settled.saturating_sub(1) {
            let (name, order) = expansions.as_ref().expect("there are some").get(at as u32);
            out.bytes(tuples.load(name))?;
            out.number(u64::from(order))?;
        }
        out.number(u64::from(self.walk.is_some()))?;
        let Some((nodes, walk)) = &self.walk else { return Ok(()) };
        out.number(nodes.len() as u64)?;
        for node in 0..nodes.len() {
            let (name, at) = nodes.key(node as u32);
            out.bytes(tuples.load(name))?;
            out.number(u64::from(at))?;
            out.number(u64::from(nodes.order[node].wrapping_add(1)))?;
        }
        walk.write(out)
    }
}

/// What a crew goes on from; nothing where names have no room.
pub(super) fn read<'s, S: System + ?Sized, const W: usize>(
    search: &mut Search<'_, S, W>,
    claim: &'s Claim,
    options: ClaimOptions<'_>,
    kinds: &Kinds,
    meter: &Meter,
) -> Result<Option<Begun<'s, W>>, Refused> {
    let Some(path) = search.keeper.as_ref().map(|keeper| keeper.checkpoint.path.clone()) else {
        return Ok(None);
    };
    // Names are given first, and tables are made when it is known how much room they need.
    let mut input = Reader::open(&path)?;
    let header = Header::read(&mut input)?;
    if (header.kind, header.words) != (KIND, W as u64) {
        return Err(Damaged.into());
    }
    search.left_out = input.value()?;
    let letters: Vec<u64> = input.value()?;
    search.product.met_before(&letters);
    let (mut count, mut state) = (0, Vec::new());
    while input.number()? != END {
        if input.short()? >= claim.automaton.states.len() as u32 {
            return Err(Damaged.into());
        }
        input.bytes(&mut state)?;
        if search.product.name(&state).is_none() {
            return Ok(None);
        }
        count += 1;
        search.look(count, meter)?;
    }
    search.read_expansions(&mut input, meter)?;
    let walk = match input.number()? {
        0 => None,
        _ => {
            search.read_nodes(&mut input, claim, meter)?;
            Some(Walk::read(claim.automaton.all_marks(), &mut input, &search.product.nodes.order)?)
        }
    };
    let tuples = search.product.tuples().cloned();
    let Some(mut ground) = tuples.and_then(|tuples| Ground::new(tuples, count, kinds, meter)) else {
        return Ok(None);
    };
    let needs = || format!("there are {count} pairs of a state and a state of the claim in the file");
    meter.check_memory(search.bytes() + ground.tables.bytes(), needs).map_err(Refused::Limit)?;
    let mut input = Reader::open(&path)?;
    Header::read(&mut input)?;
    let _: (Option<String>, Vec<u64>) = (input.value()?, input.value()?);
    loop {
        let order = match input.number()? {
            END => break,
            TO_DO => UNVISITED,
            _ => DEAD,
        };
        let at = input.short()?;
        input.bytes(&mut state)?;
        let name = ground.tuples.name(&state);
        if ground.tuples.has_waiting()
            || ground.put((name, at), order, kinds, &search.product.traps).is_none()
        {
            return Ok(None);
        }
    }
    let before = Account {
        transitions: header.transitions,
        reduced: header.reduced,
        depth: header.max_depth,
        passing: ground.passing,
        ..Account::default()
    };
    Ok(ground.begun(search, claim, options, before, walk))
}
