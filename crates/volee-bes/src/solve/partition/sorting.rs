//! The file of a resolution by several workers, sorted for those who go on with it.
//!
//! The file is read twice: once to give each place a worker and a number there, once to send what is known to
//! whom it belongs now. In between only four bytes by place are in memory.

use std::path::Path;

use volee_store::checkpoint::{Damaged, Refused, from_bytes};
use volee_store::handed::{Handed, Passage, Supply, word};
use volee_system::part::Packing;
use volee_system::{Limit, Meter};

use super::handed::{EDGES, HEAD, Head, MET, MET_BYTES, PLACES, VALUES, head_piece, next_place};
use super::spreading::spread;
use super::{Share, SolveError};
use crate::graph::BooleanGraph;
use crate::variables::Variables;

/// A file on its way to the workers that go on with it.
pub struct Sorting {
    passage: Passage,
    /// Knows whose a place is.
    variables: Variables,
    peers: usize,
    before: Packing,
    now: Packing,
    /// By worker and number before: worker and number now, in one.
    places: Vec<Vec<u32>>,
    head: Head,
}

impl Sorting {
    /// Opens a file that was looked at, of a resolution of this graph, for this many workers.
    ///
    /// # Errors
    /// It is damaged, or there is no room for it.
    pub fn open<G: BooleanGraph>(
        mut graph: G,
        path: &Path,
        peers: usize,
        meter: &Meter,
    ) -> Result<Self, Refused> {
        let share = Share { me: 0, peers: peers as u16 };
        let trouble = |error: SolveError| match error {
            SolveError::Limit(limit) => Refused::Limit(limit),
            other => Refused::Limit(Limit::Other { message: other.to_string() }),
        };
        let (place, node) = graph.root().map_err(|error| trouble(error.into()))?;
        let spread = spread(&mut graph, &place, node, share);
        let variables = Variables::shared(&graph, share, spread);
        let mut file = Handed::open(path)?;
        let now = Packing::new(peers);
        let (mut places, mut next) = (vec![Vec::new(); file.workers], vec![0_u32; peers]);
        let mut count = 0;
        while let Some(worker) = file.next_worker()? {
            meter.check().map_err(Refused::Limit)?;
            if file.piece[0] != PLACES {
                continue;
            }
            let mut rest = &file.piece[1..];
            while let Some((key, _)) = next_place(&mut rest, variables.nodes()) {
                if !variables.admits(key, variables.tag(key), 0) {
                    return Err(Damaged.into());
                }
                let (owner, number) = variables.owner_and_number(key);
                let number = number.unwrap_or(next[owner]);
                if u64::from(number) * variables.nodes() as u64 >= u64::from(now.bound()) {
                    let message = "one worker has more variables than it can number".into();
                    return Err(Refused::Limit(Limit::Other { message }));
                }
                next[owner] += 1;
                places[worker].push(now.pack(owner, number));
                count += 1;
            }
            let needed = || format!("the file has more than {count} places");
            meter.check_memory(count * 4, needed).map_err(Refused::Limit)?;
        }
        Ok(Sorting {
            before: Packing::new(file.workers),
            passage: Passage::open(path, peers)?,
            variables,
            peers,
            now,
            places,
            head: Head::default(),
        })
    }

    /// Whose a variable of a worker is now, and its number there.
    fn place(&self, worker: usize, variable: u32) -> Option<(usize, u32)> {
        let nodes = self.variables.nodes() as u32;
        let packed = self.places.get(worker)?.get((variable / nodes) as usize)?;
        let (owner, place) = self.now.unpack(*packed);
        Some((owner, place.checked_mul(nodes)?.checked_add(variable % nodes)?))
    }

    /// Joins what workers knew: ranks go on above the highest, and what one may expand, all may.
    fn join(&mut self, other: Head) -> Option<()> {
        let head = &mut self.head;
        if head.grants.is_empty() {
            head.grants.resize(other.grants.len(), (0, 0));
        }
        if head.grants.len() != other.grants.len() {
            return None;
        }
        for (own, (allowed, grant)) in head.grants.iter_mut().zip(other.grants) {
            *own = (own.0.max(allowed), own.1.max(grant));
        }
        head.statistics.expanded += other.statistics.expanded;
        head.statistics.edges += other.statistics.edges;
        head.met += other.met;
        head.next_rank = head.next_rank.max(other.next_rank);
        Some(())
    }
}

impl Supply for Sorting {
    fn passage(&mut self) -> &mut Passage {
        &mut self.passage
    }

    fn sort(&mut self, worker: usize, piece: &[u8]) -> Option<()> {
        let (kind, mut rest) = piece.split_first()?;
        match *kind {
            PLACES => {
                while let Some((key, records)) = next_place(&mut rest, self.variables.nodes()) {
                    let owner = self.variables.owner(key);
                    self.passage.piles.put(
                        owner,
                        &[PLACES],
                        &[&(key.len() as u16).to_le_bytes(), key, records],
                    );
                }
                rest.is_empty().then_some(())
            }
            MET => {
                let (met, rest) = rest.as_chunks::<MET_BYTES>();
                for record in met {
                    let (owner, variable) = self.place(worker, word(&record[..4]))?;
                    self.passage.piles.put(owner, &[MET], &[&variable.to_le_bytes(), &record[4..]]);
                }
                rest.is_empty().then_some(())
            }
            EDGES => {
                let (edges, rest) = rest.as_chunks::<8>();
                for edge in edges {
                    let (owner, on) = self.place(worker, word(&edge[..4]))?;
                    let (other, number) = self.before.unpack(word(&edge[4..]));
                    let (other, number) = self.place(other, number)?;
                    let dependant = self.now.pack(other, number);
                    self.passage.piles.put(owner, &[EDGES], &[&on.to_le_bytes(), &dependant.to_le_bytes()]);
                }
                rest.is_empty().then_some(())
            }
            VALUES => {
                let (values, rest) = rest.as_chunks::<8>();
                for value in values {
                    let (other, number) = self.before.unpack(word(&value[..4]));
                    let (owner, dependant) = self.place(other, number)?;
                    self.passage.piles.put(owner, &[VALUES], &[&dependant.to_le_bytes(), &value[4..]]);
                }
                rest.is_empty().then_some(())
            }
            HEAD => self.join(from_bytes(rest).ok()?),
            _ => None,
        }
    }

    /// What was counted goes to the first.
    fn close(&mut self) {
        for owner in 0..self.peers {
            self.passage.piles.ready.push_back((owner, head_piece(&self.head)));
            self.head =
                Head { grants: self.head.grants.clone(), next_rank: self.head.next_rank, ..Head::default() };
        }
        self.places = Vec::new();
    }
}
