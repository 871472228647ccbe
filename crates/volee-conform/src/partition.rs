//! One worker's part of making a complete test graph: the determinised product, spread over workers, and
//! backwards from acceptance (Joubert and Mateescu 2006, sections 3.2 and 4.2).
//!
//! The report distributes the resolution of Y (acceptance can be reached) over the raw product and
//! determinises the diagnostic afterwards, on one machine. Here the product is determinised first, as in
//! [`crate::direct`], so that what is spread is a fiftieth as large, and all of it is spread: a worker owns
//! meta-states. An action's target is sent to its owner as the states that the action leads to, *not* closed
//! under internal steps: the owner closes them, so each worker explores only the states of its own
//! meta-states. Each state has a home, which some of its bytes decide, those for which most steps stay at
//! home ([`Spread`]); the purpose has no say, so that meta-states over the same states of the specification
//! meet at one worker. The owner of a set is where most of its states are at home. The same set is sent to
//! its owner once; after that a number stands for it, and it is not closed again. The owner keeps the step
//! backwards, and when a meta-state leads to acceptance (Y is true), all who have a step to it are told; this
//! is MB-DSOLVE for the one block that is needed, forwards and backwards at once, over when all is quiet.
//!
//! What arrives is only put aside, and closed as part of the work, in turn with what is expanded here: who
//! sends is told at once that it has arrived and goes on, and nobody is kept from sending by what has come.
//!
//! Two sets of seeds may have one closure but two owners. Then both are explored, with the same targets,
//! since these are sent again as seeds; a hash of the closure goes with each such node and
//! [`join`](crate::join()) makes one of them. An owner is the home of one of the seeds, and these are in the
//! closure, so that a closure all of whose states are at home with one worker is nowhere else and needs no
//! hash.

use std::collections::VecDeque;
use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use serde::{Deserialize, Serialize};
use volee_lts::PackedStates;
use volee_system::part::{Figures, Outbox, Packing, Part, PartError, Sample, Spread, Work};

use crate::sets::{Member, encode, put, take};
use crate::{ActionId, ConformError, Determinised, Kind, MetaId};

/// A packet of targets: the step, the number of the set among those that were sent there, how many members it
/// has, and each of them with the state of the purpose and the name of the state. Of a set that was sent
/// before, no members.
const TARGET: u8 = 1;
/// A packet of answers: the step, and the number of its target, which leads to acceptance.
const LEADS: u8 = 2;

const NONE: u32 = u32::MAX;

/// Where a step leads, as far as is known here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Target {
    /// Nowhere that leads to acceptance.
    Away,
    /// To acceptance.
    Accepted,
    /// To a meta-state that leads there: its worker and number.
    Inner(u16, u32),
}

#[derive(Debug, Clone, Copy)]
struct Step {
    action: ActionId,
    target: Target,
}

/// A step to one of our meta-states, and the one before.
#[derive(Debug, Clone, Copy)]
struct Backward {
    /// Whose, and which of its steps.
    step: u32,
    next: u32,
}

/// A packet of targets that waits.
struct Arrived {
    from: usize,
    bytes: Vec<u8>,
    /// How much of it is done.
    at: usize,
}

/// One worker's part.
pub struct Partition<'s> {
    product: Determinised<'s>,
    me: usize,
    peers: usize,
    packing: Packing,
    /// The number of the initial meta-state, where it is ours.
    root: Option<u32>,
    /// Meta-states before this one are expanded, in order.
    next: usize,
    /// Where the steps of each expanded meta-state start.
    rows: Vec<u32>,
    steps: Vec<Step>,
    /// For each meta-state its last step backwards.
    links: Vec<u32>,
    backward: Vec<Backward>,
    leads: Vec<bool>,
    /// Those whose sources do not know yet.
    leading: Vec<u32>,
    /// Steps of others that are known to lead to acceptance: whose, which, the number here or that of
    /// acceptance.
    replies: Vec<(usize, u32, u32)>,
    /// Targets that have come from elsewhere and wait.
    arrived: VecDeque<Arrived>,
    /// By worker the sets that were sent there.
    sent: Vec<PackedStates>,
    /// By worker what the sets are here that it has sent, once they have come.
    received: Vec<Vec<Option<MetaId>>>,
    /// Steps to sets that were sent before and have not come yet: packets may pass each other.
    early: HashMap<(usize, u32), Vec<u32>, FixedState>,
    gathered: Vec<(ActionId, Member)>,
    seeds: Vec<Member>,
    encoded: Vec<u8>,
    /// By worker how many of some states are at home there.
    votes: Vec<u32>,
}

/// What one worker has made.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct PartialTests {
    /// The visible actions met here, quiescence first.
    pub(crate) actions: Vec<(String, Kind)>,
    /// The initial meta-state, where it is ours and leads to acceptance.
    pub(crate) root: Option<u32>,
    /// Meta-states that lead to acceptance: the number, a hash of the set where others may have it too, and
    /// where their steps end in `steps`.
    pub(crate) nodes: Vec<(u32, Option<[u64; 2]>, u32)>,
    /// Action and target.
    pub(crate) steps: Vec<(u32, Target)>,
    /// Texts of labels that nobody sees.
    pub hidden: Vec<String>,
    /// Texts of the purpose that no label here has matched.
    pub unmatched: Vec<String>,
    pub(crate) specification: [u64; 2],
    pub(crate) metas: [u64; 2],
}

impl PartialTests {
    /// Whether no label that was met is an input or an output.
    pub fn sees_nothing(&self) -> bool {
        self.actions.len() <= 1
    }
}

impl<'s> Partition<'s> {
    /// The part of a worker; the owner of the initial meta-state begins with it.
    ///
    /// # Errors
    /// A limit, or the specification or the purpose makes no sense.
    pub fn new(mut product: Determinised<'s>, me: usize, peers: usize) -> Result<Self, PartError> {
        let seeds = product.seeds().map_err(part_error)?;
        if peers > 1 {
            let spread = spread(&mut product, &seeds, peers);
            product.specification_mut().spread_over(spread, peers);
        }
        let mut part = Partition {
            product,
            me,
            peers,
            packing: Packing::new(peers),
            root: None,
            next: 0,
            rows: vec![0],
            steps: Vec::new(),
            links: Vec::new(),
            backward: Vec::new(),
            leads: Vec::new(),
            leading: Vec::new(),
            replies: Vec::new(),
            arrived: VecDeque::new(),
            sent: (0..peers).map(|_| PackedStates::new()).collect(),
            received: vec![Vec::new(); peers],
            early: HashMap::default(),
            gathered: Vec::new(),
            seeds: Vec::new(),
            encoded: Vec::new(),
            votes: vec![0; peers],
        };
        if part.owner(&seeds) == me {
            let initial = part.product.close(&seeds).map_err(part_error)?;
            part.root = (!initial.is_end()).then_some(initial.0);
            part.grow()?;
        }
        Ok(part)
    }

    /// Whose the closure of these is: where most of them are at home, which is the same whoever asks.
    fn owner(&mut self, seeds: &[Member]) -> usize {
        if self.peers == 1 {
            return self.me;
        }
        let (votes, seen) = (&mut self.votes, self.product.specification());
        votes.fill(0);
        seeds.iter().for_each(|seed| votes[seen.home(seed.state())] += 1);
        // Of equals not always the first.
        let rank = |home: &usize| (votes[*home], (home + seeds.len()) % self.peers);
        (0..self.peers).max_by_key(rank).unwrap_or(0)
    }

    fn grow(&mut self) -> Result<(), PartError> {
        let count = self.product.meta_count();
        if count >= self.packing.bound() as usize || self.steps.len() >= self.packing.bound() as usize {
            return Err(PartError::Trouble("one worker has too many sets of states".into()));
        }
        self.links.resize(count, NONE);
        self.leads.resize(count, false);
        Ok(())
    }

    /// Notes that a step, whose is told, leads to a meta-state of ours.
    fn arrive(&mut self, meta: MetaId, from: usize, step: u32) -> Result<(), PartError> {
        if meta == MetaId::ACCEPTED {
            self.tell(from, step, NONE);
            return Ok(());
        }
        if meta.is_end() {
            return Ok(());
        }
        self.grow()?;
        if self.leads[meta.index()] {
            self.tell(from, step, meta.0);
        } else {
            let next = std::mem::replace(&mut self.links[meta.index()], self.backward.len() as u32);
            self.backward.push(Backward { step: self.packing.pack(from, step), next });
        }
        Ok(())
    }

    /// Tells a step where it leads.
    fn tell(&mut self, to: usize, step: u32, number: u32) {
        if to == self.me {
            self.learn(step, self.me, number);
        } else {
            self.replies.push((to, step, number));
        }
    }

    /// One of our steps leads to acceptance, by this meta-state or at once.
    fn learn(&mut self, step: u32, owner: usize, number: u32) {
        self.steps[step as usize].target =
            if number == NONE { Target::Accepted } else { Target::Inner(owner as u16, number) };
        let source = self.rows.partition_point(|start| *start <= step) - 1;
        if !std::mem::replace(&mut self.leads[source], true) {
            self.leading.push(source as u32);
        }
    }

    /// Tells all who have a step to a meta-state that leads to acceptance, and so on.
    fn spread(&mut self) {
        while let Some(meta) = self.leading.pop() {
            let mut link = std::mem::replace(&mut self.links[meta as usize], NONE);
            while link != NONE {
                let Backward { step, next } = self.backward[link as usize];
                let (to, step) = self.packing.unpack(step);
                self.tell(to, step, meta);
                link = next;
            }
        }
    }

    /// Makes the steps of the next meta-state.
    fn expand(&mut self, out: &mut Outbox) -> Result<(), PartError> {
        let mut gathered = std::mem::take(&mut self.gathered);
        self.product.gather(MetaId(self.next as u32), &mut gathered).map_err(part_error)?;
        self.next += 1;
        let first = self.steps.len();
        let groups = || gathered.chunk_by(|a, b| a.0 == b.0);
        self.steps.extend(groups().map(|same| Step { action: same[0].0, target: Target::Away }));
        self.rows.push(self.steps.len() as u32);
        for (at, same) in groups().enumerate() {
            let mut seeds = std::mem::take(&mut self.seeds);
            seeds.clear();
            seeds.extend(same.iter().map(|(_, member)| *member));
            self.follow((first + at) as u32, &seeds, out)?;
            self.seeds = seeds;
        }
        self.gathered = gathered;
        Ok(())
    }

    /// Finds the target of a step, here or elsewhere.
    fn follow(&mut self, step: u32, seeds: &[Member], out: &mut Outbox) -> Result<(), PartError> {
        let owner = self.owner(seeds);
        if owner == self.me {
            let meta = self.product.close(seeds).map_err(part_error)?;
            return self.arrive(meta, self.me, step);
        }
        let record = out.post(owner, TARGET);
        encode(seeds, &mut self.encoded);
        let sent = self.sent[owner].len() as u32;
        let set = self.sent[owner].insert(&self.encoded);
        put(step, record);
        put(set, record);
        put(if set < sent { 0 } else { seeds.len() as u32 }, record);
        if set == sent {
            for seed in seeds {
                put(u32::from(seed.purpose()), record);
                self.product.specification().name_of(seed.state(), record);
            }
        }
        Ok(())
    }

    /// Finds the target of the first step that has come from elsewhere; whether there was one.
    fn take_target(&mut self) -> Result<bool, PartError> {
        let Some(mut packet) = self.arrived.pop_front() else { return Ok(false) };
        let from = packet.from;
        let mut records = &packet.bytes[packet.at..];
        let mut word = || take(&mut records).ok_or_else(garbled);
        let (step, set, count) = (word()?, word()?, word()?);
        if count > 0 {
            let meta = self.take_set(count, &mut records)?;
            if set >= self.packing.bound() {
                return Err(garbled());
            }
            let received = &mut self.received[from];
            received.resize(received.len().max(set as usize + 1), None);
            received[set as usize] = Some(meta);
            self.arrive(meta, from, step)?;
            for step in self.early.remove(&(from, set)).unwrap_or_default() {
                self.arrive(meta, from, step)?;
            }
        } else {
            match self.received[from].get(set as usize) {
                Some(Some(meta)) => self.arrive(*meta, from, step)?,
                _ => self.early.entry((from, set)).or_default().push(step),
            }
        }
        packet.at = packet.bytes.len() - records.len();
        if packet.at < packet.bytes.len() {
            self.arrived.push_front(packet);
        }
        Ok(true)
    }

    /// Closes a set of this many members.
    fn take_set(&mut self, count: u32, records: &mut &[u8]) -> Result<MetaId, PartError> {
        let mut seeds = std::mem::take(&mut self.seeds);
        seeds.clear();
        for _ in 0..count {
            let purpose = take(records).ok_or_else(garbled)?;
            let state = self.product.specification_mut().named(records).map_err(part_error)?;
            seeds.push(Member::new(state, purpose as u16));
        }
        seeds.sort_unstable();
        let meta = self.product.close(&seeds).map_err(part_error)?;
        self.seeds = seeds;
        Ok(meta)
    }

    fn take_answers(&mut self, from: usize, mut records: &[u8]) -> Result<(), PartError> {
        while !records.is_empty() {
            let mut word = || take(&mut records).ok_or_else(garbled);
            let (step, number) = (word()?, word()?);
            if step as usize >= self.steps.len() {
                return Err(garbled());
            }
            // Acceptance is sent as 0, because it is short.
            self.learn(step, from, number.wrapping_sub(1));
        }
        Ok(())
    }

    /// A hash of the members of a meta-state that is the same on every worker, if another may have it too.
    fn hash(&self, meta: u32, members: &mut Vec<Member>, name: &mut Vec<u8>) -> Option<[u64; 2]> {
        let seen = self.product.specification();
        self.product.members(MetaId(meta), members);
        if self.peers == 1 || members.iter().all(|member| seen.home(member.state()) == self.me) {
            return None;
        }
        let (first, second) = (FixedState::default(), FixedState::with_seed(0x7465_7374));
        let mut sum = [0u64; 2];
        for member in members.iter() {
            name.clear();
            put(u32::from(member.purpose()), name);
            seen.name_of(member.state(), name);
            sum[0] = sum[0].wrapping_add(first.hash_one(name.as_slice()));
            sum[1] = sum[1].wrapping_add(second.hash_one(name.as_slice()));
        }
        Some(sum)
    }

    /// What was made here, once all is quiet.
    pub fn finish(self) -> PartialTests {
        let (mut members, mut name) = (Vec::new(), Vec::new());
        let mut made = PartialTests {
            root: self.root.filter(|root| self.leads[*root as usize]),
            unmatched: self.product.purpose().unmatched(),
            metas: [self.product.meta_count() as u64, self.steps.len() as u64],
            ..PartialTests::default()
        };
        for meta in (0..self.leads.len()).filter(|meta| self.leads[*meta]) {
            let hash = self.hash(meta as u32, &mut members, &mut name);
            for step in &self.steps[self.rows[meta] as usize..self.rows[meta + 1] as usize] {
                let input = self.product.specification().actions().is_input(step.action);
                if !input || step.target != Target::Away {
                    made.steps.push((step.action.0, step.target));
                }
            }
            made.nodes.push((meta as u32, hash, made.steps.len() as u32));
        }
        let seen = self.product.specification();
        made.specification = [seen.state_count() as u64, seen.transition_count() as u64];
        let actions = (0..seen.actions().len() as u32).map(|id| seen.actions().get(ActionId(id)));
        made.actions = actions.map(|action| (action.name.clone(), action.kind)).collect();
        let unseen = seen.labels().iter().filter(|label| label.action.is_none());
        made.hidden = unseen.map(|label| label.name.clone()).collect();
        made
    }
}

impl Part for Partition<'_> {
    fn receive(&mut self, from: usize, kind: u8, records: &[u8]) -> Result<(), PartError> {
        match kind {
            TARGET => {
                if !records.is_empty() {
                    self.arrived.push_back(Arrived { from, bytes: records.to_vec(), at: 0 });
                }
                Ok(())
            }
            LEADS => self.take_answers(from, records),
            _ => Err(garbled()),
        }
    }

    fn work(&mut self, quantum: usize, out: &mut Outbox) -> Result<Work, PartError> {
        // Meta-states differ: the first ones have hundreds of steps, each to a set that is closed here or
        // awaited elsewhere, so that what is counted is what their members cost.
        let enough = self.product.effort() + quantum as u64;
        while self.product.effort() < enough {
            let has_taken = self.take_target()?;
            if self.next < self.product.meta_count() {
                self.expand(out)?;
            } else if !has_taken {
                break;
            }
        }
        self.spread();
        for (to, step, number) in self.replies.drain(..) {
            let record = out.post(to, LEADS);
            put(step, record);
            put(number.wrapping_add(1), record);
        }
        let is_done = self.arrived.is_empty() && self.next == self.product.meta_count();
        Ok(if is_done { Work::Idle } else { Work::More })
    }

    fn next_stage(&mut self) -> Result<bool, PartError> {
        Ok(false)
    }

    fn figures(&self) -> Figures {
        let own = self.steps.capacity() * size_of::<Step>()
            + self.backward.capacity() * size_of::<Backward>()
            + self.links.capacity() * 9
            + self.replies.capacity() * 16
            + self.arrived.iter().map(|packet| packet.bytes.capacity()).sum::<usize>()
            + self.received.iter().map(|sets| sets.capacity() * 8).sum::<usize>();
        let sent: u64 = self.sent.iter().map(PackedStates::memory).sum();
        let seen = self.product.specification();
        Figures {
            states: seen.state_count() as u64,
            transitions: self.steps.len() as u64,
            expanded: self.next as u64,
            pending: (self.product.meta_count() - self.next + self.arrived.len()) as u64,
            memory: seen.memory() + self.product.memory() + own as u64 + sent,
        }
    }
}

/// How meta-states are spread over the workers: all look at the same sample and come to the same conclusion.
fn spread(product: &mut Determinised<'_>, seeds: &[Member], peers: usize) -> Spread {
    let seen = product.specification_mut();
    let starts: Vec<Vec<u8>> = seeds.iter().map(|seed| seen.bytes_of(seed.state()).to_vec()).collect();
    let sample = Sample::walk(&starts, 0, |state, targets| seen.after(state, targets));
    sample.map_or(Spread::EVEN, |sample| sample.spread(peers))
}

fn part_error(error: ConformError) -> PartError {
    match error {
        ConformError::Limit(limit) => PartError::Limit(limit),
        other => PartError::Trouble(other.to_string()),
    }
}

fn garbled() -> PartError {
    PartError::Defect("a worker sent what no worker sends".into())
}
