//! Breadth-first resolution of the part of a system that belongs to one worker: MB-DSOLVE (Joubert & Mateescu 2006,
//! section 2.2). With one worker it is the sequential breadth-first strategy; with several, whoever drives the parts
//! (see [`volee_system::part`]) moves their messages, and this file knows nothing of how.
//!
//! Variables are owned by hash. Expanding x asks the owner of each successor y to note that x depends on y (*Exp*); when
//! y is stable, its owner tells the owner of x (*Evl*). So there are two traversals, forwards along dependencies and
//! backwards along the noted edges from what has become stable; stabilising comes first. The report's figure is
//! corrected in two points: a variable counts all its successors whatever its operator (a stable value of another block
//! may be neutral for any operator), and a variable whose successors are all neutral takes the neutral value of its
//! operator, not the default of its block.
//!
//! **Closing.** Expansion of all blocks runs at once, without regard to their order. Suppose that every part is idle and
//! no message is in flight. Then (1) every met variable is stable or expanded, and all successors of an expanded one are
//! met, by their owners; (2) every stable value has been told to all who depend on it, so an unstable variable has no
//! successor with a deciding value, and its count is the number of its unstable successors, at least one. Let M be the
//! last block that has an unstable variable anywhere. Blocks depend on later ones only, so the unstable successors of
//! its unstable variables are all in M. Giving all of them the default of M (mu false, nu true) satisfies their
//! equations: a disjunction has no true successor and may be false, a conjunction has no false one and at least one that
//! now becomes false (dually for nu); and since stable values are forced in every solution, this one is the least (or
//! greatest). So each part may close its own variables of M without asking anybody. The values spread, and when all is
//! quiet again the same holds for the block before. Parts agree on M by counting: they close one block per quiet moment,
//! from the last down to the main variable's, empty ones too. Nothing depends on variables of blocks before that, so
//! the last closing spreads nothing. A part may hear values of a closed block before it has closed the block itself:
//! they are the very default that it is about to give.
//!
//! **Ranks.** A worker numbers its variables as they become stable. Numbers travel with values, and a worker goes on
//! counting above the largest it has heard of (Lamport's clock), so whatever a variable rests on has a smaller rank,
//! wherever it is: a certificate assembled from several workers is one ([`super::confirm`]).
//!
//! Speed: successors pass through a pipeline of three stages. They are pushed, and their table lines start to be fetched;
//! 32 successors later they are looked up, and their records start to be fetched; another 32 later records are read and
//! dependencies noted. So memory works all the time. What others send passes through the same stages, 64 at a time.
//! Backward edges are walked 64 stable variables abreast. The pipeline is short at first, because a search that finds
//! its answer early should not have expanded much. An edge has eight bytes, whoever it leads to: the owner is packed
//! above the number.

use volee_system::Limit;
use volee_system::part::{Figures, Outbox, Part, PartError, Work};

use super::table::{Cell, Solution, narrow};
use super::{SolveError, Statistics};
use crate::graph::{BooleanGraph, Node, Operator, Sign};
use crate::memory::{Pieces, lengthen, push};
pub use crate::places::Share;
use crate::prefetch::prefetch;
use crate::variables::{Batch, Pushing, Variables};

const NONE: u32 = u32::MAX;
const MAXIMUM_IN_FLIGHT: usize = 64;
const FIRST_IN_FLIGHT: usize = 4;
/// The batch is emptied when it has this many successors.
const FULL: usize = 512;
/// Dependants told for each expansion that a quantum allows.
const TOLD_PER_EXPANSION: usize = 16;

const MET: u32 = 1 << 31;
const STABLE: u32 = 1 << 30;
const TRUE: u32 = 1 << 29;
const CONJUNCTION: u32 = 1 << 28;
const MAXIMUM_MISSING: u32 = CONJUNCTION - 1;
/// Ranks travel with a value in four bytes.
const MAXIMUM_RANK: u32 = (1 << 31) - 1;

/// A packet of dependencies: dependant, node, length of the key, key.
const EXPAND: u8 = 1;
/// A packet of values: dependant, rank and value.
const VALUE: u8 = 2;

/// What is kept per variable: eight bytes, because reading them is half of an edge's cost. The block is asked for again
/// in the rare case that it matters.
#[derive(Debug, Clone, Copy, Default)]
struct Record {
    /// Its first backward edge; once it is stable, its rank: nobody notes a dependency on a stable variable.
    link: u32,
    /// Flags, and how many successors have not been seen to be neutral.
    state: u32,
}

impl Record {
    fn met(operator: Operator) -> Self {
        let conjunction = if operator == Operator::And { CONJUNCTION } else { 0 };
        Record { link: NONE, state: MET | conjunction }
    }

    fn is_met(self) -> bool {
        self.state & MET != 0
    }

    fn operator(self) -> Operator {
        if self.state & CONJUNCTION != 0 { Operator::And } else { Operator::Or }
    }

    fn is_stable(self) -> bool {
        self.state & STABLE != 0
    }

    fn value(self) -> bool {
        self.state & TRUE != 0
    }

    /// What dependants are told of a stable variable.
    fn told(self) -> Told {
        Told(self.link << 1 | u32::from(self.value()))
    }
}

/// The rank and the value of a stable variable.
#[derive(Debug, Clone, Copy)]
struct Told(u32);

impl Told {
    fn value(self) -> bool {
        self.0 & 1 == 1
    }

    fn rank(self) -> u32 {
        self.0 >> 1
    }
}

/// A worker and a variable of it, in four bytes.
#[derive(Debug, Clone, Copy)]
struct Packing {
    shift: u32,
    mask: u32,
}

impl Packing {
    fn new(share: Share) -> Self {
        let bits = 16 - (share.peers.max(1) - 1).leading_zeros();
        Packing { shift: 32 - bits, mask: ((1u64 << (32 - bits)) - 1) as u32 }
    }

    #[inline]
    fn pack(self, owner: usize, variable: u32) -> u32 {
        ((owner as u64) << self.shift) as u32 | variable
    }

    #[inline]
    fn unpack(self, packed: u32) -> (usize, u32) {
        ((u64::from(packed) >> self.shift) as usize, packed & self.mask)
    }
}

/// An expanded variable and where its successors end in the batch.
struct Expanded {
    variable: u32,
    end: usize,
}

/// A dependency that was received: the tag of the successor, the place of its key in the packet, who depends.
struct Arrival {
    tag: u32,
    begin: usize,
    end: usize,
    node: Node,
    dependant: u32,
}

/// One worker's part of a resolution.
pub struct Partition<G> {
    graph: G,
    share: Share,
    packing: Packing,
    signs: Vec<Sign>,
    /// The main variable, where it is ours.
    root: Option<u32>,
    root_block: u16,
    variables: Variables,
    records: Vec<Record>,
    /// Backward edges: who depends, and the next edge.
    edges: Pieces<(u32, u32)>,
    /// Variables in the order in which they were met; those from `next` on are not expanded.
    queue: Vec<u32>,
    next: usize,
    /// The first backward edge and the value of stable variables whose dependants do not know yet.
    stable: Vec<(u32, Told)>,
    /// Variables of others that depend on ours which were stable already.
    replies: Vec<(u32, Told)>,
    next_rank: u32,
    batch: Batch,
    expanded: Vec<Expanded>,
    /// How many of the expanded ones have had their successors looked up, and their dependencies noted.
    looked_up: usize,
    connected: usize,
    /// The numbers of the successors that were looked up; of those that are not ours, nothing.
    found: Vec<u32>,
    arrivals: Vec<Arrival>,
    arrived: Vec<u32>,
    /// Edge and value of the stable variables whose dependants are being told.
    cursors: Vec<(u32, Told)>,
    told: Vec<(u32, Told)>,
    in_flight: usize,
    /// The unstable variables by block, once everything is explored; the last block is the next to be closed.
    open: Option<Vec<Vec<u32>>>,
    statistics: Statistics,
}

/// What a part leaves behind.
pub struct Outcome<G> {
    /// The graph it worked on.
    pub graph: G,
    /// The values of the variables it owns.
    pub solution: Solution,
    /// What it cost.
    pub statistics: Statistics,
    /// The value of the main variable, where this part owns it and it is stable.
    pub value: Option<bool>,
}

impl<G: BooleanGraph> Partition<G> {
    /// The part of a share; the owner of the main variable begins with it, the others with nothing.
    ///
    /// # Errors
    /// The graph has no main variable, or its blocks depend on each other in a cycle.
    pub fn new(mut graph: G, share: Share) -> Result<Self, SolveError> {
        if !graph.alternation_free() {
            return Err(SolveError::Alternating);
        }
        let signs = graph.blocks().to_vec();
        let (place, node) = graph.root()?;
        let (operator, root_block) = graph.equation(&place, node);
        let variables = Variables::shared(&graph, share);
        let mut records = Vec::new();
        lengthen(&mut records, variables.len());
        let mut part = Partition {
            graph,
            share,
            packing: Packing::new(share),
            signs,
            root: None,
            root_block,
            variables,
            records,
            edges: Pieces::new(),
            queue: Vec::new(),
            next: 0,
            stable: Vec::new(),
            replies: Vec::new(),
            next_rank: 0,
            batch: Batch::default(),
            expanded: Vec::new(),
            looked_up: 0,
            connected: 0,
            found: Vec::new(),
            arrivals: Vec::new(),
            arrived: Vec::new(),
            cursors: Vec::new(),
            told: Vec::new(),
            in_flight: FIRST_IN_FLIGHT,
            open: None,
            statistics: Statistics::default(),
        };
        let mut key = Vec::new();
        if part.variables.owner_of(&place, node, &mut key).0 == part.me() {
            let root = part.variables.insert(&place, node)?;
            part.make_records()?;
            part.records[root as usize] = Record::met(operator);
            part.queue.push(root);
            part.root = Some(root);
        }
        Ok(part)
    }

    #[inline]
    fn me(&self) -> usize {
        usize::from(self.share.me)
    }

    fn make_records(&mut self) -> Result<(), SolveError> {
        lengthen(&mut self.records, self.variables.len());
        if self.records.len() > self.packing.mask as usize {
            let message = format!("one worker has more than {} variables", self.packing.mask);
            return Err(SolveError::Limit(Limit::Other { message }));
        }
        Ok(())
    }

    #[inline]
    fn is_decided(&self) -> bool {
        self.root.is_some_and(|root| self.records[root as usize].is_stable())
    }

    /// Stabilises and expands, for about `quantum` expansions.
    ///
    /// # Errors
    /// A limit, or a right-hand side without meaning.
    pub fn advance(&mut self, quantum: usize, out: &mut Outbox) -> Result<Work, SolveError> {
        let until = self.statistics.expanded.saturating_add(quantum as u64);
        let mut tell = quantum.saturating_mul(TOLD_PER_EXPANSION);
        loop {
            let quiet = self.stabilise(&mut tell, out);
            if self.is_decided() {
                return Ok(Work::Decided);
            }
            if self.next == self.queue.len() && self.connected == self.expanded.len() && quiet {
                return Ok(Work::Idle);
            }
            if !quiet || self.statistics.expanded >= until {
                return Ok(Work::More);
            }
            if self.next_rank > MAXIMUM_RANK - (1 << 20) {
                let message = "more than 2146435072 variables were decided one after the other".into();
                return Err(SolveError::Limit(Limit::Other { message }));
            }
            self.round(out)?;
            self.in_flight = (self.in_flight * 2).min(MAXIMUM_IN_FLIGHT);
        }
    }

    /// Moves about as many successors as may be in flight one stage on.
    fn round(&mut self, out: &mut Outbox) -> Result<(), SolveError> {
        let enough = self.batch.len() + self.in_flight;
        while self.next < self.queue.len() && self.batch.len() < enough {
            self.expand()?;
            self.look_up(self.in_flight / 2, out)?;
            self.connect(self.in_flight)?;
        }
        if self.next == self.queue.len() || self.batch.len() > FULL {
            self.look_up(0, out)?;
            self.connect(0)?;
            self.batch.clear();
            self.found.clear();
            self.expanded.clear();
            (self.looked_up, self.connected) = (0, 0);
        }
        Ok(())
    }

    /// Pushes the right-hand side of the next variable and starts fetching the table slots of its successors. (No
    /// variable is stable before it was expanded.)
    #[inline]
    fn expand(&mut self) -> Result<(), SolveError> {
        let variable = self.queue[self.next];
        self.next += 1;
        if let Some(&ahead) = self.queue.get(self.next + 8) {
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
            self.expanded.push(Expanded { variable, end: self.batch.len() });
        }
        Ok(())
    }

    /// Finds the numbers of the successors that were pushed `behind` successors ago, and starts fetching their records.
    #[inline]
    fn look_up(&mut self, behind: usize, out: &mut Outbox) -> Result<(), SolveError> {
        while let Some(&Expanded { variable, end }) = self.expanded.get(self.looked_up)
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
                self.look_up_or_post(variable, range, out)?;
            }
            self.make_records()?;
            self.looked_up += 1;
        }
        Ok(())
    }

    /// Finds the numbers of those successors that are ours; tells the owners of the others who depends on them.
    fn look_up_or_post(
        &mut self,
        variable: u32,
        range: std::ops::Range<usize>,
        out: &mut Outbox,
    ) -> Result<(), SolveError> {
        let me = self.me();
        let mut scratch = [0; 4];
        for at in range {
            let (tag, key, node) = self.batch.item(at, &mut scratch);
            self.variables.announced(tag)?;
            let owner = self.variables.owner(tag);
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
            record.extend_from_slice(&head);
            record.extend_from_slice(key);
            self.found.push(NONE);
        }
        Ok(())
    }

    /// Notes the dependencies of the variables that were expanded `behind` successors ago.
    #[inline]
    fn connect(&mut self, behind: usize) -> Result<(), SolveError> {
        while self.connected < self.looked_up
            && self.expanded[self.connected].end + behind <= self.batch.len()
        {
            let begin = if self.connected == 0 { 0 } else { self.expanded[self.connected - 1].end };
            let Expanded { variable, end } = self.expanded[self.connected];
            for at in begin..end {
                self.depend(variable, at)?;
            }
            self.connected += 1;
        }
        Ok(())
    }

    /// Notes that a variable depends on the `at`-th one that was found.
    #[inline]
    fn depend(&mut self, variable: u32, at: usize) -> Result<(), SolveError> {
        let successor = self.found[at];
        if successor == NONE {
            return Ok(());
        }
        let record = &mut self.records[successor as usize];
        if !record.is_met() {
            let (operator, _) = self.batch.equation(&self.graph, &self.variables, at);
            *record = Record::met(operator);
            push(&mut self.queue, successor);
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

    #[inline]
    fn set(&mut self, variable: u32, value: bool) {
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
    fn apply(&mut self, variable: u32, told: Told) {
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

    /// Walks the backward edges of all stable variables, many abreast; `false` when `tell` dependants were told and
    /// there are more.
    fn stabilise(&mut self, tell: &mut usize, out: &mut Outbox) -> bool {
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
            let (dependant, next) = self.edges.get(edge as usize);
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

    /// Gives the default of the next block to its unstable variables; `false` when the main variable's block is closed.
    pub fn close_block(&mut self) -> bool {
        if self.open.is_none() {
            self.open = Some(self.unstable());
        }
        let Some(open) = &mut self.open else { return false };
        let block = open.len().checked_sub(1).filter(|block| *block >= usize::from(self.root_block));
        let (Some(block), Some(variables)) = (block, open.pop()) else { return false };
        for variable in variables {
            if !self.records[variable as usize].is_stable() {
                self.set(variable, self.signs[block].default_value());
            }
        }
        block > usize::from(self.root_block)
    }

    /// The unstable variables by block.
    fn unstable(&self) -> Vec<Vec<u32>> {
        let mut by_block: Vec<Vec<u32>> = vec![Vec::new(); self.signs.len()];
        let mut scratch = [0; 4];
        for &variable in &self.queue {
            if !self.records[variable as usize].is_stable() {
                let (place, node) = self.variables.get(variable, &mut scratch);
                let (_, block) = self.graph.equation(place, node);
                by_block[usize::from(block)].push(variable);
            }
        }
        by_block
    }

    /// Notes dependencies that other workers have sent.
    fn take_dependencies(&mut self, from: usize, records: &[u8]) -> Result<(), PartError> {
        let mut at = 0;
        while at < records.len() {
            let begin = at + 8;
            let Some(head) = records.get(at..begin) else { return Err(garbled()) };
            let dependant = u32::from_le_bytes([head[0], head[1], head[2], head[3]]);
            let node = Node::from_le_bytes([head[4], head[5]]);
            let end = begin + usize::from(u16::from_le_bytes([head[6], head[7]]));
            let Some(key) = records.get(begin..end) else { return Err(garbled()) };
            let tag = self.variables.tag(key);
            let ours = self.variables.owner(tag) == self.me();
            if !ours || !self.variables.admits(key, tag, node) || dependant >= self.packing.mask {
                return Err(garbled());
            }
            self.arrivals.push(Arrival { tag, begin, end, node, dependant });
            at = end;
            if self.arrivals.len() == MAXIMUM_IN_FLIGHT || at == records.len() {
                self.note_arrivals(from, records).map_err(part_error)?;
            }
        }
        Ok(())
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
                let (operator, _) = self.variables.equation(&self.graph, &bytes[a.begin..a.end], a.node);
                *record = Record::met(operator);
                push(&mut self.queue, successor);
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

    /// Applies values that other workers have sent.
    fn take_values(&mut self, records: &[u8]) -> Result<(), PartError> {
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

    /// What it cost so far, and how much waits to be expanded.
    pub fn costs(&self) -> (Statistics, u64) {
        let memory = self.variables.bytes()
            + self.records.capacity() * size_of::<Record>()
            + self.edges.bytes()
            + self.queue.capacity() * 4
            + (self.stable.capacity() + self.replies.capacity()) * 8;
        let statistics = Statistics {
            places: self.variables.places() as u64,
            variables: self.queue.len() as u64,
            memory: memory as u64,
            ..self.statistics
        };
        (statistics, (self.queue.len() - self.next) as u64)
    }

    /// The values that were decided; the rest of the part is dropped first.
    pub fn finish(self) -> Outcome<G> {
        let met = |records: &&[Record]| records.iter().any(|r| r.is_met());
        let places = self.records.chunks(self.variables.nodes()).filter(met).count() as u64;
        let statistics = Statistics { places, ..self.costs().0 };
        let value = self.root.map(|root| self.records[root as usize]);
        let value = value.filter(|record| record.is_stable()).map(Record::value);
        // Cells are as large as records and take their place.
        let Partition { graph, records, variables, edges, queue, .. } = self;
        drop((edges, queue));
        let cell = |r: Record| match r.is_stable() {
            true => Cell::decided(r.value(), r.link),
            false => Cell::default(),
        };
        let cells = records.into_iter().map(cell).collect();
        Outcome { graph, solution: Solution::new(variables, cells), statistics, value }
    }
}

fn post_value(out: &mut Outbox, owner: usize, variable: u32, told: Told) {
    let mut bytes = [0; 8];
    bytes[..4].copy_from_slice(&variable.to_le_bytes());
    bytes[4..].copy_from_slice(&told.0.to_le_bytes());
    out.post(owner, VALUE).extend_from_slice(&bytes);
}

/// A count of successors that must fit a record.
fn missing(count: usize) -> Result<u32, Limit> {
    narrow(count).ok().filter(|n| *n <= MAXIMUM_MISSING).ok_or_else(|| Limit::Other {
        message: format!("one right-hand side has more than {MAXIMUM_MISSING} variables"),
    })
}

impl<G: BooleanGraph> Part for Partition<G> {
    fn receive(&mut self, from: usize, kind: u8, records: &[u8]) -> Result<(), PartError> {
        match kind {
            EXPAND => self.take_dependencies(from, records),
            VALUE => self.take_values(records),
            _ => Err(garbled()),
        }
    }

    fn work(&mut self, quantum: usize, out: &mut Outbox) -> Result<Work, PartError> {
        self.advance(quantum, out).map_err(part_error)
    }

    fn next_stage(&mut self) -> Result<bool, PartError> {
        Ok(self.close_block())
    }

    fn figures(&self) -> Figures {
        let (s, pending) = self.costs();
        Figures { states: s.places, transitions: s.edges, expanded: s.expanded, pending, memory: s.memory }
    }
}

pub(super) fn part_error(error: SolveError) -> PartError {
    match error {
        SolveError::Limit(limit) => PartError::Limit(limit),
        other => PartError::Trouble(other.to_string()),
    }
}

pub(super) fn garbled() -> PartError {
    PartError::Defect("a worker sent what no worker sends".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_and_a_variable_fit_in_four_bytes() {
        for peers in [1, 2, 3, 4, 5, 64, 65, 256] {
            let packing = Packing::new(Share { me: 0, peers });
            for owner in [0, usize::from(peers) - 1] {
                for variable in [0, 1, 12345, packing.mask - 1] {
                    assert_eq!(packing.unpack(packing.pack(owner, variable)), (owner, variable), "{peers}");
                }
            }
        }
    }
}
