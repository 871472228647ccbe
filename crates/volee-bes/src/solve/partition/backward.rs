//! Backwards along the noted edges: telling those who depend on a variable that it has become stable.

use volee_system::part::{Outbox, PartError};

use super::record::{MAXIMUM_MISSING, NONE, STABLE, TRUE, Told};
use super::{MAXIMUM_IN_FLIGHT, Partition, VALUE, garbled};
use crate::graph::BooleanGraph;
use volee_store::prefetch_at as prefetch;

impl<G: BooleanGraph> Partition<G> {
    #[inline]
    pub(super) fn set(&mut self, variable: u32, value: bool) {
        let record = &mut self.records[variable as usize];
        record.state |= STABLE | if value { TRUE } else { 0 };
        let head = std::mem::replace(&mut record.link, self.next_rank);
        self.next_rank += 1;
        if head != NONE {
            self.stable.push((head, record.told()));
        }
    }

    /// Tells a variable the value of one of its successors.
    #[inline]
    pub(super) fn apply(&mut self, variable: u32, told: Told) {
        let record = &mut self.records[variable as usize];
        if record.is_stable() {
            return;
        }
        let deciding = record.operator().deciding();
        if told.value() == deciding {
            self.set(variable, deciding);
            return;
        }
        record.state -= 1;
        if record.state & MAXIMUM_MISSING == 0 {
            self.set(variable, !deciding);
        }
    }

    /// Walks the backward edges of all stable variables, many at a time; `false` when `tell` dependants were
    /// told and there are more.
    pub(super) fn stabilise(&mut self, tell: &mut usize, out: &mut Outbox) -> bool {
        for (dependant, told) in self.replies.drain(..) {
            let (owner, variable) = self.packing.unpack(dependant);
            post_value(out, owner, variable, told);
        }
        loop {
            while self.cursors.len() < MAXIMUM_IN_FLIGHT
                && let Some(cursor) = self.stable.pop()
            {
                self.edges.prefetch(cursor.0 as usize);
                self.cursors.push(cursor);
            }
            if self.cursors.is_empty() {
                return true;
            }
            if *tell == 0 {
                return false;
            }
            *tell = tell.saturating_sub(self.cursors.len());
            self.walk(out);
            for i in 0..self.told.len() {
                let (dependant, told) = self.told[i];
                self.apply(dependant, told);
            }
            self.told.clear();
        }
    }

    /// Takes one step along the edges of each cursor.
    fn walk(&mut self, out: &mut Outbox) {
        let me = self.me();
        let mut at = 0;
        while at < self.cursors.len() {
            let (edge, told) = self.cursors[at];
            let (dependant, next) = *self.edges.get(edge as usize);
            let (owner, variable) = self.packing.unpack(dependant);
            if owner == me {
                prefetch(&self.records, variable as usize);
                self.told.push((variable, told));
            } else {
                post_value(out, owner, variable, told);
            }
            if next == NONE {
                self.cursors.swap_remove(at);
            } else {
                self.edges.prefetch(next as usize);
                self.cursors[at].0 = next;
                at += 1;
            }
        }
    }

    /// Applies values that other workers have sent.
    pub(super) fn take_values(&mut self, records: &[u8]) -> Result<(), PartError> {
        let (values, rest) = records.as_chunks::<8>();
        if !rest.is_empty() {
            return Err(garbled());
        }
        for chunk in values.chunks(MAXIMUM_IN_FLIGHT) {
            for [a, b, c, d, ..] in chunk {
                prefetch(&self.records, u32::from_le_bytes([*a, *b, *c, *d]) as usize);
            }
            for &[a, b, c, d, e, f, g, h] in chunk {
                let (variable, told) =
                    (u32::from_le_bytes([a, b, c, d]), Told(u32::from_le_bytes([e, f, g, h])));
                let record = self.records.get(variable as usize).copied().unwrap_or_default();
                // A variable that waits for nothing has not asked for anything.
                if !record.is_stable() && record.state & MAXIMUM_MISSING == 0 {
                    return Err(garbled());
                }
                self.next_rank = self.next_rank.max(told.rank() + 1);
                self.apply(variable, told);
            }
        }
        Ok(())
    }
}

fn post_value(out: &mut Outbox, owner: usize, variable: u32, told: Told) {
    let mut bytes = [0; 8];
    bytes[..4].copy_from_slice(&variable.to_le_bytes());
    bytes[4..].copy_from_slice(&told.0.to_le_bytes());
    out.post(owner, VALUE).extend_from_slice(&bytes);
}
