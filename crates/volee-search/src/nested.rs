//! Nested depth-first search for accepted lassos (Courcoubetis, Vardi, Wolper, Yannakakis 1990), with the check against
//! the first search's path of Holzmann, Peled and Yannakakis 1996.
//!
//! A first search visits the product; when it leaves an accepting pair, a second one looks for a way from there back
//! to the path. It needs two bits per pair, so it also works with a bit table instead of a set of states: then two
//! pairs may share their bits and a part of the product be missed. A lasso it finds is real all the same; but where
//! it finds none, the answer is `Unknown` and says so, never `Holds`.

use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use volee_logic::automaton::{Automaton, degeneralise};
use volee_system::{
    Limit, Meter, Progress, Reason, ReasonKind, Snapshot, System, Verdict, Violation, Witness,
    collect_initial,
};

use crate::check::Statistics;
use crate::liveness::ClaimOutcome;
use crate::pairs::{Arc, Pair, STUTTER, expand, pair, split};
use crate::watch::{Sight, Watch};

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
}

/// An automaton of bad behaviour for a nested search.
pub struct NestedClaim {
    automaton: Automaton,
    atoms: Vec<Watch>,
}

impl NestedClaim {
    /// Moves the acceptance of an automaton to its states. `atoms` says what its atoms look at.
    pub fn new(automaton: Automaton, atoms: Vec<Watch>) -> Self {
        let ready = automaton.sets == 1 && automaton.is_state_based();
        NestedClaim { automaton: if ready { automaton } else { degeneralise(automaton) }, atoms }
    }

    /// Searches for a run that the automaton accepts.
    pub fn check<S: System + ?Sized>(
        &self,
        system: &mut S,
        store: NestedStore,
        meter: &Meter,
        progress: &mut dyn Progress,
    ) -> ClaimOutcome {
        let colours = match store {
            NestedStore::Exact => Colours::Exact(HashMap::with_hasher(FixedState::default())),
            NestedStore::Bitstate { bytes } => Colours::Bits(vec![0; (bytes / 8).max(1)]),
        };
        let mut search = Search {
            system,
            claim: self,
            sight: Sight::new(&self.atoms),
            colours,
            place: HashMap::with_hasher(FixedState::default()),
            blue: Stack::default(),
            red: Stack::default(),
            statistics: Statistics::default(),
        };
        let verdict = match (search.run(meter, progress), store) {
            (Ok(Some(violation)), _) => Verdict::Violated(vec![violation]),
            (Ok(None), NestedStore::Exact) => Verdict::Holds,
            (Ok(None), NestedStore::Bitstate { .. }) => Verdict::Unknown(search.coverage()),
            (Err(limit), _) => Verdict::Unknown(limit),
        };
        let mut statistics = search.statistics;
        statistics.seconds = meter.elapsed().as_secs_f64();
        ClaimOutcome { verdict, statistics }
    }
}

const BLUE: u8 = 1;
const RED: u8 = 2;

/// Which search has met which pair.
enum Colours {
    Exact(HashMap<Pair, u8, FixedState>),
    Bits(Vec<u64>),
}

impl Colours {
    /// Paints a pair; whether it had not been painted so before.
    fn paint(&mut self, pair: &[u8], colour: u8) -> bool {
        match self {
            Colours::Exact(map) => match map.get_mut(pair) {
                Some(colours) => {
                    let new = *colours & colour == 0;
                    *colours |= colour;
                    new
                }
                None => map.insert(pair.into(), colour).is_none(),
            },
            Colours::Bits(words) => {
                let hash = FixedState::default().hash_one((pair, colour));
                let size = words.len() as u64 * 64;
                let mut new = false;
                for bit in [hash % size, hash.rotate_left(32).wrapping_mul(0x9E37_79B9_7F4A_7C15) % size] {
                    let (word, mask) = ((bit / 64) as usize, 1 << (bit % 64));
                    new |= words[word] & mask == 0;
                    words[word] |= mask;
                }
                new
            }
        }
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
        self.arcs.truncate(frame.first);
        Some(frame.pair)
    }

    /// The steps taken along the path from its `from`-th pair on.
    fn steps(&self, from: usize) -> impl Iterator<Item = u32> + '_ {
        self.frames[from..].iter().map(|f| self.arcs[f.next - 1].ordinal).filter(|&o| o != STUTTER)
    }
}

struct Search<'a, S: System + ?Sized> {
    system: &'a mut S,
    claim: &'a NestedClaim,
    sight: Sight<'a>,
    colours: Colours,
    /// Where the pairs of the first search's path stand in it.
    place: HashMap<Pair, usize, FixedState>,
    blue: Stack,
    red: Stack,
    statistics: Statistics,
}

impl<S: System + ?Sized> Search<'_, S> {
    fn run(&mut self, meter: &Meter, progress: &mut dyn Progress) -> Result<Option<Violation>, Limit> {
        for (ordinal, state) in collect_initial(self.system).into_iter().enumerate() {
            let start = pair(&state, self.claim.automaton.initial);
            if self.colours.paint(&start, BLUE) {
                self.enter(start)?;
                if let Some(lasso) = self.first(meter, progress)? {
                    return Ok(Some(violation(ordinal as u32, lasso)));
                }
            }
        }
        Ok(None)
    }

    fn enter(&mut self, pair: Pair) -> Result<(), Limit> {
        self.place.insert(pair.clone(), self.blue.frames.len());
        self.statistics.states += 1;
        Self::push(self.system, self.claim, &mut self.sight, &mut self.blue, pair)?;
        self.statistics.max_depth = self.statistics.max_depth.max(self.blue.frames.len() as u64 - 1);
        Ok(())
    }

    fn push(
        system: &mut S,
        claim: &NestedClaim,
        sight: &mut Sight<'_>,
        stack: &mut Stack,
        pair: Pair,
    ) -> Result<(), Limit> {
        let first = stack.arcs.len();
        expand(system, &claim.automaton, sight, &pair, &mut stack.arcs)?;
        stack.frames.push(Frame { pair, first, next: first });
        Ok(())
    }

    fn first(&mut self, meter: &Meter, progress: &mut dyn Progress) -> Result<Option<Lasso>, Limit> {
        while let Some(top) = self.blue.frames.last() {
            let top = top.pair.clone();
            let Some(target) = self.blue.advance() else {
                let accepting = self.claim.automaton.state_marks(split(&top).1 as usize) != 0;
                if accepting && let Some(lasso) = self.second(top.clone(), meter)? {
                    return Ok(Some(lasso));
                }
                self.blue.pop();
                self.place.remove(&top);
                continue;
            };
            self.count(meter, progress)?;
            if self.colours.paint(&target, BLUE) {
                self.enter(target)?;
            }
        }
        Ok(None)
    }

    /// From an accepting pair: a way back to the path of the first search.
    fn second(&mut self, seed: Pair, meter: &Meter) -> Result<Option<Lasso>, Limit> {
        Self::push(self.system, self.claim, &mut self.sight, &mut self.red, seed)?;
        while !self.red.frames.is_empty() {
            let Some(target) = self.red.advance() else {
                self.red.pop();
                continue;
            };
            self.statistics.transitions += 1;
            if let Some(&place) = self.place.get(&target) {
                return Ok(Some(self.lasso(place)));
            }
            if self.colours.paint(&target, RED) {
                Self::push(self.system, self.claim, &mut self.sight, &mut self.red, target)?;
            }
            if self.statistics.transitions.is_multiple_of(4096) {
                meter.check()?;
            }
        }
        Ok(None)
    }

    /// Along the first path to `place`, on to its top, and by the second path back to `place`.
    fn lasso(&self, place: usize) -> Lasso {
        let last = self.blue.frames.len() - 1;
        let taken = |range: &[Frame]| -> Vec<u32> {
            range.iter().map(|f| self.blue.arcs[f.next - 1].ordinal).filter(|&o| o != STUTTER).collect()
        };
        let prefix = taken(&self.blue.frames[..place]);
        let mut cycle = taken(&self.blue.frames[place..last]);
        cycle.extend(self.red.steps(0));
        Lasso { prefix, cycle }
    }

    fn count(&mut self, meter: &Meter, progress: &mut dyn Progress) -> Result<(), Limit> {
        self.statistics.transitions += 1;
        if !self.statistics.transitions.is_multiple_of(4096) {
            return Ok(());
        }
        let path = (self.blue.frames.len() + self.red.frames.len()) as u64;
        let known = match &self.colours {
            Colours::Exact(map) => map.len() as u64 * 64,
            Colours::Bits(words) => words.len() as u64 * 8,
        };
        let memory = known + path * 128;
        self.statistics.memory_bytes = self.statistics.memory_bytes.max(memory);
        progress.report(&Snapshot {
            states: self.statistics.states,
            transitions: self.statistics.transitions,
            depth: path,
            max_depth: self.statistics.max_depth,
            pending: 0,
            memory,
        });
        meter.check()?;
        meter.check_memory(memory, || format!("there are more than {} pairs", self.statistics.states))
    }

    fn coverage(&self) -> Limit {
        let share = match &self.colours {
            Colours::Exact(_) => 0.0,
            Colours::Bits(words) => {
                let set: u64 = words.iter().map(|w| u64::from(w.count_ones())).sum();
                set as f64 / (words.len() * 64) as f64
            }
        };
        let coverage =
            format!("{} pairs seen, {:.2} % of the bits set", self.statistics.states, share * 100.0);
        Limit::Approximation { coverage }
    }
}

/// Steps to a cycle, and around it.
struct Lasso {
    prefix: Vec<u32>,
    cycle: Vec<u32>,
}

fn violation(initial: u32, lasso: Lasso) -> Violation {
    let loop_start = Some(lasso.prefix.len());
    let mut steps = lasso.prefix;
    steps.extend(lasso.cycle);
    let message = "an infinite run violates the property".into();
    let reason = Reason { kind: ReasonKind::AcceptanceCycle, message, place: None };
    Violation { reason, witness: Witness { initial, steps, loop_start } }
}
