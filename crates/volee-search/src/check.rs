//! What can be asked of a search, and what it answers.
//!
//! A [`Check`] collects questions about the reachable states of a system; [`check`] runs one traversal that
//! decides them all together. The search ends at the first violation unless all errors are asked for. A
//! question that was not decided by then is `Unknown` and says why: an answer is never a guess.

use std::path::PathBuf;

use volee_system::{Limit, Meter, PredicateId, Progress, System, Verdict, Witness};

use crate::explorer::Explorer;
use crate::parallel::Crew;
use crate::questions::Questions;
use crate::reducing::Reducing;
use crate::{approximate, breadth, counted, depth, hunt, replacement, spill};
use volee_store::checkpoint::Checkpoint;
use volee_store::{Exact, Replacement};

/// The order in which states are visited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// Deep runs first: the least memory.
    #[default]
    DepthFirst,
    /// Level by level: witnesses are shortest.
    BreadthFirst,
}

/// Which steps of a state are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reduction {
    /// All.
    #[default]
    None,
    /// Fewer where the system knows a persistent set of invisible steps. Deadlocks, assertions, invariants
    /// and goals are decided as without; counts of states, steps and errors are smaller, and witnesses may be
    /// longer.
    Persistent,
    /// Those of processes that do not sleep: where the store forgets, a state is then not reached again by
    /// every order of independent steps. Where everything fits it makes no difference, and nothing is done.
    Sleep,
    /// Both.
    Both,
}

impl Reduction {
    /// Whether persistent sets are asked for.
    pub(crate) fn is_persistent(self) -> bool {
        matches!(self, Reduction::Persistent | Reduction::Both)
    }

    /// Whether processes may sleep.
    pub(crate) fn sleeps(self) -> bool {
        matches!(self, Reduction::Sleep | Reduction::Both)
    }
}

/// What an approximate search remembers of a state. The absence of errors is then not a proof.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Approximation {
    /// Three bits in a large array.
    Bitstate,
    /// A fingerprint of 32 bits.
    Compact,
}

/// The questions of one search.
#[derive(Debug, Clone)]
pub struct Check {
    /// Look for states without steps that are not a proper end.
    pub deadlocks: bool,
    /// Look for steps with a fault: failed assertions and run-time errors.
    pub faults: bool,
    /// Predicates that must be true in every reachable state, with the text the user wrote.
    pub invariants: Vec<(String, PredicateId)>,
    /// Predicates that must be true in some reachable state, with the text the user wrote.
    pub goals: Vec<(String, PredicateId)>,
    /// The order of the traversal.
    pub order: Order,
    /// Go on after an error, to the end of the state space, and count them all.
    pub all_errors: bool,
    /// Go on until this many different errors are found: other states, other runs. At least one.
    pub max_errors: usize,
    /// How a depth-first search goes on when the memory budget is used up: which states it forgets. `None`
    /// ends it.
    pub replacement: Option<Replacement>,
    /// How many states may be kept, the path included: the memory counted as the reports count it.
    pub states: Option<usize>,
    /// Remember less than the states: more of them fit, and no error found is then `Unknown`, never `Holds`.
    pub approximation: Option<Approximation>,
    /// Which steps of a state are taken.
    pub reduction: Reduction,
    /// The seed of whatever is left to chance.
    pub seed: u64,
    /// Every step is made by the system itself, so that what it counts of them is true.
    pub counting: bool,
    /// Where the search is kept now and then, so that it can go on after an end that nobody wanted.
    pub checkpoint: Option<Checkpoint>,
    /// A folder for the states that memory does not hold: the search is then breadth-first, and takes all
    /// steps.
    pub spill: Option<PathBuf>,
    /// The number of goals, the last ones, that are asked about without a way to them.
    pub sides: usize,
    /// Give everything to finding errors.
    pub hunt: bool,
    /// Bytes of a table of states that are taken to be near the processor: in a larger one, states that were met
    /// lately are not looked up again.
    pub near: u64,
}

impl Default for Check {
    fn default() -> Self {
        Check {
            deadlocks: true,
            faults: true,
            invariants: Vec::new(),
            goals: Vec::new(),
            order: Order::DepthFirst,
            all_errors: false,
            max_errors: 1,
            replacement: Some(Replacement::Random),
            states: None,
            approximation: None,
            reduction: Reduction::None,
            seed: 0,
            counting: false,
            checkpoint: None,
            spill: None,
            sides: 0,
            hunt: false,
            near: crate::recent::NEAR,
        }
    }
}

impl Check {
    /// Deadlocks and faults, depth-first, until the first error.
    pub fn new() -> Self {
        Check::default()
    }

    /// Whether to look for invalid end states.
    #[must_use]
    pub fn deadlocks(self, deadlocks: bool) -> Self {
        Check { deadlocks, ..self }
    }

    /// Whether to look for failed assertions and run-time errors.
    #[must_use]
    pub fn faults(self, faults: bool) -> Self {
        Check { faults, ..self }
    }

    /// Adds a predicate that must be true in every reachable state.
    #[must_use]
    pub fn invariant(mut self, text: impl Into<String>, predicate: PredicateId) -> Self {
        self.invariants.push((text.into(), predicate));
        self
    }

    /// Adds a predicate that must be true in some reachable state.
    #[must_use]
    pub fn goal(mut self, text: impl Into<String>, predicate: PredicateId) -> Self {
        self.goals.push((text.into(), predicate));
        self
    }

    /// The order of the traversal.
    #[must_use]
    pub fn order(self, order: Order) -> Self {
        Check { order, ..self }
    }

    /// How large a table of states is taken to be near the processor.
    #[must_use]
    pub fn near(self, near: u64) -> Self {
        Check { near, ..self }
    }

    /// Whether to go on after an error.
    #[must_use]
    pub fn all_errors(self, all_errors: bool) -> Self {
        Check { all_errors, ..self }
    }

    /// How many different errors are looked for.
    #[must_use]
    pub fn max_errors(self, max_errors: usize) -> Self {
        Check { max_errors: max_errors.max(1), ..self }
    }

    /// Whether a search that has found this many errors goes on.
    pub fn goes_on(&self, errors: u64) -> bool {
        self.all_errors || errors < self.max_errors as u64
    }

    /// How a depth-first search goes on when the memory budget is used up.
    #[must_use]
    pub fn replacement(self, replacement: Option<Replacement>) -> Self {
        Check { replacement, ..self }
    }

    /// How many states may be kept; the memory budget then counts for nothing but the whole.
    #[must_use]
    pub fn states(self, states: Option<usize>) -> Self {
        Check { states, ..self }
    }

    /// Whether to remember less than the states.
    #[must_use]
    pub fn approximation(self, approximation: Option<Approximation>) -> Self {
        Check { approximation, ..self }
    }

    /// Which steps of a state are taken.
    #[must_use]
    pub fn reduction(self, reduction: Reduction) -> Self {
        Check { reduction, ..self }
    }

    /// The number of goals, the last ones, that are asked about without a way to them.
    #[must_use]
    pub fn sides(self, sides: usize) -> Self {
        Check { sides, ..self }
    }

    /// Whether everything is given to finding errors.
    #[must_use]
    pub fn hunt(self, hunt: bool) -> Self {
        Check { hunt, ..self }
    }

    /// Whether the system must make every step itself.
    #[must_use]
    pub fn counting(self, counting: bool) -> Self {
        Check { counting, ..self }
    }

    /// Where the search is kept.
    #[must_use]
    pub fn checkpoint(self, checkpoint: Option<Checkpoint>) -> Self {
        Check { checkpoint, ..self }
    }

    /// Where the states are that memory does not hold.
    #[must_use]
    pub fn spill(self, spill: Option<PathBuf>) -> Self {
        Check { spill, ..self }
    }

    /// The seed of whatever is left to chance.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Check { seed, ..self }
    }
}

/// What a search found.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// One answer per question: deadlock, assertions, invariants, goals, in this order.
    pub answers: Vec<Answer>,
    /// How much was explored, and at what cost.
    pub statistics: Statistics,
    /// The limit that ended the search before all of the state space was seen.
    pub limit: Option<Limit>,
}

/// The answer to one question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// `deadlock`, `assertions`, `invariant EXPR` or `reachable EXPR`.
    pub question: String,
    /// The answer. Violations are kept for distinct reasons only, and only the first few.
    pub verdict: Verdict,
    /// How many errors were met, also those without a witness of their own.
    pub errors: u64,
    /// There may be more of them: the search was cut short, left steps out, or could not tell whether it met
    /// some again.
    pub at_least: bool,
    /// For a goal that holds: how to get there.
    pub witness: Option<Witness>,
}

/// How much was explored, and at what cost.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Statistics {
    /// Distinct states. Where states were forgotten, an estimate: see [`Turnover::distinct`].
    pub states: u64,
    /// States pushed by the system: every step, and the arrival in each initial state. This is how SPIN
    /// counts (stored plus matched); a graph of these states has as many edges less the initial states.
    pub transitions: u64,
    /// Expansions that took fewer steps than there are, and were enough.
    pub reduced: u64,
    /// The longest path of a depth-first search, or the number of levels of a breadth-first one.
    pub max_depth: u64,
    /// Wall-clock seconds.
    pub seconds: f64,
    /// `memory_bytes` by state.
    pub bytes_per_state: f64,
    /// The most that states, stack and tables used together.
    pub memory_bytes: u64,
    /// The table of visited states alone, at the end.
    pub table_bytes: u64,
    /// What is on disk, where memory did not hold everything.
    pub disk_bytes: u64,
    /// What was forgotten, when the memory budget was used up.
    pub turnover: Option<Turnover>,
    /// How many threads have seen all this, where it was not one alone.
    pub workers: u64,
    /// What a hunt has looked at when memory was short, beyond what was counted above.
    pub swarm: Option<Swarm>,
}

/// How a swarm of searches that remember bits went.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Swarm {
    /// How many searches there were.
    pub searches: u64,
    /// The table of each, in bytes.
    pub bytes: u64,
    /// The states that the largest of them has told apart.
    pub largest: u64,
    /// An estimate of the states that it took for others when it first met them.
    pub missed: f64,
    /// Searches whose stack was as long as memory allows, so that they did not go deeper everywhere.
    pub cut: u64,
    /// Random walks, and their steps.
    pub walks: u64,
    /// The steps of all walks.
    pub steps: u64,
    /// An estimate of the distinct states that all have met together (HyperLogLog).
    pub distinct: u64,
    /// Its standard error, as a share.
    pub distinct_error: f64,
}

/// How a search with replacement went (Jard and Jéron 1991, section 2.2).
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Turnover {
    /// How often a state was stored.
    pub insertions: u64,
    /// How often a state was forgotten to make room.
    pub replaced: u64,
    /// Look-ups that found their state, as a share of all.
    pub hit_rate: f64,
    /// The longest path that had to be kept.
    pub longest_path: u64,
    /// An estimate of the distinct states (HyperLogLog).
    pub distinct: u64,
    /// Its standard error, as a share.
    pub distinct_error: f64,
}

/// Explores the reachable states of `system` and answers the questions of `check`.
pub fn check(system: &mut dyn System, check: &Check, meter: &Meter, progress: &mut dyn Progress) -> Outcome {
    check_with(system, check, None, meter, progress)
}

/// With less memory than this one thread goes alone: what each of several has for itself would be much of it.
pub(crate) const SHARED: u64 = 64 << 20;

/// The same by several threads as soon as it has shown to be large. The verdicts are the same, and so are the
/// runs; other figures may be others where steps are left out.
pub fn check_with(
    system: &mut dyn System,
    check: &Check,
    crew: Option<&Crew<'_>>,
    meter: &Meter,
    progress: &mut dyn Progress,
) -> Outcome {
    if check.hunt {
        return hunt_with(system, check, crew, meter, progress);
    }
    let alone = check.approximation == Some(Approximation::Compact)
        || check.counting
        || check.spill.is_some()
        || meter.budget().depth.is_some()
        || meter.budget().memory.is_some_and(|bytes| bytes < SHARED);
    let crew = crew.filter(|_| !alone);
    let mut questions = Questions::new(check);
    let ended = search(system, &mut questions, crew, meter, progress);
    outcome(system, questions, crew, meter, ended)
}

/// Looks for errors in all ways.
fn hunt_with<S: System + ?Sized>(
    system: &mut S,
    check: &Check,
    crew: Option<&Crew<'_>>,
    meter: &Meter,
    progress: &mut dyn Progress,
) -> Outcome {
    let shares = meter.budget().memory.is_none_or(|bytes| bytes >= SHARED);
    let mut questions = Questions::new(check);
    let ended = hunt::search(system, &mut questions, crew, shares, meter, progress);
    outcome(system, questions, crew, meter, ended)
}

fn outcome<S: System + ?Sized>(
    system: &mut S,
    questions: Questions<'_>,
    crew: Option<&Crew<'_>>,
    meter: &Meter,
    (mut statistics, limit): (Statistics, Option<Limit>),
) -> Outcome {
    let limit = limit.or_else(|| system.left_out()).or_else(|| crew.and_then(Crew::left_out));
    statistics.seconds = meter.elapsed().as_secs_f64();
    statistics.bytes_per_state = statistics.memory_bytes as f64 / statistics.states.max(1) as f64;
    let counts_all = statistics.reduced == 0;
    let counts_ends = counts_all || system.reducible().is_none_or(|system| system.meets_every_end());
    let mut answers = questions.answers(limit.as_ref());
    for answer in answers.iter_mut().filter(|a| a.errors > 0 && !a.question.starts_with("reachable")) {
        answer.at_least |= if answer.question == "deadlock" { !counts_ends } else { !counts_all };
    }
    Outcome { answers, statistics, limit }
}

/// Chooses the traversal and the store.
fn search<S: System + ?Sized>(
    system: &mut S,
    questions: &mut Questions<'_>,
    crew: Option<&Crew<'_>>,
    meter: &Meter,
    progress: &mut dyn Progress,
) -> (Statistics, Option<Limit>) {
    let check = questions.check();
    if let Some(kind) = check.approximation {
        return approximate::search(kind, system, questions, crew, meter, progress);
    }
    if let Some(most) = check.states {
        return counted::search(system, questions, meter, progress, most, check.seed);
    }
    if let Some(folder) = &check.spill {
        let mut explorer = Explorer::new(system, questions, meter, progress, Exact::new().replaceable());
        explorer.reducing = Reducing::new(Reduction::None);
        return spill::search(explorer, folder);
    }
    let (statistics, limit, _) = match (check.order, check.replacement, meter.budget().memory) {
        (Order::DepthFirst, Some(policy), Some(_)) => {
            return replacement::search(system, questions, crew, meter, progress, policy);
        }
        (Order::DepthFirst, ..) => {
            let explorer = Explorer::new(system, questions, meter, progress, Exact::new());
            depth::search(explorer.with_crew(crew))
        }
        (Order::BreadthFirst, ..) => {
            let explorer = Explorer::new(system, questions, meter, progress, Exact::new());
            breadth::search(explorer.with_crew(crew))
        }
    };
    (statistics, limit)
}
