//! Forwards along dependencies: expanding variables, and noting who depends on whom.
//!
//! Successors pass through a pipeline of three stages. They are pushed, and their table lines start to be
//! fetched; 32 successors later they are looked up, and their records start to be fetched; another 32 later
//! records are read and dependencies noted. So memory works all the time. What others send passes through the
//! same stages, 64 at a time.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use volee_system::part::{Level, Outbox, PartError};

use super::record::{NONE, Record, missing};
use super::{EXPAND, MAXIMUM_IN_FLIGHT, Partition, garbled, part_error};
use crate::graph::{BooleanGraph, Node};
use crate::solve::SolveError;
use crate::solve::table::narrow;
use crate::variables::Pushing;
use volee_store::prefetch_at as prefetch;

/// An expanded variable and where its successors end in the batch.
#[derive(Serialize, Deserialize)]
pub(super) struct Expanded {
    pub variable: u32,
    pub level: Level,
    pub end: usize,
}

/// A dependency that was received: the tag of the successor, the place of its key in the packet, who depends.
pub(super) struct Arrival {
    tag: u32,
    begin: usize,
    end: usize,
    node: Node,
    dependant: u32,
    level: Level,
}

impl<G: BooleanGraph> Partition<G> {
    /// Pushes the right-hand side of the next variable, if there is one, and starts fetching the table slots
    /// of its successors. (No variable is stable before it was expanded.)
    #[inline]
    pub(super) fn expand(&mut self) -> Result<bool, SolveError> {
        let Some((variable, level)) = self.agenda.take() else { return Ok(false) };
        if let Some(ahead) = self.agenda.ahead(8) {
            prefetch(&self.records, ahead as usize);
        }
        self.statistics.expanded += 1;
        let before = self.batch.len();
        let operator = self.records[variable as usize].operator();
        let pushing = self.batch.push(&mut self.graph, &self.variables, variable, operator)?;
        let count = self.batch.len() - before;
        if pushing == Pushing::Decided || count == 0 {
            self.set(variable, operator.deciding() == (pushing == Pushing::Decided));
        } else {
            self.records[variable as usize].state += missing(count)?;
            self.expanded.push(Expanded { variable, level, end: self.batch.len() });
        }
        Ok(true)
    }

    /// Finds the numbers of the successors that were pushed `behind` successors ago, and starts fetching
    /// their records.
    #[inline]
    pub(super) fn look_up(&mut self, behind: usize, out: &mut Outbox) -> Result<(), SolveError> {
        while let Some(&Expanded { variable, level, end }) = self.expanded.get(self.looked_up)
            && end + behind <= self.batch.len()
        {
            let range = self.found.len()..end;
            self.statistics.edges += range.len() as u64;
            if self.share.peers == 1 {
                let records = &self.records;
                self.batch.resolve(&mut self.variables, range, &mut self.found, |found| {
                    prefetch(records, found as usize);
                })?;
            } else {
                self.look_up_or_post(variable, level, range, out)?;
            }
            self.make_records()?;
            self.looked_up += 1;
        }
        Ok(())
    }

    /// Finds the numbers of those successors that are ours; tells the owners of the others who depends on
    /// them.
    fn look_up_or_post(
        &mut self,
        variable: u32,
        level: Level,
        range: Range<usize>,
        out: &mut Outbox,
    ) -> Result<(), SolveError> {
        let me = self.me();
        let mut scratch = [0; 4];
        for at in range {
            let (tag, key, node) = self.batch.item(at, &mut scratch);
            self.variables.announced(tag)?;
            let owner = self.batch.owner(at);
            if owner == me {
                let found = self.variables.insert_key(key, tag, node)?;
                prefetch(&self.records, found as usize);
                self.found.push(found);
                continue;
            }
            let mut head = [0; 8];
            head[0..4].copy_from_slice(&variable.to_le_bytes());
            head[4..6].copy_from_slice(&node.to_le_bytes());
            head[6..8].copy_from_slice(&(key.len() as u16).to_le_bytes());
            let record = out.post(owner, EXPAND);
            if record.is_empty() || self.posted[owner] != level {
                self.posted[owner] = level;
                record.extend_from_slice(&NONE.to_le_bytes());
                record.extend_from_slice(&level.saturating_add(1).to_le_bytes());
            }
            record.extend_from_slice(&head);
            record.extend_from_slice(key);
            self.found.push(NONE);
        }
        Ok(())
    }

    /// Notes the dependencies of the variables that were expanded `behind` successors ago.
    #[inline]
    pub(super) fn connect(&mut self, behind: usize) -> Result<(), SolveError> {
        while self.connected < self.looked_up
            && self.expanded[self.connected].end + behind <= self.batch.len()
        {
            let begin = if self.connected == 0 { 0 } else { self.expanded[self.connected - 1].end };
            let Expanded { variable, level, end } = self.expanded[self.connected];
            for at in begin..end {
                self.depend(variable, level, at)?;
            }
            self.connected += 1;
        }
        Ok(())
    }

    /// Notes that a variable depends on the `at`-th one that was found.
    #[inline]
    fn depend(&mut self, variable: u32, level: Level, at: usize) -> Result<(), SolveError> {
        let successor = self.found[at];
        if successor == NONE {
            return Ok(());
        }
        let record = &mut self.records[successor as usize];
        if !record.is_met() {
            let (operator, block) = self.batch.equation(&self.graph, &self.variables, at);
            *record = Record::met(operator);
            self.agenda.meet(successor, block, level.saturating_add(1));
        }
        if record.is_stable() {
            let told = record.told();
            self.apply(variable, told);
        } else {
            let edge = narrow(self.edges.len())?;
            let head = std::mem::replace(&mut record.link, edge);
            self.edges.push((self.packing.pack(usize::from(self.share.me), variable), head));
        }
        Ok(())
    }

    /// Notes dependencies that other workers have sent.
    pub(super) fn take_dependencies(&mut self, from: usize, records: &[u8]) -> Result<(), PartError> {
        let (mut at, mut level) = (0, 0);
        while at < records.len() {
            let begin = at + 8;
            let Some(head) = records.get(at..begin) else { return Err(garbled()) };
            let dependant = u32::from_le_bytes([head[0], head[1], head[2], head[3]]);
            if dependant == NONE {
                level = u32::from_le_bytes([head[4], head[5], head[6], head[7]]);
                at = begin;
                continue;
            }
            let node = Node::from_le_bytes([head[4], head[5]]);
            let end = begin + usize::from(u16::from_le_bytes([head[6], head[7]]));
            let Some(key) = records.get(begin..end) else { return Err(garbled()) };
            let tag = self.variables.tag(key);
            let ours = self.variables.owner(key) == self.me();
            if !ours || !self.variables.admits(key, tag, node) || dependant >= self.packing.bound() {
                return Err(garbled());
            }
            self.arrivals.push(Arrival { tag, begin, end, node, dependant, level });
            at = end;
            if self.arrivals.len() == MAXIMUM_IN_FLIGHT {
                self.note_arrivals(from, records).map_err(part_error)?;
            }
        }
        self.note_arrivals(from, records).map_err(part_error)
    }

    /// Looks up a batch of arrivals and notes who depends on them.
    fn note_arrivals(&mut self, from: usize, bytes: &[u8]) -> Result<(), SolveError> {
        self.arrived.clear();
        for a in &self.arrivals {
            let found = self.variables.insert_key(&bytes[a.begin..a.end], a.tag, a.node)?;
            prefetch(&self.records, found as usize);
            self.arrived.push(found);
        }
        self.make_records()?;
        for (a, &successor) in self.arrivals.iter().zip(&self.arrived) {
            let record = &mut self.records[successor as usize];
            if !record.is_met() {
                let (operator, block) = self.variables.equation(&self.graph, &bytes[a.begin..a.end], a.node);
                *record = Record::met(operator);
                self.agenda.meet(successor, block, a.level);
            }
            let dependant = self.packing.pack(from, a.dependant);
            if record.is_stable() {
                self.replies.push((dependant, record.told()));
            } else {
                let edge = narrow(self.edges.len())?;
                let head = std::mem::replace(&mut record.link, edge);
                self.edges.push((dependant, head));
            }
        }
        self.arrivals.clear();
        Ok(())
    }
}
