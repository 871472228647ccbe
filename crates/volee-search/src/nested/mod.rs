//! Nested depth-first search for accepted lassos (Courcoubetis, Vardi, Wolper, Yannakakis 1990), with the
//! check against the first search's path of Holzmann, Peled and Yannakakis 1996.
//!
//! A first search visits the product; when it leaves an accepting pair, a second one looks for a way from
//! there back to the path. It needs two bits per pair, so it also works with a bit table instead of a set of
//! states: then two pairs may share their bits and a part of the product be missed. A lasso it finds is real
//! all the same; but where it finds none, the answer is `Unknown` and says so, never `Holds`.
//!
//! With replacement (Jard & Jéron 1991) pairs on neither path may be forgotten, and the answer is still
//! exact. Why: call a pair *ever red* if a second search ever met it. A finished second search has met all
//! successors of what it met, so the ever red pairs are closed under successors. Suppose no lasso is found
//! though there is one; of the second searches from an accepting pair on a cycle, take the one that ends
//! first, from s. It did not come back to s, so it was stopped on the cycle by a pair that was red before it
//! began; from there s is reachable, so s was ever red before. Look at the moment s first became red, in a
//! second search from s'. If s was on the first search's path, that was a lasso. If it had left the path, a
//! second search from s had ended before. If the first search had not met it yet, follow the way from s' to
//! s: whatever has left the path had all its successors met, so the way passes a pair of the path; none
//! before that one was ever red, or s would have been; so this second search walked to the path, which was a
//! lasso. Forgetting only makes the searches meet pairs again, and none meets a pair twice on its own path,
//! so they end.

mod colours;

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use volee_system::{
    Limit, Meter, Progress, Reason, Snapshot, System, Verdict, Violation, Witness, collect_initial,
};

use self::colours::{BLUE, Colours, RED};
use crate::check::{Reduction, Statistics};
use crate::claimed::ClaimProduct;
use crate::liveness::{Claim, ClaimOutcome, reason};
use crate::pairs::{Arc, Faults, Pair, Stop, split};

/// What a pair on a path costs beside its bytes, which are there twice: its frame, and where it stands.
const FRAME: u64 = 128;
/// What a waiting transition costs beside the bytes of its target.
const ARC: u64 = 32;

/// What a nested search remembers of the pairs it has met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NestedStore {
    /// All of them.
    Exact,
    /// A table of this many bytes, two bits per pair and search.
    Bitstate {
        /// The size of the table.
        bytes: usize,
    },
    /// As many as fit; others are forgotten, at random, and met again.
    Bounded {
        /// For pairs and paths together.
        bytes: u64,
        /// The seed of the choice.
        seed: u64,
    },
}

/// An automaton of bad behaviour for a nested search.
pub struct NestedClaim(Claim);

impl NestedClaim {
    /// Moves the acceptance of a claim's automaton to its states. A state that is an error by itself becomes
    /// one that accepts whatever follows.
    pub fn new(claim: &Claim) -> Self {
        NestedClaim(claim.state_based())
    }

    /// Searches for a run that the automaton accepts.
    pub fn check(
        &self,
        system: &mut dyn System,
        store: NestedStore,
        faults: Faults,
        reduction: Reduction,
        meter: &Meter,
        progress: &mut dyn Progress,
    ) -> ClaimOutcome {
        let mut search = Search {
            product: ClaimProduct::new(system, &self.0, reduction == Reduction::Persistent),
            faults,
            colours: Colours::new(store),
            place: HashMap::with_hasher(FixedState::default()),
            blue: Stack::default(),
            red: Stack::default(),
            initial: 0,
            longest: 0,
            statistics: Statistics::default(),
        };
        let verdict = match search.run(meter, progress) {
            Ok(None) if matches!(store, NestedStore::Bitstate { .. }) => Verdict::Unknown(search.coverage()),
            Ok(None) => Verdict::Holds,
            Ok(Some(violation)) => Verdict::Violated(vec![violation]),
            Err(Stop::Limit(limit)) => Verdict::Unknown(limit),
            Err(Stop::Fault(ordinal, reason)) => Verdict::Violated(vec![search.fault(ordinal, reason)]),
        };
        // Where something was left out, a run that seems to end need not end there.
        let verdict = search.product.left_out().map_or(verdict, Verdict::Unknown);
        let bytes = search.bytes();
        let mut statistics = search.statistics;
        statistics.reduced = search.product.reduced();
        statistics.memory_bytes = statistics.memory_bytes.max(bytes);
        if let Some(turnover) = search.colours.turnover(search.longest) {
            statistics.states = turnover.distinct;
            statistics.turnover = Some(turnover);
        }
        statistics.seconds = meter.elapsed().as_secs_f64();
        statistics.bytes_per_state = statistics.memory_bytes as f64 / statistics.states.max(1) as f64;
        ClaimOutcome { verdict, statistics, letters: Vec::new() }
    }
}

struct Frame {
    pair: Pair,
    first: usize,
    next: usize,
}

/// The path of one search, and the transitions that wait along it.
#[derive(Default)]
struct Stack {
    frames: Vec<Frame>,
    arcs: Vec<Arc>,
    bytes: u64,
}

impl Stack {
    /// The next transition from the top, or `None` when there is none left.
    fn advance(&mut self) -> Option<Pair> {
        let top = self.frames.last_mut()?;
        let arc = self.arcs.get(top.next)?;
        top.next += 1;
        Some(arc.target.clone())
    }

    fn pop(&mut self) -> Option<Pair> {
        let frame = self.frames.pop()?;
        self.bytes -= frame_bytes(&frame.pair, &self.arcs[frame.first..]);
        self.arcs.truncate(frame.first);
        Some(frame.pair)
    }

    /// The transitions taken from these pairs of the path.
    fn taken(&self, frames: std::ops::Range<usize>) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.frames[frames].iter().map(|f| (&*f.pair, &*self.arcs[f.next - 1].target))
    }
}

fn frame_bytes(pair: &[u8], arcs: &[Arc]) -> u64 {
    let waiting: u64 = arcs.iter().map(|arc| arc.target.len() as u64 + ARC).sum();
    2 * pair.len() as u64 + FRAME + waiting
}

struct Search<'a, S: System + ?Sized> {
    product: ClaimProduct<'a, S>,
    faults: Faults,
    colours: Colours,
    /// Where the pairs of the first search's path stand in it.
    place: HashMap<Pair, usize, FixedState>,
    blue: Stack,
    red: Stack,
    /// The initial state that the paths start from.
    initial: u32,
    /// The most pairs on the two paths together.
    longest: u64,
    statistics: Statistics,
}

impl<S: System + ?Sized> Search<'_, S> {
    fn run(&mut self, meter: &Meter, progress: &mut dyn Progress) -> Result<Option<Violation>, Stop> {
        for (ordinal, start) in collect_initial(&mut self.product).into_iter().enumerate() {
            let start: Pair = start.into();
            self.initial = ordinal as u32;
            if self.colours.paint(&start, BLUE, 0)? {
                self.enter(start)?;
                if let Some(lasso) = self.first(meter, progress)? {
                    return Ok(Some(self.violation(lasso)));
                }
            }
        }
        Ok(None)
    }

    fn enter(&mut self, pair: Pair) -> Result<(), Stop> {
        self.place.insert(pair.clone(), self.blue.frames.len());
        self.statistics.states += 1;
        self.push(pair, BLUE)?;
        self.statistics.max_depth = self.statistics.max_depth.max(self.blue.frames.len() as u64 - 1);
        Ok(())
    }

    fn push(&mut self, pair: Pair, colour: u8) -> Result<(), Stop> {
        let stack = if colour == BLUE { &mut self.blue } else { &mut self.red };
        let first = stack.arcs.len();
        // On the path first: an error met while expanding it is told along the path.
        stack.frames.push(Frame { pair, first, next: first });
        let pair = &stack.frames[stack.frames.len() - 1].pair;
        let expanded = self.product.arcs(pair, self.faults, &mut stack.arcs);
        stack.bytes += frame_bytes(pair, &stack.arcs[first..]);
        self.longest = self.longest.max((self.blue.frames.len() + self.red.frames.len()) as u64);
        expanded
    }

    /// Bytes of the two paths.
    fn paths(&self) -> u64 {
        self.blue.bytes + self.red.bytes
    }

    fn bytes(&self) -> u64 {
        self.colours.bytes() + self.paths()
    }

    fn first(&mut self, meter: &Meter, progress: &mut dyn Progress) -> Result<Option<Lasso>, Stop> {
        while let Some(top) = self.blue.frames.last() {
            let top = top.pair.clone();
            let Some(target) = self.blue.advance() else {
                let accepting = self.product.claim().automaton.state_marks(split(&top).1 as usize) != 0;
                if accepting && let Some(lasso) = self.second(top.clone(), meter)? {
                    return Ok(Some(lasso));
                }
                self.blue.pop();
                self.place.remove(&top);
                self.colours.release(&top);
                continue;
            };
            self.count(meter, progress)?;
            if self.colours.paint(&target, BLUE, self.paths())? {
                self.enter(target)?;
            }
        }
        Ok(None)
    }

    /// From an accepting pair: a way back to the path of the first search.
    fn second(&mut self, seed: Pair, meter: &Meter) -> Result<Option<Lasso>, Stop> {
        // The seed is on the first path, so it is held already.
        self.push(seed, RED)?;
        while !self.red.frames.is_empty() {
            let Some(target) = self.red.advance() else {
                let left = self.red.pop();
                if let Some(pair) = left.filter(|_| !self.red.frames.is_empty()) {
                    self.colours.release(&pair);
                }
                continue;
            };
            self.statistics.transitions += 1;
            if let Some(&place) = self.place.get(&target) {
                return Ok(Some(self.lasso(place)));
            }
            if self.colours.paint(&target, RED, self.paths())? {
                self.push(target, RED)?;
            }
            if self.statistics.transitions.is_multiple_of(4096) {
                meter.check()?;
                self.colours.check_turnover()?;
            }
        }
        Ok(None)
    }

    /// Along the first path to `place`, on to its top, and by the second path back to `place`.
    fn lasso(&mut self, place: usize) -> Lasso {
        let last = self.blue.frames.len() - 1;
        let (blue, red, product) = (&self.blue, &self.red, &mut self.product);
        let prefix = numbered(product, blue.taken(0..place));
        let cycle = blue.taken(place..last).chain(red.taken(0..red.frames.len()));
        Lasso { prefix, cycle: numbered(product, cycle) }
    }

    fn count(&mut self, meter: &Meter, progress: &mut dyn Progress) -> Result<(), Stop> {
        self.statistics.transitions += 1;
        if !self.statistics.transitions.is_multiple_of(4096) {
            return Ok(());
        }
        let depth = (self.blue.frames.len() + self.red.frames.len()) as u64;
        let memory = self.bytes();
        self.statistics.memory_bytes = self.statistics.memory_bytes.max(memory);
        progress.report(&Snapshot {
            states: self.statistics.states,
            transitions: self.statistics.transitions,
            depth,
            max_depth: self.statistics.max_depth,
            pending: 0,
            memory,
        });
        meter.check()?;
        self.colours.check_turnover()?;
        if let Colours::Exact(_) = self.colours {
            meter.check_memory(memory, || format!("there are more than {} pairs", self.statistics.states))?;
        }
        Ok(())
    }

    fn coverage(&self) -> Limit {
        let share = self.colours.share() * 100.0;
        let coverage = format!("{} pairs seen, {share:.2} % of the bits set", self.statistics.states);
        Limit::Approximation { coverage }
    }

    fn violation(&self, lasso: Lasso) -> Violation {
        let loop_start = Some(lasso.prefix.len());
        let mut steps = lasso.prefix;
        steps.extend(lasso.cycle);
        let witness = Witness { initial: self.initial, steps, loop_start };
        Violation { reason: reason(self.product.claim().kind, true), witness }
    }

    /// An error in the last pair of the paths, or in a step from there.
    fn fault(&mut self, ordinal: Option<u32>, reason: Reason) -> Violation {
        let before = |stack: &Stack| 0..stack.frames.len().saturating_sub(1);
        let taken = self.blue.taken(before(&self.blue)).chain(self.red.taken(before(&self.red)));
        let mut steps = numbered(&mut self.product, taken);
        steps.extend(ordinal);
        Violation { reason, witness: Witness { initial: self.initial, steps, loop_start: None } }
    }
}

/// The system's numbers of transitions.
fn numbered<'p, S: System + ?Sized>(
    product: &mut ClaimProduct<'_, S>,
    taken: impl Iterator<Item = (&'p [u8], &'p [u8])>,
) -> Vec<u32> {
    taken.filter_map(|(from, to)| product.ordinal(from, to)).collect()
}

/// Steps to a cycle, and around it.
struct Lasso {
    prefix: Vec<u32>,
    cycle: Vec<u32>,
}
