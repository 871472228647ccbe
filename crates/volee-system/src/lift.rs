//! From a run of a faster equal of a system to the run of the system itself.
//!
//! A search may explore a system whose steps are merged and whose states forget what will not be read. What
//! it finds is worth nothing until the plain system has done the same: each fast step is a list of moves, by
//! numbers that both systems share, and the plain system is walked along these lists, at each state by the
//! step whose own moves are the next of the list. The cycle of a lasso is gone round until the plain state
//! repeats; where it never does because somebody counts for nobody, until it repeats but for what nobody
//! reads ([`Liftable::essence`](crate::Liftable::essence)).

use crate::liftable::{essence, moves};
use crate::run::{nth_initial, nth_step};
use crate::{Fault, Move, ReplayError, Step, System, Witness, collect_steps};

/// Rounds of a cycle after which the plain system is taken never to come back.
const MOST_ROUNDS: usize = 300;
/// Rounds after which coming back but for what nobody reads is enough.
const EXACT_ROUNDS: usize = 3;
/// The longest run that is walked.
const MOST_STEPS: usize = 1 << 26;

/// A run of the plain system that was found through a faster one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lifted {
    /// The run.
    pub witness: Witness,
    /// Its steps up to the error in what was the last step of the faster system, where that met one.
    pub until_fault: Option<usize>,
}

/// Why a run of the faster system is not one of the plain system.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LiftError {
    /// It is not even one of the faster system.
    #[error("the run does not replay in the program that was searched: {0}")]
    Fast(ReplayError),
    /// The plain system cannot do what the faster one did.
    #[error(
        "step {step} of the run is {moves} moves, and after {made} of them the program as written cannot go on"
    )]
    Lost {
        /// The step of the faster system, from 1.
        step: usize,
        /// How many moves it is made of.
        moves: usize,
        /// How many of them the plain system could make.
        made: usize,
    },
    /// The cycle of the faster system is none of the plain one.
    #[error("the cycle of the run never comes back in the program as written ({rounds} rounds were tried)")]
    Endless {
        /// How often it was gone round.
        rounds: usize,
    },
    /// The run of the faster system has ended; that of the plain one has not.
    #[error("the run ends in the program that was searched, but not in the program as written")]
    GoesOn,
}

impl From<ReplayError> for LiftError {
    fn from(error: ReplayError) -> Self {
        LiftError::Fast(error)
    }
}

/// The plain system on its way.
struct Walk<'p, P: System + ?Sized> {
    plain: &'p mut P,
    state: Vec<u8>,
    steps: Vec<u32>,
}

impl<P: System + ?Sized> Walk<'_, P> {
    fn take(&mut self, ordinal: usize, target: Vec<u8>) {
        self.steps.push(ordinal as u32);
        self.state = target;
    }

    /// Makes the moves of one fast step; the number of steps up to the one that met its error.
    fn make(&mut self, number: usize, fast: &FastStep) -> Result<Option<usize>, LiftError> {
        if fast.moves.is_empty() {
            let (step, target) = nth_step(self.plain, &self.state, fast.ordinal as usize)
                .map_err(|available| ReplayError::Step { at: number, ordinal: fast.ordinal, available })?;
            self.take(fast.ordinal as usize, target);
            return Ok(step.fault.map(|_| self.steps.len()));
        }
        let (mut made, mut met) = (0, None);
        while made < fast.moves.len() {
            let failing = self.failing(fast, made);
            if let Some((ordinal, Certainty::SameMoves)) = failing {
                return Ok(Some(self.fail(ordinal)));
            }
            let lost = LiftError::Lost { step: number + 1, moves: fast.moves.len(), made };
            let plain = self.plain.liftable();
            let followed = plain.and_then(|plain| plain.follow(&self.state, &fast.moves[made..]));
            let Some(followed) = followed else {
                let (ordinal, _) = failing.ok_or(lost)?;
                return Ok(Some(self.fail(ordinal)));
            };
            made += followed.moves;
            let fault = followed.step.fault.map(|fault| self.plain.fault(fault));
            // The last move has several errors, and the step that makes it tells the first only.
            if let Some((ordinal, _)) = failing
                && (made == fast.moves.len() && met.is_none() && fault != fast.fault)
            {
                return Ok(Some(self.fail(ordinal)));
            }
            self.take(followed.ordinal, followed.target);
            if met.is_none() && fault.is_some() && fault == fast.fault {
                met = Some(self.steps.len());
            }
        }
        Ok(met)
    }

    /// Takes a step that ends in an error and leads nowhere; the number of steps then.
    fn fail(&mut self, ordinal: usize) -> usize {
        self.take(ordinal, self.state.clone());
        self.steps.len()
    }

    /// A step from here that ends in the error in which the fast step ends, if that leads nowhere: where
    /// there is one, that whose moves are the next of it. (A large enumeration leaves out sequences that come
    /// to a point where another has been.)
    fn failing(&mut self, fast: &FastStep, made: usize) -> Option<(usize, Certainty)> {
        let wanted = fast.fault.as_ref().filter(|_| fast.stays)?;
        let steps = collect_steps(self.plain, &self.state);
        let same = |plain: &P, step: &Step| step.fault.is_some_and(|fault| plain.fault(fault) == *wanted);
        let ends = steps.iter().map(|(step, _)| step.stays && same(self.plain, step));
        let ends: Vec<usize> = ends.enumerate().filter_map(|(at, ends)| ends.then_some(at)).collect();
        let first = ends.first().map(|&at| (at, Certainty::SameError));
        let exact = ends.into_iter().find(|&at| {
            let moves = moves(self.plain, &self.state, at);
            !moves.is_empty() && fast.moves[made..].starts_with(&moves)
        });
        exact.map(|at| (at, Certainty::SameMoves)).or(first)
    }
}

/// What a step that ends in an error has in common with the fast one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Certainty {
    SameMoves,
    SameError,
}

/// A step of the faster system.
struct FastStep {
    ordinal: u32,
    moves: Vec<Move>,
    fault: Option<Fault>,
    stays: bool,
}

/// The run of `plain` that a run of `fast`, a faster equal of it, stands for.
///
/// # Errors
/// There is no such run: then one of the two systems is wrong.
pub fn lift<F, P>(fast: &mut F, plain: &mut P, witness: &Witness) -> Result<Lifted, LiftError>
where
    F: System + ?Sized,
    P: System + ?Sized,
{
    let initial = ReplayError::Initial(witness.initial);
    let mut state = nth_initial(fast, witness.initial).ok_or_else(|| initial.clone())?;
    let start = nth_initial(plain, witness.initial).ok_or(initial)?;
    let mut walk = Walk { plain, state: start, steps: Vec::new() };
    let loop_start = witness.loop_start.map(|start| start.min(witness.steps.len()));
    let mut cycle = Vec::new();
    let mut until_fault = None;
    for (at, &ordinal) in witness.steps.iter().enumerate() {
        let moves = moves(fast, &state, ordinal as usize);
        let (step, target) = nth_step(fast, &state, ordinal as usize)
            .map_err(|available| ReplayError::Step { at, ordinal, available })?;
        state = target;
        let fault = step.fault.map(|fault| fast.fault(fault));
        let step = FastStep { ordinal, moves, fault, stays: step.stays };
        if loop_start.is_some_and(|start| at >= start) {
            cycle.push(step);
        } else {
            until_fault = walk.make(at, &step)?;
        }
    }
    let mut witness = Witness { initial: witness.initial, steps: Vec::new(), loop_start: None };
    if let Some(start) = loop_start {
        witness.loop_start = Some(close(&mut walk, start, &cycle)?);
        until_fault = None;
    }
    witness.steps = walk.steps;
    Ok(Lifted { witness, until_fault })
}

/// Goes round a cycle until it closes; where it starts.
fn close<P: System + ?Sized>(
    walk: &mut Walk<'_, P>,
    first: usize,
    cycle: &[FastStep],
) -> Result<usize, LiftError> {
    if cycle.is_empty() {
        let ended = collect_steps(walk.plain, &walk.state).iter().all(|(step, _)| step.stays);
        return if ended { Ok(walk.steps.len()) } else { Err(LiftError::GoesOn) };
    }
    let mut passed: Vec<(Vec<u8>, usize)> = Vec::new();
    while passed.len() < MOST_ROUNDS && walk.steps.len() < MOST_STEPS {
        passed.push((walk.state.clone(), walk.steps.len()));
        for (at, step) in cycle.iter().enumerate() {
            walk.make(first + at, step)?;
        }
        if let Some((_, start)) = passed.iter().find(|(state, _)| *state == walk.state) {
            return Ok(*start);
        }
        if passed.len() >= EXACT_ROUNDS
            && let Some((start, end)) = comes_back(walk, &passed)
        {
            walk.steps.truncate(end);
            return Ok(start);
        }
    }
    Err(LiftError::Endless { rounds: passed.len() })
}

/// The first rounds after which the state is one of those before, but for what nobody reads: where they start
/// and end.
fn comes_back<P: System + ?Sized>(
    walk: &mut Walk<'_, P>,
    passed: &[(Vec<u8>, usize)],
) -> Option<(usize, usize)> {
    let now = (&walk.state, walk.steps.len());
    let mut seen: Vec<(Vec<u8>, usize)> = Vec::new();
    for (state, at) in passed.iter().map(|(state, at)| (state, *at)).chain([now]) {
        let essence = essence(walk.plain, state);
        if let Some((_, start)) = seen.iter().find(|(known, _)| *known == essence) {
            return Some((*start, at));
        }
        seen.push((essence, at));
    }
    None
}
