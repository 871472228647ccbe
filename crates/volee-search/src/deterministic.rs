//! Properties given by deterministic Büchi automata, after Jard & Jéron 1991, section 3.1.
//!
//! If the automaton is deterministic and complete, every infinite run of the system has exactly one run in
//! the product, and the property holds if and only if every cycle of the product meets an accepting state:
//! the product without its accepting states must have no cycle. So traversals are started from the initial
//! pairs and from each accepting pair, each cut at accepting pairs, and a cycle met inside one of them is an
//! error. Neither a complement nor components are needed, only a path: visited pairs may be forgotten to stay
//! within a memory budget.
//!
//! One repair of the published algorithm: there, a forgotten accepting pair can be put among the roots again
//! and again, and the search need not end. Pairs that were ever roots are kept for good here, and count
//! against the budget. A run that ends is continued by stuttering, as for all questions about infinite runs.

mod kept;

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use volee_logic::automaton::{Automaton, Edge, degeneralise};
use volee_store::checkpoint::{Checkpoint, Keeper};
use volee_system::{
    Diagnostic, Limit, Meter, Progress, Random, Reason, ReasonKind, Snapshot, System, Verdict, Violation,
    Witness,
};

use crate::atoms::BoundAtom;
use crate::check::Statistics;
use crate::claimed::ClaimProduct;
use crate::liveness::{Claim, ClaimOutcome};
use crate::pairs::{Arc, Faults, Pair, STUTTER, Stop, split};

/// Steps between two looks at the clock.
const PATIENCE: u32 = 4096;
/// Bytes that a remembered pair costs beside its state.
const OVERHEAD: u64 = 96;

/// A deterministic and complete Büchi automaton, bound to a system.
pub struct DeterministicProperty {
    /// Good behaviour here, unlike everywhere else.
    good: Claim,
}

impl DeterministicProperty {
    /// Completes an automaton and moves its acceptance to states. `atoms` says what its atoms look at.
    ///
    /// # Errors
    /// The automaton is not deterministic.
    pub fn new(mut automaton: Automaton, atoms: Vec<BoundAtom>) -> Result<Self, Diagnostic> {
        if let Some(state) = automaton.nondeterministic_state() {
            let message = format!(
                "the automaton is not deterministic: state {state} has two transitions for one letter"
            );
            let help = "this search needs a deterministic automaton; a formula need not become one";
            return Err(Diagnostic::error(message, None).with_help(help));
        }
        automaton.complete();
        let automaton = if automaton.sets == 1 && automaton.is_state_based() {
            automaton
        } else {
            degeneralise(automaton)
        };
        Ok(DeterministicProperty { good: Claim::new(automaton, atoms) })
    }

    /// The automaton, complete, with its acceptance on states.
    pub fn automaton(&self) -> &Automaton {
        &self.good.automaton
    }

    /// The automaton of bad behaviour: it accepts what this one does not. A run is bad if from some point on
    /// it meets no accepting state any more; the complement guesses that point and goes on in a copy of the
    /// states that do not accept.
    pub fn complement(&self) -> Claim {
        let good = &self.good.automaton;
        let count = good.len() as u32;
        let rejects = |state: u32| good.state_marks(state as usize) == 0;
        let mut bad = good.clone();
        bad.sets = 1;
        for edge in bad.states.iter_mut().flatten() {
            edge.marks = 0;
        }
        for state in 0..count {
            let into: Vec<Edge> =
                good.states[state as usize].iter().filter(|e| rejects(e.target)).copied().collect();
            let copied = |marks| into.iter().map(move |e| Edge { marks, target: e.target + count, ..*e });
            bad.states[state as usize].extend(copied(0));
            let own = if rejects(state) { copied(1).collect() } else { Vec::new() };
            bad.states.push(own);
        }
        Claim { lassos_only: true, ..Claim::new(bad, self.good.atoms.clone()) }
    }

    /// See [`Claim::ignores_silent_steps`].
    pub fn ignores_silent_steps(&self) -> bool {
        self.good.ignores_silent_steps()
    }

    /// What its atoms look at.
    pub fn atoms(&self) -> &[BoundAtom] {
        &self.good.atoms
    }

    /// Searches for an infinite run that the automaton does not accept.
    pub fn check(
        &self,
        system: &mut dyn System,
        seed: u64,
        kept: Option<&Checkpoint>,
        meter: &Meter,
        progress: &mut dyn Progress,
    ) -> ClaimOutcome {
        let mut traversal = Traversal {
            product: ClaimProduct::new(system, &self.good, false),
            pairs: HashMap::with_hasher(FixedState::default()),
            done: Vec::new(),
            roots: Vec::new(),
            root: 0,
            path: Vec::new(),
            arcs: Vec::new(),
            bytes: 0,
            random: Random::new(seed),
            statistics: Statistics::default(),
            keeper: kept.map(|kept| Keeper::new(kept.clone(), meter)),
            left_out: None,
        };
        let verdict = match traversal.begin(meter).and_then(|()| traversal.run(meter, progress)) {
            Ok(None) => Verdict::Holds,
            Ok(Some(violation)) => Verdict::Violated(vec![violation]),
            Err(limit) => Verdict::Unknown(limit),
        };
        let left_out = traversal.left_out.map(|message| Limit::Other { message });
        let verdict = traversal.product.left_out().or(left_out).map_or(verdict, Verdict::Unknown);
        let mut statistics = traversal.statistics;
        statistics.seconds = meter.elapsed().as_secs_f64();
        statistics.bytes_per_state = statistics.memory_bytes as f64 / statistics.states.max(1) as f64;
        ClaimOutcome { verdict, statistics, letters: Vec::new() }
    }
}

/// What is known of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Known {
    /// At this place of the current path.
    OnPath(u32),
    /// Explored; at this place among those that may be forgotten.
    Done(u32),
    /// A root, kept for good.
    Root,
}

/// Where a traversal starts, and how to get there.
struct Root {
    pair: Pair,
    /// The root whose traversal met it; itself for an initial pair.
    parent: usize,
    initial: u32,
    steps: Vec<u32>,
}

struct Frame {
    pair: Pair,
    first: usize,
    next: usize,
}

struct Traversal<'a, S: System + ?Sized> {
    product: ClaimProduct<'a, S>,
    pairs: HashMap<Pair, Known, FixedState>,
    done: Vec<Pair>,
    roots: Vec<Root>,
    /// The root whose traversal is under way, or begins.
    root: usize,
    path: Vec<Frame>,
    arcs: Vec<Arc>,
    bytes: u64,
    random: Random,
    statistics: Statistics,
    /// Where the search is kept, if it is.
    keeper: Option<Keeper>,
    /// What the system had left out when the search was kept.
    left_out: Option<String>,
}

impl<S: System + ?Sized> Traversal<'_, S> {
    /// Begins with the initial pairs, or with what is kept.
    fn begin(&mut self, meter: &Meter) -> Result<(), Limit> {
        if self.keeper.as_ref().is_some_and(|keeper| keeper.checkpoint.resume) {
            return self.restore(meter);
        }
        let initial = volee_system::collect_initial(&mut self.product);
        for (ordinal, pair) in initial.into_iter().enumerate() {
            let pair: Pair = pair.into();
            if self.pairs.insert(pair.clone(), Known::Root).is_none() {
                self.bytes += pair.len() as u64 + OVERHEAD;
                let parent = self.roots.len();
                self.roots.push(Root { pair, parent, initial: ordinal as u32, steps: Vec::new() });
            }
        }
        Ok(())
    }

    /// Traversals from all roots; one that a limit has ended is kept.
    fn run(&mut self, meter: &Meter, progress: &mut dyn Progress) -> Result<Option<Violation>, Limit> {
        let mut patience = 0;
        while self.root < self.roots.len() {
            let mut stepped = self.step(meter);
            if patience == 0 && stepped.as_ref().is_ok_and(Option::is_none) {
                stepped = self.look_around(meter, progress).map(|()| None);
            }
            patience = if patience == 0 { PATIENCE } else { patience - 1 };
            match stepped {
                Ok(None) => {}
                Err(limit) => {
                    self.keep(meter, progress);
                    return Err(limit);
                }
                found => return found,
            }
        }
        Ok(None)
    }

    /// Begins the traversal of a root, takes an arc, or takes a step back. A limit leaves all as it was.
    fn step(&mut self, meter: &Meter) -> Result<Option<Violation>, Limit> {
        let Some(top) = self.path.last_mut() else {
            let start = self.roots[self.root].pair.clone();
            let accepts = self.accepts(&start);
            self.push(start, accepts, meter)?;
            return Ok(None);
        };
        if top.next == self.arcs.len() {
            self.pop();
            self.root += usize::from(self.path.is_empty());
            return Ok(None);
        }
        let at = top.next;
        top.next += 1;
        self.statistics.transitions += 1;
        let target = self.arcs[at].target.clone();
        match self.pairs.get(&target) {
            Some(&Known::OnPath(place)) => return Ok(Some(self.lasso(place as usize))),
            // The root of this traversal, not accepting: a cycle too.
            Some(Known::Root) if target == self.roots[self.root].pair && !self.accepts(&target) => {
                return Ok(Some(self.lasso(0)));
            }
            Some(_) => {}
            None if self.accepts(&target) => self.add_root(target),
            None => {
                let place = self.path.len() - 1;
                if let Err(limit) = self.push(target, false, meter) {
                    self.path[place].next -= 1;
                    self.statistics.transitions -= 1;
                    return Err(limit);
                }
            }
        }
        Ok(None)
    }

    fn accepts(&self, pair: &[u8]) -> bool {
        self.product.claim().automaton.state_marks(split(pair).1 as usize) != 0
    }

    fn add_root(&mut self, pair: Pair) {
        let steps: Vec<u32> = self.path.iter().map(|f| self.arcs[f.next - 1].ordinal).collect();
        self.bytes += 2 * pair.len() as u64 + OVERHEAD + 4 * steps.len() as u64;
        self.pairs.insert(pair.clone(), Known::Root);
        self.roots.push(Root { pair, parent: self.root, initial: 0, steps });
    }

    fn push(&mut self, pair: Pair, accepting: bool, meter: &Meter) -> Result<(), Limit> {
        self.make_room(pair.len() as u64 + OVERHEAD, meter)?;
        let first = self.arcs.len();
        if let Err(limit) = self.expand(&pair) {
            self.arcs.truncate(first);
            return Err(limit);
        }
        let is_root = self.path.is_empty();
        if !is_root || !accepting {
            let known = Known::OnPath(self.path.len() as u32);
            let before = self.pairs.insert(pair.clone(), known);
            self.bytes += if before.is_none() { pair.len() as u64 + OVERHEAD } else { 0 };
        }
        self.statistics.states += 1;
        self.path.push(Frame { pair, first, next: first });
        self.statistics.max_depth = self.statistics.max_depth.max(self.path.len() as u64 - 1);
        Ok(())
    }

    fn pop(&mut self) {
        let Some(frame) = self.path.pop() else { return };
        self.arcs.truncate(frame.first);
        let known = if self.path.is_empty() {
            // Roots are kept for good: forgetting one could make it a root again, for ever.
            Known::Root
        } else {
            self.done.push(frame.pair.clone());
            Known::Done(self.done.len() as u32 - 1)
        };
        self.pairs.insert(frame.pair, known);
    }

    /// Forgets explored pairs, chosen at random, until there is room.
    fn make_room(&mut self, needed: u64, meter: &Meter) -> Result<(), Limit> {
        let Some(budget) = meter.budget().memory else { return Ok(()) };
        while self.bytes + needed > budget {
            if self.done.is_empty() {
                let path = self.path.len();
                let needed = format!("the current path of {path} steps and the accepting states fill it");
                return Err(Limit::Memory { budget, needed });
            }
            let victim = self.done.swap_remove(self.random.below(self.done.len()));
            self.pairs.remove(&victim);
            self.bytes -= victim.len() as u64 + OVERHEAD;
        }
        Ok(())
    }

    fn look_around(&mut self, meter: &Meter, progress: &mut dyn Progress) -> Result<(), Limit> {
        self.statistics.memory_bytes = self.statistics.memory_bytes.max(self.bytes);
        progress.report(&Snapshot {
            states: self.statistics.states,
            transitions: self.statistics.transitions,
            depth: self.path.len() as u64,
            max_depth: self.statistics.max_depth,
            pending: self.roots.len() as u64,
            memory: self.bytes,
        });
        meter.check()?;
        let Some(keeper) = &self.keeper else { return Ok(()) };
        keeper.last_moment(meter, self.pairs.len() as u64, self.roots[0].pair.len())?;
        if keeper.is_time(meter) {
            self.keep(meter, progress);
        }
        Ok(())
    }

    fn expand(&mut self, from: &[u8]) -> Result<(), Limit> {
        self.product.arcs(from, Faults::Pass, &mut self.arcs).map_err(|stop| match stop {
            Stop::Limit(limit) => limit,
            Stop::Fault(_, reason) => Limit::Other { message: reason.message },
        })
    }

    /// The run to the root, along the path, with its cycle starting at `place` of the path.
    fn lasso(&self, place: usize) -> Violation {
        let mut chain = vec![self.root];
        while self.roots[chain[chain.len() - 1]].parent != chain[chain.len() - 1] {
            chain.push(self.roots[chain[chain.len() - 1]].parent);
        }
        let initial = self.roots[chain[chain.len() - 1]].initial;
        let real = |ordinal: &u32| *ordinal != STUTTER;
        let mut steps: Vec<u32> =
            chain.iter().rev().flat_map(|&r| self.roots[r].steps.iter().copied()).filter(real).collect();
        let taken = |frame: &Frame| self.arcs[frame.next - 1].ordinal;
        steps.extend(self.path[..place].iter().map(taken).filter(real));
        let loop_start = Some(steps.len());
        steps.extend(self.path[place..].iter().map(taken).filter(real));
        let reason = Reason {
            kind: ReasonKind::AcceptanceCycle,
            message: "an infinite run that the automaton does not accept".into(),
            place: None,
        };
        Violation { reason, witness: Witness { initial, steps, loop_start } }
    }
}
