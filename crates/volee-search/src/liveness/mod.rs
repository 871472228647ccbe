//! Questions about infinite runs: is there a run that an automaton of bad behaviour accepts?
//!
//! A [`Claim`] is a generalised Büchi automaton over what can be watched of a system. The product of system
//! and automaton is explored on the fly, by components (Couvreur 1999): the search stops as soon as the
//! component it is in contains all acceptance marks, which is a lasso. A run that ends is continued by
//! stuttering for ever, as in SPIN. Weak fairness costs nothing but marks: a process that is not enabled, or
//! that moves, marks the transition with its own acceptance set, so a component is fair exactly if all those
//! sets are met in it too. There is no copy of the state space per process, and a system whose processes have
//! all ended is fair (SPIN 6.5.2 misses that).
//!
//! A large product is decided by several threads (`crew`), which tell whether there is an error; the run is
//! found by one.

mod components;
mod crew;
mod graph;
mod kept;
mod lasso;
mod marks;
mod nodes;
mod product;
mod reduced;
mod shortest;
mod strong;

use serde::{Deserialize, Serialize};
use volee_logic::automaton::{Automaton, Edge, degeneralise, ignores_silent_steps};
use volee_logic::bdd::Bdd;
use volee_system::{Limit, Meter, Progress, Reason, ReasonKind, System, Verdict, Violation, Witness};

use crate::atoms::{BoundAtom, event_bits};
use crate::check::{Check, Order, Reduction, Statistics};
use crate::nested::{NestedClaim, NestedStore};
use crate::pairs::Faults;
use crate::parallel::Crew;
use volee_store::checkpoint::Checkpoint;

pub(crate) use components::search;
use product::Product;

/// An automaton of bad behaviour: the property holds if no run of the system is accepted.
#[derive(Clone)]
pub struct Claim {
    /// Its transitions are taken together with the steps of the system, the first from the initial state.
    pub automaton: Automaton,
    /// What the automaton's atoms look at, in order.
    pub atoms: Vec<BoundAtom>,
    /// States that are an error by themselves as soon as they are reached; empty if there are none.
    pub traps: Vec<bool>,
    /// What an accepted run is called.
    pub kind: ReasonKind,
    /// Whether it accepts a run exactly if it accepts every other that only repeats letters more or less
    /// often, the letters being predicates: then steps that no predicate sees may be left out.
    pub stutter_invariant: bool,
    /// Whether an error is shown as an infinite run even where a finite one is enough.
    pub lassos_only: bool,
}

impl Claim {
    /// A claim whose only errors are accepted runs.
    pub fn new(automaton: Automaton, atoms: Vec<BoundAtom>) -> Self {
        let (traps, kind) = (Vec::new(), ReasonKind::AcceptanceCycle);
        Claim { automaton, atoms, traps, kind, stutter_invariant: false, lassos_only: false }
    }

    /// The same claim with one acceptance set, and acceptance on states. A state that is an error by itself
    /// becomes one that accepts whatever follows.
    pub fn state_based(&self) -> Claim {
        let mut claim = self.clone();
        let all = claim.automaton.all_marks();
        for (target, _) in (0..).zip(&self.traps).filter(|(_, trap)| **trap) {
            claim.automaton.states[target as usize] = vec![Edge { guard: Bdd::TRUE, marks: all, target }];
        }
        claim.traps.clear();
        if claim.automaton.sets != 1 || !claim.automaton.is_state_based() {
            claim.automaton = degeneralise(claim.automaton);
        }
        claim
    }

    /// Whether steps that are none of its events and change none of its conditions certainly make no
    /// difference.
    pub fn ignores_silent_steps(&self) -> bool {
        let of_control = |atom: &BoundAtom| matches!(atom, BoundAtom::Progress | BoundAtom::Accept);
        let events = event_bits(&self.atoms).filter(|_| !self.atoms.iter().any(of_control));
        events.is_some_and(|events| ignores_silent_steps(&self.state_based().automaton, events))
    }

    /// Whether reaching a state of the automaton is enough: it accepts whatever follows.
    pub fn is_trap(&self, state: usize) -> bool {
        let all = self.automaton.all_marks();
        if self.lassos_only {
            return false;
        }
        self.traps.get(state).copied().unwrap_or(false)
            || self.automaton.states[state]
                .iter()
                .any(|e| e.guard == Bdd::TRUE && e.marks == all && e.target as usize == state)
    }
}

/// Which infinite runs count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Fairness {
    /// All of them.
    #[default]
    None,
    /// Those in which no process is enabled for ever from some point on without ever moving.
    Weak,
    /// Those in which no process is enabled again and again without moving again and again.
    Strong,
}

/// How accepted runs are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Emptiness {
    /// By components: any number of acceptance sets, fairness too.
    #[default]
    Components,
    /// By nested depth-first search: less to remember of each state, so it can also forget.
    Nested(NestedStore),
}

/// How a claim is checked.
#[derive(Debug, Clone, Copy, Default)]
pub struct ClaimOptions<'k> {
    /// How accepted runs are looked for.
    pub emptiness: Emptiness,
    /// Which infinite runs count.
    pub fairness: Fairness,
    /// Whether steps with a fault end the search as violations.
    pub faults: bool,
    /// Which steps are taken where the claim allows to leave some out: [`Reduction::Persistent`], or all.
    pub reduction: Reduction,
    /// Whether the reduced system is settled by itself before the first state of the product, not only where
    /// that may help.
    pub settles_first: bool,
    /// Whether a shortest lasso is wanted; without fairness.
    pub shortest: bool,
    /// How many different errors are told, at most: lassos of different components; at least one.
    pub max_errors: usize,
    /// Whether a search by components whose memory is used up is followed by one that forgets; with the seed
    /// of that.
    pub forgets: Option<u64>,
    /// Where the search is kept; only one by components is, without strong fairness and not for shortest
    /// runs.
    pub checkpoint: Option<&'k Checkpoint>,
    /// Several threads that decide together whether there is an error, once a search by components has shown
    /// to be large.
    pub crew: Option<&'k Crew<'k, Claim>>,
}

impl ClaimOptions<'_> {
    /// Whether persistent sets may stand for all steps: who is able to move is seen in all of them only.
    pub fn reduces(&self) -> bool {
        self.reduction == Reduction::Persistent && self.fairness == Fairness::None
    }
}

/// What was found about a claim.
#[derive(Debug, Clone, PartialEq)]
pub struct ClaimOutcome {
    /// The answer.
    pub verdict: Verdict,
    /// How much was explored: states are pairs of a state of the system and one of the automaton.
    pub statistics: Statistics,
    /// The letters met, a bit per atom; none where they are not kept.
    pub letters: Vec<u64>,
}

/// Searches for a run that the claim accepts.
pub fn check_claim(
    system: &mut dyn System,
    claim: &Claim,
    options: ClaimOptions<'_>,
    meter: &Meter,
    progress: &mut dyn Progress,
) -> ClaimOutcome {
    if let Emptiness::Nested(store) = options.emptiness {
        if options.fairness != Fairness::None {
            let message = "fairness needs the search by components".into();
            let verdict = Verdict::Unknown(Limit::Other { message });
            return ClaimOutcome { verdict, statistics: Statistics::default(), letters: Vec::new() };
        }
        let faults = if options.faults { Faults::End } else { Faults::Pass };
        let nested = NestedClaim::new(claim);
        return nested.check(system, store, faults, options.reduction, meter, progress);
    }
    if options.shortest && options.fairness == Fairness::None && claim.is_terminal() {
        let how = Check::new().order(Order::BreadthFirst).max_errors(options.max_errors);
        return claim.check_as_safety(system, &how, options, meter, progress);
    }
    let outcome = check_by_components(system, claim, options, meter, progress);
    match &outcome.verdict {
        Verdict::Unknown(Limit::Memory { budget, .. })
            if options.fairness == Fairness::None && !options.shortest && options.checkpoint.is_none() =>
        {
            let again = Forgetting { budget: *budget, first: outcome.statistics.clone() };
            again.check(system, claim, options, meter, progress).unwrap_or(outcome)
        }
        _ => outcome,
    }
}

/// A search that goes on when the memory is used up, forgetting what it can find again.
struct Forgetting {
    budget: u64,
    /// What the search had done that remembers everything.
    first: Statistics,
}

impl Forgetting {
    fn check(
        &self,
        system: &mut dyn System,
        claim: &Claim,
        options: ClaimOptions<'_>,
        meter: &Meter,
        progress: &mut dyn Progress,
    ) -> Option<ClaimOutcome> {
        let seed = options.forgets?;
        let mut outcome = if claim.is_terminal() {
            let how = Check::new().seed(seed).max_errors(options.max_errors);
            claim.check_as_safety(system, &how, options, meter, progress)
        } else {
            let store = NestedStore::Bounded { bytes: self.budget, seed };
            let faults = if options.faults { Faults::End } else { Faults::Pass };
            NestedClaim::new(claim).check(system, store, faults, options.reduction, meter, progress)
        };
        outcome.statistics.transitions += self.first.transitions;
        outcome.statistics.memory_bytes = outcome.statistics.memory_bytes.max(self.first.memory_bytes);
        Some(outcome)
    }
}

fn check_by_components<S: System + ?Sized>(
    system: &mut S,
    claim: &Claim,
    options: ClaimOptions<'_>,
    meter: &Meter,
    progress: &mut dyn Progress,
) -> ClaimOutcome {
    let (found, mut statistics, letters) = match options.fairness {
        Fairness::None if options.shortest => whole(system, claim, options, meter, progress),
        Fairness::None => search::<S, 1>(system, claim, options, meter, progress),
        Fairness::Weak => search::<S, 5>(system, claim, options, meter, progress),
        Fairness::Strong => whole(system, claim, options, meter, progress),
    };
    statistics.seconds = meter.elapsed().as_secs_f64();
    statistics.bytes_per_state = statistics.memory_bytes as f64 / statistics.states.max(1) as f64;
    // Where something was left out, a run that seems to end need not end there.
    let left_out = system.left_out().or_else(|| options.crew.and_then(Crew::left_out));
    let found = left_out.map_or(found, Found::Limit);
    let verdict = match found {
        Found::Nothing => Verdict::Holds,
        Found::Limit(limit) => Verdict::Unknown(limit),
        Found::Errors(errors) => Verdict::Violated(
            errors.into_iter().map(|(reason, witness)| Violation { reason, witness }).collect(),
        ),
    };
    ClaimOutcome { verdict, statistics, letters }
}

/// Searches the whole product: for a strongly fair run, or a shortest one.
fn whole<S: System + ?Sized>(
    system: &mut S,
    claim: &Claim,
    options: ClaimOptions<'_>,
    meter: &Meter,
    progress: &mut dyn Progress,
) -> (Found, Statistics, Vec<u64>) {
    let mut product = Product::<S, 5>::new(system, claim, options.faults, false);
    let found = match options.fairness {
        Fairness::Strong => strong::search(&mut product, claim, meter, progress),
        _ => shortest::search(&mut product, claim, meter, progress),
    };
    let statistics = Statistics {
        states: product.nodes.len() as u64,
        transitions: product.transitions,
        memory_bytes: product.bytes(),
        ..Statistics::default()
    };
    (found, statistics, product.letters().to_vec())
}

/// How a search ended.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Found {
    Nothing,
    Limit(Limit),
    Errors(Vec<(Reason, Witness)>),
}

impl Found {
    pub fn error(reason: Reason, witness: Witness) -> Self {
        Found::Errors(vec![(reason, witness)])
    }

    /// What it means that these errors were found, and all was searched or enough.
    pub fn of(errors: Vec<(Reason, Witness)>) -> Self {
        if errors.is_empty() { Found::Nothing } else { Found::Errors(errors) }
    }
}

pub(crate) fn reason(kind: ReasonKind, loops: bool) -> Reason {
    let message = match kind {
        ReasonKind::NonProgressCycle => "a cycle without progress",
        ReasonKind::Trap => "this run can no longer satisfy the property, whatever follows",
        _ if loops => "an infinite run violates the property",
        _ => "a run that ends here violates the property",
    };
    Reason { kind, message: message.into(), place: None }
}
