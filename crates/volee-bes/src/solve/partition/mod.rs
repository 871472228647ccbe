//! Breadth-first resolution of the part of a system that belongs to one worker: MB-DSOLVE (Joubert & Mateescu
//! 2006, section 2.2). With one worker it is the sequential breadth-first strategy; with several, whoever
//! drives the parts (see [`volee_system::part`]) moves their messages, and this file knows nothing of how.
//!
//! Variables are owned by hash. Expanding x asks the owner of each successor y to note that x depends on y
//! (*Exp*); when y is stable, its owner tells the owner of x (*Evl*). So there are two traversals, forwards
//! along dependencies and backwards along the noted edges from what has become stable; stabilising comes
//! first. The report's figure is corrected in two points: a variable counts all its successors whatever its
//! operator (a stable value of another block may be neutral for any operator), and a variable whose
//! successors are all neutral takes the neutral value of its operator, not the default of its block.
//!
//! **Closing.** Later blocks are expanded first, earlier ones by grants (`agenda`): a block waits until what
//! it has asked for in later ones is known, so that a formula with several blocks stops as early as one with
//! a single block. Suppose that every part is idle and no message is in flight, and let M be the last block
//! with variables that were met since it was closed last. If blocks from M on have no variable that is not
//! expanded, then (1) every met variable of these blocks is stable or expanded, and all successors of an
//! expanded one are met, by their owners; (2) every stable value has been told to all who depend on it, so an
//! unstable variable has no successor with a deciding value, and its count is the number of its unstable
//! successors, at least one. Blocks depend on later ones only, and those have no unstable variable, so the
//! unstable successors of the unstable variables of M are all in M; what earlier blocks have met or not does
//! not matter. Giving all of them the default of M (mu false, nu true) satisfies their equations: a
//! disjunction has no true successor and may be false, a conjunction has no false one and at least one that
//! now becomes false (dually for nu); and since stable values are forced in every solution, this one is the
//! least (or greatest). So each part may close its own variables of M without asking anybody. The values
//! spread, and when all is quiet again the same is asked anew. A variable of M that is met later on finds the
//! others stable.
//!
//! Whether to close a block or to grant the last unexpanded one more is the same everywhere because all know
//! the same: in a quiet moment each part tells all others its last open and its last unexpanded block, and in
//! the next all decide by the maxima (`ballot`). When the main variable's block is closed all is over, since
//! nothing depends on blocks before it. A part may hear values of a closed block before it has closed the
//! block itself: they are the very default that it is about to give.
//!
//! **Ranks.** A worker numbers its variables as they become stable. Numbers travel with values, and a worker
//! goes on counting above the largest it has heard of (Lamport's clock), so whatever a variable rests on has
//! a smaller rank, wherever it is: a certificate assembled from several workers is one ([`super::confirm`]).
//!
//! Speed: successors pass through a pipeline (`forward`), backward edges are walked 64 stable variables at a
//! time (`backward`). The pipeline is short at first, because a search that finds its answer early should not
//! have expanded much. An edge has eight bytes, whoever it leads to: the owner is packed above the number
//! (`record`). Which bytes of a place decide whose it is, is chosen so that few dependencies cross between
//! workers (`spreading`).

mod agenda;
mod backward;
mod ballot;
mod forward;
mod handed;
mod kept;
mod record;
mod sorting;
mod spreading;

use volee_system::part::{Figures, Keepable, Level, Outbox, Packing, Part, PartError, Work};
use volee_system::{Flow, Limit};

use self::agenda::Agenda;
use self::ballot::{Ballot, Decision, VOTE};
use self::forward::{Arrival, Expanded};
use self::handed::Coming;
use self::record::{MAXIMUM_RANK, Record, Told};
pub use self::sorting::Sorting;
use self::spreading::spread;
use super::cells::Cell;
use super::table::Solution;
use super::{SolveError, Statistics};
use crate::graph::{BooleanGraph, Node, Operator, Sign};
use crate::variables::{Batch, Variables};
use volee_store::Pieces;
pub use volee_store::Share;
use volee_store::large::lengthen;

const MAXIMUM_IN_FLIGHT: usize = 64;
const FIRST_IN_FLIGHT: usize = 4;
/// The batch is emptied when it has this many successors.
const FULL: usize = 512;
/// Dependants told for each expansion that a quantum allows.
const TOLD_PER_EXPANSION: usize = 16;

/// A packet of dependencies: dependant, node, length of the key, key. Where the dependant is nobody, the
/// other four bytes are the level of those that follow.
const EXPAND: u8 = 1;
/// A packet of values: dependant, rank and value.
const VALUE: u8 = 2;

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
    agenda: Agenda,
    /// The level of the last dependency that was posted to each worker.
    posted: Vec<Level>,
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
    ballot: Ballot,
    statistics: Statistics,
    /// What came so far of what this part goes on from.
    coming: Coming,
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
    pub fn new(graph: G, share: Share) -> Result<Self, SolveError> {
        let (mut part, place, node, operator) = Self::empty(graph, share)?;
        let mut key = Vec::new();
        if part.variables.owner_of(&place, node, &mut key).0 == part.me() {
            let root = part.variables.insert(&place, node)?;
            part.make_records()?;
            part.records[root as usize] = Record::met(operator);
            part.agenda.meet(root, part.root_block, 0);
            part.root = Some(root);
        }
        Ok(part)
    }

    /// A part that knows nothing, and the main variable with its operator.
    fn empty(mut graph: G, share: Share) -> Result<(Self, Vec<u8>, Node, Operator), SolveError> {
        if !graph.alternation_free() {
            return Err(SolveError::Alternating);
        }
        let signs = graph.blocks().to_vec();
        let blocks = signs.len();
        let (place, node) = graph.root()?;
        let (operator, root_block) = graph.equation(&place, node);
        let spread = spread(&mut graph, &place, node, share);
        let variables = Variables::shared(&graph, share, spread);
        let mut records = Vec::new();
        lengthen(&mut records, variables.len());
        let part = Partition {
            graph,
            share,
            packing: Packing::new(usize::from(share.peers)),
            signs,
            root: None,
            root_block,
            variables,
            records,
            edges: Pieces::new(),
            agenda: Agenda::new(share.peers, blocks),
            posted: vec![0; usize::from(share.peers)],
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
            ballot: Ballot::new(share),
            statistics: Statistics::default(),
            coming: Coming::default(),
        };
        Ok((part, place, node, operator))
    }

    #[inline]
    fn me(&self) -> usize {
        usize::from(self.share.me)
    }

    fn make_records(&mut self) -> Result<(), SolveError> {
        lengthen(&mut self.records, self.variables.len());
        if self.records.len() > self.packing.bound() as usize {
            let message = format!("one worker has more than {} variables", self.packing.bound());
            return Err(SolveError::Limit(Limit::Other { message }));
        }
        Ok(())
    }

    #[inline]
    pub(super) fn is_decided(&self) -> bool {
        self.root.is_some_and(|root| self.records[root as usize].is_stable())
    }

    /// Stabilises and expands, for about `quantum` expansions.
    ///
    /// # Errors
    /// A limit, or a right-hand side without meaning.
    pub fn advance(&mut self, quantum: usize, out: &mut Outbox) -> Result<Work, SolveError> {
        self.ballot.cast(self.agenda.open(), self.agenda.unexpanded(), out);
        let until = self.statistics.expanded.saturating_add(quantum as u64);
        let mut tell = quantum.saturating_mul(TOLD_PER_EXPANSION);
        loop {
            let quiet = self.stabilise(&mut tell, out);
            if self.is_decided() {
                return Ok(Work::Decided);
            }
            if !self.agenda.is_ready() && self.connected == self.expanded.len() && quiet {
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
        while self.batch.len() < enough && self.expand()? {
            self.look_up(self.in_flight / 2, out)?;
            self.connect(self.in_flight)?;
        }
        if !self.agenda.is_ready() || self.batch.len() > FULL {
            self.empty_pipeline(out)?;
        }
        Ok(())
    }

    /// Moves all that were expanded through all stages.
    fn empty_pipeline(&mut self, out: &mut Outbox) -> Result<(), SolveError> {
        self.look_up(0, out)?;
        self.connect(0)?;
        self.batch.clear();
        self.found.clear();
        self.expanded.clear();
        (self.looked_up, self.connected) = (0, 0);
        Ok(())
    }

    /// All is quiet: asks what all parts have open, or closes a block or grants one more; `false` when the
    /// main variable's block is closed.
    ///
    /// # Errors
    /// Somebody has not said what is open there.
    pub fn begin_stage(&mut self) -> Result<bool, PartError> {
        let (open, unexpanded) = (self.agenda.open(), self.agenda.unexpanded());
        match self.ballot.decide(open, unexpanded)? {
            Decision::Ask => Ok(true),
            Decision::Grant(block) => {
                self.agenda.grant(block);
                Ok(true)
            }
            Decision::Close(block) => {
                self.close(block);
                Ok(block > self.root_block)
            }
        }
    }

    /// Gives the default of a block to its unstable variables.
    fn close(&mut self, block: u16) {
        let default = self.signs[usize::from(block)].default_value();
        for variable in self.agenda.close(block) {
            if !self.records[variable as usize].is_stable() {
                self.set(variable, default);
            }
        }
    }

    /// What it cost so far, and how much waits to be expanded.
    pub fn costs(&self) -> (Statistics, u64) {
        let memory = self.variables.bytes()
            + self.graph.memory()
            + self.records.capacity() * size_of::<Record>()
            + self.edges.bytes()
            + self.agenda.bytes()
            + (self.stable.capacity() + self.replies.capacity()) * 8;
        let statistics = Statistics {
            places: self.variables.places() as u64,
            variables: self.agenda.len() as u64,
            memory: memory as u64,
            ..self.statistics
        };
        (statistics, self.agenda.pending() as u64)
    }

    /// The values that were decided; the rest of the part is dropped first.
    pub fn finish(self) -> Outcome<G> {
        let met = |records: &&[Record]| records.iter().any(|r| r.is_met());
        let places = self.records.chunks(self.variables.nodes()).filter(met).count() as u64;
        let statistics = Statistics { places, ..self.costs().0 };
        let value = self.root.map(|root| self.records[root as usize]);
        let value = value.filter(|record| record.is_stable()).map(Record::value);
        // Cells are as large as records and take their place.
        let Partition { graph, records, variables, edges, agenda, .. } = self;
        drop((edges, agenda));
        let cell = |r: Record| match r.is_stable() {
            true => Cell::decided(r.value(), r.link),
            false => Cell::default(),
        };
        let cells = records.into_iter().map(cell).collect();
        Outcome { graph, solution: Solution::new(variables, cells), statistics, value }
    }
}

impl<G: BooleanGraph> Part for Partition<G> {
    fn receive(&mut self, from: usize, kind: u8, records: &[u8]) -> Result<(), PartError> {
        match kind {
            EXPAND => self.take_dependencies(from, records),
            VALUE => self.take_values(records),
            VOTE => self.ballot.take(records),
            _ => Err(garbled()),
        }
    }

    fn work(&mut self, quantum: usize, out: &mut Outbox) -> Result<Work, PartError> {
        self.advance(quantum, out).map_err(part_error)
    }

    fn next_stage(&mut self) -> Result<bool, PartError> {
        self.begin_stage()
    }

    fn can_be_kept(&self) -> Keepable {
        if self.ballot.is_on() { Keepable::Later } else { Keepable::Now }
    }

    fn settle(&mut self, out: &mut Outbox) -> Result<(), PartError> {
        self.empty_pipeline(out).map_err(part_error)
    }

    fn hand_out(&mut self, piece: &mut dyn FnMut(Vec<u8>) -> Flow) -> Flow {
        self.pieces(piece)
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
