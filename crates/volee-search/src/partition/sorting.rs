//! The file of a search by several workers: pieces as they came, and how they are sorted for others.
//!
//! The file is read twice: once to give each state a worker and a number there, once to send what is known to
//! whom it belongs now. In between only four bytes by state are in memory.

use std::path::Path;

use volee_store::checkpoint::{Damaged, Refused, from_bytes};
use volee_store::handed::{Handed, Passage, Supply, word};
use volee_system::part::{Packing, Spread};
use volee_system::{Meter, Witness};

use super::cycles::Round;
use super::kept::{EDGE, EDGES, HEAD, Head, STATES, States, WAITING, head_piece};
use super::{NONE, owner, too_many};
use crate::questions::Finding;

/// A file on its way to the workers that go on with it.
pub struct Sorting {
    passage: Passage,
    spread: Spread,
    peers: usize,
    before: Packing,
    now: Packing,
    /// By worker and number before: worker and number now, in one.
    places: Vec<Vec<u32>>,
    heads: Vec<Head>,
    /// How many states there are.
    pub states: u64,
}

impl Sorting {
    /// Opens a file that was looked at for this many workers, who spread states in this way.
    ///
    /// # Errors
    /// It is damaged, or there is no room for it.
    pub fn open(path: &Path, spread: Spread, peers: usize, meter: &Meter) -> Result<Self, Refused> {
        let mut file = Handed::open(path)?;
        let now = Packing::new(peers);
        let (mut places, mut next) = (vec![Vec::new(); file.workers], vec![0_u32; peers]);
        let mut count = 0;
        while let Some(worker) = file.next_worker()? {
            meter.check().map_err(Refused::Limit)?;
            if file.piece[0] != STATES {
                continue;
            }
            let mut states = States::of(&file.piece[1..]).ok_or(Damaged)?;
            while !states.rest.is_empty() {
                let (_, state, _) = states.next().ok_or(Damaged)?;
                let owner = owner(&spread, state, peers);
                if next[owner] >= now.bound() {
                    return Err(Refused::Limit(too_many(now)));
                }
                places[worker].push(now.pack(owner, next[owner]));
                next[owner] += 1;
                count += 1;
            }
            let needed = || format!("the file has more than {count} states");
            meter.check_memory(count * 4, needed).map_err(Refused::Limit)?;
        }
        Ok(Sorting {
            before: Packing::new(file.workers),
            passage: Passage::open(path, peers)?,
            spread,
            peers,
            now,
            places,
            heads: vec![Head::default(); peers],
            states: count,
        })
    }

    fn place(&self, worker: usize, number: u32) -> Option<(usize, u32)> {
        let packed = self.places.get(worker)?.get(number as usize)?;
        Some(self.now.unpack(*packed))
    }

    /// A state of some worker, named as it is now.
    fn named(&self, packed: u32) -> Option<u32> {
        if packed == NONE {
            return Some(NONE);
        }
        let (worker, number) = self.before.unpack(packed);
        self.places.get(worker)?.get(number as usize).copied()
    }

    /// Divides what one worker knew.
    fn divide(&mut self, worker: usize, head: Head) -> Option<()> {
        let mut heads = std::mem::take(&mut self.heads);
        let first = heads.first_mut()?;
        first.transitions += head.transitions;
        first.remembered = std::mem::take(&mut first.remembered).with(head.remembered);
        first.round = match (first.round, head.round) {
            (Some(one), Some(other)) => Some(one.joined(other)?),
            (one, other) => one.or(other),
        };
        for own in &mut heads {
            own.findings.resize(head.findings.len(), Finding::default());
        }
        for (question, finding) in head.findings.into_iter().enumerate() {
            let give = |owner: usize, part: Finding| heads[owner].findings[question].join(part);
            divide(finding, |number| self.place(worker, number), give)?;
        }
        self.heads = heads;
        Some(())
    }
}

impl Supply for Sorting {
    fn passage(&mut self) -> &mut Passage {
        &mut self.passage
    }

    fn sort(&mut self, worker: usize, piece: &[u8]) -> Option<()> {
        let (kind, rest) = piece.split_first()?;
        match *kind {
            STATES => {
                let mut states = States::of(rest)?;
                while !states.rest.is_empty() {
                    let (parent, state, known) = states.next()?;
                    let parent = self.named(parent)?.to_le_bytes();
                    let length = (state.len() as u32).to_le_bytes();
                    let owner = owner(&self.spread, state, self.peers);
                    self.passage.piles.put(
                        owner,
                        &[STATES, states.known as u8],
                        &[&parent, &length, state, known],
                    );
                }
            }
            WAITING => {
                let (waiting, rest) = rest.as_chunks::<8>();
                for both in waiting {
                    let (number, level) = both.split_at(4);
                    let (owner, number) = self.place(worker, word(number))?;
                    self.passage.piles.put(owner, &[WAITING], &[&number.to_le_bytes(), level]);
                }
                return rest.is_empty().then_some(());
            }
            EDGES => {
                let (edges, rest) = rest.as_chunks::<EDGE>();
                for edge in edges {
                    let (owner, target) = self.place(worker, word(&edge[..4]))?;
                    let source = self.named(word(&edge[4..8]))?;
                    self.passage.piles.put(
                        owner,
                        &[EDGES],
                        &[&target.to_le_bytes(), &source.to_le_bytes(), &edge[8..]],
                    );
                }
                return rest.is_empty().then_some(());
            }
            HEAD => {
                let head: Head = from_bytes(rest).ok()?;
                return self.divide(worker, head);
            }
            _ => return None,
        }
        Some(())
    }

    fn close(&mut self) {
        let round = self.heads.first().and_then(|first| first.round);
        for (owner, mut head) in std::mem::take(&mut self.heads).into_iter().enumerate() {
            if owner > 0 {
                head.round = round.map(Round::for_others);
            }
            self.passage.piles.ready.push_back((owner, head_piece(&head)));
        }
        self.places = Vec::new();
    }
}

/// Divides what was found by one worker among others: errors go to the first of them, a witness to whoever has
/// the state that it names, under its number there. `None` if there is no such state.
fn divide(
    finding: Finding,
    place: impl Fn(u32) -> Option<(usize, u32)>,
    mut give: impl FnMut(usize, Finding),
) -> Option<()> {
    give(0, Finding { errors: finding.errors, at_least: finding.at_least, ..Finding::default() });
    let moved = |witness: Witness| {
        let (owner, initial) = place(witness.initial)?;
        Some((owner, Witness { initial, ..witness }))
    };
    for (reason, witness) in finding.violations {
        let (owner, witness) = moved(witness)?;
        give(owner, Finding { violations: vec![(reason, witness)], ..Finding::default() });
    }
    if let Some(witness) = finding.reached {
        let (owner, witness) = moved(witness)?;
        give(owner, Finding { reached: Some(witness), ..Finding::default() });
    }
    Some(())
}
