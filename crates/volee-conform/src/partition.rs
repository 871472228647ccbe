//! One worker's part of making a complete test graph: the determinised product, spread over workers, and
//! backwards from acceptance (Joubert and Mateescu 2006, sections 3.2 and 4.2).
//!
//! The report distributes the resolution of Y (acceptance can be reached) over the raw product and
//! determinises the diagnostic afterwards, on one machine. Here the product is determinised first, as in
//! [`crate::direct`], so that what is spread is a fiftieth as large, and all of it is spread: a worker owns
//! meta-states. An action's target is sent to its owner as the states that the action leads to, *not* closed
//! under internal steps: the owner closes them, so each worker explores only the states of its own
//! meta-states. Whose they are is decided by the least of these states alone, without the purpose, so that
//! meta-states over the same states of the specification meet at one worker; and by those of its bytes for
//! which most steps stay at home ([`Spread`]). The owner keeps the step backwards, and when a meta-state
//! leads to acceptance (Y is true), all who have a step to it are told; this is MB-DSOLVE for the one block
//! that is needed, forwards and backwards at once, over when all is quiet.
//!
//! Two sets of seeds may have one closure but two owners. Then both are explored, with the same targets,
//! since these are sent again as seeds; a hash of the closure goes with each node and [`join`](crate::join())
//! makes one of them.

use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use serde::{Deserialize, Serialize};
use volee_system::part::{Figures, Outbox, Packing, Part, PartError, Sample, Spread, Work};

use crate::sets::Member;
use crate::{ActionId, ConformError, Determinised, Kind, MetaId};

/// A packet of targets: the step, how many members, each with the state of the purpose and the name of the
/// state.
const TARGET: u8 = 1;
/// A packet of answers: the step, and the number of its target, which leads to acceptance.
const LEADS: u8 = 2;

const NONE: u32 = u32::MAX;
/// The quantum of a driver is meant for states; a meta-state has many.
const STATES_PER_META: usize = 16;

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

/// One worker's part.
pub struct Partition<'s> {
    product: Determinised<'s>,
    me: usize,
    peers: usize,
    packing: Packing,
    spread: Spread,
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
    gathered: Vec<(ActionId, Member)>,
    seeds: Vec<Member>,
    name: Vec<u8>,
}

/// What one worker has made.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct PartialTests {
    /// The visible actions met here, quiescence first.
    pub(crate) actions: Vec<(String, Kind)>,
    /// The initial meta-state, where it is ours and leads to acceptance.
    pub(crate) root: Option<u32>,
    /// Meta-states that lead to acceptance: the number, a hash of the set, and where their steps end in
    /// `steps`.
    pub(crate) nodes: Vec<(u32, [u64; 2], u32)>,
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
        let spread = if peers == 1 { Spread::EVEN } else { spread(&mut product, &seeds, peers) };
        let mut part = Partition {
            product,
            me,
            peers,
            packing: Packing::new(peers),
            spread,
            root: None,
            next: 0,
            rows: vec![0],
            steps: Vec::new(),
            links: Vec::new(),
            backward: Vec::new(),
            leads: Vec::new(),
            leading: Vec::new(),
            replies: Vec::new(),
            gathered: Vec::new(),
            seeds: Vec::new(),
            name: Vec::new(),
        };
        if part.owner(&seeds) == me {
            let initial = part.product.close(&seeds).map_err(part_error)?;
            part.root = (!initial.is_end()).then_some(initial.0);
            part.grow()?;
        }
        Ok(part)
    }

    /// Whose the closure of these is.
    fn owner(&self, seeds: &[Member]) -> usize {
        let seen = self.product.specification();
        let least = seeds.iter().map(|seed| seen.bytes_of(seed.state())).min();
        least.map_or(0, |least| self.spread.owner(least, self.peers))
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
        record.extend_from_slice(&step.to_le_bytes());
        record.extend_from_slice(&(seeds.len() as u32).to_le_bytes());
        for seed in seeds {
            record.extend_from_slice(&seed.purpose().to_le_bytes());
            self.product.specification().name_of(seed.state(), record);
        }
        Ok(())
    }

    fn take_targets(&mut self, from: usize, mut records: &[u8]) -> Result<(), PartError> {
        let mut seeds = std::mem::take(&mut self.seeds);
        while !records.is_empty() {
            let (step, rest) = word(records)?;
            let (count, mut rest) = word(rest)?;
            seeds.clear();
            for _ in 0..count {
                let (purpose, after) = rest.split_first_chunk::<2>().ok_or_else(garbled)?;
                let (state, after) = self.product.specification_mut().named(after).map_err(part_error)?;
                seeds.push(Member::new(state, u16::from_le_bytes(*purpose)));
                rest = after;
            }
            let meta = self.product.close(&seeds).map_err(part_error)?;
            self.arrive(meta, from, step)?;
            records = rest;
        }
        self.seeds = seeds;
        Ok(())
    }

    fn take_answers(&mut self, from: usize, mut records: &[u8]) -> Result<(), PartError> {
        while !records.is_empty() {
            let (step, rest) = word(records)?;
            let (number, rest) = word(rest)?;
            if step as usize >= self.steps.len() {
                return Err(garbled());
            }
            self.learn(step, from, number);
            records = rest;
        }
        Ok(())
    }

    /// A hash of the members of a meta-state that is the same on every worker.
    fn hash(&mut self, meta: u32) -> [u64; 2] {
        let mut members = Vec::new();
        self.product.members(MetaId(meta), &mut members);
        let (first, second) = (FixedState::default(), FixedState::with_seed(0x7465_7374));
        let mut sum = [0u64; 2];
        for member in members {
            self.name.clear();
            self.name.extend_from_slice(&member.purpose().to_le_bytes());
            self.product.specification().name_of(member.state(), &mut self.name);
            sum[0] = sum[0].wrapping_add(first.hash_one(self.name.as_slice()));
            sum[1] = sum[1].wrapping_add(second.hash_one(self.name.as_slice()));
        }
        sum
    }

    /// What was made here, once all is quiet.
    pub fn finish(mut self) -> PartialTests {
        let mut made = PartialTests {
            root: self.root.filter(|root| self.leads[*root as usize]),
            unmatched: self.product.purpose().unmatched(),
            metas: [self.product.meta_count() as u64, self.steps.len() as u64],
            ..PartialTests::default()
        };
        for meta in (0..self.leads.len()).filter(|meta| self.leads[*meta]).collect::<Vec<_>>() {
            let hash = self.hash(meta as u32);
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
            TARGET => self.take_targets(from, records),
            LEADS => self.take_answers(from, records),
            _ => Err(garbled()),
        }
    }

    fn work(&mut self, quantum: usize, out: &mut Outbox) -> Result<Work, PartError> {
        let until = self.next + quantum.div_ceil(STATES_PER_META);
        while self.next < self.product.meta_count() && self.next < until {
            self.expand(out)?;
        }
        self.spread();
        for (to, step, number) in self.replies.drain(..) {
            let record = out.post(to, LEADS);
            record.extend_from_slice(&step.to_le_bytes());
            record.extend_from_slice(&number.to_le_bytes());
        }
        Ok(if self.next < self.product.meta_count() { Work::More } else { Work::Idle })
    }

    fn next_stage(&mut self) -> Result<bool, PartError> {
        Ok(false)
    }

    fn figures(&self) -> Figures {
        let own = self.steps.capacity() * size_of::<Step>()
            + self.backward.capacity() * size_of::<Backward>()
            + self.links.capacity() * 9
            + self.replies.capacity() * 16;
        let seen = self.product.specification();
        Figures {
            states: seen.state_count() as u64,
            transitions: self.steps.len() as u64,
            expanded: self.next as u64,
            pending: (self.product.meta_count() - self.next) as u64,
            memory: seen.memory() + self.product.memory() + own as u64,
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

fn word(bytes: &[u8]) -> Result<(u32, &[u8]), PartError> {
    let (head, rest) = bytes.split_first_chunk::<4>().ok_or_else(garbled)?;
    Ok((u32::from_le_bytes(*head), rest))
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
