//! A part among several on its way to a file and back, also to more or fewer workers than before.
//!
//! A part is handed out in pieces of one kind each: places in the order of their numbers with what is known
//! of their variables; the variables that were met since their blocks were closed, and which of them wait;
//! who depends on what is not stable; values that somebody has still to be told; and, once, what is no matter
//! of single variables. All of it is handed out at a moment when nothing is in flight and nothing is between
//! being expanded and being noted ([`Part::settle`](volee_system::part::Part::settle)).
//!
//! A value that is to be told is given to whoever owns the one that waits for it when the resolution goes on,
//! as if it had just arrived. A restored part is so one that a run without a pause could have come to.

use serde::{Deserialize, Serialize};
use volee_store::checkpoint::{from_bytes, to_bytes};
use volee_store::handed::{Out, word};
use volee_system::Flow;
use volee_system::part::{Level, PartError};

use super::record::{MAXIMUM_MISSING, MAXIMUM_RANK, NONE, Record, Told};
use super::{Partition, SolveError, garbled, part_error};
use crate::graph::BooleanGraph;
use crate::solve::Statistics;
use crate::solve::partition::Share;

/// A piece of places: length of the key, key, eight bytes for each variable.
pub(super) const PLACES: u8 = 4;
/// A piece of variables since their blocks were closed: variable, block, level; of one that does not wait,
/// no level.
pub(super) const MET: u8 = 5;
pub(super) const MET_BYTES: usize = 10;
/// A piece of dependencies: on what, who.
pub(super) const EDGES: u8 = 6;
/// A piece of values: who is to be told, rank and value.
pub(super) const VALUES: u8 = 7;
/// What is no matter of single variables.
pub(super) const HEAD: u8 = 8;

/// What a worker knows that is no matter of single variables.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Head {
    pub statistics: Statistics,
    /// How many variables were met.
    pub met: usize,
    /// Whatever becomes stable has at least this rank.
    pub next_rank: u32,
    /// Of each block, how many may be expanded, and how many more the next time.
    pub grants: Vec<(usize, usize)>,
}

/// What a part has got so far of what it goes on from.
#[derive(Default)]
pub(super) struct Coming {
    met: Vec<(u32, u16, Level)>,
    values: Vec<(u32, Told)>,
    has_head: bool,
}

impl<G: BooleanGraph> Partition<G> {
    /// The part of a share that goes on from what was kept: see [`Partition::take_piece`].
    ///
    /// # Errors
    /// The graph has no main variable, or its blocks depend on each other in a cycle.
    pub fn kept(graph: G, share: Share) -> Result<Self, SolveError> {
        Ok(Self::empty(graph, share)?.0)
    }

    /// Hands out all pieces.
    pub(super) fn pieces(&self, piece: &mut dyn FnMut(Vec<u8>) -> Flow) -> Flow {
        let mut out = Out::new(&[PLACES], piece);
        let mut scratch = [0; 4];
        for (at, records) in self.records.chunks(self.variables.nodes()).enumerate() {
            let key = self.variables.key(at as u32, &mut scratch);
            out.open.extend_from_slice(&(key.len() as u16).to_le_bytes());
            out.open.extend_from_slice(key);
            for record in records {
                let rank = if record.is_stable() { record.link } else { NONE };
                out.open.extend_from_slice(&rank.to_le_bytes());
                out.open.extend_from_slice(&record.state.to_le_bytes());
            }
            out.close_if_full()?;
        }
        out.begin(&[MET])?;
        for (variable, block, level) in self.agenda.since_closed() {
            out.put(&[&variable.to_le_bytes(), &block.to_le_bytes(), &level.to_le_bytes()])?;
        }
        out.begin(&[EDGES])?;
        for (variable, record) in self.records.iter().enumerate() {
            if record.is_met() && !record.is_stable() {
                for dependant in self.dependants(record.link) {
                    out.put(&[&(variable as u32).to_le_bytes(), &dependant.to_le_bytes()])?;
                }
            }
        }
        out.begin(&[VALUES])?;
        for (dependant, told) in &self.replies {
            out.put(&[&dependant.to_le_bytes(), &told.0.to_le_bytes()])?;
        }
        for (edge, told) in self.stable.iter().chain(&self.cursors) {
            for dependant in self.dependants(*edge) {
                out.put(&[&dependant.to_le_bytes(), &told.0.to_le_bytes()])?;
            }
        }
        out.end(head_piece(&Head {
            statistics: self.statistics,
            met: self.agenda.len(),
            next_rank: self.next_rank,
            grants: self.agenda.grants(),
        }))
    }

    /// Who depends on a variable, from one of its edges on.
    fn dependants(&self, edge: u32) -> impl Iterator<Item = u32> {
        let mut next = edge;
        std::iter::from_fn(move || {
            let (dependant, following) = *(next != NONE).then(|| self.edges.get(next as usize))?;
            next = following;
            Some(dependant)
        })
    }

    /// Takes one of the pieces that this part goes on from.
    ///
    /// # Errors
    /// It makes no sense here, or a limit.
    pub fn take_piece(&mut self, piece: &[u8]) -> Result<(), PartError> {
        let (kind, rest) = piece.split_first().ok_or_else(garbled)?;
        match *kind {
            PLACES => self.take_places(rest),
            MET => {
                let (met, rest) = rest.as_chunks::<MET_BYTES>();
                self.coming.met.extend(met.iter().map(|record| {
                    (word(&record[..4]), u16::from_le_bytes([record[4], record[5]]), word(&record[6..]))
                }));
                if rest.is_empty() { Ok(()) } else { Err(garbled()) }
            }
            EDGES => {
                let (edges, rest) = rest.as_chunks::<8>();
                // Until all is here, what is depended on stands in the place of the next edge.
                edges.iter().for_each(|edge| self.edges.push((word(&edge[4..]), word(&edge[..4]))));
                if rest.is_empty() { Ok(()) } else { Err(garbled()) }
            }
            VALUES => {
                let (values, rest) = rest.as_chunks::<8>();
                let values = values.iter().map(|value| (word(&value[..4]), Told(word(&value[4..]))));
                self.coming.values.extend(values);
                if rest.is_empty() { Ok(()) } else { Err(garbled()) }
            }
            HEAD => {
                let head: Head = from_bytes(rest).map_err(|_| garbled())?;
                self.statistics = head.statistics;
                self.next_rank = head.next_rank;
                self.coming.has_head = true;
                if self.agenda.restore_grants(head.met, &head.grants) { Ok(()) } else { Err(garbled()) }
            }
            _ => Err(garbled()),
        }
    }

    fn take_places(&mut self, mut rest: &[u8]) -> Result<(), PartError> {
        let nodes = self.variables.nodes();
        while let Some((key, records)) = next_place(&mut rest, nodes) {
            let tag = self.variables.tag(key);
            if !self.variables.admits(key, tag, 0) || self.variables.owner(key) != self.me() {
                return Err(garbled());
            }
            let first = self.variables.insert_key(key, tag, 0)? as usize;
            self.make_records().map_err(part_error)?;
            let own = self.records.get_mut(first..first + nodes).ok_or_else(garbled)?;
            for (own, record) in own.iter_mut().zip(records.as_chunks::<8>().0) {
                if own.is_met() {
                    return Err(garbled());
                }
                *own = Record { link: word(&record[..4]), state: word(&record[4..]) };
            }
        }
        if rest.is_empty() { Ok(()) } else { Err(garbled()) }
    }

    /// All pieces were taken.
    ///
    /// # Errors
    /// They do not fit together.
    pub fn restored(&mut self) -> Result<(), PartError> {
        let Coming { met, values, has_head } = std::mem::take(&mut self.coming);
        let open = |records: &[Record], at: u32| {
            records.get(at as usize).is_some_and(|record| record.is_met() && !record.is_stable())
        };
        for at in 0..self.edges.len() {
            let (dependant, on) = *self.edges.get(at);
            let (owner, variable) = self.packing.unpack(dependant);
            let ours = owner == self.me();
            if !open(&self.records, on)
                || owner >= usize::from(self.share.peers)
                || ours && !self.records.get(variable as usize).is_some_and(|record| record.is_met())
            {
                return Err(garbled());
            }
            let head = std::mem::replace(&mut self.records[on as usize].link, at as u32);
            *self.edges.get_mut(at) = (dependant, head);
        }
        let (place, node) = self.graph.root().map_err(|trouble| part_error(trouble.into()))?;
        let mut key = Vec::new();
        if self.variables.owner_of(&place, node, &mut key).0 == self.me() {
            self.root = self.variables.find(&place, node, &mut key);
            if !self.root.is_some_and(|root| self.records[root as usize].is_met()) {
                return Err(garbled());
            }
        }
        let known = self.records.len();
        if !has_head || self.next_rank > MAXIMUM_RANK || !self.agenda.restore(met, known) {
            return Err(garbled());
        }
        for (variable, told) in values {
            let record = self.records.get(variable as usize).copied().unwrap_or_default();
            if !record.is_stable() && record.state & MAXIMUM_MISSING == 0 || told.rank() >= self.next_rank {
                return Err(garbled());
            }
            self.apply(variable, told);
        }
        Ok(())
    }
}

pub(super) fn head_piece(head: &Head) -> Vec<u8> {
    let mut piece = vec![HEAD];
    piece.extend(to_bytes(head));
    piece
}

/// The key of the next place, and the records of its variables.
pub(super) fn next_place<'p>(rest: &mut &'p [u8], nodes: usize) -> Option<(&'p [u8], &'p [u8])> {
    let (length, after) = rest.split_first_chunk::<2>()?;
    let (key, after) = after.split_at_checked(usize::from(u16::from_le_bytes(*length)))?;
    let (records, after) = after.split_at_checked(8 * nodes)?;
    *rest = after;
    Some((key, records))
}
