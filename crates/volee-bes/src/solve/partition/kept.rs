//! A part that is the whole on its way to a file and back. Of messages there are none.

use std::io;

use volee_store::checkpoint::{Reader, Refused, Writer};
use volee_system::Meter;

use super::Partition;
use super::record::NONE;
use crate::graph::BooleanGraph;

impl<G: BooleanGraph> Partition<G> {
    pub(in crate::solve) fn write(&self, out: &mut Writer) -> io::Result<()> {
        self.variables.write(out)?;
        out.list(self.records.iter())?;
        out.list((0..self.edges.len()).map(|at| *self.edges.get(at)))?;
        self.agenda.write(out)?;
        out.list(self.stable.iter())?;
        out.value(&(&self.batch, &self.expanded, self.looked_up, self.connected, &self.found))?;
        out.value(&(&self.cursors, self.next_rank, self.in_flight, self.statistics))
    }

    /// Reads what was written, where this part knows no more than the main variable.
    pub(in crate::solve) fn read(&mut self, input: &mut Reader, meter: &Meter) -> Result<(), Refused> {
        self.variables.read(input, meter)?;
        self.records = input.list(meter)?;
        for edge in input.list(meter)? {
            self.edges.push(edge);
        }
        self.agenda.read(input, meter)?;
        self.stable = input.list(meter)?;
        (self.batch, self.expanded, self.looked_up, self.connected, self.found) = input.value()?;
        (self.cursors, self.next_rank, self.in_flight, self.statistics) = input.value()?;
        Ok(())
    }

    /// Whether what was read fits together.
    pub(in crate::solve) fn is_sound(&self) -> bool {
        let has = |variable: &u32| (*variable as usize) < self.records.len();
        let edge = |at: u32| (at as usize) < self.edges.len();
        let links =
            |(at, &(who, next)): (usize, &(u32, u32))| has(&who) && (next == NONE || (next as usize) < at);
        self.records.len() == self.variables.len()
            && self.records.iter().all(|r| r.is_stable() || !r.is_met() || r.link == NONE || edge(r.link))
            && (0..self.edges.len()).map(|at| self.edges.get(at)).enumerate().all(links)
            && self.agenda.is_sound(self.records.len())
            && self.stable.iter().chain(&self.cursors).all(|(at, _)| edge(*at))
            && self.batch.is_sound(self.variables.nodes())
            && self.connected <= self.looked_up
            && self.looked_up <= self.expanded.len()
            && self.expanded.iter().all(|e| has(&e.variable) && e.end <= self.batch.len())
            && self.found.len() <= self.batch.len()
            && self.found.len() == self.looked_up.checked_sub(1).map_or(0, |last| self.expanded[last].end)
            && self.found.iter().all(has)
    }
}
