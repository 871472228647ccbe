//! A breadth-first resolution on its way to a file and back: keys in the order of their numbers, each with
//! what its slot holds, then records, edges and what is under way.

use std::io;

use volee_store::checkpoint::{Damaged, PIECE, Reader, Refused, Writer};
use volee_store::{Links, tag};
use volee_system::Meter;

use super::{NONE, Search, TOLD_TRUE};
use crate::graph::Node;

impl Search<'_> {
    pub(super) fn write_all(&mut self, out: &mut Writer) -> io::Result<()> {
        out.number(u64::from(self.met.table.len()))?;
        for number in 0..self.met.table.len() {
            let key = self.met.table.keys.get(number);
            let links = match self.met.table.search(key, tag(key)) {
                Ok(at) => *self.met.table.slots.payload(at),
                Err(_) => return Err(io::Error::other("a variable is not in its table")),
            };
            out.bytes(self.met.table.keys.get(number))?;
            // None is the most frequent.
            out.number(u64::from(links.last.wrapping_add(1)))?;
            out.number(u64::from(links.first.wrapping_add(1)))?;
        }
        out.list(self.records.iter())?;
        out.list((0..self.edges.len()).map(|at| *self.edges.get(at)))?;
        out.value(&(self.next, &self.batch, &self.expanded, self.noted, self.passed))?;
        out.list(self.decided.iter())?;
        out.list(self.told.iter())?;
        out.value(&(&self.cursors, self.next_rank, self.in_flight, self.statistics))?;
        out.value(&self.open.as_ref().map(Vec::len))?;
        self.open.iter().flatten().try_for_each(|block| out.list(block.iter()))
    }

    /// Reads what was written, where no more than the main variable is known.
    pub(super) fn read_all(&mut self, input: &mut Reader, meter: &Meter) -> Result<(), Refused> {
        let (last, first) = self.read_keys(input, meter)?;
        self.records = input.list(meter)?;
        for edge in input.list(meter)? {
            self.edges.push(edge);
        }
        if last as usize > self.edges.len() || first > self.met.table.len() {
            return Err(Damaged.into());
        }
        (self.next, self.batch, self.expanded, self.noted, self.passed) = input.value()?;
        self.decided = input.list(meter)?;
        self.told = input.list(meter)?;
        (self.cursors, self.next_rank, self.in_flight, self.statistics) = input.value()?;
        let blocks: Option<usize> = input.value()?;
        if let Some(blocks) = blocks {
            self.open = Some((0..blocks).map(|_| input.list(meter)).collect::<Result<_, _>>()?);
        }
        Ok(())
    }

    /// Whether what was read fits together.
    pub(super) fn fits_together(&self) -> bool {
        let known = self.met.table.len();
        let has = |variable: u32| variable < known;
        let edge = |at: u32| (at as usize) < self.edges.len();
        let links = |(at, &(who, before)): (usize, &(u32, u32))| {
            has(who) && (before == NONE || (before as usize) < at)
        };
        let later = self.signs.len().saturating_sub(usize::from(self.root_block) + 1);
        self.records.len() == known as usize
            && self.next <= known
            && (0..self.edges.len()).map(|at| self.edges.get(at)).enumerate().all(links)
            && self.batch.is_sound(1)
            && self.passed <= self.batch.len()
            && self.noted <= self.expanded.len()
            && self.expanded.iter().all(|e| has(e.variable) && e.end <= self.batch.len())
            && self.decided.iter().all(|decided| has(decided.variable))
            && self.told.iter().all(|told| has(told.0))
            && self.cursors.iter().all(|cursor| edge(cursor.0))
            && self.open.iter().flatten().flatten().all(|variable| has(*variable))
            && self.open.as_ref().is_none_or(|open| open.len() <= later)
    }

    /// Reads keys, each with its links; they lead to this many edges and to this many variables.
    fn read_keys(&mut self, input: &mut Reader, meter: &Meter) -> Result<(u32, u32), Refused> {
        let (count, mut key, mut bounds) = (input.short()?, Vec::new(), (0, 0));
        let link = |input: &mut Reader| input.number().map(|link| (link as u32).wrapping_sub(1));
        for number in 0..count {
            if (number as usize).is_multiple_of(PIECE) {
                meter.check().map_err(Refused::Limit)?;
            }
            input.bytes(&mut key)?;
            let links = Links { last: link(input)?, first: link(input)? };
            if links.last < TOLD_TRUE {
                bounds.0 = bounds.0.max(links.last + 1);
            }
            bounds.1 = bounds.1.max(links.first.wrapping_add(1));
            let tag = tag(&key);
            let given = match self.met.table.search(&key, tag) {
                // The main variable is there already.
                Ok(at) => {
                    *self.met.table.slots.payload(at) = links;
                    self.met.table.slots.number(at)
                }
                Err(at) => self.met.table.add(&key, tag, at, links).map_err(Refused::Limit)?,
            };
            if given != number || self.met.packed && key.len() < size_of::<Node>() {
                return Err(Damaged.into());
            }
        }
        Ok(bounds)
    }
}
