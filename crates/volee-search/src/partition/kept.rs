//! A part on its way to a file and back, also to more or fewer workers than before.
//!
//! A part is handed out in pieces of one kind each: states in the order of their numbers, with their parents
//! and what is known of them; the numbers of those that wait; transitions; and, once, what is no matter of
//! single states. A piece begins with its kind. In a file each stands behind the number of its worker, those
//! of different workers in any order.
//!
//! Whoever goes on reads the file twice ([`Sorting`](super::Sorting)): once to give each state a worker and a number there,
//! once to send each piece of knowledge to whom it belongs now; a part gets what it would have handed out
//! itself.

use serde::{Deserialize, Serialize};
use volee_store::Visited as _;
use volee_store::checkpoint::{from_bytes, to_bytes};
use volee_store::handed::{Out, word};
use volee_system::part::{Figures, Keepable, Level, Levels, Outbox, Part, PartError, Work};
use volee_system::{Flow, System};

use super::cycles::Round;
use super::{Cycles, Partition, garbled, owner};
use crate::questions::Finding;

/// A piece of states: bytes of what is known of each, then parent, length, state, what is known.
pub(super) const STATES: u8 = 0;
/// A piece of those that wait: number, level.
pub(super) const WAITING: u8 = 1;
/// A piece of transitions: target, source, who moves.
pub(super) const EDGES: u8 = 2;
/// What is no matter of single states.
pub(super) const HEAD: u8 = 3;
/// Bytes of what is known of a state: how many transitions leave it, who can move in it, bits.
const LEAVING: usize = 4;
const ENABLED: usize = 32;
/// Bytes of a transition.
pub(super) const EDGE: usize = 9;

/// What a search remembers beside its states and findings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remembered {
    /// The letters met; none where not everything was looked at.
    pub letters: Option<Vec<u64>>,
    /// How often a persistent set stood for all steps.
    pub reduced: u64,
}

impl Default for Remembered {
    fn default() -> Self {
        Remembered { letters: Some(Vec::new()), reduced: 0 }
    }
}

impl Remembered {
    /// What both know.
    #[must_use]
    pub fn with(self, other: Remembered) -> Self {
        let letters = self.letters.zip(other.letters).map(|(mut all, more)| {
            all.extend(more);
            all.sort_unstable();
            all.dedup();
            all
        });
        Remembered { letters, reduced: self.reduced + other.reduced }
    }
}

/// What a worker knows that is no matter of single states.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Head {
    pub transitions: u64,
    pub findings: Vec<Finding>,
    pub remembered: Remembered,
    pub round: Option<Round>,
}

/// What a part has got so far of what it goes on from.
#[derive(Default)]
pub(super) struct Coming {
    waiting: Vec<(u32, Level)>,
    /// What the search for cycles knows of states.
    flags: Vec<u8>,
    pub round: Option<Round>,
    has_head: bool,
}

impl<S: System + ?Sized> Partition<'_, '_, S> {
    /// What was remembered before this search went on.
    pub fn remembered_before(&self) -> Remembered {
        self.before.clone()
    }

    /// Has what a system remembers handed out with the rest.
    #[must_use]
    pub fn remembering(self, remembers: fn(&S) -> Remembered) -> Self {
        Partition { remembers, ..self }
    }

    /// Hands out all pieces.
    pub(super) fn pieces(&mut self, cycles: Option<&Cycles>, piece: &mut dyn FnMut(Vec<u8>) -> Flow) -> Flow {
        let flags = cycles.map(Cycles::flags).unwrap_or_default();
        let is_fair = self.is_fair;
        let known = match (self.edges.is_some() || cycles.is_some(), is_fair) {
            (false, _) => 0,
            (true, fair) => LEAVING + if fair { ENABLED } else { 0 } + usize::from(cycles.is_some()),
        };
        let mut out = Out::new(&[STATES, known as u8], piece);
        for at in 0..self.names.len() {
            self.tree.load(self.names[at], &mut self.state);
            out.open.extend_from_slice(&self.parents[at].to_le_bytes());
            out.open.extend_from_slice(&(self.state.len() as u32).to_le_bytes());
            out.open.extend_from_slice(&self.state);
            let (leaving, enabled) = match (cycles, &self.edges) {
                (Some(cycles), _) => (cycles.leaving(at), cycles.enabled(at)),
                (None, Some(edges)) => {
                    let leaving = edges.leaving.get(at).copied().unwrap_or(0);
                    (leaving, edges.enabled.get(at).copied().unwrap_or_default())
                }
                (None, None) => (0, [0; 4]),
            };
            if known > 0 {
                out.open.extend_from_slice(&leaving.to_le_bytes());
            }
            if known >= LEAVING + ENABLED {
                enabled.iter().for_each(|word| out.open.extend_from_slice(&word.to_le_bytes()));
            }
            out.open.extend(flags.get(at));
            out.close_if_full()?;
        }
        out.begin(&[WAITING])?;
        for (number, level) in self.levels.waiting() {
            out.open.extend_from_slice(&number.to_le_bytes());
            out.open.extend_from_slice(&level.to_le_bytes());
            out.close_if_full()?;
        }
        out.begin(&[EDGES])?;
        let kept = self.edges.iter().flat_map(|edges| {
            let all = edges.all.iter().enumerate();
            all.map(|(at, (target, source))| (*target, *source, edges.movers.get(at).copied().unwrap_or(0)))
        });
        let of_cycles = cycles.into_iter().flat_map(|cycles| {
            let to = |at: usize| cycles.sources(at).map(move |(source, mover)| (at as u32, source, mover));
            (0..self.names.len()).flat_map(to)
        });
        for (target, source, mover) in kept.chain(of_cycles) {
            out.open.extend_from_slice(&target.to_le_bytes());
            out.open.extend_from_slice(&source.to_le_bytes());
            out.open.push(mover);
            out.close_if_full()?;
        }
        let head = Head {
            transitions: self.transitions,
            findings: self.questions.findings(None),
            remembered: self.before.clone().with((self.remembers)(&*self.system)),
            round: cycles.map(Cycles::round),
        };
        out.end(head_piece(&head))
    }

    /// Takes one of the pieces that this part goes on from.
    ///
    /// # Errors
    /// It makes no sense here, or a limit.
    pub fn take_piece(&mut self, piece: &[u8]) -> Result<(), PartError> {
        let (kind, rest) = piece.split_first().ok_or_else(garbled)?;
        match *kind {
            STATES => self.take_kept_states(rest),
            WAITING => {
                let (waiting, rest) = rest.as_chunks::<8>();
                self.coming.waiting.extend(waiting.iter().map(|both| {
                    let (number, level) = both.split_at(4);
                    (word(number), word(level))
                }));
                if rest.is_empty() { Ok(()) } else { Err(garbled()) }
            }
            EDGES => {
                let (edges, rest) = rest.as_chunks::<EDGE>();
                let own = self.edges.as_mut().filter(|_| rest.is_empty()).ok_or_else(garbled)?;
                edges.iter().for_each(|edge| own.known(word(&edge[..4]), word(&edge[4..8]), edge[8]));
                Ok(())
            }
            HEAD => {
                let head: Head = from_bytes(rest).map_err(|_| garbled())?;
                self.transitions = head.transitions;
                self.before = head.remembered;
                self.coming.round = head.round;
                self.coming.has_head = true;
                if self.questions.restore(head.findings) { Ok(()) } else { Err(garbled()) }
            }
            _ => Err(garbled()),
        }
    }

    fn take_kept_states(&mut self, records: &[u8]) -> Result<(), PartError> {
        let mut states = States::of(records).ok_or_else(garbled)?;
        let own = if self.edges.is_some() { LEAVING } else { 0 } + if self.is_fair { ENABLED } else { 0 };
        if states.known != own && (states.known != own + 1 || own == 0) {
            return Err(garbled());
        }
        while !states.rest.is_empty() {
            let (parent, state, known) = states.next().ok_or_else(garbled)?;
            if owner(&self.spread, state, self.peers) != self.me {
                return Err(garbled());
            }
            let at = self.names.len();
            let name = self.tree.name(state);
            self.make_room(1)?;
            if !self.visited.insert(name) {
                return Err(garbled());
            }
            self.names.push(name);
            self.parents.push(parent);
            if let Some(edges) = &mut self.edges {
                edges.add(name, None);
                let mut enabled = [0; 4];
                if self.is_fair {
                    let words = known[LEAVING..LEAVING + ENABLED].as_chunks::<8>().0;
                    enabled.iter_mut().zip(words).for_each(|(to, word)| *to = u64::from_le_bytes(*word));
                }
                edges.leave(at, state, word(&known[..LEAVING]), enabled);
                self.coming.flags.extend(&known[own..]);
            }
        }
        self.settle()
    }

    /// All pieces were taken.
    ///
    /// # Errors
    /// They do not fit together.
    pub fn restored(&mut self) -> Result<(), PartError> {
        let states = self.names.len();
        let Coming { waiting, flags, round, has_head } = &mut self.coming;
        let has = |number: &u32| (*number as usize) < states;
        let edges = self.edges.as_ref().is_none_or(|edges| edges.all.iter().all(|(target, _)| has(target)));
        let known = if round.is_some() { states } else { 0 };
        if !*has_head || !edges || flags.len() != known || !waiting.iter().all(|(number, _)| has(number)) {
            return Err(garbled());
        }
        self.levels = Levels::of(std::mem::take(waiting));
        Ok(())
    }

    /// The end of the search for what finite runs show: the part that looks for cycles among the states that
    /// were found. All workers must run theirs; [`Partition::finish`] gets what came out.
    pub fn cycles(&mut self) -> Circling<'_, Self> {
        let mut cycles = self.take_cycles();
        if let Some(round) = self.coming.round.take() {
            cycles.restore(round, &std::mem::take(&mut self.coming.flags));
        }
        Circling { part: self, cycles }
    }
}

/// The search for cycles beside the states that it is about.
pub struct Circling<'p, P> {
    part: &'p mut P,
    cycles: Cycles,
}

impl<P> Circling<'_, P> {
    /// A state of ours from which an accepted cycle is reached; nothing if there is none.
    pub fn found(&self) -> Option<u32> {
        self.cycles.found()
    }
}

impl<S: System + ?Sized> Part for Circling<'_, Partition<'_, '_, S>> {
    fn receive(&mut self, from: usize, kind: u8, records: &[u8]) -> Result<(), PartError> {
        self.cycles.receive(from, kind, records)
    }

    fn work(&mut self, quantum: usize, out: &mut Outbox) -> Result<Work, PartError> {
        self.cycles.work(quantum, out)
    }

    fn next_stage(&mut self) -> Result<bool, PartError> {
        self.cycles.next_stage()
    }

    fn figures(&self) -> Figures {
        self.cycles.figures()
    }

    fn can_be_kept(&self) -> Keepable {
        if self.cycles.tells() { Keepable::Later } else { Keepable::Now }
    }

    fn hand_out(&mut self, piece: &mut dyn FnMut(Vec<u8>) -> Flow) -> Flow {
        self.part.pieces(Some(&self.cycles), piece)
    }
}

pub(super) fn head_piece(head: &Head) -> Vec<u8> {
    let mut piece = vec![HEAD];
    piece.extend(to_bytes(head));
    piece
}

/// The records of a piece of states.
pub(super) struct States<'p> {
    /// Bytes of what is known of each.
    pub known: usize,
    pub rest: &'p [u8],
}

impl<'p> States<'p> {
    pub fn of(piece: &'p [u8]) -> Option<Self> {
        let (known, rest) = piece.split_first()?;
        Some(States { known: usize::from(*known), rest })
    }

    /// Parent, state, what is known of it.
    pub fn next(&mut self) -> Option<(u32, &'p [u8], &'p [u8])> {
        let (head, rest) = self.rest.split_first_chunk::<8>()?;
        let (parent, length) = head.split_at(4);
        let (state, rest) = rest.split_at_checked(word(length) as usize)?;
        let (known, rest) = rest.split_at_checked(self.known)?;
        self.rest = rest;
        Some((word(parent), state, known))
    }
}
