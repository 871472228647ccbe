//! Is the solution right, by the definition alone, when every worker knows only its own variables?
//!
//! The distributed twin of [`crate::certificate`]: it asks the same of each variable that the main one rests
//! on, and knows nothing of how the values were found. A variable's right-hand side is produced again. Where
//! all successors must have the variable's value, the owner of each is told so (*claim*), and checks value
//! and rank itself. Where one is enough, one of our own is taken if there is one; else the owners of all are
//! asked whether theirs would do (*ask*, *answer*), and the best is claimed. A claim makes its variable one
//! that must be confirmed as well. When everybody is idle and nothing is in flight, all that was claimed is
//! confirmed.
//!
//! What was claimed is the diagnostic ([`Confirmation::evidence`]): gathered in one place it is a certificate
//! for the sequential checker.

use std::collections::HashMap;

use volee_system::Limit;
use volee_system::part::{Figures, Outbox, Part, PartError, Work};

use super::partition::{Share, garbled, part_error};
use super::table::Solution;
use crate::certificate::CheckError;
use crate::graph::{BooleanGraph, Node, Operator, Sign};
use crate::variables::{Batch, Pushing};

/// Successors that are looked up together.
const TOGETHER: usize = 64;
/// A rank that is no bound, and the answer of a variable that does not support.
const NO_RANK: u32 = u32::MAX;

/// A packet of claims: length of the key, node, bound of the rank, value, key.
const CLAIM: u8 = 1;
/// A packet of questions: who asks, for which successor, then as a claim.
const ASK: u8 = 2;
/// A packet of answers: who asked, for which successor, rank.
const ANSWER: u8 = 3;

/// What is asked of a variable: this value, with a rank below this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Demand {
    value: bool,
    below: u32,
}

impl Demand {
    const BYTES: usize = 9;

    fn write(self, out: &mut Vec<u8>, key: &[u8], node: Node) {
        out.extend_from_slice(&(key.len() as u16).to_le_bytes());
        out.extend_from_slice(&node.to_le_bytes());
        out.extend_from_slice(&self.below.to_le_bytes());
        out.push(u8::from(self.value));
        out.extend_from_slice(key);
    }

    /// The demand, the node and the key at the start of `bytes`, and what follows.
    fn read(bytes: &[u8]) -> Option<(Self, Node, &[u8], &[u8])> {
        let (head, rest) = bytes.split_at_checked(Self::BYTES)?;
        let length = usize::from(u16::from_le_bytes([head[0], head[1]]));
        let node = Node::from_le_bytes([head[2], head[3]]);
        let below = u32::from_le_bytes([head[4], head[5], head[6], head[7]]);
        let (key, rest) = rest.split_at_checked(length)?;
        Some((Demand { value: head[8] == 1, below }, node, key, rest))
    }
}

/// A variable that waits for the answers of others.
#[derive(Debug, Clone, Copy)]
struct Choice {
    awaited: u32,
    best: Option<(u32, u32)>,
}

/// A variable whose right-hand side is in the batch.
#[derive(Debug, Clone, Copy)]
struct Examined {
    variable: u32,
    demand: Demand,
    block: u16,
    end: usize,
    choosing: bool,
}

/// One worker's part of the confirmation.
pub struct Confirmation<G> {
    graph: G,
    share: Share,
    signs: Vec<Sign>,
    solution: Solution,
    claimed: Vec<u64>,
    /// The claimed variables, in the order in which they were claimed; those from `next` on are not examined.
    order: Vec<u32>,
    next: usize,
    waiting: HashMap<u32, Choice>,
    /// Variables and which of their successors they chose.
    chosen: Vec<(u32, u32)>,
    /// Answers that are to be sent: to whom, for which of its variables, for which successor, rank.
    answers: Vec<(usize, u32, u32, u32)>,
    batch: Batch,
    examined: Vec<Examined>,
    found: Vec<Option<u32>>,
    /// Scratch space.
    place: Vec<u8>,
    edges: u64,
}

impl<G: BooleanGraph> Confirmation<G> {
    /// Confirms the value of the main variable, given the values of a share; its owner says which it is.
    ///
    /// # Errors
    /// The main variable is ours and has another value, or none.
    pub fn new(
        mut graph: G,
        solution: Solution,
        share: Share,
        value: Option<bool>,
    ) -> Result<Self, PartError> {
        graph.distrust();
        let (place, node) = graph.root().map_err(|trouble| part_error(trouble.into()))?;
        let signs = graph.blocks().to_vec();
        let claimed = vec![0; solution.len().div_ceil(64)];
        let mut part = Confirmation {
            graph,
            share,
            signs,
            solution,
            claimed,
            order: Vec::new(),
            next: 0,
            waiting: HashMap::new(),
            chosen: Vec::new(),
            answers: Vec::new(),
            batch: Batch::default(),
            examined: Vec::new(),
            found: Vec::new(),
            place: Vec::new(),
            edges: 0,
        };
        let mut scratch = Vec::new();
        let (owner, key, node) = part.solution.variables().owner_of(&place, node, &mut scratch);
        if owner == usize::from(share.me) {
            let tag = part.solution.variables().tag(key);
            let found = part.solution.variables().find_key(key, tag, node);
            let value = value.ok_or_else(|| defect(&CheckError::Uncovered))?;
            part.claim(found, Demand { value, below: NO_RANK })?;
        }
        Ok(part)
    }

    /// The rank of a variable, if it supports what is asked of it.
    fn rank_for(&self, found: Option<u32>, demand: Demand) -> Option<u32> {
        let (value, rank) = self.solution.value(found?)?;
        (value == demand.value && rank < demand.below).then_some(rank)
    }

    fn claim(&mut self, found: Option<u32>, demand: Demand) -> Result<(), PartError> {
        let unsupported = || defect(&CheckError::Unsupported(demand.value));
        let found = found.ok_or_else(|| defect(&CheckError::Uncovered))?;
        self.rank_for(Some(found), demand).ok_or_else(unsupported)?;
        let (word, bit) = (found as usize / 64, 1 << (found % 64));
        if self.claimed[word] & bit == 0 {
            self.claimed[word] |= bit;
            self.order.push(found);
        }
        Ok(())
    }

    /// Produces right-hand sides of claimed variables until enough successors are known.
    fn gather(&mut self) -> Result<(), PartError> {
        self.batch.clear();
        self.examined.clear();
        while self.next < self.order.len() && self.batch.len() < TOGETHER {
            let variable = self.order[self.next];
            self.next += 1;
            self.produce(variable)?;
        }
        self.edges += self.batch.len() as u64;
        Ok(())
    }

    /// Puts a right-hand side into the batch, unless constants alone say that it supports its variable.
    fn produce(&mut self, variable: u32) -> Result<(), PartError> {
        let (value, rank) = self.solution.value(variable).ok_or_else(|| defect(&CheckError::Uncovered))?;
        let node = self.solution.variable(variable, &mut self.place);
        let (operator, block) = self.graph.equation(&self.place, node);
        let choosing = value == operator.deciding();
        let needs_rank = value != self.signs[usize::from(block)].default_value();
        let pushing = self
            .batch
            .push(&mut self.graph, self.solution.variables(), variable, operator)
            .map_err(part_error)?;
        match (pushing, choosing) {
            (Pushing::Decided, true) => return Ok(()),
            (Pushing::Decided, false) => return Err(defect(&CheckError::Unsupported(value))),
            (Pushing::Open, _) => {}
        }
        let demand = Demand { value, below: if needs_rank { rank } else { NO_RANK } };
        self.examined.push(Examined { variable, demand, block, end: self.batch.len(), choosing });
        Ok(())
    }

    /// What a variable asks of its `at`-th successor: a rank matters within a block only.
    fn demand_of(&self, examined: &Examined, at: usize) -> Demand {
        let same = || {
            let (_, block): (Operator, u16) = self.batch.equation(&self.graph, self.solution.variables(), at);
            block == examined.block
        };
        if examined.demand.below != NO_RANK && same() {
            return examined.demand;
        }
        Demand { below: NO_RANK, ..examined.demand }
    }

    /// Looks up those successors that are ours.
    fn look_up(&mut self) {
        self.found.clear();
        for at in 0..self.batch.len() {
            if self.batch.owner(at) != usize::from(self.share.me) {
                self.found.push(None);
                continue;
            }
            let mut scratch = [0; 4];
            let (tag, key, node) = self.batch.item(at, &mut scratch);
            let found = self.solution.variables().find_key(key, tag, node);
            if let Some(found) = found {
                self.solution.prefetch(found);
            }
            self.found.push(found);
        }
    }

    /// Claims or asks for the successors of all that were gathered.
    fn settle(&mut self, out: &mut Outbox) -> Result<(), PartError> {
        let mut begin = 0;
        for i in 0..self.examined.len() {
            let examined = self.examined[i];
            if examined.choosing {
                self.choose(examined, begin, out)?;
            } else {
                for at in begin..examined.end {
                    self.demand(&examined, at, out)?;
                }
            }
            begin = examined.end;
        }
        Ok(())
    }

    /// Claims one successor.
    fn demand(&mut self, examined: &Examined, at: usize, out: &mut Outbox) -> Result<(), PartError> {
        let (demand, owner) = (self.demand_of(examined, at), self.batch.owner(at));
        if owner == usize::from(self.share.me) {
            return self.claim(self.found[at], demand);
        }
        let mut scratch = [0; 4];
        let (_, key, node) = self.batch.item(at, &mut scratch);
        demand.write(out.post(owner, CLAIM), key, node);
        Ok(())
    }

    /// Claims one successor of our own, or asks the others.
    fn choose(&mut self, examined: Examined, begin: usize, out: &mut Outbox) -> Result<(), PartError> {
        let mut best: Option<(u32, usize)> = None;
        let mut others = 0;
        for at in begin..examined.end {
            if self.batch.owner(at) != usize::from(self.share.me) {
                others += 1;
                continue;
            }
            let demand = self.demand_of(&examined, at);
            if let Some(rank) = self.rank_for(self.found[at], demand) {
                // A successor of a later block rests on nothing here, so it is the better support.
                let rank = if demand == examined.demand { rank } else { 0 };
                if best.is_none_or(|(least, _)| rank < least) {
                    best = Some((rank, at));
                }
            }
        }
        if let Some((_, at)) = best {
            return self.demand(&examined, at, out);
        }
        if others == 0 {
            return Err(defect(&CheckError::Unsupported(examined.demand.value)));
        }
        for at in begin..examined.end {
            let owner = self.batch.owner(at);
            if owner != usize::from(self.share.me) {
                let demand = self.demand_of(&examined, at);
                let mut scratch = [0; 4];
                let (_, key, node) = self.batch.item(at, &mut scratch);
                let record = out.post(owner, ASK);
                record.extend_from_slice(&examined.variable.to_le_bytes());
                record.extend_from_slice(&((at - begin) as u32).to_le_bytes());
                demand.write(record, key, node);
            }
        }
        self.waiting.insert(examined.variable, Choice { awaited: others, best: None });
        Ok(())
    }

    /// Claims the successor that a variable has chosen after asking.
    fn claim_chosen(&mut self, variable: u32, ordinal: u32, out: &mut Outbox) -> Result<(), PartError> {
        self.batch.clear();
        self.examined.clear();
        self.produce(variable)?;
        let examined = self.examined.first().copied();
        let within = examined.filter(|e| (ordinal as usize) < e.end);
        let examined = within.ok_or_else(garbled)?;
        self.look_up();
        self.demand(&examined, ordinal as usize, out)
    }

    /// Checks and claims what others rest on: many at a time, so that memory fetches several table lines at
    /// once.
    fn take_claims(&mut self, mut records: &[u8]) -> Result<(), PartError> {
        let mut claims: Vec<(u32, &[u8], Node, Demand)> = Vec::with_capacity(TOGETHER);
        let mut found: Vec<Option<u32>> = Vec::with_capacity(TOGETHER);
        while !records.is_empty() {
            while claims.len() < TOGETHER && !records.is_empty() {
                let (demand, node, key, rest) = Demand::read(records).ok_or_else(garbled)?;
                claims.push((self.admitted(key, node)?, key, node, demand));
                records = rest;
            }
            for &(tag, key, node, _) in &claims {
                let variable = self.solution.variables().find_key(key, tag, node);
                if let Some(variable) = variable {
                    self.solution.prefetch(variable);
                }
                found.push(variable);
            }
            for (variable, (.., demand)) in found.drain(..).zip(claims.drain(..)) {
                self.claim(variable, demand)?;
            }
        }
        Ok(())
    }

    /// The tag of a key that somebody has sent; its line is on its way from memory then.
    fn admitted(&self, key: &[u8], node: Node) -> Result<u32, PartError> {
        let variables = self.solution.variables();
        let tag = variables.tag(key);
        let ours = variables.owner(key) == usize::from(self.share.me);
        if ours && variables.admits(key, tag, node) { Ok(tag) } else { Err(garbled()) }
    }

    fn find(&self, key: &[u8], node: Node) -> Result<Option<u32>, PartError> {
        let tag = self.admitted(key, node)?;
        Ok(self.solution.variables().find_key(key, tag, node))
    }

    fn take_questions(&mut self, from: usize, mut records: &[u8]) -> Result<(), PartError> {
        while !records.is_empty() {
            let (asker, rest) = read_u32(records)?;
            let (ordinal, rest) = read_u32(rest)?;
            let (demand, node, key, rest) = Demand::read(rest).ok_or_else(garbled)?;
            let rank = self.rank_for(self.find(key, node)?, demand).unwrap_or(NO_RANK);
            self.answers.push((from, asker, ordinal, rank));
            records = rest;
        }
        Ok(())
    }

    fn take_answers(&mut self, mut records: &[u8]) -> Result<(), PartError> {
        while !records.is_empty() {
            let (variable, rest) = read_u32(records)?;
            let (ordinal, rest) = read_u32(rest)?;
            let (rank, rest) = read_u32(rest)?;
            let choice = self.waiting.get_mut(&variable).ok_or_else(garbled)?;
            if rank != NO_RANK && choice.best.is_none_or(|best| (rank, ordinal) < best) {
                choice.best = Some((rank, ordinal));
            }
            choice.awaited -= 1;
            if choice.awaited == 0 {
                let best = choice.best;
                self.waiting.remove(&variable);
                let value = self.solution.value(variable).is_some_and(|(value, _)| value);
                let (_, ordinal) = best.ok_or_else(|| defect(&CheckError::Unsupported(value)))?;
                self.chosen.push((variable, ordinal));
            }
            records = rest;
        }
        Ok(())
    }

    /// How many variables of ours the answer rests on.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether the answer rests on none of our variables.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// The variables that the answer rests on, each as length of place, node, rank and value, place.
    pub fn evidence(&self) -> Vec<u8> {
        let (mut bytes, mut place) = (Vec::new(), Vec::new());
        for &variable in &self.order {
            let node = self.solution.variable(variable, &mut place);
            let Some((value, rank)) = self.solution.value(variable) else { continue };
            bytes.extend_from_slice(&(place.len() as u16).to_le_bytes());
            bytes.extend_from_slice(&node.to_le_bytes());
            bytes.extend_from_slice(&(rank << 1 | u32::from(value)).to_le_bytes());
            bytes.extend_from_slice(&place);
        }
        bytes
    }

    /// The values that were confirmed.
    pub fn into_solution(self) -> Solution {
        self.solution
    }
}

/// The claims in what [`Confirmation::evidence`] gave: place, node, value, rank.
pub fn claims(mut bytes: &[u8]) -> impl Iterator<Item = (&[u8], Node, bool, u32)> {
    std::iter::from_fn(move || {
        let (head, rest) = bytes.split_at_checked(8)?;
        let (place, rest) = rest.split_at_checked(usize::from(u16::from_le_bytes([head[0], head[1]])))?;
        bytes = rest;
        let told = u32::from_le_bytes([head[4], head[5], head[6], head[7]]);
        Some((place, Node::from_le_bytes([head[2], head[3]]), told & 1 == 1, told >> 1))
    })
}

fn read_u32(bytes: &[u8]) -> Result<(u32, &[u8]), PartError> {
    let (head, rest) = bytes.split_first_chunk::<4>().ok_or_else(garbled)?;
    Ok((u32::from_le_bytes(*head), rest))
}

fn defect(error: &CheckError) -> PartError {
    match error {
        CheckError::Limit(limit) => PartError::Limit(limit.clone()),
        other => PartError::Defect(format!("the answer was not confirmed ({other})")),
    }
}

impl<G: BooleanGraph> Part for Confirmation<G> {
    fn receive(&mut self, from: usize, kind: u8, records: &[u8]) -> Result<(), PartError> {
        match kind {
            CLAIM => self.take_claims(records),
            ASK => self.take_questions(from, records),
            ANSWER => self.take_answers(records),
            _ => Err(garbled()),
        }
    }

    fn work(&mut self, quantum: usize, out: &mut Outbox) -> Result<Work, PartError> {
        for (to, asker, ordinal, rank) in self.answers.drain(..) {
            let record = out.post(to, ANSWER);
            for number in [asker, ordinal, rank] {
                record.extend_from_slice(&number.to_le_bytes());
            }
        }
        while let Some((variable, ordinal)) = self.chosen.pop() {
            self.claim_chosen(variable, ordinal, out)?;
        }
        let until = self.next.saturating_add(quantum);
        while self.next < self.order.len() {
            if self.next >= until {
                return Ok(Work::More);
            }
            self.gather()?;
            self.look_up();
            self.settle(out)?;
        }
        Ok(Work::Idle)
    }

    fn next_stage(&mut self) -> Result<bool, PartError> {
        match self.waiting.is_empty() {
            true => Ok(false),
            false => Err(garbled()),
        }
    }

    fn figures(&self) -> Figures {
        let own = self.claimed.capacity() * 8 + self.order.capacity() * 4 + self.waiting.len() * 24;
        Figures {
            states: self.order.len() as u64,
            transitions: self.edges,
            expanded: self.next as u64,
            pending: (self.order.len() - self.next) as u64,
            memory: (self.solution.bytes() + own) as u64,
        }
    }
}

/// The largest certificate that is gathered in one place, in variables.
pub const LARGEST_EVIDENCE: usize = 1 << 20;

/// The sequential checker's opinion of gathered evidence.
///
/// # Errors
/// There are too many variables.
pub fn assemble<'e>(
    graph: &dyn BooleanGraph,
    evidence: impl Iterator<Item = &'e [u8]>,
) -> Result<Solution, Limit> {
    Solution::assemble(graph, evidence.flat_map(claims))
}
