//! The question "can a bad vector be reached", by both searches in turn, and answers that have been checked.

use volee_integers::{Effort, Exhausted, Int, Set};
use volee_system::{Budget, Limit, Meter};

use crate::backward::Backward;
use crate::certificate::{CertificateError, check_closed_within, check_safe_within, check_unreachable};
use crate::forward::{Forward, Progress, effort_within};
use crate::program::Program;
use crate::witness::{State, Witness};

/// Which searches to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Direction {
    /// From the initial vectors.
    Forward,
    /// From the bad vectors.
    Backward,
    /// Both in turn, until one knows the answer.
    #[default]
    Both,
}

/// What a check may use.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Which searches.
    pub direction: Direction,
    /// Memory, time, cancellation.
    pub budget: Budget,
}

/// The answer, and how it was found.
#[derive(Debug, Clone)]
pub struct Answer {
    /// Yes, no, or why not known.
    pub outcome: Outcome,
    /// What was done.
    pub statistics: Statistics,
    /// The sets the forward search has, per location: everything reachable if it ended, else a part of it.
    pub sets: Vec<Set>,
}

/// The answer to a safety question.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// No bad vector is reachable; the closed set that shows it has been checked.
    Holds {
        /// Which search found it.
        by: Direction,
    },
    /// A bad vector is reachable; the run has been replayed.
    Violated {
        /// The run.
        witness: Witness,
        /// The state after each part of the run.
        states: Vec<State>,
        /// Which search found it.
        by: Direction,
    },
    /// Not known.
    Unknown(Limit),
}

/// What was done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Sets expanded by the forward search.
    pub forward_steps: u64,
    /// Sets expanded by the backward search.
    pub backward_steps: u64,
    /// Sets the forward search ended with.
    pub forward_sets: usize,
    /// Sets the backward search ended with.
    pub backward_sets: usize,
    /// Meta-transitions.
    pub meta_transitions: usize,
}

/// Decides whether a bad vector is reachable.
pub fn check(program: &Program, options: &Options) -> Answer {
    let meter = Meter::start(options.budget.clone());
    let mut race = Race { program, forward: None, backward: None, failed: None };
    if options.direction != Direction::Backward {
        race.forward = Some(Forward::new(program, false, &meter));
    }
    if options.direction != Direction::Forward && !program.bad.is_empty() {
        race.backward = Some(Backward::new(program, &meter));
    }
    let outcome = race.run(&meter);
    let mut statistics = Statistics::default();
    let mut sets = Vec::new();
    if let Some(f) = &race.forward {
        statistics.forward_steps = f.steps;
        statistics.forward_sets = f.size();
        statistics.meta_transitions = f.cycles.count();
        sets = f.sets();
    }
    if let Some(b) = &race.backward {
        statistics.backward_steps = b.steps;
        statistics.backward_sets = b.size();
    }
    Answer { outcome, statistics, sets }
}

/// Both searches, advanced so that they have spent about the same work.
struct Race<'a> {
    program: &'a Program,
    forward: Option<Forward<'a>>,
    backward: Option<Backward<'a>>,
    failed: Option<Limit>,
}

impl Race<'_> {
    fn run(&mut self, meter: &Meter) -> Outcome {
        let mut forward_open = self.forward.is_some();
        let mut backward_open = self.backward.is_some();
        if let Some(outcome) = self.start() {
            return outcome;
        }
        while forward_open || backward_open {
            if let Err(limit) = meter.check() {
                return Outcome::Unknown(limit);
            }
            let spent =
                |open: bool, work: Option<u64>| if open { work.unwrap_or(u64::MAX) } else { u64::MAX };
            let f = spent(forward_open, self.forward.as_ref().map(|s| s.effort.spent()));
            let b = spent(backward_open, self.backward.as_ref().map(|s| s.effort.spent()));
            let outcome = if f <= b {
                self.step(Direction::Forward, &mut forward_open, meter)
            } else {
                self.step(Direction::Backward, &mut backward_open, meter)
            };
            if let Some(outcome) = outcome {
                return outcome;
            }
        }
        if let Err(limit) = meter.check() {
            return Outcome::Unknown(limit);
        }
        let message = "the integer constraints are too hard for the work allowed".to_owned();
        Outcome::Unknown(self.failed.take().unwrap_or(Limit::Other { message }))
    }

    fn start(&mut self) -> Option<Outcome> {
        let first = self.forward.as_mut().map(Forward::start);
        if let Some(Progress::Bad { node, values }) = first {
            return self.bad(Direction::Forward, node, &values);
        }
        let first = self.backward.as_mut().map(Backward::start);
        if let Some(Progress::Bad { node, values }) = first {
            return self.bad(Direction::Backward, node, &values);
        }
        None
    }

    /// Advances one search; whether it is still open.
    fn step(&mut self, by: Direction, open: &mut bool, meter: &Meter) -> Option<Outcome> {
        let progress = match by {
            Direction::Backward => self.backward.as_mut()?.step(meter),
            _ => self.forward.as_mut()?.step(meter),
        };
        match progress {
            Progress::Working => None,
            Progress::Stopped(limit) => {
                // Its memory is used up; the other search may still know.
                *open = false;
                self.failed = Some(limit);
                None
            }
            Progress::Bad { node, values } => {
                let outcome = self.bad(by, node, &values);
                *open = outcome.is_some();
                outcome
            }
            Progress::Closed => {
                *open = false;
                match self.certified(by, &effort_within(meter, 0))? {
                    Ok(()) => Some(Outcome::Holds { by }),
                    Err(e) => self.doubtful(&e),
                }
            }
        }
    }

    /// Checks what a search that is closed has found; nothing where some question was too hard for it.
    fn certified(&self, by: Direction, effort: &Effort) -> Option<Result<(), CertificateError>> {
        match by {
            Direction::Backward => {
                let search = self.backward.as_ref().filter(|search| !search.doubt)?;
                Some(check_unreachable(self.program, &search.sets(), search.approximation(), effort))
            }
            _ => {
                let search = self.forward.as_ref().filter(|search| !search.doubt)?;
                Some(check_safe_within(self.program, &search.sets(), effort))
            }
        }
    }

    fn doubtful(&mut self, error: &CertificateError) -> Option<Outcome> {
        let message = format!("the certificate does not check: {error}");
        self.failed = Some(Limit::Other { message });
        None
    }

    fn bad(&mut self, by: Direction, node: usize, values: &[Int]) -> Option<Outcome> {
        let witness = match by {
            Direction::Backward => self.backward.as_ref()?.witness(node, values),
            _ => self.forward.as_ref()?.witness(node, values).ok().flatten(),
        };
        self.violated(witness, by)
    }

    /// Only a run that replays is an answer.
    fn violated(&mut self, witness: Option<Witness>, by: Direction) -> Option<Outcome> {
        let replayed = witness.map(|w| (w.replay_to_bad(self.program), w));
        match replayed {
            Some((Ok(states), witness)) => Some(Outcome::Violated { witness, states, by }),
            Some((Err(e), _)) => {
                let message = format!("the run found does not replay: {e}");
                self.failed = Some(Limit::Other { message });
                None
            }
            None => None,
        }
    }
}

/// The reachable set per location.
#[derive(Debug, Clone)]
pub struct Reachable {
    /// One set per location.
    pub sets: Vec<Set>,
    /// `None`: the sets are everything reachable, and have been checked to be closed. Else the limit that
    /// ended the search; the sets are then a part of what is reachable.
    pub limit: Option<Limit>,
    /// What was done.
    pub statistics: Statistics,
}

/// Computes everything that is reachable.
pub fn reachable(program: &Program, budget: &Budget) -> Reachable {
    let meter = Meter::start(budget.clone());
    let mut search = Forward::new(program, true, &meter);
    let _ = search.start();
    let mut limit = None;
    loop {
        if let Err(reached) = meter.check() {
            limit = Some(reached);
            break;
        }
        match search.step(&meter) {
            Progress::Working => {}
            Progress::Stopped(reached) => {
                limit = Some(reached);
                break;
            }
            Progress::Closed | Progress::Bad { .. } => break,
        }
    }
    let sets = search.sets();
    if limit.is_none()
        && let Err(e) = check_closed_within(program, &sets, &effort_within(&meter, 0))
    {
        let doubtful = Limit::Other { message: format!("the certificate does not check: {e}") };
        limit = Some(meter.check().err().unwrap_or(doubtful));
    }
    let statistics = Statistics {
        forward_steps: search.steps,
        forward_sets: search.size(),
        meta_transitions: search.cycles.count(),
        ..Statistics::default()
    };
    Reachable { sets, limit, statistics }
}

/// For which values of the program's parameters a bad vector is reachable.
#[derive(Debug, Clone)]
pub struct Parametric {
    /// The values, one component per parameter.
    pub values: Set,
    /// `None`: exactly these. Else the limit that ended the search; there may be more.
    pub limit: Option<Limit>,
    /// What was done.
    pub statistics: Statistics,
}

/// Work to make the values of parameters readable.
const SHOWING: u64 = 100_000_000;

impl Parametric {
    /// Whether a bad vector is reachable for some value of the parameters; `None` if the search did not come
    /// so far. What was found is reachable whatever ended the search.
    pub fn is_reached(&self) -> Option<bool> {
        match (self.values.conjuncts().is_empty(), &self.limit) {
            (false, _) => Some(true),
            (true, None) => Some(false),
            (true, Some(_)) => None,
        }
    }
}

/// Computes for which values of the parameters a bad vector is reachable.
///
/// # Errors
/// The set is too complicated.
pub fn parametric(program: &Program, budget: &Budget) -> Result<Parametric, Exhausted> {
    let found = reachable(program, budget);
    // What was found may be told even when the time is up, with little work.
    let effort = Effort::new(SHOWING);
    let keep: Vec<bool> = (0..program.dimension()).map(|i| program.parameters.contains(&i)).collect();
    let mut values = Vec::new();
    for (set, location) in found.sets.iter().zip(program.location_ids()) {
        for conjunct in set.intersect(&program.bad_at(location)).project(&keep).conjuncts() {
            if !conjunct.is_empty(&effort)? {
                values.push(conjunct.clone());
            }
        }
    }
    let values = Set::of(program.parameters.len(), values).coalesced(&effort)?;
    Ok(Parametric { values, limit: found.limit, statistics: found.statistics })
}
